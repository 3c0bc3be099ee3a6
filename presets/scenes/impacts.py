# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth that is shot at cloth, so fast that its zones of impact are parted and solved at once (Huh, Metaxas and Badler 2001)."""

import numpy as np
from mathutils import Euler, Matrix

from . import contact, materials, motions, sheet, stage

COUNT, EDGE = 16, 0.012  # vertices along a side; [m] between them
SPEED = 40.0  # [m/s] of each sheet
APART, HEIGHT = 0.03, 0.6  # [m] between two sheets when they are let go, and of their middles
LET_GO = 2  # frame up to which they are held
ROUGH = 8e-4  # [m] standard deviation of what is uneven in them
COLOURS = ((0.52, 0.10, 0.12), (0.50, 0.46, 0.38), (0.05, 0.09, 0.22), (0.10, 0.30, 0.20))


def shot_sheets(context, collection):
    """Add four sheets, pinned as they fly at each other, then let go; return what was made."""
    sheets = [_sheet(collection, k, 1.0 if k < 2 else -1.0) for k in range(4)]
    settings = context.scene.taffeta
    settings.air_density, settings.max_speed = 0.0, 1000.0  # what would slow them down before they meet
    table = contact.box(collection, "Table", (1.8, 1.2, 0.4), 0.2, 0.6)
    floor, camera = stage.furnish(context, collection, (0.5, -3.0, 1.6), (0.04, 0.0, 0.45), 50.0)
    return stage.Example(tuple(sheets), (table, floor), camera, (1, 100))


def _sheet(collection, number, way):
    """A rough, tilted sheet of cotton that flies along x, forwards or backwards (`way`), and is let go at `LET_GO`."""
    points, quads, pattern = sheet.rectangle(COUNT, COUNT, (COUNT - 1) * EDGE, (COUNT - 1) * EDGE)
    points = points + ROUGH * np.random.default_rng(number).normal(size=points.shape)
    tilt = Euler((0.1 * np.sin(3.0 * number), 0.0, 0.7 * number)).to_matrix()
    points = points @ np.array(Matrix.Rotation(0.5 * np.pi, 3, "Y") @ tilt).T + [0.0, 0.003, 0.004 * number]
    obj = sheet.add(
        collection, f"Sheet {number + 1}", points, quads, pattern, materials.plain("Cotton", COLOURS[number], 0.9)
    )
    obj.location.z = HEIGHT
    sheet.make_of(obj, mass=0.15, thickness=3.2e-4, friction=0.35)
    motions.drive(obj, "location", f"{APART * number:.3f}+{way * SPEED / motions.RATE:.6f}*min(frame-{LET_GO},0)", 0)
    motions.drive(obj, "taffeta_cloth.pin.value", f"1 if frame<{LET_GO}.5 else 0")
    return obj
