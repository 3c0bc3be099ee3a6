# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws docs/images/cage.jpg: `python scripts/cage_picture.py`. A blanket with front, back and rim on a ball: the cage that is
simulated for it, and the blanket as it follows."""

import sys
import tempfile
from pathlib import Path

import bpy
import contact_sheet
import numpy as np
import taffeta
from mathutils import Vector
from PIL import Image, ImageDraw, ImageFont

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "docs" / "images" / "cage.jpg"
SIZE = 700, 520  # [pixels] of each of the two
COUNT, SIDE, THICK = 116, 1.5, 0.012  # vertices along a side of the blanket; [m]
CAGE, FRAMES = 2500, 24


def blanket():
    """Vertices and quads of a quilted blanket that hangs level above the ball."""
    line = np.linspace(-SIDE / 2, SIDE / 2, COUNT)
    u, v = (a.ravel() for a in np.meshgrid(line, line))
    puff = 0.5 * THICK * (1.0 + 0.35 * np.abs(np.sin(np.pi * u / 0.125) * np.sin(np.pi * v / 0.125)))
    x = np.concatenate([np.column_stack((u, v, 0.56 + side * puff)) for side in (1.0, -1.0)])
    a = (np.arange(COUNT - 1)[:, None] * COUNT + np.arange(COUNT - 1)).ravel()
    top = np.column_stack((a, a + 1, a + COUNT + 1, a + COUNT))
    ring = np.concatenate(
        [np.arange(COUNT), np.arange(1, COUNT) * COUNT + COUNT - 1]
        + [(COUNT - 1) * COUNT + np.arange(COUNT - 2, -1, -1), np.arange(COUNT - 2, 0, -1) * COUNT]
    )
    after, below = np.roll(ring, -1), COUNT * COUNT
    rim = np.column_stack((after, ring, ring + below, after + below))
    return x, np.concatenate((top, top[:, ::-1] + below, rim))


def add(name, x, faces, colour):
    """A smooth mesh object of one colour."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(x.tolist(), [], faces.tolist())
    mesh.shade_smooth()
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(obj)
    paint(obj, colour)
    return obj


def paint(obj, colour):
    """Give an object a material of one colour."""
    material = bpy.data.materials.new(obj.name)
    material.use_nodes = True
    shader = material.node_tree.nodes["Principled BSDF"]
    shader.inputs["Base Color"].default_value = (*colour, 1.0)
    shader.inputs["Roughness"].default_value = 0.8
    obj.data.materials.append(material)


def build():
    """The scene: ball, blanket, light and camera; returns the blanket."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    bpy.ops.mesh.primitive_uv_sphere_add(segments=64, ring_count=32, radius=0.5)
    ball = bpy.context.object
    ball.data.shade_smooth()
    paint(ball, (0.45, 0.38, 0.30))
    ball.taffeta_collider.enabled = True
    ball.select_set(False)
    obj = add("Blanket", *blanket(), (0.10, 0.22, 0.42))
    obj.select_set(True)
    bpy.context.view_layer.objects.active = obj
    bpy.ops.taffeta.cloth_add()
    for place, energy in (((1.8, -2.2, 2.2), 110.0), ((-2.4, -1.4, 0.8), 45.0)):
        light = bpy.data.objects.new("Light", bpy.data.lights.new("Light", "AREA"))
        light.data.energy, light.data.size, light.location = energy, 1.5, place
        light.rotation_euler = (-Vector(place)).to_track_quat("-Z", "Y").to_euler()
        scene.collection.objects.link(light)
    scene.world = bpy.data.worlds.new("World")
    scene.world.use_nodes = True
    scene.world.node_tree.nodes["Background"].inputs["Color"].default_value = (0.8, 0.82, 0.85, 1.0)
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    scene.collection.objects.link(camera)
    camera.location = 2.6, -3.4, 2.0
    camera.rotation_euler = (Vector((0.0, 0.0, 0.12)) - camera.location).to_track_quat("-Z", "Y").to_euler()
    camera.data.lens = 85.0
    scene.camera = camera
    contact_sheet.look(scene)
    scene.view_settings.look = "None"
    scene.cycles.samples = 24
    scene.render.resolution_x, scene.render.resolution_y = SIZE
    scene.frame_start, scene.frame_end = 1, FRAMES
    return obj


def main() -> int:
    """Build, make the cage, bake, draw."""
    taffeta.register()
    try:
        obj = build()
        with tempfile.TemporaryDirectory() as folder:
            bpy.ops.wm.save_as_mainfile(filepath=str(Path(folder) / "cage.blend"))
            obj = bpy.data.objects[obj.name]
            bpy.ops.taffeta.cage_make(object=obj.name, vertices=CAGE)
            cage = obj.taffeta_cage.cage
            bpy.ops.taffeta.bake(object=cage.name)
            bpy.context.scene.frame_set(FRAMES)
            pictures = [(f"{obj.name}, {len(obj.data.vertices):,} vertices", contact_sheet.shot())]
            wire = cage.modifiers.new("Wireframe", "WIREFRAME")
            wire.thickness = 0.004
            paint(cage, (0.75, 0.30, 0.04))
            cage.hide_render, obj.hide_render = False, True
            pictures.insert(0, (f"Cage, {len(cage.data.vertices):,} vertices", contact_sheet.shot()))
    finally:
        taffeta.unregister()
    whole = Image.new("RGB", (len(pictures) * SIZE[0], SIZE[1]))
    pen, font = ImageDraw.Draw(whole), ImageFont.load_default(size=22)
    for k, (label, picture) in enumerate(pictures):
        whole.paste(picture, (k * SIZE[0], 0))
        pen.text((k * SIZE[0] + 12, 10), label, fill=(20, 20, 25), font=font)
    OUT.parent.mkdir(parents=True, exist_ok=True)
    whole.save(OUT, quality=85, optimize=True)
    print(OUT)
    return 0


if __name__ == "__main__":
    sys.exit(main())
