# SPDX-License-Identifier: GPL-3.0-or-later
"""The solve of a substep against a dense one; the tree of groups against sums over its groups."""

import naive
import numba
import numpy as np
import pytest
import triangulated
from taffeta.solver.build import HINGE_FIELDS, build
from taffeta.solver.contact.body.constraints import make_support
from taffeta.solver.contact.cloth.constraints import NO_STACK, Stack
from taffeta.solver.forces.optional import Pulls
from taffeta.solver.integrate import tree
from taffeta.solver.integrate.pcg import correct, solve
from taffeta.solver.integrate.pieces import free_pieces
from taffeta.solver.integrate.preconditioner import gather_up, hand_down
from taffeta.solver.integrate.stiffness_matrix import ROW_STEP, lay_out
from taffeta.solver.integrate.system import BEND, Target, make_scratch, make_system
from taffeta.solver.kernel import phases, threads
from taffeta.solver.model import Settings
from taffeta.solver.step import advance

DT = 1 / 240
UNPULLED = Pulls(np.zeros(0, np.int32), np.zeros((0, 3)), np.zeros(0))


def bound(cloth):
    """No piece of it is free."""
    return free_pieces(cloth, np.arange(len(cloth.mass)))


def solved(cloth, x, x_prev, iterations, tolerance, held=None, guess=(0.0, 0.0, 0.0), stack=None):
    """Moves x; returns iterations, `Scratch` and `Solution`. held : kind, normal, want"""
    support = make_support(cloth)
    if held is not None:
        support = support._replace(kind=held[0], normal=held[1], want=held[2])
    system, stack = make_system(cloth.matrix, cloth.mass, bound(cloth)), NO_STACK if stack is None else stack
    taken = solve(system, x, x_prev, support, stack, UNPULLED, Target(guess, DT, 0.0, iterations, tolerance))
    correct(system, x, x_prev)
    return taken, system.scratch, system.solution


def crumpled(**changes):
    rng = np.random.default_rng(5)
    garment = naive.sheet(7, 6, 0.4, 0.3, "alternating", bending_stiffness=1e-3, **changes)
    cloth, state = build([garment], Settings())
    return naive.uncoupled(cloth), state.x + rng.normal(size=state.x.shape) * 0.01, rng


def test_a_loss_of_nothing_is_a_cloth_without_bending_damping():
    """As tangled cloth is solved; with the damping it goes elsewhere."""
    (cloth, x, rng), found = crumpled(bending_damping=0.1, damping=0.0), []
    x_prev = x - rng.normal(size=x.shape) * 1e-3
    without = lay_out(cloth._replace(bend_damping=np.zeros_like(cloth.bend_damping)))
    same = {
        name: getattr(cloth.matrix, name) for name in ("stencils", "weight", "turn_start", "turn")
    }  # of no hinge left out
    hinge = cloth.matrix.hinge._replace(damping=np.zeros(len(cloth.bend_stencils)))
    undamped = cloth._replace(matrix=without._replace(hinge=hinge, **same))
    for each, loss in ((cloth, 0.0), (undamped, 1.0), (cloth, 1.0)):
        system = make_system(each.matrix, each.mass, bound(each))
        target = Target((0.0, 0.0, 0.0), DT, 0.0, 64, 1e-9, loss)
        solve(system, x, x_prev, make_support(each), NO_STACK, UNPULLED, target)
        found.append(system.solution.correction.copy())
    assert np.array_equal(found[0], found[1])
    assert np.abs(found[2] - found[0]).max() > 1e-4


@numba.njit
def _precondition(matrix, s):
    parts = s.slot_starts.shape[0] - 1
    for part in range(parts):
        gather_up(part, parts, matrix, s)
    for part in range(parts):
        hand_down(part, parts, matrix, s)


def limp(cloth):
    """The cloth without hinges."""
    none = {field: getattr(cloth, field)[:0] for field in HINGE_FIELDS}
    cloth = cloth._replace(**none)
    return cloth._replace(matrix=lay_out(cloth))


def supports(count, rng):
    """Every fourth particle held along a direction, two wholly."""
    kind = np.where(np.arange(count) % 4 == 0, np.int8(1), np.int8(0))
    kind[[5, 11]] = 2
    normal = rng.normal(size=(count, 3))
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    want = np.where(kind[:, None] == 1, 0.01 * normal, 0.0)
    want[[5, 11]] = [0.01, 0.02, -0.01]
    return kind, normal, want


def free_part(kind, normal):
    """(3 n, 3 n) projection on what may move."""
    keep = np.zeros((3 * len(kind), 3 * len(kind)))
    for i, one in enumerate(kind):
        block = np.eye(3) if one == 0 else np.eye(3) - np.outer(normal[i], normal[i]) if one == 1 else np.zeros((3, 3))
        keep[3 * i : 3 * i + 3, 3 * i : 3 * i + 3] = block
    return keep


