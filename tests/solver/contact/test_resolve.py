# SPDX-License-Identifier: GPL-3.0-or-later
"""The last word of a substep: sheets that are thrown about without sense, among themselves and at bodies."""

import naive
import numpy as np
import pytest
import solids
from crossings import count_in
from guarded import DT, SPIKY, at, scene
from sheets import sheet
from taffeta.solver.build import build
from taffeta.solver.contact import resolve
from taffeta.solver.contact.body.view import move_bodies
from taffeta.solver.contact.cloth import pairs as contact
from taffeta.solver.contact.guard import body_pairs, clusters, impact_zones
from taffeta.solver.model import FrameInput, Settings
from taffeta.solver.step import advance

pytestmark = pytest.mark.once

TIMES = 0.0, 1.0  # of the substep, in parts of the frame


def turned(angle):
    """A turn about z."""
    return np.array([[np.cos(angle), -np.sin(angle), 0.0], [np.sin(angle), np.cos(angle), 0.0], [0.0, 0.0, 1.0]])


def heap(thickness=2e-3):
    """Three sheets of different cells and masses above each other, the uppermost's corner pinned."""
    turn = np.array([[0.8, -0.6, 0.0], [0.6, 0.8, 0.0], [0.0, 0.0, 1.0]])
    garments = [
        sheet("A", 12, 12, 0.02, thickness=thickness),
        sheet("B", 10, 10, 0.025, lambda x: x @ turn + [0.0, 0.0, 0.004], thickness=thickness, mass=0.5),
        sheet("C", 14, 14, 0.015, lambda x: x + [0.003, 0.002, 0.008], thickness=thickness),
    ]
    garments[2].pin[0] = 1.0
    return build(garments, Settings())


@pytest.mark.parametrize("size", [1e-2, 1e-1])
@pytest.mark.parametrize("seed", [0, 1])
def test_no_cloth_crosses_cloth_whatever_the_dynamics_did(size, seed):
    """Every particle is thrown anywhere, substep after substep: at 10 cm the response alone leaves crossings at once."""
    cloth, state = heap()
    rng = np.random.default_rng(seed)
    x, v = state.x.copy(), np.zeros_like(state.x)
    pairs = contact.detect(cloth, x, v, DT, Settings())
    for _ in range(6):
        start, x_from = x.copy(), x.copy()
        free = cloth.inv_mass[:, None] > 0.0
        x += free * size * rng.normal(size=x.shape) * rng.uniform(size=(len(x), 1)) ** 4
        resolve.resolve(pairs, None, cloth, TIMES, start, x, x_from, DT)
        assert np.isfinite(x).all() and np.array_equal(x[cloth.inv_mass == 0], start[cloth.inv_mass == 0])
        assert count_in(cloth, x, ()) == (0, 0, 0)


@pytest.mark.parametrize(("turn", "way"), [(0.0, (0.0, 0.0, 0.0)), (3.0, (0.0, 0.0, 0.3)), (1.0, (0.5, 0.0, 1.0))])
@pytest.mark.parametrize("size", [1e-2, 1e-1])
def test_no_cloth_crosses_a_body_whatever_the_dynamics_did(turn, way, size):
    """Every particle is thrown anywhere, substep after substep, while a body flies and turns with up to 72 rad/s and 27
    m/s; the contact with bodies does nothing about it. All that it may touch is away from where it was expected.
    """
    mesh = SPIKY[0] * (0.06 / np.abs(SPIKY[0]).max()), SPIKY[1]
    cloth, state, collider, bodies = scene(mesh, turn, way)
    guarded, x = body_pairs.prepare(cloth, bodies), state.x
    rng = np.random.default_rng(0)
    pairs = contact.detect(cloth, x, state.v, DT, Settings())
    for number in range(10):
        start, x_from, times = x.copy(), x.copy(), (number / 10, (number + 1) / 10)
        if not contact.is_current(pairs, cloth, DT):
            pairs = contact.detect(cloth, x, state.v, DT, Settings())
        x += size * rng.normal(size=x.shape) * rng.uniform(size=(len(x), 1)) ** 4 - [0, 0, 0.01]
        move_bodies(bodies, cloth, *times)
        resolve.resolve(pairs, guarded, cloth, times, start, x, x_from, DT)
        assert np.isfinite(x).all() and not guarded.frame.tangled.any()
        assert count_in(cloth, x, (at(collider, (number + 1) / 10),)) == (0, 0, 0)


