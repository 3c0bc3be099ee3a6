# SPDX-License-Identifier: GPL-3.0-or-later
"""Contact's proof: scenes of folding, piling, wringing and pinching, every frame of which ipctk counts crossings in.

    python benchmarks/contact.py [--only strip towel ...] [--frames N]

All in the settings of a Final bake, nothing tuned per scene. Needs no Blender. Prints tables and, if nothing was left
out, writes benchmarks/contact.md. Exit status 1 if anything crossed where it must not, or did not stay calm.
"""

import argparse
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import page
from contact_scenes import FRAME, G, SCENES, Scene
from crossings import count_in
from taffeta.solver import warm
from taffeta.solver.build import build
from taffeta.solver.model import FrameInput, Settings
from taffeta.solver.step import advance

PAGE = Path(__file__).resolve().parent / "contact.md"
HEAD = (
    "scene",
    "particles",
    "frames",
    "ms a frame",
    "worst ms",
    "worst stretch",
    "cloth-cloth",
    "cloth-body",
    "the seed's",
)


class Run(NamedTuple):
    """What came out of a scene, frame by frame from frame 1 on."""

    particles: int
    seconds: np.ndarray  # (f,) of each frame
    stretch: np.ndarray  # (f,) the longest edge
    cloth_cloth: np.ndarray  # (f,) crossings of cloth with itself and with other cloth
    cloth_body: np.ndarray  # (f,)
    error: str  # why it ended early


def run(scene: Scene, frames: int = 0, watch=None, settings: Settings = Settings()) -> Run:  # noqa: B008
    """Simulate a scene, or its first `frames`; `watch` is called with the cloth, the state and the frame after each."""
    cloth, state = build(scene.garments, settings)
    if scene.velocity is not None:
        state.v[:] = scene.velocity
    found, error = [], ""
    for frame in range(1, (frames or scene.frames) + 1):
        colliders = scene.colliders(frame)
        given = FrameInput(FRAME, scene.targets(frame), colliders, np.array([0.0, 0.0, -G]), np.zeros(3))
        started = time.perf_counter()
        try:
            report = advance(cloth, state, given, frame, settings)
        except FloatingPointError as problem:
            error = str(problem)
            break
        seconds = time.perf_counter() - started
        counts = count_in(cloth, state.x, colliders)
        found.append((seconds, report.worst_stretch, counts.cloth_self + counts.cloth_cloth, counts.cloth_body))
        if watch is not None:
            watch(cloth, state, frame)
    return Run(len(state.x), *np.array(found).reshape(-1, 4).T, error)


def row(scene: Scene, done: Run) -> list[str]:
    """A scene's line of the table."""
    times = 1000 * (done.seconds[1:] if len(done.seconds) > 1 else done.seconds)
    return [
        scene.name, done.particles, len(done.seconds), f"{times.mean():.1f}", f"{times.max():.0f}",
        f"{100 * done.stretch.max():.1f} %", int(done.cloth_cloth.max()), int(done.cloth_body.max()),
        done.error or scene.seed,
    ]  # fmt: skip


def main() -> int:
    """Run the scenes that are asked for; prints a line each, then the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=SCENES, metavar="SCENE", help=f"of {', '.join(SCENES)}")
    parser.add_argument("--frames", type=int, default=0, help="of each scene at most")
    options = parser.parse_args()
    started, machine = time.perf_counter(), page.describe()
    warm.compile_kernels()
    rows = []
    for name in options.only or SCENES:
        scene = SCENES[name]()
        done = run(scene, min(options.frames or scene.frames, scene.frames))
        rows.append(row(scene, done))
        print(" | ".join(map(str, rows[-1])), flush=True)
    print("\n" + page.grid(HEAD, rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
