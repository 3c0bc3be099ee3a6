# SPDX-License-Identifier: GPL-3.0-or-later
"""Sew Selected Edges, in Edit Mode."""

import bpy
import numpy as np
import pytest
from quads import read
from taffeta.solver.build import build
from taffeta.solver.model import Settings

COUNT = 5


def square(count):
    """Of quads, about the origin: x (count**2, 3), faces."""
    line = np.linspace(-0.5, 0.5, count)
    u, v = np.meshgrid(line, line)
    corner = (np.arange(count - 1)[:, None] * count + np.arange(count - 1)).ravel()
    faces = np.column_stack((corner, corner + 1, corner + count + 1, corner + count))
    return np.column_stack((u.ravel(), v.ravel(), np.zeros(count * count))), faces


def sewn(obj):
    """Edges without a face, of the mesh out of Edit Mode."""
    bpy.ops.object.mode_set(mode="OBJECT")
    inside = {key for face in obj.data.polygons for key in face.edge_keys}
    return sorted(edge.key for edge in obj.data.edges if edge.key not in inside)


def weight(obj):
    """Of a garment [kg], as the solver has it."""
    bpy.context.view_layer.update()
    return build([read(obj)], Settings())[0].mass.sum()


@pytest.fixture
def panels(make):
    """A function that joins two squares of 5 and of `many` vertices a side, a metre apart, the upper one's rows the other way
    about, and selects in Edit Mode the rims that face each other, of `which` squares.
    """

    def made(many, which=(True, True)):
        (low, faces), (high, more) = square(COUNT), square(many)
        x = np.concatenate([low, high * [-1.0, 1.0, 1.0] + [0.0, 2.0, 0.0]])
        faces = [*faces.tolist(), *(more + len(low)).tolist()]
        obj = make.cloth(make.mesh("Panels", x, faces))
        rims = set(range(len(low) - COUNT, len(low))) if which[0] else set()
        rims |= set(range(len(low), len(low) + many)) if which[1] else set()
        bpy.context.view_layer.objects.active = obj
        for edge in obj.data.edges:
            edge.select = set(edge.vertices) <= rims
        for vertex in obj.data.vertices:
            vertex.select = vertex.index in rims
        for face in obj.data.polygons:
            face.select = False
        bpy.ops.object.mode_set(mode="EDIT")
        bpy.ops.mesh.select_mode(type="EDGE")
        return obj

    return made


@pytest.mark.parametrize("flip", [False, True])
def test_rims_of_different_counts_are_sewn(panels, flip):
    obj = panels(9)
    assert not obj.taffeta_cloth.sewing
    assert bpy.ops.taffeta.sew(flip=flip) == {"FINISHED"}
    found = sewn(obj)
    assert len(found) == COUNT and obj.taffeta_cloth.sewing
    x = np.array([vertex.co[0] for vertex in obj.data.vertices])
    apart = np.abs(x[[a for a, _ in found]] - x[[b for _, b in found]])
    assert apart.max() == pytest.approx(1.0 if flip else 0.0)


def test_one_rim_is_a_dart(panels):
    obj = panels(9, (True, False))
    assert bpy.ops.taffeta.sew() == {"FINISHED"}
    first = COUNT * COUNT - COUNT
    assert sewn(obj) == [(first, first + 4), (first + 1, first + 3)]


def test_twice_adds_nothing_and_a_whole_panel_is_refused(panels, capfd):
    obj = panels(5)
    bpy.ops.taffeta.sew()
    bpy.ops.taffeta.sew()
    assert len(sewn(obj)) == COUNT
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    with pytest.raises(RuntimeError, match="Panels: more than two selected edges meet at a vertex; select two rims"):
        bpy.ops.taffeta.sew()
    bpy.ops.mesh.select_all(action="DESELECT")
    with pytest.raises(RuntimeError, match="0 lines of edges of faces are selected"):
        bpy.ops.taffeta.sew()
    bpy.ops.object.mode_set(mode="OBJECT")
    assert not bpy.ops.taffeta.sew.poll()


def test_apply_makes_one_piece_of_what_is_sewn(make, scene, tmp_path):
    """Two squares that lie 2 cm apart in their pose are sewn; the copy is one, the garment is kept."""
    scene.frame_end = 8
    scene.taffeta.cache_folder, scene.gravity[2] = str(tmp_path), 0.0
    (low, faces), count = square(COUNT), COUNT * COUNT
    seams = [(count - COUNT + k, count + k) for k in range(COUNT)]
    obj = make.mesh(
        "Panels", np.concatenate([low, low + [0, 1.02, 0]]), [*faces.tolist(), *(faces + count).tolist()], seams
    )
    obj.shape_key_add(name="Basis")
    group = obj.vertex_groups.new(name="half")
    group.add(list(range(count, 2 * count)), 0.5, "REPLACE")
    make.cloth(obj, sewing=True, thickness=0.005, seam_allowance=0.01, seam_layers=3)
    heavy = pytest.approx(0.15 * (2.0 + 2.0 * 2.0 * 0.01), rel=0.005)
    assert weight(obj) == heavy
    obj.modifiers.new("Thick", "SOLIDIFY")
    bpy.context.view_layer.objects.active = obj
    with pytest.raises(RuntimeError, match="Panels has no closed seam in frame 1; bake it"):
        bpy.ops.taffeta.sewing_apply(object="Panels")
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    scene.frame_set(8)
    assert bpy.ops.taffeta.sewing_apply(object="Panels") == {"FINISHED"}
    new = bpy.context.view_layer.objects.active
    assert new.name == "Panels Sewn" and new.taffeta_cloth.enabled and not new.taffeta_cloth.sewing
    assert not new.taffeta_cloth.cache_path and [m.type for m in new.modifiers] == ["SOLIDIFY"]
    assert len(new.data.vertices) == 2 * count - COUNT and len(new.data.polygons) == 2 * len(faces)
    assert not sewn(new) and "half" in new.vertex_groups
    assert sorted(edge.key for edge in new.data.edges if edge.use_seam) == [(k, k + 1) for k in range(20, 24)]
    assert not any(edge.use_seam for edge in obj.data.edges)
    x = np.array([vertex.co for vertex in new.data.vertices])
    assert np.ptp(x[:, 1]) == pytest.approx(2.0, abs=0.02), "drawn together, not as it was modelled"
    assert not obj.taffeta_cloth.enabled and obj.hide_get() and obj.taffeta_cloth.cache_path
    assert len(obj.data.vertices) == 2 * count and len(obj.data.shape_keys.key_blocks) == 1
    new.modifiers.clear()
    assert weight(new) == heavy, "an allowance beside what is marked as seams, too"
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
