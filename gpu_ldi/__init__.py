# SPDX-License-Identifier: GPL-3.0-or-later
"""Layered depth images on the graphics card, through Blender's `gpu` module: the same images as `solver.ldi.centres`.

    words, render = drawer()                       words: "GPU, llvmpipe ..." or "CPU, because ..."
    image = render(x, triangles, low, high, 64)    as `solver.ldi.centres.render`

On the main thread only: Blender's `gpu` module crashes elsewhere.
"""

import threading

from .context import NoGraphics, ensure_context


def drawer():
    """(words, render): how images will be drawn, and what draws them; the CPU where the graphics card cannot."""
    from ..solver.ldi import centres

    try:
        if threading.current_thread() is not threading.main_thread():
            raise NoGraphics("Blender's gpu module works on the main thread alone")
        device = ensure_context()
        from .render import Renderer

        return f"GPU, {device}", Renderer().render
    except NoGraphics as reason:
        return f"CPU, because {reason}", centres.render
