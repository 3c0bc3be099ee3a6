# SPDX-License-Identifier: GPL-3.0-or-later
"""What pages of measurements have in common: tables, and the machine that they were measured on. No Blender."""

import datetime
import os
import platform
from pathlib import Path

import numba
import numpy as np


def grid(head, rows):
    """A Markdown table that can be read as it is: texts to the left, numbers to the right."""
    lines = [list(map(str, line)) for line in (head, *rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    left = [any(line[k].strip("-.0123456789 %") for line in lines[1:]) for k in range(len(head))]
    rule = ["-" * width if text else "-" * (width - 1) + ":" for width, text in zip(widths, left, strict=True)]
    padded = [
        [cell.ljust(width) if text else cell.rjust(width) for cell, width, text in zip(line, widths, left, strict=True)]
        for line in lines
    ]
    return "\n".join("| " + " | ".join(line) + " |" for line in [padded[0], rule, *padded[1:]]) + "\n"


def processor():
    """What the machine's processor is called."""
    name = platform.processor() or platform.machine()
    if Path("/proc/cpuinfo").exists():
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        name = next((line.partition(": ")[2] for line in lines if line.startswith("model name")), name)
    return name


def describe():
    """The machine, the versions and the day."""
    return {
        "date": datetime.date.today().isoformat(),
        "processor": processor(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "Python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
        "load_before": load(),
    }


def load():
    """How many threads have run on the machine on average in the last minute."""
    return round(os.getloadavg()[0], 1)


def about(machine):
    """Sentences of a page's head on its machine; `minutes` and `load_after` are known by then."""
    names = [f"{name} {machine[name]}" for name in ("Blender", "Python", "numpy", "numba") if name in machine]
    told = (
        f"{machine['date']}, {machine['processor']}, {machine['cores']} cores, {machine['system']}; {', '.join(names)}. "
        f"It took {machine['minutes']:.0f} minutes; load when it began {machine['load_before']}, at the end "
        f"{machine['load_after']}"
    )
    disturbed = machine["load_before"] > 0.5
    return told + (": other work ran beside it, and disturbs all of these times.\n" if disturbed else ".\n")
