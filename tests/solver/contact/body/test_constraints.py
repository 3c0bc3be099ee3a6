# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth held up by bodies: friction by Coulomb, letting go, and loads that reach a body through few light particles."""

import naive
import numpy as np
import pytest
from solids import AURA, box, collider, finger
from taffeta.solver.build import build
from taffeta.solver.contact.body.constraints import (
    CREASED,
    FREE,
    HELD,
    STICKING_SLIP,
    find_support,
    make_support,
    weigh,
)
from taffeta.solver.contact.body.contacts import no_contacts
from taffeta.solver.model import DYNAMICS, Collider, Settings
from taffeta.solver.step import advance

pytestmark = pytest.mark.once

G = 9.81
VACUUM = Settings(air_drag=0.0)


def plane(degrees, friction, size=6.0):
    """A square that slopes down along +x, its aura 2 mm."""
    a = np.radians(degrees)
    along, across = np.array([np.cos(a), 0, -np.sin(a)]), np.array([0, 1.0, 0])
    corners = np.array([size * (i * along + j * across) for i, j in ((-1, -1), (1, -1), (1, 1), (-1, 1))])
    triangles = np.array([[0, 1, 2], [0, 2, 3]], np.int32)
    return Collider("Slope", corners[None].repeat(2, axis=0), triangles, friction, 0.0, 0.002), along


def lay(garment, degrees):
    """The garment laid on the slope, a hair over the aura."""
    a = np.radians(degrees)
    turn = np.array([[np.cos(a), 0, -np.sin(a)], [0, 1, 0], [np.sin(a), 0, np.cos(a)]])
    return garment._replace(x_start=garment.x @ turn + 0.0021 * np.array([np.sin(a), 0, np.cos(a)]))


def slide(degrees, friction, settings, count=9):
    """[m/s2] by which a sheet gets faster down a slope, and what friction takes of that on paper."""
    garment = lay(naive.sheet(count, count, friction=friction), degrees)
    cloth, state = build([garment], settings)
    slope, along = plane(degrees, friction)
    places = []
    for frame in range(24):
        advance(cloth, state, naive.still(garment.x_start, colliders=[slope]), frame, settings)
        places.append(cloth.mass @ ((state.x + cloth.origin) @ along) / cloth.mass.sum())
    speed = np.diff(places) * 24
    return np.polyfit(np.arange(15) / 24, speed[-15:], 1)[0], G * friction * np.cos(np.radians(degrees))


@pytest.mark.parametrize(("degrees", "friction"), [(20, 0.3), (30, 0.3), (45, 0.5)])
def test_cloth_slides_as_coulomb_says(degrees, friction):
    """Acceleration g (sin a - mu cos a) down a slope above the friction angle, to 4 thousandths of what friction takes."""
    found, held = slide(degrees, friction, VACUUM)
    assert found == pytest.approx(G * np.sin(np.radians(degrees)) - held, abs=0.004 * held)


@pytest.mark.parametrize("dynamics", DYNAMICS)
def test_cloth_slides_as_coulomb_says_in_every_dynamics(dynamics):
    found, held = slide(30, 0.3, VACUUM._replace(dynamics=dynamics), count=5)
    off = found - (0.5 * G - held)
    print(f"{dynamics}: {off / held:+.2%} of what friction takes")
    assert abs(off) < {"XPBD": 0.005, "IMPLICIT_EULER": 0.005, "IMPLICIT_THETA": 0.02}.get(dynamics, 0.001) * held


@pytest.mark.parametrize(
    ("friction", "viscosity", "dynamics"), [(0.0, 2.0, "XPBD"), (0.3, 4.0, "XPBD"), (0.3, 4.0, "VERLET")]
)
def test_cloth_on_a_viscous_slope_comes_to_a_steady_speed(friction, viscosity, dynamics):
    """v = g (sin a - mu cos a) / c (1 - exp(-c t)), with Coulomb's friction mu and the viscous one, c (Bigliani and Eischen 2000,
    3.2).
    """
    settings, a = VACUUM._replace(dynamics=dynamics), np.radians(30)
    garment = lay(naive.sheet(5, 5, friction=friction), 30)
    cloth, state = build([garment], settings)
    slope, along = plane(30, friction)
    slope, speed = slope._replace(viscosity=viscosity), []
    for frame in range(36):
        advance(cloth, state, naive.still(garment.x_start, colliders=[slope]), frame, settings)
        speed.append(cloth.mass @ (state.v @ along) / cloth.mass.sum())
    time, steady = np.arange(1, 37) / 24, G * (np.sin(a) - friction * np.cos(a)) / viscosity
    assert speed == pytest.approx(steady * (1.0 - np.exp(-viscosity * time)), abs=0.02 * steady)


