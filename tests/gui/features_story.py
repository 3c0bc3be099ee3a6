# SPDX-License-Identifier: GPL-3.0-or-later
"""What holds, folds, tears, sews and replaces a garment, by its own buttons: attach, trims, keys, pleats, tear lines and their weft,
free tearing, painted elastic, a zip, a seam that is sewn and applied, a cage, a pattern that is arranged.

As `story`, told in a real window; pictures under /out are looked at, what can be asserted goes into `result`.
"""

import json
import runpy
import sys
from importlib import import_module
from pathlib import Path

import bpy
import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

import export_by_hand
import first_bake as walk
import story as first

shown = set()  # names of the panels below More that are drawn
WEFT_ROW = 17  # pixels from the bottom of the operator's panel to the middle of its last row
COUNT, SIDE, THICK = 60, 1.0, 0.012  # vertices along a side of the blanket; [m]
PANEL, GAP = 0.4, 0.1  # [m] side of a panel, and between two that are to be sewn
field_under_pointer = runpy.run_path(str(Path(__file__).with_name("narrow.py")))["field_under_pointer"]
CUT = runpy.run_path(str(Path(__file__).parents[1] / "blender" / "cut.py"))


def dress():
    """A shawl pinned at one border, on a ball that moves; a bead above the shawl; a flap; a blanket with front, back and rim."""
    bpy.data.objects.remove(bpy.data.objects["Cube"])
    # Nothing is baked here, so nothing need be compiled.
    import_module(first.PACKAGE + ".solver.precompile").start_ahead = lambda: None
    ball = first.body()
    shawl = first.garment(size=1.2, count=20)
    for obj, verb in ((ball, bpy.ops.taffeta.collider_add), (shawl, bpy.ops.taffeta.cloth_add)):
        first.activate(obj)
        with first.inside():
            verb()
    group = shawl.vertex_groups.new(name="Rim")
    group.add([v.index for v in shawl.data.vertices if v.co.y < -0.59], 1.0, "REPLACE")
    shawl.taffeta_cloth.pin.source, shawl.taffeta_cloth.pin.vertex_group = "GROUP", group.name
    bpy.ops.mesh.primitive_uv_sphere_add(radius=0.03, location=(0.3, 0.3, 1.38))
    bpy.context.object.name = "Bead"
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=6, y_subdivisions=6, size=0.5, location=(-2, 0, 1))
    bpy.context.object.name = "Flap"
    first.activate(bpy.context.object)
    with first.inside():
        bpy.ops.taffeta.cloth_add()
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=COUNT, y_subdivisions=COUNT, size=SIDE, location=(2.5, 0, 1))
    blanket = bpy.context.object
    blanket.name = "Blanket"
    solid = blanket.modifiers.new("Solidify", "SOLIDIFY")
    solid.thickness = THICK
    with first.inside("VIEW_3D"):
        bpy.ops.object.modifier_apply(modifier=solid.name)
    first.activate(blanket)
    with first.inside():
        bpy.ops.taffeta.cloth_add()
    cut_panels()
    bpy.ops.wm.save_as_mainfile(filepath="/tmp/home/features.blend")
    return shawl, blanket


def cut_panels():
    """Two panels in one mesh, side by side, as cloth."""
    for x in (-1.0, 1.0):
        bpy.ops.mesh.primitive_grid_add(
            x_subdivisions=6, y_subdivisions=6, size=PANEL, location=(x * (PANEL + GAP) / 2, 2.5, 1)
        )
        bpy.context.object.select_set(True)
        if x > 0.0:
            bpy.data.objects["Panels"].select_set(True)
            with first.inside("VIEW_3D"):
                bpy.ops.object.join()
        bpy.context.object.name = "Panels"
    first.activate(bpy.context.object)
    with first.inside():
        bpy.ops.taffeta.cloth_add()


def show_only(obj, *panels):
    """Select an object, and leave one panel below More open."""
    if obj.mode == "OBJECT":
        first.activate(obj)
    shown.clear()
    shown.update(f"TAFFETA_PT_{name}" for name in panels)
    yield 1.0


