# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings by the paths that a command line or a panel names them with: "Skirt.bending", "scene.wind.x".

    OBJECT.SETTING          of a garment or a collider, `Object.taffeta_cloth`, `Object.taffeta_collider`
    OBJECT.SETTING.PART     of a painted one: minimum, maximum, invert, source, vertex_group, uv_map, attribute
    scene.SETTING           of the bake, `Scene.taffeta`; and scene.gravity
    ....x, .y, .z           of a vector

A setting is called as scripts call it ("bending_stiffness"), by its first words where no other begins so ("bending"), or as
the panel does ("max_distance"). Values are SI, as stored.
"""

import difflib
import math
import re
from typing import NamedTuple

import bpy

from ...panels.mapped import MAPPED, ROWS
from ...panels.properties import NOTES
from .keyed import keyed
from .participants import refuse_linked

SCENE = "scene"
AXES = "xyz"
NO_SETTINGS = NOTES | {"rna_type", "name", "enabled", "cache_name", "cache_folder", "sequence"}
WORDS = {"true": True, "on": True, "yes": True, "1": True, "false": False, "off": False, "no": False, "0": False}
LONGEST = 200  # letters of a path or a value


class Setting(NamedTuple):
    """What a path leads to. Names no Blender data, so that an undo between finding and setting harms nothing."""

    path: str  # as it was written
    owner: str  # name of the object, "" for the scene
    data_path: str  # from there: "taffeta_cloth.bending_stiffness.value"
    axis: int | None  # of a vector, if one of its numbers is meant


def assignment(text: str) -> tuple[str, str]:
    """ "PATH=VALUE" as path and value.

    Raises
    ------
    ValueError
        It is none: a sentence, as of all here.
    """
    path, sign, value = (part.strip() for part in text.partition("="))
    if not (path and sign and value):
        raise ValueError(f"'{text[:LONGEST]}' sets nothing; write PATH=VALUE, as Skirt.bending=1e-5 or scene.wind.x=3")
    if len(path) > LONGEST or len(value) > LONGEST:
        raise ValueError(f"'{path[:40]}...' is too long: paths and values have at most {LONGEST} letters")
    return path, value


def wedge(text: str) -> tuple[str, list[str]]:
    """ "PATH=VALUE,VALUE,..." as path and values, none of them twice."""
    path, sign, values = text.partition("=")
    listed = [value.strip() for value in values.split(",")]
    if not (path.strip() and sign and all(listed)):
        raise ValueError(f"'{text[:LONGEST]}' is no wedge; write PATH=VALUE,VALUE, as Skirt.bending=1e-6,1e-5,1e-4")
    if len({value.casefold() for value in listed}) < len(listed):
        raise ValueError(f"{path.strip()} has a value twice in '{values[:LONGEST]}'; leave one out")
    return path.strip(), [assignment(f"{path}={value}")[1] for value in listed]


def find(scene: bpy.types.Scene, path: str) -> Setting:
    """The setting of a scene that a path names; ValueError where there is none, or it cannot be set."""
    owner, rest = _owner(scene, path)
    groups = _groups(owner)
    names = rest.split(".")
    for group_path, group in groups:
        name = _called(group, names[0])
        if name:
            return _checked(scene, owner, path, f"{group_path}.{name}".lstrip("."), names[1:])
    known = [name for _, group in groups for name in _names(group)]
    labels = [_slug(group, name) for _, group in groups for name in _names(group)]
    close = difflib.get_close_matches(names[0].lower(), [*labels, *known], n=1)
    hint = f"; did you mean {close[0]}?" if close else f"; it has {', '.join(known[:6])} and more"
    raise ValueError(f"{path.removesuffix('.' + rest)} has no setting '{names[0]}'{hint}")


def read(scene: bpy.types.Scene, setting: Setting):
    """The value of a setting now, as `give` takes it."""
    group, name = _place(scene, setting)
    value = getattr(group, name)
    if setting.axis is not None:
        return value[setting.axis]
    return tuple(value) if getattr(group.bl_rna.properties[name], "is_array", False) else value


def parse(scene: bpy.types.Scene, setting: Setting, text: str):
    """A value for a setting out of text; ValueError, with a sentence, where it is none of its kind or out of its range."""
    group, name = _place(scene, setting)
    prop = group.bl_rna.properties[name]
    if prop.type == "STRING":
        return text
    if prop.type == "ENUM":
        names = [item.identifier for item in prop.enum_items]
        found = next((item for item in names if item.lower() == text.lower()), None)
        if found is None:
            raise ValueError(f"{setting.path} cannot be '{text}'; it is one of {', '.join(names)}")
        return found
    if prop.type == "BOOLEAN":
        if text.lower() not in WORDS:
            raise ValueError(f"{setting.path} cannot be '{text}'; it is on or off")
        return WORDS[text.lower()]
    if not prop.is_array or setting.axis is not None:
        return _number(setting, prop, text)
    words = text.split()
    if len(words) != prop.array_length:
        raise ValueError(f"{setting.path} has {prop.array_length} numbers; write '0 3 0', or {setting.path}.x=3")
    return tuple(_number(setting, prop, word) for word in words)


def give(scene: bpy.types.Scene, setting: Setting, value) -> None:
    """Set a setting to what `parse` or `read` returned."""
    group, name = _place(scene, setting)
    if setting.axis is None:
        setattr(group, name, value)
    else:
        vector = list(getattr(group, name))
        vector[setting.axis] = value
        setattr(group, name, vector)


def _owner(scene, path) -> tuple[bpy.types.ID, str]:
    """The object, or the scene, that a path begins with, and the rest of the path. Names of objects may have dots."""
    meshes = [obj for obj in scene.objects if obj.type == "MESH" and path.startswith(f"{obj.name}.")]
    found = [obj for obj in meshes if obj.taffeta_cloth.enabled or obj.taffeta_collider.enabled]
    if path.startswith(f"{SCENE}."):
        if found:
            raise ValueError(f"'{path}' may mean the scene or the object {found[0].name}; rename the object")
        return scene, path.removeprefix(f"{SCENE}.")
    if found:
        owner = max(found, key=lambda obj: len(obj.name))
        refuse_linked(owner)
        return owner, path[len(owner.name) + 1 :]
    if meshes:
        raise ValueError(f"{meshes[0].name} is no Taffeta Cloth and no collider; switch that on in the Physics tab")
    meshes = [obj for obj in scene.objects if obj.type == "MESH"]
    names = sorted(obj.name for obj in meshes if obj.taffeta_cloth.enabled or obj.taffeta_collider.enabled)
    raise ValueError(
        f"'{path}' names no garment, no collider and not the scene: write "
        f"{', '.join([*names[:5], SCENE])}, then a dot and a setting"
    )


def _groups(owner) -> list[tuple[str, bpy.types.bpy_struct]]:
    """Where the settings of an owner lie: path from it, and the group."""
    if isinstance(owner, bpy.types.Scene):
        return [("taffeta", owner.taffeta)]
    pairs = (("taffeta_cloth", owner.taffeta_cloth), ("taffeta_collider", owner.taffeta_collider))
    return [(name, group) for name, group in pairs if group.enabled]


def _names(group) -> list[str]:
    """Identifiers of the settings of a group that a path can name."""
    names = [
        prop.identifier
        for prop in group.bl_rna.properties
        if prop.identifier not in NO_SETTINGS
        and not prop.identifier.endswith("_shown")
        and prop.type != "COLLECTION"
        and (prop.type != "POINTER" or isinstance(getattr(group, prop.identifier), bpy.types.PropertyGroup))
    ]
    return [*names, "gravity"] if group.bl_rna.identifier == "TaffetaSceneSettings" else names


def _called(group, word: str) -> str:
    """The identifier that a word means: it itself, the label of a panel, or the first words of one and no other."""
    word, names = word.strip().lower().replace(" ", "_"), _names(group)
    if word in names:
        return word
    labels = {_slug(group, name): name for name in names}
    begun = [name for name in names if word and name.startswith(f"{word}_")]
    return labels.get(word) or (begun[0] if len(begun) == 1 else "")


def _slug(group, name: str) -> str:
    prop = group.bl_rna.properties.get(name)
    label = ROWS[name].label if name in ROWS else prop.name if prop is not None else name
    return re.sub(r"\s*\(.*\)$", "", label).lower().replace(" ", "_")


def _checked(scene, owner, path, data_path, parts) -> Setting:
    """The setting at a data path with what follows in the path, if it can be set."""
    if data_path == "taffeta.gravity":
        data_path = "gravity"
    name, is_map = data_path.rpartition(".")[2], False
    group = owner.path_resolve(data_path) if name != "gravity" else None
    if isinstance(group, bpy.types.PropertyGroup):
        is_map = name in MAPPED
        part = parts.pop(0).lower() if parts and parts[0].lower() in _names(group) else "value"
        if part not in _names(group):
            raise ValueError(f"{path} has parts: write {', '.join(f'{path}.{known}' for known in _names(group))}")
        data_path = f"{data_path}.{part}"
        if is_map and part == "value" and group.source != "UNIFORM":
            raise ValueError(f"{path} is painted: set {path}.minimum or {path}.maximum, or first {path}.source=UNIFORM")
    holder, _, name = data_path.rpartition(".")
    prop = (owner.path_resolve(holder) if holder else owner).bl_rna.properties[name]
    axis = None
    if parts and parts[0].lower() in tuple(AXES) and getattr(prop, "is_array", False):
        axis = AXES.index(parts.pop(0).lower())
    if parts:
        raise ValueError(f"'{path}' goes on after its end: '{'.'.join(parts)}' is no part of {name}")
    if data_path in keyed(owner):
        raise ValueError(
            f"{path} has keyframes or a driver, which would set it anew in every frame; remove those first"
        )
    return Setting(path, "" if owner == scene else owner.name, data_path, axis)


def _place(scene, setting: Setting) -> tuple[bpy.types.bpy_struct, str]:
    """The group that a setting lies in, and its name there."""
    owner = scene.objects.get(setting.owner) if setting.owner else scene
    if owner is None:
        raise ValueError(f"{setting.owner} is gone from scene {scene.name}; check the path {setting.path}")
    holder, _, name = setting.data_path.rpartition(".")
    return (owner.path_resolve(holder) if holder else owner), name


def _number(setting: Setting, prop, text: str) -> float | int:
    try:
        value = int(text) if prop.type == "INT" else float(text)
    except ValueError:
        kind = "a whole number" if prop.type == "INT" else "a number"
        raise ValueError(f"{setting.path} is {kind}, and '{text}' is none") from None
    if not math.isfinite(value) or not prop.hard_min <= value <= prop.hard_max:
        raise ValueError(f"{setting.path} is between {prop.hard_min:g} and {prop.hard_max:g}; '{text}' is not")
    return value
