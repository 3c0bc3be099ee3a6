# SPDX-License-Identifier: GPL-3.0-or-later
"""What is told of a bake in a list: its name, a note, when and of what it was made. A small file beside it.

It lies in a folder that others write to, too: what it says is only shown, and cut to a length that can be.
"""

import json
from pathlib import Path
from typing import NamedTuple

from .files import is_plain, read_whole, written

LARGEST_ABOUT = 1 << 20  # bytes
LONGEST_ABOUT = 200  # letters of an entry that is shown


class About(NamedTuple):
    """Of one bake; "" where nobody knows."""

    label: str = ""  # what the animator calls it
    note: str = ""
    date: str = ""  # year-month-day hour:minute, local time
    fingerprint: str = ""  # of the scene that it was made of, as whoever bakes writes it; not shown
    scene: str = ""  # name of that scene


def read(path: Path) -> About:
    """What is told of the bake at `path` (NAME.pc2)."""
    try:
        told = json.loads(read_whole(_file(path), LARGEST_ABOUT))
    except (OSError, ValueError, RecursionError):
        return About()
    if not isinstance(told, dict):
        return About()
    shown = {field: _plain(told.get(field)) for field in About._fields}
    fingerprint = told.get("fingerprint")
    return About(**shown | {"fingerprint": fingerprint if isinstance(fingerprint, str) else ""})


def write(path: Path, about: About) -> None:
    """Keep it beside the bake; OSError where that cannot be written."""
    with written(_file(path)) as out:
        out.write(json.dumps(about._asdict(), indent=1).encode())


def is_kept(path: Path) -> bool:
    """Whether something is told of the bake at `path`, in an ordinary file."""
    return is_plain(_file(path))


def _file(path: Path) -> Path:
    return Path(path).with_suffix(".about.json")


def _plain(text: object) -> str:
    text = text[:LONGEST_ABOUT] if isinstance(text, str) else ""
    return "".join(letter if letter.isprintable() else "?" for letter in text)
