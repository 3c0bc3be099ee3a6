# SPDX-License-Identifier: GPL-3.0-or-later
"""Garments that pass through each other come out nested: counted by ipctk, measured against closed forms."""

import numpy as np
import pytest
from crossings import count_worn
from scipy.spatial import cKDTree
from taffeta.solver.kernel.jit import counted_njit
from taffeta.solver.untangle.apart import untangle
from taffeta.solver.untangle.distance_grid import look_up, make_grid
from taffeta.solver.untangle.nest import Shape, Worn
from taffeta.solver.untangle.surface import make_surface

pytestmark = pytest.mark.once

THICKNESS = 0.003


def grid_faces(rows, columns, closed):
    """Triangles of a grid of rows x columns vertices whose rows are rings if `closed`."""
    last = columns if closed else columns - 1
    i, j = (a.ravel() for a in np.meshgrid(np.arange(rows - 1), np.arange(last), indexing="ij"))
    a, b = i * columns + j, i * columns + (j + 1) % columns
    return np.concatenate((np.column_stack((a, a + columns, b + columns)), np.column_stack((a, b + columns, b))))


def dome(radius, end=2.0, bump=0.0, waves=4, phase=0.0, rows=24, columns=48):
    """A bumpy sphere without its caps, normals outwards: polar angles 0.3 ... end."""
    polar, turn = np.meshgrid(np.linspace(0.3, end, rows), np.arange(columns) * 2 * np.pi / columns, indexing="ij")
    r = radius + bump * np.sin(waves * polar + phase) * np.sin(waves * turn + 2.0 * phase)
    x = np.stack((np.sin(polar) * np.cos(turn), np.sin(polar) * np.sin(turn), np.cos(polar)), axis=-1)
    return (r[..., None] * x).reshape(-1, 3), grid_faces(rows, columns, True)


def tube(radius, low, high, rows=20, columns=40, bump=0.0, waves=3, phase=0.0):
    """An upright cylinder, bumpy, normals outwards."""
    z, turn = np.meshgrid(np.linspace(high, low, rows), np.arange(columns) * 2 * np.pi / columns, indexing="ij")
    r = radius + bump * np.sin(waves * turn + phase) * np.cos(20.0 * z + phase)
    return np.stack((r * np.cos(turn), r * np.sin(turn), z), axis=-1).reshape(-1, 3), grid_faces(rows, columns, True)


def worn(name, mesh, layer, thickness=THICKNESS, rigidity=1.0):
    x, triangles = mesh
    return Worn(name, x, triangles, np.full(len(x), thickness), layer, rigidity)


def between(garments, bodies=()):
    """Untangle, and count what crosses before and after."""
    result = untangle(garments, list(bodies))
    before = count_worn(garments, [g.x for g in garments], bodies)
    return result, before, count_worn(garments, result.x, bodies)


BODY = Shape("Body", *dome(0.29, end=2.9), aura=0.004)


@pytest.mark.parametrize("count", [2, 3, 5, 9])
def test_domes_on_a_body_come_out_nested(count):
    garments = [worn(f"Layer {k}", dome(0.3 + 0.002 * (k % 3), 1.9, 0.01, 3 + k % 4, k), k) for k in range(count)]
    result, before, after = between(garments, [BODY])
    assert before.cloth_cloth > 200 and before.cloth_body > 20
    assert after.cloth_cloth == after.cloth_body == after.cloth_self == 0
    assert result.crossing_count == 0
    assert result.stretch_median < 0.02 and result.stretch_worst < 0.2
    print(f"{count} layers: stretch {result.stretch_median:.3f} in the middle, {result.stretch_worst:.3f} at worst")


def test_tubes_of_different_lengths():
    """Trousers' leg, skirt and belt: layers that end in the middle of others."""
    garments = [
        worn("Leg", tube(0.10, -0.3, 0.2, bump=0.006), 0),
        worn("Skirt", tube(0.101, -0.15, 0.25, bump=0.006, phase=1.0), 1),
        worn("Belt", tube(0.098, 0.02, 0.08, rows=8, bump=0.002, phase=2.0), 2),
    ]
    result, before, after = between(garments)
    assert before.cloth_cloth > 100
    assert after.cloth_cloth == after.cloth_self == 0
    assert result.stretch_worst < 0.3


