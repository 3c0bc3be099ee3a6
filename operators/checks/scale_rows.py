# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of the preflight list about scale, a garment's own or a parent's, and about size."""

from collections.abc import Iterator
from typing import NamedTuple

import bpy

from ...panels.units import length_text
from ..read import groups, measures
from ..read.anchors import holding
from ..read.keyed import curves, keyed
from ..read.mesh_io import FARTHEST_COORDINATE, metres_per_unit
from .problem import Problem, Shot

SMALLEST_GARMENT, LARGEST_GARMENT = 0.05, 20.0  # [m] longest side of a garment that raises no question
LARGEST_BODY = 20.0  # [m] of a body; grounds and walls are flat and may be larger
GROUND_FLATNESS = 0.05  # shortest over longest side of a ground or wall
NO_SCALE = 1e-6  # of the largest scale: a body is flat by it, and not thin
SCALE_TOLERANCE = 0.001  # by which scales may differ from each other, and from 1, without a word
DISTANCE_EDGES = (
    3.0  # usual edges of a garment, the Distance of a body from which on it is meant for cloth of another size
)
DISTANCE_PART = 0.2  # of the smallest garment's longest side, the same
FITTING_PART = 0.02  # of that, which fits
APPLY = ("taffeta.fix_scale",)
LEAST_GRAVITY, MOST_GRAVITY = 1.0, 30.0  # [m/s2] that somebody may mean, on the Moon or on Jupiter


def _scales(shot: Shot) -> Iterator[Problem]:
    """Unapplied, uneven and negative scale; sizes that no garment or body has."""
    unit = metres_per_unit(shot.scene)
    for obj in shot.cloths:
        if (problem := _scale(obj)) is not None:
            yield problem
    for body in shot.colliders:
        if body.data.polygons and (problem := _no_size(body)) is not None:
            yield problem
    for obj in (*shot.cloths, *shot.colliders):
        sides = [side * unit for side in obj.dimensions]
        longest, is_cloth = max(sides), obj in shot.cloths
        if not longest < FARTHEST_COORDINATE:
            continue  # vertices without a finite position: `shape_rows` tells
        if is_cloth and 0.0 < longest < SMALLEST_GARMENT:
            yield Problem(
                "WARNING",
                obj.name,
                f"{obj.name} is {length_text(longest)} long, a scarf for a mouse",
                "Scale it up, or set the Unit Scale in the Scene tab",
            )
        elif (
            is_cloth
            and longest > LARGEST_GARMENT
            or not is_cloth
            and longest > LARGEST_BODY
            and min(sides) > GROUND_FLATNESS * longest
        ):
            yield Problem(
                "WARNING",
                obj.name,
                f"{obj.name} is {length_text(longest)} long: cloth on it falls as slowly as on a giant",
                "Scale it down, or set the Unit Scale in the Scene tab (0.01 if the model is in centimetres)",
            )


def _scale(obj: bpy.types.Object) -> Problem | None:
    """What is to be said of a garment's scale; where a parent has it, that parent is named."""
    scale, parent = obj.matrix_world.to_scale(), _scaled_parent(obj)
    sizes = f"({scale.x:.3g}, {scale.y:.3g}, {scale.z:.3g})"
    which = f" by its parent {parent.name}" if parent else ""
    there = f"Select {parent.name} and apply its scale: Ctrl A > Scale" if parent else "Apply it: Ctrl A > Scale"
    verbs = () if parent else APPLY
    if min(map(abs, scale)) <= 0.0:
        remedy = f"Give {parent.name if parent else 'it'} a scale above 0"
        return Problem("ERROR", obj.name, f"{obj.name} has a scale of zero{which}: it is flat", remedy, alone=True)
    if obj.matrix_world.determinant() < 0.0:
        sentence = f"{obj.name} has a negative scale{which}: it is turned inside out"
        return Problem("WARNING", obj.name, sentence, there, verbs)
    if max(scale) > (1.0 + SCALE_TOLERANCE) * min(scale):
        sentence = f"{obj.name} is scaled unevenly{which} {sizes}: its size is taken as it looks now"
        return Problem("WARNING", obj.name, sentence, there, verbs)
    if abs(max(scale) - 1.0) <= SCALE_TOLERANCE:
        return None
    sentence = f"{obj.name} has a scale of {max(scale):.3g}{which}: it is simulated in the size that it looks"
    remedy = (
        f"Leave it to {parent.name}: a parent's scale does no harm" if parent else "Apply it to be sure: Ctrl A > Scale"
    )
    return Problem("INFO", obj.name, sentence, remedy, verbs)


def _no_size(body: bpy.types.Object) -> Problem | None:
    """What is to be said of a body that its scale makes flat, or that is a single point. One that is flat in its mesh is a ground."""
    sides, parent = [abs(side) for side in body.matrix_world.to_scale()], _scaled_parent(body)
    if min(sides) <= NO_SCALE * max(sides):
        which = f" by its parent {parent.name}" if parent else ""
        sentence = f"{body.name} has a scale of zero{which}: it is flat, and cloth meets it as a sheet or not at all"
        remedy = f"Give {parent.name if parent else 'it'} a scale above 0, or switch its Taffeta Collider off"
    elif max(body.dimensions) <= 0.0:
        sentence = f"{body.name} has no size: all of it is in one point, and cloth falls past it"
        remedy = "Pull its vertices apart, or switch off the modifier that shrinks it"
    else:
        return None
    return Problem("WARNING", body.name, sentence, remedy, alone=True)


