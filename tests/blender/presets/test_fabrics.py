# SPDX-License-Identifier: GPL-3.0-or-later
"""Fabric presets: the shipped ones are sane and sourced, Blender's menu runs, saves and removes them."""

import re
from pathlib import Path

import bpy
import pytest
from taffeta.operators.checks import problem_list
from taffeta.operators.read import fabrics
from taffeta.panels import fabric
from taffeta.panels.fabric import PRESET_ROOT, PRESET_SUBDIR
from taffeta.panels.mapped import FABRIC, ROWS, THREADS, follow_value

SHIPPED = sorted((Path(PRESET_ROOT) / "presets" / PRESET_SUBDIR).glob("*.py"))
LINE = re.compile(r"cloth\.(\w+?)(?:\.value)? = (\S+)  # \[(.+?)\] (.+)")
MENU = "TAFFETA_PT_fabric_presets"


def numbers(path) -> dict[str, tuple[float, str, str]]:
    """Property -> (value, unit, source) of a preset file, read as text."""
    return {m[1]: (float(m[2]), m[3], m[4]) for m in map(LINE.fullmatch, path.read_text().splitlines()) if m}


@pytest.fixture
def garment(make):
    obj = make.cloth(make.grid())
    bpy.context.view_layer.objects.active = obj
    return obj


def apply(path):
    return bpy.ops.script.execute_preset(filepath=str(path), menu_idname=MENU)


def test_there_are_fabrics_enough():
    wanted = {"Cotton", "Silk", "Denim", "Wool_Suiting", "Polyester", "Leather", "Jersey", "Rubber"}
    assert wanted <= {path.stem for path in SHIPPED}


@pytest.mark.parametrize("path", SHIPPED, ids=lambda p: p.stem)
def test_each_number_has_its_unit_and_source(path):
    found = numbers(path)
    assert set(found) == {*FABRIC, *THREADS}
    for name, (_, unit, source) in found.items():
        own = {"bending_damping": "s"}.get(name, "1")
        assert unit == (own if name in THREADS else ROWS[name].symbol.replace("²", "2") or "1")
        assert len(source) > 5


@pytest.mark.parametrize("path", SHIPPED, ids=lambda p: p.stem)
def test_each_number_is_what_its_line_says(path):
    """Warp and quotients of the numbers named, shear by the Poisson number named."""
    found = numbers(path)
    value = {name: number for name, (number, _, _) in found.items()}
    for name, (number, _, source) in found.items():
        said = source.partition(":")[0]
        scale = 1e-6 if name == "bending_stiffness" else 1.0
        if warp := re.fullmatch(r"warp ([\d.]+)", said):
            assert number == pytest.approx(scale * float(warp[1]), rel=0.003), (name, source)
        if quotient := re.fullmatch(r"([\d.]+) / ([\d.]+)", said):
            weft, warp = (float(quotient[group]) for group in (1, 2))
            assert number == pytest.approx(weft / warp, rel=0.003), (name, source)
            whose = value[
                name.replace("weft_stretch", "stretch_stiffness").replace("weft_bending", "bending_stiffness")
            ]
            assert whose == pytest.approx(warp * (1e-6 if name == "weft_bending" else 1.0), rel=0.003), (name, source)
        if poisson := re.search(r"stretch / \(2 \(1 \+ nu\)\).* nu = ([\d.]+)", source):
            assert number == pytest.approx(value["stretch_stiffness"] / (2 + 2 * float(poisson[1])), rel=0.02)
        if length := re.search(r"bending length ([\d.]+) cm", source):
            c = (number / (9.81 * value["mass"])) ** (1 / 3)
            assert 100 * c == pytest.approx(float(length[1]), abs=0.051), (name, source)


def test_each_source_is_explained():
    text = (Path(PRESET_ROOT) / "presets" / "SOURCES.md").read_text()
    known = "Wang et al. 2011", "Codim-IPC", "after Penava 2014", "second set", "ZOZO preset", "Cusick"
    assert all(name.lower() in text.lower() for name in known)
    for path in SHIPPED:
        for name, (_, _, source) in numbers(path).items():
            by_formula = any(word in source for word in ("E h", "stretch /", "kg/m3", "a common sheet"))
            assert "by eye" in source or by_formula or any(word in source for word in known), (path.stem, name)
    assert len(SHIPPED) >= 12


