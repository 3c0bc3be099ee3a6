# SPDX-License-Identifier: GPL-3.0-or-later
"""`blender --command taffeta bake`: the shot, the takes of its queue, or wedges of it."""

import contextlib
import os
import sys
from pathlib import Path

import bpy

from ..solver.cache import wedge as wedges
from ..solver.cache.frames import cached_frames
from ..solver.cache.wedge import Wedge
from . import untangle
from .bake import job as jobs
from .bake import wedged
from .bake.console import Console
from .bake.order import notices, read_order
from .bake.run import bake_now, outcome
from .playback.bake_files import bake_paths, strays
from .playback.cache_modifier import plays_as_linked, without_linked
from .playback.owners import cache_folder
from .read import setting_path, snapshot
from .read.participants import chosen_cloths, cloths_of
from .read.preroll import at_start
from .read.screen import words_of
from .takes import give
from .wedge_table import on_disk
from .wedge_table import rows as table
from .work.steps import run_through


def bake(options) -> int:
    """Do what `taffeta bake` says; returns the exit status. Raises what `command.run` tells in a sentence."""
    every = named_wedges(options)
    if not every and (options.list or options.only is not None):
        raise ValueError("--list and --only need a wedge: add --wedge PATH=VALUE,VALUE")
    if every and (options.save or options.queue):
        raise ValueError(
            "A wedge never touches the shot: leave out --save and --queue, and adopt it in the panel Wedges"
        )
    if options.untangle_frames and (every or options.queue):
        raise ValueError(
            "--untangle-frames corrects the shot's own bake: leave it out, or --queue and the settings of wedges"
        )
    every = every if options.list else _chosen(every, options.only)
    if options.queue and (options.resume or options.frames):
        raise ValueError("--queue bakes each take anew over its own frames: leave out --resume and --frames")
    scene = opened(options.file, options.scene)
    if options.skip_empty and all(map(plays_as_linked, cloths_of(scene))):
        tell("INFO", f"Scene {scene.name} has no Taffeta Cloth")
        return 0
    cloths = without_linked(chosen_cloths(bpy.context, options.object or "", everything=True))
    wedged.check(scene, every)
    if options.list:
        _list(scene, cloths, every)
        return 0
    if options.untangle:
        with _range(scene, cloths, options), at_start(scene):
            run_through(untangle.steps(scene, cloths, tell))
    if options.queue:
        _bake_queue(scene, options)
    elif every:
        _bake_wedges(scene, cloths, options, every)
    else:
        _bake_range(scene, cloths, options)
        if options.untangle_frames:
            _untangle_frames(scene, cloths, options.frames)
    if options.save:
        bpy.ops.wm.save_mainfile()
    if options.export and not every:
        export(scene, options.export, options.object, options.frames)
    return 0


def opened(file: Path, scene_name: str | None) -> bpy.types.Scene:
    """The scene that a command is about, of a file that is opened for it."""
    if not file.is_file():
        raise ValueError(f"There is no file {file}; check its path")
    bpy.ops.wm.open_mainfile(filepath=str(file.resolve()), load_ui=False)
    if scene_name is not None:
        scene = bpy.data.scenes.get(scene_name)
        if scene is None:
            names = ", ".join(scene.name for scene in bpy.data.scenes)
            raise ValueError(f"There is no scene '{scene_name}'; the file has {names}")
        bpy.context.window_manager.windows[0].scene = scene
    return bpy.context.scene


def tell(level: str, text: str) -> None:
    """A sentence on the console."""
    print(f"Taffeta: {text}", file=sys.stdout if level == "INFO" else sys.stderr, flush=True)


def export(scene, path: Path, obj: str | None, frames: tuple[int, int] | None) -> None:
    """Write what the garments play to a file; one of an earlier try is replaced, because farms repeat jobs."""
    first, last = frames or (scene.frame_start, scene.frame_end)
    target = {"object": obj} if obj else {"everything": True}
    bpy.ops.taffeta.export(
        filepath=os.path.realpath(bpy.path.abspath(str(path))),
        frame_start=first,
        frame_end=last,
        overwrite=True,
        **target,
    )


