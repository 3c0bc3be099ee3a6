# SPDX-License-Identifier: GPL-3.0-or-later
"""What a scene file may say: its elements by name, how each is read, and what it is if it is left out.

Tables 5.1.1 to 5.1.4 of Pereira (2010), in SI units, and what else the solver has. Readers raise ValueError with the end
of a sentence.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

from ..solver.model import BODY_SEARCHES, BROAD_PHASES, CLOTH_CONTACTS, DYNAMICS, MODELS, Settings

# How table 5.1.4 calls integrations, as `plain` has them. What Pereira (2010, 4.2.2-3) calls Euler moves by the new
# velocity, which is the symplectic one; that which moves by the old one is here by its own name.
INTEGRATIONS = {"euler": "SYMPLECTIC_EULER", "forwardeuler": "EULER", "rungekutta": "RK4", "rungekutta4": "RK4"}
YES, NO = {"1", "true", "yes", "on"}, {"0", "false", "no", "off", ""}


class Reader(NamedTuple):
    """What a value of the file may be."""

    read: Callable[[str], object]
    default: object


def plain(name: str) -> str:
    """A name without what does not count in it."""
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


def _count(least: int, most: int) -> Callable[[str], int]:
    """Reads a whole number between limits."""

    def read(text):
        if not least <= _whole(text) <= most:
            raise ValueError(f"but must be a whole number from {least} to {most}")
        return int(text)

    return read


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
    return () if plain(text) == "none" else names


def _choice(*names: str, **others: str) -> Callable[[str], str]:
    """Reads one of some names."""
    known = {plain(name): name for name in names} | others

    def read(text):
        if plain(text) not in known:
            raise ValueError(f"but must be one of {', '.join(names)}")
        return known[plain(text)]

    return read


GENERAL = {
    "time-step": Reader(_number(1e-5, 1.0), None),
    "gravity": Reader(_numbers(1, 3), (0.0, -9.81, 0.0)),
    "externalForces": Reader(_numbers(3), (0.0, 0.0, 0.0)),
    "randomness": Reader(_strength, 0.0),
    **{f"random{sign}{axis}": Reader(_switch, False) for axis in "XYZ" for sign in ("Neg", "Pos")},
    "broadPhase": Reader(_choice(*BROAD_PHASES), BROAD_PHASES[0]),
    "integration": Reader(_choice(*(name for name in DYNAMICS if name != "EULER"), **INTEGRATIONS), "XPBD"),
    "StartFrame": Reader(_whole, 1),
    "EndFrame": Reader(_whole, 100),
    "Collisions": Reader(_number(0.0, 100.0), 0.0),
    "fps": Reader(_number(1.0, 1000.0), 24.0),
    "airDensity": Reader(_number(0.0, 2000.0), Settings().air_density),
    "wind": Reader(_numbers(3), (0.0, 0.0, 0.0)),
    "untangle": Reader(_switch, False),
    "clothContact": Reader(_choice(*CLOTH_CONTACTS), None),
    "clothRestitution": Reader(_number(0.0, 1.0), None),
    "fieldCell": Reader(_number(0.5, 10.0), None),
    "fieldIsotropic": Reader(_switch, None),
    "untangleEach": Reader(_switch, None),
    "substeps": Reader(_count(1, 1000), None),
    "smallSteps": Reader(_number(0.0, 20.0), None),
    "iterations": Reader(_count(1, 1000), None),
    "tolerance": Reader(_number(1e-6, 0.9), None),
    "theta": Reader(_number(0.5, 1.0), None),
    "seed": Reader(_count(0, 2**31 - 1), None),
    "airDrag": Reader(_number(0.0, 100.0), None),
    "airLift": Reader(_number(0.0, 100.0), None),
    "pinRate": Reader(_number(0.0, 1e5), None),
    "imageSize": Reader(_count(8, 1024), None),
    "bodySearch": Reader(_choice(*BODY_SEARCHES), None),
    "speedLimit": Reader(_number(0.1, 1e5), None),
    "sleepSpeed": Reader(_number(0.0, 1.0), None),
    "guardBodies": Reader(_switch, None),
    "neighbourReach": Reader(_number(1.0, 10.0), None),
    "randomForceMin": Reader(_numbers(3), None),
    "randomForceMax": Reader(_numbers(3), None),
}
# Setting of the solver: the element of <general> that is it, where it is given.
SOLVER = {
    "cloth_contact": "clothContact", "cloth_restitution": "clothRestitution", "field_cell": "fieldCell",
    "field_isotropic": "fieldIsotropic", "untangle_each": "untangleEach",
    "substeps": "substeps", "small_steps": "smallSteps", "iterations": "iterations", "tolerance": "tolerance",
    "theta": "theta", "seed": "seed", "air_drag": "airDrag", "air_lift": "airLift", "pin_rate": "pinRate",
    "ldi_resolution": "imageSize", "body_search": "bodySearch", "max_speed": "speedLimit", "sleep_speed": "sleepSpeed", "guard_bodies": "guardBodies",
    "neighbour_reach": "neighbourReach", "random_force_min": "randomForceMin", "random_force_max": "randomForceMax",
}  # fmt: skip
FILES = {
    name: Reader(str, "")
    for name in (
        "objPath", "clothPath", "constraintsPath", "texturePath", "savePath", "saveName",
        "thicknessPath", "massPath", "stiffnessPath", "dampingPath", "selfMaskPath", "bodyMaskPath", "valuesPath", "posePath",
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
    **{f"{end}{label}": Reader(_number(0.0, 1e9), None) for label, _ in RANGES.values() for end in ("min", "max")},
    "restitution": Reader(_number(0.0, 1.0), 0.0),
    "clothRestitution": Reader(_number(0.0, 1.0), 0.0),
    "friction": Reader(_number(0.0, 100.0), 0.3),
    "model": Reader(_choice(*MODELS), MODELS[0]),
    "shearStiffness": Reader(_number(0.0, 1e9), None),
    "bendingStiffness": Reader(_number(0.0, 1e3), 1e-5),
    "elasticModulus": Reader(_number(1.0, 1e13), None),
    "strainLimit": Reader(_number(0.0, 10.0), 0.0),
    "stiffening": Reader(_number(1.0, 100.0), 5.0),
    "layer": Reader(_count(0, 1000), 0),
    "rigidity": Reader(_number(1e-3, 1e3), 1.0),
    "pattern": Reader(_switch, False),
    "weftStretch": Reader(_number(0.05, 20.0), 1.0),
    "weftBending": Reader(_number(0.05, 20.0), 1.0),
    "bendingDamping": Reader(_number(0.0, 10.0), 0.0),
    "narrowing": Reader(_number(0.0, 0.7), 0.0),
    "selfCollision": Reader(_switch, True),
    "collideWith": Reader(_names, None),
    "poseSamples": Reader(_count(1, 1000), 1),
}
STATIC = {
    "objPath": Reader(str, ""),
    "friction": Reader(_number(0.0, 100.0), None),
    "restitution": Reader(_number(0.0, 1.0), None),
    "viscosity": Reader(_number(0.0, 1e4), 0.0),
    "aura": Reader(_number(0.0, 1e3), 0.005),
    "samples": Reader(_count(1, 1000), 1),
}
