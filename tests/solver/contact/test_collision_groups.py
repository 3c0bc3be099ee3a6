# SPDX-License-Identifier: GPL-3.0-or-later
"""Collision groups: masked vertices pass and all others do not; garments and bodies meet where both are to."""

import numpy as np
import pytest
from crossings import count_in
from naive import still
from sheets import NO_TANGLES, sheet
from solids import ball, collider
from taffeta.solver.build import build
from taffeta.solver.contact import resolve
from taffeta.solver.contact.cloth import pairs as cloth_contact
from taffeta.solver.model import Settings
from taffeta.solver.step import advance

DT = 1 / 720
TIMES = 0.0, 1.0  # of the substep, in parts of the frame

ALWAYS, NEVER = True, False
# so that garments which do not touch share neither a rest of the error nor the number of steps
SOLVED = Settings(tolerance=1e-9, iterations=300, small_steps=0.0)


def run(garments, frames, colliders=(), settings=SOLVED):
    """Frames of gravity; returns cloth and state."""
    cloth, state = build(garments, settings)
    for frame in range(1, frames + 1):
        advance(cloth, state, still(state.x + cloth.origin, colliders=colliders), frame, settings)
    return cloth, state


def above_a_ball(name="A", x=0.0, **changes):
    """A sheet above a ball of radius 0.15 about the origin."""
    return sheet(name, 9, 9, 0.03, lambda at: at + [x, 0.0, 0.16])._replace(**changes)


def without(garment, count):
    """The garment with a mask that leaves out its first `count` vertices."""
    mask = np.ones(len(garment.x), bool)
    mask[:count] = False
    return mask


def test_masked_vertices_pass_through_a_ball_and_others_do_not():
    """Two sheets that do not know each other: one falls through, of the other a third does, and the rest is held."""
    body = collider(ball(0.15))
    whole, part = above_a_ball("A", self_collision=False), above_a_ball("B", 0.0, self_collision=False)
    whole = whole._replace(meets=(ALWAYS, NEVER), meets_bodies=np.zeros(81, bool))
    part = part._replace(meets_bodies=without(part, 27))
    cloth, state = run([whole, part], 8, (body,))
    fallen, held = np.split(state.x + cloth.origin, 2)
    assert fallen[:, 2].max() < -0.1, "free fall of a third of a second: half a metre, less its drag"
    apart = np.linalg.norm(held, axis=1)
    assert apart[27:].min() > 0.15, "what is not masked keeps out"
    assert held[27:, 2].max() > 0.1
    alone, other = run([part._replace(meets=None)], 8, (body,))
    assert np.allclose(other.x + alone.origin, held, atol=1e-6), "the other sheet was not there"
    assert np.linalg.norm(held[:27], axis=1).min() < 0.149, "what is masked hangs into the ball"


def folded(mask=None):
    """A sheet of 2 mm whose one half is thrown through the other, all pinned but that half."""
    garment = sheet("A", 9, 9, 0.02)
    x = garment.x.copy()
    over = x[:, 0] > 0.02
    x[over, 0], x[over, 2] = 0.04 - x[over, 0], 0.02
    return garment._replace(x_start=x, pin=np.where(x[:, 2] > 0.0, 0.0, 1.0), meets_itself=mask)


@pytest.mark.parametrize(("masked", "passes"), [(0, False), (81, True)])
def test_masked_folds_pass_through_their_own_garment(masked, passes):
    garment = folded()
    garment = garment._replace(meets_itself=without(garment, masked) if masked else None)
    cloth, state = build([garment], Settings())
    free = cloth.inv_mass > 0.0
    start, x_from = state.x.copy(), state.x.copy()
    state.x[free, 2] -= 0.05
    pairs = cloth_contact.detect(cloth, start, (state.x - start) / DT, DT, Settings())
    resolve.resolve(pairs, None, cloth, TIMES, start, state.x, x_from, DT)
    assert (len(pairs.pair_list.stencils) == 0) == passes
    assert (state.x[free, 2].max() < 0.0) == passes
    if not passes:
        assert count_in(cloth, state.x) == (0, 0, 0)


def test_a_pair_with_one_masked_particle_is_left_out_and_all_others_are_there():
    """By a plain filter of all the pairs that there are without a mask, the one between garments included."""
    rng = np.random.default_rng(3)
    one, two = sheet("A", 7, 7, 0.02), sheet("B", 7, 7, 0.02, lambda x: x + [0.0, 0.0, 0.004])
    mask = rng.random(49) < 0.8

    def pairs(garment):
        cloth, state = build([garment, two], Settings())
        x = state.x + np.random.default_rng(4).normal(size=state.x.shape) * 6e-3
        pair_list = cloth_contact.detect(cloth, x, np.zeros_like(x), DT, Settings(), NO_TANGLES).pair_list
        return {(bool(e), *s) for e, s in zip(pair_list.is_edge_pair, pair_list.stencils.tolist(), strict=True)}

    every, left = pairs(one), pairs(one._replace(meets_itself=mask))
    met = np.concatenate((mask, np.ones(49, bool)))
    expected = {p for p in every if (p[1] < 49) != (p[3] < 49) or met[list(p[1:])].all()}
    assert left == expected and len(every) > len(left) > 500


