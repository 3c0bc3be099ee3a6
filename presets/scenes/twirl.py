# SPDX-License-Identifier: GPL-3.0-or-later
"""The mannequin turns on the toes and stops: a circle skirt over a petticoat, both cut flat, rise, wind round and swing back."""

from math import pi, radians

import numpy as np
from mathutils import Quaternion, Vector

from . import character, figure, materials, sheet, stage
from .walk import X, Y, Z, smooth

FRAMES = (1, 108)
FALLEN, FULL, SLOWER, STILL = 18.0, 34.0, 58.0, 74.0  # [frame] skirts hang; it turns at full speed, slows down, stands
SPEED = 1.15  # [1/s] turns
RATE = 24.0
TIPTOE = radians(24.0)
WAIST = (0.149, 0.103, 0.004)  # [m] half width, half depth, shift to the back of a band that skirts hang from
SKIRT = {"length": 0.72, "edge": 0.0112, "height": 1.062}  # [m]
PETTICOAT = {"length": 0.50, "edge": 0.0150, "height": 1.048}
HEM = 0.055  # [m] width of the skirt's border
WINE, GOLD, CREAM = (0.165, 0.010, 0.022), (0.52, 0.27, 0.055), (0.66, 0.60, 0.50)


def add(context, collection):
    """Add mannequin, turn, skirts, ground, light and camera; return what was made."""
    body, rig = character.add(context, collection)
    _key(rig)
    sheet.collide(body, aura=0.005, friction=0.3)
    petticoat = _skirt(collection, rig, "Petticoat", [materials.woven("Petticoat", ((0.0, CREAM),))], **PETTICOAT)
    dress = [materials.woven("Wine Taffeta", ((0.0, WINE),)), materials.woven("Border", ((0.0, GOLD),))]
    skirt = _skirt(collection, rig, "Skirt", dress, **SKIRT)
    sheet.make_of(petticoat, mass=0.11, thickness=0.002, stretch_stiffness=2500.0, shear_stiffness=60.0)
    sheet.make_of(skirt, mass=0.13, thickness=0.002, stretch_stiffness=3000.0, shear_stiffness=80.0)
    for garment, layer, bending in ((petticoat, 0, 1.2e-5), (skirt, 1, 1.5e-5)):
        sheet.make_of(garment, bending_stiffness=bending, damping=1.0)
        garment.taffeta_cloth.layer = layer
    floor = stage.ground(collection)
    stage.light(context, collection)
    camera = stage.camera(context, collection, (1.15, -4.6, 1.62), (0.0, 0.0, 0.88), 83.0)
    return stage.Example((skirt, petticoat), (body, floor), camera, FRAMES)


def turned(frame):
    """How far [turns] it has turned at a frame: evenly faster, evenly, evenly slower."""
    full, slower, still = (min(max(frame - FALLEN, 0.0), end - FALLEN) for end in (FULL, SLOWER, STILL))
    faster, slows = FULL - FALLEN, STILL - SLOWER
    gone = 0.5 * full * full / faster + (slower - full)
    last = still - slower
    return SPEED / RATE * (gone + last - 0.5 * last * last / slows)


def ring(inner, length, edge):
    """Return pattern (n, 2) [m] and triangles (t, 3) of a flat ring round the origin, from radius `inner` outwards, of
    triangles with even edges; the vertices of the inner rim come first.
    """
    rows = max(2, round(length / (edge * 0.5 * 3.0**0.5)) + 1)
    radii = np.linspace(inner, inner + length, rows)
    counts = np.round(2.0 * pi * radii / edge).astype(int)
    starts = np.concatenate([[0], np.cumsum(counts)])
    angles = [(np.arange(count) + 0.5 * (row % 2)) * 2.0 * pi / count for row, count in enumerate(counts)]
    pattern = np.concatenate(
        [radius * np.column_stack([np.cos(angle), np.sin(angle)]) for radius, angle in zip(radii, angles, strict=True)]
    )
    triangles = []
    for row in range(rows - 1):
        near, far = counts[row : row + 2]
        i = j = 0
        while i < near or j < far:  # whichever rim is behind goes on
            a, b, c = starts[row] + i % near, starts[row + 1] + j % far, None
            if j < far and (i == near or _angle(angles[row + 1], j + 1) <= _angle(angles[row], i + 1)):
                c, j = starts[row + 1] + (j + 1) % far, j + 1
            else:
                c, i = starts[row] + (i + 1) % near, i + 1
            triangles.append((a, b, c))
    return pattern, np.array(triangles)


