# SPDX-License-Identifier: GPL-3.0-or-later
"""An animator's first ten minutes, told in a real window: add, preset, paint, bake, stop, resume, scrub, reopen.

Each step keeps a picture under /out; what can be asserted is put into `result` and judged by test_window.py.
"""

import json
import math
import os
import sys
import threading
import time
from importlib import import_module

import bpy
import gpu
import numpy as np
from mathutils import Euler

FRAMES = 60
CARD_FRAMES = 40
PACKAGE = "bl_ext.user_default.taffeta"


def window():
    """The only window (timers run without one in their context)."""
    return bpy.context.window_manager.windows[0]


def area(kind):
    """The largest area of this kind."""
    return max((a for a in window().screen.areas if a.type == kind), key=lambda a: a.width * a.height)


def inside(kind="PROPERTIES"):
    """A context in which an operator believes that it was pressed in this editor."""
    place = area(kind)
    region = next(region for region in place.regions if region.type == "WINDOW")
    return bpy.context.temp_override(window=window(), screen=window().screen, area=place, region=region)


def activate(obj):
    """Select one object only."""
    for other in bpy.context.view_layer.objects:
        other.select_set(other == obj)
    bpy.context.view_layer.objects.active = obj


def garment(size=1.6, count=40):
    """A square of cloth with a UV map, just above the body."""
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=count, y_subdivisions=count, size=size, location=(0, 0, 1.35))
    obj = bpy.context.object
    obj.name = "Shawl"
    obj.data.shade_smooth()
    return obj


def body():
    """A ball on a post that turns and leans: something to fall on that moves."""
    bpy.ops.mesh.primitive_uv_sphere_add(segments=48, ring_count=32, radius=0.35, location=(0, 0, 0.95))
    obj = bpy.context.object
    obj.name = "Body"
    obj.data.shade_smooth()
    obj.keyframe_insert("location", frame=20)
    obj.keyframe_insert("rotation_euler", frame=20)
    obj.location.x, obj.rotation_euler.z = 0.4, math.radians(60)
    obj.keyframe_insert("location", frame=FRAMES)
    obj.keyframe_insert("rotation_euler", frame=FRAMES)
    return obj


def shawl_on_a_ball():
    """A shawl, cloth, that falls on a ball, a collider, which stands still; both."""
    bpy.data.objects.remove(bpy.data.objects["Cube"])
    ball, shawl = body(), garment(size=1.0, count=30)
    ball.animation_data_clear()
    ball.location.x = 0.0
    for obj, verb in ((ball, bpy.ops.taffeta.collider_add), (shawl, bpy.ops.taffeta.cloth_add)):
        activate(obj)
        with inside():
            verb()
    return ball, shawl


def evaluated(obj):
    """World positions of the evaluated mesh, (n, 3)."""
    shown = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    x = np.empty(len(shown.data.vertices) * 3, np.float32)
    shown.data.attributes["position"].data.foreach_get("vector", x)
    matrix = np.array(shown.matrix_world)
    return x.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3]


