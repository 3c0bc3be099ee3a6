# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth between bodies that go into each other and apart again: spheres (Bargmann 2003, 7.3), and limbs of a figure that
intersects itself, as figures do at elbows, knees and armpits.

Bodies are made of capsules, so that it can be told on paper what is between two of them.
"""

from collections.abc import Callable

import drapemeter
import numpy as np
from contact_scenes import AURA, Pinch, Scene, Solid, cut, ease, put
from fuzz import FRAME, turn
from taffeta.solver.model import Garment

Capsule = tuple[np.ndarray, np.ndarray, float]  # ends of its axis [m], radius [m] with the aura


def capsule_mesh(length: float, radius: float, around: int = 40, rings: int = 8):
    """A closed capsule along z about the origin, smaller than `radius` by the aura."""
    angle = np.linspace(0.0, 0.5 * np.pi, rings + 1)
    inner = radius - AURA
    cap = np.stack([inner * np.sin(angle), 0.5 * length + inner * np.cos(angle)], axis=1)
    side = [(inner, height) for height in np.linspace(0.5, -0.5, max(round(length / (0.3 * radius)), 2))[1:-1] * length]
    return drapemeter.turned([*cap, *side, *(cap * [1, -1])[::-1]], around)


def body(name: str, capsules: Callable[[float], list[Capsule]]) -> Solid:
    """One body of capsules that move as rigid pieces."""
    meshes = [capsule_mesh(float(np.linalg.norm(q - p)), r) for p, q, r in capsules(0.0)]
    starts = np.cumsum([0, *(len(x) for x, _ in meshes)])
    triangles = np.concatenate([part + first for (_, part), first in zip(meshes, starts, strict=False)])

    def place(time):
        found = [x @ _along(q - p).T + 0.5 * (p + q) for (x, _), (p, q, _) in zip(meshes, capsules(time), strict=True)]
        return np.concatenate(found)

    return Solid(name, place, triangles.astype(np.int32))


def _along(way: np.ndarray) -> np.ndarray:
    """(3, 3) a rotation that takes z to a direction."""
    length = float(np.linalg.norm(way))
    if length == 0.0:
        return np.eye(3)
    axis = np.cross([0.0, 0.0, 1.0], way / length)
    sine = float(np.linalg.norm(axis))
    return (
        turn(axis / sine * np.arctan2(sine, way[2] / length))
        if sine > 1e-12
        else np.diag([1.0, np.sign(way[2]), np.sign(way[2])])
    )


def tube(name: str, low: float, high: float, radii, counts: tuple[int, int], fabric: str = "Cotton") -> Garment:
    """A garment round z, held at its upper rim; `radii`: half width and depth [m] at the lower and the upper rim."""
    around, rows = counts
    part, angle = np.meshgrid(np.linspace(0.0, 1.0, rows), np.arange(around) * 2 * np.pi / around, indexing="ij")
    (a, b), (c, d) = radii
    wide, deep = a + part * (c - a), b + part * (d - b)
    x = np.stack([wide * np.cos(angle), deep * np.sin(angle), low + part * (high - low)], axis=-1).reshape(-1, 3)
    i, j = (k.ravel() for k in np.mgrid[0 : rows - 1, 0:around])
    k = (j + 1) % around
    quads = np.stack([i * around + j, i * around + k, (i + 1) * around + k, (i + 1) * around + j], axis=1)
    garment = drapemeter.cut(x, quads, drapemeter.fabric(fabric), name=name, self_collision=True)
    return garment._replace(uv=None, pin=(part.ravel() == 1.0).astype(float))


def _pinch(name, garment, solids, capsules, seconds, times, seed=""):
    """A scene whose bodies stand still from times[0] to times[1] [s] and no longer touch from times[2] on."""
    held = range(round(times[0] / FRAME) + 1, round(times[1] / FRAME) + 1)
    return Scene(
        name, [garment], solids, round(seconds / FRAME), seed, pinch=Pinch(capsules, held, round(times[2] / FRAME))
    )


def spheres(columns: int = 31, edge: float = 0.012, pace: float = 1.0) -> Scene:
    """A sphere closes on another that a sheet lies on, goes a third of its size into it, and rises again."""
    garment = put(cut("Sheet", columns, columns, edge), at=(0.0, 0.0, 0.122))
    low, starts, stops = np.zeros(3), (0.8 / pace, 1.6 / pace), (2.6 / pace, 3.6 / pace)

    def high(time):
        return np.array([0.01, 0.0, 0.36 - 0.18 * ease(time, *starts) + 0.22 * ease(time, *stops)])

    def capsules(time):
        return [(low, low, 0.12), (high(time), high(time), 0.12)]

    solids = [body("Lower", lambda time: capsules(time)[:1]), body("Upper", lambda time: capsules(time)[1:])]
    times = starts[1], stops[0], 3.5 / pace
    name = "two spheres close on a sheet (B11)"
    return _pinch(name, garment, solids, capsules, 4.25 / pace, times, "not made, only drawn")


def arm() -> Scene:
    """An arm that is pressed 5 cm into the side of a torso, with a shirt in between."""
    torso = np.array([0.0, 0.0, 0.06]), np.array([0.0, 0.0, 0.42]), 0.13
    shoulder = np.array([0.235, 0.0, 0.47])

    def capsules(time):
        angle = np.radians(20.0 - 42.0 * (ease(time, 0.4, 1.1) - ease(time, 2.1, 2.8)))
        return [torso, (shoulder, shoulder + 0.3 * np.array([np.sin(angle), 0.0, -np.cos(angle)]), 0.045)]

    garment = tube("Shirt", 0.12, 0.42, ((0.15, 0.15), (0.145, 0.145)), (60, 20))
    return _pinch("arm pressed into a torso", garment, [body("Figure", capsules)], capsules, 3.5, (1.1, 2.1, 2.8))


def leg() -> Scene:
    """A leg that comes at a skirt from outside and goes 4 cm into the leg inside."""
    hips = [np.array([side * 0.08, 0.0, 0.5]) for side in (-1.0, 1.0)]
    down = np.array([0.0, 0.0, -0.4])

    def capsules(time):
        pressed = ease(time, 0.4, 1.0) - ease(time, 2.0, 2.6)
        foot = np.array([0.38 - 0.24 * pressed, -0.2, 0.22])
        pelvis = np.array([-0.04, 0.0, 0.53]), np.array([0.04, 0.0, 0.53]), 0.09
        return [pelvis, *((hip, hip + down, 0.055) for hip in hips), (foot, foot + [0.0, 0.4, 0.1], 0.05)]

    garment = tube("Skirt", 0.16, 0.52, ((0.24, 0.22), (0.15, 0.11)), (72, 24))
    return _pinch("leg pushed into a skirt", garment, [body("Figures", capsules)], capsules, 3.5, (1.0, 2.0, 2.6))


SCENES: dict[str, Callable[[], Scene]] = {"spheres": spheres, "arm": arm, "leg": leg}


def depth(scene: Scene, x: np.ndarray, frame: int) -> np.ndarray:
    """(n,) how deep x is in that capsule of the scene that it is second deepest in [m]; above 0 it is between two."""
    depths = []
    for p, q, r in scene.pinch.capsules(FRAME * frame):
        way = q - p
        along = np.clip((x - p) @ way / max(way @ way, 1e-30), 0.0, 1.0)
        depths.append(r - np.linalg.norm(x - p - along[:, None] * way, axis=1))
    return np.sort(depths, axis=0)[-2]
