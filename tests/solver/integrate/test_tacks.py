# SPDX-License-Identifier: GPL-3.0-or-later
"""Tacks: threads between garments hold what hangs on them, keep momentum, are slack up to their length, and break."""

import naive
import numpy as np
import pytest
from taffeta.solver.build import build
from taffeta.solver.model import TACK, Settings, Tacks
from taffeta.solver.step import advance

VACUUM = Settings(air_drag=0.0)
G = 9.81


def pair(pin=0.0, apart=0.01, between=0):
    """Two squares of nine particles above each other, the upper one pinned by that weight; others stand aside between them."""
    upper = naive.sheet(3, 3, width=0.1, height=0.1, pin=pin, name="A", damping=0.0)
    lower = naive.sheet(3, 3, width=0.1, height=0.1, name="C", damping=0.0)
    lower = lower._replace(x_start=lower.x - [0, 0, apart])
    aside = [upper._replace(name="B", x_start=upper.x + [5, 0, 0], pin=np.zeros(9)) for _ in range(between)]
    return build([upper, *aside, lower], VACUUM)


def tacks(cloth, stiffness=20.0, length=0.01, breaking=np.inf):
    """The lower one's middle beside the upper one's, and its corner beside that one's corner."""
    first = cloth.garment_start[-2]
    stencils = np.array([[first + 4, 4, 0, 3], [first, 0, 3, 4]], np.int32)
    weight = np.array([[0.96, 0.02, 0.02], [0.94, 0.03, 0.03]])
    return Tacks(stencils, weight, *(np.full(2, float(number)) for number in (length, stiffness, breaking)))


def ends(cloth, state, given):
    """(k,) [m] how far the ends of each thread are apart."""
    on = np.einsum("ki,kij->kj", given.weight, state.x[given.stencils[:, 1:]])
    return np.linalg.norm(state.x[given.stencils[:, 0]] - on, axis=1)


def momenta(cloth, state):
    m = cloth.mass[:, None]
    return np.concatenate([(m * state.v).sum(axis=0), np.cross(state.x, m * state.v).sum(axis=0)])


@pytest.mark.parametrize("dynamics", ["XPBD", "IMPLICIT_EULER"])
def test_what_hangs_on_a_thread_lengthens_it_by_its_weight(dynamics):
    """k (l - L) = m g for one thread that carries all of the lower garment, which hangs calm."""
    cloth, state = pair(pin=1.0)
    given = tacks(cloth)
    given = Tacks(*(array[:1] for array in given))
    settings, still = VACUUM._replace(dynamics=dynamics), naive.still(state.x + cloth.origin)
    for frame in range(60):
        state.v[:] *= 0.8
        advance(cloth, state, still._replace(tacks=given), frame, settings)
    weight = cloth.mass[9:].sum() * G
    assert 20.0 * (ends(cloth, state, given)[0] - 0.01) == pytest.approx(weight, rel=0.03)


@pytest.mark.parametrize("between", [0, 1])
def test_a_pair_that_flies_keeps_its_momentum(between):
    """Torn apart by their speeds, swung round and pulled back; whether the two lie end to end or not."""
    cloth, state = pair(between=between)
    last = cloth.garment_start[-2]
    state.v[last:] = [0.5, 0.2, -1.0]
    state.v[0, 0] = 1.0
    before, given = momenta(cloth, state), tacks(cloth)
    still = naive.still(state.x + cloth.origin, gravity=(0, 0, 0))._replace(tacks=given)
    farthest = 0.0
    for frame in range(24):
        advance(cloth, state, still, frame, VACUUM)
        farthest = max(farthest, ends(cloth, state, given).max())
    centre = [
        np.average(state.x[part], axis=0, weights=cloth.mass[part])[2] for part in (slice(0, 9), slice(last, None))
    ]
    assert farthest > 0.0101 and centre[0] - centre[1] < 0.2  # it would be 1 m
    error = np.abs(momenta(cloth, state) - before)
    assert error[:3].max() < 1e-10 * np.abs(before[:3]).max() and error[3:].max() < 1e-3 * np.abs(before[3:]).max()


def test_a_slack_thread_does_nothing():
    cloth, state = pair(apart=0.004)
    start = state.x.copy()
    still = naive.still(state.x + cloth.origin, gravity=(0, 0, 0))
    for frame in range(3):
        advance(cloth, state, still._replace(tacks=tacks(cloth)), frame, VACUUM)
    assert np.allclose(state.x, start, atol=1e-12)


def test_it_breaks_at_its_force_and_stays_broken():
    weight = 9 * 0.15 * 0.01 / 9 * G
    for load, breaks in ((0.98, False), (1.02, True)):
        cloth, state = pair(pin=1.0, apart=0.01 + 0.98 * weight / 20.0)
        given = Tacks(*(array[:1] for array in tacks(cloth, breaking=weight)))
        still = naive.still(state.x + cloth.origin, gravity=(0, 0, -G))
        for frame in range(60):
            state.v[:] *= 0.5
            share = min(1.0, frame / 40.0) * load
            advance(cloth, state, still._replace(tacks=given, gravity=np.array([0, 0, -G * share])), frame, VACUUM)
        assert state.broken[13] == (TACK if breaks else 0) and state.broken.sum() == state.broken[13]
        assert (state.x[9:, 2].max() < -0.1) == breaks


def test_explicit_dynamics_say_that_they_cannot():
    cloth, state = pair()
    with pytest.raises(ValueError, match="Tacks"):
        advance(cloth, state, naive.still(state.x)._replace(tacks=tacks(cloth)), 1, VACUUM._replace(dynamics="RK4"))
