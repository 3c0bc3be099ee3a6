# SPDX-License-Identifier: GPL-3.0-or-later
"""One sequence of depths: the layers of cloth that a line meets, kept in their order (Bargmann 2003, chapter 5).

`settle` is algorithm 5.6.2 for one line: what changed places since the last step goes back to where it first collided,
layers that are too close are spaced, and those that would change places in the next step get a common velocity.

Sequences are arrays of which the first `count` entries count. Places are in order of depth; `swap` says which entry
comes to a place. A gap has the number of the place after it, so that gap 0 and gap `count` are the room at both ends.
A velocity is a motion in a step [m]. `locked` gaps are those of neighbours in the mesh, which nothing changes.

Against the thesis: masses weigh means, so that what is held stays (his figure 5.5); what has collided goes on with the
velocity that it then shares, where he leaves it at the place of the collision, as if the cloth had stood still; and what
is spaced loses its approach alone, where he gives it one velocity, which trembles, or none, which sinks in (5.7.1).
"""

import math
from typing import NamedTuple

import numpy as np

from ..kernel.jit import inner

SPACING_PASSES = 8  # over the gaps, of spacing: each halves what is missing still
GAP_TOLERANCE = 1e-3  # part of a gap by which it may be too small


class Sequence(NamedTuple):
    """Scratch for the layers on one line, of which `now`, `v`, `mass` and `slide` are filled in by their finder."""

    now: np.ndarray  # (c,) [m] ascending
    v: np.ndarray  # (c,) [m] along the line
    mass: np.ndarray  # (c,) [kg] that resists a push at this place
    slide: np.ndarray  # (c, 2) [m] motion across the line
    old: np.ndarray  # (c,) [m] depths a step ago
    swap: np.ndarray  # (c,) entries in their old order
    # by place in that order
    depth: np.ndarray  # (c,) [m] where each has to go
    go: np.ndarray  # (c,) [m] velocity that it has to have
    drag: np.ndarray  # (c, 2) [m] what friction adds to `slide`
    gap: np.ndarray  # (c + 1,) [m]
    least: np.ndarray  # (c + 1,) [m] what gaps have to be
    grip: np.ndarray  # (c + 1,) Coulomb coefficients in the gaps
    bounce: np.ndarray  # (c + 1,) restitution in the gaps
    locked: np.ndarray  # (c + 1,) bool
    wide: np.ndarray  # (c + 1,) bool: the gap was widened
    group: np.ndarray  # (c,) those that have the same number changed places among each other
    future: np.ndarray  # (c,) [m] depths in a step
    swapped: np.ndarray  # (c,) places in their future order


def make_sequence(size: int) -> Sequence:
    """Scratch for `size` layers."""
    depths = [np.zeros(size + 1) for _ in range(10)]
    now, v, mass, old, depth, go, gap, least, grip, bounce = depths
    numbers = [np.zeros(size + 1, np.int64) for _ in range(3)]
    pairs = np.zeros((size + 1, 2)), np.zeros((size + 1, 2))
    flags = np.zeros(size + 1, np.bool_), np.zeros(size + 1, np.bool_)
    swap, group, swapped = numbers
    future = np.zeros(size + 1)
    return Sequence(
        now, v, mass, pairs[0], old, swap, depth, go, pairs[1], gap, least, grip, bounce, *flags, group, future, swapped
    )


@inner
def order(depth, swap, count):
    """Sort the entries in `swap` by their depth; equal ones stay as they are (5.2.1)."""
    for k in range(1, count):
        entry, at = swap[k], k
        while at > 0 and depth[swap[at - 1]] > depth[entry]:
            swap[at] = swap[at - 1]
            at -= 1
        swap[at] = entry


@inner
def find_groups(swap, group, count):
    """Number the smallest runs of places that changed places among each other only (5.2.1)."""
    number, farthest = 0, 0
    for k in range(count):
        group[k] = number
        farthest = max(farthest, swap[k])
        number += farthest == k


@inner
def end_of(group, first, count):
    """The place after the last one of the group that begins at `first`."""
    end = first + 1
    while end < count and group[end] == group[first]:
        end += 1
    return end


@inner
def share(go, mass, swap, first, end, bounce):
    """Give places first..end the mean of their velocities, and `bounce` times what they were off it the other way
    (5.4.2, there for two of equal mass)."""
    total, moving = 0.0, 0.0
    for k in range(first, end):
        total += mass[swap[k]]
        moving += mass[swap[k]] * go[k]
    for k in range(first, end):
        go[k] -= (1.0 + bounce) * (go[k] - moving / total)


@inner
def least_bounce(s, first, end, bounces):
    """The restitution of places first..end that meet at once: that of the gap between them that has least; 0 if nothing `bounces`."""
    least = 1.0 if bounces else 0.0
    for k in range(first + 1, end):
        if not s.locked[k]:
            least = min(least, s.bounce[k])
    return least


@inner
def separate(s, count, bounces):
    """Take groups that changed places since the last step back to their first collision (5.2.2, 5.6.2).

    That is one of two that were next to each other. For the rest of the step they go on with their common velocity.
    """
    first = 0
    while first < count:
        end, time = end_of(s.group, first, count), 1.0
        for k in range(first, end):
            s.depth[k], s.go[k] = s.now[s.swap[k]], s.v[s.swap[k]]
            if k > first and not s.locked[k] and s.depth[k] < s.depth[k - 1]:
                before = s.old[s.swap[k]] - s.old[s.swap[k - 1]]
                time = min(time, before / (before + s.depth[k - 1] - s.depth[k]))
        if time < 1.0:
            total, middle, mean = 0.0, 0.0, 0.0
            for k in range(first, end):
                mass = s.mass[s.swap[k]]
                total, middle, mean = total + mass, middle + mass * s.depth[k], mean + mass * s.go[k]
            for k in range(first, end):
                s.depth[k] = s.old[s.swap[k]] + time * s.go[k] + (1.0 - time) * mean / total
            share(s.go, s.mass, s.swap, first, end, least_bounce(s, first, end, bounces))
        first = end


