# SPDX-License-Identifier: GPL-3.0-or-later
"""The cache of compiled kernels: what is kept, under which name, and who fills it."""

import importlib.util
import os
import subprocess
import sys
import time

import pytest
from taffeta.solver import jit, warm


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


def test_the_child_imports_the_solver_alone_and_under_our_name(tmp_path):
    (tmp_path / "solver").mkdir()
    (tmp_path / "__init__.py").write_text("raise ImportError('no Blender here')")
    (tmp_path / "solver" / "__init__.py").write_text("")
    (tmp_path / "solver" / "part.py").write_text("value = __name__")
    script = f"from .part import value\ndef compile_bodies():\n    open({str(tmp_path / 'out')!r}, 'w').write(value)\n"
    (tmp_path / "solver" / "warm.py").write_text(script)
    command = [sys.executable, "-c", warm.CHILD, "bl_ext.somewhere.taffeta", str(tmp_path), os.pathsep.join(sys.path)]
    subprocess.run(command, check=True, timeout=60)
    assert (tmp_path / "out").read_text() == "bl_ext.somewhere.taffeta.solver.part"


@pytest.mark.parametrize("executable", ["/opt/blender/blender", "", None, "/nowhere/python3"])
def test_without_a_python_there_is_no_child(executable, tmp_path, monkeypatch):
    monkeypatch.setenv("TAFFETA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(sys, "executable", executable)
    assert warm._start_child() is None


def test_no_child_where_kernels_are_there(tmp_path, monkeypatch):
    monkeypatch.setenv("TAFFETA_CACHE_DIR", str(tmp_path))
    (tmp_path / jit.source_key(jit.SOLVER / "contact" / "body_response.py")).mkdir()
    assert warm._start_child() is None


def test_a_child_that_fails_leaves_the_work_to_us(tmp_path, monkeypatch):
    started = []

    def start():
        started.append(subprocess.Popen([sys.executable, "-c", "raise SystemExit(3)"]))
        return started[0]

    monkeypatch.setattr(warm, "_start_child", start)
    parts = []
    warm.compile_kernels(parts.append)
    assert parts[-1] == 1.0 and parts == sorted(parts)
    assert started[0].poll() == 3


def test_the_part_of_the_child_runs():
    warm.compile_bodies()
