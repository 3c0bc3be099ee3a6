# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a garment can be simulated. What physics cannot do without is told in one sentence that names it."""

import numpy as np

from .elastic.bands import check_bands
from .model import MODELS
from .rest import check_rest

LARGEST_POISSON = 0.7  # at 1 cloth could not change its area, and near it the solve does not keep still

# field: (least value, may it be equal to that, what a message calls it, unit)
VALUE_RULES = {
    "mass": (0.0, False, "the mass per area", "kg/m2"),
    "thickness": (0.0, False, "the thickness", "m"),
    "stretch_stiffness": (0.0, False, "the stretch stiffness", "N/m"),
    "shear_stiffness": (0.0, True, "the shear stiffness", "N/m"),
    "bending_stiffness": (0.0, True, "the bending stiffness", "N m"),
    "damping": (0.0, True, "the damping", "1/s"),
    "friction": (0.0, True, "the friction", ""),
    "pin": (0.0, True, "the pin weight", ""),
    "pin_distance": (0.0, True, "the largest distance from the pose", "m"),
}
FURTHER_RULES = {  # of values that a garment need not have
    "added_mass": (0.0, True, "the added mass", "kg"),
    "shrink": (-np.inf, True, "the shrinking", ""),
}


def check(garment):
    """Raise a ValueError with one sentence if a garment cannot be simulated."""
    _check_mesh(garment)
    _check_values(garment)
    check_rest(garment)
    check_bands(garment.name, len(garment.x), garment.bands, garment.band_pull)
    _check_numbers(garment)


def _check_mesh(garment):
    """Its model, arrays of places, indices and pattern."""
    name, count = garment.name, len(garment.x)
    if garment.model not in MODELS:
        raise ValueError(f"'{name}': the model '{garment.model}' does not exist; choose one of {', '.join(MODELS)}.")
    if not len(garment.triangles):
        raise ValueError(f"'{name}' has no faces: cloth needs at least one face.")
    for field in ("x", "x_start"):
        value = np.asarray(getattr(garment, field))
        if value.shape != (count, 3):
            raise ValueError(f"'{name}': {field} has the shape {value.shape}, expected ({count}, 3).")
        if not np.isfinite(value).all():
            bad = np.flatnonzero(~np.isfinite(value).all(axis=1))
            raise ValueError(
                f"'{name}': {len(bad)} of {count} vertices have a coordinate that is not a finite number "
                f"(first: vertex {bad[0]}); move or delete them."
            )
    for field, corner_count in (("triangles", 3), ("quads", 4), ("edges", 2)):
        value = np.asarray(getattr(garment, field))
        if value.ndim != 2 or value.shape[1] != corner_count:
            raise ValueError(f"'{name}': {field} has the shape {value.shape}, expected (any, {corner_count}).")
        if value.size and (value.min() < 0 or value.max() >= count):
            raise ValueError(f"'{name}': {field} refer to a vertex that does not exist ({count} vertices).")
    if garment.uv is not None and np.shape(garment.uv) != (len(garment.triangles), 3, 2):
        expected = (len(garment.triangles), 3, 2)
        raise ValueError(f"'{name}': uv has the shape {np.shape(garment.uv)}, expected {expected}.")


def _check_values(garment):
    """What each vertex has."""
    name, count = garment.name, len(garment.x)
    for field, rule in VALUE_RULES.items():
        _check_value(name, count, np.asarray(getattr(garment, field)), *rule)
    for field, rule in FURTHER_RULES.items():
        if getattr(garment, field) is not None:
            _check_value(name, count, np.asarray(getattr(garment, field)), *rule)
    if garment.shrink is not None and np.max(garment.shrink) >= 1.0:
        raise ValueError(f"'{name}' shrinks to nothing at vertex {int(np.argmax(garment.shrink))}; use less than 1.")
    if np.max(garment.pin) > 1.0:
        raise ValueError(f"'{name}': the pin weight is above 1 at vertex {int(np.argmax(garment.pin))}; use 0 to 1.")
    for field, words in (("meets_bodies", "the bodies"), ("meets_itself", "the self-collision")):
        value = getattr(garment, field)
        if value is not None and np.shape(value) != (count,):
            raise ValueError(f"'{name}': the mask for {words} has the shape {np.shape(value)}, expected ({count},).")


def _check_numbers(garment):
    """What is the same in all of it."""
    name = garment.name
    for value, words in ((garment.weft_stretch, "stretch stiffness"), (garment.weft_bending, "bending stiffness")):
        if not 0.0 < value < np.inf:
            raise ValueError(f"'{name}': the weft's {words} is {value:g} of the warp's; it must be above 0.")
    if not 0.0 <= garment.poisson <= LARGEST_POISSON:
        raise ValueError(f"'{name}': Poisson's ratio is {garment.poisson:g}; use 0 to {LARGEST_POISSON:g}.")
    if not 0.0 <= garment.restitution <= 1.0:
        raise ValueError(f"'{name}': its bounce off cloth is {garment.restitution:g}; use 0 to 1.")
    for value, words in ((garment.strain_limit, "strain limit"), (garment.bending_damping, "bending damping")):
        if not 0.0 <= value < np.inf:
            raise ValueError(f"'{name}': the {words} is {value:g}; use 0 (none) or more.")
    if not 1.0 <= garment.stiffening < np.inf:
        raise ValueError(f"'{name}': it stiffens to {garment.stiffening:g} of its stiffness; use 1 or more.")
    for value, words, unit in (
        (garment.sewing_time, "sewing time", "s"), (garment.sewing_force, "sewing force", "N"),
        (garment.sewing_speed, "sewing speed", "m/s"),
    ):  # fmt: skip
        if garment.sewing and not value > 0.0:
            raise ValueError(f"'{name}': the {words} is {value:g} {unit}; it must be above 0.")


def _check_value(name, count, value, least, may_equal, words, unit):
    if value.shape != (count,):
        raise ValueError(f"'{name}': {words} has the shape {value.shape}, expected ({count},).")
    unknown = np.isnan(value) if words == VALUE_RULES["pin_distance"][2] else ~np.isfinite(value)
    if unknown.any():
        raise ValueError(
            f"'{name}': {words} is not a finite number at {int(unknown.sum())} of {count} vertices "
            f"(first: vertex {int(np.argmax(unknown))}); check its map."
        )
    low = value < least if may_equal else value <= least
    if low.any():
        worst = int(np.argmin(value))
        amount = f"{value[worst]:g} {unit}".rstrip()
        raise ValueError(
            f"'{name}': {words} is {amount} at vertex {worst} ({int(low.sum())} of {count} vertices are too low); "
            f"it must be {f'{least:g} or more' if may_equal else f'above {least:g}'}: change the value or its map."
        )
