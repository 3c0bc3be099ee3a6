# SPDX-License-Identifier: GPL-3.0-or-later
"""Zips: seams that open as a frame says, and close again, and pass through nothing."""

import naive
import numpy as np
import pytest
from crossings import count_crossings
from cuts import cut
from taffeta.solver import shot
from taffeta.solver.build import build
from taffeta.solver.cache.frames import open_cache
from taffeta.solver.doubts import Doubts
from taffeta.solver.geometry.seams import same_places
from taffeta.solver.join import is_welded, join
from taffeta.solver.model import Settings
from taffeta.solver.parts import copied
from taffeta.solver.step import advance
from taffeta.solver.zips import unzip

COLUMNS, ROWS, FIRST = 9, 9, 2
SIDE, FRAMES = 0.24, 36
COUNT = COLUMNS * ROWS


def zipped(**changes):
    """A square that hangs by its upper side, but for its middle, with a zip from there down to two rows above the lower side: it
    opens from the top. Returns that, and the zip's seams in that order."""
    flat = naive.sheet(COLUMNS, ROWS, SIDE, SIDE, self_collision=True, bending_stiffness=1e-6)
    held = (flat.x[:, 1] > 0.99 * SIDE) & (np.abs(flat.x[:, 0] - 0.5 * SIDE) > 0.05)
    x = flat.x[:, [0, 2, 1]] + [0.0, 0.0, 0.5]
    garment = cut(flat._replace(x=x, x_start=x, pin=held.astype(float)), COLUMNS // 2, ROWS, 1.0, FIRST)
    seams = np.stack([COLUMNS // 2 * ROWS + np.arange(FIRST, ROWS), COUNT + np.arange(ROWS - FIRST)], axis=1)[::-1]
    opens = np.arange(1, len(seams) + 1) / len(seams)
    edges = np.concatenate([garment.edges, seams]).astype(np.int32)
    marked = dict(edges=edges, zip_edges=seams, zip_opens=opens, tear_edges=None, tear_strength=None)
    return garment._replace(sewing=True, sewing_speed=1.5, **marked | changes), seams


def given(garment, frame):
    """Open from frame 5 to 12, and closed again from 20 to 28, in a wind that comes from both sides."""
    part = float(np.interp(frame, [4, 12, 20, 28], [0.0, 1.0, 1.0, 0.0]))
    wind = np.array([1.5, 3.0 * np.sin(frame), 0.0])
    return naive.still(garment.x, wind=wind)._replace(zip_open=(part,) if part else None)


@pytest.fixture(scope="module")
def worked():
    """The garment, its zip's seams, its cloth, and the state after each frame."""
    garment, seams = zipped()
    cloth, state = build([garment], Settings())
    kept = [copied(state)]
    for frame in range(1, FRAMES + 1):
        advance(cloth, state, given(garment, frame), frame, Settings())
        kept.append(copied(state))
    return garment, seams, cloth, kept


def gaps(state, seams):
    return np.linalg.norm(state.x[seams[:, 0]] - state.x[seams[:, 1]], axis=1)


def test_a_zip_opens_from_one_end_and_closes_again(worked):
    garment, seams, _, kept = worked
    welded = np.array([is_welded(seams, state) for state in kept])
    open_ = np.array([given(garment, frame).zip_open or (0.0,) for frame in range(FRAMES + 1)])[:, 0]
    assert welded[:5].all(), "what lies on each other at the start is closed"
    for frame in range(5, 20):
        assert (welded[frame] == (garment.zip_opens > open_[frame])).all(), frame
    assert gaps(kept[16], seams)[:-1].min() > 1e-3 and gaps(kept[16], seams).max() > 5e-3, "it gapes"
    assert welded[FRAMES].all() and not welded[21].all()
    nearer = -np.diff([gaps(kept[frame], seams) for frame in range(20, FRAMES + 1)], axis=0)
    assert nearer.max() < 1.2 * garment.sewing_speed / 24.0, "and is drawn together at its speed, and never jumps"
    assert [welded[frame].sum() for frame in range(20, FRAMES)] == sorted(
        welded[frame].sum() for frame in range(20, FRAMES)
    )


def test_nothing_crosses_while_it_opens_and_closes(worked):
    _, seams, cloth, kept = worked
    for frame, state in enumerate(kept):
        first, own = same_places(*seams[is_welded(seams, state)].T, len(state.x))
        assert sum(count_crossings(state.x, first[own][cloth.triangles], cloth.garment)) == 0, frame


def test_closed_it_is_cloth_that_was_not_cut():
    """The same masses and hinges; and a garment whose zip is never opened has the frames of one with a seam."""
    garment, _ = zipped()
    whole = naive.sheet(COLUMNS, ROWS, SIDE, SIDE, self_collision=True)
    cloth, state = build([garment._replace(seam_bending=1.0)], Settings())
    joined = join(cloth, state, naive.still(garment.x))[0].cloth
    plain, _ = build([whole], Settings())
    assert len(joined.mass) == COUNT and joined.mass.sum() == pytest.approx(plain.mass.sum())
    assert len(joined.bend_stencils) >= len(plain.bend_stencils) - COLUMNS, "but for those that pins hold"
    found = []
    for each in (garment, garment._replace(zip_edges=None, zip_opens=None)):
        cloth, state = build([each], Settings())
        for frame in range(1, 4):
            advance(cloth, state, given(each, frame), frame, Settings())
        found.append(state)
    assert all(np.array_equal(one, other) for one, other in zip(*found, strict=True))


@pytest.mark.parametrize("stopped", [8, 24])
def test_a_resumed_bake_has_the_same_bits(worked, tmp_path, stopped):
    """Stopped while it opens and while it closes, and gone on from there by a solver that knows nothing but the files."""
    garment, _, _, kept = worked

    def bake(last):
        cloth, state = build([garment], Settings())
        inputs = (given(garment, frame) for frame in range(last + 1))
        with open_cache(tmp_path / "zip.pc2", len(garment.x), 0, 24.0) as cache:
            return state, [report for _, report in shot.run(cloth, state, inputs, range(last + 1), Settings(), [cache])]

    bake(stopped)
    state, reports = bake(stopped + 3)
    assert reports[: stopped + 1] == [None] * (stopped + 1) and reports[stopped + 1] is not None
    assert all(np.array_equal(one, other) for one, other in zip(state, kept[stopped + 3], strict=True))


def test_an_open_zip_is_no_gap_and_one_that_should_be_closed_is(worked):
    garment, seams, cloth, kept = worked
    for zip_open, wanted in (((1.0,), 0.0), (None, gaps(kept[16], seams).max())):
        doubts = Doubts(["Sheet"], [garment])
        doubts.look_closer(cloth, kept[16].x, (), 16, zip_open)
        assert doubts.gaps[0] == pytest.approx(wanted)


def test_pins_on_one_side_hold_it_and_the_other_goes():
    garment, seams = zipped()
    pin = garment.pin.copy()
    pin[seams[:, 0]] = 1.0
    cloth, state = build([garment._replace(pin=pin)], Settings())
    for frame in range(1, 9):
        advance(cloth, state, naive.still(garment.x)._replace(zip_open=(0.5,)), frame, Settings())
    is_open = garment.zip_opens <= 0.5
    assert (gaps(state, seams) > 0.0).tolist() == is_open.tolist()
    assert np.abs(state.x[seams[:, 0]] + cloth.origin - garment.x[seams[:, 0]]).max() < 1e-9


@pytest.mark.parametrize("value", [0.0, np.nan])
def test_a_zip_that_opens_nowhere_is_told(value):
    garment, seams = zipped()
    with pytest.raises(ValueError, match=f"'Sheet': a zip opens at {value:g}; mark it again"):
        build([garment._replace(zip_opens=np.full(len(seams), value))], Settings())


def test_open_rims_that_hang_still_are_kept_a_thickness_apart():
    """At rest they lie on each other: taken for neighbours, contact would let them."""
    garment, seams = zipped()
    cloth, state = build([garment], Settings())
    for frame in range(1, 6):
        advance(cloth, state, naive.still(garment.x)._replace(zip_open=(1.0,)), frame, Settings())
    assert gaps(state, seams).min() > 0.75 * garment.thickness[0]


def test_what_would_cross_by_opening_stays_closed():
    """Crumpled, with a lining a hair below: stitches whose sides would go through it wait, and the others open."""
    garment, seams = zipped()
    lining = naive.sheet(COLUMNS, ROWS, SIDE, SIDE)
    below = lining.x[:, [0, 2, 1]] + [0.0, 0.0, 0.5]
    bumps = 0.003 * np.random.default_rng(2).standard_normal(COUNT)
    at = garment.x + np.outer(np.concatenate([bumps, bumps[seams[::-1, 0]]]), [0, 1, 0])
    low = lining._replace(name="Lining", x=below, x_start=below + np.outer(bumps - 1e-5, [0, 1, 0]))
    cloth, state = build([garment._replace(x_start=at), low], Settings())
    unzip(cloth, state, (1.0, 0.0))
    closed = is_welded(seams, state)
    first, own = same_places(*seams[closed].T, len(state.x))
    assert sum(count_crossings(state.x, first[own][cloth.triangles], cloth.garment)) == 0
    assert 0 < closed.sum() < len(seams)


def test_what_an_open_zip_has_let_go_falls_as_alone():
    """A zip over the whole height, open from the first frame on, one half pinned along its side. The other falls by Euler's
    g t (t + dt) / 2: it was 442 mm off in a second, when an open zip still made both one piece.
    """
    flat, settings, middle = naive.sheet(COLUMNS, ROWS, SIDE, SIDE), Settings(air_drag=0.0), COLUMNS // 2 * ROWS
    garment = cut(flat, COLUMNS // 2, ROWS, 1.0)
    seams = np.stack([middle + np.arange(ROWS), COUNT + np.arange(ROWS)], axis=1)
    pins, edges = np.zeros(len(garment.x)), np.concatenate([garment.edges, seams]).astype(np.int32)
    pins[:ROWS] = 1.0
    zips = dict(edges=edges, zip_edges=seams, zip_opens=np.full(ROWS, 0.5), tear_edges=None, tear_strength=None)
    cloth, state = build([garment._replace(**zips, sewing=True, pin=pins)], settings)
    let_go = np.arange(len(pins)) >= middle + ROWS
    state.v[let_go, 2] += 1.0
    share = np.where(let_go, cloth.mass, 0.0) / cloth.mass[let_go].sum()
    centre, still = share @ state.x, naive.still(garment.x)._replace(zip_open=(1.0,))
    for frame in range(1, 13):
        advance(cloth, state, still, frame, settings)
    assert share @ state.v == pytest.approx([0.0, 0.0, 1.0 - 9.81 * 0.5], abs=1e-6)
    assert share @ state.x - centre == pytest.approx([0.0, 0.0, 0.5 - 0.5 * 9.81 * 0.5 * (0.5 + 1 / 240)], abs=5e-3)
