# SPDX-License-Identifier: GPL-3.0-or-later
"""README's *Your first bake*, walked with the mouse: every button of a panel is looked for with the pointer, and clicked there.

Blender tells nobody where it drew a button. The pointer goes down the Physics tab until Blender says that the button
wanted is under it; what a person would click is what is clicked. Each step keeps a picture, and the place on it.
"""

import runpy
import subprocess
import time
from pathlib import Path

import bpy
import numpy as np

STEP = 9  # pixels between two looks; a row has 20
SETTLE = 0.06  # [s] that a window gets to notice the pointer
FRAMES = 40
hold_before = runpy.run_path(str(Path(__file__).with_name("story.py")))["hold_before"]
PAINT = "bpy.ops.taffeta.paint(prop='pin'"


def window():
    """The only window."""
    return bpy.context.window_manager.windows[0]


def session():
    """What the window knows of a bake."""
    return bpy.context.window_manager.taffeta


def area(kind):
    """The largest area of this kind."""
    return max((a for a in window().screen.areas if a.type == kind), key=lambda a: a.width * a.height)


def rectangle(kind):
    """Left, top, right, bottom of the main region of an area, in pixels from the top left of the screen."""
    region = next(region for region in area(kind).regions if region.type == "WINDOW")
    top = window().height - region.y - region.height
    return region.x, top, region.x + region.width, top + region.height


def move(x, y):
    """Put the pointer there."""
    subprocess.run(["xdotool", "mousemove", str(round(x)), str(round(y))], check=True, timeout=20)


def click(x, y):
    """Press and let go the left button there, once Blender has seen the pointer there.

    A software renderer draws the view for a second, and what the pointer does meanwhile comes in one go. In that, Blender
    leaves the button that the pointer was on, looks for the one below it with the next move, and has none for the press.
    """
    move(x, y)
    for _ in range(3):
        yield SETTLE
    subprocess.run(["xdotool", "mousedown", "1", "sleep", "0.1", "mouseup", "1"], check=True, timeout=20)


def under_pointer() -> str:
    """The Python command of the button under the pointer in the Properties editor, or ""."""
    place = area("PROPERTIES")
    region = next(region for region in place.regions if region.type == "WINDOW")
    with bpy.context.temp_override(window=window(), screen=window().screen, area=place, region=region):
        if not bpy.ops.ui.copy_python_command_button.poll():
            return ""
        bpy.ops.ui.copy_python_command_button()
    return bpy.context.window_manager.clipboard


def find(command, places, parts=(0.2, 0.8), start=None):
    """Look for the button whose command begins so, with the pointer, down the tab at these parts of its width, from `start`
    on; its place goes into `places`."""
    left, top, right, bottom = rectangle("PROPERTIES")
    top = top if start is None else start
    for part in parts:
        x = left + part * (right - left)
        move(x, top + 1)
        yield SETTLE
        stale = under_pointer()  # that of the button that was left, where none is under the pointer
        for y in range(top + STEP, bottom - STEP, STEP):
            move(x, y)
            yield SETTLE
            found = under_pointer()
            if found.startswith(command) and found != stale:
                places[command] = x, y + STEP // 2
                return
            stale = found if found != stale and found else stale
    raise LookupError(f"no button {command} in the Physics tab")


def wait(done, limit):
    """Wait until `done()`; more than `limit` seconds fail."""
    end = time.perf_counter() + limit
    while not done():
        if time.perf_counter() > end:
            raise TimeoutError(f"{done}: {session().status}")
        yield 0.05


def add_example(shoot, press, result):
    """Step 1: Add > Taffeta Example > Start Here > Poncho, beside the cube of a new file."""
    left, top, right, bottom = rectangle("VIEW_3D")
    move((left + right) / 2, (top + bottom) / 2)
    yield 0.5
    press("shift+a")
    yield 1.0
    subprocess.run(["xdotool", "type", "--delay", "80", "Poncho"], check=True, timeout=20)
    yield 1.0
    shoot("1_menu")
    press("Return")
    yield from wait(lambda: bpy.context.view_layer.objects.active.name == "Poncho", 120)
    yield 4.0
    shoot("1_example")
    obj = bpy.context.view_layer.objects.active
    view = area("VIEW_3D").spaces.active.region_3d
    seen = [np.array(view.perspective_matrix @ (obj.matrix_world @ v.co).to_4d()) for v in obj.data.vertices]
    screen = np.array([p[:2] / p[3] for p in seen])
    result["seen"] = screen.min(0).tolist(), screen.max(0).tolist()
    result["active"], result["tab"] = obj.name, area("PROPERTIES").spaces.active.context
    cube = bpy.data.objects["Cube"]
    result["cube"] = tuple(cube.location), cube.visible_get(), tuple(cube.dimensions)
    result["poncho_left"] = min((obj.matrix_world @ v.co).x for v in obj.data.vertices)
    bpy.context.scene.frame_end = FRAMES


