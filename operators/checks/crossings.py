# SPDX-License-Identifier: GPL-3.0-or-later
"""Where garments cross a body, each other or themselves in the pose that a bake starts from, or are inside a body.

Triangle against triangle by Blender's own bounding volume tree, those with a corner in one place as the bake counts them;
inside is what the solver takes for it. The pose is the garments' own (the cache muted) at the first frame.
"""

import contextlib
from collections.abc import Generator, Iterator
from typing import NamedTuple

import bpy
import numpy as np
from mathutils.bvhtree import BVHTree

from ..read import groups
from ..read.arrays import positions, triangulated
from ..read.maps import read_map
from ..read.preroll import at_start
from ..read.sampling import depsgraph_of, posed


class Surface(NamedTuple):
    """An evaluated mesh in world space."""

    name: str
    x: np.ndarray  # (n, 3) [Blender units], relative to an origin that all surfaces share
    triangles: np.ndarray  # (t, 3)
    tree: BVHTree
    obj: bpy.types.Object
    masks: dict[str, np.ndarray]  # vertices that collide, as in `groups.masks`, where a group says so


class Crossing(NamedTuple):
    """A garment and what it crosses."""

    garment: str
    other: str  # its own name when it crosses itself
    pair_count: int
    held_count: int  # of these pairs, whose cloth has a pinned corner
    vertices: np.ndarray  # of the garment's crossing triangles
    other_vertices: np.ndarray  # of the other's


class Immersion(NamedTuple):
    """A garment that is inside a body, all of it or a part."""

    garment: str
    body: str
    vertices: np.ndarray  # of the garment, that are inside
    vertex_count: int  # of the garment, in all
    depth: float  # [Blender units] from the deepest of them to the nearest way out


def start_pose(
    scene: bpy.types.Scene, cloths: list[bpy.types.Object], colliders: list[bpy.types.Object]
) -> tuple[list[Surface], list[Surface]]:
    """Garments and bodies at the bake's first frame, of these the ones that collide there; the user's frame comes back."""
    with posed(scene, cloths, colliders), at_start(scene):
        depsgraph = depsgraph_of(scene)
        # The tree has float32: far from the world's origin it needs one nearby.
        origin = np.array(cloths[0].matrix_world.translation) if cloths else np.zeros(3)
        garments = [surface(obj, depsgraph, origin) for obj in cloths]
        colliding = [obj for obj in colliders if obj.evaluated_get(depsgraph).taffeta_collider.collides]
        bodies = [surface(obj, depsgraph, origin) for obj in colliding]
    return garments, bodies


def find_tangles(
    garments: list[Surface], bodies: list[Surface]
) -> Generator[str, None, tuple[list[Crossing], list[Immersion]]]:
    """Every crossing of these garments with what they are to keep off, and every garment of which something is inside a
    closed body that it is to meet. Yields what is looked at next.
    """
    crossed, immersed = [], []
    for garment, other in _neighbours(garments, bodies):
        yield f"Looking where {garment.name} crosses {'itself' if garment is other else other.name}"
        crossed.append(_crossing(garment, other))
    for garment in garments:
        for body in bodies:
            yield f"Looking what of {garment.name} is inside {body.name}"
            immersed.append(_immersion(garment, body))
    return [found for found in crossed if found is not None], [found for found in immersed if found is not None]


def find_crossings(garments: list[Surface], bodies: list[Surface]) -> list[Crossing]:
    """Every crossing of these garments with what they are to keep off, all at once."""
    crossed = (_crossing(garment, other) for garment, other in _neighbours(garments, bodies))
    return [found for found in crossed if found is not None]


def _neighbours(garments: list[Surface], bodies: list[Surface]) -> Iterator[tuple[Surface, Surface]]:
    """Each garment with each body, with itself and with the garments behind it."""
    for index, garment in enumerate(garments):
        for other in (*bodies, *garments[index:]):
            yield garment, other


def _crossing(garment: Surface, other: Surface) -> Crossing | None:
    pairs = _kept_apart(garment, other, crossing_pairs(garment, other))
    if not len(pairs):
        return None
    one, two = np.unique(garment.triangles[pairs[:, 0]]), np.unique(other.triangles[pairs[:, 1]])
    if garment is other:
        one = two = np.union1d(one, two)
    return Crossing(garment.name, other.name, len(pairs), _held_count(garment, other, pairs), one, two)