def open_by_turns(*names):
    """Open More and these panels for good; which of them are drawn, `shown` says."""
    walk.open_only("more", *names)
    for name in names:
        getattr(bpy.types, f"TAFFETA_PT_{name}").poll = classmethod(is_shown)


def is_shown(cls, context):
    """Whether a panel is to be drawn."""
    return cls.__name__ in shown and context.object is not None and context.object.taffeta_cloth.enabled


def press_button(command, places, part, shoot=None, name=""):
    """Look for a button below the bar, click it, and look at what came of it."""
    yield from walk.find(command, places, part, places["bar"] + 100)
    yield from walk.click(*places[command])
    yield 1.5
    if shoot:
        shoot(name)


def key(path, places, press, *keys):
    """Put the pointer on a number and press I over it, as animators do, or other keys."""
    left, _, right, bottom = walk.rectangle("PROPERTIES")
    x = left + 0.75 * (right - left)
    for y in range(places["bar"] + 100, bottom - 5, 7):
        walk.move(x, y)
        yield walk.SETTLE
        if field_under_pointer().endswith(path):
            walk.move(x, y + 5)
            yield 0.3
            press(*keys or "i")
            yield 1.0
            return
    raise LookupError(f"no field {path} in the Physics tab")


def keyed(obj):
    """Data paths of an object that have keyframes."""
    data = obj.animation_data
    if data is None or data.action is None:
        return []
    slot = data.action_slot
    bags = [strip.channelbag(slot) for layer in data.action.layers for strip in layer.strips]
    return sorted(curve.data_path for bag in bags if bag is not None for curve in bag.fcurves)


def attached_to(obj):
    """Of each vertex the number of what it is attached to, 0 of none."""
    return import_module(first.PACKAGE + ".operators.read.anchors").numbers(obj.data).tolist()


def hold(shawl, shoot, press, places, result):
    """Attach by its dialog, a Weight and a Blend Stiffness keyed with I, Add Trim, Detach by the cross beside it."""
    yield from show_only(shawl, "cloth_holds")
    yield from press_button("bpy.ops.taffeta.attach(", places, (0.3,), shoot, "70_attach")
    press("Return")  # the dialog asks which vertices: the pins
    yield from walk.wait(lambda: len(shawl.taffeta_cloth.attachments) == 1, 30)
    yield 1.0
    entry = shawl.taffeta_cloth.attachments[0]
    held = sum(1 for number in attached_to(shawl) if number == entry.number)
    result["attached"] = entry.body.name, entry.stiffness, held
    yield from key("attachments[0].weight", places, press)
    yield from key("taffeta_cloth.blend_stiffness", places, press)
    result["keyed"] = keyed(shawl)
    bead = bpy.data.objects["Bead"]
    bead.select_set(True)
    yield from press_button("bpy.ops.taffeta.trim_add(", places, (0.5,), shoot, "71_trim")
    result["trim"] = bead.parent.name, bead.parent_type, bead.taffeta_trim.enabled
    yield from press_button("bpy.ops.taffeta.detach(index=0", places, (0.95, 0.92, 0.9), shoot, "73_detached")
    result["detached"] = len(shawl.taffeta_cloth.attachments)


def select_line(obj, along):
    """In Edit Mode, select the edges of the grid's line at y or x nearest to 0, and no others."""
    with first.inside("VIEW_3D"):
        bpy.ops.object.mode_set(mode="OBJECT")
        x = np.array([v.co for v in obj.data.vertices])
        line = np.abs(x[:, along]) < np.abs(x[:, along]).min() + 1e-5
        line &= x[:, along] == x[line][0, along]
        chosen = [all(line[v] for v in edge.vertices) for edge in obj.data.edges]
        for kind in (obj.data.vertices, obj.data.edges, obj.data.polygons):
            kind.foreach_set("select", [False] * len(kind))
        obj.data.edges.foreach_set("select", chosen)
        obj.data.vertices.foreach_set("select", line.tolist())
        bpy.context.tool_settings.mesh_select_mode = (False, True, False)
        bpy.ops.object.mode_set(mode="EDIT")
    return sum(chosen)


