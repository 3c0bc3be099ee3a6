# SPDX-License-Identifier: GPL-3.0-or-later
"""`blender --command taffeta bake`: the exit status tells the truth, the .blend stays as it is."""

import contextlib
import os
import signal
import struct
import subprocess
import sys
import time

import bpy
import numpy as np
import pytest
from taffeta.operators import command
from taffeta.operators.read import modifier_stack
from taffeta.solver.cache import names

# What Blender does with `--command`: register the extension, call the command, leave with its status.
CHILD = """
import os, sys, bpy, taffeta
taffeta.register()
from taffeta.operators import command
status = command.run(sys.argv[1:])
sys.stdout.flush()
sys.stderr.flush()
taffeta.unregister()
os._exit(status)
"""


@pytest.fixture
def blend(saved, make, tmp_path):
    """shot.blend with a sheet of 25 vertices above a ball, frames 1 to 8."""
    saved.frame_end = 8
    make.cloth(make.grid(count=5, location=(0, 0, 2)))
    make.collider(make.ball(radius=0.5, rings=6, segments=8))
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    return tmp_path / "shot.blend"


def cache(blend, name="Cloth"):
    return blend.parent / "taffeta_cache" / f"{name}.pc2"


def frame_count(path):
    return struct.unpack("<i", path.read_bytes()[28:32])[0]


def test_a_bake_leaves_the_blend_alone(blend):
    before = blend.read_bytes()
    assert command.run(["bake", str(blend)]) == 0
    assert frame_count(cache(blend)) == 8 and blend.read_bytes() == before


def test_a_preview_is_called_one(blend, capfd):
    bpy.ops.wm.open_mainfile(filepath=str(blend))
    bpy.data.objects["Cloth"].taffeta_cloth.quality = "PREVIEW"
    bpy.ops.wm.save_mainfile()
    assert command.run(["bake", str(blend), "--frames", "1-2"]) == 0
    assert "Taffeta: Preview quality, 4 substeps" in capfd.readouterr().out


def test_saving_makes_the_file_play(blend, make):
    assert command.run(["bake", str(blend), "--frames", "1-5", "--save"]) == 0
    bpy.ops.wm.open_mainfile(filepath=str(blend))
    scene, obj = bpy.context.scene, bpy.data.objects["Cloth"]
    assert modifier_stack.find_cache(obj).filepath == "//taffeta_cache/Cloth.pc2"
    assert (scene.frame_start, scene.frame_end) == (1, 8), "the range was for that bake only"
    scene.frame_set(5)
    assert make.world(obj)[0, 2] < 1.95


def test_parts_of_a_range_continue_each_other(blend):
    """--frames 5-8 --resume goes on with the bake that began at frame 1: the same bits as in one go."""
    assert command.run(["bake", str(blend)]) == 0
    whole = cache(blend).read_bytes()
    assert command.run(["bake", str(blend), "--frames", "1-4"]) == 0
    assert frame_count(cache(blend)) == 4
    assert command.run(["bake", str(blend), "--frames", "5-8", "--resume"]) == 0
    assert cache(blend).read_bytes() == whole
    assert frame_count(cache(blend, "Cloth.bak1")) == 8


def test_a_part_that_does_not_continue_what_it_could_says_so(blend, capfd):
    """Sent again without --resume, or before the part that it is to continue, it began from the pose there and told nobody."""
    assert command.run(["bake", str(blend), "--frames", "5-8", "--resume"]) == 0
    assert "Taffeta: No bake ends at frame 4: this one begins at frame 5, from the pose there" in capfd.readouterr().err
    assert command.run(["bake", str(blend), "--frames", "1-4"]) == 0
    assert "begins" not in capfd.readouterr().err
    assert command.run(["bake", str(blend), "--frames", "5-8"]) == 0
    told = "Taffeta: This bake begins at frame 5, from the pose there; --resume goes on after frame 4, which is on the disk"
    assert told in capfd.readouterr().err


