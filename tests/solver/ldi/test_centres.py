# SPDX-License-Identifier: GPL-3.0-or-later
"""Layered depth images at pixel centres against rays and formulas: watertight, each triangle once."""

import numpy as np
from solids import random_closed, torus
from taffeta.solver.ldi.centres import THREE_FULL, render


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
