# SPDX-License-Identifier: GPL-3.0-or-later
"""Gradient noise, as Blender's turbulence fields are made of: Perlin 2002 ("Improving noise"), three octaves.

Space is cut into cells; each corner has one of twelve gradients, chosen by a table of the numbers 0 to 255 in some
order; between the corners the planes of these gradients are blended by 6 t^5 - 15 t^4 + 10 t^3. The table is an input:
with Blender's own (`operators.read.force_fields`) the eddies are where Blender has them.
"""

from math import floor

import numpy as np

from ..kernel.jit import inner

# The default table: a fixed shuffle.
GRADIENT_ORDER = np.random.default_rng(2002).permutation(256)


@inner
def _corner(code, x, y, z):
    """Value at (x, y, z) from a corner of the plane through it with one of twelve gradients."""
    h = code & 15
    first = x if h < 8 else y
    second = y if h < 4 else (x if h == 12 or h == 14 else z)
    return (first if h & 1 == 0 else -first) + (second if h & 2 == 0 else -second)


@inner
def _noise(table, x, y, z):
    """Noise in about [-1, 1], zero at whole numbers."""
    column, row, slab = floor(x), floor(y), floor(z)
    i, j, k = int(column) & 255, int(row) & 255, int(slab) & 255
    x, y, z = x - column, y - row, z - slab
    u = x * x * x * (x * (6.0 * x - 15.0) + 10.0)
    v = y * y * y * (y * (6.0 * y - 15.0) + 10.0)
    w = z * z * z * (z * (6.0 * z - 15.0) + 10.0)
    total = 0.0
    for a in range(2):
        along_x = u if a else 1.0 - u
        at_x = table[(i + a) & 255] + j
        for b in range(2):
            along_y = v if b else 1.0 - v
            at_y = table[(at_x + b) & 255] + k
            low = _corner(table[at_y & 255], x - a, y - b, z)
            high = _corner(table[(at_y + 1) & 255], x - a, y - b, z - 1.0)
            total += along_x * along_y * (low + w * (high - low))
    return total


@inner
def turbulence(table, size, x, y, z):
    """Three octaves of noise in [-1, 1]; size in units of x is that of the largest eddies, 0 counts as 1."""
    scale = 1.0 / size if size != 0.0 else 1.0
    total, weight = 0.0, 1.0
    for _ in range(3):
        total += weight * _noise(table, scale * x, scale * y, scale * z)
        weight, scale = 0.5 * weight, 2.0 * scale
    return total / 1.75
