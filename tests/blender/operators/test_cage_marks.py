# SPDX-License-Identifier: GPL-3.0-or-later
"""Pleats and elastic go over to a cage: its edges lie along them, it folds and gathers as the garment does; tear lines do not, and that
is told."""

import bpy
import numpy as np
import pytest
from taffeta.operators.read import bands, pleats, tear_lines

COLUMNS, ROWS, HIGH, COUNT = 64, 25, 0.4, 500  # of the skirt, [m], and vertices of its cage
PLEATS, ANGLE, STIFF = 16, np.radians(80.0), 40.0
LENGTH, TENSION = 0.6, 8.0  # of the elastic at the waist


def skirt(make, name="Skirt"):
    """A cone of quads that opens downwards."""
    turn, down = np.meshgrid(np.arange(COLUMNS) * 2 * np.pi / COLUMNS, np.linspace(0.0, 1.0, ROWS))
    radius = 0.2 + 0.12 * down
    x = np.stack((radius * np.cos(turn), radius * np.sin(turn), -HIGH * down), axis=-1).reshape(-1, 3)
    i, j = (a.ravel() for a in np.meshgrid(np.arange(ROWS - 1), np.arange(COLUMNS), indexing="ij"))
    k = (j + 1) % COLUMNS
    faces = np.column_stack((i * COLUMNS + j, (i + 1) * COLUMNS + j, (i + 1) * COLUMNS + k, i * COLUMNS + k))
    return make.cloth(make.mesh(name, x, faces), bending_stiffness=6e-5, thickness=0.002, damping=2.0)


def ends_of(mesh):
    return np.array([edge.vertices[:] for edge in mesh.edges])


