# SPDX-License-Identifier: GPL-3.0-or-later
"""Freeing bakes: the one that plays and older ones go into the trash, and never what is another's."""

import bpy
import pytest
from taffeta.operators.playback import bake_files, cache_modifier
from taffeta.operators.read import modifier_stack
from taffeta.solver.cache import about, moves, names, pc2, trash


def files(path):
    return {file.name: file.read_bytes() for file in (*names.parts(path), *names.companions(path)) if file.exists()}


def test_free_shows_the_rig_and_the_trash_has_the_bake(make, saved, tmp_path):
    obj, other = make.grid(), make.grid("Other")
    folder = tmp_path / "taffeta_cache"
    make.bake(obj, folder)
    make.bake(other, folder, "Other")
    older = moves.copy_aside(folder / "Cloth.pc2")
    (folder / "Cloth.report.json").write_text("{}")
    before = files(folder / "Cloth.pc2")
    assert bpy.ops.taffeta.free(object="Cloth") == {"FINISHED"}
    assert modifier_stack.find_cache(obj) is None and obj.taffeta_cloth.cache_path == ""
    assert not files(folder / "Cloth.pc2")
    assert [files(path) for path in trash.trashed(folder)] == [before]
    assert older.exists(), "an older bake is kept unless asked"
    assert (folder / "Other.pc2").exists() and cache_modifier.trouble(other) == ""
    assert bpy.ops.taffeta.free(everything=True) == {"FINISHED"}
    assert not (folder / "Other.pc2").exists() and len(trash.trashed(folder)) == 2


def test_free_takes_older_bakes_when_asked(make, saved, tmp_path):
    obj = make.grid()
    folder = tmp_path / "taffeta_cache"
    make.bake(obj, folder)
    moves.copy_aside(folder / "Cloth.pc2")
    pc2.write(folder / "Cloth2.bak1.pc2", make.samples(3), 1)
    assert bpy.ops.taffeta.free(object="Cloth", older=True) == {"FINISHED"}
    assert sorted(path.name for path in folder.iterdir()) == ["Cloth2.bak1.pc2", "trash"]
    assert len(trash.trashed(folder)) == 2


def test_free_leaves_what_another_object_plays(make, saved, tmp_path):
    obj = make.grid()
    folder = tmp_path / "taffeta_cache"
    make.bake(obj, folder)
    copy = obj.copy()
    bpy.context.scene.collection.objects.link(copy)
    older = moves.copy_aside(folder / "Cloth.pc2")
    assert bpy.ops.taffeta.free(object=copy.name, older=True) == {"FINISHED"}
    assert older.exists(), "it is the original's"
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
def test_free_without_a_cloth_says_so(name):
    with pytest.raises(RuntimeError, match="check the name|No Taffeta Cloth is selected"):
        bpy.ops.taffeta.free(object=name)


def test_an_undone_free_names_the_trash(make, saved, tmp_path):
    """Undo brings back the modifier, and Restore the frames that it plays: nothing is missing, and nothing is to be baked again."""
    obj = make.grid()
    make.bake(obj, tmp_path / "taffeta_cache")
    bpy.ops.ed.undo_push(message="Bake")
    bpy.ops.taffeta.free(object="Cloth")
    bpy.ops.ed.undo_push(message="Free Bake")
    bpy.ops.ed.undo()
    obj = bpy.data.objects["Cloth"]
    told = "Cloth: its bake Cloth.pc2 was freed; press Restore in the trash (More > Bakes), or bake again"
    assert cache_modifier.trouble(obj) == told
    assert bpy.ops.taffeta.bake_restore(object="Cloth") == {"FINISHED"}
    assert cache_modifier.trouble(obj) == "" and cache_modifier.played(obj) == tmp_path / "taffeta_cache" / "Cloth.pc2"


def test_an_older_bake_in_the_trash_is_not_what_is_missing(make, saved):
    """A new bake was deleted by hand: the sentence told that it was freed, and Restore brought other frames."""
    saved.frame_end = 2
    obj = make.cloth(make.grid())
    bpy.ops.taffeta.bake()
    bpy.ops.taffeta.free(object="Cloth")
    obj.taffeta_cloth.mass.value = 0.7
    bpy.ops.taffeta.bake()
    path = bake_files.cache_file(obj)
    path.unlink()
    told = cache_modifier.trouble(obj)
    assert f"its cache {path} is missing" in told and "in the trash under its name is another bake" in told
    obj.taffeta_cloth.fingerprint = about.read(trash.trashed(path.parent)[0]).fingerprint  # as after an undo of Free
    assert "was freed; press Restore" in cache_modifier.trouble(obj)


def test_a_file_saved_under_a_new_name_is_told_where_its_bake_was_freed(make, saved, tmp_path):
    """Its own list has nothing in the trash: what lies there is the other file's."""
    saved.frame_end = 2
    obj = make.cloth(make.grid())
    bpy.ops.taffeta.bake()
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "light.blend"), copy=True)
    bpy.ops.taffeta.free(object="Cloth")
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "light.blend"))
    obj = bpy.data.objects["Cloth"]
    told = "Cloth: its bake Cloth.pc2 was freed in shot.blend; open that and press Restore in its trash, or bake here"
    assert cache_modifier.trouble(obj) == told
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    assert bpy.ops.taffeta.bake_restore(object="Cloth") == {"FINISHED"}
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "light.blend"))
    assert cache_modifier.trouble(bpy.data.objects["Cloth"]) == ""
