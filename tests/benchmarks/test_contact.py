# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenes of `benchmarks/contact.py` that are small or made so: nothing crosses on any frame, and what they are about
happens.
"""

import contact
import contact_scenes
import numpy as np
import pinch_scenes
import pytest
from contact_scenes import AURA, FRAME
from taffeta.solver.contact.guard.impact_zones import ALONE


def clean(scene, frames=0):
    """Run a scene in which nothing may cross; returns positions after each frame (f, n, 3) [m]."""
    seen = []
    done = contact.run(scene, frames, lambda cloth, state, frame: seen.append(state.x + cloth.origin))
    assert done.error == "" and not done.cloth_cloth.any() and not done.outside.any()
    return np.array(seen)


def test_tablecloth_slides_off_the_box():
    x = clean(contact_scenes.tablecloth(), 64)
    over = (np.abs(x[:, :, :2]) < (0.06, 0.08)).all(axis=2)  # folds beside the box may stand higher than that
    assert over[0].any() and not over[-1].any(), "nothing lies on the box any more"
    assert x[-1, :, 2].min() > -AURA


def test_nodes_stay_in_the_icosahedron():
    x = clean(contact_scenes.node(), 96)
    assert np.linalg.norm(x, axis=2).max() < 0.15 * np.sqrt(2.5 + 0.5 * np.sqrt(5.0)), "its corners' distance"


def test_sheet_slides_off_the_rod():
    x = clean(contact_scenes.over_rod("Silk"), 40)
    assert x[-1, :, 2].max() < 0.2 and x[:, :, 2].min() > -AURA


def test_strip_folds_into_layers():
    x = clean(contact_scenes.strip(), 18)
    assert x[-1, :, 2].max() < 0.45, "of 62 cm"
    crossings = (np.diff(np.sign(np.diff(x[-1, ::3, 0]))) != 0).sum()
    assert crossings >= 6, "it turns back and forth"


def test_a_folded_strip_does_not_boil():
    """Contact gives lengths back: without, its edges are wrong by 4 % in the mean."""
    left = {}

    def watch(cloth, state, frame):
        across = state.x[cloth.edges[:, 1]] - state.x[cloth.edges[:, 0]]
        strain = np.linalg.norm(across, axis=1)[cloth.is_mesh_edge] / cloth.rest_length[cloth.is_mesh_edge] - 1.0
        left[frame] = np.abs(strain).mean(), np.linalg.norm(state.v, axis=1).mean()

    contact.run(contact_scenes.strip(), 36, watch)
    strain, speed = np.array([left[frame] for frame in range(31, 37)]).mean(axis=0)
    assert strain < 0.02 and speed < 0.4


def test_pinched_sheet_comes_out_again_and_is_told(monkeypatch):
    scene, told, deepest = pinch_scenes.spheres(13, 0.015, 2.5), {}, {}
    advance = contact.advance

    def listen(cloth, state, given, frame, settings):
        report = advance(cloth, state, given, frame, settings)
        told[frame] = report.pinched
        deepest[frame] = pinch_scenes.depth(scene, state.x + cloth.origin, frame)
        return report

    monkeypatch.setattr(contact, "advance", listen)
    done = contact.run(scene)
    after = slice(scene.pinch.apart - 1, None)
    assert done.error == "" and not done.cloth_cloth.any() and not done.outside.any()
    assert not done.cloth_body[after].any(), "it has come out"
    for frame in scene.pinch.held:
        assert len(told[frame]) and (deepest[frame][told[frame]] > -0.02).all(), "about where both are"
    assert all(told[frame] is None for frame in (*range(1, 12), *range(scene.pinch.apart, scene.frames + 1)))


def test_depth_is_that_between_two_bodies():
    scene = pinch_scenes.spheres()
    frame = scene.pinch.held[0]
    (low, _, radius), (high, _, _) = scene.pinch.capsules(FRAME * frame)
    points = np.array([0.5 * (low + high), low, high + (high - low)])
    apart = np.linalg.norm(high - low)
    assert pinch_scenes.depth(scene, points, frame) == pytest.approx(
        [radius - 0.5 * apart, radius - apart, radius - 2.0 * apart]
    )


def test_what_crosses_is_told(monkeypatch):
    """Without response and guard a strip that folds goes through itself, and the run says so."""
    nothing = np.zeros(len(contact_scenes.strip().garments[0].x), bool)
    answer = 0, np.full(len(nothing), ALONE, np.int32), nothing, nothing
    monkeypatch.setattr("taffeta.solver.contact.resolve.resolve", lambda *given: answer)
    done = contact.run(contact_scenes.strip(), 24, settings=contact.FINAL._replace(small_steps=0.0))
    assert done.cloth_cloth.any() and not contact.passed(contact_scenes.strip(), done)
