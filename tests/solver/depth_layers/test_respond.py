# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth on cloth by depth: the worked examples of Bargmann (2003, chapter 5), and sheets that meet, slide, lie and stay."""

import numpy as np
import pytest
from crossings import count_in
from sheets import GRAVITY, floor, folded, sheet
from taffeta.solver.build import build
from taffeta.solver.depth_layers import respond, sequence
from taffeta.solver.kernel.jit import njit
from taffeta.solver.model import FrameInput, Settings
from taffeta.solver.step import advance

pytestmark = pytest.mark.once

DT = 1 / 240
DEPTHS = "DEPTH_SEQUENCES", "DEPTH_STICKS"
NAMES = np.array([5, 4, 7, 1, 9, 8, 2, 3])  # of the triangles of the thesis' sequence
NOW = [0.1, 0.2, 0.5, 1.2, 1.8, 2.1, 2.2, 2.8]
OLD = [0.1, 0.4, 0.3, 1.2, 1.8, 2.1, 2.2, 1.9]
V = [0.5, -0.3, 0.7, -0.1, -0.2, 0.4, 0.2, 0.0]


@njit
def _recall(s, count):
    sequence.recall(s, count)


@njit
def _separate(s, count, bounce):
    s.bounce[:] = bounce
    sequence.separate(s, count, bounce > 0.0)


@njit
def _space(s, count):
    sequence.space(s, count)


@njit
def _keep_open(s, count):
    sequence.keep_open(s, count, False)


@njit
def _avoid(s, count, bounce):
    s.bounce[:] = bounce
    sequence.avoid(s, count, bounce > 0.0)


@njit
def _settle(s, count, bounce):
    sequence.recall(s, count)
    s.bounce[:] = bounce
    sequence.settle(s, count, bounce > 0.0)


def layers(now, v=0.0, mass=1.0, least=0.0):
    """A sequence of layers in the order that they have now."""
    count = len(now)
    s = sequence.make_sequence(count)
    s.now[:count], s.v[:count], s.mass[:count], s.least[:] = now, v, mass, least
    s.depth[:count], s.go[:count], s.swap[:count] = now, v, np.arange(count)
    return s, count


def test_what_changed_places_is_found_as_printed():
    """5.2.1: the order a step ago, and the groups that changed places."""
    s, count = layers(NOW, np.subtract(NOW, OLD))
    _recall(s, count)
    assert NAMES[s.swap[:count]].tolist() == [5, 7, 4, 1, 9, 3, 8, 2]
    assert s.group[:count].tolist() == [0, 1, 1, 2, 3, 4, 4, 4]


def test_groups_go_back_to_their_first_collision_and_on_with_one_velocity():
    """5.2.2 for the same sequence: 4 and 7 meet after a quarter of the step, 3 and 8 after 2 / 9; see the module for
    what comes then."""
    s, count = layers(NOW, np.subtract(NOW, OLD))
    _recall(s, count)
    _separate(s, count, 0.0)
    assert s.depth[1:3] == pytest.approx([0.35, 0.35])
    assert s.go[1:3] == pytest.approx([0.0, 0.0])
    assert s.depth[5:8] == pytest.approx(np.array([2.1, 2.1, 2.2]) + 7 / 9 * 0.3)
    assert s.go[5:8] == pytest.approx([0.3, 0.3, 0.3])
    others = [0, 3, 4]
    assert np.array_equal(s.depth[others], np.array(NOW)[others]) and not s.go[others].any()


def test_first_collision_looks_the_same_from_a_moving_train():
    """What everything does besides makes no difference, nor does it which way is up."""
    for speed, mirror in ((3.0, 1.0), (0.0, -1.0)):
        s, count = layers(NOW, np.subtract(NOW, OLD))
        order = slice(None, None, int(mirror))
        moved, _ = layers(np.array(NOW)[order] * mirror + speed, (np.subtract(NOW, OLD)[order] * mirror) + speed)
        for each in (s, moved):
            _recall(each, count)
            _separate(each, count, 0.0)
        assert moved.depth[:count] == pytest.approx(s.depth[:count][order] * mirror + speed)
        assert moved.go[:count] == pytest.approx(s.go[:count][order] * mirror + speed)


