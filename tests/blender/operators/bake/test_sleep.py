# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth that has come to rest in a bake, and what an animator wakes it with."""

import bpy
import numpy as np
import pytest

LAST = 70


@pytest.fixture
def cloth(saved, make):
    """A sheet that lies on a ball after a second and some."""
    saved.frame_start, saved.frame_end = 1, LAST
    make.collider(make.ball(radius=0.4, rings=8, segments=16))
    obj = make.cloth(make.grid(count=7, size=0.4, location=(0.0, 0.0, 0.42)))
    bpy.context.view_layer.update()
    return obj


def bake(make, obj):
    """(f, n, 3) [m] where its vertices are in each frame of a bake."""
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    frames = []
    for frame in range(1, LAST + 1):
        bpy.context.scene.frame_set(frame)
        frames.append(make.world(obj))
    return np.array(frames)


def rests(places):
    """The frames in which nothing has moved since the frame before."""
    return [k + 1 for k in range(1, len(places)) if np.array_equal(places[k], places[k - 1])]


def test_cloth_comes_to_rest_unless_told_not_to(saved, cloth, make):
    found = rests(bake(make, cloth))
    assert found and found == list(range(found[0], LAST + 1))
    saved.taffeta.sleep_speed = 0.0
    assert not rests(bake(make, cloth))


def test_a_body_with_keys_and_one_that_collides_no_more_wake_it(saved, cloth, make):
    body = bpy.data.objects["Body"]
    for frame, height in ((1, 0.0), (60, 0.0), (63, 0.1)):
        body.location.z = height
        body.keyframe_insert("location", frame=frame)
    lifted = bake(make, cloth)
    assert rests(lifted)[-1] == 60
    assert lifted[62, :, 2].mean() - lifted[59, :, 2].mean() > 0.08
    body.animation_data_clear()
    body.location.z = 0.0
    for frame, collides in ((1, True), (60, False)):
        body.taffeta_collider.collides = collides
        body.taffeta_collider.keyframe_insert("collides", frame=frame)
    let_fall = bake(make, cloth)
    assert rests(let_fall)[-1] in (59, 60)
    assert let_fall[-1, :, 2].max() < let_fall[58, :, 2].min()


def test_gravity_and_wind_with_keys_wake_it(saved, cloth, make):
    for frame, pull in ((60, -9.81), (61, 9.81)):
        saved.gravity[2] = pull
        saved.keyframe_insert("gravity", frame=frame)
    flung = bake(make, cloth)
    assert rests(flung)[-1] == 60
    assert flung[-1, :, 2].min() > flung[59, :, 2].max()
    saved.animation_data_clear()
    saved.gravity[2] = -9.81
    for frame, speed in ((60, 0.0), (61, 8.0)):
        saved.taffeta.wind[0] = speed
        saved.taffeta.keyframe_insert("wind", frame=frame)
    blown = bake(make, cloth)
    assert blown[-1, :, 0].mean() > blown[59, :, 0].mean() + 0.1
