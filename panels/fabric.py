# SPDX-License-Identifier: GPL-3.0-or-later
"""Fabrics to choose from: shipped ones and the animator's own, with their pictures, and the name of what was chosen.

Fabrics are presets in Blender's own system; the picture of `Silk.py` is `Silk.png` beside it. `Object.taffeta_fabric` keeps
which one was chosen, so that the panel can say so when a slider was moved since.
"""

import os
from pathlib import Path

import bpy
import bpy.utils.previews
from bl_ui.utils import PresetPanel
from bpy.props import EnumProperty, PointerProperty, StringProperty

from .mapped import FABRIC, OVERRIDE, THREADS, follow_value
from .translations import translated

# The folder above presets/taffeta_fabric/, which is where Blender looks for shipped presets.
PRESET_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PRESET_SUBDIR = "taffeta_fabric"
LIBRARY_FOLDER = os.path.join(
    PRESET_ROOT, "presets", "assets"
)  # swatches of the shipped fabrics, for the Asset Browser
NO_CHOICE = "NONE"
PICTURE_SCALE, POPUP_SCALE = 3.0, 5.0  # of the picture in the panel, and of those to choose from, in rows

# What the folders held when they were looked at last: their times, the items of the menu. And the pictures by path.
_listed: dict[str, tuple] = {"times": (), "items": ()}
_pictures: dict[str, bpy.utils.previews.ImagePreviewCollection] = {}


def shown_name(path: str | Path) -> str:
    """What a preset's file is called in menus."""
    return bpy.path.display_name(Path(path).name, title_case=False)


def own_folder() -> Path:
    """Where Blender keeps the animator's own fabrics; it need not exist."""
    return Path(bpy.utils.user_resource("SCRIPTS", path=os.path.join("presets", PRESET_SUBDIR)))


def preset_files() -> list[Path]:
    """All fabric presets, the animator's first, each folder by name."""
    folders = dict.fromkeys(bpy.utils.preset_paths(PRESET_SUBDIR))
    return [path for folder in folders for path in sorted(Path(folder).glob("*.py")) if path.is_file()]


def _items(_self=None, _context=None):
    """The menu's items: path, name, tooltip, picture, number. Blender needs them kept, and asks at every drawing."""
    times = tuple((folder, os.stat(folder).st_mtime_ns) for folder in bpy.utils.preset_paths(PRESET_SUBDIR))
    if times != _listed["times"]:
        none = NO_CHOICE, "Choose a Fabric", "The numbers of the sliders", "MATCLOTH", 0
        found = [
            (str(path), shown_name(path), f"Make the cloth of {shown_name(path)}", _picture(path), number)
            for number, path in enumerate(preset_files(), 1)
        ]
        _listed.update(times=times, items=(none, *found))
    return _listed["items"]


def _picture(path: Path) -> int | str:
    """Icon of a preset; that of cloth where it has no picture."""
    picture = path.with_suffix(".png")
    if not picture.is_file():
        return "MATCLOTH"
    pictures = _pictures["fabrics"]
    key = f"{picture} {picture.stat().st_mtime_ns}"  # a preset that was saved anew has another
    if key not in pictures:
        pictures.load(key, str(picture), "IMAGE").image_size[:]  # asking makes Blender read it now: it is small
    return pictures[key].icon_id


def picture_of(fabric: str) -> int:
    """Icon of the preset that a note names, "Silk" or "Silk, changed"; 0 without one."""
    name = fabric.removesuffix(", changed")
    return next((item[3] for item in _items() if item[1] == name and isinstance(item[3], int)), 0)


def _chosen(self) -> int:
    """Number of the item whose name was chosen last."""
    return next((item[4] for item in _items() if item[1] == self.chosen and item[0] != NO_CHOICE), 0)


def _choose(self, number: int):
    """Run the preset, as Blender's own menu does, on the object of this group."""
    path = next((item[0] for item in _items() if item[4] == number), NO_CHOICE)
    if path != NO_CHOICE:
        with bpy.context.temp_override(object=self.id_data):
            bpy.ops.script.execute_preset(filepath=path, menu_idname=TAFFETA_PT_fabric_presets.__name__)


