# SPDX-License-Identifier: GPL-3.0-or-later
"""What goes on inside the solver while it bakes: how often it solves, iterations, seconds, bytes; what a machine can do.

The bytes and operations of a solve are counted as the docstrings in solver/integrate/ count them: every number that
the kernels read or write once a pass, whether it comes from memory or is still in a cache.
"""

import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter
from unittest import mock

import numpy as np
from taffeta.solver import step
from taffeta.solver.build import build
from taffeta.solver.integrate import pcg
from taffeta.solver.integrate.system import System

# What: (bytes, floating-point operations) of each in an iteration, and once a solve. Rows' entries and hinges as in
# stiffness_matrix.py and preconditioner.py; slots and nodes by the arrays that pass through pcg.py and preconditioner.py.
EACH_ITERATION = {"near": (72, 20), "far": (44, 6), "slots": (616, 80), "nodes": (700, 130)}
EACH_SOLVE = {
    "near": (80, 45), "far": (98, 37), "springs": (340, 245), "hinges": (536, 80), "slots": (950, 200), "nodes": (1500, 700),
}  # fmt: skip

LONG = 4_000_000  # numbers in an array that no cache holds
WIDE = 1500  # rows of a matrix
REPEATS = 5  # the quickest counts


class Inside:
    """`with Inside() as inside:` a bake, then what its solver did."""

    def __init__(self):
        self.frames = []  # of each simulated frame [(iterations, seconds) of each solve]
        self.sizes = {}  # how many of what there is
        self.last = None  # what the last frame was made of

    def __enter__(self):
        solve, advance = pcg.solve, step.advance

        def counted(*arguments):
            started = perf_counter()
            taken = solve(*arguments)
            self.frames[-1].append((taken, perf_counter() - started))
            self.sizes = _sizes(next(given.matrix for given in arguments if isinstance(given, System)))
            return taken

        def framed(cloth, state, frame_input, frame, settings, *images):
            self.frames.append([])
            self.last = state.x.copy(), state.v.copy(), frame_input, frame, settings
            return advance(cloth, state, frame_input, frame, settings, *images)

        self._patches = mock.patch.object(pcg, "solve", counted), mock.patch.object(step, "advance", framed)
        for patch in self._patches:
            patch.start()
        return self

    def __exit__(self, *_):
        for patch in self._patches:
            patch.stop()

    def figures(self):
        """As JSON can hold it; milliseconds and bytes are those of a frame."""
        counts = [[taken for taken, _ in frame] for frame in self.frames]
        solves, taken = np.mean([len(frame) for frame in counts]), np.mean([sum(frame) for frame in counts])
        moved, operations = cost(self.sizes, solves, taken)
        return {
            "solves": float(solves),
            "iterations": float(taken / solves),
            "iterations_most": max(map(max, counts)),
            "iterations_each": [float(np.mean(frame)) for frame in counts],
            "milliseconds": 1000 * float(np.mean([sum(seconds for _, seconds in frame) for frame in self.frames])),
            "bytes": moved,
            "operations": operations,
        }

    def bytes_at_most(self, garments):
        """Bytes of all arrays of the solver while it builds the cloth and simulates the last frame once more.

        Found by tracemalloc, which sees all that numpy allocates; a few arrays that kernels make for themselves escape
        it. What the solver is given, garments and the frame's input, is not in it.
        """
        x, v, frame_input, frame, settings = self.last
        tracemalloc.start()
        try:
            cloth, state = build(garments, settings)
            state.x[:], state.v[:] = x, v
            step.advance(cloth, state, frame_input, frame, settings)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()


def _sizes(matrix):
    arrays = {"near": matrix.near, "far": matrix.far, "springs": matrix.edges, "hinges": matrix.stencils}
    arrays |= {"slots": matrix.order, "nodes": matrix.node_first}
    return {name: len(array) for name, array in arrays.items()}


def cost(sizes, solves, iterations):
    """Estimated bytes and floating-point operations of so many solves with so many iterations in all."""
    parts = (EACH_SOLVE, solves), (EACH_ITERATION, iterations)
    return tuple(
        float(sum(times * sizes[what] * pair[kind] for each, times in parts for what, pair in each.items()))
        for kind in (0, 1)
    )


def bandwidth(threads):
    """[bytes/s] that all threads read and write when each adds two long arrays (McCalpin's STREAM, Add)."""
    arrays = [[np.ones(LONG) for _ in range(3)] for _ in range(threads)]
    with ThreadPoolExecutor(threads) as pool:
        seconds = _quickest(lambda: list(pool.map(lambda three: np.add(three[0], three[1], out=three[2]), arrays)))
    return threads * 3 * 8 * LONG / seconds


def arithmetic():
    """[1/s] floating-point operations of a product of two matrices, which is all arithmetic, with vectors, on all cores."""
    one, other = np.full((2, WIDE, WIDE), 0.5)
    return 2 * WIDE**3 / _quickest(lambda: one @ other)


def _quickest(work):
    """[s]"""
    times = []
    for _ in range(REPEATS):
        started = perf_counter()
        work()
        times.append(perf_counter() - started)
    return min(times)
