# SPDX-License-Identifier: GPL-3.0-or-later
"""All settings of Taffeta as text and back: of the garments, of the scene, and the frame range. What a take is made of.

Painted maps, meshes and animation are no settings: a take has the names of its maps, not their weights.
"""

import json

import bpy

from ...panels.properties import NOTES

SKIPPED = NOTES | {"rna_type", "name", "enabled", "cache_name", "cache_folder"}
NAMED = {"Image": "images", "Collection": "collections"}  # what settings point to, and where it is found


def take(scene: bpy.types.Scene, cloths: list[bpy.types.Object]) -> str:
    """The settings of a scene and its garments as they are now, as JSON."""
    return json.dumps(
        {
            "frames": [scene.frame_start, scene.frame_end],
            "scene": _values(scene.taffeta),
            "cloths": {obj.name: _values(obj.taffeta_cloth) for obj in cloths},
        }
    )


def apply(text: str, scene: bpy.types.Scene, cloths: list[bpy.types.Object]) -> None:
    """Give a scene and its garments the settings of `take`; garments that it does not know stay as they are.

    Raises
    ------
    ValueError
        The text is no such settings: a sentence, and nothing was changed.
    """
    try:
        told = json.loads(text)
        first, last = (int(frame) for frame in told["frames"])
        settings, by_name = dict(told["scene"]), {name: dict(values) for name, values in told["cloths"].items()}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise ValueError("The settings of this take cannot be read; remove it, and add it again") from None
    scene.frame_start, scene.frame_end = first, last
    _set(scene.taffeta, settings)
    for obj in cloths:
        _set(obj.taffeta_cloth, by_name.get(obj.name, {}))


def _properties(group):
    for prop in group.bl_rna.properties:
        name = prop.identifier
        if name not in SKIPPED and not name.endswith("_shown") and prop.type != "COLLECTION":
            yield prop, name


def _values(group) -> dict:
    values = {}
    for prop, name in _properties(group):
        value = getattr(group, name)
        if isinstance(value, bpy.types.PropertyGroup):
            values[name] = _values(value)
        elif prop.type == "POINTER":
            values[name] = value.name if value is not None else None
        else:
            values[name] = list(value) if getattr(prop, "is_array", False) else value
    return values


def _set(group, values: dict) -> None:
    for prop, name in _properties(group):
        if name not in values:
            continue
        value, now = values[name], getattr(group, name)
        if isinstance(now, bpy.types.PropertyGroup):
            _set(now, value if isinstance(value, dict) else {})
            continue
        if prop.type == "POINTER":
            known = getattr(bpy.data, NAMED[prop.fixed_type.identifier])
            value = known.get(value) if isinstance(value, str) else None
        try:
            if (list(now) if getattr(prop, "is_array", False) else now) != value:
                setattr(group, name, value)
        except (TypeError, ValueError, AttributeError):
            pass  # linked from a library, of another version of Taffeta, or edited by hand: this one stays as it is
