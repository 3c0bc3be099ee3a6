# SPDX-License-Identifier: GPL-3.0-or-later
"""Preflight: each doubt is told with the object's name and a remedy, and a sound scene raises none."""

import shutil
from collections import namedtuple

import bpy
import pytest
from taffeta.operators.checks import rows
from taffeta.operators.checks.problem import Problem, Shot
from taffeta.operators.read import maps


def test_empty_scene(found):
    assert found("ERROR") == [
        Problem(
            "ERROR", "", "Scene Scene has no Taffeta Cloth", "Select a mesh and press Taffeta Cloth in the Physics tab"
        )
    ]


def test_no_collider(shot, only, body):
    body().taffeta_collider.enabled = False
    only("WARNING", "", "There is no collider")


def test_a_flag_needs_no_collider(shot, found, only, cloth, body):
    bpy.data.objects.remove(body())
    only("WARNING", "", "There is no collider")
    cloth().taffeta_cloth.pin.source = "IMAGE"
    shot.taffeta.wind = (3.0, 0.0, 0.0)
    assert not [problem for problem in found() if "collider" in problem.sentence]


def test_pins_beside_what_may_be_a_body_still_ask_for_a_collider(shot, found, cloth, body):
    cloth().taffeta_cloth.pin.value = 0.5
    body().taffeta_collider.enabled = False
    assert [problem.verbs for problem in found("WARNING")] == [("taffeta.fix_colliders",)]


def test_collider_collection(shot, only):
    shot.taffeta.collider_source = "COLLECTION"
    only("ERROR", "", "none is chosen")
    shot.taffeta.collider_collection = bpy.data.collections.new("Bodies")
    only("WARNING", "", "in collection Bodies")


def test_cloth_that_is_its_own_collider(shot, only, cloth):
    cloth().taffeta_collider.enabled = True
    only("WARNING", "Cloth", "cloth and collider at once")


def test_no_faces(shot, found, cloth, body):
    cloth().data.clear_geometry()
    cloth().data.vertices.add(3)
    bpy.context.view_layer.update()
    assert "has no faces" in found("ERROR")[0].sentence
    body().data.clear_geometry()
    bpy.context.view_layer.update()
    assert any(p.object == "Body" and "has no faces" in p.sentence for p in found("ERROR"))  # the bake refuses it


def test_hidden_collider(shot, found, only, body):
    body().hide_viewport = True
    only("WARNING", "Body", "disabled in viewports")
    body().hide_viewport = False
    body().hide_set(True)
    assert found() == [], "the eye only hides"


def test_a_body_and_a_garment_in_edit_mode(shot, only, found, body, cloth):
    for obj in (body(), cloth()):
        bpy.context.view_layer.objects.active = obj
        bpy.ops.object.mode_set(mode="EDIT")
        only("ERROR", obj.name, "is in Edit Mode")
        bpy.ops.object.mode_set(mode="OBJECT")
    assert found() == []


def test_monitor_icon_by_keys(shot, only, body):
    for frame, is_off in ((1, False), (10, True)):
        body().hide_viewport = is_off
        body().keyframe_insert("hide_viewport", frame=frame)
    shot.frame_set(1)
    only("WARNING", "Body", "disabled in viewports by keys")


def test_a_bake_that_ends_before_the_range(shot, only, baked):
    """It has ten frames."""
    shot.frame_end = 10
    baked()
    shot.frame_end = 24
    only("INFO", "Cloth", "baked up to frame 10", "to frame 24")


def test_excluded_collection(shot, only, body):
    away = bpy.data.collections.new("Away")
    shot.collection.children.link(away)
    away.objects.link(body())
    shot.collection.objects.unlink(body())
    bpy.context.view_layer.layer_collection.children["Away"].exclude = True
    only("ERROR", "Body", "no collection that this view layer shows")


