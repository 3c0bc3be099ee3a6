# SPDX-License-Identifier: GPL-3.0-or-later
"""No bake is lost or forgotten: after Save As, undo and a reopen; the list of bakes, its verbs, the trash."""

import errno
import json
import os
import tempfile

import bpy
import pytest
from taffeta.operators.bake import job as jobs
from taffeta.operators.bake import run
from taffeta.operators.bake.order import read_order
from taffeta.operators.checks import problem_list
from taffeta.operators.playback import bake_files, cache_modifier, owners
from taffeta.solver.cache import about, frames, names, trash, whose
from taffeta.solver.cache.frames import cached_frames

LAST = 6


@pytest.fixture
def sheet(saved, make):
    """A saved scene with a sheet that falls, frames 1 to 6."""
    saved.frame_end = LAST
    return make.cloth(make.grid(count=4, location=(0, 0, 2)))


def cloth():
    return bpy.data.objects["Cloth"]


def bits(path):
    return [part.read_bytes() for part in names.parts(path)]


def files(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def baked(**options):
    assert bpy.ops.taffeta.bake(**options) == {"FINISHED"}
    return cache_modifier.played(cloth())


def save_as(path):
    path.parent.mkdir(exist_ok=True)
    bpy.ops.wm.save_as_mainfile(filepath=str(path))


def listed():
    """What the panel has to draw of the sheet."""
    problem_list.show(bpy.context.scene)
    return [item for item in bpy.context.window_manager.taffeta.bakes if item.garment == "Cloth"]


def test_free_after_save_as_leaves_the_first_files_bake(sheet, tmp_path):
    baked()
    bpy.ops.wm.save_mainfile()
    before = files(tmp_path / "taffeta_cache")
    save_as(tmp_path / "shot_v2.blend")
    with pytest.raises(RuntimeError, match="plays a bake of shot.blend: nothing was freed.*others='LEAVE'"):
        bpy.ops.taffeta.free(object="Cloth")
    assert cache_modifier.played(cloth()), "a refusal changes nothing"
    assert bpy.ops.taffeta.free(object="Cloth", others="LEAVE", older=True) == {"FINISHED"}
    assert files(tmp_path / "taffeta_cache") == before and cache_modifier.played(cloth()) is None
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    assert cache_modifier.played(cloth())


@pytest.mark.parametrize("place", ["shot_v2.blend", "elsewhere/shot.blend"])
def test_resume_after_save_as_goes_on_from_a_copy(sheet, tmp_path, place, capfd):
    first = baked()
    expected, before = bits(first)[:2], files(tmp_path / "taffeta_cache")
    bpy.ops.wm.save_mainfile()
    save_as(tmp_path / place)
    path = baked(resume=True)
    assert path != first and bits(path)[:2] == expected
    assert before.items() <= files(tmp_path / "taffeta_cache").items()
    assert f"{LAST} of them as they were" in capfd.readouterr().out
    assert not owners.maker_of(path) and not list(path.parent.glob("*.bak*"))


def test_re_bake_after_save_as_keeps_the_frames_that_are_played(sheet, tmp_path):
    first = baked()
    expected, before = bits(first)[:2], files(tmp_path / "taffeta_cache")
    save_as(tmp_path / "shot_v2.blend")
    sheet.taffeta_cloth.mass.value *= 2.0
    path = baked(from_frame=4)
    assert json.loads(sheet.taffeta_cloth.report_json)["frames_kept"] == 3
    changed = [old != new for old, new in zip(expected, bits(path)[:2], strict=True)]
    size = names.parts(path)[1].stat().st_size // LAST
    assert changed == [True, True] and bits(path)[1][: 3 * size] == expected[1][: 3 * size]
    assert before.items() <= files(tmp_path / "taffeta_cache").items()


def test_resume_after_save_as_and_a_change_leaves_no_second_copy(sheet, tmp_path):
    first = baked()
    before = bits(first)
    save_as(tmp_path / "shot_v2.blend")
    sheet.taffeta_cloth.mass.value *= 2.0
    path = baked(resume=True)
    assert bits(first) == before and cached_frames(path) == range(1, LAST + 1) and path != first
    assert not list(path.parent.glob("*.bak*"))


def test_a_re_bake_without_a_frame_before_leaves_no_files(sheet, tmp_path):
    with pytest.raises(RuntimeError, match="no good frame"):
        bpy.ops.taffeta.bake(from_frame=4)
    assert not files(tmp_path / "taffeta_cache")


def test_the_first_name_of_a_file_owns_what_it_baked_before(scene, make, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    scene.frame_end = 2
    make.cloth(make.grid(count=4))
    path = baked()
    before = bits(path)[:2]
    save_as(tmp_path / "shots" / "a.blend")
    assert whose.owner_of(path).endswith("shots/a.blend") and bits(path)[:2] == before
    save_as(tmp_path / "shots" / "b.blend")
    with pytest.raises(RuntimeError, match="a bake of a.blend"):
        bpy.ops.taffeta.free(object="Cloth")
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shots" / "a.blend"))
    assert bpy.ops.taffeta.free(object="Cloth") == {"FINISHED"} and not path.exists()


def test_a_bake_is_offered_after_an_undo(sheet):
    bpy.ops.ed.undo_push(message="Before")
    path = baked()
    expected = bits(path)
    bpy.ops.ed.undo_push(message="Bake")
    bpy.ops.ed.undo()
    assert cache_modifier.played(cloth()) is None
    (entry,) = listed()
    assert (entry.frame_count, entry.plays, entry.fits) == (LAST, False, True)
    assert bpy.ops.taffeta.bake_play(object="Cloth") == {"FINISHED"}
    assert cache_modifier.played(cloth()) == path and bits(path) == expected and listed()[0].plays
    assert json.loads(cloth().taffeta_cloth.report_json)["frames"] == LAST
    assert not cloth().taffeta_cloth.stale
    cloth().taffeta_cloth.mass.value *= 2.0
    listed()
    assert "before you changed Mass" in cloth().taffeta_cloth.stale, "what it was made of is known again"


def test_the_list_counts_the_frames_without_reading_whole_journals(sheet, monkeypatch):
    """It is made anew after each change, and the journal of a long bake has megabytes."""
    baked()
    monkeypatch.setattr(frames, "read_journal", lambda path: pytest.fail(f"read {path}"))
    listed()
    assert bpy.context.window_manager.taffeta.fabrics["Cloth"].frame_count == LAST


def test_a_bake_is_offered_after_a_reopen_without_saving(sheet, tmp_path):
    bpy.ops.wm.save_mainfile()
    baked()
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    (entry,) = listed()
    assert entry.frame_count == LAST and not entry.plays
    assert bpy.ops.taffeta.bake_play(object="Cloth", path=entry.path) == {"FINISHED"}
    assert listed()[0].plays


def test_after_an_undo_it_is_known_what_the_newer_bake_was_made_of(sheet):
    baked()
    bpy.ops.ed.undo_push(message="Bake")
    sheet.taffeta_cloth.mass.value *= 2.0
    baked()
    bpy.ops.ed.undo_push(message="Bake again")
    bpy.ops.ed.undo()
    assert cache_modifier.played(cloth()) and len(listed()) == 2
    assert "before you changed Mass" in cloth().taffeta_cloth.stale, "the mass is that of the first bake again"


def test_the_list_of_one_file_is_not_that_of_the_next(sheet, tmp_path):
    baked()
    bpy.ops.taffeta.free(object="Cloth")
    listed()
    session = bpy.context.window_manager.taffeta
    assert len(session.bakes) == 1 and session.trash
    save_as(tmp_path / "other.blend")
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "other.blend"))
    session = bpy.context.window_manager.taffeta  # the one before is freed memory
    assert not session.bakes and not session.trash


