# SPDX-License-Identifier: GPL-3.0-or-later
"""What a frame of the demo shot costs, by task, beside Blender's own cloth on the same garment and body.

    python benchmarks/frame.py [--scene poncho] [--frames 60]

Taffeta: the bake's own report, solver time only and wall time. Blender: time of `frame_set`, less that of the same scene
without cloth, at its defaults with self-collision (quality 5, collision quality 2) and at what its manual
recommends for such garments (quality 12, collision quality 6). Prints a table and writes out/bench/frame.json.
"""

import argparse
import json
import os
import time
from pathlib import Path

import bpy
import numpy as np
import taffeta

OUT = Path(__file__).resolve().parent.parent / "out" / "bench"
BLENDER = {"Blender, defaults": (5, 2), "Blender, quality 12/6": (12, 6)}


def load(name, frame_count):
    """The example scene in an empty file; returns its garments."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.taffeta.scene_add(name=name)
    scene = bpy.context.scene
    scene.frame_end = scene.frame_start + frame_count - 1
    return [obj for obj in scene.objects if obj.taffeta_cloth.enabled]


def play(scene) -> float:
    """Mean milliseconds of showing a frame, the first left out."""
    scene.frame_set(scene.frame_start)
    started = time.perf_counter()
    for frame in range(scene.frame_start + 1, scene.frame_end + 1):
        scene.frame_set(frame)
        bpy.context.evaluated_depsgraph_get().update()
    return (time.perf_counter() - started) * 1000 / (scene.frame_end - scene.frame_start)


def edge_strain(obj) -> float:
    """Worst strain of the garment's edges as shown now, against its mesh."""
    mesh = obj.data
    edges = np.empty(2 * len(mesh.edges), np.int32)
    mesh.edges.foreach_get("vertices", edges)
    shapes = []
    for shown in (mesh, obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data):
        x = np.empty(3 * len(mesh.vertices), np.float32)
        shown.vertices.foreach_get("co", x)
        first, second = x.reshape(-1, 3)[edges.reshape(-1, 2)].transpose(1, 0, 2).astype(float)
        shapes.append(np.linalg.norm(first - second, axis=1))
    return float((shapes[1] / shapes[0]).max() - 1.0)


def run_taffeta(name, frame_count) -> dict:
    """Bake twice (the first compiles) and return the second's figures."""
    for _ in range(2):
        cloths = load(name, frame_count)
        started = time.perf_counter()
        if bpy.ops.taffeta.bake() != {"FINISHED"}:
            raise SystemExit("the bake failed, see above")
        wall = (time.perf_counter() - started) * 1000 / (frame_count - 1)  # the first frame is given
    return {"wall": wall, **json.loads(cloths[0].taffeta_cloth.report_json)}


def run_blender(name, frame_count, quality, collision_quality) -> dict:
    """Blender's cloth with the same mass, bodies and pins, simulated while the frames are shown."""
    cloths = load(name, frame_count)
    scene = bpy.context.scene
    without = play(scene)
    for obj in scene.objects:
        if obj.taffeta_collider.enabled:
            obj.modifiers.new("Collision", "COLLISION")
            obj.collision.thickness_outer = max(0.001, obj.taffeta_collider.aura)
    for obj in cloths:
        settings = obj.modifiers.new("Cloth", "CLOTH")
        area = sum(polygon.area for polygon in obj.data.polygons)
        settings.settings.mass = obj.taffeta_cloth.mass.value * area / len(obj.data.vertices)
        settings.settings.quality = quality
        settings.collision_settings.collision_quality = collision_quality
        settings.collision_settings.use_self_collision = obj.taffeta_cloth.self_collision
        settings.collision_settings.self_distance_min = 0.003
        settings.point_cache.frame_start, settings.point_cache.frame_end = scene.frame_start, scene.frame_end
        if obj.taffeta_cloth.pin.source == "GROUP":
            settings.settings.vertex_group_mass = obj.taffeta_cloth.pin.vertex_group
    shown = play(scene)
    return {"wall": shown - without, "worst_stretch_last_frame": max(map(edge_strain, cloths))}


def main():
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scene", default="poncho")
    parser.add_argument("--frames", type=int, default=60)
    chosen = parser.parse_args()
    taffeta.register()
    try:
        ours = run_taffeta(chosen.scene, chosen.frames)
        theirs = {label: run_blender(chosen.scene, chosen.frames, *how) for label, how in BLENDER.items()}
    finally:
        taffeta.unregister()
    print(
        f"\n{chosen.scene}, {chosen.frames} frames, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, ms a frame"
    )
    print(f"{'Taffeta, solver':32}{ours.get('milliseconds_per_frame', float('nan')):10.1f}")
    for task, value in (ours.get("milliseconds") or {}).items():
        print(f"    {task:28}{value:10.1f}")
    print(f"{'Taffeta, all in':32}{ours['wall']:10.1f}")
    for label, figures in theirs.items():
        print(f"{label:32}{figures['wall']:10.1f}   {figures['wall'] / ours['wall']:.1f} times Taffeta")
    OUT.mkdir(parents=True, exist_ok=True)
    figures = {"scene": chosen.scene, "frames": chosen.frames, "taffeta": ours, "blender": theirs}
    (OUT / "frame.json").write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
