# SPDX-License-Identifier: GPL-3.0-or-later
"""PNG in, as grey: what a map needs of a picture (W3C, PNG Specification, Third Edition, 2025).

Every bit depth, colour type and palette; alpha, colour profiles and gamma are left out, because a map is made of the
numbers that were painted. Interlaced files are refused.
"""

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..grey import LUMINANCE
from ..kernel.jit import njit
from .files import read_whole

PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
LARGEST_PNG = 1 << 30  # bytes of a file
MOST_PICTURE_PIXELS = 1 << 26  # 8192 x 8192: half a gigabyte of grey
BAND_BYTES = 1 << 20  # bytes that are unpacked at once
PIECE_BYTES = 1 << 16  # packed bytes that are handed to the unpacker at once
MOST_PACKING = 1032  # times smaller than what it holds deflate makes a file at most (RFC 1951: 258 bytes in 2 bits)
CHANNEL_COUNTS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}  # by colour type: grey, RGB, palette, grey and alpha, RGB and alpha
PALETTE_COLOUR = 3
CHUNK_FRAME = 12  # bytes of a chunk besides its data: four each of size, kind and checksum
HEAD_BYTES = 13
FILTER_SUB, FILTER_UP, FILTER_AVERAGE, FILTER_PAETH = 1, 2, 3, 4  # section 9.2


class _Head(NamedTuple):
    """The chunk IHDR (section 11.2.1)."""

    width: int
    height: int
    depth: int  # bits a channel
    colour: int  # type, see CHANNEL_COUNTS
    compression: int
    filtering: int
    interlace: int