def test_a_cache_that_is_switched_off_is_not_said_to_play(sheet):
    baked()
    assert listed()[0].plays
    cloth().modifiers["Taffeta Cache"].show_viewport = False
    assert not listed()[0].plays


def test_every_bake_is_an_entry_and_can_be_played_named_deleted_restored(sheet):
    baked(label="heavy")
    sheet.taffeta_cloth.mass.value *= 2.0
    path = baked()
    folder, expected = path.parent, {item.label: bits(bake_files.Path(item.path)) for item in listed()}
    assert [(item.label, item.plays) for item in listed()] == [("Cloth", True), ("heavy", False)]
    digests = {item.about.split("settings ")[1][:8] for item in listed()}
    assert len(digests) == 2, "they were made with other settings"
    heavy = listed()[1].path
    assert bpy.ops.taffeta.bake_rename(object="Cloth", path=heavy, label="lead", note="too much") == {"FINISHED"}
    assert [(item.label, item.note) for item in listed()] == [("Cloth", ""), ("lead", "too much")]
    assert bpy.ops.taffeta.bake_play(object="Cloth", path=heavy) == {"FINISHED"}
    assert str(cache_modifier.played(sheet)) == heavy
    assert bpy.ops.taffeta.bake_delete(object="Cloth", path=str(path)) == {"FINISHED"}
    assert [item.label for item in listed()] == ["lead"]
    assert bpy.context.window_manager.taffeta.trash.endswith("kB")
    assert bpy.ops.taffeta.bake_delete(object="Cloth", path=heavy) == {"FINISHED"}
    assert cache_modifier.played(sheet) is None and not listed()
    for gone in trash.trashed(folder):
        assert bpy.ops.taffeta.bake_restore(object="Cloth", path=str(gone)) == {"FINISHED"}
    assert {item.label: bits(bake_files.Path(item.path)) for item in listed()} == {
        "Cloth": expected["Cloth"],
        "lead": expected["heavy"],
    }
    assert cache_modifier.played(sheet) == path, "the first that came back plays"
    bpy.ops.taffeta.bake_delete(object="Cloth", path=heavy)
    assert bpy.ops.taffeta.trash_empty() == {"FINISHED"}
    assert not (folder / "trash").exists() and cache_modifier.played(sheet) == path
    listed()
    assert bpy.context.window_manager.taffeta.trash == ""


