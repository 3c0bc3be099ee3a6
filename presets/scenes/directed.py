# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth that is attached, directed and corrected: a cape with buckles, a cape on what flies, a sheet to push out of a body."""

import bmesh
import bpy
import numpy as np

from . import character, materials, sheet, solids, stage, walk

FRAMES = (1, 120)
COLUMNS, ROWS = 49, 45  # of the cape's vertices
#: from the neck down: height, half width, half depth, shift to the back [m], degrees to each side of the back
CAPE = (
    (1.500, 0.085, 0.075, 0.030, 118.0),
    (1.500, 0.150, 0.120, 0.034, 100.0),
    (1.480, 0.225, 0.170, 0.040, 82.0),
    (1.250, 0.290, 0.185, 0.050, 70.0),
    (0.920, 0.330, 0.240, 0.050, 68.0),
    (0.550, 0.380, 0.290, 0.050, 68.0),
)
COLLAR = 2  # rows that are attached
BUCKLE = 0.018  # [m] radius
STAND_IN = 0.435  # [m] radius of the ball that a sheet is baked on; tips of spikes are 25 mm farther out
SPIKE = 0.05  # [rad] within which a spike falls off by e
FLIGHT = (
    (1, (0.0, 0.0)),
    (20, (0.0, 0.0)),
    (45, (-1.2, 0.35)),
    (70, (-3.4, 0.0)),
    (95, (-5.2, 0.4)),
    (120, (-6.0, 0.0)),
)
NECK, WIDTH, LENGTH = 0.29, 0.75, 0.95  # [m] what the hero's cape goes round, and its size
FELT = 0.25  # part of the flight that the banner feels
DIRECTED = ((1, 0.0), (60, 0.0), (80, 1.0), (95, 1.0), (110, 0.0))  # frame, Blend to Animation


def cape(context, collection):
    """Add a mannequin that walks in a cape: its collar is attached to the shoulders, two buckles lie on it."""
    body, rig = character.add(context, collection)
    walk.key(rig, *FRAMES)
    sheet.collide(body, aura=0.005, friction=0.5)
    points, quads, pattern = _cape()
    cloth = sheet.add(collection, "Cape", points, quads, pattern, materials.woven("Cape Wool", across="Y", inside=0.7))
    sheet.make_of(cloth, mass=0.2, thickness=0.003, stretch_stiffness=2500.0, damping=2.0, bending_stiffness=8e-5)
    sheet.paint_group(cloth, "Collar", (np.arange(len(points)) < COLLAR * COLUMNS).astype(float))
    floor = stage.ground(collection)
    stage.light(context, collection)
    _call(context, bpy.ops.taffeta.attach, cloth, body=body.name, vertices="GROUP", group="Collar")
    for side, column in (("Left", 1), ("Right", COLUMNS - 2)):
        buckle = _buckle(collection, f"{side} Buckle", points[COLUMNS + column])
        _call(context, bpy.ops.taffeta.trim_add, cloth, trim=buckle.name, mass=0.02, stiffening=10.0)
    camera = stage.camera(context, collection, (3.6, -2.2, 1.75), (0.0, 0.05, 0.95), 76.0, walk.way(*FRAMES))
    return stage.Example((cloth,), (body, floor), camera, FRAMES)


def _cape():
    """Points (n, 3), quads (m, 4), pattern (n, 2) [m]: a part of a tube that is open in front, row after row."""
    at, rings = np.linspace(0.0, 1.0, ROWS), np.array(CAPE)
    down = np.concatenate(([0.0], np.cumsum(np.linalg.norm(np.diff(rings[:, [0, 2]], axis=0), axis=1))))
    height, wide, deep, shift, open_ = (np.interp(at, down / down[-1], column) for column in rings.T)
    angle = np.radians(open_)[:, None] * np.linspace(-1.0, 1.0, COLUMNS)
    x, y = wide[:, None] * np.sin(angle), shift[:, None] + deep[:, None] * np.cos(angle)
    points = np.stack([x, y, np.repeat(height[:, None], COLUMNS, 1)], -1)
    across = np.linalg.norm(np.diff(points, axis=1), axis=2).sum(axis=1) / 2.0
    pattern = np.stack(
        [across[:, None] * np.linspace(-1.0, 1.0, COLUMNS), np.repeat(-at[:, None] * down[-1], COLUMNS, 1)], -1
    )
    corner = (np.arange(ROWS - 1)[:, None] * COLUMNS + np.arange(COLUMNS - 1)).ravel()
    quads = corner[:, None] + [0, COLUMNS, COLUMNS + 1, 1]
    return points.reshape(-1, 3), quads, pattern.reshape(-1, 2)


def _buckle(collection, name, place):
    """A round buckle of brass that lies at a place [m], and is no body."""
    mesh, shape = bpy.data.meshes.new(name), bmesh.new()
    bmesh.ops.create_cone(shape, cap_ends=True, segments=24, radius1=BUCKLE, radius2=0.7 * BUCKLE, depth=0.3 * BUCKLE)
    shape.to_mesh(mesh)
    shape.free()
    mesh.materials.append(materials.plain("Brass", (0.75, 0.50, 0.14), 0.3))
    obj = bpy.data.objects.new(name, mesh)
    obj.location = place
    collection.objects.link(obj)
    return obj


