# SPDX-License-Identifier: GPL-3.0-or-later
"""What `bench.py` measured, as tables, a plot and the page benchmarks/results.md."""

import dynamics
import numpy as np
from page import about, grid
from simulate import BEST, DEFAULTS, OUTSIDE, PREVIEW, TAFFETA
from taffeta.solver.model import Settings

COLOURS = {TAFFETA: "tab:red", PREVIEW: "tab:orange", BEST: "tab:blue", DEFAULTS: "tab:gray"}
CORES = 4, 8, 16  # of the machines that times are foretold for
TITLE = "Sheets on a body: the frames that Blender at its best got to"
HEAD = (
    "scene", "self-collision", "vertices", "simulated by", "frames", "ms a frame", "worst ms", "worst stretch",
    "usual", "mean", "roughness", "self-crossings", "body crossings", "MB", "times Taffeta's", "times Preview's",
)  # fmt: skip
NOTES = """\
- **ms a frame**: from the second frame on. Taffeta's is the whole bake, reading the scene and writing the frames
  included; its solver was compiled before. Blender's is what showing a frame takes longer than without cloth.
- **Stretch** of the mesh's edges, length over length at rest less 1: the longest edge of all frames, the median of the
  frames' longest, the mean of all edges and frames.
- **Roughness**: the mean angle between neighbouring faces, in degrees, mean of the frames (docs/steps.md).
- **Crossings**: edges that go through a triangle, counted by ipctk in three or four frames of the shot; the most
  of a frame; of 40,000 vertices or more in the last frame alone. Where self-collision is off, nobody tries to avoid
  those of cloth with itself.
- **MB**: the most memory that the run took beyond what was in use before, by what Linux says is resident: Blender's own
  copies of mesh and frames are in it, for Taffeta as for Blender.
- **bytes a vertex**: all arrays of Taffeta's solver at the moment when there are most, by tracemalloc, while it builds
  the cloth and simulates the shot's last frame; not what it is given, which is garments and the frame's pose and bodies.
- **iterations** are those of the conjugate gradients; at most {iterations} a solve. A frame has {substeps} substeps with a solve
  each, and one more that looks what touches bodies.
- **GB, Gflop a frame**: estimated from the sizes of the solve's arrays (benchmarks/inside.py), as if nothing stayed in
  a cache. The machine's own are measured in the same run: adding arrays that no cache holds, on all cores, and
  the product of two matrices, which computes with vectors where the solve computes with single numbers.
- **times Taffeta's**, and Preview's: Blender's mean over Taffeta's, both over the frames that Blender got to: a run of
  Blender is ended after the frame in which its {patience:.0f} s are over, so its **frames** may be fewer.
- **{preview}**: {preview_substeps} substeps instead of {substeps}, in half as many small steps. **Taffeta** is Final quality, as installed.
- **{best}**: Taffeta's mass per area, quality 5, no air damping, and the distances of Taffeta's cloth and
  body, well under the length of an edge. **{defaults}**: 0.3 kg a vertex, 15 mm from itself, 35 mm from bodies.
- **{dynamics_best}**: the node asset of Blender 5.2 with Taffeta's mass, friction and distances, {dynamics_substeps} substeps instead
  of 5, limp cloth (Bendiness 1: at 0 folds are as hard as edges, and edges stretch more), and, but for the poncho, no damping.
  **{dynamics_defaults}**: as it comes, with its colliders. It knows no self-collision: beside Taffeta's with and
  without it are two runs of the same.
"""


def text(result):
    """What the terminal shows."""
    rows = result["rows"]
    ours = [row for row in rows if row["who"] == TAFFETA]
    parts = []
    if ours:
        parts += [grid(HEAD, map(_line, rows)), *map(_left_out, result["left_out"])]
        parts += [
            f"Where Taffeta's milliseconds go, mean of a frame; the solver's are all but {OUTSIDE}:\n",
            _tasks(ours),
        ]
        parts += [
            "Bodies' images, milliseconds of a frame by card and by processor, and who drew the bake's (docs/layers.md):\n",
            _images(ours),
        ]
        parts += ["What the solver takes, and its solve, mean of a frame:\n", _solves(ours, result["machine"])]
    more = *growth(rows), *scaling(result["threads"]), *_newer(result.get("newer"))
    return "\n".join([*parts, *limits(ours, result["machine"]), *more])


