# SPDX-License-Identifier: GPL-3.0-or-later
"""What of an OBJ file outlives its positions: pattern coordinates, faces, and the names that stand among them.

A frame that is written keeps objects, groups, smoothing and materials (`o`, `g`, `s`, `usemtl`) where they stood, and the
library of these (`mtllib`) as it is found from the frame's folder. Normals are made anew for each frame, where the file has
any: of vertices, the mean of their faces by area.
"""

import os
import re
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .files import read_whole
from .obj import LARGEST_OBJ, Mesh, plain_text

LONGEST_LABEL = 1024  # bytes of a line that is kept
KEPT_LINE = re.compile(rb"\n(?:(mtllib|usemtl|o|g|s)[ \t]+([^\n]*)|(f|vn)[ \t])")


class Layout(NamedTuple):
    """What is written besides positions."""

    head: bytes  # library of materials, pattern coordinates
    faces: bytes  # faces, and the names among them
    has_normals: bool


def read(path: Path, mesh: Mesh, uv: np.ndarray | None, folder: Path) -> Layout:
    """The `Layout` of a file that `mesh` and uv (c, 2) were read from, for frames that go to a folder.

    Raises
    ------
    ValueError, OSError
        A name beyond reason; it cannot be read.
    """
    names, has_normals = _names(Path(path), folder)
    corners = (mesh.corners + 1).astype(str)
    head = [line for number, line in names if number < 0]
    if uv is not None:
        points, index = np.unique(uv, axis=0, return_inverse=True)
        head += [f"vt {u:.9g} {v:.9g}".encode() for u, v in points]
    if uv is not None or has_normals:
        of_pattern = (index.reshape(-1) + 1).astype(str) if uv is not None else np.full(len(corners), "")
        parts = [corners, of_pattern, corners] if has_normals else [corners, of_pattern]
        corners = parts[0]
        for part in parts[1:]:
            corners = np.char.add(np.char.add(corners, "/"), part)
    lines, following = [], iter([*((n, line) for n, line in names if n >= 0), (np.inf, b"")])
    number, line = next(following)
    for face, (a, b) in enumerate(zip(mesh.face_start[:-1], mesh.face_start[1:], strict=True)):
        while number <= face:
            lines.append(line)
            number, line = next(following)
        lines.append(b"f " + " ".join(corners[a:b]).encode())
    return Layout(b"\n".join([*head, b""]), b"\n".join([*lines, b""]), has_normals)


def after_positions(layout: Layout, x: np.ndarray, triangles: np.ndarray) -> bytes:
    """What follows the positions x (n, 3) in the file of a frame."""
    if not layout.has_normals:
        return layout.head + layout.faces
    normal = vertex_normals(x, triangles)
    return layout.head + ("vn %.5g %.5g %.5g\n" * len(normal) % tuple(normal.ravel().tolist())).encode() + layout.faces


def vertex_normals(x: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """(n, 3) of length 1: the mean of the normals of a vertex's triangles by area; upright where it has none."""
    a, b, c = (x[triangles[:, k]] for k in range(3))
    area = np.cross(b - a, c - a)
    normal = np.stack([np.bincount(triangles.ravel(), np.repeat(part, 3), len(x)) for part in area.T], axis=1)
    length = np.linalg.norm(normal, axis=1, keepdims=True)
    return np.divide(normal, length, out=np.tile((0.0, 0.0, 1.0), (len(x), 1)), where=length > 0.0)


def _names(path: Path, folder: Path) -> tuple[list[tuple[int, bytes]], bool]:
    """Lines with names and the face that each stands before, libraries at -1; whether there are normals."""
    found, face, has_normals = [], 0, False
    for match in KEPT_LINE.finditer(plain_text(read_whole(path, LARGEST_OBJ))):
        keyword, name = match[1], (match[2] or b"").strip()
        has_normals |= match[3] == b"vn"
        face += match[3] == b"f"
        if len(name) > LONGEST_LABEL:
            raise ValueError(f"{path} has a name of more than {LONGEST_LABEL} letters: it is damaged or no OBJ file")
        if keyword == b"mtllib":
            library = os.path.relpath(path.parent / os.fsdecode(name), folder).replace(os.sep, "/")
            found.append((-1, b"mtllib " + os.fsencode(library)))
        elif keyword:
            found.append((face, keyword + b" " + name))
    return found, has_normals
