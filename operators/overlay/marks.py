# SPDX-License-Identifier: GPL-3.0-or-later
"""What the viewport marks on cloth and bodies: pins, seams, pleats, elastic, shells, contacts and pinches.

As pictures, marks are made when Blender has evaluated something that they depend on, never while it draws, and hold
arrays and no Blender data.
"""

from typing import NamedTuple

import bpy
import numpy as np
from bpy.app.handlers import persistent

from ...panels.report import pinched_vertices, read_report
from ...panels.units import length_text
from ..read import groups, maps, zips
from ..read.arrays import positions, seam_edges, triangulated
from ..read.bands import read_bands
from ..read.listen import listen, listen_no_more
from ..read.mesh_io import metres_per_unit
from ..read.participants import colliders_of, visible_cloths
from ..read.pleats import read_pleats
from ..read.screen import redraw
from ..read.shown import shown_positions
from . import colours, shapes, touching
from .pictures import sources, update_allowed

POINTS, LINES, SHELL = "POINTS", "LINES", "SHELL"
KINDS = "pins", "seams", "pleats", "elastic", "thickness", "aura", "contacts"  # switches of `panels.show`
# RGBA, sRGB; told apart by brightness too
PINNED, PULLED, SEAM, GAPING = (0.25, 0.95, 0.35, 1), (0.15, 0.55, 0.25, 1), (0.95, 0.95, 0.95, 1), (1.0, 0.5, 0.0, 1)
CLOTH_SHELL, BODY_SHELL = (0.2, 0.75, 0.9, 0.3), (0.85, 0.65, 1.0, 0.25)
GATHERED, FLAT = (1.0, 0.6, 0.2, 1.0), (1.0, 0.95, 0.8, 1.0)
MOUNTAIN, VALLEY = (1.0, 0.45, 0.85, 1.0), (0.5, 0.1, 0.55, 1.0)
TOUCHING, LAYERED, PINCHED = (0.3, 0.9, 1.0, 1.0), (1.0, 0.95, 0.45, 1.0), (1.0, 0.1, 0.1, 1.0)
FLAT_PART = 0.97  # of its length in the mesh, from which on an elastic edge is drawn flat


class Mark(NamedTuple):
    """One thing that is drawn: points, pieces of lines, or a translucent surface."""

    kind: str  # POINTS, LINES or SHELL
    origin: tuple[float, float, float]  # [Blender units] that x counts from: float32 is coarse far from the world's
    x: np.ndarray  # (n, 3) float32 [Blender units], along the world's axes; of lines two a piece
    colour: tuple[float, float, float, float]
    size: float = 1.0  # [pixels] of a point or a line
    triangles: np.ndarray | None = None  # (t, 3) int32 of a shell


class Marks(NamedTuple):
    """All of them, and what is said of them below the pictures' legend: pairs (colour, text)."""

    marks: tuple[Mark, ...]
    words: tuple[tuple[tuple, str], ...]


class Shown(NamedTuple):
    """An object as the viewport shows it."""

    obj: bpy.types.Object
    x: np.ndarray  # (n, 3) [Blender units] from the origin
    origin: np.ndarray  # (3,)
    triangles: np.ndarray


_drawn = Marks((), ())
_asked: tuple = ()  # the switches for which it was made
_looked_at: set[int] = set()  # session uids of the objects of which it was made


def find_marks(scene, view_layer, depsgraph, kinds) -> Marks:
    """Marks of every visible cloth of a view layer, and of the bodies that it meets; `kinds` of `KINDS`."""
    metres, found, words, cloths, bodies = metres_per_unit(scene), [], [], [], []
    for obj in visible_cloths(view_layer):
        try:
            cloths.append(_shown(obj, shown_positions(obj, depsgraph), triangulated(obj.data)[0]))
        except ValueError as error:
            words.append((SEAM, str(error)))
    if {"aura", "contacts"} & set(kinds):
        try:
            colliders = colliders_of(scene, [cloth.obj for cloth in cloths])
            bodies = [_body(obj, depsgraph) for obj in colliders if obj.visible_get()]
        except ValueError as error:
            words.append((SEAM, str(error)))
    for kind in kinds:
        try:
            marks, said = MAKERS[kind](cloths, bodies, metres)
        except ValueError as error:  # a map that is not there
            marks, said = [], [(SEAM, str(error))]
        found += marks
        words += said
    return Marks(tuple(found), tuple(words))


def _shown(obj, x, triangles) -> Shown:
    matrix = np.array(obj.matrix_world)
    return Shown(obj, x @ matrix[:3, :3].T, matrix[:3, 3], triangles)


def _body(obj, depsgraph) -> Shown:
    evaluated = obj.evaluated_get(depsgraph)
    return _shown(evaluated, positions(evaluated.data), triangulated(evaluated.data)[0])._replace(obj=obj)


def _mark(kind, shown, x, colour, **more) -> Mark:
    return Mark(kind, tuple(shown.origin), np.ascontiguousarray(x, np.float32), colour, **more)


