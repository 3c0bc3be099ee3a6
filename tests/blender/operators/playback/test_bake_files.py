# SPDX-License-Identifier: GPL-3.0-or-later
"""Where bakes lie: beside the file, or in a folder of the session while it has no place."""

import json
import os
import subprocess
import sys

import bpy
import pytest
from taffeta.operators.playback import bake_files, cache_modifier, owners
from taffeta.operators.read import modifier_stack
from taffeta.solver.cache.frames import cached_frames
from taffeta.solver.cache.whose import owner_of


def test_path_is_relative_once_the_file_has_a_place(make, saved, tmp_path):
    obj = make.grid()
    make.bake(obj, tmp_path / "taffeta_cache")
    assert modifier_stack.find_cache(obj).filepath == "//taffeta_cache/Cloth.pc2"
    assert bake_files.cache_file(obj) == tmp_path / "taffeta_cache" / "Cloth.pc2"


def test_path_is_absolute_before_the_file_has_a_place(make, tmp_path):
    obj = make.grid()
    make.bake(obj, tmp_path)
    assert modifier_stack.find_cache(obj).filepath == str(tmp_path / "Cloth.pc2")


@pytest.mark.skipif(os.sep == "\\", reason="Windows itself has both slashes")
def test_a_file_of_windows_plays_and_goes_on_elsewhere(make, saved, tmp_path):
    obj = make.cloth(make.grid())
    saved.taffeta.cache_folder = "//caches\\shot\\"
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    path, modifier = tmp_path / "caches" / "shot" / "Cloth.pc2", modifier_stack.find_cache(obj)
    assert modifier.filepath == "//caches/shot/Cloth.pc2" and bake_files.cache_file(obj) == path
    before = path.read_bytes()
    modifier.filepath = obj.taffeta_cloth.cache_path = "//caches\\shot\\Cloth.pc2"  # as Windows writes it
    assert cache_modifier.trouble(obj) == "" and bake_files.cache_file(obj) == path
    assert bpy.ops.taffeta.bake(resume=True) == {"FINISHED"}
    assert path.read_bytes() == before and not list(path.parent.glob("*bak*"))


@pytest.mark.skipif(os.sep == "\\", reason="these are places there")
@pytest.mark.parametrize("folder", ["C:\\caches", "d:/caches", "\\\\server\\share"])
def test_a_cache_folder_of_windows_is_refused_elsewhere(make, saved, tmp_path, folder):
    make.cloth(make.grid())
    saved.taffeta.cache_folder = folder
    with pytest.raises(RuntimeError, match="is a place on Windows"):
        bpy.ops.taffeta.bake()
    assert [path.name for path in tmp_path.iterdir()] == ["shot.blend"]


def test_unsaved_files_of_two_sessions_do_not_share_a_folder(scene, tmp_path):
    folder = bake_files.cache_folder(scene)
    script = (
        "import sys, bpy, taffeta\ntaffeta.register()\nfrom taffeta.operators.playback import bake_files\n"
        "print('FOLDER', bake_files.cache_folder(bpy.context.scene))\ntaffeta.unregister()\n"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, cwd=tmp_path)
    (other,) = [line.split()[1] for line in ended.stdout.splitlines() if line.startswith("FOLDER")]
    assert str(folder) != other and folder.name == "taffeta_cache"


@pytest.mark.parametrize("text", ["", "  ", "caches"])
def test_no_bake_goes_to_where_blender_was_started(saved, tmp_path, text, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    bpy.context.scene.taffeta.cache_folder = text
    assert bake_files.cache_folder(bpy.context.scene) == tmp_path / (text.strip() or "taffeta_cache")


@pytest.mark.parametrize("text, below", [("~/caches", "caches"), ("~", ""), (" ~/a/../b ", "b")])
def test_a_cache_folder_in_ones_home(make, saved, tmp_path, monkeypatch, text, below):
    monkeypatch.setenv("USERPROFILE" if os.sep == "\\" else "HOME", str(tmp_path / "me"))
    saved.taffeta.cache_folder, saved.frame_end = text, 2
    assert bake_files.cache_folder(saved) == tmp_path / "me" / below
    obj = make.cloth(make.grid())
    assert (
        bpy.ops.taffeta.bake() == {"FINISHED"} and bake_files.cache_file(obj) == tmp_path / "me" / below / "Cloth.pc2"
    )
    assert not (tmp_path / "~").exists()


def test_a_cache_folder_that_begins_as_a_home_does(saved, tmp_path):
    """As editors call what they saved before; and ~root is nobody's that a .blend may mean."""
    for folder in ("~old", "~root/caches", "//~/caches"):
        saved.taffeta.cache_folder = folder
        assert bake_files.cache_folder(saved) == tmp_path / folder.removeprefix("//")


def test_an_owner_fits_into_its_journal_in_any_letters(saved, tmp_path, make):
    """Journals have lines of 1,024 bytes, and a letter beyond those of most alphabets takes twelve."""
    saved.frame_end = 2
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / ("\U0001f9e5" * 40 + ".blend")))
    make.cloth(make.grid())
    bpy.context.scene.taffeta.cache_folder = str(tmp_path / "a" / "caches")
    for letter, count in (("\U0001f9e5", 40), ("x", 200)):
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / (letter * count + ".blend")))
        assert bpy.ops.taffeta.bake() == {"FINISHED"}
        path = bake_files.cache_file(bpy.data.objects["Cloth"])
        assert owner_of(path).endswith(f"{letter}.blend") and cached_frames(path) == range(1, 3)
    folder = tmp_path / "\U0001f9e5"
    folder = folder / ("\U0001f9e5" * 50)
    folder.mkdir(parents=True)
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / ("\U0001f9e5" * 50 + ".blend")))
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    path = bake_files.cache_file(bpy.data.objects["Cloth"])
    assert cached_frames(path) == range(1, 3) and owner_of(path) == "", "too long to be told"


@pytest.mark.parametrize("owner", ["n" * 900, "a\0b", "\ud800", "/"])
def test_an_owner_that_is_no_file_is_nobody(saved, make, tmp_path, owner):
    obj = make.grid()
    make.bake(obj, tmp_path / "taffeta_cache")
    journal = tmp_path / "taffeta_cache" / "Cloth.journal"
    head, *lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(json.dumps(json.loads(head) | {"owner": owner}).encode() + b"\n" + b"".join(lines))
    path = bake_files.cache_file(obj)
    assert owner_of(path) == owner and not owners.maker_of(path)
    assert bake_files.bake_paths(saved, [obj], go_on=True) == [path]
