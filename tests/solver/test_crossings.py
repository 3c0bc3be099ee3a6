# SPDX-License-Identifier: GPL-3.0-or-later
"""Crossings as the report counts them, against ipctk, which shares no code with Taffeta."""

from itertools import combinations

import ipctk
import numpy as np
import pytest
from sheets import sheet
from solids import ball, collider
from taffeta.solver.build import build
from taffeta.solver.crossings import ALL_HELD, BODY, NONE_HELD, SOME_HELD, find_crossings
from taffeta.solver.model import Settings


def tangle(seed, **values):
    """Two small sheets at random places, crumpled, and a ball among them."""
    rng = np.random.default_rng(seed)
    garments = [sheet(name, 5, 4, 0.2, **values) for name in "AB"]
    cloth, state = build(garments, Settings())
    body = collider(ball(0.3, 3))
    return cloth, rng.uniform(-0.5, 0.5, (len(state.x), 3)), body._replace(x=body.x + cloth.origin)


def by_ipctk(cloth, x, body):
    """The same by looking at every pair of triangles."""
    points = np.concatenate([x, body.x[-1] - cloth.origin])
    faces = np.concatenate([cloth.triangles, body.triangles + len(x)]).tolist()
    owner = [*cloth.garment[cloth.triangles[:, 0]].tolist(), *[BODY] * len(body.triangles)]
    return sorted(
        tuple(sorted((owner[i], owner[k])))
        for i, k in combinations(range(len(faces)), 2)
        if (owner[i] != BODY or owner[k] != BODY) and _cross(points, faces[i], faces[k])
    )


def _cross(points, one, other):
    return any(
        ipctk.is_edge_intersecting_triangle(points[sides[k - 1]], points[sides[k]], *points[face])
        for sides, face in ((one, other), (other, one))
        for k in range(3)
        if sides[k - 1] not in face and sides[k] not in face
    )


@pytest.mark.parametrize("seed", range(4))
def test_crossings_are_those_that_ipctk_finds(seed):
    cloth, x, body = tangle(seed)
    found = sorted(map(tuple, find_crossings(cloth, x, (body,))[0].tolist()))
    assert found == by_ipctk(cloth, x, body)
    assert {(0, 0), (0, 1), (BODY, 0), (BODY, 1)} <= set(found), "all kinds are in the tangle"


def test_what_lies_flat_or_only_touches_does_not_cross():
    cloth, state = build([sheet("A", 5, 4, 0.2)], Settings())
    x = state.x.copy()
    assert find_crossings(cloth, x)[0].shape == (0, 2)
    x[:, 2] = np.abs(x[:, 0])  # folded
    assert find_crossings(cloth, x)[0].shape == (0, 2)


def test_what_is_let_through_does_not_count():
    cloth, x, body = tangle(0)
    assert not (find_crossings(cloth, x, (body._replace(meets=(True, False)),))[0] == (BODY, 1)).all(axis=1).any()
    apart = cloth._replace(meets=np.eye(2, dtype=bool))
    assert not (find_crossings(apart, x)[0] == (0, 1)).all(axis=1).any()
    masked = cloth._replace(meets_itself=np.zeros(len(x), bool), meets_bodies=np.zeros(len(x), bool))
    assert np.unique(find_crossings(masked, x, (body,))[0], axis=0).tolist() == [[0, 1]]


def test_what_pins_alone_hold_is_told_apart():
    """All corners of cloth pinned, some, or none."""
    cloth, x, body = tangle(0)
    assert (find_crossings(cloth, x, (body,))[1] == NONE_HELD).all()
    held = cloth._replace(inv_mass=np.where(cloth.garment == 0, 0.0, cloth.inv_mass))
    found, pinned = find_crossings(held, x, (body,))
    assert np.array_equal(pinned == ALL_HELD, (found < 1).all(axis=1)) and (pinned == ALL_HELD).any()
    assert np.array_equal(pinned == SOME_HELD, (found == (0, 1)).all(axis=1)) and (pinned == SOME_HELD).any()
    one = cloth._replace(inv_mass=np.where(np.arange(len(x)) == cloth.triangles[0, 0], 0.0, cloth.inv_mass))
    assert set(find_crossings(one, x, (body,))[1].tolist()) <= {NONE_HELD, SOME_HELD}


@pytest.mark.parametrize("seed", range(6))
def test_cloth_that_lies_flat_does_not_cross_itself(seed):
    """A flat sheet in any direction: its triangles lie in one plane to rounding, which has the sign of a crossing at times."""
    cloth, state = build([sheet("A", 31, 31, 0.9)], Settings())
    rng = np.random.default_rng(seed)
    x = state.x @ np.linalg.qr(rng.normal(size=(3, 3)))[0].T + rng.normal(size=3)
    assert len(find_crossings(cloth, x)[0]) == 0
