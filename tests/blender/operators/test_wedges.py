# SPDX-License-Identifier: GPL-3.0-or-later
"""Wedges in the window: listed, baked beside the shot, adopted; nothing of the shot is lost by any of it."""

import shutil

import bpy
import pytest
from layouts import draw
from taffeta.operators import wedge_adopt
from taffeta.operators.bakes import play
from taffeta.operators.playback import bake_files, cache_modifier, owners
from taffeta.operators.work.steps import Run
from taffeta.solver.cache import moves
from taffeta.solver.cache.names import parts


@pytest.fixture
def shot(saved, make):
    """A saved scene with a baked skirt, three frames, and a wedge of its mass in the list."""
    saved.frame_end = 3
    obj = make.cloth(make.grid("Skirt", count=4, location=(0, 0, 2)), mass=0.2)
    bpy.context.view_layer.objects.active = obj
    assert bpy.ops.taffeta.bake(label="mine") == {"FINISHED"}
    assert bpy.ops.taffeta.wedge_add(path="scene.wind.x", values="0, 9") == {"FINISHED"}
    bpy.ops.wm.save_mainfile()
    return saved


def state(scene):
    obj = bpy.data.objects["Skirt"]
    cloth = obj.taffeta_cloth
    return (
        cache_modifier.played(obj), cloth.cache_path, cloth.report_json, cloth.fingerprint, cloth.stale,
        scene.taffeta.cache_folder, tuple(scene.taffeta.wind), cloth.mass.value, scene.frame_end,
    )  # fmt: skip


def own_files():
    obj = bpy.data.objects["Skirt"]
    path = bake_files.bake_paths(bpy.context.scene, [obj])[0]
    return {part: part.read_bytes() for part in parts(path)}


def found():
    return {item.name: item for item in bpy.context.window_manager.taffeta_wedges}


def test_wedges_are_baked_beside_the_shot(shot, tmp_path):
    assert bpy.ops.taffeta.wedge_add(path="Skirt.mass", values="0.1,0.4") == {"FINISHED"}
    before, files = state(shot), own_files()
    assert bpy.ops.taffeta.wedges_bake() == {"FINISHED"}
    assert state(shot) == before and own_files() == files
    names = [f"scene.wind.x={w},Skirt.mass={m}" for w in ("0", "9") for m in ("0.1", "0.4")]
    assert sorted(found()) == sorted(names)
    assert all(item.frame_count == 3 and not item.plays for item in found().values())
    assert "roughness" in found()[names[0]].figures
    made = {(tmp_path / "taffeta_cache" / "wedges" / name / "Skirt.pc2").read_bytes() for name in names}
    assert len(made) == 4


def test_a_garment_that_is_renamed_while_a_wedge_is_baked_gets_its_settings_back(shot):
    obj = bpy.data.objects["Skirt"]
    assert bpy.ops.taffeta.wedge_add(path="Skirt.mass", values="0.1") == {"FINISHED"}

    def rename(scene, _):
        if scene.frame_current == 2:
            obj.name = "Coat"

    bpy.app.handlers.frame_change_post.append(rename)
    try:
        bpy.ops.taffeta.wedges_bake()
    finally:
        bpy.app.handlers.frame_change_post.remove(rename)
    assert obj.name == "Coat" and obj.taffeta_cloth.mass.value == pytest.approx(0.2)


def test_one_is_adopted_and_the_shot_is_kept(shot):
    obj = bpy.data.objects["Skirt"]
    assert bpy.ops.taffeta.wedges_bake() == {"FINISHED"}
    files, own = own_files(), cache_modifier.played(obj)
    assert bpy.ops.taffeta.wedge_adopt(wedge="scene.wind.x=9") == {"FINISHED"}
    assert shot.taffeta.wind[0] == 9.0 and found()["scene.wind.x=9"].plays
    played = cache_modifier.played(obj)
    assert played == own.with_name("Skirt.bak1.pc2") and own_files() == files
    made = own.parent / "wedges" / "scene.wind.x=9" / "Skirt.pc2"
    assert played.read_bytes() == made.read_bytes(), "a copy"
    listed = [bake.path for bake in bake_files.bakes_of(shot, [obj])[0]]
    assert set(listed) == {played, own}, "both are in the list of bakes"
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    obj, scene = bpy.data.objects["Skirt"], bpy.context.scene
    assert cache_modifier.played(obj) == played and found()["scene.wind.x=9"].plays
    assert obj.taffeta_cloth.stale == ""
    assert bpy.ops.taffeta.bake_play(object="Skirt", path=str(own)) == {"FINISHED"}
    assert bpy.ops.taffeta.bake_settings(object="Skirt", path=str(own)) == {"FINISHED"}
    assert scene.taffeta.wind[0] == 0.0 and cache_modifier.played(obj) == own, "the way back"