def test_shared_mesh(shot, make, found, cloth):
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
        ({"source": "IMAGE", "image": "Tiles"}, "image 'Tiles' has 2 UDIM tiles"),
    ],
)
def test_missing_map(shot, settings, words, found, only, cloth):
    bpy.data.images.new("Map", 4, 4)
    lost = bpy.data.images.new("Lost", 4, 4)
    lost.source, lost.filepath = "FILE", "//nowhere.png"
    bpy.data.images.new("Tiles", 4, 4, tiled=True).tiles.new(1002)
    cloth().data.attributes.new("per_face", "FLOAT", "FACE")
    mapped = cloth().taffeta_cloth.bending_stiffness
    for name, value in settings.items():
        setattr(mapped, name, bpy.data.images[value] if name == "image" else value)
    only("ERROR", "Cloth", words)
    assert "Bending" in found()[0].sentence
    with pytest.raises(RuntimeError, match=words):  # a bake refuses with the same words
        bpy.ops.taffeta.bake()


def test_image_that_is_too_large_for_a_map(shot, monkeypatch, only, cloth):
    monkeypatch.setattr(maps, "MOST_PICTURE_PIXELS", 15)
    mass = cloth().taffeta_cloth.mass
    mass.source, mass.image = "IMAGE", bpy.data.images.new("Map", 4, 4)
    only("ERROR", "Cloth", "Cloth, Mass: image 'Map' has 4 x 4 pixels, more than 15")
    with pytest.raises(RuntimeError, match="has 4 x 4 pixels, more than 15"):
        bpy.ops.taffeta.bake()


def test_image_without_any_uv_map(shot, only, cloth):
    cloth().data.uv_layers.remove(cloth().data.uv_layers[0])
    cloth().taffeta_cloth.mass.source = "IMAGE"
    cloth().taffeta_cloth.mass.image = bpy.data.images.new("Map", 4, 4)
    only("ERROR", "Cloth", "the mesh has no UV map")


def test_pattern_that_is_gone(shot, only, cloth):
    cloth().taffeta_cloth.uv_map = "gone"
    only("ERROR", "Cloth", "no UV map 'gone' for the pattern")


def test_threads_that_no_pattern_tells(shot, found, only, cloth):
    cloth().taffeta_cloth.uv_map = ""
    cloth().taffeta_cloth.weft_stretch = 2.0
    only("INFO", "Cloth", "no Pattern that tells warp from weft")
    cloth().taffeta_cloth.model = "SPRINGS"
    assert found() == []


def test_min_above_max(shot, only, cloth):
    cloth().vertex_groups.new(name="g")
    mass = cloth().taffeta_cloth.mass
    mass.source, mass.vertex_group, mass.minimum, mass.maximum = "GROUP", "g", 0.4, 0.2
    only("INFO", "Cloth", "Min 0.4 is above Max 0.2")


def test_pins_that_pin_nothing_or_everything(shot, found, only, cloth):
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
def test_scale(shot, scale, severity, words, only, cloth):
    cloth().scale = scale
    bpy.context.view_layer.update()
    only(severity, "Cloth", words)


def test_sizes(shot, found, only, cloth, body):
    body().taffeta_collider.aura = 1e-3  # which is as small
    cloth().data.transform(((0.02, 0, 0, 0), (0, 0.02, 0, 0), (0, 0, 0.02, 0), (0, 0, 0, 1)))
    bpy.context.view_layer.update()
    only("WARNING", "Cloth", "2 cm long")
    cloth().data.transform(((10000, 0, 0, 0), (0, 10000, 0, 0), (0, 0, 10000, 0), (0, 0, 0, 1)))
    bpy.context.view_layer.update()
    only("WARNING", "Cloth", "200 m long")
    shot.unit_settings.scale_length = 0.01
    bpy.context.view_layer.update()
    assert [p for p in found() if "long" in p.sentence] == []


def test_a_fox_142_metres_long_but_not_a_ground(shot, make, only, body):
    body().data.transform(((142, 0, 0, 0), (0, 142, 0, 0), (0, 0, 142, 0), (0, 0, 0, 1)))
    make.collider(make.grid("Ground", size=300))
    bpy.context.view_layer.update()
    only("WARNING", "Body", "142 m long")


