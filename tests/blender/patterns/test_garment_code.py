# SPDX-License-Identifier: GPL-3.0-or-later
"""GarmentCode's JSON: lengths and areas against closed forms, and what is refused."""

import copy
import json
import math

import bpy  # noqa: F401  (brings mathutils)
import cut
import numpy as np
import pytest
from taffeta.patterns import garment_code, panel


def read(told):
    return garment_code.read(json.dumps(told).encode())


def square(**changes):
    """A panel of 40 cm."""
    own = {"translation": [0, 0, 0], "rotation": [0, 0, 0], "vertices": [[0, 0], [40, 0], [40, 40], [0, 40]]}
    return own | {"edges": cut.edges(4)} | changes


def of(panel_told, stitches=(), **properties):
    return cut.file({"A": panel_told}, list(stitches), **properties)


def test_a_sector_of_a_ring_has_the_lengths_and_the_area_of_one():
    found = read(cut.skirt()).panels[0]
    lengths = [panel.length(line) for line in found.lines]
    side = (cut.OUTER - cut.INNER) / 100
    assert lengths == pytest.approx([side, cut.ANGLE * cut.OUTER / 100, side, cut.ANGLE * cut.INNER / 100], rel=1e-5)
    area = 0.5 * cut.ANGLE * (cut.OUTER**2 - cut.INNER**2) / 1e4
    assert panel.area(panel.outline(found)) == pytest.approx(area, rel=1e-4)


@pytest.mark.parametrize(("large", "right", "bulge"), [(0, 1, -1), (0, 0, 1), (1, 1, -1), (1, 0, 1)])
def test_an_arc_bulges_to_the_side_it_says(large, right, bulge):
    """To the right of the way from (0, 0) to (40, 0) is below; the larger arc of 25 cm is 1.2 times as high."""
    told = of(square(edges=cut.edges(4, e0={"type": "circle", "params": [25, large, right]})))
    line = read(told).panels[0].lines[0]
    away = 0.25 + (0.15 if large else -0.15)  # 25, 20 and 15 cm make a triangle with a right angle
    assert bulge * line[:, 1].max() if bulge > 0 else -line[:, 1].min() == pytest.approx(away, rel=1e-3)
    angle = 2 * math.asin(0.2 / 0.25)
    assert panel.length(line) == pytest.approx(0.25 * (2 * math.pi - angle if large else angle), rel=1e-4)


@pytest.mark.parametrize("curvature", [[0.5, 0.5], {"type": "quadratic", "params": [[0.5, 0.5]]}])
def test_a_quadratic_curve_has_its_area(curvature):
    """2/3 of its triangle of 40 by 20 cm, to the left of its edge, which here is inside."""
    found = read(of(square(edges=cut.edges(4, e0=curvature)))).panels[0]
    assert panel.area(panel.outline(found)) == pytest.approx(0.16 - 2 / 3 * 0.5 * 0.4 * 0.2, rel=1e-4)


def test_a_cubic_curve_and_control_points_in_the_panel_s_own_coordinates():
    """The area below it is that of its polynomial."""
    relative = of(square(edges=cut.edges(4, e0={"type": "cubic", "params": [[0.25, 0.3], [0.75, 0.3]]})))
    absolute = of(
        square(edges=cut.edges(4, e0={"type": "cubic", "params": [[10, 12], [30, 12]]})), curvature_coords="absolute"
    )
    areas = [panel.area(panel.outline(read(told).panels[0])) for told in (relative, absolute)]
    exact = integrate([(0, 0), (0.1, 0.12), (0.3, 0.12), (0.4, 0)])
    assert areas == pytest.approx([0.16 - exact] * 2, rel=1e-4)


def integrate(points):
    """Area under a cubic Bezier curve by its polynomial."""
    polynomials = []
    for p in np.array(points, float).T:
        polynomials.append(
            np.poly1d([-p[0] + 3 * p[1] - 3 * p[2] + p[3], 3 * p[0] - 6 * p[1] + 3 * p[2], 3 * (p[1] - p[0]), p[0]])
        )
    return (polynomials[1] * polynomials[0].deriv()).integ()(1.0)


def test_units_turn_and_place():
    """In millimetres, about y by 90 degrees: what was along x points away from who looks along z; y up becomes z up."""
    told = of(
        square(vertices=[[0, 0], [400, 0], [400, 400], [0, 400]], translation=[0, 1000, 200], rotation=[0, 90, 0]),
        units_in_meter=1000,
    )
    found = read(told).panels[0]
    corners = np.column_stack([panel.outline(found), np.zeros(4), np.ones(4)]) @ found.place.T
    assert corners[:, :3] == pytest.approx(np.array([(0, -0.2, 1.0), (0, 0.2, 1.0), (0, 0.2, 1.4), (0, -0.2, 1.4)]))


