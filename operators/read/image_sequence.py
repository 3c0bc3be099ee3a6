# SPDX-License-Identifier: GPL-3.0-or-later
"""Image sequences: files beside each other whose names end in the number of their frame.

Blender shows a sequence where something says in which frame, as a node does; read by itself it has no pixels. So each picture
is loaded alone and let go of again. Between and beyond the numbers that are there the last one before holds, or the first.
"""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import bpy

from .file_path import absolute


def numbered(image: bpy.types.Image) -> dict[int, os.DirEntry]:
    """The files of a sequence by number; empty where there are none. 2 ms for a thousand."""
    first = _first(image)
    parts = re.fullmatch(r"(.*?)(\d+)(\D*)", first.name)
    if parts is None or not first.parent.is_dir():
        return {}
    head, _, tail = parts.groups()
    pattern, found = re.compile(re.escape(head) + r"(\d+)" + re.escape(tail)), {}
    with os.scandir(first.parent) as entries:
        for entry in entries:
            match = pattern.fullmatch(entry.name)
            if match and entry.is_file():
                number = int(match[1])
                found[number] = min(
                    found.get(number, entry), entry, key=lambda each: each.name
                )  # 7 and 07 are the same
    return found


def _first(image: bpy.types.Image) -> Path:
    return Path(absolute(image.filepath, image.library))


def is_there(image: bpy.types.Image) -> bool:
    """Whether a sequence has any file."""
    return _first(image).is_file() or bool(numbered(image))


def file_at(image: bpy.types.Image, frame: int) -> Path:
    """The file that a sequence has for a frame.

    Raises
    ------
    FileNotFoundError
        It has none: the end of a sentence that begins with its name.
    """
    found = numbered(image)
    if not found:
        raise FileNotFoundError(
            f"has no numbered files at {absolute(image.filepath, image.library)}; choose the first of them"
        )
    return Path(found[max((number for number in found if number <= frame), default=min(found))].path)


@contextmanager
def picture_of(image: bpy.types.Image, frame: int) -> Iterator[bpy.types.Image]:
    """The picture of a sequence in a frame, as an image of its own that is gone afterwards.

    Raises
    ------
    OSError
        There is none, or it cannot be read: the end of a sentence that begins with the sequence's name.
    """
    path = file_at(image, frame)
    try:
        picture = bpy.data.images.load(str(path))
    except RuntimeError:
        raise OSError(f"cannot be read at {path}; replace that file") from None
    try:
        picture.colorspace_settings.name = image.colorspace_settings.name
        picture.alpha_mode = image.alpha_mode
        yield picture
    finally:
        bpy.data.images.remove(picture)


def summary(image: bpy.types.Image) -> list[list]:
    """Names and sizes of a sequence's files: what tells at once that some were replaced."""
    return [[entry.name, entry.stat().st_size] for _, entry in sorted(numbered(image).items())]
