# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulating while the timeline plays: `scene.frame_set` takes the place of the playback here."""

from pathlib import Path

import bpy
import numpy as np
import pytest
from taffeta.operators.keep_pose import POSE_KEY
from taffeta.operators.live import simulation
from taffeta.operators.read import anchors, modifier_stack


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
    files = sorted(path.name for path in Path(bpy.app.tempdir).glob("*live*"))
    kinds = len(bpy.data.node_groups), obj.taffeta_cloth.muted, files
    return modifiers, sorted(obj.data.attributes.keys()), kinds, x.tobytes()


def hide_some(obj):
    """Modifiers behind the cloth, of which the animator sees one, and a bake that nobody looks at."""
    obj.modifiers.new("Fine", "SUBSURF")
    obj.modifiers.new("Thick", "SOLIDIFY").show_viewport = False
    modifier_stack.find_cache(obj).show_viewport = False


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


def test_live_holds_what_is_attached_and_lets_go_of_what_is_detached(shot, make):
    """Also where what it rides on is felt in part; Detach in the middle of a playback is seen in the next frame."""
    scene, sheet = shot
    body = bpy.data.objects["Body"]
    for frame, height in ((1, 0.0), (9, 0.2)):
        body.location.z = height
        body.keyframe_insert("location", frame=frame)
    scene.frame_set(1)
    sheet.taffeta_cloth.ride.felt, sheet.taffeta_cloth.ride.object = 0.5, body
    bpy.context.view_layer.objects.active = sheet
    assert bpy.ops.taffeta.attach(vertices="NEAR", reach=0.06, body="Body") == {"FINISHED"}
    tied = anchors.read(sheet.data, 1)
    simulation.start(scene)
    play(scene, sheet, make, range(2, 6))
    assert simulation.running().error == "" and len(tied.vertices)
    assert np.abs(make.world(sheet)[tied.vertices] - anchors.points(tied, make.world(body))).max() < 1e-5
    bpy.ops.taffeta.detach()
    play(scene, sheet, make, range(6, 9))
    assert simulation.running().error == "" and simulation.running().trouble == ""
    assert np.abs(make.world(sheet)[tied.vertices] - anchors.points(tied, make.world(body))).max() > 1e-3


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
    hide_some(sheet)
    name, before = sheet.name, traces(sheet)
    simulation.start(scene)
    play(scene, sheet, make, range(2, 4))
    bpy.app.handlers.save_pre.remove(simulation._stop)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "auto.blend"), copy=True)
    simulation.end()
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "auto.blend"))
    assert traces(bpy.data.objects[name]) == before


def test_an_undo_into_the_middle_of_it_is_tidied(shot, make):
    """What an animator does while it plays is undone after it has stopped, and redone."""
    scene, sheet = shot
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    hide_some(sheet)
    name, before = sheet.name, traces(sheet)
    simulation.start(scene)
    for frame in (2, 3):
        play(scene, sheet, make, [frame])
        sheet.location.x = frame
        bpy.ops.ed.undo_push(message=f"At frame {frame}")
    simulation.end()
    bpy.ops.ed.undo_push(message="Stopped")
    for turn in (bpy.ops.ed.undo, bpy.ops.ed.undo, bpy.ops.ed.redo, bpy.ops.ed.undo):
        turn()
        assert traces(bpy.data.objects[name]) == before
    assert bpy.data.objects[name].location.x == 2.0


def test_a_copy_that_is_made_meanwhile_is_left_clean(shot, make):
    scene, sheet = shot
    before = traces(sheet)
    simulation.start(scene)
    play(scene, sheet, make, range(2, 4))
    copy = sheet.copy()
    scene.collection.objects.link(copy)
    scene.frame_set(4)
    assert "became cloth" in simulation.running().error
    simulation.end()
    assert traces(sheet) == traces(copy) == before


def test_the_mesh_is_not_touched_and_blender_has_no_reason_to_add_a_panel(shot, make):
    """Blender's panel Simulation Nodes comes for any Geometry Nodes modifier, and pushes what is below."""
    scene, sheet = shot
    before = traces(sheet)
    simulation.start(scene)
    play(scene, sheet, make, range(2, 4))
    assert not any(modifier.type == "NODES" for modifier in sheet.modifiers) and not bpy.data.node_groups
    now = traces(sheet)
    assert (now[1], now[3]) == (before[1], before[3])


