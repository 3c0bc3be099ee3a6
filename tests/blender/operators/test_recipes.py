# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake knows what it was made of: the list says what was changed since, and all of it can be had again, painted maps, too."""

import bpy
import numpy as np
import pytest
from taffeta.operators.checks import problem_list
from taffeta.operators.playback import cache_modifier
from taffeta.operators.read import maps
from taffeta.solver import step
from taffeta.solver.cache import recipe, trash

COUNT, LAST = 5, 3
MAPPED = {"mass": "GROUP", "damping": "IMAGE", "friction": "ATTRIBUTE"}


@pytest.fixture
def garment(saved, make):
    """A saved scene with a sheet whose mass is a painted group, whose damping an image, and whose friction an attribute; and
    a body."""
    saved.frame_end = LAST
    obj = make.cloth(make.grid(count=COUNT, location=(0, 0, 2)))
    rng = np.random.default_rng(7)
    group = obj.vertex_groups.new(name="hem")
    for index in range(0, COUNT * COUNT, 2):
        group.add([index], float(rng.random()), "REPLACE")
    image = bpy.data.images.new("folds", 8, 4, is_data=True)
    image.pixels.foreach_set(np.repeat(rng.random(32, dtype=np.float32), 4))
    attribute = obj.data.attributes.new("slip", "FLOAT", "POINT")
    attribute.data.foreach_set("value", rng.random(COUNT * COUNT, dtype=np.float32))
    cloth = obj.taffeta_cloth
    cloth.mass.vertex_group, cloth.damping.image, cloth.friction.attribute = "hem", image, "slip"
    for name, source in MAPPED.items():
        getattr(cloth, name).source = source
    cloth.self_group = "hem"
    make.collider(make.ball(location=(0, 0, 1)))
    return obj


def cloth():
    return bpy.data.objects["Cloth"]


def values():
    """What the solver would get of each map."""
    obj = cloth()
    return {name: maps.read_map(obj, getattr(obj.taffeta_cloth, name), obj.data) for name in MAPPED}


def same(one, other):
    return {name for name in one if np.array_equal(one[name], other[name])}


def baked(**options):
    assert bpy.ops.taffeta.bake(**options) == {"FINISHED"}
    return cache_modifier.played(cloth())


def listed():
    problem_list.show(bpy.context.scene)
    return [item for item in bpy.context.window_manager.taffeta.bakes if item.garment == "Cloth"]


def repaint():
    """Other values in every map, under the same names."""
    obj = cloth()
    obj.vertex_groups["hem"].add(list(range(COUNT * COUNT)), 0.5, "REPLACE")
    image = bpy.data.images["folds"]
    image.pixels.foreach_set(np.full(128, 0.25, np.float32))
    image.update()
    obj.data.attributes["slip"].data.foreach_set("value", np.full(COUNT * COUNT, 0.75, np.float32))
    for changed in (image, obj.data):
        changed.update_tag()
    bpy.context.view_layer.update()


def restore(path=""):
    return bpy.ops.taffeta.bake_settings(object="Cloth", path=str(path))


def test_settings_of_a_bake_come_back_and_the_list_says_what_was_changed(garment, saved):
    path = baked(label="light")
    (entry,) = listed()
    assert entry.changed == "" and entry.restorable
    garment.taffeta_cloth.mass.maximum, saved.taffeta.wind = 0.9, (0.0, 4.0, 0.0)
    body = bpy.data.objects["Body"]
    body.taffeta_collider.friction, saved.gravity, saved.frame_end = 0.9, (0.0, 0.0, -1.6), 8
    (entry,) = listed()
    assert set(entry.changed.replace(" and ", ", ").split(", ")) == {"gravity", "Mass", "Wind", "1 more"}
    assert restore() == {"FINISHED"}
    assert listed()[0].changed == "" and saved.frame_end == LAST and tuple(saved.taffeta.wind) == (0.0, 0.0, 0.0)
    assert body.taffeta_collider.friction != pytest.approx(0.9) and saved.gravity.z == pytest.approx(-9.81)
    before = path.with_suffix(".state").read_bytes()
    assert baked().with_suffix(".state").read_bytes() == before, "the same bake"


