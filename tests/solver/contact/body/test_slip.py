# SPDX-License-Identifier: GPL-3.0-or-later
"""What is pinched slips where cloth pulls at it harder than it is held."""

import naive
import numpy as np
from taffeta.solver.build import build
from taffeta.solver.contact.body.contacts import OUTSIDE, PINCHED, no_contacts
from taffeta.solver.contact.body.slip import SLIDING, SLIP_SHARE, find_slip, make_hold
from taffeta.solver.elastic.internal import elastic_forces, elastic_of
from taffeta.solver.kernel.mat3 import FREE, KINEMATIC
from taffeta.solver.model import Settings


def test_what_is_pulled_harder_than_it_is_held_slips_along_the_surfaces():
    """Ten particles between surfaces: pulled softly, hard, across, where nothing presses, into a crease, softly in one where
    nothing presses, two that the solve has not held, or nothing pinches, and two into a gap that gets narrower, but does not
    press; hard, where it could be pulled out, and softly.
    """
    cloth, _ = build([naive.sheet(5, 2)], Settings())
    hold, contacts = make_hold(cloth), no_contacts(10, 0)
    most = hold.most[0]
    hold = hold._replace(most=np.full(10, most), stiffness=np.full(10, 100.0))
    contacts.place[:], contacts.count[:], contacts.press[:], contacts.friction[:] = PINCHED, 2, 1.0, np.inf
    contacts.normal[:, 0], contacts.normal[:, 1] = [0.0, 0.0, 1.0], [0.0, 0.0, -1.0]
    contacts.normal[[4, 5]], contacts.normal[[8, 9]] = (
        [[0.6, 0.0, 0.8], [0.6, 0.0, -0.8]],
        [[0.28, 0.0, 0.96], [0.28, 0.0, -0.96]],
    )
    contacts.press[[3, 5, 8, 9]], contacts.friction[[5, 8], 1] = 0.0, 0.0
    pulls = np.zeros((10, 3))
    pulls[:, 0] = [0.9, 2.0, 0.0, 0.5, -5.0, 0.9, 2.0, 2.0, -2.0, -0.5]
    pulls[2, 2], pulls[4, 1] = 5.0, 2.0
    kind = np.full(10, KINEMATIC, np.int8)
    kind[6], contacts.place[7] = FREE, OUTSIDE
    find_slip(most * pulls, hold, kind, contacts)
    slides, freely = SLIP_SHARE * most / 100.0 * (2.0 - SLIDING), SLIP_SHARE * most / 100.0 * 0.5
    expected = np.zeros((10, 3))
    expected[[1, 3, 8, 9], 0], expected[4, 1] = [slides, freely, -slides, -freely], slides
    assert np.allclose(contacts.slip, expected, rtol=1e-12, atol=1e-15)


def test_what_taut_cloth_pulls_does_not_slip_beyond_where_it_is_spent():
    """A particle off its place in a sheet that is stretched by a fifth and ten times as stiff from a twentieth on: drawn
    farther than to where nothing pulls, it would be pulled back harder in each step.
    """
    cloth, state = build([naive.sheet(7, 7, strain_limit=0.05, stiffening=10.0)], Settings())
    contacts, middle, kind = no_contacts(49, 0), 24, np.full(49, FREE, np.int8)
    contacts.place[middle], contacts.count[middle], contacts.press[middle] = PINCHED, 2, 1.0
    contacts.normal[middle] = [[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]]
    kind[middle] = KINEMATIC
    x, elastic = 1.2 * state.x, elastic_of(cloth)
    x[middle, 0] += 0.06
    pulls = np.empty((2, 49, 3))
    elastic_forces(x, 0.0 * x, elastic, pulls[0])
    find_slip(pulls[0], make_hold(cloth), kind, contacts)
    elastic_forces(x + contacts.slip, 0.0 * x, elastic, pulls[1])
    before, after = pulls[:, middle, 0]
    assert before < 0.0 and contacts.slip[middle, 0] < 0.0
    assert before < after < 0.0
