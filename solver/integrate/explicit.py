# SPDX-License-Identifier: GPL-3.0-or-later
"""Explicit integrators: the field's textbook methods over one interface, and the step that each can bear.

A method is a function

    step(x, v, acceleration, t, h, past) -> x, v, past

of positions and velocities (any equal shapes), acceleration(x, v, t) and the step h. `past` is what it has to know of
the steps before: None at the start, from where each method starts itself with its own order. So nothing has to live
from frame to frame but x and v, and a contact, which breaks every smooth past, just starts anew. Forces may depend on
velocity in all of them.

Sources: Hairer, Nørsett and Wanner 1993, chapters II.1 and III.10 (Euler, Heun, midpoint, Runge-Kutta 4), II.4 (steps that
choose their length, by doubling); Hairer, Lubich and Wanner 2003 (symplectic Euler, leapfrog, Verlet); Beeman 1976; Gear
1971 with the coefficients of Allen and Tildesley 1987, appendix E. All that Bargmann (2003, appendix C) lists are here; he
does not say what the A of his RK2A and RK4A stands for, and adaptive is what it is taken for.
"""

from math import ceil, hypot, sqrt
from typing import NamedTuple

import numpy as np

from ..elastic.internal import Elastic, elastic_forces, elastic_of, fastest
from ..elastic.springs import TAUT_STIFFNESS
from ..model import REFERENCE_FRAME
from .attachments import Attached, accelerate, course, fastest_of, points
from .predict import Pins, prepare_pins

MODE_GROWTH = 0.1  # [1/s] at which the stiffest mode may gain amplitude where a method cannot but feed it
STEP_SAFETY = 0.9  # of the stable step that is taken
FASTEST_DAMPING = 0.1  # damping ratio of the fastest mode where cloth may touch something
THETA_ROUNDS = 2  # of fixed point in `theta`
STEP_ERROR = 1e-6  # [m] by which a step that chooses its length may be off its two halves
MOST_HALVINGS = 6  # of such a step
MANY_INNER_STEPS = 2_000  # in REFERENCE_FRAME from which preflight warns
MOST_INNER_STEPS = 200_000  # above which nobody would wait for the frame

PASCAL_TRIANGLE = np.array([[1, 1, 1, 1, 1, 1], [0, 1, 2, 3, 4, 5], [0, 0, 1, 3, 6, 10], [0, 0, 0, 1, 4, 10],
                            [0, 0, 0, 0, 1, 5], [0, 0, 0, 0, 0, 1]], dtype=float)  # fmt: skip
GEAR_WEIGHTS = np.array([3 / 16, 251 / 360, 1, 11 / 18, 1 / 6, 1 / 60])
# h a', h^2 a'' and h^3 a''' from five accelerations, the newest last: differences of order 4, 3 and 2
BACKWARD_DIFFERENCES = np.array([[3, -16, 36, -48, 25], [11, -56, 114, -104, 35], [18, -84, 144, -108, 30]]) / 12.0


def euler(x, v, acceleration, t, h, past):
    """Order 1. Feeds every oscillation: amplitude grows at the rate h omega^2 / 2."""
    return x + h * v, v + h * acceleration(x, v, t), None


def symplectic_euler(x, v, acceleration, t, h, past):
    """Order 1, keeps the energy of oscillations within bounds up to h omega = 2."""
    v = v + h * acceleration(x, v, t)
    return x + h * v, v, None


def heun(x, v, acceleration, t, h, past):
    """Order 2: the mean of the slopes at both ends."""
    a = acceleration(x, v, t)
    w = v + h * a
    b = acceleration(x + h * v, w, t + h)
    return x + 0.5 * h * (v + w), v + 0.5 * h * (a + b), None


def midpoint(x, v, acceleration, t, h, past):
    """Order 2: the slope in the middle."""
    w = v + 0.5 * h * acceleration(x, v, t)
    b = acceleration(x + 0.5 * h * v, w, t + 0.5 * h)
    return x + h * w, v + h * b, None


def theta(x, v, acceleration, t, h, past):
    """Order 2: the mean of the slopes at both ends, the one at the end asked for again at where it leads.

    The theta method at 1/2, as the thesis sets it ("Theta 0.5 2"), solved by `THETA_ROUNDS` rounds of fixed point instead
    of a matrix. Two rounds make it stable where one, which is Heun's method, is not: amplitudes shrink up to h omega = 2.
    """
    a = acceleration(x, v, t)
    y, w = x + h * v, v + h * a
    for _ in range(THETA_ROUNDS):
        b = acceleration(y, w, t + h)
        y, w = x + 0.5 * h * (v + w), v + 0.5 * h * (a + b)
    return y, w, None


