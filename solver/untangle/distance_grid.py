# SPDX-License-Identifier: GPL-3.0-or-later
"""The distance fields of all layers on one grid: the signed distance f of each, and its co-variant field h.

The thesis reconstructs f from samples with Hermite radial basis functions: dense systems, up to 4 s a garment, and it
found distances to do as well in a quarter of the time (Buffet 2021, 2.2 and 2.5.5). Here f is the distance to the
mesh itself, exact beside it, farther off to the triangle that its nearest neighbour beside the mesh has; past a border
f goes on as the distance from the plane of the border's triangle, so that its zero set leaves the mesh straight on.

h is negative where a layer can touch anything: at points whose nearest point lies inside the mesh, it is minus the
distance of that point from the border, past the border how far the point is from it, sideways. It needs no samples
and no system either, and it knows of every border nearby, which is why shorts over a dress are seen between the legs
(the thesis fails there: figure 2.15).

Beside both lies half the thickness that the layer has there: that of the nearest point on its mesh.

Values of all layers lie side by side, so that one look-up gives every field.
"""

from typing import NamedTuple

import numpy as np
from scipy.ndimage import distance_transform_edt, gaussian_filter

from ..geometry.distance import closest_on_triangle
from ..kernel.jit import inner, njit
from ..kernel.threads import on_threads
from .surface import Surface

SMOOTH_FROM, SMOOTH_TO = 1.5, 4.0  # cells from a surface between which f turns into its smoothed self
BESIDE_SURFACE = 1.75  # cells from a surface within which its nearest triangle is searched for
REFINED_REACH = 6.0  # cells from a surface within which that triangle is improved upon
FIELD_REACH = 16  # cells round a surface's box in which it has fields
FAR_DISTANCE = 1e3  # cells: of f and h where there is nothing
SMOOTHING = 1.2  # cells, standard deviation: folds' far fields meet in creases, along which cloth would crease
BORDER_WIDTH = 1e-3  # cells from a border, on the mesh, up to which a point counts as past it
DISTANCE, COVARIANT, HALF_THICKNESS = 0, 1, 2  # fields f and h and half the thickness, the last axis of a grid's values
FIELD_COUNT = 3
FEWEST_NODES = 4  # of a grid, on an axis
THINNEST = 0.02  # of a box's longest side, that the others count for at least
GRID_END_MARGIN = 1.000001  # nodes that a point stays off a grid's end


class Grid(NamedTuple):
    """Fields sampled at origin + step (i, j, k)."""

    origin: np.ndarray  # (3,) [m]
    step: float  # [m]
    values: np.ndarray  # (nx, ny, nz, layers, 3) float32 [m]: f, h, half the thickness


def make_grid(
    layers: list[list[Surface]], low: np.ndarray, high: np.ndarray, node_count: int, finest: float = 0.0
) -> Grid:
    """Sample the fields of all layers within a box.

    Parameters
    ----------
    layers : innermost first, each the surfaces whose union it is
    low, high : (3,) [m] corners of the box
    node_count : about how many nodes it may have
    finest : [m] between nodes, at least
    """
    size = high - low
    step = max(float(np.prod(np.maximum(size, THINNEST * size.max())) / node_count) ** (1.0 / 3.0), finest)
    shape = np.maximum(np.ceil(size / step).astype(int) + 1, FEWEST_NODES)
    values = np.full((*shape, len(layers), FIELD_COUNT), FAR_DISTANCE * step, np.float32)
    values[..., HALF_THICKNESS] = 0.0

    def fill(part, first, last):
        for layer in range(first, last):
            for surface in layers[layer]:
                _add_surface(surface, low, step, values[..., layer, :])

    half = (len(layers) + 1) // 2
    on_threads(fill, [(0, half), (half, len(layers))] if len(layers) > 1 else [(0, 1)])
    return Grid(low, step, values)


def _add_surface(surface, origin, step, values):
    """Enter f, h and half the thickness of a surface where its f is the least so far, within `FIELD_REACH` of its box."""
    end = np.array(values.shape[:3])
    first = np.clip(np.floor((surface.x.min(axis=0) - origin) / step - FIELD_REACH).astype(int), 0, end)
    last = np.clip(np.ceil((surface.x.max(axis=0) - origin) / step + FIELD_REACH).astype(int) + 1, 0, end)
    if (last - first < 1).any():
        return
    near = values[first[0] : last[0], first[1] : last[1], first[2] : last[2]]
    found = _distances(surface, origin + first * step, step, last - first)
    if found is not None:
        nearer = found[0] < near[..., DISTANCE]
        for field, own in enumerate(found):
            near[..., field] = np.where(nearer, own, near[..., field])


