# SPDX-License-Identifier: GPL-3.0-or-later
"""How time and memory of a bake grow with the cloth: `python benchmarks/growth.py [201:10 401:10 1001:10]`.

A sheet of so many vertices along a side falls on a sphere, with self-collision, for so many frames, each in a fresh process and
through the public operators. Told of each: seconds until the first frame is simulated (the scene read, patches and tree made);
seconds of a frame, by the clock and by the processor; the most memory beyond what Blender had with its mesh, and bytes of it a vertex; and
from one to the next the exponent of the growth of a frame. A million vertices take some minutes and 5 GB.
"""

import json
import math
import os
import subprocess
import sys
import tempfile
import time
from contextlib import redirect_stdout
from io import StringIO

import bpy
import numpy as np
import scenes
import simulate
import taffeta
from page import grid
from taffeta.operators.bake import job as jobs
from taffeta.operators.bake.order import read_order
from taffeta.operators.bake.run import bake_now
from watch import PeakMemory

SHEETS = ("201:10", "401:10", "1001:10")
ALONE = "--alone"  # measure one sheet in this process
WARM = 3, 51  # frames and vertices along a side of a bake before
HEAD = ("vertices", "set-up [s]", "s a frame", "by the processor", "GB", "KB a vertex", "grows as n to the")


def bake(columns: int, frames: int) -> dict:
    """Figures of one sheet, as JSON can hold them."""
    case = next(case for case in scenes.cases([columns], frames, ("sheets",)) if case.self_collision)
    scenes.build(case)
    scene, stamps = bpy.context.scene, []
    with tempfile.TemporaryDirectory() as folder:
        scene.taffeta.cache_folder = folder
        with PeakMemory() as memory:
            began = time.perf_counter()
            job = jobs.Job(read_order(scene))
            bake_now(scene, job, lambda _: stamps.append((time.perf_counter(), time.process_time())))
        clock, processor = (np.diff(each).mean() for each in zip(*stamps, strict=True))
        bpy.ops.wm.read_factory_settings(use_empty=True)  # before the frames are gone
    vertices = columns * columns
    return {
        "vertices": vertices,
        "set_up": stamps[0][0] - began,
        "seconds": float(clock),
        "processor": float(processor),
        "megabytes": memory.megabytes,
        "bytes_a_vertex": None if memory.megabytes is None else memory.megabytes * 2**20 / vertices,
    }


def table(rows: list[dict]) -> str:
    """The figures in Markdown."""
    lines = []
    for before, row in zip([None, *rows], rows, strict=False):
        grown = "-" if before is None else f"{exponent(before, row):.2f}"
        memory = ("-", "-") if row["megabytes"] is None else (
            f"{row['megabytes'] / 1024:.2f}", f"{row['bytes_a_vertex'] / 1000:.2f}"
        )  # fmt: skip
        times = (f"{row[name]:.2f}" for name in ("set_up", "seconds", "processor"))
        lines.append((row["vertices"], *times, *memory, grown))
    return grid(HEAD, lines)


def exponent(small: dict, large: dict) -> float:
    """Of the growth of a frame's processor time over the number of vertices."""
    return math.log(large["processor"] / small["processor"]) / math.log(large["vertices"] / small["vertices"])


def main() -> None:
    """Measure each sheet in a process of its own, print the table; or one sheet here."""
    asked = sys.argv[1:]
    if asked[:1] != [ALONE]:
        rows = []
        for sheet in asked or SHEETS:
            command = [sys.executable, __file__, ALONE, sheet]
            done = subprocess.run(command, env=os.environ, stdout=subprocess.PIPE, text=True, check=True)
            rows.append(json.loads(done.stdout.splitlines()[-1]))
        print(table(rows))
        return
    taffeta.register()
    try:
        with redirect_stdout(StringIO()):
            simulate.prepare()
            bake(WARM[1], WARM[0])
            row = bake(*map(int, asked[1].split(":")))
    finally:
        taffeta.unregister()
    print(json.dumps(row))


if __name__ == "__main__":
    main()
