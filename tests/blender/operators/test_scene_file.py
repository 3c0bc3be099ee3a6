# SPDX-License-Identifier: GPL-3.0-or-later
"""File > Export > Taffeta Scene: what is written bakes to the frames of Blender's bake, without Blender."""

import bpy
import numpy as np
import pytest
import scene_file as scene_file_benchmark
from taffeta.operators import scene_file
from taffeta.operators.live import turn
from taffeta.solver.cache import obj
from taffeta.standalone import run

LAST = 8


def world(cloth, frame):
    """(n, 3) [m] of a baked frame, in the world."""
    bpy.context.scene.frame_set(frame)
    evaluated = cloth.evaluated_get(bpy.context.evaluated_depsgraph_get())
    x = np.array([vertex.co for vertex in evaluated.data.vertices])
    matrix = np.array(evaluated.matrix_world)
    return x @ matrix[:3, :3].T + matrix[:3, 3]


@pytest.fixture
def shot(make, saved):
    """A turned sheet with painted pins and weight falls onto a ball that stands still, turns aside and goes faster and faster; a strip of its own meets no body."""
    saved.frame_end = LAST
    cloth = make.grid("Cloth", count=9, size=0.6, location=(0.1, 0.2, 0.35))
    cloth.rotation_euler = (0.2, -0.1, 0.4)
    weights = cloth.vertex_groups.new(name="Weights")
    for index in range(81):
        weights.add([index], (index % 9) / 8.0, "REPLACE")
    cloth.taffeta_cloth.enabled = True
    settings = cloth.taffeta_cloth
    settings.mass.source, settings.mass.vertex_group = "GROUP", "Weights"
    settings.pin.source, settings.pin.vertex_group = "GROUP", "Weights"
    settings.pin.minimum, settings.pin.maximum = -7.0, 1.0  # pins one border
    settings.uv_map, settings.weft_stretch, settings.friction.value = "UVMap", 0.6, 0.7
    strip = make.grid("Strip, other", count=4, size=0.2, location=(1.0, 0.0, 0.1))
    strip.taffeta_cloth.enabled = True
    strip.taffeta_cloth.layer = 2
    only = bpy.data.collections.new("Only")
    strip.taffeta_cloth.collision_collection = only
    only.objects.link(cloth)
    bpy.ops.mesh.primitive_uv_sphere_add(segments=12, ring_count=8, radius=0.2, location=(0, 0, 0))
    ball = bpy.context.object
    ball.taffeta_collider.enabled, ball.taffeta_collider.friction = True, 0.9
    ball.taffeta_collider.viscosity = 3.0
    for frame, x, angle in ((1, 0.0, 0.0), (3, 0.0, 0.0), (LAST, 0.2, 2.0)):
        ball.location.x, ball.rotation_euler.y = x, angle
        ball.keyframe_insert("location", index=0, frame=frame)
        ball.keyframe_insert("rotation_euler", frame=frame)
    floor = make.grid("Floor#1", count=2, size=0.5, location=(1.0, 0.0, 0.0))
    floor.taffeta_collider.enabled = True
    saved.taffeta.wind = (1.0, 0.0, 0.0)
    saved.taffeta.substeps = 5
    bpy.context.view_layer.update()
    return cloth, strip


def test_what_keeps_no_frames_needs_no_cache_folder(shot, saved, tmp_path):
    """As of a .blend on a drive that is read-only: an export to elsewhere, and what is played live or draped."""
    (tmp_path / "file").write_text("")
    saved.taffeta.cache_folder = str(tmp_path / "file" / "caches")
    with pytest.raises(RuntimeError, match="The cache folder cannot be written"):
        bpy.ops.taffeta.bake()
    assert bpy.ops.taffeta.scene_export(filepath=str(tmp_path / "out" / "shot.xml")) == {"FINISHED"}
    assert turn.order_of(saved)[1] == list(shot)


def test_what_is_written_bakes_to_the_same_frames(shot, saved, tmp_path):
    path = tmp_path / "out" / "shot.xml"
    assert bpy.ops.taffeta.scene_export(filepath=str(path)) == {"FINISHED"}
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    assert run.main([str(path)]) == 0
    frames = tmp_path / "out" / "shot_frames"
    fell = 0.0
    for frame in range(1, LAST + 1):
        for cloth, name in zip(shot, ("Cloth", "Strip_ other"), strict=True):
            (file,) = [f for f in frames.iterdir() if f.name.startswith(name) and f.name.endswith(f"_{frame:04d}.obj")]
            x = obj.read(file).x
            assert x == pytest.approx(world(cloth, frame), abs=2e-6), (cloth.name, frame)
            fell = max(fell, np.ptp(x[:, 2]))
    bodies = sorted(file.name for file in (tmp_path / "out" / "shot_files" / "body").iterdir())
    assert "<samples>16</samples>" in path.read_text() and len(bodies) > LAST, "it is looked at within frames"
    assert fell > 0.3, "the ball and the pins hold some of it"


@pytest.mark.once
@pytest.mark.parametrize("name", scene_file_benchmark.SCENES)
def test_examples_on_the_mannequin_bake_to_the_same_frames_but_for_how_they_are_filed(name, saved, tmp_path):
    """A poncho that falls onto shoulders that walk, a skirt pinned to hips: the bakes are the same, and what Blender shows of its
    own has 32 bits of each coordinate.
    """
    apart = scene_file_benchmark.differences(name, 8, tmp_path)
    assert [len(each) for each in apart.values()] == [8]
    assert 0.0 < max(each.max() for each in apart.values()) < 1.5e-7


def test_what_a_scene_file_has_no_words_for_is_told(shot, saved, tmp_path, capfd):
    shot[1].taffeta_cloth.sewing = True
    shot[0].taffeta_cloth.pressure = 10.0
    assert bpy.ops.taffeta.scene_export(filepath=str(tmp_path / "a")) == {"FINISHED"}
    assert (
        "has no words for pressure inside (Cloth), sewing edges (Strip, other): left out" in capfd.readouterr().out
        and (tmp_path / "a.xml").is_file()
    )


def test_nothing_is_written_over_unless_asked(shot, saved, tmp_path):
    (tmp_path / "a.xml").write_text("mine")
    with pytest.raises(RuntimeError, match="exists already; choose another name, or Overwrite"):
        bpy.ops.taffeta.scene_export(filepath=str(tmp_path / "a.xml"))
    assert (tmp_path / "a.xml").read_text() == "mine" and not (tmp_path / "a_files").exists()
    assert bpy.ops.taffeta.scene_export(filepath=str(tmp_path / "a.xml"), overwrite=True) == {"FINISHED"}
    assert (tmp_path / "a.xml").read_text().startswith("<scene>")


def test_every_setting_is_said(shot, saved):
    """Names of elements are those that a scene file knows."""
    from taffeta.solver.model import Settings
    from taffeta.standalone.tables import GENERAL, SETTINGS, plain

    known = {plain(name) for name in GENERAL}
    assert {plain(scene_file.ELEMENTS.get(name, name)) for name in Settings._fields} <= known
    assert set(scene_file.UNIFORM.values()) | set(scene_file.PLAIN.values()) <= SETTINGS.keys()


def test_without_cloth_it_is_grey(saved):
    assert not bpy.ops.taffeta.scene_export.poll()
