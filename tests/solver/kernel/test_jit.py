# SPDX-License-Identifier: GPL-3.0-or-later
"""The cache of compiled kernels: what is kept, and under which name."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import time

import pytest
from taffeta.solver.kernel import jit


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
    path = jit.SOLVER / "broad_phase" / "spatial_hash.py"
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
    spec = importlib.util.spec_from_file_location("elsewhere.solver.kernel.jit", jit.__file__)
    other = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(other)
    path = jit.SOLVER / "broad_phase" / "spatial_hash.py"
    assert other.source_key(path) != jit.source_key(path)
    assert jit.source_key(path) == jit.source_key(path)


def test_kernels_are_compiled_anew_when_a_named_tuple_changes(tmp_path, monkeypatch):
    """A kernel may be given one whose module it does not import: code for other fields must not meet it."""
    kernel, tuples = tmp_path / "kernel.py", tmp_path / "tuples.py"
    kernel.write_text("def area(box):\n    return box.width * box.height\n")
    keys = []
    for fields in (
        "width: float\n    height: float",
        "height: float\n    width: float",
        "height: float  # [m]\n    width: float",
    ):
        tuples.write_text(f"class Box(NamedTuple):\n    {fields}\n")
        monkeypatch.setattr(jit, "SOLVER", tmp_path)
        jit.source_key.cache_clear(), jit._named_tuples.cache_clear()
        keys.append(jit.source_key(kernel))
    jit.source_key.cache_clear(), jit._named_tuples.cache_clear()
    assert keys[0] != keys[1] == keys[2], "a comment changes nothing"


def test_another_place_has_another_cache(tmp_path):
    """numba finds what it kept for a file by the file's folder: an equal checkout elsewhere has nothing yet."""
    shutil.copytree(jit.SOLVER, tmp_path / "taffeta" / "solver", ignore=shutil.ignore_patterns("__pycache__"))
    script = (
        "from taffeta.solver.kernel import jit; print(jit.source_key(jit.SOLVER / 'broad_phase' / 'spatial_hash.py'))"
    )
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert re.fullmatch("[0-9a-f]{16}", done.stdout.strip())
    assert done.stdout.strip() != jit.source_key(jit.SOLVER / "broad_phase" / "spatial_hash.py")


def test_kernels_older_than_their_file_are_not_there(tmp_path, monkeypatch):
    """Installed once more, the files are new, and numba compiles them anew."""
    monkeypatch.setenv("TAFFETA_CACHE_DIR", str(tmp_path))
    path = jit.SOLVER / "broad_phase" / "spatial_hash.py"
    kernel = tmp_path / jit.source_key(path) / "files" / "kernel.1.nbc"
    kernel.parent.mkdir(parents=True)
    kernel.write_bytes(b"code")
    assert jit.is_compiled(path)
    os.utime(kernel, (path.stat().st_mtime - 1,) * 2)
    assert not jit.is_compiled(path)


@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
@pytest.mark.parametrize("damage", [
    lambda data: data[: len(data) // 2], lambda data: b"", lambda data: data[:40] + bytes([data[40] ^ 1]) + data[41:]
], ids=["cut", "empty", "flipped"])  # fmt: skip
def test_a_damaged_file_of_a_kernel_is_written_anew(tmp_path, monkeypatch, suffix, damage):
    monkeypatch.setenv("TAFFETA_CACHE_DIR", str(tmp_path / "kernels"))
    (tmp_path / "double.py").write_text("def double(x):\n    return 2.0 * x\n")
    spec = importlib.util.spec_from_file_location("double", tmp_path / "double.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "double", module)  # numba looks for the names that a kernel knows there
    spec.loader.exec_module(module)

    def hits():
        kernel = jit.njit(module.double)
        assert kernel(3.0) == 6.0
        return sum(kernel.stats.cache_hits.values())

    assert (hits(), hits()) == (0, 1)
    (file,) = (tmp_path / "kernels").rglob(f"*{suffix}")
    file.write_bytes(damage(file.read_bytes()))
    assert (hits(), hits()) == (0, 1)
