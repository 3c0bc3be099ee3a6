# SPDX-License-Identifier: GPL-3.0-or-later
"""The queue of takes: each is all settings and painted maps under a name, and is baked to an entry of its own, one after another.

A take that cannot be baked says why and does not hold up those behind it; Stop ends the queue. In the end the settings are
as they were before, and the last bake plays.
"""

from types import SimpleNamespace
from typing import NamedTuple

import bpy
from bpy.app.handlers import persistent
from bpy.props import IntProperty, StringProperty

from ..panels.translations import translated
from ..solver.cache import recipe
from .bake import job as jobs
from .bake_queue import BAKED, BakeQueue
from .read import snapshot, who_is_who
from .read.listen import listen, listen_no_more
from .read.participants import cloths_of
from .read.screen import refused


class Before(NamedTuple):
    """What a scene had before its queue was baked."""

    settings: recipe.Recipe
    uids: dict[str, int]  # which object is meant by each name: somebody may rename it meanwhile


# The take whose settings the scene has while the queue is baked, and those that it had before: a file that is saved meanwhile has these.
_baking = SimpleNamespace(scene="", index=-1, before=None)


class TAFFETA_OT_take_add(bpy.types.Operator):
    """Put all settings of Taffeta, as they are now, painted maps and the frame range into the queue, to be baked later"""

    bl_idname = "taffeta.take_add"
    bl_label = "Add Take"
    bl_options = {"REGISTER", "UNDO"}

    label: StringProperty(name="Name", description="What the take, and its bake in the list, is called")

    def invoke(self, context, event):
        return context.window_manager.invoke_props_dialog(self)

    def execute(self, context):
        scene = context.scene
        cloths = cloths_of(scene)
        if not cloths:
            self.report({"ERROR"}, translated(f"Scene {scene.name} has no Taffeta Cloth; add one in the Physics tab"))
            return {"CANCELLED"}
        known = snapshot.take(scene, cloths)
        settings = recipe.text_of(known)
        take = scene.taffeta_takes.add()
        for name, mark in who_is_who.marked(scene, _names(known)).items():
            member = take.members.add()
            member.name, member.mark = name, mark
        take.name = self.label.strip() or f"Take {len(scene.taffeta_takes)}"
        take.settings, take.frame_start, take.frame_end = settings, scene.frame_start, scene.frame_end
        return {"FINISHED"}


class TakeVerb:
    """What verbs of one take share."""

    bl_options = {"REGISTER", "UNDO", "INTERNAL"}

    index: IntProperty(name="Take", description="Its place in the queue, from 0", options={"SKIP_SAVE"})

    def execute(self, context):
        takes = context.scene.taffeta_takes
        try:
            if not 0 <= self.index < len(takes):
                raise ValueError(f"The queue has {len(takes)} takes, not {self.index + 1}; choose one of them")
            self.work(context.scene, takes)
        except ValueError as error:
            return refused(self, error)
        return {"FINISHED"}


class TAFFETA_OT_take_remove(TakeVerb, bpy.types.Operator):
    """Take this take out of the queue; what was baked of it stays in the list of bakes"""

    bl_idname = "taffeta.take_remove"
    bl_label = "Remove Take"

    def work(self, scene, takes):
        takes.remove(self.index)


class TAFFETA_OT_take_show(TakeVerb, bpy.types.Operator):
    """Give the garments and the scene the settings of this take"""

    bl_idname = "taffeta.take_show"
    bl_label = "Show Take"

    def work(self, scene, takes):
        for sentence in give(scene, takes[self.index]):
            self.report({"INFO"}, translated(sentence))


def give(scene: bpy.types.Scene, take: bpy.types.PropertyGroup) -> list[str]:
    """Give a scene and its garments the settings of a take; sentences on what of them could not be had.

    Raises
    ------
    ValueError
        They cannot be read, or are of garments that are not there: a sentence, and nothing was changed.
    """
    names = who_is_who.called_now(scene, {member.name: member.mark for member in take.members})
    settings, cloths = snapshot.as_called(recipe.parse(take.settings), names), cloths_of(scene)
    snapshot.refuse_unknown(settings, cloths)
    return snapshot.apply(settings, scene, cloths, take.name)


