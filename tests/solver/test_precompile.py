# SPDX-License-Identifier: GPL-3.0-or-later
"""Compiling ahead of a bake: by which processes, and whether anything is left for the bake."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from taffeta.solver import precompile
from taffeta.solver.kernel import jit
from taffeta.solver.model import Settings

pytestmark = pytest.mark.once


def test_the_child_imports_the_solver_alone_and_under_our_name(tmp_path):
    (tmp_path / "solver").mkdir()
    (tmp_path / "__init__.py").write_text("raise ImportError('no Blender here')")
    (tmp_path / "solver" / "__init__.py").write_text("")
    (tmp_path / "solver" / "part.py").write_text("value = __name__")
    script = f"from .part import value\ndef call(word):\n    open({str(tmp_path / 'out')!r}, 'w').write(value + word)\n"
    (tmp_path / "solver" / "precompile.py").write_text(script)
    paths = os.pathsep.join(sys.path)
    command = [sys.executable, "-c", precompile.CHILD, "bl_ext.somewhere.taffeta", str(tmp_path), paths, "call", "!"]
    subprocess.run(command, check=True, timeout=60)
    assert (tmp_path / "out").read_text() == "bl_ext.somewhere.taffeta.solver.part!"


@pytest.mark.parametrize("executable", ["/opt/blender/blender", "", None, "/nowhere/python3"])
def test_without_a_python_there_is_no_child_and_no_waiting(executable, tmp_path, monkeypatch):
    monkeypatch.setenv("TAFFETA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(sys, "executable", executable)
    assert precompile._start_child("compile_kernels") is None
    assert precompile.compile_kernels()


def test_no_child_where_kernels_are_there(tmp_path, monkeypatch):
    monkeypatch.setenv("TAFFETA_CACHE_DIR", str(tmp_path))
    started = []
    monkeypatch.setattr(precompile, "_start_child", lambda *how: started.append(how))
    folders = {
        part: tmp_path / jit.source_key(jit.SOLVER / precompile.PARTS[part].file) / "files" for part in precompile.EVERY
    }
    for part in ("bodies", "dynamics"):
        folders[part].mkdir(parents=True)  # importing a file is enough for its folder to be there
    (folders["bodies"] / "kernel.1.nbc").write_bytes(b"code")
    assert precompile.compile_kernels()
    assert started == [("compile_here", "dynamics"), ("compile_here", "cloth", "guard")]
    assert precompile.compile_kernels(("bodies", "cloth")) and started[2:] == [("compile_here", "cloth")]


def test_one_processor_is_enough_for_children(tmp_path, monkeypatch):
    """They compile in two thirds of the time that the same would take here, and the window stays alive."""
    monkeypatch.setenv("TAFFETA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    started = []
    monkeypatch.setattr(precompile, "_start_child", lambda *how: started.append(how))
    assert precompile.compile_kernels() and {part for _, *parts in started for part in parts} == set(precompile.EVERY)


def sleeper(*_):
    return subprocess.Popen([sys.executable, "-c", "import time; time.sleep(100)"])


def test_who_does_not_want_to_wait_ends_the_compiler(tmp_path, monkeypatch):
    monkeypatch.setenv("TAFFETA_CACHE_DIR", str(tmp_path))
    children = []
    monkeypatch.setattr(precompile, "_start_child", lambda *_: children.append(sleeper()) or children[-1])
    asked = iter([True, True, False])
    assert not precompile.compile_kernels((), lambda: next(asked))
    assert len(children) == 3 and all(child.poll() is not None for child in children)


def test_a_bake_waits_for_what_was_begun_ahead_and_for_no_more(tmp_path, monkeypatch):
    monkeypatch.setenv("TAFFETA_CACHE_DIR", str(tmp_path))
    children = []
    monkeypatch.setattr(precompile, "_start_child", lambda *_: children.append(sleeper()) or children[-1])
    precompile.start_ahead()
    precompile.start_ahead()
    assert len(children) == 1
    asked = iter([True, False])
    assert not precompile.compile_kernels((), lambda: next(asked))
    assert len(children) == 1 and children[0].poll() is not None
    precompile.stop_ahead()
    monkeypatch.setattr(precompile, "LONGEST_WAIT", 0.2)
    assert precompile.compile_kernels(("cloth",))
    assert len(children) == 2 and children[1].poll() is not None


BAKE = """
import sys
import numpy as np
from numba.core import event

sys.path.insert(0, {folder!r})
from sheets import GRAVITY, floor, folded, sheet
from solids import ball, box, collider
from taffeta.solver.build import build
from taffeta.solver.model import FrameInput, Settings
from taffeta.solver.step import advance


