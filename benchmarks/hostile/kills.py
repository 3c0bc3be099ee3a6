# SPDX-License-Identifier: GPL-3.0-or-later
"""Processes killed at random moments, in baking, resuming, exporting, compiling; what comes after has to be as if nobody had.

A small shot is baked by `blender --command taffeta`, in a Python process with Blender as a module. One run goes through undisturbed,
and is measured. Each killed one gets SIGKILL after a part of that time, all parts alike; most are killed again in
resuming, up to five times in a row. Then Resume has to come to the same bytes, and nothing unfinished may be left.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np

FRAMES = 40
SIDE = 24  # vertices of a sheet's side
BAKED = "Cloth.pc2", "Cloth.state", "Cloth.journal"
LEFT = ".part", ".lock"
AGE = 100.0  # [s] by which what a killed export left is made older, so that it counts as abandoned
SHARES = {"export": 0.1, "compile": 0.08}  # the rest are bakes
MOST_IN_A_ROW = 5  # kills of one bake: of the first process, of its Resume, of the next
LONGEST = 900.0  # [s]
COMMAND = "import sys, taffeta; taffeta.register()\nfrom taffeta.operators import command\nstatus = command.run(sys.argv[1:])\n" \
    "taffeta.unregister(); sys.exit(status)"  # fmt: skip
SCENE = """
import sys
from pathlib import Path
import bpy, taffeta
sys.path.insert(0, sys.argv[1])
from hostile import blender
taffeta.register()
scene = bpy.context.scene
bpy.ops.wm.read_factory_settings(use_empty=True)
scene = bpy.context.scene
scene.frame_start, scene.frame_end = 1, int(sys.argv[3])
cloth = blender.mesh_object("Cloth", *blender.grid(int(sys.argv[4])), height=0.4)
cloth.taffeta_cloth.enabled = True
body = blender.mesh_object("Body", *blender.grid(3, 0.5))
body.taffeta_collider.enabled = True
for frame, height in ((1, 0.0), (scene.frame_end, 0.3)):
    body.location.z = height
    body.keyframe_insert("location", frame=frame)
bpy.ops.wm.save_as_mainfile(filepath=sys.argv[2])
taffeta.unregister()
"""


def start(arguments: list[str], kernels: Path | None = None) -> subprocess.Popen:
    """A process of its own group that does what the command line says; `kernels` is the folder of compiled ones."""
    environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="1")
    if kernels is not None:
        environment["TAFFETA_CACHE_DIR"] = str(kernels)
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    return subprocess.Popen(
        [sys.executable, "-c", COMMAND, *arguments], env=environment, start_new_session=True, **silent
    )


def finished(process: subprocess.Popen) -> str:
    """What is wrong with how a process ended, which nobody killed; "" if nothing is."""
    told = process.communicate(timeout=LONGEST)[1].decode("utf-8", "replace")
    return "" if not process.returncode else f"status {process.returncode}: {told[-500:]}"


def killed(process: subprocess.Popen, seconds: float) -> bool:
    """Kill it after some seconds; whether it was still at work."""
    try:
        process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.communicate()
        return True
    return False


class Shot:
    """The shot, its undisturbed bake, and how long that and an export take."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.blend = folder / "good" / "shot.blend"
        self.blend.parent.mkdir()
        scene = [
            sys.executable,
            "-c",
            SCENE,
            str(Path(__file__).parent.parent),
            str(self.blend),
            str(FRAMES),
            str(SIDE),
        ]
        subprocess.run(scene, check=True, stdout=subprocess.DEVNULL)
        self._timed(["bake", str(self.blend)])  # which may have to compile
        shutil.rmtree(self.blend.parent / "taffeta_cache")
        self.seconds = self._timed(["bake", str(self.blend)])
        cache = self.blend.parent / "taffeta_cache"
        self.good = {name: (cache / name).read_bytes() for name in BAKED}
        whole = ["bake", str(self.blend), "--resume", "--export", str(self.blend.parent / "out" / "a.obj")]
        self.export_seconds = self._timed(whole)
        self.exported = {path.name: path.read_bytes() for path in (self.blend.parent / "out").iterdir()}

    def _timed(self, arguments):
        began = time.monotonic()
        if fault := finished(start(arguments)):
            raise RuntimeError(f"the shot that is to be killed does not bake: {fault}")
        return time.monotonic() - began

    def copy(self) -> Path:
        """The shot, not baked, in a fresh folder."""
        folder = self.folder / "killed"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        shutil.copy(self.blend, folder)
        return folder / "shot.blend"

    def faults(self, blend: Path) -> list[str]:
        """What differs from the undisturbed bake, and what is left."""
        cache = blend.parent / "taffeta_cache"
        found = [f"{name} has other bytes" for name in BAKED if (cache / name).read_bytes() != self.good[name]]
        found += [f"{path.name} is left" for path in blend.parent.rglob("*") if path.name.endswith(LEFT)]
        return found + [f"{path.name} is left" for path in blend.parent.rglob(".taffeta_export_*")]


