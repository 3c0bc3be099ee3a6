# SPDX-License-Identifier: GPL-3.0-or-later
"""Contact's proof: scenes of folding, piling, wringing and pinching, every frame of which ipctk counts crossings in.

    python benchmarks/contact.py [--only strip spheres ...] [--frames N]

All in the settings of a Final bake, nothing tuned per scene. Needs no Blender. Prints tables and, if nothing was left
out, writes benchmarks/contact.md. Exit status 1 if cloth crossed where it must not.
"""

import argparse
import sys
import time
from pathlib import Path
from typing import NamedTuple

import contact_scenes
import numpy as np
import page
import pinch_scenes
from contact_scenes import AURA, FRAME, G, Scene
from crossings import count_in
from taffeta.solver import precompile
from taffeta.solver.build import build
from taffeta.solver.model import FrameInput, Settings
from taffeta.solver.step import advance

PAGE = Path(__file__).resolve().parent / "contact.md"
SCENES = contact_scenes.SCENES | pinch_scenes.SCENES
FINAL = Settings()  # as `operators/bake/order` makes it for a Final bake of a new scene
HEAD = (
    "scene", "particles", "frames", "ms a frame", "worst ms", "worst stretch", "usual", "crossings cloth-cloth",
    "cloth-body", "the seed's",
)  # fmt: skip
PINCH_HEAD = (
    "pinch", "vertices between", "moves at most, held", "moves usually", "thickness", "crossings outside it",
    "crossings after",
)  # fmt: skip
NOTES = """\
- **ms a frame**: of the solver, from the second frame on; compiled before.
- **Worst stretch** of the mesh's edges in all frames, **usual** the median of the frames' worst.
- **Crossings**: edges that go through a triangle, counted by ipctk after every frame; the most of a frame. Of scenes
  with a pinch, cloth-body without triangles that have a vertex between two bodies, where nothing can be right.
- **Moves at most**: the largest way [mm] in a frame of a vertex that is between bodies, by their shapes on paper, while
  they stand still; **usually**: the median of these vertices and frames. Calm is less than the thickness [mm].
- **Crossings after**: of all kinds, from the moment on that the bodies have parted.
- **The seed's**: on a Pentium of 200 MHz (strip, tablecloth: the whole shot) and an SGI Octane (a step).
"""


class Run(NamedTuple):
    """What came out of a scene, frame by frame from frame 1 on."""

    particles: int
    seconds: np.ndarray  # (f,) of each frame
    stretch: np.ndarray  # (f,) the longest edge
    cloth_cloth: np.ndarray  # (f,) crossings of cloth with itself and with other cloth
    cloth_body: np.ndarray  # (f,)
    outside: np.ndarray  # (f,) those of them that no vertex between two bodies has part in
    between: np.ndarray  # (f,) vertices between two bodies
    motion: list[np.ndarray]  # [m] of each of these in every frame in which the bodies stand still
    error: str  # why it ended early


def run(scene: Scene, frames: int = 0, watch=None, settings: Settings = FINAL) -> Run:
    """Simulate a scene, or its first `frames`; `watch` is called with the cloth, the state and the frame after each."""
    cloth, state = build(scene.garments, settings)
    if scene.velocity is not None:
        state.v[:] = scene.velocity
    found, motion, error = [], [], ""
    for frame in range(1, (frames or scene.frames) + 1):
        colliders = scene.colliders(frame)
        given = FrameInput(FRAME, scene.targets(frame), colliders, np.array([0.0, 0.0, -G]), np.zeros(3))
        before, started = state.x.copy(), time.perf_counter()
        try:
            report = advance(cloth, state, given, frame, settings)
        except FloatingPointError as problem:
            error = str(problem)
            break
        seconds, outside = time.perf_counter() - started, count_in(cloth, state.x, colliders)
        between = np.zeros(len(before), bool)
        counts = outside
        if scene.pinch:
            depth = pinch_scenes.depth(scene, state.x + cloth.origin, frame)
            between = depth > 0.0
            outside = count_in(_without(cloth, depth), state.x, colliders) if counts.cloth_body else counts
            if frame in scene.pinch.held:
                motion.append(np.linalg.norm(state.x - before, axis=1)[between])
        crossed = counts.cloth_self + counts.cloth_cloth, counts.cloth_body, outside.cloth_body
        found.append((seconds, report.worst_stretch, *crossed, between.sum()))
        if watch is not None:
            watch(cloth, state, frame)
    return Run(len(state.x), *np.array(found).reshape(-1, 6).T, motion, error)


