# SPDX-License-Identifier: GPL-3.0-or-later
"""The study of the size of cells (`benchmarks/crowd.py --cell`), small."""

import sys

import crowd
import numpy as np


def test_larger_cells_are_fewer_by_a_power_of_their_size(monkeypatch, capsys):
    """Buffet 2021, figure 3.11, where it is 1.7; few frames of few shirts tell it to within one."""
    monkeypatch.setattr(crowd, "REPEATS", 1)
    monkeypatch.setattr(sys, "argv", "crowd.py --shirts 2 --frames 16 --cell 1 2".split())
    assert crowd.main() == 0
    told = capsys.readouterr().out
    rows = [[part.strip() for part in line.split("|")[1:-1]] for line in told.splitlines() if "VELOCITY_FIELD" in line]
    assert [row[:4] for row in rows] == [["VELOCITY_FIELD", cell, "2", "12,040"] for cell in "12"]
    crowded = [float(row[-1].replace(",", "")) for row in rows]
    power = -np.diff(np.log(crowded))[0] / np.log(2.0)
    print(f"{crowded[0]:g} and {crowded[1]:g} crowded cells: the power of -{power:.2f} of their size")
    assert 1.0 < power < 3.0
