# SPDX-License-Identifier: GPL-3.0-or-later
"""Pieces of cloth that do not touch are solved for as if each were alone: a ribbon swings as it does without the dress."""

import naive
import numpy as np
import pytest
import solids
from taffeta.solver.build import build, repin
from taffeta.solver.contact.body.constraints import make_support
from taffeta.solver.contact.cloth.constraints import NO_STACK
from taffeta.solver.forces.optional import Pulls
from taffeta.solver.integrate.groups import find_groups
from taffeta.solver.integrate.pcg import solve
from taffeta.solver.integrate.pieces import free_pieces
from taffeta.solver.integrate.system import Target, make_scratch, make_system
from taffeta.solver.integrate.tree import LEAF_PARTICLES, answering, grow, pieces_of
from taffeta.solver.model import Settings
from taffeta.solver.step import advance

SETTINGS = Settings(air_drag=0.0, small_steps=0.0)  # as many steps, whatever else is there


def ribbon():
    """3 by 24 cm, held at one end."""
    pin = np.zeros(100)
    pin[::25] = 1.0
    strip = naive.sheet(4, 25, width=0.03, height=0.24, name="Ribbon", pin=pin)
    return strip._replace(x_start=strip.x + [2.0, 0.0, 0.0])


def tips(garments, frames=16):
    """(frames, 3) [m] where the end of the first garment, a ribbon, is; the others fall on a ball."""
    cloth, state = build(garments, SETTINGS)
    ball = solids.collider(solids.ball(radius=0.4), np.tile([0.5, 0.5, -0.41], (2, 1)))
    still, found = naive.still(state.x + cloth.origin, colliders=[ball]), []
    for frame in range(frames):
        advance(cloth, state, still, frame, SETTINGS)
        found.append(state.x[24:100:25].mean(axis=0) + cloth.origin)
    return np.array(found)


def test_a_ribbon_swings_as_without_the_sheet_beside_it():
    """It has 100 particles, the sheet 3,721; with one step and one end for both it was 435 mm off."""
    off = np.linalg.norm(tips([ribbon(), naive.sheet(61, 61, name="Sheet")]) - tips([ribbon()]), axis=1)
    assert off.max() < 0.012


def correction(cloth, x, x_prev, part=slice(None), memory=None):
    """(n, 3) [m], and the iterations taken; memory : what the solve's memory holds before."""
    system = make_system(cloth.matrix, cloth.mass, free_pieces(cloth, np.arange(len(cloth.mass))))
    if memory is not None:
        for array in system.scratch:
            if isinstance(array, np.ndarray) and array.dtype == np.float64:
                array[...] = memory
    unpulled = Pulls(np.zeros(0, np.int32), np.zeros((0, 3)), np.zeros(0))
    target = Target((0.0, 0.0, 0.0), 1 / 240, 0.0, 60, 1e-6)
    taken = solve(system, x[part].copy(), x_prev[part], make_support(cloth), NO_STACK, unpulled, target)
    return system.solution.correction, taken


def test_two_sheets_are_solved_for_as_each_alone():
    """To rounding, though one is crumpled and takes more iterations."""
    rng, sheets = np.random.default_rng(3), [naive.sheet(12, 12, name=name) for name in "AB"]
    cloth, state = build(sheets, SETTINGS)
    x = state.x.copy()
    x[:144] += rng.normal(size=(144, 3)) * 3e-3
    x[144:] += rng.normal(size=(144, 3)) * 1e-6
    together, taken = correction(cloth, x, state.x)
    alone = [
        correction(build([sheet], SETTINGS)[0], x, state.x, part)
        for sheet, part in zip(sheets, (slice(0, 144), slice(144, None)), strict=True)
    ]
    assert taken == max(times for _, times in alone) > min(times for _, times in alone)
    for part, (found, _) in zip((together[:144], together[144:]), alone, strict=True):
        assert np.abs(part - found).max() < 1e-9 * np.abs(found).max()


def test_a_small_sheet_goes_by_nothing_that_memory_holds():
    """It has 25 particles, the other 2,304, and of its half of the tree a branch is empty: this one was read and never written."""
    rng, sheets = np.random.default_rng(3), [naive.sheet(n, n, name=str(n)) for n in (5, 48)]
    cloth, state = build(sheets, SETTINGS)
    x = state.x + rng.normal(size=state.x.shape) * 1e-3
    (blank, taken), (found, times) = (correction(cloth, x, state.x, memory=memory) for memory in (0.0, np.nan))
    assert np.abs(blank).max() > 1e-4 and times == taken
    np.testing.assert_array_equal(found, blank)


