# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulate while the timeline plays: no bake, no file, in Preview quality.

    frame changes ─► the scene is evaluated ─► read_moment ─► step.advance ─► attribute of the mesh ─► shown

Each garment gets, for as long as it lasts, a Geometry Nodes modifier where its cache would stand, which keeps its own
pose in an attribute and then moves it to where the simulation says. All of that goes when the playback stops: the
garment is as it was. What it looked like last is kept aside, for `taffeta.keep_pose`.

The next frame goes on from the last; a few that the playback has dropped are one long step; any other jump begins anew
from the garment's own pose. A bake is what counts: live, bodies go straight from frame to frame.
"""

import threading
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import NamedTuple

import bpy
import numpy as np
from bpy.app.handlers import persistent
from bpy.props import EnumProperty

from ..solver import warm
from ..solver.model import Settings
from . import job as jobs
from . import playback
from .mesh_io import OWN_POSE
from .order import read_order
from .sampling import Moment, depsgraph_of, find, posed, read_moment, straight_input
from .shape_key import make_rest, place, refuse_shared

NAME = "Taffeta Live"  # modifier and node group
KEY = "Taffeta Pose"  # shape key that keeps a pose
SIMULATED = "taffeta_live"  # attribute: where the simulation wants the vertices, object space
MOST_DROPPED = 6  # frames that one step may span
TICK = 0.1  # [s] between two looks whether the playback still runs
RECENT = 24  # frames whose time is told


@dataclass
class Live:
    """A simulation that follows the timeline."""

    order: jobs.Order
    cloth: NamedTuple  # solver.model.Cloth
    state: NamedTuple  # solver.model.State
    frame: int
    moment: Moment
    muted: ExitStack  # the garments' caches, and what is behind them
    seconds: list[float] = field(default_factory=list)  # that the last frames took
    error: str = ""


class Kept(NamedTuple):
    """What the garments looked like when the simulation ended."""

    scene: str
    frame: int
    garments: list[tuple[int, str, np.ndarray]]  # uid, name, world positions (n, 3) [m]


_live: Live | None = None
_kept: Kept | None = None


def running() -> Live | None:
    """The simulation that follows the timeline, if there is one."""
    return _live


def start(scene: bpy.types.Scene) -> None:
    """Simulate from the frame that the scene shows, as soon as it shows the next.

    Raises
    ------
    ValueError
        Something is wrong with the scene, or another simulation runs: a sentence with a remedy; nothing was changed.
    """
    from ..solver.build import build  # here, because it imports numba
    from ..solver.model import State

    global _live
    if jobs.running() or _live is not None:
        raise ValueError("A simulation is under way; wait for it or stop it with Esc")
    order = read_order(scene)
    objects = [find(wearer.uid, wearer.name) for wearer in order.wearers]
    for obj in objects:
        refuse_shared(obj)
    preview = {"substeps": scene.taffeta.substeps_preview, "guard_bodies": False}
    order = order._replace(settings=order.settings._replace(**preview), quality="PREVIEW")
    cloth, state = build(order.garments, order.settings)
    muted = ExitStack()
    muted.enter_context(playback.muted(objects))
    try:
        moment = read_moment(scene, depsgraph_of(scene), order.wearers, order.bodies)
        _live = Live(order, cloth, State(np.empty_like(state.x), state.v), scene.frame_current, moment, muted)
        for obj in objects:
            _add_nodes(obj)
        _begin_anew(_live, moment)
    except BaseException:
        end()
        muted.close()
        raise
    for handlers in _handlers():
        handlers.append(_stop)
    bpy.app.handlers.frame_change_post.append(_follow)


def end() -> None:
    """Leave the garments as they were; what they looked like last is kept aside for `taffeta.keep_pose`."""
    global _live, _kept
    if _live is None:
        return
    live, _live = _live, None
    for handlers in (*_handlers(), bpy.app.handlers.frame_change_post):
        for function in (_stop, _follow):
            if function in handlers:
                handlers.remove(function)
    cloth, x = live.cloth, live.state.x + live.cloth.origin
    bounds = zip(cloth.garment_start[:-1], cloth.garment_start[1:], live.order.wearers, strict=True)
    _kept = Kept(live.order.scene, live.frame, [(w.uid, w.name, x[first:last].copy()) for first, last, w in bounds])
    objects = {obj.session_uid: obj for obj in bpy.data.objects}
    for wearer in live.order.wearers:
        if wearer.uid in objects:
            _remove_nodes(objects[wearer.uid])
    live.muted.close()


def kept() -> Kept | None:
    """What the last live simulation left, if its garments are still there."""
    known = {obj.session_uid for obj in bpy.data.objects}
    return _kept if _kept is not None and all(uid in known for uid, _, _ in _kept.garments) else None


def keep(result: str) -> None:
    """Make the kept pose a shape key of each garment ("KEY"), or its rest shape ("REST").

    Raises
    ------
    ValueError
        Nothing is kept, or a garment cannot take it: a sentence with a remedy.
    """
    pose = kept()
    scene = bpy.data.scenes.get(pose.scene) if pose is not None else None
    if scene is None:
        raise ValueError("There is no pose to keep; play live first, and stop where the cloth lies well")
    objects = [find(uid, name) for uid, name, _ in pose.garments]
    for obj, (_, name, x) in zip(objects, pose.garments, strict=True):
        refuse_shared(obj)
        if len(obj.data.vertices) != len(x):
            raise ValueError(f"{name} was edited since it was simulated; play live again")
    with posed(scene, objects, ()):
        scene.frame_set(pose.frame)
        for obj, (_, _, x) in zip(objects, pose.garments, strict=True):
            moved = place(scene, obj, KEY, x)
            if result == "REST":
                make_rest(obj, KEY, moved)


def _follow(scene, depsgraph):
    """After a frame change: simulate up to it, or begin anew."""
    live = _live
    if live is None or live.error or scene.name != live.order.scene or depsgraph.mode == "RENDER":
        return
    gap = scene.frame_current - live.frame
    shown = all(_modifier(obj) and _modifier(obj).show_viewport for obj in _objects(live))
    if gap == 0 or not shown:  # not shown: an operator poses the scene for itself
        return
    began = time.perf_counter()
    try:
        moment = read_moment(scene, depsgraph, live.order.wearers, live.order.bodies)
        if 0 < gap <= MOST_DROPPED:
            _step(live, scene, moment, gap)
        else:
            _begin_anew(live, moment)
    except jobs.FAILURES as error:
        live.error = _sentence(live, error)
    live.moment, live.frame = moment if not live.error else live.moment, scene.frame_current
    live.seconds = [*live.seconds[-RECENT + 1 :], time.perf_counter() - began]


def _step(live, scene, moment, gap):
    from ..solver.step import advance

    frame_input = straight_input(scene, live.order.bodies, live.moment, moment, gap)
    advance(live.cloth, live.state, frame_input, scene.frame_current, live.order.settings)
    _show(live, moment)


def _begin_anew(live, moment):
    """At rest in the garments' own pose."""
    live.state.x[:] = moment.targets - live.cloth.origin
    live.state.v[:] = 0.0
    _show(live, moment)


