# SPDX-License-Identifier: GPL-3.0-or-later
"""The mannequin as numbers: where its joints are and what flesh lies round them. Numpy only.

A neutral figure of 1.75 m and seven and three quarter heads, facing -Y, soles on z = 0, arms about 45 degrees
below the horizontal. +X is the figure's left. Only the left side is written down; the right is its mirror image.
"""

from functools import cache
from typing import NamedTuple

import numpy as np

from . import surface

SLOPE = 0.77  # [rad] of the arms below the horizontal; not 45 degrees, which would run along the grid's diagonals
ARM = np.array([np.cos(SLOPE), 0.0, -np.sin(SLOPE)])  # direction of the left arm
PALM = np.array([-np.sin(SLOPE), 0.0, -np.cos(SLOPE)])  # the way the left palm faces
THUMB = np.array([0.0, -1.0, 0.0])  # from the left palm towards its thumb

SHOULDER = np.array([0.172, 0.016, 1.418])
ELBOW = SHOULDER + 0.285 * ARM + [0.0, 0.006, 0.0]
WRIST = ELBOW + 0.250 * ARM + [0.0, -0.016, 0.0]
HIP, KNEE, ANKLE = np.array([0.086, 0.008, 0.915]), np.array([0.088, -0.006, 0.495]), np.array([0.088, 0.028, 0.085])
BALL, TOE_TIP = np.array([0.102, -0.098, 0.022]), np.array([0.110, -0.172, 0.020])
HEEL = np.array([0.088, 0.085, 0.0])  # where the heel touches the ground

#: name: (knuckle along ARM, towards THUMB, towards PALM [m]), length [m], splay [rad], radius at root and tip [m]
FINGERS = {
    "index": ((0.091, 0.0315, 0.000), 0.072, 0.105, 0.0088, 0.0070),
    "middle": ((0.096, 0.0100, -0.002), 0.080, 0.025, 0.0090, 0.0070),
    "ring": ((0.092, -0.0120, -0.001), 0.074, -0.055, 0.0086, 0.0068),
    "little": ((0.083, -0.0325, 0.002), 0.059, -0.140, 0.0078, 0.0062),
}
#: joints of the thumb, (along ARM, towards THUMB, towards PALM) [m]
THUMB_JOINTS = ((0.022, 0.026, 0.010), (0.056, 0.049, 0.018), (0.086, 0.066, 0.022), (0.110, 0.077, 0.024))


class Joint(NamedTuple):
    """A bone at rest."""

    head: np.ndarray  # (3,) [m]
    tail: np.ndarray  # (3,) [m]
    parent: str  # name of the bone above, "" for the root


def in_hand(along, towards_thumb, towards_palm):
    """Return a point [m] given in the left hand's own directions from the wrist."""
    return WRIST + along * ARM + towards_thumb * THUMB + towards_palm * PALM


def finger_joints(name):
    """Return the four joints (4, 3) [m] of a left finger, knuckle to tip, slightly curled to the palm."""
    root, length, splay, _, _ = FINGERS[name]
    points, curl = [in_hand(*root)], 0.06
    for part in (0.46, 0.30, 0.24):
        direction = np.cos(curl) * (np.cos(splay) * ARM + np.sin(splay) * THUMB) + np.sin(curl) * PALM
        points.append(points[-1] + part * length * direction)
        curl += 0.09
    return np.array(points)


