# SPDX-License-Identifier: GPL-3.0-or-later
"""A sheet that hangs, and a finger beside or through it."""

import numpy as np
import pinch_scenes
from contact_scenes import AURA, Solid, cut


def hanging(columns, edge):
    """A sheet in the plane of y and z, held along its upper rim, with its vertices beside the finger."""
    garment = cut("Sheet", columns, columns, edge)
    x = garment.x[:, [2, 0, 1]] + [0.0, 0.01, 0.005]
    return garment._replace(x=x, x_start=x, pin=np.isclose(x[:, 2], x[:, 2].max()).astype(float))


def finger(radius, tip, length=0.1):
    """A capsule along x whose tip is at tip(time) [m]."""
    x, triangles = pinch_scenes.capsule_mesh(length, radius + AURA, 10, 3)
    along = x[:, [2, 0, 1]] - [0.5 * length + radius, 0.0, 0.0]
    return Solid("Finger", lambda time: along + tip(time), triangles)
