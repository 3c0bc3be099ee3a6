# SPDX-License-Identifier: GPL-3.0-or-later
"""Draping with the mouse: pull, pin, step back, pause, keep, and Esc.

As `story`, told in a real window; pictures under /out are looked at, what can be asserted goes into `result`.
"""

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import bpy
import numpy as np
from bpy_extras import view3d_utils

sys.path.insert(0, str(Path(__file__).parent))

import first_bake as walk
import story as first

KEEP = "bpy.ops.taffeta.drape_keep(result='FURTHER'"


def drape():
    """What is being draped."""
    return import_module(first.PACKAGE + ".operators.drape.session").running()


def dress():
    """A shawl that lies on a ball, the way `story` begins."""
    bpy.data.objects.remove(bpy.data.objects["Cube"])
    ball, shawl = first.body(), first.garment(size=1.2, count=40)
    shawl.location.z = 1.31
    for obj, verb in ((ball, bpy.ops.taffeta.collider_add), (shawl, bpy.ops.taffeta.cloth_add)):
        first.activate(obj)
        with first.inside():
            verb()
    return shawl


def on_screen(point):
    """Pixels from the top left of the screen of a point of the world."""
    place = first.area("VIEW_3D")
    region = next(region for region in place.regions if region.type == "WINDOW")
    x, y = view3d_utils.location_3d_to_region_2d(region, place.spaces.active.region_3d, point)
    return round(region.x + x), round(first.window().height - region.y - y)


def dragged(points, key, shoot, name):
    """Drag over the screen with the left button, while a key is held, and do not let go yet; a picture of that."""
    (x, y), *rest = points
    steps = ["mousemove", str(x - 20), str(y), "sleep", "0.5", "mousemove", str(x), str(y), "sleep", "1.0"]
    steps += ["keydown", key, "sleep", "0.3"] if key else []
    steps += ["mousedown", "1", "sleep", "0.5"]
    for x, y in rest:
        steps += ["mousemove", str(x), str(y), "sleep", "0.4"]
    begun, steps = subprocess.Popen(["xdotool", *steps]), drape().steps
    yield from walk.wait(lambda: begun.poll() is not None and drape().steps > steps + 24, 120)
    shoot(name)


def let_go(key=""):
    """Let go of the button, and of the key."""
    release = ["mouseup", "1", *(["sleep", "0.3", "keyup", key] if key else [])]
    subprocess.run(["xdotool", *release], check=True, timeout=20)
    yield 1.5


def begin():
    """Press Drape in the Physics tab, and wait for the first steps."""
    with first.inside():
        bpy.ops.taffeta.drape("INVOKE_DEFAULT")
    yield from walk.wait(lambda: drape() is not None and drape().steps > 10, 500)  # the solver may have to be compiled


def lowest():
    """The particle that is seen farthest below on the screen."""
    place = first.area("VIEW_3D")
    eye = np.array(place.spaces.active.region_3d.view_matrix.inverted().translation)
    x = drape().state.x + drape().cloth.origin
    for particle in sorted(range(len(x)), key=lambda k: -on_screen(x[k])[1]):
        way = x[particle] - eye
        far = np.linalg.norm(way)
        hit = drape().cast(eye, way / far)
        if hit is not None and abs(hit.distance - far) < 0.01:
            return particle
    raise LookupError("no cloth is seen")


def highest():
    """The particle that lies on top of the ball, where cloth does not swing."""
    return int(drape().state.x[:, 2].argmax())


def at(particle):
    """Where a particle is, in the world."""
    return drape().state.x[particle] + drape().cloth.origin


def crossings():
    """Pairs of triangles of the cloth that pass through each other, or through the ball."""
    model, find = (import_module(f"{first.PACKAGE}.solver.{name}") for name in ("model", "crossings"))
    (body,), (x,) = drape().order.bodies, drape().moment.bodies
    ball = model.Collider(body.name, np.stack((x, x)), body.triangles, 0.0, 0.0, body.aura)
    return len(find.find_crossings(drape().cloth, drape().state.x, [ball])[0])


