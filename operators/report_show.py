# SPDX-License-Identifier: GPL-3.0-or-later
"""Show in Frame: from a line of the report to where it happened: the frame, the garment, its vertices selected."""

import bpy
import numpy as np

from ..panels.report import frame_of, pinched_vertices, read_report
from ..panels.translations import translated
from .checks import crossings
from .overlay.colours import lengths
from .preflight import select_vertices
from .read import zips
from .read.arrays import corner_edge, edges, triangulated
from .read.maps import read_map
from .read.mesh_io import metres_per_unit, rest_positions, world_matrix
from .read.modifier_stack import find_cache
from .read.participants import cloths_of, colliders_of
from .read.screen import refused, view3d
from .read.shown import shown_positions

WORST_PART = 0.5  # edges stretched by this part of the longest, or more, are shown with it
SUBJECTS = {
    # name, label, tooltip, figure of the report that says in which frame
    "STRETCH": ("Stretch", "Edges that are stretched most", "worst_stretch_frame"),
    "CROSSINGS": ("Crossings", "Vertices of cloth that passes through something", "frame_end"),
    "MOST_CROSSINGS": (
        "Crossings",
        "Vertices of cloth that passed through something for a while",
        "most_crossings_frame",
    ),
    "SEAMS": ("Seams", "Ends of the sewing edges that are open farthest", "frame_end"),
    "PINCHED": ("Pinches", "Vertices that bodies pinched between them", "pinched_frame"),
}


def _world(obj, depsgraph, metres):
    """Vertices (n, 3) [m] as the viewport shows them."""
    matrix = world_matrix(obj, metres)
    return shown_positions(obj, depsgraph).astype(float) @ matrix[:3, :3].T + matrix[:3, 3]


def stretched(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph, scene: bpy.types.Scene):
    """The greatest strain of a garment's edges as it is shown, and the vertices (k,) where it is half of that or more."""
    metres, mesh = metres_per_unit(scene), obj.data
    ends = edges(mesh)[np.unique(corner_edge(mesh))]  # threads that sew are no cloth
    shrink = read_map(obj, obj.taffeta_cloth.shrink, mesh)
    rest = lengths(rest_positions(obj, obj, metres), ends) * (1.0 - shrink[ends].mean(axis=1))
    ends, rest = ends[rest > 0.0], rest[rest > 0.0]
    if not len(ends):
        return 0.0, np.empty(0, int)
    strain = lengths(_world(obj, depsgraph, metres), ends) / rest - 1.0
    worst = float(strain.max())
    return worst, np.unique(ends[strain >= WORST_PART * worst]) if worst > 0.0 else np.empty(0, int)


def _stretch(context, garments, _report):
    depsgraph = context.evaluated_depsgraph_get()
    found = [(*stretched(obj, depsgraph, context.scene), obj) for obj in garments]
    _, vertices, obj = max(found, key=lambda item: item[0])
    return {obj.name: vertices}


def _crossings(context, garments, _report):
    depsgraph, cloths = context.evaluated_depsgraph_get(), cloths_of(context.scene)
    metres = metres_per_unit(context.scene)
    origin = np.array(garments[0].matrix_world.translation)
    colliding = [obj for obj in colliders_of(context.scene, cloths) if obj.taffeta_collider.collides]
    bodies = [crossings.surface(obj, depsgraph, origin) for obj in colliding]
    shown = []
    for obj in garments:
        triangles, _ = triangulated(obj.data)
        x = _world(obj, depsgraph, metres) / metres - origin
        shown.append(crossings.surface_of(obj, obj.data, x, triangles))
    found = {}
    for one in crossings.find_crossings(shown, bodies):
        for name, vertices in ((one.garment, one.vertices), (one.other, one.other_vertices)):
            found[name] = np.union1d(found.get(name, vertices), vertices)
    return {obj.name: found.get(obj.name, ()) for obj in garments}


