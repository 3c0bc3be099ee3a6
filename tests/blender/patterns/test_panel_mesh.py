# SPDX-License-Identifier: GPL-3.0-or-later
"""Panels as meshes: areas, even edges, a vertex to a vertex along seams; what is refused before it is made."""

import json

import bpy  # noqa: F401  (brings mathutils)
import cut
import numpy as np
import pytest
from taffeta.patterns import garment_code, panel, panel_mesh

EDGE = 0.02


def pattern(told):
    return garment_code.read(json.dumps(told).encode())


def areas(points, triangles):
    a, b, c = (points[triangles[:, k]] for k in range(3))
    return 0.5 * ((b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0])


@pytest.fixture(scope="module", params=["shirt", "skirt"])
def cut_out(request):
    """A pattern and its mesh."""
    found = pattern(getattr(cut, request.param)())
    return found, panel_mesh.mesh(found, EDGE)


def test_panels_have_the_areas_of_their_outlines(cut_out):
    found, made = cut_out
    area = areas(made.flat, made.triangles)
    assert (area > 0.0).all(), "the pattern is seen from outside"
    for number, one in enumerate(found.panels):
        own = area[made.panel[made.triangles[:, 0]] == number].sum()
        assert own == pytest.approx(abs(panel.area(panel.outline(one))), rel=0.01)
    solid = np.linalg.norm(
        np.cross(*(made.x[made.triangles[:, k]] - made.x[made.triangles[:, 0]] for k in (1, 2))), axis=1
    )
    assert 0.5 * solid == pytest.approx(area, rel=1e-6)


def test_edges_are_even(cut_out):
    _, made = cut_out
    ends = np.unique(np.sort(made.triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1), axis=0)
    lengths = np.linalg.norm(made.flat[ends[:, 0]] - made.flat[ends[:, 1]], axis=1)
    assert 0.4 * EDGE < lengths.min() and lengths.max() < 2.0 * EDGE
    assert np.median(lengths) == pytest.approx(EDGE, rel=0.05)
    assert (np.bincount(ends.ravel()) > 1).all()


def test_seams_join_vertex_to_vertex(cut_out):
    """Both sides' lines end to end, so that sewn lines of the same length lie on each other when the panels do."""
    found, made = cut_out
    sewn = np.sum([np.rint(panel.length(found.panels[s.one.panel].lines[s.one.line]) / EDGE) for s in found.stitches])
    corners = sum(1 for s in found.stitches)
    assert sewn <= len(made.seams) <= sewn + corners
    one, other = made.x[made.seams[:, 0]], made.x[made.seams[:, 1]]
    assert (made.panel[made.seams[:, 0]] != made.panel[made.seams[:, 1]]).all()
    assert one[:, [0, 2]] == pytest.approx(other[:, [0, 2]], abs=1e-9), "straight across, from front to back"


def test_outsides_look_away_from_the_body(cut_out):
    """The front's to -y, where who wears it looks; the back's to y. UVs run up along u, on both."""
    _, made = cut_out
    normal = np.cross(*(made.x[made.triangles[:, k]] - made.x[made.triangles[:, 0]] for k in (1, 2)))
    is_front = made.panel[made.triangles[:, 0]] == 0
    assert (normal[is_front, 1] < 0.0).all() and (normal[~is_front, 1] > 0.0).all()
    for number in (0, 1):
        own = made.panel == number
        up = np.ptp(made.flat[own, 0]), np.corrcoef(made.flat[own, 0], made.x[own, 2])[0, 1]
        assert up == pytest.approx((np.ptp(made.x[own, 2]), 1.0))


def test_panels_lie_beside_each_other_in_the_pattern(cut_out):
    _, made = cut_out
    boxes = [(made.flat[made.panel == k].min(axis=0), made.flat[made.panel == k].max(axis=0)) for k in (0, 1)]
    assert np.any(boxes[0][1] < boxes[1][0]) or np.any(boxes[1][1] < boxes[0][0])


