# SPDX-License-Identifier: GPL-3.0-or-later
"""The journal of a bake: a JSON header, then one JSON line a frame. Whatever is not exactly that ends it.

Read line by line with a limit, checked field by field: a journal that somebody edited, or that is none, can neither
take memory nor run anything.
"""

import json
import math
from pathlib import Path
from typing import NamedTuple

JOURNAL_FORMAT = "taffeta-cache-1"
LONGEST_JOURNAL_LINE = 1024  # bytes of a journal line; ours have about 200


class Line(NamedTuple):
    """One frame of a journal."""

    frame: int
    sample_crc: int
    state_crc: int
    digest: str  # hexadecimal, see `shot`
    origin: tuple[float, float, float]  # [m] what x in the state file is relative to
    restart: bool  # baked anew from here on, whatever the frames before were made of


def line_bytes(value: dict) -> bytes:
    """A header or a line as it stands in the file."""
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"


def read_journal(path: Path) -> tuple[dict | None, list[Line], list[int]]:
    """Header (None if this is no journal of ours), whole lines, and the size of the file after header and each line."""
    lines, ends = [], []
    if path.exists() and not path.is_file():  # a pipe would be waited for
        return None, [], [0]
    with path.open("rb") as file:
        header = _header(file)
        if header is None:
            return None, [], [0]
        ends.append(file.tell())
        while (
            line := _frame_line(_json(file.readline(LONGEST_JOURNAL_LINE)), header["first_frame"] + len(lines))
        ) is not None:
            lines.append(line)
            ends.append(file.tell())
    return header, lines, ends


def read_header(path: Path) -> dict | None:
    """The header of a journal alone; None if this is no journal of ours."""
    if path.exists() and not path.is_file():
        return None
    with path.open("rb") as file:
        return _header(file)


def _header(file) -> dict | None:
    value = _json(file.readline(LONGEST_JOURNAL_LINE))
    return value if _is_header(value) else None


def _json(text: bytes) -> dict | None:
    if not text.endswith(b"\n"):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _is_header(value: dict | None) -> bool:
    return (
        value is not None
        and value.get("format") == JOURNAL_FORMAT
        and all(type(value.get(key)) is int for key in ("vertex_count", "first_frame"))
        and value["vertex_count"] > 0
        and type(value.get("fps")) is float
        and type(value.get("owner", "")) is str
    )


def _frame_line(value: dict | None, frame: int) -> Line | None:
    if value is None or set(value) != set(Line._fields) or value["frame"] != frame or type(value["frame"]) is not int:
        return None
    crcs = value["sample_crc"], value["state_crc"]
    digest, origin, restart = value["digest"], value["origin"], value["restart"]
    if not all(type(crc) is int for crc in crcs) or type(restart) is not bool or type(digest) is not str:
        return None
    if type(origin) is not list or len(origin) != 3:
        return None
    if not all(type(number) is float and math.isfinite(number) for number in origin):
        return None
    if any(letter not in "0123456789abcdef" for letter in digest) or len(digest) % 2:
        return None
    return Line(frame, *crcs, digest, tuple(origin), restart)
