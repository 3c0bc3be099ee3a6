# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes one after another: beside the window, or straight on. What they are, those say that are built on this."""

import bpy

from .bake import job as jobs
from .read.screen import words_of

BAKED = "Baked"  # how the outcome of a whole bake begins
TICK = 0.25  # [s] between two looks of the window whether the bake has ended


def outcome(job: jobs.Ended | None, fault: str = "") -> str:
    """What became of a bake, in a sentence."""
    if job is None or fault:
        return fault or "It was not baked"
    first, last = job.first_frame, job.frame
    if job.complete:
        return f"{BAKED} frames {first} to {last}"
    kept = f"frames {first} to {last} are kept" if last >= first else "no frame was finished"
    return f"{job.error or 'Stopped'}: {kept}"


class BakeQueue:
    """An operator that bakes several things. Subclasses say what: `begin`, `count`, `make_ready`, `tell`, `end`.

    One that cannot be baked holds up none behind it; Stop ends the queue.
    """

    bl_options = {"UNDO"}

    def begin(self, scene) -> bool:
        """Check and remember; False, with a report, where there is nothing to bake."""
        raise NotImplementedError

    def count(self, scene) -> int:
        """How many bakes there are."""
        raise NotImplementedError

    def make_ready(self, scene, index: int) -> str:
        """Set the scene up for a bake; returns what it is called. ValueError or OSError: why it cannot be."""
        raise NotImplementedError

    def tell(self, scene, index: int, told: str) -> None:
        """Keep what became of a bake, in a sentence, and undo what `make_ready` did."""
        raise NotImplementedError

    def end(self, scene) -> set[str]:
        """Let the scene be as it was; what Blender is told."""
        raise NotImplementedError

    def execute(self, context):
        scene = context.scene
        if jobs.running():
            self.report({"ERROR"}, jobs.UNDER_WAY)
            return {"CANCELLED"}
        if not self.begin(scene):
            return {"CANCELLED"}
        for index in range(self.count(scene)):
            job, fault = self._start(scene, index, "EXEC_DEFAULT")
            self._tell(scene, index, job, fault)
            if job is not None and job.is_stopped:
                break
        return self.end(scene)

    def invoke(self, context, event):
        if bpy.app.background or context.window is None:
            return self.execute(context)
        if jobs.running():
            self.report({"ERROR"}, jobs.UNDER_WAY)
            return {"CANCELLED"}
        if not self.begin(context.scene):
            return {"CANCELLED"}
        self._scene, self._index, self._fault = context.scene.name, -1, ""
        self._timer = context.window_manager.event_timer_add(TICK, window=context.window)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context, event):
        if event.type != "TIMER" or jobs.running():
            return {"PASS_THROUGH"}
        scene, is_stopped = bpy.data.scenes.get(self._scene), False
        job = jobs.last()
        if self._index >= 0 and scene is not None:
            self._tell(scene, self._index, job, self._fault)
            is_stopped = job is not None and job.is_stopped
        # What was to be baked is gone, or another scene is shown.
        is_stopped = is_stopped or scene is None or context.scene != scene
        self._index += 1
        if is_stopped or self._index >= self.count(scene):
            context.window_manager.event_timer_remove(self._timer)
            return {"CANCELLED"} if scene is None else self.end(scene)
        _, self._fault = self._start(scene, self._index, "INVOKE_DEFAULT")
        return {"PASS_THROUGH"}

    def cancel(self, context):
        """Blender ends this operator: another file is loaded, or it quits."""
        context.window_manager.event_timer_remove(self._timer)

    def _start(self, scene, index, way) -> tuple[jobs.Ended | None, str]:
        """Bake one, or begin to; the job, if it has ended, and what was wrong."""
        jobs.forget_last()
        try:
            label = self.make_ready(scene, index)
            bpy.ops.taffeta.bake(way, label=label, anyway=True)  # nobody sits there to be asked
        except (ValueError, OSError, RuntimeError) as error:  # RuntimeError is how Blender's operators report
            return jobs.last(), words_of(error)
        return jobs.last(), ""

    def _tell(self, scene, index, job, fault) -> None:
        self.tell(scene, index, outcome(job, "" if job is not None and job.error else fault))