def fold_and_tear(shawl, shoot, press, places, result):
    """A Seam Allowance by its number, Mark Elastic and Mark Pleat on a line of edges, Mark Tear Line on another."""
    yield from show_only(shawl, "cloth_sewing")
    yield from key("seam_allowance_shown", places, press, "Return", "ctrl+a", "8", "Return")
    result["allowance"] = shawl.taffeta_cloth.seam_allowance
    yield from show_only(shawl, "cloth_elastic")
    count = select_line(shawl, 1)
    yield 1.0
    yield from press_button("bpy.ops.taffeta.elastic_mark(", places, (0.3,), shoot, "74_elastic")
    with first.inside("VIEW_3D"):
        bpy.ops.object.mode_set(mode="OBJECT")
    result["elastic"] = (
        count,
        sum(1 for tension in shawl.data.attributes["elastic_tension"].data if tension.value > 0.0),
    )
    yield from show_only(shawl, "cloth_rest", "cloth_tearing")
    count, vertices = select_line(shawl, 0), len(shawl.data.vertices)
    yield 1.0
    yield from press_button("bpy.ops.taffeta.pleat_mark(", places, (0.3,), shoot, "75_pleat")
    count_tear = select_line(shawl, 1)
    yield 1.0
    yield from press_button("bpy.ops.taffeta.tear_mark(", places, (0.5,), shoot, "76_tear")
    with first.inside("VIEW_3D"):
        bpy.ops.object.mode_set(mode="OBJECT")
    angles = shawl.data.attributes["pleat_angle"].data  # empty in Edit Mode
    result["pleats"] = count, sum(1 for angle in angles if angle.value > 0.0)
    result["torn"] = count_tear, len(shawl.data.vertices) - vertices, "taffeta_tear" in shawl.data.attributes
    yield 1.0


def zip_up(flap, shoot, press, places, result):
    """Mark Zip on a line from border to border, and Zip Open keyed with I."""
    yield from show_only(flap, "cloth_sewing")
    count, vertices = select_line(flap, 0), len(flap.data.vertices)
    yield 1.0
    yield from press_button("bpy.ops.taffeta.zip_mark(", places, (0.3,), shoot, "76_zip")
    with first.inside("VIEW_3D"):
        bpy.ops.object.mode_set(mode="OBJECT")
    yield 1.0
    yield from key("taffeta_cloth.zip_open", places, press)
    opens = sorted(value.value for value in flap.data.attributes["taffeta_zip"].data if value.value > 0.0)
    result["zip"] = count, len(flap.data.vertices) - vertices, len(opens), opens[-1], flap.taffeta_cloth.sewing
    result["zip_keyed"] = keyed(flap)
    shoot("76_zip_keyed")


def sew_up(panels, shoot, press, places, result):
    """Sew Selected Edges on two rims."""
    yield from show_only(panels, "cloth_sewing")
    with first.inside("VIEW_3D"):
        bpy.ops.object.mode_set(mode="OBJECT")
        x = np.array([(panels.matrix_world @ v.co)[0] for v in panels.data.vertices])
        rims = np.abs(x) < GAP
        for kind in (panels.data.vertices, panels.data.edges, panels.data.polygons):
            kind.foreach_set("select", [False] * len(kind))
        panels.data.edges.foreach_set("select", [all(rims[v] for v in edge.vertices) for edge in panels.data.edges])
        panels.data.vertices.foreach_set("select", rims.tolist())
        bpy.context.tool_settings.mesh_select_mode = (False, True, False)
        bpy.ops.object.mode_set(mode="EDIT")
    yield 1.0
    yield from press_button("bpy.ops.taffeta.sew(", places, (0.5,), shoot, "76_sew")
    with first.inside("VIEW_3D"):
        bpy.ops.object.mode_set(mode="OBJECT")
    yield 1.0
    sides = np.concatenate([polygon.edge_keys for polygon in panels.data.polygons])
    result["sewn"] = (
        int(rims.sum()),
        len(panels.data.edges) - len(np.unique(sides, axis=0)),
        panels.taffeta_cloth.sewing,
    )


