# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws docs/images/untangle.png: `python scripts/untangle_picture.py`. Three garments over a body and a cut through
them, as they were made and after Untangle."""

import sys
from pathlib import Path

import bpy
import contact_sheet
import numpy as np
import taffeta
from mathutils import Vector
from PIL import Image, ImageDraw, ImageFont

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "docs" / "images" / "untangle.png"
SIZE = 420, 620  # [pixels] of each of the four
ROWS, COLUMNS = 90, 144
# name, colour, heights from and to [m], wave, thickness [m], rigidity
GARMENTS = (
    ("Petticoat", (0.80, 0.60, 0.10), -0.50, 0.24, 1, 0.004, 1.0),
    ("Dress", (0.55, 0.03, 0.04), -0.42, 0.28, 2, 0.004, 1.0),
    ("Jacket", (0.04, 0.10, 0.30), -0.10, 0.30, 3, 0.006, 4.0),
)


def shape(low, high, seed, wave):
    """A garment of revolution with waves of its own."""
    height, turn = np.meshgrid(np.linspace(high, low, ROWS), np.arange(COLUMNS) * 2 * np.pi / COLUMNS, indexing="ij")
    r = 0.12 + 0.03 * np.cos(9.0 * height) + 0.25 * np.maximum(-0.05 - height, 0.0)
    r = r + wave * np.sin((3 + seed) * turn + seed) * np.cos(11.0 * height + 2.0 * seed)
    x = np.stack((r * np.cos(turn), 0.75 * r * np.sin(turn), height), axis=-1).reshape(-1, 3)
    i, j = (a.ravel() for a in np.meshgrid(np.arange(ROWS - 1), np.arange(COLUMNS), indexing="ij"))
    a, b = i * COLUMNS + j, i * COLUMNS + (j + 1) % COLUMNS
    return x, np.column_stack((a, a + COLUMNS, b + COLUMNS, b))


def add(name, x, faces, colour):
    """A smooth mesh object of one colour."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(x.tolist(), [], faces.tolist())
    mesh.polygons.foreach_set("use_smooth", np.ones(len(mesh.polygons), bool))
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(obj)
    material = bpy.data.materials.new(name)
    material.use_nodes = True
    shader = material.node_tree.nodes["Principled BSDF"]
    shader.inputs["Base Color"].default_value = (*colour, 1.0)
    shader.inputs["Roughness"].default_value = 0.8
    mesh.materials.append(material)
    return obj


def build():
    """The scene: body, garments, light and camera."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    x, faces = shape(-0.55, 0.34, 0, 0.0)
    body = add("Body", x * (0.96, 0.96, 1.0), faces, (0.55, 0.38, 0.30))
    body.taffeta_collider.enabled, body.taffeta_collider.aura = True, 0.003
    for layer, (name, colour, low, high, seed, thickness, rigidity) in enumerate(GARMENTS):
        obj = add(name, *shape(low, high, seed, 0.009), colour)
        cloth = obj.taffeta_cloth
        cloth.enabled, cloth.layer, cloth.rigidity, cloth.thickness.value = True, layer, rigidity, thickness
        solid = obj.modifiers.new("Solidify", "SOLIDIFY")  # behind the place of a bake, so only for the picture
        solid.thickness, solid.offset = 0.6 * thickness, 0.0
    for place, energy in (((1.2, -2.0, 1.5), 60.0), ((-2.0, -1.2, 0.4), 25.0)):
        light = bpy.data.objects.new("Light", bpy.data.lights.new("Light", "AREA"))
        light.data.energy, light.data.size, light.location = energy, 1.2, place
        light.rotation_euler = (-Vector(place)).to_track_quat("-Z", "Y").to_euler()
        scene.collection.objects.link(light)
    scene.world = bpy.data.worlds.new("World")
    scene.world.use_nodes = True
    scene.world.node_tree.nodes["Background"].inputs["Color"].default_value = (0.8, 0.82, 0.85, 1.0)
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    scene.collection.objects.link(camera)
    camera.location, camera.rotation_euler = (0.0, -3.0, -0.1), (np.pi / 2, 0.0, 0.0)
    camera.data.type, camera.data.ortho_scale = "ORTHO", 0.95
    scene.camera = camera
    contact_sheet.look(scene)
    scene.view_settings.look = "None"
    scene.cycles.samples = 24
    scene.render.resolution_x, scene.render.resolution_y = SIZE


def section(height):
    """A quarter of a level cut through body and garments, four times as large as the pictures."""
    fine = 3  # drawn larger and shrunk, which smooths the lines
    picture = Image.new("RGB", (SIZE[0] * fine, SIZE[1] * fine), (236, 237, 239))
    pen, scale = ImageDraw.Draw(picture), fine * SIZE[0] / 0.16
    for name, colour in (("Body", (0.55, 0.38, 0.30)), *((garment[0], garment[1]) for garment in GARMENTS)):
        obj = bpy.data.objects[name]
        mesh = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data if name == "Body" else _thin(obj)
        x = np.array([vertex.co for vertex in mesh.vertices])
        mesh.calc_loop_triangles()
        for corner in x[np.array([triangle.vertices for triangle in mesh.loop_triangles])]:
            over = corner[:, 2] > height
            if over.any() and not over.all():
                lone = corner[np.flatnonzero(over if over.sum() == 1 else ~over)[0]]
                others = [point for point in corner if point is not lone and not (point == lone).all()]
                ends = [lone + (point - lone) * (height - lone[2]) / (point[2] - lone[2]) for point in others]
                line = [(scale * (end[0] + 0.005), picture.height - scale * (end[1] + 0.005)) for end in ends]
                pen.line([value for point in line for value in point], _screen(colour), 4 * fine)
    return picture.resize(SIZE, Image.Resampling.LANCZOS)


def _thin(obj):
    """The garment's mesh without the thickness that the pictures show."""
    obj.modifiers["Solidify"].show_viewport = False
    bpy.context.view_layer.update()
    return obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data


def _screen(colour):
    return tuple(int(255 * value ** (1 / 2.2)) for value in colour)


def main() -> int:
    """Build, draw, untangle, draw."""
    taffeta.register()
    try:
        build()
        pictures = [("as made", contact_sheet.shot()), ("a quarter of a level cut", section(0.05))]
        bpy.ops.taffeta.untangle(everything=True)
        pictures += [("untangled", contact_sheet.shot()), ("the same cut", section(0.05))]
    finally:
        taffeta.unregister()
    whole = Image.new("RGB", (4 * SIZE[0], SIZE[1]))
    pen, font = ImageDraw.Draw(whole), ImageFont.load_default(size=22)
    for k, (label, picture) in enumerate(pictures):
        whole.paste(picture, (k * SIZE[0], 0))
        pen.text((k * SIZE[0] + 12, 10), label, fill=(20, 20, 25), font=font)
    OUT.parent.mkdir(parents=True, exist_ok=True)
    whole.save(OUT, optimize=True)
    print(OUT)
    return 0


if __name__ == "__main__":
    sys.exit(main())
