# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows about the bakes that garments play, where more than one scene has the garment."""

import bpy
import pytest
from taffeta.operators.checks import problem_list
from taffeta.operators.live import simulation
from taffeta.operators.playback.bake_files import bakes_of
from taffeta.operators.playback.owners import cache_file
from taffeta.operators.read import modifier_stack


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


def test_frames_of_another_scene_are_not_kept(both, cloth):
    """Re-Bake in one scene kept frames of the other's bake, and the cache held two shots."""
    shot, other = both
    bake(other)
    with pytest.raises(
        RuntimeError, match="Cloth plays the bake of scene On the Moon, which is another shot; press Bake"
    ):
        bake(shot, from_frame=3)
    other.gravity = (0, 0, -1.7)
    with pytest.raises(RuntimeError, match="Cloth plays the bake of scene On the Moon"):
        bake(shot, from_frame=3)  # though no scene is any more as it was baked
    bake(other, from_frame=3)
    bake(shot)
    other.gravity, shot.gravity = shot.gravity, (0, 0, -9.0)
    (row,) = rows(shot)
    assert row.sentence == "Cloth was baked before you changed gravity", "the other scene is as this one was, no more"
    bake(shot, from_frame=3)


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


def test_a_linked_garment_that_plays_its_bake_is_left_out_of_the_next_one(shot, make, tmp_path, capfd):
    """Bake refused to bake the shot's own garment, and the list asked for a Resume that would refuse."""
    bake(shot)
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    (tmp_path / "other").mkdir()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "other" / "lit.blend"))
    scene = bpy.context.scene
    scene.frame_end = 3
    with bpy.data.libraries.load(str(tmp_path / "shot.blend"), link=True) as (_, here):
        here.objects = ["Cloth"]
    scene.collection.objects.link(here.objects[0])
    path = cache_file(here.objects[0])
    was = path.read_bytes()
    with pytest.raises(RuntimeError, match="Cloth is linked from"):
        bpy.ops.taffeta.bake()
    own = make.cloth(make.grid("Scarf", location=(3, 0, 0)))
    make.collider(make.ball("Ball", location=(3, 0, -1)))
    bpy.context.view_layer.update()
    (row,) = rows(scene)
    assert row.severity == "INFO" and row.sentence.endswith("shot.blend and plays its bake, which Bake leaves as it is")
    bake(scene)
    assert cache_file(own) == tmp_path / "other" / "taffeta_cache" / "Scarf.pc2" and path.read_bytes() == was
    scene.frame_set(1)
    simulation.start(scene)
    scene.frame_set(2)
    assert simulation.running().error == ""
    simulation.end()
    with pytest.raises(RuntimeError, match="Cloth is linked from"):
        bpy.ops.taffeta.bake(object="Cloth")
    own.location = (0, 0, 0.1)
    bake(scene)
    told = "Scarf will go through what is linked and left out, Cloth: add a Taffeta Collider there, in its own file"
    out = capfd.readouterr().out
    assert told in out and out.count("left out") == 1
    here.objects[0].taffeta_collider.enabled = True  # as if its file had that
    bake(scene)
    assert "left out" not in capfd.readouterr().out
    path.unlink()
    with pytest.raises(RuntimeError, match="Cloth is linked from"):
        bpy.ops.taffeta.bake()


@pytest.mark.parametrize("is_played", [True, False])
def test_a_strange_blend_whose_bake_has_a_name_that_no_file_can_have_gets_a_list(shot, found, baked, is_played):
    """The list ended in a traceback, and nothing was told of anything then."""
    obj = baked()
    modifier_stack.find_cache(obj).filepath = obj.taffeta_cloth.cache_path = f"//{'x' * 300}.pc2"
    if not is_played:
        obj.modifiers.remove(modifier_stack.find_cache(obj))
    obj.taffeta_cloth.fingerprint = '{"Mass": "1"}'  # of another release
    told = "xxx.pc2" if is_played else "was baked by another release"
    assert any(told in problem.sentence for problem in found())
    problem_list.show(shot)
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
