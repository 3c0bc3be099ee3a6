# SPDX-License-Identifier: GPL-3.0-or-later
"""Preflight: each doubt is told with the object's name and a remedy, and a sound scene raises none."""

import shutil
import subprocess
import sys
import time
from collections import namedtuple

import bpy
import numpy as np
import pytest
from taffeta.operators import checks, fingerprint, playback, preflight
from taffeta.operators.checks import Problem
from taffeta.solver.cache import pc2


def found(severity=None):
    """Problems of the scene now, one severity or all."""
    problems = preflight.check(bpy.context.scene, bpy.context.evaluated_depsgraph_get())
    return [problem for problem in problems if severity in (None, problem.severity)]


def only(severity, name, words):
    """There is exactly one problem; it is this one, with a remedy."""
    problems = found()
    assert len(problems) == 1, problems
    problem = problems[0]
    assert (problem.severity, problem.object) == (severity, name)
    assert words in problem.sentence
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


def test_empty_scene(scene):
    assert found("ERROR") == [
        Problem(
            "ERROR", "", "Scene Scene has no Taffeta Cloth", "Select a mesh and press Taffeta Cloth in the Physics tab"
        )
    ]


def test_no_collider(shot):
    body().taffeta_collider.enabled = False
    only("WARNING", "", "There is no collider")


def test_collider_collection(shot):
    shot.taffeta.collider_source = "COLLECTION"
    only("ERROR", "", "none is chosen")
    shot.taffeta.collider_collection = bpy.data.collections.new("Bodies")
    only("WARNING", "", "in collection Bodies")


def test_cloth_that_is_its_own_collider(shot):
    cloth().taffeta_collider.enabled = True
    only("WARNING", "Cloth", "cloth and collider at once")


def test_no_faces(shot):
    cloth().data.clear_geometry()
    cloth().data.vertices.add(3)
    bpy.context.view_layer.update()
    assert "has no faces" in found("ERROR")[0].sentence
    body().data.clear_geometry()
    bpy.context.view_layer.update()
    assert any(p.object == "Body" and "has no faces" in p.sentence for p in found("ERROR"))  # the bake refuses it


def test_hidden_collider(shot):
    body().hide_viewport = True
    only("WARNING", "Body", "disabled in viewports")
    body().hide_viewport = False
    body().hide_set(True)
    assert found() == [], "the eye only hides"


def test_excluded_collection(shot):
    away = bpy.data.collections.new("Away")
    shot.collection.children.link(away)
    away.objects.link(body())
    shot.collection.objects.unlink(body())
    bpy.context.view_layer.layer_collection.children["Away"].exclude = True
    only("ERROR", "Body", "no collection that this view layer shows")


def test_shared_mesh(shot, make):
    twin = bpy.data.objects.new("Twin", cloth().data)
    shot.collection.objects.link(twin)
    twin.location.z = 3
    make.cloth(twin)
    bpy.context.view_layer.update()
    problems = found()
    assert [(p.severity, p.object) for p in problems] == [("INFO", "Cloth"), ("INFO", "Twin")]
    assert "shares its mesh with Twin" in problems[0].sentence


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"source": "GROUP"}, "no vertex group is chosen"),
        ({"source": "GROUP", "vertex_group": "gone"}, "no vertex group 'gone'"),
        ({"source": "ATTRIBUTE"}, "no attribute is chosen"),
        ({"source": "ATTRIBUTE", "attribute": "gone"}, "no attribute 'gone'"),
        ({"source": "ATTRIBUTE", "attribute": "per_face"}, "no float or colour per vertex or corner"),
        ({"source": "IMAGE"}, "no image is chosen"),
        ({"source": "IMAGE", "image": "Map", "uv_map": "gone"}, "no UV map 'gone'"),
        ({"source": "IMAGE", "image": "Lost"}, "image 'Lost' has no pixels"),
    ],
)
def test_missing_map(shot, settings, words):
    bpy.data.images.new("Map", 4, 4)
    lost = bpy.data.images.new("Lost", 4, 4)
    lost.source, lost.filepath = "FILE", "//nowhere.png"
    cloth().data.attributes.new("per_face", "FLOAT", "FACE")
    mapped = cloth().taffeta_cloth.bending_stiffness
    for name, value in settings.items():
        setattr(mapped, name, bpy.data.images[value] if name == "image" else value)
    only("ERROR", "Cloth", words)
    assert "Bending" in found()[0].sentence
    with pytest.raises(RuntimeError, match=words):  # a bake refuses with the same words
        bpy.ops.taffeta.bake()