def skeleton():
    """Return the bones by name, parents before children: {name: Joint}."""
    column = [(0, 0.012, 0.94), (0, 0.010, 1.06), (0, 0.014, 1.17), (0, 0.022, 1.29), (0, 0.026, 1.455)]
    column += [(0, 0.004, 1.555), (0, 0.004, 1.75)]
    column = [np.array(p, float) for p in column]
    names = ("hips", "spine.1", "spine.2", "chest", "neck", "head")
    bones = {}
    for k, name in enumerate(names):
        bones[name] = Joint(column[k], column[k + 1], names[k - 1] if k else "")
    left = {
        "clavicle": (np.array([0.022, 0.004, 1.432]), SHOULDER, "chest"),
        "upper_arm": (SHOULDER, ELBOW, "clavicle"),
        "forearm": (ELBOW, WRIST, "upper_arm"),
        "hand": (WRIST, in_hand(0.085, 0, 0), "forearm"),
        "thigh": (HIP, KNEE, "hips"),
        "shin": (KNEE, ANKLE, "thigh"),
        "foot": (ANKLE, BALL, "shin"),
        "toes": (BALL, TOE_TIP, "foot"),
    }
    for finger in (*FINGERS, "thumb"):
        joints = finger_joints(finger) if finger != "thumb" else np.array([in_hand(*j) for j in THUMB_JOINTS])
        for k in range(3):
            left[f"{finger}.{k + 1}"] = (joints[k], joints[k + 1], f"{finger}.{k}" if k else "hand")
    for side, flip in (("L", 1.0), ("R", -1.0)):
        for name, (head, tail, parent) in left.items():
            parent = f"{parent}.{side}" if parent in left else parent
            bones[f"{name}.{side}"] = Joint(head * [flip, 1, 1], tail * [flip, 1, 1], parent)
    return bones


def flesh():
    """Return the parts of the whole figure, joined in this order."""
    centre, left = _trunk() + _head(), _arm() + _hand() + _leg() + _foot()
    both = [p for part in left for p in (part, surface.mirrored(part))]
    sole = surface.ground(0.0, (-0.4, -0.4, -0.1), (0.4, 0.4, 0.06), 0.008)
    return centre + both + [sole]


def _trunk():
    front = (0, -1, 0)
    torso = [  # (height, half width, half depth, shift to the front)
        (0.835, 0.085, 0.066, -0.014),
        (0.880, 0.146, 0.094, -0.014),
        (0.930, 0.163, 0.105, -0.013),
        (0.980, 0.160, 0.100, -0.008),
        (1.035, 0.143, 0.090, 0.000),
        (1.095, 0.126, 0.083, 0.003),
        (1.155, 0.125, 0.084, 0.002),
        (1.230, 0.138, 0.096, 0.001),
        (1.300, 0.151, 0.103, -0.002),
        (1.360, 0.155, 0.098, -0.008),
        (1.405, 0.140, 0.080, -0.015),
        (1.435, 0.095, 0.058, -0.020),
    ]
    low, high = torso[0][0], torso[-1][0]
    rows = [((z - low) / (high - low), w, d, s) for z, w, d, s in torso]
    neck = [(0.0, 0.058, 0.060, 0.0), (0.5, 0.051, 0.055, 0.0), (1.0, 0.051, 0.057, 0.0)]
    parts = [
        surface.loft((0, 0, low), (0, 0, high), front, rows, 0.02),
        surface.loft((0, 0.028, 1.42), (0, 0.004, 1.575), front, neck, 0.025),
    ]
    for x in (1.0, -1.0):
        parts += [
            surface.capsule((0.026 * x, 0.034, 1.488), (0.150 * x, 0.024, 1.428), 0.024, 0.034, 0.04),  # trapezius
            surface.capsule((0.060 * x, -0.016, 1.400), (0.165 * x, 0.008, 1.402), 0.044, 0.050, 0.03),  # collar bone
            surface.ellipsoid((0.070 * x, -0.066, 1.322), (0.074, 0.038, 0.060), 0.05),  # breast
            surface.ellipsoid((0.085 * x, 0.062, 1.340), (0.075, 0.040, 0.085), 0.05),  # shoulder blade
            surface.ellipsoid((0.075 * x, 0.062, 0.915), (0.076, 0.062, 0.082), 0.045),  # buttock
        ]
    return parts


