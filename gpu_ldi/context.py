# SPDX-License-Identifier: GPL-3.0-or-later
"""A graphics context for Blender's `gpu` module: a window has one; without a window, one is made where that can be."""

import gpu

from . import windowless


class NoGraphics(RuntimeError):
    """Why nothing can be drawn on the graphics card, as the end of a sentence."""


def ensure_context() -> str:
    """Make sure that `gpu` works, on the main thread; returns the name of what draws.

    Raises
    ------
    NoGraphics
        There is no context and none can be made, or its shaders cannot write images.
    """
    try:
        name = gpu.platform.renderer_get()
    except SystemError:  # no window
        name = _without_window()
    if gpu.capabilities.max_images_get() < 2:
        raise NoGraphics(f"{name} has no images that a compute shader can write")
    return name


def _without_window() -> str:
    refusal = windowless.refusal()
    if refusal:
        raise NoGraphics(f"no graphics context can be had ({refusal})")
    try:
        return windowless.make_context()
    except (SystemError, RuntimeError) as error:
        raise NoGraphics(f"no graphics context can be had ({windowless.last_line(error)})") from error
