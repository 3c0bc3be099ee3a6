# SPDX-License-Identifier: GPL-3.0-or-later
"""The list of a cloth's bakes: play one, restore its settings, name it, put it into the trash, bring it back, empty the trash.

Each verb is given the file that it is about, and does nothing unless that is one of the list, made anew: no path of a
strange .blend or script leads it to anything else.
"""

import os
from functools import partial
from pathlib import Path

import bpy
from bpy.props import StringProperty

from ..panels.cage import garment_of
from ..panels.translations import translated
from ..solver.cache import about, pc2, recipe, trash
from ..solver.cache.files import in_words, telling
from ..solver.cache.names import in_use
from .bake import job as jobs
from .bake.run import kept_report
from .checks import fingerprint
from .checks.problem_list import look_again
from .live import turn
from .playback.bake_files import Bake, bake_paths, bakes_of, remember_name, room, stored_path, trash_of
from .playback.cache_modifier import attach, detach, forget_bake, played, show_bake, trouble
from .playback.owners import cache_file, maker_of
from .read import cage_meshes, snapshot
from .read.modifier_stack import find_cache
from .read.participants import chosen_cloths, cloths_of, colliders, refuse_linked
from .read.screen import refused


class BakeVerb:
    """What the verbs of the list share: the cloth, the file, and sentences instead of tracebacks. `work` returns what was done, or ""
    where it has told that itself."""

    bl_options = {"REGISTER", "UNDO", "INTERNAL"}  # of a line of the list, which a search does not know

    object: StringProperty(name="Object", description="Cloth that the bake is of", options={"SKIP_SAVE"})
    path: StringProperty(
        name="Bake", description="Its .pc2 file; empty takes the first of the list", options={"SKIP_SAVE"}
    )

    def execute(self, context):
        try:
            jobs.refuse_another()
            turn.end()
            obj = chosen_cloths(context, self.object)[0]
            refuse_linked(obj)
            if told := self.work(context, obj, self._chosen(context.scene, obj)):
                self.report({"INFO"}, translated(told))
        except (ValueError, OSError) as error:
            return refused(self, error)
        look_again()
        return {"FINISHED"}

    def _chosen(self, scene, obj) -> Bake:
        cloths = cloths_of(scene)
        found = bakes_of(scene, cloths)[cloths.index(obj)]
        return _listed(found, self.path, f"No bake of {obj.name} lies on the disk")


def _listed(bakes: list[Bake], path: str, none: str) -> Bake:
    if not bakes:
        raise ValueError(none)
    wanted = Path(os.path.normpath(bpy.path.abspath(path))) if path else bakes[0].path
    found = [bake for bake in bakes if bake.path == wanted]
    if not found:
        raise ValueError(f"{wanted} is no bake of the list; bake, or choose one of the list")
    return found[0]


def play(obj: bpy.types.Object, bake: Bake) -> None:
    """Let `obj` play a bake; what it was made of, and its report, are those that lie beside it. A cage that had the mesh of which
    it is has that again.

    Raises
    ------
    ValueError
        It is of another mesh: a sentence, and nothing has changed.
    """
    mesh, garment = fingerprint.mesh_of(obj, bake.vertex_count, bake.about.fingerprint), garment_of(obj)
    if mesh not in (None, obj.data) and garment is not None:
        if pc2.read_header(bake.path).vertex_count != bake.vertex_count:
            raise ValueError(f"{bake.path} does not hold what it says; bake again")
        cage_meshes.refuse(obj)
        cage_meshes.exchange(garment, obj, mesh)
    remember_name(obj, bake.path)
    _attach(obj, bake)
    cloth = obj.taffeta_cloth
    cloth.cache_path, cloth.stale, cloth.fingerprint = stored_path(bake.path), "", bake.about.fingerprint
    cloth.report_json = kept_report(bake.path)


def _attach(obj, bake):
    """Play a bake, or raise ValueError and play what was played."""
    cache, before = find_cache(obj), cache_file(obj)
    was = None if cache is None or before is None else (cache.frame_start, cache.show_viewport)
    attach(obj, bake.path, bake.frames.start)
    if sentence := trouble(obj):
        if was is None:
            detach(obj)
        else:
            first, is_shown = was
            attach(obj, before, first)
            show_bake(obj, is_shown)
        raise ValueError(sentence)


class TAFFETA_OT_bake_play(BakeVerb, bpy.types.Operator):
    """Play this bake; the others stay in the list"""

    bl_idname = "taffeta.bake_play"
    bl_label = "Play Bake"

    def work(self, context, obj, bake):
        play(obj, bake)
        frames = bake.frames
        return f"{obj.name} plays {bake.about.label}: frames {frames.start} to {frames.stop - 1}"


