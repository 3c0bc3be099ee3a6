# SPDX-License-Identifier: GPL-3.0-or-later
"""Edges selected by their places, and what a mesh looks like, for tests of what is marked in Edit Mode."""

import bpy


def select(obj, wanted):
    """Select edges by their ends' places, in Edit Mode."""
    if obj.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    vertices = obj.data.vertices
    for each in (*obj.data.polygons, *vertices):
        each.select = False
    for edge in obj.data.edges:
        edge.select = wanted(*(vertices[k].co for k in edge.vertices))
        for k in edge.vertices:
            vertices[k].select |= edge.select
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_mode(type="EDGE")


def corners(obj):
    """What each face corner looks like: its place, its UV, its weight; sorted."""
    bpy.ops.object.mode_set(mode="OBJECT")
    mesh, found = obj.data, []
    for face in mesh.polygons:
        for loop in face.loop_indices:
            vertex = mesh.vertices[mesh.loops[loop].vertex_index]
            shape = obj.data.shape_keys.key_blocks["Apart"].data[vertex.index].co
            weight = sum(group.weight for group in vertex.groups)
            found.append((*vertex.co, *mesh.uv_layers[0].uv[loop].vector, *shape, weight))
    return sorted(found)
