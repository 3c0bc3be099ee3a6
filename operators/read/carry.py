# SPDX-License-Identifier: GPL-3.0-or-later
"""What a cage has of its garment: vertex groups, shape keys, UV maps, attributes that maps read, the modifiers that carry the
garment, and what is keyed.

Each vertex of the cage has the mean, by barycentric weights, of the corners of the garment's triangle that it lies on; each
face has the pattern of the triangle below its middle, continued evenly, so that seams of the pattern mix nothing.
"""

import bpy
import numpy as np
from mathutils.bvhtree import BVHTree

from ...panels.mapped import MAPPED
from . import arrays
from .anchors import above
from .keyed import curves
from .maps import attribute_values
from .modifier_stack import RIGS, SHAPERS
from .remesh import Meshed
from .sheet import Sheet
from .subdivision import BOUND
from .write_back import set_corner_uv, set_key, set_numbers

COPIED = (RIGS | SHAPERS) - {
    "CLOTH",
    "SOFT_BODY",
    "MESH_CACHE",
    "MESH_SEQUENCE_CACHE",
}  # modifiers that a cage can have, too
FOLLOWED = "taffeta_cloth.", 'modifiers["'  # how the data paths begin that a cage follows
LEAST_WEIGHT = 1e-4  # in a vertex group: with less, a vertex is not in it


def refusal(modifier: bpy.types.Modifier) -> str:
    """Why a cage cannot have a modifier of its garment, "" where it can."""
    if modifier.type in BOUND and BOUND[modifier.type](modifier):
        return f"{modifier.name} knows single vertices"
    return "" if modifier.type in COPIED else f"{modifier.name} moves it by other means than a rig"


def carry(
    obj: bpy.types.Object,
    cage: bpy.types.Object,
    sheet: Sheet,
    made: Meshed,
    leader: bpy.types.Object | None = None,
) -> None:
    """Give a cage what its garment, or the cage before it, has. made : the cage's own mesh, placed as `sheet.x`

    leader : whose shape keys those of the cage follow; None: the garment's

    Raises
    ------
    ValueError
        A map of the garment cannot be read: a sentence.
    """
    triangle, foot = _below(sheet, made.x)
    corners = sheet.triangles[triangle]
    uv = above(foot, sheet.x, corners)[:, :2].clip(0.0, 1.0)
    weights = np.column_stack((1.0 - uv.sum(axis=1), uv))
    _groups(obj, cage, corners, weights)
    _keys(obj, cage, corners, weights, leader or obj)
    _attributes(obj, cage, corners, weights)
    _patterns(obj, cage, sheet, made.x, made.faces)


def _below(sheet, points):
    """The triangle of the sheet that is nearest to each point, (p,), and where on it that is, (p, 3)."""
    tree = BVHTree.FromPolygons(sheet.x.tolist(), sheet.triangles.tolist(), all_triangles=True)
    found = [tree.find_nearest(point) for point in points.tolist()]
    return np.array([hit[2] for hit in found], int), np.array([hit[0] for hit in found], float).reshape(-1, 3)


def _mix(values, corners, weights):
    """Values (n,) or (n, d) of the garment's vertices at places on its triangles."""
    return np.einsum("pk,pk...->p...", weights, values[corners])


def _groups(obj, cage, corners, weights):
    """All vertex groups, in their order, because modifiers and maps find them by name."""
    count, names = len(obj.data.vertices), [group.name for group in obj.vertex_groups]
    own = [cage.vertex_groups.new(name=name) for name in names]
    held = arrays.group_weights(obj.data)
    for index, group in enumerate(own):
        vertices, values = held.get(index, (np.zeros(0, int), np.zeros(0)))
        whole = np.zeros(count)
        whole[vertices] = values
        mixed = _mix(whole, corners, weights)
        for vertex in np.flatnonzero(mixed > LEAST_WEIGHT).tolist():
            group.add((vertex,), float(mixed[vertex]), "REPLACE")
    if names:
        cage.vertex_groups.active_index = obj.vertex_groups.active_index


