# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake every enabled cloth of the scene, together, over the scene's frame range.

    check ─► read garments and bodies ─► sample frame by frame ─► build, simulate, write ─► play, report
    └─────────── main thread ──────────────────────────────┘     └─ worker thread ─┘     └ main thread ┘

Pressed in a window, the bake runs beside it: each tick of a timer samples the animation for a moment, puts the user's
frame back, and shows how far the worker is; Esc ends it after the frame in flight and keeps what is done. Called from
a script or without a window, it does the same in one go.

Files: `<cache folder>/<object>.pc2` (played), `.state`, `.journal` (to resume), `.report.json`. A bake that is there
already is renamed to `.bak1`, never overwritten. A .blend that was never saved bakes into the temporary folder.
"""

import contextlib
import json
import os
import sys
import time
from pathlib import Path

import bpy
from bpy.app.handlers import persistent

from ..solver import warm
from ..solver.cache.frames import cached_frames
from . import job as jobs
from . import live, playback, preflight
from .order import bake_paths, notices, read_order
from .sampling import find, frame_inputs, posed
from .setup import begin_compiling

TICK = 0.03  # [s] between two looks of the window at the worker
REDRAW = (
    0.25  # [s] between two redraws of the progress at least: panels are slow to draw, and the solver wants the cores
)
REST = 5  # times what a redraw takes that lie between two of them: a slow window leaves four fifths to the solver
SLICE = 0.05  # [s] of sampling in one tick


def bake_now(scene: bpy.types.Scene, job: jobs.Job, tell=lambda job: None) -> None:
    """Bake a prepared job in one go; `tell(job)` is called after each frame.

    Raises
    ------
    ValueError, OSError, FloatingPointError
        A sentence; frames before are on disk and are played.
    """
    jobs.claim(job)
    try:
        with posed(scene, *_objects(job)):
            inputs = sampled_inputs(job.order)
            for _ in jobs.steps(job, inputs):
                tell(job)
    except jobs.FAILURES as error:
        job.error = jobs.sentence(job, error)
        raise
    finally:
        job.end()
        try:
            finish(job)
        finally:
            jobs.release()


def finish(job: jobs.Job) -> None:
    """Play what is on disk and keep the report; objects that were deleted meanwhile are left out."""
    order = job.order
    if job.frame < order.first_frame:
        return
    report = json.dumps(jobs.figures(job), indent=1)
    kept = [_keep_report(job, path, report) for path in order.paths]
    for index, obj in play_all(job):
        cloth = obj.taffeta_cloth
        cloth.fingerprint, cloth.stale = order.fingerprints[index], ""
        cloth.report_json = kept[index]
    scene = bpy.data.scenes.get(order.scene)
    if scene is not None:
        scene.frame_set(scene.frame_current, subframe=scene.frame_subframe)
    preflight.look_again()  # the bake that was set aside takes room now


def _keep_report(job: jobs.Job, path: Path, report: str) -> str:
    """Write the report beside its bake, or read the one of the bake that was kept whole; for the panel.

    Where it cannot be written, as on a full disk, the panel has it alone: the frames count.
    """
    file = path.with_suffix(".report.json")
    try:
        if not job.reports and file.exists():
            return file.read_text(encoding="utf-8", errors="replace")
        file.write_text(report, encoding="utf-8")
    except OSError:
        with contextlib.suppress(OSError):
            file.unlink(missing_ok=True)  # half a report
    return report


def play_all(job: jobs.Job) -> list[tuple[int, bpy.types.Object]]:
    """Let each garment play its bake, from the first frames on; pairs (index in the order, object)."""
    objects = {obj.session_uid: obj for obj in bpy.data.objects}
    playing = []
    for index, (wearer, path) in enumerate(zip(job.order.wearers, job.order.paths, strict=True)):
        obj = objects.get(wearer.uid)
        if obj is not None and len(obj.data.vertices) == wearer.vertex_count:
            obj.taffeta_cloth.cache_path = playback.stored_path(path)
            playback.attach(obj, path, job.order.first_frame)
            playing.append((index, obj))
    return playing


def outcome(job: jobs.Job) -> list[tuple[str, str]]:
    """What to tell the animator at the end: pairs (level, sentence)."""
    order, told = job.order, []
    last = order.frames.stop - 1
    names = ", ".join(garment.name for garment in order.garments)
    for older in job.older:
        told.append(("INFO", f"An earlier bake was kept as {older.name}"))
    kept = f"frames {order.first_frame} to {job.frame} are kept; Resume goes on from there"
    if job.frame < order.first_frame:
        kept = "no frame was finished"
    if job.error:
        told.append(("ERROR", f"{job.error}. {kept[0].upper()}{kept[1:]}".replace("..", ".")))
    elif not job.complete and job.stop.is_set():
        told.append(("WARNING", f"Stopped: {kept}"))
    elif not job.complete:
        told.append(("ERROR", f"The bake broke off by a fault of Taffeta, see the console: {kept}"))
    else:
        reused = f", {job.kept_count()} of them as they were" if job.kept_count() else ""
        figures = jobs.figures(job)
        speed = f", {figures['milliseconds_per_frame']} ms a frame" if job.reports else ""
        preview = " in Preview quality" if order.quality == "PREVIEW" else ""
        told.append(("INFO", f"Baked {names}{preview}: frames {order.first_frame} to {last}{reused}{speed}"))
    return told


def sampled_inputs(order: jobs.Order):
    """The order's frames as they are sampled; to be asked within `posed`."""
    return frame_inputs(order.scene, order.wearers, order.bodies, order.frames, order.rest_count)


