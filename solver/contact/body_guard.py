# SPDX-License-Identifier: GPL-3.0-or-later
"""The guard against bodies: cloth that is apart from a body at the start of a substep is so at its end.

`body` keeps points of the cloth off the bodies. Between them an edge of cloth or a corner of a body may pass, and cloth
that is pushed by cloth may go in again. So after all that, each triangle of cloth is looked at with each triangle of a
body that it could meet in this substep, both on their straight ways. A direction along which the two are apart all the
time (a normal, or their shortest connection at the start) lets nearly all of them go. What is left is taken apart into
particles and triangles, edges and edges, as cloth on cloth is, with the bodies' vertices as particles without an
inverse mass: `push` responds to them, at a contact distance that is a small part of the aura, and `guard` has the last
word: there a zone that meets a body rides along with it, as if it were a part of that body's rigid motion.

A substep is complete in itself: nothing is foreseen, so nothing can be missed, however fast a body is and turns. But
triangles come in patches, and of two patches it is remembered how far they are apart, less what they have gone since:
until that is used up they are not looked at again. What `push` and `guard` move has to be looked at anew within the
substep; patches in which nothing has moved keep what was found in them.

Cloth that passes through a body at the start of a substep, that is inside one or pinched, is free of all this, and so
are its neighbours: the guard would lock it in. So is what cannot be kept apart, as between bodies that close on it.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..ldi.ways import find_near, move
from ..model import Cloth, Settings
from ..threads import cut, joined, on_threads
from . import guard
from .body import Body, View
from .body_stencils import find_stencils, keep_kernel
from .body_sweep import BEYOND, Members, cover_kernel, gather_kernel, place_kernel, sweep_kernel
from .body_topology import Topology
from .cloth_detection import Near
from .cloth_response import respond_kernel
from .patches import BROAD_PHASES, PATCH, Patches, find_owners, make_patches, patches_of
from .sift import ACROSS, Found, look_kernel, sift_kernel

SKIN = 0.1  # contact distance in auras
FEW = 512  # pairs of patches that are not worth another thread
AHEAD = 3.0  # substeps for which pairs of patches are looked for
SPARE = 0.3  # of that way, on every side, and
ROOM = 0.2  # of a patch's size, by which patches may leave it
NOTHING = Found(np.empty((0, 2), np.int32), np.empty(0, np.int8), np.empty(0, np.int32))


class Scene(NamedTuple):
    """Cloth and what is near it of the bodies as one mesh, as long as a view of the bodies holds; cloth comes first."""

    vertices: np.ndarray  # (u,) of the bodies: rows of `Bodies.motions`
    triangles: np.ndarray  # (t, 3) int32
    patches: Patches
    members: Members
    meets: np.ndarray  # (g + c, g + c) bool: garments and colliders
    near: np.ndarray  # (k,) triangles of the bodies, in the order of those above


class Details(NamedTuple):
    """What of a scene is asked for only where cloth meets a body."""

    owned: np.ndarray  # `Patches.owned`
    owner: np.ndarray  # (u,) int32 a triangle of the bodies that has the vertex
    friction: np.ndarray  # (n + u,)


@dataclass
class Watch:
    """What is guarded in a frame."""

    cloth: Cloth
    body: Body
    distance: float  # [m] contact distance
    broad_phase: str  # one of BROAD_PHASES
    tangled: np.ndarray  # (n,) bool: left alone until the frame ends
    times: tuple[float, float] = 0.0, 0.0  # of the substep, in parts of the frame
    view: View | None = None  # that `scene` was made for
    flags: np.ndarray | None = None  # its cells, with DRAWN where cloth has been
    scene: Scene | None = None
    motions: np.ndarray | None = None  # (m, 6) [m] of the bodies' vertices in the scene, as in `body_response.Bodies`
    start: np.ndarray | None = None  # (n + u, 3) [m] where all is at the start of the substep
    end: np.ndarray | None = None  # (n + u, 3) [m]
    free: np.ndarray | None = None  # (n + u,) bool: not guarded in this substep
    stirred: np.ndarray | None = None  # (n + u,) bool: of what is new since this substep was last looked at
    bounds: tuple[np.ndarray, ...] = ()  # of patches: boxes, ways, what is loose, what is new; see `sweep_kernel`
    rooms: np.ndarray | None = None  # (p, 6) [m] boxes in which patches have the pairs below
    most: float = 0.0  # [m] by which they are larger than patches at least, and how far apart two need to be known
    patch_pairs: np.ndarray | None = None  # (k, 2) int32, cloth first, in order
    keys: np.ndarray | None = None  # (k,) a number for each pair, in order
    apart: np.ndarray | None = None  # (2, k) [m] how far they are apart at least at the start and the end; 0: unknown
    known_at: tuple[float, float] = 0.0, 0.0  # `times` of that
    looked_at: tuple[float, float] | None = None  # `times` when they were last looked at
    found: Found = NOTHING  # of those pairs, in this substep
    details: Details | None = None


_known: list[tuple[np.ndarray, Topology, Patches]] = []  # patches of bodies that were last asked for


def watch(cloth: Cloth, body: Body | None, broad_phase: str = Settings().broad_phase) -> Watch | None:
    """What is to be guarded in this frame; None where no body is."""
    if body is None or not body.mesh.colliders or not len(cloth.triangles):
        return None
    least = min(collider.aura for collider in body.mesh.colliders)
    return Watch(cloth, body, SKIN * least, broad_phase, np.zeros(len(cloth.inv_mass), np.bool_))


def push(this: Watch, near: Near, cloth: Cloth, x, x_prev, dt: float) -> int:
    """Respond to what `find` has found; returns how many pairs touched. x, x_prev : (n, 3) [m] change in place."""
    count, bodies = len(x), this.start[len(x) :]
    inv_mass = np.concatenate([cloth.inv_mass, np.zeros(len(bodies))])
    before, end = np.concatenate([x_prev, bodies]), this.end.copy()  # what was looked at stays known
    count_near = len(near.gap)
    scratch = np.zeros(count_near), np.zeros(len(inv_mass)), np.arange(count_near, dtype=np.int32)
    touched, _ = respond_kernel(near, *scratch, this.distance, 0, inv_mass, dt, this.start, end, before)
    x[:], x_prev[:] = end[:count], before[:count]
    return touched


def impacts(this: Watch, near: Near | None, give_up: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Stencils (p, 4) of what `find` has found, which of them meet (h,), and when (h,), 1 at the end of the substep. Who
    gives up lets these go where they have to until the frame ends.
    """
    nothing = np.empty((0, 4), np.int32), np.empty(0, np.int32), np.empty(0)
    if near is None:
        return nothing
    hits, times = np.empty(len(near.gap), np.int32), np.empty(len(near.gap))
    off, fresh = np.zeros(len(this.start)), np.ones(len(this.start), np.bool_)
    count = guard.find_impacts(near, off, 0.0, fresh, this.start, this.end, hits, times)
    if not give_up:
        return near.stencils, hits[:count], times[:count]
    given_up = near.stencils[hits[:count]]
    this.tangled[given_up[given_up < len(this.tangled)]] = True
    return nothing


