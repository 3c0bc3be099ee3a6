# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth on cloth: by thickness, inelastic, with friction, conserving momentum (Pereira 2013, 4.3 and 4.4).

The step calls three functions:

    pairs = detect(cloth, x, v, dt, settings)     at the start of a substep, from positions known to be apart
    is_current(pairs, cloth, x, v, dt) -> bool    at the start of every substep: False asks for a new `detect`
    respond(pairs, watch, cloth, start, x, x_prev, dt)   each substep after the constraints; x and x_prev change in
                                                  place, returns how many pairs touched

`detect` pairs every particle with every triangle and every edge with every edge that can come closer than their
contact distance while all particles fly on as they do, each off its way by no more than the slack it is granted. The
end of the time that was looked ahead calls for a new detection (`is_current`). So does a particle that left its way
by more: constraints may throw it anywhere in one substep, so `respond` looks where all particles are now, and if one
is astray it detects anew along the ways from x_prev to x before it does anything. Each pair remembers the direction
from its second side to its first, so a particle that went through a triangle since the last substep is known by a
direction that flipped, confirmed by conservative advancement along its way (Li et al. 2021, additive continuous
detection), and is taken back to where it came from.

`respond` works pair after pair (Gauss-Seidel, always in the same order) on positions, with signed barycentric weights
w and inverse masses m^-1: with gap C = n . sum(w x) - h, x_i -= m_i^-1 w_i C n / sum(m^-1 w^2), which changes neither
the momentum nor the place of the centre of mass. An approach is ended, no more: cloth that was too close already at
the start of the substep is eased apart by moving x and x_prev alike, so that being pushed apart gives no speed, unless
it was much too close (`FIRM`). Friction takes back the sliding of the substep up to its coefficient times the normal
correction (Coulomb).