@pytest.mark.parametrize(("turn", "way"), [(0.0, (0.0, 0.0, 0.0)), (1.0, (0.5, 0.0, 1.0))])
def test_nothing_crosses_where_all_zones_are_parted(turn, way, monkeypatch):
    """Particles are thrown anywhere, beside a body that flies and turns; every zone has its tries."""
    monkeypatch.setattr(clusters, "LEAST_WHOLE_SHARE", 2.0)
    mesh = SPIKY[0] * (0.06 / np.abs(SPIKY[0]).max()), SPIKY[1]
    cloth, state, collider, bodies = scene(mesh, turn, way)
    guarded, x, rng = body_pairs.prepare(cloth, bodies), state.x, np.random.default_rng(0)
    pairs = contact.detect(cloth, x, state.v, DT, Settings())
    for number in range(6):
        start, x_from, times = x.copy(), x.copy(), (number / 10, (number + 1) / 10)
        if not contact.is_current(pairs, cloth, DT):
            pairs = contact.detect(cloth, x, state.v, DT, Settings())
        x += 0.03 * rng.normal(size=x.shape) * rng.uniform(size=(len(x), 1)) ** 4 - [0, 0, 0.01]
        move_bodies(bodies, cloth, *times)
        resolve.resolve(pairs, guarded, cloth, times, start, x, x_from, DT)
        assert np.isfinite(x).all() and not guarded.frame.tangled.any()
        assert count_in(cloth, x, (at(collider, (number + 1) / 10),)) == (0, 0, 0)


@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_what_the_guard_holds_back_from_a_body_bounces_and_slides(restitution):
    """A sheet that comes askew at a plate that sinks, stopped by the guard alone (Huh, Metaxas and Badler 2001, 3.5): it leaves
    with C_e of the normal speed, and loses (1 + C_e) of that times the friction of its tangential one.
    """
    sinking, speed, times = np.array([0.0, 0.0, -0.1]), np.array([3.0, 0.0, -2.0]), (0.0, 0.1)
    cloth, state, _, bodies = scene(solids.plate(8, 0.4), 0.0, 10 * DT * sinking, 5e-3, restitution=restitution)
    move_bodies(bodies, cloth, *times)
    guarded, start = body_pairs.prepare(cloth, bodies), state.x.copy()
    x, x_from = start + DT * speed, start.copy()
    near = body_pairs.find(guarded, times, start, x)
    zones = resolve.guard(None, guarded, near, cloth, times, start, x, x_from, DT)
    friction = np.sqrt(cloth.friction[0] * bodies.mesh.friction[0])
    slide = 3.0 - friction * (1.0 + restitution) * 1.9
    assert (zones.leader[impact_zones.roots(zones.parent)] >= 0).all()
    assert np.allclose((x - x_from) / DT, [slide, 0.0, restitution * 1.9 - 0.1], atol=1e-9)


@pytest.mark.parametrize(
    ("pushes", "pushed", "answered"), [((8, 4, 1, 1), 3, 4), ((8, 5, 5, 5), 2, 2), ((8, 3, 2, 2), 3, 3)]
)
def test_bodies_push_no_more_where_cloth_pushes_back(pushes, pushed, answered, monkeypatch):
    """Three layers, of which fifteen particles beside an arm were pushed off it by 1.1 mm and back again, three times a contact: who
    moves by over half of what the push before did is not answered.
    """
    cloth, state = build([sheet("A", 4, 4, 0.02), sheet("B", 4, 4, 0.02, lambda x: x + [0.0, 0.0, 0.1])], Settings())
    x, left, answers = state.x.copy(), list(pushes), []

    def push(bodies, near, cloth, x, x_from, dt, brace):
        x[0, 2] += 1e-3 * left.pop(0)
        return 1

    monkeypatch.setattr(resolve, "_near_bodies", lambda *_: ())
    monkeypatch.setattr(resolve, "respond", lambda *_, **given: answers.append(given) or 0)
    monkeypatch.setattr(resolve, "guard", lambda *_: None)
    monkeypatch.setattr(body_pairs, "push", push)
    pairs = contact.detect(cloth, x, state.v, DT, Settings())
    _, _, is_moved, is_contended = resolve.resolve(pairs, object(), cloth, TIMES, state.x, x, x.copy(), DT)
    assert (len(pushes) - len(left), len(answers)) == (pushed, answered)
    assert is_moved[0] and is_contended[0] == (pushes[pushed - 1] > 0.5 * pushes[pushed - 2])
    assert not is_moved[1:].any() and not is_contended[1:].any()