def wedge_export(path: Path, wedge: Wedge) -> Path:
    """The file that a wedge is exported to: PATH.abc becomes PATH-NAME.abc."""
    return path.with_name(f"{path.stem}-{wedge.name}{path.suffix}")


def named_wedges(options) -> list[Wedge]:
    """The wedges that the options name; none where the shot itself is meant."""
    if not (options.set or options.wedge or options.name):
        return []
    always = [setting_path.assignment(text) for text in options.set]
    if twice := [path for path, _ in always if [known for known, _ in always].count(path) > 1]:
        raise ValueError(f"{twice[0]} is set twice; leave one out")
    if (options.set or options.wedge) and not (always or any(text.strip(" ;") for text in options.wedge)):
        raise ValueError("'' is no wedge; write PATH=VALUE,VALUE, as Skirt.bending=1e-6,1e-5,1e-4")
    listed = [part for text in options.wedge for part in text.split(";") if part.strip()]
    varied = [setting_path.wedge(part.strip()) for part in listed]
    return wedges.combinations(dict(always), varied, options.name or "")


def _chosen(every: list[Wedge], only: int | None) -> list[Wedge]:
    if only is None:
        return every
    if not 1 <= only <= len(every):
        raise ValueError(f"There is no wedge {only}: these are {len(every)}, counted from 1; see --list")
    return [every[only - 1]]


def _list(scene, cloths, every: list[Wedge]) -> None:
    """Print the wedges, numbered as `--only` takes them, and what is there of each, also from before something was renamed."""
    earlier = [(wedged.as_called(scene, wedge), wedge) for wedge in on_disk(scene)]
    for number, wedge in enumerate(every, 1):
        known = [other for settings, other in earlier if settings == wedge.settings and other.name != wedge.name]
        rows = [row for row in table(scene, cloths, [wedge, *known]) if row.frames]
        state = f"frames {rows[0].frames.start} to {rows[0].frames.stop - 1}" if rows else "not baked"
        if rows and rows[0].wedge.name != wedge.name:
            state += f", baked as {rows[0].wedge.name}"
        told = " ".join(f"{path}={value}" for path, value in wedge.settings.items())
        print(f"{number:4d}  {wedge.name}  {told}  ({state})", flush=True)
    print(f"{len(every)} in {cache_folder(scene) / wedges.FOLDER}", flush=True)


def _bake_wedges(scene, cloths, options, every: list[Wedge]) -> None:
    """Bake and export one after another; an OSError names those that are not done."""
    lacking = []
    for wedge in every:
        tell("INFO", f"wedge {wedge.name}")
        before = wedged.put_on(scene, cloths, wedge)
        try:
            wedged.note(scene, cloths, wedge)
            _bake_range(scene, cloths, options, wedge.name)
            if options.export:
                export(scene, wedge_export(options.export, wedge), options.object, options.frames)
        except (*jobs.FAILURES, RuntimeError) as error:
            if len(every) == 1:
                raise
            tell("ERROR", words_of(error))
            lacking.append(wedge.name)
        finally:
            wedged.take_off(scene, before)
        job = jobs.last()
        if job is not None and job.is_stopped:
            lacking += [later.name for later in every[every.index(wedge) + 1 :]]
            break
    if lacking:
        raise OSError(f"These wedges are not done: {' '.join(lacking)}; send the command again with --resume")


def _bake_queue(scene, options) -> None:
    """Bake every take that can be; an OSError names those that are not whole."""
    takes, lacking, is_stopped = scene.taffeta_takes, [], False
    if not takes:
        raise ValueError(f"Scene {scene.name} has no take in its queue; add one in the panel Bakes, Queue, and save")
    cloths = cloths_of(scene)
    before = snapshot.take(scene, cloths, with_maps=False)
    for take in takes:
        if is_stopped:
            lacking.append(take.name)
            continue
        print(f"Taffeta: take {take.name}", flush=True)
        try:
            for sentence in give(scene, take):
                tell("WARNING", f"{take.name}: {sentence}")
            _bake_once(scene, options, take.name)
        except (*jobs.FAILURES, RuntimeError) as error:
            tell("ERROR", words_of(error))
            lacking.append(take.name)
        job = jobs.last()
        is_stopped = job is not None and job.is_stopped
    snapshot.apply(before, scene, cloths)
    if lacking:
        raise OSError(f"These takes are not whole: {', '.join(lacking)}; bake them again")


