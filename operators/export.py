# SPDX-License-Identifier: GPL-3.0-or-later
"""Baked cloth as Alembic, USD or an OBJ sequence, through Blender's own exporters.

The file name's ending chooses the format. Blender's exporters write what the render settings show, with UV maps,
normals and materials. They say that they finished even where they could not write, so everything is written to a
folder beside the target first, looked at, and moved into place only when it is all there.
"""

import math
import os
import shutil
import tempfile
import time
from contextlib import contextmanager
from itertools import islice
from math import ceil, floor
from pathlib import Path

import bpy
from bpy.props import BoolProperty, EnumProperty, IntProperty, StringProperty

from ..panels.cage import garment_of, garments_of
from ..panels.translations import translated
from ..solver.cache import pc2
from ..solver.cache.files import put_in_place
from ..solver.cache.intact import first_damaged
from ..solver.cache.names import release_lock, take_lock
from .checks.played_rows import played_otherwise
from .playback.cache_modifier import trouble
from .playback.correction_files import lost, unfitting
from .playback.owners import cache_file
from .read.modifier_stack import find_cache
from .read.participants import chosen_cloths, refuse_mode
from .work.other_blender import write_beside
from .work.steps import Step, Steps
from .work.window import LongWork
from .work.writers import EXPORTERS, call, is_hidden_by_keys, only, plain_stem

FORMATS = (
    ("ABC", "Alembic", "One .abc file; for other programs and for Blender's Mesh Sequence Cache", 0),
    ("USD", "USD", "One .usdc file", 1),
    ("OBJ", "OBJ Sequence", "A file for each frame: NAME_0001.obj, NAME_0002.obj, ...", 2),
)
SCRATCH_PREFIX = ".taffeta_export_"
SOON = 10.0  # [s] within which an export that has made its folder has locked it
OBJ_HEAD_LINES = 10  # in which Blender names the materials
ENDINGS = {"ABC": ".abc", "USD": ".usdc", "OBJ": ".obj"}


def _name_as_meant(path: Path) -> None:
    """Give the OBJ files of an export the name that they were to have."""
    stem = plain_stem(path)
    for file in sorted(path.parent.glob(f"{stem}_*")) if stem != path.stem else ():
        _rename(file, path.stem + file.name.removeprefix(stem))


def _rename(file: Path, name: str) -> None:
    """Give an exported file another name, and in an OBJ its materials, whose file's name stands in its first lines."""
    target = file.with_name(name)
    if file.suffix != ".obj":
        file.rename(target)
        return
    with file.open("rb") as source, target.open("xb") as out:
        for line in islice(source, OBJ_HEAD_LINES):
            out.write(f"mtllib {target.stem}.mtl\n".encode() if line.startswith(b"mtllib ") else line)
        shutil.copyfileobj(source, out)
    file.unlink()


def steps(
    context,
    targets: list[bpy.types.Object],
    path: Path,
    first: int,
    last: int,
    overwrite: bool,
    in_window: bool = False,
) -> Steps:
    """Write the baked cloths `targets` over frames first..last, an OBJ sequence a frame a step; returns the main files.
    Whoever stops it leaves no file.

    in_window : leave the window alive where one file is written in one go, by having another Blender write it.

    Raises
    ------
    ValueError
        Unknown ending, range the wrong way round, no bake, a file that is there already, a format that is not built in.
    OSError
        The folder cannot be written, or the exporter wrote nothing.
    """
    ending = check_ending(path)
    if last < first:
        raise ValueError(f"The range ends ({last}) before it starts ({first}); swap the two")
    for obj in targets:
        yield from _check_target(context, obj, first, last)
    targets = _seen(targets)
    names = [path.name] if ending != ".obj" else [_frame_name(path, frame) for frame in range(first, last + 1)]
    check_free(path.parent, names, overwrite)
    with scratch_folder(path.parent) as scratch:
        is_written = False
        if in_window and ending != ".obj":
            is_written = yield from write_beside(context, targets, scratch / path.name, first, last)
        if not is_written:
            yield from _write_here(context, targets, scratch / path.name, first, last)
        if ending == ".obj":
            _name_as_meant(scratch / path.name)
        lacking = [name for name in names if not (scratch / name).is_file() or not (scratch / name).stat().st_size]
        if lacking:
            raise OSError(f"Blender did not write {lacking[0]} into {path.parent}: is the disk full?")
        move_into(scratch, path.parent, overwrite)
    return [path.parent / name for name in names]


def _seen(targets) -> list[bpy.types.Object]:
    """What is seen of the cloths: of a cage what follows it."""
    return [seen for obj in targets for seen in garments_of(obj) or [obj]]


def _write_here(context, targets, path: Path, first: int, last: int) -> Steps:
    """Have this Blender write: an OBJ sequence a frame a step, all else in one."""
    is_sequence = path.suffix.lower() == ".obj"
    with only(context, targets):
        parts = [(frame, frame) for frame in range(first, last + 1)] if is_sequence else [(first, last)]
        for done, part in enumerate(parts):
            yield Step(
                f"Writing frame {part[0]} of {last}" if is_sequence else f"Writing {path.name}", done / len(parts)
            )
            call(path, *part)


