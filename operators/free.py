# SPDX-License-Identifier: GPL-3.0-or-later
"""Freeing bakes: the cloth shows its own pose again, and the files go into the trash of their folder, not away."""

import bpy

from ..panels.translations import translated
from ..solver.cache import trash
from .checks.problem_list import look_again
from .playback.bake_files import bake_paths, bakes_of, remember_name, shared_with
from .playback.cache_modifier import forget_bake
from .playback.owners import cache_file, maker_of
from .read.modifier_stack import find_cache, is_inherited
from .read.participants import chosen_cloths, cloths_of, refuse_linked
from .read.screen import refused

OTHERS = (
    ("REFUSE", "Ask", "Free nothing, and say whose bake it is"),
    ("LEAVE", "Leave Them", "Stop playing bakes that another .blend made; their files stay where they are"),
    (
        "TRASH",
        "Into the Trash",
        "Put bakes that another .blend made into the trash, too: it does not play them any more",
    ),
)


def makers(cloths: list[bpy.types.Object]) -> dict[str, str]:
    """By name of the cloths that play a bake of another .blend: that one's name."""
    found = {
        obj.name: maker_of(path) for obj in cloths if (path := cache_file(obj)) is not None and not shared_with(obj)
    }
    return {name: maker for name, maker in found.items() if maker}


def _refuse(obj) -> None:
    """Raise a ValueError, with a sentence, for a cloth whose bake is a library's."""
    refuse_linked(obj)
    modifier = find_cache(obj)
    if modifier is not None and is_inherited(obj, modifier):
        raise ValueError(f"{obj.name} plays a bake that belongs to the library; free it there, or switch it off here")


def _freed(obj, scene, older: bool, others: str) -> int:
    """Take the bake off `obj` and put its files into the trash, unless other objects play them, or it is another .blend's
    that is to be left; returns how many bakes went there.
    """
    path, count = cache_file(obj), 0
    remember_name(obj, bake_paths(scene, [obj])[0], none=True)
    if path is not None and not shared_with(obj):
        own = [] if maker_of(path) and others != "TRASH" else [path]
        cloths = cloths_of(scene)
        listed = bakes_of(scene, cloths)[cloths.index(obj)] if older else ()
        for bake in dict.fromkeys((*own, *(bake.path for bake in listed if not maker_of(bake.path)))):
            count += trash.put(bake) is not None
    forget_bake(obj)
    return count


class TAFFETA_OT_free(bpy.types.Operator):
    """Put the baked frames of the selected cloths into the trash, and show their own pose again"""

    bl_idname = "taffeta.free"
    bl_label = "Free Bake"
    bl_options = {"REGISTER", "UNDO"}

    object: bpy.props.StringProperty(name="Object", description="Cloth to free; empty takes the selected ones")
    everything: bpy.props.BoolProperty(name="All Cloths", description="Free every cloth of the scene")
    older: bpy.props.BoolProperty(name="All Their Bakes", description="Also those in the list that do not play now")
    others: bpy.props.EnumProperty(
        name="Bakes of Other Files",
        items=OTHERS,
        description="What becomes of a bake that another .blend made, as the one that this file was saved from",
        options={"SKIP_SAVE"},
    )

    def invoke(self, context, event):
        self.others = "LEAVE"  # the dialog asks
        return context.window_manager.invoke_props_dialog(self, width=420)

    def draw(self, context):
        layout = self.layout
        layout.label(text="Goes into the trash of the cache folder; Restore brings it back", icon="TRASH")
        layout.prop(self, "everything")
        layout.prop(self, "older")
        try:
            found = makers(chosen_cloths(context, self.object, self.everything))
        except ValueError:
            return
        for name, maker in found.items():
            layout.label(text=f"{name} plays a bake of {maker}", icon="ERROR")
        if found:
            row = layout.row()
            row.prop_enum(self, "others", "LEAVE")
            row.prop_enum(self, "others", "TRASH")

    def execute(self, context):
        try:
            targets = chosen_cloths(context, self.object, self.everything)
            for obj in targets:
                _refuse(obj)
            found = makers(targets)
            if found and self.others == "REFUSE":
                name, maker = next(iter(found.items()))
                raise ValueError(
                    f"{name} plays a bake of {maker}: nothing was freed. Choose what becomes of it: "
                    "others='LEAVE' only stops playing it, others='TRASH' puts it into the trash"
                )
            count = sum(_freed(obj, context.scene, self.older, self.others) for obj in targets)
        except (ValueError, OSError) as error:
            return refused(self, error)
        finally:
            look_again()
        if found and self.others == "LEAVE":
            left = ", ".join(f"{name} (of {maker})" for name, maker in found.items())
            self.report({"WARNING"}, translated(f"Another .blend's bake was left on the disk: {left}"))
        bakes = "1 bake" if count == 1 else f"{count} bakes"
        self.report(
            {"INFO"},
            translated(f"Freed {', '.join(obj.name for obj in targets)}: {bakes} in the trash, to restore or empty"),
        )
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory((TAFFETA_OT_free,))
