# SPDX-License-Identifier: GPL-3.0-or-later
"""Every integrator of Bargmann's list (2003, appendix C) in his scenes: `python benchmarks/integrators.py [--write]`.

The torus and the knot of `ldi.py`, onto which a sheet of 441 points falls, and the poncho on the walking mannequin, 72 frames each,
in steps of 2.5 ms. Of each *Dynamics* into how many steps a method cuts a frame, what that takes of the processor, the
longest edge of all frames, how rough cloth is on the mean, and how many edges cross a triangle in the frame that has most, counted by
ipctk in every frame. Implicit Theta is there by each *Theta* of `THETAS`; Explicit Theta is the method at 1/2 always. An hour;
--scenes, --dynamics, --thetas and --frames take a part of it. --write puts the table into docs/layers.md, with all scenes and
methods.
"""

import argparse
import sys
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
from taffeta.solver.model import EXPLICIT, Settings
from watch import Watch

MARKS = "<!-- made by benchmarks/integrators.py -->\n", "<!-- end of integrators -->\n"
STEP = 0.0025  # [s]
SCENES = {"torus": 72, "knot": 72, "mannequin": 72}  # and frames of each
COMPILED = 3  # frames of a shot that is baked before, so that all is compiled
LABELS = {name: label for name, label, *_ in DYNAMICS}
THETAS = Settings().theta, 0.5  # of Implicit Theta: ours, and that of his file ("ImplicitTheta 0.5 20")


def rows_of(names, thetas) -> list[tuple[str, float | None]]:
    """The rows of a scene: a method, and the *Theta* that it is set to, None where it has none."""
    return [(name, theta) for name in names for theta in (thetas if name == "IMPLICIT_THETA" else (None,))]


def label_of(name: str, theta: float | None) -> str:
    """What a method is called in the table."""
    return LABELS[name] if theta is None else f"{LABELS[name]} {theta:g}"


def prepare_scene(body: str, name: str, frames: int, theta: float | None = None):
    """Make one of his scenes for a method, and its *Theta*; returns the scene."""
    ldi.build(body)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, frames
    scene.taffeta.substeps, scene.taffeta.dynamics, scene.taffeta.ldi_resolution = round(1 / 24 / STEP), name, 64
    if theta is not None:
        scene.taffeta.theta = theta
    return scene


def inner_steps(name: str) -> int:
    """Steps into which a method cuts a frame of 1/24 s in the scene as it is."""
    order = read_order(bpy.context.scene, kept=False)
    own = (
        count_steps(name, build(order.garments, order.settings)[0], order.settings.pin_rate) if name in EXPLICIT else 0
    )
    return max(own, order.settings.substeps)


def bake(body: str, name: str, frames: int, theta: float | None = None):
    """Bake a scene by a method and look at all of its frames; returns the job, milliseconds of the processor a frame, and what was seen
    (None where not all frames came about).
    """
    scene = prepare_scene(body, name, frames, theta)
    with tempfile.TemporaryDirectory() as folder, redirect_stdout(StringIO()):
        scene.taffeta.cache_folder = folder
        job, watch = jobs.Job(read_order(scene)), None
        began = time.process_time()
        bake_now(scene, job)
        spent = 1e3 * (time.process_time() - began) / (frames - 1)
        if job.complete:
            watch = Watch([obj for obj in scene.objects if obj.taffeta_cloth.enabled], frames)
            for frame in range(2, frames + 1):
                scene.frame_set(frame)
                watch.look(frame)
                watch.count(frame)
        bpy.ops.wm.read_factory_settings(use_empty=True)  # before the frames are gone
    return job, spent, watch.figures() if watch else None


def measure(body: str, name: str, frames: int, theta: float | None = None) -> str:
    """A row of the table."""
    prepare_scene(body, name, frames, theta)
    count = inner_steps(name)
    bake(body, name, COMPILED, theta)
    job, spent, seen = bake(body, name, frames, theta)
    row = f"| {body} | {label_of(name, theta)} | {count:,} |"
    if seen is None:
        return f"{row} {job.error} | | | |"
    crossings = seen["crossings"]["self"] + seen["crossings"]["body"]
    longest = max(report.worst_stretch for report in job.reports)
    return f"{row} {spent:.0f} | {longest:.1%} | {seen['roughness']:.1f}° | {crossings} |"


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scenes", nargs="+", default=list(SCENES), choices=SCENES)
    parser.add_argument("--dynamics", nargs="+", default=list(LABELS), choices=list(LABELS))
    parser.add_argument("--thetas", nargs="+", type=float, default=list(THETAS), help="of Implicit Theta, 0.5 to 1")
    parser.add_argument("--frames", type=int, help="of each scene; else those of SCENES")
    parser.add_argument("--write", action="store_true", help="put the table into docs/layers.md")
    chosen = parser.parse_args()
    if chosen.write and (
        set(chosen.scenes) < set(SCENES) or set(chosen.dynamics) < set(LABELS) or set(chosen.thetas) < set(THETAS)
    ):
        parser.error("the page wants all scenes, all dynamics and all thetas")
    lines = [
        "| scene | Dynamics | steps a frame | frame [ms] | longest edge | roughness | most crossings |",
        f"|{' --- |' * 7}",
    ]
    taffeta.register()
    try:
        simulate.prepare()
        for body in chosen.scenes:
            for name, theta in rows_of(chosen.dynamics, chosen.thetas):
                lines.append(measure(body, name, chosen.frames or SCENES[body], theta))
                print(lines[-1], file=sys.stderr, flush=True)
    finally:
        taffeta.unregister()
    text = "\n".join(lines) + "\n"
    print(text)
    if chosen.write:
        ldi.put(text, MARKS)


if __name__ == "__main__":
    main()
