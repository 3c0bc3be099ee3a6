# SPDX-License-Identifier: GPL-3.0-or-later
"""Untangling beside the thesis (`benchmarks/untangle.py`), its smallest row: by lengths, and with rotations."""

import sys

import numpy as np
import pytest
import untangle
from taffeta.solver.untangle import nest, relax


def rows_of(told):
    """Layers, vertices, crossings before and after, and edges, worst edge and thickness [%] of each row that was printed."""
    lines = [line.split("|")[1:-1] for line in told.splitlines() if line.startswith("| 2.")]
    return [[float(line[k].replace(",", "").replace("%", "")) for k in (1, 2, 6, 7, 8, 9, 10)] for line in lines]


def test_rotations_leave_nothing_crossed_and_edges_as_lengths_do(monkeypatch, capsys):
    """Buffet 2021, 2.4.3. In the middle edges are the same to 0.1 %, and thickness to 0.2 %; it is another way all the same."""
    steps, apart, rows, found = (nest.relax, relax._slide_kernel, relax.cut), untangle.untangle, [], []
    monkeypatch.setattr(untangle, "untangle", lambda *given, **more: found.append(apart(*given, **more)) or found[-1])
    for more in ([], ["--rotations"]):
        monkeypatch.setattr(sys, "argv", ["untangle.py", "--repeats", "1", "--most", "5100", *more])
        assert untangle.main() == 0
        rows += rows_of(capsys.readouterr().out)
    lengths, rotations = rows
    print(f"edges, worst edge and thickness [%]: {lengths[4:]} by lengths, {rotations[4:]} with rotations")
    assert lengths[:4] == rotations[:4] == [3, 5040, lengths[2], 0] and lengths[2] > 3000
    assert rotations[4] == pytest.approx(lengths[4], abs=0.11) and rotations[6] == pytest.approx(lengths[6], abs=0.21)
    assert lengths[4] < 2.0 and rotations[5] <= lengths[5] + 1.0 < 11.0
    moved = np.concatenate(found[3].x) - np.concatenate(found[1].x)
    assert 1e-6 < np.abs(moved).max() < 0.01
    assert (nest.relax, relax._slide_kernel, relax.cut) == steps, "only while it is asked for"
