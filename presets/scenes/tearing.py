# SPDX-License-Identifier: GPL-3.0-or-later
"""Examples that tear: a banner between two poles that part, along a line; and a sheet in a frame that a ball goes through, anywhere."""

import bmesh
import bpy
import numpy as np

from . import materials, sheet, solids, stage

FRAMES = (1, 100)
COLUMNS, ROWS, WIDTH, HEIGHT, TOP = 49, 33, 1.35, 0.9, 1.7
PARTING, SLIDE = (8, 60), 0.34  # frames in which the right pole goes away, and how far [m]
NOTCH, STRENGTH = 0.16, 170.0  # [m] of the line that hardly holds; [N/m] of the rest
CRACK = 0.05  # [m] that the line goes to and fro
BURST_FRAMES = (1, 100)
BURST_COUNT, BURST_SIDE, BURST_LEVEL, BURST_STRENGTH = 27, 1.2, 1.0, 80.0  # vertices along a side; [m], [m], [N/m]
BALL, RISING, FROM, TO = 0.22, (6, 54), 0.55, 1.6  # [m]; frames; heights [m]


def torn_banner(context, collection):
    """Add a banner that tears from a notch in its upper edge, along a crooked line; return what was made."""
    points, quads, pattern = sheet.rectangle(COLUMNS, ROWS, WIDTH, HEIGHT)
    points = np.column_stack([points[:, 0], np.zeros(len(points)), points[:, 1] + TOP - 0.5 * HEIGHT])
    cloth = sheet.add(collection, "Banner", points, quads, pattern, materials.woven("Bunting", across="Y", inside=0.85))
    _cut(cloth)
    sheet.make_of(cloth, mass=0.11, thickness=0.002, stretch_stiffness=1500.0, shear_stiffness=40.0, damping=1.0)
    at = np.array([vertex.co.x for vertex in cloth.data.vertices])
    sheet.paint_group(cloth, "Poles", (np.abs(at) > 0.499 * WIDTH).astype(float))
    sheet.map_group(cloth, "pin", "Poles", 0.0, 1.0)
    poles = [_pole(collection, name, side * (0.5 * WIDTH + 0.04)) for name, side in (("Left", -1), ("Right", 1))]
    _part(cloth, poles[1], at)
    floor, camera = stage.furnish(context, collection, (0.5, -5.0, 1.9), (0.15, 0.0, 0.95), 50.0)
    return stage.Example((cloth,), (*poles, floor), camera, FRAMES)


def burst_sheet(context, collection):
    """Add a sheet in a frame that may tear along any of its threads, and a ball that breaks through it; return what was made."""
    points, quads, pattern = sheet.rectangle(BURST_COUNT, BURST_COUNT, BURST_SIDE, BURST_SIDE)
    points = points + [0.0, 0.0, BURST_LEVEL]
    cloth = sheet.add(collection, "Sheet", points, quads, pattern, materials.woven("Canvas", inside=0.7))
    _cut_everywhere(cloth)
    sheet.make_of(cloth, bending_stiffness=3.5e-4)  # as limp as its edges can show
    sheet.make_of(cloth, mass=0.1, thickness=0.002, stretch_stiffness=1500.0, shear_stiffness=40.0, damping=1.0)
    rim = np.abs([vertex.co[:2] for vertex in cloth.data.vertices]).max(axis=1) > 0.499 * BURST_SIDE
    sheet.paint_group(cloth, "Frame", rim.astype(float))
    sheet.map_group(cloth, "pin", "Frame", 0.0, 1.0)
    ball = sheet.collide(solids.sphere(collection, BALL, FROM), friction=0.2)
    for frame, height in zip(RISING, (FROM, TO), strict=True):
        ball.location.z = height
        ball.keyframe_insert("location", frame=frame)
    floor, camera = stage.furnish(context, collection, (1.5, -2.7, 2.15), (0.0, 0.0, 1.05), 62.0)
    return stage.Example((cloth,), (ball, floor), camera, BURST_FRAMES)


def _cut_everywhere(cloth):
    """Cut a sheet of quads along all of their sides, as *Free Tearing* does."""
    work = bmesh.new()
    work.from_mesh(cloth.data)
    layer = work.edges.layers.float.new("taffeta_tear")
    inner = [edge for edge in work.edges if len(edge.link_faces) == 2]
    for edge in inner:
        edge[layer] = BURST_STRENGTH
    bmesh.ops.split_edges(work, edges=inner)
    work.to_mesh(cloth.data)
    work.free()


def _cut(cloth):
    """Cut the banner along a line of edges from top to bottom, as *Mark Tear Line* does."""
    work = bmesh.new()
    work.from_mesh(cloth.data)
    layer = work.edges.layers.float.new("taffeta_tear")
    step, chosen = WIDTH / (COLUMNS - 1), []
    for edge in work.edges:
        ends = np.array([vertex.co for vertex in edge.verts])
        place = ends.mean(axis=0)
        if _on_line(ends, step):
            edge[layer] = 5.0 if TOP - place[2] < NOTCH else STRENGTH
            chosen.append(edge)
    bmesh.ops.split_edges(work, edges=chosen)
    work.to_mesh(cloth.data)
    work.free()


def _on_line(ends, step):
    """Whether an edge between two points is on the line: down the column that is nearest to it, and over to the next."""
    rise = HEIGHT / (ROWS - 1)
    row = np.rint((TOP - ends[:, 2]) / rise)
    column = np.rint(ends[:, 0] / step)
    wanted = _columns(step)
    if row[0] != row[1]:
        return column[0] == column[1] == wanted[int(row.min())]
    here, before = wanted[min(int(row[0]), ROWS - 2)], wanted[max(int(row[0]) - 1, 0)]
    return min(here, before) <= column.min() and column.max() <= max(here, before)


def _columns(step):
    """The column of the line below each row."""
    row = np.arange(ROWS - 1)
    return np.rint(CRACK / step * np.sin(0.55 * row) * (row > 5)).astype(int)


def _pole(collection, name, x):
    mesh = bpy.data.meshes.new(f"{name} Pole")
    shape = bmesh.new()
    bmesh.ops.create_cone(shape, cap_ends=True, segments=24, radius1=0.03, radius2=0.03, depth=1.9)
    shape.to_mesh(mesh)
    shape.free()
    pole = solids.dress(collection, f"{name} Pole", mesh, 0.95)
    pole.location.x = x
    return pole


def _part(cloth, pole, at):
    """Let the right pole and what it holds go away."""
    cloth.shape_key_add(name="Basis")
    key = cloth.shape_key_add(name="Parted")
    for vertex in np.flatnonzero(at > 0.499 * WIDTH).tolist():
        key.data[vertex].co.x += SLIDE
    for frame, part in zip(PARTING, (0.0, 1.0), strict=True):
        key.value = part
        key.keyframe_insert("value", frame=frame)
        pole.location.x = 0.5 * WIDTH + 0.04 + part * SLIDE
        pole.keyframe_insert("location", frame=frame)
