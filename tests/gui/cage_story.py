# SPDX-License-Identifier: GPL-3.0-or-later
"""A cage in a real window: baked, refined where that folded by the button of the panel and its dialog, stopped once by Esc.

As `story`, told in a real window; pictures under /out are looked at, what can be asserted goes into `result`.
"""

import sys
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).parent))

import first_bake as walk
import story as first

VERTICES, FRAMES = 200, 24


def shape(cage):
    """What the cage's mesh is, and how many it had."""
    return cage.data.name, len(cage.data.vertices), len(cage.taffeta_cage.kept)


def dress():
    """A shawl that falls on a ball, and a tab with its cage alone."""
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, FRAMES
    _, shawl = first.shawl_on_a_ball()
    walk.open_only("more", "cloth_cage")
    bpy.ops.wm.save_as_mainfile(filepath="/tmp/home/cage.blend")
    return shawl


def session():
    """What the panel draws."""
    return bpy.context.window_manager.taffeta


def begin(command, shoot, press, name):
    """Press the button, look at its dialog, press Return over it."""
    places = {}
    yield from walk.find(command, places, (0.3, 0.7))
    yield from walk.click(*places[command])
    yield 2.0
    shoot(name)
    press("Return")


def story(shoot, press, drag, result, out):
    """The whole story, step by step."""
    yield from first.arrange_window()
    shawl = dress()
    first.look_at_the_body(distance=2.4)
    yield 1.0
    first.activate(shawl)
    with first.inside():
        bpy.ops.taffeta.cage_make(vertices=VERTICES)
    cage = shawl.taffeta_cage.cage
    with first.inside():
        bpy.ops.taffeta.bake("INVOKE_DEFAULT")
    yield from first.bake_until(session, 2.0, 700)
    bpy.context.scene.frame_set(FRAMES)
    yield 1.0
    before = result["before"] = shape(cage)
    command = "bpy.ops.taffeta.cage_refine("
    yield from begin(command, shoot, press, "70_dialog")
    yield 0.1
    press("Escape")
    yield 4.0
    result["stopped"] = shape(cage)
    if shape(cage) == before:
        yield from begin(command, shoot, press, "71_dialog")
    yield from walk.wait(lambda: shape(cage) != before, 300)
    yield 1.5
    shoot("72_refined")
    result["after"] = shape(cage)
    result["active"] = bpy.context.view_layer.objects.active.name
