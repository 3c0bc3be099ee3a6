# SPDX-License-Identifier: GPL-3.0-or-later
"""The fast part of `benchmarks/fuzz.py --operators`: small random shots, baked as installed, in which nothing may cross."""

import bpy
import fuzz_shots
import numpy as np
import pytest
from people.judge import Judge
from taffeta.presets.scenes import sheet

MOST = 8


@pytest.mark.once
@pytest.mark.parametrize("seed", range(20))
def test_nothing_crosses_in_a_random_shot(seed):
    told = fuzz_shots.report(seed, MOST)
    assert told["passed"], f"{told}"
    frames = bpy.context.scene.frame_end
    assert 12 <= frames <= 20 and told["first_frame"] is None


@pytest.mark.parametrize("seed", [247, 259])
def test_what_the_guard_would_give_up_is_tried_again_more_finely(seed):
    """In 16 rounds of a whole substep it does not find how not to let 3 and 23 particles into a body; in parts of it, it does."""
    told = fuzz_shots.report(seed)
    assert told["passed"], f"{told}"


def test_a_seed_is_a_shot_that_begins_and_stays_apart():
    for seed in range(12):
        shot = fuzz_shots.scene(seed, MOST)
        words, seen = shot.words, Judge(shot)
        assert seen.look() and seen.crossings == [(0, 0, 0)] and shot.bodies
        again = fuzz_shots.scene(seed, MOST)
        same = Judge(again)
        assert again.words == words and same.look() and np.array_equal(same.x, seen.x)
        assert all(map(np.array_equal, same.bodies, seen.bodies)), "Blender's sphere shuffles its faces"


def test_bodies_keep_apart_and_move():
    """Balls round them do, in every frame: what is looked at here is where they are shown."""
    moved = 0.0
    for seed in range(12):
        shot = fuzz_shots.scene(seed, MOST)
        scene, places = bpy.context.scene, []
        radii = [max(vertex.co.length for vertex in obj.data.vertices) for obj in shot.bodies]
        for frame in range(1, scene.frame_end + 1):
            scene.frame_set(frame)
            places.append([np.array(obj.matrix_world.translation) for obj in shot.bodies])
        places = np.array(places)
        moved = max(moved, np.linalg.norm(places[-1] - places[0], axis=1).max())
        for one in range(len(radii)):
            for other in range(one):
                apart = np.linalg.norm(places[:, one] - places[:, other], axis=1)
                assert apart.min() > radii[one] + radii[other] + fuzz_shots.ROOM
    assert moved > 0.5


def test_a_crossing_is_found_and_told(monkeypatch):
    """A ball is put where the cloth begins."""
    made = fuzz_shots.scene

    def pierced(seed, most):
        shot = made(seed, most)
        shot.bodies[0].animation_data_clear()
        middle = shot.garments[0].data.vertices[len(shot.garments[0].data.vertices) // 2].co
        shot.bodies[0].location = middle
        sheet.collide(shot.bodies[0])
        bpy.context.view_layer.update()
        return shot

    monkeypatch.setattr(fuzz_shots, "scene", pierced)
    told = fuzz_shots.report(2, MOST)
    assert not told["passed"] and told["first_frame"] == 1 and told["cloth_body"] > 0
