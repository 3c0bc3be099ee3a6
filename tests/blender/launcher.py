# SPDX-License-Identifier: GPL-3.0-or-later
"""What Blender does with `blender -b -y --command taffeta ...`, by Blender as a module: register the extension, call the
command with what follows its name, leave with its status.
"""

import os
import sys
from pathlib import Path

SWITCHES = {"-b", "--background", "-y", "--enable-autoexec"}


def command_arguments(argv: list[str]) -> list[str]:
    """What the command is given: all that follows its name."""
    rest = list(argv)
    while rest and rest[0] in SWITCHES:
        rest.pop(0)
    if rest[:2] != ["--command", "taffeta"]:
        raise SystemExit(f"Blender would not call the command for {argv}")
    return rest[2:]


def script(folder: Path) -> Path:
    """An executable in `folder` that is called as Blender is."""
    path = folder / "blender"
    path.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{__file__}" "$@"\n')
    path.chmod(0o755)
    return path


if __name__ == "__main__":
    import bpy  # noqa: F401
    import taffeta

    taffeta.register()
    from taffeta.operators import command

    status = command.run(command_arguments(sys.argv[1:]))
    sys.stdout.flush()
    sys.stderr.flush()
    taffeta.unregister()
    os._exit(status)  # Blender 4.5 as a module can hang at exit
