# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth on cloth by a velocity field (Buffet 2021, chapter 3): for many cloths that lie on each other.

    fields = prepare(cloth, frame_input, settings)               once a frame; None where cloth meets no cloth
    count = fields.respond(cloth, x, x_from, t, dt)               each substep, after the constraints

Velocities and layers go on a sparse grid; where layers are close, the velocity there is changed so that no gap closes
faster than it may, and the particles go with it. No pair is looked for and no side remembered: cloth that is tangled is
a crowd like any other, in which nothing is pushed and nothing diverges, and the cost goes by the number of triangles,
not by how they lie. In return nothing is certain: shallow crossings occur and go, and cloth that is deep in other cloth
goes on with it where they cross. The response to pairs can follow (`contact.cloth`).

Against the thesis: a substep is a substep of the frame, and the solve of the springs in the next one keeps the lengths
(3.3.3), with `advected_lengths` for what the field alone would do to them. The grid lasts for some substeps, and the change of
velocity begins at that of the last. A gap may close by a part of itself, so that layers come to rest on each other (the
thesis stops them three cells apart, 3.4.3), and what is too dense is eased apart by positions alone, without any speed. Cloth
slides on cloth, but through none (`sliding`), and the less the harder layers are pressed on each other. Impacts
have a restitution, by velocities alone: in positions it would strain the cloth, and springs would throw it.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.sparse.csgraph import connected_components

from ..contact.body.motion import move
from ..contact.cloth.restitution import SLOWEST_CLOTH_BOUNCE, restitution_of
from ..geometry.topology import mean_edge_length
from ..model import Cloth, Collider, FrameInput, Settings, State
from . import advected_lengths, obstacles, transfer
from .crowded_cells import CROWDED, Cells, Nodes, clear_own, find_cells
from .density import AREA, evened, measure, rasterise
from .project import Scratch, System, find_pressed, make_scratch, project
from .rigid_bodies import FIELD_ROUNDS, RigidBodies, prepare_rigid
from .sliding import find_barred
from .sparse_grid import TILE_SLOTS, make_grid
from .zones import in_zones

FULL_DENSITY = 1.6  # layers in a cell at which no gap closes
CLOSING_RATE = 1.0  # [1/s] per layer that is missing to that: part of a gap by which it may close
EASED_STRAIN = 0.05  # strain per layer too many, in a frame
MOST_EASED_STRAIN = 0.1
CERTAIN_DENSITY = 0.1  # layers more than `CROWDED` where particles go wholly with the field
GRID_DRIFT = 1.0  # cells that cloth may move against the rest before the grid is made anew
MOST_GRID_SUBSTEPS = 5  # that a grid lasts
ITERATIONS = 12  # steps of the solve, in each round
PUSH_ROUNDS = 4  # times that is asked who pushes, and that what it lacked is added
CELL_THICKNESSES = 1.5  # that a cell is wide at least
STOPPING_ROUNDS = 8  # of a field that has an impact to stop, after the first: each leaves half
SLOWEST = 1e-12  # [m] motion in a substep that counts
BODY_MOTION = 0.1  # part of the frame over which a body's velocity is taken


class FieldGrid(NamedTuple):
    """The grid of a velocity field as it is for some substeps."""

    cells: Cells
    nodes: Nodes
    facing: np.ndarray  # (n, 4) normal and area [m2] of particles
    barred: np.ndarray  # (p, 6) what other layers bar of the motion of particles at nodes
    solid: np.ndarray  # (k, SOLID_COLUMNS) bodies at the nodes
    sure: np.ndarray  # (c,) from 0: how crowded cells are
    system: System
    solution: Scratch  # of the system
    u: np.ndarray  # (k, 4) [m/s] the last change at corners of cells
    closing: np.ndarray  # (k,) scratch, as in `transfer.NodeMotion`
    pressed: np.ndarray  # (k,) [kg/m/s] of the last substep, as there
    per_volume: float  # [1/m3] of a cell
    scratch: transfer.Scratch
    edges: np.ndarray  # (e, 2) uint32 beside crowded cells
    rest_length: np.ndarray  # (e,) [m] of these


