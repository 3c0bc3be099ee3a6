# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the bakes of a scene lie: the file of each garment, those it can be played from, and those set aside.

Nothing is ever deleted unasked: a bake that something else is baked in the place of is renamed, and stays in the list.
"""

import os
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import bpy

from ...solver.cache import about, pc2, trash
from ...solver.cache.frames import cached_frames
from ...solver.cache.journal import read_journal_header
from ...solver.cache.names import cache_paths, newest_name, older_bakes, safe_name
from ...solver.cache.wedge import shot_folder
from ...solver.cache.whose import is_ours, is_strange
from ..read.file_path import absolute
from ..read.modifier_stack import own_modifiers
from ..read.participants import cloths_of
from .owners import cache_file, cache_folder, is_temporary, maker_of

LONGEST_PATH = 1023  # bytes of a path that Blender keeps
DATE = "%Y-%m-%d %H:%M"
SHOWN_LETTERS = 60  # of a path that is too long for a sentence


class Bake(NamedTuple):
    """A bake that a garment can play, or one in the trash."""

    path: Path  # NAME.pc2
    frames: range  # empty if it says nothing of them
    vertex_count: int
    size: int  # bytes, with what belongs to it
    about: about.About


def stored_path(path: str | Path) -> str:
    """The path as a .blend should keep it: relative to it where that is possible, else absolute."""
    path = bpy.path.abspath(str(path))
    if bpy.data.filepath:
        try:
            return bpy.path.relpath(path).replace(os.sep, "/")
        except ValueError:  # another drive on Windows
            pass
    return path


def shared_with(obj: bpy.types.Object) -> list[str]:
    """Names of other objects that play the same file, as a copy of a baked garment does until it is baked itself."""
    path = cache_file(obj)
    others = (other for other in bpy.data.objects if other.type == "MESH" and other != obj)
    return sorted(other.name for other in others if path is not None and cache_file(other) == path)


def bake_paths(
    scene: bpy.types.Scene, cloths: list[bpy.types.Object], go_on: bool = False, folder: Path | None = None
) -> list[Path]:
    """The .pc2 file of each cloth, none of which is played by an object that is not baked now, and beside which nothing lies that
    Taffeta would write over and did not write.

    One that goes on keeps the file it plays, even if it was renamed since, but not in a temporary folder, nor in one that is gone
    or cannot be written.
    folder : where they are, if not in the scene's cache folder, as the bakes of a wedge.
    """
    every, folder = cloths_of(scene), folder or cache_folder(scene)
    taken = _taken(cloths, folder)
    named = _free_paths(folder, taken, [wanted_name(obj) for obj in every])
    paths = dict(zip([obj.session_uid for obj in every], named, strict=True))
    for obj in cloths if go_on else ():
        path = cache_file(obj)
        # A copy of a baked garment plays the original's file, and must not write into it.
        # Nor must a file that was saved under another name write into the bake of the file that it came from, nor any
        # file into what its path leads to and Taffeta did not write.
        own = path is not None and is_ours(path) and not shared_with(obj) and not maker_of(path)
        if own and not is_temporary(path) and os.access(path.parent, os.W_OK):
            paths[obj.session_uid] = path
    return [paths[obj.session_uid] for obj in cloths]


def wanted_name(obj: bpy.types.Object) -> str:
    """What the files of a garment's bakes are called, where nothing else is called so."""
    return obj.taffeta_cloth.cache_name or obj.name


def stranger(obj: bpy.types.Object, path: Path) -> str:
    """A sentence where a new bake of a garment goes to `path` because files that are not Taffeta's have its name; else ""."""
    wanted = cache_paths(path.parent, [wanted_name(obj)])[0]
    if path == wanted or not is_strange(wanted):
        return ""
    return f"{wanted.parent} has files named {wanted.stem} that are not Taffeta's: they stay, and {obj.name} bakes to {path.name}"


