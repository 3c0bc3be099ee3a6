# SPDX-License-Identifier: GPL-3.0-or-later
"""Tear lines in a mesh: edges that are cut, with the strength that holds them together as an attribute.

Cutting doubles the vertices of a line, each side with its own faces, weights, UVs and shapes, so nothing looks different and
the mesh keeps its vertices while it tears. Merged vertices are what it was before.
"""

import bmesh
import bpy
import numpy as np

from . import arrays

ASLANT = 0.36  # tangent of 20 degrees, that an edge may be off a thread
LEAST = 0.001  # of a strength, that paint leaves of it
STRENGTH = "taffeta_tear"  # of each edge [N/m]; 0 where it does not tear


def mark(
    obj: bpy.types.Object, strength: float, weft: float = 1.0, uv_map: str = "", painted: str = ""
) -> tuple[int, int]:
    """Cut an object along the edges that are selected in Edit Mode and give them a strength [N/m]; returns how many edges are
    marked, and how many vertices there are more.

    weft : how many times as strong the weft's threads are as the warp's, which run along u of the UV map. A line at the angle t to
    the warp has the strength S (sin^2 t + weft cos^2 t), because along the warp it parts threads of the weft.
    painted : vertex group; of an edge's strength so much is left as its ends weigh on average, `LEAST` at least

    Raises
    ------
    ValueError
        Nothing of what is selected can come apart, or no UV map tells the threads: a sentence with a remedy.
    """
    if weft != 1.0 and obj.data.uv_layers.get(uv_map) is None:
        raise ValueError(f"{obj.name} has no Pattern that tells warp and weft; choose its UV map, or leave Weft at 1")
    if painted and painted not in obj.vertex_groups:
        raise ValueError(
            f"{obj.name} has no vertex group {painted}; choose one that is painted, or leave Painted empty"
        )
    work = bmesh.from_edit_mesh(obj.data)
    layer = work.edges.layers.float.get(STRENGTH) or work.edges.layers.float.new(STRENGTH)
    uv = work.loops.layers.uv.get(uv_map) if weft != 1.0 else None
    chosen = [edge for edge in work.edges if edge.select and edge.link_faces]
    inner = [edge for edge in chosen if len(edge.link_faces) > 1]
    again = [edge for edge in chosen if edge[layer] > 0.0]
    if not inner and not again:
        raise ValueError(f"{obj.name}: no edge between faces is selected; select the edges along which it is to tear")
    before = {edge: edge[layer] for edge in chosen}
    for edge in _with_partners(work, layer, again) + inner:
        edge[layer] = strength if uv is None else strength * (1.0 + (weft - 1.0) * _along_warp(edge, uv))
        if painted:
            edge[layer] *= max(_weight(edge, work.verts.layers.deform.active, obj.vertex_groups[painted].index), LEAST)
    told, count = len({_place(edge) for edge in (*inner, *again)}), len(work.verts)
    split(work, inner)
    more = len(work.verts) - count
    if inner and not more:
        for edge, value in before.items():
            edge[layer] = value
        raise ValueError(
            f"{obj.name}: what is selected ends within the cloth after one edge, and cannot open; select two edges or more in a "
            "line, or one that ends at a border"
        )
    bmesh.update_edit_mesh(obj.data, loop_triangles=True, destructive=True)
    return told, more


def split(work: bmesh.types.BMesh, edges: list) -> list:
    """Cut a mesh along edges between faces, and return them with those beside them. Sewing edges stay with the cloth: each with one of
    the sides at its vertex.
    """
    ends = {vertex for edge in edges for vertex in edge.verts}
    sewn = [
        (edge, edge.verts[0] != vertex, vertex.link_faces[0])  # an edge keeps the order of its ends
        for vertex in ends
        if vertex.link_faces
        for edge in vertex.link_edges
        if not edge.link_faces
    ]
    both = bmesh.ops.split_edges(work, edges=edges)["edges"]
    target = {}
    for edge, end, face in sewn:
        vertex = edge.verts[end]
        if not vertex.link_faces:
            target[vertex] = next(corner for corner in face.verts if corner.co == vertex.co)
    bmesh.ops.weld_verts(work, targetmap=target)
    return both


