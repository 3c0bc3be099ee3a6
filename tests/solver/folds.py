# SPDX-License-Identifier: GPL-3.0-or-later
"""Garments that cross themselves: a sleeve through a side, a doubled hem, a collar."""

import numpy as np
from taffeta.solver.untangle.nest import Worn

THICKNESS = 0.002


def lathe(radius, height, columns, bumps=None):
    """Rings of (r,) radii [m] at (r,) heights, and bumps (r,) [m] of waves on them: x (r * columns, 3), triangles."""
    turn = np.arange(columns) * 2 * np.pi / columns
    wave = np.zeros((len(radius), columns)) if bumps is None else bumps[:, None] * np.sin(4.0 * turn)
    r = radius[:, None] + wave
    z = np.broadcast_to(np.asarray(height)[:, None], r.shape)
    x = np.stack((r * np.cos(turn), r * np.sin(turn), z), axis=-1).reshape(-1, 3)
    i, j = (a.ravel() for a in np.meshgrid(np.arange(len(radius) - 1), np.arange(columns), indexing="ij"))
    a, b = i * columns + j, i * columns + (j + 1) % columns
    return x, np.concatenate((np.column_stack((a, a + columns, b + columns)), np.column_stack((a, b + columns, b))))


def worn(name, x, triangles, layer=0):
    return Worn(name, x, triangles, np.full(len(x), THICKNESS), layer, 1.0)


def sleeve_through_side(deep=0.02):
    """A torso and a sleeve beside it, one garment, the sleeve's wrist `deep` [m] in the torso."""
    torso, faces = lathe(np.full(41, 0.15), np.linspace(0.3, -0.3, 41), 62)
    sleeve, more = lathe(np.full(31, 0.05), np.linspace(0.2, -0.25, 31), 22)
    lean = np.radians(-15.0)
    sleeve = sleeve @ np.array([[np.cos(lean), 0, -np.sin(lean)], [0, 1, 0], [np.sin(lean), 0, np.cos(lean)]])
    sleeve[:, 0] += 0.15 - deep - sleeve[:, 0].min()
    return worn("Shirt", np.concatenate((torso, sleeve)), np.concatenate((faces, more + len(torso))))


def doubled_hem(wave=0.004):
    """A skirt's end with its hem turned in, and waves of the hem out through the skirt."""
    outer, inner = np.linspace(0.2, 0.0, 27), np.linspace(0.0, 0.04, 7)[1:]
    radius = np.concatenate((np.full(27, 0.15), np.full(6, 0.147)))
    bumps = np.concatenate((np.zeros(28), np.full(5, wave)))
    return worn("Skirt", *lathe(radius, np.concatenate((outer, inner)), 120, bumps))


def collar(wave=0.006):
    """A neck with its collar turned down, and waves of the collar in through the neck."""
    up, down = np.linspace(-0.15, 0.05, 27), np.linspace(0.05, 0.0, 8)[1:]
    radius = np.concatenate((np.full(27, 0.1), 0.1 + np.linspace(0.002, 0.004, 7)))
    bumps = np.concatenate((np.zeros(28), np.full(6, wave)))
    return worn("Shirt", *lathe(radius, np.concatenate((up, down)), 80, bumps))


def stretch(garment, x):
    """Largest change of an edge's length, in that length."""
    edges = np.unique(np.sort(garment.triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1), axis=0)
    before, after = (np.linalg.norm(y[edges[:, 0]] - y[edges[:, 1]], axis=1) for y in (garment.x, x))
    return float(np.abs(after / before - 1.0).max())
