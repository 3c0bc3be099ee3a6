# SPDX-License-Identifier: GPL-3.0-or-later
"""What a bake was made of, so that it can be had again: settings, and painted maps as numbers. A file beside it, NAME.recipe.

It is JSON; the numbers of a map are compressed. It lies in a folder that others write to, and takes come with strange
.blends: nothing of it is run, sizes are checked before memory is taken, and a map has to be what its digest says.
"""

import base64
import hashlib
import json
import math
import zlib
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .files import is_plain, read_whole, written

SUFFIX = ".recipe"
LARGEST_RECIPE = 1 << 26  # bytes of the text
MOST_MAP_BYTES = 1 << 26  # of the numbers of a map: a picture of 4096 x 4096 in bytes
MOST_MAPS = 64
MOST_AXES = 3  # of a map: rows, columns, channels
TYPES = {"u1": np.dtype(np.uint8), "i4": np.dtype("<i4"), "f4": np.dtype("<f4")}
UNREADABLE = ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError, zlib.error


class Map(NamedTuple):
    """A painted map as it was, or only what it was called where it was too large to be kept."""

    kind: str  # GROUP, IMAGE or ATTRIBUTE
    name: str
    form: list[str]  # what else it needs to be made again, as an attribute's type
    values: np.ndarray | None  # of a type in `TYPES`


class Recipe(NamedTuple):
    """Settings as plain values, and the maps of each garment by its name."""

    settings: dict
    maps: dict[str, list[Map]]


def text_of(recipe: Recipe) -> str:
    """A recipe as text. Maps that would make it too large are kept by name alone, the largest first."""
    told = {name: [_encoded(painted) for painted in maps] for name, maps in recipe.maps.items()}
    every = sorted((entry for maps in told.values() for entry in maps), key=lambda entry: len(entry["values"]))
    while every and sum(len(entry["values"]) for entry in every) > LARGEST_RECIPE // 2:
        every.pop()["values"] = ""
    return json.dumps(recipe.settings | {"maps": told})


def parse(text: str) -> Recipe:
    """The recipe of a text.

    Raises
    ------
    ValueError
        It is none, or damaged: a sentence.
    """
    try:
        if len(text) > LARGEST_RECIPE:
            raise ValueError
        told = dict(json.loads(text, parse_float=_finite, parse_constant=_finite))
        maps = {name: [_decoded(entry) for entry in entries] for name, entries in told.pop("maps", {}).items()}
        if sum(map(len, maps.values())) > MOST_MAPS:
            raise ValueError
    except UNREADABLE:
        raise ValueError("The settings of this take cannot be read; remove it, and add it again") from None
    return Recipe(told, maps)


def write(path: Path, recipe: Recipe) -> None:
    """Keep it beside the bake at `path` (NAME.pc2); OSError where that cannot be written."""
    with written(Path(path).with_suffix(SUFFIX)) as out:
        out.write(text_of(recipe).encode())


def read(path: Path) -> Recipe:
    """What the bake at `path` was made of.

    Raises
    ------
    ValueError
        Nobody knows: it is a bake of an older Taffeta, or the file is damaged. A sentence.
    """
    file = Path(path).with_suffix(SUFFIX)
    try:
        return parse(read_whole(file, LARGEST_RECIPE).decode("utf-8", "replace"))
    except FileNotFoundError:
        raise ValueError(f"Beside {path} lies no {file.name}: its settings were not kept") from None
    except (OSError, ValueError):
        raise ValueError(f"{file} cannot be read or is damaged: the settings of this bake are not known") from None


def is_kept(path: Path) -> bool:
    """Whether a file lies beside the bake at `path` that may say what it was made of."""
    return is_plain(Path(path).with_suffix(SUFFIX))


def _encoded(painted: Map) -> dict:
    told = {"kind": painted.kind, "name": painted.name, "form": list(painted.form), "values": ""}
    if painted.values is None:
        return told
    type_name = next(name for name, kind in TYPES.items() if kind == painted.values.dtype)
    raw = np.ascontiguousarray(painted.values).tobytes()
    packed = base64.b64encode(zlib.compress(raw, 1)).decode()
    return told | {"type": type_name, "shape": list(painted.values.shape), "digest": _digest(raw), "values": packed}


def _decoded(entry: dict) -> Map:
    """A map out of JSON; raises one of `UNREADABLE` at whatever is not as `_encoded` writes it."""
    kind, name, form = entry["kind"], entry["name"], entry["form"]
    if not all(isinstance(word, str) for word in (kind, name, *form)):
        raise ValueError
    if not entry["values"]:
        return Map(kind, name, list(form), None)
    shape, wanted = entry["shape"], TYPES[entry["type"]]
    if not 1 <= len(shape) <= MOST_AXES or not all(type(axis) is int and 1 <= axis <= MOST_MAP_BYTES for axis in shape):
        raise ValueError
    size = math.prod(shape) * wanted.itemsize
    if size > MOST_MAP_BYTES:
        raise ValueError
    unpacking = zlib.decompressobj()
    raw = unpacking.decompress(base64.b64decode(entry["values"], validate=True), size)
    if len(raw) != size or _digest(raw) != entry["digest"]:
        raise ValueError
    values = np.frombuffer(raw, wanted).reshape(shape)
    if not np.isfinite(values).all():
        raise ValueError
    return Map(kind, name, list(form), values)


def _digest(raw: bytes) -> str:
    return hashlib.blake2b(raw, digest_size=16).hexdigest()


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError
    return value
