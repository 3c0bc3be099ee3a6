# SPDX-License-Identifier: GPL-3.0-or-later
"""PNG files in as grey: every kind, every row filter, and files that are broken or hostile."""

import struct
import tracemalloc
import zlib

import numpy as np
import pytest
from PIL import Image
from taffeta.solver.cache import png
from taffeta.solver.grey import LUMINANCE


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png_of(width, height, depth, colour, rows, interlace=0, palette=b""):
    """A PNG of rows of bytes, each with its filter in front."""
    head = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlace)
    chunks = [chunk(b"IHDR", head)] + [chunk(b"PLTE", palette)] * bool(palette)
    return png.PNG_SIGNATURE + b"".join([*chunks, chunk(b"IDAT", zlib.compress(rows)), chunk(b"IEND", b"")])


def read(tmp_path, content):
    (tmp_path / "a.png").write_bytes(content)
    return png.read_grey(tmp_path / "a.png")


@pytest.mark.parametrize("mode", ["L", "LA", "RGB", "RGBA", "P", "1", "I;16"])
def test_every_kind_is_what_pillow_reads(tmp_path, mode):
    """Pillow chooses the filters of its rows by what packs best, so all of them come up."""
    rng = np.random.default_rng(1)
    smooth = np.add.outer(np.arange(37), 3 * np.arange(53)) + rng.integers(0, 9, (37, 53))
    channels = {"L": 1, "LA": 2, "RGB": 3, "RGBA": 4}.get(mode, 1)
    if mode == "I;16":
        pixels = (smooth * 211 % 65536).astype(np.uint16)
        image, expected = Image.fromarray(pixels), pixels / 65535
    else:
        pixels = np.stack([smooth * (k + 1) % 256 for k in range(channels)], axis=-1).astype(np.uint8)
        image = Image.fromarray(pixels.squeeze(), mode if channels > 1 else "L")
        image = image.convert(mode) if mode in ("P", "1") else image
        seen = np.asarray(image.convert("RGB") if mode in ("P", "1") else image).reshape(37, 53, -1) / 255
        expected = seen[..., :3] @ LUMINANCE if seen.shape[2] >= 3 else seen[..., 0]
    image.save(tmp_path / "a.png")
    assert png.read_grey(tmp_path / "a.png") == pytest.approx(expected[::-1], abs=1e-12)


@pytest.mark.parametrize("filter", range(5))
@pytest.mark.parametrize(("colour", "step"), [(0, 1), (2, 3)])
def test_every_filter_of_a_row(tmp_path, filter, colour, step):
    """Filtered here by the formulas of section 9.2, one byte at a time."""
    pixels = np.random.default_rng(2).integers(0, 256, (6, 7 * step))
    rows = bytearray()
    for i, row in enumerate(pixels):
        rows.append(filter)
        for j, value in enumerate(row):
            left = int(row[j - step]) if j >= step else 0
            up = int(pixels[i - 1, j]) if i else 0
            corner = int(pixels[i - 1, j - step]) if i and j >= step else 0
            nearest = min((left, up, corner), key=lambda c: abs(left + up - corner - c))
            rows.append((int(value) - (0, left, up, (left + up) // 2, nearest)[filter]) % 256)
    seen = pixels.reshape(6, 7, step) / 255
    expected = seen @ LUMINANCE if step == 3 else seen[..., 0]
    assert read(tmp_path, png_of(7, 6, 8, colour, bytes(rows))) == pytest.approx(expected[::-1], abs=1e-12)


@pytest.mark.parametrize("depth", [1, 2, 4])
def test_several_pixels_in_a_byte(tmp_path, depth):
    values = np.random.default_rng(depth).integers(0, 1 << depth, (3, 11))
    bits = ((values[..., None] >> np.arange(depth - 1, -1, -1)) & 1).reshape(3, -1)
    rows = b"".join(b"\0" + np.packbits(row).tobytes() for row in bits)
    assert read(tmp_path, png_of(11, 3, depth, 0, rows)) == pytest.approx(values[::-1] / ((1 << depth) - 1))


GOOD = png_of(2, 2, 8, 0, b"\0\1\2\0\3\4")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"GIF89a", "no PNG"),
        (b"", "no PNG"),
        (png.PNG_SIGNATURE, "no pixels"),
        (GOOD[:-20], "damaged"),
        (GOOD.replace(b"\x08\x00", b"\x08\x02", 1), "damaged"),  # the checksum no longer fits
        (png_of(2, 2, 8, 0, b"\0\1\2\0"), "cannot be unpacked"),
        (png_of(2, 2, 8, 0, b"\5\1\2\0\3\4"), "filter 5"),
        (png_of(2, 2, 8, 0, b"\0\1\2\0\3\4", interlace=1), "interlaced"),
        (png_of(0, 2, 8, 0, b"\0"), "0 x 2 pixels"),
        (png_of(1 << 20, 1 << 20, 8, 0, b"\0"), "at most"),
        (png_of(1 << 14, 1 << 14, 16, 6, b"\0" * (1 << 21)), "16384 x 16384 pixels: at most 67,108,864"),
        (png_of(1 << 13, 1 << 13, 16, 6, b"\0" * (1 << 21)), "cannot be unpacked"),
        (png_of(2, 2, 3, 0, b"\0\1"), "unknown kind"),
        (png_of(2, 2, 8, 5, b"\0\1"), "unknown kind"),
        (png_of(2, 1, 8, 3, b"\0\0\7", palette=b"\1\2\3"), "palette"),
    ],
)
def test_broken_and_hostile_files(tmp_path, content, words):
    with pytest.raises(ValueError, match=words):
        read(tmp_path, content)


def test_a_file_that_unpacks_to_gigabytes_takes_no_more_than_its_pixels(tmp_path):
    bomb = zlib.compress(bytes(1 << 26), 9)
    head = struct.pack(">IIBBBBB", 2, 2, 8, 0, 0, 0, 0)
    content = png.PNG_SIGNATURE + chunk(b"IHDR", head) + chunk(b"IDAT", bomb) + chunk(b"IEND", b"")
    assert read(tmp_path, content).tolist() == [[0.0, 0.0], [0.0, 0.0]]


@pytest.mark.parametrize("colour, step", [(0, 1), (6, 4)])
def test_rows_are_unpacked_some_at_a_time(tmp_path, monkeypatch, colour, step):
    """Each band goes on from the last row of the one before, whatever its filter."""
    rng = np.random.default_rng(colour)
    rows = b"".join(bytes([row % 5]) + rng.integers(0, 256, 9 * step, np.uint8).tobytes() for row in range(23))
    content = png_of(9, 23, 8, colour, rows)
    whole = read(tmp_path, content)
    monkeypatch.setattr(png, "BAND_BYTES", 3 * (9 * step + 1))
    monkeypatch.setattr(png, "PIECE_BYTES", 7)
    assert read(tmp_path, content) == pytest.approx(whole, abs=1e-15)


def test_a_large_picture_takes_little_more_memory_than_its_grey(tmp_path):
    side = 2048
    (tmp_path / "a.png").write_bytes(png_of(side, side, 16, 6, bytes(side * (8 * side + 1))))
    tracemalloc.start()
    try:
        grey = png.read_grey(tmp_path / "a.png")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert grey.shape == (side, side) and peak < 1.5 * grey.nbytes


def test_what_no_file_can_hold_is_refused_before_memory_is_taken(tmp_path):
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="cannot be unpacked"):
            read(tmp_path, png_of(1 << 13, 1 << 13, 16, 6, b"\0" * (1 << 16)))
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()