class Compiled(event.Listener):
    def on_start(self, told):
        print(told.data["dispatcher"].py_func.__qualname__)

    def on_end(self, told):
        pass


event.register("numba:compile", Compiled())
falling = sheet("Falling", 30, 30, 0.01, lambda x: x + [0.0, 0.0, 0.3])
lying = sheet("Lying", 30, 20, 0.01, lambda x: folded(x) + [0.0, 0.0, 0.2], pin=np.arange(600) < 3)
cloth, state = build([falling, lying], Settings())
state.v[cloth.garment == 0] = 0.0, 0.0, -20.0  # through the other sheet, where nothing holds it back
targets = np.stack(2 * [state.x + cloth.origin])
path = np.linspace([0.0, 0.0, 0.0], [0.0, 0.0, 0.05], 3)
spike = collider(box((0.002, 0.002, 0.1), (0.03, 0.02, 0.14)), path)
bodies = floor(), collider(ball(0.1, 8)), spike, collider(box((0.1, 0.03, 0.02), (-0.1, 0.0, 0.21)), path)
reports = []
for frame, (wind, settings) in enumerate({shots}):
    given = FrameInput(1 / 24, targets, bodies[frame % 2 :], GRAVITY, np.full(3, wind))
    reports.append(advance(cloth, state, given, frame + 1, Settings(**settings)))
assert sum(report.body_contacts for report in reports) and sum(report.cloth_contacts for report in reports)
"""
SHOTS = (0.0, {}), (2.0, {}), (0.0, {"guard_bodies": False}), (1.0, {"cloth_contact": "BOTH"})


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """A folder in which everything has been compiled ahead by the processes that do so."""
    folder = tmp_path_factory.mktemp("compiled")
    before = os.environ.get("TAFFETA_CACHE_DIR")
    os.environ["TAFFETA_CACHE_DIR"] = str(folder)
    try:
        assert precompile.compile_kernels(tuple(precompile.PARTS))
        yield folder
    finally:
        os.environ.pop("TAFFETA_CACHE_DIR") if before is None else os.environ.update(TAFFETA_CACHE_DIR=before)


def printed(script, folder):
    """The lines that a script prints whose compiled kernels are in a folder."""
    environment = os.environ | {"TAFFETA_CACHE_DIR": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=300, check=True
    )
    return done.stdout.split()


def test_nothing_is_left_to_a_bake(compiled):
    """Large and small bodies, a garment on its own folds, one that is thrown through it, and a velocity field: all that
    a bake compiles was compiled by small scenes that have no more than a few triangles.
    """
    before = set(compiled.rglob("*.nbc"))
    assert printed(BAKE.format(folder=str(Path(__file__).parent), shots=SHOTS), compiled) == []
    assert set(compiled.rglob("*.nbc")) == before and len(before) > 60


UNREACHED = """
import sys
from numba.core.registry import CPUDispatcher
from taffeta.solver import precompile

for part in precompile.PARTS.values():
    part.compile()
for name, module in list(sys.modules.items()):
    for function in vars(module).values() if name.startswith("taffeta.solver.") else ():
        function = getattr(function, "func", function)  # of `kernel.shared`
        is_own = isinstance(function, CPUDispatcher) and function.py_func.__module__ == name
        if is_own and function.stats.cache_path and len(function.signatures) != 1:
            print(name.removeprefix("taffeta.solver."))
"""


def test_small_scenes_reach_every_kernel(compiled):
    """Each in one version, save for those that few scenes ask for."""
    chosen = {"contact.cloth.restitution", "elastic.internal"} | {
        f"forces.{name}" for name in ("force_fields", "pressure", "random")
    }
    assert set(printed(UNREACHED, compiled)) == chosen


def test_a_scene_is_compiled_what_it_asks_for():
    """A velocity field only where there is one; nothing of bodies where there is none."""
    assert (
        set(precompile.parts_of(Settings()))
        == set(precompile.EVERY)
        == set(precompile.parts_of(Settings(cloth_contact="DEPTH_STICKS")))
    )
    assert set(precompile.parts_of(Settings(cloth_contact="VELOCITY_FIELD"))) == {*precompile.EVERY, "velocity_field"}
    untangled = Settings(cloth_contact="DEPTH_STICKS", untangle_each=True)
    assert set(precompile.parts_of(untangled)) == {*precompile.EVERY, "untangle"}
    assert set(precompile.parts_of(untangled._replace(cloth_contact="PAIRS"))) == set(precompile.EVERY)
    assert set(precompile.parts_of(Settings(), has_bodies=False)) == {"dynamics", "cloth"}
