# SPDX-License-Identifier: GPL-3.0-or-later
"""`taffeta bake-all`: every shot of a project, each in a Blender of its own, as many at once as memory has room for."""

import os
from pathlib import Path

from ..gpu_ldi.windowless import other_blender
from ..solver.cache import trash
from .bake import PACKAGE
from .command_bake import tell
from .playback.owners import FARM_COPY
from .work import many, memory

SHARE = 0.8  # of the memory that is free, where nobody says how much
CORES = 2  # of the processor, for each shot at once
GIGABYTE = 1e9
SAID = "Taffeta:"  # how the lines begin that are passed on
SCRIPT = """
import bpy, importlib, os, sys
package = importlib.import_module({package!r})
is_module = not hasattr(bpy.types.Scene, "taffeta")
if is_module:
    package.register()
status = importlib.import_module({package!r} + ".operators.command").run({arguments!r})
sys.stdout.flush()
sys.stderr.flush()
if is_module:
    package.unregister()
os._exit(status)
"""


def bake_all(options) -> int:
    """Do what `taffeta bake-all` says; returns the exit status. Raises what `command.run` tells in a sentence."""
    files = shots(options.folder)
    if options.list:
        print("\n".join(str(file) for file in files), flush=True)
        return 0
    cores = os.cpu_count() or 1
    most = min(len(files), options.jobs or max(1, cores // CORES))
    budget = int(options.memory * GIGABYTE) if options.memory else int(SHARE * memory.available())
    tell("INFO", f"{_in_words(len(files))}, {most} at once within {budget / GIGABYTE:.1f} GB")
    environment = {"NUMBA_NUM_THREADS": str(max(1, cores // most))} | os.environ
    tasks = [_task(file, options) for file in files]
    done = many.run(tasks, most, budget, _pass_on, env=environment)
    failed = [name for name, status in done.items() if status]
    if failed:
        raise OSError(f"These shots are not whole: {' '.join(failed)}; bake again with --resume")
    tell("INFO", f"Baked {_in_words(len(done))}")
    return 0


def _in_words(count: int) -> str:
    return "1 shot" if count == 1 else f"{count} shots"


def shots(folder: Path) -> list[Path]:
    """The .blend files of a project, sorted: no hidden ones, no trash, no links, no copies that a farm was given.

    Raises
    ------
    ValueError
        There are none: a sentence.
    """
    if not folder.is_dir():
        raise ValueError(f"There is no folder {folder}; check its path")
    found = []
    for place, folders, names in os.walk(folder):  # follows no links
        folders[:] = [name for name in folders if not name.startswith(".") and name != trash.TRASH]
        paths = [Path(place) / name for name in names if name.endswith(".blend") and not name.startswith(".")]
        found += [path for path in paths if path.is_file() and not path.is_symlink() and not _is_copy(path)]
    if not found:
        raise ValueError(f"No .blend lies in {folder}; name the folder of a project")
    return sorted(found)


def _is_copy(path: Path) -> bool:
    return path.name.endswith(FARM_COPY) and path.with_name(path.name.removesuffix(FARM_COPY) + ".blend").is_file()


def _task(file: Path, options) -> many.Task:
    arguments = ["bake", str(file), "--skip-empty"]
    again = _command([*arguments, "--resume"])
    # Files of one folder share a cache folder, where garments of the same name see whose the other's bake is.
    return many.Task(str(file), again if options.resume else _command(arguments), again, str(file.parent))


def _command(arguments: list[str]) -> list[str]:
    command = other_blender(SCRIPT.format(package=PACKAGE, arguments=arguments))
    if command is None:
        raise OSError("This Blender cannot start another one: bake the shots one by one with taffeta bake")
    return command


def _pass_on(name: str, line: str) -> None:
    if line.startswith(SAID):
        print(f"{name}: {line.removeprefix(SAID).strip()}", flush=True)
