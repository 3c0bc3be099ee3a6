# SPDX-License-Identifier: GPL-3.0-or-later
"""Preflight tells of garments that a modifier makes in part, as Mirror does, of which only what is modelled is simulated."""

import bpy
import pytest
from taffeta.operators.read import modifier_stack


@pytest.fixture
def rig(shot):
    """An armature in the scene."""
    obj = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    shot.collection.objects.link(obj)
    return obj


@pytest.mark.parametrize(("kind", "heavy"), [("MIRROR", True), ("ARRAY", False), ("SCREW", True), ("SKIN", True)])
def test_a_garment_that_a_modifier_makes_in_part(shot, kind, heavy, found, only, cloth):
    modifier = cloth().modifiers.new("Half", kind)
    only("WARNING", "Cloth", "Half makes a part of it", "only what is modelled is simulated")
    (problem,) = found()
    assert problem.heavy == heavy and problem.verbs == ("taffeta.fix_makers",) and "Apply Half" in problem.remedy
    modifier.show_viewport = modifier.show_render = False
    assert found() == []


def test_what_refines_a_garment_makes_none(shot, found, cloth):
    for kind in ("SUBSURF", "SOLIDIFY", "MASK", "BUILD"):
        cloth().modifiers.new(kind, kind)
    assert found() == []


def test_mirror_before_the_rig_is_applied_and_not_moved(shot, found, only, cloth, rig):
    """Below the rig it would mirror the pose."""
    cloth().modifiers.new("Mirror", "MIRROR")
    cloth().modifiers.new("Armature", "ARMATURE").object = rig
    only("ERROR", "Cloth", "Mirror makes a part of it before Armature moves it", "only what is modelled is simulated")
    assert found()[0].verbs == ("taffeta.fix_makers",)
    with pytest.raises(RuntimeError, match="no modifier that stands too far up"):
        bpy.ops.taffeta.fix_modifiers(object="Cloth")
    assert [modifier.name for modifier in cloth().modifiers] == ["Mirror", "Armature"]
    with pytest.raises(RuntimeError, match="Apply Mirror"):
        bpy.ops.taffeta.bake()


@pytest.mark.parametrize("kind", ["ARMATURE", "DISPLACE"])
def test_no_button_moves_an_array_past_what_deforms(shot, kind, cloth, rig):
    cloth().modifiers.new("Array", "ARRAY")
    cloth().modifiers.new("Fine", "SUBSURF")
    cloth().modifiers.new("Deform", kind)
    cloth().modifiers.new("Armature", "ARMATURE").object = rig
    assert modifier_stack.lift_rebuilders(cloth()) == ["Fine"]
    assert [modifier.name for modifier in cloth().modifiers] == ["Array", "Deform", "Armature", "Fine"]


@pytest.mark.parametrize("what", ["shape keys", "shared", "behind another"])
def test_where_it_cannot_be_applied_there_is_no_button(shot, what, found, cloth):
    if what == "behind another":
        cloth().modifiers.new("Fine", "SUBSURF")
    cloth().modifiers.new("Mirror", "MIRROR")
    if what == "shape keys":
        cloth().shape_key_add(name="Basis")
    if what == "shared":
        bpy.data.objects.new("Twin", cloth().data)
    (problem,) = [problem for problem in found() if "makes a part" in problem.sentence]
    words = {"shape keys": "shape keys", "shared": "Make Single User", "behind another": "Fine"}[what]
    assert problem.verbs == () and words in problem.remedy
    with pytest.raises(RuntimeError, match=words):
        bpy.ops.taffeta.fix_makers(object="Cloth")
    assert "Mirror" in cloth().modifiers


def test_a_garment_of_which_all_is_made(shot, found, only, cloth):
    cloth().data.clear_geometry()
    cloth().data.from_pydata([(1, 0, 0), (1, 0, 1)], [(0, 1)], [])
    cloth().modifiers.new("Lathe", "SCREW")
    only("ERROR", "Cloth", "has no faces")
    assert found()[0].verbs == ("taffeta.fix_makers",) and "Apply Lathe" in found()[0].remedy


def test_a_garment_that_follows_a_cage_of_its_half(shot, make, only, cloth):
    garment = make.mesh("Fine", *make_square())
    garment.taffeta_cage.cage = cloth()
    garment.modifiers.new("Taffeta Cage", "SURFACE_DEFORM").target = cloth()
    garment.modifiers.new("Mirror", "MIRROR")
    only("WARNING", "Fine", "Mirror makes a part of it", "only what is modelled is simulated")


def make_square():
    """Vertices and the face of a unit square."""
    return [(0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)], [(0, 1, 2, 3)]


def test_a_map_of_dynamic_paint(shot, found, only, cloth):
    """It paints while the timeline plays, on what is simulated."""
    obj = cloth()
    bpy.context.view_layer.objects.active = obj
    modifier = obj.modifiers.new("Wet", "DYNAMIC_PAINT")
    bpy.ops.dpaint.type_toggle(type="CANVAS")
    surface = modifier.canvas_settings.canvas_surfaces[0]
    surface.surface_type, surface.output_name_a = "WEIGHT", "wet"
    obj.vertex_groups.new(name="wet")
    assert found() == []
    obj.taffeta_cloth.mass.source, obj.taffeta_cloth.mass.vertex_group = "GROUP", "wet"
    only("WARNING", "Cloth", "Wet paints 'wet'")
    surface.is_active = False
    assert found() == []
