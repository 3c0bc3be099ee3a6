# SPDX-License-Identifier: GPL-3.0-or-later
"""Deleting bakes: the one that plays, and older ones that were set aside when something else was baked."""

import bpy

from ..solver.cache import frames
from ..solver.cache.files import in_words
from .checks.problem_list import look_again
from .playback.bake_files import cache_file, is_foreign, older_sentence, own_older, shared_with
from .playback.cache_modifier import detach
from .read.modifier_stack import find_cache, is_inherited
from .read.participants import chosen_cloths, refuse_linked


def _freed(obj, scene, older: bool) -> int:
    """Take the bake off `obj` and delete its files unless others play them, or it is another .blend's that is still
    there; returns how many bakes were deleted.
    """
    refuse_linked(obj)
    modifier = find_cache(obj)
    if modifier is not None and is_inherited(obj, modifier):
        raise ValueError(f"{obj.name} plays a bake that belongs to the library; free it there, or switch it off here")
    path = cache_file(obj)
    count = 0
    if path is not None and not shared_with(obj):
        own = () if is_foreign(path) else (path,)
        for bake in (*own, *(own_older(obj, scene) if older else ())):
            if frames.free(bake):
                count += 1
                bake.with_suffix(".report.json").unlink(missing_ok=True)
    detach(obj)
    cloth = obj.taffeta_cloth
    cloth.cache_path = cloth.stale = cloth.report_json = cloth.fingerprint = ""
    return count


class TAFFETA_OT_free(bpy.types.Operator):
    """Delete the baked frames of the selected cloths and show their own pose again"""

    bl_idname = "taffeta.free"
    bl_label = "Free Bake"
    bl_options = {"REGISTER", "UNDO"}

    object: bpy.props.StringProperty(name="Object", description="Cloth to free; empty takes the selected ones")
    everything: bpy.props.BoolProperty(name="All Cloths", description="Free every cloth of the scene")
    older: bpy.props.BoolProperty(
        name="Older Bakes Too",
        description="Also delete the bakes that were set aside when something else was baked in their place",
    )

    def invoke(self, context, event):
        return context.window_manager.invoke_props_dialog(self)

    def draw(self, context):
        self.layout.label(text="The baked frames are deleted from disk. This cannot be undone.", icon="ERROR")
        self.layout.prop(self, "everything")
        self.layout.prop(self, "older")

    def execute(self, context):
        try:
            targets = chosen_cloths(context, self.object, self.everything)
            foreign = [obj.name for obj in targets if (path := cache_file(obj)) is not None and is_foreign(path)]
            counts = [_freed(obj, context.scene, self.older) for obj in targets]
        except (ValueError, OSError) as error:
            self.report({"ERROR"}, in_words(error))
            return {"CANCELLED"}
        freed = "1 bake" if sum(counts) == 1 else f"{sum(counts)} bakes"
        if foreign:
            self.report({"WARNING"}, f"Another .blend's bake was left on the disk: of {', '.join(foreign)}")
        self.report({"INFO"}, f"Freed {freed} of {', '.join(obj.name for obj in targets)}")
        return {"FINISHED"}


class TAFFETA_OT_free_older(bpy.types.Operator):
    """Delete the bakes of a cloth that were set aside when something else was baked; the one that plays stays"""

    bl_idname = "taffeta.free_older"
    bl_label = "Delete Older Bakes"
    bl_options = {"REGISTER"}

    object: bpy.props.StringProperty(name="Object", description="Cloth to clear up; empty takes the selected ones")

    def invoke(self, context, event):
        return context.window_manager.invoke_confirm(self, event)

    def execute(self, context):
        try:
            targets = chosen_cloths(context, self.object)
            paths = [path for obj in targets for path in own_older(obj, context.scene)]
            sentence = older_sentence(paths)
            for path in paths:
                frames.free(path)
        except (ValueError, OSError) as error:
            self.report({"ERROR"}, in_words(error))
            return {"CANCELLED"}
        look_again()
        self.report({"INFO"}, f"Deleted {sentence} of {', '.join(obj.name for obj in targets)}")
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory((TAFFETA_OT_free, TAFFETA_OT_free_older))
