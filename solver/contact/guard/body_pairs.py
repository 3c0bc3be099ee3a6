# SPDX-License-Identifier: GPL-3.0-or-later
"""Pairs of cloth and bodies: cloth that is apart from a body at the start of a substep is so at its end.

`body.collide` keeps points of the cloth off the bodies. Between them an edge of cloth or a corner of a body may pass, and
cloth that is pushed by cloth may go in again. So after all that, each triangle of cloth is looked at with each triangle of a
body that it could meet in this substep, both on their straight trajectories. A direction along which the two are apart all
the time (a normal, or their shortest connection at the start) lets nearly all of them go (`separating_axes`). What is left
is taken apart into particles and triangles, edges and edges (`stencils`), as cloth on cloth is, with the bodies' vertices as
particles without an inverse mass: `push` responds to them, at a contact distance that is a small part of the aura, and
`impact_zones` have the last word: there a zone that meets a body is advected with it, as if it were a part of that body's
rigid motion. `resolve` tells when.

A substep is complete in itself: nothing is foreseen, so nothing can be missed, however fast a body is and turns. But
triangles come in patches, and of two patches it is remembered how far they are apart, less what they have gone since:
until that is used up they are not looked at again. What `push` and impact zones move has to be looked at anew within the
substep; patches in which nothing has moved keep what was found in them.

Cloth that passes through a body at the start of a substep, that is inside one or pinched, is free of all this, and so
are its neighbours: the guard would lock it in. So is what cannot be kept apart, as between bodies that close on it. It is
eased off them (`poked`).
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...broad_phase.patches import patches_of
from ...kernel.rows import are_same
from ...kernel.shared import BOARD
from ...kernel.threads import cut, each_joined, on_threads
from ...model import Cloth, Settings
from ..body.cell_grid import Cells
from ..body.collide import slowest_bounce
from ..body.motion import find_near, move
from ..body.view import BodyContact
from ..cloth.pair_list import PairList
from ..cloth.reach import Reach
from ..cloth.response import NO_BRACE, Substep, separate
from .impact_zones import Impacts, Leaders, find_impacts, no_impacts
from .patch_bounds import BEYOND, EXPECTED, Lag, PatchBounds, bounds_kernel, no_patch_bounds
from .patch_pairs import PatchPairs, make_rooms, no_patch_pairs, pair_up
from .scene import Scene, details_of, make_scene
from .separating_axes import (
    CROSSING,
    TrianglePairs,
    no_scratch,
    no_triangle_pairs,
    patches_kernel,
    triangles_kernel,
)
from .stencils import find_stencils, keep_kernel
from .trajectories import Trajectories, no_trajectories

AURA_PART = 0.1  # contact distance in auras
SMALLEST_PATCH_PAIR_RANGE = 2048  # pairs of patches that are not worth another thread
FIRST_FOUND_COUNT = 64  # pairs of triangles that there is room for at first


class GuardedFrame(NamedTuple):
    """What is guarded in a frame."""

    cloth: Cloth
    body: BodyContact
    distance: float  # [m] contact distance
    broad_phase: str  # one of BROAD_PHASES
    patch_count: int  # of the cloth
    tangled: np.ndarray  # (n,) bool: left alone until the frame ends; changes


class GivenUp(NamedTuple):
    """What was given up."""

    particles: np.ndarray  # (k,) of cloth
    bodies: np.ndarray  # (k,) colliders that it meets


@dataclass
class GuardedSubstep:
    """Where all is in a substep, and what was found there."""

    times: tuple[float, float]  # of its start and end, in parts of the frame
    motions: np.ndarray  # (m, 6) [m] of the bodies' vertices in the scene, as in `body.mesh.Bodies`
    trajectories: Trajectories
    stirred: np.ndarray  # (n + u,) bool: of what is new since this substep was last looked at
    bounds: PatchBounds
    found: TrianglePairs  # of the pairs of patches


@dataclass
class BodyPairs:
    """Cloth and bodies in a frame, with all that lives on from substep to substep."""

    frame: GuardedFrame
    scene: Scene | None = None  # as long as a view of the bodies holds and cloth stays where it is expected
    patch_pairs: PatchPairs | None = None
    substep: GuardedSubstep | None = None
    given_up: tuple[GivenUp, ...] = ()  # what was given up since somebody last asked


def prepare(cloth: Cloth, body: BodyContact | None, broad_phase: str = Settings().broad_phase) -> BodyPairs | None:
    """What is to be guarded in this frame; None where no body is."""
    if body is None or not body.mesh.colliders or not len(cloth.triangles):
        return None
    least = min(collider.aura for collider in body.mesh.colliders)
    about = AURA_PART * least, broad_phase, len(patches_of(cloth).garment), np.zeros(len(cloth.inv_mass), np.bool_)
    return BodyPairs(GuardedFrame(cloth, body, *about))


def push(this: BodyPairs, pairs: PairList, cloth: Cloth, x, x_from, dt: float, brace=NO_BRACE) -> int:
    """Respond to what `find` has found; returns how many pairs touched. x, x_from : (n, 3) [m] change in place; brace : as
    in `cloth.response.Substep`.
    """
    trajectories, count, pair_count = this.substep.trajectories, len(x), len(pairs.gap)
    bodies = trajectories.start[count:]
    inv_mass = np.concatenate([cloth.inv_mass, np.zeros(len(bodies))])
    before, end = np.concatenate([x_from, bodies]), trajectories.end.copy()  # what was looked at stays known
    numbers = np.arange(pair_count, dtype=np.int32)
    reach = Reach(end, end, np.zeros(len(inv_mass)), numbers, np.zeros(pair_count))  # for this response alone
    brace = np.concatenate([brace, np.zeros_like(bodies)]) if len(brace) else brace
    calm = np.concatenate([this.frame.body.contacts.calm, np.ones(len(bodies), np.bool_)])
    substep = Substep(inv_mass, brace, trajectories.start, end, before, dt, calm)
    touched = separate(pairs, reach, this.frame.distance, substep)
    x[:], x_from[:] = end[:count], before[:count]
    return touched


def impacts(this: BodyPairs, pairs: PairList | None, give_up: bool) -> Impacts:
    """Which of the pairs that `find` has found meet. Who gives up lets these go where they have to until the frame ends."""
    if pairs is None:
        return no_impacts()
    start, end, _ = this.substep.trajectories
    deviation, fresh = np.zeros(len(start)), np.ones(len(start), np.bool_)
    found = find_impacts(pairs, deviation, 0.0, fresh, start, end, this.frame.cloth.grain)
    if not give_up:
        return found
    met, tangled = found.stencils[found.hits], this.frame.tangled
    is_cloth = met < len(tangled)
    vertices = this.scene.vertices[met[~is_cloth] - len(tangled)]
    bodies = np.searchsorted(this.frame.body.mesh.starts, vertices, side="right") - 1
    tangled[met[is_cloth]] = True
    this.given_up = (*this.given_up, GivenUp(met[is_cloth], np.unique(bodies)))
    return no_impacts()


def hold_again(this: BodyPairs) -> None:
    """Guard what was given up since somebody last asked as before."""
    for met in this.given_up:
        this.frame.tangled[met.particles] = False
    this.given_up = ()


def leaders(this: BodyPairs, dt: float) -> Leaders:
    """What zones can be advected with in a substep of dt [s]."""
    body, mesh = this.frame.body, this.frame.body.mesh
    owner = details_of(this.scene, this.frame.cloth, mesh).owner
    slow = slowest_bounce(body, dt) * dt
    return Leaders(mesh.triangles, this.substep.motions, owner, mesh.collider, mesh.restitution, slow)


def find(this: BodyPairs, times: tuple[float, float], start, x, advected=None) -> PairList | None:
    """Pairs of particles and triangles, edges and edges of cloth and bodies that may meet between `start` and `x` (n, 3)
    [m], which are where cloth is at the `times` of the substep, in parts of the frame.

    Of what is `advected` with a body (n,) those alone that cross at the end: two that turn together without room between
    them cannot be told from two that meet.
    """
    _sweep(this, start, x, _go_on(this, times, start))
    this.substep.found = _find_triangles(this)
    if not len(this.substep.found.rows):
        return None
    frame, mesh, trajectories = this.frame, this.scene.mesh, this.substep.trajectories
    pairs = this.substep.found.rows.copy()
    pairs = pairs[: keep_kernel(pairs, this.substep.found.state, mesh.triangles, frame.tangled)]
    if not len(pairs):
        return None
    asked = frame.cloth.inv_mass > 0.0
    if advected is not None:
        asked &= ~advected
        asked[mesh.triangles[pairs[_cross_at_end(pairs, mesh.triangles, trajectories), 0]].ravel()] = True
    details = details_of(this.scene, frame.cloth, frame.body.mesh)
    return find_stencils(pairs, mesh.triangles, details, trajectories, asked, frame.distance)


def _cross_at_end(pairs: np.ndarray, triangles: np.ndarray, trajectories: Trajectories) -> np.ndarray:
    """Which pairs of triangles (p, 2) cross at the end of the substep."""
    state = np.empty(len(pairs), np.int8)
    triangles_kernel(pairs, triangles, trajectories._replace(start=trajectories.end), 0.0, state)
    return state == CROSSING


def _find_triangles(this: BodyPairs) -> TrianglePairs:
    """Pairs of triangles that may meet in this substep."""
    mesh, substep, patch_pairs = this.scene.mesh, this.substep, this.patch_pairs
    about = patch_pairs, mesh, substep.trajectories, substep.bounds, this.frame.distance

    def part(_, first, last):
        scratch, room = no_scratch(len(mesh.patches.garment)), FIRST_FOUND_COUNT
        while True:
            found = no_triangle_pairs(room)
            count = patches_kernel(first, last, *about, scratch, substep.found, found)
            if count <= room:
                return TrianglePairs(*(array[:count] for array in found))
            room = count

    found = on_threads(part, cut(len(patch_pairs.rows), SMALLEST_PATCH_PAIR_RANGE))
    return TrianglePairs(*each_joined(found))


def _go_on(this: BodyPairs, times: tuple[float, float], start) -> bool:
    """Take the bodies' view and the substep as they are now; returns whether this substep has been looked at."""
    view = this.frame.body.view
    if this.scene is None or this.scene.view is not view:
        _take(this, times, view.cells._replace(flags=view.cells.flags.copy()), view.near)
    elif times != this.substep.times:  # another substep
        pairs, end = this.patch_pairs, this.substep.trajectories.end
        (begins, _), (_, ended) = times, this.substep.times
        went_on = begins == ended and are_same(start, end)
        pairs.apart[:] = pairs.apart_end if went_on else 0.0
        this.substep.times = times
    else:
        return True
    return False


