# SPDX-License-Identifier: GPL-3.0-or-later
"""Which .blend made a bake: nothing that another one made is freed, written or renamed unasked.

The journal names the .blend, as seen from the folder of the bake, so that a project that is moved as a whole keeps its
bakes. A file saved under a new name plays the bakes of the one that it came from, which stay that one's; a file that was
renamed owns what nobody else claims in its cache folder.
"""

import json
import os
import tempfile
from pathlib import Path

import bpy
from bpy.app.handlers import persistent

from ...solver.cache.files import in_words
from ...solver.cache.names import newest_name, older_bakes
from ...solver.cache.wedge import shot_folder
from ...solver.cache.whose import claim, is_ours, owner_of
from ..read.file_path import absolute, is_elsewhere, slashed
from ..read.listen import listen, listen_no_more
from ..read.modifier_stack import find_cache

LONGEST_OWNER = 800  # bytes of a path in a journal's header
UNKNOWN = "another file"
SESSION = "taffeta_"  # what folders of sessions in the temporary folder begin with
FARM_COPY = ".flamenco.blend"  # ending of the copy that Flamenco's add-on submits


def wanted_folder(scene: bpy.types.Scene) -> str:
    """The setting as it is meant: none is the one of a new scene, ~ is one's home, and no place depends on where Blender was started."""
    folder = scene.taffeta.cache_folder.strip() or scene.taffeta.bl_rna.properties["cache_folder"].default
    folder = folder if is_elsewhere(folder) else slashed(folder)
    if folder == "~" or folder.startswith(("~/", f"~{os.sep}")):
        folder = os.path.expanduser(folder)
    return folder if folder.startswith("//") or os.path.isabs(folder) else f"//{folder}"


def cache_folder(scene: bpy.types.Scene) -> Path:
    """Where bakes of this scene go; a temporary folder of this session while the file has no place of its own.

    Not Blender's own temporary folder, which goes when Blender is closed: the file may be saved after the bake.
    """
    folder = wanted_folder(scene)
    if folder.startswith("//") and not bpy.data.filepath:
        session = Path(bpy.app.tempdir).name.replace("blender", "taffeta")
        return Path(tempfile.gettempdir()) / session / folder[2:]
    return Path(os.path.normpath(absolute(folder)))


def is_temporary(path: Path) -> bool:
    """Whether a saved file plays a bake out of a session's folder, where it was baked before there was a place for it."""
    if not bpy.data.filepath or _is_home(path.parent):
        return False
    folder, temporary = (Path(os.path.realpath(place)) for place in (path.parent, tempfile.gettempdir()))
    return folder.is_relative_to(temporary) and folder.relative_to(temporary).as_posix().startswith(SESSION)


def _is_home(folder: Path) -> bool:
    """Whether bakes of this file go into a folder, or those of its wedges."""
    home = shot_folder(Path(os.path.normpath(folder)))
    return any(home == Path(os.path.normpath(cache_folder(scene))) for scene in bpy.data.scenes)


def cache_file(obj: bpy.types.Object) -> Path | None:
    """Absolute path of the PC2 that `obj` plays, or of the one its settings name; None when it was never baked."""
    modifier = find_cache(obj)
    path = modifier.filepath if modifier is not None else ""
    path = path or obj.taffeta_cloth.cache_path
    return Path(os.path.normpath(absolute(path, obj.library))) if path else None


def shot_file() -> str:
    """Path of the open .blend; of the one that it is a copy of, where a farm was given a copy that lies beside it."""
    path = bpy.data.filepath
    original = path.removesuffix(FARM_COPY) + ".blend"
    return original if path.endswith(FARM_COPY) and os.path.isfile(original) else path


def owner_in(folder: Path) -> str:
    """The open .blend as seen from the folder of its bakes; "" if it has no place, or one that cannot be told so."""
    if not bpy.data.filepath:
        return ""
    try:
        path = Path(os.path.relpath(shot_file(), folder)).as_posix()
    except ValueError:  # another drive
        path = Path(shot_file()).as_posix()
    return path if len(json.dumps(path)) <= LONGEST_OWNER else ""


def maker_of(path: Path, home: Path | None = None) -> str:
    """Name of the other .blend whose the bake at `path` is; "" if it is this one's, or no bake.

    home : the folder that it was made in, if it lies elsewhere now.

    A bake whose maker is gone or unknown is this file's where it lies in one of its cache folders, and elsewhere not.
    """
    if not is_ours(path):
        return ""
    owner, home = owner_of(path), home or path.parent
    other = Path(os.path.normpath(home / owner))
    if owner and os.path.isfile(other):  # not Path.is_file, which raises at a name that is too long
        is_this = bpy.data.filepath and os.path.exists(shot_file()) and other.samefile(shot_file())
        return "" if is_this else other.name
    if _is_home(home):
        return ""
    return other.name if owner else UNKNOWN


_unsaved: list[Path] = []  # bakes that an unsaved file plays, when it is about to be saved


@persistent
def _before_saving(*_):
    _unsaved.clear()
    if not bpy.data.filepath:
        played = [cache_file(obj) for obj in bpy.data.objects if obj.type == "MESH" and obj.library is None]
        paths = [every for path in played if path for every in (path, newest_name(path), *older_bakes(path))]
        _unsaved.extend(path for path in dict.fromkeys(paths) if is_ours(path) and not maker_of(path))


@persistent
def _after_saving(*_):
    """The first name of a file that was never saved is that of its bakes' maker, too."""
    for path in _unsaved if bpy.data.filepath else ():
        try:
            claim(path, owner_in(path.parent))
        except OSError as error:
            print(f"Taffeta: {in_words(error)}")
    _unsaved.clear()


HANDLERS = ("save_pre", _before_saving), ("save_post", _after_saving)


def register():
    """Tell bakes of a new file whose they are when it is saved."""
    listen(HANDLERS)


def unregister():
    """Do that no more."""
    listen_no_more(HANDLERS)
