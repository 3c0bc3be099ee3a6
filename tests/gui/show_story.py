# SPDX-License-Identifier: GPL-3.0-or-later
"""What the viewport and the timeline show of cloth: the popover, marks, lines while painting, baked frames, the report.

As `story`, told in a real window; pictures under /out are looked at, what can be asserted goes into `result`.
"""

import json
import shutil
import sys
from importlib import import_module
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).parent))

import first_bake as walk
import story as first

FRAMES = 30
SWITCHES = "pins", "seams", "thickness", "aura", "contacts"


def dress():
    """A shawl pinned along one side on a ball that turns, and a second garment of two panels that are sewn together."""
    bpy.data.objects.remove(bpy.data.objects["Cube"])
    ball = first.body()
    ball.scale = 0.9, 0.9, 0.9
    shawl = first.garment(size=1.3, count=48)
    for obj, verb in ((shawl, bpy.ops.taffeta.cloth_add), (ball, bpy.ops.taffeta.collider_add)):
        first.activate(obj)
        with first.inside():
            verb()
    ball.taffeta_collider.aura = 0.02
    cloth = shawl.taffeta_cloth
    group = shawl.vertex_groups.new(name="Rim")
    group.add([v.index for v in shawl.data.vertices if v.co.y < -0.64], 1.0, "REPLACE")
    cloth.pin.source, cloth.pin.vertex_group = "GROUP", group.name
    heavy = shawl.vertex_groups.new(name="Hem")
    for v in shawl.data.vertices:
        heavy.add([v.index], min(1.0, max(0.0, abs(v.co.x) * 1.4 - 0.2)), "REPLACE")
    cloth.mass.source, cloth.mass.vertex_group = "GROUP", heavy.name
    cloth.thickness.value = 0.008
    x = [(i * 0.1 - 1.2, 0.0, 0.4 + k * 0.1 + (0.06 if k > 2 else 0)) for k in range(6) for i in range(5)]
    faces = [(r * 5 + i, r * 5 + i + 1, r * 5 + i + 6, r * 5 + i + 5) for r in (0, 1, 3, 4) for i in range(4)]
    mesh = bpy.data.meshes.new("Panels")
    mesh.from_pydata(x, [(10 + i, 15 + i) for i in range(5)], faces)
    panels = bpy.data.objects.new("Panels", mesh)
    bpy.context.scene.collection.objects.link(panels)
    first.activate(panels)
    with first.inside():
        bpy.ops.taffeta.cloth_add()
    panels.taffeta_cloth.sewing = True
    first.activate(shawl)
    return shawl, ball


def bake(shawl):
    """Bake a short shot; yields until it has ended."""
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, FRAMES
    with first.inside():
        bpy.ops.taffeta.bake("INVOKE_DEFAULT")
    yield from first.bake_until(lambda: bpy.context.window_manager.taffeta, 0.4, 400)


def popover_and_marks(shoot, press, result):
    """The popover, then each mark by itself and all together."""
    show = bpy.context.window_manager.taffeta_show
    with first.inside("VIEW_3D"):
        bpy.ops.wm.call_panel(name="TAFFETA_PT_show", keep_open=True)
    yield 1.5
    shoot("30_popover")
    press("Escape")
    yield 0.5
    bpy.context.scene.frame_set(FRAMES)
    marks = import_module(first.PACKAGE + ".operators.overlay.marks")
    result["marks"] = {}
    for name in SWITCHES:
        for other in SWITCHES:
            setattr(show, other, other == name)
        yield 1.5
        result["marks"][name] = [text for _, text in marks.drawn().words], len(marks.drawn().marks)
        shoot(f"31_{name}")
    for name in SWITCHES:
        setattr(show, name, name in ("pins", "seams", "contacts"))
    yield 1.5
    shoot("32_marks")
    for name in SWITCHES:
        setattr(show, name, False)


def paint_over(shoot, result):
    """Mass stays as lines while friction is painted; the legend stands above the brushes."""
    with first.inside():
        bpy.ops.taffeta.overlay(show="mass")
    yield 1.0
    shoot("33_colours")
    with first.inside():
        bpy.ops.taffeta.paint(prop="friction")
    yield 1.5  # the brushes are there once the mode was drawn
    space = first.area("VIEW_3D").spaces.active
    if not space.is_property_readonly("show_region_asset_shelf"):
        space.show_region_asset_shelf = True
    yield 2.5
    shoot("34_lines_while_painting")
    place = first.area("VIEW_3D")
    window = next(region for region in place.regions if region.type == "WINDOW")
    shelves = [region for region in place.regions if region.type in ("ASSET_SHELF", "ASSET_SHELF_HEADER")]
    result["brush_top"] = max(region.y + region.height - window.y for region in shelves)
    placing = import_module(first.PACKAGE + ".operators.overlay.placing")
    result["legend_low"] = placing.free_corner(place.regions, window, 1.0, 42)[1] - 16  # its numbers are below the ramp
    with first.inside():
        bpy.ops.taffeta.paint_done()
        bpy.ops.taffeta.overlay(show="STRETCH")
    yield 1.5
    shoot("35_stretch")
    with first.inside():
        bpy.ops.taffeta.overlay(show="STRETCH")


