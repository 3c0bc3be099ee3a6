# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures of a baked scene: frames side by side on one sheet, and a film. Cycles on the CPU, few samples, denoised.

Needs no display and no graphics card. Several times as fast as EEVEE on a software renderer, with true shadows.
"""

import contextlib
import os
import sys
import tempfile
from pathlib import Path

import bpy
import imageio.v2 as imageio
import numpy as np
from PIL import Image, ImageDraw, ImageFont
from tqdm import tqdm

COLUMNS = 5
STILL, FILM = (440, 550), (320, 400)  # [pixels]; even, as video wants them
EDGE = 12  # [pixels] left of a label, and right of it at least


def look(scene):
    """Set up how a scene is rendered."""
    scene.render.engine = "CYCLES"
    scene.render.image_settings.file_format = "PNG"
    scene.render.use_persistent_data = True
    scene.view_settings.view_transform = "AgX"
    scene.view_settings.look = "AgX - High Contrast"
    cycles = scene.cycles
    cycles.use_adaptive_sampling = False
    cycles.use_denoising = True
    cycles.denoising_quality = "FAST"
    cycles.denoising_input_passes = "RGB_ALBEDO"
    cycles.use_light_tree = False
    cycles.max_bounces, cycles.diffuse_bounces, cycles.glossy_bounces = 2, 1, 1
    cycles.samples = 12


def sheet(scene, path, frame_count=10, title=""):
    """Render frames spread evenly over the scene's range onto one picture (PNG) at `path`."""
    frames = np.unique(np.linspace(scene.frame_start, scene.frame_end, frame_count).round().astype(int))
    rows = -(-len(frames) // COLUMNS)
    whole = Image.new("RGB", (COLUMNS * STILL[0], rows * STILL[1]), (235, 236, 238))
    pen = ImageDraw.Draw(whole)
    for k, (frame, picture) in enumerate(_pictures(scene, frames, STILL, 12, "Stills")):
        corner = (k % COLUMNS * STILL[0], k // COLUMNS * STILL[1])
        whole.paste(picture, corner)
        seconds = (frame - scene.frame_start) / (scene.render.fps / scene.render.fps_base)
        label = f"{title}  frame {frame}  {seconds:.2f} s".strip()
        pen.text((corner[0] + EDGE, corner[1] + 10), label, fill=(25, 25, 30), font=fitting(label, STILL[0] - 2 * EDGE))
    whole.save(path)


def fitting(label, width):
    """The font, of 20 pixels or less, in which a line of text is at most `width` pixels long."""
    fonts = (ImageFont.load_default(size=size) for size in range(20, 8, -1))
    return next((font for font in fonts if font.getlength(label) <= width), ImageFont.load_default(size=8))


def movie(scene, path, samples=4):
    """Render every frame of the scene's range into a film (MP4, H.264) at `path`."""
    frames = range(scene.frame_start, scene.frame_end + 1)
    rate = scene.render.fps / scene.render.fps_base
    with imageio.get_writer(path, fps=rate, codec="libx264", quality=8, macro_block_size=2) as film:
        for _, picture in _pictures(scene, frames, FILM, samples, "Film"):
            film.append_data(np.asarray(picture))


def _pictures(scene, frames, size, samples, label):
    """Yield (frame, PIL image) for each frame, with a progress bar; the scene's frame and size are put back."""
    render, before = scene.render, scene.frame_current
    kept = render.resolution_x, render.resolution_y, scene.cycles.samples
    render.resolution_x, render.resolution_y = size
    scene.cycles.samples = samples
    try:
        for frame in tqdm(frames, label, unit="frame", file=sys.stderr):
            scene.frame_set(int(frame))
            yield int(frame), shot()
    finally:
        render.resolution_x, render.resolution_y, scene.cycles.samples = kept
        scene.frame_set(before)


def shot():
    """A picture of the scene as it is."""
    render = bpy.context.scene.render
    kept = render.filepath
    try:
        with tempfile.TemporaryDirectory() as folder:
            render.filepath = str(Path(folder) / "shot.png")
            with silence():
                bpy.ops.render.render(write_still=True)
            with Image.open(render.filepath) as picture:
                return picture.convert("RGB")
    finally:
        render.filepath = kept


@contextlib.contextmanager
def silence():
    """Keep Blender's own lines, which it prints past Python, off the terminal."""
    sys.stdout.flush()
    terminal, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1)
        yield
    finally:
        os.dup2(terminal, 1)
        os.close(terminal)
        os.close(nowhere)
