# SPDX-License-Identifier: GPL-3.0-or-later
"""How long a scene's frame lasts, and what pulls in it, in the solver's units."""

import bpy
import numpy as np

from .mesh_io import metres_per_unit

LONGEST_FRAME = 60.0  # [s] of a frame: longer ones are a slip, and their steps need more memory than there is


def frame_seconds(scene: bpy.types.Scene) -> float:
    """Duration of a frame in seconds: exactly 1.001 / 24 at 23.976 frames a second.

    Blender keeps the divisor as a 32-bit float; six decimals of it are what was meant.
    """
    seconds = round(scene.render.fps_base, 6) / scene.render.fps
    if seconds > LONGEST_FRAME:
        raise ValueError(
            f"A frame of scene {scene.name} lasts {seconds:,.0f} s, and would be simulated in millions of steps; lower Base of "
            "the Frame Rate in the Output tab"
        )
    return seconds


def gravity(scene: bpy.types.Scene) -> np.ndarray:
    """(3,) [m/s2] as the Scene tab shows it; zero when gravity is switched off there."""
    return np.array(scene.gravity, np.float64) * (metres_per_unit(scene) if scene.use_gravity else 0.0)
