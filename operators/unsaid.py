# SPDX-License-Identifier: GPL-3.0-or-later
"""What of a bake a scene file has no words for, and whose it is: each finding a pair of what an animator calls it and a name, "" where
it is the whole scene's.

A field of the solver's `Garment` or `FrameInput` is written by `scene_file`, told by one of the two tables here, or means nothing
without one that is.
"""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from ..panels.translations import translated
from ..solver.model import FrameInput, Garment
from .read.mesh_io import Body

# More than one word each, or they are not taken for words to be translated.
OF_GARMENT = {
    "sewing": "sewing edges", "twins": "welded vertices", "added_mass": "weights of trims", "bands": "elastic bands",
    "pleats": "marked pleats", "x_second": "a second rest shape", "yields": "plastic deformation", "tear_edges": "tear lines",
    "zip_edges": "zips that open", "pin_moves": "keyed or animated pins",
}  # fmt: skip
LOOSE = "edges without faces"
CUT = "how faces are cut into triangles"
OF_FRAME = {
    "fields": "force fields", "pressure": "pressure inside", "attachments": "soft attachments", "tacks": "tacks to cloth",
    "rides": "Felt Motion", "blend": "Blend to Animation", "pin_distance": "an animated Max Distance",
    "garments": "animated maps or settings", "changed": "keyed settings of the scene",
}  # fmt: skip
FORCES = "keyed gravity or wind"
OF_BODY = "keyed settings of a body"
NUMBERS = "friction", "restitution", "aura", "viscosity"

Findings = set[tuple[str, str]]


def of_garment(garment: Garment) -> Findings:
    """What a garment is built with."""
    has = {field: getattr(garment, field) for field in OF_GARMENT}
    found = {OF_GARMENT[field] for field, value in has.items() if value is not None and value is not False}
    if not garment.sewing and garment.zip_edges is None and _has_loose_edges(garment):
        found.add(LOOSE)
    return {(words, garment.name) for words in found}


def of_faces(garment: Garment, triangles: np.ndarray) -> Findings:
    """Whether a garment's faces are cut otherwise by whoever reads the scene file: Blender cuts those of five corners and more its
    own way, a file has the faces alone, and cloth bends along the cuts.

    triangles : (t, 3) those that are read
    """
    place = np.arange(len(garment.x))
    if garment.twins is not None:
        place[garment.twins[:, 0]] = garment.twins[:, 1]
    ours, read = (np.unique(np.sort(each, axis=1), axis=0) for each in (garment.triangles, place[triangles]))
    return set() if np.array_equal(ours, read) else {(CUT, garment.name)}


def of_frame(now: FrameInput, first: FrameInput, garments: Sequence[Garment], bodies: Sequence[Body]) -> Findings:
    """What a frame says.

    first : what the first one does; garments, bodies : as they are written
    """
    found = {(OF_FRAME[field], name) for field, name in _of_garments(now, garments)}
    if now.fields and (now.field_weight is None or any(now.field_weight)):
        found.add((OF_FRAME["fields"], ""))
    if now.changed:
        found.add((OF_FRAME["changed"], ""))
    if not (np.array_equal(now.gravity, first.gravity) and np.array_equal(now.wind, first.wind)):
        found.add((FORCES, ""))
    there = {body.name: body for body in now.colliders}
    return found | {(OF_BODY, body.name) for body in bodies if _differs(body, there.get(body.name))}


def phrases(findings: Findings) -> list[str]:
    """Each thing once, in the window's language, with the names of whose it is."""
    names = defaultdict(list)
    for words, name in sorted(findings):
        names[words].append(name)
    return [translated(words) + (f" ({', '.join(whose)})" if any(whose) else "") for words, whose in names.items()]


def _of_garments(now: FrameInput, garments: Sequence[Garment]) -> set[tuple[str, str]]:
    """Fields of a frame's input with the names of the garments for which they say something."""
    owner = np.repeat(np.arange(len(garments)), [len(garment.x) for garment in garments])
    rows = {}  # by field: the garments, as their numbers
    if now.pressure is not None:
        rows["pressure"] = np.flatnonzero(now.pressure)
    if now.attachments is not None:
        # those that are hard are pins, and written; their springs are there without stiffness
        rows["attachments"] = owner[now.attachments.particles[now.attachments.stiffness > 0.0]]
    if now.tacks is not None:
        rows["tacks"] = owner[now.tacks.stencils[now.tacks.stiffness > 0.0, 0]]
    if now.rides is not None:
        rows["rides"] = np.flatnonzero([ride is not None for ride in now.rides])
    if now.blend is not None:
        rows["blend"] = owner[now.blend.any(axis=1)]
    if now.pin_distance is not None:
        rows["pin_distance"] = owner[now.pin_distance != np.concatenate([garment.pin_distance for garment in garments])]
    if now.garments is not None:
        pairs = zip(now.garments, garments, strict=True)
        rows["garments"] = np.flatnonzero([one is not built for one, built in pairs])
    return {(field, garments[k].name) for field, owners in rows.items() for k in set(owners.tolist())}


def _differs(body: Body, now) -> bool:
    """Whether a body is not as it is written. now : the `Collider`, None where it does not collide"""
    if now is None or not body.collides:
        return body.collides != (now is not None)
    return any(getattr(now, name) != getattr(body, name) for name in NUMBERS)


def _has_loose_edges(garment: Garment) -> bool:
    count, triangles = len(garment.x), garment.triangles
    sides, edges = (
        np.sort(ends, axis=1).astype(np.int64) @ [count, 1]
        for ends in (triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), garment.edges)
    )
    return not np.isin(edges, sides).all()
