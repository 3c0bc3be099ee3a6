# SPDX-License-Identifier: GPL-3.0-or-later
"""What a garment remembers of the solid that it was made a sheet of."""

from bpy.props import FloatProperty

from .mapped import OVERRIDE


# fmt: off
class SolidSettings:
    """Written by *Set Fabric from Elastic Modulus* alone, so that a change of thickness can be told."""

    modulus: FloatProperty(
        name="Elastic Modulus (Pa)", default=0.0, min=0.0, max=1e13, precision=0, override=OVERRIDE,
        description="Elastic modulus in Pa from which, and from the garment's own Thickness, its Stretch, Shear and Bending were set; 0 is none",
    )
