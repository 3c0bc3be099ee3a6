# SPDX-License-Identifier: GPL-3.0-or-later
"""Compile every kernel ahead of a bake, or load it from the disk, so that the first frame does not stand still.

One frame of a scene that reaches all of them: a sheet with pins, soft pins, a bent rest shape, wind with lift and a
second garment, above a body that moves.
"""

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np

from .model import Collider, FrameInput, Garment, Settings

# What a child process runs: the solver under the name that it has here, without Blender and the rest of the package.
CHILD = """
import importlib, os, sys, types
package, folder, paths = sys.argv[1:]
sys.path[:] = paths.split(os.pathsep)
names = package.split(".")
for end in range(1, len(names) + 1):
    module = types.ModuleType(".".join(names[:end]))
    module.__path__ = []
    sys.modules[module.__name__] = module
module.__path__ = [folder]
importlib.import_module(package + ".solver.warm").compile_bodies()
"""


GRAVITY = np.array([0.0, 0.0, -9.81])
LONGEST = 600.0  # [s] that the other process may take


def compile_kernels(progress=None):
    """Run one small frame through the whole solver.

    Parameters
    ----------
    progress : called with a part in [0, 1] of the work that is done, or None
    """
    tell = progress or (lambda part: None)
    tell(0.0)
    from .jit import prune  # here, because importing numba takes its time, too

    prune()

    tell(0.05)
    child = _start_child()
    try:
        cloth, state = _cloth()
        tell(0.2)
        from .step import advance

        settings = Settings(substeps=2, air_lift=0.1)
        targets = (state.x + cloth.origin)[None].repeat(2, axis=0)
        wind = np.array([0.0, 1.0, 2.0])
        for frame, bodies, part in ((1, (), 0.6), (2, (_body(),), 0.9), (3, (_body(),), 1.0)):
            if child is not None and bodies:
                with suppress(subprocess.TimeoutExpired):  # then this process compiles the rest
                    child.wait(LONGEST)
            advance(cloth, state, FrameInput(1 / 24, targets, bodies, GRAVITY, wind), frame, settings)
            tell(part)
    finally:
        if child is not None:
            child.kill()
            child.wait()


def compile_bodies():
    """Run what concerns bodies, and nothing else, on one small frame: the part of a child process."""
    from .contact import body

    cloth, state = _cloth()
    settings, dt = Settings(substeps=1), 1 / 240
    frame_input = FrameInput(dt, (state.x + cloth.origin)[None].repeat(2, axis=0), (_body(),), GRAVITY, np.zeros(3))
    bodies = body.prepare(cloth, state, frame_input, settings)
    body.detect(bodies, cloth, state.x, state.v, 0.0, 1.0, settings)
    body.respond(bodies, cloth, state.x, state.x.copy(), state.v, 1.0, dt)
    body.respond_velocity(bodies, cloth, state.v, dt)


def _start_child():
    """A process that compiles what concerns bodies into the same cache, where kernels are missing; None where none
    can be had, and then all is compiled here.
    """
    from .jit import SOLVER, is_compiled

    python = Path(sys.executable or "")
    if is_compiled(SOLVER / "contact" / "body_response.py") or not python.stem.lower().startswith("python"):
        return None
    if (os.cpu_count() or 1) < 2:
        return None
    package = __package__.rpartition(".")[0]
    command = [str(python), "-c", CHILD, package, str(SOLVER.parent), os.pathsep.join(map(os.path.abspath, sys.path))]
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
    """A tetrahedron under the garments that rises by a millimetre."""
    x = np.array([[-0.05, -0.05, -0.01], [0.1, -0.05, -0.01], [0, 0.1, -0.01], [0.02, 0.01, 0.001]])
    triangles = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]], dtype=np.int32)
    return Collider("Body", np.stack([x, x + [0, 0, 0.001]]), triangles, 0.5, 0.2, 0.005)
