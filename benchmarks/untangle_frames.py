# SPDX-License-Identifier: GPL-3.0-or-later
"""An example by the velocity field, untangled frame by frame: `.venv/bin/python benchmarks/untangle_frames.py [--scene NAME]`.

Bakes two sheets and a ball that drags them through a ring (Buffet 2021, figure 2.16; 2.5.5: 1.5 frames a second by distance fields)
or another example as its button does, with Velocity Field, which lets some of it through, and presses Untangle Frames. Prints what
crosses in each frame before and after, between garments and with themselves, by ipctk, and the processor's time. With --each it is
baked once more, with Untangle Each Frame, and that is what comes after. Writes nothing but bakes, in a temporary folder.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

import bpy
import numpy as np

sys.path[:0] = [str(Path(__file__).resolve().parent.parent / "tests" / "solver")]

import taffeta  # noqa: E402
from crossings import count_crossings  # noqa: E402
from scenes import triangles, world  # noqa: E402


def added(name, frames, contact, count):
    """Add the example to an empty file; returns its garments and bodies."""
    scene = bpy.context.scene
    bpy.ops.taffeta.scene_add(name=name, **({"count": count} if count else {}))
    scene.taffeta.cloth_contact, scene.frame_end = contact, frames
    cloths = [obj for obj in scene.objects if obj.taffeta_cloth.enabled]
    return cloths, [obj for obj in scene.objects if obj.taffeta_collider.enabled]


def baked(each):
    """Bake, with or without Untangle Each Frame; returns the processor's seconds."""
    bpy.context.scene.taffeta.untangle_each = each
    start = time.process_time()
    bpy.ops.taffeta.bake()
    return time.process_time() - start


def crossing(cloths, bodies, frames):
    """`crossings.Crossings` of each frame, (f, 3)."""
    sizes = [len(obj.data.vertices) for obj in cloths]
    starts = np.cumsum([0, *sizes[:-1]])
    faces = np.concatenate([triangles(obj) + start for obj, start in zip(cloths, starts, strict=True)])
    owner, found = np.repeat(np.arange(len(cloths)), sizes), []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        solid = [(world(obj), triangles(obj)) for obj in bodies]
        found.append(count_crossings(np.concatenate([world(obj) for obj in cloths]), faces, owner, solid))
    return np.array(found)


def untangled(cloths, stretch):
    """Press Untangle Frames for all of them; returns the processor's seconds."""
    for obj in bpy.context.view_layer.objects:
        obj.select_set(obj in cloths)
    bpy.context.view_layer.objects.active = cloths[0]
    start = time.process_time()
    bpy.ops.taffeta.untangle_frames(stretch=stretch)
    return time.process_time() - start


def main() -> int:
    """Bake, count, untangle, count; prints a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scene", default="ball_through_sheets")
    parser.add_argument("--frames", type=int, default=100)
    parser.add_argument("--contact", default="VELOCITY_FIELD")
    parser.add_argument("--each", action="store_true", help="in the bake, by Untangle Each Frame, and not behind it")
    parser.add_argument("--count", type=int, default=0, metavar="N", help="of garments, where an example has a number")
    parser.add_argument("--stretch", type=float, default=0.1, help="part of their length that edges may change by")
    arguments = parser.parse_args()
    taffeta.register()
    with tempfile.TemporaryDirectory() as folder:
        bpy.ops.wm.read_factory_settings(use_empty=True)
        bpy.ops.wm.save_as_mainfile(filepath=str(Path(folder) / "shot.blend"))
        cloths, bodies = added(arguments.scene, arguments.frames, arguments.contact, arguments.count)
        frames, baking = range(1, arguments.frames + 1), baked(False)
        before = crossing(cloths, bodies, frames)
        working = baked(True) - baking if arguments.each else untangled(cloths, arguments.stretch)
        after = crossing(cloths, bodies, frames)
    taffeta.unregister()
    tell(frames, before, after)
    crossed = max(np.count_nonzero(before.any(axis=1)), 1)
    print(
        f"\nbake {baking / len(frames):.3f} s of the processor a frame; untangling {working:.1f} s, {working / len(frames):.3f} for "
        f"each of {len(frames)} frames, {working / crossed:.3f} for each of {crossed} in which something crosses"
    )
    return 0


def tell(frames, before, after):
    """Print a row for each frame in which something crosses, and their sum."""
    print("| frame | between | after | with themselves | after | with bodies | after |\n" + "| --- " * 7 + "|")
    rows = [
        (f"{frame}", was, now) for frame, was, now in zip(frames, before, after, strict=True) if was.any() or now.any()
    ]
    for name, was, now in (*rows, ("all", before.sum(axis=0), after.sum(axis=0))):
        print(f"| {name} | {was[1]:,} | {now[1]:,} | {was[0]:,} | {now[0]:,} | {was[2]:,} | {now[2]:,} |")


if __name__ == "__main__":
    sys.exit(main())
