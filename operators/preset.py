# SPDX-License-Identifier: GPL-3.0-or-later
"""Save the garment's fabric as a preset of the animator's own, or remove one; the menu is `panels.fabric`.

Presets are Blender's: small Python files in presets/taffeta_fabric/, ours in the extension, the animator's in Blender's
user folder. They hold what the cloth is made of, not where it is pinned or what is painted on it.
"""

import bpy
from bl_operators.presets import AddPresetBase

from ..panels.fabric import PRESET_SUBDIR
from ..panels.mapped import FABRIC, THREADS


class TAFFETA_OT_fabric_preset_add(AddPresetBase, bpy.types.Operator):
    """Keep this fabric as a preset, or remove the chosen preset"""

    bl_idname = "taffeta.fabric_preset_add"
    bl_label = "Add Fabric Preset"
    preset_menu = "TAFFETA_PT_fabric_presets"
    preset_subdir = PRESET_SUBDIR
    preset_defines = ["cloth = bpy.context.object.taffeta_cloth"]
    preset_values = [f"cloth.{name}.value" for name in FABRIC] + [f"cloth.{name}" for name in THREADS]

    @classmethod
    def poll(cls, context):
        obj = context.object
        if obj is None or not obj.taffeta_cloth.enabled:
            cls.poll_message_set("Select a Taffeta Cloth")
            return False
        return True


register, unregister = bpy.utils.register_classes_factory((TAFFETA_OT_fabric_preset_add,))
