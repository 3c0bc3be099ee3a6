# SPDX-License-Identifier: GPL-3.0-or-later
"""What the characters wear, as meshes round the mannequin at rest: tubes and panels round its hull, shirts a little off
its skin. Numpy, and bmesh to cut openings. Nothing crosses the body or itself at the start (tests count that).
"""

from functools import cache
from typing import NamedTuple

import bpy  # before bmesh, which comes with it

# isort: split
import bmesh
import numpy as np
from mathutils import Vector
from scipy.spatial import ConvexHull, cKDTree
from taffeta.presets.scenes import figure, sheet, surface

BODY = 0.005, 1.35, 0.0085  # grid [m], coarseness and finest edge [m] of the body: 6,800 triangles
AXIS = np.array([0.0, 0.01])  # [m] x, y of the upright line that tubes go round
SLICE = 0.03  # [m] above and below a height in which the body counts as being there
EDGE = 0.017  # [m] between the vertices of a shirt
SPACING = 0.005  # [m] of the grid that a shirt is drawn on
SNAP = 0.42  # of an edge: so close to a cut a vertex is moved onto it
ARMPIT = 0.245  # [m] to a side: what is farther out is sleeve
NEAREST = 4  # vertices of the skin that hold one of a garment
GAP = 0.014  # [m] from the skin to what lies on it


class Garment(NamedTuple):
    """A mesh that is to be cloth."""

    name: str
    fabric: str  # a preset
    points: np.ndarray  # (n, 3) [m]
    faces: list  # of vertex indices
    pattern: list  # of a face's corners (k, 2) [m], u up the garment, for each face
    held: np.ndarray  # (n,) which vertices follow the skin below them
    layer: int = 0
    bone: str = ""  # what they follow instead of the skin


def body():
    """Vertices (n, 3) [m] and triangles of the mannequin at rest."""
    return figure.mesh(*BODY)


def hull_radius(height, angles, widest):
    """[m] (a,) how far the body's hull at a height reaches from the axis at angles [rad]; what lies more than `widest` [m]
    to a side, as arms do, is left out.
    """
    points, _ = body()
    near = points[(np.abs(points[:, 2] - height) < SLICE) & (np.abs(points[:, 0]) < widest)][:, :2] - AXIS
    lines = ConvexHull(near).equations
    ways = np.column_stack([np.cos(angles), np.sin(angles)])
    across = ways @ lines[:, :2].T
    return np.min(np.where(across > 1e-9, -lines[:, 2] / np.where(across > 1e-9, across, 1.0), np.inf), axis=1)


def wrap(heights, angles, ease, widest=0.24, hangs_from=np.inf):
    """(h, a, 3) [m] points round the body at heights and angles, `ease` (h,) or (h, a) [m] off its hull. Below
    `hangs_from` cloth goes nowhere back in.
    """
    radius = np.array([hull_radius(z, angles, widest) for z in heights])
    hangs = np.asarray(heights) < hangs_from
    radius[hangs] = np.maximum.accumulate(radius[hangs], axis=0)
    radius = radius + np.asarray(ease).reshape(len(heights), -1)
    flat = AXIS + radius[..., None] * np.column_stack([np.cos(angles), np.sin(angles)])
    return np.concatenate([flat, np.repeat(np.asarray(heights)[:, None, None], len(angles), axis=1)], axis=2)


def grid(points, closed, triangles_from):
    """Faces of a grid of points (h, a, 3), quads down to row `triangles_from` and triangles below, and their pattern. A
    closed one is a tube.
    """
    rows, columns = points.shape[:2]
    round_ = np.concatenate([points, points[:, :1]], axis=1) if closed else points
    across = np.linalg.norm(np.diff(round_, axis=1), axis=2).sum(axis=1)
    down = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=2).mean(axis=1))])
    faces, pattern, wide = [], [], round_.shape[1] - 1
    for j in range(rows - 1):
        for i in range(wide):
            places = (j, i), (j + 1, i), (j + 1, i + 1), (j, i + 1)
            corners = [r * columns + c % columns for r, c in places]
            laid = np.array([(-down[r], across[r] * c / wide) for r, c in places])
            halves = (
                [[0, 1, 2, 3]]
                if j < triangles_from
                else [[0, 1, 2], [0, 2, 3]]
                if (i + j) % 2
                else [[0, 1, 3], [1, 2, 3]]
            )
            faces += [[corners[k] for k in half] for half in halves]
            pattern += [laid[half] for half in halves]
    return faces, pattern


