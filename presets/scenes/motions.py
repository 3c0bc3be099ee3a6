# SPDX-License-Identifier: GPL-3.0-or-later
"""Motions and deformations of bodies as Bargmann (2003, 6.1.2) lists them, made of drivers, shape keys and a modifier.

Every one begins at rest: cloth may fall onto the body first.
"""

import math

import numpy as np
from scipy.special import j0

RATE = 24.0  # frames a second
FIRST_ZERO = 2.404826  # of the Bessel function J0: the rim of a drum's skin that swings in its first mode


def swing(seconds, start=13):
    """A driver's expression that swings between -1 and 1 once in `seconds`, from rest at frame `start`."""
    turn = 2.0 * math.pi / (RATE * seconds)
    return f"min(max(frame-{start},0)/{RATE:g},1)*sin({turn:.6f}*(frame-{start}))"


def spin(seconds, start=13):
    """A driver's expression of an angle that grows by a turn in `seconds`, from rest at frame `start`, in a second."""
    turn = 2.0 * math.pi / (RATE * seconds)
    return f"{turn:.6f}*(pow(min(max(frame-{start},0),{RATE:g}),2)/{2 * RATE:g}+max(frame-{start + RATE:g},0))"


def drive(owner, path, expression, index=-1):
    """Let an expression of the frame number drive a property."""
    owner.driver_add(path, index).driver.expression = expression


def lift(obj, height, seconds):
    """Raise and lower a body by `height` [m]."""
    drive(obj, "location", f"{obj.location.z:.6f}+{height}*{swing(seconds)}", 2)


def rotate(obj, axis, seconds):
    """Turn a body about one of its axes (0, 1, 2) once in `seconds`, backwards if that is negative."""
    drive(obj, "rotation_euler", f"{obj.rotation_euler[axis]:.6f}+{spin(seconds)}", axis)


def clock(obj, seconds, stretch):
    """Stretch a body in a direction that goes round the z axis once in `seconds`."""
    x = _points(obj)
    half, none = 0.5 * stretch, np.zeros(len(x))
    turn = 4.0 * math.pi / (RATE * seconds)
    ramp = "min(max(frame-13,0)/24,1)"
    _shape(obj, "Clock", x + half * np.column_stack([x[:, 0], x[:, 1], none]), ramp)
    _shape(obj, "Clock Cosine", x + half * np.column_stack([x[:, 0], -x[:, 1], none]), f"{ramp}*cos({turn:.6f}*frame)")
    _shape(obj, "Clock Sine", x + half * np.column_stack([x[:, 1], x[:, 0], none]), f"{ramp}*sin({turn:.6f}*frame)")


def wings(obj, height, seconds):
    """Pull the middle of a body down while what is far out along x rises by `height` [m], and the other way round."""
    x = _points(obj)
    out = np.abs(x[:, 0]) / np.abs(x[:, 0]).max()
    _shape(obj, "Wings", x + height * (out**2 - 0.3)[:, None] * [0.0, 0.0, 1.0], swing(seconds))


def grow(obj, part, seconds):
    """Scale a body up and down by a part of its size."""
    _shape(obj, "Grow", (1.0 + part) * _points(obj), swing(seconds))


def twist(obj, angle, seconds):
    """Twist a body along its x axis by `angle` [rad] from end to end."""
    modifier = obj.modifiers.new("Twist", "SIMPLE_DEFORM")
    modifier.deform_method, modifier.deform_axis = "TWIST", "X"
    drive(modifier, "angle", f"{angle}*{swing(seconds)}")


def drum(obj, height, seconds):
    """Let a round plate swing as the skin of a drum does in its first mode: its rim stays, its middle goes `height`."""
    x = _points(obj)
    out = np.hypot(x[:, 0], x[:, 1])
    _shape(obj, "Drum", x + height * j0(FIRST_ZERO * out / out.max())[:, None] * [0.0, 0.0, 1.0], swing(seconds))


def _points(obj):
    x = np.empty(3 * len(obj.data.vertices))
    obj.data.vertices.foreach_get("co", x)
    return x.reshape(-1, 3)


def _shape(obj, name, points, expression):
    """Add a shape key that an expression between -1 and 1 drives."""
    if obj.data.shape_keys is None:
        obj.shape_key_add(name="Basis")
    key = obj.shape_key_add(name=name, from_mix=False)
    key.slider_min = -1.0
    key.data.foreach_set("co", np.ascontiguousarray(points, np.float32).ravel())
    drive(key, "value", expression)