def _held_count(garment: Surface, other: Surface, pairs: np.ndarray) -> int:
    """How many of the pairs of triangles (k, 2) pins hold at a corner of cloth."""
    held = np.zeros(len(pairs), bool)
    for side, each in enumerate((garment, other)):
        if each.obj.taffeta_cloth.enabled:
            with contextlib.suppress(ValueError):  # a map that is missing: preflight tells of that
                pinned = read_map(each.obj, each.obj.taffeta_cloth.pin, each.obj.data) >= 1.0
                held |= len(pinned) == len(each.x) and pinned[each.triangles[pairs[:, side]]].any(axis=1)
    return int(np.count_nonzero(held))


def _immersion(garment: Surface, body: Surface) -> Immersion | None:
    from ...solver.ldi.inside import find_inside

    if not groups.meet(garment.obj, body.obj):
        return None
    inside = find_inside(body.x, body.triangles, garment.x)
    held = garment.masks.get("meets_bodies", np.ones(len(garment.x), bool))[inside.point]
    if not held.any():
        return None
    depth = float(inside.depth[held].max())
    return Immersion(garment.name, body.name, inside.point[held], len(garment.x), depth)


def _kept_apart(garment: Surface, other: Surface, pairs: np.ndarray) -> np.ndarray:
    """Those of the crossing pairs of triangles (k, 2) that a bake would keep apart."""
    if not groups.meet(garment.obj, other.obj):
        return pairs[:0]
    if garment is other and (mask := garment.masks.get("meets_itself")) is not None:
        return pairs[mask[garment.triangles].all(axis=1)[pairs].all(axis=1)]
    if not other.obj.taffeta_cloth.enabled and (mask := garment.masks.get("meets_bodies")) is not None:
        return pairs[mask[garment.triangles].all(axis=1)[pairs[:, 0]]]
    return pairs


def surface(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph, origin: np.ndarray) -> Surface:
    """An object as it is evaluated, relative to `origin` (3,) [Blender units]."""
    evaluated = obj.evaluated_get(depsgraph)
    mesh = evaluated.data
    matrix = np.array(evaluated.matrix_world)
    with np.errstate(invalid="ignore"):
        x = positions(mesh) @ matrix[:3, :3].T + (matrix[:3, 3] - origin)
    triangles, _ = triangulated(mesh)
    return surface_of(obj, mesh, x, triangles)


def surface_of(obj: bpy.types.Object, mesh: bpy.types.Mesh, x: np.ndarray, triangles: np.ndarray) -> Surface:
    """An object whose vertices are at x (n, 3) [Blender units]; groups are looked for in `mesh`."""
    x[~np.isfinite(x)] = 0.0  # preflight tells of such vertices; the tree must not choke on them
    tree = BVHTree.FromPolygons(x.tolist(), triangles.tolist(), all_triangles=True)
    lacking = any(groups.missing(obj, name) for name in groups.MASKS)  # preflight tells of that
    masks = {} if lacking else {name: mask for name, mask in groups.masks(obj, mesh).items() if mask is not None}
    return Surface(obj.name, x, triangles, tree, obj, masks)


def crossing_pairs(garment: Surface, other: Surface) -> np.ndarray:
    """Crossing triangle pairs, (k, 2); of a garment with itself each pair once."""
    pairs = np.array(garment.tree.overlap(other.tree), np.int64).reshape(-1, 2)
    return _without_neighbours(garment, pairs[pairs[:, 0] < pairs[:, 1]]) if garment is other else pairs


def _without_neighbours(surface: Surface, pairs: np.ndarray) -> np.ndarray:
    """Pairs (k, 2) of a surface's triangles without those that only touch where a corner of both lies.

    The tree leaves out some of these, but not all: in a flat grid two that lie cornerwise have sides in one line, which float32
    takes for a crossing.
    """
    from ...solver.crossings import cross

    if not len(pairs):
        return pairs
    x, place = np.unique(surface.x, axis=0, return_inverse=True)
    one, two = place.reshape(-1)[surface.triangles][pairs.T]
    are_neighbours = (one[:, :, None] == two[:, None, :]).any(axis=(1, 2))
    return pairs[~are_neighbours | cross(x, one, two)]
