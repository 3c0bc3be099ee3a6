# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth and what is near it of the bodies as one mesh in patches, as long as a view of the bodies holds."""

from typing import NamedTuple

import numpy as np

from ...broad_phase.patches import Patches, find_owners, patches_of
from ...kernel.jit import njit
from ...kernel.memo import remembered
from ...model import Cloth
from ..body.cell_grid import Cells
from ..body.mesh import BodyMesh, patches_of_bodies
from ..body.view import View


class Members(NamedTuple):
    """The vertices of patches, once each."""

    vertices: np.ndarray  # (k,) int32, patch after patch
    start: np.ndarray  # (p + 1,) int32 first of each patch in `vertices`


class PatchedMesh(NamedTuple):
    """Cloth and bodies, cloth first."""

    triangles: np.ndarray  # (t, 3) int32
    patches: Patches
    members: Members


class Scene(NamedTuple):
    """What there is to guard, and where."""

    view: View  # of the bodies, that it was made for
    cells: Cells  # of the view, with a flag of their own where cloth has been
    mesh: PatchedMesh
    vertices: np.ndarray  # (u,) of the bodies: rows of `Bodies.motions`
    near: np.ndarray  # (k,) triangles of the bodies, in the order of those of the mesh
    meets: np.ndarray  # (g + c, g + c) bool: garments and colliders


class Details(NamedTuple):
    """What of a scene is asked for only where cloth meets a body."""

    owned: np.ndarray  # `Patches.owned`
    owner: np.ndarray  # (u,) int32 a triangle of the bodies that has the vertex
    friction: np.ndarray  # (n + u,)


def make_scene(cloth: Cloth, bodies: BodyMesh, view: View, cells: Cells, near: np.ndarray) -> Scene:
    """The scene of a cloth and those triangles of the bodies that are `near` (k,), in whatever order."""
    of_cloth, of_body = patches_of(cloth), patches_of_bodies(bodies)
    is_near = np.zeros(len(bodies.triangles), np.bool_)
    is_near[near] = True
    kept = is_near[of_body.triangles]
    near = of_body.triangles[kept]
    size = np.add.reduceat(kept, of_body.start[:-1], dtype=np.int32)
    count, cloth_count = len(cloth.inv_mass), len(cloth.triangles)
    local = np.zeros(int(bodies.starts[-1]), np.int32)
    local[bodies.triangles[near]] = 1
    vertices = np.flatnonzero(local)
    local[vertices] = count + np.arange(len(vertices), dtype=np.int32)
    triangles = np.concatenate([cloth.triangles, local[bodies.triangles[near]]])
    garments = len(cloth.garment_start) - 1
    start = np.concatenate([of_cloth.start, cloth_count + np.cumsum(size[size > 0], dtype=np.int32)])
    group = np.concatenate([of_cloth.garment, garments + of_body.garment[size > 0]])
    order = np.concatenate([of_cloth.triangles, np.arange(cloth_count, len(triangles), dtype=np.int32)])
    patches = Patches(order, start, group, np.empty(0, np.int64), np.empty(0, np.uint8), np.empty(0, np.int32))
    meets = np.zeros(2 * (garments + len(bodies.meets),), np.bool_)
    meets[garments:, :garments], meets[:garments, garments:] = bodies.meets, bodies.meets.T
    mesh = PatchedMesh(triangles, patches, find_members(triangles, patches, count + len(vertices)))
    return Scene(view, cells, mesh, vertices, near, meets)


def find_members(triangles: np.ndarray, patches: Patches, count: int) -> Members:
    """The vertices of patches, of `count` that there are."""
    members, start = np.empty(3 * len(triangles), np.int32), np.empty(len(patches.start), np.int32)
    found = _members_kernel(patches.start, patches.triangles, triangles, np.full(count, -1, np.int32), members, start)
    return Members(members[:found].copy(), start)  # of a room that is mostly empty


@njit
def _members_kernel(first, order, triangles, seen, members, start):
    """The vertices of each patch, once each; returns how many there are. 30 bytes a corner.
    # outputs: members, start (p + 1,); seen (m,) scratch, all -1
    """
    count = 0
    for patch in range(len(first) - 1):
        start[patch] = count
        for slot in range(first[patch], first[patch + 1]):
            for corner in range(3):
                k = triangles[order[slot], corner]
                if seen[k] != patch:
                    seen[k] = patch
                    members[count] = k
                    count += 1
    start[len(first) - 1] = count
    return count


def _key_of_details(scene, cloth, bodies):
    return scene.mesh.triangles, scene.near, cloth.friction, bodies.friction, bodies.collider


@remembered(1, _key_of_details)
def details_of(scene: Scene, cloth: Cloth, bodies: BodyMesh) -> Details:
    """The details of a scene."""
    owner, rough = np.zeros(len(scene.vertices), np.int32), np.empty(len(scene.vertices))
    corners = scene.mesh.triangles[len(cloth.triangles) :].ravel() - len(cloth.inv_mass)
    owner[corners] = np.repeat(scene.near, 3)
    rough[corners] = np.repeat(bodies.friction[bodies.collider[scene.near]], 3)
    return Details(find_owners(scene.mesh.triangles), owner, np.concatenate([cloth.friction, rough]))
