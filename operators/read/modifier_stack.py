# SPDX-License-Identifier: GPL-3.0-or-later
"""The modifiers of a garment: which move it before it is simulated, and which work on the simulated cloth.

The "Taffeta Cache" stands behind the modifiers that move the garment before it is simulated (Armature, Lattice, ...)
and before those that refine the result (Subdivision, Solidify, ...):

    Armature  Hook  [Taffeta Cache]  Subdivision  Solidify  Corrective Smooth
    └─ the garment's own pose        └─ works on the simulated cloth

While a bake reads the garment's own pose, `muted` switches off the cache and everything behind it. A simulation that
follows the timeline is played by a modifier of its own, "Taffeta Live", right before the cache.
"""

import re
from contextlib import contextmanager

import bpy

from .map_makers import makes_a_map

CACHE_NAME = "Taffeta Cache"
LIVE_NAME = "Taffeta Live"

# Modifiers that carry the garment along with a rig or another object: they belong before the simulation.
RIGS = frozenset(
    "ARMATURE CURVE HOOK LATTICE MESH_DEFORM SURFACE_DEFORM LAPLACIANDEFORM SHRINKWRAP MESH_CACHE MESH_SEQUENCE_CACHE"
    " CLOTH SOFT_BODY".split()
)
# Modifiers that move vertices by a rule of their own.
SHAPERS = frozenset("CAST DISPLACE SIMPLE_DEFORM SMOOTH CORRECTIVE_SMOOTH LAPLACIANSMOOTH WARP WAVE".split())
# Modifiers that may change the number or order of vertices; the cache has to come before them.
REBUILDERS = frozenset(
    "ARRAY BEVEL BOOLEAN BUILD DECIMATE EDGE_SPLIT MASK MIRROR MULTIRES REMESH SCREW SKIN SOLIDIFY SUBSURF TRIANGULATE"
    " VOLUME_TO_MESH MESH_TO_VOLUME WELD WIREFRAME EXPLODE OCEAN PARTICLE_INSTANCE".split()
)
# Of these, the ones that make a part of the garment and do not just refine it: past a rig they would make another pose.
MAKERS = frozenset("ARRAY MIRROR SCREW SKIN".split())


def cache_index(obj: bpy.types.Object) -> int:
    """Index in `obj.modifiers`, our own left out, where the cache belongs.

    Behind the last modifier that moves the garment, but before the first that rebuilds it. Geometry Nodes may do
    either: a rig behind them shows that they belong to the garment, and so does a map that they make; otherwise they work
    on the simulated cloth.
    """
    found, after_nodes = 0, False
    for index, modifier in enumerate(_others(obj)):
        if modifier.type in REBUILDERS:
            break
        after_nodes |= modifier.type == "NODES"
        is_shaper = modifier.type in SHAPERS and not after_nodes
        if modifier.type in RIGS or is_shaper or makes_a_map(obj, modifier):
            found = index + 1
    return found


def rebuilders_before_rig(obj: bpy.types.Object) -> list[tuple[str, str]]:
    """Pairs (rebuilding modifier, rig behind it) that leave no right place for the cache; empty when all is well."""
    rebuilder, pairs = None, []
    for modifier in _others(obj):
        if not (modifier.show_viewport or modifier.show_render):
            continue
        if modifier.type in REBUILDERS and rebuilder is None:
            rebuilder = modifier.name
        elif modifier.type in RIGS and rebuilder is not None:
            pairs.append((rebuilder, modifier.name))
    return pairs


def rigs(obj: bpy.types.Object) -> list[bpy.types.Modifier]:
    """The modifiers that carry an object along with another one, and are on; our own cache is none."""
    return [modifier for modifier in _others(obj) if modifier.type in RIGS and modifier.show_viewport]


def makers(obj: bpy.types.Object) -> list[bpy.types.Modifier]:
    """The modifiers that make a part of an object, as Mirror does, and are on."""
    return [modifier for modifier in obj.modifiers if modifier.type in MAKERS and modifier.show_viewport]


def refining_before(obj: bpy.types.Object, maker: bpy.types.Modifier) -> str:
    """Name of the first modifier that is on before a maker, and none of those nor our own; "" without one."""
    own, before = own_modifiers(obj), list(obj.modifiers)[: index_of(obj, maker)]
    names = [m.name for m in before if m.show_viewport and m.type not in MAKERS and m not in own]
    return names[0] if names else ""


def liftable(obj: bpy.types.Object) -> list[str]:
    """Names of the modifiers that rebuild a mesh before its last rig or its cache, and may be moved below.

    A maker may not be moved past what deforms the mesh: what it makes would be another.
    """
    stack, own = list(obj.modifiers), own_modifiers(obj)
    last, names = _last_rig(obj), []
    for index, modifier in enumerate(stack[: last + 1]):
        deformed = any(other.type in RIGS | SHAPERS and other not in own for other in stack[index : last + 1])
        if modifier.type in REBUILDERS and not (modifier.type in MAKERS and deformed):
            names.append(modifier.name)
    return names