def _distances(surface, origin, step, shape):
    """f, h and half the thickness of one surface at the grid's nodes; None where it has no part within the grid."""
    nearest, square = np.full(shape, -1, np.int32), np.full(shape, (BESIDE_SURFACE * step) ** 2, np.float32)
    arrays = surface.x, surface.triangles, origin, step
    _splat(*arrays, nearest, square)
    if (nearest < 0).all():
        return None
    nearest = _spread(nearest)
    _refine(*arrays, nearest)
    f, h, half = (np.empty(shape, np.float32) for _ in range(FIELD_COUNT))
    border = np.minimum(surface.border, FAR_DISTANCE * step)
    _measure(*arrays, nearest, surface.normals, border, surface.half, f, h, half)
    blend = np.clip((np.abs(f) / step - SMOOTH_FROM) / (SMOOTH_TO - SMOOTH_FROM), 0.0, 1.0)
    f += blend * (gaussian_filter(f, SMOOTHING, mode="nearest", truncate=3.0) - f)
    return f, h, half


def _spread(nearest):
    """Give nodes without a triangle that of the nearest node that has one, found on cells of twice the size."""
    size = nearest.shape
    half = [(n + 1) // 2 for n in size]
    coarse = np.full((half[0], 2, half[1], 2, half[2], 2), -1, np.int32)
    coarse.reshape([2 * n for n in half])[: size[0], : size[1], : size[2]] = nearest
    coarse = coarse.max(axis=(1, 3, 5))
    beside = distance_transform_edt(coarse < 0, return_distances=False, return_indices=True)
    coarse = coarse[beside[0], beside[1], beside[2]]
    for axis in range(3):
        coarse = np.repeat(coarse, 2, axis)
    return np.where(nearest < 0, coarse[: size[0], : size[1], : size[2]], nearest)


@inner
def _square_to(x, triangles, t, px, py, pz):
    """Weights of triangle t's point nearest to p, and the squared distance."""
    a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
    wa, wb, wc, _ = closest_on_triangle(
        px, py, pz, x[a, 0], x[a, 1], x[a, 2], x[b, 0], x[b, 1], x[b, 2], x[c, 0], x[c, 1], x[c, 2]
    )
    dx = px - wa * x[a, 0] - wb * x[b, 0] - wc * x[c, 0]
    dy = py - wa * x[a, 1] - wb * x[b, 1] - wc * x[c, 1]
    dz = pz - wa * x[a, 2] - wb * x[b, 2] - wc * x[c, 2]
    return wa, wb, wc, dx, dy, dz


@njit
def _splat(x, triangles, origin, step, nearest, square):
    """Enter each triangle at the nodes of its box, a cell larger all round, where it is the nearest so far.
    # outputs: nearest, square (nx, ny, nz), which stay as they are where there is none
    """
    nx, ny, nz = nearest.shape
    for t in range(len(triangles)):
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        i0 = (min(x[a, 0], min(x[b, 0], x[c, 0])) - origin[0]) / step
        i1 = (max(x[a, 0], max(x[b, 0], x[c, 0])) - origin[0]) / step
        j0 = (min(x[a, 1], min(x[b, 1], x[c, 1])) - origin[1]) / step
        j1 = (max(x[a, 1], max(x[b, 1], x[c, 1])) - origin[1]) / step
        k0 = (min(x[a, 2], min(x[b, 2], x[c, 2])) - origin[2]) / step
        k1 = (max(x[a, 2], max(x[b, 2], x[c, 2])) - origin[2]) / step
        for i in range(max(0, int(np.floor(i0))), min(nx, int(np.floor(i1)) + 2)):
            for j in range(max(0, int(np.floor(j0))), min(ny, int(np.floor(j1)) + 2)):
                for k in range(max(0, int(np.floor(k0))), min(nz, int(np.floor(k1)) + 2)):
                    _, _, _, dx, dy, dz = _square_to(
                        x, triangles, t, origin[0] + i * step, origin[1] + j * step, origin[2] + k * step
                    )
                    d = dx * dx + dy * dy + dz * dz
                    if d < square[i, j, k]:
                        square[i, j, k] = d
                        nearest[i, j, k] = t


@njit
def _refine(x, triangles, origin, step, nearest):
    """Give each node that is near its triangle that of a neighbour where that is nearer: the nearest of the nodes
    beside the surface has not always the nearest triangle.
    # outputs: nearest
    """
    nx, ny, nz = nearest.shape
    for i in range(nx):
        for j in range(ny):
            for k in range(nz):
                px, py, pz = origin[0] + i * step, origin[1] + j * step, origin[2] + k * step
                best = nearest[i, j, k]
                _, _, _, dx, dy, dz = _square_to(x, triangles, best, px, py, pz)
                square = dx * dx + dy * dy + dz * dz
                if square > (REFINED_REACH * step) ** 2:
                    continue
                for side in range(6):
                    p, q, r = (
                        i + (side == 0) - (side == 1),
                        j + (side == 2) - (side == 3),
                        k + (side == 4) - (side == 5),
                    )
                    if 0 <= p < nx and 0 <= q < ny and 0 <= r < nz and nearest[p, q, r] != best:
                        _, _, _, dx, dy, dz = _square_to(x, triangles, nearest[p, q, r], px, py, pz)
                        d = dx * dx + dy * dy + dz * dz
                        if d < square:
                            square = d
                            best = nearest[p, q, r]
                nearest[i, j, k] = best


@njit
def _measure(x, triangles, origin, step, nearest, normals, border, thick, f, h, half):
    """f, h and half the thickness at every node from its nearest triangle, of vertices that are `thick` (n,).
    # outputs: f, h, half (nx, ny, nz)
    """
    nx, ny, nz = nearest.shape
    for i in range(nx):
        for j in range(ny):
            for k in range(nz):
                t = nearest[i, j, k]
                wa, wb, wc, dx, dy, dz = _square_to(
                    x, triangles, t, origin[0] + i * step, origin[1] + j * step, origin[2] + k * step
                )
                a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
                mx = wa * normals[a, 0] + wb * normals[b, 0] + wc * normals[c, 0]
                my = wa * normals[a, 1] + wb * normals[b, 1] + wc * normals[c, 1]
                mz = wa * normals[a, 2] + wb * normals[b, 2] + wc * normals[c, 2]
                scale = 1.0 / max(np.sqrt(mx * mx + my * my + mz * mz), 1e-30)
                up = (dx * mx + dy * my + dz * mz) * scale
                size = np.sqrt(dx * dx + dy * dy + dz * dz)
                half[i, j, k] = wa * thick[a] + wb * thick[b] + wc * thick[c]
                inside = wa * border[a] + wb * border[b] + wc * border[c]
                if inside > BORDER_WIDTH * step:
                    f[i, j, k] = size if up >= 0.0 else -size
                    h[i, j, k] = -inside
                else:
                    f[i, j, k] = up
                    h[i, j, k] = np.sqrt(max(size * size - up * up, 0.0))


@inner
def _trilinear(values, i, j, k, layer, field, u, v, w):
    """A field between the eight nodes from (i, j, k) on."""
    a = values[i, j, k, layer, field] * (1.0 - w) + values[i, j, k + 1, layer, field] * w
    b = values[i, j + 1, k, layer, field] * (1.0 - w) + values[i, j + 1, k + 1, layer, field] * w
    c = values[i + 1, j, k, layer, field] * (1.0 - w) + values[i + 1, j, k + 1, layer, field] * w
    d = values[i + 1, j + 1, k, layer, field] * (1.0 - w) + values[i + 1, j + 1, k + 1, layer, field] * w
    return (a * (1.0 - v) + b * v) * (1.0 - u) + (c * (1.0 - v) + d * v) * u


@inner
def look_up(grid, px, py, pz, f, slope, h, half):
    """f, its gradient, h and half the thickness of all layers at p, trilinear; 12 bytes a layer and corner.

    Points outside of the grid take the values of its edge.
    # outputs: f, h, half (layers,), slope (layers, 3)
    """
    values, origin, step = grid.values, grid.origin, grid.step
    u = min(max((px - origin[0]) / step, 0.0), values.shape[0] - GRID_END_MARGIN)
    v = min(max((py - origin[1]) / step, 0.0), values.shape[1] - GRID_END_MARGIN)
    w = min(max((pz - origin[2]) / step, 0.0), values.shape[2] - GRID_END_MARGIN)
    i, j, k = int(u), int(v), int(w)
    u, v, w = u - i, v - j, w - k
    for layer in range(len(f)):
        a00, a01 = values[i, j, k, layer, DISTANCE], values[i, j, k + 1, layer, DISTANCE]
        a10, a11 = values[i, j + 1, k, layer, DISTANCE], values[i, j + 1, k + 1, layer, DISTANCE]
        b00, b01 = values[i + 1, j, k, layer, DISTANCE], values[i + 1, j, k + 1, layer, DISTANCE]
        b10, b11 = values[i + 1, j + 1, k, layer, DISTANCE], values[i + 1, j + 1, k + 1, layer, DISTANCE]
        a0, a1 = a00 + (a01 - a00) * w, a10 + (a11 - a10) * w
        b0, b1 = b00 + (b01 - b00) * w, b10 + (b11 - b10) * w
        low, high = a0 + (a1 - a0) * v, b0 + (b1 - b0) * v
        f[layer] = low + (high - low) * u
        slope[layer, DISTANCE] = (high - low) / step
        slope[layer, COVARIANT] = ((a1 - a0) * (1.0 - u) + (b1 - b0) * u) / step
        near, far = (a01 - a00) * (1.0 - v) + (a11 - a10) * v, (b01 - b00) * (1.0 - v) + (b11 - b10) * v
        slope[layer, 2] = (near * (1.0 - u) + far * u) / step
        h[layer] = _trilinear(values, i, j, k, layer, COVARIANT, u, v, w)
        half[layer] = _trilinear(values, i, j, k, layer, HALF_THICKNESS, u, v, w)
