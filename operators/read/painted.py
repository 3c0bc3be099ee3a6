# SPDX-License-Identifier: GPL-3.0-or-later
"""The painted maps of a garment as plain numbers, and back: vertex groups, images, attributes.

What is brought back overwrites nothing: where a map of that name has other values by now, what it was gets a map of its
own, and the settings name that one.
"""

from collections.abc import Iterable, Iterator

import bpy
import numpy as np

from ...panels.mapped import MAPPED
from ...solver.cache.recipe import MOST_MAP_BYTES, Map
from .arrays import ATTRIBUTE_VALUES, pixels, stored_values
from .groups import MASKS
from .maps import weights_in

FIELDS = {"GROUP": "vertex_group", "IMAGE": "image", "ATTRIBUTE": "attribute"}  # source: the setting that names the map
KINDS = {"GROUP": "the vertex group", "IMAGE": "the image", "ATTRIBUTE": "the attribute"}
CHANNELS = 4  # that a new image of Blender's has
LONGEST_LABEL = 30  # letters of a take's name in that of a map


def maps_of(obj: bpy.types.Object, values: dict) -> list[Map]:
    """The maps that a garment uses by settings `values` (`snapshot`); those that are missing or of no use are left out."""
    named = dict.fromkeys((kind, settings[field]) for settings, field, kind in _uses(values))
    found = (READERS[kind](obj, name) for kind, name in named)
    return [painted for painted in found if painted is not None]


def bring_back(obj: bpy.types.Object, values: dict, maps: Iterable[Map], label: str) -> list[str]:
    """Let a garment have the maps that settings `values` name, and these name them; a sentence for each that is not as it
    was called, or cannot be had."""
    known, told = {(painted.kind, painted.name): painted for painted in maps}, {}
    for settings, field, kind in _uses(values):
        name = settings[field]
        if (wanted := known.get((kind, name))) is None:
            continue
        if why := _refusal(obj, wanted):
            told[kind, name] = f"{KINDS[kind]} '{name}' {why}: the present one is used"
            continue
        settings[field] = _same_or_new(obj, wanted, label)
        if settings[field] != name:
            told[kind, name] = f"{KINDS[kind]} '{name}' was changed since: as it was, it is '{settings[field]}'"
    return list(told.values())


def _uses(values: dict) -> Iterator[tuple[dict, str, str]]:
    """Where settings name a map: the group of settings, the setting's name, the kind of map."""
    for name in MAPPED:
        mapped = values.get(name)
        kind = mapped.get("source") if isinstance(mapped, dict) else None
        if isinstance(kind, str) and kind in FIELDS and _is_name(mapped.get(FIELDS[kind])):
            yield mapped, FIELDS[kind], kind
    for name in MASKS:
        if _is_name(values.get(name)):
            yield values, name, "GROUP"


