# SPDX-License-Identifier: GPL-3.0-or-later
"""The mannequin in Blender: a skinned mesh and its armature, made from the numbers in `figure`."""

import bpy
import numpy as np
from mathutils import Matrix, Vector

from . import figure, materials


def add(context, collection, shape=None):
    """Add the mannequin at rest to a collection of the scene; return (mesh object, armature object).

    `shape` is what `figure.mesh` returns, if it is to be a coarser one.

    Raises RuntimeError, naming the vertices, when automatic weights leave some of them without a bone.
    """
    points, triangles = shape or figure.mesh()
    rig = _armature(context, collection)
    mesh = bpy.data.meshes.new("Mannequin")
    mesh.from_pydata(points.tolist(), [], triangles.tolist())
    mesh.shade_smooth()
    mesh.materials.append(materials.porcelain())
    body = bpy.data.objects.new("Mannequin", mesh)
    collection.objects.link(body)
    _bind(context, body, rig)
    return body, rig


def _armature(context, collection):
    data = bpy.data.armatures.new("Mannequin Rig")
    rig = bpy.data.objects.new("Mannequin Rig", data)
    collection.objects.link(rig)
    rig.show_in_front = True
    data.display_type = "STICK"
    _select(context, rig)
    bpy.ops.object.mode_set(mode="EDIT")
    for name, joint in figure.skeleton().items():
        bone = data.edit_bones.new(name)
        bone.head, bone.tail = joint.head, joint.tail
        bone.align_roll(Vector((0.0, -1.0, 0.0)) if abs(bone.vector.normalized().y) < 0.7 else Vector((0.0, 0.0, 1.0)))
        if joint.parent:
            bone.parent = data.edit_bones[joint.parent]
            bone.use_connect = bool(np.allclose(data.edit_bones[joint.parent].tail, joint.head, atol=1e-6))
    bpy.ops.object.mode_set(mode="OBJECT")
    return rig


def _select(context, active, *others):
    for obj in context.view_layer.objects:
        obj.select_set(obj == active or obj in others)
    context.view_layer.objects.active = active


def _bind(context, body, rig):
    """Parent the body to the rig with Blender's automatic (bone heat) weights and check that all of it is held."""
    # The heat solver gives up on triangles of a few square millimetres: show it a giant.
    rig.scale = body.scale = (10.0, 10.0, 10.0)
    context.view_layer.update()
    _select(context, rig, body)
    bpy.ops.object.parent_set(type="ARMATURE_AUTO")
    rig.scale = body.scale = (1.0, 1.0, 1.0)
    body.matrix_parent_inverse = Matrix()
    context.view_layer.update()
    loose = sum(1 for v in body.data.vertices if sum(g.weight for g in v.groups) < 0.01)
    if loose:
        raise RuntimeError(f'"{body.name}": automatic weights left {loose} vertices without a bone.')
    _select(context, body)
