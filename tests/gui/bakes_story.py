# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes in a real window: baked, undone, played again, freed by the dialog, restored, queued, baked in spite of what
Preflight has found; then in a file saved from it."""

import runpy
import subprocess
import time
from pathlib import Path

import bpy
import numpy as np

FRAMES = 8
TOLD = runpy.run_path(str(Path(__file__).with_name("story.py")))
activate, inside, bake_until, arrange_window, garment = (
    TOLD[name] for name in ("activate", "inside", "bake_until", "arrange_window", "garment")
)
WALK = runpy.run_path(str(Path(__file__).with_name("first_bake.py")))
find, click, move, open_only = (WALK[name] for name in ("find", "click", "move", "open_only"))
EXPORT = runpy.run_path(str(Path(__file__).with_name("export_by_hand.py")))
MENU = 80  # pixels to both sides of the pointer that the menu covers at least
REACH = 120  # pixels above and below the pointer that it may cover


def session():
    """What the panel draws."""
    return bpy.context.window_manager.taffeta


def entries():
    """The list as the panel has it: name, frames, whether it plays."""
    return [(item.label, item.frame_count, item.plays) for item in session().bakes if item.garment]


def until(condition, seconds=60.0):
    """Wait for what the window does a moment later, however busy the machine is; what did not come is judged by the test."""
    end = time.perf_counter() + seconds
    while not condition() and time.perf_counter() < end:
        yield 0.3
    yield 1.0  # to be drawn


def plays():
    """Whether the list says that a bake plays."""
    return any(item.plays for item in session().bakes)


def confirm(press):
    """Press Return with the pointer over the dialog, which opens in the middle of the window."""
    window = bpy.context.window_manager.windows[0]
    window.cursor_warp(window.width // 2, window.height // 2)
    yield 1.0
    press("Return")


def story(shoot, press, drag, result, out):
    """The whole story, step by step."""
    yield from arrange_window()
    bpy.data.objects.remove(bpy.data.objects["Cube"])
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, FRAMES
    activate(garment(count=12))
    with inside():
        bpy.ops.taffeta.cloth_add()
    open_only("more", "bakes", "takes", "wedges")
    bpy.ops.wm.save_as_mainfile(filepath="/tmp/home/shot.blend")
    yield 1.0
    bpy.ops.ed.undo_push(message="Set up")
    with inside():
        bpy.ops.taffeta.bake("INVOKE_DEFAULT")
    yield from bake_until(session, 2.0, 700)
    yield from until(plays)  # the list is made anew a moment after a change
    result["baked"] = entries()
    shoot("01_baked")
    with inside("VIEW_3D"):
        bpy.ops.ed.undo()
    yield from until(lambda: not plays())
    result["undone"] = entries()
    shoot("02_undone")
    with inside():
        result["play"] = list(bpy.ops.taffeta.bake_play(object="Shawl"))
    yield from until(plays)
    result["played"] = entries()
    shoot("03_played")
    yield from free_and_restore(shoot, press, result)
    yield from queue(shoot, result)
    yield from wedges(shoot, result)
    yield from EXPORT["export"](shoot, press, drag, result)
    yield from anyway(shoot, result, out)
    yield from save_as(shoot, press, result)


def free_and_restore(shoot, press, result):
    """Free by its dialog, bring the bake back."""
    press("Escape")
    yield 2.0  # a slow window hears the key late, and would close the dialog with it
    with inside():
        bpy.ops.taffeta.free("INVOKE_DEFAULT")
    yield 1.5
    shoot("04_free")
    yield from confirm(press)
    yield from until(lambda: session().trash)
    result["freed"] = entries(), session().trash
    shoot("05_freed")
    with inside():
        result["restore"] = list(bpy.ops.taffeta.bake_restore(object="Shawl"))
    yield from until(plays)
    result["restored"] = entries(), session().trash


def queue(shoot, result):
    """Two takes, one after another, beside the window."""
    shawl = bpy.data.objects["Shawl"]
    with inside():
        bpy.ops.taffeta.take_add(label="light")
        shawl.taffeta_cloth.mass.value *= 3.0
        hold_nothing(shawl)  # the list has a warning of it, and nobody is asked
        bpy.ops.taffeta.take_add(label="heavy")
    shawl.taffeta_cloth.pin.source = "UNIFORM"
    shawl.taffeta_cloth.mass.value *= 2.0
    mass = shawl.taffeta_cloth.mass.value
    with inside():
        result["queue"] = list(bpy.ops.taffeta.takes_bake("INVOKE_DEFAULT"))
    yield 0.6
    shoot("06_queue")
    for _ in range(400):
        yield 0.5
        if bpy.context.scene.taffeta_takes[1].outcome and not session().baking:
            break
    yield from until(lambda: len(entries()) == 3 and plays())
    result["outcomes"] = [take.outcome for take in bpy.context.scene.taffeta_takes]
    result["queued"] = entries()
    result["mass_as_before"] = bpy.data.objects["Shawl"].taffeta_cloth.mass.value == mass
    shoot("07_queued")


def as_before(kept):
    """Whether the list is as it was, but for the copy of the wedge that was adopted."""
    return [entry for entry in entries() if entry[0] != "Shawl.mass=2"] == kept


def wedges(shoot, result):
    """Two masses beside the window; the shot plays again, one is adopted, and the way back."""
    kept, mass = entries(), bpy.data.objects["Shawl"].taffeta_cloth.mass.value
    own = next(item.path for item in session().bakes if item.plays)
    with inside():
        bpy.ops.taffeta.wedge_add(path="Shawl.mass", values="0.05, 2")
        result["wedges"] = list(bpy.ops.taffeta.wedges_bake("INVOKE_DEFAULT"))
    found = bpy.context.window_manager.taffeta_wedges
    yield from until(lambda: len(found) == 2 and not session().baking, 200.0)
    yield from until(lambda: entries() == kept)
    now = bpy.data.objects["Shawl"].taffeta_cloth.mass.value
    result["wedged"] = [item.settings for item in found], entries() == kept and now == mass
    with inside():
        result["adopt"] = list(bpy.ops.taffeta.wedge_adopt(wedge="Shawl.mass=2"))
    yield from until(lambda: len(entries()) == len(kept) + 1)
    result["adopted"] = [item.plays for item in found], round(bpy.data.objects["Shawl"].taffeta_cloth.mass.value, 4)
    shoot("07_wedge_adopted")
    with inside():
        bpy.ops.taffeta.bake_play(object="Shawl", path=own)
    bpy.data.objects["Shawl"].taffeta_cloth.mass.value = mass
    yield from until(lambda: as_before(kept))
    result["and_back"] = as_before(kept)


def hold_nothing(obj):
    """Pins by a group that is empty: a bake of them would be in vain."""
    if "Empty" not in obj.vertex_groups:
        obj.vertex_groups.new(name="Empty")
    obj.taffeta_cloth.pin.source, obj.taffeta_cloth.pin.vertex_group = "GROUP", "Empty"


def grey(path, window):
    """A picture as levels of grey, a row of pixels a row."""
    found = subprocess.run(["convert", str(path), "-depth", "8", "rgb:-"], check=True, capture_output=True).stdout
    return (
        np.frombuffer(found, np.uint8).reshape(window.height, window.width, 3).mean(axis=2)
    )  # "gray:" loses the dark ones


def anyway(shoot, result, out):
    """Bake, clicked where Preflight has a warning; the menu that opens, and its last line, clicked."""
    window, places = bpy.context.window_manager.windows[0], {}
    hold_nothing(bpy.data.objects["Shawl"])
    yield 3.0
    yield from find("bpy.ops.taffeta.bake()", places)
    x, y = places["bpy.ops.taffeta.bake()"]
    move(60, 500)
    yield 2.0
    shoot("08_before_bake")
    yield from click(x, y)
    yield 2.5
    shoot("09_bake_asks")
    result["asks"] = (
        session().baking,
        [problem.severity for problem in session().problems if problem.verbs or problem.remedy],
    )
    changed = abs(grey(out / "09_bake_asks.png", window) - grey(out / "08_before_bake.png", window)) > 12
    middle, beside = round(y), slice(round(x) - MENU, round(x) + MENU)  # the menu opens at the pointer
    covered = changed[middle - REACH : middle + REACH, beside].mean(axis=1) > 0.3
    rows = middle - REACH + np.flatnonzero(covered)
    ends = (
        np.append(np.diff(rows), REACH) > 3
    )  # a row or two of it may be as grey as what was there; below it is a tooltip
    top, low = rows[0], rows[np.argmax(ends)]
    result["menu"] = int(top), middle, int(low)
    yield from click(x, low - 0.6 * 20 * bpy.context.preferences.system.ui_scale)  # the last line
    yield from until(lambda: len(entries()) == 5 and plays() and not session().baking)
    result["baked_anyway"] = entries()
    shoot("10_baked_anyway")
    bpy.data.objects["Shawl"].taffeta_cloth.pin.source = "UNIFORM"


def save_as(shoot, press, result):
    """A file saved from it: the dialog of Free asks, and leaves the other's bake."""
    bpy.ops.wm.save_as_mainfile(filepath="/tmp/home/shot_v2.blend")
    yield from until(lambda: any(item.maker for item in session().bakes))
    result["makers"] = [item.maker for item in session().bakes if item.garment]
    with inside():
        bpy.ops.taffeta.free("INVOKE_DEFAULT")
    yield 1.5
    shoot("11_free_of_another_file")
    yield from confirm(press)
    yield from until(lambda: not plays())
    result["left"] = sorted(path.name for path in Path("/tmp/home/taffeta_cache").glob("*.pc2"))
    result["freed_v2"] = entries()
    shoot("12_left")
