# SPDX-License-Identifier: GPL-3.0-or-later
"""Preflight tells of meshes and modifiers that spoil a bake, before the bake does."""

import bmesh
import bpy
import numpy as np
import pytest
from taffeta.operators.playback import cache_modifier
from taffeta.solver.cache import pc2


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), 3e38])
@pytest.mark.parametrize("name", ["Cloth", "Body"])
def test_coordinates_that_are_not_finite(shot, name, value, only):
    mesh = bpy.data.objects[name].data
    x = np.array([vertex.co for vertex in mesh.vertices], np.float32)
    x[5, 2] = value
    mesh.vertices.foreach_set("co", x.ravel())
    mesh.update()
    only("ERROR", name, ": vertex 5 has no finite position")
    x[7, 0] = value
    mesh.vertices.foreach_set("co", x.ravel())
    mesh.update()
    only("ERROR", name, ": vertex 5 and 1 more have no finite position")


def test_a_body_that_its_shape_keys_throw_out_of_the_world(shot, found, only, body):
    """The evaluated body counts: its mesh is sound."""
    body().shape_key_add(name="Basis")
    lost = body().shape_key_add(name="Lost")
    lost.data[3].co.z = float("nan")
    lost.value, lost.mute = 1.0, True
    assert found() == []
    lost.mute = False
    only("ERROR", "Body", "vertex 3", "at frame 1")


def test_nothing_but_faces_without_area(shot, found, only, cloth):
    mesh = cloth().data
    x = np.zeros((len(mesh.vertices), 3), np.float32)
    x[:, 0] = np.linspace(0, 1, len(x))
    mesh.vertices.foreach_set("co", x.ravel())
    mesh.update()
    only("ERROR", "Cloth", "area")
    mesh.vertices[0].co.y = 1.0
    mesh.update()
    assert found("ERROR") == [], "one face with an area is enough"
    assert ["127 triangles with a corner" in problem.sentence for problem in found()] == [True]


def test_edges_that_are_next_to_nothing_beside_the_others(shot, found, only, cloth):
    mesh = cloth().data
    edge = mesh.edges[40]
    one, other = (np.array(mesh.vertices[index].co) for index in edge.vertices)
    mesh.vertices[edge.vertices[1]].co = one + 0.03 * (other - one)
    mesh.update()
    assert found() == [], "short, but an edge"
    mesh.vertices[edge.vertices[1]].co = one + [0.0, 0.0, 9e-6]
    mesh.update()
    only("WARNING", "Cloth", "1 edge that is", "0.009 mm")


def test_places_so_fine_that_cloth_is_thicker_than_its_edges(shot, found, only, cloth):
    """As ears and fingers are, where a garment is a copy of a body; a map may make it thinner there."""
    obj = cloth()
    fine = bmesh.new()
    fine.from_mesh(obj.data)
    fine.faces.ensure_lookup_table()
    bmesh.ops.subdivide_edges(fine, edges=fine.faces[20].edges[:], cuts=6, use_grid_fill=True)
    fine.to_mesh(obj.data)
    fine.free()
    below = 1.01 * min((a.co - b.co).length for a, b in map(ends_of(obj.data), obj.data.edges))
    obj.taffeta_cloth.thickness.value = 0.9 * below
    assert not [problem for problem in found() if "thick" in problem.sentence]
    obj.taffeta_cloth.thickness.value = below
    (told,) = [problem for problem in found() if "thick" in problem.sentence]
    assert told.severity == "WARNING" and told.sentence.startswith("Cloth is ") and "112 of its edges" in told.sentence
    obj.taffeta_cloth.thickness.source = "GROUP"
    obj.taffeta_cloth.thickness.minimum, obj.taffeta_cloth.thickness.maximum = 0.5 * below, below
    assert not [problem for problem in found() if "thick and" in problem.sentence]


def ends_of(mesh):
    return lambda edge: [mesh.vertices[index] for index in edge.vertices]