def kill_bake(rng, shot: Shot, count: int) -> tuple[int, list[str]]:
    """Kill a bake, and Resumes after it, `count` in all; kills that hit, and faults."""
    blend, hits = shot.copy(), 0
    for number in range(count):
        arguments = ["bake", str(blend), *(["--resume"] if number else [])]
        hits += killed(start(arguments), rng.uniform(0.0, shot.seconds))
    fault = finished(start(["bake", str(blend), "--resume"]))
    return hits, [fault] if fault else shot.faults(blend)


def kill_export(rng, shot: Shot) -> tuple[int, list[str]]:
    """Kill an export of a good bake, export again."""
    blend = shot.copy()
    shutil.copytree(shot.blend.parent / "taffeta_cache", blend.parent / "taffeta_cache")
    out = blend.parent / "out"
    arguments = ["bake", str(blend), "--resume", "--export", str(out / "a.obj")]
    hit = killed(start(arguments), rng.uniform(0.3, 1.0) * shot.export_seconds)
    for path in out.glob(".taffeta_export_*") if out.is_dir() else ():
        os.utime(path, (time.time() - AGE, time.time() - AGE))
    if out.is_dir() and any(shot.exported.get(path.name) != path.read_bytes() for path in out.glob("a_*")):
        return hit, ["a file of the killed export is not whole"]
    if fault := finished(start(arguments)):
        return hit, [fault]
    found = shot.faults(blend)
    exported = {path.name: path.read_bytes() for path in out.iterdir() if path.is_file()}
    return hit, found + (["the export has other bytes"] if exported != shot.exported else [])


def kill_compiling(rng, shot: Shot, count: int) -> tuple[int, list[str]]:
    """Kill the first bake of a machine while kernels are compiled, several times; then bake."""
    with tempfile.TemporaryDirectory(prefix="taffeta_kernels_") as folder:
        hits, kernels = 0, Path(folder)
        for _ in range(count):
            process = start(["bake", str(shot.copy())], kernels)
            hits += killed(process, rng.uniform(2.0, 60.0))
            _end_group(process)
        blend = shot.copy()
        if fault := finished(start(["bake", str(blend)], kernels)):
            return hits, [fault]
        left = [path.name for path in kernels.rglob("*") if path.name.endswith((".part", ".tmp"))]
        return hits, shot.faults(blend) + [f"{name} is left of a compiler" for name in left]


def _end_group(process):
    """End the compilers that a killed process had begun, some at work still: as a machine that is switched off."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def attack(seed: int, count: int) -> int:
    """Kill `count` processes; prints what came of it, returns the number of faults."""
    rng = np.random.default_rng([seed, count])
    compiled, exported = (max(1, round(SHARES[name] * count)) for name in ("compile", "export"))
    faults, chains, left = 0, [], max(0, count - compiled - exported)
    while left > 0:
        chains.append(min(left, int(rng.integers(1, MOST_IN_A_ROW + 1))))
        left -= chains[-1]
    with tempfile.TemporaryDirectory(prefix="taffeta_kills_") as folder:
        shot = Shot(Path(folder))
        print(f"a bake takes {shot.seconds:.1f} s, an export {shot.export_seconds:.1f} s", flush=True)
        rounds = {
            "bakes and resumes": [partial(kill_bake, rng, shot, length) for length in chains],
            "exports": [lambda: kill_export(rng, shot)] * exported,
            "compiles": [lambda: kill_compiling(rng, shot, compiled)],
        }
        for name, tries in rounds.items():
            hits = 0
            for number, kill in enumerate(tries):
                hit, found = kill()
                hits, faults = hits + hit, faults + bool(found)
                if found:
                    print(f"FAULT {name} {number}: {'; '.join(found)}", flush=True)
            print(f"{name}: {hits} processes killed", flush=True)
    return faults
