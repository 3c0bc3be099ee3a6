# SPDX-License-Identifier: GPL-3.0-or-later
"""A file that was baked before its first save: its bakes come out of the temporary folder, and none is lost."""

import json
import tempfile

import bpy
import pytest
from taffeta.operators.bake import job as jobs
from taffeta.operators.bake.order import read_order
from taffeta.operators.checks import problem_list
from taffeta.operators.playback import cache_modifier, owners
from taffeta.solver.cache import moves, names, whose

LAST = 4


@pytest.fixture
def home(tmp_path, monkeypatch):
    """Where the file is saved; beside it is the system's temporary folder."""
    for name in ("tmp", "shots"):
        (tmp_path / name).mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    return tmp_path / "shots"


@pytest.fixture
def sheet(scene, make, home):
    """A cloth that was baked twice, of two weights, and saved after that."""
    scene.frame_end = LAST
    obj = make.cloth(make.grid(count=4, location=(0, 0, 2)))
    for mass in (0.1, 0.2):
        obj.taffeta_cloth.mass.value = mass
        assert bpy.ops.taffeta.bake(label=f"mass {mass}") == {"FINISHED"}
    bpy.ops.wm.save_as_mainfile(filepath=str(home / "shot.blend"))
    return obj


def files(path):
    """The bake's files, of the journal all but the line that says whose it is."""
    found = {part.suffixes[-1]: part.read_bytes() for part in (*names.parts(path), *names.companions(path))}
    return found | {".journal": found[".journal"].partition(b"\n")[2]}


def lines():
    bpy.context.view_layer.update()
    return [p for p in problem_list.latest(bpy.context.scene) if "taffeta.fix_temporary" in p.verbs]


def test_a_line_tells_and_its_button_brings_the_bakes(sheet, home):
    temporary = owners.cache_file(sheet)
    assert temporary.is_relative_to(home.parent / "tmp")
    before = [files(path) for path in (temporary, temporary.with_name("Cloth.bak1.pc2"))]
    (line,) = lines()
    assert line.object == "Cloth" and line.sentence.startswith("Cloth's bake lies in a temporary folder")
    assert line.severity == "WARNING" and line.remedy.startswith("Bring it beside the file")
    assert bpy.ops.taffeta.fix_temporary(object="Cloth") == {"FINISHED"}
    path = home / "taffeta_cache" / "Cloth.pc2"
    assert cache_modifier.played(sheet) == path and sheet.taffeta_cloth.cache_path == "//taffeta_cache/Cloth.pc2"
    assert [files(place) for place in (path, path.with_name("Cloth.bak1.pc2"))] == before
    assert whose.owner_of(path) == "../shot.blend" and files(temporary) == before[0], "it is a copy"
    assert not lines()
    problem_list.show(bpy.context.scene)
    listed = [item.path for item in bpy.context.window_manager.taffeta.bakes]
    assert listed == [str(path), str(path.with_name("Cloth.bak1.pc2"))]


def test_a_file_without_a_place_is_told_nothing_of_it(scene, make, home):
    scene.frame_end = 2
    make.cloth(make.grid(count=4, location=(0, 0, 2)))
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    assert not lines()


def test_the_older_bakes_of_a_new_file_are_its_own_too(sheet):
    older = names.older_bakes(owners.cache_file(sheet))
    assert len(older) == 1 and not owners.maker_of(older[0])


def test_a_bake_that_the_file_wants_in_the_temporary_folder_stays(sheet):
    bpy.context.scene.taffeta.cache_folder = str(owners.cache_file(sheet).parent)
    assert not lines()


@pytest.mark.parametrize("change", [None, "resume", "anew", "from"])
def test_what_goes_on_or_begins_anew_leaves_nothing_behind(sheet, home, change):
    """Resume, Resume of a bake that no longer fits, a bake from a frame on, a new one: each finds the bakes beside the file."""
    before = files(owners.cache_file(sheet))
    if change == "resume":
        sheet.taffeta_cloth.mass.value = 0.3
    bpy.context.scene.frame_end = LAST + 2
    options = {"anew": {}, "from": {"from_frame": 3}}.get(change, {"resume": True})
    assert bpy.ops.taffeta.bake(**options) == {"FINISHED"}
    path = home / "taffeta_cache" / "Cloth.pc2"
    assert cache_modifier.played(sheet) == path and not lines()
    kept = {None: LAST, "resume": 0, "from": 2, "anew": 0}[change]
    assert json.loads(sheet.taffeta_cloth.report_json)["frames_kept"] == kept
    old = [files(older) for older in names.older_bakes(path)]
    assert len(old) == (1 if change is None else 2) and (change is None) != (before in old)
    if change is None:
        assert files(path)[".pc2"][32:].startswith(before[".pc2"][32:])


def test_a_copy_that_is_cut_short_leaves_the_bake_where_it_plays(sheet, home, monkeypatch):
    path, before = owners.cache_file(sheet), files(owners.cache_file(sheet))

    def full(source, out, size, go_on=None):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(moves, "_pour", full)
        with pytest.raises(RuntimeError, match="cannot be copied"):
            bpy.ops.taffeta.fix_temporary(object="Cloth")
        with pytest.raises(RuntimeError, match="cannot be copied"):
            bpy.ops.taffeta.bake(resume=True)
    job = jobs.Job(read_order(bpy.context.scene, resume=True))
    job.stop.set()
    list(jobs.steps(job, iter(())))
    assert cache_modifier.played(sheet) == path and files(path) == before
    assert not list((home / "taffeta_cache").glob("*")) and len(lines()) == 1
    assert bpy.ops.taffeta.fix_temporary(object="Cloth") == {"FINISHED"} and not lines()
