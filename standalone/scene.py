# SPDX-License-Identifier: GPL-3.0-or-later
"""A scene file as nouns: what tables 5.1.1 to 5.1.4 of Pereira (2010) name, in SI units, and some more.

Names are read without regard to case, `-` and `_`. One that is unknown is told, so that no typing error passes for a
setting that is there. Every path lies in the folder of the scene file, or of the output.
"""

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..solver.cache.names import safe_name
from ..solver.model import REFERENCE_FRAME, Settings
from . import xml
from .tables import FILES, GENERAL, MAPS, RANGES, SETTINGS, SOLVER, STATIC, Reader, plain

MOST_FRAMES = 100_000


class ClothFile(NamedTuple):
    """One cloth object: tables 5.1.2 and 5.1.3."""

    obj: Path
    maps: dict[str, Path]  # by name of the value; "pin" for constraints
    ranges: dict[str, tuple[float, float]]  # minimum, maximum; without a map the minimum counts
    target: Path  # folder and name of the frames, without number and suffix
    friction: float
    restitution: float  # off bodies that have none of their own
    cloth_restitution: float  # off cloth
    model: str  # of solver.model.MODELS
    shear: float | None  # [N/m]; None: from the stretch stiffness
    bending: float  # [N m]
    modulus: float | None  # [Pa] that stretch, shear and bending follow from by the thickness; None: they are told
    strain_limit: float  # beyond which threads are stiffer; 0: nowhere
    stiffening: float  # how many times
    self_collision: bool
    collide_with: tuple[str, ...] | None  # names of the files of what it meets; None: all
    layer: int  # 0 is innermost
    rigidity: float  # how little it gives way when layers are untangled
    has_pattern: bool  # whether its UVs say where threads run
    weft_stretch: float  # stretch stiffness along the weft, in that along the warp
    weft_bending: float  # the same of the rigidity
    bending_damping: float  # [s] retardation time of bending
    narrowing: float  # part of its lengthening by which a strip narrows
    values: Path | None  # table of values of each vertex, which come before maps and numbers
    pose: Path | None  # where it starts, and what is held goes; a `#` stands for the number of a frame
    pose_samples: int  # numbers of that sequence a frame


class StaticFile(NamedTuple):
    """One body: table 5.1.1. A `#` in the name of its file stands for the number of a frame."""

    obj: Path
    friction: float | None  # None: that of each cloth
    restitution: float | None  # None: that of each cloth
    viscosity: float  # [1/s] viscous friction
    aura: float  # [m]
    samples: int  # numbers of its sequence a frame


class Scene(NamedTuple):
    """A scene file."""

    cloths: list[ClothFile]
    statics: list[StaticFile]
    settings: Settings
    gravity: tuple[float, float, float]  # [m/s2]
    frames: range
    seconds: float  # that a frame takes
    wind: tuple[float, float, float]  # [m/s]
    untangle: bool  # whether layers are taken out of each other before the first frame


def read(path: Path, out: Path) -> Scene:
    """Read a scene file; frames are to go below the folder `out`.

    Raises
    ------
    ValueError
        A sentence that names the file, the place in it, and what to do.
    OSError
        It cannot be read.
    """
    path = Path(path)
    root, folder = xml.read(path), resolved(path).parent
    parts = {"general": [], "cloth": [], "static": []}
    for child in root.children:
        if child.tag.lower() not in parts:
            raise ValueError(f"{path}: <{child.tag}> means nothing here; it knows {', '.join(parts)}")
        parts[child.tag.lower()].append(child)
    if misplaced := [name for name, text in root.values.items() if text or name.lower() != "general"]:
        raise ValueError(f"{path}: {misplaced[0]} belongs into <general>, <cloth> or <static>")
    if len(parts["general"]) > 1 or not parts["cloth"]:
        raise ValueError(f"{path} has {len(parts['general'])} <general> and {len(parts['cloth'])} <cloth>: it needs "
                         "one at most, and one at least")  # fmt: skip
    general = _values(path, parts["general"][0] if parts["general"] else xml.Element("general", {}, [], []), GENERAL)
    cloths = [_cloth(path, element, folder, resolved(out)) for element in parts["cloth"]]
    targets = [str(cloth.target).casefold() for cloth in cloths]
    if len(set(targets)) < len(targets):
        raise ValueError(f"{path}: two cloths are saved under one name; give each its own saveName")
    statics = [_static(path, element, folder) for element in parts["static"]]
    known = sorted({found.obj.name for found in (*cloths, *statics)})
    for name in (name for cloth in cloths for name in cloth.collide_with or ()):
        if name not in known:
            raise ValueError(f"{path}: collideWith names '{name}', which is none of its files: {', '.join(known)}")
    first, last = general["StartFrame"], general["EndFrame"]
    if not first <= last <= first + MOST_FRAMES:
        raise ValueError(f"{path}: EndFrame {last} must be from StartFrame {first} to {MOST_FRAMES:,} frames later")
    gravity = general["gravity"] if len(general["gravity"]) == 3 else (0.0, general["gravity"][0], 0.0)
    frames, about = range(first, last + 1), (general["wind"], general["untangle"])
    return Scene(cloths, statics, _settings(path, general), gravity, frames, 1.0 / general["fps"], *about)


