# SPDX-License-Identifier: GPL-3.0-or-later
"""A scene as it is for the bake of a wedge, and as it was again: other settings, and a cache folder of its own.

All that a bake asks of the scene then leads there, so that the shot's own bake is neither read nor written.
"""

from pathlib import Path
from typing import NamedTuple

import bpy

from ...solver.cache import wedge as wedges
from ...solver.cache.names import cache_paths, in_use
from ...solver.cache.wedge import Wedge
from ..playback.bake_files import bake_paths, former_names, stored_path
from ..playback.cache_modifier import detach
from ..playback.owners import cache_folder, maker_of
from ..read import setting_path, who_is_who
from ..read.correction import follow_cache
from ..read.modifier_stack import find_cache, is_inherited
from ..read.participants import cloths_of

NOTES = "cache_path", "stale", "fingerprint", "report_json"  # of a garment: what it plays, and what of that is known
KEPT = *NOTES, "earlier"  # what `play_again` gives back of them
PLAYED = "filepath", "frame_start", "show_viewport", "show_render"  # of its modifier


class Playing(NamedTuple):
    """What a garment played."""

    uid: int
    notes: dict[str, str]
    modifier: dict | None  # settings of its own modifier; None where it had none


class Before(NamedTuple):
    """A scene before it was that of a wedge."""

    cache_folder: str
    values: list[tuple[setting_path.Setting, object]]
    owners: dict[str, int]  # session uids of the objects that these are of: somebody may rename them meanwhile
    playing: list[Playing]


def check(scene: bpy.types.Scene, every: list[Wedge]) -> None:
    """Raise a ValueError, with a sentence, if a wedge sets what is not there or cannot be; the scene stays as it is."""
    for wedge in every:
        take_back(scene, give_settings(scene, wedge.settings))


def put_on(scene: bpy.types.Scene, cloths: list[bpy.types.Object], wedge: Wedge) -> Before:
    """Let a scene be that of a wedge, until `take_off`.

    Raises
    ------
    ValueError, OSError
        A setting cannot be, or its folder: a sentence, and nothing has changed.
    """
    folder = wedges.folder_of(cache_folder(scene), wedge.name)
    places = bake_paths(scene, cloths, folder=folder)
    values = give_settings(scene, wedge.settings)
    owners = who_is_who.uids(scene, [setting.owner for setting, _ in values if setting.owner])
    before = Before(scene.taffeta.cache_folder, values, owners, playing(cloths))
    scene.taffeta.cache_folder = stored_path(folder)
    for obj, path in zip(cloths, places, strict=True):
        _aim(obj, path)
    return before


def take_off(scene: bpy.types.Scene, before: Before) -> None:
    """Let a scene be what it was before `put_on`, whatever its objects are called by now; those that are gone are left out."""
    scene.taffeta.cache_folder = before.cache_folder
    called = who_is_who.of_uids(scene, before.owners)
    known = [(setting, value) for setting, value in before.values if not setting.owner or setting.owner in called]
    take_back(scene, [(setting._replace(owner=called.get(setting.owner, "")), value) for setting, value in known])
    play_again(before.playing)


def note(scene: bpy.types.Scene, cloths: list[bpy.types.Object], wedge: Wedge) -> None:
    """Keep beside the bakes of a wedge, whose the scene is now, what it sets.

    Raises
    ------
    OSError
        It is being baked, or cannot be written: a sentence.
    """
    for path in bake_paths(scene, cloths):
        if in_use(path):
            raise OSError(f"{wedge.name} is being baked by another Blender; wait for it, or choose another name")
    wedges.write(wedges.shot_folder(cache_folder(scene)), wedge)


def paths(scene: bpy.types.Scene, cloths: list[bpy.types.Object], wedge: Wedge) -> list[Path]:
    """Where a wedge's bake of each garment lies, or would; those of another .blend, or of names that garments had before, where
    there are none of their own."""
    folder = wedges.folder_of(cache_folder(scene), wedge.name)
    own, every = bake_paths(scene, cloths, folder=folder), cloths_of(scene)
    if all(path.is_file() for path in own):
        return own
    named = cache_paths(folder, [obj.taffeta_cloth.cache_name or obj.name for obj in every])
    renamed = [_of_any_name(obj, path) for obj, path in zip(cloths, own, strict=True)]
    for found in ([named[every.index(obj)] for obj in cloths], renamed):
        if all(path.is_file() for path in found):
            return found
    return own