class TAFFETA_OT_bake_rename(BakeVerb, bpy.types.Operator):
    """Give this bake a name and a note; its files keep theirs"""

    bl_idname = "taffeta.bake_rename"
    bl_label = "Rename Bake"

    label: StringProperty(name="Name", maxlen=about.LONGEST_ABOUT, description="What the list calls it")
    note: StringProperty(name="Note", maxlen=about.LONGEST_ABOUT, description="Anything worth remembering of it")

    def invoke(self, context, event):
        try:
            bake = self._chosen(context.scene, chosen_cloths(context, self.object)[0])
        except ValueError as error:
            return refused(self, error)
        self.label, self.note = bake.about.label, bake.about.note
        return context.window_manager.invoke_props_dialog(self, width=420)

    def draw(self, context):
        self.layout.prop(self, "label")
        self.layout.prop(self, "note")

    def work(self, context, obj, bake):
        if maker := maker_of(bake.path):
            raise ValueError(f"{bake.about.label} is a bake of {maker}: rename it there, or bake here first")
        with telling(bake.path.parent, bake.about.label):
            about.write(bake.path, bake.about._replace(label=self.label, note=self.note))
        return f"Renamed to {self.label or bake.path.stem}"


class TAFFETA_OT_bake_settings(BakeVerb, bpy.types.Operator):
    """Give the garment, the scene and its colliders the settings that this bake was made with, and the garment its painted
    maps; a map that was changed since is kept beside"""

    bl_idname = "taffeta.bake_settings"
    bl_label = "Restore Its Settings"
    bl_description = " ".join(__doc__.split())

    def work(self, context, obj, bake):
        scene, label = context.scene, bake.about.label
        made_of = snapshot.renamed(recipe.read(bake.path), obj.name)
        for sentence in snapshot.apply(made_of, scene, [obj], label):
            self.report({"WARNING"}, translated(f"{obj.name}: {sentence}"))
        context.view_layer.update()
        again = partial(fingerprint.take, obj, scene, colliders(scene, cloths_of(scene)))
        rest = fingerprint.sentence(fingerprint.differing(bake.about.fingerprint, again(), again))
        return f"{obj.name} has the settings of {label}" + (f"; not as they were: {rest}" if rest else "")


class TAFFETA_OT_bake_delete(BakeVerb, bpy.types.Operator):
    """Put this bake into the trash of the cache folder; Restore brings it back"""

    bl_idname = "taffeta.bake_delete"
    bl_label = "Delete Bake"

    def work(self, context, obj, bake):
        if maker := maker_of(bake.path):
            raise ValueError(f"{bake.about.label} is a bake of {maker}: delete it there. Free stops playing it")
        users = [o for o in bpy.data.objects if o.type == "MESH" and o != obj and cache_file(o) == bake.path]
        if users:
            raise ValueError(f"{users[0].name} plays {bake.about.label}, too: free that first")
        plays = cache_file(obj) == bake.path
        if plays:
            remember_name(obj, bake_paths(context.scene, [obj])[0], none=True)
        trash.put(bake.path)  # before anything is forgotten: a bake that cannot be moved goes on playing
        if plays:
            forget_bake(obj)
        return f"{bake.about.label} is in the trash ({room(bake.size)}), to restore or empty"


class TAFFETA_OT_bake_restore(BakeVerb, bpy.types.Operator):
    """Bring this bake back from the trash; a cloth that plays none plays it"""

    bl_idname = "taffeta.bake_restore"
    bl_label = "Restore Bake"

    def _chosen(self, scene, obj) -> Bake:
        return _listed(trash_of(scene, cloths_of(scene))[::-1], self.path, "The trash is empty")

    def work(self, context, obj, bake):
        back = bake._replace(path=trash.restore(bake.path))
        cloths = cloths_of(context.scene)
        names = [entry.path for entry in bakes_of(context.scene, cloths)[cloths.index(obj)]]
        if played(obj) is not None or back.path not in names:
            return f"Restored {back.path.name}"
        try:
            play(obj, back)
        except (ValueError, OSError) as error:  # as of another mesh: it is back all the same
            told = f"Restored {back.path.name} to the list, but it is not played. {in_words(error)}"
            self.report({"WARNING"}, translated(told))
            return ""
        return f"Restored {back.path.name}; {obj.name} plays it"


class TAFFETA_OT_trash_empty(bpy.types.Operator):
    """Delete the freed bakes of this file for good: this cannot be undone. Those of other .blends stay"""

    bl_idname = "taffeta.trash_empty"
    bl_label = "Empty Bake Trash"
    bl_options = {"REGISTER"}

    def invoke(self, context, event):
        if not trash_of(context.scene, cloths_of(context.scene)):
            return self.execute(context)
        return context.window_manager.invoke_confirm(self, event)

    def execute(self, context):
        bakes = trash_of(context.scene, cloths_of(context.scene))
        if not bakes:
            self.report({"INFO"}, translated("The trash is empty"))
            look_again()
            return {"FINISHED"}
        try:
            for bake in bakes:
                if in_use(bake.path):
                    raise OSError(f"{bake.path} is being moved by another Blender: try again")
                trash.delete(bake.path)
        except OSError as error:
            return refused(self, error)
        finally:
            look_again()
        count = "1 bake" if len(bakes) == 1 else f"{len(bakes)} bakes"
        self.report({"INFO"}, translated(f"Deleted {count} ({room(sum(bake.size for bake in bakes))})"))
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory(
    (
        TAFFETA_OT_bake_play,
        TAFFETA_OT_bake_rename,
        TAFFETA_OT_bake_settings,
        TAFFETA_OT_bake_delete,
        TAFFETA_OT_bake_restore,
        TAFFETA_OT_trash_empty,
    )
)
