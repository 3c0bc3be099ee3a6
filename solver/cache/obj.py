# SPDX-License-Identifier: GPL-3.0-or-later
"""Wavefront OBJ in and out: positions, faces and pattern coordinates of one file; a numbered sequence as a moving body.

Only `v`, `vt` and `f` lines matter here. They are cut out by their first letters, then all numbers of a kind are read
at once. Coordinates come back as written: which axis is up is not in the file.
"""

import os
import re
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .files import read_whole, written

LARGEST_OBJ = 1 << 30  # bytes: about ten million vertices
LONGEST_OBJ_LINE = 1 << 20  # bytes of a vertex or face line: far more than MOST_CORNERS need
MOST_CORNERS = 10_000  # of a polygon: more are no cloth that anybody cuts by hand, and cutting them takes its time
MOST_FAN_CORNERS = 16  # of a polygon that is cut into a fan; larger ones are cut by ears
NUMBERED_NAME = re.compile(r"(?P<name>.*?)(?P<number>-?\d+)")


class Mesh(NamedTuple):
    """Positions and faces of an OBJ file."""

    x: np.ndarray  # (n, 3) float64, in the file's own units and axes
    triangles: np.ndarray  # (t, 3) int32, polygons cut up
    corners: np.ndarray  # (c,) int32 vertices of all polygons, one polygon after the other
    face_start: np.ndarray  # (f + 1,) int32 first corner of each polygon


def read(path: Path) -> Mesh:
    """Read one OBJ file.

    Raises
    ------
    ValueError
        No vertices or faces, a number that is none, an index that points nowhere, a file or line beyond reason:
        a sentence naming the file.
    OSError
        It cannot be read.
    """
    x, corners, face_start = _parse(Path(path))
    return Mesh(x, _triangles(x, corners, face_start), corners, face_start)


def read_like(path: Path, first: Mesh) -> np.ndarray:
    """Positions (n, 3) of another frame of the sequence that `first` begins.

    Raises
    ------
    ValueError
        As `read`, or the faces are not those of `first`.
    """
    x, corners, face_start = _parse(Path(path))
    same = len(x) == len(first.x) and np.array_equal(face_start, first.face_start)
    if not same or not np.array_equal(corners, first.corners):
        raise ValueError(
            f"{path} has {len(x)} vertices and {len(face_start) - 1} faces that differ from the sequence's first "
            f"frame ({len(first.x)} and {len(first.face_start) - 1}): export every frame with the same topology"
        )
    return x


def read_uv(path: Path, mesh: Mesh) -> np.ndarray:
    """Pattern coordinates (c, 2) at the corners of a mesh that was read from this file.

    Raises
    ------
    ValueError
        Some corner has none, or one that is not there: a sentence naming the file.
    """
    path = Path(path)
    text = plain_text(read_whole(path, LARGEST_OBJ))
    points, faces = _lines(path, text, b"vt"), _lines(path, text, b"f")
    if not len(points.order):
        raise ValueError(f"{path} has no UV coordinates: unwrap it, and export it with UVs")
    blank, slashes = faces.text <= ord(" "), np.cumsum(faces.text == ord("/"))
    field = slashes - np.maximum.accumulate(np.where(blank, slashes, 0))  # of vertex/uv/normal
    faces = faces._replace(text=faces.text[blank | (field == 1) & (faces.text != ord("/"))])
    try:
        numbers = _from_end(_numbers(path, faces, np.int64), faces, points)
    except ValueError as error:
        raise ValueError(
            f"{path}: not every corner of a face has UV coordinates: unwrap and export it again"
        ) from error
    if len(numbers) != len(mesh.corners) or numbers.min() < 1 or numbers.max() > len(points.order):
        raise ValueError(f"{path}: a face points to UV coordinates that are not there: export it again")
    return _positions(path, points, 2)[numbers - 1]


MADE_BY = b"# Taffeta\n"  # first line of what is written here


def write(path: Path, x: np.ndarray, after: bytes, digits: int = 9) -> None:
    """Write positions x (n, 3) and what follows them (`obj_layout.after_positions`); the file appears when it is whole.

    digits : of each coordinate; 17 keep every bit

    Raises
    ------
    ValueError
        A file of this name was not written by Taffeta: it is left alone.
    OSError
        It cannot be written.
    """
    path = Path(path)
    if os.path.lexists(path) and not _is_ours(path):
        raise ValueError(f"{path} was not written by Taffeta: choose another name, or delete it yourself")
    with written(path) as file:
        line = "v" + 3 * f" %.{digits}g" + "\n"
        file.write(MADE_BY + (line * len(x) % tuple(x.ravel().tolist())).encode() + after)


def _is_ours(path: Path) -> bool:
    """Whether `write` made a file; never a link, so that nobody else's place in a folder is taken."""
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(MADE_BY)) == MADE_BY


