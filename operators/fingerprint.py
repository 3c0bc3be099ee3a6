# SPDX-License-Identifier: GPL-3.0-or-later
"""What a bake was made of, in short, so that the panel can say at once what was changed since.

A fingerprint is a dictionary from words an animator knows ("Stretch", "Wind", "mesh of Body") to a short hash or
value, kept as JSON with the garment. It is a hint for the eye: which frames are really good is decided when the next
bake compares the digests of all its inputs. Live, it costs a fraction of a millisecond for 15,000 vertices; painted
weights and animation curves take longer and are kept in `_slow` until Blender says that they changed.
"""

import json
import zlib

import bpy
import numpy as np
from bpy.app.handlers import persistent

from ..panels.mapped import ROWS
from .fields import READ, emitters
from .groups import MASKS, met
from .keyed import curves, keyed, moves
from .maps import ATTRIBUTE_VALUES, weights_in

# Session-wide memory of slow hashes: (kind, session_uid, ...) -> value. Emptied by the handler below.
_slow: dict[tuple, object] = {}

SCENE_WORDS = {
    "dynamics": "Dynamics",
    "theta": "Theta",
    "cloth_contact": "Cloth on Cloth",
    "field_cell": "Field Cell",
    "substeps": "Substeps",
    "substeps_preview": "Preview Substeps",
    "iterations": "Iterations",
    "tolerance": "Tolerance",
    "air_density": "Air Density",
    "air_drag": "Drag",
    "air_lift": "Lift",
    "wind": "Wind",
    "constant_force": "Constant Force",
    "random_force_min": "Random Force",
    "random_force_max": "Random Force",
    "seed": "Seed",
    "pin_rate": "Pin Rate",
    "neighbour_reach": "Neighbour Reach",
    "ldi_resolution": "LDI Resolution",
    "max_speed": "Speed Limit",
    "cloth_restitution": "Cloth Restitution",
    "preroll": "Pre-Roll",
    "preroll_from": "Pre-Roll",
}

CLOTH_WORDS = {
    "layer": "Layer",
    "self_collision": "Self-Collision",
    "quality": "Quality",
    "model": "Model",
    "weft_stretch": "Weft Stretch",
    "weft_bending": "Weft Bending",
    "poisson": "Poisson's Ratio",
    "strain_limit": "Strain Limit",
    "stiffening": "Stiffening",
    "uv_map": "Pattern",
    "field_weight": "Fields",
    "pressure": "Pressure",
    "target_volume": "Target Volume",
    "sewing": "Sewing",
    "sewing_time": "Closing Time",
    "sewing_force": "Max Force",
}


def take(obj: bpy.types.Object, scene: bpy.types.Scene, colliders: list[bpy.types.Object]) -> dict[str, str]:
    """Fingerprint of one garment in its scene, as it is now."""
    cloth = obj.taffeta_cloth
    fields = emitters(scene, scene.view_layers[0])
    by_keys = {owner: keyed(owner) for owner in (scene, obj)}  # what they say now is not what the bake saw
    prints = {
        f"the mesh of {obj.name}": _mesh(obj.data),
        "the animation": _animation([scene, obj, *colliders, *fields]),
        "the force fields": [_field(emitter) for emitter in fields],
        "the frame rate": round(scene.render.fps / scene.render.fps_base, 6),
        "the unit scale": round(scene.unit_settings.scale_length, 9),
        "the first frame": scene.frame_start,
        "gravity": scene.use_gravity and "gravity" not in by_keys[scene] and _plain(scene.gravity),
        "the colliders": sorted(collider.name for collider in colliders),
    }
    for name, row in ROWS.items():
        prints[row.label] = _mapped(
            obj, getattr(cloth, name), {path.rpartition(f"taffeta_cloth.{name}.")[2] for path in by_keys[obj]}
        )
    for field, word in SCENE_WORDS.items():
        value = _plain(getattr(scene.taffeta, field))
        prints.setdefault(word, []).append(None if f"taffeta.{field}" in by_keys[scene] else value)
    for field, word in CLOTH_WORDS.items():
        prints[word] = None if f"taffeta_cloth.{field}" in by_keys[obj] else _plain(getattr(cloth, field))
    prints |= _groups(obj, scene, colliders)
    for collider in colliders:
        settings = collider.taffeta_collider
        numbers = [settings.aura, settings.friction, settings.restitution, settings.single_frame_samples]
        prints[f"the settings of {collider.name}"] = [round(float(number), 7) for number in numbers]
        prints[f"the mesh of {collider.name}"] = _mesh(collider.data)
    return {word: _short(value) for word, value in prints.items()}


def store(obj: bpy.types.Object, scene: bpy.types.Scene, colliders: list[bpy.types.Object]) -> None:
    """Keep the garment's fingerprint with it; called when a bake begins to read the scene."""
    obj.taffeta_cloth.fingerprint = json.dumps(take(obj, scene, colliders))
    obj.taffeta_cloth.stale = ""


