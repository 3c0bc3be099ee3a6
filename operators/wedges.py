# SPDX-License-Identifier: GPL-3.0-or-later
"""Wedges in the window: settings with several values, every combination baked to a cache of its own.

The shot's own settings and bake come back after each; its frames are never written to.
"""

from types import SimpleNamespace

import bpy
from bpy.app.handlers import persistent
from bpy.props import IntProperty, StringProperty

from ..panels.translations import translated
from ..solver.cache import wedge as wedges
from ..solver.cache.files import in_words
from . import wedge_table
from .bake import job as jobs
from .bake import wedged
from .bake_queue import BAKED, BakeQueue
from .checks.problem_list import look_again
from .live import turn
from .playback.bake_files import bake_paths, keep_name
from .read import setting_path, who_is_who
from .read.listen import listen, listen_no_more
from .read.participants import cloths_of, refuse_linked
from .read.screen import redraw, refused
from .wedge_copies import keep_adopted

FAILURES = ValueError, OSError
# The wedge whose the scene is while it is baked beside the window, and what the scene was before: a file that is saved
# meanwhile is the shot.
_baking = SimpleNamespace(scene="", wedge=None, before=None)
#: what garments and bodies were called, by their uids, when the wedges on the disk were listed; and what all is called
_listed = SimpleNamespace(names={}, every=[])


def asked(scene: bpy.types.Scene) -> list[wedges.Wedge]:
    """Every combination of the wedges that are listed in a scene."""
    varied = [setting_path.wedge(f"{entry.path()}={entry.values}") for entry in scene.taffeta_wedges]
    return wedges.combinations({}, varied) if varied else []


def keep_names(scene: bpy.types.Scene) -> None:
    """Note what garments, and objects whose settings are listed, are called while wedges of them are baked."""
    cloths = cloths_of(scene)
    for obj, path in zip(cloths, bake_paths(scene, cloths), strict=True):
        keep_name(obj, path)
    for entry in scene.taffeta_wedges:
        now = entry.owner()
        if now is not None and now not in entry.owners.split("\n"):
            entry.owners += f"\n{now}"


def list_again(context: bpy.types.Context) -> None:
    """Let the panel know which wedges lie on the disk, what came out of each, and which plays."""
    found, scene = context.window_manager.taffeta_wedges, context.scene
    found.clear()
    _listed.names, _listed.every = _names(scene), scene.objects.keys()
    cloths = cloths_of(scene)
    table = wedge_table.rows(scene, cloths, wedge_table.on_disk(scene)) if cloths else []
    baked = [row.wedge.settings for row in table if row.frames]
    for row in table:
        settings = wedged.as_called(scene, row.wedge)
        is_anew = settings != row.wedge.settings and settings in baked  # baked again since something was renamed
        if row.frames and not is_anew:
            item = found.add()
            item.name, item.frame_count = row.wedge.name, len(row.frames)
            item.settings = ", ".join(f"{path} = {value}" for path, value in settings.items())
            headings = [heading for _, heading, _ in wedge_table.FIGURES]
            told = zip(headings, wedge_table.in_words(row), strict=True)
            item.figures = ", ".join(f"{heading} {text}" for heading, text in list(told)[1:] if text)
            item.plays = all(wedge_table.plays(obj, path) for obj, path in zip(cloths, row.paths, strict=True))
    redraw(context, "PROPERTIES")


def _names(scene) -> dict[int, str]:
    return {obj.session_uid: obj.name for obj in scene.objects if obj.type == "MESH"}


class TAFFETA_OT_wedge_add(bpy.types.Operator):
    """List a setting with the values that are to be tried, as Skirt.bending with 1e-6, 1e-5, 1e-4"""

    bl_idname = "taffeta.wedge_add"
    bl_label = "Add Wedge"
    bl_options = {"REGISTER", "UNDO"}

    path: StringProperty(
        name="Setting", description="OBJECT.SETTING as Skirt.bending, or of the scene: scene.wind.x. Values are SI"
    )
    values: StringProperty(name="Values", description="Numbers or words with commas between")

    def invoke(self, context, event):
        if not self.path and context.object is not None:
            self.path = f"{context.object.name}.bending"
        return context.window_manager.invoke_props_dialog(self, width=420)

    def execute(self, context):
        scene = context.scene
        try:
            path, values = setting_path.wedge(f"{self.path}={self.values}")
            if path in [entry.path() for entry in scene.taffeta_wedges]:
                raise ValueError(f"{path} is listed already; remove it first")
            wedged.check(scene, wedges.combinations({}, [(path, values)]))
            owner = setting_path.find(scene, path).owner
        except FAILURES as error:
            return refused(self, error)
        entry = scene.taffeta_wedges.add()
        entry.name, entry.values = path, ",".join(values)
        entry.owners, entry.mark = owner, who_is_who.marked(scene, [owner])[owner] if owner in scene.objects else ""
        return {"FINISHED"}