def test_what_touches_is_one_group():
    """Rows between pieces join these, and those alone, in whatever order they come."""
    cloth, _ = build([naive.sheet(5, 5, name=name) for name in "ABCD"], SETTINGS)
    scratch = make_scratch(cloth.matrix)
    for stencils, names in (
        ([], [0, 1, 2, 3]),
        ([[80, 26, 27, 31]], [0, 1, 2, 1]),
        ([[80, 26, 27, 31], [0, 1, 50, 51], [30, 31, 55, 56]], [0, 0, 0, 0]),
        ([[55, 81, 82, 86], [3, 4, 8, 9]], [0, 1, 2, 2]),
        ([[0, 26, 2, 5]], [0, 0, 2, 3]),  # a triangle without stiffness along its edges has corners in several
        (5 * [[75, 50, 51, 55], [50, 25, 26, 30], [25, 0, 1, 5]], [0, 0, 0, 0]),
    ):
        groups = find_groups(cloth.matrix, np.array(stencils, np.int32).reshape(-1, 4), scratch.segments)
        assert groups.group.tolist() == names
        for name in range(4):
            own = groups.order[groups.starts[name] : groups.starts[name + 1]]
            expected = [k for k, (_, _, piece) in enumerate(scratch.segments) if names[piece] == name]
            assert own.tolist() == expected


@pytest.mark.parametrize("sizes", [(100, 1000, 7), (3, 3, 3, 200), (50,), (2, 40), (900, 6), 40 * (9,)])
def test_each_piece_has_nodes_of_its_own_up_to_all_of_it(sizes):
    """Chains of these sizes, and a particle without springs: nodes that answer are of one piece, and none is there twice."""
    first = np.cumsum([0, *sizes])
    count = first[-1] + 1
    chains = [np.stack([np.arange(n - 1), np.arange(1, n)], axis=1) + k for n, k in zip(sizes, first, strict=False)]
    springs = np.concatenate(chains)
    leaf, piece = grow(springs, np.ones(len(springs)), count), pieces_of(springs, count)
    assert np.bincount(piece).tolist() == [*sorted(sizes)[:-1], max(sizes) + 1]
    order = np.argsort(leaf, kind="stable")
    leaf, piece = leaf[order], piece[order]
    assert (np.diff(piece) >= 0).all() and np.bincount(leaf).max() <= LEAF_PARTICLES
    answers, own = answering(leaf, piece), {}
    for slot, node in enumerate(leaf):
        while node:
            own.setdefault(node, []).append(slot)
            node //= 2
    found = [tuple(own[node]) for node in np.flatnonzero(answers)]
    assert len(set(found)) == len(found)
    assert all(len(set(piece[list(slots)])) == 1 for slots in found)
    wholes = [tuple(np.flatnonzero(piece == k)) for k in range(len(sizes))]
    assert set(wholes) <= set(found) and {
        slots for slots in map(tuple, own.values()) if len(set(piece[list(slots)])) == 1
    } == set(found)


def test_pins_of_a_frame_leave_each_button_its_nodes():
    """Of thirty buttons beside a sheet a half is pinned by keys: no node is of two, and each button has one of all that moves."""
    buttons = [naive.sheet(4, 5, width=0.03, height=0.04, name=f"Button {k}", pin_moves=True) for k in range(30)]
    cloth, _ = build([*buttons, naive.sheet(30, 30, name="Sheet", pin_moves=True)], SETTINGS)
    pinned = repin(cloth, np.concatenate([*(30 * [np.repeat([1.0, 0.0], 10)]), np.zeros(900)]))
    matrix = pinned.matrix
    own = np.where(pinned.inv_mass > 0.0, pinned.garment, -1)[matrix.order]
    leaf = pinned.leaf[matrix.order]
    wholes = set()
    for node in np.flatnonzero(matrix.answers):
        height = len(matrix.answers).bit_length() - 1 - int(node).bit_length()
        moving = own[(leaf >> height == node) & (own >= 0)]
        assert len(set(moving)) <= 1
        wholes |= {int(k) for k in moving[:1] if len(moving) == np.count_nonzero(own == k)}
    assert wholes == set(range(31))
