# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds presets/assets/fabrics.blend: a swatch of every fabric preset as an asset, with its numbers and its picture.

    python scripts/fabric_assets.py

Swatches lie over the ball as `scripts/fabrics.py` draped them (out/fabrics/), with fewer vertices. Built with Blender 4.5, so
that all later ones open it.
"""

import sys
from pathlib import Path

import bpy
import numpy as np

ROOT = Path(__file__).resolve().parent.parent
FOLDER, SHAPES = ROOT / "presets" / "assets", ROOT / "out" / "fabrics"
CATALOG = "6f1c0a52-3f0e-4c5b-9a50-7a1f6a1e0c01"  # an id of our own making, as Blender wants one
STEP = 4  # every fourth vertex along both sides


def main() -> int:
    """Build the library; returns the exit status."""
    import taffeta
    from taffeta.operators.read.fabrics import presets
    from taffeta.panels.fabric import preset_files, shown_name

    if lacking := [path.stem for path in preset_files() if not (SHAPES / f"{path.stem}.npz").exists()]:
        print(f"{SHAPES} lacks {lacking[0]}.npz: run scripts/fabrics.py first", file=sys.stderr)
        return 1
    bpy.ops.wm.read_factory_settings(use_empty=True)
    taffeta.register()
    numbers = dict(presets())
    for column, path in enumerate(preset_files()):
        obj = swatch(path.stem, shown_name(path))
        obj.location.x = 0.4 * column
        dress(obj, numbers[shown_name(path)])
        mark(obj, path.with_suffix(".png"), numbers[shown_name(path)])
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "blender_assets.cats.txt").write_text(f"VERSION 1\n\n{CATALOG}:Fabrics:Fabrics\n")
    bpy.ops.wm.save_as_mainfile(filepath=str(FOLDER / "fabrics.blend"), compress=True, relative_remap=False)
    print(FOLDER, f"{(FOLDER / 'fabrics.blend').stat().st_size / 1000:.0f} kB")
    return 0


def swatch(stem, name):
    """A mesh object of a draped square, each fourth vertex of it, its pattern as UV map."""
    shape = np.load(SHAPES / f"{stem}.npz")
    side = round(len(shape["ball"]) ** 0.5)
    kept = np.arange(side * side).reshape(side, side)[::STEP, ::STEP]
    count = len(kept)
    x, rest = shape["ball"][kept.ravel()], shape["ball_rest"][kept.ravel()]
    index = np.arange(count * count).reshape(count, count)
    faces = np.stack([index[:-1, :-1], index[1:, :-1], index[1:, 1:], index[:-1, 1:]], axis=-1).reshape(-1, 4)
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(x.tolist(), [], faces.tolist())
    mesh.shade_smooth()
    layer = mesh.uv_layers.new(name="Pattern")
    layer.uv.foreach_set("vector", rest[faces.ravel(), :2].astype(np.float32).ravel())
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(obj)
    return obj


def dress(obj, numbers):
    """Make it Taffeta Cloth of these numbers."""
    from taffeta.panels.mapped import FABRIC, THREADS, follow_value

    cloth = obj.taffeta_cloth
    cloth.enabled, cloth.uv_map, obj.taffeta_fabric.chosen = True, "Pattern", obj.name
    for name in FABRIC:
        getattr(cloth, name).value = numbers[name]
        follow_value(cloth, name)
    for name in THREADS:
        setattr(cloth, name, numbers[name])


def mark(obj, picture, numbers):
    """Make it an asset with its picture, and what a search should find."""
    obj.asset_mark()
    about = obj.asset_data
    about.catalog_id, about.author, about.license = CATALOG, "Taffeta", "CC0 1.0"
    about.description = f"{1000 * numbers['mass']:.0f} g/m², {1000 * numbers['thickness']:.2f} mm thick"
    for tag in ("Taffeta", "cloth", "fabric"):
        about.tags.new(tag)
    with bpy.context.temp_override(id=obj):
        bpy.ops.ed.lib_id_load_custom_preview(filepath=str(picture))


if __name__ == "__main__":
    sys.exit(main())
