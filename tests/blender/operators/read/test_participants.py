# SPDX-License-Identifier: GPL-3.0-or-later
"""Which objects take part in a bake."""

import bpy
import pytest
from taffeta.operators.read import participants


def test_colliders_are_all_or_those_of_a_collection(scene, make):
    obj = make.collider(make.cloth(make.grid(count=3)))
    body, ground = make.collider(make.ball()), make.collider(make.grid("Ground", count=2))
    make.ball("Idle")
    assert participants.colliders_of(scene, [obj]) == [body, ground], "a garment of the bake is no body"
    chosen = bpy.data.collections.new("Chosen")
    chosen.objects.link(ground)
    scene.taffeta.collider_source = "COLLECTION"
    with pytest.raises(ValueError, match="none is chosen"):
        participants.colliders_of(scene, [obj])
    scene.taffeta.collider_collection = chosen
    assert participants.colliders_of(scene, [obj]) == [ground]
