# SPDX-License-Identifier: GPL-3.0-or-later
"""Physics tab, right below Blender's own buttons: the bar, five rows that are always there and always as high.

Blender keeps panels without a header above all others, so nothing that Blender or another extension inserts moves it.
What does not apply is greyed; Bake, Play Live, Drape and Stop have a place each, so a second click never starts the other.
"""

import bpy

from .bakes import bakes_on_disk, lies_on_disk
from .fabric import TAFFETA_PT_fabric_presets, name_of, picture_of
from .mapped import ROWS
from .rows import NARROW_VALUE, PhysicsPanel, painted_property, panel_width
from .translations import translated

TALL = 1.4  # height of the row that everything begins with, in rows
TIGHT = 240.0  # width in pixels of an unscaled screen below which a button of the first row has room for one word alone
DOUBTS = "ERROR", "CANCEL"  # icons of warnings and of errors, which stay where the panel is narrow


class TAFFETA_PT_bar(PhysicsPanel, bpy.types.Panel):
    """Bake, play, stop, and how it stands"""

    bl_label = "Taffeta"
    bl_options = {"HIDE_HEADER"}

    def draw(self, context):
        session, obj = context.window_manager.taffeta, context.object
        note = session.fabrics.get(obj.name)
        column = self.layout.column(align=False)
        narrow = panel_width(context) < NARROW_VALUE  # there words need the room of icons
        _verbs(column, session, narrow, panel_width(context) < TIGHT)
        _go_on(column, context, session, narrow)
        first, end = context.scene.frame_start, context.scene.frame_end + 1
        kept, count = _kept(note, first, end) if note else 0, max(1, end - first)
        if session.baking:
            column.progress(factor=session.progress, text=translated(session.status))
        else:
            words = f"{kept} of {count} frames kept" if kept else _none_kept(context)
            column.progress(factor=min(1.0, kept / count), text=translated(words))
        _fabric(column, session, obj, narrow)
        _state(column, context, session, obj, narrow)


def _kept(note, first, end):
    """How many frames of a garment's bake are in the scene's range."""
    return max(0, min(end, note.frame_start + note.frame_count) - max(first, note.frame_start))


def _none_kept(context):
    """After an undo, or a reopen without saving, the frames are there all the same: Resume goes on with them."""
    found = bakes_on_disk(context)
    offered = next((item for item in found if item.fits), None)
    return lies_on_disk(offered) if offered and not any(item.plays for item in found) else "No frames kept"


def _verbs(column, session, narrow, tight):
    """Bake, Play Live, Drape, Stop."""
    busy = session.baking or session.live or session.draping
    row = column.row(align=True)
    row.scale_y = TALL
    start = row.row(align=True)
    start.enabled = not busy
    start.operator("taffeta.bake", text="Bake", icon=_icon("RENDER_ANIMATION", narrow))
    live = "Live" if tight else "Play Live"
    start.operator("taffeta.live", text=live, icon=_icon("PLAY", narrow), depress=session.live)
    start.operator("taffeta.drape", text="Drape", icon=_icon("VIEW_PAN", narrow), depress=session.draping)
    stop = row.row(align=True)
    stop.enabled = busy
    stop.operator("taffeta.stop", text="Stop", icon=_icon("PAUSE", narrow))


def _icon(name, narrow):
    return "NONE" if narrow else name


def _go_on(column, context, session, narrow):
    """Two ways to go on with a bake."""
    split = column.split(factor=0.4, align=True)
    kept = context.object.taffeta_cloth.cache_path or bakes_on_disk(context)
    split.enabled = bool(kept) and not (session.baking or session.live or session.draping)
    split.operator("taffeta.bake", text="Resume", icon=_icon("FRAME_NEXT", narrow)).resume = True
    frame = context.scene.frame_current
    again = translated(f"Re-Bake from {frame}")
    split.operator("taffeta.bake", text=again, icon=_icon("FILE_REFRESH", narrow)).from_frame = frame


def _fabric(column, session, obj, narrow):
    """What the garment is of, and the presets behind it; how carefully it is baked."""
    split = column.split(factor=0.5, align=True)
    split.enabled = not session.baking
    name = name_of(obj)
    picture = picture_of(name)
    icon = {"icon_value": picture} if picture else {"icon": _icon("MATCLOTH", narrow)}
    split.popover(TAFFETA_PT_fabric_presets.__name__, text=translated(name or "Own Fabric"), **icon)
    split.row(align=True).prop(obj.taffeta_cloth, "quality", expand=True)


def _state(column, context, session, obj, narrow):
    """One short sentence; the way out of painting; what the preflight found."""
    painting = painted_property(obj)
    text, icon = _sentence(session, obj.taffeta_cloth, painting, bool(bakes_on_disk(context)), narrow)
    split = column.split(factor=0.66, align=True)
    split.label(text=translated(text), icon=icon if icon in DOUBTS else _icon(icon, narrow))
    row = split.row(align=True)
    done = row.row(align=True)
    done.enabled = bool(painting)
    done.operator("taffeta.paint_done", text="Done")
    row.popover("TAFFETA_PT_preflight", text="", icon="VIEWZOOM")


def _sentence(session, cloth, painting, is_on_disk, narrow) -> tuple[str, str]:
    """What matters most now, short enough for the panel, and its icon."""
    doubts = [p.severity for p in session.problems if p.severity != "INFO"]
    if session.baking:
        return "Settings are locked", "INFO"
    if session.live:
        return "Live: nothing is kept", "INFO"
    if session.draping:
        return "Draping: Keep is in the view", "INFO"
    if painting:
        return f"Painting {translated(ROWS[painting].label)}", "BRUSH_DATA"
    if doubts:
        words = "1 warning" if len(doubts) == 1 else f"{len(doubts)} warnings"
        return words if narrow else f"{words} before you bake", DOUBTS["ERROR" in doubts]
    if cloth.stale:
        return "Changed since" if narrow else "Changed since it was baked", DOUBTS[0]
    if cloth.cache_path:
        return "Baked", "INFO"
    return ("A bake lies on disk" if is_on_disk else "Nothing baked yet"), "INFO"


register, unregister = bpy.utils.register_classes_factory((TAFFETA_PT_bar,))