def bodies(this: Watch) -> guard.Bodies:
    """What zones can ride along with."""
    return guard.Bodies(this.body.mesh.triangles, this.motions, _details(this).owner)


def find(this: Watch, start, x, rides=None) -> Near | None:
    """Pairs of particles and triangles, edges and edges of cloth and bodies that may meet between `start` and `x`.

    Of what rides along with a body (n,) those alone that cross at the end: two that turn together without room between
    them cannot be told from two that meet.
    """
    _renew(this, start, x)
    _sweep(this, start, x)
    pairs, state = _near(this)
    pairs = pairs[: keep_kernel(pairs, state, this.scene.triangles, this.tangled)]
    if not len(pairs):
        return None
    asked = this.cloth.inv_mass > 0.0
    if rides is not None:
        asked &= ~rides
        asked[this.scene.triangles[pairs[_across(this, pairs), 0]].ravel()] = True
    details = _details(this)
    about = this.scene.triangles, details.owned, details.friction, this.start, this.end
    return find_stencils(pairs, *about, asked, this.distance)


def _near(this: Watch) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of triangles (p, 2) that may meet in this substep, and their state (p,)."""
    scene = this.scene
    whole = scene.patches, scene.members, scene.triangles
    about = this.patch_pairs, *whole, this.start, this.end, this.free, *this.bounds, this.distance, this.most

    def part(_, first, last):
        scratch = np.empty((PATCH, 6)), np.empty(7), np.full((len(scene.patches.garment), 3), np.nan)
        room = 64
        while True:
            found = Found(np.empty((room, 2), np.int32), np.empty(room, np.int8), np.empty(room, np.int32))
            count = look_kernel(first, last, *about, *scratch, this.apart, this.found, found)
            if count <= room:
                return Found(*(array[:count] for array in found))
            room = count

    found = on_threads(part, cut(len(this.patch_pairs), FEW))
    this.found, this.looked_at = Found(*(joined(parts) for parts in zip(*found, strict=True))), this.times
    return this.found.pairs.copy(), this.found.state


def _across(this: Watch, pairs: np.ndarray) -> np.ndarray:
    """Which pairs of triangles (p, 2) cross at the end of the substep."""
    state = np.empty(len(pairs), np.int8)
    sift_kernel(pairs, this.scene.triangles, this.end, this.end, 0.0, np.empty(7), state)
    return state == ACROSS


def _sweep(this: Watch, start, x) -> None:
    """Boxes of the ways of patches; sees to it that `patch_pairs` are all that may meet."""
    stay = _bound(this)
    if _uncovered(this):
        _fill(this, start, x, False)
        stay = _bound(this)
    if not stay:
        _make_room(this)
        _pair_up(this)


def _bound(this: Watch) -> bool:
    """Bounds of the patches in this substep; whether all patches stay in their rooms."""
    about = this.start, this.end, this.free, this.stirred, this.distance, this.rooms
    return sweep_kernel(this.scene.members, *about, *this.bounds)


def _make_room(this: Watch) -> None:
    """Give patches boxes that are larger than they need now, so that what is found in them holds for some substeps."""
    boxes, patches = this.bounds[0], this.scene.patches
    first = this.scene.triangles[patches.triangles[patches.start[:-1]], 0]
    way = AHEAD * (this.end[first] - this.start[first])
    this.most = ROOM * _mean_size(boxes)
    spare = SPARE * np.abs(way).max(axis=1, keepdims=True) + this.most
    low, high = boxes[:, :3] + np.minimum(way, 0.0) - spare, boxes[:, 3:] + np.maximum(way, 0.0) + spare
    this.rooms = np.concatenate([low, high], axis=1)


def _pair_up(this: Watch) -> None:
    """Pair patches whose rooms overlap, in order; what was known of a pair is kept."""
    found = BROAD_PHASES[this.broad_phase](this.rooms, this.scene.patches.garment, this.scene.meets)
    found = np.sort(found, axis=1)
    keys = np.sort(found[:, 0] * np.int64(len(this.rooms)) + found[:, 1])
    apart = np.zeros((2, len(keys)))
    if this.keys is not None and len(this.keys):
        at = np.minimum(np.searchsorted(this.keys, keys), len(this.keys) - 1)
        apart[0] = np.where(this.keys[at] == keys, this.apart[0, at], 0.0)
    this.keys, this.apart, this.found = keys, apart, NOTHING
    this.bounds[3][:] = True
    this.patch_pairs = np.stack(np.divmod(keys, len(this.rooms)), axis=1).astype(np.int32)


def _mean_size(boxes: np.ndarray) -> float:
    """Mean of the longest sides [m] of boxes (p, 6) that are somewhere."""
    size = (boxes[:, 3:] - boxes[:, :3]).max(axis=1)
    return float(size[size > 0.0].mean()) if (size > 0.0).any() else 0.0


def _renew(this: Watch, start, x) -> None:
    """Take the bodies' view as it is now, and where all is at the start and the end of the substep."""
    view, count = this.body.view, len(x)
    known = this.view is view and this.times == this.looked_at
    if this.view is not view:
        this.view, this.flags = view, view.cells.flags.copy()
        _take(this, view.near)
    elif this.times != this.known_at:  # another substep
        went_on = this.times[0] == this.known_at[1] and np.array_equal(start, this.end[:count])
        this.apart[0] = this.apart[1] if went_on else 0.0
    this.known_at = this.times
    _fill(this, start, x, known)


