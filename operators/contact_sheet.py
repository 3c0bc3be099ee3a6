# SPDX-License-Identifier: GPL-3.0-or-later
"""`blender --command taffeta sheet`: all wedges on one picture, each with its settings and figures, and as a table.

Cycles draws on the processor, so that a machine without a graphics card can, by the scene's camera and lights where it has
some. The label above each picture is Blender's own stamp, burnt into a picture of nothing: no font, no window is needed.
"""

import tempfile
import textwrap
from pathlib import Path

import bpy
import numpy as np
from mathutils import Euler

from ..solver.cache import wedge as wedges
from ..solver.cache.files import written
from . import wedge_table
from .bake import wedged
from .command_bake import export, named_wedges, opened, tell, wedge_export
from .playback.cache_modifier import attach
from .playback.owners import cache_folder
from .read.arrays import pixels
from .read.participants import chosen_cloths, world_box
from .read.write_back import save_picture
from .wedge_table import Row

ENGINES = "CYCLES", "BLENDER_WORKBENCH"  # the first that this Blender has
SAMPLES = 16
SHAPE = 0.8  # width over height of a picture, where the scene has no camera
VIEW = Euler((1.25, 0.0, 0.4))  # [rad] from where it is looked at then
MOST_PIXELS = 1 << 26  # of a sheet
LONGEST_LABEL = 250  # letters that Blender burns into a picture
FONT = 26.0  # a picture's width over the size of its letters
LETTER, LINE = 0.62, 1.25  # width of a letter and height of a line, in sizes of them
LEAST_FONT = 9  # pixels
EMPTY = 0.2  # grey of a place without a picture


def sheet(options) -> int:
    """Do what `taffeta sheet` says; returns the exit status. Raises what `command.run` tells in a sentence."""
    asked = named_wedges(options)
    scene = opened(options.file, options.scene)
    cloths = chosen_cloths(bpy.context, everything=True)
    every = asked or wedge_table.on_disk(scene)
    if not every:
        raise ValueError(f"No wedge lies in {cache_folder(scene) / wedges.FOLDER}; bake with --wedge or --set first")
    table = wedge_table.rows(scene, cloths, every)
    baked = [row for row in table if row.frames]
    if not baked or (asked and len(baked) < len(table)):
        lacking = " ".join(row.wedge.name for row in table if not row.frames)
        raise ValueError(f"These wedges are not baked: {lacking}; bake them first")
    for row in table:
        if not row.frames:
            tell("WARNING", f"{row.wedge.name} is not baked")
    path = options.folder / options.output if options.output else cache_folder(scene) / wedges.FOLDER / "sheet.png"
    frame = min(row.frames.stop for row in baked) - 1 if options.frame is None else options.frame
    lacking = [row for row in baked if frame not in row.frames]
    if len(lacking) == len(baked):
        spans = ", ".join(f"{row.wedge.name} {_span(row)}" for row in baked)
        raise ValueError(f"No wedge has frame {frame}: {spans}; choose another --frame")
    for row in lacking:
        tell("WARNING", f"{row.wedge.name} has {_span(row)}, and not {frame}")
    _draw(scene, cloths, table, frame, options, path)
    wedge_table.write(table, path)
    for row in baked if options.export else ():
        before = _played(scene, cloths, row)
        try:
            export(
                scene,
                options.folder / wedge_export(options.export, row.wedge),
                None,
                (row.frames.start, row.frames.stop - 1),
            )
        finally:
            wedged.take_off(scene, before)
    print(wedge_table.printed(table), flush=True)
    print(f"Frame {frame} of {len(baked) - len(lacking)} wedges on {path}, beside it .csv and .json", flush=True)
    return 0


