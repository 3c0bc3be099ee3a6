# SPDX-License-Identifier: GPL-3.0-or-later
"""Whole arrays out of Blender's data: positions, faces, edges, UV maps, attributes, pixels, keyframes.

Each function makes one copy, in the type that Blender keeps, and says nothing of what it means. Attributes are read
where Blender has them, because that is a plain copy; a mesh in Edit Mode has none, and shows what it was before.
"""

import bpy
import numpy as np

# Attribute type -> (name of the value, numbers per element)
ATTRIBUTE_VALUES = {
    "FLOAT": ("value", 1),
    "INT": ("value", 1),
    "INT8": ("value", 1),
    "BOOLEAN": ("value", 1),
    "FLOAT_COLOR": ("color", 4),
    "BYTE_COLOR": ("color", 4),
    "FLOAT_VECTOR": ("vector", 3),
}
ATTRIBUTE_TYPES = {"BOOLEAN": bool, "INT": np.int32, "INT8": np.int32}  # all others are float32


def _attribute_or(mesh, attribute: str, value: str, elements, name: str, array: np.ndarray) -> np.ndarray:
    """Fill `array` from an attribute of the mesh, or one by one from its elements where it has no such attribute."""
    if not len(array):
        return array
    if attribute in mesh.attributes:
        mesh.attributes[attribute].data.foreach_get(value, array)
    else:
        elements.foreach_get(name, array)
    return array


def positions(mesh: bpy.types.Mesh) -> np.ndarray:
    """Object-space vertices (n, 3) float32 [Blender units]."""
    x = np.empty(3 * len(mesh.vertices), np.float32)
    return _attribute_or(mesh, "position", "vector", mesh.vertices, "co", x).reshape(-1, 3)


def vertex_normals(mesh: bpy.types.Mesh) -> np.ndarray:
    """Object-space normals of the vertices (n, 3) float32, of length 1."""
    normal = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertex_normals.foreach_get("vector", normal)
    return normal.reshape(-1, 3)


def key_positions(key: bpy.types.ShapeKey) -> np.ndarray:
    """Object-space vertices (n, 3) float32 [Blender units] of a shape key."""
    x = np.empty(3 * len(key.points), np.float32)
    key.points.foreach_get("co", x)  # 100 times as fast as `data`
    return x.reshape(-1, 3)


def selected(mesh: bpy.types.Mesh) -> np.ndarray:
    """Whether each vertex is selected, (n,) bool; in Object Mode what was selected in Edit Mode last."""
    chosen = np.zeros(len(mesh.vertices), bool)
    mesh.vertices.foreach_get("select", chosen)
    return chosen


def corner_vertex(mesh: bpy.types.Mesh) -> np.ndarray:
    """Vertex of each face corner, (corners,) int32."""
    corners = np.empty(len(mesh.loops), np.int32)
    return _attribute_or(mesh, ".corner_vert", "value", mesh.loops, "vertex_index", corners)


def corner_edge(mesh: bpy.types.Mesh) -> np.ndarray:
    """Edge from each face corner to the next of its face, (corners,) int32."""
    corners = np.empty(len(mesh.loops), np.int32)
    return _attribute_or(mesh, ".corner_edge", "value", mesh.loops, "edge_index", corners)


def first_corner(mesh: bpy.types.Mesh) -> np.ndarray:
    """First corner of each face, (faces,) int32."""
    corners = np.empty(len(mesh.polygons), np.int32)
    mesh.polygons.foreach_get("loop_start", corners)
    return corners


def corner_count(mesh: bpy.types.Mesh) -> np.ndarray:
    """Corners of each face, (faces,) int32."""
    counts = np.empty(len(mesh.polygons), np.int32)
    mesh.polygons.foreach_get("loop_total", counts)
    return counts


def face_area(mesh: bpy.types.Mesh) -> np.ndarray:
    """Area of each face, (faces,) float32 [Blender units squared]."""
    area = np.empty(len(mesh.polygons), np.float32)
    mesh.polygons.foreach_get("area", area)
    return area


