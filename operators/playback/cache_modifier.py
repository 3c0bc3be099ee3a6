# SPDX-License-Identifier: GPL-3.0-or-later
"""Playing a bake with Blender's own Mesh Cache modifier. Corrections (`read.correction`) stand behind it and follow it.

The modifier "Taffeta Cache" replaces the garment's shape by the frames of a PC2 file. It needs nothing of Taffeta, so
that the file plays anywhere. `read.modifier_stack` says where it belongs.
"""

from pathlib import Path

import bpy
from bpy.app.handlers import persistent

from ...solver.cache import about, pc2, trash
from ...solver.cache.files import in_words
from ..read.correction import follow_cache
from ..read.modifier_stack import (
    CACHE_NAME,
    cache_index,
    find_cache,
    index_of,
    is_inherited,
    is_well_placed,
    own_caches,
)  # fmt: skip
from ..read.participants import lost_mesh, refuse_linked
from .bake_files import stored_path
from .owners import cache_file, maker_of


def attach(obj: bpy.types.Object, pc2_path: str | Path, first_frame: int) -> bpy.types.MeshCacheModifier:
    """Play `pc2_path` on `obj`, its first sample at `first_frame`; calling it again changes nothing.

    A cache that stands in a workable place stays there, because the animator may have put it there.

    Raises
    ------
    ValueError
        The object is linked from another file, where a modifier would be lost on saving.
    """
    refuse_linked(obj)
    modifier = find_cache(obj)
    if modifier is None or is_inherited(obj, modifier):
        # Blender does not keep another path in a library's modifier, so an override gets a cache of its own.
        for library_cache in own_caches(obj):
            library_cache.show_viewport = library_cache.show_render = False
        modifier = obj.modifiers.new(CACHE_NAME, "MESH_CACHE")
        obj.modifiers.move(index_of(obj, modifier), _stack_index(obj))
    elif not is_well_placed(obj, modifier):
        obj.modifiers.move(index_of(obj, modifier), _stack_index(obj))
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
    follow_cache(obj)
    return modifier


def play_instead(obj: bpy.types.Object, pc2_path: str | Path, first_frame: int) -> None:
    """Play the same bake from another place; whether viewports show it stays as it is."""
    was_shown = shows_bake(obj)
    if was_shown is not None:
        attach(obj, pc2_path, first_frame)
        show_bake(obj, was_shown)
    obj.taffeta_cloth.cache_path = stored_path(pc2_path)


def detach(obj: bpy.types.Object) -> None:
    """Remove the cache modifier; files stay where they are. A library override plays the library's bake again."""
    for modifier in own_caches(obj):
        if is_inherited(obj, modifier):
            modifier.show_viewport = modifier.show_render = True
        else:
            obj.modifiers.remove(modifier)
    follow_cache(obj)


def forget_bake(obj: bpy.types.Object) -> None:
    """Play no bake any more, and know of none; files stay where they are."""
    detach(obj)
    cloth = obj.taffeta_cloth
    cloth.cache_path = cloth.stale = cloth.report_json = cloth.fingerprint = ""


def show_bake(obj: bpy.types.Object, shown: bool) -> bool:
    """Let viewports show the bake, or the mesh under it; renders, exports and files stay. Returns whether that was a change.

    Raises
    ------
    ValueError
        The object is linked from another file, where that would be lost on saving.
    """
    modifier = find_cache(obj)
    if modifier is None or modifier.show_viewport == shown:
        return False
    refuse_linked(obj)
    modifier.show_viewport = shown
    follow_cache(obj)
    return True


def shows_bake(obj: bpy.types.Object) -> bool | None:
    """Whether viewports show the garment's bake, and not its mesh; None where it plays none."""
    modifier = find_cache(obj)
    return None if modifier is None else modifier.show_viewport


def mesh_shown_sentence(objects: list[bpy.types.Object]) -> str:
    """What to tell after viewports were made to show the meshes of these garments instead of their bakes."""
    names = ", ".join(obj.name for obj in objects)
    return f"{names}: the viewport shows the mesh now; the bake is kept, Show the Bake plays it again"


