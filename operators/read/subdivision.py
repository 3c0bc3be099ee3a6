# SPDX-License-Identifier: GPL-3.0-or-later
"""Each face of a mesh becomes four, in the same shape; UV maps, vertex groups, shape keys and attributes come along."""

import bmesh
import bpy

# Modifiers that were bound to the vertices that there were.
BOUND = {
    "SURFACE_DEFORM": "is_bound", "MESH_DEFORM": "is_bound", "LAPLACIANDEFORM": "is_bind",
    "CORRECTIVE_SMOOTH": "is_bind", "MULTIRES": "total_levels",
}  # fmt: skip


def bound(obj: bpy.types.Object) -> str:
    """Name of a modifier that would not know new vertices; "" if there is none."""
    return next((m.name for m in obj.modifiers if m.type in BOUND and getattr(m, BOUND[m.type])), "")


def subdivide(mesh: bpy.types.Mesh) -> None:
    """Cut each edge of a face in half and each face into four; the vertices that there were keep their numbers.

    Edges without a face are threads that sew: they stay whole, and where two of them hold two rims together, the new
    vertices between are sewn, too.
    """
    work = bmesh.new()
    try:
        work.from_mesh(mesh)
        count, rims = len(work.verts), _sewn_rims(work)
        bmesh.ops.subdivide_edges(work, edges=[e for e in work.edges if e.link_faces], cuts=1, use_grid_fill=True)
        work.verts.index_update()
        work.verts.ensure_lookup_table()
        for rim in rims:
            work.edges.new([_between(work, ends, count) for ends in rim])
        work.to_mesh(mesh)
    finally:
        work.free()
    mesh.update()


def _sewn_rims(work) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Edges of faces that are sewn to each other, as numbers of vertices: threads lead from either end of the one to one of
    the other, or they share it."""
    found = {}
    for thread in work.edges:
        if thread.link_faces:
            continue
        a, b = thread.verts
        others = {edge.other_vert(b) for edge in b.link_edges if edge.link_faces}
        for end in [edge.other_vert(a) for edge in a.link_edges if edge.link_faces]:
            for other in (end, *(edge.other_vert(end) for edge in end.link_edges if not edge.link_faces)):
                if other in others:
                    rim = (a.index, end.index), (b.index, other.index)
                    found[frozenset(map(frozenset, rim))] = rim
    return list(found.values())


def _between(work, ends: tuple[int, int], count: int):
    """The vertex that was made between two of the `count` that there were."""
    near, far = ({edge.other_vert(v) for edge in v.link_edges} for v in (work.verts[end] for end in ends))
    return next(v for v in near & far if v.index >= count)
