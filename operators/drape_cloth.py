# SPDX-License-Identifier: GPL-3.0-or-later
"""Drape: the tool that arranges cloth by hand in the 3D view (`drape.session`), and what may become of the cloth.

The operator runs from the first click until Esc, Leave or Keep. It takes the mouse buttons over cloth while the tool is in
hand, and the keys that its status line names; all else goes to Blender, so that sliders, other editors and the view work.
From a script it does one stroke (`drape.stroke`) and returns; the drape goes on until `drape_keep` or `stop`.
"""

import bpy
from bpy.props import EnumProperty, FloatProperty, FloatVectorProperty, IntProperty, StringProperty

from ..panels.drape import TOOL
from ..panels.translations import translated
from .bake import job as jobs
from .drape import buttons, draw, session, stroke
from .drape.view import beside, is_tool, length_of, ray, view_at
from .keep_pose import RESULTS, keep_and_tell
from .live import turn
from .read.screen import redraw, refused, view3d
from .work.loading import PREPARING, Loader
from .work.window import StatusBar

TICK = 0.01  # [s] between two looks at the worker
KEYS = "drag pulls, Shift pins, Ctrl unpins, Alt smooths; F radius, Space time, Ctrl Z back, Esc leaves all as it was"


STROKES = (
    ("WAIT", "Wait", "Nothing: the cloth falls"),
    ("GRAB", "Grab", "Pulls it to another place, and lets go"),
    ("PIN", "Pin", "Pins it where it is"),
    ("UNPIN", "Unpin", "Takes off such pins"),
    ("SMOOTH", "Smooth", "Smooths it"),
)


