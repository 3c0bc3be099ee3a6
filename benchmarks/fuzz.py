# SPDX-License-Identifier: GPL-3.0-or-later
"""Random shots that must not cross: sheets of any thickness, mesh and fabric, thrown at each other and at bodies.

    python benchmarks/fuzz.py [--operators] [--count 500] [--first 0] [--frames 4] [--out out/fuzz.jsonl] [--only 17 30]

A seed is a shot: one to three sheets, flat or wavy, triangles up to 10:1, 0.2 to 20 mm thick, each thrown and spun as
one rigid piece at up to 50 m/s, and in two shots of three a rigid body that flies at them and turns. After every frame
ipctk, which shares no code with Taffeta, counts edges that pass through triangles. A line per shot is printed and kept;
seeds that are in the file already are skipped, so a run that was stopped goes on. Exit status 1 if any shot failed.
--operators bakes other shots, those of benchmarks/fuzz_shots.py, in Blender.
"""

import argparse
import json
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests" / "solver")]

from crossings import Crossings, count_in  # noqa: E402
from solids import random_closed, torus  # noqa: E402
from taffeta.solver.build import build  # noqa: E402
from taffeta.solver.model import Collider, FrameInput, Garment, Settings  # noqa: E402
from taffeta.solver.step import advance  # noqa: E402

FASTEST = 50.0  # [m/s]
THICKNESS = 2e-4, 2e-2  # [m]
SLENDER = 10.0  # longest over shortest side of a quad
FRAME = 1.0 / 24.0
PARTS = 8  # in which a body's turn within a frame is cut
GRAVITY = np.array([0.0, 0.0, -9.81])


class Scene(NamedTuple):
    """A shot of the fuzz."""

    garments: list[Garment]
    velocities: np.ndarray  # (n, 3) [m/s] at the start
    body: "Flight | None"
    words: str  # what it is made of


class Flight(NamedTuple):
    """A rigid body that flies straight on and turns about its centre."""

    x: np.ndarray  # (m, 3) [m] about the origin
    triangles: np.ndarray
    start: np.ndarray  # (3,) [m]
    velocity: np.ndarray  # (3,) [m/s]
    spin: np.ndarray  # (3,) [rad/s]
    traits: tuple[float, float, float]  # friction, restitution, aura

    def over(self, frame: int) -> Collider:
        """The body from frame - 1 to this one."""
        times = FRAME * (frame - 1 + np.linspace(0.0, 1.0, PARTS + 1))
        placed = [self.x @ turn(time * self.spin).T + self.start + time * self.velocity for time in times]
        return Collider("Body", np.stack(placed), self.triangles, *self.traits)


def turn(way: np.ndarray) -> np.ndarray:
    """(3, 3) rotation about `way` by its length [rad] (Rodrigues' formula)."""
    angle = float(np.linalg.norm(way))
    if angle == 0.0:
        return np.eye(3)
    x, y, z = way / angle
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + np.sin(angle) * cross + (1.0 - np.cos(angle)) * cross @ cross


def between(rng, low: float, high: float) -> float:
    """A random number, as likely in each of its orders of magnitude."""
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def direction(rng) -> np.ndarray:
    """(3,) of length 1."""
    way = rng.normal(size=3)
    return way / np.linalg.norm(way)


def sheet(rng, name: str, place: np.ndarray, height: float, most: int) -> tuple[Garment, float]:
    """A sheet that starts at a height above the plane through the origin, which `place` (3, 3) turns; its reach [m]."""
    counts = rng.integers(4, most + 1, 2)
    long, slender = between(rng, 0.01, 0.04), between(rng, 1.0, SLENDER)
    sides = np.array([long, long / slender])[rng.permutation(2)]
    u, v = np.meshgrid(*(side * (np.arange(n) - 0.5 * (n - 1)) for n, side in zip(counts, sides, strict=True)))
    x = np.stack([u.ravel(), v.ravel(), np.zeros(u.size)], axis=1)
    x[:, :2] += rng.uniform(-0.15, 0.15, (len(x), 2)) * sides.min() * rng.integers(0, 2)
    index = np.arange(u.size).reshape(u.shape)
    a, b, c, d = (part.ravel() for part in (index[:-1, :-1], index[:-1, 1:], index[1:, 1:], index[1:, :-1]))
    quads = np.stack([a, b, c, d], axis=1).astype(np.int32)
    quads = np.where((rng.random(len(quads)) < 0.5)[:, None], quads, np.roll(quads, 1, axis=1))
    triangles = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])
    edges = np.concatenate([quads[:, [k, (k + 1) % 4]] for k in range(4)])
    wave = rng.integers(0, 2) * rng.uniform(0.0, 0.3) * long
    start = x.copy()
    start[:, 2] = height + wave * np.sin(x[:, 0] / sides[0] * rng.uniform(0.2, 1.2) + rng.uniform(0.0, 6.3))
    numbers = {
        "mass": between(rng, 0.05, 0.6), "thickness": between(rng, *THICKNESS), "stretch_stiffness": between(rng, 50, 5e3),
        "shear_stiffness": between(rng, 5, 500), "bending_stiffness": between(rng, 1e-7, 1e-3),
        "damping": between(rng, 0.1, 20), "friction": rng.uniform(0.0, 1.0), "pin": 0.0, "pin_distance": np.inf,
    }  # fmt: skip
    garment = Garment(
        name, x, start @ place.T, triangles, quads, np.unique(np.sort(edges, axis=1), axis=0), None, layer=0,
        self_collision=bool(rng.random() < 0.9), **{key: np.full(len(x), float(n)) for key, n in numbers.items()},
    )  # fmt: skip
    return garment, float(wave)


