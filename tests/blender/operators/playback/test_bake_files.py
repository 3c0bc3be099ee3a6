# SPDX-License-Identifier: GPL-3.0-or-later
"""Where bakes lie: beside the file, or in a folder of the session while it has no place."""

import subprocess
import sys

import bpy
import pytest
from taffeta.operators.playback import bake_files
from taffeta.operators.read import modifier_stack


def test_path_is_relative_once_the_file_has_a_place(make, saved, tmp_path):
    obj = make.grid()
    make.bake(obj, tmp_path / "taffeta_cache")
    assert modifier_stack.find_cache(obj).filepath == "//taffeta_cache/Cloth.pc2"
    assert bake_files.cache_file(obj) == tmp_path / "taffeta_cache" / "Cloth.pc2"


def test_path_is_absolute_before_the_file_has_a_place(make, scene, tmp_path):
    obj = make.grid()
    make.bake(obj, tmp_path)
    assert modifier_stack.find_cache(obj).filepath == str(tmp_path / "Cloth.pc2")


def test_unsaved_files_of_two_sessions_do_not_share_a_folder(make, scene, tmp_path):
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
