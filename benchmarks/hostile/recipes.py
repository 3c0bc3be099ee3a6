# SPDX-License-Identifier: GPL-3.0-or-later
"""What a bake was made of, damaged or forged: Restore Its Settings does it or refuses, and the bake is as it was."""

import json
import math
import shutil

import bpy
import numpy as np

from . import blender, caches
from .box import Box, Outcome
from .damage import damaged, random_name, replaced

VALUES = (
    0, -1, 2**31, 2**70, -(2**70), 1.5, -1e308, float("nan"), float("inf"), "", "x", "../../x", "A" * 5000, None, [], {}, True,
    [1e300, 0.0, 0.0], [[]], "GROUP", "IMAGE", "ATTRIBUTE", [1 << 20, 1 << 20, 1 << 20], [-1], [25.0], "f4", "O",
)  # fmt: skip
BAKED = ".pc2", ".state", ".journal"


def attack(rng, box: Box) -> Outcome:
    """Spoil the recipe of a bake, then restore the settings from it, and bake or go on with what came of that."""
    shutil.copytree(caches.template(), box.inside, dirs_exist_ok=True)
    path = box.inside / "taffeta_cache" / "Cloth.recipe"
    content = path.read_bytes()
    if rng.random() < 0.2:
        words = replaced(rng, path, box.outside)
    else:
        content, words = damaged(rng, content) if rng.random() < 0.4 else forged(rng, content)
        path.write_bytes(content)
    bpy.ops.wm.open_mainfile(filepath=str(box.inside / "shot.blend"))
    box.close()
    before = [path.with_suffix(suffix).read_bytes() for suffix in BAKED]
    weights = _weights()
    state, told = blender.act("taffeta.bake_settings", object="Cloth")
    fault = ""
    if before != [path.with_suffix(suffix).read_bytes() for suffix in BAKED]:
        fault = "the bake was touched"
    if weights != _weights():
        fault = fault or "a vertex group was painted over"
    if wild := [name for name, value in _numbers(bpy.data.objects["Cloth"]) if not math.isfinite(value)]:
        fault = fault or f"{wild[0]} is not finite"
    bpy.context.scene.frame_end = min(bpy.context.scene.frame_end, blender.FRAMES)
    if state == "FINISHED" and bpy.context.scene.frame_start >= 1:
        _, sentence = blender.act("taffeta.bake", resume=bool(rng.integers(2)))
        told = "\n".join(filter(None, (told, sentence)))
    return Outcome(words, 0 if state == "FINISHED" else 1, told, fault)


def forged(rng, content: bytes) -> tuple[bytes, str]:
    """A recipe with other values in some places, wherever these are."""
    told, words = json.loads(content), []
    for _ in range(int(rng.choice([1, 1, 2, 4]))):
        home, trail = told, []
        while True:
            places = list(home) if isinstance(home, dict) else list(range(len(home)))
            if not places:
                break
            place = places[int(rng.integers(len(places)))]
            trail.append(str(place))
            if isinstance(home[place], dict | list) and home[place] and rng.random() < 0.9:
                home = home[place]
                continue
            if rng.random() < 0.15:
                value = random_name(rng)
            else:
                value = VALUES[int(rng.integers(len(VALUES)))]
            home[place] = value
            words.append(f"{'.'.join(trail)} = {str(value)[:30]!r}")
            break
    return json.dumps(told).encode("utf-8", "surrogatepass"), "; ".join(words)


def _weights() -> list[float]:
    obj = bpy.data.objects["Cloth"]
    index = obj.vertex_groups["pins"].index
    found = np.zeros(len(obj.data.vertices))
    for vertex in obj.data.vertices:
        for element in vertex.groups:
            if element.group == index:
                found[vertex.index] = element.weight
    return found.tolist()


def _numbers(obj):
    """Names and values of all numbers that restoring may set."""
    for group in (bpy.context.scene.taffeta, obj.taffeta_cloth):
        for prop in group.bl_rna.properties:
            value = getattr(group, prop.identifier)
            if prop.type == "FLOAT":
                yield from ((prop.identifier, number) for number in (value if prop.is_array else [value]))
            elif hasattr(value, "minimum"):
                yield from ((prop.identifier, getattr(value, part)) for part in ("value", "minimum", "maximum"))
    yield from (("gravity", number) for number in bpy.context.scene.gravity)


ATTACKS = {"recipes": attack}