def test_what_ends_a_bake_is_said_once(blend, capfd):
    cache(blend).parent.mkdir()
    for frames, status in (("1-3", 0), ("1-8", 1)):
        with names.take_lock(cache(blend)) if status else contextlib.nullcontext():
            assert command.run(["bake", str(blend), "--frames", frames]) == status
    told = capfd.readouterr().err
    assert told.count("is being baked by another") == 1 and "No frame was finished" in told


def test_an_export_beside_the_blend(blend, tmp_path, monkeypatch):
    """Blender's // went to the root of the disk."""
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert command.run(["bake", str(blend), "--frames", "1-2", "--export", "//cloth.abc"]) == 0
    assert (tmp_path / "cloth.abc").is_file()


def test_one_object(blend, make):
    bpy.ops.wm.open_mainfile(filepath=str(blend))
    make.cloth(make.grid("Other", count=4))
    bpy.ops.wm.save_mainfile()
    assert command.run(["bake", str(blend), "--object", "Other"]) == 0
    assert cache(blend, "Other").is_file() and not cache(blend).exists()


@pytest.mark.parametrize("name", ["out/a.obj", "a.abc", "a.usd"])
def test_export(blend, name):
    """Twice, because farms repeat jobs."""
    target = blend.parent / name
    for _ in range(2):
        assert command.run(["bake", str(blend), "--resume", "--frames", "1-6", "--export", str(target)]) == 0
    if target.suffix == ".obj":
        assert len(list(target.parent.glob("a_*.obj"))) == 6
        text = (target.parent / "a_0006.obj").read_text().splitlines()
        points = np.array([line.split()[1:4] for line in text if line.startswith("v ")], float)
        assert points.shape == (25, 3) and points[:, 1].max() < 2.0
    else:
        assert target.stat().st_size > 500


def test_a_named_scene(blend, capsys):
    assert command.run(["bake", str(blend), "--scene", "Scene"]) == 0
    assert command.run(["bake", str(blend), "--scene", "Act 2"]) == 1
    assert "There is no scene 'Act 2'; the file has Scene" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments, status, words",
    [
        (["bake", "nowhere.blend"], 1, "There is no file nowhere.blend"),
        (["bake", "{blend}", "--object", "Cape"], 1, "Cape is not a Taffeta Cloth"),
        (["bake", "{blend}", "--object", "Body"], 1, "Body is not a Taffeta Cloth"),
        (["bake", "{blend}", "--frames", "9-3"], 2, "ends before it starts; write 3-9"),
        (["bake", "{blend}", "--frames", "ten"], 2, "'ten' is no frame range; write 1-120"),
        (["bake", "{blend}", "--frames=-5-3"], 2, "'-5-3' begins before frame 0, the first of a scene in Blender"),
        (["bake", "{blend}", "--frames", "-5-3"], 2, "'-5-3' begins before frame 0"),
        (["bake", "{blend}", "--frames", "-5--3"], 2, "'-5--3' begins before frame 0"),
        (["bake", "{blend}", "--frames", "-7"], 2, "'-7' begins before frame 0"),
        (["bake", "{blend}", "--frames", "--resume"], 2, "expected one argument"),
        (["bake", "{blend}", "--frames"], 2, "expected one argument"),
        (["bake", "{blend}", "--export", "{blend}.mp4"], 2, "mp4: the name has to end in .abc"),
        (["bake", "{blend}", "--frames", "1-9999999999"], 2, "goes beyond frame 1,048,574, the last that Blender has"),
        (["bake", "{blend}", "--frames", "1048575"], 2, "goes beyond frame 1,048,574"),
        (["bake", "{blend}", "--frames", "1-" + "9" * 5000], 2, "goes beyond frame 1,048,574"),
        (["bake"], 2, "FILE.blend"),
        ([], 2, "VERB"),
        (["brew"], 2, "brew"),
        (["--help"], 0, ""),
    ],
)
def test_what_cannot_work_is_a_sentence_and_a_status(blend, capsys, arguments, status, words):
    assert command.run([argument.format(blend=blend) for argument in arguments]) == status
    assert words in capsys.readouterr().err
    assert not cache(blend).exists(), "it is told before anything is baked"


