# SPDX-License-Identifier: GPL-3.0-or-later
"""The bodies of a frame, and what of them the cloth can meet in an interval of time: looked for, and drawn.

The layered depth image finds, exact triangles decide: one image is drawn of the bodies' way through an interval
(`ldi.rasterise`), of what comes near the cloth in the box that both share (`cell_grid`; Bargmann 2003, 7.2).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...kernel.rows import mean_of
from ...ldi.rasterise import Trajectories
from ...model import BODY_SEARCHES, LDI, Cloth, Settings
from .association import Candidates, Image, Scratch
from .cell_grid import CELL_DRAWN, CELL_NEAR, DOMAIN_CELLS, Box, Cells, make_cells, mark_cloth, spread
from .contacts import Contacts
from .feature_samples import NO_NEAR_FEATURES, NearFeatures, find_near_features
from .features import Features
from .mesh import Bodies, BodyMesh
from .motion import find_domain, find_near, find_trajectories, make_trajectories, move
from .samples import Samples

MOST_DETECTIONS = 8
STRIDE_PIXELS = 8.0  # that a body may move against the cloth in one interval
FEWEST_PIXELS = 8.0  # along the longest side of an image
DOMAIN_ROOM, AURAS_ROOM = 0.05, 4.0  # what is drawn beyond the cloth, that no point gets lost: of its size, and auras


class View(NamedTuple):
    """What of the bodies' ways through an interval matters to the cloth."""

    t0: float
    t1: float
    bulk: np.ndarray  # (3,) [m] way of the frame of reference
    trajectories: Trajectories  # of the m vertices
    domain: Box  # round the cloth
    cells: Cells  # of the domain
    drawn: np.ndarray  # (t,) bool: triangles that may meet the cloth there
    near: np.ndarray  # (k,) their numbers
    spheres: np.ndarray  # (t, motion.SPHERE_COLUMNS) theirs
    is_used: np.ndarray  # (m,) bool: their vertices
    used: tuple[np.ndarray, ...]  # per collider, the numbers of these
    swept: Box  # what they sweep
    growth: float  # [m] by how much they grow through their motion along an axis, at most
    near_features: NearFeatures


@dataclass
class BodyContact:
    """All bodies of one frame, with what the points know of them; lives for one frame."""

    detections: int  # how many equal intervals of the frame want their own `detect`
    duration: float  # [s] of the frame
    gravity: tuple[float, float, float]  # [m/s2]
    mesh: BodyMesh
    features: Features  # their samples are the last
    samples: Samples
    candidates: Candidates
    contacts: Contacts
    settings: Settings
    bodies: Bodies
    render: Callable[..., LDI]  # draws images, as `ldi.rasterise.render_motion` does
    way_out: float = 0.0  # [m] farthest that a point inside a body can be from its surface
    room: float = 1.0  # doubled when points get lost
    view: View | None = None
    image: Image | None = None
    ldi: LDI | None = None
    scratch: Scratch | None = None  # of all threads
    moved: tuple[View, float, float] | None = None  # what vertices were moved for, and from when to when


def look(body: BodyContact, cloth: Cloth, x, v, t0: float, t1: float) -> View:
    """The bodies from t0 to t1 as the cloth sees them; x and v are those at t0."""
    mesh, seconds = body.mesh, (t1 - t0) * body.duration
    bulk, trajectories = mean_of(v) * seconds, make_trajectories(len(mesh.start))
    for c, first in zip(mesh.colliders, mesh.starts, strict=False):
        find_trajectories(c.x, cloth.origin, first, t0, t1, bulk, trajectories)
    domain, drawn = _domain(body, x, v, 0.0, seconds, bulk), np.zeros(len(mesh.triangles), np.bool_)
    return _search(body, cloth, x, v, 0.0, (t0, t1, bulk, trajectories), domain, drawn)


def look_farther(body: BodyContact, cloth: Cloth, x, v, time: float) -> View:
    """The same bodies as the cloth sees them in a domain that has grown; x and v are those at a later time."""
    known = body.view
    tau, seconds = (time - known.t0) / (known.t1 - known.t0), (known.t1 - known.t0) * body.duration
    low, high = _domain(body, x, v, tau, seconds, known.bulk)
    domain = Box(np.minimum(low, known.domain.low), np.maximum(high, known.domain.high))
    motion = known.t0, known.t1, known.bulk, known.trajectories
    return _search(body, cloth, x, v, tau, motion, domain, known.drawn)


