# SPDX-License-Identifier: GPL-3.0-or-later
"""Drape: cloth is simulated at the frame that is shown, for as long as somebody arranges it.

    main thread    obey, look at bodies ─► Step ──┐                 ┌─► a file of one frame ─► Mesh Cache (`live.modifier`)
    worker                                        └─► step.advance ─┘

A step is `STEP_SHARE` of a frame of cloth's time, or half of that. The cloth begins as the viewport shows it, be that its
own pose or a bake, at rest. Contact is that of a bake in Final quality: nothing passes through anything, whatever is pulled.
The scene's frame is held; bodies may be posed, and go straight from where they were. Each step works on a copy: what
failed, or was undone meanwhile, leaves nothing. When it ends the garments are as they were; what they looked like is kept
aside for `taffeta.keep_pose`, as after playing live.
"""

import threading

import bpy
import numpy as np
from bpy.app.handlers import persistent

from ...solver.model import EXPLICIT, Cloth, Settings, State
from ...solver.parts import copied
from ..bake import job as jobs
from ..bake.order import settings_of
from ..live import changes, modifier, turn
from ..read.listen import listen, listen_no_more
from ..read.mesh_io import metres_per_unit, world_matrix
from ..read.modifier_stack import find_live
from ..read.participants import find_object
from ..read.sampling import Moment, depsgraph_of, read_moment, straight_input
from ..read.shown import shown_positions
from ..read.torn import torn_at
from .baked_state import as_baked
from .hand import Hand, with_grip
from .history import History, Past
from .step import Step
from .touch import Hit, cast

PAUSE, FREEZE, HALF, FULL = "PAUSE", "FREEZE", "HALF", "FULL"
STEP_SHARE = 0.5  # of a frame, in a step


