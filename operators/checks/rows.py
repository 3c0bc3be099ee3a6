# SPDX-License-Identifier: GPL-3.0-or-later
"""The rows of the preflight list: each function looks for one kind of trouble in a shot and only reads.

They are quick enough to run while the animator works: together some milliseconds for garments and bodies of 15,000
vertices. A sentence starts with the object's name when it is about an object.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import bpy

from ...panels.mapped import ROWS
from ...panels.translations import translated
from ..playback import cache_modifier
from ..playback.owners import cache_folder, wanted_folder
from ..read import pattern_size
from ..read.file_path import is_elsewhere
from ..read.keyed import keyed
from ..read.mesh_io import evaluated_names
from ..read.participants import is_held, lost_mesh, near_bodies
from ..read.time_and_gravity import frame_seconds
from .cache_rows import CACHE_CHECKS
from .cage_rows import CAGE_CHECKS
from .contact_rows import CONTACT_CHECKS
from .fabric_rows import FABRIC_CHECKS
from .force_rows import FORCE_CHECKS
from .group_rows import GROUP_CHECKS
from .hanging_rows import HANGING_CHECKS
from .instance_rows import INSTANCE_CHECKS
from .maker_rows import MAKER_CHECKS, making
from .map_rows import MAP_CHECKS
from .pin_rows import PIN_CHECKS
from .played_rows import PLAYED_CHECKS
from .problem import Problem, Shot
from .rig_rows import RIG_CHECKS
from .rigid_rows import RIGID_CHECKS
from .scale_rows import SCALE_CHECKS
from .shape_rows import SHAPE_CHECKS

BYTES_PER_VERTEX = 60  # of a frame on disk: float32 positions and float64 state
# What a stiffness of 0 means: severity, consequence, remedy.
ZERO_STIFFNESS = {
    "stretch_stiffness": (
        "ERROR",
        "nothing would hold it together, and the bake refuses it",
        "Choose a fabric, or 100 N/m and more",
    ),
    "shear_stiffness": (
        "WARNING",
        "its threads turn freely, so it sags askew like a net",
        "Choose a fabric; soft jersey has 20 N/m",
    ),
    "bending_stiffness": (
        "WARNING",
        "it crumples into creases as small as its faces",
        "Choose a fabric; thin silk has 0.8 µN m",
    ),
}


def _setup(shot: Shot) -> Iterator[Problem]:
    """Is there anything to simulate, and anything to collide with?"""
    if not shot.cloths:
        yield Problem(
            "ERROR",
            "",
            f"Scene {shot.scene.name} has no Taffeta Cloth",
            "Select a mesh and press Taffeta Cloth in the Physics tab",
        )
        return
    settings = shot.scene.taffeta
    chosen = settings.collider_collection if settings.collider_source == "COLLECTION" else None
    if settings.collider_source == "COLLECTION" and chosen is None:
        yield Problem(
            "ERROR",
            "",
            "Collide with is set to Collection, but none is chosen",
            "Choose one in Collision, or set it to All",
        )
    elif not shot.colliders:
        where = f" in collection {chosen.name}" if chosen else ""
        near = near_bodies(shot.scene, shot.cloths, linked=True)
        if chosen is None and not near and all(map(is_held, shot.cloths)):
            return  # a flag or a curtain needs none
        yield Problem(
            "WARNING",
            "",
            f"There is no collider{where}",
            "Select the body and press Taffeta Collider in the Physics tab",
            ("taffeta.fix_colliders",) if chosen is None and any(obj.library is None for obj in near) else (),
        )


def _bodies(shot: Shot) -> Iterator[Problem]:
    """Cloths that are colliders, too, and colliders that keep no cloth out, or at no distance."""
    for obj in shot.cloths:
        if obj.taffeta_collider.enabled and cache_modifier.played(obj) is not None:
            yield Problem(
                "INFO",
                obj.name,
                f"{obj.name} is a collider, too: only of cloth that Bake Selected Only bakes without it",
                "Remove Taffeta Collider from it once its bake need not stay as it is",
            )
        elif obj.taffeta_collider.enabled:
            yield Problem(
                "WARNING",
                obj.name,
                f"{obj.name} is cloth and collider at once; as a collider it is left out",
                "Remove Taffeta Collider from it: cloths collide with each other anyway",
                ("taffeta.fix_own_collider",),
            )
    for obj in shot.colliders if shot.cloths else ():
        if not obj.taffeta_collider.collides and "taffeta_collider.collides" not in keyed(obj):
            remedy = "Switch Collide on in its Physics tab, or key it for the frames in which it is to keep cloth out"
            yield Problem("INFO", obj.name, f"{obj.name} lets all cloth through: its Collide is off", remedy)
        if obj.taffeta_collider.aura <= 0.0:
            yield Problem(
                "WARNING",
                obj.name,
                f"{obj.name} has a Distance of 0: its skin shows through the cloth",
                "Give it some millimetres",
                ("taffeta.fix_aura",),
            )


def _meshes(shot: Shot) -> Iterator[Problem]:
    """Meshes that cannot be simulated, or are shared, linked, hidden, being edited."""
    for obj in (*shot.cloths, *shot.colliders):
        if lost := lost_mesh(obj):
            remedy = "Bring that back, or tell Blender where it is: Outliner, Blender File, right-click the library, Relocate"
            yield Problem("ERROR", obj.name, lost, remedy, alone=True)
    for obj in shot.cloths:
        if not obj.data.polygons:
            yield Problem(
                "ERROR",
                obj.name,
                f"{obj.name} has no faces",
                making(obj)[0] or "Cloth needs faces: fill its edges (F in Edit Mode)",
                making(obj)[1],
                alone=True,
            )
        if obj.library is not None:
            yield _linked(obj)
        twins = [other.name for other in shot.cloths if other is not obj and other.data == obj.data]
        if twins:
            yield Problem(
                "INFO",
                obj.name,
                f"{obj.name} shares its mesh with {', '.join(twins)}: what is painted on one is on all",
                "For maps of its own: Object > Relations > Make Single User > Object & Data",
            )
    for obj in shot.colliders:
        if not obj.data.polygons:
            remedy = "Add faces, or switch its Taffeta Collider off"
            yield Problem("ERROR", obj.name, f"{obj.name} has no faces: nothing can touch it", remedy, alone=True)


def _unmoved(shot: Shot) -> Iterator[Problem]:
    """Garments and bodies that Blender does not move, or that viewports do not show."""
    evaluated = evaluated_names(shot.depsgraph.view_layer.layer_collection)
    for obj in (*shot.cloths, *shot.colliders):
        if obj.mode == "EDIT":
            remedy = f"Leave it: select {obj.name} and press Tab"
            yield Problem("ERROR", obj.name, f"{obj.name} is in Edit Mode, where Blender does not move it", remedy)
        if obj.name not in evaluated:
            yield Problem(
                "ERROR",
                obj.name,
                f"{obj.name} is in no collection that this view layer shows: Blender does not move it",
                "Tick its collection in the Outliner, and turn on its monitor icon, or take Taffeta off it",
            )
        elif obj.hide_viewport:
            yield Problem(
                "WARNING",
                obj.name,
                f"{obj.name} is disabled in viewports; it takes part in the bake all the same",
                "Turn on its monitor icon in the Outliner, or take Taffeta off it",
            )
        elif "hide_viewport" in keyed(obj):
            sentence = f"{obj.name} is disabled in viewports by keys; it takes part in the bake all the same"
            yield Problem("WARNING", obj.name, sentence, "Clear these keys, or take Taffeta off it")


def _patterns(shot: Shot) -> Iterator[Problem]:
    """Patterns that are gone, or that something needs which has none."""
    for obj in shot.cloths:
        cloth = obj.taffeta_cloth
        if cloth.uv_map and cloth.uv_map not in obj.data.uv_layers:
            yield Problem(
                "ERROR",
                obj.name,
                f"{obj.name}: there is no UV map '{cloth.uv_map}' for the pattern",
                "Choose one of its UV maps, or none",
            )
        elif lack := pattern_size.positions(obj)[1]:
            yield Problem("ERROR", obj.name, lack, "")
        if not cloth.uv_map and cloth.model != "SPRINGS" and not cloth.weft_stretch == cloth.weft_bending == 1.0:
            yield Problem(
                "INFO",
                obj.name,
                f"{obj.name} has no Pattern that tells warp from weft: both are as stiff as their mean",
                "Choose its UV map of the sewing pattern, with the warp along u",
            )
        if not cloth.uv_map and cloth.elastic_along != "BOTH" and is_elastic(cloth):
            yield Problem(
                "ERROR",
                obj.name,
                f"{obj.name} has painted elastic along a thread, and no Pattern that tells the threads",
                "Choose its UV map of the sewing pattern, or set Elastic Along to All Directions",
            )


def is_elastic(cloth) -> bool:
    """Whether a garment's settings have elastic painted, or everywhere."""
    return cloth.elastic.source != "UNIFORM" or cloth.elastic.value > 0.0


