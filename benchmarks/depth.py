# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth on cloth by depth beside pairs: `.venv/bin/python benchmarks/depth.py [--frames 48] [--scenes fold ...] [--substeps 10 20 ...]`.

A folded sheet and four sheets on a floor, a strip that falls on its edge, and two T-shirts in a bowl (`crowd`). Prints
for each way the processor time of contact and of the whole frame (the median of the second half of the frames),
crossings by ipctk in the last frame, by how much cloth moves in a frame then, and the longest edge. Bodies are not
guarded, as in Preview quality. Writes nothing.
"""

import argparse
import itertools
import sys
import time
from pathlib import Path

import numpy as np

sys.path[:0] = [str(Path(__file__).resolve().parent.parent / "tests" / "solver")]

import crowd  # noqa: E402
import taffeta.solver.step as step  # noqa: E402
from crossings import count_in  # noqa: E402
from sheets import GRAVITY, floor, folded, sheet  # noqa: E402
from taffeta.solver.build import build  # noqa: E402
from taffeta.solver.contact.frame import CLOTH_TIME  # noqa: E402
from taffeta.solver.kernel import stopwatch  # noqa: E402
from taffeta.solver.model import CLOTH_CONTACTS, FrameInput, Settings  # noqa: E402


def fold():
    """A sheet of 55 x 23 particles, folded in half."""
    return [sheet("Sheet", 55, 23, 0.00625, place=folded, bending_stiffness=2e-7)]


def four():
    """Four sheets of 31 x 31 over each other, apart."""
    return [
        sheet(str(k), 31, 31, 0.02, place=lambda x, k=k: x + [0.02 * k, 0.013 * k, 0.02 + 0.03 * k]) for k in range(4)
    ]


def strip():
    """A strip of 61 x 15 that stands on its edge and folds up."""

    def upright(x):
        return np.stack([0.002 * np.sin(40.0 * x[:, 0]), x[:, 1], x[:, 0] - x[:, 0].min() + 0.02], axis=1)

    return [sheet("Strip", 61, 15, 0.01, place=upright, bending_stiffness=1e-6)]


def shirts():
    """Two T-shirts over a bowl."""
    rng = np.random.default_rng(7)
    return [crowd.shirt(k, rng) for k in range(2)]


SCENES = {"fold": fold, "four": four, "strip": strip, "shirts": shirts}


def measure(name, contact, frames, substeps, each):
    """Run a scene and print its row."""
    settings = Settings(cloth_contact=contact, guard_bodies=False, substeps=substeps, untangle_each=each)
    cloth, state = build(SCENES[name](), settings)
    targets = np.broadcast_to(state.x + cloth.origin, (2, *state.x.shape))
    rows, worst = [], 0.0
    for frame in range(1, frames + 1):
        body = crowd.bowl(frame) if name == "shirts" else floor()
        given, before = FrameInput(1 / 24, targets, (body,), GRAVITY, np.zeros(3)), state.x.copy()
        report = step.advance(cloth, state, given, frame, settings)
        rows.append((report.seconds[CLOTH_TIME], sum(report.seconds.values())))
        worst = max(worst, report.worst_stretch)
    contact_ms, whole_ms = 1e3 * np.median(rows[frames // 2 :], axis=0)
    crossings = count_in(cloth, state.x, (body,))
    moved = 1e3 * np.linalg.norm(state.x - before, axis=1).mean()
    print(
        f"| {name} | {len(cloth.triangles):,} | {contact} | {substeps} | {contact_ms:.1f} | {whole_ms:.0f} | "
        f"{crossings.cloth_self + crossings.cloth_cloth} | {moved:.2f} | {100 * worst:.0f} % |",
        flush=True,
    )


def main() -> int:
    """Run all scenes by all ways; prints a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--frames", type=int, default=48)
    parser.add_argument("--scenes", nargs="+", default=list(SCENES), choices=list(SCENES))
    parser.add_argument(
        "--contact", nargs="+", default=["PAIRS", "DEPTH_SEQUENCES", "DEPTH_STICKS"], choices=CLOTH_CONTACTS
    )
    parser.add_argument("--substeps", type=int, nargs="+", default=[Settings().substeps], help="in a frame")
    parser.add_argument("--each", action="store_true", help="with Untangle Each Frame")
    arguments = parser.parse_args()
    stopwatch.perf_counter = time.process_time  # other programs may be busy meanwhile
    print(
        "| scene | triangles | cloth on cloth | substeps | contact [ms] | frame [ms] | crossings | moves [mm] | stretch |"
    )
    print("| --- " * 9 + "|")
    for name, contact, substeps in itertools.product(arguments.scenes, arguments.contact, arguments.substeps):
        measure(name, contact, arguments.frames, substeps, arguments.each)
    return 0


if __name__ == "__main__":
    sys.exit(main())