def lift_rebuilders(obj: bpy.types.Object) -> list[str]:
    """Move the modifiers that may be below the last rig and the cache, in their order; returns their names."""
    last, names = _last_rig(obj), liftable(obj)
    for name in names:
        obj.modifiers.move(index_of(obj, obj.modifiers[name]), last)
    return names


def _last_rig(obj) -> int:
    """Index of the last modifier that carries an object along, our own cache among them; -1 without one."""
    return max((index for index, modifier in enumerate(obj.modifiers) if modifier.type in RIGS), default=-1)


def find_cache(obj: bpy.types.Object) -> bpy.types.MeshCacheModifier | None:
    """The "Taffeta Cache" that `obj` plays, if there is one.

    A library override that was baked has two: the library's, switched off, and its own behind it.
    """
    caches = own_caches(obj)
    return caches[-1] if caches else None


@contextmanager
def muted(objects):
    """Show the garments' own pose: their cache, and all behind it, is switched off meanwhile.

    Objects and modifiers are looked up again at the end, so that an undo in between does no harm.
    """
    before = []
    for obj in objects:
        for later in simulated(obj):
            before.append((obj.session_uid, later.name, later.show_viewport))
            if later.show_viewport:
                later.show_viewport = False
    try:
        yield
    finally:
        by_uid = {obj.session_uid: obj for obj in bpy.data.objects}
        for uid, name, shown in before:
            modifier = by_uid[uid].modifiers.get(name) if uid in by_uid else None
            if modifier is not None and modifier.show_viewport != shown:
                modifier.show_viewport = shown


def simulated(obj: bpy.types.Object) -> list[bpy.types.Modifier]:
    """What does not belong to the garment's own pose: our own modifiers, and all that work on the simulated cloth. A rig that
    was added behind the cache does: the bake moves the cache past it.
    """
    ours, stack = own_modifiers(obj), list(obj.modifiers)
    if ours and all(is_well_placed(obj, modifier) for modifier in ours):
        return stack[min(index_of(obj, modifier) for modifier in ours) :]
    later = _others(obj)[cache_index(obj) :]
    return [modifier for modifier in stack if modifier in ours or modifier in later]


def is_well_placed(obj: bpy.types.Object, modifier: bpy.types.Modifier) -> bool:
    """Whether no rebuilding modifier stands before our own one, and no rig behind it."""
    index = index_of(obj, modifier)
    before, behind = obj.modifiers[:index], obj.modifiers[index + 1 :]
    own = own_modifiers(obj)
    # A rig that no place could serve (behind a rebuilding modifier) is preflight's to tell.
    beyond = {rig for _, rig in rebuilders_before_rig(obj)}
    return not any(other.type in REBUILDERS for other in before) and not any(
        other.type in RIGS and other.name not in beyond and other not in own for other in behind
    )


def before_simulation(obj: bpy.types.Object) -> list[bpy.types.Modifier]:
    """The modifiers of a mesh that work before it is simulated; of one that is no cloth, all but our own. Other objects have none."""
    if obj.type != "MESH":
        return []
    later = simulated(obj) if obj.taffeta_cloth.enabled else own_modifiers(obj)
    return [modifier for modifier in obj.modifiers if modifier not in later]


def own_modifiers(obj: bpy.types.Object) -> list[bpy.types.MeshCacheModifier]:
    """Our own modifiers: those that play a bake, and the one that plays a live simulation."""
    live = find_live(obj)
    return own_caches(obj) + ([live] if live is not None else [])


def find_live(obj: bpy.types.Object) -> bpy.types.MeshCacheModifier | None:
    """The modifier that plays a live simulation on `obj`, if there is one."""
    modifier = obj.modifiers.get(LIVE_NAME)
    return modifier if modifier is not None and modifier.type == "MESH_CACHE" else None


def own_caches(obj) -> list[bpy.types.MeshCacheModifier]:
    """The modifiers that play a bake, in stack order; Blender numbers equal names (Taffeta Cache.001)."""
    return [m for m in obj.modifiers if m.type == "MESH_CACHE" and re.fullmatch(CACHE_NAME + r"(\.\d+)?", m.name)]


def is_inherited(obj, modifier) -> bool:
    """The modifier belongs to the library that `obj` overrides."""
    return obj.override_library is not None and modifier.is_override_data


def _others(obj):
    """The modifiers of an object without our own."""
    own = own_modifiers(obj)
    return [modifier for modifier in obj.modifiers if modifier not in own]


def index_of(obj, modifier) -> int:
    """Where a modifier stands in the stack of `obj`."""
    return list(obj.modifiers).index(modifier)
