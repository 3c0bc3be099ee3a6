# SPDX-License-Identifier: GPL-3.0-or-later
"""Where objects stand and how they are posed without keys: what a bake saw of it, the same at each frame.

What keys or drivers write is left out, because Blender writes the values of the current frame there.
"""

import re
import zlib
from collections.abc import Iterable

import bpy
import numpy as np

from .carriers import hung_on, looked_at, node_inputs
from .measures import curve_sum, keys_sums, lattice_sum, mesh_sums, written_paths
from .modifier_stack import before_simulation

PLACE, POSE, SHAPE, SHAPE_KEYS, MODIFIERS = "PLACE", "POSE", "SHAPE", "SHAPE_KEYS", "MODIFIERS"
BONES, KEY_SHAPES, INPUTS = "BONES", "KEY_SHAPES", "INPUTS"
POINTS = "splines", "points", "vertices"  # how the paths of what makes a shape begin
SHAPES = {"MESH": mesh_sums, "LATTICE": lattice_sum, "CURVE": curve_sum, "SURFACE": curve_sum}  # of what has one
CHANNELS = "location", "rotation_quaternion", "rotation_euler", "rotation_axis_angle", "scale"
DELTAS = "delta_location", "delta_rotation_quaternion", "delta_rotation_euler", "delta_scale"
BONE_PARTS = (
    ("matrix_local", 16, np.float32),
    ("length", 1, np.float32),
    ("envelope_distance", 1, np.float32),
    ("bbone_segments", 1, np.int32),
    ("inherit_scale", 1, np.int32),
    ("use_deform", 1, bool),
    ("use_inherit_rotation", 1, bool),
    ("use_local_location", 1, bool),
)
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
            found[BONES, obj.name] = _bones(obj.data)
        if obj.type == "MESH":
            found[SHAPE_KEYS, obj.name] = _shape_keys(obj)
            found[KEY_SHAPES, obj.name] = _key_shapes(obj)
            shown = [modifier for modifier in before_simulation(obj) if modifier.show_viewport]
            found[MODIFIERS, obj.name] = [_settings(modifier, by_keys) for modifier in shown]
            found[INPUTS, obj.name] = [_inputs(modifier, by_keys) for modifier in shown if modifier.type == "NODES"]
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


def _key_shapes(obj) -> list:
    """How the shape keys that are not at rest are sculpted and applied, and which one is shown alone."""
    keys = obj.data.shape_keys
    if keys is None:
        return []
    by_keys, sums, blocks, found = written_paths(keys), keys_sums(obj.data), keys.key_blocks, []
    for block, checksum in zip(blocks, sums, strict=True):
        path = f'key_blocks["{bpy.utils.escape_identifier(block.name)}"].value'
        if not block.mute and block != keys.reference_key and (path in by_keys or block.value):
            relative = sums[list(blocks).index(block.relative_key)] if keys.use_relative else keys.use_relative
            found.append([checksum, relative, block.vertex_group])
    return [found, sums[obj.active_shape_key_index] if obj.show_only_shape_key else None]


def _bones(armature) -> list[int]:
    """Checksums of where the bones of an armature rest, and what they deform and inherit."""
    found = []
    for name, width, kind in BONE_PARTS:
        values = np.empty(len(armature.bones) * width, kind)
        armature.bones.foreach_get(name, values)
        found.append(zlib.crc32(values.round(6) + 0.0 if kind is np.float32 else values))
    return found


def _inputs(modifier, by_keys) -> list:
    """What stands in the inputs of Geometry Nodes where no key writes it: numbers, words, and names of what has no place."""
    own = f'modifiers["{bpy.utils.escape_identifier(modifier.name)}"]'
    keyed = [path for path in by_keys if path.startswith(own)]
    found = []
    for name, value in node_inputs(modifier):
        if any(re.search(rf"\b{name}\b", path.removeprefix(own)) for path in keyed):
            continue
        if isinstance(value, (bpy.types.Object, bpy.types.Collection)):
            value = True  # what is in it is told by itself, whatever it is called
        elif isinstance(value, bpy.types.ID):
            value = value.name_full
        elif hasattr(value, "__len__") and not isinstance(value, str):
            value = [round(float(part), 6) for part in value]
        if value:  # which of the others there are is Blender's business
            found.append([name, value])
    return sorted(found)


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
