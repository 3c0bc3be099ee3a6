# SPDX-License-Identifier: GPL-3.0-or-later
"""Garments whose vertices are doubled along seams: simulated as if each of these places had one vertex.

The mesh keeps all its vertices, and so do caches and exports: one vertex of each set takes part in the simulation, and
the others are where it is at the end of every frame (`Garment.twins`). Joined are vertices of borders alone, and none
that are far apart for the edges about them: welding closes seams and never makes a face collapse.
"""

import numpy as np
from scipy.spatial import cKDTree

from ..model import Garment
from .seams import same_places
from .topology import border_edges

EDGE_SHARE = 0.3  # of the shorter of the border's edges about two vertices, that they may be apart at most

MEANS = (
    "mass", "thickness", "stretch_stiffness", "shear_stiffness", "bending_stiffness", "damping", "friction", "shrink",
)  # fmt: skip


def find_twins(triangles: np.ndarray, x: np.ndarray, reach: float) -> np.ndarray:
    """Vertices of borders that lie on each other: (k, 2) each vertex that has one in its place, and that one.

    Parameters
    ----------
    triangles : (t, 3)
    x : (n, 3) [m]
    reach : [m] up to which two of them are one
    """
    border = border_edges(triangles)
    ends = np.unique(border)
    if len(ends) < 2 or reach <= 0.0:
        return np.zeros((0, 2), np.int32)
    length = np.linalg.norm(x[border[:, 0]] - x[border[:, 1]], axis=1)
    shortest = np.full(len(x), np.inf)
    for side in border.T:
        np.minimum.at(shortest, side, length)
    pairs = ends[cKDTree(x[ends]).query_pairs(reach, output_type="ndarray")]
    one, other = pairs[np.lexsort(pairs.T)].T
    apart = np.linalg.norm(x[one] - x[other], axis=1)
    near = apart <= EDGE_SHARE * np.minimum(shortest[one], shortest[other])
    first, place = same_places(one[near], other[near], len(x))
    twins = np.flatnonzero(first[place] != np.arange(len(x)))
    return np.column_stack((twins, first[place[twins]])).astype(np.int32)


def mean_of_twins(twins: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Values (n, ...) with the mean of each place where `twins` (k, 2) are joined to what they lie on."""
    count = len(values)
    place = np.arange(count)
    place[twins[:, 0]] = twins[:, 1]
    share = 1.0 / np.bincount(place, minlength=count)[place]
    total = np.zeros((count, *values.shape[1:]))
    np.add.at(total, place, (values.T * share).T)
    return np.where(np.isin(place, twins[:, 1])[(...,) + (None,) * (values.ndim - 1)], total[place], values)


def weld(garment: Garment, reach: float) -> Garment:
    """The garment with faces and edges of one vertex a place. Each place has the mean of what its vertices are, the firmest
    pin, and collides where all of them do.
    """
    twins = find_twins(garment.triangles, garment.x, reach)
    for doubled in (garment.tear_edges, garment.zip_edges):  # on purpose
        if doubled is not None:
            twins = twins[~np.isin(twins, doubled).any(axis=1)]
    if not len(twins):
        return garment
    count = len(garment.x)
    place = np.arange(count)
    place[twins[:, 0]] = twins[:, 1]

    def mean(values):
        return mean_of_twins(twins, values)

    def most(values, of=np.maximum):
        values = np.array(values)
        of.at(values, place, values.copy())
        return values[place]

    def collides(values):
        values = np.ones(count, bool) if values is None else most(values, np.logical_and)
        values[twins[:, 0]] = False
        return values

    edges = place[garment.edges].astype(garment.edges.dtype)
    welded = {name: mean(getattr(garment, name)) for name in MEANS if getattr(garment, name) is not None}
    return garment._replace(
        x=mean(garment.x),
        x_start=mean(garment.x_start),
        triangles=place[garment.triangles].astype(garment.triangles.dtype),
        quads=place[garment.quads].astype(garment.quads.dtype),
        edges=edges[edges[:, 0] != edges[:, 1]],
        pin=most(garment.pin),
        pin_distance=most(garment.pin_distance, np.minimum),
        meets_bodies=collides(garment.meets_bodies),
        meets_itself=collides(garment.meets_itself),
        twins=twins,
        x_second=None if garment.x_second is None else mean(garment.x_second),
        pleats=garment.pleats and garment.pleats._replace(edges=place[garment.pleats.edges]),
        bands=garment.bands and garment.bands._replace(edges=place[garment.bands.edges]),
        **welded,
    )
