# SPDX-License-Identifier: GPL-3.0-or-later
"""All fabrics over the same table and the same ball: `python scripts/fabrics.py [FABRIC ...]` drapes and draws them.

Writes docs/images/fabrics.jpg, the table in docs/fabric.md and the thumbnails beside the presets; shapes are kept in
out/fabrics/, and --draw draws those that are there, --thumbnails of these the thumbnails alone. Some 15 minutes on 2 cores
for all. The table is Cusick's drapemeter (tests/solver/drapemeter.py).
"""

import argparse
import re
import sys
from pathlib import Path

import bpy
import contact_sheet
import numpy as np
from mathutils import Vector
from PIL import Image, ImageDraw, ImageFont
from tqdm import tqdm

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "solver"))

import drapemeter  # noqa: E402
from taffeta.solver.elastic.mesh_fit import LONGEST_EDGE  # noqa: E402

OUT, PICTURE, PAGE = ROOT / "out" / "fabrics", ROOT / "docs" / "images" / "fabrics.jpg", ROOT / "docs" / "fabric.md"
CELLS = 80  # across the cloth: 4 mm, less than half of silk's bending length
NAPKIN, BALL = 0.32, 0.07  # [m] side of the square on the ball, radius of the ball
SIZE, COLUMNS = (230, 190), 3  # [pixels] of a picture, fabrics in a row
COLOUR = (0.50, 0.36, 0.22)
THUMBNAILS, SIDE, SHADES = (
    ROOT / "presets" / "taffeta_fabric",
    128,
    96,
)  # [pixels] of a thumbnail; colours in its palette
# Base colour (linear RGB) and roughness of each fabric in its thumbnail: what the eye knows it by.
DYES = {
    "Canvas": ((0.42, 0.34, 0.22), 0.9), "Cotton": ((0.75, 0.73, 0.68), 0.85), "Denim": ((0.035, 0.075, 0.18), 0.85),
    "Jersey": ((0.30, 0.32, 0.34), 0.85), "Leather": ((0.10, 0.035, 0.015), 0.35), "Polyester": ((0.10, 0.30, 0.45), 0.45),
    "Ponte": ((0.13, 0.02, 0.10), 0.8), "Rubber": ((0.015, 0.015, 0.017), 0.25), "Silk": ((0.60, 0.06, 0.09), 0.28),
    "Swimsuit": ((0.02, 0.30, 0.28), 0.4), "Trousers": ((0.17, 0.14, 0.09), 0.85), "Wool_Coat": ((0.33, 0.19, 0.08), 1.0),
    "Wool_Suiting": ((0.05, 0.055, 0.07), 0.9),
}  # fmt: skip

# drape coefficients of such fabrics in the literature, percent; the sources are listed in presets/SOURCES.md
PUBLISHED = {
    "Silk": "20 to 40 (Matsudaira and Yang 2003, light woven silk)",
    "Cotton": "68 measured, 71 computed (Gan, Ly and Steven 1991, plain cotton)",
    "Leather": "47 to 70 (Memon 2021, sheep garment leather)",
    "Wool_Suiting": "40 to 70 (ZOZO, class of worsted suiting)",
    "Denim": "70 to 90 (ZOZO, class of denim)",
}


def main() -> int:
    """Drape, draw and tell; returns the exit status."""
    every = sorted(path.stem for path in drapemeter.PRESETS.glob("*.py"))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("fabrics", nargs="*", default=every, metavar="FABRIC", help=", ".join(every))
    parser.add_argument("--draw", action="store_true", help="draw the shapes that are there, drape only what is not")
    parser.add_argument(
        "--thumbnails", action="store_true", help="draw the thumbnails of the shapes that are there, no more"
    )
    arguments = parser.parse_args()
    if unknown := sorted(set(arguments.fabrics) - set(every)):
        parser.error(f"there is no {unknown[0]}; there are {', '.join(every)}")
    OUT.mkdir(parents=True, exist_ok=True)
    shapes = {}
    for name in tqdm(arguments.fabrics, "Fabrics", file=sys.stderr):
        path = OUT / f"{name}.npz"
        if not ((arguments.draw or arguments.thumbnails) and path.exists()):
            np.savez_compressed(path, **drape(name))
        shapes[name] = np.load(path)
    draw_thumbnails(shapes)
    if arguments.thumbnails:
        return 0
    lines = rows(shapes)
    print("\n".join(lines))
    if set(arguments.fabrics) == set(every):
        tell(lines)
    draw(shapes)
    return 0


def drape(name):
    """Shapes of one fabric on the table and on the ball."""
    values = drapemeter.fabric(name)
    found = {}
    for place, mesh, body, height in (
        ("table", drapemeter.disc(CELLS), drapemeter.table(), 0.0005),
        ("ball", drapemeter.square(CELLS, NAPKIN), drapemeter.ball(BALL), BALL + 0.0005),
    ):
        garment = drapemeter.cut(*mesh, values, height, self_collision=True)
        found |= {f"{place}_rest": mesh[0], f"{place}_quads": mesh[1], place: drapemeter.hang(garment, body)}
    return found


def rows(shapes):
    """Lines of the table."""
    lines = [
        "| fabric | g/m² | bending length, warp and weft [cm] | for edges up to [mm] | drape coefficient [%] | folds "
        "| published [%] |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name, shape in sorted(shapes.items(), key=lambda item: coefficient(item[1])):
        value = drapemeter.fabric(name)
        lengths = [
            100 * (ratio * value["bending_stiffness"] / (9.81 * value["mass"])) ** (1 / 3)
            for ratio in (1.0, value["weft_bending"])
        ]
        lines.append(
            f"| {name.replace('_', ' ')} | {1000 * value['mass']:.0f} | {lengths[0]:.1f}, {lengths[1]:.1f} "
            f"| {10 * LONGEST_EDGE * min(lengths):.0f} | {100 * coefficient(shape):.0f} | {drapemeter.folds(shape['table'], shape['table_rest'])} "
            f"| {PUBLISHED.get(name, '')} |"
        )
    return lines


def coefficient(shape):
    """Cusick's, of one fabric."""
    quads = shape["table_quads"]
    return drapemeter.coefficient(shape["table"], np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]]))


