# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenes that prove contact, as plain arrays: those of Bigliani and Eischen 2000 (strip, tablecloth, node), of Huh,
Metaxas and Badler 2001 (cloth over a rod, balls on held cloth), and heaps, knots and folds that others are known for.

Fabrics are the presets as they are. A scene's time runs from 0, its frames from 1, 24 a second. What pinches cloth is in
`pinch_scenes`.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

sys.path[:0] = [str(Path(__file__).resolve().parent.parent / "tests" / "solver")]

import drapemeter  # noqa: E402
import naive  # noqa: E402
from fuzz import FRAME, turn  # noqa: E402
from scipy.spatial import ConvexHull  # noqa: E402
from solids import box, torus  # noqa: E402
from taffeta.solver.model import Collider, Garment  # noqa: E402

PARTS = 8  # of a frame, in which bodies and pins go straight on
AURA = 0.002  # [m] of bodies
G = 9.81


class Solid(NamedTuple):
    """A body of a scene."""

    name: str
    place: Callable[[float], np.ndarray]  # its vertices (m, 3) [m] at a time [s]
    triangles: np.ndarray
    friction: float = 0.3
    restitution: float = 0.0

    def over(self, frame: int) -> Collider:
        """The body from frame - 1 to this one."""
        x = np.stack([self.place(time) for time in _times(frame)])
        return Collider(self.name, x, self.triangles, self.friction, self.restitution, AURA)


class Pinch(NamedTuple):
    """How bodies of a scene close on cloth; see `pinch_scenes`."""

    capsules: Callable[[float], list]  # what they are made of at a time [s]
    held: range  # frames in which they stand still
    apart: int  # frame from which nothing may be crossed any more


class Scene(NamedTuple):
    """A shot that has to come out without a crossing."""

    name: str
    garments: list[Garment]
    solids: list[Solid]
    frames: int
    seed: str = ""  # what whoever proposed it says that it took
    pose: Callable[[float], np.ndarray] | None = None  # where pins are at a time [s] (n, 3) [m]; None: where they start
    velocity: np.ndarray | None = None  # (n, 3) [m/s] at the start; None: at rest
    pinch: Pinch | None = None

    def colliders(self, frame: int) -> tuple[Collider, ...]:
        """All bodies from frame - 1 to this one."""
        return tuple(solid.over(frame) for solid in self.solids)

    def targets(self, frame: int) -> np.ndarray:
        """The pose from frame - 1 to this one, (s + 1, n, 3) [m]."""
        if self.pose is None:
            return np.stack(2 * [np.concatenate([garment.x_start for garment in self.garments])])
        return np.stack([self.pose(time) for time in _times(frame)])


def _times(frame: int) -> np.ndarray:
    return FRAME * (frame - 1 + np.linspace(0.0, 1.0, PARTS + 1))


def still(name: str, mesh, at=(0.0, 0.0, 0.0), friction: float = 0.3, restitution: float = 0.0) -> Solid:
    """A body that never moves."""
    x = mesh[0] + np.array(at)
    return Solid(name, lambda time: x, mesh[1], friction, restitution)


def floor(friction: float = 0.3) -> Solid:
    """The ground, whose aura ends at height 0."""
    return still("Floor", box((4.0, 4.0, 0.2), (0.0, 0.0, -0.1 - AURA)), friction=friction)


def cut(name: str, columns: int, rows: int, edge: float, fabric: str = "Cotton", **changes) -> Garment:
    """A sheet about the origin of columns x rows vertices, `edge` [m] apart, cut from a preset's fabric."""
    values = drapemeter.fabric(fabric) | {"name": name, "self_collision": True} | changes
    size = (columns - 1) * edge, (rows - 1) * edge
    garment = naive.sheet(columns, rows, *size, "alternating", **values)
    x = garment.x - 0.5 * np.array([*size, 0.0])
    return garment._replace(x=x, x_start=x)


def put(garment: Garment, turned=(0.0, 0.0, 0.0), at=(0.0, 0.0, 0.0)) -> Garment:
    """The garment turned about the origin by a vector [rad], then moved [m]."""
    return garment._replace(x_start=garment.x_start @ turn(np.array(turned, float)).T + np.array(at))


def ease(time: float, first: float, last: float) -> float:
    """0 before `first` [s], 1 after `last`, a half of a cosine in between."""
    return 0.5 - 0.5 * np.cos(np.pi * np.clip((time - first) / (last - first), 0.0, 1.0))


def rod(radius: float, length: float):
    """A closed cylinder along y, about the origin."""
    x, triangles = drapemeter.turned(
        [(0, 0.5 * length), (radius, 0.5 * length), (radius, -0.5 * length), (0, -0.5 * length)]
    )
    return x @ turn(np.array([0.5 * np.pi, 0.0, 0.0])).T, triangles


