# SPDX-License-Identifier: GPL-3.0-or-later
"""How time and memory grow with cloth, and what of a frame is Python."""

import cProfile
import time

import between
import bpy
import growth
import numpy as np
import pytest
import taffeta


@pytest.fixture
def blender():
    """A Blender in which Taffeta is enabled, as it may be already."""
    is_ours = not hasattr(bpy.types.Object, "taffeta_cloth")
    if is_ours:
        taffeta.register()
    yield
    if is_ours:
        taffeta.unregister()


def test_a_sheet_is_measured_and_growth_is_told_from_one_to_the_next(blender):
    row = growth.bake(9, 3)
    assert row["vertices"] == 81 and row["seconds"] > 0.0 and row["processor"] > 0.0 and row["set_up"] > 0.0
    larger = row | {"vertices": 4 * 81, "processor": 8 * row["processor"]}
    assert growth.exponent(row, larger) == pytest.approx(1.5)
    lines = growth.table([row, larger]).splitlines()
    assert lines[2].split("|")[-2].strip() == "-" and lines[3].split("|")[-2].strip() == "1.50"


def test_kernels_are_told_from_python():
    """A profile of some calls of one kernel and of much Python between them."""
    from taffeta.solver.integrate.edge_clamp import measure

    edges, x = np.array([[0, 1]], np.int32), np.array([[0.0, 0, 0], [1.0, 0, 0]])
    measure(edges, np.ones(1), np.ones(1, np.bool_), x)
    profile = cProfile.Profile(time.thread_time)
    profile.enable()
    for _ in range(3):
        measure(edges, np.ones(1), np.ones(1, np.bool_), x)
        sorted(range(50_000), reverse=True)
    profile.disable()
    seconds, calls = between.kernels(profile)
    assert list(seconds) == ["measure"] and calls >= 6
    assert 0.0 <= seconds["measure"] < 0.5 * sum(entry.inlinetime for entry in profile.getstats())


@pytest.mark.parametrize(("name", "columns", "alone"), [("21", 21, False), ("101+", 101, True), ("poncho", 0, True)])
def test_scenes_are_named_by_their_size(name, columns, alone):
    case = between.case_of(name, 3)
    assert (case.columns, case.self_collision, case.frames) == (columns, alone, 3)