def system(cloth, x):
    """Matrix M / dt^2 + K and force at x, from the energies' own second differences."""
    count = x.size
    k = cloth.edge_stiffness
    matrix = np.diag(np.repeat(cloth.mass / DT**2, 3))
    force = np.zeros(count)
    for (i, j), rest, stiff in zip(cloth.edges, cloth.rest_length, k, strict=True):
        across = x[j] - x[i]
        length = np.linalg.norm(across)
        u = across / length
        tension = max(1 - rest / length, 0)
        block = stiff * (tension * np.eye(3) + (1 - tension) * np.outer(u, u))
        ends = [slice(3 * i, 3 * i + 3), slice(3 * j, 3 * j + 3)]
        for a in (0, 1):
            force[ends[a]] += (1 - 2 * a) * stiff * (length - rest) * u
            for b in (0, 1):
                matrix[ends[a], ends[b]] += block if a == b else -block
    for four, weight, stiff in zip(cloth.bend_stencils, cloth.bend_weight, cloth.bend_stiffness, strict=True):
        bend = weight @ x[four]
        for a in range(4):
            force[3 * four[a] : 3 * four[a] + 3] -= stiff * weight[a] * bend
            for b in range(4):
                at = slice(3 * four[a], 3 * four[a] + 3), slice(3 * four[b], 3 * four[b] + 3)
                matrix[at] += stiff * weight[a] * weight[b] * np.eye(3)
    return matrix, force


def lying(count, rng, rows=12):
    """`Stack` of rows between four particles each, several of which share some; the last has one particle twice."""
    stencils = np.array([rng.choice(count, 4, replace=False) for _ in range(rows)], np.int32)
    stencils[-1, 1] = stencils[-1, 0]
    row = np.concatenate([20.0 * rng.normal(size=(rows, 3)), np.zeros((rows, 1))], axis=1)
    weight = rng.dirichlet([1, 1], (rows, 2)) * [[[1], [-1]]]
    return Stack(stencils, weight.reshape(rows, 4), row, rng.random(rows) * 0.1, np.arange(rows, dtype=np.int32))


def add_rows(matrix, force, stack, went):
    """What rows of cloth on cloth add, where particles went (n, 3) to the first guess."""
    for four, weight, row, room in zip(stack.stencils, stack.weight, stack.row, stack.room, strict=True):
        across = np.zeros(went.shape)
        np.add.at(across, four, weight[:, None] * row[:3])
        matrix += np.outer(across, across)
        force -= (room + (across * went).sum()) * across.ravel()


@pytest.mark.parametrize("parts", [1, 4])
@pytest.mark.parametrize("held", [False, True])
@pytest.mark.parametrize("has_rows", [False, True])
def test_solve_equals_the_dense_one(has_rows, held, parts, monkeypatch):
    monkeypatch.setattr(phases, "SMALLEST_PHASE_PART", 4)
    monkeypatch.setattr(phases, "MOST_PHASE_PARTS", parts)
    cloth, x, rng = crumpled(damping=0.0)
    count = len(x)
    kind, normal, want = supports(count, rng)
    if not held:
        kind, want = 0 * kind, 0 * want
    matrix, force = system(cloth, x + want)  # forces and matrix are those at the first guess
    stack = lying(count, rng) if has_rows else NO_STACK
    add_rows(matrix, force, stack, want)
    keep = free_part(kind, normal)
    rest = keep @ (force - np.repeat(cloth.mass / DT**2, 3) * want.ravel())
    expected = want.ravel() + keep @ np.linalg.lstsq(keep @ matrix @ keep, rest, rcond=None)[0]
    y = x.copy()
    taken, _, solution = solved(cloth, y, x, 300, 1e-10, (kind, normal, want), stack=stack)
    assert 5 < taken < 300
    assert np.abs((y - x).ravel() - expected).max() < 1e-8 * np.abs(expected).max()
    left = force - np.repeat(cloth.mass / DT**2, 3) * want.ravel() - matrix @ (expected - want.ravel())
    assert np.allclose(solution.residual.ravel(), left, atol=1e-6 * np.abs(force).max()), "what supports have to bear"


def test_who_works_changes_no_bit(monkeypatch):
    """Four parts on one thread, on two and on four."""
    monkeypatch.setattr(phases, "SMALLEST_PHASE_PART", 4)
    monkeypatch.setattr(phases, "MOST_PHASE_PARTS", 4)
    monkeypatch.setattr(threads, "thread_count", lambda: 4)
    cloth, x, rng = crumpled()
    held, stack, ends = supports(len(x), rng), lying(len(x), rng), []
    try:
        for spared in (3, 2, 0, 0):
            threads.spare(spared)
            y = x.copy()
            _, scratch, solution = solved(cloth, y, x, 20, 1e-9, held, stack=stack)
            ends.append([array.tobytes() for array in (y, *solution)])
    finally:
        threads.spare(0)
    assert len(scratch.crown) == 8 and all(end == ends[0] for end in ends)


