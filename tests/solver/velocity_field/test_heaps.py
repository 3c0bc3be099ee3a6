# SPDX-License-Identifier: GPL-3.0-or-later
"""What lets the layers of a heap pass through each other in a velocity field, one substep of it at a time."""

import numpy as np
from sheets import sheet
from taffeta.solver.build import build
from taffeta.solver.model import Collider, FrameInput, Settings
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


def test_layers_at_a_wall_that_turns_go_round_with_it():
    """Two layers turn with a wall, 0.6 m from its axis, a turn in two seconds: that changes nothing of how they go. While a
    grid lasted they were held to the wall's first velocity, and in its fifth substep the field changed 59 mm/s of theirs.
    """
    cloth, state, _ = pile(2, 0.012)
    cloth = cloth._replace(inv_mass=1.0 / cloth.mass)
    corners = np.array([[-1, -1, 0.0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]]) - [0.0, 0.0, 0.004]

    def turned(x, part):
        """Points (n, 3) [m] in the world after a part of the frame."""
        angle, axis = np.pi / 24 * part, np.array([0.0, 0.0, 0.6])
        c, s = np.cos(angle), np.sin(angle)
        return (x - axis) @ np.array([[c, 0, -s], [0, 1, 0], [s, 0, c]]) + axis

    poses = np.stack([turned(corners, part) for part in np.linspace(0.0, 1.0, 11)])
    wall = Collider("Wall", poses, np.array([[0, 1, 2], [0, 2, 3]], np.int32), 0.5, 0.0, 0.003)
    fields = avoid.prepare(cloth, STILL._replace(colliders=(wall,)), FIELD)
    field, start, grids, changes = fields.parts[0], state.x + cloth.origin, set(), []
    field.eased = True
    for k in range(5):
        before, after = (turned(start, part) - cloth.origin for part in (k / 10, (k + 1) / 10))
        x = after.copy()
        fields.respond(cloth, x, before, (k + 1) / 10, DT)
        changes.append(float(np.linalg.norm(x - after, axis=1).max() / DT))
        grids.add(id(field.grid.cells))
    print(f"the field changes velocities by {', '.join(f'{1000 * change:.1f}' for change in changes)} mm/s")
    assert len(grids) < 5 and (field.grid.solid[:, 0] > 0.0).sum() > 100
    assert max(changes) < 0.04, "[m/s] 23 to 31 mm/s: bent cells, and rims"
