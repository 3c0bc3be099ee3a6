# SPDX-License-Identifier: GPL-3.0-or-later
"""DXF of AAMA and ASTM: files that ezdxf writes; areas and lengths against closed forms; what is refused."""

import bpy  # noqa: F401  (brings mathutils)
import numpy as np
import pytest
from pieces import FRONT, piece, shoelace, told, written
from taffeta.patterns import dxf, panel, panel_mesh


@pytest.mark.parametrize("kind", ["polyline", "lines"])
@pytest.mark.parametrize("version", ["R12", "R2010"])
def test_a_piece_has_the_area_and_the_lines_of_its_outline(kind, version):
    found = dxf.read(written(lambda d: piece(d, "FRONT", FRONT, kind=kind), version, INSUNITS=4))
    one = found.panels[0]
    assert (one.name, len(one.lines), found.stitches) == ("FRONT", len(FRONT), ())
    assert panel.area(panel.outline(one)) == pytest.approx(shoelace(FRONT) / 1e6, rel=1e-6)
    lengths = sorted(panel.length(line) for line in one.lines)
    sides = sorted(np.hypot(*np.diff([*FRONT, FRONT[0]], axis=0).T) / 1000)
    assert lengths == pytest.approx(sides)


@pytest.mark.parametrize(("texts", "header", "metres"), [
    (["UNITS: METRIC"], {}, 1e-3), (["UNITS: ENGLISH"], {}, 0.0254), ([], {"INSUNITS": 5}, 1e-2),
    (["UNITS: METRIC"], {"INSUNITS": 1}, 1e-3),
])  # fmt: skip
def test_units_are_those_of_the_text_then_of_the_header(texts, header, metres):
    def fill(document):
        piece(document, "A", [(0, 0), (10, 0), (10, 10), (0, 10)])
        told(document, *texts)

    one = dxf.read(written(fill, "R2010", **header)).panels[0]
    assert panel.length(one.lines[0]) == pytest.approx(10 * metres)


def test_the_warp_runs_along_the_grain_line_and_stands_upright():
    """A grain line along x: x points up in the world, and along u of the pattern."""
    found = dxf.read(written(lambda d: piece(d, "A", FRONT, grain=((0, 0), (100, 0)))))
    made = panel_mesh.mesh(found, 0.03)
    assert found.panels[0].grain == pytest.approx((1.0, 0.0))
    assert np.ptp(made.x, axis=0) == pytest.approx((0.5, 0.0, 0.3), abs=1e-6)
    assert np.ptp(made.flat, axis=0) == pytest.approx((0.3, 0.5), abs=1e-6)
    assert np.corrcoef(made.flat[:, 0], made.x[:, 2])[0, 1] == pytest.approx(1.0)
    normal = np.cross(*(made.x[made.triangles[:, k]] - made.x[made.triangles[:, 0]] for k in (1, 2)))
    assert (normal[:, 1] < 0.0).all(), "its outside looks where a body at the origin does"


def test_the_sew_line_is_taken_where_there_is_one():
    inner = [(10, 10), (290, 10), (290, 390), (200, 480), (10, 440)]

    def fill(document):
        piece(document, "A", FRONT).add_polyline2d(inner, close=True, dxfattribs={"layer": "14"})

    one = dxf.read(written(fill)).panels[0]
    assert panel.area(panel.outline(one)) == pytest.approx(shoelace(inner) / 1e6)


def test_turn_points_are_corners_and_notches_are_vertices():
    """A half circle of 64 chords is one line; two turn points part it from its base, and a notch parts that."""
    angle = np.linspace(0.0, np.pi, 65)
    arc = [(200 * np.cos(a), 200 * np.sin(a)) for a in angle]

    def fill(document):
        block = piece(document, "A", arc)
        for point in (arc[0], arc[-1]):
            block.add_point(point, dxfattribs={"layer": "2"})
        block.add_point((50, 8), dxfattribs={"layer": "4"})

    one = dxf.read(written(fill)).panels[0]
    assert sorted(panel.length(line) for line in one.lines) == pytest.approx([0.15, 0.25, 0.2 * np.pi], rel=1e-3)
    ends = np.array([line[0] for line in one.lines])
    assert np.hypot(*(ends - (0.05, 0.0)).T).min() < 1e-9


