# SPDX-License-Identifier: GPL-3.0-or-later
"""All bodies of a frame as one mesh, and which points are inside of it when the frame begins."""

from typing import NamedTuple

import numpy as np

from ...broad_phase.patches import Patches, make_patches
from ...geometry.adjacency import Topology, solid_islands, topology
from ...geometry.seams import sew_borders
from ...geometry.winding import count_windings
from ...kernel.memo import remembered
from ...kernel.threads import cut, on_threads
from ...model import Cloth, Collider
from .contacts import LET_THROUGH, OUTSIDE, PINCHED

LEAST_AURA = 1e-5  # [m]
SMALLEST_WOUND_PART = 4000  # points, or triangles: fewer are done before another thread wakes up


class BodyMesh(NamedTuple):
    """All colliders of a frame as one."""

    colliders: tuple[Collider, ...]
    starts: np.ndarray  # (c + 1,) first vertex of each collider
    start: np.ndarray  # (m, 3) [m] where all vertices are when the frame begins
    triangles: np.ndarray  # (t, 3)
    collider: np.ndarray  # (t,) number of the collider
    solids: int  # closed bodies
    solid: np.ndarray  # (t,) number of the closed body, inside of which is forbidden; 0 for none
    aura: np.ndarray  # (c,) [m]
    friction: np.ndarray  # (c,)
    restitution: np.ndarray  # (c,)
    viscosity: np.ndarray  # (c,) [1/s]
    meets: np.ndarray  # (c, g) bool: which colliders touch which garments
    topology: Topology
    largest_aura: float  # [m] 0 if there are no colliders


class Bodies(NamedTuple):
    """What kernels want of a BodyMesh, and how it moves through a substep."""

    triangles: np.ndarray  # (t, 3), like all others but `motions` as in BodyMesh
    motions: np.ndarray  # (m, 6) as in geometry.moving_triangle; only near the cloth
    collider: np.ndarray  # (t,)
    solid: np.ndarray  # (t,)
    aura: np.ndarray  # (c,) [m]
    friction: np.ndarray  # (c,)
    restitution: np.ndarray  # (c,)
    viscosity: np.ndarray  # (c,) [1/s]
    meets: np.ndarray  # (c, g) bool
    neighbour: np.ndarray  # (t, 3), with the next two as in Topology
    vertex_start: np.ndarray
    vertex_triangles: np.ndarray


def make_bodies(mesh: BodyMesh) -> Bodies:
    """The bodies of a mesh, of whose motions nothing is known."""
    joined, motions = mesh.topology, np.full((len(mesh.start), 6), np.nan)
    kinds = mesh.collider, mesh.solid, mesh.aura, mesh.friction, mesh.restitution, mesh.viscosity, mesh.meets
    return Bodies(mesh.triangles, motions, *kinds, joined.neighbour, joined.vertex_start, joined.vertex_triangles)


def merge(colliders, garments: int) -> BodyMesh:
    """One mesh of all colliders of a frame, which may touch so many garments.

    Raises
    ------
    ValueError
        A collider's vertices are not finite or its triangles name vertices that it does not have.
    """
    colliders = tuple(c for c in colliders if len(c.triangles))
    colliders = tuple(
        c._replace(x=np.ascontiguousarray(c.x, np.float64), aura=max(c.aura, LEAST_AURA)) for c in colliders
    )
    for c in colliders:
        if not np.isfinite(c.x).all():
            raise ValueError(f"Collider '{c.name}' has vertices at NaN or infinity: clean its mesh or its modifiers.")
        if c.meets is not None and len(c.meets) != garments:
            raise ValueError(f"Collider '{c.name}' tells of {len(c.meets)} garments; there are {garments}.")
    names, counts = tuple(c.name for c in colliders), tuple(c.x.shape[1] for c in colliders)
    starts, triangles = _end_to_end(names, counts, tuple(c.triangles for c in colliders))
    joined = topology(triangles, int(starts[-1]))
    if len(joined.border):
        triangles = _sewn(triangles, joined.border, colliders, starts)
        joined = topology(triangles, int(starts[-1]))
    x = np.concatenate([np.zeros((0, 3))] + [c.x[0] for c in colliders])
    closed = solid_islands(joined, x, triangles)
    collider, solid = _of_triangles(joined.island, closed, tuple(len(c.triangles) for c in colliders))
    names = "aura", "friction", "restitution", "viscosity"
    materials = (np.array([getattr(c, name) for c in colliders], float) for name in names)
    meets = np.array([c.meets or garments * (True,) for c in colliders], bool).reshape(-1, garments)
    about = starts, x, triangles, collider, int(closed.sum()), solid, *materials, meets, joined
    return BodyMesh(colliders, *about, max((c.aura for c in colliders), default=0.0))


