# SPDX-License-Identifier: GPL-3.0-or-later
"""A fabric dragged from the Asset Browser and dropped on a garment: the garment is made of it, and no swatch lies about.

Blender drops an object, and lays it onto what is under the pointer: the middle of the lowest side of its box is there. So a
swatch whose box stands on a garment was dropped on that. Blender tells that it imported a file of ours (`blend_import_post`)
before it lays the object down; a timer looks right after that. Nothing is looked at while nothing is imported, and an undo
imports nothing.
"""

from pathlib import Path

import bpy
from bpy.app.handlers import persistent
from mathutils import Vector

from ..panels.fabric import LIBRARY_FOLDER, own_folder
from .read.listen import listen, listen_no_more
from .read.participants import chosen_cloths, refuse_linked
from .read.screen import refused

TOUCHING = 5e-3  # of a swatch's diagonal: how far from a surface it counts as lying on it
DROP = "OBJECT_OT_transform_to_mouse"  # what Blender lays a dropped object down with


def is_swatch(obj: bpy.types.Object | None) -> bool:
    """Whether an object is a fabric's swatch as it came from the library: nobody's work is lost with it."""
    if obj is None or obj.type != "MESH" or obj.modifiers or obj.children or obj.animation_data is not None:
        return False
    fabric = obj.taffeta_fabric.chosen
    return bool(fabric) and all(name.partition(".")[0] == fabric for name in (obj.name, obj.data.name))


def object_under(view_layer: bpy.types.ViewLayer, swatch: bpy.types.Object) -> str:
    """Name of the object that a swatch stands on; "" if on none. Of several as near as that, the nearest."""
    corners = [Vector(corner) for corner in swatch.bound_box]
    low, high = (Vector(bound(axis) for axis in zip(*corners, strict=True)) for bound in (min, max))
    foot = swatch.matrix_world @ Vector((0.5 * (low.x + high.x), 0.5 * (low.y + high.y), low.z))
    nearest, name = TOUCHING * (swatch.matrix_world.to_3x3() @ (high - low)).length, ""
    depsgraph = bpy.context.evaluated_depsgraph_get()
    for obj in view_layer.objects:
        if obj is None or obj == swatch or obj.type != "MESH" or not obj.visible_get(view_layer=view_layer):
            continue
        shown = obj.evaluated_get(depsgraph)
        if not shown.data.polygons or abs(shown.matrix_world.determinant()) == 0.0:
            continue
        found, place, *_ = shown.closest_point_on_mesh(shown.matrix_world.inverted() @ foot)
        if found and (away := (shown.matrix_world @ place - foot).length) < nearest:
            nearest, name = away, obj.name
    return name


class TAFFETA_OT_fabric_drop(bpy.types.Operator):
    """Make the cloth that a dropped swatch stands on of its fabric, and take the swatch away"""

    bl_idname = "taffeta.fabric_drop"
    bl_label = "Drop Fabric on Cloth"
    bl_options = {"UNDO", "INTERNAL"}

    swatch: bpy.props.StringProperty(name="Swatch", description="The object that was dropped")

    def execute(self, context):
        swatch = context.view_layer.objects.get(self.swatch)
        try:
            if not is_swatch(swatch):
                raise ValueError(
                    f"{self.swatch} is no swatch of a fabric; drag one from the Asset Browser onto a cloth"
                )
            under = object_under(context.view_layer, swatch)
            if not under:
                raise ValueError(f"{self.swatch} lies on no cloth; drop it on one, or right-click the fabric to use it")
            (obj,) = chosen_cloths(context, under)
            refuse_linked(obj)
        except ValueError as error:
            return refused(self, error)
        fabric, mesh = swatch.taffeta_fabric.chosen, swatch.data
        bpy.data.objects.remove(swatch)
        if not mesh.users:
            bpy.data.meshes.remove(mesh)
        for other in context.view_layer.objects:
            other.select_set(other == obj)
        context.view_layer.objects.active = obj
        return bpy.ops.taffeta.fabric_apply(fabric=fabric)


def is_fabric(imported) -> bool:
    """Whether what came from another file, a `BlendImportContext`, is a fabric of ours."""
    sources = {item.source_library.filepath for item in imported.import_items if item.source_library is not None}
    return any(Path(source).parent in (Path(LIBRARY_FOLDER), own_folder()) for source in sources)


@persistent
def _imported(imported):
    """Something came from another file: if it is a fabric of ours, see where it is laid down. Without a window nothing is
    dropped, and no timer ever runs: Blender 4.5 would wait for it for ever when it ends.
    """
    if not bpy.app.background and is_fabric(imported):
        bpy.app.timers.register(_dropped, first_interval=0.0)


def _dropped() -> None:
    """If Blender has just laid a swatch onto a garment, make that of it; elsewhere it stays, as any object."""
    manager = bpy.context.window_manager
    last = manager.operators[-1] if manager.operators else None
    if last is None or last.bl_idname != DROP:
        return
    swatch = next((obj for obj in bpy.data.objects if obj.session_uid == last.properties.session_uid), None)
    window = next((window for window in manager.windows if swatch in window.view_layer.objects[:]), None)
    if window is None or not is_swatch(swatch):
        return
    with bpy.context.temp_override(window=window):
        window.view_layer.update()  # Blender has moved it, but not yet where it is asked for
        under = bpy.data.objects.get(object_under(window.view_layer, swatch))
        if under is not None and (under.taffeta_cloth.enabled or under.taffeta_cage.cage is not None):
            bpy.ops.taffeta.fabric_drop("EXEC_DEFAULT", True, swatch=swatch.name)  # a step of its own to undo


HANDLERS = (("blend_import_post", _imported),)


def register():
    """Register the operator, and be told of imports."""
    bpy.utils.register_class(TAFFETA_OT_fabric_drop)
    listen(HANDLERS)


def unregister():
    """Undo `register`."""
    listen_no_more(HANDLERS)
    if bpy.app.timers.is_registered(_dropped):
        bpy.app.timers.unregister(_dropped)
    bpy.utils.unregister_class(TAFFETA_OT_fabric_drop)