def _tell(self, _context):
    """Have Blender call the handlers of a changed object: what the panel says of its fabric is made anew."""
    self.id_data.update_tag()


class TaffetaFabric(bpy.types.PropertyGroup):
    """Which fabric was chosen for a garment."""

    chosen: StringProperty(
        name="Fabric", override=OVERRIDE, update=_tell, description="Name of the preset that was chosen last"
    )
    choice: EnumProperty(
        name="Fabric", items=_items, get=_chosen, set=_choose, options=set(),
        description="What the cloth is made of: sets all numbers below, Thickness included; pins and maps stay",
    )  # fmt: skip


class TAFFETA_PT_fabric_presets(PresetPanel, bpy.types.Panel):
    """Fabrics with measured numbers; a painted map keeps its contrast when the fabric changes"""

    bl_label = "Fabric Presets"
    preset_subdir = PRESET_SUBDIR
    preset_operator = "script.execute_preset"
    preset_add_operator = "taffeta.fabric_preset_add"

    @staticmethod
    def reset_cb(context, _filepath):
        """Blender calls this before a preset runs: one that says nothing of warp and weft means no difference."""
        for name, same in THREADS.items():
            setattr(context.object.taffeta_cloth, name, same)

    @staticmethod
    def post_cb(context, filepath):
        """Blender calls this after a preset ran: Min and Max of each property go along with its new value."""
        obj = context.object
        obj.taffeta_fabric.chosen = shown_name(filepath)
        bpy.ops.taffeta.fabric_settle(object=obj.name)
        for name in FABRIC:
            follow_value(obj.taffeta_cloth, name)


def name_of(obj: bpy.types.Object) -> str:
    """What a garment is made of, and whether it was changed; what was chosen last where the list was not made since; "" if none."""
    note = bpy.context.window_manager.taffeta.fabrics.get(obj.name)
    return (note.fabric if note else "") or obj.taffeta_fabric.chosen


def draw_picker(layout, context):
    """The picture of the fabric, which opens the menu of all; its name, whether it was changed, and a button to keep it."""
    obj = context.object
    row = layout.row()
    row.template_icon_view(obj.taffeta_fabric, "choice", show_labels=True, scale=PICTURE_SCALE, scale_popup=POPUP_SCALE)
    column = row.column()
    column.label(text=translated(name_of(obj) or "A fabric of its own"))
    buttons = column.row(align=True)
    buttons.operator("taffeta.fabric_save", text="Save as Preset", icon="ADD")
    buttons.operator("taffeta.fabric_library", text="", icon="ASSET_MANAGER")


def asset_menu(self, context):
    """A line in the Asset Browser's context menu, where the asset is one of our fabrics."""
    asset = getattr(context, "asset", None)
    path = getattr(asset, "full_library_path", "")
    if path and Path(path).parent in (Path(LIBRARY_FOLDER), own_folder()):
        self.layout.operator("taffeta.fabric_apply", icon="MATCLOTH").fabric = asset.name
        self.layout.separator()


def register():
    """Register the menu and tell Blender where the shipped fabrics are."""
    _pictures["fabrics"] = bpy.utils.previews.new()
    bpy.utils.register_class(TaffetaFabric)
    bpy.utils.register_class(TAFFETA_PT_fabric_presets)
    bpy.types.Object.taffeta_fabric = PointerProperty(type=TaffetaFabric, override=OVERRIDE)
    bpy.types.ASSETBROWSER_MT_context_menu.prepend(asset_menu)
    bpy.utils.register_preset_path(PRESET_ROOT)


def unregister():
    """Undo `register`."""
    bpy.utils.unregister_preset_path(PRESET_ROOT)
    bpy.types.ASSETBROWSER_MT_context_menu.remove(asset_menu)
    del bpy.types.Object.taffeta_fabric
    bpy.utils.unregister_class(TAFFETA_PT_fabric_presets)
    bpy.utils.unregister_class(TaffetaFabric)
    _listed.update(times=(), items=())
    bpy.utils.previews.remove(_pictures.pop("fabrics"))
