# SPDX-License-Identifier: GPL-3.0-or-later
"""A .blend of somebody else names files, and folders hold links: nothing that Taffeta did not write is touched."""

import json
import os
import sys

import bpy
import numpy as np
import pytest
from taffeta.operators import export, sequence
from taffeta.operators.playback import bake_files
from taffeta.operators.work.steps import run_through
from taffeta.solver.cache import frames, names, pc2

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links")

KEPT = b"four years"


@pytest.fixture
def elsewhere(tmp_path):
    """A folder with files of somebody else."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "thesis.txt").write_bytes(KEPT)
    pc2.write(folder / "houdini.pc2", np.zeros((3, 25, 3), np.float32), 1)
    (folder / "houdini.report.json").write_bytes(KEPT)
    (folder / "notes.report.json").write_bytes(KEPT)
    return folder


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_free_leaves_the_neighbour_of_a_path_that_is_no_bake(saved, make, elsewhere):
    obj = make.cloth(make.grid())
    obj.taffeta_cloth.cache_path = str(elsewhere / "notes.pc2")
    before = contents(elsewhere)
    assert bpy.ops.taffeta.free(object="Cloth") == {"FINISHED"}
    assert contents(elsewhere) == before and obj.taffeta_cloth.cache_path == ""


def test_resume_bakes_where_it_should_and_not_where_a_path_leads(saved, make, elsewhere):
    saved.frame_end = 2
    obj = make.cloth(make.grid())
    obj.taffeta_cloth.cache_path = str(elsewhere / "houdini.pc2")
    before = contents(elsewhere)
    assert bpy.ops.taffeta.bake(resume=True) == {"FINISHED"}
    assert contents(elsewhere) == before
    assert obj.taffeta_cloth.cache_path == "//taffeta_cache/Cloth.pc2"


def test_free_leaves_the_bake_of_another_file(saved, make, elsewhere, capfd):
    """The journal says whose it is, and that .blend is still there."""
    obj = make.cloth(make.grid())
    (elsewhere / "hero.blend").write_bytes(b"")
    with frames.open_cache(elsewhere / "Hero.pc2", 25, 1, 24.0, "hero.blend") as cache:
        cache.append(1, b"", *np.zeros((3, 25, 3)))
    (elsewhere / "Hero.report.json").write_bytes(b"{}")
    obj.taffeta_cloth.cache_path = str(elsewhere / "Hero.pc2")
    before = contents(elsewhere)
    with pytest.raises(RuntimeError, match="Cloth plays a bake of hero.blend: nothing was freed"):
        bpy.ops.taffeta.free(object="Cloth")
    assert contents(elsewhere) == before and obj.taffeta_cloth.cache_path
    assert bpy.ops.taffeta.free(object="Cloth", others="LEAVE") == {"FINISHED"}
    assert contents(elsewhere) == before and obj.taffeta_cloth.cache_path == ""
    assert "Another .blend's bake was left on the disk: Cloth (of hero.blend)" in capfd.readouterr().out
    (elsewhere / "hero.blend").unlink()
    obj.taffeta_cloth.cache_path = str(elsewhere / "Hero.pc2")
    with pytest.raises(RuntimeError, match="hero.blend"):
        bpy.ops.taffeta.free(object="Cloth")  # it may have been renamed, and this is no folder of ours
    before = contents(elsewhere)
    bpy.ops.taffeta.free(object="Cloth", others="TRASH")
    assert contents(elsewhere / "trash" / "Hero~1").items() <= before.items()


def test_a_report_is_not_written_through_a_link(saved, make, elsewhere, tmp_path):
    saved.frame_end = 2
    make.cloth(make.grid())
    report = tmp_path / "taffeta_cache" / "Cloth.report.json"
    report.parent.mkdir()
    report.symlink_to(elsewhere / "thesis.txt")
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    assert (elsewhere / "thesis.txt").read_bytes() == KEPT
    assert not report.is_symlink() and json.loads(report.read_text())["complete"]


def test_a_report_that_is_a_pipe_does_not_hold_up_resume(saved, make):
    saved.frame_end = 2
    obj = make.cloth(make.grid())
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    report = bake_files.cache_file(obj).with_suffix(".report.json")
    report.unlink()
    os.mkfifo(report)
    assert bpy.ops.taffeta.bake(resume=True) == {"FINISHED"}
    assert json.loads(obj.taffeta_cloth.report_json)["complete"]


def test_a_sequence_is_not_written_through_a_link(saved, elsewhere, tmp_path):
    """Neither under the name it is to have nor under that while it is written."""
    source = tmp_path / "body_0001.obj"
    source.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    folder = bake_files.cache_folder(saved)
    folder.mkdir()
    for name in ("body_sequence.part", "body_sequence.pc2.part"):
        (folder / name).symlink_to(elsewhere / "thesis.txt")
    with pytest.raises(OSError, match="body_sequence.pc2.part is a link"):
        run_through(sequence.import_sequence(bpy.context, source, np.eye(3)))
    assert (elsewhere / "thesis.txt").read_bytes() == KEPT
    (folder / "body_sequence.pc2.part").unlink()
    run_through(sequence.import_sequence(bpy.context, source, np.eye(3)))
    assert (elsewhere / "thesis.txt").read_bytes() == KEPT and (folder / "body_sequence.pc2").is_file()


@pytest.mark.parametrize("make_way", ["link", "pipe"])
def test_an_export_does_not_follow_what_is_no_file(saved, make, elsewhere, tmp_path, monkeypatch, make_way):
    """USD puts pictures into a folder of their own, here one that leads away; a pipe has the name of another file."""
    saved.frame_end = 2
    make.cloth(make.grid())
    bpy.ops.taffeta.bake()
    target = tmp_path / "out" / "a.usdc"
    target.parent.mkdir()

    def with_picture(path, first, last):
        path.write_bytes(b"usd")
        (path.parent / "textures").mkdir()
        (path.parent / "textures" / "wool.png").write_bytes(b"png")

    monkeypatch.setitem(export.EXPORTERS, ".usdc", with_picture)
    if make_way == "link":
        (target.parent / "textures").symlink_to(elsewhere)
    else:
        (target.parent / "textures").mkdir()
        os.mkfifo(target.parent / "textures" / "wool.png")
    before = contents(elsewhere)
    with pytest.raises(RuntimeError, match="textures is a link" if make_way == "link" else "wool.png exists already"):
        bpy.ops.taffeta.export(filepath=str(target), object="Cloth")
    assert contents(elsewhere) == before and os.listdir(target.parent) == ["textures"]


def test_a_bake_leaves_files_of_its_name_that_are_not_ours(saved, make, tmp_path, capfd):
    """Another program's cache and a text are neither renamed nor written over; the bake gets another name, also the next time."""
    saved.frame_end = 2
    obj = make.cloth(make.grid())
    other = make.cloth(make.grid("Other", location=(3, 0, 0)))
    folder = tmp_path / "taffeta_cache"
    folder.mkdir()
    pc2.write(folder / "Cloth.pc2", np.zeros((3, 25, 3), np.float32), 1)
    for name in ("Cloth.lock", "Cloth-2.recipe", "Other.about.json"):
        (folder / name).write_bytes(KEPT)
    before = contents(folder)
    for again in (False, True):
        assert bpy.ops.taffeta.bake(resume=again) == {"FINISHED"}
        assert bpy.ops.taffeta.bake() == {"FINISHED"}
        assert contents(folder).items() >= before.items()
    assert bake_files.cache_file(obj).name == "Cloth-3.pc2" and bake_files.cache_file(other).name == "Other-2.pc2"
    assert "Cloth.bak1.pc2" not in contents(folder) and "Cloth-3.bak1.pc2" in contents(folder)
    assert (
        "has files named Cloth that are not Taffeta's: they stay, and Cloth bakes to Cloth-3.pc2"
        in capfd.readouterr().out
    )
    bpy.ops.taffeta.free(everything=True, older=True)
    assert contents(folder) == before


def test_notes_and_rests_of_a_bake_of_ours_are_not_taken_for_somebody_elses(saved, make, tmp_path):
    """Somebody has deleted the frames and left their notes, or the journal alone: the name is kept."""
    saved.frame_end = 2
    obj = make.cloth(make.grid())
    bpy.ops.taffeta.bake()
    path = bake_files.cache_file(obj)
    path.with_suffix(".journal").unlink()
    bpy.ops.taffeta.bake()
    assert bake_files.cache_file(obj) == path and path.with_name("Cloth.bak1.pc2").is_file()
    for part in names.parts(path):
        part.unlink()
    bpy.ops.taffeta.bake()
    assert bake_files.cache_file(obj) == path


def test_restore_writes_over_no_note_of_somebody_else(saved, make, tmp_path):
    saved.frame_end = 2
    make.cloth(make.grid())
    bpy.ops.taffeta.bake()
    bpy.ops.taffeta.free(object="Cloth")
    (tmp_path / "taffeta_cache" / "Cloth.recipe").write_bytes(KEPT)
    bpy.ops.taffeta.bake_restore(object="Cloth")
    assert (tmp_path / "taffeta_cache" / "Cloth.recipe").read_bytes() == KEPT
