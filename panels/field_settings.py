# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of the velocity field that keeps crowds of cloth apart."""

from bpy.props import BoolProperty, FloatProperty

from ..solver.model import Settings
from .mapped import OVERRIDE


# fmt: off
class FieldSettings:
    """What a scene's settings have of it; names and defaults are those of `solver.model.Settings`."""

    field_cell: FloatProperty(
        name="Field Cell", default=Settings().field_cell, min=0.5, max=10.0, soft_max=3.0, step=10, override=OVERRIDE,
        description="Side of a cell of the velocity field, in mean edges of the mesh, a pure number. Smaller lets layers "
        "lie closer, and more of them cross; larger is faster and puffs up a heap",
    )
    field_isotropic: BoolProperty(
        name="Isotropic", default=Settings().field_isotropic, override=OVERRIDE,
        description="Let the velocity field converge in no direction, as that of a liquid, in place of along the layers' "
        "normals alone. Only to compare: cloth that slides on cloth then turns what is beside it round",
    )
    untangle_each: BoolProperty(
        name="Untangle Each Frame", default=Settings().untangle_each, override=OVERRIDE,
        description="Take cloth out of other cloth and out of itself where a frame of the bake ends, as far as that makes nothing "
        "else worse; the next frame begins from there. For ways that let some of it through",
    )
