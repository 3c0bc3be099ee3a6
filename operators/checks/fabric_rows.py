# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether fabric, mesh and size of a garment fit each other: rows of the preflight list, and a line of Fabric Details."""

import math
from collections.abc import Iterator

import bpy

from ...panels.mapped import ROWS
from ...panels.units import length_text
from ...solver.elastic.mesh_fit import BOARD_SIZE, LONGEST_EDGE, STIFFEST_CLOTH
from ...solver.elastic.solid import solid_of
from ..read.fabrics import fabric_name, mesh_fit, preset_of, same, usual
from ..read.keyed import keyed
from ..read.mesh_io import metres_per_unit
from .problem import Problem, Shot
from .rigid_rows import is_rigid
from .scale_rows import is_tacked

FEW_VERTICES = 25  # of a garment, below which nobody sees cloth
SAME_SOLID = 1e-3  # up to which two moduli, or thicknesses, are the same
VERY_COARSE = 2.0  # times as long edges as fit: more than half of the folding is lost, and what is left are creases


def bending_text(value: float) -> str:
    """A bending stiffness [N m] as panels show it."""
    row = ROWS["bending_stiffness"]
    return f"{value * row.shown_factor:.3g} {row.shown_symbol}"


def fabric_sentence(obj: bpy.types.Object, scene: bpy.types.Scene) -> str:
    """What a garment is made of, and for which meshes that holds; only the former where nobody can tell the latter."""
    name, numbers = preset_of(obj.taffeta_cloth)
    bending = obj.taffeta_cloth.bending_stiffness
    if name and bending.source == "UNIFORM" and not same(bending.value, numbers["bending_stiffness"]):
        own, usual = bending_text(bending.value), bending_text(numbers["bending_stiffness"])
        name = f"{name} with a Bending of {own} instead of {usual}"
    name, found = name or fabric_name(obj, scene) or "A fabric of its own", mesh_fit(obj, scene)
    if found is None or math.isinf(found.longest_edge):
        return name
    return f"{name}: for edges up to {length_text(found.longest_edge)}. This mesh has {length_text(found.edge)}"


def _limp(shot: Shot) -> Iterator[Problem]:
    """Fabrics too limp for their mesh: their folds lock along its edges, as those of paper do."""
    for obj in shot.cloths:
        if is_rigid(obj):
            continue
        found = mesh_fit(obj, shot.scene)
        if len(obj.data.vertices) < FEW_VERTICES and obj.data.polygons:
            sentence = f"{obj.name} has {len(obj.data.vertices)} vertices: too few to bend and fold"
            remedy = "Subdivide it, more than once: cloth bends where it has vertices"
            yield Problem("WARNING", obj.name, sentence, remedy, ("taffeta.subdivide",), heavy=True)
            continue
        if found is None or not found.is_limp or not found.longest_edge > 0.0:  # without Bending `rows` tells
            continue
        name = preset_of(obj.taffeta_cloth)[0] or "its fabric"
        finer, verbs = "Subdivide it: four times as many vertices", ("taffeta.subdivide",)
        if found.fitting_bending <= STIFFEST_CLOTH:
            finer = f"{finer}. Or let it be stiffer, with a Bending of {bending_text(found.fitting_bending)}"
            verbs += ("taffeta.stiffen",)
        yield Problem(
            "WARNING" if found.edge > VERY_COARSE * found.longest_edge else "INFO",
            obj.name,
            f"{obj.name} is too coarse for {name}: its edges of {length_text(found.edge)} crumple like paper, up to "
            f"{length_text(found.longest_edge)} they fold like cloth",
            finer,
            verbs,
        )


def softening(obj: bpy.types.Object, scene: bpy.types.Scene) -> tuple[float, float, float] | None:
    """Size [m] of a garment that is so small that its cloth stands like a board, the size from which on that hangs, and the Bending
    [N m] with which the garment hangs as usual, inf where its mesh is too coarse to show that; None of any other. What is stiffer than cloth is meant to be a board.
    """
    found, own = mesh_fit(obj, scene), usual(obj, obj.taffeta_cloth.bending_stiffness, max)
    size = metres_per_unit(scene) * max(obj.dimensions)
    if found is None or is_rigid(obj) or is_tacked(obj) or not own <= STIFFEST_CLOTH:
        return None
    least = BOARD_SIZE * found.bending_length
    if not found.edge < size < least < math.inf:
        return None
    is_fine = BOARD_SIZE * found.edge <= LONGEST_EDGE * size
    return size, least, found.bending_for(size, own) if is_fine else math.inf


def _stiff(shot: Shot) -> Iterator[Problem]:
    """Fabrics of the usual stiffness on garments of a doll's size."""
    for obj in shot.cloths:
        found = softening(obj, shot.scene)
        if found is None:
            continue
        size, least, fitting = found
        name = preset_of(obj.taffeta_cloth)[0] or "its fabric"
        remedy, verbs = "Subdivide it: this mesh shows no softer cloth", ("taffeta.subdivide",)
        if fitting < math.inf:
            remedy = f"Give it a Bending of {bending_text(fitting)}, with which it hangs as larger cloth does"
            verbs = () if "taffeta_cloth.bending_stiffness.value" in keyed(obj) else ("taffeta.soften",)
        yield Problem(
            "WARNING",
            obj.name,
            f"{obj.name} is too small for {name}: its {length_text(size)} stand like a board, from {length_text(least)} on they would hang",
            remedy,
            verbs,
        )


def _other_thickness(shot: Shot) -> Iterator[Problem]:
    """Sheets of a solid whose Thickness has been changed since their stiffness was made of it."""
    for obj in shot.cloths:
        cloth = obj.taffeta_cloth
        mapped = cloth.stretch_stiffness, cloth.bending_stiffness, cloth.thickness
        if not cloth.modulus > 0.0 or is_rigid(obj) or any(one.source != "UNIFORM" for one in mapped):
            continue
        stretch, bending, now = (one.value for one in mapped)
        modulus, thickness = solid_of(stretch, bending, cloth.poisson)
        if math.isclose(modulus, cloth.modulus, rel_tol=SAME_SOLID) and not math.isclose(
            thickness, now, rel_tol=SAME_SOLID
        ):
            yield Problem(
                "INFO",
                obj.name,
                f"{obj.name} has the Stretch and Bending of a sheet that is {1e3 * thickness:.3g} mm thick, and a "
                f"Thickness of {1e3 * now:.3g} mm",
                "Set its fabric from its elastic modulus and Thickness anew",
                ("taffeta.fabric_modulus",),
            )


FABRIC_CHECKS = (_limp, _stiff, _other_thickness)