def test_painted_maps_are_not_read_for_a_recipe_that_nobody_keeps(shot):
    scene, sheet = shot
    sheet.vertex_groups.new(name="Some").add(range(11), 1.0, "REPLACE")
    sheet.taffeta_cloth.mass.source, sheet.taffeta_cloth.mass.vertex_group = "GROUP", "Some"
    simulation.start(scene)
    order = simulation.running().order
    assert not order.recipes and not order.fingerprints and not order.abouts


def test_garments_that_share_a_mesh_can_be_played(shot, make):
    scene, sheet = shot
    other = bpy.data.objects.new("Other", sheet.data)
    other.location = 4.0, 0.0, 1.0
    scene.collection.objects.link(other)
    make.cloth(other)
    before = traces(sheet), traces(other)
    simulation.start(scene)
    play(scene, sheet, make, range(2, 6))
    assert simulation.running().error == "" and make.world(other)[:, 2].max() < 0.95
    assert make.world(sheet)[:, 2].min() < 0.3 < make.world(sheet)[:, 2].max()
    simulation.end()
    assert (traces(sheet), traces(other)) == before


def test_a_garment_that_is_deleted_meanwhile_ends_it_with_a_sentence(shot, make):
    scene, sheet = shot
    other = make.cloth(make.grid("Coat", location=(0, 0, 0.6)))
    before = traces(sheet)
    simulation.start(scene)
    play(scene, sheet, make, range(2, 4))
    bpy.data.objects.remove(other)
    scene.frame_set(4)
    assert simulation.running().error.startswith("Coat was deleted")
    simulation.end()
    assert traces(sheet) == before


def test_handlers_of_others_see_the_cloth_of_this_frame(shot, make):
    """The overlays, and other extensions."""
    scene, sheet = shot
    seen = []
    bpy.app.handlers.frame_change_post.append(lambda *_: seen.append(make.world(sheet)))
    simulation.start(scene)
    try:
        shown = play(scene, sheet, make, range(2, 6))
    finally:
        bpy.app.handlers.frame_change_post.pop()
    assert all(np.array_equal(one, other) for one, other in zip(seen[-4:], shown, strict=True))


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
    assert simulation.running() is None and modifier_stack.find_live(sheet) is None


def test_what_goes_wrong_is_told_in_a_sentence(shot):
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


def test_live_follows_what_is_keyed_as_a_bake_does(shot, make):
    """The sheet shrinks, and the ball lets it through."""
    scene, sheet = shot
    body, shrink = bpy.data.objects["Body"].taffeta_collider, sheet.taffeta_cloth.shrink
    for frame, collides, much in ((1, True, 0.0), (5, True, 0.2), (6, False, 0.2)):
        body.collides, shrink.value = collides, much
        assert body.keyframe_insert("collides", frame=frame) and shrink.keyframe_insert("value", frame=frame)
    scene.frame_set(1)
    simulation.start(scene)
    built = simulation.running().cloth
    shown = play(scene, sheet, make, range(2, 11))
    assert simulation.running().error == simulation.running().trouble == ""
    assert simulation.running().cloth is built, "a key is no change of the scene"
    simulation.end()
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    for frame, x in zip(range(2, 11), shown, strict=True):
        scene.frame_set(frame)
        assert np.allclose(make.world(sheet), x, atol=1e-6), frame
    assert np.ptp(shown[-1][:, 0]) < 0.9 and shown[-1][:, 2].min() < shown[3][:, 2].min() - 0.1


def test_what_sleeps_wakes_where_it_begins_anew_and_where_its_fabric_changes(shot, make):
    scene, sheet = shot
    scene.taffeta.sleep_speed = 0.5
    simulation.start(scene)
    shown = play(scene, sheet, make, range(2, 50))
    assert np.array_equal(shown[-1], shown[-2])
    anew = play(scene, sheet, make, (1, 2, 3))
    assert (anew[2][:, 2] < anew[0][:, 2]).all()
    shown = play(scene, sheet, make, range(4, 50))
    assert np.array_equal(shown[-1], shown[-2])
    sheet.taffeta_cloth.stretch_stiffness.value = 20.0
    changed = play(scene, sheet, make, range(50, 53))
    assert np.abs(changed[-1] - shown[-1]).max() > 1e-4 and simulation.running().error == ""
