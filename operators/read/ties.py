# SPDX-License-Identifier: GPL-3.0-or-later
"""What holds a garment besides its own pose: attachments to bodies, tacks to other garments, blending to its animation.

Where vertices are tied to is read once (`Tie`); where that is, how firmly it holds and what it bears, in every frame. A hard
attachment is a pin whose pose is the body's. All others become springs and threads of the solver's.
"""

from collections.abc import Sequence
from typing import NamedTuple

import bpy
import numpy as np

from ...solver.model import Attachments, Garment, Tacks
from . import anchors
from .anchors import Anchors
from .maps import read_map
from .mesh_io import check_evaluated, check_finite, metres_per_unit, world_positions
from .rides import Riding, read_riding

GIVES_WAY = 1e-3  # [m] by which what is hard, but can break, gives way at the force at which it does
FIRM_THREAD = 1000.0  # [N/m] of a tack that is to be hard


class Tie(NamedTuple):
    """One attachment of a garment between frames."""

    index: int  # in the garment's list
    uid: int  # of the body or the other garment
    name: str
    vertex_count: int  # of its mesh
    anchors: Anchors


class Held(NamedTuple):
    """What soft attachments do at one instant: all that a garment may have, in the same order in every frame."""

    particles: np.ndarray  # (m,)
    points: np.ndarray  # (m, 3) [m]
    numbers: np.ndarray  # (m, 3) stiffness [N/m], damping [N s/m], breaking force [N], inf never


class Holds(NamedTuple):
    """What holds garments at one instant, besides pins; None where nothing asks for it."""

    attached: Held | None = None
    tacks: Tacks | None = None
    blend: np.ndarray | None = None  # (n, 2), as in `FrameInput`
    pin_distance: np.ndarray | None = None  # (n,) [m]
    rides: tuple[Riding | None, ...] = ()  # of each garment; None where it feels all


def ties_of(obj: bpy.types.Object) -> tuple[Tie, ...]:
    """The attachments of a garment that have vertices.

    Raises
    ------
    ValueError
        A body was deleted, or has another mesh than when the vertices were attached: names it and what to do.
    """
    found, count = [], len(obj.data.vertices)
    strange = ~np.isin(anchors.numbers(obj.data), [0, *_known_numbers(obj)])
    if strange.any():
        raise ValueError(
            f"{obj.name} has {int(strange.sum())} vertices that were attached as part of another object, as before it was joined; "
            "attach them again, or detach them (More > Attachments and Blending)"
        )
    for index, entry in enumerate(obj.taffeta_cloth.attachments):
        tied = anchors.read(obj.data, entry.number)
        if not len(tied.vertices):
            continue
        if entry.body is None:
            raise ValueError(
                f"{obj.name} is attached to a body that was deleted; detach it (More > Attachments and Blending), or undo that"
            )
        if not entry.body.users_scene:  # what Blender's Delete leaves of an object that something points to
            raise ValueError(
                f"{obj.name} is attached to {entry.body.name}, which was deleted or is in no scene; detach it (More > Attachments and Blending), or undo that"
            )
        if copied := anchors.copies(obj.data, entry.number):
            raise ValueError(
                f"{obj.name} has {copied} vertices more attached to {entry.body.name} than there were, copies of others as by "
                "Duplicate or Symmetrize; attach it again, or detach the copies (Only Selected)"
            )
        if entry.body.type != "MESH" or entry.body == obj:
            raise ValueError(f"{obj.name} cannot be attached to {entry.body.name}; choose another mesh, or detach it")
        if tied.corners.min() < 0 or tied.vertices.max() >= count or not np.isfinite(tied.place).all():
            raise ValueError(f"{obj.name}: what it knows of {entry.body.name} is damaged; attach it again")
        found.append(Tie(index, entry.body.session_uid, entry.body.name, _known_count(entry), tied))
    return tuple(found)


def _known_numbers(obj):
    """Of the attachments of all objects that share an object's mesh."""
    sharing = [other for other in bpy.data.objects if other.data == obj.data]
    return [entry.number for other in sharing for entry in other.taffeta_cloth.attachments]


def topology(mesh: bpy.types.Mesh) -> str:
    """What an attachment keeps of a body's mesh, to notice that it became another one."""
    return f"{len(mesh.vertices)} {len(mesh.polygons)}"


