# SPDX-License-Identifier: GPL-3.0-or-later
"""Two lines of edges sewn to each other, stitch by stitch: which vertex to which, however many each has.

A vertex takes one stitch, so that a seam folds no edge away: the line with fewer vertices has one at each, the other one at
those that lie as far along it, as parts of its length. What lies between them there is free, as between real stitches.
"""

import numpy as np

MOST_STARTS = 512  # of a ring with more vertices, not all are tried as the first


def lines(edges):
    """The lines that edges (k, 2) make, in order of their first vertices: vertices (n,) of each, one after the other, and
    whether it is a ring.

    Raises
    ------
    ValueError
        More than two edges meet at a vertex.
    """
    beside = {}
    for a, b in np.asarray(edges).tolist():
        beside.setdefault(a, []).append(b)
        beside.setdefault(b, []).append(a)
    if any(len(others) > 2 for others in beside.values()):
        raise ValueError("more than two selected edges meet at a vertex")
    found, seen = [], set()
    for is_ring in (False, True):
        for first in sorted(beside):
            if first in seen or (not is_ring and len(beside[first]) == 2):
                continue
            line, at = [first], first
            seen.add(first)
            while (after := next((other for other in beside[at] if other not in seen), None)) is not None:
                line.append(after)
                seen.add(after)
                at = after
            found.append((np.array(line), is_ring))
    return sorted(found, key=lambda item: int(item[0].min()))


def dart(line):
    """Stitches (s, 2) that close a line about its middle, which is a dart's tip."""
    half = (len(line) - 1) // 2
    return np.stack([line[:half], line[::-1][:half]], axis=1)


def stitches(x, one, other, is_ring, flip=False, shift=0):
    """Stitches (s, 2) between two lines, of which none crosses another: in that direction, and of rings from that vertex on,
    in which all together are shortest.

    Parameters
    ----------
    x : (n, 3) positions of all vertices
    one, other : (k,), (m,) vertices of the lines
    is_ring : whether both are rings
    flip : take the other direction
    shift : of rings, by how many vertices of the one with more the start is moved on
    """
    few, many = (one, other) if len(one) <= len(other) else (other, one)
    found = {}
    for is_back in (False, True):
        line = many[::-1] if is_back else many
        best, cost = _best_start(x, few, line) if is_ring else (0, _cost(x, _side_by_side(x, few, line, False)))
        pairs = _side_by_side(x, few, np.roll(line, -((best + shift) % len(line))) if is_ring else line, is_ring)
        found[is_back] = cost, pairs
    is_back = (found[True][0] < found[False][0]) != flip
    pairs = found[is_back][1]
    return pairs if few is one else pairs[:, ::-1]


def _best_start(x, few, many):
    """From which vertex on a ring is sewn with the least length in all, and that length: of long ones every so many are tried,
    and all about the best of these.
    """
    step = max(1, len(many) // MOST_STARTS)
    starts = range(0, len(many), step)
    for _ in range(2):
        cost = [_cost(x, _side_by_side(x, few, np.roll(many, -start), True)) for start in starts]
        best = starts[int(np.argmin(cost))]
        if step == 1:
            break
        starts = range(best - step + 1, best + step)
    return best, min(cost)


def _cost(x, pairs):
    way = x[pairs[:, 0]] - x[pairs[:, 1]]
    return np.sqrt(np.einsum("ij,ij->i", way, way)).sum()


def _side_by_side(x, few, many, is_ring):
    """Each vertex of `few` with the one of `many` that is as far along, both from their first vertices on."""
    along, goal = _along(x, many, is_ring), _along(x, few, is_ring)
    after = np.searchsorted(along, goal).clip(1, max(len(many) - 1, 1))
    before = after - 1
    after = np.minimum(after, len(many) - 1)
    near = np.where(goal - along[before] <= along[after] - goal, before, after)
    rank = np.arange(len(few))
    near = rank + np.maximum.accumulate(near - rank).clip(0, len(many) - len(few))  # each behind the one before it
    return np.stack([few, many[near]], axis=1)


def _along(x, line, is_ring):
    """(n,) part of a line's length at which each of its vertices lies."""
    way = np.append(0.0, np.linalg.norm(x[np.roll(line, -1)] - x[line], axis=1).cumsum())
    return way[: len(line)] / max(way[-1 if is_ring else -2], 1e-30)


def length(x, line, is_ring):
    """Length of a line."""
    steps = np.linalg.norm(x[np.roll(line, -1)] - x[line], axis=1)
    return float(steps.sum() if is_ring else steps[:-1].sum())
