# SPDX-License-Identifier: GPL-3.0-or-later
"""Springs of a mesh of 100,352 polygons, after Pereira (2010, 5.3.1): seconds from a scene file to cloth that is ready.

    python benchmarks/springs.py [--cells 224] [--out FOLDER]

Needs no Blender. Writes a scene file and the OBJ of a square cloth of triangles, as a tool would give it, reads both, and finds
the springs: one along each edge, and one across each inner edge, between the two corners that face it. He compares each triangle
with each other one and keeps what he has found in a file.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import page
from taffeta.solver import precompile
from taffeta.solver.build import build
from taffeta.solver.model import Cloth
from taffeta.standalone import scene
from taffeta.standalone.garments import Garments

CELLS = 224  # along a side: twice their square are triangles
HEAD = (
    "polygons",
    "springs",
    "OBJ and scene file read",
    "springs found, cloth ready",
    "all of it",
    "his, first time",
    "from a file",
)
SCENE = """<scene>
  <general><EndFrame>2</EndFrame></general>
  <cloth>
    <FILE><objPath>cloth.obj</objPath></FILE>
    <SETTINGS><model>springs</model></SETTINGS>
  </cloth>
</scene>
"""


class Taken(NamedTuple):
    """What a mesh came to."""

    cloth: Cloth
    read: float  # [s] of the processor
    built: float  # [s]


def write(folder: Path, cells: int) -> Path:
    """The scene file of a square of 2 m, its triangles with one diagonal each; returns its path."""
    line = np.linspace(0.0, 2.0, cells + 1)
    corner = (np.arange(cells)[:, None] * (cells + 1) + np.arange(cells)).ravel() + 1
    lower, upper = corner + cells + 1, corner + cells + 2
    faces = np.stack([[corner, corner + 1, upper], [corner, upper, lower]]).transpose(2, 0, 1).reshape(-1, 3)
    text = [f"v {x:.6f} 1 {z:.6f}\nvt {x / 2:.6f} {z / 2:.6f}" for z in line for x in line]
    text += [f"f {a}/{a} {b}/{b} {c}/{c}" for a, b, c in faces.tolist()]
    (folder / "cloth.obj").write_text("\n".join(text) + "\n")
    (folder / "scene.xml").write_text(SCENE)
    return folder / "scene.xml"


def ready(path: Path) -> Taken:
    """Cloth of a scene file, with the seconds of the processor that it takes to read and to build it."""
    began = time.process_time()
    given = scene.read(path, path.parent)
    garments = Garments(given.cloths).garments
    read = time.process_time()
    cloth, _ = build(garments, given.settings)
    return Taken(cloth, read - began, time.process_time() - read)


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", type=int, default=CELLS, help="along a side of the square")
    parser.add_argument("--out", type=Path, help="folder that keeps scene file and OBJ")
    chosen = parser.parse_args()
    precompile.compile_kernels()
    with tempfile.TemporaryDirectory() as folder:
        taken = ready(write(chosen.out or Path(folder), chosen.cells))
    seconds = taken.read, taken.built, taken.read + taken.built
    springs = len(taken.cloth.edges)
    row = [2 * chosen.cells**2, springs, *(f"{one:.2f} s" for one in seconds), "7 min", "0.25 s"]
    print(page.grid(HEAD, [row]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