def test_cloth_at_rest_needs_no_iteration():
    """A hanging sheet in equilibrium: the first guess, gravity taken back, is the answer."""
    garment = naive.sheet(9, 9, pin=np.arange(81) % 9 == 8, damping=50.0)
    settings = Settings(air_drag=0.0, iterations=100, tolerance=1e-9)
    cloth, state = build([garment], settings)
    for frame in range(100):
        advance(cloth, state, naive.still(garment.x, gravity=(0, -9.81, 0)), frame, settings)
        state.v[:] *= 0.7
    g = 9.81 * DT**2
    x = state.x.copy()
    x[:, 1] += np.where(cloth.inv_mass > 0, -g, 0.0)
    solved(cloth, x, state.x, 0, 0.1, guess=(0.0, g, 0.0))
    assert np.abs(x - state.x).max() < 1e-3 * g


@pytest.mark.parametrize("aslant", [0.0, 1e-9, 1e-5])
@pytest.mark.parametrize("normal", [[0.0, 0.0, 1.0], [0.48, -0.6, 0.64]])
def test_what_a_flat_body_holds_is_solved_for(normal, aslant):
    """Whole branches of the tree are held along one normal, or nearly: they weigh nothing along it but by rounding."""
    cloth, x, rng = crumpled(damping=0.0)
    cloth, leaves = limp(cloth), np.unique(cloth.leaf)
    kind = np.where(np.isin(cloth.leaf, leaves[: len(leaves) // 2]), np.int8(1), np.int8(0))
    normal = np.array(normal) + aslant * rng.normal(size=x.shape)
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    matrix, force = system(cloth, x)
    keep = free_part(kind, normal)
    expected = np.linalg.lstsq(keep @ matrix @ keep, keep @ force, rcond=None)[0]
    y = x.copy()
    taken, _, _ = solved(cloth, y, x, 60, 1e-3, (kind, normal, np.zeros_like(x)))
    assert 5 < taken < 30
    assert np.linalg.norm((y - x).ravel() - expected) < 0.03 * np.linalg.norm(expected)


@pytest.mark.parametrize("parts", [1, 4])
@pytest.mark.parametrize("held", [False, True])
def test_nodes_feel_what_their_particles_feel_as_one_piece(held, parts, monkeypatch):
    """Each node's block is the inverse of P^T S A S P, P what moving and turning it does to its particles; and inertia where
    they are held.
    """
    monkeypatch.setattr(phases, "SMALLEST_PHASE_PART", 4)
    monkeypatch.setattr(phases, "MOST_PHASE_PARTS", parts)
    monkeypatch.setattr(tree, "LEAF_PARTICLES", 6)
    cloth, x, rng = crumpled(damping=0.0)
    kind, normal, _ = supports(len(x), rng)
    if held:  # no tension and no hinges, so that blocks at supports are exact, too
        x = x * (0.9 * cloth.rest_length / np.linalg.norm(x[cloth.edges[:, 1]] - x[cloth.edges[:, 0]], axis=1)).min()
        cloth = limp(cloth)
    else:
        kind = 0 * kind
    matrix, _ = system(cloth, x)
    keep = free_part(kind, normal)
    inertia = np.diag(np.repeat(cloth.mass / DT**2 * (kind == 1), 3)) @ (np.eye(3 * len(x)) - keep)
    matrix, compared = keep @ matrix @ keep + inertia, 0
    node_block = solved(cloth, x.copy(), x, 0, 0.1, (kind, normal, np.zeros_like(x)))[1].node_block
    for node in range(1, len(node_block) // 12):
        inside, at = np.zeros(len(x), bool), cloth.leaf.copy()
        while at.max() > 0:
            inside |= at == node
            at >>= 1
        off = x - x[cloth.matrix.order[cloth.matrix.node_first[node]]]
        turned = -np.cross(off[:, :, None], np.eye(3)[None], axisa=1, axisb=1).transpose(0, 2, 1)
        moves = (np.concatenate([np.tile(np.eye(3), (len(x), 1, 1)), turned], axis=2) * inside[:, None, None]).reshape(
            -1, 6
        )
        assert np.allclose(moves @ [0, 0, 0, 1, 2, 3], np.cross([1, 2, 3], off * inside[:, None]).ravel())
        expected = moves.T @ matrix @ moves
        scale = np.sqrt(np.maximum(np.diag(expected), 1e-12))
        if np.linalg.cond(expected / np.outer(scale, scale)) < 1e6:
            rows = node_block[12 * node : 12 * node + 12, :3]
            found = np.block([[rows[:3], rows[3:6]], [rows[6:9], rows[9:]]])
            assert np.allclose(found @ expected, np.eye(6), atol=1e-4), node
            compared += 1
    assert compared > 5


def test_the_preconditioner_is_symmetric_and_positive():
    cloth, x, rng = crumpled()
    kind, normal, want = supports(len(x), rng)
    scratch = solved(cloth, x.copy(), x, 1, 0.1, (kind, normal, want))[1]
    columns = []
    for unit in np.eye(x.size):
        scratch.r[:] = np.pad(unit.reshape(x.shape)[cloth.matrix.order], ((0, 0), (0, 1)))
        _precondition(cloth.matrix, scratch)
        columns.append(scratch.z[cloth.matrix.slot, :3].ravel())
    matrix = np.array(columns)
    assert np.abs(matrix - matrix.T).max() < 1e-12 * np.abs(matrix).max()
    values = np.linalg.eigvalsh(matrix)
    held = (kind == 1).sum() + 3 * (kind == 2).sum()
    assert (values > 1e-9 * values.max()).sum() == x.size - held and values.min() > -1e-12 * values.max()


def test_cloth_without_hinges_takes_the_same_kernels():
    """Other types of arrays would have the solve compiled anew in the middle of a bake."""
    with_hinges, without = (build([naive.sheet(4, 4, model=model)], Settings())[0] for model in ("FABRIC", "SPRINGS"))
    assert len(with_hinges.bend_stencils) and not len(without.bend_stencils)
    one, other = (
        [
            array.dtype
            for array in (*matrix.spring, *matrix.hinge, *matrix._replace(spring=matrix.order, hinge=matrix.order))
        ]
        for matrix in (with_hinges.matrix, without.matrix)
    )
    assert one == other


def test_nothing_is_kept_twice_or_for_nobody():
    """What hinges weigh is in memory once, and springs that pull for no other need no room for how long they are."""
    fabric, membrane = (build([naive.sheet(4, 4, model=model)], Settings())[0] for model in ("FABRIC", "MEMBRANE"))
    assert np.shares_memory(fabric.matrix.weight, fabric.bend_weight)
    assert np.shares_memory(fabric.matrix.hinge.stiffness, fabric.bend_stiffness)
    assert np.shares_memory(fabric.matrix.hinge.rest, fabric.rest_angle)
    assert np.shares_memory(fabric.matrix.spring.rest, fabric.rest_length)
    for numbers in (fabric.matrix.spring.stiffness, fabric.matrix.spring.bound):
        assert np.shares_memory(numbers, fabric.edge_stiffness)
    assert len(fabric.matrix.couple_start) == 1 and len(membrane.matrix.couple_start) == len(membrane.edges) + 1
    system = make_system(fabric.matrix, fabric.mass, bound(fabric))
    scratch, solution = system.scratch, system.solution
    for left, place in zip(solution, (scratch.p, scratch.q, scratch.d), strict=True):
        assert np.shares_memory(left, place) and left.flags.c_contiguous and not left.any()
    assert np.shares_memory(scratch.turns, scratch.node_block) and np.shares_memory(scratch.displacement, scratch.z)
    assert len(membrane.couples) and not len(fabric.couples)
    assert len(make_scratch(membrane.matrix).lengthening) == len(membrane.edges) and not len(
        make_scratch(fabric.matrix).lengthening
    )


def test_far_rows_end_in_step():
    """Rows differ by whole steps, by entries of their own particle that add nothing; all others are there once."""
    cloth, _ = build([triangulated.sheet(12, 12, way="crooked", bending_stiffness=1e-3)], Settings())
    matrix, rows = cloth.matrix, np.diff(cloth.matrix.far_start)
    assert len(set(rows.tolist())) > 1 == len(set((rows % ROW_STEP).tolist()))
    own = np.repeat(np.arange(len(rows)), rows)
    is_own = matrix.far == own
    assert not matrix.far_bend[is_own].any() and matrix.far_bend[~is_own, BEND].all()
    pairs = np.stack([own, matrix.far], axis=1)[~is_own]
    assert len(np.unique(pairs, axis=0)) == len(pairs)


def test_iterations_grow_slowly_with_the_mesh():
    """Where a load has to pass four times as many springs, iterations must not grow fourfold: the tree's work."""
    taken = []
    for size in (16, 64):
        cloth, state = build([naive.sheet(size, size, stretch_stiffness=2000.0)], Settings())
        x = state.x.copy()
        x[:, 0] *= 1.001
        taken.append(solved(cloth, x, state.x, 500, 1e-3)[0])
    assert taken[1] < 2.6 * taken[0]
