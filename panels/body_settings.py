# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings of a body, `Object.taffeta_collider`."""

import bpy
from bpy.props import BoolProperty, FloatProperty, IntProperty, StringProperty

from .mapped import OVERRIDE

# A path may start with "//", the folder of the .blend.
RELATIVE = {"PATH_SUPPORTS_BLEND_RELATIVE"}


# fmt: off
class TaffetaColliderSettings(bpy.types.PropertyGroup):
    """A body that cloth is kept out of."""

    enabled: BoolProperty(name="Taffeta Collider", description="Keep cloth out of this object", override=OVERRIDE)
    collides: BoolProperty(
        name="Collide", default=True, override=OVERRIDE,
        description="Whether cloth is kept out of this body in this frame. Keyed, it lets cloth through for a while; what is inside "
        "when it is switched on again comes out over a few frames",
    )
    aura: FloatProperty(
        name="Distance", default=0.005, min=0.0, max=1e3, soft_min=0.001, soft_max=0.05, unit="LENGTH", precision=4,
        step=0.1, override=OVERRIDE,
        description="Aura: a shell around the body that cloth is kept out of, in metres. "
        "5 mm hides the facets of a character; raise it if skin shines through",
    )
    friction: FloatProperty(
        name="Friction", default=0.3, min=0.0, max=100.0, soft_max=1.0, step=5, override=OVERRIDE,
        description="Coulomb coefficient of the surface, a pure number; combined with the cloth's. "
        "Polished wood 0.2, skin 0.3 to 0.9",
    )
    restitution: FloatProperty(
        name="Bounce", default=0.0, min=0.0, max=1.0, step=5, subtype="FACTOR", override=OVERRIDE,
        description="Restitution: share of the impact speed that is given back, 0 for cloth on anything real, 1 bounces for ever",
    )
    viscosity: FloatProperty(
        name="Viscous Friction", default=0.0, min=0.0, max=1e4, soft_max=20.0, step=50, override=OVERRIDE,
        description="Rate at which cloth on the surface slows down along it, in 1/s, on top of Friction: with 1 a third of its speed is "
        "left after a second, and down a slope it gets no faster than gravity along that over the rate. Wet or oiled surfaces; 0 for none",
    )
    single_frame_samples: IntProperty(
        name="Subframes", default=0, min=0, max=64, soft_max=16, override=OVERRIDE,
        description="How many times within a frame the body is looked at. 0 chooses by its speed",
    )
    sequence: StringProperty(
        name="OBJ Sequence", subtype="FILE_PATH", options=RELATIVE, override=OVERRIDE,
        description="First file of the OBJ sequence that this body was imported from; it plays from a cache of its own",
    )
# fmt: on