def _values(cloth, name) -> np.ndarray:
    return maps.read_map(cloth.obj, getattr(cloth.obj.taffeta_cloth, name), cloth.obj.data)


def _pins(cloths, _bodies, _metres):
    """Points that follow their animation, wholly or in part."""
    found, count, pulled = [], 0, 0
    for cloth in cloths:
        pin = _values(cloth, "pin")
        for chosen, colour, size in ((pin >= 1.0, PINNED, 7.0), ((pin > 0.0) & (pin < 1.0), PULLED, 4.0)):
            if chosen.any():
                found.append(_mark(POINTS, cloth, cloth.x[chosen], colour, size=size))
        count, pulled = count + int((pin >= 1.0).sum()), pulled + int(((pin > 0.0) & (pin < 1.0)).sum())
    return found, [(PINNED, f"Pins: {count:,} points held" + (f", {pulled:,} pulled" if pulled else ""))]


def _seams(cloths, _bodies, metres):
    """Threads that sew, those apart by more than the cloth is thick in another colour; edges marked as seams."""
    found, widest, count = [], 0.0, 0
    for cloth in cloths:
        marked = seam_edges(cloth.obj.data)
        if len(marked):
            found.append(_mark(LINES, cloth, cloth.x[marked].reshape(-1, 3), SEAM, size=1.5))
        threads = zips.sewn_now(cloth.obj)
        if not len(threads):
            continue
        gap = colours.lengths(cloth.x, threads) * metres
        wide = gap > _values(cloth, "thickness")[threads].max(axis=1) * 1.5
        widest, count = max(widest, float(gap.max())), count + len(threads)
        for chosen, colour in ((~wide, SEAM), (wide, GAPING)):
            if chosen.any():
                found.append(_mark(LINES, cloth, cloth.x[threads[chosen]].reshape(-1, 3), colour, size=2.5))
    if not count:
        return found, [(SEAM, "Seams: no threads that sew")]
    return found, [(GAPING, f"Seams: {count:,} threads, the widest gap is {length_text(widest)}")]


def _pleats(cloths, _bodies, _metres):
    """Edges that are folded at rest, by the side on which they stand out."""
    found, count = [], [0, 0]
    for cloth in cloths:
        told = read_pleats(cloth.obj.name, cloth.obj.data)
        if told is None:
            continue
        for which, (chosen, colour) in enumerate(((told.angle > 0.0, MOUNTAIN), (told.angle <= 0.0, VALLEY))):
            if chosen.any():
                found.append(_mark(LINES, cloth, cloth.x[told.edges[chosen]].reshape(-1, 3), colour, size=3.0))
            count[which] += int(chosen.sum())
    names = (MOUNTAIN, f"Pleats: {count[0]:,} edges out"), (VALLEY, f"Pleats: {count[1]:,} edges in")
    return found, list(names) if any(count) else [(MOUNTAIN, "Pleats: none are marked")]


def _elastic(cloths, _bodies, metres):
    """Edges onto which elastic is sewn, by whether they are shorter than in the mesh."""
    found, now, full = [], 0.0, 0.0
    for cloth in cloths:
        told = read_bands(cloth.obj.name, cloth.obj.data)
        if told is None:
            continue
        length, flat = (colours.lengths(x, told.edges) for x in (cloth.x, _rest(cloth)))
        is_flat = length > FLAT_PART * flat
        for chosen, colour in ((~is_flat, GATHERED), (is_flat, FLAT)):
            if chosen.any():
                found.append(_mark(LINES, cloth, cloth.x[told.edges[chosen]].reshape(-1, 3), colour, size=3.5))
        now, full = now + float(length.sum()) * metres, full + float(flat.sum()) * metres
    if not found:
        return found, [(FLAT, "Elastic: none is marked")]
    return found, [(GATHERED, f"Elastic: {length_text(now)} of {length_text(full)} of cloth")]


def _thickness(cloths, _bodies, metres):
    """Shells half of the thickness away, on both sides."""
    found, low, high = [], np.inf, 0.0
    for cloth in cloths:
        thickness = _values(cloth, "thickness")
        low, high = min(low, float(thickness.min())), max(high, float(thickness.max()))
        for side in (0.5, -0.5):
            x = shapes.shell(cloth.x, cloth.triangles, side * thickness / metres)
            found.append(_mark(SHELL, cloth, x, CLOTH_SHELL, triangles=cloth.triangles))
    same = high - low <= 1e-6 * high
    between = f"{1000 * high:.2g} mm" if same else f"{1000 * low:.2g} mm to {1000 * high:.2g} mm"
    return found, [(CLOTH_SHELL, f"Thickness: {between}")] if cloths else []


def _aura(_cloths, bodies, metres):
    """Shells that cloth is kept out of."""
    found = []
    for body in bodies:
        x = shapes.shell(body.x, body.triangles, body.obj.taffeta_collider.aura / metres)
        found.append(_mark(SHELL, body, x, BODY_SHELL, triangles=body.triangles))
    auras = sorted({body.obj.taffeta_collider.aura for body in bodies})
    between = " to ".join(length_text(aura) for aura in dict.fromkeys((auras[0], auras[-1]))) if auras else "no body"
    return found, [(BODY_SHELL, f"Aura: {between}")]


