# SPDX-License-Identifier: GPL-3.0-or-later
"""Show the Mesh, Show the Bake: what viewports draw of a baked garment. Nothing is lost by either.

A bake lies over the mesh: whoever sculpts it, or keeps a pose, would not see that. What makes a new shape shows the mesh
by itself; where an animator changes it by hand, a button says why nothing is seen.
"""

import bpy

from .live import turn
from .playback.cache_modifier import show_bake, shows_bake
from .read.participants import chosen_cloths
from .read.screen import refused


def _allows(cls, context, shown: bool) -> bool:
    obj = context.object
    if turn.is_taken():
        cls.poll_message_set("The cloth is simulated now; stop that first")
    elif obj is None or obj.type != "MESH" or not obj.taffeta_cloth.enabled or shows_bake(obj) is None:
        cls.poll_message_set("Select a Taffeta Cloth that plays a bake")
    elif shows_bake(obj) != shown:
        cls.poll_message_set(f"The viewport shows {'the bake' if shows_bake(obj) else 'the mesh'} already")
    else:
        return True
    return False


class ShowVerb:
    """What both share. `shows`: the bake, else the mesh."""

    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        return _allows(cls, context, shown=not cls.shows)

    def execute(self, context):
        try:
            for obj in chosen_cloths(context, context.object.name):
                show_bake(obj, self.shows)
        except ValueError as error:
            return refused(self, error)
        return {"FINISHED"}


class TAFFETA_OT_show_mesh(ShowVerb, bpy.types.Operator):
    """Show the garment's mesh in viewports, to see what you sculpt or key. The bake stays on the disk, and renders and exports
    go on playing it"""

    bl_idname = "taffeta.show_mesh"
    bl_label = "Show the Mesh"
    bl_description = " ".join(__doc__.split())
    shows = False


class TAFFETA_OT_show_bake(ShowVerb, bpy.types.Operator):
    """Play the garment's bake in viewports again"""

    bl_idname = "taffeta.show_bake"
    bl_label = "Show the Bake"
    shows = True


register, unregister = bpy.utils.register_classes_factory((TAFFETA_OT_show_mesh, TAFFETA_OT_show_bake))