What the response leaves is seen to by the guard (`guard`, with bodies `body_guard`): no pair crosses, whatever the
dynamics did.
"""

import math
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np

from ..model import Cloth, Settings
from ..threads import cut, joined, on_threads
from . import body_guard, clusters, guard
from .body_guard import Watch
from .cloth_detection import (
    FEW,
    STEEP,
    Ahead,
    Near,
    Skin,
    calm_kernel,
    candidates,
    copy_kernel,
    find_astray,
    look_ahead_kernel,
    measure_kernel,
    no_ahead,
    scales_kernel,
)
from .cloth_response import moved_kernel, reachable_kernel, respond_kernel
from .lengths import ROUNDS, restore
from .patches import Bounds, pairs_around, patches_of, triangle_pairs

HORIZON = 0.015  # [s] that a detection looks ahead at most, but always a substep
SLACK = 0.08  # mean edges that a particle may leave its way by, besides what the thickness gives
FEW_STRAY = 16  # particles off their ways that get new ones, or
PART_STRAY = 0.05  # of all; for more all is detected anew, which costs less then
MARGIN = 1.0  # contact distances that particles may move by within a substep before pairs are listed anew, all together
FOLLOWS = 4  # times that strays get new ways one after the other, before all is detected anew
TURNS = 3  # responses in a substep at most: one may push a particle off its way, to where nobody looked
BODY_ROUNDS = 16  # of the guard, after which bodies have what they cannot be kept off
LONGEST_WAY = 0.7  # mean edges that cloth may fly in the time looked ahead: fast cloth is looked at more often


class Search(NamedTuple):
    """What a detection knew of every particle and triangle, in the frame of the motion of the whole."""

    ways: np.ndarray  # (n, 6) [m] box of where a particle is when detected, lowest corner first
    way_ends: np.ndarray  # (n, 6) [m] the same when the time looked ahead is over
    ahead: Ahead
    bounds: Bounds
    reach: np.ndarray  # (n,) [m] half the contact distance and the slack, with some to spare
    drift: np.ndarray  # (3,) [m/s] motion of the whole


@dataclass
class Pairs:
    """Everything of cloth that may meet while each particle keeps to its way within its slack."""

    near: Near
    firm_start: int  # pairs from here on have a particle that does not move
    x_ref: np.ndarray  # (n, 3) [m] positions when detected
    v_ref: np.ndarray  # (n, 3) [m/s] velocities when detected
    slack: np.ndarray  # (n,) [m] how far a particle may leave its way before the pairs are out of date
    horizon: float  # [s] how long they hold at most
    settings: Settings
    search: Search | None
    astray: np.ndarray  # (n,) [m] how far each particle was off its way when last looked at, less what all are
    reach: "Reach | None" = None  # what particles may have come to touch in this substep, None if not known yet
    elapsed: float = 0.0  # [s] since they were detected


class Reach(NamedTuple):
    """Which pairs may touch, as long as no particle moves by more than half a margin."""

    x: np.ndarray  # (n, 3) [m] where particles were when this was found out
    moved: np.ndarray  # (n,) [m] how far they are from there
    room: np.ndarray  # (p,) [m] distance of pairs then, at least
    active: np.ndarray  # (k,) int32 pairs that have less room than their contact distance and the margin


def detect(cloth: Cloth, x: np.ndarray, v: np.ndarray, dt: float, settings: Settings) -> Pairs:
    """Find what may meet in the next substeps.

    Parameters
    ----------
    x, v : (n, 3) [m], [m/s] at the start of a substep; the sides of all pairs are remembered from here.
    dt : [s] a substep. The pairs hold for `HORIZON`, for fast cloth less, but always a substep.

    Notes
    -----
    Pairs of garments that do not meet, pairs inside a garment without self-collision or with a particle that is masked
    there, and pairs of which nothing can move, are left out.
    """
    horizon, slack = _horizon(cloth, v, dt, settings)
    reach = settings.neighbour_reach * 0.5 * cloth.thickness + slack
    stencils, is_edge_pair, search = _candidates(cloth, x, v, reach, horizon, settings)
    near = _measure(cloth, x, v, reach, horizon, stencils, is_edge_pair)
    near, firm_start = _firm_last(cloth, near)
    slack = reach - 0.5 * cloth.thickness
    return Pairs(near, firm_start, x.copy(), v.copy(), slack, horizon, settings, search, np.zeros(len(x)))


def _firm_last(cloth: Cloth, near: Near) -> tuple[Near, int]:
    """The pairs with those at the end that have a particle that does not move, and the first of these."""
    count = len(near.gap)
    if cloth.inv_mass.all():
        return near, count
    firm = (cloth.inv_mass[near.stencils] == 0.0).any(axis=1)
    order = np.argsort(firm, kind="stable")
    return Near(*(array[order] for array in near)), count - int(np.count_nonzero(firm))


def _measure(cloth, x, v, reach, horizon, stencils, is_edge_pair) -> Near:
    """Those candidates that can meet, with all that is known of them."""
    values, normal = np.empty((4, len(stencils))), np.empty((len(stencils), 3))
    skin = Skin(cloth.inv_mass, cloth.thickness, cloth.friction, cloth.garment, cloth.x_rest, cloth.meets_itself)

    def measure(_, first, last):
        end = measure_kernel(first, last, stencils, is_edge_pair, skin, x, v, reach, horizon, values, normal)
        return [array[first:end] for array in (stencils, is_edge_pair, *values, normal)]

    found = [joined(parts) for parts in zip(*on_threads(measure, cut(len(stencils), FEW)), strict=True)]
    count = len(found[0])
    return Near(*found, np.zeros(count, np.bool_), np.zeros(count, np.bool_))


def is_current(pairs: Pairs, cloth: Cloth, x: np.ndarray, v: np.ndarray, dt: float) -> bool:
    """Whether the time that was looked ahead lasts for another substep dt [s]; asked at its start."""
    return pairs.elapsed + dt <= pairs.horizon or not _can_meet(cloth)


def respond(pairs: Pairs | None, watch: Watch | None, cloth: Cloth, start, x, x_prev, dt: float) -> int:
    """Keep cloth at its contact distance from cloth, and let nothing pass; returns how many pairs touched. Once in every
    substep.

    Parameters
    ----------
    pairs : Pairs, detected anew and changed in place if a particle has gone astray; None if no cloth meets cloth
    watch : Watch, None if there are no bodies
    start : (n, 3) [m] where the substep started, free of crossings
    x : (n, 3) [m], changed in place: end of the substep, after all constraints
    x_prev : (n, 3) [m], changed in place where cloth was too close before: where velocities count from
    dt : [s] the substep
    """
    touched, pairs = 0, pairs if _can_meet(cloth) else None
    if pairs is not None:
        pairs.elapsed += dt
        pairs.reach = None
        touched = _respond(pairs, cloth, start, x, x_prev, dt)
    near = _find(watch, start, x)
    for _ in range(TURNS):
        if near is None or not body_guard.push(watch, near, cloth, x, x_prev, dt):
            break
        if pairs is not None:
            _respond(pairs, cloth, start, x, x_prev, dt)
        near = _find(watch, start, x)
    _guard(pairs, watch, near, cloth, start, x, x_prev, dt)
    return touched


def _find(watch: Watch | None, start, x, rides=None) -> Near | None:
    return body_guard.find(watch, start, x, rides) if watch is not None else None


def _respond(pairs: Pairs, cloth: Cloth, start, x, x_prev, dt: float) -> int:
    """Cloth on cloth alone, with the lengths that it has."""
    before = x.copy()
    touched = _push_apart(pairs, cloth, start, x, x_prev, dt)
    for _ in range(ROUNDS):
        if not touched:
            break
        restore(cloth.edges, cloth.is_mesh_edge, cloth.inv_mass, before, x)
        _push_apart(pairs, cloth, start, x, x_prev, dt)
    return touched


def _push_apart(pairs: Pairs, cloth: Cloth, start, x, x_prev, dt: float) -> int:
    touched = 0
    for turn in range(TURNS):
        if not _follow(pairs, cloth, start, x, dt) and turn:
            break
        if len(pairs.near.gap):
            room, moved, active, margin = _reach(pairs, cloth, x)
            about = pairs.firm_start, cloth.inv_mass, dt, start, x, x_prev
            touched, count = respond_kernel(pairs.near, room, moved, active, margin, *about)
            pairs.reach = pairs.reach._replace(active=active[:count])
    return touched


def _reach(pairs: Pairs, cloth: Cloth, x: np.ndarray):
    """Room, what has moved, pairs to be looked at, and the margin: as `respond_kernel` wants them."""
    margin, reach = MARGIN * cloth.thickness.max(), pairs.reach
    if reach is None or not 2.0 * moved_kernel(x, reach.x, reach.moved) <= margin:
        room, active = np.empty(len(pairs.near.gap)), np.empty(len(pairs.near.gap), np.int32)
        count = reachable_kernel(pairs.near, pairs.astray, pairs.elapsed, margin, room, active)
        pairs.reach = reach = Reach(x.copy(), np.zeros(len(x)), room, active[:count])
    return reach.room, reach.moved, reach.active, margin


def _guard(pairs: Pairs | None, watch: Watch | None, near: Near | None, cloth: Cloth, start, x, x_prev, dt) -> None:
    """Hold back what would pass through other cloth or a body on its way from `start` to `x`; see `guard`."""
    zones, fresh, tries, met = None, np.ones(len(x), np.bool_), np.zeros(len(x), np.int64), []
    for turn in range(guard.ROUNDS):
        found = [_impacts(pairs, cloth, fresh, start, x, dt)] if pairs is not None else []
        if near is not None:
            found.append(body_guard.impacts(watch, near, turn >= BODY_ROUNDS))
        if not any(len(hits) for _, hits, _ in found):
            return
        zones = zones or guard.single_zones(start, x)
        bodies = body_guard.bodies(watch) if watch is not None else guard.NO_BODIES
        about = turn < guard.GENTLE, bodies.owner, zones.parent, zones.share, zones.lead
        if pairs is not None:
            met.append(clusters.record(pairs.near, found[0][1], start))
        changed = [*(guard.join(*hits, *about) for hits in found), clusters.try_again(zones, found, tries)]
        if not any(changed):  # what is pinned meets, or a body that is not as rigid as what rides along with it
            if near is not None:
                _push_last(pairs, watch, near, cloth, start, x, x_prev, dt)
            return
        guard.hold(zones, bodies, cloth.inv_mass, start, x, x_prev, fresh)
        if met:
            clusters.move(zones, tries, met, cloth, start, x, fresh)
        near = _find(watch, start, x, zones.rides)
    zones.parent[:], zones.share[0], zones.lead[0] = 0, 0.0, zones.lead.max()
    guard.hold(zones, bodies, cloth.inv_mass, start, x, x_prev, fresh)


def _push_last(pairs: Pairs | None, watch: Watch, near: Near, cloth: Cloth, start, x, x_prev, dt: float) -> None:
    """Take what rides along with a body out of it, if no cloth passes through cloth so."""
    before = x.copy(), x_prev.copy()
    body_guard.push(watch, near, cloth, x, x_prev, dt)
    if pairs is not None and len(_impacts(pairs, cloth, np.ones(len(x), np.bool_), start, x, dt)[1]):
        x[:], x_prev[:] = before


def _impacts(pairs: Pairs, cloth: Cloth, fresh, start, x, dt: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Stencils (p, 4) of cloth on cloth, which of them meet (h,) on the way from `start` to `x`, and when (h,)."""
    _follow(pairs, cloth, start, x, dt)
    off = np.empty(len(x))
    _look(pairs, start, pairs.elapsed - dt, off)
    np.maximum(off, pairs.astray, out=off)
    hits, times = np.empty(len(pairs.near.gap), np.int32), np.empty(len(pairs.near.gap))
    count = guard.find_impacts(pairs.near, off, pairs.elapsed, fresh, start, x, hits, times)
    return pairs.near.stencils, hits[:count], times[:count]


