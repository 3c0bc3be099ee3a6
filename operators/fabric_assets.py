# SPDX-License-Identifier: GPL-3.0-or-later
"""Fabrics in the Asset Browser: libraries of swatches, and a fabric for all selected cloths at once.

The swatches that come with Taffeta are built by `scripts/fabric_assets.py`; one of an own preset is written beside it, in a
.blend of its own, when the preset is saved. An asset's settings do not come to other objects by dragging it: that brings the
swatch itself. So the browser's context menu has *Make Selected Cloth of This*.
"""

import os
from contextlib import contextmanager
from pathlib import Path

import bpy

from ..panels.fabric import LIBRARY_FOLDER, own_folder, preset_files, shown_name
from ..panels.mapped import FABRIC, THREADS, follow_value
from ..panels.translations import translated
from ..solver.cache.files import in_words, put_in_place, written
from .read.fabrics import presets
from .read.participants import chosen_cloths, refuse_linked
from .read.screen import refused

LIBRARY_NAME, OWN_NAME = "Taffeta Fabrics", "My Taffeta Fabrics"
CATALOG = "6f1c0a52-3f0e-4c5b-9a50-7a1f6a1e0c01"  # an id of our own making, as Blender wants one
CATALOGS = f"VERSION 1\n\n{CATALOG}:Fabrics:Fabrics\n"
CATALOG_FILE = "blender_assets.cats.txt"
SHAPE_OF = "Cotton"  # whose swatch is laid out where a fabric was made from none that comes with Taffeta
TAGS = "Taffeta", "cloth", "fabric"


def library(folder: str | Path = LIBRARY_FOLDER) -> bpy.types.UserAssetLibrary | None:
    """The library of a folder among those of the preferences."""
    found = bpy.context.preferences.filepaths.asset_libraries
    return next((one for one in found if Path(one.path) == Path(folder)), None)


def add_library(name: str, folder: str | Path) -> None:
    """Have the preferences list a folder of assets; again changes nothing."""
    if library(folder) is None:
        new = bpy.context.preferences.filepaths.asset_libraries.new(name=name, directory=str(folder))
        new.use_relative_path = False


def dress(obj: bpy.types.Object, numbers: dict[str, float]) -> None:
    """Make an object Taffeta Cloth of a preset's numbers (`read.fabrics.presets`) that is called as the object."""
    cloth = obj.taffeta_cloth
    cloth.enabled, cloth.uv_map, obj.taffeta_fabric.chosen = True, "Pattern", obj.name
    for name in FABRIC:
        getattr(cloth, name).value = numbers[name]
        follow_value(cloth, name)
    for name in THREADS:
        setattr(cloth, name, numbers[name])


def mark(obj: bpy.types.Object, picture: Path, numbers: dict[str, float], author: str, terms: str) -> None:
    """Make an object an asset with its picture, if there is one, and what a search should find."""
    obj.asset_mark()
    about = obj.asset_data
    about.catalog_id, about.author, about.license = CATALOG, author, terms
    about.description = f"{1000 * numbers['mass']:.0f} g/m², {1000 * numbers['thickness']:.2f} mm thick"
    for tag in TAGS:
        about.tags.new(tag, skip_if_exists=True)
    if picture.is_file():
        with bpy.context.temp_override(id=obj):
            bpy.ops.ed.lib_id_load_custom_preview(filepath=str(picture))