def _names(known: recipe.Recipe) -> list[str]:
    """Of all whose settings these are."""
    return list(dict.fromkeys((*known.settings["cloths"], *known.settings["bodies"])))


def _as_it_is(scene: bpy.types.Scene) -> Before:
    known = snapshot.take(scene, cloths_of(scene), with_maps=False)
    return Before(known, who_is_who.uids(scene, _names(known)))


def _give_back(scene: bpy.types.Scene, before: Before) -> None:
    """The settings of before, to each whatever it is called by now."""
    names = who_is_who.of_uids(scene, before.uids)
    snapshot.apply(snapshot.as_called(before.settings, names), scene, cloths_of(scene))


class TAFFETA_OT_takes_bake(BakeQueue, bpy.types.Operator):
    """Bake every take of the queue, one after another, each to an entry of its own in the list of bakes"""

    bl_idname = "taffeta.takes_bake"
    bl_label = "Bake Queue"

    def begin(self, scene):
        if not scene.taffeta_takes:
            self.report({"ERROR"}, "The queue is empty; add a take first")
            return False
        for take in scene.taffeta_takes:
            take.outcome = ""
        self._before = _as_it_is(scene)
        self._lacks = {}
        _baking.scene, _baking.index, _baking.before = scene.name, -1, self._before
        return True

    def count(self, scene):
        return len(scene.taffeta_takes)

    def make_ready(self, scene, index):
        take = scene.taffeta_takes[index]
        self._lacks[index] = give(scene, take)
        _baking.index = index
        return take.name

    def tell(self, scene, index, told):
        if index < len(scene.taffeta_takes):  # else undone meanwhile
            scene.taffeta_takes[index].outcome = "; ".join((told, *self._lacks.get(index, ())))

    def execute(self, context):
        try:
            return super().execute(context)
        finally:
            _baking.before = None

    def cancel(self, context):
        _baking.before = None
        super().cancel(context)

    def end(self, scene):
        _baking.before = None
        _give_back(scene, self._before)
        whole = [take.outcome.startswith(BAKED) for take in scene.taffeta_takes]
        for take, is_whole in zip(scene.taffeta_takes, whole, strict=True):
            self.report(
                {"INFO" if is_whole else "WARNING"}, translated(f"{take.name}: {take.outcome or 'It was not baked'}")
            )
        return {"FINISHED"} if all(whole) else {"CANCELLED"}


def _baked_scene() -> bpy.types.Scene | None:
    """The scene whose take is baked now."""
    return bpy.data.scenes.get(_baking.scene) if _baking.before is not None and jobs.running() else None


@persistent
def _before_saving(*_):
    if (scene := _baked_scene()) is not None:
        _give_back(scene, _baking.before)


@persistent
def _after_saving(*_):
    scene = _baked_scene()
    if scene is not None and 0 <= _baking.index < len(scene.taffeta_takes):
        try:
            give(scene, scene.taffeta_takes[_baking.index])
        except ValueError as error:  # the frames go on; what is sampled of them is the shot's
            print(f"Taffeta: {error}")


@persistent
def _on_load(*_):
    """Another file: its own takes."""
    _baking.before = None


_register, _unregister = bpy.utils.register_classes_factory(
    (TAFFETA_OT_take_add, TAFFETA_OT_take_remove, TAFFETA_OT_take_show, TAFFETA_OT_takes_bake)
)
HANDLERS = (
    ("save_pre", _before_saving),
    ("save_post", _after_saving),
    ("save_post_fail", _after_saving),
    ("load_post", _on_load),
)


def register():
    """Add the verbs, and let a file that is saved while the queue is baked be the shot."""
    _register()
    listen(HANDLERS)


def unregister():
    """Do that no more."""
    listen_no_more(HANDLERS)
    _unregister()
