# SPDX-License-Identifier: GPL-3.0-or-later
"""An example with a zip: a curtain that opens, lets a ball through, and closes behind it."""

import bmesh
import numpy as np

from . import materials, sheet, solids, stage

FRAMES = (1, 150)
COLUMNS, ROWS, WIDTH, HEIGHT, TOP = 41, 41, 1.5, 1.5, 1.65
CLOSED = 0.3  # [m] below the upper side, at which the zip ends
OPENING, CLOSING = (10, 36), (84, 124)  # frames
RADIUS, LEVEL, THROUGH, WAY = (
    0.17,
    0.62,
    (34, 82),
    1.1,
)  # of the ball [m]; frames; how far before and behind the curtain [m]


def zipped_curtain(context, collection):
    """Add a curtain with a zip, and a ball that goes through it; return what was made."""
    points, quads, pattern = sheet.rectangle(COLUMNS, ROWS, WIDTH, HEIGHT)
    points = np.column_stack([points[:, 0], np.zeros(len(points)), points[:, 1] + TOP - 0.5 * HEIGHT])
    cloth = sheet.add(collection, "Curtain", points, quads, pattern, materials.woven("Canvas", across="Y", inside=0.85))
    _zip(cloth)
    sheet.make_of(
        cloth, mass=0.2, thickness=0.002, stretch_stiffness=2000.0, shear_stiffness=60.0, bending_stiffness=1e-4
    )
    cloth.taffeta_cloth.sewing = True
    height = np.array([vertex.co.z for vertex in cloth.data.vertices])
    sheet.paint_group(cloth, "Rail", (height > TOP - 1e-4).astype(float))
    sheet.map_group(cloth, "pin", "Rail", 0.0, 1.0)
    for frame, part in zip((*OPENING, *CLOSING), (0.0, 1.0, 1.0, 0.0), strict=True):
        cloth.taffeta_cloth.zip_open = part
        cloth.taffeta_cloth.keyframe_insert("zip_open", frame=frame)
    ball = sheet.collide(solids.sphere(collection, RADIUS, LEVEL), friction=0.15)
    for frame, side in zip(THROUGH, (1.0, -1.0), strict=True):
        ball.location.y = side * WAY
        ball.keyframe_insert("location", frame=frame)
    floor, camera = stage.furnish(context, collection, (1.6, -4.4, 1.7), (0.0, 0.0, 0.85), 62.0)
    return stage.Example((cloth,), (ball, floor), camera, FRAMES)


def _zip(cloth):
    """Cut the curtain up its middle, and join both rims by sewing edges that open from below, as *Mark Zip* does."""
    work = bmesh.new()
    work.from_mesh(cloth.data)
    layer = work.edges.layers.float.new("taffeta_zip")
    chosen = [
        edge for edge in work.edges if all(abs(end.co.x) < 1e-5 and end.co.z < TOP - CLOSED for end in edge.verts)
    ]
    rims = {}
    for edge in bmesh.ops.split_edges(work, edges=chosen)["edges"]:
        for end in edge.verts:
            rims.setdefault(round(end.co.z, 5), set()).add(end)
    pairs = [rims[height] for height in sorted(rims) if len(rims[height]) == 2]
    for number, pair in enumerate(pairs, 1):
        work.edges.new(sorted(pair, key=lambda end: end.link_faces[0].calc_center_median().x))[layer] = number / len(
            pairs
        )
    work.to_mesh(cloth.data)
    work.free()
