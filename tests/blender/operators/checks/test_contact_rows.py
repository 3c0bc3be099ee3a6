# SPDX-License-Identifier: GPL-3.0-or-later
"""Preflight tells what cloth on cloth by depth images lets through, and one button takes pairs instead."""

import bpy
import pytest


@pytest.mark.parametrize(
    ("way", "words"), [("DEPTH_SEQUENCES", "folds that stand on edge"), ("DEPTH_STICKS", "no edge that meets an edge")]
)
def test_what_depth_images_do_not_see_is_told_and_mended(shot, found, only, cloth, way, words):
    shot.taffeta.cloth_contact = way
    only("WARNING", "", words)
    assert bpy.ops.taffeta.fix_cloth_contact() == {"FINISHED"}
    assert found() == [] and bpy.context.scene.taffeta.cloth_contact == "PAIRS"


def test_a_preview_may_be_by_depth_images(shot, only, cloth):
    shot.taffeta.cloth_contact = "DEPTH_SEQUENCES"
    cloth().taffeta_cloth.quality = "PREVIEW"
    only("INFO", "", "Depth Sequences")


def test_cloth_that_meets_no_cloth_needs_no_word(shot, make, found, only, cloth):
    shot.taffeta.cloth_contact = "DEPTH_STICKS"
    cloth().taffeta_cloth.self_collision = False
    assert found() == []
    other = make.cloth(make.grid("Other", count=9, location=(0, 3, 1)), bending_stiffness=1.0)
    other.taffeta_cloth.self_collision = False
    only("WARNING", "", "Depth Sticks")


@pytest.mark.parametrize(("search", "name"), [("FULL_IMAGES", "Three Full Images"), ("GROWN", "Grown Image")])
def test_a_search_that_misses_is_told(shot, found, only, body, search, name):
    shot.taffeta.body_search = search
    only("WARNING", "", name, "misses thin parts")
    body().taffeta_collider.enabled = False
    assert not [p for p in found() if "Body Search" in p.sentence]


def test_what_a_rigid_garment_cannot_do_is_told(shot, found, only, cloth):
    settings = cloth().taffeta_cloth
    settings.model = "RIGID"
    only("ERROR", "Cloth", "rigid, which the velocity field alone can move")
    shot.taffeta.cloth_contact = "VELOCITY_FIELD"
    assert found() == []
    shot.taffeta.dynamics = "RK4"
    only("ERROR", "Cloth", "rigid, which these dynamics cannot move")
    shot.taffeta.dynamics = "XPBD"
    settings.pin.value = 0.5
    only("ERROR", "Cloth", "neither pinned nor attached")
    settings.pin.value, settings.sewing = 0.0, True
    assert ("ERROR", "Cloth is rigid and cannot be sewn") in [
        (problem.severity, problem.sentence) for problem in found()
    ]
