# SPDX-License-Identifier: GPL-3.0-or-later
"""What is wrong or doubtful before a bake: the list, live in the panel and thorough on request.

`check` takes the quick look of `rows`. What takes longer, reading every map and counting crossings, is done by the
operator `taffeta.preflight` alone; what it found stays listed until it runs again. While the animator works, the list
is made anew a moment after each change.
"""

from collections.abc import Iterator

import bpy
import numpy as np
from bpy.app.handlers import persistent

from ...panels.choices import DYNAMICS
from ...panels.mapped import MAPPED
from ...solver.cache.frames import cached_frames
from ...solver.model import EXPLICIT, Settings
from ..playback.bake_files import cache_file, older_sentence, own_older
from ..read import maps
from ..read.fabrics import bending_before_stiffening, preset_of
from ..read.mesh_io import evaluated_names, metres_per_unit, read_collider, read_garment
from ..read.participants import cloths_of
from ..read.preroll import at_start
from ..read.sampling import depsgraph_of, posed
from . import crossings
from .fabric_rows import fabric_sentence
from .problem import Problem, Shot
from .rows import CHECKS, colliders, missing, stale

LIST_DELAY = 0.3  # [s] between a change and the new list
PAINT_DELAY = 1.0  # [s] the same while a garment is painted: a stroke must not wait for the list
EDIT_TICK = 1.0  # [s] between looks whether the animator has stopped editing
PAINTED = frozenset(("WEIGHT_PAINT", "VERTEX_PAINT", "TEXTURE_PAINT"))
VELOCITY_FIELD_REMEDY = (
    "The velocity field bakes it all the same: where they cross they go on with each other, and nothing pushes them "
    "apart. Press Untangle in Layers to have garments apart"
)

# What the operator found last in each scene (by session uid): problems, and vertices to select by object name.
_thorough: dict[int, list[Problem]] = {}
_vertices: dict[tuple[int, str], np.ndarray] = {}


