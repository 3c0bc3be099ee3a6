# SPDX-License-Identifier: GPL-3.0-or-later
"""Refine Where It Folds: a garment's cage is made anew, with short edges where its bake was bent, compressed or lay on what is
bent, and long ones elsewhere; then it is baked again. Between the two bakes the mesh changes, within one it never does.

each baked frame ─► need of each vertex ─► lengths on the garment ─► a mesh by these ─► the cage has it
└ main thread ──┘   └────────────── beside the window ──────────┘    └── main thread, in parts ──────┘
"""

import bpy
import numpy as np
from bpy.props import BoolProperty, FloatProperty, IntProperty, StringProperty

from ..panels.cage import garment_of
from ..panels.translations import translated
from ..panels.units import length_text
from ..solver.elastic.mesh_fit import SHORT_SHARE
from . import cage as verbs
from .live import turn
from .playback.cache_modifier import forget_bake
from .read import anchors, cage_meshes, carry_marks, remesh
from .read import cage as cages
from .read.cage_shapes import shapes_of
from .read.maps import read_map
from .read.mesh_io import metres_per_unit, rest_positions
from .read.participants import refuse_linked, refuse_mode
from .read.sheet import Sheet
from .work import baked
from .work.steps import Step, Steps, prepared
from .work.window import ObjectModeWork

READ, MEASURED, LAID_OUT, MESHED = 0.3, 0.5, 0.55, 0.95  # shares of the work that are done then; the rest is the mesh
TOUCHING = 1.5  # times the distance that cloth is kept off a body: within it cloth lies on it
THEN = "refine it"
FAR_OFF = 0.1  # part by which a mesh may have more vertices than the budget


class TAFFETA_OT_cage_refine(ObjectModeWork, bpy.types.Operator):
    """Make the cage anew by what was baked: fine where cloth was bent, compressed or lay on what is bent, coarse elsewhere, with as \
many vertices as you allow. Then bake again. The bake that there is stays in the list"""

    bl_idname = "taffeta.cage_refine"
    bl_label = "Refine Where It Folds"
    bl_description = " ".join(__doc__.split())
    bl_options = {"REGISTER", "UNDO"}

    object: StringProperty(name="Garment", description="Name of the garment or its cage; empty takes the active one")
    vertices: IntProperty(
        name="Budget of Vertices", default=0, min=0, max=cages.MOST_VERTICES, soft_max=40_000,
        description="About how many vertices the cage is to have; 0: as many as what was baked",
    )  # fmt: skip
    finest: FloatProperty(
        name="Finest", default=4.0, min=1.0, max=20.0, soft_max=6.0, precision=1,
        description="How many times shorter than those of an even cage edges may be. None becomes shorter than three times the "
        "thickness of the cloth",
    )  # fmt: skip
    coarsest: FloatProperty(
        name="Coarsest", default=3.0, min=1.0, max=20.0, soft_max=6.0, precision=1,
        description="How many times longer than those of an even cage edges may be",
    )  # fmt: skip
    contact: BoolProperty(
        name="Bodies", default=True,
        description="Fine where cloth lies on a body, too, as fine as the body is bent there",
    )  # fmt: skip
    frame_start: IntProperty(
        name="Frame Start",
        options={"SKIP_SAVE"},
        description="First frame to look at; the first baked one if not given",
    )
    frame_end: IntProperty(
        name="End", options={"SKIP_SAVE"}, description="Last frame to look at; the last baked one if not given"
    )

    def invoke(self, context, event):
        try:
            played = _baked_of(self._garment(context))
            baked.refuse(played, THEN)
            frames = baked.baked_frames(played)
        except ValueError as error:
            return self._refuse(error)
        self.frame_start, self.frame_end = frames.start, frames.stop - 1
        self.vertices = self.vertices or len(played.data.vertices)
        return self.ask(context)

    def draw(self, context):
        layout = self.layout
        layout.use_property_split, layout.use_property_decorate = True, False
        for name in ("vertices", "finest", "coarsest", "contact", "frame_start", "frame_end"):
            layout.prop(self, name)

    def steps(self, context):
        scene, obj = context.scene, self._garment(context)
        played = _baked_of(obj)
        _refuse(obj, played)
        sheet = cages.surface_of(obj, scene)
        if played != obj:
            carry_marks.refuse(obj, played, sheet, scene)
        count = self.vertices or len(played.data.vertices)
        need = yield from self._need(scene, played)
        shortest = _shortest(played)

        def lay_out(_):
            return self._lengths(need, sheet, count, shortest)

        length = yield Step("Laying out the mesh", MEASURED, lay_out)
        made = yield from _meshed(obj, sheet, length, count)
        cage = _exchanged(scene, obj, played, sheet, made)
        even = remesh.length_for(sheet.triangles, sheet.x, count)
        self.report(
            {"INFO"},
            translated(
                f"{cage.name} has {len(made.x):,} vertices, {_told(length, even, shortest, self.finest)}; bake it"
            ),
        )
        verbs.tell_left_out(self, obj, cage)
        verbs.show(context, cage)
        verbs.look_again(context)
        return {"FINISHED"}

    def _garment(self, context):
        """The garment that the operator is for."""
        obj = context.scene.objects.get(self.object) if self.object else context.view_layer.objects.active
        obj = (garment_of(obj) or obj) if obj is not None else None
        if obj is None or obj.type != "MESH" or not (obj.taffeta_cloth.enabled or obj.taffeta_cage.cage):
            raise ValueError(f"{obj.name if obj else self.object or 'Nothing'} is no Taffeta Cloth; select a garment")
        return obj

    def _frames(self, obj) -> range:
        asked = self.properties.is_property_set
        known = baked.baked_frames(obj)
        first = self.frame_start if asked("frame_start") else known.start
        last = self.frame_end if asked("frame_end") else known.stop - 1
        return baked.part_of(obj, first, last, 1).frames

    def _need(self, scene, played) -> Steps:
        """Steps: what the module's `_need` measures of what was baked."""
        yield from prepared()
        frames = self._frames(played)
        shapes = yield from baked.read(scene, played, frames, 0.0 if self.contact else None)
        reach = TOUCHING * float(read_map(played, played.taffeta_cloth.thickness, played.data).max())
        rest = rest_positions(played, played, metres_per_unit(scene))

        def measure(go_on):
            return _need(shapes, rest, reach, go_on)

        return (yield Step(f"Looking at {len(frames)} frames", READ, measure))

    def _lengths(self, need, sheet, count, shortest):
        """(n,) [m] of edges about each vertex of a garment's sheet."""
        from ..solver.correct import sizing

        even = remesh.length_for(sheet.triangles, sheet.x, count)
        where = _onto(sheet, need)
        low = min(max(even / self.finest, shortest), even)
        return sizing.lengths(where, sheet.x, sheet.triangles, count, (low, max(even * self.coarsest, low)))


