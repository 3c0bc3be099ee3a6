# SPDX-License-Identifier: GPL-3.0-or-later
"""Let fabric and mesh fit each other: what a new garment is made of, a finer mesh, or cloth as stiff as a mesh can show."""

import math

import bpy
from bpy.props import StringProperty

from ..panels.mapped import FABRIC, THREADS, follow_value
from ..panels.translations import translated
from ..panels.units import length_text
from ..solver.elastic.mesh_fit import STIFFEST_CLOTH
from .checks.fabric_rows import bending_text, softening
from .read.fabrics import bending_before_stiffening, fitted, has_fabric, mesh_fit, most_thickness, shipped, usual
from .read.participants import chosen_cloth, refuse_linked, refuse_mode
from .read.screen import refused
from .read.shape_key import refuse_shared
from .read.subdivision import bound, subdivide

FIRST_FABRIC = "Cotton"  # what a new garment is made of


def dress(obj: bpy.types.Object, scene: bpy.types.Scene) -> bool:
    """Make a garment that nobody gave a fabric of cotton, as thick and stiff as fits its mesh; returns whether it did.

    It is stiffer than cotton where the mesh is too coarse for that, but never stiffer than cloth. It has no strain limit,
    which ordinary loads never reach: where bodies catch cloth, springs that stiffen there throw it about.
    """
    cloth = obj.taffeta_cloth
    if has_fabric(cloth):
        return False
    numbers = shipped(FIRST_FABRIC)
    for name in FABRIC:
        getattr(cloth, name).value = numbers[name]
    for name in THREADS:
        setattr(cloth, name, numbers[name])
    own = fitted(obj, scene, numbers)
    cloth.strain_limit = own.pop("strain_limit")
    for name, value in own.items():
        getattr(cloth, name).value = value
    obj.taffeta_fabric.chosen = FIRST_FABRIC
    for name in FABRIC:
        follow_value(cloth, name)
    return True


def settle(obj: bpy.types.Object, scene: bpy.types.Scene) -> str:
    """Keep a fabric that was just chosen from being thicker than its mesh bears; returns what was done, if anything."""
    thickness, most = obj.taffeta_cloth.thickness, most_thickness(obj, scene)
    if thickness.value <= most:
        return ""
    own, thickness.value = thickness.value, most
    return f"{obj.name} has a Thickness of {1000 * most:.2g} mm instead of {1000 * own:.2g} mm: its edges are too short for more"


def finer(obj: bpy.types.Object, scene: bpy.types.Scene) -> str:
    """Subdivide a garment's mesh once; returns what was done. ValueError, with a remedy, where that would spoil it.

    Cloth that was stiffened for the mesh becomes as limp again as the finer one can show.
    """
    refuse_shared(obj)
    owner, name = bound(obj)
    if name:
        raise ValueError(
            f"{obj.name} cannot get new vertices: {name} of {owner} knows each of those that there are; unbind or apply "
            "it, and try again"
        )
    if not obj.data.polygons:
        raise ValueError(f"{obj.name} has no faces; add some first")
    count, stiffened_from = len(obj.data.vertices), bending_before_stiffening(obj, scene)
    subdivide(obj.data)
    done = f"{obj.name} has {len(obj.data.vertices):,} vertices now, before {count:,}"
    if stiffened_from is None:
        return done
    mapped = obj.taffeta_cloth.bending_stiffness
    mapped.value = max(stiffened_from, mesh_fit(obj, scene).fitting_bending)
    follow_value(obj.taffeta_cloth, "bending_stiffness")
    return f"{done}, and a Bending of {bending_text(mapped.value)}"


def stiffer(obj: bpy.types.Object, scene: bpy.types.Scene) -> str:
    """Raise a garment's bending stiffness to the least that its mesh can show; returns what was done.

    A map keeps its contrast. ValueError, with a remedy, where the mesh is fine enough, or asks for more than cloth has.
    """
    refuse_linked(obj)
    found, mapped = mesh_fit(obj, scene), obj.taffeta_cloth.bending_stiffness
    if found is None:
        raise ValueError(f"{obj.name} has no faces of any size; there is nothing to fit Bending to")
    if not found.is_limp:
        raise ValueError(f"{obj.name} has a mesh that is fine enough for its fabric; nothing was changed")
    new = found.fitting_bending
    if new > STIFFEST_CLOTH:
        raise ValueError(
            f"{obj.name} would have to be as stiff as card, {bending_text(new)}, with edges of {length_text(found.edge)}; "
            "subdivide it instead"
        )
    return _bend(obj, mapped, new)


