# SPDX-License-Identifier: GPL-3.0-or-later
"""A surface meshed anew by triangles with edges of nearly one length, or of one that changes over it (Botsch and Kobbelt 2004,
section 4; with a length a vertex as Dunyach et al. 2013, Adaptive Remeshing for Real-Time Mesh Deformation, section 3): split
what is long, collapse what is short, flip, relax along the surface and project back to it.

Lines stay where they are: borders, and what else is given as such. Vertices move along these alone, and where lines meet, end or
turn sharply they stay. Blender's own tools change the mesh; what is collapsed is chosen here, so that no border is pinched.
"""

from collections.abc import Generator
from typing import NamedTuple

import bmesh
import bpy
import numpy as np
from mathutils import Vector
from mathutils.bvhtree import BVHTree

LONG, SHORT = 4.0 / 3.0, 4.0 / 5.0  # of the wanted length, beyond which edges are split and collapsed
ROUNDS = 5  # of all steps at the wanted length
SWEEPS = 3  # over all short edges in a round: neighbours cannot be collapsed in one
GROWTH = 1.5  # by which edges become longer in a round before
EXTRA_ROUNDS = 16  # after those, at most, in which a wanted count of vertices is met
EAGER = 0.7  # exponent of too many or few vertices by which edges become longer in a round; 0.5 where all of them did so at once
NEAR_COUNT = 0.02  # part by which the count may differ then
SHARP = np.cos(np.radians(40.0))  # of a line's turn, from which on the vertex stays
TURNED = 0.2  # cosine between a triangle's normals before and after a collapse, at least
FOLDED = 0.5  # the same of the two triangles beside an edge that may be flipped


class Meshed(NamedTuple):
    """A mesh that was made."""

    x: np.ndarray  # (k, 3) [m] vertices
    faces: np.ndarray  # (m, 3)
    lines: np.ndarray  # (l, 2) edges that lie on lines of the surface


class Surface(NamedTuple):
    """What the new mesh has to lie on."""

    tree: BVHTree
    normal: np.ndarray  # (t, 3)
    line: BVHTree  # of lines
    corner: np.ndarray  # (t, 3, 3) [m]
    share: np.ndarray | None  # (t, 3) of the length, that edges are to have at its corners; None: all of it


class Wanted(NamedTuple):
    """How long edges are to be: `length` times the mean of what both ends keep in `layer`, and no more than `most`."""

    layer: object  # of vertices, numbers
    length: float  # [m]
    most: float = np.inf  # [m]

    def at(self, vert) -> float:
        """[m] about a vertex."""
        return min(self.length * vert[self.layer], self.most)

    def between(self, a, b) -> float:
        """[m] of an edge from a to b."""
        return 0.5 * (self.at(a) + self.at(b))


def length_for(triangles: np.ndarray, x: np.ndarray, count: int) -> float:
    """Edge length [m] with which a surface has about so many vertices, each with the area of two equilateral triangles."""
    a, b, c = (x[triangles[:, k]] for k in range(3))
    area = 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1).sum()
    return float(np.sqrt(2.0 * area / (np.sqrt(3.0) * count)))


