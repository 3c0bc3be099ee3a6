# SPDX-License-Identifier: GPL-3.0-or-later
"""Layered depth images against rays and brute force: watertight, complete, each triangle once, the same every time."""

import numpy as np
import pytest
from scipy.spatial import cKDTree
from solids import random_closed, torus
from taffeta.solver.contact.moving_triangle import closest
from taffeta.solver.jit import counted_njit
from taffeta.solver.ldi.cells import DRAWN, make_cells
from taffeta.solver.ldi.centres import THREE_DIRECTIONS, THREE_FULL, render
from taffeta.solver.ldi.query import CAPACITY, SCRATCH, associate, count_windings, make_candidates
from taffeta.solver.ldi.rasterise import render_motion
from taffeta.solver.ldi.ways import find_near, find_ways, move


def test_every_ray_enters_as_often_as_it_leaves():
    """1,000 closed meshes, seen along all three axes."""
    rng = np.random.default_rng(1)
    total, clear = 0, 0
    for number in range(1000):
        x, triangles = random_closed(rng, number)
        low, high = x.min(0), x.max(0)
        if number % 2:  # pixel borders on vertices, and a box smaller than the body
            low, high = low - 0.25, low + 1.75
        if number % 12 == 0:  # edges that meet pixel centres on paper and miss them by rounding
            x = np.round(x * 10) / 30
            low, high = np.floor(x.min(0) * 2) / 2, np.floor(x.min(0) * 2) / 2 + 1.6
        image = render(x, triangles, low, high, 16, THREE_FULL)
        count = np.diff(image.pixel_start)
        assert (count % 2 == 0).all()
        fronts = np.diff(np.r_[0, np.cumsum(image.front)][image.pixel_start])
        assert (2 * fronts == count).all()
        pixel = np.repeat(np.arange(len(count)), count)
        gap = np.where(np.diff(pixel) == 0, np.diff(image.depth), np.inf)
        assert (gap >= 0).all()
        close = np.isin(pixel, pixel[1:][gap < 1e-9])  # two faces that meet at this very depth may come in either order
        enters = (np.arange(len(pixel)) - image.pixel_start[pixel]) % 2 == 0
        assert (image.front == enters)[~close].all()
        total, clear = total + len(pixel), clear + (~close).sum()
    assert total > 150_000 and clear > 0.97 * total


def test_three_full_images_are_three_plain_ones():
    x, triangles = torus()
    low, high = x.min(0) - 0.1, x.max(0) + 0.2
    full = render(x, triangles, low, high, 40, THREE_FULL)
    for d in range(3):
        plain = render(x, triangles, low, high, 40, d)
        first, last = full.pixel_start[full.first_pixel[d : d + 2]]
        assert len(plain.depth) == last - first > 0
        for field in ("depth", "triangle", "front"):
            assert np.array_equal(getattr(full, field)[first:last], getattr(plain, field)), field


def test_depths_lie_on_the_triangles():
    x, triangles = torus()
    low, high = x.min(0), x.max(0)
    for direction in range(3):
        a, b = (direction + 1) % 3, (direction + 2) % 3
        image = render(x, triangles, low, high, 64, direction)
        pixel = np.repeat(np.arange(len(image.pixel_start) - 1), np.diff(image.pixel_start))
        column, row = np.divmod(pixel, image.shape[b])
        p = x[triangles[image.triangle]]
        n = np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])
        hit = np.empty((len(pixel), 3))
        hit[:, a] = low[a] + (column + 0.5) * image.pixel
        hit[:, b] = low[b] + (row + 0.5) * image.pixel
        hit[:, direction] = image.depth
        steep = np.abs(n[:, direction]) < 0.02 * np.linalg.norm(n, axis=1)
        off = np.einsum("hd,hd->h", hit - p[:, 0], n) / np.linalg.norm(n, axis=1)
        assert np.abs(off[~steep]).max() < 1e-12
        assert (image.front == (n[:, direction] < 0))[~steep].all()
    ring = np.hypot(hit[:, 0], hit[:, 1]) - 0.6
    assert np.median(np.abs(np.hypot(ring, hit[:, 2]) - 0.25)) < 1.5e-3  # the faceting of 40 by 40
    assert image.first_pixel.tolist() == [0, 0, 0, 64 * 64]  # z looks at x and y; the others are empty
    assert np.diff(image.pixel_start).max() == 2


