# SPDX-License-Identifier: GPL-3.0-or-later
"""The demo: `python scripts/demo.py [SCENE]` builds an example scene, bakes it, exports it and draws it.

Uses what an animator has, and nothing else: the operators taffeta.scene_add, .bake and .export. Writes to out/demo/
(the twirl) or out/demo/SCENE/: SCENE.blend (plays without Taffeta), SCENE.pc2, SCENE.abc, obj/SCENE_0001.obj, ...,
preview.png, preview.mp4 and report.json. Exit status 0 only when all of them are there.
"""

import argparse
import json
import resource
import shutil
import sys
import time
from pathlib import Path

import bpy
import contact_sheet
import taffeta
from taffeta.operators.scenes import EXAMPLES

HERO = "twirl"  # what is shown if nothing is asked for
OUT = Path(__file__).resolve().parent.parent / "out" / "demo"


def main() -> int:
    """Run the whole way for one scene; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scene", nargs="?", default=HERO, choices=[name for name, _, _ in EXAMPLES])
    parser.add_argument("--frames", type=int, default=0, metavar="N", help="only the first N frames")
    parser.add_argument("--no-pictures", action="store_true", help="leave out preview.png and preview.mp4")
    arguments = parser.parse_args()
    folder = OUT if arguments.scene == HERO else OUT / arguments.scene
    taffeta.register()
    try:
        make(arguments.scene, folder, arguments.frames, not arguments.no_pictures)
    except (RuntimeError, ValueError, OSError) as problem:
        print(f"The demo stopped: {str(problem).strip()}", file=sys.stderr)
        return 1
    finally:
        taffeta.unregister()
    return 0


def make(name, folder, frame_count=0, pictures=True):
    """Build, bake, export and draw the scene `name` into `folder`; prints what it does. Returns the report.

    Raises RuntimeError (an operator reported an error), ValueError or OSError, each with a sentence.
    """
    clear(name, folder)
    seconds = {}
    with clock(seconds, "build", f"Building {name}"):
        cloths = build(name, folder, frame_count)
    with clock(seconds, "bake", "Baking (the first time, the solver is prepared: some seconds)"):
        bpy.ops.taffeta.bake()
    with clock(seconds, "export", "Exporting Alembic and OBJ"), contact_sheet.silence():
        bpy.ops.taffeta.export(filepath=str(folder / f"{name}.abc"), everything=True, overwrite=True)
        bpy.ops.taffeta.export(filepath=str(folder / "obj" / f"{name}.obj"), everything=True, overwrite=True)
    bpy.ops.wm.save_mainfile()
    if pictures:
        scene = bpy.context.scene
        with clock(seconds, "pictures", "Drawing"):
            contact_sheet.sheet(scene, folder / "preview.png", title=name)
            contact_sheet.movie(scene, folder / "preview.mp4")
    report = write_report(folder, cloths, seconds)
    print(f"\nDone in {sum(seconds.values()):.0f} s. All of it is in {folder}:")
    for path in sorted(folder.iterdir()):
        if path.is_file() and path.suffix not in {".state", ".journal"} or path.name == "obj":
            print(f"  {path.name}{'/' if path.is_dir() else ''}")
    return report


def clear(name, folder):
    """Make the folder and take out what an earlier demo of this scene left, so that no .bak pile grows."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(folder / "obj", ignore_errors=True)
    for path in folder.iterdir():
        ours = {".blend", ".blend1", ".pc2", ".state", ".journal", ".json", ".abc", ".png", ".mp4"}
        if path.is_file() and (path.suffix in ours or ".bak" in path.name):
            path.unlink()


def build(name, folder, frame_count):
    """Make the scene in an empty file, saved in `folder` and set to bake there; returns the garments' names."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.preferences.filepaths.save_version = 0  # no .blend1 among what is shown
    bpy.ops.taffeta.scene_add(name=name)
    scene = bpy.context.scene
    if frame_count:
        scene.frame_end = min(scene.frame_end, scene.frame_start + frame_count - 1)
    cloths = [obj for obj in scene.objects if obj.taffeta_cloth.enabled]
    for cloth in cloths:
        cloth.taffeta_cloth.cache_name = name if len(cloths) == 1 else ""
    scene.taffeta.cache_folder = "//"
    contact_sheet.look(scene)
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / f"{name}.blend"))
    return [cloth.name for cloth in cloths]


class clock:
    """Say what begins and note how long it took: `with clock(seconds, "bake", "Baking"): ...`"""

    def __init__(self, seconds, key, sentence):
        self.seconds, self.key, self.sentence = seconds, key, sentence

    def __enter__(self):
        print(f"{self.sentence} ...", flush=True)
        self.started = time.perf_counter()

    def __exit__(self, *_):
        self.seconds[self.key] = round(time.perf_counter() - self.started, 2)


def write_report(folder, cloths, seconds):
    """Write report.json: the bake's own figures, and what the demo took; returns it as a dictionary."""
    bake = json.loads(bpy.data.objects[cloths[0]].taffeta_cloth.report_json)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    report = {"garments": cloths, "demo_seconds": seconds, "memory_megabytes": memory, "bake": bake}
    (folder / "report.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    for path in folder.glob("*.report.json"):
        path.unlink()  # the same figures again
    return report


if __name__ == "__main__":
    sys.exit(main())
