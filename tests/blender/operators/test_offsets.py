# SPDX-License-Identifier: GPL-3.0-or-later
"""Corrections of many frames: Push Out of Body, Smooth in Time and in Space. Crossings are counted by ipctk, waves held
against closed forms, exports read by Blender's own importer; without Taffeta all plays the same."""

import bpy
import numpy as np
import pytest
from crossings import count_crossings
from layouts import draw
from seen import shown, shown_without_taffeta, triangles_of
from taffeta.operators.bake import job as jobs
from taffeta.operators.checks import problem_list
from taffeta.operators.playback import cache_modifier
from taffeta.operators.read import correction, offsets
from taffeta.solver.cache import pc2

FIRST, LAST = 1, 30
TURN = 2 * np.pi / 6  # a frame
AURA = 0.004


def every(obj):
    return np.array([shown(obj, frame) for frame in range(FIRST, LAST + 1)])


def play(obj, x, folder):
    pc2.write(folder / "Cloth.pc2", x, FIRST)
    obj.taffeta_cloth.enabled = True
    cache_modifier.attach(obj, folder / "Cloth.pc2", FIRST)
    bpy.context.view_layer.objects.active = obj
    obj.select_set(True)


def shaking(make, folder, count=7):
    """A sheet that shakes with a height of 1 cm, turned and scaled; its baked frames, and the part of it that shakes."""
    obj = make.grid(count=count, location=(1.0, -2.0, 3.0))
    obj.rotation_euler, obj.scale = (0.3, 0.2, 0.1), (2.0, 2.0, 2.0)
    rest = np.array([vertex.co for vertex in obj.data.vertices])
    shake = np.zeros((LAST - FIRST + 1, len(rest), 3))
    shake[:, :, 2] = 0.01 * np.sin(TURN * np.arange(FIRST, LAST + 1))[:, None]
    x = (rest + shake).astype(np.float32)
    play(obj, x, folder)
    return obj, x, shake


def over_ball(make, folder):
    """A sheet that lies still while a ball comes 4 cm through it about frame 15; its baked frames, and the ball."""
    obj = make.grid(count=21, size=0.8, location=(0.5, 0.0, 1.0))
    rest = np.array([vertex.co for vertex in obj.data.vertices])
    play(obj, np.repeat(rest[None], LAST - FIRST + 1, axis=0).astype(np.float32), folder)
    ball = make.collider(make.ball(radius=0.3, rings=24, segments=32), aura=AURA)
    for frame, height in ((5, 0.66), (15, 0.74), (25, 0.66)):
        ball.location = (0.5, 0.0, height)
        ball.keyframe_insert("location", frame=frame)
    return obj, ball


def crossings(make, obj, ball, frame):
    bpy.context.scene.frame_set(frame)
    x = make.world(obj)
    body = make.world(ball), triangles_of(ball)
    return count_crossings(x, triangles_of(obj), np.zeros(len(x), int), [body]).cloth_body


