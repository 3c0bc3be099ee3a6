# SPDX-License-Identifier: GPL-3.0-or-later
"""Untangle beside the thesis: `.venv/bin/python benchmarks/untangle.py [--repeats N]` prints a table.

Seconds for as many layers and vertices as tables 2.1 and 2.2 of Buffet 2021 have (a laptop with four cores, field
construction of up to 4 s a garment left out; ours are for everything, from arrays to arrays), crossings before and
after by ipctk, and the distance of neighbouring layers over what it should be, as table 2.3. The garments are dresses
over a body, each with waves of its own, so that all pass through all. Writes nothing.

With `--rotations` garments slide along their surface as in ARAP (Sorkine and Alexa 2007; Buffet 2021, 2.4.3), which turns edges, in
place of by lengths alone; in numpy, so its seconds are not to be compared.
"""

import argparse
import os
import sys
import time
from contextlib import contextmanager, nullcontext
from pathlib import Path

import numpy as np
from scipy.spatial import cKDTree

sys.path[:0] = [str(Path(__file__).resolve().parent.parent / "tests" / "solver")]

from crossings import count_worn  # noqa: E402
from taffeta.solver.untangle import nest, relax  # noqa: E402
from taffeta.solver.untangle.apart import untangle  # noqa: E402
from taffeta.solver.untangle.nest import Shape, Worn  # noqa: E402

# layers with the body, vertices of all garments, seconds
TABLE_2_1 = ((3, 7751, 1.04), (4, 9200, 1.29), (5, 13673, 2.35), (6, 16871, 3.45), (7, 22453, 4.54), (8, 23385, 6.80))
TABLE_2_2 = (
    (3, 5062, 0.22), (3, 20062, 0.76), (3, 79816, 2.71), (4, 7502, 0.28), (4, 29635, 1.06), (4, 117785, 3.56),
    (5, 10694, 0.57), (5, 42315, 2.1), (5, 168275, 7.15),
)  # fmt: skip
EXTRA = ((10, 23000, None), (4, 80000, None))  # nine garments and three, over a body
THICKNESS = 0.003


def dress(rows, columns, low, high, seed, wave):
    """A wavy dress from the height `low` to `high`: x (n, 3) [m], triangles (t, 3)."""
    height, turn = np.meshgrid(np.linspace(high, low, rows), np.arange(columns) * 2 * np.pi / columns, indexing="ij")
    r = 0.13 + 0.03 * np.cos(9.0 * height) + 0.12 * np.maximum(-height, 0.0)
    r = r + wave * np.sin((3 + seed % 3) * turn + seed) * np.cos((8 + seed % 5) * height + 2.0 * seed)
    x = np.stack((r * np.cos(turn), 0.8 * r * np.sin(turn), height), axis=-1).reshape(-1, 3)
    i, j = (a.ravel() for a in np.meshgrid(np.arange(rows - 1), np.arange(columns), indexing="ij"))
    a, b = i * columns + j, i * columns + (j + 1) % columns
    triangles = np.concatenate((np.column_stack((a, a + columns, b + columns)), np.column_stack((a, b + columns, b))))
    return x, triangles


def layered(layer_count, vertex_count):
    """layer_count - 1 dresses, together of about `vertex_count` vertices, and the body."""
    garments, each = [], vertex_count / (layer_count - 1)
    for layer in range(layer_count - 1):
        low, high = -0.45 + 0.05 * (layer % 4), 0.3 - 0.03 * (layer % 3)
        columns = int(np.sqrt(1.25 * each))
        x, triangles = dress(round(each / columns), columns, low, high, layer, 0.008)
        garments.append(Worn(f"Layer {layer + 1}", x, triangles, np.full(len(x), THICKNESS), layer, 1.0))
    x, triangles = dress(60, 80, -0.5, 0.4, 0, 0.0)
    return garments, [Shape("Body", x * (0.97, 0.97, 1.0), triangles, 0.003)]