def test_what_will_change_places_is_found_as_printed():
    """5.3.1: the future depths and order, and its groups, each with its mean velocity afterwards."""
    s, count = layers(NOW, V)
    _avoid(s, count, 0.0)
    assert s.future[:count] == pytest.approx([0.6, -0.1, 1.2, 1.1, 1.6, 2.5, 2.4, 2.8])
    assert NAMES[s.swapped[:count]].tolist() == [4, 5, 1, 7, 9, 2, 8, 3]
    assert s.group[:count].tolist() == [0, 0, 1, 1, 2, 3, 3, 4]
    assert s.go[:count] == pytest.approx([0.1, 0.1, 0.3, 0.3, -0.2, 0.3, 0.3, 0.0])


def test_the_four_triangles_of_section_5_6():
    """A, B, C, D: B and C have changed places; spaced, B would then pass C and D: figure 5.8."""
    s, count = layers([0.0, 1.0, 1.2, 2.0], [0.0, -0.5, 0.3, -1.5])
    _recall(s, count)
    assert s.swap[:count].tolist() == [0, 2, 1, 3] and s.group[:count].tolist() == [0, 1, 1, 2]
    s.swap[:count], s.depth[:count], s.go[:count] = [0, 2, 1, 3], [0.0, 1.0, 1.2, 2.0], [0.0, 0.2, 0.4, -1.2]
    _avoid(s, count, 0.0)
    assert s.swapped[:count].tolist() == [0, 3, 1, 2]  # A, D, C, B
    assert s.group[:count].tolist() == [0, 1, 1, 1]
    assert s.go[:count] == pytest.approx([0.0, -0.2, -0.2, -0.2])


def test_two_velocities_are_reflected_as_printed():
    """5.4.2: v' = v - (1 + tau) (v - v2) / 2; heavier ones change less, and momentum stays."""
    for bounce in (0.0, 0.4, 1.0):
        s, count = layers([0.0, 0.1], [1.0, -0.6])
        _avoid(s, count, bounce)
        assert s.go[:2] == pytest.approx([1.0 - 0.8 * (1 + bounce), -0.6 + 0.8 * (1 + bounce)])
        s, count = layers([0.0, 0.1], [1.0, -0.6], [3.0, 1.0])
        _avoid(s, count, bounce)
        assert 3.0 * s.go[0] + s.go[1] == pytest.approx(3.0 - 0.6)


def test_gaps_are_spaced_as_printed():
    """5.4.1: [3, 1, 3, 1, 1, 4, 2] for a distance of 2."""
    s, count = layers(np.cumsum([0.0, 3, 1, 3, 1, 1, 4, 2]), least=2.0)
    _space(s, count)
    assert np.diff(s.depth[:count]) == pytest.approx([2.25, 2, 2, 2, 2, 2.75, 2])
    assert s.depth[0] == 0.0 and np.flatnonzero(s.wide[:count]).tolist() == [2, 3, 4, 5]


def test_gaps_find_room_beyond_the_ends_and_leave_neighbours_alone():
    """5.4.1, last paragraph; figure 5.5, what is held stays; figure 5.7 C, gaps of neighbours stay."""
    s, count = layers([0.0, 0.5, 1.0], least=2.0)
    _space(s, count)
    assert np.diff(s.depth[:count]) == pytest.approx([2.0, 2.0]) and s.depth[:count].mean() == pytest.approx(0.5)
    s, count = layers([0.0, 0.5, 1.0], mass=[1e9, 1.0, 1.0], least=2.0)
    _space(s, count)
    assert s.depth[:count] == pytest.approx([0.0, 2.0, 4.0], abs=1e-6)
    s, count = layers([0.0, 0.5, 1.0], least=2.0)
    s.locked[1] = True
    _space(s, count)
    assert np.diff(s.depth[:count]) == pytest.approx([0.5, 2.0])