def test_a_cache_folder_that_cannot_be_written(shot, tmp_path, capfd):
    (tmp_path / "file").write_text("")
    shot.taffeta.cache_folder = str(tmp_path / "file")
    before = state(shot)
    assert bpy.ops.taffeta.wedges_bake() == {"CANCELLED"}
    told = capfd.readouterr().out
    assert told.count("cannot be written (Not a directory): choose another cache folder") == 2 and "Errno" not in told
    assert "None of 2 wedges was baked" in told and "Adopt" not in told
    assert state(shot) == before


def test_what_was_adopted_stays_when_wedges_are_baked_again(shot, capsys):
    obj = bpy.data.objects["Skirt"]
    assert bpy.ops.taffeta.wedges_bake() == {"FINISHED"}
    assert bpy.ops.taffeta.wedge_adopt(wedge="scene.wind.x=9") == {"FINISHED"}
    assert "plays a copy of scene.wind.x=9 (" in capsys.readouterr().out
    played, frames = cache_modifier.played(obj), cache_modifier.played(obj).read_bytes()
    assert bpy.ops.taffeta.wedge_adopt(wedge="scene.wind.x=9") == {"FINISHED"}
    assert "copy" not in capsys.readouterr().out and cache_modifier.played(obj) == played, "it is copied once"
    obj.taffeta_cloth.mass.value = 0.9
    shot.taffeta.wind[1] = 5.0
    assert bpy.ops.taffeta.wedges_bake() == {"FINISHED"}
    assert cache_modifier.played(obj) == played and played.read_bytes() == frames
    assert not found()["scene.wind.x=9"].plays, "what lies there now is another one"


def test_one_that_was_adopted_before_frames_were_copied_stays_too(shot, tmp_path):
    obj = bpy.data.objects["Skirt"]
    assert bpy.ops.taffeta.wedges_bake() == {"FINISHED"}
    path = tmp_path / "taffeta_cache" / "wedges" / "scene.wind.x=9" / "Skirt.pc2"
    play(obj, bake_files.told_of(path))
    frames = path.read_bytes()
    shot.taffeta.wind[1] = 5.0
    assert bpy.ops.taffeta.wedges_bake() == {"FINISHED"}
    assert path.read_bytes() != frames and cache_modifier.played(obj).read_bytes() == frames


def test_only_the_frames_can_be_adopted(shot):
    assert bpy.ops.taffeta.wedges_bake() == {"FINISHED"}
    assert bpy.ops.taffeta.wedge_adopt(wedge="scene.wind.x=9", settings=False) == {"FINISHED"}
    assert shot.taffeta.wind[0] == 0.0


def test_a_file_without_a_name_has_wedges_too(scene, make):
    scene.frame_end = 2
    obj = make.cloth(make.grid("Skirt", count=4))
    bpy.ops.taffeta.wedge_add(path="Skirt.mass", values="0.1,0.4")
    for _ in range(2):
        assert bpy.ops.taffeta.wedges_bake() == {"FINISHED"}
    assert bpy.ops.taffeta.wedge_adopt(wedge="Skirt.mass=0.4") == {"FINISHED"}
    assert owners.maker_of(cache_modifier.played(obj)) == "", "its own, to rename and to free"
    assert cache_modifier.played(obj).name == "Skirt.pc2" and obj.taffeta_cloth.mass.value == pytest.approx(0.4)


def test_a_file_that_is_saved_meanwhile_is_the_shot(shot, tmp_path):
    """As by Ctrl-S while a wedge is baked beside the window."""
    before, seen = state(shot), []

    def save(scene, *_):
        if scene.taffeta.wind[0] == 9.0 and not seen:
            seen.append(scene.taffeta.cache_folder)
            bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "saved.blend"), copy=True)
            seen.append((scene.taffeta.wind[0], scene.taffeta.cache_folder))

    bpy.app.handlers.frame_change_post.append(save)
    try:
        assert bpy.ops.taffeta.wedges_bake() == {"FINISHED"}
    finally:
        bpy.app.handlers.frame_change_post.remove(save)
    assert seen[1] == (9.0, seen[0]) and state(shot) == before, "the bake went on as it was"
    assert (tmp_path / "taffeta_cache" / "wedges" / "scene.wind.x=9" / "Skirt.pc2").is_file()
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "saved.blend"))
    scene = bpy.context.scene
    assert scene.taffeta.wind[0] == 0.0 and scene.taffeta.cache_folder == before[5]
    assert bpy.data.objects["Skirt"].taffeta_cloth.cache_path == before[1]