def test_a_file_that_is_no_blend(tmp_path, capsys):
    (tmp_path / "letter.blend").write_text("Dear animator")
    assert command.run(["bake", str(tmp_path / "letter.blend")]) == 1
    assert "letter.blend" in capsys.readouterr().err


def test_a_broken_scene_has_status_1(blend, capsys):
    bpy.ops.wm.open_mainfile(filepath=str(blend))
    bpy.data.objects["Cloth"].taffeta_cloth.mass.source = "GROUP"
    bpy.ops.wm.save_mainfile()
    assert command.run(["bake", str(blend)]) == 1
    assert "no vertex group is chosen" in capsys.readouterr().err
    assert not cache(blend).exists()


def child(*arguments, **options):
    return subprocess.Popen([sys.executable, "-c", CHILD, *arguments], text=True, **options)


@pytest.mark.once
def test_a_killed_process_loses_at_most_the_frame_in_flight(blend, make):
    """kill -9 in the middle; resumed, the bake has the same bits as one that was never stopped."""
    bpy.ops.wm.open_mainfile(filepath=str(blend))
    bpy.context.scene.frame_end = 300
    make.cloth(make.grid("Big", count=50, location=(0, 0, 4)))
    bpy.ops.wm.save_mainfile()
    process = child("bake", str(blend), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    journal = cache(blend, "Big").with_suffix(".journal")
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and not (journal.exists() and journal.read_bytes().count(b"\n") > 10):
        assert process.poll() is None
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    written = journal.read_bytes().count(b"\n") - 1
    assert 9 < written < 300, "it was killed in the middle"
    command_line = ["bake", str(blend), "--resume", "--frames", "1-60"]
    assert command.run(command_line) == 0
    resumed = [
        cache(blend, name).read_bytes()[: 32 + 60 * 12 * count] for name, count in (("Cloth", 25), ("Big", 2500))
    ]
    assert command.run([*command_line[:2], *command_line[3:]]) == 0
    assert [cache(blend, name).read_bytes() for name in ("Cloth", "Big")] == [
        data[:28] + struct.pack("<i", 60) + data[32:] for data in resumed
    ]


def test_the_process_leaves_with_the_status(blend):
    """In a process of its own, as on a farm."""
    good = child("bake", str(blend), "--frames", "1-3", stdout=subprocess.PIPE)
    assert "frames 1 to 3" in good.communicate(timeout=300)[0] and good.returncode == 0
    bad = child("bake", str(blend), "--object", "Nobody", stderr=subprocess.PIPE)
    assert "Nobody is not a Taffeta Cloth" in bad.communicate(timeout=300)[1] and bad.returncode == 1


def test_linked_garments_that_play_their_bake_are_no_work(blend, make, tmp_path):
    """As a farm meets them in the file that is lit: nothing to bake is no failure, and what is the shot's own is baked."""
    assert command.run(["bake", str(blend), "--save"]) == 0
    was, lit = cache(blend).read_bytes(), tmp_path / "lit.blend"
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(str(blend), link=True) as (_, here):
        here.objects = ["Cloth"]
    bpy.context.scene.collection.objects.link(here.objects[0])
    bpy.ops.wm.save_as_mainfile(filepath=str(lit))
    assert command.run(["bake", str(lit)]) == 1 and command.run(["bake", str(lit), "--skip-empty"]) == 0
    bpy.ops.wm.open_mainfile(filepath=str(lit))
    make.cloth(make.grid("Scarf", count=5, location=(3, 0, 2)))
    bpy.ops.wm.save_mainfile()
    assert command.run(["bake", str(lit), "--frames", "2-4"]) == 0
    assert frame_count(cache(lit, "Scarf")) == 3 and cache(blend).read_bytes() == was
