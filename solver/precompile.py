# SPDX-License-Identifier: GPL-3.0-or-later
"""Compile kernels ahead of a bake, so that its first frame only has to load them from the disk.

Processes of their own compile the parts of the solver, each by a small scene that reaches all of a part: sheets with pins,
soft pins, a bent rest shape, wind with lift, one above the other, over a body that moves. So a window stays alive, and
all processors help. What no process can be had for is compiled when it is first called.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .kernel.compiler_patch import quicken
from .model import Collider, FrameInput, Garment, Settings
from .untangle import untangles

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
getattr(importlib.import_module(package + ".solver.precompile"), function)(*rest)
"""


GRAVITY = np.array([0.0, 0.0, -9.81])
LONGEST_WAIT = 600.0  # [s] that the other processes may take; then a bake compiles what is missing itself
SUBSTEP = 1 / 240  # [s]
THROW = 0.0, 0.0, -0.03  # [m] in a substep: through the sheet below
POLL_INTERVAL = 0.05  # [s] between two looks whether they are done
_ahead: list[subprocess.Popen] = []  # processes that were started before anybody waits for them


def compile_kernels(parts: tuple[str, ...] = (), go_on: Callable[[], bool] = lambda: True) -> bool:
    """Have the kernels of `parts` (see `PARTS`; `EVERY` if none is named) on the disk, where that can be done.

    go_on : asked several times a second; False ends the processes and the waiting.

    Returns
    -------
    Whether nobody asked to stop.
    """
    from .kernel.jit import SOLVER, is_compiled, prune  # here, because importing numba takes its time, too

    prune()
    if not _wait(_ahead, go_on):
        return False
    missing = [part for part in parts or EVERY if not is_compiled(SOLVER / PARTS[part].file)]
    each = [[part for part in parts if part in missing] for parts in PROCESSES]
    return _wait([child for child in (_start_child("compile_here", *own) for own in each if own) if child], go_on)


def start_ahead() -> None:
    """Begin to compile what every bake may need in the background, once in a session; a bake that comes earlier waits for the rest."""
    if not _ahead:
        _ahead.extend(child for child in [_start_child("compile_kernels")] if child)


def stop_ahead() -> None:
    """End what `start_ahead` began."""
    _wait(_ahead, lambda: False)
    _ahead.clear()


def _wait(children: list[subprocess.Popen], go_on: Callable[[], bool]) -> bool:
    """Whether all have ended before somebody asked to stop; none runs on after that or after `LONGEST_WAIT`."""
    last, wanted = time.monotonic() + LONGEST_WAIT, True
    while any(child.poll() is None for child in children):
        wanted = go_on()
        if not wanted or time.monotonic() > last:
            for child in children:
                child.terminate()
                child.wait()
        time.sleep(POLL_INTERVAL)
    return wanted


def compile_here(*parts: str) -> None:
    """Run small scenes through some parts of the solver: what a child process does."""
    quicken()
    for part in parts:
        PARTS[part].compile()


class Part(NamedTuple):
    """A part of the solver that a process compiles."""

    file: str  # its largest file: where that is compiled, the part is
    compile: Callable[[], None]


def _compile_dynamics():
    """Everything but contact: a frame of one sheet in the wind; what threads do that stand by, as here none may."""
    from .integrate.edge_clamp import longest
    from .kernel.shared import BOARD, call_away, stand_by

    call_away(BOARD, 0)
    stand_by(BOARD, 0)
    _advance(1, (), Settings(substeps=2, air_lift=0.1))
    cloth, state, _ = _scene(1, ())
    longest(cloth, state.x)  # asked where something was held back, as nothing is here


