# SPDX-License-Identifier: GPL-3.0-or-later
"""Corrections with the mouse: a baked frame is sculpted, cloth is pushed out of a body and smoothed, the list is used.

As `story`, told in a real window; pictures under /out are looked at, what can be asserted goes into `result`.
"""

import sys
from importlib import import_module
from pathlib import Path

import bpy
import numpy as np
from bpy_extras import view3d_utils

sys.path.insert(0, str(Path(__file__).parent))

import first_bake as walk
import story as first

FRAMES, FRAME = 24, 18
GROWN = 1.06  # the body, after the bake: cloth is inside it


def corrections():
    """The corrections of the garment."""
    return import_module(first.PACKAGE + ".operators.read.correction").corrections_of(bpy.data.objects["Shawl"])


def session():
    """What the panel draws."""
    return bpy.context.window_manager.taffeta


def dress():
    """A shawl that falls on a ball, baked: a scene of 24 frames."""
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, FRAMES
    ball, shawl = first.shawl_on_a_ball()
    walk.open_only("more", "corrections")
    bpy.ops.wm.save_as_mainfile(filepath="/tmp/home/correct.blend")
    return ball, shawl


def shown(frame):
    """World positions of the shawl at a frame."""
    bpy.context.scene.frame_set(frame)
    return first.evaluated(bpy.data.objects["Shawl"])


def crossings(frame):
    """Pairs of triangles of the shawl and of the ball that cross at a frame, by Blender's own trees."""
    look = import_module(first.PACKAGE + ".operators.checks.crossings")
    bpy.context.scene.frame_set(frame)
    depsgraph = bpy.context.evaluated_depsgraph_get()
    one, other = (look.surface(bpy.data.objects[name], depsgraph, np.zeros(3)) for name in ("Shawl", "Body"))
    return len(look.crossing_pairs(one, other))


def sculpt(shoot, drag, result):
    """Correct This Frame by its button, a stroke of Blender's own brush, Done by its button in the view's header."""
    places, command = {}, "bpy.ops.taffeta.correct_frame("
    yield from walk.find(command, places, (0.5,))
    yield from walk.click(*places[command])
    yield 2.5
    sculpted = bpy.context.object
    result["sculpting"] = sculpted.name, sculpted.mode, bpy.data.objects["Shawl"].visible_get()
    place = first.area("VIEW_3D")
    region = next(region for region in place.regions if region.type == "WINDOW")
    corner = max(first.evaluated(sculpted), key=lambda x: x[2])
    x, y = view3d_utils.location_3d_to_region_2d(region, place.spaces.active.region_3d, corner)
    x, y = round(region.x + x), round(first.window().height - region.y - y)
    drag((x, y + 30), *[(x + 4 * k, y + 30 + k) for k in range(14)])
    yield 4.0
    shoot("60_sculpting")
    yield from done()
    yield 2.0
    result["corrected"] = [modifier.name for modifier in corrections()]


def done():
    """Look for Done in the view's header, and click it."""
    place = first.area("VIEW_3D")
    headers = [region for region in place.regions if region.type == "HEADER"]
    for header in headers:
        y = first.window().height - header.y - header.height // 2
        for x in range(header.x + 10, header.x + header.width // 2, 12):
            walk.move(x, y)
            yield walk.SETTLE
            with bpy.context.temp_override(window=first.window(), area=place, region=header):
                if bpy.ops.ui.copy_python_command_button.poll():
                    bpy.ops.ui.copy_python_command_button()
            if bpy.context.window_manager.clipboard.startswith("bpy.ops.taffeta.correct_done("):
                yield from walk.click(x + 4, y)
                return
    raise LookupError("no Done in the header")  # too narrow a window for it would be a fault, too


def pressed(command, shoot, press, name, count):
    """Press a button of the panel, look at its dialog, press Return over it, and wait for so many corrections."""
    places = {}
    yield from walk.find(command, places, (0.3, 0.7))
    yield from walk.click(*places[command])
    yield 2.0
    shoot(name)
    press("Return")
    yield from walk.wait(lambda: len(corrections()) == count, 300)
    yield 1.5


def story(shoot, press, drag, result, out):
    """The whole story, step by step."""
    yield from first.arrange_window()
    ball, shawl = dress()
    first.look_at_the_body(distance=2.4)
    yield 1.0
    first.activate(shawl)
    with first.inside():
        bpy.ops.taffeta.bake("INVOKE_DEFAULT")
    yield from first.bake_until(session, 2.0, 700)
    yield 1.0
    bpy.context.scene.frame_set(FRAME)
    baked = shown(FRAME)
    yield 1.0
    yield from sculpt(shoot, drag, result)
    result["sculpted_by"] = float(np.abs(shown(FRAME) - baked).max())
    shoot("61_corrected")
    ball.scale = [GROWN] * 3
    bpy.context.view_layer.update()
    result["crossings_before"] = crossings(FRAME)
    yield 1.0
    shoot("62_body_through")
    yield from pressed("bpy.ops.taffeta.push_out(", shoot, press, "63_push_out", 2)
    result["pushed"] = [modifier.name for modifier in corrections()]
    result["crossings_after"] = [crossings(frame) for frame in (FRAME - 2, FRAME, FRAMES)]
    bpy.context.scene.frame_set(FRAME)
    yield 1.0
    shoot("64_out")
    before = shown(FRAME)
    yield from pressed("bpy.ops.taffeta.smooth_in_space(", shoot, press, "65_smooth", 3)
    smooth = shown(FRAME)
    result["smoothed_by"] = float(np.abs(smooth - before).max())
    result["crossings_smooth"] = crossings(FRAME)
    shoot("66_smooth")
    places, mute = {}, "bpy.ops.taffeta.correction_mute(index=2"
    yield from walk.find(mute, places, (0.94, 0.9, 0.92))
    yield from walk.click(*places[mute])
    yield 1.5
    result["muted"] = float(np.abs(shown(FRAME) - before).max())
    shoot("67_muted")
