# SPDX-License-Identifier: GPL-3.0-or-later
"""Characters that run, jump, spin, kick, sit and crawl in clothes, by Taffeta and by Blender's two kinds of cloth.

    python benchmarks/characters.py [--shots run-cape ...] [--frames 20] [--no-pictures]
                                    [--final] [--preview] [--reference] [--blender] [--dynamics]

Each shot (benchmarks/people/) is baked by the operator, with Taffeta's defaults, and shown by Blender's cloth at its best
settings, and by Cloth Dynamics where it has that (from 5.2 on); then every frame is judged by its meshes. Prints a table, keeps it in out/characters.json, and, if no shot was
left out, writes docs/characters.md's table and pictures. --reference bakes with 80 substeps of 40 iterations instead,
a quarter of an hour for all, and keeps the figures in benchmarks/people/reference.json. NUMBA_NUM_THREADS=1 makes times comparable.
"""

import argparse
import json
import re
import tempfile
import time
from pathlib import Path

import bpy
import dynamics
import numba
import page
import simulate
import taffeta
from people import pictures, shots
from people.judge import Judge
from PIL import Image

ROOT = Path(__file__).resolve().parent.parent
OUT, KEPT = ROOT / "out" / "characters", ROOT / "out" / "characters.json"
REFERENCE = ROOT / "benchmarks" / "people" / "reference.json"
PAGE, IMAGES = ROOT / "docs" / "characters.md", ROOT / "docs" / "images"
FINAL, PREVIEW, FINE, BLENDER = "Taffeta", "Taffeta, Preview", "reference", simulate.BEST
BY = {"final": FINAL, "preview": PREVIEW, "reference": FINE, "blender": BLENDER, "dynamics": dynamics.BEST}
THEIRS = BLENDER, dynamics.BEST
FINE_SETTINGS = {"substeps": 80, "iterations": 40}
AIR = 1.0  # Blender's damping by air as installed; without any, a runner's cape flies over the head
HEAD = (
    "shot", "by", "vertices", "frames", "cloth-cloth", "cloth-body", "roughness", "over 60°", "worst stretch", "99 in 100",
    "turning back", "small steps", "ms",
)  # fmt: skip


def main():
    """Bake, judge, draw, tell."""
    chosen = options()
    taffeta.register()
    try:
        measure(chosen)
    finally:
        taffeta.unregister()
    told = rows()
    print(page.grid(HEAD, map(line, told)))
    if not chosen.frames and whole(told):
        tell(told)


def options(arguments=None):
    """What was asked for on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shots", nargs="+", choices=shots.SHOTS, default=list(shots.SHOTS), metavar="SHOT")
    parser.add_argument("--frames", type=int, default=0, help="only the first so many; else all")
    for flag, who in BY.items():
        parser.add_argument(f"--{flag}", action="append_const", dest="by", const=who, help=f"{who}, and not all others")
    parser.add_argument("--no-pictures", dest="pictures", action="store_false")
    chosen = parser.parse_args(arguments)
    if chosen.frames == 1 or chosen.frames < 0:
        parser.error("a shot has 2 frames or more")
    has_dynamics = dynamics.library() is not None
    chosen.by = chosen.by or [FINAL, BLENDER, *[dynamics.BEST] * has_dynamics]
    if dynamics.BEST in chosen.by and not has_dynamics:
        parser.error(f"Blender {bpy.app.version_string} has no Cloth Dynamics: take 5.2 or newer")
    return chosen


def measure(chosen):
    """Run what was chosen, and keep each row as soon as it is there."""
    if set(chosen.by).difference(THEIRS):
        simulate.prepare()
    for name in chosen.shots:
        for who in chosen.by:
            print(f"{name}, {who} ...", flush=True)
            found = run(name, who, chosen.frames, chosen.pictures)
            keep(found)
            print(page.grid(HEAD, [line(found)]), flush=True)


def whole(told):
    """Whether no shot is missing, and none was shortened."""
    return not any(row["shortened"] for row in told) and all(
        {row["shot"] for row in told if row["by"] == who} == set(shots.SHOTS) for who in (FINAL, BLENDER)
    )


def run(name, who, frames=0, draw=False):
    """The row of a shot by a simulator; its pictures lie in out/characters/ then, if they were asked for."""
    scene = shots.build(shots.SHOTS[name], frames)
    with tempfile.TemporaryDirectory() as folder:
        row = blender(scene, who) if who in THEIRS else bake(scene, who, folder)
        judge, drawn = look(scene, draw)
        bpy.ops.wm.read_factory_settings(use_empty=True)  # before the frames are gone
    if drawn:
        OUT.mkdir(parents=True, exist_ok=True)
        pictures.row(drawn).save(OUT / f"{name} {who}.png")
    return {"shot": name, "by": who, "shortened": bool(frames)} | judge.figures() | row


def bake(scene, who, folder):
    """Bake with the operator; returns what its report says of steps, and the processor's time."""
    settings = bpy.context.scene.taffeta
    settings.cache_folder = folder
    for obj in scene.garments:
        obj.taffeta_cloth.quality = "PREVIEW" if who == PREVIEW else "FINAL"
    if who == FINE:
        for name, value in FINE_SETTINGS.items():
            setattr(settings, name, value)
    started = time.process_time()
    with pictures.contact_sheet.silence():
        bpy.ops.taffeta.bake()
    seconds = time.process_time() - started
    report = json.loads(scene.garments[0].taffeta_cloth.report_json)
    return {
        "milliseconds": 1000 * seconds / max(1, report["frames_simulated"]),
        "steps": report.get("steps_per_frame"),
        "pinched": report.get("pinched", 0),
        "threads": numba.get_num_threads(),
    }