def keep_swatch(path: Path, base: str = "") -> None:
    """Write the swatch of an own preset, `path`, beside it, and list its folder among the asset libraries.

    base : the fabric that it was made from, whose swatch gives the shape.

    Raises
    ------
    OSError
        It cannot be written: a sentence.
    """
    name, numbers = shown_name(path), dict(presets()).get(shown_name(path))
    if numbers is None:  # edited by hand, without some number
        return
    target = path.with_suffix(".blend")
    part = target.with_name(f"{target.name}.part")
    with _swatch(name, base) as obj:
        dress(obj, numbers)
        mark(obj, path.with_suffix(".png"), numbers, "", "")
        try:
            bpy.data.libraries.write(str(part), {obj}, fake_user=True, compress=True)
            put_in_place(part, target)
            with written(path.with_name(CATALOG_FILE)) as out:
                out.write(CATALOGS.encode())
        except RuntimeError as error:
            raise OSError(f"{target} cannot be written: {' '.join(str(error).split())}") from error
        finally:
            part.unlink(missing_ok=True)
    add_library(OWN_NAME, path.parent)
    _show_anew()


@contextmanager
def _swatch(name: str, base: str):
    """An object of that very name, of the shape of a shipped swatch, which is gone afterwards."""
    before = set(bpy.data.objects), set(bpy.data.meshes)
    bearer = bpy.data.objects.get((name, None))
    if bearer is not None:
        bearer.name = f"{name[:40]} bears the name"
    try:
        with bpy.data.libraries.load(os.path.join(LIBRARY_FOLDER, "fabrics.blend")) as (there, here):
            here.objects = [base if base in there.objects else SHAPE_OF]
        (obj,) = here.objects
        obj.asset_clear()
        obj.name = obj.data.name = name
        yield obj
    finally:
        for kind, known in zip((bpy.data.objects, bpy.data.meshes), before, strict=True):
            for made in set(kind) - known:
                kind.remove(made)
        if bearer is not None:
            bearer.name = name


def _show_anew() -> None:
    """Have Asset Browsers that are open list what lies there now."""
    for window in bpy.context.window_manager.windows:
        for area in (area for area in window.screen.areas if area.ui_type == "ASSETS"):
            with bpy.context.temp_override(window=window, area=area):
                if bpy.ops.asset.library_refresh.poll():
                    bpy.ops.asset.library_refresh()


class TAFFETA_OT_fabric_library(bpy.types.Operator):
    """Add the fabrics, also those of your own, to the asset libraries of the preferences; again takes them out"""

    bl_idname = "taffeta.fabric_library"
    bl_label = "Show Fabrics in Asset Browser"
    bl_options = {"REGISTER"}

    def execute(self, context):
        libraries = context.preferences.filepaths.asset_libraries
        if library() is not None:
            for folder in (LIBRARY_FOLDER, own_folder()):
                if (known := library(folder)) is not None:
                    libraries.remove(known)
            self.report({"INFO"}, translated(f"{LIBRARY_NAME} is no asset library any more"))
            return {"FINISHED"}
        add_library(LIBRARY_NAME, LIBRARY_FOLDER)
        own = [path for path in preset_files() if path.parent == own_folder()]
        try:
            for path in own:
                if not path.with_suffix(".blend").exists():  # saved by an older Taffeta
                    keep_swatch(path)
        except OSError as error:
            self.report({"WARNING"}, translated(in_words(error)))
        if own:
            add_library(OWN_NAME, own_folder())
        names = f"{LIBRARY_NAME}, or {OWN_NAME}" if own else LIBRARY_NAME
        self.report({"INFO"}, translated(f"Asset Browser: choose the library {names}; right-click a fabric to use it"))
        return {"FINISHED"}


class TAFFETA_OT_fabric_apply(bpy.types.Operator):
    """Make all selected cloths of this fabric: its numbers, Thickness included; pins and maps stay"""

    bl_idname = "taffeta.fabric_apply"
    bl_label = "Make Selected Cloth of This"
    bl_options = {"REGISTER", "UNDO", "INTERNAL"}

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
            return refused(self, error)
        for obj in chosen:
            obj.taffeta_fabric.choice = str(path)
        self.report({"INFO"}, translated(f"{', '.join(obj.name for obj in chosen)}: made of {self.fabric}"))
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory((TAFFETA_OT_fabric_library, TAFFETA_OT_fabric_apply))
