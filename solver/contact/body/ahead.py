# SPDX-License-Identifier: GPL-3.0-or-later
"""The image of a frame before its cloth is known: of what the cloth may meet if each point goes on about as it goes.

What `view` looks for and draws, with more room; `ldi.ahead` finds out whether it was enough.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...ldi.ahead import WideImage
from ...model import LDI, Cloth, FrameInput, State
from .cell_grid import CELL_DRAWN, Box, make_cells, spread
from .motion import find_near, find_trajectories, make_trajectories
from .view import AURAS_ROOM, DOMAIN_ROOM

STRAY = 0.75  # pixels that the frame of reference may be beside where it is thought to be
MOST_PIXELS = 1024  # along an image's longest side


class Seen(NamedTuple):
    """The cloth when a frame begins."""

    frame: int
    x: np.ndarray  # (n, 3) [m]
    v: np.ndarray  # (n, 3) [m/s]
    change: np.ndarray  # (3,) [m/s] of the mean velocity, since the frame before
    origin: np.ndarray  # (3,) [m]


class Scene(NamedTuple):
    """What the last image that was wanted tells of the next."""

    triangles: np.ndarray  # (t, 3) of all bodies as one mesh
    vertex_count: int
    pixel: float  # [m]


def see(frame: int, cloth: Cloth, state: State, before: Seen | None) -> Seen:
    """The cloth at the start of a frame, and what was `before`."""
    change = np.zeros(3)
    if before is not None and before.frame == frame - 1:
        change = state.v.mean(axis=0) - before.v.mean(axis=0)
    return Seen(frame, state.x.copy(), state.v.copy(), change, cloth.origin)


def draw_ahead(render: Callable[..., LDI], seen: Seen, frame: int, frame_input: FrameInput, scene: Scene):
    """The `WideImage` of a later frame; None if its bodies are not those of the scene.

    render : draws it, as `ldi.rasterise.render_motion`
    """
    colliders = [c for c in frame_input.colliders if len(c.triangles)]
    if sum(c.x.shape[1] for c in colliders) != scene.vertex_count:
        return None
    later, seconds, first = frame - seen.frame, frame_input.duration, 0
    bulk = (seen.v.mean(axis=0) + later * seen.change) * seconds
    trajectories = make_trajectories(scene.vertex_count)
    for c in colliders:
        find_trajectories(np.ascontiguousarray(c.x, np.float64), seen.origin, first, 0.0, 1.0, bulk, trajectories)
        first += c.x.shape[1]
    trajectories = trajectories._replace(deviation=trajectories.deviation + STRAY * scene.pixel)
    domain, cells = _expect(seen, later, frame_input)
    drawn = np.zeros(len(scene.triangles), np.bool_)
    near = find_near(scene.triangles, trajectories, cells, drawn)
    low, high = np.maximum(near.swept.low, domain.low), np.minimum(near.swept.high, domain.high)
    if not len(near.triangles):
        low = high = domain.low
    resolution = int(min(max(np.ceil(float((high - low).max()) / scene.pixel), 1), MOST_PIXELS))
    image = render(trajectories, scene.triangles, near.triangles, low, high, resolution)
    return WideImage(trajectories, scene.triangles, drawn, near.triangles, image)


def _expect(seen: Seen, later: int, frame_input: FrameInput):
    """The domain round the cloth of a later frame, and its cells where cloth may be by then."""
    seconds = frame_input.duration
    x = seen.x + (later + 0.5) * seconds * seen.v
    low, high = x.min(axis=0), x.max(axis=0)
    fall = float(np.linalg.norm(frame_input.gravity)) * seconds * seconds
    aura = max((c.aura for c in frame_input.colliders), default=0.0)
    room = DOMAIN_ROOM * float((high - low).max()) + AURAS_ROOM * aura + fall
    room += later * (DOMAIN_ROOM * float((high - low).max()) + fall)
    domain = Box(low - room, high + room)
    cells = make_cells(domain, aura)
    i, j, k = (np.floor((x - domain.low) / cells.size).astype(np.int64) + 1).T
    cells.flags[(i * cells.shape[1] + j) * cells.shape[2] + k] = CELL_DRAWN
    spread(cells, CELL_DRAWN, 1 + later)
    return domain, cells
