# SPDX-License-Identifier: GPL-3.0-or-later
"""Values as images, wedges and *Adopt*, clicked in a real window as studio_story.py tells; pictures stay in out/gui/studio/."""

import pytest

STORY = "studio_story", "studio", 1600, 1100
FRAMES = 8


def test_the_story_comes_to_its_end_without_a_traceback(result, log):
    assert result["finished"] and "Traceback" not in log and "Error:" not in log, log[-3000:]


def test_add_values_gives_the_attributes_that_the_docs_name(result):
    assert {f"taffeta_{name}" for name in ("stretch", "compression", "fold", "contact", "pinch")} <= set(
        result["attributes"]
    )


def test_write_values_writes_an_image_a_frame_through_the_file_browser(result):
    assert result["images"] == [f"Shawl_compression_{frame:04d}.exr" for frame in range(1, FRAMES + 1)]
    size, largest = result["image"]
    assert size == [1024, 1024] and 1e-5 < largest < 1.0
    assert result["frame_stays"]


def test_bake_wedges_leaves_the_shot_and_adopt_plays_one(result):
    assert result["wedges"] == [
        ["Shawl.bending = 1e-6", FRAMES, False], ["Shawl.bending = 1e-3", FRAMES, False]
    ]  # fmt: skip
    assert result["bending_stays"]
    plays, bending = result["adopted"]
    assert plays == [True, False] and bending == pytest.approx(1e-6, rel=1e-5)
