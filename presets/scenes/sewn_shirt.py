# SPDX-License-Identifier: GPL-3.0-or-later
"""A T-shirt from its pattern: two panels before and behind the mannequin, which a bake sews."""

import json

from . import character, materials, sheet, stage

FRAMES = (1, 100)
EDGE = 0.016  # [m] of the mesh
#: [cm] the right half of both panels, from the neck round to the hem: across, height above the ground
HALF = ((8.5, 153.5), (20.0, 151.0), (40.0, 131.5), (28.5, 119.0), (23.5, 122.0), (25.5, 84.0))
SEWN = (0, 1, 3, 4)  # its lines: shoulder, sleeve, under the sleeve, side; not the sleeve's end, nor the hem
DEPTHS = {"front": 0.75, "back": 0.2}  # of the neckline, in widths of the neck
AWAY = 15.0  # [cm] of the panels before and behind the middle


def specification() -> dict:
    """The pattern as GarmentCode writes it."""
    right = [list(point) for point in HALF]
    ring = right + [[-x, y] for x, y in right[::-1]]  # clockwise from the neck
    count, panels = len(ring), {}
    for name, depth in DEPTHS.items():
        is_front = name == "front"
        edges = [{"endpoints": [k, (k + 1) % count]} for k in range(count)]
        # the last one is the neckline; on the right of its way, which is down
        edges[-1]["curvature"] = {"type": "cubic", "params": [[0.1, -depth], [0.9, -depth]]}
        panels[name] = {
            "translation": [0.0, 0.0, AWAY if is_front else -AWAY], "rotation": [0.0, 0.0, 0.0], "vertices": ring,
            "edges": _backwards(edges) if is_front else edges,
        }  # fmt: skip
    lines = [*SEWN, *(count - 2 - line for line in SEWN)]
    stitches = [[{"panel": "front", "edge": count - 1 - line}, {"panel": "back", "edge": line}] for line in lines]
    return {
        "pattern": {"panels": panels, "stitches": stitches},
        "properties": {"curvature_coords": "relative", "units_in_meter": 100},
    }


def _backwards(edges):
    """The same edges, round the other way."""
    turned = []
    for edge in edges[::-1]:
        own = {"endpoints": edge["endpoints"][::-1]}
        if "curvature" in edge:
            own["curvature"] = {"type": "cubic", "params": [[0.9, 0.0], [0.1, 0.0]]}
            for point, (_, depth) in zip(own["curvature"]["params"], edge["curvature"]["params"], strict=True):
                point[1] = -depth
            own["curvature"]["params"] = own["curvature"]["params"][::-1]
        turned.append(own)
    return turned


def add(context, collection):
    """Add mannequin, panels, ground, light and camera; return what was made."""
    from ...patterns import garment_code, panel_mesh

    body, _ = character.add(context, collection)
    sheet.collide(body, aura=0.004, friction=0.3)
    made = panel_mesh.mesh(garment_code.read(json.dumps(specification()).encode()), EDGE)
    corners = made.flat[made.triangles]
    garment = sheet.add(
        collection,
        "Sewn Shirt",
        made.x,
        made.triangles,
        corners,
        materials.woven("Jersey", across="X", inside=0.7),
        made.seams,
    )
    cloth = garment.taffeta_cloth
    cloth.sewing, cloth.model, cloth.pattern_size = True, "MEMBRANE", True
    sheet.make_of(garment, mass=0.16, thickness=0.002, stretch_stiffness=600.0, shear_stiffness=60.0, damping=1.0)
    sheet.make_of(garment, bending_stiffness=8e-6, friction=0.3)
    for number, name in enumerate(DEPTHS):
        sheet.paint_group(garment, name, (made.panel == number).astype(float))
    floor = stage.ground(collection)
    stage.light(context, collection)
    camera = stage.camera(context, collection, (1.6, -3.4, 1.6), (0.0, 0.0, 1.12), 85.0)
    return stage.Example((garment,), (body, floor), camera, FRAMES)