def _head():
    face = [
        (0.00, 0.0665, 0.074, 0.002),
        (0.30, 0.0655, 0.072, 0.003),
        (0.65, 0.0585, 0.062, 0.004),
        (0.90, 0.0475, 0.050, 0.006),
        (1.00, 0.0390, 0.042, 0.008),
    ]
    parts = [
        surface.ellipsoid((0, 0.014, 1.658), (0.0745, 0.0935, 0.0920), 0.02),  # skull
        surface.loft((0, -0.020, 1.665), (0, -0.036, 1.548), (0, -1, 0), face, 0.03),  # face and jaw
        surface.ellipsoid((0, -0.077, 1.546), (0.024, 0.016, 0.017), 0.028),  # chin
        surface.capsule((0, -0.086, 1.640), (0, -0.107, 1.601), 0.0070, 0.0100, 0.016),  # nose
        surface.ellipsoid((0, -0.100, 1.598), (0.0140, 0.010, 0.0075), 0.008),  # wings of the nose
        surface.ellipsoid((0, -0.0875, 1.5695), (0.019, 0.008, 0.0085), 0.014),  # mouth
    ]
    for x in (1.0, -1.0):
        parts.append(surface.ellipsoid((0.032 * x, -0.103, 1.630), (0.020, 0.017, 0.013), 0.022, carve=True))  # socket
        lean = np.array([[1.0, 0.35 * x, 0.0], [-0.35 * x, 1.0, 0.15], [0.0, -0.15, 1.0]])
        lean /= np.linalg.norm(lean, axis=1)[:, None]
        parts.append(surface.ellipsoid((0.0760 * x, 0.020, 1.625), (0.0085, 0.018, 0.030), 0.008, axes=lean))  # ear
    return parts


def _arm():
    front = (0, -1, 0)
    upper = [
        (0.0, 0.044, 0.048, 0.0),
        (0.2, 0.045, 0.050, 0.0),
        (0.45, 0.040, 0.044, 0.0),
        (0.75, 0.034, 0.037, 0.0),
        (1.0, 0.030, 0.032, 0.0),
    ]
    fore = [
        (0.0, 0.030, 0.032, 0.0),
        (0.2, 0.036, 0.039, 0.003),
        (0.45, 0.032, 0.035, 0.002),
        (0.75, 0.023, 0.027, 0.0),
        (1.0, 0.018, 0.025, 0.0),
    ]
    return [
        surface.ellipsoid(SHOULDER + [0.006, 0.0, -0.014], (0.052, 0.055, 0.058), 0.04),  # deltoid
        surface.loft(SHOULDER + [0.004, 0.0, -0.004], ELBOW, front, upper, 0.025),
        surface.loft(ELBOW, WRIST, front, fore, 0.012),
    ]


def _hand():
    palm = [
        (0.0, 0.0165, 0.0245, 0.0),
        (0.3, 0.0165, 0.0330, 0.002),
        (0.7, 0.0150, 0.0400, 0.001),
        (1.0, 0.0110, 0.0400, 0.0),
    ]
    parts = [surface.loft(in_hand(-0.008, 0, 0), in_hand(0.084, 0, 0), THUMB, palm, 0.012)]
    for name in FINGERS:
        joints, (_, _, _, root, tip) = finger_joints(name), FINGERS[name]
        radii = np.interp([0.0, 0.46, 0.76, 1.0], [0.0, 1.0], [root, tip])
        start = joints[0] - 0.25 * (joints[1] - joints[0])
        parts.append(surface.capsule(start, joints[1], radii[0], radii[1], 0.006))
        parts.append(surface.capsule(joints[1], joints[2], radii[1], radii[2], 0.003))
        parts.append(surface.capsule(joints[2], joints[3] - 0.006 * ARM, radii[2], radii[3], 0.003))
    thumb = [in_hand(*j) for j in THUMB_JOINTS]
    parts.append(surface.capsule(in_hand(0.030, 0.012, 0.008), thumb[1], 0.0155, 0.0125, 0.012))
    parts.append(surface.capsule(thumb[1], thumb[2], 0.0120, 0.0102, 0.004))
    parts.append(surface.capsule(thumb[2], thumb[3], 0.0102, 0.0078, 0.003))
    return parts