def _angle(angles, k):
    """[rad] of vertex k of a rim, which goes on behind its last."""
    return angles[k % len(angles)] + 2.0 * pi * (k // len(angles))


def _skirt(collection, rig, name, cloths, length, edge, height):
    """A circle skirt, flat round the waist, held by its inner rim."""
    wide, deep, back = WAIST
    inner = np.sqrt(0.5 * (wide * wide + deep * deep))  # as long a rim, to a part in a hundred
    pattern, triangles = ring(inner, length, edge)
    radius = np.linalg.norm(pattern, axis=1)
    out = np.array([smooth(r, inner, inner + 0.3) for r in radius])[:, None]
    oval = pattern / inner * [wide, deep]
    points = np.column_stack([(1.0 - out) * oval + out * pattern + [0.0, back], np.full(len(pattern), height)])
    obj = sheet.add(collection, name, points, triangles, pattern, cloths[0])
    for cloth in cloths[1:]:
        obj.data.materials.append(cloth)
        border = (radius[triangles].min(axis=1) > inner + length - HEM).astype(np.int32)  # whole rows of triangles
        obj.data.polygons.foreach_set("material_index", border)
    sheet.paint_group(obj, "Waist", (radius < inner + 1e-6).astype(float))
    sheet.map_group(obj, "pin", "Waist", 0.0, 1.0)
    sheet.paint_group(obj, "hips", np.ones(len(points)))
    obj.parent = rig
    bones = obj.modifiers.new("Armature", "ARMATURE")
    bones.object = rig
    return obj


def _pose(frame):
    """{bone: rotation against its parent, in the rig's axes} at a frame."""
    up = smooth(frame, FALLEN - 4.0, FULL) * (1.0 - smooth(frame, SLOWER, STILL + 8.0))
    ahead = smooth(frame, FALLEN - 6.0, FALLEN + 4.0) - 2.0 * smooth(frame, FULL - 6.0, SLOWER + 6.0)
    ahead += smooth(frame, STILL - 2.0, STILL + 16.0)  # the trunk leads, and swings through at the end
    spine = Quaternion(Z, radians(5.0) * ahead)
    pose = {"spine.1": spine, "spine.2": spine, "chest": spine, "head": Quaternion(Z, radians(8.0) * ahead)}
    for side, name in ((1.0, "L"), (-1.0, "R")):
        arm = Vector(figure.ARM * [side, 1, 1])
        pose |= {
            f"upper_arm.{name}": Quaternion(X, -radians(10.0)) @ Quaternion(Y, -side * radians(20.0 + 32.0 * up)),
            f"forearm.{name}": Quaternion(arm.cross(-Y).normalized(), radians(22.0)),
            f"foot.{name}": Quaternion(X, TIPTOE * up),
            f"toes.{name}": Quaternion(X, -TIPTOE * up),
        }
    return pose


def _key(rig):
    """Key the turn on the rig and its bones, frame by frame."""
    rest = {bone.name: bone.matrix_local.to_quaternion() for bone in rig.data.bones}
    to_ball = Vector(figure.BALL - figure.ANKLE)
    for bone in rig.pose.bones:
        bone.rotation_mode = "QUATERNION"
    for frame in range(FRAMES[0], FRAMES[1] + 1):
        pose = _pose(float(frame))
        for name, turn in pose.items():
            bone = rig.pose.bones[name]
            bone.rotation_quaternion = rest[name].inverted() @ turn @ rest[name]
            bone.keyframe_insert("rotation_quaternion", frame=frame, group=name)
        rig.rotation_euler.z = 2.0 * pi * turned(float(frame))
        rig.keyframe_insert("rotation_euler", index=2, frame=frame)
        # the balls of the feet stay on the ground
        rig.location.z = (to_ball - pose["foot.L"] @ to_ball).z
        rig.keyframe_insert("location", index=2, frame=frame)
