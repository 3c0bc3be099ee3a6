# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake without Blender: arrays in, files out. Runs in a worker thread beside the window, or straight on.

`steps` does the work and is the same for both. In a window, `start` runs it in a thread that is fed through a queue;
the thread knows the `Job` and nothing else, no operator and no scene, because those die under its hands (undo, file
load). One bake at a time: numba's threads do not like two callers.
"""

import gc
import queue
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...solver.model import FrameInput, Garment, Report, Settings
from ..read.mesh_io import Body
from ..read.sampling import GarmentObject
from . import PACKAGE
from .images import Images

QUEUE_BYTES = 1_000_000_000  # bytes of sampled frames that may wait for the solver
# [s] after which a thread that computes in Python hands over to the window. While numba compiles, that is each time a
# panel is drawn: with Python's 5 ms the redraw of a screen takes a second.
THREAD_HANDOVER = 0.0005
FAILURES = (ValueError, OSError, FloatingPointError)  # what an animator can do something about


class Order(NamedTuple):
    """What is to be baked and where to; constant."""

    scene: str
    garments: list[Garment]
    garment_objects: list[GarmentObject]
    bodies: list[Body]
    settings: Settings
    body_images: str  # one of images.CHOICES
    quality: str  # PREVIEW or FINAL
    frames: range  # pre-roll included
    rest_count: int  # of them that lead from the rest pose to the first frame
    first_frame: int  # the first that is written
    fps: float
    paths: list[Path]  # one .pc2 per garment
    resume: bool
    from_frame: int | None
    fingerprints: list[str]  # what the scene was like, for the panel
    owner: str  # the .blend, as seen from the folder of the caches; "" if it was never saved


class Job:
    """An order and how far it is. The worker writes the plain numbers and texts, the main thread reads them."""

    def __init__(self, order: Order):
        self.order = order
        self.inputs: queue.Queue[FrameInput | None] = queue.Queue()
        self.stop = threading.Event()  # asks the worker to end after the frame in flight
        self.images = Images(order.body_images, bool(order.bodies))  # who draws them
        self.status = "Reading the scene"
        self.frame = order.first_frame - 1  # last frame that is on disk
        self.found_count = 0  # good frames on disk before
        self.reports: list[Report] = []
        self.older: list[Path] = []  # where bakes in the way were set aside
        self.started = time.perf_counter()
        self.prepared_at: float | None = None
        self.ended_at: float | None = None
        self.error = ""
        self.doubts: list[str] = []  # what is wrong with frames that are on disk all the same
        self.complete = False

    def share(self) -> float:
        """Share of the frames that are done, in [0, 1]."""
        frames = self.order.frames
        done = max(self.frame + 1 - frames.start, len(self.reports))
        return min(1.0, max(0.0, done / len(frames)))

    def kept_count(self) -> int:
        """Frames that were good already and stayed as they were."""
        first = self.order.first_frame
        simulated = next((report.frame for report in self.reports if report.frame >= first), self.frame + 1)
        return min(self.found_count, simulated - first)

    def seconds_left(self) -> float | None:
        """Estimate from the last frames; None while nothing was simulated."""
        recent = [sum(report.seconds.values()) for report in self.reports[-10:]]
        left = self.order.frames.stop - 1 - (self.reports[-1].frame if self.reports else self.frame)
        return left * sum(recent) / len(recent) if recent else None

    def end(self) -> None:
        """Note the time at which all was over."""
        self.ended_at = time.perf_counter()


_current: Job | None = None  # between `claim` and `release`
_handover: float | None = None  # the user's, while ours is set
_worker: threading.Thread | None = None


def running() -> bool:
    """Whether a bake is under way, or one that was told to stop is still finishing its frame."""
    return _current is not None or (_worker is not None and _worker.is_alive())


def claim(job: Job) -> None:
    """Make `job` the one bake of this Blender until `release`.

    Raises
    ------
    ValueError
        Another one is under way.
    """
    global _current
    if running():
        raise ValueError("A bake is under way; wait for it or stop it with Esc, then bake again")
    _current = job


def release() -> None:
    """Let the next bake begin as soon as the worker, if any, has ended."""
    global _current, _handover
    if _handover is not None:
        sys.setswitchinterval(_handover)
        _handover = None
    if _worker is not None and _current is not None and _current.ended_at is not None:
        _worker.join()  # it has nothing left to do, but may not be gone yet
    if _current is not None:
        _current.images.close()
    _current = None


def start(job: Job) -> None:
    """Bake a claimed job in a thread; feed it with `job.inputs`, ended by None."""
    global _worker, _handover
    _handover = sys.getswitchinterval()
    sys.setswitchinterval(THREAD_HANDOVER)
    _worker = threading.Thread(target=_work, args=(job,), name="Taffeta bake")
    _worker.start()


def stop_and_wait() -> None:
    """End the bake under way after its frame in flight; returns when its files are closed."""
    if _current is not None:
        _current.stop.set()
    if _worker is not None:
        _worker.join()
    release()


def _work(job: Job) -> None:
    try:
        for _ in steps(job, _queued(job)):
            if job.stop.is_set():
                break
    except FAILURES as error:
        job.error = sentence(job.order.garments, error)
    finally:
        job.end()
        if _solver_is_loaded():
            _leave_to_the_window(0)


def _leave_to_the_window(processors: int) -> None:
    from ...solver.kernel.threads import spare  # here, because it imports numba

    spare(processors)


def _queued(job: Job) -> Iterator[FrameInput]:
    """Sampled frames as they come; ends early when the job is stopped."""
    _leave_to_the_window(1)
    while not job.stop.is_set():
        try:
            item = job.inputs.get(timeout=0.1)
        except queue.Empty:
            continue
        if item is None:
            return
        yield item


def queue_length(first: FrameInput) -> int:
    """How many frames like this one may wait for the solver."""
    size = first.targets.nbytes + sum(collider.x.nbytes for collider in first.colliders)
    return max(4, QUEUE_BYTES // max(1, size))


def sentence(garments: list[Garment], error: Exception) -> str:
    """What to tell the animator; a number of a garment becomes its name, a bare errno words."""
    text = str(error)
    if isinstance(error, OSError) and error.strerror:
        text = f"{error.filename} cannot be used ({error.strerror}): choose another cache folder"
    for index, garment in enumerate(garments):
        text = text.replace(f"Garment {index + 1} of {len(garments)} ", f"{garment.name} ")
    return text


def steps(job: Job, inputs: Iterable[FrameInput]) -> Iterator[int]:
    """Bake; yields each frame as soon as it is done. Close the generator to stop: the frames done stay.

    Raises
    ------
    ValueError, OSError, FloatingPointError
        With a sentence; frames before are on disk.
    """
    order, caches = job.order, []
    first_time = not _solver_is_loaded()
    job.status = f"Preparing the solver{' (first time only)' if first_time else ''}…"
    # The compiler makes millions of small objects; each search for garbage among them halts the window for up to 1 s.
    collecting = gc.isenabled()
    if first_time:
        gc.disable()
    try:
        # Here, because they import numba: a second or two.
        if first_time and not _compile(job):
            return
        from ...solver import shot
        from ...solver.build import build
        from ...solver.doubts import Doubts

        doubts = Doubts(garment.name for garment in order.garments)
        cloth, state = build(order.garments, order.settings)
        inputs = iter(inputs)
        ready = list(islice(inputs, 1))  # a scene that cannot be read must not take the bake that is there out of play
        _open_caches(job, caches)
        given = []  # of the frame that is simulated
        inputs = _noted(chain(ready, inputs), given)
        about = order.frames, order.settings, caches, order.from_frame, job.images.advance
        for frame, report in shot.run(cloth, state, inputs, *about):
            _note(job, frame, report)
            if report is not None:
                doubts.look(cloth, state.x, report)
                if frame == order.frames.stop - 1:
                    crossings = doubts.look_closer(cloth, state.x, given[0].colliders, frame)
                    job.reports[-1] = report._replace(crossings=crossings)
                job.doubts = doubts.sentences()
                if collecting:
                    gc.enable()
            yield frame
        for cache in caches:
            cache.check_place()
        job.complete = job.frame == order.frames.stop - 1
    except FileNotFoundError:
        job.frame = order.first_frame - 1
        raise
    finally:
        if collecting:
            gc.enable()
        for cache in caches:
            _note_older(job, cache)
            cache.close()


def _noted(inputs: Iterable[FrameInput], given: list[FrameInput]) -> Iterator[FrameInput]:
    """The same inputs; `given` holds the one that was taken last."""
    for item in inputs:
        given[:] = [item]
        yield item


def _compile(job: Job) -> bool:
    """Wait for the solver's compiler, which other processes run; whether nobody stopped the bake meanwhile."""
    from ...solver import precompile

    job.status = "Compiling the solver (once after it was installed, less than a minute)…"
    parts = precompile.parts_of(job.order.settings, bool(job.order.bodies))
    done = precompile.compile_kernels(parts, lambda: not job.stop.is_set())
    job.status = "Preparing the solver (first time only)…"
    return done


