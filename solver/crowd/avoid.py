# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth on cloth by a velocity field (Buffet 2021, chapter 3): for many cloths that lie on each other.

    crowds = prepare(cloth, frame_input, settings)               once a frame; None where cloth meets no cloth
    count = crowds.respond(cloth, x, x_prev, t, dt)               each substep, after the constraints

Velocities and layers go on a sparse grid; where layers are close, the velocity there is changed so that no gap closes
faster than it may, and the particles go with it. No pair is looked for and no side remembered: cloth that is tangled is
a crowd like any other, in which nothing is pushed and nothing diverges, and the cost goes by the number of triangles,
not by how they lie. In return nothing is certain: shallow crossings occur and go, and cloth that is deep in other cloth
goes on with it where they cross. The response to pairs can follow (`contact.cloth`).

Against the thesis: a substep is a substep of the frame, and the solve of the springs in the next one keeps the lengths
(3.3.3), with `lengths` for what the field alone would do to them. The grid lasts for some substeps, and the change of
velocity begins at that of the last. A gap may close by a part of itself, so that layers come to rest on each other (the
thesis stops them three cells apart, 3.4.3), and what is too dense is eased apart by positions alone, without any speed.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.sparse.csgraph import connected_components

from ..ldi.ways import move
from ..model import Cloth, Collider, FrameInput, Settings
from . import lengths, obstacles, transfer
from .cells import CROWDED, Cells, Nodes, find_cells
from .density import measure, rasterise
from .grid import TILE, make_grid
from .project import Scratch, System, make_scratch, project

FULL = 1.6  # layers in a cell at which no gap closes
CLOSING = 4.0  # [1/s] per layer that is missing to that: part of a gap by which it may close
EASE = 0.05  # strain per layer too many, in a frame
MOST_EASE = 0.1  # strain
CERTAIN = 0.1  # layers more than `CROWDED` where particles go wholly with the field
LEAVE = 1.0  # cells that cloth may move against the rest before the grid is made anew
LONGEST = 5  # substeps that a grid lasts
FIRST, ITERATIONS = 10, 6  # steps of the solve, in a grid's first substep and in others
ROUNDS = 2  # times that is asked who pushes
THICK = 1.5  # thicknesses that a cell is wide at least


class Field(NamedTuple):
    """The grid as it is for some substeps."""

    cells: Cells
    nodes: Nodes
    facing: np.ndarray  # (n, 4) normal and area [m2] of particles
    solid: np.ndarray  # (k, 4) [kg], [kg m/s] bodies at the nodes
    sure: np.ndarray  # (c,) from 0: how crowded cells are
    system: System
    scratch: Scratch
    u: np.ndarray  # (k, 4) [m/s] the last change at corners of cells, as `quads`
    loss: np.ndarray  # (k, 4) scratch
    extra: np.ndarray  # (p, 4) scratch
    closing: np.ndarray  # (k,) scratch
    edges: tuple[np.ndarray, np.ndarray]  # beside crowded cells, and their lengths at rest [m]


@dataclass
class Crowd:
    """What avoidance keeps during a frame, of garments that meet each other or others that meet them."""

    garments: np.ndarray  # (g,) bool
    step: float  # [m] side of a cell
    duration: float  # [s] of the frame
    bodies: tuple[Collider, ...]
    field: Field | None = None
    left: int = 0  # substeps that the field still lasts
    eased: bool = False  # whether it has been done in this frame

    def respond(self, cloth: Cloth, x: np.ndarray, x_prev: np.ndarray, t: float, dt: float) -> int:
        """Keep cloth from cloth for one substep; returns how many cells are crowded.

        Parameters
        ----------
        x : (n, 3) [m], changed in place: end of the substep, after all constraints
        x_prev : (n, 3) [m], from where to x particles go in dt; changed in place where cloth is eased apart
        t : where in the frame the substep ends, 0 to 1
        dt : [s] the substep
        """
        if not np.isfinite(x.sum()):
            return 0
        fresh = self.left <= 0
        if fresh:
            self.left = _lasts(x - x_prev, self.step)
            self.field = _make_field(self, cloth, x, t)
        self.left -= 1
        field = self.field
        cells, nodes, system = field.cells, field.nodes, field.system
        if not len(cells.density):
            return 0
        whole = np.zeros(len(nodes.slots)), np.zeros((len(nodes.slots), 4))
        transfer.gather(nodes, x, x_prev, cloth.mass, cloth.inv_mass, dt, field.solid, *whole)
        count = nodes.crowded_count
        system = system._replace(mass=whole[0][:count], v=whole[1][:count])
        if not self.eased:
            _ease(field, system, cloth, x, x_prev)
            self.eased = True
        transfer.close(cells.nodes, cells.rows, field.sure, system.v, field.closing)
        project(system, field.u, ROUNDS, FIRST if fresh else ITERATIONS, field.scratch)
        before = x.copy()
        given = field.facing, cloth.friction, cloth.inv_mass, x, x_prev, dt
        transfer.spread(nodes, *given, *whole, field.u, field.closing, field.loss, field.extra)
        lengths.keep(*field.edges, cloth.inv_mass, before, x)
        return len(cells.density)


