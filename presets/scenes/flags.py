# SPDX-License-Identifier: GPL-3.0-or-later
"""Twenty-four flags of one mesh, each of its own fabric by one image per property (Pereira 2010, 6.5.2)."""

import bmesh
import bpy
import numpy as np
from mathutils import Matrix

from . import materials, sheet, solids, stage

COLUMNS, ROWS = 6, 4  # of flags
ACROSS, UP = 17, 11  # vertices of a flag
WIDTH, HEIGHT = 0.6, 0.4  # [m] of a flag
STEP, LOWEST = (0.85, 0.55), 0.5  # [m] from flag to flag; of the lowest edge
#: property, what the images hold: by column or by row of flags, least and most
FABRICS = (("mass", "column", 0.06, 0.5), ("bending_stiffness", "row", 1e-6, 2e-4), ("damping", "row", 0.2, 10.0))
#: (frame, velocity of the air [m/s])
GUSTS = (
    (1, (2.0, 0.0, 0.0)),
    (20, (6.0, 1.2, 0.0)),
    (45, (4.0, -1.0, 0.0)),
    (70, (7.0, 1.0, 0.0)),
    (100, (5.0, 0.0, 0.0)),
)


def flags(context, collection):
    """Add 24 flags that are one garment, heavier from column to column and stiffer from row to row; return what was made."""
    points, quads, pattern, place = _rows_of_flags()
    cloth = sheet.add(collection, "Flags", points, quads, pattern, materials.plain("Bunting", (0.5, 0.1, 0.08), 0.85))
    _lay_out(cloth.data, place)
    sheet.make_of(cloth, thickness=0.002, stretch_stiffness=1500.0, shear_stiffness=40.0)
    for prop, along, least, most in FABRICS:
        sheet.map_image(cloth, prop, _image(f"Flags {prop}", along), "Flags", least, most)
    held = np.arange(len(points)) % ACROSS == 0
    sheet.paint_group(cloth, "Poles", held.astype(float))
    sheet.map_group(cloth, "pin", "Poles", 0.0, 1.0)
    _tint(cloth.data.materials[0], cloth.taffeta_cloth.mass.image)
    poles = _poles(collection)
    for frame, wind in GUSTS:
        context.scene.taffeta.wind = wind
        context.scene.taffeta.keyframe_insert("wind", frame=frame)
    floor, camera = stage.furnish(context, collection, (2.4, -8.0, 2.2), (2.4, 0.0, 1.4), 36.0)
    return stage.Example((cloth,), (poles, floor), camera, (1, 100))


def _rows_of_flags():
    """Points (n, 3) [m], quads, pattern (n, 2) [m] of all flags, and the column and row (n, 2) that each point is in."""
    flat, quads, pattern = sheet.rectangle(ACROSS, UP, WIDTH, HEIGHT)
    flat = np.column_stack((flat[:, 0] + 0.5 * WIDTH + 0.025, flat[:, 1] * 0.0, flat[:, 1] + 0.5 * HEIGHT + LOWEST))
    places = [(column, row) for row in range(ROWS) for column in range(COLUMNS)]
    points = np.concatenate([flat + [STEP[0] * column, 0.0, STEP[1] * row] for column, row in places])
    quads = np.concatenate([quads + len(flat) * k for k in range(len(places))])
    return points, quads, np.tile(pattern, (len(places), 1)), np.repeat(places, len(flat), axis=0)


def _lay_out(mesh, place):
    """Add a UV map in which each flag lies in the middle of a pixel of its own."""
    corner = np.empty(len(mesh.loops), np.int32)
    mesh.loops.foreach_get("vertex_index", corner)
    layer = mesh.uv_layers.new(name="Flags")
    layer.uv.foreach_set("vector", ((place[corner] + 0.5) / (COLUMNS, ROWS)).astype(np.float32).ravel())


def _image(name, along):
    """A grey image of a pixel a flag, from black to white by column or by row."""
    image = bpy.data.images.new(name, COLUMNS, ROWS, alpha=False, float_buffer=True, is_data=True)
    column, row = np.meshgrid(np.linspace(0.0, 1.0, COLUMNS), np.linspace(0.0, 1.0, ROWS))
    grey = column if along == "column" else row
    image.pixels.foreach_set(np.dstack((grey, grey, grey, np.ones_like(grey))).astype(np.float32).ravel())
    image.update()
    image.pack()
    return image


def _tint(material, image):
    """Colour the flags by an image: light where it is black, dark red where it is white."""
    nodes, links = material.node_tree.nodes, material.node_tree.links
    uv, picture, ramp = (nodes.new(f"ShaderNode{kind}") for kind in ("UVMap", "TexImage", "ValToRGB"))
    uv.uv_map, picture.image, picture.interpolation = "Flags", image, "Closest"
    ramp.color_ramp.elements[0].color = (0.70, 0.52, 0.16, 1.0)
    ramp.color_ramp.elements[1].color = (0.30, 0.02, 0.03, 1.0)
    links.new(uv.outputs["UV"], picture.inputs["Vector"])
    links.new(picture.outputs["Color"], ramp.inputs["Fac"])
    links.new(ramp.outputs["Color"], nodes["Principled BSDF"].inputs["Base Color"])


def _poles(collection):
    """One body: a pole for each column of flags."""
    mesh, shape = bpy.data.meshes.new("Poles"), bmesh.new()
    tall = LOWEST + STEP[1] * ROWS
    for column in range(COLUMNS):
        there = Matrix.Translation((STEP[0] * column, 0.0, 0.5 * tall))
        bmesh.ops.create_cone(shape, cap_ends=True, segments=16, radius1=0.015, radius2=0.015, depth=tall, matrix=there)
    shape.to_mesh(mesh)
    shape.free()
    return solids.dress(collection, "Poles", mesh, 0.0)
