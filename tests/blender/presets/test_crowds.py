# SPDX-License-Identifier: GPL-3.0-or-later
"""The scenes of cloths on cloth of Buffet (2021, figures 2.16, 3.4 to 3.6 and 3.15), baked; crossings by ipctk.

Where the field lets a few through, how many is chance: each scene was also baked with gravity stronger by some millionths, 7 or 8
times. Bounds are one and a half to two times the worst of these, and 0 where none was seen.
"""

import json

import bpy
import numpy as np
import pytest
from crossings import count_crossings
from scipy.spatial import cKDTree
from seen import triangles_of


def baked(scene, name, frames, contact=None, **options):
    """Add an example and bake it to a frame, with its own contact of cloth on cloth or another; its garments and bodies, and the
    report.
    """
    assert bpy.ops.taffeta.scene_add(name=name, **options) == {"FINISHED"}
    scene.taffeta.cloth_contact = contact or scene.taffeta.cloth_contact
    scene.frame_end = frames
    cloths = sorted((obj for obj in scene.objects if obj.taffeta_cloth.enabled), key=lambda obj: obj.name)
    bodies = [obj for obj in scene.objects if obj.taffeta_collider.enabled]
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    return cloths, bodies, json.loads(cloths[0].taffeta_cloth.report_json)


def shown(make, objects, frame):
    """World positions of each object's vertices at a frame."""
    bpy.context.scene.frame_set(frame)
    return [make.world(obj) for obj in objects]


def crossing(make, cloths, bodies, frame):
    x, there = shown(make, cloths, frame), shown(make, bodies, frame)
    starts = np.cumsum([0, *(len(places) for places in x)])
    triangles = np.concatenate([triangles_of(obj) + start for obj, start in zip(cloths, starts, strict=False)])
    solid = [(places, triangles_of(obj)) for places, obj in zip(there, bodies, strict=True)]
    found = count_crossings(np.concatenate(x), triangles, np.repeat(np.arange(len(x)), np.diff(starts)), solid)
    print(f"frame {frame}: {found}")
    return found


@pytest.mark.once
def test_two_sheets_lie_on_spheres_and_on_each_other(make, saved):
    """Figure 3.4: both land, the upper one on the lower; nothing crosses."""
    cloths, bodies, report = baked(saved, "two_sheets_on_spheres", 32)
    assert all(crossing(make, cloths, bodies, frame) == (0, 0, 0) for frame in (12, 22, 32))
    (lower, upper), start = shown(make, cloths, 32), shown(make, cloths, 1)
    near = cKDTree(lower[:, :2]).query(upper[:, :2])[1]
    assert (upper[:, 2] > lower[near, 2]).mean() > 0.8, "but for what hangs beyond its rim"
    assert start[1][:, 2].mean() - upper[:, 2].mean() > 0.25
    assert report["crossings"] == 0 and report["worst_stretch"] < 0.07, "3 to 4 % in three starts"


@pytest.mark.once
def test_a_ball_drags_two_sheets_through_a_ring(make, saved):
    """Figure 2.16: untangled there in every frame, at 1.5 frames a second; kept apart here."""
    cloths, bodies, report = baked(saved, "ball_through_sheets", 88)
    assert all(crossing(make, cloths, bodies, frame) == (0, 0, 0) for frame in (30, 66, 88))
    ring, ball = (next(obj for obj in bodies if obj.name == name) for name in ("Torus", "Sphere"))
    assert shown(make, [ball], 88)[0][:, 2].max() < shown(make, [ring], 88)[0][:, 2].min(), "the ball is through"
    assert all(np.median(x[:, 2]) < 0.7 for x in shown(make, cloths, 88))
    assert report["crossings"] == 0 and report["worst_stretch"] < 0.4


@pytest.mark.once
def test_two_sheets_that_a_ball_drags_through_each_other_come_apart_in_every_frame(make, saved):
    """Figure 2.16 as it is there: baked by the field, which lets one sheet through the other, and untangled frame by frame.

    When they do is chance: of eight starts one has no edge between them in frames 80 to 92, but 15 to 346 in these.
    """
    assert bpy.ops.taffeta.scene_add(name="ball_through_sheets") == {"FINISHED"}
    saved.taffeta.cloth_contact, saved.frame_end = "VELOCITY_FIELD", 100
    cloths, bodies = (
        [obj for obj in saved.objects if getattr(obj, own).enabled] for own in ("taffeta_cloth", "taffeta_collider")
    )
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    frames = range(76, 101, 4)
    before = [crossing(make, cloths, bodies, frame) for frame in frames]
    assert sum(found.cloth_cloth for found in before) > 10
    for obj in saved.objects:
        obj.select_set(obj in cloths)
    bpy.context.view_layer.objects.active = cloths[0]
    assert bpy.ops.taffeta.untangle_frames(frame_start=76, frame_end=100) == {"FINISHED"}
    after = [crossing(make, cloths, bodies, frame) for frame in frames]
    assert all(found.cloth_cloth == found.cloth_body == 0 for found in after)
    assert all(now.cloth_self <= then.cloth_self for now, then in zip(after, before, strict=True))