def _stiffness(shot: Shot) -> Iterator[Problem]:
    """Materials without resistance: allowed but for stretch, and seldom meant."""
    for obj in shot.cloths:
        for name, (severity, meaning, remedy) in ZERO_STIFFNESS.items():
            mapped = getattr(obj.taffeta_cloth, name)
            ends = (mapped.value,) if mapped.source == "UNIFORM" else (mapped.minimum, mapped.maximum)
            label = translated(ROWS[name].label)
            if max(ends) <= 0.0:
                yield Problem(severity, obj.name, f"{obj.name} has a {label} of 0: {meaning}", remedy)
            elif min(ends) <= 0.0 and severity == "ERROR":
                sentence = f"{obj.name}: {label} may be 0 somewhere by its map: {meaning}"
                yield Problem("WARNING", obj.name, sentence, remedy)


def _frames(shot: Shot) -> Iterator[Problem]:
    """Ranges that bake nothing, and time that runs otherwise than frames."""
    scene = shot.scene
    try:
        frame_seconds(scene)
    except ValueError as error:
        yield Problem("ERROR", "", str(error), "Set Base to 1")
    if (problem := remapping_problem(scene)) is not None:
        yield problem
    if scene.frame_end < scene.frame_start:
        yield Problem(
            "ERROR",
            "",
            f"The frame range ends ({scene.frame_end}) before it starts ({scene.frame_start})",
            "Set it in the Output tab",
        )
    elif scene.frame_end == scene.frame_start:
        yield Problem("WARNING", "", "The frame range is one frame: nothing will move", "Set its end in the Output tab")


