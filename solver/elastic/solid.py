# SPDX-License-Identifier: GPL-3.0-or-later
"""A fabric's numbers from those of a solid: what a sheet of one material would resist stretch, shear and bending with.

Bigliani and Eischen (2000, section 3) give cloth by elastic modulus, thickness and weight. A thin plate of that has, per
width, the tension E h over strain, the shear force E h / 2 (1 + nu) over angle, and the moment E h^3 / 12 (1 - nu^2) over
curvature (Timoshenko and Woinowsky-Krieger 1959, section 1). Threads slide on each other where a solid cannot, so most cloth
bends more easily than that.
"""

import math
from typing import NamedTuple

import numpy as np


class Sheet(NamedTuple):
    """Numbers of a `model.Garment`, floats or arrays as they were given."""

    stretch_stiffness: float | np.ndarray  # [N/m]
    shear_stiffness: float | np.ndarray  # [N/m]
    bending_stiffness: float | np.ndarray  # [N m]


def sheet_of(modulus: float, thickness: float | np.ndarray, poisson: float = 0.0) -> Sheet:
    """A sheet of a solid.

    Parameters
    ----------
    modulus : [Pa] elastic modulus E; thickness : [m] h; poisson : nu, part of its lengthening by which a strip narrows
    """
    tension = modulus * thickness
    return Sheet(
        tension, tension / (2.0 * (1.0 + poisson)), tension * thickness * thickness / (12.0 * (1.0 - poisson * poisson))
    )


def solid_of(stretch: float, bending: float, poisson: float = 0.0) -> tuple[float, float]:
    """Elastic modulus [Pa] and thickness [m] of the solid sheet that has a stretch [N/m] and a bending stiffness [N m]: what
    `sheet_of` made of them. (0, 0) where there is none.
    """
    if not (stretch > 0.0 and bending > 0.0):
        return 0.0, 0.0
    thickness = math.sqrt(12.0 * (1.0 - poisson * poisson) * bending / stretch)
    return stretch / thickness, thickness
