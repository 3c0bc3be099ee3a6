# SPDX-License-Identifier: GPL-3.0-or-later
"""Compile kernels ahead of a bake, so that its first frame only has to load them from the disk.

Each part of the solver is compiled by a process of its own, which runs a small frame of a scene that reaches all of that
part: sheets with pins, soft pins, a bent rest shape, wind with lift, one above the other, over a body that moves. So a
window stays alive, and all processors help. What no process can be had for is compiled when it is first called.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .model import Collider, FrameInput, Garment, Settings
from .quicken import quicken

# What a child process runs: the solver under the name that it has here, without Blender and the rest of the package.
CHILD = """
import importlib, os, sys, types
package, folder, paths, function, *rest = sys.argv[1:]
sys.path[:] = paths.split(os.pathsep)
names = package.split(".")
for end in range(1, len(names) + 1):
    module = types.ModuleType(".".join(names[:end]))
    module.__path__ = []
    sys.modules[module.__name__] = module
module.__path__ = [folder]
getattr(importlib.import_module(package + ".solver.warm"), function)(*rest)
"""


GRAVITY = np.array([0.0, 0.0, -9.81])
LONGEST = 600.0  # [s] that the other processes may take; then a bake compiles what is missing itself
POLL = 0.05  # [s] between two looks whether they are done
_ahead: list[subprocess.Popen] = []  # processes that were started before anybody waits for them


def compile_kernels(parts: tuple[str, ...] = (), go_on: Callable[[], bool] = lambda: True) -> bool:
    """Have the kernels of `parts` (see `PARTS`; `EVERY` if none is named) on the disk, where that can be done.

    go_on : asked several times a second; False ends the processes and the waiting.

    Returns
    -------
    Whether nobody asked to stop.
    """
    from .jit import SOLVER, is_compiled, prune  # here, because importing numba takes its time, too

    prune()
    if not _wait(_ahead, go_on):
        return False
    missing = [part for part in parts or EVERY if not is_compiled(SOLVER / PARTS[part].file)]
    return _wait([child for child in (_start_child("compile_part", part) for part in missing) if child], go_on)


def start_ahead() -> None:
    """Begin to compile what every bake may need in the background, once in a session; a bake that comes earlier waits for the rest."""
    if not _ahead:
        _ahead.extend(child for child in [_start_child("compile_kernels")] if child)


def stop_ahead() -> None:
    """End what `start_ahead` began."""
    _wait(_ahead, lambda: False)
    _ahead.clear()


def _wait(children: list[subprocess.Popen], go_on: Callable[[], bool]) -> bool:
    """Whether all have ended before somebody asked to stop; none runs on after that or after `LONGEST`."""
    last, wanted = time.monotonic() + LONGEST, True
    while any(child.poll() is None for child in children):
        wanted = go_on()
        if not wanted or time.monotonic() > last:
            for child in children:
                child.terminate()
                child.wait()
        time.sleep(POLL)
    return wanted


def compile_part(part: str) -> None:
    """Run one small frame through a part of the solver: what a child process does."""
    quicken()
    PARTS[part].compile()


def _compile_dynamics():
    """Everything but contact."""
    from .build import build
    from .step import advance

    cloth, state = build([_garment("A", 0.0)._replace(self_collision=False)], Settings())
    targets, wind = (state.x + cloth.origin)[None].repeat(2, axis=0), np.array([0.0, 1.0, 2.0])
    settings = Settings(substeps=2, air_lift=0.1)
    advance(cloth, state, FrameInput(1 / 24, targets, (), GRAVITY, wind), 1, settings)


def _compile_cloth():
    """Cloth on cloth: one step as foreseen, one in which a particle is thrown through the other garment."""
    from .contact import cloth as contact
    from .contact.stacks import find_stack, let_go

    cloth, state = _cloth()
    dt, x_prev = 1 / 240, state.x.copy()
    pairs = contact.detect(cloth, state.x, state.v, dt, Settings())
    let_go(pairs.near, find_stack(pairs, state.x, state.v, cloth.inv_mass, dt), state.x, x_prev)
    contact.respond(pairs, None, cloth, x_prev.copy(), state.x, x_prev, dt)
    start, x_prev = state.x.copy(), state.x.copy()
    state.x[-1, 2] -= 0.03
    contact.respond(pairs, None, cloth, start, state.x, x_prev, dt)
    _compile_guard(pairs.near, cloth, state.x)
    _compile_body_guard(cloth, state.x)


def _compile_guard(near, cloth, x):
    """What the guard does with a pair that meets."""
    from .contact import clusters, guard

    zones, hits, times = guard.single_zones(x, x), np.zeros(1, np.int32), np.zeros(1)
    guard.join(near.stencils, hits, times, True, guard.NO_BODIES.owner, zones.parent, zones.share, zones.lead)
    guard.hold(zones, guard.NO_BODIES, cloth.inv_mass, x, x.copy(), x.copy(), np.ones(len(x), np.bool_))
    clusters.record(near, hits, x)


def _compile_body_guard(cloth, x):
    """What the guard against bodies has of its own."""
    from .contact import body_guard, body_stencils, body_sweep, sift
    from .contact.patches import PATCH, patches_of
    from .ldi.cells import make_cells

    triangles, patches, (free, stirred) = cloth.triangles, patches_of(cloth), np.zeros((2, len(x)), np.bool_)
    count, pairs = len(patches.garment), np.zeros((1, 2), np.int32)
    bounds = np.empty((count, 6)), np.empty((count, 6)), *np.ones((2, count), np.bool_)
    about = np.zeros(len(x), np.int8), np.zeros(len(x)), free, np.empty((0, 6)), np.empty(0, np.int64), False
    body_sweep.place_kernel(x, x, *about, x.copy(), x.copy(), free, stirred)
    where, members = (x, x, free), body_guard._members(triangles, patches, len(x))
    body_sweep.sweep_kernel(members, *where, stirred, 0.001, np.zeros((count, 6)), *bounds)
    cells, lag = make_cells(np.stack([x.min(axis=0), x.max(axis=0)]), 0.001), np.zeros((2, 3))
    grid = lag, cells.low, cells.size, cells.shape, cells.flags
    body_sweep.cover_kernel(patches, 1, triangles, *where, 0.001, bounds[0], bounds[3], *grid, np.empty(6))
    found = np.empty((PATCH, 6)), np.empty(7), np.full((count, 3), np.nan), np.zeros((2, 1)), *2 * [body_guard.NOTHING]
    sift.look_kernel(0, 1, pairs, patches, members, triangles, x, x, free, *bounds, 0.001, 0.01, *found)
    state, apart = np.full(1, sift.MEETING, np.int8), np.array([[0, len(triangles) - 1]], np.int32)
    sift.sift_kernel(pairs, triangles, x, x, 0.001, np.empty(7), state)
    body_stencils.keep_kernel(apart, state, triangles, free)
    body_stencils.find_stencils(apart, triangles, patches.owned, cloth.friction, x, x, ~free, 0.001)


def _compile_bodies():
    """Bodies: their images, and cloth that is kept off them and rests on them."""
    from .contact import body
    from .contact.grips import find_grips
    from .contact.support import find_support, make_support, weigh

    cloth, state = _cloth()
    settings, dt, x_prev = Settings(substeps=1), 1 / 240, state.x.copy()
    frame_input = FrameInput(dt, (state.x + cloth.origin)[None].repeat(2, axis=0), (_body(),), GRAVITY, np.zeros(3))
    bodies = body.prepare(cloth, state, frame_input, settings)
    body.detect(bodies, cloth, state.x, state.v, 0.0, 1.0, settings)
    body.respond(bodies, cloth, state.x, x_prev, state.v, 1.0, dt)
    body.respond_velocity(bodies, cloth, state.v, dt)
    touches = bodies.touches
    place = np.ones(len(state.x), np.int8)
    find_grips(bodies.bodies, bodies.mesh.start - cloth.origin, cloth.garment, state.x, place, touches.grip.copy())
    support, mass = make_support(cloth), cloth.inv_mass
    find_support(state.x, x_prev, mass, touches.count, touches.touch, touches.led, dt, *support)
    weigh(state.x - x_prev, state.v, mass, touches.touch, dt, support.kind, support.normal, *support[3:])


def _compile_crowd():
    """The velocity field of many cloths: a grid made anew and gone on with, dense layers beside a body that moves."""
    from .build import build
    from .crowd.avoid import prepare

    settings, dt = Settings(cloth_contact="VELOCITY_FIELD"), 1 / 240
    cloth, state = build([_garment(name, 0.005 * k) for k, name in enumerate("ABC")], settings)
    frame_input = FrameInput(dt, (state.x + cloth.origin)[None].repeat(2, axis=0), (_body(),), GRAVITY, np.zeros(3))
    crowd, x_prev = prepare(cloth, frame_input, settings), state.x - 1e-4 * state.x
    for t in (0.5, 1.0):
        crowd.respond(cloth, state.x, x_prev, t, dt)


class Part(NamedTuple):
    """A part of the solver that one process compiles."""

    file: str  # its largest file: where that is compiled, the part is
    compile: Callable[[], None]


PARTS = {
    "bodies": Part("contact/body_response.py", _compile_bodies),
    "dynamics": Part("integrate/solve.py", _compile_dynamics),
    "cloth": Part("contact/guard.py", _compile_cloth),
    "crowd": Part("crowd/project.py", _compile_crowd),
}
EVERY = "bodies", "dynamics", "cloth"  # what any scene may need


def parts_of(settings: Settings, has_bodies: bool = True) -> tuple[str, ...]:
    """The parts that a bake with these settings needs."""
    has_field = settings.cloth_contact in ("VELOCITY_FIELD", "BOTH")
    needed = {"bodies": has_bodies, "dynamics": True, "cloth": True, "crowd": has_field}
    return tuple(part for part in PARTS if needed[part])


def _start_child(function: str, *rest: str) -> subprocess.Popen | None:
    """A process that calls a function of this module; None where none can be had."""
    python = Path(sys.executable or "")
    if not python.stem.lower().startswith("python"):
        return None
    package, folder = __package__.rpartition(".")[0], str(Path(__file__).parent.parent)
    paths = os.pathsep.join(map(os.path.abspath, sys.path))
    command = [str(python), "-c", CHILD, package, folder, paths, function, *rest]
    flags = getattr(subprocess, "CREATE_NO_WINDOW", 0)
    silent = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    try:
        return subprocess.Popen(command, creationflags=flags, **silent)
    except OSError:
        return None


def _cloth():
    """Two small garments, one above the other."""
    from .build import build

    return build([_garment("A", 0.0), _garment("B", 0.02)], Settings())


def _garment(name, height):
    """Two quads, bent, with one pin, one soft pin and one bounded particle."""
    x = np.array([[0, 0, 0], [1, 0, 0.1], [2, 0, 0], [0, 1, 0], [1, 1, 0.1], [2, 1, 0]], dtype=float) * 0.02
    x[:, 2] += height

    def all_of(value):
        return np.full(6, value)

    return Garment(
        name=name,
        x=x,
        x_start=x.copy(),
        triangles=np.array([[0, 1, 4], [0, 4, 3], [1, 2, 5], [1, 5, 4]], dtype=np.int32),
        quads=np.array([[0, 1, 4, 3], [1, 2, 5, 4]], dtype=np.int32),
        edges=np.array([[0, 1], [1, 2], [3, 4], [4, 5], [0, 3], [1, 4], [2, 5]], dtype=np.int32),
        uv=None,
        mass=all_of(0.15),
        thickness=all_of(0.002),
        stretch_stiffness=all_of(2000.0),
        shear_stiffness=all_of(100.0),
        bending_stiffness=all_of(1e-5),
        damping=all_of(2.0),
        friction=all_of(0.3),
        pin=np.array([1.0, 0.5, 0, 0, 0, 0]),
        pin_distance=np.array([np.inf, np.inf, 0.1, np.inf, np.inf, np.inf]),
        layer=0,
        self_collision=True,
    )


def _body():
    """A tetrahedron under the garments that rises by a millimetre, with a tip (`contact.ridges`): a small one."""
    x = np.array([[-0.05, -0.05, -0.01], [0.1, -0.05, -0.01], [0, 0.1, -0.01], [0.02, 0.01, 0.001]])
    triangles = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]], dtype=np.int32)
    x, triangles = np.concatenate([x, 0.1 * x + [0.02, 0.02, -0.001]]), np.concatenate([triangles, triangles + 4])
    return Collider("Body", np.stack([x, x + [0, 0, 0.001]]), triangles, 0.5, 0.2, 0.005)
