# SPDX-License-Identifier: GPL-3.0-or-later
"""Sewing an imported pattern as a hand does: lines of panels selected from corner to corner, then Sew Selected Edges."""

import bpy
import numpy as np
import pieces
from taffeta.operators.read import panels

S, H = pieces.HEM[0], 1e-3  # [mm] from the left end of a shirt's panel to its middle; m in a mm


def right(*points):
    """Corners of a shirt's right half [m], from the lower left corner of its panel."""
    return [((S + u) * H, v * H) for u, v in points]


def left(*points):
    return [((S - u) * H, v * H) for u, v in points]


def sleeve(*points):
    return [(u * H, v * H) for u, v in points]


def shirt_seams(front="FRONT", back="BACK", sleeves=("SLEEVE", "SLEEVE mirrored")):
    """Of each seam two lines: panel, start and end [m]. Seen from outside, a body's left is at the right of the front and of a left sleeve's back."""
    p = pieces
    low = p.BICEP[0] - p.CUFF[0]
    for ends in ((p.NECK, p.TIP), (p.ARMPIT, p.HEM)):
        yield (front, *right(*ends)), (back, *left(*ends))
        yield (front, *left(*ends)), (back, *right(*ends))
    for name, at_front, at_back in ((sleeves[0], right, left), (sleeves[1], left, right)):
        ahead, behind = ((0, p.BICEP[1]), p.BICEP) if name == sleeves[0] else (p.BICEP, (0, p.BICEP[1]))
        yield (name, *sleeve(ahead, p.CAP)), (front, *at_front(p.ARMPIT, p.TIP))
        yield (name, *sleeve(behind, p.CAP)), (back, *at_back(p.ARMPIT, p.TIP))
        yield (name, *sleeve((0, p.BICEP[1]), (low, 0))), (name, *sleeve(p.BICEP, p.CUFF))


def sew(obj, seams):
    """Press Sew Selected Edges for each pair of lines."""
    own = {panel.name: panel for panel in panels.read(obj, 1.0)}
    bpy.context.view_layer.objects.active = obj
    for sides in seams:
        chosen = set()
        for name, start, end in sides:
            chosen |= line(own[name], start, end)
        select(obj, chosen)
        bpy.ops.object.mode_set(mode="EDIT")
        assert bpy.ops.taffeta.sew() == {"FINISHED"}
        bpy.ops.object.mode_set(mode="OBJECT")


def line(panel, start, end):
    """Edges, pairs of vertices of the garment, of a panel's border from corner to corner [m], the shorter way round."""
    ends = np.sort(panel.triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    ends, count = np.unique(ends, axis=0, return_counts=True)
    beside = {}
    for a, b in ends[count == 1].tolist():
        beside.setdefault(a, []).append(b)
        beside.setdefault(b, []).append(a)
    flat = panel.flat - panel.flat.min(axis=0)
    first, last = (min(beside, key=lambda k, at=at: np.hypot(*(flat[k] - at))) for at in (start, end))
    ways = []
    for after in beside[first]:
        way = [first, after]
        while way[-1] != last:
            way.append(next(k for k in beside[way[-1]] if k != way[-2]))
        ways.append(way)
    way = min(ways, key=lambda way: np.linalg.norm(np.diff(flat[way], axis=0), axis=1).sum())
    return {
        tuple(sorted(pair))
        for pair in zip(panel.vertices[way[:-1]].tolist(), panel.vertices[way[1:]].tolist(), strict=True)
    }


def select(obj, chosen):
    """Select these edges, pairs of vertices, and nothing else."""
    inside = {k for pair in chosen for k in pair}
    obj.data.polygons.foreach_set("select", np.zeros(len(obj.data.polygons), bool))
    obj.data.edges.foreach_set("select", [tuple(sorted(edge.vertices)) in chosen for edge in obj.data.edges])
    obj.data.vertices.foreach_set("select", [k in inside for k in range(len(obj.data.vertices))])
    bpy.context.tool_settings.mesh_select_mode = (False, True, False)