def _newer(result):
    """The table of another Blender, one that has Cloth Dynamics; nothing where none was asked."""
    if result:
        yield f"## Beside Cloth Dynamics\n\nThe same in a Blender that has it. {about(result['machine'])}"
        yield grid(HEAD, map(_line, result["rows"]))
        yield from map(_left_out, result["left_out"])


def _left_out(case):
    return (
        f"Left out: {case['who']}, {case['case']} {'with' if case['self_collision'] else 'without'} self-collision. Judged "
        f"by the sheet before, a frame would take {case['seconds']:.0f} s.\n"
    )


def _tasks(rows):
    times = [
        [*_scene(row), *(f"{x:.2f}" for x in (row["solver_milliseconds"], *row["tasks"].values()))] for row in rows
    ]
    return grid(["scene", "self-collision", "solver", *rows[0]["tasks"]], times)


def _images(rows):
    def line(row):
        drawn = row.get("images", {})
        times = (drawn.get(f"{side}_milliseconds") for side in ("card", "processor"))
        return [*_scene(row), *("" if time is None else f"{time:.2f}" for time in times), drawn.get("by", "")]

    return grid(["scene", "self-collision", "images by card", "by processor", "drawn by"], map(line, rows))


def _solves(rows, machine):
    head = (
        "scene", "self-collision", "bytes a vertex", "solves", "iterations of one", "at most", "ms", "GB", "GB/s",
        "of the machine's", "Gflop", "Gflop/s", "of the machine's",
    )  # fmt: skip
    lines = []
    for row in rows:
        solve, line = row["solve"], []
        for kind in ("bytes", "operations"):
            rate = solve[kind] / solve["milliseconds"] * 1000
            share = rate / machine[f"{kind}_a_second"]
            line += [f"{solve[kind] / 1e9:.3f}", f"{rate / 1e9:.2f}", f"{100 * share:.0f} %"]
        counts = f"{solve['solves']:.0f}", f"{solve['iterations']:.1f}", solve["iterations_most"]
        memory = round(row["solver_bytes"] / row["vertices"])
        lines.append([*_scene(row), memory, *counts, f"{solve['milliseconds']:.2f}", *line])
    return grid(head, lines)


def page(result):
    """The page benchmarks/results.md."""
    machine = result["machine"]
    substeps = {row["who"]: row["substeps"] for row in result["rows"] if "substeps" in row}
    names = {"best": BEST, "defaults": DEFAULTS, "preview": PREVIEW, "iterations": Settings().iterations}
    names |= {"dynamics_best": dynamics.BEST, "dynamics_defaults": dynamics.DEFAULTS}
    names |= {"dynamics_substeps": dynamics.SUBSTEPS}
    names |= {"substeps": substeps[TAFFETA], "preview_substeps": substeps[PREVIEW]}
    notes = NOTES.format(patience=machine["patience_seconds"], **names)
    title = "# Beside Blender's own cloth\n\nWritten by `make bench` (benchmarks/bench.py), which measures it anew.\n"
    return "\n".join(
        [title, about(machine), "![Milliseconds a frame over vertices](results.png)\n", text(result), notes]
    )


def plot(result, path):
    """Milliseconds a frame over vertices, of the sheets, both axes logarithmic; all over the same frames, if Blender's
    defaults got that far.
    """
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7.2, 5.0), dpi=110, layout="constrained")
    axes.set(xscale="log", yscale="log", xlabel="vertices", ylabel="milliseconds a frame", title=TITLE)
    reached = {_scene(row): row["frames"] - 1 for row in result["rows"] if row["who"] in (TAFFETA, BEST)}
    for who, colour in COLOURS.items():
        for alone, style in ((False, "o--"), (True, "o-")):
            rows = [r for r in result["rows"] if r["who"] == who and r["columns"] and r["self_collision"] == alone]
            x = [row["vertices"] for row in rows]
            y = [np.mean(row["milliseconds"]["each"][: reached[_scene(row)]]) for row in rows]
            label = f"{who}, {'with' if alone else 'without'} self-collision"
            axes.plot(x, y, style, color=colour, label=label, markersize=4)
    axes.axhline(1000 / 24, color="black", linewidth=0.6)
    axes.annotate("24 frames a second", (1.0, 1000 / 24), xycoords=("axes fraction", "data"), ha="right", va="bottom")
    axes.grid(alpha=0.3, which="both")
    axes.legend(fontsize=8)
    figure.savefig(path)
    plt.close(figure)