class Drape:
    """Cloth that is being draped. Everything but `Step.run` belongs to the main thread."""

    def __init__(self, order: jobs.Order, cloth: Cloth, state: State, moment: Moment, scene: bpy.types.Scene):
        self.order, self.cloth, self.moment = order, cloth, moment
        self.frame, self.metres = scene.frame_current, metres_per_unit(scene)
        self.state = state
        self.hand = Hand(cloth)
        self.speed = FULL
        self.trouble = ""  # what was not obeyed, or has failed, as a sentence
        self.steps = 0
        self.by_script = False  # began without a window: nobody ends it but `drape_keep` and `stop`
        self.watch = changes.Watch(self._objects())
        self._held_cloth: Cloth | None = cloth  # with the pins that were made by hand; None: to be made anew
        self._unread: set[int] = set()
        self._epoch = 0
        self._history = History()
        self._under_way: tuple[Step, threading.Thread] | None = None

    def cast(self, origin: np.ndarray, direction: np.ndarray) -> Hit | None:
        """Where a ray (world space [m], direction of length 1) meets cloth first; None where a body hides it, or it meets none."""
        hit = cast(origin, direction, self.state.x + self.cloth.origin, self.cloth.triangles)
        if hit is None:
            return None
        for body, x in zip(self.order.bodies, self.moment.bodies, strict=True):
            before = cast(origin, direction, x, body.triangles)
            if before is not None and before.distance < hit.distance:
                return None
        return hit

    def grab(self, hit: Hit, radius: float) -> bool:
        """Take hold of the cloth around a hit; whether any of it can move."""
        self._history.remember(self._now())
        return self.hand.grab(*self._at(hit), radius)

    def move(self, point: np.ndarray) -> None:
        """Pull what is held to a point [m]."""
        self.hand.move(point - self.cloth.origin)

    def smooth(self, hit: Hit, radius: float, begins: bool = True) -> None:
        """Smooth the cloth around a hit from now on; `begins`: undo goes back to now."""
        if begins:
            self._history.remember(self._now())
        self.hand.smooth(*self._at(hit), radius)

    def pin(self, hit: Hit, radius: float, begins: bool = True) -> None:
        """Pin the cloth around a hit where it is."""
        if begins:
            self._history.remember(self._now())
        self.hand.pin(*self._at(hit), radius)
        self._held_cloth = None

    def unpin(self, hit: Hit, radius: float, begins: bool = True) -> None:
        """Take off pins that were made by hand."""
        if begins:
            self._history.remember(self._now())
        self.hand.unpin(*self._at(hit), radius)
        self._held_cloth = None

    def release(self) -> None:
        """Let go."""
        self.hand.let_go()

    def forget(self) -> None:
        """Nothing came of what was remembered last."""
        self._history.forget()

    def undo(self) -> bool:
        """Back to before the last pull, pin or smoothing; whether there was one."""
        return self._go_to(self._history.back(self._now()))

    def redo(self) -> bool:
        """Take an undo back."""
        return self._go_to(self._history.forth(self._now()))

    def begin(self, scene: bpy.types.Scene) -> Step | None:
        """What is to be simulated next, of the scene as it is set now; None while time stands still.

        Raises
        ------
        ValueError
            Something was deleted, another garment joined, or this is another scene: the drape cannot go on.
        """
        if scene.name != self.order.scene:
            raise ValueError(f"What was draped is of scene {self.order.scene}; Keep Pose has it as it was seen last")
        if scene.frame_current != self.frame or scene.frame_subframe:
            scene.frame_set(self.frame)
        if self.speed == PAUSE:
            return None
        depsgraph = depsgraph_of(scene)
        before = self.order.bodies
        self._obey(scene, depsgraph)
        moment = read_moment(scene, depsgraph, self.order.garment_objects, self.order.bodies)
        start = changes.with_bodies(self.moment, before, self.order.bodies, moment)
        if changes.held(self.moment.holds) != changes.held(moment.holds):  # attached or detached: there at once
            moment = self._bare_moment(scene)
            start = start._replace(targets=moment.targets)
        elif all(map(np.array_equal, start.bodies, moment.bodies)):
            moment = moment._replace(targets=self.moment.targets)
        else:  # somebody poses: pins and attachments go along
            moment = self._bare_moment(scene)
        frame_input = straight_input(scene, start, moment)
        self.moment = moment
        return self._step(frame_input)

    def finish(self, step: Step) -> bool:
        """Take over what a step came to, and show it; whether it is what the cloth looks like now."""
        if step.epoch != self._epoch:
            return False
        if step.error:
            self.trouble = f"{jobs.sentence(self.order.garments, step.error)} Time stands still now"
            self.state.v[:] = 0.0
            self.speed = PAUSE
            self.hand.let_go()
            return False
        self.state, self.steps = step.state, self.steps + 1
        self.show()
        return True

    def step(self, scene: bpy.types.Scene) -> bool:
        """A whole step at once, as scripts take it."""
        step = self.begin(scene)
        if step is not None:
            step.run()
        return step is not None and self.finish(step)

    def tick(self, scene: bpy.types.Scene) -> bool:
        """Go on beside the window: show the step that a worker has done, and give it the next; whether there is a new one to see.

        Raises ValueError as `begin` does.
        """
        is_new = False
        if self._under_way is not None:
            step, worker = self._under_way
            if worker.is_alive():
                return False
            self._under_way, is_new = None, self.finish(step)
        step = self.begin(scene)
        if step is not None:
            worker = threading.Thread(target=step.run, name="Taffeta drape")
            self._under_way = step, worker
            worker.start()
        return is_new

    def wait(self) -> None:
        """Wait for the worker; what it does is not wanted any more."""
        if self._under_way is not None:
            self._under_way[1].join()
            self._under_way = None

    def show(self) -> None:
        """Let the viewport see the cloth."""
        from ...solver.filed import object_samples

        for obj, x in zip(self._objects(), object_samples(self.cloth, self.state, self.moment.to_object), strict=True):
            modifier.write(obj, x)
            if found := find_live(obj):
                found.show_viewport = True  # Blender reads its file again

    def _step(self, frame_input):
        cloth, state, pinned = self._hold(), copied(self.state), self.hand.pinned
        targets = frame_input.targets.copy()
        targets[:, pinned] = self.hand.places[pinned] + self.cloth.origin
        changed = {"targets": targets, "duration": self._pace() * frame_input.duration}
        changed["rides"] = None  # whoever poses a carrier here is felt as it is
        if frame_input.pin is not None:  # anew in each step
            cloth, changed["pin"] = self.cloth, np.where(pinned, 1.0, frame_input.pin)
        if self.speed == FREEZE:
            state.v[:] = 0.0
            changed |= {"gravity": np.zeros(3), "wind": np.zeros(3), "fields": (), "field_weight": None}
        changed["attachments"] = with_grip(frame_input.attachments, self.hand.grip(self.cloth, state.x))
        frame_input = frame_input._replace(**changed)
        return Step(cloth, state, frame_input, self.order.settings, self.steps, self._epoch)

    def _pace(self):
        return STEP_SHARE * (0.5 if self.speed == HALF else 1.0)

    def _bare_moment(self, scene):
        """The scene with the garments in their own pose."""
        playing = [found for obj in self._objects() if (found := find_live(obj))]
        for found in playing:
            found.show_viewport = False
        moment = read_moment(scene, depsgraph_of(scene), self.order.garment_objects, self.order.bodies)
        for found in playing:
            found.show_viewport = True
        return moment

    def _obey(self, scene, depsgraph):
        """Take over what was set since the last step; what cannot be read is told, and what held before goes on."""
        cloths = self._objects()
        changes.refuse_other_cloths(scene, cloths)
        self._unread |= self.watch.changed(cloths)
        about = scene, depsgraph, self.order, cloths, settings(scene), self._unread
        try:
            self.order, built = changes.obeyed(*about)
        except ValueError as error:
            self.trouble = jobs.sentence(self.order.garments, error)
            return
        self.trouble = ""
        if built is not None:
            self.cloth, fresh = built
            self.state, self._unread = changes.of_cloth(self.state, fresh), set()
            self._held_cloth = None

    def _hold(self):
        """The cloth with the pins that were made by hand; once a step, however often a stroke adds some."""
        from ...solver.build import repin  # here, because it imports numba

        pinned = self.hand.pinned
        if self._held_cloth is None:
            self._held_cloth = repin(self.cloth, np.where(pinned, 1.0, self.cloth.pin)) if pinned.any() else self.cloth
        return self._held_cloth

    def _at(self, hit):
        return self.cloth, self.state.x, self.cloth.triangles[hit.triangle], hit.point - self.cloth.origin

    def _now(self):
        return Past(copied(self.state), self.hand.pinned.copy(), self.hand.places.copy())

    def _go_to(self, past):
        if past is None:
            return False
        self.hand.let_go()
        self.state = past.state
        self.hand.pinned, self.hand.places = past.pinned, past.places
        self._epoch += 1
        self._held_cloth = None
        self.show()
        return True

    def _objects(self):
        return [find_object(known.uid, known.name) for known in self.order.garment_objects]


