# SPDX-License-Identifier: GPL-3.0-or-later
"""Sheets that are cut along tear lines, for tests."""

import numpy as np


def cut(garment, column, rows, strength, first=0, **changes):
    """A sheet of `naive.sheet` with `rows` vertices a column, cut along a column from its row `first` on to the upper side; what is
    below stays one vertex a place."""
    line = column * rows + np.arange(rows)
    count, doubled = len(garment.x), line[first:]
    place = np.arange(count)
    place[doubled] = count + np.arange(len(doubled))
    middle = garment.x[line[0], 0]

    def right(faces):
        beyond = garment.x[faces].mean(axis=1)[:, 0] > middle
        return np.where(beyond[:, None], place[faces], faces).astype(np.int32)

    both = np.stack([line[:-1], line[1:]], axis=1)[max(first - 1, 0) :]
    triangles, quads, edges = (right(getattr(garment, name)) for name in ("triangles", "quads", "edges"))
    edges = np.concatenate([edges, place[both]]).astype(np.int32)
    per_vertex = {
        name: np.concatenate([values, values[doubled]])
        for name, values in garment._asdict().items()
        if _is_of_vertices(values, count)
    }
    marked = np.concatenate([both, place[both]])
    return garment._replace(
        **per_vertex, triangles=triangles, quads=quads, edges=np.unique(np.sort(edges, axis=1), axis=0),
        tear_edges=marked, tear_strength=np.full(len(marked), float(strength)),
    )._replace(**changes)  # fmt: skip


def _is_of_vertices(values, count):
    return isinstance(values, np.ndarray) and values.ndim in (1, 2) and len(values) == count and values.dtype == float
