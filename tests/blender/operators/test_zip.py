# SPDX-License-Identifier: GPL-3.0-or-later
"""Mark and clear zips in Edit Mode; a garment with a keyed zip baked, resumed, and what is told of it."""

import json

import bpy
import ipctk
import numpy as np
import pytest
from edit_mode import corners, select
from taffeta.operators.checks import problem_list
from taffeta.operators.read import zips
from taffeta.operators.read.arrays import corner_vertex, seams, triangulated

COUNT, SIDE = 7, 0.24


@pytest.fixture
def curtain(saved, make):
    """A square that hangs by its upper side, but for its middle; the middle column is selected, from the upper side to its centre."""
    obj = make.cloth(make.grid("Curtain", COUNT, SIDE), thickness=1e-3)
    x = np.array([vertex.co for vertex in obj.data.vertices])
    held = np.flatnonzero((x[:, 1] > 0.49 * SIDE) & (np.abs(x[:, 0]) > 0.02))
    obj.rotation_euler.x = 0.5 * np.pi
    obj.vertex_groups.new(name="held").add(held.tolist(), 1.0, "REPLACE")
    obj.taffeta_cloth.pin.source, obj.taffeta_cloth.pin.vertex_group = "GROUP", "held"
    obj.taffeta_cloth.self_collision = True
    obj.shape_key_add(name="Basis")
    obj.shape_key_add(name="Apart")
    bpy.context.view_layer.objects.active = obj
    select(obj, lambda a, b: abs(a.x) < 1e-6 and abs(b.x) < 1e-6 and min(a.y, b.y) > -0.01)
    return obj


def key(obj, *points):
    for frame, value in points:
        obj.taffeta_cloth.zip_open = value
        obj.taffeta_cloth.keyframe_insert("zip_open", frame=frame)


def gaps(make, obj):
    """How far apart the sides of a zip are in this frame, in its order."""
    edges, opens = zips.marked(obj.data)
    edges, x = edges[np.argsort(opens, kind="stable")], make.world(obj)
    return np.linalg.norm(x[edges[:, 0]] - x[edges[:, 1]], axis=1)


def crosses(make, obj):
    """Whether anything passes through the cloth, whose closed places are one vertex, by another program."""
    x, one = make.world(obj), np.arange(len(obj.data.vertices))
    edges, _ = zips.marked(obj.data)
    edges = np.sort(edges[(x[edges[:, 0]] == x[edges[:, 1]]).all(axis=1)], axis=1)
    one[edges[:, 1]] = edges[:, 0]
    faces = one[triangulated(obj.data)[0]]
    return ipctk.has_intersections(ipctk.CollisionMesh(x, ipctk.edges(faces), faces), x)


def test_undo_switches_sewing_off_again_and_redo_on(curtain):
    """In Edit Mode Undo brings back the mesh alone; the switch goes along with the edges that the verb made."""
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.object.mode_set("EXEC_DEFAULT", True, mode="EDIT")
    bpy.ops.mesh.select_mode("EXEC_DEFAULT", True, type="EDGE")
    assert bpy.ops.taffeta.zip_mark("EXEC_DEFAULT", True) == {"FINISHED"} and curtain.taffeta_cloth.sewing
    bpy.ops.ed.undo()
    assert not curtain.taffeta_cloth.sewing
    bpy.ops.ed.redo()
    assert curtain.taffeta_cloth.sewing


def test_undo_leaves_a_switch_that_was_on_already(curtain):
    """By hand: what a verb did not switch on does not go with its edges."""
    curtain.taffeta_cloth.sewing = True
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.object.mode_set("EXEC_DEFAULT", True, mode="EDIT")
    bpy.ops.mesh.select_mode("EXEC_DEFAULT", True, type="EDGE")
    assert bpy.ops.taffeta.zip_mark("EXEC_DEFAULT", True) == {"FINISHED"}
    bpy.ops.ed.undo()
    assert bpy.data.objects["Curtain"].taffeta_cloth.sewing


