# SPDX-License-Identifier: GPL-3.0-or-later
"""How the solver's time falls with more threads: the same shots in a fresh process for each number of threads.

    NUMBA_NUM_THREADS=1 python benchmarks/scaling.py 101:12 201:6 dress:6

bakes sheets of so many vertices along a side, and other scenes by their names, so many frames each, and prints the solver's
milliseconds as JSON.
"""

import json
import os
import subprocess
import sys

import numba
import numpy as np
import scenes
import simulate
import taffeta

FRAMES = {101: 12, 201: 6, "dress": 6, "poncho": 24}  # of a shot, by vertices along a side or the scene's name
LONGEST = 600  # [s] that a process may take


def measure(frames):
    """Rows of JSON: scene, and milliseconds of the solver by the number of threads, 1 and all; none if there is but one.

    frames : of a shot, by vertices along the side of a sheet or the scene's name
    """
    most = numba.config.NUMBA_NUM_THREADS
    if most == 1:
        return []
    one, every = (_in_fresh_process(threads, frames) for threads in (1, most))
    pairs = zip(one, every, strict=True)
    return [
        first | {"threads": most, "milliseconds_of_one": first["milliseconds"], "milliseconds": second["milliseconds"]}
        for first, second in pairs
    ]


def _in_fresh_process(threads, frames):
    """What `bakes` finds with so many threads."""
    shots = [f"{shot}:{count}" for shot, count in frames.items()]
    environment = os.environ | {"NUMBA_NUM_THREADS": str(threads)}
    done = subprocess.run(
        [sys.executable, __file__, *shots],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        timeout=LONGEST,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def bakes(frames):
    """Rows of JSON: scenes and the solver's milliseconds a frame in this process."""
    rows = []
    for shot, count in frames.items():
        sizes, parts = ([], (shot,)) if shot in scenes.SCENES else ([int(shot)], ("sheets",))
        for case in scenes.cases(sizes, count, parts):
            simulate.warm_up(case)
            with simulate.baked(case) as bake:
                solver = 1000 * float(np.mean([sum(report.seconds.values()) for report in bake.job.reports]))
            scene = {"case": case.name, "self_collision": case.self_collision}
            rows.append(scene | {"frames": count, "milliseconds": solver})
    return rows


def main():
    """Measure in this process, print one line."""
    taffeta.register()
    try:
        simulate.prepare()
        shots = (argument.split(":") for argument in sys.argv[1:])
        rows = bakes({shot: int(count) for shot, count in shots})
    finally:
        taffeta.unregister()
    print(json.dumps(rows))


if __name__ == "__main__":
    main()