def _compile_bodies():
    """Bodies: their images, by a graphics card too, and cloth that is kept off them and rests on them."""
    from .contact.body import collide
    from .contact.body.calm import find_calm, hold_calm, make_calm
    from .contact.body.constraints import make_support
    from .contact.body.flattening import is_flattened
    from .contact.body.slip import find_slip, make_hold
    from .ldi.ahead import WideImage, taken_out
    from .ldi.rasterise import render_motion
    from .ldi.texels import render_by

    def render(trajectories, triangles, near, low, high, resolution):
        what = trajectories, triangles, near, low, high, resolution
        nothing = render_by(lambda packed, raster: np.empty((0, 4), np.float32), *what)  # by a card that draws nothing
        wide = WideImage(trajectories, triangles, np.ones(len(triangles), np.bool_), near, nothing)
        taken_out(wide, trajectories, triangles, near, low, high)
        return render_motion(*what)

    cloth, state, frame_input = _scene(1, (_body(),))
    settings, x_prev = Settings(), state.x.copy()
    body = collide.prepare(cloth, state, frame_input, settings, render)
    collide.detect(body, cloth, state.x, state.v, 0.0, 1.0, settings)
    pushed = state.x + [0.0, 0.0, SUBSTEP]
    is_flattened(
        cloth, state.x[:, 0] < 0.0, state.x, pushed, state.v, body.contacts, SUBSTEP
    )  # which nothing touches yet
    collide.respond(body, cloth, state.x, x_prev, state.v, x_prev, 1.0, frame_input.duration)
    collide.respond_velocity(body, cloth, state.v, frame_input.duration)
    calm = make_calm(cloth)  # nothing is pinched in a scene as small as this
    find_calm(cloth.edges, body.contacts, calm)
    support = make_support(cloth)
    hold_calm(calm, body.contacts.calm, make_hold(cloth).most, state.x, x_prev, SUBSTEP, support)
    find_slip(x_prev, make_hold(cloth), support.kind, body.contacts)
    _advance(1, (_body(),), Settings(substeps=2, guard_bodies=False))


def _compile_cloth():
    """Cloth on cloth: a corner that is thrown through the sheet below, and a sheet that is through another one."""
    from .crossings import find_crossings
    from .shown import find_quads, shown_otherwise

    cloth, state, _ = _scene(2, ())
    find_crossings(cloth, state.x)
    shown_otherwise(find_quads((), cloth.triangles), state.x)
    _throw(None)
    _ease()
    _advance(2, (), Settings(substeps=2))


def _compile_guard():
    """What lets nothing pass between cloth and bodies: the same with a spike in the sheet."""
    _throw(_body())
    _advance(2, (_body(),), Settings(substeps=2))


def _compile_velocity_field():
    """The velocity field of many cloths: a grid made anew and gone on with, dense layers beside a body that moves."""
    from .velocity_field.avoid import prepare

    cloth, state, frame_input = _scene(3, (_body(),), 0.005)
    field = prepare(cloth, frame_input, Settings(cloth_contact="VELOCITY_FIELD"))
    x_from = state.x - 1e-4 * state.x
    for t in (0.5, 1.0):
        field.respond(cloth, state.x, x_from, t, SUBSTEP)
    _compile_rigid(cloth, state, frame_input, x_from)


def _compile_rigid(cloth, state, frame_input, x_from):
    """The same where a garment is rigid; how it is pushed off bodies by itself, for these are another process' part."""
    from .velocity_field.avoid import prepare
    from .velocity_field.rigid import find_rigid, pose_of
    from .velocity_field.rigid_contact import Touches, take_out

    cloth = cloth._replace(rigid=np.arange(len(cloth.meets)) == len(cloth.meets) - 1)
    settings, alone = Settings(cloth_contact="VELOCITY_FIELD"), frame_input._replace(colliders=())
    prepare(cloth, alone, settings, state).respond(cloth, state.x, x_from, 1.0, SUBSTEP)
    rigid, one, many = find_rigid(cloth), np.ones(1), np.ones((1, 3))
    touches = Touches(np.zeros(1, np.int64), many, many, one, one, one, one, one, many)
    take_out(touches, rigid, pose_of(rigid, state.x))


def _compile_inside():
    """Which points are inside of a body: one is."""
    from .ldi.inside import find_inside

    body = _body()
    find_inside(body.x[0], body.triangles, np.vstack([body.x[0][:4].mean(axis=0), body.x[0]]))


def _compile_untangle():
    """Garments out of each other: two sheets that cross each other, bent, over a body that they cross."""
    from .untangle.apart import untangle
    from .untangle.nest import Shape, Worn

    body, garment = _body(), _garment("Inner", 0.0)
    turned = garment.x * [1.0, 1.0, -1.0] + [0.001, 0.001, 0.0015]
    worn = [Worn(str(k), x, garment.triangles, garment.thickness, k, 1.0) for k, x in enumerate((garment.x, turned))]
    untangle(worn, [Shape(body.name, body.x[0], body.triangles, body.aura)], 0.02)


