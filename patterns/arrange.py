# SPDX-License-Identifier: GPL-3.0-or-later
"""Panels laid around a body, off it and off each other, as long and as wide as they are cut.

A panel is rolled about a part of the body, as arrangement points do in programs for patterns: across by its way along a convex curve
around that part, up along its axis, so that no length changes. Where that leads into the body, as into an arm that is held out, it is
bent less and goes straight on; flat, before everything, in the end.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from mathutils.bvhtree import BVHTree
from mathutils.geometry import convex_hull_2d

from . import places
from .body_parts import Figure

STEP = 0.002  # [m] between points of a curve around a part
ROUND = 96  # corners of the circle that rounds it
BETWEEN = 0.02  # [m] between panels beside each other
WIDER = 0.2  # [m] by which a curve is made larger at most, so that panels beside each other find room
LOOSER = 0.0, 0.02, 0.04  # [m] that they are then moved away where something is in the way
BENDS = np.pi, np.radians(90.0), np.radians(60.0), np.radians(40.0), np.radians(20.0), 0.0  # tried in this order
FARTHER = 0.1, 0.2, 0.35, 0.5  # [m] that a flat panel is moved away where it is needed
ALONG = np.arange(0.0, 0.31, 0.03)  # [m] by which what is around a limb is moved to its end
CLEAR = 0.5  # of the gap that every point keeps
ROWS = 40  # that a panel's width is looked for in
ANGLES = {"FRONT": 0.0, "LEFT": 0.5 * np.pi, "BACK": np.pi, "RIGHT": -0.5 * np.pi}  # about the trunk
STRAIGHT = 0.03  # of its width: border that lies so near to a panel's side is straight there


class Piece(NamedTuple):
    """A panel as it is cut."""

    name: str
    flat: np.ndarray  # (k, 2) [m] seen from outside: to the right, up
    triangles: np.ndarray  # (t, 3) counter-clockwise
    rim: np.ndarray  # (r,) vertices of its border


class NoRoom(ValueError):
    """A panel crosses something wherever it is laid."""

    def __init__(self, panel: str, place: str):
        super().__init__(
            f"panel '{panel}' finds no room at {place} that is free of it; choose another place or a smaller Gap, or hold its limbs out"
        )


class Curve(NamedTuple):
    """A convex curve around a part of a body, seen along its axis, from its back round by its front."""

    points: np.ndarray  # (m, 2) [m] to the right of who looks at its front, and to its front
    way: np.ndarray  # (m,) [m] along it
    angle: np.ndarray  # (m,) [rad] at which a point lies, from the front to the right


class Ring(NamedTuple):
    """What is laid around one part."""

    origin: np.ndarray  # (3,) [m] on its axis
    frame: np.ndarray  # (3, 3) rows: right, up and out for who looks at its front
    around: np.ndarray  # (k, 2) [m] convex hull of the part across the axis, right and out
    along: np.ndarray  # (s,) [m] by which it may be moved to the part's end


class Obstacles:
    """What no panel may cross: a body, and the panels that stand already."""

    def __init__(self, x: np.ndarray, triangles: np.ndarray, gap: float):
        self._body, self._gap = BVHTree.FromPolygons(x.tolist(), triangles.tolist()), gap
        self._panels: list[BVHTree] = []

    def add(self, x: np.ndarray, triangles: np.ndarray) -> None:
        """A panel stands at x (k, 3)."""
        self._panels.append(BVHTree.FromPolygons(x.tolist(), triangles.tolist()))

    def is_free(self, x: np.ndarray, triangles: np.ndarray, out: np.ndarray) -> bool:
        """Whether a panel at x (k, 3) [m] crosses nothing, is off the body by part of the gap, and not inside it, as a ray along `out` (3,) tells."""
        own, points = BVHTree.FromPolygons(x.tolist(), triangles.tolist()), x.tolist()
        if any(tree.overlap(own) for tree in (self._body, *self._panels)):
            return False
        if any(self._body.find_nearest(point, CLEAR * self._gap)[0] is not None for point in points):
            return False
        return not self._is_inside(x[0], out)

    def _is_inside(self, point, direction) -> bool:
        count, at = 0, point
        while (hit := self._body.ray_cast(at.tolist(), direction.tolist())[0]) is not None and count < 1000:
            count, at = count + 1, np.array(hit) + 1e-5 * direction
        return count % 2 == 1


def arrange(pieces: list[Piece], wished: list[str], body: Figure, surface, gap: float) -> list[np.ndarray | None]:
    """Where panels stand around a body, (k, 3) [m] each; None for those that stay.

    Parameters
    ----------
    pieces : the panels, turned as they are to stand
    wished : of each an identifier in `places.PLACES`
    body : its parts
    surface : points (n, 3) [m] and triangles (t, 3) of the body, which no panel may cross
    gap : [m] off the body

    Raises
    ------
    ValueError
        The body has no such part, or a panel finds no room (`NoRoom`): a sentence with the panel.
    """
    obstacles, found = Obstacles(*surface, gap), [None] * len(pieces)
    groups: dict[str, dict[str, list[int]]] = {}
    for k, place in enumerate(wished):
        if place != places.STAY:
            groups.setdefault(_ring_of(place), {}).setdefault(place, []).append(k)
    for name, group in groups.items():
        for place, numbers in group.items():
            own = [pieces[k] for k in numbers]
            turn = places.order([piece.name for piece in own], [_middle_side(piece) for piece in own], "BACK" in place)
            group[place] = [numbers[k] for k in turn]
        ring = _ring(name, body, {place: [pieces[k] for k in numbers] for place, numbers in group.items()})
        for place, numbers in group.items():
            own = [pieces[k] for k in numbers]
            for k, x in zip(numbers, _laid(ring, place, own, group, pieces, body, obstacles, gap), strict=True):
                found[k] = x
                obstacles.add(x, pieces[k].triangles)
    return found


def _ring_of(place: str) -> str:
    """What a place is around: an arm, a leg, NECK, WAIST, the trunk from the shoulders on, "", or from the waist on, "LOW"."""
    if place.endswith(("ARM", "LEG")) or place in ("NECK", "WAIST"):
        return place
    return "LOW" if place.endswith("LOW") else ""


def _ring(name: str, body: Figure, group: dict[str, list[Piece]]) -> Ring:
    """The part that panels are laid around, as wide as it is at their height."""
    own = [piece for each in group.values() for piece in each]
    tall = max(np.ptp(piece.flat[:, 1]) for piece in own)
    if name.endswith(("ARM", "LEG")):
        limbs, kind = (body.arms, "arms") if name.endswith("ARM") else (body.legs, "legs")
        if not limbs:
            raise ValueError(
                f"it has not two {kind} that can be told from its trunk, around which '{own[0].name}' is to go; choose another place"
            )
        part = limbs[0 if name.startswith("LEFT") else 1]
        frame = np.array([np.cross(part.up, part.out), part.up, part.out])
        at = (part.x - part.start) @ frame.T
        at = at[at[:, 1] > -tall] if (at[:, 1] > -tall).sum() > 3 else at
        return Ring(part.start, frame, _hull(at[:, [0, 2]]), ALONG)
    part = body.trunk
    frame = np.array([np.cross(part.up, part.out), part.up, part.out])
    at = (np.concatenate([part.x, *(leg.x for leg in body.legs)]) - part.start) @ frame.T
    high = {"NECK": body.neck + tall, "WAIST": body.waist + 0.5 * tall, "LOW": body.waist}.get(name, body.shoulder)
    high -= part.start[2]
    inside = at[(at[:, 1] <= high + 0.01) & (at[:, 1] >= high - tall - 0.01)]
    return Ring(part.start, frame, _hull((inside if len(inside) > 3 else at)[:, [0, 2]]), np.zeros(1))


def _hull(points: np.ndarray) -> np.ndarray:
    """(k, 2) the corners of the convex hull of points, counter-clockwise."""
    return points[convex_hull_2d(points.tolist())]


def curve(around: np.ndarray, away: float) -> Curve:
    """The curve that is `away` [m] from a convex hull (k, 2) everywhere, its corners round."""
    turn = np.linspace(0.0, 2.0 * np.pi, ROUND, endpoint=False)
    circle = away / np.cos(np.pi / ROUND) * np.column_stack([np.cos(turn), np.sin(turn)])
    ring = _hull((around[:, None] + circle).reshape(-1, 2))
    ring = np.concatenate([ring, ring[:1]])
    way = np.append(0.0, np.linalg.norm(np.diff(ring, axis=0), axis=1).cumsum())
    at = np.linspace(0.0, way[-1], max(int(way[-1] / STEP), ROUND), endpoint=False)
    ring = np.column_stack([np.interp(at, way, coordinate) for coordinate in ring.T])
    angle = np.arctan2(*(ring - _middle(around)).T)
    order = np.argsort(angle)
    ring, angle = ring[np.append(order, order[0])], np.append(angle[order], angle[order[0]] + 2.0 * np.pi)
    return Curve(ring, np.append(0.0, np.linalg.norm(np.diff(ring, axis=0), axis=1).cumsum()), angle)


def _middle(points: np.ndarray) -> np.ndarray:
    return 0.5 * (points.min(axis=0) + points.max(axis=0))


def rolled(around: Curve, angle: float, bend: float, across: np.ndarray) -> np.ndarray:
    """(k, 2) [m] what lies `across` (k,) [m] to the right of a curve's point at an angle: along the curve until that has turned by `bend`
    to either side, and straight on from there.
    """
    if bend == 0.0:
        out, right = np.array([np.sin(angle), np.cos(angle)]), np.array([np.cos(angle), -np.sin(angle)])
        return out * (around.points @ out).max() + (_middle(around.points) @ right + across)[:, None] * right
    whole, middle = around.way[-1], np.interp(angle, around.angle, around.way)
    way = np.concatenate([around.way[:-1] + turn * whole for turn in (-1, 0, 1)])
    points = np.tile(around.points[:-1], (3, 1))
    steps = np.diff(points, axis=0)
    heading, between = np.unwrap(np.arctan2(steps[:, 1], steps[:, 0])), 0.5 * (way[1:] + way[:-1])
    bent = np.abs(heading - np.interp(middle, between, heading)) <= bend
    bent = between[bent & (np.abs(between - middle) <= 0.5 * whole)]
    own = np.clip(middle + across, bent.min(), bent.max())
    straight, beyond = np.interp(own, between, heading), (middle + across - own)[:, None]
    on_curve = np.column_stack([np.interp(own, way, coordinate) for coordinate in points.T])
    return on_curve + beyond * np.column_stack([np.cos(straight), np.sin(straight)])


def _laid(ring, place, own, group, pieces, body, obstacles, gap) -> list[np.ndarray]:
    """Where panels of one place stand, the first of all ways in which they are free."""
    angle = _angle(place)
    for bend, away in _ways(ring, group, pieces, gap):
        around = curve(ring.around, away)
        for along in ring.along:
            laid = _beside_each_other(ring, around, place, own, (angle, bend, along), body, gap)
            if all(obstacles.is_free(x, piece.triangles, ring.frame[2]) for x, piece in zip(laid, own, strict=True)):
                return laid
    name = next(name for identifier, name, _ in places.PLACES if identifier == place)
    raise NoRoom(own[0].name, name)


def _angle(place: str) -> float:
    return np.pi if place in ("NECK", "WAIST") else ANGLES.get(place.removesuffix("_LOW"), 0.0)


def _ways(ring: Ring, group, pieces, gap: float) -> Iterator[tuple[float, float]]:
    """How far panels are bent [rad], and how far away the curve is [m]: all around where they have room beside each other."""
    widths = {place: sum(_width(pieces[k]) + BETWEEN for k in numbers) for place, numbers in group.items()}
    away = next(
        (away for away in np.arange(gap, gap + WIDER, 0.01) if _have_room(curve(ring.around, away), widths)), None
    )
    if away is not None:
        yield from ((np.pi, away + more) for more in LOOSER)
    yield from ((bend, gap) for bend in BENDS[1:])
    yield from ((0.0, gap + farther) for farther in FARTHER)


def _have_room(around: Curve, widths: dict[str, float]) -> bool:
    """Whether panels that are so wide [m] do not reach over each other along a curve."""
    whole = around.way[-1]
    ends = sorted((np.interp(_angle(place), around.angle, around.way), width) for place, width in widths.items())
    after = [*ends[1:], (ends[0][0] + whole, ends[0][1])]
    return all(there - here >= 0.5 * (one + other) for (here, one), (there, other) in zip(ends, after, strict=True))


def _beside_each_other(ring, around, place, own, way, body, gap) -> list[np.ndarray]:
    """(k, 3) of each panel [m]: their row has its middle at the place."""
    angle, bend, along = way
    left = -0.5 * (sum(map(_width, own)) + BETWEEN * (len(own) - 1))
    laid = []
    for piece in own:
        low = piece.flat.min(axis=0)
        across = piece.flat[:, 0] - low[0] + left
        left += _width(piece) + BETWEEN
        at = rolled(around, angle, bend, across)
        up = piece.flat[:, 1] + _height(place, piece, ring, body, gap) - along
        laid.append(ring.origin + np.column_stack([at[:, 0], up, at[:, 1]]) @ ring.frame)
    return laid


def _height(place: str, piece: Piece, ring: Ring, body: Figure, gap: float) -> float:
    """[m] by which a panel is moved up the axis."""
    v = piece.flat[:, 1]
    if place.endswith(("ARM", "LEG")):
        return -_widest_row(piece)
    if place == "NECK":
        return body.neck - ring.origin[2] - v.min()
    if place == "WAIST":
        return body.waist - ring.origin[2] - 0.5 * (v.min() + v.max())
    top = body.waist if place.endswith("LOW") else body.chest if place in ("LEFT", "RIGHT") else body.shoulder + gap
    return top - ring.origin[2] - v.max()


def _width(piece: Piece) -> float:
    return float(np.ptp(piece.flat[:, 0]))


def _widest_row(piece: Piece) -> float:
    """[m] the highest row of a panel that is about as wide as its widest one: below the cap of a sleeve."""
    v = piece.flat[:, 1]
    row = np.minimum((ROWS * (v - v.min()) / max(np.ptp(v), 1e-9)).astype(int), ROWS - 1)
    low, high = np.full(ROWS, np.inf), np.full(ROWS, -np.inf)
    np.minimum.at(low, row, piece.flat[:, 0])
    np.maximum.at(high, row, piece.flat[:, 0])
    wide = np.flatnonzero(high - low > 0.97 * (high - low).max())
    return float(v.min() + (wide.max() + 0.5) / ROWS * np.ptp(v))


def _middle_side(piece: Piece) -> int:
    """On which side a panel's border is straight for longer, as where a body has its middle: 1 right, -1 left, 0 on both."""
    u = piece.flat[piece.rim, 0]
    near = STRAIGHT * np.ptp(u)
    right, left = ((np.abs(u - end) < near).sum() for end in (u.max(), u.min()))
    return 0 if max(right, left) < 1.15 * min(right, left) else 1 if right > left else -1
