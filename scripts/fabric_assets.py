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
STEP = 4  # every fourth vertex along both sides


def main() -> int:
    """Build the library; returns the exit status."""
    import taffeta
    from taffeta.operators.fabric_assets import CATALOG_FILE, CATALOGS, dress, mark
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
        mark(obj, path.with_suffix(".png"), numbers[shown_name(path)], "Taffeta", "CC0 1.0")
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / CATALOG_FILE).write_text(CATALOGS)
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


if __name__ == "__main__":
    sys.exit(main())
