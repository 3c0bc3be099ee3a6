# SPDX-License-Identifier: GPL-3.0-or-later
"""Values of baked cloth as attributes: what Blender evaluates, over frames, for shapes whose values are known."""

import bpy
import numpy as np
import pytest
from taffeta.operators.playback import cache_modifier
from taffeta.operators.read import value_nodes
from taffeta.solver.cache import pc2

COUNT, SIZE = 5, 1.0
INNER = 12  # the middle vertex
STRETCHED, FOLDED, ANGLE = 2, 3, 0.5
NAMES = value_nodes.NAMES


@pytest.fixture
def sheet(scene, make, tmp_path):
    """A sheet whose bake rests at frame 1, is 20 % longer along x and 10 % shorter along y at 2, and folded at 3."""
    obj = make.cloth(make.grid(count=COUNT, size=SIZE), thickness=0.02)
    rest = np.array([vertex.co for vertex in obj.data.vertices])
    folded = rest.copy()
    right = rest[:, 0] > 0.0
    folded[right, 0], folded[right, 2] = rest[right, 0] * np.cos(ANGLE), rest[right, 0] * np.sin(ANGLE)
    pc2.write(tmp_path / "Cloth.pc2", np.array([rest, rest * (1.2, 0.9, 1.0), folded], np.float32), 1)
    cache_modifier.attach(obj, tmp_path / "Cloth.pc2", 1)
    bpy.context.view_layer.objects.active = obj
    obj.select_set(True)
    return obj


def shown(obj, frame):
    """Values of the evaluated mesh at a frame, by name."""
    bpy.context.scene.frame_set(frame)
    mesh = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    values = {}
    for name in NAMES:
        attribute = mesh.attributes[name]
        assert (attribute.data_type, attribute.domain) == ("FLOAT", "POINT")
        values[name] = np.array([item.value for item in attribute.data])
    return values


def test_stretch_compression_and_folds_are_those_of_the_frame(sheet):
    assert bpy.ops.taffeta.values() == {"FINISHED"}
    for values in shown(sheet, 1).values():
        assert np.abs(values).max() < 1e-5
    values = shown(sheet, STRETCHED)
    assert values[value_nodes.STRETCH][INNER] == pytest.approx(0.2 / 2, abs=1e-5), "two of its four edges"
    assert values[value_nodes.COMPRESSION][INNER] == pytest.approx(0.1 / 2, abs=1e-5)
    assert values[value_nodes.FOLD].max() < 1e-3
    values = shown(sheet, FOLDED)
    assert max(values[name].max() for name in NAMES[:2]) < 1e-5
    assert values[value_nodes.FOLD][INNER] == pytest.approx(ANGLE / 2, abs=1e-4), "along two of its four edges"
    assert values[value_nodes.FOLD][0] == pytest.approx(0.0, abs=1e-5)


@pytest.mark.parametrize(("scale", "unit"), [((2.0, 2.0, 2.0), 1.0), ((3.0, 1.0, 1.0), 1.0), ((1.0, 1.0, 1.0), 0.01)])
def test_they_are_measured_in_the_world(sheet, scene, scale, unit):
    sheet.scale, sheet.rotation_euler = scale, (0.3, 0.2, 0.1)
    scene.unit_settings.scale_length = unit
    bpy.context.view_layer.update()
    assert bpy.ops.taffeta.values() == {"FINISHED"}
    assert np.abs(shown(sheet, 1)[value_nodes.STRETCH]).max() < 1e-5
    assert shown(sheet, STRETCHED)[value_nodes.STRETCH][INNER] == pytest.approx(0.1, abs=1e-5)


@pytest.mark.parametrize(("gap", "contact"), [(0.5, 1.0), (1.0, 1.0), (1.25, 0.75), (1.75, 0.25), (2.5, 0.0)])
def test_contact_is_full_at_the_contact_distance_and_none_at_twice_that(sheet, make, gap, contact):
    """Aura 5 mm and half of 20 mm: 15 mm."""
    floor = make.mesh(
        "Floor", [(-5, -5, 0), (5, -5, 0), (5, 5, 0), (-5, 5, 0)], [(0, 1, 2, 3)], location=(0, 0, -0.015 * gap)
    )
    make.collider(floor, aura=0.005)
    away = make.ball("Body", location=(9.0, 0.0, 0.0))
    make.collider(away)
    bpy.context.view_layer.update()
    assert bpy.ops.taffeta.values(object="Cloth") == {"FINISHED"}
    assert shown(sheet, 1)[value_nodes.CONTACT] == pytest.approx(contact, abs=1e-4)