@dataclass
class VelocityField:
    """What avoidance keeps during a frame, of garments that meet each other or others that meet them."""

    garments: np.ndarray  # (g,) bool
    step: float  # [m] side of a cell
    duration: float  # [s] of the frame
    bodies: tuple[Collider, ...]
    restitution: np.ndarray  # (n,) of cloth on cloth
    isotropic: bool = False  # whether it may not converge in any direction
    rigid: RigidBodies | None = None  # of all fields; None: no garment is rigid
    grid: FieldGrid | None = None
    left: int = 0  # substeps that the grid still lasts
    t: float = 0.0  # part of the frame at which bodies are as the grid has them
    eased: bool = False  # whether it has been done in this frame

    def respond(self, cloth: Cloth, x: np.ndarray, x_from: np.ndarray, t: float, dt: float) -> int:
        """Keep cloth from cloth for one substep; returns how many cells are crowded.

        Parameters
        ----------
        x : (n, 3) [m], changed in place: end of the substep, after all constraints
        x_from : (n, 3) [m], from where to x particles go in dt; changed in place where cloth is eased apart
        t : where in the frame the substep ends, 0 to 1
        dt : [s] the substep
        """
        if not np.isfinite(x.sum()):
            return 0
        free = cloth.inv_mass > 0.0
        if self.left <= 0:
            self.left, self.t = _lasts(x - x_from, self.step), t
            self.grid = _make_grid(self, cloth, x, t, t + (self.left - 1) * dt / self.duration)
        self.left -= 1
        grid = self.grid
        obstacles.go_on(grid.solid, t - self.t)
        self.t = t
        # what lies on a body is held by that at its nodes: with more mass than it has, friction would lose momentum
        cloth = cloth._replace(inv_mass=np.divide(1.0, cloth.mass, out=np.zeros(len(free)), where=free))
        if not len(grid.cells.density):
            return 0
        given = grid, cloth, x_from, dt
        at_nodes = _at_nodes(*self._weighed(given), x)
        if not self.eased:
            _ease(self, at_nodes[0], cloth, x, x_from)
            self.eased = True
        before = x.copy()
        motion = self._stop(given, cloth.friction, x, at_nodes)
        kept = grid.edges, grid.rest_length, cloth.inv_mass, before, x
        for _ in range(FIELD_ROUNDS if self.rigid is not None else 0):
            # what lies on taut cloth is held by its lengths: these come first, and then the field again
            advected_lengths.keep(*kept)
            self._stop(given, cloth.friction, x)
        if self.restitution.any():
            self._bounce(given, before, motion)
        if self.rigid is None:
            advected_lengths.keep(*kept)
        return len(grid.cells.density)

    def _bounce(self, given, before: np.ndarray, motion: transfer.NodeMotion) -> None:
        """Where particles at `before` (n, 3) [m] meet so fast that this `motion` stops an impact, stop what that leaves of it,
        without friction, and add the part of all of it that it gives back (Poisson's law of impact). No momentum is made.
        # outputs: x_from, one of the given as to `_go_along`
        """
        (_, cloth, x_from, dt), stopped = given, before.copy()
        smooth = np.zeros_like(cloth.friction)
        self._go_along(given, motion, smooth, stopped)
        # of two layers that come closer each changes by half of that
        if np.abs(stopped - before).max() <= 0.5 * SLOWEST_CLOTH_BOUNCE * dt:
            return
        first = stopped.copy()
        for _ in range(STOPPING_ROUNDS):
            self._stop(given, smooth, stopped)
        change = stopped - before
        x_from -= stopped - first + in_zones(self.grid.nodes, self.restitution, cloth.mass, change)[:, None] * change

    def _stop(self, given, friction: np.ndarray, x: np.ndarray, at_nodes=None) -> transfer.NodeMotion:
        """Change where particles go, with friction (n,), so that no gap closes faster than it may; how the nodes move then.

        at_nodes : what is there before, where it is known
        # outputs: x
        """
        if at_nodes is None:
            at_nodes = _at_nodes(*self._weighed(given), x)
        if self.rigid is not None:  # of other masses: along the change before momentum would be made
            self.grid.u[:] = 0.0
        about = None if self.rigid is not None else self._about(given, friction, x)
        motion = _find_change(self.grid, *at_nodes, about)
        self._go_along(given, motion, friction, x)
        return motion

    def _about(self, given, friction: np.ndarray, x: np.ndarray) -> tuple:
        """What `transfer` is to know of particles with friction (n,) that go to x (n, 3) [m]."""
        grid, cloth, x_from, dt = self._weighed(given)
        return grid.facing, grid.barred, friction, cloth.inv_mass, x, x_from, dt, grid.scratch

    def _weighed(self, given):
        """The same with particles of rigid garments as heavy as they count for."""
        if self.rigid is None:
            return given
        grid, cloth, *others = given
        return grid, self.rigid.weighed(cloth), *others

    def _go_along(self, given, motion: transfer.NodeMotion, friction: np.ndarray, x: np.ndarray) -> None:
        """Have particles go with the nodes, with friction (n,), and rigid garments as wholes. # outputs: x"""
        before = x.copy() if self.rigid is not None else x
        transfer.to_particles(self.grid.nodes, motion, *self._about(given, friction, x))
        if self.rigid is not None:
            self.rigid.carry(before, x, given[2])


