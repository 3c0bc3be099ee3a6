# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of the preflight list about forces: force fields, pressure, sewing."""

from collections.abc import Iterator

from ..read import allowance, measures
from ..read.force_fields import emitters, ignored
from .problem import Problem, Shot


def _force_fields(shot: Shot) -> Iterator[Problem]:
    """Force fields that cloth does not feel, or not as Blender's own cloth does."""
    for obj in emitters(shot.scene, shot.depsgraph.view_layer):
        if lack := ignored(obj):
            yield Problem(
                "WARNING",
                obj.name,
                f"{obj.name} has a force field that is left out: {lack}",
                "Choose another one, or turn its field off",
            )
        elif obj in shot.cloths:
            yield Problem(
                "WARNING",
                obj.name,
                f"{obj.name} is cloth and force field at once; its field is left out",
                "Give the field to an Empty",
            )
        elif obj.field.use_absorption:
            yield Problem(
                "INFO",
                obj.name,
                f"{obj.name}: its force field goes through bodies here; Absorption does nothing",
                "Turn Absorption off, or end the field with its Max Distance",
            )


def _particle_fields(shot: Shot) -> Iterator[Problem]:
    """Force fields that particles carry."""
    for obj in shot.scene.objects:
        for system in obj.particle_systems if obj.type == "MESH" else ():
            fields = system.settings.force_field_1, system.settings.force_field_2
            if any(field is not None and field.type != "NONE" for field in fields):
                yield Problem(
                    "WARNING",
                    obj.name,
                    f"{obj.name} has a force field on the particles of {system.name}; cloth does not feel those",
                    "Give the field to an Empty, or turn it off under Force Field Settings of the particles",
                )


def _pressure(shot: Shot) -> Iterator[Problem]:
    """Pressure in garments that hold none."""
    for obj in shot.cloths:
        if obj.taffeta_cloth.pressure == 0.0:
            continue
        count = measures.open_edges(obj.data)
        are_open = (
            "1 of its edges is open or turned round" if count == 1 else f"{count} of its edges are open or turned round"
        )
        if count and obj.taffeta_cloth.target_volume > 0.0 and obj.taffeta_cloth.pressure > 0.0:
            yield Problem(
                "WARNING",
                obj.name,
                f"{obj.name} has a Target Volume, but encloses none: {are_open}",
                "Close it, and let all normals point outwards (Shift N in Edit Mode), or set Target Volume to 0",
            )
        elif count:
            yield Problem(
                "INFO",
                obj.name,
                f"{obj.name} is under Pressure, but {are_open}: it is pushed along its normals",
                "Close it, and let all normals point outwards (Shift N in Edit Mode), if it should be blown up",
            )


def _seams(shot: Shot) -> Iterator[Problem]:
    """Sewing and allowances without seams, and seams without sewing."""
    for obj in shot.cloths:
        count = measures.loose_edges(obj.data)
        if obj.taffeta_cloth.sewing and not count:
            yield Problem(
                "WARNING",
                obj.name,
                f"{obj.name} has Sewing on, but no edge without a face",
                "Join the panels by edges alone (F with two vertices selected in Edit Mode), or turn Sewing off",
            )
        elif count and not obj.taffeta_cloth.sewing:
            sentence = f"{obj.name} has {count} edges without a face: they keep their length"
            if count == 1:
                sentence = f"{obj.name} has 1 edge without a face: it keeps its length"
            yield Problem(
                "INFO",
                obj.name,
                sentence,
                "Turn on Sewing if they should pull shut",
            )
        if obj.taffeta_cloth.seam_allowance > 0.0 and not allowance.sewn_vertices(obj).any():
            yield Problem(
                "WARNING",
                obj.name,
                f"{obj.name} has a Seam Allowance, but no seam",
                "Mark edges as seams (Edge > Mark Seam in Edit Mode), sew it, or set Seam Allowance to 0",
            )


FORCE_CHECKS = (_force_fields, _particle_fields, _pressure, _seams)
