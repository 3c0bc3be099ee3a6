# SPDX-License-Identifier: GPL-3.0-or-later
"""What an animator sets while the simulation follows the timeline: looked for in each frame.

Numbers of the scene and of bodies are taken anew each time. What a `Cloth` is built from (fabric, thickness, pins, maps) is
compared with what it was: plain settings in each frame, which costs some hundredths of a millisecond a garment; painted
weights, images and attributes as often as takes a twentieth of the time, because reading them costs 0.7 ms for each
thousand vertices. Only a garment that changed is read again.
"""

import time
import zlib
from collections.abc import Sequence

import bpy
import numpy as np

from ...panels.mapped import MAPPED
from ...solver.model import Settings
from ..bake.order import Order, settings_of
from ..playback.cache_modifier import without_linked
from ..read import allowance, bands, edge_values, measures, pleats, rest, zips
from ..read.animated import body_numbers, body_told, told_of
from ..read.arrays import pixels
from ..read.groups import MASKS, met, met_by
from ..read.keyed import is_moving_map, map_moves, pin_moves
from ..read.maps import weights_in
from ..read.mesh_io import LOOKED_AT, Body, read_collider, read_garment
from ..read.participants import cloths_of, colliders_of
from ..read.sampling import Moment, garment_object
from ..read.ties import with_ties
from ..read.trims import summary

MAPS_REST = 20  # times what a look at the maps takes that lie between two
NUMBERS = "value", "minimum", "maximum"  # of a mapped property
CHOICES = "source", "invert", "vertex_group", "uv_map", "attribute"


class Watch:
    """What garments were read from, to notice that something of it was changed."""

    def __init__(self, cloths: Sequence[bpy.types.Object]):
        self._settings = [_settings(obj, cloths) for obj in cloths]
        self._look_at_maps(cloths)

    def changed(self, cloths: Sequence[bpy.types.Object]) -> set[int]:
        """Indices of the garments that were changed since the last call."""
        settings, maps = self._settings, self._maps
        self._settings = [_settings(obj, cloths) for obj in cloths]
        if self._settings != settings or time.perf_counter() > self._next_look:
            self._look_at_maps(cloths)
        before, now = zip(settings, maps, strict=True), zip(self._settings, self._maps, strict=True)
        return {index for index, (one, other) in enumerate(zip(before, now, strict=True)) if one != other}

    def _look_at_maps(self, cloths):
        began = time.perf_counter()
        self._maps = [_map_sums(obj) for obj in cloths]
        now = time.perf_counter()
        self._next_look = now + MAPS_REST * (now - began)


def live_settings(scene: bpy.types.Scene) -> Settings:
    """The solver's settings, in the quality in which live simulations are."""
    return settings_of(scene, "PREVIEW")


def refuse_other_cloths(scene: bpy.types.Scene, cloths: list[bpy.types.Object]) -> None:
    """Raise ValueError when a garment was switched on or off: the others would have to begin anew."""
    for obj in set(without_linked(cloths_of(scene))) ^ set(cloths):
        what = "is no cloth any more" if obj in cloths else "became cloth"
        raise ValueError(f"{obj.name} {what}; begin again")


def obeyed(scene, depsgraph, order: Order, cloths: list[bpy.types.Object], settings: Settings, which: set[int]):
    """The order as all is set now: these settings, bodies, and those of the garments that were changed (`which`); and their cloth and
    state, built anew, None where no garment was.

    Raises
    ------
    ValueError
        A body or a garment cannot be read: names it and the remedy.
    """
    from ...solver.build import build  # here, because it imports numba

    order = order._replace(settings=settings, bodies=_bodies(scene, depsgraph, order, cloths))
    if not which:
        return order, None
    order = _read_again(scene, depsgraph, order, cloths, which)
    return order, build(order.garments, order.settings)


