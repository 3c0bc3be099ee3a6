# SPDX-License-Identifier: GPL-3.0-or-later
"""Save the garment's fabric as a preset of the animator's own, or remove one; the menus are `panels.fabric`.

Presets are Blender's: small Python files in presets/taffeta_fabric/, ours in the extension, the animator's in Blender's
user folder, each with a picture beside it. They hold what the cloth is made of, not where it is pinned or what is painted
on it.
"""

import os
import shutil
from pathlib import Path

import bpy
from bl_operators.presets import AddPresetBase

from ..panels.fabric import PRESET_SUBDIR, preset_files, shown_name
from ..panels.mapped import FABRIC, THREADS
from ..panels.translations import translated
from ..solver.cache.files import in_words
from .fabric_assets import OWN_NAME, keep_swatch
from .overlay.thumbnail import draw_thumbnail
from .read.participants import chosen_cloths
from .read.screen import refused

LONGEST_NAME = 48  # letters; Blender's own field takes 64


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

    def post_cb(self, context, filepath):
        """Blender calls this after it wrote the preset: from now on the garment is made of that. It gets a picture, and a
        swatch in the asset library."""
        if self.remove_name or self.remove_active:
            return
        path, obj = Path(filepath), context.object
        base, obj.taffeta_fabric.chosen = obj.taffeta_fabric.chosen, shown_name(filepath)
        try:
            if not draw_thumbnail(context, obj, path.with_suffix(".png")):
                _borrow(base, path)
            keep_swatch(path, base)
        except OSError as error:
            self.report(
                {"WARNING"}, translated(f"{shown_name(path)} is saved, but not all that shows it: {in_words(error)}")
            )

    def remove(self, context, filepath):
        """Blender calls this to remove a preset: its picture and its swatch go with it."""
        os.remove(filepath)
        for shown in (Path(filepath).with_suffix(suffix) for suffix in (".png", ".blend")):
            if shown.is_file() and not shown.is_symlink():
                shown.unlink()


def free_name(wanted: str) -> str:
    """`wanted`, or with the first number behind it that no preset has."""
    taken, wanted = {path.stem for path in preset_files()}, wanted[:LONGEST_NAME].strip() or "Fabric"
    names = (wanted if number == 1 else f"{wanted} {number}" for number in range(1, len(taken) + 2))
    return next(name for name in names if AddPresetBase.as_filename(name) not in taken)


class TAFFETA_OT_fabric_save(bpy.types.Operator):
    """Keep this fabric under the garment's name, in this menu and as an asset, with a picture of the garment as the viewport shows it"""

    bl_idname = "taffeta.fabric_save"
    bl_label = "Save Fabric as Preset"
    bl_options = {"REGISTER"}

    name: bpy.props.StringProperty(name="Name", description="Name of the preset; empty takes that of the garment")

    @classmethod
    def poll(cls, context):
        return TAFFETA_OT_fabric_preset_add.poll(context)

    def execute(self, context):
        try:
            (obj,) = chosen_cloths(context, context.object.name)
            base = obj.taffeta_fabric.chosen
            name = free_name(self.name or f"{obj.name} {base}".strip())
            if bpy.ops.taffeta.fabric_preset_add(name=name) != {"FINISHED"}:
                raise ValueError(f"The fabric of {obj.name} could not be saved as {name}; give it another name")
            path = next(path for path in preset_files() if path.stem == AddPresetBase.as_filename(name))
        except (ValueError, OSError) as error:
            return refused(self, error)
        self.report(
            {"INFO"},
            translated(f"Saved as {shown_name(path)}: choose it from the fabrics of any cloth, or in {OWN_NAME}"),
        )
        return {"FINISHED"}


def _borrow(base: str, path: Path):
    """The picture of the fabric that a new one was made from, where none can be drawn."""
    pictures = (other.with_suffix(".png") for other in preset_files() if shown_name(other) == base and other != path)
    if (picture := next(pictures, None)) is not None and picture.is_file():
        shutil.copyfile(picture, path.with_suffix(".png"))
        os.utime(path.parent)  # the menu looks for new files by the folder's time


register, unregister = bpy.utils.register_classes_factory((TAFFETA_OT_fabric_preset_add, TAFFETA_OT_fabric_save))
