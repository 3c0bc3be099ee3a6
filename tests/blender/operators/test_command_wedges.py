# SPDX-License-Identifier: GPL-3.0-or-later
"""`taffeta bake --set --name --wedge`: other settings, caches of their own, and the shot's own as it was."""

import struct
from types import SimpleNamespace

import bpy
import pytest
from taffeta.operators import command
from taffeta.operators.bake import wedged
from taffeta.operators.read import modifier_stack
from taffeta.operators.work import writers
from taffeta.solver.cache import recipe, wedge
from taffeta.solver.cache.names import release_lock, take_lock

FRAMES = 3


@pytest.fixture
def blend(saved, make, tmp_path):
    """shot.blend with a skirt of 25 vertices above a ball, baked over three frames as it is set up."""
    saved.frame_end = FRAMES
    make.cloth(make.grid("Skirt", count=5, location=(0, 0, 2)))
    make.collider(make.ball("Body", radius=0.5, rings=6, segments=8))
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    bpy.ops.wm.save_mainfile()
    return tmp_path / "shot.blend"


def contents(blend, *left_out):
    """Every file beside the .blend but those below folders of these names."""
    files = [path for path in blend.parent.rglob("*") if path.is_file() and not set(left_out) & set(path.parts)]
    return {path: path.read_bytes() for path in files}


def cache(blend, name):
    return blend.parent / "taffeta_cache" / "wedges" / name / "Skirt.pc2"


def frame_count(path):
    return struct.unpack("<i", path.read_bytes()[28:32])[0]


def test_another_setting_is_baked_beside_the_shot(blend):
    before = contents(blend)
    assert (
        command.run(["bake", str(blend), "--set", "scene.wind.x=8", "--set", "Skirt.mass=0.3", "--name", "storm"]) == 0
    )
    assert contents(blend, "wedges") == before, "neither the file nor its own cache was touched"
    shot = blend.parent / "taffeta_cache" / "Skirt.pc2"
    assert frame_count(cache(blend, "storm")) == FRAMES
    assert cache(blend, "storm").read_bytes() != shot.read_bytes()
    made_of = recipe.read(cache(blend, "storm")).settings
    assert made_of["scene"]["wind"][0] == 8.0 and made_of["cloths"]["Skirt"]["mass"]["value"] == pytest.approx(0.3)
    assert wedge.read(blend.parent / "taffeta_cache", "storm").settings == {"scene.wind.x": "8", "Skirt.mass": "0.3"}


def test_a_wedge_of_what_is_set_anyway_is_the_shot(blend):
    assert command.run(["bake", str(blend), "--set", "scene.wind.x=0", "--name", "same"]) == 0
    assert cache(blend, "same").read_bytes() == (blend.parent / "taffeta_cache" / "Skirt.pc2").read_bytes()


def test_every_combination(blend, capfd):
    wedges = ["--wedge", "Skirt.bending=1e-6,1e-4", "--wedge", "scene.wind.x=0,3"]
    assert command.run(["bake", str(blend), *wedges, "--list"]) == 0
    names = [f"Skirt.bending={b},scene.wind.x={w}" for b in ("1e-6", "1e-4") for w in ("0", "3")]
    lines = capfd.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines if "(not baked)" in line] == [
        [str(k + 1), n] for k, n in enumerate(names)
    ]
    assert not cache(blend, names[0]).parent.parent.exists(), "a list makes nothing"
    assert command.run(["bake", str(blend), *wedges, "--only", "4"]) == 0
    assert [cache(blend, name).exists() for name in names] == [False, False, False, True]
    assert command.run(["bake", str(blend), *wedges, "--resume"]) == 0
    assert "3 of them as they were" in capfd.readouterr().out
    assert len({cache(blend, name).read_bytes() for name in names}) == 4
    assert command.run(["bake", str(blend), *wedges, "--list"]) == 0
    assert capfd.readouterr().out.count("(frames 1 to 3)") == 4


def test_wedges_continue_in_parts(blend):
    """As tasks of a farm do; the same bits as in one go."""
    line = ["bake", str(blend), "--set", "scene.wind.x=8"]
    assert command.run([*line, "--name", "whole"]) == 0
    assert command.run([*line, "--name", "parts", "--frames", "1-2"]) == 0
    assert frame_count(cache(blend, "parts")) == 2
    assert command.run([*line, "--name", "parts", "--frames", "3-3", "--resume"]) == 0
    assert cache(blend, "parts").read_bytes() == cache(blend, "whole").read_bytes()


