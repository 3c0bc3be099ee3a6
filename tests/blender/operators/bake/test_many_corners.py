# SPDX-License-Identifier: GPL-3.0-or-later
"""Faces of more than four corners are cloth like all others."""

import bpy
import numpy as np
import taffeta
from taffeta.operators.read import mesh_io
from taffeta.operators.read.arrays import positions, triangulated
from taffeta.solver.geometry.slivers import SLIVER
from taffeta.solver.shown import as_shown, find_quads

RINGS, ROUND, LENGTH = 15, 60, 0.4


def skirt(make, merged):
    """A skirt of quads, pinned above, round a ball that swings; some quads are joined in pairs if they are to be `merged`, as
    dissolved edges leave them.
    """
    turn, down = np.linspace(0.0, 2 * np.pi, ROUND, endpoint=False), np.linspace(0.0, LENGTH, RINGS)[:, None]
    radius, height = 0.17 + 0.5 * down, np.broadcast_to(-down, (RINGS, ROUND))
    x = np.stack([radius * np.cos(turn), radius * np.sin(turn), height], axis=-1).reshape(-1, 3)
    corner = np.arange(RINGS * ROUND).reshape(RINGS, ROUND)
    faces = []
    for ring in range(0, RINGS - 1, 2):
        for k in range(ROUND):
            left, right = corner[ring : ring + 3, k], corner[ring : ring + 3, (k + 1) % ROUND]
            if merged and k % 5 == ring % 5:
                faces.append([left[0], right[0], right[1], right[2], left[2], left[1]])
            else:
                faces += [[left[n], right[n], right[n + 1], left[n + 1]] for n in range(2)]
    obj = make.cloth(make.mesh("Skirt", x, faces))
    obj.vertex_groups.new(name="Pin").add(range(ROUND), 1.0, "REPLACE")
    obj.taffeta_cloth.pin.source, obj.taffeta_cloth.pin.vertex_group = "GROUP", "Pin"
    body = make.collider(make.ball(radius=0.16, location=(0.0, 0.0, -0.1)))
    for frame, aside in ((1, 0.0), (8, 0.09), (16, -0.09)):
        body.location[0] = aside
        body.keyframe_insert("location", frame=frame)
    return obj


def test_no_triangle_of_a_joined_face_is_a_sliver(scene, make):
    """Blender cuts some of them so that a triangle is a line: a corner lies in the middle of a side."""
    mesh = skirt(make, True).data
    x = np.array([vertex.co for vertex in mesh.vertices])
    triangles, corners = triangulated(mesh)
    sides = x[triangles] - x[np.roll(triangles, -1, axis=1)]
    height = np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1) / np.square(sides).sum(axis=2).max(axis=1)
    assert height.min() > 4 * SLIVER
    assert [mesh.loops[corner].vertex_index for corner in corners.ravel()] == triangles.ravel().tolist()
    area = 0.5 * np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1)
    assert np.isclose(area.sum(), sum(face.area for face in mesh.polygons), rtol=1e-3)


def test_joined_faces_fold_as_the_others_do(saved, make):
    """Cloth round triangles that are lines was a quarter rougher, in a third more steps."""
    bpy.context.scene.frame_end = 16
    found = {}
    for merged in (False, True):
        bpy.ops.object.select_all(action="SELECT")
        bpy.ops.object.delete()
        skirt(make, merged)
        reports = []
        taffeta.bake(on_frame=lambda frame, report, into=reports: into.append(report))
        found[merged] = [
            np.array([getattr(report, name) for report in reports[1:]])
            for name in ("worst_stretch", "roughness", "steps")
        ]
    (plain_stretch, plain_rough, plain_steps), (stretch, rough, steps) = found[False], found[True]
    assert stretch.max() < plain_stretch.max() + 0.05
    assert rough.mean() < 1.1 * plain_rough.mean()
    assert steps.sum() < 1.2 * plain_steps.sum()


def test_it_is_known_along_which_diagonal_blender_cuts_folded_quads(scene, make):
    """In crumpled cloth, of which the solver has the triangles of the flat one."""
    obj = make.cloth(make.grid(count=30))
    garment = mesh_io.read_garment(obj, bpy.context.evaluated_depsgraph_get(), scene)
    x = positions(obj.data) + np.random.default_rng(1).normal(scale=0.02, size=(900, 3))
    obj.data.vertices.foreach_set("co", x.astype(np.float32).ravel())
    obj.data.update()
    shown = np.array([triangle.vertices for triangle in obj.data.loop_triangles])
    quads = find_quads([garment], garment.triangles)
    assert len(quads.corners) == len(obj.data.polygons)
    assert np.any(shown != garment.triangles, axis=1).sum() > 100
    found = as_shown(garment.triangles, quads, positions(obj.data).astype(float))
    assert np.sort(found, axis=1).tolist() == np.sort(shown, axis=1).tolist()
