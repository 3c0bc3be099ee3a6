# SPDX-License-Identifier: GPL-3.0-or-later
"""A real Blender with a window: the way from Add to Scrub; pictures of every step stay in out/gui/story/."""

from pathlib import Path

import numpy as np

OUT = Path(__file__).resolve().parents[2] / "out" / "gui" / "story"
STORY = "story", "story", 1600, 1100
FRAMES = 60


def test_the_story_comes_to_its_end(result, log):
    assert result["finished"], log[-3000:]


def test_no_panel_or_operator_raised(result, log):
    assert "Traceback" not in log and "unknown operator" not in log and "Error:" not in log, log[-3000:]


def test_cloth_and_collider_are_added_from_the_physics_tab(result):
    assert result["cloth_add"] == result["collider_add"] == ["FINISHED"]


def test_a_fabric_preset_changes_the_fabric(result):
    assert result["preset_changed"] and len(result["presets"]) >= 5


def test_painting_with_the_mouse_fills_the_vertex_group(result):
    assert result["mode"] == "WEIGHT_PAINT"
    assert result["painted"] > 10


def test_preflight_finds_nothing_that_stops_this_scene(result):
    assert not [problem for problem in result["problems"] if problem[0] == "ERROR"]


def test_the_window_stays_alive_while_baking(result, record_property):
    """A timer of the window ticks more often than frames are baked; the record holds the gaps [ms]."""
    record_property("gaps", result["alive"])
    assert result["alive"]["ticks"] > result["frames_after_esc"], result["alive"]


def test_esc_stops_the_bake_and_keeps_what_is_done(result):
    assert result["bake"] == ["RUNNING_MODAL"]
    assert not result["baking_after_esc"]
    assert 0 < result["frames_after_esc"] < FRAMES


def test_resume_finishes_the_bake(result):
    assert result["frames_after_resume"] == list(range(1, FRAMES + 1))


def test_the_bake_that_a_rebake_replaced_is_kept_and_told(result):
    assert result["bakes"] == [["Shawl", FRAMES, True], ["Shawl.bak1", FRAMES, False]]


def test_scrubbing_shows_the_fallen_cloth_outside_the_body(result):
    assert result["fell"] > 0.2
    assert result["nearest_to_body"] > 0.345  # the ball's radius is 0.35 m, its facets lie up to 1 mm inside


def test_the_reopened_file_plays_the_same_bake(result):
    assert result["same_after_reopening"]


def test_playing_live_simulates_and_leaves_all_as_it_was(result):
    assert result["live"][0] and 25 <= result["live"][1] < FRAMES
    assert result["live_fell"] > 0.1
    assert result["live_anew"] < 1e-5 < result["live_fell_anew"][1] < result["live_fell"]
    assert 1 < result["live_fell_anew"][0] < result["live"][1]
    assert result["live_after_esc"] == [False, False] and result["live_left_all"]
    assert result["live_again"][0] and result["live_again"][1] >= 8
    assert result["live_after_stop"] == [False, False] and result["live_stop_left_all"]
    assert result["keep_pose"] == ["FINISHED"] and result["keys"] == ["Basis", "Taffeta Pose"]


def test_the_window_draws_the_layers_of_the_cpu(result):
    assert result["layers_by"].startswith("GPU"), result["layers_by"]
    assert result["layers_same"] and result["layers_depth"] < 1e-5


def test_a_bake_in_the_window_is_drawn_by_the_graphics_card(result, record_property):
    """By the window's own thread, a tick at a time; the frames are the processor's, to the last bit."""
    by_card, processor = result["card_CARD"], result["card_PROCESSOR"]
    record_property("gaps", [by_card["alive"], processor["alive"]])
    assert by_card["drawn"] > 10 and by_card["images"]["images_by_card"] > 10, by_card
    assert processor["drawn"] == 0 and processor["images"]["images_by_card"] == 0
    assert result["card_same"] == [True, True, True]
    assert by_card["alive"]["median"] < 20, by_card["alive"]


def test_automatic_says_in_the_window_who_draws(result):
    images = result["card_AUTOMATIC"]["images"]
    assert images["by"].startswith(("graphics card, because", "processor, because images by"))
    assert images["card_milliseconds"] > 0 and images["processor_milliseconds"] > 0


def test_drawing_leaves_the_window_as_it_was_also_after_esc(result):
    stopped = result["card_CARD4"]
    assert 4 <= stopped["drawn"] and 0 < stopped["frames"] < 40
    assert all(result[f"card_{which}"]["as_found"] for which in ("CARD", "CARD4", "AUTOMATIC"))


def test_every_picture_was_drawn(result):
    from PIL import Image

    pictures = sorted(OUT.glob("*.png"))
    assert len(pictures) >= 14
    for picture in pictures:
        with Image.open(picture) as image:
            assert len(np.unique(image.convert("L").resize((64, 44)))) > 8, f"{picture.name} is blank"


def test_blenders_own_tool_finds_the_zip_sound(result):
    told = (OUT / "validate.log").read_text()
    assert "Success" in told and "refused" not in told, told


def test_removed_it_leaves_no_file_of_the_extension_or_its_packages(result):
    told = (OUT / "remove.log").read_text()
    assert "Removed" in told and not [line for line in told.splitlines() if "rror" in line], told
    assert (OUT / "left.txt").read_text() == ""
