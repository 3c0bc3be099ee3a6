# SPDX-License-Identifier: GPL-3.0-or-later
"""Untangle: garments that pass through each other at rest come out nested, each outside of the ones below it.

    surfaces (outside, border) -> distance fields of every layer on a grid -> gradient and tangential relaxation ->
    separation

A garment that crosses itself stays as it is in that place: a distance field has no inside and outside there (Buffet 2021,
2.5.4). Garments of one layer have no order, so they are not taken apart. Sets of garments that are not to meet each
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

NODE_COUNT = 3_000_000  # of the distance fields of all layers together: 24 MB
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


class Untangled(NamedTuple):
    """What came out."""

    x: list[np.ndarray]  # (n, 3) [m] of each garment
    moved_count: int  # vertices
    farthest: float  # [m] that one of them went
    stretch_median: float  # length over length before, of edges of which an end moved, less 1, in size
    stretch_worst: float
    crossing_count: int  # sides of triangles that still go through a triangle of another layer
    close_count: int  # pairs that could not be brought to 85 % of their distance


class _Nested(NamedTuple):
    """Garments that were nested together."""

    worn: list[Surface]
    before: np.ndarray  # (n, 3) [m] relative to the origin
    after: np.ndarray  # (n, 3) [m]
    crossing_count: int
    close_count: int


def untangle(
    garments: list[Worn], bodies: list[Shape], depth: float = 0.08, meets: np.ndarray | None = None
) -> Untangled:
    """Nest garments in the order of their layers.

    Parameters
    ----------
    garments : in any order
    bodies : the innermost layer; none is needed
    depth : [m] how deep garments may be in each other; what is deeper is taken to be apart, as a sleeve and a vest
    meets : (g, g + b) bool, which garments are to be outside of each other and of bodies; None: all

    Raises
    ------
    ValueError
        A garment has no outside: names it and what to do.
    """
    count = len(garments)
    meets = np.ones((count, count + len(bodies)), bool) if meets is None else meets
    part_count, part = connected_components(meets[:, :count], directed=False)
    origin = np.concatenate([garment.x for garment in garments]).mean(axis=0)
    found = []
    for k in range(part_count):
        own = np.flatnonzero(part == k)
        near = [body for body, met in zip(bodies, meets[own, count:].any(axis=0), strict=True) if met]
        if len(own) + len(near) > 1:
            found.append((own, _nest([garments[index] for index in own], near, depth, origin)))
    return _result(garments, found, origin)


def _nest(garments, bodies, depth, origin) -> _Nested:
    """Nest all these garments, and those outside of all these bodies."""
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
    wear = _wear(garments, bodies, rank, len(levels), depth, grid.step)
    before = x.copy()
    x = relax(x, sheet, wear, grid)
    layered, everything = _layered(garments, bodies, rank, worn, solid, x, sheet)
    crossing, close = separate_layers(everything, layered)
    return _Nested(worn, before, everything[: len(x)], crossing, close)


def _shapes(garments, bodies, order):
    """The surfaces of garments, then bodies, in their order; flat ones face as the next one inside does."""
    solid = [make_surface(body.name, body.x, body.triangles, None) for body in bodies]
    found, inner = {}, solid[0] if solid else None
    for index in order:
        garment = garments[index]
        inner = found[index] = make_surface(garment.name, garment.x, garment.triangles, inner)
    return [found[index] for index in range(len(garments))] + solid


def _joined(surfaces):
    """Several surfaces as one."""
    if len(surfaces) == 1:
        return surfaces[0]
    starts = np.cumsum([0] + [len(surface.x) for surface in surfaces])
    rows = [np.concatenate([getattr(s, name) for s in surfaces]) for name in ("x", "normals", "border")]
    faces = [
        np.concatenate([getattr(s, name) + start for s, start in zip(surfaces, starts, strict=False)])
        for name in ("triangles", "edges")
    ]
    return Surface(rows[0], faces[0], rows[1], rows[2], faces[1])


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


def _wear(garments, bodies, rank, level_count, depth, step):
    half, weight = np.zeros(level_count + 1), np.ones(level_count + 1)
    half[0] = max((body.aura for body in bodies), default=0.0)
    weight[0] = BODY_RIGIDITY
    for level in range(1, level_count + 1):
        of_level = [garment for garment, r in zip(garments, rank, strict=True) if r == level]
        half[level] = 0.5 * float(np.mean(np.concatenate([garment.thickness for garment in of_level])))
        weight[level] = np.mean([garment.rigidity for garment in of_level])
    return Wear(half, weight, depth, RIM_CELLS * step, FADE_DEPTHS * depth)


def _layered(garments, bodies, rank, worn, solid, x, sheet):
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


def _result(garments, found, origin):
    """All together; `found` has the numbers of garments in `garments`, and how they were nested."""
    x, changes, farthest, moved_count = [garment.x for garment in garments], [np.zeros(0)], 0.0, 0
    for own, (worn, before, after, _, _) in found:
        starts = np.cumsum([0] + [len(surface.x) for surface in worn])
        edges = np.concatenate([surface.edges + start for surface, start in zip(worn, starts, strict=False)])
        moved = (after != before).any(axis=1)
        edges = edges[moved[edges].any(axis=1)]
        length = [np.sqrt(((y[edges[:, 1]] - y[edges[:, 0]]) ** 2).sum(axis=1)) for y in (before, after)]
        changes.append(np.abs(length[1] / length[0] - 1.0))
        farthest = max(farthest, float(np.sqrt(((after - before) ** 2).sum(axis=1)).max()))
        moved_count += int(moved.sum())
        for index, first, last in zip(own, starts[:-1], starts[1:], strict=True):
            x[index] = np.where(moved[first:last, None], after[first:last] + origin, garments[index].x)
    stretch = np.concatenate(changes) if any(map(len, changes)) else np.zeros(1)
    return Untangled(
        x=x,
        moved_count=moved_count,
        farthest=farthest,
        stretch_median=float(np.median(stretch)),
        stretch_worst=float(stretch.max()),
        crossing_count=sum(one.crossing_count for _, one in found),
        close_count=sum(one.close_count for _, one in found),
    )
