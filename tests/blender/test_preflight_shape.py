# SPDX-License-Identifier: GPL-3.0-or-later
"""Preflight tells of meshes, modifiers, materials and fields that spoil a bake, before the bake does."""

import bpy
import numpy as np
import pytest
from taffeta.operators import playback, preflight
from taffeta.solver.cache import pc2


def found():
    """Problems of the scene now."""
    bpy.context.view_layer.update()
    return preflight.check(bpy.context.scene, bpy.context.evaluated_depsgraph_get())


def only(severity, name, *words):
    """There is exactly one problem; it is this one, with a remedy."""
    problems = found()
    assert len(problems) == 1, problems
    problem = problems[0]
    assert (problem.severity, problem.object) == (severity, name)
    assert all(word in problem.sentence for word in words), problem.sentence
    assert problem.sentence.startswith(name) and problem.remedy


@pytest.fixture
def shot(make, saved):
    """A sound scene: a cloth above a body, saved, with nothing to complain about."""
    make.cloth(make.grid(count=9, location=(0, 0, 1)))
    make.collider(make.ball())
    assert found() == []
    return saved


def cloth():
    return bpy.data.objects["Cloth"]


def body():
    return bpy.data.objects["Body"]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), 3e38])
@pytest.mark.parametrize("name", ["Cloth", "Body"])
def test_coordinates_that_are_not_finite(shot, name, value):
    mesh = bpy.data.objects[name].data
    x = np.array([vertex.co for vertex in mesh.vertices], np.float32)
    x[5, 2] = x[7, 0] = value
    mesh.vertices.foreach_set("co", x.ravel())
    mesh.update()
    only("ERROR", name, "2 vertices", "vertex 5")


def test_a_body_that_its_shape_keys_throw_out_of_the_world(shot):
    """The evaluated body counts: its mesh is sound."""
    body().shape_key_add(name="Basis")
    lost = body().shape_key_add(name="Lost")
    lost.data[3].co.z = float("nan")
    lost.value, lost.mute = 1.0, True
    assert found() == []
    lost.mute = False
    only("ERROR", "Body", "vertex 3", "at frame 1")


def test_nothing_but_faces_without_area(shot):
    mesh = cloth().data
    x = np.zeros((len(mesh.vertices), 3), np.float32)
    x[:, 0] = np.linspace(0, 1, len(x))
    mesh.vertices.foreach_set("co", x.ravel())
    mesh.update()
    only("ERROR", "Cloth", "area")
    mesh.vertices[0].co.y = 1.0
    mesh.update()
    assert found() == [], "one face with an area is enough"


@pytest.mark.parametrize(
    ("name", "severity", "words"),
    [
        ("stretch_stiffness", "ERROR", "Stretch is 0"),
        ("shear_stiffness", "WARNING", "Shear is 0: "),
        ("bending_stiffness", "WARNING", "Bending is 0: "),
    ],
)
def test_stiffness_of_zero_says_what_it_means(shot, name, severity, words):
    mapped = getattr(cloth().taffeta_cloth, name)
    mapped.value = 0.0
    only(severity, "Cloth", words)
    cloth().vertex_groups.new(name="g")
    mapped.source, mapped.vertex_group, mapped.minimum = "GROUP", "g", 0.0
    if severity == "ERROR":
        only("WARNING", "Cloth", "Stretch", "0 somewhere")
    else:
        assert found() == [], "painted somewhere is meant"
    mapped.maximum = 0.0
    only(severity, "Cloth", words)


def test_subdivision_between_the_mesh_and_its_cache(shot, tmp_path):
    obj = cloth()
    x = np.array([vertex.co for vertex in obj.data.vertices], np.float32)
    pc2.write(tmp_path / "Cloth.pc2", np.stack([x] * 10), 1)
    playback.attach(obj, tmp_path / "Cloth.pc2", 1)
    assert found() == []
    obj.modifiers.new("Subdivision", "SUBSURF")
    assert found() == [], "behind the cache it refines the cloth"
    obj.modifiers.move(1, 0)
    only("WARNING", "Cloth", "Subdivision", "cannot be played")
    obj.modifiers["Subdivision"].show_viewport = obj.modifiers["Subdivision"].show_render = False
    assert found() == []


@pytest.mark.parametrize("kind", ["BUILD", "DECIMATE", "REMESH", "WELD", "BEVEL", "TRIANGULATE", "EDGE_SPLIT"])
def test_a_body_whose_vertices_may_change_in_the_shot(shot, kind):
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
def test_modifiers_that_go_by_the_mesh_and_not_by_its_shape_are_fine(shot, kind, settings):
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    shot.collection.objects.link(rig)
    body().modifiers.new("Armature", "ARMATURE").object = rig
    modifier = body().modifiers.new("Rebuild", kind)
    for name, value in settings.items():
        setattr(modifier, name, value)
    assert [p for p in found() if "during the shot" in p.sentence] == []


def test_a_boolean_with_something_that_moves(shot, make):
    tool = make.ball("Tool", location=(5, 0, 0))
    body().modifiers.new("Cut", "BOOLEAN").object = tool
    assert found() == []
    tool.keyframe_insert("location", frame=1)
    only("WARNING", "Body", "Cut", "during the shot")


def test_a_garment_built_during_the_shot_behind_its_cache(shot):
    cloth().modifiers.new("Build", "BUILD")
    assert found() == [], "it works on the baked cloth"


def test_fields_of_particle_systems_are_left_out(shot, make):
    source = make.grid("Dust", location=(0, 0, 5))
    source.modifiers.new("Particles", "PARTICLE_SYSTEM")
    assert found() == []
    source.particle_systems[0].settings.force_field_1.type = "FORCE"
    only("WARNING", "Dust", "force field", "particles")


def test_the_thorough_look_finds_what_the_bake_would_refuse(shot):
    """Geometry Nodes before a rig: only reading the mesh shows how many vertices they make."""
    obj = cloth()
    group = bpy.data.node_groups.new("Finer", "GeometryNodeTree")
    group.interface.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
    group.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    start, end = group.nodes.new("NodeGroupInput"), group.nodes.new("NodeGroupOutput")
    finer = group.nodes.new("GeometryNodeSubdivideMesh")
    group.links.new(start.outputs[0], finer.inputs[0])
    group.links.new(finer.outputs[0], end.inputs[0])
    obj.modifiers.new("Finer", "NODES").node_group = group
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    shot.collection.objects.link(rig)
    obj.modifiers.new("Armature", "ARMATURE").object = rig
    assert found() == []
    assert bpy.ops.taffeta.preflight() == {"FINISHED"}
    (problem,) = bpy.context.window_manager.taffeta.problems
    assert problem.severity == "ERROR" and "81 vertices" in problem.sentence and "Finer" in problem.sentence
