# SPDX-License-Identifier: GPL-3.0-or-later
"""Swatches in the asset library, and a fabric for all selected cloths."""

import sys
from pathlib import Path

import bpy
import pytest
from mathutils import Matrix, Vector
from taffeta.operators import fabric_assets, fabric_drop
from taffeta.operators.read import fabrics
from taffeta.panels.fabric import LIBRARY_FOLDER, PRESET_ROOT, PRESET_SUBDIR, own_folder, preset_files, shown_name

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


# Dropped on a garment


def lay(name, place):
    """What Blender does where a swatch is dropped: it comes from the library, and its foot is laid at a place."""
    path = f"{LIBRARY_FOLDER}/fabrics.blend"
    bpy.ops.wm.append(filepath=f"{path}/Object/{name}", directory=f"{path}/Object/", filename=name)
    swatch = next(obj for obj in bpy.data.objects if obj.name.startswith(name) and obj.name != "Cloth")
    corners = [Vector(corner) for corner in swatch.bound_box]
    low, high = (Vector(map(bound, zip(*corners, strict=True))) for bound in (min, max))
    foot = Vector((0.5 * (low.x + high.x), 0.5 * (low.y + high.y), low.z))
    bpy.ops.object.transform_to_mouse(session_uid=swatch.session_uid, matrix=Matrix.Translation(Vector(place) - foot))
    bpy.context.view_layer.update()
    return swatch


def test_a_swatch_that_is_dropped_on_a_garment_dresses_it_and_goes(make, scene):
    body, other = make.ball(radius=0.4, location=(0, 0, 0.595)), make.cloth(make.grid("Other", location=(3, 0, 0)))
    garment = make.cloth(make.grid("Cloth", count=9, location=(0, 0, 1)))
    other.select_set(True)
    before = set(bpy.data.objects), set(bpy.data.meshes)
    swatch = lay("Wool Coat", (0.1, 0.0, 1.0))
    assert fabric_drop.object_under(bpy.context.view_layer, swatch) == garment.name, "the body is 5 mm below it"
    assert bpy.ops.taffeta.fabric_drop(swatch=swatch.name) == {"FINISHED"}
    assert (set(bpy.data.objects), set(bpy.data.meshes)) == before
    assert [fabrics.fabric_name(obj, scene) for obj in (garment, other)] == ["Wool Coat", ""]
    assert bpy.context.view_layer.objects.active == garment and not other.select_get() and body.name == "Body"


def test_a_swatch_beside_a_garment_stays_and_no_garment_is_taken_for_one(make, scene):
    garment = make.cloth(make.grid("Cloth", count=9))
    swatch = lay("Silk", (0.1, 0.0, 0.05))
    with pytest.raises(RuntimeError, match="Silk lies on no cloth; drop it on one"):
        bpy.ops.taffeta.fabric_drop(swatch="Silk")
    swatch.modifiers.new("Work", "SUBSURF")
    with pytest.raises(RuntimeError, match="Silk is no swatch of a fabric"):
        bpy.ops.taffeta.fabric_drop(swatch="Silk")
    garment.taffeta_fabric.chosen = "Silk"
    with pytest.raises(RuntimeError, match="Cloth is no swatch of a fabric"):
        bpy.ops.taffeta.fabric_drop(swatch="Cloth")
    assert swatch.name in scene.objects and fabrics.fabric_name(garment, scene) != "Silk"


def test_only_an_import_of_our_fabrics_is_looked_after(make, tmp_path):
    found = []

    def note(imported):
        found.append(fabric_drop.is_fabric(imported))

    other, path = make.grid("Foreign"), str(tmp_path / "other.blend")
    bpy.data.libraries.write(path, {other})
    bpy.app.handlers.blend_import_post.append(note)
    try:
        bpy.ops.wm.append(filepath=f"{path}/Object/Foreign", directory=f"{path}/Object/", filename="Foreign")
        lay("Silk", (0, 0, 0))
    finally:
        bpy.app.handlers.blend_import_post.remove(note)
    assert found == [False, True]
    assert not bpy.app.timers.is_registered(fabric_drop._dropped), "it would never run without a window"


# Own fabrics


@pytest.fixture
def own(tmp_path, monkeypatch):
    """Blender's user folder for presets, empty; the preferences list no library of ours."""
    monkeypatch.setenv("BLENDER_USER_SCRIPTS", str(tmp_path))
    if not bpy.utils.user_resource("SCRIPTS").startswith(str(tmp_path)):
        pytest.skip("this Blender reads BLENDER_USER_SCRIPTS only when it starts")
    yield own_folder()
    for folder in (own_folder(), LIBRARY_FOLDER):
        if (known := fabric_assets.library(folder)) is not None:
            bpy.context.preferences.filepaths.asset_libraries.remove(known)


