# SPDX-License-Identifier: GPL-3.0-or-later
"""Sticks, their growth (Bargmann 2003, 3.2), and what points find in them (3.3, 4.1), beside plain Python and the closest triangle."""

import numpy as np
import pytest
from sheets import GRAVITY, sheet
from solids import ball, collider, plate, random_closed, torus
from taffeta.solver.build import build
from taffeta.solver.contact.body.collide import detect, prepare, respond
from taffeta.solver.ldi.centres import THREE_DIRECTIONS, THREE_FULL, render
from taffeta.solver.ldi.grown import dilate, pair, stretch
from taffeta.solver.ldi.rasterise import render_motion, resting
from taffeta.solver.ldi.search import drawer, find
from taffeta.solver.model import BODY_SEARCHES, FrameInput, Settings
from taffeta.solver.step import advance


def sticks_of(image, pixel):
    """(enter, leave) of a pixel's sticks."""
    first, last = image.pixel_start[pixel : pixel + 2]
    assert image.front[first:last:2].all() and not image.front[first + 1 : last : 2].any()
    return image.depth[first:last].reshape(-1, 2).tolist()


def united(sticks, by=0.0):
    """Plain union of intervals, each longer by `by` at both ends."""
    found = []
    for enter, leave in sorted((enter - by, leave + by) for enter, leave in sticks):
        if found and enter <= found[-1][1]:
            found[-1][1] = max(found[-1][1], leave)
        else:
            found.append([enter, leave])
    return found


def two_bodies(rng, number):
    """Closed meshes that overlap, most of them."""
    (x, triangles), (y, others) = random_closed(rng, number), random_closed(rng, number + 1)
    return np.concatenate([x, y + rng.normal(size=3) * 0.3]), np.concatenate([triangles, others + len(x)])


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_images_grow_as_intervals_do(axis):
    """100 pairs of closed meshes: dilation is the union with four neighbours, stretching that of longer sticks."""
    rng, merged = np.random.default_rng(axis), 0
    for number in range(100):
        x, triangles = two_bodies(rng, number)
        image = render(x, triangles, x.min(0), x.max(0), 12, axis)
        sticks = pair(image)
        a, b = image.shape[(axis + 1) % 3], image.shape[(axis + 2) % 3]
        plain = [sticks_of(sticks, p) for p in range(a * b)]
        wide = dilate(sticks, axis)
        assert (wide.shape[(axis + 1) % 3], wide.shape[(axis + 2) % 3], wide.shape[axis]) == (
            a + 2,
            b + 2,
            image.shape[axis],
        )
        low = sticks.low - sticks.pixel
        low[axis] = sticks.low[axis]
        assert np.array_equal(wide.low, low)
        for column in range(a + 2):
            for row in range(b + 2):
                near = [(column - 1 + i, row - 1 + j) for i, j in ((0, 0), (-1, 0), (1, 0), (0, -1), (0, 1))]
                want = united([s for i, j in near if 0 <= i < a and 0 <= j < b for s in plain[i * b + j]])
                assert sticks_of(wide, column * (b + 2) + row) == want
        longer = stretch(wide, wide.pixel)
        for p in range((a + 2) * (b + 2)):
            assert np.allclose(sticks_of(longer, p), united(sticks_of(wide, p), wide.pixel), atol=1e-12)
        merged += len(wide.depth) - len(longer.depth)
    assert merged > 50


def test_every_end_of_a_stick_keeps_its_triangle():
    x, triangles = torus()
    image = render(x, triangles, x.min(0), x.max(0), 48, 2)
    known = set(zip(image.depth.tolist(), image.triangle.tolist(), strict=True))
    wide = dilate(pair(image), 2)
    assert set(zip(wide.depth.tolist(), wide.triangle.tolist(), strict=True)) <= known
    longer = stretch(wide, 0.01)
    back = np.where(longer.front, longer.depth + 0.01, longer.depth - 0.01)
    known = {(round(depth, 9), triangle) for depth, triangle in known}
    assert {(round(d, 9), t) for d, t in zip(back.tolist(), longer.triangle.tolist(), strict=True)} <= known


def test_an_open_mesh_has_sticks_without_length():
    """Seen from its front and its back."""
    x, triangles = plate(4)
    for faces in (triangles, triangles[:, ::-1]):
        image = render(x, np.ascontiguousarray(faces), x.min(0) - 0.1, x.max(0) + 0.1, 16, 2)
        sticks = pair(image)
        assert len(sticks.depth) == 2 * len(image.depth) > 0
        assert np.array_equal(sticks.depth[::2], image.depth) and np.array_equal(sticks.triangle[1::2], image.triangle)