def _domain(body: BodyContact, x, v, tau: float, seconds: float, bulk) -> Box:
    """The box round the cloth from tau on, with room."""
    domain = Box(np.empty(3), np.empty(3))
    find_domain(x, v, tau, seconds, bulk, domain)
    size = float((domain.high - domain.low).max())
    room = DOMAIN_ROOM * size + AURAS_ROOM * body.mesh.largest_aura + math.hypot(*body.gravity) * seconds * seconds
    room = body.room * room + body.way_out
    return Box(domain.low - room, domain.high + room)


def _search(body: BodyContact, cloth: Cloth, x, v, tau: float, motion: tuple, domain: Box, drawn) -> View:
    """What comes near cloth that is at x at tau; `motion`: the first four of View, drawn (t,) bool what is so already."""
    mesh, (t0, t1, bulk, trajectories) = body.mesh, motion
    cells = make_cells(domain, mesh.largest_aura)
    seconds = (t1 - t0) * body.duration
    mark_cloth(x, v, body.samples, body.contacts.place, body.way_out, tau, seconds, bulk, cells)
    spread(cells, CELL_DRAWN, int(min(body.room, DOMAIN_CELLS)))  # all of them by then
    near = find_near(mesh.triangles, trajectories, cells, drawn)
    spread(cells, CELL_NEAR)
    parts = zip(mesh.starts[:-1], mesh.starts[1:], strict=True)
    used, growth = tuple(np.flatnonzero(near.used[first:last]) for first, last in parts), float(near.growth.max())
    found = near.triangles, near.spheres, near.used, used, near.swept, growth
    view = View(*motion, domain, cells, drawn, *found, NO_NEAR_FEATURES)
    return view._replace(near_features=near_features(body, cloth, view, x, v, tau))


def near_features(body: BodyContact, cloth: Cloth, view: View, x, v, tau: float) -> NearFeatures:
    """The ridges that may meet the cloth from tau to the end of a view's interval."""
    seconds, motion = (view.t1 - view.t0) * body.duration, (cloth.triangles, x, v, tau)
    aura = body.mesh.largest_aura
    return find_near_features(body.features, view.is_used, view.trajectories, *motion, seconds, view.bulk, aura)


def detections(body: BodyContact) -> int:
    """Intervals: no body moves by more than STRIDE_PIXELS against the cloth in one."""
    view = body.view
    low, high = np.maximum(view.swept.low, view.domain.low), np.minimum(view.swept.high, view.domain.high)
    stride = max(STRIDE_PIXELS * float((high - low).max()) / body.settings.ldi_resolution, body.mesh.largest_aura)
    return int(min(max(-(-2.0 * view.growth // stride), 1), MOST_DETECTIONS))


def draw(body: BodyContact, settings: Settings) -> None:
    """Draw the image of what the view holds."""
    view, mesh = body.view, body.mesh
    low, high = np.maximum(view.swept.low, view.domain.low), np.minimum(view.swept.high, view.domain.high)
    if not len(view.near):
        low = high = view.domain.low
    growth, resolution = max(view.growth, 0.0), settings.ldi_resolution
    if growth > 0.0:  # pixels smaller than the motion would only be more
        resolution = int(min(max(float((high - low).max()) / growth, FEWEST_PIXELS), resolution))
    ldi = body.ldi = body.render(view.trajectories, mesh.triangles, view.near, low, high, resolution)
    pixels = ldi.low, ldi.pixel, ldi.shape, ldi.first_pixel, ldi.pixel_start, ldi.depth, ldi.triangle
    about = view.near, view.spheres, view.bulk, mesh.largest_aura, growth, body.way_out, mesh.solids
    body.image = Image(*pixels, *about, view.domain, view.cells, settings.body_search == BODY_SEARCHES[1])


def move_bodies(body: BodyContact, cloth: Cloth, t0: float, t1: float) -> None:
    """Where the bodies' vertices near the cloth are at t0, and their motion to t1, unless that is known."""
    known, body.moved = body.moved, (body.view, t0, t1)
    if known is not None and known[0] is body.view and known[1:] == (t0, t1):
        return
    for c, first, used in zip(body.mesh.colliders, body.mesh.starts, body.view.used, strict=False):
        if len(used):
            move(c.x, cloth.origin, first, used, t0, t1, body.bodies.motions)