def test_cloth_goes_out_of_a_body_and_plays_exports_and_undoes(make, saved, tmp_path):
    scene = saved
    obj, ball = over_ball(make, tmp_path)
    before = every(obj)
    assert crossings(make, obj, ball, 15) > 50
    scene.frame_set(3)
    assert bpy.ops.taffeta.push_out(frame_start=10, frame_end=20, fade=4, radius=0.06) == {"FINISHED"}
    assert scene.frame_current == 3
    (modifier,) = correction.corrections_of(obj)
    assert modifier.name == "Push Out 10-20" and bpy.data.objects.get("Cloth Push Out 10-20") is not None
    assert len(scene.objects) == 2  # what holds the offsets is in no scene
    assert not any(crossings(make, obj, ball, frame) for frame in range(10, 21))
    for frame in range(10, 21):
        scene.frame_set(frame)
        away = np.linalg.norm(make.world(obj) - np.array(ball.matrix_world.translation), axis=1).min()
        assert away > 0.3 + 0.5 * AURA
    after = every(obj)
    moved = np.linalg.norm(after - before, axis=2)
    assert np.array_equal(after[:6], before[:6]) and np.array_equal(after[23:], before[23:])
    assert moved[6].max() > 0.0 and moved[:, 0].max() == 0.0  # the corners of the sheet are where they were baked
    # no jump: less from frame to frame than the ball goes and what it is eased in by
    assert np.abs(np.diff(after - before, axis=0)).max() < 0.5 * moved.max()

    target = tmp_path / "cloth.abc"
    assert bpy.ops.taffeta.export(filepath=str(target), object="Cloth", frame_start=8, frame_end=22) == {"FINISHED"}
    scene.frame_set(1)
    bpy.ops.wm.alembic_import(filepath=str(target), as_background_job=False)
    back = bpy.context.selected_objects[0]
    assert back is not obj and [m.type for m in back.modifiers] == ["MESH_SEQUENCE_CACHE"]
    for frame in (8, 12, 15, 16, 22):
        scene.frame_set(frame)
        assert np.abs(make.world(back) - make.world(obj)).max() < 1e-6
    bpy.data.objects.remove(back)
    bpy.context.view_layer.objects.active = obj

    assert np.array_equal(shown_without_taffeta(obj, FIRST, LAST, tmp_path), after)

    weight = modifier.node_group.nodes["Weight"].outputs[0]
    weight.default_value = 0.0
    assert np.array_equal(every(obj), before)
    weight.default_value = 1.0
    listed = draw("TAFFETA_PT_corrections")
    assert [name for name, _ in listed.properties()] == ["name", "default_value"]
    assert not listed.buttons("taffeta.correction_fade") and len(listed.buttons("taffeta.correction_remove")) == 1
    with pytest.raises(RuntimeError, match="is of many frames, and was faded when it was made; key its weight"):
        bpy.ops.taffeta.correction_fade(index=0, before=2)
    bpy.ops.ed.undo_push(message="pushed")
    assert bpy.ops.taffeta.correction_remove(index=0) == {"FINISHED"}
    bpy.ops.ed.undo_push(message="removed")
    assert np.array_equal(every(obj), before)
    assert not bpy.data.node_groups and len(bpy.data.objects) == 2
    bpy.ops.ed.undo()
    assert np.array_equal(every(bpy.data.objects["Cloth"]), after)


def test_another_bake_leaves_it_out_and_tells_until_the_frames_are_the_same_again(make, tmp_path, capfd):
    obj, x, _ = shaking(make, tmp_path)
    assert bpy.ops.taffeta.smooth_in_time(frame_start=10, frame_end=12, fade=1, keep_out=False) == {"FINISHED"}
    (modifier,) = correction.corrections_of(obj)
    smooth = shown(obj, 11)
    assert not np.array_equal(smooth, x[10]) and modifier.show_render
    pc2.write(tmp_path / "Cloth.pc2", np.concatenate((x[:20], x[20:] + np.float32(1.0))), FIRST)
    cache_modifier.attach(obj, tmp_path / "Cloth.pc2", FIRST)
    assert np.array_equal(shown(obj, 11), smooth)  # re-baked from a later frame on
    pc2.write(tmp_path / "Cloth.pc2", x + np.float32(0.5), FIRST)
    cache_modifier.attach(obj, tmp_path / "Cloth.pc2", FIRST)
    assert np.array_equal(shown(obj, 11), x[10] + np.float32(0.5)) and not modifier.show_render
    assert any("Made of other frames" in text for text in draw("TAFFETA_PT_corrections").texts())
    told = f"Cloth: its correction {modifier.name} was made of other frames or another mesh than it plays now: it is left out"
    problems = problem_list.show(bpy.context.scene)
    assert [(problem.severity, problem.remedy[:13]) for problem in problems if problem.sentence == told] == [
        ("INFO", "Make it again")
    ]
    assert bpy.ops.taffeta.export(filepath=str(tmp_path / "out.abc")) == {"FINISHED"}
    assert f"Warning: {told}" in capfd.readouterr().out
    bpy.ops.taffeta.correction_mute(index=0)
    assert told not in [problem.sentence for problem in problem_list.show(bpy.context.scene)]
    bpy.ops.taffeta.correction_mute(index=0)
    pc2.write(tmp_path / "Cloth.pc2", x, FIRST)
    cache_modifier.attach(obj, tmp_path / "Cloth.pc2", FIRST)
    assert np.array_equal(shown(obj, 11), smooth)
    offsets.file_of(modifier.node_group).unlink()
    cache_modifier.attach(obj, tmp_path / "Cloth.pc2", FIRST)
    assert np.array_equal(shown(obj, 11), x[10])
    assert "is missing" in " ".join(draw("TAFFETA_PT_corrections").texts())