class TAFFETA_OT_drape(bpy.types.Operator):
    """Arrange cloth by hand in the 3D view while it is simulated at this frame. Esc leaves all as it was; Keep, in the view's header, keeps it"""

    bl_idname = "taffeta.drape"
    bl_label = "Drape Cloth"

    # of a script; the mouse says all that by itself
    doing: EnumProperty(
        name="Stroke", default="WAIT", items=STROKES, options={"SKIP_SAVE"}, description="What the hand does"
    )
    object: StringProperty(
        name="Garment",
        options={"SKIP_SAVE"},
        description="Name of the garment that is touched; empty takes the nearest",
    )
    at: FloatVectorProperty(
        name="At",
        subtype="XYZ_LENGTH",
        options={"SKIP_SAVE"},
        description="Place in the world; the cloth nearest to it is touched",
    )
    to: FloatVectorProperty(
        name="To", subtype="XYZ_LENGTH", options={"SKIP_SAVE"}, description="Place in the world to which it is pulled"
    )
    radius: FloatProperty(
        name="Radius",
        default=0.1,
        min=1e-4,
        unit="LENGTH",
        options={"SKIP_SAVE"},
        description="How far around it, in metres",
    )
    steps: IntProperty(
        name="Steps",
        default=24,
        min=0,
        max=100000,
        options={"SKIP_SAVE"},
        description="How many are simulated, each half of a frame",
    )

    @classmethod
    def poll(cls, context):
        if context.mode != "OBJECT":
            cls.poll_message_set("Draping works in Object Mode; leave the other mode (Tab)")
            return False
        return True

    def invoke(self, context, event):
        drape = session.running()
        if drape is not None and not drape.by_script:
            return {"CANCELLED"}
        if drape is None and (turn.is_taken() or jobs.running()):
            self.report({"ERROR"}, "A simulation is under way; wait for it or press Stop, then drape")
            return {"CANCELLED"}
        if not _take_in_hand(context):
            self.report({"ERROR"}, "Draping needs a 3D view in this window; open one")
            return {"CANCELLED"}
        self._loader, self._drape = Loader(context.scene), drape
        if drape is not None:  # that a script began: it goes on by hand
            drape.by_script = False
        self._doing = ""  # GRAB, PIN, UNPIN or SMOOTH while a button is held
        self._timer = context.window_manager.event_timer_add(TICK, window=context.window)
        self._status = StatusBar(context)
        self._status.show(PREPARING)
        self._drawing = bpy.types.SpaceView3D.draw_handler_add(draw.draw, (), "WINDOW", "POST_VIEW")
        context.window_manager.modal_handler_add(self)
        context.window_manager.taffeta.draping = True
        return {"RUNNING_MODAL"}

    def execute(self, context):
        """One stroke of a script; what it comes to is shown until it is kept or stopped."""
        wanted = stroke.Stroke(self.doing, self.object, tuple(self.at), tuple(self.to), self.radius, self.steps)
        try:
            drape = stroke.take(context.scene, wanted)
        except jobs.FAILURES as error:
            return refused(self, error)
        if drape.trouble:
            self.report({"WARNING"}, translated(drape.trouble))
        return {"FINISHED"}

    def modal(self, context, event):
        if not context.window_manager.taffeta.draping or self._drape is not session.running():  # stopped, kept, undone
            return self._leave(context, {"FINISHED", "PASS_THROUGH"})
        if event.type == "TIMER":
            return self._tick(context)
        if event.type == "ESC" and event.value == "PRESS":
            if not self._doing:
                return self._leave(context, {"FINISHED"})
            self._doing = ""  # as with brushes: the stroke alone
            self._drape.undo()
            return {"RUNNING_MODAL"}
        if self._drape is None:
            return {"PASS_THROUGH"}
        if self._doing and event.type in {"MOUSEMOVE", "LEFTMOUSE"}:
            return self._go_on(context, event)
        view = view_at(context.window, event.mouse_x, event.mouse_y)
        if view is None or event.value != "PRESS" or not is_tool(context):
            return {"PASS_THROUGH"}
        if event.type == "LEFTMOUSE" and not buttons.holds(view):
            return self._press(context, event, view)
        if event.type == "Z" and (event.ctrl or event.oskey):
            (step_forth if event.shift else step_back)(self._drape)
            return {"RUNNING_MODAL"}
        if event.type == "SPACE" and not (event.shift or event.ctrl or event.alt):
            _toggle_pause(context.window_manager.taffeta_drape)
            return {"RUNNING_MODAL"}
        return {"PASS_THROUGH"}

    def cancel(self, context):
        """Blender ends this operator: another file is loaded, or it quits."""
        self._leave(context, set())

    def _tick(self, context):
        if self._loader.is_busy():
            return {"PASS_THROUGH"}
        settings = context.window_manager.taffeta_drape
        try:
            if self._drape is None:
                settings.speed = settings.before = session.FULL
                self._drape = session.start(context.scene)
            drape = self._drape
            if context.screen.is_animation_playing:
                bpy.ops.screen.animation_cancel(restore_frame=True)
            drape.speed, drape.hand.strength = settings.speed, settings.strength
            is_new = drape.tick(context.scene)
        except jobs.FAILURES as error:
            refused(self, error)
            return self._leave(context, {"FINISHED"})
        if drape.speed != settings.speed:  # something has blown up
            settings.speed, self._doing = drape.speed, ""
        if is_new:
            redraw(context, "VIEW_3D")
        self._status.show(f"Drape: {drape.trouble or KEYS}")
        return {"PASS_THROUGH"}

    def _press(self, context, event, view):
        """Begin a pull, or whatever the keys that are held ask for, where the pointer is over cloth."""
        hit = self._drape.cast(*ray(view, self._drape.metres))
        if hit is None:
            return {"PASS_THROUGH"}
        radius = self._radius(context, view, hit)
        if event.shift:
            self._doing = "PIN"
            self._drape.pin(hit, radius)
        elif event.ctrl or event.oskey:
            self._doing = "UNPIN"
            self._drape.unpin(hit, radius)
        elif event.alt:
            self._doing = "SMOOTH"
            self._drape.smooth(hit, radius)
        elif self._drape.grab(hit, radius):
            self._doing, self._deep = "GRAB", hit.point
        else:
            self._drape.forget()
            self.report({"INFO"}, "All of that is pinned: Ctrl drag takes pins off that were made by hand")
        redraw(context, "VIEW_3D")
        return {"RUNNING_MODAL"}

    def _go_on(self, context, event):
        """With the button held, or let go."""
        drape = self._drape
        if event.type == "LEFTMOUSE" and event.value == "RELEASE":
            self._doing = ""
            drape.release()
            redraw(context, "VIEW_3D")
            return {"RUNNING_MODAL"}
        view = view_at(context.window, event.mouse_x, event.mouse_y)
        if view is None:
            return {"RUNNING_MODAL"}
        if self._doing == "GRAB":
            drape.move(beside(view, self._deep, drape.metres))
        elif hit := drape.cast(*ray(view, drape.metres)):
            go_on = {"PIN": drape.pin, "UNPIN": drape.unpin, "SMOOTH": drape.smooth}[self._doing]
            go_on(hit, self._radius(context, view, hit), begins=False)
        return {"RUNNING_MODAL"}

    def _radius(self, context, view, hit):
        return length_of(view, hit.point, context.window_manager.taffeta_drape.radius, self._drape.metres)

    def _leave(self, context, result):
        self._loader.stop()
        if self._drape is not None and session.running() is self._drape:
            session.end()
        bpy.types.SpaceView3D.draw_handler_remove(self._drawing, "WINDOW")
        context.window_manager.event_timer_remove(self._timer)
        self._status.show(None)
        context.window_manager.taffeta.draping = False
        redraw(context)
        return result