def _look(pairs: Pairs, x: np.ndarray, time: float, off: np.ndarray | None = None) -> tuple[bool, np.ndarray]:
    """Fill `off`, or else `pairs.astray`, with how far particles at x are off their ways at `time` [s]; returns whether
    one is too far off, and how far off all are.
    """
    mean, off = np.empty(3), pairs.astray if off is None else off
    return find_astray(x, pairs.x_ref, pairs.v_ref, time, pairs.slack, mean, off), mean


def _follow(pairs: Pairs, cloth: Cloth, start: np.ndarray, x: np.ndarray, dt: float) -> bool:
    """See to it that all particles at x are on their ways within their slack; returns whether one was not.

    Particles that get new ways change what all do on average, and with it how far the others are off theirs.
    """
    most = max(FEW_STRAY, int(PART_STRAY * len(x)))
    for turn in range(FOLLOWS):
        if not _look(pairs, x, pairs.elapsed)[0]:
            return turn > 0
        _catch_up(pairs, cloth, start, x, dt, most if turn < FOLLOWS - 1 else 0)
    _look(pairs, x, pairs.elapsed)
    return True


def _catch_up(pairs: Pairs, cloth: Cloth, start, x, dt: float, most: int) -> None:
    """Change `pairs` in place after particles have gone astray: they get new ways and new pairs, as if they had always
    been on these ways; if there are more than `most`, all is detected anew.
    """
    stray = np.flatnonzero(~(pairs.astray <= pairs.slack))
    if len(stray) > most:
        other = detect(cloth, start, (x - start) / dt, dt, pairs.settings)
        for field in fields(Pairs):
            setattr(pairs, field.name, getattr(other, field.name))
        pairs.elapsed = dt
        return
    before = pairs.elapsed - dt
    off = np.empty(len(x))
    off_now, off_before = _look(pairs, x, pairs.elapsed)[1], _look(pairs, start, before, off)[1]
    place = start[stray] - off_before
    pairs.v_ref[stray] = (x[stray] - off_now - place) / dt
    pairs.x_ref[stray] = place - before * pairs.v_ref[stray]
    is_stray, off[stray] = np.zeros(len(x), np.bool_), 0.0
    is_stray[stray] = True
    stencils, is_edge_pair = _candidates_around(is_stray, pairs, cloth)
    # All others may be off their ways already.
    reach, rest = pairs.search.reach + off, pairs.horizon - before
    found = _measure(cloth, start, pairs.v_ref, reach, rest, stencils, is_edge_pair)
    aside = off[found.stencils]
    both = np.maximum(aside[:, 0], aside[:, 1]) + np.maximum(aside[:, 2], aside[:, 3])
    aside = np.where(found.is_edge_pair, both, aside[:, 0] + aside[:, 1:].max(axis=1))
    _exchange(pairs, cloth, is_stray, found._replace(gap=found.gap + before * found.closing - aside))


