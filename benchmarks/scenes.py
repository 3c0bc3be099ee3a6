# SPDX-License-Identifier: GPL-3.0-or-later
"""What is measured: square sheets that fall on a torus or a sphere, a poncho that walks, a dress. All meshes, no simulator."""

from typing import NamedTuple

import bpy
import numpy as np
from scipy.interpolate import PchipInterpolator
from taffeta.presets.scenes import materials, motions, sheet, solids

SIDE = 2.0  # [m] of every sheet
MASS = 0.15  # [kg/m2]
BENDING_DAMPING = 0.04  # [s] cotton's
ON_TORUS = 21  # vertices along a side up to which a sheet falls on the torus
FRAMES = {21: 60, 51: 60, 101: 40, 201: 20, 401: 8}  # of a shot, by vertices along a side
SCENES = {"sheets": 0, "poncho": 60, "dress": 20}  # and frames of a shot, where its size does not tell

DRESS = 160, 125  # vertices round it and from top to hem
#: from the top down: height, half width, half depth, shift to the back [m]
GOWN = (
    (1.31, 0.153, 0.103, 0.0), (1.23, 0.152, 0.112, -0.004), (1.10, 0.122, 0.092, 0.0), (1.03, 0.127, 0.097, 0.003),
    (0.96, 0.180, 0.150, 0.005), (0.68, 0.300, 0.275, 0.005), (0.40, 0.420, 0.400, 0.005),
)  # fmt: skip
#: a tailor's dummy down to the end of its stand
DUMMY = (
    (1.50, 0.030, 0.030, 0.012), (1.49, 0.052, 0.052, 0.012), (1.43, 0.056, 0.056, 0.012), (1.405, 0.125, 0.070, 0.010),
    (1.37, 0.162, 0.088, 0.006), (1.30, 0.147, 0.098, 0.0), (1.23, 0.145, 0.105, -0.004), (1.10, 0.115, 0.085, 0.0),
    (1.03, 0.120, 0.090, 0.003), (0.90, 0.165, 0.118, 0.010), (0.75, 0.182, 0.145, 0.010), (0.50, 0.225, 0.200, 0.008),
    (0.36, 0.245, 0.225, 0.006), (0.35, 0.220, 0.200, 0.006),
)  # fmt: skip


class Case(NamedTuple):
    """One scene with one choice of self-collision."""

    name: str
    columns: int  # vertices along a side of the sheet; 0 where there is none
    self_collision: bool
    frames: int  # the first, which is given, included
    scene: str = "sheets"  # one of SCENES


def cases(sizes, frames=0, parts=tuple(SCENES)):
    """All cases of these sizes and scenes, in the order of the table; `frames` 0 takes those of `FRAMES`."""
    sheets = [
        Case(f"{size}x{size} on a {'torus' if size <= ON_TORUS else 'sphere'}", size, alone, frames or frames_of(size))
        for size in sizes
        for alone in (False, True)
    ]
    names = {"poncho": "walking poncho", "dress": "dress on a dummy"}
    others = [Case(names[part], 0, True, frames or SCENES[part], part) for part in names if part in parts]
    return sheets * ("sheets" in parts) + others


def frames_of(size):
    """How many frames a sheet's shot has."""
    return next((count for most, count in FRAMES.items() if size <= most), min(FRAMES.values()))