def select_free(obj: bpy.types.Object, uv_map: str, along_threads: bool) -> int:
    """Select in Edit Mode the edges between faces of an object that are no tear lines yet, and nothing else; returns how many.

    along_threads : those alone that run along u or v of the UV map, or, where there is none of this name, between quads

    Raises
    ------
    ValueError
        There is none: a sentence with a remedy.
    """
    work = bmesh.from_edit_mesh(obj.data)
    layer, uv = work.edges.layers.float.get(STRENGTH), work.loops.layers.uv.get(uv_map)
    found = [
        edge
        for edge in work.edges
        if len(edge.link_faces) > 1
        and not (layer and edge[layer] > 0.0)
        and (not along_threads or _is_thread(edge, uv))
    ]
    if not found:
        kinds = (
            "along the threads that may tear; take all edges, or choose a Pattern" if along_threads else "that may tear"
        )
        raise ValueError(f"{obj.name} has no edge between faces {kinds}")
    for face in work.faces:
        face.select_set(False)
    for element in (*work.edges, *work.verts):
        element.select = False
    for edge in found:
        edge.select = True
    return len(found)


def _is_thread(edge, uv) -> bool:
    """Whether an edge runs along warp or weft."""
    if uv is None:
        return all(len(face.verts) == 4 for face in edge.link_faces)
    u, v = _way(edge, uv)
    return min(abs(u), abs(v)) <= ASLANT * max(abs(u), abs(v))


def _along_warp(edge, uv) -> float:
    """cos^2 of an edge's angle to the warp; 1/2 where the pattern has it in one point."""
    u, v = _way(edge, uv)
    square = u * u + v * v
    return u * u / square if square > 0.0 else 0.5


def _weight(edge, groups, index) -> float:
    """Mean of what an edge's ends weigh in a vertex group."""
    return 0.0 if groups is None else sum(vertex[groups].get(index, 0.0) for vertex in edge.verts) / 2.0


def _way(edge, uv):
    loop = edge.link_loops[0]
    return loop.link_loop_next[uv].uv - loop[uv].uv


def clear(obj: bpy.types.Object) -> tuple[int, int]:
    """Merge the tear lines again that are selected in Edit Mode; returns how many edges, and how many vertices there are fewer.

    Raises
    ------
    ValueError
        None is selected: a sentence with a remedy.
    """
    work = bmesh.from_edit_mesh(obj.data)
    layer = work.edges.layers.float.get(STRENGTH)
    chosen = [edge for edge in work.edges if edge.select and layer is not None and edge[layer] > 0.0]
    if not chosen:
        raise ValueError(f"{obj.name}: no tear line is selected; select edges of one")
    both = _with_partners(work, layer, chosen)
    for edge in both:
        edge[layer] = 0.0
    ends = {vertex for edge in both for vertex in edge.verts}
    kept = {vertex for vertex in ends if any(edge[layer] > 0.0 for edge in vertex.link_edges)}
    places = {tuple(vertex.co) for vertex in kept}  # where a line goes on, it stays open
    first, target, told, count = {}, {}, len({_place(edge) for edge in both}), len(work.verts)
    for vertex in sorted(ends, key=lambda vertex: vertex.index):
        if tuple(vertex.co) not in places:
            one = first.setdefault(tuple(vertex.co), vertex)
            if one is not vertex:
                target[vertex] = one
    bmesh.ops.weld_verts(work, targetmap=target)
    bmesh.update_edit_mesh(obj.data, loop_triangles=True, destructive=True)
    return told, count - len(work.verts)


def _with_partners(work, layer, chosen):
    """Marked edges, and those that lie on them."""
    wanted = {_place(edge) for edge in chosen}
    return [edge for edge in work.edges if edge[layer] > 0.0 and _place(edge) in wanted]


def _place(edge):
    return tuple(sorted(tuple(vertex.co) for vertex in edge.verts))


def marked(mesh: bpy.types.Mesh) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (k, 2) and strength (k,) [N/m] of a mesh's marked edges."""
    attribute = mesh.attributes.get(STRENGTH)
    if attribute is None or (attribute.domain, attribute.data_type) != ("EDGE", "FLOAT") or not len(attribute.data):
        return np.zeros((0, 2), np.int32), np.zeros(0)
    strength = arrays.stored_values(attribute)[:, 0].astype(np.float64)
    there = strength != 0.0
    return arrays.edges(mesh)[there], strength[there]


def read(obj: bpy.types.Object) -> dict:
    """The fields of `solver.model.Garment` about tearing; empty where nothing is marked."""
    edges, strength = marked(obj.data)
    if not len(edges):
        return {}
    tear = obj.taffeta_cloth.tear
    return dict(
        tear_edges=edges, tear_strength=strength, tear_most=tear.most, tear_piece=tear.piece, tear_run_on=tear.run_on
    )
