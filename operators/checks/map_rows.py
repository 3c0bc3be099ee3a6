# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of the preflight list about maps: what they are to be read from is gone, or is of a kind that cannot be read."""

from collections.abc import Iterator

from ...panels.mapped import MAPPED, ROWS
from ...panels.translations import translated
from ..read import maps
from ..read.arrays import ATTRIBUTE_VALUES
from ..read.image_sequence import is_there
from .problem import Problem, Shot


def _maps(shot: Shot) -> Iterator[Problem]:
    """Maps whose group, image, UV map or attribute is gone; turned-round ranges."""
    for obj in shot.cloths:
        for name in MAPPED:
            mapped, label = getattr(obj.taffeta_cloth, name), translated(ROWS[name].label)
            if mapped.source == "UNIFORM":
                continue
            if lack := missing(obj, mapped):
                yield Problem(
                    "ERROR",
                    obj.name,
                    f"{obj.name}, {label}: {lack}",
                    "Choose another one, or set the source to Uniform",
                )
            if mapped.minimum > mapped.maximum:
                yield Problem(
                    "INFO",
                    obj.name,
                    f"{obj.name}, {label}: Min {mapped.minimum:g} is above Max {mapped.maximum:g}: "
                    "the map works the other way round",
                    "Swap them if you did not mean that",
                )


def missing(obj, mapped) -> str:
    """What a map lacks, without looking at its values; "" if it is all there."""
    if mapped.source == "GROUP":
        if not mapped.vertex_group:
            return "no vertex group is chosen"
        return "" if mapped.vertex_group in obj.vertex_groups else f"there is no vertex group '{mapped.vertex_group}'"
    if mapped.source == "ATTRIBUTE":
        if not mapped.attribute:
            return "no attribute is chosen"
        attribute = obj.data.attributes.get(mapped.attribute)
        if attribute is None:
            # Geometry Nodes before the cache may make it: the bake looks at the evaluated mesh.
            made = any(modifier.type == "NODES" for modifier in obj.modifiers)
            return "" if made else f"there is no attribute '{mapped.attribute}'"
        usable = attribute.data_type in ATTRIBUTE_VALUES and attribute.domain in ("POINT", "CORNER")
        return "" if usable else f"attribute '{mapped.attribute}' is no float or colour per vertex or corner"
    if mapped.image is None:
        return "no image is chosen"
    if not obj.data.uv_layers:
        return "the mesh has no UV map to lay the image on"
    if mapped.uv_map and mapped.uv_map not in obj.data.uv_layers:
        return f"there is no UV map '{mapped.uv_map}'"
    if mapped.image.source == "MOVIE":
        return f"image '{mapped.image.name}' is a movie, whose frames cannot be read; render it as an image sequence"
    if mapped.image.source == "SEQUENCE":  # which has no size but in a frame
        return "" if is_there(mapped.image) else f"image sequence '{mapped.image.name}' has no numbered files"
    if maps.is_of_tiles(mapped.image):
        return f"image '{mapped.image.name}' has {len(mapped.image.tiles)} UDIM tiles, and a map is read from one"
    width, height = mapped.image.size
    if width * height > maps.MOST_PICTURE_PIXELS:
        return f"image '{mapped.image.name}' has {width} x {height} pixels, more than {maps.MOST_PICTURE_PIXELS:,}"
    return "" if width * height else f"image '{mapped.image.name}' has no pixels"


MAP_CHECKS = (_maps,)
