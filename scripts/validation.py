# SPDX-License-Identifier: GPL-3.0-or-later
"""Ours over theory: runs the solver on problems with a known answer, and writes docs/validation.md with its plots.

python scripts/validation.py     a few minutes; needs matplotlib (requirements/blender-4.5.txt)
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq, root
from scipy.special import ellipk

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "solver"))

import naive  # noqa: E402
import strips  # noqa: E402
import triangulated  # noqa: E402
from taffeta.solver.build import build  # noqa: E402
from taffeta.solver.integrate.explicit import METHODS, march  # noqa: E402
from taffeta.solver.model import DYNAMICS, EXPLICIT, Settings  # noqa: E402
from taffeta.solver.step import advance  # noqa: E402

G = 9.81
VACUUM = Settings(air_drag=0.0, sleep_speed=0.0)
CRITICAL = 12.854 * np.sqrt(2.0)  # weight of a narrow strip at which it falls over (Timoshenko and Gere 1961)
IMAGES = ROOT / "docs" / "images"
COLOURS = dict(zip(DYNAMICS, plt.get_cmap("tab20").colors[::2] + plt.get_cmap("Set2").colors[:5], strict=True))


def label(name):
    """As the menu calls it, or nearly so."""
    told = {"XPBD": "Linearly Implicit", "RK4": "RK4", "ADAPTIVE_RK4": "Adaptive RK4", "THETA": "Explicit Theta"}
    return told.get(name) or name.replace("_", " ").title()


def axes(title, x, y, **scales):
    """A figure with one plot."""
    figure, plot = plt.subplots(figsize=(7.2, 4.6), dpi=110, layout="constrained")
    plot.set(title=title, xlabel=x, ylabel=y, **scales)
    plot.grid(alpha=0.3)
    return figure, plot


def save(figure, name):
    """The plot's file, and the line that shows it."""
    figure.savefig(IMAGES / f"validation_{name}.png")
    plt.close(figure)
    return f"![{name.replace('_', ' ')}](images/validation_{name}.png)\n"