@pytest.mark.once
def test_two_sheets_that_a_ball_drags_through_each_other_are_untangled_in_the_bake(make, saved):
    """The same by *Untangle Each Frame*, from which each next frame begins.

    Of five starts none has an edge between the sheets in these frames but one, 18 in one of them; without it 15 to 200 in all.
    Within the sheets it is 67 to 406, and 92 to 499.
    """
    saved.taffeta.untangle_each = True
    assert bpy.ops.taffeta.scene_add(name="ball_through_sheets") == {"FINISHED"}
    saved.taffeta.cloth_contact, saved.frame_end = "VELOCITY_FIELD", 92
    cloths, bodies = (
        [obj for obj in saved.objects if getattr(obj, own).enabled] for own in ("taffeta_cloth", "taffeta_collider")
    )
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    found = [crossing(make, cloths, bodies, frame) for frame in (76, 80, 84, 88, 92)]
    assert all(each.cloth_body == 0 for each in found) and sum(each.cloth_cloth for each in found) < 40
    assert sum(each.cloth_self for each in found) < 800
    assert json.loads(cloths[0].taffeta_cloth.report_json)["worst_stretch"] < 0.4


@pytest.mark.once
def test_shirts_lie_in_the_turning_bowl(make, saved):
    """Figure 3.5, four of the sixty: the field alone, with which a few pass through each other; in the bowl all stay.

    Of eight starts on each of two kinds of processors, and seven on a third, 0 to 20 edges cross in frame 10 with their own shirt and 0 to 30
    with another; in frame 24 3 to 29, but 61 in one on the third, and 0 to 117. So three starts are looked at, and the one between.
    The longest edge is 11 to 20 % too long.
    """
    cloths, bodies, report = baked(saved, "bowl", 24, count=4)
    assert saved.taffeta.cloth_contact == "VELOCITY_FIELD"
    landed, lying = [crossing(make, cloths, bodies, 10)], [crossing(make, cloths, bodies, 24)]
    for _ in range(2):
        saved.gravity[2] *= 1.000002
        assert bpy.ops.taffeta.bake() == {"FINISHED"}
        landed.append(crossing(make, cloths, bodies, 10))
        lying.append(crossing(make, cloths, bodies, 24))
    assert not any(each.cloth_body for each in (*landed, *lying))
    landing, found = np.median(landed, axis=0), np.median(lying, axis=0)
    assert landing[0] < 32 and landing[1] < 55 and found[0] < 50 and found[1] < 200
    x = np.concatenate(shown(make, cloths, 24))
    assert np.linalg.norm(x[:, :2], axis=1).max() < 0.75 and 0.0 < x[:, 2].mean() < 0.3
    assert report["worst_stretch"] < 0.3


@pytest.mark.once
@pytest.mark.parametrize(("contact", "most"), [("VELOCITY_FIELD", 28), ("BOTH", 0)])
def test_shirts_fall_into_the_bowl_one_after_another(make, saved, contact, most):
    """Figure 3.5 has one every 45 frames, here 24: the second waits over the first, falls when it is let go, and lies on it.

    With the field alone 6 to 14 edges passed through the other shirt in 6 of 12 starts, from frame 33 on, in which it lands. With
    pairs after it none did in 24, none through its own shirt either. most : edges that may
    """
    cloths, bodies, report = baked(saved, "bowl", 48, contact, count=2, every=24)
    start = shown(make, cloths, 1)[1]
    for frame in (6, 12, 24, 25):
        first, second = shown(make, cloths, frame)
        sunk = [0.0, 0.0, 0.10 * (frame - 1) / 24]
        assert np.abs(second + sunk - start).max() < 1e-5, f"[m] it keeps its shape and place in frame {frame}"
        assert second[:, 2].min() > first[:, 2].max(), f"it has passed the first in frame {frame}"
    assert second[:, 2].mean() - shown(make, cloths, 30)[1][:, 2].mean() > 0.15, (
        "[m] in five frames; free fall has 0.21"
    )
    first, second = shown(make, cloths, 48)
    distance, near = cKDTree(first[:, :2]).query(second[:, :2])
    assert (second[:, 2] > first[near, 2])[distance < 0.02].mean() > 0.9
    for frame, allowed in ((12, 0), (30, 0), (40, most), (48, most)):
        found = crossing(make, cloths, bodies, frame)
        assert found.cloth_cloth <= allowed and found.cloth_body == 0
    assert contact != "BOTH" or report["crossings"] == report.get("most_crossings", 0) == 0


