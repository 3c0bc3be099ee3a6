# SPDX-License-Identifier: GPL-3.0-or-later
"""What is wrong or doubtful before a bake: the list, live in the panel and thorough on request.

`check` takes the quick look of `rows`. What takes longer, reading every map and counting crossings, is done by the
operator `taffeta.preflight` alone; what it found stays listed until it runs again. While the animator works, the list
is made anew a moment after each change.
"""

from collections.abc import Generator, Iterator
from functools import partial

import bpy
from bpy.app.handlers import persistent

from ...panels.choices import DYNAMICS
from ...panels.mapped import MAPPED
from ...panels.translations import translated
from ...solver.cache import about, recipe
from ...solver.model import EXPLICIT, Settings
from ..playback.bake_files import bakes_of, room, shown_frames, trash_of
from ..playback.cache_modifier import played
from ..playback.owners import cache_file, maker_of
from ..read import correction, maps, measures
from ..read.fabrics import bending_before_stiffening, fabric_name
from ..read.listen import listen, listen_no_more
from ..read.mesh_io import evaluated_names, metres_per_unit, read_collider, read_garment
from ..read.participants import cloths_of, colliders
from ..read.preroll import at_start
from ..read.sampling import depsgraph_of, posed
from ..read.screen import redraw
from . import crossings, fingerprint, releases, squeezed, tangle_rows, tight
from .cache_rows import stale
from .fabric_rows import fabric_sentence
from .instance_rows import copies
from .jump_rows import jumps
from .map_rows import missing
from .problem import Problem, Shot
from .rows import CHECKS
from .start_rows import beginning

LIST_DELAY = 0.3  # [s] between a change and the new list
PAINT_DELAY = 1.0  # [s] the same while a garment is painted: a stroke must not wait for the list
EDIT_TICK = 1.0  # [s] between looks whether the animator has stopped editing
PAINTED = frozenset(("WEIGHT_PAINT", "VERTEX_PAINT", "TEXTURE_PAINT"))

# What the operator found last in each scene (by session uid).
_thorough: dict[int, list[Problem]] = {}