def tell(lines):
    """Put the table into the page, in the place of the one that is there."""
    page = PAGE.read_text(encoding="utf-8")
    table = "\n".join(lines) + "\n"
    page, count = re.subn(r"\| fabric \|.*?\n(?!\|)", lambda _: table, page, flags=re.DOTALL)
    if count != 1:
        raise ValueError(f"{PAGE} has {count} tables that begin with '| fabric |': there must be one.")
    PAGE.write_text(page, encoding="utf-8")


def draw(shapes):
    """All shapes on one sheet, stiffest last; each fabric on the table and on the ball."""
    studio()
    bodies = {"table": add("Table", *drapemeter.table(), (0.30, 0.30, 0.31)),
              "ball": add("Ball", *drapemeter.ball(BALL), (0.30, 0.30, 0.31))}  # fmt: skip
    cell = 2 * SIZE[0] + 6, SIZE[1] + 6
    whole = Image.new("RGB", (COLUMNS * cell[0] - 6, -(-len(shapes) // COLUMNS) * cell[1] - 6), "white")
    pen, font = ImageDraw.Draw(whole), ImageFont.load_default(size=15)
    order = sorted(shapes, key=lambda name: coefficient(shapes[name]))
    for number, name in enumerate(tqdm(order, "Pictures", file=sys.stderr)):
        corner = number % COLUMNS * cell[0], number // COLUMNS * cell[1]
        for place, left in (("table", 0), ("ball", SIZE[0])):
            whole.paste(shot(shapes[name], place, name, bodies), (corner[0] + left, corner[1]))
        label = f"{name.replace('_', ' ')}  {100 * coefficient(shapes[name]):.0f} %"
        pen.text((corner[0] + 8, corner[1] + 5), label, fill=(20, 20, 25), font=font)
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    whole.save(PICTURE, quality=85, optimize=True)
    print(PICTURE)


def draw_thumbnails(shapes):
    """A small picture of each fabric on the ball, in a colour of its own, for the presets' menu."""
    studio()
    scene = bpy.context.scene
    scene.render.resolution_x = scene.render.resolution_y = 2 * SIDE
    scene.camera.data.ortho_scale, scene.cycles.samples = 0.29, 48
    bodies = {"ball": add("Ball", *drapemeter.ball(BALL), (0.30, 0.30, 0.31))}
    for name, shape in tqdm(shapes.items(), "Thumbnails", file=sys.stderr):
        dye, roughness = DYES[name]
        picture = shot(shape, "ball", name, bodies, dye, roughness).resize((SIDE, SIDE), Image.Resampling.LANCZOS)
        picture.quantize(SHADES, dither=Image.Dither.NONE).save(THUMBNAILS / f"{name}.png", optimize=True)
    print(THUMBNAILS)


def studio():
    """An empty scene with lights and a camera that looks down on the table and the ball a little."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    for place, energy in (((-0.9, -0.35, 0.55), 16.0), ((0.9, -0.5, 0.3), 2.0)):
        light = bpy.data.objects.new("Light", bpy.data.lights.new("Light", "AREA"))
        light.data.energy, light.data.size, light.location = energy, 0.25, place
        light.rotation_euler = (-Vector(place)).to_track_quat("-Z", "Y").to_euler()
        scene.collection.objects.link(light)
    scene.world = bpy.data.worlds.new("World")
    scene.world.use_nodes = True
    background = scene.world.node_tree.nodes["Background"].inputs
    background["Color"].default_value, background["Strength"].default_value = (0.80, 0.82, 0.85, 1.0), 0.35
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.location = 0.0, -1.0, 0.62
    camera.rotation_euler = (Vector((0.0, 0.0, -0.028)) - camera.location).to_track_quat("-Z", "Y").to_euler()
    camera.data.type, camera.data.ortho_scale = "ORTHO", 0.34
    scene.collection.objects.link(camera)
    scene.camera = camera
    contact_sheet.look(scene)
    scene.view_settings.look = "None"
    scene.cycles.samples = 24
    scene.render.resolution_x, scene.render.resolution_y = SIZE


def add(name, x, faces, colour, roughness=0.75):
    """A mesh object of one colour, linked to the scene."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(x.tolist(), [], faces.tolist())
    mesh.polygons.foreach_set("use_smooth", np.full(len(mesh.polygons), name != "Table"))
    material = bpy.data.materials.get(name) or bpy.data.materials.new(name)
    material.use_nodes = True
    shader = material.node_tree.nodes["Principled BSDF"]
    shader.inputs["Base Color"].default_value, shader.inputs["Roughness"].default_value = (*colour, 1.0), roughness
    mesh.materials.append(material)
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(obj)
    return obj


def shot(shape, place, fabric, bodies, colour=COLOUR, roughness=0.75):
    """A picture of one fabric on the table or the ball, as thick as it is."""
    cloth = add("Cloth", shape[place], shape[f"{place}_quads"], colour, roughness)
    solid = cloth.modifiers.new("Solidify", "SOLIDIFY")
    solid.thickness, solid.offset = drapemeter.fabric(fabric)["thickness"], 0.0
    for name, body in bodies.items():
        body.hide_render = name != place
    picture = contact_sheet.shot()
    bpy.data.objects.remove(cloth)
    return picture


if __name__ == "__main__":
    sys.exit(main())
