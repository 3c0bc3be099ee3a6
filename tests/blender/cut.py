# SPDX-License-Identifier: GPL-3.0-or-later
"""Garments as GarmentCode writes them: a T-shirt of two panels, a skirt of two."""

import math

SHIRT = [(-9, 0), (9, 0), (22, -5), (38, -14), (32, -30), (24, -24), (23, -62), (-23, -62), (-24, -24), (-32, -30), (-38, -14), (-22, -5)]  # fmt: skip
INNER, OUTER, ANGLE = 12.0, 62.0, 0.8 * math.pi  # [cm], [rad] of a skirt's panel, a sector of a ring


def edges(count, **curvature):
    """A ring of edges, with curvature of some: e0={...}."""
    found = [{"endpoints": [k, (k + 1) % count]} for k in range(count)]
    for name, value in curvature.items():
        found[int(name[1:])]["curvature"] = value
    return found


def file(panels, stitches, **properties):
    """What a file holds."""
    properties = {"curvature_coords": "relative", "units_in_meter": 100} | properties
    return {"pattern": {"panels": panels, "stitches": stitches}, "properties": properties}


def stitch(one, other):
    """Two sides (panel, edge) sewn to each other."""
    return [{"panel": panel, "edge": edge} for panel, edge in (one, other)]


def shirt(front=18.0, back=-18.0, height=40.0):
    """Two panels, necks curved, sewn at shoulders, sleeves and sides; the back one goes round the other way."""
    count = len(SHIRT)
    neck = {"type": "quadratic", "params": [[0.5, 0.5]]}
    nape = {"type": "cubic", "params": [[0.3, -0.1], [0.7, -0.1]]}
    # clockwise: seen from behind, from outside, it goes round as the front does from before
    front_panel = {
        "translation": [0, height, front], "rotation": [0, 0, 0], "vertices": [list(p) for p in SHIRT[::-1]],
        "edges": edges(count, e10=neck),
    }  # fmt: skip
    back_panel = {
        "translation": [0, height, back], "rotation": [0, 0, 0], "vertices": [list(p) for p in SHIRT],
        "edges": edges(count, e0=nape),
    }  # fmt: skip
    # edge k of the back goes from corner k to k + 1: in front it is edge 10 - k
    sewn = [stitch(("front", (10 - k) % count), ("back", k)) for k in (1, 2, 4, 5, 7, 8, 10, 11)]
    return file({"front": front_panel, "back": back_panel}, sewn)


def skirt(gap=30.0):
    """Two sectors of a ring, sewn at both sides."""
    half = 0.5 * ANGLE
    corner = lambda radius, side: [side * radius * math.sin(half), -radius * math.cos(half)]  # noqa: E731
    vertices = [corner(INNER, -1), corner(OUTER, -1), corner(OUTER, 1), corner(INNER, 1)]
    hem = {"type": "circle", "params": [OUTER, int(ANGLE > math.pi), 1]}
    waist = {"type": "circle", "params": [INNER, int(ANGLE > math.pi), 0]}
    panel = {"rotation": [0, 0, 0], "vertices": vertices, "edges": edges(4, e1=hem, e3=waist)}
    panels = {
        "front": panel | {"translation": [0, 100, 0.5 * gap]},
        "back": panel | {"translation": [0, 100, -0.5 * gap], "rotation": [0, 180, 0]},
    }
    return file(panels, [stitch(("front", 0), ("back", 2)), stitch(("front", 2), ("back", 0))])
