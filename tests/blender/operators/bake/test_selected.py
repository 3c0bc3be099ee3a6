# SPDX-License-Identifier: GPL-3.0-or-later
"""Garments that are baked over one that keeps its bake: it is a collider of theirs, or the bake says that they go through it."""

import bpy
import pytest
from seen import choose
from taffeta.operators.bake.order import read_order
from taffeta.operators.checks import problem_list
from taffeta.operators.playback import cache_modifier
from taffeta.solver.cache import names

LAST = 14


@pytest.fixture
def under(saved, make):
    """A tight sheet that is held at its rim and baked; another one above it, which is not."""
    saved.frame_end = LAST
    count = 17
    obj = make.cloth(make.grid("Under", count=count))
    rim = [i for i in range(count**2) if i % count in (0, count - 1) or i // count in (0, count - 1)]
    obj.vertex_groups.new(name="Pin").add(rim, 1.0, "REPLACE")
    obj.taffeta_cloth.pin.source, obj.taffeta_cloth.pin.vertex_group = "GROUP", "Pin"
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    make.cloth(make.grid("Over", count=11, size=0.5, location=(0, 0, 0.15)))
    return obj


def over():
    return bpy.data.objects["Over"]


def bits(obj):
    return [part.read_bytes() for part in names.parts(cache_modifier.played(obj))]


def bake_over():
    choose(over())
    assert bpy.ops.taffeta.bake(selected=True) == {"FINISHED"}
    bpy.context.scene.frame_set(LAST)


def height(make, obj):
    return make.world(obj)[:, 2].mean()


def test_what_goes_through_cloth_that_is_left_out_is_told(under, make, capfd):
    bake_over()
    assert height(make, over()) < -0.3
    told = "Over will go through what is left out, Under: select both, or keep the bake of Under and add a Taffeta Collider"
    assert capfd.readouterr().out.count(told) == 1
    over().location.x = 3.0
    bake_over()
    assert "left out" not in capfd.readouterr().out, "it is elsewhere"
    over().location.x = 0.0
    over().taffeta_cloth.collision_collection = bpy.data.collections.new("Nobody")
    bake_over()
    assert "left out" not in capfd.readouterr().out, "it is not to meet it"


def test_cloth_lies_on_a_garment_that_keeps_its_bake(under, make, capfd):
    before = bits(under)
    choose(under)
    assert bpy.ops.taffeta.collider_add() == {"FINISHED"}
    assert under.taffeta_cloth.enabled and under.taffeta_collider.enabled
    assert "Under is a collider, too, of cloth that Bake Selected Only bakes without it" in capfd.readouterr().out
    bake_over()
    assert "left out" not in capfd.readouterr().out
    assert (make.world(over())[:, 2] > make.world(under)[:, 2].min()).all() and height(make, over()) < 0.1
    assert bits(under) == before
    found = [(p.severity, p.sentence) for p in problem_list.latest(bpy.context.scene) if p.object in ("Under", "Over")]
    collider = "Under is a collider, too: only of cloth that Bake Selected Only bakes without it"
    assert ("INFO", collider) in found and not [words for _, words in found if "before you changed" in words]


def test_what_is_cloth_and_collider_is_counted_once(under):
    scene = bpy.context.scene
    expected = [bpy.ops.taffeta.bake() and bits(obj) for obj in (under, over())]
    choose(under)
    bpy.ops.taffeta.collider_add()
    order = read_order(scene)
    assert [garment.name for garment in order.garments] == ["Over", "Under"] and not order.bodies
    assert [bpy.ops.taffeta.bake() and bits(obj) for obj in (under, over())] == expected


def test_a_garment_that_is_not_to_meet_the_other_is_no_body_to_it(under):
    choose(under)
    bpy.ops.taffeta.collider_add()
    under.taffeta_cloth.collision_collection = bpy.data.collections.new("Nobody")
    (body,) = read_order(bpy.context.scene, only=["Over"]).bodies
    assert body.meets == (False,)


def test_a_cloth_without_a_bake_is_no_collider(under):
    choose(over())
    assert not bpy.ops.taffeta.collider_add.poll()
    choose(under)
    assert bpy.ops.taffeta.collider_add.poll()
    cache_modifier.forget_bake(under)
    assert not bpy.ops.taffeta.collider_add.poll()
