# SPDX-License-Identifier: GPL-3.0-or-later
"""Sew Selected Edges, in Edit Mode."""

import bpy
import numpy as np
import pieces
import pytest
import stitched
from quads import read
from taffeta.operators.read import panels
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
def squares(make):
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
def test_rims_of_different_counts_are_sewn(squares, flip):
    obj = squares(9)
    assert not obj.taffeta_cloth.sewing
    assert bpy.ops.taffeta.sew(flip=flip) == {"FINISHED"}
    found = sewn(obj)
    assert len(found) == COUNT and obj.taffeta_cloth.sewing
    x = np.array([vertex.co[0] for vertex in obj.data.vertices])
    apart = np.abs(x[[a for a, _ in found]] - x[[b for _, b in found]])
    assert apart.max() == pytest.approx(1.0 if flip else 0.0)


def test_one_rim_is_a_dart(squares):
    obj = squares(9, (True, False))
    assert bpy.ops.taffeta.sew() == {"FINISHED"}
    first = COUNT * COUNT - COUNT
    assert sewn(obj) == [(first, first + 4), (first + 1, first + 3)]


def test_twice_adds_nothing_and_a_whole_panel_is_refused(squares):
    obj = squares(5)
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


@pytest.fixture
def strip(tmp_path):
    """A function that imports two strips as DXF, 20 and `long` cm wide, and selects a long side of each; returns them."""

    def bring(long=20, selects=True):
        def fill(document):
            for name, width in (("BAND", 200), ("RUFFLE", 10 * long)):
                pieces.piece(document, name, [(0, 0), (width, 0), (width, 100), (0, 100)])

        path = tmp_path / "strips.dxf"
        path.write_bytes(pieces.written(fill))
        assert bpy.ops.taffeta.pattern_import(filepath=str(path), edge_length=0.02) == {"FINISHED"}
        obj = bpy.context.view_layer.objects.active
        own = {panel.name: panel for panel in panels.read(obj, 1.0)}
        sides = stitched.line(own["BAND"], (0, 0), (0.2, 0)) | stitched.line(own["RUFFLE"], (0, 0.1), (long / 100, 0.1))
        stitched.select(obj, sides)
        bpy.ops.object.mode_set(mode="EDIT")
        return obj

    return bring


def sizes(obj):
    """Of each panel its width and height [m] as it is cut, and the diagonal of where it stands."""
    found = {}
    for panel in panels.read(obj, 1.0):
        x = np.array([obj.data.vertices[k].co for k in panel.vertices])
        found[panel.name] = (*np.ptp(panel.flat, axis=0), np.linalg.norm(np.ptp(x, axis=0)))
    return found


@pytest.mark.parametrize(("long", "gather", "wide"), [(30, 2.0, 0.4), (30, 0.0, 0.3), (30, 1.0, 0.2), (20, 1.5, 0.3)])
def test_gather_cuts_the_longer_panel_wider(strip, capfd, long, gather, wide):
    obj = strip(long)
    assert bpy.ops.taffeta.sew(gather=gather) == {"FINISHED"}
    stitch_count = len(sewn(obj))
    bpy.context.view_layer.update()
    found = sizes(obj)
    other = found.pop("BAND") if long > 20 else min(found.values())
    ruffle = max(found.values()) if long == 20 else found["RUFFLE"]
    assert ruffle == pytest.approx((wide, 0.1, np.hypot(wide, 0.1)), abs=1e-5)
    assert other == pytest.approx((0.2, 0.1, np.hypot(0.2, 0.1)), abs=1e-5) and stitch_count == 11
    told = capfd.readouterr().out
    assert (f"one side is {wide / 0.2:.2f} times as long and gathers" in told) == (wide > 0.2)
    assert ("times as wide" in told) == (gather > 0.0)


def test_gather_of_what_is_bent_is_in_the_pattern_alone(strip, capfd):
    """A panel that is rolled about a body stands as it did, and is to be arranged anew."""
    obj = strip(30)
    bpy.ops.object.mode_set(mode="OBJECT")
    before = sizes(obj)["RUFFLE"]
    for vertex in obj.data.vertices:
        vertex.co.y += 3.0 * vertex.co.x**2
    bpy.ops.object.mode_set(mode="EDIT")
    obj.taffeta_cloth.pattern_size = False
    with pytest.raises(RuntimeError, match="is not flat; switch Size from Pattern on"):
        bpy.ops.taffeta.sew(gather=2.0)
    obj.taffeta_cloth.pattern_size = True
    assert bpy.ops.taffeta.sew(gather=2.0) == {"FINISHED"}
    assert "arrange it anew" in capfd.readouterr().out
    bpy.ops.object.mode_set(mode="OBJECT")
    assert sizes(obj)["RUFFLE"][0] == pytest.approx(0.4, abs=1e-5) and before[0] == pytest.approx(0.3, abs=1e-5)


@pytest.mark.parametrize(("gather", "which", "words"), [
    (0.5, (True, True), "a Gather of 0.5 is none; from 1 on it gathers"), (2.0, (True, False), "two lines gather, one longer"),
])  # fmt: skip
def test_a_gather_that_is_none_is_told(squares, gather, which, words):
    squares(5, which)
    with pytest.raises(RuntimeError, match=words):
        bpy.ops.taffeta.sew(gather=gather)


def test_gather_without_a_pattern_draws_the_mesh_out(squares):
    """The upper square, of equal width, becomes twice as wide; the lower one stays."""
    obj = squares(9)
    assert bpy.ops.taffeta.sew(gather=2.0) == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    x = np.array([vertex.co for vertex in obj.data.vertices])
    widths = sorted(np.ptp(x[rows, 0]) for rows in (slice(None, COUNT * COUNT), slice(COUNT * COUNT, None)))
    assert widths == pytest.approx([1.0, 2.0]) and np.ptp(x[:, 1]) == pytest.approx(3.0)
