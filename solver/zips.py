# SPDX-License-Identifier: GPL-3.0-or-later
"""Zips: seams that open and close as a frame says (`FrameInput.zip_open`).

A zip that is closed is a seam that is welded (`join`). Where a frame opens it, its sides are parted by a hair before that frame, as
those of a tear are, and nothing pulls at them any more; what would cross something by opening waits for another frame. Closed
again it is a seam as any other: pulled together at its speed, and welded where it is near. Rims that lie on each other at rest, as
of a zip within a sheet, are cut out in the pattern while they are apart, or contact would take them for neighbours.
"""

import numpy as np

from .geometry.seams import same_places
from .join import is_welded
from .model import Cloth, State
from .tear import held_pairs, inward, part


def unzip(cloth: Cloth, state: State, zip_open: tuple[float, ...] | None) -> Cloth:
    """Open what is to be open in a frame; returns the cloth with zips that pull where they are closed alone. # output: state

    zip_open : of each garment, as in `FrameInput`
    """
    if np.isinf(cloth.seam_opens).all():
        return cloth
    pairs = cloth.edges[cloth.seams]
    least = np.zeros(len(cloth.meets)) if zip_open is None else np.array(zip_open)
    is_open = cloth.seam_opens <= least[cloth.garment[pairs[:, 0]]]
    done = is_welded(pairs, state) & (cloth.inv_mass[pairs] > 0.0).any(axis=1)
    if (done & is_open).any():
        one = np.concatenate([pairs[done], held_pairs(cloth, state)])
        state.x[:], _ = part(cloth, state.x, one, np.flatnonzero(is_open[done]))
    welded = is_welded(pairs, state)
    cloth = cloth._replace(seam_force=np.where(is_open, 0.0, cloth.seam_force))
    return _cut_out(cloth, pairs[welded], pairs[np.isfinite(cloth.seam_opens) & ~welded])


def _cut_out(cloth, welded, apart):
    """The cloth with the rims of zips that are `apart` (k, 2) cut out in the pattern; `welded` : (s, 2) what is one."""
    if not len(apart):
        return cloth
    count = len(cloth.mass)
    groups = same_places(*welded.T, count)
    moved = np.isin(groups[1], groups[1][apart])
    rest = cloth.x_rest + inward(cloth, groups, moved, cloth.x_rest)
    return cloth._replace(x_rest=rest, pattern=cloth.pattern._replace(x=rest))