def fabrics(shoot, press, result):
    """The picker: a fabric with its picture and name, a slider moved, saved as an own one with a picture."""
    shawl = bpy.data.objects["Shawl"]
    presets = import_module(first.PACKAGE + ".panels.fabric")
    items = {item[1]: item for item in presets._items()}
    result["pictures"] = sorted(item[1] for item in items.values() if isinstance(item[3], int) and item[3] > 0)
    notes = bpy.context.window_manager.taffeta.fabrics
    with first.inside():
        shawl.taffeta_fabric.choice = items["Silk"][0]
    yield 2.5
    names = [notes["Shawl"].fabric]
    shoot("38_silk")
    places = {}
    yield from walk.find("bpy.ops.taffeta.fabric_save(", places, (0.6,))
    left, _, right, _ = walk.rectangle("PROPERTIES")
    yield from walk.click(
        left + 0.1 * (right - left), places["bpy.ops.taffeta.fabric_save("][1]
    )  # the picture beside it
    yield 4.0
    shoot("38_all_fabrics")
    press("Escape")
    yield 1.0
    shawl.taffeta_cloth.damping.value = 7.0
    yield 2.5
    names.append(notes["Shawl"].fabric)
    shoot("39_silk_changed")
    with first.inside():
        result["fabric_save"] = list(bpy.ops.taffeta.fabric_save())
    yield from walk.wait(lambda: notes["Shawl"].fabric != names[-1], 60)  # a busy machine looks seconds later
    yield 1.0
    shoot("40_saved")
    result["names"] = [*names, notes["Shawl"].fabric]
    path = next(Path(item[0]) for item in presets._items() if item[1] == shawl.taffeta_fabric.chosen)
    result["saved"] = path.name, path.with_suffix(".png").exists()
    shutil.copy(path.with_suffix(".png"), "/out/own_fabric.png")


def assets(shoot, result):
    """The library of swatches in the Asset Browser, in the place of the 3D view."""
    with first.inside():
        result["library"] = list(bpy.ops.taffeta.fabric_library())
    place = first.area("VIEW_3D")
    place.ui_type = "ASSETS"
    yield 2.0
    place.spaces.active.params.asset_library_reference = "Taffeta Fabrics"
    yield 5.0
    shoot("41_assets")


def report(shoot, press, result):
    """The report's lines with their verdicts, and the way from one to its frame."""
    shawl = bpy.data.objects["Shawl"]
    bpy.context.scene.frame_set(5)
    panel = bpy.types.TAFFETA_PT_report
    bpy.utils.unregister_class(panel)
    panel.bl_ui_units_x = 26  # as wide as the tab, where it is closed at first
    bpy.utils.register_class(panel)
    with first.inside():
        bpy.ops.wm.call_panel(name="TAFFETA_PT_report", keep_open=True)
    yield 1.5
    shoot("36_report")
    press("Escape")
    yield 0.5
    with first.inside():
        result["report_show"] = list(bpy.ops.taffeta.report_show(subject="STRETCH", object="Shawl"))
    yield 1.5
    shoot("37_shown")
    result["worst_stretch_frame"] = json.loads(shawl.taffeta_cloth.report_json)["worst_stretch_frame"]
    result["shown"] = bpy.context.scene.frame_current, bpy.context.mode, bpy.context.object.name
    bpy.ops.object.mode_set(mode="OBJECT")
    first.activate(shawl)


def story(shoot, press, drag, result, out):
    """The whole story, step by step."""
    yield from first.arrange_window()
    shawl, _ = dress()
    first.look_at_the_body(distance=2.6)
    yield 1.0
    yield from bake(shawl)
    shoot("29_timeline_while_baking")
    yield from first.bake_until(lambda: bpy.context.window_manager.taffeta, 2.0, 400)
    yield 1.0
    shoot("29_timeline_baked")
    yield from popover_and_marks(shoot, press, result)
    yield from paint_over(shoot, result)
    yield from report(shoot, press, result)
    yield from fabrics(shoot, press, result)
    yield from assets(shoot, result)
