# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth on bodies against mechanics on paper: slopes, bounces, plates, fast falls, floors that speed up, pinches.

Single particles are moved by a plain loop (symplectic Euler, contact, v = dx / dt); sheets by `step.advance`.
"""

import naive
import numpy as np
import pytest
from solids import AURA, ball, box, collider, hemisphere, plate
from taffeta.solver.build import build
from taffeta.solver.contact.body import collide as contact
from taffeta.solver.contact.body import mesh as body_mesh
from taffeta.solver.contact.body import view
from taffeta.solver.contact.body.cell_grid import CELL_BODY, CELL_DRAWN, CELL_NEAR
from taffeta.solver.crossings import find_crossings
from taffeta.solver.kernel import shared, threads
from taffeta.solver.ldi.rasterise import render_motion
from taffeta.solver.model import Cloth, Collider, FrameInput, Pattern, Settings, State
from taffeta.solver.step import advance

pytestmark = pytest.mark.once

G = 9.81
FRAME = 1 / 24
VACUUM = Settings(air_drag=0.0)


def turned(mesh, angle, axis=1):
    """The mesh turned by an angle [rad] about an axis."""
    c, s = np.cos(angle), np.sin(angle)
    turn = np.roll(np.array([[1, 0, 0], [0, c, -s], [0, s, c]]), (axis, axis), (0, 1))
    return mesh[0] @ turn.T, mesh[1]


def particles(x, friction=0.3):
    """Free particles without springs."""
    x = np.atleast_2d(np.asarray(x, float))
    count = len(x)
    fields = {name: np.zeros(0) for name in Cloth._fields}
    fields |= {
        "origin": np.zeros(3), "garment_start": np.array([0, count]), "garment": np.zeros(count, np.int32),
        "x_rest": x.copy(), "triangles": np.zeros((0, 3), np.int32), "mass": np.ones(count),
        "inv_mass": np.ones(count), "thickness": np.full(count, 0.002), "friction": np.full(count, float(friction)),
        "edges": np.zeros((0, 2), np.int32), "meets_bodies": np.ones(count, bool),
        "pattern": Pattern(x.copy(), np.zeros((0, 3), np.int32), *(np.zeros(0, np.int32) for _ in range(3))),
    }  # fmt: skip
    return Cloth(**fields), State(x.copy(), np.zeros_like(x))


def simulate(
    cloth, state, bodies, frames, gravity=(0, 0, -G), substeps=30, settings=VACUUM, watch=None, render=render_motion
):
    """Symplectic Euler with body contact; `bodies`: a tuple, or a function of the frame."""
    x, v = state.x, state.v
    gravity = np.array(gravity, float)
    dt = FRAME / substeps
    for frame in range(frames):
        colliders = bodies(frame) if callable(bodies) else bodies
        given = FrameInput(FRAME, np.zeros((2, len(x), 3)), tuple(colliders), gravity, np.zeros(3))
        body = contact.prepare(cloth, state, given, settings, render)
        starts = {-(-part * substeps // body.detections) for part in range(body.detections)}
        for number in range(substeps):
            if number in starts:
                after = min([s for s in starts if s > number], default=substeps)
                contact.detect(body, cloth, x, v, number / substeps, after / substeps, settings)
            x_prev, v_start = x.copy(), v.copy()
            v += dt * gravity
            x += dt * v
            contact.respond(body, cloth, x, x_prev, v_start, x_prev, (number + 1) / substeps, dt)
            v[:] = (x - x_prev) / dt
            contact.respond_velocity(body, cloth, v, dt)
            assert np.isfinite(x).all()
            if watch is not None:
                watch(frame + (number + 1) / substeps, x, v)


@pytest.mark.parametrize("cells", [1, 9])
def test_block_on_a_slope(cells):
    """Coulomb: below the friction angle it does not creep, above it slides with a = g (sin - mu cos)."""
    for mu_cloth, mu_body in ((0.3, 0.3), (0.8, 0.2)):
        mu = np.sqrt(mu_cloth * mu_body)
        for share in (0.9, 1.3):
            slope = np.arctan(share * mu)
            plane = turned(plate(cells, 20.0), slope)
            start = np.array([[0.01, 0.02, 0.0]]) @ turned((np.eye(3), None), slope)[0] + [0, 0, AURA / np.cos(slope)]
            cloth, state = particles(start, mu_cloth)
            simulate(cloth, state, [collider(plane, friction=mu_body)], 24)
            moved = np.linalg.norm(state.x - start)
            expected = 0.0 if share < 1 else 0.5 * G * (np.sin(slope) - mu * np.cos(slope))
            assert moved == pytest.approx(expected, rel=0.03, abs=2e-6)


def test_bounce_height():
    """From h above the aura it returns to e^2 h."""
    for restitution in (0.0, 0.5, 0.9):
        cloth, state = particles([[0.1, 0.2, 1.0 + AURA]])
        heights, speeds = [], []

        def watch(_, x, v, heights=heights, speeds=speeds):
            heights.append(x[0, 2])
            speeds.append(v[0, 2])

        simulate(cloth, state, [collider(plate(), restitution=restitution)], 30, substeps=60, watch=watch)
        first = next((i for i in range(1, len(speeds)) if speeds[i] >= 0), None)
        top = max(heights[first:]) - AURA
        assert top == pytest.approx(restitution**2, abs=0.01)
        assert min(heights) >= AURA - 1e-9


@pytest.mark.parametrize("reversed_faces", [False, True])
@pytest.mark.parametrize("side", [1, -1])
def test_open_plate_from_both_sides(side, reversed_faces):
    """The side it came from decides, not the facing; the particle over a corner of many triangles too."""
    x, triangles = plate(4)
    triangles = triangles[:, ::-1].copy() if reversed_faces else triangles
    start = np.array([[0.0, 0.0, 0.3], [0.13, 0.21, 0.3], [0.5, 0.25, 0.3], [0.5, 0.5, 0.3]]) * [1, 1, side]
    cloth, state = particles(start)
    simulate(cloth, state, [collider((x, triangles))], 24, gravity=(0, 0, -side * G))
    assert np.allclose(state.x, start * [1, 1, 0] + [0, 0, side * AURA], atol=1e-6)
    assert np.abs(state.v).max() < 1e-6


@pytest.mark.parametrize("reversed_faces", [False, True])
def test_open_hemisphere_from_outside_and_inside(reversed_faces):
    """Bargmann's figure 4.8: what comes from outside stops an aura above the shell, what comes from inside one below it."""
    radius, rng = 0.4, np.random.default_rng(4)
    x, triangles = hemisphere(radius)
    triangles = triangles[:, ::-1].copy() if reversed_faces else triangles
    way = rng.normal(size=(400, 3))
    way[:, 2] = 0.3 + np.abs(way[:, 2])  # not past the rim
    way /= np.linalg.norm(way, axis=1)[:, None]
    side = np.where(np.arange(400) % 2, 1.0, -1.0)
    cloth, state = particles(way * (radius + 0.2 * side)[:, None])
    state.v[:] = -2.0 * side[:, None] * way
    simulate(cloth, state, [collider((x, triangles))], 12, gravity=(0, 0, 0))
    away = side * (np.linalg.norm(state.x, axis=1) - radius)
    flat = radius * (2.0 - np.cos(np.pi / 48) - np.cos(np.pi / 40))  # faces are at most so far within the sphere
    print(f"outside {away[side > 0].min():.4f} to {away[side > 0].max():.4f} m, inside {away[side < 0].min():.4f} to "
          f"{away[side < 0].max():.4f} m, aura {AURA} m")  # fmt: skip
    assert (away[side > 0] > AURA - flat - 1e-5).all() and (away[side > 0] < AURA + 1e-4).all()
    assert (away[side < 0] > AURA - 1e-5).all() and (away[side < 0] < AURA + flat + 1e-4).all()