@pytest.mark.parametrize("path", SHIPPED, ids=lambda p: p.stem)
def test_each_fabric_is_physical(path):
    """Bending length (B / (mass g))^(1/3) is 1 to 4 cm for textiles (Peirce 1930); shear softer than stretch."""
    value = {name: number[0] for name, number in numbers(path).items()}
    for rigidity in (value["bending_stiffness"], value["weft_bending"] * value["bending_stiffness"]):
        assert 0.008 < (rigidity / (value["mass"] * 9.81)) ** (1 / 3) < 0.04
    assert 0.05 < value["mass"] < 0.6
    assert 1e-4 < value["thickness"] < 2e-3
    assert 0.0 < value["shear_stiffness"] < value["stretch_stiffness"]
    hanging = value["mass"] * 9.81 / value["stretch_stiffness"]
    assert hanging < 0.05, "a metre of it would be stretched by its own weight at the top by more than 5 %"
    assert value["strain_limit"] == 0.0 or 0.02 < value["strain_limit"] < 0.2
    assert 0.0 <= value["poisson"] <= 0.5 and 0.2 < value["weft_stretch"] < 5.0


@pytest.mark.parametrize("path", SHIPPED, ids=lambda p: p.stem)
def test_each_fabric_is_applied(garment, path):
    assert apply(path) == {"FINISHED"}
    for name, (value, _, _) in numbers(path).items():
        own = getattr(garment.taffeta_cloth, name)
        assert (own if name in THREADS else own.value) == pytest.approx(value, rel=1e-6)


def test_a_fabric_of_old_says_nothing_of_weft_and_so_has_no_difference(garment, tmp_path):
    old = tmp_path / "Old.py"
    old.write_text("import bpy\nbpy.context.object.taffeta_cloth.mass.value = 0.2\n")
    cloth = garment.taffeta_cloth
    cloth.weft_stretch, cloth.weft_bending, cloth.poisson = 2.5, 0.5, 0.125
    cloth.strain_limit, cloth.stiffening = 0.25, 4.0
    assert apply(old) == {"FINISHED"}
    assert {name: getattr(cloth, name) for name in THREADS} == THREADS


def test_the_menu_lists_the_shipped_fabrics():
    listed = {Path(p).resolve() for p in bpy.utils.preset_paths(PRESET_SUBDIR)}
    assert (Path(PRESET_ROOT) / "presets" / PRESET_SUBDIR).resolve() in listed
    assert bpy.utils.preset_find("Denim", PRESET_SUBDIR)


def test_a_painted_map_keeps_its_contrast_on_another_fabric(garment):
    stretch = garment.taffeta_cloth.stretch_stiffness
    stretch.source, stretch.minimum, stretch.maximum = "GROUP", 500.0, 2000.0
    apply(next(p for p in SHIPPED if p.stem == "Denim"))
    assert (stretch.minimum, stretch.maximum) == (pytest.approx(223.0), pytest.approx(4 * 223.0))
    assert stretch.source == "GROUP"


def test_a_fabric_leaves_pins_and_maps_alone(garment):
    cloth = garment.taffeta_cloth
    cloth.pin.source, cloth.pin.vertex_group = "GROUP", "waist"
    cloth.pin_distance.value = 0.25
    apply(SHIPPED[0])
    assert (cloth.pin.source, cloth.pin.vertex_group) == ("GROUP", "waist")
    assert (cloth.pin.minimum, cloth.pin.maximum) == (0.0, 1.0)
    assert cloth.pin_distance.value == 0.25


def test_a_range_that_starts_at_zero_gets_the_usual_contrast(garment):
    cloth = garment.taffeta_cloth
    cloth.stretch_stiffness.minimum, cloth.stretch_stiffness.value = 0.0, 300.0
    follow_value(cloth, "stretch_stiffness")
    low, high = ROWS["stretch_stiffness"].map_range
    assert cloth.stretch_stiffness.maximum == pytest.approx(300.0 * high / low)


