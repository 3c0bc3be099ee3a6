# SPDX-License-Identifier: GPL-3.0-or-later
"""How a garment tears along its tear lines: `Object.taffeta_cloth.tear`."""

import bpy
from bpy.props import FloatProperty, IntProperty

from .mapped import OVERRIDE


# fmt: off
class TaffetaTear(bpy.types.PropertyGroup):
    """How a garment tears."""

    hold: FloatProperty(
        name="Hold", default=1.0, min=0.0, max=1e3, soft_max=2.0, step=5, precision=2, override=OVERRIDE,
        description="Part of their strength that tear lines have, a pure number: 1 all of it, 0 lets go. Key it to open them",
    )
    run_on: FloatProperty(
        name="Beside a Tear", default=0.7, min=0.0, max=1.0, subtype="FACTOR", override=OVERRIDE,
        description="Part of its strength that a line has beside what is torn, a pure number: less lets a tear run on by itself",
    )
    most: IntProperty(
        name="Most per Substep", default=4, min=1, max=100000, soft_max=50, override=OVERRIDE,
        description="How many vertices open in a substep at most, the worst first. Fewer tear slower",
    )
    piece: IntProperty(
        name="Smallest Piece", default=12, min=0, max=10**9, soft_max=500, override=OVERRIDE,
        description="Vertices of the smallest piece that may come off; smaller ones stay hanging. 0 lets everything come off",
    )
# fmt: on
