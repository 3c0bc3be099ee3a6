# SPDX-License-Identifier: GPL-3.0-or-later
"""How much of a sheet's folds is left when it falls on a floor, or is lifted by one (Bridson, Marino and Fedkiw 2003, 5).

    python benchmarks/fold_impacts.py

Needs no Blender. A rough sheet in waves of some millimetres falls flat. What comes into the floor's aura in one step
is put out of it to one height, whatever its height was; such a substep is taken again in more steps. Printed is the standard deviation of its heights a third of a second
later, over that before, by the default substeps and by sixteen times as many, which show what is right.
"""

import sys
from pathlib import Path

import numpy as np
import page

sys.path[:0] = [str(Path(__file__).resolve().parent.parent / "tests" / "solver")]

from fuzz import FRAME  # noqa: E402
from sheets import GRAVITY, floor, sheet  # noqa: E402
from taffeta.solver import precompile  # noqa: E402
from taffeta.solver.build import build  # noqa: E402
from taffeta.solver.model import FrameInput, Settings  # noqa: E402
from taffeta.solver.step import advance  # noqa: E402

ROWS, EDGE, RIM = 51, 0.01, 8  # vertices along a side, [m] between them, and how many beside a border do not count
AURA, GAP = 0.005, 0.02  # [m] of the floor, and between it and the lowest vertex at the start
FRAMES = 8
WAVES = (0.001, 0.05), (0.002, 0.05), (0.004, 0.06)  # [m] height over the middle, and length
SPEEDS = 0.5, 1.0, 2.0, 4.0, 6.0  # [m/s] of sheet and floor against each other
SUBSTEPS = 10, 160
HEAD = ("height, mm", "speed, m/s", *(f"kept of it, {count} substeps" for count in SUBSTEPS))


def waves(x: np.ndarray, height: float, length: float) -> np.ndarray:
    """A flat sheet in waves along x, each as long as the cloth was."""
    way = np.linspace(0.0, np.ptp(x[:, 0]), 20001)
    slope = 2.0 * np.pi * height / length * np.cos(2.0 * np.pi * way / length)
    cloth = np.concatenate([[0.0], np.cumsum(np.hypot(1.0, 0.5 * (slope[1:] + slope[:-1])) * np.diff(way))])
    at, out = np.interp(x[:, 0] - x[:, 0].min(), cloth, way), x.copy()
    out[:, 0], out[:, 2] = at - at.mean(), height * np.sin(2.0 * np.pi * at / length)
    return out


def kept(height: float, length: float, speed: float, substeps: int, is_lifted: bool = False, frames: int = FRAMES):
    """Part of the deviation of heights that is left after some frames, away from the rim."""
    garment = sheet("Sheet", ROWS, ROWS, EDGE, thickness=6e-4, friction=1.0, self_collision=False)
    start = waves(garment.x, height, length) + [0.0, 0.0, height + AURA + GAP]
    settings = Settings(air_drag=0.0, substeps=substeps)
    cloth, state = build([garment._replace(x_start=start)], settings)
    state.v[:, 2] = 0.0 if is_lifted else -speed
    ground, rise = floor(1.0), speed * FRAME if is_lifted else 0.0
    for frame in range(1, frames + 1):
        x = ground.x + np.array([0.0, 0.0, rise]) * np.array([frame - 1, frame])[:, None, None]
        given = FrameInput(FRAME, np.stack(2 * [start]), (ground._replace(x=x, aura=AURA),), GRAVITY, np.zeros(3))
        advance(cloth, state, given, frame, settings)
    heights = state.x[:, 2].reshape(ROWS, ROWS)[RIM:-RIM, RIM:-RIM]
    return float(heights.std() / start[:, 2].std())


def main() -> int:
    """Print the table."""
    precompile.compile_kernels()
    rows = []
    for height, length in WAVES:
        for speed in SPEEDS:
            parts = [f"{100 * kept(height, length, speed, count):.0f} %" for count in SUBSTEPS]
            rows.append([f"{1000 * height:.0f}", speed, *parts])
    print(page.grid(HEAD, rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
