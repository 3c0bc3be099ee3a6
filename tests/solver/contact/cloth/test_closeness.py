# SPDX-License-Identifier: GPL-3.0-or-later
"""Which pairs of cloth a sweep has to look at: whoever goes by the pairs of the few particles that are out finds what a look at
all pairs finds.
"""

import numpy as np
import pytest
from sheets import GRAVITY, NO_TANGLES, sheet
from taffeta.solver.build import build
from taffeta.solver.contact.cloth import closeness, pairs
from taffeta.solver.contact.cloth.reach import Reach
from taffeta.solver.model import FrameInput, Settings
from taffeta.solver.step import advance

DT, MARGIN = 1 / 240, 1e-3


def layers():
    """Three sheets, each a contact distance above the one below."""
    placed = [sheet(f"Layer {k}", 24, 24, 0.01, lambda x, k=k: x + [0.001 * k, 0.002 * k, 0.002 * k]) for k in range(3)]
    return build(placed, Settings())


@pytest.mark.parametrize("seed", range(4))
def test_few_that_are_out_lead_to_the_same_pairs(seed):
    chosen = np.random.default_rng(seed)
    cloth, state = layers()
    found = pairs.detect(cloth, state.x, state.v, DT, Settings(), NO_TANGLES).pair_list
    count, size = len(found.gap), len(state.x)
    before, x = state.x.copy(), state.x.copy()
    pushed = chosen.choice(size, 12, replace=False)
    x[pushed] += chosen.normal(0.0, 4e-4, (12, 3))
    listed = []
    for few in (0, closeness.LOOKS_IF_FEW):
        reach = Reach(before, before, np.zeros(size), np.arange(count, dtype=np.int32), found.gap - 1e-4)
        scratch = closeness.make_scratch(reach, 8)
        first = closeness.list_close(closeness.NONE_LISTED, found, reach, MARGIN, before, scratch)
        reach.moved[pushed] += np.linalg.norm(x - before, axis=1)[pushed]
        scratch.is_out[:], scratch.progress[closeness.SWEEP] = False, 1
        scratch.is_out[pushed] = True
        scratch.swept[pushed] -= 1e-3
        then = closeness.list_close(first._replace(few=few), found, reach, MARGIN, x, scratch)
        assert (then.links is closeness.NO_LINKS) == (few == 0)
        listed.append((scratch.close[: then.count].copy(), reach.bound, then.count - first.count))
    (close, bound, more), (same, same_bound, _) = listed
    assert more > 0, "nothing new is close"
    np.testing.assert_array_equal(close, same)
    np.testing.assert_array_equal(bound, same_bound)


def test_layers_go_the_same_ways(monkeypatch):
    """Bit for bit, whether particles have links or not."""
    ends = []
    for looks in (0, 10**6):
        monkeypatch.setattr(closeness, "LOOKS_IF_FEW", looks)
        monkeypatch.setattr(closeness, "FEW_OUT", 1.0)
        cloth, state = layers()
        state.v[:576] += [0.0, 0.0, 0.5]  # the lowest comes up from below
        given = FrameInput(1 / 24, (state.x + cloth.origin)[None].repeat(2, 0), (), GRAVITY, np.zeros(3))
        for frame in range(1, 4):
            advance(cloth, state, given, frame, Settings())
        ends.append(state.x.copy())
    np.testing.assert_array_equal(*ends)
