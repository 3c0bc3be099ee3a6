# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth that lies on cloth: which pairs become rows of the solve, and that a load goes down through a stack."""

import naive
import numpy as np
import pytest
from crossings import count_in
from sheets import sheet
from taffeta.solver.build import build
from taffeta.solver.contact.cloth import pairs as contact
from taffeta.solver.contact.cloth.constraints import FIRMNESS, ROW_LEVER, find_stack, let_go
from taffeta.solver.model import Collider, Settings
from taffeta.solver.step import advance

pytestmark = pytest.mark.once

DT = 1 / 240


def layers(count, thickness=0.003, **changes):
    """Sheets of 20 cm, one over the other, a hair apart."""
    garments = []
    for layer in range(count):
        garment = naive.sheet(9, 9, 0.2, 0.2, thickness=thickness, friction=0.5, name=str(layer), **changes)
        shift = [0.003 * layer, 0.002 * layer, 1.05 * thickness * (layer + 1)]
        garments.append(garment._replace(x_start=garment.x + shift))
    return garments


def floor():
    corners = np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]], float)
    triangles = np.array([[0, 1, 2], [0, 2, 3]], np.int32)
    return Collider("Floor", corners[None].repeat(2, axis=0), triangles, 0.5, 0.0, 0.002)


@pytest.mark.parametrize(("apart", "speed", "rows"), [(1.0, 0.0, True), (1.5, 0.0, False), (1.5, 0.5, True), (1.5, -0.5, False)])  # fmt: skip
def test_rows_are_of_pairs_that_touch_or_will(apart, speed, rows):
    """Two sheets at so many contact distances that close in at so much [m/s]."""
    cloth, state = build(layers(2), Settings())
    half = cloth.garment == 1
    state.x[half, 2] = state.x[~half, 2].mean() + apart * 0.003
    state.v[half, 2] = -speed
    pairs = contact.detect(cloth, state.x, state.v, DT, Settings())
    stack = find_stack(pairs, state.x, state.v, cloth.inv_mass, DT)
    assert (len(stack.pair) > 0) == rows
    if rows:
        assert np.allclose(stack.weight.sum(axis=1), 0) and (stack.row[:, 3] == 0).all()
        mass = (stack.weight**2 * cloth.inv_mass[stack.stencils]).sum(axis=1)
        stiffness = (stack.row**2).sum(axis=1)
        assert np.allclose(stiffness, FIRMNESS / mass / DT**2)
        left = stack.room / np.sqrt(stiffness)  # more where a pair is not straight above another
        assert left.min() == pytest.approx((apart - 1.0) * 0.003, abs=1e-9)


def two_that_touch():
    """Two sheets a contact distance apart: cloth, state, which particles are the upper one's, pairs."""
    cloth, state = build(layers(2), Settings())
    half = cloth.garment == 1
    state.x[half, 2] = state.x[~half, 2].mean() + 0.003
    return cloth, state, half, contact.detect(cloth, state.x, state.v, DT, Settings())


def test_what_went_apart_is_let_go_for_a_substep():
    cloth, state, half, pairs = two_that_touch()
    stack = find_stack(pairs, state.x, state.v, cloth.inv_mass, DT)
    moved = state.x.copy()
    moved[half & (state.x[:, 0] > state.x[half, 0].mean()), 2] += 1e-4
    let_go(pairs.pair_list, stack, moved, state.x)
    assert 0 < pairs.pair_list.pulled.sum() < len(stack.pair)
    again = find_stack(pairs, state.x, state.v, cloth.inv_mass, DT)
    assert len(again.pair) == len(stack.pair) - len(set(stack.pair) - set(again.pair)) < len(stack.pair)
    assert len(find_stack(pairs, state.x, state.v, cloth.inv_mass, DT).pair) == len(stack.pair)


def test_what_is_alone_among_pinned_particles_is_not_thrown_by_its_row():
    """By rows that ask for 1 m each, of a particle that alone is free: M d = w h (h - h w d), with its weight w from 0.04 to 1."""
    cloth, state, half, pairs = two_that_touch()
    whole = find_stack(pairs, state.x, state.v, cloth.inv_mass, DT)
    weight = np.where(np.abs(whole.weight) > 1e-9, np.abs(whole.weight), np.inf)
    row, corner = np.unravel_index(weight.argmin(), weight.shape)
    assert weight[row, corner] < 0.05
    alone = np.where(np.arange(len(half)) == whole.stencils[row, corner], cloth.inv_mass, 0.0)
    stack = find_stack(pairs, state.x, state.v, alone, DT)
    share, stiffness = np.abs(stack.weight), (stack.row**2).sum(axis=1)
    own = (share * (alone[stack.stencils] > 0.0)).sum(axis=1)
    give = alone.max() * DT**2 * stiffness * own
    assert own.min() < 0.05 and own.max() > 0.5
    assert (give / (1.0 + give * own)).max() <= ROW_LEVER + 1e-9


def test_a_heavy_sheet_on_light_ones():
    """Twice as heavy as the three below: nothing crosses, the pile keeps its height and comes to rest."""
    garments = layers(4)
    garments[3] = garments[3]._replace(mass=2 * garments[3].mass)
    cloth, state = build(garments, Settings())
    speeds = []
    for frame in range(48):
        before = state.x.copy()
        advance(cloth, state, naive.still(state.x + cloth.origin, colliders=[floor()]), frame, Settings())
        speeds.append(24 * np.median(np.linalg.norm(state.x - before, axis=1)))
        assert count_in(cloth, state.x) == (0, 0, 0)
    # medians: single corners may curl
    height = np.median((state.x + cloth.origin)[:, 2].reshape(4, -1), axis=1)
    assert (np.diff(height) > 0.8 * 0.003).all() and height[0] > 0.0015 and height[3] < 1.5 * 0.0135
    assert np.median(speeds[-12:]) < 0.01  # in single frames light corners jump


@pytest.mark.parametrize("friction", [0.3, 0.8])
def test_layers_on_a_slope_of_cloth_stay(friction):
    """Four of them, at 10 degrees, where a friction of 0.3 holds up to 16.7: none creeps by over 0.05 mm a frame."""
    angle = np.radians(10.0)
    gravity = 9.81 * np.array([np.sin(angle), 0.0, -np.cos(angle)])
    slope = sheet("slope", 31, 31, 0.02, pin=1.0, self_collision=False, friction=friction)
    pile = [
        sheet(str(k), 10, 10, 0.02, lambda x, k=k: x + [0.005, 0.003 * k, 0.002 * (k + 1)], friction=friction)
        for k in range(4)
    ]
    cloth, state = build([slope, *pile], Settings())
    given, places = naive.still(state.x + cloth.origin, gravity=gravity), []
    for frame in range(36):
        advance(cloth, state, given, frame, Settings())
        places.append(state.x[:, 0].copy())
    creep = [abs(places[-1] - places[-13])[cloth.garment == k].mean() / 12 for k in range(1, 5)]
    print("mm a frame:", *(f"{1000 * speed:.3f}" for speed in creep))
    assert max(creep) < 0.05e-3