class TAFFETA_OT_wedge_remove(bpy.types.Operator):
    """Take this setting out of the list; what was baked of it stays"""

    bl_idname = "taffeta.wedge_remove"
    bl_label = "Remove Wedge"
    bl_options = {"REGISTER", "UNDO", "INTERNAL"}

    index: IntProperty(name="Wedge", description="Its place in the list, from 0", options={"SKIP_SAVE"})

    def execute(self, context):
        listed = context.scene.taffeta_wedges
        if not 0 <= self.index < len(listed):
            self.report(
                {"ERROR"}, translated(f"{len(listed)} wedges are listed, not {self.index + 1}; choose one of them")
            )
            return {"CANCELLED"}
        listed.remove(self.index)
        return {"FINISHED"}


class TAFFETA_OT_wedges_bake(BakeQueue, bpy.types.Operator):
    """Bake every combination of the values that are listed, each to a cache of its own; the shot's own bake stays, and plays
    again in the end"""

    bl_idname = "taffeta.wedges_bake"
    bl_label = "Bake Wedges"
    bl_description = " ".join(__doc__.split())

    def begin(self, scene):
        turn.end()
        try:
            self._every, self._told = asked(scene), {}
            if not self._every:
                raise ValueError("No wedge is listed; add a setting and its values first")
            cloths = cloths_of(scene)
            if not cloths:
                raise ValueError(f"Scene {scene.name} has no Taffeta Cloth; add one in the Physics tab")
            for obj in cloths:
                refuse_linked(obj)
            wedged.check(scene, self._every)
            keep_adopted(scene, cloths)  # of a .blend from before frames were copied where they are adopted
        except FAILURES as error:
            refused(self, error)
            return False
        return True

    def count(self, scene):
        return len(self._every)

    def make_ready(self, scene, index):
        cloths, wedge = cloths_of(scene), self._every[index]
        _baking.scene, _baking.wedge, _baking.before = scene.name, wedge, wedged.put_on(scene, cloths, wedge)
        wedged.note(scene, cloths, wedge)
        return wedge.name

    def tell(self, scene, index, told):
        self._told[self._every[index].name] = told
        if _baking.before is not None:
            wedged.take_off(scene, _baking.before)
            _baking.before = None

    def cancel(self, context):
        _baking.before = None
        super().cancel(context)

    def end(self, scene):
        keep_names(scene)
        list_again(bpy.context)
        look_again()
        scene.frame_set(scene.frame_current, subframe=scene.frame_subframe)
        whole = [self._told.get(wedge.name, "").startswith(BAKED) for wedge in self._every]
        for wedge, is_whole in zip(self._every, whole, strict=True):
            if not is_whole:
                self.report({"WARNING"}, translated(f"{wedge.name}: {self._told.get(wedge.name, 'It was not baked')}"))
        told = f"None of {len(whole)} wedges was baked"
        if any(whole):
            told = f"Baked {sum(whole)} of {len(whole)} wedges; Adopt plays one"
        self.report({"INFO"}, translated(told))
        return {"FINISHED"} if all(whole) else {"CANCELLED"}


class TAFFETA_OT_wedges_list(bpy.types.Operator):
    """Look again which wedges lie on the disk, as after a farm has baked some"""

    bl_idname = "taffeta.wedges_list"
    bl_label = "List Wedges Again"

    def execute(self, context):
        list_again(context)
        return {"FINISHED"}


@persistent
def _before_saving(*_):
    if (scene := bpy.data.scenes.get(_baking.scene)) is not None and _baking.before is not None:
        wedged.take_off(scene, _baking.before)


@persistent
def _after_saving(*_):
    if (scene := bpy.data.scenes.get(_baking.scene)) is not None and _baking.before is not None:
        try:
            _baking.before = wedged.put_on(scene, cloths_of(scene), _baking.wedge)
        except FAILURES as error:  # the frames go on to where they went; the scene stays the shot
            _baking.before = None
            print(f"Taffeta: {in_words(error)}")


@persistent
def _after_change(*_):
    """What is listed by a garment's name, or a body's, follows a rename."""
    scene = bpy.context.scene
    if not bpy.context.window_manager.taffeta_wedges or scene is None or jobs.running():
        return
    every = scene.objects.keys()  # of 5,000 objects in a small part of the time that their types and uids take
    if every == _listed.every:
        return
    _listed.every = every
    if _names(scene) != _listed.names:
        list_again(bpy.context)


@persistent
def _on_load(*_):
    """Another file: its own wedges."""
    _baking.before = None
    if bpy.context.scene is not None:
        list_again(bpy.context)


_register, _unregister = bpy.utils.register_classes_factory(
    (
        TAFFETA_OT_wedge_add,
        TAFFETA_OT_wedge_remove,
        TAFFETA_OT_wedges_bake,
        TAFFETA_OT_wedges_list,
    )
)


HANDLERS = (
    ("load_post", _on_load),
    ("depsgraph_update_post", _after_change),
    ("undo_post", _after_change),
    ("redo_post", _after_change),
    ("save_pre", _before_saving),
    ("save_post", _after_saving),
    ("save_post_fail", _after_saving),
)


def register():
    """Add the verbs, and look for wedges when a file is opened or something is renamed."""
    _register()
    listen(HANDLERS)


def unregister():
    """Do that no more."""
    listen_no_more(HANDLERS)
    _unregister()