def test_fast_particles_do_not_pass():
    """Thin plate and thin closed box, particles and bodies at up to 50 m/s: 7 cm in a substep, no side changes."""
    rng = np.random.default_rng(0)
    start = np.concatenate([rng.uniform(-0.8, 0.8, (300, 2)), rng.uniform(0.3, 2, (300, 1))], 1)
    under = plate(6)[0], plate(6)[1][:, ::-1].copy()
    for mesh in (plate(6), under, box((2, 2, 0.004)), plate(20)):
        for speed in (3.5, 20.0, 50.0):
            cloth, state = particles(start)
            state.v[:] = [0, 0, -speed]
            simulate(cloth, state, [collider(mesh)], 12)
            assert state.x[:, 2].min() > 0
        cloth, state = particles(start)

        def rising(frame, mesh=mesh):
            return [collider(mesh, [(0, 0, 0.5 * frame), (0, 0, 0.5 * frame + 0.5)])]  # 12 m/s

        simulate(cloth, state, rising, 6)
        assert state.x[:, 2].min() > 3.0


def test_swinging_limb_catches():
    """A thin closed cylinder-like box swings by at 3.5 m/s through hanging particles: none is inside or left behind."""
    rng = np.random.default_rng(2)
    start = rng.uniform([-0.1, -0.2, -0.2], [0.1, 0.2, 0.2], (300, 3))
    limb = box((0.03, 2.0, 2.0))
    cloth, state = particles(start)
    step = 3.5 * FRAME

    def swing(frame):
        return [collider(limb, [(-0.4 + step * frame, 0, 0), (-0.4 + step * (frame + 1), 0, 0)])]

    simulate(cloth, state, swing, 6, gravity=(0, 0, 0))
    face = -0.4 + 6 * step + 0.015
    assert (state.x[:, 0] > face + 0.5 * AURA).all()


