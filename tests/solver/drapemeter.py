# SPDX-License-Identifier: GPL-3.0-or-later
"""Cusick's drapemeter (BS 5058, ISO 9073-9): a disc of cloth of 30 cm hangs over a disc of 18 cm, and throws a shadow.

Drape coefficient = (shadow - disc) / (cloth - disc), from 0, limp, to 1, stiff as a board.
"""

import re
from pathlib import Path

import naive
import numpy as np
from taffeta.solver.build import build
from taffeta.solver.ldi.centres import render
from taffeta.solver.model import Collider, Settings
from taffeta.solver.step import advance

PRESETS = Path(__file__).resolve().parents[2] / "presets" / "taffeta_fabric"
CLOTH, TABLE = 0.15, 0.09  # [m] radii
AURA = 0.002  # [m]; the table is that much smaller, so that cloth lies on one of 9 cm
PIXELS = 600  # along the shadow


def fabric(name):
    """Property -> number of a preset, read as text; the names are those of `Garment`."""
    lines = (PRESETS / f"{name}.py").read_text(encoding="utf-8").splitlines()
    found = (re.match(r"cloth\.(\w+?)(?:\.value)? = (\S+)", line) for line in lines)
    return {match[1]: float(match[2]) for match in found if match}


def square(cells, side):
    """Vertices (n, 3) and quads of a square grid about the origin."""
    line = (np.arange(cells + 1) - 0.5 * cells) * side / cells
    x = np.stack([*np.meshgrid(line, line, indexing="ij"), np.zeros((cells + 1, cells + 1))], axis=-1).reshape(-1, 3)
    index = np.arange(len(x)).reshape(cells + 1, cells + 1)
    return x, np.stack([index[:-1, :-1], index[1:, :-1], index[1:, 1:], index[:-1, 1:]], axis=-1).reshape(-1, 4)


def disc(cells, radius=CLOTH):
    """The same of a disc: a grid along the threads, `cells` across, its rim drawn to the circle."""
    x, quads = square(cells, 2 * radius)
    middle = np.linalg.norm(x[quads].mean(axis=1), axis=1)
    used, quads = np.unique(quads[middle < radius * (1 - 0.7 / cells)], return_inverse=True)
    x, quads = x[used], quads.reshape(-1, 4)
    sides = np.sort(np.concatenate([quads[:, [k, (k + 1) % 4]] for k in range(4)]), axis=1)
    edges, count = np.unique(sides, axis=0, return_counts=True)
    rim = np.unique(edges[count == 1])
    x[rim] *= (radius / np.linalg.norm(x[rim], axis=1))[:, None]
    return x, quads


def cut(x, quads, values, height=0.0, **changes):
    """A garment of flat cloth that starts at a height [m]; `values` from `fabric`, but for what rubs in a bend: a disc that is let go all
    at once stays in the first of several shapes then, and this looks for the one that weight and stiffness alone would have.
    """
    values = values | {"bending_damping": 0.0}
    triangles = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])
    sides = np.sort(np.concatenate([quads[:, [k, (k + 1) % 4]] for k in range(4)]), axis=1)
    garment = naive.garment(x, triangles, quads, np.unique(sides, axis=0), x[triangles][..., :2], **(values | changes))
    return garment._replace(x_start=x + [0.0, 0.0, height])


def turned(profile, around=96):
    """A body of revolution, (x, triangles), faces outward: `profile` is (radius, height) from top to bottom, on the axis
    at both ends."""
    radius, height = np.array(profile, float)[1:-1].T
    angle = np.arange(around) * 2 * np.pi / around
    rings = np.stack([np.outer(radius, np.cos(angle)), np.outer(radius, np.sin(angle)),
                      height[:, None].repeat(around, axis=1)], axis=-1).reshape(-1, 3)  # fmt: skip
    i, j = (k.ravel() for k in np.mgrid[0 : len(radius) - 1, 0:around])
    k, top, low = (j + 1) % around, len(rings), len(rings) + 1
    a, b, c, d = i * around + j, (i + 1) * around + j, (i + 1) * around + k, i * around + k
    j, k = np.arange(around), (np.arange(around) + 1) % around
    last = (len(radius) - 1) * around
    triangles = [np.stack(corners, axis=-1) for corners in
                 ((a, b, c), (a, c, d), (j, k, top + 0 * j), (last + k, last + j, low + 0 * j))]  # fmt: skip
    x = np.concatenate([rings, [[0, 0, profile[0][1]], [0, 0, profile[-1][1]]]])
    return x, np.concatenate(triangles).astype(np.int32)


def table(depth=0.01, height=0.08, stem=0.012, foot=0.05):
    """The disc that cloth lies on, its top (the aura's) at height 0, and what it stands on; lengths [m]."""
    radius = TABLE - AURA
    top = [(radius * part, -AURA) for part in np.linspace(0, 1, 7)]
    leg = [(stem, -AURA - depth), (stem, depth - height), (foot, depth - height), (foot, -height)]
    return turned([*top, (radius, -AURA - depth), *leg, (0, -height)])


def ball(radius, rings=32):
    """A sphere about the origin; cloth lies on one of `radius` [m]."""
    angle = np.linspace(0, np.pi, rings + 1)
    return turned((radius - AURA) * np.stack([np.sin(angle), np.cos(angle)], axis=1), 2 * rings)


def hang(garment, body, seconds=5.0, settings=None):
    """Let cloth fall on a body (x, triangles), or on none, and come to rest; returns its positions [m].

    From 1.5 s on a tenth of the velocities is cut in every frame: it comes to rest sooner, and no other shape does.
    """
    settings = settings or Settings()
    cloth, state = build([garment], settings)
    bodies = [] if body is None else [Collider("Body", np.stack([body[0]] * 2), body[1], 0.4, 0.0, AURA)]
    given = naive.still(garment.x_start, colliders=bodies)
    for frame in range(round(24 * seconds)):
        advance(cloth, state, given, frame, settings)
        if frame >= 36:
            state.v[:] *= 0.9
    return state.x + cloth.origin


def coefficient(x, triangles):
    """Cusick's drape coefficient of cloth at x (n, 3) [m]."""
    image = render(x, np.asarray(triangles), x.min(axis=0) - 0.01, x.max(axis=0) + 0.01, PIXELS, 2)
    shadow, held = np.count_nonzero(np.diff(image.pixel_start)) * image.pixel**2, np.pi * TABLE**2
    return (shadow - held) / (np.pi * CLOTH**2 - held)


def folds(x, rest):
    """How many folds run out to the rim: crests of its distance from the axis, as far as they stand out by 3 mm."""
    rim = np.flatnonzero(np.linalg.norm(rest, axis=1) > CLOTH * (1 - 1e-6))
    rim = rim[np.argsort(np.arctan2(rest[rim, 1], rest[rim, 0]))]
    radius = np.linalg.norm(x[rim, :2], axis=1)
    radius = np.roll(radius, -radius.argmin())
    count, low, high, rising = 0, radius[0], radius[0], True
    for r in [*radius[1:], radius[0]]:  # a crest counts when the rim has gone down from it by 3 mm, and up to it
        low, high = min(low, r), max(high, r)
        if rising and r < high - 0.003:
            count, rising, low = count + 1, False, r
        elif not rising and r > low + 0.003:
            rising, high = True, r
    return count
