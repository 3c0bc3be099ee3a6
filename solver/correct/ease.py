# SPDX-License-Identifier: GPL-3.0-or-later
"""Easing: how far everything beside it goes along with what is moved, over the cloth and over frames.

A displacement u of each vertex in each frame is given where it is held. Elsewhere it is what makes

    sum |u|^2 + c sum over edges |u_i - u_j|^2 + k sum over frames |u_f+1 - u_f|^2

least: it falls off by e within `radius` of cloth, c = (radius / length of an edge)^2, and within `frames`, k = frames^2
(the screened Poisson equation; Bhat et al. 2008 have it for pictures). What is farther than `REACH` of these is not moved
at all. Solved by conjugate gradients (Hestenes and Stiefel 1952), sums in one order.
"""

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

REACH = 5.0  # radii from what is held at which nothing is moved any more
SMALL = 1e-10  # square of the residual, by that of the start, at which the solution is good
MOST_ITERATIONS = 400


class Easing(NamedTuple):
    """How far what is moved takes its neighbours along."""

    radius: float  # [m] of cloth, in which it falls off by e
    frames: float  # in which it falls off by e
    opens: bool = False  # whether the frame before the first one is not to be moved
    ends: bool = False  # whether the one after the last is not to be


class Net(NamedTuple):
    """The edges of a cloth."""

    laplacian: csr_array  # (n, n): at each vertex, sum of u_i - u_j
    length: float  # [m] mean of an edge


def make_net(x: np.ndarray, edges: np.ndarray) -> Net:
    """Of vertices x (n, 3) [m] and edges (e, 2)."""
    count = len(x)
    one, other = edges.T
    rows = np.concatenate((one, other, np.arange(count)))
    columns = np.concatenate((other, one, np.arange(count)))
    degree = np.bincount(edges.ravel(), minlength=count).astype(float)
    values = np.concatenate((-np.ones(2 * len(edges)), degree))
    side = x[one] - x[other]
    length = float(np.sqrt((side * side).sum(axis=1)).mean()) if len(edges) else 1.0
    return Net(csr_array((values, (rows, columns)), shape=(count, count)), max(length, 1e-9))


def eased(target: np.ndarray, held: np.ndarray, net: Net, easing: Easing) -> np.ndarray:
    """The displacements (f, n, 3) [m] that are `target` (f, n, 3) where `held` (f, n), and fall off from there."""
    result = np.zeros_like(target)
    near = _near(held.any(axis=0), net, easing)
    if not len(near):
        return result
    coupling = (easing.radius / net.length) ** 2, easing.frames**2
    laplacian = net.laplacian[near][:, near] * coupling[0]
    wanted = np.ascontiguousarray(target[:, near].transpose(1, 0, 2))
    is_held = held[:, near].T[:, :, None]
    apply = lambda u: u + _over_edges(laplacian, u) + coupling[1] * _over_frames(u, easing)  # noqa: E731
    u = _solved(apply, np.where(is_held, wanted, 0.0), ~is_held)
    result[:, near] = u.transpose(1, 0, 2)
    return result


def relaxed(x: np.ndarray, net: Net, radius: float) -> np.ndarray:
    """Where shapes x (f, n, 3) [m] go when each vertex is drawn to its neighbours: y + c L y = x, with L the sum of
    y_i - y_j over the edges and c = (radius / length of an edge)^2 (implicit smoothing; Desbrun et al. 1999)."""
    laplacian = net.laplacian * (radius / net.length) ** 2
    places = np.ascontiguousarray(x.transpose(1, 0, 2))
    apply = lambda u: u + _over_edges(laplacian, u)  # noqa: E731
    moved = _solved(apply, np.zeros_like(places), np.ones((len(places), 1, 1), bool), -_over_edges(laplacian, places))
    return x + moved.transpose(1, 0, 2)


def _near(held: np.ndarray, net: Net, easing: Easing) -> np.ndarray:
    """Numbers of the vertices that may be moved, those that are held (n,) among them."""
    near, rings = held.copy(), int(np.ceil(REACH * easing.radius / net.length))
    for _ in range(rings if held.any() else 0):
        grown = near | ((abs(net.laplacian) @ near.astype(float)) > 0.0)
        if (grown == near).all():
            break
        near = grown
    return np.flatnonzero(near)


def _over_edges(laplacian, u: np.ndarray) -> np.ndarray:
    return (laplacian @ u.reshape(len(u), -1)).reshape(u.shape)


def _over_frames(u: np.ndarray, easing: Easing) -> np.ndarray:
    """At each frame of u (n, f, 3), what it is more than the frames beside it."""
    found, step = np.zeros_like(u), u[:, 1:] - u[:, :-1]
    found[:, 1:] += step
    found[:, :-1] -= step
    if easing.opens:
        found[:, 0] += u[:, 0]
    if easing.ends:
        found[:, -1] += u[:, -1]
    return found


def _solved(apply, u: np.ndarray, free: np.ndarray, right=0.0) -> np.ndarray:
    """What solves apply(u) = right where it is free, and is u elsewhere."""
    residual = np.where(free, right - apply(u), 0.0)
    direction, square = residual, float((residual * residual).sum())
    enough = SMALL * square
    for _ in range(MOST_ITERATIONS):
        if square <= enough:
            break
        along = np.where(free, apply(direction), 0.0)
        step = square / float((direction * along).sum())
        u = u + step * direction
        residual = residual - step * along
        before, square = square, float((residual * residual).sum())
        direction = residual + (square / before) * direction
    return u
