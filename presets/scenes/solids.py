# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies of the small examples as meshes, metres, about their own centres: those of Bargmann (2003, figure 6.1) and more."""

import bmesh
import bpy
import numpy as np

from . import materials, sheet

RIM = 0.012  # [m] aura of a plate


def body(collection, name, points, faces, height=0.0):
    """Add a body that cloth is kept out of; return the object."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(np.asarray(points).tolist(), [], np.asarray(faces).tolist())
    return dress(collection, name, mesh, height)


def dress(collection, name, mesh, height):
    """Add an object with this mesh as a porcelain body at a height [m]; return it."""
    obj = bpy.data.objects.new(name, mesh)
    obj.location.z = height
    mesh.shade_smooth()
    mesh.materials.append(materials.porcelain())
    collection.objects.link(obj)
    return sheet.collide(obj)


def in_order(mesh):
    """Put a mesh's faces in the order of their corners, each from its lowest on; return the mesh.

    Blender makes those of a sphere in another order each time. A bake goes by the order of a body's triangles, in the
    last digit at first, and so two bakes of what looks like the same scene would come to differ.
    """
    points, faces = np.empty(3 * len(mesh.vertices), np.float32), []
    mesh.vertices.foreach_get("co", points)
    for polygon in mesh.polygons:
        corners = list(polygon.vertices)
        first = corners.index(min(corners))
        faces.append(corners[first:] + corners[:first])
    mesh.clear_geometry()
    mesh.from_pydata(points.reshape(-1, 3).tolist(), [], sorted(faces))
    return mesh


def sphere(collection, radius, height):
    """Add a sphere; return the object."""
    mesh = bpy.data.meshes.new("Sphere")
    shape = bmesh.new()
    bmesh.ops.create_uvsphere(shape, u_segments=64, v_segments=32, radius=radius)
    shape.to_mesh(mesh)
    shape.free()
    return dress(collection, "Sphere", in_order(mesh), height)


def torus(collection, major, minor, height, around=72, across=32):
    """Add a lying torus; return the object."""
    u = _turn(around)
    circle = np.column_stack([major * np.cos(u), major * np.sin(u), np.zeros(around)])
    return body(collection, "Torus", *_pipe(circle, np.full(around, minor), across), height)


def deformed_torus(collection, height, around=96, across=28):
    """Add a torus drawn out along x, with thin, sharply bent ends that rise; return the object."""
    u = _turn(around)
    ring = np.column_stack([0.62 * np.cos(u), 0.34 * np.sin(u), 0.16 * np.cos(u) ** 2])
    return body(collection, "Deformed Torus", *_pipe(ring, 0.12 - 0.055 * np.cos(u) ** 2, across), height)


def knot(collection, height, around=180, across=20):
    """Add a trefoil knot of a tube that is thick and thin in turns; return the object."""
    u = _turn(around)
    curve = [np.sin(u) + 2.0 * np.sin(2.0 * u), np.cos(u) - 2.0 * np.cos(2.0 * u), -1.2 * np.sin(3.0 * u)]
    return body(
        collection, "Twisted Knot", *_pipe(0.17 * np.column_stack(curve), 0.075 + 0.02 * np.cos(3 * u), across), height
    )


def plate(collection, radius, height, rings=24, around=72):
    """Add a round plate without thickness, open at its rim, of `rings` circles of vertices; return the object.

    Its aura is more than half of what the cloth's edges are long: between two particles a rim could pass through.
    """
    angle = _turn(around)
    r = radius * np.arange(1, rings + 1)[:, None] / rings
    points = np.stack([r * np.cos(angle), r * np.sin(angle), 0.0 * r * angle], -1).reshape(-1, 3)
    i, j = (a.ravel() for a in np.mgrid[0 : rings - 1, 0:around])
    k = (j + 1) % around
    quads = 1 + np.stack([i * around + j, (i + 1) * around + j, (i + 1) * around + k, i * around + k], 1)
    inner = [(0, 1 + j, 1 + (j + 1) % around) for j in range(around)]
    faces = inner + quads.tolist()
    mesh = bpy.data.meshes.new("Plate")
    mesh.from_pydata([(0.0, 0.0, 0.0), *points.tolist()], [], faces)
    obj = dress(collection, "Plate", mesh, height)
    obj.taffeta_collider.aura = RIM
    return obj


def hemisphere(collection, radius, height, rings=20, around=64):
    """Add the upper half of a sphere, without thickness and open below; return the object. Its aura is a plate's."""
    up, angle = (0.5 * np.pi * np.arange(1, rings + 1) / rings)[:, None], _turn(around)
    points = np.stack([np.sin(up) * np.cos(angle), np.sin(up) * np.sin(angle), np.cos(up) + 0.0 * angle], -1).reshape(
        -1, 3
    )
    i, j = (a.ravel() for a in np.mgrid[0 : rings - 1, 0:around])
    k = (j + 1) % around
    quads = 1 + np.stack([i * around + j, (i + 1) * around + j, (i + 1) * around + k, i * around + k], 1)
    faces = [(0, 1 + j, 1 + (j + 1) % around) for j in range(around)] + quads.tolist()
    mesh = bpy.data.meshes.new("Hemisphere")
    mesh.from_pydata((radius * np.concatenate([[[0.0, 0.0, 1.0]], points])).tolist(), [], faces)
    obj = dress(collection, "Hemisphere", mesh, height)
    obj.taffeta_collider.aura = RIM
    return obj