def test_resume_goes_on_in_the_older_bake_that_plays(sheet):
    baked(label="heavy")
    sheet.taffeta_cloth.mass.value *= 2.0
    newest = baked()
    before, heavy = bits(newest), bake_files.Path(listed()[1].path)
    bpy.ops.taffeta.bake_play(object="Cloth", path=str(heavy))
    assert baked(from_frame=5) == heavy and bits(newest) == before
    assert [item.label for item in listed()][-1] == "heavy", "it keeps its name"


def test_verbs_touch_nothing_but_the_list(sheet, make, tmp_path):
    baked()
    coat = make.cloth(make.grid("Coat", location=(3, 0, 2)))
    assert bpy.ops.taffeta.bake(object="Coat") == {"FINISHED"}
    theirs = bake_files.cache_file(coat)
    before = files(tmp_path)
    for verb in ("play", "rename", "delete"):
        with pytest.raises(RuntimeError, match="is no bake of the list"):
            getattr(bpy.ops.taffeta, f"bake_{verb}")(object="Cloth", path=str(theirs))
    with pytest.raises(RuntimeError, match="The trash is empty"):
        bpy.ops.taffeta.bake_restore(object="Cloth", path=str(theirs))
    assert files(tmp_path) == before


def test_a_trash_without_a_bake_is_told_to_be_empty(sheet, capfd):
    path = baked()
    assert bpy.ops.taffeta.trash_empty() == {"FINISHED"}
    told = capfd.readouterr().out
    assert "The trash is empty" in told and "Deleted" not in told and path.is_file()


def test_another_files_bake_can_be_played_and_no_more(sheet, tmp_path):
    path = baked()
    before = files(tmp_path / "taffeta_cache")
    save_as(tmp_path / "shot_v2.blend")
    (entry,) = listed()
    assert entry.maker == "shot.blend" and entry.plays
    for verb in ("rename", "delete"):
        with pytest.raises(RuntimeError, match="is a bake of shot.blend"):
            getattr(bpy.ops.taffeta, f"bake_{verb}")(object="Cloth", path=str(path))
    bpy.ops.taffeta.free(object="Cloth", others="TRASH")
    assert not listed() and bpy.context.window_manager.taffeta.trash == "", "it lies in the trash of shot.blend"
    assert bpy.ops.taffeta.trash_empty() == {"FINISHED"}
    (gone,) = trash.trashed(tmp_path / "taffeta_cache")
    trash.restore(gone)
    assert files(tmp_path / "taffeta_cache") == before


