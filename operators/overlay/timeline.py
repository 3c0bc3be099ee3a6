# SPDX-License-Identifier: GPL-3.0-or-later
"""A bar at the foot of the timeline over the frames that are baked: of the active garment, and of all garments.

Only the first 32 bytes of each cache are read, and anew only when the file has changed, so that the bar grows with a
bake. Blender's own *View > Cache > Show Cache* hides it, too.
"""

import os
from typing import NamedTuple

import bpy

from ...solver.cache import pc2
from ..playback.bake_files import cache_file
from ..read.modifier_stack import find_cache
from ..read.participants import cloths_of

KEPT, STALE, EVERY = (0.20, 0.75, 0.90, 0.95), (0.95, 0.65, 0.15, 0.95), (0.75, 0.75, 0.75, 0.6)
HEIGHT = 4  # points of each bar
_headers: dict[str, tuple[tuple[int, int], pc2.Header | None]] = {}  # path -> (time and size, what it said)
_draw_handlers: list = []


class Bar(NamedTuple):
    """Frames that are kept, both inclusive."""

    first: float
    last: float
    colour: tuple[float, float, float, float]


def kept_frames(obj: bpy.types.Object) -> tuple[float, float] | None:
    """First and last frame of the scene that a garment's bake has, where its modifier plays it; None without frames."""
    path = cache_file(obj)
    if path is None:
        return None
    header = _header(str(path))
    if header is None or header.sample_count == 0:
        return None
    cache = find_cache(obj)
    first = cache.frame_start if cache is not None else header.first_frame
    return float(first), float(first) + header.sample_count - 1


def _header(path: str) -> pc2.Header | None:
    """Header of a cache as it is now; None where there is no such file or it is none."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        _headers.pop(path, None)
        return None
    seen = status.st_mtime_ns, status.st_size
    if _headers.get(path, ((), None))[0] != seen:
        try:
            header = pc2.read_header(path)
        except (OSError, ValueError):
            header = None
        _headers[path] = seen, header
    return _headers[path][1]


def bars(scene: bpy.types.Scene, active: bpy.types.Object | None) -> tuple[Bar | None, Bar | None]:
    """The bar of the active garment, and the frames that all garments of the scene have, if there are several."""
    cloths = cloths_of(scene)
    own = None
    if active is not None and active in cloths and (kept := kept_frames(active)) is not None:
        own = Bar(*kept, STALE if active.taffeta_cloth.stale else KEPT)
    if len(cloths) < 2 and own is not None:
        return own, None
    every = [kept_frames(obj) for obj in cloths]
    if not every or None in every:
        return own, None
    first, last = max(kept[0] for kept in every), min(kept[1] for kept in every)
    return own, Bar(first, last, EVERY) if first <= last else None


def rectangles(found, to_pixel, width: float, unit: float) -> list[tuple]:
    """(left, low, right, high, colour) in pixels of each bar that is in view; `to_pixel(frame)` is across."""
    shown = []
    for row, bar in enumerate(reversed(found)):  # that of all garments is the lower one
        if bar is None:
            continue
        left, right = max(to_pixel(bar.first - 0.5), 0.0), min(to_pixel(bar.last + 0.5), width)
        if left < right:
            shown.append((left, row * HEIGHT * unit, right, (row + 1) * HEIGHT * unit - 1, bar.colour))
    return shown


def draw() -> None:
    """Draw the bars into the timeline, or any other dope sheet that shows caches."""
    import gpu
    from gpu_extras.batch import batch_for_shader

    context, space = bpy.context, bpy.context.space_data
    show = getattr(context.window_manager, "taffeta_show", None)
    if show is None or not show.frames or space is None or not space.show_cache:
        return
    region, unit = context.region, context.preferences.system.ui_scale
    found = bars(context.scene, context.view_layer.objects.active)
    shader = gpu.shader.from_builtin("UNIFORM_COLOR")
    gpu.state.blend_set("ALPHA")
    across = region.view2d.view_to_region
    shapes = rectangles(found, lambda frame: across(frame, 0.0, clip=False)[0], region.width, unit)
    for left, low, right, high, colour in shapes:
        corners = [(left, low, 0.0), (right, low, 0.0), (left, high, 0.0), (right, high, 0.0)]
        shader.bind()
        shader.uniform_float("color", colour)
        batch_for_shader(shader, "TRI_STRIP", {"pos": corners}).draw(shader)
    gpu.state.blend_set("NONE")


def register():
    """Draw in timelines."""
    _draw_handlers.append(bpy.types.SpaceDopeSheetEditor.draw_handler_add(draw, (), "WINDOW", "POST_PIXEL"))


def unregister():
    """Do that no more."""
    for handler in reversed(_draw_handlers):
        bpy.types.SpaceDopeSheetEditor.draw_handler_remove(handler, "WINDOW")
    _draw_handlers.clear()
    _headers.clear()
