# SPDX-License-Identifier: GPL-3.0-or-later
"""Small scenes that others have shown cloth's contact by: a strip that folds, a tablecloth that slides off, nodes that bounce
(Bigliani and Eischen 2000), fabrics over a rod and balls on held cloth (Huh, Metaxas and Badler 2001).

`benchmarks/contact_scenes.py` has the same as plain arrays, and counts what crosses in each frame.
"""

import math
from pathlib import Path

import bmesh
import bpy
import numpy as np
from mathutils import Matrix

from . import materials, motions, sheet, solids, stage

FABRICS = Path(__file__).resolve().parents[1] / "taffeta_fabric"
AURA = 0.002  # [m] of all bodies here
GRAVITY = 9.81  # [m/s2]
DEEP = 0.05  # [m] that a ball goes into the sheet before it is thrown up
NODES = 27
ICOSAHEDRON = 0.285  # [m] from its middle to a corner
#: of the balls: (place on the sheet [m], height from which each falls [m])
BALLS = (((-0.07, 0.03), 0.12), ((0.06, -0.07), 0.20), ((0.05, 0.09), 0.30))
SILK, DENIM = (0.52, 0.10, 0.12), (0.05, 0.09, 0.22)
LINEN = (0.50, 0.46, 0.38)


def folding_strip(context, collection):
    """Add a strip of 125 x 3 vertices, 5 mm apart, that comes down between two feeders and folds; return what was made."""
    points, quads, pattern = sheet.rectangle(125, 3, 0.62, 0.01)
    height = points[:, 0] + 0.31
    uneven = np.sin(55.0 * height) + 0.5 * np.sin(140.0 * height + 1.0) * (1.0 + 60.0 * points[:, 1])
    aside = 0.002 * uneven * np.exp(-height / 0.06) * (height > 0.003)
    points = np.column_stack((aside, points[:, 1], height + AURA + 0.0005))
    cloth = _made_of(context, sheet.add(collection, "Strip", points, quads, pattern, _cloth(LINEN)), "Cotton")
    sheet.paint_group(cloth, "Foot", (height < 1e-9).astype(float))
    sheet.map_group(cloth, "pin", "Foot", 0.0, 1.0)
    feeders = [box(collection, f"{name} Feeder", (0.02, 0.1, 0.7), 0.42, 0.0) for name in ("Left", "Right")]
    for feeder, side in zip(feeders, (-1.0, 1.0), strict=True):
        feeder.location.x = 0.018 * side
    return _staged(context, collection, (cloth,), feeders, (0.25, -0.55, 0.22), (0.0, 0.0, 0.06), (1, 100))


def sliding_tablecloth(context, collection):
    """Add a tablecloth of 25 x 25 vertices, 10 mm apart, that slides off a box without friction; return what was made."""
    block = box(collection, "Box", (0.12, 0.16, 0.2), 0.1, 0.0)
    cloth = sheet.square(collection, "Tablecloth", 25, 0.24, 0.204, _cloth(LINEN), turn=0.2)
    cloth.data.transform(Matrix.Translation((0.045, 0.03, 0.0)))
    _made_of(context, cloth, "Cotton")
    return _staged(context, collection, (cloth,), [block], (0.9, -0.7, 0.55), (0.06, 0.03, 0.08), (1, 100))


