# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that are open for writing while somebody may delete, move or copy them: whether they are where they were opened, and there again."""

import os
from pathlib import Path
from typing import BinaryIO

from . import pc2
from .files import put_in_place

COPIED_AT_ONCE = 1 << 20  # [bytes]


def write_at(file: BinaryIO, offset: int, data: bytes | memoryview) -> int:
    """Write all of `data` at `offset` of an unbuffered file and return its size in bytes."""
    view = memoryview(data).cast("B")
    file.seek(offset)
    written = 0
    while written < len(view):
        written += file.write(view[written:])
    return len(view)


def is_at(file: BinaryIO, place: Path) -> bool:
    """Whether an open file is the one at `place`, or as large: file systems beyond a network do not always tell which file it is."""
    if os.path.islink(place) or not os.path.isfile(place):
        return False
    ours, there = os.fstat(file.fileno()), os.stat(place)
    return os.path.samestat(ours, there) or ours.st_size == there.st_size


def is_outgrown(file: BinaryIO, place: Path) -> bool:
    """Whether at `place` lies a copy of an open file, made before that grew on: it begins with the same bytes."""
    if os.path.islink(place) or not os.path.isfile(place):
        return False
    file.seek(0)
    with place.open("rb") as copy:
        if place.suffix == ".pc2":  # its header tells how many samples there are
            if (head := copy.read(pc2.COUNT_OFFSET)) != file.read(len(head)):
                return False
            copy.seek(pc2.HEADER_SIZE)
            file.seek(pc2.HEADER_SIZE)
        while block := copy.read(COPIED_AT_ONCE):
            if block != file.read(len(block)):
                return False
    return True


def written_anew(gone: BinaryIO, place: Path) -> BinaryIO:
    """A new file at `place` that holds what an open one does; where that fails nothing is left of it, and what was there stays. Its
    folder is made, too, where that is gone."""
    place.parent.mkdir(parents=True, exist_ok=True)
    target = place.with_name(f"{place.name}.part") if os.path.lexists(place) else place
    gone.seek(0)
    file, size = target.open("x+b", buffering=0), 0
    try:
        while chunk := gone.read(COPIED_AT_ONCE):
            size += write_at(file, size, chunk)  # a nearly full disk takes a part of it first
        if target != place:
            put_in_place(target, place)
    except OSError:
        file.close()
        target.unlink()
        raise
    return file