def test_floor_that_speeds_up_carries():
    """a < mu g: it comes along without slip. (Sampled coarsely the floor would jerk, and what lies on it slips.)"""
    mu, rate = 0.5, 3.0
    cloth, state = particles([[0.0, 0.0, AURA], [0.3, 0.1, AURA]], mu)
    start = state.x.copy()

    def floor(frame):
        t = np.linspace(frame, frame + 1, 31) * FRAME
        return [collider(plate(3, 20.0), np.stack([0.5 * rate * t**2, 0 * t, 0 * t], 1), friction=mu)]

    simulate(cloth, state, floor, 24)
    assert np.allclose(state.x - start, [0.5 * rate, 0, 0], atol=1e-6)


def test_turntable_carries():
    """Points of a turning triangle have their own velocities: what rides on it goes round."""
    cloth, state = particles([[0.2, 0.0, AURA]], 1.0)
    state.v[:] = [0, 0.2 * np.pi / 2, 0]
    radius = []

    def table(frame):
        angles = np.linspace(frame, frame + 1, 9) * FRAME * np.pi / 2
        return [Collider("Table", np.stack([turned(plate(), a, 2)[0] for a in angles]), plate()[1], 1.0, 0.0, AURA)]

    simulate(cloth, state, table, 24, watch=lambda t, x, v: radius.append(np.hypot(*x[0, :2])))
    assert np.allclose(state.x[0], [0, 0.2, AURA], atol=2e-3) and np.ptp(radius) < 2e-3


def test_start_inside_is_let_out_gently():
    """Out at the nearest place, never faster than the recovery speed; what is outside is left alone."""
    rng = np.random.default_rng(1)
    start = rng.normal(size=(200, 3))
    start *= rng.uniform(0.05, 0.5, (200, 1)) / np.linalg.norm(start, axis=1)[:, None]
    cloth, state = particles(start)
    fastest, ways = [], [start]

    def watch(_, x, v):
        fastest.append(np.abs(v).max())
        ways.append(x.copy())

    simulate(cloth, state, [collider(ball())], 48, gravity=(0, 0, 0), watch=watch)
    distance = np.linalg.norm(state.x, axis=1)
    assert distance.min() > 0.4 * 0.985 + 0.9 * AURA  # 0.985: facets lie inside the sphere
    outside = np.linalg.norm(start, axis=1) > 0.42
    assert np.array_equal(state.x[outside], start[outside])
    along = np.einsum("pk,pk->p", state.x, start) / distance / np.linalg.norm(start, axis=1)
    assert np.median(along) > 0.99
    assert max(fastest) < 0.6
    step = np.linalg.norm(np.diff(ways, axis=0), axis=2).max()
    assert step * 30 / FRAME < 0.55


def test_a_body_that_is_split_along_its_seams_lets_cloth_out():
    """A sheet starts across a ball whose triangles have corners of their own, as meshes out of games do."""
    (x, triangles), garment = ball(0.3, 8), naive.sheet(13, 13)
    split = x[triangles.ravel()], np.arange(triangles.size, dtype=np.int32).reshape(-1, 3)
    garment = garment._replace(x_start=garment.x - garment.x.mean(axis=0) + [0.0, 0.0, 0.2])
    cloth, state = build([garment], Settings())
    given = naive.still(state.x + cloth.origin, colliders=[collider(split)], gravity=(0.0, 0.0, 0.0))
    assert len(find_crossings(cloth, state.x, given.colliders)[0]) > 10
    for frame in range(24):
        advance(cloth, state, given, frame, Settings())
    assert not len(find_crossings(cloth, state.x, given.colliders)[0])
    assert not np.linalg.norm(state.x + cloth.origin, axis=1).min() < 0.29, "it is outside"


