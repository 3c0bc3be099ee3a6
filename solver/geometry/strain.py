# SPDX-License-Identifier: GPL-3.0-or-later
"""How far triangles are stretched and compressed, whichever way they lie."""

import numpy as np


def principal_strains(x: np.ndarray, rest: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Strains (t, 2) of triangles (t, 3) of x (n, 3) against rest (n, 3): least and greatest of all directions in their planes.

    The squared stretches are the eigenvalues of the metric over that at rest (Bonet and Wood 2008, section 4.6). Triangles of
    no area at rest say nothing and have 0.
    """
    (a, b, c), (rest_a, rest_b, rest_c) = _metric(x, triangles), _metric(rest, triangles)
    rest_area = rest_a * rest_c - rest_b**2
    usable = rest_area > 1e-12 * rest_a * rest_c
    with np.errstate(divide="ignore", invalid="ignore"):
        half = 0.5 * (rest_c * a - 2.0 * rest_b * b + rest_a * c) / rest_area
        root = np.sqrt(np.maximum(half**2 - (a * c - b**2) / rest_area, 0.0))
        strains = np.sqrt(np.maximum(np.stack((half - root, half + root), axis=1), 0.0)) - 1.0
    return np.where(usable[:, None], strains, 0.0)


def _metric(x, triangles):
    """Products of two edges of each triangle: of the first with itself, with the second, of the second with itself."""
    corner, second, third = (x[triangles[:, k]].astype(np.float64) for k in range(3))
    one, other = second - corner, third - corner
    return tuple(np.einsum("ij,ij->i", p, q) for p, q in ((one, one), (one, other), (other, other)))