def step_back(drape: session.Drape) -> None:
    """Undo the last pull, pin or smoothing."""
    drape.undo()
    redraw(bpy.context, "VIEW_3D")


def step_forth(drape: session.Drape) -> None:
    """Take that back."""
    drape.redo()
    redraw(bpy.context, "VIEW_3D")


def _toggle_pause(settings):
    paused = settings.speed == session.PAUSE
    settings.before, settings.speed = settings.speed, settings.before if paused else session.PAUSE


def _take_in_hand(context) -> bool:
    """Choose the tool in the window's 3D view; whether there is one."""
    if is_tool(context):
        return True
    place = view3d(context)
    if place is None:
        return False
    area, region = place
    with context.temp_override(area=area, region=region):
        bpy.ops.wm.tool_set_by_id(name=TOOL, space_type="VIEW_3D")
    return True


class Draping:
    """What operators share that need a drape under way."""

    @classmethod
    def poll(cls, context):
        if session.running() is None:
            cls.poll_message_set("Drape cloth first: the Drape tool of the 3D view")
            return False
        return True


class TAFFETA_OT_drape_undo(Draping, bpy.types.Operator):
    """Step back to before the last pull, pin or smoothing"""

    bl_idname = "taffeta.drape_undo"
    bl_label = "Undo Pull"

    def execute(self, context):
        step_back(session.running())
        return {"FINISHED"}


class TAFFETA_OT_drape_redo(Draping, bpy.types.Operator):
    """Take the last step back again"""

    bl_idname = "taffeta.drape_redo"
    bl_label = "Redo Pull"

    def execute(self, context):
        step_forth(session.running())
        return {"FINISHED"}


class TAFFETA_OT_drape_pause(Draping, bpy.types.Operator):
    """Stop time, or let it go on"""

    bl_idname = "taffeta.drape_pause"
    bl_label = "Pause Draping"

    def execute(self, context):
        _toggle_pause(context.window_manager.taffeta_drape)
        redraw(context, "VIEW_3D")
        return {"FINISHED"}


class TAFFETA_OT_drape_keep(Draping, bpy.types.Operator):
    """Keep the cloth as it lies, and leave draping"""

    bl_idname = "taffeta.drape_keep"
    bl_label = "Keep Draped Cloth"
    bl_options = {"UNDO"}

    result: EnumProperty(name="As", default="KEY", items=RESULTS, description="What becomes of the cloth as it lies")

    @classmethod
    def description(cls, context, properties):
        return (
            next(words for name, _, words in RESULTS if name == properties.result)
            + ". Ends draping; Undo takes it back"
        )

    def execute(self, context):
        session.end()
        return keep_and_tell(self, self.result)


CLASSES = (
    TAFFETA_OT_drape, TAFFETA_OT_drape_undo, TAFFETA_OT_drape_redo, TAFFETA_OT_drape_pause, TAFFETA_OT_drape_keep,
    buttons.TAFFETA_GGT_drape,
)  # fmt: skip
register, unregister = bpy.utils.register_classes_factory(CLASSES)
