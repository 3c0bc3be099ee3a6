# SPDX-License-Identifier: GPL-3.0-or-later
"""Trunk, arms and legs of a mannequin, whole, in other poses, and cut as dress forms are."""

import bpy  # noqa: F401  (brings mathutils)
import numpy as np
import pytest
from taffeta.patterns import body_parts
from taffeta.presets.scenes import figure

ARM = 0.22  # [m] from the middle: what is beyond is an arm


def whole(x):
    return x, slice(None)


def with_arms_out(x):
    return x + np.array([0, 0, 0.95]) * np.maximum(np.abs(x[:, :1]) - ARM, 0.0), slice(None)


def with_arms_ahead(x):
    beyond = np.maximum(np.abs(x[:, 0]) - 0.2, 0.0)
    return x - np.column_stack([np.sign(x[:, 0]) * beyond, 2.0 * beyond, np.zeros(len(x))]), slice(None)


def in_a_stride(x):
    return x + np.column_stack(
        [np.zeros(len(x)), np.sign(x[:, 0]) * 0.5 * np.maximum(0.7 - x[:, 2], 0.0), np.zeros(len(x))]
    ), slice(None)


def without_hands(x):
    return x, np.abs(x[:, 0]) < 0.5


def without_head(x):
    return x, x[:, 2] < 1.53


def without_legs(x):
    return x, x[:, 2] > 0.8


def a_dress_form(x):
    return x, (np.abs(x[:, 0]) < 0.24) & (x[:, 2] > 0.75) & (x[:, 2] < 1.55)


@pytest.mark.once
@pytest.mark.parametrize(("shape", "arms", "legs"), [
    (whole, 2, 2), (with_arms_out, 2, 2), (with_arms_ahead, 2, 2), (in_a_stride, 2, 2), (without_hands, 2, 2), (without_head, 2, 2),
    (without_legs, 2, 0), (a_dress_form, 0, 0),
])  # fmt: skip
@pytest.mark.parametrize("turn", [0.0, 2.0])
def test_limbs_are_found(shape, arms, legs, turn):
    x, triangles = figure.mesh(coarse=1.3)
    x, kept = shape(x)
    is_kept = np.zeros(len(x), bool)
    is_kept[kept] = True
    place = np.cumsum(is_kept) - 1
    triangles = place[triangles[is_kept[triangles].all(axis=1)]]
    cosine, sine = np.cos(turn), np.sin(turn)
    about = np.array([[cosine, -sine, 0.0], [sine, cosine, 0.0], [0.0, 0.0, 1.0]])
    told = legs or not turn  # without toes it faces -y, or along there
    body = body_parts.read(x[is_kept] @ about.T + 5.0, triangles)
    assert (len(body.arms), len(body.legs)) == (arms, legs)
    if told:
        assert body.front @ about @ (0.0, -1.0, 0.0) > 0.99
        for limbs in (body.arms, body.legs):
            assert [round(np.sign(((limb.start - 5.0) @ about)[0])) for limb in limbs] == [1, -1][: len(limbs)], (
                "its left first"
            )
    assert all(1.2 < arm.start[2] - 5.0 < 1.4 for arm in body.arms)
    assert all(0.6 < leg.start[2] - 5.0 < 0.8 for leg in body.legs)
    assert body.neck >= body.shoulder >= body.chest > body.waist
    if legs and shape is not without_head:
        assert body.shoulder - 5.0 == pytest.approx(1.48, abs=0.03) and body.waist - 5.0 == pytest.approx(
            1.12, abs=0.06
        )


def test_a_body_without_faces_is_told():
    with pytest.raises(ValueError, match="it has no faces"):
        body_parts.read(np.zeros((3, 3)), np.zeros((0, 3), np.int64))