def apply_sewing(panels, shoot, press, places, result):
    """Apply Sewing in a frame of a bake, written here, in which the seam is closed."""
    modules = (
        first.PACKAGE + name
        for name in (".solver.cache.frames", ".operators.playback.cache_modifier", ".operators.read.modifier_stack")
    )
    frames, cache_modifier, modifier_stack = map(import_module, modules)
    x = np.array([v.co for v in panels.data.vertices], np.float32)
    sides = {key for polygon in panels.data.polygons for key in polygon.edge_keys}
    stitches = [edge.key for edge in panels.data.edges if edge.key not in sides]
    for one, other in stitches:
        x[[one, other]] = 0.5 * (x[one] + x[other])
    path = Path("/tmp/home/panels.pc2")
    with frames.open_cache(path, len(x), 1, 24.0) as cache:
        for frame in (1, 2):
            cache.append(frame, b"%d" % frame, x, x.astype(float), np.zeros_like(x, float))
    cache_modifier.attach(panels, path, 1)
    panels.taffeta_cloth.cache_path = modifier_stack.find_cache(panels).filepath
    bpy.context.scene.frame_set(1)
    yield from show_only(panels, "cloth_sewing")
    yield from press_button("bpy.ops.taffeta.sewing_apply(", places, (0.5,), shoot, "76_applied")
    made = bpy.context.view_layer.objects.active
    result["applied"] = (
        made.name, len(panels.data.vertices) - len(made.data.vertices), len(stitches), panels.hide_get(),
        panels.taffeta_cloth.enabled, made.taffeta_cloth.enabled,
    )  # fmt: skip


def type_weft(shoot, press, result):
    """Mark the line anew by the Edge menu, and type Weft in the panel of the last operator, below left in the 3D view."""
    shawl = bpy.data.objects["Shawl"]
    shawl.taffeta_cloth.uv_map = shawl.data.uv_layers[0].name
    select_line(shawl, 1)
    with first.inside("VIEW_3D"):
        bpy.ops.ed.undo_push(message="Line")  # as a hand's choice is kept: the operator's panel goes back to it
    left, top, right, bottom = walk.rectangle("VIEW_3D")
    walk.move((left + right) / 2, (top + bottom) / 2)
    yield 2.0
    press("ctrl+e")
    yield 2.0
    shoot("76a_menu")
    press("t")  # Mark Tear Line: the letter that the menu underlines
    yield 2.0
    panel = next(region for region in walk.area("VIEW_3D").regions if region.type == "HUD")
    bottom = walk.window().height - panel.y
    yield from walk.click(panel.x + 0.5 * panel.width, bottom - 0.5 * panel.height)  # it is closed at first
    yield 2.0
    walk.move(panel.x + 0.75 * panel.width, bottom - WEFT_ROW)
    yield 0.5
    shoot("76b_panel")
    press("Return")
    yield 0.5
    press("ctrl+a", "3", "Return")
    yield 2.0
    shoot("76c_weft")
    with first.inside("VIEW_3D"):
        bpy.ops.object.mode_set(mode="OBJECT")
    shawl = bpy.data.objects["Shawl"]  # another one, since the operator was undone
    marked = shawl.data.attributes["taffeta_tear"].data
    result["weft"] = sorted({round(strength.value, 1) for strength in marked})


def paint_elastic(flap, shoot, places, result):
    """The brush of Elastic, which makes a group of it and paints."""
    yield from show_only(flap, "cloth_elastic")
    command = "bpy.ops.taffeta.paint(prop='elastic'"
    yield from press_button(command, places, (0.93, 0.95, 0.9, 0.97), shoot, "76_paint_elastic")
    painted = flap.taffeta_cloth.elastic
    result["elastic_painted"] = flap.mode, painted.source, painted.vertex_group in flap.vertex_groups
    with first.inside("VIEW_3D"):
        bpy.ops.object.mode_set(mode="OBJECT")
    yield 1.0


