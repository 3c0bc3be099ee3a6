# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws docs/images/weft.jpg: `python scripts/weft_picture.py`. A strip cut on the bias, notched at one side and pulled along it, with
Free Tearing and a *Weft* of 1, 3 and 1/3; prints how much of the tear runs along either thread. About a minute.
"""

import math
import sys
import tempfile
from pathlib import Path

import bpy
import numpy as np
import taffeta
from PIL import Image, ImageDraw

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "docs" / "images" / "weft.jpg"
WEFTS = 1.0, 3.0, 1.0 / 3.0
EDGE, LENGTH, WIDTH, NOTCH, HELD = 0.01, 0.3, 0.2, 0.07, 0.02  # [m]
STRENGTH, DRAWN, FRAMES, OPEN = 150.0, 0.2, 60, 1e-4  # [N/m], part of its length by which it is drawn out, , [m]
SIZE, SCALE = (320, 480), 1100  # [pixels], [pixels/m]
PAPER, CLOTH, THREAD, WARP, WEFT = (246, 244, 238), (216, 222, 230), (184, 192, 204), (196, 60, 44), (28, 84, 168)


def main():
    """Bake and draw each."""
    taffeta.register()
    sheet = Image.new("RGB", (SIZE[0] * len(WEFTS), SIZE[1]))
    for number, weft in enumerate(WEFTS):
        with tempfile.TemporaryDirectory() as folder:
            obj = strip(Path(folder), weft)
            bpy.ops.taffeta.bake()
            picture, along = look(obj)
        sheet.paste(picture, (number * SIZE[0], 0))
        print(
            f"Weft {weft:.2f}: {along[0]:.0f} mm of the tear run along the warp, {along[1]:.0f} mm along the weft",
            flush=True,
        )
    sheet.save(OUT, quality=85, optimize=True)
    taffeta.unregister()


def strip(folder, weft):
    """A strip along y, its threads at 45 degrees to that, with a notch on the left, held at both ends and drawn out by a key."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    scene = bpy.context.scene
    scene.frame_end, scene.gravity, scene.taffeta.air_drag = FRAMES, (0.0, 0.0, 0.0), 0.0
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "shot.blend"))
    obj = bpy.data.objects.new("Strip", _mesh())
    scene.collection.objects.link(obj)
    obj.select_set(True)
    bpy.context.view_layer.objects.active = obj
    bpy.ops.taffeta.cloth_add()
    obj.taffeta_cloth.uv_map, obj.taffeta_cloth.model = "Pattern", "MEMBRANE"
    y = np.array([vertex.co.y for vertex in obj.data.vertices])
    held = np.flatnonzero(np.abs(y) > 0.5 * LENGTH - HELD).tolist()
    obj.vertex_groups.new(name="Held").add(held, 1.0, "REPLACE")
    obj.taffeta_cloth.pin.source, obj.taffeta_cloth.pin.vertex_group = "GROUP", "Held"
    obj.shape_key_add(name="Basis")
    key = obj.shape_key_add(name="Apart")
    for vertex in held:
        key.data[vertex].co.y += math.copysign(0.5 * DRAWN * LENGTH, y[vertex])
    for frame, key.value in ((1, 0.0), (FRAMES, 1.0)):
        key.keyframe_insert("value", frame=frame)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.taffeta.tear_free(strength=STRENGTH, weft=weft)
    bpy.ops.object.mode_set(mode="OBJECT")
    return obj


def _mesh():
    """Squares along both threads, those whose middle lies in the strip; the threads' coordinates are the Pattern."""
    line = (np.arange(int(LENGTH / EDGE)) - 0.5 * int(LENGTH / EDGE) + 0.5) * EDGE
    middle = np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)
    place = _turned(middle)
    inside = (np.abs(place) < (0.5 * WIDTH, 0.5 * LENGTH)).all(axis=1)
    inside &= (np.abs(place[:, 1]) > 0.8 * EDGE) | (place[:, 0] > NOTCH - 0.5 * WIDTH)
    corners = middle[inside][:, None] + 0.5 * EDGE * np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])
    threads, faces = np.unique(corners.reshape(-1, 2).round(6), axis=0, return_inverse=True)
    mesh = bpy.data.meshes.new("Strip")
    flat = np.column_stack([_turned(threads), np.zeros(len(threads))])
    mesh.from_pydata(flat.tolist(), [], faces.reshape(-1, 4).tolist())
    layer = mesh.uv_layers.new(name="Pattern")
    for loop in mesh.loops:
        layer.uv[loop.index].vector = threads[loop.vertex_index]
    return mesh


def _turned(threads):
    """Places (n, 2) across and along the strip, of places along warp and weft."""
    u, v = threads.T
    return np.column_stack([u - v, u + v]) * math.sqrt(0.5)


def look(obj):
    """The strip in its last frame, from above, the rims of the tear red along the warp and blue along the weft; and how long they
    are, one side each, [mm].
    """
    bpy.context.scene.frame_set(FRAMES)
    mesh = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    x = np.array([vertex.co for vertex in mesh.vertices])
    pixel = np.array(SIZE) / 2.0 + x[:, :2] * (SCALE, -SCALE)
    picture = Image.new("RGB", SIZE, PAPER)
    draw = ImageDraw.Draw(picture)
    for face in mesh.polygons:
        draw.polygon([tuple(pixel[k]) for k in face.vertices], fill=CLOTH, outline=THREAD)
    rest = np.array([point.co for point in obj.data.shape_keys.key_blocks[0].data])
    along = [0.0, 0.0]
    for one, other in _sides(obj.data, rest):
        if np.linalg.norm(x[one] - x[other], axis=1).max() > OPEN:
            way = rest[one[1]] - rest[one[0]]
            thread = int(way[0] * way[1] < 0.0)
            along[thread] += 1000.0 * np.linalg.norm(way)
            for side in (one, other):
                draw.line([tuple(pixel[k]) for k in side], fill=(WARP, WEFT)[thread], width=3)
    return picture, along


def _sides(mesh, rest):
    """Both sides of each tear line, as vertices in the same order."""
    found = {}
    for edge, strength in zip(mesh.edges, mesh.attributes["taffeta_tear"].data, strict=True):
        if strength.value > 0.0:
            ends = sorted(edge.vertices, key=lambda k: tuple(rest[k].round(6)))
            found.setdefault(tuple(rest[ends].round(6).ravel()), []).append(ends)
    return [sides for sides in found.values() if len(sides) == 2]


if __name__ == "__main__":
    sys.exit(main())
