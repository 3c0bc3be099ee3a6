# SPDX-License-Identifier: GPL-3.0-or-later
"""What has passed through other cloth, or itself, is taken apart where a frame ends; counted by ipctk."""

import numpy as np
import pytest
from crossings import count_in
from sheets import GRAVITY, floor, sheet, stone
from taffeta.solver.build import build
from taffeta.solver.model import FrameInput, Settings
from taffeta.solver.step import advance
from taffeta.solver.untangle import untangles
from taffeta.solver.untangle.in_frame import untangle_frame

pytestmark = pytest.mark.once

EDGE = 0.02
WAYS = "VELOCITY_FIELD", "DEPTH_SEQUENCES", "DEPTH_STICKS"


def dented(depth):
    """A sheet 3 mm over another one, with a dent that goes that deep [m] through it."""

    def place(x):
        bump = np.exp(-((x[:, :2] / 0.04) ** 2).sum(axis=1))
        return x + np.stack([0.003 + 0.0 * bump, 0.004 + 0.0 * bump, 0.003 - (0.003 + depth) * bump], axis=1)

    return place


def two_sheets(depth=0.006, **values):
    return build([sheet("Lower", 25, 25, EDGE), sheet("Upper", 25, 25, EDGE, dented(depth), **values)], Settings())


def still(cloth, state, bodies=()):
    return FrameInput(
        1 / 24, np.broadcast_to(state.x + cloth.origin, (2, *state.x.shape)), bodies, np.zeros(3), np.zeros(3)
    )


def test_a_dent_comes_out_and_edges_keep_their_lengths():
    cloth, state = two_sheets()
    before, x = count_in(cloth, state.x), state.x.copy()
    found, left = untangle_frame(cloth, x, ())
    assert before.cloth_cloth > 20 and found > 10 and left == 0
    assert sum(count_in(cloth, x)) == 0
    a, b = cloth.edges[cloth.is_mesh_edge].T
    change = np.linalg.norm(x[a] - x[b], axis=1) / np.linalg.norm(state.x[a] - state.x[b], axis=1)
    assert np.abs(change - 1.0).max() <= 0.1 + 1e-9
    assert np.linalg.norm(x - state.x, axis=1).max() < 0.012, "[m] about as far as it is through"
    again = state.x.copy()
    untangle_frame(cloth, again, ())
    assert again.tobytes() == x.tobytes()


def test_what_does_not_cross_stays_to_the_bit():
    cloth, state = two_sheets(depth=-0.002)
    x = state.x.copy()
    assert untangle_frame(cloth, x, ()) == (0, 0)
    assert x.tobytes() == state.x.tobytes()


def test_what_is_pinned_or_rigid_stays_and_the_other_gives_way():
    cloth, state = two_sheets(pin=1.0)
    x, upper = state.x.copy(), cloth.garment == 1
    assert untangle_frame(cloth, x, ())[1] == 0 and sum(count_in(cloth, x)) == 0
    assert x[upper].tobytes() == state.x[upper].tobytes() and np.abs(x - state.x).max() > 0.002
    ball = stone("Ball", 60, (0.05, 0.05, 0.05), [0.0, 0.0, 0.046])
    cloth, state = build([sheet("Sheet", 25, 25, EDGE), ball], Settings(cloth_contact="VELOCITY_FIELD"))
    x, ball = state.x.copy(), cloth.garment == 1
    assert sum(count_in(cloth, x)) > 0 and untangle_frame(cloth, x, ())[1] == 0
    assert sum(count_in(cloth, x)) == 0 and x[ball].tobytes() == state.x[ball].tobytes()


def test_it_is_not_pressed_into_a_body():
    """The lower sheet lies on a floor that it could give way into."""
    cloth, state = two_sheets()
    body = floor()
    body = body._replace(x=body.x + cloth.origin + [0.0, 0.0, state.x[cloth.garment == 0, 2].min() - 2e-4])
    x = state.x.copy()
    assert untangle_frame(cloth, x, (body,))[1] < 5
    assert count_in(cloth, x, (body,)).cloth_body == 0
    free = state.x.copy()
    untangle_frame(cloth, free, ())
    assert count_in(cloth, free, (body,)).cloth_body > 0, "it would have been"


@pytest.mark.parametrize("way", WAYS)
def test_a_bake_goes_on_from_where_cloth_was_taken_apart(way):
    """None of these ways takes apart what crosses when it begins."""
    left = {}
    for each in (False, True):
        settings = Settings(cloth_contact=way, untangle_each=each, air_drag=0.0)
        cloth, state = build([sheet("Lower", 25, 25, EDGE), sheet("Upper", 25, 25, EDGE, dented(0.006))], settings)
        for frame in range(1, 5):
            report = advance(cloth, state, still(cloth, state), frame, settings)
        left[each] = sum(count_in(cloth, state.x))
    assert left[False] > 10 and left[True] == 0 and report.worst_stretch < 0.1


def test_where_pairs_ease_apart_it_is_not_done():
    assert [untangles(Settings(cloth_contact=way, untangle_each=True)) for way in (*WAYS, "PAIRS", "BOTH")] == [
        *[True] * 3,
        False,
        False,
    ]
    assert not untangles(Settings(cloth_contact="VELOCITY_FIELD"))


def test_a_heap_on_a_floor_stays_untangled():
    """Four sheets that fall on each other and a floor by depth sequences, of which some edges cross in most frames without it.

    With it none does but in single frames: of twelve starts in 1 to 4 of 26, by 59 edges at most.
    """
    crossing = {}
    for each in (False, True):
        settings, found = Settings(cloth_contact="DEPTH_SEQUENCES", untangle_each=each), []
        pile = [
            sheet(str(k), 31, 31, EDGE, place=lambda x, k=k: x + [0.02 * k, 0.013 * k, 0.02 + 0.03 * k])
            for k in range(4)
        ]
        cloth, state = build(pile, settings)
        given = still(cloth, state, (floor(),))._replace(gravity=GRAVITY)
        for frame in range(1, 21):
            advance(cloth, state, given, frame, settings)
            found.append(sum(count_in(cloth, state.x)))
        crossing[each] = np.array(found[4:])
        print(each, found)
    assert crossing[False].max() > 40 and crossing[True].sum() < 0.2 * crossing[False].sum()
    assert (crossing[True] > 0).sum() <= 4
