# SPDX-License-Identifier: GPL-3.0-or-later
"""`blender --command taffeta bake FILE.blend`: a bake for farms and scripts, without a window.

The exit status is 0 only when every frame of every garment asked for is on disk; frames that are there but doubtful, far
too long or with crossings, are told on standard error. The .blend stays as it is, so that
many machines can read it; when it is opened, Taffeta finds the frames where it would have baked them, and Resume
checks and plays them. `--save` writes the .blend with playback switched on instead.
"""

import argparse
import os
import sys
from pathlib import Path

import bpy

from ..solver.cache import recipe
from ..solver.cache.files import in_words
from ..solver.cache.frames import cached_frames
from . import untangle
from .bake import job as jobs
from .bake.console import Console
from .bake.order import notices, read_order
from .bake.run import bake_now, outcome
from .export import check_ending
from .playback.bake_files import bake_paths
from .read import snapshot
from .read.participants import chosen_cloths, cloths_of
from .read.preroll import at_start
from .work.steps import run_through

LAST_FRAME = 1_048_574  # of a scene
EXIT_FAILED = 1  # exit status; argparse gives 2 for arguments that make no sense


def parser() -> argparse.ArgumentParser:
    """What the command line may say."""
    root = argparse.ArgumentParser(prog="blender --command taffeta", description="Cloth simulation for Blender")
    verbs = root.add_subparsers(dest="verb", required=True, metavar="VERB")
    verb = verbs.add_parser("bake", help="bake the cloths of a .blend", description=__doc__.split("\n\n")[1])
    verb.add_argument("file", type=Path, metavar="FILE.blend")
    verb.add_argument("--scene", metavar="NAME", help="scene to bake; the one the file was saved with if left out")
    verb.add_argument("--object", metavar="NAME", help="the one cloth to bake; all if left out")
    verb.add_argument(
        "--frames", type=frame_range, metavar="A-B", help="frames to bake; those of the scene if left out"
    )
    verb.add_argument("--resume", action="store_true", help="keep the frames that are still good and go on after them")
    verb.add_argument(
        "--untangle", action="store_true", help="first take the cloths out of each other and of the bodies"
    )
    verb.add_argument(
        "--export",
        type=export_path,
        metavar="PATH",
        help="then write PATH.abc, PATH.usd, or DIR/NAME.obj (one file a frame)",
    )
    verb.add_argument(
        "--queue", action="store_true", help="bake the takes of the queue, one after another, to a bake each"
    )
    verb.add_argument("--save", action="store_true", help="save the .blend with playback switched on")
    return root


def frame_range(text: str) -> tuple[int, int]:
    """ "A-B" or "A" as two frame numbers, from 0 on as Blender has them."""
    first, dash, last = text.partition("-")
    if not (first.isdecimal() and (last.isdecimal() or not dash)):
        raise argparse.ArgumentTypeError(f"'{text}' is no frame range; write 1-120, or 7 for one frame")
    if max(len(first), len(last)) > len(str(LAST_FRAME)) or int(last or first) > LAST_FRAME:
        raise argparse.ArgumentTypeError(f"'{text}' goes beyond frame {LAST_FRAME:,}, the last that Blender has")
    result = int(first), int(last or first)
    if result[1] < result[0]:
        raise argparse.ArgumentTypeError(f"'{text}' ends before it starts; write {result[1]}-{result[0]}")
    return result


def export_path(text: str) -> Path:
    """A file that can be exported to, as far as its name tells."""
    try:
        check_ending(Path(text))
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return Path(text)


def run(arguments: list[str]) -> int:
    """Do what the command line says; returns the exit status and never raises for what a user can get wrong."""
    try:
        options = parser().parse_args(arguments)
    except SystemExit as end:  # argparse has printed what was wrong, or the help
        return int(end.code or 0)
    try:
        return _bake(options)
    except (*jobs.FAILURES, RuntimeError) as error:  # RuntimeError is how Blender's operators report
        print(f"Taffeta: {in_words(error).removeprefix('Error: ').strip()}", file=sys.stderr, flush=True)
        return EXIT_FAILED