def _take(this: Watch, near: np.ndarray) -> None:
    """Make the scene out of the cloth and those triangles of the bodies that are `near` (k,)."""
    this.scene, this.details = _scene(this.body, this.cloth, near), None
    this.start, this.end = np.empty((2, len(this.cloth.inv_mass) + len(this.scene.vertices), 3))
    count = len(this.scene.patches.garment)
    this.free, this.stirred = np.zeros((2, len(this.start)), np.bool_)
    this.bounds = np.empty((count, 6)), np.empty((count, 6)), *np.empty((2, count), np.bool_)
    this.rooms, this.keys = np.full((count, 6), np.nan), None


def _fill(this: Watch, start, x, known: bool) -> None:
    """Where all is at the start and the end of the substep; `known`: this substep has been looked at."""
    mesh, vertices, touches = this.body.mesh, this.scene.vertices, this.body.touches
    if len(this.scene.triangles) - len(this.cloth.triangles) == len(this.view.near):
        this.motions = this.body.bodies.motions
    elif not known:
        this.motions = np.empty_like(this.body.bodies.motions)
        for collider, first, last in zip(mesh.colliders, mesh.starts[:-1], mesh.starts[1:], strict=True):
            own = vertices[slice(*np.searchsorted(vertices, (first, last)))] - first
            move(collider.x, this.cloth.origin, first, own, *this.times, this.motions)
    about = touches.place, touches.between, this.tangled, this.motions, vertices, known
    place_kernel(start, x, *about, this.start, this.end, this.free, this.stirred)


