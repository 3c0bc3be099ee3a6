# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether frames on the disk are as they were written: whole, of the journal's checksums, and finite.

A checksum finds what a disk or a copy does; that numbers are finite is looked at, too, because a file that somebody made
can have checksums that agree.
"""

import zlib
from pathlib import Path
from typing import BinaryIO

import numpy as np

from . import pc2
from .journal import Line, read_journal

STATE_BYTES = 48  # of a particle: x and v, three float64 each
BLOCK_BYTES = 1 << 24  # that are looked at at once; whole numbers


def state_bytes(vertex_count: int, lines: list[Line]) -> int:
    """How many bytes the states of some frames, told by their journal's lines, have together."""
    return STATE_BYTES * vertex_count * len(lines) + 8 * sum(line.plastic for line in lines)


def good_count(path: Path, vertex_count: int, first_frame: int, lines: list[Line]) -> int:
    """How many frames of the bake at `path`, from the first on, are what its journal's `lines` say."""
    with path.open("rb") as samples, path.with_suffix(".state").open("rb") as states:
        if samples.read(pc2.COUNT_OFFSET) != pc2.pack_header(vertex_count, first_frame, 0)[: pc2.COUNT_OFFSET]:
            return 0
        samples.seek(pc2.HEADER_SIZE)
        for index, line in enumerate(lines):
            if _checksum(samples, pc2.POINT_BYTES * vertex_count, "<f4") != line.sample_crc:
                return index
            if _checksum(states, state_bytes(vertex_count, [line]), "<f8") != line.state_crc:
                return index
    return len(lines)


def first_damaged(path: Path, wanted: range) -> int | None:
    """The first of the `wanted` samples of a PC2 that is not finite, or not what its journal says, if there is one.

    Raises
    ------
    ValueError, OSError
        As `pc2.read_header`.
    """
    header = pc2.read_header(path)
    crcs = _sample_crcs(path.with_suffix(".journal"), header)
    size = pc2.POINT_BYTES * header.vertex_count
    with path.open("rb") as samples:
        for index in wanted:
            samples.seek(pc2.HEADER_SIZE + size * index)
            crc = _checksum(samples, size, "<f4")
            if crc is None or crcs.get(index, crc) != crc:
                return index
    return None


def _sample_crcs(journal: Path, header: pc2.Header) -> dict[int, int]:
    """Checksums by sample of the journal of the same bake; none where there is none, as beside a file that was moved."""
    try:
        about, lines, _ = read_journal(journal)
    except OSError:
        return {}
    if about is None or (about["vertex_count"], about["first_frame"]) != (header.vertex_count, header.first_frame):
        return {}
    return {index: line.sample_crc for index, line in enumerate(lines)}


def _checksum(file: BinaryIO, size: int, dtype: str) -> int | None:
    """That of the next `size` bytes, in pieces; None if the file ends before, or a number is not finite."""
    crc = 0
    while size:
        block = file.read(min(size, BLOCK_BYTES))
        if not block or len(block) % np.dtype(dtype).itemsize or not np.isfinite(np.frombuffer(block, dtype)).all():
            return None
        crc = zlib.crc32(block, crc)
        size -= len(block)
    return crc
