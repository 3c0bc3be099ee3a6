# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake from its order to the frames that play: sample, simulate, write, play, tell (`bake_cloth` has a picture)."""

import contextlib
import json
import signal
import threading
import time
from pathlib import Path

import bpy

from ...panels.report import read_report, warnings
from ...solver.cache.files import read_whole, written
from ..checks import problem_list
from ..playback.bake_files import remember_name, stored_path
from ..playback.cache_modifier import attach
from ..playback.correction_files import play_from
from ..read.participants import find_object
from ..read.sampling import frame_inputs, posed
from . import job as jobs
from .report import figures

LARGEST_REPORT = 1 << 26  # bytes of a report; it lists each vertex that was pinched
SAMPLING_SLICE = 0.05  # [s] of sampling in one tick of the window


def bake_now(scene: bpy.types.Scene, job: jobs.Job, tell=lambda job: None) -> None:
    """Bake a prepared job in one go, on the main thread; `tell(job)` is called after each frame, and in slow ones.

    Ctrl-C stops it, and the frames done stay.

    Raises
    ------
    ValueError, OSError, FloatingPointError
        A sentence; frames before are on disk and are played.
    """
    job.images.open()
    jobs.claim(job)
    job.tell = tell
    try:
        with posed(scene, *_objects(job)), _interruptible(job):
            inputs = sampled_inputs(job.order)
            for _ in jobs.steps(job, inputs):
                tell(job)
                if job.stop.is_set():
                    break
    except jobs.FAILURES as error:
        job.error = jobs.sentence(job.order.garments, error)
        raise
    finally:
        job.end()
        try:
            finish(job)
        finally:
            jobs.release()


@contextlib.contextmanager
def _interruptible(job: jobs.Job):
    """Ctrl-C stops the job; a second one does what it did before."""

    def stop(*_):
        job.stop.set()
        signal.signal(signal.SIGINT, before)

    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before is None:
        yield  # Python may not set it here, or could not put back what another language has set
        return
    signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def finish(job: jobs.Job) -> None:
    """Play what is on disk and keep the report; objects that were deleted meanwhile are left out."""
    order = job.order
    if job.frame < order.first_frame:
        return
    before = read_report(kept_report(order.paths[0])) if job.kept_count() else {}
    first = job.reports[0].frame if job.reports else order.frames.stop
    report = json.dumps(figures(job, before), indent=1)
    job.doubts[:0] = [(frame, text) for frame, text in warnings(before) if frame < first]
    kept = [_keep_report(job, path, report) for path in order.paths]
    for index, obj in play_all(job):
        cloth = obj.taffeta_cloth
        if job.reports or job.complete:  # else nobody knows yet what the frames are made of
            cloth.fingerprint, cloth.stale = order.fingerprints[index], ""
        cloth.report_json = kept[index]
    scene = bpy.data.scenes.get(order.scene)
    if scene is not None:
        scene.frame_set(scene.frame_current, subframe=scene.frame_subframe)
    problem_list.look_again()  # the bake that was set aside takes room now


def _keep_report(job: jobs.Job, path: Path, report: str) -> str:
    """Write the report beside its bake, or read the one of the bake that was kept whole; for the panel.

    Where it cannot be written, as on a full disk, the panel has it alone: the frames count.
    """
    if not job.reports and (before := kept_report(path)):
        return before
    with contextlib.suppress(OSError, ValueError), written(path.with_suffix(".report.json")) as out:
        out.write(report.encode())
    return report


def kept_report(path: Path) -> str:
    """The report that lies beside a bake, as it was written; "" if there is none."""
    with contextlib.suppress(OSError, ValueError):
        return read_whole(path.with_suffix(".report.json"), LARGEST_REPORT).decode("utf-8", "replace")
    return ""


def play_all(job: jobs.Job) -> list[tuple[int, bpy.types.Object]]:
    """Let each garment play its bake, from the first frames on; pairs (index in the order, object). What is cloth no more plays none."""
    objects = {obj.session_uid: obj for obj in bpy.data.objects}
    playing = []
    for index, (known, path) in enumerate(zip(job.order.garment_objects, job.order.paths, strict=True)):
        obj = objects.get(known.uid)
        if obj is not None and obj.taffeta_cloth.enabled and len(obj.data.vertices) == known.vertex_count:
            remember_name(obj, path)
            obj.taffeta_cloth.cache_path = stored_path(path)
            play_from(obj, job.corrections)
            attach(obj, path, job.order.first_frame)
            playing.append((index, obj))
    return playing


def outcome(job: jobs.Job) -> list[tuple[str, str]]:
    """What to tell the animator at the end: pairs (level, sentence)."""
    order, told = job.order, []
    last = order.frames.stop - 1
    names = ", ".join(garment.name for garment in order.garments)
    if job.lacking:
        lacking = f"{', '.join(job.lacking)} had no frame, and garments are simulated together"
        told.append(("INFO", f"{lacking}: the bake began anew"))
    for older in job.set_aside():
        told.append(("INFO", f"An earlier bake was kept as {older.name}"))
    kept = f"frames {order.first_frame} to {job.frame} are kept; Resume goes on from there"
    if job.frame < order.first_frame:
        kept = "no frame was finished"
    doubts = [("WARNING", text) for _, text in job.doubts]
    if job.error:
        ended = f" Frames {order.first_frame} to {job.frame} are kept; Resume goes on from there"
        ended = " No frame was finished" if job.frame < order.first_frame else ended
        told.append(("ERROR", f"{job.error}.{ended}".replace("..", ".")))
    elif not job.complete and job.stop.is_set():
        told.append(("WARNING", f"Stopped: {kept}"))
    elif not job.complete:
        told.append(("ERROR", f"The bake broke off by a fault of Taffeta, see the console: {kept}"))
    else:
        reused = f", {job.kept_count()} of them as they were" if job.kept_count() else ""
        speed = f", {figures(job)['milliseconds_per_frame']} ms a frame" if job.reports else ""
        preview = " in Preview quality" if order.quality == "PREVIEW" else ""
        if job.images.gave_up:
            told.append(("WARNING", f"Body images by the {job.images.words()}; the bake is the same"))
        told.append(("INFO", f"Baked {names}{preview}: frames {order.first_frame} to {last}{reused}{speed}"))
        return told + doubts  # the window shows what is told last
    return told[:-1] + doubts + told[-1:]


def sampled_inputs(order: jobs.Order):
    """The order's frames as they are sampled; to be asked within `posed`."""
    return frame_inputs(order.scene, order.garment_objects, order.bodies, order.frames, order.rest_count)


def sampled(job):
    """Generator: each step samples for a moment and leaves the scene as the user had it; ends when all is queued."""
    order = job.order
    inputs = sampled_inputs(order)
    coming, room = iter(order.frames), 1
    while True:
        if job.inputs.qsize() < room:
            scene = bpy.data.scenes.get(order.scene)
            if scene is None:
                raise ValueError(f"Scene {order.scene} was deleted during the bake; undo that and resume")
            with posed(scene, *_objects(job)):
                until = time.perf_counter() + SAMPLING_SLICE
                while time.perf_counter() < until and job.inputs.qsize() < room:
                    item = next(inputs, None)
                    job.inputs.put(item)
                    if item is None:
                        return
                    job.images.expect(next(coming), item, job.inputs.qsize())
                    until += job.images.draw_ahead(0.0)
                    room = jobs.queue_length(item)
        yield


def _objects(job):
    """The objects of a job, found anew: garments, bodies."""
    return [
        [find_object(known.uid, known.name) for known in group]
        for group in (job.order.garment_objects, job.order.bodies)
    ]