def _uncovered(this: Watch) -> bool:
    """Whether cloth goes where the view does not expect it, so that bodies may be there that are not in the scene; then
    they come into it.
    """
    view, mesh = this.view, this.body.mesh
    if len(this.scene.triangles) - len(this.cloth.triangles) == len(mesh.triangles):
        return False
    grid = view.cells.low, view.cells.size, view.cells.shape, this.flags
    lag = ((np.array(this.times) - view.t0) / (view.t1 - view.t0) - 0.5)[:, None] * view.bulk
    patches, count = this.scene.patches, len(patches_of(this.cloth).garment)
    about = this.scene.triangles, this.start, this.end, this.free, this.distance, this.bounds[0]
    found = cover_kernel(patches, count, *about, this.bounds[3], lag, *grid, np.empty(6))
    if not found:
        return False
    near = np.arange(len(mesh.triangles))
    if found != BEYOND:
        count, drawn = len(mesh.triangles), np.zeros(len(mesh.triangles), np.bool_)
        given = np.empty((count, 10)), np.empty((len(view.ways), 6), np.int16), np.empty(len(view.ways), np.int8)
        near = np.empty(count, np.int32)
        near = near[: find_near(mesh.triangles, view.ways, *grid, drawn, near, *given, np.empty((3, 3)))]
    _take(this, near)
    return True


def _scene(body: Body, cloth: Cloth, near: np.ndarray) -> Scene:
    mesh, of_cloth, of_body = body.mesh, patches_of(cloth), _patches_of(body)
    is_near = np.zeros(len(mesh.triangles), np.bool_)
    is_near[near] = True
    kept = is_near[of_body.triangles]
    near = of_body.triangles[kept]
    size = np.add.reduceat(kept, of_body.start[:-1], dtype=np.int32)
    count, cloth_count = len(cloth.inv_mass), len(cloth.triangles)
    local = np.zeros(int(mesh.starts[-1]), np.int32)
    local[mesh.triangles[near]] = 1
    vertices = np.flatnonzero(local)
    local[vertices] = count + np.arange(len(vertices), dtype=np.int32)
    triangles = np.concatenate([cloth.triangles, local[mesh.triangles[near]]])
    garments = len(cloth.garment_start) - 1
    start = np.concatenate([of_cloth.start, cloth_count + np.cumsum(size[size > 0], dtype=np.int32)])
    group = np.concatenate([of_cloth.garment, garments + of_body.garment[size > 0]])
    order = np.concatenate([of_cloth.triangles, np.arange(cloth_count, len(triangles), dtype=np.int32)])
    patches = Patches(order, start, group, np.empty(0, np.int64), np.empty(0, np.uint8))
    meets = np.zeros(2 * (garments + len(mesh.meets),), np.bool_)
    meets[garments:, :garments], meets[:garments, garments:] = mesh.meets, mesh.meets.T
    return Scene(vertices, triangles, patches, _members(triangles, patches, count + len(vertices)), meets, near)


def _members(triangles: np.ndarray, patches: Patches, count: int) -> Members:
    """The vertices of patches, of `count` that there are."""
    members, start = np.empty(3 * len(triangles), np.int32), np.empty(len(patches.start), np.int32)
    found = gather_kernel(patches.start, patches.triangles, triangles, np.full(count, -1, np.int32), members, start)
    return Members(members[:found], start)


def _details(this: Watch) -> Details:
    """The details of the scene, made when they are first asked for."""
    if this.details is None:
        scene, cloth = this.scene, this.cloth
        owner, rough = np.zeros(len(scene.vertices), np.int32), np.empty(len(scene.vertices))
        corners = scene.triangles[len(cloth.triangles) :].ravel() - len(cloth.inv_mass)
        owner[corners] = np.repeat(scene.near, 3)
        rough[corners] = np.repeat(this.body.mesh.traits[scene.near, 1], 3)
        this.details = Details(find_owners(scene.triangles), owner, np.concatenate([cloth.friction, rough]))
    return this.details


def _patches_of(body: Body) -> Patches:
    """Patches of all bodies' triangles, whose groups are the colliders: the same as long as the triangles are."""
    mesh = body.mesh
    for starts, known, answer in _known:
        if known is mesh.topology and np.array_equal(starts, mesh.starts):
            return answer
    collider = np.repeat(np.arange(len(mesh.colliders), dtype=np.int32), np.diff(mesh.starts))
    answer = make_patches(mesh.triangles, collider)
    _known.insert(0, (mesh.starts, mesh.topology, answer))
    del _known[4:]
    return answer
