# SPDX-License-Identifier: GPL-3.0-or-later
"""The scene's animation as arrays, frame by frame: poses of the garments, bodies, gravity, wind and force fields.

Frame f ends at f: its input covers the time from f - 1 to f. Everything is sampled on the main thread, before or
while a worker simulates, and nothing of Blender is kept: objects are found again by their session uid.

Gravity is what the Scene tab shows, so the stored number times the unit scale: the same that Blender's rigid bodies
and cloth do in that scene.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import bpy
import numpy as np

from ...solver.model import Collider, FrameInput, Garment
from .animated import Told, body_numbers, garments_now, told_of
from .arrays import corner_vertex
from .dynamics import play_through
from .force_fields import between as fields_between
from .force_fields import noise_table, read_fields
from .keyed import keyed, keyed_settings, map_moves
from .maps import read_map
from .mesh_io import Body, check_finite, metres_per_unit, world_positions, world_to_object
from .modifier_stack import muted
from .preroll import eased, resting
from .rest import RestNow, rest_inputs, rest_now
from .rides import later, ride, rides_moves
from .ties import Holds, Tie, attachments, between, read_holds, ties_of
from .time_and_gravity import frame_seconds, gravity
from .unhidden import unhidden

MOST_SAMPLES = 16  # parts of a frame that the automatic choice goes up to
# How far a chord between two samples may lie beside the true trajectory, as a share of a body's aura, ...
SAGITTA_SHARE = 0.25
BARE_BODY_SHARE = 0.001  # of the size of a body without aura, which stands for its aura,
GARMENT_SHARE = 0.004  # and of the size of the smallest garment, which does so for the garments' own animation


class GarmentObject(NamedTuple):
    """A garment between frames: how to find its object again, and how many vertices it has to have."""

    uid: int
    name: str
    vertex_count: int
    size: float  # [m] diagonal of its box
    pin: np.ndarray  # (n,) at the first frame
    pin_moves: bool
    ties: tuple[Tie, ...]
    blend: np.ndarray | None  # (n,) weight of Blend to Animation; None: read anew in each frame
    pin_distance: np.ndarray  # (n,) [m] at the first frame
    distance_moves: bool
    rides: bool  # whether it feels less than all of what it rides on
    garment: Garment  # as it is built
    told: Told  # what of that is animated


class Moment(NamedTuple):
    """The animated scene at one instant, in metres."""

    targets: np.ndarray  # (n, 3) pose of all garments
    bodies: list[np.ndarray]  # (m, 3) each
    touch: list[Body]  # the same with what says how they collide
    to_object: np.ndarray  # (g, 4, 4)
    fields: dict  # from `force_fields.read_fields`
    # of each garment: part of the fields, pressure [Pa], target volume [m3], hold of tear lines, how far zips are open
    cloths: list[tuple[float, ...]]
    pin: np.ndarray | None  # (n,) of all garments, if any of them is pinned anew in every frame
    holds: Holds
    garments: tuple[Garment, ...] | None  # as they are now, if one of them is not as it was built
    rests: list[RestNow]
    looks: tuple[float, ...] = ()  # between the ends of the frame that ends here, at which it had to be looked at


def plain(value):
    """A setting as the solver takes it: Blender's vectors as tuples."""
    return tuple(value) if hasattr(value, "__len__") and not isinstance(value, str) else value


def garment_object(obj: bpy.types.Object, garment: Garment) -> GarmentObject:
    """What `sample_frame` has to know about a garment's object."""
    size = float(np.linalg.norm(np.ptp(garment.x_start, axis=0)))
    cloth = obj.taffeta_cloth
    return GarmentObject(
        uid=obj.session_uid,
        name=obj.name,
        vertex_count=len(garment.x),
        size=size,
        pin=garment.pin,
        pin_moves=garment.pin_moves,
        ties=ties_of(obj),
        blend=None if map_moves(obj, "blend") else read_map(obj, cloth.blend, obj.data),
        pin_distance=garment.pin_distance,
        distance_moves=map_moves(obj, "pin_distance"),
        rides=rides_moves(keyed(obj), cloth),
        garment=garment,
        told=told_of(obj),
    )


@contextmanager
def posed(scene: bpy.types.Scene, cloths: Sequence[bpy.types.Object], bodies: Sequence[bpy.types.Object]):
    """Let the scene show what is to be sampled, and put back what the user had: frame, modifiers, hidden objects.

    Objects that are disabled in viewports are enabled meanwhile, also those that keys disable in mid-shot.
    """
    frame, subframe = scene.frame_current, scene.frame_subframe
    name = scene.name
    try:
        with muted(cloths), unhidden((*cloths, *bodies)):
            yield
    finally:
        scene = bpy.data.scenes.get(name)
        if scene is not None:
            scene.frame_set(frame, subframe=subframe)


