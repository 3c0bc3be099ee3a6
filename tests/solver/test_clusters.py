# SPDX-License-Identifier: GPL-3.0-or-later
"""Impact zones in parts: what a cluster is, how clusters collide, and folded cloths that fly into each other."""

import numpy as np
import pytest
import solids
from crossings import count_in
from taffeta.solver.build import build
from taffeta.solver.contact import body, body_guard, clusters, collisions, guard
from taffeta.solver.contact import cloth as contact
from taffeta.solver.model import Settings
from test_body_guard import at, scene
from test_cloth_contact import sheet

DT = 1 / 240
X, Y, Z = np.eye(3)


def colliding(inv_mass, way, pairs, direction, within=0.0):
    pairs, direction = np.array(pairs), np.array(direction, float)
    return collisions.collide(
        np.array(inv_mass, float), np.array(way, float), pairs, direction, within * np.ones(len(pairs))
    )


def test_pairs_in_a_row_are_one_system_and_slide(monkeypatch):
    """A cluster flies into two that lie on each other: all three go on at one speed, and none loses what it does across."""
    way = np.array([[0.3, 0.0, -2.0], [0.0, 0.2, 0.0], [0.0, 0.0, 0.0]])
    monkeypatch.setattr(collisions, "push_least", None)
    after = colliding([1.0, 0.5, 0.25], way, [[0, 1], [1, 2]], [Z, Z])
    assert np.allclose(after[:, 2], -2.0 / 7.0, atol=1e-14)
    assert np.array_equal(after[:, :2], way[:, :2])


def test_no_pair_is_pulled(monkeypatch):
    """The last of three gets away from the middle one faster than the first follows: that pair stays alone."""
    monkeypatch.setattr(collisions, "push_least", None)
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
    monkeypatch.setattr(collisions, "push_least", lambda *_: None)
    assert colliding([1.0] * 3, -10.0 * direction, pairs, direction) is None
    assert colliding([1.0] * 3, -10.0 * direction, pairs[:2], direction[:2]) is not None


def test_what_pinned_clusters_squeeze_has_no_answer():
    assert colliding([0.0, 1.0, 0.0], [-Z, 0 * Z, Z], [[0, 1], [1, 2]], [Z, Z]) is None
    assert np.array_equal(colliding([0.0, 0.0], [-Z, Z], [[0, 1]], [Z]), [-Z, Z]), "nobody can give way"


def test_clusters_that_are_connected_to_both_sides_are_left_alone():
    """Two sheets at the same place meet above and below each other: no direction parts them."""
    known = collisions.Clusters(
        np.zeros(2, np.int64), np.ones(2), np.array([X - Z, Z]), np.zeros((2, 3)), np.array([[0, 1], [0, 1]]),
        np.array([Z, -Z]), np.zeros((2, 3)),
    )  # fmt: skip
    after, stuck = collisions.resolve(known, np.ones(1))
    assert np.array_equal(after, known.way) and not len(stuck)
    three = np.array([[0, 1], [1, 2], [0, 2]])
    way = collisions.collide(np.ones(3), np.array([0 * Z, -Z, X]), three, np.array([Z, Z, 0 * Z]), np.zeros(3))
    assert np.isfinite(way).all()
    assert colliding(np.ones(3), np.array([Z * np.nan, -Z, Z]), three, [Z, -Z, Z]) is None, (
        "what is no number has no answer"
    )


def test_momentum_is_kept_to_rounding_however_many_collide():
    rng = np.random.default_rng(2)
    for _ in range(50):
        count = int(rng.integers(2, 9))
        pairs = np.array([(i, j) for i in range(count) for j in range(i) if rng.random() < 0.6 or j == i - 1])
        direction = rng.normal(size=(len(pairs), 3))
        direction /= np.linalg.norm(direction, axis=1, keepdims=True)
        mass, way = np.exp(rng.normal(size=count)), 1e-3 * rng.normal(size=(count, 3))
        after = colliding(1.0 / mass, way, pairs, direction)
        assert np.abs(mass @ after - mass @ way).max() < 1e-12 * (mass @ np.abs(way)).max()
        parting = (direction * (after[pairs[:, 0]] - after[pairs[:, 1]])).sum(axis=1)
        assert parting.min() > -1e-6 * np.abs(way).max()


