# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the bakes of a scene lie: their folder, the file of each garment, whose it is, and those set aside.

Nothing is ever deleted unasked, so bakes that were set aside when something else was baked in their place pile up: the
panel says how many there are and what room they take.
"""

import json
import os
import tempfile
from pathlib import Path

import bpy

from ...solver.cache.frames import is_ours, owner_of
from ...solver.cache.names import cache_paths, older_bakes, parts, safe_name
from ..read.modifier_stack import find_cache, own_caches
from ..read.participants import cloths_of

LONGEST_PATH = 1023  # bytes of a path that Blender keeps
SHOWN_LETTERS = 60  # of a path that is too long for a sentence
LONGEST_OWNER = 800  # bytes of a path in a journal's header


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
    modifier = find_cache(obj)
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
    if not owner or not os.path.isfile(other):  # not Path.is_file, which raises at a name that is too long
        return False
    return not (bpy.data.filepath and os.path.exists(bpy.data.filepath) and other.samefile(bpy.data.filepath))


def wanted_folder(scene: bpy.types.Scene) -> str:
    """The setting as it is meant: none is the one of a new scene, and no place depends on where Blender was started."""
    folder = scene.taffeta.cache_folder.strip() or scene.taffeta.bl_rna.properties["cache_folder"].default
    return folder if folder.startswith("//") or os.path.isabs(folder) else f"//{folder}"


def cache_folder(scene: bpy.types.Scene) -> Path:
    """Where bakes of this scene go; a temporary folder of this session while the file has no place of its own.

    Not Blender's own temporary folder, which goes when Blender is closed: the file may be saved after the bake.
    """
    folder = wanted_folder(scene)
    if folder.startswith("//") and not bpy.data.filepath:
        session = Path(bpy.app.tempdir).name.replace("blender", "taffeta")
        return Path(tempfile.gettempdir()) / session / folder[2:]
    return Path(os.path.normpath(bpy.path.abspath(folder)))


def bake_paths(scene: bpy.types.Scene, cloths: list[bpy.types.Object], go_on: bool = False) -> list[Path]:
    """The .pc2 file of each cloth, none of which is played by an object that is not baked now.

    One that goes on keeps the file it plays, even if it was renamed since.
    """
    every, folder = cloths_of(scene), cache_folder(scene)
    taken = _taken(cloths, folder)
    names = [obj.taffeta_cloth.cache_name or obj.name for obj in every]
    named = cache_paths(folder, [*taken, *names])[len(taken) :]
    paths = dict(zip([obj.session_uid for obj in every], named, strict=True))
    for obj in cloths if go_on else ():
        path = cache_file(obj)
        # A copy of a baked garment plays the original's file, and must not write into it.
        # Nor must a file that was saved under another name write into the bake of the file that it came from, nor any
        # file into what its path leads to and Taffeta did not write.
        if path is not None and is_ours(path) and not shared_with(obj) and not is_foreign(path):
            paths[obj.session_uid] = path
    return [paths[obj.session_uid] for obj in cloths]


def _taken(cloths: list[bpy.types.Object], folder: Path) -> list[str]:
    """Names of files in `folder` that others play: objects outside of this bake, because of a rename, a copy or a
    library, and other .blends.

    A file that a garment of this bake plays too is its own, unless the other one bears its name.
    """
    own = {cache_file(obj) for obj in cloths}
    names = []
    for obj in bpy.data.objects:
        path = cache_file(obj) if obj.type == "MESH" and obj not in cloths else None
        if path is not None and path.parent == folder:
            bears_name = path.stem == safe_name(obj.taffeta_cloth.cache_name or obj.name)
            if path not in own or bears_name:
                names.append(path.stem)
        names += [path.stem for path in _other_caches(obj) if path.parent == folder]
    present = folder.glob("*.pc2") if os.path.isdir(folder) else ()  # Path.is_dir raises at a name that is too long
    names += [path.stem for path in present if is_foreign(path)]
    return sorted(set(names))


def _other_caches(obj: bpy.types.Object) -> list[Path]:
    """Files that an object plays by Mesh Cache modifiers besides a bake's, as an imported sequence does."""
    ours = own_caches(obj)
    others = [modifier for modifier in obj.modifiers if modifier.type == "MESH_CACHE" and modifier not in ours]
    return [Path(os.path.normpath(bpy.path.abspath(other.filepath, library=obj.library))) for other in others]


def refuse_long(path: Path) -> None:
    """Raise a ValueError, with a sentence, for a file whose path Blender would cut, and then not find."""
    length = len(os.fsencode(path))
    if length > LONGEST_PATH:
        raise ValueError(
            f"The path of {path.name} has {length} bytes, and Blender plays files of {LONGEST_PATH} at most: "
            f"choose a shorter cache folder than {str(path.parent)[:SHOWN_LETTERS]}..."
        )


def owner_in(folder: Path) -> str:
    """The open .blend as seen from the folder of its bakes; "" if it has no place, or one that cannot be told so."""
    if not bpy.data.filepath:
        return ""
    try:
        path = Path(os.path.relpath(bpy.data.filepath, folder)).as_posix()
    except ValueError:  # another drive
        return ""
    return path if len(json.dumps(path)) <= LONGEST_OWNER else ""


def own_older(obj: bpy.types.Object, scene: bpy.types.Scene) -> list[Path]:
    """Bakes of this garment that were set aside, whether or not one plays now.

    None of another .blend's, nor of the garment that this one is a copy of.
    """
    path = cache_file(obj)
    own = cache_folder(scene) / f"{safe_name(obj.taffeta_cloth.cache_name or obj.name)}.pc2"
    if path is None or shared_with(obj):
        path = own
    return [older for older in older_bakes(path) if not is_foreign(older)]


def older_sentence(paths: list[Path]) -> str:
    """How many bakes these are, and the room they take."""
    size = sum(part.stat().st_size for path in paths for part in parts(path) if part.is_file())
    room = f"{size / 1e9:.2f} GB" if size >= 1e9 else f"{size / 1e6:.1f} MB" if size >= 1e5 else f"{size / 1e3:.0f} kB"
    return f"{len(paths)} older {'bake' if len(paths) == 1 else 'bakes'} ({room})"
