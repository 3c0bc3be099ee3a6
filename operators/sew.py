# SPDX-License-Identifier: GPL-3.0-or-later
"""Sew Selected Edges: threads between two rims of panels, or the sides of a dart, as *Sewing* pulls them shut; and Apply
Sewing: the garment as it is sewn in this frame, a mesh in one piece.
"""

import bpy
from bpy.props import BoolProperty, FloatProperty, IntProperty, StringProperty

from ..panels.translations import translated
from ..solver.geometry import stitches
from .menus import in_menu
from .overlay.colours import lengths
from .playback.cache_modifier import forget_bake
from .read import gathered, sewing_switch, sewn_edges
from .read.arrays import seams
from .read.mesh_io import metres_per_unit, world_matrix
from .read.modifier_stack import index_of, own_modifiers
from .read.participants import chosen_cloth, refuse_linked, refuse_mode
from .read.screen import InObjectMode, refused
from .read.shown import shown_positions

CLOSED = 2e-3  # [m] up to which a seam is closed, as a bake welds it (`solver.join`)
GATHERED = 1.02  # times as long one line is as the other, from which on it is told


def sew(obj: bpy.types.Object, flip: bool, shift: int, gather: float = 0.0) -> str:
    """Sew the lines that are selected in an object's Edit Mode, as `rims` pairs them; returns what was done.

    Raises
    ------
    ValueError
        Not two lines, or a dart, are selected: a sentence with a remedy.
    """
    pairs, told = rims(obj, flip, shift, gather)
    before = sewn_edges.count(obj)
    added = sewn_edges.sew(obj, pairs)
    if obj.taffeta_cloth.enabled and sewing_switch.turn_on(obj, before):
        told += "; Sewing is on now"
    return f"{added} sewing edges added to {obj.name}{told}"


def rims(obj: bpy.types.Object, flip: bool, shift: int, gather: float = 0.0):
    """Vertices (s, 2) that sew the lines which are selected in an object's Edit Mode to each other, and what is to be told.

    With `gather`, from 1 on, the panel of the longer line is cut wider first, so that it is so many times as long as the other one.

    Raises
    ------
    ValueError
        As of `sew`.
    """
    x, edges = sewn_edges.selected(obj)
    try:
        lines = stitches.lines(edges)
    except ValueError as error:
        raise ValueError(f"{obj.name}: {error}; select two rims of panels and nothing beside them") from None
    if 0.0 < gather < 1.0:
        raise ValueError(
            f"{obj.name}: a Gather of {gather:g} is none; from 1 on it gathers, 0 leaves panels as they are"
        )
    if len(lines) == 2 and lines[0][1] == lines[1][1]:
        return _sewn(obj, x, lines, (flip, shift), gather)
    if gather:
        raise ValueError(f"{obj.name}: two lines gather, one longer than the other; select two, or set Gather to 0")
    if len(lines) == 1 and not lines[0][1] and len(lines[0][0]) > 2:
        return stitches.dart(lines[0][0]), ""
    kinds = "a line and a ring are" if len(lines) == 2 else f"{len(lines)} lines of edges of faces are"
    kinds = kinds if len(lines) != 1 else "one ring or edge is"
    raise ValueError(
        f"{obj.name}: {kinds} selected; select two lines, two rings, or one line from side to side of a dart"
    )


def _sewn(obj, x, lines, way, gather: float):
    """As `rims`, of two lines or two rings; `way`: flip and shift."""
    (one, is_ring), (other, _) = lines
    rest, widened = gathered.at_rest(obj, x), ""
    short, long = sorted((one, other), key=lambda line: stitches.length(rest, line, is_ring))
    if stitches.length(rest, long, is_ring) < GATHERED * stitches.length(
        rest, short, is_ring
    ) and sewn_edges.has_active(obj, short):
        short, long = long, short
    if gather:
        if is_ring:
            raise ValueError(f"{obj.name}: rings do not gather by a wider panel; gather lines, or Mark Elastic")
        widened = gathered.widen(obj, long, gather * stitches.length(rest, short, is_ring), x)
        x, _ = sewn_edges.selected(obj)
        rest = gathered.at_rest(obj, x)
    pairs = stitches.stitches(x, one, other, is_ring, *way)
    short, long = (stitches.length(rest, line, is_ring) for line in (short, long))
    told = f"; one side is {long / short:.2f} times as long and gathers" if long > GATHERED * short > 0.0 else ""
    return pairs, told + widened