def test_painted_maps_come_back_beside_what_was_painted_since(garment, capfd):
    before = values()
    path = baked(label="first")
    repaint()
    now = values()
    assert not same(before, now)
    (entry,) = listed()
    assert "Mass" in entry.changed
    assert restore(path) == {"FINISHED"}
    assert same(before, values()) == set(MAPPED) and listed()[0].changed == ""
    told = capfd.readouterr()
    assert "vertex group 'hem' was changed since: as it was, it is 'hem (first)'" in told.out + told.err
    obj = cloth()
    assert obj.taffeta_cloth.self_group == "hem (first)"
    for name, mine in (("mass", "vertex_group"), ("friction", "attribute")):
        setattr(getattr(obj.taffeta_cloth, name), mine, {"mass": "hem", "friction": "slip"}[name])
    obj.taffeta_cloth.damping.image = bpy.data.images["folds"]
    assert same(now, values()) == set(MAPPED), "what was painted since is there"
    for _ in range(2):
        assert restore(path) == {"FINISHED"}
    assert len(obj.vertex_groups) == 2 and len(bpy.data.images) == 2 and same(before, values()) == set(MAPPED)


def test_maps_that_were_deleted_are_made_again(garment, tmp_path):
    before, path = values(), baked()
    garment.vertex_groups.clear()
    bpy.data.images.remove(bpy.data.images["folds"])
    garment.data.attributes.remove(garment.data.attributes["slip"])
    assert restore(path) == {"FINISHED"}
    assert same(before, values()) == set(MAPPED) and [group.name for group in garment.vertex_groups] == ["hem"]
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    assert same(before, values()) == set(MAPPED), "the image is packed"


@pytest.mark.parametrize("kind", ["BYTE_COLOR", "FLOAT_COLOR", "BOOLEAN", "INT"])
def test_attributes_of_all_kinds_come_back(garment, kind):
    domain = "CORNER" if "COLOR" in kind else "POINT"
    attribute = garment.data.attributes.new("kind", kind, domain)
    for index, item in enumerate(attribute.data):
        if "COLOR" in kind:
            item.color = (0.013 * (index % 60), 0.5, 0.2, 1.0)
        else:
            item.value = index % 2
    garment.taffeta_cloth.friction.attribute = "kind"
    before, path = values(), baked()
    garment.data.attributes.remove(garment.data.attributes["kind"])
    assert restore(path) == {"FINISHED"} and same(before, values()) == set(MAPPED)


def test_an_image_of_floats_comes_back(garment):
    image = bpy.data.images.new("deep", 4, 4, float_buffer=True)
    image.pixels.foreach_set(np.repeat(np.linspace(0.1, 1.3, 16, dtype=np.float32), 4))
    garment.taffeta_cloth.damping.image = image
    before, path = values(), baked()
    bpy.data.images.remove(image)
    assert restore(path) == {"FINISHED"} and same(before, values()) == set(MAPPED)


def test_maps_of_another_mesh_are_left_and_told(garment, capfd):
    path = baked()
    garment.data.vertices.add(1)
    garment.vertex_groups["hem"].add([COUNT * COUNT], 0.3, "REPLACE")
    assert restore(path) == {"FINISHED"}
    told = "".join(capfd.readouterr())
    assert "vertex group 'hem' is of another mesh: the present one is used" in told
    assert "not as they were:" in told and garment.taffeta_cloth.mass.vertex_group == "hem"


def test_what_a_bake_was_made_of_goes_with_it(garment):
    path = baked(label="first")
    garment.taffeta_cloth.mass.maximum = 2.0
    second = baked(label="second")
    older = second.with_name("Cloth.bak1.pc2")
    assert path == second and older.with_suffix(".recipe").exists()
    assert restore(older) == {"FINISHED"} and cloth().taffeta_cloth.mass.maximum != pytest.approx(2.0)
    assert bpy.ops.taffeta.bake_delete(object="Cloth", path=str(older)) == {"FINISHED"}
    (gone,) = trash.trashed(older.parent)
    assert gone.with_suffix(".recipe").exists() and not older.with_suffix(".recipe").exists()


