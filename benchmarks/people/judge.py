# SPDX-License-Identifier: GPL-3.0-or-later
"""What came out of a shot, told by its meshes where they are shown, the same for every simulator: what crosses in every frame, how
crumpled, how stretched, how restless. Quads are cut as at rest, as simulated; Blender draws some that fold sharply the other way
(`solver.shown`).
"""

import sys
from pathlib import Path

import numpy as np
import scenes
from taffeta.solver.geometry.roughness import roughness

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "solver"))

from crossings import count_crossings

TURN = 0.002  # [m] that a vertex goes in a frame, and again back in the next, to count as turning back


class Judge:
    """Looks at a `shots.Scene` frame by frame; `figures` tells what it saw."""

    def __init__(self, scene):
        self.scene = scene
        counts = [len(obj.data.vertices) for obj in scene.garments]
        starts = np.cumsum([0, *counts])[:-1]
        self.owner = np.repeat(np.arange(len(counts)), counts)
        with_start = list(zip(scene.garments, starts, strict=True))
        self.triangles = np.concatenate([scenes.triangles(obj) + start for obj, start in with_start])
        held = np.concatenate([_held(obj) for obj in scene.garments])
        edges = np.concatenate([scenes.edges(obj) + start for obj, start in with_start])
        self.edges = edges[~held[edges].all(axis=1)]  # how long the others are the animation says
        self.bodies = [scenes.triangles(obj, shown=True) for obj in scene.bodies]
        at_rest = np.concatenate([scenes.positions(obj.data, obj.matrix_world) for obj in scene.garments])
        self.rest_length = self._lengths(at_rest)
        self.x, self.crossings, self.rough = [], [], []

    def look(self) -> bool:
        """Note what is shown now; False, and nothing is noted, if it is not finite any more."""
        x = np.concatenate([scenes.world(obj) for obj in self.scene.garments])
        if not np.isfinite(x).all():
            return False
        bodies = [(scenes.world(obj), faces) for obj, faces in zip(self.scene.bodies, self.bodies, strict=True)]
        self.crossings.append(count_crossings(x, self.triangles, self.owner, bodies))
        self.rough.append(roughness(x, self.triangles))
        self.x.append(x)
        return True

    def _lengths(self, x):
        return np.linalg.norm(x[self.edges[:, 0]] - x[self.edges[:, 1]], axis=1)

    def figures(self):
        """As JSON can hold it. Crossings: the most of a frame, and in how many frames there are any; roughness [degrees],
        and the part of neighbouring faces folded by over 60 degrees, means over the frames; stretch of the mesh's edges
        but those between held vertices, the worst, and 99 in 100 are below the other; vertices that turn back, mean of a frame.
        """
        cloth = [found.cloth_self + found.cloth_cloth for found in self.crossings]
        body = [found.cloth_body for found in self.crossings]
        strain = np.array([self._lengths(x) / self.rest_length - 1.0 for x in self.x])
        angle, folded = np.mean(self.rough, axis=0)
        return {
            "frames": len(self.x),
            "vertices": len(self.x[0]),
            "cloth": {"most": max(cloth), "frames": int(np.count_nonzero(cloth)), "each": cloth},
            "body": {"most": max(body), "frames": int(np.count_nonzero(body)), "each": body},
            "roughness": float(np.degrees(angle)),
            "folded": float(folded),
            "stretch": {"worst": float(strain.max()), "usual": float(np.percentile(strain, 99))},
            "turns": float(turning(np.array(self.x)).mean()) if len(self.x) > 2 else 0.0,
        }


def _held(obj):
    """(n,) which vertices of a garment are pinned."""
    pin = obj.taffeta_cloth.pin
    held = np.zeros(len(obj.data.vertices), bool)
    if pin.source == "GROUP":
        group = obj.vertex_groups[pin.vertex_group].index
        held[[v.index for v in obj.data.vertices if any(g.group == group and g.weight > 0.0 for g in v.groups)]] = True
    return held


def turning(x):
    """(f - 2,) how many vertices of x (f, n, 3) turn back: more than `TURN` one way, and more than that back again."""
    way = np.diff(x, axis=0)
    far = np.linalg.norm(way, axis=2) > TURN
    back = np.einsum("fni,fni->fn", way[1:], way[:-1]) < 0.0
    return np.count_nonzero(back & far[1:] & far[:-1], axis=1)