def _contacts(cloths, bodies, metres):
    """Points within the contact distance of a body or of cloth, and those that the report of the bake lists as pinched."""
    found, count, on_cloth, total = [], 0, 0, 0
    halves = [0.5 * _values(cloth, "thickness") / metres for cloth in cloths]
    for cloth, half in zip(cloths, halves, strict=True):
        near = np.zeros(len(cloth.x), bool)
        for body in (body for body in bodies if groups.meet(cloth.obj, body.obj)):
            reach = half + body.obj.taffeta_collider.aura / metres
            near |= touching.of_body(cloth.x + (cloth.origin - body.origin), body.x, body.triangles, reach)
        layered = np.zeros(len(cloth.x), bool)
        for other, other_half in zip(cloths, halves, strict=True):
            if groups.meet(cloth.obj, other.obj):
                x, rest = cloth.x + (cloth.origin - other.origin), _rest(cloth) if other is cloth else None
                layered |= touching.of_cloth(x, half, other.x, other.triangles, other_half, rest)
        for chosen, colour in ((layered & ~near, LAYERED), (near, TOUCHING)):
            if chosen.any():
                found.append(_mark(POINTS, cloth, cloth.x[chosen], colour, size=3.5))
        report = read_report(cloth.obj.taffeta_cloth.report_json)
        listed = pinched_vertices(report, cloth.obj.name, len(cloth.x))
        if listed:
            found.append(_mark(POINTS, cloth, cloth.x[listed], PINCHED, size=7.0))
        count, on_cloth, total = count + int(near.sum()), on_cloth + int(layered.sum()), total + len(listed)
    words = [(TOUCHING, f"Contacts: {count:,} points touch a body")]
    if on_cloth:
        words.append((LAYERED, f"Contacts: {on_cloth:,} points touch cloth"))
    return found, [*words, (PINCHED, f"Pinches: {total:,} points in this bake")] if total else words


def _rest(cloth: Shown) -> np.ndarray:
    """The garment's own points at rest, (n, 3) [Blender units], along the world's axes."""
    return positions(cloth.obj.data) @ np.array(cloth.obj.matrix_world)[:3, :3].T


MAKERS = {
    "pins": _pins,
    "seams": _seams,
    "pleats": _pleats,
    "elastic": _elastic,
    "thickness": _thickness,
    "aura": _aura,
    "contacts": _contacts,
}


def wanted() -> tuple[str, ...]:
    """The switches that are on."""
    show = getattr(bpy.context.window_manager, "taffeta_show", None)
    return tuple(kind for kind in KINDS if show is not None and getattr(show, kind))


def drawn() -> Marks:
    """What the viewports show now; for drawing, tests and scripts."""
    return _drawn


def refresh(context) -> None:
    """Make the marks anew from the scene as it is, and have the viewports drawn."""
    global _drawn, _asked, _looked_at
    _asked, _looked_at = wanted(), {obj.session_uid for obj in _taking_part(context.view_layer)}
    nothing = not _asked
    _drawn = Marks((), ()) if nothing else find_marks(
        context.scene, context.view_layer, context.evaluated_depsgraph_get(), _asked
    )  # fmt: skip
    redraw(context, "VIEW_3D")


@persistent
def _on_update(scene, depsgraph):
    """A cloth or a body changed, or a switch."""
    if not update_allowed():
        return
    kinds = wanted()
    if kinds == _asked and not kinds:
        return
    changed = {update.id.original.session_uid for update in depsgraph.updates}
    taking_part = _taking_part(bpy.context.view_layer)
    others = {obj.session_uid for obj in taking_part} != _looked_at  # one is hidden, deleted, or no cloth any more
    if others or kinds != _asked or any(changed & sources(obj) for obj in taking_part):
        refresh(bpy.context)


def _taking_part(view_layer) -> list[bpy.types.Object]:
    """Cloths and bodies that a view layer shows."""
    meshes = [obj for obj in view_layer.objects if obj is not None and obj.type == "MESH"]
    bodies = [obj for obj in meshes if obj.taffeta_collider.enabled and obj.taffeta_collider.collides]
    bodies = [obj for obj in bodies if obj.visible_get()]
    return [*visible_cloths(view_layer), *bodies]


@persistent
def _on_frame(*_):
    """All moved."""
    if update_allowed() and wanted():
        refresh(bpy.context)


@persistent
def _on_load(*_):
    """Another file, in which all switches are off."""
    global _drawn, _asked
    _drawn, _asked = Marks((), ()), ()


HANDLERS = (("depsgraph_update_post", _on_update), ("frame_change_post", _on_frame), ("load_post", _on_load))


def register():
    """Look again when something changes."""
    listen(HANDLERS)


def unregister():
    """Do that no more, and forget the marks."""
    listen_no_more(HANDLERS)
    _on_load()
