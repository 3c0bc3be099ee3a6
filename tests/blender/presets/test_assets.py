# SPDX-License-Identifier: GPL-3.0-or-later
"""Swatches in the asset library, and a fabric for all selected cloths."""

from pathlib import Path

import bpy
import pytest
from taffeta.operators import fabric_assets
from taffeta.operators.read import fabrics
from taffeta.panels.fabric import LIBRARY_FOLDER, PRESET_ROOT, PRESET_SUBDIR, preset_files, shown_name

SHIPPED = sorted((Path(PRESET_ROOT) / "presets" / PRESET_SUBDIR).glob("*.py"))


def test_the_library_has_a_swatch_of_each_fabric_with_its_numbers_and_picture():
    """Built by scripts/fabric_assets.py; whoever changes a preset builds it anew."""
    with bpy.data.libraries.load(f"{LIBRARY_FOLDER}/fabrics.blend", assets_only=True) as (there, here):
        here.objects = there.objects
    swatches = {obj.name.partition(".")[0]: obj for obj in here.objects}
    numbers = dict(fabrics.presets())
    assert set(swatches) == {shown_name(path) for path in SHIPPED}
    for name, obj in swatches.items():
        found = fabrics.numbers_of(obj.taffeta_cloth)
        assert found == pytest.approx({key: numbers[name][key] for key in found}, rel=1e-5), name
        assert obj.asset_data.license == "CC0 1.0" and tuple(obj.preview.image_size) == (128, 128)
        assert obj.taffeta_cloth.enabled and fabrics.fabric_name(obj, bpy.context.scene) == name


def test_one_press_adds_the_library_and_another_takes_it_out():
    count = len(bpy.context.preferences.filepaths.asset_libraries)
    assert bpy.ops.taffeta.fabric_library() == {"FINISHED"}
    known = fabric_assets.library()
    assert known.name == fabric_assets.LIBRARY_NAME and (Path(known.path) / "fabrics.blend").exists()
    assert bpy.ops.taffeta.fabric_library() == {"FINISHED"}
    assert fabric_assets.library() is None and len(bpy.context.preferences.filepaths.asset_libraries) == count


def test_a_fabric_is_put_on_all_selected_cloths(make, scene):
    one, two, other = (make.cloth(make.grid(name)) for name in ("One", "Two", "Other"))
    for obj in (one, two, other):
        obj.select_set(obj != other)
    bpy.context.view_layer.objects.active = one
    assert bpy.ops.taffeta.fabric_apply(fabric="Wool Coat") == {"FINISHED"}
    assert [fabrics.fabric_name(obj, scene) for obj in (one, two, other)] == ["Wool Coat", "Wool Coat", ""]
    with pytest.raises(RuntimeError, match="There is no fabric 'Tulle'; there are Canvas, Cotton"):
        bpy.ops.taffeta.fabric_apply(fabric="Tulle")
    for obj in (one, two):
        obj.taffeta_cloth.enabled = False
    with pytest.raises(RuntimeError, match="No Taffeta Cloth is selected"):
        bpy.ops.taffeta.fabric_apply(fabric=shown_name(preset_files()[0]))
