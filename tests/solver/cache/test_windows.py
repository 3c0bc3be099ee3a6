# SPDX-License-Identifier: GPL-3.0-or-later
"""What Windows does, imitated: a file that somebody reads cannot be renamed for a moment, and POSIX functions are not there."""

import ctypes
import ntpath
import os
import subprocess
import sys
import threading
from pathlib import Path, PureWindowsPath
from types import SimpleNamespace

import numba
import pytest
from numba import types
from taffeta.solver.cache import files, moves, names
from taffeta.solver.cache.frames import cached_frames, open_cache
from taffeta.solver.kernel import atomic


def is_reserved(name):
    """Whether Windows keeps a name for itself, by Python's own list of them."""
    return ntpath.isreserved(name) if hasattr(ntpath, "isreserved") else PureWindowsPath(name).is_reserved()


@pytest.fixture
def reader(monkeypatch):
    """From a number of refusals, os.replace as it is while somebody reads the target so often."""
    replace, refused = os.replace, []

    def while_read(times):
        def busy(file, target):
            if len(refused) < times:
                refused.append(target)
                raise PermissionError(13, "The process cannot access the file because it is being used", str(target))
            replace(file, target)

        monkeypatch.setattr(files.os, "replace", busy)
        monkeypatch.setattr(files, "RETRY_AFTER", (0.0,) * 5)
        return refused

    return while_read


def test_a_file_that_is_read_for_a_moment_is_replaced_after_it(tmp_path, reader):
    target = tmp_path / "Cloth.about.json"
    target.write_bytes(b"before")
    refused = reader(3)
    with files.written(target) as out:
        out.write(b"after")
    assert target.read_bytes() == b"after" and len(refused) == 3
    assert os.listdir(tmp_path) == [target.name]


def test_one_that_is_read_for_longer_keeps_what_was_there(tmp_path, reader):
    target = tmp_path / "Cloth.about.json"
    target.write_bytes(b"before")
    refused = reader(100)
    with pytest.raises(PermissionError), files.written(target) as out:
        out.write(b"after")
    assert target.read_bytes() == b"before" and len(refused) == 6
    assert os.listdir(tmp_path) == [target.name], "nothing half is left"


def test_a_bake_that_blender_reads_for_a_moment_is_set_aside_after_it(tmp_path, reader):
    path = tmp_path / "Cloth.pc2"
    with open_cache(path, 1, 1, 24.0) as cache:
        cache.append(1, b"", *([[[0.0, 0.0, 0.0]]] * 3))
    refused = reader(2)
    older = moves.set_aside(path)
    assert older == tmp_path / "Cloth.bak1.pc2" and cached_frames(older) == range(1, 2) and len(refused) == 2


@pytest.mark.parametrize(
    "name", ["C:\\shots\\Cape", "\\\\server\\share\\Cape", "..\\Cape", "D:Cape", "Cape:stream", "Cape\\", "AUX.old"]
)
def test_no_object_can_name_a_place_of_windows(tmp_path, name):
    path = names.cache_paths(tmp_path, [name])[0]
    told = PureWindowsPath("X:/cache") / path.name
    assert (
        told.parent == PureWindowsPath("X:/cache")
        and told.drive == "X:"
        and ":" not in path.name
        and "\\" not in path.name
    )
    assert not is_reserved(path.name)


def test_names_that_differ_in_case_alone_get_files_of_their_own(tmp_path):
    paths = names.cache_paths(tmp_path, ["Cape", "cape", "CAPE"])
    assert len({PureWindowsPath(path.name) for path in paths}) == 3


def test_threads_yield_by_a_function_that_windows_has(monkeypatch):
    """The name is given to the compiler with its address, so that code that is compiled, or loaded from a cache, finds it."""
    calls = []
    function = ctypes.CFUNCTYPE(ctypes.c_int32)(lambda: calls.append(threading.get_ident()) or 1)
    monkeypatch.setattr(atomic.sys, "platform", "win32")
    monkeypatch.setattr(
        atomic.ctypes, "windll", SimpleNamespace(kernel32=SimpleNamespace(SwitchToThread=function)), raising=False
    )
    name = atomic.yielding()
    monkeypatch.undo()
    assert name == "SwitchToThread" and atomic.yielding() == "sched_yield"
    offer = types.ExternalFunction(name, types.int32())

    @numba.njit
    def twice():
        offer()
        return offer()

    assert twice() == 1 and calls == [threading.get_ident()] * 2


def test_the_cache_works_without_fcntl(tmp_path):
    """As on Windows, with its own way to lock a file in the place of POSIX'."""
    script = """
import sys, types
sys.modules["fcntl"] = None
locked = []
msvcrt = types.ModuleType("msvcrt")
msvcrt.LK_NBLCK = 2
msvcrt.locking = lambda number, mode, count: locked.append((mode, count))
sys.modules["msvcrt"] = msvcrt
from pathlib import Path
from taffeta.solver.cache.frames import cached_frames, open_cache
path = Path(sys.argv[1]) / "Cloth.pc2"
with open_cache(path, 1, 1, 24.0) as cache:
    cache.append(1, b"", [[0.0, 0.0, 0.0]], [[0.0, 0.0, 0.0]], [[0.0, 0.0, 0.0]])
assert locked == [(2, 1)] and cached_frames(path) == range(1, 2)
"""
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert {Path(name).suffix for name in os.listdir(tmp_path)} == {".pc2", ".state", ".journal"}