def _exchange(pairs: Pairs, cloth: Cloth, is_stray: np.ndarray, found: Near) -> None:
    """Put what has been found in place of all pairs that have a stray particle."""
    old, firm_start = pairs.near, pairs.firm_start
    found, found_firm = _firm_last(cloth, found)
    room, nobody = len(old.gap) + len(found.gap), np.zeros(len(is_stray), np.bool_)
    near = Near(*(np.empty((room, *array.shape[1:]), array.dtype) for array in old))
    at = copy_kernel(old, 0, firm_start, is_stray, near, 0)
    pairs.firm_start = copy_kernel(found, 0, found_firm, nobody, near, at)
    at = copy_kernel(old, firm_start, len(old.gap), is_stray, near, pairs.firm_start)
    at = copy_kernel(found, found_firm, len(found.gap), nobody, near, at)
    pairs.near, pairs.reach = Near(*(array[:at] for array in near)), None


def _candidates_around(is_stray: np.ndarray, pairs: Pairs, cloth: Cloth):
    """Candidates as from `_candidates`, but only those of stray particles, on their new ways."""
    search = pairs.search
    changed = _look_ahead(search, cloth, pairs.x_ref, pairs.v_ref, is_stray, pairs.horizon)
    found = pairs_around(cloth, changed, *search.ahead[:3], search.ahead.calm, STEEP, search.bounds)
    stencils, is_edge_pair = _spread(found, cloth, search)
    own = is_stray[stencils].any(axis=1)
    return stencils[own], is_edge_pair[own]


