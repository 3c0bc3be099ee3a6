# SPDX-License-Identifier: GPL-3.0-or-later
"""Lines of edges, and how they are sewn to each other."""

import tracemalloc

import numpy as np
import pytest
from taffeta.solver.geometry.stitches import dart, length, lines, stitches


def test_edges_make_lines_and_rings():
    found = lines([[7, 5], [3, 7], [10, 11], [11, 12], [12, 10]])
    assert [(line.tolist(), is_ring) for line, is_ring in found] == [([3, 7, 5], False), ([10, 11, 12], True)]
    with pytest.raises(ValueError, match="more than two"):
        lines([[0, 1], [0, 2], [0, 3]])


@pytest.mark.parametrize(("few", "many"), [(4, 4), (4, 9), (9, 4)])
@pytest.mark.parametrize("turned", [False, True])
def test_lines_are_sewn_end_to_end_without_crossings(few, many, turned):
    """One stitch a vertex, none crosses another, the ends meet; flipped the far ends do."""
    x = np.concatenate([[[u, 0, 0] for u in np.linspace(0, 1, few)], [[u, 1, 0] for u in np.linspace(0, 2, many)]])
    one, other = np.arange(few), few + np.arange(many)
    other = other[::-1] if turned else other
    pairs = stitches(x, one, other, False)
    pairs = pairs[np.argsort(pairs[:, 0])]
    assert len(pairs) == min(few, many) and np.array_equal(np.unique(pairs), np.sort(pairs.ravel()))
    assert (
        set(pairs[:, 0]) <= set(one)
        and pairs[0].tolist() == [0, few]
        and pairs[-1].tolist() == [few - 1, few + many - 1]
    )
    u = x[pairs[:, 0], 0], x[pairs[:, 1], 0]
    assert (np.diff(u[0]) > 0).all() and (np.diff(u[1]) > 0).all() and np.abs(2 * u[0] - u[1]).max() < 0.15
    back = stitches(x, one, other, False, flip=True)
    assert [0, few + many - 1] in back.tolist() and [few - 1, few] in back.tolist()


@pytest.mark.parametrize("turned", [False, True])
def test_rings_find_where_they_lie_side_by_side(turned):
    def ring(count, radius, z, start):
        turn = start + 2 * np.pi * np.arange(count) / count
        return np.stack([radius * np.cos(turn), radius * np.sin(turn), np.full(count, z)], axis=1)

    x = np.concatenate([ring(12, 1.0, 0.0, 0.0), ring(24, 1.5, 1.0, 2.0)])
    one, other = np.arange(12), 12 + np.arange(24)
    other = other[::-1] if turned else other
    pairs = stitches(x, one, other, True)
    assert len(pairs) == 12 and np.linalg.norm(x[pairs[:, 0]] - x[pairs[:, 1]], axis=1).max() < 1.2
    shifted = stitches(x, one, other, True, shift=2)
    assert not np.array_equal(shifted, pairs) and len(np.unique(shifted)) == 24
    assert length(x, one, True) == pytest.approx(2 * np.pi, rel=0.02)


def test_a_dart_closes_about_its_tip():
    assert dart(np.array([4, 7, 2, 9, 5])).tolist() == [[4, 5], [7, 9]]
    assert dart(np.array([4, 7, 2, 9])).tolist() == [[4, 9]], "an edge between two tips stays"


def test_long_lines_take_no_square_of_memory_and_long_rings_fit():
    """Two lines of 4,000 vertices; rings of 1,500, turned against each other by 401: every vertex meets the one above it."""
    line = np.arange(4000)
    x = np.zeros((8000, 3))
    x[:, 0], x[4000:, 1] = np.tile(line, 2), 1.0
    tracemalloc.start()
    pairs = stitches(x, line, line + 4000, False)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert np.array_equal(pairs[:, 1] - pairs[:, 0], np.full(4000, 4000)) and peak < 2e7
    ring = np.arange(1500)
    x = np.stack([np.cos(ring * 2 * np.pi / 1500), np.sin(ring * 2 * np.pi / 1500), 0.0 * ring], axis=1)
    pairs = stitches(np.concatenate([x, x]), ring, 1500 + np.roll(ring, 401), True)
    assert np.array_equal(pairs[:, 1] - pairs[:, 0], np.full(1500, 1500))
