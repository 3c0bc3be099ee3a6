# SPDX-License-Identifier: GPL-3.0-or-later
"""An OBJ sequence as an animated collider.

The files become a mesh with a point cache (PC2) and Blender's Mesh Cache modifier: from then on it is an object like
any other, which plays without Taffeta, and bakes read it as they read a character. Frame numbers come from the file
names; where numbers are left out, the body moves in a straight line between its neighbours.
"""

import os
import time
from pathlib import Path

import bpy
import numpy as np
from bpy.props import BoolProperty, EnumProperty, FloatProperty, StringProperty
from bpy_extras.io_utils import axis_conversion

from ..panels.translations import translated
from ..solver.cache import obj as obj_file
from ..solver.cache import pc2
from ..solver.cache.files import written
from .menus import in_menu
from .playback.bake_files import refuse_long, stored_path
from .playback.owners import cache_folder
from .read.file_path import absolute
from .read.screen import InObjectMode
from .work.steps import Step, Steps
from .work.window import LongWork

SEQUENCE_NAME = "Taffeta Sequence"
AXES = (
    ("X", "X", ""),
    ("Y", "Y", ""),
    ("Z", "Z", ""),
    ("NEGATIVE_X", "-X", ""),
    ("NEGATIVE_Y", "-Y", ""),
    ("NEGATIVE_Z", "-Z", ""),
)
SLICE = 0.25  # [s] of reading in one step
MOST_TOLD = 5  # numbers of frames without a file
LONGEST_FRAME_GAP = 10_000  # frames between two files; more is a typing error in a name


def turn(forward: str, up: str, scale: float) -> np.ndarray:
    """(3, 3): a file's axes and units into Blender's (forward Y, up Z).

    Raises
    ------
    ValueError
        Forward and up are the same axis.
    """
    if forward[-1] == up[-1]:
        raise ValueError(f"Forward and Up are both {up[-1]}; choose two different axes")
    sign = {"N": "-"}
    axis = lambda name: sign.get(name[0], "") + name[-1]  # noqa: E731
    return np.array(axis_conversion(from_forward=axis(forward), from_up=axis(up))) * scale


def write_cache(files: dict[int, Path], matrix: np.ndarray, target: Path) -> Steps:
    """Write the positions of every file to the PC2 `target`; returns the mesh of the first one, turned.

    files : by frame, in order. One file is in memory at a time. `target` appears when it is whole; whoever stops leaves none.

    Raises
    ------
    ValueError
        A damaged file, or one of another topology, or numbers too far apart: a sentence naming the file.
    OSError
        A file cannot be read, or the cache cannot be written.
    """
    frames = list(files)
    gaps = np.diff(frames)
    if len(gaps) and gaps.max() > LONGEST_FRAME_GAP:
        after = frames[int(gaps.argmax())]
        raise ValueError(f"{files[after].name} is followed by a gap of {gaps.max()} frames; check the files' numbers")
    first = yield Step(f"Reading {files[frames[0]].name}", beside=lambda go_on: obj_file.read(files[frames[0]]))
    target.parent.mkdir(parents=True, exist_ok=True)
    with written(target) as out:
        out.write(pc2.pack_header(len(first.x), frames[0], frames[-1] - frames[0] + 1))
        out.write(np.ascontiguousarray(first.x @ matrix.T, "<f4").data)
        last, done = (first.x @ matrix.T, frames[0]), 1

        def go_through(go_on):
            """Read and write some of the files: the last one's positions and frame, and how many are done."""
            before, count, until = last, done, time.perf_counter() + SLICE
            while count < len(frames) and (count == done or (go_on() and time.perf_counter() < until)):
                x = obj_file.read_like(files[frames[count]], first) @ matrix.T
                before, count = _write_next(out, *before, x, frames[count]), count + 1
            return before, count

        while done < len(frames):
            last, done = yield Step(f"Reading {files[frames[done]].name}", done / len(frames), go_through)
    return first._replace(x=first.x @ matrix.T)


def _write_next(out, before: np.ndarray, before_frame: int, x: np.ndarray, frame: int) -> tuple[np.ndarray, int]:
    """Write the frames behind `before_frame` up to `frame`, in a straight line; returns what is before the next."""
    for between in range(before_frame + 1, frame):
        share = (between - before_frame) / (frame - before_frame)
        out.write(np.ascontiguousarray(before + share * (x - before), "<f4").data)
    out.write(np.ascontiguousarray(x, "<f4").data)
    return x, frame


