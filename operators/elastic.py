# SPDX-License-Identifier: GPL-3.0-or-later
"""Mark Elastic and Clear Elastic: selected edges of a garment onto which a band of rubber is sewn, on which it gathers."""

import bpy
import numpy as np
from bpy.props import BoolProperty, FloatProperty

from ..panels.units import length_text
from .attach import GarmentVerb
from .menus import in_menu
from .overlay.colours import lengths
from .read import bands, edge_values
from .read.arrays import edges, positions


class TAFFETA_OT_elastic_mark(GarmentVerb, bpy.types.Operator):
    """Sew elastic onto the selected edges of the active garment, as in a waistband or a cuff: the cloth gathers along them. Kept in
    the mesh as the edge attributes elastic_length and elastic_tension, which Geometry Nodes may make, too"""

    bl_idname = "taffeta.elastic_mark"
    bl_label = "Mark Elastic"
    bl_description = " ".join(__doc__.split())

    length: FloatProperty(
        name="Length", default=0.7, min=0.05, max=0.99, subtype="FACTOR",
        description="Part of the edges' length that the elastic has where nothing pulls at it, a pure number: 0.7 gathers cloth by a third",
    )  # fmt: skip
    tension: FloatProperty(
        name="Tension (N)", default=3.0, min=1e-3, max=1e4, soft_min=0.1, soft_max=20.0, step=50, precision=2,
        description="Force in N that the elastic pulls with where it is drawn out to the edges' full length. A cuff 1, a waistband 3 to 10",
    )  # fmt: skip

    def work(self, context, obj):
        """Elastic on the selected edges."""
        chosen = edge_values.chosen(obj)
        try:
            bands.mark(obj.data, chosen, self.length, self.tension)
        except ValueError as error:
            raise ValueError(f"{obj.name}: {error}") from None
        x = positions(obj.data).astype(float) @ np.array(obj.matrix_world)[:3, :3].T
        full = float(lengths(x, edges(obj.data)[chosen]).sum()) * context.scene.unit_settings.scale_length
        return (
            f"{len(chosen)} edges of {obj.name}, {length_text(full)}, are elastic: {length_text(self.length * full)} at rest, "
            f"{self.tension:g} N at full length"
        )


class TAFFETA_OT_elastic_clear(GarmentVerb, bpy.types.Operator):
    """Take the elastic off selected edges of the active garment, or off all of them"""

    bl_idname = "taffeta.elastic_clear"
    bl_label = "Clear Elastic"

    every: BoolProperty(name="All", description="All elastic of the garment, selected or not")

    def work(self, _context, obj):
        """Less elastic."""
        return edge_values.clear(obj, bands.NAMES, self.every, "an elastic band")


def _menu(self, _context):
    self.layout.operator("taffeta.elastic_mark")
    self.layout.operator("taffeta.elastic_clear")


register, unregister = in_menu("VIEW3D_MT_edit_mesh_edges", _menu, (TAFFETA_OT_elastic_mark, TAFFETA_OT_elastic_clear))
