# SPDX-License-Identifier: GPL-3.0-or-later
"""What is set while the cloth is played live holds from the next frame on, and the cloth goes on from where it is."""

import time

import bpy
import numpy as np
import pytest
from taffeta.operators.live import simulation


@pytest.fixture
def shot(saved, make):
    """A sheet that falls on a ball, played live to frame 5."""
    make.collider(make.ball(radius=0.3, location=(0.1, 0.05, 0.0)))
    sheet = make.cloth(make.grid(count=11, location=(0, 0, 0.34)), quality="PREVIEW")
    sheet.vertex_groups.new(name="Some").add(range(11), 1.0, "REPLACE")
    yield saved, sheet
    simulation.end()


def play(scene, frames):
    for frame in frames:
        scene.frame_set(frame)
    return simulation.running()


def same(one, other):
    """Whether two clothes are the same, array by array."""
    for name in one._fields:
        a, b = getattr(one, name), getattr(other, name)
        if name == "pattern":
            equal = all(map(np.array_equal, a, b))
        else:
            equal = name == "matrix" or np.array_equal(a, b)
        if not equal:
            return False
    return True


def set_value(name, value):
    return lambda sheet: setattr(getattr(sheet.taffeta_cloth, name), "value", value)


def set_plain(name, value):
    return lambda sheet: setattr(sheet.taffeta_cloth, name, value)


def set_map(name):
    def change(sheet):
        mapped = getattr(sheet.taffeta_cloth, name)
        mapped.source, mapped.vertex_group = "GROUP", "Some"

    return change


def choose_slanting_pattern(sheet):
    layer = sheet.data.uv_layers["UVMap"]
    uv = np.empty(2 * len(layer.uv), np.float32)
    layer.uv.foreach_get("vector", uv)
    layer.uv.foreach_set("vector", (uv.reshape(-1, 2) @ np.float32([[1, 1], [-1, 1]])).ravel())
    sheet.taffeta_cloth.uv_map = "UVMap"


