# SPDX-License-Identifier: GPL-3.0-or-later
"""The same scene has the same bits on any number of threads: work is cut by size, never by the machine."""

import hashlib
import sys

import naive
import numba
import numpy as np
import pytest
from solids import collider, torus
from taffeta.solver.build import build
from taffeta.solver.kernel import shared, threads
from taffeta.solver.model import Settings
from taffeta.solver.step import advance

pytestmark = pytest.mark.once

SIDE, LEAST = 45, 64
WAYS = {  # and how many frames of them
    "pairs": (Settings(), 4),
    "fully solved": (Settings(dynamics="IMPLICIT_EULER", substeps=3), 1),
    "velocity field": (Settings(cloth_contact="BOTH", substeps=4), 4),
    "depth images": (Settings(cloth_contact="DEPTH_SEQUENCES", substeps=4), 4),
}


def share_all(monkeypatch):
    """Let threads share what is too small to be worth it, wherever there is something to share."""
    shared.share_from(LEAST)
    for name in [name for name in sys.modules if name.startswith("taffeta.solver.")]:
        for constant in vars(sys.modules[name]):
            if constant.startswith("SMALLEST_") and constant.endswith(("_PART", "_RANGE")):
                monkeypatch.setattr(sys.modules[name], constant, LEAST)


def end(settings, frames, count, monkeypatch):
    """A digest of positions and velocities after two crumpled sheets have met each other and a torus that turns."""
    share_all(monkeypatch)
    monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", count)
    threads.send_home()
    garments, rng = [], np.random.default_rng(4)
    for height in (0.28, 0.30):
        one = naive.sheet(SIDE, SIDE, 1.2, 1.2, thickness=0.004)
        x = one.x + [0.0, 0.0, height] - [*one.x[:, :2].mean(axis=0), 0.0]
        x[:, 2] += 0.004 * rng.uniform(size=len(x))
        garments.append(one._replace(x=x, x_start=x))
    cloth, state = build(garments, settings)
    state.v[: SIDE * SIDE, 2] += 1.0  # the lower one into the upper
    x, triangles = torus(60, 40)
    for frame in range(frames):
        path = [np.einsum("nk,jk->nj", x, turned(0.1 * (frame + part))) for part in (0.0, 0.5, 1.0)]
        body = collider((x, triangles))._replace(x=np.array(path))
        advance(cloth, state, naive.still(state.x + cloth.origin, colliders=(body,)), frame, settings)
    return hashlib.sha256(state.x.tobytes() + state.v.tobytes()).hexdigest()


def turned(angle):
    """(3, 3) about z."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


@pytest.mark.parametrize("way", WAYS)
def test_any_number_of_threads_gives_the_same_bits(way, monkeypatch):
    try:
        ends = {count: end(*WAYS[way], count, monkeypatch) for count in (1, 3, 8)}
    finally:
        monkeypatch.undo()
        shared.share_from()
        threads.send_home()
    assert len(set(ends.values())) == 1, ends
