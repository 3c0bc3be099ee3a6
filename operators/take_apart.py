# SPDX-License-Identifier: GPL-3.0-or-later
"""Untangle Frames: baked frames in which the selected garments pass through themselves, each other or bodies are corrected."""

import bpy
import numpy as np
from bpy.props import FloatProperty

from ..panels.translations import translated
from ..panels.units import length_text
from .live import turn
from .read.as_one import as_one, joined
from .read.mesh_io import read_garment
from .read.participants import chosen_cloths, colliders_of
from .read.sampling import depsgraph_of, posed
from .untangle import ANY_STRETCH, STRETCH, who_meets
from .work import baked
from .work.steps import Steps, by_shares, prepared

SHARE_READ = 0.3  # of the work
MOST_WIDTH = 100.0  # [frames]


def read(scene: bpy.types.Scene, cloths: list[bpy.types.Object], parts: list[baked.Part]) -> Steps:
    """Steps: what all garments play in these frames, and the bodies that one of them meets.

    Returns
    -------
    For each garment a `baked.Played`, and a `solver.correct.take_apart.Cast` of all.

    Raises
    ------
    ValueError
        Something cannot be read: names it and the remedy.
    """
    from ..solver.correct.take_apart import Cast
    from ..solver.untangle.nest import Shape, Worn

    played, about = [], parts[0]
    for obj in cloths:
        played.append((yield from baked.read(scene, obj, about.moved, 0.0)))
    found = {body.name: body for each in played for body in each.bodies}
    bodies = [obj for obj in colliders_of(scene, cloths) if obj.name in found]
    with posed(scene, cloths, bodies):
        thickness = [read_garment(obj, depsgraph_of(scene), scene).thickness for obj in cloths]
    worn = [
        Worn(obj.name, each.x[0], each.triangles, thick, obj.taffeta_cloth.layer, obj.taffeta_cloth.rigidity)
        for obj, each, thick in zip(cloths, played, thickness, strict=True)
    ]
    own = [found[obj.name] for obj in bodies]
    shapes = [Shape(body.name, body.x[0], body.triangles, body.distance) for body in own]
    counts = np.isin(about.moved, about.frames)
    met, x, body_x = who_meets(cloths, bodies), [p.x for p in played], [b.x for b in own]
    triangles = [
        [joined(each.triangles, as_one(obj.data, places)) for places in each.x]
        for obj, each in zip(cloths, played, strict=True)
    ]
    return played, Cast(worn, x, shapes, body_x, met, counts, triangles)


def _with_others(obj, x, moved) -> np.ndarray:
    """Displacements (f, n, 3) in which what is one with another vertex at x (f, n, 3) goes where that goes."""
    return np.stack([ways[as_one(obj.data, places)] for places, ways in zip(x, moved, strict=True)])


class TAFFETA_OT_untangle_frames(baked.AfterBake, bpy.types.Operator):
    """Take the selected cloths out of themselves, each other and the colliders in each baked frame in which they pass
    through. The bakes stay as they are: this is a correction"""

    bl_idname = "taffeta.untangle_frames"
    bl_label = "Untangle Frames"
    bl_description = " ".join(__doc__.split())

    width: FloatProperty(
        name="Width", default=1.0, min=0.1, max=MOST_WIDTH, soft_max=5.0, step=10, precision=2,
        description="Frames about each over which what is moved is evened out, so that nothing jumps: the standard deviation of a "
        "Gaussian",
    )  # fmt: skip
    stretch: STRETCH

    def steps(self, context):
        turn.refuse()
        scene = context.scene
        cloths = chosen_cloths(context)
        for obj in cloths:
            baked.refuse(obj)
            baked.refuse_hidden(obj)
        parts = [baked.part_of(obj, *self.range(scene), self.fade) for obj in cloths]
        self._refuse_other_frames(cloths, parts)
        sentence, level = yield from self._taken_apart(scene, cloths, parts)
        self.report({level}, translated(sentence))
        return {"FINISHED"}

    def _refuse_other_frames(self, cloths, parts):
        """Garments are taken apart in frames that all of them have."""
        for obj, part in zip(cloths, parts, strict=True):
            if part != parts[0]:
                raise ValueError(
                    f"{cloths[0].name} and {obj.name} are baked over different frames; choose a Start and End that both have, "
                    "with the frames of Fade about them"
                )

    def _taken_apart(self, scene, cloths, parts):
        yield from prepared("untangle")
        from ..solver.correct.take_apart import take_apart

        played, cast = yield from read(scene, cloths, parts)
        limit, part = self.stretch if self.stretch < ANY_STRETCH else np.inf, parts[0]
        work = take_apart(cast, limit, self.width, part.opens, part.ends)
        found = yield from by_shares("Taking garments apart", SHARE_READ, work)
        names = f"{len(cloths)} garments" if len(cloths) > 1 else cloths[0].name
        where = f"{names}, frames {part.frames.start} to {part.frames.stop - 1}"
        if not found.before.any():
            return f"{where}: nothing passes through anything", "INFO"
        for obj, each, own, moved in zip(cloths, played, parts, found.moved, strict=True):
            if moved.any():
                baked.add(scene, obj, "Untangled", each, own, _with_others(obj, each.x, moved))
        return _outcome(where, found)


def _outcome(where: str, found) -> tuple[str, str]:
    """What to tell, and its level."""
    far = max(np.sqrt((moved**2).sum(axis=2).max()) for moved in found.moved)
    crossed, left = found.before > 0, found.after > 0
    text = (
        f"{where}: {found.before.sum():,} pairs of triangles crossed, in {crossed.sum()} frames; vertices are moved by "
        f"{length_text(far)} at most"
    )
    if not left.any():
        return f"{text}; nothing crosses", "INFO"
    return f"{text}; {found.after.sum():,} pairs still cross, in {left.sum()} frames; more Stretch may help", "WARNING"


register, unregister = bpy.utils.register_classes_factory((TAFFETA_OT_untangle_frames,))
