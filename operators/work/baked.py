# SPDX-License-Identifier: GPL-3.0-or-later
"""Work on baked frames, corrections and all, whose result is a correction of many frames: `Played` in, offsets out.

compile, the first time ─► read each frame ─► solver.correct ─► a file, and what plays it
└─ beside the window ─┘    └ main thread ┘    └─ beside it ─┘   └────── main thread ──────┘
"""

from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import bpy
import numpy as np
from bpy.props import IntProperty

from ...panels.translations import translated
from ...solver.cache import pc2
from ...solver.cache.files import make_folder, written
from ...solver.cache.names import safe_name
from ..playback.bake_files import refuse_long, stored_path
from ..playback.cache_modifier import played, trouble
from ..playback.correction_files import FOLDER
from ..playback.owners import cache_folder
from ..read import correction, groups, offsets
from ..read.arrays import edges, first_at_place, triangulated
from ..read.dynamics import play_through
from ..read.maps import weights_in
from ..read.mesh_io import check_finite, metres_per_unit, read_collider, world_matrix, world_positions, world_to_object
from ..read.modifier_stack import find_cache, index_of
from ..read.participants import colliders_of, refuse_linked
from ..read.sampling import depsgraph_of, posed
from .steps import Step, Steps
from .window import LongWork

LARGEST_FADE = 1000  # [frames]
MOST_NUMBERS = 2**28  # of all positions that are read: 2 GB


class Played(NamedTuple):
    """A garment and the bodies that it is to keep off, as they look in frames."""

    frames: range
    x: np.ndarray  # (f, n, 3) [m]
    to_object: np.ndarray  # (f, 4, 4) world space in metres to the garment's own
    edges: np.ndarray  # (e, 2)
    triangles: np.ndarray  # (t, 3)
    meets_bodies: np.ndarray  # (n,) bool
    bodies: list  # of `solver.correct.push_out.Obstacle`


class Part(NamedTuple):
    """Which frames are worked on, and which are moved along."""

    frames: range  # as asked for
    moved: range  # with those in which it fades; before and behind them nothing is moved
    opens: bool  # whether there is a baked frame before these
    ends: bool  # whether there is one behind
    fade: int  # [frames] as asked for


def refuse(obj: bpy.types.Object, then: str = "correct it") -> None:
    """Raise ValueError, with a remedy, where a garment plays no bake; `then` says for what it is needed."""
    refuse_linked(obj)
    if obj.data.library is not None:
        raise ValueError(f"{obj.name}: its mesh is linked from {obj.data.library.filepath}; make it local first")
    if find_cache(obj) is None:
        raise ValueError(f"{obj.name} plays no bake; bake it, then {then}")
    if sentence := trouble(obj):
        raise ValueError(sentence)
    if played(obj) is None:
        raise ValueError(f"{obj.name}: the viewport shows the mesh; press Show the Bake, then {then}")


def refuse_hidden(obj: bpy.types.Object, then: str = "correct it") -> None:
    """Raise ValueError where viewports do not show a garment: Blender evaluates it there no more."""
    if not obj.visible_get():
        raise ValueError(f"{obj.name} is hidden or disabled in viewports; show it, then {then}")


def baked_frames(obj: bpy.types.Object) -> range:
    """The frames of the bake that a garment plays."""
    first = round(find_cache(obj).frame_start)
    return range(first, first + pc2.read_header(played(obj)).sample_count)


def part_of(obj: bpy.types.Object, first: int, last: int, fade: int) -> Part:
    """The frames from `first` to `last`, and so many around them, as far as they are baked.

    Raises
    ------
    ValueError
        None of them is baked, or they end before they start: a sentence.
    """
    if last < first:
        raise ValueError(f"The range ends ({last}) before it starts ({first}); swap the two")
    baked = baked_frames(obj)
    frames = range(max(first, baked.start), min(last + 1, baked.stop))
    if not frames:
        raise ValueError(f"{obj.name} is baked from {baked.start} to {baked.stop - 1}; choose frames of these")
    moved = range(max(frames.start - fade + 1, baked.start), min(frames.stop + fade - 1, baked.stop))
    return Part(frames, moved, moved.start > baked.start, moved.stop < baked.stop, fade)


