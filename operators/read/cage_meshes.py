# SPDX-License-Identifier: GPL-3.0-or-later
"""The meshes that a cage has had: one is simulated, the others are kept, so that bakes of them can be played again.

The object stays, with its settings, modifiers, keys and what hangs on it; its mesh is another one, and the garment is bound to
that. `Object.taffeta_cage.kept` holds the others.
"""

import bpy

from . import cage as cages
from . import carry_marks, tear_lines
from .anchors import holding
from .carry import carry
from .modifier_stack import own_caches
from .remesh import Meshed
from .sheet import Sheet, sheet_of
from .trims import trims_of


def refuse(obj: bpy.types.Object) -> None:
    """Raise ValueError where what a cage has would be lost with its mesh."""
    followers = sorted(other.name for other in bpy.data.objects if other.taffeta_cage.cage == obj)
    if len(followers) > 1:
        raise ValueError(f"{' and '.join(followers)} follow {obj.name}; press Remove Cage on all but one of them first")
    if holding(obj):
        raise ValueError(f"{obj.name} is attached to a body or tacked; Detach it, and attach it again afterwards")
    for other in bpy.data.objects:
        if other != obj and any(entry.body == obj for entry in holding(other)):
            raise ValueError(f"{other.name} is tacked to {obj.name}; Detach it, and tack it again afterwards")
    if trims := trims_of(obj):
        raise ValueError(f"{trims[0].name} follows vertices of {obj.name}; take it off, and add it again afterwards")
    if len(tear_lines.marked(obj.data)[0]):
        raise ValueError(f"{obj.name} has tear lines along its edges; clear them, and mark them afterwards")


def make(
    scene: bpy.types.Scene,
    obj: bpy.types.Object,
    cage: bpy.types.Object,
    sheet: Sheet,
    made: Meshed,
) -> bpy.types.Mesh:
    """Another mesh for the cage of a garment, with all that the cage has: its groups, keys, UV maps, attributes, materials,
    and with the garment's pleats and elastic.

    sheet, made : as `cage.add` takes them

    Raises
    ------
    ValueError
        A map cannot be read: a sentence, and nothing is left of it.
    """
    before = sheet_of(cage, scene)
    bearer = cages.bare(obj, scene, sheet, made)
    try:
        carry(cage, bearer, before, made._replace(x=made.x + sheet.origin - before.origin), leader=obj)
        carry_marks.carry(obj, bearer, sheet, made)
    except ValueError:
        cages.discard(bearer)
        raise
    mesh = bearer.data
    for material in cage.data.materials:
        mesh.materials.append(material)
    bpy.data.objects.remove(bearer)
    return mesh


def exchange(obj: bpy.types.Object, cage: bpy.types.Object, mesh: bpy.types.Mesh) -> None:
    """Let a cage have another mesh, and keep the one that it has; the garment is bound to it. What the cage plays is of the mesh
    before, and not shown any more.

    Raises
    ------
    ValueError, RuntimeError
        Blender cannot bind the garment: a sentence, and all is as it was.
    """
    before, active = cage.data, (cage.active_shape_key_index, cage.vertex_groups.active_index)
    caches = [(cache, cache.show_viewport, cache.show_render) for cache in own_caches(cage)]
    for cache, _, _ in caches:
        cache.show_viewport = cache.show_render = False
    try:
        cages.bind_to(obj, cage, mesh)
    except (ValueError, RuntimeError):
        cages.bind_to(obj, cage, before)
        for cache, *shown in caches:
            cache.show_viewport, cache.show_render = shown
        raise
    cage.active_shape_key_index = min(active[0], len(mesh.shape_keys.key_blocks) - 1 if mesh.shape_keys else 0)
    if cage.vertex_groups:
        cage.vertex_groups.active_index = min(active[1], len(cage.vertex_groups) - 1)
    kept = cage.taffeta_cage.kept
    for index in [k for k, entry in enumerate(kept) if entry.mesh in (None, mesh)][::-1]:
        kept.remove(index)
    kept.add().mesh = before