@pytest.fixture
def user_scripts(tmp_path, monkeypatch):
    """Blender's user folder for presets, empty."""
    monkeypatch.setenv("BLENDER_USER_SCRIPTS", str(tmp_path))
    if not bpy.utils.user_resource("SCRIPTS").startswith(str(tmp_path)):
        pytest.skip("this Blender reads BLENDER_USER_SCRIPTS only when it starts")
    return tmp_path


def test_an_own_fabric_is_saved_applied_and_removed(garment, user_scripts):
    cloth = garment.taffeta_cloth
    for i, name in enumerate(FABRIC):
        getattr(cloth, name).value = 0.0123 * (i + 1)
    cloth.weft_stretch, cloth.weft_bending, cloth.poisson = 2.5, 0.5, 0.125
    assert bpy.ops.taffeta.fabric_preset_add(name="My Tulle") == {"FINISHED"}
    saved = user_scripts / "presets" / PRESET_SUBDIR / "My_Tulle.py"
    assert saved.exists()
    for name in FABRIC:
        getattr(cloth, name).value = 1.0
    cloth.weft_stretch, cloth.weft_bending, cloth.poisson = 1.0, 1.0, 0.0
    assert apply(saved) == {"FINISHED"}
    for i, name in enumerate(FABRIC):
        assert getattr(cloth, name).value == pytest.approx(0.0123 * (i + 1), rel=1e-6)
    assert (cloth.weft_stretch, cloth.weft_bending, cloth.poisson) == (2.5, 0.5, 0.125)
    assert bpy.ops.taffeta.fabric_preset_add(name="My_Tulle", remove_name=True) == {"FINISHED"}
    assert not saved.exists()


def test_a_shipped_fabric_is_not_overwritten(garment, user_scripts):
    assert bpy.ops.taffeta.fabric_preset_add(name="Denim") == {"CANCELLED"}


# The picker, with pictures and the name


def test_each_shipped_fabric_has_a_picture_of_its_own_and_all_are_small():
    pictures = [path.with_suffix(".png") for path in SHIPPED]
    assert sum(picture.stat().st_size for picture in pictures) < 400_000
    contents = set()
    for picture in pictures:
        image = bpy.data.images.load(str(picture))
        assert tuple(image.size) == (128, 128)
        contents.add(tuple(image.pixels[:]))
    assert len(contents) == len(SHIPPED)


def items():
    return {item[1]: item for item in fabric._items()}


@pytest.mark.parametrize("path", SHIPPED, ids=lambda p: p.stem)
def test_the_picker_sets_all_that_a_fabric_defines_thickness_included(garment, scene, path):
    name = path.stem.replace("_", " ")
    garment.taffeta_cloth.thickness.value = 0.002
    garment.taffeta_fabric.choice = items()[name][0]
    for prop, (value, _, _) in numbers(path).items():
        own = getattr(garment.taffeta_cloth, prop)
        assert (own if prop in THREADS else own.value) == pytest.approx(value, rel=1e-6)
    assert garment.taffeta_fabric.choice == items()[name][0] and garment.taffeta_fabric.chosen == name
    assert fabrics.fabric_name(garment, scene) == name


def test_the_name_is_shown_until_a_slider_deviates(garment, scene):
    cloth = garment.taffeta_cloth
    assert fabrics.fabric_name(garment, scene) == ""
    garment.taffeta_fabric.choice = items()["Denim"][0]
    for part, value in (("mass", 0.5), ("thickness", 0.0015), ("bending_stiffness", 1e-4), ("friction", 0.1)):
        group = getattr(cloth, part)
        before, group.value = group.value, value
        assert fabrics.fabric_name(garment, scene) == "Denim, changed"
        group.value = before
        assert fabrics.fabric_name(garment, scene) == "Denim"
    cloth.weft_stretch = 1.0
    assert fabrics.fabric_name(garment, scene) == "Denim, changed"
    problem_list.show(scene)
    assert bpy.context.window_manager.taffeta.fabrics["Cloth"].fabric == "Denim, changed"
    bpy.context.window_manager.taffeta.problems.clear()
    bpy.context.window_manager.taffeta.fabrics.clear()