def bouncing_nodes(context, collection):
    """Add 27 nodes, three and three with next to nothing between them, that bounce in an icosahedron; return what was made."""
    rng = np.random.default_rng(1)
    middles, corners = rng.uniform(-0.08, 0.08, (NODES // 3, 1, 3)), rng.uniform(-0.04, 0.04, (NODES // 3, 3, 3))
    points = (middles + corners).reshape(-1, 3) + [0.0, 0.0, 0.36]
    pattern = 0.2 * np.tile([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], (NODES // 3, 1))
    cloth = sheet.add(collection, "Nodes", points, np.arange(NODES).reshape(-1, 3), pattern, _cloth(SILK))
    cloth.taffeta_cloth.self_collision = False  # they meet the body alone
    sheet.make_of(cloth, stretch_stiffness=1e-6, shear_stiffness=1e-6, bending_stiffness=0.0, damping=0.0)
    sheet.make_of(cloth, mass=10.0, thickness=1e-4, friction=0.0)
    context.scene.taffeta.air_density = 0.0  # it would take their energy
    mesh = bpy.data.meshes.new("Icosahedron")
    shape = bmesh.new()
    bmesh.ops.create_icosphere(shape, subdivisions=1, radius=ICOSAHEDRON)
    bmesh.ops.reverse_faces(shape, faces=shape.faces)  # it holds what is inside
    shape.to_mesh(mesh)
    shape.free()
    body = _body(solids.dress(collection, "Icosahedron", solids.in_order(mesh), 0.36), 0.0)
    body.taffeta_collider.restitution, body.display_type = 1.0, "WIRE"
    mesh.materials[0].node_tree.nodes["Principled BSDF"].inputs["Alpha"].default_value = 0.15
    return _staged(context, collection, (cloth,), [body], (0.9, -1.1, 0.75), (0.0, 0.0, 0.34), (1, 240))


def cloth_over_rods(context, collection):
    """Add silk and denim, 961 vertices each, that slide off two rods without friction; return what was made."""
    cloths, rods = [], []
    for name, colour, aside in (("Silk", SILK, -0.25), ("Denim", DENIM, 0.25)):
        cloth = sheet.square(collection, name, 31, 0.3, 0.223, _cloth(colour))
        cloth.data.transform(Matrix.Translation((0.05 + aside, 0.0, 0.0)))
        cloths.append(_made_of(context, cloth, name))
        rods.append(_rod(collection, f"Rod under {name}", aside))
    return _staged(context, collection, tuple(cloths), rods, (0.35, -1.5, 0.7), (0.0, 0.0, 0.11), (1, 100))


def balls_on_cloth(context, collection):
    """Add silk and denim of 1,681 vertices each, held by their corners, and balls that fall on them; return what was made."""
    cloths, bodies = [], []
    for name, colour, aside in (("Silk", SILK, -0.3), ("Denim", DENIM, 0.3)):
        cloth = sheet.square(collection, name, 41, 0.4, 0.3, _cloth(colour))
        at = np.array([vertex.co[:2] for vertex in cloth.data.vertices])
        cloth.data.transform(Matrix.Translation((aside, 0.0, 0.0)))
        sheet.paint_group(cloth, "Corners", (np.abs(at) > 0.185).all(axis=1).astype(float))
        sheet.map_group(cloth, "pin", "Corners", 0.0, 1.0)
        cloths.append(_made_of(context, cloth, name))
        fixed = _body(solids.sphere(collection, 0.05, 0.17), 0.3)
        fixed.name, fixed.location.x, fixed.location.y = f"Ball under {name}", aside + 0.02, 0.01
        bodies += [fixed, *(_ball(collection, (aside + x, y), high) for (x, y), high in BALLS)]
    return _staged(context, collection, tuple(cloths), bodies, (0.5, -1.9, 1.0), (0.0, 0.0, 0.24), (1, 100))


def _cloth(colour):
    return materials.plain("Cloth", colour, 0.85)


def _made_of(context, cloth, fabric):
    """Make a garment of a preset, as the panel does; return it."""
    with context.temp_override(object=cloth):
        bpy.utils.execfile(str(FABRICS / f"{fabric}.py"))
    return cloth


def _body(obj, friction):
    return sheet.collide(obj, aura=AURA, friction=friction)


def box(collection, name, size, height, friction):
    """Add a box of a size (3,) [m] with its middle at a height [m]; return the object."""
    mesh = bpy.data.meshes.new(name)
    shape = bmesh.new()
    bmesh.ops.create_cube(shape, size=1.0, matrix=Matrix.Diagonal((*size, 1.0)))
    shape.to_mesh(mesh)
    shape.free()
    obj = _body(solids.dress(collection, name, mesh, height), friction)
    mesh.shade_flat()
    return obj


def _rod(collection, name, x):
    """A rod of 2 cm radius along y, without friction."""
    mesh = bpy.data.meshes.new(name)
    shape = bmesh.new()
    lying = Matrix.Rotation(0.5 * math.pi, 4, "X")
    bmesh.ops.create_cone(
        shape, cap_ends=True, cap_tris=True, segments=48, radius1=0.02, radius2=0.02, depth=0.5, matrix=lying
    )
    shape.to_mesh(mesh)
    shape.free()
    obj = _body(solids.dress(collection, name, mesh, 0.2), 0.0)
    obj.location.x = x
    return obj


def _ball(collection, place, high):
    """A ball that falls from `high` [m], sinks in as on a spring, and is thrown up again, over and over."""
    ball = _body(solids.sphere(collection, 0.04, 0.0), 0.3)
    ball.location.x, ball.location.y = place
    speed = math.sqrt(2.0 * GRAVITY * high)
    fall, below = motions.RATE * speed / GRAVITY, motions.RATE * math.pi * DEEP / speed  # frames
    phase = f"(fmod(frame-1+{fall:.4f},{2.0 * fall + below:.4f})-{fall:.4f})"
    sink = f"{DEEP}*sin({math.pi / below:.6f}*({phase}-{fall:.4f}))"
    parabola = f"{high}-{0.5 * GRAVITY / motions.RATE**2:.8f}*pow({phase},2)"
    motions.drive(ball, "location", f"0.29+({parabola} if {phase}<{fall:.4f} else -{sink})", 2)
    return ball


def _staged(context, collection, cloths, bodies, camera_at, target, frames):
    """Ground with the aura of all bodies here, light and camera; returns the example."""
    floor, camera = stage.furnish(context, collection, camera_at, target, 50.0)
    _body(floor, 0.3)
    return stage.Example(cloths, (*bodies, floor), camera, frames)
