# SPDX-License-Identifier: GPL-3.0-or-later
"""Fabrics in the Asset Browser: a library of swatches, and a fabric for all selected cloths at once.

An asset's settings do not come to other objects by dragging it: that brings the swatch itself. So the browser's context menu
has *Make Selected Cloth of This*.
"""

from pathlib import Path

import bpy

from ..panels.fabric import LIBRARY_FOLDER, preset_files, shown_name
from .read.participants import chosen_cloths, refuse_linked

LIBRARY_NAME = "Taffeta Fabrics"


def library() -> bpy.types.UserAssetLibrary | None:
    """Our library among those of the preferences."""
    found = bpy.context.preferences.filepaths.asset_libraries
    return next((one for one in found if Path(one.path) == Path(LIBRARY_FOLDER)), None)


class TAFFETA_OT_fabric_library(bpy.types.Operator):
    """Add the fabrics to the asset libraries of the preferences, for the Asset Browser; again takes them out"""

    bl_idname = "taffeta.fabric_library"
    bl_label = "Fabrics in Asset Browser"
    bl_options = {"REGISTER"}

    def execute(self, context):
        libraries, known = context.preferences.filepaths.asset_libraries, library()
        if known is not None:
            libraries.remove(known)
            self.report({"INFO"}, f"{LIBRARY_NAME} is no asset library any more")
            return {"FINISHED"}
        new = libraries.new(name=LIBRARY_NAME, directory=str(LIBRARY_FOLDER))
        new.use_relative_path = False
        self.report({"INFO"}, f"Asset Browser: choose the library {LIBRARY_NAME}; right-click a fabric to use it")
        return {"FINISHED"}


class TAFFETA_OT_fabric_apply(bpy.types.Operator):
    """Make all selected cloths of this fabric: its numbers, Thickness included; pins and maps stay"""

    bl_idname = "taffeta.fabric_apply"
    bl_label = "Make Selected Cloth of This"
    bl_options = {"REGISTER", "UNDO"}

    fabric: bpy.props.StringProperty(name="Fabric", description="Name of a fabric preset")

    def execute(self, context):
        path = next((path for path in preset_files() if shown_name(path) == self.fabric), None)
        try:
            if path is None:
                known = ", ".join(dict.fromkeys(map(shown_name, preset_files())))
                raise ValueError(f"There is no fabric '{self.fabric}'; there are {known}")
            chosen = chosen_cloths(context)
            for obj in chosen:
                refuse_linked(obj)
        except ValueError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        for obj in chosen:
            obj.taffeta_fabric.choice = str(path)
        self.report({"INFO"}, f"{', '.join(obj.name for obj in chosen)}: made of {self.fabric}")
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory((TAFFETA_OT_fabric_library, TAFFETA_OT_fabric_apply))