def test_a_garment_that_was_renamed_gets_its_settings(garment):
    path = baked()
    garment.name = "Cape"
    garment.taffeta_cloth.mass.maximum = 2.0
    assert bpy.ops.taffeta.bake_settings(object="Cape", path=str(path)) == {"FINISHED"}
    assert garment.taffeta_cloth.mass.maximum != pytest.approx(2.0)


def test_what_somebody_wrote_into_a_recipe_changes_nothing(garment, saved):
    path = baked()
    good = path.with_suffix(".recipe").read_text()
    for text, words in (
        ("{}", "cannot be read"),
        (good.replace('"frames": [1, 3]', '"frames": [1, 1e400]'), "is damaged"),
        (good.replace('"frames": [1, 3]', f'"frames": [1, {10**30}]'), "cannot be read"),
        (good.replace('"scene": {', '"scene": 7, "was": {'), "cannot be read"),
        ("", "is damaged"),
    ):
        path.with_suffix(".recipe").write_text(text)
        garment.taffeta_cloth.mass.maximum = 2.0
        with pytest.raises(RuntimeError, match=words):
            restore(path)
        assert garment.taffeta_cloth.mass.maximum == pytest.approx(2.0) and saved.frame_end == LAST
    path.with_suffix(".recipe").write_text(
        good.replace('"layer": 0', f'"layer": {10**30}').replace('"mass": {', '"mass": {"value": [1, {}], ')
    )
    assert restore(path) == {"FINISHED"}, "one setting that cannot be is left"
    path.with_suffix(".recipe").unlink()
    assert not listed()[0].restorable
    with pytest.raises(RuntimeError, match="its settings were not kept"):
        restore(path)


def test_edit_mode_is_left_first(garment):
    path = baked()
    bpy.context.view_layer.objects.active = garment
    bpy.ops.object.mode_set(mode="EDIT")
    try:
        with pytest.raises(RuntimeError, match="is in Edit Mode"):
            restore(path)
    finally:
        bpy.ops.object.mode_set(mode="OBJECT")


def test_a_take_of_the_queue_is_baked_with_the_maps_that_it_was_made_with(garment, saved):
    before = values()
    bpy.ops.taffeta.take_add(label="first")
    repaint()
    now = values()
    bpy.ops.taffeta.take_add(label="second")
    assert bpy.ops.taffeta.takes_bake() == {"FINISHED"}
    assert same(now, values()) == set(MAPPED), "the garment has its own maps again"
    folder = cache_modifier.played(cloth()).parent
    first, second = (recipe.read(folder / f"Cloth{end}.pc2") for end in (".bak1", ""))
    weights = [next(m.values for m in one.maps["Cloth"] if m.kind == "GROUP") for one in (first, second)]
    assert not np.array_equal(*weights)
    assert restore(folder / "Cloth.bak1.pc2") == {"FINISHED"}
    assert same(before, values()) == set(MAPPED)
    assert [item.changed for item in listed()] == ["Mass, Damping, Friction and 1 more", ""]


def test_notes_that_somebody_deletes_while_frames_are_baked_are_written_anew(garment, saved, tmp_path, monkeypatch):
    """The list forgot name and note, and what the bake was made of; also where Resume finds all frames good."""
    path = baked()
    bpy.ops.taffeta.bake_rename(object="Cloth", label="hero", note="the director likes it")
    notes = {note: note.read_bytes() for note in path.parent.glob("Cloth.*") if note.suffix in (".json", ".recipe")}
    assert len(notes) == 3

    def clean_up(*about):
        for note in notes:
            note.unlink(missing_ok=True)
        return advance(*about)

    advance = step.advance
    saved.frame_end = LAST + 2
    with monkeypatch.context() as patch:
        patch.setattr(step, "advance", clean_up)
        baked(resume=True)
    assert all(note.is_file() for note in notes)
    (item,) = listed()
    assert (item.label, item.note) == ("hero", "the director likes it")
    for note in notes:
        note.unlink()
    baked(resume=True)
    assert all(note.is_file() for note in notes)
    cloth().taffeta_cloth.mass.value = 9.0
    bpy.ops.taffeta.bake_settings(object="Cloth")
    assert cloth().taffeta_cloth.mass.value < 9.0
