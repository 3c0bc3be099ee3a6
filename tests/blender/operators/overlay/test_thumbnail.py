# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a garment stands in its own small picture."""

import bpy
import numpy as np
import pytest
from mathutils import Euler, Vector
from taffeta.operators.overlay import thumbnail
from taffeta.operators.read import write_back


@pytest.mark.parametrize("turn", [(0, 0, 0), (1.1, 0.0, 0.6), (1.57, 0.3, -2.0)])
def test_the_garment_fills_the_picture_from_any_direction(make, turn):
    obj = make.ball(radius=0.5)
    obj.location, obj.scale = (30.0, -4.0, 2.0), (1.0, 2.0, 0.5)
    bpy.context.view_layer.update()
    view, projection = thumbnail.looking_at(obj, Euler(turn).to_quaternion())
    seen = np.array([projection @ view @ obj.matrix_world @ Vector(corner).to_4d() for corner in obj.bound_box])
    assert seen[:, 3] == pytest.approx(np.ones(8))
    assert np.abs(seen[:, :2]).max() == pytest.approx(1 / thumbnail.MARGIN, abs=1e-4)
    assert np.abs(seen[:, 2]).max() < 1.0, "in front of the near plane and behind the far one"
    assert np.abs(seen[:, :2].min(axis=0) + seen[:, :2].max(axis=0)).max() < 1e-4, "in the middle"


def test_a_picture_is_kept_as_it_was_drawn(tmp_path):
    pixels = np.zeros((4, 6, 4), np.float32)
    pixels[..., 3], pixels[0, :, 0], pixels[3, 5, 2] = 1.0, 1.0, 1.0
    before = len(bpy.data.images)
    write_back.save_picture(pixels, tmp_path / "Own.png")
    assert len(bpy.data.images) == before
    image = bpy.data.images.load(str(tmp_path / "Own.png"))
    found = np.array(image.pixels[:]).reshape(4, 6, 4)
    assert np.array_equal(found, pixels)


def test_without_a_window_there_is_none(make, tmp_path):
    assert not thumbnail.draw_thumbnail(bpy.context, make.grid(), tmp_path / "Own.png")
    assert not (tmp_path / "Own.png").exists()
