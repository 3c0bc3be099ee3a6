# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth that is shot at cloth (`benchmarks/impacts.py`): what the guard does there, and what it keeps."""

import contact_scenes
import impacts
import numpy as np
from taffeta.solver.broad_phase.patches import OVERLAPS


def test_parts_of_zones_are_reached_in_a_default_bake_and_no_frame_makes_momentum():
    """Huh, Metaxas and Badler 2001, 3 to 3.4: zones are parted, solved at once and by the programme."""
    frames = impacts.shoot(6, 30.0, 2)
    ways = sum((frame.ways for frame in frames), impacts.Counter())
    assert all(ways[way] for way in impacts.WAYS), ways
    assert max(frame.change for frame in frames) < 1e-12
    assert not any(frame.crossings for frame in frames)


def test_nothing_is_missed_however_near_neighbours_are_looked_for(monkeypatch):
    """Pereira 2010, 5.5.3: his quick search misses collisions. Here it finds fewer pairs, and nothing crosses by it."""
    scene = contact_scenes.strip()._replace(frames=18)
    monkeypatch.setitem(contact_scenes.SCENES, "strip", lambda: scene)
    monkeypatch.setattr(impacts, "HASHED", ("strip",))
    monkeypatch.setattr(impacts, "REACHES", (1.0, 6.0))
    near, far = impacts.reached()
    assert near[-1] == far[-1] == 0 and near[3] < far[3], (near, far)


def test_hash_hierarchy_and_comparing_each_with_each_find_the_same():
    """Bigliani and Eischen 2000, 3.3: what the benchmark times finds the same pairs, in fewer comparisons."""
    rng = np.random.default_rng(0)
    low = rng.random((800, 3))
    boxes = np.concatenate([low, low + 0.09 * rng.random((800, 3))], axis=1)
    alone = np.zeros(len(boxes), np.int32), np.ones((1, 1), np.bool_)
    wanted, slow = impacts.timed(lambda boxes, *_: impacts.each_with_each(boxes), boxes, *alone, times=3)
    assert len(wanted) > 50
    for name, overlaps in OVERLAPS.items():
        found, quick = impacts.timed(overlaps, boxes, *alone, times=3)
        assert np.array_equal(found, wanted) and quick < slow, name
