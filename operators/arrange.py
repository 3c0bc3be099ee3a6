# SPDX-License-Identifier: GPL-3.0-or-later
"""Arrange Around Body: a garment's panels, as an import left them, laid about the body that wears them."""

import bpy
import numpy as np
from bpy.props import CollectionProperty, EnumProperty, FloatProperty, StringProperty

from ..panels.translations import translated
from ..patterns import places
from .playback.cache_modifier import mesh_shown_sentence, show_bake
from .read import panels
from .read.mesh_io import metres_per_unit
from .read.participants import chosen_cloth, colliders_of, refuse_mode, world_box
from .read.screen import InObjectMode, refused
from .read.shape_key import refuse_shared

TURNS = (
    ("0", "As Cut", "The warp runs up"), ("90", "90°", "Turned to the left by a quarter"), ("180", "180°", "Upside down"),
    ("270", "270°", "Turned to the right by a quarter"),
)  # fmt: skip
ACROSS = "NECK", "WAIST"  # places whose panels lie across


def find_body(context, garment: bpy.types.Object, name: str) -> bpy.types.Object:
    """The body that wears a garment: the named object, else the other one that is selected, else the tallest collider.

    Raises
    ------
    ValueError
        There is none: a sentence with a remedy.
    """
    if name:
        body = context.scene.objects.get(name)
        if body is None or body.type != "MESH":
            raise ValueError(f"{name} is no mesh of scene {context.scene.name}; check the name")
        return body
    chosen = [
        o for o in context.view_layer.objects if o is not None and o != garment and o.select_get() and o.type == "MESH"
    ]
    chosen = [obj for obj in chosen if not obj.taffeta_cloth.enabled]
    if len(chosen) > 1:
        raise ValueError(
            f"{len(chosen)} meshes are selected beside {garment.name}; select the body alone, or give its name"
        )
    bodies = chosen or colliders_of(context.scene, [garment])
    if not bodies:
        raise ValueError(
            f"There is no body to arrange {garment.name} around; select it, too, or make it a Taffeta Collider"
        )
    return max(bodies, key=lambda obj: np.ptp(world_box([obj]), axis=0)[2])


def arrange(
    context, garment: bpy.types.Object, body: bpy.types.Object, own: list[panels.Panel], wished, gap: float
) -> str:
    """Lay the panels of a garment around a body; returns what was done.

    Parameters
    ----------
    own : the garment's panels
    wished : of each its place, an identifier in `patterns.places.PLACES`, and by how many quarters it is turned to the left
    gap : [m] off the body

    Raises
    ------
    ValueError
        The garment or the body cannot be, or there is no room: a sentence that names it.
    """
    from ..patterns import arrange as laying  # here, because scipy takes long to import
    from ..patterns import body_parts

    refuse_shared(garment)
    if garment.data.shape_keys is not None:
        raise ValueError(f"{garment.name} has shape keys, which would not come along; apply or delete them first")
    x, triangles = panels.surface(body, context.evaluated_depsgraph_get(), context.scene)
    if not np.isfinite(x).all():
        raise ValueError(f"{body.name} has vertices without a finite position; mend its mesh first")
    pieces = [
        laying.Piece(panel.name, _turned(panel.flat, place, quarters), panel.triangles, panel.rim)
        for panel, (place, quarters) in zip(own, wished, strict=True)
    ]
    try:
        middle = 0.5 * (x.min(axis=0) + x.max(axis=0)) if len(x) else np.zeros(3)  # single precision is fine about it
        parts = body_parts.read(x - middle, triangles)
        stood = laying.arrange(pieces, [place for place, _ in wished], parts, (x - middle, triangles), gap)
    except ValueError as error:
        raise ValueError(f"{garment.name} cannot be arranged around {body.name}: {error}") from None
    metres = metres_per_unit(context.scene)
    panels.stand(garment, metres, own, [None if place is None else place + middle for place in stood])
    stay = [panel.name for panel, place in zip(own, stood, strict=True) if place is None]
    told = f"{len(own) - len(stay)} of {len(own)} panels of {garment.name} stand around {body.name}"
    return told + (f"; {', '.join(stay)} stayed: choose a place in the operator's panel" if stay else "")