def read_grey(path: Path) -> np.ndarray:
    """Grey of a picture, (rows, columns) float64 in [0, 1], row 0 at the bottom; a colour's is its luminance.

    Raises
    ------
    ValueError
        No PNG, damaged, interlaced or too large: a sentence naming the file.
    OSError
        It cannot be read.
    """
    path = Path(path)
    head, palette, packed = _chunks(path, read_whole(path, LARGEST_PNG))
    channels = CHANNEL_COUNTS[head.colour]
    row_size = 1 + (head.width * channels * head.depth + 7) // 8  # the first byte names the row's filter
    if head.height * row_size > MOST_PACKING * len(packed):
        raise _cannot_be_unpacked(path)
    grey, row = np.empty((head.height, head.width)), head.height
    above = np.zeros((1, row_size), np.uint8)
    for data in _unpacked(path, packed, row_size, head.height):
        rows = np.concatenate((above, np.frombuffer(data, np.uint8).reshape(-1, row_size)))
        if rows[:, 0].max() > FILTER_PAETH:
            raise ValueError(f"{path} is damaged: a row has the filter {rows[:, 0].max()}; save it again")
        unfilter(rows, max(1, channels * head.depth // 8))
        above = rows[-1:].copy()
        above[:, 0] = 0  # it has no filter any more
        samples = _samples(rows[1:, 1:], head.depth)[:, : head.width * channels].reshape(-1, head.width, channels)
        grey[row - len(samples) : row] = _grey(path, head, palette, samples)[::-1]
        row -= len(samples)
    return grey


def _grey(path, head: _Head, palette: np.ndarray, samples: np.ndarray) -> np.ndarray:
    """Grey (rows, columns) in [0, 1] of the samples (rows, columns, channels)."""
    most = (1 << head.depth) - 1
    if head.colour == PALETTE_COLOUR:
        if samples.max() >= len(palette):
            raise ValueError(f"{path} is damaged: it uses a colour that its palette lacks; save it again")
        samples, most = palette[samples[..., 0]], 255
    return (samples[..., :3] @ LUMINANCE if samples.shape[2] >= 3 else samples[..., 0]) / most


def _chunks(path, data) -> tuple[_Head, np.ndarray, bytes]:
    """Head, palette (p, 3) and packed pixels, with every checksum compared."""
    if not data.startswith(PNG_SIGNATURE):
        raise ValueError(f"{path} is no PNG picture: save it as one")
    head, palette, packed, at = None, np.empty((0, 3), np.uint8), [], len(PNG_SIGNATURE)
    while at + CHUNK_FRAME <= len(data):
        (size,), kind = struct.unpack_from(">I", data, at), data[at + 4 : at + 8]
        body = data[at + 8 : at + 8 + size]
        if (
            len(data) < at + CHUNK_FRAME + size
            or zlib.crc32(kind + body) != struct.unpack_from(">I", data, at + 8 + size)[0]
        ):
            raise ValueError(f"{path} is damaged or cut off: save it again")
        if kind == b"IHDR" and size == HEAD_BYTES:
            head = _checked(path, _Head(*struct.unpack(">IIBBBBB", body)))
        elif kind == b"PLTE":
            palette = np.frombuffer(body[: size - size % 3], np.uint8).reshape(-1, 3)
        elif kind == b"IDAT":
            packed.append(body)
        elif kind == b"IEND":
            break
        at += CHUNK_FRAME + size
    if head is None or not packed:
        raise ValueError(f"{path} is damaged: it has no pixels; save it again")
    return head, palette, b"".join(packed)


def _checked(path, head) -> _Head:
    depths = {0: (1, 2, 4, 8, 16), PALETTE_COLOUR: (1, 2, 4, 8)}.get(head.colour, (8, 16))
    if head.colour not in CHANNEL_COUNTS or head.depth not in depths or head.compression or head.filtering:
        raise ValueError(f"{path} is a PNG of an unknown kind: save it with 8 or 16 bits a channel")
    if head.interlace:
        raise ValueError(f"{path} is interlaced: save it without interlacing")
    if not 0 < head.width * head.height <= MOST_PICTURE_PIXELS:
        raise ValueError(f"{path} has {head.width} x {head.height} pixels: at most {MOST_PICTURE_PIXELS:,} can be read")
    return head


def _unpacked(path, packed: bytes, row_size: int, row_count: int) -> Iterator[bytes]:
    """All rows, some at a time; what the file would unpack to beyond them is left."""
    unpacker, rest, data = zlib.decompressobj(), memoryview(packed), bytearray()
    while row_count:
        wanted = row_size * min(row_count, max(1, BAND_BYTES // row_size))
        while len(data) < wanted:
            piece = unpacker.unconsumed_tail or rest[:PIECE_BYTES]
            rest = rest if unpacker.unconsumed_tail else rest[PIECE_BYTES:]
            try:
                more = unpacker.decompress(piece, wanted - len(data))
            except zlib.error as error:
                raise _cannot_be_unpacked(path) from error
            if not more and not rest and not unpacker.unconsumed_tail:
                raise _cannot_be_unpacked(path)
            data += more
        yield bytes(data)
        data.clear()
        row_count -= wanted // row_size


def _cannot_be_unpacked(path) -> ValueError:
    return ValueError(f"{path} is damaged: its pixels cannot be unpacked; save it again")


@njit
def unfilter(rows, step):
    """Undo the filters of rows (h, 1 + w) in place (section 9.2); the first byte of a row names its filter.

    step : bytes from a pixel to the next.
    """
    for i in range(rows.shape[0]):
        kind = rows[i, 0]
        for j in range(1, rows.shape[1]):
            left = int(rows[i, j - step]) if j > step else 0
            up = int(rows[i - 1, j]) if i > 0 else 0
            corner = int(rows[i - 1, j - step]) if i > 0 and j > step else 0
            add = 0
            if kind == FILTER_SUB:
                add = left
            elif kind == FILTER_UP:
                add = up
            elif kind == FILTER_AVERAGE:
                add = (left + up) // 2
            elif kind == FILTER_PAETH:
                guess = left + up - corner
                to_left, to_up, to_corner = abs(guess - left), abs(guess - up), abs(guess - corner)
                add = left if to_left <= to_up and to_left <= to_corner else up if to_up <= to_corner else corner
            rows[i, j] = (rows[i, j] + add) & 255


def _samples(rows: np.ndarray, depth: int) -> np.ndarray:
    """Numbers (h, n) of `depth` bits each, packed into rows of bytes, the high ones first."""
    if depth == 8:
        return rows
    if depth == 16:
        return np.ascontiguousarray(rows).view(">u2").astype(np.uint16)
    bits = np.unpackbits(rows, axis=1).reshape(len(rows), -1, depth)
    return (bits << np.arange(depth - 1, -1, -1, dtype=np.uint8)).sum(axis=2, dtype=np.uint8)
