# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a hostile input is tried out, and what is looked at afterwards.

A box has three folders: `inside`, where all may be written, `outside` with files of somebody else, to which links and paths
lead, and `here`, where the process stands. Whatever is tried, the other two stay as they are, nothing that is not
finite comes to the disk, no unfinished file is left, and what is told is one clear sentence.
"""

import hashlib
import os
import re
import stat
from pathlib import Path
from typing import NamedTuple

import numpy as np

KEPT = {
    "thesis.txt": b"four years",
    "sheet_0001.obj": b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
    "Cloth.pc2": b"POINTCACHE2\0" + bytes(500),
    "Cloth.report.json": b"{}",
    "lock": b"",
}
LONGEST_SENTENCE = 700  # letters
#: what no animator can read: a place in our sources, a number of the system, a type of Python's
RAW = re.compile(
    r"Traceback|\[Errno|\[WinError|<class |\b(?:Type|Attribute|Key|Index|Unicode\w*|Lookup|Recursion|Memory|Overflow)Error\b|object at 0x"
)
NUMBER_TEXT = re.compile(rb"(?:^|\s)-?(?:nan|inf)", re.IGNORECASE)
LEFT = (".part", ".lock")
LARGEST_LOOKED_AT = 1 << 24  # bytes


class Outcome(NamedTuple):
    """What an attack did, as far as the process that it was tried in can tell."""

    words: str  # what was tried
    status: int  # 0: it went through
    told: str  # on standard error, or by the operator
    fault: str = ""  # what the attack itself found wrong


class Box:
    """The three folders in a fresh folder; takes down what is there when the attack is ready to begin (`close`)."""

    def __init__(self, root: Path):
        self.inside, self.outside, self.here = (root / name for name in ("inside", "outside", "here"))
        for folder in (self.inside, self.outside, self.here):
            folder.mkdir(parents=True)
        for name, content in KEPT.items():
            (self.outside / name).write_bytes(content)
        self.before: dict[str, tuple] = {}

    def close(self) -> None:
        """The attack is about to begin."""
        self.before = {name: seen(folder) for name, folder in self._folders().items()}

    def faults(self, outcome: Outcome) -> list[str]:
        """What is wrong after the attack."""
        found = [outcome.fault] if outcome.fault else []
        if not self.before:  # the attack itself broke
            return [*found, "it never began"]
        now = {name: seen(folder) for name, folder in self._folders().items()}
        for name in ("outside", "here"):
            found += [f"{path} was changed" for path in sorted(set(now[name].items()) ^ set(self.before[name].items()))]
        known = set(self.before["inside"].values())  # what is set aside has another name
        written = {path for path, about in now["inside"].items() if about not in known}
        found += [f"{path} is left" for path in sorted(written) if path.endswith(LEFT) or ".taffeta_export_" in path]
        found += [words for path in sorted(written) if (words := not_finite(self.inside / path))]
        return found + _of_words(outcome)

    def _folders(self) -> dict[str, Path]:
        return {"inside": self.inside, "outside": self.outside, "here": self.here}


def seen(folder: Path) -> dict[str, tuple]:
    """What lies in a folder: kind and, of files, content, by path."""
    found = {}
    for base, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(base, name)
            about = path.lstat()
            mode = stat.S_IFMT(about.st_mode)
            content = about.st_size
            if stat.S_ISREG(mode):
                content = hashlib.blake2b(path.read_bytes()).hexdigest()
            elif stat.S_ISDIR(mode):
                content = 0
            found[str(path.relative_to(folder))] = mode, content
    return found


def not_finite(path: Path) -> str:
    """A sentence if a file of frames holds a number that is not finite."""
    if path.is_symlink() or not path.is_file() or path.stat().st_size > LARGEST_LOOKED_AT:
        return ""
    content = path.read_bytes()
    if path.suffix == ".obj":
        bad = NUMBER_TEXT.search(content) is not None
    elif path.suffix == ".pc2":
        bad = not np.isfinite(np.frombuffer(content[32 : len(content) // 4 * 4], "<f4")).all()
    elif path.suffix == ".state":
        bad = not np.isfinite(np.frombuffer(content[: len(content) // 8 * 8], "<f8")).all()
    else:
        bad = False
    return f"{path.name} holds numbers that are not finite" if bad else ""


def _of_words(outcome: Outcome) -> list[str]:
    told, found = outcome.told.strip(), []
    if outcome.status and not told:
        found.append("it failed without a word")
    if raw := RAW.search(told):
        found.append(f"it tells '{raw[0]}'")
    if any(len(line) > LONGEST_SENTENCE for line in told.splitlines()):
        found.append(f"a sentence of {max(map(len, told.splitlines()))} letters")
    return found