def test_frame_ranges(shot, only):
    shot.frame_end = shot.frame_start
    only("WARNING", "", "one frame")
    # Blender keeps the end behind the start; a driver or a library may not.
    Fake = namedtuple("Fake", "frame_start frame_end render")
    shot_view = Shot(Fake(10, 5, shot.render), None, [], [])
    (problem,) = rows._frames(shot_view)
    assert problem.severity == "ERROR" and "ends (5) before it starts (10)" in problem.sentence


def test_unsaved_file(make, scene, found, only):
    make.cloth(make.grid())
    make.collider(make.ball(location=(0, 0, -2)))
    only("WARNING", "", "not saved")
    scene.taffeta.cache_folder = "/"
    assert not [p for p in found() if "not saved" in p.sentence]


def test_folder_that_cannot_be_written(shot, monkeypatch, only):
    monkeypatch.setattr(rows.os, "access", lambda path, mode: False)  # root may write anywhere
    only("ERROR", "", "cannot be written")


def test_disk_space(shot, monkeypatch, found, only):
    usage = namedtuple("usage", "total used free")
    needed = rows.BYTES_PER_VERTEX * 10 * 81
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(1, 1, needed))
    assert found() == []
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(1, 1, needed - 1))
    only("WARNING", "", "The bake needs")


def test_broken_cache(shot, tmp_path, only, baked):
    baked()
    (tmp_path / "Cloth.pc2").write_bytes(b"")
    only("WARNING", "Cloth", "is not a PC2")


def test_a_cache_that_is_a_link_to_itself(shot, tmp_path, only, baked):
    path = tmp_path / "Cloth.pc2"
    baked()
    path.unlink()
    path.symlink_to(path)
    only("WARNING", "Cloth", f"{path}: Too many levels of symbolic links")


def test_a_cache_folder_below_a_file(shot, tmp_path, only):
    (tmp_path / "file").write_text("")
    bpy.context.scene.taffeta.cache_folder = str(tmp_path / "file" / "caches")
    only("ERROR", "", "cannot be written")


@pytest.mark.parametrize(
    ("name", "severity", "words"),
    [
        ("stretch_stiffness", "ERROR", "has a Stretch of 0: "),
        ("shear_stiffness", "WARNING", "has a Shear of 0: "),
        ("bending_stiffness", "WARNING", "has a Bending of 0: "),
    ],
)
def test_stiffness_of_zero_says_what_it_means(shot, name, severity, words, found, only, cloth):
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


def test_time_that_is_remapped(shot, only, make, cloth):
    """It shifts what is played, and nothing else would say so."""
    obj = cloth()
    bpy.ops.taffeta.bake()
    shot.frame_set(6)
    expected = make.world(obj)
    shot.render.frame_map_new = 50
    shot.frame_set(6)
    assert abs(make.world(obj) - expected).max() > 1e-3
    only("WARNING", "", "Time Stretching is on")


def test_a_body_that_lets_all_cloth_through(shot, body, only, found):
    settings = body().taffeta_collider
    settings.collides = False
    only("INFO", "Body", "Collide is off")
    assert settings.keyframe_insert("collides", frame=1)
    assert found() == []


def test_gravity_that_the_unit_scale_makes_weak(shot, found):
    """Sizes are those of the shot, in metres; only gravity is wrong."""
    shot.unit_settings.scale_length = 0.01
    (problem,) = [problem for problem in found() if "Gravity" in problem.sentence]
    assert (problem.severity, problem.object, problem.heavy) == ("WARNING", "", True)
    assert "0.0981 m/s² because the unit scale is 0.01" in problem.sentence and "-9.81" in problem.remedy
    shot.gravity.z = -981.0
    assert not [problem for problem in found() if "Gravity" in problem.sentence]
    shot.gravity.z, shot.use_gravity = -9.81, False
    assert not [problem for problem in found() if "Gravity" in problem.sentence]
