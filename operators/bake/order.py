# SPDX-License-Identifier: GPL-3.0-or-later
"""What is to be baked, read from the scene: garments, bodies, settings, frames and files, checked."""

import contextlib
import json
from collections.abc import Collection, Iterator
from datetime import datetime

import bpy

from ...solver.cache.about import About
from ...solver.cache.journal import read_journal_header
from ...solver.model import Garment, Settings
from ..checks import fingerprint, problem_list
from ..checks.cache_rows import other_scene_of_bake
from ..checks.rows import remapping_problem
from ..checks.scale_rows import gravity_problem
from ..playback.bake_files import DATE, bake_paths, refuse_long, sources, stranger, strays
from ..playback.cache_modifier import without_linked
from ..playback.correction_files import astray
from ..playback.owners import owner_in
from ..read import measures, snapshot
from ..read.groups import meet, met, met_by
from ..read.keyed import keyed_settings
from ..read.mesh_io import Body, read_collider, read_garment
from ..read.participants import cloths_of, colliders_of, refuse_linked, world_box
from ..read.preroll import at_start, rest_count
from ..read.sampling import depsgraph_of, garment_object, plain, posed
from ..read.ties import with_ties
from ..read.time_and_gravity import frame_seconds
from .job import Order

PREVIEW_STEPS = 0.5  # small steps in Preview over those in Final


def read_order(
    scene: bpy.types.Scene,
    resume: bool = False,
    from_frame: int = 0,
    only: Collection[str] = (),
    label: str = "",
    kept: bool = True,
) -> Order:
    """Check the scene and read everything that holds for the whole bake.

    only : names of the cloths to bake; the scene's other cloths are left out, unless they are colliders too. All if empty.
    label : what the bake is to be called; one that goes on keeps its own if this is empty.
    kept : whether frames go to disk; without, nobody asks what they were made of, and painted maps are not read for that.

    Raises
    ------
    ValueError
        Something is wrong; a sentence with a remedy.
    """
    cloths = _wanted(scene, only)
    if scene.frame_end < scene.frame_start:
        raise ValueError(
            f"The frame range ends ({scene.frame_end}) before it starts ({scene.frame_start}); set it in the Output tab"
        )
    bodies = colliders_of(scene, cloths)
    go_on = resume or from_frame != 0
    paths = _paths(scene, cloths, go_on, from_frame)
    _refuse_problems(scene, {obj.name for obj in (*cloths, *bodies)}, kept)
    garments, read_bodies = _read(scene, cloths, bodies)
    prints, now = _prints(scene, cloths, bodies) if kept else [], datetime.now().strftime(DATE)
    return Order(
        scene=scene.name,
        garments=garments,
        garment_objects=[garment_object(obj, garment) for obj, garment in zip(cloths, garments, strict=True)],
        bodies=read_bodies,
        settings=settings_of(scene, quality_of(cloths)),
        body_images=scene.taffeta.body_images if scene.taffeta.body_search == "FOOTPRINTS" else "PROCESSOR",
        quality=quality_of(cloths),
        frames=range(scene.frame_start - scene.taffeta.preroll, scene.frame_end + 1),
        rest_count=rest_count(scene),
        first_frame=scene.frame_start,
        fps=1.0 / frame_seconds(scene),
        paths=paths,
        sources=sources(cloths, paths) if go_on else [None] * len(paths),
        strays=strays(cloths),
        corrections=[astray(scene, obj, path) for obj, path in zip(cloths, paths, strict=True)] if kept else [],
        resume=resume,
        from_frame=from_frame or None,
        fingerprints=prints,
        abouts=[About(label, "", now, text, scene.name) for text in prints],
        recipes=[snapshot.take(scene, [obj]) for obj in cloths] if kept else [],
        owners=[owner_in(path.parent) for path in paths],
    )


def _read(scene, cloths, bodies) -> tuple[list[Garment], list[Body]]:
    """Garments and bodies as they are where the bake begins."""
    with posed(scene, cloths, bodies), at_start(scene):
        depsgraph = depsgraph_of(scene)
        garments = [read_garment(obj, depsgraph, scene)._replace(meets=met(obj, cloths)) for obj in cloths]
        garments = [with_ties(garment, obj, cloths, depsgraph) for garment, obj in zip(garments, cloths, strict=True)]
        return garments, [read_collider(obj, depsgraph)._replace(meets=met_by(obj, cloths)) for obj in bodies]


def _paths(scene, cloths, go_on, from_frame):
    paths = bake_paths(scene, cloths, go_on)
    for path in paths:
        refuse_long(path)
    if from_frame > scene.frame_start:
        _refuse_other_frames(scene, cloths, paths)
    return paths


def _refuse_other_frames(scene, cloths, paths) -> None:
    """Raise ValueError where what is baked is another scene's, begins at another frame, or has other times or vertices: none of it
    can be kept."""
    for obj, path, source in zip(cloths, paths, sources(cloths, paths), strict=True):
        if other := other_scene_of_bake(obj, scene):
            raise ValueError(
                f"{obj.name} plays the bake of scene {other}, which is another shot; press Bake, which keeps that one in the list"
            )
        header, count = None, len(obj.data.vertices)
        with contextlib.suppress(OSError):
            header = read_journal_header((source or path).with_suffix(".journal"))
        if header is None:
            continue
        first, fps, now = header["first_frame"], header["fps"], 1.0 / frame_seconds(scene)
        if first != scene.frame_start:
            raise ValueError(
                f"{obj.name} is baked from frame {first} on, and the range starts at {scene.frame_start} now; press Bake, which keeps that one in the list, or set it back"
            )
        if fps != now:
            raise ValueError(
                f"{obj.name} is baked at {fps:.5g} frames a second, and the scene has {now:.5g} now; press Bake, which keeps that one in the list, or set it back"
            )
        if header["vertex_count"] != count:
            raise ValueError(
                f"{obj.name} is baked with {header['vertex_count']} vertices, and its mesh has {count} now; press Bake, which keeps that one in the list, or set it back"
            )