def test_three_directions_take_each_triangle_along_its_normal():
    x, triangles = torus()
    low, high = x.min(0), x.max(0)
    image = render(x, triangles, low, high, 256)
    p = x[triangles]
    main = np.abs(np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])).argmax(1)
    pixel = np.repeat(np.arange(len(image.pixel_start) - 1), np.diff(image.pixel_start))
    direction = np.searchsorted(image.first_pixel, pixel, side="right") - 1
    assert (direction == main[image.triangle]).all()
    assert len(np.unique(image.triangle)) == len(triangles)  # at 256 none is too small to be seen
    full = sum(len(render(x, triangles, low, high, 256, d).depth) for d in range(3))
    assert len(image.depth) < 0.6 * full


@pytest.mark.parametrize("bend", [0.0, 0.3])
def test_nothing_is_left_out_within_reach(bend):
    """Every triangle whose way comes near a point's way is a candidate, or the point knows that its list is short.

    With `bend` the bodies' way has a corner in the middle of the frame. The bounds hold at every moment.
    """
    rng = np.random.default_rng(3)
    body, triangles = torus(24, 16)
    corner = np.array([(i, j, 9 - i - j) for i in range(10) for j in range(10 - i)]) / 9
    for resolution, speed in ((8, 0.0), (32, 0.02), (64, 0.06)):
        path = speed * rng.normal(size=3) + speed * np.cross(rng.normal(size=3), body)
        aside = bend * speed * rng.normal(size=3) + bend * speed * np.cross(rng.normal(size=3), body)
        samples = np.stack([body, body + 0.5 * path + aside, body + path])
        bulk = speed * rng.normal(size=3)
        aura, skin = 0.02, 0.03
        points = rng.uniform([-1, -1, -0.4], [1, 1, 0.4], (400, 3))
        rate = path[rng.integers(len(body), size=400)] + 0.3 * speed * rng.normal(size=(400, 3))
        rate[::2] = bulk  # at rest in the frame of reference: the bodies' own growth must find them
        found, radius, candidates = _ask(samples, bulk, triangles, points, rate, aura, skin, resolution)
        assert (radius == skin).mean() > 0.3 and (radius > 0).mean() > 0.4
        for moment in (0.0, 0.3, 0.5, 1.0):
            motions = np.empty((len(body), 6))
            move(samples, np.zeros(3), 0, np.arange(len(body)), moment, 1.0, motions)
            surface = cKDTree(np.einsum("wk,tkd->twd", corner, motions[:, :3][triangles]).reshape(-1, 3))
            for p in np.flatnonzero(radius > 0):  # the others know that they must ask for a shorter time
                # stray as far as the skin allows, towards the body
                here = points[p] + moment * rate[p]
                away = surface.data[surface.query(here)[1]] - here
                here += away * radius[p] / np.linalg.norm(away)
                distance = _distances(triangles, motions, 0.0, here)
                assert set(np.flatnonzero(distance < aura)) <= found[p], (resolution, p, moment)
                count = candidates.count[p]
                known, keys = candidates.triangles[p, :count], candidates.key[p, :count]
                assert (distance[known] > keys[:, 0] - moment * keys[:, 1] - radius[p] - 1e-9).all()


@counted_njit
def _distances(triangles, motions, tau, p):
    out = np.empty(len(triangles))
    for t in range(len(triangles)):
        out[t] = closest(triangles, motions, t, tau, p[0], p[1], p[2])[0]
    return out


@counted_njit
def _associate(bodies, image, candidates, points, rate, skin):
    at, seen = np.empty(SCRATCH), np.zeros(len(bodies[0]) + 1, np.int32)
    for p in range(len(points)):
        position, way = points[p], rate[p]
        associate(
            bodies, image, candidates, seen, at, p, 0.0, position[0], position[1], position[2], way[0], way[1], way[2], 1.0, skin
        )  # fmt: skip


def _view(samples, bulk, triangles):
    """(ways, near, ball, box) of one body over the whole frame, everywhere."""
    ways, everywhere = np.empty((samples.shape[1], 8)), np.array([[-1e9] * 3, [1e9] * 3])
    find_ways(samples, np.zeros(3), 0, 0.0, 1.0, bulk, ways)
    near, ball, box = np.empty(len(triangles), np.int32), np.empty((len(triangles), 10)), np.empty((3, 3))
    span, used = np.empty((len(ways), 6), np.int16), np.empty(len(ways), np.int8)
    cells = make_cells(everywhere, 0.0)
    cells.flags[:] = DRAWN
    grid = cells.low, cells.size, cells.shape, cells.flags
    drawn = np.zeros(len(triangles), bool)
    near = near[: find_near(triangles, ways, *grid, drawn, near, ball, span, used, box)]
    return ways, near, ball, box