def _open_caches(job: Job, caches: list) -> None:
    """Fill `caches`, one per garment; each is in the list as soon as it is open, so that it gets closed."""
    from ...solver.cache import frames

    order = job.order
    for path, garment in zip(order.paths, order.garments, strict=True):
        if not order.resume and order.from_frame is None:
            _set_aside(job, path)
        caches.append(frames.open_cache(path, len(garment.x), order.first_frame, order.fps, order.owner))
        _note_older(job, caches[-1])
    job.found_count = min(len(cache.good_frames()) for cache in caches)


def _note(job: Job, frame: int, report: Report | None) -> None:
    if job.prepared_at is None:
        job.prepared_at = time.perf_counter()
    if frame >= job.order.first_frame:
        job.frame = frame
    if report is not None:
        job.reports.append(report)
    if report is None:
        if frame > job.order.frames.start:
            job.status = f"Frame {frame} is on disk already; preparing the solver…"
        return
    left = job.seconds_left()
    job.status = f"Frame {frame} of {job.order.frames.stop - 1}" + (f", {_duration(left)} left" if left else "")


def _set_aside(job: Job, path: Path) -> None:
    from ...solver.cache import frames, names

    if names.in_use(path):
        raise OSError(f"{path} is being baked by another Blender; wait for it, or choose another cache folder")
    older = frames.set_aside(path)
    if older is not None:
        job.older.append(older)


