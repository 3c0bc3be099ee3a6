# SPDX-License-Identifier: GPL-3.0-or-later
"""Attach vertices of a garment to the surface of a body, tack them to another garment, and take that back."""

from contextlib import contextmanager, suppress

import bpy
import numpy as np
from bpy.props import EnumProperty, FloatProperty, IntProperty, StringProperty

from ..panels.translations import translated
from ..panels.units import length_text
from .read import anchors
from .read.arrays import selected, triangulated
from .read.attach import nearest_body
from .read.keyed import drop_keys
from .read.maps import read_map, weights_in
from .read.mesh_io import check_evaluated, check_finite, metres_per_unit, world_positions
from .read.modifier_stack import own_modifiers, simulated
from .read.participants import chosen_cloths, cloths_of, colliders_of, refuse_linked
from .read.sampling import depsgraph_of
from .read.screen import refused
from .read.ties import topology

REACH = 0.005  # [m] from a body within which all vertices are attached that are not chosen otherwise

# fmt: off
VERTICES = (
    ("PINS", "Pins", "Those that are pinned, each as firmly as it is"),
    ("GROUP", "Vertex Group", "Those of a vertex group, each as firmly as its weight"),
    ("SELECTED", "Selection", "Those that are selected in Edit Mode"),
    ("NEAR", "Nearby", "All within the distance from it"),
)
# fmt: on
NONE_CHOSEN = {
    "PINS": "Nothing of {} is pinned; paint Pin, or let Vertices be those of a group, the selection or what is nearby",
    "GROUP": "No vertex of {} has a weight in that vertex group; choose another group",
    "SELECTED": "No vertex of {} is selected; select some in Edit Mode",
    "NEAR": "{} has no vertices",
}


def tie(scene, obj, body, vertices="PINS", group="", reach=REACH):
    """Attach vertices of a garment to a body, or tack them to another garment, where both are shown now.

    Returns
    -------
    the new attachment, and how many vertices it has

    Raises
    ------
    ValueError
        There is nothing to attach, or nothing to attach it to: a sentence.
    """
    _refuse(obj, body)
    metres, is_garment = metres_per_unit(scene), body.taffeta_cloth.enabled
    chosen, share = _choose(obj, vertices, group)
    if not len(chosen):
        raise ValueError(NONE_CHOSEN[vertices].format(obj.name))
    with bare([obj, body] if is_garment else [obj]):
        depsgraph = depsgraph_of(scene)
        x, other = (_shown(each, depsgraph, metres) for each in (obj, body))
        mesh = body.data if is_garment else body.evaluated_get(depsgraph).data
        triangles = triangulated(mesh)[0]
        if len(x) != len(obj.data.vertices) or (is_garment and len(other) != len(body.data.vertices)):
            raise ValueError(
                f"{obj.name} and {body.name} have other vertices than their meshes; apply what changes them"
            )
        shape = topology(mesh)
    far = reach if vertices == "NEAR" else float(np.ptp(np.concatenate((x, other)), axis=0).sum() + 1.0)
    found, corners, foot = anchors.nearest(x[chosen], other, triangles, far)
    if not len(found) and vertices != "NEAR":
        raise ValueError(f"No face of {body.name} has any area now; give it some size, or choose another mesh")
    if not len(found):
        raise ValueError(
            f"No vertex of {obj.name} lies within {length_text(reach)} of {body.name}; raise the distance, or choose vertices"
        )
    chosen, share = chosen[found], share[found]
    if is_garment:  # a thread, not shorter than what keeps cloth off cloth
        apart = [read_map(each, each.taffeta_cloth.thickness, each.data) for each in (obj, body)]
        length = np.maximum(foot[:, 2], 0.5 * (apart[0][chosen] + apart[1][corners[:, 0]]))
        foot[:, 2] = np.copysign(length, anchors.above(x[chosen], other, corners)[:, 2])
    else:
        foot = anchors.above(x[chosen], other, corners)
    entries, number = obj.taffeta_cloth.attachments, _free_number()
    anchors.write(obj.data, number, anchors.Anchors(chosen.astype(np.int32), corners, foot, share))
    entry = entries.add()
    entry.name, entry.number, entry.body, entry.topology = body.name, number, body, shape
    return entry, len(chosen)


def likely(obj: bpy.types.Object) -> str:
    """Which vertices somebody means who has not said it: the selected ones in Edit Mode, else pins, else what is nearby."""
    if obj.mode == "EDIT" and obj.data.total_vert_sel:
        return "SELECTED"
    return "PINS" if len(_choose(obj, "PINS", "")[0]) else "NEAR"


def _free_number():
    """One that no attachment in the file has: garments may be joined."""
    held = [int(anchors.numbers(mesh).max(initial=0)) for mesh in bpy.data.meshes]
    return 1 + max(held + [entry.number for obj in bpy.data.objects for entry in obj.taffeta_cloth.attachments])


def forget_empty(obj) -> None:
    """Remove the attachments that no vertex belongs to, and their keyframes."""
    entries, known = obj.taffeta_cloth.attachments, [entry.number for entry in anchors.holding(obj)]
    for index in reversed(range(len(entries))):
        if entries[index].number not in known:
            drop_keys(obj, index)
            entries.remove(index)