def test_direction_is_that_of_the_normals_unless_it_contradicts():
    """Two pieces lie on each other, one turned over. Where they met they are connected askew; then side by side."""
    askew, aside = np.array([0.6, 0.0, 0.8]), np.array([1.0, 0.0, 0.0])
    for between, expected in ((askew, Z), (aside, aside)):
        given = [0, 0], np.ones(2), np.zeros((2, 3)), np.array([Z, -Z]), np.array([[1, 0]])
        pairs, direction, within = collisions.directions(
            collisions.Clusters(*map(np.array, given), between[None], np.array([[0.0, 0.0, -2.0]]))
        )
        assert pairs.tolist() == [[0, 1]] and np.allclose(direction, -expected)
        assert within[0] == pytest.approx(-2.0 * expected[2])


def folded(turn, rows=7):
    """A strip of cells of 2 cm whose rows behind the fourth are turned up about it; its particles, three a row."""
    x = np.stack(np.meshgrid(np.arange(rows), np.arange(3), [0.0], indexing="ij"), -1).reshape(-1, 3) * 0.02
    after = np.maximum(x[:, 0] - 0.06, 0.0)
    x[:, 0], x[:, 2] = np.minimum(x[:, 0], 0.06) + after * np.cos(turn), after * np.sin(turn)
    index = np.arange(len(x)).reshape(rows, 3)
    quads = np.stack([index[:-1, :-1], index[1:, :-1], index[1:, 1:], index[:-1, 1:]], -1).reshape(-1, 4)
    return x, np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]]).astype(np.int32)


def meeting(*rows):
    """Particles that meet triangles at their first corners."""
    count = len(rows)
    weights, up = np.tile([1.0, -1.0, 0.0, 0.0], (count, 1)), np.tile(Z, (count, 1))
    return clusters.Meetings(np.array(rows, np.int32).reshape(-1, 4), weights, up)


def test_a_cluster_that_meets_itself_is_split_at_the_fold():
    """All of a strip is one zone, and its last row meets its first: two clusters if it is folded sharply, else one."""
    root, held = np.zeros(21, np.int64), np.ones(21, np.bool_)
    for turn, count in ((2.8, 2), (1.2, 1)):
        x, triangles = folded(turn)
        label, _ = clusters.part(root, held, meeting([19, 1, 2, 4]), triangles, x)
        assert label.max() + 1 == count
        assert (label[:9] == label[0]).all() and (label[12:] == label[20]).all()
    label, _ = clusters.part(root, held, meeting(), *folded(2.8)[::-1])
    assert (label == 0).all(), "it does not meet itself"


@pytest.mark.parametrize(("turn", "foes", "count"), [(0.2, False, 2), (2.8, False, 3), (0.2, True, 3)])
def test_near_clusters_are_one_unless_the_sheet_is_folded_between_them_or_they_meet(turn, foes, count):
    """Rows 1 and 2, and 4 and 5, of a strip meet another sheet; row 3, where it is bent, meets nothing."""
    x, triangles = folded(turn)
    x = np.concatenate([x, [[0.0, 0, 0.1], [0.1, 0, 0.1], [0, 0.1, 0.1]]])
    triangles = np.concatenate([triangles, [[21, 22, 23]]])
    held = np.isin(np.arange(24), [3, 4, 5, 6, 7, 8, 12, 13, 14, 15, 16, 17, 21, 22, 23])
    met = [[4, 21, 22, 23], [13, 21, 22, 23], *([[7, 13, 14, 16]] if foes else [])]
    label, _ = clusters.part(np.zeros(24, np.int64), held, meeting(*met), triangles, x)
    assert label.max() + 1 == count and (label[~held] == -1).all()
    assert (label[4] == label[13]) == (count == 2)


def test_cloth_slides_on_what_is_pinned_and_moves():
    """Two particles fly down and sideways onto a triangle that rises, one corner of which is pinned and decides for it."""
    cloth, _ = build([sheet("A", 3, 3, 0.02)], Settings())
    label, way = np.array([0, 0, 1, 1, 1, -1, -1, -1, -1]), np.tile(X - 2.0 * Z, (9, 1))
    inv_mass = cloth.inv_mass.copy()
    inv_mass[3], way[3], way[[2, 4]] = 0.0, Z, 0.7 * Z
    met, up = meeting([0, 3, 2, 4], [1, 3, 2, 4]), np.tile(Z, (9, 1))
    known = clusters.gather(label, up, np.zeros(9, np.int64), met, cloth._replace(inv_mass=inv_mass), way)
    assert known.inv_mass == pytest.approx([1.0 / cloth.mass[:2].sum(), 0.0])
    after, stuck = collisions.resolve(known, np.ones(9))
    assert np.allclose(after, [X + Z, Z]) and not len(stuck)


