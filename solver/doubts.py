# SPDX-License-Identifier: GPL-3.0-or-later
"""What an animator is told about a bake that got to its end all the same: cloth that is far too long, or passes through."""

import numpy as np

from .crossings import BODY, find_crossings
from .integrate.edge_clamp import measure

MOST_STRETCH = 0.5  # strain of an edge beyond which cloth does not look like cloth any more


class Doubts:
    """Looks at each frame, and closer at the last; `sentences` tells what it saw."""

    def __init__(self, names):
        self.names = list(names)  # of the garments, in order
        self.worst, self.longest, self.longest_frame = MOST_STRETCH, None, 0
        self.crossing_count, self.crossed, self.last_frame = None, [], 0

    def look(self, cloth, x, report):
        """Note a frame: x (n, 3) [m] relative to the cloth's origin, and its `Report`."""
        if report.worst_stretch <= self.worst:
            return
        self.worst, self.longest_frame = report.worst_stretch, report.frame
        owner = cloth.garment[cloth.edges[:, 0]]
        strain = [
            measure(cloth.edges[own], cloth.rest_length[own], cloth.is_mesh_edge[own], x)[0]
            for own in (owner == garment for garment in range(len(self.names)))
        ]
        self.longest = self.names[int(np.argmax(strain))]

    def look_closer(self, cloth, x, colliders, frame):
        """Count the crossings of the last frame; returns a number of pairs of triangles."""
        found = find_crossings(cloth, x, colliders)
        self.crossing_count, self.last_frame = len(found), frame
        pairs = np.unique(found, axis=0).tolist()
        self.crossed = [tuple("a body" if k == BODY else self.names[k] for k in reversed(pair)) for pair in pairs]
        return self.crossing_count

    def sentences(self):
        """What is wrong, and what to do."""
        told = []
        if self.longest is not None:
            told.append(
                f"{self.longest} is stretched by {100.0 * self.worst:.0f} % in frame {self.longest_frame}: see there what "
                "pulls it; more Substeps or Stretch Stiffness help, and the model Fabric where it is Springs"
            )
        if self.crossed:
            what = ", ".join(f"{one} through {'itself' if one == other else other}" for one, other in self.crossed)
            told.append(
                f"Cloth passes through in frame {self.last_frame}: {what} ({self.crossing_count} pairs of triangles); more "
                "Substeps help, or more room where it is pressed"
            )
        return told
