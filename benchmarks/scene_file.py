# SPDX-License-Identifier: GPL-3.0-or-later
"""How far a bake without Blender is from Blender's: `python benchmarks/scene_file.py [--scenes poncho skirt] [--frames 48]`.

An example is written as a scene file (*File > Export > Taffeta Scene*), baked by `python -m taffeta`'s own program and by *Bake*. Of each
garment the farthest that any vertex is apart, over all frames [µm]: what playback shows beside what the OBJ files say. Blender keeps
positions in 32 bits, which are 0.06 to 0.12 µm apart from a metre on from the object's origin.
"""

import argparse
import tempfile
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import bpy
import numpy as np
import scenes
import taffeta
from taffeta.solver.cache import obj
from taffeta.standalone import run

SCENES = "poncho", "skirt"  # both on the walking mannequin
FRAMES = 48


def differences(name: str, frames: int, folder: Path) -> dict[str, np.ndarray]:
    """By garment of an example, how far [m] a bake of its scene file is from *Bake* in each of its frames (frames,), at most."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.taffeta.scene_add(name=name)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, frames
    scene.taffeta.cache_folder = str(folder / "cache")
    cloths = [each for each in scene.objects if each.taffeta_cloth.enabled]
    path = folder / f"{name}.xml"
    for made in (bpy.ops.taffeta.scene_export(filepath=str(path)), bpy.ops.taffeta.bake()):
        if made != {"FINISHED"}:
            raise RuntimeError(f"{name} could not be baked or written")
    if run.main([str(path)]):
        raise RuntimeError(f"{path} could not be baked")
    apart = {cloth.name: np.zeros(frames) for cloth in cloths}
    for frame in range(1, frames + 1):
        scene.frame_set(frame)
        for cloth in cloths:
            there = obj.read(folder / f"{name}_frames" / f"{cloth.name}_{frame:04d}.obj").x
            apart[cloth.name][frame - 1] = np.linalg.norm(scenes.world(cloth) - there, axis=1).max()
    return apart


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scenes", nargs="+", default=list(SCENES))
    parser.add_argument("--frames", type=int, default=FRAMES)
    chosen = parser.parse_args()
    taffeta.register()
    try:
        for name in chosen.scenes:
            with tempfile.TemporaryDirectory() as folder:
                with redirect_stdout(StringIO()):
                    found = differences(name, chosen.frames, Path(folder))
                bpy.ops.wm.read_factory_settings(use_empty=True)  # before the frames are gone
            for garment, apart in found.items():
                worst = int(apart.argmax())
                print(f"{name}, {garment}: {1e6 * apart[worst]:.3f} µm at most, in frame {worst + 1} of {len(apart)}")
    finally:
        taffeta.unregister()


if __name__ == "__main__":
    main()
