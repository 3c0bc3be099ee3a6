# SPDX-License-Identifier: GPL-3.0-or-later
"""A context without a window where OpenGL is broken: Blender dies of making one, so another process has to find out."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import bpy  # noqa: F401  (brings gpu)
import pytest
from taffeta.gpu_ldi import windowless

BROKEN = {"__EGL_VENDOR_LIBRARY_FILENAMES": "/nonexistent.json", "DISPLAY": ""}
MAKE = "windowless.make_context()"
ENSURE = """
try:
    print("DRAWS", context.ensure_context(), flush=True)
except context.NoGraphics as reason:
    print("REFUSED", reason, flush=True)
"""


@pytest.fixture
def fresh():
    """Nothing has been tried yet, before and after."""
    windowless.refusal.cache_clear()
    yield
    windowless.refusal.cache_clear()


def run(script):
    """Run a script in a Blender whose OpenGL is broken."""
    head = "import os, bpy\nfrom taffeta.gpu_ldi import context, windowless\n"
    environment = os.environ | BROKEN | {"PYTHONPATH": str(Path(windowless.__file__).parents[2])}
    command = [sys.executable, "-c", head + script + "\nos._exit(0)"]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=200)


def test_broken_opengl_kills_whoever_makes_a_context():
    """Why another process tries it first."""
    assert run(MAKE).returncode < 0


def test_broken_opengl_is_found_out_by_another_process():
    done = run(ENSURE)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "REFUSED no graphics context can be had (a Blender that tried it ended with status" in done.stdout


def test_it_is_tried_once_a_session(fresh, monkeypatch):
    tried = []
    monkeypatch.setattr(
        windowless.subprocess, "run", lambda *a, **k: tried.append(a) or SimpleNamespace(returncode=0, stdout="")
    )
    assert windowless.refusal() == windowless.refusal() == "" and len(tried) == 1


@pytest.mark.parametrize(
    ("status", "said", "refusal"),
    [(0, "llvmpipe", ""), (1, "EGL\nno display\n", "no display"), (134, "", "status 134"), (1, "", "no reason")],
)
def test_what_the_other_process_found(fresh, monkeypatch, status, said, refusal):
    monkeypatch.setattr(windowless.subprocess, "run", lambda *a, **k: SimpleNamespace(returncode=status, stdout=said))
    assert refusal in windowless.refusal() and bool(refusal) == bool(windowless.refusal())


def test_a_blender_of_its_own_is_asked_where_there_is_one(monkeypatch):
    """And none where Python is part of another program."""
    monkeypatch.setattr(windowless, "bpy", SimpleNamespace(app=SimpleNamespace(binary_path="/opt/blender")))
    assert windowless.other_blender("pass")[:2] == ["/opt/blender", "--background"]
    monkeypatch.setattr(windowless, "bpy", SimpleNamespace(app=SimpleNamespace(binary_path="")))
    assert windowless.other_blender("pass")[0] == sys.executable
    monkeypatch.setattr(windowless.sys, "executable", "/opt/houdini")
    assert windowless.other_blender("pass") is None