def _without(cloth, depth: np.ndarray):
    """The cloth without triangles that have a vertex between two bodies, or less than an edge away from there."""
    edge = float(np.median(cloth.rest_length))
    return cloth._replace(triangles=cloth.triangles[(depth[cloth.triangles] < -AURA - edge).all(axis=1)])


def row(scene: Scene, done: Run) -> list:
    """A scene's line of the table."""
    times = 1000 * (done.seconds[1:] if len(done.seconds) > 1 else done.seconds)
    return [
        scene.name, done.particles, len(done.seconds), f"{times.mean():.1f}", f"{times.max():.0f}",
        f"{100 * done.stretch.max():.1f} %", f"{100 * np.median(done.stretch):.1f} %", int(done.cloth_cloth.max()),
        int(done.outside.max()), done.error or scene.seed,
    ]  # fmt: skip


def pinch_row(scene: Scene, done: Run) -> list:
    """A pinch's line of the second table; lengths in mm."""
    motion = 1000 * np.concatenate([np.zeros(1), *done.motion])[1:]
    after = slice(scene.pinch.apart - 1, None)
    thickness = 1000 * scene.garments[0].thickness[0]
    largest, usual = (f"{motion.max():.2f}", f"{np.median(motion):.2f}") if len(motion) else ("", "")
    crossed = [int(counts[after].max(initial=0)) for counts in (done.cloth_cloth, done.cloth_body)]
    return [
        scene.name,
        int(done.between.max()),
        largest,
        usual,
        f"{thickness:.2f}",
        int(done.outside.max()),
        sum(crossed),
    ]


def passed(scene: Scene, done: Run) -> bool:
    """Whether nothing crossed that must not."""
    after = done.cloth_body[scene.pinch.apart - 1 :] if scene.pinch else done.cloth_body
    return not (done.error or done.cloth_cloth.any() or done.outside.any() or after.any())


def main() -> int:
    """Run the scenes that are asked for; prints a line each, then the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=SCENES, metavar="SCENE", help=f"of {', '.join(SCENES)}")
    parser.add_argument("--frames", type=int, default=0, help="of each scene at most")
    options = parser.parse_args()
    started, machine = time.perf_counter(), page.describe()
    precompile.compile_kernels()
    rows, pinches, good = [], [], True
    for name in options.only or SCENES:
        scene = SCENES[name]()
        done = run(scene, min(options.frames or scene.frames, scene.frames))
        good &= passed(scene, done)
        rows.append(row(scene, done))
        pinches += [pinch_row(scene, done)] if scene.pinch else []
        print(" | ".join(map(str, rows[-1] + (pinches[-1][1:] if scene.pinch else []))), flush=True)
    machine |= {"load_after": page.load(), "minutes": round((time.perf_counter() - started) / 60, 1)}
    text = page.grid(HEAD, rows) + ("\n" + page.grid(PINCH_HEAD, pinches) if pinches else "")
    print("\n" + text)
    if not options.only and not options.frames:
        title = "# Contact: scenes that must not cross\n\nWritten by `make bench` (benchmarks/contact.py), which measures it anew.\n"
        PAGE.write_text("\n".join([title, page.about(machine), text, NOTES]), encoding="utf-8")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