@pytest.mark.once
def test_shirts_tumble_in_the_drum(make, saved):
    """Figure 3.6: a fin takes them along and up. Without the field 71,588 cross at frame 20, all fallen into one.

    Of twelve starts 0 to 26 edges pass through their own shirt in frame 20 and 0 to 28 through another, in frame 32 2 to 24 and 0
    to 54. The longest edge is 10 to 22 % too long. Solved to a thousandth it is 52 to 86 through another in frame 32 of eight starts:
    what a solve leaves undone draws shirts along with each other. While all were solved for together, it was 0 to 18.
    """
    cloths, bodies, report = baked(saved, "washing_machine", 32)
    landed = crossing(make, cloths, bodies, 20)
    assert landed.cloth_body == 0 and landed.cloth_self < 55 and landed.cloth_cloth < 50
    found = crossing(make, cloths, bodies, 32)
    assert found.cloth_body == 0 and found.cloth_self < 55 and found.cloth_cloth < 90
    heights = [np.concatenate(shown(make, cloths, frame))[:, 2].mean() for frame in (1, 20, 32)]
    assert heights[1] < heights[0] - 0.3 and heights[2] > heights[1] + 0.05
    assert report["worst_stretch"] < 0.2


@pytest.mark.once
def test_shirts_go_into_the_drum_one_after_another(make, saved):
    """Figure 3.6 with *Every*, 24 frames: the second waits before the drum, is carried in, let go, and tumbles with the first.

    Of twelve starts 0 to 101 edges pass through their own shirt in these frames and 0 to 162 through the other; solved to a thousandth
    51 to 211.
    """
    cloths, (drum, _), _ = baked(saved, "washing_machine", 48, count=2, every=24)
    front = shown(make, [drum], 1)[0][:, 1].min()
    start = shown(make, cloths, 1)[1]
    ways = []
    for frame in (1, 6, 12, 18, 24, 25):
        second = shown(make, cloths, frame)[1]
        way = (second - start).mean(axis=0)
        assert np.abs(second - start - way).max() < 1e-5, f"[m] it keeps its shape in frame {frame}"
        ways.append(way)
        assert (second[:, 1].max() < front) == (frame <= 12), (
            f"it is before the drum until it goes in, in frame {frame}"
        )
    assert ways[2][2] < ways[1][2] - 0.2 and abs(ways[2][1]) < 0.05, "[m] first it goes down"
    assert abs(ways[-1][2] - ways[2][2]) < 0.05 and ways[-1][1] > 0.9, "[m] then in"
    assert second[:, 2].mean() - shown(make, cloths, 30)[1][:, 2].mean() > 0.15, "[m] it falls when it is let go"
    heights = [shown(make, cloths, frame)[0][:, 2].mean() for frame in (1, 20, 44)]
    assert heights[1] < heights[0] - 0.3 and heights[2] > heights[1] + 0.2, "[m] meanwhile the first has been taken up"
    for frame in (12, 24, 30, 48):
        found = crossing(make, cloths, (drum,), frame)
        assert found.cloth_body == 0 and found.cloth_cloth < 280 and found.cloth_self < 220


@pytest.mark.once
def test_rigid_heads_fall_into_a_bowl_on_a_sheet(make, saved):
    """Figure 3.15, seven heads: none changes its shape, none goes through the sheet, another one or the bowl.

    Of eight starts no edge passes through another garment in five; 14, 14 and 28 do in three. Single edges of the sheet are 60
    to 93 % too long for a moment.
    """
    cloths, bodies, report = baked(saved, "rigid_heads", 20)
    heads = [obj for obj in cloths if obj.name.startswith("Head")]
    assert len(heads) == 7 and len(cloths) == 8
    start, end = shown(make, heads, 1), shown(make, heads, 20)
    for before, after in zip(start, end, strict=True):
        one, other = (np.linalg.norm(x[:, None] - x[::40], axis=2) for x in (before, after))
        assert np.abs(one - other).max() < 2e-6, "[m] what single precision of the cache leaves"
    turned = [
        (after - after.mean(axis=0)) - (before - before.mean(axis=0)) for before, after in zip(start, end, strict=True)
    ]
    assert sum(np.linalg.norm(way, axis=1).max() > 0.05 for way in turned) >= 3
    found = crossing(make, cloths, bodies, 20)
    assert found.cloth_cloth < 40 and found.cloth_body == 0
    x = np.concatenate(end)
    assert np.linalg.norm(x[:, :2], axis=1).max() < 0.75 and np.sort([h[:, 2].mean() for h in end])[3] < 0.5
    assert report["worst_stretch"] < 1.0