def _kept_for_undo(obj) -> str:
    """What to tell of attachments that stay in the list without a vertex: Undo in Edit Mode brings back the mesh alone."""
    is_any = len(obj.taffeta_cloth.attachments) > len(anchors.holding(obj))
    return "; for Undo the emptied line stays in the list, until Detach is pressed in Object Mode" if is_any else ""


def _refuse_shared(obj):
    """What vertices are tied to is kept in the mesh, so that it would change for all objects that share it."""
    others = [other.name for other in bpy.data.objects if other.data == obj.data and other != obj]
    if others:
        raise ValueError(
            f"{obj.name} shares its mesh with {', '.join(others[:3])}; make it a mesh of its own first "
            "(Object > Relations > Make Single User > Object & Data)"
        )


def _refuse(obj, body):
    refuse_linked(obj)
    _refuse_shared(obj)
    if obj.data.library is not None:
        raise ValueError(f"{obj.name}: its mesh is linked from {obj.data.library.filepath}; make it local first")
    if body.type != "MESH" or body == obj:
        raise ValueError(f"{obj.name} cannot be attached to {body.name}; choose another mesh")
    if body.mode == "EDIT":
        raise ValueError(f"{body.name} is in Edit Mode; leave it (Tab) first")
    if body.taffeta_cloth.enabled and any(entry.body == obj for entry in body.taffeta_cloth.attachments):
        raise ValueError(f"{body.name} is tacked to {obj.name} already; detach that first")


def _choose(obj, vertices, group):
    """Vertices (m,), and how firmly each is to be held."""
    mesh = obj.data
    if vertices == "PINS":
        share = read_map(obj, obj.taffeta_cloth.pin, mesh).clip(0.0, 1.0)
    elif vertices == "GROUP":
        group = group or (obj.vertex_groups.active.name if obj.vertex_groups.active else "")
        if group not in obj.vertex_groups:
            raise ValueError(f"{obj.name} has no vertex group '{group}'; choose one of its own")
        share = weights_in(obj, group, mesh)
    else:
        share = (selected(mesh) if vertices == "SELECTED" else np.ones(len(mesh.vertices), bool)).astype(float)
    chosen = np.flatnonzero(share > 0.0)
    return chosen, share[chosen]


@contextmanager
def bare(garments):
    """Garments as they are shown now, simulated or not, without what works on the simulated cloth."""
    muted = []
    for obj in garments:
        ours = own_modifiers(obj)
        muted += [m for m in simulated(obj) if m not in ours and m.show_viewport]
    try:
        for modifier in muted:
            modifier.show_viewport = False
        yield
    finally:
        for modifier in muted:
            modifier.show_viewport = True


def _shown(obj, depsgraph, metres):
    check_evaluated(obj, depsgraph)
    x = world_positions(obj.evaluated_get(depsgraph), metres)
    check_finite(obj.name, x, "now")
    if not len(obj.evaluated_get(depsgraph).data.polygons):
        raise ValueError(f"{obj.name} has no faces to be attached to; choose another mesh")
    return x


@contextmanager
def _in_object_mode(obj):
    """Attributes can be written in Object Mode alone."""
    mode, objects = obj.mode, bpy.context.view_layer.objects
    active = objects.active
    if mode != "OBJECT":
        objects.active = obj
        bpy.ops.object.mode_set(mode="OBJECT")
    try:
        yield
    finally:
        if mode != "OBJECT":
            bpy.ops.object.mode_set(mode=mode)
            objects.active = active


class GarmentVerb:
    """What verbs that mark a garment share: it is named or active, in whichever mode, and errors are sentences."""

    bl_options = {"REGISTER", "UNDO"}

    object: StringProperty(name="Garment", description="Name of the garment; empty takes the active one")

    @classmethod
    def poll(cls, context):
        active = context.view_layer.objects.active
        if active is None or active.type != "MESH" or not active.taffeta_cloth.enabled:
            cls.poll_message_set("Make a Taffeta Cloth the active object")
            return False
        return True

    def settle(self, obj):
        """What was not said, while the garment is still in its mode."""

    def execute(self, context):
        try:
            name = self.object or context.view_layer.objects.active.name
            (obj,) = chosen_cloths(context, name)
            self.settle(obj)
            is_edited = obj.mode == "EDIT"
            with _in_object_mode(obj):
                told = self.work(context, obj)
                if is_edited:
                    told += _kept_for_undo(obj)
                else:
                    forget_empty(obj)
            self.report({"INFO"}, translated(told))
        except ValueError as error:
            return refused(self, error)
        return {"FINISHED"}


