# SPDX-License-Identifier: GPL-3.0-or-later
"""Grey pictures as maps: their values where the corners of faces lie on them."""

import numpy as np

LUMINANCE = np.array([0.2126, 0.7152, 0.0722])  # ITU-R BT.709-6 (2015), item 3.2


def bilinear(grey: np.ndarray, uv: np.ndarray) -> np.ndarray:
    """Values of the image `grey` (rows, columns), row 0 at v = 0, at `uv` (k, 2); repeats tile by tile."""
    rows, columns = grey.shape
    finite = np.isfinite(uv)
    uv = np.where(finite, uv, 0.0)
    within = uv - np.floor(uv)
    # The far edge of a tile belongs to that tile: u = 1 is the right border, not the left one again.
    within = np.where((within == 0.0) & (uv > 0.0), 1.0, within)
    column, column_next, right = _neighbours(within[:, 0], columns)
    row, row_next, up = _neighbours(within[:, 1], rows)
    low = grey[row, column] * (1.0 - right) + grey[row, column_next] * right
    high = grey[row_next, column] * (1.0 - right) + grey[row_next, column_next] * right
    return np.where(finite.all(axis=1), low * (1.0 - up) + high * up, np.nan)


def _neighbours(within: np.ndarray, count: int):
    """The two pixels whose centres enclose each coordinate, and the share of the second."""
    at = np.clip(within * count - 0.5, 0.0, count - 1.0)
    first = np.minimum(at.astype(np.int64), max(count - 2, 0))
    return first, np.minimum(first + 1, count - 1), at - first


def corner_mean(corner_vertex: np.ndarray, values: np.ndarray, vertex_count: int) -> np.ndarray:
    """Average of corner values (c,) per vertex, (vertex_count,); 0 at vertices without a corner."""
    corner_count = np.bincount(corner_vertex, minlength=vertex_count)
    return np.bincount(corner_vertex, values, vertex_count) / np.maximum(corner_count, 1)
