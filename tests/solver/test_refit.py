# SPDX-License-Identifier: GPL-3.0-or-later
"""The cloth of a frame whose settings are animated is the one that `build` makes of its garments, and nothing else changes."""

import numpy as np
import pytest
import sheets
from taffeta.solver import refit as refitting
from taffeta.solver.build import build
from taffeta.solver.kernel import memo
from taffeta.solver.model import Bands, Cloth, Settings
from taffeta.solver.refit import CHANGES, refit

VALUES = {
    "self_collision": False, "sewing_time": 2.0, "sewing_speed": 0.3, "sewing_force": 4.0, "weft_stretch": 2.0, "weft_bending": 2.0,
    "poisson": 0.3, "strain_limit": 0.02, "stiffening": 9.0, "band_pull": 0.5, "seam_bending": 3.0, "bending_damping": 0.1,
    "restitution": 0.5,
}  # fmt: skip
ORDER = {
    "leaf",
    "edges",
    "is_mesh_edge",
    "couples",
    "seams",
    "bend_stencils",
}  # the tree, and what is in its


@pytest.fixture(scope="module")
def garments():
    """A panel with elastic and a seam between edges of itself, and a sheet with threads that tauten."""
    panel, plain = sheets.sheet("Panel", 5, 5, 0.1), sheets.sheet("Plain", 4, 4, 0.1)
    rubber = Bands(panel.edges[:3], np.full(3, 0.6), np.full(3, 2.0))
    sewn = panel._replace(
        bands=rubber, edges=np.vstack((panel.edges, [[0, 24], [1, 23]])).astype(np.int32), sewing=True, seam_bending=1.0
    )
    return sewn, plain._replace(model="MEMBRANE", strain_limit=0.05, poisson=0.1, shrink=np.zeros(16))


def changed(garments, name):
    """The garments with other values of a setting."""

    def other(garment):
        if name in VALUES:
            return VALUES[name]
        if name == "meets_bodies":
            return np.arange(len(garment.x)) % 2 == 0
        if name == "added_mass":
            return np.linspace(0.0, 0.1, len(garment.x))
        now = getattr(garment, name)
        return np.linspace(0.1, 0.3, len(garment.x)) if now is None or name == "shrink" else 1.5 * now

    return tuple(garment._replace(**{name: other(garment)}) for garment in garments)


def differing(one, other):
    """Names of the fields of two cloths that are not the same to the bit."""

    def same(a, b):
        if isinstance(a, np.ndarray):
            return a.tobytes() == b.tobytes()
        if isinstance(a, float):
            return a == b
        return a is b if a is None or b is None else all(map(same, a, b))

    return {name for name in Cloth._fields if not same(getattr(one, name), getattr(other, name))}


@pytest.mark.parametrize("name", CHANGES)
def test_a_setting_changes_what_it_says(garments, name):
    before, _ = build(garments, Settings())
    now = changed(garments, name)
    cloth = refit(now, Settings(), 7)
    assert not differing(cloth, build(now, Settings())[0])
    assert set(CHANGES[name]) - {"matrix"} & differing(cloth, before)
    assert differing(cloth, before) - ORDER <= set(CHANGES[name])


def test_what_no_spring_knows_of_builds_nothing_anew(garments, monkeypatch):
    refit(garments, Settings(), 1)
    monkeypatch.setattr(refitting, "build", None)
    for name in ("friction", "thickness", "self_collision", "meets_bodies", "restitution"):
        refit(changed(garments, name), Settings(), 2)
    with pytest.raises(TypeError):
        refit(changed(garments, "mass"), Settings(), 2)


def test_a_value_out_of_range_is_told_with_its_frame(garments):
    with pytest.raises(ValueError, match="In frame 7, 'Panel': the thickness is 0 m at vertex 0"):
        refit((garments[0]._replace(thickness=np.zeros(25)), garments[1]), Settings(), 7)


def test_what_is_remembered_may_be_an_array_now_and_nothing_then():
    ask = memo.remembered(2, lambda value: (value,))(lambda value: object())
    array = np.arange(3)
    assert ask(None) is not (first := ask(array)) and ask(array.copy()) is first and ask(None) is not first


def test_what_is_remembered_may_hold_tuples_of_arrays():
    """As pleats and elastic of a garment that is read anew for a second bake."""
    ask = memo.remembered(2, lambda value: (value,))(lambda value: object())
    array = np.arange(3)
    first = ask((array, 1.0))
    assert ask((array.copy(), 1.0)) is first and ask((array + 1, 1.0)) is not first and ask((array,)) is not first
