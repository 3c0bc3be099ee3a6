# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake every enabled cloth of the scene, together, over the scene's frame range.

    check ─► read garments and bodies ─► sample frame by frame ─► build, simulate, write ─► play, report
    └─────────── main thread ──────────────────────────────┘     └─ worker thread ─┘     └ main thread ┘

Pressed in a window, the bake runs beside it: each tick of a timer samples the animation for a moment, puts the user's
frame back, and shows how far the worker is; `taffeta.stop` ends it and keeps the frames that are done, and so
does Esc over the Physics tab. Anywhere else Esc is for what is there, as a playback. Called from a script or without a
window, it does the same in one go.

Files: `<cache folder>/<object>.pc2` (played), `.state`, `.journal` (to resume), `.report.json`, `.about.json`,
`.recipe`. A bake that is there already is renamed to `.bak1`, never overwritten, and stays in the list of bakes. A .blend that was never saved bakes into the temporary folder.
Where Preflight has found what would spoil the bake, the button asks first; a script's bake goes ahead.
"""

import contextlib
import os
import time

import bpy
from bpy.app.handlers import persistent

from ..panels.translations import translated
from ..solver import precompile
from ..solver.cache import trash
from ..solver.cache.frames import cached_frames
from .bake import PACKAGE
from .bake import job as jobs
from .bake.console import Console
from .bake.order import notices, read_order
from .bake.run import bake_now, finish, outcome, play_all, sampled
from .checks import hold_up
from .checks.problem_list import look_again
from .live import turn
from .playback.bake_files import bake_paths, stored_path
from .playback.owners import cache_folder
from .read.participants import chosen_cloths, cloths_of
from .read.screen import redraw, refused
from .setup import begin_compiling
from .work.window import StatusBar

WORKER_TICK = 0.03  # [s] between two looks of the window at the worker
CARD_TICK = 0.01  # [s] the same while the graphics card draws
CARD_SLICE = 0.004  # [s] of such a tick in which images are drawn; one may take longer
# [s] between two redraws of the progress at least: panels are slow to draw, and the solver wants the cores
LEAST_BETWEEN_REDRAWS = 0.25
REDRAW_REST = 5  # times what a redraw takes that lie between two: a slow window leaves four fifths to the solver


class TAFFETA_OT_bake(bpy.types.Operator):
    """Simulate every Taffeta Cloth of the scene over its frame range and write the frames to disk"""

    bl_idname = "taffeta.bake"
    bl_label = "Bake Cloth"
    bl_options = {"UNDO"}

    resume: bpy.props.BoolProperty(
        name="Resume", description="Keep the frames that are still good and go on after them", options={"SKIP_SAVE"}
    )
    from_frame: bpy.props.IntProperty(
        name="From Frame",
        default=0,
        description="Bake this frame and all after it anew, and keep those before; 0 bakes all",
        options={"SKIP_SAVE"},
    )
    object: bpy.props.StringProperty(
        name="Object", description="The one cloth to bake; empty bakes all together", options={"SKIP_SAVE"}
    )
    anyway: bpy.props.BoolProperty(
        name="Bake Anyway", description="Do not ask about what Preflight has found", options={"SKIP_SAVE"}
    )
    selected: bpy.props.BoolProperty(
        name="Selected Only",
        description="Bake the selected cloths and leave the others out, with their bakes",
        options={"SKIP_SAVE"},
    )
    label: bpy.props.StringProperty(
        name="Name", description="What the bake is called in the list of bakes", options={"SKIP_SAVE"}
    )

    @classmethod
    def description(cls, _context, properties):
        """What each of its buttons does, which are not all the same; "" is the class' own words."""
        if properties.resume:
            return "Go on with the bake: keep the frames that still fit the scene, and bake those after them"
        if properties.from_frame:
            return f"Keep the frames before {properties.from_frame}, and bake this one and all after it anew"
        if properties.selected:
            return "Bake the selected cloths alone; the others are left out and keep their bakes"
        return ""

    def execute(self, context):
        scene = context.scene
        job = None
        try:
            job = self._prepared(context)
            console = Console(job)
            try:
                bake_now(scene, job, console)
            finally:
                console.close()
        except jobs.FAILURES as error:
            if job is None or not job.error:  # the job's own error is told with what was kept
                return refused(self, error)
        return self._tell(job)

    def invoke(self, context, event):
        if bpy.app.background or context.window is None:
            return self.execute(context)
        options = {name: getattr(self, name) for name in ("resume", "from_frame", "object", "selected", "label")}
        if not self.anyway and not jobs.running() and hold_up.asks(context, options):
            return {"CANCELLED"}
        try:
            job = self._prepared(context)
            job.images.open()
            jobs.claim(job)
        except jobs.FAILURES as error:
            return refused(self, error)
        self._job = job
        self._sampler = sampled(job)
        self._drawn, self._cost, self._plays, self._started = 0.0, 0.0, False, False
        self._tick, self._window = 0.0, context.window
        self._set_tick(context)
        self._status = StatusBar(context)
        context.window_manager.modal_handler_add(self)
        self._show_status(job)
        context.window_manager.taffeta.baking = True
        return {"RUNNING_MODAL"}

    def modal(self, context, event):
        job = self._job
        if event.type == "ESC" and event.value == "PRESS" and _over_physics(context, event):
            jobs.ask_to_stop()
            return {"RUNNING_MODAL"}
        if event.type != "TIMER":
            return {"PASS_THROUGH"}
        if job.ended_at is None:
            if not self._started:  # not in invoke: a script may call it under temp_override, see depsgraph_of
                self._started = True
                jobs.start(job)
            job.images.draw_ahead(CARD_SLICE)
            self._sample(job)
            self._show(context, job)
            self._set_tick(context)
            return {"RUNNING_MODAL"}
        self._leave(context)
        try:
            finish(job)
        finally:
            jobs.release()
            look_again()
        if not job.complete and job.frame >= job.order.first_frame:
            bpy.ops.ed.undo_push(message="Bake Cloth")  # Blender pushes none where an operator is CANCELLED
        return self._tell(job)

    def cancel(self, context):
        """Blender ends this operator: another file is loaded, or it quits. The worker ends by itself."""
        self._job.stop.set()
        self._leave(context)
        jobs.release()

    def _prepared(self, context):
        scene = context.scene
        jobs.refuse_another()
        turn.end()
        only = [self.object] if self.object else []
        if self.selected:
            only = [obj.name for obj in chosen_cloths(context, self.object)]
        job = jobs.Job(read_order(scene, self.resume, self.from_frame, only, self.label))
        for level, text in notices(scene, job.order, asked=self.anyway):
            self.report({level}, translated(text))
        return job

    def _set_tick(self, context):
        """Look at the worker as often as it may want something."""
        tick = CARD_TICK if self._job.images.on_card else WORKER_TICK
        if tick == self._tick:
            return
        if self._tick:
            context.window_manager.event_timer_remove(self._timer)
        self._tick, self._timer = tick, context.window_manager.event_timer_add(tick, window=self._window)

    def _sample(self, job):
        if self._sampler is None or job.stop.is_set() or bpy.app.is_job_running("RENDER"):
            return
        try:
            next(self._sampler)
        except StopIteration:
            self._sampler = None
        except ValueError as error:
            job.error = str(error)
            job.stop.set()

    def _show(self, context, job):
        """Progress for the panel and the status bar, and the frames done for the timeline."""
        session, now = context.window_manager.taffeta, time.perf_counter()
        if self._cost is None:  # the first look after a redraw
            self._cost = now - self._drawn
        status = job.slow() or job.status
        if status == session.status or now - self._drawn < max(LEAST_BETWEEN_REDRAWS, REDRAW_REST * self._cost):
            return
        session.progress, session.status, self._drawn, self._cost = job.share(), status, now, None
        if not self._plays and job.frame >= job.order.first_frame:
            self._plays = True
            play_all(job)
        self._show_status(job)
        redraw(context, "PROPERTIES", "DOPESHEET_EDITOR")  # what is told of the bake, and the frames that it has

    def _leave(self, context):
        context.window_manager.event_timer_remove(self._timer)
        self._status.show(None)
        context.window_manager.taffeta.baking = False
        redraw(context, "PROPERTIES", "DOPESHEET_EDITOR")  # what is told of the bake, and the frames that it has

    def _show_status(self, job):
        self._status.progress(job.share(), job.slow() or job.status, "Stop, in the Physics tab, keeps the frames done")

    def _tell(self, job):
        for level, text in outcome(job):
            self.report({level}, translated(text))
        return {"FINISHED"} if job.complete else {"CANCELLED"}


