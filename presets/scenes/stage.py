# SPDX-License-Identifier: GPL-3.0-or-later
"""Ground, light and camera of the example scenes."""

from typing import NamedTuple

import bpy
from mathutils import Vector

from . import materials, sheet


class Example(NamedTuple):
    """What an example scene has made."""

    cloths: tuple  # garment objects
    colliders: tuple  # body objects, the ground included
    camera: object  # camera object
    frames: tuple[int, int]  # first and last frame


def ground(collection, size=40.0):
    """Add a tiled floor at z = 0, a collider too; return it."""
    half = size / 2.0
    mesh = bpy.data.meshes.new("Ground")
    mesh.from_pydata([(-half, -half, 0), (half, -half, 0), (half, half, 0), (-half, half, 0)], [], [(0, 1, 2, 3)])
    mesh.materials.append(materials.tiles())
    obj = bpy.data.objects.new("Ground", mesh)
    collection.objects.link(obj)
    return sheet.collide(obj, friction=0.6)


def light(context, collection):
    """Add a sun, a large soft key light's worth of sky, and leave the scene's own world alone if it has one."""
    sun = bpy.data.lights.new("Sun", "SUN")
    sun.energy, sun.angle, sun.color = 3.4, 0.12, (1.0, 0.94, 0.86)
    _aimed(collection, sun, Vector((2.5, -3.0, 4.5)), Vector((0.0, 0.0, 0.0)))
    if context.scene.world is None:
        world = bpy.data.worlds.new("Studio")
        world.use_nodes = True
        background = world.node_tree.nodes["Background"]
        background.inputs["Color"].default_value = (0.60, 0.68, 0.80, 1.0)
        background.inputs["Strength"].default_value = 0.75
        context.scene.world = world


def camera(context, collection, position, target, lens=60.0, way=None):
    """Add a camera that looks from position to target [m]; `way` is {frame: (x, y, z) shift [m]} to go along."""
    data = bpy.data.cameras.new("Taffeta Camera")
    data.lens, data.sensor_fit, data.sensor_width = lens, "AUTO", 36.0
    obj = _aimed(collection, data, Vector(position), Vector(target))
    if way:
        for frame, shift in way.items():
            obj.location = Vector(position) + Vector(shift)
            obj.keyframe_insert("location", frame=frame)
    if context.scene.camera is None:
        context.scene.camera = obj
    return obj


def furnish(context, collection, camera_at=(2.6, -3.2, 2.1), target=(0.0, 0.0, 0.52), lens=76.0):
    """Add ground, light and camera of the small examples; return (ground, camera)."""
    light(context, collection)
    return ground(collection), camera(context, collection, camera_at, target, lens)


def _aimed(collection, data, position, target):
    obj = bpy.data.objects.new(data.name, data)
    collection.objects.link(obj)
    obj.location = position
    obj.rotation_euler = (target - position).to_track_quat("-Z", "Y").to_euler()
    return obj
