# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulating while the timeline plays: `scene.frame_set` takes the place of the playback here."""

import bpy
import numpy as np
import pytest
from taffeta.operators.keep_pose import POSE_KEY
from taffeta.operators.live import nodes, simulation
from taffeta.operators.read import modifier_stack


@pytest.fixture
def shot(saved, make):
    """A sheet that falls on a ball, in Preview quality."""
    make.collider(make.ball(radius=0.3, location=(0.1, 0.05, 0.0)))
    sheet = make.cloth(make.grid(count=15, location=(0, 0, 0.34)), quality="PREVIEW")
    yield saved, sheet
    simulation.end()


def traces(obj):
    """All that a live simulation puts into a file."""
    modifiers = [(modifier.name, modifier.show_viewport, modifier.show_render) for modifier in obj.modifiers]
    x = np.empty(3 * len(obj.data.vertices), np.float32)
    obj.data.attributes["position"].data.foreach_get("vector", x)
    return modifiers, sorted(obj.data.attributes.keys()), len(bpy.data.node_groups), x.tobytes()


def play(scene, obj, make, frames):
    shown = []
    for frame in frames:
        scene.frame_set(frame)
        shown.append(make.world(obj))
    return shown


def test_live_shows_what_a_preview_bake_shows(shot, make):
    scene, sheet = shot
    simulation.start(scene)
    shown = play(scene, sheet, make, range(2, 9))
    assert simulation.running().error == "" and shown[-1][:, 2].min() < 0.1
    simulation.end()
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    for frame, x in zip(range(2, 9), shown, strict=True):
        scene.frame_set(frame)
        assert np.allclose(make.world(sheet), x, atol=1e-6), frame


def test_end_leaves_all_as_it_was(shot, make):
    scene, sheet = shot
    sheet.modifiers.new("Fine", "SUBSURF")
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    scene.frame_set(1)
    before = traces(sheet)
    simulation.start(scene)
    play(scene, sheet, make, range(2, 5))
    assert traces(sheet) != before and not modifier_stack.find_cache(sheet).show_viewport
    simulation.end()
    assert traces(sheet) == before
    simulation.end()  # twice does no harm


def test_a_jump_begins_anew_and_dropped_frames_are_one_step(shot, make):
    scene, sheet = shot
    simulation.start(scene)
    first = play(scene, sheet, make, range(1, 7))
    again = play(scene, sheet, make, range(1, 7))
    assert all(np.array_equal(one, other) for one, other in zip(first, again, strict=True))
    scene.frame_set(1)
    dropped = play(scene, sheet, make, (3, 6))
    assert np.abs(dropped[1] - first[5]).max() < 0.25 * np.abs(first[5] - first[0]).max()
    assert np.allclose(first[0][:, 2], 0.34, atol=1e-6)


def test_pins_follow_the_garments_own_pose(saved, make):
    sheet = make.cloth(make.grid(count=5, location=(0, 0, 1.0)), pin=1.0)
    sheet.shape_key_add(name="Basis")
    key = sheet.shape_key_add(name="Up")
    for point in key.data:
        point.co.z += 0.5
    key.value = 0.0
    key.keyframe_insert("value", frame=1)
    key.value = 1.0
    key.keyframe_insert("value", frame=6)
    saved.frame_set(1)
    simulation.start(saved)
    for frame in range(2, 7):
        saved.frame_set(frame)
        assert np.allclose(make.world(sheet)[:, 2], 1.0 + 0.5 * key.value, atol=1e-5), frame
    assert key.value == 1.0


@pytest.mark.parametrize("result", ["KEY", "REST"])
def test_the_last_pose_can_be_kept(shot, make, result):
    scene, sheet = shot
    simulation.start(scene)
    wanted = play(scene, sheet, make, range(2, 8))[-1]
    assert not bpy.ops.taffeta.keep_pose.poll()
    simulation.end()
    assert not np.allclose(make.world(sheet), wanted, atol=1e-3)
    assert bpy.ops.taffeta.keep_pose(result=result) == {"FINISHED"}
    scene.frame_set(7)
    assert np.allclose(make.world(sheet), wanted, atol=2e-5)
    assert (sheet.data.shape_keys is not None and POSE_KEY in sheet.data.shape_keys.key_blocks) == (result == "KEY")


def test_a_saved_file_knows_nothing_of_it(shot, make, tmp_path):
    scene, sheet = shot
    name, before = sheet.name, traces(sheet)
    simulation.start(scene)
    play(scene, sheet, make, range(2, 4))
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "saved.blend"))
    assert simulation.running() is None and traces(sheet) == before
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "saved.blend"))
    assert traces(bpy.data.objects[name]) == before


def test_an_auto_saved_file_is_tidied_when_it_is_opened(shot, make, tmp_path):
    """Blender saves by itself without telling anybody."""
    scene, sheet = shot
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    name, before = sheet.name, traces(sheet)
    simulation.start(scene)
    play(scene, sheet, make, range(2, 4))
    bpy.app.handlers.save_pre.remove(simulation._stop)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "auto.blend"), copy=True)
    simulation.end()
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "auto.blend"))
    assert traces(bpy.data.objects[name]) == before


def test_undo_ends_it(shot, make):
    scene, sheet = shot
    name, before = sheet.name, traces(sheet)
    bpy.ops.ed.undo_push(message="One")
    sheet.location.x += 1.0
    bpy.ops.ed.undo_push(message="Two")
    simulation.start(scene)
    play(scene, sheet, make, range(2, 4))
    bpy.ops.ed.undo()
    assert simulation.running() is None and traces(bpy.data.objects[name]) == before


def test_a_bake_ends_it(shot, make):
    scene, sheet = shot
    simulation.start(scene)
    play(scene, sheet, make, range(2, 4))
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    assert simulation.running() is None and nodes.LIVE_NAME not in sheet.modifiers


def test_what_goes_wrong_is_told_in_a_sentence(shot, make):
    scene, sheet = shot
    before = traces(sheet)
    simulation.start(scene)
    scene.frame_set(2)
    bpy.data.objects["Body"].modifiers.new("Fine", "SUBSURF")
    scene.frame_set(3)
    assert simulation.running().error.startswith("Body changes its mesh at frame 3")
    simulation.end()
    assert traces(sheet) == before


def test_starts_that_cannot_be_change_nothing(shot):
    scene, sheet = shot
    before = traces(sheet)
    simulation.start(scene)
    with pytest.raises(ValueError, match="under way"):
        simulation.start(scene)
    simulation.end()
    scene.taffeta.collider_source = "COLLECTION"
    with pytest.raises(ValueError, match="none is chosen"):
        simulation.start(scene)
    assert traces(sheet) == before
    with pytest.raises(RuntimeError, match="needs a window"):
        bpy.ops.taffeta.live()
