# SPDX-License-Identifier: GPL-3.0-or-later
"""Elastic bands: edges of cloth onto which rubber is sewn, as a waistband, a cuff, a gathered neckline.

A band of the full length L strives for r L, and at L pulls with the tension T [N], as its maker tells it (Hooke):

    force(l) = T (l - r L) / (1 - r) L.

Cloth that lies on a shorter band ruffles between two stitches, finer than a mesh has vertices, and resists nothing there; drawn
out flat it is as stiff as ever. So of the cloth's own spring along a band what it pulls with beyond L is left, as of a thread that is
straight then (`springs.taut_rest`), and what couples it with its neighbours is not. All else about the edge is cloth as before, so that
what is beside a band gathers by its own stiffness. Painted elastic is bands, too (`painted_bands`).
"""

import numpy as np

from ..geometry.topology import edge_keys

LEAST_PULL = 1e-6  # of the tension, where a band is keyed to pull with nothing: the spring is there in each frame


def check_bands(name, count, bands, pull):
    """Raise a ValueError with one sentence if the elastic bands of a garment of so many vertices cannot be."""
    if not 0.0 <= pull < np.inf:
        raise ValueError(f"'{name}': its elastic bands pull with {pull:g} of their tension; use 0 or more.")
    if bands is None:
        return
    edges, length, tension = map(np.asarray, bands)
    if edges.shape != (len(edges), 2) or length.shape != (len(edges),) or tension.shape != (len(edges),):
        raise ValueError(f"'{name}': elastic bands have the shapes {edges.shape}, {length.shape} and {tension.shape}.")
    if edges.size and (edges.min() < 0 or edges.max() >= count):
        raise ValueError(f"'{name}': elastic bands refer to a vertex that does not exist ({count} vertices).")
    for value, good, words in (
        (length, (length > 0.0) & (length < 1.0), "a length that is not between 0 and 1 of its edge"),
        (tension, (tension > 0.0) & (tension < np.inf), "a tension that is not above 0 N"),
    ):
        if not good.all():
            bad = int(np.argmin(good))
            raise ValueError(
                f"'{name}': the elastic band between vertices {edges[bad, 0]} and {edges[bad, 1]} has {words} "
                f"({value[bad]:g}); mark it anew."
            )


def bands_at(garment, pairs):
    """(e,) number of the elastic band along each of the springs between `pairs` (e, 2); -1: none."""
    found = np.full(len(pairs), -1)
    if garment.bands is None or not len(garment.bands.edges):
        return found
    keys, first = np.unique(edge_keys(garment.bands.edges, len(garment.x)), return_index=True)
    own = edge_keys(pairs, len(garment.x))
    at = np.minimum(np.searchsorted(keys, own), len(keys) - 1)
    return np.where(keys[at] == own, first[at], -1)


def lay_bands(garment, pairs, cloth, rest_length, stiffness, taut):
    """Put the garment's elastic bands onto springs between `pairs` (e, 2); returns which have one, (e,) bool.

    cloth : (e,) bool, which are no seams
    # outputs: rest_length (e,) [m], stiffness (e,) [N/m], taut (e, 2) as of `springs.taut_rest`
    """
    which = np.where(cloth, bands_at(garment, pairs), -1)
    on = np.flatnonzero((which >= 0) & (rest_length > 0.0))
    is_band = np.zeros(len(pairs), bool)
    if len(on):
        is_band[on] = True
        part, tension = (np.asarray(value, np.float64)[which[on]] for value in garment.bands[1:])
        full = rest_length[on]
        taut[on] = np.stack([full, stiffness[on]], axis=1)
        stiffness[on] = max(garment.band_pull, LEAST_PULL) * tension / ((1.0 - part) * full)
        rest_length[on] = part * full
    return is_band


def shortened(garment, pairs):
    """(e,) part of its full length that each of the springs between `pairs` (e, 2) strives for."""
    which = bands_at(garment, pairs)
    part = np.ones(len(pairs))
    if garment.bands is not None and len(garment.bands.edges):
        part[which >= 0] = np.asarray(garment.bands.length, np.float64)[which[which >= 0]]
    return part
