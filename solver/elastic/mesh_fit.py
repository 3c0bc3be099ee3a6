# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a mesh is fine enough for a fabric, and a garment large enough: edges and size beside the fabric's bending length.

Cloth of the bending stiffness B [N m] and the mass m [kg/m2] gives way under its own weight within the length

    c = (B / (m g))^(1/3)                                    (Peirce 1930; ASTM D1388),

and what does not stretch has no other length of its own: of hanging cloth, l / c alone says how fine a mesh of edges l
is. Flat triangles turn at their edges, so a fold of the radius c is bent by l / c radians from each to the next; where
that is much, folds lock, and cloth looks like paper. `LONGEST_EDGE` is measured (`docs/fabric.md`).

Of a garment of the size L, L / c says how it hangs, on whatever scale. Peirce measures c by a strip that is pushed over an edge: where
2 c hang over, it drops by 41.5 degrees. So what has a size below 4 c, held in the middle, drops by less: it stands like a board.
"""

from math import ceil, floor, inf, log10
from typing import NamedTuple

import numpy as np

LONGEST_EDGE = 0.7  # l / c up to which cloth folds on its mesh like cloth
STIFFEST_CLOTH = 1e-3  # [N m] twice that of paper of 100 g/m2: what has more is card
BOARD_SIZE = 4.0  # L / c up to which a garment hangs like a board
USUAL_SIZE = 30.0  # L / c of skirts and shirts: cotton has 32 in a skirt of 60 cm
DIGITS = 2  # of a bending stiffness that is chosen
THICKNESS_SHARE = 0.1  # of an edge: what rounding a fold of the radius of two edges takes from the room between layers
SHORT_PART, SHORT_SHARE = 0.05, 1 / 3  # part of the cloth with the shortest edges; thickness in these


class MeshFit(NamedTuple):
    """A fabric on a mesh."""

    edge: float  # [m] of the mesh: half of the cloth has longer ones
    longest_edge: float  # [m] of a mesh on which the fabric folds like cloth; inf without weight
    fitting_bending: float  # [N m] with which cloth of this weight does so on this mesh

    @property
    def is_limp(self) -> bool:
        """Whether the fabric is too limp for the mesh."""
        return self.edge > self.longest_edge

    @property
    def bending_length(self) -> float:
        """c [m]; inf without weight."""
        return self.longest_edge / LONGEST_EDGE

    def bending_for(self, size: float, own: float) -> float:
        """[N m] with which a garment of a size [m] and its own bending stiffness [N m] hangs as usual, as far as its mesh can show that."""
        return max(round_up(own * (size / (USUAL_SIZE * self.bending_length)) ** 3), self.fitting_bending)


def fit(edge, mass, bending, weft_bending, gravity):
    """`MeshFit` of a fabric on a mesh.

    edge [m] of the mesh, from `edge_quantile`; mass [kg/m2]; bending [N m] of the warp; weft_bending [1] that of the weft
    in it: the softer thread decides; gravity [m/s2], its size.
    """
    softest, weight = min(1.0, weft_bending), mass * gravity
    return MeshFit(
        edge,
        LONGEST_EDGE * bending_length(softest * bending, weight),
        round_up(weight * (edge / LONGEST_EDGE) ** 3 / softest),
    )


def bending_length(bending, weight):
    """c [m] of a bending stiffness [N m] and a weight [N/m2]; inf without weight."""
    return float(np.cbrt(bending / weight)) if weight > 0.0 else inf


def fitting_thickness(edge, short_edge, own, most):
    """Thickness [m] of cloth whose mesh has these edges [m]: between the fabric's own [m] and the most [m] that is wanted.

    Layers of facets come nearer to each other once they are drawn round: by l^2 / 8 r each where the cloth has the radius
    r. Cloth thicker than its shorter edges costs several times as much, for it touches itself all over.
    """
    return min(max(own, min(THICKNESS_SHARE * edge, most)), SHORT_SHARE * short_edge)


def round_up(value):
    """The least number of `DIGITS` digits that is not below a value of 0 or more."""
    if value <= 0.0:
        return 0.0
    digits = DIGITS - 1 - floor(log10(value))
    return ceil(round(value * 10.0**digits, 6)) / 10.0**digits


def edge_quantile(x, edges, part=0.5):
    """Length [m] of edges up to which they make `part` [0 to 1] of the cloth; 0 where none has a length.

    x (n, 3) [m] rest positions; edges (e, 2) of faces. An edge counts as the square of its length, which is as the area
    beside it: a collar of many small faces does not speak for a whole coat.
    """
    length = np.linalg.norm(x[edges[:, 1]] - x[edges[:, 0]], axis=1)
    length = np.sort(length[np.isfinite(length)])
    total = np.cumsum(length**2)
    return float(length[np.searchsorted(total, part * total[-1])]) if len(length) else 0.0
