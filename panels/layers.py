# SPDX-License-Identifier: GPL-3.0-or-later
"""Physics tab, below Taffeta Cloth: who is worn over whom, and the button that takes layers out of each other."""

import bpy

from .rows import SubPanel, settings_layout, why


class TAFFETA_PT_layers(SubPanel, bpy.types.Panel):
    """Which garment is worn over which, innermost first"""

    bl_label = "Layers"

    def draw(self, context):
        layout = settings_layout(self, context)
        cloths = [obj for obj in context.scene.objects if obj.type == "MESH" and obj.taffeta_cloth.enabled]
        cloths.sort(key=lambda obj: (obj.taffeta_cloth.layer, obj.name))
        column = layout.column(align=True)
        column.use_property_split = False
        for obj in cloths:
            row = column.row(align=True)
            icon = "RADIOBUT_ON" if obj == context.object else "RADIOBUT_OFF"
            row.label(text=obj.name, icon=icon, translate=False)
            row.prop(obj.taffeta_cloth, "layer", text="")
        layout.prop(context.object.taffeta_cloth, "rigidity")
        verb = layout.column()
        selected = [obj for obj in cloths if obj.select_get() or obj == context.object]
        verb.operator("taffeta.untangle", text="Untangle", icon="MOD_SOLIDIFY")
        if len(selected) < len(cloths):
            why(layout, f"Takes the selected cloths: {len(selected)} of {len(cloths)}")


register, unregister = bpy.utils.register_classes_factory((TAFFETA_PT_layers,))