def _draw(scene, cloths, table: list[Row], frame: int, options, path: Path) -> None:
    """Draw every baked wedge at a frame and lay the pictures side by side."""
    ordered, places, columns = wedges.places([row.wedge for row in table], options.columns or 0)
    table = sorted(table, key=lambda row: ordered.index(row.wedge))
    width = options.size
    _set_up(scene, width)
    if scene.camera is None:
        _add_camera(scene, cloths, [row for row in table if frame in row.frames], frame)
    height = scene.render.resolution_y
    labels = [_wrapped(row, frame, width) for row in table]
    height = scene.render.resolution_y + round((max(map(len, labels)) + 1) * LINE * _font(width))
    lines = places[-1][0] + 1
    if columns * width * lines * height > MOST_PIXELS:
        raise ValueError(
            f"A sheet of {columns * width} x {lines * height} pixels is too large; choose a smaller --size"
        )
    whole = np.full((lines * height, columns * width, 4), EMPTY, np.float32)
    whole[..., 3] = 1.0
    for (line, left), row, label in zip(places, table, labels, strict=True):
        top = lines - 1 - line
        part = whole[top * height : (top + 1) * height, left * width : (left + 1) * width, :3]
        part[scene.render.resolution_y :] = _label(scene, label, height - scene.render.resolution_y)
        if frame in row.frames:
            part[: scene.render.resolution_y] = _picture(scene, cloths, row, frame)
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        drawn = Path(folder) / "sheet.png"
        save_picture(whole, drawn)
        with written(path) as out:
            out.write(drawn.read_bytes())


def _picture(scene, cloths, row: Row, frame: int) -> np.ndarray:
    """(rows, columns, 3) from the bottom up: a wedge at a frame."""
    before = _played(scene, cloths, row)
    try:
        scene.frame_set(frame)
        return _rendered(scene)
    finally:
        wedged.take_off(scene, before)


def _span(row: Row) -> str:
    """The frames of a wedge, in words."""
    return f"frames {row.frames.start} to {row.frames.stop - 1}"


def _wrapped(row: Row, frame: int, width: int) -> list[str]:
    """The lines above the picture of a wedge: what it sets, and what came out."""
    settings = [f"{path} = {value}" for path, value in row.wedge.settings.items()]
    told = [*([] if "=" in row.wedge.name else [row.wedge.name]), *settings]
    _, each, stretch, roughness, crossings = wedge_table.in_words(row)
    figures = f"{each} ms a frame, stretch {stretch}, roughness {roughness}, crossings {crossings or '?'}"
    told.append(figures if row.frames else "not baked")
    if row.frames and frame not in row.frames:
        told.append(f"{_span(row)}, and not {frame}")
    letters = max(8, int(width / (LETTER * _font(width))))
    return [line for text in told for line in textwrap.wrap(text, letters)]


def _font(width: int) -> int:
    return max(LEAST_FONT, round(width / FONT))


def _label(scene, lines: list[str], height: int) -> np.ndarray:
    """(height, columns, 3): a picture of nothing with lines of text burnt into it."""
    blank = bpy.data.scenes.new("Taffeta Label")
    camera = bpy.data.objects.new("Taffeta Label", bpy.data.cameras.new("Taffeta Label"))
    blank.collection.objects.link(camera)
    blank.camera, render = camera, blank.render
    try:
        _plain(render, scene.render.engine, scene.render.resolution_x, height)
        if render.engine == "CYCLES":
            blank.cycles.device, blank.cycles.samples, blank.cycles.use_denoising = "CPU", 1, False
        render.use_stamp = render.use_stamp_note = True
        render.stamp_font_size = _font(render.resolution_x)
        render.stamp_foreground, render.stamp_background = (1.0, 1.0, 1.0, 1.0), (0.0, 0.0, 0.0, 0.0)
        render.stamp_note_text = "\n".join(lines)[:LONGEST_LABEL]
        return _rendered(blank)
    finally:
        data = camera.data
        bpy.data.objects.remove(camera)
        bpy.data.cameras.remove(data)
        bpy.data.scenes.remove(blank)


