# SPDX-License-Identifier: GPL-3.0-or-later
"""From a line of the report to where it happened, on real bakes; and what lines come to in words."""

import json
from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from taffeta.operators.read import modifier_stack
from taffeta.panels import report


def selected(obj):
    """Vertices that are selected in Edit Mode, which is left."""
    assert bpy.context.object == obj and obj.mode == "EDIT"
    bpy.ops.object.mode_set(mode="OBJECT")
    return {vertex.index for vertex in obj.data.vertices if vertex.select}


@pytest.fixture
def hung(make, scene, tmp_path):
    """A baked sheet of soft cloth that hangs from two corners, frames 1 to 12; and one far off that lies."""
    scene.frame_start, scene.frame_end = 1, 12
    scene.taffeta.cache_folder = str(tmp_path)
    sheet = make.cloth(make.grid("Sheet", count=11, size=1.0), stretch_stiffness=8.0, shear_stiffness=2.0)
    group = sheet.vertex_groups.new(name="corners")
    group.add([0, 10], 1.0, "REPLACE")
    sheet.taffeta_cloth.pin.source, sheet.taffeta_cloth.pin.vertex_group = "GROUP", "corners"
    rest = make.cloth(make.grid("Rest", count=5, size=0.2, location=(5, 0, 0)))
    rest.taffeta_cloth.pin.value = 1.0
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    bpy.context.view_layer.objects.active = rest
    return sheet, rest


def test_stretch_leads_to_its_frame_and_the_longest_edge(hung, make, scene):
    sheet, rest = hung
    figures = json.loads(rest.taffeta_cloth.report_json)
    frame = figures["worst_stretch_frame"]
    scene.frame_set(1)
    assert bpy.ops.taffeta.report_show(subject="STRETCH", object="Rest") == {"FINISHED"}
    assert scene.frame_current == frame
    found = selected(sheet)
    x, ends = make.world(sheet), np.array([edge.vertices[:] for edge in sheet.data.edges])
    strain = np.linalg.norm(x[ends[:, 1]] - x[ends[:, 0]], axis=1) / 0.1 - 1.0
    assert strain.max() == pytest.approx(figures["worst_stretch"], abs=1e-3), "the frame and the garment of the report"
    assert set(ends[strain.argmax()].tolist()) <= found
    assert found == set(ends[strain >= 0.5 * strain.max()].ravel().tolist()) and len(found) < 60
    cache = modifier_stack.find_cache(sheet)
    assert cache.show_on_cage and cache.show_in_editmode, "selected where the bake has them"


def test_pinches_lead_to_the_garment_that_has_most(hung, scene):
    sheet, rest = hung
    figures = json.loads(rest.taffeta_cloth.report_json)
    figures |= {"pinched": 3, "pinched_frame": 7, "pinched_vertices": {"Sheet": [5, 6, 7], "Rest": [1]}}
    rest.taffeta_cloth.report_json = json.dumps(figures)
    assert bpy.ops.taffeta.report_show(subject="PINCHED") == {"FINISHED"}
    assert scene.frame_current == 7 and selected(sheet) == {5, 6, 7}


def test_crossings_lead_to_the_last_frame_and_what_crosses(make, scene):
    """A sheet that a ball has half swallowed, in the last frame only."""
    sheet, ball = make.cloth(make.grid("Sheet", count=21, size=1.0)), make.collider(make.ball("Ball", radius=0.3))
    for frame, height in ((1, 3.0), (5, 0.0)):
        ball.location.z = height
        ball.keyframe_insert("location", frame=frame)
    sheet.taffeta_cloth.report_json = json.dumps({"garments": ["Sheet"], "frame_end": 5, "crossings": 40})
    scene.frame_set(1)
    assert bpy.ops.taffeta.report_show(subject="CROSSINGS", object="Sheet") == {"FINISHED"}
    assert scene.frame_current == 5
    found = [sheet.data.vertices[i].co for i in selected(sheet)]
    assert len(found) > 20 and all(0.2 < np.hypot(x, y) < 0.4 for x, y, _ in found), "along the ball's waist"


