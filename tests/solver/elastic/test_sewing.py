# SPDX-License-Identifier: GPL-3.0-or-later
"""Seams pull shut, and cloth shrinks by a map."""

import naive
import numpy as np
import pytest
from taffeta.solver.build import build
from taffeta.solver.crossings import find_crossings
from taffeta.solver.elastic.sewing import lift_while_sewn, limit_seams
from taffeta.solver.elastic.springs import copied
from taffeta.solver.model import Settings
from taffeta.solver.step import advance

VACUUM = Settings(air_drag=0.0)


def panels(gap=0.3, side=9, **changes):
    """Two squares of 0.2 m, one above the other, joined all round by loose edges."""
    low = naive.sheet(side, side, 0.2, 0.2)
    count = side * side
    x = np.concatenate([low.x, low.x + [0, 0, gap]])
    rim = np.flatnonzero(np.isclose(np.abs(low.x[:, :2] - 0.1).max(axis=1), 0.1))
    edges = np.concatenate([low.edges, low.edges + count, np.stack([rim, rim + count], axis=1)])
    triangles, quads = (np.concatenate([f, f[:, ::-1] + count]) for f in (low.triangles, low.quads))
    return naive.garment(x, triangles, quads, edges, **{"sewing": True, "self_collision": True} | changes), rim, count


def gaps(state, rim, count):
    return np.linalg.norm(state.x[rim] - state.x[rim + count], axis=1)


def run(garment, frames, look=lambda state, report: None, settings=VACUUM):
    cloth, state = build([garment], settings)
    given = naive.still(state.x + cloth.origin, gravity=(0, 0, 0))
    for frame in range(frames):
        report = advance(cloth, state, given, frame, settings)
        look(state, report)
    return cloth, state, report


@pytest.mark.parametrize(("force", "chance"), [*((np.inf, k) for k in range(5)), (0.5, 1), (0.05, 1)])
def test_two_panels_are_sewn_together(force, chance):
    """All seams welded, the panels not stretched, nothing through anything, momentum kept, from each start: these are a
    nanometre apart, and so wrinkle otherwise.
    """
    garment, rim, count = panels(sewing_force=force)
    noise = 1e-9 * np.random.default_rng(chance).standard_normal(garment.x_start.shape)

    def look(state, report):
        assert np.abs(cloth_mass @ state.v).max() < 1e-12

    cloth_mass = build([garment], VACUUM)[0].mass
    cloth, state, report = run(garment._replace(x_start=garment.x_start + noise), 36, look)
    assert gaps(state, rim, count).max() == 0.0 and report.worst_stretch < 0.05
    assert not len(find_crossings(cloth, state.x)[0])


@pytest.mark.parametrize("load", [0.8, 1.2])
def test_a_seam_pulls_with_its_force_at_most(load):
    """32 seams of 0.01 N against a constant force on the upper panel: they win at 80 % of that, and lose at 120 %."""
    garment, rim, count = panels(gap=0.05, sewing_force=0.01, sewing_time=0.1, sewing_speed=1.5, self_collision=False)
    garment = garment._replace(pin=np.repeat([1.0, 0.0], count))
    cloth, state = build([garment], VACUUM)
    away = load * 0.01 * len(rim) / cloth.mass[count:].sum()
    given = naive.still(state.x + cloth.origin, gravity=(0, 0, 0))
    for frame in range(6):
        advance(cloth, state, given, frame, VACUUM._replace(constant_force=(0.0, 0.0, away)))
    assert (cloth.mass[count:] @ state.x[count:, 2] < cloth.mass[count:].sum() * 0.05) == (load < 1)


@pytest.mark.parametrize(
    ("gap", "speed", "force"),
    [
        (0.3, np.inf, 5000 * (0.298 + 0.02 * 0.002)),
        (0.3, 1.0, 5000 / 6 * (0.298 + 0.02 * 0.002) / 0.3),
        (0.002, np.inf, 0.2),
        (0.001, np.inf, 0.1),
    ],
)
def test_a_seam_is_stiff_as_far_as_contact_lets_it_close_and_gentle_beyond(gap, speed, force):
    """Of cloth that is 2 mm thick, 5 kN/m; damped by a sixth of a second times its stiffness, but not to less than 0.25 m/s."""
    garment, rim, count = panels(gap=gap, thickness=0.002, stretch_stiffness=2000.0, sewing_speed=speed)
    cloth, state = build([garment], VACUUM)
    spring = copied(cloth.matrix.spring)
    limit_seams(cloth, spring, state.x)
    stiffness, damping = spring.stiffness[cloth.seams], spring.damping[cloth.seams]
    assert len(stiffness) == len(rim) and gap * stiffness == pytest.approx(np.full(len(rim), force))
    if speed == np.inf:
        assert damping / stiffness == pytest.approx(min(1 / 6, gap / 0.25))


