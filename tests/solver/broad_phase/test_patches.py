# SPDX-License-Identifier: GPL-3.0-or-later
"""Patches cover a cloth, know their neighbours, and leave out only pairs of triangles that lie side by side."""

import weakref

import numpy as np
from naive import garment
from naive import sheet as naive_sheet
from taffeta.solver.broad_phase.boxes import still_boxes
from taffeta.solver.broad_phase.patches import PATCH_SIZE, Ahead, make_patches, pairs_around, patches_of, triangle_pairs
from taffeta.solver.build import build
from taffeta.solver.model import Settings


def sheet(*counts, **values):
    return naive_sheet(*counts, self_collision=True, **values)


def fan():
    """Five triangles round one edge, and one apart: an edge with more than two faces."""
    x = np.array(
        [[0, 0, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0], [1, 1, 0], [5, 5, 5], [6, 5, 5], [5, 6, 5]]
    )
    return garment(x * 0.1, np.array([[0, 1, k] for k in (2, 3, 4, 5, 6)] + [[7, 8, 9]]), self_collision=True)


def cloths():
    return [build(garments, Settings())[0] for garments in ([sheet(9, 7)], [sheet(4, 3), sheet(8, 8)], [fan()])]


def test_every_triangle_is_in_one_connected_patch():
    for cloth in cloths():
        patches = patches_of(cloth)
        assert sorted(patches.triangles.tolist()) == list(range(len(cloth.triangles)))
        for start, end in zip(patches.start[:-1], patches.start[1:], strict=True):
            members = patches.triangles[start:end]
            assert 1 <= len(members) <= PATCH_SIZE
            reached = set(cloth.triangles[members[0]])
            for triangle in members[1:]:  # grown over edges, so each shares two vertices with those before
                assert len(reached & set(cloth.triangles[triangle])) >= 2
                reached |= set(cloth.triangles[triangle])


def test_every_vertex_and_edge_has_one_owner():
    for cloth in cloths():
        owned = patches_of(cloth).owned
        vertices, edges = [], []
        for triangle, bits in zip(cloth.triangles.tolist(), owned.tolist(), strict=True):
            vertices += [triangle[corner] for corner in range(3) if bits >> corner & 1]
            edges += [frozenset((triangle[c], triangle[(c + 1) % 3])) for c in range(3) if bits >> (3 + c) & 1]
        assert sorted(vertices) == np.unique(cloth.triangles).tolist()
        every = {frozenset((t[c], t[(c + 1) % 3])) for t in cloth.triangles.tolist() for c in range(3)}
        assert len(edges) == len(every) and set(edges) == every


def test_neighbours_are_the_patches_that_share_a_vertex():
    for cloth in cloths():
        patches = patches_of(cloth)
        count = len(patches.start) - 1
        corners = [
            set(cloth.triangles[patches.triangles[patches.start[p] : patches.start[p + 1]]].ravel())
            for p in range(count)
        ]
        wanted = [p * count + q for p in range(count) for q in range(p + 1, count) if corners[p] & corners[q]]
        assert patches.neighbours.tolist() == wanted


def test_patches_are_made_once_for_a_cloth_and_not_kept_for_ever():
    cloth = cloths()[0]
    made = patches_of(cloth)
    assert patches_of(cloth._replace(mass=cloth.mass * 2)) is made
    gone = weakref.ref(made.start)
    del made
    for count in range(3, 9):
        patches_of(build([sheet(count, 2)], Settings())[0])
    assert gone() is None


def found(cloth, x, widen, is_flat, cone=0.8):
    corners = x[cloth.triangles]
    boxes = np.concatenate([corners.min(axis=1) - widen, corners.max(axis=1) + widen], axis=1)
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    ahead = Ahead(still_boxes(boxes), normals[:, None], is_flat)
    pairs, _ = triangle_pairs(cloth, ahead, cone, "TREE")
    assert np.array_equal(triangle_pairs(cloth, ahead, cone, "HASH")[0], pairs)
    meet = (boxes[:, None, :3] <= boxes[None, :, 3:]).all(axis=2)
    meet &= meet.T
    every = {(a, b) for a, b in np.argwhere(np.triu(meet, 1)).tolist()}
    answer = {(min(a, b), max(a, b)) for a, b in pairs.tolist()}
    assert len(answer) == len(pairs)
    return answer, every


def test_where_nothing_is_flat_every_overlapping_pair_is_found():
    rng = np.random.default_rng(4)
    for cloth in cloths():
        x = cloth.x_rest + rng.normal(size=cloth.x_rest.shape) * 0.05
        answer, every = found(cloth, x, 0.02, np.zeros(len(x), np.bool_))
        assert answer == every and len(every) > 3