def test_what_the_old_file_bakes_since_is_told_and_its_bake_from_before_can_be_played(sheet, tmp_path):
    before = bits(baked(label="approved"))
    bpy.ops.wm.save_mainfile()
    save_as(tmp_path / "shot_v2.blend")
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    bpy.context.scene.taffeta.wind[2] = 8.0
    path = baked(label="windy")
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot_v2.blend"))
    assert cache_modifier.played(cloth()) == path and bits(path) != before
    assert [(item.label, item.maker, item.changed) for item in listed()] == [
        ("windy", "shot.blend", "Wind"),
        ("approved", "shot.blend", ""),
    ]
    (row,) = [p for p in problem_list.latest(bpy.context.scene) if "made with other settings" in p.sentence]
    assert row.sentence == "Cloth plays a bake of shot.blend, made with other settings than this file has: Wind"
    assert row.remedy.startswith("Play one of the list of bakes that fits")
    older, known = listed()[1].path, files(tmp_path / "taffeta_cache")
    for verb in ("rename", "delete"):
        with pytest.raises(RuntimeError, match="is a bake of shot.blend"):
            getattr(bpy.ops.taffeta, f"bake_{verb}")(object="Cloth", path=older)
    assert bpy.ops.taffeta.bake_play(object="Cloth", path=older) == {"FINISHED"}
    assert bits(cache_modifier.played(cloth())) == before and len(listed()) == 2, "and the way back"
    assert "made with other settings" not in " ".join(p.sentence for p in problem_list.latest(bpy.context.scene))
    bpy.ops.taffeta.free(object="Cloth", others="LEAVE", older=True)
    assert files(tmp_path / "taffeta_cache") == known


def test_a_garment_that_was_renamed_keeps_its_bakes(sheet, make, tmp_path):
    first = bits(baked(label="approved"))
    assert baked(label="heavier").name == "Cloth.pc2"
    sheet.name = "Curtain"
    assert bpy.ops.taffeta.bake(label="third") == {"FINISHED"}
    assert cache_modifier.played(sheet).name == "Curtain.pc2"
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    obj = bpy.data.objects["Curtain"]

    def bakes():
        problem_list.show(bpy.context.scene)
        return list(bpy.context.window_manager.taffeta.bakes)

    assert [item.label for item in bakes()] == ["third", "heavier", "approved"]
    copy = obj.copy()
    bpy.context.scene.collection.objects.link(copy)
    assert [item.label for item in bakes() if item.garment == copy.name] == ["third"], "they are the original's"
    bpy.data.objects.remove(copy)
    assert bpy.ops.taffeta.bake_play(object="Curtain", path=bakes()[2].path) == {"FINISHED"}
    assert bits(cache_modifier.played(obj)) == first
    coat = make.cloth(make.grid("Cloth", location=(3, 0, 2)))
    labels = [item.label for item in bakes() if item.garment == "Curtain"]
    assert labels == ["approved", "heavier", "third"], "it plays one of that name itself"
    assert bpy.ops.taffeta.bake_play(object="Curtain", path=str(tmp_path / "taffeta_cache" / "Curtain.pc2")) == {
        "FINISHED"
    }
    assert [item.label for item in bakes() if item.garment == "Curtain"] == ["third"], "they are that one's now"
    bpy.data.objects.remove(coat)
    assert bpy.ops.taffeta.free(object="Curtain", older=True) == {"FINISHED"}
    folder = tmp_path / "taffeta_cache"
    assert not list(folder.glob("*.pc2")) and len(trash.trashed(folder)) == 3


@pytest.mark.parametrize("is_renamed_first", [True, False])
@pytest.mark.parametrize("verb", ["free", "bake_delete"])
def test_a_garment_that_was_renamed_keeps_the_older_bakes_when_the_newest_is_freed(sheet, verb, is_renamed_first):
    """Whether it was renamed before or after, what is freed comes back into its list, and plays."""
    baked(label="approved")
    newest = bits(baked(label="heavier"))
    sheet.name = "Curtain" if is_renamed_first else "Cloth"
    assert getattr(bpy.ops.taffeta, verb)(object=sheet.name) == {"FINISHED"}
    sheet.name = "Curtain"

    def labels(garment="Curtain"):
        problem_list.show(bpy.context.scene)
        return [item.label for item in bpy.context.window_manager.taffeta.bakes if item.garment == garment]

    assert labels() == ["approved"] and cache_modifier.played(sheet) is None
    copy = sheet.copy()
    bpy.context.scene.collection.objects.link(copy)
    assert labels(copy.name) == [] and labels() == ["approved"], "they are the original's"
    bpy.data.objects.remove(copy)
    assert bpy.ops.taffeta.bake_restore(object="Curtain") == {"FINISHED"}
    assert bits(cache_modifier.played(sheet)) == newest and labels() == ["heavier", "approved"]


