# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows about the bakes that garments play, where more than one scene has the garment."""

import bpy
import pytest
from taffeta.operators.checks import problem_list
from taffeta.operators.playback.bake_files import bakes_of
from taffeta.operators.playback.owners import cache_file


def rows(scene, name="Cloth"):
    with bpy.context.temp_override(scene=scene, view_layer=scene.view_layers[0]):
        found = problem_list.check(scene, bpy.context.evaluated_depsgraph_get())
    return [problem for problem in found if problem.object == name and "bake" in problem.sentence]


def bake(scene, **options):
    with bpy.context.temp_override(scene=scene, view_layer=scene.view_layers[0]):
        assert bpy.ops.taffeta.bake(**options) == {"FINISHED"}


@pytest.fixture
def both(shot):
    """Two scenes of one garment and one body, the second with a gravity of its own; baked in the first."""
    other = bpy.data.scenes.new("On the Moon")
    for obj in shot.objects:
        other.collection.objects.link(obj)
    other.frame_start, other.frame_end, other.gravity = 1, 3, (0, 0, -1.6)
    shot.frame_end = 3
    bake(shot)
    return shot, other


def test_a_bake_of_another_scene_is_called_that_and_bake_asks_first(both, cloth):
    shot, other = both
    assert rows(shot) == []
    (row,) = rows(other)
    assert row.sentence == "Cloth plays the bake of scene Scene, and this one differs in gravity"
    assert row.remedy.startswith("A bake here plays in Scene, too, and its own stays in the list")
    assert row.heavy and row.severity == "WARNING"
    other.gravity = shot.gravity
    assert rows(other) == [], "the same shot in two scenes has one bake"


def test_each_scene_keeps_its_bake_where_the_garment_is_shared(both, cloth):
    shot, other = both
    first = cache_file(cloth()).read_bytes()
    bake(other)
    assert cache_file(cloth()).read_bytes() != first
    assert [entry.path.read_bytes() == first for entry in bakes_of(shot, [cloth()])[0]] == [False, True]
    (row,) = rows(shot)
    assert row.sentence == "Cloth plays the bake of scene On the Moon, and this one differs in gravity"


def test_a_garment_that_is_made_single_has_a_bake_in_each_scene(both, cloth):
    """What the row says to do."""
    shot, other = both
    own = cloth().copy()
    other.collection.objects.unlink(cloth())
    other.collection.objects.link(own)
    first = cache_file(cloth()).read_bytes()
    bake(other)
    assert cache_file(own) != cache_file(cloth()) and cache_file(cloth()).read_bytes() == first
    assert rows(shot) == rows(other, own.name) == []