def test_undo_of_something_else_leaves_the_switch_alone(curtain):
    """It was switched on by a verb once, whose edges are gone, and by hand since: moving the garment back switched it off."""
    assert bpy.ops.taffeta.zip_mark("EXEC_DEFAULT", True) == {"FINISHED"} == bpy.ops.taffeta.zip_clear(every=True)
    bpy.ops.object.mode_set("EXEC_DEFAULT", True, mode="OBJECT")
    curtain.taffeta_cloth.sewing = True
    bpy.ops.ed.undo_push(message="Sewing")
    curtain.location.x = 3.0
    bpy.ops.ed.undo_push(message="Move")
    bpy.ops.ed.undo()
    obj = bpy.data.objects["Curtain"]
    assert obj.location.x == 0.0 and obj.taffeta_cloth.sewing


def test_a_line_is_cut_into_a_zip_and_merged_again(curtain):
    before, half = corners(curtain), COUNT // 2
    bpy.ops.object.mode_set(mode="EDIT")
    assert bpy.ops.taffeta.zip_mark() == {"FINISHED"}
    assert corners(curtain) == before and len(curtain.data.vertices) == COUNT**2 + half
    edges, opens = zips.marked(curtain.data)
    x = np.array([vertex.co for vertex in curtain.data.vertices])
    assert np.array_equal(x[edges[:, 0]], x[edges[:, 1]]) and curtain.taffeta_cloth.sewing
    assert np.sort(opens) == pytest.approx(np.arange(1, half + 1) / half)
    assert not [p for p in problem_list.latest(bpy.context.scene) if "taffeta.fix_weld" in p.verbs]
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="DESELECT")
    with pytest.raises(RuntimeError, match="Curtain: no zip is selected; select one of its rims"):
        bpy.ops.taffeta.zip_clear()
    assert bpy.ops.taffeta.zip_clear(every=True) == {"FINISHED"}
    assert (
        corners(curtain) == before and len(curtain.data.vertices) == COUNT**2 and not len(zips.marked(curtain.data)[0])
    )


@pytest.mark.parametrize(("settings", "top", "inside"), [({}, 1 / 3, 1.0), ({"other_end": True}, 1.0, 1 / 3), ({"first": 0.5, "last": 0.5}, 0.5, 0.5)])  # fmt: skip
def test_which_end_opens_first(curtain, settings, top, inside):
    bpy.ops.taffeta.zip_mark(**settings)
    bpy.ops.object.mode_set(mode="OBJECT")
    edges, opens = zips.marked(curtain.data)
    y = np.array([curtain.data.vertices[k].co.y for k in edges[:, 0]])
    assert (opens[y.argmax()], opens[y.argmin()]) == pytest.approx((top, inside))


def test_what_cannot_be_a_zip_is_refused_and_the_mesh_kept(curtain):
    before = corners(curtain)

    def refused(wanted, match):
        select(curtain, wanted)
        with pytest.raises(RuntimeError, match=match):
            bpy.ops.taffeta.zip_mark()

    refused(
        lambda a, b: abs(a.x) + abs(b.x) < 1e-6 and abs(a.y + b.y - 0.04) < 0.01, "a zip of one edge within the cloth"
    )
    refused(lambda a, b: abs(abs(a.x) - 0.04) + abs(abs(b.x) - 0.04) < 1e-3 and a.x * b.x > 0.0, "2 lines are selected")
    refused(lambda a, b: False, "Curtain: 0 lines of edges of faces are selected")
    assert corners(curtain) == before and zips.OPENS not in curtain.data.attributes
    select(curtain, lambda a, b: abs(a.x) + abs(b.x) < 1e-6 and max(a.y, b.y) < 0.01)
    bpy.ops.taffeta.tear_mark()
    select(curtain, lambda a, b: abs(a.y) + abs(b.y) < 1e-6)
    with pytest.raises(RuntimeError, match="the line meets a border or another cut"):
        bpy.ops.taffeta.zip_mark()


