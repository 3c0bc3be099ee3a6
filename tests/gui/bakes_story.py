# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes in a real window: baked, undone, played again, freed by the dialog, restored, queued; then in a file saved from it."""

import runpy
import time
from pathlib import Path

import bpy

FRAMES = 8
TOLD = runpy.run_path(str(Path(__file__).with_name("story.py")))
activate, inside, bake_until, arrange_window, garment = (
    TOLD[name] for name in ("activate", "inside", "bake_until", "arrange_window", "garment")
)


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
    only_the_bakes()
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
    yield from save_as(shoot, press, result)


def only_the_bakes():
    """Leave out the panels beside the list, and open it: the window is not high enough for all."""
    kept = [getattr(bpy.types, f"TAFFETA_PT_{name}") for name in ("more", "bakes", "takes")]
    for name in dir(bpy.types):
        cls = getattr(bpy.types, name)
        if name.startswith("TAFFETA_PT_") and cls not in kept:
            if getattr(cls, "bl_parent_id", "") in ("TAFFETA_PT_cloth", "TAFFETA_PT_more"):
                cls.poll = classmethod(lambda cls, context: False)
    for cls in reversed(kept):
        bpy.utils.unregister_class(cls)
    for cls in kept:  # closed at first, with those above them
        cls.bl_options = set()
        bpy.utils.register_class(cls)


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
        bpy.ops.taffeta.take_add(label="heavy")
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


def save_as(shoot, press, result):
    """A file saved from it: the dialog of Free asks, and leaves the other's bake."""
    bpy.ops.wm.save_as_mainfile(filepath="/tmp/home/shot_v2.blend")
    yield from until(lambda: any(item.maker for item in session().bakes))
    result["makers"] = [item.maker for item in session().bakes if item.garment]
    with inside():
        bpy.ops.taffeta.free("INVOKE_DEFAULT")
    yield 1.5
    shoot("08_free_of_another_file")
    yield from confirm(press)
    yield from until(lambda: not plays())
    result["left"] = sorted(path.name for path in Path("/tmp/home/taffeta_cache").glob("*.pc2"))
    result["freed_v2"] = entries()
    shoot("09_left")