def _count_draws(monkeypatch):
    draws, draw = [], contact.draw
    monkeypatch.setattr(contact, "draw", lambda body, settings: (draws.append(1), draw(body, settings)))
    return draws


def test_more_triangles_than_a_point_remembers(monkeypatch):
    """Fifty triangles within the aura: the list is short, which must not draw the image again in each substep."""
    cloth, state = particles([[0.0, 0.0, 0.03], [0.004, 0.002, 0.03]])
    draws = _count_draws(monkeypatch)
    simulate(cloth, state, [collider(ball(0.02, 20), friction=1.0)], 4)
    assert len(draws) <= 2 * 4
    assert np.linalg.norm(state.x, axis=1).min() > 0.02 + 0.9 * AURA


def test_leap_out_of_the_drawn_box(monkeypatch):
    """A particle that is pulled far out of the box in one substep has it drawn larger, and is stopped on its way."""
    cloth, state = particles([[0.1, 0.2, 0.0], [0.3, 0.2, 0.0]])
    draws = _count_draws(monkeypatch)
    given = FrameInput(FRAME, np.zeros((2, 2, 3)), (collider(plate(8, height=-0.3)),), np.zeros(3), np.zeros(3))
    body = contact.prepare(cloth, state, given, VACUUM)
    contact.detect(body, cloth, state.x, state.v, 0.0, 1.0, VACUUM)
    x = state.x - [[0, 0, 0.6], [0, 0, 0]]
    contact.respond(body, cloth, x, state.x, state.v, state.x, 1 / 30, FRAME / 30)
    assert x[0, 2] > -0.3 and np.array_equal(x[1], state.x[1])
    assert 1 < len(draws) < 8


def test_room_that_was_doubled_for_ever_costs_no_more_than_the_grid():
    """Each redraw doubles it, in each substep: what is flagged spreads through 40 cells and not through 10^300."""
    cloth, state = particles([0.0, 0.0, 2.0])
    bodies = (collider(ball()),)
    given = FrameInput(FRAME, np.zeros((2, 1, 3)), bodies, np.zeros(3), np.zeros(3))
    body = contact.prepare(cloth, state, given, VACUUM, render_motion)
    body.room = 1e300
    seen = view.look(body, cloth, state.x, state.v, 0.0, 1.0)
    assert len(seen.cells.flags) < 50**3


def test_room_keeps_what_is_in_it():
    """A closed body with its faces inward is a room: the particle stays inside and lies on its floor."""
    x, triangles = box((2, 2, 2))
    cloth, state = particles([[0.1, 0.2, 0.0], [0.98, 0.97, 0.0]])
    simulate(cloth, state, [collider((x, triangles[:, ::-1].copy()))], 24)
    assert np.allclose(state.x[0], [0.1, 0.2, -1 + AURA], atol=1e-6)
    assert (np.abs(state.x[1]) <= 1 - 0.99 * AURA).all()


def test_edges_and_creases():
    """Over a sharp convex edge no side flips; in a crease between floor and wall it lies off both, at rest."""
    wedge = np.array([[-1, -1, -1], [-1, 1, -1], [0, -1, 0], [0, 1, 0], [1, -1, -1], [1, 1, -1]], float)
    roof = wedge, np.array([[0, 2, 1], [1, 2, 3], [2, 4, 3], [3, 4, 5]], np.int32)
    start = np.stack([np.linspace(-0.02, 0.02, 41), np.linspace(-0.3, 0.3, 41), np.full(41, 0.2)], 1)
    cloth, state = particles(start, 0.0)
    simulate(cloth, state, [collider(roof, friction=0.0)], 10)
    height = state.x[:, 2] + np.abs(state.x[:, 0])
    assert height.min() > 0.999 * AURA
    corner = np.array([[0, -1, 0], [0, 1, 0], [1, -1, 0], [1, 1, 0], [0, -1, 1], [0, 1, 1]], float)
    crease = corner, np.array([[0, 2, 1], [1, 2, 3], [0, 1, 4], [1, 5, 4]], np.int32)
    cloth, state = particles([[0.02, 0.0, 0.02]], 0.0)
    simulate(cloth, state, [collider(crease, friction=0.0)], 24, gravity=(-5, 0, -5))
    assert np.allclose(state.x, [[AURA, 0, AURA]], atol=1e-5) and np.abs(state.v).max() < 1e-4


