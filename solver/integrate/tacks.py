# SPDX-License-Identifier: GPL-3.0-or-later
"""Tacks: threads between cloth and cloth, from a particle to a point on a face.

A thread of length L pulls with k (l - L) along itself once its ends are l > L apart, and is slack before. It goes into the
solve as rows like those of cloth on cloth (`contact.cloth.constraints`): one along the thread, of the stiffness k, and two
across it, of the tension over the length, k (1 - L / l), which is what a tight thread resists with when it turns (Choi and
Ko 2002). A row pulls on both of its sides alike, so tacks keep momentum; garments that they join, and nothing holds, keep it
to rounding as one (`momentum`). A thread that bears more than it can is broken for good (`State.broken`).
"""

from typing import NamedTuple

import numpy as np

from ..model import IMPLICIT, TACK
from .attachments import welded


class Threads(NamedTuple):
    """The tacks of a frame that hold when it begins."""

    stencils: np.ndarray  # (k, 4) int32
    weight: np.ndarray  # (k, 4) 1 for the particle, minus barycentric weights for the corners
    length: np.ndarray  # (k,) [m]
    stiffness: np.ndarray  # (k,) [N/m]
    breaking: np.ndarray  # (k,) [N]
    broken: np.ndarray  # (n,) uint8, of `State`


def thread(cloth, frame_input, broken, settings):
    """`Threads` of a frame; None where there are none. ValueError with dynamics that do not solve for them."""
    given = frame_input.tacks
    if given is None:
        return None
    stencils = welded(cloth, given.stencils)
    holds = (broken[stencils[:, 0]] & TACK == 0) & (given.stiffness > 0.0)
    if not holds.any():
        return None
    if settings.dynamics not in IMPLICIT:
        raise ValueError(
            "Tacks are solved for by implicit dynamics alone: set Dynamics to XPBD (in Blender: Linearly Implicit)."
        )
    weight = np.concatenate([np.ones((len(stencils), 1)), -given.weight], axis=1)
    kept = (array[holds] for array in (weight, given.length, given.stiffness, given.breaking))
    return Threads(stencils[holds], *kept, broken)


def lay(threads, x, x_prev, stack):
    """`contact.cloth.constraints.Stack` with the rows of threads that are tight at the predicted x (n, 3) [m]; x_prev : [m] where
    the step began."""
    way = _way(threads, x)
    size = np.sqrt(np.einsum("ij,ij->i", way, way))
    tight = (size > threads.length) & (threads.broken[threads.stencils[:, 0]] & TACK == 0)
    if not tight.any():
        return stack
    stencils, weight, k = threads.stencils[tight], threads.weight[tight], threads.stiffness[tight]
    way, size, length = way[tight], size[tight], threads.length[tight]
    along = way / size[:, None]
    one, other = _across(along)
    went = np.einsum("ki,kij->kj", weight, x[stencils] - x_prev[stencils])
    rows, rooms = [], []
    for direction, h, gap in ((along, np.sqrt(k), size - length), *((d, np.sqrt(k * (1.0 - length / size)), 0.0) for d in (one, other))):  # fmt: skip
        rows.append(np.concatenate([h[:, None] * direction, np.zeros((len(h), 1))], axis=1))
        rooms.append(h * (gap - np.einsum("ij,ij->i", direction, went)))
    return stack._replace(
        stencils=np.concatenate([stack.stencils, *3 * [stencils]]),
        weight=np.concatenate([stack.weight, *3 * [weight]]),
        row=np.concatenate([stack.row, *rows]),
        room=np.concatenate([stack.room, *rooms]),
    )


def break_tacks(threads, x):
    """Break threads that pull too hard at x (n, 3) [m]. # output: threads.broken"""
    way = _way(threads, x)
    force = threads.stiffness * (np.sqrt(np.einsum("ij,ij->i", way, way)) - threads.length)
    threads.broken[threads.stencils[force >= threads.breaking, 0]] |= TACK


def _way(threads, x):
    """(k, 3) [m] from the point on the face to the particle."""
    return np.einsum("ki,kij->kj", threads.weight, x[threads.stencils])


def _across(along):
    """Two unit vectors across each of these (k, 3), and across each other."""
    least = np.eye(3)[np.argmin(np.abs(along), axis=1)]
    one = np.cross(along, least)
    one /= np.sqrt(np.einsum("ij,ij->i", one, one))[:, None]
    return one, np.cross(along, one)