def test_zones_keep_momentum_and_what_meets_nothing_keeps_its_way():
    """Two particles fly through a free sheet: with it they go on as one, the sheet's far corner does not notice."""
    cloth, state = build(
        [sheet("A", 6, 6, 0.1), sheet("B", 2, 2, 0.01, lambda x: x + [0.021, 0.033, 0.05])], Settings()
    )
    start = state.x.copy()
    x, x_from = start.copy(), start.copy()
    x[36:, 2] -= 0.2
    wanted = (cloth.mass[:, None] * (x - start)).sum(axis=0)
    pairs = contact.detect(cloth, start, (x - start) / DT, DT, Settings())
    pairs.elapsed = DT
    resolve.guard(pairs, None, None, cloth, TIMES, start, x, x_from, DT)
    assert np.abs((cloth.mass[:, None] * (x - x_from)).sum(axis=0) - wanted).max() < 1e-12 * np.abs(wanted).max()
    assert (x[36:, 2] > 0.0).all() and np.array_equal(x[0], start[0])
    assert count_in(cloth, x, ()) == (0, 0, 0)


@pytest.mark.parametrize("small_steps", [0.0, 1.0])
@pytest.mark.parametrize(("speed", "noise"), [(60.0, 0.0), (50.0, 3.0)])
def test_sheets_that_collide_fast_keep_their_momentum_in_each_frame(speed, noise, small_steps, monkeypatch):
    """Two crumpled sheets meet at 120 and 100 m/s, which response alone does not stop: no frame makes or takes momentum."""
    settings = Settings(air_drag=0.0, max_speed=1e5, small_steps=small_steps)
    tilted = lambda x: x @ turned(0.7) + [0.003, 0.004, 0.02] + np.outer(x[:, 0], [0.0, 0.0, 0.2])  # noqa: E731
    cloth, state = build([sheet("A", 12, 12, 0.015), sheet("B", 14, 14, 0.012, tilted, mass=0.4)], settings)
    rng = np.random.default_rng(3)
    state.x[:] += rng.normal(size=state.x.shape) * 3e-4
    state.v[:] = np.where(cloth.garment[:, None] == 1, [0.3, 0, -speed], [0, 0.2, speed])
    state.v[:] += rng.normal(size=state.x.shape) * noise
    poses, held, guard = (state.x + cloth.origin)[None].repeat(2, 0), [], resolve.guard

    def watched(*given):
        zones = guard(*given)
        held.append(zones is not None)
        return zones

    monkeypatch.setattr(resolve, "guard", watched)
    for frame in range(1, 4):
        before, size = cloth.mass @ state.v, cloth.mass @ np.linalg.norm(state.v, axis=1)
        report = advance(cloth, state, FrameInput(1 / 24, poses, (), np.zeros(3), np.zeros(3)), frame, settings)
        assert np.abs(cloth.mass @ state.v - before).max() < 1e-12 * size
        assert report.steps > 10 or not small_steps
    assert any(held)


def test_what_is_tangled_all_over_is_not_detected_anew_in_each_round_of_the_guard(monkeypatch):
    """Three sheets of 400 vertices shuffled by three edges: 125 detections in a frame, which locked each piece in as long as it was
    thrown, ten times its length.
    """
    settings, found, given = Settings(), [], contact.detect
    monkeypatch.setattr(contact, "detect", lambda *about: found.append(0) or given(*about))
    cloth, state = build([sheet(name, 20, 20, 0.02) for name in "ABC"], settings)
    state.x[:] += 0.06 * np.random.default_rng(1).standard_normal(state.x.shape)
    report = advance(cloth, state, naive.still(state.x + cloth.origin), 1, settings)
    assert len(found) < 70
    assert report.crossings > 0 and report.worst_stretch < 1.0