def thrown(rng, garment: Garment, to: np.ndarray) -> np.ndarray:
    """(n, 3) [m/s] velocities of a rigid motion, most likely towards a point, nowhere faster than `FASTEST`."""
    way = to - garment.x_start.mean(axis=0)
    way = way / max(np.linalg.norm(way), 1e-9) + rng.uniform(0.0, 1.5) * direction(rng)
    spin = between(rng, 0.1, 200.0) * direction(rng)
    arm = garment.x_start - garment.x_start.mean(axis=0)
    v = between(rng, 0.5, FASTEST) * way / np.linalg.norm(way) + np.cross(spin, arm)
    return v * (min(1.0, FASTEST / np.linalg.norm(v, axis=1).max()) * (garment.pin < 1.0)[:, None])


def flight(rng, seed: int, frames: int, garments: list[Garment]) -> Flight:
    """A body that comes from afar and is where the cloth is after half the shot or before."""
    room = max(float(np.linalg.norm(garment.x_start, axis=1).max()) for garment in garments)
    mesh = torus(14, 9, 0.12, 0.05) if rng.random() < 0.3 else random_closed(rng, seed // 3)
    x = mesh[0] - mesh[0].mean(axis=0)
    size = between(rng, 0.05, 0.3)
    x = x * (size / np.linalg.norm(x, axis=1).max())
    speed = between(rng, 0.3, 0.8 * FASTEST)
    spin = min(between(rng, 0.1, 100.0), 0.2 * FASTEST / size) * direction(rng)
    way, arrives = direction(rng), FRAME * rng.uniform(0.3, 0.5 * frames)
    start = -way * (size + room + 0.02 + speed * arrives)
    traits = float(rng.uniform(0.0, 1.0)), float(rng.choice([0.0, rng.uniform(0.0, 1.0)])), between(rng, 0.001, 0.01)
    return Flight(x, mesh[1], start, speed * way, spin, traits)


def scene(seed: int, frames: int = 4, most: int = 14) -> Scene:
    """The shot of a seed: sheets of `most` x `most` vertices at most, free of crossings at its start."""
    rng = np.random.default_rng(seed)
    place, height, garments = turn(rng.uniform(0.0, 3.0) * direction(rng)), 0.0, []
    for number in range(rng.integers(1, 4)):
        garment, reach = sheet(rng, "ABC"[number], place, 0.0, most)
        height += reach + between(rng, 1.0, 5.0) * max(*(g.thickness[0] for g in (*garments, garment)), 1e-3)
        lifted = garment.x_start + height * place[:, 2]
        garments.append(garment._replace(x_start=lifted))
        height += reach
    if seed % 3 == 0 and rng.random() < 0.4:  # held along one side; bodies would press cloth into what is held
        pin = (garments[0].x[:, 0] == garments[0].x[:, 0].min()).astype(float)
        garments[0] = garments[0]._replace(pin=pin)
    body = flight(rng, seed, frames, garments) if seed % 3 else None
    middle = np.concatenate([garment.x_start for garment in garments]).mean(axis=0)
    velocities = np.concatenate([thrown(rng, garment, middle) for garment in garments])
    words = ", ".join(
        f"{len(g.x)} at {1e3 * g.thickness[0]:.2g} mm{'' if g.self_collision else ' (no self)'}{' pinned' * bool(g.pin.any())}"
        for g in garments
    )
    words += f"; cloth {np.linalg.norm(velocities, axis=1).max():.0f} m/s"
    return Scene(
        garments, velocities, body, words + (f", body {np.linalg.norm(body.velocity):.0f} m/s" if body else "")
    )


def run(shot: Scene, frames: int = 4) -> tuple[list[Crossings], str]:
    """The worst that each frame shows, the start first, without what is not looked for; and why it ended early."""
    settings = Settings()
    cloth, state = build(shot.garments, settings)
    state.v[:] = shot.velocities
    pose = np.stack(2 * [state.x + cloth.origin])
    found = [_count(cloth, state.x, shot, 0)]
    for frame in range(1, frames + 1):
        colliders = (shot.body.over(frame),) if shot.body else ()
        try:
            advance(cloth, state, FrameInput(FRAME, pose, colliders, GRAVITY, np.zeros(3)), frame, settings)
        except FloatingPointError as error:
            return found, str(error)
        found.append(_count(cloth, state.x, shot, frame))
    return found, "" if np.isfinite(state.x).all() and np.isfinite(state.v).all() else "the state is not finite"


def _count(cloth, x, shot: Scene, frame: int) -> Crossings:
    """Crossings, those inside sheets without self-collision apart."""
    bodies = (shot.body.over(frame),) if shot.body else ()
    found = count_in(cloth, x, bodies)
    lone = [index for index, garment in enumerate(shot.garments) if not garment.self_collision]
    for index in lone:
        own = cloth.triangles[cloth.garment[cloth.triangles[:, 0]] == index]
        alone = count_in(cloth._replace(triangles=own), x)
        found = found._replace(cloth_self=found.cloth_self - alone.cloth_self)
    return found


def report(seed: int, frames: int) -> dict:
    """What came out of a seed, as JSON can hold it."""
    shot, start = scene(seed, frames), time.perf_counter()
    found, error = run(shot, frames)
    first = next((frame for frame, counts in enumerate(found) if any(counts)), None)
    worst = {name: max(getattr(counts, name) for counts in found) for name in Crossings._fields}
    passed = first is None and not error
    seconds = round(time.perf_counter() - start, 2)
    told = {"seed": seed, "passed": passed, "first_frame": first, **worst, "error": error, "seconds": seconds}
    return told | {"frames": frames, "scene": shot.words}


def main() -> int:
    """Run the seeds that are not known yet; prints a line each and the sum of all, of which the exit status tells."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=500, help="shots")
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--operators", action="store_true", help="shots that Blender bakes by our operators")
    parser.add_argument("--frames", type=int, default=4, help="of a shot, where Blender does not bake it")
    parser.add_argument("--only", type=int, nargs="*", help="these seeds, known or not; nothing is kept")
    parser.add_argument(
        "--out", type=Path, help="where lines are kept; out/fuzz.jsonl or out/fuzz_shots.jsonl if left out"
    )
    options = parser.parse_args()
    if not options.operators:
        return run_all(options, options.out or ROOT / "out" / "fuzz.jsonl", lambda seed: report(seed, options.frames))
    import fuzz_shots  # here, because it imports Blender
    import taffeta

    taffeta.register()
    try:
        return run_all(options, options.out or ROOT / "out" / "fuzz_shots.jsonl", fuzz_shots.report)
    finally:
        taffeta.unregister()


def run_all(options, out: Path, tell) -> int:
    """Run the seeds that are not in the file `out`, by `tell(seed)`; 1 if any failed."""
    kept = out.read_text(encoding="utf-8").splitlines() if out.is_file() else []
    known = {
        line["seed"]: line for line in map(json.loads, kept) if line.get("frames", options.frames) == options.frames
    }
    wanted = range(options.first, options.first + options.count) if options.only is None else options.only
    lines = []
    for seed in wanted:
        line = known.get(seed) if options.only is None else None
        if line is None:
            line = tell(seed)
            counts = " ".join(f"{name.removeprefix('cloth_')} {line[name]}" for name in Crossings._fields)
            verdict = "ok  " if line["passed"] else "FAIL"
            print(f"{verdict} {seed:4d}: {counts}; {line['seconds']} s; {line['scene']} {line['error']}", flush=True)
            if options.only is None:
                out.parent.mkdir(parents=True, exist_ok=True)
                with out.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(line) + "\n")
        lines.append(line)
    failed = [line["seed"] for line in lines if not line["passed"]]
    print(f"{len(lines)} shots, {len(failed)} with crossings or without a finite end: {failed or 'none'}")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
