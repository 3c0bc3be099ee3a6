# SPDX-License-Identifier: GPL-3.0-or-later
"""Beside a pinch, and what they stand through, bodies lose: cloth that they would tear out of its length goes into them.

A thumb that is pressed into the chest holds cloth on its one side, and takes cloth along that lies in its crook; between these an
edge leads round it, and no slip helps: what pulls presses both ends against it. Bodies go where they are told to, so one of the two
has to give, and cloth in two pieces is worse than cloth that a thumb stands out of. So what is held so, and is
longer than it may be, is brought back, whatever it goes into; contact leads it out again slowly, often on the other side, where the
edge is free.

When an arm that has been in the waist leaves it, no pinch holds cloth any more, but hand and forearm stand through it, and take along what
lies on them, as fast as a runner swings her arms: no easing (`guard.poked`) comes after that. So what is beside
and too long by far is let through for the rest of the frame, ends of its edges and the body that they lie on, and eased off
with all that is poked in the next one. But nothing is eased off while bodies that overlap hold it: beside the crook of an elbow that is
bent so far that it holds the sleeve, the tip of the elbow would stand out of the sleeve until the arm is stretched.

What is too long is told by the cloth around: narrow trousers are longer by a half all over the knees of who squats, and no body tears
them. Brought back from that, or let through, they had holes there for as long as the knees were bent.
"""

import math

import numpy as np

from ...geometry.edge_projection import project_edge
from ...geometry.topology import within_rings
from ...kernel.jit import inner, njit
from .contacts import INSIDE, LET_THROUGH, OUTSIDE, PINCHED

MOST_STRAIN = 0.3  # of an edge, over what the cloth around has, above which it is brought back
GIVING_SWEEPS = 8  # over such edges
TORN_STRAIN = 0.6  # the same of one beside what is poked, above which bodies let its ends through
TAUT_RINGS = 6  # edges round such an edge, over which it is looked how taut cloth is
MOST_TAUT = 0.6  # strain of cloth around up to which it counts: what is torn itself is no measure
POKED_RINGS = 6  # edges from what is poked, up to which they do
OVERLAP_RINGS = 2  # edges from what bodies that overlap pinch, up to which they hold what is poked


def let_through(cloth, contacts, tangled, x):
    """Let bodies lose, for the rest of the frame, what they would tear: beside what they have been poked through, `tangled` (n,), and do
    not hold, ends of the mesh's edges that are strained at x (n, 3) [m] by more than `TORN_STRAIN` over what the cloth around is.
    # outputs: tangled; of `contacts` place, count
    """
    if not tangled.any():
        return
    strain, held = _strain(cloth, x), _is_held(contacts, tangled)
    is_torn = strain > TORN_STRAIN
    if is_torn.any():
        is_torn &= strain > TORN_STRAIN + _tautness(cloth, contacts, held, strain)
    torn = cloth.edges[is_torn].T
    if torn.size:
        is_near = within_rings(tangled & ~_hanging(cloth.edges, contacts, tangled), cloth.edges, POKED_RINGS)
        lost = np.unique(torn[:, is_near[torn].any(axis=0)])
        lost = lost[contacts.place[lost] == OUTSIDE]
        contacts.place[lost], contacts.count[lost], tangled[lost] = LET_THROUGH, 0, True


def _hanging(edges, contacts, tangled):
    """(n,) which of what is `tangled` (n,) hangs together with what bodies that overlap pinch."""
    held = (contacts.place[: len(tangled)] == PINCHED) & (contacts.between < 0.0)
    held = within_rings(held, edges, OVERLAP_RINGS) & tangled
    inner, count = edges[tangled[edges].all(axis=1)], 0
    while np.count_nonzero(held) > count:
        count, held = np.count_nonzero(held), within_rings(held, inner, 1)
    return held


def give_way(cloth, contacts, tangled, x, x_from):
    """Shorten what is strained so beside a pinch, or what is `tangled` (n,), without speed (`without_speed`); x and x_from (n, 3) [m]
    change in place.
    """
    strain, held = _strain(cloth, x), _is_held(contacts, tangled)
    if not (strain[held[cloth.edges].any(axis=1)] > MOST_STRAIN).any():
        return
    most = (1.0 + MOST_STRAIN + _tautness(cloth, contacts, held, strain)) * cloth.rest_length
    before = x.copy()
    if shorten(cloth.edges, most, cloth.is_mesh_edge, cloth.inv_mass, contacts, tangled, x):
        x_from[:] = without_speed(before, x, x_from)


def _strain(cloth, x):
    """(e,) of the mesh's edges at x (n, 3) [m]; 0 of other springs."""
    strain = np.empty(len(cloth.edges))
    strain_kernel(cloth.edges, cloth.rest_length, cloth.is_mesh_edge, x, strain)
    return strain


