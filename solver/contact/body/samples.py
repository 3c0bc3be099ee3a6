# SPDX-License-Identifier: GPL-3.0-or-later
"""Contact samples: points on large triangles of cloth that keep off bodies, too, and take the corners along.

Where cloth is coarse, its particles may all keep the aura while a limb shows between them. An edge of length L whose
ends lie on a limb of radius R sinks in by L^2 / 8 R in its middle: as much as that is more than the aura allows, its
edges and triangles get samples in a lattice. R is that of a wrist, or more if no body bends as much anywhere. Samples keep
off by what such a sink leaves of the aura: had they to keep all of it, which the corners keep anyway, they would lift
these off it, and both would take turns to touch.
"""

import math
from typing import NamedTuple

import numpy as np

from ...geometry.topology import edge_keys
from ...kernel.jit import inner, njit
from ...kernel.memo import remembered
from ...model import Cloth

LEAST_LIMB = 0.04  # [m] least radius over which an edge may bridge
MOST_LIMB_DOUBLINGS = 8  # of it
LIMB_CORNER = 0.8  # [rad] dihedral angle of a body from which its radius is no longer one
BARE_SINK, SAMPLED_SINK = 0.5, 1.0  # auras that an edge without samples may sink by, and what is between two samples
PART_BETWEEN = (
    1.0 - BARE_SINK
)  # of the aura by which samples keep off: what is left of it at the middle of such an edge
MOST_EDGE_PARTS = 8  # between the samples of an edge
DEEP_PUSH = 5e-4  # [m] what a sample wants beyond this counts for more than its share
LEAST_AGREEMENT = 0.3  # length of the mean of normals below which they lead nowhere


class Samples(NamedTuple):
    """Where the samples are in the cloth."""

    parents: np.ndarray  # (s, 3) particles
    weight: np.ndarray  # (s, 3) share of each of them; the last is 0 on an edge
    particle_start: np.ndarray  # (n + 1,) first entry of each particle in particle_samples
    particle_samples: np.ndarray  # (k,) samples that the particle has a share of
    particle_weight: np.ndarray  # (k,) that share
    sag: float  # [m] how far a triangle can sink in between its corners
    longest: float  # [m] edge of the cloth


def limb(x, triangles, neighbour, solid) -> float:
    """The radius [m] over which edges of cloth are taken to bridge on these bodies, in steps of 2 so that it rarely
    changes: x (m, 3) [m]; triangles, neighbour (t, 3), as in `geometry.adjacency.Topology`; solid (t,) 0 where they are open.
    """
    doublings = math.log2(max(_least_radius(x, triangles, neighbour, solid, LEAST_LIMB), LEAST_LIMB) / LEAST_LIMB)
    return LEAST_LIMB * 2.0 ** int(min(doublings, MOST_LIMB_DOUBLINGS))


@njit
def _least_radius(x, triangles, neighbour, solid, enough):
    """The least radius [m] with which faces of bodies fall away from each other, or any that is below `enough`; 0 at
    corners and at rims. Mean width of two faces by the angle between them; 100 flops an edge.
    """
    least = math.inf
    for t in range(len(triangles)):
        for side in range(3):
            u, a, b, c = (
                neighbour[t, side],
                triangles[t, side],
                triangles[t, (side + 1) % 3],
                triangles[t, (side + 2) % 3],
            )
            if u < 0:
                return 0.0
            d = triangles[u, 0] + triangles[u, 1] + triangles[u, 2] - a - b
            if u < t:
                continue
            below, n, m, along, across, long = fold(x, a, b, c, d)
            if below >= 0.0 and solid[t] != 0:  # a valley, or flat
                continue
            angle = math.atan2(across, along)
            if angle > LIMB_CORNER:
                return 0.0
            if 0.5 * (n + m) < least * angle * long:
                least = 0.5 * (n + m) / (angle * long)
                if least < enough:
                    return least
    return least


