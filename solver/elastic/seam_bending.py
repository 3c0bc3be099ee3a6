# SPDX-License-Identifier: GPL-3.0-or-later
"""What bends over seams that are welded: a hinge for each two edges of borders whose ends are sewn to each other.

Panels lie apart, and how they stand to each other says nothing: sewn, they are pressed flat. So the two faces are laid beside
each other in a plane, with the mean length of both edges between them, and the hinge is that of cloth which was flat there
(`bending.bending_rest`), as stiff as both sides in the mean, times `Garment.seam_bending`, for the layers that are folded
over in an allowance. It is there as long as the ends of both edges are one (`join`).
"""

import numpy as np

from ..geometry.topology import Hinges, clean_faces, edge_keys
from ..model import SeamHinges
from .bending import bending_rest
from .masses import sizes
from .membrane import warp_of_pattern
from .sewing import sewn_pairs


def seam_hinges(garments, start) -> SeamHinges | None:
    """Of all garments, None where no seam resists bending. start : (g + 1,) first particle of each garment

    Raises
    ------
    ValueError
        A garment's seams are to bend as nothing does: one sentence.
    """
    rows = []
    for garment, first in zip(garments, start, strict=False):
        if not 0.0 <= garment.seam_bending < np.inf:
            raise ValueError(
                f"'{garment.name}': its seams are {garment.seam_bending:g} times as stiff as its cloth; use 0 or more."
            )
        if garment.sewing and garment.seam_bending > 0.0:
            stencils, others, *numbers = _of_garment(garment)
            rows.append((stencils + first, others + first, *numbers))
    if not sum(len(row[0]) for row in rows):
        return None
    return SeamHinges(*(np.concatenate(column) for column in zip(*rows, strict=True)))


def _of_garment(garment):
    """The fields of `SeamHinges`, with indices into the garment."""
    x = np.asarray(garment.x, np.float64)
    faces = clean_faces(x, np.asarray(garment.triangles))
    sides = faces.triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    one, other, turned = _facing(sides, sewn_pairs(garment), len(x))
    opposite = faces.triangles[:, [2, 0, 1]].ravel()
    first = np.column_stack([sides[one], opposite[one]])
    second = np.column_stack([np.where(turned[:, None], sides[other][:, ::-1], sides[other]), opposite[other]])
    stencils = np.column_stack([first, second[:, 2]])
    share = (
        garment.seam_bending * 0.5 * sum(_share(garment, x, faces, side // 3, x[sides[side]]) for side in (one, other))
    )
    area = faces.area[one // 3] + faces.area[other // 3]
    flat, count = _laid_flat(x, first, second), len(stencils)
    stiffness = np.asarray(garment.bending_stiffness, np.float64)
    stiffness = np.column_stack([0.5 * (stiffness[first[:, :2]] + stiffness[second[:, :2]]), np.zeros((count, 2))])
    laid = Hinges(np.arange(4 * count).reshape(-1, 4), np.full((count, 2), -1), area, share, np.ones(count, bool))
    rows, weight, rest_angle, k, _ = bending_rest(flat.reshape(-1, 3), laid, stiffness.ravel(), np.zeros(count))
    stencils, others = (array[rows[:, 0] // 4] for array in (stencils, second[:, :2]))
    size = 0.25 * np.einsum("hk->h", sizes(garment)[stencils])
    rate = 0.25 * np.einsum("hk->h", np.asarray(garment.damping, np.float64)[stencils])
    return stencils.astype(np.int32), others.astype(np.int32), weight / size[:, None], rest_angle, k, rate


def _facing(sides, pairs, count):
    """Rows of `sides` (m, 2) of borders that are sewn to each other along their length, and whether the second runs backwards."""
    keys = edge_keys(sides, count)
    _, first, times = np.unique(keys, return_index=True, return_counts=True)
    border = {tuple(sides[row].tolist()): row for row in first[times == 1].tolist()}
    sewn: dict[int, list[int]] = {}
    for a, b in pairs.tolist():
        sewn.setdefault(a, [a]).append(b)
        sewn.setdefault(b, [b]).append(a)
    found = []
    for (a, b), row in border.items():
        for c in sewn.get(a, [a]):  # the tip of a dart is its own partner
            for d in sewn.get(b, [b]):
                for ends, is_turned in (((c, d), False), ((d, c), True)):
                    at = border.get(ends, -1)
                    if at > row:
                        found.append((row, at, is_turned))
    found = np.array(sorted(set(found)), np.int64).reshape(-1, 3)
    return found[:, 0], found[:, 1], found[:, 2].astype(bool)


def _laid_flat(x, first, second):
    """(h, 4, 3) [m] edge, and corners opposite on both sides, of faces (h, 3) of two ends and a corner each, in one plane."""
    length, feet = [], []
    for corners in (first, second):
        start, end, far = (x[column] for column in corners.T)
        edge, way = end - start, far - start
        own = np.linalg.norm(edge, axis=1)
        along = np.einsum("hi,hi->h", way, edge) / np.maximum(own, 1e-30) ** 2
        length.append(own)
        feet.append((along, np.linalg.norm(way - along[:, None] * edge, axis=1)))
    mean, nothing = 0.5 * (length[0] + length[1]), np.zeros(len(first))
    points = [(nothing, nothing), (mean, nothing), (feet[0][0] * mean, feet[0][1]), (feet[1][0] * mean, -feet[1][1])]
    return np.stack([np.column_stack([*point, nothing]) for point in points], axis=1)


def _share(garment, x, faces, triangle, edge):
    """(h,) times the warp's rigidity that a face of the garment has against curving across an edge (h, 2, 3) [m]; see `bending`."""
    ratio = garment.weft_bending
    if ratio == 1.0 or garment.uv is None:
        return np.full(len(triangle), np.sqrt(ratio))
    corner = x[faces.triangles[triangle]]
    uv = np.asarray(garment.uv, np.float64)[faces.kept[triangle]]
    warp, told = warp_of_pattern(corner[:, [2, 0, 1]] - corner[:, [1, 2, 0]], uv)
    along = edge[:, 1] - edge[:, 0]
    cosine = np.einsum("hi,hi->h", warp, along) / np.maximum(np.linalg.norm(along, axis=1), 1e-30)
    return np.where(told, 1.0 - cosine**2 + cosine**2 * ratio, np.sqrt(ratio))