def rk4(x, v, acceleration, t, h, past):
    """Order 4: four slopes, of the whole coupled system."""
    half = 0.5 * h
    a1 = acceleration(x, v, t)
    v2 = v + half * a1
    a2 = acceleration(x + half * v, v2, t + half)
    v3 = v + half * a2
    a3 = acceleration(x + half * v2, v3, t + half)
    v4 = v + h * a3
    a4 = acceleration(x + h * v3, v4, t + h)
    return x + h / 6.0 * (v + 2.0 * (v2 + v3) + v4), v + h / 6.0 * (a1 + 2.0 * (a2 + a3) + a4), None


def adaptive(step):
    """The method `step` with steps that are cut in halves, to 2**-`MOST_HALVINGS` of h, where one goes elsewhere than its
    two halves do, by more than `STEP_ERROR` in any place at the step's end; the halves are what is kept.
    """

    def march_in_halves(x, v, acceleration, t, h, past, depth=0):
        y, w, _ = step(x, v, acceleration, t, h, None)
        half = 0.5 * h
        z, u, _ = step(x, v, acceleration, t, half, None)
        z, u, _ = step(z, u, acceleration, t + half, half, None)
        error = max(np.abs(z - y).max(initial=0.0), h * np.abs(u - w).max(initial=0.0))
        if error <= STEP_ERROR or depth == MOST_HALVINGS:
            return z, u, None
        x, v, _ = march_in_halves(x, v, acceleration, t, half, None, depth + 1)
        return march_in_halves(x, v, acceleration, t + half, half, None, depth + 1)

    return march_in_halves


def leapfrog(x, v, acceleration, t, h, past):
    """Order 2, symplectic: drift by half a step, kick, drift. `past`: the last kick, to guess the velocity halfway."""
    if past is None:
        past = acceleration(x, v, t)
    x = x + 0.5 * h * v
    a = acceleration(x, v + 0.5 * h * past, t + 0.5 * h)
    v = v + h * a
    return x + 0.5 * h * v, v, a


def verlet(x, v, acceleration, t, h, past):
    """Velocity Verlet. Order 2, symplectic: half a kick, drift, half a kick. `past`: the acceleration at x."""
    a = acceleration(x, v, t) if past is None else past
    x = x + h * v + 0.5 * h * h * a
    b = acceleration(x, v + h * a, t + h)
    return x, v + 0.5 * h * (a + b), b


def beeman(x, v, acceleration, t, h, past):
    """Order 2, on the path of Verlet with better velocities. `past`: accelerations one step ago and now."""
    if past is None:
        a = acceleration(x, v, t)
        before = acceleration(x - h * v + 0.5 * h * h * a, v - h * a, t - h)
    else:
        before, a = past
    x = x + h * v + h * h / 6.0 * (4.0 * a - before)
    b = acceleration(x, v + 0.5 * h * (3.0 * a - before), t + h)
    return x, v + h / 6.0 * (2.0 * b + 5.0 * a - before), (a, b)


def gear(x, v, acceleration, t, h, past):
    """Gear's predictor and corrector of order 5, in Nordsieck's form h^k / k! times the k-th derivative.

    The first four steps are Runge-Kutta's; their five accelerations give the derivatives. `past`: the accelerations so
    far, then the six scaled derivatives, (6, ...).
    """
    if not isinstance(past, np.ndarray):
        past = [acceleration(x, v, t)] if past is None else past
        x, v, _ = rk4(x, v, acceleration, t, h, None)
        past = [*past, acceleration(x, v, t + h)]
        if len(past) == 5:
            higher = np.tensordot(BACKWARD_DIFFERENCES, np.array(past), 1)
            scaled = h * h * np.array([past[-1] / 2.0, higher[0] / 6.0, higher[1] / 24.0, higher[2] / 120.0])
            past = np.array([x, h * v, *scaled])
        return x, v, past
    predicted = np.tensordot(PASCAL_TRIANGLE, past, 1)
    error = 0.5 * h * h * acceleration(predicted[0], predicted[1] / h, t + h) - predicted[2]
    past = predicted + np.multiply.outer(GEAR_WEIGHTS, error)
    return past[0].copy(), past[1] / h, past


METHODS = {
    "EULER": euler, "SYMPLECTIC_EULER": symplectic_euler, "HEUN": heun, "MIDPOINT": midpoint, "RK4": rk4,
    "LEAPFROG": leapfrog, "VERLET": verlet, "BEEMAN": beeman, "GEAR": gear, "THETA": theta,
    "ADAPTIVE_MIDPOINT": adaptive(midpoint), "ADAPTIVE_RK4": adaptive(rk4),
}  # fmt: skip

