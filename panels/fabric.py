# SPDX-License-Identifier: GPL-3.0-or-later
"""The menu of fabric presets, in Blender's own preset system: shipped fabrics and the animator's own."""

import os

import bpy
from bl_ui.utils import PresetPanel

from .mapped import FABRIC, THREADS, follow_value

# The folder above presets/taffeta_fabric/, which is where Blender looks for shipped presets.
PRESET_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PRESET_SUBDIR = "taffeta_fabric"


class TAFFETA_PT_fabric_presets(PresetPanel, bpy.types.Panel):
    """Fabrics with measured numbers; a painted map keeps its contrast when the fabric changes"""

    bl_label = "Fabric Presets"
    preset_subdir = PRESET_SUBDIR
    preset_operator = "script.execute_preset"
    preset_add_operator = "taffeta.fabric_preset_add"

    @staticmethod
    def reset_cb(context):
        """Blender calls this before a preset runs: one that says nothing of warp and weft means no difference."""
        for name, same in THREADS.items():
            setattr(context.object.taffeta_cloth, name, same)

    @staticmethod
    def post_cb(context, filepath):
        """Blender calls this after a preset ran: Min and Max of each property go along with its new value."""
        for name in FABRIC:
            follow_value(context.object.taffeta_cloth, name)


def register():
    """Register the menu and tell Blender where the shipped fabrics are."""
    bpy.utils.register_class(TAFFETA_PT_fabric_presets)
    bpy.utils.register_preset_path(PRESET_ROOT)


def unregister():
    """Undo `register`."""
    bpy.utils.unregister_preset_path(PRESET_ROOT)
    bpy.utils.unregister_class(TAFFETA_PT_fabric_presets)
