# SPDX-License-Identifier: GPL-3.0-or-later
"""Untangle: garments that pass through each other or the body at rest come out nested, in the order of their layers.

    compile, the first time ─► read ─► what cannot be done? ─► solver.untangle ─► a new shape
    └─ beside the window ─┘    └────── main thread ───────┘    └─ beside it ─┘    └ main thread

The garments are taken as they look at the current frame, without their bakes. The result is a shape key, which the
animator can blend, key and delete, or the garment's new rest shape (`shape_key`).
"""

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

import bpy
import numpy as np
from bpy.props import BoolProperty, EnumProperty, FloatProperty

from ..panels.translations import translated
from ..panels.units import length_text
from ..solver.untangle import ALLOWED_STRETCH, DEFAULT_DEPTH
from .bake import job as jobs
from .checks import crossings
from .playback.cache_modifier import mesh_shown_sentence, show_bake
from .read import groups
from .read.as_one import as_one, joined
from .read.mesh_io import check_finite, metres_per_unit, read_collider, read_garment, world_positions
from .read.participants import chosen_cloths, colliders_of
from .read.sampling import depsgraph_of, posed
from .read.shape_key import make_rest, place, refuse_shared
from .work.steps import Step, Steps, prepared
from .work.window import ObjectModeWork

UNTANGLED_KEY = "Untangled"  # name of the shape key
ANY_STRETCH = 1.0  # from which on edges may change as they like
STRETCH = FloatProperty(  # of each operator that takes garments apart
    name="Stretch", default=ALLOWED_STRETCH, min=0.01, max=ANY_STRETCH, soft_max=0.5, step=1, precision=2,
    description="Part of its length that an edge of a garment may get longer or shorter by, a pure number: 0.1 is 10 %. What "
    "cannot be taken apart so stays, and is told. 1 allows any",
)  # fmt: skip


def read(scene: bpy.types.Scene, cloths: list[bpy.types.Object]):
    """The garments and bodies as they look at the current frame, for `solver.untangle.nest`; call it within `posed`.

    Raises
    ------
    ValueError
        One of them cannot be read: names the object and the remedy.
    """
    from ..solver.untangle.nest import Shape, Worn

    bodies = colliders_of(scene, cloths)
    depsgraph, metres = depsgraph_of(scene), metres_per_unit(scene)
    garments = []
    for obj in cloths:
        refuse_shared(obj)
        found = read_garment(obj, depsgraph, scene)
        settings = obj.taffeta_cloth
        triangles = joined(found.triangles, as_one(obj.data, found.x_start))
        garments.append(Worn(obj.name, found.x_start, triangles, found.thickness, settings.layer, settings.rigidity))
    shapes = []
    for obj in bodies:
        body = read_collider(obj, depsgraph)
        x = world_positions(obj.evaluated_get(depsgraph), metres)
        check_finite(obj.name, x, f"at frame {scene.frame_current}")
        shapes.append(Shape(obj.name, x, body.triangles, body.aura))
    return garments, shapes


def doubts(surfaces: list[crossings.Surface]) -> Generator[Step, None, None]:
    """Steps: look for what Untangle cannot do with these garments.

    Raises
    ------
    ValueError
        Two of one layer cross, so that nothing says who is outside; or there is nothing but one garment, and it does not
        cross itself.
    """
    for index, one in enumerate(surfaces):
        for other in surfaces[index + 1 :]:
            layer = one.obj.taffeta_cloth.layer
            if layer != other.obj.taffeta_cloth.layer or not groups.meet(one.obj, other.obj):
                continue
            yield Step(f"Looking where {one.name} crosses {other.name}", 0.1)
            if len(crossings.crossing_pairs(one, other)):
                raise ValueError(
                    f"{one.name} and {other.name} cross, and both have Layer {layer}; "
                    "give the one that is worn outside a higher Layer"
                )


def _refuse_alone(surface: crossings.Surface) -> None:
    """A garment without company has to cross itself."""
    if not groups.meet(surface.obj, surface.obj) or not len(crossings.crossing_pairs(surface, surface)):
        raise ValueError(
            f"{surface.name} is alone, and does not cross itself; select more cloths, or press Taffeta Collider on the body "
            "that it is worn on"
        )


def who_meets(cloths: list[bpy.types.Object], bodies: list[bpy.types.Object]) -> np.ndarray:
    """(g, g + b) whether garments are to meet each other and bodies, by their Collision Collections, and themselves."""
    return np.array([[groups.meet(one, other) for other in (*cloths, *bodies)] for one in cloths])


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