def hover(shoot, name, obj, command):
    """A picture of an object's tab with the pointer on the button that a step is about, whose tooltip then opens."""
    was, places = bpy.context.view_layer.objects.active, {}
    bpy.context.view_layer.objects.active = obj
    yield 1.0
    yield from find(command, places, (0.25, 0.75))
    move(*places[command])
    yield 2.5
    shoot(name)
    bpy.context.view_layer.objects.active = was
    yield 1.0


def cloth_and_collider(shoot):
    """Steps 2 and 3: the buttons that make a mesh a garment, and a body; on the cube, which stays as it is."""
    cube = bpy.data.objects["Cube"]
    yield from hover(shoot, "2_cloth", cube, "bpy.ops.taffeta.cloth_add(")
    yield from hover(shoot, "3_collider", cube, "bpy.ops.taffeta.collider_add(")


def save(shoot, press):
    """Step 7: the menu that saves; the file itself is saved without it, because its window would open over this one."""
    yield from click(32, 14)
    yield 2.0
    shoot("7_save")
    press("Escape")
    yield 1.0
    bpy.ops.wm.save_as_mainfile(filepath="/tmp/home/first.blend")
    yield 2.0


def open_only(*names):
    """Leave out the panels beside these, and open them and those above them: a window is not high enough for all."""
    kept = [getattr(bpy.types, f"TAFFETA_PT_{name}") for name in names]
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


def choose_fabric(shoot, press, places):
    """Step 4: the popover beside the fabric's name."""
    x, y = places["bpy.ops.taffeta.bake(resume=True"]
    yield from click(x, y + 45)
    yield 2.0
    shoot("4_fabric")
    press("Escape")
    yield 0.7


def paint(shoot, drag, places, result):
    """Step 5: the brush beside Pin, a stroke, Done."""
    yield from find(PAINT, places, (0.845, 0.765), places["bpy.ops.taffeta.bake()"][1] + 100)
    yield from click(*places[PAINT])
    yield 2.5
    obj = bpy.context.view_layer.objects.active
    result["painting"] = obj.mode
    left, top, right, bottom = rectangle("VIEW_3D")
    middle = (left + right) // 2, top + 3 * (bottom - top) // 10
    drag(middle, *[(middle[0] + 3 * step, middle[1] - step) for step in range(20)])
    yield 5.0
    shoot("5_painting")
    bar = dict(places)
    yield from find("bpy.ops.taffeta.paint_done(", places, (0.82, 0.76), places["bpy.ops.taffeta.bake()"][1])
    result["bar_while_painting"] = yield from where_bake_is()
    result["bake_before"] = bar["bpy.ops.taffeta.bake()"]
    yield from click(*places["bpy.ops.taffeta.paint_done("])
    yield 1.5
    result["after_done"] = obj.mode
    show_values()
    yield 2.5
    shoot("5_overlay")
    show_values()
    obj.taffeta_cloth.pin.source = "UNIFORM"


def show_values():
    """Where the cloth is pinned, as colours; or no more."""
    place = area("PROPERTIES")
    with bpy.context.temp_override(window=window(), screen=window().screen, area=place, region=place.regions[-1]):
        bpy.ops.taffeta.overlay(show="pin")


def where_bake_is():
    """Place of Bake now."""
    again = {}
    yield from find("bpy.ops.taffeta.bake()", again)
    return again["bpy.ops.taffeta.bake()"]


def preflight(shoot, press, places, result):
    """Steps 6 and 7: read the list behind the bar's last button."""
    x, y = places["bpy.ops.taffeta.paint_done("]
    left, _, right, _ = rectangle("PROPERTIES")
    panel, drawn = bpy.types.TAFFETA_PT_preflight, []
    draw = panel.draw

    def drawing(self, context):  # below More it is closed
        drawn.append(1)
        draw(self, context)

    panel.draw = drawing
    yield from click(left + 0.94 * (right - left), y)
    yield 2.0
    shoot("6_preflight")
    panel.draw, result["preflight_drawn"] = draw, len(drawn)
    press("Escape")
    yield 0.7


def panels_of_the_tab():
    """Names of the panels that the Physics tab has now, Blender's own among them, without those in others."""
    place = area("PROPERTIES")
    region = next(region for region in place.regions if region.type == "WINDOW")
    with bpy.context.temp_override(window=window(), screen=window().screen, area=place, region=region):
        kinds = (getattr(bpy.types, name) for name in dir(bpy.types))
        panels = [
            kind for kind in kinds if getattr(kind, "bl_context", "") == "physics" and not hasattr(kind, "bl_parent_id")
        ]
        return {kind.__name__ for kind in panels if not hasattr(kind, "poll") or kind.poll(bpy.context)}


def play_live(shoot, places, result):
    """Step 8: Play Live, a second click at the same place, Stop."""
    scene = bpy.context.scene
    live, before = places["bpy.ops.taffeta.live("], panels_of_the_tab()
    yield from click(*live)
    yield from wait(lambda: session().live and scene.frame_current > 8, 600)  # the solver may have to be compiled
    shoot("8_live")
    result["panels_that_live_brings"] = sorted(panels_of_the_tab() ^ before)
    move(*live)
    yield SETTLE
    result["under_play_live_while_playing"] = under_pointer()
    yield from click(*live)
    yield 1.5
    result["second_click_on_live"] = session().live, session().baking
    yield from click(*places["bpy.ops.taffeta.stop("])
    yield from wait(lambda: not session().live, 30)
    yield 1.0
    playing = any(screen.is_animation_playing for screen in bpy.data.screens)
    result["after_stop"] = session().live, playing, [m.name for m in bpy.context.object.modifiers]
    scene.frame_set(1)
    yield 0.5


