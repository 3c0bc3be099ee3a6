# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws docs/images/elastic.jpg: `python scripts/elastic_picture.py`. A wide tube of cotton about a pole, its waistband elastic, before the
bake and after it. About a minute.
"""

import tempfile
from math import pi
from pathlib import Path

import bpy
import contact_sheet
import numpy as np
import taffeta
from PIL import Image

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "docs" / "images" / "elastic.jpg"
SIZE = 480, 420  # [pixels] of each picture
FRAMES = 1, 36
AROUND, ROWS, RADIUS, HEIGHT = 144, 34, 0.2, 0.3  # of the tube; lengths in metres
POLE, WAIST = 0.125, 5  # [m] its radius; row of the tube's that is elastic, from the top


def main():
    """Build, bake, draw."""
    taffeta.register()
    with tempfile.TemporaryDirectory() as folder:
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        bpy.ops.wm.save_as_mainfile(filepath=str(Path(folder) / "shot.blend"))
        scene = bpy.context.scene
        scene.frame_start, scene.frame_end = FRAMES
        build(scene)
        assert bpy.ops.taffeta.bake() == {"FINISHED"}
        contact_sheet.look(scene)
        scene.render.resolution_x, scene.render.resolution_y = SIZE
        scene.render.resolution_percentage = 100
        pictures = []
        for frame in FRAMES:
            scene.frame_set(frame)
            scene.render.filepath = str(Path(folder) / f"{frame}.png")
            bpy.ops.render.render(write_still=True)
            pictures.append(Image.open(scene.render.filepath).convert("RGB"))
    sheet = Image.new("RGB", (SIZE[0] * len(pictures), SIZE[1]))
    for number, picture in enumerate(pictures):
        sheet.paste(picture, (number * SIZE[0], 0))
    sheet.save(OUT, quality=88)
    print(OUT)
    taffeta.unregister()


def build(scene):
    """A pole, a tube with a waistband about it, light and camera."""
    bpy.ops.mesh.primitive_cylinder_add(vertices=96, radius=POLE, depth=0.8, location=(0, 0, -0.1))
    paint(bpy.context.object, (0.55, 0.55, 0.58))
    bpy.ops.taffeta.collider_add()
    tube = bpy.data.objects.new("Tube", tube_mesh())
    scene.collection.objects.link(tube)
    for other in bpy.context.selected_objects:
        other.select_set(False)
    tube.select_set(True)
    bpy.context.view_layer.objects.active = tube
    paint(tube, (0.5, 0.06, 0.08))
    bpy.ops.taffeta.cloth_add()
    for edge in tube.data.edges:
        edge.select = all(vertex // AROUND == WAIST for vertex in edge.vertices)
    bpy.ops.taffeta.elastic_mark(length=0.55, tension=6.0)
    sun = bpy.data.lights.new("Sun", "SUN")
    sun.energy, sun.angle = 4.0, 0.1
    light = bpy.data.objects.new("Sun", sun)
    light.rotation_euler = (0.7, 0.2, 0.6)
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.location, camera.rotation_euler = (0.0, -1.05, 0.3), (1.22, 0.0, 0.0)
    for each in (light, camera):
        scene.collection.objects.link(each)
    scene.camera = camera
    scene.world = bpy.data.worlds.new("World")
    scene.world.use_nodes = True
    scene.world.node_tree.nodes["Background"].inputs[0].default_value = (0.75, 0.78, 0.82, 1.0)


def tube_mesh():
    """A tube of quads, open at both ends, its rows from the top."""
    angle = np.arange(AROUND) * 2.0 * pi / AROUND
    ring = np.stack([np.cos(angle), np.sin(angle)], axis=1) * RADIUS
    x = np.concatenate(
        [np.column_stack([ring, np.full(AROUND, 0.12 - HEIGHT * row / (ROWS - 1))]) for row in range(ROWS)]
    )
    at = np.arange(AROUND * ROWS).reshape(ROWS, AROUND)
    low = at[1:], np.roll(at, -1, axis=1)[1:], np.roll(at, -1, axis=1)[:-1], at[:-1]
    mesh = bpy.data.meshes.new("Tube")
    mesh.from_pydata(x.tolist(), [], np.stack(low, axis=-1).reshape(-1, 4).tolist())
    mesh.shade_smooth()
    return mesh


def paint(obj, colour):
    """Give an object a plain material."""
    material = bpy.data.materials.new(obj.name)
    material.use_nodes = True
    shader = material.node_tree.nodes["Principled BSDF"]
    shader.inputs["Base Color"].default_value, shader.inputs["Roughness"].default_value = (*colour, 1.0), 0.8
    obj.data.materials.append(material)


if __name__ == "__main__":
    main()
