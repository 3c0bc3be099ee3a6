# SPDX-License-Identifier: GPL-3.0-or-later
"""Mark Tear Line, Free Tearing, Clear Tear Line: where a garment is cut, and held together until it is pulled too hard."""

import bpy
from bpy.props import EnumProperty, FloatProperty, StringProperty

from ..panels.translations import translated
from .menus import in_menu
from .read import tear_lines
from .read.screen import refused

STRENGTH = FloatProperty(
    name="Strength (N/m)", default=100.0, min=0.01, max=1e9, soft_max=5000.0, step=1000, precision=1,
    description="Tension in N per metre of line from which on it tears. Tissue 100, an old shirt 1000, new cotton 10000",
)  # fmt: skip
WEFT = FloatProperty(
    name="Weft", default=1.0, min=0.01, max=100.0, soft_min=0.2, soft_max=5.0, step=10, precision=2,
    description="How many times as strong the threads of the weft are as those of the warp, a pure number. A line along the warp parts "
    "threads of the weft and has their strength, so a tear runs on along the stronger threads. Needs a Pattern unless it is 1",
)  # fmt: skip
PAINTED = StringProperty(
    name="Painted",
    description="Vertex group whose weights are multiplied into Strength: 1 leaves all of it, 0.2 a fifth. Empty for none",
)


class InEditMode(bpy.types.Operator):
    """Changes the mesh that is edited, by `change`, which tells what it did."""

    bl_options = {"REGISTER", "UNDO"}
    asked = "Go to Edit Mode and select edges"

    @classmethod
    def poll(cls, context):
        if context.mode != "EDIT_MESH":
            cls.poll_message_set(cls.asked)
            return False
        return True

    def execute(self, context):
        try:
            self.report({"INFO"}, translated(self.change(context.edit_object)))
        except ValueError as error:
            return refused(self, error)
        return {"FINISHED"}


class Marking(InEditMode):
    """Marks edges, with the settings that are `shown`."""

    shown = "strength", "painted", "weft"

    def draw(self, context):
        for name in self.shown:
            if name == "painted":
                self.layout.prop_search(self, name, context.edit_object, "vertex_groups")
            else:
                self.layout.prop(self, name)


class TAFFETA_OT_tear_mark(Marking):
    """Let the cloth tear along the selected edges, where it is pulled apart by more than this strength. The mesh is cut there, and
    looks and drapes as before until it tears"""

    bl_idname = "taffeta.tear_mark"
    bl_label = "Mark Tear Line"
    bl_description = " ".join(__doc__.split())

    strength: STRENGTH
    painted: PAINTED
    weft: WEFT

    def change(self, obj):
        """Mark; returns what was done."""
        count, more = tear_lines.mark(obj, self.strength, self.weft, obj.taffeta_cloth.uv_map, self.painted)
        return f"{count} edges of {obj.name} tear from {self.strength:g} N/m on; {more} vertices are doubled"


class TAFFETA_OT_tear_free(Marking):
    """Let the garment tear anywhere, where it is pulled hardest: all edges become tear lines that are none yet, or those along its
    threads. The mesh is cut along each, and has up to four times the vertices"""

    bl_idname = "taffeta.tear_free"
    bl_label = "Free Tearing"
    bl_description = " ".join(__doc__.split())
    shown = "strength", "painted", "weft", "along"
    asked = "Switch to Edit Mode first"

    strength: STRENGTH
    painted: PAINTED
    weft: WEFT
    along: EnumProperty(
        name="Along", default="THREADS", description="Which edges may tear",
        items=(
            ("THREADS", "Threads", "Edges within 20 degrees of warp and weft of the Pattern, or, without one, those between quads: woven "
             "cloth tears along a thread"),
            ("ALL", "All Edges", "In any direction, as felt, leather and paper do"),
        ),
    )  # fmt: skip

    def change(self, obj):
        """Mark; returns what was done."""
        uv_map = obj.taffeta_cloth.uv_map
        count = tear_lines.select_free(obj, uv_map, self.along == "THREADS")
        _, more = tear_lines.mark(obj, self.strength, self.weft, uv_map, self.painted)
        return f"{count} edges of {obj.name} tear from {self.strength:g} N/m on; {more} vertices are doubled"


class TAFFETA_OT_tear_clear(InEditMode):
    """Make the selected tear lines one piece with the cloth again: their doubled vertices are merged"""

    bl_idname = "taffeta.tear_clear"
    bl_label = "Clear Tear Line"

    def change(self, obj):
        """Clear; returns what was done."""
        count, fewer = tear_lines.clear(obj)
        return f"{count} edges of {obj.name} do not tear any more; {fewer} vertices are merged"


def _menu(self, _context):
    self.layout.operator("taffeta.tear_mark")
    self.layout.operator("taffeta.tear_free")
    self.layout.operator("taffeta.tear_clear")


register, unregister = in_menu(
    "VIEW3D_MT_edit_mesh_edges", _menu, (TAFFETA_OT_tear_mark, TAFFETA_OT_tear_free, TAFFETA_OT_tear_clear)
)
