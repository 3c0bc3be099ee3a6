# SPDX-License-Identifier: GPL-3.0-or-later
"""Untangle: garments that pass through each other or the body at rest come out nested, in the order of their layers.

The garments are taken as they look at the current frame, without their bakes. The result is a shape key, which the
animator can blend, key and delete, or the garment's new rest shape (`shape_key`).
"""

import time
from collections.abc import Callable
from contextlib import contextmanager

import bpy
import numpy as np
from bpy.props import BoolProperty, EnumProperty, FloatProperty

from .checks import crossings
from .playback.cache_modifier import mesh_shown_sentence, show_bake
from .read import groups
from .read.mesh_io import check_finite, metres_per_unit, read_collider, read_garment, world_positions
from .read.participants import chosen_cloths, colliders_of
from .read.sampling import depsgraph_of, posed
from .read.shape_key import make_rest, place, refuse_shared

UNTANGLED_KEY = "Untangled"  # name of the shape key
DEFAULT_DEPTH = 0.08  # [m]


def read(scene: bpy.types.Scene, cloths: list[bpy.types.Object]):
    """The garments and bodies as they look at the current frame, for `solver.untangle.nest`; call it within `posed`.

    Raises
    ------
    ValueError
        One of them cannot be read, or there is nothing that could be tangled: names the object and the remedy.
    """
    from ..solver.untangle.nest import Shape, Worn

    bodies = colliders_of(scene, cloths)
    if len(cloths) + len(bodies) < 2:
        raise ValueError(
            f"{cloths[0].name} is alone; select more cloths, or press Taffeta Collider on the body that it is worn on"
        )
    depsgraph, metres = depsgraph_of(scene), metres_per_unit(scene)
    garments = []
    for obj in cloths:
        refuse_shared(obj)
        found = read_garment(obj, depsgraph, scene)
        settings = obj.taffeta_cloth
        garments.append(
            Worn(obj.name, found.x_start, found.triangles, found.thickness, settings.layer, settings.rigidity)
        )
    shapes = []
    for obj in bodies:
        body = read_collider(obj, depsgraph, scene)
        x = world_positions(obj.evaluated_get(depsgraph), metres)
        check_finite(obj.name, x, f"at frame {scene.frame_current}")
        shapes.append(Shape(obj.name, x, body.triangles, body.aura))
    return garments, shapes


def doubts(scene: bpy.types.Scene, cloths: list[bpy.types.Object]) -> list[str]:
    """What Untangle cannot do with these garments, as sentences; call it within `posed`.

    Raises
    ------
    ValueError
        Two of one layer cross, so that nothing says who is outside.
    """
    depsgraph = depsgraph_of(scene)
    origin = np.array(cloths[0].matrix_world.translation)
    surfaces = [crossings.surface(obj, depsgraph, origin) for obj in cloths]
    said = []
    for index, one in enumerate(surfaces):
        for other in surfaces[index:]:
            if cloths[index].taffeta_cloth.layer != other.obj.taffeta_cloth.layer:
                continue
            if one is not other and not groups.meet(one.obj, other.obj):
                continue
            count = len(crossings.crossing_pairs(one, other))
            if count and one is other:
                said.append(
                    f"{one.name} crosses itself ({count} pairs of triangles): it has no inside there, so that stays"
                )
            elif count:
                raise ValueError(
                    f"{one.name} and {other.name} cross, and both have Layer {cloths[index].taffeta_cloth.layer}; "
                    "give the one that is worn outside a higher Layer"
                )
    return said


def who_meets(cloths: list[bpy.types.Object], bodies: list[bpy.types.Object]) -> np.ndarray:
    """(g, g + b) whether garments are to meet each other and bodies, by their Collision Collections."""
    return np.array([[one is other or groups.meet(one, other) for other in (*cloths, *bodies)] for one in cloths])


@contextmanager
def without_key(cloths):
    """The garments as they were before they were untangled: the key is muted meanwhile, and then as it was."""
    keys = [key for obj in cloths if obj.data.shape_keys and (key := obj.data.shape_keys.key_blocks.get(UNTANGLED_KEY))]
    before = [key.mute for key in keys]
    try:
        for key in keys:
            key.mute = True
        yield
    finally:
        for key, muted in zip(keys, before, strict=True):
            key.mute = muted


