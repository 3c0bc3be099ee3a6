# SPDX-License-Identifier: GPL-3.0-or-later
"""Compile every kernel ahead of a bake, or load it from the disk, so that the first frame does not stand still.

One frame of a scene that reaches all of them: a sheet with pins, soft pins, a bent rest shape, wind with lift and a
second garment, above a body that moves.
"""

import numpy as np

from .model import Collider, FrameInput, Garment, Settings


def compile_kernels(progress=None):
    """Run one small frame through the whole solver.

    Parameters
    ----------
    progress : called with a part in [0, 1] of the work that is done, or None
    """
    tell = progress or (lambda part: None)
    tell(0.0)
    from .build import build  # here, because importing numba takes its time, too
    from .jit import prune

    prune()

    tell(0.05)
    settings = Settings(substeps=2, air_lift=0.1)
    first, second = _garment("A", 0.0), _garment("B", 0.02)
    cloth, state = build([first, second], settings)
    tell(0.2)
    from .step import advance

    targets = np.concatenate([first.x_start, second.x_start])[None].repeat(2, axis=0)
    for frame, part in ((1, 0.9), (2, 1.0)):
        frame_input = FrameInput(1 / 24, targets, (_body(),), np.array([0.0, 0.0, -9.81]), np.array([0.0, 1.0, 2.0]))
        advance(cloth, state, frame_input, frame, settings)
        tell(part)


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