@contextmanager
def turning_edges():
    """Let tangential steps of untangling fit a rotation to each vertex and its edges, and put it where those of it and its neighbours
    have it, in the mean; along its surface, as far as a step by lengths goes.
    """
    own, slide = relax.relax, relax._slide_kernel

    def relaxed(x, sheet, wear, grid):
        rest, counts = x.copy(), np.diff(sheet.start)
        at, other = np.repeat(np.arange(len(x)), counts), sheet.neighbour
        edges = rest[other] - rest[at]
        edges *= (sheet.length / np.maximum(np.linalg.norm(edges, axis=1), 1e-30))[:, None]
        total = np.maximum(counts, 1)[:, None]

        def turned(_start, _end, x, _sheet, normal, out):
            spread = np.zeros((len(x), 3, 3))
            np.add.at(spread, at, edges[:, :, None] * (x[other] - x[at])[:, None])
            u, _, vt = np.linalg.svd(spread)
            vt[:, 2] *= np.linalg.det(u @ vt)[:, None]
            rotation = np.einsum("nji,nkj->nik", vt, u)
            wanted = 0.5 * np.einsum("eij,ej->ei", rotation[at] + rotation[other], edges)
            move = np.zeros_like(x)
            np.add.at(move, at, x[other] - x[at] - wanted)
            move *= 0.75 / total  # as far as by lengths: half of each, over-relaxed by a half
            out[:] = x + move - np.einsum("ni,ni->n", move, normal)[:, None] * normal

        relax._slide_kernel, before = turned, relax.cut
        relax.cut = lambda count, least: [(0, count)]
        try:
            return own(x, sheet, wear, grid)
        finally:
            relax._slide_kernel, relax.cut = slide, before

    nest.relax = relaxed
    try:
        yield
    finally:
        nest.relax = own


def count(garments, positions, bodies):
    """Crossings between layers, the body included."""
    found = count_worn(garments, positions, bodies)
    return found.cloth_cloth + found.cloth_body


def thickness_error(garments, positions):
    """Mean distance of touching neighbours over the thickness, less 1: points against a finely sampled surface."""
    weights = np.array([(i, j, 8 - i - j) for i in range(9) for j in range(9 - i)]) / 8.0
    ratios = []
    for inner in range(len(garments) - 1):
        corner = positions[inner][garments[inner].triangles]
        tree = cKDTree(np.einsum("wk,tkd->wtd", weights, corner).reshape(-1, 3))
        distance = tree.query(positions[inner + 1])[0] / THICKNESS
        ratios.append(distance[distance < 1.2])  # farther ones do not touch
    ratios = np.concatenate(ratios)
    return float(ratios.mean() - 1.0) if len(ratios) else float("nan")


def main() -> int:
    """Run all rows and print them; 1 when a layer still crosses another."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3, metavar="N", help="the best time of N runs is printed")
    parser.add_argument("--most", type=int, default=200_000, metavar="N", help="leave out rows of more vertices")
    parser.add_argument("--rotations", action="store_true", help="slide as in ARAP, in place of by lengths alone")
    arguments = parser.parse_args()
    print(f"{os.cpu_count()} cores; the thesis' laptop had 4, and its fields are not in its seconds\n")
    print(
        "| table | layers | vertices | ours, s | CPU, s | thesis, s | crossings | after | edges | worst | thickness |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    untangle(*layered(3, 2000))  # compiles
    failed = False
    for table, rows in (("2.1", TABLE_2_1), ("2.2", TABLE_2_2), ("-", EXTRA)):
        for layer_count, vertex_count, thesis in rows:
            if vertex_count > arguments.most:
                continue
            garments, bodies = layered(layer_count, vertex_count)
            seconds, cpu = [], []
            for _ in range(arguments.repeats):
                start, busy = time.perf_counter(), time.process_time()
                with turning_edges() if arguments.rotations else nullcontext():
                    result = untangle(garments, bodies, stretch=np.inf)  # the thesis sets no limit
                seconds.append(time.perf_counter() - start)
                cpu.append(time.process_time() - busy)
            before, after = (count(garments, x, bodies) for x in ([g.x for g in garments], result.x))
            failed |= after > 0
            print(
                f"| {table} | {layer_count} | {sum(len(g.x) for g in garments):,} | {min(seconds):.2f} | {min(cpu):.2f} | "
                f"{thesis or '-'} | {before:,} | {after} | {100 * result.stretch_median:.1f} % | "
                f"{100 * result.stretch_worst:.0f} % | {100 * thickness_error(garments, result.x):+.1f} % |",
                flush=True,
            )
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
