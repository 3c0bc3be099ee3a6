# SPDX-License-Identifier: GPL-3.0-or-later
"""A sheet above a body that flies and turns, as the guard is given them."""

import naive
import numpy as np
import solids
from taffeta.solver.build import build
from taffeta.solver.contact.body import collide
from taffeta.solver.model import Collider, FrameInput, Settings

DT = 1 / 240
SPIKY = solids.random_closed(np.random.default_rng(1), 0)


def placed(mesh, times, turn, way):
    """A mesh that turns about z and flies, at some times (s, m, 3)."""
    cosine, sine = np.cos(turn * times), np.sin(turn * times)
    spin = np.zeros((len(times), 3, 3))
    spin[:, 0, 0], spin[:, 0, 1], spin[:, 1, 0], spin[:, 1, 1], spin[:, 2, 2] = cosine, -sine, sine, cosine, 1.0
    return np.einsum("sij,mj->smi", spin, mesh[0]) + times[:, None, None] * np.asarray(way)


def scene(mesh, turn=0.0, way=(0.0, 0.0, 0.0), height=0.08, cells=6, frame=10 * DT, restitution=0.0):
    """A sheet above a body: cloth, state, collider over a frame, the body as contact knows it."""
    sheet = naive.sheet(cells, cells, 0.3, 0.3, thickness=2e-3)
    x = sheet.x - [0.15, 0.15, -height]
    cloth, state = build([sheet._replace(x=x, x_start=x, self_collision=True)], Settings())
    collider = Collider("Body", placed(mesh, np.linspace(0.0, 1.0, 11), turn, way), mesh[1], 0.3, restitution, 3e-3)
    poses = np.stack(2 * [state.x + cloth.origin])
    shot = FrameInput(frame, poses, (collider,), np.array([0.0, 0.0, -9.81]), np.zeros(3))
    bodies = collide.prepare(cloth, state, shot, Settings())
    collide.detect(bodies, cloth, state.x, state.v, 0.0, 1.0, Settings())
    return cloth, state, collider, bodies


def at(collider, t):
    return collider._replace(x=collider.x[[round(10 * t)]])