@inner
def fold(x, a, b, c, d):
    """How a surface folds at the edge from a to b of triangles a, b, c and b, a, d: on which side of the first's plane d
    is, below 0 where the second falls away; twice their areas; the products of these with the cosine and the sine of
    the dihedral angle; the edge's length.
    """
    ex, ey, ez = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
    cx, cy, cz = x[c, 0] - x[a, 0], x[c, 1] - x[a, 1], x[c, 2] - x[a, 2]
    dx, dy, dz = x[d, 0] - x[a, 0], x[d, 1] - x[a, 1], x[d, 2] - x[a, 2]
    nx, ny, nz = ey * cz - ez * cy, ez * cx - ex * cz, ex * cy - ey * cx
    mx, my, mz = dy * ez - dz * ey, dz * ex - dx * ez, dx * ey - dy * ex
    kx, ky, kz = ny * mz - nz * my, nz * mx - nx * mz, nx * my - ny * mx
    n, m = math.sqrt(nx * nx + ny * ny + nz * nz), math.sqrt(mx * mx + my * my + mz * mz)
    along, across = nx * mx + ny * my + nz * mz, math.sqrt(kx * kx + ky * ky + kz * kz)
    return dx * nx + dy * ny + dz * nz, n, m, along, across, math.sqrt(ex * ex + ey * ey + ez * ez)


@remembered(4, lambda cloth, aura, radius=LEAST_LIMB: (*cloth.pattern[:2], cloth.triangles, aura, radius))
def samples_of(cloth: Cloth, aura: float, radius: float = LEAST_LIMB) -> Samples:
    """The samples that a cloth needs over bodies that have this aura [m] and bend with this radius [m] at most; finer
    cloth gets none.

    A sheet of 4 cm edges over a torus of 5 cm radius with an aura of 5 mm: 3170 body edges through it in 12 frames
    without them, none with them.
    """
    order = np.argsort(cloth.triangles, axis=1) if aura > 0.0 else np.zeros((0, 3), np.int64)
    corners, cut = (
        np.take_along_axis(t[: len(order)], order, axis=1) for t in (cloth.triangles, cloth.pattern.triangles)
    )
    sides, ends = (each[:, [0, 1, 1, 2, 0, 2]].reshape(-1, 3, 2) for each in (corners, cut))
    length = np.linalg.norm(cloth.pattern.x[ends[:, :, 0]] - cloth.pattern.x[ends[:, :, 1]], axis=2)
    sinks = length * length / (8.0 * radius)
    parts = np.ceil(length / math.sqrt(8.0 * radius * SAMPLED_SINK * aura)) if aura > 0.0 else length
    parts = np.where(sinks > BARE_SINK * aura, np.clip(parts, 2, MOST_EDGE_PARTS), 1).astype(np.int64)
    first = np.unique(edge_keys(sides.reshape(-1, 2), len(cloth.inv_mass)), return_index=True)[1]
    edges, edge_parts = sides.reshape(-1, 2)[first], parts.ravel()[first]
    parents, weight = [np.zeros((0, 3), np.int32)], [np.zeros((0, 3))]
    for n in range(2, int(parts.max(initial=0)) + 1):
        share = np.arange(1, n) / n
        along = np.stack([1.0 - share, share, 0.0 * share], axis=1)
        inside = np.array([(a, b, n - a - b) for a in range(1, n) for b in range(1, n - a)]).reshape(-1, 3) / n
        for ends, where in (edges[edge_parts == n][:, [0, 1, 1]], along), (corners[parts.max(axis=1) == n], inside):
            parents.append(np.repeat(ends, len(where), axis=0).astype(np.int32))
            weight.append(np.tile(where, (len(ends), 1)))
    shares = _of_particles(np.concatenate(parents), np.concatenate(weight), len(cloth.inv_mass))
    return Samples(*shares, float(sinks.max(initial=0.0)), float(length.max(initial=0.0)))


