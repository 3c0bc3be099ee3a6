# SPDX-License-Identifier: GPL-3.0-or-later
"""A scene file as nouns: what tables 5.1.1 to 5.1.4 of Pereira (2010) name, in SI units, and some more.

Names are read without regard to case, `-` and `_`. One that is unknown is told, so that no typing error passes for a
setting that is there. Every path lies in the folder of the scene file, or of the output.
"""

import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from ..solver.cache.names import safe_name
from ..solver.model import BROAD_PHASES, DYNAMICS, MODELS, REFERENCE_FRAME, Settings
from . import xml

MOST_FRAMES = 100_000
# How table 5.1.4 calls integrations.
INTEGRATIONS = {"euler": "EULER", "rungekutta": "RK4", "rungekutta4": "RK4"}
YES, NO = {"1", "true", "yes", "on"}, {"0", "false", "no", "off", ""}


class ClothFile(NamedTuple):
    """One cloth object: tables 5.1.2 and 5.1.3."""

    obj: Path
    maps: dict[str, Path]  # by name of the value; "pin" for constraints
    ranges: dict[str, tuple[float, float]]  # minimum, maximum; without a map the minimum counts
    target: Path  # folder and name of the frames, without number and suffix
    friction: float
    restitution: float
    model: str  # of solver.model.MODELS
    shear: float | None  # [N/m]; None: from the stretch stiffness
    bending: float  # [N m]
    strain_limit: float  # beyond which threads are stiffer; 0: nowhere
    stiffening: float  # how many times
    self_collision: bool
    collide_with: tuple[str, ...] | None  # names of the files of what it meets; None: all


class StaticFile(NamedTuple):
    """One body: table 5.1.1. A `#` in the name of its file stands for the number of a frame."""

    obj: Path
    friction: float
    restitution: float | None  # None: that of the cloth which bounces most
    aura: float  # [m]


class Scene(NamedTuple):
    """A scene file."""

    cloths: list[ClothFile]
    statics: list[StaticFile]
    settings: Settings
    gravity: tuple[float, float, float]  # [m/s2]
    frames: range
    seconds: float  # that a frame takes


class _Reader(NamedTuple):
    """What a value of the file may be; raises ValueError with the end of a sentence."""

    read: Callable[[str], object]
    default: object


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
    return Scene(cloths, statics, _settings(path, general), gravity, range(first, last + 1), 1.0 / general["fps"])


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
    return settings if step is None else settings._replace(substeps=max(1, round(REFERENCE_FRAME / step)))


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
        numbers["model"],
        numbers["shearStiffness"],
        numbers["bendingStiffness"],
        numbers["strainLimit"],
        numbers["stiffening"],
        numbers["selfCollision"],
        numbers["collideWith"],
    )


def _static(path, element, folder) -> StaticFile:
    values = _values(path, element, STATIC)
    obj = _inside(path, folder, values["objPath"], "objPath")
    return StaticFile(obj, values["friction"], values["restitution"], values["aura"])


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


def _values(path, element, table: dict[str, _Reader]) -> dict:
    """All values of a table, those that the element lacks by default."""
    known, found = {_plain(name): name for name in table}, {}
    if element.children:
        raise ValueError(f"{path}: <{element.children[0].tag}> does not belong into <{element.tag}>")
    for given, text in element.values.items():
        name = known.get(_plain(given))
        if name is None or name in found:
            words = "stands twice" if name else f"means nothing there; it knows {', '.join(table)}"
            raise ValueError(f"{path}: {given} in <{element.tag}> {words}")
        try:
            found[name] = table[name].read(text.strip())
        except ValueError as error:
            raise ValueError(f"{path}: {given} in <{element.tag}> is '{text}', {error}") from error
    return {name: found.get(name, reader.default) for name, reader in table.items()}


def _plain(name: str) -> str:
    return name.replace("-", "").replace("_", "").replace(" ", "").casefold()


def _numbers(*counts: int, least: float = -1e9, most: float = 1e9) -> Callable[[str], tuple[float, ...]]:
    """Reads so many numbers, in a row, between limits."""

    def read(text):
        try:
            numbers = tuple(float(word) for word in text.replace(",", " ").split())
        except ValueError:
            numbers = ()
        if len(numbers) not in counts or not all(math.isfinite(n) and least <= n <= most for n in numbers):
            wanted = " or ".join(str(count) for count in counts)
            raise ValueError(f"but must be {wanted} number(s) from {least:g} to {most:g}")
        return numbers

    return read


