# SPDX-License-Identifier: GPL-3.0-or-later
"""Garments that pass through each other at rest are nested, each outside of the ones below it.

    surfaces (outside, border) -> distance fields of every layer on a grid -> gradient and tangential relaxation ->
    separation

A distance field has no inside and outside where a garment crosses itself, or lies in folds finer than the grid (Buffet 2021,
2.5.4): what comes out there is for `mend` to judge. Garments of one layer have no order, so they are not taken apart. Sets of garments that are not to meet each
other, not even by way of others, are nested one after the other, each set with the bodies that one of it meets.
"""

from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from .distance_grid import make_grid
from .relax import Sheet, Wear, relax
from .separate import Layered, separate_layers
from .surface import Surface, make_surface

NODE_COUNT = 3_000_000  # of the distance fields of all layers together: 36 MB
FINEST_STEP = 0.2  # of an edge of the garments: nodes no closer than that
BODY_RIGIDITY = 1e6  # of a body, which moves nothing that one could see
PAD_DEPTHS = 0.25  # depths that the grid is larger than the garments, besides two thicknesses
RIM_CELLS, FADE_DEPTHS = 2.0, 0.6  # cells past a border up to which a layer counts fully; depths in which it ceases to


class Worn(NamedTuple):
    """A garment to untangle."""

    name: str  # the object's, for messages
    x: np.ndarray  # (n, 3) [m] world space
    triangles: np.ndarray  # (t, 3)
    thickness: np.ndarray  # (n,) [m]
    layer: int  # 0 is innermost
    rigidity: float  # > 0: how little it gives way, over that of others


class Shape(NamedTuple):
    """A body, which stays where it is and lies inside of all garments."""

    name: str
    x: np.ndarray  # (n, 3) [m] world space
    triangles: np.ndarray  # (t, 3)
    aura: float  # [m]


def nest(garments: list[Worn], bodies: list[Shape], depth: float, meets: np.ndarray) -> list[np.ndarray]:
    """(n, 3) [m] of each garment, nested in the order of the layers as well as that goes.

    Parameters
    ----------
    garments : in any order
    bodies : the innermost layer; none is needed
    depth : [m] how deep garments may be in each other; what is deeper is taken to be apart, as a sleeve and a vest
    meets : (g, g + b) bool, which garments are to be outside of each other and of bodies

    Raises
    ------
    ValueError
        A garment has no outside: names it and what to do.
    """
    count, found = len(garments), [garment.x for garment in garments]
    part_count, part = connected_components(meets[:, :count], directed=False)
    origin = np.concatenate(found).mean(axis=0)
    for k in range(part_count):
        own = np.flatnonzero(part == k)
        near = [body for body, met in zip(bodies, meets[own, count:].any(axis=0), strict=True) if met]
        if len(own) + len(near) > 1:
            for index, x in zip(own, _nest([garments[index] for index in own], near, depth, origin), strict=True):
                found[index] = x
    return found


