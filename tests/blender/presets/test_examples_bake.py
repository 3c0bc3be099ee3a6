# SPDX-License-Identifier: GPL-3.0-or-later
"""What an animator presses first: examples, baked as they come, pass through nothing and are not drawn long."""

import json

import bpy
import pytest

FRAMES = 60
LONGEST = {"torn_banner": 0.45}  # what is to tear is pulled first
BAKED = (
    "poncho", "skirt", "flag", "two_sheets", "quilt", "pleated_skirt", "elastic_skirt", "hemmed_cloth", "torn_banner", "throw", "cape",
    "hero_cape", "tighten",
)  # fmt: skip


@pytest.mark.once
@pytest.mark.parametrize("name", BAKED)
def test_an_example_bakes_well_as_it_comes(saved, name):
    assert bpy.ops.taffeta.scene_add(name=name) == {"FINISHED"}
    scene = bpy.context.scene
    scene.frame_end = min(scene.frame_end, scene.frame_start + FRAMES)
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    report = json.loads(bpy.context.view_layer.objects.active.taffeta_cloth.report_json)
    assert report["crossings"] == 0 and "most_crossings" not in report
    assert report["worst_stretch"] < LONGEST.get(name, 0.25)