@remembered(4, lambda *about: about)
def _end_to_end(names, counts, triangles) -> tuple[np.ndarray, np.ndarray]:
    """`BodyMesh.starts` of colliders with so many vertices, and the triangles of all, before seams are closed; ValueError where one
    names vertices that its collider does not have.
    """
    for name, count, own in zip(names, counts, triangles, strict=True):
        if own.min() < 0 or own.max() >= count:
            raise ValueError(f"Collider '{name}' has faces on vertices that it does not have: its topology changed.")
    starts = np.cumsum((0, *counts))
    moved = [own + np.int32(start) for own, start in zip(triangles, starts, strict=False)]
    return starts, np.ascontiguousarray(np.concatenate([np.zeros((0, 3), np.int32), *moved]), np.int32)


def _sewn(triangles: np.ndarray, border: np.ndarray, colliders, starts: np.ndarray) -> np.ndarray:
    """Triangles (t, 3) of all bodies, with seams closed within each (`geometry.seams`)."""
    parts, body = [], np.searchsorted(starts, border[:, 0], "right") - 1
    for number, (c, start) in enumerate(zip(colliders, starts, strict=False)):
        own = triangles[sum(map(len, parts)) :][: len(c.triangles)]
        parts.append(sew_borders(own - start, border[body == number] - start, c.x) + start)
    return np.concatenate(parts).astype(np.int32)


@remembered(4, lambda island, closed, counts: (island, closed, counts))
def _of_triangles(island, closed, counts) -> tuple[np.ndarray, np.ndarray]:
    """(t,) number of each triangle's collider, of which each has so many, and of its closed body."""
    collider = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    return collider, np.where(closed[island], island + 1, 0).astype(np.int32)


@remembered(4, lambda bodies: (bodies.starts, bodies.triangles))
def patches_of_bodies(bodies: BodyMesh) -> Patches:
    """Patches of all bodies' triangles, whose groups are the colliders."""
    collider = np.repeat(np.arange(len(bodies.colliders), dtype=np.int32), np.diff(bodies.starts))
    return make_patches(bodies.triangles, collider)


def way_out(mesh: BodyMesh) -> float:
    """Half the shortest side of a body's box, the largest of all closed bodies: nothing in one is farther from out."""
    longest, first = 0.0, 0
    for c in mesh.colliders:
        last = first + len(c.triangles)
        if mesh.solid[first:last].any():
            longest = max(longest, 0.5 * float(np.ptp(c.x[0], axis=0).min()))
        first = last
    return longest + mesh.largest_aura


def find_places(mesh: BodyMesh, cloth: Cloth, x: np.ndarray, grid: int) -> np.ndarray:
    """(n,) OUTSIDE, INSIDE or PINCHED at the start of the frame, by the winding of the closed bodies along z;
    LET_THROUGH. `grid`: as in `count_windings`.
    """
    place = np.where(cloth.meets_bodies, np.int8(OUTSIDE), np.int8(LET_THROUGH))
    if not mesh.solid.any() or not len(x):
        return place
    bodies = mesh.start - cloth.origin
    for met in map(
        np.array, dict.fromkeys(zip(*mesh.meets.tolist(), strict=True))
    ):  # at once for all garments that meet the same bodies
        who = np.flatnonzero((mesh.meets == met[:, None]).all(axis=0)[cloth.garment] & cloth.meets_bodies)
        solid = np.where(met[mesh.collider], mesh.solid, 0)
        place[who] = np.clip(_windings(bodies, mesh.triangles, solid, x[who], grid), OUTSIDE, PINCHED)
    return place


def _windings(bodies, triangles, solid, x, grid: int) -> np.ndarray:
    """(n,) how often x (n, 3) is enclosed by the triangles that are `solid` (t,). Each thread takes some of the points
    or of the triangles, of which there are more.
    """
    by_points = len(x) > len(solid)
    ranges = cut(max(len(x), len(solid)), SMALLEST_WOUND_PART)
    windings = np.zeros((1 if by_points else len(ranges), len(x)), np.int32)

    def part(number, start, stop):
        own, all_of_them = slice(start, stop), slice(None)
        faces, points = (all_of_them, own) if by_points else (own, all_of_them)
        found = windings[0 if by_points else number, points]
        count_windings(bodies, triangles[faces], solid[faces], x[points], grid, found)

    on_threads(part, ranges)
    return windings.sum(axis=0)
