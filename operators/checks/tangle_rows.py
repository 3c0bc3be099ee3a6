# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of the preflight list about how garments lie at the start: what crosses, is inside a body, lacks room between two or is stretched
by one; and the vertices that most of them are about, to be selected.
"""

from collections.abc import Iterator

import bpy
import numpy as np

from ...panels.units import length_text
from ..read.mesh_io import metres_per_unit
from .problem import Problem

CROSSING, NARROW = "CROSSING", "NARROW"  # why vertices are kept, as `taffeta.select_problem` has it
LEAST_DEPTH = 1e-4  # [m] that a depth is said to be at most, in whole tenths of a millimetre
VELOCITY_FIELD_REMEDY = (
    "The velocity field bakes it all the same: where they cross they go on with each other, and nothing pushes them "
    "apart. Press Untangle in Layers to have garments apart"
)
HELD_BY_PINS = "Press Untangle in Layers, or move what is pinned: pins hold corners of all of these, and a bake leaves them as they are"
PULL_OUT = "Select them and pull them out, or bake: they are eased apart as far as possible"
UNTANGLE_FIRST = "Press Untangle in Layers. In a bake layers are eased apart, too, but not all that start deep in each other, and these tremble"

# Vertices to select, by the scene's session uid, the object's name and why.
_vertices: dict[tuple[int, str, str], np.ndarray] = {}


def tangled(scene: bpy.types.Scene, bodies, crossings_found, immersions_found) -> Iterator[Problem]:
    """Garments that start across something or inside a body; their vertices are kept for `taffeta.select_problem`."""
    crossed = {(one.garment, one.other): one for one in crossings_found}
    immersed = {(one.garment, one.body): one for one in immersions_found}
    names = {body.name for body in bodies}
    for pair in dict.fromkeys((*crossed, *immersed)):
        garment, other = pair
        sentence, remedy, verbs = "", PULL_OUT, ()
        if crossing := crossed.get(pair):
            sentence, remedy, verbs = _crossing(scene, crossing, names)
            _keep(scene, garment, CROSSING, crossing.vertices)
            _keep(scene, other, CROSSING, crossing.other_vertices)
        if immersion := immersed.get(pair):
            sentence, remedy = _inside(scene, immersion, sentence, remedy)
            _keep(scene, garment, CROSSING, immersion.vertices)
        yield Problem("WARNING", garment, sentence, remedy, verbs, heavy=True, selects=CROSSING)


def _crossing(scene, crossing, bodies: set[str]) -> tuple[str, str, tuple[str, ...]]:
    """Sentence, remedy and verbs of a garment that crosses something. bodies : names of what is no garment"""
    garment, other = crossing.garment, crossing.other
    pairs = "1 pair of triangles" if crossing.pair_count == 1 else f"{crossing.pair_count} pairs of triangles"
    sentence = (
        f"{garment} crosses {'itself' if garment == other else other} at the start: "
        f"{pairs}, {len(crossing.vertices)} of its vertices"
    )
    if crossing.held_count == crossing.pair_count:
        return sentence, HELD_BY_PINS, ("taffeta.fix_tangles",)
    if other in bodies:
        remedy = "Press Untangle in Layers, or bake: they are eased apart as far as possible"
        return sentence, remedy, ("taffeta.fix_tangles",)
    if scene.taffeta.cloth_contact == "VELOCITY_FIELD":
        return sentence, VELOCITY_FIELD_REMEDY, ()
    return sentence, UNTANGLE_FIRST, ("taffeta.fix_tangles",)


def _inside(scene, immersion, sentence: str, remedy: str) -> tuple[str, str]:
    """Sentence and remedy of a garment that is inside a body, with what is told and to be done of it already."""
    garment, body, count = immersion.garment, immersion.body, len(immersion.vertices)
    deep = length_text(max(LEAST_DEPTH, immersion.depth * metres_per_unit(scene)))
    if sentence and count == 1:
        return f"{sentence}; 1 is inside, up to {deep} deep", remedy
    if sentence:
        return f"{sentence}; {count} are inside, up to {deep} deep", remedy
    if count < immersion.vertex_count:
        return f"{garment} is partly inside {body} at the start: {count} of its vertices, up to {deep} deep", remedy
    return (
        f"{garment} is wholly inside {body} at the start: all {count} vertices, up to {deep} deep",
        f"Move it out of {body}; if it belongs in there, flip the faces of {body} inward",
    )


def squeezed(scene: bpy.types.Scene, narrow) -> Iterator[Problem]:
    """Garments that start between two bodies without the room that their Distances ask for."""
    for one in narrow:
        count, room, needed = len(one.vertices), *map(length_text, (one.room, one.needed))
        sentence = (
            f"{one.garment} starts between {one.body} and {one.other} with {room} of room at {count} of its vertices: it needs "
            f"{needed} there, or sticks"
        )
        remedy = "Give it more room there"
        if one.fitting > 0.0:
            remedy = f"Lower Distance of {one.body} and {one.other} to {length_text(one.fitting)}, or give it more room"
        _keep(scene, one.garment, NARROW, one.vertices)
        yield Problem("WARNING", one.garment, sentence, remedy, heavy=True, selects=NARROW)


def tight(found) -> Iterator[Problem]:
    """Garments that start so near to a thin body that its Distance stretches them."""
    for one in found:
        gap, distance, lack = map(length_text, (one.gap, one.distance, one.distance - one.gap))
        sentence = (
            f"{one.garment} starts {gap} off {one.body}, whose Distance of {distance} would have {100.0 * one.part:.0f} % of its edges "
            "over a tenth longer: it stays stretched"
        )
        remedy = f"Lower Distance of {one.body} to {gap} or less, or make it wider there by {lack} (Alt S in Edit Mode)"
        yield Problem("WARNING", one.garment, sentence, remedy)


def _keep(scene: bpy.types.Scene, name: str, kind: str, vertices: np.ndarray) -> None:
    key = (scene.session_uid, name, kind)
    _vertices[key] = np.union1d(_vertices.get(key, vertices), vertices)


def kept_vertices(scene: bpy.types.Scene, name: str, kind: str) -> np.ndarray | None:
    """Vertices of the object `name` that `look_thoroughly` found to be so; None if it found none."""
    return _vertices.get((scene.session_uid, name, kind))


def forget(scene: bpy.types.Scene) -> None:
    """Forget the vertices of a scene."""
    for key in [key for key in _vertices if key[0] == scene.session_uid]:
        del _vertices[key]


def forget_all() -> None:
    """Forget those of all scenes."""
    _vertices.clear()