def test_a_whole_step_leaves_layers_in_order_apart_and_calm():
    """Algorithm 5.6.2 for sequences by chance: order of a step ago, gaps, momentum, energy."""
    rng = np.random.default_rng(1)
    crossed = 0
    for _ in range(300):
        count = int(rng.integers(2, 9))
        now, v = np.sort(rng.normal(size=count)), rng.normal(size=count)
        s, _ = layers(now, v, rng.uniform(0.5, 2.0, count), 0.05)
        _settle(s, count, 0.0)
        who = s.swap[:count]
        crossed += (who != np.arange(count)).any()
        assert who.tolist() == np.argsort(now - v, kind="stable").tolist()
        assert np.diff(s.depth[:count]).min() > 0.04
        assert (s.mass[who] * s.go[:count]).sum() == pytest.approx((s.mass[:count] * v).sum())
        assert (s.mass[who] * s.go[:count] ** 2).sum() <= (s.mass[:count] * v**2).sum() + 1e-12
    assert crossed > 150


def test_what_was_spaced_loses_its_approach_alone():
    """The velocities nearest to those before in which no widened gap closes; layers that part keep theirs."""
    rng = np.random.default_rng(2)
    for _ in range(200):
        count = int(rng.integers(2, 9))
        s, _ = layers(np.arange(count), rng.normal(size=count), rng.uniform(0.5, 2.0, count))
        s.wide[:count] = rng.random(count) < 0.7
        before = s.go[:count].copy()
        _keep_open(s, count)
        go, mass = s.go[:count], s.mass[:count]
        held = s.wide[1:count]
        assert np.diff(go)[held].min(initial=0.0) > -1e-12
        through = np.cumsum(mass * (before - go))  # the impulse in each gap pushes, and only where nothing parts
        assert through[:-1].min() > -1e-12 and abs(through[-1]) < 1e-12
        parts = ~held | (np.diff(go) > 1e-9)
        assert np.abs(through[:-1][parts]).max(initial=0.0) < 1e-12


def two(gap=0.01, lean=0.0, **values):
    """Two sheets over each other, turned about y by `lean`; cloth, state and the lower one's particles."""
    c, s = np.cos(lean), np.sin(lean)
    turn = np.array([[c, 0, -s], [0, 1, 0], [s, 0, c]])
    sheets = [
        sheet(name, 14, 14, 0.02, place=lambda x, h=h: (x + [0.004 * h / gap, 0.003, h]) @ turn.T, **values)
        for name, h in (("Lower", 0.0), ("Upper", gap))
    ]
    cloth, state = build(sheets, Settings())
    return cloth, state, cloth.garment == 0, turn @ [0.0, 0.0, 1.0]


def once(cloth, state, motion, contact, gravity=GRAVITY):
    """One response to a motion (n, 3) [m]: positions and the motion after it."""
    given = FrameInput(1 / 24, np.zeros((2, 0, 3)), (), gravity, np.zeros(3))
    depths = respond.prepare(cloth, given, Settings(cloth_contact=contact))
    x, x_from = state.x + motion, state.x.copy()
    count = depths.respond(cloth, x, x_from, 1.0, DT)
    return x, x - x_from, count


@pytest.mark.parametrize("contact", DEPTHS)
def test_a_sheet_that_went_through_another_is_put_back(contact):
    """Also where both lean, and as they fall together; what is under the hem stays free."""
    for lean in (0.0, 0.5):
        for fall in (0.0, -0.03):
            cloth, state, lower, normal = two(lean=lean)
            motion = np.where(lower[:, None], 0.012, -0.012) * normal + [0.0, 0.0, fall]
            x, go, count = once(cloth, state, motion, contact)
            assert count > 300
            apart = (x - x[lower].mean(axis=0)) @ normal
            assert np.median(apart[~lower]) > np.median(apart[lower])
            inner = np.abs(cloth.x_rest[:, :2] - cloth.x_rest[lower, :2].mean(axis=0)).max(axis=1) < 0.1
            assert apart[~lower & inner].min() > apart[lower & inner].max() - 1e-4
            assert np.abs((go - [0.0, 0.0, fall])[inner] @ normal).max() < 0.0041


