# SPDX-License-Identifier: GPL-3.0-or-later
"""The rounds of a substep in which contact has its last word: response, then guard.

    response   cloth is kept off cloth (`cloth.pairs`); and where what lies between the points that `body.collide` has kept
               off bodies still meets one, off bodies (`guard.body_pairs`), after which cloth is kept off cloth again
    guard      what would still pass through cloth or a body on its straight trajectory from the substep's start is held
               back: the particles of pairs that meet form impact zones (`guard.impact_zones`), which are parted into
               clusters that slide on each other (`guard.clusters`), or are advected with a body, until nothing meets; what
               it locks so goes a shorter way (`guard.locked`), once more through both

A substep that starts free of crossings ends so, whatever the dynamics did, but for what no motion could keep apart: what
is pinned and closes on itself, or bodies that close on cloth.
"""

import numpy as np

from ..kernel.rows import differing
from ..model import Cloth
from .cloth.pair_list import PairList
from .cloth.pairs import Pairs, can_meet, follow_through, go_on, respond
from .cloth.response import NO_BRACE, NONE_CALM, braced
from .guard import body_pairs, clusters, impact_zones, locked
from .guard.body_pairs import BodyPairs
from .guard.impact_zones import ALONE, GENTLE_ROUNDS, GUARD_ROUNDS, NO_LEADERS, Impacts, Zones

BODY_RESPONSES = 3  # in a substep at most
CONTENDED = (
    0.5  # part of what bodies moved cloth by before, above which they do not again: cloth has pushed back, and would
)
FOLLOWED_ROUNDS = 4  # of the guard in which much that is tangled is followed to wherever it is thrown, and
MUCH_TANGLED = 0.1  # crossings a particle from which on that is much
BODY_ROUNDS = 16  # of the guard, after which bodies have what they cannot be kept off


def resolve(
    pairs: Pairs | None,
    bodies: BodyPairs | None,
    cloth: Cloth,
    times: tuple[float, float],
    start,
    x,
    x_from,
    dt: float,
    brace=NO_BRACE,
    calm=NONE_CALM,
) -> tuple[int, np.ndarray, np.ndarray, np.ndarray]:
    """Keep cloth at its contact distance from cloth, and let nothing pass; returns how many pairs touched, what the guard
    holds back (n,) as in `impact_zones.holders`, what it, or a body's edges and faces, moved (n,) bool, and what these moved
    again (n,) bool, because cloth had pushed it back. Once in every substep.

    Parameters
    ----------
    pairs : Pairs of cloth, detected anew and changed in place if a particle is out of bounds; None if no cloth meets cloth
    bodies : BodyPairs, None if there are no bodies
    times : of the start and the end of the substep, in parts of the frame
    start : (n, 3) [m] where the substep started, free of crossings
    x : (n, 3) [m], changed in place: end of the substep, after all constraints
    x_from : (n, 3) [m], changed in place where cloth was too close before: where velocities count from
    dt : [s] the substep
    brace : as in `cloth.response.Substep`; the guard, which moves zones as wholes, takes it for all directions
    """
    touched, pairs = 0, pairs if can_meet(cloth) else None
    if pairs is not None:
        go_on(pairs, dt)
        touched = respond(pairs, cloth, start, x, x_from, dt, brace, calm)
    near, (is_moved, is_contended) = _near_bodies(bodies, times, start, x), np.zeros((2, len(x)), np.bool_)
    went_before, before, is_pushed = np.inf, np.empty_like(x), np.empty(len(x), np.bool_)
    for _ in range(BODY_RESPONSES):
        before[:] = x
        if near is None or not body_pairs.push(bodies, near, cloth, x, x_from, dt, brace):
            break
        differing(x, before, is_pushed)
        went = np.abs(x - before).sum()
        is_last, went_before = went > CONTENDED * went_before, went
        if is_last:
            is_contended = is_moved & is_pushed
        is_moved |= is_pushed
        if pairs is not None and not is_last:  # with the lengths that it has: a body moves little of it
            respond(pairs, cloth, start, x, x_from, dt, brace, calm, rounds=0)
        near = _near_bodies(bodies, times, start, x)
        if is_last:
            break
    del before  # not in memory while the guard works
    about = times, start, x, x_from, dt, brace
    zones = guard(pairs, bodies, near, cloth, *about)
    if zones is not None and pairs is not None and locked.go_less_far(zones, cloth, start, x, x_from):
        respond(pairs, cloth, start, x, x_from, dt, brace, calm)
        zones = guard(pairs, bodies, _near_bodies(bodies, times, start, x), cloth, *about)
    if zones is None:
        return touched, np.full(len(x), ALONE, np.int32), is_moved, is_contended
    held = impact_zones.holders(zones, cloth.inv_mass)
    return touched, held, is_moved | (held != ALONE), is_contended


