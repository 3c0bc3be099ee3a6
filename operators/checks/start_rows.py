# SPDX-License-Identifier: GPL-3.0-or-later
"""Garments whose pose at the start strains them, so that they jump out of it in the first frames, or has them torn."""

from collections.abc import Iterable, Iterator

import bpy
import numpy as np

from ...solver.geometry.topology import edge_keys, edges_of
from ...solver.model import Garment
from ..read.torn import torn_count
from .problem import Problem

STRAIN = 0.1  # of an edge, from which on it counts: in a square metre of cotton 10 J, which throw it metres high
SHARE = 0.01  # of the edges that are free, up to which they are a few odd ones
LEAST = 20  # such edges


def beginning(scene: bpy.types.Scene, garments: list[Garment]) -> Iterator[Problem]:
    """All that is found of how garments begin."""
    yield from strained(scene, garments)
    yield from torn(garments)


def strained(scene: bpy.types.Scene, garments: Iterable[Garment]) -> Iterator[Problem]:
    """Garments of which many edges are not as long at the start as at rest; not those that are to be sewn, drawn in or shrunk,
    or have a second rest shape, and none where a pre-roll lets them come to rest before the shot.
    """
    for garment in garments if scene.taffeta.preroll == 0 else ():
        if _is_meant(garment):
            continue
        edges = _free(garment)
        rest, start = (np.linalg.norm(x[edges[:, 0]] - x[edges[:, 1]], axis=1) for x in (garment.x, garment.x_start))
        strain = np.divide(start, rest, out=np.ones_like(rest), where=rest > 0.0) - 1.0
        off = np.flatnonzero(np.abs(strain) > STRAIN)
        if len(off) <= max(LEAST, SHARE * len(edges)):
            continue
        most = float(strain[off[np.abs(strain[off]).argmax()]])
        sentence = (
            f"{garment.name} starts with {len(off):,} edges that are over a tenth shorter or longer than at rest, one by "
            f"{100.0 * abs(most):.0f} %: it jumps in the first frames"
        )
        remedy = "Bend the pose that it starts from without stretching it (Stretch and Compression in the Taffeta popover shows where), or set a Pre-Roll"
        yield Problem("WARNING", garment.name, sentence, remedy)


def torn(garments: Iterable[Garment]) -> Iterator[Problem]:
    """Garments whose pose at the start holds tear lines apart, which a bake takes for torn."""
    for garment in garments:
        if count := torn_count(garment):
            yield Problem(
                "INFO",
                garment.name,
                f"{garment.name} begins torn at {count:,} places of its tear lines: its pose holds them apart",
                "That is as it should be of cloth that was torn when it was draped; else move both sides of a line alike, as by the same weights",
            )


def _free(garment):
    """(e, 2) the mesh's edges that faces have and pins do not hold at both ends; diagonals of quads turn without much force."""
    count = len(garment.x)
    sides = edge_keys(edges_of(garment.triangles, count), count)
    edges = garment.edges[np.isin(edge_keys(garment.edges, count), sides)]
    return edges[(garment.pin[edges] < 1.0).any(axis=1)]


def _is_meant(garment):
    """Whether a garment begins otherwise than it strives to be on purpose, or keeps its shape anyhow."""
    drawn_in = garment.bands is not None or (garment.shrink is not None and garment.shrink.any())
    return garment.sewing or drawn_in or garment.x_second is not None or garment.model == "RIGID"
