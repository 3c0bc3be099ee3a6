# SPDX-License-Identifier: GPL-3.0-or-later
"""Strips of cloth that buckle and slip, after Romero, Ly, Rasheed, Charrondière, Lazarus, Neukirch and
Bertails-Descoubes 2021 (Physical validation of simulators in computer graphics, ACM TOG 40(4)).

Two columns of each strip are held. Its first free hinge bends half a cell on each side, so the clamp is half a cell out.
"""

import naive
import numpy as np
import triangulated
from scipy.linalg import eigh
from taffeta.solver.build import build
from taffeta.solver.model import Collider, Settings
from taffeta.solver.step import advance

G = 9.81
VACUUM = Settings(air_drag=0.0, sleep_speed=0.0)
SIGMA = 0.15  # [kg/m2]
AURA = 0.002  # [m] of the floor


def _strip(length, cells, rows, width, diagonals, **changes):
    """A strip along x with its clamp at x = half a cell, and which particles are held."""
    cell = length / (cells + 0.5)
    columns = cells + 2
    held = np.arange(columns * rows) < 2 * rows
    sheet = triangulated.sheet if diagonals in triangulated.WAYS else naive.sheet
    garment = sheet(columns, rows, (columns - 1) * cell, width, diagonals, pin=held, mass=SIGMA, **changes)
    return garment, held, np.maximum(garment.x[:, 0] - 0.5 * cell, 0.0) / length


def cantilever(gamma, cells=24, diagonals="same", rows=4, frames=250, **changes):
    """How a strip that bends under its own weight comes to rest: drop over reach and reach over length of its tip."""
    fabric = {"bending_stiffness": SIGMA * G / gamma, "stretch_stiffness": 2e4, "shear_stiffness": 5e3} | changes
    cell = 1.0 / (cells + 0.5)
    garment, _, along = _strip(1.0, cells, rows, (rows - 1) * cell, diagonals, damping=20.0, **fabric)
    cloth, state = build([garment], VACUUM)
    for frame in range(frames):
        before = state.x.copy()
        advance(cloth, state, naive.still(garment.x), frame, VACUUM)
        state.v[:] *= 0.8
        if frame > 20 and np.abs(state.x - before).max() < 1e-6:
            break
    tip = (state.x + cloth.origin)[along == along.max()].mean(axis=0)
    reach = tip[0] - 0.5 * cell
    return -tip[2] / reach, reach


def on_edge(gamma, width=0.1, cells=24, rows=4, diagonals="same", **changes):
    """A strip of 1 m that stands on its edge, clamped at one end, its tip aslant by 2 % of its length."""
    fabric = {"bending_stiffness": SIGMA * G / gamma, "stretch_stiffness": 2e4, "shear_stiffness": 5e3} | changes
    garment, held, along = _strip(1.0, cells, rows, width, diagonals, **fabric)
    x = garment.x[:, [0, 2, 1]]
    return garment._replace(x=x, x_start=x + np.outer(np.where(held, 0.0, 0.02 * along**2), [0, 1, 0]))


def fallen(gamma, frames=400, **changes):
    """How far the tip of a strip on its edge has gone aside at rest [m]; velocities are cut by a tenth in each frame."""
    garment = on_edge(gamma, **changes)
    cloth, state = build([garment], VACUUM)
    for frame in range(frames):
        before = state.x.copy()
        advance(cloth, state, naive.still(garment.x), frame, VACUUM)
        state.v[:] *= 0.9
        if frame > 60 and np.abs(state.x - before).max() < 1e-6:
            break
    tip = garment.x[:, 0] > garment.x[:, 0].max() - 1e-9
    return float(abs((state.x + cloth.origin)[tip, 1].mean()))


def critical_weight(**changes):
    """Gamma at which the strip that hangs in its plane has no stiffness left against leaving it.

    Springs under the tension t and of the length l resist going aside by t / l, hinges as they do; the tension goes with
    the weight and does not feel the rigidity, so both make an eigenvalue problem.
    """
    settings = VACUUM._replace(iterations=60, tolerance=1e-6)
    garment = on_edge(1.0, **changes)
    cloth, state = build([garment._replace(x_start=garment.x)], settings)
    for frame in range(200):
        before = state.x.copy()
        advance(cloth, state, naive.still(garment.x), frame, settings)
        state.v[:] *= 0.8
        if frame > 20 and np.abs(state.x - before).max() < 1e-9:
            break
    i, j = cloth.edges.T
    length = np.linalg.norm(state.x[j] - state.x[i], axis=1)
    longer = length - cloth.rest_length
    tension = longer * cloth.edge_stiffness
    for one, other in (cloth.couples.T, cloth.couples.T[::-1]):
        np.add.at(tension, one, cloth.coupling * longer[other])
    aside, bent = np.zeros((2, len(state.x), len(state.x)))
    for a, b, sign in ((i, i, 1), (j, j, 1), (i, j, -1), (j, i, -1)):
        np.add.at(aside, (a, b), sign * tension / length)
    for ends, weight, stiffness in zip(cloth.bend_stencils, cloth.bend_weight, cloth.bend_stiffness, strict=True):
        bent[np.ix_(ends, ends)] += np.outer(weight, weight) * stiffness
    free = np.ix_(*2 * [cloth.inv_mass > 0])
    return float(1.0 / eigh(-aside[free], bent[free], eigvals_only=True).max())


def pressed(friction, settings, most=0.33, frames=66, seconds=20.0, cells=12, length=0.1):
    """A strip that stands clamped over a floor, pressed down by up to `most` of its length; no gravity.

    Returns (frames, 2) by how much of its length it is pressed down, and where its tip is in that. Frames are long, so the tip
    creeps a little in each before friction knows how hard it is pressed there.
    """
    fabric = {"bending_stiffness": 1e-5, "stretch_stiffness": 100.0, "shear_stiffness": 25.0, "damping": 5.0}
    garment, held, along = _strip(length, cells, 3, 2.0 * length / cells, "same", friction=friction, **fabric)
    x = np.stack([0.0 * along, garment.x[:, 1], garment.x[-1, 0] - garment.x[:, 0] + AURA], axis=1)
    bulge = np.where(held, 0.0, 0.02 * length * np.sin(np.pi * along) ** 2)
    cloth, state = build([garment._replace(x=x, x_start=x + bulge[:, None] * [1, 0, 0])], settings)
    corners = np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]], float)
    floor = Collider(
        "Floor", corners[None].repeat(2, axis=0), np.array([[0, 1, 2], [0, 2, 3]], np.int32), friction, 0, AURA
    )
    found, pose = [], x
    for frame in range(frames):
        down = most * (frame + 1) / frames
        to = x - [0, 0, down * length]
        targets = np.stack([pose, to])
        pressing = naive.still(targets, duration=seconds / frames, gravity=(0, 0, 0), colliders=[floor])
        advance(cloth, state, pressing, frame, settings)
        found.append((down, (state.x + cloth.origin)[-3:, 0].mean() / length))
        pose = to
    return np.array(found)


def slips_at(path):
    """By how much a strip is pressed down (`pressed`) when its tip begins to slide: more than 0.0001 of it in a frame.

    While it sticks it creeps by less than a tenth of that, and when it slides it is some frames before it is fast.
    """
    sliding = (np.abs(np.diff(path[:, 1])) > 1e-4) & (path[1:, 0] > 0.03)
    return float(path[1 + sliding.argmax(), 0]) if sliding.any() else np.inf
