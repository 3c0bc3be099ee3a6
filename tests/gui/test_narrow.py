# SPDX-License-Identifier: GPL-3.0-or-later
"""Every number of the panel can be read where the Physics tab is narrow; pictures stay in out/gui/narrow/."""

STORY = "narrow", "narrow", 1920, 1080
SAME = 2  # pixels by which the same letters may differ, as they begin between two pixels
NUMBERS = 10  # of Pins and Fabric: Min and Max of four maps, and two that are uniform


def test_the_story_comes_to_its_end_without_a_traceback(result, log):
    assert result["finished"] and "Traceback" not in log and "Error:" not in log, log[-3000:]


def test_long_names_are_drawn_whole_where_the_tab_has_280_pixels(result):
    assert set(result["names"]) == {"Blend Stiffness (1/s²)", "Preview Substeps", "Cache Folder"}
    cut = {name: widths for name, widths in result["names"].items() if abs(widths[0] - widths[1]) > 2 * SAME}
    assert not cut


def test_every_number_is_drawn_whole_where_the_tab_has_280_pixels(result):
    """As wide as where there is room for more than it needs: Blender cuts numbers off without a sign."""
    wide, narrow = result["wide"], result["narrow"]
    assert wide["width"] > 600 and 275 <= narrow["width"] <= 285
    assert set(narrow["ink"]) == set(wide["ink"]) and len(wide["ink"]) == NUMBERS
    assert min(wide["ink"].values()) > 15
    cut = {name: (ink, wide["ink"][name]) for name, ink in narrow["ink"].items() if abs(ink - wide["ink"][name]) > SAME}
    assert not cut
