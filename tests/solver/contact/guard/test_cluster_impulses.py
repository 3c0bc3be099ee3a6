# SPDX-License-Identifier: GPL-3.0-or-later
"""How clusters of an impact zone collide."""

import numpy as np
import pytest
from taffeta.solver.contact.guard import cluster_impulses

X, Y, Z = np.eye(3)


def colliding(inv_mass, way, pairs, direction, within=0.0):
    pairs, direction = np.array(pairs), np.array(direction, float)
    return cluster_impulses.displace(
        np.array(inv_mass, float), np.array(way, float), pairs, direction, within * np.ones(len(pairs))
    )


def test_pairs_in_a_row_are_one_system_and_slide(monkeypatch):
    """A cluster flies into two that lie on each other: all three go on at one speed, and none loses what it does across."""
    way = np.array([[0.3, 0.0, -2.0], [0.0, 0.2, 0.0], [0.0, 0.0, 0.0]])
    monkeypatch.setattr(cluster_impulses, "least_impulses", None)
    after = colliding([1.0, 0.5, 0.25], way, [[0, 1], [1, 2]], [Z, Z])
    assert np.allclose(after[:, 2], -2.0 / 7.0, atol=1e-14)
    assert np.array_equal(after[:, :2], way[:, :2])


def test_no_pair_is_pulled(monkeypatch):
    """The last of three gets away from the middle one faster than the first follows: that pair stays alone."""
    monkeypatch.setattr(cluster_impulses, "least_impulses", None)
    after = colliding([1.0, 1.0, 1.0], [-2.0 * Z, -1.0 * Z, 3.0 * -Z], [[0, 1], [1, 2]], [Z, Z])
    assert np.allclose(after, [-1.5 * Z, -1.5 * Z, -3.0 * Z])


def test_points_of_clusters_that_meet_count():
    """Two clusters are at rest, but a point of one flies at the other: they part as fast."""
    after = colliding([1.0, 0.5], np.zeros((2, 3)), [[0, 1]], [Z], -3.0)
    assert np.allclose(after, [2.0 * Z, -1.0 * Z])


def triangle_of_three():
    """Directions of three clusters at the corners of a triangle, each of which meets both others."""
    corners = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.5, 0.8, 0.0]])
    pairs = np.array([[0, 1], [1, 2], [0, 2]])
    between = corners[pairs[:, 0]] - corners[pairs[:, 1]]
    return corners, pairs, between / np.linalg.norm(between, axis=1, keepdims=True)


def test_a_cycle_is_solved_by_the_programme():
    """Three clusters that all fly at their middle, one fast: none approaches another any more, and the sum of how they
    part is the least there is.
    """
    corners, pairs, direction = triangle_of_three()
    inv_mass, way = np.array([1.0, 0.3, 2.0]), (corners.mean(axis=0) - corners) * [[5.0], [1.0], [1.0]] + 0.1 * Z
    after = colliding(inv_mass, way, pairs, direction)
    parting = (direction * (after[pairs[:, 0]] - after[pairs[:, 1]])).sum(axis=1)
    assert parting.min() > -1e-9 and parting.sum() < 1e-9
    momentum = (way / inv_mass[:, None]).sum(axis=0)
    assert np.abs((after / inv_mass[:, None]).sum(axis=0) - momentum).max() < 1e-12 * np.abs(momentum).max()


def test_only_what_forms_no_cycle_is_left_to_equations(monkeypatch):
    _, pairs, direction = triangle_of_three()
    monkeypatch.setattr(cluster_impulses, "least_impulses", lambda *_: None)
    assert colliding([1.0] * 3, -10.0 * direction, pairs, direction) is None
    assert colliding([1.0] * 3, -10.0 * direction, pairs[:2], direction[:2]) is not None


def test_what_pinned_clusters_squeeze_has_no_answer():
    assert colliding([0.0, 1.0, 0.0], [-Z, 0 * Z, Z], [[0, 1], [1, 2]], [Z, Z]) is None
    assert np.array_equal(colliding([0.0, 0.0], [-Z, Z], [[0, 1]], [Z]), [-Z, Z]), "nobody can give way"


def test_clusters_that_are_connected_to_both_sides_are_left_alone():
    """Two sheets at the same place meet above and below each other: no direction parts them."""
    known = cluster_impulses.Clusters(
        np.zeros(2, np.int64), np.ones(2), np.array([X - Z, Z]), np.zeros((2, 3)), np.array([[0, 1], [0, 1]]),
        np.array([Z, -Z]), np.zeros((2, 3)),
    )  # fmt: skip
    after, stuck = cluster_impulses.apply_impulses(known, np.ones(1))
    assert np.array_equal(after, known.displacement) and not len(stuck)
    three = np.array([[0, 1], [1, 2], [0, 2]])
    way = cluster_impulses.displace(np.ones(3), np.array([0 * Z, -Z, X]), three, np.array([Z, Z, 0 * Z]), np.zeros(3))
    assert np.isfinite(way).all()
    assert colliding(np.ones(3), np.array([Z * np.nan, -Z, Z]), three, [Z, -Z, Z]) is None, (
        "what is no number has no answer"
    )


def test_momentum_is_kept_to_rounding_however_many_collide():
    """Of 600 random zones all are solved, by the programme where they have a cycle, and none makes momentum."""
    rng, worst, cycles = np.random.default_rng(2), 0.0, 0
    for _ in range(600):
        count = int(rng.integers(2, 9))
        pairs = np.array([(i, j) for i in range(count) for j in range(i) if rng.random() < 0.6 or j == i - 1])
        direction = rng.normal(size=(len(pairs), 3))
        direction /= np.linalg.norm(direction, axis=1, keepdims=True)
        mass, way = np.exp(rng.normal(size=count)), 1e-3 * rng.normal(size=(count, 3))
        after = colliding(1.0 / mass, way, pairs, direction)
        cycles += len(pairs) >= count
        worst = max(worst, np.abs(mass @ after - mass @ way).max() / (mass @ np.abs(way)).max())
        parting = (direction * (after[pairs[:, 0]] - after[pairs[:, 1]])).sum(axis=1)
        assert parting.min() > -1e-6 * np.abs(way).max()
    print(f"{cycles} of 600 have cycles, momentum changes by {worst:.0e} at most")
    assert cycles > 300 and worst < 1e-14


def test_direction_is_that_of_the_normals_unless_it_contradicts():
    """Two pieces lie on each other, one turned over. Where they met they are connected askew; then side by side."""
    askew, aside = np.array([0.6, 0.0, 0.8]), np.array([1.0, 0.0, 0.0])
    for between, expected in ((askew, Z), (aside, aside)):
        given = [0, 0], np.ones(2), np.zeros((2, 3)), np.array([Z, -Z]), np.array([[1, 0]])
        pairs, direction, within = cluster_impulses.directions(
            cluster_impulses.Clusters(*map(np.array, given), between[None], np.array([[0.0, 0.0, -2.0]]))
        )
        assert pairs.tolist() == [[0, 1]] and np.allclose(direction, -expected)
        assert within[0] == pytest.approx(-2.0 * expected[2])