def _bake_range(scene, cloths, options, label: str = "") -> None:
    """Bake the frames that are asked for."""
    own = scene.frame_start
    with _range(scene, cloths, options):
        if scene.frame_start > own:
            _tell_start(scene, cloths, options.resume)
        _bake_once(scene, options, label)


def _tell_start(scene, cloths, resume: bool) -> None:
    """Say that a part of a shot continues nothing, where somebody may have meant it to."""
    first, found = scene.frame_start, _on_disk(scene, cloths)
    if resume and not any(frames.start == first for frames in found):
        tell("WARNING", f"No bake ends at frame {first - 1}: this one begins at frame {first}, from the pose there")
    elif not resume and any(first - 1 in frames for frames in found):
        told = f"This bake begins at frame {first}, from the pose there; --resume goes on after frame {first - 1}"
        tell("WARNING", f"{told}, which is on the disk")


@contextlib.contextmanager
def _range(scene, cloths, options):
    """The scene with the range that is asked for; it gets its own back."""
    before = scene.frame_start, scene.frame_end
    _set_frames(scene, cloths, options)
    try:
        yield
    finally:
        scene.frame_start, scene.frame_end = before


def _untangle_frames(scene, cloths, frames: tuple[int, int] | None) -> None:
    """Correct these frames of what was baked, as the button Untangle Frames does."""
    for obj in bpy.context.view_layer.objects:
        obj.select_set(obj in cloths)
    bpy.context.view_layer.objects.active = cloths[0]
    first, last = frames or (scene.frame_start, scene.frame_end)
    bpy.ops.taffeta.untangle_frames(frame_start=first, frame_end=last)


def _bake_once(scene, options, label: str) -> None:
    """Bake the scene as it is set up; an OSError names the files that lack frames."""
    only = [options.object] if options.object else ()
    job = jobs.Job(read_order(scene, options.resume, only=only, label=label))
    for _, text in notices(scene, job.order):
        print(f"Taffeta: {text}", flush=True)
    console = Console(job)
    try:
        bake_now(scene, job, console)
    except jobs.FAILURES as error:
        if not job.error:
            raise
        raise OSError(outcome(job)[-1][1]) from error  # who catches it tells it
    finally:
        console.close()
        for level, text in outcome(job):
            if level != "ERROR" or not job.error:
                tell(level, text)
    wanted = range(scene.frame_start, scene.frame_end + 1)
    lacking = [path for path in job.order.paths if not _holds(path, wanted)]
    if lacking:
        raise OSError(f"Frames are missing in {', '.join(str(path) for path in lacking)}; bake again with --resume")


def _set_frames(scene, cloths, options) -> None:
    """The scene's range for this bake. A part that continues a bake keeps the frame that bake began with, also for cloths
    that were not in it."""
    if options.frames is None:
        return
    first, last = options.frames
    if options.resume:
        starts = {frames.start for frames in _on_disk(scene, cloths) if frames.start < first <= frames.stop}
        if len(starts) == 1:
            first = starts.pop()
    scene.frame_start, scene.frame_end = first, last


def _on_disk(scene, cloths) -> list[range]:
    """Frames of the bakes that could be gone on with."""
    paths = [*bake_paths(scene, cloths, go_on=True), *filter(None, strays(cloths))]
    return [frames for path in paths if (frames := cached_frames(path))]


def _holds(path: Path, wanted: range) -> bool:
    found = cached_frames(path)
    return found is not None and wanted.start in found and wanted.stop - 1 in found