def _objects(job):
    """The objects of a job, found anew: garments, bodies."""
    return [[find(known.uid, known.name) for known in group] for group in (job.order.wearers, job.order.bodies)]


class Console:
    """Progress of a bake without a window: tqdm's bar where that is installed, else a line a second."""

    def __init__(self, job: jobs.Job):
        self.said = time.perf_counter()
        self.frame = job.order.frames.start - 1
        try:
            from tqdm import tqdm
        except ImportError:
            self.bar = None
        else:
            self.bar = tqdm(total=len(job.order.frames), desc="Bake", unit="frame", file=sys.stdout)

    def __call__(self, job: jobs.Job) -> None:
        """Show how far the job is."""
        frame = max(job.frame, job.reports[-1].frame if job.reports else job.frame)
        if self.bar is not None:
            self.bar.update(max(0, frame - max(self.frame, job.order.frames.start - 1)))
        elif time.perf_counter() - self.said > 1.0:
            self.said = time.perf_counter()
            print(f"Taffeta: {job.status}", flush=True)
        self.frame = frame

    def close(self) -> None:
        """Leave the line."""
        if self.bar is not None:
            self.bar.close()


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

    def execute(self, context):
        scene = context.scene
        job = None
        try:
            job = self._prepared(scene)
            console = Console(job)
            try:
                bake_now(scene, job, console)
            finally:
                console.close()
        except jobs.FAILURES as error:
            if job is None or not job.error:  # the job's own error is told with what was kept
                self.report({"ERROR"}, str(error))
                return {"CANCELLED"}
        return self._tell(job)

    def invoke(self, context, event):
        if bpy.app.background or context.window is None:
            return self.execute(context)
        try:
            job = self._prepared(context.scene)
            jobs.claim(job)
        except jobs.FAILURES as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self._job = job
        self._sampler = sampled(job)
        self._drawn, self._cost, self._plays, self._started = 0.0, 0.0, False, False
        self._timer = context.window_manager.event_timer_add(TICK, window=context.window)
        self._workspace = context.workspace.name
        context.window_manager.modal_handler_add(self)
        context.workspace.status_text_set(_draw_status(job))
        context.window_manager.taffeta.baking = True
        return {"RUNNING_MODAL"}

    def modal(self, context, event):
        job = self._job
        if event.type == "ESC" and event.value == "PRESS":
            job.stop.set()
            job.status = "Stopping after this frame"
            return {"RUNNING_MODAL"}
        if event.type != "TIMER":
            return {"PASS_THROUGH"}
        if job.ended_at is None:
            if not self._started:  # not in invoke: a script may call it under temp_override, see depsgraph_of
                self._started = True
                jobs.start(job)
            self._sample(job)
            self._show(context, job)
            return {"RUNNING_MODAL"}
        self._leave(context)
        try:
            finish(job)
        finally:
            jobs.release()
        if job.complete:
            return self._tell(job)
        if job.frame >= job.order.first_frame:
            bpy.ops.ed.undo_push(message="Bake Cloth")
        return self._tell(job)

    def cancel(self, context):
        """Blender ends this operator: another file is loaded, or it quits. The worker ends by itself."""
        self._job.stop.set()
        self._leave(context)
        jobs.release()

    def _prepared(self, scene):
        if jobs.running():
            raise ValueError("A bake is under way; wait for it or stop it with Esc, then bake again")
        live.end()
        job = jobs.Job(read_order(scene, self.resume, self.from_frame, self.object))
        for level, text in notices(scene, job.order):
            self.report({level}, text)
        return job

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
        if job.status == session.status or now - self._drawn < max(REDRAW, REST * self._cost):
            return
        session.progress, session.status, self._drawn, self._cost = job.share(), job.status, now, None
        if not self._plays and job.frame >= job.order.first_frame:
            self._plays = True
            play_all(job)
        workspace = bpy.data.workspaces.get(self._workspace)
        if workspace is not None:  # no screen lists the status bar's area: only a new text has it drawn anew
            workspace.status_text_set(_draw_status(job))
        _redraw(context)

    def _leave(self, context):
        context.window_manager.event_timer_remove(self._timer)
        workspace = bpy.data.workspaces.get(self._workspace)
        if workspace is not None:
            workspace.status_text_set(None)
        context.window_manager.taffeta.baking = False
        _redraw(context)

    def _tell(self, job):
        for level, text in outcome(job):
            self.report({level}, text)
        return {"FINISHED"} if job.complete else {"CANCELLED"}