def _free_paths(folder: Path, taken: list[str], names: list[str]) -> list[Path]:
    """Paths for `names` in a folder, besides the `taken` ones and those where files lie that Taffeta did not write."""
    while True:
        paths = cache_paths(folder, [*taken, *names])[len(taken) :]
        strange = {path.stem for path in paths if is_strange(path)}
        if not strange:
            return paths
        taken = sorted({*taken, *strange})


def sources(cloths: list[bpy.types.Object], paths: list[Path]) -> list[Path | None]:
    """The bake that each cloth plays, where it goes on from that in another place, `paths`: its frames are copied there."""
    played = [cache_file(obj) for obj in cloths]
    return [
        path
        if path not in (None, target) and not is_temporary(path) and is_ours(path) and cached_frames(path)
        else None
        for path, target in zip(played, paths, strict=True)
    ]


def strays(cloths: list[bpy.types.Object]) -> list[Path | None]:
    """The bake that each cloth of a saved file plays from a temporary folder, which is to be brought beside the file."""
    played = [cache_file(obj) for obj in cloths]
    return [path if path is not None and is_temporary(path) and is_ours(path) else None for path in played]


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
            bears_name = path.stem == safe_name(wanted_name(obj))
            if path not in own or bears_name:
                names.append(path.stem)
        names += [path.stem for path in _other_caches(obj) if path.parent == folder]
    present = folder.glob("*.pc2") if os.path.isdir(folder) else ()  # Path.is_dir raises at a name that is too long
    names += [path.stem for path in present if maker_of(path)]
    return sorted(set(names))


def _other_caches(obj: bpy.types.Object) -> list[Path]:
    """Files that an object plays by Mesh Cache modifiers besides ours, as an imported sequence does."""
    ours = own_modifiers(obj)
    others = [modifier for modifier in obj.modifiers if modifier.type == "MESH_CACHE" and modifier not in ours]
    return [Path(os.path.normpath(absolute(other.filepath, obj.library))) for other in others]


def refuse_long(path: Path) -> None:
    """Raise a ValueError, with a sentence, for a file whose path Blender would cut, and then not find."""
    length = len(os.fsencode(path))
    if length > LONGEST_PATH:
        raise ValueError(
            f"The path of {path.name} has {length} bytes, and Blender plays files of {LONGEST_PATH} at most: "
            f"choose a shorter cache folder than {str(path.parent)[:SHOWN_LETTERS]}..."
        )


def bakes_of(scene: bpy.types.Scene, cloths: list[bpy.types.Object]) -> list[list[Bake]]:
    """For each cloth the bakes that it can play: the one that its path names, the one in its place, and the older ones of
    both, newest first. Of another .blend's, that one and those that lie beside it: it may have been set aside by a new bake there.

    Of other objects' and of those that the original of a copy has, only the one that is played.
    """
    found, meshes = [], [obj for obj in bpy.data.objects if obj.type == "MESH"]
    owned, plays = bake_paths(scene, cloths), {obj: cache_file(obj) for obj in meshes}
    for obj, own in zip(cloths, owned, strict=True):
        played, paths = plays[obj], []
        others = {path for other, path in plays.items() if other != obj}
        bases = [own]
        if played is not None:
            paths = [played]
            if not shared_with(obj):
                bases.insert(0, newest_name(played))
        bases += [path for path in _earlier(obj, own, meshes) if path not in others and path not in owned]
        makers = {"", maker_of(played) if played is not None and bases[0] != own else ""}
        for base in bases:
            beside = [path for path in (base, *older_bakes(base)[::-1]) if path not in others]
            paths += [path for path in beside if maker_of(path) in (makers if base == bases[0] else {""})]
        paths = [path for path in dict.fromkeys(paths) if is_ours(path) and shown_frames(path)]
        found.append(_told(paths))
    return found


def remember_name(obj: bpy.types.Object, path: Path, none: bool = False) -> None:
    """Before a garment plays another bake, at `path`: what its bakes were called, if it was renamed since the last one.

    none : it is to play none, and `path` is where it would bake now: else nothing tells where its bakes lie once it is renamed
    """
    was = cache_file(obj)
    if (
        was is None
        or shot_folder(was.parent) != shot_folder(path.parent)
        or not is_ours(was)
        or maker_of(was)
        or shared_with(obj)
    ):
        return
    names = [name for name in (newest_name(was).stem, *obj.taffeta_cloth.earlier.split("\n")) if name]
    told = {"" if none else newest_name(path).stem}
    obj.taffeta_cloth.earlier = "\n".join(dict.fromkeys(name for name in names if name not in told))


