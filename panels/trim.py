# SPDX-License-Identifier: GPL-3.0-or-later
"""Trims: buttons, buckles and badges on a patch of cloth. Their settings, `Object.taffeta_trim`, and their panel."""

import bpy
from bpy.props import BoolProperty, FloatProperty, PointerProperty

from .mapped import OVERRIDE
from .rows import PhysicsPanel, settings_layout


# fmt: off
class TaffetaTrimSettings(bpy.types.PropertyGroup):
    """What an object weighs that follows a patch of cloth, and how it stiffens that."""

    enabled: BoolProperty(
        name="Taffeta Trim", options=set(), override=OVERRIDE, description="Let the cloth below feel this object, which it carries"
    )
    mass: FloatProperty(
        name="Mass (kg)", default=0.0, min=0.0, max=1e3, soft_max=0.1, step=0.1, precision=4, options=set(), override=OVERRIDE,
        description="Of the object, in kg; the patch carries it, each vertex as much. A shirt button weighs 0.0004, a buckle 0.05. "
        "0 adds none",
    )
    radius: FloatProperty(
        name="Patch", default=0.01, min=0.0, max=1e3, soft_max=0.1, unit="LENGTH", precision=4, step=0.1, options=set(),
        override=OVERRIDE,
        description="Radius in metres of the cloth that carries the object, at rest; at least the face that it follows",
    )
    stiffening: FloatProperty(
        name="Stiffening", default=1.0, min=1.0, max=1e4, soft_max=100.0, step=100, precision=1, options=set(), override=OVERRIDE,
        description="How many times as stiff the patch is to stretch, shear and bending, a pure number; 1 changes nothing",
    )
# fmt: on


class TAFFETA_PT_trim(PhysicsPanel, bpy.types.Panel):
    """What cloth feels of an object on it"""

    bl_label = "Taffeta Trim"

    @classmethod
    def poll(cls, context):
        return context.object is not None and context.object.taffeta_trim.enabled

    def draw(self, context):
        layout = settings_layout(self, context)
        trim = context.object.taffeta_trim
        for name in ("mass", "radius", "stiffening"):
            layout.prop(trim, name)
        layout.operator("taffeta.trim_remove", icon="X")


_register, _unregister = bpy.utils.register_classes_factory((TaffetaTrimSettings, TAFFETA_PT_trim))


def register():
    """Register the settings, and hang them on objects."""
    _register()
    bpy.types.Object.taffeta_trim = PointerProperty(type=TaffetaTrimSettings, override=OVERRIDE)


def unregister():
    """Undo `register`; what a .blend stored stays in the file."""
    del bpy.types.Object.taffeta_trim
    _unregister()