def _tube(name, fabric, points, held_rows, closed=True, triangles_from=None):
    """A garment of a grid of points (h, a, 3), whose first rows are held."""
    rows, columns = points.shape[:2]
    faces, pattern = grid(points, closed, rows * 2 // 3 if triangles_from is None else triangles_from)
    held = np.repeat(np.arange(rows) < held_rows, columns)
    return Garment(name, fabric, points.reshape(-1, 3), faces, pattern, held)


def skirt(fabric="Cotton", hem=0.56, flare=0.16, columns=96, rows=36):
    """A flared skirt from the waist to the knees."""
    heights = np.linspace(1.06, hem, rows)
    angles = np.arange(columns) * 2.0 * np.pi / columns
    ease = GAP + flare * np.clip((0.92 - heights) / (0.92 - hem), 0.0, 1.0) ** 1.2
    return _tube("Skirt", fabric, wrap(heights, angles, ease, hangs_from=1.06), 2)


def dress(fabric="Silk", pleats=20, rows=33, deep=0.024):
    """A strapless bodice and a skirt of sharp pleats in one piece."""
    heights = np.concatenate([np.linspace(1.30, 1.06, 10, endpoint=False), np.linspace(1.06, 0.48, rows - 10)])
    angles = np.arange(6 * pleats) * 2.0 * np.pi / (6 * pleats)
    saw = np.abs((np.arange(6 * pleats) % 6) / 3.0 - 1.0)  # 1 outside, 0 at the inner fold
    below = np.clip((1.06 - heights) / 0.58, 0.0, 1.0)[:, None]
    ease = 0.010 + 0.10 * below + 2.0 * deep * np.sqrt(below) * saw
    return _tube("Dress", fabric, wrap(heights, angles, ease, 0.19, hangs_from=1.06), 1)


def cape(fabric="Wool_Suiting", columns=57, rows=61):
    """A cape down the back, held along the shoulders."""
    heights = np.linspace(1.43, 0.50, rows)
    angles = np.radians(np.linspace(90.0 - 62.0, 90.0 + 62.0, columns))
    down = (1.43 - heights)[:, None]
    ease = 0.020 + 0.16 * down + 0.05 * down * np.cos(np.linspace(0.0, 12.0 * np.pi, columns))
    points = wrap(heights, angles, ease, 0.20, hangs_from=np.inf)
    return _tube("Cape", fabric, points, 2, closed=False)


def flag(fabric="Polyester", columns=61, rows=41):
    """A flag on the pole that `mannequin.pole` puts on a back."""
    y = np.linspace(0.0, 0.90, columns) + 0.200
    z = np.linspace(2.15, 1.56, rows)
    points = np.stack(np.broadcast_arrays(0.0, y[None, :], z[:, None]), axis=-1)
    made = _tube("Flag", fabric, points, 0, closed=False, triangles_from=0)
    return made._replace(held=np.tile(np.arange(columns) == 0, rows), bone="chest")


#: the middle of a scarf from the breast over the left shoulder to the nape [m]
SCARF = (
    (0.085, -0.15, 0.92), (0.085, -0.14, 1.05), (0.085, -0.14, 1.20), (0.085, -0.14, 1.32), (0.085, -0.09, 1.42),
    (0.078, -0.02, 1.475), (0.060, 0.055, 1.495), (0.0, 0.10, 1.505),
)  # fmt: skip


def scarf(fabric="Wool_Suiting", count=171, across=10, width=0.095):
    """A long band round the neck, both ends down the front, held at the nape."""
    parts = [off(part, 0.012) for part in figure.flesh()]
    half = np.array(SCARF)
    way = np.concatenate([half, half[-2::-1] * [-1.0, 1.0, 1.0]])
    way = _even(way, count)
    for _ in range(30):
        way[1:-1] = 0.5 * way[1:-1] + 0.25 * (way[:-2] + way[2:])
        way = _even(surface.project(parts, way), count)
    normal = _slope(parts, way)
    side = np.cross(np.gradient(way, axis=0), normal)
    side /= np.linalg.norm(side, axis=1)[:, None]
    points = way[:, None] + np.linspace(-0.5, 0.5, across)[None, :, None] * width * side[:, None]
    points = surface.project(parts, points.reshape(-1, 3), 4).reshape(count, across, 3)
    made = _tube("Scarf", fabric, points, 0, closed=False, triangles_from=count // 2)
    return made._replace(held=np.repeat(np.abs(np.arange(count) - count // 2) < 2, across))


def _even(way, count):
    """A line of points (k, 3) with `count` points at equal distances."""
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(way, axis=0), axis=1))])
    at = np.linspace(0.0, along[-1], count)
    return np.column_stack([np.interp(at, along, way[:, c]) for c in range(3)])


def _slope(parts, points):
    """(n, 3) unit normals of the surfaces that lie as far off as the points."""
    step = 1e-3
    found = [surface.distances(parts, points + d) - surface.distances(parts, points - d) for d in np.eye(3) * step]
    return np.stack(found, axis=1) / np.linalg.norm(np.stack(found, axis=1), axis=1)[:, None]


def off(part, gap):
    """A part of a body that is thicker by a gap [m]."""
    return part._replace(low=part.low - gap, high=part.high + gap, distance=lambda points: part.distance(points) - gap)


@cache
def _top(hem, sleeve, loose):
    """Points and faces of a shirt: the surface a `GAP` off the body and off a wider form, cut open at neck, hem and
    sleeves; `sleeve` is how far along the arm it goes [m].
    """
    parts = [
        off(part, GAP)
        for part in figure.flesh()
        if not part.carve and 0.75 < 0.5 * (part.low + part.high)[2] < 1.53 and np.abs(part.low + part.high)[0] < 0.9
    ]
    low = hem - 0.10
    rows = [(0.0, 0.185, 0.165, 0.0), (0.45, 0.180, 0.150, 0.0), (0.8, 0.170, 0.130, 0.0), (1.0, 0.140, 0.100, 0.0)]
    rows = [(at, wide + loose, deep + loose, shift) for at, wide, deep, shift in rows]
    parts.append(surface.loft((0, 0.012, low), (0, 0.008, 1.34), (0, -1, 0), rows, 0.05))
    for sign in (1.0, -1.0):
        start, end = (p * [sign, 1, 1] for p in (figure.SHOULDER, figure.SHOULDER + (sleeve + 0.08) * figure.ARM))
        profile = [(0.0, 0.060, 0.066, 0.0), (0.5, 0.066, 0.070, 0.0), (1.0, 0.070, 0.074, 0.0)]
        parts.append(surface.loft(start, end, (0, -1, 0), profile, 0.03))
    points, quads = surface.polygonise(parts, SPACING)
    points, triangles = surface.remesh(points, surface.triangulated(points, quads), np.full(len(points), EDGE))
    points = surface.relax(parts, points, triangles, rounds=8)
    cuts = [((0.0, 0.0, 1.495), (0.0, -0.5, 1.0), 0.0), ((0.0, 0.0, hem), (0.0, 0.0, -1.0), 0.0)]
    for sign in (1.0, -1.0):
        cuts.append(((figure.SHOULDER + sleeve * figure.ARM) * [sign, 1, 1], figure.ARM * [sign, 1, 1], sign))
    return _cut(points, triangles, cuts)


def _cut(points, triangles, planes):
    """Points and faces of a mesh without what lies beyond planes of (point, normal outwards, side); a plane of side 1 or -1
    cuts nothing but that arm. What lies close to a plane is moved onto it, so that no slivers are left.
    """
    mesh = bmesh.new()
    vertices = [mesh.verts.new(p) for p in points.tolist()]
    for face in triangles.tolist():
        mesh.faces.new([vertices[k] for k in face])
    for place, normal, side in planes:
        place, normal = Vector(place), Vector(normal).normalized()
        near = [v for v in mesh.verts if side * v.co.x >= ARMPIT * abs(side)]
        for vertex in near:
            above = (vertex.co - place) @ normal
            if abs(above) < SNAP * EDGE:
                vertex.co -= above * normal
        chosen = set(near)
        faces = [face for face in mesh.faces if chosen.issuperset(face.verts)]
        parts = [*near, *{edge for face in faces for edge in face.edges}, *faces]
        bmesh.ops.bisect_plane(mesh, geom=parts, dist=1e-6, plane_co=place, plane_no=normal, clear_outer=True)
        rim = [v for v in mesh.verts if abs((v.co - place) @ normal) < 1e-5]
        bmesh.ops.remove_doubles(mesh, verts=rim, dist=SNAP * EDGE)
    mesh.verts.index_update()
    found = np.array([v.co[:] for v in mesh.verts]), [[v.index for v in face.verts] for face in mesh.faces]
    mesh.free()
    return found


def shirt(fabric="Jersey", hem=0.86, sleeve=0.20, loose=0.0, layer=0, name="T-Shirt"):
    """A T-shirt with short sleeves, not held by anything but the shoulders."""
    points, faces = _top(hem, sleeve, loose)
    pattern = []
    for face in faces:
        corners = points[face]
        front = np.cross(corners[1] - corners[0], corners[2] - corners[0])[1] < 0.0
        pattern.append(np.column_stack([corners[:, 2], corners[:, 0] if front else 1.0 - corners[:, 0]]))
    return Garment(name, fabric, points, faces, pattern, np.zeros(len(points), bool), layer)


def add(collection, garment, wearer, rig, material, values):
    """Make an object of a garment, of a fabric whose `values` are those of a preset; what is held moves as the skin of the
    `wearer` below it, or as its bone.
    """
    mesh = bpy.data.meshes.new(garment.name)
    mesh.from_pydata(garment.points.tolist(), [], garment.faces)
    mesh.shade_smooth()
    mesh.materials.append(material)
    mesh.uv_layers.new(name="Pattern").uv.foreach_set(
        "vector", np.concatenate(garment.pattern).astype(np.float32).ravel()
    )
    obj = bpy.data.objects.new(garment.name, mesh)
    collection.objects.link(obj)
    cloth = obj.taffeta_cloth
    cloth.enabled, cloth.uv_map, cloth.layer = True, "Pattern", garment.layer
    for name, number in values.items():
        prop = getattr(cloth, name)
        if hasattr(prop, "value"):
            prop.value = number
        else:
            setattr(cloth, name, number)
    if garment.held.any():
        sheet.paint_group(obj, "Pin", garment.held.astype(float))
        sheet.map_group(obj, "pin", "Pin", 0.0, 1.0)
        of_bone = {garment.bone: garment.held.astype(float)}
        for bone, weights in (of_bone if garment.bone else _skinned(garment, wearer)).items():
            sheet.paint_group(obj, bone, weights)
        obj.modifiers.new("Armature", "ARMATURE").object = rig
    return obj


def _skinned(garment, wearer):
    """{bone: (n,) weights} of a garment's held vertices: means of those of the wearer's nearest vertices, by distance."""
    x, _ = body()
    held = np.flatnonzero(garment.held)
    far, near = cKDTree(x).query(garment.points[held], NEAREST)
    share = (1.0 / far) / np.sum(1.0 / far, axis=1, keepdims=True)
    names, found = [group.name for group in wearer.vertex_groups], {}
    for vertex, whose, parts in zip(held, near, share, strict=True):
        for one, part in zip(whose, parts, strict=True):
            for group in wearer.data.vertices[one].groups:
                found.setdefault(names[group.group], np.zeros(len(garment.points)))[vertex] += part * group.weight
    return found
