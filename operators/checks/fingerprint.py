# SPDX-License-Identifier: GPL-3.0-or-later
"""What a bake was made of, in short, so that the panel can say at once what was changed since.

A fingerprint is a dictionary from words an animator knows ("Stretch", "Wind", "mesh of Body") to a short hash or
value, kept as JSON with the garment. It is a hint for the eye: which frames are really good is decided when the next
bake compares the digests of all its inputs. Live, it costs a fraction of a millisecond for 15,000 vertices; what takes
longer, as painted weights and animation curves do, `read.measures` keeps until Blender says that it changed.
"""

import json
import zlib
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from functools import partial
from types import MappingProxyType

import bpy

from ...panels.mapped import ROWS
from ...panels.translations import translated
from ...solver.model import RELEASE
from ..read import (
    allowance,
    anchors,
    bands,
    edge_values,
    image_sequence,
    measures,
    pattern_size,
    placement,
    pleats,
    rest,
    tear_lines,
    trims,
    zips,
)
from ..read.force_fields import SETTINGS_READ, emitters
from ..read.groups import MASKS, met
from ..read.keyed import keyed, moves
from ..read.mesh_io import metres_per_unit
from .setting_words import CLOTH_WORDS, SCENE_WORDS


def _short(value) -> str:
    return f"{zlib.crc32(json.dumps(value).encode()):08x}"


BAKED_BY = "Taffeta"  # the entry that says which release has made a bake; what others wrote is not comparable
MESH = "the mesh of "
ANIMATION = "the animation"
BETWEEN = "the curves of the animation"  # what of it is not its keys
COLLIDERS = "the colliders"
SIMPLIFY = "Simplify"
SETTINGS = "the settings of {}"  # each collider has them
UV = "the UV map of {}"
PLACES = {
    placement.PLACE: "the place of {}",
    placement.POSE: "the pose of {}",
    placement.SHAPE: "the shape of {}",
    placement.SHAPE_KEYS: "the shape keys of {}",
    placement.MODIFIERS: "the modifiers of {}",
    placement.BONES: "the bones of {}",
    placement.KEY_SHAPES: "the sculpted shape keys of {}",
    placement.INPUTS: "the node inputs of {}",
}
# What bakes of this release had before it could be chosen, by word.
LATER = {SCENE_WORDS["untangle_each"]: _short([False]), SIMPLIFY: _short(False)}
OF_PLACES = (BETWEEN, *(words.removesuffix("{}") for words in PLACES.values()))
TIE_NUMBERS = "weight", "stiffness", "damping", "breaking_force"  # of an attachment
BY_NAME = "Attachments", "Felt Motion", "Collision Collection"  # what is told by the names of other objects

_taken: dict[tuple, dict[str, str]] | None = None  # while nothing changes


@contextmanager
def once():
    """Nothing is changed meanwhile, so that each fingerprint is taken once."""
    global _taken
    _taken = {}
    try:
        yield
    finally:
        _taken = None


def take(
    obj: bpy.types.Object,
    scene: bpy.types.Scene,
    colliders: list[bpy.types.Object],
    called: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, str]:
    """Fingerprint of one garment in its scene, as it is now. Cloth that is a collider, too, is none in most bakes, and left out.

    called : other names, by those of now, that what holds the garment and what it meets are told by.
    """
    key = (obj, scene, *colliders, *called.items())
    if _taken is None or key not in _taken:
        prints = _take(obj, scene, colliders, called)
        if _taken is None:
            return prints
        _taken[key] = prints
    return _taken[key]


def _take(obj, scene, colliders, called) -> dict[str, str]:
    colliders = [collider for collider in colliders if not collider.taffeta_cloth.enabled]
    by_keys = {owner: keyed(owner) for owner in (scene, obj)}  # what they say now is not what the bake saw
    prints = _of_shot(obj, scene, colliders, by_keys[scene]) | _of_settings(obj, scene, by_keys)
    prints |= _groups(obj, scene, colliders, called)
    prints |= _of_marks(obj, by_keys[obj], called)
    for collider in colliders:
        prints[SETTINGS.format(collider.name)] = _body(collider)
        prints[f"{MESH}{collider.name}"] = measures.mesh_sums(collider.data)
    placed = placement.prints([obj, *colliders, *_carriers(obj.taffeta_cloth)])
    prints |= {PLACES[what].format(name): value for (what, name), value in placed.items()}
    return {word: _short(value) for word, value in prints.items()}