def apply(context, obj: bpy.types.Object) -> tuple[bpy.types.Object, str]:
    """A copy of a garment, in the shape that it has now, with its closed seams welded in the mesh; and what was done.

    The garment itself stays as it is, hidden, with its Taffeta Cloth off.

    Raises
    ------
    ValueError
        It has no closed seam now: a sentence with a remedy.
    """
    refuse_linked(obj)
    refuse_mode(obj)
    ours = [index_of(obj, modifier) for modifier in own_modifiers(obj)]
    pairs, behind = seams(obj.data), max(ours, default=-1) + 1
    x = _shown(context, obj, behind)
    world = x.astype(float) @ world_matrix(obj, metres_per_unit(context.scene))[:3, :3].T
    closed = pairs[lengths(world, pairs) <= CLOSED]
    if not behind or not len(closed):
        frame = context.scene.frame_current
        raise ValueError(
            f"{obj.name} has no closed seam in frame {frame}; bake it with Sewing, and go to a frame where it is sewn"
        )
    copy = _copy(obj, behind)
    sewn_edges.weld(copy.data, x, closed)
    copy.taffeta_cloth.sewing = len(closed) < len(pairs)
    copy.taffeta_cloth.pattern_size = False
    obj.taffeta_cloth.enabled = False
    obj.hide_set(True)
    obj.hide_render = True
    for other in context.selected_objects:
        other.select_set(False)
    copy.select_set(True)
    context.view_layer.objects.active = copy
    left = f", {len(pairs) - len(closed)} are open still" if len(closed) < len(pairs) else ""
    told = f"{len(closed)} seams welded in {copy.name}{left}; {obj.name} is kept, hidden and with Taffeta Cloth off"
    return copy, told


def _shown(context, obj, behind: int):
    """Where the bake has an object's vertices now, (n, 3) in object space, without its modifiers from `behind` on."""
    later = [modifier for modifier in list(obj.modifiers)[behind:] if modifier.show_viewport]
    try:
        for modifier in later:
            modifier.show_viewport = False
        return shown_positions(obj, context.evaluated_depsgraph_get())
    finally:
        for modifier in later:
            modifier.show_viewport = True


def _copy(obj, modifiers: int):
    """A copy of an object with a mesh of its own, without its shape keys, its bake and its first so many modifiers."""
    copy = obj.copy()
    copy.data, copy.name = obj.data.copy(), f"{obj.name} Sewn"
    for collection in obj.users_collection:
        collection.objects.link(copy)
    if copy.data.shape_keys is not None:
        copy.shape_key_clear()
    for modifier in list(copy.modifiers)[:modifiers]:
        copy.modifiers.remove(modifier)
    forget_bake(copy)
    return copy


class TAFFETA_OT_sew(bpy.types.Operator):
    """Join two selected lines or rings of edges by sewing edges, which Sewing pulls shut and welds: one for each vertex of the
    one with fewer, evenly along the other, which gathers if it is longer. One line alone is a dart, with its tip in the middle"""

    bl_idname = "taffeta.sew"
    bl_label = "Sew Selected Edges"
    bl_description = " ".join(__doc__.split())
    bl_options = {"REGISTER", "UNDO"}

    flip: BoolProperty(
        name="Flip",
        description="Sew in the other direction than the one in which all sewing edges together are shortest",
    )
    shift: IntProperty(
        name="Shift", description="Of two rings, vertices by which the one with more is turned on before it is sewn"
    )

    gather: FloatProperty(
        name="Gather", default=0.0, min=0.0, max=10.0, soft_max=3.0, step=10, precision=2,
        description="How many times as long as the other line the longer one is to be, a pure number: its panel is cut so much wider along it, in "
        "the Pattern where that tells its size; of two as long as each other, that of the edge selected last. 1.5 is a soft gather, 2 and more a ruffle; 0 leaves panels as they are",
    )  # fmt: skip

    @classmethod
    def poll(cls, context):
        if context.mode != "EDIT_MESH":
            cls.poll_message_set("Go to Edit Mode and select two rims of panels")
            return False
        return True

    def execute(self, context):
        try:
            self.report({"INFO"}, translated(sew(context.edit_object, self.flip, self.shift, self.gather)))
        except ValueError as error:
            return refused(self, error)
        return {"FINISHED"}


class TAFFETA_OT_sewing_apply(InObjectMode, bpy.types.Operator):
    """Make a copy of the garment with the shape of this frame, in which closed seams are welded: one mesh, which is its new rest
    shape. The garment itself is kept, hidden and switched off"""

    bl_idname = "taffeta.sewing_apply"
    bl_label = "Apply Sewing"
    bl_description = " ".join(__doc__.split())
    bl_options = {"REGISTER", "UNDO"}

    object: StringProperty(name="Object", description="Cloth to apply it to; empty takes the selected one")

    def execute(self, context):
        try:
            _, told = apply(context, chosen_cloth(context, self.object))
        except ValueError as error:
            return refused(self, error)
        self.report({"INFO"}, translated(told))
        return {"FINISHED"}


def _menu(self, _context):
    self.layout.separator()
    self.layout.operator("taffeta.sew")


register, unregister = in_menu("VIEW3D_MT_edit_mesh_edges", _menu, (TAFFETA_OT_sew, TAFFETA_OT_sewing_apply))
