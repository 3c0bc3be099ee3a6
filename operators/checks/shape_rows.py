# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of the preflight list about shapes: coordinates, areas, and modifiers that change a mesh on the way."""

from collections.abc import Iterator

from ...panels.units import length_text
from ..read import measures, modifier_stack
from ..read.arrays import corner_count, positions
from ..read.fabrics import least_thickness
from ..read.keyed import keyed, moves
from ..read.mesh_io import FARTHEST_COORDINATE, metres_per_unit
from .problem import Problem, Shot

DOUBLED_REACH = 1e-4  # [m] up to which two vertices of open edges were meant to be one
SHORT_EDGE = 0.02  # of the usual edge, below which one is no part of a pattern but was left by cutting or smoothing
FINE_EDGES = 30  # that are shorter than cloth is thick, from which on they are a part of it
FLAT_TRIANGLE = 0.01  # of its shortest side, below which a triangle's height means that a corner lies on a side

MOST_CORNERS = 4  # of a face that Blender cuts into triangles alike however it bends, but for the other diagonal

# Modifiers that make other vertices where they are set otherwise, as by keys
COUNTERS = {"ARRAY", "BEVEL", "DECIMATE", "MASK", "MULTIRES", "REMESH", "SCREW", "SUBSURF", "WELD", "WIREFRAME"}

# Modifiers whose new vertices depend on the shape that they are given, and so may differ from frame to frame: when.
SHAPE_DEPENDENT = {
    "BEVEL": lambda modifier: modifier.limit_method == "ANGLE",
    "DECIMATE": lambda modifier: modifier.decimate_type != "UNSUBDIV",
    "EDGE_SPLIT": lambda modifier: modifier.use_edge_angle,
    "REMESH": lambda modifier: True,
    "TRIANGULATE": lambda modifier: not modifier.quad_method.startswith("FIXED"),
    "WELD": lambda modifier: True,
}


def _coordinates(shot: Shot) -> Iterator[Problem]:
    """Vertices that are nowhere. A garment counts as its mesh is, a body as it is posed now."""
    for obj in (*shot.cloths, *shot.colliders):
        if obj.mode == "EDIT":  # Blender evaluates no mesh that is being edited
            continue
        is_cloth = obj in shot.cloths
        x = positions(obj.data if is_cloth else obj.evaluated_get(shot.depsgraph).data)
        if (
            not len(x) or x.min() > -FARTHEST_COORDINATE and x.max() < FARTHEST_COORDINATE
        ):  # False with a NaN among them
            continue
        lost = [index for index, point in enumerate(x.tolist()) if not all(abs(c) < FARTHEST_COORDINATE for c in point)]
        where = "" if is_cloth else f" at frame {shot.scene.frame_current}"
        sentence = f"{obj.name}: vertex {lost[0]} has no finite position{where}"
        if len(lost) > 1:
            sentence = f"{obj.name}: vertex {lost[0]} and {len(lost) - 1:,} more have no finite position{where}"
        remedy = "Move or delete what is there" if is_cloth else "Delete what is there, or the modifier that moves it"
        yield Problem("ERROR", obj.name, sentence, remedy, alone=True)


def _areas(shot: Shot) -> Iterator[Problem]:
    """Garments that are nothing but lines."""
    for obj in shot.cloths:
        if obj.data.polygons and not measures.has_area(obj.data):
            yield Problem(
                "ERROR",
                obj.name,
                f"{obj.name} has no area: each of its {len(obj.data.polygons)} faces is a line or a point",
                "Pull its vertices apart, or apply the shape key or modifier that does",
                alone=True,
            )


def _doubled(shot: Shot) -> Iterator[Problem]:
    """Garments that fall apart along seams because their vertices are doubled there."""
    for obj in shot.cloths:
        if obj.taffeta_cloth.weld > 0.0 or not obj.data.polygons:
            continue
        count = measures.doubled_vertices(obj, metres_per_unit(shot.scene), DOUBLED_REACH)
        if count:
            doubled = "1 doubled vertex" if count == 1 else f"{count:,} doubled vertices"
            yield Problem(
                "WARNING",
                obj.name,
                f"{obj.name} has {doubled} along open edges, and would come apart there",
                "Weld for Simulation bakes them as one and leaves the mesh alone; or merge them by distance in Edit Mode",
                ("taffeta.fix_weld",),
                heavy=True,
            )