PARTS = {
    "bodies": Part("contact/body/response.py", _compile_bodies),
    "dynamics": Part("integrate/pcg.py", _compile_dynamics),
    "cloth": Part("contact/guard/impact_zones.py", _compile_cloth),
    "guard": Part("contact/guard/separating_axes.py", _compile_guard),
    "velocity_field": Part("velocity_field/project.py", _compile_velocity_field),
    "inside": Part("ldi/inside.py", _compile_inside),
    "untangle": Part("untangle/relax.py", _compile_untangle),
}
EVERY = "bodies", "dynamics", "cloth", "guard"  # what any scene may need
# What a process compiles, one part after the other. A part first runs what nobody else compiles, then a whole frame, which
# by then finds on the disk what the other processes have compiled. The guard needs what cloth needs.
PROCESSES = ("bodies",), ("dynamics",), ("cloth", "guard"), ("velocity_field",), ("inside",), ("untangle",)


def parts_of(settings: Settings, has_bodies: bool = True) -> tuple[str, ...]:
    """The parts that a bake with these settings needs."""
    has_field = settings.cloth_contact in ("VELOCITY_FIELD", "BOTH")
    needed = {"bodies": has_bodies, "dynamics": True, "cloth": True, "guard": has_bodies, "velocity_field": has_field}
    needed["untangle"] = untangles(settings)
    return tuple(part for part in needed if needed[part])


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


def _advance(sheet_count, bodies, settings):
    """A whole frame of such a scene."""
    from .step import advance

    cloth, state, frame_input = _scene(sheet_count, bodies)
    advance(cloth, state, frame_input, 1, settings)


def _throw(body):
    """A substep of contact alone, with a body or without, in which the last particle goes where nobody expected it."""
    from .contact.body import collide
    from .contact.cloth import pairs
    from .contact.guard import body_pairs
    from .contact.resolve import resolve

    cloth, state, frame_input = _scene(2, () if body is None else (body,))
    x, settings, guarded = state.x, Settings(), None
    start, x_from, near = x.copy(), x.copy(), pairs.detect(cloth, x, state.v, SUBSTEP, settings)
    if body is not None:
        met = collide.prepare(cloth, state, frame_input, settings)
        collide.detect(met, cloth, x, state.v, 0.0, 1.0, settings)
        guarded = body_pairs.prepare(cloth, met)
    x[-1] += THROW
    resolve(near, guarded, cloth, (0.0, 1.0), start, x, x_from, SUBSTEP)


def _ease():
    """A substep of what eases tangles apart: the second sheet stands in the first one."""
    from .contact.cloth import easing, pairs
    from .contact.cloth.response import NO_BRACE

    cloth, state, _ = _scene(2, ())
    x, second = state.x, cloth.garment_start[1]
    x[second:] = x[:second][:, [0, 2, 1]] + [0.003, 0.01, -0.01]
    found = pairs.detect(cloth, x, state.v, SUBSTEP, Settings())
    wanted = easing.sides_in(found.tangles, cloth, x)
    easing.ease(found.tangles, cloth, x, x.copy(), SUBSTEP, NO_BRACE, wanted)


def _scene(sheet_count, bodies, apart=0.02):
    """Sheets above each other that stay where they are pinned, in the wind: cloth, state and what happens in a frame."""
    from .build import build

    sheets = [_garment(str(k), k * apart)._replace(self_collision=sheet_count > 1) for k in range(sheet_count)]
    cloth, state = build(sheets, Settings())
    poses, wind = np.stack(2 * [state.x + cloth.origin]), np.array([0.0, 1.0, 2.0])
    return cloth, state, FrameInput(1 / 24, poses, bodies, GRAVITY, wind)


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
    """Four tetrahedra that rise by a centimetre: one under the garments, a spike in it (`body.features`), one round a
    corner of the lowest, and one that is far away.
    """
    x = np.array([[-0.05, -0.05, -0.01], [0.1, -0.05, -0.01], [0, 0.1, -0.01], [0.02, 0.01, 0.001]])
    triangles = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]], dtype=np.int32)
    places = (
        (1.0, [0.0, 0.0, 0.0]),
        (0.1, [-0.002, -0.001, -0.001]),
        (0.1, [0.02, 0.02, -0.001]),
        (0.1, [0.038, 0.019, 0.0205]),
        (1.0, [0.0, 0.0, -1.0]),
    )
    x = np.concatenate([size * x + place for size, place in places])
    triangles = np.concatenate([triangles + 4 * k for k in range(len(places))])
    return Collider("Body", np.stack([x, x + [0, 0, 0.01]]), triangles, 0.5, 0.2, 0.01)
