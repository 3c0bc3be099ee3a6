# SPDX-License-Identifier: GPL-3.0-or-later
"""Values for Nodes: stretch, compression, folds, contact and pinches of a garment as attributes, for shaders and geometry nodes."""

import bpy

from ..panels.properties import TaffetaClothSettings
from ..panels.translations import translated
from .read import value_nodes
from .read.participants import chosen_cloths, cloths_of, colliders_of, refuse_linked, refuse_mode
from .read.screen import InObjectMode, refused


class TAFFETA_OT_values(InObjectMode, bpy.types.Operator):
    """Give the cloth attributes that shaders and geometry nodes read in each frame: how far it is stretched and compressed, its
    folds, and where it touches bodies or is pinched between them. Again measures them against the mesh and the colliders of now"""

    bl_idname = "taffeta.values"
    bl_label = "Add Values for Nodes"
    bl_description = " ".join(__doc__.split())
    bl_options = {"REGISTER", "UNDO"}

    object: bpy.props.StringProperty(name="Object", description="The cloth; empty takes those that are selected")

    def execute(self, context):
        scene, bodies = context.scene, colliders_of(context.scene, cloths_of(context.scene))
        try:
            cloths = chosen_cloths(context, self.object)
            for obj in cloths:
                refuse_linked(obj)
                refuse_mode(obj)
                near = [
                    value_nodes.Near(body, _contact_distance(obj.taffeta_cloth, body)) for body in bodies if body != obj
                ]
                value_nodes.add(obj, scene, near)
        except ValueError as error:
            return refused(self, error)
        self.report({"INFO"}, translated(f"{', '.join(obj.name for obj in cloths)} has {', '.join(value_nodes.NAMES)}"))
        return {"FINISHED"}


def _contact_distance(cloth: TaffetaClothSettings, body: bpy.types.Object) -> float:
    """At which cloth touches a body [m], where it is thickest: aura and half of the thickness."""
    mapped = cloth.thickness
    thickness = mapped.value if mapped.source == "UNIFORM" else max(mapped.minimum, mapped.maximum)
    return body.taffeta_collider.aura + 0.5 * thickness


register, unregister = bpy.utils.register_classes_factory((TAFFETA_OT_values,))
