# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake that ends with cloth far too long, or through something, says so; one that is right does not."""

import json

import bpy
import numpy as np
import pytest
from taffeta.operators import command


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
    words = f"in frame 4: Curtain through a body ({count} pairs of triangles); pins hold all of that there"
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