def test_a_translation_may_be_that_of_the_middle():
    found = read(of(square(translation=[0, 100, 0]), normalize_panel_translation=True)).panels[0]
    corners = np.column_stack([panel.outline(found), np.zeros(4), np.ones(4)]) @ found.place.T
    assert corners[:, :3].mean(axis=0) == pytest.approx((0.2, 0.0, 1.2))
    assert panel.outline(found).mean(axis=0) == pytest.approx((0.0, 0.0))


def changed(change):
    told = copy.deepcopy(cut.shirt())
    change(told["pattern"]["panels"], told["pattern"]["stitches"])
    return json.dumps(told).encode()


def set_in(where, *value):
    def change(panels, stitches):
        at = {"panels": panels, "stitches": stitches}
        for key in where[:-1]:
            at = at[key]
        if value:
            at[where[-1]] = value[0]
        else:
            del at[where[-1]]

    return changed(change)


BAD = {
    "no JSON": (b'{"pattern": {\n "panels": }}', "line 2 is no JSON"),
    "empty": (b"", "line 1 is no JSON"),
    "not text": (b"\xff\xfe\x00\x81", "it is not text"),
    "another JSON": (b"[1, 2]", "no pattern of GarmentCode"),
    "a deep one": (b"[" * 200_000, "nested too deeply"),
    "a NaN": (json.dumps(of(square(vertices=[[0, 0], [float("nan"), 0], [1, 1]]))).encode(), "a number is NaN"),
    "no panels": (json.dumps(cut.file({}, [])).encode(), "no panels"),
    "a panel gone": (set_in(("panels", "back")), "stitch 0 names a panel that is not there: back"),
    "an edge gone": (set_in(("stitches", 3, 1, "edge"), 40), "stitch 3 names edge 40 of panel 'back', which has edges 0 to 11"),
    "an edge of words": (set_in(("stitches", 3, 1, "edge"), "x"), "stitch 3 names edge x"),
    "one edge": (set_in(("stitches", 2), [{"panel": "back", "edge": 1}]), "stitch 2 needs two edges"),
    "to itself": (set_in(("stitches", 0), cut.stitch(("back", 1), ("back", 1))), "stitch 0 sews edge 1 of panel 'back' to itself"),
    "no vertices": (set_in(("panels", "back", "vertices")), "panel 'back' has no vertices"),
    "a vertex of three": (set_in(("panels", "back", "vertices", 4), [1, 2, 3]), "panel 'back', vertices: number 4 needs 2 coordinates"),
    "a vertex of words": (set_in(("panels", "back", "vertices", 4), ["1", 2]), "panel 'back', vertices, number 4: 1 is no number"),
    "a large number": (set_in(("panels", "back", "vertices", 4), [1e30, 0]), "panel 'back', edge 3 reaches farther than 100 m"),
    "a huge one": (b'{"pattern": {"panels": {"A": {"vertices": [[1e999, 0]], "edges": []}}}}', "panel 'A', vertices, number 0"),
    "a long one": (b'{"pattern": {"panels": {"A": {"vertices": [[1' + b"0" * 9999 + b', 0]]}}}}', "digits"),
    "no such vertex": (set_in(("panels", "back", "edges", 2, "endpoints"), [2, 99]), "panel 'back', edge 2 ends at a vertex that is not there"),
    "a gap": (set_in(("panels", "back", "edges", 2, "endpoints"), [2, 5]), "panel 'back', edge 3 does not begin where edge 2 ends"),
    "no length": (set_in(("panels", "back", "vertices", 3), [22, -5]), "panel 'back', edge 2 has no length"),
    "a wave": (set_in(("panels", "back", "edges", 2, "curvature"), {"type": "wave"}), "panel 'back', edge 2 is curved in a way that is not known: wave"),
    "no control": (set_in(("panels", "back", "edges", 2, "curvature"), {"type": "cubic", "params": [[0, 0]]}), "panel 'back', edge 2 is cubic and needs 2"),
    "no radius": (set_in(("panels", "back", "edges", 2, "curvature"), {"type": "circle", "params": [-1, 0, 0]}), "panel 'back', edge 2 has a radius"),
    "far away": (set_in(("panels", "back", "translation"), [0, 1e20, 0]), "panel 'back' stands farther away than 100 m"),
    "flat": (json.dumps(of(square(vertices=[[0, 0], [9, 0], [5, 0], [3, 0]]))).encode(), "panel 'A' encloses no area"),
    "many edges": (json.dumps(of(square(edges=cut.edges(5000)))).encode(), "panel 'A' has 5,000 edges"),
    "no units": (json.dumps(of(square(), units_in_meter=0)).encode(), "units_in_meter is 0"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_files_are_refused_in_one_sentence(name):
    data, words = BAD[name]
    with pytest.raises(ValueError) as refused:
        garment_code.read(data)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value) and len(str(refused.value)) < 200