@njit
def strain_kernel(edges, rest_length, is_mesh_edge, x, strain):
    """60 bytes and 12 flops an edge. # outputs: strain, as of `_strain`"""
    for e in range(len(edges)):
        strain[e] = 0.0
        if is_mesh_edge[e] and rest_length[e] > 0.0:
            i, j = np.uintp(edges[e, 0]), np.uintp(edges[e, 1])
            dx, dy, dz = x[i, 0] - x[j, 0], x[i, 1] - x[j, 1], x[i, 2] - x[j, 2]
            strain[e] = math.sqrt(dx * dx + dy * dy + dz * dz) / rest_length[e] - 1.0


def _is_held(contacts, tangled):
    """(n,) what bodies hold or are poked through, `tangled` (n,)."""
    return tangled | (contacts.place[: len(tangled)] > OUTSIDE)


def _tautness(cloth, contacts, held, strain):
    """(e,) how taut the cloth round each edge lies on bodies, all but what is `held` (n,): the mean, over particles some edges round, of
    the most that an edge at them is strained by (`strain`, (e,)); 0 of what is in the air, which is drawn by what is held.
    """
    tautness = np.empty(len(cloth.edges))
    about = cloth.edges, cloth.is_mesh_edge, contacts.count, held, strain
    tautness_kernel(*about, *np.zeros((4, len(held))), tautness)
    return tautness


@inner
def _add_around(edges, values, more, also):
    """Add to each of the values (n,) those at the other ends of its edges; more, also : (n,) scratch."""
    for i in range(len(values)):
        more[i] = also[i] = 0.0
    for e in range(len(edges)):
        i, j = np.uintp(edges[e, 0]), np.uintp(edges[e, 1])
        more[i], also[j] = more[i] + values[j], also[j] + values[i]
    for i in range(len(values)):
        values[i] = values[i] + more[i] + also[i]


@njit
def tautness_kernel(edges, is_mesh_edge, touched, held, strain, taut, known, more, also, tautness):
    """20 bytes and 8 flops an edge and ring. # outputs: tautness, as of `_tautness`; taut, known, more, also
    (n,) scratch, zeros before"""
    for e in range(len(edges)):
        i, j = np.uintp(edges[e, 0]), np.uintp(edges[e, 1])
        if is_mesh_edge[e] and not held[i] and not held[j]:
            most = min(max(strain[e], 0.0), MOST_TAUT)
            taut[i], taut[j] = max(taut[i], most), max(taut[j], most)
            known[i] = known[j] = 1.0
    for i in range(len(taut)):
        if touched[i] <= 0:
            taut[i] = 0.0
    for _ in range(TAUT_RINGS):
        _add_around(edges, taut, more, also)
        _add_around(edges, known, more, also)
    for e in range(len(edges)):
        i, j = np.uintp(edges[e, 0]), np.uintp(edges[e, 1])
        tautness[e] = (taut[i] + taut[j]) / max(known[i] + known[j], 1.0)


@njit
def shorten(edges, most_length, is_mesh_edge, inv_mass, contacts, tangled, x):
    """Shorten edges of the mesh that are longer than `most_length` (e,) [m], whose ends are both inside, or both pinched or let go of
    (`tangled`), or one is, and the other touches a body and stays: an end in the air comes along by itself, and what is pinched where
    bodies do not overlap leaves the one that goes. Returns how many. 60 bytes an edge, 60 flops one that is. # outputs: x (n, 3) [m]
    """
    place, count, between = contacts.place, contacts.count, contacts.between
    shortened = 0
    for _ in range(GIVING_SWEEPS):
        before = shortened
        for e in range(len(edges)):
            i, j = np.uintp(edges[e, 0]), np.uintp(edges[e, 1])
            are_in = place[i] == INSIDE and place[j] == INSIDE
            wi = inv_mass[i] if are_in or tangled[i] or place[i] == PINCHED else 0.0
            wj = inv_mass[j] if are_in or tangled[j] or place[j] == PINCHED else 0.0
            if wi == 0.0 or wj == 0.0:
                k, other = (j, i) if wi == 0.0 else (i, j)
                is_free = not tangled[k] and between[k] >= 0.0
                if is_free or count[other] <= 0:
                    continue
            if wi + wj == 0.0 or not is_mesh_edge[e]:
                continue
            dx, dy, dz = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
            length, most = math.sqrt(dx * dx + dy * dy + dz * dz), most_length[e]
            if length <= most:
                continue
            project_edge(x, i, j, wi, wj, dx, dy, dz, length, most)
            shortened += 1
        if shortened == before:
            break
    return shortened


def without_speed(before, x, x_from):
    """Where velocities count from, (n, 3) [m], for what was moved from `before` to x by what gives no speed; x_from : the same before that.

    What leads a particle back from where it went in the step stops it, as far as it does; else it would come as fast in the next
    step, and in each: vertices beside a thumb went by 12 mm and back in each of eighty steps a frame, at 23 m/s.
    """
    shift, way = x - before, before - x_from
    square, against = np.einsum("ij,ij->i", shift, shift), -np.einsum("ij,ij->i", shift, way)
    stopped = np.divide(against, square, out=np.zeros(len(x)), where=square > 0.0).clip(0.0, 1.0)
    return x_from + (1.0 - stopped)[:, None] * shift
