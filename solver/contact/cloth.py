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
from . import body_guard, guard
from .body_guard import Watch
from .cloth_detection import (
    FEW,
    FLAT,
    Near,
    Skin,
    candidates,
    find_astray,
    look_ahead_kernel,
    measure_kernel,
    scales_kernel,
)
from .cloth_response import respond_kernel
from .lengths import ROUNDS, restore
from .patches import pairs_around, triangle_pairs

HORIZON = 0.015  # [s] that a detection looks ahead at most, but always a substep
SLACK = 0.08  # mean edges that a particle may leave its way by, besides what the thickness gives
MOST_STRAY = 16  # particles off their ways that are seen to one by one
TURNS = 3  # responses in a substep at most: one may push a particle off its way, to where nobody looked
BODY_ROUNDS = 16  # of the guard, after which bodies have what they cannot be kept off
LONGEST_WAY = 0.7  # mean edges that cloth may fly in the time looked ahead: fast cloth is looked at more often


class Search(NamedTuple):
    """What a detection knew of every particle and triangle, in the frame of the motion of the whole."""

    ways: np.ndarray  # (n, 6) [m] box of where a particle will be, lowest corner first
    boxes: np.ndarray  # (t, 6) [m] the same of a triangle
    calm: np.ndarray  # (n,) bool: the sheet is too flat round the particle to meet itself there
    owned: np.ndarray  # (t,) uint8, see `Patches`
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
    active: np.ndarray  # (p,) int32 scratch: pairs of the sweeps after the first
    elapsed: float = 0.0  # [s] since they were detected


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
    scratch = np.zeros(len(x)), np.empty(len(near.gap), np.int32)
    near, firm_start = _firm_last(cloth, near)
    slack = reach - 0.5 * cloth.thickness
    return Pairs(near, firm_start, x.copy(), v.copy(), slack, horizon, settings, search, *scratch)


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
        if _look(pairs, x, pairs.elapsed)[0]:
            _catch_up(pairs, cloth, start, x, dt)
            _look(pairs, x, pairs.elapsed)
        elif turn:
            break
        if len(pairs.active):
            scratch = pairs.astray, pairs.active, pairs.firm_start, pairs.elapsed
            touched = respond_kernel(pairs.near, *scratch, cloth.inv_mass, dt, start, x, x_prev)
    return touched


def _guard(pairs: Pairs | None, watch: Watch | None, near: Near | None, cloth: Cloth, start, x, x_prev, dt) -> None:
    """Hold back what would pass through other cloth or a body on its way from `start` to `x`; see `guard`."""
    zones, fresh = None, np.ones(len(x), np.bool_)
    for turn in range(guard.ROUNDS):
        found = [_impacts(pairs, cloth, fresh, start, x, dt)] if pairs is not None else []
        if near is not None:
            found.append(body_guard.impacts(watch, near, turn >= BODY_ROUNDS))
        if not any(len(hits) for _, hits, _ in found):
            return
        zones = zones or guard.single_zones(start, x)
        bodies = body_guard.bodies(watch) if watch is not None else guard.NO_BODIES
        about = turn < guard.GENTLE, bodies.owner, zones.parent, zones.share, zones.lead
        changed = [guard.join(*hits, *about) for hits in found]
        if not any(changed):  # what is pinned meets, or a body that is not as rigid as what rides along with it
            if near is not None:
                _push_last(pairs, watch, near, cloth, start, x, x_prev, dt)
            return
        guard.hold(zones, bodies, cloth.inv_mass, start, x, x_prev, fresh)
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
    if _look(pairs, x, pairs.elapsed)[0]:
        _catch_up(pairs, cloth, start, x, dt)
        _look(pairs, x, pairs.elapsed)
    off = np.empty(len(x))
    _look(pairs, start, pairs.elapsed - dt, off)
    np.maximum(off, pairs.astray, out=off)
    hits, times = np.empty(len(pairs.active), np.int32), np.empty(len(pairs.active))
    count = guard.find_impacts(pairs.near, off, pairs.elapsed, fresh, start, x, hits, times)
    return pairs.near.stencils, hits[:count], times[:count]