def blender(scene, who):
    """Have Blender simulate all frames into its own cache; returns the processor's time beyond that without cloth."""
    bare = show()
    simulate.furnish(bpy.context.scene, scene.garments, who)
    for obj in scene.garments if who == BLENDER else ():
        obj.modifiers["Cloth"].settings.air_damping = AIR
    return {"milliseconds": show() - bare}


def show():
    """[ms] of the processor that a frame takes to be shown, mean of all but the first."""
    scene = bpy.context.scene
    scene.frame_set(scene.frame_start)
    started = time.process_time()
    for frame in range(scene.frame_start + 1, scene.frame_end + 1):
        scene.frame_set(frame)
        bpy.context.evaluated_depsgraph_get().update()
    return 1000 * (time.process_time() - started) / (scene.frame_end - scene.frame_start)


def look(scene, draw):
    """Play all frames; returns the Judge that saw them, and pictures of some."""
    judge, drawn, last = Judge(scene), [], bpy.context.scene.frame_end
    for frame in range(1, last + 1):
        bpy.context.scene.frame_set(frame)
        if not judge.look():
            break
        if draw and frame in pictures.frames(last):
            drawn.append(pictures.draw())
    return judge, drawn


def keep(row):
    """Put a row into the place of one of the same shot and simulator."""
    path = REFERENCE if row["by"] == FINE and not row["shortened"] else KEPT
    kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    kept = [old for old in kept if (old["shot"], old["by"]) != (row["shot"], row["by"])]
    path.parent.mkdir(exist_ok=True)
    path.write_text("[\n" + ",\n".join(map(json.dumps, [*kept, row])) + "\n]\n", encoding="utf-8")


def rows():
    """All rows that are kept, shot by shot."""
    kept = [row for path in (KEPT, REFERENCE) if path.exists() for row in json.loads(path.read_text(encoding="utf-8"))]
    order = list(BY.values())
    return sorted(kept, key=lambda row: (list(shots.SHOTS).index(row["shot"]), order.index(row["by"])))


def line(row):
    """Cells of the table."""
    crossings = (f"{row[k]['most']} ({row[k]['frames']})" if row[k]["most"] else "0" for k in ("cloth", "body"))
    stretch = (f"{100 * row['stretch'][k]:.1f} %" for k in ("worst", "usual"))
    return [
        row["shot"], row["by"], row["vertices"], row["frames"], *crossings, f"{row['roughness']:.1f}",
        f"{100 * row['folded']:.1f} %", *stretch, f"{row['turns']:.1f}", row.get("steps") or "-", f"{row['milliseconds']:.0f}",
    ]  # fmt: skip


def tell(told):
    """Put the table into the page, in the place of the one that is there, and draw its pictures."""
    table = page.grid(HEAD, map(line, told))
    text, count = re.subn(
        r"\| shot +\| by.*?\n(?!\|)", lambda _: table, PAGE.read_text(encoding="utf-8"), flags=re.DOTALL
    )
    if count != 1:
        raise ValueError(f"{PAGE} has {count} tables that begin with '| shot | by': there must be one.")
    PAGE.write_text(text, encoding="utf-8")
    strips = {who: {name: OUT / f"{name} {who}.png" for name in shots.SHOTS} for who in (FINAL, *THEIRS)}
    if all(path.exists() for paths in strips.values() for path in paths.values()):
        ours = [(shots.SHOTS[name].what, Image.open(path)) for name, path in strips[FINAL].items()]
        pictures.sheet(ours, IMAGES / "characters.jpg")
        beside = [(f"{name}, {who}", Image.open(strips[who][name])) for name in shots.SHOTS for who in strips]
        pictures.sheet(beside, IMAGES / "characters_beside.jpg")


if __name__ == "__main__":
    main()
