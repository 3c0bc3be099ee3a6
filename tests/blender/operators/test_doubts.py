# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake that ends with cloth far too long, or through something, says so; one that is right does not."""

import json

import bpy
import numpy as np
import pytest
from taffeta.operators import command
from taffeta.operators.bake import job as jobs
from taffeta.operators.bake import run
from taffeta.operators.bake.order import read_order
from taffeta.panels.report import in_words, taken_again, warnings
from taffeta.panels.scene import report_lines


@pytest.fixture
def shot(saved):
    saved.frame_end = 4
    saved.taffeta.air_density = 0.0
    return saved


def pin(obj, where):
    """Pin the vertices `where` (n,) is true of."""
    obj.vertex_groups.new(name="Held").add(np.flatnonzero(where).tolist(), 1.0, "REPLACE")
    held = obj.taffeta_cloth.pin
    held.source, held.vertex_group, held.minimum, held.maximum = "GROUP", "Held", 0.0, 1.0


def pulled(make):
    """A sheet of springs whose two sides are drawn to twice its width."""
    obj = make.cloth(make.grid("Curtain", count=5), model="SPRINGS")
    x = np.array([vertex.co for vertex in obj.data.vertices])
    pin(obj, np.abs(x[:, 0]) > 0.4)
    obj.shape_key_add(name="Basis")
    wide = obj.shape_key_add(name="Wide")
    for vertex, point in zip(x, wide.data, strict=True):
        point.co.x = 2.0 * vertex[0]
    for frame, value in ((1, 0.0), (4, 1.0)):
        wide.value = value
        wide.keyframe_insert("value", frame=frame)
    return obj


def pierced(make):
    """A sheet that is held where a ball goes through it."""
    obj = make.cloth(make.grid("Curtain", count=5))
    pin(obj, np.ones(25, bool))
    make.collider(make.ball(radius=0.3, rings=6, segments=8))
    return obj


def test_what_is_pulled_apart_is_told(shot, make, capfd):
    obj = pulled(make)
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    told = [line for line in capfd.readouterr().out.splitlines() if line.startswith("Warning: ")]
    report = json.loads(obj.taffeta_cloth.report_json)
    assert report["worst_stretch"] > 0.5 and report["crossings"] == 0
    assert any(f"Curtain is stretched by {100 * report['worst_stretch']:.0f} % in frame 4" in line for line in told)


def test_what_is_pierced_is_told(shot, make, capfd):
    obj = pierced(make)
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    count = json.loads(obj.taffeta_cloth.report_json)["crossings"]
    assert count > 8
    words = f"in frame 4: Curtain through Body ({count} pairs of triangles); pins hold all of that there"
    assert words in capfd.readouterr().out


def test_a_calm_bake_has_no_doubts(shot, make, capfd):
    obj = make.cloth(make.grid("Curtain", count=5, location=(0, 0, 1)))
    make.collider(make.ball(radius=0.3, rings=6, segments=8))
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    assert json.loads(obj.taffeta_cloth.report_json)["crossings"] == 0
    assert "Warning" not in capfd.readouterr().out


def test_only_the_end_counts_crossings(shot, make):
    """Resumed as it was, nothing is counted anew; baked from a frame on, the last one is."""
    obj = pierced(make)
    bpy.ops.taffeta.bake()
    count = json.loads(obj.taffeta_cloth.report_json)["crossings"]
    bpy.ops.taffeta.bake(from_frame=4)
    assert json.loads(obj.taffeta_cloth.report_json)["crossings"] == count


def test_the_command_line_tells_on_standard_error(shot, make, capfd):
    pulled(make)
    bpy.ops.wm.save_mainfile()
    assert command.run(["bake", bpy.data.filepath]) == 0
    captured = capfd.readouterr()
    assert "Taffeta: Curtain is stretched by" in captured.err and "stretched" not in captured.out


def warned(capfd):
    return [line for line in capfd.readouterr().out.splitlines() if line.startswith(("Warning: ", "Info: Baked"))]


def test_a_warning_is_what_the_window_shows_last(shot, make, capfd):
    pulled(make)
    bpy.ops.taffeta.bake()
    assert [line.split(" ")[0] for line in warned(capfd)] == ["Info:", "Warning:"]


def test_a_bake_that_is_stopped_counts_and_tells(shot, make):
    """Of three frames that are done the last is looked at."""
    obj = pierced(make)
    job = jobs.Job(read_order(shot))
    run.bake_now(shot, job, lambda job: job.stop.set() if job.frame == 3 else None)
    assert not job.complete and job.frame == 3
    report = json.loads(obj.taffeta_cloth.report_json)
    assert report["crossings"] > 8 and report["crossing_parts"] == {"Curtain through Body": report["crossings"]}
    told = [text for level, text in run.outcome(job) if level == "WARNING"]
    assert any("passes through in frame 3: Curtain through Body" in text for text in told) and "Stopped" in told[-1]