def test_subdivision_between_the_mesh_and_its_cache(shot, tmp_path, found, only, cloth):
    obj = cloth()
    x = np.array([vertex.co for vertex in obj.data.vertices], np.float32)
    pc2.write(tmp_path / "Cloth.pc2", np.stack([x] * 10), 1)
    cache_modifier.attach(obj, tmp_path / "Cloth.pc2", 1)
    assert found() == []
    obj.modifiers.new("Subdivision", "SUBSURF")
    assert found() == [], "behind the cache it refines the cloth"
    obj.modifiers.move(1, 0)
    only("WARNING", "Cloth", "Subdivision", "cannot be played")
    obj.modifiers["Subdivision"].show_viewport = obj.modifiers["Subdivision"].show_render = False
    assert found() == []


@pytest.mark.parametrize("kind", ["BUILD", "DECIMATE", "REMESH", "WELD", "BEVEL", "TRIANGULATE", "EDGE_SPLIT"])
def test_a_body_whose_vertices_may_change_in_the_shot(shot, kind, found, only, body):
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    shot.collection.objects.link(rig)
    modifier = body().modifiers.new("Rebuild", kind)
    if kind == "BUILD":
        only("WARNING", "Body", "Rebuild", "during the shot")
        return
    assert [p for p in found() if "during the shot" in p.sentence] == [], "a body that keeps its shape keeps its mesh"
    body().modifiers.new("Armature", "ARMATURE").object = rig
    body().modifiers.move(1, 0)
    only("WARNING", "Body", "Rebuild", "during the shot")
    modifier.show_viewport = modifier.show_render = False
    assert found() == []


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        ("TRIANGULATE", {"quad_method": "FIXED"}),
        ("DECIMATE", {"decimate_type": "UNSUBDIV"}),
        ("BEVEL", {"limit_method": "NONE"}),
        ("EDGE_SPLIT", {"use_edge_angle": False}),
        ("MASK", {}),
        ("SUBSURF", {"levels": 1, "render_levels": 1}),
    ],
)
def test_modifiers_that_go_by_the_mesh_and_not_by_its_shape_are_fine(shot, kind, settings, found, body):
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    shot.collection.objects.link(rig)
    body().modifiers.new("Armature", "ARMATURE").object = rig
    modifier = body().modifiers.new("Rebuild", kind)
    for name, value in settings.items():
        setattr(modifier, name, value)
    assert [p for p in found() if "during the shot" in p.sentence] == []


def test_a_boolean_with_something_that_moves(shot, make, found, only, body):
    tool = make.ball("Tool", location=(5, 0, 0))
    body().modifiers.new("Cut", "BOOLEAN").object = tool
    assert found() == []
    tool.keyframe_insert("location", frame=1)
    only("WARNING", "Body", "Cut", "during the shot")


def test_a_garment_built_during_the_shot_behind_its_cache(shot, found, cloth):
    cloth().modifiers.new("Build", "BUILD")
    assert found() == [], "it works on the baked cloth"


def test_render_and_viewport_differ(shot, found, only, cloth, body):
    subdivision = body().modifiers.new("Subdivision", "SUBSURF")
    subdivision.levels, subdivision.render_levels = 1, 2
    only("WARNING", "Body", "Subdivision has 1 level in the viewport, 2 in the render")
    subdivision.render_levels = 1
    assert found() == []
    subdivision.show_render = False
    only("WARNING", "Body", "on in the viewport only")
    body().modifiers.remove(subdivision)
    behind = cloth().modifiers.new("Subdivision", "SUBSURF")
    behind.levels, behind.render_levels = 0, 3
    assert found() == [], "what stands behind the cloth may differ"


