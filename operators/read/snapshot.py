# SPDX-License-Identifier: GPL-3.0-or-later
"""All settings of Taffeta as plain values and back: of garments, colliders and scene, gravity, the frame range; and the
painted maps of the garments. What takes and bakes are made of (`solver.cache.recipe`).

Meshes and animation are no settings: nobody brings them back.
"""

from collections.abc import Container, Iterator

import bpy

from ...panels.mapped import ROWS
from ...panels.properties import NOTES
from ...solver.cache.recipe import Recipe
from . import painted
from .keyed import keyed

SKIPPED = NOTES | {"rna_type", "name", "enabled", "cache_name", "cache_folder", "sequence"}
NAMED = {
    "Image": "images",
    "Collection": "collections",
    "Object": "objects",
}  # what settings point to, and where it is found


def take(scene: bpy.types.Scene, cloths: list[bpy.types.Object], with_maps: bool = True) -> Recipe:
    """The settings of a scene, its garments and its colliders as they are now."""
    by_name = {obj.name: _values(obj.taffeta_cloth) for obj in cloths}
    settings = {
        "frames": [scene.frame_start, scene.frame_end],
        "gravity": [scene.use_gravity, *scene.gravity],
        "scene": _values(scene.taffeta),
        "cloths": by_name,
        "bodies": {obj.name: _values(obj.taffeta_collider) for obj in _bodies(scene)},
    }
    maps = {obj.name: painted.maps_of(obj, by_name[obj.name]) for obj in cloths if with_maps}
    return Recipe(settings, maps)


def apply(recipe: Recipe, scene: bpy.types.Scene, cloths: list[bpy.types.Object], label: str = "") -> list[str]:
    """Give a scene and its garments the settings and maps of `take`; objects that it does not know stay as they are.

    label : the take's name, for maps that were changed since (`painted.bring_back`). Returns its sentences.

    Raises
    ------
    ValueError
        These are no such settings, or a garment is in Edit Mode: a sentence, and nothing was changed.
    """
    told = recipe.settings
    try:
        first, last = (int(frame) for frame in told["frames"])
        scene_values, bodies = dict(told["scene"]), dict(told.get("bodies", {}))
        by_name = {name: dict(values) for name, values in told["cloths"].items()}
        gravity = [float(number) for number in told.get("gravity", ())]
        if max(abs(first), abs(last)) > bpy.types.Scene.bl_rna.properties["frame_end"].hard_max:
            raise ValueError
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError):
        raise ValueError("The settings of this take cannot be read; remove it, and add it again") from None
    if editing := [obj.name for obj in cloths if obj.mode == "EDIT" and recipe.maps.get(obj.name)]:
        raise ValueError(f"{editing[0]} is in Edit Mode, where its maps cannot be changed; leave it first")
    scene.frame_start, scene.frame_end = first, last
    if len(gravity) == 4:
        scene.use_gravity, scene.gravity = bool(gravity[0]), gravity[1:]
    lost = _set(scene.taffeta, scene_values)
    colliding = {obj.name: obj for obj in _bodies(scene)}
    for name, obj in colliding.items():
        values = bodies.get(name)
        lost += _set(obj.taffeta_collider, values if isinstance(values, dict) else {})
    sentences = [
        f"there is no collider {name} any more, whose settings are lost" for name in bodies if name not in colliding
    ]
    for obj in cloths:
        values = by_name.get(obj.name, {})
        sentences += painted.bring_back(obj, values, recipe.maps.get(obj.name, ()), label)
        lost += _set(obj.taffeta_cloth, values)
    return sentences + lost


def refuse_unknown(recipe: Recipe, cloths: list[bpy.types.Object]) -> None:
    """Raise a ValueError, with a sentence, where a take names garments that are called otherwise now: they would be baked with
    settings that are not the take's.
    """
    told, names = recipe.settings.get("cloths"), {obj.name for obj in cloths}
    gone = sorted(set(told) - names) if isinstance(told, dict) else ()
    if gone:
        raise ValueError(
            f"This take has settings for {gone[0]}, and there is no such cloth any more; give it that name again, or add the "
            "take anew"
        )


