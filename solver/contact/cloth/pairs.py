# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth on cloth: by thickness, inelastic, with friction, conserving momentum (Pereira 2013, 4.3 and 4.4).

The step calls two functions, `resolve` the others:

    pairs = detect(cloth, x, v, dt, settings)     at the start of a substep, from positions known to be apart
    is_current(pairs, cloth, dt) -> bool          at the start of every substep: False asks for a new `detect`
    go_on(pairs, dt)                              once a substep, after the constraints
    respond(pairs, cloth, start, x, x_from, dt)   after that, as often as others have moved cloth; x and x_from change
                                                  in place, returns how many pairs touched
    deviation = follow_through(pairs, cloth, start, x, dt)   when it is asked what meets on the way from `start` to x

`detect` pairs every particle with every triangle and every edge with every edge that can come closer than their
contact distance while all particles fly on as they do, each off its trajectory by no more than the slack it is granted. The
end of the time that was looked ahead calls for a new detection (`is_current`). So does a particle that left its way
by more: constraints may throw it anywhere in one substep, so `respond` looks where all particles are now, and if one
is out of bounds it detects anew along the trajectories from `start` to x before it does anything. Each pair remembers
the direction from its second side to its first, so a particle that went through a triangle since the last substep is known by a
direction that flipped, confirmed by continuous collision detection along its way (Li et al. 2021, additive conservative
advancement), and is taken back to where it came from.

`respond` works pair after pair (Gauss-Seidel, always in the same order) on positions, with signed barycentric weights
w and inverse masses m^-1: with gap C = n . sum(w x) - h, x_i -= m_i^-1 w_i C n / sum(m^-1 w^2), which changes neither
the momentum nor the place of the centre of mass. An approach is ended, no more: cloth that was too close already at
the start of the substep is eased apart by moving x and x_from alike, so that being pushed apart gives no speed, unless
it was much too close (`DEFENDED_GAP`). Friction takes back the sliding of the substep up to its coefficient times the normal
correction (Coulomb).

