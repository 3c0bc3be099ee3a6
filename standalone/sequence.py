# SPDX-License-Identifier: GPL-3.0-or-later
"""An OBJ file that stands still, or a sequence that goes straight from one file to the next.

A sequence may look closer than frames do: of so many samples a frame, the file of frame f has the number f · samples, and those
between are there where what it shows turns.
"""

from bisect import bisect_left, bisect_right
from pathlib import Path

import numpy as np

from ..solver.cache import obj


class Sequence:
    """Positions by frame; a `#` in the name of the file stands for its number.

    mesh : what it is to have the faces of; None: its own first file
    """

    def __init__(self, path: Path, mesh: obj.Mesh | None = None, samples: int = 1):
        self.files, self.samples = {0: path}, samples
        if "#" in path.name:
            name = path.name.partition("#")[0]
            sequences = [file for file in sorted(path.parent.glob("*.obj")) if _is_frame(file, path.name)]
            if not sequences:
                raise ValueError(f"There is no file {name}0001.obj or the like for {path}; export the sequence")
            self.files = obj.sequence(sequences[0])
            if link := next((file for file in self.files.values() if file.is_symlink()), None):
                raise ValueError(f"{link} is a link, which may lead out of the scene's folder; copy the file there")
        self.frames = list(self.files)
        self.mesh = obj.read(self.files[self.frames[0]]) if mesh is None else mesh
        self.known = {self.frames[0]: self.mesh.x} if mesh is None else {}

    def parts(self, frame: int) -> int:
        """Equal parts of the time from the frame before to this one, in each of which it goes straight."""
        begin, end = (frame - 1) * self.samples, frame * self.samples
        between = self.frames[bisect_right(self.frames, begin) : bisect_left(self.frames, end)]
        count = len(between) + 1
        step = self.samples // count
        is_even = self.samples % count == 0 and between == [*range(begin + step, end, step)]
        return count if is_even else self.samples

    def over(self, frame: int, parts: int) -> np.ndarray:
        """Positions (parts + 1, n, 3) [m] from the frame before to this one, both included."""
        begin = (frame - 1) * self.samples
        return np.stack([self._at(begin + k * self.samples / parts) for k in range(parts + 1)])

    def x(self, frame: int) -> np.ndarray:
        """Positions (n, 3) [m] at a frame; the first and the last file hold before and after them."""
        return self._at(frame * self.samples)

    def _at(self, number: float) -> np.ndarray:
        after = min(bisect_right(self.frames, number), len(self.frames) - 1)
        first, last = self.frames[max(0, after - 1)], self.frames[after]
        self.known = {f: self.known[f] if f in self.known else self._read(f) for f in {first, last}}
        share = min(1.0, max(0.0, (number - first) / (last - first))) if last > first else 0.0
        if share == 1.0:
            return self.known[last]
        return self.known[first] + share * (self.known[last] - self.known[first])

    def _read(self, frame):
        return obj.read_like(self.files[frame], self.mesh)


def _is_frame(file: Path, pattern: str) -> bool:
    """Whether a file is the pattern with a number in the place of its `#`."""
    before, _, after = pattern.partition("#")
    after = after.lstrip("#")
    number = file.name.removeprefix(before).removesuffix(after)
    return file.name == before + number + after and number.removeprefix("-").isdecimal()
