# SPDX-License-Identifier: GPL-3.0-or-later
"""A heavy cloth falls on a round table: flat in the middle, folded all round. Made for a cage that is fine where it folds."""

import numpy as np

from . import materials, sheet, solids, stage

FRAMES = (1, 100)
SIDE, COUNT = 1.7, 141  # [m]; vertices along it
HEIGHT, RADIUS, THICK = 0.72, 0.5, 0.03  # [m] of the table
AROUND = 96
LINEN = 1.5e-5  # [N m] of the cloth


def add(context, collection):
    """Add a tablecloth of 141 x 141 vertices above a round table; return what was made."""
    table = solids.body(collection, "Table", *_table())
    cloth = sheet.square(
        collection, "Tablecloth", COUNT, SIDE, HEIGHT + 0.02, materials.woven(inside=0.7), turn=np.pi / 8.0
    )
    sheet.make_of(cloth, mass=0.18, thickness=0.002, stretch_stiffness=2500.0, shear_stiffness=60.0)
    sheet.make_of(cloth, bending_stiffness=LINEN, damping=1.0)
    floor, camera = stage.furnish(context, collection, (2.3, -3.0, 2.0), (0.0, 0.0, 0.46), 62.0)
    return stage.Example((cloth,), (table, floor), camera, FRAMES)


def _table():
    """Points [m] and triangles of a round top with a rounded rim, on one leg with a foot."""
    half = 0.5 * THICK
    turn = np.linspace(-0.5 * np.pi, 0.5 * np.pi, 9)
    rim = np.column_stack((RADIUS - half + half * np.cos(turn), HEIGHT - half + half * np.sin(turn)))
    below = [
        (0.24, 0.0),
        (0.24, 0.02),
        (0.06, 0.05),
        (0.05, 0.4),
        (0.06, HEIGHT - THICK - 0.03),
        (0.12, HEIGHT - THICK),
    ]
    top = [(share * rim[-1, 0], HEIGHT) for share in (0.9, 0.75, 0.55, 0.35, 0.15)]
    r, z = np.concatenate((below, rim, top)).T
    angle = np.arange(AROUND) * 2.0 * np.pi / AROUND
    points = np.stack([r[:, None] * np.cos(angle), r[:, None] * np.sin(angle), z[:, None] + 0.0 * angle], -1)
    points = np.concatenate((points.reshape(-1, 3), [(0.0, 0.0, 0.0), (0.0, 0.0, HEIGHT)]))
    i, j = (a.ravel() for a in np.mgrid[0 : len(r) - 1, 0:AROUND])
    k = (j + 1) % AROUND
    a, b, c, d = i * AROUND + j, i * AROUND + k, (i + 1) * AROUND + k, (i + 1) * AROUND + j
    foot, middle, last = len(points) - 2, len(points) - 1, (len(r) - 1) * AROUND
    j, k = np.arange(AROUND), (np.arange(AROUND) + 1) % AROUND
    ends = [
        np.column_stack((np.full(AROUND, foot), k, j)),
        np.column_stack((np.full(AROUND, middle), last + j, last + k)),
    ]
    return points, np.concatenate((np.column_stack((a, b, c)), np.column_stack((a, c, d)), *ends))