def test_three_images_at_once_are_not_dilated():
    x, triangles = torus()
    with pytest.raises(ValueError, match="along axis 1 alone"):
        dilate(pair(render(x, triangles, x.min(0), x.max(0), 16, THREE_FULL)), 1)


def near_surface(rng, x, triangles, count, reach):
    """Points within `reach` of the surface, and the distance of the closest triangle from each, by brute force."""
    corner = x[triangles[rng.integers(len(triangles), size=count)]]
    weight = rng.dirichlet(np.ones(3), size=count)
    normal = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    return np.einsum("pk,pkx->px", weight, corner) + rng.uniform(-reach, reach, count)[:, None] * normal


def missed(found, x, triangles, points):
    """(share of points that find nothing, share of those that find a triangle 1 mm farther away than the closest)."""
    every = np.arange(len(triangles), dtype=np.int32)
    image = render_motion(resting(x)._replace(deviation=np.full(len(x), 0.1)), triangles, every, x.min(0), x.max(0), 8)
    best = find(image, x, triangles, points, sticks=False)
    assert (best >= 0).all()
    away = [distance(x[triangles[t]], points) for t in (best, found)]
    return (found < 0).mean(), ((found >= 0) & (away[1] > away[0] + 1e-3)).mean()


def distance(corner, points):
    """From planes of triangles (p, 3, 3) within them, else from their nearest corner or edge, sampled."""
    weights = np.array([(i, j, 12 - i - j) for i in range(13) for j in range(13 - i)]) / 12
    places = np.einsum("wk,pkx->pwx", weights, corner)
    return np.linalg.norm(places - points[:, None], axis=2).min(axis=1)


def test_three_full_images_find_what_one_along_gravity_does_not():
    """Points within 5 mm of a torus. Of three sticks the closest triangle counts; along one axis steep sides are mistaken."""
    x, triangles = torus()
    points = near_surface(np.random.default_rng(5), x, triangles, 1500, 0.005)
    about = x, triangles, x.min(0) - 0.01, x.max(0) + 0.01, 64
    single = dilate(pair(render(*about, 2)), 2)
    grown = find(stretch(single, single.pixel), x, triangles, points)
    full = find(stretch(pair(render(*about, THREE_FULL)), 0.02), x, triangles, points)
    short = find(stretch(pair(render(*about, THREE_DIRECTIONS), each=True), 0.02), x, triangles, points)
    lost, wrong = zip(*(missed(found, x, triangles, points) for found in (grown, full, short)), strict=True)
    print(f"find nothing: {lost}; another triangle: {wrong}")
    assert max(lost[:2]) < 0.02 and lost[2] < 0.05
    assert wrong[0] > 0.6 > 0.3 > max(wrong[1:])


def test_contact_asks_three_full_images_as_they_were_asked():
    """A sheet through a torus: each point has one triangle or none, the closest of those at the nearer ends of its sticks; with the
    bake's own image it has many.
    """
    found = {}
    for search in BODY_SEARCHES[:2]:
        settings = Settings(body_search=search, ldi_resolution=32)
        cloth, state = build([sheet("Sheet", 31, 31, 0.05, lambda x: x + [0.0, 0.0, 0.2])], settings)
        target = (state.x + cloth.origin)[None].repeat(2, 0)
        body = prepare(cloth, state, FrameInput(1 / 24, target, (collider(torus()),), GRAVITY, np.zeros(3)), settings)
        x = state.x + 1e-4
        respond(body, cloth, x.copy(), state.x, state.v, state.x, 0.1, 0.1 / 24)
        known = body.candidates
        at = np.flatnonzero((known.count[: len(x)] >= 0) & (body.contacts.place[: len(x)] == 0))
        found[search] = known.count[at]
        if search == BODY_SEARCHES[1]:
            near = body.mesh.triangles[body.view.near]
            far = np.full((1, 3), len(body.mesh.start), np.int32)  # what is not near: -1 is the last
            points = np.concatenate([body.mesh.start - cloth.origin, [[9.0, 9.0, 9.0]]])
            best = find(body.ldi, points, np.concatenate([near, far]), x[at])
            has = (best >= 0) & (best < len(near))
            assert len(at) > 200 and 50 < has.sum() < len(at)
            assert np.array_equal(found[search], has)
            assert np.array_equal(known.triangles[at[has], 0], body.view.near[best[has]])
    assert max(found["FOOTPRINTS"]) > 5 and max(found["FULL_IMAGES"]) == 1


