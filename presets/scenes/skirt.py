# SPDX-License-Identifier: GPL-3.0-or-later
"""Skirts on the walking mannequin: the waistband is pinned to the hips, the rest swings free. One of them is pleated, and one is held
by nothing but the elastic in its waistband.
"""

import numpy as np

from . import materials, sheet
from .walking import walk_in

#: from the waist down: height, half width, half depth, shift to the back [m]
RINGS = ((1.075, 0.146, 0.100, 0.003), (0.93, 0.214, 0.168, 0.016), (0.52, 0.335, 0.300, 0.016))
#: the same of the pleated one, before its pleats draw it in
WIDE_RINGS = ((1.075, 0.146, 0.100, 0.003), (0.95, 0.22, 0.178, 0.014), (0.60, 0.47, 0.44, 0.014))
PLEATS = 30  # round it, each of `FLANKS` columns out and as many in
FLANKS = 2
PLEAT, PLEAT_STIFFNESS = np.radians(95.0), 40.0
PREROLL = 15  # frames in which it folds
#: the same of the one with elastic, wide enough to be stepped into
LOOSE_RINGS = ((1.17, 0.19, 0.17, -0.003), (0.88, 0.24, 0.215, 0.012), (0.60, 0.29, 0.265, 0.012))
ELASTIC = 0.42, 5.0  # part of the cloth's length that its elastic has at rest, and its tension [N] at full length
ELASTIC_ROWS = 2, 3
GATHERING = 20  # frames in which it draws the cloth in


def add(context, collection):
    """Add mannequin, walk, skirt, ground, light and camera; return what was made."""
    return _walk_in(context, collection, lambda rig: _garment(collection, rig))


def pleated(context, collection):
    """The same in a skirt of a wide cone, whose pleats draw it in."""
    context.scene.taffeta.preroll = PREROLL
    return _walk_in(context, collection, lambda rig: _pleated(collection, rig))


def elastic(context, collection):
    """The same in a wide skirt that elastic gathers about the waist, and nothing else holds up."""
    context.scene.taffeta.preroll = GATHERING
    return _walk_in(context, collection, lambda _rig: _elastic(collection))


def _walk_in(context, collection, garment_on):
    return walk_in(context, collection, garment_on, 0.3, (2.25, -4.1, 1.55), (0.0, 0.0, 0.90))


def _garment(collection, rig):
    points, quads, pattern = sheet.tube(96, 40, RINGS)
    material = materials.woven("Pleated Wool", across="Y", inside=0.6)
    obj = sheet.add(collection, "Skirt", points, quads, pattern, material)
    sheet.make_of(obj, mass=0.18, thickness=0.003, stretch_stiffness=2500.0, shear_stiffness=60.0, damping=2.0)
    sheet.make_of(obj, bending_stiffness=6e-5)
    return _worn(obj, points, rig)


def _pleated(collection, rig):
    columns, rows = 2 * FLANKS * PLEATS, 32
    points, quads, pattern = sheet.tube(columns, rows, WIDE_RINGS)
    obj = sheet.add(
        collection, "Pleated Skirt", points, quads, pattern, materials.plain("Wool", (0.25, 0.06, 0.10), 0.8)
    )
    sheet.make_of(obj, mass=0.16, thickness=0.002, stretch_stiffness=2500.0, shear_stiffness=60.0, damping=2.0)
    sheet.make_of(obj, bending_stiffness=6e-5)
    obj.data.shade_flat()
    angle, stiffness = np.zeros((2, len(obj.data.edges)), np.float32)
    for index, edge in enumerate(obj.data.edges):
        column, other = (vertex % columns for vertex in edge.vertices)
        below = min(vertex // columns for vertex in edge.vertices) >= 4  # the waistband stays as it is
        if column == other and column % FLANKS == 0 and below:
            angle[index], stiffness[index] = PLEAT if column % (2 * FLANKS) else -PLEAT, PLEAT_STIFFNESS
    for name, values in (("pleat_angle", angle), ("pleat_stiffness", stiffness)):
        obj.data.attributes.new(name, "FLOAT", "EDGE").data.foreach_set("value", values)
    return _worn(obj, points, rig)


def _elastic(collection):
    columns, rows = 140, 44
    points, quads, pattern = sheet.tube(columns, rows, LOOSE_RINGS)
    obj = sheet.add(
        collection, "Elastic Skirt", points, quads, pattern, materials.woven("Chambray", across="X", inside=0.7)
    )
    sheet.make_of(obj, mass=0.12, thickness=0.002, stretch_stiffness=1500.0, shear_stiffness=40.0, damping=2.0)
    sheet.make_of(obj, bending_stiffness=8e-6, friction=0.5)
    is_elastic = np.array([len({v // columns for v in edge.vertices}) == 1 for edge in obj.data.edges])
    is_elastic &= np.isin([edge.vertices[0] // columns for edge in obj.data.edges], ELASTIC_ROWS)
    for name, value in zip(("elastic_length", "elastic_tension"), ELASTIC, strict=True):
        values = np.where(is_elastic, value, 0.0).astype(np.float32)
        obj.data.attributes.new(name, "FLOAT", "EDGE").data.foreach_set("value", values)
    return obj


def _worn(obj, points, rig):
    """Pin the waistband of a skirt to the hips of the mannequin."""
    band = (points[:, 2] > RINGS[0][0] - 0.03).astype(float)
    sheet.paint_group(obj, "Waistband", band)
    sheet.map_group(obj, "pin", "Waistband", 0.0, 1.0)
    # All of it hangs on the hip bone, so that its animated pose, which pins follow, goes with the hips.
    sheet.paint_group(obj, "hips", np.ones(len(points)))
    obj.parent = rig
    bones = obj.modifiers.new("Armature", "ARMATURE")
    bones.object = rig
    return obj
