# SPDX-License-Identifier: GPL-3.0-or-later
"""What is torn before the first frame is simulated: tear lines that the pose in which cloth begins holds apart, as one that was draped and
kept after it had torn. They would be drawn together in one step otherwise, however far apart they are.
"""

import numpy as np

from ...solver.model import Cloth, Garment, State

GAPING = 0.1  # of the line that a joint holds, up to which it does: its sides may be painted a little unlike


def built(garments: list[Garment], settings) -> tuple[Cloth, State]:
    """As `solver.build.build`, torn where the pose at the start is."""
    from ...solver.build import build  # here, because it imports numba

    cloth, state = build(garments, settings)
    return cloth, state._replace(broken=torn_at(cloth, state.x))


def torn_at(cloth: Cloth, x: np.ndarray) -> np.ndarray:
    """(n,) uint8 what is torn of cloth that begins at x (n, 3) [m], as in `State.broken`."""
    broken = np.zeros(len(x), np.uint8)
    if (tears := cloth.tears) is not None:
        gapes = _gape(x, tears.joints, tears.length)
        np.bitwise_or.at(broken, tears.joints[gapes, 0], tears.bit[gapes])
    return broken


def torn_count(garment: Garment) -> int:
    """At how many places a garment's tear lines are torn in the pose in which it begins."""
    if garment.tear_edges is None or not len(garment.tear_edges):
        return 0
    from ...solver.geometry.tear_lines import find_joints

    found = find_joints(garment.x, garment.tear_edges, garment.tear_strength)
    return int(_gape(garment.x_start, found.joints, found.length).sum())


def _gape(x, joints, length):
    """(j,) bool: which joints (j, 2) are apart at x (n, 3), beside the `length` (j,) [m] of line that each holds."""
    return np.linalg.norm(x[joints[:, 1]] - x[joints[:, 0]], axis=1) > GAPING * length
