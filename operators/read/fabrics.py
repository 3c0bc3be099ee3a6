# SPDX-License-Identifier: GPL-3.0-or-later
"""What garments are made of: the numbers of the presets, which of them a garment has, and how that fits its mesh.

A garment is of Cotton as long as its numbers are those of Cotton, in files of old, too; when they are of no preset any more,
the name of the one that was chosen last tells what was changed.
"""

import re
from functools import lru_cache
from pathlib import Path

import bpy
import numpy as np

from ...panels.fabric import PRESET_ROOT, PRESET_SUBDIR, preset_files, shown_name
from ...panels.mapped import FABRIC, ROWS, THREADS
from ...solver.elastic.mesh_fit import SHORT_PART, SHORT_SHARE, STIFFEST_CLOTH, MeshFit, fit, fitting_thickness
from . import measures
from .mesh_io import FARTHEST_COORDINATE, metres_per_unit
from .time_and_gravity import gravity

LINE = re.compile(r"^cloth\.(\w+?)(?:\.value)? = (-?\d+\.?\d*(?:e-?\d+)?)(?=\s|$)", re.MULTILINE)  # of a preset file
SAME = 1e-5  # relative difference up to which numbers are the same: Blender keeps 32 bits
# What a garment may have otherwise, chosen by its mesh or for its motion, and keep the fabric's name.
ASIDE = frozenset(("thickness", "bending_stiffness", "strain_limit"))


def presets() -> list[tuple[str, dict[str, float]]]:
    """Names and numbers, by property, of all fabric presets that have every number: the animator's and the shipped ones."""
    found = [(shown_name(path), _numbers(path, path.stat().st_mtime_ns)) for path in preset_files()]
    return [(name, numbers) for name, numbers in found if numbers.keys() >= set(FABRIC)]


def shipped(name: str) -> dict[str, float]:
    """Numbers, by property, of a preset that comes with Taffeta."""
    path = Path(PRESET_ROOT) / "presets" / PRESET_SUBDIR / f"{name}.py"
    return _numbers(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=256)
def _numbers(path: Path, _changed: int) -> dict[str, float]:
    """The numbers that a preset file sets; threads of which it says nothing have no difference."""
    found = dict(LINE.findall(path.read_text(encoding="utf-8", errors="replace")))
    return THREADS | {name: float(number) for name, number in found.items() if name in THREADS or name in FABRIC}


def numbers_of(cloth: bpy.types.PropertyGroup) -> dict[str, float]:
    """What a garment is made of, by property; what a map varies is left out."""
    uniform = (name for name in FABRIC if getattr(cloth, name).source == "UNIFORM")
    return {name: getattr(cloth, name).value for name in uniform} | {name: getattr(cloth, name) for name in THREADS}


def has_fabric(cloth: bpy.types.PropertyGroup) -> bool:
    """Whether anyone ever set what a garment is made of; if not, its numbers are the defaults of the settings."""
    groups = [getattr(cloth, name) for name in FABRIC]
    given = any(group.is_property_set(part) for group in groups for part in ("value", "minimum", "maximum"))
    return given or any(map(cloth.is_property_set, THREADS)) or any(group.source != "UNIFORM" for group in groups)


def same(one: float, other: float) -> bool:
    """Whether two numbers are the same but for rounding."""
    return abs(one - other) <= SAME * abs(other)


def preset_of(cloth: bpy.types.PropertyGroup) -> tuple[str, dict[str, float]]:
    """Name and numbers of the preset that a garment is made of, `ASIDE` left aside; ("", {}) if of none."""
    own = {name: value for name, value in numbers_of(cloth).items() if name not in ASIDE}

    def is_of(preset):
        return all(same(preset[name], value) for name, value in own.items())

    return next((found for found in presets() if is_of(found[1])), ("", {}))