def bake(shoot, press, places, result):
    """Step 8, on: Bake, a second click, a playback stopped with Esc, Stop, Resume."""
    scene, obj = bpy.context.scene, bpy.context.view_layer.objects.active
    scene.taffeta.substeps = 30
    hold = hold_before(FRAMES - 5)
    button = places["bpy.ops.taffeta.bake()"]
    yield from click(*button)
    yield from wait(lambda: session().baking and session().progress > 0.0, 240)
    yield from click(*button)
    yield 1.0
    result["second_click_on_bake"] = session().baking
    shoot("8_baking")
    result["bar_while_baking"] = yield from where_bake_is()
    left, top, right, bottom = rectangle("VIEW_3D")
    move((left + right) / 2, (top + bottom) / 2)
    yield 0.5
    press("space")
    yield 1.0
    playing = [any(screen.is_animation_playing for screen in bpy.data.screens)]
    press("Escape")
    yield 1.0
    playing.append(any(screen.is_animation_playing for screen in bpy.data.screens))
    result["esc_over_the_view"] = session().baking, playing
    yield from click(*places["bpy.ops.taffeta.stop("])
    yield from wait(lambda: not session().baking, 30)
    yield 2.0
    result["frames_after_stop"] = session().fabrics[obj.name].frame_count
    shoot("8_stopped")
    scene.taffeta.substeps = 20
    yield from click(*places["bpy.ops.taffeta.bake(resume=True"])
    yield from wait(lambda: session().baking, 30)
    yield from wait(lambda: session().progress > 0.5 or not session().baking, 240)
    move(*places["bpy.ops.taffeta.stop("])
    yield 0.5
    press("Escape")
    yield from wait(lambda: not session().baking, 60)
    yield 1.5
    result["frames_after_esc_over_the_tab"] = session().fabrics[obj.name].frame_count
    hold.clear()
    yield from click(*places["bpy.ops.taffeta.bake(resume=True"])
    yield from wait(lambda: session().baking, 30)
    yield from wait(lambda: not session().baking, 240)
    yield 2.0
    result["frames_after_resume"] = session().fabrics[obj.name].frame_count


def scrub(shoot, places, result):
    """Step 9: go to a frame; re-bake from it."""
    scene = bpy.context.scene
    scene.frame_set(30)
    yield 1.5
    shoot("9_scrubbed")
    yield from find("bpy.ops.taffeta.bake(from_frame=30", places, (0.75,), places["bpy.ops.taffeta.bake()"][1])
    yield from click(*places["bpy.ops.taffeta.bake(from_frame=30"])
    yield from wait(lambda: session().baking, 30)
    yield from wait(lambda: not session().baking, 240)
    yield 1.5
    result["frames_after_rebake"] = session().fabrics[bpy.context.object.name].frame_count


def export(shoot, places):
    """Step 10: More, opened, has Export and the list of bakes."""
    open_only("more", "bake", "bakes", "takes")
    yield 2.0
    x, y = places["bpy.ops.taffeta.paint_done("]
    left, _, right, _ = rectangle("PROPERTIES")
    unit = 20 * bpy.context.preferences.system.ui_scale
    yield from click((left + right) / 2, y + 2.6 * unit)  # the header of More, below that of Taffeta Cloth
    yield 2.0
    subprocess.run(["xdotool", "click", "--repeat", "3", "--delay", "200", "5"], check=True, timeout=20)  # the wheel
    yield 2.0
    yield from find("bpy.ops.taffeta.export(", places, (0.25,))
    move(left - 200, y)
    yield 2.0
    shoot("10_export")


def story(shoot, press, drag, result, out):
    """The whole walk."""
    places = {}
    yield from add_example(shoot, press, result)
    yield from cloth_and_collider(shoot)
    yield from find("bpy.ops.taffeta.bake()", places)
    above = places["bpy.ops.taffeta.bake()"][1] - 2 * STEP
    for command, part in (("live(", 0.43), ("stop(", 0.86), ("bake(resume=True", 0.25)):
        yield from find(f"bpy.ops.taffeta.{command}", places, (part,), above)
    result["width"] = rectangle("PROPERTIES")[2] - rectangle("PROPERTIES")[0]
    result["tab_rectangle"], result["view_rectangle"] = rectangle("PROPERTIES"), rectangle("VIEW_3D")
    yield from choose_fabric(shoot, press, places)
    yield from paint(shoot, drag, places, result)
    yield from preflight(shoot, press, places, result)
    yield from save(shoot, press)
    yield from play_live(shoot, places, result)
    result["bar_after_live"] = yield from where_bake_is()
    yield from bake(shoot, press, places, result)
    yield from scrub(shoot, places, result)
    yield from export(shoot, places)
    result["places"] = places