def _prints(scene, cloths, bodies) -> list[str]:
    """Fingerprints of cloths, with actions measured anew: a script may have changed them."""
    measures.forget_actions()
    return [json.dumps(fingerprint.take(obj, scene, bodies)) for obj in cloths]


def _wanted(scene, only) -> list[bpy.types.Object]:
    cloths = cloths_of(scene)
    if unknown := sorted(set(only) - {obj.name for obj in cloths}):
        raise ValueError(f"{unknown[0]} is not a Taffeta Cloth of scene {scene.name}; check the name")
    wanted = [obj for obj in cloths if obj.name in only] if only else without_linked(cloths)
    for obj in wanted:
        refuse_linked(obj)
    return wanted


def settings_of(scene: bpy.types.Scene, quality: str) -> Settings:
    """The solver's settings in this quality, PREVIEW or FINAL."""
    source = scene.taffeta
    values = {name: getattr(source, name) for name in Settings._fields if name != "guard_bodies"}
    if quality == "PREVIEW":
        values |= {"substeps": source.substeps_preview, "small_steps": PREVIEW_STEPS * source.small_steps}
    for name in keyed_settings(scene):  # told frame by frame: their value now depends on the frame that is shown
        del values[name]
    return Settings(**{name: plain(value) for name, value in values.items()})


def quality_of(cloths: list[bpy.types.Object]) -> str:
    """Of the whole bake: one Final garment makes it FINAL, else it is PREVIEW."""
    return "FINAL" if any(obj.taffeta_cloth.quality == "FINAL" for obj in cloths) else "PREVIEW"


def notices(scene: bpy.types.Scene, order: Order, asked: bool = False) -> list[tuple[str, str]]:
    """What to tell before a bake begins, though nothing is wrong: pairs (level, sentence).

    asked : whether the animator has seen what Preflight asks about, so that it need not be said again.
    """
    told = []
    if not bpy.data.filepath and scene.taffeta.cache_folder.startswith("//"):
        told.append(("INFO", f"The file is not saved: the bake goes to {order.paths[0].parent}"))
    baked = {known.uid: path for known, path in zip(order.garment_objects, order.paths, strict=True)}
    paths = [(obj, baked[obj.session_uid]) for obj in cloths_of(scene) if obj.session_uid in baked]
    told += [("INFO", sentence) for obj, path in paths if (sentence := stranger(obj, path))]
    if not asked and (problem := gravity_problem(scene)) is not None:
        told.append(("WARNING", f"{problem.sentence}; type -9.81 into Scene tab, Gravity, Z"))
    if not asked and (problem := remapping_problem(scene)) is not None:
        told.append(("WARNING", f"{problem.sentence}; set Old and New to the same in the Output tab, Time Stretching"))
    told += [("WARNING", sentence) for sentence in left_out(scene, order)]
    names = {garment.name for garment in order.garments}
    preview = [obj.name for obj in cloths_of(scene) if obj.name in names and obj.taffeta_cloth.quality == "PREVIEW"]
    if order.quality == "PREVIEW":
        told.append(
            (
                "INFO",
                f"Preview quality, {order.settings.substeps} substeps: softer cloth; "
                "choose Final for the bake that counts",
            )
        )
    elif preview:
        others = ", ".join(sorted(names - set(preview)))
        told.append(("INFO", f"{', '.join(preview)}: baked as Final, not Preview, together with {others}"))
    return told


def left_out(scene: bpy.types.Scene, order: Order) -> list[str]:
    """Sentences where cloth goes through other cloth because that is not baked with it, and no collider: what is above, below
    or around it now.
    """
    known = {part.name for part in (*order.garments, *order.bodies)}
    cloths = cloths_of(scene)
    baked = [obj for obj in cloths if obj.name in {garment.name for garment in order.garments}]
    pairs = [
        (one, other)
        for other in cloths
        for one in baked
        if other.name not in known and meet(one, other) and _above_each_other(one, other)
    ]
    told, linked = [], [pair for pair in pairs if pair[1].library is not None]
    if here := [pair for pair in pairs if pair not in linked]:
        ones, others = _names(here)
        told.append(
            f"{ones} will go through what is left out, {others}: select both, or keep the bake of {others} and add a Taffeta "
            "Collider there"
        )
    if linked:
        ones, others = _names(linked)
        told.append(
            f"{ones} will go through what is linked and left out, {others}: add a Taffeta Collider there, in its own file"
        )
    return told


def _names(pairs) -> Iterator[str]:
    """Of all that stand first in pairs of objects, and of all that stand second."""
    return (", ".join(dict.fromkeys(obj.name for obj in objects)) for objects in zip(*pairs, strict=True))


def _above_each_other(one: bpy.types.Object, other: bpy.types.Object) -> bool:
    """Whether the boxes of two objects meet as seen from above."""
    (low, high), (bottom, top) = world_box([one]), world_box([other])
    return bool((low[:2] <= top[:2]).all() and (bottom[:2] <= high[:2]).all())


def _refuse_problems(scene, names: set[str], kept: bool) -> None:
    for problem in problem_list.check(scene, depsgraph_of(scene)):
        if problem.filing and not kept:
            continue
        if problem.severity == "ERROR" and problem.object in names | {""}:
            raise ValueError(f"{problem.sentence}. {problem.remedy}")