_drape: Drape | None = None


def running() -> Drape | None:
    """What is being draped, if anything is."""
    return _drape


def settings(scene: bpy.types.Scene) -> Settings:
    """The solver's, those of Preview; what a hand may take does not sleep. Explicit methods cannot be pulled at as stiffly as that does."""
    found = settings_of(scene, "PREVIEW")._replace(sleep_speed=0.0)
    return found._replace(dynamics=Settings().dynamics) if found.dynamics in EXPLICIT else found


def start(scene: bpy.types.Scene) -> Drape:
    """Drape the scene's garments as they are shown at its frame.

    Raises
    ------
    ValueError
        Something is wrong with the scene, or another simulation runs: a sentence with a remedy; nothing was changed.
    """
    from ...solver.build import build  # here, because it imports numba

    global _drape
    order, objects = turn.order_of(scene)
    order = order._replace(settings=settings(scene), quality="FINAL")
    cloth, state = build(order.garments, order.settings)
    x = _shown(scene, objects, order)
    if x is not None:
        state = as_baked(scene, objects, cloth, state, x - cloth.origin)
    try:
        for obj in objects:
            modifier.add(obj)
        moment = read_moment(scene, depsgraph_of(scene), order.garment_objects, order.bodies)
        if x is None:
            begun = moment.targets - cloth.origin
            state = state._replace(x=begun, v=np.zeros_like(begun), broken=torn_at(cloth, begun))
        drape = Drape(order, cloth, state, moment, scene)
        drape.show()
    except BaseException:
        modifier.remove_all()
        raise
    _drape = drape
    turn.take(end)
    listen(MINDING)
    return drape


def end() -> None:
    """Leave the garments as they were; what they looked like last is kept aside for `taffeta.keep_pose`."""
    global _drape
    if _drape is None:
        return
    drape, _drape = _drape, None
    drape.wait()
    listen_no_more(MINDING)
    turn.give_back(drape.order, drape.frame, drape.cloth, drape.state.x)
    modifier.remove_all()


def _shown(scene, objects, order):
    """(n, 3) [m] where the garments are shown; None where a modifier keeps that from being known."""
    depsgraph, metres = depsgraph_of(scene), metres_per_unit(scene)
    places = []
    for obj, garment in zip(objects, order.garments, strict=True):
        try:
            x = shown_positions(obj, depsgraph).astype(np.float64)
        except ValueError:
            return None
        if len(x) != len(garment.x) or not np.isfinite(x).all():
            return None
        matrix = world_matrix(obj.evaluated_get(depsgraph), metres)
        places.append(sum(x[:, k, None] * matrix[:3, k] for k in range(3)) + matrix[:3, 3])
    return np.concatenate(places)


@persistent
def _stop(*_):
    end()


@persistent
def _aside(*_):
    modifier.remove_all()


@persistent
def _back(*_):
    if _drape is not None:
        for known in _drape.order.garment_objects:
            modifier.add(find_object(known.uid, known.name))
        _drape.show()


#: what must not find a half-draped scene: loading and undo end it, a file is saved without it
MINDING = (
    *((name, _stop) for name in ("load_pre", "undo_pre", "redo_pre")),
    ("save_pre", _aside),
    ("save_post", _back),
    ("save_post_fail", _back),
)


def register():
    """Nothing listens before the first drape. What an auto-saved file brings back, `live.simulation` clears up."""


def unregister():
    """End what runs."""
    end()