class VelocityFields(NamedTuple):
    """A field for each set of garments that has nothing to do with the others."""

    parts: tuple[VelocityField, ...]
    rigid: RigidBodies | None = None

    def respond(self, cloth: Cloth, x: np.ndarray, x_from: np.ndarray, t: float, dt: float) -> int:
        """As `VelocityField.respond`; rigid garments are moved as wholes, also where they meet nothing."""
        if self.rigid is None or not np.isfinite(x.sum()):
            return sum(part.respond(cloth, x, x_from, t, dt) for part in self.parts)
        self.rigid.begin(cloth, x, x_from, t, dt)
        crowded = sum(part.respond(cloth, x, x_from, t, dt) for part in self.parts)
        self.rigid.end(x, x_from)
        return crowded


def prepare(cloth: Cloth, frame_input: FrameInput, settings: Settings, state: State | None = None):
    """Begin a frame; state : at its start, where a garment is rigid. Returns `VelocityFields`, or None where nothing is to be done."""
    rigid = prepare_rigid(cloth, state, frame_input, settings)
    if not cloth.meets.any() or not len(cloth.triangles):
        return VelocityFields((), rigid) if rigid is not None else None
    part_count, part = connected_components(cloth.meets, directed=False)
    parts = [part == k for k in range(part_count) if cloth.meets[part == k].any()]
    edge = mean_edge_length(cloth.pattern.x, cloth.pattern.triangles)
    step = max(settings.field_cell * edge, CELL_THICKNESSES * float(cloth.thickness.max()))
    bodies = tuple(collider for collider in frame_input.colliders if len(collider.triangles))
    about = step, frame_input.duration, bodies, restitution_of(cloth, settings), settings.field_isotropic, rigid
    return VelocityFields(tuple(VelocityField(garments, *about) for garments in parts), rigid)


def _lasts(motion, step):
    """How many substeps a grid lasts while cloth goes on by `motion` (n, 3) [m] in each."""
    motion = motion - motion.mean(axis=0)
    typical = max(float(np.sqrt(np.einsum("ij,ij->", motion, motion) / len(motion))), SLOWEST)
    return int(min(max(GRID_DRIFT * step / typical, 1), MOST_GRID_SUBSTEPS))


def _make_grid(field, cloth, x, t, until):
    """The grid round cloth at x, t of the frame gone, which lasts until later."""
    facing = measure(cloth, x)
    facing[~field.garments[cloth.garment], AREA] = 0.0
    area = facing[:, AREA]
    grid = make_grid(x, area, field.step)
    layers = rasterise(grid, facing, cloth.thickness)
    if field.rigid is not None:
        clear_own(grid, np.where(cloth.rigid[cloth.garment], cloth.garment, -1), layers)
    cells, nodes = find_cells(grid, evened(layers) if field.isotropic else layers)
    count, total = nodes.crowded_count, len(nodes.slots)
    if field.rigid is not None:
        field.rigid.touch(nodes.particles, field.garments[cloth.garment])
    solid, drag = np.zeros((total, obstacles.SOLID_COLUMNS)), np.zeros(len(cells.density))
    if field.bodies and count:
        mass = cloth.mass if field.rigid is None else field.rigid.weights(cloth)
        layer = float(mass[area > 0.0].sum() / area.sum()) * field.step**2
        wanted = np.zeros(len(grid.key) * TILE_SLOTS, np.bool_)
        wanted[nodes.slots[:count]] = True
        solid, grip = _bodies(field, cloth.origin, grid, wanted, layer, t, min(until, 1.0))
        solid, drag = solid[nodes.slots], grip[nodes.slots[cells.nodes]].max(axis=1)
    least = np.minimum(CLOSING_RATE * (cells.density - FULL_DENSITY), 0.0)
    system = System(cells.nodes, cells.rows, least, drag, np.zeros(0), np.zeros((0, 4)))
    sure = (cells.density - CROWDED) / CERTAIN_DENSITY
    edges, rest_length = advected_lengths.edges_beside(cloth, nodes.particles)
    barred = np.empty((len(nodes.particles), 6))
    find_barred(grid, layers, nodes.particles, barred)
    solution, u = make_scratch(len(cells.density), count), np.zeros((count, 4))
    closing, pressed, per_volume = np.zeros(count), np.zeros(count), field.step**-3
    scratch = transfer.Scratch(np.zeros((total, 4)), np.zeros((len(nodes.particles), 4)))
    beside = u, closing, pressed, per_volume, scratch, edges, rest_length
    return FieldGrid(cells, nodes, facing, barred, solid, sure, system, solution, *beside)


