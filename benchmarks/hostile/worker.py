# SPDX-License-Identifier: GPL-3.0-or-later
"""A process that tries hostile inputs: a line [kind, seed] in, a line of JSON out.

After `MOST_SECONDS` of processor time it is interrupted as by Ctrl-C, which has to end a bake that is merely slow.
"""

import json
import os
import shutil
import signal
import sys
import time
import traceback
import zlib
from pathlib import Path

import numpy as np

MOST_SECONDS = 40.0  # [s] of processor time before the input is interrupted
PEAK = Path("/proc/self/status")


def memory() -> float:
    """The most memory since `forget_peak` [MB]; 0 where the system does not tell."""
    if not PEAK.exists():
        return 0.0
    return next(int(line.split()[1]) / 1024 for line in PEAK.read_text().splitlines() if line.startswith("VmHWM"))


def forget_peak() -> None:
    """Begin to measure memory anew."""
    clear = Path("/proc/self/clear_refs")
    if clear.exists():
        clear.write_text("5")


def try_out(attacks: dict, kind: str, seed: int, folder: Path) -> dict:
    """Try the input of a seed in a fresh box below `folder`, and judge it."""
    from hostile.box import Box, Outcome

    root = folder / "box"
    shutil.rmtree(root, ignore_errors=True)
    box = Box(root)
    os.chdir(box.here)
    rng = np.random.default_rng([seed, zlib.crc32(kind.encode())])
    interrupted = []
    signal.signal(signal.SIGPROF, lambda *_: (interrupted.append(True), signal.raise_signal(signal.SIGINT)))
    signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)
    forget_peak()
    before, began, faults = memory(), time.process_time(), []
    try:
        outcome = attacks[kind](rng, box)
    except KeyboardInterrupt:
        outcome = Outcome("", 1, "interrupted")
    except BaseException:
        outcome = Outcome("", 1, "", traceback.format_exc())
    signal.setitimer(signal.ITIMER_PROF, 0.0)
    seconds = time.process_time() - began
    faults += box.faults(outcome)
    return {
        "kind": kind, "seed": seed, "words": outcome.words, "status": outcome.status, "told": outcome.told[-2000:], "faults": faults,
        "stopped": bool(interrupted), "seconds": round(seconds, 2), "memory": round(memory() - before, 1),
    }  # fmt: skip


def main(folder: Path) -> None:
    """Try what standard input names, until it ends. What Taffeta and Blender print goes to standard error."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    sys.path.insert(0, str(Path(__file__).parent.parent))
    from hostile import blender, caches, recipes, scenes

    attacks = {**scenes.ATTACKS, **blender.ATTACKS, **caches.ATTACKS, **recipes.ATTACKS}
    with blender.registered():
        caches.template()  # whatever has to be compiled is, before anything is measured
        for line in sys.stdin:
            kind, seed = json.loads(line)
            answers.write(json.dumps(try_out(attacks, kind, seed, folder)) + "\n")
            answers.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