def changes(obj: bpy.types.Object, scene: bpy.types.Scene, colliders: list[bpy.types.Object]) -> list[str]:
    """Words for what was changed since the bake; empty when nothing was, or when nothing is known."""
    try:
        then = json.loads(obj.taffeta_cloth.fingerprint)
    except ValueError:
        return []
    if not isinstance(then, dict):
        return []
    now = take(obj, scene, colliders)
    renamed = {word for word in then.keys() ^ now.keys() if " of " in word}
    return [word for word in now if word not in renamed and then.get(word) != now[word]]


def sentence(words: list[str]) -> str:
    """The words of `changes` as the end of a sentence: at most three of them."""
    if len(words) > 3:
        return f"{', '.join(words[:3])} and {len(words) - 3} more"
    return " and ".join(([", ".join(words[:-1])] if len(words) > 1 else []) + words[-1:])


def weights(obj: bpy.types.Object, group: str) -> np.ndarray:
    """Weights of a vertex group, (n,); kept until the mesh changes. The group must exist."""
    mesh = obj.data
    key = ("weights", mesh.session_uid, group, len(mesh.vertices))
    if key not in _slow:
        _slow[key] = weights_in(obj, group, mesh)
    return _slow[key]


def open_edges(mesh: bpy.types.Mesh) -> int:
    """How many edges of faces have no face on the other side that goes round the other way; kept until it changes."""
    key = ("open", mesh.session_uid)
    if key not in _slow:
        corners, starts = np.empty(len(mesh.loops), np.int32), np.empty(len(mesh.polygons), np.int32)
        mesh.loops.foreach_get("vertex_index", corners)
        mesh.polygons.foreach_get("loop_start", starts)
        following = np.arange(1, len(corners) + 1)
        following[np.append(starts[1:], len(corners)) - 1] = starts
        ends, count = np.stack((corners, corners[following])), np.int64(len(mesh.vertices))
        alone = ~np.isin(ends[0] * count + ends[1], ends[1] * count + ends[0])
        _slow[key] = len(np.unique(ends.min(axis=0)[alone] * count + ends.max(axis=0)[alone]))
    return _slow[key]


def loose_edges(mesh: bpy.types.Mesh) -> int:
    """How many edges have no face; kept until the mesh changes."""
    key = ("loose", mesh.session_uid)
    if key not in _slow:
        corners = np.empty(len(mesh.loops), np.int32)
        mesh.loops.foreach_get("edge_index", corners)
        _slow[key] = len(mesh.edges) - len(np.unique(corners))
    return _slow[key]


def has_area(mesh: bpy.types.Mesh) -> bool:
    """Whether any face is more than a line or a point; kept until the mesh changes."""
    key = ("area", mesh.session_uid)
    if key not in _slow:
        area = np.empty(len(mesh.polygons), np.float32)
        mesh.polygons.foreach_get("area", area)
        _slow[key] = not (area == 0.0).all()
    return _slow[key]


def _mesh(mesh) -> list[int]:
    """Counts, and checksums of positions and face corners."""
    positions = np.empty(3 * len(mesh.vertices), np.float32)
    corners = np.empty(len(mesh.loops), np.int32)
    if "position" in mesh.attributes and len(positions):
        mesh.attributes["position"].data.foreach_get("vector", positions)
    if ".corner_vert" in mesh.attributes and len(corners):
        mesh.attributes[".corner_vert"].data.foreach_get("value", corners)
    counts = [len(mesh.vertices), len(mesh.edges), len(mesh.polygons)]
    return [*counts, zlib.crc32(positions), zlib.crc32(corners)]


def _field(obj) -> list:
    """A force field's settings and place, without what is animated."""
    by_keys, field = keyed(obj), obj.field
    fixed = [name for name, others in READ.items() if by_keys.isdisjoint(f"field.{n}" for n in (name, *others))]
    values = [_plain(getattr(field, name)) for name in fixed]
    return [obj.name, values, None if moves(obj) else [_plain(row) for row in obj.matrix_world]]


def _groups(obj, scene, colliders) -> dict[str, object]:
    """Who collides with what: masks by their weights, the collection by those in it that matter."""
    cloth, prints = obj.taffeta_cloth, {}
    for name in MASKS:
        group = getattr(cloth, name)
        known = group in obj.vertex_groups
        left_out = zlib.crc32(weights(obj, group) > 0.0) if known else None
        prints[cloth.bl_rna.properties[name].name] = [group, left_out]
    cloths = (other for other in scene.objects if other.type == "MESH" and other.taffeta_cloth.enabled)
    others = [*colliders, *(other for other in cloths if other != obj)]
    told = met(obj, others)
    names = None if told is None else sorted(other.name for other, is_met in zip(others, told, strict=True) if is_met)
    return prints | {"Collision Collection": names}


