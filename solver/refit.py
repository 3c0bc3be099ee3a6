# SPDX-License-Identifier: GPL-3.0-or-later
"""The cloth of a frame in which settings of garments are animated: built anew from the garments as they are then.

A frame says what its garments are (`FrameInput.garments`), so its cloth depends on nothing that was before, and a bake that
resumes goes on with the same bits. What no spring knows of is put in the place of what it was; for all else the garment is
built once more, and what was built for the last frame is kept, so that values that stand still cost nothing.
"""

import numpy as np

from .build import build, mask, meetings, per_vertex
from .check import check
from .kernel.memo import remembered
from .model import Cloth, FrameInput, Garment, Settings

SPRINGS = ("rest_length", "edge_stiffness", "edge_damping", "taut", "coupling", "matrix")
HINGES = ("bend_weight", "bend_stiffness", "bend_damping", "seam_hinges", "matrix")
MASSES = ("mass", "inv_mass", "edge_damping", "bend_damping", "matrix")

# Each setting of a `Garment` that may be animated: what of `Cloth` it changes, besides the tree and the order of springs and
# hinges, which is the tree's.
CHANGES: dict[str, tuple[str, ...]] = {
    "friction": ("friction",),
    "restitution": ("restitution",),
    "thickness": ("thickness", "seam_distance"),
    "self_collision": ("meets", "seam_distance"),
    "meets_bodies": ("meets_bodies",),
    "mass": MASSES,
    "added_mass": MASSES,
    "stretch_stiffness": SPRINGS,
    "shear_stiffness": SPRINGS,
    "bending_stiffness": HINGES,
    "damping": ("damping", *SPRINGS, *HINGES),
    "shrink": (*SPRINGS, *HINGES),
    "weft_stretch": SPRINGS,
    "weft_bending": HINGES,
    "bending_damping": ("bend_damping", "matrix"),
    "poisson": SPRINGS,
    "strain_limit": SPRINGS,
    "stiffening": SPRINGS,
    "band_pull": ("edge_stiffness", "matrix"),
    "seam_bending": ("seam_hinges",),
    "sewing_time": ("edge_damping", "matrix"),
    "sewing_speed": ("seam_speed",),
    "sewing_force": ("seam_force",),
}


def _seam_distance(cloth: Cloth, garments: tuple[Garment, ...]) -> np.ndarray:
    """(s,) [m] that contact keeps the sides of seams apart."""
    pairs = cloth.edges[cloth.seams]
    is_kept = np.array([garment.self_collision for garment in garments])[cloth.garment[pairs[:, 0]]]
    return np.where(is_kept, 0.5 * np.einsum("sk->s", per_vertex(garments, "thickness")[pairs]), 0.0)


# What of `Cloth` is made anew without building a garment once more.
LOOSE = {
    "friction": lambda _, garments: per_vertex(garments, "friction"),
    "thickness": lambda _, garments: per_vertex(garments, "thickness"),
    "restitution": lambda _, garments: np.array([garment.restitution for garment in garments]),
    "meets": lambda _, garments: meetings(garments),
    "meets_bodies": lambda _, garments: mask(garments, "meets_bodies"),
    "seam_distance": _seam_distance,
}
_LOOSE_SETTINGS = tuple(name for name, changed in CHANGES.items() if LOOSE.keys() >= set(changed))


def cloth_of(cloth: Cloth, frame_input: FrameInput, settings: Settings, frame: int) -> Cloth:
    """The cloth in a frame: the bake's own, where nothing of it is animated."""
    return cloth if frame_input.garments is None else refit(frame_input.garments, settings, frame)


def refit(garments: tuple[Garment, ...], settings: Settings, frame: int) -> Cloth:
    """The cloth of these garments in a frame; it has the particles that `build` gave it at the start.

    Raises
    ------
    ValueError
        A setting left its range: names the frame, the garment and the remedy.
    """
    try:
        for garment in garments:
            check(garment)
        cloth = _built(garments, settings)
    except ValueError as error:
        raise ValueError(f"In frame {frame}, {error}") from None
    return cloth._replace(**{field: make(cloth, garments) for field, make in LOOSE.items()})


def _made_of(garments, settings):
    values = (value for garment in garments for value in garment._replace(**dict.fromkeys(_LOOSE_SETTINGS)))
    return len(garments), settings.dynamics, *values


@remembered(2, _made_of)
def _built(garments, settings):
    return build(garments, settings)[0]