def _call(context, operator, cloth, **options):
    """Press one of the add-on's own buttons on a garment, in the first frame: keying has left everything in the last one."""
    context.view_layer.objects.active = cloth
    context.scene.frame_set(FRAMES[0])
    operator(object=cloth.name, **options)


def hero_cape(context, collection):
    """Add a banner on something round that flies: it feels a quarter of that, a keyed pose pulls it straight for a while, and
    how far each place may leave that pose grows from the top down."""
    body = solids.sphere(collection, 0.25, 2.2)
    for frame, (along, up) in FLIGHT:
        body.location = (along, 0.0, 2.2 + up)
        body.keyframe_insert("location", frame=frame)
    points, quads, pattern = sheet.rectangle(37, 45, WIDTH, LENGTH)
    reach = 0.5 - points[:, 1] / LENGTH  # 0 at the top, 1 at the hem
    turn, away = points[:, 0] / NECK, NECK + 0.1 * reach
    points = np.column_stack([away * np.cos(turn), away * np.sin(turn), 0.1 - LENGTH * reach])
    cloth = sheet.add(
        collection, "Hero Cape", points, quads, pattern, materials.woven("Hero Wool", across="Y", inside=0.7)
    )
    sheet.make_of(cloth, mass=0.15, thickness=0.003, stretch_stiffness=2000.0, damping=1.0, bending_stiffness=6e-5)
    cloth.parent = body
    settings = cloth.taffeta_cloth
    sheet.paint_group(cloth, "Top", (reach < 0.03).astype(float))
    sheet.map_group(cloth, "pin", "Top", 0.0, 1.0)
    sheet.paint_group(cloth, "Reach", np.round(reach, 2))
    sheet.map_group(cloth, "pin_distance", "Reach", 0.02, 1.4)
    settings.ride.felt, settings.blend_stiffness = FELT, 400.0
    for frame, weight in DIRECTED:
        settings.blend.value = weight
        settings.blend.keyframe_insert("value", frame=frame)
    _posed(cloth, points, reach)
    stage.light(context, collection)
    floor = stage.ground(collection)
    way = {frame: (along, 0.0, up) for frame, (along, up) in FLIGHT}
    camera = stage.camera(context, collection, (2.6, -3.0, 2.5), (0.35, 0.0, 1.95), 58.0, way)
    return stage.Example((cloth,), (body, floor), camera, FRAMES)


def _posed(cloth, points, reach):
    """A shape key, keyed, that streams out behind: what Blend to Animation pulls to."""
    cloth.shape_key_add(name="Basis")
    key = cloth.shape_key_add(name="Streaming")
    streaming = points + np.column_stack([0.90 * reach, 0.0 * reach, 0.75 * reach + 0.03 * np.sin(9.0 * reach)])
    key.data.foreach_set("co", streaming.astype(np.float32).ravel())
    for frame, value in ((55, 0.0), (75, 1.0), (100, 1.0), (115, 0.0)):
        key.value = value
        key.keyframe_insert("value", frame=frame)


def after_bake(context, collection):
    """Add a coarse sheet on a smooth ball, which stands for one with spikes: these poke through. Bake, then Push Out of Body."""
    stand_in = solids.sphere(collection, STAND_IN, 0.55)
    stand_in.hide_render, stand_in.display_type = True, "WIRE"
    ball = solids.dress(collection, "Spiked Ball", _spiked(0.36, 0.1), 0.55)
    ball.taffeta_collider.collides = False
    cloth = sheet.square(collection, "Sheet", 29, 1.4, 1.12, materials.woven(inside=0.7))
    sheet.make_of(cloth, bending_stiffness=2e-4)
    for frame, turn in ((1, 0.0), (20, 0.0), (40, 1.5), (80, -0.5), (120, 0.0)):
        ball.rotation_euler.z = turn
        ball.keyframe_insert("rotation_euler", frame=frame)
    floor, camera = stage.furnish(context, collection)
    return stage.Example((cloth,), (stand_in, ball, floor), camera, FRAMES)


def _spiked(radius, height):
    """A ball mesh whose surface rises to spikes, `height` [m] high."""
    mesh, shape = bpy.data.meshes.new("Spiked Ball"), bmesh.new()
    bmesh.ops.create_icosphere(shape, subdivisions=6, radius=1.0)
    tips = bmesh.new()
    bmesh.ops.create_icosphere(tips, subdivisions=2, radius=1.0)
    axes = np.array([vertex.co for vertex in tips.verts])
    tips.free()
    near = (np.array([vertex.co for vertex in shape.verts]) @ axes.T).max(axis=1).clip(-1.0, 1.0)
    for vertex, away in zip(shape.verts, radius + height * np.exp(-((np.arccos(near) / SPIKE) ** 2)), strict=True):
        vertex.co *= away
    shape.to_mesh(mesh)
    shape.free()
    return solids.in_order(mesh)