@pytest.mark.parametrize(
    ("dynamics", "speed"), [("XPBD", 0.4), ("XPBD", 1.0), ("IMPLICIT_EULER", 0.7), ("IMPLICIT_THETA", 0.7)]
)
def test_panels_do_not_fall_while_their_seams_close(dynamics, speed):
    """Both fall by millimetres until they are sewn, at whatever speed that is, and then as anything does."""
    garment, rim, count = panels(sewing_speed=speed, self_collision=False)
    settings = VACUUM._replace(dynamics=dynamics)
    cloth, state = build([garment], settings)
    given, mass, frame = naive.still(state.x + cloth.origin), cloth.mass.sum(), 0
    height = cloth.mass @ state.x[:, 2]
    while gaps(state, rim, count).max() > 0.0:
        advance(cloth, state, given, frame := frame + 1, settings)
        assert frame < 60
    assert abs(cloth.mass @ state.x[:, 2] - height) < 0.02 * mass, "in a free fall 0.4 m and more"
    assert lift_while_sewn(cloth, state) is None
    before = cloth.mass @ state.v[:, 2]
    advance(cloth, state, given, frame, settings)
    assert cloth.mass @ state.v[:, 2] - before == pytest.approx(-9.81 / 24 * mass, rel=1e-3)


def test_what_holds_a_seam_open_gives_the_cloth_its_weight():
    """Seams that do not close, or open, lift nothing; of those that close as far as they do, and as many as are open; and a zip does not."""
    garment, rim, count = panels()
    cloth, state = build([garment], VACUUM)
    assert lift_while_sewn(cloth, state) == 1.0, "nothing moves yet"
    state.v[count:, 0] = 1.0
    assert lift_while_sewn(cloth, state) == 0.0, "across the gap"
    for speed, part in ((-0.1, 0.4), (-1.0, 1.0), (0.5, 0.0)):
        state.v[count:] = 0.0, 0.0, speed
        assert lift_while_sewn(cloth, state) == pytest.approx(part)
    state.v[count:] = 0.0, 0.0, -1.0
    one, other = cloth.edges[cloth.seams[: len(rim) // 4]].T
    state.x[other], state.v[other] = state.x[one], state.v[one]
    assert lift_while_sewn(cloth, state) == pytest.approx(0.75)
    assert lift_while_sewn(cloth._replace(seam_opens=np.full(len(rim), 0.5)), state) is None


def test_seams_close_in_their_time_at_any_substep_count():
    """Light panels follow: a gap of 0.3 m falls as exp(-t / tau), with a third of `sewing_time` for tau, until it is small."""
    for substeps in (5, 20):
        garment, rim, count = panels(sewing_time=1.0, sewing_speed=1.5, mass=0.01, self_collision=False)
        seen = []
        run(garment, 24, lambda s, _, seen=seen, rim=rim, count=count: seen.append(gaps(s, rim, count).mean()),
            VACUUM._replace(substeps=substeps))  # fmt: skip
        assert seen[7] == pytest.approx(0.3 * np.exp(-1.0), rel=0.1) and seen[-1] < 0.3 / 20


def test_without_sewing_loose_edges_keep_their_length():
    garment, rim, count = panels(sewing=False)
    cloth, state, _ = run(garment, 5)
    assert np.allclose(gaps(state, rim, count), 0.3, rtol=1e-6) and not len(cloth.seams)


def test_loose_threads_are_no_seams():
    """A fringe hangs on: edges that end in no face keep their length."""
    sheet = naive.sheet(3, 3)
    x = np.concatenate([sheet.x, [[1.0, 1.2, 0.0]]])
    fringe = naive.garment(x, sheet.triangles, sheet.quads, [*sheet.edges.tolist(), [8, 9]], sewing=True)
    _, state, _ = run(fringe, 5)
    assert np.linalg.norm(state.x[9] - state.x[8]) == pytest.approx(0.2, rel=1e-6)


def test_cloth_shrinks_by_a_map():
    """A free sheet comes to rest a tenth smaller, flat; the other half 5 % larger."""
    for shrink in (0.1, -0.05):
        garment = naive.sheet(9, 9, damping=20.0, shrink=np.full(81, shrink))
        cloth, state = build([garment], VACUUM)
        given = naive.still(state.x + cloth.origin, gravity=(0, 0, 0))
        for frame in range(60):
            advance(cloth, state, given, frame, VACUUM)
            state.v[:] *= 0.8
        assert np.ptp(state.x, axis=0) == pytest.approx([1 - shrink, 1 - shrink, 0], abs=2e-3)


def test_shrinking_keeps_the_rigidity():
    """Bending energy of a curved sheet is that of one that is as small at rest."""
    half = naive.sheet(5, 5, 0.5, 0.5)
    shrunk, _ = build([naive.sheet(5, 5, shrink=np.full(25, 0.5))], VACUUM)
    small, _ = build([half], VACUUM)
    assert np.allclose(shrunk.bend_weight, small.bend_weight) and np.allclose(shrunk.rest_length, small.rest_length)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"shrink": np.full(81 * 2, 1.0)}, "shrinks to nothing"),
        ({"shrink": np.full(3, 0.1)}, "shrinking has the shape"),
        ({"sewing_time": 0.0}, "sewing time is 0 s"),
        ({"sewing_force": -1.0}, "sewing force is -1 N"),
        ({"sewing_speed": 0.0}, "sewing speed is 0 m/s"),
    ],
)
def test_bad_numbers_are_named(changes, words):
    garment, _, _ = panels(**changes)
    with pytest.raises(ValueError, match=f"'Sheet'.*{words}"):
        build([garment], VACUUM)
