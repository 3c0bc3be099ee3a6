# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake from a script: `taffeta.bake(objects, frames, on_frame)`, which returns where the frames lie. See docs/python.md."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import bpy

from ..solver.model import Report
from .bake import job as jobs
from .bake.order import notices, read_order
from .bake.run import bake_now, outcome
from .live import turn


class Baked(NamedTuple):
    """What a bake from a script has come to."""

    paths: dict[str, Path]  # the PC2 file of each garment, by its object's name
    frames: range  # that are on disk
    complete: bool  # False where `on_frame` or Ctrl-C stopped it
    doubts: list[str]  # sentences on frames that are there and may not please, as the bake in the window tells them


def bake(
    objects: "bpy.types.Object | str | Iterable[bpy.types.Object | str] | None" = None,
    frames: range | None = None,
    on_frame: "Callable[[int, Report | None], bool | None] | None" = None,
    *,
    resume: bool = False,
    name: str = "",
    scene: bpy.types.Scene | None = None,
) -> Baked:
    """Bake garments on the main thread; returns when all is on disk and plays.

    Parameters
    ----------
    objects : Taffeta Cloths, or their names, to be baked together; None: all of the scene
    frames : without gaps, as range(1, 121); None: the scene's. The scene keeps its own range
    on_frame : called with each frame and its `solver.model.Report` (None: it was not simulated, as the first one and those
        that were good already) as soon as it is on disk. It may read whatever it likes and must not change the scene. What is not None and false stops the bake; the
        frames done stay
    resume : keep the frames that are still good and go on after them
    name : what the bake is called in the list of bakes
    scene : None: the one of the context

    Raises
    ------
    ValueError, OSError, FloatingPointError
        A sentence. Frames before are on disk and play. What `on_frame` raises goes on to the caller, the same way.
    """
    scene = bpy.context.scene if scene is None else scene
    if not isinstance(scene, bpy.types.Scene):
        raise ValueError(f"{scene!r} is no scene; give one of bpy.data.scenes, or leave scene out")
    only = _names(objects)
    jobs.refuse_another()
    turn.end()
    own = scene.frame_start, scene.frame_end
    try:
        if frames is not None:
            scene.frame_start, scene.frame_end = _ends(frames)
        job = jobs.Job(read_order(scene, resume, only=only, label=name))
        for level, text in notices(scene, job.order):
            print(f"Taffeta: {level.capitalize()}: {text}" if level != "INFO" else f"Taffeta: {text}", flush=True)
        bake_now(scene, job, _Caller(job, on_frame) if on_frame is not None else lambda job: None)
    finally:
        scene.frame_start, scene.frame_end = own
    garments = [garment.name for garment in job.order.garments]
    done = range(job.order.first_frame, job.frame + 1)
    doubts = [text for level, text in outcome(job) if level == "WARNING"]
    return Baked(dict(zip(garments, job.order.paths, strict=True)), done, job.complete, doubts)


class _Caller:
    """Tells a script of each frame once; a job tells of slow ones in between, too."""

    def __init__(self, job: jobs.Job, on_frame):
        self.told, self.on_frame = job.order.first_frame - 1, on_frame

    def __call__(self, job: jobs.Job) -> None:
        if job.frame <= self.told:
            return
        self.told = job.frame
        report = job.reports[-1] if job.reports and job.reports[-1].frame == job.frame else None
        answer = self.on_frame(job.frame, report)
        if answer is not None and not answer:
            job.stop.set()


def _names(objects) -> list[str]:
    """Names of the objects meant; [] where all are."""
    if objects is None:
        return []
    given = list(objects) if isinstance(objects, Iterable) and not isinstance(objects, str) else [objects]
    if strange := [item for item in given if not isinstance(item, (bpy.types.Object, str))]:
        raise ValueError(f"{strange[0]!r} is no object to be baked; give a Taffeta Cloth, its name, or several of them")
    if not given:
        raise ValueError("No object was given to be baked; leave objects out to bake all cloths of the scene")
    return [obj if isinstance(obj, str) else obj.name for obj in given]


def _ends(frames: range) -> tuple[int, int]:
    """First and last of frames that lie without gaps."""
    if not isinstance(frames, range) or frames.step != 1 or not frames:
        raise ValueError(f"{frames!r} are no frames to bake; give a range without gaps, as range(1, 121)")
    if frames[0] < 0:
        raise ValueError(
            f"Frame {frames[0]} lies before frame 0, where Blender's range begins; give a range from there on"
        )
    if frames[-1] > (last := bpy.types.Scene.bl_rna.properties["frame_end"].hard_max):
        raise ValueError(
            f"Frame {frames[-1]} lies behind frame {last}, where Blender's range ends; give a range up to there"
        )
    return frames[0], frames[-1]