def _nest(garments, bodies, depth, origin) -> list[np.ndarray]:
    """Nest all these garments, and those outside of all these bodies; what does not move stays to the bit."""
    order = sorted(range(len(garments)), key=lambda index: garments[index].layer)
    levels = sorted({garment.layer for garment in garments})
    rank = [levels.index(garment.layer) + 1 for garment in garments]
    shapes = _shapes(garments, bodies, order)
    shapes = [surface._replace(x=surface.x - origin) for surface in shapes]
    worn, solid = shapes[: len(garments)], shapes[len(garments) :]
    x = np.concatenate([surface.x for surface in worn])
    sheet = _sheet(garments, rank, worn)
    layers = [solid] + [[_joined([worn[k] for k in order if rank[k] == r + 1])] for r in range(len(levels))]
    pad = 2.0 * float(sheet.half.max()) + PAD_DEPTHS * depth
    finest = FINEST_STEP * float(np.median(sheet.length))
    grid = make_grid(layers, x.min(axis=0) - pad, x.max(axis=0) + pad, NODE_COUNT // len(layers), finest)
    wear = _wear(garments, rank, len(levels), depth, grid.step)
    before = x.copy()
    x = relax(x, sheet, wear, grid)
    layered, everything = _layered(garments, bodies, worn, solid, x, sheet)
    separate_layers(everything, layered)
    after, starts = everything[: len(x)], np.cumsum([0] + [len(surface.x) for surface in worn])
    moved = (after != before).any(axis=1)[:, None]
    parts = [slice(*ends) for ends in zip(starts[:-1], starts[1:], strict=True)]
    return [np.where(moved[k], after[k] + origin, g.x) for k, g in zip(parts, garments, strict=True)]


def _shapes(garments, bodies, order):
    """The surfaces of garments, then bodies, in their order; flat ones face as the next one inside does."""
    solid = [make_surface(body.name, body.x, body.triangles, None, body.aura) for body in bodies]
    found, inner = {}, solid[0] if solid else None
    for index in order:
        garment = garments[index]
        about = garment.name, garment.x, garment.triangles, inner, 0.5 * garment.thickness
        inner = found[index] = make_surface(*about)
    return [found[index] for index in range(len(garments))] + solid


def _joined(surfaces):
    """Several surfaces as one."""
    if len(surfaces) == 1:
        return surfaces[0]
    starts = np.cumsum([0] + [len(surface.x) for surface in surfaces])
    rows = [np.concatenate([getattr(s, name) for s in surfaces]) for name in ("x", "normals", "border", "half")]
    faces = [
        np.concatenate([getattr(s, name) + start for s, start in zip(surfaces, starts, strict=False)])
        for name in ("triangles", "edges")
    ]
    return Surface(rows[0], faces[0], rows[1], rows[2], faces[1], rows[3])


def _sheet(garments, rank, worn):
    starts = np.cumsum([0] + [len(surface.x) for surface in worn])
    edges = np.concatenate([surface.edges + start for surface, start in zip(worn, starts, strict=False)])
    x = np.concatenate([surface.x for surface in worn])
    both = np.concatenate((edges, edges[:, ::-1]))
    length = np.sqrt(((x[both[:, 1]] - x[both[:, 0]]) ** 2).sum(axis=1))
    around = coo_array((length, (both[:, 0], both[:, 1])), shape=(len(x), len(x))).tocsr()
    return Sheet(
        layer=np.repeat(rank, np.diff(starts)).astype(np.int32),
        half=np.concatenate([0.5 * garment.thickness for garment in garments]),
        start=around.indptr.astype(np.int32),
        neighbour=around.indices.astype(np.int32),
        length=around.data,
    )


def _wear(garments, rank, level_count, depth, step):
    weight = np.ones(level_count + 1)
    weight[0] = BODY_RIGIDITY
    for level in range(1, level_count + 1):
        weight[level] = np.mean([g.rigidity for g, r in zip(garments, rank, strict=True) if r == level])
    return Wear(weight, depth, RIM_CELLS * step, FADE_DEPTHS * depth)


def _layered(garments, bodies, worn, solid, x, sheet):
    """All as one for the separation, and its positions."""
    everything = np.concatenate([x] + [surface.x for surface in solid])
    starts = np.cumsum([0] + [len(surface.x) for surface in (*worn, *solid)])
    triangles = [surface.triangles + start for surface, start in zip((*worn, *solid), starts, strict=False)]
    soft = np.concatenate([np.full(len(g.x), 1.0 / g.rigidity) for g in garments])
    body_count = len(everything) - len(x)
    aura = [np.full(len(body.x), body.aura) for body in bodies]
    layered = Layered(
        triangles=np.concatenate(triangles).astype(np.int32),
        layer=np.concatenate((sheet.layer, np.zeros(body_count, np.int32))),
        half=np.concatenate([sheet.half, *aura]),
        softness=np.concatenate((soft, np.zeros(body_count))),
    )
    return layered, everything
