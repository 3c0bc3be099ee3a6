# SPDX-License-Identifier: GPL-3.0-or-later
"""The list of problems: live, thorough on request, and changing nothing."""

import json
import time

import bpy
import pytest
from taffeta.operators.checks import fingerprint, problem_list
from taffeta.operators.read import modifier_stack


def test_thorough_look_reads_every_map(shot, found, cloth):
    obj = cloth()
    attribute = obj.data.attributes.new("a", "FLOAT", "POINT")
    attribute.data[2].value = float("nan")
    obj.taffeta_cloth.mass.source, obj.taffeta_cloth.mass.attribute = "ATTRIBUTE", "a"
    assert found() == []
    assert bpy.ops.taffeta.preflight() == {"FINISHED"}
    (problem,) = bpy.context.window_manager.taffeta.problems
    assert problem.severity == "ERROR" and "not a number at vertex 2" in problem.sentence


def test_a_quick_look_at_a_large_scene(make, saved, record_property, body):
    obj = make.cloth(make.grid(count=123))
    make.collider(make.ball(rings=120, segments=128))
    group = obj.vertex_groups.new(name="g")
    group.add([0], 1.0, "REPLACE")
    obj.taffeta_cloth.pin.source, obj.taffeta_cloth.pin.vertex_group = "GROUP", "g"
    depsgraph = bpy.context.evaluated_depsgraph_get()
    obj.taffeta_cloth.fingerprint = json.dumps(fingerprint.take(obj, saved, [body()]))
    assert len(obj.data.vertices) > 15000 and len(body().data.vertices) > 15000
    times = []
    for _ in range(10):
        start = time.perf_counter()
        problems = problem_list.check(saved, depsgraph)
        times.append(time.perf_counter() - start)
    assert not [problem for problem in problems if problem.severity == "ERROR"]
    record_property("seconds", min(times))


def test_check_changes_nothing(shot, found):
    bpy.context.window_manager.taffeta.checked = False
    before = [(o.name, o.location[:], o.hide_viewport, o.select_get()) for o in shot.objects]
    found()
    assert [(o.name, o.location[:], o.hide_viewport, o.select_get()) for o in shot.objects] == before
    assert not bpy.context.window_manager.taffeta.checked


def test_live_list_and_stale_sentence(shot, body, baked):
    """What the window does some time after a change; in background mode nobody calls it."""
    obj = baked()
    problem_list._tick()
    session = bpy.context.window_manager.taffeta
    assert session.checked and len(session.problems) == 0 and obj.taffeta_cloth.stale == ""
    obj.taffeta_cloth.damping.value = 7.0
    problem_list._tick()
    assert [item.object_name for item in session.problems] == ["Cloth"]
    assert obj.taffeta_cloth.stale == "Cloth was baked before you changed Damping"
    session.baking = True
    body().taffeta_collider.enabled = False
    problem_list._tick()
    assert len(session.problems) == 1, "a running bake is left alone"
    session.baking = False
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode="EDIT")
    assert problem_list._tick() == problem_list.EDIT_TICK and len(session.problems) == 1
    bpy.ops.object.mode_set(mode="WEIGHT_PAINT")
    assert problem_list._tick() is None
    assert len(session.problems) == 2, "the list goes on while a map is painted"
    bpy.ops.object.mode_set(mode="OBJECT")


def test_frames_that_were_baked_meanwhile_are_told_in_edit_mode(shot, baked):
    """The bar would say that no frames are kept."""
    session, obj = bpy.context.window_manager.taffeta, baked()
    path, obj.taffeta_cloth.cache_path = obj.taffeta_cloth.cache_path, ""
    cache = modifier_stack.find_cache(obj)
    cache.filepath, plays = "", cache.filepath
    problem_list._tick()
    assert session.fabrics["Cloth"].frame_count == 0
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode="EDIT")
    obj.taffeta_cloth.cache_path, cache.filepath = path, plays
    assert problem_list._tick() == problem_list.EDIT_TICK
    assert (session.fabrics["Cloth"].frame_start, session.fabrics["Cloth"].frame_count) == (1, 10)
    bpy.ops.object.mode_set(mode="OBJECT")


