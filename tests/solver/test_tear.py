# SPDX-License-Identifier: GPL-3.0-or-later
"""Tearing: cloth that was cut beforehand holds up to its strength, tears on from a notch, and passes through nothing."""

import hashlib

import naive
import numba
import numpy as np
import pytest
import sheets
from crossings import count_crossings
from cuts import cut
from taffeta.solver import shot
from taffeta.solver.build import build
from taffeta.solver.cache.frames import open_cache
from taffeta.solver.crossings import find_crossings
from taffeta.solver.geometry.seams import same_places
from taffeta.solver.join import join
from taffeta.solver.kernel import threads
from taffeta.solver.model import TORN, Settings
from taffeta.solver.parts import copied
from taffeta.solver.step import advance
from taffeta.solver.tear import are_open, held_pairs

VACUUM, STIFFNESS = Settings(air_drag=0.0), 2000.0
COLUMNS, ROWS = 13, 5
LENGTH, WIDTH = 0.24, 0.08


def strip(strength, first=0, **changes):
    """A strip along x whose ends are held, cut across its middle."""
    whole = naive.sheet(COLUMNS, ROWS, LENGTH, WIDTH, stretch_stiffness=STIFFNESS, self_collision=True)
    ends = np.abs(whole.x[:, 0] - 0.5 * LENGTH) > 0.49 * LENGTH
    return cut(whole._replace(pin=ends.astype(float)), COLUMNS // 2, ROWS, strength, first, **changes)


def drawn(garment, frame, rate):
    """A frame in which the strip's right end goes on by a part of its length."""
    poses = np.stack([garment.x, garment.x])
    poses[:, garment.x[:, 0] > 0.9 * LENGTH, 0] += rate * LENGTH * np.array([[frame - 1], [frame]])
    return naive.still(poses, gravity=(0, 0, 0))


@pytest.mark.parametrize("strength", [30.0, 60.0])
def test_a_strip_holds_up_to_its_strength_and_then_tears(strength):
    """Tension over width is stiffness times strain: within the two frames in which it passes the strength, by a tenth each."""
    garment = strip(strength)
    cloth, state = build([garment], VACUUM)
    rate, torn = 0.1 * strength / STIFFNESS, []
    for frame in range(1, 14):
        torn.append(advance(cloth, state, drawn(garment, frame, rate), frame, VACUUM).torn)
    assert torn[:10] == [0] * 10 and torn[11:] == [ROWS] * 2
    assert np.abs(state.x[state.x[:, 0] + cloth.origin[0] > 0.6 * LENGTH].mean(axis=0)).max() < 1.0, "and comes to rest"


def test_what_holds_is_the_cloth_that_was_not_cut():
    """The same masses, hinges and springs, and the same fall."""
    one = naive.sheet(COLUMNS, ROWS, LENGTH, WIDTH, bending_stiffness=1e-4)
    pin = (one.x[:, 0] < 0.03).astype(float)
    cloths = []
    for garment in (one._replace(pin=pin), cut(one._replace(pin=pin), COLUMNS // 2, ROWS, 1e6)):
        cloth, state = build([garment], VACUUM)
        for frame in range(1, 9):
            advance(cloth, state, naive.still(garment.x), frame, VACUUM)
        joined, inner, _ = join(cloth, state, naive.still(garment.x))
        cloths.append((cloth if joined is None else joined.cloth, inner.x))
    (whole, x), (held, y) = cloths
    assert len(whole.mass) == len(held.mass) and whole.mass.sum() == pytest.approx(held.mass.sum())
    bent = [
        np.bincount(np.rint(1e4 * c.x_rest[c.bend_stencils[:, 0], 0]).astype(int), c.bend_stiffness) for c, _ in cloths
    ]
    assert np.allclose(*bent, rtol=1e-6)
    near = np.argmin(np.linalg.norm(whole.x_rest[:, None] - held.x_rest, axis=2), axis=1)
    assert np.abs(x - y[near]).max() < 0.02 * np.ptp(x[:, 2]) and np.ptp(x[:, 2]) > 0.05, (
        "the solve stops at a twentieth"
    )


def banner(**changes):
    """A square that hangs by its upper corners, cut from top to bottom in its middle: drawn apart, and then laid over itself."""
    flat = naive.sheet(COLUMNS, COLUMNS, 0.36, 0.36, self_collision=True, bending_stiffness=1e-6)
    x = flat.x[:, [0, 2, 1]] * [1.0, 1.0, -1.0] + [0.0, 0.0, 0.5]
    held = (flat.x[:, 1] < 0.031) & (np.abs(flat.x[:, 0] - 0.18) > 0.08)
    return cut(flat._replace(x=x, x_start=x, pin=held.astype(float)), COLUMNS // 2, COLUMNS, 60.0, **changes)


def over_itself(garment, frame):
    poses = []
    for time in (frame - 1, frame):
        apart, back = 0.004 * min(time, 22), 0.02 * max(time - 22, 0)
        side = np.where(garment.x[:, 0] < 0.1, -apart + back, np.where(garment.x[:, 0] > 0.26, apart, 0.0))
        poses.append(garment.x + side[:, None] * [1.0, 0.0, 0.0])
    return naive.still(np.stack(poses), colliders=[sheets.floor()])


@pytest.fixture(scope="module")
def torn_banner():
    """The banner's cloth and input, and its state and report after each of 30 frames."""
    garment = banner()
    cloth, state = build([garment], Settings())
    kept = []
    for frame in range(1, 31):
        report = advance(cloth, state, over_itself(garment, frame), frame, Settings())
        kept.append((copied(state), report))
    return garment, cloth, kept


def test_a_tear_runs_on_from_its_notch(torn_banner):
    """From the edge that is drawn apart on, one beside the last, within frames, until its halves hang freely."""
    _, cloth, kept = torn_banner
    line = [are_open(cloth.tears, state.broken) for state, _ in kept]
    depth = cloth.x_rest[cloth.tears.joints[:, 0], 2]
    for is_open in line:
        assert not is_open.any() or depth[is_open].min() >= depth[~is_open].max(initial=-1.0), "no gap in it"
    count = [int(is_open.sum()) for is_open in line]
    assert count[0] == 0 and count[-1] > COLUMNS // 2 and max(np.diff(count)) > 1
    assert [report.torn for _, report in kept] == count


def test_nothing_passes_through_anything_while_it_tears(torn_banner):
    _, cloth, kept = torn_banner
    for state, _ in kept:
        first, own = same_places(*held_pairs(cloth, state).T, len(state.x))
        assert sum(count_crossings(state.x, first[own][cloth.triangles], cloth.garment)) == 0
        assert not len(find_crossings(cloth, state.x)[0]), "what holds is not counted as crossing"
    assert sum(report.cloth_contacts for _, report in kept[-8:]) > 20, "the halves lie on each other"
    a, b = cloth.tears.joints.T
    x, v = kept[-1][0].x, kept[-1][0].v
    assert np.linalg.norm(x[a] - x[b], axis=1).max() > 0.02 and np.isfinite(v).all()


def test_a_resumed_bake_has_the_same_bits(torn_banner, tmp_path):
    """Through files: stopped within the tear, and gone on from there by a solver that knows nothing else."""
    garment, cloth, kept = torn_banner
    whole = [next(k for k, (_, report) in enumerate(kept) if report.torn), 9]
    assert 0 < kept[5][1].torn and whole[0] < 6

    def bake(last):
        cloth, state = build([garment], Settings())
        inputs = (over_itself(garment, frame) for frame in range(last + 1))
        with open_cache(tmp_path / "banner.pc2", len(garment.x), 0, 24.0) as cache:
            return state, [report for _, report in shot.run(cloth, state, inputs, range(last + 1), Settings(), [cache])]

    bake(6)
    state, reports = bake(9)
    assert reports[:7] == [None] * 7 and reports[7] is not None
    assert all(np.array_equal(one, other) for one, other in zip(state, kept[8][0], strict=True))


def test_any_number_of_threads_gives_the_same_bits(monkeypatch):
    found = set()
    try:
        for count in (1, 4):
            monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", count)
            threads.send_home()
            garment = banner()
            cloth, state = build([garment], Settings())
            for frame in range(1, 6):
                advance(cloth, state, over_itself(garment, frame), frame, Settings())
            assert (state.broken & sum(TORN)).any()
            found.add(hashlib.sha256(b"".join(array.tobytes() for array in state if array is not None)).hexdigest())
    finally:
        monkeypatch.undo()
        threads.send_home()
    assert len(found) == 1


@pytest.mark.parametrize("piece", [40, 0])
def test_a_small_piece_stays_hanging_unless_it_may_come_off(piece):
    """The half that nothing holds has 35 vertices; its weight alone tears the line."""
    garment = strip(0.01, tear_piece=piece)
    garment = garment._replace(pin=np.where(garment.x[:, 0] > 0.5 * LENGTH, 0.0, garment.pin))
    cloth, state = build([garment], VACUUM)
    for frame in range(1, 7):
        torn = advance(cloth, state, naive.still(garment.x), frame, VACUUM).torn
    assert torn == (ROWS if piece == 0 else ROWS - 1)


def test_fewer_open_at_once_and_a_torn_line_is_weaker_beside():
    garment = strip(60.0, tear_most=1, tear_run_on=1.0)
    cloth, state = build([garment], VACUUM)
    for frame in range(1, 17):
        report = advance(cloth, state, drawn(garment, frame, 0.002), frame, VACUUM)
        if report.torn:
            break
    assert report.torn == ROWS, "ten substeps, and one of each lets one go"
    state.broken[cloth.tears.joints[0, 0]] |= cloth.tears.bit[0]
    for part, torn in ((1.0, 1), (0.3, ROWS)):
        cloth, state = build([strip(60.0, tear_run_on=part)], VACUUM)
        state.broken[cloth.tears.joints[0, 0]] |= cloth.tears.bit[0]
        for frame in range(1, 9):
            report = advance(cloth, state, drawn(garment, frame, 0.002), frame, VACUUM)
        assert report.torn == torn


def test_a_line_that_ends_within_the_cloth_ends_there():
    garment = strip(60.0, first=2)
    cloth, state = build([garment], VACUUM)
    assert len(cloth.tears.joints) == ROWS - 2 and len(cloth.mass) == COLUMNS * ROWS + ROWS - 2
    for frame in range(1, 24):
        report = advance(cloth, state, drawn(garment, frame, 0.003), frame, VACUUM)
    assert report.torn == ROWS - 2 and np.isfinite(state.x).all()


def test_what_crosses_has_joints_between_neighbours():
    """A grid cut along all its edges: each quad has its own corners, four at a place, and all holds."""
    whole = naive.sheet(4, 4, 0.3, 0.3, self_collision=True)
    order = whole.quads.ravel()
    place = np.arange(len(order)).reshape(-1, 4)
    triangles = np.concatenate([place[:, [0, 1, 2]], place[:, [0, 2, 3]]])
    sides = np.concatenate([place[:, [k, (k + 1) % 4]] for k in range(4)])
    garment = naive.garment(
        whole.x[order], triangles, place, sides, pin=(whole.x[order, 0] < 0.01), self_collision=True,
        tear_edges=sides, tear_strength=np.full(len(sides), 200.0), tear_piece=0,
    )  # fmt: skip
    cloth, state = build([garment], VACUUM)
    joined, _, _ = join(cloth, state, naive.still(garment.x))
    assert len(joined.cloth.mass) == len(whole.x) and len(cloth.tears.joints) == 4 * 4 + 8
    assert set(cloth.tears.bit) <= set(TORN)
    for frame in range(1, 4):
        assert advance(cloth, state, naive.still(garment.x), frame, VACUUM).torn == 0
    let_go = naive.still(garment.x)._replace(tear_strength=(0.0,))
    for frame in range(4, 10):
        report = advance(cloth, state, let_go, frame, VACUUM)
    assert report.torn == 24 - _held(cloth), "all but what pins hold on both sides"


def _held(cloth):
    return int((cloth.inv_mass[cloth.tears.joints] == 0.0).all(axis=1).sum())


def test_a_strength_that_is_none_is_told():
    with pytest.raises(ValueError, match="'Sheet': the strength of a tear line is -5 N/m; mark it again, above 0"):
        build([strip(-5.0)], VACUUM)