def _over_physics(context, event) -> bool:
    """Whether the pointer is over a Physics tab."""
    for area in context.screen.areas if context.screen else ():
        if area.type == "PROPERTIES" and area.spaces.active.context == "PHYSICS":
            x, y = event.mouse_x - area.x, event.mouse_y - area.y
            if 0 <= x < area.width and 0 <= y < area.height:
                return True
    return False


@persistent
def adopt_bakes(*_):
    """After a file is opened: a cloth whose bake lies where it would be written, but which does not know it.

    That is so when a farm baked the file, or Blender was killed before it was saved. The panel offers to play it, and Resume
    goes on with it. What a killed process has half moved into the trash is taken back first.
    """
    for scene in bpy.data.scenes:
        with contextlib.suppress(OSError):  # a folder that cannot be written is told when something is baked there
            trash.mend(cache_folder(scene))
        cloths = [obj for obj in cloths_of(scene) if obj.library is None]
        for obj, path in zip(cloths, bake_paths(scene, cloths) if bpy.data.filepath else (), strict=False):
            if not obj.taffeta_cloth.cache_path and cached_frames(path):
                obj.taffeta_cloth.cache_path = stored_path(path)
                print(f"Taffeta: {obj.name} has a bake in {path}; Resume checks and plays it")
        if cloths:
            begin_compiling()


_register, _unregister = bpy.utils.register_classes_factory((TAFFETA_OT_bake,))
_compiled = "TAFFETA_CACHE_DIR"


def register():
    """Add the operator; compiled kernels go to the extension's own folder when Taffeta is installed as one."""
    _register()
    bpy.app.handlers.load_post.append(adopt_bakes)
    if PACKAGE.startswith("bl_ext.") and _compiled not in os.environ:
        os.environ[_compiled] = bpy.utils.extension_path_user(PACKAGE, path="numba", create=True)


def unregister():
    """Stop a bake and a compiler that run, then take the operator out."""
    jobs.stop_and_wait()
    precompile.stop_ahead()
    bpy.app.handlers.load_post.remove(adopt_bakes)
    _unregister()