def _show(live, moment):
    from ..solver.shot import object_samples

    for obj, x in zip(_objects(live), object_samples(live.cloth, live.state, moment.to_object), strict=True):
        mesh = obj.data
        values = mesh.attributes.get(SIMULATED) or mesh.attributes.new(SIMULATED, "FLOAT_VECTOR", "POINT")
        values.data.foreach_set("vector", x.astype(np.float32).ravel())
        mesh.update_tag()


def _objects(live):
    return [find(wearer.uid, wearer.name) for wearer in live.order.wearers]


def _sentence(live, error):
    text = str(error)
    for index, garment in enumerate(live.order.garments):
        text = text.replace(f"Garment {index + 1} of {len(live.order.garments)} ", f"{garment.name} ")
    return text


def _modifier(obj):
    return obj.modifiers.get(NAME)


def _add_nodes(obj):
    """A modifier where the cache belongs: keep the pose in `OWN_POSE`, then take the positions of `SIMULATED`."""
    tree = bpy.data.node_groups.new(NAME, "GeometryNodeTree")
    for direction in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=direction, socket_type="NodeSocketGeometry")
    kinds = "NodeGroupInput", "GeometryNodeStoreNamedAttribute", "GeometryNodeSetPosition", "NodeGroupOutput"
    nodes = [tree.nodes.new(kind) for kind in kinds]
    for one, other in zip(nodes[:-1], nodes[1:], strict=True):
        tree.links.new(one.outputs[0], other.inputs[0])
    store, move = nodes[1:3]
    store.data_type, store.domain = "FLOAT_VECTOR", "POINT"
    store.inputs["Name"].default_value = OWN_POSE
    tree.links.new(tree.nodes.new("GeometryNodeInputPosition").outputs[0], store.inputs["Value"])
    wanted = tree.nodes.new("GeometryNodeInputNamedAttribute")
    wanted.data_type = "FLOAT_VECTOR"
    wanted.inputs["Name"].default_value = SIMULATED
    tree.links.new(next(socket for socket in wanted.outputs if socket.enabled), move.inputs["Position"])
    at = playback.place(obj)
    modifier = obj.modifiers.new(NAME, "NODES")
    modifier.node_group, modifier.show_render = tree, False
    obj.modifiers.move(len(obj.modifiers) - 1, at)


def _remove_nodes(obj):
    modifier = _modifier(obj)
    if modifier is not None:
        tree = modifier.node_group
        obj.modifiers.remove(modifier)
        if tree is not None and tree.users == 0:
            bpy.data.node_groups.remove(tree)
    values = obj.data.attributes.get(SIMULATED)
    if values is not None:
        obj.data.attributes.remove(values)