def as_corrected(scene, obj):
    """The garment with its corrections and without what stands behind them; the frame is put back, too."""
    return shown_up_to(scene, obj, [find_cache(obj), *correction.corrections_of(obj)])


@contextmanager
def shown_up_to(scene, obj, modifiers):
    """The garment without what stands behind the last of these modifiers; the frame is put back, too."""
    before = scene.frame_current, scene.frame_subframe
    behind = list(obj.modifiers)[max(index_of(obj, modifier) for modifier in modifiers) + 1 :]
    hidden = [modifier for modifier in behind if modifier.show_viewport]
    try:
        for modifier in hidden:
            modifier.show_viewport = False
        yield
    finally:
        for modifier in hidden:
            modifier.show_viewport = True
        scene.frame_set(before[0], subframe=before[1])


def read(scene: bpy.types.Scene, obj: bpy.types.Object, frames: range, distance: float | None) -> Steps:
    """Steps: read a garment in frames, and the bodies that it meets; None for `distance`: no bodies. 0: as far away as each
    body's own setting says; else [m].

    Raises
    ------
    ValueError
        Something cannot be read: names it and the remedy.
    """
    from ...solver.correct.push_out import Obstacle

    bodies = [] if distance is None else [o for o in colliders_of(scene, [obj]) if groups.meet(obj, o)]
    numbers = 3 * len(frames) * (len(obj.data.vertices) + sum(len(body.data.vertices) for body in bodies))
    if numbers > MOST_NUMBERS:
        raise ValueError(f"{obj.name}: {len(frames)} frames of it and its bodies are too much at once; choose fewer")
    metres, x, to_object, moving = metres_per_unit(scene), [], [], [[] for _ in bodies]
    with posed(scene, [], bodies), as_corrected(scene, obj):
        if bodies:
            play_through(scene, frames.start, frames.stop - 1)
        known = [read_collider(body, depsgraph_of(scene)) for body in bodies]
        for done, frame in enumerate(frames):
            yield Step(f"Reading frame {frame}", 0.3 * done / len(frames))
            scene.frame_set(frame)
            depsgraph = depsgraph_of(scene)
            evaluated = obj.evaluated_get(depsgraph)
            x.append(world_positions(evaluated, metres))
            if len(x[-1]) != len(obj.data.vertices):
                raise ValueError(
                    f"{obj.name}: a modifier before its corrections changes its vertices; move it behind them"
                )
            check_finite(obj.name, x[-1], f"at frame {frame}")
            to_object.append(world_to_object(obj.name, evaluated, metres, frame))
            for body, there, places in zip(bodies, known, moving, strict=True):
                places.append(world_positions(body.evaluated_get(depsgraph), metres))
                if len(places[-1]) != there.vertex_count:
                    raise ValueError(
                        f"{body.name} changes its mesh at frame {frame}; take away the modifier that does it"
                    )
                check_finite(body.name, places[-1], f"at frame {frame}")
        matrix = world_matrix(obj.evaluated_get(depsgraph), metres)
    triangles, _ = triangulated(obj.data)
    if np.linalg.det(matrix[:3, :3]) < 0:
        triangles = np.ascontiguousarray(triangles[:, [0, 2, 1]])
    mask = groups.masks(obj, obj.data)["meets_bodies"]
    found = [
        Obstacle(there.name, np.stack(places), there.triangles, distance or there.aura)
        for there, places in zip(known, moving, strict=True)
    ]
    meets = np.ones(len(obj.data.vertices), bool) if mask is None else mask
    return Played(frames, np.stack(x), np.stack(to_object), edges(obj.data), triangles, meets, found)


def mask_of(obj: bpy.types.Object, group: str) -> np.ndarray:
    """(n,) weights of a vertex group; 1 without one. ValueError for one that is not there."""
    if not group:
        return np.ones(len(obj.data.vertices))
    if group not in obj.vertex_groups:
        raise ValueError(f"{obj.name}: there is no vertex group '{group}'; choose another one, or none")
    return weights_in(obj, group, obj.data)