def _ask(samples, bulk, triangles, points, rate, aura, skin, resolution):
    ways, near, ball, box = _view(samples, bulk, triangles)
    ldi = render_motion(ways, triangles, near, box[0], box[1], resolution)
    far = np.array([box[0] - 10, box[1] + 10])
    cells = make_cells(far, aura)
    cells.flags[:] = DRAWN
    lengths, about = (ldi.pixel, aura, box[2].max()), (0.0, 0.0, cells.size)
    frame = np.stack([bulk, box[0], ldi.shape, *far, lengths, about, cells.shape])
    candidates = make_candidates(len(points))
    motions = np.empty((samples.shape[1], 6))
    move(samples, np.zeros(3), 0, np.arange(len(motions)), 0.0, 1.0, motions)
    _associate((triangles, motions), (*ldi[3:7], near, ball, frame, cells.flags), tuple(candidates), points, rate, skin)
    found = [set(candidates.triangles[p, : candidates.count[p]].tolist()) for p in range(len(points))]
    kept = candidates.memory[:, 8]
    assert ((kept == skin) | (candidates.count == CAPACITY)).all()
    return found, kept, candidates


def test_windings_know_the_inside():
    rng = np.random.default_rng(4)
    x, triangles = torus(60, 40)
    points = rng.uniform(-1, 1, (4000, 3)) * [0.9, 0.9, 0.3]
    depth = 0.25 - np.hypot(np.hypot(points[:, 0], points[:, 1]) - 0.6, points[:, 2])
    clear = np.abs(depth) > 0.002  # farther from the surface than the facets
    windings = np.zeros(len(points), np.int32)
    count_windings(x, triangles, np.ones(len(triangles), bool), points, 64, windings)
    assert (windings == (depth > 0))[clear].all()
    twice = np.concatenate([triangles, triangles + len(x)]).astype(np.int32)
    both = np.zeros_like(windings)
    count_windings(np.concatenate([x, x]), twice, np.ones(len(twice), bool), points, 7, both)
    assert (both == 2 * windings).all()
    count_windings(x, triangles[:, ::-1].copy(), np.ones(len(triangles), bool), points, 64, both)
    assert (both == -windings).all()


@pytest.mark.parametrize("direction", [THREE_DIRECTIONS, 1])
def test_same_bits_for_any_split(direction, monkeypatch):
    from taffeta.solver.ldi import rasterise

    x, triangles = torus(80, 80)
    once = render(x, triangles, x.min(0), x.max(0), 64, direction)
    ways, near, _, box = _view(np.stack([x, 1.02 * x]), np.zeros(3), triangles)
    moved = render_motion(ways, triangles, near, box[0], box[1], 64)
    monkeypatch.setattr(rasterise, "SMALLEST_PART", 1)
    monkeypatch.setattr("taffeta.solver.threads.thread_count", lambda: 7)
    for first, second in (
        (once, render(x, triangles, x.min(0), x.max(0), 64, direction)),
        (moved, render_motion(ways, triangles, near, box[0], box[1], 64)),
    ):
        for field in first._fields:
            assert np.array_equal(getattr(first, field), getattr(second, field)), field


def test_odd_meshes():
    empty = render(np.zeros((0, 3)), np.zeros((0, 3), np.int32), np.zeros(3), np.ones(3), 8)
    assert len(empty.depth) == 0
    x = np.array([[0.0, 0, 0], [1, 0, 0], [0.5, 0, 0], [0, 1, 0]])
    triangles = np.array([[0, 1, 2], [0, 0, 1], [0, 1, 3]], np.int32)
    image = render(x, triangles, x.min(0), x.max(0), 8)  # a flat box: one pixel thick
    assert set(image.triangle) == {2} and (image.depth == 0).all()
    ways, near, _, box = _view(x[None], np.zeros(3), triangles)
    image = render_motion(ways, triangles, near, box[0], box[1], 8)
    assert set(image.triangle) == {2}