def nearest_distance(x, other, triangles):
    """Distance (n,) of points from a finely sampled surface."""
    corner = other[triangles]
    weights = np.array([(i, j, 12 - i - j) for i in range(13) for j in range(13 - i)]) / 12.0
    return cKDTree(np.einsum("wk,tkd->wtd", weights, corner).reshape(-1, 3)).query(x)[0]


@pytest.mark.parametrize("thickness", [0.002, 0.005, 0.01])
def test_distance_between_layers_is_the_thickness(thickness):
    """The thesis' table 2.3 has errors of 0.11 to 5.3 percent."""
    inner = worn("Inner", dome(0.302, 2.0, rows=40, columns=80), 0, thickness)
    outer = worn("Outer", dome(0.3, 2.0, rows=40, columns=80), 1, thickness)
    result = untangle([inner, outer], [])
    inside = slice(5 * 80, 35 * 80)  # away from the rims
    distance = nearest_distance(result.x[1][inside], result.x[0], inner.triangles)
    error = distance.mean() / thickness - 1.0
    print(f"thickness {1000 * thickness:g} mm: error {100 * error:.2f} %")
    assert abs(error) < 0.02
    # Equal rigidity: both give way alike, so their mean stays where it was.
    radii = [np.linalg.norm(x[inside], axis=1).mean() for x in result.x]
    assert np.mean(radii) == pytest.approx(0.301, abs=3e-4)
    assert radii[1] - radii[0] == pytest.approx(thickness, rel=0.02)


