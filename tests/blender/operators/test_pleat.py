# SPDX-License-Identifier: GPL-3.0-or-later
"""Mark Pleat and Clear Pleat on selected edges; what is saved, copied, made by Geometry Nodes, baked and drawn."""

import bpy
import numpy as np
import pytest
from quads import CELL, COLUMNS, ROWS, read, select, strip_of
from taffeta.operators import pleat
from taffeta.operators.checks import fingerprint
from taffeta.operators.overlay import marks
from taffeta.operators.read import pleats


def found(obj):
    """Angle in degrees and stiffness of the strip's lines, by column."""
    told = pleats.read_pleats(obj.name, obj.data)
    if told is None:
        return {}
    return {
        int(a) // ROWS: (round(float(np.degrees(angle)), 3), float(stiffness))
        for (a, _), angle, stiffness in zip(told.edges, told.angle, told.stiffness, strict=True)
    }


def test_selected_edges_become_pleats_and_are_cleared_one_by_one(make):
    obj = strip_of(make)
    select(obj, (2, 4, 6))
    assert bpy.ops.taffeta.pleat_mark(angle=np.radians(-90.0), stiffness=5.0) == {"FINISHED"}
    assert obj.mode == "EDIT"
    bpy.ops.object.mode_set(mode="OBJECT")
    assert found(obj) == {2: (-90.0, 5.0), 4: (-90.0, 5.0), 6: (-90.0, 5.0)}
    select(obj, (4,))
    assert bpy.ops.taffeta.pleat_clear() == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    assert set(found(obj)) == {2, 6}
    assert bpy.ops.taffeta.pleat_clear(every=True) == {"FINISHED"}
    assert not found(obj) and pleats.ANGLE not in obj.data.attributes


def test_an_accordion_takes_turns_from_line_to_line(make):
    obj = strip_of(make)
    select(obj, (1, 3, 5, 7))
    assert bpy.ops.taffeta.pleat_mark(angle=np.radians(100.0), folds="ALTERNATE") == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    turns = [found(obj)[column][0] for column in (1, 3, 5, 7)]
    assert turns in ([100.0, -100.0, 100.0, -100.0], [-100.0, 100.0, -100.0, 100.0])


@pytest.mark.parametrize(
    ("columns", "options", "words"),
    [
        ((), {}, "Strip has no selected edge"),
        ((2, 3), {"folds": "ALTERNATE", "cross": True}, "more than two selected edges meet"),
        ((2, 3), {"cross": True}, "Strip: every edge is selected"),
    ],
)
def test_what_cannot_be_a_pleat_is_told(make, columns, options, words):
    obj = strip_of(make)
    select(obj, columns)
    if options.pop("cross", False):
        bpy.ops.mesh.select_all(action="SELECT")
    with pytest.raises(RuntimeError, match=words):
        bpy.ops.taffeta.pleat_mark(**options)
    bpy.ops.object.mode_set(mode="OBJECT")
    with pytest.raises(RuntimeError, match="none of its edges is marked as a pleat"):
        bpy.ops.taffeta.pleat_clear(every=True)


def test_pleats_of_a_mesh_that_is_linked_stay(make, tmp_path):
    """A change to it would look well, and be gone when the file is opened again."""
    obj = strip_of(make)
    pleats.mark(obj.data, np.arange(2), np.ones(2), 5.0)
    bpy.data.libraries.write(str(tmp_path / "library.blend"), {obj.data})
    with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=True) as (there, here):
        here.meshes = there.meshes
    obj.data = here.meshes[0]
    with pytest.raises(RuntimeError, match="Strip: its mesh is linked from .*library.blend; make it local first"):
        bpy.ops.taffeta.pleat_clear(every=True)
    assert len(read(obj).pleats.edges) == 2


def test_an_attribute_that_is_something_else_is_told(make):
    obj = strip_of(make)
    obj.data.attributes.new(pleats.ANGLE, "FLOAT", "POINT")
    with pytest.raises(ValueError, match="Strip: the attribute 'pleat_angle' holds FLOAT on POINT"):
        read(obj)
    select(obj, (2,))
    with pytest.raises(RuntimeError, match="used for something else"):
        bpy.ops.taffeta.pleat_mark()


def test_pleats_that_are_no_numbers_are_told(make):
    obj = strip_of(make)
    values = np.zeros(len(obj.data.edges), np.float32)
    values[3] = np.nan
    obj.data.attributes.new(pleats.ANGLE, "FLOAT", "EDGE").data.foreach_set("value", values)
    with pytest.raises(ValueError, match="'Strip': the pleat between vertices .* mark it anew"):
        from taffeta.solver.check import check

        check(read(obj))


def test_copies_have_the_pleats_and_the_panel_knows_what_changed(make):
    obj = strip_of(make)
    before = fingerprint.take(obj, bpy.context.scene, [])
    select(obj, (3,))
    bpy.ops.taffeta.pleat_mark()
    bpy.ops.object.mode_set(mode="OBJECT")
    after = fingerprint.take(obj, bpy.context.scene, [])
    assert [word for word in after if after[word] != before[word]] == ["Pleats"]
    copy = obj.copy()
    copy.data = obj.data.copy()
    assert found(copy) == found(obj) == {3: (120.0, pleat.STIFFNESS)}


def test_geometry_nodes_make_pleats(make):
    """An angle alone, of all edges, on the evaluated mesh."""
    obj = strip_of(make)
    tree = bpy.data.node_groups.new("Pleats", "GeometryNodeTree")
    for way in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=way, socket_type="NodeSocketGeometry")
    first, last = tree.nodes.new("NodeGroupInput"), tree.nodes.new("NodeGroupOutput")
    store = tree.nodes.new("GeometryNodeStoreNamedAttribute")
    store.domain, store.data_type = "EDGE", "FLOAT"
    store.inputs["Name"].default_value, store.inputs["Value"].default_value = pleats.ANGLE, 0.5
    tree.links.new(first.outputs[0], store.inputs["Geometry"])
    tree.links.new(store.outputs["Geometry"], last.inputs[0])
    obj.modifiers.new("Pleats", "NODES").node_group = tree
    told = read(obj).pleats
    assert len(told.edges) == len(obj.data.edges)
    np.testing.assert_allclose(told.angle, 0.5)
    np.testing.assert_array_equal(told.stiffness, 1.0)
    assert pleats.read_pleats(obj.name, obj.data) is None


def test_a_baked_strip_folds_and_shows_it(saved, make):
    """Without gravity each cell of an accordion of 90 degrees is cos 45 degrees as long; and Show draws both kinds."""
    obj = strip_of(make, bending_stiffness=1e-3, damping=20.0, self_collision=False)
    select(obj, range(1, COLUMNS - 1))
    bpy.ops.taffeta.pleat_mark(angle=np.radians(90.0), stiffness=1.0, folds="ALTERNATE")
    bpy.ops.object.mode_set(mode="OBJECT")
    said = marks.find_marks(
        bpy.context.scene, bpy.context.view_layer, bpy.context.evaluated_depsgraph_get(), ("pleats",)
    )
    assert sorted(text for _, text in said.words) == ["Pleats: 6 edges in", "Pleats: 8 edges out"]
    saved.use_gravity, saved.taffeta.air_drag = False, 0.0
    saved.frame_start, saved.frame_end = 1, 30
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    saved.frame_set(30)
    x = make.world(obj).reshape(COLUMNS, ROWS, 3)
    assert np.linalg.norm(x[-1] - x[0], axis=1) == pytest.approx(
        (COLUMNS - 1) * CELL * np.cos(np.radians(45.0)), rel=0.01
    )