def test_a_viscous_floor_takes_cloth_along():
    """Without Coulomb's friction: v = w (1 - exp(-c t)) on a floor that goes by w."""
    garment, speed, viscosity, w = lay(naive.sheet(5, 5, friction=0.0), 0), [], 3.0, 0.5
    cloth, state = build([garment], VACUUM)
    floor, along = plane(0, 0.0)
    for frame in range(1, 25):
        way = np.multiply.outer(w * np.array([frame - 1, frame]) / 24, along)
        body = floor._replace(x=floor.x + way[:, None], viscosity=viscosity)
        advance(cloth, state, naive.still(garment.x_start, colliders=[body]), frame, VACUUM)
        speed.append(state.v[:, 0].mean())
    assert speed == pytest.approx(w * (1.0 - np.exp(-viscosity * np.arange(1, 25) / 24)), abs=0.012 * w)


@pytest.mark.parametrize(("degrees", "friction"), [(15, 0.3), (25, 0.5)])
def test_friction_holds_without_creep(degrees, friction):
    """Below the friction angle: after settling, nothing moves by a tenth of a millimetre in four seconds."""
    garment = lay(naive.sheet(9, 9, friction=friction), degrees)
    cloth, state = build([garment], VACUUM)
    slope, _ = plane(degrees, friction)
    for frame in range(120):
        advance(cloth, state, naive.still(garment.x_start, colliders=[slope]), frame, VACUUM)
        if frame == 23:
            settled = state.x.copy()
    assert np.abs(state.x - settled).max() < 1e-4


def band(radius, tight, height=0.06, around=48, rows=5):
    """A band about the z-axis, just over the radius [m], whose own is `tight` times as large."""
    turn = 2.0 * np.pi * np.arange(around) / around
    ring = np.stack([np.cos(turn), np.sin(turn), 0.0 * turn], axis=1)
    x = (
        np.concatenate([ring * [1.0, 1.0, 0.0] + [0.0, 0.0, z / radius] for z in np.linspace(0.0, height, rows)])
        * radius
    )
    i, j = np.divmod(np.arange(around * (rows - 1)), around)
    a, b = i * around + j, i * around + (j + 1) % around
    quads = np.stack([a, b, b + around, a + around], axis=1)
    wide = 1e-4 / radius + 1.0 / np.cos(np.pi / around)
    garment = naive.garment(
        x * [tight, tight, 1.0], np.concatenate([quads[:, :3], quads[:, [0, 2, 3]]]), quads, friction=0.5
    )
    return garment._replace(x_start=x * [wide, wide, 1.0])


@pytest.mark.parametrize("tight", [0.9, 0.995])
def test_a_tight_band_stays_where_it_is(tight):
    """On an upright limb its tension alone holds it up. Without that in what a frame's first step knows of friction it fell freely in
    each of them, by 4 mm a second for ever.
    """
    limb, faces = finger(1.0, 0.1, around=48)
    garment = band(0.1 + AURA, tight)
    cloth, state = build([garment], Settings())
    limb = collider((limb[:, [1, 2, 0]] + [0.0, 0.0, 0.5], faces), friction=0.5)
    for frame in range(36):
        advance(cloth, state, naive.still(garment.x_start, colliders=[limb]), frame, Settings())
        if frame == 11:
            settled = state.x.copy()
    assert np.abs(state.x - settled).max() < 1e-4


def test_what_is_pulled_lets_go():
    """A sheet on the floor, lifted by one edge: it comes off, all of it, and hangs."""
    garment = naive.sheet(8, 6, 0.4, 0.3, pin=np.arange(48) < 6)
    garment = garment._replace(x_start=garment.x + [0, 0, 0.0021])
    cloth, state = build([garment], VACUUM)
    floor, _ = plane(0, 0.8)
    pose = garment.x_start
    for frame in range(48):
        lifted = pose + [0, 0, 0.025]
        advance(cloth, state, naive.still(np.stack([pose, lifted]), colliders=[floor]), frame, VACUUM)
        pose = lifted
    for frame in range(24):
        advance(cloth, state, naive.still(pose, colliders=[floor]), frame, VACUUM)
    height = (state.x + cloth.origin)[:, 2]
    assert height.min() > 0.5 and height.max() - height.min() == pytest.approx(0.4, rel=0.1)


