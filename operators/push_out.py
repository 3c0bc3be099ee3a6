# SPDX-License-Identifier: GPL-3.0-or-later
"""Push Out of Body: baked frames in which cloth is inside a body, or too near, are corrected, with what is beside."""

import bpy
import numpy as np
from bpy.props import FloatProperty

from ..panels.units import length_text
from .live import turn
from .work import baked
from .work.steps import Steps, by_shares, prepared

SHARE_READ = 0.3  # of the work
FADE_SHARE = 0.5  # of the frames within which it fades, in which it falls off by e


def pushed(worn, bodies, easing) -> Steps:
    """Steps: `solver.correct.push_out`, some of it at a time."""
    from ..solver.correct.push_out import push_out

    return (yield from by_shares("Pushing out of bodies", SHARE_READ, push_out(worn, bodies, easing)))


def easing_of(radius: float, part: baked.Part):
    """How far what is moved takes its neighbours along, and in time to where a part ends."""
    from ..solver.correct.ease import Easing

    return Easing(radius, FADE_SHARE * part.fade, part.opens, part.ends)


class TAFFETA_OT_push_out(baked.AfterBake, bpy.types.Operator):
    """Move baked cloth that is inside a collider, or nearer than it is kept, out of it, and what is beside it along. The bake
    stays as it is: this is a correction"""

    bl_idname = "taffeta.push_out"
    bl_label = "Push Out of Body"
    bl_description = " ".join(__doc__.split())

    distance: FloatProperty(
        name="Distance", default=0.0, min=0.0, max=1.0, soft_max=0.02, unit="LENGTH", precision=4, step=0.1,
        description="How far from bodies cloth is to be, in metres; 0: as far as each collider's own Distance says",
    )  # fmt: skip
    radius: FloatProperty(
        name="Radius", default=0.05, min=1e-3, max=10.0, soft_max=0.3, unit="LENGTH", precision=3,
        description="How far around what is pushed the cloth goes along, in metres: within this it falls off to a third",
    )  # fmt: skip
    depth: FloatProperty(
        name="Depth", default=0.1, min=1e-3, max=10.0, soft_max=0.5, unit="LENGTH", precision=3,
        description="How deep cloth may be inside, in metres; what is deeper is taken to belong there, and is told",
    )  # fmt: skip

    def steps(self, context):
        turn.refuse()
        return (yield from super().steps(context))

    def work(self, scene, obj, part):
        yield from prepared("inside", "guard")
        from ..solver.correct.push_out import Worn

        played = yield from baked.read(scene, obj, part.moved, self.distance)
        if not played.bodies:
            raise ValueError(f"{obj.name} meets no Taffeta Collider; press Taffeta Collider on the body, then push out")
        counts = np.zeros(played.x.shape[:2], bool)
        first = part.frames.start - part.moved.start
        counts[first : first + len(part.frames)] = played.meets_bodies
        worn = Worn(played.x, played.edges, played.triangles, counts, self.depth)
        found = yield from pushed(worn, played.bodies, easing_of(self.radius, part))
        return self._outcome(scene, obj, played, part, found)

    def _outcome(self, scene, obj, played, part, found):
        where = f"{obj.name}, frames {part.frames.start} to {part.frames.stop - 1}"
        deep = (
            f"; {found.deep_count:,} places are more than {length_text(self.depth)} inside, and left"
            if found.deep_count
            else ""
        )
        if not found.moved.any():
            return f"{where}: nothing is inside a body or too near{deep}", "WARNING" if deep else "INFO"
        modifier = baked.add(scene, obj, "Push Out", played, part, found.moved)
        count, far = int(found.before.any(axis=0).sum()), np.sqrt((found.moved**2).sum(axis=2).max())
        text = f"{where}: {count:,} vertices were inside or too near; {modifier.name} moves them, by {length_text(far)} at most"
        if found.crossing_count:
            frames = (found.after.any(axis=1)).sum()
            return f"{text}{deep}; {found.crossing_count:,} triangles still cross, in {frames} frames", "WARNING"
        return f"{text}{deep}", "WARNING" if deep else "INFO"


register, unregister = bpy.utils.register_classes_factory((TAFFETA_OT_push_out,))
