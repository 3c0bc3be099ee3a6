# SPDX-License-Identifier: GPL-3.0-or-later
"""Sew Selected Edges: threads between two rims of panels, or the sides of a dart, as *Sewing* pulls them shut."""

import bpy
from bpy.props import BoolProperty, IntProperty

from ..solver.geometry import stitches
from .read import sewn_edges

GATHERED = 1.02  # times as long one line is as the other, from which on it is told


def sew(obj: bpy.types.Object, flip: bool, shift: int) -> str:
    """Sew the lines that are selected in an object's Edit Mode; returns what was done.

    Raises
    ------
    ValueError
        Not two lines, or a dart, are selected: a sentence with a remedy.
    """
    x, edges = sewn_edges.selected(obj)
    try:
        lines = stitches.lines(edges)
    except ValueError as error:
        raise ValueError(f"{obj.name}: {error}; select two rims of panels and nothing beside them") from None
    told = ""
    if len(lines) == 1 and not lines[0][1] and len(lines[0][0]) > 2:
        pairs = stitches.dart(lines[0][0])
    elif len(lines) == 2 and lines[0][1] == lines[1][1]:
        (one, is_ring), (other, _) = lines
        pairs = stitches.stitches(x, one, other, is_ring, flip, shift)
        long, short = sorted((stitches.length(x, line, is_ring) for line in (one, other)), reverse=True)
        if long > GATHERED * short > 0.0:
            told = f"; one side is {long / short:.2f} times as long and gathers"
    else:
        kinds = "a line and a ring are" if len(lines) == 2 else f"{len(lines)} lines of edges of faces are"
        kinds = kinds if len(lines) != 1 else "one ring or edge is"
        raise ValueError(
            f"{obj.name}: {kinds} selected; select two lines, two rings, or one line from side to side of a dart"
        )
    added = sewn_edges.sew(obj, pairs)
    cloth = obj.taffeta_cloth
    if cloth.enabled and not cloth.sewing:
        cloth.sewing = True
        told += "; Sewing is on now"
    return f"{added} sewing edges added to {obj.name}{told}"


class TAFFETA_OT_sew(bpy.types.Operator):
    """Join two selected lines or rings of edges by sewing edges, which Sewing pulls shut and welds: one for each vertex of the
    one with fewer, evenly along the other, which gathers if it is longer. One line alone is a dart, with its tip in the middle"""

    bl_idname = "taffeta.sew"
    bl_label = "Sew Selected Edges"
    bl_options = {"REGISTER", "UNDO"}

    flip: BoolProperty(
        name="Flip",
        description="Sew in the other direction than the one in which all sewing edges together are shortest",
    )
    shift: IntProperty(
        name="Shift", description="Of two rings, vertices by which the one with more is turned on before it is sewn"
    )

    @classmethod
    def poll(cls, context):
        if context.mode != "EDIT_MESH":
            cls.poll_message_set("Go to Edit Mode and select two rims of panels")
            return False
        return True

    def execute(self, context):
        try:
            self.report({"INFO"}, sew(context.edit_object, self.flip, self.shift))
        except ValueError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return {"FINISHED"}


def _menu(self, _context):
    self.layout.separator()
    self.layout.operator("taffeta.sew")


def register():
    """Make the operator known, and put it into the menu of edges."""
    bpy.utils.register_class(TAFFETA_OT_sew)
    bpy.types.VIEW3D_MT_edit_mesh_edges.append(_menu)


def unregister():
    """Take both back."""
    bpy.types.VIEW3D_MT_edit_mesh_edges.remove(_menu)
    bpy.utils.unregister_class(TAFFETA_OT_sew)