def test_image_without_any_uv_map(shot):
    cloth().data.uv_layers.remove(cloth().data.uv_layers[0])
    cloth().taffeta_cloth.mass.source = "IMAGE"
    cloth().taffeta_cloth.mass.image = bpy.data.images.new("Map", 4, 4)
    only("ERROR", "Cloth", "the mesh has no UV map")


def test_pattern_that_is_gone(shot):
    cloth().taffeta_cloth.uv_map = "gone"
    only("ERROR", "Cloth", "no UV map 'gone' for the pattern")


def test_threads_that_no_pattern_tells(shot):
    cloth().taffeta_cloth.uv_map = ""
    cloth().taffeta_cloth.weft_stretch = 2.0
    only("INFO", "Cloth", "no Pattern that tells warp from weft")
    cloth().taffeta_cloth.model = "SPRINGS"
    assert found() == []


def test_min_above_max(shot):
    cloth().vertex_groups.new(name="g")
    mass = cloth().taffeta_cloth.mass
    mass.source, mass.vertex_group, mass.minimum, mass.maximum = "GROUP", "g", 0.4, 0.2
    only("INFO", "Cloth", "Min 0.4 is above Max 0.2")


def test_pins_that_pin_nothing_or_everything(shot):
    group = cloth().vertex_groups.new(name="waist")
    pin = cloth().taffeta_cloth.pin
    pin.source, pin.vertex_group = "GROUP", "waist"
    only("WARNING", "Cloth", "pins hold nothing")
    group.add([0, 1], 1.0, "REPLACE")
    cloth().data.update()
    bpy.context.view_layer.update()
    assert found() == []
    group.add(range(81), 1.0, "REPLACE")
    cloth().data.update()
    bpy.context.view_layer.update()
    only("WARNING", "Cloth", "pinned everywhere")
    pin.invert = True
    only("WARNING", "Cloth", "pins hold nothing")
    pin.source, pin.value = "UNIFORM", 1.0
    only("WARNING", "Cloth", "pinned everywhere")


@pytest.mark.parametrize(
    ("scale", "severity", "words"),
    [
        ((2, 2, 2), "INFO", "a scale of 2"),
        ((1, 2, 1), "WARNING", "scaled unevenly"),
        ((-1, 1, 1), "WARNING", "negative scale"),
        ((1, 1, 0), "ERROR", "scale of zero"),
    ],
)
def test_scale(shot, scale, severity, words):
    cloth().scale = scale
    bpy.context.view_layer.update()
    only(severity, "Cloth", words)


def test_sizes(shot, make):
    cloth().data.transform(((0.02, 0, 0, 0), (0, 0.02, 0, 0), (0, 0, 0.02, 0), (0, 0, 0, 1)))
    bpy.context.view_layer.update()
    only("WARNING", "Cloth", "2 cm long")
    cloth().data.transform(((10000, 0, 0, 0), (0, 10000, 0, 0), (0, 0, 10000, 0), (0, 0, 0, 1)))
    bpy.context.view_layer.update()
    only("WARNING", "Cloth", "200 m long")
    shot.unit_settings.scale_length = 0.01
    bpy.context.view_layer.update()
    assert [p for p in found() if "long" in p.sentence] == []


def test_a_fox_142_metres_long_but_not_a_ground(shot, make):
    body().data.transform(((142, 0, 0, 0), (0, 142, 0, 0), (0, 0, 142, 0), (0, 0, 0, 1)))
    make.collider(make.grid("Ground", size=300))
    bpy.context.view_layer.update()
    only("WARNING", "Body", "142 m long")


def test_render_and_viewport_differ(shot):
    subdivision = body().modifiers.new("Subdivision", "SUBSURF")
    subdivision.levels, subdivision.render_levels = 1, 2
    only("WARNING", "Body", "1 levels in the viewport, 2 in the render")
    subdivision.render_levels = 1
    assert found() == []
    subdivision.show_render = False
    only("WARNING", "Body", "on in the viewport only")
    body().modifiers.remove(subdivision)
    behind = cloth().modifiers.new("Subdivision", "SUBSURF")
    behind.levels, behind.render_levels = 0, 3
    assert found() == [], "what stands behind the cloth may differ"