def test_garments_meet_where_each_is_to_meet_the_other():
    """Three sheets on top of each other: the uppermost leaves out the middle one, which would meet it."""
    sheets = [sheet(name, 6, 6, 0.02, lambda x, h=h: x + [0, 0, h]) for name, h in (("A", 0), ("B", 3e-3), ("C", 6e-3))]
    sheets[2] = sheets[2]._replace(meets=(ALWAYS, NEVER, ALWAYS))
    cloth, state = build(sheets, Settings())
    assert cloth.meets.tolist() == [[True, True, True], [True, True, False], [True, False, True]]
    x = state.x + np.random.default_rng(5).normal(size=state.x.shape) * 8e-3
    stencils = cloth_contact.detect(cloth, x, np.zeros_like(x), DT, Settings(), NO_TANGLES).pair_list.stencils
    found = np.unique(np.sort(cloth.garment[stencils[:, [0, 3]]], axis=1), axis=0)
    assert found.tolist() == [[0, 0], [0, 1], [0, 2], [1, 1], [2, 2]]


def test_a_body_holds_the_garments_that_it_meets():
    """Two balls in one place: the first sheet lies on the small one, the second on the large one, a third on none."""
    small = collider(ball(0.1), name="Small")._replace(meets=(ALWAYS, NEVER, NEVER))
    large = collider(ball(0.15), name="Large")._replace(meets=(NEVER, ALWAYS, NEVER))
    alone = {"self_collision": False}
    sheets = [above_a_ball(name, **alone)._replace(meets=(NEVER, NEVER, NEVER)) for name in "ABC"]
    cloth, state = run(sheets, 8, (small, large))
    first, second, third = np.split(state.x + cloth.origin, 3)
    centre = np.linalg.norm(first, axis=1).min(), np.linalg.norm(second, axis=1).min()
    assert 0.1 < centre[0] < 0.12 and 0.15 < centre[1] < 0.17
    assert third[:, 2].max() < -0.1
    only, state = run([sheets[1]._replace(meets=None)], 8, (collider(ball(0.15)),))
    assert np.allclose(state.x + only.origin, second, atol=1e-6), "as if the other body were not there"


def test_what_starts_inside_a_body_that_it_does_not_meet_falls_freely():
    """At its first frame cloth is looked for inside of bodies: only of those that it meets, and where it is not masked."""
    body = collider(ball(0.3))
    inside = sheet("A", 5, 5, 0.01, self_collision=False)
    fall = run([inside], 3)[1].x
    assert np.array_equal(run([inside], 3, (body._replace(meets=(NEVER,)),))[1].x, fall)
    assert np.array_equal(run([inside._replace(meets_bodies=np.zeros(25, bool))], 3, (body,))[1].x, fall)
    assert not np.allclose(run([inside], 3, (body,))[1].x, fall, atol=1e-3)


def test_masks_that_leave_out_nothing_change_no_bit():
    """Sheets that fall onto a ball and each other."""
    garments = [above_a_ball("A"), above_a_ball("B", x=0.01)._replace(x_start=above_a_ball("B").x_start + [0, 0, 0.01])]
    body = collider(ball(0.15))
    plain = run(garments, 6, (body,), Settings())[1]
    every = np.ones(81, bool)
    masked = [g._replace(meets=(ALWAYS, ALWAYS), meets_bodies=every, meets_itself=every) for g in garments]
    again = run(masked, 6, (body._replace(meets=(ALWAYS, ALWAYS)),), Settings())[1]
    assert plain.x.tobytes() == again.x.tobytes() and plain.v.tobytes() == again.v.tobytes()


def test_groups_of_another_size_are_refused_by_name():
    garment = above_a_ball("Cape")
    for changes, words in (
        ({"meets_bodies": np.ones(3, bool)}, "'Cape': the mask for the bodies has the shape"),
        ({"meets_itself": np.ones(3, bool)}, "'Cape': the mask for the self-collision has the shape"),
        ({"meets": (True, True)}, "'Cape' tells of 2 garments"),
    ):
        with pytest.raises(ValueError, match=words):
            build([garment._replace(**changes)], Settings())
    with pytest.raises(ValueError, match="'Body' tells of 2 garments; there are 1"):
        run([garment], 1, (collider(ball(0.1))._replace(meets=(True, True)),))
