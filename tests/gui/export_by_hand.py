# SPDX-License-Identifier: GPL-3.0-or-later
"""An OBJ sequence from a real window, a part of bakes_story.py: through the file browser to its end, and another until Esc."""

import runpy
import time
from pathlib import Path

import bpy
import numpy as np

MANY = 2000  # frames, which take longer to write than Esc to be pressed
SCREEN_HEIGHT = 1100
TOLD = runpy.run_path(str(Path(__file__).with_name("story.py")))
activate, inside, evaluated = (TOLD[name] for name in ("activate", "inside", "evaluated"))
HOME = Path("/tmp/home")


def until(condition, seconds=90.0):
    """Wait for what the window does a moment later, however busy the machine is; what did not come is judged by the test."""
    end = time.perf_counter() + seconds
    while not condition() and time.perf_counter() < end:
        yield 0.1


def browsers():
    """Windows with a file browser, and their areas."""
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "FILE_BROWSER":
                yield window, area


def exports():
    """Whether an export runs in the window."""
    return any(operator.bl_idname == "TAFFETA_OT_export" for operator in TOLD["window"]().modal_operators)


def press_export(drag, folder, last):
    """Press Export, and the file browser's own button."""
    folder.mkdir()
    bpy.context.scene.frame_end = last
    with inside():
        bpy.ops.taffeta.export("INVOKE_DEFAULT", format="OBJ", filepath=str(folder / "shawl.obj"))
    yield from accept(drag)


def accept(drag):
    """Press the button below on the right of the file browser that is about to open."""
    yield from until(lambda: any(browsers()))
    yield 1.5
    window, area = next(browsers())
    top = SCREEN_HEIGHT - window.y - window.height
    place = window.x + area.x + area.width - 60, top + window.height - area.y - 14
    drag(place, place)
    yield from until(lambda: not any(browsers()))


def export(shoot, press, drag, result):
    """Export all frames of the bake, then far more, until Esc."""
    scene, shawl = bpy.context.scene, bpy.data.objects["Shawl"]
    last, whole, stopped = scene.frame_end, HOME / "whole", HOME / "stopped"
    yield from press_export(drag, whole, last)
    yield from until(lambda: len(list(whole.glob("*.obj"))) == last and not exports())
    yield 0.5
    shoot("07_exported")
    result["exported"] = len(list(whole.glob("*.obj")))
    scene.frame_set(last)
    shown = evaluated(shawl)
    bpy.ops.wm.obj_import(filepath=str(sorted(whole.glob("*.obj"))[-1]))
    imported = bpy.context.view_layer.objects.active
    result["export_off"] = float(np.abs(evaluated(imported) - shown).max())
    bpy.data.objects.remove(imported)
    activate(shawl)
    yield from press_export(drag, stopped, MANY)
    yield from until(exports, 10.0)
    yield 0.5
    shoot("07_exporting")
    result["export_runs"] = exports()
    press("Escape")
    yield from until(lambda: not exports())
    yield 1.0
    result["export_stopped"] = not exports(), [path.name for path in stopped.iterdir()], scene.frame_current == last
    scene.frame_end = last