def test_bulges_are_arcs():
    """Two half circles make a whole one."""

    def fill(document):
        block = document.blocks.new("A")
        block.add_polyline2d([(0, 0, 1.0), (200, 0, 1.0)], format="xyb", close=True, dxfattribs={"layer": "1"})

    one = dxf.read(written(fill)).panels[0]
    assert panel.area(panel.outline(one)) == pytest.approx(np.pi * 0.1**2, rel=2e-3)


def test_a_piece_on_the_fold_is_unfolded():
    fold = [(0, 0), (0, 450)]
    found = dxf.read(written(lambda d: piece(d, "A", FRONT).add_line(*fold, dxfattribs={"layer": "6"})))
    ring = panel.outline(found.panels[0])
    assert panel.area(ring) == pytest.approx(2 * shoelace(FRONT) / 1e6)
    assert ring.min(axis=0) == pytest.approx((-0.3, 0.0)) and ring.max(axis=0) == pytest.approx((0.3, 0.5))
    assert (np.hypot(*(ring - np.roll(ring, 1, axis=0)).T) > 0.05).all()


def test_pieces_stand_beside_each_other_and_one_size_is_taken():
    def fill(document):
        for size, scale in (("S", 0.9), ("M", 1.0), ("L", 1.1)):
            piece(document, f"FRONT_{size}", [(scale * x, scale * y) for x, y in FRONT], size)
            piece(document, f"BACK_{size}", [(scale * x, scale * y) for x, y in FRONT], size)
        told(document, "SAMPLE SIZE: M")

    found = dxf.read(written(fill))
    assert [one.name for one in found.panels] == ["FRONT_M", "BACK_M"]
    made = panel_mesh.mesh(found, 0.03)
    ends = [(made.x[made.panel == k, 0].min(), made.x[made.panel == k, 0].max()) for k in (0, 1)]
    assert ends[0][1] < ends[1][0] and ends[0][0] == pytest.approx(-ends[1][1])
    assert made.x[:, 2].min() == pytest.approx(0.0) and (made.x[:, 1] == made.x[0, 1]).all()