def _of_shot(obj, scene, colliders, by_keys: set[str]) -> dict:
    """Of the mesh, and of what is about it."""
    force_fields = emitters(scene, scene.view_layers[0])
    animation, between = measures.animation_sums([scene, obj, *colliders, *force_fields, *_carriers(obj.taffeta_cloth)])
    return {
        BAKED_BY: RELEASE,
        f"{MESH}{obj.name}": measures.mesh_sums(obj.data),
        UV.format(obj.name): _uv(obj),
        ANIMATION: animation,
        BETWEEN: between,
        "the force fields": [_force_field(emitter) for emitter in force_fields],
        "the frame rate": round(scene.render.fps / scene.render.fps_base, 6),
        "the unit scale": round(metres_per_unit(scene), 9),
        SIMPLIFY: _simplified(scene, colliders),
        "the first frame": scene.frame_start,
        "gravity": scene.use_gravity and "gravity" not in by_keys and _plain(scene.gravity),
        COLLIDERS: sorted(collider.name for collider in colliders),
    }


def _of_settings(obj, scene, by_keys: dict) -> dict:
    """Of the settings of a garment and its scene. by_keys : data paths that are animated, of both"""
    prints, cloth = {}, obj.taffeta_cloth
    for name, row in ROWS.items():
        prints[row.label] = _mapped(
            obj, getattr(cloth, name), {path.rpartition(f"taffeta_cloth.{name}.")[2] for path in by_keys[obj]}
        )
    for name, word in SCENE_WORDS.items():
        value = _plain(getattr(scene.taffeta, name))
        prints.setdefault(word, []).append(None if f"taffeta.{name}" in by_keys[scene] else value)
    for name, word in CLOTH_WORDS.items():
        prints[word] = None if f"taffeta_cloth.{name}" in by_keys[obj] else _plain(getattr(cloth, name))
    return prints


def _of_marks(obj, by_keys: set[str], called) -> dict:
    """Of what is marked on the mesh, and what holds and shapes the garment besides its settings."""
    cloth = obj.taffeta_cloth
    prints = {"Attachments": _attachments(obj, by_keys, called), "Trims": trims.summary(obj)}
    prints |= {"Pleats": edge_values.checksum(obj.data, pleats.NAMES), **rest.prints(obj)}
    prints["the edges marked as elastic"] = edge_values.checksum(obj.data, bands.NAMES)
    prints["Zips"] = edge_values.checksum(obj.data, (zips.OPENS,))
    prints["what is marked as seams"] = allowance.checksum(obj)
    prints["Size from Pattern"] = pattern_size.checksum(obj)
    prints["Felt Motion"] = [
        None if "taffeta_cloth.ride.felt" in by_keys else _plain(cloth.ride.felt),
        cloth.ride.object and [_name(cloth.ride.object, called), cloth.ride.bone],
    ]
    prints["Tear Lines"] = _tear_lines(obj, by_keys)
    return prints


def _simplified(scene, colliders) -> int | bool:
    """How often Simplify lets bodies be subdivided at most, where that is less than they are to be; False where not."""
    most = scene.render.simplify_subdivision
    shown = (modifier for obj in colliders for modifier in obj.modifiers if modifier.show_viewport)
    finer = any(modifier.levels > most for modifier in shown if modifier.type in {"SUBSURF", "MULTIRES"})
    return most if scene.render.use_simplify and finer else False


def digest(text: str) -> str:
    """A fingerprint as JSON, in eight letters: bakes of the same settings have the same."""
    return f"{zlib.crc32(text.encode()):08x}"


def knows(text: str, mesh: bpy.types.Mesh) -> bool:
    """Whether a bake whose fingerprint is this JSON was made of this mesh, whatever the object was called."""
    try:
        known = json.loads(text)
    except ValueError:
        return False
    now = _short(measures.mesh_sums(mesh))
    return isinstance(known, dict) and any(word.startswith(MESH) and value == now for word, value in known.items())


def mesh_of(obj: bpy.types.Object, vertex_count: int, text: str) -> bpy.types.Mesh | None:
    """The mesh that an object has to have to play a bake of so many vertices with this fingerprint: its own, or one that it had as a
    cage. None where it has none that fits."""
    found = [obj.data, *(entry.mesh for entry in reversed(obj.taffeta_cage.kept) if entry.mesh is not None)]
    found = [mesh for mesh in found if len(mesh.vertices) == vertex_count]
    return next((mesh for mesh in found if len(found) > 1 and knows(text, mesh)), found[0] if found else None)


