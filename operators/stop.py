# SPDX-License-Identifier: GPL-3.0-or-later
"""Stop what runs beside the window: the bake, whose finished frames are kept, the live simulation, or the drape."""

import bpy

from .bake import job as jobs


class TAFFETA_OT_stop(bpy.types.Operator):
    """Stop the bake, and keep the frames that are done; or stop playing live or draping, and leave the garments as they were"""

    bl_idname = "taffeta.stop"
    bl_label = "Stop Simulation"

    def execute(self, context):
        session = context.window_manager.taffeta
        if not (jobs.ask_to_stop() or session.live or session.draping):
            self.report({"INFO"}, "Nothing runs that could be stopped")
            return {"CANCELLED"}
        session.live = session.draping = False  # their operators look at that
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory((TAFFETA_OT_stop,))
