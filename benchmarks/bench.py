# SPDX-License-Identifier: GPL-3.0-or-later
"""Taffeta beside Blender's own cloth, in one run: the same meshes, bodies, frames, gravity and mass.

    python benchmarks/bench.py [--full] [--sizes 21 51] [--frames 20] [--no-demo] [--patience 30]

Sheets of growing size, each without and with self-collision, and the demo shot; about ten minutes on two cores. Prints
tables, writes out/bench.json and out/bench.png, and, if nothing was left out, benchmarks/results.md with its plot.
"""

import argparse
import datetime
import json
import os
import platform
import shutil
from pathlib import Path

import bpy
import numba
import numpy as np
import scenes
import simulate
import table
import taffeta

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "out"
SIZES = 21, 51, 101, 201  # vertices along a side of the sheets
FULL = 401  # added by --full
PATIENCE = 30.0  # [s] after which a run of Blender is not given another frame


def main():
    """Measure, print, write."""
    chosen = options()
    taffeta.register()
    try:
        result = measure(chosen.cases, chosen.patience)
    finally:
        taffeta.unregister()
    OUT.mkdir(exist_ok=True)
    (OUT / "bench.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    table.plot(result, OUT / "bench.png")
    print("\n" + table.text(result))
    if chosen.whole:
        results = ROOT / "benchmarks" / "results.md"
        results.write_text(table.page(result), encoding="utf-8")
        shutil.copyfile(OUT / "bench.png", results.with_suffix(".png"))


def options():
    """What was asked for on the command line, with the cases that follow from it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="*", help=f"vertices along a side of the sheets; else {SIZES}")
    parser.add_argument("--full", action="store_true", help=f"also a sheet of {FULL} x {FULL}, which takes long")
    parser.add_argument("--frames", type=int, default=0, help="of every shot; else fewer for larger sheets")
    parser.add_argument("--patience", type=float, default=PATIENCE, metavar="S", help="seconds for a run of Blender")
    parser.add_argument("--no-demo", action="store_true", help="leave out the demo shot")
    chosen = parser.parse_args()
    if chosen.frames and chosen.frames < 2 or min(chosen.sizes or SIZES) < 3:
        parser.error("a shot has 2 frames or more, a sheet 3 vertices or more along a side")
    sizes = (*SIZES, FULL) if chosen.full else SIZES
    chosen.whole = not (chosen.frames or chosen.no_demo or chosen.sizes is not None)
    chosen.cases = scenes.cases(sizes if chosen.sizes is None else chosen.sizes, chosen.frames, not chosen.no_demo)
    return chosen


def measure(cases, patience):
    """Run all cases; returns what bench.json holds."""
    machine = describe(patience)
    simulate.prepare()
    rows = []
    for case in cases:
        print(f"{case.name}, {'with' if case.self_collision else 'without'} self-collision ...", flush=True)
        rows += simulate.run(case, patience)
    machine["load_after"] = round(os.getloadavg()[0], 1)
    return {"machine": machine, "rows": rows}


def processor():
    """What the machine's processor is called."""
    name = platform.processor() or platform.machine()
    if Path("/proc/cpuinfo").exists():
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        name = next((line.partition(": ")[2] for line in lines if line.startswith("model name")), name)
    return name


def describe(patience):
    """The machine, the versions and the day."""
    return {
        "date": datetime.date.today().isoformat(),
        "processor": processor(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "Blender": bpy.app.version_string,
        "Python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
        "load_before": round(os.getloadavg()[0], 1),
        "patience_seconds": patience,
    }


if __name__ == "__main__":
    main()