def _baked_of(obj) -> bpy.types.Object:
    """What is simulated for a garment: its cage, or itself."""
    if cages.MODIFIER_NAME in obj.modifiers and obj.taffeta_cage.cage is None:
        raise ValueError(
            f"{obj.name} is to follow a cage that is not there; undo what deleted it, or press Remove Cage"
        )
    return obj.taffeta_cage.cage or obj


def _refuse(obj, played) -> None:
    """Raise ValueError, with a remedy, where a cage cannot be made anew by a bake."""
    turn.refuse()
    refuse_linked(obj)
    for each in (obj, played):
        refuse_mode(each)
    if played == obj:
        verbs.refuse(obj)
    else:
        cage_meshes.refuse(played)
        if shapes_of(obj, played).rest is not None:
            raise ValueError(
                f"{played.name} was given a rest shape of its own, which another mesh would not have; press Remove Cage, which "
                f"hands it down to {obj.name}, make the cage anew and bake it"
            )
    baked.refuse(played, THEN)
    baked.refuse_hidden(played, THEN)


def _need(shapes: baked.Played, rest, reach, go_on):
    """Where the mesh that was baked is, its triangles, and what each of its vertices needs [1/m] at most in any frame."""
    from ..solver.correct import sizing
    from ..solver.geometry.curvature import curvature, hinges

    mesh = sizing.measured(rest, shapes.triangles)
    bodies = [(body, hinges(body.x[0], body.triangles)) for body in shapes.bodies]
    need = np.zeros(len(rest))
    for frame, x in enumerate(shapes.x):
        if not go_on():
            break
        need = np.maximum(need, np.maximum(sizing.bent(x, mesh), sizing.compressed(x, mesh)))
        for body, joints in bodies:
            there = body.x[frame]
            which, corners, foot = anchors.nearest(x, there, body.triangles, TOUCHING * body.distance + reach)
            weights = np.column_stack((1.0 - foot[:, 0] - foot[:, 1], foot[:, :2]))
            lies = np.einsum("pk,pk->p", weights, curvature(there, joints)[corners])
            need[which] = np.maximum(need[which], lies)
    return rest, shapes.triangles, sizing.spread(need, shapes.triangles)


def _onto(sheet: Sheet, need) -> np.ndarray:
    """(n,) [1/m] needs at the vertices of a garment's sheet, by where on the mesh that was baked they lie."""
    rest, triangles, values = need
    points = sheet.x + sheet.origin
    which, corners, foot = anchors.nearest(points, rest, triangles, np.inf)
    weights = np.column_stack((1.0 - foot[:, 0] - foot[:, 1], foot[:, :2]))
    found = np.zeros(len(points))
    found[which] = np.einsum("pk,pk->p", weights, values[corners])
    return found


def _shortest(played) -> float:
    """[m] edges below which cloth would touch itself all over, as thick as it is."""
    return float(read_map(played, played.taffeta_cloth.thickness, played.data).max()) / SHORT_SHARE


def _meshed(obj, sheet, length, count) -> Steps:
    """Steps: a mesh on a garment's sheet with these lengths of edges."""
    parts = remesh.remeshing(sheet.x, sheet.triangles, sheet.lines, length, count)
    made = yield from verbs.stepped(parts, (LAID_OUT, MESHED))
    if len(made.faces) < cages.LEAST_FACES or len(made.x) > (1.0 + FAR_OFF) * count:
        raise ValueError(
            f"{obj.name} would get a cage of {len(made.x):,} vertices with a budget of {count:,}: its borders, seams and marked "
            "edges need more; "
            "give it a larger one"
        )
    return made


def _exchanged(scene, obj, played, sheet, made) -> bpy.types.Object:
    """The cage, which has the new mesh; all at once, so that nothing is half done."""
    if played == obj:
        cage = cages.add(obj, scene, sheet, made)
        verbs.hand_over(scene, obj, cage, sheet)
        return cage
    mesh = cage_meshes.make(scene, obj, played, sheet, made)
    try:
        cage_meshes.exchange(obj, played, mesh)
    except (ValueError, RuntimeError):
        bpy.data.meshes.remove(mesh)
        raise
    forget_bake(played)
    return played


def _told(length, even, shortest, finest) -> str:
    """How long the edges are."""
    shown = f"with edges of {length_text(length.min())} to {length_text(length.max())}; {length_text(even)} if they were even"
    if shortest > even / finest:
        shown += f". Its thickness lets none be shorter than {length_text(min(shortest, even))}"
    return shown


register, unregister = bpy.utils.register_classes_factory((TAFFETA_OT_cage_refine,))
