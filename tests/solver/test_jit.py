# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernels that nobody uses any more leave the disk; nothing else does."""

import os
import time

from taffeta.solver import jit


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
