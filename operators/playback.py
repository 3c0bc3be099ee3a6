# SPDX-License-Identifier: GPL-3.0-or-later
"""Playing a bake with Blender's own Mesh Cache modifier.

The modifier "Taffeta Cache" replaces the garment's shape by the frames of a PC2 file. It needs nothing of
Taffeta, so that the file plays anywhere. It stands behind the modifiers that move the garment before it is
simulated (Armature, Lattice, ...) and before those that refine the result (Subdivision, Solidify, ...):

    Armature  Hook  [Taffeta Cache]  Subdivision  Solidify  Corrective Smooth
    └─ the garment's own pose        └─ works on the simulated cloth

While a bake reads the garment's own pose, `muted` switches off the cache and everything behind it.
"""

import os
import re
from contextlib import contextmanager
from pathlib import Path

import bpy
from bpy.app.handlers import persistent

from ..solver.cache import pc2
from ..solver.cache.frames import owner_of

NAME = "Taffeta Cache"

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


def place(obj: bpy.types.Object) -> int:
    """Index in `obj.modifiers`, our own left out, where the cache belongs.

    Behind the last modifier that moves the garment, but before the first that rebuilds it. Geometry Nodes may do
    either: a rig behind them shows that they belong to the garment, otherwise they work on the simulated cloth.
    """
    found, after_nodes = 0, False
    for index, modifier in enumerate(_others(obj)):
        if modifier.type in REBUILDERS:
            break
        after_nodes |= modifier.type == "NODES"
        if modifier.type in RIGS or (modifier.type in SHAPERS and not after_nodes):
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


def find(obj: bpy.types.Object) -> bpy.types.MeshCacheModifier | None:
    """The "Taffeta Cache" that `obj` plays, if there is one.

    A library override that was baked has two: the library's, switched off, and its own behind it.
    """
    caches = _caches(obj)
    return caches[-1] if caches else None


def attach(obj: bpy.types.Object, pc2_path: str | Path, first_frame: int) -> bpy.types.MeshCacheModifier:
    """Play `pc2_path` on `obj`, its first sample at `first_frame`; calling it again changes nothing.

    A cache that stands in a workable place stays there, because the animator may have put it there.

    Raises
    ------
    ValueError
        The object is linked from another file, where a modifier would be lost on saving.
    """
    refuse_linked(obj)
    modifier = find(obj)
    if modifier is None or is_inherited(obj, modifier):
        # Blender does not keep another path in a library's modifier, so an override gets a cache of its own.
        for library_cache in _caches(obj):
            library_cache.show_viewport = library_cache.show_render = False
        modifier = obj.modifiers.new(NAME, "MESH_CACHE")
        obj.modifiers.move(_index(obj, modifier), _stack_index(obj))
    elif not _well_placed(obj, modifier):
        obj.modifiers.move(_index(obj, modifier), _stack_index(obj))
    settings = {
        "cache_format": "PC2",
        "filepath": stored_path(pc2_path),
        "frame_start": float(first_frame),
        "frame_scale": 1.0,
        "interpolation": "LINEAR",
        "play_mode": "SCENE",
        "time_mode": "FRAME",
        "deform_mode": "OVERWRITE",
        "factor": 1.0,
        "show_viewport": True,
        "show_render": True,
    }
    for name, value in settings.items():
        if getattr(modifier, name) != value:
            setattr(modifier, name, value)
    return modifier


def detach(obj: bpy.types.Object) -> None:
    """Remove the cache modifier; files stay where they are. A library override plays the library's bake again."""
    for modifier in _caches(obj):
        if is_inherited(obj, modifier):
            modifier.show_viewport = modifier.show_render = True
        else:
            obj.modifiers.remove(modifier)


def refuse_linked(obj: bpy.types.Object) -> None:
    """Raise ValueError, with what to do instead, for an object that is linked from another file."""
    if obj.library is not None:
        raise ValueError(
            f"{obj.name} is linked from {obj.library.filepath}; make a library override of it "
            "(Object > Library Override > Make) and work on that"
        )


@contextmanager
def muted(objects):
    """Show the garments' own pose: their cache, and all behind it, is switched off meanwhile.

    Objects and modifiers are looked up again at the end, so that an undo in between does no harm.
    """
    before = []
    for obj in objects:
        caches = _caches(obj)
        first = _index(obj, caches[0]) if caches else place(obj)
        for later in list(obj.modifiers)[first:]:
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


def stored_path(path: str | Path) -> str:
    """The path as a .blend should keep it: relative to it where that is possible, else absolute."""
    path = bpy.path.abspath(str(path))
    if bpy.data.filepath:
        try:
            return bpy.path.relpath(path)
        except ValueError:  # another drive on Windows
            pass
    return path


def cache_file(obj: bpy.types.Object) -> Path | None:
    """Absolute path of the PC2 that `obj` plays, or of the one its settings name; None when it was never baked."""
    modifier = find(obj)
    path = modifier.filepath if modifier is not None else ""
    path = path or obj.taffeta_cloth.cache_path
    return Path(os.path.normpath(bpy.path.abspath(path, library=obj.library))) if path else None


