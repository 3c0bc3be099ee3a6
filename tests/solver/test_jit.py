# SPDX-License-Identifier: GPL-3.0-or-later
"""The cache of compiled kernels: what is kept, under which name, and who fills it."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import time

import pytest
from taffeta.solver import jit, warm
from taffeta.solver.model import Settings


def test_only_kernels_long_unused_are_pruned(tmp_path, monkeypatch):
    monkeypatch.setenv("TAFFETA_CACHE_DIR", str(tmp_path))
    names = {
        "old": "0123456789abcdef",
        "young": "1123456789abcdef",
        "foreign name": "textures",
        "foreign file": "2123456789abcdef",
    }
    for kind, name in names.items():
        inside = tmp_path / name / "contact_1234"
        inside.mkdir(parents=True)
        (inside / "kernel.nbi").write_bytes(b"index")
        (inside / "kernel.1.nbc").write_bytes(b"code")
        if kind == "foreign file":
            (inside / "notes.txt").write_text("mine")
        days = 29 if kind == "young" else 31
        os.utime(tmp_path / name, (time.time() - days * 86400,) * 2)
    jit.prune()
    assert {folder.name for folder in tmp_path.iterdir()} == set(names.values()) - {names["old"]}
    monkeypatch.setenv("TAFFETA_CACHE_DIR", str(tmp_path / "not there"))
    jit.prune()


def test_a_folder_in_use_is_marked_so(tmp_path, monkeypatch):
    monkeypatch.setenv("TAFFETA_CACHE_DIR", str(tmp_path))
    path = jit.SOLVER / "contact" / "hash.py"
    folder = tmp_path / jit.source_key(path)
    folder.mkdir()
    os.utime(folder, (time.time() - 60 * 86400,) * 2)
    jit._folder.cache_clear()
    assert jit._folder(path) == str(folder)
    jit.prune()
    assert folder.is_dir()
    jit._folder.cache_clear()


def test_another_name_of_the_package_has_another_cache():
    """numba keeps the names of modules with the code, so a renamed package must not meet what it kept before."""
    spec = importlib.util.spec_from_file_location("elsewhere.solver.jit", jit.__file__)
    other = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(other)
    path = jit.SOLVER / "contact" / "hash.py"
    assert other.source_key(path) != jit.source_key(path)
    assert jit.source_key(path) == jit.source_key(path)


def test_another_place_has_another_cache(tmp_path):
    """numba finds what it kept for a file by the file's folder: an equal checkout elsewhere has nothing yet."""
    shutil.copytree(jit.SOLVER, tmp_path / "taffeta" / "solver", ignore=shutil.ignore_patterns("__pycache__"))
    script = "from taffeta.solver import jit; print(jit.source_key(jit.SOLVER / 'contact' / 'hash.py'))"
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert re.fullmatch("[0-9a-f]{16}", done.stdout.strip())
    assert done.stdout.strip() != jit.source_key(jit.SOLVER / "contact" / "hash.py")


def test_kernels_older_than_their_file_are_not_there(tmp_path, monkeypatch):
    """Installed once more, the files are new, and numba compiles them anew."""
    monkeypatch.setenv("TAFFETA_CACHE_DIR", str(tmp_path))
    path = jit.SOLVER / "contact" / "hash.py"
    kernel = tmp_path / jit.source_key(path) / "files" / "kernel.1.nbc"
    kernel.parent.mkdir(parents=True)
    kernel.write_bytes(b"code")
    assert jit.is_compiled(path)
    os.utime(kernel, (path.stat().st_mtime - 1,) * 2)
    assert not jit.is_compiled(path)


def test_the_child_imports_the_solver_alone_and_under_our_name(tmp_path):
    (tmp_path / "solver").mkdir()
    (tmp_path / "__init__.py").write_text("raise ImportError('no Blender here')")
    (tmp_path / "solver" / "__init__.py").write_text("")
    (tmp_path / "solver" / "part.py").write_text("value = __name__")
    script = f"from .part import value\ndef call(word):\n    open({str(tmp_path / 'out')!r}, 'w').write(value + word)\n"
    (tmp_path / "solver" / "warm.py").write_text(script)
    paths = os.pathsep.join(sys.path)
    command = [sys.executable, "-c", warm.CHILD, "bl_ext.somewhere.taffeta", str(tmp_path), paths, "call", "!"]
    subprocess.run(command, check=True, timeout=60)
    assert (tmp_path / "out").read_text() == "bl_ext.somewhere.taffeta.solver.part!"


