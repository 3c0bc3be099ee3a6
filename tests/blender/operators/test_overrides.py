# SPDX-License-Identifier: GPL-3.0-or-later
"""A shot that overrides a linked garment goes through a Blender in which Taffeta is disabled, and keeps its settings."""

import subprocess
import sys

import bpy
import pytest
from taffeta.operators.checks import problem_list

LIBRARYS, OWN = 0.7, 0.25  # friction


@pytest.fixture
def shot(make, tmp_path):
    """A shot with an overridden garment and one of its own, saved; its path."""
    garment = make.cloth(make.grid("Skirt"), friction=LIBRARYS, pressure=2.0)
    garment.vertex_groups.new(name="Waist")
    make.collider(make.ball("Body"), aura=0.01)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=True) as (there, here):
        here.objects = there.objects
    for linked in here.objects:
        bpy.context.scene.collection.objects.link(linked)
        linked.override_create(remap_local_usages=True)
    make.cloth(make.grid("Scarf"), friction=0.9)
    cloth = own("Skirt").taffeta_cloth
    cloth.friction.value, cloth.rest.bend_rate, cloth.quality = OWN, 3.0, "PREVIEW"
    cloth.pin.source, cloth.pin.vertex_group = "GROUP", "Waist"
    cloth.collision_collection = bpy.data.collections.new("Bodies")
    cloth.pressure = 5.0
    cloth.keyframe_insert("pressure", frame=1)
    own("Body").taffeta_collider.aura = 0.02
    bpy.context.scene.taffeta.substeps = 17
    saved_and_opened(tmp_path / "shot.blend")
    return tmp_path / "shot.blend"


def own(name):
    """The object of this file, not the linked one."""
    return next(obj for obj in bpy.data.objects if obj.name == name and obj.library is None)


def saved_and_opened(path):
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    bpy.ops.wm.open_mainfile(filepath=str(path))


def told():
    """What the animator set."""
    cloth = own("Skirt").taffeta_cloth
    collection = cloth.collision_collection
    return (
        round(cloth.friction.value, 4), cloth.rest.bend_rate, cloth.quality, cloth.pin.source, cloth.pin.vertex_group,
        collection and collection.name, cloth.pressure, own("Skirt").animation_data.action is not None,
        round(own("Body").taffeta_collider.aura, 4), round(own("Scarf").taffeta_cloth.friction.value, 4),
        bpy.context.scene.taffeta.substeps,
    )  # fmt: skip


SET = OWN, 3.0, "PREVIEW", "GROUP", "Waist", "Bodies", 5.0, True, 0.02, 0.9, 17


def through_a_blender_without_taffeta(path):
    """Opened and saved there, and opened here."""
    script = "import sys, bpy; bpy.ops.wm.open_mainfile(filepath=sys.argv[1]); bpy.ops.wm.save_mainfile()"
    subprocess.run([sys.executable, "-c", script, str(path)], check=True, timeout=120)
    bpy.ops.wm.open_mainfile(filepath=str(path))


def test_overridden_settings_are_kept_with_taffeta(shot):
    assert told() == SET
    saved_and_opened(shot)
    assert told() == SET


def test_overridden_settings_come_back_after_a_blender_without_taffeta(shot):
    for _ in range(2):
        through_a_blender_without_taffeta(shot)
        assert told() == SET
    saved_and_opened(shot)
    assert told() == SET


def test_what_is_the_librarys_again_stays_so(shot):
    through_a_blender_without_taffeta(shot)
    cloth = own("Skirt").taffeta_cloth
    cloth.friction.value, cloth.collision_collection = LIBRARYS, None
    saved_and_opened(shot)
    through_a_blender_without_taffeta(shot)
    assert told() == (LIBRARYS, *SET[1:5], None, *SET[6:])
    own("Skirt").taffeta_cloth.enabled = False
    saved_and_opened(shot)
    through_a_blender_without_taffeta(shot)
    assert not own("Skirt").taffeta_cloth.enabled


def test_a_shot_without_overrides_has_nothing_noted(make, saved):
    make.cloth(make.grid())
    bpy.ops.wm.save_mainfile()
    assert not [key for key in bpy.context.scene.keys() if "overrides" in key]


def test_opening_a_shot_with_an_override_reports_no_error(shot, capfd):
    """Blender 5.2 reported "expected ID type, not TaffetaCageSettings" for each, as soon as the list was looked at once."""
    problem_list.latest(bpy.context.scene)
    capfd.readouterr()
    saved_and_opened(shot)
    said = "".join(capfd.readouterr())
    assert "ERROR" not in said and "expected ID type" not in said
    assert told() == SET


def test_a_cage_of_an_override_gives_back_the_rig_after_a_save(make, tmp_path):
    """What it had switched off was forgotten: the garment stayed without its rig when the cage was removed."""
    garment = make.cloth(make.grid("Coat", count=13))
    rig = garment.modifiers.new("Rig", "LATTICE")
    rig.object = bpy.data.objects.new("Lattice", bpy.data.lattices.new("Lattice"))
    garment.taffeta_cloth.earlier = "Jacket"
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=True) as (_, here):
        here.objects = ["Coat"]
    bpy.context.scene.collection.objects.link(here.objects[0])
    here.objects[0].override_create(remap_local_usages=True)
    own("Coat").taffeta_cloth.earlier = "Parka"
    assert bpy.ops.taffeta.cage_make(object="Coat", vertices=60) == {"FINISHED"}
    assert not own("Coat").modifiers["Rig"].show_viewport
    saved_and_opened(tmp_path / "shot.blend")
    assert own("Coat").taffeta_cloth.earlier == "Parka"
    assert bpy.ops.taffeta.cage_remove(object="Coat") == {"FINISHED"}
    assert own("Coat").modifiers["Rig"].show_viewport and own("Coat").modifiers["Rig"].show_render
