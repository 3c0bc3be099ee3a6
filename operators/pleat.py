# SPDX-License-Identifier: GPL-3.0-or-later
"""Mark Pleat and Clear Pleat: selected edges along which a garment is folded at rest, as by an iron."""

import bpy
import numpy as np
from bpy.props import BoolProperty, EnumProperty, FloatProperty

from ..solver.geometry import stitches
from .attach import GarmentVerb
from .menus import in_menu
from .read import edge_values, pleats
from .read.arrays import edges, positions

ANGLE = np.radians(120.0)
STIFFNESS = 20.0
# fmt: off
FOLDS = (
    ("AS_ANGLE", "As the Angle Says", "All to the side of the angle's sign: above 0 they stand out where the normals point to"),
    ("ALTERNATE", "Alternate", "One line out, the next one in, from the first line to the one nearest to it and so on: pleats of an accordion"),
)
# fmt: on


def alternating(x: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """(k,) 1 or -1 of edges (k, 2), line by line in turns: from an outermost line always to the nearest one that is left.

    Raises
    ------
    ValueError
        The edges are no lines beside each other: a sentence without the object.
    """
    try:
        lines = [line for line, _ in stitches.lines(ends)]
    except ValueError as error:
        raise ValueError(f"{error}; select lines of edges that lie beside each other") from None
    middle, line_of = np.array([x[line].mean(axis=0) for line in lines]), np.zeros(len(x), int)
    for number, line in enumerate(lines):
        line_of[line] = number
    away = np.linalg.norm(middle - middle.mean(axis=0), axis=1)
    at, left, sign = int(away.argmax()), set(range(len(lines))), np.zeros(len(lines))
    turn = 1.0
    while True:
        sign[at], turn = turn, -turn
        left.remove(at)
        if not left:
            return sign[line_of[ends[:, 0]]]
        at = min(left, key=lambda other: (np.linalg.norm(middle[other] - middle[at]), other))


class TAFFETA_OT_pleat_mark(GarmentVerb, bpy.types.Operator):
    """Fold the active garment along its selected edges at rest, as an iron does: the cloth strives for the angle, and is stiffer \
there. Kept in the mesh as the edge attributes pleat_angle and pleat_stiffness, which Geometry Nodes may make, too"""

    bl_idname = "taffeta.pleat_mark"
    bl_label = "Mark Pleat"
    bl_description = " ".join(__doc__.split())

    angle: FloatProperty(
        name="Angle", default=ANGLE, min=-np.pi, max=np.pi, subtype="ANGLE",
        description="By which the faces at the edge are turned out of one plane: 0 is flat, 160 folded as far as it holds. Above 0 the edge "
        "stands out on the side of the normals (mountain), below 0 on the other (valley)",
    )  # fmt: skip
    stiffness: FloatProperty(
        name="Stiffness", default=STIFFNESS, min=0.01, max=1e5, soft_min=1.0, soft_max=200.0,
        description="How many times as stiff against bending the edge is as unfolded cloth, a pure number",
    )  # fmt: skip
    folds: EnumProperty(name="Folds", items=FOLDS, default="AS_ANGLE", description="To which side each line is folded")

    def work(self, _context, obj):
        """Pleats of the selected edges."""
        chosen, side = edge_values.chosen(obj), 1.0
        ends = edges(obj.data)[chosen]
        try:
            if self.folds == "ALTERNATE":
                side = alternating(positions(obj.data), ends)
            elif len(chosen) == len(obj.data.edges):  # as those of a new mesh are in Object Mode
                raise ValueError("every edge is selected; select those alone along which it folds, in Edit Mode")
            pleats.mark(obj.data, chosen, side * self.angle, self.stiffness)
        except ValueError as error:
            raise ValueError(f"{obj.name}: {error}") from None
        turn = "" if self.folds == "AS_ANGLE" else " in turns"
        return f"{len(chosen)} edges of {obj.name} are pleats of {np.degrees(self.angle):.0f} degrees{turn}"


class TAFFETA_OT_pleat_clear(GarmentVerb, bpy.types.Operator):
    """Let selected edges of the active garment, or all of them, be no pleats any more"""

    bl_idname = "taffeta.pleat_clear"
    bl_label = "Clear Pleat"

    every: BoolProperty(name="All", description="All pleats of the garment, selected or not")

    def work(self, _context, obj):
        """Fewer pleats."""
        return edge_values.clear(obj, pleats.NAMES, self.every, "a pleat")


def _menu(self, _context):
    self.layout.separator()
    self.layout.operator("taffeta.pleat_mark")
    self.layout.operator("taffeta.pleat_clear")


register, unregister = in_menu("VIEW3D_MT_edit_mesh_edges", _menu, (TAFFETA_OT_pleat_mark, TAFFETA_OT_pleat_clear))
