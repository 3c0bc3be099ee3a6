# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake has the same bits on processors of other kinds, for which BLAS and numpy have code of their own."""

import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from taffeta.solver.kernel import functions

pytestmark = pytest.mark.once

SCRIPT = """
import hashlib, sys
sys.path.insert(0, {folder!r})
import naive, numpy as np, triangulated
from solids import collider, torus
from taffeta.solver.build import build
from taffeta.solver.contact.guard.cluster_impulses import displace
from taffeta.solver.model import Settings
from taffeta.solver.step import advance

for dynamics, frames in ("XPBD", 2), ("IMPLICIT_EULER", 1):
    rng, garments = np.random.default_rng(4), []
    for height, model in (0.29, "FABRIC"), (0.31, "MEMBRANE"):
        one = triangulated.sheet(20, 20, 0.8, 0.8, "irregular", model=model, thickness=0.004)
        x = one.x + [-0.4, -0.4, height]
        x[:, 2] += 0.01 * rng.uniform(size=len(x))
        garments.append(one._replace(x=x, x_start=x))
    settings = Settings(dynamics=dynamics, substeps=4)
    cloth, state = build(garments, settings)
    state.v[:400, 2] += 1.0  # the lower one into the upper
    x, triangles = torus(30, 20)
    for frame in range(frames):
        given = naive.still(state.x + cloth.origin, colliders=(collider((x, triangles)),))
        assert advance(cloth, state, given, frame, settings).cloth_contacts
    print(hashlib.sha256(state.x.tobytes() + state.v.tobytes()).hexdigest())
pairs = np.array([(k, k + 1) for k in range(30)])
direction = rng.normal(size=(30, 3))
direction /= np.sqrt((direction * direction).sum(axis=1))[:, None]
for joined in (pairs, np.concatenate([pairs[:-1], [[0, 29]]])):  # a chain, and a ring
    moved = displace(rng.uniform(0.5, 2.0, 31), rng.normal(size=(31, 3)), joined, direction, np.zeros(30))
    print(hashlib.sha256(moved.tobytes()).hexdigest())
"""
#: what makes OpenBLAS take the code of a processor without FMA, and numpy that of one without AVX-512
OTHERS = {"OPENBLAS_CORETYPE": "Prescott"}, {"NPY_DISABLE_CPU_FEATURES": "AVX512F AVX512CD AVX512_SKX"}


def bits(changed):
    """Digests of positions and velocities in two dynamics and of two answers for clusters, in a process of its own."""
    command = [sys.executable, "-W", "ignore", "-c", SCRIPT.format(folder=str(Path(__file__).parent))]
    done = subprocess.run(command, env=os.environ | changed, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.split()


def test_code_for_other_processors_leaves_the_same_bits():
    here = bits({})
    assert len(here) == 4
    for changed in OTHERS:
        assert bits(changed) == here, changed


@pytest.mark.parametrize(
    ("ours", "plain", "least", "most"),
    [
        (functions.sin, math.sin, -10.0, 10.0),
        (functions.arcsin, math.asin, -1.0, 1.0),
        (functions.exp, math.exp, -20.0, 5.0),
        (functions.log, math.log, 1e-9, 1e3),
    ],
)
def test_functions_are_what_they_are_called(ours, plain, least, most):
    values = np.linspace(least, most, 3000).reshape(3, 1000)
    before, found = values.copy(), ours(values[:, ::-1])
    assert found.shape == (3, 1000) and np.array_equal(values, before)
    assert np.allclose(found[:, ::-1], np.vectorize(plain)(values), rtol=4e-16, atol=4e-16)
    assert ours(np.empty((0, 2))).shape == (0, 2)


def test_axes_of_small_matrices_are_those_of_lapack():
    rng = np.random.default_rng(5)
    matrices = rng.normal(size=(500, 3, 3))
    matrices += matrices.transpose(0, 2, 1)
    matrices[:50] = 0.0
    matrices[50:100] = 2.0 * np.eye(3)
    matrices[100:150] = [[1e-200, 1e-200, 0.0], [1e-200, 0.0, 0.0], [0.0, 0.0, 0.0]]
    matrices[150:200] *= 1e200
    matrices[200:250] = 1.0
    sizes, axes = functions.symmetric_axes(matrices)
    largest = np.maximum(np.abs(matrices).max(axis=(1, 2)), 1e-300)[:, None]
    assert np.allclose(sizes / largest, np.linalg.eigvalsh(matrices / largest[:, None]), rtol=0, atol=1e-14)
    assert np.allclose(np.einsum("mji,mjk->mik", axes, axes), np.eye(3), rtol=0, atol=1e-14)
    again = np.einsum("mik,mk,mjk->mij", axes, sizes / largest, axes)
    assert np.allclose(again, matrices / largest[:, None], rtol=0, atol=1e-14)
    assert functions.symmetric_axes(matrices[:0])[1].shape == (0, 3, 3)
