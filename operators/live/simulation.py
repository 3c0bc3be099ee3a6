# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulate while the timeline plays: no bake, no file, in Preview quality.

    frame changes ─► the scene is evaluated ─► obey, read_moment ─► step.advance ─► a file of one frame ─► shown
                     garments as posed                                              by a Mesh Cache

Each garment gets, for as long as it lasts, a Mesh Cache where its bake would stand (`modifier`). It is off while Blender
evaluates a new frame, so that the garment's own pose can be read, and on again for the second evaluation, which Blender
does in each frame that a handler has changed anything in. (A Geometry Nodes modifier would do both in one, but Blender
adds a panel to the Physics tab for any.) All of that goes when the playback stops: the garment is as it was. What it
looked like last is kept aside, for `taffeta.keep_pose`.

The next frame goes on from the last; a few that the playback has dropped are one long step; any other jump begins anew
from the garment's own pose, and so does the timeline's at its end, unless the animator wants the cloth to go on. Whatever
is set meanwhile holds from the next frame on (`changes`); what cannot be read is told, and the last that could holds on.
A bake is what counts: live, bodies go straight from frame to frame.
"""

import time
from dataclasses import dataclass, field
from typing import NamedTuple

import bpy
import numpy as np
from bpy.app.handlers import persistent

from ..bake import job as jobs
from ..bake.images import Images
from ..read.listen import listen, listen_no_more
from ..read.modifier_stack import find_live
from ..read.participants import find_object
from ..read.sampling import Moment, depsgraph_of, going_on, read_moment, straight_input
from ..read.time_and_gravity import frame_seconds
from ..read.torn import torn_at
from . import changes, modifier, turn

MOST_DROPPED = 6  # frames that one step may span
RECENT_FRAMES = 24  # whose time is told


@dataclass
class Live:
    """A simulation that follows the timeline."""

    order: jobs.Order
    cloth: NamedTuple  # solver.model.Cloth
    state: NamedTuple  # solver.model.State
    frame: int
    moment: Moment
    images: Images  # who draws those of bodies
    watch: changes.Watch
    bare: bool = False  # the garments show their own pose, to be read
    unread: set[int] = field(default_factory=set)  # garments that were changed and could not be read, by index
    trouble: str = ""  # why not, as a sentence
    seconds: list[float] = field(default_factory=list)  # that the last frames took
    error: str = ""


_live: Live | None = None


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
    from ...solver.build import build  # here, because it imports numba

    global _live
    order, objects = turn.order_of(scene)
    order = order._replace(settings=changes.live_settings(scene), quality="PREVIEW")
    images = Images(order.body_images, bool(order.bodies))
    images.open()
    try:
        cloth, state = build(order.garments, order.settings)
        for obj in objects:
            modifier.add(obj)
        moment = read_moment(scene, depsgraph_of(scene), order.garment_objects, order.bodies)
        state, watch = state._replace(x=np.empty_like(state.x)), changes.Watch(objects)
        live = Live(order, cloth, state, scene.frame_current, moment, images, watch)
        _begin_anew(live, moment)
        _show(objects)
    except BaseException:
        images.close()
        _tidy()
        raise
    _live = live
    turn.take(end)
    listen(ENDING)
    for name, handler in FOLLOWING:
        getattr(bpy.app.handlers, name).insert(
            0, handler
        )  # before the overlays', which are to see the cloth of this frame


def end() -> None:
    """Leave the garments as they were; what they looked like last is kept aside for `taffeta.keep_pose`."""
    global _live
    if _live is None:
        return
    live, _live = _live, None
    live.images.close()
    listen_no_more((*ENDING, *FOLLOWING))
    turn.give_back(live.order, live.frame, live.cloth, live.state.x)
    _tidy()


def _bare(scene, _):
    """Before a frame change: let it show the garments' own pose, unless an operator does so already for itself."""
    live = _live
    if live is None or live.error or scene.name != live.order.scene or bpy.app.is_job_running("RENDER"):
        return
    uids = {known.uid for known in live.order.garment_objects}
    playing = [find_live(obj) for obj in bpy.data.objects if obj.session_uid in uids]
    live.bare = all(found is not None and found.show_viewport for found in playing)
    for found in playing if live.bare else ():
        found.show_viewport = False