@pytest.mark.parametrize("search", BODY_SEARCHES)
def test_no_pixel_is_asked_that_the_image_has_not(search):
    """An image along one axis has no pixels along the others: whatever memory holds behind the last, points find the same."""
    settings, found = Settings(body_search=search, ldi_resolution=32), []
    for behind in (0, 1):
        cloth, state = build([sheet("Sheet", 31, 31, 0.05, lambda x: x + [0.0, 0.0, 0.2])], settings)
        target = (state.x + cloth.origin)[None].repeat(2, 0)
        # along gravity one image is drawn: pixels along y and z would begin behind the last
        along_x = np.array([-9.81, 0.0, 0.0])
        body = prepare(cloth, state, FrameInput(1 / 24, target, (collider(torus()),), along_x, np.zeros(3)), settings)
        detect(body, cloth, state.x, state.v, 0.0, 1.0, settings)
        start, hits = body.image.pixel_start, len(body.image.depth)
        room = np.concatenate([start, np.tile([0, behind * hits], 100_000)]).astype(start.dtype)
        body.image = body.image._replace(pixel_start=room[: len(start)])
        respond(body, cloth, state.x + 1e-4, state.x, state.v, state.x, 0.1, 0.1 / 24)
        known = body.candidates
        found.append([sorted(row[: max(n, 0)]) for row, n in zip(known.triangles, known.count, strict=True)])
    assert any(found[0]) and found[0] == found[1]


@pytest.mark.parametrize("search", BODY_SEARCHES)
def test_a_sheet_lies_on_a_torus_whatever_is_searched(search):
    """At rest all ways hold it; the images of 2003 are not those of the default, and a bake by them is another."""
    settings = Settings(body_search=search, ldi_resolution=64)
    cloth, state = build([sheet("Sheet", 21, 21, 0.05, lambda x: x + [0.0, 0.0, 0.3])], settings)
    target = state.x + cloth.origin
    for frame in range(1, 9):
        given = FrameInput(1 / 24, target[None].repeat(2, 0), (collider(torus()),), GRAVITY, np.zeros(3))
        report = advance(cloth, state, given, frame, settings)
    assert report.body_contacts > 100
    assert np.abs(state.v).max() < 3.0 and report.worst_stretch < 0.05


@pytest.mark.parametrize("search", BODY_SEARCHES)
def test_what_begins_inside_of_a_body_comes_out_whatever_is_searched(search):
    """A small sheet deep in a ball, without gravity: an end of a stick is a way out, however far it is."""
    settings = Settings(body_search=search, ldi_resolution=64)
    cloth, state = build([sheet("Sheet", 9, 9, 0.02, lambda x: x + [0.05, 0.03, 0.02])], settings)
    target, still = state.x + cloth.origin, np.zeros(3)
    for frame in range(1, 17):
        given = FrameInput(1 / 24, target[None].repeat(2, 0), (collider(ball()),), still, still)
        advance(cloth, state, given, frame, settings)
    assert np.linalg.norm(state.x + cloth.origin, axis=1).min() > 0.4


def test_what_is_not_near_is_not_in_the_image():
    x, triangles = torus()
    near = np.flatnonzero(x[triangles[:, 0], 0] > 0.3).astype(np.int32)
    for search in BODY_SEARCHES[1:]:
        image = drawer(search, np.array(GRAVITY))(resting(x), triangles, near, x.min(0), x.max(0), 32)
        if search == "FULL_IMAGES":  # sticks are whole; ends that are not near are -1
            assert image.triangle.min() == -1 and (image.front[::2] & ~image.front[1::2]).all()
            image = image._replace(triangle=image.triangle[image.triangle >= 0])
        assert 0 < len(image.triangle) and image.triangle.min() >= 0 and image.triangle.max() < len(near)
        whole = drawer(search, np.array(GRAVITY))(
            resting(x), triangles, np.arange(len(triangles), dtype=np.int32), x.min(0), x.max(0), 32
        )
        assert set(near[image.triangle]) == set(whole.triangle) & set(near.tolist())
