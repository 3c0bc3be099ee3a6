# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake leaves the cores to the solver: numpy's solvers wake the threads of OpenBLAS, which then spin for 10 ms on all of them."""

import bpy
import numpy as np
import pytest

WAKE = "inv", "solve", "det", "lstsq", "svd", "eigh", "qr", "pinv"


@pytest.fixture
def asked(monkeypatch):
    """Names of numpy's solvers, as often as they were called."""
    names = []
    for name in WAKE:
        real = getattr(np.linalg, name)
        monkeypatch.setattr(
            np.linalg, name, lambda *args, name=name, real=real, **more: names.append(name) or real(*args, **more)
        )
    return names


def test_no_frame_asks_numpy_for_what_wakes_other_threads(saved, make, asked):
    make.cloth(make.grid(count=8, location=(0, 0, 1.1)))
    ball = make.collider(make.ball(radius=1.0))
    ball.keyframe_insert("location", frame=1)
    ball.location.z = 0.3
    ball.keyframe_insert("location", frame=12)
    counts = []
    for last in (3, 12):
        asked.clear()
        saved.frame_end = last
        assert bpy.ops.taffeta.bake() == {"FINISHED"}
        counts.append(len(asked))
    assert counts[0] == counts[1]
