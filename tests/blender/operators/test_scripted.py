# SPDX-License-Identifier: GPL-3.0-or-later
"""`taffeta.bake` from a script: what it calls back, returns, refuses, and leaves as it was."""

import bpy
import numpy as np
import pytest
import taffeta
from taffeta.solver.cache import pc2


@pytest.fixture
def two(saved, make):
    """Two sheets that fall."""
    for name, x in (("Left", 0.0), ("Right", 3.0)):
        make.cloth(make.grid(name, location=(x, 0.0, 2.0)))
    return saved


def test_it_calls_back_after_each_frame_and_returns_where_they_lie(two, make):
    told = []
    baked = taffeta.bake(frames=range(3, 7), on_frame=lambda *about: told.append(about), name="first")
    assert [frame for frame, _ in told] == [3, 4, 5, 6]
    assert told[0][1] is None and [report.frame for _, report in told[1:]] == [4, 5, 6], "the first is where it starts"
    assert baked.complete and baked.frames == range(3, 7) and baked.doubts == []
    assert set(baked.paths) == {"Left", "Right"}
    for path in baked.paths.values():
        header = pc2.read_header(path)
        assert (header.first_frame, header.sample_count, header.vertex_count) == (3, 4, 25)
    assert (two.frame_start, two.frame_end) == (1, 10), "the scene keeps its range"
    two.frame_set(6)
    fallen = 0.5 * 9.81 * (3 / 24) ** 2
    assert make.world(bpy.data.objects["Left"])[:, 2].mean() == pytest.approx(2.0 - fallen, abs=0.3 * fallen)


def test_objects_are_given_as_such_or_by_name(two):
    assert set(taffeta.bake(bpy.data.objects["Left"], range(1, 3)).paths) == {"Left"}
    assert set(taffeta.bake(["Right"], range(1, 3)).paths) == {"Right"}


def test_what_is_false_stops_and_resume_goes_on_with_the_same_bits(two):
    whole = taffeta.bake(frames=range(1, 6)).paths["Left"].read_bytes()
    first = taffeta.bake(frames=range(1, 6), on_frame=lambda frame, report: frame < 3)
    assert not first.complete and first.frames == range(1, 4)
    reports = {}
    second = taffeta.bake(frames=range(1, 6), on_frame=reports.__setitem__, resume=True)
    assert second.complete and [report is None for report in reports.values()] == [True, True, True, False, False]
    assert second.paths["Left"].read_bytes() == whole


def test_an_error_of_the_script_comes_back_and_keeps_the_frames(two):
    def fail(frame, report):
        if frame == 2:
            raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        taffeta.bake(frames=range(1, 6), on_frame=fail)
    assert (two.frame_start, two.frame_end) == (1, 10)
    path = bpy.path.abspath(bpy.data.objects["Left"].taffeta_cloth.cache_path)
    assert pc2.read_header(path).sample_count == 2
    assert taffeta.bake(frames=range(1, 3)).complete, "and the next bake can begin"


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"frames": range(1, 9, 2)}, r"range\(1, 9, 2\) are no frames to bake; give a range without gaps"),
        ({"frames": (1, 9)}, "are no frames to bake"),
        ({"frames": range(0)}, "are no frames to bake"),
        ({"frames": range(-5, 2)}, "Frame -5 lies before frame 0"),
        ({"frames": range(1048573, 1048577)}, "Frame 1048576 lies behind frame 1048574"),
        ({"scene": "Scene"}, "'Scene' is no scene"),
        ({"objects": []}, "No object was given"),
        ({"objects": [None]}, "None is no object to be baked"),
        ({"objects": 3}, "3 is no object to be baked"),
        ({"objects": "Middle"}, "Middle is not a Taffeta Cloth of scene"),
    ],
)
def test_what_cannot_be_baked_is_refused_with_a_sentence(two, given, sentence):
    with pytest.raises(ValueError, match=sentence):
        taffeta.bake(**given)
    assert (two.frame_start, two.frame_end) == (1, 10)


def test_frames_may_be_read_while_they_come(two):
    """A script has the positions of a frame from its file as soon as it is told."""
    heights, left = [], bpy.data.objects["Left"]

    def look(frame, report):
        path = bpy.path.abspath(left.taffeta_cloth.cache_path) if left.taffeta_cloth.cache_path else None
        samples = np.fromfile(path or taffeta_path, "<f4", offset=32).reshape(-1, 25, 3)
        heights.append((len(samples), float(samples[-1, :, 2].mean())))

    taffeta_path = str(taffeta.bake(frames=range(1, 2)).paths["Left"])
    taffeta.bake(frames=range(1, 5), on_frame=look)
    assert [count for count, _ in heights] == [1, 2, 3, 4]
    assert heights[0][1] > heights[1][1] > heights[2][1] > heights[3][1]
