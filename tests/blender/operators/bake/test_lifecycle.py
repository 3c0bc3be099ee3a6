# SPDX-License-Identifier: GPL-3.0-or-later
"""What an animator does to objects and files around a bake: undo, copy, delete, link, rename, append, override.

After each of them every cloth still plays what was baked for it, and no bake was overwritten.
"""

import os
import subprocess
import sys
import tempfile

import bpy
import numpy as np
import pytest
import taffeta
from taffeta.operators.checks.problem_list import check
from taffeta.operators.playback import bake_files, cache_modifier
from taffeta.operators.read import modifier_stack

LAST = 4
LEVEL = 2.0  # height [m] that cloths start from


@pytest.fixture
def shot(saved):
    saved.frame_end = LAST
    return saved


@pytest.fixture
def sheet(shot, make):
    """A small free cloth: it falls, so that each frame differs."""
    return make.cloth(make.grid(count=4, location=(0, 0, LEVEL)))


def played(make, obj, frame=LAST):
    bpy.context.scene.frame_set(frame)
    return make.world(obj)


def fell(make, obj):
    """The object plays a bake: it is lower at the end than at the start."""
    return (played(make, obj)[:, 2] < played(make, obj, 1)[:, 2] - 0.01).all()


def bits(obj):
    path = bake_files.cache_file(obj)
    return tuple(path.with_suffix(suffix).read_bytes() for suffix in (".pc2", ".state", ".journal"))


def baked(obj):
    assert bpy.ops.taffeta.bake(object=obj.name) == {"FINISHED"}
    assert cache_modifier.trouble(obj) == ""
    return bits(obj)


def copy_of(obj, linked=False):
    copy = obj.copy()
    if not linked:
        copy.data = obj.data.copy()
    bpy.context.scene.collection.objects.link(copy)
    bpy.context.view_layer.update()
    return copy


def reopened(path):
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    bpy.ops.wm.open_mainfile(filepath=str(path))


def test_undo_and_redo_around_adding_and_baking(shot, make):
    obj = make.grid(count=4, location=(0, 0, LEVEL))
    bpy.context.view_layer.objects.active = obj
    bpy.ops.ed.undo_push(message="Start")
    assert bpy.ops.taffeta.cloth_add() == {"FINISHED"}
    bpy.ops.ed.undo_push(message="Add Taffeta Cloth")
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    bpy.ops.ed.undo_push(message="Bake")
    before = played(make, bpy.data.objects["Cloth"])
    files = bits(bpy.data.objects["Cloth"])
    bpy.ops.ed.undo()
    obj = bpy.data.objects["Cloth"]
    assert obj.taffeta_cloth.enabled and modifier_stack.find_cache(obj) is None
    bpy.ops.ed.undo()
    assert not bpy.data.objects["Cloth"].taffeta_cloth.enabled
    bpy.ops.ed.redo()
    bpy.ops.ed.redo()
    obj = bpy.data.objects["Cloth"]
    assert np.array_equal(played(make, obj), before) and bits(obj) == files
    bpy.ops.ed.undo()
    assert bpy.ops.taffeta.bake(resume=True) == {"FINISHED"}, "baking goes on after an undo"
    assert np.array_equal(played(make, bpy.data.objects["Cloth"]), before)
    assert bpy.ops.taffeta.preflight() == {"FINISHED"}


def test_undo_of_a_deleted_cloth_plays_again(sheet, make):
    baked(sheet)
    before = played(make, sheet)
    bpy.ops.ed.undo_push(message="Baked")
    bpy.data.objects.remove(sheet)
    bpy.ops.ed.undo_push(message="Delete")
    bpy.ops.ed.undo()
    assert np.array_equal(played(make, bpy.data.objects["Cloth"]), before)


@pytest.mark.parametrize("linked", [False, True], ids=["copy", "linked duplicate"])
def test_a_copy_plays_the_original_until_it_has_its_own_bake(sheet, make, linked):
    first = baked(sheet)
    copy = copy_of(sheet, linked)
    assert fell(make, copy)
    copy.location.z = LEVEL + 5.0
    copy.taffeta_cloth.mass.value = 0.3
    baked(copy)
    assert bake_files.cache_file(copy) != bake_files.cache_file(sheet)
    assert bits(sheet) == first, "the original's bake was touched"
    assert fell(make, copy) and fell(make, sheet)
    assert played(make, copy, 1)[:, 2].min() > LEVEL + 4.9


