# SPDX-License-Identifier: GPL-3.0-or-later
"""Sheets for tests of contact, flat or folded, and a floor for them."""

import numpy as np
from scipy.spatial import ConvexHull
from taffeta.solver.contact.cloth.tangles import Tangles
from taffeta.solver.model import Collider, Garment

GRAVITY = np.array([0.0, 0.0, -9.81])
NO_TANGLES = Tangles(
    np.empty(0, np.int64), np.empty(0, np.bool_), np.empty((0, 2), np.int32), 0
)  # so that cloth that crosses is looked at, too


def sheet(name, rows, columns, edge, place=None, **values):
    """A flat grid garment, its middle at the origin; `place` maps rest positions to where it starts."""
    index = np.arange(rows * columns).reshape(rows, columns)
    x = np.stack(np.meshgrid(np.arange(rows), np.arange(columns), [0.0], indexing="ij"), -1).reshape(-1, 3) * edge
    x -= x.mean(axis=0)
    quads = np.stack([index[:-1, :-1], index[1:, :-1], index[1:, 1:], index[:-1, 1:]], -1).reshape(-1, 4)
    triangles = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])
    sides = np.concatenate([quads[:, [0, 1]], quads[:, [1, 2]], quads[:, [2, 3]], quads[:, [3, 0]]])
    numbers = dict(mass=0.15, thickness=2e-3, stretch_stiffness=2e3, shear_stiffness=1e2, bending_stiffness=1e-5)
    numbers |= dict(damping=2.0, friction=0.3, pin=0.0, pin_distance=np.inf)
    self_collision = values.pop("self_collision", True)
    arrays = {key: np.full(len(x), number) * np.ones(1) for key, number in (numbers | values).items()}
    triangles = triangles.astype(np.int32)
    return Garment(
        name, x, x.copy() if place is None else place(x), triangles, quads.astype(np.int32),
        np.unique(np.sort(sides), axis=0).astype(np.int32), x[triangles][:, :, :2].copy(),
        layer=0, self_collision=self_collision, **arrays,
    )  # fmt: skip


def tube(name, rows, around, edge, place):
    """A garment that is a tube along z, open at both ends."""
    flat = sheet(name, rows, around, edge)
    index = np.arange(rows * around).reshape(rows, around)
    beside = np.roll(index, -1, axis=1)
    quads = np.stack([index[:-1], index[1:], beside[1:], beside[:-1]], -1).reshape(-1, 4)
    sides = np.concatenate([quads[:, [k, (k + 1) % 4]] for k in range(4)])
    angle, radius = 2.0 * np.pi * np.arange(around) / around, around * edge / (2.0 * np.pi)
    ring = np.stack([radius * np.cos(angle), radius * np.sin(angle), np.zeros(around)], axis=1)
    x = np.tile(ring, (rows, 1)) + np.repeat(np.arange(rows) * edge, around)[:, None] * [0.0, 0.0, 1.0]
    faces = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]]).astype(np.int32)
    edges = np.unique(np.sort(sides), axis=0).astype(np.int32)
    return flat._replace(x=x, x_start=place(x), triangles=faces, quads=quads.astype(np.int32), edges=edges, uv=None)


def stone(name, count, radii, place, **values):
    """A rigid garment: an ellipsoid with these radii (3,) [m] and so many vertices, its middle at a place [m]."""
    number = np.arange(count) + 0.5
    height, angle = 1.0 - 2.0 * number / count, np.pi * (1.0 + np.sqrt(5.0)) * number
    around = np.sqrt(1.0 - height**2)
    x = np.stack([around * np.cos(angle), around * np.sin(angle), height], axis=1)
    faces = ConvexHull(x).simplices
    a, b, c = x[faces].transpose(1, 0, 2)
    inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), a) < 0.0
    faces[inward] = faces[inward][:, ::-1]
    edges = np.unique(np.sort(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])), axis=0)
    plain, numbers = sheet(name, 2, 2, 0.1), dict(mass=5.0, thickness=2e-3, friction=0.3) | values
    arrays = {field: np.full(count, value[0]) for field, value in plain._asdict().items() if np.shape(value) == (4,)}
    arrays |= {field: np.full(count, float(value)) for field, value in numbers.items()}
    x = x * radii
    return plain._replace(
        x=x, x_start=x + place, triangles=faces.astype(np.int32), quads=np.empty((0, 4), np.int32),
        edges=edges.astype(np.int32), uv=None, model="RIGID", **arrays,
    )  # fmt: skip


def folded(x, radius=0.012):
    """A flat sheet folded over itself along a line across x."""
    along, start = x[:, 0] - x[:, 0].min(), 0.5 * np.ptp(x[:, 0]) - 0.5 * np.pi * radius
    angle = np.clip((along - start) / radius, 0.0, np.pi)
    beyond = np.maximum(along - start - np.pi * radius, 0.0)
    out = x.copy()
    out[:, 0] = np.minimum(along, start) + radius * np.sin(angle) - beyond
    out[:, 2] = radius * (1.0 - np.cos(angle)) + 0.006
    return out


def floor(friction=0.6):
    corners = np.array([[-3.0, -3, 0], [3, -3, 0], [3, 3, 0], [-3, 3, 0]])
    faces = np.array([[0, 1, 2], [0, 2, 3]], np.int32)
    return Collider("Floor", corners[None].repeat(2, axis=0), faces, friction, 0.0, 0.003)