def sampled(job):
    """Generator: each step samples for a moment and leaves the scene as the user had it; ends when all is queued."""
    order = job.order
    inputs = sampled_inputs(order)
    room = 1
    while True:
        if job.inputs.qsize() < room:
            scene = bpy.data.scenes.get(order.scene)
            if scene is None:
                raise ValueError(f"Scene {order.scene} was deleted during the bake; undo that and resume")
            with posed(scene, *_objects(job)):
                until = time.perf_counter() + SLICE
                while time.perf_counter() < until and job.inputs.qsize() < room:
                    item = next(inputs, None)
                    job.inputs.put(item)
                    if item is None:
                        return
                    room = jobs.queue_length(item)
        yield


def _draw_status(job):
    """The status bar's content while `job` runs."""

    def draw(header, context):
        bar = header.layout.row()
        bar.ui_units_x = 16
        bar.progress(factor=job.share(), text=job.status)
        header.layout.label(text="Esc stops and keeps the frames done", icon="INFO")

    return draw


def _redraw(context) -> None:
    for window in context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "PROPERTIES":
                area.tag_redraw()


@persistent
def adopt_bakes(*_):
    """After a file is opened: a cloth whose bake lies where it would be written, but which does not know it.

    That is so when a farm baked the file, or Blender was killed before it was saved. Resume then checks the frames
    and plays them.
    """
    for scene in bpy.data.scenes:
        cloths = [obj for obj in playback.cloths(scene) if obj.library is None]
        for obj, path in zip(cloths, bake_paths(scene, cloths) if bpy.data.filepath else (), strict=False):
            if not obj.taffeta_cloth.cache_path and cached_frames(path):
                obj.taffeta_cloth.cache_path = playback.stored_path(path)
                print(f"Taffeta: {obj.name} has a bake in {path}; Resume checks and plays it")
        if cloths:
            begin_compiling()


_register, _unregister = bpy.utils.register_classes_factory((TAFFETA_OT_bake,))
_compiled = "TAFFETA_CACHE_DIR"


def register():
    """Add the operator; compiled kernels go to the extension's own folder when Taffeta is installed as one."""
    _register()
    bpy.app.handlers.load_post.append(adopt_bakes)
    package = __package__.rpartition(".")[0]
    if package.startswith("bl_ext.") and _compiled not in os.environ:
        os.environ[_compiled] = bpy.utils.extension_path_user(package, path="numba", create=True)


def unregister():
    """Stop a bake and a compiler that run, then take the operator out."""
    jobs.stop_and_wait()
    warm.stop_ahead()
    bpy.app.handlers.load_post.remove(adopt_bakes)
    _unregister()
