# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings of what shape a garment strives for, and what it keeps of another: `Object.taffeta_cloth.rest`."""

from math import pi

import bpy
from bpy.props import FloatProperty, StringProperty

from .mapped import OVERRIDE


# fmt: off
class TaffetaRest(bpy.types.PropertyGroup):
    """A second rest shape, and plasticity."""

    key: StringProperty(
        name="Second Rest Shape", override=OVERRIDE,
        description="Shape key whose lengths and folds the cloth strives for as much as the key's value says: 0 the garment's own, 1 all of "
        "this one. Key the value; mute the shape key if pins shall not follow it",
    )
    bend_rate: FloatProperty(
        name="Keep Bends (1/s)", default=0.0, min=0.0, max=1e4, soft_max=50.0, step=10, precision=2, override=OVERRIDE,
        description="How fast a bend beyond the yield angle becomes the shape at rest, in 1/s: 0 never, cloth is elastic; 1 two thirds "
        "of it in a second; 50 at once. Creases that stay",
    )
    bend_yield: FloatProperty(
        name="Bend Yield", default=pi / 6.0, min=0.0, max=pi, subtype="ANGLE", step=100, override=OVERRIDE,
        description="Angle between two faces, from that at rest, up to which cloth springs back",
    )
    stretch_rate: FloatProperty(
        name="Keep Stretch (1/s)", default=0.0, min=0.0, max=1e4, soft_max=50.0, step=10, precision=2, override=OVERRIDE,
        description="How fast stretch beyond the yield strain becomes length at rest, in 1/s: 0 never. Knees and elbows that bag",
    )
    stretch_yield: FloatProperty(
        name="Stretch Yield", default=0.02, min=0.0, max=10.0, soft_max=0.5, step=1, precision=3, override=OVERRIDE,
        description="Strain up to which cloth springs back, a pure number: 0.02 is 2 %",
    )
# fmt: on
