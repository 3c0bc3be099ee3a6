# SPDX-License-Identifier: GPL-3.0-or-later
"""Play Live: the timeline plays and the cloth is simulated along (`live.simulation`), until Esc or a stop."""

import bpy

from ..panels.translations import translated
from .bake import job as jobs
from .live import simulation
from .read.screen import redraw, refused
from .work.loading import PREPARING, Loader
from .work.window import StatusBar

PLAYBACK_TICK = 0.1  # [s] between two looks whether the playback still runs


def _playing() -> bool:
    return any(window.screen.is_animation_playing for window in bpy.context.window_manager.windows)


class TAFFETA_OT_live(bpy.types.Operator):
    """Play the timeline and simulate along, without baking: Preview quality. Esc or a stop leaves all as it was"""

    bl_idname = "taffeta.live"
    bl_label = "Play Live"

    def invoke(self, context, event):
        if simulation.running() is not None:
            simulation.end()
            return {"FINISHED"}
        if jobs.running():
            self.report({"ERROR"}, jobs.UNDER_WAY)
            return {"CANCELLED"}
        self._loader, self._started = Loader(context.scene), False
        self._timer = context.window_manager.event_timer_add(PLAYBACK_TICK, window=context.window)
        self._status = StatusBar(context)
        self._status.show(PREPARING)
        context.window_manager.modal_handler_add(self)
        context.window_manager.taffeta.live = True
        return {"RUNNING_MODAL"}

    def execute(self, context):
        self.report({"ERROR"}, "Playing live needs a window; bake instead (taffeta.bake)")
        return {"CANCELLED"}

    def modal(self, context, event):
        stopped = not context.window_manager.taffeta.live  # by `taffeta.stop`
        if stopped or (event.type == "ESC" and event.value == "PRESS"):
            self._leave(context)
            return {"FINISHED", "PASS_THROUGH"}
        if event.type != "TIMER" or self._loader.is_busy():
            return {"PASS_THROUGH"}
        live = simulation.running()
        if not self._started:
            try:
                simulation.start(context.scene)
            except jobs.FAILURES as error:
                self._leave(context)
                return refused(self, error)
            self._started = True
            if not _playing():
                bpy.ops.screen.animation_play()
        elif live is None or live.error or not _playing():
            if live is not None and live.error:
                self.report({"ERROR"}, translated(live.error))
            self._leave(context)
            return {"FINISHED"}
        elif live.seconds:
            milliseconds = 1000.0 * sum(live.seconds) / len(live.seconds)
            side = "graphics card" if live.images.on_card else "processor"
            end = f"Not obeyed: {live.trouble}" if live.trouble else "Esc or a stop leaves the garments as they were"
            self._status.show(f"Live: {milliseconds:.0f} ms a frame, bodies drawn by the {side}. {end}")
        return {"PASS_THROUGH"}

    def cancel(self, context):
        """Blender ends this operator: another file is loaded, or it quits."""
        self._leave(context)

    def _leave(self, context):
        self._loader.stop()
        playing = _playing() and self._started
        simulation.end()
        context.window_manager.event_timer_remove(self._timer)
        self._status.show(None)
        context.window_manager.taffeta.live = False
        if playing:
            bpy.ops.screen.animation_cancel(restore_frame=False)
        redraw(context)


register, unregister = bpy.utils.register_classes_factory((TAFFETA_OT_live,))
