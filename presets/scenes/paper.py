# SPDX-License-Identifier: GPL-3.0-or-later
"""What has a shape of its own: paper that keeps its creases beside cloth that keeps none, and a flower that opens by a key."""

import bmesh
import bpy
import numpy as np

from . import materials, sheet, solids, stage

COUNT, SIDE, ABOVE = 41, 0.62, 0.015  # vertices along a side, [m], height over its box [m]
BOX, TOP, APART = 0.30, 0.30, 0.42  # [m] side of a box, height of its top, and of its middle from the middle of both
SINKING = 45, 75  # frames in which the boxes sink into the ground
PAPER = 2e-4  # [N m] bending stiffness of both sheets

PETALS, ROWS, COLUMNS = 6, 29, 13  # and vertices along and across each
LENGTH, WIDTH, BASE, HEIGHT = 0.22, 0.105, 0.022, 0.34  # [m] of a petal; of their ring on the stem, and its height
BUD, BLOSSOM = (25.0, 118.0), (25.0, -75.0)  # [degrees] by which a petal climbs at its base and at its tip
OPENING = (1, 0.0), (15, 0.0), (60, 1.0)  # frame, value of the shape key
FELT = 6e-3  # [N m]: a petal's weight, on half its length as a lever, bends it by less than its shape


def creases(context, collection):
    """Add two sheets over two boxes that sink: cotton follows its box down, paper stays as it was folded; return what was made."""
    cloths, boxes = [], []
    for name, side, rate in (("Cloth", -1.0, 0.0), ("Paper", 1.0, 20.0)):
        box = solids.dress(collection, f"{name} Box", _box(), 0.0)
        sheet.collide(box, aura=0.004, friction=0.4)
        box.location.x = side * APART
        for frame, z in zip(SINKING, (0.0, -TOP - 0.02), strict=True):
            box.location.z = z
            box.keyframe_insert("location", frame=frame)
        points, quads, pattern = sheet.rectangle(COUNT, COUNT, SIDE, SIDE)
        material = materials.plain(name, (0.80, 0.76, 0.68), 0.9) if rate else materials.woven(inside=0.7)
        cloth = sheet.add(collection, name, points + [side * APART, 0.0, TOP + ABOVE], quads, pattern, material)
        sheet.make_of(cloth, mass=0.1, thickness=0.002, stretch_stiffness=2500.0, bending_stiffness=PAPER, damping=1.0)
        rest = cloth.taffeta_cloth.rest
        rest.bend_rate, rest.bend_yield = rate, np.radians(8.0)
        cloths.append(cloth)
        boxes.append(box)
    context.scene.frame_set(context.scene.frame_current)
    floor, camera = stage.furnish(context, collection, (0.9, -3.4, 1.5), (0.0, 0.0, 0.17), 72.0)
    return stage.Example(tuple(cloths), (*boxes, floor), camera, (1, 110))


def blossom(context, collection):
    """Add a flower of felt whose petals open by a keyed second shape; return what was made."""
    points, quads, pattern = _petals(BUD)
    cloth = sheet.add(collection, "Blossom", points, quads, pattern, materials.plain("Felt", (0.62, 0.09, 0.20), 0.9))
    sheet.make_of(cloth, mass=0.12, thickness=0.002, stretch_stiffness=3000.0, bending_stiffness=FELT, damping=2.0)
    rows = np.tile(np.repeat(np.arange(ROWS), COLUMNS), PETALS)
    sheet.paint_group(cloth, "Base", (rows < 2).astype(float))  # two rows: they hold the direction, too
    sheet.map_group(cloth, "pin", "Base", 0.0, 1.0)
    _second_shape(cloth, _petals(BLOSSOM)[0])
    floor, camera = stage.furnish(context, collection, (0.75, -1.6, 0.85), (0.0, 0.0, 0.33), 72.0)
    return stage.Example((cloth,), (_stem(collection), floor), camera, (1, 100))


def _box():
    """A mesh of a box that stands on the ground and is open nowhere, with edges as round as cloth of this thickness asks for."""
    mesh, shape = bpy.data.meshes.new("Box"), bmesh.new()
    bmesh.ops.create_cube(shape, size=1.0)
    bmesh.ops.scale(shape, vec=(BOX, BOX, TOP), verts=shape.verts)
    bmesh.ops.translate(shape, vec=(0.0, 0.0, 0.5 * TOP), verts=shape.verts)
    bmesh.ops.bevel(shape, geom=shape.edges[:], offset=0.008, segments=3, profile=0.5, affect="EDGES")
    shape.to_mesh(mesh)
    shape.free()
    return solids.in_order(mesh)


def _petals(climb):
    """Points (n, 3) [m], quads and pattern [m] of petals round a stem, each bent about lines across it: as long as it is flat."""
    part = np.linspace(0.0, 1.0, ROWS)
    slope = np.radians(np.interp(part, (0.0, 1.0), climb))
    step = LENGTH / (ROWS - 1) * 0.5 * (np.exp(1j * slope[1:]) + np.exp(1j * slope[:-1]))
    line = np.concatenate(([0.0], np.cumsum(step * (LENGTH / (ROWS - 1)) / np.abs(step))))
    half = 0.5 * WIDTH * np.interp(part, (0.0, 0.15, 0.45, 0.75, 0.93, 1.0), (0.16, 0.3, 0.85, 0.95, 0.55, 0.15))
    across = (half[:, None] * np.linspace(-1.0, 1.0, COLUMNS)).ravel()
    out, up = np.repeat(BASE + line.real, COLUMNS), np.repeat(HEIGHT + line.imag, COLUMNS)
    points, quads, pattern = [], [], []
    cells = sheet.rectangle(COLUMNS, ROWS, 1.0, 1.0)[1]
    for k in range(PETALS):
        turn = 2.0 * np.pi * k / PETALS
        along, beside = np.array([np.cos(turn), np.sin(turn)]), np.array([-np.sin(turn), np.cos(turn)])
        points.append(np.column_stack([out[:, None] * along + across[:, None] * beside, up]))
        quads.append(cells + k * ROWS * COLUMNS)
        pattern.append(np.column_stack([across + k * 1.2 * WIDTH, np.repeat(part * LENGTH, COLUMNS)]))
    return np.concatenate(points), np.concatenate(quads), np.concatenate(pattern)


def _stem(collection):
    """Add the stem that the petals grow from; return the object."""
    mesh, shape = bpy.data.meshes.new("Stem"), bmesh.new()
    bmesh.ops.create_cone(shape, cap_ends=True, segments=24, radius1=0.014, radius2=0.012, depth=HEIGHT - 0.01)
    bmesh.ops.translate(shape, vec=(0.0, 0.0, 0.5 * (HEIGHT - 0.01)), verts=shape.verts)
    shape.to_mesh(mesh)
    shape.free()
    return solids.dress(collection, "Stem", solids.in_order(mesh), 0.0)


def _second_shape(cloth, places):
    """Give a garment a muted shape key that is its second shape at rest, with its value keyed."""
    cloth.shape_key_add(name="Basis", from_mix=False)
    opened = cloth.shape_key_add(name="Open", from_mix=False)
    opened.data.foreach_set("co", places.astype(np.float32).ravel())
    opened.mute = True  # what is pinned stays where it is
    for frame, value in OPENING:
        opened.value = value
        opened.keyframe_insert("value", frame=frame)
    cloth.taffeta_cloth.rest.key = opened.name