def _known_count(entry) -> int:
    head = entry.topology.partition(" ")[0]
    return int(head) if head.isdecimal() else 0


def is_hard(entry) -> bool:
    """Whether an attachment, if it is one to a body, takes its vertices exactly where the body goes."""
    return entry.stiffness == 0.0 and entry.breaking_force == 0.0


def with_ties(garment: Garment, obj: bpy.types.Object, cloths: Sequence[bpy.types.Object], depsgraph) -> Garment:
    """A garment whose hard attachments hold and place its vertices at the start; call it within `posed`."""
    ties = ties_of(obj)
    if not ties:
        return garment
    metres, uids = metres_per_unit(depsgraph.scene), {other.session_uid for other in cloths}
    pin, x = garment.pin.copy(), garment.x_start.copy()
    pin_hard(obj.evaluated_get(depsgraph), ties, pin, x, bodies_of(obj, ties, depsgraph, metres, uids))
    if garment.twins is not None:
        np.maximum.at(pin, garment.twins[:, 1], pin[garment.twins[:, 0]])
    return garment._replace(pin=pin, x_start=x)


def pin_hard(placed, ties: Sequence[Tie], pin: np.ndarray, x: np.ndarray, bodies: dict[int, np.ndarray]) -> None:
    """Let hard attachments pin their vertices to the body: the greater weight holds.

    placed : the evaluated object, whose settings are those of now; bodies : (k, 3) [m] by uid, those that are no garments
    # outputs: pin (n,); x (n, 3) [m] where pins hold vertices
    """
    for tie in ties:
        entry = placed.taffeta_cloth.attachments[tie.index]
        if tie.uid not in bodies or not is_hard(entry):
            continue
        weight, i = entry.weight * tie.anchors.share, tie.anchors.vertices
        held = weight > 0.0
        pin[i] = np.maximum(pin[i], weight)
        x[i[held]] = anchors.points(tie.anchors, bodies[tie.uid])[held]


def body_positions(obj_name: str, tie: Tie, body, metres: float, frame: int) -> np.ndarray:
    """(k, 3) [m] of the evaluated body of an attachment; ValueError where its mesh is another one by now."""
    x = world_positions(body, metres)
    if len(x) != tie.vertex_count:
        raise ValueError(
            f"{obj_name} is attached to {tie.name}, which has {len(x)} vertices at frame {frame} and had {tie.vertex_count} "
            f"then; attach it again, or take away what changes the mesh of {tie.name}"
        )
    check_finite(tie.name, x, f"at frame {frame}")
    return x


def bodies_of(obj, ties: Sequence[Tie], depsgraph, metres: float, garments: set[int]) -> dict[int, np.ndarray]:
    """Positions of the bodies that a garment is attached to, by uid, which are none of the bake's `garments`."""
    found, objects = {}, {other.session_uid: other for other in bpy.data.objects}
    for tie in ties:
        if tie.uid not in garments and tie.uid not in found:
            body = objects.get(tie.uid)
            if body is None:
                raise ValueError(f"{tie.name}, which {obj.name} is attached to, was deleted during the bake; undo that")
            if body.hide_viewport:
                raise ValueError(f"{tie.name}, which {obj.name} is attached to, is disabled in viewports; enable it")
            check_evaluated(body, depsgraph)
            evaluated = body.evaluated_get(depsgraph)
            found[tie.uid] = body_positions(obj.name, tie, evaluated, metres, depsgraph.scene.frame_current)
    return found