def _mapped(obj, mapped, by_keys) -> list:
    """Settings of one mapped property but those by keys, with a checksum of the map where that is quick to have."""

    def number(name):
        return None if name in by_keys else round(getattr(mapped, name), 9)

    if mapped.source == "UNIFORM":
        return ["UNIFORM", number("value")]
    common = [mapped.source, number("minimum"), number("maximum"), mapped.invert]
    if mapped.source == "GROUP":
        known = mapped.vertex_group in obj.vertex_groups
        return [*common, mapped.vertex_group, zlib.crc32(weights(obj, mapped.vertex_group)) if known else None]
    if mapped.source == "IMAGE":
        image = mapped.image
        return [*common, [image.name, list(image.size), _image(image)] if image else None, mapped.uv_map]
    return [*common, mapped.attribute, _attribute(obj.data, mapped.attribute)]


def _image(image) -> int:
    key = ("image", image.session_uid)
    if key not in _slow:
        pixels = np.empty(image.size[0] * image.size[1] * image.channels, np.float32)
        if len(pixels):
            image.pixels.foreach_get(pixels)
        _slow[key] = zlib.crc32(pixels)
    return _slow[key]


def _attribute(mesh, name) -> int | None:
    attribute = mesh.attributes.get(name)
    if attribute is None or not len(attribute.data):
        return None
    if attribute.data_type not in ATTRIBUTE_VALUES:
        return None
    field, width = ATTRIBUTE_VALUES[attribute.data_type]
    kind = {"BOOLEAN": bool, "INT": np.int32, "INT8": np.int32}.get(attribute.data_type, np.float32)
    values = np.empty(len(attribute.data) * width, kind)
    attribute.data.foreach_get(field, values)
    return zlib.crc32(values)


def _animation(objects) -> int:
    """Checksum of the keys of the actions that move these objects, their parents, rigs and shape keys, or scenes."""
    seen, checksum = set(), 0
    for owner in _animated(objects):
        action = owner.animation_data.action if owner.animation_data else None
        if action is not None and action.session_uid not in seen:
            seen.add(action.session_uid)
            checksum = zlib.crc32(b"%d" % _action(owner, action), checksum)
    return checksum


def _animated(objects):
    """Ids whose animation moves these objects: themselves, their parents, rigs and shape keys. A scene stands alone."""
    for obj in objects:
        if isinstance(obj, bpy.types.Scene):
            yield obj
            continue
        while obj is not None:
            yield obj
            if obj.type == "MESH" and obj.data.shape_keys:
                yield obj.data.shape_keys
            for modifier in obj.modifiers:
                if getattr(modifier, "object", None) is not None:
                    yield modifier.object
            obj = obj.parent


def _action(owner, action) -> int:
    key = ("action", action.session_uid)
    if key not in _slow:
        checksum = 0
        for curve in curves(owner):
            keys = np.empty(2 * len(curve.keyframe_points), np.float32)
            curve.keyframe_points.foreach_get("co", keys)
            checksum = zlib.crc32(keys, zlib.crc32(curve.data_path.encode(), checksum))
        _slow[key] = checksum
    return _slow[key]


def _plain(value):
    if isinstance(value, (str, bool, int)):
        return value
    return [round(item, 6) for item in value] if hasattr(value, "__len__") else round(value, 6)


def _short(value) -> str:
    return f"{zlib.crc32(json.dumps(value).encode()):08x}"


@persistent
def _forget_changed(_scene, depsgraph):
    """Blender has evaluated something anew: drop the slow hashes of what changed."""
    if _slow:
        changed = {update.id.original.session_uid for update in depsgraph.updates}
        changed |= {
            update.id.original.data.session_uid
            for update in depsgraph.updates
            if update.is_updated_geometry and isinstance(update.id, bpy.types.Object) and update.id.original.data
        }
        for key in [key for key in _slow if key[1] in changed]:
            del _slow[key]


@persistent
def _forget_all(*_):
    _slow.clear()


def register():
    """Watch for changes of meshes, images and actions."""
    bpy.app.handlers.depsgraph_update_post.append(_forget_changed)
    bpy.app.handlers.load_post.append(_forget_all)
    bpy.app.handlers.undo_post.append(_forget_all)
    bpy.app.handlers.redo_post.append(_forget_all)


def unregister():
    """Stop watching."""
    bpy.app.handlers.redo_post.remove(_forget_all)
    bpy.app.handlers.undo_post.remove(_forget_all)
    bpy.app.handlers.load_post.remove(_forget_all)
    bpy.app.handlers.depsgraph_update_post.remove(_forget_changed)
    _forget_all()
