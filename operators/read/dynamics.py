# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's own dynamics (rigid bodies, its cloth, soft bodies, simulation nodes), played through before a bake looks at what they move.

They go on by whole frames, one after another, and remember these as long as nothing is changed. Asked for a time in between, or for a
frame that they have not come to, they stay where they were, or begin anew: a body that a bake looks at within a frame would stand still
all of it and jump at its end, and a bake that begins late would meet it where it stood at the beginning (Blender 4.5 and 5.2,
`BKE_rigidbody_do_simulation`, `BKE_ptcache_read`, `NodesModifierSimulationParams`). Once played, all times come from what they remember.
"""

from collections.abc import Iterator

import bpy

MOVED_BY = {"CLOTH", "SOFT_BODY"}  # modifiers that remember frames as rigid bodies do
SIMULATES = "GeometryNodeSimulationOutput"


def play_through(scene: bpy.types.Scene, first: int, last: int) -> None:
    """Show each frame from where dynamics that are not baked begin up to `last`; simulation nodes begin at `first`, or with the scene.
    Leaves another frame shown."""
    begins = [cache.frame_start for cache in _caches(scene) if not cache.is_baked]
    if any(_simulates(modifier) for obj in scene.objects for modifier in obj.modifiers):
        begins.append(min(first, scene.frame_start))
    for frame in range(min(begins, default=last + 1), last + 1):
        scene.frame_set(frame)


def _caches(scene: bpy.types.Scene) -> Iterator[bpy.types.PointCache]:
    world = scene.rigidbody_world
    if world is not None and world.enabled and world.collection is not None and world.collection.all_objects:
        yield world.point_cache
    for obj in scene.objects:
        yield from (m.point_cache for m in obj.modifiers if m.type in MOVED_BY and m.show_viewport)


def _simulates(modifier: bpy.types.Modifier) -> bool:
    """Whether it is nodes with a simulation, in groups, too. Whether that is baked, Blender does not tell."""
    is_shown = modifier.type == "NODES" and modifier.show_viewport
    return is_shown and any(bake.node is not None and bake.node.bl_idname == SIMULATES for bake in modifier.bakes)
