# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of the preflight list about the bakes that garments play: gone, of something else, too short, in a temporary folder."""

from collections.abc import Iterator
from pathlib import Path

import bpy

from ...solver.cache import about
from ..playback import cache_modifier
from ..playback.bake_files import bake_paths, shown_frames, strays
from ..playback.correction_files import are_temporary, lost, unfitting
from ..playback.owners import cache_file, cache_folder, maker_of
from ..read.modifier_stack import find_cache
from ..read.participants import cloths_of, colliders
from . import fingerprint, releases
from .problem import Problem, Shot


def _caches(shot: Shot) -> Iterator[Problem]:
    """Bakes that cannot be played, or that were made of something else."""
    for obj in shot.cloths:
        if sentence := cache_modifier.trouble(obj):
            remedy = "Bake again, bring the cache folder back, or look into the list of bakes and its trash"
            if ";" in sentence:  # it says so itself
                remedy = "The list of bakes and its trash may hold others"
            yield Problem("WARNING", obj.name, sentence, remedy)
        elif cache_modifier.plays_as_linked(obj):
            continue  # what it was made of is in its own file
        elif (find_cache(obj) or obj.taffeta_cloth.cache_path) and (words := stale(obj, shot.scene, shot.colliders)):
            remedy, other = "Resume bakes anew from the first frame that differs, and keeps those before", ""
            if _maker(obj):
                remedy = (
                    "Play one of the list of bakes that fits, or press Resume, which gives this file a bake of its own"
                )
            elif other := other_scene_of_bake(obj, shot.scene):
                remedy = (
                    f"A bake here plays in {other}, too, and its own stays in the list; for a bake in each, make it single "
                    "(Object > Relations > Make Single User > Object)"
                )
            yield Problem("WARNING", obj.name, words, remedy, heavy=bool(other))


def _short(shot: Shot) -> Iterator[Problem]:
    """Bakes that end before the range does, as where a shot was made longer."""
    for obj in shot.cloths:
        path = cache_modifier.played(obj) if obj.library is None else None
        frames = shown_frames(path) if path is not None else range(0)
        if len(frames) and frames.stop <= shot.scene.frame_end:
            yield Problem(
                "INFO",
                obj.name,
                f"{obj.name} is baked up to frame {frames.stop - 1}, and stands still from there to frame {shot.scene.frame_end}",
                _rest_of(obj, path, shot),
            )


def _rest_of(obj, path: Path, shot: Shot) -> str:
    """How to have the rest of a bake, and where that goes."""
    folder = cache_folder(shot.scene)
    if folder in path.parents or path not in bake_paths(shot.scene, [obj], go_on=True):
        return "Press Resume, which bakes the rest, or end the range there"
    return f"Press Resume, which bakes the rest into {path.parent}, where the bake lies, or Bake, which makes all frames anew in {folder}"


def _temporary(shot: Shot) -> Iterator[Problem]:
    """Bakes of a saved file that lie where the system may delete them."""
    for obj in shot.cloths:
        what = _in_temporary_folder(obj) if obj.library is None else ""
        if what:
            yield Problem(
                "WARNING",
                obj.name,
                what,
                "Bring it beside the file, or press Resume, which does that, too",
                ("taffeta.fix_temporary",),
            )


def _in_temporary_folder(obj) -> str:
    if strays([obj])[0] is not None:
        return f"{obj.name}'s bake lies in a temporary folder, which is emptied at times"
    if are_temporary(obj):
        return f"{obj.name}'s corrections lie in a temporary folder, which is emptied at times"
    return ""


def _lost_corrections(shot: Shot) -> Iterator[Problem]:
    """Corrections that the bake plays without, because their files are gone, or it is another bake than they were made of."""
    for obj in shot.cloths:
        for sentence in lost(obj):
            remedy = "Bring the file back, or mute or delete the correction (More, Corrections) and make it again"
            yield Problem("WARNING", obj.name, sentence, remedy)
        for sentence in unfitting(obj):
            remedy = "Make it again (More, Corrections), play the bake that it was made of, or mute it"
            yield Problem("INFO", obj.name, sentence, remedy)


def stale(obj: bpy.types.Object, scene: bpy.types.Scene, bodies: list[bpy.types.Object]) -> str:
    """What was changed since the bake, Taffeta itself included, as a sentence; "" when nothing was."""
    if fingerprint.is_of_another_release(obj.taffeta_cloth.fingerprint):
        words = releases.changes(cache_file(obj), scene, obj)
        before = f", and before you changed {words}" if words else ""
        return f"{obj.name} was baked by another release of Taffeta{before}: it plays as it was, and a new bake makes all frames anew"
    words = fingerprint.changes(obj, scene, bodies)
    if words and (maker := _maker(obj)):  # which may have baked it since, or this file was changed: nobody knows
        return f"{obj.name} plays a bake of {maker}, made with other settings than this file has: {fingerprint.sentence(words)}"
    if words and (other := other_scene_of_bake(obj, scene)):
        return f"{obj.name} plays the bake of scene {other}, and this one differs in {fingerprint.sentence(words)}"
    return f"{obj.name} was baked before you changed {fingerprint.sentence(words)}" if words else ""


def other_scene_of_bake(obj: bpy.types.Object, scene: bpy.types.Scene) -> str:
    """Name of another scene that a garment is in, too, and of which the bake was made that it plays; "" where there is none, or the
    two do not differ.
    """
    others = {other.name: other for other in obj.users_scene if other != scene}
    if not others or not _changes(obj, scene):
        return ""
    path = cache_file(obj)
    noted = about.read(path).scene if path is not None else ""
    if noted == scene.name or noted in others:
        return noted if noted in others else ""
    return next((name for name, other in others.items() if not _changes(obj, other)), "")


def _changes(obj, scene: bpy.types.Scene) -> list[str]:
    return fingerprint.changes(obj, scene, colliders(scene, cloths_of(scene)))


def _maker(obj) -> str:
    """Name of the other .blend whose bake a garment plays; "" for its own."""
    path = cache_file(obj)
    return maker_of(path) if path is not None else ""


CACHE_CHECKS = (_caches, _short, _temporary, _lost_corrections)
