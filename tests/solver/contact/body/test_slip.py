# SPDX-License-Identifier: GPL-3.0-or-later
"""What is pinched slips where cloth pulls at it harder than it is held."""

import naive
import numpy as np
from taffeta.solver.build import build
from taffeta.solver.contact.body.contacts import OUTSIDE, PINCHED, no_contacts
from taffeta.solver.contact.body.slip import SLIDING, SLIP_SHARE, find_slip, make_hold
from taffeta.solver.kernel.mat3 import FREE, KINEMATIC
from taffeta.solver.model import Settings


def test_what_is_pulled_harder_than_it_is_held_slips_along_the_surfaces():
    """Eight particles between surfaces: pulled softly, hard, across, where nothing presses, into a crease, out of one where
    nothing presses, and two that the solve has not held, or nothing pinches.
    """
    cloth, _ = build([naive.sheet(4, 2)], Settings())
    hold, contacts = make_hold(cloth), no_contacts(8, 0)
    most = hold.most[0]
    hold = hold._replace(most=np.full(8, most), stiffness=np.full(8, 100.0))
    contacts.place[:], contacts.count[:], contacts.press[:] = PINCHED, 2, 1.0
    contacts.normal[:, 0], contacts.normal[:, 1] = [0.0, 0.0, 1.0], [0.0, 0.0, -1.0]
    contacts.normal[4:6] = [[0.6, 0.0, 0.8], [0.6, 0.0, -0.8]]
    contacts.press[[3, 5]] = 0.0
    pulls = np.array(
        [[0.9, 0, 0], [2, 0, 0], [0, 0, 5], [0.5, 0, 0], [-5, 2, 0], [5, 0, 0], [2, 0, 0], [2, 0, 0]], float
    )
    kind = np.full(8, KINEMATIC, np.int8)
    kind[6], contacts.place[7] = FREE, OUTSIDE
    find_slip(most * pulls, hold, kind, contacts)
    slides = SLIP_SHARE * most / 100.0 * (2.0 - SLIDING)
    expected = np.zeros((8, 3))
    expected[1], expected[3] = [slides, 0.0, 0.0], [SLIP_SHARE * most / 100.0 * 0.5, 0.0, 0.0]
    expected[4] = [0.0, slides, 0.0]
    assert np.allclose(contacts.slip, expected, rtol=1e-12, atol=1e-15)