def test_what_was_told_of_kept_frames_is_told_again(shot, make, capfd):
    """Resumed with more frames, in which the curtain is pushed together again, and once more with nothing to do."""
    obj = pulled(make)
    bpy.ops.taffeta.bake()
    before = json.loads(obj.taffeta_cloth.report_json)
    wide = obj.data.shape_keys.key_blocks["Wide"]
    wide.value = 0.0
    wide.keyframe_insert("value", frame=5)
    shot.frame_end = 8
    for kept in (4, 8):
        capfd.readouterr()
        assert bpy.ops.taffeta.bake(resume=True) == {"FINISHED"}
        report = json.loads(obj.taffeta_cloth.report_json)
        assert kept == 8 or report["frames_kept"] == 4
        assert report["worst_stretch_frame"] == 4 and report["worst_stretch"] == before["worst_stretch"]
        assert report["warnings"][0] == before["warnings"][0] and "in frame 4" in warned(capfd)[1]
    assert any("stretched by" in line for line in report_lines(obj.taffeta_cloth.report_json))


def test_what_is_told_of_frames_that_are_baked_anew_is_forgotten(shot, make):
    """The longest edge, pinches and frames that were taken again, from frame 4 on."""
    obj = make.cloth(make.grid("Curtain", count=5))
    bpy.ops.taffeta.bake()
    path = read_order(shot).paths[0]
    before = json.loads(obj.taffeta_cloth.report_json) | {
        "taken_again": [{"frames": [2, 4], "why": "of Arm"}, {"frames": [4], "why": "of Leg"}],
        "warnings": [[3, "three"], [4, "four"]],
        "worst_stretch": 0.9, "worst_stretch_frame": 4, "most_crossings": 7, "most_crossings_frame": 3,
    }  # fmt: skip
    path.with_suffix(".report.json").write_text(json.dumps(before))
    bpy.ops.taffeta.bake(from_frame=4)
    report = json.loads(obj.taffeta_cloth.report_json)
    assert report["taken_again"] == [{"frames": [2], "why": "of Arm"}] and report["warnings"] == [[3, "three"]]
    assert report["worst_stretch"] < 0.1
    assert (report["most_crossings"], report["most_crossings_frame"]) == (7, 3)


def test_frames_that_were_taken_again_are_told_with_the_reason(shot, make):
    """A ball flies into the edge of a sheet that is held by its corners."""
    obj = make.cloth(make.grid("Curtain", count=13))
    x = np.array([vertex.co for vertex in obj.data.vertices])
    pin(obj, (np.abs(x[:, :2]) > 0.49).all(axis=1))
    ball = make.collider(make.ball("Ball", radius=0.2, location=(-1.0, 0.0, 0.05)))
    for frame in range(1, 5):
        ball.location.x = -1.6 + 0.6 * frame
        ball.keyframe_insert("location", frame=frame)
    bpy.ops.taffeta.bake()
    report = json.loads(obj.taffeta_cloth.report_json)
    (told,) = report["taken_again"]
    assert told["why"] == "Curtain was pulled too long where something held it back" and set(told["frames"]) <= {
        2,
        3,
        4,
    }
    line = f"{in_words(told['frames'])}: taken again with contact in each small step, because {told['why']}"
    assert line in report_lines(obj.taffeta_cloth.report_json)


@pytest.mark.parametrize(
    ("frames", "words"),
    [([37], "Frame 37"), ([1, 2, 3], "Frames 1 to 3"), ([1, 2, 5], "Frames 1 to 2 and 5"),
     (list(range(0, 20, 2)), "Frames 0, 2, 4, 6, 8, 10 and 4 more places")],
)  # fmt: skip
def test_frames_in_words(frames, words):
    assert in_words(frames) == words


@pytest.mark.parametrize(
    "broken",
    [3, "x", [3], [None, [1, 2]], [["1", "x"]], [[True, "x"]], [[1, "a\nb"]], [[1, "x" * 5000]], [{"frames": 3, "why": "x"}],
     [{"frames": [], "why": "x"}], [{"frames": [1e9], "why": "x"}], [{"frames": [1]}]],
)  # fmt: skip
def test_a_damaged_report_says_nothing(broken):
    report = {"warnings": broken, "taken_again": broken}
    assert warnings(report) == [] and taken_again(report) == []
