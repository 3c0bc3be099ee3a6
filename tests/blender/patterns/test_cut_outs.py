# SPDX-License-Identifier: GPL-3.0-or-later
"""Cut-outs of DXF patterns, layer 11, in files that ezdxf writes: holes of the mesh, and what is refused."""

import bpy
import numpy as np
import pytest
from pieces import FRONT, piece, shoelace, written
from taffeta.patterns import dxf, panel, panel_mesh

SQUARE = [(100, 100), (180, 100), (180, 160), (100, 160)]  # [mm]
EDGE = 0.012
ON = {"layer": "11"}


def cut(*draw, **more):
    """A front with cut-outs that functions draw into its block."""

    def fill(document):
        block = piece(document, "FRONT", FRONT, **more)
        for each in draw:
            each(block)

    return written(fill)


def square(block):
    block.add_polyline2d(SQUARE, close=True, dxfattribs=ON)


def circle(block):
    block.add_circle((200, 300), 30, dxfattribs=ON)


def area_of(made):
    one = made.x[made.triangles]
    return 0.5 * np.linalg.norm(np.cross(one[:, 1] - one[:, 0], one[:, 2] - one[:, 0]), axis=1).sum()


def borders(made):
    """Vertices of each ring of edges with one triangle."""
    sides = np.sort(made.triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    ends, count = np.unique(sides, axis=0, return_counts=True)
    rings = []
    for a, b in ends[count == 1].tolist():
        joined = [ring for ring in rings if ring & {a, b}]
        rings = [ring for ring in rings if ring not in joined] + [{a, b}.union(*joined)]
    return sorted(rings, key=len)


def test_closed_lines_are_holes_with_their_area_and_their_corners():
    made = panel_mesh.mesh(dxf.read(cut(square, circle)), EDGE)
    wanted = (shoelace(FRONT) - shoelace(SQUARE)) / 1e6 - np.pi * 0.03**2
    assert area_of(made) == pytest.approx(wanted, rel=2e-3)
    assert area_of(panel_mesh.mesh(dxf.read(cut()), EDGE)) == pytest.approx(shoelace(FRONT) / 1e6)
    rings = borders(made)
    assert len(rings) == 3 and set().union(*rings) < set(range(len(made.x)))
    assert len(np.unique(made.triangles)) == len(made.x), "and nothing is left in them"
    across = [np.linalg.norm(made.x[list(ring)][:, None] - made.x[list(ring)], axis=2).max() for ring in rings[:2]]
    assert sorted(across) == pytest.approx([0.06, 0.1], rel=5e-3), (
        "a circle's diameter, and a square's from corner to corner"
    )
    size = np.linalg.norm(made.x[made.triangles][:, 1] - made.x[made.triangles][:, 0], axis=1)
    assert 0.3 * EDGE < size.min() and size.max() < 2.0 * EDGE, "even, as everywhere"


def test_lines_that_meet_make_one_and_internal_lines_end_there():
    def lines(block):
        for k in (2, 0, 3, 1):
            block.add_line(SQUARE[k], SQUARE[(k + 1) % 4], dxfattribs=ON)
        block.add_line((0, 130), (300, 130), dxfattribs={"layer": "8"})

    made = panel_mesh.mesh(dxf.read(cut(lines)), EDGE)
    assert len(borders(made)) == 2 and area_of(made) == pytest.approx((shoelace(FRONT) - shoelace(SQUARE)) / 1e6)
    ends = made.x[made.folds]
    assert np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1).sum() == pytest.approx(0.3 - 0.08, abs=1.5 * EDGE)


def test_holes_are_mirrored_with_their_piece_and_halves_at_the_fold_make_one():
    def half(block):
        block.add_line((0, 0), (0, 450), dxfattribs={"layer": "6"})
        block.add_polyline2d([(0, 200), (40, 200), (40, 260), (0, 260)], dxfattribs=ON)
        circle(block)

    made = panel_mesh.mesh(dxf.read(cut(half)), EDGE)
    assert len(borders(made)) == 4, "one across the fold, two circles"
    assert area_of(made) == pytest.approx(2 * (shoelace(FRONT) / 1e6 - 0.04 * 0.06 - np.pi * 0.03**2), rel=2e-3)
    twice = dxf.read(cut(square, lambda block: block.add_text("QUANTITY: 2", dxfattribs={"layer": "1"}))).panels
    assert [panel.area(panel.ring_of(one.holes[0])) for one in twice] == pytest.approx([0.0048, 0.0048])
    assert len(borders(panel_mesh.mesh(panel.Pattern(twice, ()), EDGE))) == 4


def test_a_hole_smaller_than_an_edge_is_three_edges():
    made = panel_mesh.mesh(dxf.read(cut(lambda block: block.add_circle((150, 150), 2, dxfattribs=ON))), EDGE)
    assert [len(ring) for ring in borders(made)][0] == 3


BAD = {
    "open": (lambda b: b.add_polyline2d(SQUARE, dxfattribs=ON), "panel 'FRONT': cut-out 1 on layer 11, which begins at (100, 100), is open; close it, or draw it on layer 8"),
    "flat": (lambda b: b.add_polyline2d([(10, 10), (50, 10), (30, 10)], close=True, dxfattribs=ON), "cut-out 1 on layer 11, which begins at (10, 10), encloses no area"),
    "outside": (lambda b: b.add_circle((290, 200), 30, dxfattribs=ON), "panel 'FRONT': its cut-out 1 reaches outside the outline"),
    "away": (lambda b: b.add_circle((900, 200), 30, dxfattribs=ON), "panel 'FRONT': its cut-out 1 reaches outside the outline"),
    "in another": (lambda b: (square(b), b.add_circle((140, 130), 5, dxfattribs=ON)), "panel 'FRONT': its cut-outs 2 and 1 overlap; make one of both"),
    "over another": (lambda b: (square(b), b.add_circle((180, 130), 20, dxfattribs=ON)), "panel 'FRONT': its cut-outs 2 and 1 overlap"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_hole_is_refused_in_one_sentence(name):
    draw, words = BAD[name]
    with pytest.raises(ValueError) as refused:
        dxf.read(cut(draw))
    assert words in str(refused.value) and "\n" not in str(refused.value) and len(str(refused.value)) < 200


def test_a_side_that_leaves_the_outline_between_its_corners_is_refused():
    """A notch of the outline reaches into the hole; all corners of both are clear."""
    outline = [(0, 0), (300, 0), (300, 200), (160, 200), (150, 100), (140, 200), (0, 200)]

    def fill(document):
        piece(document, "A", outline).add_polyline2d(
            [(100, 80), (200, 80), (200, 150), (100, 150)], close=True, dxfattribs=ON
        )

    with pytest.raises(ValueError, match=r"panel 'A': edge \d and cut-out 1 meet"):
        panel_mesh.mesh(dxf.read(written(fill)), EDGE)


def test_a_file_with_cut_outs_is_imported_as_a_mesh_with_holes(saved, tmp_path):
    path = tmp_path / "front.dxf"
    path.write_bytes(cut(square, circle))
    assert bpy.ops.taffeta.pattern_import(filepath=str(path), edge_length=EDGE) == {"FINISHED"}
    mesh = bpy.context.object.data
    assert len(mesh.vertices) - len(mesh.edges) + len(mesh.polygons) == -1, "Euler's number of a disk with two holes"
    path.write_bytes(cut(BAD["open"][0]))
    with pytest.raises(RuntimeError, match="FRONT': cut-out 1 on layer 11"):
        bpy.ops.taffeta.pattern_import(filepath=str(path))
