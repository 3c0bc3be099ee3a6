# SPDX-License-Identifier: GPL-3.0-or-later
"""A garment that is edited while another object is active, as the Outliner lets it be: its data is empty then, and nobody takes that
for the garment."""

import bpy
import pytest


@pytest.fixture
def edited(saved, make):
    """A baked sheet with values in Edit Mode, beside a ball that is active in Object Mode."""
    saved.frame_end = 2
    sheet, ball = make.cloth(make.grid(location=(0, 0, 2))), make.ball()
    assert bpy.ops.taffeta.bake() == {"FINISHED"} and bpy.ops.taffeta.values(object="Cloth") == {"FINISHED"}
    bpy.context.view_layer.objects.active = sheet
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.context.view_layer.objects.active = ball
    assert bpy.context.mode == "OBJECT" and sheet.mode == "EDIT"
    return sheet


@pytest.mark.parametrize(
    ("verb", "options"),
    [
        ("export", {"filepath": "//a.obj"}),
        ("export", {"filepath": "//a.abc"}),
        ("values", {}),
        ("value_images", {"filepath": "//a.exr", "size": 16}),
        ("sewing_apply", {}),
        ("panels_arrange", {"body": "Body"}),
        ("subdivide", {}),
        ("fix_weld", {}),
        ("cage_make", {}),
    ],
)
def test_it_is_refused_in_a_sentence(edited, tmp_path, verb, options):
    before = {path.name for path in tmp_path.iterdir()}
    with pytest.raises(RuntimeError, match="Error: Cloth is not in Object Mode; go back to that first") as told:
        getattr(bpy.ops.taffeta, verb)(object="Cloth", **options)
    assert "Traceback" not in str(told.value) and {path.name for path in tmp_path.iterdir()} == before


def test_what_is_edited_together_is_exported_all_the_same(edited, make, tmp_path):
    bpy.context.view_layer.objects.active = edited
    assert bpy.context.mode == "EDIT_MESH"
    assert bpy.ops.taffeta.export(filepath=str(tmp_path / "a.obj"), object="Cloth", frame_end=1) == {"FINISHED"}
    assert (tmp_path / "a_0001.obj").read_text().count("\nv ") == len(edited.data.vertices)