@pytest.mark.parametrize("contact, slide", [("DEPTH_SEQUENCES", 0.001), ("DEPTH_STICKS", 0.01)])
def test_sheets_that_part_or_slide_aslant_are_left_alone(contact, slide):
    """Down a slope faster than its gap, a layer seems to change places to depths of what moves (5.1), to sides it does not."""
    cloth, state, lower, normal = two(gap=0.004, lean=0.6)
    along = np.cross([0.0, 1.0, 0.0], normal)
    for way in (0.01 * normal, slide * along):
        motion = np.where(lower[:, None], -way, way)
        _, go, count = once(cloth, state, motion, contact)
        assert count == 0 and np.abs(go - motion).max() < 1e-15


@pytest.mark.parametrize("contact", DEPTHS)
def test_friction_is_coulombs(contact):
    """Pressed together by p, the sliding loses 2 mu p in both together, within a fifth, until nothing slides."""
    press, slide = 0.0004, 0.001
    for friction in (0.0, 0.2, 2.0):
        cloth, state, lower, normal = two(gap=0.002, friction=friction)
        side = np.where(lower, 1.0, -1.0)
        _, go, _ = once(cloth, state, np.outer(side, [slide, 0.0, press]), contact)
        inner = np.abs(cloth.x_rest[:, :2] - cloth.x_rest[lower, :2].mean(axis=0)).max(axis=1) < 0.1
        left = np.median(go[inner & lower, 0]) - np.median(go[inner & ~lower, 0])
        loss = min(2.0 * friction * press, 2.0 * slide)
        assert left == pytest.approx(2.0 * slide - loss, abs=0.2 * loss + 2e-5)
        assert np.abs(np.median(go[inner & lower, 2])) < 2e-5


def test_sticks_keep_momentum():
    """What they change, of heavy and light sheets that fall through each other at all angles."""
    cloth, state, lower, _ = two(gap=0.003)
    rng = np.random.default_rng(3)
    motion = np.where(lower[:, None], 0.004, -0.004) * [0.3, -0.2, 1.0] + 0.001 * rng.normal(size=state.x.shape)
    uneven = cloth._replace(inv_mass=cloth.inv_mass * rng.uniform(0.2, 2.0, len(cloth.inv_mass)))
    _, go, count = once(uneven, state, motion, "DEPTH_STICKS")
    mass = 1.0 / uneven.inv_mass[:, None]
    changed = np.abs(mass * (go - motion)).sum()
    assert count > 200 and np.abs((mass * (go - motion)).sum(axis=0)).max() < 1e-12 * changed


@pytest.mark.parametrize("contact", DEPTHS)
def test_who_does_not_meet_is_let_through(contact):
    cloth, state, lower, _ = two()
    motion = np.where(lower[:, None], 0.012, -0.012) * [0.0, 0.0, 1.0]
    none = cloth._replace(meets=np.eye(2, dtype=bool))
    _, go, count = once(none, state, motion, contact)
    assert count == 0 and np.abs(go - motion).max() < 1e-15
    given = FrameInput(1 / 24, np.zeros((2, 0, 3)), (), GRAVITY, np.zeros(3))
    nobody = cloth._replace(meets=np.zeros((2, 2), bool))
    assert respond.prepare(nobody, given, Settings(cloth_contact=contact)) is None


def settled(garments, contact, frames, **changes):
    """Positions (frames, n, 3) [m] of garments that fall on the floor, and the crossings at the end."""
    settings = Settings(cloth_contact=contact, **changes)
    cloth, state = build(garments, settings)
    given = FrameInput(1 / 24, (state.x + cloth.origin)[None].repeat(2, 0), (floor(),), GRAVITY, np.zeros(3))
    trail = []
    for frame in range(1, frames + 1):
        advance(cloth, state, given, frame, settings)
        trail.append(state.x.copy())
    return np.array(trail), count_in(cloth, state.x, (floor(),))


