# SPDX-License-Identifier: GPL-3.0-or-later
"""What 32 bits of a file make of positions, wherever the object is."""

import naive
import numpy as np
import pytest
from taffeta.solver.build import build
from taffeta.solver.filed import as_filed, grain, object_samples
from taffeta.solver.model import Settings

TURN = np.linalg.qr(np.random.default_rng(4).normal(size=(3, 3)))[0]


def placed(far, scale):
    """Cloth that is `far` [m] from its object's origin, its state, and world to object space; scale : of the object"""
    cloth, state = build([naive.sheet(9, 7), naive.sheet(5, 5)], Settings())
    matrix = np.eye(4)
    matrix[:3, :3] = TURN / scale
    matrix[:3, 3] = far / scale * TURN[:, 0]
    return cloth, state, np.stack([matrix, np.eye(4)])


@pytest.mark.parametrize(("far", "scale"), [(0.0, 1.0), (300.0, 1.0), (300.0, 0.01)])
def test_a_file_gives_back_what_it_was_given_but_for_its_grain(far, scale):
    cloth, state, to_object = placed(far, scale)
    rng = np.random.default_rng(1)
    state.x[:] += rng.normal(size=state.x.shape)
    filed, coarsest = as_filed(cloth, state.x, to_object), grain(cloth, state.x, to_object)
    off = np.linalg.norm(filed - state.x, axis=1)
    assert 0.1 * coarsest < 2.0 * off.max() < coarsest < 1e-6 + 3e-7 * far
    samples = [sample.astype(np.float32) for sample in object_samples(cloth, state, to_object)]
    again = object_samples(cloth, state._replace(x=filed), to_object)
    assert all(np.array_equal(one, two.astype(np.float32)) for one, two in zip(samples, again, strict=True))


def test_in_world_space_a_file_has_the_nearest_numbers_of_32_bits():
    cloth, state, _ = placed(0.0, 1.0)
    state.x[:] += 0.3
    world = (state.x + cloth.origin).astype(np.float32) - cloth.origin
    assert np.allclose(as_filed(cloth, state.x, None), world, rtol=0.0, atol=1e-15)
    assert not np.array_equal(as_filed(cloth, state.x, None), state.x)
