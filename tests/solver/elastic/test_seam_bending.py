# SPDX-License-Identifier: GPL-3.0-or-later
"""A welded seam bends as the cloth on both sides does, or by so many times as hard."""

import naive
import numpy as np
import pytest
import strips
from taffeta.solver.build import build
from taffeta.solver.crossings import find_crossings
from taffeta.solver.join import join
from taffeta.solver.step import advance

COLUMNS, ROWS, CELL = 5, 4, 0.02


def halves(diagonals="same", seam_bending=1.0, shift=0.0, **changes):
    """Two sheets side by side, sewn to each other along a line across, in one plane; the second lies `shift` [m] aside."""
    left = naive.sheet(COLUMNS, ROWS, CELL * (COLUMNS - 1), CELL * (ROWS - 1), diagonals)
    count, width = COLUMNS * ROWS, CELL * (COLUMNS - 1)
    x = np.concatenate([left.x, left.x + [width + shift, 0.0, 0.0]])
    seams = np.stack([np.arange(count - ROWS, count), count + np.arange(ROWS)], axis=1)
    triangles, quads = (np.concatenate([f, f + count]) for f in (left.triangles, left.quads))
    edges, fabric = np.concatenate([left.edges, left.edges + count, seams]), {"bending_stiffness": 1e-4} | changes
    uv = x[triangles][..., :2]
    return naive.garment(x, triangles, quads, edges, uv, sewing=True, seam_bending=seam_bending, **fabric)


def whole(diagonals="same", **changes):
    """The same as one sheet."""
    fabric = {"bending_stiffness": 1e-4} | changes
    return naive.sheet(2 * COLUMNS - 1, ROWS, 2 * CELL * (COLUMNS - 1), CELL * (ROWS - 1), diagonals, **fabric)


def bent_energy(garment, radius=0.1, axis=0):
    """Of a garment that is wound round a cylinder [J], with the seams that are closed then; axis 0 curves across the seam, 1 along it."""
    cloth, state = build([garment], strips.VACUUM)
    joined, inner, _ = join(cloth, state, naive.still(state.x))
    cloth = cloth if joined is None else joined.cloth
    angle = (inner.x[:, axis] - inner.x[:, axis].mean()) / radius
    x = inner.x.copy()
    x[:, axis], x[:, 2] = radius * np.sin(angle), radius * (1.0 - np.cos(angle))
    bend = np.einsum("hk,hkj->hj", cloth.bend_weight, x[cloth.bend_stencils])
    opening = np.linalg.norm(bend, axis=1) - 2.0 * np.sin(0.5 * np.abs(cloth.rest_angle))
    return 0.5 * float(cloth.bend_stiffness @ opening**2)


@pytest.mark.parametrize("diagonals", ["same", "alternating", "none"])
@pytest.mark.parametrize("changes", [{}, {"weft_bending": 0.25}])
def test_a_seam_has_the_energy_of_whole_cloth(diagonals, changes):
    """Of seven lines that bend, one is the seam: it alone may be off by what a single hinge is."""
    one, sewn, slack = (
        bent_energy(each)
        for each in (whole(diagonals, **changes), halves(diagonals, **changes), halves(diagonals, 0.0, **changes))
    )
    print(f"{slack / one:.3f} without hinges over the seam, {sewn / one:.3f} with them")
    assert slack < 0.9 * one and sewn == pytest.approx(one, rel=0.05)
    doubled = bent_energy(halves(diagonals, 2.0, **changes))
    assert doubled - slack == pytest.approx(2.0 * (sewn - slack))


def test_how_far_panels_lie_apart_and_how_they_stand_is_nothing_to_a_seam():
    near, far = (build([halves(shift=shift)], strips.VACUUM)[0].seam_hinges for shift in (0.0, 0.3))
    turned = halves(shift=0.3)
    turned.x[COLUMNS * ROWS :] = turned.x[COLUMNS * ROWS :, [2, 1, 0]]
    turned = build([turned], strips.VACUUM)[0].seam_hinges
    for one, other, third in zip(near, far, turned, strict=True):
        assert np.allclose(one, other) and np.allclose(one, third, rtol=1e-9)
    assert len(near.bend_stencils) == ROWS - 1 and not near.rest_angle.any()


