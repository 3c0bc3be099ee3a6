# SPDX-License-Identifier: GPL-3.0-or-later
"""Avoidance by a velocity field beside the thesis: `.venv/bin/python benchmarks/crowd.py [--shirts 2 6 ...]`.

T-shirts of about 6,000 triangles fall into a bowl that turns to and fro (Buffet 2021, figures 3.5 and 3.13; there on
four cores, 50 to 100 ms a frame at 10,000 triangles, 8 s at 350,000). Prints for each number of shirts the time of the
avoidance in a frame (wall and processor, the least of five times the last frame), that of the whole frame,
crossings by ipctk, stretch, the fastest particle and the crowded cells of a substep, and how the time grows with the
triangles. --cell several times is the study of the cells' size (figures 3.10 to 3.12), --without-s that of the term s (figure
3.8). Writes a picture of the last heap where --picture says, a plot of the processor's time over triangles where --plot
does, nothing else.
"""

import argparse
import itertools
import os
import sys
import time
from pathlib import Path

import numpy as np

sys.path[:0] = [str(Path(__file__).resolve().parent.parent / "tests" / "solver")]

import taffeta.solver.step as step  # noqa: E402
from crossings import count_in, edges_of  # noqa: E402
from taffeta.presets.scenes import solids, tshirt  # noqa: E402
from taffeta.solver.build import build  # noqa: E402
from taffeta.solver.contact.frame import CLOTH_TIME  # noqa: E402
from taffeta.solver.model import CLOTH_CONTACTS, Collider, FrameInput, Garment, Settings  # noqa: E402
from taffeta.solver.parts import copied, put_back  # noqa: E402
from taffeta.solver.velocity_field import avoid  # noqa: E402
from taffeta.solver.velocity_field.avoid import VelocityField  # noqa: E402

RADIUS, GAP = 0.6, 0.10  # [m] of the bowl, and between shirts as they start
REPEATS = 5  # times that the last frame is taken: other work on the machine only makes it longer
GRAVITY = np.array([0.0, 0.0, -9.81])


def leave_dense():
    """Let nothing that is too dense move apart, in all fields from now on: what stands for s of eq. 3.6 (figure 3.8)."""
    avoid.EASED_STRAIN = 0.0


def shirt(number, rng):
    """A T-shirt over the bowl, turned and tilted by chance, the higher the larger its number."""
    points, triangles, uv = tshirt.make()
    points = points - points.mean(axis=0)
    turn, tilt = rng.uniform(0.0, 2.0 * np.pi), rng.normal(0.0, 0.03)
    c, s = np.cos(turn), np.sin(turn)
    points = points @ np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]])
    points[:, 2] += np.sin(tilt) * points[:, 0]
    points += [*rng.uniform(-0.1, 0.1, 2), GAP * number - 0.25]
    numbers = dict(mass=0.16, thickness=0.0015, stretch_stiffness=600.0, shear_stiffness=60.0, bending_stiffness=6e-6)
    numbers |= dict(damping=1.0, friction=0.3, pin=0.0, pin_distance=np.inf)
    arrays = {name: np.full(len(points), value) for name, value in numbers.items()}
    triangles = triangles.astype(np.int32)
    return Garment(
        f"Shirt {number + 1}", points, points.copy(), triangles, np.empty((0, 4), np.int32),
        edges_of(triangles).astype(np.int32), uv, layer=0, self_collision=True, **arrays,
    )  # fmt: skip


def bowl(frame):
    """The bowl over a frame of 1/24 s: it turns about its axis to and fro, once in four seconds."""
    points, triangles = solids.bowl_mesh(RADIUS, around=64)
    poses = []
    for at in np.linspace(frame - 1, frame, 5):
        angle = 1.2 * np.sin(2.0 * np.pi * at / 96.0)
        c, s = np.cos(angle), np.sin(angle)
        poses.append(points @ np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]]))
    return Collider("Bowl", np.stack(poses), triangles.astype(np.int32), 0.6, 0.0, 0.005)


