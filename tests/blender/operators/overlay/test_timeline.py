# SPDX-License-Identifier: GPL-3.0-or-later
"""The bar of baked frames in the timeline."""

import os

import bpy
import pytest
from taffeta.operators.overlay import timeline
from taffeta.operators.playback import cache_modifier


@pytest.fixture
def baked(make, tmp_path):
    """A garment with a bake of frames 3 to 7."""
    obj = make.grid()
    make.bake(obj, tmp_path)
    bpy.context.view_layer.objects.active = obj
    return obj


def frames(bar):
    return bar and (bar.first, bar.last)


def test_the_bar_has_the_frames_that_are_kept(baked, make):
    last = make.first_frame + make.frame_count - 1
    own, every = timeline.bars(bpy.context.scene, baked)
    assert frames(own) == (make.first_frame, last) and every is None, "one garment, one bar"
    assert own.colour == timeline.KEPT
    baked.taffeta_cloth.stale = "Mass was changed"
    assert timeline.bars(bpy.context.scene, baked)[0].colour == timeline.STALE
    baked.modifiers[0].frame_start = 11.0
    assert frames(timeline.bars(bpy.context.scene, baked)[0]) == (11, 15), "as the animator moved it"


def test_the_bar_of_all_has_what_every_garment_has(baked, make, tmp_path):
    second = make.grid("Second", count=4)
    assert frames(timeline.bars(bpy.context.scene, second)[0]) is None
    make.cloth(second)
    own, every = timeline.bars(bpy.context.scene, baked)
    assert frames(own) == (3, 7) and every is None, "the other one has none"
    make.bake(second, tmp_path, name="Second")
    second.modifiers[0].frame_start = 5.0
    assert [frames(bar) for bar in timeline.bars(bpy.context.scene, baked)] == [(3, 7), (5, 7)]
    assert [frames(bar) for bar in timeline.bars(bpy.context.scene, second)] == [(5, 9), (5, 7)]
    assert [frames(bar) for bar in timeline.bars(bpy.context.scene, None)] == [None, (5, 7)]


def test_the_bar_grows_with_the_file_and_reads_it_only_then(baked, monkeypatch):
    path = cache_modifier.cache_file(baked)
    assert frames(timeline.bars(bpy.context.scene, baked)[0]) == (3, 7)
    monkeypatch.setattr(timeline.pc2, "read_header", lambda _: pytest.fail("read though nothing changed"))
    assert frames(timeline.bars(bpy.context.scene, baked)[0]) == (3, 7)
    monkeypatch.undo()
    with path.open("r+b") as file:
        timeline.pc2.patch_count(file, 2)
    os.utime(path, ns=(1, 1))
    assert frames(timeline.bars(bpy.context.scene, baked)[0]) == (3, 4)
    path.write_bytes(b"no cache")
    assert timeline.bars(bpy.context.scene, baked) == (None, None)
    path.unlink()
    assert timeline.bars(bpy.context.scene, baked) == (None, None)


def test_bars_are_cut_to_what_is_in_view():
    own, every = timeline.Bar(3, 7, timeline.KEPT), timeline.Bar(5, 7, timeline.EVERY)
    found = timeline.rectangles((own, every), lambda frame: 10.0 * frame, 200.0, 1.0)
    assert [shape[:4] for shape in found] == [(45, 0, 75, 3), (25, 4, 75, 7)]
    found = timeline.rectangles((own, None), lambda frame: 10.0 * frame, 60.0, 2.0)
    assert [shape[:4] for shape in found] == [(25, 8, 60, 15)]
    assert timeline.rectangles((own, every), lambda frame: 10.0 * frame - 100.0, 200.0, 1.0) == []
