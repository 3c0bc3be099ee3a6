# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's force fields as the solver takes them: which objects have one that cloth feels, and its numbers."""

from functools import cache

import bpy
import numpy as np
from mathutils import noise

from ...solver.model import Field, FieldNumbers
from .mesh_io import evaluated_names

FELT_KINDS = ("FORCE", "WIND", "VORTEX", "MAGNET", "HARMONIC", "TURBULENCE", "DRAG")
FELT_SHAPES = ("POINT", "LINE", "PLANE")
# Every setting that is read, with the other names that Blender has for the same number.
SETTINGS_READ = {
    "type": (), "shape": (), "falloff_type": (), "z_direction": (), "use_global_coords": (), "use_gravity_falloff": (),
    "seed": (), "strength": ("linear_drag",), "flow": (), "wind_factor": (), "harmonic_damping": ("quadratic_drag",),
    "size": ("rest_length",), "noise": (), "falloff_power": (), "use_min_distance": (), "distance_min": (),
    "use_max_distance": (), "distance_max": (), "radial_falloff": (), "use_radial_min": (), "radial_min": (),
    "use_radial_max": (), "radial_max": (),
}  # fmt: skip


def emitters(scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer, own=()) -> list[bpy.types.Object]:
    """Objects with a force field that is on, sorted by name; not what is disabled, nor garments (session uids `own`)."""
    shown = evaluated_names(view_layer.layer_collection)
    found = [obj for obj in scene.objects if obj.field is not None and obj.field.type != "NONE"]
    found = [obj for obj in found if obj.field.apply_to_location and not obj.hide_viewport and obj.name in shown]
    return sorted((obj for obj in found if obj.session_uid not in own), key=lambda obj: obj.name)


def ignored(obj: bpy.types.Object) -> str:
    """Why cloth does not feel the field of an object, as the end of a sentence; "" if it does."""
    field = obj.field
    if field.type not in FELT_KINDS:
        return f"its kind, {_label(field, 'type')}, does nothing to cloth here"
    return "" if field.shape in FELT_SHAPES else f"its shape, {_label(field, 'shape')}, is not known here"


def read_fields(scene, depsgraph, own, metres: float) -> dict[int, tuple[tuple, FieldNumbers]]:
    """What every field is at the scene's current frame, by the session uid of its object: ((fixed...), numbers)."""
    found = {}
    for obj in emitters(scene, depsgraph.view_layer, own):
        if not ignored(obj):
            evaluated = obj.evaluated_get(depsgraph)
            found[obj.session_uid] = _fixed(evaluated, metres), _numbers(evaluated, metres)
    return found


def between(before: dict, after: dict) -> tuple[Field, ...]:
    """Fields over the frame between two moments of `read_fields`. One that is new was where it is at the end."""
    result = []
    for uid, (fixed, end) in after.items():
        was, start = before.get(uid, (fixed, end))
        result.append(Field(*fixed, start if was == fixed else end, end))
    return tuple(result)


def _fixed(obj, metres) -> tuple:
    """The leading entries of `Field`."""
    field = obj.field
    side = {"POSITIVE": 1, "NEGATIVE": -1, "BOTH": 0}[field.z_direction]
    in_world = field.type == "TURBULENCE" and field.use_global_coords
    square = field.type == "FORCE" and field.use_gravity_falloff
    return obj.name, field.type, field.shape, field.falloff_type, side, square, in_world, field.seed, metres


def _numbers(obj, metres) -> FieldNumbers:
    field, matrix = obj.field, obj.matrix_world
    return FieldNumbers(
        x=tuple(metres * c for c in matrix.translation),
        axis=tuple(matrix.col[2].to_3d().normalized()) if any(matrix.col[2][:3]) else (0.0, 0.0, 1.0),
        strength=field.strength,
        flow=field.flow,
        wind_factor=field.wind_factor,
        damping=field.harmonic_damping,
        size=field.size,
        rest_length=field.size,
        noise=field.noise,
        power=field.falloff_power,
        least=field.distance_min if field.use_min_distance else 0.0,
        most=field.distance_max if field.use_max_distance else -1.0,
        radial_power=field.radial_falloff,
        radial_least=field.radial_min if field.use_radial_min else 0.0,
        radial_most=field.radial_max if field.use_radial_max else -1.0,
    )


def _label(field, name: str) -> str:
    """A choice of a field as Blender's panels show it."""
    return field.bl_rna.properties[name].enum_items[getattr(field, name)].name


@cache
def noise_table() -> tuple[int, ...] | None:
    """Blender's order of the gradients of noise, so that turbulence has its eddies where Blender shows them.

    Blender does not tell the table h, but its noise near whole numbers i, j, k shows which gradient is there, that of
    h[h[h[i] + j] + k] by its last four bits. All rows (i = 0, j) are one sequence from other starts, and the starts
    are h[h[0] + j] up to a number. The only first entry that agrees with all is found by trying. None if there is none.
    """
    step = 0.002
    offset = np.array([step, 3 * step, 10 * step])

    def gradients(j, count):
        at = ((0.0, float(j), float(k)) + offset for k in range(count))
        return [round(noise.noise(point, noise_basis="PERLIN_NEW") / step) for point in at]

    first = gradients(0, 256)
    shift = {tuple((first + first)[k : k + 16]): k for k in range(256)}
    starts = np.array([shift.get(tuple(gradients(j, 16)), -1) for j in range(256)])
    # what each of 16 codes looks like at that offset: plus or minus two of 1, 3 and 10
    code = np.array([4, 2, -2, -4, 11, 9, -9, -11, 13, 7, -7, -13, 4, 7, 2, -13])
    for h0 in range(256):
        table = (h0 - starts[-h0] + np.roll(starts, h0)) % 256
        a0 = (h0 - starts[-h0]) % 256
        if np.array_equal(code[np.roll(table, -a0) & 15], first) and len(set(table.tolist())) == 256:
            return tuple(table.tolist())
    return None