def test_a_dart_bends_from_its_tip_on():
    """A sheet that is slit from one side to its middle: the edge at the tip, which has one end for both sides, is one of the hinges."""
    sheet = naive.sheet(5, 5, 0.4, 0.4, "none")
    slit = np.flatnonzero(np.isclose(sheet.x[:, 0], 0.2) & (sheet.x[:, 1] < 0.15))
    copies = len(sheet.x) + np.arange(len(slit))
    right = sheet.x[sheet.triangles].mean(axis=1)[:, 0] > 0.2
    place = np.arange(len(sheet.x) + len(slit))
    place[slit] = copies
    triangles = np.where(right[:, None], place[sheet.triangles], sheet.triangles)
    x = np.concatenate([sheet.x, sheet.x[slit]])
    sides = np.unique(np.sort(triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1), axis=0)
    edges = np.concatenate([sides, np.stack([slit, copies], axis=1)])
    cloth, _ = build([naive.garment(x, triangles, None, edges, sewing=True, seam_bending=1.0)], strips.VACUUM)
    found = {tuple(sorted(stencil[:2])) for stencil in cloth.seam_hinges.bend_stencils.tolist()}
    assert len(found) == len(slit) == len(cloth.seam_hinges.bend_stencils)


def test_a_cantilever_with_a_seam_hangs_as_one_without():
    """Clamped at one end under its own weight: the tip of the sewn one is where that of the whole one is, that of one whose seam does
    not bend hangs far below; nothing crosses."""

    def tip(garment):
        garment = garment._replace(
            pin=(garment.x[:, 0] < 1.5 * CELL).astype(float), damping=np.full(len(garment.x), 20.0)
        )
        cloth, state = build([garment], strips.VACUUM)
        for frame in range(120):
            before = state.x.copy()
            advance(cloth, state, naive.still(garment.x), frame, strips.VACUUM)
            state.v[:] *= 0.8
            if frame > 20 and np.abs(state.x - before).max() < 1e-6:
                break
        assert not len(find_crossings(cloth, state.x)[0])
        end = garment.x[:, 0] > garment.x[:, 0].max() - 1e-9
        return -float(state.x[end, 2].mean())

    stiff = {"bending_stiffness": 2e-3}
    one, sewn, slack = (tip(each) for each in (whole(**stiff), halves(**stiff), halves(seam_bending=0.0, **stiff)))
    print(f"{one:.4f} m whole, {sewn:.4f} m sewn, {slack:.4f} m without hinges over the seam")
    assert sewn == pytest.approx(one, rel=0.03) and slack > 1.2 * one


def test_without_sewing_no_seam_bends_and_bad_numbers_are_told():
    garment = halves()
    assert build([garment._replace(sewing=False)], strips.VACUUM)[0].seam_hinges is None
    assert build([garment._replace(seam_bending=0.0)], strips.VACUUM)[0].seam_hinges is None
    with pytest.raises(ValueError, match="'Sheet': its seams are -1 times as stiff as its cloth; use 0 or more"):
        build([garment._replace(seam_bending=-1.0)], strips.VACUUM)


def test_a_bake_that_goes_on_from_a_frame_has_the_same_bits():
    garment = halves(pin=(np.arange(2 * COLUMNS * ROWS) < 2 * ROWS).astype(float))
    cloth, state = build([garment], strips.VACUUM)
    for frame in range(4):
        if frame == 2:
            again = state._replace(x=state.x.copy(), v=state.v.copy(), broken=state.broken.copy())
        advance(cloth, state, naive.still(garment.x), frame, strips.VACUUM)
    other, _ = build([garment], strips.VACUUM)
    for frame in (2, 3):
        advance(other, again, naive.still(garment.x), frame, strips.VACUUM)
    assert again.x.tobytes() == state.x.tobytes() and again.v.tobytes() == state.v.tobytes()
