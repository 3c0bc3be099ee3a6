# SPDX-License-Identifier: GPL-3.0-or-later
"""What asks for contact in each small step: something that is kept from passing, but not where a pinch is calm; beside that and
beside what is in a body it is asked for twice.
"""

import naive
import numpy as np
import pytest
from sheets import sheet
from solids import ball, collider
from taffeta.solver import step
from taffeta.solver.build import build
from taffeta.solver.contact import frame as contact_frame
from taffeta.solver.contact.guard.impact_zones import ALONE
from taffeta.solver.integrate.small_steps import cut
from taffeta.solver.model import Settings
from taffeta.solver.step import advance

SIDE = 10
CORNER, OPPOSITE = (np.arange(SIDE * SIDE) == place for place in (0, SIDE * SIDE - 1))
NOTHING = np.zeros(SIDE * SIDE, np.bool_)


def held_in_a_frame(monkeypatch, calm, moved, through=NOTHING, contended=NOTHING):
    """For each substep of a frame whether it is told that something is held, and how often contact was entered."""
    held, given = [], step.respond_to_cloth

    def listen(contact, *about):
        contact.body.contacts.calm[:], contact.guarded.frame.tangled[:] = calm, through
        found = given(contact, *about)
        held.append(contact.is_holding)
        return found

    count = len(moved)
    monkeypatch.setattr(step, "respond_to_cloth", listen)
    monkeypatch.setattr(
        contact_frame.resolve,
        "resolve",
        lambda *_: (0, np.full(count, ALONE, np.int32), moved.copy(), contended.copy()),
    )
    monkeypatch.setattr(step, "finer", lambda substep, steps, least: step_in_four(substep))
    settings, below = Settings(substeps=2), collider(ball(0.1), [(0.0, 0.0, -1.0)] * 2)
    cloth, state = build([sheet("A", SIDE, SIDE, 0.02)], settings)
    advance(cloth, state, naive.still(state.x + cloth.origin, colliders=[below]), 0, settings)
    return held


def step_in_four(substep):
    """A substep in four small steps, however little turns."""
    return cut(substep, 4, 4)


@pytest.mark.parametrize("moved", [CORNER, ~CORNER])
def test_what_is_held_where_a_pinch_is_calm_asks_for_no_contact_in_each_small_step(moved, monkeypatch):
    """There bodies always keep something from passing: a folded elbow took several times as long for it."""
    assert held_in_a_frame(monkeypatch, moved, moved) == [False, False]


@pytest.mark.parametrize("stuck", ["calm", "through"])
def test_what_is_held_far_from_that_does(stuck, monkeypatch):
    about = {"calm": NOTHING, "through": NOTHING} | {stuck: OPPOSITE}
    assert held_in_a_frame(monkeypatch, moved=CORNER, **about) == [True] + 4 * [True]


@pytest.mark.parametrize("stuck", ["calm", "through"])
def test_what_is_held_beside_that_asks_for_contact_twice(stuck, monkeypatch):
    """Three layers on a walking woman, of whom bodies had gone through 30 particles: five beside them asked for 50 instead of 20
    contacts in a frame.
    """
    beside = np.roll(CORNER, 3)
    about = {"calm": NOTHING, "through": NOTHING} | {stuck: CORNER}
    assert held_in_a_frame(monkeypatch, moved=beside, **about) == [True] + 2 * [True]


@pytest.mark.parametrize(("contended", "looks"), [(CORNER, 2), (OPPOSITE, 4)])
def test_what_cloth_and_bodies_contend_for_asks_for_contact_twice(contended, looks, monkeypatch):
    assert held_in_a_frame(monkeypatch, NOTHING, CORNER, contended=contended) == [True] + looks * [True]
