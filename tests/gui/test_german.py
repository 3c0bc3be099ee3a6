# SPDX-License-Identifier: GPL-3.0-or-later
"""The panels in another language, as Blender's own translation shows them; pictures stay in out/gui/german/."""

STORY = "german_story", "german", 1366, 3200


def test_the_story_comes_to_its_end_without_a_traceback(result, log):
    assert result["finished"] and "Traceback" not in log and "Error:" not in log, log[-3000:]


def test_blender_shows_settings_and_buttons_in_german(result):
    german = result["german"]
    assert german["locale"].startswith("de")
    assert german["setting"] == "Selbstkollision" and german["button"] == "Live spielen"
    assert german["in our sense"] == ["Luftwiderstand", "Dehnung", "Lagen", "Freigeben"]
    assert german["in Blender's sense"] == "Ziehen"
    assert german["own word of Blender"] == "Reibung" and german["label of a row"] == "Masse"


def test_sentences_of_the_preflight_list_are_german_with_the_names_as_they_are(result):
    german = result["german"]
    assert german["sentence"] == "Rock hat keine Flächen"
    assert german["problems"]
    for english, words in german["problems"]:
        assert words != english and ("Rock" in english) == ("Rock" in words)


def test_switched_off_all_is_english(result):
    assert result["english"] == ["Rock has no faces", "Self-Collision"]