def check(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> list[Problem]:
    """Everything that a quick look finds, errors first. Changes nothing."""
    cloths = cloths_of(scene)
    shot = Shot(scene, depsgraph, cloths, colliders(scene, cloths))
    return _sorted(_one_a_fault(problem for find in CHECKS for problem in find(shot)))


def _one_a_fault(problems) -> list[Problem]:
    """No problem twice, and of an object that has no shape nothing else."""
    found = list(dict.fromkeys(problems))
    broken = {problem.object for problem in found if problem.alone}
    first = {problem.object: problem for problem in reversed(found) if problem.alone}
    return [problem for problem in found if problem.object not in broken or problem == first[problem.object]]


def look_thoroughly(scene: bpy.types.Scene) -> Generator[str, None, list[Problem]]:
    """What takes longer than a quick look: every map is read; what crosses or is inside a body at the start is counted.

    Seconds for large characters, so it yields what is looked at next; the list is returned. Whoever stops it keeps the list
    that there was. Those vertices are kept for `taffeta.select_problem` (`tangle_rows`).
    """
    measures.forget_actions()
    yield "Reading the maps"
    cloths = cloths_of(scene)
    bodies = colliders(scene, cloths)
    known = evaluated_names(depsgraph_of(scene).view_layer.layer_collection)
    shown = [[o for o in each if o.name in known and o.data.polygons and o.mode != "EDIT"] for each in (cloths, bodies)]
    found = [problem for obj in shown[0] for problem in _read_maps(obj)] + [*copies(depsgraph_of(scene), bodies)]
    found += jumps(scene, *shown)
    yield "Reading the first frame"
    surfaces = crossings.start_pose(scene, *shown)
    tangles = yield from crossings.find_tangles(*surfaces)
    yield "Looking for room between bodies"
    narrow = list(squeezed.find_squeezed(*surfaces, metres_per_unit(scene)))
    stretched = list(tight.find_tight(*surfaces, metres_per_unit(scene)))
    yield "Reading the shot as a bake does"
    tangle_rows.forget(scene)
    found += [*tangle_rows.tangled(scene, shown[1], *tangles), *tangle_rows.squeezed(scene, narrow)]
    found += tangle_rows.tight(stretched)
    found += _read(scene, *shown, found)
    _thorough[scene.session_uid] = found
    return found


def check_thoroughly(scene: bpy.types.Scene) -> list[Problem]:
    """All of `look_thoroughly` at once."""
    looking = look_thoroughly(scene)
    try:
        while True:
            next(looking)
    except StopIteration as end:
        return end.value


def _read(scene, cloths, bodies, found) -> Iterator[Problem]:
    """Read all as a bake does at its first frame: what that would refuse, if it is not among the `found` ones."""
    refused = {
        problem.object for problem in (*check(scene, depsgraph_of(scene)), *found) if problem.severity == "ERROR"
    }
    garments = []
    with posed(scene, cloths, bodies), at_start(scene):
        depsgraph = depsgraph_of(scene)
        for obj in (*cloths, *bodies):
            try:
                if obj in cloths:
                    garments.append(read_garment(obj, depsgraph, scene))
                else:
                    read_collider(obj, depsgraph)
            except ValueError as error:
                if obj.name not in refused:  # else that is told already, in other words
                    yield Problem("ERROR", obj.name, str(error), "")
    yield from beginning(scene, garments)
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
            cloth, _ = build([garment], Settings(cloth_contact=scene.taffeta.cloth_contact))
        except ValueError as error:
            yield Problem("ERROR", garment.name, str(error), "")
            continue
        count = count_steps(name, cloth, scene.taffeta.pin_rate)
        if count > MANY_INNER_STEPS:
            label = translated(next(item[1] for item in DYNAMICS if item[0] == name))
            yield Problem(
                "ERROR" if count > MOST_INNER_STEPS else "WARNING",
                garment.name,
                f"{garment.name} needs {count:,} steps of {label} in 1/24 s to stay stable",
                "Set Dynamics to Linearly Implicit, or lower Stretch, Shear, Bending and half-weight pins, or use larger faces",
                ("taffeta.fix_dynamics",),
            )


def _read_maps(obj) -> Iterator[Problem]:
    """Maps that are there but cannot be read."""
    for name in MAPPED:
        mapped = getattr(obj.taffeta_cloth, name)
        is_made = mapped.source == "ATTRIBUTE" and mapped.attribute not in obj.data.attributes  # by a modifier
        if mapped.source != "UNIFORM" and not is_made and not missing(obj, mapped):
            try:
                maps.read_map(obj, mapped, obj.data)
            except ValueError as error:
                yield Problem("ERROR", obj.name, str(error), "")


def latest(scene: bpy.types.Scene) -> list[Problem]:
    """A quick look now, and what the operator found last."""
    return _sorted([*check(scene, depsgraph_of(scene)), *_thorough.get(scene.session_uid, ())])


def hold_ups(scene: bpy.types.Scene) -> list[Problem]:
    """What a bake that is begun in a window asks about first: errors, and warnings of which it would be in vain."""
    return [problem for problem in latest(scene) if problem.severity == "ERROR" or problem.heavy]


def show(scene: bpy.types.Scene) -> list[Problem]:
    """Put the list where the panel draws it, and the reason why a cache is stale with its garment."""
    cloths = cloths_of(scene)
    correction.part_duplicates([obj for obj in cloths if obj.library is None])
    for obj in cloths:
        if obj.library is None:
            _know_what_plays(obj)
    with fingerprint.once():
        return _show(scene, cloths)


def _show(scene, cloths) -> list[Problem]:
    found = latest(scene)
    session = bpy.context.window_manager.taffeta
    session.problems.clear()
    for problem in found:
        item = session.problems.add()
        item.severity, item.object_name = problem.severity, problem.object
        item.sentence, item.remedy, item.verbs = problem.sentence, problem.remedy, " ".join(problem.verbs)
        item.selects = problem.selects
    session.checked = True
    bodies = colliders(scene, cloths)
    for obj in cloths:
        words = stale(obj, scene, bodies)
        if obj.library is None and obj.taffeta_cloth.stale != words:
            obj.taffeta_cloth.stale = words
    _show_notes(scene, cloths)
    return found


def _know_what_plays(obj) -> None:
    """After an undo a garment may play a newer bake than it knows of: what that was made of, the bake itself says."""
    path = played(obj)
    told = about.read(path).fingerprint if path is not None else ""
    if told and told != obj.taffeta_cloth.fingerprint:
        obj.taffeta_cloth.fingerprint = told


def _show_notes(scene, cloths) -> None:
    """Put what each garment is made of, and its bakes, where its panels draw it."""
    session = bpy.context.window_manager.taffeta
    session.fabrics.clear()
    for obj in cloths:
        item = session.fabrics.add()
        item.name, item.sentence, item.fabric = obj.name, fabric_sentence(obj, scene), fabric_name(obj, scene)
        _show_frames(item, obj)
        item.verbs = "taffeta.subdivide" if bending_before_stiffening(obj, scene) is not None else ""
    show_bakes(scene, cloths)


def _show_frames(item, obj) -> bool:
    """Say which frames a garment plays; whether these are others than before."""
    path, before = cache_file(obj), (item.frame_start, item.frame_count)
    frames = shown_frames(path) if path is not None else range(0)
    item.frame_start, item.frame_count = frames.start, len(frames)
    return before != (frames.start, len(frames))


def show_bakes(scene, cloths) -> None:
    """Put what lies on the disk for each garment, and in the trash, where the panel draws it."""
    session = bpy.context.window_manager.taffeta
    session.bakes.clear()
    bodies = colliders(scene, cloths)
    for obj, bakes in zip(cloths, bakes_of(scene, cloths), strict=True):
        again = partial(fingerprint.take, obj, scene, bodies)
        now, as_it_is = played(obj), again() if bakes else {}
        for bake in bakes:
            item = _entry(session, bake)
            item.garment, item.plays, item.maker = obj.name, bake.path == now, maker_of(bake.path)
            item.fits = fingerprint.mesh_of(obj, bake.vertex_count, bake.about.fingerprint) is not None
            item.changed = fingerprint.sentence(fingerprint.differing(bake.about.fingerprint, as_it_is, again))
            item.is_of_another_release = fingerprint.is_of_another_release(bake.about.fingerprint)
            if item.is_of_another_release:
                item.changed = releases.changes(bake.path, scene, obj)
            item.restorable = recipe.is_kept(bake.path)
    freed = trash_of(scene, cloths)
    for bake in freed:
        _entry(session, bake)
    session.trash = room(sum(bake.size for bake in freed)) if freed else ""


def _entry(session, bake):
    item, told = session.bakes.add(), bake.about
    settings = f"settings {fingerprint.digest(told.fingerprint)}" if told.fingerprint else ""
    item.label, item.note, item.path = told.label, told.note, str(bake.path)
    item.about = ", ".join(text for text in (told.date, settings, room(bake.size)) if text)
    item.frame_start, item.frame_count = bake.frames.start, len(bake.frames)
    return item


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
        known = [(item, obj) for obj in cloths if (item := session.fabrics.get(obj.name)) is not None]
        if any([_show_frames(item, obj) for item, obj in known]):  # a bake has ended meanwhile
            redraw(bpy.context, "PROPERTIES")
        return EDIT_TICK
    show(scene)
    redraw(bpy.context, "PROPERTIES")
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
    session = bpy.context.window_manager.taffeta
    session.bakes.clear()
    session.trash = ""
    look_again()


@persistent
def _saved(*_):
    """The file has a place now: the line that it has none goes at once. A new name owns no bake of the old one."""
    session = bpy.context.window_manager.taffeta
    if session.checked and not session.baking and bpy.context.scene is not None:
        show(bpy.context.scene)
    else:
        look_again()


def _forget() -> None:
    _thorough.clear()
    tangle_rows.forget_all()


HANDLERS = (
    ("depsgraph_update_post", look_again),
    ("undo_post", look_again),
    ("redo_post", look_again),
    ("load_post", _opened),
    ("save_post", _saved),
)


def register():
    """Keep the list up to date."""
    listen(HANDLERS)


def unregister():
    """Undo `register`."""
    listen_no_more(HANDLERS)
    if bpy.app.timers.is_registered(_tick):
        bpy.app.timers.unregister(_tick)
    _forget()