def sample_frame(
    scene: bpy.types.Scene,
    depsgraph: bpy.types.Depsgraph,
    cloths: Sequence[GarmentObject],
    colliders: Sequence[Body],
    frame: int,
    start: Moment,
) -> tuple[FrameInput, Moment]:
    """Everything animated between frame - 1 and frame; call it within `posed`.

    start : the moment of frame - 1. That of `frame` is returned for the next call.

    A body that moves on a curve is looked at several times within the frame: twice first, and then as often as keeps
    the straight ways between the samples within a quarter of its aura of the true way (the sagitta of a chord falls
    with the square of their number). Garments with their own animation likewise, to 0.1 % of their size.
    """
    moments, asked = {0.0: start}, set()

    def at(time: float) -> Moment:
        asked.add(time)
        if time not in moments:
            moments[time] = _moment(scene, depsgraph, cloths, colliders, frame - 1, time)
        return moments[time]

    # Where the frame before had to be looked at, this one will have to be, too: in their order nothing is evaluated twice.
    for time in (*start.looks, 1.0):
        at(time)
    asked.clear()
    counts = _sample_counts(start, moments[1.0], cloths, colliders, at)
    for time in sorted({k / count for count in counts for k in range(1, count)}):
        at(time)
    if next(reversed(moments)) != 1.0:
        scene.frame_set(frame)  # wind and gravity belong to the end of the frame
    end = moments[1.0] = moments[1.0]._replace(looks=tuple(sorted(asked)))
    poses = [moments[k / counts[0]] for k in range(counts[0] + 1)]
    bodies = []
    for index, count in enumerate(counts[1:]):
        bodies.append(np.stack([moments[k / count].bodies[index] for k in range(count + 1)]))
    frame_input = _frame_input(scene, poses, _colliders(end.touch, bodies))
    return frame_input, going_on(poses[-2], end, frame_input.duration / counts[0])


def going_on(before: Moment, moment: Moment, seconds: float) -> Moment:
    """A moment that knows with what velocity the garments' carriers have come from the one before, so many seconds ago."""
    rides = later(before.holds.rides, moment.holds.rides, seconds)
    return moment._replace(holds=moment.holds._replace(rides=rides))


def frame_inputs(
    scene_name: str, cloths: Sequence[GarmentObject], colliders: Sequence[Body], frames: range, rest_count: int = 0
) -> Iterator[FrameInput]:
    """One FrameInput for each frame, in order. Within `posed` whenever it is asked for the next.

    The first frame is the start itself: its input stands still. The first `rest_count` frames lead from the rest pose to
    that of the frame after them (`preroll`).
    """
    moment = rest = pose = None
    for frame in frames:
        scene = bpy.data.scenes.get(scene_name)
        if scene is None:
            raise ValueError(f"Scene {scene_name} was deleted during the bake; undo that and bake again")
        depsgraph, before = depsgraph_of(scene), moment
        done = frame - frames.start
        if before is not None and done > rest_count:
            result, moment = sample_frame(scene, depsgraph, cloths, colliders, frame, before)
            yield result
            continue
        if pose is None:
            play_through(scene, frames.start, frames.stop - 1)
            at_first = scene, depsgraph, cloths, colliders, frame + rest_count - 1, 1.0
            if rest_count:
                with resting(scene):
                    rest = _moment(*at_first)
            pose = _moment(*at_first)
        scene.frame_set(frames.start + rest_count)
        moment = _between(rest, pose, eased(done / rest_count)) if done < rest_count else pose
        yield straight_input(scene, before or moment, moment)


def _between(rest: Moment, pose: Moment, share: float) -> Moment:
    """A share of the way from the rest pose to the pose, in [0, 1]."""
    return pose._replace(
        targets=rest.targets + share * (pose.targets - rest.targets),
        bodies=[a + share * (b - a) for a, b in zip(rest.bodies, pose.bodies, strict=True)],
        holds=between(rest.holds, pose.holds, share),
    )


def straight_input(scene: bpy.types.Scene, start: Moment, end: Moment, frames: int = 1) -> FrameInput:
    """The time between two moments so many frames apart, with straight ways from the one to the other."""
    x = [np.stack(ends) for ends in zip(start.bodies, end.bodies, strict=True)]
    return _frame_input(scene, (start, end), _colliders(end.touch, x), frames)