def _linked(obj: bpy.types.Object) -> Problem:
    """What is to be said of a garment of another file."""
    if cache_modifier.plays_as_linked(obj):
        sentence = f"{obj.name} is linked from {obj.library.filepath} and plays its bake, which Bake leaves as it is"
        return Problem("INFO", obj.name, sentence, "To bake it here, make a library override of it")
    sentence = f"{obj.name} is linked from {obj.library.filepath}"
    return Problem(
        "ERROR", obj.name, sentence, "Make a library override of it, or bake the others by Bake Selected Only"
    )


def remapping_problem(scene: bpy.types.Scene) -> Problem | None:
    """What is to be said where frames are shown at other times."""
    if scene.render.frame_map_old == scene.render.frame_map_new:
        return None
    return Problem(
        "WARNING",
        "",
        "Time Stretching is on: a bake has a sample a frame, and plays at other frames than it was made for",
        "Set Old and New to the same in the Output tab, Frame Range, Time Stretching",
        ("taffeta.fix_remapping",),
    )


def _disk(shot: Shot) -> Iterator[Problem]:
    """Unsaved files, folders that cannot be written, and too little room."""
    if not bpy.data.filepath and wanted_folder(shot.scene).startswith("//"):
        yield Problem(
            "WARNING",
            "",
            "The file is not saved: the bake goes to the temporary folder",
            "Save the file to keep bakes beside it",
            ("taffeta.fix_save",),
        )
    if is_elsewhere(shot.scene.taffeta.cache_folder.strip()):
        sentence = f"Cache Folder {shot.scene.taffeta.cache_folder} is a place on Windows"
        remedy = "Choose one that this system has, or one beside the file, as //taffeta_cache"
        yield Problem("ERROR", "", sentence, remedy, filing=True)
        return
    folder = _existing(cache_folder(shot.scene))
    if not os.path.isdir(folder) or not os.access(folder, os.W_OK):
        sentence = f"The cache folder cannot be written: {folder}"
        yield Problem("ERROR", "", sentence, "Choose another Cache Folder", filing=True)
        return
    frame_count = max(0, shot.scene.frame_end - shot.scene.frame_start + 1)
    needed = BYTES_PER_VERTEX * frame_count * sum(len(obj.data.vertices) for obj in shot.cloths)
    left = shutil.disk_usage(folder).free
    if needed > left:
        yield Problem(
            "WARNING",
            "",
            f"The bake needs {needed / 1e9:.2g} GB, {folder} has {left / 1e9:.2g} GB left",
            "Make room or choose another Cache Folder; frames that fit are kept",
            heavy=True,
        )


def _existing(folder: Path) -> Path:
    """The folder, or the nearest of its parents that exists."""
    # os.path, because Path raises at a name that is too long
    return next((path for path in (folder, *folder.parents) if os.path.exists(path)), Path(folder.anchor or "."))


CHECKS = (
    _setup,
    _bodies,
    _meshes,
    _unmoved,
    *INSTANCE_CHECKS,
    *SHAPE_CHECKS,
    *MAKER_CHECKS,
    *RIG_CHECKS,
    *HANGING_CHECKS,
    *CAGE_CHECKS,
    _patterns,
    *MAP_CHECKS,
    *GROUP_CHECKS,
    _stiffness,
    *FABRIC_CHECKS,
    *PIN_CHECKS,
    *SCALE_CHECKS,
    *FORCE_CHECKS,
    *CONTACT_CHECKS,
    *RIGID_CHECKS,
    _frames,
    _disk,
    *CACHE_CHECKS,
    *PLAYED_CHECKS,
)