def table(head, rows):
    """Lines of a table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines) + "\n"


def at_rest(cloth, state, frame_input, settings, frames=250, slowing=0.8):
    """Frames until nothing moves; velocities are cut in each, which leaves the equilibrium where it is."""
    for frame in range(frames):
        before = state.x.copy()
        advance(cloth, state, frame_input, frame, settings)
        state.v[:] *= slowing
        if frame > 20 and np.abs(state.x - before).max() < 1e-6:
            break
    return state.x + cloth.origin


def hanging_ball(direction, stiffness, **changes):
    """A ball on a thread of 1 m from a pinned triangle, in `direction`; particle 3."""
    return naive.garment(
        [[0, 0, 0], [1, 0, 0], [0, 1, 0], direction], [[0, 1, 2]], edges=[[0, 1], [1, 2], [0, 2], [0, 3]],
        pin=[1, 1, 1, 0], stretch_stiffness=stiffness, damping=0.0, **changes,
    )  # fmt: skip


def spring_pendulum(settings):
    """Where the ball is after 0.5 s on a thread of 2 N/m, and its mass."""
    cloth, state = build([hanging_ball([0.6, 0, -0.8], 2.0, mass=0.3)], settings)
    target = state.x + cloth.origin
    for frame in range(12):
        advance(cloth, state, naive.still(target), frame, settings)
    return state.x[3] + cloth.origin, cloth.mass[3]


def orders():
    """Error over step, and its slope, of every choice in the whole step."""
    mass = spring_pendulum(VACUUM)[1]

    def acceleration(x, v, t):
        length = np.linalg.norm(x)
        return -2.0 * (length - 1.0) / mass * x / length - [0, 0, G]

    exact = march("RK4", np.array([0.6, 0, -0.8]), np.zeros(3), acceleration, 0.0, 0.5, 20_000)[0]
    figure, plot = axes(
        "Spring pendulum after 0.5 s", "substep [s]", "error of the place [m]", xscale="log", yscale="log"
    )
    rows, counts = [], (5, 10, 20, 40)
    for name in DYNAMICS:
        settings = VACUUM._replace(dynamics=name, tolerance=1e-8, iterations=20, theta=0.5)
        errors = []
        for count in counts:
            if name in EXPLICIT:  # one start, `count` steps in a frame, so that Gear gets to use its past
                x = march(name, np.array([0.6, 0, -0.8]), np.zeros(3), acceleration, 0.0, 0.5, 12 * count)[0]
            else:
                x = spring_pendulum(settings._replace(substeps=count))[0]
            errors.append(float(np.linalg.norm(x - exact)))
        told = [k for k, error in enumerate(errors) if error > 1e-12]  # below it is rounding
        slope = np.polyfit(np.log(np.array(counts)[told]), -np.log(np.array(errors)[told]), 1)[0]
        plot.plot([1 / 24 / c for c in counts], errors, "o-", color=COLOURS[name], label=f"{label(name)}: {slope:.2f}")
        order = {
            "RK4": 4,
            "ADAPTIVE_RK4": 4,
            "GEAR": 5,
            "XPBD": 1,
            "IMPLICIT_EULER": 1,
            "EULER": 1,
            "SYMPLECTIC_EULER": 1,
        }.get(name, 2)
        rows.append([label(name), order, f"{slope:.2f}", f"{errors[-1]:.1e}"])
    plot.legend(title="slope", fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return save(figure, "orders") + "\n" + table(["dynamics", "order", "slope", "error at 1/960 s [m]"], rows)


def energies():
    """Energy of an oscillator over 1,000 periods of 25 steps."""
    figure, plot = axes("Oscillator, 25 steps a period", "periods", "energy over energy at the start",
                        ylim=(0.85, 1.25), xscale="log")  # fmt: skip
    rows, h = [], 2 * np.pi / 25
    for name in EXPLICIT:
        x, v, past, energy = np.array([1.0]), np.array([0.0]), None, []
        for number in range(25_000):
            x, v, past = METHODS[name](x, v, lambda x, v, t: -x, number * h, h, past)
            energy.append(float(x[0] ** 2 + v[0] ** 2))
            if not energy[-1] < 1e6:
                break
        period = np.convolve(energy, np.ones(25) / 25, "valid")
        plot.plot(1 + np.arange(len(period)) / 25, period, color=COLOURS[name], label=label(name))
        lasting = len(energy) == 25_000
        end = f"{period[-1] / period[0] - 1:+.1e}" if lasting else f"runs away in {len(energy) // 25} periods"
        rows.append([label(name), end])
    plot.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return save(figure, "energy") + "\n" + table(["method", "change of the energy in 1,000 periods"], rows)


def catenaries():
    """Strips of 40 elements between lines 1 m apart."""
    figure, plot = axes("Strips between lines 1 m apart", "[m]", "[m]", aspect="equal")
    rows, count = [], 41
    for length in (1.05, 1.2, 1.5, 2.0):
        a = brentq(lambda a, length=length: 2 * a * np.sinh(0.5 / a) - length, 0.05, 50.0)
        sag = a * (np.cosh(0.5 / a) - 1)
        along = np.linspace(-0.5, 0.5, 200)
        plot.plot(along, a * (np.cosh(along / a) - np.cosh(0.5 / a)), "k-", lw=1)
        for name, mark in (("XPBD", "o"), ("VERLET", "x")):
            garment = naive.sheet(count, 2, length, 0.05, bending_stiffness=0.0, shear_stiffness=0.0, damping=30.0,
                                  stretch_stiffness=2000.0, mass=0.05,
                                  pin=np.isin(np.arange(2 * count) // 2, [0, count - 1]))  # fmt: skip
            s, start = np.linspace(-1, 1, count).repeat(2), garment.x.copy()
            start[:, 0], start[:, 2] = 0.5 * s, -0.5 * np.sqrt(length**2 - 1.0) * (1 - np.abs(s))  # a V, unstretched
            settings = VACUUM._replace(dynamics=name)
            cloth, state = build([garment._replace(x_start=start)], settings)
            x = at_rest(cloth, state, naive.still(start), settings, 500, 0.95)
            plot.plot(x[::4, 0], x[::4, 2], mark, color=COLOURS[name], ms=5, label=label(name) if length == 2 else None)
            rows.append(
                [length, label(name), f"{sag:.5f}", f"{-x[:, 2].min():.5f}", f"{-x[:, 2].min() / sag - 1:+.2%}"]
            )
    plot.plot([], [], "k-", lw=1, label="a cosh(x / a)")
    plot.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return save(figure, "catenary") + "\n" + table(["length [m]", "dynamics", "sag [m]", "ours", "off by"], rows)


def elastica(gamma):
    """Drop over reach and reach over length of the tip of a heavy elastica: theta'' = -gamma (1 - s) cos theta."""

    def back(tip):  # from the tip, whose angle is sought, to the clamp
        slopes = lambda s, y: [-y[1], gamma * s * np.cos(y[0]), np.cos(y[0]), np.sin(y[0])]  # noqa: E731
        return solve_ivp(slopes, (0, 1), [tip, 0, 0, 0], rtol=1e-10, atol=1e-12).y[:, -1]

    end = back(brentq(lambda tip: back(tip)[0], 0.0, 0.5 * np.pi, xtol=1e-14))
    return end[3] / end[2], end[2]


def cantilevers():
    """The master curve of Romero et al. 2021 from 0.1 to 100."""
    figure, plot = axes(
        "Cantilever: master curve", "sigma g L³ / B", "drop over reach H / W", xscale="log", yscale="log"
    )
    curve = np.geomspace(0.08, 150, 30)
    plot.plot(curve, [elastica(gamma)[0] for gamma in curve], "k-", lw=1, label="heavy elastica")
    rows = []
    meshes = {"12 cells, quads": (12, "same"), "24 cells, quads": (24, "same")}
    meshes |= {"24 cells, triangles": (24, "rising"), "24 cells, irregular triangles": (24, "irregular")}
    for (mesh, (cells, way)), mark in zip(meshes.items(), "osx+", strict=True):
        ours = {gamma: strips.cantilever(gamma, cells, way) for gamma in (0.1, 1.0, 3.0, 10.0, 30.0, 100.0)}
        plot.plot(ours.keys(), [ratio for ratio, _ in ours.values()], mark, mfc="none", ms=8, label=mesh)
        for gamma, (ratio, reach) in ours.items():
            exact = elastica(gamma)
            rows.append([f"{gamma:g}", mesh, f"{exact[0]:.4f}", f"{ratio:.4f}", f"{ratio / exact[0] - 1:+.1%}",
                         f"{reach / exact[1] - 1:+.1%}"])  # fmt: skip
    plot.legend()
    head = ["Gamma", "mesh", "H / W", "ours", "off by", "W / L off by"]
    return save(figure, "cantilever") + "\n" + table(head, sorted(rows, key=lambda row: (float(row[0]), row[1])))


def grain():
    """One strip, its triangles laid in every way of `triangulated`: droop and critical weight."""
    rows, exact = [], elastica(1.0)[0]
    for way in triangulated.WAYS:
        droop = strips.cantilever(1.0, 24, way)[0]
        wide, narrow = (
            strips.critical_weight(width=w, cells=c, rows=5, diagonals=way) for w, c in ((0.2, 20), (0.1, 40))
        )
        limit = (2 * narrow ** (-1 / 3) - wide ** (-1 / 3)) ** -3
        rows.append([way, f"{droop:.4f}", f"{droop / exact - 1:+.1%}", f"{limit:.2f}", f"{limit / CRITICAL - 1:+.1%}"])
    return table(["triangles", "H / W at Gamma 1", "off by", "critical Gamma", "over 18.18"], rows)


def lateral_bucklings():
    """Strips on their edge: how far they fall aside, and the weight at which they begin to."""
    figure, plot = axes("Strips on their edge", "sigma g L³ / B", "tip aside / L")
    plot.axvline(CRITICAL, color="k", lw=1, label="narrow beam: 18.18")
    weights = (10, 14, 17, 18, 19, 20, 21, 22, 24, 27, 30, 35, 40, 50)
    meshes = {"quads, w = L/10": {}, "quads, w = L/20": {"width": 0.05, "cells": 40, "rows": 3}}
    meshes["irregular triangles, w = L/10"] = {"diagonals": "irregular"}
    for (name, mesh), mark in zip(meshes.items(), "osx", strict=True):
        aside = [strips.fallen(gamma, frames=1500, **mesh) for gamma in weights]
        plot.plot(weights, aside, mark + "-", mfc="none", lw=0.7, label=name)
    plot.legend()
    found = {}
    for cut, words in (("same", "quads"), ("rising", "triangles"), ("irregular", "irregular triangles")):
        for width, cells in ((0.2, 20), (0.1, 40), (0.05, 80)):
            found[words, width] = strips.critical_weight(width=width, cells=cells, rows=5, diagonals=cut)
        found[words, 0.0] = (2 * found[words, 0.05] ** (-1 / 3) - found[words, 0.1] ** (-1 / 3)) ** -3
    rows = [[mesh, f"{width:g}" if width else "0 (from the last two)", f"{gamma:.2f}", f"{gamma / CRITICAL - 1:+.1%}"]
            for (mesh, width), gamma in found.items()]  # fmt: skip
    return save(figure, "lateral") + "\n" + table(["mesh", "width / L", "critical Gamma", "over 18.18"], rows)


def pressed_elastica(down, guess):
    """Load over B / L^2, push aside of the floor over the same, and bend at the clamp times L, of an elastica of length 1
    that is clamped above and whose tip is held below its clamp, nearer by `down`."""

    def tip(y):
        load, aside, bend = y
        slopes = lambda s, z: [z[1], aside * np.cos(z[0]) - load * np.sin(z[0]), np.sin(z[0]), np.cos(z[0])]  # noqa: E731
        return solve_ivp(slopes, (0, 1), [0, bend, 0, 0], rtol=1e-9, atol=1e-11).y[:, -1]

    return root(lambda y: tip(y)[1:] - [0, 0, 1 - down], guess).x


def stick_slips():
    """Strips pressed down on a floor: when the tip slips."""
    figure, plot = axes("Strips pressed down on a floor", "pressed down by / L", "friction that holds the tip")
    presses, needs, guess = np.linspace(0.005, 0.33, 66), [], [20.2, 0.6, 0.6]
    for down in presses:
        guess = pressed_elastica(down, guess)
        needs.append(abs(guess[1] / guess[0]))
    plot.plot(presses, needs, "k-", lw=1, label="elastica")
    fine = {"iterations": 20, "tolerance": 1e-2}
    ways = {
        "default": {},
        "20 iterations, tolerance 0.01": fine,
        "40 iterations, tolerance 0.001": {"iterations": 40, "tolerance": 1e-3},
    }
    rows, frictions = [], (0.1, 0.15, 0.2, 0.25, 0.3)
    for (name, settings), mark in zip(ways.items(), "xos", strict=True):
        ours = [strips.slips_at(strips.pressed(friction, VACUUM._replace(**settings))) for friction in frictions]
        plot.plot(ours, frictions, mark, mfc="none", ms=8, label=name)
        for friction, found in zip(frictions, ours, strict=True):
            exact = float(np.interp(friction, needs, presses))
            told = (
                [f"{found:.3f}", f"{np.interp(found, presses, needs) / friction:.2f}"] if found < 1 else ["no slip", ""]
            )
            rows.append([friction, name, f"{exact:.3f}", *told])
    plot.legend()
    head = ["friction", "solve", "slips at", "ours", "held with, over friction"]
    return save(figure, "stick_slip") + "\n" + table(head, sorted(rows, key=lambda row: row[0]))


def pendulum_period(name, degrees, substeps):
    """Period over that of small swings, 2 pi sqrt(L / g), of a ball on a thread of 1 m."""
    angle = np.radians(degrees)
    settings = VACUUM._replace(dynamics=name, substeps=substeps)
    cloth, state = build([hanging_ball([np.sin(angle), 0, -np.cos(angle)], 1e4)], settings)
    target, rate, places = state.x + cloth.origin, 240, []
    while len(crossing := np.flatnonzero(np.diff(np.sign(places)))) < 2 and len(places) < 5 * rate:
        advance(cloth, state, naive.still(target, duration=1 / rate), len(places), settings)
        places.append(state.x[3, 0] + cloth.origin[0])
    first, second = (k + places[k] / (places[k] - places[k + 1]) for k in crossing)
    return (second - first) * 2 / rate / (2 * np.pi / np.sqrt(G))


def pendulums():
    """Periods up to 150 degrees."""
    figure, plot = axes("Pendulum of 1 m", "swing [degrees]", "period over that of small swings")
    swing = np.linspace(1, 160, 100)
    plot.plot(swing, 2 / np.pi * ellipk(np.sin(np.radians(swing) / 2) ** 2), "k-", lw=1, label="2 K(sin a/2) / pi")
    rows = []
    for name, mark in (("XPBD", "o"), ("IMPLICIT_THETA", "s"), ("VERLET", "x")):
        swings = (10, 30, 60, 90, 120, 150)
        ours = [pendulum_period(name, degrees, 30) for degrees in swings]
        plot.plot(swings, ours, mark, mfc="none", ms=8, color=COLOURS[name], label=label(name))
        for degrees, ratio in zip(swings, ours, strict=True):
            exact = 2 / np.pi * ellipk(np.sin(np.radians(degrees) / 2) ** 2)
            rows.append([degrees, label(name), f"{exact:.5f}", f"{ratio:.5f}", f"{ratio / exact - 1:+.2%}"])
    plot.legend()
    return save(figure, "pendulum") + "\n" + table(["swing", "dynamics", "T / T0", "ours", "off by"], sorted(rows))


PAGE = """# Validation: ours over theory