def keep_name(obj: bpy.types.Object, path: Path) -> None:
    """Let a garment know, once it is renamed, that bakes of it are called as the one at `path`, which it need not play."""
    names = [path.stem, *obj.taffeta_cloth.earlier.split("\n")]
    obj.taffeta_cloth.earlier = "\n".join(dict.fromkeys(filter(None, names)))


def former_names(obj: bpy.types.Object) -> list[str]:
    """File names that bakes of a garment had before it was renamed, the last one first; none that another garment has now."""
    others = [other for other in bpy.data.objects if other.type == "MESH" and other != obj]
    taken = {newest_name(path).stem for other in others if (path := cache_file(other)) is not None}
    taken |= {safe_name(cloth.cache_name or other.name) for other in others if (cloth := other.taffeta_cloth).enabled}
    played = cache_file(obj)
    is_own = played is not None and is_ours(played) and not maker_of(played)
    names = [newest_name(played).stem] if is_own else []
    return [name for name in dict.fromkeys([*names, *_earlier_names(obj, others)]) if name not in taken]


def _earlier(obj, own: Path, meshes) -> list[Path]:
    """Where a garment baked under names that it had."""
    return [own.with_name(f"{name}.pc2") for name in _earlier_names(obj, meshes)]


def _earlier_names(obj, meshes) -> list[str]:
    """Names that a garment had; those of an original are not its copy's, which comes after it."""
    before = {name for other in meshes if other.name < obj.name for name in other.taffeta_cloth.earlier.split("\n")}
    names = (safe_name(name) for name in obj.taffeta_cloth.earlier.split("\n") if name not in before | {""})
    return list(dict.fromkeys(names))


def told_of(path: Path) -> Bake:
    """The bake at a path, as a list has it; a ValueError, with a sentence, where there is none that Taffeta made."""
    found = _told([path]) if is_ours(path) and shown_frames(path) else []
    if not found:
        raise ValueError(f"{path} is no bake; bake it first")
    return found[0]


def trash_of(scene: bpy.types.Scene, cloths: list[bpy.types.Object]) -> list[Bake]:
    """Freed bakes of this .blend that can be restored: in the cache folder, and beside what its cloths play."""
    played = [cache_file(obj) for obj in cloths]
    folders = [cache_folder(scene), *(path.parent for path in played if path is not None)]
    paths = [path for folder in dict.fromkeys(folders) for path in trash.trashed(folder)]
    return _told([path for path in paths if not maker_of(path, trash.home_of(path))])


def shown_frames(path: Path) -> range:
    """Frames that a bake can show, by 32 bytes of it: the list is made anew after each change, and journals are long."""
    try:
        header = pc2.read_header(path)
    except (OSError, ValueError):
        return range(0)
    return range(round(header.first_frame), round(header.first_frame) + header.sample_count)


def _told(paths: list[Path]) -> list[Bake]:
    """What is to be told of bakes; those that somebody has taken away by now are left out."""
    bakes = []
    for path in paths:
        try:
            header = read_journal_header(path.with_suffix(".journal"))
            made = datetime.fromtimestamp(path.with_suffix(".journal").stat().st_mtime)
            size = trash.size_of([path])
        except OSError:
            continue
        if header is not None:
            told = about.read(path)
            told = told._replace(label=told.label or path.stem, date=told.date or made.strftime(DATE))
            bakes.append(Bake(path, shown_frames(path), header["vertex_count"], size, told))
    return bakes


def room(size: int) -> str:
    """Bytes in words."""
    return f"{size / 1e9:.2f} GB" if size >= 1e9 else f"{size / 1e6:.1f} MB" if size >= 1e5 else f"{size / 1e3:.0f} kB"
