# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth that may tear anywhere is, as long as it holds, the cloth that was not cut: its springs, hinges and seams."""

import naive
import numpy as np
import pytest
from taffeta.solver.build import build
from taffeta.solver.elastic.springs import spring_numbers
from taffeta.solver.join import join
from taffeta.solver.model import Settings
from taffeta.solver.step import advance

COUNT, SIDE, GAP = 7, 0.2, 0.08  # vertices along a side of a panel; [m]
ROUNDED = 1e-3  # of what bends, which is fitted to the mesh


def panels(model, **changes):
    """Two panels of crooked triangles over each other that are sewn all round, whole and cut along each edge; and of each vertex of the
    second which of the first it is."""
    one = naive.sheet(COUNT, COUNT, SIDE, SIDE, "none")
    within = (np.minimum(one.x[:, :2], SIDE - one.x[:, :2]) > 1e-9).all(axis=1)
    flat = one.x + within[:, None] * [1.0, 1.0, 0.0] * np.random.default_rng(2).uniform(-0.005, 0.005, one.x.shape)
    count, rim = len(flat), np.flatnonzero(~within)
    x = np.concatenate([flat, flat + [0.0, 0.0, GAP]])
    triangles = np.concatenate([one.triangles, one.triangles[:, ::-1] + count])
    fabric = {"model": model, "self_collision": True, "sewing": True, "bending_stiffness": 1e-4} | changes
    whole = naive.garment(
        x, triangles, edges=np.concatenate([one.edges, one.edges + count, _pairs(rim, count)]), **fabric
    )
    source = triangles.ravel()
    pieces = np.arange(len(source)).reshape(-1, 3)
    sides = np.sort(pieces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    keys, own, twice = np.unique(np.sort(source[sides], axis=1), axis=0, return_inverse=True, return_counts=True)
    first = np.array([np.flatnonzero(source == vertex)[0] for vertex in range(2 * count)])
    inner = sides[twice[own.ravel()] > 1]
    cut = naive.garment(x[source], pieces, edges=np.concatenate([sides, first[_pairs(rim, count)]]), **fabric)
    return whole, cut._replace(tear_edges=inner, tear_strength=np.full(len(inner), 1e9)), source


def _pairs(rim, count):
    return np.stack([rim, rim + count], axis=1)


def held(garment):
    """The cloth as a frame has it, and which of its particles each vertex is."""
    cloth, state = build([garment], Settings())
    joined, _, _ = join(cloth, state, naive.still(garment.x))
    return (cloth, np.arange(len(garment.x))) if joined is None else (joined.cloth, joined.place)


def by_ends(cloth, name_of, values):
    """Values of springs by the vertices of the whole garment that they join; each pair once."""
    found = {
        tuple(sorted(name_of[list(ends)].tolist())): value for ends, value in zip(cloth.edges, values, strict=True)
    }
    assert len(found) == len(cloth.edges)
    return found


@pytest.mark.parametrize("model", ["FABRIC", "MEMBRANE"])
def test_what_may_tear_anywhere_is_whole_as_long_as_it_holds(model):
    whole, cut, source = panels(model)
    (one, own), (other, place) = held(whole), held(cut)
    name_of = np.empty(len(other.mass), int)
    name_of[place] = source
    assert len(one.mass) == len(other.mass) and other.mass == pytest.approx(one.mass[name_of])
    for name in ("rest", "stiffness", "damping"):
        expected = by_ends(one, own, getattr(spring_numbers(one), name))
        assert by_ends(other, name_of, getattr(spring_numbers(other), name)) == pytest.approx(expected)
    hinges = [
        {tuple(np.sort(names[s].reshape(2, 2), axis=1).ravel()): k for s, k in zip(c.bend_stencils, c.bend_stiffness, strict=True)}
        for c, names in ((one, own), (other, name_of))
    ]  # fmt: skip
    assert len(hinges[1]) == len(other.bend_stencils) and hinges[1] == pytest.approx(hinges[0], rel=ROUNDED)


def test_it_is_sewn_as_soon_as_whole_cloth():
    gaps = []
    for garment in panels("MEMBRANE")[:2]:
        cloth, state = build([garment], Settings())
        for frame in range(1, 4):
            report = advance(cloth, state, naive.still(garment.x), frame, Settings())
        ends = state.x[cloth.edges[cloth.seams]]
        gaps.append(np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1).max())
        assert report.torn == 0
    assert 0.2 * GAP < gaps[0] < 0.7 * GAP and gaps[1] == pytest.approx(gaps[0], rel=0.03)