def _take(this: BodyPairs, times: tuple[float, float], cells: Cells, near: np.ndarray) -> None:
    """Begin anew with those triangles of the bodies that are `near` (k,)."""
    body = this.frame.body
    this.scene = make_scene(this.frame.cloth, body.mesh, body.view, cells, near)
    count = len(this.frame.cloth.inv_mass) + len(this.scene.vertices)
    patch_count = len(this.scene.mesh.patches.garment)
    this.patch_pairs = no_patch_pairs(patch_count)
    room = no_trajectories(count), np.zeros(count, np.bool_), no_patch_bounds(patch_count), no_triangle_pairs()
    this.substep = GuardedSubstep(times, body.bodies.motions, *room)


def _motions(frame: GuardedFrame, scene: Scene, times: tuple[float, float]) -> np.ndarray:
    """(m, 6) [m] of the bodies' vertices in the scene: those of contact, unless it has more than these know of."""
    cloth, body, vertices = frame.cloth, frame.body, scene.vertices
    if len(scene.near) == len(scene.view.near):
        return body.bodies.motions
    motions, starts = np.empty_like(body.bodies.motions), body.mesh.starts
    for collider, first, last in zip(body.mesh.colliders, starts[:-1], starts[1:], strict=True):
        own = vertices[slice(*np.searchsorted(vertices, (first, last)))] - first
        move(collider.x, cloth.origin, first, own, *times, motions)
    return motions