def _short(shot: Shot) -> Iterator[Problem]:
    """Garments with edges that are next to nothing beside the others."""
    for obj in shot.cloths:
        count, shortest = measures.short_edges(obj, metres_per_unit(shot.scene), SHORT_EDGE)
        if count and measures.has_area(obj.data):
            few = "1 edge that is" if count == 1 else f"{count:,} edges that are"
            yield Problem(
                "WARNING",
                obj.name,
                f"{obj.name} has {few} less than a fiftieth as long as the usual one, the shortest {length_text(shortest)}: "
                "cloth folds and stretches badly there, and takes longer",
                "Merge its vertices by distance in Edit Mode (M), or smooth the mesh there",
            )


def _thick(shot: Shot) -> Iterator[Problem]:
    """Garments with places so fine that cloth there is thicker than its edges are long, as ears and fingers of a copied body are."""
    for obj in shot.cloths:
        thick = least_thickness(obj)
        count, shortest = measures.edges_below(obj, metres_per_unit(shot.scene), thick)
        if count >= FINE_EDGES:
            yield Problem(
                "WARNING",
                obj.name,
                f"{obj.name} is {1000.0 * thick:.2g} mm thick, and {count:,} of its edges are shorter, down to {1000.0 * shortest:.2g} mm: "
                "cloth there cannot keep off itself, and takes long",
                "Merge vertices by distance there in Edit Mode (M), or delete what is covered; or paint Thickness lower there",
            )


def _flat(shot: Shot) -> Iterator[Problem]:
    """Garments with triangles that are lines: a corner lies on the side of the triangle beside it, and neither may pass the other."""
    for obj in shot.cloths:
        count = measures.flat_triangles(obj, metres_per_unit(shot.scene), FLAT_TRIANGLE)
        if count and measures.has_area(obj.data):
            flat = "1 triangle" if count == 1 else f"{count:,} triangles"
            yield Problem(
                "WARNING",
                obj.name,
                f"{obj.name} has {flat} with a corner all but on the side opposite: cloth crumples there, and takes longer",
                "Select all in Edit Mode, then Mesh > Clean Up > Degenerate Dissolve; or move the corner that lies on a side",
            )


def _many_corners(shot: Shot) -> Iterator[Problem]:
    """Garments with faces that Blender shows by other triangles in each frame than those that are simulated."""
    for obj in shot.cloths:
        many = int((corner_count(obj.data) > MOST_CORNERS).sum())
        if many:
            faces = "1 face" if many == 1 else f"{many:,} faces"
            yield Problem(
                "INFO",
                obj.name,
                f"{obj.name} has {faces} with more than four corners: Blender cuts them into other triangles as they bend, and what it "
                "shows may pass through where the bake does not",
                "Triangulate them in Edit Mode for the final bake: Face > Triangulate Faces",
            )


def _rebuilt_bodies(shot: Shot) -> Iterator[Problem]:
    """Bodies whose number of vertices may change while the shot runs: the bake would stop there."""
    for obj in shot.colliders:
        posed = obj.data.shape_keys is not None
        for modifier in obj.modifiers:
            if not modifier.show_viewport:
                continue
            posed |= modifier.type in modifier_stack.RIGS | modifier_stack.SHAPERS
            if _may_rebuild(obj, modifier, posed):
                yield Problem(
                    "WARNING",
                    obj.name,
                    f"{obj.name}: {modifier.name} may change its vertices during the shot, and the bake would stop there",
                    f"Apply {modifier.name}, turn it off, or let a simpler copy without it be the collider",
                )


def _may_rebuild(obj, modifier, posed: bool) -> bool:
    """Whether a modifier may make other vertices in another frame; `posed`: what it is given changes its shape."""
    if modifier.type == "BOOLEAN":
        tool = modifier.object
        return tool is not None and (posed or moves(tool) or moves(obj))
    return (
        modifier.type in {"BUILD", "EXPLODE"}
        or modifier.type in COUNTERS
        and any(path.startswith(f'modifiers["{modifier.name}"].') for path in keyed(obj))
        or posed
        and modifier.type in SHAPE_DEPENDENT
        and SHAPE_DEPENDENT[modifier.type](modifier)
    )


