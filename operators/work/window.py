# SPDX-License-Identifier: GPL-3.0-or-later
"""Long work in a window: progress in the status bar, Esc, and the operators that have both."""

from collections.abc import Callable
from pathlib import Path

import bpy

from ...panels.translations import translated
from ..bake.job import FAILURES
from ..read.screen import InObjectMode, redraw, refused
from .steps import Run, Steps, run_through

TICK = 0.03  # [s] between two looks of the window at the work
SLICE = 0.05  # [s] of work in one of them; a step may take longer


class StatusBar:
    """The status bar of the workspace that something was begun in, wherever the animator goes meanwhile."""

    def __init__(self, context):
        self._workspace, self._shown = context.workspace.name, None

    def show(self, what: str | Callable | None) -> None:
        """Show a text or what a function draws; None: what Blender shows."""
        if what == self._shown:
            return
        self._shown, workspace = what, bpy.data.workspaces.get(self._workspace)
        if workspace is not None:  # no screen lists the status bar's area: only a new text has it drawn anew
            workspace.status_text_set(what)

    def progress(self, share: float, text: str, hint: str) -> None:
        """Show how far something is, and what Esc does."""

        def draw(header, context):
            bar = header.layout.row()
            bar.ui_units_x = 16
            bar.progress(factor=share, text=text)
            header.layout.label(text=hint, icon="INFO")

        self.show(draw)


class LongWork:
    """An operator whose work is a generator of `steps.Step`s, which returns the operator's result.

    Pressed in a window, it takes them beside it, shows how far it is and heeds Esc, which leaves all as it was; the scene
    is locked meanwhile. Called from a script or without a window, it does the same in one go, and so it does what is changed
    in the box that opens after it.
    """

    asked = False  # whether a dialog or a file browser of a window is about to call `execute`

    def steps(self, context) -> Steps:
        """The work; ValueError and the like are told as errors."""
        raise NotImplementedError

    def execute(self, context):
        """Beside the window after a dialog of it, else all at once."""
        if self.asked and context.window is not None and not bpy.app.background:
            return self.begin(context)
        try:
            return run_through(self.steps(context))
        except FAILURES as error:
            return refused(self, error)

    def invoke(self, context, event):
        """Begin beside the window."""
        if bpy.app.background or context.window is None:
            return self.execute(context)
        return self.begin(context)

    def ask(self, context):
        """Show the settings in a dialog first."""
        self.asked = True
        return context.window_manager.invoke_props_dialog(self)

    def ask_for_file(self, context, name: str = ""):
        """Ask for `filepath` in a file browser first; where none is given, for a file of this name beside the .blend."""
        if name and not self.filepath:
            self.filepath = str(Path(bpy.path.abspath("//")) / name)
        self.asked = True
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def begin(self, context):
        """Begin beside the window."""
        self._run, self._status = Run(self.steps(context)), StatusBar(context)
        self._timer = context.window_manager.event_timer_add(TICK, window=context.window)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context, event):
        """Take steps with each tick; swallow all else, so that nobody changes what is being read."""
        run = self._run
        if event.type == "ESC" and event.value == "PRESS":
            run.stop()
        if event.type == "TIMER":
            try:
                run.go_on(SLICE)
            except FAILURES as error:
                self._leave(context)
                return refused(self, error)
            except BaseException:
                self._leave(context)
                raise
            if run.ended:
                self._leave(context)
                if run.stopped:
                    self.report({"INFO"}, translated(f"{self.bl_label} stopped: all is as it was"))
                    return {"CANCELLED"}
                return run.result
        text = "Stopping" if run.stopped else run.step.text
        self._status.progress(run.step.share, text, "Esc stops and leaves all as it was")
        return {"RUNNING_MODAL"}

    def cancel(self, context):
        """Blender ends this operator: another file is loaded, it quits, or nothing was chosen in the file browser."""
        if getattr(self, "_run", None) is not None:
            self._run.abandon()
            self._leave(context)

    def _leave(self, context):
        self.asked = False
        context.window_manager.event_timer_remove(self._timer)
        self._status.show(None)
        redraw(context)


class ObjectModeWork(InObjectMode, LongWork):
    """Long work that reads what is shown, which in other modes is not what the mesh is."""