def _of_any_name(obj, own: Path) -> Path:
    """The bake of a wedge at `own`, or where there is none the last one of a name that the garment had."""
    earlier = [own.with_name(f"{name}.pc2") for name in former_names(obj)]
    return next((path for path in (own, *earlier) if path.is_file() and not maker_of(path)), own)


def as_called(scene: bpy.types.Scene, wedge: Wedge) -> dict[str, str]:
    """The settings of a wedge by the paths that they have now: garments and bodies may be called otherwise since."""
    present = [f"{obj.name}." for obj in scene.objects if obj.type == "MESH"]
    names = _names_now(scene)
    found = {}
    for path, text in wedge.settings.items():
        known = [name for name in names if path.startswith(f"{name}.")]
        if known and not path.startswith((f"{setting_path.SCENE}.", *present)):
            name = max(known, key=len)
            path = names[name] + path[len(name) :]
        found[path] = text
    return found


def refuse_unknown(scene: bpy.types.Scene, wedge: Wedge) -> None:
    """Raise a ValueError, with a sentence, if a wedge sets something of an object that nothing here is called as."""
    known = (f"{setting_path.SCENE}.", *(f"{obj.name}." for obj in scene.objects if obj.type == "MESH"))
    for path in as_called(scene, wedge):
        if not path.startswith(known):
            raise ValueError(
                f"{wedge.name} sets {path}, and nothing here is called so: give the object that is meant that name until "
                "the wedge is adopted"
            )


def _names_now(scene) -> dict[str, str]:
    """What objects are called, by names that they had: those of bakes, and of what is listed in the panel."""
    names = {}
    for entry in scene.taffeta_wedges:
        now = entry.owner()
        if now is not None:
            names |= dict.fromkeys(entry.owners.split("\n"), now)
    for obj in cloths_of(scene):
        names |= dict.fromkeys(former_names(obj), obj.name)
    return names


def give_settings(scene: bpy.types.Scene, settings: dict[str, str]) -> list[tuple[setting_path.Setting, object]]:
    """Set settings by their paths, in order; what each was. ValueError: a sentence, and nothing has changed."""
    values = []
    try:
        for path, text in settings.items():
            setting = setting_path.find(scene, path)
            value = setting_path.parse(scene, setting, text)
            values.append((setting, setting_path.read(scene, setting)))
            setting_path.give(scene, setting, value)
    except ValueError:
        take_back(scene, values)
        raise
    return values


def take_back(scene: bpy.types.Scene, values: list[tuple[setting_path.Setting, object]]) -> None:
    """Undo `give_settings`, with what that returned."""
    for setting, value in reversed(values):
        if not setting.owner or setting.owner in scene.objects:
            setting_path.give(scene, setting, value)


def playing(cloths: list[bpy.types.Object]) -> list[Playing]:
    """What garments play, for `play_again`."""
    return [_playing(obj) for obj in cloths]


def play_again(before: list[Playing]) -> None:
    """Let garments play what they played; those that are gone are left out."""
    objects = {obj.session_uid: obj for obj in bpy.data.objects}
    for known in before:
        if (obj := objects.get(known.uid)) is not None:
            _play_again(obj, known)


def _playing(obj) -> Playing:
    modifier = find_cache(obj)
    own = modifier is not None and not is_inherited(obj, modifier)
    settings = {name: getattr(modifier, name) for name in PLAYED} if own else None
    return Playing(obj.session_uid, {name: getattr(obj.taffeta_cloth, name) for name in KEPT}, settings)


def _aim(obj, path) -> None:
    """Let a garment know of no bake but the one at `path`, if there is one."""
    for name in NOTES:
        setattr(obj.taffeta_cloth, name, "")
    obj.taffeta_cloth.cache_path = stored_path(path)
    modifier = find_cache(obj)
    if modifier is not None and not is_inherited(obj, modifier):
        modifier.filepath = stored_path(path)
        modifier.show_viewport = modifier.show_render = path.is_file()  # Blender warns of a file that is missing


def _play_again(obj, known: Playing) -> None:
    if known.modifier is None:
        detach(obj)
    elif (modifier := find_cache(obj)) is not None:
        for name, value in known.modifier.items():
            setattr(modifier, name, value)
        follow_cache(obj)
    for name, text in known.notes.items():
        setattr(obj.taffeta_cloth, name, text)
