# SPDX-License-Identifier: GPL-3.0-or-later
"""How fast cloth may be, and how slow it has to be to rest: of all garments."""

from bpy.props import FloatProperty

from ..solver.model import Settings
from .mapped import OVERRIDE


# fmt: off
class Speeds:
    """A scene's; named as in `solver.model.Settings`."""

    max_speed: FloatProperty(
        name="Speed Limit", default=Settings().max_speed, min=0.1, max=1e5, soft_max=200.0, unit="VELOCITY", step=100,
        override=OVERRIDE,
        description="Cloth faster than this is slowed down, in m/s; raise it for bullets",
    )
    sleep_speed: FloatProperty(
        name="Sleep Speed", default=Settings().sleep_speed, min=0.0, max=1.0, soft_max=0.1, unit="VELOCITY", precision=3,
        step=1, override=OVERRIDE,
        description="A garment that has been slower than this for half a second, in m/s, comes to rest and takes little time until "
        "something near it moves or changes. 0: never",
    )