def test_wedges_are_exported_to_a_file_each(blend):
    line = ["bake", str(blend), "--wedge", "scene.wind.x=0,8", "--export", str(blend.parent / "out.usd")]
    assert command.run(line) == 0
    exported = sorted(path.name for path in blend.parent.glob("*.usd"))
    assert exported == ["out-scene.wind.x=0.usd", "out-scene.wind.x=8.usd"]


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["--set", "Skirt.bendin=1"], "Skirt has no setting 'bendin'"),
        (["--set", "Cape.mass=1"], "names no garment"),
        (["--set", "Skirt.mass=heavy"], "'heavy' is none"),
        (["--set", "Skirt.mass=1", "--set", "Skirt.mass=2"], "Skirt.mass is set twice"),
        (["--set", "Skirt.mass=1", "--wedge", "Skirt.mass=1,2"], "Skirt.mass is set twice"),
        (["--set", "Skirt.mass=1", "--name", "../stiff"], "'../stiff' is no name for a wedge"),
        (["--name", "con"], "'con' is no name for a wedge"),
        (["--wedge", "Skirt.mass=1,x"], "'x' is none"),
        (["--wedge", "Skirt.mass=1,2", "--only", "3"], "There is no wedge 3: these are 2"),
        (["--wedge", "Skirt.mass=1,2", "--save"], "leave out --save and --queue"),
        (["--list"], "--list and --only need a wedge"),
    ],
)
def test_what_cannot_work_is_told_before_anything_is_baked(blend, capsys, arguments, words):
    before = contents(blend)
    assert command.run(["bake", str(blend), *arguments]) == 1
    assert words in capsys.readouterr().err and contents(blend) == before


@pytest.mark.parametrize(
    "verb, ending, name", [("bake", "abc", "Alembic"), ("sheet", "abc", "Alembic"), ("bake", "usda", "USD")]
)
def test_what_this_blender_cannot_export_is_told_before_anything_is_baked(
    blend, capsys, monkeypatch, verb, ending, name
):
    """Debian's Blender has no Alembic."""
    before = contents(blend)
    built = SimpleNamespace(supported=False)
    monkeypatch.setattr(writers, "bpy", SimpleNamespace(app=SimpleNamespace(alembic=built, usd=built)))
    line = [verb, str(blend), "--wedge", "Skirt.mass=0.1,0.2", "--export", str(blend.parent / f"cloth.{ending}")]
    assert command.run(line) == 2
    assert f"This Blender was built without {name}; export to .obj" in capsys.readouterr().err
    assert contents(blend) == before


def test_a_wedge_that_cannot_be_exported_is_told_once_each(blend, capfd):
    (blend.parent / "out").write_text("a file, no folder")
    line = ["bake", str(blend), "--wedge", "Skirt.mass=0.1,0.2", "--export", str(blend.parent / "out" / "cloth.obj")]
    assert command.run(line) == 1
    told = capfd.readouterr().err
    assert "Taffeta: Error" not in told and told.count("Taffeta: ") == 3
    assert "These wedges are not done: Skirt.mass=0.1 Skirt.mass=0.2; send the command again with --resume" in told


def test_a_wedge_that_is_being_baked_is_left_alone(blend, capsys):
    line = ["bake", str(blend), "--set", "scene.wind.x=8", "--name", "storm"]
    assert command.run(line) == 0
    lock = take_lock(cache(blend, "storm"))
    before = contents(blend)
    try:
        assert command.run([*line[:3], "scene.wind.x=9", *line[4:]]) == 1
        assert "storm is being baked by another Blender" in capsys.readouterr().err
    finally:
        release_lock(lock)
    before.pop(cache(blend, "storm").with_suffix(".lock"))
    assert contents(blend) == before


def test_a_scene_is_again_what_it_was(blend):
    """What plays, whose settings, which folder: after a wedge that was baked in an open file."""
    scene, obj = bpy.context.scene, bpy.data.objects["Skirt"]
    modifier = modifier_stack.find_cache(obj)
    modifier.show_viewport = False

    def state():
        found = modifier_stack.find_cache(obj)
        played = found.filepath, found.frame_start, found.show_viewport, found.show_render
        notes = [getattr(obj.taffeta_cloth, name) for name in wedged.NOTES]
        return played, notes, scene.taffeta.cache_folder, tuple(scene.taffeta.wind), list(obj.modifiers.keys())

    was = state()
    before = wedged.put_on(scene, [obj], wedge.Wedge("storm", {"scene.wind.x": "8"}))
    assert bpy.ops.taffeta.bake() == {"FINISHED"} and cache(blend, "storm").is_file()
    assert state() != was
    wedged.take_off(scene, before)
    assert state() == was