def test_a_subdivision_behind_the_cache_does_not_disturb(hung):
    sheet, _ = hung
    sheet.modifiers.new("Fine", "SUBSURF")
    bpy.context.view_layer.update()
    assert bpy.ops.taffeta.report_show(subject="STRETCH", object="Sheet") == {"FINISHED"}
    assert selected(sheet)


@pytest.mark.parametrize(
    ("figures", "words"),
    [("{}", "says nothing of stretch"), ("{", "says nothing"), ('{"worst_stretch_frame": 1e300}', "says nothing"),
     ('{"worst_stretch_frame": true}', "says nothing"), ('{"worst_stretch_frame": "3"}', "says nothing")],
)  # fmt: skip
def test_a_report_that_names_no_frame_is_told(make, figures, words):
    make.cloth(make.grid("Sheet")).taffeta_cloth.report_json = figures
    with pytest.raises(RuntimeError, match=words):
        bpy.ops.taffeta.report_show(subject="STRETCH", object="Sheet")
    with pytest.raises(RuntimeError, match="Nobody is not a Taffeta Cloth"):
        bpy.ops.taffeta.report_show(subject="STRETCH", object="Nobody")


def test_nothing_to_show_is_told_and_selects_nothing(make, scene):
    """As when the mesh was edited since, or the fault is gone."""
    sheet = make.cloth(make.grid("Sheet"))
    sheet.taffeta_cloth.report_json = json.dumps(
        {"pinched": 2, "pinched_frame": 4, "pinched_vertices": {"Sheet": [900]}}
    )
    assert bpy.ops.taffeta.report_show(subject="PINCHED", object="Sheet") == {"FINISHED"}
    assert scene.frame_current == 4 and sheet.mode == "OBJECT"


# Verdicts

SETTINGS = SimpleNamespace(
    small_steps=1.0, bl_rna=SimpleNamespace(properties={"small_steps": SimpleNamespace(name="Step Quality"), "substeps": SimpleNamespace(name="Substeps")})
)  # fmt: skip


@pytest.mark.parametrize(
    ("figures", "line", "words", "frame"),
    [
        ({"worst_stretch": 0.08, "worst_stretch_frame": 3}, "Stretch:", "good", 3),
        ({"worst_stretch": 0.3, "worst_stretch_frame": 3}, "Stretch:", "look here", 3),
        ({"worst_stretch": 1.38, "worst_stretch_frame": 28}, "Stretch:", "re-bake with Step Quality 2", 28),
        ({"crossings": 0, "frame_end": 9}, "Crossings", "good", None),
        ({"crossings": 2, "frame_end": 9}, "Crossings", "re-bake with Step Quality 2", 9),
        ({"seam_gap": 0.0, "frame_end": 9}, "Seams:", "good", None),
        ({"seam_gap": 0.03, "frame_end": 9}, "Seams:", "look here", 9),
        ({"pinched": 0, "pinched_frame": 1}, "Pinched", "good", None),
        ({"pinched": 5, "pinched_frame": 6}, "Pinched", "look here", 6),
    ],
)
def test_lines_have_a_verdict_in_words(figures, line, words, frame):
    (found,) = report.verdicts(json.dumps(figures)).items()
    assert (found[0], report.sentence(found[1], SETTINGS), found[1].frame) == (line, words, frame)


def test_who_has_that_quality_already_is_told_what_is_next():
    (verdict,) = report.verdicts('{"crossings": 2, "frame_end": 9}').values()
    settings = SimpleNamespace(**{**vars(SETTINGS), "small_steps": 2.0})
    assert report.sentence(verdict, settings) == "re-bake with more Substeps"


@pytest.mark.parametrize(
    "broken", ["", "{", "[]", "3", "[" * 100_000, '{"worst_stretch": "x"}', '{"crossings": NaN}', '{"pinched": [1]}']
)
def test_a_damaged_report_has_no_verdict(broken):
    assert report.verdicts(broken) == {}
