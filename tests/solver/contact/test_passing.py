# SPDX-License-Identifier: GPL-3.0-or-later
"""No frame ends with a crossing that its report does not tell, as files have it."""

import naive
import numpy as np
import pytest
import solids
from crossings import count_crossings, count_in
from taffeta.solver.build import build
from taffeta.solver.contact import resolve
from taffeta.solver.contact.cloth import pairs as cloth_pairs
from taffeta.solver.filed import as_filed, grain
from taffeta.solver.model import Settings
from taffeta.solver.step import advance

DT = 1 / 240


def crossed_edges(count=60):
    """Pairs of triangles, each with an edge a millimetre over one of the other, turned at random and up to 3 m away; which way
    leads from the first to the second (k, 3).
    """
    rng = np.random.default_rng(3)
    points, ways = [], []
    for number in range(count):
        turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        one = np.array([[-0.02, 0.0, 0.0], [0.02, 0.0, 0.0], [0.0, 0.001, 0.03]])
        other = np.array([[0.003, -0.02, -0.001], [-0.001, 0.02, -0.001], [0.001, 0.0, -0.03]])
        place = np.array([0.2 * (number % 15), 0.2 * (number // 15), 2.0]) + rng.uniform(0.0, 0.01, 3)
        points += [one @ turn.T + place, other @ turn.T + place]
        ways.append(-turn[:, 2])
    x = np.concatenate(points)
    triangles = np.arange(len(x), dtype=np.int32).reshape(-1, 3)
    return naive.garment(x, triangles, self_collision=True, thickness=5e-4), np.array(ways)


def gaps(x):
    """(k,) [m] between the two edges of each pair of `crossed_edges`."""
    a, b, _, c, d, _ = x.reshape(-1, 6, 3).transpose(1, 0, 2)
    normal = np.cross(b - a, d - c)
    return np.einsum("ki,ki->k", a - c, normal) / np.linalg.norm(normal, axis=1)


@pytest.mark.parametrize("coarse", [0.0, 1.0])
def test_what_is_pressed_together_stays_apart_in_a_file(coarse):
    """Each substep wants half of what is left between two edges, as what draws pinched cloth together does, and the guard alone
    holds them apart: it let them come to within a picometre, which a file does not tell from a crossing, nor rounding at last.
    """
    garment, ways = crossed_edges()
    cloth, state = build([garment], Settings())
    cloth = cloth._replace(grain=coarse * grain(cloth, state.x, None))
    x, first, before = state.x, np.arange(len(state.x)) % 6 < 3, gaps(state.x)
    for _ in range(30):
        start, x_from = x.copy(), x.copy()
        found = cloth_pairs.detect(cloth, x, state.v, DT, Settings())
        x[first] += np.repeat(0.5 * np.abs(gaps(x))[:, None] * ways, 3, axis=0)
        cloth_pairs.go_on(found, DT)
        resolve.guard(found, None, None, cloth, (0.0, 0.1), start, x, x_from, DT)
    assert (gaps(x) / before > 0.0).all() and np.abs(gaps(x)).max() < 1e-5
    assert (np.abs(gaps(x)) > max(cloth.grain, 0.9e-9)).all() and 3e-7 * coarse <= cloth.grain < 1e-6
    for place in (x, as_filed(cloth, x, None))[: 1 + int(coarse)]:
        assert count_crossings(place, cloth.triangles, cloth.garment).cloth_self == 0


def test_pins_that_drive_cloth_through_cloth_are_told_in_the_frame_in_which_they_do():
    """Two sheets, held everywhere, pass through each other within a frame; it used to be told a frame later."""
    flat, upright = naive.sheet(5, 5, pin=1.0), naive.sheet(5, 5, pin=1.0)
    x = upright.x[:, [0, 2, 1]] + [0.01, 0.47, 0.02]
    cloth, state = build([flat, upright._replace(x=x, x_start=x)], Settings())
    pose, told = state.x + cloth.origin, []
    for frame, up in enumerate((0.0, -0.3, -2.0, -2.0)):
        end = pose.copy()
        end[25:, 2] += up
        report = advance(cloth, state, naive.still(np.stack([state.x + cloth.origin, end])), frame, Settings())
        told.append(report.crossings)
        assert bool(count_in(cloth, state.x).cloth_cloth) == bool(told[-1])
    assert told[0] is None and told[1] >= 8 and told[3] is None


def test_cloth_that_is_in_a_body_is_told_in_each_frame_in_which_it_crosses_it():
    """Nothing pinches it, and the guard gave nothing up: it was so from the start, and nothing was told."""
    cloth, state = build([naive.sheet(9, 9, pin=(np.arange(81) < 9) * 1.0)], Settings())
    middle = cloth.origin + state.x.mean(axis=0) + [0.0, 0.0, 0.013]
    body = solids.collider(solids.ball(0.3), np.tile(middle, (2, 1)))
    pose = state.x + cloth.origin
    for frame in range(3):
        report = advance(cloth, state, naive.still(pose, colliders=(body,)), frame, Settings())
        crossing = count_in(cloth, as_filed(cloth, state.x, None), (body,)).cloth_body
        assert report.pinched is None and bool(crossing) == bool(report.crossings)
        assert frame or report.crossings > 20


def test_a_pinch_hides_no_crossing_of_the_same_garment():
    """Two plates close on one end of a sheet, the other end is in a ball: what crosses that is told, as without the plates."""
    cloth, state = build([naive.sheet(9, 9, pin=(np.arange(81) < 9) * 1.0)], Settings())
    ball = solids.collider(solids.ball(0.2), np.tile([0.25, 0.5, 0.013], (2, 1)), name="Ball")
    path = [np.array([[0.85, 0.5, side * up] for up in (0.077, 0.0752)]) for side in (-1.0, 1.0)]
    plates = [solids.collider(solids.box((0.2, 0.3, 0.15)), way, name="Plate") for way in path]
    report = advance(cloth, state, naive.still(state.x + cloth.origin, colliders=(ball, *plates)), 0, Settings())
    assert report.pinched is not None
    assert count_in(cloth, as_filed(cloth, state.x, None), (ball,)).cloth_body and report.crossings > 10


def test_what_a_file_cannot_tell_apart_is_told():
    """Two sheets lie on each other 40 km from their objects' origins, where a file has steps of 4 mm."""
    sheets = []
    for aside in ((0.0, 0.0, 0.0), (0.0052, 0.0031, 0.0025)):
        sheet = naive.sheet(13, 13, 0.1, 0.1, thickness=2e-3)
        x = sheet.x + np.array(aside)
        x[:, 2] += 0.01 * np.sin(70.0 * x[:, 0]) * np.sin(60.0 * x[:, 1])
        sheets.append(sheet._replace(x=x, x_start=x))
    cloth, state = build(sheets, Settings())
    far = np.eye(4)
    far[:3, :3] = np.linalg.qr(np.random.default_rng(2).normal(size=(3, 3)))[0]
    far[:3, 3] = 4e4, 4e4, 4e4
    to_object = np.stack([far, far])
    for given in (None, to_object):
        frame = naive.still(state.x + cloth.origin, gravity=(0.0, 0.0, 0.0))._replace(to_object=given)
        report = advance(cloth, state, frame, 0, Settings())
        filed = as_filed(cloth, state.x, given)
        assert not count_in(cloth, state.x).cloth_cloth
        assert bool(report.crossings) == bool(count_in(cloth, filed).cloth_cloth) == (given is not None)


@pytest.mark.parametrize(("begin", "speed"), [(-3.0, 1.5), (-0.2, 0.1)])
def test_a_body_that_goes_through_cloth_that_pins_hold_whole_is_told_while_it_does(begin, speed):
    """A blade, which no corner of the cloth is ever in, goes through a face of a sheet that is pinned all over, and on."""
    blade, triangles = solids.plate(3, 0.2)
    cloth, state = build([naive.sheet(3, 3, pin=1.0)], Settings())
    pose, told, crossed = state.x + cloth.origin, [], []
    for frame in range(4):
        way = np.array([[0.3, 0.2, begin + speed * time] for time in (frame, frame + 1)])
        body = solids.collider((blade[:, [0, 2, 1]], triangles), way)
        report = advance(cloth, state, naive.still(pose, colliders=(body,)), frame, Settings())
        told.append(bool(report.crossings))
        crossed.append(count_in(cloth, state.x, (body,)).cloth_body > 0)
    assert told == crossed and any(crossed) and not crossed[-1]