def fitted(obj: bpy.types.Object, scene: bpy.types.Scene, numbers: dict[str, float]) -> dict[str, float]:
    """What a mesh makes of a fabric's numbers: as thick and stiff as it can show, without a strain limit (`fit.dress`)."""
    own, edge = {"strain_limit": 0.0}, measures.edge_part(obj, metres_per_unit(scene), 0.5)
    if 0.0 < edge < FARTHEST_COORDINATE:
        mass, bending, weft = (numbers[name] for name in ("mass", "bending_stiffness", "weft_bending"))
        found = fit(edge, mass, bending, weft, float(np.linalg.norm(gravity(scene))))
        most = ROWS["thickness"].default
        own["thickness"] = fitting_thickness(edge, short_edge(obj, scene), numbers["thickness"], most)
        if found.is_limp and found.fitting_bending <= STIFFEST_CLOTH:
            own["bending_stiffness"] = found.fitting_bending
    return own


def short_edge(obj: bpy.types.Object, scene: bpy.types.Scene) -> float:
    """Length [m] of a garment's short edges."""
    return measures.edge_part(obj, metres_per_unit(scene), SHORT_PART)


def most_thickness(obj: bpy.types.Object, scene: bpy.types.Scene) -> float:
    """Thickness [m] beyond which a mesh touches itself all over; inf where nobody can tell."""
    short = short_edge(obj, scene)
    return SHORT_SHARE * short if short > 0.0 else float("inf")


def least_thickness(obj: bpy.types.Object) -> float:
    """Thickness [m] of a garment; of one that has a map the least."""
    mapped = obj.taffeta_cloth.thickness
    return mapped.value if mapped.source == "UNIFORM" else min(mapped.minimum, mapped.maximum)


def fabric_name(obj: bpy.types.Object, scene: bpy.types.Scene) -> str:
    """What a garment is made of: "Cotton", also as its mesh shows it; "Cotton, changed"; "" of no preset."""
    cloth = obj.taffeta_cloth
    name, numbers = preset_of(cloth)
    if name:
        own = {part: value for part, value in numbers_of(cloth).items() if part in ASIDE}
        shown = numbers | fitted(obj, scene, numbers)
        if all(same(value, numbers[part]) or same(value, shown[part]) for part, value in own.items()):
            return name
    known = name or obj.taffeta_fabric.chosen
    return f"{known}, changed" if known else ""


def mesh_fit(obj: bpy.types.Object, scene: bpy.types.Scene) -> MeshFit | None:
    """How a garment's fabric fits its mesh; None without edges that have a length, and in Edit Mode."""
    edge = measures.edge_part(obj, metres_per_unit(scene), 0.5)
    cloth = obj.taffeta_cloth
    if not 0.0 < edge < FARTHEST_COORDINATE:
        return None
    mass, bending = usual(obj, cloth.mass, min), usual(obj, cloth.bending_stiffness, max)
    return fit(edge, mass, bending, cloth.weft_bending, float(np.linalg.norm(gravity(scene))))


def bending_before_stiffening(obj: bpy.types.Object, scene: bpy.types.Scene) -> float | None:
    """Bending stiffness [N m] that a garment's fabric has, where it was stiffened for the mesh that it has; else None."""
    numbers, mapped, found = preset_of(obj.taffeta_cloth)[1], obj.taffeta_cloth.bending_stiffness, mesh_fit(obj, scene)
    if not numbers or found is None or mapped.source != "UNIFORM" or not same(mapped.value, found.fitting_bending):
        return None
    return numbers["bending_stiffness"] if numbers["bending_stiffness"] < mapped.value else None


def usual(obj: bpy.types.Object, mapped: bpy.types.PropertyGroup, end) -> float:
    """What a mapped property of a garment comes to: the median of its vertices where a group varies it; that `end`, min
    or max, of its range where looking at the map would take long."""
    if mapped.source == "UNIFORM":
        return mapped.value
    if mapped.source != "GROUP" or mapped.vertex_group not in obj.vertex_groups or not obj.data.vertices:
        return end(mapped.minimum, mapped.maximum)
    weight = float(np.median(measures.weights(obj, mapped.vertex_group)))
    return mapped.minimum + (mapped.maximum - mapped.minimum) * (1.0 - weight if mapped.invert else weight)
