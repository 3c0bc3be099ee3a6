# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth that hardly moves any more comes to rest, and is computed no further.

Contact takes back in each substep what gravity has let cloth sink, nowhere quite as much; threads that rub on each other would
hold it, and there are none here. So a heap that lies would tremble and creep for ever. As engines of rigid bodies do, what has
been as slow as `Settings.sleep_speed` for half a second is put to sleep (Catto, Box2D, b2_linearSleepTolerance and
b2_timeToSleep): over another half a second time goes ever slower for it,

    (x, v)  <-  (x_0, v_0) + s ((x, v) - (x_0, v_0)),   s from 1 to 0,

with x_0 and v_0 where a substep began. Nothing passes through anything on the whole of that straight way, so nothing does on a part
of it. Then v is 0, and where all garments rest a frame has one substep, which is taken back: it tells what touches and crosses.

How fast a garment goes is told by patches of neighbours: a vertex that trembles keeps nothing awake, a ribbon that swings on a gown
does. Garments that could touch each other rest together or not at all.

What could move a garment wakes it, before it does: all that it feels, and all near it, is one number, which `State.still` has beside
the time. A body that comes near, moves or goes, a pin, gravity or a setting that changes give another one.
"""

import numpy as np

from .digest import digest_of
from .kernel.memo import remembered
from .model import FrameInput

TIME_TO_SLEEP = 0.5  # [s] for which cloth is slow before time goes slower for it (Catto, Box2D, b2_timeToSleep)
SLOWING_TIME = 0.5  # [s] in which that comes to a standstill
LARGE = 1.0  # [m] longest side of a garment from which on `Settings.sleep_speed` holds; what is smaller is looked at from nearer
FASTEST_PATCH = 2.0  # times as fast as the whole may be that a patch of it may be
PATCH_LEVELS = 3  # above its leaves a node of the preconditioner's tree is a patch: 48 to 96 particles
DIGEST_BYTES = 6  # a float64 holds so many exactly

STILL_TIME, SURROUNDINGS = 0, 1  # columns of `State.still`
#: what of a frame is looked at by garment, or by itself moves nothing
OWN = {"targets", "colliders", "duration", "to_object"}


def begin(cloth, state, frame_input, settings):
    """(g,) in [0, 1], s of each garment in the frame that begins; None where none is slowed down. What rests has no speed.
    # output: state.still, of what wakes, state.v
    """
    still = state.still
    if still is None or not (still[:, STILL_TIME] > 0.0).any():
        return None
    is_other = _surroundings(cloth, state, frame_input) != still[:, SURROUNDINGS]
    still[is_other | _is_stirred(state, frame_input, settings), STILL_TIME] = 0.0
    low, high = _boxes(cloth, state, frame_input)
    flung = _farthest_way(frame_input)  # what a body or a pin takes along gets farther than by its own speed
    near = _near(low - flung, high + flung)
    time = np.where(near, still[:, STILL_TIME], np.inf).min(axis=1)
    while (spread := np.where(near, time, np.inf).min(axis=1)).tolist() != time.tolist():
        time = spread  # and with whom these are near
    share = np.clip((TIME_TO_SLEEP + SLOWING_TIME - time) / SLOWING_TIME, 0.0, 1.0)
    state.v[share[cloth.garment] == 0.0] = 0.0
    return share if (share < 1.0).any() else None


def slow_down(share, x, v, before):
    """Let particles go a share (n,) of the way from `before`, x and v (n, 3) each, to where they are. # outputs: x, v"""
    slowed = share < 1.0
    for array, start in zip((x, v), before, strict=True):
        array[slowed] = start[slowed] + share[slowed, None] * (array[slowed] - start[slowed])


def end(cloth, state, start, share, frame_input, settings):
    """Note which garments were slow in a frame that started at `start` (n, 3) [m], in which they had their `share` of time, or None.
    # output: state.still
    """
    if state.still is None:
        return
    is_slow = _is_slow(cloth, (state.x - start) / frame_input.duration, settings.sleep_speed)
    if share is not None:
        is_slow |= share < 1.0  # what time is left shows little of it
    is_slow &= not _is_stirred(state, frame_input, settings)
    is_slow[cloth.garment[cloth.edges[cloth.seams][_are_open(cloth, state.x)].ravel()]] = False
    time = np.where(is_slow, state.still[:, STILL_TIME] + frame_input.duration, 0.0)
    state.still[:, STILL_TIME] = np.minimum(time, TIME_TO_SLEEP + SLOWING_TIME)
    around = _surroundings(cloth, state, frame_input) if is_slow.any() else 0.0
    state.still[:, SURROUNDINGS] = np.where(is_slow, around, 0.0)


def _are_open(cloth, x):
    """(s,) which seams are open: the last millimetre closes slowly."""
    one, other = cloth.edges[cloth.seams].T
    return (x[one] != x[other]).any(axis=1)


