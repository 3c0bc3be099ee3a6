# SPDX-License-Identifier: GPL-3.0-or-later
"""The report of a bake: figures of what came out and how long it took."""

import time

import numpy as np

from ...panels.report import frame_of, number, taken_again, warnings
from ...panels.translations import translated
from ...solver.model import Report, Trouble
from .job import Job

# Figures of the worst frame, and of which frame that is.
WORST = (
    ("worst_stretch", "worst_stretch_frame"),
    ("most_crossings", "most_crossings_frame"),
    ("pinched", "pinched_frame"),
)


def figures(job: Job, before: dict | None = None) -> dict:
    """The report of a bake, as JSON can hold it; a figure that was not computed is absent.

    before : the report of the frames that were kept, where there are any; what it tells of them is told again

    Times per frame are means over the frames that were simulated, in milliseconds of wall clock. The first of them
    is left out if there are more: it may have waited for the compiler.
    """
    result, garments, reports = _of_job(job), job.order.garments, job.reports
    if not reports:
        return result
    result |= _of_frames(reports)
    if reports[-1].crossings is not None:
        result |= {"crossings": reports[-1].crossings, "crossing_parts": job.crossed}
    if reports[-1].torn:
        result["torn"] = reports[-1].torn
    if reports[-1].seam_gap is not None:
        result |= {"seam_gap": round(reports[-1].seam_gap, 5), "seam_garment": job.gaping}
    if drawn := job.images.figures():
        result["body_images"] = drawn
    result["taken_again"] = _taken_again([garment.name for garment in garments], reports)
    result["warnings"] = job.doubts
    return _with_kept(result | _crossed(reports) | _pinched(garments, reports), before or {}, reports[0].frame)


def _of_job(job: Job) -> dict:
    """What was baked, which frames, and how long it took."""
    order = job.order
    ended = job.ended_at or time.perf_counter()
    result = {
        "garments": [garment.name for garment in order.garments],
        "colliders": [body.name for body in order.bodies],
        "frame_start": order.first_frame,
        "frame_end": job.frame,
        "frames": max(0, job.frame + 1 - order.first_frame),
        "frames_kept": job.kept_count(),
        "frames_simulated": len(job.reports),
        "complete": job.complete,
        "quality": order.quality,
        "substeps": order.settings.substeps,
        "seconds": round(ended - job.started, 3),
    }
    if job.prepared_at is not None:
        result["preparation_seconds"] = round(job.prepared_at - job.started, 3)
    if older := job.set_aside():
        result["set_aside"] = [str(path) for path in older]
    return result


def _of_frames(reports: list[Report]) -> dict:
    """Means, sums and the worst of the frames that were simulated."""
    timed = reports[1:] or reports
    tasks = {task: 1000 * float(np.mean([report.seconds[task] for report in timed])) for task in timed[0].seconds}
    worst = max(reports, key=lambda report: report.worst_stretch)
    return {
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


def _with_kept(result: dict, before: dict, first: int) -> dict:
    """The report of frames from the `first` simulated one on, and what `before` told of those before."""
    for name, frame_name in WORST:
        value, frame = number(before, name), frame_of(before, frame_name)
        if value is not None and frame is not None and frame < first and value > result.get(name, 0):
            result |= {name: before[name], frame_name: frame}
    kept = [{"frames": [f for f in frames if f < first], "why": why} for frames, why in taken_again(before)]
    result["taken_again"] = [item for item in kept if item["frames"]] + result["taken_again"]
    result["warnings"] = [[f, text] for f, text in warnings(before) if f < first] + result["warnings"]
    return result


def _crossed(reports: list[Report]) -> dict:
    """How many pairs of triangles crossed when most did, if that was before the last frame."""
    most = max(reports, key=lambda report: report.crossings or 0)
    if not most.crossings or most is reports[-1]:
        return {}
    return {"most_crossings": most.crossings, "most_crossings_frame": most.frame}


def _taken_again(names: list[str], reports: list[Report]) -> list[dict]:
    """Frames of which a substep was taken again, by why it was."""
    frames = {}
    for report in reports:
        for trouble in report.taken_again:
            frames.setdefault(trouble, []).append(report.frame)
    return [{"frames": found, "why": _why(names, trouble)} for trouble, found in frames.items()]


def _why(names: list[str], trouble: Trouble) -> str:
    who = translated(" and ").join(names[garment] for garment in trouble.garments)
    if not trouble.bodies:
        return f"{who} was pulled too long where something held it back"
    if len(trouble.bodies) == 1:
        return f"{who} was pressed into {trouble.bodies[0]}"
    return f"{who} was squeezed between {translated(' and ').join(trouble.bodies)}"


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
