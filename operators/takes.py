# SPDX-License-Identifier: GPL-3.0-or-later
"""The queue of takes: each is all settings and painted maps under a name, and is baked to an entry of its own, one after another.

A take that cannot be baked says why and does not hold up those behind it; Stop ends the queue. In the end the settings are
as they were before, and the last bake plays.
"""

import bpy
from bpy.props import IntProperty, StringProperty

from ..solver.cache import recipe
from .bake import job as jobs
from .read import snapshot
from .read.participants import cloths_of

BAKED = "Baked"  # how the outcome of a whole take begins
TICK = 0.25  # [s] between two looks of the window whether the bake has ended


def outcome(job: jobs.Ended | None, fault: str = "") -> str:
    """What became of a take, in a sentence."""
    if job is None or fault:
        return fault or "It was not baked"
    first, last = job.first_frame, job.frame
    if job.complete:
        return f"{BAKED} frames {first} to {last}"
    kept = f"frames {first} to {last} are kept" if last >= first else "no frame was finished"
    return f"{job.error or 'Stopped'}: {kept}"


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
            self.report({"ERROR"}, f"Scene {scene.name} has no Taffeta Cloth; add one in the Physics tab")
            return {"CANCELLED"}
        settings = recipe.text_of(snapshot.take(scene, cloths))
        take = scene.taffeta_takes.add()
        take.name = self.label.strip() or f"Take {len(scene.taffeta_takes)}"
        take.settings, take.frame_start, take.frame_end = settings, scene.frame_start, scene.frame_end
        return {"FINISHED"}


class TakeVerb:
    """What verbs of one take share."""

    bl_options = {"REGISTER", "UNDO"}

    index: IntProperty(name="Take", description="Its place in the queue, from 0", options={"SKIP_SAVE"})

    def execute(self, context):
        takes = context.scene.taffeta_takes
        try:
            if not 0 <= self.index < len(takes):
                raise ValueError(f"The queue has {len(takes)} takes, not {self.index + 1}; choose one of them")
            self.work(context.scene, takes)
        except ValueError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
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
        take = takes[self.index]
        for sentence in snapshot.apply(recipe.parse(take.settings), scene, cloths_of(scene), take.name):
            self.report({"INFO"}, sentence)


class TAFFETA_OT_takes_bake(bpy.types.Operator):
    """Bake every take of the queue, one after another, each to an entry of its own in the list of bakes"""

    bl_idname = "taffeta.takes_bake"
    bl_label = "Bake Queue"
    bl_options = {"UNDO"}

    def execute(self, context):
        scene = context.scene
        if not self._check(scene):
            return {"CANCELLED"}
        before = snapshot.take(scene, cloths_of(scene), with_maps=False)
        for index in range(len(scene.taffeta_takes)):
            self._tell(scene, index, *self._start(scene, index, "EXEC_DEFAULT"))
            if (job := jobs.last()) is not None and job.is_stopped:
                break
        snapshot.apply(before, scene, cloths_of(scene))
        return self._end(scene)

    def invoke(self, context, event):
        if bpy.app.background or context.window is None:
            return self.execute(context)
        if not self._check(context.scene):
            return {"CANCELLED"}
        self._scene = context.scene.name
        self._before = snapshot.take(context.scene, cloths_of(context.scene), with_maps=False)
        self._index, self._fault = -1, None
        self._timer = context.window_manager.event_timer_add(TICK, window=context.window)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context, event):
        if event.type != "TIMER" or jobs.running():
            return {"PASS_THROUGH"}
        scene, is_stopped = bpy.data.scenes.get(self._scene), False
        if scene is None or context.scene != scene:
            is_stopped = True  # what was to be baked is gone, or another scene is shown
        elif self._index >= 0:
            job = jobs.last()
            self._tell(scene, self._index, job, self._fault)
            is_stopped = job is not None and job.is_stopped
        self._index += 1
        if is_stopped or self._index >= len(scene.taffeta_takes):
            context.window_manager.event_timer_remove(self._timer)
            if scene is None:
                return {"CANCELLED"}
            snapshot.apply(self._before, scene, cloths_of(scene))
            return self._end(scene)
        _, self._fault = self._start(scene, self._index, "INVOKE_DEFAULT")
        return {"PASS_THROUGH"}

    def cancel(self, context):
        """Blender ends this operator: another file is loaded, or it quits."""
        context.window_manager.event_timer_remove(self._timer)

    def _check(self, scene) -> bool:
        if not scene.taffeta_takes:
            self.report({"ERROR"}, "The queue is empty; add a take first")
        elif jobs.running():
            self.report({"ERROR"}, "A bake is under way; wait for it or press Stop, then bake the queue")
        else:
            for take in scene.taffeta_takes:
                take.outcome = ""
            return True
        return False

    def _start(self, scene, index, way) -> tuple[jobs.Ended | None, str]:
        """Bake a take, or begin to; the job, if it has ended, and what was wrong."""
        jobs.forget_last()
        take = scene.taffeta_takes[index]
        try:
            snapshot.apply(recipe.parse(take.settings), scene, cloths_of(scene), take.name)
            bpy.ops.taffeta.bake(way, label=take.name, anyway=True)  # nobody sits there to be asked
        except (ValueError, RuntimeError) as error:  # RuntimeError is how Blender's operators report
            return jobs.last(), str(error).removeprefix("Error: ").strip()
        return jobs.last(), ""

    def _tell(self, scene, index, job, fault) -> None:
        if index >= len(scene.taffeta_takes):
            return  # undone meanwhile
        take = scene.taffeta_takes[index]
        take.outcome = outcome(job, "" if job is not None and job.error else fault)

    def _end(self, scene):
        whole = [take.outcome.startswith(BAKED) for take in scene.taffeta_takes]
        for take, is_whole in zip(scene.taffeta_takes, whole, strict=True):
            self.report({"INFO" if is_whole else "WARNING"}, f"{take.name}: {take.outcome or 'It was not baked'}")
        return {"FINISHED"} if all(whole) else {"CANCELLED"}


register, unregister = bpy.utils.register_classes_factory(
    (TAFFETA_OT_take_add, TAFFETA_OT_take_remove, TAFFETA_OT_take_show, TAFFETA_OT_takes_bake)
)
