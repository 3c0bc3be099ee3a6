# SPDX-License-Identifier: GPL-3.0-or-later
"""Make Taffeta Cloth of what Blender's own cloth moves: by its Cloth modifier, or by Cloth Dynamics (Blender 5.2).

Pins, distances, groups and colliders are taken over, mass and stretch where they are a fabric's. The modifier is switched
off and stays, so that the way back is one click.
"""

import bpy

from ..panels.mapped import ROWS, follow_value
from ..panels.translations import translated
from .read.blender_cloth import HEAVIEST_CLOTH, Told, simulator, told
from .read.participants import is_held
from .setup import allows, begin_compiling, editable, make_cloth, meshes


def convert(obj: bpy.types.Object, scene: bpy.types.Scene) -> tuple[str, ...]:
    """Make a garment of what `read.blender_cloth.simulator` moves, which there must be; returns what was left behind."""
    found, modifier = told(obj, scene), simulator(obj)
    keeps = keeps_pins(obj, found)
    make_cloth(obj, scene)
    cloth = obj.taffeta_cloth
    for name, value in found.settings.items():
        setattr(cloth, name, value)
    if not keeps:
        _pin(obj, found)
    _shrink(obj, found)
    _weave(cloth, found)
    for body, values in found.bodies.items():
        collider = body.taffeta_collider
        farther = max(values["aura"], collider.aura if collider.enabled else 0.0)  # of two garments that it keeps off
        collider.enabled = True
        for name, value in (values | {"aura": farther}).items():
            setattr(collider, name, value)
    modifier.show_viewport = modifier.show_render = False
    return found.lost


def keeps_pins(obj: bpy.types.Object, found: Told) -> bool:
    """Whether an object is Taffeta Cloth already, with pins that it keeps, because Blender's own cloth was told of none."""
    has_pins = obj.taffeta_cloth.enabled and is_held(obj)
    return has_pins and not _names_a_map(obj, found) and _held(found) == 0.0


def _names_a_map(obj, found: Told) -> bool:
    return str(found.pin) in obj.vertex_groups or str(found.pin) in obj.data.attributes


def _held(found: Told) -> float:
    """How firmly all is held where no map says it."""
    held = 0.0 if isinstance(found.pin, str) else found.pin
    return 1.0 - held if found.pin_inverted else held


def _pin(obj, found: Told):
    """Hold the garment where it was held; a group that there is not holds nothing, as before."""
    pin, name = obj.taffeta_cloth.pin, str(found.pin)
    pin.source, pin.invert, pin.minimum, pin.maximum = "UNIFORM", found.pin_inverted, 0.0, 1.0
    if name in obj.vertex_groups:
        pin.source, pin.vertex_group = "GROUP", name
    elif name in obj.data.attributes:
        pin.source, pin.attribute = "ATTRIBUTE", name
    else:
        pin.value = _held(found)


def _shrink(obj, found: Told):
    """Make the garment smaller where it was; a group that there is not leaves the least, as in Blender's cloth."""
    shrink, (group, least, most) = obj.taffeta_cloth.shrink, found.shrink
    if least == 0.0 and (most == 0.0 or group not in obj.vertex_groups):
        return
    shrink.source, shrink.value = "UNIFORM", least
    if group in obj.vertex_groups:
        shrink.source, shrink.vertex_group, shrink.invert = "GROUP", group, False
        shrink.minimum, shrink.maximum = least, most


def _weave(cloth, found: Told):
    """Give the garment what was told of its fabric. Cloth too heavy to be any keeps the weight that it was dressed in, and
    stretches under that as it did under its own; cloth without weight tells nothing."""
    if found.density and found.density <= HEAVIEST_CLOTH:
        cloth.mass.value = found.density
    if found.density and found.stretch is not None:
        lighter = cloth.mass.value / found.density
        cloth.stretch_stiffness.value = min(found.stretch * lighter, ROWS["stretch_stiffness"].soft[1])
        cloth.shear_stiffness.value = min(cloth.shear_stiffness.value, cloth.stretch_stiffness.value)
        cloth.weft_stretch = 1.0
    if found.friction is not None:
        cloth.friction.value = found.friction
    if found.thickness is not None:
        cloth.thickness.value = min(found.thickness, cloth.thickness.value)
    for name in ("mass", "stretch_stiffness", "shear_stiffness", "friction", "thickness"):
        follow_value(cloth, name)


class TAFFETA_OT_convert(bpy.types.Operator):
    """Make Taffeta Cloth of the selected meshes that Blender's own cloth moves, and colliders of what they collide with.
    Blender's modifiers are switched off, not removed"""

    bl_idname = "taffeta.convert"
    bl_label = "Convert from Blender Cloth"
    bl_description = " ".join(__doc__.split())
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        return allows(cls, context, simulator, "It has no cloth of Blender's own that is switched on")

    def execute(self, context):
        found = [obj for obj in meshes(context) if editable(obj) and simulator(obj)]
        empty = [obj.name for obj in found if not obj.data.polygons]
        if empty:
            self.report({"ERROR"}, translated(f"{', '.join(empty)} has no faces; add some, or select others"))
            return {"CANCELLED"}
        for obj in found:
            keeps = keeps_pins(obj, told(obj, context.scene))
            lost = convert(obj, context.scene)
            self.report({"INFO"}, translated(f"{obj.name} is Taffeta Cloth now; Blender's own is switched off"))
            if keeps:
                self.report(
                    {"INFO"}, translated(f"{obj.name} keeps the pins that it had: Blender's own cloth has none")
                )
            if lost:
                self.report(
                    {"WARNING"},
                    translated(f"{obj.name}: not taken over, to be set anew where it matters: {'; '.join(lost)}"),
                )
        begin_compiling()
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory((TAFFETA_OT_convert,))
