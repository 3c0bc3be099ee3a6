# SPDX-License-Identifier: GPL-3.0-or-later
"""The image of moving bodies that a bake draws, by the graphics card and by the processor; the card's with its read-back.

    python benchmarks/images.py

Tori that turn and drift a little, as a body does in a frame, all of whose triangles are near. `ldi.py` puts the table into
docs/layers.md. `bench.py` tells the same of each of its bakes.
"""

import os
import time
from typing import NamedTuple

import bpy
import numpy as np
from page import grid, processor
from taffeta.gpu_ldi.context import NoGraphics, ensure_context
from taffeta.solver.ldi.rasterise import render_motion, resting
from taffeta.solver.ldi.texels import render_by

SIDES = 40, 158, 316, 632  # of the tori: 3,200 to 800,000 triangles
PIXELS = 32, 64, 128, 256, 512
REPEATS = 9
SECONDS = 2.0  # after which an image is not drawn again


class Drawn(NamedTuple):
    """Milliseconds of an image, the least of some."""

    triangles: int
    pixels: int
    processor: float
    card: float | None  # with its read-back; None without a graphics context
    packing: float | None  # of it, what the processor does before and after


def main():
    """Measure, print."""
    print(page(measure()))


def measure(sides=SIDES, resolutions=PIXELS) -> list[Drawn]:
    """Draw each body at each resolution on both sides."""
    card, rows = find_card(), []
    for side in sides:
        what = body(side)
        for pixels in resolutions:
            low, high = what[0].middle.min(0), what[0].middle.max(0)
            ours = least(render_motion, *what, low, high, pixels)
            rows.append(Drawn(len(what[1]), pixels, ours, *by_card(card, *what, low, high, pixels)))
    return rows


def find_card():
    """What draws on the graphics card, None without a context."""
    try:
        ensure_context()
    except NoGraphics:
        return None
    from taffeta.gpu_ldi.motion import MotionRenderer

    return MotionRenderer()


def by_card(card, *what):
    """Milliseconds with read-back, and what of them is not the card's."""
    if card is None:
        return None, None
    alone, draw = [], card.draw

    def timed(*given):
        started = time.perf_counter()
        hits = draw(*given)
        alone.append(1000.0 * (time.perf_counter() - started))
        return hits

    def image(*what):
        return render_by(timed, *what)

    total = least(image, *what)
    return total, max(0.0, total - min(alone))


def body(side: int):
    """(trajectories, triangles, all their numbers) of a torus with side x side quads."""
    turn = np.arange(side) * (2.0 * np.pi / side)
    u, v = (angle.ravel() for angle in np.meshgrid(turn, turn, indexing="ij"))
    out = 0.42 + 0.175 * np.cos(v)
    x = np.stack([out * np.cos(u), out * np.sin(u), 0.175 * np.sin(v)], axis=1)
    here = np.arange(side * side).reshape(side, side)
    right, up, both = np.roll(here, -1, 0), np.roll(here, -1, 1), np.roll(here, (-1, -1), (0, 1))
    triangles = np.concatenate([np.stack(t, -1).reshape(-1, 3) for t in ((here, right, both), (here, both, up))])
    way = 0.004 * np.stack([-x[:, 1], x[:, 0], np.full(len(x), 0.2)], axis=1)
    moving = resting(x)._replace(half=way, deviation=np.full(len(x), 1e-5))
    return moving, triangles.astype(np.int32), np.arange(len(triangles), dtype=np.int32)


def least(draw, *what) -> float:
    """Least milliseconds of an image, once it has been drawn."""
    draw(*what)
    times, until = [], time.perf_counter() + SECONDS
    while len(times) < REPEATS and (not times or time.perf_counter() < until):
        started = time.perf_counter()
        draw(*what)
        times.append(time.perf_counter() - started)
    return 1000.0 * min(times)


def table(rows: list[Drawn]) -> str:
    """In Markdown."""
    head = "triangles", "pixels", "processor, ms", "card with read-back, ms", "of it packing and ordering, ms"
    return grid(head, ([f"{row.triangles:,}", row.pixels, *map(_figure, row[2:])] for row in rows))


def device() -> str:
    """Who draws: a sentence's end."""
    try:
        return ensure_context()
    except NoGraphics as reason:
        return f"none, because {reason}"


def page(rows: list[Drawn]) -> str:
    """The table, and the machine."""
    machine = f"{processor()}, {os.cpu_count()} cores, Blender {bpy.app.version_string}"
    return f"{table(rows)}\nThe least of up to {REPEATS} images. {machine}; the graphics context: {device()}.\n"


def _figure(value) -> str:
    return "" if value is None else f"{value:.3g}"


if __name__ == "__main__":
    main()