def test_a_painted_thickness_counts_where_it_is():
    """One half of the outer dome is five times as thick as the other: on either side the layers keep what is right there."""
    thin, thick = 0.002, 0.01
    inner = worn("Inner", dome(0.303, 2.0, rows=40, columns=80), 0, thin)
    outer = worn("Outer", dome(0.3, 2.0, rows=40, columns=80), 1)
    right = outer.x[:, 0] > 0.0
    outer = outer._replace(thickness=np.where(right, thick, thin))
    result = untangle([inner, outer], [])
    distance = nearest_distance(result.x[1], result.x[0], inner.triangles)
    away = (np.abs(outer.x[:, 0]) > 0.08) & (np.arange(len(outer.x)) // 80 > 4) & (np.arange(len(outer.x)) // 80 < 35)
    for side, own in ((right, thick), (~right, thin)):
        found, wanted = distance[side & away].mean(), 0.5 * (thin + own)
        print(f"{1000 * own:g} mm thick: {1000 * found:.2f} mm from cloth of 2 mm, {1000 * wanted:g} are right")
        assert found == pytest.approx(wanted, rel=0.03)


@pytest.mark.parametrize(("weights", "moved"), [((1.0, 1.0), 0.5), ((3.0, 1.0), 0.25), ((1.0, 9.0), 0.9)])
def test_rigidity_shares_the_way(weights, moved):
    """Where layers overlap by d + thickness, the inner one goes w2 / (w1 + w2) of it."""
    inner = worn("Inner", dome(0.304, 2.0), 0, rigidity=weights[0])
    outer = worn("Outer", dome(0.3, 2.0), 1, rigidity=weights[1])
    result = untangle([inner, outer], [])
    went = 0.304 - np.linalg.norm(result.x[0][6 * 48 : 18 * 48], axis=1).mean()
    assert went == pytest.approx(moved * (0.004 + THICKNESS), rel=0.05)


def test_a_body_stays_and_holds_its_aura():
    shirt = worn("Shirt", dome(0.28, 2.0), 0)
    result = untangle([shirt], [BODY])
    distance = np.linalg.norm(result.x[0], axis=1)[6 * 48 : 18 * 48] - 0.29
    assert distance.mean() == pytest.approx(0.004 + 0.5 * THICKNESS, abs=5e-4)


def test_what_is_not_to_meet_is_not_taken_apart():
    """A and B meet each other, C meets the body, D nothing; all of them pass through each other."""
    names, radii = "ABCD", (0.302, 0.3, 0.287, 0.301)
    garments = [worn(name, dome(radius, 2.0), k) for k, (name, radius) in enumerate(zip(names, radii, strict=True))]
    meets = np.zeros((4, 5), bool)
    meets[[0, 1, 2], [1, 0, 4]] = True
    result = untangle(garments, [BODY], meets=meets)
    radius = [np.linalg.norm(x, axis=1)[6 * 48 : 18 * 48].mean() for x in result.x]
    assert radius[1] - radius[0] == pytest.approx(THICKNESS, rel=0.05)
    assert 0.5 * (radius[0] + radius[1]) == pytest.approx(0.301, abs=3e-4), "they leave C, D and the body alone"
    assert radius[2] == pytest.approx(0.29 + 0.004 + 0.5 * THICKNESS, abs=5e-4)
    assert (result.x[3] == garments[3].x).all() and 0 < result.moved_count < 3 * len(garments[0].x) + 1
    assert result.crossing_count == 0 and result.farthest < 0.02


def test_what_is_nested_already_does_not_move():
    garments = [worn("Inner", dome(0.3, 2.0), 0), worn("Outer", dome(0.32, 2.0), 1)]
    result = untangle(garments, [Shape("Body", *dome(0.28, 2.9), aura=0.004)])
    assert result.moved_count == 0
    for garment, x in zip(garments, result.x, strict=True):
        assert (x == garment.x).all()


def test_order_decides_who_is_outside():
    small, large = dome(0.3, 2.0), dome(0.31, 2.0)
    result = untangle([worn("A", small, 5), worn("B", large, 2)], [])
    middle = slice(6 * 48, 18 * 48)
    assert np.linalg.norm(result.x[0][middle], axis=1).min() > np.linalg.norm(result.x[1][middle], axis=1).max()


def test_normals_the_wrong_way_round_do_not_matter():
    x, triangles = dome(0.3, 2.0, 0.01)
    mixed = triangles.copy()
    mixed[::3] = mixed[::3, ::-1]
    right = untangle([worn("A", (x, triangles), 0), worn("B", dome(0.301, 2.0), 1)], [])
    wrong = untangle([worn("A", (x, mixed), 0), worn("B", (dome(0.301, 2.0)[0], triangles[:, ::-1]), 1)], [])
    np.testing.assert_allclose(np.concatenate(right.x), np.concatenate(wrong.x), atol=1e-6)


def test_flat_sheets_face_as_the_ones_below():
    row = np.linspace(-0.2, 0.2, 21)
    u, v = (a.ravel() for a in np.meshgrid(row, row))
    faces = grid_faces(21, 21, False)
    lower = worn("Lower", (np.column_stack((u, v, 0.004 * np.sin(20 * u))), faces[:, ::-1].copy()), 0)
    upper = worn("Upper", (np.column_stack((u, v, 0.004 * np.sin(20 * v))), faces), 1)
    up = untangle([lower, upper], []).x
    assert count_worn([lower, upper], up).cloth_cloth == 0
    # Both wind as the lower one does, so "outside" is where its normals point.
    x, t = lower.x, lower.triangles
    normal = np.cross(x[t[:, 1]] - x[t[:, 0]], x[t[:, 2]] - x[t[:, 0]])[:, 2].mean()
    assert np.sign(up[1][:, 2].mean() - up[0][:, 2].mean()) == np.sign(normal)


def test_past_a_hem_the_dent_fades():
    """The thesis' figure 2.14: without the fade, cloth under a hem turns sharply."""
    skirt = worn("Skirt", tube(0.12, -0.4, 0.1, rows=80, columns=60), 0)
    jacket = worn("Jacket", tube(0.10, -0.1, 0.3, rows=60, columns=60), 1, rigidity=9.0)
    result = untangle([skirt, jacket], [], stretch=np.inf)
    radius = np.linalg.norm(result.x[0][:, :2], axis=1).reshape(80, 60).mean(axis=1)
    slope = np.abs(np.diff(radius)) / (0.5 / 79)
    assert radius[:20].max() < 0.105 and radius[-10:].min() > 0.119
    assert slope.max() < 1.0  # 45 degrees


def test_a_sleeve_beside_a_vest_stays():
    """A tube beside another one, within reach: it faces the other way, so it is not outside of it."""
    sleeve_x, sleeve_faces = tube(0.05, -0.2, 0.2)
    vest = worn("Vest", tube(0.15, -0.2, 0.2), 1)
    sleeve = worn("Sleeve", (sleeve_x + (0.21, 0.0, 0.0), sleeve_faces), 0)
    assert untangle([sleeve, vest], []).farthest < 1e-3


def test_one_sided_and_empty_garments_are_refused():
    turn = np.linspace(0, 2 * np.pi, 31)[:-1]
    across = np.array([-0.05, 0.0, 0.05])
    radius = 0.3 + across[:, None] * np.cos(0.5 * turn)
    x = np.stack((radius * np.cos(turn), radius * np.sin(turn), across[:, None] * np.sin(0.5 * turn)), axis=-1)
    x = x.reshape(-1, 3)
    faces = grid_faces(3, 30, True)
    seam = (faces % 30 == 29).any(axis=1) & (faces % 30 == 0).any(axis=1)
    first = seam[:, None] & (faces % 30 == 0)
    faces[first] = (2 - faces[first] // 30) * 30
    with pytest.raises(ValueError, match="Strip has only one side"):
        untangle([worn("Strip", (x, faces), 0), worn("Other", dome(0.3), 1)], [])
    with pytest.raises(ValueError, match="Empty has no faces"):
        untangle([worn("Empty", (x, faces[:0]), 0), worn("Other", dome(0.3), 1)], [])


@counted_njit
def _sample(grid, points, out):
    count = grid.values.shape[3]
    f, h, slope, half = np.empty(count), np.empty(count), np.empty((count, 3)), np.empty(count)
    for i in range(len(points)):
        look_up(grid, points[i, 0], points[i, 1], points[i, 2], f, slope, h, half)
        out[i, 0], out[i, 1] = f[0], h[0]
        out[i, 2], out[i, 3], out[i, 4] = slope[0, 0], slope[0, 1], slope[0, 2]


def test_distance_fields_are_distances_and_know_their_border():
    x, triangles = tube(0.1, -0.2, 0.2, rows=60, columns=120)
    grid = make_grid([[make_surface("Tube", x, triangles, None)]], np.full(3, -0.3), np.full(3, 0.3), 400_000)
    turn = np.linspace(0, 6, 200)
    radius = np.tile([0.07, 0.09, 0.1, 0.11, 0.14], 40)
    z = np.linspace(-0.15, 0.15, 200)
    points = np.column_stack((radius * np.cos(turn), radius * np.sin(turn), z))
    out = np.empty((200, 5))
    _sample(grid, points, out)
    assert (np.abs(out[:, 0] - radius + 0.1) < 5e-4 + 0.05 * np.abs(radius - 0.1)).all()
    np.testing.assert_allclose(out[:, 1], np.abs(z) - 0.2, atol=1e-2)
    assert np.abs(out[:, 2:4] - points[:, :2] / radius[:, None]).mean() < 0.03
    above = np.column_stack((0.1 * np.cos(turn), 0.1 * np.sin(turn), np.full(200, 0.24)))
    _sample(grid, above, out)
    np.testing.assert_allclose(out[:, 0], 0.0, atol=1e-3)  # goes straight on
    np.testing.assert_allclose(out[:, 1], 0.04, atol=3e-3)


def test_same_input_same_bits():
    garments = [worn(f"{k}", dome(0.3, 1.9, 0.01, 3 + k, k), k) for k in range(3)]
    first, second = untangle(garments, [BODY]), untangle(garments, [BODY])
    assert all((a == b).all() for a, b in zip(first.x, second.x, strict=True))