def _is_name(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _group(obj, name) -> Map | None:
    if name not in obj.vertex_groups:
        return None
    return Map("GROUP", name, [], weights_in(obj, name, obj.data).astype(np.float32))


def _image(obj, name) -> Map | None:
    """Bytes where Blender has bytes; always of `CHANNELS` channels."""
    image = bpy.data.images.get(name)
    if image is None or image.source == "TILED" or not image.size[0] * image.size[1]:
        return None
    form = ["float" if image.is_float else "byte", image.colorspace_settings.name]
    if image.size[0] * image.size[1] * CHANNELS * (4 if image.is_float else 1) > MOST_MAP_BYTES:
        return Map("IMAGE", name, form, None)
    values = pixels(image)
    if image.channels < 3:
        values = values[..., [0, 0, 0]]
    if values.shape[2] < CHANNELS:
        values = np.concatenate((values, np.ones_like(values[..., :1])), axis=2)
    return Map("IMAGE", name, form, values if image.is_float else np.rint(255.0 * values).astype(np.uint8))


def _attribute(obj, name) -> Map | None:
    attribute = obj.data.attributes.get(name)
    if attribute is None or attribute.data_type not in ATTRIBUTE_VALUES or attribute.domain not in ("POINT", "CORNER"):
        return None
    values = stored_values(attribute)
    values = values.astype(np.uint8) if values.dtype == bool else values
    return Map("ATTRIBUTE", name, [attribute.data_type, attribute.domain], values)


def _refusal(obj, wanted: Map) -> str:
    """Why a map cannot be had again; "" if it can."""
    if wanted.values is None:
        return "was too large to be kept"
    shape, mesh = wanted.values.shape, obj.data
    if wanted.kind == "IMAGE":
        fits = len(shape) == 3 and shape[2] == CHANNELS and wanted.form[:1] in (["byte"], ["float"])
        fits &= len(wanted.form) == 2 and wanted.values.dtype == (np.uint8 if wanted.form[0] == "byte" else np.float32)
        return "" if fits else "is damaged"
    if mesh.library is not None or obj.library is not None:
        return f"cannot be made in {mesh.name}, which is linked from another file"
    if wanted.kind == "GROUP":
        return "" if shape == (len(mesh.vertices),) else "is of another mesh"
    if len(wanted.form) != 2 or wanted.form[0] not in ATTRIBUTE_VALUES or wanted.form[1] not in ("POINT", "CORNER"):
        return "is damaged"
    count = len(mesh.vertices) if wanted.form[1] == "POINT" else len(mesh.loops)
    return "" if shape == (count, ATTRIBUTE_VALUES[wanted.form[0]][1]) else "is of another mesh"


def _same_or_new(obj, wanted: Map, label: str) -> str:
    """The name of a map that is as `wanted`: the one that bears its name, or the one made for this take, or a new one."""
    own = f"{wanted.name} ({label[:LONGEST_LABEL]})"
    for name in (wanted.name, own):
        now = READERS[wanted.kind](obj, name)
        if now is not None and now.values is not None and now.form == wanted.form:
            if np.array_equal(now.values, wanted.values):
                return name
    is_free = wanted.name not in HOMES[wanted.kind](obj)
    return MAKERS[wanted.kind](obj, wanted.name if is_free else own, wanted)


def _new_group(obj, name, wanted: Map) -> str:
    group = obj.vertex_groups.new(name=name)
    for index in np.flatnonzero(wanted.values):
        group.add([int(index)], float(wanted.values[index]), "REPLACE")
    obj.data.update()
    return group.name


def _new_image(obj, name, wanted: Map) -> str:
    height, width, _ = wanted.values.shape
    is_float = wanted.form[0] == "float"
    image = bpy.data.images.new(name, width, height, alpha=True, float_buffer=is_float)
    try:
        image.colorspace_settings.name = wanted.form[1]
    except TypeError:  # of another Blender's colour management
        image.colorspace_settings.is_data = True
    values = wanted.values if is_float else wanted.values.astype(np.float32) / np.float32(255.0)
    image.pixels.foreach_set(np.ascontiguousarray(values, np.float32).ravel())
    image.update()
    image.pack()  # else it is lost when the file is closed
    return image.name


def _new_attribute(obj, name, wanted: Map) -> str:
    data_type, domain = wanted.form
    name = obj.data.attributes.new(name, data_type, domain).name
    values = wanted.values.astype(bool) if data_type == "BOOLEAN" else wanted.values
    obj.data.attributes[name].data.foreach_set(ATTRIBUTE_VALUES[data_type][0], np.ascontiguousarray(values).ravel())
    obj.data.update()
    return name


READERS = {"GROUP": _group, "IMAGE": _image, "ATTRIBUTE": _attribute}
MAKERS = {"GROUP": _new_group, "IMAGE": _new_image, "ATTRIBUTE": _new_attribute}
HOMES = {
    "GROUP": lambda obj: obj.vertex_groups,
    "IMAGE": lambda _: bpy.data.images,
    "ATTRIBUTE": lambda obj: obj.data.attributes,
}