class Crowds(NamedTuple):
    """A field for each set of garments that has nothing to do with the others."""

    parts: tuple[Crowd, ...]

    def respond(self, cloth: Cloth, x: np.ndarray, x_prev: np.ndarray, t: float, dt: float) -> int:
        """As `Crowd.respond`."""
        return sum(crowd.respond(cloth, x, x_prev, t, dt) for crowd in self.parts)


def prepare(cloth: Cloth, frame_input: FrameInput, settings: Settings) -> Crowds | None:
    """Begin a frame."""
    if not cloth.meets.any() or not len(cloth.triangles):
        return None
    part_count, part = connected_components(cloth.meets, directed=False)
    parts = [part == k for k in range(part_count) if cloth.meets[part == k].any()]
    corners = cloth.x_rest[cloth.triangles]
    edge = float(np.sqrt(((corners - np.roll(corners, 1, axis=1)) ** 2).sum(axis=2)).mean())
    step = max(settings.field_cell * edge, THICK * float(cloth.thickness.max()))
    bodies = tuple(collider for collider in frame_input.colliders if len(collider.triangles))
    return Crowds(tuple(Crowd(garments, step, frame_input.duration, bodies) for garments in parts))


def _lasts(way, step):
    """How many substeps a grid lasts while cloth goes on by `way` (n, 3) [m] in each."""
    way = way - way.mean(axis=0)
    typical = max(float(np.sqrt(np.einsum("ij,ij->", way, way) / len(way))), 1e-12)
    return int(min(max(LEAVE * step / typical, 1), LONGEST))


def _make_field(crowd, cloth, x, t):
    """The grid round cloth at x, t of the frame gone."""
    facing = measure(cloth, x)
    facing[~crowd.garments[cloth.garment], 3] = 0.0
    grid = make_grid(x, facing[:, 3], crowd.step)
    cells, nodes = find_cells(grid, rasterise(grid, facing))
    count, total = nodes.crowded_count, len(nodes.slots)
    solid, drag = np.zeros((total, 4)), np.zeros(len(cells.density))
    if crowd.bodies and count:
        layer = float(cloth.mass[facing[:, 3] > 0.0].sum() / facing[:, 3].sum()) * crowd.step**2
        wanted = np.zeros(len(grid.key) * TILE, np.bool_)
        wanted[nodes.slots[:count]] = True
        solid, grip = _bodies(crowd, cloth.origin, grid, wanted, layer, t)
        solid, drag = solid[nodes.slots], grip[nodes.slots[cells.nodes]].max(axis=1)
    least = np.minimum(CLOSING * (cells.density - FULL), 0.0)
    system = System(cells.nodes, cells.rows, least, drag, np.zeros(0), np.zeros((0, 4)))
    sure = (cells.density - CROWDED) / CERTAIN
    scratch = make_scratch(len(cells.density), count), np.zeros((count, 4)), np.zeros((total, 4))
    scratch += np.zeros((len(nodes.particles), 4)), np.zeros(count), lengths.near(cloth, nodes.particles)
    return Field(cells, nodes, facing, solid, sure, system, *scratch)


def _bodies(crowd, origin, grid, wanted, layer, t):
    """Mass and momentum (s, 4), and friction (s,), of bodies at the grid's slots."""
    slots = len(grid.key) * TILE
    solid, grip = np.zeros((slots, 4)), np.zeros(slots)
    before = max(0.0, t - 0.1)
    for body in crowd.bodies:
        count = body.x.shape[1]
        motion = np.empty((count, 6))
        samples = np.ascontiguousarray(body.x, np.float64)
        move(samples, origin, 0, np.arange(count), before, t, motion)
        x, v = motion[:, :3] + motion[:, 3:], motion[:, 3:] / ((t - before) * crowd.duration)
        obstacles.rasterise(grid, wanted, body.triangles, x, v, layer, body.friction, solid, grip)
    return solid, grip


def _ease(field, system, cloth, x, x_prev):
    """Move apart what is too dense; x and x_prev alike."""
    least = np.minimum(EASE * (field.cells.density - FULL), MOST_EASE)
    if (least <= 0.0).all():
        return
    quiet = system._replace(v=np.zeros_like(system.v), least=np.maximum(least, 0.0), drag=np.zeros_like(least))
    shift = np.zeros_like(field.u)
    project(quiet, shift, 1, ITERATIONS, field.scratch)
    transfer.ease(field.nodes, cloth.inv_mass, shift, x, x_prev)