def test_simplify_makes_viewport_and_render_differ(shot, found, only, body):
    subdivision = body().modifiers.new("Subdivision", "SUBSURF")
    subdivision.levels = subdivision.render_levels = 2
    shot.render.use_simplify, shot.render.simplify_subdivision, shot.render.simplify_subdivision_render = True, 0, 6
    only("WARNING", "Body", "0 levels in the viewport", "2 in the render", "Simplify")
    assert "Simplify" in found()[0].remedy
    shot.render.simplify_subdivision_render = 0
    assert found() == [], "both are as coarse"
    subdivision.levels = 1
    assert found() == [], "Simplify makes them alike"
    shot.render.use_simplify = False
    only("WARNING", "Body", "1 level in the viewport, 2 in the render; the bake")


def test_rebuilding_modifier_before_the_rig(shot, found, only, cloth):
    cloth().modifiers.new("Thick", "SOLIDIFY")
    assert found() == []
    cloth().modifiers.new("Armature", "ARMATURE")
    only("ERROR", "Cloth", "Thick changes its vertices before Armature")
    cloth().modifiers["Thick"].show_viewport = cloth().modifiers["Thick"].show_render = False
    assert found() == []


def test_blenders_own_cloth_on_top(shot, only, cloth):
    cloth().modifiers.new("Cloth", "CLOTH")
    only("WARNING", "Cloth", "simulated by Blender's Cloth as well")


def test_faces_that_blender_cuts_anew_in_each_frame(shot, found, only, cloth):
    mesh = cloth().data
    bm = bmesh.new()
    bm.from_mesh(mesh)
    bmesh.ops.dissolve_edges(bm, edges=[next(edge for edge in bm.edges if len(edge.link_faces) == 2)])
    bm.to_mesh(mesh)
    bm.free()
    assert max(len(face.vertices) for face in mesh.polygons) > 4
    only("INFO", "Cloth", "1 face with more than four corners")


def test_a_body_with_a_keyed_number_of_vertices(shot, found, only, body):
    """A level that stays is none of it; one with keys ends the bake in the middle."""
    modifier = body().modifiers.new("Fewer", "DECIMATE")
    assert found() == []
    modifier.keyframe_insert("ratio", frame=1)
    modifier.ratio = 0.5
    modifier.keyframe_insert("ratio", frame=10)
    only("WARNING", "Body", "Fewer may change its vertices")


def test_triangles_that_are_lines(shot, found, cloth):
    """Two quads whose common edge was dissolved, cut with a corner on a side; Degenerate Dissolve mends it. As one face
    Taffeta cuts it without such a triangle.
    """
    obj = cloth()
    bm = bmesh.new()
    bm.from_mesh(obj.data)
    edge = next(e for e in bm.edges if len(e.link_faces) == 2)
    bmesh.ops.dissolve_edges(bm, edges=[edge])
    bm.to_mesh(obj.data)
    assert all("side opposite" not in problem.sentence for problem in found())
    ring = next(list(face.verts) for face in bm.faces if len(face.verts) == 6)
    on_side = next(k for k in range(6) if _is_straight(ring, k))
    before, at, after, *others = ring[on_side - 1 :] + ring[: on_side - 1]
    bm.faces.remove(next(face for face in bm.faces if len(face.verts) == 6))
    for face in ((before, at, after), (before, after, *others)):
        bm.faces.new(face)
    bm.to_mesh(obj.data)
    told = [problem.sentence for problem in found("WARNING")]
    assert len(told) == 1 and told[0].startswith("Cloth has 1 triangle with a corner all but on the side opposite"), (
        told
    )
    bmesh.ops.dissolve_degenerate(bm, edges=bm.edges[:], dist=1e-4)
    bm.to_mesh(obj.data)
    bm.free()
    assert all("side opposite" not in problem.sentence for problem in found())


def _is_straight(ring, k):
    """Whether corner k of a face lies between its neighbours on a line."""
    ways = [ring[k - 1].co - ring[k].co, ring[(k + 1) % len(ring)].co - ring[k].co]
    return ways[0].angle(ways[1]) > 3.1