def _bake(options) -> int:
    if not options.file.is_file():
        raise ValueError(f"There is no file {options.file}; check its path")
    if options.queue and (options.resume or options.frames):
        raise ValueError("--queue bakes each take anew over its own frames: leave out --resume and --frames")
    bpy.ops.wm.open_mainfile(filepath=str(options.file.resolve()), load_ui=False)
    scene = _scene(options.scene)
    cloths = chosen_cloths(bpy.context, options.object or "", everything=True)
    before = scene.frame_start, scene.frame_end
    _set_frames(scene, cloths, options)
    if options.untangle:
        with at_start(scene):
            run_through(untangle.steps(scene, cloths, _tell))
    if options.queue:
        _bake_queue(scene, options)
    else:
        _bake_once(scene, options)
    scene.frame_start, scene.frame_end = before
    if options.save:
        bpy.ops.wm.save_mainfile()
    if options.export:
        _export(options, scene)
    return 0


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
            snapshot.apply(recipe.parse(take.settings), scene, cloths, take.name)
            _bake_once(scene, options, take.name)
        except (*jobs.FAILURES, RuntimeError) as error:
            _tell("ERROR", in_words(error))
            lacking.append(take.name)
        job = jobs.last()
        is_stopped = job is not None and job.is_stopped
    snapshot.apply(before, scene, cloths)
    if lacking:
        raise OSError(f"These takes are not whole: {', '.join(lacking)}; bake them again")


def _bake_once(scene, options, label: str = "") -> None:
    """Bake the scene as it is set up; an OSError names the files that lack frames."""
    only = [options.object] if options.object else ()
    job = jobs.Job(read_order(scene, options.resume, only=only, label=label))
    for _, text in notices(scene, job.order):
        print(f"Taffeta: {text}", flush=True)
    console = Console(job)
    try:
        bake_now(scene, job, console)
    finally:
        console.close()
        for level, text in outcome(job):
            _tell(level, text)
    wanted = range(scene.frame_start, scene.frame_end + 1)
    lacking = [path for path in job.order.paths if not _holds(path, wanted)]
    if lacking:
        raise OSError(f"Frames are missing in {', '.join(str(path) for path in lacking)}; bake again with --resume")


def _tell(level: str, text: str) -> None:
    print(f"Taffeta: {text}", file=sys.stdout if level == "INFO" else sys.stderr, flush=True)


def _scene(name: str | None) -> bpy.types.Scene:
    if name is not None:
        scene = bpy.data.scenes.get(name)
        if scene is None:
            raise ValueError(f"There is no scene '{name}'; the file has {', '.join(s.name for s in bpy.data.scenes)}")
        bpy.context.window_manager.windows[0].scene = scene
    return bpy.context.scene


def _set_frames(scene, cloths, options) -> None:
    """The scene's range for this bake. A part that continues a bake keeps the frame that bake began with, also for cloths
    that were not in it."""
    if options.frames is None:
        return
    first, last = options.frames
    if options.resume:
        found = [frames for path in bake_paths(scene, cloths, go_on=True) if (frames := cached_frames(path))]
        starts = {frames.start for frames in found if frames.start < first <= frames.stop}
        if len(starts) == 1:
            first = starts.pop()
    scene.frame_start, scene.frame_end = first, last


def _holds(path: Path, wanted: range) -> bool:
    found = cached_frames(path)
    return found is not None and wanted.start in found and wanted.stop - 1 in found


def _export(options, scene) -> None:
    first, last = options.frames or (scene.frame_start, scene.frame_end)
    path = os.path.realpath(options.export)
    # A farm repeats jobs: the file of an earlier try is in the way.
    target = {"object": options.object} if options.object else {"everything": True}
    bpy.ops.taffeta.export(filepath=path, frame_start=first, frame_end=last, overwrite=True, **target)


_handle = None


def register():
    """Make `blender --command taffeta` known."""
    global _handle
    _handle = bpy.utils.register_cli_command("taffeta", run)


def unregister():
    """Take the command away."""
    global _handle
    bpy.utils.unregister_cli_command(_handle)
    _handle = None