def _bodies(scene, depsgraph, order: Order, cloths: list[bpy.types.Object]) -> list[Body]:
    """Those that cloth collides with now, as they are set now."""
    known, found = {body.uid: body for body in order.bodies}, []
    for obj in colliders_of(scene, cloths):
        body = known.get(obj.session_uid) or read_collider(obj, depsgraph)
        found.append(body._replace(**body_numbers(obj), is_told=body_told(obj), meets=met_by(obj, cloths)))
    return found


def with_bodies(moment: Moment, before: list[Body], now: list[Body], later: Moment) -> Moment:
    """A moment with the bodies of now: one that has joined them stands where it is `later`; so do new attachments and rides."""
    known = {body.uid: x for body, x in zip(before, moment.bodies, strict=True)}
    if held(moment.holds) != held(later.holds):
        moment = moment._replace(holds=later.holds)
    return moment._replace(bodies=[known.get(body.uid, x) for body, x in zip(now, later.bodies, strict=True)])


def held(holds) -> tuple:
    """What is held, and which garments ride."""
    return holds.attached and holds.attached.particles.tobytes(), [riding is None for riding in holds.rides]


def _read_again(scene, depsgraph, order: Order, cloths: list[bpy.types.Object], which: set[int]) -> Order:
    """The order with these garments as they are set now; where they were at rest and began stays."""
    garments, objects = list(order.garments), list(order.garment_objects)
    for index in sorted(which):
        obj, known = cloths[index], garments[index]
        found = with_ties(read_garment(obj, depsgraph, scene), obj, cloths, depsgraph)
        garments[index] = found._replace(x=known.x, x_start=known.x_start, meets=met(obj, cloths))
        objects[index] = garment_object(obj, garments[index])
    return order._replace(garments=garments, garment_objects=objects)


def of_cloth(state, fresh):
    """A state of the cloth that was built with the state `fresh`: what yielded stays, unless other hinges and springs yield; what slept
    wakes."""
    state.still[:] = 0.0
    sizes = [0 if one.plastic is None else len(one.plastic) for one in (state, fresh)]
    return state if sizes[0] == sizes[1] else state._replace(plastic=fresh.plastic)


def _settings(obj, cloths) -> tuple:
    """A garment's settings without its maps."""
    cloth, told, mapped = obj.taffeta_cloth, told_of(obj), []
    for name in MAPPED:
        group = getattr(cloth, name)
        names = CHOICES if map_moves(obj, name) else (*NUMBERS, *CHOICES)  # each frame is told of what is keyed
        mapped.append((*(getattr(group, each) for each in names), group.image.session_uid if group.image else 0))
    tied = tuple((entry.number, entry.body.session_uid if entry.body else 0) for entry in cloth.attachments)
    return (
        *(getattr(cloth, name) for name in LOOKED_AT if name not in told.numbers),
        tuple(mapped),
        met(obj, cloths),
        pin_moves(obj),
        told,
        tied,
        summary(obj),
        edge_values.checksum(obj.data, (*pleats.NAMES, *bands.NAMES, zips.OPENS)),
        allowance.checksum(obj),
        rest.summary(obj),
        cloth.ride.felt < 1.0,
        (cloth.tear.run_on, cloth.tear.most, cloth.tear.piece),
    )


def _map_sums(obj) -> list[int | None]:
    """Checksums of a garment's maps, in use as they are."""
    cloth = obj.taffeta_cloth
    groups = {getattr(cloth, name) for name in MASKS}
    sums = []
    for name in MAPPED:
        mapped = getattr(cloth, name)
        if is_moving_map(obj, name):  # each frame is told of it
            continue
        if mapped.source == "GROUP":
            groups.add(mapped.vertex_group)
        elif mapped.source == "IMAGE" and mapped.image:
            sums.append(zlib.crc32(pixels(mapped.image)))
        elif mapped.source == "ATTRIBUTE":
            sums.append(measures.attribute_sum(obj.data, mapped.attribute))
    known = sorted(group for group in groups if group in obj.vertex_groups)
    return sums + [zlib.crc32(np.ascontiguousarray(weights_in(obj, group, obj.data))) for group in known]
