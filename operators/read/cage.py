# SPDX-License-Identifier: GPL-3.0-or-later
"""Cages: a coarser mesh that is simulated instead of a garment, which follows it by Blender's own Surface Deform modifier.

    garment   Armature (muted)  [Taffeta Cage: Surface Deform]  Subdivision  Solidify
    cage      Armature  [Taffeta Cache]

The cage is a child of the garment, so both have one place in the world whatever moves that. They are bound at rest, where both
lie on each other, shape keys aside; from there the cage has the keys, the rig and the simulation. The garment's mesh is not
touched.
"""

from collections.abc import Generator, Sequence
from contextlib import contextmanager

import bpy
import numpy as np

from ...panels.units import length_text
from . import carry_marks, remesh
from .carry import carry, copy_modifiers, refusal
from .correction import corrections_of
from .mesh_io import metres_per_unit, world_matrix, world_to_object
from .modifier_stack import index_of, own_modifiers, simulated
from .sheet import Sheet, sheet_of

MODIFIER_NAME = "Taffeta Cage"
MOST_VERTICES = 200_000  # of a cage
LEAST_FACES = 8
HARDLY = 0.75  # of the garment's vertices from which on a cage is hardly quicker to simulate
LEAST_VERTICES = 20  # that a cage may be asked to have
BELOW = 0.97  # of the garment's vertices that its cage has at most, so that it keeps below them where it comes near


def meshing(obj: bpy.types.Object, sheet: Sheet, count: int, length: float) -> Generator[float, None, remesh.Meshed]:
    """The mesh of a cage on a garment's sheet, placed as `sheet.x`: about `count` vertices, or edges of `length` [m] where that is not
    0, and no more vertices than the garment. In parts: after each it yields the share of all that is done.

    Raises
    ------
    ValueError
        No cage can be made of the garment: a sentence with a remedy.
    """
    most = len(obj.data.vertices)
    target = 0 if length else min(count, int(BELOW * len(np.unique(sheet.triangles))))
    length = length or remesh.length_for(sheet.triangles, sheet.x, target)
    if remesh.length_for(sheet.triangles, sheet.x, MOST_VERTICES) > length:
        raise ValueError(
            f"{obj.name} would get a cage of more than {MOST_VERTICES:,} vertices with edges of {length_text(length)}; "
            "make Edge Length longer"
        )
    made = yield from remesh.remeshing(sheet.x, sheet.triangles, sheet.lines, np.full(len(sheet.x), length), target)
    if len(made.faces) < LEAST_FACES:
        raise ValueError(
            f"{obj.name} would get a cage of {len(made.faces)} faces with edges of {length_text(length)}; make them shorter"
        )
    if len(made.x) > most:
        raise ValueError(
            f"{obj.name} is coarse enough already: it has {most:,} vertices, and the cage would have {len(made.x):,}; simulate it "
            "itself, or make Edge Length longer"
        )
    return made


def surface_of(obj: bpy.types.Object, scene: bpy.types.Scene) -> Sheet:
    """The sheet that a cage of a garment lies on; ValueError, with a sentence, where it can have none."""
    world_to_object(obj.name, obj, 1.0, scene.frame_current)  # refuses what is flat
    if MODIFIER_NAME not in obj.modifiers:
        _rig(obj)
    return sheet_of(obj, scene)


def add(obj: bpy.types.Object, scene: bpy.types.Scene, sheet: Sheet, made: remesh.Meshed) -> bpy.types.Object:
    """A cage of a mesh placed as `sheet.x`, in a garment's collections, with its rig; ValueError, with a sentence, where it cannot
    have what the garment has, and nothing is left of it."""
    rig = _rig(obj)
    cage = bare(obj, scene, sheet, made)
    try:
        carry(obj, cage, sheet, made)
        carry_marks.carry(obj, cage, sheet, made)
        copy_modifiers(rig, cage)
    except ValueError:
        discard(cage)
        raise
    return cage


def _rig(obj) -> list[bpy.types.Modifier]:
    """The modifiers that carry a garment, which its cage has to have; ValueError where it cannot."""
    kept = _kept(obj)
    ours = [*own_modifiers(obj), *corrections_of(obj)]
    rig = [modifier for modifier in obj.modifiers if modifier not in kept and modifier not in ours]
    rig = [modifier for modifier in rig if modifier.show_viewport or modifier.show_render]
    for modifier in rig:
        if why := refusal(modifier):
            raise ValueError(
                f"{obj.name} cannot hand its modifiers on to a cage: {why}; apply {modifier.name}, or turn it off"
            )
    return rig


def _kept(obj) -> list[bpy.types.Modifier]:
    """The modifiers that work on the simulated cloth, and go on doing so."""
    ours = [*own_modifiers(obj), *corrections_of(obj)]
    return [modifier for modifier in simulated(obj) if modifier not in ours]


def bare(obj: bpy.types.Object, scene: bpy.types.Scene, sheet: Sheet, made: remesh.Meshed) -> bpy.types.Object:
    """The same without anything that the garment has."""
    matrix = world_matrix(obj, metres_per_unit(scene))
    local = np.linalg.solve(matrix[:3, :3], (made.x + sheet.origin - matrix[:3, 3]).T).T
    mesh = bpy.data.meshes.new(f"{obj.data.name} Cage")
    mesh.from_pydata(local.tolist(), [], made.faces.tolist())
    mesh.update()
    cage = bpy.data.objects.new(f"{obj.name} Cage", mesh)
    for collection in obj.users_collection:
        collection.objects.link(cage)
    cage.parent = obj
    cage.display_type, cage.hide_render = "WIRE", True
    return cage


