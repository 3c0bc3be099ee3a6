# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether bodies have taken the folds out of cloth: told by edges that are pushed and get shorter."""

import naive
import numpy as np
import pytest
from taffeta.solver.build import build
from taffeta.solver.contact.body.contacts import no_contacts
from taffeta.solver.contact.body.flattening import is_flattened as is_flattened_by
from taffeta.solver.model import Settings


@pytest.fixture
def waves():
    """A cloth of two sheets, of which the second lies in waves as steep as its edges allow, and their places."""
    cloth, state = build([naive.sheet(12, 12), naive.sheet(12, 12)], Settings())
    x, first = state.x.copy(), cloth.garment_start[1]
    x[first:, 2] += 0.3 * cloth.rest_length.mean() * np.sin(2.0 * x[first:, 0] / cloth.rest_length.mean())
    return cloth, x


def flat(cloth, x, height):
    """The second garment at one height."""
    pressed = x.copy()
    pressed[cloth.garment_start[1] :, 2] = height
    return pressed


def is_flattened(cloth, touched, before, x, v=None, by=0.0, dt=0.01):
    """What comes in as fast as it is pushed, unless v (n, 3) [m/s] is given, of bodies that rise by so many m/s."""
    contacts = no_contacts(len(x), 0)
    contacts.count[:], contacts.velocity[..., 2] = 1, by
    return is_flattened_by(cloth, touched, before, x, (before - x) / dt if v is None else v, contacts, dt)


def nothing(x):
    """What was touched before."""
    return np.zeros(len(x), np.bool_)


def test_waves_that_are_pressed_to_one_height_are_flattened(waves):
    cloth, x = waves
    assert is_flattened(cloth, nothing(x), x, flat(cloth, x, x[:, 2].max() + 0.1))


def test_one_garment_of_many_counts_by_itself(waves):
    cloth, x = waves
    many = cloth._replace(garment_start=np.append(cloth.garment_start, cloth.garment_start[-1]))
    assert is_flattened(many, nothing(x), x, flat(cloth, x, x[:, 2].max() + 0.1))


def test_what_is_pushed_as_a_whole_keeps_its_folds(waves):
    cloth, x = waves
    assert not is_flattened(cloth, nothing(x), x, x + [0.0, 0.0, 0.1])


def test_a_flat_sheet_has_none_to_lose(waves):
    cloth, x = waves
    assert not is_flattened(cloth, nothing(x), flat(cloth, x, 0.0), flat(cloth, x, 0.1))


def test_a_few_edges_are_a_dent(waves):
    cloth, x = waves
    dented = x.copy()
    dented[-3:, 2] = x[:, 2].max() + 0.1
    assert not is_flattened(cloth, nothing(x), x, dented)


def test_what_bodies_push_in_each_step_has_not_come_in(waves):
    cloth, x = waves
    assert not is_flattened(cloth, ~nothing(x), x, flat(cloth, x, x[:, 2].max() + 0.1))


def test_what_is_pushed_farther_than_it_has_flown_has_not_come_in(waves):
    """So it is where a frame begins, for cloth that lies on a body and is held down by other cloth."""
    cloth, x = waves
    pressed = flat(cloth, x, x[:, 2].max() + 0.1)
    assert not is_flattened(cloth, nothing(x), x, pressed, np.zeros_like(x))
    assert not is_flattened(cloth, nothing(x), x, pressed, 0.3 * (x - pressed) / 0.01)
    assert not is_flattened(cloth, nothing(x), x, pressed, np.zeros_like(x) + [50.0, 0.0, 0.0]), "it slides"


def test_a_body_that_comes_up_flattens_what_lies_still(waves):
    cloth, x = waves
    pressed = flat(cloth, x, x[:, 2].max() + 0.1)
    assert is_flattened(cloth, nothing(x), x, pressed, np.zeros_like(x), by=(pressed - x).max() / 0.01)