def test_a_copy_with_a_cache_name_of_its_originals(sheet):
    """`cache_name` is copied too; the file must not be shared for all that, nor in another scene."""
    sheet.taffeta_cloth.cache_name = "hero"
    first = baked(sheet)
    copy = copy_of(sheet)
    copy.location.z += 3.0
    baked(copy)
    assert bits(sheet) == first and cache_modifier.trouble(sheet) == ""
    other = bpy.data.scenes.new("Other")
    away = copy_of(sheet)
    bpy.context.scene.collection.objects.unlink(away)
    other.collection.objects.link(away)
    other.frame_end = LAST
    away.location.z += 7.0
    with bpy.context.temp_override(scene=other, view_layer=other.view_layers[0]):
        assert bpy.ops.taffeta.bake() == {"FINISHED"}
    assert bits(sheet) == first
    assert len({bake_files.cache_file(obj) for obj in (sheet, copy, away)}) == 3


def test_a_new_object_that_takes_the_old_name(sheet, make):
    first = baked(sheet)
    sheet.name = "Old"
    new = make.cloth(make.grid("Cloth", count=6, location=(3, 0, LEVEL)))
    baked(new)
    assert cache_modifier.trouble(sheet) == "" and bits(sheet) == first
    assert fell(make, sheet) and fell(make, new)


def test_baking_all_after_renames_and_swaps(sheet, make):
    other = make.cloth(make.grid("Cape", count=6, location=(3, 0, LEVEL)))
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    sheet.name, other.name = "x", "Cloth"
    sheet.name = "Cape"
    for _ in range(2):
        assert bpy.ops.taffeta.bake() == {"FINISHED"}
        assert cache_modifier.trouble(sheet) == cache_modifier.trouble(other) == ""
        assert len(played(make, sheet)) == 16 and len(played(make, other)) == 36
        assert fell(make, sheet) and fell(make, other)


def test_deleting_a_cloth_leaves_the_others(sheet, make):
    other = make.cloth(make.grid("Cape", location=(3, 0, LEVEL)))
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    path = bake_files.cache_file(sheet)
    bpy.data.objects.remove(sheet)
    assert bpy.ops.taffeta.preflight() == {"FINISHED"}
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    assert fell(make, other)
    assert path.exists(), "files are deleted on request only"


def test_cloth_that_is_taken_off_while_it_bakes_plays_nothing(sheet, make):
    """No panel would tell of what it plays, or be rid of it. The frames are there when it is cloth again."""
    other = make.cloth(make.grid("Cape", location=(3, 0, LEVEL)))

    def take_off(frame, _report):
        sheet.taffeta_cloth.enabled = False
        return True

    done = taffeta.bake([sheet, other], range(1, LAST + 1), take_off)
    assert modifier_stack.find_cache(sheet) is None and fell(make, other)
    sheet.taffeta_cloth.enabled = True
    assert bpy.ops.taffeta.bake(resume=True) == {"FINISHED"}
    assert fell(make, sheet) and bake_files.cache_file(sheet) == done.paths[sheet.name]


def test_linked_duplicates_are_baked_together_and_apart(sheet, make):
    twin = copy_of(sheet, linked=True)
    twin.location = (5.0, 0.0, LEVEL)
    twin.rotation_euler.x = 1.0
    bpy.context.view_layer.update()
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    assert bake_files.cache_file(twin) != bake_files.cache_file(sheet)
    assert fell(make, twin) and fell(make, sheet)
    assert np.abs(played(make, twin) - played(make, sheet)).max() > 1.0


