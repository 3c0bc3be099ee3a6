# SPDX-License-Identifier: GPL-3.0-or-later
"""The list of bakes in a real window, as bakes_story.py tells it; pictures stay in out/gui/bakes/."""

STORY = "bakes_story", "bakes", 1600, 1100
FRAMES = 8


def test_the_story_comes_to_its_end_without_a_traceback(result, log):
    assert result["finished"] and "Traceback" not in log and "Error:" not in log, log[-3000:]


def test_an_undone_bake_is_offered_and_plays_by_one_click(result):
    assert result["baked"] == [["Shawl", FRAMES, True]]
    assert result["undone"] == [["Shawl", FRAMES, False]]
    assert result["play"] == ["FINISHED"] and result["played"] == result["baked"]


def test_free_asks_and_the_trash_gives_back(result):
    assert result["freed"][0] == [] and result["freed"][1].endswith("B")
    assert result["restore"] == ["FINISHED"] and result["restored"] == [result["baked"], ""]


def test_the_queue_bakes_beside_the_window(result):
    assert result["queue"] == ["RUNNING_MODAL"]
    assert result["outcomes"] == [f"Baked frames 1 to {FRAMES}"] * 2 and result["mass_as_before"]
    assert result["queued"] == [["heavy", FRAMES, True], ["light", FRAMES, False], ["Shawl.bak1", FRAMES, False]]


def test_wedges_are_baked_beside_the_window_and_one_is_adopted(result):
    assert result["wedges"] == ["RUNNING_MODAL"] and result["adopt"] == ["FINISHED"]
    assert result["wedged"] == [["Shawl.mass = 0.05", "Shawl.mass = 2"], True], (
        "the shot plays again, with its settings"
    )
    assert result["adopted"] == [[False, True], 2.0] and result["and_back"]


def test_the_file_browser_exports_what_is_shown(result):
    assert result["exported"] == FRAMES and result["export_off"] < 1e-5


def test_esc_stops_an_export_and_leaves_no_file(result):
    assert result["export_runs"] and result["export_stopped"] == [True, [], True]


def test_bake_asks_where_preflight_warns_and_bake_anyway_bakes(result):
    """Clicked in the bar, then in the menu; the queue before had the same warning, and asked nobody."""
    baking, severities = result["asks"]
    assert not baking and "WARNING" in severities
    top, pointer, bottom = result["menu"]
    assert top < pointer < bottom and bottom - top > 60, "three lines, at the pointer"
    assert result["baked_anyway"][0] == ["Shawl", FRAMES, True] and len(result["baked_anyway"]) == 5


def test_free_in_a_file_saved_from_it_leaves_the_bake(result):
    assert set(result["makers"]) == {"shot.blend"}, "what it plays, and what lies beside that"
    assert result["left"] == [f"Shawl{name}.pc2" for name in (".bak1", ".bak2", ".bak3", ".bak4", "")]
    assert result["freed_v2"] == []
