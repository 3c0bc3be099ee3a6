# SPDX-License-Identifier: GPL-3.0-or-later
"""From a property to painting its map with one click, and back.

`taffeta.paint` makes what is missing (vertex group; image and UV map), makes it the property's source, and enters
weight or texture paint with the right group or image active. `taffeta.paint_done` goes back to Object Mode and
packs a painted image into the .blend, where Blender by itself would lose it on closing.
"""

import bpy

from ..panels.mapped import MAPPED, ROWS, follow_value
from ..panels.translations import translated
from .read.screen import refused

NEW_IMAGE_SIZE = 1024  # pixels; 2 mm on a garment whose UV map is 2 m wide
NEW_UV_MAP = "Taffeta UV"


def map_name(prop: str) -> str:
    """Name of a map made for a property: "Taffeta Stretch Stiffness"."""
    return "Taffeta " + prop.replace("_", " ").title()


def ensure_group(obj: bpy.types.Object, prop: str) -> bpy.types.VertexGroup:
    """The vertex group of a property, made empty when it has none: the map is 0, the value Min, until it is painted."""
    mapped = getattr(obj.taffeta_cloth, prop)
    name = mapped.vertex_group or map_name(prop)
    group = obj.vertex_groups.get(name) or obj.vertex_groups.new(name=name)
    mapped.vertex_group = group.name
    return group


def ensure_image(obj: bpy.types.Object, prop: str) -> bpy.types.Image:
    """The image of a property; a black one of its own is made when it has none."""
    mapped = getattr(obj.taffeta_cloth, prop)
    if mapped.image is None:
        name = f"{map_name(prop)} {obj.name}"
        mapped.image = bpy.data.images.new(name, NEW_IMAGE_SIZE, NEW_IMAGE_SIZE, alpha=False, is_data=True)
    return mapped.image


def ensure_uv(obj: bpy.types.Object, prop: str) -> tuple[bpy.types.MeshUVLoopLayer, bool]:
    """The UV map that lays a property's image on, active afterwards, and whether it had to be made.

    Raises
    ------
    ValueError
        The chosen UV map is missing, or the mesh has no faces to unwrap.
    """
    layers, mapped = obj.data.uv_layers, getattr(obj.taffeta_cloth, prop)
    if mapped.uv_map:
        if mapped.uv_map not in layers:
            raise ValueError(f"{obj.name} has no UV map '{mapped.uv_map}'; choose another one for {ROWS[prop].label}")
        layers.active = layers[mapped.uv_map]
        return layers.active, False
    if layers.active is not None:
        mapped.uv_map = layers.active.name
        return layers.active, False
    if not obj.data.polygons:
        raise ValueError(f"{obj.name} has no faces; an image needs faces to lie on, paint a vertex group instead")
    name = layers.new(name=NEW_UV_MAP).name
    _unwrap(obj)
    mapped.uv_map = name
    return obj.data.uv_layers[name], True


def _unwrap(obj):
    """Unwrap the active UV map of `obj`: a new one has every face on the whole image."""
    selected = [other for other in bpy.context.view_layer.objects if other is not None and other.select_get()]
    for other in selected:  # Edit Mode takes every selected mesh along
        other.select_set(other == obj)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.reveal(select=False)
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.uv.smart_project(island_margin=0.01)
    bpy.ops.object.mode_set(mode="OBJECT")
    for other in selected:
        other.select_set(True)


def _paint_group(context, obj, prop) -> str:
    group = ensure_group(obj, prop)
    obj.vertex_groups.active_index = group.index
    getattr(obj.taffeta_cloth, prop).source = "GROUP"
    bpy.ops.object.mode_set(mode="WEIGHT_PAINT")
    return f"Painting vertex group '{group.name}'"


def _paint_image(context, obj, prop) -> str:
    layer, made = ensure_uv(obj, prop)
    uv_name = layer.name
    image = ensure_image(obj, prop)
    getattr(obj.taffeta_cloth, prop).source = "IMAGE"
    canvas = context.scene.tool_settings.image_paint
    canvas.mode, canvas.canvas = "IMAGE", image
    bpy.ops.object.mode_set(mode="TEXTURE_PAINT")
    _take_white(context.scene.tool_settings)
    unwrapped = f"; {obj.name} had no UV map, so it was unwrapped as '{uv_name}'" if made else ""
    return f"Painting image '{image.name}'{unwrapped}"


def _take_white(tool_settings):
    """White in the brush and black behind it (X swaps them): Blender begins with black, which paints nothing here."""
    paint = tool_settings.image_paint
    # Blender 5 keeps these with each paint mode, 4.5 once for all.
    unified = getattr(paint, "unified_paint_settings", None) or tool_settings.unified_paint_settings
    for colours in (unified, paint.brush):
        if colours is not None:
            colours.color, colours.secondary_color = (1.0, 1.0, 1.0), (0.0, 0.0, 0.0)


PAINT_MODES = {"GROUP": _paint_group, "IMAGE": _paint_image}


class TAFFETA_OT_paint(bpy.types.Operator):
    """Paint where this property is at Min (black) and Max (white)"""

    bl_idname = "taffeta.paint"
    bl_label = "Paint Map"
    bl_options = {"REGISTER", "UNDO"}

    prop: bpy.props.EnumProperty(
        name="Property",
        items=tuple((name, ROWS[name].label, ROWS[name].tooltip) for name in MAPPED),
        default="stretch_stiffness",
    )
    mode: bpy.props.EnumProperty(
        name="On",
        items=(
            ("GROUP", "Vertex Group", "Weight paint: as fine as the mesh"),
            ("IMAGE", "Image", "Texture paint: independent of the mesh, needs a UV map"),
        ),
        default="GROUP",
    )

    @classmethod
    def poll(cls, context):
        obj = context.object
        if obj is None or obj.type != "MESH" or not obj.taffeta_cloth.enabled:
            cls.poll_message_set("Select a Taffeta Cloth")
        elif obj.library is not None or obj.data.library is not None:
            cls.poll_message_set("The mesh is linked from another file: make it local to paint on it")
        elif not obj.visible_get():
            cls.poll_message_set("The cloth is hidden: show it to paint on it")
        else:
            return True
        return False

    def execute(self, context):
        obj = context.object
        context.view_layer.objects.active = obj
        if obj.mode != "OBJECT":
            bpy.ops.object.mode_set(mode="OBJECT")
        mapped = getattr(obj.taffeta_cloth, self.prop)
        if mapped.source == "UNIFORM":
            follow_value(obj.taffeta_cloth, self.prop)
        try:
            sentence = PAINT_MODES[self.mode](context, obj, self.prop)
        except ValueError as error:
            return refused(self, error)
        self.report({"INFO"}, translated(sentence))
        return {"FINISHED"}


class TAFFETA_OT_paint_done(bpy.types.Operator):
    """Back to Object Mode; a painted image is packed into the .blend"""

    bl_idname = "taffeta.paint_done"
    bl_label = "Done Painting"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        if context.object is None or context.object.mode not in {"WEIGHT_PAINT", "TEXTURE_PAINT"}:
            cls.poll_message_set("Nothing is being painted")
            return False
        return True

    def execute(self, context):
        bpy.ops.object.mode_set(mode="OBJECT")
        for name in MAPPED:
            image = getattr(context.object.taffeta_cloth, name).image
            if image is not None and image.is_dirty and (image.packed_file or not image.filepath):
                image.pack()
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory((TAFFETA_OT_paint, TAFFETA_OT_paint_done))
