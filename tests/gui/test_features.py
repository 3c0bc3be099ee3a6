# SPDX-License-Identifier: GPL-3.0-or-later
"""Attach, trims, keys, pleats, tear lines, a zip, a seam, a cage and a pattern in a real window, with the mouse; pictures in out/gui/features/."""

import pytest

STORY = "features_story", "features", 1600, 1100


def test_the_story_comes_to_its_end_and_nothing_raised(result, log):
    assert result["finished"] and "Traceback" not in log and "Error:" not in log, log[-3000:]


def test_attach_asks_and_takes_the_pins(result):
    assert result["attached"] == ["Body", 0.0, 21]
    assert result["detached"] == 0


def test_numbers_are_keyed_under_the_pointer(result):
    assert result["keyed"] == ["taffeta_cloth.attachments[0].weight", "taffeta_cloth.blend_stiffness"]


def test_a_bead_becomes_a_trim(result):
    assert result["trim"] == ["Shawl", "VERTEX_3", True]


def test_a_seam_allowance_is_typed_in_millimetres(result):
    assert result["allowance"] == pytest.approx(0.008)


def test_a_selected_line_becomes_elastic(result):
    assert result["elastic"] == [20, 20]


def test_a_selected_line_becomes_a_pleat_and_another_a_tear_line(result):
    count, pleated = result["pleats"]
    assert count == pleated == 20
    edges, doubled, marked = result["torn"]
    assert marked and edges == 20 and doubled > edges - 2


def test_a_selected_line_becomes_a_zip_that_is_keyed(result):
    edges, doubled, stitches, last, is_sewn = result["zip"]
    assert doubled == stitches == edges + 1 and last == 1.0 and is_sewn
    assert result["zip_keyed"] == ["taffeta_cloth.zip_open"]


def test_two_selected_rims_are_sewn(result):
    vertices, stitches, is_sewn = result["sewn"]
    assert stitches == vertices / 2 == 7 and is_sewn


def test_what_is_sewn_becomes_one_mesh(result):
    name, fewer, stitches, is_hidden, was_cloth, is_cloth = result["applied"]
    assert name == "Panels Sewn" and fewer == stitches == 7
    assert is_hidden and not was_cloth and is_cloth


def test_sewn_panels_may_tear_anywhere(result):
    before, faces, after = result["torn_free"]
    assert before < 0.5 * after and after == 4 * faces  # each quad is its own piece


def test_the_brush_of_elastic_paints_a_group(result):
    assert result["elastic_painted"] == ["WEIGHT_PAINT", "GROUP", True]


def test_weft_is_typed_in_the_panel_of_the_last_operator(result):
    """The line runs along the warp, so that it has three times the strength of 100 N/m."""
    assert result["weft"] == [0.0, 300.0]


def test_a_shell_gets_a_cage_and_is_simulated_itself_again(result):
    assert result["cage"] == ["Blanket Cage", True, False]
    made, before, after = result["cage_vertices"]
    assert 500 < made < 0.55 * before and after == before
    assert 0.002 < result["cage_thickness"] <= 0.012  # [m] as thick as its edges allow
    assert result["removed"] == [True, True]


def test_a_pattern_is_imported_by_the_file_browser(result):
    assert result["pattern"] == ["skirt", True, True, True]


def test_its_panels_are_arranged_around_the_collider(result):
    name, moved, off = result["arranged"]
    assert name == "skirt" and moved > 0.1 and off > 0.5, "outside the ball"
