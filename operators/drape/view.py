# SPDX-License-Identifier: GPL-3.0-or-later
"""The pointer over a 3D view: which view it is, the ray under it, and how large pixels are in the world."""

from typing import NamedTuple

import bpy
import numpy as np
from bpy_extras import view3d_utils
from mathutils import Vector

from ...panels.drape import TOOL


class View(NamedTuple):
    """A 3D view that the pointer is over, and where."""

    region: bpy.types.Region
    data: bpy.types.RegionView3D
    pointer: tuple[float, float]  # pixels of the region


def view_at(window: bpy.types.Window, x: int, y: int) -> View | None:
    """The 3D view under a point of a window; None over headers, sidebars and other editors."""
    for area in window.screen.areas:
        if area.type != "VIEW_3D" or not _holds(area, x, y):
            continue
        if any(region.type != "WINDOW" and _holds(region, x, y) for region in area.regions):
            return None
        for region in area.regions:
            if region.type == "WINDOW" and _holds(region, x, y) and region.data is not None:
                return View(region, region.data, (x - region.x, y - region.y))
    return None


def ray(view: View, metres: float) -> tuple[np.ndarray, np.ndarray]:
    """Origin [m] and direction, of length 1, of the ray under the pointer; metres : length of a Blender unit."""
    about = view.region, view.data, view.pointer
    origin = np.array(view3d_utils.region_2d_to_origin_3d(*about)) * metres
    direction = np.array(view3d_utils.region_2d_to_vector_3d(*about))
    return origin, direction / np.sqrt((direction * direction).sum())


def beside(view: View, point: np.ndarray, metres: float) -> np.ndarray:
    """(3,) [m] what is under the pointer as deep in the view as a point [m] is."""
    deep = Vector(point / metres)
    return np.array(view3d_utils.region_2d_to_location_3d(view.region, view.data, view.pointer, deep)) * metres


def length_of(view: View, point: np.ndarray, pixels: float, metres: float) -> float:
    """[m] of so many pixels as deep in the view as a point [m] is."""
    there = view._replace(pointer=(view.pointer[0] + pixels, view.pointer[1]))
    away = beside(there, point, metres) - beside(view, point, metres)
    return float(np.sqrt((away * away).sum()))


def is_tool(context: bpy.types.Context) -> bool:
    """Whether the animator has the tool in hand."""
    tool = context.workspace.tools.from_space_view3d_mode("OBJECT", create=False)
    return context.mode == "OBJECT" and tool is not None and tool.idname == TOOL


def _holds(box, x, y):
    return box.x <= x < box.x + box.width and box.y <= y < box.y + box.height and box.width > 1