CHANGES = {
    "mass": set_value("mass", 0.4),
    "thickness": set_value("thickness", 0.01),
    "stretch": set_value("stretch_stiffness", 50.0),
    "shear": set_value("shear_stiffness", 5.0),
    "bending": set_value("bending_stiffness", 1e-3),
    "damping": set_value("damping", 8.0),
    "friction": set_value("friction", 0.9),
    "pin": set_value("pin", 1.0),
    "shrink": set_value("shrink", 0.005),
    "self-collision": set_plain("self_collision", False),
    "model": set_plain("model", "MEMBRANE"),
    "weft": set_plain("weft_stretch", 0.2),
    "pattern": choose_slanting_pattern,
    "mask of bodies": set_plain("body_group", "Some"),
    "map of mass": set_map("mass"),
    "map of pins": set_map("pin"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_slider_holds_from_the_next_frame_on(shot, what):
    """It is the cloth that a new start would have, in the motion that it is in."""
    scene, sheet = shot
    simulation.start(scene)
    live = play(scene, range(2, 6))
    x, v, cloth = live.state.x.copy(), live.state.v.copy(), live.cloth
    CHANGES[what](sheet)
    live = play(scene, [6])
    assert live.error == live.trouble == "" and not same(live.cloth, cloth)
    if "pin" not in what:  # what is pinned goes back to its pose
        farthest = 1.5 * np.linalg.norm(v, axis=1).max() / 24 + 0.5 * 9.81 / 24**2
        assert 1e-3 < np.linalg.norm(live.state.x - x, axis=1).max() < farthest + 0.02
    wanted = live.cloth
    simulation.end()
    simulation.start(scene)
    assert same(simulation.running().cloth, wanted)


def test_weights_that_are_painted_hold_from_then_on(shot):
    scene, sheet = shot
    CHANGES["map of pins"](sheet)
    simulation.start(scene)
    held = play(scene, range(2, 5)).cloth
    sheet.vertex_groups["Some"].add(range(11, 22), 1.0, "REPLACE")
    scene.frame_end, last = 1000, time.perf_counter() + 60.0
    frame = 5
    while simulation.running().cloth is held and time.perf_counter() < last:
        scene.frame_set(frame)
        frame += 1
    assert np.array_equal(np.flatnonzero(simulation.running().cloth.pin), range(22))


def test_nothing_is_built_anew_where_nothing_was_changed(shot):
    scene, sheet = shot
    CHANGES["map of mass"](sheet)
    scene.taffeta.keyframe_insert("wind", frame=1)
    sheet.taffeta_cloth.pin.keyframe_insert("value", frame=1)
    sheet.taffeta_cloth.pin.value = 0.5
    sheet.taffeta_cloth.pin.keyframe_insert("value", frame=9)
    simulation.start(scene)
    cloth = simulation.running().cloth
    assert play(scene, range(2, 8)).cloth is cloth


@pytest.mark.parametrize("name,value", [("aura", 0.05), ("friction", 2.0), ("restitution", 0.8)])
def test_a_bodys_numbers_hold_from_the_next_frame_on(shot, name, value):
    scene, _ = shot
    simulation.start(scene)
    play(scene, range(2, 5))
    setattr(bpy.data.objects["Body"].taffeta_collider, name, value)
    live = play(scene, [5])
    assert [getattr(body, name) for body in live.order.bodies] == [pytest.approx(value)] and live.error == ""


def test_collision_can_be_switched_off_and_on(shot, make):
    scene, sheet = shot
    simulation.start(scene)
    play(scene, range(2, 5))
    body, other = bpy.data.objects["Body"], make.ball("Other", radius=0.2, location=(3, 0, 0))
    body.taffeta_collider.enabled = False
    make.collider(other)
    live = play(scene, range(5, 10))
    assert live.error == live.trouble == "" and [one.name for one in live.order.bodies] == ["Other"]
    gone = make.world(sheet)
    assert np.linalg.norm(gone - (0.1, 0.05, 0.0), axis=1).min() < 0.28  # through the ball of 0.3 m
    body.taffeta_collider.enabled = True
    live = play(scene, [10])
    assert [one.name for one in live.order.bodies] == ["Body", "Other"] and len(live.moment.bodies) == 2


def test_the_scenes_numbers_hold_from_the_next_frame_on(shot):
    scene, _ = shot
    simulation.start(scene)
    live = play(scene, range(2, 5))
    fast = live.state.v[:, 2].mean()
    scene.taffeta.constant_force = (0.0, 0.0, 200.0)
    scene.taffeta.substeps_preview = 9
    live = play(scene, [5])
    assert live.order.settings.substeps == 9 and live.state.v[:, 2].mean() > fast + 3.0


def test_what_cannot_be_read_is_told_and_the_rest_goes_on(shot):
    scene, sheet = shot
    simulation.start(scene)
    cloth = play(scene, range(2, 5)).cloth
    mapped = sheet.taffeta_cloth.mass
    mapped.source = "GROUP"
    live = play(scene, [5, 6])
    assert live.error == "" and live.cloth is cloth and "no vertex group is chosen" in live.trouble
    sheet.taffeta_cloth.thickness.value = 0.01
    assert "no vertex group is chosen" in play(scene, [7]).trouble
    mapped.vertex_group = "Some"
    live = play(scene, [8])
    assert live.trouble == "" and live.cloth.thickness[0] == pytest.approx(0.01)
    scene.taffeta.collider_source = "COLLECTION"
    assert "none is chosen" in play(scene, [9]).trouble and live.error == ""


def test_a_garment_that_comes_or_goes_ends_it_with_a_sentence(shot, make):
    scene, sheet = shot
    simulation.start(scene)
    play(scene, range(2, 5))
    make.cloth(make.grid("Coat", location=(0, 0, 0.6)))
    assert play(scene, [5]).error == "Coat became cloth; begin again"
    simulation.end()
    simulation.start(scene)
    bpy.data.objects["Coat"].taffeta_cloth.enabled = False
    assert play(scene, [6]).error == "Coat is no cloth any more; begin again"


def test_at_the_timelines_end_the_cloth_begins_anew_or_goes_on(shot, make):
    scene, sheet = shot
    scene.frame_end = 8
    session = bpy.context.window_manager.taffeta
    simulation.start(scene)
    play(scene, range(2, 9))
    assert session.live_end == "ANEW"
    scene.frame_set(1)
    assert np.allclose(make.world(sheet)[:, 2], 0.34, atol=1e-6)
    session.live_end = "GO_ON"
    try:
        before = play(scene, range(2, 9)).state.x.copy()
        live = play(scene, [2])
        assert live.state.x[:, 2].min() < before[:, 2].min() < 0.1
        play(scene, [3, 2])  # a jump of any other kind
        assert np.allclose(make.world(sheet)[:, 2], 0.34, atol=1e-6)
    finally:
        session.live_end = "ANEW"