def fold(obj):
    """Pleats down the skirt from a tenth below the waist, mountains and valleys in turns."""
    ends = ends_of(obj.data)
    column, row = ends % COLUMNS, ends // COLUMNS
    step = COLUMNS // PLEATS
    chosen = np.flatnonzero((column[:, 0] == column[:, 1]) & (column[:, 0] % step == 0) & (row.min(axis=1) >= 3))
    pleats.mark(obj.data, chosen, np.where(column[chosen, 0] // step % 2, ANGLE, -ANGLE), STIFF)


def gather(obj):
    """Elastic along the waist."""
    bands.mark(obj.data, np.flatnonzero((ends_of(obj.data) < COLUMNS).all(axis=1)), LENGTH, TENSION)


def caged(obj, vertices=COUNT):
    bpy.context.view_layer.objects.active = obj
    assert bpy.ops.taffeta.cage_make(object=obj.name, vertices=vertices) == {"FINISHED"}
    return obj.taffeta_cage.cage


def marks_of(obj, read):
    """What is marked: places (k, 2, 3) of the edges in the mesh, and the values."""
    edges, *values = read(obj.name, obj.data)
    return np.array([v.co for v in obj.data.vertices])[edges], *values


def length_of(places):
    return np.linalg.norm(places[:, 1] - places[:, 0], axis=1).sum()


def turns(obj, x):
    """(p,) [rad] by which the faces beside each pleat are turned out of one plane, above 0 a mountain."""
    beside = {}
    for face in obj.data.polygons:
        for key in face.edge_keys:
            beside.setdefault(key, []).append(face.vertices[:])
    found = []
    for edge in pleats.read_pleats(obj.name, obj.data).edges.tolist():
        pair = beside[tuple(sorted(edge))]
        normal = [np.cross(x[f[1]] - x[f[0]], x[f[2]] - x[f[0]]) for f in pair]
        one, other = (n / np.linalg.norm(n) for n in normal)
        rises = (x[list(pair[1])].mean(axis=0) - x[edge[0]]) @ one
        found.append(np.copysign(np.arccos(np.clip(one @ other, -1.0, 1.0)), -rises))
    return np.array(found)


def baked(scene, make, obj, frames):
    scene.frame_end = frames
    assert bpy.ops.taffeta.bake(object=obj.name) == {"FINISHED"}
    scene.frame_set(frames)
    return make.world(obj)


def test_pleats_of_a_skirt_go_over_and_fold_its_cage(make, saved):
    saved.use_gravity = False
    obj = skirt(make)
    fold(obj)
    cage = caged(obj)
    (here, _, _), (there, angle, stiffness) = (marks_of(each, pleats.read_pleats) for each in (obj, cage))
    assert len(cage.data.vertices) < len(obj.data.vertices) / 3 and len(there) < 0.7 * len(here)
    assert length_of(there) == pytest.approx(length_of(here), rel=1e-3) and set(stiffness) == {STIFF}
    line = np.arctan2(there[..., 1], there[..., 0]) / (2 * np.pi) * PLEATS
    assert np.abs(line - np.rint(line)).max() < 1e-3  # each lies on a line of the garment's pleats,
    assert np.array_equal(np.rint(line)[:, 0] % 2 == 1, angle > 0.0)  # and is of its side
    found = np.degrees(turns(cage, baked(saved, make, cage, 12)) - angle)
    assert np.abs(found).mean() < 3.0 and np.abs(found).max() < 15.0


def test_elastic_gathers_the_waist_of_a_cage_as_that_of_its_garment(make, saved):
    saved.use_gravity = False
    obj = skirt(make)
    gather(obj)
    full = length_of(marks_of(obj, bands.read_bands)[0])
    cage = caged(obj)
    there, length, tension = marks_of(cage, bands.read_bands)
    assert length_of(there) == pytest.approx(full, rel=0.01) and there[..., 2].min() > -1e-6
    assert set(np.round(length, 5)) == {LENGTH} and set(tension) == {TENSION}
    waist = []
    for each in (cage, obj):
        x = baked(saved, make, each, 12)
        waist.append(length_of(x[bands.read_bands(each.name, each.data).edges]))
        bpy.ops.taffeta.cage_remove(object=obj.name) if each == cage else None
    assert waist[0] == pytest.approx(waist[1], rel=0.03) and waist[1] < 0.7 * full


def test_values_that_change_along_a_line_and_two_kinds_that_cross_go_over(make):
    obj = skirt(make)
    fold(obj)
    row = 8
    hoop = np.flatnonzero((ends_of(obj.data) // COLUMNS == row).all(axis=1))
    half = ends_of(obj.data)[hoop].min(axis=1) % COLUMNS < COLUMNS // 2
    bands.mark(obj.data, hoop, np.where(half, 0.5, 0.8), np.where(half, 2.0, 3.0))
    cage = caged(obj)
    there, length, tension = marks_of(cage, bands.read_bands)
    assert np.abs(there[..., 2] + HIGH * row / (ROWS - 1)).max() < 1e-5
    assert length_of(there) == pytest.approx(length_of(marks_of(obj, bands.read_bands)[0]), rel=0.01)
    first = there.mean(axis=1)[:, 1] > 0.0  # columns count from the x axis on
    assert np.allclose(length, np.where(first, 0.5, 0.8)) and np.allclose(tension, np.where(first, 2.0, 3.0))
    upright = marks_of(cage, pleats.read_pleats)[0]
    assert (np.ptp(upright[..., 2], axis=1) > 0.5 * np.linalg.norm(upright[:, 1] - upright[:, 0], axis=1)).all()


def test_refining_keeps_the_marks_and_refuses_those_of_the_cage_alone(make, saved):
    saved.frame_end = 2
    obj = skirt(make)
    fold(obj)
    gather(obj)
    cage = caged(obj)
    assert bpy.ops.taffeta.bake(object=cage.name) == {"FINISHED"}
    tension = cage.data.attributes[bands.TENSION].data
    marked = next(k for k, value in enumerate(tension) if value.value)
    tension[marked].value = 1.0
    with pytest.raises(RuntimeError, match="Skirt Cage has marked elastic on 1 edges where Skirt has none or another"):
        bpy.ops.taffeta.cage_refine(object=obj.name, vertices=700)
    tension[marked].value = TENSION
    before = cage.data
    assert bpy.ops.taffeta.cage_refine(object=obj.name, vertices=700) == {"FINISHED"}
    assert cage.data != before
    for read in (pleats.read_pleats, bands.read_bands):
        assert length_of(marks_of(cage, read)[0]) == pytest.approx(length_of(marks_of(obj, read)[0]), rel=0.01)


def test_tear_lines_stay_behind_which_is_told_and_the_cage_is_whole(make, capfd):
    obj = make.cloth(make.grid(name="Banner", count=30))
    for vertex in obj.data.vertices:
        vertex.select = vertex.index % 30 == 15
    for edge, line in zip(obj.data.edges, (ends_of(obj.data) % 30 == 15).all(axis=1), strict=True):
        edge.select = bool(line)
    for face in obj.data.polygons:
        face.select = False
    bpy.context.view_layer.objects.active = obj
    bpy.context.tool_settings.mesh_select_mode = (False, True, False)
    bpy.ops.object.mode_set(mode="EDIT")
    assert bpy.ops.taffeta.tear_mark(strength=100.0) == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    assert len(obj.data.vertices) == 930
    cage = caged(obj, 250)
    assert "The tear lines of Banner do not go over to a cage, so it does not tear" in capfd.readouterr().out
    assert not len(tear_lines.marked(cage.data)[0])
    mesh = cage.data
    assert len(mesh.vertices) - len(mesh.edges) + len(mesh.polygons) == 1  # Euler's number of one sheet


def test_marks_on_the_other_side_of_a_shell_are_told(make, capfd):
    line = np.linspace(-0.5, 0.5, 21)
    u, v = (a.ravel() for a in np.meshgrid(line, line))
    flat = np.column_stack((u, v, 0.0 * u))
    a = (np.arange(20)[:, None] * 21 + np.arange(20)).ravel()
    top = np.column_stack((a, a + 1, a + 22, a + 21))
    ring = np.concatenate((np.arange(21), 41 + 21 * np.arange(20), np.arange(439, 419, -1), np.arange(399, 0, -21)))
    rim = np.column_stack((np.roll(ring, -1), ring, ring + 441, np.roll(ring, -1) + 441))
    x = np.concatenate((flat + (0.0, 0.0, 0.005), flat - (0.0, 0.0, 0.005)))
    obj = make.cloth(make.mesh("Quilt", x, np.concatenate((top, top[:, ::-1] + 441, rim))))
    for side in (0, 1):
        ends = ends_of(obj.data) - 441 * side
        across = np.flatnonzero((ends % 21 == 8).all(axis=1) & (ends >= 0).all(axis=1) & (ends < 441).all(axis=1))
        pleats.mark(obj.data, across, ANGLE, STIFF)
        cage = caged(obj, 120)
        told = "Quilt: its marked pleats did not go over to Quilt Cage" in capfd.readouterr().out
        assert told == (pleats.read_pleats(cage.name, cage.data) is None)
        bpy.ops.taffeta.cage_remove(object=obj.name)
        bpy.ops.taffeta.pleat_clear(every=True)