@pytest.mark.parametrize("executable", ["/opt/blender/blender", "", None, "/nowhere/python3"])
def test_without_a_python_there_is_no_child_and_no_waiting(executable, tmp_path, monkeypatch):
    monkeypatch.setenv("TAFFETA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(sys, "executable", executable)
    assert warm._start_child("compile_kernels") is None
    assert warm.compile_kernels()


def test_no_child_where_kernels_are_there(tmp_path, monkeypatch):
    monkeypatch.setenv("TAFFETA_CACHE_DIR", str(tmp_path))
    started = []
    monkeypatch.setattr(warm, "_start_child", lambda *how: started.append(how))
    folders = {part: tmp_path / jit.source_key(jit.SOLVER / warm.PARTS[part].file) / "files" for part in warm.EVERY}
    for part in ("bodies", "dynamics"):
        folders[part].mkdir(parents=True)  # importing a file is enough for its folder to be there
    (folders["bodies"] / "kernel.1.nbc").write_bytes(b"code")
    assert warm.compile_kernels()
    assert started == [("compile_part", "dynamics"), ("compile_part", "cloth")]
    assert warm.compile_kernels(("bodies", "cloth")) and started[2:] == [("compile_part", "cloth")]


def test_one_processor_is_enough_for_children(tmp_path, monkeypatch):
    """They compile in two thirds of the time that the same would take here, and the window stays alive."""
    monkeypatch.setenv("TAFFETA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    started = []
    monkeypatch.setattr(warm, "_start_child", lambda *how: started.append(how))
    assert warm.compile_kernels() and [part for _, part in started] == list(warm.EVERY)


def sleeper(*_):
    return subprocess.Popen([sys.executable, "-c", "import time; time.sleep(100)"])


def test_who_does_not_want_to_wait_ends_the_compiler(tmp_path, monkeypatch):
    monkeypatch.setenv("TAFFETA_CACHE_DIR", str(tmp_path))
    children = []
    monkeypatch.setattr(warm, "_start_child", lambda *_: children.append(sleeper()) or children[-1])
    asked = iter([True, True, False])
    assert not warm.compile_kernels((), lambda: next(asked))
    assert len(children) == 3 and all(child.poll() is not None for child in children)


def test_a_bake_waits_for_what_was_begun_ahead_and_for_no_more(tmp_path, monkeypatch):
    monkeypatch.setenv("TAFFETA_CACHE_DIR", str(tmp_path))
    children = []
    monkeypatch.setattr(warm, "_start_child", lambda *_: children.append(sleeper()) or children[-1])
    warm.start_ahead()
    warm.start_ahead()
    assert len(children) == 1
    asked = iter([True, False])
    assert not warm.compile_kernels((), lambda: next(asked))
    assert len(children) == 1 and children[0].poll() is not None
    warm.stop_ahead()
    monkeypatch.setattr(warm, "LONGEST", 0.2)
    assert warm.compile_kernels(("cloth",))
    assert len(children) == 2 and children[1].poll() is not None


COUNT = """
import sys
import numpy as np
from numba.core import event
from taffeta.solver import warm
from taffeta.solver.model import FrameInput, Settings
from taffeta.solver.step import advance

class Compiled(event.Listener):
    def on_start(self, told):
        print(told.data["dispatcher"].py_func.__qualname__)

    def on_end(self, told):
        pass

event.register("numba:compile", Compiled())
cloth, state = warm._cloth()
targets = (state.x + cloth.origin)[None].repeat(2, axis=0)
for frame, wind in enumerate((0.0, 2.0)):
    advance(cloth, state, FrameInput(1 / 24, targets, (warm._body(),), warm.GRAVITY, np.full(3, wind)), frame + 1, Settings())
"""


def test_the_parts_are_all_of_it(tmp_path, monkeypatch):
    """After the parts were compiled by their processes, a bake with everything compiles nothing any more."""
    monkeypatch.setenv("TAFFETA_CACHE_DIR", str(tmp_path))
    assert warm.compile_kernels()
    done = subprocess.run([sys.executable, "-c", COUNT], capture_output=True, text=True, timeout=300, check=True)
    assert done.stdout.split() == []


MISSING = """
import sys
import numpy as np
from taffeta.solver import warm
from taffeta.solver.contact import cloth as contact
from taffeta.solver.model import FrameInput, Settings
from taffeta.solver.step import advance

def known(package):
    modules = [module for name, module in sys.modules.items() if f".solver.{{package}}" in name]
    return {{f"{{name}} {{s}}" for m in modules for name, f in vars(m).items() for s in getattr(f, "signatures", ())}}

warm.compile_part("{part}")
before = known("{package}")
cloth, state = warm._cloth()
{script}
print(len(before))
print(*sorted(known("{package}") - before), sep="\\n")
"""
AVOID = """
given = FrameInput(1 / 24, (state.x + cloth.origin)[None].repeat(2, axis=0), (warm._body(),), warm.GRAVITY, np.zeros(3))
advance(cloth, state, given, 1, Settings(cloth_contact="VELOCITY_FIELD"))
"""
HOLD_BACK = """
pairs, start, x = contact.detect(cloth, state.x, state.v, 0.01, Settings()), state.x.copy(), state.x.copy()
x[-1, 2] -= 0.03
contact._guard(pairs, None, None, cloth, start, x, start.copy(), 0.01)
assert x[-1, 2] > start[-1, 2] - 0.03
"""


@pytest.mark.parametrize(("part", "package", "script"), [("crowd", "crowd", AVOID), ("cloth", "contact", HOLD_BACK)])
def test_a_part_is_all_of_it(part, package, script):
    """After it, a frame with a velocity field, or a particle that is held back, needs no kernel that is not there."""
    code = MISSING.format(part=part, package=package, script=script)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=True)
    count, *missing = done.stdout.split("\n")
    assert int(count) > 12 and not any(missing)


def test_a_scene_is_compiled_what_it_asks_for():
    """A velocity field only where there is one; nothing of bodies where there is none."""
    assert (
        set(warm.parts_of(Settings())) == set(warm.EVERY) == set(warm.parts_of(Settings(cloth_contact="DEPTH_STICKS")))
    )
    assert set(warm.parts_of(Settings(cloth_contact="VELOCITY_FIELD"))) == {*warm.EVERY, "crowd"}
    assert set(warm.parts_of(Settings(), has_bodies=False)) == {"dynamics", "cloth"}


CODE = """
import re, sys
import numpy as np
from taffeta.solver.quicken import quicken
if sys.argv[1] == "quick":
    quicken()
from numba.core.types import functions
from taffeta.solver.elastic.external import blow
asked = []
failures = functions._ResolutionFailures
functions._ResolutionFailures = lambda *what, **how: asked.append(1) or failures(*what, **how)  # made once a question
x, index = np.zeros((3, 3)), np.zeros((1, 3), np.int32)
blow(x, x.copy(), np.ones(3), index, 0.0, 1.0, 2.0, 1.0, 0.1, 0.1)
for signature, code in blow.inspect_llvm().items():
    print(signature, blow.nopython_signatures)
    print(re.sub(r"picklebuf\\.\\d+|\\d{9,}", "", code))
print(len(asked), file=sys.stderr)
"""


def test_a_quicker_compiler_makes_the_same_code(tmp_path, monkeypatch):
    monkeypatch.setenv("TAFFETA_CACHE_DIR", str(tmp_path))

    def code(how):
        shutil.rmtree(tmp_path)
        done = subprocess.run(
            [sys.executable, "-c", CODE, how], capture_output=True, text=True, timeout=200, check=True
        )
        return done.stdout, int(done.stderr.split()[-1])

    (quick, few), (plain, many) = code("quick"), code("as it is")
    assert quick == plain and len(quick) > 10000
    assert few < many / 3, "numba is built otherwise now: see what it does most often"