Made by `make validation` (`scripts/validation.py`); the same laws are held by `tests/solver/physics/` and
`tests/solver/integrate/`, for independence of mesh, substeps and frame rate by `physics/test_resolution.py`,
with tolerances. Nothing sleeps in any of these (*Sleep Speed* 0): cloth is put to rest up to 0.3 % of a length short. How the fabrics drape: [fabric](fabric.md).

## Order of every kind of dynamics

A ball of 50 g on a thread of 2 N/m, let go aslant: it swings and stretches at once. The slope of the error over the
step is the method's order. Implicit Theta stands at 1/2; explicit methods are taken without the inner steps that they
choose by themselves. Adaptive ones halve a step that is off by a micron: what bounds the error then is that.

{orders}
## Energy

The mean energy over a period. Methods that keep it (symplectic ones and Beeman) stay at 1; Runge-Kutta and Gear lose
a little; Euler, Heun and Midpoint feed every oscillation, which is why Taffeta gives them tiny steps, and where
these would be endless, or cloth touches something, springs with a tenth of the damping that would stop the fastest swing. Explicit Theta
damps what is this quick.

{energies}
## Catenary

Limp strips (2,000 N/m, 50 g/m2) in equilibrium.

{catenaries}
## Cantilever

A strip clamped at one end bends under its own weight. All such strips lie on one curve of the dimensionless weight
Gamma = sigma g L^3 / B (Romero, Ly, Rasheed, Charrondière, Lazarus, Neukirch and Bertails-Descoubes 2021); here it is
solved as a heavy elastica, for no Poisson effect. With default substeps, iterations and tolerance. Quads bend along
their lines; triangles as plates, by hinges and lines fitted to each face (`solver/elastic/plate.py`). Where Gamma is
large, the bend at the clamp is as short as a few cells.