def _sweep(this: BodyPairs, start, x, known: bool) -> None:
    """Where all is, and bounds of patches; sees to it that `patch_pairs` are all that may meet. `known`: this substep has been
    looked at."""
    stay, near = _bound(this, start, x, known, len(this.scene.near) < len(this.frame.body.mesh.triangles))
    if near is not None:
        _take(this, this.substep.times, this.scene.cells, near)
        stay, _ = _bound(this, start, x, False, False)
    if not stay:
        bounds = this.substep.bounds
        rooms = make_rooms(this.scene.mesh, this.substep.trajectories, bounds.boxes)
        this.patch_pairs = pair_up(this.frame.broad_phase, this.scene, *rooms, this.patch_pairs)
        bounds.fresh[:] = True
        this.substep.found = no_triangle_pairs()


def _bound(this: BodyPairs, start, x, known: bool, asks: bool) -> tuple[bool, np.ndarray | None]:
    """Where all is, and bounds of the patches in this substep; whether all patches stay in their rooms, and, if that is asked,
    triangles of the bodies (k,) that are near cloth where it goes and the view does not expect it, so that some may not be in the
    scene; None where cloth stays.
    """
    frame, scene, substep, contacts = this.frame, this.scene, this.substep, this.frame.body.contacts
    if not known:
        substep.motions = _motions(frame, scene, substep.times)
    view, cells, count = scene.view, scene.cells, frame.patch_count if asks else 0
    lag = Lag(view.bulk, *((time - view.t0) / (view.t1 - view.t0) - 0.5 for time in substep.times))
    ways = start, x, contacts.place, contacts.between, frame.tangled, substep.motions, scene.vertices, known
    stay, asked = np.ones(1, np.bool_), (np.empty((count, 6)), np.empty(count, np.int8))
    about = substep.trajectories, substep.stirred, frame.distance, this.patch_pairs.rooms, substep.bounds, stay
    found, near = bounds_kernel(BOARD, ways, scene.mesh, *about, lag, cells, asked), None
    if found == BEYOND:
        near = np.arange(len(frame.body.mesh.triangles))
    elif found != EXPECTED:
        none = np.zeros(len(frame.body.mesh.triangles), np.bool_)
        near = find_near(frame.body.mesh.triangles, view.trajectories, cells, none).triangles
    return bool(stay[0]), near
