# SPDX-License-Identifier: GPL-3.0-or-later
"""Garments whose pose at the start strains them."""

import bpy
import pytest


@pytest.fixture
def told(shot):
    """told(): sentences of Check Before Baking that tell of a start that is strained."""

    def look():
        assert bpy.ops.taffeta.preflight() == {"FINISHED"}
        return [one.sentence for one in bpy.context.window_manager.taffeta.problems if "at rest" in one.sentence]

    return look


def squeeze(obj, factor):
    """A shape key at 1 that makes the half of a mesh where x > 0 narrower."""
    obj.shape_key_add(name="Basis")
    key = obj.shape_key_add(name="Squeezed")
    for point in key.data:
        point.co.x *= factor if point.co.x > 0.0 else 1.0
    key.value = 1.0
    return key


def test_a_start_that_squeezes_cloth_is_told(told, cloth):
    key = squeeze(cloth(), 0.7)
    assert told() == [
        "Cloth starts with 36 edges that are over a tenth shorter or longer than at rest, one by 30 %: it jumps in the first frames"
    ]
    key.value = 0.1
    assert told() == []


def test_a_start_that_is_bent_or_relaxes_before_the_shot_is_not(told, shot, cloth):
    squeeze(cloth(), 0.7)
    shot.taffeta.preroll = 5
    assert told() == []
    shot.taffeta.preroll = 0
    key = cloth().data.shape_keys.key_blocks["Squeezed"]
    for point, at_rest in zip(key.data, cloth().data.vertices, strict=True):
        point.co = at_rest.co
        if at_rest.co.x > 0.0:
            point.co.x, point.co.z = 0.0, at_rest.co.x
    assert told() == []


@pytest.mark.parametrize("name", ["sewing", "shrink", "pinned"])
def test_what_is_meant_to_be_drawn_together_is_not(told, cloth, name):
    obj = cloth()
    squeeze(obj, 0.7)
    if name == "sewing":
        obj.taffeta_cloth.sewing = True
    elif name == "shrink":
        obj.taffeta_cloth.shrink.value = 0.1
    else:
        obj.taffeta_cloth.pin.value = 1.0
    assert told() == []
