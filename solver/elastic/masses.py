# SPDX-License-Identifier: GPL-3.0-or-later
"""What particles weigh: shares of the faces at them, and what they carry."""

import numpy as np

LIGHTEST_PARTICLE = (
    1e-6  # least mass of a particle in units of the garment's mean: a sliver's corner must not be weightless
)


def masses(garment, faces, springs):
    """Lumped mass [kg] and its inverse; a loose vertex, or one pinned with weight 1, is kinematic.

    Corners of a triangle, and corners of a quad, share its area evenly. The end of a loose edge, and a corner of nothing
    but faces without area, weigh as much as the mean of the others. To that comes what a vertex carries, as a button.
    """
    count = len(garment.x)
    density = np.asarray(garment.mass, dtype=np.float64)
    corner, quad_corner = faces.triangles.ravel(), springs.quads.ravel()
    quad_area = faces.area[springs.halves[:, 0]] + faces.area[springs.halves[:, 1]]
    single = faces.area.copy()
    single[springs.halves.ravel()] = 0.0
    area = np.bincount(corner, np.repeat(single / 3.0, 3), minlength=count)
    area += np.bincount(quad_corner, np.repeat(quad_area / 4.0, 4), minlength=count)
    mass = density * area
    in_face = np.bincount(corner, minlength=count) > 0
    mean = mass[in_face].mean()
    mass = np.where(in_face, np.maximum(mass, LIGHTEST_PARTICLE * mean), mean)
    mass += _carried(garment)
    joined = in_face.copy()
    for indices in (garment.edges, garment.triangles):
        joined[np.asarray(indices).ravel()] = True
    free = joined & (garment.pin_moves | (np.asarray(garment.pin) < 1.0))
    return mass, np.where(free, 1.0 / mass, 0.0)


def _carried(garment):
    """(n,) [kg] what each vertex carries besides; what is welded to another, that one carries."""
    added = np.zeros(len(garment.x))
    if garment.added_mass is not None:
        place = np.arange(len(added))
        if garment.twins is not None:
            place[garment.twins[:, 0]] = garment.twins[:, 1]
        np.add.at(added, place, garment.added_mass)
    return added


def sizes(garment):
    """(n,) part of its rest shape that a garment is left with where it shrinks."""
    return 1.0 - (np.zeros(len(garment.x)) if garment.shrink is None else np.asarray(garment.shrink, dtype=np.float64))
