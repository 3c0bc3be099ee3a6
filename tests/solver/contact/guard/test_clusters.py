# SPDX-License-Identifier: GPL-3.0-or-later
"""Impact zones in parts: what a cluster is, and folded cloths that fly into each other."""

import numpy as np
import pytest
from crossings import count_in
from sheets import sheet
from taffeta.solver.build import build
from taffeta.solver.contact import resolve
from taffeta.solver.contact.cloth import pairs as contact
from taffeta.solver.contact.guard import cluster_impulses, clusters, impact_zones
from taffeta.solver.model import Settings

DT = 1 / 240
X, Y, Z = np.eye(3)


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
    after, stuck = cluster_impulses.apply_impulses(known, np.ones(9))
    assert np.allclose(after, [X + Z, Z]) and not len(stuck)


def test_what_meets_a_body_is_advected_with_it_and_has_no_tries_left():
    zones = impact_zones.single_zones(*np.zeros((3, 4, 3)))
    found = [impact_zones.Impacts(np.array([[0, 1, 2, 3]]), np.zeros(1, np.int32), np.array([0.1]), None, None)]
    zones.parent[:], zones.share[0], tries = 0, 0.1, np.zeros(4, np.int64)
    assert clusters.try_again(zones, found, tries) and tries[0] == 1 and zones.share[0] == 1.0
    zones.leader[0], zones.share[0] = 7, 0.1
    assert clusters.try_again(zones, found, tries) and tries[0] > clusters.PARTED_TRIES and zones.share[0] == 0.1
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
    monkeypatch.setattr(clusters, "LEAST_WHOLE_SHARE", 2.0)
    again = clusters.try_again
    monkeypatch.setattr(clusters, "try_again", lambda *given: (again(*given), tries.append(given[2].max()))[0])
    pairs = contact.detect(cloth, start, (x - start) / DT, DT, Settings())
    pairs.elapsed = DT
    resolve.guard(pairs, None, None, cloth, (0.0, 1.0), start, x, start.copy(), DT)
    return max(tries, default=0)


def test_folded_cloths_that_collide_keep_their_momentum_and_slide(monkeypatch):
    cloth, state = hairpins()
    start, x = state.x.copy(), state.x.copy()
    assert count_in(cloth, start, ()) == (0, 0, 0)
    upper = cloth.garment == 1
    x[upper] += [0.006, 0.0, -0.012]
    wanted = cloth.mass @ (x - start)
    assert 1 <= guarded(cloth, start, x, monkeypatch) <= clusters.PARTED_TRIES
    assert np.abs(cloth.mass @ (x - start) - wanted).max() < 1e-12 * np.abs(wanted).max()
    assert count_in(cloth, x, ()) == (0, 0, 0)
    slide = (x - start)[upper, 0].mean() - (x - start)[~upper, 0].mean()
    assert slide > 0.5 * 0.006, "as one piece nothing would slide"
