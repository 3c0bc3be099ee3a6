# SPDX-License-Identifier: GPL-3.0-or-later
"""Which pairs of cloth a sweep has to look at: whoever goes by the pairs of the few particles that are out finds what a look at
all pairs finds.
"""

import numpy as np
import pytest
from sheets import NO_TANGLES, sheet
from taffeta.solver.build import build
from taffeta.solver.contact.cloth import closeness, pairs
from taffeta.solver.contact.cloth.reach import Reach
from taffeta.solver.contact.cloth.response import NO_BRACE, RESPONSE_SWEEPS, Substep, separate_kernel
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


@pytest.mark.parametrize("seed", range(4))
def test_few_that_are_out_lead_to_the_same_pairs(seed):
    """Bit for bit, whether particles have links or not."""
    answers = []
    for looks in (-(10**6), closeness.LOOKS_IF_FEW):
        found, reach, substep = three_sheets(seed)
        scratch = closeness.make_scratch(reach, RESPONSE_SWEEPS)
        scratch.progress[closeness.LOOKS] = looks
        separate_kernel(BOARD, found, reach, MARGIN, substep, scratch)
        few = scratch.progress[closeness.LOOKS] - looks
        count = int(scratch.progress[closeness.LISTED])
        answers.append((scratch.close[:count].copy(), reach.bound, reach.moved, substep.x, substep.x_from))
        assert few > 0 and scratch.progress[closeness.FIRST_TOUCHED] > 10
    for one, other in zip(*answers, strict=True):
        np.testing.assert_array_equal(one, other)
