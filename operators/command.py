# SPDX-License-Identifier: GPL-3.0-or-later
"""`blender --command taffeta bake FILE.blend`: a bake for farms and scripts, without a window.

The exit status is 0 only when every frame of every garment asked for is on disk; frames that are there but doubtful, far
too long or with crossings, are told on standard error. The .blend stays as it is, so that
many machines can read it; when it is opened, Taffeta finds the frames where it would have baked them, and Resume
checks and plays them. `--save` writes the .blend with playback switched on instead. `--set`, `--name` and `--wedge` bake with
other settings, each into a cache of its own.
"""

import argparse
import re
import sys
from pathlib import Path

import bpy

from .bake import job as jobs
from .bake_all import bake_all
from .command_bake import bake
from .contact_sheet import sheet
from .export import check_ending
from .farm import install_flamenco, write_openjd
from .read.screen import words_of
from .work.writers import refuse_unbuilt

NEGATIVE = re.compile(r"-\d")
LAST_FRAME = 1_048_574  # of a scene
EXIT_FAILED = 1  # exit status; argparse gives 2 for arguments that make no sense


def parser() -> argparse.ArgumentParser:
    """What the command line may say."""
    root = argparse.ArgumentParser(prog="blender --command taffeta", description="Cloth simulation for Blender")
    verbs = root.add_subparsers(dest="verb", required=True, metavar="VERB")
    _add_bake(verbs)
    _add_sheet(verbs)
    _add_bake_all(verbs)
    _add_farm(verbs)
    return root


def _add_bake(verbs) -> None:
    verb = verbs.add_parser("bake", help="bake the cloths of a .blend", description=__doc__.split("\n\n")[1])
    verb.set_defaults(work=bake)
    _add_scene(verb)
    verb.add_argument(
        "--frames", type=frame_range, metavar="A-B", help="frames to bake; those of the scene if left out"
    )
    verb.add_argument("--object", metavar="NAME", help="the one cloth to bake; all if left out")
    verb.add_argument("--resume", action="store_true", help="keep the frames that are still good and go on after them")
    verb.add_argument(
        "--untangle", action="store_true", help="first take the cloths out of each other and of the bodies"
    )
    verb.add_argument(
        "--untangle-frames",
        action="store_true",
        help="then take them out of themselves, each other and the bodies in every baked frame, as a correction; see --save",
    )
    _add_export(verb)
    verb.add_argument(
        "--queue", action="store_true", help="bake the takes of the queue, one after another, to a bake each"
    )
    verb.add_argument("--save", action="store_true", help="save the .blend with playback switched on")
    _add_wedges(verb)
    verb.add_argument("--skip-empty", action="store_true", help="a scene without cloth is no failure")
    verb.add_argument("--list", action="store_true", help="only list the combinations, numbered from 1")
    verb.add_argument("--only", type=int, metavar="NUMBER", help="bake this one of the list, as one task of a farm")


def _add_sheet(verbs) -> None:
    verb = verbs.add_parser(
        "sheet",
        help="draw all wedges of a .blend on one picture, with a table of time, stretch, roughness and crossings",
    )
    verb.set_defaults(work=sheet)
    _add_scene(verb)
    _add_wedges(verb)
    verb.add_argument("--output", type=picture_path, metavar="PATH.png", help="beside the wedges if left out")
    verb.add_argument("--frame", type=int, help="frame that is drawn; the last that all have if left out")
    verb.add_argument("--size", type=size, default=360, metavar="PIXELS", help="width of a picture (360)")
    verb.add_argument("--columns", type=size, metavar="COUNT", help="pictures side by side")
    _add_export(verb)
    verb.add_argument("--folder", type=Path, default=Path(), help="that --output and --export are seen from")


def _add_bake_all(verbs) -> None:
    verb = verbs.add_parser("bake-all", help="bake every .blend of a folder, several at once within memory")
    verb.set_defaults(work=bake_all)
    verb.add_argument("folder", type=Path, metavar="FOLDER")
    verb.add_argument("--resume", action="store_true", help="keep the frames that are still good and go on after them")
    verb.add_argument("--jobs", type=size, metavar="COUNT", help="shots at once; one for two cores if left out")
    verb.add_argument(
        "--memory", type=gigabytes, metavar="GB", help="that they may have together; four fifths of what is free"
    )
    verb.add_argument("--list", action="store_true", help="only list the shots")