@pytest.fixture
def coat(make):
    """A garment of silk, changed, that bears the name that its fabric will have."""
    obj = make.cloth(make.grid("Coat Silk"))
    bpy.context.view_layer.objects.active = obj
    obj.select_set(True)
    assert bpy.ops.taffeta.fabric_apply(fabric="Silk") == {"FINISHED"}
    obj.taffeta_cloth.mass.value, obj.taffeta_cloth.weft_stretch = 0.321, 1.5
    return obj


def assets_in(path):
    with bpy.data.libraries.load(str(path), assets_only=True) as (there, here):
        here.objects = there.objects
    return here.objects


def test_an_own_fabric_is_an_asset_with_one_press(own, coat):
    before = {kind: set(getattr(bpy.data, kind).keys()) for kind in ("objects", "meshes", "images", "libraries")}
    assert bpy.ops.taffeta.fabric_save(name="Coat Silk") == {"FINISHED"}
    after = {kind: set(getattr(bpy.data, kind).keys()) for kind in before}
    assert after.pop("libraries") >= before.pop("libraries") and after == before and coat.name == "Coat Silk"
    assert fabric_assets.library(own).name == fabric_assets.OWN_NAME
    assert sorted(path.name for path in own.iterdir()) == [
        "Coat_Silk.blend", "Coat_Silk.png", "Coat_Silk.py", "blender_assets.cats.txt",
    ]  # fmt: skip
    (swatch,) = assets_in(own / "Coat_Silk.blend")
    found = fabrics.numbers_of(swatch.taffeta_cloth)
    assert (found["mass"], found["weft_stretch"]) == (pytest.approx(0.321), 1.5)
    silk = next(obj for obj in assets_in(f"{LIBRARY_FOLDER}/fabrics.blend") if obj.name.startswith("Silk"))
    assert (
        len(swatch.data.vertices) == len(silk.data.vertices) and swatch.asset_data.catalog_id == fabric_assets.CATALOG
    )
    assert tuple(swatch.preview.image_size) == (128, 128)
    assert list(swatch.preview.image_pixels) == list(silk.preview.image_pixels), "without a window, that of silk"
    assert (swatch.asset_data.author, swatch.asset_data.license) == ("", ""), "it is the animator's"


def test_it_bears_its_name_whatever_else_does(own, coat, make):
    """The asset is found by its name when it is put on other cloths."""
    bpy.ops.taffeta.fabric_save(name="Coat Silk")
    bpy.ops.wm.read_factory_settings(use_empty=True)
    (swatch,) = assets_in(own / "Coat_Silk.blend")
    assert swatch.name == "Coat Silk"
    obj = make.cloth(make.grid("Other"))
    obj.select_set(True)
    assert bpy.ops.taffeta.fabric_apply(fabric=swatch.name) == {"FINISHED"}
    assert obj.taffeta_cloth.mass.value == pytest.approx(0.321)


def test_the_menu_that_asks_for_a_name_makes_an_asset_too_and_removes_it(own, coat):
    assert bpy.ops.taffeta.fabric_preset_add(name="My Tulle") == {"FINISHED"}
    assert [obj.name for obj in assets_in(own / "My_Tulle.blend")] == ["My Tulle"]
    assert bpy.ops.taffeta.fabric_preset_add(name="My Tulle", remove_name=True) == {"FINISHED"}
    assert [path.name for path in own.iterdir()] == ["blender_assets.cats.txt"]


def test_presets_of_an_older_taffeta_get_swatches_with_the_library(own, coat):
    bpy.ops.taffeta.fabric_preset_add(name="My Tulle")
    bpy.context.preferences.filepaths.asset_libraries.remove(fabric_assets.library(own))
    (own / "My_Tulle.blend").unlink()
    (own / "Broken.py").write_text("cloth.mass.value = 0.1\n")
    assert bpy.ops.taffeta.fabric_library() == {"FINISHED"}
    assert fabric_assets.library(own) and fabric_assets.library() and (own / "My_Tulle.blend").exists()
    assert not (own / "Broken.blend").exists(), "a preset that lacks numbers"
    assert bpy.ops.taffeta.fabric_library() == {"FINISHED"}
    assert fabric_assets.library(own) is None and fabric_assets.library() is None


@pytest.mark.skipif(sys.platform == "win32", reason="links")
def test_a_swatch_that_cannot_be_written_is_told_and_the_preset_is_kept(own, coat, tmp_path, capfd):
    own.mkdir(parents=True)
    (tmp_path / "thesis").write_bytes(b"four years")
    (own / "My_Tulle.blend").mkdir()
    assert bpy.ops.taffeta.fabric_preset_add(name="My Tulle") == {"FINISHED"}
    assert "My Tulle is saved, but not all that shows it" in "".join(capfd.readouterr())
    (own / "Gauze.blend").symlink_to(tmp_path / "thesis")
    assert bpy.ops.taffeta.fabric_preset_add(name="Gauze") == {"FINISHED"}
    assert (tmp_path / "thesis").read_bytes() == b"four years" and not (own / "Gauze.blend").is_symlink()
