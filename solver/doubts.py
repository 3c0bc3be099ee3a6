# SPDX-License-Identifier: GPL-3.0-or-later
"""What an animator is told about a bake that got to its end all the same: cloth that is far too long, or passes through."""

import numpy as np

from .crossings import BODY, find_crossings
from .elastic.sewing import gaps, sewn_pairs
from .integrate.edge_clamp import measure

MOST_GAP = 0.01  # [m] that a seam may be open at the end
GAP_THICKNESSES = 3.0  # or so many times the cloth's thickness, which contact keeps its sides apart by
MOST_STRETCH = 0.5  # strain of an edge beyond which cloth does not look like cloth any more


class Doubts:
    """Looks at each frame, and closer at the last; `sentences` tells what it saw."""

    def __init__(self, names, garments=()):
        """Names of the garments, and the garments themselves where their seams are to be looked at, in order."""
        self.names = list(names)
        self.sewn = [sewn_pairs(garment) for garment in garments]
        self.thickness = [float(np.median(garment.thickness)) for garment in garments]
        self.gaps = []  # [m] of each garment's worst seam in the last frame
        self.worst, self.longest, self.longest_frame = MOST_STRETCH, None, 0
        self.crossing_count, self.pinned_count, self.crossed, self.last_frame = None, 0, [], 0

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
        found, is_pinned = find_crossings(cloth, x, colliders)
        self.crossing_count, self.pinned_count, self.last_frame = len(found), int(is_pinned.sum()), frame
        pairs = np.unique(found, axis=0).tolist()
        self.crossed = [tuple("a body" if k == BODY else self.names[k] for k in reversed(pair)) for pair in pairs]
        for garment, pairs in enumerate(self.sewn):
            own = x[cloth.garment == garment]
            self.gaps.append(float(gaps(pairs, own).max()) if len(pairs) else 0.0)
        return self.crossing_count

    def seam_gap(self):
        """How far the worst seam was open in the last frame [m]; None where nothing is sewn."""
        return max(self.gaps) if any(map(len, self.sewn)) and self.gaps else None

    def sentences(self):
        """What is wrong, and what to do."""
        told = []
        if self.longest is not None:
            told.append(
                f"{self.longest} is stretched by {100.0 * self.worst:.0f} % in frame {self.longest_frame}: see there what "
                "pulls it; more Substeps or Stretch Stiffness help, and the model Fabric where it is Springs"
            )
        for name, gap, thickness in zip(self.names, self.gaps, self.thickness, strict=False):
            if gap > max(MOST_GAP, GAP_THICKNESSES * thickness):
                told.append(
                    f"{name} has a seam that is {1000.0 * gap:.0f} mm open in frame {self.last_frame}: raise Max Force in Sewing, "
                    "or set it to 0, which is no limit, and look whether a body or the pins hold it open"
                )
        if self.crossed:
            what = ", ".join(f"{one} through {'itself' if one == other else other}" for one, other in self.crossed)
            told.append(
                f"Cloth passes through in frame {self.last_frame}: {what} ({self.crossing_count} pairs of triangles); "
                f"{self._way_out()}"
            )
        return told

    def _way_out(self):
        """What to do about what passes through."""
        if self.pinned_count == self.crossing_count:
            return "pins hold all of that there: move what is pinned, or paint Pin away"
        kept = f"pins hold {self.pinned_count} of them there. " if self.pinned_count else ""
        return f"{kept}{'For the rest more' if kept else 'more'} Substeps help, or more room where it is pressed"
