# SPDX-License-Identifier: GPL-3.0-or-later
"""Corrections of a bake in a real window, with the mouse; pictures of every step stay in out/gui/corrections/."""

STORY = "correct_story", "corrections", 1600, 1100


def test_the_story_comes_to_its_end_and_nothing_raised(result, log):
    assert result["finished"] and "Traceback" not in log and "Error:" not in log, log[-3000:]


def test_a_frame_is_sculpted_by_a_brush_and_done_in_the_header(result):
    assert result["sculpting"] == ["Shawl Frame 18", "SCULPT", False]
    assert result["corrected"] == ["Correction 18"] and result["sculpted_by"] > 1e-3


def test_cloth_is_pushed_out_from_a_dialog(result):
    assert result["pushed"] == ["Correction 18", "Push Out 1-24"]
    assert result["crossings_before"] > 20 and result["crossings_after"] == [0, 0, 0]


def test_cloth_is_smoothed_and_does_not_go_into_the_body_again(result):
    assert result["smoothed_by"] > 1e-4 and result["crossings_smooth"] == 0


def test_a_correction_is_muted_in_the_list(result):
    assert result["muted"] == 0.0
