# SPDX-License-Identifier: GPL-3.0-or-later
"""How much of the motion that a garment rides on its cloth feels: nothing, all, and a part in proportion."""

import naive
import numpy as np
import pytest
from taffeta.solver.build import build
from taffeta.solver.model import Ride, Settings
from taffeta.solver.step import advance

VACUUM = Settings(air_drag=0.0)
DT = 1.0 / 24.0


def turned(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def ride(unfelt, before, now, place=(0.0, 0.0, 0.0), rates=(0.0, 0.0)):
    """A frame in which a point goes on from `place` with the velocity `now`, and turns about z, at these rates before and now."""
    spins = [np.array([0.0, 0.0, rate]) for rate in rates]
    ends = np.array([place, np.add(place, np.multiply(DT, now))], float)
    return Ride(unfelt, np.array([before, spins[0]], float), np.array([[now, spins[1]]], float), ends)


def test_cloth_that_feels_nothing_is_carried_without_a_fold():
    """A turning, shaken carrier, at rest in the first frame: the sheet stays as it is to it, and is at rest when that is."""
    cloth, state = build([naive.sheet(5, 5)], VACUUM)
    start = state.x + cloth.origin
    centre, angle, place, before = np.array([1.0, 0.0, 0.0]), 0.0, np.array([1.0, 0.0, 0.0]), (np.zeros(3), 0.0)
    for frame, rate in enumerate((0.0, 3.0, -2.0, 8.0, 8.0, 0.0, 0.0)):
        go = np.array([rate, 0.5 * rate, -0.3 * rate])
        given = ride(1.0, before[0], go, place, (before[1], rate))
        advance(cloth, state, naive.still(start, gravity=(0, 0, 0))._replace(rides=(given,)), frame, VACUUM)
        angle, place, before = angle + DT * rate, place + DT * go, (go, rate)
        where = (start - centre) @ turned(angle).T + place
        assert np.abs(state.x + cloth.origin - where).max() < 2e-3 * (1.0 + abs(angle))
    assert np.abs(state.v).max() < 0.02


@pytest.mark.parametrize("unfelt", [0.0, 0.25, 1.0])
def test_a_part_of_a_carrier_that_starts_is_felt(unfelt):
    """At rest on what sets off at 2 m/s, and stops: cloth goes the unfelt part of the way, in the air that goes along."""
    cloth, state = build([naive.sheet(3, 3)], Settings())
    start, before, place = state.x.copy(), np.zeros(3), np.zeros(3)
    for frame, speed in enumerate((0.0, 2.0, 2.0, 0.0)):
        go = np.array([0.0, 0.0, speed])
        given = naive.still(start + cloth.origin, gravity=(0, 0, 0))._replace(rides=(ride(unfelt, before, go, place),))
        advance(cloth, state, given, frame, Settings())
        before, place = go, place + DT * go
    assert np.allclose(state.x - start, [0.0, 0.0, unfelt * 2.0 * 2.0 * DT], atol=1e-9)
    assert np.allclose(state.v, 0.0, atol=1e-9)


def test_gravity_is_felt_by_whoever_rides():
    cloth, state = build([naive.sheet(3, 3)], VACUUM)
    start, go = state.x.copy(), np.array([3.0, 0.0, 0.0])
    for frame in range(6):
        given = naive.still(start + cloth.origin)._replace(rides=(ride(1.0, go if frame else np.zeros(3), go),))
        advance(cloth, state, given, frame, VACUUM)
    assert np.allclose(state.v, [3.0, 0.0, -9.81 * 0.25])