def _rendered(scene) -> np.ndarray:
    """(rows, columns, 3) from the bottom up: the scene as it is."""
    with tempfile.TemporaryDirectory() as folder:
        scene.render.filepath = str(Path(folder) / "wedge.png")
        bpy.ops.render.render(write_still=True, scene=scene.name)
        image = bpy.data.images.load(scene.render.filepath)
        try:
            return pixels(image)[..., :3]
        finally:
            bpy.data.images.remove(image)


def _played(scene, cloths, row: Row) -> wedged.Before:
    """Let the garments play a wedge, until `wedged.take_off`."""
    before = wedged.put_on(scene, cloths, row.wedge._replace(settings={}))
    for obj, path in zip(cloths, row.paths, strict=True):
        attach(obj, path, row.frames.start)
    return before


def _set_up(scene, width: int) -> None:
    """How pictures are drawn; the file is not saved after this."""
    render = scene.render
    shape = render.resolution_x / render.resolution_y if scene.camera is not None else SHAPE
    _plain(render, _engine(render), width, max(1, round(width / shape)))
    if render.engine == "CYCLES":
        scene.cycles.device, scene.cycles.samples = "CPU", SAMPLES
        scene.cycles.use_adaptive_sampling, scene.cycles.use_denoising = False, True
        scene.cycles.max_bounces = 2
    if not any(obj.type == "LIGHT" and not obj.hide_render for obj in scene.objects):
        _add_light(scene)


def _plain(render, engine: str, width: int, height: int) -> None:
    """A picture of so many pixels, as a PNG file, and nothing else to it."""
    render.engine = engine
    render.resolution_x, render.resolution_y, render.resolution_percentage = width, height, 100
    render.use_compositing = render.use_sequencer = render.use_border = render.use_multiview = False
    render.use_motion_blur = render.film_transparent = False
    form = render.image_settings
    form.file_format, form.color_mode, form.color_depth = "PNG", "RGB", "8"
    for prop in render.bl_rna.properties:
        if prop.identifier.startswith("use_stamp") and not prop.is_readonly:
            setattr(render, prop.identifier, False)


def _engine(render) -> str:
    """The first of `ENGINES` that this Blender has: Cycles is an add-on, and may be off."""
    before = render.engine
    for engine in ENGINES:
        try:
            render.engine = engine
        except TypeError:
            continue
        render.engine = before
        return engine
    raise ValueError("This Blender has neither Cycles nor Workbench to draw with; enable the add-on Cycles")


def _add_light(scene) -> None:
    sun = bpy.data.objects.new("Taffeta Sheet", bpy.data.lights.new("Taffeta Sheet", "SUN"))
    sun.data.energy, sun.rotation_euler = 3.0, (0.7, 0.2, 0.6)
    scene.collection.objects.link(sun)
    if scene.world is None:
        scene.world = bpy.data.worlds.new("Taffeta Sheet")
        scene.world.color = (0.12, 0.12, 0.12)


def _add_camera(scene, cloths, baked: list[Row], frame: int) -> None:
    """A camera that sees the garments of every wedge."""
    camera = bpy.data.objects.new("Taffeta Sheet", bpy.data.cameras.new("Taffeta Sheet"))
    camera.rotation_euler = VIEW
    scene.collection.objects.link(camera)
    scene.camera = camera
    corners = []
    for row in baked:
        before = _played(scene, cloths, row)
        scene.frame_set(frame)
        graph = bpy.context.evaluated_depsgraph_get()
        low, high = world_box([obj.evaluated_get(graph) for obj in cloths])
        corners += [
            [(low, high)[i][0], (low, high)[j][1], (low, high)[k][2]] for i in (0, 1) for j in (0, 1) for k in (0, 1)
        ]
        wedged.take_off(scene, before)
    graph = bpy.context.evaluated_depsgraph_get()
    camera.location, _ = camera.camera_fit_coords(graph, np.ravel(corners).tolist())
