# SPDX-License-Identifier: GPL-3.0-or-later
"""Draping by operators alone, as scripts do: strokes without a mouse, and what is kept of them."""

import bpy
import numpy as np
import pytest
from crossings import count_crossings
from taffeta.operators.drape import session
from taffeta.operators.read import modifier_stack


@pytest.fixture
def sheet(saved, make):
    """A sheet that lies right above a ball."""
    make.collider(make.ball(radius=0.3))
    yield make.cloth(make.grid(count=15, location=(0, 0, 0.31)))
    session.end()


def test_a_script_pulls_steps_back_and_keeps(sheet, make):
    flat = make.world(sheet)
    at = flat[112]  # the middle
    assert bpy.ops.taffeta.drape(steps=4) == {"FINISHED"}
    lain = make.world(sheet)
    assert lain[0, 2] < flat[0, 2] - 0.02 and session.running().steps == 4
    to = at + [0.0, 0.0, 0.25]
    assert bpy.ops.taffeta.drape(doing="GRAB", object=sheet.name, at=at, to=to, radius=0.2, steps=10) == {"FINISHED"}
    assert session.running().hand.held is None  # let go
    assert make.world(sheet)[112, 2] > lain[112, 2] + 0.15
    assert bpy.ops.taffeta.drape_undo() == {"FINISHED"} and np.array_equal(make.world(sheet), lain)
    assert bpy.ops.taffeta.drape_keep(result="REST") == {"FINISHED"}
    assert np.allclose(make.world(sheet), lain, atol=2e-5) and session.running() is None


def test_pins_by_a_script_hold_and_stop_leaves_all_as_it_was(sheet, make):
    flat = make.world(sheet)
    assert bpy.ops.taffeta.drape(doing="PIN", at=flat[0], radius=0.1, steps=8) == {"FINISHED"}
    held = make.world(sheet)
    assert np.allclose(held[0], flat[0], atol=1e-5) and held[14, 2] < flat[14, 2] - 0.05
    assert bpy.ops.taffeta.drape(doing="UNPIN", at=flat[0], radius=0.1, steps=8) == {"FINISHED"}
    assert make.world(sheet)[0, 2] < flat[0, 2] - 0.02
    assert bpy.ops.taffeta.drape(doing="SMOOTH", at=flat[112], radius=0.2, steps=2) == {"FINISHED"}
    assert bpy.ops.taffeta.stop() == {"FINISHED"}
    assert np.array_equal(make.world(sheet), flat) and modifier_stack.find_live(sheet) is None
    assert session.running() is None and bpy.ops.taffeta.keep_pose.poll()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"doing": "GRAB", "object": "Nobody"}, "Nobody is not draped"),
        ({"doing": "GRAB", "at": (float("nan"), 0.0, 0.0)}, "finite"),
    ],
)
def test_a_stroke_that_cannot_be_leaves_nothing(sheet, make, given, words):
    flat = make.world(sheet)
    with pytest.raises(RuntimeError, match=words):
        bpy.ops.taffeta.drape(**given)
    assert session.running() is None and np.array_equal(make.world(sheet), flat)


def test_what_is_pinned_cannot_be_pulled_and_other_simulations_are_told(sheet, make, monkeypatch):
    at = make.world(sheet)[112]
    assert bpy.ops.taffeta.drape(doing="PIN", at=at, radius=5.0, steps=0) == {"FINISHED"}
    with pytest.raises(RuntimeError, match="pinned"):
        bpy.ops.taffeta.drape(doing="GRAB", at=at, radius=0.1)
    session.running().by_script = False
    with pytest.raises(RuntimeError, match="with the mouse"):
        bpy.ops.taffeta.drape()
    with monkeypatch.context() as patched:
        patched.setattr("taffeta.operators.drape.session._drape", None)
        with pytest.raises(RuntimeError, match="under way"):
            bpy.ops.taffeta.drape()


def test_the_throw_is_arranged_on_its_chair_kept_and_baked(saved, make):
    """The example to drape by hand, by the operators that docs/drape.md names."""
    before = set(bpy.data.objects)
    bpy.ops.taffeta.scene_add(name="throw")
    added = {obj.name: obj for obj in set(bpy.data.objects) - before}
    throw, chair = added["Throw"], added["Chair"]
    x = make.world(throw)
    assert bpy.ops.taffeta.drape(steps=16) == {"FINISHED"}
    fallen, corner = make.world(throw), int((x[:, 0] + x[:, 1]).argmax())
    to = fallen[corner] + [-0.3, -0.2, 0.5]
    assert bpy.ops.taffeta.drape(doing="GRAB", at=fallen[corner], to=to, radius=0.15, steps=16) == {"FINISHED"}
    assert make.world(throw)[corner, 2] > fallen[corner, 2] + 0.2
    assert bpy.ops.taffeta.drape_keep(result="KEY") == {"FINISHED"}
    saved.frame_end = 3
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    saved.frame_set(3)
    triangles = []
    for obj in (throw, chair):
        obj.data.calc_loop_triangles()
        triangles.append(np.array([t.vertices for t in obj.data.loop_triangles]))
    x = make.world(throw)
    bodies = [(make.world(chair), triangles[1])]
    assert count_crossings(x, triangles[0], np.zeros(len(x), int), bodies).cloth_body == 0
