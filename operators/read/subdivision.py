# SPDX-License-Identifier: GPL-3.0-or-later
"""Each face of a mesh becomes four, in the same shape; UV maps, vertex groups, shape keys and attributes come along."""

import bmesh
import bpy

from .modifier_stack import own_modifiers
from .zips import OPENS

LARGEST_FACE = 4  # corners; what has more is cut into triangles about its middle before

# Modifiers that know single vertices, and when.
BOUND = {
    "SURFACE_DEFORM": lambda modifier: modifier.is_bound,
    "MESH_DEFORM": lambda modifier: modifier.is_bound,
    "LAPLACIANDEFORM": lambda modifier: modifier.is_bind,
    "CORRECTIVE_SMOOTH": lambda modifier: modifier.is_bind,
    "MULTIRES": lambda modifier: modifier.total_levels > 0,
    "HOOK": lambda modifier: not modifier.vertex_group,
    "MESH_CACHE": lambda modifier: True,
    "MESH_SEQUENCE_CACHE": lambda modifier: True,
}


def bound(obj: bpy.types.Object) -> tuple[str, str]:
    """Names of an object and of its modifier that would not know new vertices of `obj`: its own, ours aside, or one by
    which something else sticks to it. ("", "") if there is none."""
    own = own_modifiers(obj)
    for modifier in obj.modifiers:
        if modifier not in own and modifier.type in BOUND and BOUND[modifier.type](modifier):
            return obj.name, modifier.name
    for other in bpy.data.objects:
        for modifier in other.modifiers:
            if modifier.type == "SURFACE_DEFORM" and modifier.target == obj and modifier.is_bound:
                return other.name, modifier.name
    return "", ""


def subdivide(mesh: bpy.types.Mesh) -> None:
    """Cut each edge of a face in half and each triangle or quad into four; the vertices that there were keep their numbers.

    Edges without a face are threads that sew: they stay whole, and where two of them hold two rims together, the new
    vertices between are sewn, too; between two stitches of a zip by one that opens between them.
    """
    work = bmesh.new()
    try:
        work.from_mesh(mesh)
        count, rims = len(work.verts), _sewn_rims(work)
        bmesh.ops.poke(work, faces=[face for face in work.faces if len(face.verts) > LARGEST_FACE])
        bmesh.ops.subdivide_edges(work, edges=[e for e in work.edges if e.link_faces], cuts=1, use_grid_fill=True)
        work.verts.index_update()
        work.verts.ensure_lookup_table()
        for rim, opens in rims:
            pair = [_between(work, ends, count) for ends in rim]
            thread = work.edges.get(pair) or work.edges.new(pair)
            if opens:
                thread[work.edges.layers.float[OPENS]] = opens
        work.to_mesh(mesh)
    finally:
        work.free()
    mesh.update()


def _sewn_rims(work) -> list[tuple[tuple[tuple[int, int], tuple[int, int]], float]]:
    """Edges of faces that are sewn to each other, as numbers of vertices: threads lead from either end of the one to one of
    the other, or they share it. With each how far a zip is open when what is between opens, 0 where that is no zip."""
    found, layer = {}, work.edges.layers.float.get(OPENS)
    for thread in work.edges:
        if thread.link_faces:
            continue
        a, b = thread.verts
        others = {edge.other_vert(b) for edge in b.link_edges if edge.link_faces}
        for end in [edge.other_vert(a) for edge in a.link_edges if edge.link_faces]:
            for other in (end, *(edge.other_vert(end) for edge in end.link_edges if not edge.link_faces)):
                if other in others:
                    rim = (a.index, end.index), (b.index, other.index)
                    ends = [thread] if end is other else [thread, work.edges.get((end, other))]
                    opens = [0.0 if layer is None else each[layer] for each in ends]
                    found[frozenset(map(frozenset, rim))] = rim, sum(opens) / len(opens) if all(opens) else 0.0
    return list(found.values())


def _between(work, ends: tuple[int, int], count: int):
    """The vertex that was made between two of the `count` that there were."""
    near, far = ({edge.other_vert(v) for edge in v.link_edges} for v in (work.verts[end] for end in ends))
    return next(v for v in near & far if v.index >= count)
