# SPDX-License-Identifier: GPL-3.0-or-later
"""A fabric dragged onto a garment in a real window, with the mouse; pictures stay in out/gui/drop/."""

from pathlib import Path

import pytest

OUT = Path(__file__).resolve().parents[2] / "out" / "gui" / "drop"


@pytest.fixture(scope="module")
def result(tell):
    """What the story wrote down; told once for all tests."""
    return tell("drop_story", OUT.name, 1600, 1000)


def test_the_story_comes_to_its_end_and_nothing_raised(result):
    log = (OUT / "blender.log").read_text()
    assert result["finished"] and "Traceback" not in log and "Error:" not in log, log[-3000:]


def test_what_is_dropped_on_a_garment_dresses_it_and_undo_takes_it_back(result):
    fabric, mass, objects = result["dropped"]
    assert fabric == "Canvas" and mass != result["before"][1]
    assert objects == result["before"][2], "no swatch is left lying about"
    assert result["undone"] == result["before"]