def sentence(verb, **options):
    with pytest.raises(RuntimeError) as told:
        verb(**options)
    return str(told.value)


def test_what_cannot_be_is_a_sentence_and_changes_nothing(shot, make):
    before = state(shot)
    assert "has no setting" in sentence(bpy.ops.taffeta.wedge_add, path="Skirt.bendin", values="1,2")
    assert "'x' is none" in sentence(bpy.ops.taffeta.wedge_add, path="Skirt.mass", values="1,x")
    assert "is listed already" in sentence(bpy.ops.taffeta.wedge_add, path="scene.wind.x", values="1,2")
    for name in ("", "..", "../..", "nothing", "scene.wind.x=9"):
        assert f"No wedge '{name}' is baked" in sentence(bpy.ops.taffeta.wedge_adopt, wedge=name)
    assert bpy.ops.taffeta.wedges_bake() == {"FINISHED"}
    make.cloth(make.grid("Cape", count=3))
    assert "No wedge 'scene.wind.x=9' is baked" in sentence(bpy.ops.taffeta.wedge_adopt, wedge="scene.wind.x=9")
    bpy.data.objects["Cape"].taffeta_cloth.enabled = False
    obj = bpy.data.objects["Skirt"]
    obj.data = make.grid("Finer", count=5).data
    assert "vertices" in sentence(bpy.ops.taffeta.wedge_adopt, wedge="scene.wind.x=9")
    assert shot.taffeta.wind[0] == 0.0 and state(shot)[1:] == before[1:]
    bpy.ops.taffeta.wedge_remove(index=0)
    assert "1 wedges" not in sentence(bpy.ops.taffeta.wedge_remove, index=0)
    assert "No wedge is listed" in sentence(bpy.ops.taffeta.wedges_bake)


def test_one_that_cannot_be_baked_holds_up_none_behind_it(shot):
    bpy.data.objects["Skirt"].taffeta_cloth.mass.vertex_group = "nowhere"
    shot.taffeta_wedges.clear()
    bpy.ops.taffeta.wedge_add(path="Skirt.mass.source", values="GROUP,UNIFORM")
    before = state(shot)
    assert bpy.ops.taffeta.wedges_bake() == {"CANCELLED"}
    assert list(found()) == ["Skirt.mass.source=UNIFORM"] and state(shot) == before


def test_the_panel_lists_and_adopts(shot, tmp_path):
    layout = draw("TAFFETA_PT_wedges")
    assert {"scene.wind.x", "0,9"} <= set(layout.texts())
    assert not layout.buttons("taffeta.wedges_bake")[0][1].is_grey() and not layout.buttons("taffeta.wedge_adopt")
    assert bpy.ops.taffeta.wedges_bake() == {"FINISHED"}
    layout = draw("TAFFETA_PT_wedges")
    adopt = [options["wedge"] for options, _ in layout.buttons("taffeta.wedge_adopt")]
    assert adopt == ["scene.wind.x=0", "scene.wind.x=9"] and "scene.wind.x = 9" in layout.texts()
    shutil.rmtree(tmp_path / "taffeta_cache" / "wedges" / "scene.wind.x=0")
    assert layout.buttons("taffeta.wedges_list") and bpy.ops.taffeta.wedges_list() == {"FINISHED"}
    assert list(found()) == ["scene.wind.x=9"]
    shot.taffeta_wedges.clear()
    assert draw("TAFFETA_PT_wedges").buttons("taffeta.wedges_bake")[0][1].is_grey()


def test_esc_while_a_wedge_is_copied_leaves_all_as_it_was(shot, tmp_path, monkeypatch):
    """The window stood still while frames were copied; a disk that is full on the way leaves nothing, either."""
    assert bpy.ops.taffeta.wedges_bake() == {"FINISHED"}
    before, name, folder = state(shot), "scene.wind.x=9", tmp_path / "taffeta_cache"
    files = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    monkeypatch.setattr(moves, "COPIED_BYTES", 128)
    texts = []
    for taken in (0, 1, 3, 9):
        run = Run(wedge_adopt.adopting(bpy.context, name, True))
        for _ in range(taken):
            run.go_on(0.0)
            texts.append(run.step.text)
        run.stop()
        while not run.ended:
            run.go_on(0.01)
        assert state(shot) == before
        assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == files
    assert "Copying Skirt.pc2" in texts
    assert bpy.ops.taffeta.wedge_adopt(wedge=name) == {"FINISHED"}
    assert cache_modifier.played(bpy.data.objects["Skirt"]).name == "Skirt.bak1.pc2"
    assert shot.taffeta.wind[0] == 9.0 and found()[name].plays
