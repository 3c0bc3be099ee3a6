# SPDX-License-Identifier: GPL-3.0-or-later
"""Physics tab, below Taffeta Cloth > More: what shape the garment strives for."""

import bpy

from .rows import SubPanel, named, settings_layout, why


class TAFFETA_PT_cloth_rest(SubPanel, bpy.types.Panel):
    """What shape the garment strives for: pleats, a second shape, and what it keeps of bending and stretch"""

    bl_label = "Rest Shape and Pleats"

    def draw(self, context):
        layout = settings_layout(self, context)
        column = layout.column(align=True)
        column.operator("taffeta.pleat_mark")
        column.operator("taffeta.pleat_clear")
        obj = context.object
        rest, keys = obj.taffeta_cloth.rest, obj.data.shape_keys
        if keys is None:
            why(layout, "A shape key can be a second rest shape")
        else:
            named(layout, context, rest, "key", (keys, "key_blocks"))
            if rest.key in keys.key_blocks:
                layout.prop(keys.key_blocks[rest.key], "value", text="Blend")
        for what in ("bend", "stretch"):
            column = layout.column(align=True)
            column.prop(rest, f"{what}_rate")
            row = column.row()
            row.active = getattr(rest, f"{what}_rate") > 0.0
            row.prop(rest, f"{what}_yield")


register, unregister = bpy.utils.register_classes_factory((TAFFETA_PT_cloth_rest,))