def _follow(scene, depsgraph):
    """After a frame change: simulate up to it, or begin anew."""
    live = _live
    if live is None or not live.bare:
        return
    try:
        gap = _gap(scene, live.frame)
        if gap != 0 and depsgraph.mode != "RENDER":
            _advance(live, scene, depsgraph, gap)
    finally:
        live.bare = False
        _show(bpy.data.objects)


def _advance(live, scene, depsgraph, gap):
    began = time.perf_counter()
    try:
        before = live.order.bodies
        _obey(live, scene, depsgraph)
        moment = read_moment(scene, depsgraph, live.order.garment_objects, live.order.bodies)
        live.moment = changes.with_bodies(live.moment, before, live.order.bodies, moment)
        if 0 < gap <= MOST_DROPPED:
            _step(live, scene, moment, gap)
            moment = going_on(live.moment, moment, gap * frame_seconds(scene))
        else:
            _begin_anew(live, moment)
    except jobs.FAILURES as error:
        live.error = jobs.sentence(live.order.garments, error)
    live.moment, live.frame = moment if not live.error else live.moment, scene.frame_current
    live.seconds = [*live.seconds[-RECENT_FRAMES + 1 :], time.perf_counter() - began]


def _gap(scene, frame):
    """Frames that the timeline went on since `frame`; from its end to its start, too, if the cloth is to go on there."""
    gap, preview = scene.frame_current - frame, scene.use_preview_range
    first = scene.frame_preview_start if preview else scene.frame_start
    last = scene.frame_preview_end if preview else scene.frame_end
    round_the_end = gap + last + 1 - first
    goes_on = bpy.context.window_manager.taffeta.live_end == "GO_ON"
    return round_the_end if goes_on and gap < 0 < round_the_end <= MOST_DROPPED else gap


def _obey(live, scene, depsgraph):
    """Take over what was set since the last frame: positions and velocities stay. What cannot be read is told."""
    cloths = _objects(live)
    changes.refuse_other_cloths(scene, cloths)
    live.unread |= live.watch.changed(cloths)
    about = scene, depsgraph, live.order, cloths, changes.live_settings(scene), live.unread
    try:
        live.order, built = changes.obeyed(*about)
    except ValueError as error:
        live.trouble = jobs.sentence(live.order.garments, error)
        return
    live.trouble = ""
    if built is not None:
        live.cloth, fresh = built
        live.state, live.unread = changes.of_cloth(live.state, fresh), set()


def _step(live, scene, moment, gap):
    frame_input = straight_input(scene, live.moment, moment, gap)
    live.images.advance(live.cloth, live.state, frame_input, scene.frame_current, live.order.settings)
    _write(live, moment)


def _begin_anew(live, moment):
    """At rest in the garments' own pose."""
    live.state.x[:] = moment.targets - live.cloth.origin
    live.state.v[:], live.state.still[:], live.state.broken[:] = 0.0, 0.0, torn_at(live.cloth, live.state.x)
    if live.state.plastic is not None:
        live.state.plastic[:] = 0.0
    _write(live, moment)


def _write(live, moment):
    from ...solver.filed import object_samples

    for obj, x in zip(_objects(live), object_samples(live.cloth, live.state, moment.to_object), strict=True):
        modifier.write(obj, x)


def _show(objects):
    """Let the simulation be seen; Blender reads its files again."""
    for obj in objects:
        if found := find_live(obj):
            found.show_viewport = True


def _objects(live):
    return [find_object(known.uid, known.name) for known in live.order.garment_objects]


@persistent
def _stop(*_):
    end()


@persistent
def _tidy(*_):
    modifier.remove_all()


#: what must not find a half-simulated scene
ENDING = [(name, _stop) for name in ("save_pre", "load_pre", "undo_pre", "redo_pre")]
FOLLOWING = ("frame_change_pre", _bare), ("frame_change_post", _follow)
#: what may bring back a live simulation that has ended: a file that Blender saved by itself, a step of undo
TIDYING = [(name, _tidy) for name in ("load_post", "undo_post", "redo_post")]


def register():
    """Clear up after a simulation when a file is opened, or an undo leads into one."""
    listen(TIDYING)


def unregister():
    """End what runs, and forget what it left."""
    end()
    turn.forget()
    listen_no_more(TIDYING)
