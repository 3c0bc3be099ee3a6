# SPDX-License-Identifier: GPL-3.0-or-later
"""`taffeta bake-all`: every shot of a project, each in a process of its own; and a bake that goes on elsewhere."""

import shutil
import struct

import bpy
import pytest
from taffeta.operators import command


@pytest.fixture
def shot(scene, make, tmp_path):
    """shot.blend in a folder of its own: a sheet that falls onto a ball, eight frames."""
    scene.frame_end = 8
    make.cloth(make.grid(count=5, location=(0, 0, 0.6)))
    make.collider(make.ball(radius=0.5, rings=6, segments=8))
    folder = tmp_path / "project" / "010"
    folder.mkdir(parents=True)
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "shot.blend"))
    return folder / "shot.blend"


def frame_count(path):
    return struct.unpack("<i", path.read_bytes()[28:32])[0]


def test_every_shot_of_a_project(shot, tmp_path, capfd):
    project = tmp_path / "project"
    other = project / "020" / "other.blend"
    (project / ".hidden").mkdir()
    other.parent.mkdir()
    shutil.copyfile(shot, other)
    shutil.copyfile(shot, other.with_name("other.flamenco.blend"))
    shutil.copyfile(shot, project / ".hidden" / "old.blend")
    shutil.copyfile(shot, project / "shot.blend1")
    (project / "link.blend").symlink_to(shot)
    assert command.run(["bake-all", str(project), "--list"]) == 0
    assert capfd.readouterr().out.splitlines() == [str(shot), str(other)]
    (other.parent / "letter.blend").write_text("Dear animator")
    assert command.run(["bake-all", str(project), "--jobs", "2"]) == 1
    told = capfd.readouterr()
    assert f"These shots are not whole: {other.parent / 'letter.blend'}; bake again with --resume" in told.err
    assert f"{shot}: Baked Cloth: frames 1 to 8" in told.out
    caches = [path.parent / "taffeta_cache" / "Cloth.pc2" for path in (shot, other)]
    assert caches[0].read_bytes() == caches[1].read_bytes() and frame_count(caches[0]) == 8
    assert command.run(["bake-all", str(shot.parent), "--resume"]) == 0
    told = capfd.readouterr().out
    assert "Taffeta: 1 shot, 1 at once" in told and told.endswith("Taffeta: Baked 1 shot\n")


@pytest.mark.parametrize(
    "arguments, status, words",
    [
        (["nowhere"], 1, "There is no folder nowhere"),
        (["{folder}"], 1, "No .blend lies in"),
        (["{folder}", "--memory", "0"], 2, "'0' is no number of gigabytes"),
        (["{folder}", "--memory", "nan"], 2, "'nan' is no number of gigabytes"),
        (["{folder}", "--jobs", "0"], 2, "is no number from 1"),
    ],
)
def test_what_cannot_be_is_a_sentence(tmp_path, capsys, arguments, status, words):
    assert command.run(["bake-all", *(word.format(folder=tmp_path) for word in arguments)]) == status
    assert words in capsys.readouterr().err


def test_a_scene_without_cloth_is_skipped_where_that_is_asked(saved, tmp_path, capsys):
    assert command.run(["bake", str(tmp_path / "shot.blend"), "--skip-empty"]) == 0
    assert "has no Taffeta Cloth" in capsys.readouterr().out
    assert command.run(["bake", str(tmp_path / "shot.blend")]) == 1


def test_a_bake_that_goes_on_elsewhere_equals_one_that_ran_through(shot, tmp_path):
    """The project is copied after three frames, as to another machine, and the first one is gone."""
    assert command.run(["bake", str(shot)]) == 0
    whole = {suffix: (shot.parent / "taffeta_cache" / f"Cloth{suffix}").read_bytes() for suffix in (".pc2", ".state")}
    shutil.rmtree(shot.parent / "taffeta_cache")
    assert command.run(["bake", str(shot), "--frames", "1-3"]) == 0
    elsewhere = tmp_path / "mnt" / "farm node" / "job"
    shutil.copytree(shot.parent, elsewhere)
    shutil.rmtree(shot.parent)
    assert frame_count(elsewhere / "taffeta_cache" / "Cloth.pc2") == 3
    assert command.run(["bake", str(elsewhere / "shot.blend"), "--resume"]) == 0
    for suffix, data in whole.items():
        assert (elsewhere / "taffeta_cache" / f"Cloth{suffix}").read_bytes() == data
    assert sorted(path.name for path in (elsewhere / "taffeta_cache").glob("*.pc2")) == ["Cloth.pc2"], (
        "none was begun anew"
    )
