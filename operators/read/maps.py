# SPDX-License-Identifier: GPL-3.0-or-later
"""A mapped property becomes a number per vertex: value = minimum + (maximum - minimum) * map.

The map is a vertex group (0 where a vertex is not in it), an image or an attribute of the mesh.

Images and attributes are numbers here, not colours: what counts is the stored value. An 8-bit image gives the grey
that was painted (50 % grey is 0.5) whatever its colour space, and so does a 16-bit one, although Blender makes that
linear when it loads it, and multiplies it by its alpha. A colour's grey is its Rec. 709 luminance; alpha does not count. An image is read
bilinearly and repeats tile by tile, but is not blended across the edge of a tile, where vertices of a pattern
mostly lie. A vertex with several UV corners takes their average. Of an image sequence the picture of the frame counts
(`image_sequence`).

A minimum above the maximum is welcome: it turns the map round, as `invert` does.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import bpy
import numpy as np

from ...panels.mapped import ROWS
from ...panels.translations import translated
from ...solver.grey import LUMINANCE, bilinear, corner_mean
from .arrays import ATTRIBUTE_VALUES, corner_uv, corner_vertex, pixels, stored_values
from .file_path import absolute
from .image_sequence import picture_of

MOST_PICTURE_PIXELS = 1 << 26  # 8192 x 8192: Blender and we hold 24 bytes a pixel of a colour
ROWS_AT_ONCE = 256  # of an image that become grey


def read_map(
    obj: bpy.types.Object, mapped: bpy.types.PropertyGroup, mesh: bpy.types.Mesh, frame: int | None = None
) -> np.ndarray:
    """Values of one mapped property, (n,) float64 in the property's unit, for the n vertices of `mesh`.

    mapped : one of `obj.taffeta_cloth`'s mapped properties (`panels.mapped.MAPPED`).
    mesh : obj.data or its evaluated mesh; maps are looked for there.
    frame : whose picture of an image sequence counts; None: of the frame that is shown.

    Raises
    ------
    ValueError
        The group, image, UV map or attribute is missing or unreadable: names object, property and remedy.
    """
    if mapped.source == "UNIFORM":
        return np.full(len(mesh.vertices), mapped.value)
    map_values = MAP_READERS[mapped.source](obj, mapped, mesh, frame)
    wrong = np.flatnonzero(~np.isfinite(map_values))
    if wrong.size:
        raise ValueError(
            f"{_what(obj, mapped)}: its map is not a number at vertex {wrong[0]}; paint or compute it anew there"
        )
    if mapped.invert:
        map_values = 1.0 - map_values
    return mapped.minimum + (mapped.maximum - mapped.minimum) * map_values


def group_weights(obj: bpy.types.Object, mapped: bpy.types.PropertyGroup, mesh: bpy.types.Mesh, _=None) -> np.ndarray:
    """Weights of the vertex group, (n,); 0 where a vertex is not in it."""
    if mapped.vertex_group not in obj.vertex_groups:
        raise ValueError(
            _missing(obj, mapped, "no vertex group", mapped.vertex_group, [g.name for g in obj.vertex_groups])
        )
    return weights_in(obj, mapped.vertex_group, mesh)


def weights_in(obj: bpy.types.Object, group: str, mesh: bpy.types.Mesh) -> np.ndarray:
    """Weights of one of the object's vertex groups, (n,); 0 where a vertex is not in it."""
    index, weights = obj.vertex_groups[group].index, np.zeros(len(mesh.vertices))
    for vertex in mesh.vertices:
        for element in vertex.groups:
            if element.group == index:
                weights[vertex.index] = element.weight
    return weights


def image_values(
    obj: bpy.types.Object, mapped: bpy.types.PropertyGroup, mesh: bpy.types.Mesh, frame: int | None = None
) -> np.ndarray:
    """Grey of the image at the vertices' UV corners, (n,), averaged per vertex."""
    if mapped.image is None:
        raise ValueError(f"{_what(obj, mapped)}: no image is chosen; choose one or set the source to Uniform")
    layer = mesh.uv_layers.get(mapped.uv_map) if mapped.uv_map else mesh.uv_layers.active
    if layer is None:
        raise ValueError(_missing(obj, mapped, "no UV map", mapped.uv_map, [uv.name for uv in mesh.uv_layers]))
    return _corner_mean(mesh, bilinear(_grey_at(obj, mapped, frame), corner_uv(layer)))


def attribute_values(
    obj: bpy.types.Object, mapped: bpy.types.PropertyGroup, mesh: bpy.types.Mesh, _=None
) -> np.ndarray:
    """The attribute at the vertices, (n,); luminance if it is a colour, averaged if it is stored per corner."""
    attribute = mesh.attributes.get(mapped.attribute) if mapped.attribute else None
    if attribute is None:
        names = [a.name for a in mesh.attributes if a.data_type in ATTRIBUTE_VALUES and not a.name.startswith(".")]
        raise ValueError(_missing(obj, mapped, "no attribute", mapped.attribute, names))
    if attribute.data_type not in ATTRIBUTE_VALUES or attribute.domain not in ("POINT", "CORNER"):
        raise ValueError(
            f"{_what(obj, mapped)}: attribute '{attribute.name}' is {attribute.data_type} per {attribute.domain}; "
            "convert it to a float or colour per vertex or face corner (Data tab, Attributes, Convert)"
        )
    values = stored_values(attribute).astype(np.float64)
    values = _luminance(values) if values.shape[1] > 1 else values[:, 0]
    return _corner_mean(mesh, values) if attribute.domain == "CORNER" else values