def test_a_list_takes_each_fingerprint_once(shot, baked, make, monkeypatch):
    """In a scene of 31 garments it took three times as many, and the window waited for them after each change."""
    baked()
    make.cloth(make.grid("Twin", count=9, location=(3, 0, 1)))
    taken, take = [], fingerprint._take

    def count(obj, *rest):
        taken.append(obj.name)
        return take(obj, *rest)

    monkeypatch.setattr(fingerprint, "_take", count)
    problem_list.show(shot)
    assert len(taken) == len(set(taken)) >= 1
    bpy.data.objects["Cloth"].taffeta_cloth.damping.value = 7.0
    problem_list.show(shot)
    assert bpy.data.objects["Cloth"].taffeta_cloth.stale.endswith("Damping"), "and takes it anew the next time"


def test_saving_makes_the_list_anew(scene, make, tmp_path, monkeypatch):
    """That the file was not saved must not stay in the list; one that nobody has seen yet is made when there is time."""
    looked = []
    monkeypatch.setattr(problem_list, "look_again", lambda: looked.append(1))
    make.cloth(make.grid())
    session = bpy.context.window_manager.taffeta
    session.checked = False
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "first.blend"), copy=True)
    assert looked == [1] and not session.checked
    problem_list.show(scene)
    assert [p for p in session.problems if "not saved" in p.sentence]
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    assert not [p for p in session.problems if "not saved" in p.sentence] and looked == [1]


@pytest.mark.parametrize(
    ("dynamics", "severity"), [("XPBD", None), ("VERLET", None), ("RK4", "WARNING"), ("EULER", "ERROR")]
)
def test_explicit_dynamics_that_need_too_many_steps(shot, dynamics, severity, cloth):
    """Stiff cloth on a fine mesh: told by Check Before Baking, with the count and what to do."""
    bpy.context.scene.taffeta.dynamics = dynamics
    cloth().taffeta_cloth.stretch_stiffness.value = {"RK4": 2e7, "EULER": 1e9}.get(dynamics, 20.0)
    cloth().taffeta_cloth.shear_stiffness.value = 1.0
    problems = problem_list.check_thoroughly(bpy.context.scene)
    assert [problem.severity for problem in problems] == ([severity] if severity else [])
    for problem in problems:
        assert problem.sentence.startswith("Cloth needs ") and "steps of" in problem.sentence
        assert "Set Dynamics to Linearly Implicit" in problem.remedy
    problem_list._thorough.clear()


def test_the_thorough_look_finds_what_the_bake_would_refuse(shot, found, cloth):
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


@pytest.mark.parametrize("which", ["Body", "Table", "Cloth"])
def test_the_thorough_look_goes_on_beside_what_is_edited_while_another_object_is_active(saved, make, which):
    """Blender keeps a mesh elsewhere while it is edited; the list says so, and not what numpy has to say."""
    objects = [make.cloth(make.grid(location=(0, 0, 2))), make.collider(make.ball()), make.collider(make.ball("Table"))]
    objects.append(make.grid("Other"))
    bpy.context.view_layer.objects.active = bpy.data.objects[which]
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.context.view_layer.objects.active = objects[-1]
    assert bpy.ops.taffeta.preflight() == {"FINISHED"}
    sentences = [problem.sentence for problem in bpy.context.window_manager.taffeta.problems]
    assert f"{which} is in Edit Mode, where Blender does not move it" in sentences


def test_the_thorough_look_goes_on_beside_a_body_of_which_modifiers_leave_nothing(saved, make):
    make.cloth(make.grid(location=(0, 0, 2)))
    make.collider(make.ball("Table"))
    body = make.collider(make.ball())
    body.modifiers.new("Nothing", "MASK").vertex_group = body.vertex_groups.new(name="Nobody").name
    assert bpy.ops.taffeta.preflight() == {"FINISHED"}
