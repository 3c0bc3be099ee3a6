# SPDX-License-Identifier: GPL-3.0-or-later
"""All bodies of the small examples on one picture: `python scripts/gallery.py [SCENE ...]` bakes and draws them.

Writes out/gallery/SCENE/ (the file, its cache, a row of pictures), out/gallery/gallery.jpg with a row for each scene,
and prints what each bake did, and a table of that. --count counts crossings in every frame with ipctk, and not with the report's
own counter; --write does so, too, and puts the table into docs/examples.md. Exit status 0 only when all of them baked to their end.
"""

import argparse
import json
import sys
from pathlib import Path

import bpy
import contact_sheet
import demo
import numpy as np
import taffeta
from PIL import Image
from taffeta.operators.scenes import EXAMPLES, MENUS

ROOT = Path(__file__).resolve().parent.parent
sys.path += [str(ROOT / "tests" / "solver"), str(ROOT / "benchmarks")]
from crossings import count_crossings  # noqa: E402
from scenes import triangles, world  # noqa: E402

OUT = ROOT / "out" / "gallery"
EVERY = [name for name, _, _ in EXAMPLES]
SCENES = ["sheet_on_sphere", *MENUS["Bodies"]]
FRAMES = 300
CELL = 144, 180  # [pixels] of a picture in the gallery
PAGE = ROOT / "docs" / "examples.md"
MARKS = "<!-- made by scripts/gallery.py -->\n", "<!-- end -->\n"
HEAD = "scene", "frames", "most crossings in a frame", "longest edge", "roughness", "steps a frame"


def main() -> int:
    """Bake, draw and list the scenes; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "scenes",
        nargs="*",
        default=SCENES,
        metavar="SCENE",
        help=f"{', '.join(EVERY)}; those with one body if left out",
    )
    parser.add_argument("--frames", type=int, default=FRAMES, help="how many frames of each")
    parser.add_argument("--no-pictures", action="store_true")
    parser.add_argument("--count", action="store_true", help="count crossings with ipctk, in every frame")
    parser.add_argument("--write", action="store_true", help="put the table into docs/examples.md")
    arguments = parser.parse_args()
    if unknown := sorted(set(arguments.scenes) - set(EVERY)):
        parser.error(f"there is no {unknown[0]}; there are {', '.join(EVERY)}")
    taffeta.register()
    try:
        about = arguments.frames, not arguments.no_pictures, arguments.count or arguments.write
        done = [bake(name, *about) for name in arguments.scenes]
    except (RuntimeError, ValueError, OSError) as problem:
        print(f"The gallery stopped: {str(problem).strip()}", file=sys.stderr)
        return 1
    finally:
        taffeta.unregister()
    if not arguments.no_pictures:
        hang(arguments.scenes)
    lines = table(arguments.scenes)
    print(lines)
    if arguments.write:
        before, rest = PAGE.read_text(encoding="utf-8").split(MARKS[0])
        PAGE.write_text(before + MARKS[0] + lines + MARKS[1] + rest.split(MARKS[1])[1], encoding="utf-8")
    return 0 if all(done) else 1


def table(names) -> str:
    """What the scenes' reports say, in Markdown."""
    lines = [f"| {' | '.join(HEAD)} |", f"|{' --- |' * len(HEAD)}"]
    for name in names:
        report = json.loads((OUT / name / "report.json").read_text(encoding="utf-8"))
        lines.append(
            f"| `{name}` | {report['frames']} | {most_of(report)} | {report['worst_stretch']:+.1%} | "
            f"{report['roughness_degrees']:.1f}° | {report['steps_per_frame']:.0f} |"
        )
    return "\n".join(lines) + "\n"


def most_of(report) -> int:
    """Crossings in the frame that has most: those that ipctk counted, where it did, and those of the bake's own report."""
    return max(report.get(name) or 0 for name in ("crossings", "most_crossings", "counted"))


def count(scene) -> int:
    """Edges of cloth and bodies that go through triangles of the other, or of the cloth itself, in the frame that has most, as
    played; counted by ipctk.
    """
    cloths = [obj for obj in scene.objects if obj.taffeta_cloth.enabled]
    bodies, found = [obj for obj in scene.objects if obj.taffeta_collider.enabled and obj not in cloths], []
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        parts = [(world(obj), triangles(obj, shown=True)) for obj in cloths]
        starts = np.cumsum([0, *(len(x) for x, _ in parts)])
        faces = np.concatenate([own + first for (_, own), first in zip(parts, starts, strict=False)])
        garment = np.repeat(np.arange(len(parts)), np.diff(starts))
        x = np.concatenate([x for x, _ in parts])
        found.append(
            sum(count_crossings(x, faces, garment, [(world(obj), triangles(obj, shown=True)) for obj in bodies]))
        )
    return max(found)


def bake(name, frame_count, pictures, counted=False) -> bool:
    """Build, bake and draw one scene, and print its figures; whether it came to its end. counted : whether ipctk counts crossings"""
    folder = OUT / name
    with contact_sheet.silence():
        demo.clear(name, folder)
        cloth = demo.build(name, folder, 0)[0]
        scene = bpy.context.scene
        scene.frame_end = scene.frame_start + frame_count - 1
        bpy.ops.taffeta.bake()
        bpy.ops.wm.save_mainfile()
    report = json.loads(bpy.data.objects[cloth].taffeta_cloth.report_json)
    if counted:
        report["counted"] = count(scene)
    (folder / "report.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    print(f"{name}: {json.dumps(report)}", flush=True)
    if pictures:
        contact_sheet.sheet(scene, folder / "preview.png", contact_sheet.COLUMNS, name)
    return report["complete"]


def hang(names) -> None:
    """Put the scenes' rows on one picture, two side by side."""
    width, height = CELL[0] * contact_sheet.COLUMNS, CELL[1]
    whole = Image.new("RGB", (2 * width + 8, -(-len(names) // 2) * (height + 8) - 8), "white")
    for number, name in enumerate(names):
        with Image.open(OUT / name / "preview.png") as row:
            whole.paste(
                row.resize((width, height), Image.LANCZOS), (number % 2 * (width + 8), number // 2 * (height + 8))
            )
    whole.save(OUT / "gallery.jpg", quality=88)
    print(OUT / "gallery.jpg")


if __name__ == "__main__":
    sys.exit(main())
