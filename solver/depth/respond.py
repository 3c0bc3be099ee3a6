# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth on cloth by layered depth images of the cloth (Bargmann 2003, chapter 5 and section 7.1): fast, not certain.

    depths = prepare(cloth, frame_input, settings)               once a frame; None where cloth meets no cloth
    count = depths.respond(cloth, x, x_prev, t, dt)              each substep, after the constraints

Each substep the cloth is drawn as it is, and what the image knows is compared with where everything was a substep ago.
No pair is looked for, and nothing is remembered but x_prev. DEPTH_SEQUENCES sorts all layers along one direction, that
of gravity (`above`); DEPTH_STICKS keeps particles in front of the triangles they come to, from all sides (`sticks`).

Pixels have a size that the mesh gives, and borders at multiples of it: where cloth lies still, its image does, too. In
the thesis they went with the cloth's bounding box, and cloth that lay folded trembled (5.7.2).
"""

import math
from dataclasses import dataclass

import numpy as np

from ..ldi.centres import render
from ..ldi.rasterise import render_motion
from ..model import Cloth, FrameInput, Settings
from .above import Fabric, apply_kernel, gather_kernel, make_hits
from .sequence import make_sequence
from .sticks import planes_kernel, touch_kernel

FINE = 0.5  # mean edges that a pixel is wide, of sequences
COARSE = 0.7  # the same of sticks
SPARE = 2.0  # times the contact distance within which sticks look: a round moves what it passed over
ROUNDS = 3  # of sticks in a substep: a layer is pushed from both sides
MOST_PIXELS = 1024  # along a side of an image; where cloth is larger, pixels are
FIRM = 1e6  # times the mass of a free particle that one has which nothing moves


@dataclass
class Depths:
    """What contact by depth keeps during a frame."""

    fabric: Fabric
    edge: float  # [m] mean length
    axis: int  # that lines go along; -1: all three
    bounce: float  # restitution
    thickest: float  # [m] largest contact distance

    def respond(self, cloth: Cloth, x: np.ndarray, x_prev: np.ndarray, t: float, dt: float) -> int:
        """Keep layers of cloth in order for one substep; returns how many places of layers were moved.

        Parameters
        ----------
        x : (n, 3) [m], changed in place: end of the substep, after all constraints
        x_prev : (n, 3) [m], from where to x particles go in the substep; changed in place, too
        t, dt : when the substep ends, and its length; not asked for
        """
        if not np.isfinite(x.sum() + x_prev.sum()):
            return 0
        fabric = self.fabric._replace(inv_mass=cloth.inv_mass)
        return (self._sort if self.axis >= 0 else self._touch)(fabric, x, x_prev)

    def _sort(self, fabric, x, x_prev) -> int:
        """Layers along one axis."""
        image = render(x, fabric.triangles, *_box(x, FINE * self.edge), self.axis)
        size = int(np.diff(image.pixel_start).max(initial=0))
        heaviest = FIRM / max(float(fabric.inv_mass.max()), 1e-300)
        rows, sums = int(image.shape[(self.axis + 2) % 3]), np.zeros((len(x), 7))
        where = heaviest, self.axis, image.low, image.pixel, rows, image.pixel_start, image.depth, image.triangle
        scratch = make_hits(size), make_sequence(size)
        count = gather_kernel(fabric, *where, x, x_prev, self.bounce, *scratch, sums)
        apply_kernel(fabric.inv_mass, sums, x, x_prev)
        return count

    def _touch(self, fabric, x, x_prev) -> int:
        """Particles and triangles, from all sides."""
        ways = np.concatenate([x, np.zeros((len(x), 5))], axis=1)
        every = np.arange(len(fabric.triangles), dtype=np.int32)
        image = render_motion(ways, fabric.triangles, every, *_box(x, COARSE * self.edge))
        where = image.low, image.pixel, image.shape, image.first_pixel, image.pixel_start, image.triangle
        planes, count = np.empty((len(fabric.triangles), 8)), 0
        for _ in range(ROUNDS):
            planes_kernel(fabric.triangles, x, x_prev, planes)
            found = touch_kernel(fabric, planes, SPARE * self.thickest, *where, x, x_prev, self.bounce)
            if not found:
                break
            count = max(count, found)
        return count


def prepare(cloth: Cloth, frame_input: FrameInput, settings: Settings) -> Depths | None:
    """Begin a frame."""
    meeting = cloth.meets.any(axis=1)[cloth.garment[cloth.triangles[:, 0]]]
    if not meeting.any():
        return None
    triangles = np.ascontiguousarray(cloth.triangles[meeting], np.int32)
    corners = cloth.x_rest[triangles]
    edge = float(np.sqrt(((corners - np.roll(corners, 1, axis=1)) ** 2).sum(axis=2)).mean())
    fabric = Fabric(
        triangles, cloth.inv_mass, cloth.thickness, cloth.friction, cloth.garment, cloth.x_rest, cloth.meets_itself,
        cloth.meets,
    )  # fmt: skip
    down = np.abs(frame_input.gravity)
    axis = int(down.argmax()) if down.max() > 0.0 else 2
    axis = -1 if settings.cloth_contact == "DEPTH_STICKS" else axis
    return Depths(fabric, max(edge, 1e-9), axis, settings.cloth_restitution, float(cloth.thickness.max()))


def _box(x, pixel):
    """Corners [m] of a box of whole pixels round all particles, and how many pixels its longest side has."""
    low, high = x.min(axis=0), x.max(axis=0)
    pixel *= max(1, math.ceil(float((high - low).max()) / pixel / MOST_PIXELS))
    low = pixel * np.floor(low / pixel)
    counts = np.floor((high - low) / pixel) + 1
    return low, low + pixel * counts, int(counts.max())
