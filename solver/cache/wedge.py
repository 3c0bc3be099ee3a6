# SPDX-License-Identifier: GPL-3.0-or-later
"""Wedges: bakes of one shot with other settings, each in a folder of its own, with a note of what these are.

    CACHE/wedges/NAME/wedge.json      the settings, as paths and texts
    CACHE/wedges/NAME/GARMENT.pc2     and all that belongs to a bake

The folder is one that others write to, too: what a note says is checked, and no name leads out of it.
"""

import json
import os
from collections.abc import Callable, Iterable, Mapping
from itertools import product
from pathlib import Path
from typing import NamedTuple

from . import moves
from .files import read_whole, written
from .names import LONGEST_NAME, in_use, newest_name, safe_name

FOLDER, NOTE = "wedges", "wedge.json"
LARGEST_NOTE = 1 << 16  # bytes
MOST_WEDGES = 1000  # combinations of one command
MOST_SETTINGS = 100  # of a wedge
LONGEST_TEXT = 200  # letters of a path or a value
HASH_LETTERS = 9  # at the end of a name that `safe_name` has changed


class Wedge(NamedTuple):
    """A bake of other settings: its name, and what it sets, as texts by their paths."""

    name: str
    settings: dict[str, str]


def combinations(always: Mapping[str, str], wedges: Iterable[tuple[str, list[str]]], name: str = "") -> list[Wedge]:
    """Every combination of the values of `wedges` (path, values), the last one changing fastest, with what `always` sets.

    name : what they are called; several are called so and by their values, and without it by all that they set.

    Raises
    ------
    ValueError
        A path is set twice, there are too many, or `name` is none: a sentence.
    """
    paths = [*always, *(path for path, _ in wedges)]
    if twice := [path for path in dict.fromkeys(paths) if paths.count(path) > 1]:
        raise ValueError(f"{twice[0]} is set twice; leave one out")
    count = 1
    for _, values in wedges:
        count *= len(values)
    if count > MOST_WEDGES or len(paths) > MOST_SETTINGS:
        raise ValueError(f"These are {count:,} combinations of {len(paths)} settings; {MOST_WEDGES:,} are the most")
    if name:
        refuse_name(name)
    found = []
    for values in product(*(values for _, values in wedges)):
        varied = dict(zip((path for path, _ in wedges), values, strict=True))
        settings = dict(always) | varied
        told = ",".join(f"{path}={value}" for path, value in (varied if name else settings).items())
        found.append(Wedge(_short(safe_name(",".join(filter(None, (name, told))))), settings))
    return found


def _short(name: str) -> str:
    """A name that `safe_name` had to cut, shortened until it is safe itself; its hash stays."""
    if safe_name(name) == name:
        return name
    head, hash_and_dash = name.encode()[: LONGEST_NAME - HASH_LETTERS], name[-HASH_LETTERS:]
    return head.decode(errors="ignore") + hash_and_dash


def refuse_name(name: str) -> None:
    """Raise a ValueError, with a sentence, for a name that could not be that of a folder everywhere."""
    if safe_name(name) != name or name.startswith("-"):
        shown = "".join(letter if letter.isprintable() else "?" for letter in name[:40])
        raise ValueError(
            f"'{shown}' is no name for a wedge: use letters and digits, none of < > : \" / \\ | ? *, no dot or minus first, no "
            "name that a system keeps for itself"
        )


def folder_of(cache: Path, name: str) -> Path:
    """Where the bakes of a wedge lie in a cache folder.

    Raises
    ------
    ValueError, OSError
        The name is none, or a link stands there, which leads elsewhere: a sentence.
    """
    refuse_name(name)
    folder = Path(cache) / FOLDER / name
    for part in (folder.parent, folder):
        if os.path.islink(part) or (os.path.lexists(part) and not os.path.isdir(part)):
            raise OSError(f"{part} is a link or a file: remove it, Taffeta makes a folder there")
    return folder


def shot_folder(folder: Path) -> Path:
    """The cache folder that the folder of a wedge lies in; any other folder itself."""
    return folder.parent.parent if folder.parent.name == FOLDER else folder