def _look(pairs: Pairs, x: np.ndarray, time: float, off: np.ndarray | None = None) -> tuple[bool, np.ndarray]:
    """Fill `off`, or else `pairs.astray`, with how far particles at x are off their ways at `time` [s]; returns whether
    one is too far off, and how far off all are.
    """
    mean, off = np.empty(3), pairs.astray if off is None else off
    return find_astray(x, pairs.x_ref, pairs.v_ref, time, pairs.slack, mean, off), mean


def _catch_up(pairs: Pairs, cloth: Cloth, start: np.ndarray, x: np.ndarray, dt: float) -> None:
    """Change `pairs` in place after particles have gone astray: a few get a new way and new pairs, as if they had
    always been on that way; for more all is detected anew.
    """
    stray = np.flatnonzero(~(pairs.astray <= pairs.slack))
    if len(stray) > MOST_STRAY:
        other = detect(cloth, start, (x - start) / dt, dt, pairs.settings)
        for field in fields(Pairs):
            setattr(pairs, field.name, getattr(other, field.name))
        pairs.elapsed = dt
        return
    before = pairs.elapsed - dt
    off_now, off_before = _look(pairs, x, pairs.elapsed)[1], _look(pairs, start, before)[1]
    place = start[stray] - off_before
    pairs.v_ref[stray] = (x[stray] - off_now - place) / dt
    pairs.x_ref[stray] = place - before * pairs.v_ref[stray]
    is_stray = np.zeros(len(x), np.bool_)
    is_stray[stray] = True
    stencils, is_edge_pair = _candidates_around(stray, is_stray, pairs, cloth, before)
    # All others may be off their ways already, by their slack, and may be off the other way later.
    spare = pairs.slack.max()
    reach, rest = pairs.search.reach + spare, pairs.horizon - before
    found = _measure(cloth, start, pairs.v_ref, reach, rest, stencils, is_edge_pair)
    found = found._replace(gap=found.gap + before * found.closing - 2.0 * spare)
    kept = ~is_stray[pairs.near.stencils].any(axis=1)
    near = Near(*(np.concatenate((old[kept], new)) for old, new in zip(pairs.near, found, strict=True)))
    pairs.near, pairs.firm_start = _firm_last(cloth, near)
    pairs.active = np.empty(len(near.gap), np.int32)


def _candidates_around(stray: np.ndarray, is_stray: np.ndarray, pairs: Pairs, cloth: Cloth, time: float):
    """Candidates as from `_candidates`, but only those of `stray` particles, on their ways from `time` [s] on."""
    search = pairs.search
    go, reach = pairs.v_ref[stray] - search.drift, search.reach[stray][:, None]
    begin, end = pairs.x_ref[stray] + time * go, pairs.x_ref[stray] + pairs.horizon * go
    search.ways[stray, :3] = np.minimum(begin, end) - reach
    search.ways[stray, 3:] = np.maximum(begin, end) + reach
    found = pairs_around(cloth, is_stray, search.ways, search.boxes, search.calm)
    stencils, is_edge_pair = _spread(found, cloth, search)
    own = is_stray[stencils].any(axis=1)
    return stencils[own], is_edge_pair[own]


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
    ways, boxes = np.empty((len(x), 6)), np.empty((len(triangles), 6))
    normals, calm = np.empty((len(triangles), 3)), np.empty(len(x), np.bool_)
    slack, scratch = reach - 0.5 * cloth.thickness, (np.empty_like(x), np.empty(len(x)))
    look_ahead_kernel(x, v, triangles, reach, slack, horizon, ways, boxes, normals, calm, *scratch)
    pairs, owned = triangle_pairs(cloth, boxes, normals, calm, FLAT, settings.broad_phase)
    search = Search(ways, boxes, calm, owned, reach, v.mean(axis=0))
    return *_spread(pairs, cloth, search), search


def _spread(pairs: np.ndarray, cloth: Cloth, search: Search) -> tuple[np.ndarray, np.ndarray]:
    """Stencils of pairs of triangles, and which of them are of edges."""
    return candidates(pairs, cloth.triangles, search.owned, search.calm, search.boxes, search.ways)
