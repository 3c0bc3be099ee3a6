# SPDX-License-Identifier: GPL-3.0-or-later
"""What the solver remembers: the same object for equal keys, the last few answers and no more."""

import numpy as np
from taffeta.solver.kernel import memo
from taffeta.solver.kernel.memo import remembered


def test_the_last_answers_are_given_again_and_older_ones_made_anew():
    asked = []

    @remembered(2, key=lambda triangles, radius, note: (triangles, radius))
    def measure(triangles, radius, note):
        asked.append(note)
        return [triangles.sum() * radius]

    triangles = np.arange(6, dtype=np.int32).reshape(2, 3)
    first = measure(triangles, 1.0, "a")
    assert measure(triangles, 1.0, "same") is first
    assert measure(triangles.copy(), 1.0, "equal") is first
    assert measure(triangles, 2.0, "other radius") is not first
    assert measure(triangles.astype(float), 1.0, "other type") is not first  # the third: the first is gone
    assert measure(triangles[::-1], 1.0, "other order") is not measure(triangles, 1.0, "again")
    assert asked == ["a", "other radius", "other type", "other order", "again"]


def test_who_asks_again_with_the_same_arrays_has_none_of_them_compared(monkeypatch):
    """A frame has arrays of its own, equal to those of the frame before, and asks with them in each substep."""
    compared = []
    monkeypatch.setattr(memo.np, "array_equal", lambda a, b: compared.append(len(a)) or (a == b).all())
    measure = remembered(2, key=lambda triangles: (triangles,))(lambda triangles: [triangles.sum()])
    first = measure(np.arange(6))
    again = np.arange(6)
    assert measure(again) is first and len(compared) == 1
    assert all(measure(again) is first for _ in range(5)) and len(compared) == 1