def test_names_from_before_stay_while_others_play(sheet):
    """A garment of three names lists its bakes of all of them, whichever plays."""
    for name in ("Cloth", "Curtain"):
        sheet.name = name
        assert bpy.ops.taffeta.bake(label=name) == {"FINISHED"}
    problem_list.show(bpy.context.scene)
    first = next(item.path for item in bpy.context.window_manager.taffeta.bakes if item.label == "Cloth")
    assert bpy.ops.taffeta.bake_play(object="Curtain", path=first) == {"FINISHED"}
    sheet.name = "Drape"
    problem_list.show(bpy.context.scene)
    assert {item.label for item in bpy.context.window_manager.taffeta.bakes} == {"Cloth", "Curtain"}


def test_a_free_that_was_killed_half_way_is_taken_back_when_the_file_is_opened(sheet, tmp_path):
    path = baked()
    bpy.ops.wm.save_mainfile()
    before = files(path.parent)
    (path.parent / "trash" / "Cloth~1").mkdir(parents=True)
    path.rename(path.parent / "trash" / "Cloth~1" / "Cloth.pc2")
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    assert files(path.parent) == before and cache_modifier.played(cloth()) == path


@pytest.mark.parametrize("name", ["n" * 300, "taffeta_cache"])
def test_the_list_is_made_wherever_a_path_leads(sheet, tmp_path, name):
    """A folder that cannot be, or files in it that are none."""
    baked()
    sheet.taffeta_cloth.cache_path = f"//{name}/Cloth.pc2"
    bpy.context.scene.taffeta.cache_folder = f"//{name}"
    folder = tmp_path / "taffeta_cache"
    (folder / "Cloth.about.json").unlink()
    os.mkfifo(folder / "Cloth.about.json")
    (folder / "trash" / "Coat~1").mkdir(parents=True)
    os.mkfifo(folder / "trash" / "Coat~1" / "Coat.journal")
    assert [item.frame_count for item in listed()] == [LAST]
    assert bpy.context.window_manager.taffeta.trash == ""


def test_after_names_were_swapped_each_lists_its_own(sheet, make):
    coat = make.cloth(make.grid("Coat", count=4, location=(3, 0, 2)))
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    paths = {obj: str(cache_modifier.played(obj)) for obj in (sheet, coat)}
    sheet.name, coat.name = "x", "Cloth"
    sheet.name = "Coat"
    problem_list.show(bpy.context.scene)
    entries = [(item.garment, item.path, item.plays) for item in bpy.context.window_manager.taffeta.bakes]
    assert entries == [("Cloth", paths[coat], True), ("Coat", paths[sheet], True)]
    assert bpy.ops.taffeta.bake_delete(object="Cloth") == {"FINISHED"}
    assert cache_modifier.played(sheet) and cache_modifier.played(coat) is None


def test_bake_selected_only(sheet, make):
    coat, hat = (make.cloth(make.grid(name, location=(x, 0, 2))) for name, x in (("Coat", 3), ("Hat", 6)))
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    before = [bits(cache_modifier.played(obj)) for obj in (sheet, coat, hat)]
    for obj in (sheet, coat, hat):
        obj.taffeta_cloth.mass.value *= 2.0
        obj.select_set(obj != coat)
    assert bpy.ops.taffeta.bake(selected=True) == {"FINISHED"}
    after = [bits(cache_modifier.played(obj)) for obj in (sheet, coat, hat)]
    assert [old == new for old, new in zip(before, after, strict=True)] == [False, True, False]
    for obj in (sheet, coat, hat):
        obj.select_set(False)
    bpy.context.view_layer.objects.active = None
    with pytest.raises(RuntimeError, match="No Taffeta Cloth is selected"):
        bpy.ops.taffeta.bake(selected=True)


def test_a_bake_that_is_stopped_before_its_first_frame_puts_the_old_one_back(sheet):
    path = baked()
    before = files(path.parent)
    job = jobs.Job(read_order(bpy.context.scene))
    job.stop.set()
    run.bake_now(bpy.context.scene, job)
    assert files(path.parent) == before and not job.set_aside()


