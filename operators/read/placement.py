# SPDX-License-Identifier: GPL-3.0-or-later
"""Where objects stand and how they are posed without keys: what a bake saw of it, the same at each frame.

What keys or drivers write is left out, because Blender writes the values of the current frame there.
"""

import re
import zlib
from collections.abc import Iterable

import bpy
import numpy as np

from .carriers import hung_on, looked_at
from .measures import curve_sum, lattice_sum, mesh_sums, written_paths
from .modifier_stack import before_simulation

PLACE, POSE, SHAPE, SHAPE_KEYS, MODIFIERS = "PLACE", "POSE", "SHAPE", "SHAPE_KEYS", "MODIFIERS"
POINTS = "splines", "points", "vertices"  # how the paths of what makes a shape begin
SHAPES = {"MESH": mesh_sums, "LATTICE": lattice_sum, "CURVE": curve_sum, "SURFACE": curve_sum}  # of what has one
CHANNELS = "location", "rotation_quaternion", "rotation_euler", "rotation_axis_angle", "scale"
DELTAS = "delta_location", "delta_rotation_quaternion", "delta_rotation_euler", "delta_scale"
PLAIN = frozenset(("BOOLEAN", "INT", "FLOAT", "ENUM"))
SHOWN_ONLY = re.compile(r"name|show_|is_|use_pin_to_last|use_apply_on_spline|open_|execution_time|persistent_uid")
BONE = re.compile(r'pose\.bones\["((?:[^"\\]|\\.)*)"\]\.(\w+)$')


def prints(objects: Iterable[bpy.types.Object]) -> dict[tuple[str, str], list]:
    """What says where these objects, and all that they hang on, stand, by what that is and the object's name. Of what modifiers look
    at, and is none of them, also its shape.
    """
    objects, found = list(objects), {}
    for obj in looked_at(objects):
        if obj not in objects and obj.type in SHAPES:
            is_keyed = any(path.startswith(POINTS) for path in written_paths(obj.data))
            found[SHAPE, obj.name] = None if is_keyed else SHAPES[obj.type](obj.data)
    for obj in hung_on(objects):
        by_keys = written_paths(obj)
        found[PLACE, obj.name] = _place(obj, by_keys)
        if obj.type == "ARMATURE":
            found[POSE, obj.name] = _pose(obj, by_keys)
        if obj.type == "MESH":
            found[SHAPE_KEYS, obj.name] = _shape_keys(obj)
            found[MODIFIERS, obj.name] = [
                _settings(modifier, by_keys) for modifier in before_simulation(obj) if modifier.show_viewport
            ]
    return found


def _place(obj, by_keys) -> list:
    """An object's own transform and what of its parent's counts; none of it where rigid bodies move it."""
    if obj.rigid_body is not None and obj.rigid_body.type == "ACTIVE":
        return []
    rotation = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}.get(
        obj.rotation_mode, "rotation_euler"
    )
    names = ("location", rotation, "scale", *DELTAS)
    values = [None if name in by_keys else [round(value, 6) for value in getattr(obj, name)] for name in names]
    mode = None if "rotation_mode" in by_keys else obj.rotation_mode
    parent = obj.parent and [obj.parent_type, [round(value, 6) for row in obj.matrix_parent_inverse for value in row]]
    return [values, mode, parent, _constraints(obj, "", by_keys)]


def _constraints(owner, path, by_keys) -> list:
    """Constraints of an object or a bone at this data path."""
    found = []
    for constraint in owner.constraints:
        own = f'{path}constraints["{bpy.utils.escape_identifier(constraint.name)}"].'
        values = [None if own + name in by_keys else getattr(constraint, name) for name in ("mute", "influence")]
        found.append([constraint.type, getattr(constraint, "target", None) is not None, *values])
    return found


def _pose(obj, by_keys) -> list:
    """Checksums of the channels of an armature's bones, and whether it shows its rest pose."""
    bones, found = obj.pose.bones, []
    index = {bone.name: number for number, bone in enumerate(bones)}
    told = [(match[1], match[2]) for match in map(BONE.match, by_keys) if match]
    for name in CHANNELS:
        width = 3 if name in ("location", "rotation_euler", "scale") else 4
        values = np.empty(len(bones) * width, np.float32)
        bones.foreach_get(name, values)
        rows = [index.get(bpy.utils.unescape_identifier(bone)) for bone, channel in told if channel == name]
        values.reshape(-1, width)[[row for row in rows if row is not None]] = 0.0
        found.append(zlib.crc32(values + 0.0))  # -0 is 0
    held = [
        _constraints(bone, f'pose.bones["{bpy.utils.escape_identifier(bone.name)}"].', by_keys)
        for bone in bones
        if len(bone.constraints)
    ]
    return [found, held, None if "pose_position" in written_paths(obj.data) else obj.data.pose_position]


def _shape_keys(obj) -> list:
    """Values of the shape keys that no key writes and that are not 0."""
    keys = obj.data.shape_keys
    if keys is None:
        return []
    by_keys = written_paths(keys)
    blocks = [block for block in keys.key_blocks if block != keys.reference_key and not block.mute]
    paths = [f'key_blocks["{bpy.utils.escape_identifier(block.name)}"].value' for block in blocks]
    values = [0.0 if path in by_keys else block.value for block, path in zip(blocks, paths, strict=True)]
    return [round(value, 6) for value in values if value]


def _settings(modifier, by_keys) -> list:
    """A modifier's kind, and what of its plain settings is not as in a new one and no key writes."""
    path = f'modifiers["{bpy.utils.escape_identifier(modifier.name)}"].'
    found = []
    for prop in modifier.bl_rna.properties:
        name = prop.identifier
        if prop.type not in PLAIN or prop.is_readonly or SHOWN_ONLY.match(name) or path + name in by_keys:
            continue
        value = getattr(modifier, name)
        if getattr(prop, "is_array", False):
            found.append([name, [round(float(part), 6) for part in np.ravel(value)]])
        elif isinstance(value, set):
            found.append([name, sorted(value)])
        elif value != prop.default:
            found.append([name, round(value, 6) if isinstance(value, float) else value])
    return [modifier.type, found]
