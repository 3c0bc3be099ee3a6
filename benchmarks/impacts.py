# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth that is shot at cloth, after Huh, Metaxas and Badler 2001: momentum, impact zones and where a frame's time goes.

    python benchmarks/impacts.py [--only impacts tasks hash search reach]

Needs no Blender. Sheets fly into each other so fast that response alone does not stop them, with the settings of a Final
bake but for the air, which would take momentum; printed are the momentum of each frame and how often the guard's ways are
taken. Then table 1 of that paper beside ours, and contact's scenes with the hierarchy and with the hash, and one search of
their triangles with neither (Bigliani and Eischen 2000, section 3.3); and how far neighbours are looked for, which Pereira
(2010, 5.5.3) trades against collisions that are missed.
"""

import argparse
import sys
import time
from collections import Counter
from contextlib import contextmanager, nullcontext
from typing import NamedTuple

import contact_scenes
import numpy as np
import page
from contact import FINAL
from contact_scenes import FRAME, G, cut, put
from crossings import count_in
from taffeta.solver import precompile
from taffeta.solver.broad_phase.patches import OVERLAPS
from taffeta.solver.build import build
from taffeta.solver.contact import resolve
from taffeta.solver.contact.cloth import pairs as cloth_pairs
from taffeta.solver.contact.guard import cluster_impulses, clusters
from taffeta.solver.model import BROAD_PHASES, FrameInput
from taffeta.solver.step import advance

FRAMES = 6
MAX_SPEED = 1e5  # [m/s] that slows none of these
SHOTS = {"two sheets, 50 m/s": (2, 25.0), "two sheets, 100 m/s": (2, 50.0), "four sheets, 60 m/s": (4, 30.0)}
IMPACT_HEAD = (
    "shot", "frame", "momentum changes by", "guarded substeps", "parted", "split at folds", "made one", "at once", "programmes",
    "crossings",
)  # fmt: skip
WAYS = "guarded", "parted", "split", "made one", "at once", "programme"  # of the guard
TASKS = ("integration", "volume collision", "self-collision", "LDI generation")
STEPS = 10  # substeps of a frame
TASK_HEAD = (
    "scene", "ms a frame", "s a step of 4.2 ms", "s for a second", "integration", "images", "search for cloth", "bodies",
    "cloth on cloth", "theirs, s a step", "for a second", "integration", "detection", "handling",
)  # fmt: skip
TABLE_1 = {  # Huh, Metaxas and Badler 2001: seconds a step, its length [s], percent of integration, detection and handling
    "rod-silk": (0.36, 5e-4, 19, 56, 19),
    "rod-denim": (0.22, 1e-4, 32, 45, 18),
    "balls-silk": (1.22, 5e-4, 8, 80, 10),
    "balls-denim": (1.15, 1e-4, 9, 78, 9),
}
HASHED = ("strip", "tablecloth", "rod-both", "balls-silk")
SEARCH_HEAD = "scene", "triangles", "pairs", "each with each, ms", *(f"{name.lower()}, ms" for name in OVERLAPS)
REACHES = 1.0, 1.5, 3.0, 6.0  # of *Neighbour Reach*
REACH_HEAD = "scene", "neighbour reach", "processor ms a frame", "pairs a search", "crossings, all frames"
HASH_WAYS = "each with each", *(name.lower() for name in BROAD_PHASES)
HASH_HEAD = ("scene", *(f"{name}, processor ms a frame" for name in HASH_WAYS), "frames that differ")


class Frame(NamedTuple):
    """What a frame of an impact came to."""

    change: float  # of momentum, in the sum of all particles' own
    ways: Counter  # how often the guard went each of its ways
    crossings: int


def shoot(count: int, speed: float, frames: int = FRAMES) -> list[Frame]:
    """Sheets of cotton, tilted and a little rough, that fly at each other, each at `speed` [m/s]."""
    garments, signs = [], []
    for k in range(count):
        tilt = (0.1 * np.sin(3.0 * k), 0.7 * k, 0.0)
        garments.append(
            put(cut(f"Sheet {k + 1}", 16, 16, 0.012), (tilt[0], 0.0, tilt[1]), (0.004 * k, 0.003, 0.03 * k))
        )
        signs.append(np.full(256, 1.0 if 2 * k < count else -1.0))
    settings = FINAL._replace(air_drag=0.0, max_speed=MAX_SPEED)
    cloth, state = build(garments, settings)
    rng = np.random.default_rng(3)
    state.x[:] += rng.normal(size=state.x.shape) * 3e-4
    state.v[:, 2] = speed * np.concatenate(signs)
    state.v[:] += rng.normal(size=state.v.shape) * 0.1 * speed
    poses, found = np.stack(2 * [state.x + cloth.origin]), []
    for frame in range(1, frames + 1):
        before, size = cloth.mass @ state.v, cloth.mass @ np.linalg.norm(state.v, axis=1)
        with counted() as ways:
            advance(cloth, state, FrameInput(FRAME, poses, (), np.zeros(3), np.zeros(3)), frame, settings)
        change = float(np.abs(cloth.mass @ state.v - before).max() / size)
        crossed = count_in(cloth, state.x, ())
        found.append(Frame(change, ways, crossed.cloth_self + crossed.cloth_cloth))
    return found


@contextmanager
def counted():
    """Count how often the guard holds something, parts zones, solves pairs of parts at once, and by the programme; and how
    many more clusters there are for folds, and how many fewer because near ones are made one.
    """
    ways, guard, part = Counter(), resolve.guard, clusters.part
    equal, least = cluster_impulses.equal_impulses, cluster_impulses.least_impulses
    split, merge = clusters._split, clusters._merge

    def watched(*given):
        zones = guard(*given)
        ways["guarded"] += zones is not None
        return zones

    def counting(name, call):
        def counts(*given):
            ways[name] += 1
            return call(*given)

        return counts

    def regrouping(name, call, sign):
        def regroups(label, *given):
            after = call(label, *given)
            ways[name] += sign * int(after.max() - label.max())
            return after

        return regroups

    resolve.guard, clusters.part = watched, counting("parted", part)
    clusters._split, clusters._merge = regrouping("split", split, 1), regrouping("made one", merge, -1)
    cluster_impulses.equal_impulses = counting("at once", equal)
    cluster_impulses.least_impulses = counting("programme", least)
    try:
        yield ways
    finally:
        resolve.guard, clusters.part, clusters._split, clusters._merge = guard, part, split, merge
        cluster_impulses.equal_impulses, cluster_impulses.least_impulses = equal, least


def impacts() -> list[list]:
    """A line for each frame of each shot."""
    rows = []
    for name, (count, speed) in SHOTS.items():
        for number, frame in enumerate(shoot(count, speed), start=1):
            ways = [frame.ways[way] for way in WAYS]
            rows.append([name, number, f"{frame.change:.0e}", *ways, frame.crossings])
    return rows


def seconds_of(name: str, settings=FINAL) -> tuple[np.ndarray, float, list[bytes]]:
    """Seconds of each of `TASKS` in a frame of a scene of `contact_scenes`, in the mean; those of the processor, which other
    work disturbs less; and its frames as bytes.
    """
    scene = contact_scenes.SCENES[name]()
    cloth, state = build(scene.garments, settings)
    seconds, frames, began = np.zeros(len(TASKS)), [], time.process_time()
    for frame in range(1, scene.frames + 1):
        given = FrameInput(FRAME, scene.targets(frame), scene.colliders(frame), np.array([0.0, 0.0, -G]), np.zeros(3))
        told = advance(cloth, state, given, frame, settings).seconds
        seconds += [told[task] for task in TASKS]
        frames.append(state.x.tobytes())
    return seconds / scene.frames, (time.process_time() - began) / scene.frames, frames


def tasks() -> list[list]:
    """A line for each scene of table 1."""
    rows = []
    for name, (step, length, *theirs) in TABLE_1.items():
        with detecting() as found:
            seconds, spent, _ = seconds_of(name)
        frames = contact_scenes.SCENES[name]().frames
        integration, body, cloth, image = 100.0 * seconds / seconds.sum()
        search = min(100.0 * found[0] / (frames * seconds.sum()), cloth)
        shares = [f"{part:.0f} %" for part in (integration, image, search, body, cloth - search)]
        ours = f"{1000 * spent:.1f}", f"{spent / STEPS:.4f}", f"{spent / FRAME:.1f}"
        rows.append([name, *ours, *shares, step, f"{step / length:.0f}", *(f"{part} %" for part in theirs)])
    return rows


@contextmanager
def detecting():
    """Sum the seconds in which cloth is looked for near cloth."""
    detect, seconds = cloth_pairs.detect, [0.0]

    def timing(*given):
        began = time.perf_counter()
        found = detect(*given)
        seconds[0] += time.perf_counter() - began
        return found

    cloth_pairs.detect = timing
    try:
        yield seconds
    finally:
        cloth_pairs.detect = detect


def hashed() -> list[list]:
    """A line for each of `HASHED`: milliseconds a frame with neither hash nor hierarchy, with each, a frame with each by turns, and
    how many frames are not the same.
    """
    rows = []
    for name in HASHED:
        scene, states, spent, differ = contact_scenes.SCENES[name](), [], np.zeros(1 + len(BROAD_PHASES)), 0
        for _ in spent:
            cloth, state = build(scene.garments, FINAL)
            states.append(state)
        for frame in range(1, scene.frames + 1):
            given = FrameInput(
                FRAME, scene.targets(frame), scene.colliders(frame), np.array([0.0, 0.0, -G]), np.zeros(3)
            )
            for way, broad_phase in enumerate(("HASH", *BROAD_PHASES)):
                with comparing_all() if way == 0 else nullcontext():
                    began = time.process_time()
                    advance(cloth, states[way], given, frame, FINAL._replace(broad_phase=broad_phase))
                    spent[way] += (time.process_time() - began) * (frame > 1)  # in the first, code is loaded
            differ += len({state.x.tobytes() for state in states}) > 1
        rows.append([name, *(f"{1000 * seconds / (scene.frames - 1):.1f}" for seconds in spent), differ])
    return rows


@contextmanager
def comparing_all():
    """Have the broad phase by hash compare each box with each other in its place."""
    own = OVERLAPS["HASH"]

    def every(boxes, group, meets):
        pairs = each_with_each(boxes)
        return np.ascontiguousarray(pairs[meets[group[pairs[:, 0]], group[pairs[:, 1]]]], np.int32)

    OVERLAPS["HASH"] = every
    try:
        yield
    finally:
        OVERLAPS["HASH"] = own


def each_with_each(boxes: np.ndarray) -> np.ndarray:
    """Pairs of overlapping boxes (b, 6), found without hierarchy or hash; those of each box with all after it."""
    found = [np.zeros((0, 2), np.int64)]
    for first in range(len(boxes) - 1):
        others = boxes[first + 1 :]
        meet = (boxes[first, :3] <= others[:, 3:]).all(axis=1) & (others[:, :3] <= boxes[first, 3:]).all(axis=1)
        second = first + 1 + np.flatnonzero(meet)
        found.append(np.stack([np.full(len(second), first), second], axis=1))
    return np.concatenate(found)


def searched() -> list[list]:
    """A line for each of `HASHED`, half way through: processor milliseconds in which the triangles whose boxes overlap are found."""
    rows = []
    for name in HASHED:
        scene = contact_scenes.SCENES[name]()
        cloth, state = build(scene.garments, FINAL)
        for frame in range(1, scene.frames // 2):
            given = FrameInput(
                FRAME, scene.targets(frame), scene.colliders(frame), np.array([0.0, 0.0, -G]), np.zeros(3)
            )
            advance(cloth, state, given, frame, FINAL)
        corners, reach = state.x[cloth.triangles], 0.5 * cloth.thickness.max()
        boxes = np.concatenate([corners.min(axis=1) - reach, corners.max(axis=1) + reach], axis=1)
        alone = np.zeros(len(boxes), np.int32), np.ones((1, 1), np.bool_)
        ways = [lambda boxes, *_: each_with_each(boxes), *OVERLAPS.values()]
        pairs, milliseconds = zip(*(timed(way, boxes, *alone) for way in ways), strict=True)
        assert all(np.array_equal(pairs[0], other) for other in pairs[1:]), name
        rows.append([name, len(boxes), len(pairs[0]), *(f"{took:.2f}" for took in milliseconds)])
    return rows


def reached() -> list[list]:
    """A line for each of `HASHED` and each reach: time, pairs that a search finds, and what crosses in all frames."""
    rows = []
    for name in HASHED:
        cloth, _ = build(contact_scenes.SCENES[name]().garments, FINAL)
        for reach in REACHES:
            with found_pairs() as counts:
                _, seconds, frames = seconds_of(name, FINAL._replace(neighbour_reach=reach))
            crossed = [count_in(cloth, np.frombuffer(x).reshape(-1, 3), ()) for x in frames]
            crossings = sum(one.cloth_self + one.cloth_cloth for one in crossed)
            rows.append([name, reach, f"{1000 * seconds:.1f}", round(np.mean(counts)), crossings])
    return rows


@contextmanager
def found_pairs():
    """Note how many pairs each search for cloth near cloth finds."""
    detect, counts = cloth_pairs.detect, []

    def noting(*given):
        found = detect(*given)
        counts.append(len(found.pair_list.stencils))
        return found

    cloth_pairs.detect = noting
    try:
        yield counts
    finally:
        cloth_pairs.detect = detect


def timed(call, *given, times: int = 9):
    """What a call gives, and in how many milliseconds of the processor, at its quickest."""
    took = []
    for _ in range(times):
        began = time.process_time()
        given_back = call(*given)
        took.append(1000.0 * (time.process_time() - began))
    return given_back, min(took)


PARTS = {
    "impacts": (IMPACT_HEAD, impacts),
    "tasks": (TASK_HEAD, tasks),
    "hash": (HASH_HEAD, hashed),
    "search": (SEARCH_HEAD, searched),
    "reach": (REACH_HEAD, reached),
}


def main() -> int:
    """Print the tables that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS), help=f"of {', '.join(PARTS)}")
    chosen = parser.parse_args().only
    precompile.compile_kernels()
    for name in chosen:
        head, rows = PARTS[name]
        print("\n" + page.grid(head, rows()), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