What the response leaves is seen to by the guard (`resolve`): no pair crosses, whatever the dynamics did.
"""

import math
from dataclasses import dataclass, fields

import numpy as np

from ...broad_phase.patches import pairs_around, patches_of, triangle_pairs
from ...kernel.listed import make_ends
from ...kernel.shared import BOARD
from ...model import Cloth, Settings
from .deviation import deviate
from .edge_lengths import LENGTH_ROUNDS, restore_lengths, scales_kernel
from .look_ahead import STEEP_COSINE, Search, look_ahead, renew
from .pair_list import PairList, drop_kernel, empty_pairs
from .proximity import Since, Skin, Sought, pair_up
from .reach import Reach, has_moved, reachable_kernel
from .response import NO_BRACE, NONE_CALM, Substep, separate
from .tangles import Tangles, find_tangles, near_tangles

LONGEST_HORIZON = 0.015  # [s] that a detection looks ahead at most, but always a substep
TRAJECTORY_SLACK = 0.08  # mean edges that a particle may leave its trajectory by, besides what the thickness gives
FEW_OUT_OF_BOUNDS = 16  # particles that get new trajectories, or
PART_OUT_OF_BOUNDS = 0.05  # of all; for more all is detected anew, which costs less then
REACH_MARGIN = (
    1.0  # contact distances that particles may move by in a substep; then pairs are listed anew, all together
)
MOST_FOLLOWS = 4  # times that particles out of bounds get new ones one after the other, before all is detected anew
MOST_RESPONSES = 3  # responses in a substep at most: one may push a particle off its trajectory, to where nobody looked
JUST_MEASURED = Since(0.0, np.zeros(0))
LONGEST_TRAJECTORY = 0.7  # mean edges that cloth may fly in the time looked ahead: fast cloth is looked at more often


@dataclass
class Pairs:
    """Everything of cloth that may meet while each particle keeps to its trajectory within its slack."""

    pair_list: PairList  # those that are known to be out of date have no contact distance
    room: PairList  # what it is the beginning of
    x_ref: np.ndarray  # (n, 3) [m] positions when detected
    v_ref: np.ndarray  # (n, 3) [m/s] velocities when detected
    slack: np.ndarray  # (n,) [m] how far a particle may leave its trajectory before the pairs are out of date
    horizon: float  # [s] how long they hold at most
    settings: Settings
    search: Search | None
    tangles: Tangles | None  # what is let through each other until the next detection
    deviation: np.ndarray  # (n,) [m] how far each particle was off it when last looked at, less what all are
    margin: float  # [m] as in `REACH_MARGIN`
    reach: Reach | None = None  # what particles may have come to touch in this substep, None if not known yet,
    reached: int = 0  # of how many of the pairs
    elapsed: float = 0.0  # [s] since they were detected
    let_pass: bool = False  # whether the guard has had to let a pair pass


def detect(
    cloth: Cloth, x: np.ndarray, v: np.ndarray, dt: float, settings: Settings, tangles: Tangles | None = None
) -> Pairs:
    """Find what may meet in the next substeps.

    Parameters
    ----------
    x, v : (n, 3) [m], [m/s] at the start of a substep; the sides of all pairs are remembered from here.
    dt : [s] a substep. The pairs hold for `LONGEST_HORIZON`, for fast cloth less, but always a substep.
    tangles : what is let through each other, as an earlier detection of the frame found it, where there is anything; None: not
        known yet

    Notes
    -----
    Pairs of garments that do not meet, pairs inside a garment without self-collision or with a particle that is masked
    there, and pairs of which nothing can move, are left out.
    """
    horizon, slack = _horizon(cloth, v, dt)
    reach = settings.neighbour_reach * 0.5 * cloth.thickness + slack
    pair_list, search, tangles = _find(cloth, x, v, reach, horizon, settings, tangles)
    slack = reach - 0.5 * cloth.thickness
    about = x.copy(), v.copy(), slack, horizon, settings, search, tangles, np.zeros(len(x))
    return Pairs(pair_list, pair_list, *about, REACH_MARGIN * cloth.thickness.max())


def is_current(pairs: Pairs, cloth: Cloth, dt: float) -> bool:
    """Whether the time that was looked ahead lasts for another substep dt [s]; asked at its start."""
    return pairs.elapsed + dt <= pairs.horizon or not can_meet(cloth)


def go_on(pairs: Pairs, dt: float) -> None:
    """Count a substep dt [s] that has begun, in which nobody knows yet what particles may have come to touch."""
    pairs.elapsed += dt
    pairs.reach = None


def respond(
    pairs: Pairs, cloth: Cloth, start, x, x_from, dt: float, brace=NO_BRACE, calm=NONE_CALM, rounds=LENGTH_ROUNDS
) -> int:
    """Keep cloth at its contact distance from cloth, with the lengths that it has; returns how many pairs touched.

    Parameters
    ----------
    pairs : Pairs, detected anew and changed in place if a particle is out of bounds
    start : (n, 3) [m] where the substep started, free of crossings
    x : (n, 3) [m], changed in place: end of the substep, after all constraints
    x_from : (n, 3) [m], changed in place where cloth was too close before: where velocities count from
    dt : [s] the substep
    brace : as in `response.Substep`
    rounds : times that lengths are brought back, and cloth is kept off cloth again after that, at most
    """
    before = x.copy()
    about = pairs, cloth, start, x, x_from, dt, brace, calm
    touched, follows = _push_apart(*about), _follows(pairs)
    for _ in range(rounds):
        if not touched:
            break
        restore_lengths(cloth.edges, cloth.is_mesh_edge, cloth.inv_mass, before, x)
        _push_apart(*about, follows)
    return touched


def _follows(pairs: Pairs) -> int:
    """How often lengths that are brought back may call for new pairs. Beside tangles they do nearly each time, for a few
    particles at the cost of all: there it is left to the guard, which follows through.
    """
    is_tangled = pairs.tangles is not None and len(pairs.tangles.couples) > 0
    return 0 if is_tangled else MOST_RESPONSES


def follow_through(pairs: Pairs, cloth: Cloth, start, x, dt: float, follows: bool = True) -> np.ndarray:
    """`follow` particles to x; returns how far (n,) [m] each is off its trajectory from `start` to x at most. Who no more `follows`
    them out of their bounds lets what else may meet there pass, which the report counts.
    """
    if follows:
        follow(pairs, cloth, start, x, dt)
    else:
        pairs.let_pass |= bool(find_deviation(pairs, x, pairs.elapsed)[0])
    deviation = np.empty(len(x))
    find_deviation(pairs, start, pairs.elapsed - dt, deviation)
    return np.maximum(deviation, pairs.deviation, out=deviation)


def _push_apart(pairs: Pairs, cloth: Cloth, start, x, x_from, dt: float, brace, calm, follows=MOST_RESPONSES) -> int:
    """`respond` without a look at lengths. follows : how often what is out of bounds gets new pairs; 0: one response with
    those that there are
    """
    touched = 0
    for turn in range(max(follows, 1)):
        if not follows:
            is_any_out, _ = find_deviation(pairs, x, pairs.elapsed)
        else:
            is_any_out = follow(pairs, cloth, start, x, dt)
        if turn and not is_any_out:
            break
        if len(pairs.pair_list.gap):
            reach, margin = _find_reach(pairs, x)
            is_tangled = pairs.tangles is not None and pairs.tangles.count > 0
            substep = Substep(cloth.inv_mass, brace, start, x, x_from, dt, calm, is_tangled)
            touched = separate(pairs.pair_list, reach, margin, substep)
        if not (touched or is_any_out):  # nothing has moved since all were in bounds
            break
    return touched


def _find_reach(pairs: Pairs, x: np.ndarray) -> tuple[Reach, float]:
    """What particles at x (n, 3) [m] may touch, and the margin [m] by which."""
    margin, reach, count = pairs.margin, pairs.reach, len(pairs.pair_list.gap)
    if reach is None or has_moved(reach, x, margin):
        none = np.empty(0, np.int32), np.empty(len(pairs.room.gap))
        reach = Reach(x.copy(), x.copy(), np.zeros(len(x)), *none)
        pairs.reach = reach = reach._replace(active=_reachable(pairs, 0, margin, reach))
    elif pairs.reached < count:  # others are nearer by a margin at most than when it was found
        fresh = _reachable(pairs, pairs.reached, 2.0 * margin, reach)
        pairs.reach = reach = reach._replace(active=np.concatenate([reach.active, fresh]))
    pairs.reached = count
    return reach, margin


def _reachable(pairs: Pairs, first: int, margin: float, reach: Reach) -> np.ndarray:
    """`Reach.active` of the pairs from the first on; margin : [m] as in `reachable_kernel` # outputs: reach.bound"""
    count, about = len(pairs.pair_list.gap) - first, (pairs.pair_list, pairs.deviation, pairs.elapsed, margin)
    active, ends = np.empty(count, np.int32), make_ends(count)
    return active[: reachable_kernel(BOARD, first, count, *about, reach.moved, active, reach.bound, ends)]