def measure(count, frames, settings, picture):
    """Run the scene; returns figures of its second half and prints a row."""
    rng = np.random.default_rng(7)
    cloth, state = build([shirt(k, rng) for k in range(count)], settings)
    clock, crowded, respond = np.zeros(2), [], VelocityField.respond

    def timed(*arguments):
        start = np.array([time.perf_counter(), time.process_time()])
        result = respond(*arguments)
        clock[:] += np.array([time.perf_counter(), time.process_time()]) - start
        crowded.append(result)
        return result

    VelocityField.respond = timed
    rows, crossings, worst, fastest = [], [], 0.0, 0.0
    targets = np.broadcast_to(state.x + cloth.origin, (2, *state.x.shape))
    for frame in range(1, frames + 1):
        given = FrameInput(1 / 24, targets, (bowl(frame),), GRAVITY, np.zeros(3))
        before = copied(state)
        for _ in range(REPEATS if frame == frames else 1):
            put_back(state, before)
            clock[:] = 0.0
            start = time.perf_counter()
            report = step.advance(cloth, state, given, frame, settings)
            rows.append((*clock, report.seconds[CLOTH_TIME], time.perf_counter() - start))
        worst = max(worst, report.worst_stretch)
        if frame > frames // 2:
            fastest = max(fastest, float(np.abs(state.v).max()))
            if frame % 4 == 0 or frame == frames:
                crossings.append(count_in(cloth, state.x))
    VelocityField.respond = respond
    wall, busy, contact, whole = 1e3 * np.min(rows[-REPEATS:], axis=0)
    print(
        f"| {settings.cloth_contact} | {settings.field_cell:g} | {count} | {len(cloth.triangles):,} | {wall:.1f} | {busy:.1f} | {contact:.0f} | "
        f"{whole:.0f} | {np.mean([c.cloth_cloth for c in crossings]):.0f} | "
        f"{np.mean([c.cloth_self for c in crossings]):.0f} | {100 * worst:.0f} % | {fastest:.1f} | {np.mean(crowded or [0]):,.0f} |",
        flush=True,
    )
    if picture:
        draw(cloth, state, picture)
    return len(cloth.triangles), busy


def draw(cloth, state, path):
    """A picture of the heap, cut open by nothing, as seen from above its rim."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    axes = plt.figure(figsize=(10, 8)).add_subplot(projection="3d")
    for k in range(len(cloth.garment_start) - 1):
        own = cloth.triangles[cloth.garment[cloth.triangles[:, 0]] == k]
        axes.plot_trisurf(*state.x.T, triangles=own, color=plt.cm.tab20(k % 20), linewidth=0.0)
    axes.set_box_aspect(np.ptp(state.x, axis=0))
    axes.view_init(35, -60)
    plt.savefig(path, dpi=80)


def plot(measured, path):
    """The field's time over the number of triangles, and the line through it, after figure 3.13 of the thesis."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    triangles, busy = np.array(measured).T
    slope = float((triangles * busy).sum() / (triangles**2).sum())
    figure, axes = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
    axes.plot(triangles / 1e3, busy, "o", color="#1f4e79", label="measured, one thread, ten substeps a frame")
    ends = np.array([0.0, 1.05 * triangles.max()])
    axes.plot(ends / 1e3, slope * ends, color="#1f4e79", alpha=0.5, label=f"{1e3 * slope:.2f} ms per 1,000 triangles")
    axes.set_xlabel("triangles [thousands]")
    axes.set_ylabel("velocity field [ms of processor time a frame]")
    axes.set_xlim(0.0)
    axes.set_ylim(0.0)
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    figure.savefig(path, dpi=110)


def main() -> int:
    """Run all numbers of shirts; prints a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shirts", type=int, nargs="+", default=[2, 4, 8, 16], metavar="N")
    parser.add_argument("--frames", type=int, default=48)
    parser.add_argument("--contact", nargs="+", default=["VELOCITY_FIELD"], choices=CLOTH_CONTACTS)
    parser.add_argument(
        "--cell",
        type=float,
        nargs="+",
        default=[Settings().field_cell],
        help="sides of a cell in mean edges, one after the other",
    )
    parser.add_argument("--isotropic", action="store_true", help="no divergence in any direction, to compare")
    parser.add_argument("--without-s", action="store_true", help="nothing that is too dense moves apart, to compare")
    parser.add_argument("--picture", metavar="FILE")
    parser.add_argument("--plot", metavar="FILE", help="of the last method")
    arguments = parser.parse_args()
    if arguments.without_s:
        leave_dense()
    print(f"{os.cpu_count()} cores; avoidance, contact and frame in ms; cells in mean edges\n")
    print(
        "| method | cell | shirts | triangles | avoidance | its CPU | contact | frame | crossings | self | stretch | m/s | crowded |"
    )
    print("| --- " * 13 + "|")
    for contact, cell in itertools.product(arguments.contact, arguments.cell):
        settings = Settings(cloth_contact=contact, field_cell=cell, substeps=10)
        settings = settings._replace(field_isotropic=arguments.isotropic)
        measured = [measure(count, arguments.frames, settings, arguments.picture) for count in arguments.shirts]
        if len(measured) > 1 and measured[0][1] > 0.0:
            growth = np.polyfit(*np.log(np.array(measured)).T, 1)[0]
            print(f"\n{contact}: the time grows with triangles to the power of {growth:.2f}\n")
    if arguments.plot:
        plot(measured, arguments.plot)
    return 0


if __name__ == "__main__":
    sys.exit(main())
