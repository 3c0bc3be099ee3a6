# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a bake lies: file names made from object names, names of older bakes, and the lock of a running bake."""

import errno
import hashlib
import os
import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from .files import refuse_link

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None
    import msvcrt

BAKE_SUFFIXES = (".pc2", ".state", ".journal")
COMPANION_SUFFIXES = (".report.json", ".about.json", ".recipe")  # of a bake; it plays and resumes without them
LONGEST_NAME = 100  # bytes; with hash and suffix it stays below 143, the shortest limit in use (eCryptfs)
FORBIDDEN_LETTERS = set('<>:"/\\|?*')  # on Windows; the slash everywhere
DEVICE_NAMES = {"con", "prn", "aux", "nul", *(f"{port}{digit}" for port in ("com", "lpt") for digit in "123456789")}
OLDER_NAME = re.compile(r"\.bak\d+$")


def safe_name(name: str) -> str:
    """A file name, without suffix, for the object `name`: the name itself where every file system takes it.

    Otherwise what is left of it and a hash, so that different objects never share a file and nothing ends up
    outside the folder.
    """
    text = unicodedata.normalize("NFC", name.encode("utf-8", "replace").decode())
    text = "".join("_" if letter in FORBIDDEN_LETTERS or not letter.isprintable() else letter for letter in text)
    text = text.lstrip(". ").rstrip(". ")
    while len(text.encode()) > LONGEST_NAME:
        text = text[:-1]
    is_device = text.split(".")[0].strip().lower() in DEVICE_NAMES
    if text and text == name and not is_device and not OLDER_NAME.search(text):
        return text
    digest = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    return f"{'_' * is_device}{text or 'cloth'}-{digest}"


def cache_paths(folder: Path, names: Sequence[str]) -> list[Path]:
    """One .pc2 path in `folder` for each object name, different even where a file system ignores case.

    Equal names (objects of two libraries) get a number, in the order given.
    """
    paths, taken = [], set()
    for name in names:
        base = text = safe_name(name)
        number = 1
        while text.casefold() in taken:
            number += 1
            text = f"{base}-{number}"
        taken.add(text.casefold())
        paths.append(Path(folder) / f"{text}.pc2")
    return paths


def parts(path: Path) -> list[Path]:
    """The files of the bake at `path` (NAME.pc2); they need not exist."""
    return [path.with_suffix(suffix) for suffix in BAKE_SUFFIXES]


def companions(path: Path) -> list[Path]:
    """What belongs to the bake at `path` besides its `parts`; these need not exist, either."""
    return [path.with_suffix(suffix) for suffix in COMPANION_SUFFIXES]


def lock_file(path: Path) -> Path:
    """What is locked while the bake at `path` is written; Taffeta writes nothing into it."""
    return path.with_suffix(".lock")


def newest_name(path: Path) -> Path:
    """NAME.pc2 of a bake that may be an older one (NAME.bak3.pc2)."""
    path = Path(path)
    return path.with_name(f"{OLDER_NAME.sub('', path.stem)}.pc2")


def older_name(path: Path) -> Path:
    """The first NAME.bak1.pc2, NAME.bak2.pc2, ... of which no part exists, nor anything that would belong to it."""
    path, number = newest_name(path), 1
    while True:
        target = path.with_name(f"{path.stem}.bak{number}.pc2")
        if not any(map(os.path.lexists, (*parts(target), *companions(target)))):
            return target
        number += 1


def older_bakes(path: Path) -> list[Path]:
    """Bakes that were set aside from `path`, or beside it if it is one of them, oldest number first."""
    path = newest_name(path)
    pattern = re.compile(re.escape(path.stem) + r"\.bak(\d+)\.pc2")
    present = path.parent.glob("*.pc2") if os.path.isdir(path.parent) else ()  # Path.is_dir raises at a name too long
    found = [(int(match[1]), file) for file in present if (match := pattern.fullmatch(file.name))]
    return [file for _, file in sorted(found)]


def take_lock(path: Path) -> BinaryIO | None:
    """Claim the bake at `path` until the process ends or `release_lock`; None where the file system has no locks.

    Raises
    ------
    BlockingIOError
        Another bake, in this process or another, writes there: a sentence.
    OSError
        No file can be made there, or something else has its name.
    """
    lock = lock_file(path)
    refuse_link(lock)
    while True:
        file = lock.open("ab")
        try:
            _lock(file)
        except OSError as error:
            file.close()
            if error.errno in (errno.EACCES, errno.EAGAIN, errno.EDEADLK):
                raise BlockingIOError(f"{path} is being baked by another bake: wait for it or stop it") from None
            return None
        try:
            # The holder before us may have deleted the file between our opening and our locking it.
            if os.path.samestat(os.fstat(file.fileno()), os.stat(lock)):
                return file
        except FileNotFoundError:
            pass
        file.close()


def release_lock(file: BinaryIO | None) -> None:
    """Give the claim back and delete the lock file, unless somebody else has written into it."""
    if file is None:
        return
    try:
        if not os.fstat(file.fileno()).st_size:
            os.unlink(file.name)
    except OSError:
        pass  # Windows deletes no open file; an old lock file does no harm
    file.close()


def in_use(path: Path) -> bool:
    """Whether a bake is writing at `path` now."""
    try:
        release_lock(take_lock(path))
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _lock(file: BinaryIO) -> None:
    if fcntl is not None:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    else:
        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
