# SPDX-License-Identifier: GPL-3.0-or-later
"""Give cloth the stiffness of a sheet of solid material, by its elastic modulus and thickness."""

import bpy
from bpy.props import FloatProperty, StringProperty

from ..panels.mapped import follow_value
from ..panels.translations import translated
from ..solver.elastic.solid import sheet_of
from .checks.fabric_rows import bending_text
from .read.participants import chosen_cloths, refuse_linked

MILLIMETRE = 1e-3  # [m]


class TAFFETA_OT_fabric_modulus(bpy.types.Operator):
    """Set Stretch, Shear, Bending and Narrowing of the selected cloths to those of a sheet of one material, such as rubber or
    foil"""

    bl_idname = "taffeta.fabric_modulus"
    bl_label = "Set Fabric from Elastic Modulus"
    bl_description = " ".join(__doc__.split())
    bl_options = {"REGISTER", "UNDO"}

    modulus: FloatProperty(
        name="Elastic Modulus (Pa)", default=1e7, min=1.0, max=1e13, soft_min=1e5, soft_max=1e9, step=1e8, precision=0,
        description="Stress over strain of the material, in pascal. Rubber 2e6, cloth about 1e7, polythene foil 2e8",
    )  # fmt: skip
    sheet_thickness: FloatProperty(
        name="Sheet Thickness (mm)", default=0.3, min=1e-3, max=1e3, soft_max=5.0, step=1, precision=3,
        description="How thick the material is, in mm. Contact keeps its own Thickness",
    )  # fmt: skip
    poisson: FloatProperty(
        name="Narrowing", default=0.3, min=0.0, max=0.5, step=5, precision=2,
        description="Poisson's ratio, a pure number: part of its lengthening by which a strip narrows. Rubber 0.5, foil 0.4",
    )  # fmt: skip
    object: StringProperty(
        name="Object", description="Cloth to set; empty takes the selected ones", options={"SKIP_SAVE"}
    )

    def execute(self, context):
        numbers = sheet_of(self.modulus, MILLIMETRE * self.sheet_thickness, self.poisson)
        try:
            found = chosen_cloths(context, self.object)
            for obj in found:
                refuse_linked(obj)
        except ValueError as error:
            self.report({"ERROR"}, translated(str(error)))
            return {"CANCELLED"}
        for obj in found:
            cloth = obj.taffeta_cloth
            for name, value in numbers._asdict().items():
                getattr(cloth, name).value = value
                follow_value(cloth, name)
            cloth.model, cloth.poisson = "MEMBRANE", self.poisson
            cloth.weft_stretch = cloth.weft_bending = 1.0
            cloth.strain_limit = 0.0
        names = ", ".join(obj.name for obj in found)
        text = f"Stretch {numbers.stretch_stiffness:.4g} N/m, Bending {bending_text(numbers.bending_stiffness)}"
        self.report({"INFO"}, translated(f"{names}: {text}, as Membrane"))
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory((TAFFETA_OT_fabric_modulus,))