def test_blend_renamed_after_the_bake_resumes(sheet, make, tmp_path):
    first = baked(sheet)
    expected = played(make, sheet)
    bpy.ops.wm.save_mainfile()
    os.rename(tmp_path / "shot.blend", tmp_path / "shot_final.blend")
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot_final.blend"))
    obj = bpy.data.objects["Cloth"]
    assert np.array_equal(played(make, obj), expected)
    assert bpy.ops.taffeta.bake(resume=True) == {"FINISHED"}
    assert bits(obj) == first
    assert not list((tmp_path / "taffeta_cache").glob("*.bak*"))


def test_saving_under_another_folder_keeps_playing(sheet, make, tmp_path):
    baked(sheet)
    expected = played(make, sheet)
    (tmp_path / "elsewhere").mkdir()
    reopened(tmp_path / "elsewhere" / "shot.blend")
    obj = bpy.data.objects["Cloth"]
    assert np.array_equal(played(make, obj), expected) and cache_modifier.trouble(obj) == ""
    baked(obj)
    assert fell(make, obj)


def test_unsaved_bake_plays_on_when_the_file_is_saved(scene, make, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    scene.frame_end = LAST
    obj = make.cloth(make.grid(count=4, location=(0, 0, LEVEL)))
    baked(obj)
    expected = played(make, obj)
    reopened(tmp_path / "first.blend")
    obj = bpy.data.objects["Cloth"]
    assert np.array_equal(played(make, obj), expected)
    assert cache_modifier.trouble(obj) == ""
    assert bpy.ops.taffeta.free(object="Cloth") == {"FINISHED"}


@pytest.fixture
def library(sheet, make, tmp_path):
    """A saved library with a baked cloth; an empty shot in another folder is open. Gives its last frame."""
    baked(sheet)
    expected = played(make, sheet)
    (tmp_path / "library").mkdir()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library" / "wardrobe.blend"))
    baked(bpy.data.objects["Cloth"])
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    (tmp_path / "shots").mkdir()
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, LAST
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shots" / "s010.blend"))
    return expected


def brought_in(tmp_path, link):
    with bpy.data.libraries.load(str(tmp_path / "library" / "wardrobe.blend"), link=link, relative=True) as (_, wanted):
        wanted.objects = ["Cloth"]
    obj = wanted.objects[0]
    bpy.context.scene.collection.objects.link(obj)
    bpy.context.view_layer.update()
    return obj


def test_a_linked_cloth_plays_and_is_not_baked(library, make, tmp_path):
    obj = brought_in(tmp_path, link=True)
    assert np.array_equal(played(make, obj), library)
    assert cache_modifier.trouble(obj) == ""
    with pytest.raises(RuntimeError, match="library override"):
        bpy.ops.taffeta.bake()
    with pytest.raises(RuntimeError, match="library override"):
        bpy.ops.taffeta.free(object="Cloth")
    reopened(tmp_path / "shots" / "s010.blend")
    assert np.array_equal(played(make, bpy.data.objects["Cloth"]), library)


def test_an_override_plays_its_own_bake_and_leaves_the_librarys(library, make, tmp_path):
    cache = tmp_path / "library" / "taffeta_cache"
    before = {path.name: path.read_bytes() for path in cache.iterdir()}
    obj = brought_in(tmp_path, link=True).override_create(remap_local_usages=True)
    bpy.context.view_layer.update()
    assert obj.taffeta_cloth.enabled and np.array_equal(played(make, obj), library)
    obj.taffeta_cloth.mass.value = 0.5
    obj.location.x = 4.0
    baked(obj)
    assert fell(make, obj)
    assert {path.name: path.read_bytes() for path in cache.iterdir()} == before
    expected = played(make, obj)
    reopened(tmp_path / "shots" / "s010.blend")
    obj = bpy.data.objects["Cloth"]
    assert obj.override_library and np.array_equal(played(make, obj), expected)
    assert obj.taffeta_cloth.mass.value == 0.5 and cache_modifier.trouble(obj) == ""
    assert [modifier.name for modifier in obj.modifiers].count(modifier_stack.CACHE_NAME) == 1


def test_freeing_an_override_leaves_the_librarys_bake(library, make, tmp_path):
    obj = brought_in(tmp_path, link=True).override_create(remap_local_usages=True)
    before = sorted((tmp_path / "library" / "taffeta_cache").iterdir())
    with pytest.raises(RuntimeError, match="belongs to the library"):
        bpy.ops.taffeta.free(object=obj.name)
    assert sorted((tmp_path / "library" / "taffeta_cache").iterdir()) == before
    assert np.array_equal(played(make, obj), library)


def test_an_appended_cloth_plays_and_bakes_beside_its_new_file(library, make, tmp_path):
    before = {path.name: path.read_bytes() for path in (tmp_path / "library" / "taffeta_cache").iterdir()}
    obj = brought_in(tmp_path, link=False)
    assert np.array_equal(played(make, obj), library)
    with pytest.raises(RuntimeError, match="a bake of wardrobe.blend"):
        bpy.ops.taffeta.free(object="Cloth")
    baked(obj)
    assert bake_files.cache_file(obj).parent == tmp_path / "shots" / "taffeta_cache"
    assert {path.name: path.read_bytes() for path in (tmp_path / "library" / "taffeta_cache").iterdir()} == before


def handlers():
    return {
        # Blender's own add-ons come and go in the same lists
        name: [f for f in getattr(bpy.app.handlers, name) if f.__module__.startswith("taffeta")]
        for name in dir(bpy.app.handlers)
        if name.endswith(("_post", "_pre"))
    }


def test_register_unregister_register_keeps_settings_and_playback(sheet, make):
    """A bake plays while Taffeta is switched off, and its settings are there when it is switched on again."""
    baked(sheet)
    expected, path = played(make, sheet), sheet.taffeta_cloth.cache_path
    sheet.taffeta_cloth.mass.value = 0.4
    before = handlers()
    for _ in range(2):
        taffeta.unregister()
        try:
            assert not hasattr(sheet, "taffeta_cloth")
            assert not any(handlers().values())
            assert np.array_equal(played(make, sheet), expected)
        finally:
            taffeta.register()
    assert handlers() == before
    assert sheet.taffeta_cloth.enabled and sheet.taffeta_cloth.cache_path == path
    assert sheet.taffeta_cloth.mass.value == pytest.approx(0.4)
    assert bpy.ops.taffeta.bake(resume=True) == {"FINISHED"}


def test_a_baked_file_is_saved_again_without_taffeta(sheet, make, tmp_path):
    """A colleague without Taffeta opens, changes and saves the file: the settings survive that."""
    baked(sheet)
    bpy.ops.wm.save_mainfile()
    script = tmp_path / "colleague.py"
    script.write_text(
        "import sys\nsys.modules['taffeta'] = None\nimport bpy\n"
        "bpy.ops.wm.open_mainfile(filepath=sys.argv[1])\nbpy.data.objects['Cloth'].location.x += 1\n"
        "bpy.ops.wm.save_mainfile()\n"
    )
    command = [sys.executable, "-P", str(script), str(tmp_path / "shot.blend")]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    obj = bpy.data.objects["Cloth"]
    assert obj.location.x == 1.0 and obj.taffeta_cloth.enabled and cache_modifier.trouble(obj) == ""
    assert fell(make, obj)


def test_an_override_without_its_library_says_so_and_plays_when_that_is_back(library, make, tmp_path, capfd):
    obj = brought_in(tmp_path, link=True).override_create(remap_local_usages=True)
    baked(obj)
    bpy.ops.wm.save_mainfile()
    here, away = tmp_path / "library" / "wardrobe.blend", tmp_path / "library" / "gone.blend"
    here.rename(away)
    shot = bpy.data.filepath
    bpy.ops.wm.open_mainfile(filepath=shot)
    told = [row for row in check(bpy.context.scene, bpy.context.evaluated_depsgraph_get()) if row.object == "Cloth"]
    assert ["wardrobe.blend" in row.sentence for row in told] == [True] and "Relocate" in told[0].remedy
    with pytest.raises(RuntimeError, match="has lost its mesh"):
        bpy.ops.taffeta.bake()
    out, err = capfd.readouterr()
    assert "bake again" not in out + err and "fill its edges" not in out + err
    away.rename(here)
    bpy.ops.wm.open_mainfile(filepath=shot)
    assert not cache_modifier.trouble(bpy.data.objects["Cloth"])