def changes(obj: bpy.types.Object, scene: bpy.types.Scene, colliders: list[bpy.types.Object]) -> list[str]:
    """Words for what was changed since the bake; empty when nothing was, or when nothing is known."""
    again = partial(take, obj, scene, colliders)
    return differing(obj.taffeta_cloth.fingerprint, again(), again)


def differing(text: str, now: dict[str, str], again: Callable[[dict], dict[str, str]] = lambda _: {}) -> list[str]:
    """Words for what differs between a bake's fingerprint as JSON and one of now; `again` takes that with other names."""
    then = _parsed(text)
    if not then or is_of_another_release(text):
        return []
    then = LATER | then
    if any(then.get(word) != now.get(word) for word in BY_NAME) and (called := _former_names(then, now)):
        now = again(called) or now
    unknown = _renamed(then, now)
    words = [word for word in now if word not in unknown and then.get(word) != now[word]]
    if COLLIDERS in words and _count(then, SETTINGS) == _count(now, SETTINGS):
        words.remove(
            COLLIDERS
        )  # as many as there were: another name is no change, and what another one is like is told
    elif COLLIDERS in words:  # what a new one is like goes with it
        words = [word for word in words if word in then or " of " not in word]
    sculpted, valued = (PLACES[what].removesuffix("{}") for what in (placement.KEY_SHAPES, placement.SHAPE_KEYS))
    words = [
        word for word in words if word.replace(sculpted, valued) == word or word.replace(sculpted, valued) not in words
    ]
    if ANIMATION in words:  # what keys write is left out of places, so that another key changes these, too
        words = [word for word in words if not word.startswith(OF_PLACES)]
    return words


def _count(prints: dict, kind: str) -> int:
    """How many entries are of one kind, words with a place for the name."""
    return sum(word.startswith(kind.removesuffix("{}")) for word in prints)


def _renamed(then: dict, now: dict[str, str]) -> set[str]:
    """What is said now of objects of another name than then, of which then the same was said, or nothing of that kind."""
    kinds, gone = {word.partition(" of ")[0] for word in then}, then.keys() - now.keys()
    found = set()
    for word in now.keys() - then.keys():
        kind, of, _ = word.partition(" of ")
        if of and (kind not in kinds or any(then[old] == now[word] for old in gone if old.startswith(kind + of))):
            found.add(word)
    return found


def _former_names(then: dict, now: dict[str, str]) -> dict[str, str]:
    """What objects were called then, by their names of now: those of which the same is said, where that is said of one alone."""
    gone, found = then.keys() - now.keys(), {}
    for word in now.keys() - then.keys():
        kind, _, name = word.partition(" of ")
        olds = (old.partition(" of ") for old in gone if then[old] == now[word])
        if same := {former for of, _, former in olds if of == kind and former}:
            found[name] = found.get(name, same) & same
    return {name: former.pop() for name, former in found.items() if len(former) == 1}


def is_of_another_release(text: str) -> bool:
    """Whether a bake's fingerprint as JSON was written by an older or newer Taffeta, which knew other settings."""
    then = _parsed(text)
    return bool(then) and then.get(BAKED_BY) != _short(RELEASE)


def _parsed(text: str) -> dict:
    """A fingerprint as JSON; {} where it is none, for a .blend of somebody else may hold anything."""
    try:
        then = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return then if isinstance(then, dict) else {}


def sentence(words: list[str]) -> str:
    """The words of `changes` as the end of a sentence, in the language of the window: at most three of them."""
    words = [translated(word) for word in words]
    if len(words) > 3:
        return f"{', '.join(words[:3])} and {len(words) - 3} more"
    return translated(" and ").join(([", ".join(words[:-1])] if len(words) > 1 else []) + words[-1:])


def _force_field(obj) -> list:
    """A force field's settings and place, without what is animated."""
    by_keys, field = keyed(obj), obj.field
    fixed = [
        name for name, others in SETTINGS_READ.items() if by_keys.isdisjoint(f"field.{n}" for n in (name, *others))
    ]
    values = [_plain(getattr(field, name)) for name in fixed]
    return [obj.name, values, None if moves(obj) else [_plain(row) for row in obj.matrix_world]]