def test_a_longer_line_gathers():
    """Sewn to a line half as long, each has as many vertices."""
    wide = {"vertices": [[0, 0], [80, 0], [80, 40], [0, 40]], "edges": cut.edges(4), "translation": [0, 0, 0]}
    slim = wide | {"vertices": [[0, 0], [40, 0], [40, 40], [0, 40]]}
    made = panel_mesh.mesh(pattern(cut.file({"A": wide, "B": slim}, [cut.stitch(("A", 0), ("B", 2))])), EDGE)
    assert len(made.seams) == 41
    lengths = [np.ptp(made.flat[made.seams[:, k]], axis=0).max() for k in (0, 1)]
    assert lengths == pytest.approx([0.8, 0.4])


def test_a_dart_is_sewn_about_its_tip():
    dart = {"vertices": [[0, 0], [18, 0], [20, 20], [22, 0], [40, 0], [40, 40], [0, 40]], "edges": cut.edges(7)}
    made = panel_mesh.mesh(pattern(cut.file({"A": dart}, [cut.stitch(("A", 1), ("A", 2))])), EDGE)
    one, other = made.flat[made.seams[:, 0]], made.flat[made.seams[:, 1]]
    assert len(made.seams) == 10, "ten parts; the tip is one vertex"
    assert one[:, 0] == pytest.approx(other[:, 0], abs=1e-9)
    ends = np.unique(np.sort(made.triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1) @ (10_000, 1))
    assert not np.isin(np.sort(made.seams, axis=1) @ (10_000, 1), ends).any()


def test_turned_stitches_join_beginning_to_beginning():
    flat = {"vertices": [[0, 0], [40, 0], [40, 40], [0, 40]], "edges": cut.edges(4), "translation": [0, 0, 0]}
    sewn = cut.stitch(("A", 0), ("B", 0))
    for words, sign in (([], -1.0), (["right_wrong"], 1.0)):
        made = panel_mesh.mesh(pattern(cut.file({"A": flat, "B": flat}, [sewn + words])), EDGE)
        x = made.x[made.seams, 0]
        assert np.corrcoef(x.T)[0, 1] == pytest.approx(sign)


@pytest.mark.parametrize("vertices", [
    [[0, 0], [40, 40], [40, 0], [0, 50]],  # crosses
    [[0, 0], [40, 0], [40, 40], [20, 0], [0, 40]],  # touches
])  # fmt: skip
def test_outlines_that_cross_themselves_are_refused(vertices):
    bow = {"vertices": vertices, "edges": cut.edges(len(vertices))}
    with pytest.raises(ValueError, match=r"panel 'Bow': its outline crosses itself where edges \d and \d meet"):
        panel_mesh.mesh(pattern(cut.file({"Bow": bow}, [])), EDGE)


def test_a_mesh_that_would_be_too_large_is_refused_before_it_is_made(monkeypatch):
    """Panels of 10 m with edges of 1 mm: 115 million vertices."""
    side = {"vertices": [[0, 0], [1000, 0], [1000, 1000], [0, 1000]], "edges": cut.edges(4)}
    found = pattern(cut.file({"A": side}, []))
    monkeypatch.setattr(panel_mesh, "along", lambda *_: pytest.fail("points were made"))
    with pytest.raises(
        ValueError, match=r"about 115,\d\d\d,\d\d\d vertices, more than 400,000; use an Edge Length of 19 mm"
    ):
        panel_mesh.mesh(found, 0.001)


def test_of_edges_that_cross_those_stay_that_one_after_the_other_leaves():
    rng = np.random.default_rng(3)
    points = rng.uniform(0.0, 1.0, (60, 2))
    walls, pairs = (np.sort([rng.choice(60, 2, replace=False) for _ in range(count)], axis=1) for count in (3, 80))

    def is_left(a, b, c):
        return np.linalg.det([points[b] - points[a], points[c] - points[a]]) > 0.0

    def crosses(a, b, c, d):
        return not {a, b} & {c, d} and is_left(a, b, c) != is_left(a, b, d) and is_left(c, d, a) != is_left(c, d, b)

    known, expected = walls.tolist(), []
    for pair in pairs.tolist():
        expected.append(not any(crosses(*pair, *other) for other in known))
        known += [pair] * expected[-1]
    assert panel_mesh._apart(points, walls, pairs).tolist() == expected and 5 < sum(expected) < 60
