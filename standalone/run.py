# SPDX-License-Identifier: GPL-3.0-or-later
"""From a scene file to an OBJ per frame: garments and bodies are read, frames are simulated and written."""

import argparse
import sys
import time
from bisect import bisect_right
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ..solver import precompile
from ..solver.build import build
from ..solver.cache import obj, png
from ..solver.cache.files import in_words
from ..solver.doubts import Doubts
from ..solver.grey import bilinear, corner_mean
from ..solver.model import Collider, FrameInput, Garment, Report
from ..solver.step import advance
from . import scene as scene_file

EXIT_FAILED = 1  # exit status; argparse gives 2 for arguments that make no sense
MASK_THRESHOLD = 0.5  # grey from which on a mask leaves a vertex out
SHEAR_SHARE = 0.05  # shear over stretch stiffness of woven cloth, if the file does not tell


class Garments:
    """The cloths of a scene: what is simulated, and the files that it goes to."""

    def __init__(self, cloths: list[scene_file.ClothFile]):
        self.targets = [cloth.target for cloth in cloths]
        self.garments, self.faces = [], []
        for cloth in cloths:
            mesh = obj.read(cloth.obj)
            uv = _pattern(cloth, mesh)
            self.garments.append(read_garment(cloth, mesh, uv))
            self.faces.append(obj.face_lines(mesh, uv))
        names = [cloth.obj.name for cloth in cloths]
        given = [cloth.collide_with for cloth in cloths]
        meets = [None if own is None else tuple(name in own for name in names) for own in given]
        self.garments = [g._replace(meets=row) for g, row in zip(self.garments, meets, strict=True)]

    def write(self, frame: int, x: np.ndarray) -> None:
        """Write the frame of every cloth; x (n, 3) [m] of all."""
        start = 0
        for garment, target, faces in zip(self.garments, self.targets, self.faces, strict=True):
            end = start + len(garment.x)
            target.parent.mkdir(parents=True, exist_ok=True)
            obj.write(target.with_name(f"{target.name}_{frame:04d}.obj"), x[start:end], faces)
            start = end


def _pattern(cloth: scene_file.ClothFile, mesh: obj.Mesh) -> np.ndarray | None:
    """Pattern coordinates of a cloth; None if it has none and no map needs any."""
    try:
        return obj.read_uv(cloth.obj, mesh)
    except ValueError:
        if cloth.maps:
            raise
        return None


def read_garment(cloth: scene_file.ClothFile, mesh: obj.Mesh, uv: np.ndarray | None) -> Garment:
    """A garment at rest in the shape of its mesh: value = minimum + (maximum - minimum) * grey of its map.

    Raises
    ------
    ValueError
        A map cannot be read, or there are no pattern coordinates to lay it on: a sentence naming the file.
    """
    count = len(mesh.x)

    def grey(key):
        return corner_mean(mesh.corners, bilinear(png.read_grey(cloth.maps[key]), uv), count)

    values = {
        key: low + (high - low) * grey(key) if key in cloth.maps else np.full(count, low)
        for key, (low, high) in cloth.ranges.items()
    }
    stretch = values["stretch_stiffness"]
    shear = SHEAR_SHARE * stretch if cloth.model != "SPRINGS" else stretch
    quads = mesh.face_start[:-1][np.diff(mesh.face_start) == 4][:, None] + np.arange(4)
    following = np.arange(1, len(mesh.corners) + 1)
    following[mesh.face_start[1:] - 1] = mesh.face_start[:-1]
    edges = np.unique(np.sort(np.stack((mesh.corners, mesh.corners[following]), axis=1), axis=1), axis=0)
    return Garment(
        name=cloth.obj.name,
        x=mesh.x,
        x_start=mesh.x.copy(),
        triangles=mesh.triangles,
        quads=np.ascontiguousarray(mesh.corners[quads]),
        edges=edges[edges[:, 0] != edges[:, 1]],
        uv=None,
        shear_stiffness=shear if cloth.shear is None else np.full(count, cloth.shear),
        bending_stiffness=np.full(count, cloth.bending),
        friction=np.full(count, cloth.friction),
        pin=grey("pin") if "pin" in cloth.maps else np.zeros(count),
        pin_distance=np.full(count, np.inf),
        layer=0,
        self_collision=cloth.self_collision,
        **{key: grey(key) < MASK_THRESHOLD for key in ("meets_itself", "meets_bodies") if key in cloth.maps},
        model=cloth.model,
        strain_limit=cloth.strain_limit,
        stiffening=cloth.stiffening,
        **values,
    )