def test_a_shaking_sheet_keeps_what_a_gaussian_leaves_where_it_is_painted(make, tmp_path):
    obj, x, shake = shaking(make, tmp_path)
    count = len(obj.data.vertices)
    weight = np.linspace(0.0, 1.0, count)
    painted = obj.vertex_groups.new(name="Calm")
    for vertex in range(count):
        painted.add([vertex], weight[vertex], "REPLACE")
    options = {"frame_start": 12, "frame_end": 18, "fade": 3, "width": 1.2, "vertex_group": "Calm"}
    assert bpy.ops.taffeta.smooth_in_time(**options) == {"FINISHED"}
    found = every(obj)
    lost = 1.0 - np.exp(-0.5 * (TURN * 1.2) ** 2)
    middle = slice(12 - FIRST, 19 - FIRST)
    wanted = x - lost * weight[:, None] * shake
    assert np.abs(found[middle] - wanted[middle]).max() < 1e-5
    assert np.array_equal(found[:9], x[:9]) and np.array_equal(found[20:], x[20:])
    part = (found - x)[9, -1, 2] / (-lost * shake[9, -1, 2])  # two of three frames before all of it
    assert 0.0 < part < 0.5
    # a second one begins with what the first one shows, and the first one stays
    assert bpy.ops.taffeta.smooth_in_time(frame_start=12, frame_end=18, fade=3, width=1.2) == {"FINISHED"}
    first, second = correction.corrections_of(obj)
    again = every(obj)
    assert np.abs(again - found)[15].max() > 1e-3
    assert bpy.ops.taffeta.correction_mute(index=1) == {"FINISHED"}
    assert np.array_equal(every(obj), found) and offsets.file_of(first.node_group) != offsets.file_of(second.node_group)


def test_fine_folds_go_in_space(make, tmp_path):
    obj = make.grid(count=41, size=0.4)
    rest = np.array([vertex.co for vertex in obj.data.vertices])
    fold = np.zeros((LAST, *rest.shape))
    fold[:, :, 2] = 1e-4 * np.cos(8 * 2 * np.pi / 0.4 * (rest[:, 0] + 0.2))
    x = (rest + fold).astype(np.float32)
    play(obj, x, tmp_path)
    assert bpy.ops.taffeta.smooth_in_space(frame_start=5, frame_end=6, fade=1, radius=0.02) == {"FINISHED"}
    kept = 1.0 / (1.0 + 4.0 * (2.0 - 2.0 * np.cos(8 * 2 * np.pi / 40)))
    middle = np.abs(rest).max(axis=1) < 0.1
    found = every(obj)
    assert np.abs(found[4] - rest - kept * fold[4])[middle].max() < 2e-6
    assert np.array_equal(found[3], x[3]) and np.array_equal(found[6], x[6])


def cut_in_halves(make, x, faces):
    """A mesh cut along the middle of x, where vertices are doubled; and which of the whole's each of its own is."""
    left = np.array([max(x[k, 0] for k in face) < 1e-6 for face in faces])
    source = np.concatenate([np.unique(faces[left]), np.unique(faces[~left])])
    half = len(np.unique(faces[left]))
    number = [{k: i for i, k in enumerate(source[:half])}, {k: half + i for i, k in enumerate(source[half:])}]
    cut = [[number[1 - own][k] for k in face] for own, face in zip(left.astype(int), faces, strict=True)]
    return make.mesh("Cut", x[source], cut), source


def test_the_rims_of_a_welded_seam_are_smoothed_as_one(make, tmp_path):
    """As the same cloth without the seam: they were smoothed as two borders, which folds along the seam outlive."""
    whole = make.grid(count=21, size=0.2)
    rest = np.array([vertex.co for vertex in whole.data.vertices])
    faces = np.array([face.vertices for face in whole.data.polygons])
    cut, source = cut_in_halves(make, rest, faces)
    fold = np.zeros((LAST, *rest.shape))
    fold[:, :, 2] = 1e-3 * np.cos(8 * 2 * np.pi / 0.2 * rest[:, 0])
    shown = []
    for obj, own in ((whole, np.arange(len(rest))), (cut, source)):
        (tmp_path / obj.name).mkdir()
        play(obj, (rest + fold).astype(np.float32)[:, own], tmp_path / obj.name)
        assert bpy.ops.taffeta.smooth_in_space(frame_start=5, frame_end=6, fade=1, radius=0.02) == {"FINISHED"}
        shown.append(every(obj)[4])
    assert np.abs(shown[1] - shown[0][source]).max() < 1e-6
    assert np.ptp(shown[0][np.abs(rest[:, 0]) < 0.05, 2]) < 1e-3


