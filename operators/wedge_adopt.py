# SPDX-License-Identifier: GPL-3.0-or-later
"""Adopt Wedge: the shot plays a copy of what was baked of a wedge, among its own bakes, and has its settings.

Caches are large: they are copied beside the window, and nothing of the scene changes before all are.
"""

from collections.abc import Generator
from contextlib import ExitStack, closing
from pathlib import Path

import bpy
from bpy.props import BoolProperty, StringProperty

from ..panels.translations import translated
from ..solver.cache import moves
from ..solver.cache import wedge as wedges
from ..solver.cache.trash import size_of
from . import wedge_table
from .bake import job as jobs
from .bake import wedged
from .bakes import play
from .checks.problem_list import look_again
from .live import turn
from .playback.bake_files import bake_paths, refuse_long, room, told_of
from .playback.owners import cache_folder, owner_in
from .read.participants import cloths_of, refuse_linked
from .wedge_copies import keep_adopted, place_of
from .wedges import list_again
from .work.steps import Step, Steps, by_shares
from .work.window import LongWork

FAILURES = ValueError, OSError


def adopting(context: bpy.types.Context, name: str, settings: bool) -> Steps:
    """Let the shot play a copy of the wedge `name`, and give it its settings if that is wanted; returns what to tell.

    Whoever stops it leaves all as it was, and so does what goes wrong.

    Raises
    ------
    ValueError, OSError
        There is no such wedge, or it cannot be copied or set: a sentence.
    """
    jobs.refuse_another()
    turn.end()
    scene = context.scene
    row, cloths = _found(scene, name), cloths_of(scene)
    for obj in cloths:
        refuse_linked(obj)
    if settings:
        wedged.refuse_unknown(scene, row.wedge)
    with ExitStack() as undo:  # of what goes wrong, and of Esc, which ends it in a step
        copied = yield from _copied(scene, cloths, row, undo)
        size = size_of(copied)
        _adopt(scene, cloths, row, settings)
        undo.pop_all()
    list_again(context)
    look_again()
    first, last, names = row.frames.start, row.frames.stop - 1, ", ".join(obj.name for obj in cloths)
    told = f"{names} plays {name}: frames {first} to {last}"
    return f"{names} plays a copy of {name} ({room(size)}): frames {first} to {last}" if copied else told


def _copied(scene, cloths, row, undo: ExitStack) -> Generator[Step, object, list[Path]]:
    """Steps: copy what is not among the shot's bakes yet; returns the places, and `undo` discards what lies there."""
    wanted = [
        (path, place)
        for obj, own, path in zip(cloths, bake_paths(scene, cloths), row.paths, strict=True)
        for place, is_there in [place_of(own, path)]
        if not is_there
    ]
    for number, (path, place) in enumerate(wanted):
        refuse_long(place)
        with closing(moves.copying(path, place, owner_in(place.parent))) as work:
            is_whole = yield from by_shares(f"Copying {path.name}", 0.0, _of_all(work, number, len(wanted)))
        if not is_whole:
            raise ValueError(f"{path} has no whole frame; bake that wedge again")
        undo.callback(moves.discard, place)
    return [place for _, place in wanted]


def _of_all(work: Generator[float, None, bool], number: int, count: int) -> Generator[float, None, bool]:
    """The shares of one of several copies as those of all."""
    while True:
        try:
            share = next(work)
        except StopIteration as end:
            return end.value
        yield (number + share) / count


def _adopt(scene, cloths, row, settings: bool) -> None:
    values = wedged.give_settings(scene, wedged.as_called(scene, row.wedge)) if settings else []
    before = wedged.playing(cloths)
    try:
        for obj, path in zip(cloths, row.paths, strict=True):
            play(obj, told_of(path))
        keep_adopted(scene, cloths)
    except FAILURES:
        wedged.play_again(before)
        wedged.take_back(scene, values)
        raise


def _found(scene, name: str) -> wedge_table.Row:
    wedge = wedges.read(cache_folder(scene), name)
    rows = wedge_table.rows(scene, cloths_of(scene), [wedge]) if wedge is not None else []
    if not rows or not rows[0].frames:
        raise ValueError(f"No wedge '{name}' is baked; choose one of the list, or bake it")
    return rows[0]


class TAFFETA_OT_wedge_adopt(LongWork, bpy.types.Operator):
    """Play a copy of this wedge, and give the shot its settings; the shot's own bake stays in the list of bakes"""

    bl_idname = "taffeta.wedge_adopt"
    bl_label = "Adopt Wedge"
    bl_options = {"REGISTER", "UNDO", "INTERNAL"}

    wedge: StringProperty(name="Wedge", description="Its name", options={"SKIP_SAVE"})
    settings: BoolProperty(
        name="Give Its Settings", default=True, description="Let the shot have the settings that it was baked with"
    )

    def steps(self, context):
        told = yield from adopting(context, self.wedge, self.settings)
        self.report({"INFO"}, translated(told))
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory((TAFFETA_OT_wedge_adopt,))