class Body:
    """A body that stands still, or goes straight from one file of its sequence to the next."""

    def __init__(self, static: scene_file.StaticFile, restitution: float, meets: tuple[bool, ...] | None = None):
        self.static, self.meets = static, meets
        self.restitution = restitution if static.restitution is None else static.restitution
        self.files = {0: static.obj}
        if "#" in static.obj.name:
            name = static.obj.name.partition("#")[0]
            sequences = [file for file in sorted(static.obj.parent.glob("*.obj")) if _is_frame(file, static.obj.name)]
            if not sequences:
                raise ValueError(f"There is no file {name}0001.obj or the like for {static.obj}; export the sequence")
            self.files = obj.sequence(sequences[0])
            if link := next((file for file in self.files.values() if file.is_symlink()), None):
                raise ValueError(f"{link} is a link, which may lead out of the scene's folder; copy the file there")
        self.frames = list(self.files)
        self.mesh = obj.read(self.files[self.frames[0]])
        self.known = {self.frames[0]: self.mesh.x}

    def x(self, frame: int) -> np.ndarray:
        """Positions (n, 3) [m] at a frame; the first and the last file hold before and after them."""
        after = min(bisect_right(self.frames, frame), len(self.frames) - 1)
        first, last = self.frames[max(0, after - 1)], self.frames[after]
        self.known = {f: self.known[f] if f in self.known else self._read(f) for f in {first, last}}
        share = min(1.0, max(0.0, (frame - first) / (last - first))) if last > first else 0.0
        return self.known[first] + share * (self.known[last] - self.known[first])

    def over(self, frame: int) -> Collider:
        """The body from the frame before to this one."""
        x = np.stack((self.x(frame - 1), self.x(frame)))
        static = self.static
        numbers = static.friction, self.restitution, static.aura
        return Collider(static.obj.name, x, self.mesh.triangles, *numbers, self.meets)

    def _read(self, frame):
        return self.mesh.x if frame == self.frames[0] else obj.read_like(self.files[frame], self.mesh)


def met_by(static: scene_file.StaticFile, cloths: list[scene_file.ClothFile]) -> tuple[bool, ...]:
    """Whether each cloth meets a body."""
    return tuple(cloth.collide_with is None or static.obj.name in cloth.collide_with for cloth in cloths)


def _is_frame(file: Path, pattern: str) -> bool:
    """Whether a file is the pattern with a number in the place of its `#`."""
    before, _, after = pattern.partition("#")
    after = after.lstrip("#")
    number = file.name.removeprefix(before).removesuffix(after)
    return file.name == before + number + after and number.isdecimal()


def frames(scene: scene_file.Scene, doubts: Doubts) -> Iterator[tuple[int, Report | None]]:
    """Simulate and write; yields each frame when its files are there, the first with no report. `doubts` looks at all.

    Raises
    ------
    ValueError, OSError, FloatingPointError
        A sentence; the frames before are on disk.
    """
    garments = Garments(scene.cloths)
    bounciest = max(cloth.restitution for cloth in scene.cloths)
    bodies = [Body(static, bounciest, met_by(static, scene.cloths)) for static in scene.statics]
    cloth, state = build(garments.garments, scene.settings)
    pose = np.stack(2 * [state.x + cloth.origin])
    gravity, calm = np.array(scene.gravity), np.zeros(3)
    garments.write(scene.frames.start, pose[0])
    yield scene.frames.start, None
    for frame in scene.frames[1:]:
        colliders = tuple(body.over(frame) for body in bodies)
        report = advance(cloth, state, FrameInput(scene.seconds, pose, colliders, gravity, calm), frame, scene.settings)
        garments.write(frame, state.x + cloth.origin)
        report = doubts.look(cloth, state.x, report, colliders)
        if frame == scene.frames[-1]:
            report = report._replace(crossings=doubts.look_closer(cloth, state.x, colliders, frame))
        yield frame, report


def main(arguments: list[str]) -> int:
    """Do what the command line says; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m taffeta", description="Cloth simulation without Blender")
    parser.add_argument("scene", type=Path, metavar="SCENE.xml")
    parser.add_argument(
        "--out", type=Path, metavar="FOLDER", help="where savePath begins; the scene's folder if left out"
    )
    options, doubts = parser.parse_args(arguments), Doubts(())
    try:
        scene = scene_file.read(options.scene, options.out or options.scene.parent)
        print("Taffeta: preparing the solver (less than a minute, the first time)", flush=True)
        precompile.compile_kernels(precompile.parts_of(scene.settings))
        first, last = scene.frames[0], scene.frames[-1]
        began = said = time.perf_counter()
        doubts = Doubts(cloth.obj.name for cloth in scene.cloths)
        for frame, _ in frames(scene, doubts):
            now = time.perf_counter()
            if frame <= first + 1:  # it may have waited for the compiler
                began = now
            elif now - said > 1.0:
                left = (now - began) / (frame - first - 1) * (last - frame)
                print(f"Taffeta: frame {frame} of {last}, {left:.0f} s left", flush=True)
                said = now
    except (ValueError, OSError, FloatingPointError) as error:
        print(f"Taffeta: {in_words(error)}", file=sys.stderr, flush=True)
        return EXIT_FAILED
    except KeyboardInterrupt:
        print("Taffeta: stopped; the frames before are on disk", file=sys.stderr, flush=True)
        return EXIT_FAILED
    finally:
        for doubt in doubts.tell():
            print(f"Taffeta: {doubt.sentence}", file=sys.stderr, flush=True)
    names = ", ".join(f"{cloth.target}_*.obj" for cloth in scene.cloths)
    print(f"Taffeta: frames {scene.frames.start} to {scene.frames[-1]} are in {names}", flush=True)
    return 0
