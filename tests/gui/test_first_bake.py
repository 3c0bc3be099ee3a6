# SPDX-License-Identifier: GPL-3.0-or-later
"""README's *Your first bake*, walked with the mouse in a window; pictures stay in out/gui/first_bake_WIDTH/."""

from pathlib import Path

import pytest

OUT = Path(__file__).resolve().parents[2] / "out" / "gui"
FRAMES = 40
SAME = 9  # pixels between two places of a button that has not moved: the steps in which the pointer looks


@pytest.fixture(scope="module", params=[(1920, 1080), (1366, 768)], ids=lambda size: f"{size[0]}x{size[1]}")
def result(tell, request):
    """What the walk wrote down."""
    width, height = request.param
    return tell("first_bake", f"first_bake_{width}", width, height)


def test_the_walk_comes_to_its_end_and_nothing_raises(result):
    logs = [path.read_text() for path in OUT.glob("first_bake_*/blender.log")]
    assert result["finished"], logs[-1][-3000:]
    assert not any("Traceback" in log or "unknown operator" in log for log in logs)


def test_the_example_is_seen_whole_beside_the_cube_with_the_physics_tab_open(result):
    (left, bottom), (right, top) = result["seen"]
    assert -1 < left < right < 1 and -1 < bottom < top < 1
    assert right - left > 0.2
    assert result["active"] == "Poncho" and result["tab"] == "PHYSICS"
    assert result["cube"] == [[0.0, 0.0, 0.0], True, [2.0, 2.0, 2.0]] and result["poncho_left"] > 1.0


@pytest.mark.parametrize("when", ["bar_while_painting", "bar_after_live", "bar_while_baking"])
def test_the_bar_never_moves(result, when):
    was, now = result["bake_before"], result[when]
    assert abs(was[0] - now[0]) <= SAME and abs(was[1] - now[1]) <= SAME


def test_painting_begins_at_the_brush_and_ends_at_done(result):
    assert (result["painting"], result["after_done"]) == ("WEIGHT_PAINT", "OBJECT")


def test_the_last_button_of_the_bar_opens_preflight(result):
    assert result["preflight_drawn"] > 0


def test_a_second_click_on_play_live_starts_no_bake(result):
    assert "bake" not in result["under_play_live_while_playing"]
    assert result["second_click_on_live"] == [True, False]
    live, playing, modifiers = result["after_stop"]
    assert not live and not playing and "Taffeta Live" not in modifiers


def test_playing_live_brings_no_panel_and_takes_none_away(result):
    assert result["panels_that_live_brings"] == []


def test_a_second_click_on_bake_stops_nothing(result):
    assert result["second_click_on_bake"]


def test_esc_over_the_view_stops_the_playback_and_the_bake_goes_on(result):
    assert result["esc_over_the_view"] == [True, [True, False]]


def test_stop_and_esc_over_the_tab_keep_what_is_done_and_resume_goes_on(result):
    assert 0 < result["frames_after_stop"] < FRAMES
    assert 0 < result["frames_after_esc_over_the_tab"] < FRAMES  # of a bake with other Substeps, which begins anew
    assert result["frames_after_resume"] == result["frames_after_rebake"] == FRAMES