def _look_ahead(search: Search, cloth: Cloth, x, v, fresh: np.ndarray, horizon: float) -> np.ndarray:
    """Renew what a search knows of `fresh` particles (n,); returns which triangles have one (t,)."""
    triangles, reach, changed = cloth.triangles, search.reach, np.empty(len(cloth.triangles), np.bool_)
    about = reach, horizon, search.ways, search.way_ends, search.ahead, changed
    look_ahead_kernel(x, v, search.drift, fresh, triangles, *about)
    scratch = np.zeros(len(x), np.bool_), np.zeros_like(x)
    calm_kernel(triangles, reach, cloth.thickness, changed, search.ahead, *scratch)
    return changed


def _can_meet(cloth: Cloth) -> bool:
    return len(cloth.triangles) > 1 and bool(cloth.meets.any())


def _horizon(cloth: Cloth, v: np.ndarray, dt: float, settings: Settings) -> tuple[float, float]:
    """How long to look ahead [s]: whole substeps, as long as ways do not outgrow the edges; and the slack [m]."""
    edge, speed = scales_kernel(cloth.x_rest, v, cloth.triangles)
    longest = HORIZON
    if speed > 0.0 and math.isfinite(speed):
        longest = min(longest, LONGEST_WAY * edge / speed)
    # A thousandth more than whole substeps, so that their sum does not end the time a substep early.
    return (max(math.floor(longest / dt), 1) + 1e-3) * dt, SLACK * edge


def _candidates(cloth: Cloth, x: np.ndarray, v: np.ndarray, reach: np.ndarray, horizon: float, settings: Settings):
    """Stencils (c, 4) of particles and triangles, edges and edges whose boxes overlap; which are of edges (c,); and
    what they were found with.
    """
    triangles = cloth.triangles
    if not _can_meet(cloth):
        return np.empty((0, 4), np.int32), np.empty(0, np.bool_), None
    ways, ahead = np.empty((2, len(x), 6)), no_ahead(len(triangles), len(x))
    search = Search(*ways, ahead, None, reach, v.mean(axis=0))
    _look_ahead(search, cloth, x, v, np.ones(len(x), np.bool_), horizon)
    about = ahead.normals, ahead.calm, STEEP, settings.broad_phase, ahead.box_ends
    pairs, bounds = triangle_pairs(cloth, ahead.boxes, *about)
    search = search._replace(bounds=bounds)
    return *_spread(pairs, cloth, search), search


def _spread(pairs: np.ndarray, cloth: Cloth, search: Search) -> tuple[np.ndarray, np.ndarray]:
    """Stencils of pairs of triangles, and which of them are of edges."""
    boxes, box_ends, _, _, calm = search.ahead
    owned = patches_of(cloth).owned
    return candidates(pairs, cloth.triangles, owned, calm, boxes, search.ways, box_ends, search.way_ends)
