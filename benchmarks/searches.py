# SPDX-License-Identifier: GPL-3.0-or-later
"""What finds triangles of bodies: the bake's image beside Bargmann's (2003, 3.2 to 3.4): `python benchmarks/searches.py [--write]`.

First the images alone: a torus of 3,200 triangles, and 20,000 points within 5 mm of it. Of each image what it takes to draw, what a
point takes to ask, how many points find no triangle, or one that is over a millimetre farther away than the closest.

Then shots, by each *Body Search* and in both qualities: a sheet that comes to rest on the torus, and one onto which five thin rods
rise and turn. Processor time of a frame, crossings with the body by ipctk in the worst frame and in the last, and the
longest edge.

Then the same shots by the bake's own image in several sizes: what finer pixels can spare contact, and what drawing them takes. No
finer image over thin parts can spare more (7.4). --thin measures that alone. --write puts the tables into docs/layers.md.
Two minutes.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests" / "solver")]

from crossings import count_in  # noqa: E402
from sheets import GRAVITY, sheet  # noqa: E402
from solids import box, torus  # noqa: E402
from taffeta.solver.build import build  # noqa: E402
from taffeta.solver.contact.frame import BODY_TIME, IMAGE_TIME  # noqa: E402
from taffeta.solver.kernel import stopwatch  # noqa: E402
from taffeta.solver.ldi.centres import THREE_DIRECTIONS, THREE_FULL, render  # noqa: E402
from taffeta.solver.ldi.grown import dilate, pair, stretch  # noqa: E402
from taffeta.solver.ldi.rasterise import render_motion, resting  # noqa: E402
from taffeta.solver.ldi.search import find  # noqa: E402
from taffeta.solver.model import BODY_SEARCHES, Collider, FrameInput, Settings  # noqa: E402
from taffeta.solver.step import advance  # noqa: E402

PAGE, MARKS = ROOT / "docs" / "layers.md", ("<!-- made by benchmarks/searches.py -->\n", "<!-- end of searches -->\n")
THIN_MARKS = "<!-- sizes made by benchmarks/searches.py -->\n", "<!-- end of sizes -->\n"
SIZES = 16, 32, 64, 128, 256, 512  # pixels
REACH, ASKED = 0.005, 20_000  # [m] of points from the surface; how many there are
ROUNDS = 15  # images, of which the quickest counts
FARTHER = 1e-3  # [m] from which on another triangle than the closest is a wrong one


def ways(x, triangles, pixels: int):
    """Name, what draws it, and whether it is of sticks, of each image."""
    about, every = (x, triangles, x.min(0) - REACH, x.max(0) + REACH, pixels), np.arange(len(triangles), dtype=np.int32)
    room, side = resting(x)._replace(deviation=np.full(len(x), REACH)), float(np.ptp(x, axis=0).max()) / pixels

    def grown():
        wide = dilate(pair(render(*about, 2)), 2)
        return stretch(wide, wide.pixel)

    yield "footprints, the bake's own", lambda: render_motion(room, triangles, every, *about[2:]), False
    yield "one, dilated, stretched, merged (3.2)", grown, True
    yield "three full, stretched (3.3)", lambda: stretch(pair(render(*about, THREE_FULL)), side), True
    yield (
        "each triangle once, short sticks (3.4)",
        lambda: stretch(pair(render(*about, THREE_DIRECTIONS), each=True), side),
        True,
    )


def points_near(x, triangles) -> np.ndarray:
    """(p, 3) [m] within REACH of the surface, everywhere alike."""
    rng = np.random.default_rng(5)
    corner = x[triangles]
    normal = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    area = np.linalg.norm(normal, axis=1)
    chosen = rng.choice(len(triangles), ASKED, p=area / area.sum())
    place = np.einsum("pk,pkx->px", rng.dirichlet(np.ones(3), ASKED), corner[chosen])
    return place + rng.uniform(-REACH, REACH, (ASKED, 1)) * (normal / area[:, None])[chosen]


def away(x, triangles, found, points) -> np.ndarray:
    """[m] (p,) of each point from the triangle that it has found: inf where none."""
    from scipy.optimize import nnls  # of a point's place on a triangle: weights that are not negative and add up to one

    distance = np.full(len(points), np.inf)
    for p in np.flatnonzero(found >= 0):
        corner = x[triangles[found[p]]]
        weight = nnls(np.vstack([corner.T, 1e3 * np.ones(3)]), np.append(points[p], 1e3))[0]
        distance[p] = np.linalg.norm(weight @ corner - points[p])
    return distance


def images() -> str:
    """The table of images."""
    x, triangles = torus()
    x = 0.42 / 0.6 * x
    points = points_near(x, triangles)
    lines = ["| pixels | image | drawn [ms] | asked [µs a point] | find none | find a wrong one |", f"|{' --- |' * 6}"]
    for pixels in (32, 64, 128):
        least = None
        for name, draw, sticks in ways(x, triangles, pixels):
            image, drawn, asked = draw(), np.inf, np.inf
            found = find(image, x, triangles, points, sticks)
            for _ in range(ROUNDS):
                began = time.process_time()
                draw()
                between = time.process_time()
                find(image, x, triangles, points, sticks)
                drawn, asked = min(drawn, between - began), min(asked, time.process_time() - between)
            distance = away(x, triangles, found, points)
            least = distance if least is None else least
            wrong = ((found >= 0) & (distance > least + FARTHER)).mean()
            numbers = f"{1e3 * drawn:.2g} | {1e6 * asked / ASKED:.2g} | {(found < 0).mean():.1%} | {wrong:.1%}"
            lines.append(f"| {pixels} | {name} | {numbers} |")
    return "\n".join(lines) + "\n"


def on_torus(frame):
    """A torus that stands still."""
    x, triangles = torus()
    return Collider("Torus", np.stack([0.42 / 0.6 * x] * 2), triangles, 0.3, 0.0, 0.003)


def rods(frame):
    """Five rods of 12 mm that rise by 0.4 m/s and turn by 1.5 rad/s."""
    solids, x = [box((0.5, 0.012, 0.012), (0.0, 0.09 * k, -0.05)) for k in range(-2, 3)], []
    for moment in (frame - 1, frame - 0.5, frame):
        turn, rise = 1.5 * moment / 24, min(0.4 * moment / 24, 0.35)
        c, s = np.cos(turn), np.sin(turn)
        matrix = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        x.append(np.concatenate([each[0] @ matrix.T + [0.0, 0.0, rise] for each in solids]))
    triangles = np.concatenate([each[1] + 8 * k for k, each in enumerate(solids)])
    return Collider("Rods", np.stack(x), triangles.astype(np.int32), 0.3, 0.0, 0.003)


SHOTS = {"torus": (on_torus, 0.2, 48), "rods": (rods, 0.0, 30)}  # the body, the sheet's height [m], frames


def shot(name: str, search: str, final: bool) -> str:
    """Figures of a shot."""
    body, height, frames = SHOTS[name]
    settings = Settings(body_search=search, guard_bodies=final)
    cloth, state = build([sheet("Sheet", 41, 41, 0.02, lambda x: x + [0.0, 0.0, height])], settings)
    target, counts, spent, stretch_most = state.x + cloth.origin, [], [], 0.0
    for frame in range(1, frames + 1):
        given = FrameInput(1 / 24, target[None].repeat(2, 0), (body(frame),), GRAVITY, np.zeros(3))
        report = advance(cloth, state, given, frame, settings)
        spent.append(sum(report.seconds.values()))
        counts.append(count_in(cloth, state.x, given.colliders).cloth_body)
        stretch_most = max(stretch_most, report.worst_stretch)
    return f"{1e3 * np.median(spent):.0f} | {max(counts)} | {counts[-1]} | {stretch_most:.1%}"


def shots() -> str:
    """The table of shots."""
    lines = ["| shot | quality | Body Search | frame [ms] | crossings, worst | last | stretch |", f"|{' --- |' * 7}"]
    for name in SHOTS:
        for final in (True, False):
            for search in BODY_SEARCHES:
                quality = "Final" if final else "without guard"
                lines.append(f"| {name} | {quality} | `{search}` | {shot(name, search, final)} |")
                print(lines[-1], flush=True)
    return "\n".join(lines) + "\n"


def thin() -> str:
    """The table of sizes: medians of contact with bodies without their images, and of these."""
    lines = ["| shot | pixels | pixel [mm] | contact [ms a frame] | images [ms a frame] | both |", f"|{' --- |' * 6}"]
    for name, (body, height, frames) in SHOTS.items():
        for pixels in SIZES:
            settings, spent = Settings(ldi_resolution=pixels), []
            cloth, state = build([sheet("Sheet", 41, 41, 0.02, lambda x, h=height: x + [0.0, 0.0, h])], settings)
            target = state.x + cloth.origin
            for frame in range(1, frames + 1):
                given = FrameInput(1 / 24, target[None].repeat(2, 0), (body(frame),), GRAVITY, np.zeros(3))
                seconds = advance(cloth, state, given, frame, settings).seconds
                spent.append((1e3 * seconds[BODY_TIME], 1e3 * seconds[IMAGE_TIME]))
            contact, image = np.median(spent[frames // 3 :], axis=0)
            lines.append(
                f"| {name} | {pixels} | {800 / pixels:.3g} | {contact:.3g} | {image:.2g} | {contact + image:.3g} |"
            )
            print(lines[-1], flush=True)
    return "\n".join(lines) + "\n"


def put(text: str, marks: tuple[str, str]) -> None:
    """Replace what stands between two marks of docs/layers.md."""
    before, rest = PAGE.read_text(encoding="utf-8").split(marks[0])
    PAGE.write_text(before + marks[0] + text + marks[1] + rest.split(marks[1])[1], encoding="utf-8")


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--thin", action="store_true", help="only sizes of the image")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/layers.md")
    chosen = parser.parse_args()
    stopwatch.perf_counter = time.process_time  # other programs may be busy meanwhile
    if not chosen.thin:
        text = images() + "\n" + shots()
        print(text)
        if chosen.write:
            put(text, MARKS)
    text = thin()
    if chosen.write:
        put(text, THIN_MARKS)


if __name__ == "__main__":
    main()
