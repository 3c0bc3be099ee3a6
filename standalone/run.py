# SPDX-License-Identifier: GPL-3.0-or-later
"""From a scene file to an OBJ per frame: garments and bodies are read, frames are simulated and written."""

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ..solver import precompile
from ..solver.build import build
from ..solver.cache.files import in_words
from ..solver.doubts import Doubts
from ..solver.model import Collider, FrameInput, Report
from ..solver.step import advance
from . import scene as scene_file
from .garments import Garments
from .sequence import Sequence

EXIT_FAILED = 1  # exit status; argparse gives 2 for arguments that make no sense


class SceneBody:
    """A body of the scene, as the colliders that it is to the cloths.

    Friction and restitution that a body has of its own hold for all cloths. One without has those of each cloth: where these
    differ it is there once for each kind, and each cloth meets one of them.
    """

    def __init__(self, static: scene_file.StaticFile, cloths: list[scene_file.ClothFile]):
        self.static, self.sequence = static, Sequence(static.obj, samples=static.samples)
        self.meets: dict[tuple[float, float], tuple[bool, ...]] = {}  # by friction and restitution
        kinds = [(_or(static.friction, cloth.friction), _or(static.restitution, cloth.restitution)) for cloth in cloths]
        met = met_by(static, cloths)
        for kind in dict.fromkeys(kinds):
            self.meets[kind] = tuple(one and own == kind for one, own in zip(met, kinds, strict=True))

    def over(self, frame: int) -> list[Collider]:
        """The body from the frame before to this one."""
        x = self.sequence.over(frame, self.sequence.parts(frame))
        static, triangles = self.static, self.sequence.mesh.triangles
        return [
            Collider(static.obj.name, x, triangles, *kind, static.aura, meets, static.viscosity)
            for kind, meets in self.meets.items()
        ]


def _or(value, other):
    return other if value is None else value


def met_by(static: scene_file.StaticFile, cloths: list[scene_file.ClothFile]) -> tuple[bool, ...]:
    """Whether each cloth meets a body."""
    return tuple(cloth.collide_with is None or static.obj.name in cloth.collide_with for cloth in cloths)


def untangled(garments: Garments, bodies: list[SceneBody], scene: scene_file.Scene) -> list[np.ndarray]:
    """(n, 3) [m] of each garment, taken out of itself, the others and the bodies in the order of layers."""
    from ..solver.untangle.apart import untangle
    from ..solver.untangle.nest import Shape, Worn

    own = garments.garments
    worn = [
        Worn(g.name, g.x_start, g.triangles, g.thickness, g.layer, cloth.rigidity)
        for g, cloth in zip(own, scene.cloths, strict=True)
    ]
    shapes = [
        Shape(b.static.obj.name, b.sequence.x(scene.frames.start), b.sequence.mesh.triangles, b.static.aura)
        for b in bodies
    ]
    each = np.array([[True] * len(own) if g.meets is None else g.meets for g in own])
    each[np.diag_indices(len(own))] &= [g.self_collision for g in own]
    of_bodies = np.array([met_by(b.static, scene.cloths) for b in bodies], bool).reshape(len(bodies), len(own))
    return untangle(worn, shapes, meets=np.hstack([each & each.T, of_bodies.T])).x


def frames(scene: scene_file.Scene, doubts: Doubts) -> Iterator[tuple[int, Report | None]]:
    """Simulate and write; yields each frame when its files are there, the first with no report. `doubts` looks at all.

    Raises
    ------
    ValueError, OSError, FloatingPointError
        A sentence; the frames before are on disk.
    """
    garments = Garments(scene.cloths)
    bodies = [SceneBody(static, scene.cloths) for static in scene.statics]
    garments.begin(scene.frames.start)
    if scene.untangle:
        garments.begin(scene.frames.start, untangled(garments, bodies, scene))
    cloth, state = build(garments.garments, scene.settings)
    doubts.begin(scene.frames.start, state.x)
    gravity, wind = np.array(scene.gravity), np.array(scene.wind)
    garments.write(scene.frames.start, state.x + cloth.origin)
    yield scene.frames.start, None
    for frame in scene.frames[1:]:
        colliders = tuple(collider for body in bodies for collider in body.over(frame))
        pose = garments.pose_over(frame)
        report = advance(cloth, state, FrameInput(scene.seconds, pose, colliders, gravity, wind), frame, scene.settings)
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
        print("Taffeta: preparing the solver (the first time a minute or two)", flush=True)
        parts = precompile.parts_of(scene.settings)
        precompile.compile_kernels((*parts, "untangle") if scene.untangle else parts)
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