def softer(obj: bpy.types.Object, scene: bpy.types.Scene) -> str:
    """Lower the bending stiffness of a garment of a doll's size, so that it hangs as larger cloth does, as far as its mesh can show
    that; returns what was done. A map keeps its contrast. ValueError where it is large enough, or the mesh too coarse.
    """
    refuse_linked(obj)
    found, mapped = softening(obj, scene), obj.taffeta_cloth.bending_stiffness
    if found is None:
        raise ValueError(f"{obj.name} is large enough for its fabric; nothing was changed")
    if math.isinf(found[2]):
        raise ValueError(f"{obj.name} has a mesh that is too coarse for a lower Bending; subdivide it first")
    return _bend(obj, mapped, found[2])


def _bend(obj, mapped, new: float) -> str:
    """Give a garment another bending stiffness [N m], most of it where that is a map; returns what was done."""
    old = usual(obj, mapped, max)
    if mapped.source == "UNIFORM":
        mapped.value = new
        follow_value(obj.taffeta_cloth, "bending_stiffness")
    elif old > 0.0:
        mapped.minimum, mapped.maximum = mapped.minimum * new / old, mapped.maximum * new / old
    else:
        raise ValueError(f"{obj.name} has a Bending of 0 where its map says so, most of it; raise Min or Max first")
    return f"{obj.name} has a Bending of {bending_text(new)} now, before {bending_text(old)}"


class Fitting:
    """What the verbs have in common: one garment, and errors as sentences."""

    bl_options = {"REGISTER", "UNDO"}

    object: StringProperty(name="Object", description="The cloth; empty takes the selected one")

    def execute(self, context):
        try:
            obj = chosen_cloth(context, self.object)
            refuse_mode(obj)
            self.report({"INFO"}, translated(self.fit(obj, context.scene)))
        except ValueError as error:
            return refused(self, error)
        return {"FINISHED"}


class TAFFETA_OT_subdivide(Fitting, bpy.types.Operator):
    """Cut each face of the cloth's mesh into four, in the same shape. UV maps, vertex groups, shape keys and sewing come
    along; a bake has to be made anew"""

    bl_idname = "taffeta.subdivide"
    bl_label = "Subdivide Cloth"
    bl_description = " ".join(__doc__.split())
    fit = staticmethod(finer)


class TAFFETA_OT_stiffen(Fitting, bpy.types.Operator):
    """Raise Bending to the least with which the cloth's folds are as wide as its mesh can show"""

    bl_idname = "taffeta.stiffen"
    bl_label = "Stiffen for This Mesh"
    fit = staticmethod(stiffer)


class TAFFETA_OT_soften(Fitting, bpy.types.Operator):
    """Lower Bending until a garment as small as a doll's hangs as larger ones do, as far as its mesh can show that"""

    bl_idname = "taffeta.soften"
    bl_label = "Soften for This Size"
    fit = staticmethod(softer)


class TAFFETA_OT_fabric_settle(bpy.types.Operator):
    """Keep the fabric that was just chosen from being thicker than the mesh bears"""

    bl_idname = "taffeta.fabric_settle"
    bl_label = "Fit Fabric to Mesh"
    bl_options = {"INTERNAL"}

    object: StringProperty(name="Object", description="Cloth whose fabric was chosen")

    def execute(self, context):
        obj = context.scene.objects.get(self.object)
        if obj is not None and (done := settle(obj, context.scene)):
            self.report({"INFO"}, translated(done))
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory(
    (TAFFETA_OT_subdivide, TAFFETA_OT_stiffen, TAFFETA_OT_soften, TAFFETA_OT_fabric_settle)
)
