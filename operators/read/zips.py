# SPDX-License-Identifier: GPL-3.0-or-later
"""Zips in a mesh: sewing edges that say, as an attribute, how far the garment's zips are open when each of them opens.

A zip within a sheet is cut, as a tear line is: the vertices of its line are doubled, with their weights, UVs and shapes, and a sewing
edge without length joins both of each place.
"""

import bmesh
import bpy
import numpy as np

from . import arrays, tear_lines

OPENS = "taffeta_zip"  # of each sewing edge, above 0 up to 1; 0 where it is no zip


def is_within(obj: bpy.types.Object) -> bool:
    """Whether the edges that are selected in Edit Mode lie between faces, and not on rims."""
    work = bmesh.from_edit_mesh(obj.data)
    chosen = [edge for edge in work.edges if edge.select and edge.link_faces]
    return bool(chosen) and all(len(edge.link_faces) > 1 for edge in chosen)


def cut(obj: bpy.types.Object, line: np.ndarray) -> np.ndarray:
    """Cut an object along its selected edges in Edit Mode, which make the line (n,) of vertices; returns the pairs (s, 2) of
    vertices that there are now in one place, as they follow each other along it, from a border on if it has one end there.

    Raises
    ------
    ValueError
        It cannot open, or meets another border: a sentence with a remedy; nothing is changed.
    """
    work = bmesh.from_edit_mesh(obj.data)
    work.verts.ensure_lookup_table()
    borders = [sum(edge.is_boundary for edge in work.verts[k].link_edges) for k in line]
    if any(borders[1:-1]) or max(borders) > 2:
        raise ValueError(f"{obj.name}: the line meets a border or another cut; select a part that does not")
    if len(line) < 3 and not any(borders):
        raise ValueError(
            f"{obj.name}: a zip of one edge within the cloth cannot open; select two or more in a line, or one that ends at a border"
        )
    chosen = [edge for edge in work.edges if edge.select and edge.link_faces]
    places = {tuple(work.verts[k].co): rank for rank, k in enumerate(line)}
    both = tear_lines.split(work, chosen)
    work.verts.index_update()
    rims = [[] for _ in line]
    for vertex in sorted({end for edge in both for end in edge.verts}, key=lambda vertex: vertex.index):
        rims[places[tuple(vertex.co)]].append(vertex.index)
    bmesh.update_edit_mesh(obj.data, loop_triangles=True, destructive=True)
    rims = rims[::-1] if borders[-1] > borders[0] else rims
    return np.array([pair for pair in rims if len(pair) == 2], int).reshape(-1, 2)


def mark(obj: bpy.types.Object, pairs: np.ndarray, opens: np.ndarray) -> None:
    """Make zips of the sewing edges between `pairs` (s, 2), in Edit Mode; opens : (s,) how far zips are open when each opens."""
    work = bmesh.from_edit_mesh(obj.data)
    layer = work.edges.layers.float.get(OPENS) or work.edges.layers.float.new(OPENS)
    work.verts.ensure_lookup_table()
    for pair, value in zip(pairs.tolist(), opens.tolist(), strict=True):
        work.edges.get([work.verts[index] for index in pair])[layer] = value
    bmesh.update_edit_mesh(obj.data, loop_triangles=False, destructive=False)


def clear(obj: bpy.types.Object, every: bool) -> tuple[int, int]:
    """Make seams of the zips that end at what is selected in Edit Mode, or of `every` one, and cloth in one piece of those that were
    cut; returns how many edges, and how many vertices there are fewer.

    Raises
    ------
    ValueError
        There is none: a sentence with a remedy.
    """
    work = bmesh.from_edit_mesh(obj.data)
    layer, count = work.edges.layers.float.get(OPENS), len(work.verts)
    chosen = [
        edge
        for edge in work.edges
        if layer is not None and edge[layer] != 0.0 and (every or any(end.select for end in edge.verts))
    ]
    if not chosen:
        raise ValueError(f"{obj.name}: {'it has no zip' if every else 'no zip is selected; select one of its rims'}")
    first, target = {}, {}
    for edge in chosen:
        edge[layer] = 0.0
        one, other = (tuple(end.co) for end in edge.verts)
        for end in edge.verts if one == other else ():
            if first.setdefault(one, end) is not end:
                target[end] = first[one]
    bmesh.ops.weld_verts(work, targetmap=target)
    bmesh.update_edit_mesh(obj.data, loop_triangles=True, destructive=True)
    return len(chosen), count - len(work.verts)


def marked(mesh: bpy.types.Mesh) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (z, 2) of a mesh's zips, and how far they are open when each opens (z,)."""
    attribute = mesh.attributes.get(OPENS)
    if attribute is None or (attribute.domain, attribute.data_type) != ("EDGE", "FLOAT") or not len(attribute.data):
        return np.zeros((0, 2), np.int32), np.zeros(0)
    opens = arrays.stored_values(attribute)[:, 0].astype(np.float64)
    opens[arrays.corner_edge(mesh)] = 0.0  # what has a face sews nothing
    return arrays.edges(mesh)[opens != 0.0], opens[opens != 0.0]


def read(obj: bpy.types.Object) -> dict:
    """The fields of `solver.model.Garment` about zips; empty where none is marked."""
    edges, opens = marked(obj.data)
    return dict(zip_edges=edges, zip_opens=opens) if len(edges) else {}


def sewn_now(obj: bpy.types.Object) -> np.ndarray:
    """Vertices (s, 2) of a garment's sewing edges, without those of zips that are open in this frame."""
    edges, opens = marked(obj.data)
    gone = {tuple(ends) for ends in edges[opens <= obj.taffeta_cloth.zip_open].tolist()}
    sewn = arrays.sewing_edges(obj.data)
    return sewn[[tuple(ends) not in gone for ends in sewn.tolist()]] if gone else sewn
