# SPDX-License-Identifier: GPL-3.0-or-later
"""A case run by Taffeta, by Blender's own cloth modifier and by its Cloth Dynamics, each as an animator would;
milliseconds of every frame.

Taffeta: the bake as its button does it, reading the scene and writing the frames included, in Final quality and in
Preview. Blender: what showing a frame takes longer than it does in the same scene without cloth. Both from the second
frame on, and both see the same mesh, bodies, gravity and frames.

Blender at its defaults weighs 0.3 kg a vertex and keeps 15 mm from itself and 35 mm from bodies. At its best it has the
garment's kilograms per square metre, no air damping (which is not that of air), and the distances of Taffeta's garment
and body, well under the length of an edge. Of Cloth Dynamics, which only newer Blenders have, tells `dynamics`.
"""

import tempfile
import time
from contextlib import contextmanager
from typing import NamedTuple

import bpy
import dynamics
import numpy as np
import scenes
from inside import Inside
from taffeta.operators.bake import job as jobs
from taffeta.operators.bake.order import read_order
from taffeta.operators.bake.run import bake_now
from taffeta.solver import precompile
from watch import PeakMemory, Watch

TAFFETA, PREVIEW = "Taffeta", "Taffeta, Preview"
BEST, DEFAULTS = "Blender, at its best", "Blender, defaults"
OUTSIDE = "reading and writing"  # the part of a bake that its report does not name
WARM, WARM_COLUMNS = 3, 51  # frames, and vertices along a side at most, of a bake before the one that counts


class Bake(NamedTuple):
    """A bake that is over, with its frames still on disk."""

    garments: list  # objects
    job: jobs.Job
    each: np.ndarray  # [ms] of each frame but the first
    memory: PeakMemory
    inside: Inside


def prepare():
    """Compile the solver, or load it into this process where it is compiled."""
    precompile.compile_kernels()
    for part in precompile.EVERY:
        precompile.PARTS[part].compile()


def rivals():
    """Who simulates besides Taffeta in this Blender."""
    return BEST, DEFAULTS, *((dynamics.BEST, dynamics.DEFAULTS) if dynamics.library() else ())


def run(case, patience, others=None):
    """All rows of a case, as JSON can hold them; Blender is given about `patience` seconds each time. `others`: else all."""
    warm_up(case)
    ours = [taffeta(case, who) for who in (TAFFETA, PREVIEW)]
    theirs = [blender(case, who, patience) for who in (rivals() if others is None else others)]
    for row in theirs:
        each = row["milliseconds"]["each"]
        row["ratios"] = [float(np.mean(each) / np.mean(our["milliseconds"]["each"][: len(each)])) for our in ours]
    return ours + theirs


def expected(case, who, rows):
    """[s] that a frame of a sheet may take, judged by the sheet before; 0 where there was none."""
    before = [r for r in rows if r["who"] == who and r["columns"] and r["self_collision"] == case.self_collision]
    if not case.columns or not before:
        return 0.0
    return before[-1]["milliseconds"]["mean"] / 1000 * case.columns**2 / before[-1]["vertices"]


def warm_up(case):
    """Bake a few frames of something like it, so that nothing that is loaded once is in the figures."""
    with baked(case._replace(frames=min(WARM, case.frames), columns=min(WARM_COLUMNS, case.columns))):
        pass


@contextmanager
def baked(case, who=TAFFETA):
    """Bake a case as the button does; its frames are there to be played for as long as this lasts."""
    garments = scenes.build(case)
    scene = bpy.context.scene
    for obj in garments:
        obj.taffeta_cloth.quality = "PREVIEW" if who == PREVIEW else "FINAL"
    stamps = []
    with tempfile.TemporaryDirectory() as folder:
        scene.taffeta.cache_folder = folder
        job = jobs.Job(read_order(scene))
        with Inside() as inside, PeakMemory() as memory:
            bake_now(scene, job, lambda job: stamps.append(time.perf_counter()))
        yield Bake(garments, job, 1000 * np.diff(stamps), memory, inside)
        bpy.ops.wm.read_factory_settings(use_empty=True)  # before the frames are gone


