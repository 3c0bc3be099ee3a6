# SPDX-License-Identifier: GPL-3.0-or-later
"""A folder for bakes that were freed, from which they can be taken back until it is emptied.

    CACHE/trash/NAME~1/NAME.pc2, .state, .journal, .report.json, .about.json, .recipe

The journal goes in last and comes out first: a folder without one is a move that was cut short, and `mend` takes it back.
Nothing is deleted but whole bakes whose journal is Taffeta's.
"""

import os
from contextlib import contextmanager
from pathlib import Path

from .files import telling
from .moves import move, present
from .names import companions, newest_name, older_name, parts, release_lock, take_lock
from .whose import is_ours

TRASH = "trash"


def put(path: Path) -> Path | None:
    """Move the bake at `path` (NAME.pc2) into the trash of its folder; where to, or None if there was none.

    Raises
    ------
    ValueError
        The file was not written by Taffeta.
    OSError
        It is being written, or cannot be moved: a sentence.
    """
    path = Path(path)
    if not present(path):
        return None
    if not is_ours(path):
        raise ValueError(f"{path} was not baked by Taffeta: delete it by hand if you no longer need it")
    mend(path.parent)
    with _claimed(path):
        target = _new_slot(path)
        move(path, target, _in_order(path))
    return target


def trashed(folder: Path) -> list[Path]:
    """The bakes (NAME.pc2) in the trash of a cache folder, those that came last at the end."""
    found = []
    for slot in _slots(folder):
        found += [part.with_suffix(".pc2") for part in slot.glob("*.journal") if is_ours(part)]
    return sorted(found, key=lambda path: (path.with_suffix(".journal").lstat().st_ctime, path))


def home_of(path: Path) -> Path:
    """The cache folder that a bake of `trashed` came from."""
    return path.parent.parent.parent


def restore(path: Path) -> Path:
    """Move a bake of `trashed` back to where it was, or, if that place is taken, among the older ones; where to.

    Raises
    ------
    OSError
        It cannot be moved: a sentence.
    """
    path = Path(path)
    home = home_of(path)
    mend(home)
    target = home / path.name
    if any(map(os.path.lexists, (*parts(target), *companions(target)))):
        target = older_name(target)
    with _claimed(target):
        move(path, target, _in_order(path)[::-1])
    _clear(path.parent)
    return target


def delete(path: Path) -> None:
    """Delete a bake of `trashed` for good.

    Raises
    ------
    OSError
        It cannot be deleted: a sentence.
    """
    for part in _in_order(Path(path)):
        try:
            part.unlink(missing_ok=True)
        except OSError as error:
            raise OSError(
                f"{part} cannot be deleted ({error.strerror or error}): close what reads it, or delete it by hand"
            ) from error
    _clear(Path(path).parent)


def size_of(paths: list[Path]) -> int:
    """Bytes that bakes take, with what belongs to them."""
    every = [part for path in paths for part in (*parts(path), *companions(path))]
    return sum(part.stat().st_size for part in every if part.is_file() and not part.is_symlink())


def mend(folder: Path) -> None:
    """Take back what was on its way into the trash, or out of it, when a process was killed."""
    for slot in _slots(folder):
        left = [file for file in slot.iterdir() if not file.is_symlink()]
        if not left or any(file.suffix == ".journal" for file in left):
            continue
        name = newest_name(folder / min(left, key=lambda file: len(file.name)).with_suffix(".pc2").name)
        for home in (part.with_suffix(".pc2") for part in Path(folder).glob("*.journal")):
            lacks = newest_name(home) == name and is_ours(home) and not all(map(os.path.lexists, parts(home)))
            if not lacks:
                continue
            try:
                with _claimed(home):
                    taken = next(file for file in left if file.suffix in (".pc2", ".state"))
                    move(taken.with_suffix(".pc2"), home, _in_order(taken.with_suffix(".pc2")))
            except (BlockingIOError, StopIteration):
                continue  # somebody moves it at this moment
            _clear(slot)
            break


def _in_order(path: Path) -> list[Path]:
    samples, states, journal = parts(path)
    return [samples, states, *companions(path), journal]


@contextmanager
def _claimed(path: Path):
    try:
        with telling(path.parent, path.name):
            lock = take_lock(path)
    except BlockingIOError:
        raise BlockingIOError(f"{path} is being baked right now: stop that bake first") from None
    try:
        yield
    finally:
        release_lock(lock)


def _slots(folder: Path) -> list[Path]:
    trash = Path(folder) / TRASH
    if os.path.islink(trash) or not os.path.isdir(trash):  # not Path's, which raise at a name that is too long
        return []
    try:
        return sorted(slot for slot in trash.iterdir() if "~" in slot.name and slot.is_dir() and not slot.is_symlink())
    except OSError:
        return []  # nobody may look into it


def _new_slot(path: Path) -> Path:
    """A new folder in the trash; the place of the bake in it."""
    trash, number = path.parent / TRASH, 1
    if os.path.lexists(trash) and (trash.is_symlink() or not trash.is_dir()):
        raise OSError(f"{trash} is a link or a file: remove it, Taffeta keeps freed bakes in a folder there")
    while True:
        slot = trash / f"{path.stem}~{number}"
        try:
            slot.mkdir(parents=True)
        except FileExistsError:
            number += 1
        except OSError as error:
            raise OSError(f"{slot} cannot be made ({error.strerror or error}): nothing was freed") from error
        else:
            return slot / path.name


def _clear(slot: Path) -> None:
    """Remove the folder, and the trash, if nothing is left in them."""
    for folder in (slot, slot.parent):
        try:
            folder.rmdir()
        except OSError:
            return  # something is left
