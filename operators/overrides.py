# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of linked objects that are overridden here, kept where Blender would lose them.

Blender stores an override as paths to properties. A file that is opened while Taffeta is disabled has no such properties, so these
overrides are dropped, and saving it then loses them. And Blender 5 stores a group of settings only once it was written to: an
override of a group that the linked object lacks is lost on loading. So before a file is saved, linked objects get all groups, and
what is overridden is noted in the scene, which Blender leaves alone; after one was opened, what is the library's again but noted
otherwise is overridden anew.
"""

import contextlib
from collections.abc import Iterator

import bpy
from bpy.app.handlers import persistent

from .read.listen import listen, listen_no_more

GROUPS = "taffeta_cloth", "taffeta_collider", "taffeta_fabric", "taffeta_trim", "taffeta_cage"
NOTED = "taffeta_overrides"  # property of a scene: object -> group -> property -> value, and so on in groups of groups


@persistent
def note(*_) -> None:
    """Before saving: note what is overridden, in each scene of this file."""
    for obj in bpy.data.objects:
        for _, reference in _both(obj):
            _write_out(reference)
    for scene in bpy.data.scenes:
        if scene.library is not None:
            continue
        noted = {obj.name: told for obj in scene.objects if (told := _overridden(obj))}
        if noted:
            scene[NOTED] = noted
        elif NOTED in scene:
            del scene[NOTED]


@persistent
def give_back(*_) -> None:
    """After opening: override anew what was lost."""
    for scene in bpy.data.scenes:
        told = scene.get(NOTED, {})
        for obj in scene.objects:
            for own, reference in _both(obj):
                _set(own, reference, told.get(obj.name, {}).get(own.path_from_id(), {}))


def _both(obj) -> Iterator[tuple[bpy.types.PropertyGroup, bpy.types.PropertyGroup]]:
    """Groups of settings of an object that overrides a linked one, and those of that."""
    override = obj.override_library
    if override is not None and override.reference is not None:
        for name in GROUPS:
            yield getattr(obj, name), getattr(override.reference, name)


def _properties(group) -> Iterator[bpy.types.Property]:
    """What of a group can be overridden and is no list, nor the same in another unit."""
    for prop in group.bl_rna.properties:
        is_value = prop.is_overridable and not prop.is_readonly and prop.type != "COLLECTION"
        if _is_group(prop) or is_value and not prop.identifier.endswith("_shown"):
            yield prop


def _is_group(prop) -> bool:
    return prop.type == "POINTER" and prop.identifier != "rna_type" and "ID" not in _bases(prop.fixed_type)


def _bases(kind) -> list[str]:
    """What kinds a kind of data is of."""
    found = []
    while kind is not None:
        found.append(kind.identifier)
        kind = kind.base
    return found


def _write_out(group) -> None:
    """Have Blender store a group, and those in it: writing one value is enough."""
    kept = [prop.identifier for prop in _properties(group) if prop.type != "POINTER"]
    if kept:
        setattr(group, kept[0], getattr(group, kept[0]))
    for prop in _properties(group):
        if _is_group(prop):
            _write_out(getattr(group, prop.identifier))


def _overridden(obj) -> dict:
    """What an object has otherwise than the linked one, as plain values."""
    found = {own.path_from_id(): _differing(own, reference) for own, reference in _both(obj)}
    return {name: values for name, values in found.items() if values}


def _differing(own, reference) -> dict:
    values = {}
    for prop in _properties(own):
        value, linked = _plain(own, prop), _plain(reference, prop)
        if _is_group(prop):
            value, linked = _differing(value, linked), {}
        if value != linked:
            values[prop.identifier] = 0 if value is None else value  # there is no None in what Blender stores
    return values


def _plain(group, prop):
    value = getattr(group, prop.identifier)
    return list(value) if getattr(prop, "is_array", False) else value


def _set(own, reference, noted) -> None:
    """Give a group the values that are noted, where it has the library's."""
    for prop in _properties(own):
        if prop.identifier not in noted:
            continue
        value = noted[prop.identifier]
        if _is_group(prop):
            _set(getattr(own, prop.identifier), getattr(reference, prop.identifier), value)
        elif _plain(own, prop) == _plain(reference, prop):
            # of another version of Taffeta: this one stays as it is
            with contextlib.suppress(TypeError, ValueError, AttributeError):
                setattr(own, prop.identifier, None if prop.type == "POINTER" and value == 0 else value)


HANDLERS = ("save_pre", note), ("load_post", give_back)


def register() -> None:
    """Have files looked at when they are saved and opened."""
    listen(HANDLERS)


def unregister() -> None:
    """Undo `register`."""
    listen_no_more(HANDLERS)
