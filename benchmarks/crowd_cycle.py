# SPDX-License-Identifier: GPL-3.0-or-later
"""A heap that is fed: `nice .venv/bin/python benchmarks/crowd_cycle.py [--shirts 60 --every 45]`.

A T-shirt falls into a bowl that turns to and fro every 45 frames, up to sixty (Buffet 2021, figure 3.5); then the bowl
stops, and the heap comes to rest. Prints a row before each shirt and every so many frames at rest: crossings by ipctk,
the longest edge, the mean speed, the processor's time a frame. What is printed stays when the run is cut short, and with
--keep FILE the heap is written after each shirt, and the run goes on from there when it is called again: sixty shirts take
hours. Writes a picture after each tenth shirt and in the end where --picture says, nothing else.
"""

import argparse
import math
import os
import sys
import time
from pathlib import Path

import numpy as np

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parent.parent / "tests" / "solver")]

import crowd  # noqa: E402
import taffeta.solver.step as step  # noqa: E402
from crossings import count_in  # noqa: E402
from taffeta.presets.scenes import solids  # noqa: E402
from taffeta.solver.build import build  # noqa: E402
from taffeta.solver.contact.cloth import easing, pairs  # noqa: E402
from taffeta.solver.contact.cloth.response import NO_BRACE  # noqa: E402
from taffeta.solver.model import CLOTH_CONTACTS, Collider, FrameInput, Settings  # noqa: E402

DROP = 0.15  # [m] over the heap that a shirt begins
REACH = 0.62  # [m] of a shirt from its middle, with room: so wide the bowl is where one begins
SAMPLES = 5  # of the bowl in a frame
TURN = 1.2  # [rad] to either side
PERIOD = 96.0  # [frames] to and fro
EASE_STEPS = 10  # in a frame


class Heap:
    """Garments that have fallen, and more that come."""

    def __init__(self, settings, radius):
        self.settings, self.bowl = settings, solids.bowl_mesh(radius, around=64)
        self.low = -math.sqrt(radius**2 - REACH**2)  # [m]
        self.rng, self.garments, self.frame, self.turned = np.random.default_rng(7), [], 0, 0.0
        self.cloth = self.state = None

    def add(self):
        """One more shirt, over all others; these go on where they are."""
        shirt = crowd.shirt(0, self.rng)
        x, v = self.places(), np.empty((0, 3)) if self.state is None else self.state.v
        # over what lies in the middle, where it falls
        near = x[np.linalg.norm(x[:, :2], axis=1) < 0.4, 2] if len(x) else x[:, 2]
        low = max(float(near.max(initial=-np.inf)), self.low - DROP)
        shirt.x_start[:, 2] += low + DROP - shirt.x_start[:, 2].min()
        ends = np.cumsum([0, *(len(garment.x) for garment in self.garments)])
        fallen = [g._replace(x_start=x[a:b]) for g, a, b in zip(self.garments, ends[:-1], ends[1:], strict=True)]
        self.garments = [*fallen, shirt._replace(name=f"Shirt {len(fallen) + 1}")]
        self.cloth, self.state = build(self.garments, self.settings)
        self.state.v[: len(v)] = v

    def keep(self, path):
        """Write what the next shirt finds."""
        with open(f"{path}.part", "wb") as file:
            np.savez(
                file, x=self.places(), v=self.state.v, shirts=len(self.garments), frame=self.frame, turned=self.turned
            )
        os.replace(f"{path}.part", path)

    def take_up(self, path):
        """Go on from what `keep` has written by the same settings; the shirts are drawn by lot as they were."""
        with np.load(path, allow_pickle=False) as kept:
            self.garments = [
                crowd.shirt(0, self.rng)._replace(name=f"Shirt {k + 1}") for k in range(int(kept["shirts"]))
            ]
            ends = np.cumsum([0, *(len(garment.x) for garment in self.garments)])
            self.garments = [
                g._replace(x_start=kept["x"][a:b]) for g, a, b in zip(self.garments, ends[:-1], ends[1:], strict=True)
            ]
            self.cloth, self.state = build(self.garments, self.settings)
            self.state.v[:] = kept["v"]
            self.frame, self.turned = int(kept["frame"]), float(kept["turned"])

    def places(self):
        """(n, 3) [m] in the world."""
        return np.empty((0, 3)) if self.state is None else self.state.x + self.cloth.origin

    def advance(self, still):
        """A frame of 1/24 s, with the bowl where it is or turning; returns its report and the processor's seconds."""
        self.frame += 1
        before, self.turned = self.turned, self.turned + (0.0 if still else 1.0)
        points, triangles = self.bowl
        poses = []
        for at in np.linspace(before, self.turned, SAMPLES):
            angle = TURN * np.sin(2.0 * np.pi * at / PERIOD)
            c, s = np.cos(angle), np.sin(angle)
            poses.append(points @ np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]]))
        body = Collider("Bowl", np.stack(poses), triangles.astype(np.int32), 0.6, 0.0, 0.005)
        targets = np.broadcast_to(self.places(), (2, *self.state.x.shape))
        given = FrameInput(1 / 24, targets, (body,), crowd.GRAVITY, np.zeros(3))
        start = time.process_time()
        report = step.advance(self.cloth, self.state, given, self.frame, self.settings)
        return report, time.process_time() - start


