# SPDX-License-Identifier: GPL-3.0-or-later
"""Mark Zip and Clear Zip: seams, and lines within cloth, that Zip Open opens and closes."""

import bpy
import numpy as np
from bpy.props import BoolProperty, FloatProperty

from ..solver.geometry import stitches
from .menus import in_menu
from .read import sewing_switch, sewn_edges, zips
from .sew import rims
from .tear import InEditMode

LEAST = 1e-3  # that Zip Open is when something opens


def zip_up(obj: bpy.types.Object, other_end: bool, first: float, last: float) -> str:
    """Make a zip of what is selected in an object's Edit Mode; returns what was done.

    other_end : open it from its other end; first, last : what Zip Open is when it begins to open, and when it is open

    Raises
    ------
    ValueError
        Neither a line within the cloth nor two rims are selected: a sentence with a remedy.
    """
    told, before = "", sewn_edges.count(obj)
    if zips.is_within(obj):
        pairs = zips.cut(obj, _line(obj))
        told = f", and {len(pairs)} vertices are doubled"
    else:
        pairs = rims(obj, flip=False, shift=0)[0]
    pairs = pairs[::-1] if other_end else pairs
    middle = sewn_edges.selected(obj)[0][pairs].mean(axis=1)
    along = np.append(0.0, np.linalg.norm(np.diff(middle, axis=0), axis=1).cumsum())
    step = along[-1] / max(len(pairs) - 1, 1)
    part = (along + step) / (along[-1] + step) if step > 0.0 else np.linspace(1.0 / len(pairs), 1.0, len(pairs))
    sewn_edges.sew(obj, pairs)
    zips.mark(obj, pairs, np.maximum(first + (last - first) * part, LEAST))
    if sewing_switch.turn_on(obj, before):
        told += "; Sewing is on now"
    return f"A zip of {len(pairs)} sewing edges is in {obj.name}{told}; key Zip Open to work it"


def _line(obj):
    """The one line (n,) of vertices that is selected."""
    try:
        lines = stitches.lines(sewn_edges.selected(obj)[1])
    except ValueError as error:
        raise ValueError(f"{obj.name}: {error}; select one line") from None
    if len(lines) != 1:
        raise ValueError(f"{obj.name}: {len(lines)} lines are selected within the cloth; mark one zip after the other")
    return lines[0][0]


class TAFFETA_OT_zip_mark(InEditMode):
    """Make a zip of a selected line of edges, which is cut, or of two selected rims, which are sewn. Zip Open, which can be keyed, opens
    and closes it; what is closed is one piece of cloth"""

    bl_idname = "taffeta.zip_mark"
    bl_label = "Mark Zip"
    bl_description = " ".join(__doc__.split())

    other_end: BoolProperty(name="From the Other End", description="Open it from its other end")
    first: FloatProperty(
        name="From", default=0.0, min=0.0, max=1.0,
        description="Zip Open at which it begins to open, a pure number. Let several zips of a garment open one after the other, or each "
        "other's way",
    )  # fmt: skip
    last: FloatProperty(
        name="To", default=1.0, min=0.0, max=1.0,
        description="Zip Open at which all of it is open, a pure number. As much as From opens it at once",
    )  # fmt: skip

    def change(self, obj):
        """Mark; returns what was done."""
        return zip_up(obj, self.other_end, self.first, self.last)


class TAFFETA_OT_zip_clear(InEditMode):
    """Make plain seams of the selected zips again, and one piece of cloth of those that were cut"""

    bl_idname = "taffeta.zip_clear"
    bl_label = "Clear Zip"

    every: BoolProperty(name="All", description="All zips of the garment, selected or not")

    def change(self, obj):
        """Clear; returns what was done."""
        count, fewer = zips.clear(obj, self.every)
        return f"{count} sewing edges of {obj.name} are no zip any more; {fewer} vertices are merged"


def _menu(self, _context):
    self.layout.operator("taffeta.zip_mark")
    self.layout.operator("taffeta.zip_clear")


register, unregister = in_menu("VIEW3D_MT_edit_mesh_edges", _menu, (TAFFETA_OT_zip_mark, TAFFETA_OT_zip_clear))
