# SPDX-License-Identifier: GPL-3.0-or-later
"""Lines of a pattern from their corners: straight, Bezier curves, arcs of circles, each as closely spaced points."""

import math
from math import comb

import numpy as np

POINTS = 257  # of a curve: 1 m of a half circle is 8e-6 short


def straight(start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """(2, 2) the line from one corner to another."""
    return np.array([start, end])


def bezier(start: np.ndarray, controls: np.ndarray, end: np.ndarray) -> np.ndarray:
    """(k, 2) a Bezier curve with its control points (1 or 2, 2), by Bernstein's polynomials."""
    points = np.concatenate([[start], controls, [end]])
    t, degree = np.linspace(0.0, 1.0, POINTS)[:, None], len(points) - 1
    curve = sum(comb(degree, k) * t**k * (1.0 - t) ** (degree - k) * point for k, point in enumerate(points))
    curve[0], curve[-1] = start, end
    return curve


def in_frame_of(start: np.ndarray, end: np.ndarray, relative: np.ndarray) -> np.ndarray:
    """Points (k, 2) given along the edge and to its left, in lengths of the edge, where they are."""
    across = end - start
    return start + relative[:, :1] * across + relative[:, 1:] * np.array([-across[1], across[0]])


def arc(start: np.ndarray, end: np.ndarray, radius: float, is_large: bool, is_right: bool) -> np.ndarray:
    """(k, 2) an arc of a circle, the larger one or the smaller, on the right of the way from start to end or on its left.

    A radius that is less than half the distance is taken for that half.
    """
    across = end - start
    half = 0.5 * float(np.hypot(*across))
    if half == 0.0:
        return straight(start, end)
    radius = max(radius, half)
    away = math.sqrt(max(radius**2 - half**2, 0.0))
    left = np.array([-across[1], across[0]]) / (2.0 * half)
    # the centre of a small arc lies on the other side than the arc
    centre = 0.5 * (start + end) + left * (away if is_right != is_large else -away)
    turn = 2.0 * math.asin(min(half / radius, 1.0))
    turn = 2.0 * math.pi - turn if is_large else turn
    first = math.atan2(*(start - centre)[::-1])
    angle = first + np.linspace(0.0, turn if is_right else -turn, POINTS)
    points = centre + radius * np.column_stack([np.cos(angle), np.sin(angle)])
    points[0], points[-1] = start, end
    return points
