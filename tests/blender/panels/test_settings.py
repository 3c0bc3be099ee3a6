# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings: names, ranges, units, and what files keep of them."""

import bpy
import pytest
from taffeta.panels import properties, rows, units
from taffeta.panels.mapped import MAPPED, ROWS
from taffeta.solver.model import Settings


def test_settings_of_the_scene_are_those_of_the_solver(scene):
    for name, value in Settings()._asdict().items():
        if name == "guard_bodies":  # the garments' Quality decides
            continue
        shown = getattr(scene.taffeta, name)
        assert tuple(shown) == value if isinstance(value, tuple) else shown == pytest.approx(value)


@pytest.mark.parametrize("name", MAPPED)
def test_a_mapped_property_has_all_its_fields(make, name):
    group = getattr(make.grid().taffeta_cloth, name)
    assert group.source == "UNIFORM"
    assert group.value == pytest.approx(ROWS[name].default)
    assert group.minimum <= group.maximum
    assert not (group.vertex_group or group.image or group.uv_map or group.attribute or group.invert)
    items = group.bl_rna.properties["source"].enum_items.keys()
    assert items == ["UNIFORM", "GROUP", "IMAGE", "ATTRIBUTE"]


def test_defaults_are_those_agreed(make):
    cloth = make.grid().taffeta_cloth
    assert (cloth.enabled, cloth.layer, cloth.self_collision, cloth.quality) == (False, 0, True, "FINAL")
    values = {name: pytest.approx(getattr(cloth, name).value) for name in MAPPED}
    assert values == dict(
        zip(MAPPED, (0.0, 0.15, 0.002, 2000.0, 100.0, 1e-5, 2.0, 0.3, 0.0, 0.0, 0.0, 0.0), strict=True)
    )


SETTINGS = [(cls, name) for cls in properties.CLASSES for name, _ in properties.settings_of(cls)]


@pytest.mark.parametrize(("owner", "name"), SETTINGS, ids=lambda v: getattr(v, "__name__", v))
def test_each_setting_has_a_name_and_a_tooltip(owner, name):
    prop = owner.bl_rna.properties[name]
    if prop.type == "POINTER" and prop.fixed_type.identifier.startswith("Taffeta"):
        return  # the settings of a mapped property, which are tested themselves
    assert prop.name and len(prop.description) > 9
    assert not prop.description.endswith("."), "Blender adds the full stop"


@pytest.mark.parametrize("cls", [c for c in properties.CLASSES if c not in properties.MAPPED_CLASSES.values()])
def test_what_a_bake_reads_once_takes_no_keys_and_all_tell_that_they_changed(cls):
    """Also what a class has of another one, as a garment's settings those of its pattern."""
    for prop in cls.bl_rna.properties:
        if prop.identifier not in ("rna_type", "name") and prop.type not in ("POINTER", "COLLECTION"):
            name = prop.identifier
            assert name in cls.__annotations__
            assert prop.is_animatable == (name.removesuffix("_shown") in properties.ANIMATED), name


@pytest.mark.parametrize(("owner", "name"), SETTINGS, ids=lambda v: getattr(v, "__name__", v))
def test_each_number_has_a_range_with_its_default_inside(owner, name):
    prop = owner.bl_rna.properties[name]
    if prop.type in ("FLOAT", "INT"):
        assert prop.hard_min <= prop.soft_min < prop.soft_max <= prop.hard_max
        assert prop.hard_min <= prop.default <= prop.hard_max


@pytest.mark.parametrize("name", [n for n in MAPPED if ROWS[n].symbol])
def test_each_tooltip_names_the_unit(name):
    symbol = {"m": "metres"}.get(ROWS[name].symbol, ROWS[name].symbol)
    assert symbol in ROWS[name].tooltip


@pytest.mark.parametrize("scale", [1.0, 0.01, 1000.0])
def test_lengths_are_shown_true_in_any_unit_scale(scene, make, scale):
    """Blender displays stored value * unit scale; 2 mm must read 2 mm."""
    scene.unit_settings.scale_length = scale
    far = make.grid().taffeta_cloth.pin_distance
    far.value = 0.002
    assert far.value_shown * scale == pytest.approx(0.002)
    far.value_shown = 0.005 / scale
    assert far.value == pytest.approx(0.005)
    scene.taffeta.wind_shown = (3.0 / scale, 0.0, 0.0)
    assert scene.taffeta.wind[0] == pytest.approx(3.0)
    assert rows.shown(bpy.context, far, "value") == ("value" if scale == 1.0 else "value_shown")


@pytest.mark.parametrize("scale", [1.0, 0.01])
def test_fabrics_are_shown_in_millimetres_and_grams_in_any_unit_scale(scene, make, scale):
    scene.unit_settings.scale_length = scale
    cloth = make.grid().taffeta_cloth
    assert rows.shown(bpy.context, cloth.thickness, "value") == "value_shown"
    assert cloth.thickness.value_shown == pytest.approx(2.0) and cloth.mass.value_shown == pytest.approx(150.0)
    cloth.thickness.value_shown, cloth.mass.value_shown = 0.66, 320.0
    assert cloth.thickness.value == pytest.approx(0.00066) and cloth.mass.value == pytest.approx(0.32)


