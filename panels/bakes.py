# SPDX-License-Identifier: GPL-3.0-or-later
"""Physics tab, below More: the bakes of a garment that lie on the disk, and the trash. The list is made by `operators.checks`."""

import bpy

from .rows import SubPanel, sentences, settings_layout, why
from .translations import translated


def bakes_on_disk(context) -> list:
    """Bakes of the active garment that lie on the disk, as its list shows them."""
    return [item for item in context.window_manager.taffeta.bakes if item.garment == context.object.name]


def lies_on_disk(item) -> str:
    """What is said of a bake that could be played, where none plays."""
    return f"A bake of {_frames(item)} lies on disk"


class TAFFETA_PT_bakes(SubPanel, bpy.types.Panel):
    """What was baked, which of it plays, and what was freed"""

    bl_label = "Bakes"

    def draw(self, context):
        layout = settings_layout(self, context)
        found = bakes_on_disk(context)
        played = next((item for item in found if item.plays), None)
        if played is not None:
            sentences(layout, context, f"Plays {played.path}", "FILE_CACHE")
        elif offered := next((item for item in found if item.fits), None):
            row = layout.row(align=True)
            row.label(text=translated(lies_on_disk(offered)), icon="INFO")
            _verb(row, context, offered, "taffeta.bake_play", "Play It", "PLAY")
        elif not found:
            why(layout, "Nothing baked yet")
        for item in found:
            self.draw_bake(layout, context, item)
        layout.operator("taffeta.bake", text="Bake Selected Only", icon="RESTRICT_SELECT_OFF").selected = True
        self.draw_trash(layout, context)

    def draw_bake(self, layout, context, item):
        """A bake and its verbs; those of another .blend can be played, and no more."""
        box = layout.box().column(align=True)
        row = box.row(align=True)
        play = row.row(align=True)
        play.enabled = item.fits
        _verb(play, context, item, "taffeta.bake_play", "", "RADIOBUT_ON" if item.plays else "RADIOBUT_OFF")
        row.label(text=item.label, translate=False)
        row.label(text=_frames(item))
        verbs = row.row(align=True)
        verbs.enabled = not item.maker
        _verb(verbs, context, item, "taffeta.bake_rename", "", "GREASEPENCIL")
        _verb(verbs, context, item, "taffeta.bake_delete", "", "TRASH")
        column = box.column(align=True)
        column.active = False
        sentences(column, context, item.about)
        if item.note:
            sentences(column, context, item.note, "TEXT")
        if item.maker:
            sentences(column, context, f"Of {item.maker}: Resume copies it and goes on here", "FILE_BLEND")
        if item.changed:
            sentences(column, context, f"Settings changed since: {item.changed}", "INFO")
        if item.is_of_another_release:
            sentences(column, context, "Baked by another release of Taffeta: a new bake makes all frames anew", "INFO")
        if (item.changed or item.is_of_another_release) and item.restorable:
            _verb(box, context, item, "taffeta.bake_settings", "Restore Its Settings", "LOOP_BACK")
        if not item.fits:
            sentences(column, context, "Of a mesh with another number of vertices", "ERROR")

    def draw_trash(self, layout, context):
        """What was freed: bring it back, or make room."""
        session = context.window_manager.taffeta
        if not session.trash:
            return
        column = layout.column(align=True)
        for item in session.bakes:
            if not item.garment:
                row = column.row(align=True)
                row.label(text=f"{item.label}, {_frames(item)}", icon="TRASH")
                _verb(row, context, item, "taffeta.bake_restore", "Restore", "LOOP_BACK")
        column.operator("taffeta.trash_empty", text=translated(f"Empty Trash ({session.trash})"), icon="TRASH")


def _frames(item) -> str:
    return translated("1 frame" if item.frame_count == 1 else f"{item.frame_count} frames")


def _verb(layout, context, item, verb, text, icon):
    button = layout.operator(verb, text=text, icon=icon)
    button.object, button.path = context.object.name, item.path


register, unregister = bpy.utils.register_classes_factory((TAFFETA_PT_bakes,))
