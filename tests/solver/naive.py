# SPDX-License-Identifier: GPL-3.0-or-later
"""Plain twins of the compiled solver, written for reading, and garments for tests.

A twin takes the same arrays as its kernel and does the same arithmetic on one item after the other.
"""

from itertools import combinations

import numpy as np
from taffeta.solver.integrate.stiffness_matrix import lay_out
from taffeta.solver.model import FrameInput, Garment


def sheet(columns, rows, width=1.0, height=1.0, diagonals="same", **changes):
    """A garment of columns x rows vertices in the plane z = 0, vertex (i, j) at index i * rows + j.

    `diagonals` is how each quad is cut: "same" direction, "alternating", or "none": triangles that know no quads.
    A number among `changes` becomes an array, one value per vertex.
    """
    across, up = np.meshgrid(np.linspace(0, width, columns), np.linspace(0, height, rows), indexing="ij")
    x = np.stack([across.ravel(), up.ravel(), np.zeros(columns * rows)], axis=1)
    index = np.arange(columns * rows).reshape(columns, rows)
    quads = np.stack([index[:-1, :-1], index[1:, :-1], index[1:, 1:], index[:-1, 1:]], axis=-1).reshape(-1, 4)
    turned = np.add.outer(np.arange(columns - 1), np.arange(rows - 1)).ravel() % 2 == 1
    cut = np.roll(quads, 1, axis=1) if diagonals == "alternating" else quads
    cut = np.where(turned[:, None], cut, quads)
    triangles = np.concatenate([cut[:, [0, 1, 2]], cut[:, [0, 2, 3]]])
    faces = triangles if diagonals == "none" else quads
    sides = np.concatenate([faces[:, [k, (k + 1) % faces.shape[1]]] for k in range(faces.shape[1])])
    quads = quads[:0] if diagonals == "none" else quads
    return garment(x, triangles, quads, np.unique(np.sort(sides, axis=1), axis=0), uv=x[triangles][..., :2], **changes)


def garment(x, triangles, quads=None, edges=None, uv=None, **changes):
    """A garment of cotton; a number among `changes` becomes an array, one value per vertex."""
    x, triangles = np.asarray(x, dtype=float), np.asarray(triangles, dtype=np.int32).reshape(-1, 3)
    if edges is None:
        edges = np.array(sorted({tuple(sorted(p)) for t in triangles.tolist() for p in combinations(t, 2)}))
    values = {
        "mass": 0.15, "thickness": 0.002, "stretch_stiffness": 2000.0, "shear_stiffness": 100.0,
        "bending_stiffness": 1e-5, "damping": 2.0, "friction": 0.3, "pin": 0.0, "pin_distance": np.inf,
    }  # fmt: skip
    values |= {name: changes.pop(name) for name in list(changes) if name in values}
    values = {name: np.broadcast_to(np.asarray(v, dtype=float), len(x)).copy() for name, v in values.items()}
    fields = {
        "name": "Sheet", "x": x, "x_start": x.copy(), "triangles": triangles,
        "quads": np.zeros((0, 4), np.int32) if quads is None else np.asarray(quads, dtype=np.int32),
        "edges": np.asarray(edges, dtype=np.int32).reshape(-1, 2), "uv": uv, "layer": 0, "self_collision": False,
    }  # fmt: skip
    return Garment(**(fields | values | changes))


def still(targets, duration=1 / 24, gravity=(0, 0, -9.81), wind=(0, 0, 0), colliders=()):
    """A frame in which the pose stays where it is; targets (n, 3) or (s + 1, n, 3) [m]."""
    targets = np.asarray(targets, dtype=float)
    targets = targets if targets.ndim == 3 else targets[None].repeat(2, axis=0)
    return FrameInput(duration, targets, tuple(colliders), np.array(gravity, float), np.array(wind, float))


