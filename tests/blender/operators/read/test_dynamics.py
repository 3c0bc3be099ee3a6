# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that Blender's own dynamics move, looked at by a bake: where they are shown when the timeline plays, also between frames."""

import bpy
import numpy as np
import pytest
from taffeta.operators.bake.order import read_order
from taffeta.operators.bake.run import sampled_inputs
from taffeta.operators.read.sampling import posed
from taffeta.operators.work import baked

LAST = 6


def falling(scene, make, kind):
    """A sheet that turns fast, so that the bake looks between frames, beside a ball that falls by dynamics of this kind."""
    scene.frame_end = LAST
    cloth = make.cloth(make.grid(count=5, location=(3, 0, 0)))
    for frame, angle in ((1, 0.0), (LAST, 6.0)):
        cloth.rotation_euler.z = angle
        cloth.keyframe_insert("rotation_euler", frame=frame)
    ball = make.collider(make.ball(radius=0.2, rings=6, segments=8), aura=0.0005)
    if kind == "RIGID_BODY":
        bpy.context.view_layer.objects.active = ball
        bpy.ops.rigidbody.world_add()
        bpy.ops.rigidbody.object_add()
        ball.rotation_euler.x = 1.0
    elif kind == "NODES":
        ball.modifiers.new(kind, kind).node_group = falling_nodes()
    else:
        settings = ball.modifiers.new(kind, kind).settings
        if kind == "SOFT_BODY":
            settings.use_goal = False
    return cloth, ball


def falling_nodes():
    """A simulation that moves what it is given down by 1.2 m/s."""
    tree = bpy.data.node_groups.new("Fall", "GeometryNodeTree")
    for way in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=way, socket_type="NodeSocketGeometry")
    kinds = "NodeGroupInput", "GeometryNodeSimulationInput", "GeometryNodeSetPosition", "GeometryNodeSimulationOutput"
    given, begin, move, end, out = (tree.nodes.new(kind) for kind in (*kinds, "NodeGroupOutput"))
    begin.pair_with_output(end)
    scale = tree.nodes.new("ShaderNodeVectorMath")
    scale.operation, scale.inputs[0].default_value = "SCALE", (0.0, 0.0, -1.2)
    tree.links.new(begin.outputs["Delta Time"], scale.inputs["Scale"])
    tree.links.new(scale.outputs[0], move.inputs["Offset"])
    for before, after in ((given, begin), (begin, move), (move, end), (end, out)):
        tree.links.new(before.outputs.get("Geometry") or before.outputs[0], after.inputs["Geometry"])
    return tree


def sampled(scene, objects):
    """Heights of the body's lowest point in each frame, with the times between, as the window samples: frame by frame, and back."""
    order = read_order(scene)
    inputs, heights = sampled_inputs(order), []
    for _ in order.frames:
        with posed(scene, objects[:1], objects[1:]):
            heights.append(next(inputs).colliders[0].x[:, :, 2].min(1))
    return heights


def played(scene, make, ball):
    heights = []
    for frame in range(scene.frame_start, LAST + 1):
        scene.frame_set(frame)
        heights.append(make.world(ball)[:, 2].min())
    scene.frame_set(1)
    return heights


@pytest.mark.parametrize("kind", ["RIGID_BODY", "CLOTH", "SOFT_BODY", "NODES"])
def test_what_was_never_played_falls_between_frames_too(scene, make, kind):
    objects = falling(scene, make, kind)
    found = sampled(scene, objects)
    assert np.allclose([heights[-1] for heights in found], played(scene, make, objects[1]), atol=1e-4)
    for heights in found[2:]:  # from the first to the second frame Blender's cloth has nothing in between
        steps = np.diff(heights)
        assert (steps < 0.0).all() and steps.min() > 2.0 * steps.max()  # no standing still, and no jump
    assert all(np.array_equal(a, b) for a, b in zip(found, sampled(scene, objects), strict=True))


def test_a_bake_that_begins_late_meets_a_body_that_has_fallen(scene, make):
    objects = falling(scene, make, "RIGID_BODY")
    scene.frame_start = 4
    found = [heights[-1] for heights in sampled(scene, objects)]
    scene.frame_start = 1
    assert np.allclose(found, played(scene, make, objects[1])[3:], atol=1e-4)


def test_corrections_of_late_frames_meet_a_body_that_has_fallen(saved, make, tmp_path):
    cloth, ball = falling(saved, make, "RIGID_BODY")
    make.bake(cloth, tmp_path)
    reading = baked.read(saved, cloth, range(4, LAST + 1), 0.0)
    with pytest.raises(StopIteration) as end:
        while True:
            next(reading)
    found = end.value.value.bodies[0].x[:, :, 2].min(1)
    assert np.allclose(found, played(saved, make, ball)[3:], atol=1e-4)