def strip() -> Scene:
    """A strip that stands on the floor, held there, and comes down between two feeders: it folds layer on layer."""
    garment = cut("Strip", 125, 3, 0.005)
    x = garment.x[:, [2, 1, 0]] - [0.0, 0.0, garment.x[:, 0].min()]
    height = x[:, 2]
    uneven = np.sin(55.0 * height) + 0.5 * np.sin(140.0 * height + 1.0) * (1.0 + 60.0 * x[:, 1])
    aside = 0.002 * uneven * np.exp(-height / 0.06) * (height > 0.003)
    start = x + np.stack([aside, np.zeros_like(aside), np.full_like(aside, 0.0005)], axis=1)
    garment = garment._replace(x_start=start, pin=(height < 1e-9).astype(float))
    wall = box((0.02, 0.1, 0.7))
    feeders = [still(name, wall, (side * 0.018, 0.0, 0.42), 0.0) for name, side in (("Left", -1), ("Right", 1))]
    return Scene("strip between feeders (G5)", [garment], [floor(), *feeders], 48, "14 hours")


def tablecloth() -> Scene:
    """A tablecloth that lies on a box off its middle, without friction: it slides off and crumples on the floor."""
    garment = put(cut("Tablecloth", 25, 25, 0.01, friction=0.0), (0.0, 0.0, 0.2), (0.045, 0.03, 0.102))
    block = still("Box", box((0.12, 0.16, 0.1)), (0.0, 0.0, 0.05 - AURA), 0.0)
    return Scene("tablecloth off a box (G5)", [garment], [floor(0.0), block], 60, "9 hours")


def node() -> Scene:
    """Three nodes with next to nothing between them that bounce for ten seconds in an icosahedron, none lost.

    The triangle that they span goes through a face as soon as one of them is outside.
    """
    x = 0.05 * np.array([[1.0, 0.0, 0.0], [-0.5, 0.8, 0.0], [-0.5, -0.8, 0.0]])
    loose = {"stretch_stiffness": 1e-6, "shear_stiffness": 1e-6, "bending_stiffness": 0.0, "damping": 0.0}
    garment = naive.garment(x, [[0, 1, 2]], name="Nodes", mass=10.0, thickness=1e-4, friction=0.0, **loose)
    golden = 0.5 + 0.5 * np.sqrt(5.0)
    flat = np.array([[0.0, i, j * golden] for i in (-1, 1) for j in (-1, 1)])
    corners = 0.15 * np.concatenate([np.roll(flat, k, axis=1) for k in range(3)])
    hull = ConvexHull(corners)
    p = corners[hull.simplices]
    inward = np.einsum("td,td->t", np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]), p[:, 0]) < 0.0
    faces = np.where(inward[:, None], hull.simplices, hull.simplices[:, ::-1]).astype(np.int32)
    velocity = np.array([[0.7, 0.4, 0.9], [-0.9, 0.2, 0.5], [0.1, -1.2, -0.4]])
    solid = still("Icosahedron", (corners, faces), friction=0.0, restitution=1.0)
    return Scene("three free nodes in an icosahedron (G5)", [garment], [solid], 240, "not told", velocity=velocity)


def over_rod(*fabrics: str) -> Scene:
    """Sheets on a rod without friction, each to one side: they slide off, over each other and into folds."""
    places = ((0.05, 0.0, 0.223), (-0.04, 0.02, 0.235))
    garments = [
        put(cut(fabric, 31, 31, 0.01, fabric), (0.0, 0.0, 0.3 * k), places[k]) for k, fabric in enumerate(fabrics)
    ]
    solid = still("Rod", rod(0.02, 0.5), (0.0, 0.0, 0.2), 0.0)
    took = {"Silk": "0.36 s a step of 0.5 ms", "Denim": "0.22 s a step of 0.1 ms"}
    told = took[fabrics[0]] if len(fabrics) == 1 else "not told"
    return Scene(f"{' on '.join(fabrics[::-1]).lower()} over a rod (H10)", garments, [floor(), solid], 48, told)