def find_deviation(pairs: Pairs, x, time: float, deviation: np.ndarray | None = None) -> tuple[bool, np.ndarray]:
    """Fill `deviation` (n,) [m], or else that of `pairs`, with how far particles at x (n, 3) [m] are off their
    trajectories at `time` [s]; returns whether one is out of bounds, and how far off all are.
    """
    deviation = pairs.deviation if deviation is None else deviation
    return deviate(x, pairs.x_ref, pairs.v_ref, time, pairs.slack, deviation)


def follow(pairs: Pairs, cloth: Cloth, start: np.ndarray, x: np.ndarray, dt: float) -> bool:
    """See to it that all particles at x are on their trajectories within their slack (in bounds); returns whether one was
    not.

    Particles that get new trajectories change what all do on average, and with it how far the others are off theirs.
    """
    most = max(FEW_OUT_OF_BOUNDS, int(PART_OUT_OF_BOUNDS * len(x)))
    for turn in range(MOST_FOLLOWS):
        is_any_out, mean = find_deviation(pairs, x, pairs.elapsed)
        if not is_any_out:
            return turn > 0
        _catch_up(pairs, cloth, start, x, mean, dt, most if turn < MOST_FOLLOWS - 1 else 0)
    find_deviation(pairs, x, pairs.elapsed)
    return True


def _catch_up(pairs: Pairs, cloth: Cloth, start, x, mean, dt: float, most: int) -> None:
    """Change `pairs` in place after particles got out of bounds: they get new trajectories and new pairs, as if they had
    always been on these; if there are more than `most`, all is detected anew. mean : (3,) [m] how far off all are at x
    """
    out = np.flatnonzero(~(pairs.deviation <= pairs.slack))
    if len(out) > most:
        pairs.pair_list = pairs.room = pairs.search = pairs.reach = None  # not twice in memory
        other = detect(cloth, start, (x - start) / dt, dt, pairs.settings, pairs.tangles)
        for field in fields(Pairs):
            setattr(pairs, field.name, getattr(other, field.name))
        pairs.elapsed = dt
        return
    before, deviation = pairs.elapsed - dt, np.empty(len(x))
    _, mean_before = find_deviation(pairs, start, before, deviation)
    place = start[out] - mean_before
    pairs.v_ref[out] = (x[out] - mean - place) / dt
    pairs.x_ref[out] = place - before * pairs.v_ref[out]
    is_out, deviation[out] = np.zeros(len(x), np.bool_), 0.0
    is_out[out] = True
    _exchange(pairs, is_out, _find_around(out, is_out, pairs, cloth, start, Since(before, deviation)))