FEED_SLOWLY = "HEUN", "MIDPOINT", "ADAPTIVE_MIDPOINT"
FEEDING = "EULER", *FEED_SLOWLY

# h omega up to which each is stable, restarts included; measured in tests/solver/integrate/test_explicit.py
STABLE_REACH = {
    "EULER": 1.0, "SYMPLECTIC_EULER": 2.0, "HEUN": 1.0, "MIDPOINT": 1.0, "RK4": 2.8, "LEAPFROG": 2.0, "VERLET": 2.0,
    "BEEMAN": 1.0, "GEAR": 0.3, "THETA": 2.0, "ADAPTIVE_MIDPOINT": 1.0, "ADAPTIVE_RK4": 2.8,
}  # fmt: skip


class Bounds(NamedTuple):
    """What bounds the modes of a cloth, all of them, soft pins and attachments included."""

    frequency: float  # [1/s] angular frequency of the fastest
    damping: float  # [1/s] decay of a velocity of the most damped
    viscosity: float = 0.0  # [s] of springs and hinges: damping over stiffness, at least
    bare: float = 0.0  # [1/s] part of the frequency that no viscosity damps; counts where there is some


def step_count(name, dt, bounds):
    """Equal steps that dt [s] has to be cut into, so that no mode of the cloth with these `Bounds` runs away.

    Euler and the methods of order 2 that are not symplectic feed every oscillation, at h omega^2 / 2 and
    h^3 omega^4 / 8: they get the step at which that is `MODE_GROWTH`. Where springs are viscous, b omega^2 / 2 is taken out
    of each mode: Euler's step may be as long as b, those of order 2 (2 b / omega^2)^(1/3), and `MODE_GROWTH` counts for what
    is not viscous alone, for which they feed the half that the mean of both leaves. Damping comes on top:
    (h / h0)^2 + 3 h damping <= 1 keeps each method within its region of stability, h0 being its step without.
    """
    frequency = max(bounds.frequency, 1e-9)
    longest, viscous = STABLE_REACH[name] / frequency, bounds.viscosity > 0.0
    fed = max(bounds.bare, 1e-9) if viscous else frequency
    if name == "EULER":
        longest = min(longest, 2.0 * MODE_GROWTH / fed**2)
        longest = min(longest, bounds.viscosity) if viscous else longest
    elif name in FEED_SLOWLY:
        longest = min(longest, ((4.0 if viscous else 8.0) * MODE_GROWTH / fed**4) ** (1.0 / 3.0))
        longest = min(longest, (2.0 * bounds.viscosity / frequency**2) ** (1.0 / 3.0)) if viscous else longest
    drag = 3.0 * bounds.damping
    h = 2.0 / (drag + sqrt(drag * drag + 4.0 / longest**2))
    return max(1, ceil(dt / (STEP_SAFETY * h)))


def march(name, x, v, acceleration, t, dt, count):
    """x and v after dt, in `count` steps of one method that starts itself."""
    step, h, past = METHODS[name], dt / count, None
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is told at the end of the frame
        for number in range(count):
            x, v, past = step(x, v, acceleration, t + number * h, h, past)
    return x, v


class Pull(NamedTuple):
    """What a cloth's accelerations are made of, for one frame."""

    elastic: Elastic
    inv_mass: np.ndarray  # (n,) [1/kg]
    pins: Pins
    soft: np.ndarray  # (s,) rows of `pins` that pull softly
    rate: np.ndarray  # (s, 1) [1/s] angular frequency of their pull
    attached: Attached | None
    bounds: Bounds


def prepare_pull(cloth, pins, viscous, attached=None):
    """`Pull` of a frame with these `Pins` and attachments.

    Where cloth may touch something (`viscous`), a contact moves single particles once a substep, many periods of the
    fastest modes, and what that leaves of energy in them nothing would take out. So springs and hinges get a damping in
    proportion to their stiffness, as explicit codes have it against such noise (bulk viscosity: Belytschko, Liu and
    Moran 2000, section 6.2): the ratio is `FASTEST_DAMPING` in the fastest mode, and next to nothing in what one sees. Methods that feed oscillations
    (`FEEDING`) have it, too, where a frame would take them for ever else.
    """
    elastic, viscosity = elastic_of(cloth), 0.0
    frequency, damping = fastest(cloth.inv_mass, elastic)
    if viscous and frequency > 0.0:
        viscosity = 2.0 * FASTEST_DAMPING / frequency
        more = elastic.taut[:, TAUT_STIFFNESS] if len(elastic.taut) else 0.0
        elastic.spring.damping[:] += viscosity * (elastic.spring.stiffness + more)
        elastic.hinge.damping[:] += viscosity * elastic.hinge.stiffness
        damping += viscosity * frequency**2
    soft = np.flatnonzero((pins.frequency > 0) & np.isfinite(pins.frequency))
    rate = pins.frequency[soft, None]
    most = float(rate.max(initial=0.0))
    by_springs, lost = (0.0, 0.0) if attached is None else fastest_of(attached, cloth.inv_mass)
    bounds = Bounds(hypot(frequency, most, by_springs), damping + 2.0 * most + lost, viscosity, by_springs)
    return Pull(elastic, cloth.inv_mass, pins, soft, rate, attached, bounds)


