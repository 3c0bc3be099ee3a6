# SPDX-License-Identifier: GPL-3.0-or-later
"""Put objects on cloth as trims: Blender's own vertex parenting carries them, with or without Taffeta."""

import bpy
import numpy as np
from bpy.props import EnumProperty, FloatProperty, StringProperty

from .attach import GarmentVerb, bare
from .read import anchors
from .read.arrays import triangulated
from .read.mesh_io import check_finite, metres_per_unit, world_positions
from .read.participants import refuse_linked
from .read.sampling import depsgraph_of
from .read.trims import hang, take_off


class TAFFETA_OT_trim_add(GarmentVerb, bpy.types.Operator):
    """Let the other selected objects follow the faces of the active garment that they lie on, as buttons do: by Blender's own \
parenting to vertices"""

    bl_idname = "taffeta.trim_add"
    bl_label = "Add Trim"
    bl_description = " ".join(__doc__.split())

    trim: StringProperty(name="Trim", description="Name of the object; empty takes the other selected ones")
    follow: EnumProperty(
        name="Follow", default="FRAME", description="How the object goes along with the cloth",
        items=(
            ("FRAME", "Face", "Go and turn with the face below: a button, a badge"),
            ("PLACE", "Place", "Go with the nearest vertex and turn by no means: a pompon, a light"),
        ),
    )  # fmt: skip
    mass: FloatProperty(
        name="Mass (kg)", default=0.0, min=0.0, max=1e3, soft_max=0.1, precision=4,
        description="Of each object, in kg, which the cloth below carries; 0 adds none",
    )  # fmt: skip
    stiffening: FloatProperty(
        name="Stiffening", default=1.0, min=1.0, max=1e4, soft_max=100.0,
        description="How many times as stiff the patch below is, a pure number; 1 changes nothing",
    )  # fmt: skip

    def work(self, context, obj):
        """Each on the face nearest to its origin."""
        trims = self._trims(context, obj)
        metres = metres_per_unit(context.scene)
        with bare([obj]):
            x = world_positions(obj.evaluated_get(depsgraph_of(context.scene)), metres)
        check_finite(obj.name, x, "now")
        if len(x) != len(obj.data.vertices) or not len(obj.data.polygons):
            raise ValueError(f"{obj.name} has other vertices than its mesh, or no faces; apply what changes them")
        triangles = triangulated(obj.data)[0]
        places = metres * np.array([trim.matrix_world.translation for trim in trims], float)
        _, corners, foot = anchors.nearest(places, x, triangles, np.inf)
        for trim, own, (u, v, _) in zip(trims, corners, foot, strict=True):
            nearest = int(own[np.argmax([1.0 - u - v, u, v])])
            hang(trim, obj, own.tolist() if self.follow == "FRAME" else [nearest], context.view_layer)
            settings = trim.taffeta_trim
            settings.enabled, settings.mass, settings.stiffening = True, self.mass, self.stiffening
            settings.radius = 0.5 * metres * max(trim.dimensions)
        return f"{', '.join(trim.name for trim in trims)} {'lies' if len(trims) == 1 else 'lie'} on {obj.name}"

    def _trims(self, context, obj):
        if self.trim:
            trims = [context.scene.objects.get(self.trim)]
            if trims == [None]:
                raise ValueError(f"There is no {self.trim} in scene {context.scene.name}; check the name")
        else:
            trims = [o for o in context.view_layer.objects if o is not None and o != obj and o.select_get()]
        if not trims:
            raise ValueError(f"There is nothing to put on {obj.name}; select an object, and then the garment")
        above, parent = {obj}, obj.parent
        while parent is not None:
            above.add(parent)
            parent = parent.parent
        for trim in trims:
            refuse_linked(trim)
            if trim in above or trim.taffeta_cloth.enabled:
                raise ValueError(f"{trim.name} is cloth, or carries {obj.name}; it cannot lie on it")
            if not trim.matrix_world.determinant() or not trim.matrix_basis.determinant():
                raise ValueError(f"{trim.name} has a scale of 0; give it some size first")
        return trims


class TAFFETA_OT_trim_remove(bpy.types.Operator):
    """Take the selected trims off their cloth; they stay where they are now"""

    bl_idname = "taffeta.trim_remove"
    bl_label = "Remove Trim"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        if not any(obj.taffeta_trim.enabled for obj in _chosen(context)):
            cls.poll_message_set("Select an object that is a Taffeta Trim")
            return False
        return True

    def execute(self, context):
        for obj in _chosen(context):
            if obj.taffeta_trim.enabled and obj.library is None:
                take_off(obj)
                obj.taffeta_trim.enabled = False
        return {"FINISHED"}


def _chosen(context):
    active = context.view_layer.objects.active
    found = [obj for obj in context.view_layer.objects if obj is not None and obj.select_get()]
    return found if active is None or active in found else [*found, active]


register, unregister = bpy.utils.register_classes_factory((TAFFETA_OT_trim_add, TAFFETA_OT_trim_remove))
