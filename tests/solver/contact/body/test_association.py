# SPDX-License-Identifier: GPL-3.0-or-later
"""What a point is told by the image of moving bodies, against brute force: complete, at every moment."""

from typing import NamedTuple

import numpy as np
import pytest
from scipy.spatial import cKDTree
from solids import torus
from taffeta.solver.contact.body.association import (
    FASTEST,
    MOST_CANDIDATES,
    RATE,
    SKIN,
    THERE,
    Image,
    associate,
    make_candidates,
    make_scratch,
)
from taffeta.solver.contact.body.cell_grid import CELL_DRAWN, Box, make_cells
from taffeta.solver.contact.body.motion import find_near, find_trajectories, make_trajectories, move
from taffeta.solver.geometry.moving_triangle import MOTION, distance_to
from taffeta.solver.kernel.jit import counted_njit
from taffeta.solver.ldi.rasterise import render_motion


class Moving(NamedTuple):
    """All that `associate` wants of bodies."""

    triangles: np.ndarray
    motions: np.ndarray


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
            surface = cKDTree(np.einsum("wk,tkd->twd", corner, motions[:, :MOTION][triangles]).reshape(-1, 3))
            for p in np.flatnonzero(radius > 0):  # the others know that they must ask for a shorter time
                # stray as far as the skin allows, towards the body
                here = points[p] + moment * rate[p]
                away = surface.data[surface.query(here)[1]] - here
                here += away * radius[p] / np.linalg.norm(away)
                distance = _distances(triangles, motions, 0.0, here)
                assert set(np.flatnonzero(distance < aura)) <= found[p], (resolution, p, moment)
                count = candidates.count[p]
                known = candidates.triangles[p, :count]
                bound = candidates.distance[p, :count].astype(float) - moment * candidates.asked[p, FASTEST]
                assert (distance[known] > bound - radius[p] - 1e-9).all()


def test_what_a_point_remembers_takes_284_bytes():
    assert sum(array.nbytes for array in make_candidates(100)) == 28400


@counted_njit
def _distances(triangles, motions, tau, p):
    out = np.empty(len(triangles))
    for t in range(len(triangles)):
        out[t] = distance_to(triangles, motions, t, tau, p[0], p[1], p[2])
    return out


@counted_njit
def _associate(bodies, image, candidates, scratch, points, rate, skin):
    for p in range(len(points)):
        for axis in range(3):
            scratch.at[THERE, axis], scratch.at[RATE, axis] = points[p, axis], rate[p, axis]
        associate(bodies, image, candidates, scratch, p, 0.0, 1.0, skin)


def _everywhere(domain, aura):
    cells = make_cells(domain, aura)
    cells.flags[:] = CELL_DRAWN
    return cells


def _ask(samples, bulk, triangles, points, rate, aura, skin, resolution):
    """Candidates (sets) and skins of points that ask about one body over the whole frame, and all that they remember."""
    trajectories = make_trajectories(samples.shape[1])
    find_trajectories(samples, np.zeros(3), 0, 0.0, 1.0, bulk, trajectories)
    whole = _everywhere(Box(np.full(3, -1e9), np.full(3, 1e9)), 0.0)
    near = find_near(triangles, trajectories, whole, np.zeros(len(triangles), bool))
    low, high = near.swept
    ldi = render_motion(trajectories, triangles, near.triangles, low, high, resolution)
    pixels = ldi.low, ldi.pixel, ldi.shape, ldi.first_pixel, ldi.pixel_start, ldi.depth, ldi.triangle
    far = Box(low - 10, high + 10)
    about = bulk, aura, float(near.growth.max()), 0.0, 0, far, _everywhere(far, aura), False
    image, candidates = Image(*pixels, near.triangles, near.spheres, *about), make_candidates(len(points))
    motions = np.empty((samples.shape[1], 6))
    move(samples, np.zeros(3), 0, np.arange(len(motions)), 0.0, 1.0, motions)
    scratch = make_scratch(len(triangles))
    _associate(Moving(triangles, motions), image, candidates, scratch, points, rate, skin)
    found = [set(candidates.triangles[p, : candidates.count[p]].tolist()) for p in range(len(points))]
    kept = candidates.asked[:, SKIN]
    assert ((kept == skin) | (candidates.count == MOST_CANDIDATES)).all()
    return found, kept, candidates