@contextmanager
def scratch_folder(folder: Path):
    """A folder below `folder` for this export alone; those of exports that were killed are deleted."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix=SCRATCH_PREFIX, dir=folder))
        lock = take_lock(scratch)
    except OSError as error:
        raise OSError(f"{folder} cannot be written ({error.strerror or error}); choose another folder") from error
    try:
        for left in folder.glob(f"{SCRATCH_PREFIX}*"):
            if left.suffix == ".lock" and left.is_file() and not os.path.lexists(left.with_suffix("")):
                _is_abandoned(left)  # which deletes a lock that nobody holds
            elif left != scratch and left.is_dir() and not left.is_symlink() and _is_abandoned(left):
                shutil.rmtree(left, ignore_errors=True)
        yield scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
        release_lock(lock)


def _is_abandoned(scratch: Path) -> bool:
    """Whether no process holds the lock of another export's folder, nor can be about to take it; the lock goes then."""
    try:
        lock = take_lock(scratch) if time.time() - scratch.stat().st_mtime > SOON else None
    except OSError:
        return False
    release_lock(lock)
    return lock is not None  # where there are no locks, nobody knows


def check_ending(path: Path) -> str:
    """The ending of a file's name, which chooses the format; ValueError if it is none of ours."""
    ending, known = path.suffix.lower(), ", ".join(EXPORTERS)
    if not path.name:
        raise ValueError(f"No file is chosen; give a name that ends in {known}")
    if ending not in EXPORTERS and os.path.isdir(path):  # Path.is_dir raises at a name that is too long
        raise ValueError(f"{path} is a folder; give a file in it a name that ends in {known}")
    if ending not in EXPORTERS:
        raise ValueError(f"{path.name}: the name has to end in {known}")
    return ending


def outside_bake(scene: bpy.types.Scene, obj: bpy.types.Object, first: int, last: int) -> str:
    """A sentence when the range goes beyond the baked frames, where the cloth stands still; else ""."""
    start = round(find_cache(obj).frame_start)
    end = start + pc2.read_header(cache_file(obj)).sample_count - 1
    if start <= math.ceil(_played(scene, first)) and math.floor(_played(scene, last)) <= end:
        return ""
    return f"{obj.name} is baked from {start} to {end}; outside of that it stands still in the export"


def stretched(scene: bpy.types.Scene, first: int, last: int) -> str:
    """A sentence where frames show other ones of the bake, and so does what is exported; else ""."""
    if scene.render.frame_map_old == scene.render.frame_map_new:
        return ""
    return (
        f"Time Stretching is on: the export has in frames {first} to {last} what is shown there, frames {_played(scene, first):.4g} "
        f"to {_played(scene, last):.4g} of the bake; for the bake as it is set Old and New to the same in the Output tab, and export again"
    )


def _played(scene: bpy.types.Scene, frame: int) -> float:
    """The frame of a bake that is shown at `frame` of the timeline."""
    return frame * scene.render.frame_map_old / scene.render.frame_map_new


def _hidden_by_keys(obj: bpy.types.Object) -> str:
    """A sentence where keys hide what is exported for a while, which the file does not know; else ""."""
    seen = garment_of(obj) or obj
    if not is_hidden_by_keys(seen):
        return ""
    return f"{seen.name} is hidden by keys in some frames; the export shows it in all"


def _frame_name(path: Path, frame: int) -> str:
    """NAME_0001.obj, as Blender's exporter numbers them; frames before 0 are NAME_-0001.obj."""
    return f"{path.stem}_{'-' if frame < 0 else ''}{abs(frame):04d}.obj"


def _check_target(context, obj, first: int, last: int) -> Steps:
    """Refuse what cannot be exported; frames are read beside."""
    if find_cache(obj) is None:
        raise ValueError(f"{obj.name} is not baked yet; bake it before you export")
    if sentence := trouble(obj):
        raise ValueError(sentence)
    seen = garment_of(obj) or obj
    if seen.mode == "EDIT" and context.mode != "EDIT_MESH":  # else `only` takes all that is edited out of it
        refuse_mode(seen)
    if obj.name not in context.view_layer.objects:
        raise ValueError(
            f"{obj.name} is not in view layer {context.view_layer.name}; tick its collection in the Outliner"
        )
    path, start = cache_file(obj), round(find_cache(obj).frame_start)
    last_sample = pc2.read_header(path).sample_count - 1
    samples = floor(_played(context.scene, first)) - start, ceil(_played(context.scene, last)) - start
    wanted = [min(max(sample, 0), last_sample) for sample in samples]  # beyond the ends it stands still
    every = range(wanted[0], wanted[1] + 1)
    damaged = yield Step(f"Checking the frames of {obj.name}", beside=lambda go_on: first_damaged(path, every))
    if damaged is not None:
        raise ValueError(
            f"{obj.name}: frame {start + damaged} of its cache {path} is damaged; press Resume, then export"
        )


