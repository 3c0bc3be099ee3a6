# SPDX-License-Identifier: GPL-3.0-or-later
"""Whole arrays into Blender's data: positions, shape keys, the selection, pictures."""

from pathlib import Path

import bpy
import numpy as np


def set_positions(mesh: bpy.types.Mesh, x: np.ndarray) -> None:
    """Move the vertices of a mesh to x (n, 3) [Blender units, object space]."""
    mesh.attributes["position"].data.foreach_set("vector", _flat(x))


def set_key(key: bpy.types.ShapeKey, x: np.ndarray) -> None:
    """Let a shape key put the vertices at x (n, 3) [Blender units, object space]."""
    key.data.foreach_set("co", _flat(x))


def set_values(attribute: bpy.types.Attribute, values: np.ndarray) -> None:
    """Fill an attribute with a whole number each, (n,), or a vector each, (n, 3)."""
    if attribute.data_type == "INT":
        attribute.data.foreach_set("value", np.asarray(values, np.int32))
    else:
        attribute.data.foreach_set("vector", _flat(values))


def set_numbers(attribute: bpy.types.Attribute, values: np.ndarray) -> None:
    """Fill an attribute with a number each, (n,)."""
    attribute.data.foreach_set("value", np.asarray(values, np.float32))


def set_corner_uv(layer: bpy.types.MeshUVLoopLayer, uv: np.ndarray) -> None:
    """Lay the face corners of a mesh at uv (corners, 2)."""
    layer.uv.foreach_set("vector", _flat(uv))


def select_only(mesh: bpy.types.Mesh, vertices: np.ndarray) -> None:
    """Select exactly the vertices with these numbers, and hide nothing; in Object Mode."""
    for elements in (mesh.polygons, mesh.edges):
        elements.foreach_set("select", np.zeros(len(elements), bool))
        elements.foreach_set("hide", np.zeros(len(elements), bool))
    chosen = np.zeros(len(mesh.vertices), bool)
    mesh.vertices.foreach_set("hide", chosen)
    chosen[vertices] = True
    mesh.vertices.foreach_set("select", chosen)


def _flat(x: np.ndarray) -> np.ndarray:
    """As Blender takes it: float32, one number after the other."""
    return np.asarray(x, np.float32).ravel()


def save_values(values: np.ndarray, path: Path, file_format: str) -> None:
    """Write values (rows, columns), from the bottom up, as a grey image: OPEN_EXR, 32 bits as they are, or PNG, 16 bits from 0 to 1."""
    rows, columns = values.shape
    image = bpy.data.images.new(path.stem, columns, rows, alpha=False, float_buffer=True, is_data=True)
    try:
        image.pixels.foreach_set(_flat(np.dstack((values, values, values, np.ones_like(values)))))
        image.file_format = file_format
        image.save(filepath=str(path))
    finally:
        bpy.data.images.remove(image)


def save_picture(pixels: np.ndarray, path: Path) -> None:
    """Write pixels (rows, columns, 4) from 0 to 1, from the bottom up, as a PNG file."""
    rows, columns, _ = pixels.shape
    image = bpy.data.images.new(path.stem, columns, rows, alpha=True)
    try:
        image.pixels.foreach_set(_flat(pixels))
        image.file_format = "PNG"
        image.save(filepath=str(path))
    finally:
        bpy.data.images.remove(image)