def _number(least: float, most: float) -> Callable[[str], float]:
    return lambda text: _numbers(1, least=least, most=most)(text)[0]


def _whole(text: str) -> int:
    if not text.lstrip("-").isdecimal() or len(text) > 9:
        raise ValueError("but must be a whole number")
    return int(text)


def _switch(text: str) -> bool:
    if text.lower() not in YES | NO:
        raise ValueError("but must be true or false")
    return text.lower() in YES


def _strength(text: str) -> float:
    """A switch, or how strong."""
    return float(_switch(text)) if text.lower() in YES | NO else _number(0.0, 1e6)(text)


def _names(text: str) -> tuple[str, ...]:
    """Reads names with commas between them; `none` is no name."""
    names = tuple(name.strip() for name in text.split(","))
    if not all(names):
        raise ValueError("but must be names of files with commas between them, or none")
    return () if _plain(text) == "none" else names


def _choice(*names: str, **others: str) -> Callable[[str], str]:
    """Reads one of some names."""
    known = {_plain(name): name for name in names} | others

    def read(text):
        if _plain(text) not in known:
            raise ValueError(f"but must be one of {', '.join(names)}")
        return known[_plain(text)]

    return read


GENERAL = {
    "time-step": _Reader(_number(1e-5, 1.0), None),
    "gravity": _Reader(_numbers(1, 3), (0.0, -9.81, 0.0)),
    "externalForces": _Reader(_numbers(3), (0.0, 0.0, 0.0)),
    "randomness": _Reader(_strength, 0.0),
    **{f"random{sign}{axis}": _Reader(_switch, False) for axis in "XYZ" for sign in ("Neg", "Pos")},
    "broadPhase": _Reader(_choice(*BROAD_PHASES), BROAD_PHASES[0]),
    "integration": _Reader(_choice(*DYNAMICS, **INTEGRATIONS), "XPBD"),
    "StartFrame": _Reader(_whole, 1),
    "EndFrame": _Reader(_whole, 100),
    "Collisions": _Reader(_number(0.0, 100.0), 0.0),
    "fps": _Reader(_number(1.0, 1000.0), 24.0),
    "airDensity": _Reader(_number(0.0, 2000.0), Settings().air_density),
}
FILES = {
    name: _Reader(str, "")
    for name in (
        "objPath", "clothPath", "constraintsPath", "texturePath", "savePath", "saveName",
        "thicknessPath", "massPath", "stiffnessPath", "dampingPath", "selfMaskPath", "bodyMaskPath",
    )
}  # fmt: skip
# Value of a garment: the file that holds its map.
MAPS = {
    "pin": "constraintsPath",
    "thickness": "thicknessPath",
    "mass": "massPath",
    "stretch_stiffness": "stiffnessPath",
    "damping": "dampingPath",
    "meets_itself": "selfMaskPath",
    "meets_bodies": "bodyMaskPath",
}
# Value of a garment: how table 5.1.3 calls its limits, and what it is if both are left out.
RANGES = {
    "thickness": ("Thickness", 0.002),
    "mass": ("Mass", 0.15),
    "stretch_stiffness": ("Stiffness", 2000.0),
    "damping": ("Damping", 2.0),
}
SETTINGS = {
    **{f"{end}{label}": _Reader(_number(0.0, 1e9), None) for label, _ in RANGES.values() for end in ("min", "max")},
    "restitution": _Reader(_number(0.0, 1.0), 0.0),
    "friction": _Reader(_number(0.0, 100.0), 0.3),
    "model": _Reader(_choice(*MODELS), MODELS[0]),
    "shearStiffness": _Reader(_number(0.0, 1e9), None),
    "bendingStiffness": _Reader(_number(0.0, 1e3), 1e-5),
    "strainLimit": _Reader(_number(0.0, 10.0), 0.0),
    "stiffening": _Reader(_number(1.0, 100.0), 5.0),
    "selfCollision": _Reader(_switch, True),
    "collideWith": _Reader(_names, None),
}
STATIC = {
    "objPath": _Reader(str, ""),
    "friction": _Reader(_number(0.0, 100.0), 0.3),
    "restitution": _Reader(_number(0.0, 1.0), None),
    "aura": _Reader(_number(0.0, 1e3), 0.005),
}
