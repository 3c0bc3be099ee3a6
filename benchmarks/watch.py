# SPDX-License-Identifier: GPL-3.0-or-later
"""What came out of a run, told by its meshes alone, the same for every simulator: stretch, roughness, crossings, memory."""

import ctypes
import sys
from pathlib import Path

import bpy
import numpy as np
import scenes
from taffeta.solver.geometry.roughness import roughness

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "solver"))

from crossings import count_crossings  # ipctk counts them, no code of Taffeta

LOOKS = 3  # how many frames of a shot crossings are counted in, besides the last
LARGE = 40_000  # vertices from which it is the last alone: counting takes seconds


class Watch:
    """Looks at the garments of a scene frame by frame; `figures` tells what it saw."""

    def __init__(self, garments, frame_count):
        self.garments = garments
        self.bodies = [obj for obj in bpy.context.scene.objects if obj.taffeta_collider.enabled]
        large = sum(len(obj.data.vertices) for obj in garments) >= LARGE
        self.every = frame_count if large else max(1, frame_count // LOOKS)
        self.edges = [scenes.edges(obj) for obj in garments]
        self.rest = [_lengths(scenes.positions(obj.data, obj.matrix_world), scenes.edges(obj)) for obj in garments]
        self.faces = [scenes.triangles(obj) for obj in garments]
        self.worst, self.mean, self.rough, self.crossings = [], [], [], {}

    def look(self, frame):
        """Note how far the edges are stretched and how crumpled cloth is as shown now, and in some frames count crossings."""
        shown = [scenes.world(obj) for obj in self.garments]
        strain = [_lengths(x, edges) / rest - 1.0 for x, edges, rest in zip(shown, self.edges, self.rest, strict=True)]
        strain = np.concatenate(strain)
        self.worst.append(float(strain.max()))
        self.mean.append(float(strain.mean()))
        self.rough.append(np.degrees(roughness(*self._whole(shown))[0]))
        if frame % self.every == 0:
            self.count(frame)

    def count(self, frame):
        """Count the crossings as shown now, once a frame."""
        if frame in self.crossings:
            return
        garments = [scenes.world(obj) for obj in self.garments]
        owner = np.repeat(np.arange(len(garments)), [len(x) for x in garments])
        bodies = [(scenes.world(obj), scenes.triangles(obj)) for obj in self.bodies]
        self.crossings[frame] = count_crossings(*self._whole(garments), owner, bodies)

    def _whole(self, garments):
        """Vertices and triangles of all garments as one mesh; `garments` are theirs, each by itself."""
        starts = np.cumsum([0, *(len(x) for x in garments)])[:-1]
        return np.concatenate(garments), np.concatenate([f + s for f, s in zip(self.faces, starts, strict=True)])

    def figures(self):
        """As JSON can hold it; the crossings are those of the worst frame that was looked at.

        Stretch is that of an edge: the worst of all frames, the median of the frames' worst, the mean of all edges.
        Roughness [degrees] is the mean angle between neighbouring faces, mean of the frames.
        """
        cloth = max(found.cloth_self + found.cloth_cloth for found in self.crossings.values())
        body = max(found.cloth_body for found in self.crossings.values())
        return {
            "stretch": {
                "worst": max(self.worst),
                "median_worst": float(np.median(self.worst)),
                "mean": float(np.mean(self.mean)),
                "worst_each": np.round(self.worst, 5).tolist(),
            },
            "roughness": float(np.mean(self.rough)),
            "crossings": {"self": cloth, "body": body, "frames": sorted(self.crossings)},
        }


def _lengths(x, edges):
    return np.linalg.norm(x[edges[:, 0]] - x[edges[:, 1]], axis=1)


class PeakMemory:
    """`with PeakMemory() as memory: ...` then `memory.megabytes` more than before, at most; None if not on Linux."""

    megabytes = None

    def __enter__(self):
        try:
            ctypes.CDLL(None).malloc_trim(0)
            Path("/proc/self/clear_refs").write_text("5")
            self.before = _status("VmRSS")
        except (OSError, AttributeError, TypeError):
            self.before = None
        return self

    def __exit__(self, *_):
        if self.before is not None:
            self.megabytes = round((_status("VmHWM") - self.before) / 1024, 1)


def _status(name):
    """[KiB] a line of what Linux knows about this process."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith(name + ":")))
