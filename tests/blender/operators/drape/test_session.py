# SPDX-License-Identifier: GPL-3.0-or-later
"""Draping without a window: what the hand does to cloth, and what is left of it."""

import threading
import time
from pathlib import Path

import bpy
import numpy as np
import pytest
from taffeta.operators.drape import session
from taffeta.operators.read import modifier_stack
from taffeta.solver.crossings import find_crossings
from taffeta.solver.model import Collider

DOWN = np.array([0.0, 0.0, -1.0])


@pytest.fixture
def shot(saved, make):
    """A sheet that lies right above a ball."""
    body = make.collider(make.ball(radius=0.3))
    sheet = make.cloth(make.grid(count=15, location=(0, 0, 0.31)))
    yield saved, sheet, body
    session.end()


def traces(obj):
    """All that draping puts into a file."""
    modifiers = [(modifier.name, modifier.show_viewport, modifier.show_render) for modifier in obj.modifiers]
    x = np.empty(3 * len(obj.data.vertices), np.float32)
    obj.data.attributes["position"].data.foreach_get("vector", x)
    files = sorted(path.name for path in Path(bpy.app.tempdir).glob("*live*"))
    keys = obj.data.shape_keys
    return modifiers, keys and sorted(keys.key_blocks.keys()), obj.taffeta_cloth.muted, files, x.tobytes()


def steps(drape, scene, count):
    for _ in range(count):
        assert drape.step(scene), drape.trouble


def crossings(drape):
    """Pairs of triangles of cloth and cloth, and of cloth and bodies, that pass through each other."""
    bodies = zip(drape.order.bodies, drape.moment.bodies, strict=True)
    still = [Collider(body.name, np.stack((x, x)), body.triangles, 0.0, 0.0, body.aura) for body, x in bodies]
    return len(find_crossings(drape.cloth, drape.state.x, still)[0])


def at(drape, x, y):
    """What lies under a point seen from above."""
    return drape.cast(np.array([x, y, 3.0]), DOWN)


def test_pulled_cloth_comes_along_over_the_body_and_not_into_it(shot, make):
    scene, sheet, _ = shot
    drape = session.start(scene)
    steps(drape, scene, 6)
    hit = at(drape, 0.3, 0.3)
    assert drape.grab(hit, 0.15)
    low = hit.point * [-1.0, -1.0, 1.0]
    drape.move(low)  # to the other side of the ball: straight through it, if it could
    corner = drape.hand.held.patch.particles[drape.hand.held.patch.weight.argmax()]
    for _ in range(6):
        steps(drape, scene, 4)
        assert crossings(drape) == 0
    assert (make.world(sheet)[corner, :2] < 0.1).all() and drape.trouble == ""
    drape.release()
    assert drape.hand.grip(drape.cloth, drape.state.x) is None


def test_a_grip_is_no_stronger_than_ten_weights_and_holds_the_garment_up(shot):
    scene, _, body = shot
    body.taffeta_collider.enabled = False
    drape = session.start(scene)
    drape.grab(at(drape, 0.0, 0.0), 0.1)
    drape.move(drape.hand.held.point + drape.cloth.origin + [0.0, 0.0, 100.0])
    grip = drape.hand.grip(drape.cloth, drape.state.x)
    x = drape.state.x[grip.particles] + drape.cloth.origin
    force = (grip.stiffness[:, None] * (grip.targets[-1] - x)).sum(axis=0)
    weight = drape.cloth.mass.sum() * 9.81
    assert force[2] == pytest.approx(10.0 * weight, rel=1e-6)
    drape.move(drape.hand.held.point + drape.cloth.origin)
    steps(drape, scene, 60)
    held = drape.hand.held
    share = held.patch.weight / held.patch.weight.sum()
    sag = (share * (held.start - drape.state.x[held.patch.particles])[:, 2]).sum()
    assert 0.5 * 9.81 * 0.05**2 < sag < 2.0 * 9.81 * 0.05**2