def _bodies(field, origin, grid, wanted, layer, t, until):
    """What is solid (s, SOLID_COLUMNS), and friction (s,), of bodies at the grid's slots, from t of the frame until later."""
    slots = len(grid.key) * TILE_SLOTS
    solid, grip = np.zeros((slots, obstacles.SOLID_COLUMNS)), np.zeros(slots)
    window = min(BODY_MOTION, t)
    for body in field.bodies:
        samples = np.ascontiguousarray(body.x, np.float64)
        x, v = _moving(samples, origin, t, window, field.duration)
        change = np.zeros_like(v)
        if until > t:
            change = (_moving(samples, origin, until, window, field.duration)[1] - v) / (until - t)
        obstacles.rasterise(grid, wanted, body.triangles, x, v, change, layer, body.friction, solid, grip)
    return solid, grip


def _moving(samples, origin, t, window, duration):
    """Places (m, 3) [m] of a body at t of a frame of some duration [s], and velocities (m, 3) [m/s] in a window before."""
    motion = np.empty((samples.shape[1], 6))
    move(samples, origin, 0, np.arange(len(motion)), t - window, t, motion)
    return motion[:, :3] + motion[:, 3:], motion[:, 3:] / (window * duration)


def _at_nodes(grid, cloth, x_from, dt, x):
    """Masses (k,) [kg] and velocities (k, 4) [m/s] of the nodes, of cloth that goes from x_from to x in dt."""
    nodes = grid.nodes
    mass, v = np.zeros(len(nodes.slots)), np.zeros((len(nodes.slots), 4))
    transfer.to_nodes(nodes, x, x_from, cloth.mass, cloth.inv_mass, dt, grid.solid, mass, v)
    return mass, v


def _find_change(grid, mass, v, about):
    """How the nodes move so that no gap closes faster than it may.

    about : facing of particles and what follows it in `transfer.find_loss`; None where garments are rigid: these are asked again
    """
    cells, nodes = grid.cells, grid.nodes
    count = nodes.crowded_count
    transfer.find_closing(cells.nodes, cells.rows, grid.sure, v, grid.closing)
    motion = transfer.NodeMotion(mass, v, grid.u, grid.closing, grid.solid, grid.pressed)
    if about is not None:
        # what layers give back of their momentum closes gaps, too: the nodes are projected last
        transfer.find_loss(nodes, motion, *about)
        v = v - grid.scratch.loss
    system = grid.system._replace(mass=mass[:count], v=v[:count])
    project(system, grid.u, PUSH_ROUNDS, ITERATIONS, grid.solution)
    if about is not None:
        find_pressed(system, grid.u, grid.solution, grid.per_volume, grid.pressed)
    return motion


def _ease(field, mass, cloth, x, x_from):
    """Move apart what is too dense; x and x_from alike."""
    grid = field.grid
    least = np.minimum(EASED_STRAIN * (grid.cells.density - FULL_DENSITY), MOST_EASED_STRAIN)
    if (least <= 0.0).all():
        return
    count, drag = grid.nodes.crowded_count, np.zeros_like(least)
    quiet = grid.system._replace(mass=mass[:count], v=np.zeros((count, 4)), least=np.maximum(least, 0.0), drag=drag)
    shift = np.zeros_like(grid.u)
    project(quiet, shift, 1, ITERATIONS, grid.solution)
    if field.rigid is not None:
        _ease_wholes(field, quiet, shift, cloth, x, x_from)
        return
    transfer.ease_apart(grid.nodes, cloth.inv_mass, shift, x, x_from)


def _ease_wholes(field, quiet, shift, cloth, x, x_from):
    """The same where there are rigid garments, by rounds: these go less far than the nodes, and cloth would go into them.

    shift : (k, 4) [m] of the nodes in the first round
    # outputs: x, x_from, of cloth
    """
    grid, count, way, start = field.grid, len(shift), np.zeros_like(x), np.zeros_like(x)
    still = grid._replace(solid=grid.solid.copy())
    still.solid[:, obstacles.SOLID_MOMENTUM : obstacles.SOLID_MOMENTUM + 3] = 0.0
    for turn in range(1 + FIELD_ROUNDS):
        mass, v = _at_nodes(still, field.rigid.weighed(cloth), start, 1.0, way)
        if turn > 0:
            shift[:] = 0.0
            project(quiet._replace(mass=mass[:count], v=v[:count]), shift, 1, ITERATIONS, grid.solution)
        before = way.copy()
        transfer.go_with(grid.nodes, cloth.inv_mass, v[:count] + shift, way)
        field.rigid.ease(before, way)
    way[field.rigid.rigid.particles] = 0.0
    x += way
    x_from += way