def check_free(folder: Path, names: list[str], overwrite: bool) -> None:
    """ValueError where a file or folder of these names is there already, and is not to be written over."""
    present = [name for name in names if os.path.lexists(folder / name)]
    if present and not overwrite:
        more = f" and {len(present) - 1} more" if len(present) > 1 else ""
        raise ValueError(f"{folder / present[0]}{more} exists already; choose another name, or Overwrite")


def move_into(scratch: Path, folder: Path, overwrite: bool) -> None:
    """Move everything below `scratch` to the same place below `folder`, unless that would change a file there, or
    follow a link out of it.
    """
    files = [path.relative_to(scratch) for path in sorted(scratch.rglob("*")) if path.is_file()]
    for name in files:
        target = folder / name
        if link := next((folder / above for above in name.parents[:-1] if (folder / above).is_symlink()), None):
            raise ValueError(
                f"{link} is a link, and the export wants to write below it; remove it, or export elsewhere"
            )
        if not overwrite and os.path.lexists(target) and not _same(target, scratch / name):
            raise ValueError(f"{target} exists already; choose another name, or Overwrite")
    for name in files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        put_in_place(scratch / name, folder / name)


def _same(one: Path, other: Path) -> bool:
    return one.is_file() and one.stat().st_size == other.stat().st_size and one.read_bytes() == other.read_bytes()


class TAFFETA_OT_export(LongWork, bpy.types.Operator):
    """Write the baked cloth as Alembic, USD or an OBJ sequence"""

    bl_idname = "taffeta.export"
    bl_label = "Export Cloth"
    bl_options = {"REGISTER"}

    filepath: StringProperty(subtype="FILE_PATH", options={"SKIP_SAVE", "PATH_SUPPORTS_BLEND_RELATIVE"})
    filter_glob: StringProperty(default="*.abc;*.usd;*.usdc;*.usda;*.obj", options={"HIDDEN"})
    check_existing: BoolProperty(default=True, options={"HIDDEN"})
    format: EnumProperty(name="Format", items=FORMATS, description="Changes the ending of the file's name")
    object: StringProperty(
        name="Object", description="Cloth to export; empty takes the selected ones", options={"SKIP_SAVE"}
    )
    everything: BoolProperty(name="All Cloths", description="Export every cloth of the scene", options={"SKIP_SAVE"})
    frame_start: IntProperty(
        name="Frame Start", description="First frame; the scene's if not given", options={"SKIP_SAVE"}
    )
    frame_end: IntProperty(name="Frame End", description="Last frame; the scene's if not given", options={"SKIP_SAVE"})
    overwrite: BoolProperty(name="Overwrite", description="Replace files that are there already", options={"SKIP_SAVE"})

    def invoke(self, context, event):
        self.frame_start, self.frame_end = context.scene.frame_start, context.scene.frame_end
        name = getattr(context.view_layer.objects.active, "name", "cloth")
        return self.ask_for_file(context, bpy.path.clean_name(name) + ENDINGS[self.format])

    def check(self, context):
        path = Path(self.filepath)
        ending = path.suffix.lower()
        fits = ending == ENDINGS[self.format] or (self.format == "USD" and ending in {".usd", ".usda"})
        if not path.name or fits:
            return False
        stem = path.stem if ending in EXPORTERS else path.name
        self.filepath = str(path.with_name(stem + ENDINGS[self.format]))
        return True

    def draw(self, context):
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        layout.prop(self, "format")
        column = layout.column(align=True)
        column.prop(self, "frame_start")
        column.prop(self, "frame_end", text="End")
        layout.prop(self, "everything")
        layout.prop(self, "overwrite")

    def steps(self, context):
        scene = context.scene
        first = self.frame_start if self.properties.is_property_set("frame_start") else scene.frame_start
        last = self.frame_end if self.properties.is_property_set("frame_end") else scene.frame_end
        path = Path(bpy.path.abspath(self.filepath))
        targets = chosen_cloths(context, self.object, self.everything)
        in_window = self.asked
        files = yield from steps(context, targets, path, first, last, self.overwrite, in_window)
        for obj in targets:
            for told in played_otherwise(obj):
                words = ". ".join(translated(text) for text in told)
                self.report({"WARNING"}, words)
            for sentence in (*lost(obj), *unfitting(obj), outside_bake(scene, obj, first, last), _hidden_by_keys(obj)):
                if sentence:
                    self.report({"WARNING"}, translated(sentence))
        if sentence := stretched(scene, first, last):
            self.report({"WARNING"}, translated(sentence))
        what = f"{files[0].name} to {files[-1].name}" if len(files) > 1 else files[0].name
        names = ", ".join(obj.name for obj in _seen(targets))
        self.report({"INFO"}, translated(f"Exported {names} to {path.parent}: {what}"))
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory((TAFFETA_OT_export,))
