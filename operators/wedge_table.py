# SPDX-License-Identifier: GPL-3.0-or-later
"""What came out of each wedge, side by side: time, stretch, roughness and crossings, as printed, as CSV and as JSON."""

import csv
import io
import json
from pathlib import Path
from typing import NamedTuple

import bpy

from ..panels.report import number, read_report
from ..solver.cache import wedge as wedges
from ..solver.cache.files import written
from ..solver.cache.frames import cached_frames
from ..solver.cache.journal import read_journal
from ..solver.cache.wedge import Wedge
from .bake import wedged
from .bake.run import kept_report
from .playback.cache_modifier import played
from .playback.owners import cache_folder

# What a table says of a bake: name in the report, heading, how it is printed.
FIGURES = (
    ("seconds", "seconds", "{:.1f}"),
    ("milliseconds_per_frame", "ms/frame", "{:.1f}"),
    ("worst_stretch", "stretch", "{:.1%}"),
    ("roughness_degrees", "roughness", "{:.1f}°"),
    ("crossings", "crossings", "{:.0f}"),
)


class Row(NamedTuple):
    """A wedge and what came out of it."""

    wedge: Wedge
    paths: list[Path]  # of each garment
    frames: range  # that all garments have; empty where it is not baked
    figures: dict[str, float | None]


def rows(scene: bpy.types.Scene, cloths: list[bpy.types.Object], every: list[Wedge]) -> list[Row]:
    """What came out of wedges of a scene, in their order."""
    found = []
    for wedge in every:
        paths = wedged.paths(scene, cloths, wedge)
        listed = [cached_frames(path) or range(0) for path in paths]
        frames = range(max(f.start for f in listed), min(f.stop for f in listed)) if all(listed) else range(0)
        report = read_report(kept_report(paths[0])) if frames else {}
        figures = {name: number(report, name) for name, _, _ in FIGURES}
        each = figures["milliseconds_per_frame"]
        # Not the report's own: that has the compiler in it where a bake was the first, and after Resume only the rest.
        figures["seconds"] = None if each is None else round(each * len(frames) / 1000.0, 3)
        found.append(Row(wedge, paths, frames, figures))
    return found


def on_disk(scene: bpy.types.Scene) -> list[Wedge]:
    """The wedges that lie in the cache folder of a scene."""
    return wedges.listed(cache_folder(scene))


def plays(obj: bpy.types.Object, path: Path) -> bool:
    """Whether a garment plays the frames of the bake at `path`, there or in a copy."""
    shown = played(obj)
    return shown is not None and (shown == path or are_same_frames(shown, path))


def are_same_frames(one: Path, other: Path) -> bool:
    """Whether two bakes hold the same frames, made of the same: their journals say so."""
    try:
        found = [read_journal(path.with_suffix(".journal"))[:2] for path in (one, other)]
    except (OSError, ValueError):
        return False
    return all(header for header, _ in found) and found[0][1] == found[1][1]


def in_words(row: Row) -> list[str]:
    """The figures of a wedge as they are printed, "" where one is not known."""
    values = [row.figures[name] for name, _, _ in FIGURES]
    return ["" if value is None else form.format(value) for value, (_, _, form) in zip(values, FIGURES, strict=True)]


def printed(table: list[Row]) -> str:
    """The table for a console, its columns aligned."""
    lines = [["wedge", "frames", *(heading for _, heading, _ in FIGURES)]]
    for row in table:
        span = f"{row.frames.start}-{row.frames.stop - 1}" if row.frames else "not baked"
        lines.append([row.wedge.name, span, *in_words(row)])
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    return "\n".join(
        "  ".join([line[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(line[1:], widths[1:], strict=True))])
        for line in lines
    )


def write(table: list[Row], path: Path) -> None:
    """Write the table beside the picture at `path` as .csv and .json; OSError where that cannot be."""
    settings = list(dict.fromkeys(key for row in table for key in row.wedge.settings))
    text = io.StringIO()
    out = csv.writer(text)
    names = [name for name, _, _ in FIGURES]
    out.writerow([_cell(cell) for cell in ("wedge", *settings, "first frame", "last frame", *names)])
    for row in table:
        span = (row.frames.start, row.frames.stop - 1) if row.frames else ("", "")
        values = ["" if row.figures[name] is None else row.figures[name] for name in names]
        out.writerow(
            [_cell(row.wedge.name), *(_cell(row.wedge.settings.get(key, "")) for key in settings), *span, *values]
        )
    told = [
        {"wedge": row.wedge.name, "settings": row.wedge.settings, "frames": [row.frames.start, row.frames.stop - 1]}
        | row.figures
        for row in table
    ]
    with written(path.with_suffix(".csv")) as file:
        file.write(text.getvalue().encode())
    with written(path.with_suffix(".json")) as file:
        file.write(json.dumps(told, indent=1).encode())


def _cell(text: str) -> str:
    """A text that no spreadsheet takes for a formula."""
    try:
        float(text)
    except ValueError:
        return f"'{text}" if text[:1] in tuple("=+-@\t") else text
    return text