def tear_anywhere(panels, shoot, places, result):
    """Free Tearing of panels that are sewn."""
    yield from show_only(panels, "cloth_tearing")
    vertices, faces = len(panels.data.vertices), len(panels.data.polygons)
    with first.inside("VIEW_3D"):
        bpy.ops.object.mode_set(mode="EDIT")
    yield 1.0
    yield from press_button("bpy.ops.taffeta.tear_free(", places, (0.5,), shoot, "76_tear_free")
    with first.inside("VIEW_3D"):
        bpy.ops.object.mode_set(mode="OBJECT")
    yield 1.0
    result["torn_free"] = vertices, faces, len(panels.data.vertices)


def cage(blanket, shoot, press, places, result):
    """Make Cage of the blanket, Remove Cage."""
    yield from show_only(blanket, "cloth_cage")
    before = len(blanket.data.vertices)
    places["bar"] -= 40
    yield from press_button("bpy.ops.taffeta.cage_make(", places, (0.6,))
    yield from walk.wait(lambda: blanket.taffeta_cage.cage is not None, 60)
    yield 2.0
    shoot("77_cage")
    made = bpy.context.view_layer.objects.active
    result["cage"] = made.name, made.taffeta_cloth.enabled, blanket.taffeta_cloth.enabled
    result["cage_vertices"] = len(made.data.vertices), before, len(blanket.data.vertices)
    result["cage_thickness"] = made.taffeta_cloth.thickness.value
    yield from press_button("bpy.ops.taffeta.cage_remove(", places, (0.6,), shoot, "78_no_cage")
    result["removed"] = blanket.taffeta_cage.cage is None, blanket.taffeta_cloth.enabled


def pattern(shoot, drag, press, places, result):
    """Import a pattern through the file browser, and arrange it around the ball."""
    Path("/tmp/home/skirt.json").write_text(json.dumps(CUT["skirt"]()), encoding="utf-8")
    with first.inside("VIEW_3D"):
        bpy.ops.taffeta.pattern_import("INVOKE_DEFAULT", filepath="/tmp/home/skirt.json", edge_length=0.04)
    yield from export_by_hand.accept(drag)
    yield 2.0
    shoot("79_pattern")
    made = bpy.context.view_layer.objects.active
    result["pattern"] = (
        made.name,
        made.taffeta_cloth.enabled,
        made.taffeta_cloth.sewing,
        made.taffeta_cloth.pattern_size,
    )
    before = np.array([v.co for v in made.data.vertices])
    yield from show_only(made, "cloth_sewing")
    yield from press_button("bpy.ops.taffeta.panels_arrange(", places, (0.5,), shoot, "79_arranged")
    made = bpy.context.view_layer.objects.active
    x = np.array([v.co for v in made.data.vertices])
    off = np.linalg.norm(x - np.array(bpy.data.objects["Body"].matrix_world.translation), axis=1)
    result["arranged"] = (
        made.name,
        float(np.abs(x - before).max()),
        float(off.min() / bpy.data.objects["Body"].dimensions.x),
    )


def story(shoot, press, drag, result, out):
    """The whole story, step by step."""
    places = {}
    yield from first.arrange_window()
    shawl, blanket = dress()
    first.look_at_the_body(distance=3.4)
    shown_marks = bpy.context.window_manager.taffeta_show
    shown_marks.pins = shown_marks.pleats = True
    open_by_turns("cloth_holds", "cloth_sewing", "cloth_elastic", "cloth_rest", "cloth_tearing", "cloth_cage")
    yield from show_only(shawl)
    yield from walk.find("bpy.ops.taffeta.bake()", places)
    places["bar"] = places["bpy.ops.taffeta.bake()"][1]
    yield from hold(shawl, shoot, press, places, result)
    yield from fold_and_tear(shawl, shoot, press, places, result)
    yield from type_weft(shoot, press, result)
    yield from zip_up(bpy.data.objects["Flap"], shoot, press, places, result)
    yield from sew_up(bpy.data.objects["Panels"], shoot, press, places, result)
    yield from apply_sewing(bpy.data.objects["Panels"], shoot, press, places, result)
    yield from tear_anywhere(bpy.data.objects["Panels Sewn"], shoot, places, result)
    yield from paint_elastic(bpy.data.objects["Flap"], shoot, places, result)
    yield from cage(bpy.data.objects["Blanket"], shoot, press, places, result)
    yield from pattern(shoot, drag, press, places, result)
