# SPDX-License-Identifier: GPL-3.0-or-later
"""Between which surfaces particles are when a frame begins: what is found does not depend on how triangles are grouped."""

import numpy as np
from solids import ball, box, collider
from taffeta.solver.contact.body.contacts import INSIDE, OUTSIDE, PINCHED
from taffeta.solver.contact.body.mesh import make_bodies, merge, patches_of_bodies
from taffeta.solver.contact.body.pinch_start import find_grips


def found(mesh, patches, x, place):
    """Places and grips of points x (n, 3) that were in these places (n,)."""
    place, grip = place.copy(), np.full((len(x), 2), -1, np.int32)
    find_grips(make_bodies(mesh), patches, mesh.start, np.zeros(len(x), np.int32), x, place, grip)
    return place, grip


def in_one(mesh):
    """All triangles as one patch, in their order."""
    order, ends = np.arange(len(mesh.triangles), dtype=np.int32), np.array([0, len(mesh.triangles)], np.int32)
    return patches_of_bodies(mesh)._replace(triangles=order, start=ends, garment=np.zeros(1, np.int32))


def test_of_triangles_that_are_as_near_the_first_counts_however_they_are_grouped():
    """Above a corner of a mesh all triangles round it are as near as each other."""
    rng = np.random.default_rng(3)
    mesh = merge([collider(ball(0.4)), collider(box((0.5, 0.5, 0.5), (0.3, 0.0, 0.0)))], 1)
    corners = mesh.start[rng.integers(0, len(mesh.start), 400)]
    x = np.concatenate([corners, corners + rng.normal(scale=0.02, size=corners.shape)])
    place = rng.choice([OUTSIDE, INSIDE, PINCHED], len(x)).astype(np.int8)
    patches = patches_of_bodies(mesh)
    (places, grips), (places_of_one, grips_of_one) = (found(mesh, each, x, place) for each in (patches, in_one(mesh)))
    assert len(patches.garment) > 10 and (grips[:, 1] >= 0).sum() > 100
    assert np.array_equal(places, places_of_one) and np.array_equal(grips, grips_of_one)