def test_a_flat_sheet_has_hardly_a_pair_and_two_layers_have_those_between_them():
    one, _ = build([sheet(20, 20)], Settings())
    answer, every = found(one, one.x_rest, 0.01, np.ones(400, np.bool_))
    assert len(answer) < 0.1 * len(every)
    two, _ = build([sheet(20, 20), sheet(20, 20)], Settings())
    x = two.x_rest + np.where(np.arange(800) < 400, 0.0, 0.005)[:, None] * [0.3, 0.2, 1.0]
    answer, every = found(two, x, 0.004, np.ones(800, np.bool_))
    between = {(a, b) for a, b in every if two.garment[two.triangles[a, 0]] != two.garment[two.triangles[b, 0]]}
    assert between <= answer and len(between) > 722
    assert len(answer - between) < 0.1 * len(every - between)


def test_a_folded_sheet_keeps_the_pairs_of_its_layers():
    """A sheet folded over in the middle with all vertices called flat: only directions tell the layers apart."""
    cloth, _ = build([sheet(21, 6, width=1.0, height=0.3)], Settings())
    x = cloth.x_rest.copy()
    upper = x[:, 0] > 0.5 + 1e-9
    x[upper] = np.stack([1.0 - x[upper, 0], x[upper, 1], x[upper, 2] + 0.004], axis=1)
    answer, every = found(cloth, x, 0.003, np.ones(len(x), np.bool_))
    is_upper = upper[cloth.triangles].any(axis=1)
    assert {(a, b) for a, b in every if is_upper[a] != is_upper[b]} <= answer


def test_boxes_that_are_not_finite_meet_nothing_and_hide_only_their_patch():
    cloth, _ = build([sheet(20, 20)], Settings())
    x = cloth.x_rest.copy()
    x[0] = np.nan
    with np.errstate(invalid="ignore"):
        answer, every = found(cloth, x, 0.02, np.zeros(400, np.bool_))
    assert answer <= every and len(answer) > 0.8 * len(every)


def test_pairs_around_particles_out_of_bounds_are_all_that_their_triangles_overlap():
    rng = np.random.default_rng(6)
    for cloth in cloths():
        count = len(cloth.x_rest)
        x = cloth.x_rest + rng.normal(size=(count, 3)) * 0.05
        around = np.concatenate([x - 0.02, x + 0.02], axis=1)
        corners = around[cloth.triangles]
        boxes = np.concatenate([corners[:, :, :3].min(axis=1), corners[:, :, 3:].max(axis=1)], axis=1)
        normals = np.zeros((len(boxes), 1, 3))
        restless = np.zeros(count, np.bool_)
        _, bounds = triangle_pairs(cloth, Ahead(still_boxes(boxes), normals, restless), 0.8)
        is_out = np.arange(count) % 7 == 0
        around[is_out] += np.array([-0.3, 0.0, 0.0, 0.1, 0.0, 0.2])
        changed = is_out[cloth.triangles].any(axis=1)
        corners = around[cloth.triangles]
        boxes = np.concatenate([corners[:, :, :3].min(axis=1), corners[:, :, 3:].max(axis=1)], axis=1)
        found = pairs_around(cloth, changed, Ahead(still_boxes(boxes), normals, restless), 0.8, bounds)
        pairs = [tuple(sorted(pair)) for pair in found.tolist()]
        meet = (boxes[:, None, :3] <= boxes[None, :, 3:]).all(axis=2)
        meet &= meet.T & (changed[:, None] | changed[None])
        assert sorted(pairs) == [tuple(pair) for pair in np.argwhere(np.triu(meet, 1)).tolist()]


def no_sheet(triangles):
    """Vertices round which these triangles are not one sheet."""
    triangles = np.array(triangles, np.int32)
    return set(make_patches(triangles, np.zeros(triangles.max() + 1, np.int32)).no_sheet.tolist())


def test_where_cloth_is_more_than_one_sheet():
    """Else what folds over there would count as lying beside the rest: a pocket, faces turned against each other, a tip."""
    flat = build([sheet(5, 5)], Settings())[0].triangles
    rim = {v for v in range(25) if v // 5 in (0, 4) or v % 5 in (0, 4)}
    assert no_sheet(flat) == rim
    assert no_sheet(flat[:, ::-1]) == rim, "turned, all of it"
    flap = [[11, 12, 25], [12, 26, 25]]
    assert no_sheet([*flat.tolist(), *flap]) == rim | {11, 12, 25, 26}
    turned = flat.tolist()
    at = next(k for k, corners in enumerate(turned) if 12 in corners)
    turned[at] = turned[at][::-1]
    assert no_sheet(turned) == rim | set(turned[at])
    tip = [[12, 25, 26], [12, 26, 27], [12, 27, 25], [25, 27, 26]]
    assert no_sheet([*flat.tolist(), *tip]) == rim | {12}
