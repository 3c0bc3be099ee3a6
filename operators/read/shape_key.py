# SPDX-License-Identifier: GPL-3.0-or-later
"""Leave a new shape on a garment: as a shape key, which the animator can blend, key and delete, or as its rest shape.

A garment that is posed by modifiers gets the key that makes the posed shape come out as wanted: what the modifiers do
to small movements is tried out and inverted.
"""

import bpy
import numpy as np

from .arrays import key_positions, positions
from .mesh_io import metres_per_unit, world_positions, world_to_object
from .participants import refuse_linked
from .sampling import depsgraph_of
from .write_back import set_key, set_positions

SHAPE_TRIES = 3  # at making modifiers put vertices where they belong
SHAPE_TOLERANCE = 2e-5  # [m] from there that is near enough
PROBE_STEP = 1e-3  # Blender units by which a vertex is moved to see where its modifiers take it
HELD_FAST = 1e-3  # of the volume that a vertex' movements would span without modifiers: with less it is held


def refuse_shared(obj: bpy.types.Object) -> None:
    """Raise ValueError, with the remedy, where a new shape would change other objects, or could not be seen."""
    refuse_linked(obj)
    keys = obj.data.shape_keys
    if obj.data.library is not None:
        raise ValueError(f"{obj.name}: its mesh is linked from {obj.data.library.filepath}; make it local first")
    if obj.data.users > 1:
        raise ValueError(
            f"{obj.name} shares its mesh with other objects, which would change with it; "
            "make it single (Object > Relations > Make Single User > Object & Data)"
        )
    if keys is not None and (not keys.use_relative or obj.show_only_shape_key):
        raise ValueError(f"{obj.name}: its shape keys are absolute or one is shown alone; switch that off (Data tab)")


def place(scene: bpy.types.Scene, obj: bpy.types.Object, name: str, target: np.ndarray) -> np.ndarray:
    """Movements (n, 3) [Blender units, object space] of a garment's vertices that take it to `target` (n, 3) [m].

    It leaves the shape key `name` with that on the garment. Call it within `posed`.
    """
    metres, moved = metres_per_unit(scene), np.zeros((len(target), 3))
    away = target - _pose(scene, obj, name, moved, metres)
    to_object = world_to_object(obj.name, obj.evaluated_get(depsgraph_of(scene)), metres, scene.frame_current)[:3, :3]
    bent = any(modifier.show_viewport for modifier in obj.modifiers)
    slopes = np.broadcast_to(to_object, (len(target), 3, 3))
    for turn in range(SHAPE_TRIES):
        moved = moved + np.einsum("nij,nj->ni", slopes, away)
        away = target - _pose(scene, obj, name, moved, metres)
        if not bent or not np.abs(away).max() > SHAPE_TOLERANCE:
            break
        if turn == 0:
            slopes = _inverse_slopes(scene, obj, name, moved, metres, to_object)
    return moved


def make_rest(obj: bpy.types.Object, name: str, moved: np.ndarray) -> None:
    """Move the mesh itself by `moved` (n, 3), as `place` gave it, and all its shape keys; the key `name` goes, for it
    is in the mesh now, which tells the size from now on."""
    obj.taffeta_cloth.pattern_size = False
    keys = obj.data.shape_keys
    for key in keys.key_blocks if keys else ():
        set_key(key, key_positions(key) + moved)
    set_positions(obj.data, positions(obj.data) + moved)
    if keys and name in keys.key_blocks:
        obj.shape_key_remove(keys.key_blocks[name])
    obj.data.update()


def _as_key(obj, name: str, moved: np.ndarray) -> None:
    """Let the shape key `name` move each vertex by `moved` (n, 3) [Blender units, object space]."""
    if obj.data.shape_keys is None:
        obj.shape_key_add(name="Basis", from_mix=False)
    key = obj.data.shape_keys.key_blocks.get(name) or obj.shape_key_add(name=name, from_mix=False)
    key.relative_key = obj.data.shape_keys.reference_key
    key.mute, key.value, key.vertex_group = False, 1.0, ""
    set_key(key, key_positions(key.relative_key) + moved)
    obj.data.update()


def _pose(scene, obj, name, moved, metres) -> np.ndarray:
    """World positions (n, 3) [m] with the key at `moved`."""
    _as_key(obj, name, moved)
    return world_positions(obj.evaluated_get(depsgraph_of(scene)), metres)


def _inverse_slopes(scene, obj, name, moved, metres, to_object) -> np.ndarray:
    """(n, 3, 3) what to move each vertex by for it to go one metre in the world, through the modifiers."""
    slopes = np.empty((len(moved), 3, 3))
    for axis in range(3):
        step = np.zeros(3)
        step[axis] = PROBE_STEP
        ahead, behind = _pose(scene, obj, name, moved + step, metres), _pose(scene, obj, name, moved - step, metres)
        slopes[:, :, axis] = (ahead - behind) / (2.0 * PROBE_STEP)
    # Where modifiers hold a vertex fast, nothing can be inverted: there it goes as if they did not.
    dead = ~(np.abs(np.linalg.det(slopes)) > HELD_FAST * metres**3)
    slopes[dead] = np.linalg.inv(to_object)
    return np.linalg.inv(slopes)
