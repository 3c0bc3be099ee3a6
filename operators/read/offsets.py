# SPDX-License-Identifier: GPL-3.0-or-later
"""Corrections of many frames: offsets in a PC2 file of their own, added behind the cache by Blender's own Geometry Nodes.

    x' = x + weight offset(frame)

The offsets [Blender units, object space] are the places of the vertices of an object that is in no scene and has nothing but
them; its Mesh Cache plays the file, and the nodes read it. So the correction plays, renders and exports without Taffeta. Before
the file's first frame and after its last one there is no offset.

It fits the frames that it was made of, and is left out where the garment plays others: their digest says so.
"""

import hashlib
import os
from pathlib import Path

import bpy
import numpy as np

from ...solver.cache import pc2
from .file_path import absolute
from .modifier_stack import find_cache

LAST, MADE_OF = (
    "taffeta_last",
    "taffeta_made_of",
)  # what a node group is told, and keeps, besides what all corrections do
SOURCE = "Offsets"  # name of the node that reads them
DIGEST_SIZE = 16  # bytes


def is_many(tree: bpy.types.NodeTree) -> bool:
    """Whether a correction's node group is of many frames."""
    return MADE_OF in tree


def source_of(tree: bpy.types.NodeTree) -> bpy.types.Object | None:
    """The object with a correction's offsets; None for one without, and where somebody deleted it."""
    node = tree.nodes.get(SOURCE)
    return node.inputs["Object"].default_value if node is not None else None


def file_of(tree: bpy.types.NodeTree) -> Path | None:
    """The file of a correction's offsets."""
    source = source_of(tree)
    path = source.modifiers[0].filepath if source is not None and len(source.modifiers) else ""
    return Path(os.path.normpath(absolute(path, source.library))) if path else None


def digest(obj: bpy.types.Object, frames: range) -> str:
    """What tells the baked frames that a garment plays from others; "" where it plays none, or not all of them."""
    cache = find_cache(obj)
    if cache is None:
        return ""
    try:
        x = pc2.read(Path(absolute(cache.filepath, obj.library)))
    except (OSError, ValueError):
        return ""
    first = frames.start - round(cache.frame_start)
    if first < 0 or first + len(frames) > len(x):
        return ""
    found = hashlib.blake2b(digest_size=DIGEST_SIZE)
    for sample in x[first : first + len(frames)]:
        found.update(np.ascontiguousarray(sample).data)
    return found.hexdigest()


def unfit(obj: bpy.types.Object, tree: bpy.types.NodeTree, first: int) -> str:
    """Why offsets from frame `first` on cannot be added to what a garment plays now; "" if it can."""
    path = file_of(tree)
    if path is None:
        return "Its offsets were deleted: make it again"
    try:
        count = pc2.read_header(path).vertex_count
    except FileNotFoundError:
        return f"Its file {path} is missing: bring it back, or make it again"
    except OSError as error:
        return f"Its file {path} cannot be read ({error.strerror or error})"
    except ValueError as error:
        return str(error)
    if count != len(obj.data.vertices):
        return f"Its file has {count} vertices, the mesh {len(obj.data.vertices)}: it is left out"
    if digest(obj, range(first, tree[LAST] + 1)) != tree[MADE_OF]:
        return "Made of other frames than the garment plays now: it is left out; make it again"
    return ""


def make_source(name: str, path: str, first: int, vertex_count: int) -> bpy.types.Object:
    """An object in no scene whose vertices are the offsets in the file at `path`, whose first sample is frame `first`."""
    mesh = bpy.data.meshes.new(name)
    mesh.vertices.add(vertex_count)
    mesh.attributes["position"].data.foreach_set("vector", np.zeros(3 * vertex_count, np.float32))
    source = bpy.data.objects.new(name, mesh)
    cache = source.modifiers.new(name, "MESH_CACHE")
    cache.cache_format, cache.filepath, cache.frame_start = "PC2", path, float(first)
    return source


def delete_source(source: bpy.types.Object) -> None:
    """Delete the object with the offsets, and its mesh; the file stays, so that an undo brings all back."""
    mesh = source.data
    bpy.data.objects.remove(source)
    if not mesh.users:
        bpy.data.meshes.remove(mesh)