def _note_older(job: Job, cache) -> None:
    if cache.older is not None and cache.older not in job.older:
        job.older.append(cache.older)


def _solver_is_loaded() -> bool:
    return f"{PACKAGE}.solver.step" in sys.modules


def _duration(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {seconds} s" if minutes else f"{seconds} s"


def figures(job: Job) -> dict:
    """The report of a bake, as JSON can hold it; a figure that was not computed is absent.

    Times per frame are means over the frames that were simulated, in milliseconds of wall clock. The first of them
    is left out if there are more: it may have waited for the compiler.
    """
    order, reports = job.order, job.reports
    ended = job.ended_at or time.perf_counter()
    result = {
        "garments": [garment.name for garment in order.garments],
        "colliders": [body.name for body in order.bodies],
        "frame_start": order.first_frame,
        "frame_end": job.frame,
        "frames": max(0, job.frame + 1 - order.first_frame),
        "frames_kept": job.kept_count(),
        "frames_simulated": len(reports),
        "complete": job.complete,
        "quality": order.quality,
        "substeps": order.settings.substeps,
        "seconds": round(ended - job.started, 3),
    }
    if job.prepared_at is not None:
        result["preparation_seconds"] = round(job.prepared_at - job.started, 3)
    if job.older:
        result["set_aside"] = [str(path) for path in job.older]
    if not reports:
        return result
    timed = reports[1:] or reports
    tasks = {task: 1000 * float(np.mean([report.seconds[task] for report in timed])) for task in timed[0].seconds}
    worst = max(reports, key=lambda report: report.worst_stretch)
    result |= {
        "milliseconds_per_frame": round(sum(tasks.values()), 2),
        "milliseconds": {task: round(value, 2) for task, value in tasks.items()},
        "worst_stretch": round(worst.worst_stretch, 5),
        "worst_stretch_frame": worst.frame,
        "mean_stretch": round(float(np.mean([report.mean_stretch for report in reports])), 5),
        "steps_per_frame": round(float(np.mean([report.steps for report in reports])), 1),
        "roughness_degrees": round(float(np.degrees(np.mean([report.roughness for report in reports]))), 2),
        "folded_share": round(float(np.mean([report.folded_share for report in reports])), 5),
        "body_contacts": sum(report.body_contacts for report in reports),
        "cloth_contacts": sum(report.cloth_contacts for report in reports),
    }
    if reports[-1].crossings is not None:
        result["crossings"] = reports[-1].crossings
    if drawn := job.images.figures():
        result["body_images"] = drawn
    return result | _pinched(order.garments, reports)


def _pinched(garments, reports) -> dict:
    """How many vertices bodies pinched that went into each other, when most, and which at any time by garment."""
    found = [report for report in reports if report.pinched is not None]
    if not found:
        return {}
    most = max(found, key=lambda report: len(report.pinched))
    vertices = np.unique(np.concatenate([report.pinched for report in found]))
    starts = np.cumsum([0, *(len(garment.x) for garment in garments)])
    parts = np.split(vertices, np.searchsorted(vertices, starts[1:-1]))
    named = zip(garments, parts, starts[:-1], strict=True)
    listed = {garment.name: (part - start).tolist() for garment, part, start in named if len(part)}
    return {"pinched": len(most.pinched), "pinched_frame": most.frame, "pinched_vertices": listed}