def guard(
    pairs: Pairs | None,
    bodies: BodyPairs | None,
    near: PairList | None,
    cloth: Cloth,
    times,
    start,
    x,
    x_from,
    dt: float,
    brace=NO_BRACE,
) -> Zones | None:
    """Hold back what would pass through other cloth or a body on its trajectory from `start` to `x`; returns the zones by
    which, None if there are none.

    near : what `body_pairs` have found for that; other parameters as of `resolve`. The brace, for all directions, is asked of what meets
    """
    zones, fresh, tries, met = None, np.ones(len(x), np.bool_), np.zeros(len(x), np.int64), []
    for turn in range(GUARD_ROUNDS):
        found = []
        if pairs is not None:
            found.append(_cloth_impacts(pairs, cloth, fresh, start, x, dt, turn < FOLLOWED_ROUNDS))
        if near is not None:
            found.append(body_pairs.impacts(bodies, near, turn >= BODY_ROUNDS))
        if not any(len(impacts.hits) for impacts in found):
            return zones
        if zones is None:
            zones, cloth = impact_zones.single_zones(start, x, x_from), braced(cloth, brace)
        leaders = body_pairs.leaders(bodies, dt) if bodies is not None else NO_LEADERS
        if pairs is not None:
            met.append(clusters.record(pairs.pair_list, found[0], start))
        joined = [impact_zones.join(impacts, turn < GENTLE_ROUNDS, leaders, zones) for impacts in found]
        if not clusters.try_again(zones, found, tries) and not any(joined):
            # What is pinned meets, or a body that is not as rigid as what is advected with it.
            if pairs is not None:
                pairs.let_pass |= len(found[0].hits) > 0
            if near is not None:
                _push_last(pairs, bodies, near, cloth, start, x, x_from, dt)
            return zones
        impact_zones.apply_zones(zones, leaders, cloth.inv_mass, start, x, x_from, fresh)
        if met:
            clusters.move_parts(zones, tries, met, cloth, start, x, fresh)
        near = _near_bodies(bodies, times, start, x, zones.advected)
    _make_one_piece(zones)
    if pairs is not None:
        pairs.let_pass = True  # what is pinned, perhaps
    impact_zones.apply_zones(zones, leaders, cloth.inv_mass, start, x, x_from, fresh)
    return zones


def _push_last(
    pairs: Pairs | None, bodies: BodyPairs, near: PairList, cloth: Cloth, start, x, x_from, dt: float
) -> None:
    """Take what is advected with a body out of it, if no cloth passes through cloth so."""
    before = x.copy(), x_from.copy()
    body_pairs.push(bodies, near, cloth, x, x_from, dt)
    if pairs is not None and len(_cloth_impacts(pairs, cloth, np.ones(len(x), np.bool_), start, x, dt).hits):
        x[:], x_from[:] = before


def _make_one_piece(zones: Zones) -> None:
    """All cloth is one zone without inner motion."""
    zones.parent[:], zones.share[0], zones.leader[0] = 0, 0.0, zones.leader.max()


def _near_bodies(bodies: BodyPairs | None, times, start, x, advected=None) -> PairList | None:
    """Pairs of cloth and bodies that may meet between `start` and `x`."""
    return body_pairs.find(bodies, times, start, x, advected) if bodies is not None else None


def _cloth_impacts(pairs: Pairs, cloth: Cloth, fresh, start, x, dt: float, follows: bool = True) -> Impacts:
    """Pairs of cloth with a fresh particle (n,) that meet between `start` and `x`.

    Where much of it is tangled, a round throws so much of it out of bounds that all would be detected anew in each: it goes by the
    pairs that are known then, unless it still `follows`.
    """
    is_much = pairs.tangles is not None and pairs.tangles.count > MUCH_TANGLED * len(x)
    deviation = follow_through(pairs, cloth, start, x, dt, follows or not is_much)
    return impact_zones.find_impacts(pairs.pair_list, deviation, pairs.elapsed, fresh, start, x, cloth.grain)
