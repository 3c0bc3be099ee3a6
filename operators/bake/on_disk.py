# SPDX-License-Identifier: GPL-3.0-or-later
"""The caches of a job: opened, with what was in their place set aside; told of; and put back where nothing came of it.

Each function is given the `job.Job`.
"""

import contextlib
from functools import partial
from pathlib import Path

from ...solver.cache import about, frames, moves, names, recipe, wedge
from ...solver.model import Report
from ..playback.correction_files import folder_beside


def open_caches(job, caches: list) -> None:
    """Fill `caches`, one per garment; each is in the list as soon as it is open, so that it gets closed."""
    order = job.order
    is_new = not order.resume and order.from_frame is None
    _bring_corrections(job)
    _bring_strays(job)
    for path, garment, source, owner in zip(order.paths, order.garments, order.sources, order.owners, strict=True):
        if is_new or source is not None:
            _set_aside(job, path)
        if source is not None:
            moves.copy_frames(source, path, owner, order.from_frame, partial(_copied, job, source))
        caches.append(frames.open_cache(path, len(garment.x), order.first_frame, order.fps, owner))
        caches[-1].borrowed = source is not None
        _note_older(job, caches[-1])
    before = [about.About() if is_new else about.read(path) for path in order.paths]  # somebody may delete it meanwhile
    abouts = [
        told._replace(label=told.label or was.label, note=was.note)
        for told, was in zip(order.abouts, before, strict=True)
    ]
    job.order = order._replace(abouts=abouts)
    counts = [len(cache.good_frames()) for cache in caches]
    job.found_count = min(counts)
    if any(counts):
        job.lacking = [garment.name for garment, count in zip(order.garments, counts, strict=True) if not count]


def _bring_strays(job) -> None:
    """Bring what lies in a temporary folder to where it is baked: there it is gone on with, or set aside as any other bake."""
    order = job.order
    for path, stray, owner in zip(order.paths, order.strays, order.owners, strict=True):
        if stray is not None and not job.stop.is_set():
            _set_aside(job, path)
            moves.bring(stray, path, owner, partial(_copied, job, stray))
            wedge.bring(stray, path, owner, partial(_copied, job, stray))


def _bring_corrections(job) -> None:
    """Copy files of corrections that lie elsewhere to where the bakes go; what was copied is found again if the bake fails."""
    for path, files in zip(job.order.paths, job.order.corrections, strict=True):
        for file in files:
            if job.stop.is_set():
                return
            if (place := moves.bring_file(file, folder_beside(path), partial(_copied, job, file))) is not None:
                job.corrections[file] = place


def tell_about(job, frame: int, report: Report | None) -> None:
    """Note beside each bake when and of what it was made, as soon as it has a frame of this bake."""
    order = job.order
    if job.is_told or frame < order.first_frame or (report is None and job.found_count):
        return
    job.is_told = True
    for path, told, made_of in zip(order.paths, order.abouts, order.recipes, strict=True):
        with contextlib.suppress(OSError):  # the frames count
            about.write(path, told)
            recipe.write(path, made_of)


def _tell_again(job) -> None:
    """Note anew what somebody has deleted beside frames that are those of this scene: while they were baked, or before, where the
    bake that goes on has found all of them good."""
    order = job.order
    if not job.is_told and not job.complete:
        return
    for path, told, made_of in zip(order.paths, order.abouts, order.recipes, strict=True):
        with contextlib.suppress(OSError):  # the frames count
            if not about.is_kept(path):
                # the journal's date is that of the frames
                about.write(path, told if job.is_told else told._replace(date=""))
            if not recipe.is_kept(path):
                recipe.write(path, made_of)


def close_caches(job, caches: list, is_gone: bool) -> None:
    """Close them and say in `job.frame` what is kept; where no frame came to be, what was there is there again.

    is_gone : the files were deleted or moved while they were written.
    """
    if is_gone:
        job.frame = job.order.first_frame - 1
    elif len(caches) == len(job.order.paths) and not job.complete:
        _keep_rest(job, caches)
    if not is_gone:
        _tell_again(job)
    for cache in caches:
        _note_older(job, cache)
        for part in cache.remade:
            words = f"{part} was deleted or moved during the bake: it was written anew, and no frame is lost"
            job.doubts.append((job.frame, words))
        cache.close()
    for path, source in zip(job.order.paths, job.order.sources, strict=True):
        if source is not None and not moves.present(path):
            for note in names.companions(path):
                note.unlink(missing_ok=True)
    for path, older in job.older.items():
        if older and moves.put_back(older[0], path):
            del older[0]


def _keep_rest(job, caches) -> None:
    """A bake that was stopped while it looked at the frames on disk has kept those that it did not come to."""
    if not any(report.frame >= job.order.first_frame for report in job.reports):
        last = min(cache.good_frames().stop for cache in caches) - 1
        job.frame = max(job.frame, min(last, job.order.frames.stop - 1))


def _set_aside(job, path: Path) -> None:
    if names.in_use(path):
        raise OSError(f"{path} is being baked by another Blender; wait for it, or choose another cache folder")
    if (older := moves.set_aside(path)) is not None:
        job.older.setdefault(path, []).append(older)


def _copied(job, source: Path, share: float) -> bool:
    """Tell how far a copy is; whether it is to go on."""
    job.status = f"Copying the frames of {source.name}, {share:.0%}"
    return not job.stop.is_set()


def _note_older(job, cache) -> None:
    known = job.older.setdefault(cache.path, [])
    if cache.older is not None and cache.older not in known:
        known.append(cache.older)