def _turned(flat: np.ndarray, place: str, quarters: int) -> np.ndarray:
    """(k, 2) a panel as it is to stand."""
    size = np.ptp(flat, axis=0)
    quarters += place in ACROSS and size[1] > size[0]
    cosine, sine = ((1, 0), (0, 1), (-1, 0), (0, -1))[quarters % 4]
    return flat @ np.array([[cosine, sine], [-sine, cosine]], float)


class TaffetaPanelPlace(bpy.types.PropertyGroup):
    """Where a panel is to stand; its name is the panel's."""

    place: EnumProperty(name="Place", items=places.PLACES, description="Where about the body it stands")
    turn: EnumProperty(name="Turn", items=TURNS, description="How it is turned in its plane, seen from outside")


class TAFFETA_OT_panels_arrange(InObjectMode, bpy.types.Operator):
    """Lay the panels of the selected garment around a body, off it and off each other, as large as they are cut: where their names
    say (front, back, sleeve), else by their size. The panel of the operator has the place of each, to be changed there"""

    bl_idname = "taffeta.panels_arrange"
    bl_label = "Arrange Around Body"
    bl_description = " ".join(__doc__.split())
    bl_options = {"REGISTER", "UNDO"}

    object: StringProperty(
        name="Garment", options={"SKIP_SAVE"}, description="Cloth with panels; empty takes the selected one"
    )
    body: StringProperty(
        name="Body", options={"SKIP_SAVE"},
        description="Mesh to arrange them around, upright, in this frame's pose; empty takes the other selected one, else the tallest collider",
    )  # fmt: skip
    gap: FloatProperty(
        name="Gap", default=0.03, min=0.002, max=1.0, soft_max=0.15, unit="LENGTH", precision=3,
        description="How far off the body panels stand, in metres",
    )  # fmt: skip
    places: CollectionProperty(
        name="Places", type=TaffetaPanelPlace, options={"SKIP_SAVE"},
        description="Place and turn of panels by their names; those that are not in it go where their names say",
    )  # fmt: skip

    def execute(self, context):
        try:
            garment = chosen_cloth(context, self.object)
            refuse_mode(garment)
            body = find_body(context, garment, self.body)
            metres = metres_per_unit(context.scene)
            own = panels.read(garment, metres)
            wished = self._wished(garment, own)
            told = arrange(context, garment, body, own, wished, self.gap * metres)
            if show_bake(garment, shown=False):
                told += f". {mesh_shown_sentence([garment])}"
        except ValueError as error:
            return refused(self, error)
        self.object, self.body = garment.name, body.name
        self.report({"INFO"}, translated(told))
        return {"FINISHED"}

    def _wished(self, garment, own):
        """Place and quarters of each panel, which the operator's panel shows from then on."""
        names = [panel.name for panel in own]
        if unknown := [item.name for item in self.places if item.name not in names]:
            raise ValueError(f"{garment.name} has no panel {unknown[0]}; its panels are {', '.join(names)}")
        for panel, place in zip(own, places.guess(names, [panel.area for panel in own], garment.name), strict=True):
            if panel.name not in self.places:
                item = self.places.add()
                item.name, item.place = panel.name, place
        return [(self.places[name].place, int(self.places[name].turn) // 90) for name in names]

    def draw(self, context):
        layout = self.layout
        layout.prop_search(self, "body", context.scene, "objects")
        layout.prop(self, "gap")
        for item in self.places:
            row = layout.row(align=True)
            row.label(text=item.name, translate=False)
            row.prop(item, "place", text="")
            row.prop(item, "turn", text="")


register, unregister = bpy.utils.register_classes_factory((TaffetaPanelPlace, TAFFETA_OT_panels_arrange))
