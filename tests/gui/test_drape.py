# SPDX-License-Identifier: GPL-3.0-or-later
"""The Drape tool in a real window, with the mouse; pictures of every step stay in out/gui/drape/."""

STORY = "drape_story", "drape", 1600, 1100


def test_the_story_comes_to_its_end_and_nothing_raised(result, log):
    assert result["finished"] and "Traceback" not in log and "Error:" not in log, log[-3000:]


def test_the_button_takes_the_tool_in_hand(result):
    assert result["tool"] == ["taffeta.drape", True]


def test_the_mouse_pulls_and_pins_cloth_and_steps_back(result):
    (_, _, up), trouble = result["pulled"]
    assert up > 0.1 and trouble == "" and result["crossings"] == 0
    assert result["pinned"] > 0 and result["unpinned"] == 0


def test_ctrl_takes_pins_off_and_alt_smooths_while_it_is_held(result):
    assert result["shift"] > 0 and result["ctrl"] < result["shift"]
    assert result["smooths"] and not result["smooths_on"]


def test_what_a_script_has_begun_goes_on_by_hand(result):
    assert result["by_script"] == [False, True] and result["by_hand"] == [True, False]


def test_f_changes_the_radius_as_with_brushes(result):
    assert result["radius"] > 65


def test_space_stops_time_and_lets_it_go_on(result):
    assert result["paused"] == ["PAUSE", 0] and result["going_on"] == "FULL"


def test_keep_makes_a_shape_key_and_leaves(result):
    assert result["kept"] == [False, ["Basis", "Drape 1"]]
    assert result["as_it_was_kept"] < 1e-6 and result["key_shows_it"] < 0.2


def test_esc_leaves_all_as_it_was(result):
    assert result["after_esc"] == [False, True] and result["left_all"]