def test_rebuilding_modifier_before_the_rig(shot):
    cloth().modifiers.new("Mirror", "MIRROR")
    assert found() == []
    cloth().modifiers.new("Armature", "ARMATURE")
    only("ERROR", "Cloth", "Mirror changes its vertices before Armature")
    cloth().modifiers["Mirror"].show_viewport = cloth().modifiers["Mirror"].show_render = False
    assert found() == []


def test_blenders_own_cloth_on_top(shot):
    cloth().modifiers.new("Cloth", "CLOTH")
    only("WARNING", "Cloth", "simulated by Blender's Cloth as well")


def test_frame_ranges(shot):
    shot.frame_end = shot.frame_start
    only("WARNING", "", "one frame")
    # Blender keeps the end behind the start; a driver or a library may not.
    Fake = namedtuple("Fake", "frame_start frame_end")
    shot_view = checks.Shot(Fake(10, 5), None, [], [])
    (problem,) = checks._frames(shot_view)
    assert problem.severity == "ERROR" and "ends (5) before it starts (10)" in problem.sentence


def test_unsaved_file(make, scene):
    make.cloth(make.grid())
    make.collider(make.ball(location=(0, 0, -2)))
    only("WARNING", "", "not saved")
    scene.taffeta.cache_folder = "/"
    assert not [p for p in found() if "not saved" in p.sentence]


def test_folder_that_cannot_be_written(shot, monkeypatch):
    monkeypatch.setattr(checks.os, "access", lambda path, mode: False)  # root may write anywhere
    only("ERROR", "", "cannot be written")


def test_disk_space(shot, monkeypatch):
    usage = namedtuple("usage", "total used free")
    needed = checks.BYTES_PER_VERTEX * 10 * 81
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(1, 1, needed))
    assert found() == []
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(1, 1, needed - 1))
    only("WARNING", "", "The bake needs")


def baked(tmp_path):
    """The shot's cloth as if it was baked just now."""
    obj = cloth()
    x = np.array([vertex.co for vertex in obj.data.vertices], np.float32)
    pc2.write(tmp_path / "Cloth.pc2", np.stack([x] * 10), 1)
    playback.attach(obj, tmp_path / "Cloth.pc2", 1)
    fingerprint.store(obj, bpy.context.scene, [body()])
    assert found() == []
    return obj


def test_broken_cache(shot, tmp_path):
    baked(tmp_path)
    (tmp_path / "Cloth.pc2").write_bytes(b"")
    only("WARNING", "Cloth", "is not a PC2")


def test_thorough_look_reads_every_map(shot):
    obj = cloth()
    attribute = obj.data.attributes.new("a", "FLOAT", "POINT")
    attribute.data[2].value = float("nan")
    obj.taffeta_cloth.mass.source, obj.taffeta_cloth.mass.attribute = "ATTRIBUTE", "a"
    assert found() == []
    assert bpy.ops.taffeta.preflight() == {"FINISHED"}
    (problem,) = bpy.context.window_manager.taffeta.problems
    assert problem.severity == "ERROR" and "not a number at vertex 2" in problem.sentence


def test_a_quick_look_at_a_large_scene(make, saved, record_property):
    obj = make.cloth(make.grid(count=123))
    make.collider(make.ball(rings=120, segments=128))
    group = obj.vertex_groups.new(name="g")
    group.add([0], 1.0, "REPLACE")
    obj.taffeta_cloth.pin.source, obj.taffeta_cloth.pin.vertex_group = "GROUP", "g"
    depsgraph = bpy.context.evaluated_depsgraph_get()
    fingerprint.store(obj, saved, [body()])
    assert len(obj.data.vertices) > 15000 and len(body().data.vertices) > 15000
    times = []
    for _ in range(10):
        start = time.perf_counter()
        problems = preflight.check(saved, depsgraph)
        times.append(time.perf_counter() - start)
    assert not [problem for problem in problems if problem.severity == "ERROR"]
    record_property("seconds", min(times))


def test_check_changes_nothing(shot):
    before = [(o.name, o.location[:], o.hide_viewport, o.select_get()) for o in shot.objects]
    found()
    assert [(o.name, o.location[:], o.hide_viewport, o.select_get()) for o in shot.objects] == before
    assert not bpy.context.window_manager.taffeta.checked