def test_without_units_numbers_are_shown_as_they_are(scene):
    scene.unit_settings.system, scene.unit_settings.scale_length = "NONE", 0.01
    assert units.shown_factor() == 1.0


def test_the_bending_of_silk_can_be_read_and_typed(make):
    """Blender's fields show six decimals at most."""
    bending = make.grid().taffeta_cloth.bending_stiffness
    bending.value = 8e-7
    assert rows.shown(bpy.context, bending, "value") == "value_shown"
    assert bending.value_shown == pytest.approx(0.8)
    bending.value_shown = 12.5
    assert bending.value == pytest.approx(1.25e-5)


def test_setting_something_tells_blender(garment):
    """Preflight and overlay wait for Blender to say that an object changed."""
    seen = []

    def look(_scene, depsgraph):
        seen.extend(update.id.name for update in depsgraph.updates)

    bpy.context.view_layer.update()
    bpy.app.handlers.depsgraph_update_post.append(look)
    try:
        for group, name in ((garment.taffeta_cloth.mass, "value"), (garment.taffeta_cloth, "zip_open")):
            setattr(group, name, 0.3)
            bpy.context.view_layer.update()
            assert garment.name in seen, name
            seen.clear()
        garment.taffeta_cloth.stale = "a note"
        bpy.context.view_layer.update()
        assert garment.name not in seen
    finally:
        bpy.app.handlers.depsgraph_update_post.remove(look)


@pytest.mark.parametrize(("owner", "name"), SETTINGS, ids=lambda v: getattr(v, "__name__", v))
def test_what_a_bake_would_not_see_cannot_be_keyed(owner, name):
    looked_at = properties.MAP_NUMBERS if owner in properties.MAPPED_CLASSES.values() else properties.ANIMATED
    prop = owner.bl_rna.properties[name]
    if prop.type not in ("POINTER", "COLLECTION"):
        assert prop.is_animatable == (name.removesuffix("_shown") in looked_at)


def test_settings_survive_saving_and_copying(garment, tmp_path):
    garment.taffeta_cloth.shear_stiffness.maximum = 321.0
    garment.taffeta_cloth.shear_stiffness.invert = True
    bpy.context.scene.taffeta.preroll = 7
    copy = garment.copy()
    bpy.context.scene.collection.objects.link(copy)
    copy.taffeta_cloth.layer = 3
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "a.blend"))
    first, second = bpy.data.objects["Cloth"].taffeta_cloth, bpy.data.objects["Cloth.001"].taffeta_cloth
    assert first.shear_stiffness.maximum == second.shear_stiffness.maximum == pytest.approx(321.0)
    assert first.shear_stiffness.invert and first.enabled
    assert (first.layer, second.layer) == (0, 3)
    assert bpy.context.scene.taffeta.preroll == 7


@pytest.mark.parametrize("was_cloth", [True, False])
def test_settings_can_be_overridden_on_a_linked_character(make, tmp_path, was_cloth):
    """Cloth already in the library, or made cloth in the shot; saved and opened twice."""
    garment = make.grid()
    garment.taffeta_cloth.enabled = was_cloth
    bpy.context.view_layer.objects.active = garment
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=True) as (there, here):
        here.objects = there.objects
    linked = here.objects[0]
    bpy.context.scene.collection.objects.link(linked)
    bpy.context.view_layer.objects.active = linked
    assert not bpy.ops.taffeta.paint.poll() and not bpy.ops.taffeta.cloth_add.poll()
    own = linked.override_create(remap_local_usages=True)
    own.taffeta_cloth.enabled = True
    own.taffeta_cloth.mass.value = 0.44
    own.taffeta_cloth.quality = "PREVIEW"
    for _ in range(2):
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
        bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
        own = next(obj for obj in bpy.data.objects if obj.override_library)
    assert own.taffeta_cloth.enabled
    assert own.taffeta_cloth.mass.value == pytest.approx(0.44)
    assert own.taffeta_cloth.quality == "PREVIEW"


def test_sentences_tell_lengths_in_the_units_of_the_scene(scene, make, capfd):
    told = [units.length_text(metres) for metres in (0.0, 0.00025, 0.0031, 0.12, 1.4)]
    assert told == ["0 mm", "0.25 mm", "3.1 mm", "12 cm", "1.4 m"]
    scene.unit_settings.system = "IMPERIAL"
    told = [units.length_text(metres) for metres in (0.0031, 0.12, 1.4)]
    assert told == ["122 thou", '4.72"', "4.59'"], "as the fields of the panels have it"
    make.collider(make.ball(), aura=0.0)
    assert bpy.ops.taffeta.fix_aura(object="Body") == {"FINISHED"}
    assert "Body has a Distance of 197 thou" in capfd.readouterr().out
