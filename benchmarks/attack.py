# SPDX-License-Identifier: GPL-3.0-or-later
"""Throw hostile inputs at Taffeta, and kill it at random moments.

`python benchmarks/attack.py --count 1500 --kills 60`. A seed is an input: a scene file, a mesh, a map, a command line, a cache,
what a bake was made of, settings, a mesh in Blender, that a kind of `hostile/` makes. They are tried in a process of their own, one after the
other; one that dies, or takes too long, is told and replaced. Judged (`hostile/box.py`): no traceback, no crash, no hang
over `LONGEST` seconds, no memory over `MOST_MEMORY`, nothing written outside, nothing of a good bake lost, no number that
is not finite on the disk, one clear sentence.
"""

import argparse
import json
import os
import select
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

LONGEST = 300.0  # [s] by the clock that one may take: a machine may be busy
MOST_MEMORY = 700.0  # [MB] more than before
SHARES = {  # how many of 100 inputs are of a kind
    "scene files": 16, "meshes": 16, "maps": 10, "folders": 6, "arguments": 6,
    "caches": 12, "recipes": 4, "settings": 16, "Blender's meshes": 8, "Blender's arguments": 6,
}  # fmt: skip
KINDS = [kind for kind, share in SHARES.items() for _ in range(share)]


def kind_of(seed: int) -> str:
    """What the input of a seed is: shares as above in each hundred, mixed."""
    return KINDS[seed * 37 % len(KINDS)]


class Worker:
    """A process that tries inputs (`hostile/worker.py`)."""

    def __init__(self, folder: Path):
        self.folder = folder
        self._start()

    def _start(self):
        command = [sys.executable, str(Path(__file__).parent / "hostile" / "worker.py"), str(self.folder)]
        self.log = (self.folder / "log.txt").open("ab")
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log)

    def try_out(self, kind: str, seed: int) -> dict:
        """What came out, as `worker` tells it; a process that is gone, or has to be ended, tells by that."""
        began = time.monotonic()
        self.process.stdin.write(json.dumps([kind, seed]).encode() + b"\n")
        self.process.stdin.flush()
        ready, _, _ = select.select([self.process.stdout], [], [], LONGEST)
        line = self.process.stdout.readline() if ready else b""
        if line:
            return json.loads(line)
        self.process.kill()
        status = self.process.wait()
        fault = f"the process died (status {status})" if ready else f"no end in {time.monotonic() - began:.0f} s"
        self.log.close()
        self._start()
        return {"kind": kind, "seed": seed, "words": "", "told": "", "status": 1, "faults": [fault]}

    def end(self) -> None:
        """No more."""
        self.process.stdin.close()
        self.process.wait()
        self.log.close()


def inputs(seeds, out: Path | None) -> list[dict]:
    """Try the inputs of some seeds; what each did is added to the file `out`."""
    lines = []
    with tempfile.TemporaryDirectory(prefix="taffeta_attack_") as folder:
        worker = Worker(Path(folder))
        try:
            for seed in seeds:
                line = worker.try_out(kind_of(seed), seed)
                if line.get("memory", 0.0) > MOST_MEMORY:
                    line["faults"].append(f"{line['memory']:.0f} MB")
                lines.append(line)
                if out is not None:
                    with out.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(line) + "\n")
                if line["faults"]:
                    print(f"FAULT {seed:5d} {line['kind']}: {line['words'][:200]}\n      {'; '.join(line['faults'])[:2000]}\n"
                          f"      told: {line['told'][:300]!r}", flush=True)  # fmt: skip
        finally:
            worker.end()
    return lines


def table(lines: list[dict]) -> str:
    """How many of each kind went through, were refused, had to be stopped, were faults."""
    columns = "through", "refused", "stopped", "faults"
    rows = {kind: Counter() for kind in SHARES}
    for line in lines:
        rows[line["kind"]]["faults"] += bool(line["faults"])
        rows[line["kind"]]["stopped" if line.get("stopped") else "refused" if line["status"] else "through"] += 1
    text = ["| kind | inputs | " + " | ".join(columns) + " |", "|---" * 6 + "|"]
    for kind, row in rows.items():
        count = row["through"] + row["refused"] + row["stopped"]
        text.append(f"| {kind} | {count} | " + " | ".join(str(row[column]) for column in columns) + " |")
    seconds = max((line.get("seconds", 0.0) for line in lines), default=0.0)
    memory = max((line.get("memory", 0.0) for line in lines), default=0.0)
    return "\n".join([*text, f"longest {seconds:.1f} s of processor time, most memory {memory:.0f} MB"])


def main() -> int:
    """Try inputs and kills; prints faults as they are found and a table; the exit status tells whether there were any."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1500, help="inputs")
    parser.add_argument("--seed", type=int, default=0, help="of the first")
    parser.add_argument("--kills", type=int, default=0, help="how many processes are killed")
    parser.add_argument("--only", type=int, nargs="*", help="these seeds")
    parser.add_argument("--kind", choices=SHARES, help="inputs of this kind alone")
    parser.add_argument("--out", type=Path, help="file to which a line is added for each")
    options = parser.parse_args()
    seeds = range(options.seed, options.seed + options.count) if options.only is None else options.only
    lines = inputs([seed for seed in seeds if options.kind in (None, kind_of(seed))], options.out)
    if lines:
        print(table(lines))
    faults = sum(bool(line["faults"]) for line in lines)
    if options.kills:
        from hostile import kills

        faults += kills.attack(options.seed, options.kills)
    print(f"{faults} faults")
    return bool(faults)


if __name__ == "__main__":
    os.environ.setdefault("PYTHONDONTWRITEBYTECODE", "1")
    sys.exit(main())