def untangle(scene: bpy.types.Scene, cloths: list[bpy.types.Object], result: str, depth: float):
    """Untangle these garments as they look at the current frame.

    Returns
    -------
    found : solver.untangle.nest.Untangled
    hidden : the garments whose bake hid their new shape: viewports show their meshes now

    result : "KEY" or "REST"; depth : [m], see the operator

    Raises
    ------
    ValueError
        Something cannot be untangled: names it and the remedy; nothing was changed then.
    """
    from ..solver.untangle import nest as solver

    placed = []
    with posed(scene, cloths, colliders_of(scene, cloths)):
        with without_key(cloths):
            garments, bodies = read(scene, cloths)
            found = solver.untangle(garments, bodies, depth, who_meets(cloths, colliders_of(scene, cloths)))
        for obj, garment, x in zip(cloths, garments, found.x, strict=True):
            keys = obj.data.shape_keys
            if (x == garment.x).all() and not (keys and UNTANGLED_KEY in keys.key_blocks):
                continue
            moved = place(scene, obj, UNTANGLED_KEY, x)
            placed.append(obj)
            if result == "REST":
                make_rest(obj, UNTANGLED_KEY, moved)
    return found, [obj for obj in placed if show_bake(obj, False)]


def run(
    scene: bpy.types.Scene,
    cloths: list[bpy.types.Object],
    tell: Callable[[str, str], None],
    result: str = "KEY",
    depth: float = DEFAULT_DEPTH,
) -> None:
    """Untangle these garments; `tell(level, sentence)` hears before what cannot be done, and then what was done.

    Raises
    ------
    ValueError
        As `untangle` and `doubts`.
    """
    start = time.perf_counter()
    cloths = sorted(cloths, key=lambda obj: (obj.taffeta_cloth.layer, obj.name))
    with posed(scene, cloths, colliders_of(scene, cloths)), without_key(cloths):
        said = doubts(scene, cloths)
    for sentence in said:
        tell("WARNING", sentence)
    found, hidden = untangle(scene, cloths, result, depth)
    if hidden:
        tell("INFO", mesh_shown_sentence(hidden))
    tell(*outcome(found, [obj.name for obj in cloths], time.perf_counter() - start))


def outcome(found, names: list[str], seconds: float) -> tuple[str, str]:
    """Level and sentence of a report."""
    garments = f"{len(names)} garments" if len(names) > 1 else names[0]
    if not found.moved_count:
        return "INFO", f"{garments}: nothing was tangled, all layers keep their distance"
    text = (
        f"{garments} untangled in {seconds:.1f} s: {found.moved_count:,} vertices moved, {1000 * found.farthest:.1f} mm "
        f"at most; edges changed by {100 * found.stretch_median:.1f} % in the middle, "
        f"{100 * found.stretch_worst:.0f} % at worst"
    )
    if found.crossing_count:
        return "WARNING", f"{text}. {found.crossing_count} edges still cross; look at them with Check Before Baking"
    return "INFO", f"{text}; no layer crosses another"


class TAFFETA_OT_untangle(bpy.types.Operator):
    """Take the selected cloths out of each other and out of the colliders, in the order of their layers"""

    bl_idname = "taffeta.untangle"
    bl_label = "Untangle"
    bl_options = {"REGISTER", "UNDO"}

    result: EnumProperty(
        name="Result", default="KEY",
        items=(
            ("KEY", "Shape Key", f"Keep the garments as they are and add a shape key, {UNTANGLED_KEY}"),
            ("REST", "Rest Shape", "Change the garments themselves: lengths are measured in the new shape"),
        ),
        description="Where the new shape goes",
    )  # fmt: skip
    depth: FloatProperty(
        name="Depth", default=DEFAULT_DEPTH, min=1e-3, max=1e3, soft_min=0.02, soft_max=0.3, unit="LENGTH", precision=3,
        description="How deep garments may be in each other, in metres. What is deeper is taken to hang beside the other "
        "one, as an arm hangs beside a vest",
    )  # fmt: skip
    everything: BoolProperty(
        name="All Cloths", options={"SKIP_SAVE"}, description="Untangle every cloth of the scene, not the selected ones"
    )

    @classmethod
    def poll(cls, context):
        active = context.view_layer.objects.active
        if active is not None and active.mode != "OBJECT":
            cls.poll_message_set("Switch to Object mode first")
            return False
        return True

    def execute(self, context):
        scene, window = context.scene, None if bpy.app.background else context.window
        if window:
            window.cursor_set("WAIT")
        try:
            cloths = chosen_cloths(context, everything=self.everything)
            run(scene, cloths, lambda level, sentence: self.report({level}, sentence), self.result, self.depth)
        except (ValueError, OSError) as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        finally:
            if window:
                window.cursor_set("DEFAULT")
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory((TAFFETA_OT_untangle,))