def keep(shoot, places):
    """Look for Keep in the view's header, and click it."""
    place = first.area("VIEW_3D")
    header = next(region for region in place.regions if region.type == "TOOL_HEADER")
    y = first.window().height - header.y - header.height // 2
    for x in range(header.x + 20, header.x + header.width - 5, 12):
        walk.move(x, y)
        yield walk.SETTLE
        with bpy.context.temp_override(window=first.window(), area=place, region=header):
            if bpy.ops.ui.copy_python_command_button.poll():
                bpy.ops.ui.copy_python_command_button()
        if bpy.context.window_manager.clipboard.startswith(KEEP):
            places["keep"] = x + 4, y
            break
    shoot("54_keep")
    yield from walk.click(*places["keep"])
    yield 2.0


def take_off_and_smooth(shoot, result):
    """Pins by a Shift drag that a Ctrl drag takes off, and an Alt drag."""
    x, y = on_screen(at(highest()))
    for held in ("shift", "ctrl"):
        yield from dragged([(x, y + 40), (x + 15, y + 50)], held, shoot, f"54_{held}")
        yield from let_go(held)
        result[held] = int(drape().hand.pinned.sum())
    yield from dragged([(x, y + 40), (x + 15, y + 50)], "alt", shoot, "54_alt")
    result["smooths"] = drape().hand.smoothing is not None
    yield from let_go("alt")
    result["smooths_on"] = drape().hand.smoothing is not None


def story(shoot, press, drag, result, out):
    """The whole story, step by step."""
    yield from first.arrange_window()
    shawl = dress()
    first.look_at_the_body(distance=2.2)
    yield 1.0
    before = [modifier.name for modifier in shawl.modifiers], first.evaluated(shawl)
    yield from begin()
    session = bpy.context.window_manager.taffeta
    tool = bpy.context.workspace.tools.from_space_view3d_mode("OBJECT", create=False)
    result["tool"] = tool.idname, session.draping
    yield from walk.wait(lambda: drape().steps > 40, 200)
    shoot("50_draping")
    held = lowest()
    start = at(held)
    x, y = on_screen(start)
    yield from dragged([(x, y - 8), (x - 30, y - 150), (x - 60, y - 330)], "", shoot, "51_pull")
    result["pulled"] = (at(held) - start).tolist(), drape().trouble
    result["crossings"] = crossings()
    yield from let_go()
    x, y = on_screen(at(highest()))
    yield from dragged([(x, y + 40), (x + 15, y + 50)], "shift", shoot, "52_pinned")
    yield from let_go("shift")
    result["pinned"] = int(drape().hand.pinned.sum())
    settings = bpy.context.window_manager.taffeta_drape
    press("f")
    yield 1.0
    walk.move(x + 60, y - 20)
    yield 1.0
    shoot("52_radius")
    yield from walk.click(x + 60, y - 20)
    yield 1.0
    result["radius"] = settings.radius
    walk.move(x, y - 12)
    yield 1.0
    press("space")
    yield 1.0
    steps = drape().steps
    yield 1.0
    result["paused"] = settings.speed, drape().steps - steps
    press("space")
    yield 1.0
    result["going_on"] = settings.speed
    press("ctrl+z")
    yield 1.0
    result["unpinned"] = int(drape().hand.pinned.sum())
    press("ctrl+z")
    yield 0.5
    shoot("53_stepped_back")
    yield from take_off_and_smooth(shoot, result)
    seen, places = first.evaluated(shawl), {}
    yield from keep(shoot, places)
    result["kept"] = session.draping, [key.name for key in shawl.data.shape_keys.key_blocks]
    result["as_it_was_kept"] = float(np.abs(first.evaluated(shawl) - before[1]).max())
    shawl.data.shape_keys.key_blocks[1].value = 1.0
    bpy.context.view_layer.update()
    result["key_shows_it"] = float(np.abs(first.evaluated(shawl) - seen).max())
    shawl.data.shape_keys.key_blocks[1].value = 0.0
    with first.inside():
        bpy.ops.taffeta.drape("EXEC_DEFAULT", steps=4)
    result["by_script"] = session.draping, drape().by_script
    yield from begin()
    result["by_hand"] = session.draping, drape().by_script
    shoot("55_again")
    walk.move(*on_screen(at(lowest())))
    press("Escape")
    yield 2.0
    result["after_esc"] = session.draping, drape() is None
    result["left_all"] = before[0] == [modifier.name for modifier in shawl.modifiers] and bool(
        np.array_equal(before[1], first.evaluated(shawl))
    )
    shoot("56_left")
