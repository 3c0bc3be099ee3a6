# SPDX-License-Identifier: GPL-3.0-or-later
"""Give cloth the stiffness of a sheet of solid material, by its elastic modulus and thickness."""

import bpy
from bpy.props import FloatProperty, StringProperty

from ..panels.mapped import follow_value
from ..panels.translations import translated
from ..solver.elastic.solid import Sheet, sheet_of
from .checks.fabric_rows import bending_text
from .read.participants import chosen_cloths, refuse_linked
from .read.screen import refused

MILLIMETRE = 1e-3  # [m]


def own_thickness(obj: bpy.types.Object) -> float:
    """[m] of a garment that is as thick everywhere; ValueError, with a remedy, of one whose Thickness is a map."""
    mapped = obj.taffeta_cloth.thickness
    if mapped.source != "UNIFORM":
        raise ValueError(
            f"{obj.name} has a map for its Thickness; give a Sheet Thickness, or set its source to Uniform"
        )
    return mapped.value


def give(obj: bpy.types.Object, modulus: float, thickness: float, poisson: float) -> Sheet:
    """Make a garment a sheet of a solid of this modulus [Pa], whatever its model; returns its numbers.

    thickness : [m]; 0: the garment's own, which it then remembers the modulus for
    """
    cloth = obj.taffeta_cloth
    numbers = sheet_of(modulus, thickness or own_thickness(obj), poisson)
    for name, value in numbers._asdict().items():
        getattr(cloth, name).value = value
        follow_value(cloth, name)
    cloth.poisson, cloth.modulus = poisson, 0.0 if thickness else modulus
    cloth.weft_stretch = cloth.weft_bending = 1.0
    cloth.strain_limit = 0.0
    return numbers


class TAFFETA_OT_fabric_modulus(bpy.types.Operator):
    """Set Stretch, Shear, Bending and Narrowing of the selected cloths to those of a sheet of one material, such as rubber or
    foil. The Model stays"""

    bl_idname = "taffeta.fabric_modulus"
    bl_label = "Set Fabric from Elastic Modulus"
    bl_description = " ".join(__doc__.split())
    bl_options = {"REGISTER", "UNDO"}

    modulus: FloatProperty(
        name="Elastic Modulus (Pa)", default=1e7, min=1.0, max=1e13, soft_min=1e5, soft_max=1e9, step=1e8, precision=0,
        description="Stress over strain of the material, in pascal. Rubber 2e6, cloth about 1e7, polythene foil 2e8",
        options={"SKIP_SAVE"},
    )  # fmt: skip
    sheet_thickness: FloatProperty(
        name="Sheet Thickness (mm)", default=0.3, min=0.0, max=1e3, soft_max=5.0, step=1, precision=3,
        description="How thick the material is, in mm; contact keeps its own Thickness. 0 takes each garment's Thickness, and Check Before "
        "Baking tells when that is changed afterwards",
        options={"SKIP_SAVE"},
    )  # fmt: skip
    poisson: FloatProperty(
        name="Narrowing", default=0.3, min=0.0, max=0.5, step=5, precision=2,
        description="Poisson's ratio, a pure number: part of its lengthening by which a strip narrows, in a Membrane. Rubber 0.5, foil 0.4",
        options={"SKIP_SAVE"},
    )  # fmt: skip
    object: StringProperty(
        name="Object", description="Cloth to set; empty takes the selected ones", options={"SKIP_SAVE"}
    )

    def execute(self, context):
        try:
            found = chosen_cloths(context, self.object)
            self._remember(found[0].taffeta_cloth)
            for obj in found:
                refuse_linked(obj)
                if self.sheet_thickness == 0.0:
                    own_thickness(obj)
            about = self.modulus, MILLIMETRE * self.sheet_thickness, self.poisson
            numbers = {obj.name: give(obj, *about) for obj in found}
        except ValueError as error:
            return refused(self, error)
        for sheet in dict.fromkeys(numbers.values()):
            names = ", ".join(name for name, own in numbers.items() if own == sheet)
            text = f"Stretch {sheet.stretch_stiffness:.4g} N/m, Bending {bending_text(sheet.bending_stiffness)}"
            self.report({"INFO"}, translated(f"{names}: {text}"))
        return {"FINISHED"}

    def _remember(self, cloth) -> None:
        """Where no modulus is given, start from the one that a garment remembers, and its Thickness as it is now."""
        if cloth.modulus > 0.0 and not self.properties.is_property_set("modulus"):
            self.modulus, self.sheet_thickness, self.poisson = cloth.modulus, 0.0, cloth.poisson


register, unregister = bpy.utils.register_classes_factory((TAFFETA_OT_fabric_modulus,))
