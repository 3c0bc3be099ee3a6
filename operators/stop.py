# SPDX-License-Identifier: GPL-3.0-or-later
"""Stop what runs beside the window: the bake, whose finished frames are kept, the live simulation, or the drape."""

import bpy

from .bake import job as jobs
from .drape import session as drape_session


class TAFFETA_OT_stop(bpy.types.Operator):
    """Stop the bake, and keep the frames that are done; or stop playing live or draping, and leave the garments as they were"""

    bl_idname = "taffeta.stop"
    bl_label = "Stop Simulation"

    def execute(self, context):
        session, drape = context.window_manager.taffeta, drape_session.running()
        by_script = drape is not None and drape.by_script  # so that nobody looks after it
        if not (jobs.ask_to_stop() or session.live or session.draping or by_script):
            self.report({"INFO"}, "Nothing runs that could be stopped")
            return {"CANCELLED"}
        if by_script:
            drape_session.end()
        session.live = session.draping = False  # their operators look at that
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory((TAFFETA_OT_stop,))