def test_pinch_is_calm_and_heals():
    """Two closed boxes meet, overlap, part: particles between stay finite and slow, then lie outside both."""
    rng = np.random.default_rng(3)
    start = np.concatenate([rng.uniform(-0.3, 0.3, (100, 2)), rng.uniform(-0.02, 0.02, (100, 1))], 1)
    cloth, state = particles(start)
    speed, places = [], []
    gap = np.r_[np.linspace(0.05, -0.03, 16), np.full(20, -0.03), np.linspace(-0.03, 0.2, 30)]

    def press(frame):
        two = [gap[min(k, len(gap) - 1)] / 2 for k in (frame, frame + 1)]
        upper = collider(box((1, 1, 0.5)), [(0, 0, 0.25 + g) for g in two], name="Upper")
        return [upper, collider(box((1, 1, 0.5)), [(0, 0, -0.25 - g) for g in two], name="Lower")]

    simulate(cloth, state, press, 90, gravity=(0, 0, 0), watch=lambda t, x, v: (
        speed.append(np.abs(v).max()), places.append(x[:, 2].copy())))  # fmt: skip
    assert max(speed) < 1.0
    assert np.ptp(places[20 * 30 : 36 * 30], axis=0).max() < 1e-4
    assert max(speed[20 * 30 : 36 * 30]) < 0.02  # while nothing moves
    assert np.abs(state.x[:, 2]).max() < 0.1 - 0.99 * AURA


def test_less_room_than_two_auras():
    """Between two plates 6 mm apart with auras of 5 mm a particle keeps to the middle, at rest."""
    rng = np.random.default_rng(5)
    start = np.concatenate([rng.uniform(-0.5, 0.5, (50, 2)), rng.uniform(-0.002, 0.002, (50, 1))], 1)
    cloth, state = particles(start)
    heights = []
    two = [collider(plate(3, height=0.003)), collider(plate(4, height=-0.003))]
    simulate(cloth, state, two, 20, watch=lambda t, x, v: heights.append(x[:, 2].copy()))
    assert np.abs(state.x[:, 2]).max() < 0.001
    assert np.ptp(heights[-60:], axis=0).max() < 1e-4 and np.abs(state.v).max() < 1e-3


def test_several_bodies_and_their_auras():
    cloth, state = particles([[-0.5, 0, 0.1], [0.5, 0, 0.1]])
    left = collider((plate()[0] * [0.4, 1, 1] - [0.5, 0, 0], plate()[1]), aura=0.02)
    right = collider((plate()[0] * [0.4, 1, 1] + [0.5, 0, 0], plate()[1]), aura=0.001)
    nothing = Collider("Nothing", np.zeros((2, 0, 3)), np.zeros((0, 3), np.int32), 0.3, 0, AURA)
    simulate(cloth, state, [left, nothing, right], 24)
    assert np.allclose(state.x[:, 2], [0.02, 0.001], atol=1e-6)


def test_dirty_meshes():
    """Zero-area and double triangles, loose vertices and three sheets on one edge do no harm."""
    x, triangles = plate(3)
    x = np.concatenate([x, [[0, 0, 5.0], [1, 0, 0.7]]])
    more = [[0, 0, 1], [0, 1, 2], *triangles[:4], [0, 1, len(x) - 1]]
    cloth, state = particles([[0.1, 0.2, 0.2], [-0.6, 0.4, 0.2]])
    simulate(cloth, state, [collider((x, np.concatenate([triangles, more]).astype(np.int32)))], 24)
    assert np.allclose(state.x[:, 2], AURA, atol=1e-6)


def test_bad_colliders_are_named():
    cloth, state = particles([[0, 0, 0.1]])
    bad = collider(plate(), name="Arm")
    bad.x[1, 2, 0] = np.nan
    with pytest.raises(ValueError, match="Arm"):
        simulate(cloth, state, [bad], 1)
    with pytest.raises(ValueError, match="Leg"):
        simulate(cloth, state, [collider((plate()[0][:3], plate()[1]), name="Leg")], 1)


def test_far_from_the_origin():
    """10 km away the same drop ends on the same spot to a micrometre."""
    ends = []
    for place in (np.zeros(3), np.array([1e4, -1e4, 1e4])):
        cloth, state = particles([[0.1, 0.2, 0.4]])
        cloth = cloth._replace(origin=place)
        simulate(cloth, state, [collider((ball(0.3)[0] + place, ball()[1]))], 12)
        ends.append(state.x.copy())
    assert np.abs(ends[0] - ends[1]).max() < 1e-6