def trouble(obj: bpy.types.Object) -> str:
    """One sentence when the cache of a baked cloth cannot be played as it should, else "". Reads 32 bytes."""
    modifier = find_cache(obj)
    if modifier is None:
        return ""
    if lost := lost_mesh(obj):
        return f"{lost}; its bake plays again when that is there"
    path = cache_file(obj)
    if path is None:
        return f"{obj.name}: its Taffeta Cache names no file"
    try:
        header = pc2.read_header(path)
    except FileNotFoundError:
        return _missing(obj, path)
    except (OSError, ValueError) as error:
        return f"{obj.name}: {in_words(error)}"
    if header.sample_count == 0:
        return f"{obj.name}: its cache {path} holds no frame yet; bake"
    if header.vertex_count != len(obj.data.vertices):
        return (
            f"{obj.name}: its cache has {header.vertex_count} vertices, its mesh {len(obj.data.vertices)}: "
            "the mesh was edited after the bake; bake again"
        )
    return ""


def _missing(obj, path: Path) -> str:
    """What to say of a bake that is not at its path: it may lie in the trash, which may be another file's."""
    freed = {other: about.read(other).fingerprint for other in trash.trashed(path.parent) if other.name == path.name}
    known = obj.taffeta_cloth.fingerprint
    of_it = [other for other, told in freed.items() if told == known or "" in (told, known)]
    if of_it and (maker := maker_of(of_it[-1], trash.home_of(of_it[-1]))):
        return f"{obj.name}: its bake {path.name} was freed in {maker}; open that and press Restore in its trash, or bake here"
    if of_it:
        return f"{obj.name}: its bake {path.name} was freed; press Restore in the trash (More > Bakes), or bake again"
    if freed:
        return (
            f"{obj.name}: its cache {path} is missing; bring it back, or bake again. What lies in the trash under its name is "
            "another bake"
        )
    return f"{obj.name}: its cache {path} is missing; bake again, or bring the folder back beside the file"


def played(obj: bpy.types.Object) -> Path | None:
    """The file that `obj` really plays now: its cache is switched on, and can be played."""
    modifier = find_cache(obj)
    is_on = modifier is not None and modifier.show_viewport and not trouble(obj)
    return cache_file(obj) if is_on else None


def plays_as_linked(obj: bpy.types.Object) -> bool:
    """Whether an object plays what it was baked to in the file that it is linked from, which a bake here leaves as it is."""
    return obj.library is not None and played(obj) is not None


def without_linked(cloths: list[bpy.types.Object]) -> list[bpy.types.Object]:
    """The cloths but those that play what they were baked to in another file; all where no others are."""
    return [obj for obj in cloths if not plays_as_linked(obj)] or cloths


def _stack_index(obj) -> int:
    """Where to move our last cache to: `cache_index`, counted with the caches of a library before it."""
    caches = own_caches(obj)[:-1]
    at = cache_index(obj)
    return at + sum(index_of(obj, cache) < at + 1 for cache in caches)


@persistent
def _look_at_caches(*_):
    """After a file is opened, put back caches that a changed library has displaced, and say on the console which cannot be
    played; the panel says it too.
    """
    for obj in bpy.data.objects:
        if obj.type == "MESH" and obj.taffeta_cloth.enabled:
            if _is_displaced(obj):
                obj.modifiers.move(index_of(obj, find_cache(obj)), _stack_index(obj))
                print(f"Taffeta: {obj.name}: its library changed; the Taffeta Cache is behind the rig again")
            if sentence := trouble(obj):
                print(f"Taffeta: {sentence}")


def _is_displaced(obj) -> bool:
    """Whether the cache of a library override stands before what moves the library's garment: Blender puts a shot's own modifier first
    where that behind which it was added is gone.
    """
    modifier = find_cache(obj)
    if modifier is None or obj.override_library is None or is_inherited(obj, modifier):
        return False
    return not is_well_placed(obj, modifier)


def register():
    """Look at caches when a file is opened."""
    bpy.app.handlers.load_post.append(_look_at_caches)


def unregister():
    """Do that no more."""
    bpy.app.handlers.load_post.remove(_look_at_caches)
