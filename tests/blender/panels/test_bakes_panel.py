# SPDX-License-Identifier: GPL-3.0-or-later
"""The panels Bakes and Queue, and what the bar makes of the list."""

import bpy
import pytest
from layouts import draw


@pytest.fixture
def listed(garment):
    """Two bakes of the garment, one that another .blend made, and one in the trash."""
    session = bpy.context.window_manager.taffeta
    session.problems.clear()  # the bar speaks of them first
    for name, label, maker, path in (
        ("Cloth", "wide", "", "/c/Cloth.pc2"), ("Cloth", "theirs", "v1.blend", "/c/Cloth-2.pc2"), ("Coat", "coat", "", "/c/Coat.pc2"),
        ("", "gone", "", "/c/trash/Cloth~1/Cloth.pc2"),
    ):  # fmt: skip
        item = session.bakes.add()
        item.garment, item.label, item.maker, item.path, item.about = name, label, maker, path, "2026-01-02, 3.0 MB"
        item.frame_start, item.frame_count, item.fits = 1, 120, True
    session.trash = "3.0 MB"
    yield session.bakes
    session.bakes.clear()
    session.trash = ""


def test_a_bake_that_lies_on_disk_is_offered_and_not_said_to_play(garment, listed):
    layout = draw("TAFFETA_PT_bakes")
    assert "A bake of 120 frames lies on disk" in layout.texts()
    assert not [text for text in layout.texts() if text.startswith("Plays ")]
    play = layout.buttons("taffeta.bake_play")
    assert [options["path"] for options, _ in play] == ["/c/Cloth.pc2", "/c/Cloth.pc2", "/c/Cloth-2.pc2"]
    assert all(options["object"] == "Cloth" for options, _ in play) and "Play It" in layout.texts()
    bar = draw("TAFFETA_PT_bar")
    _, resume, again = bar.buttons("taffeta.bake")
    assert resume[0] == {"resume": True} and not resume[1].is_grey() and not again[1].is_grey(), "they go on with it"
    assert "A bake lies on disk" in bar.texts()
    assert "No frames kept" not in bar.texts() and "A bake of 120 frames lies on disk" in bar.texts(), (
        "as after an undo"
    )
    for verb in ("free", "export"):
        assert not draw("TAFFETA_PT_bake").buttons(f"taffeta.{verb}")[0][1].is_grey()
    listed[0].plays = True
    assert "No frames kept" in draw("TAFFETA_PT_bar").texts(), "what plays has none of this range"
    layout = draw("TAFFETA_PT_bakes")
    assert "Play It" not in layout.texts() and "Plays /c/Cloth.pc2" in " ".join(layout.texts())


def test_the_list_has_verbs_for_own_bakes_only_and_the_trash_its_own(garment, listed):
    listed[0].note = "the one that Ann liked"
    layout = draw("TAFFETA_PT_bakes")
    for verb in ("rename", "delete"):
        assert [grey.is_grey() for _, grey in layout.buttons(f"taffeta.bake_{verb}")] == [False, True]
    assert "the one that Ann liked" in " ".join(layout.texts()) and "v1.blend" in " ".join(layout.texts())
    assert [o["path"] for o, _ in layout.buttons("taffeta.bake_restore")] == ["/c/trash/Cloth~1/Cloth.pc2"]
    assert "Empty Trash (3.0 MB)" in layout.texts() and "coat" not in layout.texts()
    assert layout.buttons("taffeta.bake")[0][0] == {"selected": True}
    bpy.context.window_manager.taffeta.trash = ""
    assert not draw("TAFFETA_PT_bakes").buttons("taffeta.trash_empty")


def test_takes_are_drawn_with_what_became_of_them(garment):
    layout = draw("TAFFETA_PT_takes")
    assert (
        layout.buttons("taffeta.takes_bake")[0][1].is_grey() and not layout.buttons("taffeta.take_add")[0][1].is_grey()
    )
    for name in ("light", "heavy"):
        bpy.ops.taffeta.take_add(label=name)
    bpy.context.scene.taffeta_takes[0].outcome = "Baked frames 1 to 10"
    layout = draw("TAFFETA_PT_takes")
    assert [options["index"] for options, _ in layout.buttons("taffeta.take_remove")] == [0, 1]
    assert {"light", "heavy", "Baked frames 1 to 10"} <= set(layout.texts())
    assert not layout.buttons("taffeta.takes_bake")[0][1].is_grey()


def test_a_bake_of_other_settings_says_so_and_can_have_them_restored(garment, listed):
    assert not draw("TAFFETA_PT_bakes").buttons("taffeta.bake_settings")
    listed[0].changed = "Mass and Wind"
    layout = draw("TAFFETA_PT_bakes")
    assert "Settings changed since: Mass and Wind" in " ".join(layout.texts())
    assert not layout.buttons("taffeta.bake_settings"), "they were not kept"
    listed[0].restorable = True
    ((options, _),) = draw("TAFFETA_PT_bakes").buttons("taffeta.bake_settings")
    assert options == {"object": "Cloth", "path": "/c/Cloth.pc2"}


def test_a_bake_of_another_release_says_so_and_can_have_its_settings_restored(garment, listed):
    listed[0].restorable = True
    assert not draw("TAFFETA_PT_bakes").buttons("taffeta.bake_settings")
    listed[0].is_of_another_release = True
    layout = draw("TAFFETA_PT_bakes")
    assert "Baked by another release of Taffeta" in " ".join(layout.texts())
    assert len(layout.buttons("taffeta.bake_settings")) == 1