def steps(
    scene: bpy.types.Scene,
    cloths: list[bpy.types.Object],
    tell: Callable[[str, str], None],
    result: str = "KEY",
    depth: float = DEFAULT_DEPTH,
    stretch: float = ALLOWED_STRETCH,
) -> Steps:
    """Untangle these garments as they look at the current frame; `tell(level, sentence)` hears what was done, and what not.

    result : "KEY" or "REST"; depth : [m], stretch : see the operator

    Raises
    ------
    ValueError
        Something cannot be untangled: names it and the remedy; nothing was changed then.
    """
    start = time.perf_counter()
    cloths = sorted(cloths, key=lambda obj: (obj.taffeta_cloth.layer, obj.name))
    bodies = colliders_of(scene, cloths)
    yield from prepared("untangle")
    from ..solver.untangle.apart import rounds

    yield Step("Reading the garments", 0.1)
    with posed(scene, cloths, bodies), without_key(cloths):
        depsgraph, origin = depsgraph_of(scene), np.array(cloths[0].matrix_world.translation)
        surfaces = [crossings.surface(obj, depsgraph, origin) for obj in cloths]
    if len(cloths) + len(bodies) < 2:
        _refuse_alone(surfaces[0])
    yield from doubts(surfaces)
    with posed(scene, cloths, bodies), without_key(cloths):
        garments, shapes = read(scene, cloths)
        met = who_meets(cloths, bodies)
    limit = stretch if stretch < ANY_STRETCH else np.inf
    found = yield from _taken_apart(rounds(garments, shapes, depth, met, limit))
    yield Step("Giving the garments their new shape", 0.95)
    given = zip(cloths, garments, found.x, strict=True)
    if hidden := _give(scene, cloths, [(each.x, x[as_one(obj.data, each.x)]) for obj, each, x in given], result):
        tell("INFO", mesh_shown_sentence(hidden))
    seconds = time.perf_counter() - start
    for sentence in outcome(found, [obj.name for obj in cloths], [obj.name for obj in bodies], stretch, seconds):
        tell(*sentence)


def _taken_apart(found) -> Generator[Step, object, object]:
    """Steps: the solver's rounds, one beside the window at a time; returns what they do."""

    def take(_):
        try:
            return next(found), None
        except StopIteration as end:
            return None, end.value

    text, share, most = "Untangling", 0.15, None
    while True:
        left, result = yield Step(text, share, take)
        if result is not None:
            return result
        most = max(left, 1) if most is None else most
        text, share = f"Untangling: {left:,} pairs of triangles cross", max(share, 0.9 - 0.7 * min(left / most, 1.0))


def _give(scene, cloths, shapes, result: str) -> list[bpy.types.Object]:
    """Give garments their new shapes (before, after); returns those whose bake hid it: viewports show their meshes now."""
    placed = []
    with posed(scene, cloths, ()):
        for obj, (before, x) in zip(cloths, shapes, strict=True):
            keys = obj.data.shape_keys
            if (x == before).all() and not (keys and UNTANGLED_KEY in keys.key_blocks):
                continue
            moved = place(scene, obj, UNTANGLED_KEY, x)
            placed.append(obj)
            if result == "REST":
                make_rest(obj, UNTANGLED_KEY, moved)
    return [obj for obj in placed if show_bake(obj, shown=False)]


def outcome(found, names: list[str], bodies: list[str], stretch: float, seconds: float) -> list[tuple[str, str]]:
    """Level and sentence of each report: what was done, and what could not be."""
    garments, everything = f"{len(names)} garments" if len(names) > 1 else names[0], [*names, *bodies]
    if not found.moved_count and not found.crossing_count:
        return [("INFO", f"{garments}: nothing was tangled, all layers keep their distance")]
    told = []
    if found.moved_count:
        text = (
            f"{garments} untangled in {seconds:.1f} s: {found.moved_count:,} vertices moved, {length_text(found.farthest)} "
            f"at most; edges changed by {100 * found.stretch_median:.1f} % in the middle, "
            f"{100 * found.stretch_worst:.0f} % at worst"
        )
        if not found.crossing_count:
            return [("INFO", f"{text}; nothing crosses")]
        told = [("INFO", f"{text}; {found.crossing_count:,} of {sum(found.before.values()):,} pairs still cross")]
    left = [
        translated(_pairs(everything[one], everything[other], count, found.before[one, other]))
        for (one, other), count in sorted(found.after.items(), key=lambda kind: -kind[1])
    ]
    why = (
        f" without edges changing by more than {100 * stretch:.3g} %; allow more Stretch"
        if stretch < ANY_STRETCH
        else ""
    )
    return [
        *told,
        ("WARNING", f"Could not be taken apart{why}: {', '.join(left)}. A bake eases the rest apart as far as it can"),
    ]


def _pairs(one: str, other: str, count: int, before: int) -> str:
    whom = f"{one} and itself" if one == other else translated(" and ").join((one, other))
    return f"{whom} ({count:,} of {before:,} pairs)"


class TAFFETA_OT_untangle(ObjectModeWork, bpy.types.Operator):
    """Take the selected cloths out of themselves, each other and the colliders, in the order of their layers"""

    bl_idname = "taffeta.untangle"
    bl_label = "Untangle Cloth"
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
    stretch: STRETCH
    everything: BoolProperty(
        name="All Cloths", options={"SKIP_SAVE"}, description="Untangle every cloth of the scene, not the selected ones"
    )

    def steps(self, context):
        jobs.refuse_another()
        cloths = chosen_cloths(context, everything=self.everything)
        tell = lambda level, sentence: self.report({level}, translated(sentence))  # noqa: E731
        yield from steps(context.scene, cloths, tell, self.result, self.depth, self.stretch)
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory((TAFFETA_OT_untangle,))
