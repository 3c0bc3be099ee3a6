# SPDX-License-Identifier: GPL-3.0-or-later
"""What viewports show of a baked garment, where an animator looks: in the panel, and above the mesh that is sculpted."""

import bpy

from .rows import sentences

SHAPING = frozenset(("SCULPT", "EDIT"))  # modes in which the mesh under the bake is changed


def draw_shown(layout, context):
    """Which bake plays, or that viewports show the mesh instead, with the button that changes it."""
    path = context.object.taffeta_cloth.cache_path
    if bpy.ops.taffeta.show_bake.poll():
        sentences(layout, context, f"The viewport shows the mesh; renders and exports play {path}", "INFO")
        layout.operator("taffeta.show_bake", icon="FILE_CACHE")
        return
    sentences(layout, context, f"Plays {path}", "FILE_CACHE")
    if context.object.mode in SHAPING and bpy.ops.taffeta.show_mesh.poll():
        layout.operator("taffeta.show_mesh", icon="MESH_DATA")


def draw_header(self, context):
    """In the 3D view: why nothing is seen of what is sculpted."""
    obj = context.object
    if obj is None or obj.mode not in SHAPING or not bpy.ops.taffeta.show_mesh.poll():
        return
    row = self.layout.row(align=True)
    row.label(text="Plays a bake: the mesh you change is hidden", icon="INFO")
    row.operator("taffeta.show_mesh", icon="MESH_DATA")


def register():
    """Add to the 3D view's header."""
    bpy.types.VIEW3D_HT_header.append(draw_header)


def unregister():
    """Take it out again."""
    bpy.types.VIEW3D_HT_header.remove(draw_header)