def spring_constants(garment):
    """{(low, high): k [N/m]} by walking over faces; quads must be cut into the two triangles of one diagonal."""
    x, faces = garment.x, [tuple(t) for t in garment.triangles.tolist()]
    mesh = {tuple(sorted(e)) for e in garment.edges.tolist()}
    beside, quad_of = {}, {}
    for t, (a, b, c) in enumerate(faces):
        for pair in ((a, b), (b, c), (a, c)):
            beside.setdefault(tuple(sorted(pair)), []).append(t)
    for quad in garment.quads.tolist():
        halves = [t for t, face in enumerate(faces) if set(face) <= set(quad)]
        quad_of |= dict.fromkeys(halves, quad)
        for diagonal in ((quad[0], quad[2]), (quad[1], quad[3])):
            beside[tuple(sorted(diagonal))] = halves

    def piece(t):
        a, b, c = (x[v] for v in faces[t])
        return 0.5 * np.linalg.norm(np.cross(b - a, c - a))

    def alignment(i, j, t):
        if garment.uv is None:
            return float((i, j) in mesh)
        (u0, v0), (u1, v1), (u2, v2) = garment.uv[t]
        a, b, c = (x[v] for v in faces[t])
        jacobian = np.array([[u1 - u0, v1 - v0], [u2 - u0, v2 - v0]])
        warp = np.linalg.solve(jacobian, np.stack([b - a, c - a]))[0]
        direction = (x[j] - x[i]) / np.linalg.norm(x[j] - x[i])
        return np.cos(2 * np.arccos(np.clip(direction @ warp / np.linalg.norm(warp), -1, 1))) ** 2

    constants = {}
    for (i, j), around in beside.items():
        area = sum(piece(t) for t in around)
        stretch = 0.5 * (garment.stretch_stiffness[i] + garment.stretch_stiffness[j])
        shear = 0.5 * (garment.shear_stiffness[i] + garment.shear_stiffness[j])
        length2 = (x[j] - x[i]) @ (x[j] - x[i])
        along = carriers = thread = 0.0
        for t in around:
            if t in quad_of and (i, j) not in mesh:
                sides = [tuple(sorted(p)) for p in combinations(faces[t], 2) if tuple(sorted(p)) in mesh]
                aligned, oblong = 1 - sum(alignment(*side, t) for side in sides) / 2, 1.0
                carriers += piece(t) / area * length2**2 / (2 * area**2)
            else:
                aligned, oblong = alignment(i, j, t), length2 / (2 * piece(t))
                carriers += piece(t) / area * (2.0 if t in quad_of else 4.0)
            left = 0.5 * (stretch + np.sqrt(stretch**2 + 4 * shear**2)) - shear * oblong**2
            along += piece(t) / area * aligned
            thread += piece(t) / area * aligned * (max(left, 0.05 * stretch) if t in quad_of else stretch)
        constants[i, j] = (thread + shear * carriers * (1 - along)) * max(area / length2, 0.05)
    return constants


def triangles_of(garment):
    """(corners, pattern coordinates or None, weight) of all triangles: a quad counts as cut both ways, half each."""
    quad_of = {}
    for quad in garment.quads.tolist():
        quad_of |= {t: quad for t, face in enumerate(garment.triangles.tolist()) if set(face) <= set(quad)}
    found, done = [], set()
    for t, face in enumerate(garment.triangles.tolist()):
        found.append((face, None if garment.uv is None else garment.uv[t], 0.5 if t in quad_of else 1.0))
        if t not in quad_of or tuple(quad_of[t]) in done:
            continue
        quad = quad_of[t]
        done.add(tuple(quad))
        uv = {}
        for half in (h for h in quad_of if quad_of[h] == quad and garment.uv is not None):
            uv |= dict(zip(garment.triangles[half].tolist(), garment.uv[half], strict=True))
        cut = (0, 1, 3), (1, 2, 3)
        if {quad[1], quad[3]} <= set(face):
            cut = (0, 1, 2), (0, 2, 3)
        for corners in cut:
            other = [quad[k] for k in corners]
            found.append((other, np.array([uv[v] for v in other]) if uv else None, 0.5))
    return found


def elasticity(kw, kf, g, nu):
    """C of an orthotropic membrane, (3, 3) [N/m], for strains along warp and weft and the shear angle."""
    between = nu * np.sqrt(kw * kf)
    return np.array([[kw, between, 0], [between, kf, 0], [0, 0, g * (1 - nu**2)]]) / (1 - nu**2)