def _keys(obj, cage, corners, weights, leader):
    """All shape keys, with values that follow those of a leader; what that has not, keeps its own value and keys in time."""
    keys, leading = obj.data.shape_keys, leader.data.shape_keys
    if keys is None:
        return
    basis = cage.shape_key_add(name=keys.reference_key.name, from_mix=False)
    rest = arrays.key_positions(basis).astype(float)
    for key in keys.key_blocks:
        if key == keys.reference_key:
            continue
        moved = (arrays.key_positions(key) - arrays.key_positions(key.relative_key)).astype(float)
        own = cage.shape_key_add(name=key.name, from_mix=False)
        own.mute, own.vertex_group = key.mute, key.vertex_group
        own.slider_min, own.slider_max = key.slider_min, key.slider_max
        own.value = key.value
        set_key(own, rest + _mix(moved, corners, weights))
        if leading is not None and key.name in leading.key_blocks:
            path = f'key_blocks["{bpy.utils.escape_identifier(key.name)}"].value'
            _follow(own.driver_add("value"), leading, "KEY", path)
    played = keys.animation_data if leading != keys else None
    if played is not None and played.action is not None:
        animated = cage.data.shape_keys.animation_data_create()
        animated.action = played.action
        animated.action_slot = played.action_slot


def _follow(curve, owner, kind, path):
    """Let a driver give what a property of the garment is, without a line of Python."""
    driver = curve.driver
    driver.type = "AVERAGE"
    variable = driver.variables.new()
    variable.type = "SINGLE_PROP"
    variable.targets[0].id_type = kind
    variable.targets[0].id, variable.targets[0].data_path = owner, path


def _attributes(obj, cage, corners, weights):
    """What settings read by an attribute, as one number a vertex."""
    for name in MAPPED:
        mapped = getattr(obj.taffeta_cloth, name)
        if mapped.source == "ATTRIBUTE" and mapped.attribute not in cage.data.attributes:
            values = attribute_values(obj, mapped, obj.data)
            attribute = cage.data.attributes.new(mapped.attribute, "FLOAT", "POINT")
            set_numbers(attribute, _mix(values, corners, weights))


def _patterns(obj, cage, sheet, y, faces):
    """All UV maps."""
    triangle, _ = _below(sheet, y[faces].mean(axis=1))
    corners = arrays.triangulated(obj.data)[1][sheet.source[triangle]]
    weights = []
    for k in range(3):
        uv = above(y[faces[:, k]], sheet.x, sheet.triangles[triangle])[:, :2]
        weights.append(np.column_stack((1.0 - uv.sum(axis=1), uv)))
    for layer in obj.data.uv_layers:
        own, values = cage.data.uv_layers.new(name=layer.name), arrays.corner_uv(layer).astype(float)
        laid = np.stack([np.einsum("pk,pkd->pd", each, values[corners]) for each in weights], axis=1)
        set_corner_uv(own, laid.reshape(-1, 2))
    if obj.data.uv_layers.active is not None:
        cage.data.uv_layers.active_index = obj.data.uv_layers.active_index


def copy_modifiers(modifiers: list[bpy.types.Modifier], cage: bpy.types.Object) -> None:
    """Give a cage the same modifiers, in the same order."""
    for modifier in modifiers:
        copy = cage.modifiers.new(modifier.name, modifier.type)
        _copy_values(modifier, copy)


def _copy_values(source, copy):
    for prop in source.bl_rna.properties:
        name = prop.identifier
        if not prop.is_readonly and name not in ("name", "type", "rna_type", "is_active"):
            setattr(copy, name, getattr(source, name))


def follow_keys(obj: bpy.types.Object, cage: bpy.types.Object) -> None:
    """Let what is keyed or driven of a garment's cloth settings and modifiers drive those of its cage."""
    drivers = obj.animation_data.drivers if obj.animation_data else ()
    wanted = [(curve.data_path, curve.array_index) for curve in (*curves(obj), *drivers)]
    for path, index in dict.fromkeys(each for each in wanted if each[0].startswith(FOLLOWED)):
        try:
            value = cage.path_resolve(path)
        except ValueError:  # a modifier that works on the simulated cloth stays with the garment
            continue
        if hasattr(value, "__len__") and not isinstance(value, str):
            _follow(cage.driver_add(path, index), obj, "OBJECT", f"{path}[{index}]")
        else:
            _follow(cage.driver_add(path), obj, "OBJECT", path)
