# SPDX-License-Identifier: GPL-3.0-or-later
"""What moves an object, however many hands lie between."""

import bpy
import pytest
from taffeta.operators.read.keyed import is_animated


def rig(name):
    """An armature of one bone, `Bone`."""
    obj = bpy.data.objects.new(name, bpy.data.armatures.new(name))
    bpy.context.scene.collection.objects.link(obj)
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode="EDIT")
    obj.data.edit_bones.new("Bone").tail = (0, 0, 1)
    bpy.ops.object.mode_set(mode="OBJECT")
    return obj


@pytest.mark.parametrize("how", ["modifier", "bone"])
def test_a_rig_whose_bones_follow_another(scene, make, how):
    """As in characters made for games: no key lies on the rig that the body hangs on."""
    body, led, leading = make.ball(), rig("Led"), rig("Leading")
    if how == "modifier":
        body.modifiers.new("Rig", "ARMATURE").object = led
    else:
        body.parent, body.parent_type, body.parent_bone = led, "BONE", "Bone"
    constraint = led.pose.bones["Bone"].constraints.new("COPY_TRANSFORMS")
    constraint.target, constraint.subtarget = leading, "Bone"
    assert not is_animated(body)
    leading.pose.bones["Bone"].keyframe_insert("rotation_quaternion", frame=1)
    assert is_animated(body)
    constraint.mute = True
    assert not is_animated(body)


def test_rigs_that_look_at_each_other(scene, make):
    one, other = make.ball("One"), make.ball("Other")
    for obj, target in ((one, other), (other, one)):
        obj.modifiers.new("Wrap", "SHRINKWRAP").target = target
    assert not is_animated(one)
    other.keyframe_insert("location", frame=1)
    assert is_animated(one)


def test_shape_keys_of_a_lattice(scene, make):
    body, lattice = make.ball(), bpy.data.objects.new("Lattice", bpy.data.lattices.new("Lattice"))
    scene.collection.objects.link(lattice)
    body.modifiers.new("Lattice", "LATTICE").object = lattice
    lattice.shape_key_add(name="Basis")
    key = lattice.shape_key_add(name="Bent")
    assert not is_animated(body)
    key.keyframe_insert("value", frame=1)
    assert is_animated(body)
