# SPDX-License-Identifier: GPL-3.0-or-later
"""Mark Elastic and Clear Elastic on selected edges; what is read, baked with a key, drawn, and told of bad ones."""

import bpy
import numpy as np
import pytest
from quads import CELL, COLUMNS, ROWS, read, select, strip_of
from taffeta.operators.checks import fingerprint, problem_list
from taffeta.operators.overlay import marks
from taffeta.operators.read import bands


def mark_rim(obj, **options):
    """Elastic on the strip's first long rim, as a script does without a window."""
    bpy.context.view_layer.objects.active = obj
    for edge in obj.data.edges:
        edge.select = all(vertex % ROWS == 0 for vertex in edge.vertices)
    return bpy.ops.taffeta.elastic_mark(**options)


def test_selected_edges_become_elastic_and_are_cleared_one_by_one(make):
    obj = strip_of(make)
    select(obj, (2, 4))
    assert bpy.ops.taffeta.elastic_mark(length=0.5, tension=2.0) == {"FINISHED"} and obj.mode == "EDIT"
    bpy.ops.object.mode_set(mode="OBJECT")
    told = read(obj).bands
    assert len(told.edges) == 2 * (ROWS - 1) and set(told.edges.ravel() // ROWS) == {2, 4}
    np.testing.assert_allclose((told.length, told.tension), ([0.5] * 4, [2.0] * 4))
    select(obj, (4,))
    assert bpy.ops.taffeta.elastic_clear() == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    assert set(read(obj).bands.edges.ravel() // ROWS) == {2}
    assert bpy.ops.taffeta.elastic_clear(every=True) == {"FINISHED"}
    assert read(obj).bands is None and not set(bands.NAMES) & set(obj.data.attributes.keys())


def test_what_cannot_be_elastic_is_told(make):
    obj = strip_of(make)
    select(obj, ())
    with pytest.raises(RuntimeError, match="Strip has no selected edge"):
        bpy.ops.taffeta.elastic_mark()
    bpy.ops.object.mode_set(mode="OBJECT")
    with pytest.raises(RuntimeError, match="Strip: none of its edges is marked as an elastic band"):
        bpy.ops.taffeta.elastic_clear(every=True)
    obj.data.attributes.new(bands.TENSION, "FLOAT", "EDGE")
    with pytest.raises(ValueError, match="Strip has the attribute 'elastic_tension' without 'elastic_length'"):
        read(obj)
    obj.data.attributes.new(bands.LENGTH, "FLOAT", "POINT")
    with pytest.raises(
        ValueError, match="'elastic_length' holds FLOAT on POINT, and elastic bands need a float on edges"
    ):
        read(obj)
    with pytest.raises(RuntimeError, match="Strip: the attribute 'elastic_length' is used for something else"):
        mark_rim(obj)


def test_the_panel_knows_what_changed(make):
    obj = strip_of(make)
    before = fingerprint.take(obj, bpy.context.scene, [])
    mark_rim(obj)
    marked = fingerprint.take(obj, bpy.context.scene, [])
    assert [word for word in marked if marked[word] != before[word]] == ["the edges marked as elastic"]
    obj.taffeta_cloth.band_pull = 0.5
    pulled = fingerprint.take(obj, bpy.context.scene, [])
    assert [word for word in pulled if pulled[word] != marked[word]] == ["Elastic Pull"]


def rim_length(x):
    """Of the marked rim, of a strip at x (n, 3) [m]."""
    return np.linalg.norm(np.diff(x[::ROWS], axis=0), axis=1).sum()


def test_a_rim_gathers_when_its_pull_is_keyed_and_a_resumed_bake_has_the_same_bits(saved, make):
    saved.use_gravity, saved.frame_start, saved.frame_end = False, 1, 12
    obj = strip_of(make, damping=10.0)
    mark_rim(obj, length=0.5, tension=1.0)
    for frame, pull in ((1, 0.0), (4, 0.0), (5, 1.0)):
        obj.taffeta_cloth.band_pull = pull
        obj.taffeta_cloth.keyframe_insert("band_pull", frame=frame)
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    assert not [p for p in problem_list.latest(saved) if "key" in p.sentence.lower()]
    frames = []
    for frame in range(1, 13):
        saved.frame_set(frame)
        frames.append(make.world(obj))
    full = CELL * (COLUMNS - 1)
    assert rim_length(frames[3]) == pytest.approx(full, rel=1e-3) and rim_length(frames[-1]) < 0.9 * full
    said = marks.find_marks(saved, bpy.context.view_layer, bpy.context.evaluated_depsgraph_get(), ("elastic",))
    assert [text for _, text in said.words] == [
        f"Elastic: {100 * rim_length(frames[-1]):.3g} cm of {100 * full:.3g} cm of cloth"
    ]
    assert bpy.ops.taffeta.bake(from_frame=7) == {"FINISHED"}
    for frame, before in enumerate(frames, 1):
        saved.frame_set(frame)
        assert make.world(obj).tobytes() == before.tobytes()