def _exchange(pairs: Pairs, is_out: np.ndarray, found: PairList) -> None:
    """Put what has been found in place of all pairs that have a particle out of bounds (n,)."""
    count, more = len(pairs.pair_list.gap), len(found.gap)
    drop_kernel(count, is_out, pairs.pair_list)
    if count + more > len(pairs.room.gap):
        pairs.room, count, pairs.reach = _with_room(pairs.pair_list, more)
    for array, fresh in zip(pairs.room, found, strict=True):
        array[count : count + more] = fresh
    pairs.pair_list = PairList(*(array[: count + more] for array in pairs.room))


def _with_room(old: PairList, more: int) -> tuple[PairList, int, None]:
    """Pairs that are not out of date, and room for `more` and a quarter of what there are; how many they are; nobody knows what
    of them is in reach.
    """
    kept = np.flatnonzero(old.gap < math.inf)
    room = PairList(*(np.empty((len(kept) + len(kept) // 4 + more, *array.shape[1:]), array.dtype) for array in old))
    for array, before in zip(room, old, strict=True):
        np.take(before, kept, axis=0, out=array[: len(kept)])
    return room, len(kept), None


def _find_around(out: np.ndarray, is_out: np.ndarray, pairs: Pairs, cloth: Cloth, start, since: Since) -> PairList:
    """Pairs as from `_find`, but only those of particles out of bounds, on their new trajectories from `start` on."""
    search = pairs.search
    changed = renew(search, cloth, pairs.x_ref, pairs.v_ref, out, pairs.horizon)
    found = pairs_around(cloth, changed, search.ahead, STEEP_COSINE, search.bounds)
    if len(pairs.tangles.couples):
        more = near_tangles(found, cloth.triangles, pairs.tangles.is_tangled)
        pairs.tangles = pairs.tangles._replace(near=np.concatenate([pairs.tangles.near, more]))
    reach, rest = search.reach + since.deviation, pairs.horizon - since.time  # others may deviate already
    sought = _sought(cloth, search, pairs.tangles, is_out, reach, rest)
    return pair_up(found, sought, _skin(cloth), start, pairs.v_ref, since)


def can_meet(cloth: Cloth) -> bool:
    """Whether there are triangles enough and garments that may meet."""
    return len(cloth.triangles) > 1 and bool(cloth.meets.any())


def _horizon(cloth: Cloth, v: np.ndarray, dt: float) -> tuple[float, float]:
    """How long to look ahead [s]: whole substeps, as long as trajectories do not outgrow the edges; and the slack [m]."""
    edge, speed = scales_kernel(cloth.pattern.x, v, cloth.pattern.triangles)
    longest = LONGEST_HORIZON
    if speed > 0.0 and math.isfinite(speed):
        longest = min(longest, LONGEST_TRAJECTORY * edge / speed)
    # A thousandth more than whole substeps, so that their sum does not end the time a substep early.
    return (max(math.floor(longest / dt), 1) + 1e-3) * dt, TRAJECTORY_SLACK * edge


def _find(cloth: Cloth, x, v, reach: np.ndarray, horizon: float, settings: Settings, tangles: Tangles | None):
    """Pairs of particles and triangles, edges and edges, that can meet; what they were found with; and what is let through each
    other.
    """
    if not can_meet(cloth):
        return empty_pairs(0), None, None
    search = look_ahead(cloth, x, v, reach, horizon)
    pairs, bounds = triangle_pairs(cloth, search.ahead, STEEP_COSINE, settings.broad_phase)
    search = search._replace(bounds=bounds)
    if tangles is None or len(tangles.couples):
        tangles = find_tangles(pairs, cloth.triangles, x)
    sought = _sought(cloth, search, tangles, np.ones(len(x), np.bool_), reach, horizon)
    return pair_up(pairs, sought, _skin(cloth), x, v, JUST_MEASURED), search, tangles


def _sought(cloth: Cloth, search: Search, tangles: Tangles, asked, reach: np.ndarray, horizon: float) -> Sought:
    ahead, pattern = search.ahead, cloth.pattern
    about = patches_of(cloth).owned, ahead.is_flat, ahead.boxes, search.boxes, pattern.place
    named = pattern.triangles if len(pattern.place) else cloth.triangles
    return Sought((cloth.triangles, named), *about, tangles.couples, tangles.is_tangled, asked, reach, horizon)


def _skin(cloth: Cloth) -> Skin:
    pattern = cloth.pattern.x, cloth.pattern.partner_start, cloth.pattern.partner
    return Skin(cloth.inv_mass, cloth.thickness, cloth.friction, cloth.garment, cloth.meets_itself, *pattern)
