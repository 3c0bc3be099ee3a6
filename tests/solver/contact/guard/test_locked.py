# SPDX-License-Identifier: GPL-3.0-or-later
"""What the guard has locked does not stay so."""

import contact
import naive
import numpy as np
import pytest
from contact_scenes import Scene, ease
from fingers import finger, hanging
from sheets import sheet
from taffeta.solver.build import build
from taffeta.solver.contact.guard.impact_zones import single_zones
from taffeta.solver.contact.guard.locked import LOCKED_PARTICLES, SHORTER_WAY, go_less_far
from taffeta.solver.model import Settings
from taffeta.solver.step import advance

LEFT = 3  # frames after which the arm has left the sheet


def comes_back(aside):
    """Whether an arm that is through a sheet which hangs from pins, and leaves it at 6 m/s, draws it out but not for ever."""

    def tip(time):
        return [0.04, 0.5 * ease(time, 0.02, 0.14) + aside, 0.0]

    done = contact.run(Scene("arm", [hanging(19, 0.012)], [finger(0.03, tip, 0.2)], LEFT + 7), 0)
    drawn = done.stretch[:LEFT].max()
    assert done.error == "" and drawn > 0.3
    return done.stretch[-1] < min(0.3 * drawn, 0.3) and not done.cloth_body[LEFT:].any() and not done.cloth_cloth[-1]


@pytest.mark.once
def test_what_an_arm_has_torn_along_comes_back_when_it_has_left():
    """It stayed so for ever, a knot of 240 edges of which the longest was 7 to 34 times too long. Five of 16 starts a micrometre apart
    still do, and which they are hangs on the last digit; if no zone goes less far, two of these three.
    """
    assert sum(comes_back(aside) for aside in (0.0, 3e-6, 5e-6)) >= 2


@pytest.mark.once
def test_what_is_shuffled_by_hand_comes_to_its_lengths():
    """Three sheets of 400 vertices, each off its place by three edges: they stayed 16 times too long, whatever time went by."""
    cloth, state = build([sheet(name, 20, 20, 0.02) for name in "ABC"], Settings())
    state.x[:] += 0.06 * np.random.default_rng(4).standard_normal(state.x.shape)
    for frame in (1, 2):
        report = advance(cloth, state, naive.still(state.x + cloth.origin), frame, Settings())
    assert report.worst_stretch < 0.5


def locked_sheet():
    """A sheet of which all but a corner is one locked zone, and the first particles are pinned; where it starts, and how it wants to
    go on from there.
    """
    cloth, state = build([naive.sheet(6, 6)], Settings())
    cloth.inv_mass[:2] = 0.0
    start = state.x
    wanted = start + np.random.default_rng(0).normal(scale=2.0, size=start.shape)
    zones = single_zones(start, wanted, start - 0.01)
    zones.parent[:-1], zones.share[:], zones.mean[:] = 0, 0.0, [0.01, 0.0, 0.0]
    return cloth, zones, start, wanted


def test_a_locked_zone_goes_by_a_few_edges():
    cloth, zones, start, wanted = locked_sheet()
    x, x_from = start.copy(), start.copy()
    assert go_less_far(zones, cloth, start, x, x_from)
    went = x[2:-1] - start[2:-1] - zones.mean[0]
    longest = SHORTER_WAY * cloth.rest_length[cloth.is_mesh_edge].mean()
    assert np.isclose(np.linalg.norm(went, axis=1).max(), longest)
    across = np.cross(went, wanted[2:-1] - start[2:-1] - zones.mean[0])
    assert np.abs(across).max() < 1e-12, "each on its way against the mean"
    assert np.allclose(x[:2], wanted[:2]) and np.allclose(x[-1], wanted[-1]), "pins, and what is alone"
    assert np.allclose(x_from, start - 0.01)


@pytest.mark.parametrize("what", ["moves", "small", "led", "near"])
def test_what_is_not_locked_goes_as_it_did(what):
    """It has motion of its own left; is of few particles; a body leads it; or it would not go far anyway."""
    cloth, zones, start, wanted = locked_sheet()
    if what == "moves":
        zones.share[0] = 0.1
    if what == "small":
        zones.parent[:] = np.arange(len(start))
        zones.parent[:LOCKED_PARTICLES] = 0
    if what == "led":
        zones.leader[0] = 3
    if what == "near":
        zones.displacement[:] = 0.001 * zones.displacement + zones.mean
    x, x_from = start.copy(), start.copy()
    assert not go_less_far(zones, cloth, start, x, x_from)
    assert np.array_equal(x, start) and np.array_equal(x_from, start)