def test_a_light_rim_carries_the_cloth():
    """A collar of small cells on a peg holds the heavy sheet below: its 4 mm edges stretch by a millimetre at most."""
    ring, rows = 24, 7
    radius = np.concatenate([[0.075, 0.079, 0.083], np.linspace(0.12, 0.4, rows - 3)])
    angle = np.linspace(0, 2 * np.pi, ring, endpoint=False)
    x = np.stack([np.outer(radius, np.cos(angle)), np.outer(radius, np.sin(angle)), np.zeros((rows, ring))], axis=2)
    index = np.arange(rows * ring).reshape(rows, ring)
    quads = np.stack([index[:-1], index[1:], np.roll(index[1:], -1, 1), np.roll(index[:-1], -1, 1)], 2).reshape(-1, 4)
    triangles = np.concatenate([quads[:, :3], quads[:, [0, 2, 3]]])
    edges = np.concatenate([quads[:, [0, 1]], quads[:, [1, 2]], quads[:, [3, 0]]])
    garment = naive.garment(x.reshape(-1, 3), triangles, edges=edges, quads=quads, friction=0.6)
    garment = garment._replace(x_start=garment.x + [0, 0, 0.26])
    height, wide = np.linspace(0.3, 0.1, 9), np.concatenate([[0.02], np.linspace(0.05, 0.2, 8)])
    cone = np.concatenate([np.stack([w * np.cos(angle), w * np.sin(angle), h + 0 * angle], 1)
                           for h, w in zip(height, wide, strict=True)])  # fmt: skip
    rim = np.arange(9 * ring).reshape(9, ring)
    sides = np.stack([rim[:-1], rim[1:], np.roll(rim[1:], -1, 1), np.roll(rim[:-1], -1, 1)], 2).reshape(-1, 4)
    faces = np.concatenate([sides[:, :3], sides[:, [0, 2, 3]]]).astype(np.int32)
    body = Collider("Cone", cone[None].repeat(2, axis=0), faces, 0.6, 0.0, 0.003)
    cloth, state = build([garment], Settings())
    for frame in range(48):
        worst = advance(cloth, state, naive.still(garment.x_start, colliders=[body]), frame, Settings()).worst_stretch
    assert (state.x + cloth.origin)[:ring, 2].min() > 0.1, "the collar is still on the cone"
    assert worst < 0.3


def groove(half, friction=0.1):
    """Two walls that meet at the origin, `half` [degrees] from the upright each, and the height of what touches both."""
    turn, walls = np.radians(half), []
    for side in (-1, 1):
        x, triangles = box((0.05, 0.8, 0.3), (0.025 * side, 0.0, 0.15))
        c, s = np.cos(side * turn), np.sin(side * turn)
        x = x @ np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]]).T
        walls.append(Collider("Wall", x[None].repeat(2, axis=0), triangles, friction, 0.0, 0.005))
    return walls, 0.005 / np.sin(turn)


@pytest.mark.parametrize(
    ("half", "pull", "aside"), [(25, 0.05, 0.005), (25, 0.3, 0.0), (45, 0.1, 0.0), (45, 0.3, 0.005)]
)
def test_what_is_pulled_into_a_crease_rests_on_both_sides_of_it(half, pull, aside):
    """Held off one of the walls alone it slid into the other, and back: by 4 to 9 mm a frame, or through both."""
    walls, height = groove(half)
    rest, low = np.array([[0, 0, 0.02], [0, -0.02, 0], [0, 0.02, 0]]), height - 0.02 * (1.0 + pull)
    start = np.array([[0.001, 0.0, height + 0.001], [aside, -0.02, low], [aside, 0.02, low]])
    garment = naive.garment(rest, np.array([[0, 1, 2]]), pin=np.array([0.0, 1.0, 1.0]))._replace(x_start=start)
    cloth, state = build([garment], Settings())
    seen = []
    for frame in range(24):
        advance(cloth, state, naive.still(start, colliders=walls), frame, Settings())
        seen.append(state.x[0] + cloth.origin)
    assert np.linalg.norm(np.diff(seen[12:], axis=0), axis=1).max() < 1e-4
    assert np.allclose(seen[-1], [0.0, 0.0, height], atol=4e-3) and seen[-1][2] > height - 1e-4


def test_a_crease_holds_on_both_sides_and_lets_go_of_the_one_that_would_pull():
    """Of surfaces that look to x and z, the one that looks to x moves; friction is along y."""
    cloth, _ = build([naive.sheet(2, 2)], Settings())
    support, dt, contacts = make_support(cloth), 0.01, no_contacts(4, 0)
    contacts.count[0], contacts.friction[0] = 2, 0.4
    contacts.normal[0], contacts.velocity[0, 0] = [[1, 0, 0], [0, 0, 1]], [0.3, 0, 0]
    x = np.tile([0, 4e-3, -1e-3], (4, 1))
    find_support(len(x), x, 0.0 * x, cloth.inv_mass, contacts, support, dt)
    assert support.kind.tolist() == [CREASED, FREE, FREE, FREE] and np.allclose(np.abs(support.normal[0]), [0, 1, 0])
    assert np.allclose(support.want[0], [3e-3, 0, 1e-3], atol=1e-5)
    assert np.allclose(support.tangential[0], [0, -4e-3, 0])
    r, d = np.zeros((4, 3)), support.want + support.tangential
    r[0] = -2.0, 0.0, -3.0
    weigh(len(d), d, r, cloth.inv_mass, contacts, support, dt)
    assert support.force[0] == pytest.approx(5.0, rel=0.02) and not support.released.any()
    r[0] = 2.0, 0.0, -3.0
    weigh(len(d), d, r, cloth.inv_mass, contacts, support, dt)
    assert support.released[0].tolist() == [1.0, 0.0, 0.0] and support.force[0] == pytest.approx(3.0, rel=0.02)
    find_support(len(x), x, 0.0 * x, cloth.inv_mass, contacts, support, dt)
    assert support.kind[0] == HELD and support.normal[0].tolist() == [0.0, 0.0, 1.0] and contacts.count[0] == 1


