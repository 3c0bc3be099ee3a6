# SPDX-License-Identifier: GPL-3.0-or-later
"""What an animator sets once for all files: whether settings for experts are shown."""

import bpy
from bpy.props import BoolProperty

PACKAGE = __package__.rpartition(".")[0]  # as Blender's preferences know the extension


class TaffetaPreferences(bpy.types.AddonPreferences):
    """Preferences of the extension"""

    bl_idname = PACKAGE

    expert: BoolProperty(
        name="Show Expert Settings",
        description="Show in the Taffeta panel of the Scene tab how the solver works inside: what moves the cloth between its "
        "contacts, how pairs that may meet are found, who draws the images of bodies",
    )

    def draw(self, context):
        """One row."""
        self.layout.prop(self, "expert")


def expert(context) -> bool:
    """Whether settings for experts are shown; not where Taffeta is no extension of the preferences, as in scripts."""
    addon = context.preferences.addons.get(PACKAGE)
    return addon is not None and addon.preferences is not None and addon.preferences.expert


register, unregister = bpy.utils.register_classes_factory((TaffetaPreferences,))
