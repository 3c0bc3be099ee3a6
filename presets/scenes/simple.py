# SPDX-License-Identifier: GPL-3.0-or-later
"""Small example scenes: sheets that fall on bodies, and a flag in the wind."""

import bmesh
import bpy
import numpy as np

from . import materials, sheet, solids, stage

FRAMES = (1, 100)
CANVAS = 1.2e-4  # [N m] of the sheets: as limp as edges of 30 mm can show
TIGHT = 0.5  # part by which `tighten` shrinks its sheet
#: (frame, velocity of the air [m/s]) of the flag's wind
GUSTS = ((1, (3.0, 0.0, 0.0)), (15, (7.0, 1.5, 0.0)), (32, (5.0, -1.5, 0.3)), (50, (9.0, 1.0, 0.0)))
GUSTS += ((68, (5.5, -2.0, 0.0)), (84, (8.0, 1.5, -0.3)), (100, (6.0, -0.5, 0.0)))


def sheet_on_sphere(context, collection):
    """Add a square sheet of 51 x 51 vertices above a sphere; return what was made."""
    ball = solids.sphere(collection, 0.4, 0.55)
    cloth = sheet.square(collection, "Sheet", 51, 1.5, 1.05, materials.woven(inside=0.7))
    sheet.make_of(cloth, bending_stiffness=CANVAS)
    floor, camera = stage.furnish(context, collection)
    return stage.Example((cloth,), (ball, floor), camera, FRAMES)


def tighten(context, collection):
    """Add a sheet that falls on a sphere, shrinks to a cap, and falls when the sphere lets it through; return what was made."""
    ball = solids.sphere(collection, 0.4, 0.75)
    cloth = sheet.square(collection, "Sheet", 51, 1.3, 1.25, materials.woven(inside=0.7))
    sheet.make_of(cloth, bending_stiffness=CANVAS)
    for frame, shrink in ((32, 0.0), (75, TIGHT)):
        cloth.taffeta_cloth.shrink.value = shrink
        cloth.taffeta_cloth.shrink.keyframe_insert("value", frame=frame)
    for frame, collides in ((1, True), (90, False)):
        ball.taffeta_collider.collides = collides
        ball.taffeta_collider.keyframe_insert("collides", frame=frame)
    context.scene.frame_set(context.scene.frame_current)
    floor, camera = stage.furnish(context, collection, target=(0.0, 0.0, 0.62), lens=66.0)
    return stage.Example((cloth,), (ball, floor), camera, (1, 109))


def sheet_on_torus(context, collection):
    """Add a square sheet of 51 x 51 vertices above a lying torus; return what was made."""
    ring = solids.torus(collection, 0.42, 0.15, 0.45)
    cloth = sheet.square(collection, "Sheet", 51, 1.5, 0.75, materials.woven(inside=0.7))
    sheet.make_of(cloth, bending_stiffness=CANVAS)
    floor, camera = stage.furnish(context, collection, target=(0.0, 0.0, 0.38), lens=66.0)
    return stage.Example((cloth,), (ring, floor), camera, FRAMES)


def two_sheets(context, collection):
    """Add two sheets, one turned by 45 degrees, that fall one after the other on a sphere; return what was made."""
    ball = solids.sphere(collection, 0.35, 0.45)
    lower = sheet.square(collection, "Lower Sheet", 41, 1.2, 0.86, materials.woven(inside=0.7))
    plain = materials.plain("Linen", (0.50, 0.46, 0.38), 0.9)
    upper = sheet.square(collection, "Upper Sheet", 37, 1.0, 1.10, plain, turn=np.pi / 4.0)
    upper.taffeta_cloth.layer = 1
    for cloth in (lower, upper):
        sheet.make_of(cloth, bending_stiffness=CANVAS)
    floor, camera = stage.furnish(context, collection)
    return stage.Example((lower, upper), (ball, floor), camera, FRAMES)


def flag(context, collection):
    """Add a flag pinned to a pole in a breeze that the scene's wind setting blows; return what was made."""
    mesh = bpy.data.meshes.new("Pole")
    shape = bmesh.new()
    bmesh.ops.create_cone(shape, cap_ends=True, segments=24, radius1=0.03, radius2=0.03, depth=2.6)
    shape.to_mesh(mesh)
    shape.free()
    pole = solids.dress(collection, "Pole", mesh, 1.3)
    points, quads, pattern = sheet.rectangle(49, 33, 1.35, 0.9)
    points = np.column_stack([points[:, 0] + 0.675 + 0.042, np.zeros(len(points)), points[:, 1] + 2.1])
    cloth = sheet.add(collection, "Flag", points, quads, pattern, materials.woven("Bunting", across="Y", inside=0.85))
    sheet.make_of(cloth, mass=0.11, thickness=0.002, stretch_stiffness=1500.0, shear_stiffness=40.0, damping=0.3)
    sheet.paint_group(cloth, "Pole", (points[:, 0] < 0.05).astype(float))
    sheet.map_group(cloth, "pin", "Pole", 0.0, 1.0)
    for frame, wind in GUSTS:
        context.scene.taffeta.wind = wind
        context.scene.taffeta.keyframe_insert("wind", frame=frame)
    floor, camera = stage.furnish(context, collection, (1.9, -4.6, 2.2), (0.62, 0.0, 1.6), 55.0)
    return stage.Example((cloth,), (pole, floor), camera, FRAMES)
