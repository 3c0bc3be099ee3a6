# SPDX-License-Identifier: GPL-3.0-or-later
"""Deleting bakes: the one that plays and older ones, and never what is another's."""

import bpy
import pytest
from taffeta.operators.checks import problem_list
from taffeta.operators.playback import cache_modifier
from taffeta.operators.read import modifier_stack
from taffeta.solver.cache import frames, pc2


def test_free_deletes_the_bake_and_shows_the_rig(make, saved, tmp_path):
    obj, other = make.grid(), make.grid("Other")
    folder = tmp_path / "taffeta_cache"
    make.bake(obj, folder)
    make.bake(other, folder, "Other")
    older = frames.copy_aside(folder / "Cloth.pc2")
    (folder / "Cloth.report.json").write_text("{}")
    assert bpy.ops.taffeta.free(object="Cloth") == {"FINISHED"}
    assert not (folder / "Cloth.report.json").exists()
    assert modifier_stack.find_cache(obj) is None and obj.taffeta_cloth.cache_path == ""
    assert not list(folder.glob("Cloth.pc2")) and not list(folder.glob("Cloth.journal"))
    assert older.exists(), "an older bake is kept unless asked"
    assert (folder / "Other.pc2").exists() and cache_modifier.trouble(other) == ""
    assert bpy.ops.taffeta.free(everything=True) == {"FINISHED"}
    assert not (folder / "Other.pc2").exists()


def test_free_takes_older_bakes_when_asked(make, saved, tmp_path):
    obj = make.grid()
    folder = tmp_path / "taffeta_cache"
    make.bake(obj, folder)
    frames.copy_aside(folder / "Cloth.pc2")
    pc2.write(folder / "Cloth2.bak1.pc2", make.samples(3), 1)
    assert bpy.ops.taffeta.free(object="Cloth", older=True) == {"FINISHED"}
    assert [path.name for path in folder.iterdir()] == ["Cloth2.bak1.pc2"]


def test_older_bakes_are_told_and_freed_alone(make, saved, tmp_path):
    obj, folder = make.grid(), tmp_path / "taffeta_cache"
    make.bake(obj, folder)
    older = [frames.copy_aside(folder / "Cloth.pc2") for _ in range(2)]
    with (folder / "Cloth.bak1.state").open("ab") as file:
        file.truncate(3_000_000)
    problem_list.show(saved)
    assert "2 older bakes (3.0 MB) of Cloth" in bpy.context.window_manager.taffeta.older["Cloth"].sentence
    assert bpy.ops.taffeta.free_older(object="Cloth") == {"FINISHED"}
    assert not any(path.exists() for path in older)
    assert cache_modifier.trouble(obj) == "" and (folder / "Cloth.state").exists()
    problem_list.show(saved)
    assert not bpy.context.window_manager.taffeta.older


def test_older_bakes_of_another_file_are_not_ours(make, saved, tmp_path):
    obj, folder = make.cloth(make.grid()), tmp_path / "taffeta_cache"
    (tmp_path / "other.blend").write_bytes(b"")
    frames.open_cache(folder / "Cloth.pc2", len(obj.data.vertices), 1, 24.0, "../other.blend").close()
    frames.copy_aside(folder / "Cloth.pc2")
    problem_list.show(saved)
    assert not bpy.context.window_manager.taffeta.older
    bpy.ops.taffeta.free_older(object="Cloth")
    assert (folder / "Cloth.bak1.pc2").exists()
    (tmp_path / "other.blend").unlink()
    problem_list.show(saved)
    assert "1 older bake (" in bpy.context.window_manager.taffeta.older["Cloth"].sentence, "nobody else's any more"


def test_free_leaves_what_another_object_plays(make, saved, tmp_path):
    obj = make.grid()
    folder = tmp_path / "taffeta_cache"
    make.bake(obj, folder)
    copy = obj.copy()
    bpy.context.scene.collection.objects.link(copy)
    older = frames.copy_aside(folder / "Cloth.pc2")
    bpy.ops.taffeta.free_older(object=copy.name)
    assert older.exists(), "it is the original's"
    assert bpy.ops.taffeta.free(object=copy.name) == {"FINISHED"}
    assert modifier_stack.find_cache(copy) is None
    assert cache_modifier.trouble(obj) == "" and (folder / "Cloth.state").exists()
    assert bpy.ops.taffeta.free(object="Cloth") == {"FINISHED"}
    assert not (folder / "Cloth.pc2").exists()


def test_free_refuses_files_that_are_not_ours(make, saved, tmp_path):
    obj = make.grid()
    obj.taffeta_cloth.enabled = True
    pc2.write(tmp_path / "houdini.pc2", make.samples(25), 1)
    cache_modifier.attach(obj, tmp_path / "houdini.pc2", 1)
    with pytest.raises(RuntimeError, match="was not baked by Taffeta"):
        bpy.ops.taffeta.free(object="Cloth")
    assert (tmp_path / "houdini.pc2").exists()
    assert modifier_stack.find_cache(obj) is not None


@pytest.mark.parametrize("name", ["", "Nobody"])
def test_free_without_a_cloth_says_so(make, scene, name):
    with pytest.raises(RuntimeError, match="check the name|No Taffeta Cloth is selected"):
        bpy.ops.taffeta.free(object=name)