def _scaled_parent(obj: bpy.types.Object) -> bpy.types.Object | None:
    """The object that gives `obj` its scale, where its own is 1."""
    if obj.parent is None or not _is_one(obj.matrix_basis):
        return None
    parent = obj.parent
    while _is_one(parent.matrix_basis) and parent.parent is not None:
        parent = parent.parent
    return parent


def _is_one(matrix) -> bool:
    return matrix.determinant() > 0.0 and all(abs(side - 1.0) <= SCALE_TOLERANCE for side in matrix.to_scale())


def _growing(shot: Shot) -> Iterator[Problem]:
    """Garments whose scale, or that of what carries them, is keyed: cloth does not grow."""
    for obj in shot.cloths:
        owner = obj
        while owner is not None and not _grows(owner):
            owner = owner.parent
        if owner is not None:
            yield Problem(
                "WARNING",
                obj.name,
                f"{obj.name} keeps the size that it has in the first frame, though the Scale of {owner.name} is keyed",
                "Key its Shrink along, -1 where it is twice as large; or take the keys of Scale away and bake at one size",
            )


def _grows(obj: bpy.types.Object) -> bool:
    """Whether keys give an object more than one scale; many are keyed with a scale that stays."""
    values: dict[int, list[float]] = {}
    for curve in curves(obj):
        if curve.data_path == "scale":
            values.setdefault(curve.array_index, []).extend(point.co.y for point in curve.keyframe_points)
    return any(max(own) - min(own) > SCALE_TOLERANCE * max(map(abs, own)) for own in values.values() if own)


def _distances(shot: Shot) -> Iterator[Problem]:
    """Bodies with a Distance that is meant for cloth of another size: it would be thrown off them in the first frame."""
    for body in shot.colliders:
        found = distance_misfit(shot.scene, shot.cloths, body)
        if found is None:
            continue
        yield Problem(
            "WARNING",
            body.name,
            f"{body.name} keeps {found.garment} off by a Distance of {length_text(body.taffeta_collider.aura)}, over {found.than}",
            f"Set the Distance to {length_text(found.fitting)} or less, if the garment is as small as that",
            () if "taffeta_collider.aura" in keyed(body) else ("taffeta.fix_distance",),
        )


class Misfit(NamedTuple):
    """A Distance that is too large for a garment."""

    garment: str
    than: str  # what it is larger than
    fitting: float  # [m] the largest that fits


def distance_misfit(scene: bpy.types.Scene, cloths: list[bpy.types.Object], body: bpy.types.Object) -> Misfit | None:
    """For which of the garments that a body meets its Distance is too large, if for any."""
    unit = metres_per_unit(scene)
    met = [obj for obj in cloths if groups.meet(obj, body) and not is_tacked(obj)]
    edges = {obj.name: measures.edge_part(obj, unit, 0.5) for obj in met}
    met = [obj for obj in met if edges[obj.name] > 0.0]
    if not met:
        return None
    name, small = min((obj.name for obj in met), key=edges.get), min(met, key=lambda obj: max(obj.dimensions))
    distance, size = body.taffeta_collider.aura, unit * max(small.dimensions)
    if distance > DISTANCE_EDGES * edges[name]:
        return Misfit(name, f"{DISTANCE_EDGES:.0f} times the edges of its mesh", edges[name])
    if distance > DISTANCE_PART * size:
        return Misfit(small.name, f"{100.0 * DISTANCE_PART:.0f} % of its size", FITTING_PART * size)
    return None


def is_tacked(obj) -> bool:
    """Whether a garment hangs on another one, as a button does: it lies on that, and not on the body."""
    return any(entry.body is not None and entry.body.taffeta_cloth.enabled for entry in holding(obj))


def _gravity(shot: Shot) -> Iterator[Problem]:
    """Gravity that the unit scale has made another."""
    problem = gravity_problem(shot.scene) if shot.cloths else None
    if problem is not None:
        yield problem


def gravity_problem(scene: bpy.types.Scene) -> Problem | None:
    """What is to be said when the unit scale makes gravity another than on Earth; nobody means that."""
    unit, used = metres_per_unit(scene), scene.use_gravity and any(scene.gravity)
    shown = scene.gravity.length * unit
    if not used or unit == 1.0 or LEAST_GRAVITY < shown < MOST_GRAVITY:
        return None
    return Problem(
        "WARNING",
        "",
        f"Gravity is {shown:.3g} m/s² because the unit scale is {unit:.6g}: cloth falls as in slow motion or too fast",
        "Type -9.81 into Scene tab, Gravity, Z",
        ("taffeta.fix_gravity_scale",),
        heavy=True,
    )


SCALE_CHECKS = (_scales, _growing, _distances, _gravity)