def sequence(path: Path) -> dict[int, Path]:
    """Files of a numbered sequence by frame, in order: `path` is one of them (body_0001.obj) or their folder.

    Raises
    ------
    ValueError
        No number at the end of the name, several sequences in the folder, or two files for one frame.
    OSError
        The folder cannot be read.
    """
    path = Path(path)
    folder = path if path.is_dir() else path.parent
    found: dict[str, dict[int, Path]] = {}
    for file in sorted(folder.iterdir()):
        match = NUMBERED_NAME.fullmatch(file.stem)
        if match is None or file.suffix.lower() != ".obj" or not file.is_file() or len(match["number"]) > 9:
            continue
        frames = found.setdefault(match["name"], {})
        other = frames.setdefault(int(match["number"]), file)
        if other is not file:
            raise ValueError(f"{other} and {file.name} are the same frame {int(match['number'])}: remove one of them")
    if path.is_dir():
        if len(found) != 1:
            names = ", ".join(sorted(found)) or "none"
            raise ValueError(f"{path} holds {len(found)} OBJ sequences ({names}): choose a file of the one you mean")
        chosen = next(iter(found))
    else:
        match = NUMBERED_NAME.fullmatch(path.stem)
        chosen = match["name"] if match else None
    if chosen not in found:
        raise ValueError(f"{path} is not part of an OBJ sequence: files are to be named like body_0001.obj")
    return dict(sorted(found[chosen].items()))


