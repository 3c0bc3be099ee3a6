# SPDX-License-Identifier: GPL-3.0-or-later
"""Elastic that is painted: a tension per width [N/m] of each vertex, which becomes bands (`bands`) along the edges of the mesh.

Drawn out to its full size, elastic of the tension s per width pulls with the stress S = s d d^T along a thread d, or s I in all
directions. Of a triangle of the area A, whose sides have the lengths l and the directions e, the sides pull as hard as that with the
tensions T that balance it, which are three equations for three sides,

    sum T l e e^T = A S.

A side has the tension of both its triangles, times the mean of what is painted at its ends; so each vertex stands for the cloth half
way to its neighbours, and a rim for half a row. Where d runs along no side a triangle's third side would have to push: it does not,
because rubber does not, and the pull is to some part across (none on quads that lie along the threads).

Where the elastic is at rest, a side is sqrt(r^2 cos^2 + sin^2) of its full length, of its angle to d, and r in all directions. Other
sides of painted cloth, diagonals of quads among them, hold it as `SLACK_PULL` alone until they are straight: gathered cloth ruffles finer
than the mesh. Sides across the elastic are cloth as ever.
"""

import numpy as np

from ..geometry.topology import edge_keys
from ..model import Bands
from .membrane import warp_of_pattern

SLACK_PULL = 1e-3  # of the tension of a band as wide as it is long: what cloth that only follows is held with
ACROSS = (
    0.995  # part of its length from which on a side is no band: it is as long as ever where the elastic is drawn in
)
LEAST_SINE = 1e-3  # of a triangle's sharpest corner, below which it has no say
WARP, WEFT, BOTH = WAYS = "WARP", "WEFT", "BOTH"


def painted_bands(garment, tension, part, along):
    """`Bands` of what is painted on a garment; None where nothing is.

    Parameters
    ----------
    garment : `model.Garment`, of which are read: name, x (n, 3) [m], triangles (t, 3), quads (q, 4), uv (t, 3, 2) or None
    tension : (n,) [N/m] per width, at full length
    part : of its full length that the elastic has at rest
    along : one of `WAYS`

    Raises
    ------
    ValueError
        A tension below 0 or no number, or along a thread that no pattern tells: names garment and remedy.
    """
    if not (np.isfinite(tension) & (tension >= 0.0)).all():
        bad = int(np.argmin(np.isfinite(tension) & (tension >= 0.0)))
        raise ValueError(f"'{garment.name}': its elastic has {tension[bad]:g} N/m at vertex {bad}; use 0 or more.")
    if not tension.any():
        return None
    if along != BOTH and garment.uv is None:
        raise ValueError(
            f"'{garment.name}': its elastic runs along {along.lower()}, and it has no Pattern that tells the threads; choose its UV map, or "
            "let the elastic run in both directions."
        )
    ends, unit, aslant = _sides(garment, along)
    painted = 0.5 * (tension[ends[:, 0]] + tension[ends[:, 1]])
    length = np.linalg.norm(garment.x[ends[:, 1]] - garment.x[ends[:, 0]], axis=1)
    shorter = np.sqrt(1.0 - (1.0 - part**2) * aslant)
    on = (tension[ends] > 0.0).all(axis=1) & (shorter < ACROSS)
    pull = painted * np.maximum(unit, SLACK_PULL * length)
    return Bands(ends[on], shorter[on], pull[on]) if on.any() else None


def _sides(garment, along):
    """Ends (e, 2) of a garment's edges and of its quads' diagonals; T [m] of each for s = 1; cos^2 of its angle to the elastic, 1 where
    that runs in both directions."""
    x, triangles = np.asarray(garment.x, np.float64), np.asarray(garment.triangles)
    corner = x[triangles]
    e = corner[:, [2, 0, 1]] - corner[:, [1, 2, 0]]  # side k is opposite corner k
    length = np.linalg.norm(e, axis=2)
    normal = np.cross(e[:, 0], e[:, 1])
    double = np.linalg.norm(normal, axis=1)
    sound = double > LEAST_SINE * np.maximum(length.max(axis=1), 1e-300) ** 2
    d = _thread(garment, e, normal, along)
    unit = np.where(sound[:, None], _balance(e, length, normal, double, d), 0.0)
    aslant = np.ones(length.shape)
    if d is not None:
        aslant = (np.einsum("tki,ti->tk", e, d) / np.maximum(length, 1e-300)) ** 2
    ends = triangles[:, [[1, 2], [2, 0], [0, 1]]].reshape(-1, 2)
    keys, first, own = np.unique(edge_keys(ends, len(x)), return_index=True, return_inverse=True)
    own, ends = own.ravel(), ends[first]
    unit = np.maximum(np.bincount(own, unit.ravel()), 0.0)
    aslant = np.bincount(own, aslant.ravel()) / np.bincount(own)
    others, way = _other_diagonals(garment, keys, d, triangles)
    return np.concatenate([ends, others]), np.append(unit, np.zeros(len(others))), np.append(aslant, way)


def _thread(garment, e, normal, along):
    """(t, 3) unit vectors that the elastic runs along in the triangles with sides e (t, 3, 3), zero where nothing tells; None: both."""
    if along == BOTH:
        return None
    warp, told = warp_of_pattern(e, np.asarray(garment.uv, np.float64))
    if not told.any():
        raise ValueError(f"'{garment.name}': its Pattern has no area, so it has no threads; unwrap it again.")
    weft = np.cross(normal, warp)
    weft /= np.maximum(np.linalg.norm(weft, axis=1), 1e-300)[:, None]
    return warp if along == WARP else weft


def _balance(e, length, normal, double, d):
    """(t, 3) [m] T of the sides of each triangle for s = 1.

    In closed form: the sides' unit vectors u, v, w are each at right angles to a normal in the plane, and S between the normals of two
    sides leaves the third alone, T = A (n_i . S n_j) / l (n_i . e)(n_j . e).
    """
    across = np.cross(normal / np.maximum(double, 1e-300)[:, None], e.transpose(1, 0, 2)).transpose(
        1, 0, 2
    )  # (t, 3, 3), as long as e
    one, other = across[:, [1, 2, 0]], across[:, [2, 0, 1]]
    if d is None:
        between = np.einsum("tki,tki->tk", one, other)
    else:
        between = np.einsum("tki,ti->tk", one, d) * np.einsum("tki,ti->tk", other, d)
    both = np.einsum("tki,tki->tk", one, e) * np.einsum("tki,tki->tk", other, e)  # -(2 A)^2
    return 0.5 * double[:, None] * between * length / np.where(both == 0.0, np.inf, both)


def _other_diagonals(garment, keys, d, triangles):
    """Ends (q, 2) of the quads' diagonals that are no sides of triangles, and cos^2 of their angles to the elastic."""
    quads, count = np.asarray(garment.quads, np.int64).reshape(-1, 4), len(garment.x)
    ends = np.concatenate([quads[:, [0, 2]], quads[:, [1, 3]]])
    ends = ends[~np.isin(edge_keys(ends, count), keys)]
    if d is None or not len(ends):
        return ends, np.ones(len(ends))
    at = np.zeros((count, 3, 3))  # threads about a vertex, whatever their sign
    np.add.at(at, triangles.ravel(), np.repeat(d[:, :, None] * d[:, None], 3, axis=0))
    way = garment.x[ends[:, 1]] - garment.x[ends[:, 0]]
    threads = at[ends].sum(axis=1)
    size = np.einsum("eii->e", threads) * np.einsum("ei,ei->e", way, way)
    return ends, np.einsum("ei,eij,ej->e", way, threads, way) / np.maximum(size, 1e-300)
