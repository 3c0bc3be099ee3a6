# SPDX-License-Identifier: GPL-3.0-or-later
"""Drives a real Blender window, as `tests/gui/story.py` says, and writes what happened to /out/result.json.

Runs inside Blender (`blender --python drive.py`) on a virtual screen. A story is a generator: it does something,
then yields the seconds that the window gets to draw before it goes on.
"""

import json
import os
import runpy
import subprocess
import sys
import time
from pathlib import Path

import bpy

OUT = Path("/out")
RESULT = {"blender": bpy.app.version_string, "python": sys.version.split()[0], "finished": False}


def shoot(name: str):
    """Keep a picture of the whole screen (Blender's own screenshot operator is black on a software renderer)."""
    subprocess.run(["import", "-window", "root", str(OUT / f"{name}.png")], check=True, timeout=60)


def press(*keys: str):
    """Press keys in the window as a person would."""
    subprocess.run(["xdotool", "key", *keys], check=True, timeout=20)


def drag(start, *stops):
    """Hold the left mouse button from one point of the screen over others (pixels from the top left)."""
    # The window has to notice the pointer before the button: a software renderer needs a moment for that.
    x, y = start
    steps = ["mousemove", str(x - 30), str(y), "sleep", "0.5", "mousemove", str(x), str(y), "sleep", "0.7"]
    steps += ["mousedown", "1"]
    for x, y in stops:
        steps += ["sleep", "0.08", "mousemove", str(x), str(y)]
    subprocess.Popen(["xdotool", *steps, "sleep", "0.3", "mouseup", "1"])


def main():
    """Tell the story step by step from a timer."""
    bpy.context.preferences.view.show_splash = False
    bpy.context.preferences.view.show_developer_ui = False
    # A software renderer draws the 3D view's smooth edges in eight pictures, and smooth wires take a quarter of each.
    system = bpy.context.preferences.system
    system.viewport_aa, system.use_overlay_smooth_wire = "OFF", False
    tools = {"shoot": shoot, "press": press, "drag": drag, "result": RESULT, "out": OUT}
    steps = runpy.run_path(os.environ["TAFFETA_STORY"])["story"](**tools)
    started = time.perf_counter()

    def step():
        wait = None
        try:
            wait = next(steps, None)
            RESULT["finished"] = wait is None
        finally:  # what a step raises, Blender prints into its log; the window closes either way
            if wait is None:
                if not RESULT["finished"]:
                    shoot("failed")
                RESULT["seconds"] = round(time.perf_counter() - started, 1)
                (OUT / "result.json").write_text(json.dumps(RESULT, indent=1))
                bpy.ops.wm.quit_blender()
        return wait

    bpy.app.timers.register(step, first_interval=2.5, persistent=True)


main()
