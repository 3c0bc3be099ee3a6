# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth out of bodies: crossings counted by ipctk, distances by formulas, no jump in time."""

import numpy as np
from crossings import count_crossings
from sheets import sheet
from solids import ball, box, finger
from taffeta.solver.correct.ease import Easing
from taffeta.solver.correct.push_out import Obstacle, Worn, push_out
from taffeta.solver.kernel import threads

AURA = 0.004
EASE = Easing(0.05, 4.0, opens=True, ends=True)


def run(worn, bodies, easing=EASE):
    steps = push_out(worn, bodies, easing)
    shares = []
    try:
        while True:
            shares.append(next(steps))
    except StopIteration as end:
        assert shares == sorted(shares) and max(shares, default=0.0) < 1.0
        return end.value


def worn(cloth, x, depth=0.1, looked_at=None):
    counts = np.ones(x.shape[:2], bool)
    if looked_at is not None:
        counts[[f for f in range(len(x)) if f not in looked_at]] = False
    return Worn(x, cloth.edges, cloth.triangles, counts, depth)


def through(cloth, x, bodies, frame):
    return count_crossings(
        x[frame], cloth.triangles, np.zeros(len(x[frame]), int), [(b.x[frame], b.triangles) for b in bodies]
    ).cloth_body


def over_a_ball(heights, radius=0.3):
    """A sheet that lies still while a ball comes up through it by these heights [m], and goes."""
    cloth, (x, triangles) = sheet("Cloth", 25, 25, 0.03), ball(radius, 16)
    path = np.zeros((len(heights), 1, 3))
    path[:, 0, 2] = np.array(heights) - radius
    body = Obstacle("Ball", x + path, triangles, AURA)
    return cloth, np.repeat(cloth.x[None], len(heights), axis=0), body


def test_nothing_is_left_inside_or_too_near_and_neighbours_go_along():
    heights = 0.03 * np.sin(np.linspace(-0.5, np.pi + 0.5, 14))
    cloth, x, body = over_a_ball(heights)
    middle = range(2, 12)
    assert through(cloth, x, [body], 7) > 20
    found = run(worn(cloth, x, looked_at=middle), [body])
    assert not found.after.any() and not found.crossing_count and not found.deep_count
    y = x + found.moved
    for frame in middle:
        assert through(cloth, y, [body], frame) == 0
        away = np.linalg.norm(y[frame] - [0, 0, heights[frame] - 0.3], axis=1) - 0.3
        assert away.min() > 0.8 * AURA - 1e-3  # the ball has facets
    # beside what was pushed it falls off, and far away nothing is moved
    went = np.linalg.norm(found.moved[7], axis=1)
    centre = np.linalg.norm(cloth.x[:, :2], axis=1)
    assert went.max() < 0.03 + 2.5 * AURA
    ring = (centre > 0.17) & (centre < 0.2)
    assert (went[ring] > 1e-3).all() and went[centre > 0.45].max(initial=0.0) < 1e-3
    # each edge changes by less than what was pushed, over the three edges of the radius
    sides = found.moved[7][cloth.edges[:, 0]] - found.moved[7][cloth.edges[:, 1]]
    assert np.linalg.norm(sides, axis=1).max() < 0.7 * went.max()


def test_what_is_inside_for_one_frame_does_not_jump():
    """One frame alone is wrong by 2 cm: the frames beside it go along, as the closed form says, and the ends are still."""
    heights = np.full(17, -0.05)
    heights[8] = 0.02
    cloth, x, body = over_a_ball(heights)
    found = run(worn(cloth, x, looked_at=range(4, 13)), [body])
    assert not found.after.any() and through(cloth, x + found.moved, [body], 8) == 0
    went = np.linalg.norm(found.moved, axis=2)
    top = went[8].argmax()
    assert 0.02 < went[8, top] < 0.03
    steps = np.abs(np.diff(found.moved, axis=0)).max(axis=(1, 2))
    assert steps.max() < 0.35 * went[8].max()  # without easing it is all of it
    assert went[0].max() < 0.2 * went[8].max() and went[8].max() == went.max()


def test_a_fingertip_finer_than_the_mesh_of_the_cloth():
    cloth, (x, triangles) = sheet("Cloth", 12, 12, 0.05), finger(0.3, 0.01)
    tip = x[:, [1, 2, 0]] + [0.02, 0.012, 0.015]  # upright, through the middle of a face
    body = Obstacle("Finger", tip[None], triangles, AURA)
    assert through(cloth, cloth.x[None], [body], 0) > 0
    inside = run(worn(cloth, cloth.x[None]), [body], Easing(0.05, 1.0))
    assert through(cloth, cloth.x[None] + inside.moved, [body], 0) == 0 and not inside.crossing_count


def test_what_is_too_deep_and_what_does_not_count_is_left_alone():
    cloth = sheet("Cloth", 9, 9, 0.02)
    x, triangles = box((1.0, 1.0, 1.0), (0.0, 0.0, -0.3))  # its top is 20 cm above the cloth
    body = Obstacle("Box", x[None], triangles, AURA)
    deep = run(worn(cloth, cloth.x[None]), [body], Easing(0.05, 1.0))
    assert deep.deep_count == 81 and not deep.moved.any()
    out = run(worn(cloth, cloth.x[None], depth=0.5), [body], Easing(0.05, 1.0))
    assert np.allclose((cloth.x + out.moved[0])[:, 2], 0.2 + AURA, atol=1e-9)
    none = worn(cloth, cloth.x[None], depth=0.5)
    none.counts[:] = False
    assert not run(none, [body], Easing(0.05, 1.0)).moved.any()


def test_it_comes_to_the_same_bits_on_any_number_of_threads(monkeypatch):
    heights = 0.03 * np.sin(np.linspace(0.0, np.pi, 6))
    cloth, x, body = over_a_ball(heights)
    found = []
    for count in (1, 3):
        monkeypatch.setattr(threads, "thread_count", lambda count=count: count)
        found.append(run(worn(cloth, x), [body], Easing(0.05, 2.0)).moved)
    assert np.array_equal(*found)
