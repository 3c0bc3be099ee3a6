# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth against bodies: the four calls that `step.advance` makes.

    body = prepare(cloth, state, frame_input, settings)             once a frame
    detect(body, cloth, x, v, t0, t1, settings)                     body.detections times a frame, or more
    count = respond(body, cloth, x, x_prev, v, t, dt)               each substep, after all constraints
    respond_velocity(body, cloth, v, dt)                            each substep, after v = (x - x_prev) / dt

Times t, t0, t1 are fractions of the frame in [0, 1]. In `respond`, t is the END of the substep (x_prev belongs to
t - dt / duration), v the velocity at the START of the substep (it decides how high a particle bounces).
"""

from typing import NamedTuple

import numpy as np

from ..model import Cloth, FrameInput, Settings, State


class Body(NamedTuple):
    """All bodies of one frame as the contact code wants them."""

    detections: int  # how many equal intervals of the frame want their own `detect`
    triangles: np.ndarray  # (t, 3) all colliders' triangles


def prepare(cloth: Cloth, state: State, frame_input: FrameInput, settings: Settings) -> Body:
    """Merge the frame's colliders. ValueError names a collider whose numbers are not finite."""
    body = Body(1, np.zeros((0, 3), np.int32))
    if any(len(collider.triangles) for collider in frame_input.colliders):
        raise NotImplementedError("body contact arrives with the next commit")
    return body


def detect(body: Body, cloth: Cloth, x, v, t0: float, t1: float, settings: Settings) -> None:
    """Render the bodies' layered depth image for the time from t0 to t1."""


def respond(body: Body, cloth: Cloth, x, x_prev, v, t: float, dt: float) -> int:
    """Keep x out of the bodies at time t; return how many particles touch."""
    return 0


def respond_velocity(body: Body, cloth: Cloth, v, dt: float) -> None:
    """Set the normal velocity of touching particles by restitution."""