def _parse(path: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Positions, corners and face starts, as in `Mesh`."""
    text = plain_text(read_whole(path, LARGEST_OBJ))
    vertices, faces = _lines(path, text, b"v"), _lines(path, text, b"f")
    if not len(vertices.order) or not len(faces.order):
        raise ValueError(
            f"{path} has {len(vertices.order)} vertices and {len(faces.order)} faces: export a mesh with both"
        )
    x = _positions(path, vertices)
    return x, *_faces(path, faces, vertices, len(x))


class _Lines(NamedTuple):
    """All lines of one keyword."""

    text: np.ndarray  # (b,) uint8: what follows the keyword, a blank before each line
    counts: np.ndarray  # (l,) words in each line
    order: np.ndarray  # (l,) where the lines start in the file


def plain_text(text: bytes) -> bytes:
    """The file with simple line ends, without comments, indents and broken lines."""
    if b"\r" in text:
        text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if b"\\\n" in text:
        text = text.replace(b"\\\n", b" ")
    if b"#" in text:
        text = re.sub(rb"#[^\n]*", b"", text)
    if b"\n " in text or b"\n\t" in text:
        text = re.sub(rb"\n[ \t]+", b"\n", text)
    return b"\n" + text.lstrip() + b"\n"


def _lines(path: Path, text: bytes, keyword: bytes) -> _Lines:
    """Cut the lines that start with `keyword` out of the file, all at once."""
    letters = np.frombuffer(text, np.uint8)
    ends = np.flatnonzero(letters == ord("\n")).astype(np.int32)
    starts, ends = ends[:-1] + 1, ends[1:]
    wanted = letters[np.minimum(starts + len(keyword), len(letters) - 1)] <= ord(" ")
    for place, letter in enumerate(keyword):
        wanted &= letters[np.minimum(starts + place, len(letters) - 1)] == letter
    order, starts = starts[wanted], starts + len(keyword) - 1
    lengths = (ends - starts)[wanted]
    if len(lengths) and lengths.max() > LONGEST_OBJ_LINE:
        raise ValueError(f"{path} has a line of more than {LONGEST_OBJ_LINE >> 20} MB: it is damaged or no OBJ file")
    picked = np.zeros(len(letters) + 1, np.int8)
    picked[starts[wanted]] = 1
    picked[ends[wanted]] -= 1
    words = letters[np.cumsum(picked[:-1], dtype=np.int8).view(bool)].copy()
    line_start = np.concatenate(([0], np.cumsum(lengths[:-1]))) if len(lengths) else np.empty(0, np.int64)
    words[line_start] = ord(" ")
    inside = words > ord(" ")
    begins = inside & ~np.concatenate(([False], inside[:-1]))
    counts = np.add.reduceat(begins, line_start, dtype=np.int64) if len(lengths) else line_start
    return _Lines(words, counts, order)


def _numbers(path: Path, lines: _Lines, dtype: type) -> np.ndarray:
    """All numbers of the lines, one after the other."""
    kind = "face" if dtype is np.int64 else "vertex"
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)  # numpy's way to say that it met something else
        try:
            numbers = np.fromstring(lines.text.tobytes(), dtype, sep=" ")
        except (DeprecationWarning, ValueError):
            numbers = ()
    if len(numbers) != lines.counts.sum():
        raise ValueError(f"{path} has a {kind} line with something that is no number: export it again")
    return numbers


def _positions(path: Path, lines: _Lines, width: int = 3) -> np.ndarray:
    if lines.counts.min() < width:
        number = int(lines.counts.argmin()) + 1
        raise ValueError(
            f"{path}: vertex {number} has fewer than {('two', 'three')[width - 2]} coordinates: export it again"
        )
    first = np.cumsum(lines.counts) - lines.counts
    x = _numbers(path, lines, np.float64)[first[:, None] + np.arange(width)]
    finite = np.isfinite(x).all(axis=1)
    if not finite.all():
        raise ValueError(f"{path}: vertex {int(finite.argmin()) + 1} is not at a finite position: export it again")
    return x


def _faces(path: Path, lines: _Lines, vertices: _Lines, vertex_count: int) -> tuple[np.ndarray, np.ndarray]:
    """Polygons as corners and their starts; of `vertex/uv/normal` only the vertex is kept."""
    if lines.counts.min() < 3:
        raise ValueError(f"{path}: face {int(lines.counts.argmin()) + 1} has fewer than three corners: export it again")
    if lines.counts.max() > MOST_CORNERS:
        face = int(lines.counts.argmax()) + 1
        raise ValueError(
            f"{path}: face {face} has {lines.counts.max():,} corners, more than {MOST_CORNERS:,}: cut it up and export again"
        )
    words = lines.text
    slash = words == ord("/")
    if slash.any():
        at = np.arange(len(words), dtype=np.int32)
        last_slash = np.maximum.accumulate(np.where(slash, at, -1))
        last_blank = np.maximum.accumulate(np.where(words <= ord(" "), at, 0))
        lines = lines._replace(text=words[last_slash < last_blank])
    numbers = _numbers(path, lines, np.int64)
    face_start = np.concatenate(([0], np.cumsum(lines.counts)))
    numbers = _from_end(numbers, lines, vertices)
    bad = (numbers < 1) | (numbers > vertex_count)
    if bad.any():
        face = int(np.searchsorted(face_start, bad.argmax(), side="right"))
        raise ValueError(f"{path}: face {face} points to a vertex that is not there ({vertex_count} vertices)")
    return (numbers - 1).astype(np.int32), face_start.astype(np.int32)


def _from_end(numbers: np.ndarray, faces: _Lines, points: _Lines) -> np.ndarray:
    """Negative indices of faces count back from the points read so far: as indices from the first one on."""
    if not (numbers < 0).any():
        return numbers
    so_far = np.repeat(np.searchsorted(points.order, faces.order), faces.counts)
    return np.where(numbers < 0, so_far + numbers + 1, numbers)


def _triangles(x: np.ndarray, corners: np.ndarray, face_start: np.ndarray) -> np.ndarray:
    """Triangles (t, 3) of all polygons, in the order of the polygons.

    A fan may start at any corner; the start whose flattest or most inverted triangle is best is taken, which is
    right for every quad, concave ones too, and for polygons that one corner sees as a whole. Large ones are cut by ears.
    """
    counts = np.diff(face_start)
    triangle_start = np.concatenate(([0], np.cumsum(counts - 2)))
    triangles = np.empty((triangle_start[-1], 3), np.int32)
    for face in np.flatnonzero(counts > MOST_FAN_CORNERS):
        from .polygon import cut_polygon  # here, because it imports numba

        polygon = corners[face_start[face] : face_start[face + 1]]
        triangles[triangle_start[face] : triangle_start[face + 1]] = polygon[cut_polygon(x[polygon])]
    for count in np.unique(counts[counts <= MOST_FAN_CORNERS]):
        faces = np.flatnonzero(counts == count)
        polygon = corners[face_start[faces][:, None] + np.arange(count)]
        start = np.zeros(len(faces), np.int64) if count == 3 else _fan_start(x[polygon])
        fan = np.take_along_axis(polygon, (start[:, None] + np.arange(count)) % count, axis=1)
        pieces = np.stack([np.repeat(fan[:, :1], count - 2, axis=1), fan[:, 1:-1], fan[:, 2:]], axis=2)
        triangles[triangle_start[faces][:, None] + np.arange(count - 2)] = pieces
    return triangles


def _fan_start(points: np.ndarray) -> np.ndarray:
    """Best corner (p,) to start a fan at, for polygons points (p, k, 3)."""
    count = points.shape[1]
    normal = np.cross(points, np.roll(points, -1, axis=1)).sum(axis=1)  # Newell: twice the area vector
    worst = []
    for start in range(count):
        fan = np.roll(points, -start, axis=1) - points[:, start, None]
        area = np.einsum("pkc,pc->pk", np.cross(fan[:, 1:-1], fan[:, 2:]), normal)
        worst.append(area.min(axis=1))
    worst = np.array(worst)
    # A convex polygon keeps its first corner, so that flat quads are cut alike.
    return np.where(worst[0] > 0.0, 0, worst.argmax(axis=0))