def _groups(obj, scene, colliders, called) -> dict[str, object]:
    """Who collides with what: masks by their weights, the collection by those in it that matter."""
    cloth, prints = obj.taffeta_cloth, {}
    for name in MASKS:
        group = getattr(cloth, name)
        known = group in obj.vertex_groups
        left_out = zlib.crc32(measures.weights(obj, group) > 0.0) if known else None
        prints[cloth.bl_rna.properties[name].name] = left_out if known else group
    cloths = (other for other in scene.objects if other.type == "MESH" and other.taffeta_cloth.enabled)
    others = [*colliders, *(other for other in cloths if other != obj)]
    told = met(obj, others)
    names = [
        _name(other, called) for other, is_met in zip(others, told or [False] * len(others), strict=True) if is_met
    ]
    return prints | {"Collision Collection": None if told is None else sorted(names)}


def _body(obj) -> list:
    """A body's settings, as far as no key says them."""
    settings, by_keys = obj.taffeta_collider, {path.removeprefix("taffeta_collider.") for path in keyed(obj)}
    names = ["aura", "friction", "restitution", "single_frame_samples"]
    # what is as it was before there was such a setting is not told, for bakes from then
    names += [
        name
        for name, usual in (("viscosity", 0.0), ("collides", True))
        if getattr(settings, name) != usual or name in by_keys
    ]
    return [None if name in by_keys else round(float(getattr(settings, name)), 7) for name in names]


def _carriers(cloth) -> list[bpy.types.Object]:
    found = [entry.body for entry in cloth.attachments] + [cloth.ride.object]
    return [obj for obj in found if obj is not None]


def _name(obj, called: Mapping[str, str]) -> str:
    return called.get(obj.name, obj.name)


def _uv(obj) -> list:
    """Checksums of the UV maps that threads and images lie by."""
    cloth, layers = obj.taffeta_cloth, obj.data.uv_layers
    images = (mapped for mapped in (getattr(cloth, name) for name in ROWS) if mapped.source == "IMAGE")
    names = [cloth.uv_map, *(mapped.uv_map or (layers.active.name if layers.active else "") for mapped in images)]
    return [measures.uv_sum(layers[name]) for name in dict.fromkeys(names) if name in layers]


def _attachments(obj, by_keys, called) -> list:
    """What a garment is attached to, and where, and how firmly as far as no key says it."""
    found = []
    for index, entry in enumerate(obj.taffeta_cloth.attachments):
        keys = {path.rpartition(".")[2] for path in by_keys if path.startswith(f"taffeta_cloth.attachments[{index}].")}
        numbers = [None if name in keys else _plain(getattr(entry, name)) for name in TIE_NUMBERS]
        found.append([_name(entry.body, called) if entry.body else None, *numbers])
    return [found, anchors.checksum(obj.data)] if found else []


def _mapped(obj, mapped, by_keys) -> list:
    """Settings of one mapped property but those by keys, with a checksum of the map, whatever it is called."""

    def number(name):
        return None if name in by_keys else round(getattr(mapped, name), 9)

    if mapped.source == "UNIFORM":
        return ["UNIFORM", number("value")]
    common = [mapped.source, number("minimum"), number("maximum"), mapped.invert]
    if mapped.source == "GROUP":
        known = mapped.vertex_group in obj.vertex_groups
        return [*common, zlib.crc32(measures.weights(obj, mapped.vertex_group)) if known else mapped.vertex_group]
    if mapped.source == "IMAGE":
        image = mapped.image
        if image and image.source == "SEQUENCE":
            return [*common, image_sequence.summary(image), mapped.uv_map]
        return [*common, [list(image.size), measures.image_sum(image)] if image else None, mapped.uv_map]
    known = measures.attribute_sum(obj.data, mapped.attribute)
    return [*common, mapped.attribute if known is None else known]


def _plain(value):
    if isinstance(value, (str, bool, int)):
        return value
    return [round(item, 6) for item in value] if hasattr(value, "__len__") else round(value, 6)


def _tear_lines(obj, by_keys):
    """How it tears, where it can."""
    strength = measures.attribute_sum(obj.data, tear_lines.STRENGTH)
    if strength is None:
        return None
    tear = obj.taffeta_cloth.tear
    hold = None if "taffeta_cloth.tear.hold" in by_keys else _plain(tear.hold)
    return [strength, hold, _plain(tear.run_on), tear.most, tear.piece]
