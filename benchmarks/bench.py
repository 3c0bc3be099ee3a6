# SPDX-License-Identifier: GPL-3.0-or-later
"""Taffeta beside Blender's own cloth, in one run: the same meshes, bodies, frames, gravity and mass.

    python benchmarks/bench.py [--sizes 21 51] [--parts sheets poncho dress threads newer] [--frames 20] [--patience 15]

Sheets of growing size, each without and with self-collision, a poncho on a walking mannequin and a dress; then the larger sheets with one
thread and with all. A Blender that has Cloth Dynamics (5.2) measures that, too; one that has not lets the Blender of
`make setup-5.2` run some of the scenes, if it is there: that is the part "newer". A quarter of an hour on two quiet cores; one scene
alone is `--parts dress`, or `--parts sheets --sizes 101`. Prints tables, writes out/bench.json, and, if nothing was left out,
benchmarks/results.md with its plot.
"""

import argparse
import json
import os
import subprocess
import time
from pathlib import Path

import bpy
import dynamics
import inside
import page
import scaling
import scenes
import simulate
import table
import taffeta

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "out"
FOUND = OUT / "bench.json"
SIZES = 21, 51, 101, 201, 401  # vertices along a side of the sheets
THREADS, NEWER = "threads", "newer"
PARTS = *scenes.SCENES, THREADS, NEWER
NEWER_BLENDER = ROOT / ".venv-5.2" / "bin" / "python"
NEWER_SIZES = 51, 101  # of the sheets that it runs
PATIENCE = 15.0  # [s] after which a run of Blender is not given another frame
HOPELESS = 2.0  # times the patience that a frame of Blender's would take: it is left out


def main():
    """Measure, print, write."""
    chosen = options()
    taffeta.register()
    try:
        result = measure(chosen.cases, chosen.patience, chosen.threads)
    finally:
        taffeta.unregister()
    result["newer"] = newer(chosen) if NEWER in chosen.parts else {}
    OUT.mkdir(exist_ok=True)
    FOUND.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print("\n" + table.text(result))
    if chosen.whole:
        results = ROOT / "benchmarks" / "results.md"
        results.write_text(table.page(result), encoding="utf-8")
        table.plot(result, results.with_suffix(".png"))


def options(arguments=None):
    """What was asked for on the command line, with the cases that follow from it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="*", help=f"vertices along a side of the sheets; else {SIZES}")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, help="what to measure; else all")
    parser.add_argument("--frames", type=int, default=0, help="of every shot; else fewer for larger sheets")
    parser.add_argument("--patience", type=float, default=PATIENCE, metavar="S", help="seconds for a run of Blender")
    chosen = parser.parse_args(arguments)
    if chosen.frames and chosen.frames < 2 or min(chosen.sizes or SIZES) < 3:
        parser.error("a shot has 2 frames or more, a sheet 3 vertices or more along a side")
    chosen.whole = not (chosen.frames or chosen.sizes is not None or set(chosen.parts) < set(PARTS))
    chosen.cases = scenes.cases(SIZES if chosen.sizes is None else chosen.sizes, chosen.frames, chosen.parts)
    sizes = scaling.FRAMES if chosen.sizes is None else chosen.sizes
    chosen.threads = {size: chosen.frames or scaling.FRAMES.get(size) or scenes.frames_of(size) for size in sizes}
    if THREADS not in chosen.parts:
        chosen.threads = {}
    if not chosen.cases and not chosen.threads and NEWER not in chosen.parts:
        parser.error("nothing is left to measure")
    return chosen


def newer(chosen):
    """What a Blender with Cloth Dynamics finds of the scenes, in a process of its own; {} if this one has that, or none has."""
    if dynamics.library() or not NEWER_BLENDER.exists():
        return {}
    print("in a newer Blender ...", flush=True)
    command = [NEWER_BLENDER, __file__, "--parts", *scenes.SCENES, "--sizes", *map(str, chosen.sizes or NEWER_SIZES)]
    subprocess.run([*command, "--frames", str(chosen.frames), "--patience", str(chosen.patience)], check=True)
    return json.loads(FOUND.read_text(encoding="utf-8"))


def measure(cases, patience, threads):
    """Run all cases, and those in `threads` with one thread and with all; returns what bench.json holds."""
    started, machine = time.perf_counter(), describe(patience)
    simulate.prepare()
    rows, left_out = [], []
    for case in cases:
        print(f"{case.name}, {'with' if case.self_collision else 'without'} self-collision ...", flush=True)
        seconds = {who: simulate.expected(case, who, rows) for who in simulate.rivals()}
        hopeless = [who for who in seconds if seconds[who] > HOPELESS * patience]
        rows += simulate.run(case, patience, [who for who in seconds if who not in hopeless])
        scene = {"case": case.name, "self_collision": case.self_collision}
        left_out += [scene | {"who": who, "seconds": seconds[who]} for who in hopeless]
    if threads:
        print("with one thread and with all ...", flush=True)
    scaled = scaling.measure(threads) if threads else []
    machine |= {"load_after": page.load(), "minutes": round((time.perf_counter() - started) / 60, 1)}
    return {"machine": machine, "rows": rows, "left_out": left_out, "threads": scaled}


def describe(patience):
    """The machine, the versions and the day."""
    return page.describe() | {
        "Blender": bpy.app.version_string,
        "patience_seconds": patience,
        "bytes_a_second": inside.bandwidth(os.cpu_count()),
        "bytes_a_second_of_one": inside.bandwidth(1),
        "operations_a_second": inside.arithmetic(),
    }


if __name__ == "__main__":
    main()