def _settings(path, general) -> Settings:
    """The solver's settings of table 5.1.4."""
    step, most = general["time-step"], general["randomness"]
    settings = Settings(
        dynamics=general["integration"],
        broad_phase=general["broadPhase"],
        constant_force=general["externalForces"],
        air_density=general["airDensity"],
        # Each more iteration of the search for neighbours looks one contact distance further.
        neighbour_reach=min(10.0, Settings().neighbour_reach + general["Collisions"]),
    )
    low, high = [], []
    for axis in "XYZ":
        if general[f"randomNeg{axis}"] and general[f"randomPos{axis}"]:
            raise ValueError(f"{path}: randomNeg{axis} and randomPos{axis} leave no force; switch one of them off")
        low.append(0.0 if general[f"randomPos{axis}"] else -most)
        high.append(0.0 if general[f"randomNeg{axis}"] else most)
    settings = settings._replace(random_force_min=tuple(low), random_force_max=tuple(high))
    given = {field: general[name] for field, name in SOLVER.items() if general[name] is not None}
    if step is not None and "substeps" in given:
        raise ValueError(f"{path}: time-step and substeps say the same; give one of them")
    if step is not None:
        given["substeps"] = max(1, round(REFERENCE_FRAME / step))
    settings = settings._replace(**given)
    if any(np.greater(settings.random_force_min, settings.random_force_max)):
        raise ValueError(f"{path}: randomForceMin is above randomForceMax; swap the two")
    return settings


def _cloth(path, element, folder, out) -> ClothFile:
    empty = [xml.Element(tag, {}, [], []) for tag, text in element.values.items() if not text]
    sections = {child.tag.upper(): child for child in (*element.children, *empty)}
    if set(sections) - {"FILE", "SETTINGS"} or "FILE" not in sections or len(empty) < len(element.values):
        raise ValueError(f"{path}: a <cloth> holds a <FILE> and a <SETTINGS>, and nothing else")
    files = _values(path, sections["FILE"], FILES)
    numbers = _values(path, sections.get("SETTINGS", xml.Element("SETTINGS", {}, [], [])), SETTINGS)
    obj = _inside(path, folder, files["objPath"], "objPath")
    name = files["saveName"] or obj.stem
    if safe_name(name) != name:
        raise ValueError(f"{path}: '{name}' is no saveName for files; use letters and digits")
    told = [name for name in ("minStiffness", "maxStiffness", "shearStiffness") if numbers[name] is not None]
    if numbers["elasticModulus"] is not None and (told or files["stiffnessPath"]):
        raise ValueError(f"{path}: elasticModulus says what {(*told, 'stiffnessPath')[0]} does; give one of them")
    ranges = {}
    for key, (label, default) in RANGES.items():
        low, high = numbers[f"min{label}"], numbers[f"max{label}"]
        low = low if low is not None else default if high is None else high
        ranges[key] = low, low if high is None else high
    maps = {key: files[name] for key, name in MAPS.items() if files[name]}
    return ClothFile(
        obj,
        {key: _inside(path, folder, text, MAPS[key]) for key, text in maps.items()},
        ranges,
        _inside(path, out, files["savePath"] or ".", "savePath") / name,
        numbers["friction"],
        numbers["restitution"],
        numbers["clothRestitution"],
        numbers["model"],
        numbers["shearStiffness"],
        numbers["bendingStiffness"],
        numbers["elasticModulus"],
        numbers["strainLimit"],
        numbers["stiffening"],
        numbers["selfCollision"],
        numbers["collideWith"],
        numbers["layer"],
        numbers["rigidity"],
        numbers["pattern"],
        numbers["weftStretch"],
        numbers["weftBending"],
        numbers["bendingDamping"],
        numbers["narrowing"],
        *(_inside(path, folder, files[key], key) if files[key] else None for key in ("valuesPath", "posePath")),
        numbers["poseSamples"],
    )


def _static(path, element, folder) -> StaticFile:
    values = _values(path, element, STATIC)
    obj = _inside(path, folder, values["objPath"], "objPath")
    return StaticFile(obj, *(values[name] for name in ("friction", "restitution", "viscosity", "aura", "samples")))


def resolved(path: Path) -> Path:
    """The absolute path, links followed; `Path.resolve` raises a RuntimeError at a link that leads to itself."""
    return Path(os.path.realpath(path))


def _inside(path, folder, text, name) -> Path:
    """A path of the scene file, if it stays in the folder, links followed."""
    if not text:
        raise ValueError(f"{path}: {name} is missing")
    found = resolved(folder / text.replace("\\", "/"))
    if not found.is_relative_to(folder):
        raise ValueError(f"{path}: {name} '{text}' leads out of {folder}; keep its files there")
    return found


def _values(path, element, table: dict[str, Reader]) -> dict:
    """All values of a table, those that the element lacks by default."""
    known, found = {plain(name): name for name in table}, {}
    if element.children:
        raise ValueError(f"{path}: <{element.children[0].tag}> does not belong into <{element.tag}>")
    for given, text in element.values.items():
        name = known.get(plain(given))
        if name is None or name in found:
            words = "stands twice" if name else f"means nothing there; it knows {', '.join(table)}"
            raise ValueError(f"{path}: {given} in <{element.tag}> {words}")
        try:
            found[name] = table[name].read(text.strip())
        except ValueError as error:
            raise ValueError(f"{path}: {given} in <{element.tag}> is '{text}', {error}") from error
    return {name: found.get(name, reader.default) for name, reader in table.items()}
