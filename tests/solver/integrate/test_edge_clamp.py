# SPDX-License-Identifier: GPL-3.0-or-later
"""Edges that a linear solve turns: they are as long afterwards as it meant, and nothing else changes."""

import naive
import numpy as np
import pytest
import solids
from taffeta.solver.build import build
from taffeta.solver.integrate import edge_clamp
from taffeta.solver.integrate.edge_clamp import ALLOWED_LENGTHENING, BLOWN_UP, blown_up, longest, shorten
from taffeta.solver.model import FrameInput, Settings
from taffeta.solver.step import advance


def test_a_turned_edge_is_as_long_as_was_meant_and_momentum_stays():
    """A ring of 12 edges, of which a correction turns some by up to a right angle and stretches one by a half."""
    rng = np.random.default_rng(0)
    turn = np.arange(12) * np.pi / 6
    before = np.stack([np.cos(turn), np.sin(turn), 0.0 * turn], axis=1)
    edges = np.stack([np.arange(12), (np.arange(12) + 1) % 12], axis=1).astype(np.int32)
    rest = np.linalg.norm(before[edges[:, 1]] - before[edges[:, 0]], axis=1)
    before = np.concatenate([before, [[5.0, 0, 0], [6.0, 0, 0]]])  # and one that is meant to be longer
    edges, rest = np.concatenate([edges, [[12, 13]]]).astype(np.int32), np.append(rest, 1.0)
    d = np.concatenate([np.zeros((12, 3)), [[-0.2, 0, 0], [0.3, 0, 0]]])
    d[3] = [0.0, 0.0, 0.5]
    d[7] = 0.1 * rng.normal(size=3)
    mass = np.append(rng.uniform(1.0, 3.0, 12), [1.0, 1.0])
    kind, wanted = np.zeros(14, np.int8), d
    x = before + d
    length = lambda x: np.linalg.norm(x[edges[:, 1]] - x[edges[:, 0]], axis=1)  # noqa: E731
    along = before[edges[:, 1]] - before[edges[:, 0]]
    assert (length(x)[[2, 3]] > 1.3 * rest[[2, 3]]).all()
    momentum = mass @ x
    d = d.copy()
    shorten(edges, rest, np.ones(13, np.bool_), 1.0 / mass, kind, before, d)
    x = before + d
    meant = np.maximum(rest, np.einsum("ex,ex->e", x[edges[:, 1]] - x[edges[:, 0]], along) / length(before))
    assert (length(x) <= (1.0 + ALLOWED_LENGTHENING) * meant * 1.02).all(), "a few sweeps leave a little"
    assert np.array_equal(d[12:], wanted[12:]), "1.5 times as long as at rest, and so was meant"
    assert np.allclose(mass @ x, momentum, atol=1e-14)
    kind[3] = 1
    again = wanted.copy()
    shorten(edges, rest, np.ones(13, np.bool_), 1.0 / mass, kind, before, again)
    assert np.array_equal(again[3], wanted[3]) and not np.array_equal(again[2], wanted[2])


def test_a_sheet_that_is_waved_hardly_stretches():
    """15 x 15 at 2 cm, held along an edge that goes to and fro by 30 cm 3.6 times a second, in 5 substeps: its
    longest edge of 30 frames was 190 % too long."""
    pin = (np.arange(225) < 15).astype(float)
    cloth, state = build([naive.sheet(15, 15, 0.28, 0.28, pin=pin)], Settings())
    start, worst = state.x + cloth.origin, []
    for frame in range(2, 32):
        times = frame - 2 + np.linspace(0.0, 1.0, 9)
        way = 0.15 * np.sin(1.5 * 2.0 * np.pi * times / 10.0)[:, None, None] * [1.0, 0.0, 0.0]
        shot = FrameInput(1 / 24, start + way, (), np.array([0.0, 0.0, -9.81]), np.zeros(3))
        worst.append(advance(cloth, state, shot, frame, Settings(substeps=5)).worst_stretch)
    assert max(worst) < 0.3


def test_the_longest_edge_is_that_of_all_that_are_longer_than_cloth_is_thick():
    """As numpy has it, to the last bit, of more edges than a thread takes, of which some are as short as cloth is thick."""
    cloth, state = build([naive.sheet(columns=70, rows=70)], Settings())
    rng = np.random.default_rng(1)
    x = state.x + rng.normal(0.0, 1e-3, state.x.shape)
    thickness = rng.choice([0.0, 1.0], len(x), p=(0.7, 0.3))
    cloth = cloth._replace(thickness=thickness)
    i, j = cloth.edges.T
    assert len(i) > 2 * edge_clamp.SMALLEST_EDGE_PART
    counts = cloth.is_mesh_edge & (cloth.rest_length > 0.5 * (thickness[i] + thickness[j]))
    strain = np.linalg.norm(x[j] - x[i], axis=1)[counts] / cloth.rest_length[counts] - 1.0
    assert 0 < counts.sum() < cloth.is_mesh_edge.sum()
    assert longest(cloth, x) == (strain.max(), 0)
    assert longest(cloth._replace(thickness=thickness + 1.0), x) == (0.0, 0), "none counts"
    x[i[counts][0]] = np.nan
    assert longest(cloth, x)[0] == np.inf, "what has blown up, on any number of threads"


def test_what_has_blown_up_is_told_from_what_is_pulled():
    """Twice the bound, but not between two pins; and what is nowhere."""
    cloth, state = build([naive.sheet(4, 4, pin=(np.arange(16) < 8) * 1.0), naive.sheet(3, 3)], Settings())
    x, v = state.x.copy(), state.v
    assert not blown_up(cloth, x, v).any()
    x[0, 2] += 2.0 * BLOWN_UP  # and all its neighbours are held
    assert cloth.inv_mass[[1, 4, 5]].max() == 0.0 and not blown_up(cloth, x, v).any()
    x[20, 2] += 2.0 * BLOWN_UP
    assert blown_up(cloth, x, v)[20] and not blown_up(cloth, x, v)[:16].any()
    v[18, 0], x[20] = np.inf, state.x[20]
    assert np.flatnonzero(blown_up(cloth, x, v)).tolist() == [18]


def test_a_garment_that_blows_up_ends_the_bake_before_it_throws_others():
    """A balloon of 10 kPa beside a box: a sheet 20 m away, which is solved together with it, was thrown and stood still then."""
    x, triangles = solids.ball(0.2)
    bystander = naive.sheet(3, 3)
    bystander = bystander._replace(x_start=bystander.x + [20.0, 0.0, 0.0])
    cloth, state = build([naive.garment(x + [0.0, 0.0, 0.5], triangles), bystander], Settings())
    box = (solids.collider(solids.box((0.3, 0.3, 0.3))),)
    with pytest.raises(FloatingPointError, match="Garment 1 of 2 blew up in frame [1-3] at [0-9]+ particles"):
        for frame in (1, 2, 3):
            given = naive.still(state.x + cloth.origin, colliders=box)._replace(pressure=(1e4, 0.0))
            advance(cloth, state, given, frame, Settings())
