# SPDX-License-Identifier: GPL-3.0-or-later
"""The velocity field of many cloths: density, rates and projection against closed forms; sheets that meet and tangle."""

import numpy as np
import pytest
from crossings import count_in
from scipy.spatial import cKDTree
from sheets import GRAVITY, sheet
from taffeta.solver.build import build
from taffeta.solver.model import Collider, FrameInput, Settings
from taffeta.solver.step import advance
from taffeta.solver.velocity_field import advected_lengths, avoid, density, project, transfer
from taffeta.solver.velocity_field.crowded_cells import find_cells
from taffeta.solver.velocity_field.sparse_grid import TILE_SLOTS, make_grid

EDGE, DT = 0.02, 1 / 240
FIELD = Settings(cloth_contact="VELOCITY_FIELD", air_drag=0.0)
STILL = FrameInput(1 / 24, np.zeros((2, 0, 3)), (), np.zeros(3), np.zeros(3))


def turned(angle):
    """A rotation matrix that leans the plane z = 0 by `angle`, towards no axis of the grid."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[0.8, -0.6, 0], [0.6, 0.8, 0], [0, 0, 1]]) @ np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])


def pile(gaps, count=24, angle=0.5, **values):
    """Parallel sheets of count x count particles, turned, with these heights [m]; cloth, state and their normal."""
    turn = turned(angle)
    sheets = [
        sheet(str(k), count, count, EDGE, place=lambda x, h=height: (x + [0.003 * h, 0.004, h]) @ turn.T, **values)
        for k, height in enumerate(gaps)
    ]
    cloth, state = build(sheets, FIELD)
    return cloth, state, turn @ [0.0, 0.0, 1.0]


def field_of(cloth, state, step=1.5 * EDGE):
    facing = density.measure(cloth, state.x)
    grid = make_grid(state.x, facing[:, 3], step)
    layers = density.rasterise(grid, facing)
    return grid, layers, *find_cells(grid, layers)


def inner(cloth, state, rim=0.1):
    """Particles that are farther than `rim` [m] from the border of their sheet."""
    return (
        np.abs(cloth.x_rest + cloth.origin - (cloth.x_rest + cloth.origin).mean(axis=0))[:, :2].max(axis=1) < 0.23 - rim
    )


def respond(cloth, state, v, dt=DT, bodies=(), t=0.1, settings=FIELD):
    """One response to particles that go on at v (n, 3) [m/s]; returns their velocities after it, and the field."""
    fields = avoid.prepare(cloth, STILL._replace(colliders=bodies), settings)
    x, x_from = state.x + dt * v, state.x.copy()
    fields.respond(cloth, x, x_from, t, dt)
    return (x - x_from) / dt, fields.parts[0]


def test_tiles_are_found_and_know_those_ahead():
    """Every slot that a particle touches is that of its place, far from the origin and below it, too."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(3000, 3)) * [0.3, 5.0, 40.0]
    step = 0.03
    grid = make_grid(x, np.ones(len(x)), step)
    places = (np.stack([(grid.key >> shift) & ((1 << 21) - 1) for shift in (42, 21, 0)], 1) - (1 << 20)).tolist()
    number = {tuple(place): t for t, place in enumerate(places)}
    assert len(number) == len(grid.key) > 5000
    for p in range(0, 3000, 100):
        cell = np.floor(x[p] / step).astype(int)
        assert np.allclose(grid.part[p], x[p] / step - cell)
        for step_up in ((-1, -1, -1), (0, 0, 0), (1, 2, 0), (2, 2, 2)):
            tile = number[tuple(((cell + step_up) // 4).tolist())]
            high = (grid.within[p] + 1 + step_up) // 4
            assert grid.ahead[grid.tile[p], high @ [4, 2, 1]] == tile
            assert np.array_equal((grid.within[p] + 1 + step_up) % 4, (cell + step_up) % 4)


@pytest.mark.parametrize("count, step", [(24, 1.5), (24, 2.5), (40, 2.0)])
def test_a_flat_sheet_has_density_one_however_it_is_meshed(count, step):
    """In its plane; at a distance z the kernel's (1 - (z / 1.5)^2)^4, in cells."""
    cloth, state, normal = pile([0.0], count)
    grid, layers, cells, _ = field_of(cloth, state, step * EDGE)
    layers, direction = layers[:, 0], layers[:, 1:7] / np.maximum(layers[:, :1], 1e-300)
    used = np.flatnonzero(layers > 0.0)
    place = np.stack([(grid.key >> shift) & ((1 << 21) - 1) for shift in (42, 21, 0)], 1)[used // TILE_SLOTS] - (
        1 << 20
    )
    centre = grid.step * (4 * place + np.stack([used >> 4 & 3, used >> 2 & 3, used & 3], 1) + 0.5)
    height = centre @ normal - state.x.mean(axis=0) @ normal
    across = np.linalg.norm(centre - state.x.mean(axis=0) - height[:, None] * normal, axis=1)
    deep = across < count * EDGE / 2 - 2.0 * grid.step
    wanted = np.clip(1.0 - (height / grid.step / 1.5) ** 2, 0.0, 1.0) ** 4
    assert deep.sum() > 50 and np.abs(layers[used] - wanted)[deep].max() < 0.1
    tensor = direction[used][deep & (wanted > 0.1)]
    nn = np.outer(normal, normal)[[0, 1, 2, 1, 0, 0], [0, 1, 2, 2, 2, 1]]
    assert np.abs(tensor - nn).max() < 1e-9
    assert len(cells.density) == 0, "a sheet alone is no crowd"


def test_layers_add_up():
    cloth, state, _ = pile([0.0, 0.001, 0.002])
    layers = field_of(cloth, state)[1]
    assert layers[:, 0].max() == pytest.approx(3.0, abs=0.25)


def test_rate_is_how_fast_the_gaps_open():
    """v = (a n + b t) (n . x) + w x x + c: a gap opens at rate a; sliding, turning and moving on have none."""
    cloth, state, normal = pile([0.0, 0.01])
    grid, _, cells, nodes = field_of(cloth, state)
    key = grid.key[nodes.slots // TILE_SLOTS]
    place = np.stack([(key >> shift) & ((1 << 21) - 1) for shift in (42, 21, 0)], 1) - (1 << 20)
    at = grid.step * (4 * place + np.stack([nodes.slots >> 4 & 3, nodes.slots >> 2 & 3, nodes.slots & 3], 1))
    along = np.cross(normal, [0.3, 1.0, 0.2])
    v = -3.0 * np.outer(at @ normal, normal) + 7.0 * np.outer(at @ normal, along) + np.cross([1.0, 2.0, 3.0], at) + 5.0
    ends = v[cells.nodes]
    rate = np.einsum("cpa,cpa->c", cells.rows.reshape(-1, 4, 4)[:, :, :3], ends[:, :3:-1] - ends[:, :4])
    assert len(rate) > 100 and np.abs(rate + 3.0).max() < 1e-9


def test_evened_layers_have_the_divergence_as_their_rate():
    """v = A x: the trace of A, whichever way the sheets face; without `evened` it is n . A n."""
    cloth, state, normal = pile([0.0, 0.01])
    grid, layers, cells, _ = field_of(cloth, state)
    gradient = np.random.default_rng(7).normal(size=(3, 3))
    rates = {}
    for name, given in (("normals", layers), ("all", density.evened(layers))):
        cells, nodes = find_cells(grid, given)
        key = grid.key[nodes.slots // TILE_SLOTS]
        place = np.stack([(key >> shift) & ((1 << 21) - 1) for shift in (42, 21, 0)], 1) - (1 << 20)
        at = grid.step * (4 * place + np.stack([nodes.slots >> 4 & 3, nodes.slots >> 2 & 3, nodes.slots & 3], 1))
        ends = (at @ gradient.T)[cells.nodes]
        rates[name] = np.einsum("cpa,cpa->c", cells.rows.reshape(-1, 4, 4)[:, :, :3], ends[:, :3:-1] - ends[:, :4])
    assert np.abs(rates["all"] - np.trace(gradient)).max() < 1e-9 and len(rates["all"]) == len(rates["normals"]) > 100
    assert np.abs(rates["normals"] - normal @ gradient @ normal).max() < 1e-9


def test_cloth_that_is_drawn_along_stirs_what_is_beside_it_in_an_isotropic_field_alone():
    """Buffet's figure 3.14: what goes through the middle of a field without divergence turns round in vortices beside
    its way; of divergence along normals alone there is none.
    """
    cloth, state, _ = pile([0.0, 0.006], friction=0.0)
    along, x = turned(0.5) @ [1.0, 0.0, 0.0], cloth.x_rest + cloth.origin
    away = np.linalg.norm(x - x.mean(axis=0), axis=1)
    v = np.where((away < 0.06)[:, None], along, 0.0)
    resting, figures = away > 0.10, {}
    for isotropic in (False, True):
        after, _ = respond(cloth, state, v, settings=FIELD._replace(field_isotropic=isotropic))
        stirred, gone = after[resting] @ along, after[away < 0.06] @ along
        figures[isotropic] = -stirred.min(), np.abs(after[resting]).max(), gone.mean()
        print(f"isotropic {isotropic}: backwards {-stirred.min():.4f}, anywhere {np.abs(after[resting]).max():.4f}, "
              f"in the middle {gone.mean():.3f} m/s")  # fmt: skip
    assert figures[False][0] < 1e-9 and figures[False][2] == pytest.approx(1.0, abs=1e-9)
    assert figures[True][0] > 1e-3 and figures[True][1] > 0.01 and figures[True][2] < 0.99


def vectors(rng, count):
    """Random velocities as the kernels have them: a zero as the fourth number."""
    return rng.normal(size=(count, 4)) * [1.0, 1.0, 1.0, 0.0]


def test_projected_field_closes_no_gap_and_takes_energy():
    """With enough steps what is left of the closing is a part 1 / (1 + GAP_WEIGHT) at most; momentum stays, energy goes."""
    rng = np.random.default_rng(2)
    cloth, state, normal = pile([0.0, 0.008, 0.016])
    _, _, cells, nodes = field_of(cloth, state)
    count = nodes.crowded_count
    mass, v = rng.uniform(0.5, 1.5, count), vectors(rng, count)
    none = np.zeros(len(cells.density))
    for iterations in (2, 60):
        system = project.System(cells.nodes, cells.rows, none, none, mass, v)
        u, scratch = np.zeros((count, 4)), project.make_scratch(len(none), count)
        project.project(system, u, 6, iterations, scratch)

        def rates(w):
            return np.einsum(
                "cpa,cpa->c", cells.rows.reshape(-1, 4, 4), w[cells.nodes[:, :3:-1]] - w[cells.nodes[:, :4]]
            )

        assert (mass[:, None] * (v + u) ** 2).sum() < 0.999 * (mass[:, None] * v**2).sum()
        assert np.abs((mass[:, None] * u).sum(axis=0)).max() < 1e-10 * np.abs(mass[:, None] * u).sum()
    assert rates(v).min() < -20.0
    assert rates(v + u).min() > 0.2 * rates(v).min()
    again = np.zeros((count, 4))
    project.project(system._replace(v=v + u), again, 6, 60, project.make_scratch(len(none), count))
    once_more = project.System(cells.nodes, cells.rows, rates(v + u) - 1e-9, none, mass, v + u)
    rest = np.zeros((count, 4))
    project.project(once_more, rest, 6, 60, project.make_scratch(len(none), count))
    assert np.abs(rest).max() == 0.0, "what closes no faster than it may is left alone"
    assert np.abs(again).sum() < 0.5 * np.abs(u).sum()


def test_a_second_round_takes_most_of_what_the_first_has_left():
    """Two layers that come at each other at 1 m/s: a heap is pressed in every substep, and what leaks it sinks by."""
    cloth, state, normal = pile([0.0, 0.008])
    grid, _, cells, nodes = field_of(cloth, state)
    key = grid.key[nodes.slots // TILE_SLOTS]
    place = np.stack([(key >> shift) & ((1 << 21) - 1) for shift in (42, 21, 0)], 1) - (1 << 20)
    at = grid.step * (4 * place + np.stack([nodes.slots >> 4 & 3, nodes.slots >> 2 & 3, nodes.slots & 3], 1))
    count, none, left = nodes.crowded_count, np.zeros(len(cells.density)), []
    v = np.pad(-np.outer((at @ normal - (at @ normal).mean()) / grid.step, normal), ((0, 0), (0, 1)))[:count]
    system = project.System(cells.nodes, cells.rows, none, none, np.ones(count), v)
    for rounds in (1, 2):
        u = np.zeros((count, 4))
        project.project(system, u, rounds, 60, project.make_scratch(len(none), count))
        ends = (v + u)[cells.nodes]
        rate = np.einsum("cpa,cpa->c", cells.rows.reshape(-1, 4, 4), ends[:, :3:-1] - ends[:, :4])
        left.append(float(np.sqrt((np.minimum(rate, 0.0) ** 2).mean())))
    print("closing left after 1 and 2 rounds [1/s]:", *(f"{each:.4f}" for each in left))
    assert left[1] < 0.25 * left[0]


def test_the_change_before_is_only_a_first_look():
    """A bad guess does not get into the answer."""
    rng = np.random.default_rng(3)
    cloth, state, _ = pile([0.0, 0.008])
    _, _, cells, nodes = field_of(cloth, state)
    count, none = nodes.crowded_count, np.zeros(len(cells.density))
    system = project.System(cells.nodes, cells.rows, none, none, np.ones(count), vectors(rng, count))
    answers = []
    for guess in (np.zeros((count, 4)), 1e3 * vectors(rng, count)):
        project.project(system, guess, 8, 80, project.make_scratch(len(none), count))
        answers.append(guess)
    assert np.abs(answers[0]).max() > 0.1
    assert np.abs(answers[0] - answers[1]).max() < 0.05


def test_friction_beside_a_body_evens_velocities_out():
    """With a weight without bound all cells' gradients vanish: the nodes go with their common momentum."""
    rng = np.random.default_rng(4)
    cloth, state, _ = pile([0.0, 0.008])
    _, _, cells, nodes = field_of(cloth, state)
    count, none = nodes.crowded_count, np.zeros(len(cells.density))
    mass, v = rng.uniform(0.5, 1.5, count), vectors(rng, count)
    system = project.System(cells.nodes, cells.rows, none - 1e9, none + 1e4, mass, v)
    u = np.zeros((count, 4))
    project.project(system, u, 30, 200, project.make_scratch(len(none), count))
    gradient = np.einsum("k,cka->ca", [1, 1, 1, 1, -1, -1, -1, -1], (v + u)[cells.nodes])
    assert np.abs(gradient).max() < 0.05 < np.abs(np.einsum("cka->ca", v[cells.nodes])).max()
    assert np.abs((mass[:, None] * u).sum(axis=0)).max() < 1e-9 * np.abs(mass[:, None] * u).sum()
    weak = np.zeros((count, 4))
    project.project(system._replace(drag=none), weak, 1, 50, project.make_scratch(len(none), count))
    assert not weak.any()


def test_motion_of_the_whole_passes_unchanged():
    cloth, state, _ = pile([0.0, 0.006])
    v = np.broadcast_to([3.0, -2.0, 1.0], state.x.shape)
    after, field = respond(cloth, state, v)
    assert len(field.grid.cells.density) > 100
    assert np.abs(after - v).max() < 1e-10


@pytest.mark.parametrize("masses", [(0.15, 0.15), (0.1, 0.4)])
def test_sheets_that_meet_stop_each_other_and_keep_momentum(masses):
    """They go on with their common velocity, whatever they weigh; what slides keeps sliding without friction."""
    turn, sheets = turned(0.5), []
    for k, mass in enumerate(masses):
        place = lambda x, k=k: (x + [0.003 * k, 0.004, 0.006 * k]) @ turn.T  # noqa: E731
        sheets.append(sheet(str(k), 24, 24, EDGE, place=place, mass=mass, friction=0.0))
    cloth, state = build(sheets, FIELD)
    normal, along, upper = turn @ [0, 0, 1.0], turn @ [1.0, 0, 0], cloth.garment == 1
    v = np.where(upper[:, None], -0.8, 0.4) * normal + np.where(upper[:, None], 0.5, 0.0) * along
    after, _ = respond(cloth, state, v)
    before, now = cloth.mass @ v, cloth.mass @ after
    assert np.abs(now - before).max() < 1e-12
    middle = inner(cloth, state)
    common = (0.4 * masses[0] - 0.8 * masses[1]) / sum(masses)
    assert np.abs(after[middle & ~upper] @ normal - common).max() < 0.1
    assert np.abs(after[middle & upper] @ normal - common).max() < 0.1
    closing = (after[middle & ~upper] @ normal).mean() - (after[middle & upper] @ normal).mean()
    assert closing < 0.03 * 1.2
    assert (after[middle & upper] @ along).mean() == pytest.approx(0.5, abs=0.02)
    assert (cloth.mass[:, None] * after**2).sum() < (cloth.mass[:, None] * v**2).sum()


def test_garments_that_have_nothing_to_do_with_each_other_have_fields_of_their_own():
    """Two sheets that meet stop each other; two others, which lie between them, go through both as if alone."""
    cloth, state, normal = pile([0.0, 0.002, 0.006, 0.008])
    first, middle = np.isin(cloth.garment, (0, 2)), inner(cloth, state)
    v = np.array([0.5, 1.0, -0.5, 1.0])[cloth.garment, None] * normal
    own = np.array([[1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1]], bool)
    after, _ = respond(cloth._replace(meets=own), state, v)
    assert np.abs(after[middle & first] @ normal).max() < 0.1
    assert np.abs(after - v)[~first].max() < 1e-10
    together, _ = respond(cloth, state, v)
    assert np.abs(together - v)[middle & ~first].max() > 0.1, "where all meet, they go on with the others"


def test_sheets_that_part_are_not_held():
    cloth, state, normal = pile([0.0, 0.006])
    v = np.where(cloth.garment[:, None] == 1, 1.0, -1.0) * normal
    after, _ = respond(cloth, state, v)
    assert np.abs(after - v).max() < 1e-12


def test_friction_takes_coulombs_part_of_the_sliding():
    """Sliding slows by the friction coefficient times what is lost along the normal, in the mean."""
    slides = {}
    for friction in (0.0, 0.2, 0.4):
        cloth, state, normal = pile([0.0, 0.006], friction=friction)
        along, upper = turned(0.5) @ [1.0, 0.0, 0.0], cloth.garment == 1
        v = np.where(upper[:, None], -0.5 * normal + 2.0 * along, 0.5 * normal)
        after, _ = respond(cloth, state, v)
        middle = inner(cloth, state)
        slides[friction] = (after[middle & upper] @ along).mean() - (after[middle & ~upper] @ along).mean()
    lost = 2.0 - np.array(list(slides.values()))
    assert lost[0] < 0.05
    assert lost[1:] == pytest.approx([0.2, 0.4], rel=0.35)


def crossed(way, pin):
    """Two sheets that cross at right angles, of which the first goes within its plane at 1 m/s, `way` (3,), and the other is
    pinned or not: how fast it goes against the other, where they cross, after a frame of ten substeps.
    """
    first = sheet("A", 24, 24, EDGE, friction=0.0)
    other = sheet("B", 24, 24, EDGE, place=lambda x: x[:, [2, 1, 0]] + [0.003, 0.002, 0.001], friction=0.0, pin=pin)
    cloth, state = build([first, other], FIELD)
    moves = cloth.garment == 0
    after = v = np.where(moves[:, None], way, [0.0, 0.0, 0.0])
    for _ in range(10):
        after, _ = respond(cloth, state, after)
    assert pin or np.abs(cloth.mass @ (after - v)).max() < 1e-12
    beside = (np.abs(state.x - state.x.mean(axis=0)) < [0.5 * EDGE, 0.14, 0.5 * EDGE]).all(axis=1)
    return float((after[beside & moves].mean(axis=0) - after[beside & ~moves].mean(axis=0)) @ way)


def test_cloth_slides_along_all_layers_beside_it_and_not_through_them():
    """Where two sheets cross, what slides within one goes through the other: hardly anything of that is left; along the line
    where they cross, both slide freely.
    """
    through, along = np.eye(3)[:2]
    figures = [crossed(through, 0.0), crossed(through, 1.0), crossed(along, 0.0), crossed(along, 1.0)]
    print(
        f"through the other, free and held: {figures[0]:.3f}, {figures[1]:.3f}; along: {figures[2]:.3f}, {figures[3]:.3f}"
    )
    assert figures[0] < 0.3 and figures[1] < 0.2 and min(figures[2:]) > 0.95


def test_thick_cloth_stops_farther_apart():
    """Two sheets that come at 1 m/s; the cells are as large for all."""
    gaps = []
    for thickness in (0.5e-3, 4e-3, 12e-3):
        places = (lambda x: x), (lambda x: x + [0.003, 0.004, 0.06])
        garments = [sheet(str(k), 20, 20, EDGE, place, thickness=thickness) for k, place in enumerate(places)]
        cloth, state = build(garments, FIELD)
        upper = cloth.garment == 1
        state.v[:, 2] = np.where(upper, -0.5, 0.5)
        given = STILL._replace(targets=(state.x + cloth.origin)[None].repeat(2, 0))
        for frame in range(1, 4):
            advance(cloth, state, given, frame, FIELD)
        gaps.append(state.x[upper, 2].mean() - state.x[~upper, 2].mean())
    print(f"gaps of 0.5, 4 and 12 mm thick sheets: {', '.join(f'{1000 * gap:.1f}' for gap in gaps)} mm")
    assert gaps[1] > gaps[0] + 3.5e-3 and gaps[2] > gaps[0] + 11.5e-3 and gaps[2] > gaps[1]


def plate(x, v):
    """A large square body that goes from x to x + v / 24."""
    corners = np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]], float) @ turned(0.5).T + x
    return Collider(
        "Plate", np.stack([corners, corners + np.asarray(v) / 24]), np.array([[0, 1, 2], [0, 2, 3]]), 0.5, 0.0, 0.003
    )


def test_nodes_beside_a_body_take_on_its_velocity():
    """Two layers that sink onto a plate that rises: nodes beside it go with it, and the layers with them."""
    cloth, state, normal = pile([0.004, 0.008])
    sinking = np.broadcast_to(-normal, state.x.shape)
    plates = plate(0.0, 0.5 * normal), plate(0.5 * normal, normal)
    after, field = respond(cloth, state, sinking, bodies=plates[:1], t=1e-3)
    solid = field.grid.solid
    heavy = solid[:, 0] > 0.0
    assert heavy.sum() > 100
    assert np.abs(solid[heavy, 1:4] / solid[heavy, :1] - 0.5 * normal).max() < 1e-9
    middle = inner(cloth, state)
    assert np.abs(after[middle] @ normal - 0.5).mean() < 0.15
    alone, field = respond(cloth, state, sinking, bodies=plates[1:])
    assert not field.grid.solid.any()
    assert np.abs(alone - sinking).max() < 1e-10, "a body that is far off does nothing"


def swing(settings, frames=12):
    """Two sheets that go through each other at right angles; every frame's state."""
    first = sheet("A", 20, 20, EDGE)
    second = sheet("B", 20, 20, EDGE, place=lambda x: x[:, [2, 1, 0]] * [1, 1, -1] + [0.003, 0.002, 0.001])
    cloth, state = build([first, second], settings)
    state.v[:] = np.where(cloth.garment[:, None] == 1, [0.6, 0.0, 0.3], [-0.2, 0.1, 0.0])
    given = STILL._replace(targets=(state.x + cloth.origin)[None].repeat(2, 0))
    states = [(state.x.copy(), state.v.copy())]
    for frame in range(1, frames + 1):
        report = advance(cloth, state, given, frame, settings)
        states.append((state.x.copy(), state.v.copy()))
    return cloth, states, report


def test_tangled_sheets_go_on_and_do_not_blow_up():
    """From a state in which they cross: energy never grows, momentum stays, nothing is torn."""
    cloth, states, report = swing(FIELD)
    energy = [0.5 * float((cloth.mass[:, None] * v**2).sum()) for _, v in states]
    assert np.isfinite(energy).all()
    assert max(energy) <= 1.02 * energy[0] and max(np.abs(v).max() for _, v in states) < 2.0
    momentum = [cloth.mass @ v for _, v in states]
    assert np.abs(momentum[-1] - momentum[0]).max() < 1e-9 * np.linalg.norm(momentum[0])
    assert report.worst_stretch < 0.1
    assert count_in(cloth, states[0][0]).cloth_cloth > 30


@pytest.mark.parametrize("contact", ["VELOCITY_FIELD", "BOTH"])
def test_same_input_same_bits(contact):
    settings = FIELD._replace(cloth_contact=contact)
    one, other = swing(settings, 2)[1], swing(settings, 2)[1]
    assert all(np.array_equal(a, b) for a, b in zip(one[-1], other[-1], strict=True))


def fall(contact, frames=14):
    """A sheet falls on another that is held at its corners; crossings in each frame, cloth and the last report."""
    corners = np.zeros(576)
    corners[[0, 23, 552, 575]] = 1.0
    lower = sheet("Lower", 24, 24, EDGE)._replace(pin=corners)
    upper = sheet("Upper", 24, 24, 0.8 * EDGE, place=lambda x: x @ turned(0.0) + [0.0, 0.0, 0.05])
    settings = Settings(cloth_contact=contact)
    cloth, state = build([lower, upper], settings)
    given = STILL._replace(targets=(state.x + cloth.origin)[None].repeat(2, 0), gravity=GRAVITY)
    crossings, worst = [], 0.0
    for frame in range(1, frames + 1):
        report = advance(cloth, state, given, frame, settings)
        worst = max(worst, report.worst_stretch)
        crossings.append(count_in(cloth, state.x))
    return cloth, state, crossings, worst


def test_a_falling_sheet_is_caught_and_keeps_its_lengths():
    cloth, state, crossings, worst = fall("VELOCITY_FIELD")
    upper, lower = state.x[cloth.garment == 1], state.x[cloth.garment == 0]
    beside = cKDTree(lower[:, :2]).query(upper[:, :2])[1]
    assert (upper[:, 2] > lower[beside, 2]).mean() > 0.9
    assert sum(c.cloth_cloth for c in crossings) < 100, "hundreds in every frame without avoidance"
    assert worst < 0.05


def test_with_pairs_after_it_nothing_crosses():
    crossings = fall("BOTH")[2]
    assert sum(c.cloth_cloth + c.cloth_self for c in crossings) == 0


def test_edges_that_the_field_lengthened_are_drawn_back_and_no_other():
    """A chain of edges of 1 m: of which one was long before, one is short, one is thrown apart, one hangs on a pin."""
    before = np.array([[0.0, 0, 0], [1.5, 0, 0], [2.0, 0, 0], [3.0, 0, 0], [4.0, 0, 0]])
    x = before + [[0.0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0.3, 0.9], [0, 0, 0]]
    edges, rest = np.array([[0, 1], [1, 2], [2, 3], [3, 4]], np.uint32), np.ones(4)
    inv_mass = np.array([1.0, 1.0, 2.0, 4.0, 0.0])
    for _ in range(40):
        advected_lengths.keep(edges, rest, inv_mass, before, x)
    length = np.linalg.norm(np.diff(x, axis=0), axis=1)
    assert length[0] <= 1.5 * (1 + 1e-9) and length[1] < 1.0
    assert length[2:] == pytest.approx(advected_lengths.FREE_LENGTH, rel=1e-3)
    assert np.array_equal(x[4], before[4])
    free = np.array([1.0, 1.0, 2.0, 4.0, 5.0])
    thrown = before + np.random.default_rng(5).normal(size=(5, 3))
    start = (thrown / free[:, None]).sum(axis=0)
    advected_lengths.keep(edges, rest, free, before, thrown)
    assert (thrown / free[:, None]).sum(axis=0) == pytest.approx(start, abs=1e-12)


def test_nothing_meets_nothing():
    """No field where no cloth meets cloth, and bad numbers are left for the step to report."""
    cloth, state = build([sheet("A", 5, 5, EDGE, self_collision=False)], FIELD)
    assert avoid.prepare(cloth, STILL, FIELD) is None
    cloth, state, _ = pile([0.0, 0.006])
    state.x[3] = np.nan
    fields = avoid.prepare(cloth, STILL, FIELD)
    assert fields.respond(cloth, state.x, state.x.copy(), 0.1, DT) == 0


def test_pinned_particles_stay():
    cloth, state, normal = pile([0.0, 0.006], pin=1.0)
    v = np.where(cloth.garment[:, None] == 1, -1.0, 1.0) * normal
    assert np.array_equal(respond(cloth, state, v)[0], (state.x + DT * v - state.x) / DT)
    assert transfer.HELD_MASSES > 10.0
