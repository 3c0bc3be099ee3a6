# SPDX-License-Identifier: GPL-3.0-or-later
"""What a studio does with a bake, clicked in a real window: values for nodes and as images, wedges, and one of them adopted.

As `story`; each button is looked for with the pointer. Pictures under /out are looked at, what can be asserted goes into `result`.
"""

import runpy
import sys
from pathlib import Path

import bpy
import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

import first_bake as walk
import story as first

FRAMES = 8
HOME = Path("/tmp/home")
EXPORT = runpy.run_path(str(Path(__file__).with_name("export_by_hand.py")))
until, accept = EXPORT["until"], EXPORT["accept"]


def press_button(name, places, parts=(0.5,)):
    """Find the button of an operator with the pointer, and click it."""
    command = f"bpy.ops.taffeta.{name}("
    yield from walk.find(command, places, parts)
    yield from walk.click(*places[command])
    yield 1.0


def images():
    """The images that were written, by name."""
    return sorted(HOME.glob("Shawl_compression_*.exr"))


def values(shoot, drag, places, result):
    """Add Values for Nodes, then Write Values as Images through the file browser."""
    shawl = bpy.data.objects["Shawl"]
    yield from press_button("values", places)
    yield from until(lambda: "Taffeta Values" in shawl.modifiers)
    shown = shawl.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    result["attributes"] = sorted(name for name in shown.attributes.keys() if name.startswith("taffeta_"))
    frame = bpy.context.scene.frame_current
    yield from press_button("value_images", places)
    yield from accept(drag)
    yield from until(lambda: len(images()) == FRAMES and not first.window().modal_operators, 300.0)
    shoot("01_values_written")
    result["images"] = [path.name for path in images()]
    result["frame_stays"] = bpy.context.scene.frame_current == frame
    image = bpy.data.images.load(str(images()[-1]))
    result["image"] = list(image.size), float(np.max(np.reshape(image.pixels[:], (-1, 4))[:, :3]))
    bpy.data.images.remove(image)


def wedges(shoot, places, result):
    """Two wedges listed; Bake Wedges and Adopt are clicked."""
    shawl = bpy.data.objects["Shawl"]
    bending = shawl.taffeta_cloth.bending_stiffness.value
    found = bpy.context.window_manager.taffeta_wedges
    with first.inside():
        bpy.ops.taffeta.wedge_add(path="Shawl.bending", values="1e-6, 1e-3")
    yield 1.0
    yield from press_button("wedges_bake", places, (0.6, 0.5, 0.7))
    yield from until(lambda: len(found) == 2 and not walk.session().baking, 300.0)
    yield 1.0
    shoot("02_wedges")
    result["wedges"] = [[item.settings, item.frame_count, item.plays] for item in found]
    result["bending_stays"] = shawl.taffeta_cloth.bending_stiffness.value == bending
    yield from press_button("wedge_adopt", places, (0.93, 0.85))
    yield from until(lambda: any(item.plays for item in found))
    yield 1.0
    shoot("03_adopted")
    result["adopted"] = [item.plays for item in found], shawl.taffeta_cloth.bending_stiffness.value


def story(shoot, press, drag, result, out):
    """The whole story, step by step."""
    yield from first.arrange_window()
    bpy.data.objects.remove(bpy.data.objects["Cube"])
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, FRAMES
    ball, shawl = first.body(), first.garment(count=12)
    for obj, verb in ((ball, bpy.ops.taffeta.collider_add), (shawl, bpy.ops.taffeta.cloth_add)):
        first.activate(obj)
        with first.inside():
            verb()
    walk.open_only("more", "bake", "bakes", "wedges")
    bpy.ops.wm.save_as_mainfile(filepath=str(HOME / "shot.blend"))
    yield 1.0
    with first.inside():
        bpy.ops.taffeta.bake("INVOKE_DEFAULT")
    yield from first.bake_until(walk.session, 2.0, 600)
    yield 2.0
    places = {}
    yield from values(shoot, drag, places, result)
    bpy.types.TAFFETA_PT_bake.poll = classmethod(lambda cls, context: False)  # so that the wedges are in the window
    yield 2.0
    yield from wedges(shoot, places, result)