def _colliders(bodies: Sequence[Body], x: Sequence[np.ndarray]) -> tuple[Collider, ...]:
    """Those of the bodies that collide, with their positions x (s + 1, m, 3) [m] over a frame."""
    return tuple(
        Collider(body.name, own, body.triangles, body.friction, body.restitution, body.aura, body.meets, body.viscosity)
        for body, own in zip(bodies, x, strict=True)
        if body.collides
    )


def depsgraph_of(scene: bpy.types.Scene) -> bpy.types.Depsgraph:
    """The scene's dependency graph for viewports, in the window's view layer if that shows this scene."""
    # No temp_override here: under it, Blender looks into a Python dictionary while it evaluates without the GIL, and
    # crashes when a worker thread hands the GIL on at that moment (BPY_context_member_get, seen in 4.5).
    if bpy.context.scene == scene:
        return bpy.context.evaluated_depsgraph_get()
    view_layer = scene.view_layers[0]
    view_layer.update()
    return view_layer.depsgraph


def _frame_input(scene, poses: Sequence[Moment], bodies, frames: int = 1) -> FrameInput:
    """poses : the moments, from the start of so many frames to their end, between which garments' own poses go straight"""
    seconds = frames * frame_seconds(scene)
    start, end = poses[0], poses[-1]
    fields = fields_between(start.fields, end.fields)
    field_weight, pressure, volume, hold, zip_open = zip(*end.cloths, strict=True)
    ridden = list(zip(*(pose.holds.rides for pose in poses), strict=True))
    return FrameInput(
        duration=seconds,
        targets=np.stack([pose.targets for pose in poses]),
        colliders=bodies,
        gravity=gravity(scene),
        wind=np.array(scene.taffeta.wind, np.float64),
        to_object=end.to_object,
        fields=fields,
        field_weight=field_weight if fields else None,
        pressure=pressure if any(pressure) else None,
        volume=volume if any(pressure) and any(volume) else None,
        pin=end.pin,
        changed=tuple((name, plain(getattr(scene.taffeta, name))) for name in keyed_settings(scene)),
        noise_table=noise_table() if any(field.kind == "TURBULENCE" for field in fields) else None,
        pin_distance=end.holds.pin_distance,
        attachments=attachments(*(pose.holds.attached for pose in poses)) if end.holds.attached else None,
        tacks=end.holds.tacks,
        rides=tuple(ride(r, seconds) if r[-1] else None for r in ridden) if any(end.holds.rides) else None,
        blend=end.holds.blend,
        tear_strength=hold if any(part != 1.0 for part in hold) else None,
        zip_open=zip_open if any(zip_open) else None,
        garments=end.garments,
        **rest_inputs(end.rests),
    )


def _moment(scene, depsgraph, cloths, colliders, frame: int, time: float) -> Moment:
    """The scene at frame + time, time in [0, 1]."""
    if time == 1.0:
        frame, time = frame + 1, 0.0
    scene.frame_set(frame, subframe=time)
    return read_moment(scene, depsgraph, cloths, colliders)


def read_moment(
    scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, cloths: Sequence[GarmentObject], colliders: Sequence[Body]
) -> Moment:
    """The scene as the dependency graph shows it now.

    Raises
    ------
    ValueError
        Something was deleted, or has another mesh than at the start: names it.
    """
    metres, frame = metres_per_unit(scene), scene.frame_current
    objects = {obj.session_uid: obj for obj in bpy.data.objects}
    is_whole = scene.frame_subframe == 0.0  # between frames nothing but what moves is looked at
    targets, to_object, settings, pins, placed = [], [], [], [], []
    for known in cloths:
        evaluated = _evaluated(objects, known, depsgraph)
        placed.append(evaluated)
        x = world_positions(evaluated, metres)
        if len(x) != known.vertex_count:
            raise ValueError(
                f"{known.name} has {len(x)} vertices at frame {frame} instead of {known.vertex_count}; "
                "take away what changes its mesh during the shot"
            )
        check_finite(known.name, x, f"at frame {frame}")
        targets.append(x)
        to_object.append(world_to_object(known.name, evaluated, metres, frame))
        cloth = evaluated.taffeta_cloth
        pins.append(_pin(known, evaluated, frame))
        zip_open = cloth.zip_open if known.garment.zip_edges is not None else 0.0
        settings.append((cloth.field_weight, cloth.pressure, cloth.target_volume, cloth.tear.hold, zip_open))
    bodies, touch = _read_bodies(objects, colliders, depsgraph, metres)
    holds = read_holds(cloths, placed, targets, pins, depsgraph, metres)
    own = {known.uid for known in cloths}
    fields = read_fields(scene, depsgraph, own, metres) if is_whole else {}  # between frames they go straight
    pin = np.concatenate(pins) if any(known.pin_moves for known in cloths) else None
    garments = garments_now(objects, cloths, placed, frame) if is_whole else None
    rests = [rest_now(objects[known.uid], placed[index], depsgraph) for index, known in enumerate(cloths)]
    return Moment(
        np.concatenate(targets), bodies, touch, np.stack(to_object), fields, settings, pin, holds, garments, rests
    )