def _add_farm(verbs) -> None:
    verb = verbs.add_parser("flamenco", help="give a Flamenco Manager the job type Taffeta Wedges")
    verb.set_defaults(work=install_flamenco)
    verb.add_argument("folder", type=Path, metavar="FOLDER", help="that flamenco-manager lies in")
    verb = verbs.add_parser("openjd", help="write the Open Job Description template of wedges")
    verb.set_defaults(work=write_openjd)
    verb.add_argument("file", type=Path, metavar="FILE.yaml")


def _add_wedges(verb) -> None:
    verb.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="PATH=VALUE",
        help="another value for a setting, as Skirt.bending=1e-5 or scene.wind.x=3; baked beside the shot's own cache",
    )
    verb.add_argument("--name", help="what that bake is called; by its settings if left out")
    verb.add_argument(
        "--wedge",
        action="append",
        default=[],
        metavar="PATH=VALUE,...",
        help="several values for a setting: every combination is baked, each to a cache of its own. Again for more, or all in "
        "one, with semicolons between",
    )


def _add_export(verb) -> None:
    verb.add_argument(
        "--export",
        type=export_path,
        metavar="PATH",
        help="then write PATH.abc, PATH.usd, or DIR/NAME.obj (one file a frame); of each wedge PATH-WEDGE.abc",
    )


def _add_scene(verb) -> None:
    verb.add_argument("file", type=Path, metavar="FILE.blend")
    verb.add_argument("--scene", metavar="NAME", help="scene to take; the one the file was saved with if left out")


def frame_range(text: str) -> tuple[int, int]:
    """ "A-B" or "A" as two frame numbers, from 0 on as Blender has them."""
    if NEGATIVE.match(text):
        raise argparse.ArgumentTypeError(f"'{text}' begins before frame 0, the first of a scene in Blender")
    first, dash, last = text.partition("-")
    if not (first.isdecimal() and (last.isdecimal() or not dash)):
        raise argparse.ArgumentTypeError(f"'{text}' is no frame range; write 1-120, or 7 for one frame")
    if max(len(first), len(last)) > len(str(LAST_FRAME)) or int(last or first) > LAST_FRAME:
        raise argparse.ArgumentTypeError(f"'{text}' goes beyond frame {LAST_FRAME:,}, the last that Blender has")
    result = int(first), int(last or first)
    if result[1] < result[0]:
        raise argparse.ArgumentTypeError(f"'{text}' ends before it starts; write {result[1]}-{result[0]}")
    return result


def export_path(text: str) -> Path | None:
    """A file that this Blender can export to, as far as its name tells; none for an empty text, as farms leave it."""
    if not text:
        return None
    try:
        check_ending(Path(text))
        refuse_unbuilt(Path(text))
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return Path(text)


def picture_path(text: str) -> Path:
    """A picture that a sheet can be written to."""
    if Path(text).suffix.lower() != ".png":
        raise argparse.ArgumentTypeError(f"{text}: the name has to end in .png")
    return Path(text)


def size(text: str) -> int:
    """A number of pixels or pictures."""
    if not text.isdecimal() or not 1 <= int(text[:6]) <= 4096 or len(text) > 4:
        raise argparse.ArgumentTypeError(f"'{text}' is no number from 1 to 4096")
    return int(text)


def gigabytes(text: str) -> float:
    """An amount of memory."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.0 < value < 1e6:
        raise argparse.ArgumentTypeError(f"'{text}' is no number of gigabytes")
    return value


def _joined(arguments: list[str]) -> list[str]:
    """The same with --frames and what is after it as one word, where argparse would take that for an option: -5-3."""
    joined: list[str] = []
    for text in arguments:
        if joined and joined[-1] == "--frames" and NEGATIVE.match(text):
            joined[-1] += f"={text}"
        else:
            joined.append(text)
    return joined


def run(arguments: list[str]) -> int:
    """Do what the command line says; returns the exit status and never raises for what a user can get wrong."""
    try:
        options = parser().parse_args(_joined(arguments))
    except SystemExit as end:  # argparse has printed what was wrong, or the help
        return int(end.code or 0)
    try:
        return options.work(options)
    except (*jobs.FAILURES, RuntimeError) as error:  # RuntimeError is how Blender's operators report
        print(f"Taffeta: {words_of(error)}", file=sys.stderr, flush=True)
        return EXIT_FAILED


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