def triangulated(mesh: bpy.types.Mesh) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (t, 3) and face corners (t, 3), int32, of the triangulated faces: as Blender cuts them, but for slivers."""
    mesh.calc_loop_triangles()
    corners = np.empty(3 * len(mesh.loop_triangles), np.int32)
    mesh.loop_triangles.foreach_get("loops", corners)
    corners, vertex = corners.reshape(-1, 3), corner_vertex(mesh)
    counts = corner_count(mesh)
    if len(counts) and counts.max() > 3:
        from ...solver.geometry.slivers import cut_anew  # here, because pictures of meshes need no solver

        corners = cut_anew(positions(mesh)[vertex], corners, counts)
    return vertex[corners], corners


def edges(mesh: bpy.types.Mesh) -> np.ndarray:
    """Vertices of each edge, (e, 2) int32."""
    ends = np.empty(2 * len(mesh.edges), np.int32)
    return _attribute_or(mesh, ".edge_verts", "value", mesh.edges, "vertices", ends).reshape(-1, 2)


def corner_uv(layer: bpy.types.MeshUVLoopLayer) -> np.ndarray:
    """UV of each face corner, (corners, 2) float32."""
    uv = np.empty(2 * len(layer.uv), np.float32)
    layer.uv.foreach_get("vector", uv)
    return uv.reshape(-1, 2)


def group_weights(mesh: bpy.types.Mesh) -> dict[int, tuple[np.ndarray, np.ndarray]]:
    """For the index of each vertex group that has any, its vertices (m,) and their weights (m,)."""
    held = {}
    for vertex in mesh.vertices:
        for element in vertex.groups:
            held.setdefault(element.group, ([], []))[0].append(vertex.index)
            held[element.group][1].append(element.weight)
    return {index: (np.array(vertices, int), np.array(weights)) for index, (vertices, weights) in held.items()}


def stored_values(attribute: bpy.types.Attribute) -> np.ndarray:
    """Values of an attribute whose type is in `ATTRIBUTE_VALUES`, (elements, numbers per element)."""
    name, width = ATTRIBUTE_VALUES[attribute.data_type]
    values = np.empty(width * len(attribute.data), ATTRIBUTE_TYPES.get(attribute.data_type, np.float32))
    attribute.data.foreach_get(name, values)
    return values.reshape(-1, width)


def pixels(image: bpy.types.Image) -> np.ndarray:
    """Pixels of an image, (rows, columns, channels) float32, from the bottom up."""
    width, height = image.size
    values = np.empty(width * height * image.channels, np.float32)
    if len(values):
        image.pixels.foreach_get(values)
    return values.reshape(height, width, image.channels)


def key_points(curve: bpy.types.FCurve) -> np.ndarray:
    """Frame and value of each keyframe of a curve, (k, 2) float32."""
    points = np.empty(2 * len(curve.keyframe_points), np.float32)
    curve.keyframe_points.foreach_get("co", points)
    return points.reshape(-1, 2)


def seam_edges(mesh: bpy.types.Mesh) -> np.ndarray:
    """Vertices of each edge that is marked as a seam, (s, 2) int32."""
    marked = np.empty(len(mesh.edges), bool)
    mesh.edges.foreach_get("use_seam", marked)
    return edges(mesh)[marked]


def sewing_edges(mesh: bpy.types.Mesh) -> np.ndarray:
    """Vertices of each edge without a face, (s, 2) int32: threads that sew."""
    without_face = np.ones(len(mesh.edges), bool)
    without_face[corner_edge(mesh)] = False
    return edges(mesh)[without_face]


def seams(mesh: bpy.types.Mesh) -> np.ndarray:
    """Vertices (s, 2) of the edges without a face that join two faces' corners."""
    ends = sewing_edges(mesh)
    in_face = np.zeros(len(mesh.vertices), bool)
    in_face[corner_vertex(mesh)] = True
    return ends[in_face[ends].all(axis=1)]


def first_at_place(x: np.ndarray) -> np.ndarray:
    """(n,) of each point of x (n, 3) the first that is at its place, to the bit, as the sides of a welded seam are: itself if it is
    alone."""
    order = np.lexsort(x.T)  # stable: of equal ones the first comes first
    begins = np.ones(len(x), bool)
    begins[1:] = (x[order[1:]] != x[order[:-1]]).any(axis=1)
    first = np.empty(len(x), np.int32)
    first[order] = order[begins][np.cumsum(begins) - 1]
    return first