def ease(heap):
    """Ease what crosses apart between two frames (Buffet 2021, 2.5.5, untangles in each), as a bake by pairs does in it."""
    cloth, x, dt = heap.cloth, heap.state.x, 1 / 24 / EASE_STEPS
    tangles = pairs.detect(cloth, x, np.zeros_like(x), dt, Settings()).tangles
    if tangles is None or not len(tangles.near):
        return
    wanted = easing.sides_in(tangles, cloth, x)
    for _ in range(EASE_STEPS):
        if easing.ease(tangles, cloth, x, x.copy(), dt, NO_BRACE, wanted) is None:
            break


def tell(heap, rows, what):
    """Print how the heap is, after frames with these rows of (longest edge, seconds)."""
    worst, seconds = np.array(rows).T
    crossings = count_in(heap.cloth, heap.state.x)
    speed = float(np.linalg.norm(heap.state.v, axis=1).mean())
    print(
        f"| {heap.frame} | {what} | {len(heap.garments)} | {len(heap.cloth.triangles):,} | {crossings.cloth_cloth:,} | "
        f"{crossings.cloth_self:,} | {100 * worst.max():.0f} % | {1000 * speed:.0f} | {seconds.mean():.2f} |",
        flush=True,
    )
    return crossings


def main() -> int:
    """Feed the heap, then let it rest; prints a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shirts", type=int, default=60)
    parser.add_argument("--every", type=int, default=45, help="frames between two shirts")
    parser.add_argument("--rest", type=int, default=180, help="frames after the bowl has stopped")
    parser.add_argument("--told", type=int, default=15, help="frames between two rows at rest")
    parser.add_argument("--radius", type=float, default=1.0, help="of the bowl [m]")
    parser.add_argument("--still", action="store_true", help="a bowl that never turns")
    parser.add_argument("--contact", default="VELOCITY_FIELD", choices=CLOTH_CONTACTS)
    parser.add_argument("--ease", action="store_true", help="what crosses apart after each frame at rest")
    parser.add_argument("--without-s", action="store_true", help="nothing that is too dense moves apart (figure 3.8)")
    parser.add_argument("--picture", metavar="FILE")
    parser.add_argument("--keep", metavar="FILE", help="the heap after each shirt, to go on from")
    arguments = parser.parse_args()
    if arguments.without_s:
        crowd.leave_dense()
    heap = Heap(Settings(cloth_contact=arguments.contact, substeps=10), arguments.radius)
    print(
        "| frame | bowl | shirts | triangles | crossings between | with themselves | longest edge | mm/s | CPU s a frame |"
    )
    print("| --- " * 9 + "|")

    def go(count, still, what):
        rows = []
        for _ in range(count):
            report, seconds = heap.advance(still)
            rows.append((report.worst_stretch, seconds))
            if still and arguments.ease:
                ease(heap)
        tell(heap, rows, what)

    if arguments.keep and Path(arguments.keep).exists():
        heap.take_up(arguments.keep)
    for k in range(len(heap.garments), arguments.shirts):
        heap.add()
        go(arguments.every, arguments.still, "still" if arguments.still else "turns")
        if arguments.picture and k % 10 == 9:
            crowd.draw(heap.cloth, heap.state, arguments.picture)
        if arguments.keep:
            heap.keep(arguments.keep)
    for _ in range(0, arguments.rest, arguments.told):
        go(arguments.told, True, "still")
    if arguments.picture:
        crowd.draw(heap.cloth, heap.state, arguments.picture)
    return 0


if __name__ == "__main__":
    sys.exit(main())
