# SPDX-License-Identifier: GPL-3.0-or-later
"""The journal of a bake: a JSON header, then one JSON line a frame. Whatever is not exactly that ends it.

Read line by line with a limit, checked field by field: a journal that somebody edited, or that is none, can neither
take memory nor run anything.
"""

import json
import math
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..model import ATTACHMENT, TACK, TORN

JOURNAL_FORMAT = "taffeta-cache-1"
BITS = ATTACHMENT, TACK, *TORN
UNTORN_BITS = 2  # so many of these stand in a line where nothing is torn
OPTIONAL = {"broken", "plastic", "still"}  # fields that a line may leave out
NEVER_STILL = 0.0, 0.0
MOST_PLASTIC = 1 << 40  # numbers of a garment; more are no number of ours
LONGEST_JOURNAL_LINE = 1024  # bytes of a journal line without what is broken; ours have about 200


class Line(NamedTuple):
    """One frame of a journal."""

    frame: int
    sample_crc: int
    state_crc: int
    digest: str  # hexadecimal, see `shot`
    origin: tuple[float, float, float]  # [m] what x in the state file is relative to
    restart: bool  # baked anew from here on, whatever the frames before were made of
    broken: str = ""  # hexadecimal: what ties of the vertices are broken (`pack_broken`); "" where none is
    plastic: int = 0  # how many float64 the state has behind x and v: `State.plastic` of the garment
    still: tuple[float, float] = NEVER_STILL  # the garment's row of `State.still`


def pack_broken(broken: np.ndarray | None) -> str:
    """`State.broken` of one garment, (n,) uint8, as `Line.broken`."""
    if broken is None or not broken.any():
        return ""
    bits = BITS if (broken & sum(TORN)).any() else BITS[:UNTORN_BITS]
    return np.packbits([broken & bit > 0 for bit in bits], axis=1).tobytes().hex()


def unpack_broken(text: str, vertex_count: int) -> np.ndarray:
    """(n,) uint8 from what `pack_broken` gave; a text of another length has lost its meaning: nothing is broken."""
    packed = np.frombuffer(bytes.fromhex(text), np.uint8)
    row = -(-vertex_count // 8)
    broken = np.zeros(vertex_count, np.uint8)
    if len(packed) in (UNTORN_BITS * row, len(BITS) * row):
        rows = np.unpackbits(packed.reshape(-1, row), axis=1, count=vertex_count)
        for bit, found in zip(BITS, rows, strict=False):
            broken |= np.uint8(bit) * found
    return broken


def line_bytes(value: dict) -> bytes:
    """A header or a line as it stands in the file; nothing is said of ties where none is broken, of yielding where nothing can, and
    of stillness where there is none."""
    value = {key: part for key, part in value.items() if key not in OPTIONAL or (part and part != NEVER_STILL)}
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
        longest = LONGEST_JOURNAL_LINE + header["vertex_count"]  # so many letters, at most, tell what is broken
        while (line := _frame_line(_json(file.readline(longest)), header["first_frame"] + len(lines))) is not None:
            lines.append(line)
            ends.append(file.tell())
    return header, lines, ends


def read_journal_header(path: Path) -> dict | None:
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
    if value is None or set(value) | OPTIONAL != set(Line._fields) or type(value["frame"]) is not int:
        return None
    broken, plastic, still = value.get("broken", ""), value.get("plastic", 0), value.get("still", list(NEVER_STILL))
    if type(plastic) is not int or not 0 <= plastic <= MOST_PLASTIC:
        return None
    if value["frame"] != frame or not _is_hexadecimal(broken):
        return None
    crcs = value["sample_crc"], value["state_crc"]
    digest, origin, restart = value["digest"], value["origin"], value["restart"]
    if not all(type(crc) is int for crc in crcs) or type(restart) is not bool or not _is_hexadecimal(digest):
        return None
    if not _are_numbers(origin, 3) or not _are_numbers(still, len(NEVER_STILL)):
        return None
    return Line(frame, *crcs, digest, tuple(origin), restart, broken, plastic, tuple(still))


def _are_numbers(value: object, count: int) -> bool:
    """Whether that is a list of so many finite numbers."""
    is_list = type(value) is list and len(value) == count
    return is_list and all(type(number) is float and math.isfinite(number) for number in value)


def _is_hexadecimal(text: object) -> bool:
    return type(text) is str and len(text) % 2 == 0 and set(text) <= set("0123456789abcdef")