def test_a_keyed_zip_opens_and_closes_and_a_resumed_bake_is_the_same(curtain, make):
    """Another program counts, on each frame's triangles."""
    scene, cloth = bpy.context.scene, curtain.taffeta_cloth
    bpy.ops.taffeta.zip_mark()
    bpy.ops.object.mode_set(mode="OBJECT")
    scene.taffeta.wind = (0.5, 2.0, 0.0)
    scene.frame_end = 20
    key(curtain, (3, 0.0), (6, 1.0), (9, 1.0), (12, 0.0))
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    frames, is_open = [], []
    for frame in range(1, 21):
        scene.frame_set(frame)
        frames.append(make.world(curtain))
        is_open.append((gaps(make, curtain) > 0.0).tolist())
        assert not crosses(make, curtain), frame
    closed, opened = [False] * (COUNT // 2), [True] * (COUNT // 2)
    assert is_open[:3] == [closed] * 3 and is_open[5] == is_open[8] == opened and is_open[19] == closed
    assert any(any(found) and not all(found) for found in is_open), "part of it"
    assert json.loads(cloth.report_json)["seam_gap"] == pytest.approx(0.0, abs=1e-9)
    assert not {"Zips", "Zip Open"} & set(problem_list.stale(curtain, scene, []))
    assert bpy.ops.taffeta.bake(from_frame=8) == {"FINISHED"}
    for frame in (8, 10, 13, 20):
        scene.frame_set(frame)
        assert np.array_equal(make.world(curtain), frames[frame - 1]), frame
    key(curtain, (12, 1.0))
    assert bpy.ops.taffeta.bake(resume=True) == {"FINISHED"}
    scene.frame_set(20)
    assert gaps(make, curtain).max() > 1e-3, "the keys are known to have changed"


def test_a_finer_zip_opens_as_far(curtain, make):
    """Subdivide: between two stitches comes one that opens between them, and the line has no seam that stays."""
    scene = bpy.context.scene
    bpy.ops.taffeta.zip_mark()
    bpy.ops.object.mode_set(mode="OBJECT")
    assert bpy.ops.taffeta.subdivide(object="Curtain") == {"FINISHED"}
    edges, opens = zips.marked(curtain.data)
    assert len(edges) == len(seams(curtain.data)) == COUNT - 1
    assert np.sort(opens) == pytest.approx([1 / 3, 1 / 2, 2 / 3, 5 / 6, 1, 1])
    curtain.taffeta_cloth.zip_open = 1.0
    scene.frame_end = 8
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    scene.frame_set(8)
    assert gaps(make, curtain).min() > 1e-4


def test_an_open_zip_is_no_open_seam(curtain, make):
    scene = bpy.context.scene
    bpy.ops.taffeta.zip_mark()
    bpy.ops.object.mode_set(mode="OBJECT")
    curtain.taffeta_cloth.zip_open = 1.0
    scene.frame_end = 8
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    scene.frame_set(8)
    assert gaps(make, curtain).max() > 1e-3
    assert json.loads(curtain.taffeta_cloth.report_json)["seam_gap"] == 0.0 and not len(zips.sewn_now(curtain))
    curtain.taffeta_cloth.zip_open = 0.5
    assert "Zip Open" in problem_list.stale(curtain, scene, []) and len(zips.sewn_now(curtain)) == 2
    curtain.data.attributes[zips.OPENS].data[len(curtain.data.edges) - 1].value = 0.9
    assert "Zips" in problem_list.stale(curtain, scene, [])


def test_rims_of_two_panels_are_sewn_and_open(saved, make):
    """Panels a centimetre apart; what is sewn already keeps its sewing edges."""
    one = [[x, y, z] for z in (0.0, 0.05, 0.1, 0.15) for x, y in ((0.0, 0.0), (0.05, 0.0), (0.1, 0.0))]
    panel = [[r * 3 + c, r * 3 + c + 1, r * 3 + c + 4, r * 3 + c + 3] for r in range(3) for c in range(2)]
    x = np.concatenate([np.array(one), np.array(one) + [0.11, 0.0, 0.0]])
    obj = make.cloth(make.mesh("Jacket", x, [*panel, *(np.array(panel) + 12).tolist()], [[2, 12]]), thickness=1e-3)
    obj.vertex_groups.new(name="held").add([9, 23], 1.0, "REPLACE")
    obj.taffeta_cloth.pin.source, obj.taffeta_cloth.pin.vertex_group = "GROUP", "held"
    bpy.context.view_layer.objects.active = obj
    select(obj, lambda a, b: abs(a.x - 0.105) < 0.006 and abs(b.x - 0.105) < 0.006)
    assert bpy.ops.taffeta.zip_mark() == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    edges, opens = zips.marked(obj.data)
    assert len(edges) == 4 == len(obj.data.edges) - 34 and sorted(opens) == pytest.approx([0.25, 0.5, 0.75, 1.0])
    scene = bpy.context.scene
    scene.frame_end = 20
    key(obj, (12, 0.0), (14, 0.6))
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    scene.frame_set(12)
    assert (gaps(make, obj) == 0.0).all(), "sewn and welded first"
    scene.frame_set(20)
    assert (gaps(make, obj) > 0.0).tolist() == [True, True, False, False] and not crosses(make, obj)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    assert bpy.ops.taffeta.zip_clear() == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    assert len(obj.data.vertices) == 24 and len(zips.sewn_now(obj)) == 4, "seams, as before"


def test_a_zip_that_begins_at_a_seam_leaves_it_sewn_and_free_tearing_leaves_both(curtain):
    """The upper end of the line is sewn to a strip above; then everything may tear."""
    bpy.ops.object.mode_set(mode="OBJECT")
    curtain.shape_key_clear()
    mesh = curtain.data
    x = [tuple(vertex.co) for vertex in mesh.vertices]
    top, count = max(range(len(x)), key=lambda k: x[k][1] - abs(x[k][0])), len(x)
    faces = [tuple(face.vertices) for face in mesh.polygons]
    mesh.clear_geometry()
    mesh.from_pydata(
        [*x, (0.0, 0.2, 0.0), (0.05, 0.2, 0.0), (0.0, 0.25, 0.0)],
        [(top, count)],
        [*faces, (count, count + 1, count + 2)],
    )
    select(curtain, lambda a, b: abs(a.x) < 1e-6 and abs(b.x) < 1e-6 and -0.01 < min(a.y, b.y) and max(a.y, b.y) < 0.15)
    assert bpy.ops.taffeta.zip_mark() == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    stitches = len(zips.marked(mesh)[0])
    for cut in (False, True):
        if cut:
            bpy.ops.object.mode_set(mode="EDIT")
            assert bpy.ops.taffeta.tear_free(strength=50.0) == {"FINISHED"}
            bpy.ops.object.mode_set(mode="OBJECT")
        assert len(zips.marked(mesh)[0]) == stitches and len(seams(mesh)) == stitches + 1
        assert len(np.unique(corner_vertex(mesh))) == len(mesh.vertices), "each has a face"


def test_a_cage_says_that_it_can_have_no_zip(curtain):
    """It was told to be sewn still, though it is closed."""
    assert bpy.ops.taffeta.zip_mark() == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    with pytest.raises(RuntimeError, match="Curtain has a zip, which a cage cannot have; .* by Clear Zip in Edit Mode"):
        bpy.ops.taffeta.cage_make(vertices=20)
    bpy.ops.object.mode_set(mode="EDIT")
    assert bpy.ops.taffeta.zip_clear(every=True) == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    assert bpy.ops.taffeta.cage_make(vertices=20) == {"FINISHED"}