def test_what_meets_a_body_that_moves_rides_along_and_has_no_tries_left():
    zones, found = guard.single_zones(np.zeros((4, 3)), np.zeros((4, 3))), [(np.array([[0, 1, 2, 3]]), [0], [0.1])]
    zones.parent[:], zones.share[0], tries = 0, 0.1, np.zeros(4, np.int64)
    assert clusters.try_again(zones, found, tries) and tries[0] == 1 and zones.share[0] == 1.0
    zones.lead[0], zones.share[0] = 7, 0.1
    assert clusters.try_again(zones, found, tries) and tries[0] > clusters.TRIES and zones.share[0] == 0.1
    assert not clusters.try_again(zones, found, tries)


def hairpins():
    """Two strips of cloth, each folded back on itself, one across the other and 4 mm above it."""

    def fold(x):
        after = np.maximum(x[:, 0], 0.0)
        return np.stack([np.minimum(x[:, 0], 0.0) - after, x[:, 1], 0.004 * np.minimum(after / 0.02, 1.0)], axis=1)

    def over(x):
        return fold(x)[:, [1, 0, 2]] * [1.0, -1.0, 1.0] + [-0.05, -0.05, 0.008]

    return build([sheet("A", 12, 5, 0.02, fold), sheet("B", 12, 5, 0.02, over, mass=0.4)], Settings())


def guarded(cloth, start, x, monkeypatch):
    """x after the guard, of which only parting zones is left; and how often zones were parted."""
    tries = []
    monkeypatch.setattr(clusters, "STUCK", 2.0)
    again = clusters.try_again
    monkeypatch.setattr(clusters, "try_again", lambda *given: (again(*given), tries.append(given[2].max()))[0])
    pairs = contact.detect(cloth, start, (x - start) / DT, DT, Settings())
    pairs.elapsed = DT
    contact._guard(pairs, None, None, cloth, start, x, start.copy(), DT)
    return max(tries, default=0)


def test_folded_cloths_that_collide_keep_their_momentum_and_slide(monkeypatch):
    cloth, state = hairpins()
    start, x = state.x.copy(), state.x.copy()
    assert count_in(cloth, start, ()) == (0, 0, 0)
    upper = cloth.garment == 1
    x[upper] += [0.006, 0.0, -0.012]
    wanted = cloth.mass @ (x - start)
    assert 1 <= guarded(cloth, start, x, monkeypatch) <= clusters.TRIES
    assert np.abs(cloth.mass @ (x - start) - wanted).max() < 1e-12 * np.abs(wanted).max()
    assert count_in(cloth, x, ()) == (0, 0, 0)
    slide = (x - start)[upper, 0].mean() - (x - start)[~upper, 0].mean()
    assert slide > 0.5 * 0.006, "as one piece nothing would slide"


@pytest.mark.parametrize(("turn", "way"), [(0.0, (0.0, 0.0, 0.0)), (1.0, (0.5, 0.0, 1.0))])
def test_nothing_crosses_where_all_zones_are_parted(turn, way, monkeypatch):
    """Particles are thrown anywhere, beside a body that flies and turns; every zone has its tries."""
    monkeypatch.setattr(clusters, "STUCK", 2.0)
    mesh = solids.random_closed(np.random.default_rng(1), 0)
    mesh = mesh[0] * (0.06 / np.abs(mesh[0]).max()), mesh[1]
    cloth, state, collider, bodies = scene(mesh, turn, way)
    watch, x, rng = body_guard.watch(cloth, bodies), state.x, np.random.default_rng(0)
    pairs = contact.detect(cloth, x, state.v, DT, Settings())
    for number in range(6):
        start, x_prev, watch.times = x.copy(), x.copy(), (number / 10, (number + 1) / 10)
        if not contact.is_current(pairs, cloth, x, state.v, DT):
            pairs = contact.detect(cloth, x, state.v, DT, Settings())
        x += 0.03 * rng.normal(size=x.shape) * rng.uniform(size=(len(x), 1)) ** 4 - [0, 0, 0.01]
        body._move(bodies, cloth, *watch.times)
        contact.respond(pairs, watch, cloth, start, x, x_prev, DT)
        assert np.isfinite(x).all() and not watch.tangled.any()
        assert count_in(cloth, x, (at(collider, (number + 1) / 10),)) == (0, 0, 0)
