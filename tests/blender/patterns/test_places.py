# SPDX-License-Identifier: GPL-3.0-or-later
"""Where panels belong, by names as pattern programs give them, and in which order they stand."""

import pytest
from taffeta.patterns import places

NAMED = [
    ("FRONT", "FRONT"), ("Back-1", "BACK"), ("CENTER FRONT", "FRONT"), ("SIDE BACK mirrored", "BACK"), ("BK", "BACK"), ("Vorderteil", "FRONT"),
    ("Rückenteil", "BACK"), ("Left Sleeve", "LEFT_ARM"), ("RIGHT-SLV", "RIGHT_ARM"), ("Kragen", "NECK"), ("COLLAR STAND", "NECK"), ("Bund", "WAIST"),
    ("WAISTBAND", "WAIST"), ("SKIRT FRONT", "FRONT_LOW"), ("PANTS_BACK_L", "BACK_LOW"), ("Hose vorne", "FRONT_LOW"), ("pocket front", "STAY"), ("BACK YOKE", "STAY"),
    ("SIDE", "LEFT"), ("SIDE mirrored", "RIGHT"), ("right_ftorso", "FRONT"), ("left_btorso", "BACK"), ("left_sleeve_f", "LEFT_ARM"), ("wb_back", "WAIST"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "place"), NAMED)
def test_a_name_tells_a_place(name, place):
    assert places.guess([name], [0.1]) == [place]


@pytest.mark.parametrize(("names", "areas", "garment", "found"), [
    (["SLEEVE", "SLEEVE mirrored"], [0.1, 0.1], "", ["LEFT_ARM", "RIGHT_ARM"]),
    (["SLEEVE 1", "SLEEVE 2"], [0.1, 0.1], "", ["LEFT_ARM", "RIGHT_ARM"]),
    (["A", "B", "C", "C mirrored", "D"], [0.30, 0.32, 0.1, 0.1, 0.02], "shirt", ["FRONT", "BACK", "LEFT_ARM", "RIGHT_ARM", "STAY"]),
    (["A", "B", "C"], [0.5, 0.2, 0.1], "", ["FRONT", "BACK", "LEFT_ARM"]),
    (["FRONT", "BACK", "X"], [0.3, 0.3, 0.1], "circle_skirt", ["FRONT_LOW", "BACK_LOW", "STAY"]),
])  # fmt: skip
def test_pairs_go_to_both_sides_and_the_rest_by_size(names, areas, garment, found):
    assert places.guess(names, areas, garment) == found


@pytest.mark.parametrize(("names", "middles", "is_back", "order"), [
    (["FRONT", "FRONT mirrored"], [-1, 1], False, [1, 0]), (["FRONT", "FRONT mirrored"], [1, -1], False, [0, 1]),
    (["FRONT LEFT", "FRONT RIGHT"], [0, 0], False, [1, 0]), (["BACK LEFT", "BACK RIGHT"], [0, 0], True, [0, 1]),
    (["SIDE FRONT", "FRONT", "FRONT mirrored", "SIDE FRONT mirrored"], [0, 1, -1, 0], False, [0, 1, 2, 3]),
])  # fmt: skip
def test_halves_stand_with_their_straight_sides_together(names, middles, is_back, order):
    assert places.order(names, middles, is_back) == order
