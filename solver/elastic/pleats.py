# SPDX-License-Identifier: GPL-3.0-or-later
"""Pleats: edges along which cloth is folded at rest, as by an iron, and stiffer against unfolding.

The angle of a pleat is that by which its faces are turned out of one plane, 0 where cloth is flat. It takes the place of what
the rest shape has there. A mountain, above 0, stands out on the side of the faces' normals, a valley on the other.

A hinge whose edge is a pleat's has that angle, whatever its other two particles are: both lie on the faces that it turns.
A line through a particle of a pleat (`plate`) joins these faces across, too, but not about the pleat: it is left out, and the
hinge between the two faces has all of the rigidity.
"""

import numpy as np

from ..geometry.topology import edge_keys
from .bending import slowed

LARGEST_ANGLE = np.pi  # of a pleat: its faces lie on each other,
HELD_ANGLE = np.radians(160.0)  # and what hinges strive for at most: beyond, they can snap over to the other side
TAKES = (
    0.1  # [s] until a pleat has gone most of its way; with half of it flat strips crumple on their way to full folds
)


def check_pleats(name, count, pleats, model):
    """Raise a ValueError with one sentence if the pleats of a garment of so many vertices cannot be."""
    if pleats is None:
        return
    if model == "SPRINGS":
        raise ValueError(
            f"'{name}' has pleats, and the model Springs has none; choose Fabric or Membrane, or clear them."
        )
    edges, angle, stiffness = map(np.asarray, pleats)
    if edges.shape != (len(edges), 2) or angle.shape != (len(edges),) or stiffness.shape != (len(edges),):
        raise ValueError(f"'{name}': pleats have the shapes {edges.shape}, {angle.shape} and {stiffness.shape}.")
    if edges.size and (edges.min() < 0 or edges.max() >= count):
        raise ValueError(f"'{name}': pleats refer to a vertex that does not exist ({count} vertices).")
    for value, good, words in (
        (angle, np.abs(angle) <= LARGEST_ANGLE + 1e-6, "an angle that is not within 180 degrees"),
        (stiffness, (stiffness >= 0.0) & (stiffness < np.inf), "a stiffness that is not 0 or more"),
    ):
        if not good.all():
            bad = int(np.argmin(good))
            raise ValueError(
                f"'{name}': the pleat between vertices {edges[bad, 0]} and {edges[bad, 1]} has {words} ({value[bad]:g}); "
                "mark it anew."
            )


def fold_angles(x, triangles, stencils, pleats):
    """Rest angles (h,) [rad] of hinges whose edge is a pleat, NaN of all others, and times how stiff each is, 1 of these.

    x (n, 3) [m] and triangles (t, 3) tell the side of the normals; stencils (h, 4); pleats as of `Garment`.
    """
    angle, times = np.full(len(stencils), np.nan), np.ones(len(stencils))
    keys, first = np.unique(edge_keys(pleats.edges, len(x)), return_index=True)
    own = edge_keys(stencils[:, :2], len(x))
    at = np.minimum(np.searchsorted(keys, own), len(keys) - 1)
    found = np.flatnonzero(keys[at] == own) if len(keys) else np.zeros(0, int)
    if not len(found):
        return angle, times
    which, (e0, e1, o0, o1) = first[at[found]], stencils[found].T
    corner = x[triangles]
    normal = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    ends = triangles.ravel()
    outside = np.stack([np.bincount(ends, np.repeat(part, 3), minlength=len(x)) for part in normal.T], axis=1)
    side = np.einsum("hi,hi->h", np.cross(x[e1] - x[e0], x[o1] - x[o0]), outside[e0] + outside[e1])
    angle[found] = np.where(side > 0.0, -1.0, 1.0) * np.clip(pleats.angle[which], -HELD_ANGLE, HELD_ANGLE)
    times[found] = pleats.stiffness[which]
    return angle, times


def pleated(x, triangles, plain, hinges, pleats):
    """The hinges with the stiffness of pleats, and their rest angles as of `fold_angles`; these and None without any.

    Parameters
    ----------
    x, triangles, pleats : as of `fold_angles`
    plain : `Hinges` before lines were fitted (`plate.fit_hinges`)
    hinges : after that: the same ones, and lines behind them
    """
    if pleats is None or not len(pleats.edges):
        return hinges, None
    known, share, stencils = len(plain.stencils), hinges.share.copy(), hinges.stencils
    angle, times = fold_angles(x, triangles, stencils, pleats)
    own = (plain.triangles >= 0).all(axis=1) & ~np.isnan(angle[:known])
    share[:known][own] = np.maximum(share[:known][own], plain.share[own])
    on_pleat = np.zeros(len(x), bool)
    on_pleat[pleats.edges.ravel()] = True
    keys, lines = np.unique(edge_keys(pleats.edges, len(x))), stencils[known:]
    along = [np.isin(edge_keys(lines[:, [0, end]], len(x)), keys) for end in (2, 3)]
    share[known:][on_pleat[lines[:, 0]] & ~along[0] & ~along[1]] = 0.0
    return hinges._replace(share=share * times), angle


def pleat_damping(damping, of, inv_mass, pleats):
    """Damping rates (h,) [1/s] of hinges, those of pleats at least such that one alone goes to its angle as exp(-t / `TAKES`).

    A flat sheet is far from the shape of its pleats: let go, it would snap, swing beyond a full fold, where a hinge cannot
    tell a mountain from a valley, and crumple. So pleats are as stiff springs in honey (Kelvin and Voigt's solid, of the
    retardation time `TAKES`): a hinge of the stiffness k and the weights K has k `TAKES` for a damper.

    Parameters
    ----------
    damping : (h,) [1/s] that the fabric has
    of : x (n, 3) [m], triangles (t, 3), stencils (h, 4), weight (h, 4) [1/m], stiffness (h,) [J]
    inv_mass : (n,) [1/kg]
    pleats : as of `Garment`, or None
    """
    if pleats is None or not len(pleats.edges):
        return damping
    x, triangles, stencils, weight, stiffness = of
    is_pleat = ~np.isnan(fold_angles(x, triangles, stencils, pleats)[0])
    return np.where(is_pleat, np.maximum(damping, slowed(TAKES, stiffness, stencils, weight, inv_mass)), damping)