def check(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> list[Problem]:
    """Everything that a quick look finds, errors first. Changes nothing."""
    cloths = cloths_of(scene)
    shot = Shot(scene, depsgraph, cloths, colliders(scene, cloths))
    return _sorted(problem for find in CHECKS for problem in find(shot))


def check_thoroughly(scene: bpy.types.Scene) -> list[Problem]:
    """What takes longer than a quick look: every map is read; what crosses or is inside a body at the start is counted.

    Seconds for large characters. Those vertices are kept for `taffeta.select_problem`.
    """
    cloths = cloths_of(scene)
    bodies = colliders(scene, cloths)
    evaluated = evaluated_names(depsgraph_of(scene).view_layer.layer_collection)
    shown = [[obj for obj in objects if obj.name in evaluated and obj.data.polygons] for objects in (cloths, bodies)]
    found = [problem for obj in shown[0] for problem in _read_maps(obj)]
    for key in [key for key in _vertices if key[0] == scene.session_uid]:
        del _vertices[key]
    found += _tangles(scene, *shown)
    found += _read(scene, *shown, found)
    _thorough[scene.session_uid] = found
    return found


def _tangles(scene: bpy.types.Scene, cloths, bodies) -> Iterator[Problem]:
    """Garments that start across something or inside a body; their vertices are kept for `taffeta.select_problem`."""
    pose = crossings.start_pose(scene, cloths, bodies)
    crossed = {(one.garment, one.other): one for one in crossings.find_crossings(*pose)}
    immersed = {(one.garment, one.body): one for one in crossings.find_immersions(*pose)}
    for pair in dict.fromkeys((*crossed, *immersed)):
        garment, other = pair
        sentence, remedy = "", "Select them and pull them out, or bake: they are eased apart as far as possible"
        if crossing := crossed.get(pair):
            sentence = (
                f"{garment} crosses {'itself' if garment == other else other} at the start: "
                f"{crossing.pair_count} pairs of triangles, {len(crossing.vertices)} of its vertices"
            )
            if scene.taffeta.cloth_contact == "VELOCITY_FIELD" and other not in {body.name for body in bodies}:
                remedy = VELOCITY_FIELD_REMEDY
            elif garment != other:
                remedy = "Press Untangle in Layers, or bake: they are eased apart as far as possible"
            _keep(scene, garment, crossing.vertices)
            _keep(scene, other, crossing.other_vertices)
        if immersion := immersed.get(pair):
            count, deep = len(immersion.vertices), crossings.length(immersion.depth * metres_per_unit(scene))
            if sentence:
                sentence += f"; {count} are inside, up to {deep} deep"
            elif count < immersion.vertex_count:
                sentence = (
                    f"{garment} is partly inside {other} at the start: {count} of its vertices, up to {deep} deep"
                )
            else:
                sentence = f"{garment} is wholly inside {other} at the start: all {count} vertices, up to {deep} deep"
                remedy = f"Move it out of {other}; if it belongs in there, flip the faces of {other} inward"
            _keep(scene, garment, immersion.vertices)
        yield Problem("WARNING", garment, sentence, remedy)


def _keep(scene: bpy.types.Scene, name: str, vertices: np.ndarray) -> None:
    key = (scene.session_uid, name)
    _vertices[key] = np.union1d(_vertices.get(key, vertices), vertices)


def _read(scene, cloths, bodies, found) -> Iterator[Problem]:
    """Read all as a bake does at its first frame: what that would refuse, if it is not among the `found` ones."""
    told, garments = {problem.sentence for problem in (*check(scene, depsgraph_of(scene)), *found)}, []
    with posed(scene, cloths, bodies), at_start(scene):
        depsgraph = depsgraph_of(scene)
        for obj in (*cloths, *bodies):
            try:
                if obj in cloths:
                    garments.append(read_garment(obj, depsgraph, scene))
                else:
                    read_collider(obj, depsgraph, scene)
            except ValueError as error:
                if str(error) not in told:
                    yield Problem("ERROR", obj.name, str(error), "")
    yield from _inner_steps(scene, garments)


def _inner_steps(scene, garments) -> Iterator[Problem]:
    """Explicit dynamics whose stable step is so short that the bake would take for ever."""
    name = scene.taffeta.dynamics
    if name not in EXPLICIT:
        return
    from ...solver.build import build
    from ...solver.integrate.explicit import MANY_INNER_STEPS, MOST_INNER_STEPS, count_steps

    for garment in garments:
        try:
            cloth, _ = build([garment], Settings())
        except ValueError as error:
            yield Problem("ERROR", garment.name, str(error), "")
            continue
        count = count_steps(name, cloth, scene.taffeta.pin_rate)
        if count > MANY_INNER_STEPS:
            label = next(item[1] for item in DYNAMICS if item[0] == name)
            yield Problem(
                "ERROR" if count > MOST_INNER_STEPS else "WARNING",
                garment.name,
                f"{garment.name} needs {count:,} steps of {label} in 1/24 s to stay stable",
                "Set Dynamics to Linearly Implicit, or lower Stretch, Shear, Bending and half-weight pins, or use larger faces",
            )


def _read_maps(obj) -> Iterator[Problem]:
    """Maps that are there but cannot be read."""
    for name in MAPPED:
        mapped = getattr(obj.taffeta_cloth, name)
        if mapped.source != "UNIFORM" and not missing(obj, mapped):
            try:
                maps.read_map(obj, mapped, obj.data)
            except ValueError as error:
                yield Problem("ERROR", obj.name, str(error), "")


def latest(scene: bpy.types.Scene) -> list[Problem]:
    """A quick look now, and what the operator found last."""
    return _sorted([*check(scene, depsgraph_of(scene)), *_thorough.get(scene.session_uid, ())])


def show(scene: bpy.types.Scene) -> list[Problem]:
    """Put the list where the panel draws it, and the reason why a cache is stale with its garment."""
    found = latest(scene)
    session = bpy.context.window_manager.taffeta
    session.problems.clear()
    for problem in found:
        item = session.problems.add()
        item.severity, item.object_name = problem.severity, problem.object
        item.sentence, item.remedy, item.verbs = problem.sentence, problem.remedy, " ".join(problem.verbs)
        crossing = problem in _thorough.get(scene.session_uid, ()) and problem.severity == "WARNING"
        item.selectable = crossing and (scene.session_uid, problem.object) in _vertices
    session.checked = True
    cloths = cloths_of(scene)
    bodies = colliders(scene, cloths)
    for obj in cloths:
        words = stale(obj, scene, bodies)
        if obj.library is None and obj.taffeta_cloth.stale != words:
            obj.taffeta_cloth.stale = words
    _show_notes(scene, cloths)
    return found


def _show_notes(scene, cloths) -> None:
    """Put what each garment is made of, and the room that its older bakes take, where its panels draw it."""
    session = bpy.context.window_manager.taffeta
    session.older.clear()
    session.fabrics.clear()
    for obj in cloths:
        item = session.fabrics.add()
        item.name, item.sentence = obj.name, fabric_sentence(obj, scene)
        item.fabric = preset_of(obj.taffeta_cloth)[0]
        path = cache_file(obj)
        item.frame_count = len(path and cached_frames(path) or ())
        item.verbs = "taffeta.subdivide" if bending_before_stiffening(obj, scene) is not None else ""
        if paths := own_older(obj, scene):
            item = session.older.add()
            item.name, item.sentence = obj.name, f"{older_sentence(paths)} of {obj.name} in the cache folder"


def crossing_vertices(scene: bpy.types.Scene, name: str) -> np.ndarray | None:
    """Vertices of the object `name` that `check_thoroughly` found crossing or inside something; None if it found none."""
    return _vertices.get((scene.session_uid, name))


def _sorted(problems) -> list[Problem]:
    return sorted(problems, key=lambda problem: ("ERROR", "WARNING", "INFO").index(problem.severity))


def _tick() -> float | None:
    """Make the list anew, some time after a change; never while a bake reads the scene.

    Returns the seconds after which to try again: a garment that is being edited is not looked at.
    """
    session = getattr(bpy.context.window_manager, "taffeta", None)
    scene = bpy.context.scene
    cloths = cloths_of(scene) if session is not None and scene is not None and not session.baking else ()
    if not cloths:
        return None
    if any(obj.mode not in {"OBJECT", "POSE", *PAINTED} for obj in cloths):
        return EDIT_TICK
    show(scene)
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "PROPERTIES":
                area.tag_redraw()
    return None


@persistent
def look_again(*_):
    """Something changed: make the list anew soon. There is nobody to show it to in background mode."""
    if not bpy.app.background and not bpy.app.timers.is_registered(_tick):
        painted = getattr(bpy.context, "mode", "").startswith("PAINT")
        bpy.app.timers.register(_tick, first_interval=PAINT_DELAY if painted else LIST_DELAY)


@persistent
def _opened(*_):
    """Another file: what was found in the last one is of no use."""
    _forget()
    look_again()


def _forget() -> None:
    _thorough.clear()
    _vertices.clear()


HANDLERS = (
    ("depsgraph_update_post", look_again),
    ("undo_post", look_again),
    ("redo_post", look_again),
    ("load_post", _opened),
    ("save_post", look_again),
)


def register():
    """Keep the list up to date."""
    for name, handler in HANDLERS:
        getattr(bpy.app.handlers, name).append(handler)


def unregister():
    """Undo `register`."""
    for name, handler in HANDLERS:
        getattr(bpy.app.handlers, name).remove(handler)
    if bpy.app.timers.is_registered(_tick):
        bpy.app.timers.unregister(_tick)
    _forget()