def _is_slow(cloth, v, speed):
    """(g,) which garments' free particles go with v (n, 3) [m/s] more slowly than `speed` as a whole, and none of their patches twice
    as fast; what is smaller than a metre, by as much more slowly.
    """
    starts = cloth.garment_start[:-1]
    size = (np.maximum.reduceat(cloth.x_rest, starts) - np.minimum.reduceat(cloth.x_rest, starts)).max(axis=1)
    speed = speed * np.minimum(size / LARGE, 1.0)
    free, first, patch, many = _patches(cloth)
    mean = np.stack([np.bincount(patch, column) for column in v[free].T], axis=1) / many[:, None]
    square, garment, garments = np.einsum("pk,pk->p", mean, mean), cloth.garment[free[first]], len(starts)
    fastest = np.zeros(garments)
    np.maximum.at(fastest, garment, square)
    whole = np.bincount(garment, many * square, garments) / np.maximum(np.bincount(garment, many, garments), 1.0)
    return (whole < speed**2) & (fastest < (FASTEST_PATCH * speed) ** 2)


@remembered(2, lambda cloth: (cloth.leaf, cloth.inv_mass))
def _patches(cloth):
    """Particles that are free (k,), and of each patch of them (p,) its first, of each particle its patch (k,), how many each has (p,)."""
    free = np.flatnonzero(cloth.inv_mass > 0.0)
    _, *found = np.unique(cloth.leaf[free] >> PATCH_LEVELS, return_index=True, return_inverse=True, return_counts=True)
    return free, *found


def _boxes(cloth, state, frame_input):
    """(g, 3) corners of boxes round garments, as far as they can get in a frame, and of what touches them."""
    starts = cloth.garment_start[:-1]
    speed = np.sqrt(np.maximum.reduceat(np.einsum("nk,nk->n", state.v, state.v), starts))
    fall = float(np.abs(frame_input.gravity).sum()) * frame_input.duration
    room = frame_input.duration * (speed + fall) + np.maximum.reduceat(cloth.thickness, starts)
    room += max((body.aura for body in frame_input.colliders), default=0.0)
    low, high = np.minimum.reduceat(state.x, starts), np.maximum.reduceat(state.x, starts)
    return low - room[:, None], high + room[:, None]


def _farthest_way(frame_input):
    """[m] that any vertex of a body or of a pose goes in a frame, at most, from end to end."""
    moved = (frame_input.targets, *(body.x for body in frame_input.colliders))
    return max(float(np.linalg.norm(x[-1] - x[0], axis=1).max(initial=0.0)) for x in moved)


def _near(low, high):
    """(g, g) bool: boxes that overlap; each its own."""
    return ((low[:, None] <= high[None]) & (low[None] <= high[:, None])).all(axis=2)


def _surroundings(cloth, state, frame_input):
    """(g,) a number of all that a garment feels in a frame, but for other garments."""
    low, high = _boxes(cloth, state, frame_input)
    common = digest_of(*(value for name, value in zip(FrameInput._fields, frame_input, strict=True) if name not in OWN))
    boxes, digests = [_box(body, cloth.origin) for body in frame_input.colliders], {}
    follows = (cloth.pin > 0.0) | (cloth.inv_mass == 0.0) | np.isfinite(cloth.pin_distance)
    found = np.empty(len(low))
    for index, (start, stop) in enumerate(zip(cloth.garment_start[:-1], cloth.garment_start[1:], strict=True)):
        beside = [k for k, (b, e) in enumerate(boxes) if (b <= high[index]).all() and (low[index] <= e).all()]
        for k in beside:
            if k not in digests:
                digests[k] = digest_of(*frame_input.colliders[k]._replace(name=""))
        own = frame_input.targets[:, start:stop][:, follows[start:stop]]
        pose = own if frame_input.blend is None else frame_input.targets[:, start:stop]
        found[index] = int.from_bytes(digest_of(common, [digests[k] for k in beside], pose)[:DIGEST_BYTES], "little")
    return found


def _box(body, origin):
    """Corners (3,), (3,) [m] of the box round a body's way through a frame."""
    points = body.x.reshape(-1, 3)
    return points.min(axis=0, initial=np.inf) - origin, points.max(axis=0, initial=-np.inf) - origin


def _is_stirred(state, frame_input, settings):
    """Whether something moves cloth anew in each frame: fields, of which some have chance in them, a random force, a ride, plastic flow;
    or nothing is to rest.
    """
    if not settings.sleep_speed > 0.0:
        return True
    chance = (*settings.random_force_min, *settings.random_force_max)
    flows = frame_input.yields is not None or state.plastic is not None
    return bool(frame_input.fields) or any(chance) or frame_input.rides is not None or flows