def test_pins_by_hand_hold_where_cloth_is_until_they_are_taken_off(shot, make):
    scene, sheet, _ = shot
    drape = session.start(scene)
    steps(drape, scene, 2)  # away from the garment's own pose
    drape.pin(at(drape, 0.45, 0.45), 0.1)
    pinned, before = drape.hand.pinned.copy(), make.world(sheet)
    assert 1 <= pinned.sum() < 10
    steps(drape, scene, 8)
    x = make.world(sheet)
    assert np.allclose(x[pinned], before[pinned], atol=1e-6) and x[14, 2] < 0.2  # another corner
    drape.unpin(at(drape, 0.45, 0.45), 0.1)
    steps(drape, scene, 8)
    assert (make.world(sheet)[pinned, 2] < before[pinned, 2] - 0.02).all()


def test_undo_steps_back_through_pulls_and_redo_forth(shot, make):
    scene, sheet, _ = shot
    drape = session.start(scene)
    steps(drape, scene, 3)
    seen = [make.world(sheet)]
    for place in ((0.3, 0.3), (-0.3, 0.3)):
        hit = at(drape, *place)
        drape.grab(hit, 0.1)
        drape.move(hit.point + [0.0, 0.0, 0.2])
        steps(drape, scene, 4)
        drape.release()
        seen.append(make.world(sheet))
    drape.pin(at(drape, 0.0, 0.0), 0.1)
    late = drape.begin(scene)  # under way while undo is pressed
    assert drape.undo() and not drape.hand.pinned.any()
    late.run()
    assert not drape.finish(late) and np.array_equal(make.world(sheet), seen[2])
    assert drape.undo() and np.array_equal(make.world(sheet), seen[1])
    assert drape.undo() and np.array_equal(make.world(sheet), seen[0]) and not drape.undo()
    assert drape.redo() and np.array_equal(make.world(sheet), seen[1])


def test_time_stands_still_freezes_and_goes_half_as_fast(shot, make):
    scene, sheet, _ = shot
    drape = session.start(scene)
    before = make.world(sheet)
    drape.speed = session.PAUSE
    assert not drape.step(scene)
    drape.speed = session.FREEZE
    steps(drape, scene, 5)
    assert np.allclose(make.world(sheet), before, atol=1e-4)
    fallen = []
    for speed in (session.HALF, session.FULL):
        drape.speed = speed
        steps(drape, scene, 1)
        fallen.append(-drape.state.v[:, 2].min())
        drape.state.v[:] = 0.0
    assert fallen[0] == pytest.approx(0.5 * fallen[1], rel=0.1)


def test_smoothing_takes_folds_out(shot):
    scene, _, body = shot
    body.taffeta_collider.enabled = False
    drape = session.start(scene)
    drape.speed = session.FREEZE
    drape.state.x[:, 2] += 0.01 * (np.arange(15 * 15) % 2)
    rough = lambda: drape.state.x[:, 2].reshape(15, 15)[5:10, 5:10].std()  # noqa: E731
    drape.smooth(at(drape, 0.0, 0.0), 0.4)
    before = rough()
    steps(drape, scene, 6)
    assert rough() < 0.3 * before
    assert drape.undo() and rough() == before


def test_sliders_act_at_once_and_bodies_may_be_posed(shot, make):
    scene, sheet, body = shot
    drape = session.start(scene)
    steps(drape, scene, 4)
    assert drape.cloth.friction.max() < 0.8
    sheet.taffeta_cloth.friction.value = 0.9
    body.location.z = 0.05
    steps(drape, scene, 1)
    assert drape.cloth.friction.min() == pytest.approx(0.9) and drape.trouble == ""
    assert make.world(sheet)[:, 2].max() > 0.34
    scene.frame_set(5)
    steps(drape, scene, 1)
    assert scene.frame_current == 1