def test_a_resume_that_is_stopped_while_it_looks_has_kept_all(sheet):
    path = baked()
    fingerprint, before = sheet.taffeta_cloth.fingerprint, bits(path)
    sheet.taffeta_cloth.stale = "stale"
    job = jobs.Job(read_order(bpy.context.scene, resume=True))
    run.bake_now(bpy.context.scene, job, lambda job: job.stop.set() if job.frame == 3 else None)
    told = " ".join(text for _, text in run.outcome(job))
    assert f"frames 1 to {LAST} are kept" in told and bits(path) == before and not job.complete
    assert sheet.taffeta_cloth.stale == "stale" and sheet.taffeta_cloth.fingerprint == fingerprint


def test_a_resume_that_is_stopped_while_it_copies_leaves_nothing(sheet, tmp_path):
    first = baked()
    before = files(tmp_path / "taffeta_cache")
    save_as(tmp_path / "shot_v2.blend")
    job = jobs.Job(read_order(bpy.context.scene, resume=True))
    job.stop.set()
    run.bake_now(bpy.context.scene, job)
    assert files(tmp_path / "taffeta_cache") == before and cache_modifier.played(cloth()) == first


def test_a_bake_of_another_mesh_is_refused_and_what_plays_goes_on_as_it_was(sheet):
    baked(label="first")
    sheet.data.vertices.add(1)
    bpy.context.scene.frame_start = 3
    baked(label="later")
    cloth().modifiers["Taffeta Cache"].show_viewport = False
    (first,) = [entry.path for entry in listed() if entry.label == "first"]
    with pytest.raises(RuntimeError, match="vertices"):
        bpy.ops.taffeta.bake_play(object="Cloth", path=first)
    cache = cloth().modifiers["Taffeta Cache"]
    assert cache.frame_start == 3 and not cache.show_viewport


def test_a_bake_of_another_mesh_comes_back_from_the_trash_and_is_not_played(sheet, capfd):
    path = baked()
    before = bits(path)
    assert bpy.ops.taffeta.bake_delete(object="Cloth", path=str(path)) == {"FINISHED"}
    count = len(sheet.data.vertices)
    sheet.data.vertices.add(1)
    (gone,) = trash.trashed(path.parent)
    assert bpy.ops.taffeta.bake_restore(object="Cloth", path=str(gone)) == {"FINISHED"}
    assert "Warning: Restored Cloth.pc2 to the list, but it is not played" in (told := capfd.readouterr().out)
    assert f"its cache has {count} vertices, its mesh {count + 1}" in told and "Info: Restored" not in told
    assert bits(path) == before and not trash.trashed(path.parent)
    assert cache_modifier.played(cloth()) is None and cache_modifier.find_cache(cloth()) is None
    assert [item.path for item in listed()] == [str(path)]


@pytest.mark.parametrize("verb", ["free", "bake_delete"])
def test_a_bake_that_cannot_be_moved_into_the_trash_goes_on_playing(sheet, verb):
    path = baked()
    (path.parent / "trash").write_text("")
    before = files(path.parent)
    with pytest.raises(RuntimeError, match="trash is a link or a file: remove it"):
        getattr(bpy.ops.taffeta, verb)(object="Cloth")
    assert cache_modifier.played(cloth()) == path and files(path.parent) == before


@pytest.mark.parametrize("verb", ["free", "bake_delete", "bake_rename"])
def test_a_drive_that_is_read_only_is_told_in_a_sentence(sheet, monkeypatch, verb):
    path = baked(label="wide")
    before = files(path.parent)

    def refuse(path):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))  # root may write anywhere else

    monkeypatch.setattr(trash, "take_lock", refuse)
    monkeypatch.setattr(about, "written", refuse)
    with pytest.raises(RuntimeError) as told:
        getattr(bpy.ops.taffeta, verb)(object="Cloth")
    name, why = "wide" if verb == "bake_rename" else "Cloth.pc2", "(Read-only file system)"
    sentence = f"{path.parent} cannot be written {why}: {name} stays as it is; copy the project to where it can be"
    assert str(told.value).strip() == f"Error: {sentence}"
    assert cache_modifier.played(cloth()) == path and files(path.parent) == before