def balls(fabric: str) -> Scene:
    """Three balls that fall on a sheet held by its corners over a fourth, and are thrown up by it again."""
    garment = cut(fabric, 41, 41, 0.01, fabric)
    held = (np.abs(garment.x[:, :2]) > 0.185).all(axis=1)
    garment = put(garment, at=(0.0, 0.0, 0.3))._replace(pin=held.astype(float))
    ball = drapemeter.ball(0.04, 16)
    solids = [still("Fixed", drapemeter.ball(0.05, 16), (0.02, 0.01, 0.17))]
    for k, (x, y, high) in enumerate(((-0.07, 0.03, 0.12), (0.06, -0.07, 0.2), (0.05, 0.09, 0.3))):
        at = np.array([x, y, 0.29])
        place = lambda time, at=at, high=high: ball[0] + at + [0.0, 0.0, _bounce(time, high)]  # noqa: E731
        solids.append(Solid(f"Ball {k + 1}", place, ball[1]))
    told = {"Silk": "1.22 s a step of 0.5 ms", "Denim": "1.15 s a step of 0.1 ms"}[fabric]
    return Scene(f"balls on held {fabric.lower()} (H10)", [garment], solids, 48, told)


def _bounce(time: float, high: float, deep: float = 0.05) -> float:
    """Height [m] of what falls from `high`, goes `deep` below 0 as on a spring, and is thrown up again."""
    fall, speed = np.sqrt(2.0 * high / G), np.sqrt(2.0 * G * high)
    below = np.pi * deep / speed
    phase = (time + fall) % (2.0 * fall + below) - fall
    return high - 0.5 * G * phase**2 if phase < fall else -deep * np.sin(speed / deep * (phase - fall))


def funnel() -> Scene:
    """A sheet that is pulled through a ring by its middle."""
    garment = put(cut("Sheet", 31, 31, 0.014), at=(0.0, 0.0, 0.034))
    held = np.linalg.norm(garment.x, axis=1) < 0.018
    start, down = garment.x_start, np.array([0.0, 0.0, -1.0])
    ring = still("Ring", torus(64, 32, 0.13, 0.03))
    pose = lambda time: start + 0.45 * ease(time, 0.1, 1.9) * down  # noqa: E731
    return Scene("sheet pulled through a ring", [garment._replace(pin=held.astype(float))], [ring], 48, pose=pose)


def ribbons() -> Scene:
    """Eight ribbons that fall on end, side by side, into a pile."""
    found = []
    for k in range(8):
        garment = cut(f"Ribbon {k + 1}", 61, 4, 0.012, "Silk")
        x = garment.x[:, [2, 1, 0]]
        wave = 0.003 * np.sin(14.0 * x[:, 2] + k) + 0.002 * np.sin(31.0 * x[:, 2] + 2.0 * k)
        start = x + np.stack([wave, 0.0 * wave, 0.0 * wave], axis=1)
        garment = garment._replace(x_start=start)
        found.append(
            put(garment, (0.0, 0.0, 0.1 * np.sin(k)), (0.016 * (k - 3.5), 0.01 * np.cos(3 * k), 0.38 + 0.03 * (k % 3)))
        )
    return Scene("pile of eight ribbons", found, [floor()], 60)


def towel() -> Scene:
    """A towel held at both ends that is wrung by four turns, and back."""
    garment = cut("Towel", 41, 9, 0.015)
    x = garment.x
    ends = np.abs(x[:, 0]) > 0.295
    right = ends & (x[:, 0] > 0.0)

    def pose(time):
        wrung = ease(time, 0.0, 2.5) - ease(time, 2.5, 5.0)
        there = x.copy()
        there[right] = x[right] @ turn(np.array([8.0 * np.pi * wrung, 0.0, 0.0])).T - [0.18 * wrung, 0.0, 0.0]
        return there

    return Scene("towel wrung by four turns and back", [garment._replace(pin=ends.astype(float))], [], 126, pose=pose)


def sheets() -> Scene:
    """Ten sheets that fall on each other."""
    found = []
    for k in range(10):
        garment = cut(f"Sheet {k + 1}", 13, 13, 0.02)
        garment = put(garment, (0.05 * np.sin(2.0 * k), 0.05 * np.cos(3.0 * k), 0.0))
        found.append(put(garment, (0.0, 0.0, 0.6 * k), (0.02 * np.sin(k), 0.02 * np.cos(k), 0.03 + 0.035 * k)))
    block = still("Box", box((0.12, 0.12, 0.016)), (0.0, 0.0, 0.008 - AURA))
    return Scene("ten sheets dropped on each other", found, [floor(), block], 36)


SCENES: dict[str, Callable[[], Scene]] = {
    "strip": strip,
    "tablecloth": tablecloth,
    "node": node,
    "rod-silk": lambda: over_rod("Silk"),
    "rod-denim": lambda: over_rod("Denim"),
    "rod-both": lambda: over_rod("Denim", "Silk"),
    "balls-silk": lambda: balls("Silk"),
    "balls-denim": lambda: balls("Denim"),
    "funnel": funnel,
    "ribbons": ribbons,
    "towel": towel,
    "sheets": sheets,
}
