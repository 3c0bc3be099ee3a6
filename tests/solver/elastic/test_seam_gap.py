# SPDX-License-Identifier: GPL-3.0-or-later
"""What a bake tells of seams: which edges they are, and how far the widest is open."""

import naive
import numpy as np
from taffeta.solver.doubts import Doubts
from taffeta.solver.elastic import sewing

X = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 0.3], [1, 0, 0.5], [0, 1, 0.3], [5, 5, 5]], float)
NO_CROSSINGS = np.empty((0, 2), int), np.empty(0, bool), np.empty((0, 3, 3))
EDGES = [[0, 3], [4, 1], [0, 1], [2, 6]]  # two seams, a side of a face, an edge that ends in the air


def garment(**more):
    return naive.garment(X, [[0, 1, 2], [3, 5, 4]], edges=EDGES, **more)


def test_seams_are_edges_between_faces_that_are_in_none():
    assert np.sort(sewing.sewn_pairs(garment(sewing=True)), axis=1).tolist() == [[0, 3], [1, 4]]
    assert len(sewing.sewn_pairs(garment())) == 0


def test_gaps_are_distances():
    assert np.allclose(sewing.gaps(np.array([[0, 3], [1, 4]]), X), [0.3, 0.5])


class Nothing:
    """As much of a cloth as is looked at."""

    garment = np.zeros(len(X), int)


def test_the_widest_seam_is_told(monkeypatch):
    monkeypatch.setattr("taffeta.solver.doubts.locate_crossings", lambda *_: NO_CROSSINGS)
    doubts = Doubts(["Dress"], [garment(sewing=True)])
    doubts.look_closer(Nothing, X, (), 9)
    assert doubts.seam_gap() == 0.5
    ((_, told),) = doubts.tell()
    assert "Dress has a seam that is 500 mm open in frame 9" in told and "Max Force" in told


def test_what_is_not_sewn_or_closed_is_not_told(monkeypatch):
    monkeypatch.setattr("taffeta.solver.doubts.locate_crossings", lambda *_: NO_CROSSINGS)
    for made, x in ((garment(), X), (garment(sewing=True), np.where(np.arange(7)[:, None] > 2, X - (0, 0, 0.3), X))):
        doubts = Doubts(["Dress"], [made])
        x = x.copy()
        x[4, 2] = 0.004
        doubts.look_closer(Nothing, x, (), 9)
        assert doubts.tell() == [] and (doubts.seam_gap() is None) == (not made.sewing)