def over_the_tab():
    """Put the pointer over the Physics tab, where Esc stops a bake."""
    place = area("PROPERTIES")
    window().cursor_warp(place.x + place.width // 2, place.y + place.height // 2)


def scroll(way):
    """Scroll the Physics tab to its end, or back to its top: at once, because each call slides with a timer of its own."""
    with inside():
        getattr(bpy.ops.view2d, f"scroll_{way}")(deltay=10000)


def arrange_window():
    """3D view on the left, a tall Physics tab on the right."""
    with inside("VIEW_3D"):
        bpy.ops.screen.area_split(direction="VERTICAL", factor=0.62)
    yield 1.0
    views = sorted((a for a in window().screen.areas if a.type == "VIEW_3D"), key=lambda a: a.x)
    views[-1].type = "PROPERTIES"
    yield 1.5
    views[-1].spaces.active.context = "PHYSICS"
    look_at_the_body(distance=4.2)
    area("VIEW_3D").spaces.active.shading.show_backface_culling = False
    yield 1.0


def look_at_the_body(distance):
    """Turn the 3D view: from the front, a little from the right and above."""
    view = area("VIEW_3D").spaces.active.region_3d
    view.view_perspective = "PERSP"
    view.view_rotation = Euler((math.radians(68), 0, math.radians(35))).to_quaternion()
    view.view_distance, view.view_location = distance, (0.15, 0, 0.75)


class Alive:
    """Counts a fast timer's ticks: a window that hangs has long gaps between them."""

    def __init__(self):
        self.gaps, self.last, self.on = [], time.perf_counter(), True
        bpy.app.timers.register(self.tick, persistent=True)

    def tick(self):
        now = time.perf_counter()
        self.gaps.append(now - self.last)
        self.last = now
        return 0.01 if self.on else None

    def forget(self):
        """Leave out the time since the last tick: the story itself has held the window (a picture, a key)."""
        self.last = time.perf_counter()

    def stop(self):
        """Worst and median gap in milliseconds."""
        self.on = False
        gaps = sorted(self.gaps[1:])
        return {"worst": round(gaps[-1] * 1000), "median": round(gaps[len(gaps) // 2] * 1000), "ticks": len(gaps)}


def bake_until(session, done, limit):
    """Wait until the bake has come to the share `done`, or has ended; more than `limit` seconds fail."""
    end = time.perf_counter() + limit
    while session().baking and session().progress < done:
        if time.perf_counter() > end:
            raise TimeoutError(f"the bake stands at {session().progress:.0%}: {session().status}")
        yield 0.05


def hold_before(frame):
    """Let each bake wait before this frame until it is stopped, so that there is something to stop on the fastest machine;
    no more once the list is cleared."""
    images, hold = import_module(PACKAGE + ".operators.bake.images").Images, [frame]
    advance = images.advance

    def held(self, cloth, state, frame_input, frame, settings, go_on=lambda: True):
        while hold and frame >= hold[0] and go_on():
            time.sleep(0.02)
        return advance(self, cloth, state, frame_input, frame, settings, go_on)

    images.advance = held
    return hold


def journal_frames(shawl):
    """Frames that the cache's journal holds."""
    path = bpy.path.abspath(shawl.taffeta_cloth.cache_path).removesuffix(".pc2") + ".journal"
    with open(path, encoding="utf-8") as file:
        return [json.loads(line)["frame"] for line in file.read().splitlines()[1:]]


def add_and_paint(shoot, press, drag, result):
    """Make cloth and collider, choose a fabric, paint a map, look at it."""
    bpy.data.objects.remove(bpy.data.objects["Cube"])
    ball = body()
    shawl = garment()
    activate(shawl)
    yield 1.0
    shoot("01_physics_tab")
    with inside():
        result["cloth_add"] = list(bpy.ops.taffeta.cloth_add())
    yield 1.0
    shoot("02_cloth_added")
    activate(ball)
    yield 1.0
    with inside():
        result["collider_add"] = list(bpy.ops.taffeta.collider_add())
    yield 1.0
    shoot("03_collider")
    activate(shawl)
    yield 1.0
    before = shawl.taffeta_cloth.bending_stiffness.value
    preset = os.path.join(os.path.dirname(sys.modules[PACKAGE].__file__), "presets", "taffeta_fabric")
    chosen = sorted(name for name in os.listdir(preset) if name.endswith(".py"))
    result["presets"] = chosen
    wanted = next(name for name in chosen if "silk" in name.lower())
    with inside():
        bpy.ops.script.execute_preset(filepath=os.path.join(preset, wanted), menu_idname="TAFFETA_PT_fabric_presets")
    result["preset_changed"] = shawl.taffeta_cloth.bending_stiffness.value != before
    with inside():
        bpy.ops.wm.call_panel(name="TAFFETA_PT_fabric_presets", keep_open=True)
    yield 1.5
    shoot("04_preset_menu")
    press("Escape")
    yield 1.0
    with inside():
        result["paint"] = list(bpy.ops.taffeta.paint(prop="pin"))
    with inside("VIEW_3D"):
        bpy.ops.view3d.view_axis(type="TOP")
        bpy.ops.view3d.view_selected()
    yield 1.5
    view = area("VIEW_3D")
    top = window().height - view.y - view.height
    middle = view.x + view.width // 2, top + view.height // 2
    drag(middle, *[(middle[0] + 6 * step, middle[1] - 4 * step) for step in range(25)])
    yield 6.0
    shoot("05_painting")
    result["mode"] = shawl.mode
    with inside():
        bpy.ops.taffeta.paint_done()
    group = shawl.vertex_groups[shawl.taffeta_cloth.pin.vertex_group]
    result["painted"] = sum(1 for v in shawl.data.vertices if any(g.group == group.index for g in v.groups))
    with inside():
        bpy.ops.taffeta.overlay(show="pin")
    yield 1.5
    shoot("06_overlay")
    with inside():
        bpy.ops.taffeta.overlay(show="NONE")
    shawl.taffeta_cloth.pin.source = "UNIFORM"
    look_at_the_body(distance=3.4)
    yield 1.0


def bake_and_stop(shoot, press, result):
    """Bake, stop half way with Esc, resume; the window answers all the time."""
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, FRAMES
    shawl = bpy.data.objects["Shawl"]

    def session():
        return bpy.context.window_manager.taffeta

    with inside():
        bpy.ops.taffeta.preflight()
    result["problems"] = [(p.severity, p.object_name, p.sentence) for p in session().problems]
    yield 1.0
    shoot("07_preflight")
    hold = hold_before(FRAMES - 10)
    started = time.perf_counter()
    alive = Alive()
    with inside():
        result["bake"] = list(bpy.ops.taffeta.bake("INVOKE_DEFAULT"))
    yield 1.0
    shoot("08_preparing")
    alive.forget()
    result["status_first"] = session().status
    yield from bake_until(session, 0.0001, 400)
    result["first_frame_seconds_cold"] = round(time.perf_counter() - started, 2)
    yield from bake_until(session, 0.3, 400)
    shoot("09_baking")
    result["status_middle"] = session().status
    over_the_tab()
    press("Escape")
    alive.forget()
    yield from bake_until(session, 2.0, 60)
    yield 0.5
    result["baking_after_esc"] = session().baking
    result["alive"] = alive.stop()
    hold.clear()
    result["frames_after_esc"] = len(journal_frames(shawl))
    shoot("10_stopped")
    started = time.perf_counter()
    with inside():
        result["resume"] = list(bpy.ops.taffeta.bake("INVOKE_DEFAULT", resume=True))
    yield from bake_until(session, 2.0, 300)
    result["resume_seconds"] = round(time.perf_counter() - started, 2)
    yield 0.5
    result["frames_after_resume"] = journal_frames(shawl)
    result["report"] = json.loads(shawl.taffeta_cloth.report_json)
    shoot("11_baked")
    with inside():
        bpy.ops.taffeta.bake("INVOKE_DEFAULT", from_frame=FRAMES - 4)
    yield from bake_until(session, 2.0, 100)
    yield 2.0  # the list is made anew a moment after a change
    result["bakes"] = [(item.label, item.frame_count, item.plays) for item in session().bakes]
    scroll("down")
    yield 1.0
    shoot("11_rebaked")
    scroll("up")


def scrub_and_reopen(shoot, result):
    """Scrub the timeline, save, reopen: the same pictures."""
    scene, shawl = bpy.context.scene, bpy.data.objects["Shawl"]
    shapes = {}
    for frame in (1, FRAMES // 2, FRAMES, 10):
        scene.frame_set(frame)
        shapes[frame] = evaluated(shawl)
        yield 0.7
        shoot(f"12_frame_{frame:03d}")
    result["fell"] = float(shapes[1][:, 2].mean() - shapes[FRAMES][:, 2].mean())
    centre = np.array(bpy.data.objects["Body"].matrix_world.translation)
    result["nearest_to_body"] = float(np.linalg.norm(shapes[10] - centre, axis=1).min())
    blend = "/tmp/home/shawl.blend"
    bpy.ops.wm.save_as_mainfile(filepath=blend)
    bpy.ops.wm.open_mainfile(filepath=blend)
    yield 2.0
    scene, shawl = bpy.context.scene, bpy.data.objects["Shawl"]
    scene.frame_set(FRAMES)
    result["same_after_reopening"] = bool(np.array_equal(evaluated(shawl), shapes[FRAMES]))
    yield 1.0
    shoot("13_reopened")


def live_until(scene, frame):
    """Press Play Live, and wait until the timeline shows a frame, two minutes at most."""
    with inside():
        bpy.ops.taffeta.live("INVOKE_DEFAULT")
    end = time.perf_counter() + 120
    while scene.frame_current < frame and time.perf_counter() < end:
        yield 0.05


def as_before(scene, obj, before):
    """Whether an object has the modifiers and, in frame 1, the positions that it had."""
    scene.frame_set(1)
    return before[0] == [modifier.name for modifier in obj.modifiers] and np.array_equal(before[1], evaluated(obj))


def play_live(shoot, press, result):
    """Simulate while the timeline plays, jump back, leave with Esc, keep the pose; play again and stop."""
    scene, shawl = bpy.context.scene, bpy.data.objects["Shawl"]
    session = bpy.context.window_manager.taffeta
    scene.frame_set(1)
    before = [modifier.name for modifier in shawl.modifiers], evaluated(shawl)
    yield from live_until(scene, 25)
    result["live"] = session.live, scene.frame_current
    result["live_fell"] = float((before[1] - evaluated(shawl))[:, 2].mean())
    shoot("14_live")
    scene.frame_set(1)
    result["live_anew"] = float(np.abs(before[1] - evaluated(shawl)).max())
    yield 0.5
    shoot("14_live_anew")
    result["live_fell_anew"] = scene.frame_current, float((before[1] - evaluated(shawl))[:, 2].mean())
    window().cursor_warp(400, 500)
    press("Escape")
    yield 1.5
    result["live_after_esc"] = session.live, any(screen.is_animation_playing for screen in bpy.data.screens)
    result["live_left_all"] = as_before(scene, shawl, before)
    yield from live_until(scene, 8)
    result["live_again"] = session.live, scene.frame_current
    with inside():
        bpy.ops.screen.animation_cancel(restore_frame=False)
    yield 1.5
    result["live_after_stop"] = session.live, any(screen.is_animation_playing for screen in bpy.data.screens)
    result["live_stop_left_all"] = as_before(scene, shawl, before)
    with inside():
        result["keep_pose"] = list(bpy.ops.taffeta.keep_pose(result="KEY"))
    result["keys"] = [key.name for key in shawl.data.shape_keys.key_blocks]
    yield 1.0
    shoot("15_kept")


def draw_layers(result):
    """Layered depth images in the window's own graphics context, against the CPU's."""
    words, render = import_module(PACKAGE + ".gpu_ldi").drawer()
    centres = import_module(PACKAGE + ".solver.ldi.centres")
    mesh = bpy.data.objects["Body"].data
    mesh.calc_loop_triangles()
    x, triangles = np.empty(3 * len(mesh.vertices)), np.empty(3 * len(mesh.loop_triangles), np.int32)
    mesh.vertices.foreach_get("co", x)
    mesh.loop_triangles.foreach_get("vertices", triangles)
    x, triangles = x.reshape(-1, 3), triangles.reshape(-1, 3)
    view = x, triangles, x.min(0), x.max(0), 64, centres.THREE_FULL
    ours, theirs = render(*view), centres.render(*view)
    result["layers_by"] = words
    result["layers_same"] = bool(np.array_equal(ours.pixel_start, theirs.pixel_start))
    result["layers_depth"] = float(np.abs(ours.depth - theirs.depth).max()) if result["layers_same"] else None
    yield 1.0


def state_of_drawing():
    """What the window's own drawing goes by."""
    get = ("blend_get", "depth_test_get", "depth_mask_get", "viewport_get", "scissor_get", "line_width_get")
    values = (getattr(gpu.state, name)() for name in get)
    return [tuple(value) if hasattr(value, "__len__") else value for value in values]


def bake_by_card(shoot, press, result):
    """Bake in the window by the processor, by the graphics card, and by the card until Esc; all the same frames."""
    scene, shawl, drawn = bpy.context.scene, bpy.data.objects["Shawl"], []
    scene.frame_end, scene.taffeta.substeps = CARD_FRAMES, 30
    renderer = import_module(PACKAGE + ".gpu_ldi.motion").MotionRenderer
    draw = renderer.draw

    def counted(self, *what):
        before, image = state_of_drawing(), draw(self, *what)
        drawn.append((threading.current_thread() is threading.main_thread(), state_of_drawing() == before))
        return image

    def session():
        return bpy.context.window_manager.taffeta

    def bake(who, esc_at=0):
        drawn.clear()
        hold = hold_before(CARD_FRAMES - 10 if esc_at else CARD_FRAMES + 1)
        scene.taffeta.body_images = who
        alive = Alive()
        with inside():
            bpy.ops.taffeta.bake("INVOKE_DEFAULT")
        if esc_at:
            while len(drawn) < esc_at and session().baking:
                yield 0.02
            over_the_tab()
            press("Escape")
            alive.forget()
        yield from bake_until(session, 2.0, 200)
        hold.clear()
        gaps = alive.stop()
        yield 0.5
        path = bpy.path.abspath(shawl.taffeta_cloth.cache_path)
        with open(path, "rb") as file:
            frames = file.read()
        report = json.loads(shawl.taffeta_cloth.report_json)
        result[f"card_{who}{esc_at or ''}"] = {
            "alive": gaps, "images": report["body_images"], "milliseconds": report["milliseconds"],
            "drawn": len(drawn), "as_found": all(all(found) for found in drawn), "frames": report["frames"],
        }  # fmt: skip
        return frames

    renderer.draw = counted
    whole = yield from bake("PROCESSOR")
    by_card = yield from bake("CARD")
    shoot("16_by_card")
    part = yield from bake("CARD", esc_at=4)
    shoot("17_by_card_stopped")
    automatic = yield from bake("AUTOMATIC")
    renderer.draw = draw
    result["card_same"] = by_card == whole, automatic == whole, part[32:] == whole[32 : len(part)]


def story(shoot, press, drag, result, out):
    """The whole story, step by step."""
    yield from arrange_window()
    yield from add_and_paint(shoot, press, drag, result)
    yield from bake_and_stop(shoot, press, result)
    yield from draw_layers(result)
    yield from scrub_and_reopen(shoot, result)
    yield from play_live(shoot, press, result)
    yield from bake_by_card(shoot, press, result)
