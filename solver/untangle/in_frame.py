# SPDX-License-Identifier: GPL-3.0-or-later
"""Garments out of each other and themselves where a frame ends, and the next one begins from there (Buffet 2021, 2.5.5 and 2.6).

    x  <-  untangle(x)      what crosses, by its contours; velocities stay as they are

For ways of cloth on cloth that let some of it through. The thesis projects garments onto the fields of all layers in each frame; these
would put layers at their distance wherever they lie, in one frame and not in the next, and know nothing of a garment that passes
through itself. So what crosses is eased apart by its contours alone, as behind a bake (`correct.take_apart`). What is pinned stays, and
so do rigid garments; of bodies, out of which contact keeps cloth, it only gets no farther in.
"""

import numpy as np

from ..broad_phase.boxes import beside, boxes_round
from ..geometry.topology import edges_of
from ..model import Cloth, Collider
from . import ALLOWED_STRETCH
from .apart import eased
from .mend import Bounds, make_cloud
from .whole import Whole, count_kinds, find_crossing

MARGIN = 0.1  # [m] round what crosses, within which bodies are looked at


def untangle_frame(cloth: Cloth, x: np.ndarray, colliders: tuple[Collider, ...]) -> tuple[int, int]:
    """Take apart what crosses, as far as that makes nothing else worse.

    Parameters
    ----------
    x : (n, 3) [m] particles where a frame ends, relative to the cloth's origin; changed in place
    colliders : over that frame

    Returns
    -------
    how many pairs of triangles of cloth crossed, and how many still do
    """
    if not len(cloth.triangles) or not cloth.meets.any():
        return 0, 0
    alone = find_crossing(_whole(cloth, x, (), cloth.edges[:0]), x)
    if not len(alone.pairs):
        return 0, 0
    about = x[cloth.triangles[alone.pairs]].reshape(-1, 3)
    bodies = _near(colliders, cloth.origin, about.min(axis=0) - MARGIN, about.max(axis=0) + MARGIN)
    # not the springs: between pinned particles there is none
    whole = _whole(cloth, x, bodies, edges_of(cloth.triangles, len(x)))
    place = np.concatenate([x, *(points for points, _, _ in bodies)])
    start = find_crossing(whole, place)
    bounds = Bounds(ALLOWED_STRETCH, count_kinds(whole, start.pairs))
    steps = eased(whole, make_cloud(whole, start), start, start, bounds, out_of_bodies=False)
    try:
        while True:
            next(steps)
    except StopIteration as end:
        kept = end.value
    x[:] = kept.x[: len(x)]
    of_cloth = (whole.owner[kept.pairs] < whole.garment_count).all(axis=1)
    return len(alone.pairs), int(np.count_nonzero(of_cloth))


def _near(colliders, origin, low, high) -> list[tuple[np.ndarray, np.ndarray, tuple[bool, ...] | None]]:
    """Of each body that reaches into a box (low, high) (3,) [m]: vertices (k, 3) [m] relative to the origin, the triangles (t, 3) there,
    and which garments it meets.
    """
    found = []
    for body in colliders:
        points = body.x[-1] - origin
        inside = beside(boxes_round(points[body.triangles]), low, high)
        if inside.any():
            used, triangles = np.unique(body.triangles[inside], return_inverse=True)
            found.append((points[used], triangles.reshape(-1, 3), body.meets))
    return found


def _whole(cloth: Cloth, x, bodies, edges) -> Whole:
    """The cloth, and behind it bodies as from `_near`, as one; edges (e, 2) are to keep the lengths that they have at x (n, 3) [m]."""
    count, sizes = len(cloth.meets), [len(points) for points, _, _ in bodies]
    start = np.searchsorted(cloth.garment, np.arange(count + 1))
    start = np.concatenate([start, len(x) + np.cumsum(sizes, dtype=np.int64)])
    garment = np.concatenate([cloth.garment, np.repeat(np.arange(count, count + len(bodies)), sizes)]).astype(np.int32)
    own = [tris + first for (_, tris, _), first in zip(bodies, start[count:], strict=False)]
    triangles = np.ascontiguousarray(np.concatenate([cloth.triangles, *own]), np.int32)
    meets = np.zeros((count + len(bodies),) * 2, np.bool_)
    meets[:count, :count] = cloth.meets
    for k, (_, _, whom) in enumerate(bodies, count):
        meets[k, :count] = meets[:count, k] = True if whom is None else whom
    stays = cloth.inv_mass == 0.0
    if cloth.rigid is not None:
        stays |= cloth.rigid[cloth.garment]
    beside = np.zeros(sum(sizes))
    return Whole(
        triangles=triangles,
        owner=garment[triangles[:, 0]],
        garment=garment,
        garment_start=start,
        garment_count=count,
        meets=meets,
        meets_itself=np.concatenate([cloth.meets_itself, np.ones(len(beside), np.bool_)]),
        edges=edges,
        is_mesh_edge=np.ones(len(edges), np.bool_),
        rest_length=np.linalg.norm(x[edges[:, 0]] - x[edges[:, 1]], axis=1),
        mass=np.concatenate([cloth.mass, beside]),
        inv_mass=np.concatenate([np.where(stays, 0.0, cloth.inv_mass), beside]),
    )