def _scene(row):
    if row.get("who") in (dynamics.BEST, dynamics.DEFAULTS):
        return row["case"], "none"
    return row["case"], "on" if row["self_collision"] else "off"


def _line(row):
    times, stretch, crossings, memory = (row[k] for k in ("milliseconds", "stretch", "crossings", "memory_megabytes"))
    return [
        *_scene(row), row["vertices"], row["who"], row["frames"], f"{times['mean']:.1f}", f"{times['worst']:.1f}",
        *(f"{100 * stretch[which]:.2f} %" for which in ("worst", "median_worst", "mean")),
        f"{row['roughness']:.1f}", crossings["self"], crossings["body"], "" if memory is None else f"{memory:.0f}",
        *([f"{ratio:.1f}" for ratio in row["ratios"]] if "ratios" in row else ["", ""]),
    ]  # fmt: skip


def growth(rows):
    """Sentences on how Taffeta's time grows with the vertices of the sheets on the sphere, over common frames."""
    for alone in (False, True):
        found = [r for r in rows if r["who"] == TAFFETA and "sphere" in r["case"] and r["self_collision"] == alone]
        if len(found) > 1:
            common = min(row["frames"] for row in found) - 1
            times = [np.mean(row["milliseconds"]["each"][:common]) for row in found]
            power = np.polyfit(np.log([row["vertices"] for row in found]), np.log(times), 1)[0]
            taken = [np.mean(row["solve"]["iterations_each"][:common]) for row in found]
            counts = ", ".join(
                f"{count:.1f} at {row['columns']}x{row['columns']}" for count, row in zip(taken, found, strict=True)
            )
            yield (
                f"{'With' if alone else 'Without'} self-collision, Taffeta's time for the sphere's first {common + 1} "
                f"frames grows as the number of vertices to the power {power:.2f}. Iterations of a solve in these "
                f"frames: {counts}.\n"
            )


def limits(rows, machine):
    """Sentences on what the machine can do, how much of it the solve of the largest sheet without self-collision makes use of, and
    how much faster all cores can be where memory is the limit.
    """
    sheets = [row for row in rows if row["columns"] and not row["self_collision"]] or rows
    if not sheets:
        return
    row, rates = sheets[-1], [machine[f"{kind}_a_second"] / 1e9 for kind in ("bytes", "operations")]
    solve = row["solve"]
    reached = [solve[kind] / solve["milliseconds"] / 1e6 for kind in ("bytes", "operations")]
    yield (
        f"This machine moves {rates[0]:.1f} GB/s between memory and all its cores and computes {rates[1]:.0f} Gflop/s. The "
        f"solve of {row['case']} passes over an estimated {solve['bytes'] / 1e9:.2f} GB a frame in "
        f"{solve['milliseconds']:.0f} ms: {reached[0]:.1f} GB/s, {100 * reached[0] / rates[0]:.0f} % of the bandwidth, and "
        f"{reached[1]:.1f} Gflop/s, {100 * reached[1] / rates[1]:.0f} % of the arithmetic. One core alone moves "
        f"{machine['bytes_a_second_of_one'] / 1e9:.1f} GB/s: what passes over memory, and not over caches, can be "
        f"{machine['bytes_a_second'] / machine['bytes_a_second_of_one']:.2f} times as fast on all cores.\n"
    )


def scaling(rows):
    """What more threads are worth, in a table: also than the machine has, by what of a frame runs on one whatever it has."""
    if not rows:
        return
    most = rows[0]["threads"]
    yield (
        f"The solver's milliseconds a frame with one thread and with {most}, each in a fresh process; what of it only one thread "
        f"does, by these two; and what {', '.join(map(str, CORES))} cores would take by that:\n"
    )
    head = "scene", "self-collision", "frames", "1 thread", f"{most} threads", "times as fast", "serial", *CORES
    yield grid(head, map(_with_threads, rows))


def _with_threads(row):
    """A line of that table: of t ms a part s is serial, so that n threads take s + (t - s) / n (Amdahl 1967)."""
    one, many, threads = row["milliseconds_of_one"], row["milliseconds"], row["threads"]
    serial = min(max((threads * many - one) / (threads - 1), 0.0), one)
    expected = [serial + (one - serial) / cores for cores in CORES]
    figures = f"{one:.1f}", f"{many:.1f}", f"{one / many:.2f}", f"{serial:.1f}", *(f"{each:.1f}" for each in expected)
    return [*_scene(row), row["frames"], *figures]