def remeshing(
    x: np.ndarray, triangles: np.ndarray, lines: np.ndarray, length: np.ndarray, count: int = 0
) -> Generator[float, None, Meshed]:
    """A mesh on the surface of x (n, 3) [m], triangles (t, 3), of which borders and the edges `lines` (l, 2) stay lines. In parts: after
    each it yields the share of all that is done.

    length : (n,) [m] that edges are to have about each vertex
    count : how many vertices there are to be; all lengths are made longer or shorter for that. 0: as many as there are.
    """
    mesh = bpy.data.meshes.new("Taffeta Cage")
    bm = bmesh.new()
    try:
        _fill(mesh, x, triangles)
        bm.from_mesh(mesh)
        layer = bm.verts.layers.float.new("taffeta_share")  # before vertices are kept anywhere: it moves them in memory
        _mark(bm, triangles, lines)
        longest = float(length.max())
        surface = _surface(bm, x, triangles, None if (length == longest).all() else length / longest)
        _sized(bm, surface, layer)
        yield from _round_after_round(bm, surface, Wanted(layer, longest), count)
        bmesh.ops.triangulate(bm, faces=[face for face in bm.faces if len(face.verts) > 3])
        bmesh.ops.delete(bm, geom=[vert for vert in bm.verts if not vert.link_faces], context="VERTS")
        bm.verts.index_update()
        made = np.array([vert.co for vert in bm.verts], float).reshape(-1, 3)
        faces = np.array([[vert.index for vert in face.verts] for face in bm.faces], int).reshape(-1, 3)
        kept = [[vert.index for vert in edge.verts] for edge in bm.edges if _is_line(edge)]
        return Meshed(made, faces, np.array(kept, int).reshape(-1, 2))
    finally:
        bm.free()
        bpy.data.meshes.remove(mesh)


def _fill(mesh, x, triangles):
    """The vertices that triangles use, and these."""
    used, number = np.unique(triangles, return_inverse=True)
    mesh.from_pydata(x[used].tolist(), [], number.reshape(-1, 3).tolist())


def _mark(bm, triangles, lines):
    """Mark the edges that are lines, as seams, because Blender hands these on where it splits edges."""
    used = np.unique(triangles)
    number = {int(vertex): k for k, vertex in enumerate(used)}
    bm.verts.ensure_lookup_table()
    for a, b in lines.tolist():
        if a in number and b in number and a != b:
            edge = bm.edges.get((bm.verts[number[a]], bm.verts[number[b]]))
            if edge is not None:
                edge.seam = True


