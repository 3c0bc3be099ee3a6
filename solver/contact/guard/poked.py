# SPDX-License-Identifier: GPL-3.0-or-later
"""What a body has been poked through is eased off it, as tangles of cloth are (`cloth.easing`).

Between bodies that close on it cloth has no room, and the guard lets go of it (`body_pairs`): a finger can go through a
triangle whose corners stay outside. When the bodies part, nothing that asks on which side a point is sees it, and the cloth
hangs on the finger for ever. But the line along which the two cross parts the body: so the smaller piece goes back through the
cloth, or where nothing is parted, the line is made shorter. Bodies go where they are told to. So cloth goes, against the
body as it moves, at least `OFF_SPEED` fast, whatever pulls at it. While bodies that overlap pinch cloth, nothing is eased off: beside
them there is nowhere to go, and it would be drawn over what is in its way.
"""

import numpy as np

from ...broad_phase.bvh import bvh_overlaps
from ...model import Cloth
from ..body.contacts import is_overlapped
from ..body.mesh import BodyMesh
from ..cloth.easing import EASE_ROUNDS, find_piercings, part_kernel, ways
from ..cloth.edge_lengths import restore_lengths
from .body_pairs import BodyPairs

OFF_SPEED = 0.9  # [m/s] at which cloth leaves what it is on: a finger is long, and at that of cloth off cloth springs took it back


def ease_off(this: BodyPairs, cloth: Cloth, start, x, x_from, dt: float, brace: np.ndarray) -> None:
    """Move cloth off what has been poked through it, in a substep dt [s] in which it went from `start` to x; x and x_from (n, 3)
    [m] change. cloth : as it gives way beside bodies; brace : as in `cloth.response.Substep`
    """
    bodies = this.frame.body.bodies
    if not this.frame.tangled.any() or overlap_pinches(this):
        return
    both, count = _with_bodies(cloth, this.frame.body.mesh), len(x)
    begin = np.concatenate([start, bodies.motions[:, :3]])
    end = np.concatenate([x, bodies.motions[:, :3] + bodies.motions[:, 3:]])
    piercings = find_piercings(_near(this, both, end), both, end)
    if not len(piercings.corners):
        return
    way = ways(piercings, both, end, np.zeros((len(end), len(both.meets)), np.int8))
    brace = np.concatenate([brace, np.zeros((len(end) - count, 3))]) if len(brace) else brace
    for _ in range(EASE_ROUNDS):
        part_kernel(piercings.corners, piercings.weight, way, OFF_SPEED * dt, begin, end, both.inv_mass, brace)
        restore_lengths(cloth.edges, cloth.is_mesh_edge, cloth.inv_mass, x, end[:count])
    x_from += end[:count] - x
    x[:] = end[:count]


def _with_bodies(cloth: Cloth, mesh: BodyMesh) -> Cloth:
    """Cloth and bodies as one cloth, as far as easing looks at it; a vertex of a body weighs as much as one of the cloth."""
    count, garments, each = len(cloth.mass), len(cloth.meets), np.diff(mesh.starts)
    is_none = np.zeros(each.sum())
    meets = np.zeros((garments + len(each),) * 2, np.bool_)
    meets[garments:, :garments], meets[:garments, garments:] = mesh.meets, mesh.meets.T
    return cloth._replace(
        triangles=np.concatenate([cloth.triangles, mesh.triangles + np.int32(count)]),
        garment=np.concatenate([cloth.garment, np.repeat(garments + np.arange(len(each)), each)]),
        mass=np.concatenate([cloth.mass, is_none + cloth.mass.mean()]),
        inv_mass=np.concatenate([cloth.inv_mass, is_none]),
        meets_itself=np.concatenate([cloth.meets_bodies, is_none == 0.0]),
        meets=meets,
    )


def _near(this: BodyPairs, both: Cloth, x: np.ndarray) -> np.ndarray:
    """Pairs (p, 2) of triangles of cloth that the guard has let go of, and of bodies, whose boxes overlap."""
    cloth = this.frame.cloth
    is_loose = this.frame.tangled[cloth.triangles].any(axis=1) & cloth.meets_bodies[cloth.triangles].all(axis=1)
    loose = np.flatnonzero(is_loose)
    chosen = np.concatenate([loose, len(cloth.triangles) + this.frame.body.view.near]).astype(np.int32)
    corners = x[both.triangles[chosen]]
    boxes = np.concatenate([corners.min(axis=1), corners.max(axis=1)], axis=1)
    return chosen[bvh_overlaps(boxes, both.garment[both.triangles[chosen, 0]].astype(np.int32), both.meets)]


def overlap_pinches(this: BodyPairs) -> bool:
    """Whether bodies that overlap pinch cloth."""
    contacts = this.frame.body.contacts
    return is_overlapped(contacts.place, contacts.between)