def add(scene, obj, name: str, played_: Played, part: Part, moved: np.ndarray) -> bpy.types.NodesModifier:
    """Write displacements `moved` (f, n, 3) [m] of the frames of a part, and play them behind the bake.

    Raises
    ------
    OSError
        The file cannot be written: nothing has changed.
    """
    frames = range(part.moved.start - part.opens, part.moved.stop + part.ends)
    start = part.moved.start - played_.frames.start
    moved = _together(played_.x[start : start + len(moved)], moved)
    to_object = played_.to_object[start : start + len(part.moved), :3, :3]
    added = np.zeros((len(frames), *moved.shape[1:]))
    added[part.opens : part.opens + len(moved)] = np.einsum("fij,fnj->fni", to_object, moved)
    label = f"{name} {part.frames.start}-{part.frames.stop - 1}"
    path = _free_file(cache_folder(scene) / FOLDER, f"{obj.name} {label}")
    make_folder(path.parent)
    with written(path) as out:
        out.write(pc2.pack_header(added.shape[1], frames.start, len(frames)))
        out.write(np.ascontiguousarray(added, "<f4").data)
    return correction.add_offsets(obj, label, frames, stored_path(path), offsets.digest(obj, frames))


def _together(x, moved) -> np.ndarray:
    """(f, n, 3) displacements of vertices at x (f, n, 3), those at one place by the mean of all there: each side of a welded seam, a
    closed zip or a tear line that holds is a border, and would go its own way."""
    moved = moved.copy()
    for places, ways in zip(x, moved, strict=True):
        first = first_at_place(places)
        count = np.bincount(first, minlength=len(first))
        shared = count[first] > 1
        if shared.any():
            mean = np.stack([np.bincount(first, way, len(first)) for way in ways.T], axis=1)
            ways[shared] = (mean[first] / count[first, None])[shared]
    return moved


def _free_file(folder: Path, name: str) -> Path:
    """A PC2 in a folder that is not there yet: one that an undo may want again is never overwritten."""
    stem, number = safe_name(name), 1
    path = folder / f"{stem}.pc2"
    while path.exists() or path.is_symlink():
        number += 1
        path = folder / f"{stem}-{number}.pc2"
    refuse_long(path)
    return path


class AfterBake(LongWork):
    """An operator on the active garment's baked frames: a dialog first in a window, and then long work."""

    bl_options = {"REGISTER", "UNDO"}

    frame_start: IntProperty(
        name="Frame Start", options={"SKIP_SAVE"}, description="First frame; the scene's if not given"
    )
    frame_end: IntProperty(name="End", options={"SKIP_SAVE"}, description="Last frame; the scene's if not given")
    fade: IntProperty(
        name="Fade",
        default=5,
        min=1,
        max=LARGEST_FADE,
        soft_max=50,
        description="Frames before and after, within which it fades; 1 shows none of it there",
    )

    @classmethod
    def poll(cls, context):
        obj = context.object
        if obj is None or obj.type != "MESH" or not obj.taffeta_cloth.enabled or obj.mode != "OBJECT":
            cls.poll_message_set("Select a Taffeta Cloth, in Object Mode")
            return False
        return True

    def invoke(self, context, event):
        self.frame_start, self.frame_end = self.range(context.scene)
        return self.ask(context)

    def range(self, scene) -> tuple[int, int]:
        """First and last frame."""
        asked = self.properties.is_property_set
        return (
            self.frame_start if asked("frame_start") else scene.frame_start,
            self.frame_end if asked("frame_end") else scene.frame_end,
        )

    def steps(self, context):
        obj = context.object
        refuse(obj)
        refuse_hidden(obj)
        part = part_of(obj, *self.range(context.scene), self.fade)
        sentence, level = yield from self.work(context.scene, obj, part)
        self.report({level}, translated(sentence))
        return {"FINISHED"}

    def work(self, scene, obj, part: Part) -> Steps:
        """Steps; returns what to tell, and its level."""
        raise NotImplementedError
