# SPDX-License-Identifier: GPL-3.0-or-later
"""A second rest shape that is keyed, and cloth that keeps how it was bent, in bakes."""

import bpy
import numpy as np
import pytest
from taffeta.operators.checks import fingerprint
from taffeta.operators.read import rest
from taffeta.panels.properties import ANIMATED

LAST = 24


@pytest.fixture
def strip(saved, make):
    """Two squares of 0.1 m side by side, without gravity, with a shape key in which the right one stands up."""
    saved.use_gravity = False
    saved.frame_start, saved.frame_end = 1, LAST
    x = np.array([(0.1 * i, 0.1 * j, 0.0) for i in range(3) for j in range(2)])
    obj = make.cloth(make.mesh("Strip", x, [(0, 2, 3, 1), (2, 4, 5, 3)]), bending_stiffness=1e-3, damping=20.0)
    obj.taffeta_cloth.self_collision = False
    obj.shape_key_add(name="Basis")
    key = obj.shape_key_add(name="Up")
    for index in (4, 5):
        key.data[index].co = (0.1, 0.1 * (index - 4), 0.1)
    return obj, key


def keyed_blend(key, *points):
    for frame, value in points:
        key.value = value
        key.keyframe_insert("value", frame=frame)


def angle(make, obj, frame):
    """Degrees between the two squares."""
    bpy.context.scene.frame_set(frame)
    x = make.world(obj)
    one, two = x[2] - x[0], x[4] - x[2]
    return np.degrees(np.arccos(np.dot(one, two) / np.linalg.norm(one) / np.linalg.norm(two)))


def test_a_keyed_shape_is_striven_for_and_left_again(strip, make):
    obj, key = strip
    key.mute = True  # so that nothing but the rest shape follows
    obj.taffeta_cloth.rest.key = "Up"
    keyed_blend(key, (1, 0.0), (6, 1.0), (14, 1.0), (16, 0.0))
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    assert angle(make, obj, 1) == pytest.approx(0.0, abs=0.1)
    assert angle(make, obj, 14) == pytest.approx(90.0, abs=5.0)
    assert angle(make, obj, LAST) == pytest.approx(0.0, abs=10.0)


def test_a_missing_shape_key_is_told(strip):
    obj, _ = strip
    obj.taffeta_cloth.rest.key = "Gone"
    with pytest.raises(RuntimeError, match="Strip: there is no shape key 'Gone' for its second rest shape"):
        bpy.ops.taffeta.bake()


def test_what_a_key_bends_stays_where_it_may_and_a_bake_goes_on_as_it_was(strip, make):
    """Pinned, the pose bends it by 90 degrees and lets go: with a yield of 30, 60 stay; elastic, none do."""
    obj, key = strip
    keyed_blend(key, (1, 0.0), (4, 1.0))
    pin = obj.taffeta_cloth.pin
    for frame, value in ((8, 1.0), (9, 0.0)):
        pin.value = value
        pin.keyframe_insert("value", frame=frame)
    before = fingerprint.take(obj, bpy.context.scene, [])
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    assert angle(make, obj, LAST) < 10.0
    obj.taffeta_cloth.rest.bend_rate, obj.taffeta_cloth.rest.bend_yield = 60.0, np.radians(30.0)
    after = fingerprint.take(obj, bpy.context.scene, [])
    assert [word for word in after if after[word] != before[word]] == ["Plasticity"]
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    assert angle(make, obj, LAST) == pytest.approx(60.0, abs=6.0)
    bpy.context.scene.frame_set(LAST)
    whole = make.world(obj)
    assert bpy.ops.taffeta.bake(from_frame=12) == {"FINISHED"}
    bpy.context.scene.frame_set(LAST)
    np.testing.assert_array_equal(make.world(obj), whole)


def test_the_numbers_may_be_keyed(strip):
    obj, _ = strip
    assert set(rest.NUMBERS) <= ANIMATED
    assert not rest.yields(obj)
    obj.taffeta_cloth.rest.keyframe_insert("bend_rate", frame=1)
    assert rest.yields(obj)
