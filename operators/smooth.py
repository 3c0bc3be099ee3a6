# SPDX-License-Identifier: GPL-3.0-or-later
"""Smooth in Time, Smooth in Space: baked frames without jitter, or without fine folds, where a vertex group says so.

What would go into a body by it stops there: it is pushed out of it (`push_out`), if it was outside before.
"""

import bpy
import numpy as np
from bpy.props import BoolProperty, FloatProperty, StringProperty

from ..panels.units import length_text
from .live import turn
from .push_out import easing_of, pushed
from .read.arrays import first_at_place
from .work import baked
from .work.steps import Step, prepared

MOST_WIDTH = 100.0  # [frames]
DEEPEST = 1.0  # [m] that smoothing can put cloth into a body
RADIUS_OF_OUT = 2.0  # radius of what stops at a body, in edges


class Smoothing(baked.AfterBake):
    """What both have."""

    vertex_group: StringProperty(
        name="Where", description="Vertex group whose weights say how much each vertex is smoothed; none: all of them"
    )
    keep_out: BoolProperty(
        name="Keep Out of Bodies",
        default=True,
        description="What would go into a collider by it, or too near, stops there",
    )

    def draw(self, context):
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        for name in ("frame_start", "frame_end", "fade", self.size):
            layout.prop(self, name)
        layout.prop_search(self, "vertex_group", context.object, "vertex_groups")
        layout.prop(self, "keep_out")

    def steps(self, context):
        turn.refuse()
        return (yield from super().steps(context))

    def work(self, scene, obj, part):
        mask = baked.mask_of(obj, self.vertex_group)
        yield from prepared("inside", "guard")
        frames = self.frames_read(obj, part)
        played = yield from baked.read(scene, obj, frames, 0.0 if self.keep_out else None)
        smooth = yield Step("Smoothing", 0.3, lambda _: self.smoothed(played, frames))
        first = part.moved.start - frames.start
        inner = slice(first, first + len(part.moved))
        moved = (smooth - played.x)[inner] * mask[:, None] * _faded(part)[:, None, None]
        held = 0
        if played.bodies:
            moved, held = yield from _kept_out(played, inner, moved, part)
        where = f"{obj.name}, frames {part.frames.start} to {part.frames.stop - 1}"
        if not moved.any():
            return f"{where}: nothing is changed by it", "INFO"
        modifier = baked.add(scene, obj, self.bl_label, played, part, moved)
        far = np.sqrt((moved**2).sum(axis=2).max())
        stops = f"; {held:,} vertices would have gone into a body, and stop there" if held else ""
        return f"{where}: {modifier.name} moves vertices by {length_text(far)} at most{stops}", "INFO"

    def frames_read(self, obj, part) -> range:
        """The frames that those of the part depend on."""
        return part.moved

    def smoothed(self, played, frames) -> np.ndarray:
        """(f, n, 3) [m] where vertices go."""
        raise NotImplementedError


def _faded(part: baked.Part) -> np.ndarray:
    """(f,) how much of it each frame of a part shows: all of it where it was asked for, and then less and less."""
    frame = np.arange(part.moved.start, part.moved.stop)
    before, after = part.frames.start - frame, frame - (part.frames.stop - 1)
    room = part.frames.start - part.moved.start + 1, part.moved.stop - part.frames.stop + 1
    share = 1.0 - np.clip(np.maximum(before / room[0], after / room[1]), 0.0, 1.0)
    return share * share * (3.0 - 2.0 * share)


def _kept_out(played, inner, moved, part):
    """Steps: displacements (f, n, 3) [m] that let nothing into a body that was outside; and how many vertices would have gone."""
    from ..solver.correct.ease import make_net
    from ..solver.correct.push_out import Worn, needs

    x, bodies = played.x[inner], [body._replace(x=body.x[inner]) for body in played.bodies]
    counts = np.repeat(played.meets_bodies[None], len(x), axis=0)
    worn = Worn(x, played.edges, played.triangles, counts, DEEPEST)

    def look(_):
        return np.array([needs(worn, bodies, frame, x[frame]).move.any(axis=1) for frame in range(len(x))])

    wrong = yield Step("Looking for bodies", 0.4, look)
    worn = worn._replace(x=x + moved, counts=counts & ~wrong)
    radius = RADIUS_OF_OUT * make_net(x[0], played.edges).length
    found = yield from pushed(worn, bodies, easing_of(radius, part))
    return moved + found.moved, int(found.before.any(axis=0).sum())


class TAFFETA_OT_smooth_in_time(Smoothing, bpy.types.Operator):
    """Take jitter out of baked frames: each vertex goes where it is in the mean of the frames about. The bake stays as it is:
    this is a correction"""

    bl_idname = "taffeta.smooth_in_time"
    bl_label = "Smooth in Time"
    bl_description = " ".join(__doc__.split())
    size = "width"

    width: FloatProperty(
        name="Width", default=1.5, min=0.1, max=MOST_WIDTH, soft_max=10.0, step=10, precision=2,
        description="Frames about each that are in its mean: the standard deviation of a Gaussian. A swing that takes four times as "
        "long keeps a third of its height, one of ten times as long four fifths",
    )  # fmt: skip

    def frames_read(self, obj, part):
        from ..solver.correct.smooth import tail

        known = baked.baked_frames(obj)
        around = tail(self.width)
        return range(max(part.moved.start - around, known.start), min(part.moved.stop + around, known.stop))

    def smoothed(self, played, frames):
        from ..solver.correct.smooth import in_time

        return in_time(played.x, self.width)


class TAFFETA_OT_smooth_in_space(Smoothing, bpy.types.Operator):
    """Take fine folds out of baked frames: each vertex goes along its normal to where its neighbours are. The bake stays as it
    is: this is a correction"""

    bl_idname = "taffeta.smooth_in_space"
    bl_label = "Smooth in Space"
    bl_description = " ".join(__doc__.split())
    size = "radius"

    radius: FloatProperty(
        name="Radius", default=0.02, min=1e-4, max=10.0, soft_max=0.2, unit="LENGTH", precision=3,
        description="How large the folds are that go, in metres: those six times as long lose half their height",
    )  # fmt: skip

    def smoothed(self, played, frames):
        from ..solver.correct.smooth import in_space

        place = np.stack([first_at_place(x) for x in played.x])
        return in_space(played.x, played.triangles, played.edges, self.radius, place)


register, unregister = bpy.utils.register_classes_factory((TAFFETA_OT_smooth_in_time, TAFFETA_OT_smooth_in_space))
