# SPDX-License-Identifier: GPL-3.0-or-later
"""How fast curved cloth swings by default, beside a solve that goes on until it is exact: `python benchmarks/swing.py`.

A bud of six petals, held at its foot, is let go: each leans over and swings, all six alike, for the forces on all are the same.
Prints for each *Bending* and each limit of the solve how far the tips have gone down in 5, 10 and 20 frames, in the mean and from
the petal that went least to the one that went farthest, and what a frame takes. Writes nothing. A minute.
"""

import tempfile
import time
from contextlib import redirect_stdout
from io import StringIO

import bpy
import numpy as np
import simulate
import taffeta
from taffeta.operators.bake import job as jobs
from taffeta.operators.bake.order import read_order
from taffeta.operators.bake.run import bake_now
from taffeta.presets.scenes import paper
from taffeta.solver.cache import pc2

RIGIDITIES = 1e-4, 1e-3, 6e-3  # [N m] canvas, paper, felt
LIMITS = (16, 0.05), (64, 0.05), (400, 1e-3)  # iterations and tolerance: as installed, more of them, exact
FRAMES = 5, 10, 20
HEAD = "| bending [N m] | iterations | tolerance | 5 frames [mm] | 10 | 20 | ms of the processor a frame |\n| ---: | ---: | ---: | ---: | ---: | ---: | ---: |"


def swing(rigidity: float, iterations: int, tolerance: float) -> tuple[np.ndarray, float]:
    """How far the tips are down in FRAMES, (3, 6) [m], and what a frame takes of the processor [ms]."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.taffeta.scene_add(name="blossom")
    scene, flower = bpy.context.scene, bpy.data.objects["Blossom"]
    flower.data.shape_keys.animation_data_clear()
    flower.taffeta_cloth.bending_stiffness.value = rigidity
    scene.taffeta.iterations, scene.taffeta.tolerance, scene.frame_end = iterations, tolerance, FRAMES[-1]
    with tempfile.TemporaryDirectory() as folder, redirect_stdout(StringIO()):
        scene.taffeta.cache_folder = folder
        job = jobs.Job(read_order(scene))
        began = time.process_time()
        bake_now(scene, job)
        milliseconds = 1e3 * (time.process_time() - began) / FRAMES[-1]
        height = pc2.read(job.order.paths[0])[[0, *(frame - 1 for frame in FRAMES)], :, 2]
        bpy.ops.wm.read_factory_settings(use_empty=True)  # before the frames are gone
    tips = height.reshape(len(FRAMES) + 1, paper.PETALS, paper.ROWS, paper.COLUMNS)[:, :, -1, paper.COLUMNS // 2]
    return tips[0] - tips[1:], milliseconds


def row(rigidity: float, iterations: int, tolerance: float) -> str:
    """A row of the table."""
    down, milliseconds = swing(rigidity, iterations, tolerance)
    told = " | ".join(f"{each.mean():.0f} ({each.min():.0f} to {each.max():.0f})" for each in 1e3 * down)
    return f"| {rigidity:g} | {iterations} | {tolerance:g} | {told} | {milliseconds:.0f} |"


def main() -> None:
    """Measure and print."""
    taffeta.register()
    try:
        simulate.prepare()
        print(HEAD)
        for rigidity in RIGIDITIES:
            for limit in LIMITS:
                print(row(rigidity, *limit), flush=True)
    finally:
        taffeta.unregister()


if __name__ == "__main__":
    main()
