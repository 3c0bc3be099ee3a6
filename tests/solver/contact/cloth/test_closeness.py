# SPDX-License-Identifier: GPL-3.0-or-later
"""Which pairs of cloth a sweep has to look at: whoever goes by the pairs of the particles that are out misses none."""

import ipctk
import numpy as np
import pytest
from numba import njit
from sheets import NO_TANGLES, sheet
from taffeta.solver.build import build
from taffeta.solver.contact.cloth import closeness, pairs
from taffeta.solver.contact.cloth.reach import Reach
from taffeta.solver.contact.cloth.response import NO_BRACE, RESPONSE_SWEEPS, Substep
from taffeta.solver.kernel.shared import BOARD
from taffeta.solver.model import Settings

DT, MARGIN = 1 / 240, 1e-3


def layers():
    """Three sheets, each a contact distance above the one below."""
    placed = [sheet(f"Layer {k}", 24, 24, 0.01, lambda x, k=k: x + [0.001 * k, 0.002 * k, 0.002 * k]) for k in range(3)]
    return build(placed, Settings())


def three_sheets(seed):
    """What may touch of them with a few particles pushed at, and what the response is given."""
    chosen = np.random.default_rng(seed)
    cloth, state = layers()
    found = pairs.detect(cloth, state.x, state.v, DT, Settings(), NO_TANGLES).pair_list
    count, size = len(found.gap), len(state.x)
    x = state.x.copy()
    pushed = chosen.choice(size, 12, replace=False)
    x[pushed] += chosen.normal(0.0, 1.2e-3, (12, 3))
    gone = np.linalg.norm(x - state.x, axis=1)
    reach = Reach(state.x.copy(), x.copy(), gone, np.arange(count, dtype=np.int32), found.gap.copy())
    return found, reach, Substep(cloth.inv_mass, NO_BRACE, state.x.copy(), x, state.x.copy(), DT)


@njit
def listed(board, found, reach, x, scratch):
    """`list_close` as a function of its own."""
    closeness.list_close(board, found, reach, MARGIN, x, scratch)


def come_close(found, x, spare):
    """(p,) whether pairs are closer than their contact distance, or may be once particles have gone what they have to spare."""
    is_close = []
    for corners, is_edge_pair, distance in zip(found.stencils, found.is_edge_pair, found.distance, strict=True):
        measure = ipctk.edge_edge_distance if is_edge_pair else ipctk.point_triangle_distance
        first = corners[:2] if is_edge_pair else corners[:1]
        aside = spare[first].max() + spare[corners[len(first) :]].max()
        is_close.append(measure(*x[corners]) < (distance + aside) ** 2)
    return np.array(is_close)


@pytest.mark.parametrize("seed", range(4))
def test_what_comes_close_is_listed_when_particles_are_out(seed):
    """As ipctk measures it; what was listed before stays."""
    found, reach, substep = three_sheets(seed)
    scratch = closeness.make_scratch(reach, RESPONSE_SWEEPS)
    listed(BOARD, found, reach, substep.x, scratch)
    before = scratch.close[: int(scratch.progress[closeness.LISTED])].copy()
    assert np.isin(np.flatnonzero(come_close(found, substep.x, scratch.spare)), before).all() and len(before) > 10
    *_, pushed = three_sheets(seed + 100)
    x, start = pushed.x, reach.moved.copy()
    reach.moved[:] += np.linalg.norm(x - substep.x, axis=1)
    scratch.swept[:], scratch.is_out[:], scratch.progress[closeness.SWEEP] = start, reach.moved > scratch.allowed, 1
    listed(BOARD, found, reach, x, scratch)
    after = scratch.close[: int(scratch.progress[closeness.LISTED])]
    close = np.flatnonzero(come_close(found, x, scratch.spare))
    assert len(np.setdiff1d(close, before)) > 10 and (np.diff(after) > 0).all()
    assert np.isin(before, after).all() and np.isin(close, after).all()
