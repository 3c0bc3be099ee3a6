# SPDX-License-Identifier: GPL-3.0-or-later
"""A graphics context where there is no window. Where OpenGL is broken Blender dies of making one, so another process tries it.

Imports nothing of the package: the other process runs this file by its path.
"""

import subprocess
import sys
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import bpy
import gpu

LONGEST_TRIAL = 60.0  # [s] that the other process may take
SILENCED = (
    "render_init",
    "render_pre",
    "render_post",
    "render_write",
    "render_stats",
    "render_complete",
    "render_cancel",
)
#: what the other process does; it leaves by the short way, because Blender 4.5 as a module can hang at exit
TRIAL = """
import os, runpy, sys
try:
    print(runpy.run_path({file!r})["make_context"](), flush=True)
except (SystemError, RuntimeError) as error:
    print(str(error).strip(), flush=True)
    os._exit(1)
os._exit(0)
"""


def make_context() -> str:
    """Make a graphics context, on the main thread; returns the name of what draws. SystemError or RuntimeError: no way."""
    if hasattr(gpu, "init"):  # from Blender 5.2 on
        gpu.init()
    else:
        _render_nothing()
    return gpu.platform.renderer_get()


@cache
def refusal() -> str:
    """Why `make_context` had better not be called, or nothing; once a session another Blender tries it (about a second)."""
    command = other_blender(TRIAL.format(file=__file__), "--factory-startup")
    if command is None:
        return "there is no Blender that could try it out first"
    silent = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True}
    silent["creationflags"] = getattr(subprocess, "CREATE_NO_WINDOW", 0)
    try:
        done = subprocess.run(command, timeout=LONGEST_TRIAL, **silent)
    except subprocess.TimeoutExpired:
        return f"a Blender that tried it hung for {LONGEST_TRIAL:.0f} s"
    except OSError as error:
        return f"no Blender could be started to try it ({error})"
    if done.returncode == 1:
        return last_line(done.stdout)
    return f"a Blender that tried it ended with status {done.returncode}" if done.returncode else ""


def last_line(text: object) -> str:
    """The last line of what Blender says."""
    return (str(text).strip().splitlines() or ["it gave no reason"])[-1]


def other_blender(script: str, *options: str) -> list[str] | None:
    """The command of a process that runs a script in this Blender, without a window; None where none can be had."""
    if bpy.app.binary_path:
        return [bpy.app.binary_path, "--background", *options, "--python-exit-code", "1", "--python-expr", script]
    if Path(sys.executable or "").stem.lower().startswith("python"):  # Blender as a module
        return [sys.executable, "-c", f"import sys; sys.path += {sys.path!r}\nimport bpy\n{script}"]
    return None


def _render_nothing() -> None:
    """A Workbench picture of four by four pixels, which leaves a context behind, and of itself nothing."""
    images = set(bpy.data.images)
    scene = bpy.data.scenes.new("Taffeta Context")
    camera = bpy.data.objects.new("Taffeta Context", bpy.data.cameras.new("Taffeta Context"))
    try:
        scene.collection.objects.link(camera)
        scene.camera, scene.render.engine = camera, "BLENDER_WORKBENCH"
        scene.render.resolution_x = scene.render.resolution_y = 4
        with _quiet():
            bpy.ops.render.render(scene=scene.name)
    finally:
        data = camera.data
        bpy.data.objects.remove(camera)
        bpy.data.cameras.remove(data)
        bpy.data.scenes.remove(scene)
        for image in set(bpy.data.images) - images:
            bpy.data.images.remove(image)


@contextmanager
def _quiet():
    """No handler of the user's, nor of another add-on, hears of this picture."""
    lists = [getattr(bpy.app.handlers, name) for name in SILENCED]
    kept = [list(handlers) for handlers in lists]
    try:
        for handlers in lists:
            handlers.clear()
        yield
    finally:
        for handlers, before in zip(lists, kept, strict=True):
            handlers[:] = before
