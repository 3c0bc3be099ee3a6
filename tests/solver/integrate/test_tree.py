# SPDX-License-Identifier: GPL-3.0-or-later
"""The tree of groups: who is in which, and which slots a node has."""

import naive
import numpy as np
import pytest
from taffeta.solver.build import build
from taffeta.solver.integrate.tree import LEAF_PARTICLES, first_slots, grow
from taffeta.solver.model import Settings


@pytest.mark.parametrize("count", [1, 2, 13, 40, 700])
def test_every_particle_has_a_leaf(count):
    pairs = np.stack([np.arange(count - 1), np.arange(1, count)], axis=1)
    leaf = grow(pairs, np.ones(count - 1), count)
    assert len(leaf) == count and np.bincount(leaf).max() <= LEAF_PARTICLES
    leaves = 2 ** int(np.log2(leaf.min()))
    assert sorted(set(leaf.tolist())) == list(range(leaves, 2 * leaves))
    # a chain is cut into pieces, not into crumbs
    order = leaf if leaf[0] <= leaf[-1] else leaf[::-1]
    assert (np.diff(order) != 0).sum() <= 2 * len(np.unique(leaf))


def test_layers_that_touch_are_not_one_group():
    """Two sheets in the same place have no group in common but the largest."""
    cloth, _ = build([naive.sheet(8, 8), naive.sheet(8, 8)], Settings())
    half = cloth.leaf >> int(np.log2(cloth.leaf.max())) - 1
    assert set(half[:64]) != set(half[64:]) and len(set(half[:64])) == len(set(half[64:])) == 1


def test_slots_of_a_node_are_those_of_its_halves():
    leaf = np.sort(grow(np.stack([np.arange(99), np.arange(1, 100)], axis=1), np.ones(99), 100))
    first = first_slots(leaf)
    assert first[1] == 0 and first[-1] == 100 and len(first) == 2 * 2 ** int(np.log2(leaf[0])) + 1
    for slot, node in enumerate(leaf):
        assert first[node] <= slot < first[node + 1]
        while node > 1:
            node >>= 1
            assert first[node] == first[2 * node] and first[node] <= slot