{cantilevers}
## Lateral buckling

A strip that stands on its edge, clamped at one end, falls over by its own weight when Gamma = sigma g L^3 / B is above
12.854 sqrt(2) = 18.18 (Timoshenko and Gere 1961, section 6.3, with the torsion 2 B w of a narrow plate without Poisson
effect; the test is one of Romero et al. 2021). The clamp keeps wider strips from twisting beside it: they stand longer.
Quads and triangles meet the beam's weight.

{lateral_bucklings}
## Grain

The strips of both tests, of nothing but triangles: a grid cut along either diagonal, both in turn or by chance; rows
shifted by half a cell; vertices moved by up to a quarter and by up to 0.4 of a cell each way (Delaunay's triangles).

{grain}
## Stick-slip

A strip that stands clamped over a floor, without gravity, is pressed down and buckles; friction holds its tip until the
floor would have to push it aside with more than friction times the load (the stick-slip test of Romero et al. 2021). The
curve is an elastica's. Solved well, the tip slips where it should, within 0.018 of the length; with default settings within
0.03, held by up to 13 % more than Coulomb allows, because what conjugate gradients leave of the strip's own forces counts as
friction. While the tip sticks it creeps by 0.0006 mm a frame.

{stick_slips}
Bend-twist, the fourth test of Romero et al. 2021, is one of naturally curved rods that bend as easily in every direction.
A strip of cloth does not bend edgewise; its bend and twist are what lateral buckling tests.

## Pendulum

A ball on a stiff thread of 1 m. Wide swings lose height in Linearly Implicit, because each substep goes along the chord of its arc;
substeps here are 1/720 s.

{pendulums}"""


def main():
    """Run everything; print the page's tables as they come."""
    IMAGES.mkdir(exist_ok=True)
    parts = {}
    for make in (orders, energies, catenaries, cantilevers, lateral_bucklings, grain, stick_slips, pendulums):
        parts[make.__name__] = make()
        print(f"{make.__name__}\n{parts[make.__name__]}", flush=True)
    (ROOT / "docs" / "validation.md").write_text(PAGE.format(**parts), encoding="utf-8")


if __name__ == "__main__":
    main()
