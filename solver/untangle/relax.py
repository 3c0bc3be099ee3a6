# SPDX-License-Identifier: GPL-3.0-or-later
"""Moving garments onto their untangled surfaces: gradient and tangential relaxation in turn (Buffet 2021, 2.4).

What differs from the thesis, which takes a layer into account up to where its co-variant field is 0 and not at all
beyond, so that cloth under a hem is bent sharply (its figure 2.14):

- tangential relaxation looks at lengths alone: edges that are turned into the surface as well, as in ARAP (2.4.3), come out
  closer to their lengths by 1 % at most (benchmarks/untangle.py --rotations, docs/untangle.md);
- past its border a layer's weight and thickness fade within a distance, and so does the dent that it makes;
- a layer counts only where it faces the same way as the one that is moved, and not deeper than `depth`; and a patch of
  a garment that much of faces the other way is one that lies beside that layer, as a sleeve hangs beside a vest.

A body counts whichever way cloth in it faces: it pushes out.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from ..kernel.jit import counted_njit, inner, njit
from ..kernel.threads import cut, on_threads
from .distance_grid import Grid, look_up
from .operator import signed_distance

GRADIENT_STEPS = 10  # each followed by tangential ones
TANGENTIAL_STEPS = 3  # after each of them
LAST_GRADIENT_STEPS = 4  # alone, in the end
GRADIENT_STEP = 0.7  # part of the way to the zero set in a step
FACING_FROM, FACING_FULLY = -0.3, 0.1  # cosines between two layers' gradients from which they count, and count fully
BESIDE_SHARE = 0.25  # part of a patch that has to face a layer for the patch to lie beside it
LEAST_WEIGHT = 0.01  # over full weight, below which a layer is left out
FACES_ALIKE, FACES_AGAINST = 1, 2  # how a vertex faces a layer that it is near; 0: it is near none
FLATTEST_SLOPE = 1e-4  # square of the operator's gradient from which it says where to go
SMALLEST_STEP = 1e-7  # [m] from the zero set that a vertex stays at
MOST_CELLS = 2.0  # that one step may go
SMALLEST_VERTICES = 2000  # that a thread takes


class Wear(NamedTuple):
    """What the kernels know of the layers, innermost first."""

    weight: np.ndarray  # (layers,) rigidity
    depth: float  # [m] that layers may be in each other
    rim: float  # [m] past its border, up to which a layer counts fully
    fade: float  # [m] from there on, within which it ceases to


class Sheet(NamedTuple):
    """The vertices of all garments."""

    layer: np.ndarray  # (n,) int32
    half: np.ndarray  # (n,) [m] half the thickness
    start: np.ndarray  # (n + 1,) first neighbour
    neighbour: np.ndarray  # (k,) int32
    length: np.ndarray  # (k,) [m] of the edge to it at rest


@inner
def _smooth(t):
    """0 below 0, 1 above 1, without a kink."""
    t = min(max(t, 0.0), 1.0)
    return t * t * (3.0 - 2.0 * t)


@inner
def _facing(slope, own, layer):
    """Cosine of the angle between two layers' gradients."""
    sx, sy, sz = slope[layer, 0], slope[layer, 1], slope[layer, 2]
    ox, oy, oz = slope[own, 0], slope[own, 1], slope[own, 2]
    size = math.sqrt((sx * sx + sy * sy + sz * sz) * (ox * ox + oy * oy + oz * oz))
    return (sx * ox + sy * oy + sz * oz) / max(size, 1e-30)


@inner
def _choose_active(f, slope, h, half, own, layer_count, wear, beside, i, active, value, weight):
    """The layers that count at a point and their offset fields (2.12, 2.13); returns how many, and which is the own.
    # outputs: active, value, weight
    """
    count = 0
    at = 0
    for layer in range(layer_count):
        share = 1.0
        if layer != own:
            if beside[i, layer]:
                share = 0.0
            elif layer > 0:
                share = _smooth((_facing(slope, own, layer) - FACING_FROM) / (FACING_FULLY - FACING_FROM))
            share *= 1.0 - _smooth((h[layer] - wear.rim) / wear.fade)
            share *= 1.0 - _smooth(4.0 * abs(f[layer]) / wear.depth - 3.0)
        if share > LEAST_WEIGHT:
            if layer == own:
                at = count
            active[count] = layer
            # In series with what is missing of the whole, so that rigid layers fade as soft ones do.
            weight[count] = share / (1.0 / wear.weight[layer] + 1.0 - share)
            value[count] = f[layer]
            h[count] = share * half[layer]  # read above already, and count <= layer
            count += 1
    offset = h[at]
    for k in range(at + 1, count):
        value[k] += offset + h[k]
        offset += 2.0 * h[k]
    offset = h[at]
    for k in range(at - 1, -1, -1):
        value[k] -= offset + h[k]
        offset += 2.0 * h[k]
    return count, at


