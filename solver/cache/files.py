# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of a folder that others write to, too: what is no ordinary file is not read, and no link is written through."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

RETRY_AFTER = 0.02, 0.04, 0.08, 0.16, 0.32, 0.64  # [s] waited for a file that somebody reads, on Windows


def in_words(error: Exception) -> str:
    """What an error says, without numbers of the system: the file and what is wrong with it."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)


@contextmanager
def telling(folder: Path, name: str) -> Iterator[None]:
    """Where a folder cannot be written, as on a drive that is read-only, say so in a sentence, and that what has this name is as it was.
    That somebody else writes there (BlockingIOError) is another matter, and what is a sentence already stays one.
    """
    try:
        yield
    except OSError as error:
        if error.strerror is None or isinstance(error, BlockingIOError):
            raise
        raise OSError(
            f"{folder} cannot be written ({error.strerror}): {name} stays as it is; copy the project to where it can be"
        ) from error


def read_whole(path: Path, most: int) -> bytes:
    """All of a file that has at most `most` bytes.

    Raises
    ------
    ValueError
        It is larger, or a folder, a pipe or a device, which may never end: a sentence.
    OSError
        It cannot be read.
    """
    path = Path(path)
    size = path.stat().st_size
    if not path.is_file():
        raise ValueError(f"{path} is a folder, a pipe or a device: choose a file")
    if size > most:
        raise ValueError(f"{path} has more than {most >> 20} MB: make it smaller")
    with path.open("rb") as file:
        return file.read(size)


def is_plain(path: Path) -> bool:
    """Whether an ordinary file, and no link, stands at `path`, of whatever length its name is: Path.is_file raises at one too long."""
    return os.path.isfile(path) and not os.path.islink(path)


def refuse_link(path: Path) -> None:
    """Raise an OSError, with a sentence, where something stands at `path` that is no file of its own: a link, a pipe."""
    if os.path.lexists(path) and (os.path.islink(path) or not os.path.isfile(path)):
        raise OSError(f"{path} is a link, a folder or a pipe: remove it, Taffeta writes a file there")


def make_folder(folder: Path) -> None:
    """Make a folder below the cache folder, where it is none yet. The cache folder itself may be a link, as studios have it.

    Raises
    ------
    OSError
        It cannot be made, or a link or a file stands there: a sentence in that case.
    """
    if os.path.islink(folder) or (os.path.lexists(folder) and not os.path.isdir(folder)):
        raise OSError(f"{folder} is a link or a file: remove it, Taffeta makes a folder there")
    folder.mkdir(parents=True, exist_ok=True)


def put_in_place(file: Path, target: Path) -> None:
    """Rename a file, over one that is there. Windows refuses that while somebody reads either, as Blender, a virus scanner or a
    farm's copy does for a moment: it is tried again for a second.

    Raises
    ------
    OSError
        It cannot be renamed: both are as they were.
    """
    for seconds in RETRY_AFTER:
        try:
            os.replace(file, target)
            return
        except PermissionError:
            time.sleep(seconds)
    os.replace(file, target)


@contextmanager
def written(path: Path) -> Iterator[BinaryIO]:
    """A file to write to that appears at `path` when it is whole; a link there is replaced and not followed.

    Raises
    ------
    OSError
        It cannot be written: nothing is left of it, and what stood at `path` stays.
    """
    part = path.with_name(f"{path.name}.part")
    refuse_link(part)
    part.unlink(missing_ok=True)  # of a process that was killed
    file = part.open("xb")
    try:
        with file:
            yield file
        put_in_place(part, path)
    finally:
        part.unlink(missing_ok=True)