@inner
def space(s, count):
    """Widen gaps that are smaller than `least`, at the cost of the next ones that are not (algorithms 5.4.1 and 5.6.1).

    Each side of a run of small gaps moves out by half of what it misses, or more if it is lighter. `depth` changes.
    """
    s.gap[0], s.gap[count] = 0.0, 0.0
    for k in range(1, count):
        s.gap[k], s.wide[k] = s.depth[k] - s.depth[k - 1], False
    missing = True
    for _ in range(SPACING_PASSES):
        if not missing:
            break
        missing, first = False, 1
        while first < count:
            end, lacking = first, 0.0
            while end < count and (s.locked[end] or s.gap[end] <= s.least[end]):
                lack = 0.0 if s.locked[end] else s.least[end] - s.gap[end]
                if lack > GAP_TOLERANCE * s.least[end]:
                    lacking += lack
                    s.gap[end], s.wide[end] = s.least[end], True
                end += 1
            if lacking > 0.0:
                missing = True
                low, high = s.mass[s.swap[first - 1]], s.mass[s.swap[end - 1]]
                s.gap[first - 1] -= lacking * high / (low + high)
                s.gap[end] -= lacking * low / (low + high)
            first = end + 1
    s.depth[0] += s.gap[0]
    for k in range(1, count):
        s.depth[k] = s.depth[k - 1] + s.gap[k]


@inner
def keep_open(s, count, bounces):
    """Let no gap that was widened close: the nearest velocities that have none, by pooling neighbours (Ayer et al.
    1955). Layers that are pressed on each other get their mean velocity, those that part keep theirs. Where layers bounce,
    one after the other does.
    """
    for k in range(count):
        s.group[k] = k  # the first place of the run that moves as one
        while s.group[k] > 0 and s.wide[s.group[k]] and s.go[s.group[k] - 1] > s.go[k]:
            if bounces and s.bounce[k] > 0.0:
                share(s.go, s.mass, s.swap, k - 1, k + 1, s.bounce[k])
                break
            before = s.group[s.group[k] - 1]
            share(s.go, s.mass, s.swap, before, k + 1, 0.0)
            for j in range(before, k + 1):
                s.group[j] = before


@inner
def avoid(s, count, bounces):
    """Give groups that would change places in the next step a common velocity (5.3.1, 5.6.4)."""
    for k in range(count):
        s.future[k], s.swapped[k] = s.depth[k] + s.go[k], k
    order(s.future, s.swapped, count)
    find_groups(s.swapped, s.group, count)
    first = 0
    while first < count:
        end, meets = end_of(s.group, first, count), False
        for k in range(first + 1, end):
            meets |= (not s.locked[k]) and s.future[k] < s.future[k - 1]
        if meets:
            share(s.go, s.mass, s.swap, first, end, least_bounce(s, first, end, bounces))
        first = end


@inner
def rub(s, count):
    """Fill `drag`: Coulomb friction between layers, by the impulse that went through each gap (5.7.2 wants it)."""
    through = 0.0
    for k in range(count):
        s.drag[k, 0], s.drag[k, 1] = 0.0, 0.0
    for k in range(1, count):
        lower, upper = s.swap[k - 1], s.swap[k]
        through += s.mass[lower] * (s.v[lower] - s.go[k - 1])
        if through <= 0.0 or s.locked[k]:
            continue
        x = s.slide[upper, 0] + s.drag[k, 0] - s.slide[lower, 0] - s.drag[k - 1, 0]
        y = s.slide[upper, 1] + s.drag[k, 1] - s.slide[lower, 1] - s.drag[k - 1, 1]
        both = 1.0 / s.mass[lower] + 1.0 / s.mass[upper]
        most, size = s.grip[k] * through * both, math.sqrt(x * x + y * y)
        ratio = min(1.0, most / size) if size > 0.0 else 0.0
        for axis, away in ((0, x), (1, y)):
            s.drag[k - 1, axis] += ratio * away / (s.mass[lower] * both)
            s.drag[k, axis] -= ratio * away / (s.mass[upper] * both)


@inner
def settle(s, count, bounces):
    """Where all layers of a sequence go (`depth`), with which velocities (`go`, `drag`), in their old order (`swap`).

    `least`, `grip`, `locked` and, if anything `bounces`, `bounce` have to be there for that order: `recall` finds it.
    """
    separate(s, count, bounces)
    space(s, count)
    keep_open(s, count, bounces)
    avoid(s, count, bounces)
    rub(s, count)


@inner
def fastest(s, count):
    """How far [m] neighbours come closer in the step, the fastest of those that may meet; `recall` and `locked` first."""
    most = 0.0
    for k in range(1, count):
        if not s.locked[k]:
            most = max(most, s.v[s.swap[k - 1]] - s.v[s.swap[k]])
    return most


@inner
def recall(s, count):
    """Find the order that the layers had a step ago, and who changed places."""
    for k in range(count):
        s.old[k], s.swap[k] = s.now[k] - s.v[k], k
    order(s.old, s.swap, count)
    find_groups(s.swap, s.group, count)
