# SPDX-License-Identifier: GPL-3.0-or-later
"""Alembic and USD beside the window: another Blender writes what this one would, is ended by Esc, and leaves nothing half."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import bpy
import numpy as np
import pytest
import taffeta
from taffeta.operators import export
from taffeta.operators.work import other_blender
from taffeta.operators.work.steps import Run, run_through

LONG = 1_000_000  # frames: it does not end before it is ended
PATIENCE = 120.0  # [s]


@pytest.fixture
def coat(make, saved, tmp_path):
    """A garment that plays a bake, moves as a whole; the frame is between two others."""
    obj = make.grid("Coat", count=6, location=(1.0, 2.0, 3.0))
    make.bake(obj, tmp_path, "Coat")
    obj.keyframe_insert("location", frame=1)
    obj.location.x = 4.0
    obj.keyframe_insert("location", frame=10)
    obj.hide_set(True)
    other = make.grid("Other")
    other.select_set(True)
    saved.frame_set(5, subframe=0.25)
    return obj


def began(coat, path, last=None, first=None):
    from_, to = (3, 7) if last is None else (first or 1, last)
    return export.steps(bpy.context, [coat], path, from_, to, False, in_window=True)


def state():
    scene = bpy.context.scene
    selected = [obj.name for obj in bpy.data.objects if obj.select_get()]
    return selected, scene.frame_current, scene.frame_subframe, scene.frame_start, scene.frame_end


def frames_of(make, path):
    """World vertices by frame of what a file brings back."""
    before = set(bpy.data.objects)
    read = bpy.ops.wm.alembic_import if path.suffix == ".abc" else bpy.ops.wm.usd_import
    assert read(filepath=str(path), set_frame_range=False) == {"FINISHED"}
    (back,) = (obj for obj in bpy.data.objects if obj not in before and obj.type == "MESH")
    found = []
    for frame in range(3, 8):
        bpy.context.scene.frame_set(frame)
        found.append(make.world(back))
    return np.array(found)


@pytest.mark.parametrize("ending", [".abc", ".usdc"])
def test_another_blender_writes_what_this_one_does(make, coat, tmp_path, ending):
    before, texts, steps = state(), [], began(coat, tmp_path / "out" / f"beside{ending}")
    try:
        step = next(steps)
        while True:
            texts.append(step.text)
            assert state() == before, "the scene is left alone while it is written"
            step = steps.send(step.beside(lambda: True) if step.beside is not None else None)
    except StopIteration as end:
        assert end.value == [tmp_path / "out" / f"beside{ending}"]
    assert texts[0] == "Checking the frames of Coat" and "another Blender" in texts[1]
    assert len(texts) > 3 and all(text.endswith(" of 7") for text in texts[2:])
    assert os.listdir(tmp_path / "out") == [f"beside{ending}"], "nor the scene that was handed over"
    run_through(export.steps(bpy.context, [coat], tmp_path / f"here{ending}", 3, 7, False))
    here, beside = frames_of(make, tmp_path / f"here{ending}"), frames_of(make, tmp_path / "out" / f"beside{ending}")
    assert np.array_equal(here, beside) and np.ptp(here[:, 0, 0]) > 0.5


def test_a_garment_in_edit_mode_is_written(coat, make, tmp_path):
    coat.hide_set(False)
    bpy.context.view_layer.objects.active = coat
    bpy.ops.object.mode_set(mode="EDIT")
    run_through(began(coat, tmp_path / "x.abc"))
    assert bpy.context.mode == "EDIT_MESH"
    bpy.ops.object.mode_set(mode="OBJECT")
    assert len(frames_of(make, tmp_path / "x.abc")[0]) == 36


@pytest.fixture
def started(monkeypatch):
    """Every process that is started."""
    found, popen = [], subprocess.Popen
    monkeypatch.setattr(other_blender.subprocess, "Popen", lambda *a, **k: found.append(popen(*a, **k)) or found[-1])
    return found


def until(run, wanted):
    last = time.perf_counter() + PATIENCE
    while not wanted():
        run.go_on(0.0)
        assert not run.ended and time.perf_counter() < last
        time.sleep(0.001)


@pytest.mark.parametrize("how", ["at once", "while it writes"])
def test_esc_ends_the_other_blender_and_leaves_no_file(coat, tmp_path, started, how):
    (tmp_path / "out").mkdir()
    run = Run(began(coat, tmp_path / "out" / "x.abc", LONG))
    until(run, lambda: started and (how == "at once" or run.step.share > 0.0))
    assert [path.name for path in (tmp_path / "out").iterdir() if path.is_dir()], "it writes into a folder of its own"
    run.stop()
    last = time.perf_counter() + PATIENCE
    while not run.ended:
        run.go_on(0.0)
        assert time.perf_counter() < last
    assert started[0].poll() is not None and not list((tmp_path / "out").iterdir())


def test_another_blender_that_dies_is_told(coat, tmp_path, started):
    (tmp_path / "out").mkdir()
    run = Run(began(coat, tmp_path / "out" / "x.usdc", LONG))
    until(run, lambda: run.step.share > 0.0)
    started[0].kill()
    with pytest.raises(OSError, match="ended with status -9.*memory short"):
        until(run, lambda: False)
    assert not list((tmp_path / "out").iterdir())


def test_what_the_other_blender_cannot_do_is_told_in_its_words(coat, tmp_path, monkeypatch):
    monkeypatch.setattr(
        other_blender,
        "SCRIPT",
        other_blender.SCRIPT.replace("{arguments!r}", "({arguments!r}[0], 'gone', *{arguments!r}[2:])"),
    )
    with pytest.raises(OSError, match="gone"):
        run_through(began(coat, tmp_path / "x.abc"))
    assert not list(tmp_path.glob("x*"))


@pytest.mark.parametrize("how", ["none", "not to be started"])
def test_where_there_is_no_other_blender_this_one_writes(coat, tmp_path, monkeypatch, how):
    monkeypatch.setattr(other_blender, "other_blender", lambda script: None if how == "none" else ["/nowhere/blender"])
    assert run_through(began(coat, tmp_path / "x.abc")) == [tmp_path / "x.abc"]
    assert not list(tmp_path.glob(f"{export.SCRATCH_PREFIX}*"))


KILLED = """
import sys, bpy, taffeta
from pathlib import Path
taffeta.register()
bpy.ops.wm.open_mainfile(filepath=sys.argv[1])
from taffeta.operators import export
for step in export.steps(bpy.context, [bpy.data.objects["Coat"]], Path(sys.argv[2]), 1, 1000000, False, in_window=True):
    if step.share > 0.0:
        print("writes", flush=True)
    if step.beside is not None:
        step.beside(lambda: True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_blender_that_is_killed_leaves_nothing_half_written(coat, tmp_path):
    """The other Blender sees that nobody waits for it: it deletes what it has written and ends."""
    bpy.ops.wm.save_mainfile()
    folder = tmp_path / "out"
    command = [sys.executable, "-c", KILLED, str(tmp_path / "shot.blend"), str(folder / "x.abc")]
    environment = os.environ | {"PYTHONPATH": str(Path(taffeta.__file__).parents[1])}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) as process:
        for line in process.stdout:
            if line.strip() == b"writes":
                break
        assert list(folder.iterdir())
        process.send_signal(signal.SIGKILL)
    last = time.perf_counter() + PATIENCE
    while list(folder.iterdir()):
        assert time.perf_counter() < last
        time.sleep(0.01)