def _pin(known: GarmentObject, placed, frame: int) -> np.ndarray:
    """(n,) how firmly a garment is pinned now."""
    if not known.pin_moves:
        return known.pin.copy()
    return read_map(placed.original, placed.taffeta_cloth.pin, placed.data, frame)


def _read_bodies(objects, colliders, depsgraph, metres: float) -> tuple[list[np.ndarray], list[Body]]:
    """Positions (m, 3) [m] of each body now, and how it collides now."""
    positions, touch, frame = [], [], depsgraph.scene.frame_current
    for body in colliders:
        evaluated = _evaluated(objects, body, depsgraph)
        mesh = evaluated.data
        if len(mesh.vertices) != body.vertex_count:
            raise ValueError(
                f"{body.name} changes its mesh at frame {frame} ({len(mesh.vertices)} vertices, "
                f"{body.vertex_count} at the start); apply or take away the modifier that does it"
            )
        if not np.array_equal(corner_vertex(mesh), body.corner_vertex):
            raise ValueError(
                f"{body.name} has other faces at frame {frame} than at the start, as Triangulate makes them anew in each; apply or "
                "take away the modifier that does it"
            )
        x = world_positions(evaluated, metres)
        check_finite(body.name, x, f"at frame {frame}")
        positions.append(x)
        touch.append(body._replace(**body_numbers(evaluated)) if body.is_told else body)
    return positions, touch


def _sample_counts(start, end, cloths, colliders, at) -> list[int]:
    """Parts of this frame for the garments' targets and for each collider; looks at the middle if something moves."""
    pairs = list(zip(start.bodies, end.bodies, strict=True))
    bounds = [body.aura or BARE_BODY_SHARE * _size(x) for body, (x, _) in zip(colliders, pairs, strict=True)]
    given = [body.sample_count for body in colliders]
    pairs.insert(0, (_followed(start), _followed(end)))
    bounds.insert(0, GARMENT_SHARE * min(known.size for known in cloths))
    given.insert(0, 0)
    fast = [_distance(a, b) > bound for (a, b), bound in zip(pairs, bounds, strict=True)]
    counts = [count or 1 for count in given]
    if any(f and not count for f, count in zip(fast, given, strict=True)):
        middle = at(0.5)
        for index, ((a, b), bound) in enumerate(zip(pairs, bounds, strict=True)):
            if fast[index] and not given[index]:
                x = _followed(middle) if index == 0 else middle.bodies[index - 1]
                counts[index] = _parts(_distance(0.5 * (a + b), x) / (SAGITTA_SHARE * bound))
    return counts


def _followed(moment: Moment) -> np.ndarray:
    """All points that pins and attachments go to, (n + m, 3) [m]."""
    held = moment.holds.attached
    return moment.targets if held is None else np.concatenate((moment.targets, held.points))


def _parts(sagitta: float) -> int:
    """Power of two that brings a chord's sagitta, in units of what is allowed, below 1."""
    count = 1
    while count < MOST_SAMPLES and sagitta > count * count:
        count *= 2
    return count


def _distance(a: np.ndarray, b: np.ndarray) -> float:
    """Largest distance between corresponding vertices [m]."""
    x, y, z = np.square(a - b).T  # added so, because numpy is slow to sum rows of three
    return float(np.sqrt((x + y + z).max()))


def _size(x: np.ndarray) -> float:
    return float(np.linalg.norm(np.ptp(x, axis=0)))


def _evaluated(objects, known, depsgraph):
    obj = objects.get(known.uid)
    if obj is None:
        raise ValueError(f"{known.name} was deleted during the bake; undo that and bake again")
    if obj.mode == "EDIT":
        raise ValueError(f"{known.name} went into Edit Mode during the bake; leave it (Tab) and resume")
    return obj.evaluated_get(depsgraph)