def write(cache: Path, wedge: Wedge) -> None:
    """Note what a wedge is made of, beside its bakes; OSError, with a sentence, where that cannot be written."""
    folder = folder_of(cache, wedge.name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with written(folder / NOTE) as out:
            out.write(json.dumps({"settings": wedge.settings}, indent=1).encode())
    except OSError as error:
        if error.strerror is None:  # a sentence already
            raise
        raise OSError(
            f"The cache {folder} cannot be written ({error.strerror}): choose another cache folder"
        ) from error


def read(cache: Path, name: str) -> Wedge | None:
    """The wedge of that name in a cache folder; None where there is none, or its note cannot be read."""
    try:
        told = json.loads(read_whole(folder_of(cache, name) / NOTE, LARGEST_NOTE))
        settings = told["settings"]
        good = isinstance(settings, dict) and len(settings) <= MOST_SETTINGS and all(map(_is_text, settings.values()))
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None
    return Wedge(name, settings) if good and all(map(_is_text, settings)) else None


def listed(cache: Path) -> list[Wedge]:
    """The wedges that lie in a cache folder, those of the same settings together (`grouped`), sorted by their values: numbers by
    their size."""
    folder = Path(cache) / FOLDER
    if os.path.islink(folder) or not os.path.isdir(folder):
        return []
    with os.scandir(folder) as entries:
        names = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    found = [wedge for name in names if (wedge := read(cache, name)) is not None]
    return [wedge for group in grouped(sorted(found, key=_order)) for wedge in group]


def bring(source: Path, target: Path, owner: str, go_on: Callable[[float], bool] = lambda share: True) -> None:
    """Copy the wedges of a garment that lie beside its bake at `source` to those beside its bake at `target`, with what they set.

    owner, go_on, errors : as of `moves.bring`, the owner seen from the folder of `target`

    One that is there already stays as it is, and so does one of its name that sets something else.
    """
    source, target = newest_name(source), newest_name(target)
    old, new = shot_folder(source.parent), shot_folder(target.parent)
    for wedge in listed(old) if old != new else ():
        folder, there = folder_of(new, wedge.name), read(new, wedge.name)
        bake, place = folder_of(old, wedge.name) / source.name, folder / target.name
        if (there is not None and there.settings != wedge.settings) or moves.present(place) or in_use(bake):
            continue
        is_near = owner and not os.path.isabs(owner)  # what is on another drive is named whole
        seen = Path(os.path.relpath(target.parent / owner, folder)).as_posix() if is_near else owner
        if moves.bring(bake, place, seen, go_on) and there is None:
            write(new, wedge)


def grouped(wedges: list[Wedge]) -> list[list[Wedge]]:
    """Wedges that set the same paths, together, the most first; in the end those that are alone in what they set."""
    groups: dict[tuple[str, ...], list[Wedge]] = {}
    for wedge in wedges:
        groups.setdefault(tuple(wedge.settings), []).append(wedge)
    several = sorted((group for group in groups.values() if len(group) > 1), key=len, reverse=True)
    alone = [wedge for group in groups.values() if len(group) == 1 for wedge in group]
    return [*several, alone] if alone else several


def places(wedges: list[Wedge], side_by_side: int = 0) -> tuple[list[Wedge], list[tuple[int, int]], int]:
    """How wedges lie on a sheet: in which order, line and column of each, and how many columns there are.

    Wedges of other settings begin a line, so that a table stays one beside a single bake.

    side_by_side : so many columns; 0: as many as make a table of the first group
    """
    groups = grouped(wedges)
    width = side_by_side or (columns(groups[0]) if groups else 1)
    ordered, found, first = [], [], 0
    for group in groups:
        ordered += group
        found += [(first + index // width, index % width) for index in range(len(group))]
        first += -(-len(group) // width)
    return ordered, found, width


def columns(wedges: list[Wedge]) -> int:
    """How many wedges side by side make a table of them: as many as the setting that changes fastest has values, where they
    are such a table; else what comes next to a square."""
    values = {}
    for wedge in wedges:
        for path, value in wedge.settings.items():
            values.setdefault(path, {})[value] = None
    varied = [len(found) for found in values.values() if len(found) > 1]
    count = 1
    for number in varied:
        count *= number
    if len(varied) > 1 and count == len(wedges):
        return varied[-1]
    return max(1, round(len(wedges) ** 0.5 + 0.49)) if len(wedges) > 6 else max(1, len(wedges))


def _order(wedge: Wedge):
    return [(path, *_as_number(value)) for path, value in wedge.settings.items()], wedge.name


def _as_number(text: str) -> tuple[float, str]:
    try:
        value = float(text)
    except ValueError:
        return float("inf"), text
    return (value if value == value else float("inf")), text


def _is_text(text: object) -> bool:
    return isinstance(text, str) and 0 < len(text) <= LONGEST_TEXT and text.isprintable()