def shared_with(obj: bpy.types.Object) -> list[str]:
    """Names of other objects that play the same file, as a copy of a baked garment does until it is baked itself."""
    path = cache_file(obj)
    others = (other for other in bpy.data.objects if other.type == "MESH" and other != obj)
    return sorted(other.name for other in others if path is not None and cache_file(other) == path)


def is_foreign(path: Path) -> bool:
    """Whether the bake at `path` belongs to another .blend, which is still there: shots of one folder share names."""
    owner = owner_of(path)
    other = path.parent / owner
    if not owner or not other.is_file():
        return False
    return not (bpy.data.filepath and os.path.exists(bpy.data.filepath) and other.samefile(bpy.data.filepath))


def trouble(obj: bpy.types.Object) -> str:
    """One sentence when the cache of a baked cloth cannot be played as it should, else "". Reads 32 bytes."""
    modifier = find(obj)
    if modifier is None:
        return ""
    path = cache_file(obj)
    if path is None:
        return f"{obj.name}: its Taffeta Cache names no file"
    try:
        header = pc2.read_header(path)
    except FileNotFoundError:
        return f"{obj.name}: its cache {path} is missing; bake again, or bring the folder back beside the file"
    except (OSError, ValueError) as error:
        return f"{obj.name}: {error}"
    if header.sample_count == 0:
        return f"{obj.name}: its cache {path} holds no frame yet; bake"
    if header.vertex_count != len(obj.data.vertices):
        return (
            f"{obj.name}: its cache has {header.vertex_count} vertices, its mesh {len(obj.data.vertices)}: "
            "the mesh was edited after the bake; bake again"
        )
    return ""


def cloths(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """The meshes of a scene whose Taffeta Cloth is on, sorted by name."""
    found = [obj for obj in scene.objects if obj.type == "MESH" and obj.taffeta_cloth.enabled]
    return sorted(found, key=lambda obj: obj.name)


def _caches(obj) -> list[bpy.types.MeshCacheModifier]:
    """Our own modifiers, in stack order; Blender numbers equal names (Taffeta Cache.001)."""
    return [m for m in obj.modifiers if m.type == "MESH_CACHE" and re.fullmatch(NAME + r"(\.\d+)?", m.name)]


def is_inherited(obj, modifier) -> bool:
    """The modifier belongs to the library that `obj` overrides."""
    return obj.override_library is not None and modifier.is_override_data


def _others(obj):
    """The modifiers of an object without our own."""
    own = _caches(obj)
    return [modifier for modifier in obj.modifiers if modifier not in own]


def _index(obj, modifier) -> int:
    return list(obj.modifiers).index(modifier)


def _stack_index(obj) -> int:
    """Where to move our last cache to: `place`, counted with the caches of a library before it."""
    caches = _caches(obj)[:-1]
    at = place(obj)
    return at + sum(_index(obj, cache) < at + 1 for cache in caches)


def _well_placed(obj, modifier) -> bool:
    """No rebuilding modifier before the cache, no rig behind it."""
    index = _index(obj, modifier)
    before, behind = obj.modifiers[:index], obj.modifiers[index + 1 :]
    # A rig that no place could serve (behind a rebuilding modifier) is preflight's to tell.
    beyond = {rig for _, rig in rebuilders_before_rig(obj)}
    return not any(other.type in REBUILDERS for other in before) and not any(
        other.type in RIGS and other.name not in beyond for other in behind
    )


def chosen_cloths(context, name: str = "", everything: bool = False) -> list[bpy.types.Object]:
    """The cloths that an operator is to work on: the named one, all, or the selected ones.

    Raises
    ------
    ValueError
        There is none, or `name` is no cloth.
    """
    found = cloths(context.scene)
    if name:
        found = [obj for obj in found if obj.name == name]
        if not found:
            raise ValueError(f"{name} is not a Taffeta Cloth of scene {context.scene.name}; check the name")
    elif not everything:
        selected = [obj for obj in found if obj.select_get()]
        active = [obj for obj in found if obj == context.view_layer.objects.active]
        found = selected or active
        if not found:
            raise ValueError("No Taffeta Cloth is selected; select one in the viewport")
    if not found:
        raise ValueError(f"Scene {context.scene.name} has no Taffeta Cloth; add one in the Physics tab")
    return found


@persistent
def _tell_broken_caches(*_):
    """After a file is opened, say on the console which caches cannot be played; the panel says it too."""
    for obj in bpy.data.objects:
        if obj.type == "MESH" and obj.taffeta_cloth.enabled and (sentence := trouble(obj)):
            print(f"Taffeta: {sentence}")


def register():
    """Look at caches when a file is opened."""
    bpy.app.handlers.load_post.append(_tell_broken_caches)


def unregister():
    """Do that no more."""
    bpy.app.handlers.load_post.remove(_tell_broken_caches)
