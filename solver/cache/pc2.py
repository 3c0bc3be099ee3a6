# SPDX-License-Identifier: GPL-3.0-or-later
"""PC2: the point cache that Blender's Mesh Cache modifier plays.

Little endian: 12 bytes "POINTCACHE2\\0", int32 version 1, int32 points, float32 first frame, float32 samples a
frame, int32 samples; then float32 xyz, sample after sample. Blender reads the number of samples from the header
each time it shows a frame, so a file may grow while it is played if that number is patched last.
"""

import struct
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

PC2_MAGIC = b"POINTCACHE2\0"
HEADER_LAYOUT = "<12siiffi"
HEADER_SIZE = struct.calcsize(HEADER_LAYOUT)
COUNT_OFFSET = HEADER_SIZE - 4
POINT_BYTES = 12  # of a vertex in a sample: three float32


class Header(NamedTuple):
    """What the first 32 bytes of a PC2 file say; `sample_count` is never more than the file holds."""

    vertex_count: int
    first_frame: float
    samples_per_frame: float
    sample_count: int


def pack_header(vertex_count: int, first_frame: float, sample_count: int) -> bytes:
    """The 32 bytes that start a PC2 file with one sample a frame."""
    return struct.pack(HEADER_LAYOUT, PC2_MAGIC, 1, vertex_count, first_frame, 1.0, sample_count)


def patch_count(file: BinaryIO, sample_count: int) -> None:
    """Tell readers of an open, unbuffered PC2 file how many samples they may read."""
    file.seek(COUNT_OFFSET)
    file.write(struct.pack("<i", sample_count))


def sample_offset(vertex_count: int, index: int) -> int:
    """Byte at which sample `index` starts."""
    return HEADER_SIZE + POINT_BYTES * vertex_count * index


def read_header(path: Path) -> Header:
    """Header of a PC2 file, checked against the size of the file before anyone takes memory for it.

    Raises
    ------
    ValueError
        The file is no PC2 file, or promises more than it holds.
    OSError
        It cannot be read.
    """
    path = Path(path)
    if path.exists() and not path.is_file():
        raise ValueError(f"{path} is a folder, a pipe or a device: choose a .pc2 file")
    with path.open("rb") as file:
        head = file.read(HEADER_SIZE)
        size = file.seek(0, 2)
    if len(head) < HEADER_SIZE or not head.startswith(PC2_MAGIC):
        raise ValueError(f"{path} is not a PC2 point cache: choose a .pc2 file")
    _, version, vertex_count, first_frame, rate, sample_count = struct.unpack(HEADER_LAYOUT, head)
    if version != 1 or vertex_count < 1 or sample_count < 0:
        raise ValueError(
            f"{path} has a damaged header (version {version}, {vertex_count} points, {sample_count} samples): bake it again"
        )
    if size < sample_offset(vertex_count, sample_count):
        held = (size - HEADER_SIZE) // (POINT_BYTES * vertex_count)
        raise ValueError(f"{path} promises {sample_count} samples but holds {held}: it was cut off, bake it again")
    return Header(vertex_count, first_frame, rate, sample_count)


def read(path: Path) -> np.ndarray:
    """Samples of a PC2 file, (s, n, 3) float32, as a read-only view of the file: no memory is taken up front.

    Raises
    ------
    ValueError, OSError
        As `read_header`.
    """
    header = read_header(path)
    shape = (header.sample_count, header.vertex_count, 3)
    if header.sample_count == 0:
        return np.empty(shape, np.float32)
    return np.memmap(path, dtype="<f4", mode="r", offset=HEADER_SIZE, shape=shape)


def write(path: Path, samples: np.ndarray, first_frame: float) -> None:
    """Write a whole PC2 file at once.

    samples : (s, n, 3) [m], stored as float32.
    """
    samples = np.ascontiguousarray(samples, "<f4")
    with Path(path).open("wb") as file:
        file.write(pack_header(samples.shape[1], first_frame, samples.shape[0]))
        file.write(samples.data)