@pytest.mark.parametrize(
    ("below", "above", "pinch"), [(1.0, 1.0, 1.0), (0.5, 1.0, 1.0), (1.0, 2.0, 0.5), (1.5, 2.5, 0.0), (1.0, None, 0.0)]
)
def test_a_pinch_is_full_where_two_surfaces_leave_no_room(sheet, make, below, above, pinch):
    """Aura 5 mm and half of 20 mm: 15 mm are needed on each side; none is where twice as much is free."""
    for name, gap, way in (("Floor", below, -1.0), ("Lid", above, 1.0)):
        if gap is not None:
            body = make.mesh(name, [(-5, -5, 0), (5, -5, 0), (5, 5, 0), (-5, 5, 0)], [(0, 1, 2, 3)],
                             location=(0, 0, 0.015 * gap * way))  # fmt: skip
            make.collider(body, aura=0.005)
    bpy.context.view_layer.update()
    assert bpy.ops.taffeta.values(object="Cloth") == {"FINISHED"}
    assert shown(sheet, 1)[value_nodes.PINCH] == pytest.approx(pinch, abs=1e-4)


def test_again_measures_anew_and_adds_no_second(sheet):
    assert bpy.ops.taffeta.values() == {"FINISHED"}
    groups = len(bpy.data.node_groups)
    for vertex in sheet.data.vertices:
        vertex.co.x *= 2.0
    assert bpy.ops.taffeta.values() == {"FINISHED"}
    assert [m.name for m in sheet.modifiers] == ["Taffeta Cache", "Taffeta Values"] and len(
        bpy.data.node_groups
    ) == groups
    assert shown(sheet, STRETCHED)[value_nodes.COMPRESSION][INNER] == pytest.approx((0.4 + 0.1) / 2, abs=1e-5)


def test_they_stand_before_what_refines_the_cloth_and_change_no_bake(saved, make):
    obj = make.cloth(make.grid(location=(0.0, 0.0, 1.0)))
    saved.frame_end = 3
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    obj.modifiers.new("Fine", "SUBSURF")
    before = bpy.path.abspath(obj.taffeta_cloth.cache_path)
    with open(before, "rb") as file:
        frames = file.read()
    assert bpy.ops.taffeta.values(object="Cloth") == {"FINISHED"}
    assert [m.name for m in obj.modifiers] == ["Taffeta Cache", "Taffeta Values", "Fine"]
    assert len(obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data.attributes[NAMES[0]].data) > 25
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    with open(before, "rb") as file:
        assert file.read() == frames
    assert [m.name for m in obj.modifiers] == ["Taffeta Cache", "Taffeta Values", "Fine"]


def test_a_shader_sees_them(sheet, scene, tmp_path):
    """Cycles draws the stretched sheet from above, its attribute as light: 0.1 in the middle."""
    assert bpy.ops.taffeta.values() == {"FINISHED"}
    material = bpy.data.materials.new("Values")
    material.use_nodes = True
    nodes, link = material.node_tree.nodes, material.node_tree.links.new
    nodes.clear()
    read, light, out = (nodes.new(f"ShaderNode{kind}") for kind in ("Attribute", "Emission", "OutputMaterial"))
    read.attribute_name = value_nodes.STRETCH
    link(read.outputs["Fac"], light.inputs["Strength"])
    link(light.outputs[0], out.inputs["Surface"])
    sheet.data.materials.append(material)
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.data.type, camera.data.ortho_scale, camera.location = "ORTHO", 0.02, (0.0, 0.0, 3.0)
    scene.collection.objects.link(camera)
    scene.camera = camera
    scene.frame_set(STRETCHED)
    render = scene.render
    render.engine, scene.cycles.samples, scene.cycles.device = "CYCLES", 1, "CPU"
    scene.cycles.use_denoising = False
    render.resolution_x = render.resolution_y = 4
    render.image_settings.file_format, render.filepath = "OPEN_EXR", str(tmp_path / "values.exr")
    bpy.ops.render.render(write_still=True)
    picture = bpy.data.images.load(render.filepath)
    assert np.array(picture.pixels).reshape(-1, 4)[:, 0] == pytest.approx(0.1, abs=2e-3)


def test_what_is_no_cloth_is_refused(make):
    make.grid("Table")
    with pytest.raises(RuntimeError, match="Table"):
        bpy.ops.taffeta.values(object="Table")


def test_the_button_says_why_it_is_grey(sheet):
    bpy.context.view_layer.objects.active = sheet
    bpy.ops.object.mode_set(mode="EDIT")
    with pytest.raises(RuntimeError, match="Switch to Object Mode first"):
        bpy.ops.taffeta.values()
