# SPDX-License-Identifier: GPL-3.0-or-later
"""Every integrator of Bargmann's list (2003, appendix C) in his scenes and steps: `python benchmarks/integrators.py`.

The torus of `ldi.py`, on which a sheet of 441 points falls, and the poncho on the walking mannequin, both in steps of 2.5 ms.
Prints for each *Dynamics* into how many steps a method cuts a frame, what that takes of the processor, and the longest edge.
Writes nothing. Ten minutes; --scenes, --dynamics and --frames take a part of it.
"""

import argparse
import tempfile
import time
from contextlib import redirect_stdout
from io import StringIO

import bpy
import ldi
import simulate
import taffeta
from taffeta.operators.bake import job as jobs
from taffeta.operators.bake.order import read_order
from taffeta.operators.bake.run import bake_now
from taffeta.panels.choices import DYNAMICS
from taffeta.solver.build import build
from taffeta.solver.integrate.explicit import count_steps
from taffeta.solver.model import EXPLICIT

STEP = 0.0025  # [s]
SCENES = "torus", "mannequin"
LABELS = {name: label for name, label, *_ in DYNAMICS}


def prepare_scene(body: str, name: str, frames: int):
    """Make one of his scenes for a method; returns the scene."""
    ldi.build(body)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, frames
    scene.taffeta.substeps, scene.taffeta.dynamics, scene.taffeta.ldi_resolution = round(1 / 24 / STEP), name, 64
    return scene


def inner_steps(name: str) -> int:
    """Steps into which a method cuts a frame of 1/24 s in the scene as it is."""
    order = read_order(bpy.context.scene, kept=False)
    own = (
        count_steps(name, build(order.garments, order.settings)[0], order.settings.pin_rate) if name in EXPLICIT else 0
    )
    return max(own, order.settings.substeps)


def measure(body: str, name: str, frames: int) -> str:
    """A row of the table."""
    scene = prepare_scene(body, name, frames)
    count = inner_steps(name)
    with tempfile.TemporaryDirectory() as folder, redirect_stdout(StringIO()):
        scene.taffeta.cache_folder = folder
        job = jobs.Job(read_order(scene))
        began = time.process_time()
        bake_now(scene, job)
        spent = 1e3 * (time.process_time() - began) / (frames - 1)
        bpy.ops.wm.read_factory_settings(use_empty=True)  # before the frames are gone
    if len(job.reports) < frames - 1:
        return f"| {body} | {LABELS[name]} | {count:,} | {job.error} | |"
    return f"| {body} | {LABELS[name]} | {count:,} | {spent:.0f} | {max(report.worst_stretch for report in job.reports):.1%} |"


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scenes", nargs="+", default=list(SCENES), choices=SCENES)
    parser.add_argument("--dynamics", nargs="+", default=list(LABELS), choices=list(LABELS))
    parser.add_argument("--frames", type=int, default=72)
    chosen = parser.parse_args()
    taffeta.register()
    try:
        simulate.prepare()
        print(f"| scene | Dynamics | steps a frame | frame [ms] | longest edge |\n|{' --- |' * 5}")
        for body in chosen.scenes:
            for name in chosen.dynamics:
                print(measure(body, name, chosen.frames), flush=True)
    finally:
        taffeta.unregister()


if __name__ == "__main__":
    main()