def test_painted_pins_go_along_with_what_is_posed(shot, make):
    scene, sheet, body = shot
    rim = sheet.vertex_groups.new(name="Rim")
    rim.add(range(15), 1.0, "REPLACE")
    sheet.taffeta_cloth.pin.source, sheet.taffeta_cloth.pin.vertex_group = "GROUP", "Rim"
    sheet.parent = body
    drape = session.start(scene)
    steps(drape, scene, 3)
    before = make.world(sheet)
    body.location.x = 0.1
    steps(drape, scene, 2)
    moved = make.world(sheet) - before
    assert np.allclose(moved[:15], [0.1, 0.0, 0.0], atol=1e-5) and drape.trouble == ""
    drape.grab(at(drape, 0.1, 0.4), 0.1)
    steps(drape, scene, 2)
    assert crossings(drape) == 0


def test_the_upper_of_two_garments_is_pulled_and_nothing_passes_through(shot, make):
    scene, sheet, _ = shot
    coat = make.cloth(make.grid("Coat", count=12, location=(0, 0, 0.33)), layer=1)
    drape = session.start(scene)
    steps(drape, scene, 4)
    hit = at(drape, 0.2, 0.2)
    drape.grab(hit, 0.2)
    assert set(drape.cloth.garment[drape.hand.held.patch.particles]) == {1}  # Coat
    drape.move(hit.point - [0.0, 0.0, 0.3])  # down, through what is worn below
    steps(drape, scene, 10)
    assert (make.world(coat)[:, 2].min()) < hit.point[2] - 0.1
    assert crossings(drape) == 0


def test_esc_leaves_all_as_it_was_and_what_was_draped_can_be_kept(shot, make):
    scene, sheet, _ = shot
    sheet.modifiers.new("Fine", "SUBSURF")
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    scene.frame_set(7)
    before, baked, cage = traces(sheet), make.world(sheet), bake_of(sheet)
    drape = session.start(scene)
    assert np.allclose(drape.state.x + drape.cloth.origin, cage, atol=1e-6)  # it begins as it is shown
    steps(drape, scene, 3)
    assert traces(sheet) != before
    session.end()
    session.end()  # twice does no harm
    assert traces(sheet) == before and np.array_equal(make.world(sheet), baked)
    assert bpy.ops.taffeta.keep_pose.poll()


def bake_of(obj):
    """Where the cache puts the garment, in the world."""
    obj.modifiers["Fine"].show_viewport = False
    bpy.context.view_layer.update()
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    x = np.array([evaluated.matrix_world @ vertex.co for vertex in evaluated.data.vertices])
    obj.modifiers["Fine"].show_viewport = True
    return x


@pytest.mark.parametrize("result", ["KEY", "REST", "FURTHER"])
def test_what_was_draped_is_kept(shot, make, result):
    scene, sheet, _ = shot
    bare = make.world(sheet)
    drape = session.start(scene)
    steps(drape, scene, 6)
    wanted = make.world(sheet)
    session.end()
    assert bpy.ops.taffeta.keep_pose(result=result) == {"FINISHED"}
    if result == "FURTHER":
        assert np.allclose(make.world(sheet), bare, atol=1e-6)
        sheet.data.shape_keys.key_blocks["Drape 1"].value = 1.0
        bpy.context.view_layer.update()
        again = session.start(scene)
        again.step(scene)
        session.end()
        sheet.data.shape_keys.key_blocks["Drape 1"].value = 0.0
        assert bpy.ops.taffeta.keep_pose(result=result) == {"FINISHED"}
        assert "Drape 1.001" in sheet.data.shape_keys.key_blocks
        sheet.data.shape_keys.key_blocks["Drape 1"].value = 1.0
        bpy.context.view_layer.update()
    assert np.allclose(make.world(sheet), wanted, atol=2e-5)


def test_a_saved_file_knows_nothing_of_it_and_draping_goes_on(shot, make, tmp_path):
    scene, sheet, _ = shot
    name, before = sheet.name, traces(sheet)
    drape = session.start(scene)
    steps(drape, scene, 3)
    seen = make.world(sheet)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "saved.blend"))
    assert session.running() is drape and np.array_equal(make.world(sheet), seen)
    steps(drape, scene, 1)
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "saved.blend"))
    assert session.running() is None and traces(bpy.data.objects[name]) == before