def _before_the_cache(obj) -> Iterator[Problem]:
    """Modifiers that stand between the mesh and the cache that was baked of it."""
    cache = modifier_stack.find_cache(obj)
    for modifier in list(obj.modifiers) if cache is not None and cache.show_viewport else ():
        if modifier == cache:
            return
        if modifier.name in modifier_stack.liftable(obj) and modifier.show_viewport:
            yield Problem(
                "WARNING",
                obj.name,
                f"{obj.name}: {modifier.name} changes its vertices before {cache.name}, so the bake cannot be played",
                f"Drag {modifier.name} below {cache.name}, where it works on the simulated cloth",
                ("taffeta.fix_modifiers",),
                heavy=True,
            )


def _modifiers(shot: Shot) -> Iterator[Problem]:
    """Modifiers that leave the cache no place, that differ between viewport and render, or that also simulate."""
    for obj in shot.cloths:
        for rebuilder, rig in modifier_stack.rebuilders_before_rig(obj):
            if obj.modifiers[rebuilder] in modifier_stack.makers(obj):  # `maker_rows` tells
                continue
            yield Problem(
                "ERROR",
                obj.name,
                f"{obj.name}: {rebuilder} changes its vertices before {rig} moves them",
                f"Apply {rebuilder}, or move it below {rig}",
                ("taffeta.fix_modifiers",),
            )
        if not modifier_stack.rebuilders_before_rig(obj):
            yield from _before_the_cache(obj)
        for modifier in obj.modifiers:
            if modifier.type in {"CLOTH", "SOFT_BODY"} and modifier.show_viewport:
                yield Problem(
                    "WARNING",
                    obj.name,
                    f"{obj.name} is simulated by Blender's {modifier.name} as well",
                    f"Remove {modifier.name}",
                )
        yield from _differences(shot.scene, obj, list(obj.modifiers)[: modifier_stack.cache_index(obj)])
    for obj in shot.colliders:
        yield from _differences(shot.scene, obj, obj.modifiers)


def _differences(scene, obj, modifiers) -> Iterator[Problem]:
    """Modifiers that look otherwise in a render than in the viewport, which is what a bake sees."""
    for modifier in modifiers:
        if modifier.name == modifier_stack.CACHE_NAME:
            continue
        if modifier.show_viewport != modifier.show_render:
            where = "viewport" if modifier.show_viewport else "render"
            yield Problem(
                "WARNING",
                obj.name,
                f"{obj.name}: {modifier.name} is on in the {where} only; the bake sees the viewport",
                "Make its monitor and camera icons agree",
            )
        elif modifier.type in {"SUBSURF", "MULTIRES"} and (levels := _levels(scene, modifier))[0] != levels[1]:
            shown, rendered = "1 level" if levels[0] == 1 else f"{levels[0]} levels", levels[1]
            sentence = (
                f"{obj.name}: {modifier.name} has {shown} in the viewport, {rendered} in the render; "
                "the bake sees the viewport"
            )
            remedy = "Make the levels agree if skin shines through in the render"
            if levels != (modifier.levels, modifier.render_levels):
                sentence = (
                    f"{obj.name}: Simplify leaves {modifier.name} {shown} in the viewport, {rendered} in the render; "
                    "the bake sees the viewport"
                )
                remedy = (
                    "Switch Simplify off in the Render tab, or let its Max Subdivision agree for viewport and render"
                )
            yield Problem("WARNING", obj.name, sentence, remedy)


def _levels(scene, modifier) -> tuple[int, int]:
    """How often a modifier subdivides in the viewport and in a render, of which Simplify may leave less."""
    shown, rendered, render = modifier.levels, modifier.render_levels, scene.render
    if not render.use_simplify:
        return shown, rendered
    return min(shown, render.simplify_subdivision), min(rendered, render.simplify_subdivision_render)


SHAPE_CHECKS = (_coordinates, _areas, _doubled, _short, _thick, _flat, _many_corners, _modifiers, _rebuilt_bodies)