def bind(obj: bpy.types.Object, cage: bpy.types.Object) -> None:
    """Let a garment follow its cage: what carried it is switched off, and noted with it.

    Raises
    ------
    ValueError
        Blender cannot bind the garment: a sentence, and it is as it was.
    """
    behind = _kept(obj)
    muted = [modifier for modifier in obj.modifiers if modifier not in behind]
    noted = [(modifier.name, modifier.show_viewport, modifier.show_render) for modifier in muted]
    at = index_of(obj, behind[0]) if behind else len(obj.modifiers)
    modifier = obj.modifiers.new(MODIFIER_NAME, "SURFACE_DEFORM")
    modifier.target = cage
    obj.modifiers.move(index_of(obj, modifier), at)
    try:
        _bind(obj, cage, modifier)
    except ValueError:
        obj.modifiers.remove(modifier)
        raise
    for name, _, _ in noted:
        obj.modifiers[name].show_viewport = obj.modifiers[name].show_render = False
    obj.taffeta_cage.cage = cage
    obj.taffeta_cage.muted = "\n".join(f"{viewport:d}{render:d} {name}" for name, viewport, render in noted)


def bind_to(obj: bpy.types.Object, cage: bpy.types.Object, mesh: bpy.types.Mesh) -> None:
    """Let a cage have another mesh, and bind its garment to that; ValueError, with a sentence, where Blender cannot."""
    modifier = obj.modifiers[MODIFIER_NAME]
    if modifier.is_bound:
        with bpy.context.temp_override(object=obj, active_object=obj):
            bpy.ops.object.surfacedeform_bind(modifier=modifier.name)  # which lets go of what is bound
    cage.data = mesh
    _bind(obj, cage, modifier)


def _bind(obj, cage, modifier):
    with at_rest((obj, cage), modifier), bpy.context.temp_override(object=obj, active_object=obj):
        bpy.ops.object.surfacedeform_bind(modifier=modifier.name)
        is_bound = modifier.is_bound
    if not is_bound:
        if fewer := count_to_ask(obj, cage):
            raise ValueError(
                f"{obj.name} cannot be bound to its cage, which has {len(cage.data.vertices):,} vertices and is hardly coarser than "
                f"its own {len(obj.data.vertices):,}; choose {fewer:,} Vertices or fewer"
            )
        raise ValueError(
            f"{obj.name} cannot be bound to its cage; choose fewer Vertices, or clean up the mesh where it folds"
        )
    obj.taffeta_cage.bound = counts(obj, cage)


def counts(obj: bpy.types.Object, cage: bpy.types.Object) -> tuple[int, int]:
    """Vertices of a garment and of its cage. Where one of them is another one than when they were bound, Blender does not follow."""
    return len(obj.data.vertices), len(cage.data.vertices)


def count_to_ask(obj: bpy.types.Object, cage: bpy.types.Object) -> int:
    """How many vertices to ask for where a cage is hardly coarser than its garment; 0 where it is coarser, or cannot be."""
    own, half = len(obj.data.vertices), len(obj.data.vertices) // 2
    return half if len(cage.data.vertices) > HARDLY * own and half >= LEAST_VERTICES else 0


@contextmanager
def at_rest(objects: Sequence[bpy.types.Object], kept: bpy.types.Modifier | None, key: int = 0):
    """Objects without modifiers but one that is kept and shown, and of shape keys with this one alone, by number."""
    shown = [(m, m.show_viewport) for obj in objects for m in obj.modifiers]
    keyed = [(obj, obj.show_only_shape_key, obj.active_shape_key_index) for obj in objects if obj.data.shape_keys]
    try:
        for modifier, _ in shown:
            modifier.show_viewport = modifier == kept
        for obj, _, _ in keyed:
            obj.show_only_shape_key, obj.active_shape_key_index = True, key
        bpy.context.view_layer.update()
        yield
    finally:
        for modifier, was in shown:
            modifier.show_viewport = was
        for obj, alone, index in keyed:
            obj.show_only_shape_key, obj.active_shape_key_index = alone, index
        bpy.context.view_layer.update()


def let_go(obj: bpy.types.Object) -> None:
    """Let a garment follow its cage no more: its own modifiers are shown as they were."""
    modifier, noted = obj.modifiers.get(MODIFIER_NAME), obj.taffeta_cage
    if modifier is not None and modifier.type == "SURFACE_DEFORM":
        obj.modifiers.remove(modifier)
    for line in noted.muted.splitlines():
        shown, _, name = line.partition(" ")
        if name in obj.modifiers:
            obj.modifiers[name].show_viewport, obj.modifiers[name].show_render = shown[:1] == "1", shown[1:] == "1"
    noted.cage, noted.muted, noted.thickness, noted.bound = None, "", 0.0, (0, 0)


def discard(cage: bpy.types.Object) -> None:
    """Delete a cage and the meshes that it has had."""
    meshes = [cage.data, *(entry.mesh for entry in cage.taffeta_cage.kept if entry.mesh is not None)]
    bpy.data.objects.remove(cage)
    for mesh in meshes:
        if not mesh.users:
            bpy.data.meshes.remove(mesh)
