# SPDX-License-Identifier: GPL-3.0-or-later
"""Make meshes cloth or colliders, and take that back.

They work on every selected mesh and the active one, in Object Mode, and set the Taffeta settings only: no modifier,
no hidden object. A mesh is one of both, but for a cloth that plays a bake: it can be a collider of those that are baked without it. A cloth's cache modifier appears with its first bake and goes when the cloth is removed.
"""

import bpy

from ..panels.translations import translated
from .checks.fabric_rows import fabric_sentence
from .fit import dress
from .playback.cache_modifier import detach, played


def meshes(context) -> list[bpy.types.Object]:
    """The meshes an operator works on: the selected ones and the active one, sorted by name.

    A Properties editor that is pinned to another object means that object alone.
    """
    active = context.view_layer.objects.active
    shown = getattr(context, "object", active)
    if shown is not None and shown != active:
        found = {shown}
    else:
        found = {obj for obj in context.view_layer.objects if obj is not None and obj.select_get()}
        found |= {active} - {None}
    return sorted((obj for obj in found if obj.type == "MESH"), key=lambda obj: obj.name)


def editable(obj) -> bool:
    """Whether the object belongs to this file."""
    return obj.library is None


def allows(cls, context, wanted, sentence: str) -> bool:
    """What operators that make cloth of meshes ask for: `wanted(obj)` has to hold for one mesh at least; else say why not."""
    active = context.view_layer.objects.active
    if active is not None and active.mode != "OBJECT":
        cls.poll_message_set("Switch to Object Mode first")
        return False
    found = meshes(context)
    if not found:
        cls.poll_message_set("Select a mesh object")
    elif not any(editable(obj) for obj in found):
        cls.poll_message_set("The object is linked: make a library override (Object, Library Override, Make)")
    elif not any(wanted(obj) for obj in found):
        cls.poll_message_set(sentence)
    else:
        return True
    return False


def begin_compiling():
    """Let the solver be compiled in the background, so that the first bake of a new install need not wait for it."""
    if not bpy.app.background:
        from ..solver import precompile

        precompile.start_ahead()


def _choose_pattern(obj):
    """Take the active UV map as the sewing pattern when none was chosen; without one, threads follow the edges."""
    layers = obj.data.uv_layers
    cloth = obj.taffeta_cloth
    if layers.active is not None and cloth.uv_map not in layers:
        cloth.uv_map = layers.active.name


def make_cloth(obj, scene) -> bool:
    """Switch Taffeta Cloth on; returns whether it was given a fabric, because it had none."""
    obj.taffeta_cloth.enabled = True
    obj.taffeta_collider.enabled = False
    _choose_pattern(obj)
    return dress(obj, scene)


class TAFFETA_OT_cloth_add(bpy.types.Operator):
    """Simulate the selected meshes as cloth"""

    bl_idname = "taffeta.cloth_add"
    bl_label = "Add Taffeta Cloth"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        return allows(cls, context, lambda obj: not obj.taffeta_cloth.enabled, "It is Taffeta Cloth already")

    def execute(self, context):
        chosen = [obj for obj in meshes(context) if editable(obj) and not obj.taffeta_cloth.enabled]
        empty = [obj.name for obj in chosen if not obj.data.polygons]
        for obj in chosen:
            if make_cloth(obj, context.scene):
                self.report({"INFO"}, translated(f"{obj.name} is made of {fabric_sentence(obj, context.scene)}"))
        begin_compiling()
        names = ", ".join(obj.name for obj in chosen)
        if empty:
            self.report({"WARNING"}, translated(f"{', '.join(empty)} has no faces; add some before you bake"))
        elif any(obj.taffeta_collider.enabled for obj in context.scene.objects):
            self.report({"INFO"}, translated(f"{names} is cloth now; press Bake"))
        else:
            self.report({"INFO"}, translated(f"{names} is cloth now; add a Taffeta Collider to what it should fall on"))
        return {"FINISHED"}


class TAFFETA_OT_cloth_remove(bpy.types.Operator):
    """Stop simulating the selected meshes: they show their own pose again. Baked files stay on disk"""

    bl_idname = "taffeta.cloth_remove"
    bl_label = "Remove Taffeta Cloth"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        return allows(cls, context, lambda obj: obj.taffeta_cloth.enabled, "It is no Taffeta Cloth")

    def execute(self, context):
        for obj in meshes(context):
            if editable(obj) and obj.taffeta_cloth.enabled:
                obj.taffeta_cloth.enabled = False
                detach(obj)
        return {"FINISHED"}


def _can_collide(obj) -> bool:
    """Whether a mesh can be made a collider: one that moves by itself, or plays its bake."""
    return not obj.taffeta_collider.enabled and (not obj.taffeta_cloth.enabled or played(obj) is not None)


class TAFFETA_OT_collider_add(bpy.types.Operator):
    """Keep cloth out of the selected meshes"""

    bl_idname = "taffeta.collider_add"
    bl_label = "Add Taffeta Collider"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        return allows(
            cls,
            context,
            _can_collide,
            "It is a Taffeta Collider already, or a cloth that plays no bake: cloths collide with each other anyway",
        )

    def execute(self, context):
        chosen = [obj for obj in meshes(context) if editable(obj) and not obj.taffeta_collider.enabled]
        able = [obj for obj in chosen if _can_collide(obj)]
        cloths = [obj.name for obj in chosen if obj not in able]
        for obj in able:
            obj.taffeta_collider.enabled = True
        if both := [obj.name for obj in able if obj.taffeta_cloth.enabled]:
            told = f"{', '.join(both)} is a collider, too, of cloth that Bake Selected Only bakes without it"
            self.report({"INFO"}, translated(told))
        if cloths:
            self.report({"INFO"}, translated(f"{', '.join(cloths)} stays cloth; cloths collide with each other anyway"))
        return {"FINISHED"}


class TAFFETA_OT_collider_remove(bpy.types.Operator):
    """Let cloth pass through the selected meshes again"""

    bl_idname = "taffeta.collider_remove"
    bl_label = "Remove Taffeta Collider"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        return allows(cls, context, lambda obj: obj.taffeta_collider.enabled, "It is no Taffeta Collider")

    def execute(self, context):
        for obj in meshes(context):
            if editable(obj):
                obj.taffeta_collider.enabled = False
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory(
    (TAFFETA_OT_cloth_add, TAFFETA_OT_cloth_remove, TAFFETA_OT_collider_add, TAFFETA_OT_collider_remove)
)
