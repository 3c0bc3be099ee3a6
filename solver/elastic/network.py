# SPDX-License-Identifier: GPL-3.0-or-later
"""The particle network of older tools: springs alone, with one constant per kind, whatever the mesh.

Quads have structural springs along their sides, shear springs along both diagonals, and flex springs from each
particle to the next but one along a line of quads (Provot 1995; Pereira 2010, section 4.1.2). Triangles have springs
along their edges and bend springs between the vertices opposite an edge (Selle, Su, Irving and Fedkiw 2009). A particle
inside a quad mesh has 12 springs, on its border 8, in a corner 5: the constants count 1.5 and 2.4 times there, so that
each particle is held by as much. Damping is on the relative velocity along the spring: that across it would brake
turning.

Bending has no resistance of its own here: a flex spring that spans 2 l shortens by l a^2 / 4 where the cloth folds by
the angle a, so its energy begins with a^4. Its constant is the one with which a fold of `MATCHED_FOLD` stores what a plate of
the same rigidity does. Stiffness depends on the mesh: `springs` and `bending` are the better model.
"""

import numpy as np

from ..geometry.topology import edge_keys, find_hinges, quad_lines

BORDER_FACTOR, CORNER_FACTOR = 1.5, 2.4
MATCHED_FOLD = 1.0  # [rad] fold in which a flex spring stores the energy of a plate


def network(x, faces, springs, stretch, shear, bending):
    """Springs of the network.

    Parameters
    ----------
    x : (n, 3) [m] rest positions
    faces, springs : from `topology`
    stretch, shear : (n,) [N/m] constants of structural and shear springs
    bending : (n,) [N m] plate rigidity

    Returns
    -------
    pairs : (s, 2), the given springs first
    rest_length : (s,) [m]
    stiffness : (s,) [N/m]
    is_mesh_edge : (s,) bool
    """
    factor = border_factor(springs, len(x))
    flex = _flex_pairs(faces, springs, len(x))
    pairs = np.concatenate([springs.pairs, flex])
    first, second = pairs.T
    rest_length = np.linalg.norm(x[second] - x[first], axis=1)
    is_shear = np.zeros(len(springs.pairs), dtype=bool)
    keys = edge_keys(springs.pairs, len(x))
    for columns in ((0, 2), (1, 3)):
        is_shear |= np.isin(keys, edge_keys(springs.quads[:, columns], len(x)))
    flexible = (
        64.0 / MATCHED_FOLD**2 * bending
    )  # k (l a^2 / 4)^2 = B a^2 on a square cell of side l, the span being 2 l
    is_flex = np.arange(len(pairs)) >= len(springs.pairs)

    def mean(value):
        return 0.5 * ((factor * value)[first] + (factor * value)[second])

    k = np.where(np.append(is_shear, is_flex[is_flex]), mean(shear), mean(stretch))
    k[is_flex] = (mean(flexible) / np.where(rest_length > 0, rest_length, np.inf) ** 2)[is_flex]
    return pairs, rest_length, k, np.append(springs.is_mesh_edge, ~is_flex[is_flex])


def border_factor(springs, count):
    """(n,) what the constants of each particle's springs count: 1, or 1.5 and 2.4 on the border of quads."""
    corners = np.bincount(springs.quads.ravel(), minlength=count)
    beside = np.bincount(springs.beside_spring, minlength=len(springs.pairs))
    on_border = np.zeros(count, dtype=bool)
    on_border[springs.pairs[beside == 1]] = True
    return np.where(on_border & (corners > 0), np.where(corners == 1, CORNER_FACTOR, BORDER_FACTOR), 1.0)


def _flex_pairs(faces, springs, count):
    """(f, 2) ends of flex and bend springs, low index first, each once and none of them a spring already."""
    quad_of = np.full(len(faces.triangles), -1)
    quad_of[springs.halves.ravel()] = np.repeat(np.arange(len(springs.halves)), 2)
    hinges = find_hinges(faces, count)
    beside = quad_of[hinges.triangles]
    across = hinges.stencils[(beside < 0).any(axis=1), 2:]
    pairs = np.sort(np.concatenate([across, quad_lines(faces, springs, count).stencils[:, 2:]]), axis=1)
    key, first = np.unique(edge_keys(pairs, count), return_index=True)
    return pairs[first[~np.isin(key, edge_keys(springs.pairs, count))]]