class TAFFETA_OT_attach(GarmentVerb, bpy.types.Operator):
    """Attach vertices of the active garment to the surface of a body, where both are now: of the other selected mesh, or else of the \
nearest collider. To another garment they are tacked by threads"""

    bl_idname = "taffeta.attach"
    bl_label = "Attach Cloth"
    bl_description = " ".join(__doc__.split())

    body: StringProperty(
        name="To",
        description="Name of the body or garment; empty takes the other selected mesh, or the nearest collider",
        options={"SKIP_SAVE"},
    )
    vertices: EnumProperty(
        name="Vertices",
        items=VERTICES,
        default="PINS",
        description="Which vertices of the garment",
        options={"SKIP_SAVE"},
    )
    group: StringProperty(
        name="Group",
        description="Vertex group whose vertices are attached; empty takes the active one",
        options={"SKIP_SAVE"},
    )
    reach: FloatProperty(
        name="Distance", default=REACH, min=0.0, max=1e3, soft_max=0.1, unit="LENGTH", precision=4,
        description="From the body within which Nearby takes vertices, in metres",
    )  # fmt: skip
    stiffness: FloatProperty(
        name="Stiffness (N/m)", default=0.0, min=0.0, max=1e7, soft_max=1000.0, precision=1,
        description="Of the spring that each vertex hangs on, in N/m; 0 is hard",
    )  # fmt: skip
    breaking_force: FloatProperty(
        name="Breaking Force (N)", default=0.0, min=0.0, max=1e6, soft_max=10.0, precision=3,
        description="Force in N at which a vertex tears off; 0 never does",
    )  # fmt: skip

    def settle(self, obj):
        if not self.properties.is_property_set("vertices"):
            self.vertices = likely(obj)

    def invoke(self, context, event):
        """Ask to what, and which vertices: what is not there cannot be chosen once it has failed."""
        obj = context.view_layer.objects.active
        with suppress(ValueError):  # without a body it is left empty, to be chosen
            self.body = self._body(context, obj).name
        try:
            self.settle(obj)
        except ValueError as error:  # a map that is not there
            return refused(self, error)
        return context.window_manager.invoke_props_dialog(self, width=360)

    def draw(self, context):
        layout, obj = self.layout, context.view_layer.objects.active
        layout.use_property_split = True
        layout.use_property_decorate = False
        layout.prop_search(self, "body", context.scene, "objects")
        layout.prop(self, "vertices")
        if self.vertices == "GROUP":
            layout.prop_search(self, "group", obj, "vertex_groups")
        elif self.vertices == "NEAR":
            layout.prop(self, "reach")
        layout.prop(self, "stiffness")
        layout.prop(self, "breaking_force")

    def work(self, context, obj):
        """One attachment more."""
        body = self._body(context, obj)
        entry, count = tie(context.scene, obj, body, self.vertices, self.group, self.reach)
        entry.stiffness, entry.breaking_force = self.stiffness, self.breaking_force
        held = _these(count, obj)
        return f"{held} tacked to {body.name}" if body.taffeta_cloth.enabled else f"{held} attached to {body.name}"

    def _body(self, context, obj):
        if self.body:
            found = context.scene.objects.get(self.body)
            if found is None:
                raise ValueError(f"There is no {self.body} in scene {context.scene.name}; check the name")
            return found
        others = [
            o for o in context.view_layer.objects if o is not None and o != obj and o.select_get() and o.type == "MESH"
        ]
        if len(others) == 1:
            return others[0]
        if others:
            raise ValueError(
                f"{len(others)} other meshes are selected; select the one that {obj.name} is to be attached to"
            )
        bodies = colliders_of(context.scene, cloths_of(context.scene))
        found = nearest_body(obj, bodies, depsgraph_of(context.scene))
        if found is None:
            raise ValueError(
                f"There is nothing to attach {obj.name} to; select a body, too, or make one a Taffeta Collider"
            )
        return found


class TAFFETA_OT_detach(GarmentVerb, bpy.types.Operator):
    """Let attached vertices of the active garment go"""

    bl_idname = "taffeta.detach"
    bl_label = "Detach Cloth"

    index: IntProperty(
        name="Attachment",
        default=-1,
        min=-1,
        description="Which attachment, counted from 0 as they are listed; -1 means all",
    )
    only_selected: bpy.props.BoolProperty(
        name="Only Selected", description="Only vertices that are selected in Edit Mode, of all attachments"
    )

    def work(self, context, obj):
        """Fewer attachments."""
        refuse_linked(obj)
        _refuse_shared(obj)
        entries, held = obj.taffeta_cloth.attachments, anchors.numbers(obj.data)
        if self.index >= len(entries):
            raise ValueError(f"{obj.name} has {len(entries)} attachments; there is no number {self.index}")
        chosen = held > 0 if self.index < 0 else held == entries[self.index].number
        if self.only_selected:
            chosen &= selected(obj.data)
        if not chosen.any() and not (self.index >= 0 or len(entries)):
            raise ValueError(f"{obj.name} is attached to nothing")
        anchors.let_go(obj.data, np.flatnonzero(chosen))
        return f"{_these(int(chosen.sum()), obj)} free again"


def _these(count: int, obj: bpy.types.Object) -> str:
    """So many vertices as a sentence begins with them."""
    return f"1 vertex of {obj.name} is" if count == 1 else f"{count} vertices of {obj.name} are"


register, unregister = bpy.utils.register_classes_factory((TAFFETA_OT_attach, TAFFETA_OT_detach))
