# SPDX-License-Identifier: GPL-3.0-or-later
"""Maps that are another one in each frame: image sequences, attributes and weights that modifiers make."""

import bpy
import numpy as np
import pytest
from taffeta.operators.checks import fingerprint, problem_list
from taffeta.operators.playback import bake_files
from taffeta.operators.read import animated, keyed
from taffeta.operators.read.maps import read_map
from taffeta.solver.cache import names

COUNT, SWITCH = 9, 5  # vertices along a side; the frame from which on the map is 1 for x > 0


@pytest.fixture
def sheet(saved, make):
    """A square metre without weight, in a vacuum."""
    saved.taffeta.air_density, saved.gravity = 0.0, (0, 0, 0)
    return make.cloth(make.grid(count=COUNT), stretch_stiffness=1e4, damping=50.0, self_collision=False)


def grey_image(path, values):
    """A PNG of one row of grey values."""
    image = bpy.data.images.new("Grey", len(values), 1)
    grey = np.repeat(np.asarray(values, np.float32), 4)
    grey[3::4] = 1.0
    image.pixels.foreach_set(grey)
    image.filepath_raw, image.file_format = str(path), "PNG"
    image.save()
    bpy.data.images.remove(image)


def by_sequence(obj, folder):
    """Pictures 1, SWITCH and 30: a map that is 0, and then 1 on the right."""
    for number, right in ((1, 0.0), (SWITCH, 1.0), (30, 0.0)):
        grey_image(folder / f"tight.{number:03d}.png", [0.0, 0.0, right, right])
    image = bpy.data.images.load(str(folder / "tight.001.png"))
    image.source, image.colorspace_settings.name = "SEQUENCE", "Non-Color"
    obj.taffeta_cloth.shrink.source, obj.taffeta_cloth.shrink.image = "IMAGE", image


def by_nodes(obj, name="Tight"):
    """Geometry Nodes that store x > 0 from SWITCH on, by Scene Time; no key and no driver tells."""
    tree = bpy.data.node_groups.new("Tighten", "GeometryNodeTree")
    for in_out in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=in_out, socket_type="NodeSocketGeometry")
    make = lambda kind, **about: _node(tree, kind, about)  # noqa: E731
    ends = make("NodeGroupInput"), make("NodeGroupOutput")
    store, time, place = (
        make("GeometryNodeStoreNamedAttribute"),
        make("GeometryNodeInputSceneTime"),
        make("GeometryNodeInputPosition"),
    )
    parts, late, right = (
        make("ShaderNodeSeparateXYZ"),
        make("ShaderNodeMath", operation="GREATER_THAN"),
        make("ShaderNodeMath", operation="GREATER_THAN"),
    )
    both = make("ShaderNodeMath", operation="MULTIPLY")
    store.inputs["Name"].default_value, late.inputs[1].default_value, right.inputs[1].default_value = (
        name,
        SWITCH - 0.5,
        0.01,
    )
    for one, other in (
        (ends[0].outputs[0], store.inputs["Geometry"]), (store.outputs[0], ends[1].inputs[0]), (place.outputs[0], parts.inputs[0]),
        (time.outputs["Frame"], late.inputs[0]), (parts.outputs["X"], right.inputs[0]), (late.outputs[0], both.inputs[0]),
        (right.outputs[0], both.inputs[1]), (both.outputs[0], next(s for s in store.inputs if s.name == "Value" and s.enabled)),
    ):  # fmt: skip
        tree.links.new(one, other)
    obj.modifiers.new("Tighten", "NODES").node_group = tree
    obj.taffeta_cloth.shrink.source, obj.taffeta_cloth.shrink.attribute = "ATTRIBUTE", name


def _node(tree, kind, about):
    node = tree.nodes.new(kind)
    for name, value in about.items():
        setattr(node, name, value)
    return node


def by_weights(obj):
    """A modifier that adds weight 1 to the right half, its influence keyed."""
    x = np.array([vertex.co.x for vertex in obj.data.vertices])
    group = obj.vertex_groups.new(name="Tight")
    group.add(np.flatnonzero(x > 0.01).tolist(), 0.0, "REPLACE")
    edit = obj.modifiers.new("Weights", "VERTEX_WEIGHT_MIX")
    edit.vertex_group_a, edit.default_weight_b, edit.mix_mode, edit.mix_set = "Tight", 1.0, "SET", "A"
    for frame, much in ((SWITCH - 1, 0.0), (SWITCH, 1.0)):
        edit.mask_constant = much
        assert edit.keyframe_insert("mask_constant", frame=frame)
    obj.taffeta_cloth.shrink.source, obj.taffeta_cloth.shrink.vertex_group = "GROUP", "Tight"


KINDS = {
    "sequence": lambda obj, folder: by_sequence(obj, folder),
    "nodes": lambda obj, _: by_nodes(obj),
    "weights": lambda obj, _: by_weights(obj),
}