def blow_up(*_):
    raise FloatingPointError("Garment 1 of 1 blew up in frame 2.")


def test_starts_that_cannot_be_and_what_blows_up_change_nothing(shot, make, monkeypatch):
    scene, sheet, _ = shot
    before = traces(sheet)
    scene.taffeta.collider_source = "COLLECTION"
    with pytest.raises(ValueError, match="none is chosen"):
        session.start(scene)
    assert traces(sheet) == before
    scene.taffeta.collider_source = "ALL"
    drape = session.start(scene)
    with pytest.raises(ValueError, match="under way"):
        session.start(scene)
    steps(drape, scene, 2)
    seen = make.world(sheet)
    step = drape.begin(scene)
    step.state.x[3] += 1.0  # its own copy, which nobody wants then
    with monkeypatch.context() as patched:
        patched.setattr("taffeta.solver.step.advance", blow_up)
        step.run()
    assert not drape.finish(step) and drape.speed == session.PAUSE and drape.trouble.startswith("Cloth blew up")
    assert np.array_equal(make.world(sheet), seen) and modifier_stack.find_live(sheet) is not None
    assert bpy.ops.taffeta.bake() == {"FINISHED"}  # ends it
    assert session.running() is None and modifier_stack.find_live(sheet) is None


def test_a_worker_steps_beside_the_window_and_whoever_ends_it_waits(shot):
    scene, sheet, _ = shot
    drape = session.start(scene)
    seen = 0
    for _ in range(2000):
        seen += drape.tick(scene)
        if seen == 5:
            break
        time.sleep(0.005)
    assert drape.steps == 5 and drape.trouble == ""
    session.end()
    assert not [thread for thread in threading.enumerate() if thread.name == "Taffeta drape"]


def test_another_scene_ends_it_with_a_sentence(shot):
    scene, _, _ = shot
    drape = session.start(scene)
    with pytest.raises(ValueError, match="of scene Scene"):
        drape.step(bpy.data.scenes.new("Other"))


def test_buttons_work_while_cloth_is_draped_and_keep_ends_it(shot, make):
    scene, sheet, _ = shot
    for verb in (bpy.ops.taffeta.drape_keep, bpy.ops.taffeta.drape_undo, bpy.ops.taffeta.drape_redo):
        assert not verb.poll()
    drape = session.start(scene)
    hit = at(drape, 0.0, 0.0)
    drape.grab(hit, 0.2)
    drape.move(hit.point + [0.0, 0.0, 0.3])
    steps(drape, scene, 6)
    high = make.world(sheet)[:, 2].max()
    assert bpy.ops.taffeta.drape_undo() == {"FINISHED"} and make.world(sheet)[:, 2].max() < high - 0.05
    assert bpy.ops.taffeta.drape_redo() == {"FINISHED"} and make.world(sheet)[:, 2].max() == high
    assert bpy.ops.taffeta.drape_keep(result="REST") == {"FINISHED"}
    assert session.running() is None and modifier_stack.find_live(sheet) is None
    assert make.world(sheet)[:, 2].max() == pytest.approx(high, abs=2e-5)


def test_what_is_attached_meanwhile_holds_from_the_next_step_on(shot, make):
    """Neither attachments nor rides of a step before are needed for those that begin."""
    scene, sheet, _ = shot
    drape = session.start(scene)
    steps(drape, scene, 1)
    sheet.vertex_groups.new(name="Held").add([0, 14], 1.0, "REPLACE")
    bpy.context.view_layer.objects.active = sheet
    bpy.ops.taffeta.attach(vertices="GROUP", group="Held")
    sheet.taffeta_cloth.ride.felt = 0.5
    before = make.world(sheet)
    steps(drape, scene, 3)
    assert (
        np.abs(make.world(sheet) - before)[[0, 14]].max() < 1e-6 < np.abs(make.world(sheet) - before)[[210, 224]].max()
    )
    bpy.ops.taffeta.detach()
    steps(drape, scene, 1)