def _leg():
    front = (0, -1, 0)
    thigh = [
        (0.0, 0.076, 0.084, -0.004),
        (0.15, 0.078, 0.085, 0.000),
        (0.4, 0.068, 0.076, 0.006),
        (0.7, 0.054, 0.061, 0.006),
        (0.88, 0.047, 0.052, 0.003),
        (1.0, 0.043, 0.047, 0.0),
    ]
    shin = [
        (0.0, 0.042, 0.046, 0.000),
        (0.12, 0.045, 0.049, -0.006),
        (0.30, 0.049, 0.055, -0.014),
        (0.6, 0.038, 0.042, -0.008),
        (0.85, 0.028, 0.033, -0.001),
        (1.0, 0.028, 0.035, 0.0),
    ]
    return [
        surface.loft(HIP, KNEE, front, thigh, 0.03),
        surface.loft(KNEE, ANKLE, front, shin, 0.015),
        surface.ellipsoid(KNEE + [0.0, -0.030, 0.010], (0.026, 0.018, 0.034), 0.03),  # knee cap
    ]


def _foot():
    heel = ANKLE + [0.0, 0.030, -0.052]
    return [
        surface.ellipsoid(heel, (0.030, 0.034, 0.036), 0.025),
        surface.ellipsoid(ANKLE + [0.0, 0.0, -0.004], (0.035, 0.030, 0.026), 0.02),
        surface.loft(
            ANKLE + [0.0, 0.01, -0.03],
            BALL + [0.0, 0.0, 0.004],
            (0, 0, 1),
            [
                (0.0, 0.031, 0.042, 0.0),
                (0.5, 0.036, 0.036, 0.002),
                (1.0, 0.045, 0.021, 0.0),
            ],
            0.025,
        ),
        surface.loft(
            BALL + [0.0, 0.02, 0.0],
            TOE_TIP + [-0.004, 0.024, -0.002],
            (0, 0, 1),
            [
                (0.0, 0.045, 0.021, 0.0),
                (0.6, 0.043, 0.018, 0.0),
                (1.0, 0.034, 0.015, 0.0),
            ],
            0.015,
        ),
    ]


def edge_size(points):
    """Return the wanted edge length (n,) [m] at points (n, 3) of the surface; 0 keeps the finest there is (hands)."""
    mirrored = np.abs(points[:, 0:1]) * [1.0, 0.0, 0.0] + points * [0.0, 1.0, 1.0]
    size = np.full(len(points), 0.024)
    along, off = (mirrored - WRIST) @ ARM, np.linalg.norm(np.cross(mirrored - WRIST, ARM), axis=1)
    along = np.where(off < 0.12, along, -1.0)
    size = np.where(along > -0.12, np.interp(along, [-0.12, 0.03], [0.020, 0.010]), size)
    size = np.where(points[:, 2] > 1.44, np.interp(points[:, 2], [1.44, 1.56], [0.024, 0.011]), size)
    size = np.where(points[:, 2] < 0.16, np.interp(points[:, 2], [0.06, 0.16], [0.013, 0.024]), size)
    fingers = (along > 0.080) | ((along > 0.03) & ((mirrored - WRIST) @ THUMB > 0.036))
    return np.where(fingers, 0.0, size)


@cache
def mesh(spacing=0.005, coarse=1.0, finest=0.0):
    """Return vertices (n, 3) [m] and triangles (m, 3) of the figure: closed, manifold, wound outwards.

    Edges are `coarse` times as long as `edge_size` says, and `finest` [m] at least.

    Takes some seconds the first time in a session. Raises RuntimeError if the surface has an open or crossed edge.
    """
    parts = flesh()
    points, quads = surface.polygonise(parts, spacing)
    dense = surface.triangulated(points, quads)
    points, triangles = surface.remesh(points, dense, np.maximum(coarse * edge_size(points), finest))
    points = surface.relax(parts, points, triangles)
    if surface.open_edges(triangles):
        raise RuntimeError(f"The mannequin's surface is not closed at a grid of {spacing} m; choose another spacing.")
    return points, triangles