def _seams(context, garments, _report):
    """Ends of seams that are open by half as far as the widest, or more."""
    depsgraph, metres, found = context.evaluated_depsgraph_get(), metres_per_unit(context.scene), {}
    for obj in garments:
        ends = zips.sewn_now(obj) if obj.taffeta_cloth.sewing else np.empty((0, 2), int)
        found[obj.name] = ends, lengths(_world(obj, depsgraph, metres), ends)
    widest = max((gaps.max(initial=0.0) for _, gaps in found.values()), default=0.0)
    return {name: np.unique(ends[(gaps > 0.0) & (gaps >= WORST_PART * widest)]) for name, (ends, gaps) in found.items()}


def _pinched(_context, garments, report):
    return {obj.name: pinched_vertices(report, obj.name, len(obj.data.vertices)) for obj in garments}


VERTICES = {
    "STRETCH": _stretch,
    "CROSSINGS": _crossings,
    "MOST_CROSSINGS": _crossings,
    "PINCHED": _pinched,
    "SEAMS": _seams,
}


def _garments(context, name, report) -> list[bpy.types.Object]:
    """The garments of a report that are still there, the one whose panel it is first."""
    names = report.get("garments")
    names = {name, *(names if isinstance(names, list) else ())}
    found = [obj for obj in cloths_of(context.scene) if obj.name in names and obj.data.polygons]
    return sorted(found, key=lambda obj: (obj.name != name, obj.name))


class TAFFETA_OT_report_show(bpy.types.Operator):
    """Go to the frame that this line is about, and select the vertices where it happened"""

    bl_idname = "taffeta.report_show"
    bl_label = "Show in Frame"
    bl_options = {"REGISTER", "UNDO", "INTERNAL"}

    subject: bpy.props.EnumProperty(
        name="Subject", items=tuple((name, label, tip) for name, (label, tip, _) in SUBJECTS.items())
    )
    object: bpy.props.StringProperty(
        name="Object", description="Garment whose report it is; empty takes the active one"
    )

    def execute(self, context):
        name = self.object or getattr(context.view_layer.objects.active, "name", "")
        label, _, figure = SUBJECTS[self.subject]
        try:
            obj = next((obj for obj in cloths_of(context.scene) if obj.name == name), None)
            if obj is None:
                raise ValueError(f"{name or 'No object'} is not a Taffeta Cloth of scene {context.scene.name}")
            report = read_report(obj.taffeta_cloth.report_json)
            frame = frame_of(report, figure)
            if frame is None:
                raise ValueError(f"{name}: its report says nothing of {label.lower()}; bake again")
            if context.mode != "OBJECT":
                bpy.ops.object.mode_set(mode="OBJECT")
            context.scene.frame_set(frame)
            found = VERTICES[self.subject](context, _garments(context, name, report), report)
        except ValueError as error:
            return refused(self, error)
        most = max(found, key=lambda other: len(found[other]))  # of equals the first: the panel's own
        if not len(found[most]):
            self.report(
                {"WARNING"},
                translated(f"{name}: no vertices to show in frame {frame}; the bake or the mesh was changed since"),
            )
            return {"FINISHED"}
        self._show(context, context.scene.objects[most], np.asarray(found[most]))
        others = ", ".join(other for other in found if other != most and len(found[other]))
        also = f"; also in {others}" if others else ""
        self.report(
            {"INFO"}, translated(f"{label}: {len(found[most])} vertices of {most} selected in frame {frame}{also}")
        )
        return {"FINISHED"}

    def _show(self, context, obj, vertices):
        """Select vertices where the bake has them, and bring them into view."""
        if (cache := find_cache(obj)) is not None and obj.library is None:
            cache.show_in_editmode = cache.show_on_cage = True  # else Edit Mode shows the mesh at rest
        select_vertices(context, obj, vertices)
        if (shown := view3d(context)) is not None:
            with context.temp_override(area=shown[0], region=shown[1]):
                bpy.ops.view3d.view_selected()


register, unregister = bpy.utils.register_classes_factory((TAFFETA_OT_report_show,))