def test_the_rim_of_a_pillow_stays_where_it_is(make, tmp_path):
    """Two panels that lie on each other, sewn at the rim: that has the cloth at one side alone, and was drawn in by 20 mm and rounded."""
    grid = make.grid(count=21, size=0.2)
    rest = np.array([vertex.co for vertex in grid.data.vertices])
    faces = np.array([face.vertices for face in grid.data.polygons])
    puffed = 0.004 * np.cos(np.pi * rest[:, 0] / 0.2) * np.cos(np.pi * rest[:, 1] / 0.2)
    puffed[np.abs(rest[:, :2]).max(axis=1) > 0.0999] = 0.0
    up, down = (rest + np.outer(side * puffed, (0, 0, 1)) for side in (1.0, -1.0))
    pillow = make.mesh("Pillow", np.vstack((up, down)), [*faces, *(faces[:, ::-1] + len(rest))])
    play(pillow, np.repeat(np.vstack((up, down))[None], LAST, axis=0).astype(np.float32), tmp_path)
    assert bpy.ops.taffeta.smooth_in_space(frame_start=5, frame_end=6, fade=1, radius=0.02) == {"FINISHED"}
    moved = every(pillow)[4] - np.vstack((up, down))
    rim = np.tile(np.abs(rest[:, :2]).max(axis=1) > 0.0999, 2)
    assert np.abs(moved[rim, :2]).max() < 1e-4
    assert np.abs(moved[~rim]).max() > 1e-4, "the rest is smoothed"


def test_what_would_go_into_a_body_by_smoothing_stops_there(make, tmp_path):
    """A sheet that hops off a ball for one frame comes down into it in the mean, unless it is kept out."""
    obj, ball = over_ball(make, tmp_path)
    ball.animation_data_clear()
    ball.location = (0.5, 0.0, 0.69)
    x = every(obj)
    x[16:] -= np.float32(0.3)  # and falls on beside it
    obj.location.x += 1.0
    ball.location.x += 1.0
    play(obj, x, tmp_path)
    x = every(obj)
    told = []
    for keep_out in (False, True):
        assert bpy.ops.taffeta.smooth_in_time(frame_start=8, frame_end=16, fade=2, width=1.5, keep_out=keep_out) == {
            "FINISHED"
        }
        told.append([crossings(make, obj, ball, frame) for frame in range(8, 17)])
        assert bpy.ops.taffeta.correction_remove(index=0) == {"FINISHED"}
    assert sum(told[0]) > 50 and not any(told[1])


def test_what_cannot_be_done_is_refused_in_a_sentence(make, tmp_path, monkeypatch):
    obj, _, _ = shaking(make, tmp_path)
    objects, files = len(bpy.data.objects), sorted(tmp_path.rglob("*"))

    def refused(words, operator=bpy.ops.taffeta.smooth_in_time, **options):
        with pytest.raises(RuntimeError, match=words):
            operator(**options)
        assert not correction.corrections_of(obj) and len(bpy.data.objects) == objects
        assert sorted(tmp_path.rglob("*")) == files

    refused("The range ends .3. before it starts .8.", frame_start=8, frame_end=3)
    refused("is baked from 1 to 30; choose frames of these", frame_start=40, frame_end=50)
    refused("there is no vertex group 'Nowhere'", vertex_group="Nowhere")
    refused("meets no Taffeta Collider", bpy.ops.taffeta.push_out)
    obj.hide_set(True)
    refused("is hidden or disabled in viewports")
    obj.hide_set(False)
    cache_modifier.show_bake(obj, False)
    refused("press Show the Bake", bpy.ops.taffeta.smooth_in_space)
    cache_modifier.show_bake(obj, True)
    with monkeypatch.context() as patch:
        patch.setattr(jobs, "running", lambda: True)
        refused("A simulation is under way", bpy.ops.taffeta.push_out)
        cache_modifier.show_bake(obj, False)  # as while it is played live
        refused("A simulation is under way", bpy.ops.taffeta.smooth_in_time)
        cache_modifier.show_bake(obj, True)
    bpy.context.scene.taffeta.cache_folder = str(tmp_path / "Cloth.pc2")  # a file where a folder is wanted
    refused("Cloth.pc2")
    cache_modifier.detach(obj)
    refused("plays no bake")


def test_a_duplicate_that_deletes_its_correction_leaves_the_originals_file_read(make, saved, tmp_path):
    obj, _, _ = shaking(make, tmp_path)
    assert bpy.ops.taffeta.smooth_in_time() == {"FINISHED"}
    before = every(obj)
    assert bpy.ops.object.duplicate() == {"FINISHED"}
    assert bpy.ops.taffeta.correction_mute(index=0) == {"FINISHED"}
    assert bpy.ops.taffeta.correction_remove(index=0) == {"FINISHED"}
    cache_modifier.show_bake(obj, False)
    cache_modifier.show_bake(obj, True)
    assert np.array_equal(every(obj), before)
