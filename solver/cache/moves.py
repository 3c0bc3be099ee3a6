# SPDX-License-Identifier: GPL-3.0-or-later
"""Whole bakes that get another place: set aside when something else is baked in theirs, or copied to go on from."""

import filecmp
import os
from collections.abc import Callable, Generator
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import BinaryIO

from . import pc2
from .files import is_plain, make_folder, put_in_place, written
from .intact import state_bytes
from .journal import Line, line_bytes, read_journal
from .names import companions, newest_name, older_bakes, older_name, parts
from .whose import is_ours, owner_of

COPIED_BYTES = 1 << 24  # bytes of a file that are copied at once


def present(path: Path) -> list[Path]:
    """The parts of the bake at `path` that are there, also as links that lead nowhere."""
    return [part for part in parts(path) if os.path.lexists(part)]


def move(path: Path, target: Path, files: list[Path]) -> None:
    """Rename `files` of the bake at `path` to those of `target`, in order; those that are not there are left out.

    Raises
    ------
    OSError
        A sentence; those before it are moved.
    """
    for file in files:
        if os.path.lexists(file):
            try:
                put_in_place(file, target.with_name(target.stem + file.name.removeprefix(path.stem)))
            except OSError as error:
                raise OSError(
                    f"{file} cannot be moved ({error.strerror or error}): close what reads it, or choose another cache folder"
                ) from error


def set_aside(path: Path) -> Path | None:
    """Rename the bake at `path` to NAME.bak1.* (the first number that is free); None if there is nothing to rename."""
    path = Path(path)
    if not (files := present(path)):
        return None
    target = older_name(path)
    move(path, target, [*files, *(companions(path) if is_ours(path) else ())])
    return target


def put_back(older: Path, path: Path) -> bool:
    """Rename a bake that was set aside to `path` again, if nothing has taken that place; whether it was."""
    if present(path) or not is_ours(older):
        return False
    move(older, Path(path), [*parts(older), *companions(older)])
    return True


def copy_aside(path: Path) -> Path:
    """Copy the bake at `path` to NAME.bak1.*, whole or not at all."""
    path = Path(path)
    target, copies = older_name(path), []
    notes = [file for file in companions(path) if is_plain(file)]
    try:
        for part in (*parts(path), *notes):
            copies.append(target.with_name(target.stem + part.name.removeprefix(path.stem)))
            with part.open("rb") as source, copies[-1].open("xb") as copy:
                _pour(source, copy, part.stat().st_size)
    except OSError as error:
        for copy in copies:
            copy.unlink(missing_ok=True)
        reason = error.strerror or error
        raise OSError(
            f"The older bake {path} cannot be kept as {target} ({reason}): make room or free the cache, then bake again"
        ) from error
    return target


def copy_frames(
    source: Path,
    target: Path,
    owner: str,
    before: int | None = None,
    go_on: Callable[[float], bool] = lambda share: True,
) -> bool:
    """All of `copying` at once; `go_on` is told before each block what share is copied, and asked: the copy is given up once it
    says no.
    """
    with closing(copying(source, target, owner, before)) as work:
        while True:
            try:
                share = next(work)
            except StopIteration as end:
                return end.value
            if not go_on(share):
                return False


def copying(source: Path, target: Path, owner: str, before: int | None = None) -> Generator[float, None, bool]:
    """Copy the frames of the bake at `source`, those before frame `before` if that is given, to a new bake at `target`.

    owner : whose the copy is, as in `frames.open_cache`.

    Yields before each block what share is copied; whoever closes it gives the copy up. All files appear together when all are
    written: a process that is killed meanwhile leaves none of them. Returns whether there is a copy now: `source` may hold no such
    frame, or be no bake of three files.

    Raises
    ------
    OSError
        It cannot be read or written, or `target` is taken: a sentence, and nothing is left of the copy.
    """
    source, target = Path(source), Path(target)
    if present(target):
        raise OSError(f"{target} is there already: a bake is not copied over another one")
    if not all(map(is_plain, parts(source))):
        return False
    try:
        header, lines, _ = read_journal(source.with_suffix(".journal"))
        lines = [line for line in lines if before is None or line.frame < before]
        if header is None or not lines:
            return False
        yield from _copied(source, target, header | {"owner": owner}, lines)
    except OSError as error:
        reason = error.strerror or error
        raise OSError(
            f"The frames of {source} cannot be copied to {target} ({reason}): make room, then resume"
        ) from error
    return True


