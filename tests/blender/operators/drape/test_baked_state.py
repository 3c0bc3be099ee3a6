# SPDX-License-Identifier: GPL-3.0-or-later
"""A drape that begins at a frame of a bake: what is torn and broken there stays so; and a torn pose that was kept begins torn."""

import bpy
import numpy as np
import pytest
from edit_mode import select
from taffeta.operators.checks import problem_list
from taffeta.operators.drape import session
from taffeta.operators.live import simulation

COUNT, SIDE, LAST = 7, 0.24, 12


@pytest.fixture
def torn(saved, make):
    """A sheet whose right side is pinned and whose left one hangs on a ball, baked: it tears along its middle, and off the ball."""
    obj = make.cloth(make.grid("Strip", COUNT, SIDE), thickness=1e-3)
    x = np.array([vertex.co for vertex in obj.data.vertices])
    for name, side in (("held", x[:, 0] > 0.49 * SIDE), ("hung", x[:, 0] < -0.49 * SIDE)):
        obj.vertex_groups.new(name=name).add(np.flatnonzero(side).tolist(), 1.0, "REPLACE")
    obj.taffeta_cloth.pin.source, obj.taffeta_cloth.pin.vertex_group = "GROUP", "held"
    obj.taffeta_cloth.rest.stretch_rate, obj.taffeta_cloth.rest.stretch_yield = 5.0, 0.01
    ball = make.collider(make.ball("Hand", radius=0.03, location=(-0.2, 0.0, 0.0)))
    saved.frame_end = LAST
    bpy.context.view_layer.objects.active = obj
    select(obj, lambda a, b: abs(a.x) < 1e-6 and abs(b.x) < 1e-6)
    bpy.ops.taffeta.tear_mark(strength=60.0)
    bpy.ops.object.mode_set(mode="OBJECT")
    assert bpy.ops.taffeta.attach(
        object="Strip", body="Hand", vertices="GROUP", group="hung", stiffness=500.0, breaking_force=4.0
    ) == {"FINISHED"}
    for frame, way in ((1, 0.0), (6, -0.05), (8, -0.3)):
        ball.location.x = -0.2 + way
        ball.keyframe_insert("location", frame=frame)
    entry = obj.taffeta_cloth.attachments[0]
    for frame, force in ((7, 4.0), (8, 1e-3), (LAST - 2, 1e-3), (LAST - 1, 1e6)):
        entry.breaking_force = force
        entry.keyframe_insert("breaking_force", frame=frame)
    saved.frame_set(1)
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    yield saved, obj
    session.end()
    simulation.end()


def halves(make, obj):
    """Whether the two halves are apart along the whole line in this frame, by over a millimetre."""
    x, rest = make.world(obj), np.array([vertex.co for vertex in obj.data.vertices])
    line = np.flatnonzero(np.abs(rest[:, 0]) < 1e-6)
    order = line[np.argsort(rest[line, 1], kind="stable")].reshape(-1, 2)
    return (np.linalg.norm(x[order[:, 0]] - x[order[:, 1]], axis=1) > 1e-3).all()


def test_what_is_torn_and_torn_off_in_a_frame_stays_so(torn, make):
    scene, obj = torn
    scene.frame_set(LAST)
    shown = make.world(obj)
    assert halves(make, obj) and shown[::COUNT, 2].max() < -0.03, (
        "the half that hung is torn off on both sides, and falls"
    )
    drape = session.start(scene)
    assert np.array_equal(make.world(obj), shown)
    for _ in range(2):
        assert drape.step(scene), drape.trouble
    assert np.abs(make.world(obj) - shown).max() < 0.03 and halves(make, obj)


def test_a_torn_pose_that_is_kept_begins_torn(torn, make):
    scene, obj = torn
    scene.frame_set(LAST)
    assert bpy.ops.taffeta.drape(steps=2) == {"FINISHED"}
    assert bpy.ops.taffeta.drape_keep(result="KEY") == {"FINISHED"}
    scene.frame_start, scene.frame_end = LAST, LAST + 2
    kept = make.world(obj)
    told = [problem.sentence for problem in problem_list.check_thoroughly(scene) if "tear lines" in problem.sentence]
    assert told == ["Strip begins torn at 7 places of its tear lines: its pose holds them apart"]
    bpy.ops.taffeta.detach(object="Strip")
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    scene.frame_set(LAST + 1)
    assert np.abs(make.world(obj) - kept).max() < 0.03 and halves(make, obj)
    scene.frame_set(LAST)
    simulation.start(scene)
    scene.frame_set(LAST + 1)
    assert simulation.running().error == "" and np.abs(make.world(obj) - kept).max() < 0.03 and halves(make, obj)
