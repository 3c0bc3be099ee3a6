# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth that is shot at cloth (`benchmarks/impacts.py`): what the guard does there, and what it keeps."""

import impacts


def test_parts_of_zones_are_reached_in_a_default_bake_and_no_frame_makes_momentum():
    """Huh, Metaxas and Badler 2001, 3 to 3.4: zones are parted, solved at once and by the programme."""
    frames = impacts.shoot(4, 30.0, 2)
    ways = sum((frame.ways for frame in frames), impacts.Counter())
    assert all(ways[way] for way in ("guarded", "parted", "at once", "programme")), ways
    assert max(frame.change for frame in frames) < 1e-12
    assert not any(frame.crossings for frame in frames)
