# SPDX-License-Identifier: GPL-3.0-or-later
"""A graphics context for Blender's `gpu` module: a window has one; without a window, one is made where that can be."""

from contextlib import contextmanager

import bpy
import gpu

SILENCED = (
    "render_init",
    "render_pre",
    "render_post",
    "render_write",
    "render_stats",
    "render_complete",
    "render_cancel",
)


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
    try:
        if hasattr(gpu, "init"):  # from Blender 5.2 on
            gpu.init()
        else:
            _render_nothing()
        return gpu.platform.renderer_get()
    except (SystemError, RuntimeError) as error:
        raise NoGraphics(f"no graphics context can be had ({str(error).strip().splitlines()[-1]})") from error


def _render_nothing() -> None:
    """A Workbench picture of four by four pixels, which leaves a context behind, and of itself nothing."""
    images = set(bpy.data.images)
    scene = bpy.data.scenes.new("Taffeta Context")
    camera = bpy.data.objects.new("Taffeta Context", bpy.data.cameras.new("Taffeta Context"))
    try:
        scene.collection.objects.link(camera)
        scene.camera, scene.render.engine = camera, "BLENDER_WORKBENCH"
        scene.render.resolution_x = scene.render.resolution_y = 4
        with _quiet():
            bpy.ops.render.render(scene=scene.name)
    finally:
        data = camera.data
        bpy.data.objects.remove(camera)
        bpy.data.cameras.remove(data)
        bpy.data.scenes.remove(scene)
        for image in set(bpy.data.images) - images:
            bpy.data.images.remove(image)


@contextmanager
def _quiet():
    """No handler of the user's, nor of another add-on, hears of this picture."""
    lists = [getattr(bpy.app.handlers, name) for name in SILENCED]
    kept = [list(handlers) for handlers in lists]
    try:
        for handlers in lists:
            handlers.clear()
        yield
    finally:
        for handlers, before in zip(lists, kept, strict=True):
            handlers[:] = before