def build(case):
    """Make the case in an empty file, 24 frames a second; returns its garments."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.render.fps = 24
    if case.scene == "poncho":
        bpy.ops.taffeta.scene_add(name="poncho")
    elif case.scene == "dress":
        _dress(scene, _dummy(scene))
    else:
        _sheet(scene, case)
        _body(case.columns <= ON_TORUS, distance(case))
    if case.scene != "poncho":
        scene.taffeta.air_drag = 0.0  # no air, as for Blender at its best: both fall equally fast
    scene.frame_start, scene.frame_end = 1, case.frames
    scene.frame_set(1)
    return [obj for obj in scene.objects if obj.taffeta_cloth.enabled]


def distance(case):
    """[m] that cloth keeps from itself, and again from the body: well under the length of an edge."""
    return min(0.003, 0.2 * SIDE / (case.columns - 1))


def _sheet(scene, case):
    """A sheet 2 cm above the body, as light as cotton."""
    points, quads, pattern = sheet.rectangle(case.columns, case.columns, SIDE, SIDE)
    material = bpy.data.materials.new("Cotton")
    obj = sheet.add(scene.collection, "Sheet", points + [0.0, 0.0, 0.02], quads, pattern, material)
    sheet.make_of(obj, mass=MASS, thickness=distance(case))
    obj.taffeta_cloth.self_collision, obj.taffeta_cloth.bending_damping = case.self_collision, BENDING_DAMPING


def _body(torus, aura):
    """A torus of 3,200 triangles or a ball of a metre, with the top of its aura at z = 0."""
    if torus:
        shape = {"major_segments": 40, "minor_segments": 40, "major_radius": 0.6, "minor_radius": 0.25}
        bpy.ops.mesh.primitive_torus_add(location=(0.0, 0.0, -0.25 - aura), **shape)
    else:
        bpy.ops.mesh.primitive_uv_sphere_add(segments=64, ring_count=32, radius=0.5, location=(0.0, 0.0, -0.5 - aura))
        solids.in_order(bpy.context.object.data)
    sheet.collide(bpy.context.object, aura=aura)


def _dummy(scene):
    """A tailor's dummy that turns to and fro about its stand."""
    around, rows = 72, 60
    points, quads, _ = sheet.tube(around, rows, _smooth(DUMMY))
    caps = [list(range(around))[::-1], list(range((rows - 1) * around, rows * around))]
    mesh = bpy.data.meshes.new("Dummy")
    mesh.from_pydata(points.tolist(), [], [*quads.tolist(), *caps])
    body = sheet.collide(solids.dress(scene.collection, "Dummy", mesh, 0.0), aura=0.003, friction=0.3)
    motions.drive(body, "rotation_euler", f"0.7*{motions.swing(1.6, 2)}", 2)
    return body


def _dress(scene, body):
    """A bodice and a flared skirt in one piece round the dummy, 20,000 vertices; the bodice's edge is sewn to it."""
    points, quads, pattern = sheet.tube(*DRESS, _smooth(GOWN))
    obj = sheet.add(scene.collection, "Dress", points, quads, pattern, materials.woven(inside=0.6))
    sheet.make_of(obj, mass=MASS, thickness=0.001)
    obj.taffeta_cloth.bending_damping = BENDING_DAMPING
    sheet.paint_group(obj, "Edge", (points[:, 2] > GOWN[0][0] - 0.02).astype(float))
    sheet.map_group(obj, "pin", "Edge", 0.0, 1.0)
    obj.parent = body


def _smooth(rings):
    """Rings at equal distances along smooth curves through these, which `sheet.tube` takes for evenly spaced."""
    rings = np.array(rings)
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(rings[:, :2], axis=0), axis=1))])
    return PchipInterpolator(along, rings)(np.linspace(0.0, along[-1], 33))


def world(obj):
    """(n, 3) vertices [m] of an object as shown now, in world space."""
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return positions(evaluated.data, evaluated.matrix_world)


def positions(mesh, matrix):
    """(n, 3) vertices [m] of a mesh under a matrix."""
    x = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", x)
    matrix = np.array(matrix)
    return x.reshape(-1, 3).astype(float) @ matrix[:3, :3].T + matrix[:3, 3]


def triangles(obj, shown=False):
    """(t, 3) vertex indices of an object's own mesh, or of it as shown now."""
    mesh = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data if shown else obj.data
    mesh.calc_loop_triangles()
    found = np.empty(3 * len(mesh.loop_triangles), np.int32)
    mesh.loop_triangles.foreach_get("vertices", found)
    return found.reshape(-1, 3)


def edges(obj):
    """(e, 2) vertex indices of an object's own mesh."""
    found = np.empty(2 * len(obj.data.edges), np.int32)
    obj.data.edges.foreach_get("vertices", found)
    return found.reshape(-1, 2)
