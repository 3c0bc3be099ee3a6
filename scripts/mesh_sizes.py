# SPDX-License-Identifier: GPL-3.0-or-later
"""How fine a mesh a fabric needs: `python scripts/mesh_sizes.py` drapes fabrics on finer and finer meshes, and draws.

Writes docs/images/mesh_sizes.jpg and the table in docs/fabric.md that begins with "| edges |"; shapes of the picture are
kept in out/mesh_sizes/, and --draw draws those that are there and measures nothing. Some 10 minutes on one core. Discs of 30 cm hang
over Cusick's table (tests/solver/drapemeter.py), each turned by chance against it; the tablecloth is a square of 80 cm.
"""

import argparse
import re
import sys

import bpy
import contact_sheet
import fabrics
import numpy as np
from mathutils import Vector
from PIL import Image, ImageDraw, ImageFont
from taffeta.solver.elastic.mesh_fit import bending_length, edge_quantile, fit
from taffeta.solver.geometry.roughness import roughness
from tqdm import tqdm

drapemeter, ROOT = fabrics.drapemeter, fabrics.ROOT
OUT, PICTURE, PAGE = (
    ROOT / "out" / "mesh_sizes",
    ROOT / "docs" / "images" / "mesh_sizes.jpg",
    ROOT / "docs" / "fabric.md",
)
G = 9.81  # [m/s2]
NAMES = "Silk", "Cotton", "Trousers"
EDGES = 2.0, 1.4, 1.0, 0.7, 0.5, 0.35, 0.25  # in bending lengths, the last one to compare with
STARTS, FINE = 3, 0.4  # drapes whose mean is taken, one alone on edges finer than that: chance decides less there
SIDE, BALL, COARSE = 0.8, 0.15, 32  # [m] of the tablecloth, of the ball's radius; cells across of the coarsest: 25 mm
SIZE = 300, 260  # [pixels] of a picture