def _surface(bm, x, triangles, share) -> Surface:
    a, b, c = (x[triangles[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    normal /= np.maximum(np.linalg.norm(normal, axis=1), 1e-300)[:, None]
    line = segments_tree(np.array([[vert.co for vert in edge.verts] for edge in bm.edges if _is_line(edge)], float))
    tree = BVHTree.FromPolygons(x.tolist(), triangles.tolist(), all_triangles=True)
    return Surface(tree, normal, line, np.stack((a, b, c), axis=1), None if share is None else share[triangles])


def segments_tree(ends: np.ndarray) -> BVHTree:
    """Segments (l, 2, 3), each as a triangle of which two corners are at one place, to look for the nearest point of."""
    corners = np.arange(2 * len(ends)).reshape(-1, 2)[:, [0, 1, 1]]
    return BVHTree.FromPolygons(ends.reshape(-1, 3).tolist(), corners.tolist(), all_triangles=True)


def _sized(bm, surface, layer):
    """Let vertices know what share of the length edges are to have about them, by where on the surface they are."""
    verts = list(bm.verts)
    if surface.share is None:
        for vert in verts:
            vert[layer] = 1.0
        return
    found = [surface.tree.find_nearest(vert.co) for vert in verts]
    face, foot = np.array([hit[2] for hit in found], int), np.array([hit[0] for hit in found], float)
    weight = _weights(foot, surface.corner[face])
    for vert, share in zip(verts, np.einsum("pk,pk->p", weight, surface.share[face]).tolist(), strict=True):
        vert[layer] = share


def _weights(x, corner):
    """Barycentric weights (p, 3) of points (p, 3) on triangles with these corners (p, 3, 3); even ones where a triangle has no
    area."""
    sides = [np.cross(corner[:, (k + 2) % 3] - x, corner[:, (k + 1) % 3] - x) for k in range(3)]
    area = np.stack([np.linalg.norm(side, axis=1) for side in sides], axis=1)
    whole = area.sum(axis=1)
    return np.where(whole[:, None] > 0.0, area / np.maximum(whole, 1e-300)[:, None], 1.0 / 3.0)


def _is_line(edge) -> bool:
    return edge.seam or edge.is_boundary


def _lines(vert) -> list:
    return [edge for edge in vert.link_edges if edge.seam or edge.is_boundary]


def _round_after_round(bm, surface, wanted, count):
    places = {tuple(vert.co) for vert in bm.verts if _is_corner(vert)}
    corners = _at(bm, places)
    now = float(np.mean([edge.calc_length() for edge in bm.edges]))
    grown = 0
    while now * GROWTH ** (grown + 1) < wanted.length:
        grown += 1
    work = np.cumsum([now**-2.0 * GROWTH ** (-2.0 * k) for k in range(grown)] + [wanted.length**-2.0] * ROUNDS)
    share = [0.0, *(work / work[-1]).tolist()]  # of all that is done before each round, by how many vertices it finds
    for k in range(grown):  # a fine mesh becomes coarse by and by, so that its triangles stay in shape
        now *= GROWTH
        for _ in _collapse(bm, corners, wanted._replace(most=now)):
            yield share[k]
        _flip(bm)
        yield share[k]
        _relax(bm, corners, surface, wanted)
        yield share[k + 1]
    for done in range(ROUNDS + EXTRA_ROUNDS):
        if done >= ROUNDS:
            ratio = len(bm.verts) / count if count else 1.0
            if abs(ratio - 1.0) < NEAR_COUNT:
                return
            wanted = wanted._replace(length=wanted.length * ratio**EAGER)
        _split(bm, wanted)
        corners = _at(bm, places)  # anew, because Blender forgets what it knew of vertices where it splits edges
        for _ in _collapse(bm, corners, wanted):
            yield share[min(grown + done, len(share) - 1)]
        _flip(bm)
        _relax(bm, corners, surface, wanted)
        yield share[min(grown + done + 1, len(share) - 1)]


def _at(bm, places) -> set:
    """Vertices at these places, where corners stay to the bit."""
    return {vert for vert in bm.verts if tuple(vert.co) in places}


def _is_corner(vert) -> bool:
    """Lines meet, end or turn here."""
    lines = _lines(vert)
    if not lines:
        return False
    if len(lines) != 2:
        return True
    one, other = ((edge.other_vert(vert).co - vert.co).normalized() for edge in lines)
    return -one.dot(other) < SHARP


def _split(bm, wanted):
    """Cut long edges in half, and what they bound into triangles."""
    long = [edge for edge in bm.edges if edge.calc_length() > LONG * wanted.between(*edge.verts)]
    if long:
        bmesh.ops.subdivide_edges(bm, edges=long, cuts=1)
        bmesh.ops.triangulate(bm, faces=[face for face in bm.faces if len(face.verts) > 3])


def _collapse(bm, corners, wanted):
    """Make short edges one vertex, the shortest first; yields after each sweep."""
    for _ in range(SWEEPS):
        bm.normal_update()
        sizes = ((edge.calc_length(), wanted.between(*edge.verts), edge) for edge in bm.edges)
        short = [(size / aim, edge.index, edge) for size, aim, edge in sizes if size < SHORT * aim]
        short.sort(key=lambda s: s[:2])
        for vert in bm.verts:
            vert.tag = False
        target = {}
        for _, _, edge in short:
            if edge.verts[0].tag or edge.verts[1].tag:
                continue
            kept, gone, place = _merged(edge, corners)
            if kept is None or not _is_safe(edge, kept, gone, place, wanted):
                continue
            for vert in (kept, gone):
                for beside in vert.link_edges:
                    beside.other_vert(vert).tag = True
            target[gone] = kept
            kept.co = place
        if not target:
            return
        bmesh.ops.weld_verts(bm, targetmap=target)
        bm.edges.index_update()
        yield


def _merged(edge, corners):
    """(vertex that stays, vertex that goes, where it is then); (None, None, None) for an edge that joins two lines."""
    a, b = edge.verts
    on_a, on_b = len(_lines(a)), len(_lines(b))
    if b in corners or (on_b and not on_a):
        a, b, on_a, on_b = b, a, on_b, on_a
    if b in corners or (on_b and not _is_line(edge)):
        return None, None, None
    middle = 0.5 * (a.co + b.co)
    stays = a in corners or (on_a and not on_b)
    return a, b, a.co.copy() if stays else middle


def _is_safe(edge, kept, gone, place, wanted) -> bool:
    """The surface stays one, no triangle turns over, and no edge becomes long."""
    around = [{one.other_vert(vert) for one in vert.link_edges} for vert in (kept, gone)]
    if len(around[0] & around[1]) != len(edge.link_faces):
        return False
    if len(edge.link_faces) == 1 and len(around[0] | around[1]) < 4:
        return False
    beside = (around[0] | around[1]) - {kept, gone}
    if any((vert.co - place).length > LONG * wanted.between(vert, kept) for vert in beside):
        return False
    for vert in (kept, gone):
        for face in vert.link_faces:
            if kept in face.verts and gone in face.verts:
                continue
            p, q, r = (place if corner is vert else corner.co for corner in face.verts)
            normal = (q - p).cross(r - p)
            if normal.length == 0.0 or normal.normalized().dot(face.normal) < TURNED:
                return False
    return True


def _flip(bm):
    """Turn edges for rounder triangles; lines and folds stay. By areas, because by angles Blender leaves what is quite flat uneven."""
    bm.normal_update()
    edges = [
        edge
        for edge in bm.edges
        if not edge.seam
        and len(edge.link_faces) == 2
        and edge.link_faces[0].normal.dot(edge.link_faces[1].normal) > FOLDED
    ]
    bmesh.ops.beautify_fill(bm, faces=bm.faces[:], edges=edges, method="AREA")


def _relax(bm, corners, surface, wanted):
    """Move each vertex to the middle of its neighbours, along the surface or its line, and back onto that."""
    bm.normal_update()
    bm.verts.index_update()
    x = np.array([vert.co for vert in bm.verts], float)
    normal = np.array([vert.normal for vert in bm.verts], float)
    ends = np.array([[vert.index for vert in edge.verts] for edge in bm.edges], int)
    is_line = np.array([_is_line(edge) for edge in bm.edges], bool)
    share = np.array([vert[wanted.layer] for vert in bm.verts])
    pull = 2.0 / (
        share[ends[:, 0]] + share[ends[:, 1]]
    )  # so that edges come to rest at lengths that go by their shares
    moved = _middles(x, ends, pull) - x
    moved -= np.einsum("ij,ij->i", moved, normal)[:, None] * normal
    on_line = np.zeros(len(x), bool)
    on_line[ends[is_line]] = True
    moved[on_line] = (_middles(x, ends[is_line], pull[is_line]) - x)[on_line]
    held = np.array([vert.index for vert in corners if vert.is_valid], int)
    moved[held] = 0.0
    to = x + moved
    free = np.flatnonzero(~on_line)
    to[free] = _onto(surface, to[free], normal[free])
    on_line[held] = False
    for k in np.flatnonzero(on_line).tolist():
        to[k] = surface.line.find_nearest(to[k].tolist())[0]
    for vert, place in zip(bm.verts, to.tolist(), strict=True):
        vert.co = Vector(place)
    if surface.share is not None:
        _sized(bm, surface, wanted.layer)


def _middles(x, ends, pull):
    """Where the mean of each vertex's neighbours by edges (e, 2) is, each as heavy as its edge's `pull` (e,); 0 without any."""
    total, weight = np.zeros_like(x), np.bincount(ends.ravel(), np.repeat(pull, 2), len(x))
    for k in range(3):
        total[:, k] = np.bincount(ends[:, 0], pull * x[ends[:, 1], k], len(x)) + np.bincount(
            ends[:, 1], pull * x[ends[:, 0], k], len(x)
        )
    return total / np.where(weight > 0.0, weight, 1.0)[:, None]


def _onto(surface, x, normal):
    """The nearest points of the surface, (f, 3); where that looks the other way, as of a layer below, x stays."""
    for k, point in enumerate(x.tolist()):
        place, _, face, _ = surface.tree.find_nearest(point)
        if place is not None and surface.normal[face] @ normal[k] > 0.0:
            x[k] = place
    return x
