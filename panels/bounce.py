# SPDX-License-Identifier: GPL-3.0-or-later
"""What an impact of cloth on cloth gives back: of each garment, and of all."""

from bpy.props import FloatProperty

from ..solver.model import Garment, Settings
from .mapped import OVERRIDE


# fmt: off
class GarmentBounce:
    """A garment's; named as in `solver.model.Garment`."""

    restitution: FloatProperty(
        name="Bounce off Cloth", default=Garment._field_defaults["restitution"], min=0.0, max=1.0, subtype="FACTOR",
        override=OVERRIDE,
        description="Restitution: share of the impact speed that this garment gives back where it meets cloth, 0 for real fabric. Two "
        "garments part with the root of both ones' product; Cloth Bounce (Scene tab) is the least that each has",
    )


class ClothBounce:
    """A scene's; named as in `solver.model.Settings`."""

    cloth_restitution: FloatProperty(
        name="Cloth Bounce", default=Settings().cloth_restitution, min=0.0, max=1.0, subtype="FACTOR", override=OVERRIDE,
        description="Restitution: share of the impact speed given back where cloth meets cloth, the least that every garment has; 0 for "
        "real fabric. A garment's own Bounce off Cloth may be more",
    )