def taffeta(case, who):
    """Bake the case, then look at the frames as they are played."""
    with baked(case, who) as bake:
        watch = look_over(bake.garments, case.frames)
    reports, garments = bake.job.reports, bake.job.order.garments
    row = _row(case, who, bake.each, sum(len(garment.x) for garment in garments), watch, bake.memory)
    tasks = {name: 1000 * float(np.mean([r.seconds[name] for r in reports])) for name in reports[0].seconds}
    solver = sum(tasks.values())
    return row | {
        "tasks": tasks | {OUTSIDE: row["milliseconds"]["mean"] - solver},
        "substeps": bake.job.order.settings.substeps,
        "solver_milliseconds": solver,
        "images": bake.job.images.figures(),
        "solver_bytes": bake.inside.bytes_at_most(garments),
        "solve": bake.inside.figures(),
    }


def blender(case, who, patience):
    """Show the case's frames while Blender simulates them, until `patience` seconds have passed."""
    garments = scenes.build(case)
    scene = bpy.context.scene
    bare = show(scene, case.frames, patience)
    furnish(scene, garments, who)
    with PeakMemory() as memory:
        each = show(scene, case.frames, patience)
    watch = look_over(garments, len(each) + 1)
    return _row(case, who, each - np.mean(bare), len(garments[0].data.vertices), watch, memory)


def look_over(garments, last):
    """Play the frames up to `last` from the simulator's cache; returns the Watch that saw them."""
    watch = Watch(garments, last)
    for frame in range(2, last + 1):
        bpy.context.scene.frame_set(frame)
        watch.look(frame)
    watch.count(last)
    return watch


def furnish(scene, garments, who):
    """Give bodies and garments Blender's physics; inner garments are bodies to outer ones, too."""
    if who in (dynamics.BEST, dynamics.DEFAULTS):
        bodies = [obj for obj in scene.objects if obj.taffeta_collider.enabled]
        return dynamics.furnish(garments, bodies, who)
    for obj in scene.objects:
        if obj.taffeta_collider.enabled:
            obj.modifiers.new("Collision", "COLLISION")
            if who == BEST:
                obj.collision.thickness_outer = max(0.001, obj.taffeta_collider.aura)
    for obj in garments:
        dress(obj, who)
        if obj.taffeta_cloth.layer < max(other.taffeta_cloth.layer for other in garments):
            obj.modifiers.new("Collision", "COLLISION")
            if who == BEST:
                obj.collision.thickness_outer = max(0.001, obj.taffeta_cloth.thickness.value)


def dress(obj, who):
    """Give a garment Blender's cloth modifier."""
    ours, scene = obj.taffeta_cloth, bpy.context.scene
    modifier = obj.modifiers.new("Cloth", "CLOTH")
    settings, collision = modifier.settings, modifier.collision_settings
    modifier.point_cache.frame_start, modifier.point_cache.frame_end = scene.frame_start, scene.frame_end
    collision.use_self_collision = ours.self_collision
    if ours.pin.source == "GROUP":
        settings.vertex_group_mass = ours.pin.vertex_group
    if who == BEST:
        area = sum(polygon.area for polygon in obj.data.polygons)
        settings.quality = 5
        settings.mass = ours.mass.value * area / len(obj.data.vertices)
        settings.air_damping = 0.0
        collision.distance_min = collision.self_distance_min = max(0.001, ours.thickness.value)


def show(scene, frame_count, patience):
    """Milliseconds of showing each frame but the first, for at most about `patience` seconds."""
    scene.frame_set(scene.frame_start)
    each = []
    for frame in range(scene.frame_start + 1, frame_count + 1):
        started = time.perf_counter()
        scene.frame_set(frame)
        bpy.context.evaluated_depsgraph_get().update()
        each.append(1000 * (time.perf_counter() - started))
        if sum(each) > 1000 * patience:
            break
    return np.array(each)


def _row(case, who, each, vertices, watch, memory):
    """One line of the table."""
    milliseconds = {"mean": float(each.mean()), "worst": float(each.max()), "each": np.round(each, 3).tolist()}
    head = {"case": case.name, "self_collision": case.self_collision, "vertices": vertices, "who": who}
    return head | {
        "columns": case.columns,
        "frames": len(each) + 1,
        "milliseconds": milliseconds,
        **watch.figures(),
        "memory_megabytes": memory.megabytes,
    }
