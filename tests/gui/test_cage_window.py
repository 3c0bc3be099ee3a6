# SPDX-License-Identifier: GPL-3.0-or-later
"""A cage refined in a real window, with the mouse; pictures of every step stay in out/gui/cage/."""

STORY = "cage_story", "cage", 1600, 1100


def test_the_story_comes_to_its_end_and_nothing_raised(result, log):
    assert result["finished"] and "Traceback" not in log and "Error:" not in log, log[-3000:]


def test_escape_leaves_the_cage_and_the_dialog_refines_it(result):
    (name, count, kept), (refined, now, kept_now) = result["before"], result["after"]
    assert result["stopped"] == [name, count, kept] and kept == 0
    assert refined != name and kept_now == 1 and abs(now - count) < 0.05 * count
    assert result["active"] == "Shawl Cage"