def differing(settings: dict, scene: bpy.types.Scene, obj: bpy.types.Object) -> list[str]:
    """Labels of settings that a bake of this garment, `Recipe.settings`, was made with otherwise than they are now. Those that one of
    both does not know, as another release may have others, and those that are keyed, are none."""
    cloths, bodies = settings.get("cloths"), settings.get("bodies")
    cloth = next(iter(cloths.values()), None) if isinstance(cloths, dict) else None
    told = [(scene, "taffeta", settings.get("scene")), (obj, "taffeta_cloth", cloth)]
    if isinstance(bodies, dict):
        told += [(body, "taffeta_collider", bodies.get(body.name)) for body in _bodies(scene)]
    found = [
        label for owner, name, values in told for label in _changed(getattr(owner, name), values, name, keyed(owner))
    ]
    then = settings.get("gravity")
    if isinstance(then, list) and "gravity" not in keyed(scene) and then != [scene.use_gravity, *scene.gravity]:
        found.append("gravity")
    return list(dict.fromkeys(found))


def copy(source: bpy.types.PropertyGroup, target: bpy.types.PropertyGroup, without: Container[str] = ()) -> None:
    """Give a group of settings, as `Object.taffeta_cloth`, what another one of the same kind has; lists aside."""
    for name in (name for _, name in _properties(source) if name not in without):
        value = getattr(source, name)
        if isinstance(value, bpy.types.PropertyGroup):
            copy(value, getattr(target, name))
        elif getattr(target, name) != value:
            setattr(target, name, value)


def renamed(recipe: Recipe, name: str) -> Recipe:
    """The recipe of a bake, which has one garment, for the one that is called `name` now."""
    cloths, settings = recipe.settings.get("cloths"), recipe.settings
    if isinstance(cloths, dict) and len(cloths) == 1:
        settings = settings | {"cloths": {name: next(iter(cloths.values()))}}
    return Recipe(settings, {name: [painted for maps in recipe.maps.values() for painted in maps]})


def as_called(recipe: Recipe, names: dict[str, str]) -> Recipe:
    """A recipe whose garments and colliders are called otherwise; names : new ones by old, of those that are known"""

    def moved(by_name):
        if not isinstance(by_name, dict):
            return by_name
        return {names.get(name, name): value for name, value in by_name.items()}

    told = {key: moved(recipe.settings[key]) for key in ("cloths", "bodies") if key in recipe.settings}
    return Recipe(recipe.settings | told, moved(recipe.maps))


def _bodies(scene):
    return [obj for obj in scene.objects if obj.type == "MESH" and obj.taffeta_collider.enabled]


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


def _changed(group, then, path: str, by_keys: set[str]) -> Iterator[str]:
    """Labels of what a group has otherwise than `then` says, of what that knows."""
    now = _values(group)
    for prop, name in _properties(group):
        own = f"{path}.{name}"
        if not isinstance(then, dict) or name not in then or own in by_keys:
            continue
        inner = getattr(group, name)
        if isinstance(inner, bpy.types.PropertyGroup):
            differs = any(_changed(inner, then[name], own, by_keys))
        else:
            differs = now[name] != then[name]
        if differs:
            yield ROWS[name].label if name in ROWS else prop.name


def _set(group, values: dict) -> list[str]:
    """Give a group plain values; returns a sentence for each that names what is not there any more, which stays as it is."""
    lost = []
    for prop, name in _properties(group):
        if name not in values:
            continue
        value, now = values[name], getattr(group, name)
        if isinstance(now, bpy.types.PropertyGroup):
            lost += _set(now, value if isinstance(value, dict) else {})
            continue
        if prop.type == "POINTER":
            known = getattr(bpy.data, NAMED[prop.fixed_type.identifier])
            if isinstance(value, str) and value not in known:
                lost.append(f"{prop.name} was {value}, which is not there any more; it stays as it is")
                continue
            value = known.get(value) if isinstance(value, str) else None
        try:
            if (list(now) if getattr(prop, "is_array", False) else now) != value:
                setattr(group, name, value)
        except (TypeError, ValueError, AttributeError, OverflowError):
            pass  # linked from a library, of another version of Taffeta, or edited by hand: this one stays as it is
    return lost