def mesh_from(name: str, shape: obj_file.Mesh) -> bpy.types.Mesh:
    """A Blender mesh with the file's own polygons, less those that Blender cannot keep (a vertex twice in a face)."""
    mesh = bpy.data.meshes.new(name)
    starts, ends = shape.face_start[:-1], shape.face_start[1:]
    faces = [shape.corners[a:b].tolist() for a, b in zip(starts, ends, strict=True)]
    mesh.from_pydata(shape.x.tolist(), [], faces)
    mesh.validate()
    mesh.update()
    return mesh


def free_name(folder: Path, name: str) -> Path:
    """A PC2 in `folder` that is not there yet: other files and other objects' caches are never overwritten."""
    stem = bpy.path.clean_name(name) or "sequence"
    number, target = 1, folder / f"{stem}.pc2"
    while os.path.lexists(target):
        target = folder / f"{stem}_{number}.pc2"
        number += 1
    return target


def import_sequence(context, path: Path, matrix: np.ndarray) -> Steps:
    """Make the animated object, and return it; see the module. Whoever stops it leaves nothing."""
    files = obj_file.sequence(path)
    name = obj_file.NUMBERED_NAME.fullmatch(next(iter(files.values())).stem)["name"].strip("_.- ") or path.parent.name
    target = free_name(cache_folder(context.scene), f"{name}_sequence")
    refuse_long(target)
    shape = yield from write_cache(files, matrix, target)
    obj = bpy.data.objects.new(name, mesh_from(name, shape))
    context.collection.objects.link(obj)
    modifier = obj.modifiers.new(SEQUENCE_NAME, "MESH_CACHE")
    modifier.cache_format = "PC2"
    modifier.filepath = stored_path(target)
    modifier.frame_start = next(iter(files))
    obj.taffeta_collider.enabled = True
    obj.taffeta_collider.sequence = stored_path(path)
    for other in context.selected_objects:
        other.select_set(False)
    obj.select_set(True)
    context.view_layer.objects.active = obj
    return obj


class TAFFETA_OT_sequence_import(InObjectMode, LongWork, bpy.types.Operator):
    """Bring in a numbered OBJ sequence as an animated body that cloth collides with"""

    bl_idname = "taffeta.sequence_import"
    bl_label = "Import OBJ Sequence"
    bl_options = {"REGISTER", "UNDO"}

    filepath: StringProperty(
        subtype="FILE_PATH",
        description="Any file of the sequence, or its folder",
        options={"SKIP_SAVE", "PATH_SUPPORTS_BLEND_RELATIVE"},
    )
    filter_glob: StringProperty(default="*.obj", options={"HIDDEN"})
    forward_axis: EnumProperty(name="Forward Axis", items=AXES, default="NEGATIVE_Z")
    up_axis: EnumProperty(name="Up Axis", items=AXES, default="Y")
    global_scale: FloatProperty(
        name="Scale", default=1.0, min=1e-6, max=1e6, description="1 file unit in Blender units"
    )
    collider: BoolProperty(name="Collider", default=True, description="Keep cloth out of it")

    def invoke(self, context, event):
        return self.ask_for_file(context)

    def steps(self, context):
        matrix = turn(self.forward_axis, self.up_axis, self.global_scale)
        path = Path(bpy.path.abspath(self.filepath))
        obj = yield from import_sequence(context, path, matrix)
        obj.taffeta_collider.enabled = self.collider
        header = pc2.read_header(Path(absolute(obj.modifiers[SEQUENCE_NAME].filepath)))
        first = round(header.first_frame)
        last = first + header.sample_count - 1
        self.report({"INFO"}, translated(f"{obj.name}: frames {first} to {last}"))
        if lacking := sorted({*range(first, last + 1)} - obj_file.sequence(path).keys()):
            frames = ", ".join(map(str, lacking[:MOST_TOLD])) + (", …" if len(lacking) > MOST_TOLD else "")
            told = f"{obj.name}: {len(lacking)} of {last - first + 1} frames have no file, and go straight between those beside them: {frames}"
            self.report({"WARNING"}, translated(told))
        if not bpy.data.filepath:
            self.report({"WARNING"}, "The file is not saved: the sequence's cache is in the temporary folder")
        return {"FINISHED"}


def menu_entry(self, context):
    """A line in File > Import."""
    self.layout.operator(TAFFETA_OT_sequence_import.bl_idname, text="Taffeta OBJ Sequence (.obj)")


register, unregister = in_menu("TOPBAR_MT_file_import", menu_entry, (TAFFETA_OT_sequence_import,))