def test_supports_are_what_touched_and_presses():
    """Six particles: untouched, new and sliding, new and still, pulled, known and sliding, known and still."""
    cloth, _ = build([naive.sheet(3, 2)], Settings())
    support, dt = make_support(cloth), 0.01
    contacts = no_contacts(6, 0)
    contacts.count[1:] = 1
    contacts.normal[:, 0, 2], contacts.friction[:, 0] = 1.0, 0.4
    contacts.velocity[[1, 4], 0, 0] = 0.5
    support.kind[3:] = HELD
    support.force[3:] = -1.0, 2.0, 3.0
    support.slip[3:] = STICKING_SLIP, 0.004, STICKING_SLIP
    x = np.tile([0, 0, -1e-3], (6, 1))
    find_support(len(x), x, 0 * x, cloth.inv_mass, contacts, support, dt)
    assert support.kind.tolist() == [FREE, HELD, HELD, FREE, HELD, HELD]
    assert np.allclose(support.want[[1, 2, 4, 5]], [0, 0, 1e-3], atol=1e-5)
    assert np.allclose(support.tangential, [[0, 0, 0], [0.005, 0, 0], [0, 0, 0], [0, 0, 0], [0.005, 0, 0], [0, 0, 0]])
    weight = 1e-3 / (cloth.inv_mass[1:3] * dt**2)
    assert np.allclose(support.force[1:3], weight) and support.force[3] == 0
    assert np.allclose(support.drag[1:3], 0.4 * weight / [0.005 - 0.4e-3, STICKING_SLIP])
    assert np.allclose(support.drag[4:], [0.4 * 2.0 / 0.004, 0.4 * 3.0 / STICKING_SLIP])
    # the solve moved all with the body but particle 4, which lags by 3 mm, and 5, which has to be held by too much
    d = support.want + support.tangential
    d[4, 0], d[5, 0] = 0.002, 2 * STICKING_SLIP
    r = np.zeros((6, 3))
    r[:, 2] = [0, -2.0, 5.0, 0, -2.0, -3.0]
    weigh(len(d), d, r, cloth.inv_mass, contacts, support, dt)
    assert np.allclose(support.force[[1, 2, 4, 5]], [2, -5, 2, 3], rtol=0.02)
    assert support.slip[1] == STICKING_SLIP, "it moves with the body: it sticks"
    assert support.slip[4] == pytest.approx(2 * 0.003 - 0.004), "a slip that slows goes on slowing"
    assert support.slip[5] == pytest.approx(2 * STICKING_SLIP), "it begins to slip"


def test_a_sheet_that_sticks_does_not_shake():
    """Friction's stiffness must not be all that the solve looks at: a sheet over a torus stays as long as it was."""
    turn = np.linspace(0, 2 * np.pi, 48, endpoint=False)
    around, across = (angle.ravel() for angle in np.meshgrid(turn, turn[::3], indexing="ij"))
    ring = 0.3 + 0.1 * np.cos(across)
    x = np.stack([ring * np.cos(around), ring * np.sin(around), 0.1 * np.sin(across)], axis=1)
    index = np.arange(len(x)).reshape(48, 16)
    right, up = np.roll(index, -1, axis=0), np.roll(index, -1, axis=1)
    both = np.roll(right, -1, axis=1)
    corners = [[index, right, both], [index, both, up]]
    triangles = np.concatenate([np.stack(three, axis=-1).reshape(-1, 3) for three in corners]).astype(np.int32)
    torus = Collider("Torus", x[None].repeat(2, axis=0), triangles, 0.8, 0.0, 0.005)
    garment = naive.sheet(31, 31, 1.0, 1.0, friction=0.8, stretch_stiffness=2500.0, shear_stiffness=60.0)
    garment = garment._replace(x_start=garment.x + [-0.5, -0.5, 0.15])
    cloth, state = build([garment], Settings())
    for frame in range(40):
        report = advance(cloth, state, naive.still(garment.x_start, colliders=[torus]), frame, Settings())
        assert report.worst_stretch < 0.06, frame