def _copied(source: Path, target: Path, header: dict, lines: list[Line]) -> Generator[float, None, None]:
    """Yields shares while the files of `copying` are written."""
    count, vertex_count = len(lines), header["vertex_count"]
    target.parent.mkdir(parents=True, exist_ok=True)
    heads = {".pc2": pc2.pack_header(vertex_count, header["first_frame"], count), ".state": b""}
    sizes = {".pc2": pc2.POINT_BYTES * vertex_count * count, ".state": state_bytes(vertex_count, lines)}
    every, done = sum(sizes.values()), 0
    with ExitStack() as stack:  # the one that is opened last appears first
        out = stack.enter_context(written(target.with_suffix(".journal")))
        out.write(line_bytes(header))
        out.writelines(line_bytes(line._asdict()) for line in lines)
        for note, copy in zip(companions(source), companions(target), strict=True):
            if is_plain(note):
                with note.open("rb") as file:
                    _pour(file, stack.enter_context(written(copy)), note.stat().st_size)
        for suffix, head in heads.items():
            out = stack.enter_context(written(target.with_suffix(suffix)))
            with source.with_suffix(suffix).open("rb") as file:
                out.write(head)
                file.seek(len(head))
                for size in _pouring(file, out, sizes[suffix]):
                    yield (done + size) / every
            done += sizes[suffix]


def discard(path: Path) -> None:
    """Delete a copy that `copying` has made and nobody plays; what cannot be deleted stays."""
    for file in (*parts(path)[::-1], *companions(path)):
        with suppress(OSError):
            file.unlink(missing_ok=True)


def bring(source: Path, target: Path, owner: str, go_on: Callable[[float], bool] = lambda share: True) -> bool:
    """Copy a whole bake to `target`, and those that lie beside it under older names among the older ones there.

    Arguments and errors as of `copy_frames`. What is copied stays, so that nothing is lost whatever ends it. Returns whether
    there is a copy of `source` now.
    """
    source = Path(source)
    if not copy_frames(source, target, owner, go_on=go_on):
        return False
    for other in (newest_name(source), *older_bakes(source)):
        if other != source and is_ours(other) and owner_of(other) in ("", owner_of(source)):
            copy_frames(other, older_name(target), owner, go_on=go_on)
    return True


def bring_file(source: Path, folder: Path, go_on: Callable[[float], bool] = lambda share: True) -> Path | None:
    """Copy a single file that belongs to a bake into a folder, under its name or, where another file has that, one with a number.

    go_on : as of `copy_frames`. Returns where it is now, which may be where the same was brought before; None if it was given up.

    Raises
    ------
    OSError
        It cannot be read or written: a sentence, and nothing is left of the copy.
    """
    source, number = Path(source), 1
    target = Path(folder) / source.name
    try:
        make_folder(target.parent)
        while os.path.lexists(target):
            if is_plain(target) and filecmp.cmp(source, target, shallow=False):
                return target
            number += 1
            target = target.with_name(f"{source.stem}-{number}{source.suffix}")
        size = source.stat().st_size
        with source.open("rb") as file, written(target) as out:
            if not _pour(file, out, size, lambda done: go_on(done / size)):
                raise InterruptedError
    except InterruptedError:
        return None
    except OSError as error:
        if error.strerror is None:  # a sentence already
            raise
        raise OSError(f"{source} cannot be copied to {target} ({error.strerror}): make room, then resume") from error
    return target


def _pour(source: BinaryIO, out: BinaryIO, size: int, go_on: Callable[[int], bool] = lambda copied: True) -> bool:
    """Copy the next `size` bytes, or those up to the end of the file; False if `go_on`, told how many are, ended it."""
    return all(go_on(copied) for copied in _pouring(source, out, size))


def _pouring(source: BinaryIO, out: BinaryIO, size: int) -> Generator[int, None, None]:
    """Copy the next `size` bytes, or those up to the end of the file; yields before each block how many are."""
    copied = 0
    while copied < size and (block := source.read(min(size - copied, COPIED_BYTES))):
        yield copied
        out.write(block)
        copied += len(block)
