# SPDX-License-Identifier: GPL-3.0-or-later
"""The fast part of `benchmarks/fuzz.py`: short random shots of small sheets, in which nothing may cross."""

from types import SimpleNamespace

import fuzz
import numpy as np
import pytest
from taffeta.solver.model import Settings

FRAMES, MOST = 2, 8
POKED = 11, 19, 37, 73, 94  # seeds in which a body pokes through where nothing guards against that


@pytest.mark.parametrize("seed", [*range(10), *POKED])
def test_nothing_crosses_in_a_random_shot(seed):
    found, error = fuzz.run(fuzz.scene(seed, FRAMES, MOST), FRAMES)
    assert error == "" and len(found) == FRAMES + 1
    assert all(counts == (0, 0, 0) for counts in found), "within sheets, between them, with the body"


def test_a_groove_is_no_pinch():
    """A body flies at two sheets with 20 m/s, and presses one into a groove narrower than both auras: it overlaps with
    nothing there, so the guard goes on.
    """
    found, error = fuzz.run(fuzz.scene(284), 4)
    assert error == "" and all(counts == (0, 0, 0) for counts in found)


def test_without_the_guard_bodies_poke_through(monkeypatch):
    monkeypatch.setattr(fuzz, "Settings", lambda: Settings(guard_bodies=False))
    shots = [fuzz.run(fuzz.scene(seed, FRAMES, MOST), FRAMES)[0] for seed in POKED]
    assert any(counts.cloth_body for found in shots for counts in found)
    assert all(counts[:2] == (0, 0) for found in shots for counts in found), "cloth never crosses cloth"


def test_a_seed_is_a_shot_and_seeds_reach_the_limits():
    one, two = fuzz.scene(5), fuzz.scene(5)
    assert np.array_equal(one.velocities, two.velocities) and one.words == two.words
    shots = [fuzz.scene(seed) for seed in range(60)]
    thickness = np.array([garment.thickness[0] for shot in shots for garment in shot.garments])
    assert thickness.min() < 3e-4 and thickness.max() > 1.5e-2
    fastest = max(np.linalg.norm(shot.velocities, axis=1).max() for shot in shots)
    assert 30.0 < fastest <= fuzz.FASTEST * (1.0 + 1e-12)
    assert any(shot.body is None for shot in shots) and any(shot.body is not None for shot in shots)
    for shot in shots:
        for garment in shot.garments:
            length = np.linalg.norm(garment.x[garment.edges[:, 0]] - garment.x[garment.edges[:, 1]], axis=1)
            assert np.isfinite(garment.x_start).all() and length.min() > 0.0


def test_a_crossing_is_found_and_told():
    """A body is put across cloth: the middle of a triangle of the one is that of the other."""
    shot = fuzz.scene(1)
    garment, body = shot.garments[0], shot.body
    middle = garment.x_start[garment.triangles[0]].mean(axis=0) - body.x[body.triangles[0]].mean(axis=0)
    across = body._replace(start=middle, velocity=np.zeros(3))
    assert fuzz.run(shot._replace(body=across), 0)[0][0].cloth_body > 0


def test_a_shot_that_failed_fails_the_run_and_is_kept(tmp_path):
    asked = []

    def tell(seed):
        asked.append(seed)
        counts = dict.fromkeys(fuzz.Crossings._fields, int(seed == 3))
        return {"seed": seed, "passed": seed != 3, **counts, "error": "", "seconds": 0.0, "scene": "a sheet"}

    options = SimpleNamespace(first=2, count=2, frames=4, only=None)
    assert fuzz.run_all(options, tmp_path / "out" / "shots.jsonl", tell) == 1
    assert fuzz.run_all(options, tmp_path / "out" / "shots.jsonl", tell) == 1 and asked == [2, 3]
    options.only = [2]
    assert fuzz.run_all(options, tmp_path / "out" / "shots.jsonl", tell) == 0 and asked == [2, 3, 2]
