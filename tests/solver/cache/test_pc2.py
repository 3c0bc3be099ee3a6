# SPDX-License-Identifier: GPL-3.0-or-later
"""PC2 files: bytes as Blender reads them, and files that are not what they say."""

import struct

import numpy as np
import pytest
from taffeta.solver.cache import pc2


def test_the_bytes_are_those_of_the_format(tmp_path):
    samples = np.arange(2 * 3 * 3, dtype=np.float32).reshape(2, 3, 3)
    pc2.write(tmp_path / "a.pc2", samples, 7)
    head = b"POINTCACHE2\0" + struct.pack("<i", 1) + struct.pack("<i", 3) + struct.pack("<ff", 7.0, 1.0)
    assert (tmp_path / "a.pc2").read_bytes() == head + struct.pack("<i", 2) + samples.astype("<f4").tobytes()


def test_reading_gives_back_what_was_written(tmp_path):
    samples = np.random.default_rng(1).normal(size=(4, 5, 3)).astype(np.float32)
    pc2.write(tmp_path / "a.pc2", samples, -3)
    assert pc2.read_header(tmp_path / "a.pc2") == pc2.Header(5, -3.0, 1.0, 4)
    assert np.array_equal(pc2.read(tmp_path / "a.pc2"), samples)


def test_a_file_without_samples_reads_as_none(tmp_path):
    (tmp_path / "a.pc2").write_bytes(pc2.pack_header(5, 1, 0))
    assert pc2.read(tmp_path / "a.pc2").shape == (0, 5, 3)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "not a PC2"),
        (b"POINTCACHE2\0", "not a PC2"),
        (b"GIF89a" + bytes(100), "not a PC2"),
        (pc2.pack_header(-4, 1, 2) + bytes(96), "damaged header"),
        (pc2.pack_header(4, 1, -2) + bytes(96), "damaged header"),
        (pc2.pack_header(4, 1, 3) + bytes(96), "promises 3 samples but holds 2"),
        (pc2.pack_header(2**31 - 1, 1, 2**31 - 1) + bytes(96), "promises 2147483647 samples but holds 0"),
    ],
)
def test_a_file_that_lies_gets_a_sentence_and_no_memory(tmp_path, content, sentence):
    (tmp_path / "a.pc2").write_bytes(content)
    with pytest.raises(ValueError, match=sentence):
        pc2.read(tmp_path / "a.pc2")