def widths(obj, make, frame):
    """[m] left and right half."""
    bpy.context.scene.frame_set(frame)
    x = make.world(obj)[:, 0].reshape(COUNT, COUNT)
    return x[:, COUNT // 2].mean() - x[:, 0].mean(), x[:, -1].mean() - x[:, COUNT // 2].mean()


@pytest.mark.parametrize("kind", KINDS)
def test_half_a_sheet_shrinks_when_its_map_says_so(sheet, make, tmp_path, kind):
    KINDS[kind](sheet, tmp_path)
    sheet.taffeta_cloth.shrink.maximum = 0.2
    bpy.context.scene.frame_end = 24
    assert animated.told_of(sheet).maps == ("shrink",)
    assert [p.sentence for p in problem_list.check_thoroughly(bpy.context.scene) if p.severity == "ERROR"] == []
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    assert widths(sheet, make, SWITCH - 1) == pytest.approx([0.5, 0.5], abs=1e-5)
    assert widths(sheet, make, 24) == pytest.approx([0.5, 0.4], abs=0.012)
    first = [part.read_bytes() for part in names.parts(bake_files.cache_file(sheet))[:2]]
    for frame in (20, 1):  # the cache stands behind what makes the map, wherever the timeline is
        bpy.context.scene.frame_set(frame)
        assert bpy.ops.taffeta.bake() == {"FINISHED"}
        assert [part.read_bytes() for part in names.parts(bake_files.cache_file(sheet))[:2]] == first
    if kind != "nodes":
        assert not fingerprint.changes(sheet, bpy.context.scene, [])


@pytest.mark.parametrize("path", ["", "//..\\{}\\tight.001.png"])
def test_a_sequence_has_the_picture_of_its_frame(sheet, tmp_path, path):
    by_sequence(sheet, tmp_path)
    shrink = sheet.taffeta_cloth.shrink
    shrink.image.filepath = path.format(tmp_path.name) or shrink.image.filepath  # also as Windows writes it
    shrink.minimum, shrink.maximum = 0.0, 0.5
    most = [read_map(sheet, shrink, sheet.data, frame).max() for frame in (-3, 1, SWITCH - 1, SWITCH, 29, 30, 99)]
    assert most == pytest.approx([0, 0, 0, 0.5, 0.5, 0, 0], abs=1e-6)
    assert [image.name for image in bpy.data.images] == ["tight.001.png"]


def test_a_file_that_is_replaced_is_seen(sheet, tmp_path):
    by_sequence(sheet, tmp_path)
    prints = fingerprint.take(sheet, bpy.context.scene, [])
    bpy.context.scene.frame_set(7)
    assert fingerprint.take(sheet, bpy.context.scene, []) == prints
    grey_image(tmp_path / f"tight.{SWITCH:03d}.png", np.linspace(0.0, 1.0, 64))
    now = fingerprint.take(sheet, bpy.context.scene, [])
    assert [word for word in now if now[word] != prints[word]] == ["Shrink"]


@pytest.mark.parametrize("trouble", ["broken", "gone", "movie"])
def test_what_a_sequence_lacks_is_told(sheet, tmp_path, trouble):
    by_sequence(sheet, tmp_path)
    words = {
        "broken": "tight.005.png.*find the file.*Frames 1 to 4 are kept",
        "gone": "no numbered files",
        "movie": "is a movie",
    }[trouble]
    if trouble == "broken":
        (tmp_path / "tight.005.png").write_bytes(b"no picture")
    elif trouble == "gone":
        for path in tmp_path.glob("tight*"):
            path.unlink()
    else:
        sheet.taffeta_cloth.shrink.image.source = "MOVIE"
    with pytest.raises(RuntimeError, match=words):
        bpy.ops.taffeta.bake()
    assert len(bpy.data.images) == 1


def test_nodes_that_make_another_attribute_are_not_looked_at(sheet):
    by_nodes(sheet, "Other")
    sheet.data.attributes.new("Tight", "FLOAT", "POINT")
    sheet.taffeta_cloth.shrink.attribute = "Tight"
    assert not keyed.is_moving_map(sheet, "shrink") and not any(animated.told_of(sheet))


def test_an_output_of_the_modifier_counts(sheet):
    by_nodes(sheet, "Other")
    modifier = sheet.modifiers["Tighten"]
    tree = modifier.node_group
    tree.interface.new_socket("Tight", in_out="OUTPUT", socket_type="NodeSocketFloat")
    ends = next(node for node in tree.nodes if node.bl_idname == "NodeGroupOutput")
    both = next(node for node in tree.nodes if getattr(node, "operation", "") == "MULTIPLY")
    tree.links.new(both.outputs[0], ends.inputs["Tight"])
    identifier = ends.inputs["Tight"].identifier
    if hasattr(modifier, "properties"):
        getattr(modifier.properties.outputs, identifier).attribute_name = "Tight"
    else:
        modifier[f"{identifier}_attribute_name"] = "Tight"
    sheet.taffeta_cloth.shrink.attribute = "Tight"
    assert keyed.is_moving_map(sheet, "shrink")