def test_a_new_garment_is_called_cotton_as_its_mesh_shows_it(make, scene):
    obj = make.grid(count=21, size=0.5)
    bpy.context.view_layer.objects.active = obj
    bpy.ops.taffeta.cloth_add()
    cotton, cloth = fabrics.shipped("Cotton"), obj.taffeta_cloth
    assert cloth.bending_stiffness.value > 2 * cotton["bending_stiffness"], "its mesh is coarse"
    assert fabrics.fabric_name(obj, scene) == "Cotton"
    cloth.bending_stiffness.value *= 1.5
    assert fabrics.fabric_name(obj, scene) == "Cotton, changed"


def test_a_fabric_is_not_thicker_than_a_fine_mesh_bears(make):
    """A coat for a doll, with edges of 1 mm: cloth as thick as its edges touches itself all over."""
    obj = make.cloth(make.grid(count=21, size=0.02))
    bpy.context.view_layer.objects.active = obj
    obj.taffeta_fabric.choice = items()["Wool Coat"][0]
    thickness = obj.taffeta_cloth.thickness
    assert thickness.value == thickness.minimum == pytest.approx(0.001 / 3, rel=1e-3)
    obj.taffeta_fabric.choice = items()["Silk"][0]
    assert thickness.value == pytest.approx(0.00018)


def test_choosing_is_undone(garment):
    bpy.ops.ed.undo_push(message="before")
    garment.taffeta_fabric.choice = items()["Silk"][0]
    bpy.ops.ed.undo_push(message="Fabric")
    bpy.ops.ed.undo()
    cloth = bpy.data.objects["Cloth"]
    assert cloth.taffeta_fabric.chosen == "" and cloth.taffeta_cloth.mass.value == pytest.approx(0.15)


def test_the_choice_is_made_on_the_garment_of_the_panel(garment, make):
    other = make.cloth(make.grid("Other"))
    other.taffeta_fabric.choice = items()["Silk"][0]
    assert other.taffeta_cloth.mass.value == pytest.approx(0.083)
    assert garment.taffeta_cloth.mass.value == pytest.approx(0.15) and bpy.context.object == garment


def test_one_click_saves_a_fabric_with_a_picture_and_a_name_that_is_free(garment, scene, user_scripts):
    garment.taffeta_fabric.choice = items()["Silk"][0]
    garment.taffeta_cloth.mass.value = 0.05
    bpy.context.view_layer.update()
    seen = []
    bpy.app.handlers.depsgraph_update_post.append(
        look := lambda _, graph: seen.extend(u.id.name for u in graph.updates)
    )
    assert bpy.ops.taffeta.fabric_save() == {"FINISHED"}
    bpy.context.view_layer.update()
    bpy.app.handlers.depsgraph_update_post.remove(look)
    assert "Cloth" in seen, "the panel's name is made anew"
    folder = user_scripts / "presets" / PRESET_SUBDIR
    assert (folder / "Cloth_Silk.py").exists()
    silk = (Path(PRESET_ROOT) / "presets" / PRESET_SUBDIR / "Silk.png").read_bytes()
    assert (folder / "Cloth_Silk.png").read_bytes() == silk, "without a window, the picture of what it was made from"
    assert fabrics.fabric_name(garment, scene) == "Cloth Silk", "it is that now"
    assert garment.taffeta_fabric.choice == items()["Cloth Silk"][0]
    garment.taffeta_cloth.mass.value = 0.06
    bpy.ops.taffeta.fabric_save(name="Silk")
    assert (folder / "Silk_2.py").exists(), "the shipped one stays"
    assert bpy.ops.taffeta.fabric_preset_add(name="Cloth Silk", remove_name=True) == {"FINISHED"}
    assert [path.name for path in sorted(folder.iterdir())] == [
        "Silk_2.blend", "Silk_2.png", "Silk_2.py", "blender_assets.cats.txt",
    ]  # fmt: skip
    assert "Cloth Silk" not in items() and garment.taffeta_fabric.choice == items()["Silk 2"][0]
    garment.taffeta_fabric.chosen = "Cloth Silk"
    assert garment.taffeta_fabric.choice == fabric.NO_CHOICE, "it is gone"


def test_saving_needs_a_cloth(make):
    bpy.context.view_layer.objects.active = make.grid()
    assert not bpy.ops.taffeta.fabric_preset_add.poll()