def taut_frequency(x, pull):
    """Angular frequency [1/s] at which taut cloth at x (n, 3) [m] swings across itself, the root of its mean over particles.

    A spring that pulls with T over a length l holds its ends back across itself, too, with T / l, and is viscous along itself
    alone. So Euler's method feeds a drape's ripples, though no bound at rest knows of them.
    """
    i, j = pull.elastic.edges.T
    length = np.maximum(np.linalg.norm(x[j] - x[i], axis=1), 1e-9)
    strain = np.maximum(1.0 - pull.elastic.spring.rest / length, 0.0)
    across = 2.0 * strain * pull.elastic.spring.bound
    return sqrt(float((across * (pull.inv_mass[i] + pull.inv_mass[j])).sum()) / len(x))


def count_steps(name, cloth, pin_rate):
    """Inner steps that 1/24 s of this cloth takes where it may touch something."""
    pull = prepare_pull(cloth, prepare_pins(cloth, cloth.x_rest[None], pin_rate), True)
    return step_count(name, REFERENCE_FRAME, pull.bounds)


def is_endless(name, pull):
    """Whether a frame would take more than MOST_INNER_STEPS steps."""
    return step_count(name, REFERENCE_FRAME, pull.bounds) > MOST_INNER_STEPS


def refuse_endless(name, pull):
    """A ValueError where a frame would take more than MOST_INNER_STEPS steps."""
    count = step_count(name, REFERENCE_FRAME, pull.bounds)
    if count > MOST_INNER_STEPS:
        words = name.replace("_", " ").capitalize()
        raise ValueError(
            f"{words} needs {count:,} steps in 1/24 s to stay stable: set Dynamics to XPBD (in Blender: "
            "Linearly Implicit), or lower stretch, shear and bending stiffness and half-weight pins, or use larger faces."
        )


def acceleration_of(pull, push, substep):
    """acceleration(x, v, t) [m/s2] of a substep, t [s] counted from its start.

    push : (n, 3) or (3,) [m/s2] what else pulls particles. Kinematic ones have none: they keep their velocity.
    """
    elastic, pins, soft = pull.elastic, pull.pins, pull.soft
    force, free = np.empty((len(pull.inv_mass), 3)), pull.inv_mass[:, None] > 0
    share, everywhere = pull.inv_mass[:, None], np.where(free, push, 0.0)
    particles, start = pins.particles[soft], points(pins, substep.t0)[soft]
    going = (points(pins, substep.t1)[soft] - start) / substep.dt
    attached = pull.attached
    along = None if attached is None else course(attached, substep)

    def acceleration(x, v, t):
        elastic_forces(x, v, elastic, force)
        a = share * force + everywhere
        if len(soft):
            lag = start + t * going - x[particles]
            a[particles] += pull.rate * (pull.rate * lag + 2.0 * (going - v[particles]))
        if attached is not None:
            accelerate(attached, along, x, v, t, pull.inv_mass, a)
        return a

    return acceleration


def move(name, pull, motion, push, substep):
    """x and v after a substep of the cloth's own forces and `push` (see `acceleration_of`), in steps of one method.

    # outputs: of `motion` x, v, and x_prev: x at the start, kinematic particles on the pose
    """
    x, v, pins, dt = motion.x, motion.v, pull.pins, substep.dt
    is_kinematic = np.isinf(pins.frequency)
    kinematic = pins.particles[is_kinematic]
    start, end = (points(pins, t)[is_kinematic] for t in (substep.t0, substep.t1))
    x[kinematic], v[kinematic] = start, (end - start) / dt
    motion.x_prev[:] = x
    acceleration, bounds = acceleration_of(pull, push, substep), pull.bounds
    if name == "EULER" and np.isfinite(x.sum()):
        bounds = bounds._replace(bare=hypot(bounds.bare, taut_frequency(x, pull)))
    count = min(step_count(name, dt, bounds), ceil(MOST_INNER_STEPS * dt / REFERENCE_FRAME))
    x[:], v[:] = march(name, x, v, acceleration, 0.0, dt, count)
    x[kinematic] = end