GOOD = written(lambda d: piece(d, "FRONT", FRONT))
BAD = {
    "empty": (b"", "line 1 is no DXF"),
    "words": (b"Dear tailor,\n", "line 1 is no DXF"),
    "binary": (b"AutoCAD Binary DXF\r\n\x1a\x00", "it is no text file"),
    "no pieces": (written(lambda d: None), "no block with an outline on layer 1"),
    "another layer": (written(lambda d: piece(d, "A", FRONT, layer="Outline")), "no block with an outline on layer 1"),
    "open": (written(lambda d: d.blocks.new("A").add_line((0, 0), (1, 1), dxfattribs={"layer": "1"})), "panel 'A': its outline on layer 1 does not close: it ends at (0, 0) and at (1, 1), 1.41 apart"),
    "flat": (written(lambda d: piece(d, "A", [(0, 0), (9, 0), (5, 0), (3, 0)])), "panel 'A': its outline on layer 1 encloses no area"),
    "far": (written(lambda d: piece(d, "A", [(0, 0), (1e30, 0), (5, 9)])), "panel 'A': a line on layer 1 reaches farther than 100 m"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_files_are_refused_in_one_sentence(name):
    data, words = BAD[name]
    with pytest.raises(ValueError) as refused:
        dxf.read(data)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value) and len(str(refused.value)) < 250


def test_an_outline_of_too_many_points_is_refused(monkeypatch):
    monkeypatch.setattr(dxf, "MOST_POINTS", 4)
    with pytest.raises(ValueError, match="panel 'FRONT': its lines on layer 1 have more than 4 points"):
        dxf.read(GOOD)


def test_spoilt_files_are_read_or_refused_and_never_more():
    """Bytes changed, lines gone, cut short: 60 files, each a pattern or a sentence."""
    rng = np.random.default_rng(3)
    lines = GOOD.split(b"\n")
    refused = 0
    for k in range(60):
        if k % 3 == 0:
            spoilt = GOOD[: rng.integers(len(GOOD))]
        elif k % 3 == 1:
            at = rng.integers(len(lines), size=4)
            spoilt = b"\n".join(line for number, line in enumerate(lines) if number not in at)
        else:
            spoilt = bytearray(GOOD)
            spoilt[rng.integers(len(GOOD))] = rng.integers(1, 128)
            spoilt = bytes(spoilt)
        try:
            found = dxf.read(spoilt)
        except ValueError as error:
            refused += 1
            assert str(error) and "\n" not in str(error)
        else:
            assert all(np.isfinite(panel.outline(one)).all() for one in found.panels)
    assert 5 < refused < 60


@pytest.mark.parametrize(("text", "count"), [
    ("QUANTITY: 2", 2), ("Quantity: 1,1", 2), ("QUANTITY: 1", 1), ("QUANTITY: two", 1), ("QUANTITY: 99999999999999999999", 2),
])  # fmt: skip
def test_a_piece_that_is_cut_twice_comes_with_its_mirror_image(text, count):
    """Both have one area and one warp, seen from outside each; lines come in the other order, and panels stand clear of each other."""

    def fill(document):
        piece(document, "SLEEVE", FRONT, grain=((0, 0), (30, 100))).add_text(text, dxfattribs={"layer": "1"})

    found = dxf.read(written(fill)).panels
    assert [one.name for one in found] == ["SLEEVE", "SLEEVE mirrored"][:count]
    if count == 1:
        return
    one, other = found
    assert panel.area(panel.outline(one)) == pytest.approx(panel.area(panel.outline(other)), rel=1e-9)
    lengths = [[panel.length(line) for line in each.lines] for each in found]
    assert lengths[0] == pytest.approx(lengths[1][::-1])
    for k, line in enumerate(other.lines):
        np.testing.assert_allclose(line[-1], other.lines[(k + 1) % len(other.lines)][0], atol=1e-12)
    world = [panel.outline(each) @ each.place[:3, :2].T + each.place[:3, 3] for each in found]
    assert world[0][:, 0].max() < world[1][:, 0].min()
    turned = world[1] * [-1, 1, 1]
    assert np.sort(turned[:, 0]) - turned[:, 0].min() == pytest.approx(
        np.sort(world[0][:, 0]) - world[0][:, 0].min(), abs=1e-9
    )
    assert np.sort(turned[:, 2]) == pytest.approx(np.sort(world[0][:, 2]), abs=1e-9)


def test_the_mesh_has_edges_along_internal_lines():
    """A straight line from border to border, a curve within, and two lines that cross: edges on each, areas as before."""
    wave = [(60 + 20 * np.sin(k / 3), 40 + 10 * k) for k in range(30)]

    def fill(document):
        block = piece(document, "A", FRONT)
        block.add_line((0, 200), (300, 200), dxfattribs={"layer": "8"})
        block.add_polyline2d(wave, dxfattribs={"layer": "8"})
        block.add_line((150, 500), (250, -50), dxfattribs={"layer": "8"})

    found = dxf.read(written(fill))
    made = panel_mesh.mesh(found, 0.012)
    plain = panel_mesh.mesh(dxf.read(written(lambda d: piece(d, "A", FRONT))), 0.012)
    ends = made.flat[made.folds]  # warp along u: (y, -x) of the file
    first = (np.abs(ends[:, :, 0] - 0.2) < 1e-6).all(axis=1)
    size = np.hypot(*(ends[:, 0] - ends[:, 1]).T)
    assert size[first].sum() == pytest.approx(0.3, abs=1e-6)
    assert size.sum() == pytest.approx(0.3 + panel.length(np.array(wave) / 1e3) + 0.47, abs=0.06)
    sides = (each.flat[each.triangles][:, 1:] - each.flat[each.triangles][:, :1] for each in (made, plain))
    one, other = (0.5 * np.linalg.det(side) for side in sides)
    assert (one > 0.0).all() and one.sum() == pytest.approx(other.sum(), rel=1e-6)
    assert not len(plain.folds)


def test_internal_lines_are_mirrored_where_a_piece_is_unfolded():
    def fill(document):
        block = piece(document, "A", FRONT)
        block.add_line((0, 0), (0, 450), dxfattribs={"layer": "6"})
        block.add_line((100, 100), (100, 300), dxfattribs={"layer": "8"})

    folds = dxf.read(written(fill)).panels[0].folds
    assert sorted(line[:, 0].mean() for line in folds) == pytest.approx([-0.1, 0.1])


def test_internal_lines_of_more_than_a_garment_are_refused():
    def fill(document):
        block = piece(document, "A", FRONT)
        for k in range(1000):
            block.add_line((0, k), (90_000, k), dxfattribs={"layer": "8"})

    with pytest.raises(ValueError, match="more than 400,000"):
        panel_mesh.mesh(dxf.read(written(fill)), 0.01)
