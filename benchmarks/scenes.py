# SPDX-License-Identifier: GPL-3.0-or-later
"""What is measured: square sheets that fall on a torus or a sphere, and the demo shot. All meshes, no simulator."""

from typing import NamedTuple

import bpy
import numpy as np
from taffeta.presets.scenes import sheet

SIDE = 2.0  # [m] of every sheet
MASS = 0.15  # [kg/m2]
ON_TORUS = 21  # vertices along a side up to which a sheet falls on the torus
FRAMES = {21: 60, 51: 60, 101: 48, 201: 30, 401: 12}  # of a shot, by vertices along a side
DEMO, DEMO_FRAMES = "poncho", 60


class Case(NamedTuple):
    """One scene with one choice of self-collision."""

    name: str
    columns: int  # vertices along a side of the sheet; 0 in the demo shot
    self_collision: bool
    frames: int  # the first, which is given, included


def cases(sizes, frames=0, demo=True):
    """All cases of these sizes, in the order of the table; `frames` 0 takes those of `FRAMES`."""
    sheets = [
        Case(f"{size}x{size} on a {'torus' if size <= ON_TORUS else 'sphere'}", size, alone, frames or _frames(size))
        for size in sizes
        for alone in (False, True)
    ]
    return sheets + [Case(f"demo shot ({DEMO})", 0, True, frames or DEMO_FRAMES)] * demo


def _frames(size):
    return next((count for most, count in FRAMES.items() if size <= most), min(FRAMES.values()))


def build(case):
    """Make the case in an empty file, 24 frames a second; returns its garments."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.render.fps = 24
    if case.columns:
        garments = [_sheet(scene, case)]
        _body(case.columns <= ON_TORUS, distance(case))
        scene.taffeta.air_drag = 0.0  # no air, as for Blender at its best: both fall equally fast
    else:
        bpy.ops.taffeta.scene_add(name=DEMO)
        garments = [obj for obj in scene.objects if obj.taffeta_cloth.enabled]
    scene.frame_start, scene.frame_end = 1, case.frames
    scene.frame_set(1)
    return garments


def distance(case):
    """[m] that cloth keeps from itself, and again from the body: well under the length of an edge."""
    return min(0.003, 0.2 * SIDE / (case.columns - 1))


def _sheet(scene, case):
    """A sheet 2 cm above the body, as light as cotton."""
    points, quads, pattern = sheet.rectangle(case.columns, case.columns, SIDE, SIDE)
    material = bpy.data.materials.new("Cotton")
    obj = sheet.add(scene.collection, "Sheet", points + [0.0, 0.0, 0.02], quads, pattern, material)
    sheet.make_of(obj, mass=MASS, thickness=distance(case))
    obj.taffeta_cloth.self_collision = case.self_collision
    return obj


def _body(torus, aura):
    """A torus of 3,200 triangles or a ball of a metre, with the top of its aura at z = 0."""
    if torus:
        shape = {"major_segments": 40, "minor_segments": 40, "major_radius": 0.6, "minor_radius": 0.25}
        bpy.ops.mesh.primitive_torus_add(location=(0.0, 0.0, -0.25 - aura), **shape)
    else:
        bpy.ops.mesh.primitive_uv_sphere_add(segments=64, ring_count=32, radius=0.5, location=(0.0, 0.0, -0.5 - aura))
    sheet.collide(bpy.context.object, aura=aura)


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


def triangles(obj):
    """(t, 3) vertex indices of an object's own mesh."""
    obj.data.calc_loop_triangles()
    found = np.empty(3 * len(obj.data.loop_triangles), np.int32)
    obj.data.loop_triangles.foreach_get("vertices", found)
    return found.reshape(-1, 3)


def edges(obj):
    """(e, 2) vertex indices of an object's own mesh."""
    found = np.empty(2 * len(obj.data.edges), np.int32)
    obj.data.edges.foreach_get("vertices", found)
    return found.reshape(-1, 2)