def _grey_at(obj, mapped, frame: int | None) -> np.ndarray:
    """`_grey` of the image; of a sequence its picture in this frame, or in the one that is shown."""
    if mapped.image.source == "MOVIE":
        raise ValueError(
            f"{_what(obj, mapped)}: image '{mapped.image.name}' is a movie, which cannot be read frame by frame; render it as an "
            "image sequence, or read it by an Image Texture in Geometry Nodes and store that as an attribute"
        )
    if mapped.image.source != "SEQUENCE":
        return _grey(obj, mapped, mapped.image)
    shown = bpy.context.scene.frame_current if frame is None else frame
    try:
        with picture_of(mapped.image, shown) as image:
            return _grey(obj, mapped, image)
    except OSError as reason:
        raise ValueError(f"{_what(obj, mapped)}: image sequence '{mapped.image.name}' {reason}") from None


def is_of_tiles(image: bpy.types.Image) -> bool:
    """Whether an image has several UDIM tiles, of which Blender gives the pixels of one alone."""
    return image.source == "TILED" and len(image.tiles) > 1


def _grey(obj, mapped, image: bpy.types.Image) -> np.ndarray:
    """The image's stored grey values, (rows, columns) float64."""
    if is_of_tiles(image):
        raise ValueError(
            f"{_what(obj, mapped)}: image '{image.name}' has {len(image.tiles)} UDIM tiles; use an image of one tile"
        )
    width, height = image.size
    channels = image.channels
    if width * height * channels == 0:
        where = f" (file {bpy.path.abspath(image.filepath)})" if image.filepath else ""
        raise ValueError(
            f"{_what(obj, mapped)}: image '{image.name}' has no pixels{where}; find the file or choose another image"
        )
    if width * height > MOST_PICTURE_PIXELS:
        raise ValueError(
            f"{_what(obj, mapped)}: image '{image.name}' has {width} x {height} pixels, more than "
            f"{MOST_PICTURE_PIXELS:,}: a map needs far fewer, scale it down (Image, Resize)"
        )
    with _as_stored(image) as read:
        stored, grey = pixels(read), np.empty((height, width))
        linear = read.is_float and read.colorspace_settings.name == "sRGB"
    for first in range(0, height, ROWS_AT_ONCE):  # in float64 all of it would take three times what is stored
        rows = stored[first : first + ROWS_AT_ONCE].astype(np.float64)
        rows = _srgb(rows) if linear else rows
        grey[first : first + ROWS_AT_ONCE] = _luminance(rows) if channels >= 3 else rows[..., 0]
    return grey


@contextmanager
def _as_stored(image: bpy.types.Image) -> Iterator[bpy.types.Image]:
    """The image; of one that Blender changes as it loads it a copy that it loads as it lies in the file, gone afterwards."""
    if not image.is_float or image.is_dirty or image.source == "GENERATED" or image.colorspace_settings.is_data:
        yield image
        return
    copy = image.copy()
    try:
        copy.filepath_raw = absolute(image.filepath_raw, image.library)
        copy.colorspace_settings.is_data = True
        yield copy if copy.size[0] else image  # its file may be gone since
    finally:
        bpy.data.images.remove(copy)


def _luminance(colours: np.ndarray) -> np.ndarray:
    """(...) of colours (..., 3 or more)."""
    return np.einsum("...c,c->...", colours[..., :3], LUMINANCE)


def _srgb(linear: np.ndarray) -> np.ndarray:
    """Stored values of an sRGB picture that was made linear on loading (IEC 61966-2-1, 1999)."""
    return np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * np.abs(linear) ** (1 / 2.4) - 0.055)


def _corner_mean(mesh, values: np.ndarray) -> np.ndarray:
    """Average of corner values per vertex, (n,); 0 at vertices without a corner."""
    return corner_mean(corner_vertex(mesh), values, len(mesh.vertices))


def _what(obj, mapped) -> str:
    return f"{obj.name}, {translated(ROWS[mapped.path_from_id().rpartition('.')[2]].label)}"


def _missing(obj, mapped, lack: str, name: str, names: list[str]) -> str:
    if not name:
        return f"{_what(obj, mapped)}: {lack} is chosen; choose one or set the source to Uniform"
    known = f"it has {', '.join(names)}" if names else "it has none"
    return f"{_what(obj, mapped)}: there is {lack} '{name}' ({known}); choose one or set the source to Uniform"


MAP_READERS = {"GROUP": group_weights, "IMAGE": image_values, "ATTRIBUTE": attribute_values}
