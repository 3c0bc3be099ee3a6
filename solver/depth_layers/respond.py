# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth on cloth by layered depth images of the cloth (Bargmann 2003, chapter 5 and section 7.1): fast, not certain.

    depths = prepare(cloth, frame_input, settings)               once a frame; None where cloth meets no cloth
    count = depths.respond(cloth, x, x_from, t, dt)              each substep, after the constraints

Each substep the cloth is drawn as it is, and what the image knows is compared with where everything was a substep ago.
No pair is looked for, and nothing is remembered but x_from. DEPTH_SEQUENCES sorts all layers along one direction, that
of gravity (`above`); DEPTH_STICKS keeps particles in front of the triangles they come to, from all sides (`sticks`).

Pixels have a size that the mesh gives, and borders at multiples of it: where cloth lies still, its image does, too. In
the thesis they went with the cloth's bounding box, and cloth that lay folded trembled (5.7.2).
"""

import math
from dataclasses import dataclass

import numpy as np

from ..contact.cloth.response import NO_BRACE
from ..contact.cloth.restitution import SLOWEST_CLOTH_BOUNCE, first_bounces, make_bounces, part_kernel, restitution_of
from ..geometry.topology import mean_edge_length
from ..ldi.centres import render
from ..ldi.rasterise import render_motion, resting
from ..model import Cloth, FrameInput, Settings
from .above import ContactCloth, apply_kernel, gather_kernel, make_hits, make_sums
from .sequence import make_sequence
from .sticks import impacts_kernel, make_planes, planes_kernel, touch_kernel

SEQUENCE_PIXEL = 0.5  # mean edges that a pixel is wide, of sequences
STICK_PIXEL = 0.7  # the same of sticks
STICK_REACH = 2.0  # times the contact distance within which sticks look: a round moves what it passed over
STICK_ROUNDS = 3  # of sticks in a substep: a layer is pushed from both sides
MOST_DEPTH_PIXELS = 1024  # along a side of an image; where cloth is larger, pixels are
ROOM_FOR_IMPACTS = 4096  # of sticks that a list has at first
HEAVIEST = 1e6  # times the mass of a free particle that one has which nothing moves
SHORTEST_EDGE = 1e-9  # [m] mean


@dataclass
class Depths:
    """What contact by depth keeps during a frame."""

    cloth: ContactCloth
    edge: float  # [m] mean length
    axis: int  # that lines go along; -1: all three
    thickest: float  # [m] largest contact distance

    def respond(self, cloth: Cloth, x: np.ndarray, x_from: np.ndarray, t: float, dt: float) -> int:
        """Keep layers of cloth in order for one substep; returns how many places of layers were moved.

        Parameters
        ----------
        x : (n, 3) [m], changed in place: end of the substep, after all constraints
        x_from : (n, 3) [m], from where to x particles go in the substep; changed in place, too
        t : when the substep ends; not asked for
        dt : [s] the substep
        """
        if not np.isfinite(x.sum() + x_from.sum()):
            return 0
        cloth = self.cloth._replace(inv_mass=cloth.inv_mass)
        slow = SLOWEST_CLOTH_BOUNCE * dt
        return (self._sort if self.axis >= 0 else self._touch)(cloth, x, x_from, slow)

    def _sort(self, cloth, x, x_from, slow) -> int:
        """Layers along one axis."""
        image = render(x, cloth.triangles, *_box(x, SEQUENCE_PIXEL * self.edge), self.axis)
        size = int(np.diff(image.pixel_start).max(initial=0))
        heaviest = HEAVIEST / max(float(cloth.inv_mass.max()), 1e-300)
        scratch, sums = (make_hits(size), make_sequence(size)), make_sums(len(x))
        count = gather_kernel(cloth, image, self.axis, heaviest, x, x_from, slow, *scratch, sums)
        apply_kernel(cloth.inv_mass, sums, x, x_from)
        return count

    def _touch(self, cloth, x, x_from, slow) -> int:
        """Particles and triangles, from all sides."""
        every = np.arange(len(cloth.triangles), dtype=np.int32)
        image = render_motion(resting(x), cloth.triangles, every, *_box(x, STICK_PIXEL * self.edge))
        planes, count, impacts = make_planes(len(cloth.triangles)), 0, None
        given = cloth, planes, STICK_REACH * self.thickest, image, x, x_from
        if cloth.restitution.any():
            planes_kernel(cloth.triangles, x, x_from, planes)
            impacts = _find_impacts(given, slow)
        for _ in range(STICK_ROUNDS):
            planes_kernel(cloth.triangles, x, x_from, planes)
            found = touch_kernel(*given)
            if not found:
                break
            count = max(count, found)
        if impacts is not None:
            motion = x - x_from
            part_kernel(*impacts, cloth.inv_mass, NO_BRACE, motion)
            x_from[:] = x - motion
        return count


def _find_impacts(given, slow):
    """What bounces, as stencils (k, 4) and `Bounces`; `given` as to `impacts_kernel`."""
    room, count = 0, ROOM_FOR_IMPACTS
    while count > room:
        room = count
        stencils, bounces = np.empty((room, 4), np.int32), make_bounces(room)
        count = impacts_kernel(*given, slow, stencils, bounces)
    return stencils[:count], first_bounces(bounces, count)


def prepare(cloth: Cloth, frame_input: FrameInput, settings: Settings) -> Depths | None:
    """Begin a frame."""
    meeting = cloth.meets.any(axis=1)[cloth.garment[cloth.triangles[:, 0]]]
    if not meeting.any():
        return None
    triangles = np.ascontiguousarray(cloth.triangles[meeting], np.int32)
    edge = mean_edge_length(cloth.pattern.x, cloth.pattern.triangles[meeting])
    touching = ContactCloth(
        triangles, cloth.inv_mass, cloth.thickness, cloth.friction, cloth.garment, cloth.x_rest, cloth.meets_itself,
        cloth.meets, restitution_of(cloth, settings),
    )  # fmt: skip
    down = np.abs(frame_input.gravity)
    axis = int(down.argmax()) if down.max() > 0.0 else 2
    axis = -1 if settings.cloth_contact == "DEPTH_STICKS" else axis
    return Depths(touching, max(edge, SHORTEST_EDGE), axis, float(cloth.thickness.max()))


def _box(x, pixel):
    """Corners [m] of a box of whole pixels round all particles, and how many pixels its longest side has."""
    low, high = x.min(axis=0), x.max(axis=0)
    pixel *= max(1, math.ceil(float((high - low).max()) / pixel / MOST_DEPTH_PIXELS))
    low = pixel * np.floor(low / pixel)
    counts = np.floor((high - low) / pixel) + 1
    return low, low + pixel * counts, int(counts.max())