def read_holds(cloths: Sequence, evaluated: Sequence, targets: list, pins: list, depsgraph, metres: float) -> Holds:
    """What holds garments now. cloths : `sampling.GarmentObject`s, and these objects as evaluated.

    # outputs: targets (n, 3) [m] and pins (n,) of each garment, where hard attachments hold it
    """
    uids = {known.uid for known in cloths}
    starts = np.concatenate(([0], np.cumsum([known.vertex_count for known in cloths])))
    first = {known.uid: (int(start), known) for start, known in zip(starts, cloths, strict=False)}
    held, tacks, blends, distances, frame = [], [], [], [], depsgraph.scene.frame_current
    for known, placed, start, x, pin in zip(cloths, evaluated, starts, targets, pins, strict=False):
        if known.ties and known.ties[-1].index >= len(placed.taffeta_cloth.attachments):
            raise ValueError(f"{known.name} was detached during the bake; undo that, or bake again")
        bodies = bodies_of(placed, known.ties, depsgraph, metres, uids) if known.ties else {}
        pin_hard(placed, known.ties, pin, x, bodies)
        for tie in known.ties:
            entry = placed.taffeta_cloth.attachments[tie.index]
            if tie.uid in bodies:
                held.append(_springs(entry, tie, start, bodies[tie.uid]))
            else:
                tacks.append(_threads(known, entry, tie, start, *first[tie.uid]))
        blends.append(_blend(known, placed, frame))
        distances.append(_distance(known, placed, frame))
    return Holds(
        Held(*(np.concatenate(parts) for parts in zip(*held, strict=True))) if held else None,
        Tacks(*(np.concatenate(parts) for parts in zip(*tacks, strict=True))) if tacks else None,
        np.concatenate(blends) if any(map(np.any, blends)) else None,
        np.concatenate(distances) if any(known.distance_moves for known in cloths) else None,
        tuple(
            read_riding(placed, depsgraph, metres) if known.rides else None
            for known, placed in zip(cloths, evaluated, strict=True)
        ),
    )


def _springs(entry, tie, start, body_x):
    """An attachment as springs; one that is hard, as it pins, pulls with nothing besides."""
    soft = 0.0 if is_hard(entry) else entry.weight * tie.anchors.share
    stiffness = entry.stiffness or entry.breaking_force / GIVES_WAY
    numbers = np.empty((len(tie.anchors.vertices), 3))
    numbers[:, 0], numbers[:, 1] = soft * stiffness, soft * entry.damping
    numbers[:, 2] = entry.breaking_force or np.inf
    return Held(tie.anchors.vertices + int(start), anchors.points(tie.anchors, body_x), numbers)


def _threads(known, entry, tie, start, other_start, other):
    """An attachment to another garment of the bake."""
    if tie.vertex_count != other.vertex_count or tie.anchors.corners.max() >= other.vertex_count:
        raise ValueError(
            f"{known.name} is tacked to {other.name}, which has {other.vertex_count} vertices and had {tie.vertex_count} "
            "then; attach it again"
        )
    u, v, length = tie.anchors.place.T
    stiffness = entry.stiffness or (entry.breaking_force / GIVES_WAY or FIRM_THREAD)
    return Tacks(
        stencils=np.column_stack((tie.anchors.vertices + int(start), tie.anchors.corners + other_start)).astype(
            np.int32
        ),
        weight=np.column_stack((1.0 - u - v, u, v)),
        length=np.abs(length),
        stiffness=entry.weight * tie.anchors.share * stiffness,
        breaking=np.full(len(length), entry.breaking_force or np.inf),
    )


def _blend(known, placed, frame: int) -> np.ndarray:
    """(n, 2) [1/s2], [1/s] what pulls a garment to its own animation, per mass."""
    cloth = placed.taffeta_cloth
    weight = read_map(placed.original, cloth.blend, placed.data, frame) if known.blend is None else known.blend
    return weight[:, None] * [cloth.blend_stiffness, cloth.blend_damping]


def _distance(known, placed, frame: int) -> np.ndarray:
    """(n,) [m] how far a garment may be from its own animation."""
    if not known.distance_moves:
        return known.pin_distance
    return farthest(read_map(placed.original, placed.taffeta_cloth.pin_distance, placed.data, frame))


def farthest(values: np.ndarray) -> np.ndarray:
    """Max Distance as the solver takes it: inf where it is 0."""
    return np.where(values > 0.0, values, np.inf)


def attachments(start: Held, *later: Held) -> Attachments:
    """The springs of a frame from what they are at its start and at equally spaced times up to its end, which says how firm."""
    stiffness, damping, breaking = later[-1].numbers.T.copy()
    return Attachments(
        start.particles, np.stack([start.points, *(held.points for held in later)]), stiffness, damping, breaking
    )


def between(rest: Holds, pose: Holds, share: float) -> Holds:
    """A share of the way from what holds in the rest pose to what does in the pose, in [0, 1]."""
    if pose.attached is None:  # objects stay where they are (`preroll`), and with them what is ridden on
        return pose
    way = pose.attached.points - rest.attached.points
    return pose._replace(attached=pose.attached._replace(points=rest.attached.points + share * way))