def test_a_folded_sheet_on_the_floor_comes_to_rest_and_stays():
    """The thesis' trembled, and unfolded (5.7.1, 5.7.2). Sticks alone: sequences still tremble where a fold is round. With 10
    substeps layers go through each other at six of seven stiffnesses from 1e-7 to 5e-7 N m, with 20 at none.
    """
    garment = sheet("A", 28, 12, 0.0125, place=folded, bending_stiffness=2.5e-7)
    trail, crossings = settled([garment], "DEPTH_STICKS", 60, substeps=20)
    moved = np.linalg.norm(np.diff(trail, axis=0), axis=2)
    assert np.ptp(trail[-1][:, 0]) < 0.2, "it has unfolded"
    assert crossings.cloth_self == 0 and crossings.cloth_body == 0
    assert moved[-12:].mean() < 5e-5, "it trembles"
    assert np.linalg.norm(trail[-1] - trail[-24], axis=1).max() < 1e-3, "it creeps"


@pytest.mark.parametrize("substeps", [10, 20])
def test_a_fold_of_limp_cloth_holds_by_sticks_with_20_substeps(substeps):
    """Of edges of 6 mm and 2e-7 N m. In two starts nothing crosses in any frame counted; with 10 substeps 150 to 5,000 do in the end, in four."""
    settings = Settings(cloth_contact="DEPTH_STICKS", guard_bodies=False, substeps=substeps)
    cloth, state = build([sheet("A", 55, 23, 0.00625, place=folded, bending_stiffness=2e-7)], settings)
    given = FrameInput(1 / 24, (state.x + cloth.origin)[None].repeat(2, 0), (floor(),), GRAVITY, np.zeros(3))
    found = []
    for frame in range(1, 37):
        advance(cloth, state, given, frame, settings)
        if frame % 6 == 0:
            found.append(sum(count_in(cloth, state.x, (floor(),))))
    assert (max(found) == 0) == (substeps == 20)


def test_a_strip_that_crumples_holds_by_sticks_with_80_substeps():
    """In two starts 0 to 5 edges cross in the frames counted; with 20 substeps 580 and 940 in the end."""

    def upright(x):
        return np.stack([0.002 * np.sin(40.0 * x[:, 0]), x[:, 1], x[:, 0] - x[:, 0].min() + 0.02], axis=1)

    settings = Settings(cloth_contact="DEPTH_STICKS", guard_bodies=False, substeps=80)
    cloth, state = build([sheet("Strip", 61, 15, 0.01, place=upright, bending_stiffness=1e-6)], settings)
    given = FrameInput(1 / 24, (state.x + cloth.origin)[None].repeat(2, 0), (floor(),), GRAVITY, np.zeros(3))
    for frame in range(1, 37):
        advance(cloth, state, given, frame, settings)
        if frame % 12 == 0:
            assert sum(count_in(cloth, state.x, (floor(),))) <= 10
    assert state.x[:, 2].max() + cloth.origin[2] < 0.3, "[m] it has come down"


@pytest.mark.parametrize("contact", DEPTHS)
def test_a_pile_of_sheets_comes_to_rest_and_stays(contact):
    pile = [
        sheet(str(k), 14, 14, 0.02, place=lambda x, k=k: x + [0.015 * k, 0.01 * k, 0.01 + 0.01 * k]) for k in range(3)
    ]
    trail, crossings = settled(pile, contact, 30)
    moved = np.linalg.norm(np.diff(trail, axis=0), axis=2)
    assert moved[-8:].mean() < 2e-4, "it trembles"
    assert np.diff([trail[-1][k * 196 : (k + 1) * 196, 2].mean() for k in range(3)]).min() > 1e-3, "layers sank in"