def _handlers():
    """What must not find a half-simulated scene: saving, loading, undo."""
    names = "save_pre", "load_pre", "undo_pre", "redo_pre"
    return [getattr(bpy.app.handlers, name) for name in names]


@persistent
def _stop(*_):
    end()


@persistent
def _tidy(*_):
    """After a file is opened: Blender may have saved it by itself in the middle of a live simulation."""
    for obj in bpy.data.objects:
        if obj.type == "MESH" and _modifier(obj) is not None and obj.library is None:
            _remove_nodes(obj)
            if (cache := playback.find(obj)) is not None:
                cache.show_viewport = True


def _playing() -> bool:
    return any(window.screen.is_animation_playing for window in bpy.context.window_manager.windows)


class TAFFETA_OT_live(bpy.types.Operator):
    """Play the timeline and simulate along, without baking: Preview quality. Esc or a stop leaves all as it was"""

    bl_idname = "taffeta.live"
    bl_label = "Play Live"

    def invoke(self, context, event):
        if _live is not None:
            end()
            return {"FINISHED"}
        if jobs.running():
            self.report({"ERROR"}, "A bake is under way; wait for it or stop it with Esc, then play live")
            return {"CANCELLED"}
        self._leaving, self._started = threading.Event(), False
        self._parts = warm.parts_of(Settings(cloth_contact=context.scene.taffeta.cloth_contact))
        self._loader = threading.Thread(target=self._load, name="Taffeta live")
        self._loader.start()
        self._timer = context.window_manager.event_timer_add(TICK, window=context.window)
        self._workspace = context.workspace.name
        self._tell("Preparing the solver (the first time, less than a minute)… Esc stops")
        context.window_manager.modal_handler_add(self)
        context.window_manager.taffeta.live = True
        return {"RUNNING_MODAL"}

    def execute(self, context):
        self.report({"ERROR"}, "Playing live needs a window; bake instead (taffeta.bake)")
        return {"CANCELLED"}

    def modal(self, context, event):
        if event.type == "ESC" and event.value == "PRESS":
            self._leave(context)
            return {"FINISHED", "PASS_THROUGH"}
        if event.type != "TIMER" or self._loader.is_alive():
            return {"PASS_THROUGH"}
        if not self._started:
            try:
                start(context.scene)
            except jobs.FAILURES as error:
                self.report({"ERROR"}, str(error))
                self._leave(context)
                return {"CANCELLED"}
            self._started = True
            if not _playing():
                bpy.ops.screen.animation_play()
        elif _live is None or _live.error or not _playing():
            if _live is not None and _live.error:
                self.report({"ERROR"}, _live.error)
            self._leave(context)
            return {"FINISHED"}
        elif _live.seconds:
            milliseconds = 1000.0 * sum(_live.seconds) / len(_live.seconds)
            self._tell(f"Live: {milliseconds:.0f} ms a frame. Esc or a stop leaves the garments as they were")
        return {"PASS_THROUGH"}

    def cancel(self, context):
        """Blender ends this operator: another file is loaded, or it quits."""
        self._leave(context)

    def _load(self):
        """In a thread: have the kernels compiled, and then here, too."""
        if warm.compile_kernels(self._parts, lambda: not self._leaving.is_set()):
            for part in self._parts:
                warm.PARTS[part].compile()

    def _tell(self, text):
        workspace = bpy.data.workspaces.get(self._workspace)
        if workspace is not None:
            workspace.status_text_set(text)

    def _leave(self, context):
        self._leaving.set()
        playing = _playing() and self._started
        end()
        context.window_manager.event_timer_remove(self._timer)
        self._tell(None)
        context.window_manager.taffeta.live = False
        if playing:
            bpy.ops.screen.animation_cancel(restore_frame=False)
        for area in (area for window in context.window_manager.windows for area in window.screen.areas):
            area.tag_redraw()


class TAFFETA_OT_keep_pose(bpy.types.Operator):
    """Keep what the cloth looked like when the live simulation ended"""

    bl_idname = "taffeta.keep_pose"
    bl_label = "Keep Pose"
    bl_options = {"REGISTER", "UNDO"}

    result: EnumProperty(
        name="As", default="KEY",
        items=(
            ("KEY", "Shape Key", f"Keep the garments as they are and add a shape key, {KEY}"),
            ("REST", "Rest Shape", "Change the garments themselves: lengths are measured in the new shape"),
        ),
        description="Where the pose goes",
    )  # fmt: skip

    @classmethod
    def poll(cls, context):
        if _live is not None or kept() is None:
            cls.poll_message_set("Play live first, and stop where the cloth lies well")
            return False
        return True

    def execute(self, context):
        try:
            keep(self.result)
        except ValueError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return {"FINISHED"}


CLASSES = (TAFFETA_OT_live, TAFFETA_OT_keep_pose)


def register():
    """Register the operators."""
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    bpy.app.handlers.load_post.append(_tidy)


def unregister():
    """End what runs, and take the operators out."""
    global _kept
    end()
    _kept = None
    bpy.app.handlers.load_post.remove(_tidy)
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
