# SPDX-License-Identifier: GPL-3.0-or-later
"""How far cloth gives way to cloth where it lies on bodies."""

import naive
import pytest
from taffeta.solver.build import build
from taffeta.solver.contact.body.contacts import PINCHED, is_pinching, no_contacts
from taffeta.solver.contact.brace import ON_BODY_SHARE, PINCHED_SHARE, brace_of
from taffeta.solver.model import Settings

CORNER, FLAT = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)  # second normals beside a first one that points up


@pytest.fixture
def touching():
    """A sheet and contacts: particle 1 lies on a body, 2 in a corner of two, 3 on two that are one surface, 4 is pinched."""
    cloth, _ = build([naive.sheet(columns=3, rows=3)], Settings())
    contacts = no_contacts(len(cloth.mass), 0)
    contacts.count[1:5], contacts.normal[:, 0] = (1, 2, 2, 2), FLAT
    contacts.normal[2, 1], contacts.normal[3, 1], contacts.normal[4, 1] = CORNER, FLAT, CORNER
    return cloth, contacts


def test_what_lies_on_a_body_gives_way_less_along_its_normal_and_in_a_corner_in_all_directions(touching):
    cloth, contacts = touching
    held, brace = brace_of(cloth, contacts, False)
    assert (held.inv_mass / cloth.inv_mass)[:5].tolist() == [1.0, 1.0, ON_BODY_SHARE, 1.0, ON_BODY_SHARE]
    share = 1.0 - (brace**2).sum(axis=1)
    assert share[:5] == pytest.approx([1.0, ON_BODY_SHARE, 1.0, ON_BODY_SHARE, 1.0])
    assert brace[1, :2].tolist() == [0.0, 0.0]


def test_while_bodies_pinch_cloth_what_touches_gives_way_less_in_all_directions(touching):
    cloth, contacts = touching
    assert not is_pinching(contacts.place)
    contacts.place[3:5], contacts.press[4] = PINCHED, 0.5  # particle 3 is between fingers that press nothing
    assert is_pinching(contacts.place)
    held, brace = brace_of(cloth, contacts, True)
    shares = [1.0, ON_BODY_SHARE, ON_BODY_SHARE, ON_BODY_SHARE, PINCHED_SHARE]
    assert (held.inv_mass / cloth.inv_mass)[:5] == pytest.approx(shares)
    assert not brace.any()


def test_cloth_that_touches_nothing_stays_the_same_object(touching):
    cloth, contacts = touching
    contacts.count[:] = 0
    held, brace = brace_of(cloth, contacts, False)
    assert held is cloth and not len(brace)