def _of_particles(parents, weight, count):
    """All of `Samples` but the last two."""
    entry = np.flatnonzero(weight.ravel() > 0.0)
    ends = parents.ravel()[entry]
    start = np.zeros(count + 1, np.int32)
    np.cumsum(np.bincount(ends, minlength=count), out=start[1:])
    entry = entry[np.argsort(ends, kind="stable")]
    return parents, weight, start, (entry // 3).astype(np.int32), weight.ravel()[entry]


@inner
def _clear(contacts, i):
    contacts.triangle[i, 0] = -1
    for axis in range(3):
        contacts.normal[i, 0, axis], contacts.velocity[i, 0, axis] = 0.0, 0.0
    contacts.rebound[i, 0], contacts.viscosity[i, 0], contacts.friction[i, 0], contacts.gap[i] = 0.0, 0.0, 0.0, 0.0


@inner
def _add(contacts, i, p, w):
    """To what particle i touches, what point p does, by weight w."""
    for axis in range(3):
        contacts.normal[i, 0, axis] += w * contacts.normal[p, 0, axis]
        contacts.velocity[i, 0, axis] += w * contacts.velocity[p, 0, axis]
    contacts.rebound[i, 0] += w * contacts.rebound[p, 0]
    contacts.viscosity[i, 0] += w * contacts.viscosity[p, 0]
    contacts.friction[i, 0] += w * contacts.friction[p, 0]
    contacts.gap[i] += w * contacts.gap[p]


@inner
def _divide(contacts, i, count):
    """Make means of the sums of so much weight; is there a direction that they agree upon?"""
    nx, ny, nz = contacts.normal[i, 0, 0], contacts.normal[i, 0, 1], contacts.normal[i, 0, 2]
    size = math.sqrt(nx * nx + ny * ny + nz * nz)
    for axis in range(3):
        contacts.normal[i, 0, axis] /= size if size > 0.0 else count
        contacts.velocity[i, 0, axis] /= count
    contacts.rebound[i, 0] /= count
    contacts.viscosity[i, 0] /= count
    contacts.friction[i, 0] /= count
    contacts.gap[i] /= count
    return size > LEAST_AGREEMENT * count


@njit
def gather(inv_mass, samples, contacts, x):
    """Move each particle by the mean of what its touching samples want, in their fixed order; it touches what they do.

    A sample counts by the particle's share of it and, beyond DEEP_PUSH, by how far it wants to go: none that is deep is
    outvoted by those that just touch. At rest all want little, and shares alone decide: votes that grow with what is
    wanted keep cloth murmuring (a sheet on a ball: 0.2 mm/s for ever instead of 0.03).
    """
    touched, push, particle_count = contacts.count, contacts.push, len(inv_mass)
    for i in range(particle_count):
        if inv_mass[i] == 0.0:
            continue
        own, count = touched[i] > 0, 0.0
        if not own:
            _clear(contacts, i)
        dx, dy, dz = 0.0, 0.0, 0.0
        for entry in range(samples.particle_start[i], samples.particle_start[i + 1]):
            s, w = samples.particle_samples[entry], samples.particle_weight[entry]
            if touched[particle_count + s] > 0:
                w *= DEEP_PUSH + math.sqrt(push[s, 0] ** 2 + push[s, 1] ** 2 + push[s, 2] ** 2)
                dx, dy, dz, count = dx + w * push[s, 0], dy + w * push[s, 1], dz + w * push[s, 2], count + w
                if not own:
                    _add(contacts, i, particle_count + s, w)
        if count == 0.0:
            continue
        x[i, 0], x[i, 1], x[i, 2] = x[i, 0] + dx / count, x[i, 1] + dy / count, x[i, 2] + dz / count
        if not own:
            touched[i] = 1 if _divide(contacts, i, count) else 0  # from all sides: no way is the right one
