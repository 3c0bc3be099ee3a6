# SPDX-License-Identifier: GPL-3.0-or-later
"""A real window again: the popover and its marks, lines while painting, the report's jump, the picker of fabrics.

Pictures of every step stay in out/gui/show/; those of docs/ are cut from them by scripts/show_pictures.py.
"""

STORY = "show_story", "show", 1600, 1100


def test_the_story_comes_to_its_end_and_nothing_raised(result, log):
    assert result["finished"] and "Traceback" not in log and "Error:" not in log, log[-3000:]


def test_each_switch_marks_something_and_says_what(result):
    for name, word in (("pins", "49 points"), ("seams", "5 threads"), ("thickness", "8 mm"), ("aura", "2 cm")):
        words, count = result["marks"][name]
        assert word in words[0] and count >= 1, name
    words, count = result["marks"]["contacts"]
    assert count >= 1 and int(words[0].split()[1].replace(",", "")) > 100


def test_the_legend_stands_above_the_brushes(result):
    assert result["legend_low"] > result["brush_top"] > 20


def test_the_report_leads_to_the_frame_and_the_vertices(result):
    frame, mode, name = result["shown"]
    assert result["report_show"] == ["FINISHED"] and mode == "EDIT_MESH"
    assert (frame, name) == (result["worst_stretch_frame"], "Shawl")


def test_fabrics_have_pictures_in_the_window_and_own_ones_get_one(result):
    assert len(result["pictures"]) == 13
    assert result["names"] == ["Silk", "Silk, changed", "Shawl Silk"]
    assert result["saved"] == ["Shawl_Silk.py", True] and result["library"] == ["FINISHED"]
