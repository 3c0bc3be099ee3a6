# SPDX-License-Identifier: GPL-3.0-or-later
"""Preflight tells where the modifier that plays a bake was changed by hand, and not of what Taffeta or keys make of it."""

import bpy
import pytest
from taffeta.operators.checks.played_rows import played_otherwise
from taffeta.operators.playback import cache_modifier
from taffeta.operators.read.modifier_stack import find_cache


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("show_render", False, ("camera icon of Taffeta Cache is off",)),
        ("factor", 0.5, ("Influence of Taffeta Cache is 0.5", "with 1")),
        ("frame_start", 3.0, ("Frame Start of Taffeta Cache is 3", "with 1")),
        ("frame_scale", 2.0, ("Frame Scale of Taffeta Cache is 2", "with 1")),
    ],
)
def test_a_setting_of_the_cache_that_was_changed(shot, found, only, baked, name, value, words):
    obj = baked()
    setattr(find_cache(obj), name, value)
    only("WARNING", "Cloth", *words)
    assert "press Resume" in found()[0].remedy
    cache_modifier.attach(obj, cache_modifier.cache_file(obj), 1)  # as Resume does
    assert found() == []


def test_a_cache_above_the_armature(shot, only, cloth, baked):
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    shot.collection.objects.link(rig)
    bpy.context.view_layer.update()
    cloth().modifiers.new("Armature", "ARMATURE").object = rig
    obj = baked()
    assert [modifier.name for modifier in obj.modifiers] == ["Armature", "Taffeta Cache"]
    obj.modifiers.move(1, 0)
    only("WARNING", "Cloth", "Armature stands behind Taffeta Cache")
    obj.modifiers["Armature"].show_viewport = obj.modifiers["Armature"].show_render = False
    assert not list(played_otherwise(obj)), "one that is off moves nothing"


def test_what_is_as_it_should_be(shot, found, baked):
    """A bake that viewports do not show, keys, and what refines the cloth behind it."""
    obj = baked()
    for name in ("factor", "show_render"):
        obj.keyframe_insert(find_cache(obj).path_from_id(name), frame=1)
    find_cache(obj).factor, find_cache(obj).show_render = 0.5, False
    obj.modifiers.new("Solidify", "SOLIDIFY")
    obj.modifiers.new("Smooth", "CORRECTIVE_SMOOTH")
    assert not list(played_otherwise(obj))
    cache_modifier.show_bake(obj, False)
    assert not list(played_otherwise(obj))