def test_same_bits_on_any_number_of_threads(monkeypatch):
    ends = []
    mesh = ball()  # once: np.unique may choose another of two corners that are equal but for rounding
    shared.share_from(10)
    try:
        for count in (1, 5):
            monkeypatch.setattr(threads, "thread_count", lambda count=count: count)
            threads.send_home()
            threads.muster(count)
            rng = np.random.default_rng(0)
            cloth, state = particles(rng.uniform(-0.5, 0.5, (500, 3)))
            simulate(cloth, state, [collider(mesh, [(0, 0, 0), (0.02, 0, 0.03)])], 6)
            ends.append(state.x.tobytes() + state.v.tobytes())
    finally:
        shared.share_from()
        threads.send_home()
    assert ends[0] == ends[1]


def _look_everywhere(monkeypatch):
    """Draw all triangles in the domain, and let all points ask."""
    look = view.find_near

    def find_near(triangles, trajectories, cells, drawn):
        cells.flags[:] = CELL_DRAWN
        near = look(triangles, trajectories, cells, drawn)
        cells.flags[:] = CELL_BODY | CELL_NEAR | CELL_DRAWN
        return near

    monkeypatch.setattr(view, "find_near", find_near)


@pytest.mark.parametrize("speed", [0.0, 3.0])
def test_same_bits_as_looking_everywhere(monkeypatch, speed):
    """What coarse cells leave out meets nothing: particles fall on two bodies that move, some out of their way."""
    rng = np.random.default_rng(6)
    start = rng.uniform([-1.5, -0.5, 0.0], [1.5, 0.5, 0.9], (600, 3))
    start = start[np.linalg.norm(start - [0, 0, 0.2], axis=1) > 0.26]
    velocity = speed * rng.normal(size=start.shape)
    ends, drawn = [], []
    mesh, floor = ball(0.25, 24), collider(plate(60, 8.0))

    def bodies(frame):
        path = [(0.05 * f, 0, 0.2 + 0.03 * f) for f in (frame, frame + 1)]
        return [collider(mesh, path), floor]

    for everywhere in (False, True):
        if everywhere:
            _look_everywhere(monkeypatch)
        cloth, state = particles(start)
        state.v[:] = velocity
        simulate(cloth, state, bodies, 8, render=lambda *a: (drawn.append(len(a[2])), render_motion(*a))[1])
        ends.append(state.x.tobytes() + state.v.tobytes())
    assert ends[0] == ends[1]
    assert min(drawn[: len(drawn) // 2]) < 0.8 * max(drawn)


def test_sheet_on_a_ball_comes_to_rest():
    """It drapes without a hole, and is calm once it has settled: single particles creep over the facets, no more."""
    garment = naive.sheet(21, 21, 0.9, 0.9, friction=0.5)
    garment = garment._replace(x_start=garment.x + [-0.45, -0.45, 0.42])
    cloth, state = build([garment], VACUUM)
    body = collider(ball(), friction=0.5)
    given = naive.still(garment.x_start, colliders=[body])
    for frame in range(200):
        before = state.x.copy()
        advance(cloth, state, given, frame, VACUUM)
        assert np.linalg.norm(state.x + cloth.origin, axis=1).min() > 0.4 * 0.985 + 0.8 * AURA
    speed = 24 * np.linalg.norm(state.x - before, axis=1)  # what one sees
    assert np.median(speed) < 2e-4 and np.sqrt((speed**2).mean()) < 1e-3 and speed.max() < 0.01


@pytest.mark.parametrize(("count", "cells"), [(5000, 8), (500, 12)])
def test_threads_share_the_points_or_the_triangles_of_what_is_inside(monkeypatch, count, cells):
    """However the search for what begins inside is cut, it finds those that the sphere's formula finds."""
    x = np.random.default_rng(4).uniform(-0.5, 0.5, (count, 3))
    deep = np.linalg.norm(x, axis=1)
    x, deep = (of[np.abs(deep - 0.4) > 0.02] for of in (x, deep))  # farther from the surface than the facets
    for parts in (1, 3):
        monkeypatch.setattr(body_mesh, "cut", lambda size, _, parts=parts: [
            (size * k // parts, size * (k + 1) // parts) for k in range(parts)
        ])  # fmt: skip
        cloth, state = particles(x)
        frame = FrameInput(FRAME, x[None].repeat(2, 0), (collider(ball(0.4, cells)),), np.zeros(3), np.zeros(3))
        place = contact.prepare(cloth, state, frame, VACUUM).contacts.place[: len(x)]
        assert ((place > 0) == (deep < 0.4)).all()