def main() -> int:
    """Measure, tell and draw; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draw", action="store_true", help="draw the shapes that are there, measure nothing")
    arguments = parser.parse_args()
    OUT.mkdir(parents=True, exist_ok=True)
    if not arguments.draw:
        lines = rows({name: [measured(name, ratio) for ratio in tqdm(EDGES, name, file=sys.stderr)] for name in NAMES})
        print("\n".join(lines))
        tell(lines)
    draw()
    return 0


def bent(x, rest, quads):
    """How much cloth at x is bent: mean angle between neighbouring triangles [rad] over their edges [m]; and the share of
    neighbours folded by over 60 degrees."""
    triangles = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]]).astype(np.int32)
    angle, creases = roughness(x, triangles)
    return angle / edge_quantile(rest, quads[:, :2]), creases


def measured(name, ratio):
    """Of a fabric whose edges are `ratio` bending lengths: drape coefficient, how much it is bent, share of creases."""
    values = drapemeter.fabric(name)
    length = bending_length(min(1.0, values["weft_bending"]) * values["bending_stiffness"], G * values["mass"])
    rest, quads = drapemeter.disc(round(2 * drapemeter.CLOTH / (ratio * length)))
    found = []
    for start in range(1 if ratio < FINE else STARTS):
        garment = drapemeter.cut(rest, quads, values, 0.0005, self_collision=True)
        angle = np.random.default_rng(start).uniform(0, np.pi / 2)
        x = drapemeter.hang(garment._replace(x_start=turned(garment.x_start, angle)), drapemeter.table())
        found.append((drapemeter.coefficient(x, garment.triangles), *bent(x, rest, quads)))
    return np.mean(found, axis=0)


def turned(x, angle):
    """Points (n, 3) turned about the z axis by an angle [rad]."""
    c, s = np.cos(angle), np.sin(angle)
    return x @ np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]])


def rows(found):
    """Lines of the table; found: name -> (coefficient, bent, creases) of each of `EDGES`."""
    lines = [
        f"| edges | drape of {', '.join(name.lower() for name in NAMES)} [%] | bent, in the finest [%] | creases [%] |",
        "| --- | --- | --- | --- |",
    ]
    for index, ratio in enumerate(EDGES):
        drape = ", ".join(f"{100 * found[name][index][0]:.0f}" for name in NAMES)
        share = ", ".join(f"{100 * found[name][index][1] / found[name][-1][1]:.0f}" for name in NAMES)
        creases = ", ".join(f"{100 * found[name][index][2]:.1f}" for name in NAMES)
        lines.append(f"| {ratio:g} c | {drape} | {share} | {creases} |")
    return lines


def tell(lines):
    """Put the table into the page, in the place of the one that is there."""
    page, table = PAGE.read_text(encoding="utf-8"), "\n".join(lines) + "\n"
    page, count = re.subn(r"\| edges \|.*?\n(?!\|)", lambda _: table, page, flags=re.DOTALL)
    if count != 1:
        raise ValueError(f"{PAGE} has {count} tables that begin with '| edges |': there must be one.")
    PAGE.write_text(page, encoding="utf-8")


def tablecloths():
    """(label, cells across, bending stiffness [N m]) of each picture: too coarse, stiffer, subdivided, fine."""
    values = drapemeter.fabric("Cotton")
    own = values["bending_stiffness"]
    stiff = fit(SIDE / COARSE, values["mass"], own, values["weft_bending"], G).fitting_bending
    for label, cells, bending in (
        ("as it is", COARSE, own), ("stiffened", COARSE, stiff), ("subdivided", 2 * COARSE, own), ("fine", 100, own),
    ):  # fmt: skip
        yield f"{label}: edges of {1000 * SIDE / cells:.3g} mm", cells, bending


def draw():
    """The tablecloths side by side."""
    fabrics.studio()
    scene, scale = bpy.context.scene, 0.8 / 0.34
    scene.camera.location *= scale
    scene.camera.data.ortho_scale *= scale
    scene.camera.rotation_euler = (Vector((0, 0, -0.07)) - scene.camera.location).to_track_quat("-Z", "Y").to_euler()
    for light in (obj for obj in bpy.data.objects if obj.type == "LIGHT"):
        light.location *= scale
        light.data.energy, light.data.size = light.data.energy * scale**2, light.data.size * scale
    scene.render.resolution_x, scene.render.resolution_y = SIZE
    fabrics.add("Ball", *drapemeter.ball(BALL), (0.30, 0.30, 0.31))
    cloths = list(tablecloths())
    whole = Image.new("RGB", (len(cloths) * (SIZE[0] + 6) - 6, SIZE[1]), "white")
    pen, font = ImageDraw.Draw(whole), ImageFont.load_default(size=14)
    for number, (label, cells, bending) in enumerate(tqdm(cloths, "Tablecloths", file=sys.stderr)):
        left = number * (SIZE[0] + 6)
        whole.paste(shot(tablecloth(cells, bending)), (left, 0))
        pen.text((left + 8, 5), label, fill=(20, 20, 25), font=font)
    whole.save(PICTURE, quality=85, optimize=True)
    print(PICTURE)


def tablecloth(cells, bending):
    """Positions and quads of cotton of this bending stiffness [N m] on the ball; kept in `OUT`."""
    path = OUT / f"{cells}_{1e6 * bending:.0f}.npz"
    if not path.exists():
        rest, quads = drapemeter.square(cells, SIDE)
        values = drapemeter.fabric("Cotton") | {"bending_stiffness": bending}
        garment = drapemeter.cut(rest, quads, values, BALL + 0.0005, self_collision=True)
        garment = garment._replace(x_start=turned(garment.x_start, 0.3))
        np.savez_compressed(path, x=drapemeter.hang(garment, drapemeter.ball(BALL)), quads=quads)
    kept = np.load(path)
    return kept["x"], kept["quads"]


def shot(shape):
    """A picture of cloth on the ball."""
    cloth = fabrics.add("Cloth", *shape, fabrics.COLOUR)
    picture = contact_sheet.shot()
    bpy.data.objects.remove(cloth)
    return picture


if __name__ == "__main__":
    sys.exit(main())
