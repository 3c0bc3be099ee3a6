# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws docs/images/contact.jpg: `python scripts/contact_picture.py [--only towel ...]`. A telling frame of some of the
scenes of benchmarks/contact.py. What was simulated is kept in out/contact.npz: --only simulates these anew.
"""

import argparse
import sys
from pathlib import Path

import bpy
import numpy as np
from mathutils import Vector
from PIL import Image, ImageDraw, ImageFont
from tqdm import tqdm

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "benchmarks")]

import contact  # noqa: E402
import contact_sheet  # noqa: E402
import fabrics  # noqa: E402

KEPT = ROOT / "out" / "contact.npz"
PICTURE = ROOT / "docs" / "images" / "contact.jpg"
SIZE, COLUMNS = (360, 300), 4
COLOURS = (0.50, 0.10, 0.08), (0.05, 0.16, 0.36), (0.55, 0.36, 0.08), (0.08, 0.28, 0.16), (0.36, 0.36, 0.38)
GREY = 0.30, 0.30, 0.31
#: scene: frame, what is written below it, from where it is seen, bodies that are left out
SHOTS = {
    "strip": (22, "strip between feeders", (-0.5, -1.0, 0.35), ("Left", "Right")),
    "tablecloth": (22, "tablecloth off a box", (-0.4, -1.0, 0.7), ()),
    "rod-both": (24, "silk on denim over a rod", (0.5, -1.0, 0.5), ()),
    "balls-denim": (15, "balls on held denim", (-0.3, -1.0, 0.45), ()),
    "ribbons": (44, "eight ribbons", (-0.3, -1.0, 0.8), ()),
    "sheets": (20, "ten sheets", (-0.4, -1.0, 0.6), ()),
    "towel": (36, "towel, half wrung", (-0.3, -1.0, 0.4), ()),
    "spheres": (46, "a sheet between two spheres", (-0.3, -1.0, 0.05), ()),
}


def simulate(name):
    """Cloth and bodies of a scene in its frame, as arrays by name."""
    scene, frame = contact.SCENES[name](), SHOTS[name][0]
    found = {}

    def keep(cloth, state, now):
        if now == frame:
            found[f"{name}/x"], found[f"{name}/garment"] = state.x + cloth.origin, cloth.garment
            found[f"{name}/triangles"] = cloth.triangles

    contact.run(scene, frame, keep)
    for solid, collider in zip(scene.solids, scene.colliders(frame), strict=True):
        found[f"{name}/bodies/{solid.name}/x"] = collider.x[-1]
        found[f"{name}/bodies/{solid.name}/triangles"] = collider.triangles
    return found


def shot(name, arrays):
    """A picture of a scene."""
    _, _, way, hidden = SHOTS[name]
    x, triangles = arrays[f"{name}/x"], arrays[f"{name}/triangles"]
    garment = arrays[f"{name}/garment"]
    objects = [
        _add(f"Cloth {k}", x, triangles[garment[triangles[:, 0]] == k], COLOURS[k % len(COLOURS)])
        for k in range(garment.max() + 1)
    ]
    for key in [key for key in arrays if key.startswith(f"{name}/bodies/") and key.endswith("/x")]:
        if key.split("/")[2] not in hidden:
            objects.append(_add(key.split("/")[2], arrays[key], arrays[f"{key[:-1]}triangles"], GREY))
    _look_at(x, Vector(way))
    picture = contact_sheet.shot()
    for obj in objects:
        bpy.data.objects.remove(obj)
    return picture


def _add(name, x, faces, colour):
    """A mesh object of one colour, smooth but for boxes and floors."""
    bpy.data.materials.remove(bpy.data.materials[name]) if name in bpy.data.materials else None
    obj = fabrics.add(name, x, faces, colour)
    obj.data.polygons.foreach_set("use_smooth", np.full(len(faces), len(faces) > 12))
    return obj


def _look_at(x, way):
    """Put the camera and the lights so that the cloth fills the picture."""
    middle, size = Vector(0.5 * (x.min(axis=0) + x.max(axis=0))), float(np.ptp(x, axis=0).max())
    scene = bpy.context.scene
    scene.camera.location = middle + 3.0 * way.normalized()
    scene.camera.rotation_euler = (middle - scene.camera.location).to_track_quat("-Z", "Y").to_euler()
    scene.camera.data.ortho_scale = 1.35 * size


def main():
    """Simulate what is not kept, draw, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", choices=SHOTS, metavar="SCENE", help="what to simulate anew; else all")
    only = parser.parse_args().only
    arrays = {} if only is None else dict(np.load(KEPT))
    for name in tqdm(SHOTS if only is None else only, "Scenes", file=sys.stderr):
        arrays |= simulate(name)
    KEPT.parent.mkdir(exist_ok=True)
    np.savez_compressed(KEPT, **arrays)
    fabrics.studio()
    bpy.context.scene.cycles.samples = 12
    bpy.context.scene.render.resolution_x, bpy.context.scene.render.resolution_y = SIZE
    rows = -(-len(SHOTS) // COLUMNS)
    whole = Image.new("RGB", (COLUMNS * (SIZE[0] + 4) - 4, rows * (SIZE[1] + 4) - 4), "white")
    pen, font = ImageDraw.Draw(whole), ImageFont.load_default(size=15)
    for k, name in enumerate(tqdm([name for name in SHOTS if f"{name}/x" in arrays], "Pictures", file=sys.stderr)):
        corner = k % COLUMNS * (SIZE[0] + 4), k // COLUMNS * (SIZE[1] + 4)
        whole.paste(shot(name, arrays), corner)
        pen.text((corner[0] + 8, corner[1] + 5), SHOTS[name][1], fill=(20, 20, 25), font=font)
    whole.save(PICTURE, quality=82, optimize=True)
    print(PICTURE)


if __name__ == "__main__":
    sys.exit(main())
