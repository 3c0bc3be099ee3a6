# SPDX-License-Identifier: GPL-3.0-or-later
"""Elastic that is painted as a map: what is read, baked and told of it."""

import bpy
import numpy as np
import pytest
from quads import CELL, COLUMNS, ROWS, read, strip_of
from taffeta.operators.checks import fingerprint, problem_list
from taffeta.operators.read import bands


def paint(obj, rows=(0,), tension=40.0):
    """Elastic painted on lines along the strip."""
    group = obj.vertex_groups.new(name="Elastic")
    group.add([v.index for v in obj.data.vertices if v.index % ROWS in rows], 1.0, "REPLACE")
    painted = obj.taffeta_cloth.elastic
    painted.source, painted.vertex_group, painted.minimum, painted.maximum = "GROUP", group.name, 0.0, tension
    return painted


def test_a_painted_line_is_elastic_as_wide_as_its_cloth(make):
    obj = strip_of(make)
    assert read(obj).bands is None
    paint(obj, tension=40.0)
    obj.taffeta_cloth.elastic_length = 0.5
    told = read(obj).bands
    assert len(told.edges) == COLUMNS - 1 and (told.edges % ROWS == 0).all()
    np.testing.assert_allclose(told.length, 0.5)
    np.testing.assert_allclose(told.tension, 40.0 * CELL / 2, rtol=1e-5)  # a rim stands for half a row
    obj.taffeta_cloth.elastic.maximum = 0.0
    assert read(obj).bands is None


def test_what_is_marked_counts_where_both_are(make):
    obj = strip_of(make)
    paint(obj)
    bands.mark(
        obj.data, np.array([e.index for e in obj.data.edges if all(v % ROWS == 0 for v in e.vertices)][:1]), 0.3, 7.0
    )
    from taffeta.solver.build import build
    from taffeta.solver.model import Settings

    garment = read(obj)
    marked = garment.bands.edges[0]
    cloth, _ = build([garment], Settings())
    at = np.flatnonzero((np.sort(cloth.edges, axis=1) == np.sort(marked)).all(axis=1))
    assert len(at) == 1 and cloth.rest_length[at[0]] == pytest.approx(0.3 * CELL, rel=1e-5)


def test_a_thread_that_no_pattern_tells_is_told(make):
    obj = strip_of(make)
    obj.taffeta_cloth.uv_map = ""
    paint(obj)
    obj.taffeta_cloth.elastic_along = "WARP"
    with pytest.raises(ValueError, match="'Strip': its elastic runs along warp, and it has no Pattern"):
        read(obj)
    told = [problem.sentence for problem in problem_list.latest(bpy.context.scene)]
    assert "Strip has painted elastic along a thread, and no Pattern that tells the threads" in told


def test_the_panel_knows_what_changed(make):
    obj = strip_of(make)
    before = fingerprint.take(obj, bpy.context.scene, [])
    paint(obj)
    painted = fingerprint.take(obj, bpy.context.scene, [])
    assert "Elastic" in [word for word in painted if painted[word] != before[word]]
    obj.taffeta_cloth.elastic_length = 0.4
    shorter = fingerprint.take(obj, bpy.context.scene, [])
    assert [word for word in shorter if shorter[word] != painted[word]] == ["Elastic Length"]


def test_a_painted_strip_gathers_by_a_bake(saved, make):
    saved.use_gravity, saved.frame_start, saved.frame_end = False, 1, 12
    obj = strip_of(make, damping=10.0)
    paint(obj, range(ROWS), 40.0)
    obj.taffeta_cloth.elastic_length = 0.5
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    saved.frame_set(12)
    x = make.world(obj)
    full = CELL * (COLUMNS - 1)
    assert np.linalg.norm(np.diff(x[::ROWS], axis=0), axis=1).sum() < 0.9 * full