def dryer(collection, radius, depth, height, around=120):
    """Add the drum of a dryer: a wall of 3 cm round the y axis, open in front, with three fins inside; return it."""
    wall, hole, axle, step = 0.03, 0.84 * radius, 0.03, 0.03
    front, back = -0.5 * depth, 0.5 * depth
    corners = [(axle, back), (radius, back), (radius, front), (hole, front)]
    corners += [(hole, front - wall), (radius + wall, front - wall), (radius + wall, back + wall), (axle, back + wall)]
    profile = []
    for a, b in zip(np.array(corners), np.array(corners[1:] + corners[:1]), strict=True):
        count = max(1, round(float(np.linalg.norm(b - a)) / step))
        profile += [a + (b - a) * k / count for k in range(count)]
    r, y = np.array(profile).T
    inner = (y > front - 1e-9) & (y < back + 1e-9) & (r < radius + 1e-9)
    angle = _turn(around)[:, None]
    fin = np.maximum(np.cos(3.0 * angle), 0.0) ** 8
    r = r - np.where(inner, 0.11 * (r / radius) ** 4, 0.0) * fin
    points = np.stack([r * np.sin(angle), np.broadcast_to(y, r.shape), r * np.cos(angle)], -1)
    return body(collection, "Dryer", points.reshape(-1, 3), _rings(around, len(y)), height)


def bowl(collection, radius, height, wall=0.03, opening=1.9, around=96):
    """Add a bowl, part of a sphere's shell as far as `opening` [rad] up from its lowest point; return the object."""
    points, faces = bowl_mesh(radius, wall, opening, around)
    return body(collection, "Bowl", points, faces, height)


def bowl_mesh(radius, wall=0.03, opening=1.9, around=96):
    """Points about the sphere's centre [m] and triangles of a bowl that is closed: inside, rim, outside."""
    rings = round(around * opening / (2.0 * np.pi))
    up = opening * np.arange(1, rings + 1) / rings
    rim = np.arange(1, 6) / 6.0 * np.pi
    middle, half = radius + 0.5 * wall, 0.5 * wall
    across = np.stack([-half * np.cos(rim), half * np.sin(rim)])  # outwards, and on past the rim
    r = np.concatenate([radius * np.sin(up), (middle + across[0]) * np.sin(opening) + across[1] * np.cos(opening)])
    z = np.concatenate([-radius * np.cos(up), -(middle + across[0]) * np.cos(opening) + across[1] * np.sin(opening)])
    r = np.concatenate([r, (radius + wall) * np.sin(up[::-1])])
    z = np.concatenate([z, -(radius + wall) * np.cos(up[::-1])])
    angle = _turn(around)
    points = np.stack([r[:, None] * np.cos(angle), r[:, None] * np.sin(angle), z[:, None] + 0.0 * angle], -1)
    points = np.concatenate([points.reshape(-1, 3), [[0.0, 0.0, -radius], [0.0, 0.0, -radius - wall]]])
    i, j = (a.ravel() for a in np.mgrid[0 : len(r) - 1, 0:around])
    k = (j + 1) % around
    a, b, c, d = i * around + j, i * around + k, (i + 1) * around + k, (i + 1) * around + j
    first, last, j, k = len(points) - 2, (len(r) - 1) * around, np.arange(around), (np.arange(around) + 1) % around
    ends = [np.stack([np.full(around, first), j, k], 1), np.stack([np.full(around, first + 1), last + k, last + j], 1)]
    return points, np.concatenate([np.stack([a, c, b], 1), np.stack([a, d, c], 1), *ends])


def _turn(count):
    return np.arange(count) * 2.0 * np.pi / count


def _pipe(curve, radius, across):
    """Points and quads of a tube round a closed curve (n, 3) that is nowhere upright, of radius (n,)."""
    along = np.roll(curve, -1, 0) - np.roll(curve, 1, 0)
    aside = np.cross(along, [0.0, 0.0, 1.0])
    aside /= np.linalg.norm(aside, axis=1)[:, None]
    up = np.cross(aside, along)
    up /= np.linalg.norm(up, axis=1)[:, None]
    v = _turn(across)
    round_ = np.cos(v)[:, None] * aside[:, None] + np.sin(v)[:, None] * up[:, None]
    return (curve[:, None] + radius[:, None, None] * round_).reshape(-1, 3), _rings(len(curve), across)


def _rings(around, across):
    """Quads between `around` rings of `across` vertices each, both closed."""
    i, j = (a.ravel() for a in np.mgrid[0:around, 0:across])
    k, m = (i + 1) % around, (j + 1) % across
    return np.stack([i * across + j, k * across + j, k * across + m, i * across + m], 1)
