# SPDX-License-Identifier: GPL-3.0-or-later
"""What the guard has locked goes a shorter way.

A zone that meets something however it is parted moves as one piece for a substep (`impact_zones`), and mostly is free in the
next. But cloth that springs draw hard against itself, as what an arm has pulled to several times its length and let go of, would go
by many edges in every substep, and was locked in each, for ever, with all of its energy in it. Going by a few edges, the
same cloth is kept apart pair by pair, as any is. So it is taken back to where it began and goes that far, each particle on
its way against the zone's mean. What that loses is speed, of which the guard would have left none.
"""

import numpy as np

from ...model import Cloth
from .impact_zones import Zones, roots

LOCKED_PARTICLES = 16  # of a zone, above which that is worth another look: fewer hardly hold anything up
SHORTER_WAY = 3.0  # mean edges that the fastest particle of such a zone goes against its mean


def go_less_far(zones: Zones, cloth: Cloth, start, x, x_from) -> bool:
    """Take all back to where it was before the guard, but particles of zones that are locked to where they get by going less far;
    returns whether any are, else nothing changes. What pins hold goes as it does; what a body leads is left to that.
    start, x, x_from : (n, 3) [m], as in `resolve.resolve` # outputs: x, x_from
    """
    root = roots(zones.parent)
    size = np.bincount(root, minlength=len(root))
    is_locked = (size > LOCKED_PARTICLES) & (zones.share == 0.0) & (zones.leader < 0)
    locked = np.flatnonzero(is_locked[root] & (cloth.inv_mass > 0.0))
    if not len(locked):
        return False
    own = root[locked]
    inner = zones.displacement[locked] - zones.mean[own]
    farthest = np.zeros(len(root))
    np.maximum.at(farthest, own, np.linalg.norm(inner, axis=1))
    most = SHORTER_WAY * float(cloth.rest_length[cloth.is_mesh_edge].mean())
    part = most / np.maximum(farthest[own], most)
    if part.min() == 1.0:
        return False
    x[:], x_from[:] = start + zones.displacement, start + zones.eased
    x[locked] = start[locked] + zones.mean[own] + part[:, None] * inner
    return True
