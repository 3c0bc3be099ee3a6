# SPDX-License-Identifier: GPL-3.0-or-later
"""A fabric dragged with the mouse from the Asset Browser onto a garment, in a real window, and undone.

As `story`, told in a real window; pictures under /out are looked at, what can be asserted goes into `result`.
"""

import subprocess
import sys
from pathlib import Path

import bpy
from bpy_extras.view3d_utils import location_3d_to_region_2d

sys.path.insert(0, str(Path(__file__).parent))

import first_bake as walk
import story as first

INSET = 60  # pixels from the browser's upper left corner to its first swatch
STOPS, PAUSE = 20, 0.3  # of the pointer; [s] that a software renderer needs to notice each


def browser():
    """An Asset Browser of our fabrics below the 3D view."""
    with first.inside():
        bpy.ops.taffeta.fabric_library()
    with first.inside("VIEW_3D"):
        bpy.ops.screen.area_split(direction="HORIZONTAL", factor=0.35)
    yield 1.0
    place = min((area for area in first.window().screen.areas if area.type == "VIEW_3D"), key=lambda area: area.y)
    place.ui_type = "ASSETS"
    yield 2.0
    place.spaces.active.params.asset_library_reference = "Taffeta Fabrics"
    yield 5.0
    return next(region for region in place.regions if region.type == "WINDOW")


def carry(start, end):
    """Drag from one point of the screen to another as a person would: slowly, and with a rest before letting go. Each stop
    waits for the window, which on a busy machine is late."""
    (x, y), (dx, dy) = start, (end[0] - start[0], end[1] - start[1])
    walk.move(x - 20, y)
    yield 1.0
    walk.move(x, y)
    yield 1.0
    button("mousedown")
    for stop in [(x + dx * turn // STOPS, y + dy * turn // STOPS) for turn in range(1, STOPS + 1)] + 4 * [end]:
        yield PAUSE
        walk.move(*stop)
    yield 2.0
    button("mouseup")


def button(what):
    """Press the left mouse button, or let it go."""
    subprocess.run(["xdotool", what, "1"], check=True, timeout=20)


def scene():
    """What there is: the garment's fabric by its name and mass, and all objects."""
    sheet = bpy.data.objects["Shawl"]
    return (
        sheet.taffeta_fabric.chosen,
        round(sheet.taffeta_cloth.mass.value, 4),
        sorted(obj.name for obj in bpy.data.objects),
    )


def story(shoot, press, drag, result, out):
    """The whole story, step by step."""
    yield from first.arrange_window()
    bpy.data.objects.remove(bpy.data.objects["Cube"])
    shawl = first.garment(size=1.2, count=20)
    first.activate(shawl)
    yield 1.0
    with first.inside():
        bpy.ops.taffeta.cloth_add()
    first.look_at_the_body(distance=2.6)
    swatches = yield from browser()
    with first.inside():
        bpy.ops.ed.undo_push(message="Before the drop")
    result["before"] = scene()
    shoot("1_browser")
    high, view = first.window().height, first.area("VIEW_3D")
    region = next(region for region in view.regions if region.type == "WINDOW")
    at = location_3d_to_region_2d(region, view.spaces.active.region_3d, shawl.matrix_world.translation)
    yield from carry(
        (swatches.x + INSET, high - swatches.y - swatches.height + INSET),
        (int(region.x + at.x), int(high - region.y - at.y)),
    )
    yield from walk.wait(lambda: scene()[0] != result["before"][0], 90)
    yield 1.0
    shoot("2_dropped")
    result["dropped"] = scene()
    press("ctrl+z")
    yield 2.0
    press("ctrl+z")
    yield 2.0
    shoot("3_undone")
    result["undone"] = scene()