def test_unsaved_files_of_two_sessions_do_not_share_a_folder(make, scene, tmp_path):
    folder = checks.cache_folder(scene)
    script = (
        "import sys, bpy, taffeta\ntaffeta.register()\nfrom taffeta.operators import checks\n"
        "print('FOLDER', checks.cache_folder(bpy.context.scene))\ntaffeta.unregister()\n"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, cwd=tmp_path)
    (other,) = [line.split()[1] for line in ended.stdout.splitlines() if line.startswith("FOLDER")]
    assert str(folder) != other and folder.name == "taffeta_cache"


@pytest.mark.parametrize("text", ["", "  ", "caches"])
def test_no_bake_goes_to_where_blender_was_started(shot, tmp_path, text, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    bpy.context.scene.taffeta.cache_folder = text
    assert checks.cache_folder(bpy.context.scene) == tmp_path / (text.strip() or "taffeta_cache")


def test_a_cache_folder_below_a_file(shot, tmp_path):
    (tmp_path / "file").write_text("")
    bpy.context.scene.taffeta.cache_folder = str(tmp_path / "file" / "caches")
    only("ERROR", "", "cannot be written")


def test_live_list_and_stale_sentence(shot, tmp_path):
    """What the window does some time after a change; in background mode nobody calls it."""
    obj = baked(tmp_path)
    preflight._tick()
    session = bpy.context.window_manager.taffeta
    assert session.checked and len(session.problems) == 0 and obj.taffeta_cloth.stale == ""
    obj.taffeta_cloth.damping.value = 7.0
    preflight._tick()
    assert [item.object_name for item in session.problems] == ["Cloth"]
    assert obj.taffeta_cloth.stale == "Cloth was baked before you changed Damping"
    session.baking = True
    body().taffeta_collider.enabled = False
    preflight._tick()
    assert len(session.problems) == 1, "a running bake is left alone"
    session.baking = False
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode="WEIGHT_PAINT")
    assert preflight._tick() == preflight.PAINT_TICK and len(session.problems) == 1
    bpy.ops.object.mode_set(mode="OBJECT")
    assert preflight._tick() is None
    assert len(session.problems) == 2


def test_pressure_in_what_is_open(shot):
    cloth().taffeta_cloth.pressure = 100.0
    only("INFO", "Cloth", "32 of its edges are open")
    cloth().taffeta_cloth.target_volume = 0.1
    only("WARNING", "Cloth", "encloses none")


def test_pressure_in_what_is_closed(shot, make):
    ball = make.cloth(make.ball("Balloon", location=(0, 3, 0)), pressure=100.0, target_volume=0.1)
    assert found() == []
    ball.data.polygons[3].flip()
    ball.data.update()
    bpy.context.view_layer.update()
    only("WARNING", "Balloon", "3 of its edges are open or turned round")


def test_sewing_without_seams_and_seams_without_sewing(shot, make):
    cloth().taffeta_cloth.sewing = True
    only("WARNING", "Cloth", "no edge without a face")
    cloth().taffeta_cloth.sewing = False
    x = [(0, 3, 0), (1, 3, 0), (0, 4, 0), (0, 3, 1), (1, 3, 1), (0, 4, 1)]
    panels = make.cloth(make.mesh("Panels", x, [(0, 1, 2), (3, 5, 4)], edges=[(0, 3), (1, 4)]))
    only("INFO", "Panels", "2 edges without a face")
    panels.taffeta_cloth.sewing = True
    assert found() == []


@pytest.mark.parametrize(
    ("dynamics", "severity"), [("XPBD", None), ("VERLET", None), ("RK4", "WARNING"), ("EULER", "ERROR")]
)
def test_explicit_dynamics_that_need_too_many_steps(shot, dynamics, severity):
    """Stiff cloth on a fine mesh: told by Check Before Baking, with the count and what to do."""
    bpy.context.scene.taffeta.dynamics = dynamics
    cloth().taffeta_cloth.stretch_stiffness.value = {"RK4": 2e7, "EULER": 2000.0}.get(dynamics, 20.0)
    cloth().taffeta_cloth.shear_stiffness.value = 1.0
    problems = preflight.check_thoroughly(bpy.context.scene)
    assert [problem.severity for problem in problems] == ([severity] if severity else [])
    for problem in problems:
        assert problem.sentence.startswith("Cloth needs ") and "steps of" in problem.sentence
        assert "Set Dynamics to XPBD" in problem.remedy
    preflight._thorough.clear()
