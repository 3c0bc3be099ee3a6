# SPDX-License-Identifier: GPL-3.0-or-later
"""What lets the layers of a heap pass through each other in a velocity field, one substep of it at a time."""

import numpy as np
from sheets import sheet
from taffeta.solver.build import build
from taffeta.solver.model import FrameInput, Settings
from taffeta.solver.velocity_field import avoid

EDGE, DT = 0.02, 1 / 240
FIELD = Settings(cloth_contact="VELOCITY_FIELD", air_drag=0.0)
STILL = FrameInput(1 / 24, np.zeros((2, 0, 3)), (), np.zeros(3), np.zeros(3))


def pile(count, gap, **values):
    """Level sheets of 24 x 24 particles on each other, of which the lowest is held; cloth, state and the layer of particles."""
    places = [lambda x, k=k: x + [0.003 * k, 0.004 * k, 0.001 + gap * k] for k in range(count)]
    sheets = [sheet(str(k), 24, 24, EDGE, place, pin=float(k == 0), **values) for k, place in enumerate(places)]
    cloth, state = build(sheets, FIELD)
    return cloth, state, cloth.garment


def rates(cells, v):
    """(c,) [1/s] of cells, by velocities (k, 4) of nodes."""
    ends = v[cells.nodes.astype(int)]
    return np.einsum("cpa,cpa->c", cells.rows.reshape(-1, 4, 4), ends[:, :3:-1] - ends[:, :4])


def test_what_particles_go_along_closes_no_gap():
    """Springs push the particles of a pile to and fro, and it falls on a sheet that is held. Particles go along the nodes'
    velocity, less what they leave these of momentum: projected before this was known, half of the closing came back.
    """
    cloth, state, layer = pile(5, 0.012)
    v = np.random.default_rng(3).normal(size=state.x.shape) * 0.1 - [0.0, 0.0, 0.2]
    v[layer == 0] = 0.0
    fields = avoid.prepare(cloth, STILL, FIELD)
    x, before = state.x + DT * v, state.x.copy()
    fields.respond(cloth, x.copy(), before.copy(), 0.1, DT)
    field = fields.parts[0]
    field.eased = True
    fields.respond(cloth, x, before, 0.15, DT)
    grid = field.grid
    inv_mass = np.where(cloth.inv_mass > 0.0, 1.0 / cloth.mass, 0.0)
    nodes = avoid._at_nodes(grid, cloth._replace(inv_mass=inv_mass), before, DT, before + DT * v)[1]
    count = grid.nodes.crowded_count
    gone = nodes[:count] + grid.u - grid.scratch.loss[:count]
    closing = [float(np.maximum(grid.system.least - rates(grid.cells, each), 0.0).mean()) for each in (nodes, gone)]
    print(f"closing before the field and after it: {closing[0]:.2f}, {closing[1]:.2f} 1/s")
    assert closing[0] > 1.0 and closing[1] < 0.2 * closing[0]


def test_layers_slide_the_less_the_more_lies_on_them():
    """Of a pile at rest every second layer is drawn along at 1 m/s, the others against it: in a substep it loses Coulomb's part of what presses it,
    on both sides.
    """
    lost = {}
    for friction in (0.0, 0.3):
        cloth, state, layer = pile(9, 0.012, friction=friction)
        v = np.zeros_like(state.x)
        v[:, 0] = np.where(layer % 2 == 1, 1.0, -1.0) * (layer > 0)
        v[:, 2] = -9.81 * DT * (layer > 0)
        fields = avoid.prepare(cloth, STILL, FIELD)
        x, before = state.x + DT * v, state.x.copy()
        fields.respond(cloth, x, before, 0.1, DT)
        middle = (np.abs(state.x - state.x.mean(axis=0))[:, :2] < 0.1).all(axis=1)
        slid = np.abs(x - before)[:, 0] / DT
        lost[friction] = np.array([1.0 - slid[middle & (layer == k)].mean() for k in range(9)])
    took = lost[0.3] - lost[0.0]
    print("taken by friction from each layer [m/s]:", *(f"{each:.4f}" for each in took[1:]))
    assert took[2:5].min() > 2.0 * took[8], "the lower ones are pressed harder"
    assert took[1:].min() > 0.0
