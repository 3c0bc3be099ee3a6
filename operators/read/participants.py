# SPDX-License-Identifier: GPL-3.0-or-later
"""Which objects take part in a simulation: garments, bodies, and how to find them again."""

from collections.abc import Iterable, Sequence

import bpy
import numpy as np
from mathutils import Vector


def cloths_of(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """The meshes of a scene whose Taffeta Cloth is on, sorted by name."""
    found = [obj for obj in scene.objects if obj.type == "MESH" and obj.taffeta_cloth.enabled]
    return sorted(found, key=lambda obj: obj.name)


def visible_cloths(view_layer: bpy.types.ViewLayer) -> list[bpy.types.Object]:
    """The cloths with faces that a view layer shows."""
    meshes = [obj for obj in view_layer.objects if obj is not None and obj.type == "MESH"]
    return [obj for obj in meshes if obj.taffeta_cloth.enabled and obj.visible_get() and obj.data.polygons]


def chosen_cloths(context, name: str = "", everything: bool = False) -> list[bpy.types.Object]:
    """The cloths that an operator is to work on: the named one, all, or the selected ones. A garment with a cage means that.

    Raises
    ------
    ValueError
        There is none, or `name` is no cloth.
    """
    found = cloths_of(context.scene)
    if name:
        name = _cage_of(context.scene.objects.get(name), name)
        found = [obj for obj in found if obj.name == name]
        if not found:
            raise ValueError(f"{name} is not a Taffeta Cloth of scene {context.scene.name}; check the name")
    elif not everything:
        chosen = {_cage_of(obj, obj.name) for obj in context.view_layer.objects if obj is not None and obj.select_get()}
        selected = [obj for obj in found if obj.name in chosen]
        shown = context.view_layer.objects.active
        active = [obj for obj in found if shown is not None and obj.name == _cage_of(shown, shown.name)]
        found = selected or active
        if not found:
            raise ValueError("No Taffeta Cloth is selected; select one in the viewport")
    if not found:
        raise ValueError(f"Scene {context.scene.name} has no Taffeta Cloth; add one in the Physics tab")
    return found


def chosen_cloth(context, name: str = "") -> bpy.types.Object:
    """The one cloth that an operator is to work on; ValueError, as `chosen_cloths`, also where several are selected."""
    found = chosen_cloths(context, name)
    if len(found) > 1:
        raise ValueError(f"{len(found)} cloths are selected; select one")
    return found[0]


def _cage_of(obj: bpy.types.Object | None, name: str) -> str:
    """Name of the cage that is simulated for an object; `name` where it has none."""
    cage = obj.taffeta_cage.cage if obj is not None else None
    return cage.name if cage is not None else name


def refuse_linked(obj: bpy.types.Object) -> None:
    """Raise ValueError, with what to do instead, for an object that is linked from another file."""
    if obj.library is not None:
        raise ValueError(
            f"{obj.name} is linked from {obj.library.filepath}; make a library override of it "
            "(Object > Library Override > Make) and work on that"
        )


def lost_mesh(obj: bpy.types.Object) -> str:
    """What to say of an override whose mesh is not found where it is linked from, so that Blender shows nothing of it; "" of others."""
    if obj.data.library is None or not obj.data.is_missing:
        return ""
    return f"{obj.name} has lost its mesh: {obj.data.name} is not found in {obj.data.library.filepath}"


def refuse_mode(obj: bpy.types.Object) -> None:
    """Raise ValueError for an object that is not in Object Mode, as it can be while another one is active: its data may be empty."""
    if obj.mode != "OBJECT":
        raise ValueError(f"{obj.name} is not in Object Mode; go back to that first")


def colliders_of(scene: bpy.types.Scene, cloths: Sequence[bpy.types.Object]) -> list[bpy.types.Object]:
    """Objects that take part as colliders, sorted by name: all that are switched on, or those of the collection.

    A garment of the bake itself is none: cloth meets cloth by its thickness.

    Raises
    ------
    ValueError
        A collection is asked for, but none is chosen.
    """
    settings = scene.taffeta
    found = scene.objects
    if settings.collider_source == "COLLECTION":
        if settings.collider_collection is None:
            raise ValueError(
                f"{scene.name}: Collide with is set to Collection, but none is chosen; choose one or set it to All"
            )
        inside = {obj.session_uid for obj in settings.collider_collection.all_objects}
        found = [obj for obj in scene.objects if obj.session_uid in inside]
    own = {obj.session_uid for obj in cloths}
    found = [o for o in found if o.type == "MESH" and o.taffeta_collider.enabled and o.session_uid not in own]
    return sorted(found, key=lambda obj: obj.name)


def colliders(scene: bpy.types.Scene, cloths: Sequence[bpy.types.Object]) -> list[bpy.types.Object]:
    """The bodies that take part in a bake of these cloths; none while no collection is chosen."""
    try:
        return colliders_of(scene, cloths)
    except ValueError:
        return []


def instanced(scene: bpy.types.Scene) -> list[tuple[bpy.types.Object, bpy.types.Object]]:
    """Pairs of an Empty of a scene and a mesh that is not in it, which the Empty shows as an instance of its collection."""
    own = {obj.session_uid for obj in scene.objects}
    found = []
    for empty in sorted(filter(_shows_collection, scene.objects), key=lambda obj: obj.name):
        shown = {obj.session_uid: obj for obj in _in_instance(empty.instance_collection, set())}
        found += [(empty, obj) for uid, obj in shown.items() if obj.type == "MESH" and uid not in own]
    return found


def _shows_collection(obj: bpy.types.Object) -> bool:
    """Whether an object shows instances of a collection, in the viewport or the render."""
    is_shown = not (obj.hide_viewport and obj.hide_render)
    return obj.instance_type == "COLLECTION" and obj.instance_collection is not None and is_shown


def _in_instance(collection: bpy.types.Collection, seen: set) -> Iterable[bpy.types.Object]:
    """All that an instance of a collection shows, also by instances in it."""
    if collection in seen:
        return
    seen.add(collection)
    for obj in collection.all_objects:
        if not (obj.hide_viewport and obj.hide_render):
            yield obj
        if _shows_collection(obj):
            yield from _in_instance(obj.instance_collection, seen)


def find_object(uid: int, name: str) -> bpy.types.Object:
    """The object with this session uid, whatever happened to references since; ValueError if it was deleted."""
    for obj in bpy.data.objects:
        if obj.session_uid == uid:
            return obj
    raise ValueError(f"{name} was deleted during the bake; undo that and bake again")


def is_held(obj: bpy.types.Object) -> bool:
    """Whether pins may hold a cloth, as they do a flag or a curtain."""
    pin = obj.taffeta_cloth.pin
    return pin.source != "UNIFORM" or pin.value > 0.0


def near_bodies(
    scene: bpy.types.Scene, cloths: Sequence[bpy.types.Object], linked: bool = False
) -> list[bpy.types.Object]:
    """Meshes with faces that no cloth is, under or beside one: what a cloth may be meant to fall on. Sorted by name.

    linked : also those of other files, which cannot be made colliders here
    """
    boxes = [world_box([obj]) for obj in cloths]
    found = []
    for obj in scene.objects:
        if obj.taffeta_cage.cage is not None:  # it follows cloth
            continue
        if obj.type != "MESH" or obj in cloths or not obj.data.polygons or obj.hide_render:
            continue
        if obj.library is not None and not linked:
            continue
        low, high = world_box([obj])
        if any(
            (low[:2] <= top[:2]).all() and (high[:2] >= bottom[:2]).all() and low[2] <= top[2] for bottom, top in boxes
        ):
            found.append(obj)
    return sorted(found, key=lambda obj: obj.name)


def world_box(objects: Iterable[bpy.types.Object]) -> tuple[np.ndarray, np.ndarray] | None:
    """Lowest and highest corner of the boxes of objects in world space [Blender units], (3,) each; None without any."""
    corners = [obj.matrix_world @ Vector(corner) for obj in objects for corner in obj.bound_box]
    return (np.min(corners, axis=0), np.max(corners, axis=0)) if corners else None
