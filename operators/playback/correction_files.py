# SPDX-License-Identifier: GPL-3.0-or-later
"""The files of corrections of many frames (`read.offsets`): where they lie, which are gone, and played from another place.

They lie in `corrections` below the cache folder, and go along where a bake is copied to another one.
"""

import os
from pathlib import Path

import bpy
from bpy.app.handlers import persistent

from ...solver.cache import pc2
from ...solver.cache.wedge import shot_folder
from ..read import offsets
from ..read.correction import MUTED, UNFIT, VERTICES, corrections_of, follow_cache
from ..read.modifier_stack import find_cache
from .bake_files import stored_path
from .owners import cache_folder, is_temporary

FOLDER = "corrections"  # below the cache folder


def folder_beside(path: Path) -> Path:
    """Where corrections of a bake lie that is at `path`, or is a wedge's."""
    return shot_folder(path.parent) / FOLDER


def astray(scene: bpy.types.Scene, obj: bpy.types.Object, path: Path) -> list[Path]:
    """Files of a garment's corrections that lie neither beside its bake at `path` nor in the scene's cache folder, to be brought.

    A path of a strange .blend that leads to what is no correction of this garment is none of them.
    """
    homes = {folder_beside(path), shot_folder(cache_folder(scene)) / FOLDER}
    found = [offsets.file_of(tree) for tree in _own_trees(obj) if _is_readable(tree)]
    return [file for file in dict.fromkeys(found) if file.parent not in homes]


def are_temporary(obj: bpy.types.Object) -> bool:
    """Whether a garment of a saved file has a correction whose file lies in a temporary folder."""
    return any(is_temporary(offsets.file_of(tree).parent) for tree in _own_trees(obj) if _is_readable(tree))


def play_from(obj: bpy.types.Object, places: dict[Path, Path]) -> None:
    """Let the corrections of a garment read their files from other places, given by where they are read now."""
    for tree in _own_trees(obj):
        if (place := places.get(offsets.file_of(tree))) is not None:
            offsets.source_of(tree).modifiers[0].filepath = stored_path(place)


def lost(obj: bpy.types.Object) -> list[str]:
    """A sentence for each correction of a baked garment that is to show and whose file is gone."""
    return [
        f"{obj.name}: the file of its correction {modifier.name} is missing, {offsets.file_of(modifier.node_group)}: it is left out"
        for modifier in _wanted(obj)
        if _is_lost(modifier.node_group)
    ]


def unfitting(obj: bpy.types.Object) -> list[str]:
    """A sentence for each correction of a baked garment that is to show, and does not fit what the garment plays."""
    return [
        f"{obj.name}: its correction {modifier.name} was made of other frames or another mesh than it plays now: it is left out"
        for modifier in _wanted(obj)
        if modifier.node_group.get(UNFIT) and not _is_lost(modifier.node_group)
    ]


def _wanted(obj):
    """Corrections of a garment that are to show, where it plays a bake."""
    found = corrections_of(obj) if find_cache(obj) is not None else ()
    return [modifier for modifier in found if not modifier.node_group[MUTED]]


def _is_lost(tree) -> bool:
    path = offsets.file_of(tree) if offsets.is_many(tree) else None
    return path is not None and not os.path.isfile(path)


def look_again(obj: bpy.types.Object) -> None:
    """Leave out corrections whose files are gone since the garment was last looked at, and show those that are back."""
    if lost(obj) or any(modifier.node_group.get(UNFIT) for modifier in corrections_of(obj)):
        follow_cache(obj)


@persistent
def _look_at_files(*_):
    """After a file is opened: what is gone is said on the console, too; the panel and the preflight list say it."""
    for obj in bpy.data.objects:
        if obj.type == "MESH" and obj.taffeta_cloth.enabled:
            if obj.library is None:
                look_again(obj)
            for sentence in lost(obj):
                print(f"Taffeta: {sentence}")


def _own_trees(obj) -> list[bpy.types.NodeTree]:
    """The node groups of those corrections that a .blend may give another path: nothing of a library's is kept."""
    trees = [modifier.node_group for modifier in corrections_of(obj) if offsets.is_many(modifier.node_group)]
    sources = [(tree, offsets.source_of(tree)) for tree in trees]
    return [tree for tree, source in sources if source is not None and not source.library and offsets.file_of(tree)]


def _is_readable(tree) -> bool:
    path = offsets.file_of(tree)
    try:
        return not path.is_symlink() and pc2.read_header(path).vertex_count == tree[VERTICES]
    except (OSError, ValueError):
        return False


def register():
    """Look at the files of corrections when a .blend is opened."""
    bpy.app.handlers.load_post.append(_look_at_files)


def unregister():
    """Do that no more."""
    bpy.app.handlers.load_post.remove(_look_at_files)