@counted_njit
def _gradient_kernel(first, last, x, sheet, iso, beside, wear, grid, part, normal):
    """A step of each vertex towards where its layer may be; 60 flops and 128 bytes a layer, and the operator's.
    # outputs: x[first:last]; normal (n, 3) of the untangled surface
    """
    layer_count = len(wear.weight)
    f, h, slope, half = np.empty(layer_count), np.empty(layer_count), np.empty((layer_count, 3)), np.empty(layer_count)
    active, start = np.empty(layer_count, np.int64), np.empty(layer_count, np.int64)
    value, weight, gradient = np.empty(layer_count), np.empty(layer_count), np.empty(layer_count)
    m, up, down = np.empty(layer_count), np.empty(layer_count), np.empty(layer_count)
    for i in range(first, last):
        own = sheet.layer[i]
        look_up(grid, x[i, 0], x[i, 1], x[i, 2], f, slope, h, half)
        f[own] -= iso[i]
        half[own] = sheet.half[i]
        count, at = _choose_active(f, slope, h, half, own, layer_count, wear, beside, i, active, value, weight)
        distance = signed_distance(value, weight, count, at, gradient, m, start, up, down)
        gx, gy, gz = 0.0, 0.0, 0.0
        for k in range(count):
            gx += gradient[k] * slope[active[k], 0]
            gy += gradient[k] * slope[active[k], 1]
            gz += gradient[k] * slope[active[k], 2]
        square = gx * gx + gy * gy + gz * gz
        if square > FLATTEST_SLOPE:
            scale = 1.0 / math.sqrt(square)
            normal[i, 0], normal[i, 1], normal[i, 2] = gx * scale, gy * scale, gz * scale
            if abs(distance) > SMALLEST_STEP:
                # Cells' slopes differ: no step longer than a cell or two, or it may overshoot.
                most = MOST_CELLS * grid.step
                length = min(max(-part * distance * scale, -most), most) * scale
                x[i, 0] += length * gx
                x[i, 1] += length * gy
                x[i, 2] += length * gz


@njit
def _slide_kernel(first, last, x, sheet, normal, out):
    """A step of each vertex along its surface that brings its edges closer to their lengths.
    # outputs: out[first:last]
    """
    for i in range(first, last):
        dx, dy, dz, total = 0.0, 0.0, 0.0, 0.0
        for k in range(sheet.start[i], sheet.start[i + 1]):
            j = sheet.neighbour[k]
            ex, ey, ez = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
            size = math.sqrt(ex * ex + ey * ey + ez * ez)
            share = 0.5 * (1.0 - sheet.length[k] / max(size, 1e-30))
            dx += share * ex
            dy += share * ey
            dz += share * ez
            total += 1.0
        scale = 1.5 / max(total, 1.0)
        nx, ny, nz = normal[i, 0], normal[i, 1], normal[i, 2]
        along = dx * nx + dy * ny + dz * nz
        out[i, 0] = x[i, 0] + scale * (dx - along * nx)
        out[i, 1] = x[i, 1] + scale * (dy - along * ny)
        out[i, 2] = x[i, 2] + scale * (dz - along * nz)


@counted_njit
def _survey_kernel(first, last, x, layer, wear, grid, iso, state):
    """Each vertex' value in its own layer's field, which it is to have in the end, so that no detail is lost, and the
    other layers it is near: FACES_ALIKE where it faces as they do, FACES_AGAINST where it faces them.
    # outputs: iso[first:last], state[first:last]
    """
    layer_count = len(wear.weight)
    f, h, slope, half = np.empty(layer_count), np.empty(layer_count), np.empty((layer_count, 3)), np.empty(layer_count)
    for i in range(first, last):
        own = layer[i]
        look_up(grid, x[i, 0], x[i, 1], x[i, 2], f, slope, h, half)
        iso[i] = f[own]
        for other in range(layer_count):
            near = other > 0 and other != own and h[other] < wear.rim and abs(f[other]) < wear.depth
            state[i, other] = near * (FACES_AGAINST if _facing(slope, own, other) < 0.0 else FACES_ALIKE)


def _find_beside(sheet, state):
    """(n, layers) bool: vertices of patches that are near a layer and of which much faces it."""
    beside = np.zeros(state.shape, bool)
    rows = np.repeat(np.arange(len(sheet.layer)), np.diff(sheet.start))
    for layer in range(state.shape[1]):
        near = state[:, layer] > 0
        if not (state[:, layer] == FACES_AGAINST).any():
            continue
        joined = near[rows] & near[sheet.neighbour]
        links = rows[joined], sheet.neighbour[joined]
        graph = coo_array((np.ones(len(links[0]), np.int8), links), shape=(len(near),) * 2)
        patch = connected_components(graph, directed=False)[1]
        facing = np.bincount(patch, state[:, layer] == FACES_AGAINST)
        beside[:, layer] = near & (facing > BESIDE_SHARE * np.bincount(patch))[patch]
    return beside


def relax(x: np.ndarray, sheet: Sheet, wear: Wear, grid: Grid) -> np.ndarray:
    """Positions (n, 3) [m] of all garments' vertices where the operator's zero sets are; x is used up on the way.

    A vertex that is where it may be, and whose neighbours are, stays to the bit.
    """
    ranges = cut(len(x), SMALLEST_VERTICES)
    iso, normal, other = np.empty(len(x)), np.zeros_like(x), np.empty_like(x)
    state = np.empty((len(x), len(wear.weight)), np.uint8)
    on_threads(lambda _, a, b: _survey_kernel(a, b, x, sheet.layer, wear, grid, iso, state), ranges)
    beside = _find_beside(sheet, state)

    def approach(x, part):
        on_threads(lambda _, a, b: _gradient_kernel(a, b, x, sheet, iso, beside, wear, grid, part, normal), ranges)

    def slide(x, out):
        on_threads(lambda _, a, b: _slide_kernel(a, b, x, sheet, normal, out), ranges)

    for _ in range(GRADIENT_STEPS):
        approach(x, GRADIENT_STEP)
        for _ in range(TANGENTIAL_STEPS):
            slide(x, other)
            x, other = other, x
    for _ in range(LAST_GRADIENT_STEPS):
        approach(x, 1.0)
    return x