def membrane_energy(garment, x):
    """Sum of A/2 e^T C e [J] of constant-strain triangles, by the deformation gradient and Green's strain.

    Without a pattern the cloth is isotropic; quads without a pattern are not for this twin.
    """
    energy = 0.0
    for corners, uv, weight in triangles_of(garment):
        a, b, c = garment.x[corners]
        sides, now = np.stack([b - a, c - a]), np.stack([x[corners[1]] - x[corners[0]], x[corners[2]] - x[corners[0]]])
        along = np.eye(2) if uv is None else np.linalg.inv(np.stack([uv[1] - uv[0], uv[2] - uv[0]])) @ sides
        first = sides[0] if uv is None else along[0]
        first = first / np.linalg.norm(first)
        normal = np.cross(*sides)
        second = np.cross(normal, first) / np.linalg.norm(normal)
        gradient = np.linalg.inv(sides @ np.stack([first, second]).T) @ now  # (2, 3): rows along warp and weft
        green = 0.5 * (gradient @ gradient.T - np.eye(2))
        kw, g = garment.stretch_stiffness[corners].mean(), garment.shear_stiffness[corners].mean()
        kf, nu = kw * garment.weft_stretch, garment.poisson
        if uv is None:
            kw = kf = np.sqrt(kw * kf)
            g = kw / (2 + 2 * nu)
        e = np.array([green[0, 0], green[1, 1], 2 * green[0, 1]])
        energy += weight * 0.25 * np.linalg.norm(normal) * e @ elasticity(kw, kf, g, nu) @ e
    return energy


def dihedral_angle(x, stencil):
    """Angle between the normals of the triangles (e0, e1, o0) and (e1, e0, o1) [rad], unsigned."""
    e0, e1, o0, o1 = (x[v] for v in stencil)
    n0, n1 = np.cross(e1 - e0, o0 - e0), np.cross(e0 - e1, o1 - e1)
    return np.arctan2(np.linalg.norm(np.cross(n0, n1)), n0 @ n1)


def bend_vectors(cloth, x):
    """L of every hinge, (b, 3)."""
    return np.array([sum(k * x[v] for k, v in zip(cloth.bend_weight[h], cloth.bend_stencils[h], strict=True))
                     for h in range(len(cloth.bend_stencils))])  # fmt: skip


def bending_energy(cloth, x):
    """1/2 k (|L| - 2 sin(theta0 / 2))^2, and 2 cos of folded ones, over all hinges [J]; sides are not told apart."""
    half, is_folded = np.abs(cloth.rest_angle) / 2, cloth.bend_weight[:, 2] * cloth.bend_weight[:, 3] < 0
    bend = np.linalg.norm(bend_vectors(cloth, x), axis=1) - 2 * np.where(is_folded, np.cos(half), np.sin(half))
    return float((0.5 * bend**2 * cloth.bend_stiffness).sum())


def spring_energy(cloth, x):
    """1/2 k (length - rest length)^2 over all springs, what couples them, and 1/2 g (length - limit)^2 beyond that [J]."""
    longer = np.linalg.norm(x[cloth.edges[:, 1]] - x[cloth.edges[:, 0]], axis=1) - cloth.rest_length
    shared = cloth.coupling * longer[cloth.couples[:, 0]] * longer[cloth.couples[:, 1]]
    beyond = np.maximum(longer + cloth.rest_length - cloth.taut[:, 0], 0.0)
    return float(
        (0.5 * longer**2 * cloth.edge_stiffness).sum() + shared.sum() + (0.5 * cloth.taut[:, 1] * beyond**2).sum()
    )


def uncoupled(cloth):
    """The cloth with springs that do not know of each other: the matrix of the solve is exact for these in tension."""
    cloth = cloth._replace(couples=cloth.couples[:0], coupling=cloth.coupling[:0])
    return cloth._replace(matrix=lay_out(cloth))


def blow(x, v, inv_mass, triangles, wind, drag, lift, dt):
    """Velocities after dt of air on every triangle; `drag` and `lift` are 1/2 rho C."""
    v = v.copy()
    for face in triangles:
        a, b, c = x[face]
        normal = np.cross(b - a, c - a)
        area = 0.5 * np.linalg.norm(normal)
        n = normal / (2 * area)
        u = wind - v[face].mean(axis=0)
        through, speed = u @ n, np.linalg.norm(u)
        if through == 0.0:
            continue
        force = drag * area * abs(through) * u + lift * area * through * speed * (n - through * u / speed**2)
        rate = (drag + abs(lift)) * area * abs(through) / 9 * inv_mass[face].sum()
        v[face] += np.outer(inv_mass[face], force / 3 * dt / (1 + dt * rate))
    return v
