# SPDX-License-Identifier: GPL-3.0-or-later
"""A pleated skirt that crosses itself when it starts, round a body that swings: its pleats come out, and the body stays in."""

import numpy as np
from crossings import count_in
from sheets import GRAVITY, tube
from solids import ball, collider
from taffeta.solver.build import build
from taffeta.solver.contact import frame as contact_frame
from taffeta.solver.model import FrameInput, Settings
from taffeta.solver.step import advance

PLEATS, EDGE, ROWS, AROUND = 12, 0.006, 20, 144
FRAMES = 6


def pleated(points):
    """Points of a tube as knife pleats, with waves at the lower end that go through the next pleat; off its symmetry by
    what rounding is not: in that 233 pairs cross and beside it 204, for the others just touch.
    """
    points = points + np.random.default_rng(1).normal(0.0, 1e-8, points.shape)
    turn = np.arctan2(points[:, 1], points[:, 0]) % (2.0 * np.pi) * PLEATS / (2.0 * np.pi)
    part, z = turn % 1.0, points[:, 2]
    along = np.interp(part, [0.0, 0.45, 0.65, 1.0], [0.0, 0.95, 0.55, 1.0])
    out = np.interp(part, [0.0, 0.45, 0.65, 1.0], [0.004, 0.010, -0.002, 0.004])
    out += 0.006 * np.sin(6.0 * np.pi * part) * (z < 0.02)
    angle, radius = (np.floor(turn) + along) * 2.0 * np.pi / PLEATS, 0.09 + out + 0.25 * (z.max() - z)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle), z], axis=1)


def skirt_on_a_body():
    """Crossings with itself, with the body, at the start and after each frame, and how many points touched the body in each."""
    skirt = tube("Skirt", ROWS, AROUND, EDGE, pleated)
    x = skirt.x_start
    cloth, state = build([skirt._replace(x=x, pin=(x[:, 2] > x[:, 2].max() - 1e-4).astype(float))], Settings())
    middle = [0.0, 0.0, 0.5 * EDGE * ROWS]
    path = middle + 0.03 * np.sin(0.5 * np.arange(FRAMES + 1))[:, None] * [1.0, 0.0, 0.0]
    bodies = [collider(ball(0.08), path[frame : frame + 2]) for frame in range(FRAMES)]
    counts, touching = [count_in(cloth, state.x, bodies[:1])], []
    for frame, body in enumerate(bodies, 1):
        given = FrameInput(1 / 24, np.stack([x, x]), (body,), GRAVITY, np.zeros(3))
        touching.append(advance(cloth, state, given, frame, Settings()).body_contacts)
        counts.append(count_in(cloth, state.x, (body,)))
    return counts, touching


def test_pleats_that_cross_come_out_and_the_guard_of_bodies_stays_on():
    counts, touching = skirt_on_a_body()
    print(counts, touching)
    assert counts[0].cloth_self > 100
    assert counts[-1].cloth_self == 0
    assert max(count.cloth_self for count in counts) == counts[0].cloth_self
    assert min(touching[1:-1]) > 0  # in the last the body is back in the middle
    assert not any(count.cloth_body for count in counts)


def test_pleats_that_are_only_let_through_stay_crossed(monkeypatch):
    """So it is easing that takes them out."""
    monkeypatch.setattr(contact_frame, "ease", lambda *_: None)
    counts, _ = skirt_on_a_body()
    assert min(count.cloth_self for count in counts) > 100
