# SPDX-License-Identifier: GPL-3.0-or-later
"""How far cloth gives way to cloth where it lies on bodies.

What touches a body gives way less along that one's normal, so that piles do not press it in. Across the normal it has all of
its mass and no more, or cloth that slides on it would lose momentum. While bodies pinch cloth, which has no momentum of its own
there, what touches them gives way less in every direction: it would be driven together beside the pinch, and come out in knots.
"""

from math import sqrt

import numpy as np

from ..kernel.shared import shared
from ..model import Cloth
from .body.contacts import CORNER_COSINE, PINCHED, Contacts
from .cloth.response import NO_BRACE

ON_BODY_SHARE = 0.1  # part of its inverse mass that a particle on a body has along the normal, for cloth that pushes it
PINCHED_SHARE = 1e-3  # the same of one that is pinched between bodies, along any direction
BRACE = sqrt(1.0 - ON_BODY_SHARE)  # length of a brace
SMALLEST_BRACED_PART = 512  # particles that another thread is asked for


def brace_of(cloth: Cloth, contacts: Contacts, is_pinching: bool) -> tuple[Cloth, np.ndarray]:
    """The cloth as cloth on cloth sees it, and its brace, as in `cloth.response.Substep`; the cloth itself and none where nothing
    touches a body. is_pinching : whether bodies leave cloth no room between them
    """
    inv_mass, brace = np.empty_like(cloth.inv_mass), np.empty((len(cloth.inv_mass), 3))
    if not (contacts.count[: len(inv_mass)] > 0).any():
        return cloth, NO_BRACE
    about = contacts.count, contacts.place, contacts.press, contacts.normal
    _brace_kernel(len(inv_mass), cloth.inv_mass, *about, is_pinching, inv_mass, brace)
    return cloth._replace(inv_mass=inv_mass), brace


@shared(SMALLEST_BRACED_PART)
def _brace_kernel(first, last, mass_before, count, place, press, normal, is_pinching, inv_mass, brace):
    """Brace what touches a body. 110 bytes and 15 flops a particle.
    # outputs: inv_mass (n,) [1/kg], brace (n, 3)
    """
    for i in range(np.uintp(first), np.uintp(last)):
        touches, share = count[i] > 0, 1.0
        if touches:
            cosine = (
                normal[i, 0, 0] * normal[i, 1, 0]
                + normal[i, 0, 1] * normal[i, 1, 1]
                + normal[i, 0, 2] * normal[i, 1, 2]
            )
            if is_pinching or (count[i] > 1 and cosine < CORNER_COSINE):
                share = ON_BODY_SHARE
        if place[i] == PINCHED and press[i] > 0.0:  # a pinch that presses nothing, as between fingers, lets go
            share = PINCHED_SHARE
        size = BRACE if touches and share == 1.0 else 0.0
        inv_mass[i] = share * mass_before[i]
        for axis in range(3):
            brace[i, axis] = size * normal[i, 0, axis]
