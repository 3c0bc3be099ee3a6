# SPDX-License-Identifier: GPL-3.0-or-later
"""A fabric dragged onto a garment in a real window, with the mouse; pictures stay in out/gui/drop/."""

STORY = "drop_story", "drop", 1600, 1000


def test_the_story_comes_to_its_end_and_nothing_raised(result, log):
    assert result["finished"] and "Traceback" not in log and "Error:" not in log, log[-3000:]


def test_what_is_dropped_on_a_garment_dresses_it_and_undo_takes_it_back(result):
    fabric, mass, objects = result["dropped"]
    assert fabric == "Canvas" and mass != result["before"][1]
    assert objects == result["before"][2], "no swatch is left lying about"
    assert result["undone"] == result["before"]
