# SPDX-License-Identifier: GPL-3.0-or-later
"""Preflight tells of bodies and garments that the scene only shows as instances of a collection, which no bake sees."""

import bpy
import pytest
from taffeta.operators.checks import problem_list


@pytest.fixture
def instance(shot):
    """instance(*objects): an Empty "Inst" that shows them, of a collection that is not in the scene."""

    def make(*objects):
        collection = bpy.data.collections.new("Character")
        for obj in objects:
            for home in list(obj.users_collection):
                home.objects.unlink(obj)
            collection.objects.link(obj)
        empty = bpy.data.objects.new("Inst", None)
        empty.instance_type, empty.instance_collection = "COLLECTION", collection
        shot.collection.objects.link(empty)
        return empty

    return make


def test_body_in_an_instance(shot, make, instance, found, only, body):
    make.collider(make.ball("Ground", location=(0, 0, -3)))
    empty = instance(body())
    only("WARNING", "Inst", "shows Body", "which is a collider")
    assert found()[0].heavy and "Make Instances Real" in found()[0].remedy
    empty.hide_viewport = empty.hide_render = True
    assert found() == [], "nobody sees it"


def test_what_the_remedy_says_helps(shot, make, instance, found, body):
    make.collider(make.ball("Ground", location=(0, 0, -3)))
    empty = instance(body())
    bpy.context.view_layer.update()
    for obj in bpy.context.view_layer.objects:
        obj.select_set(obj == empty)
    bpy.context.view_layer.objects.active = empty
    bpy.ops.object.duplicates_make_real()
    assert found() == []
    assert {obj.name for obj in shot.objects if obj.taffeta_collider.enabled} == {"Body.001", "Ground"}


def test_garment_in_an_instance(shot, make, instance, only, cloth):
    make.cloth(make.grid("Other", count=9, location=(0, 0, 2)), bending_stiffness=1.0)
    instance(cloth())
    only("WARNING", "Inst", "shows Cloth", "which is cloth")


def test_instance_in_an_instance(shot, make, instance, only, body):
    make.collider(make.ball("Ground", location=(0, 0, -3)))
    inner = instance(body())
    inner.name = "Inner"
    instance(inner)
    only("WARNING", "Inst", "shows Body", "which is a collider")


def test_what_is_in_the_scene_as_well_takes_part(shot, instance, found, body):
    instance(body())
    shot.collection.objects.link(body())
    assert found() == []


def test_body_of_the_background_set(shot, make, found, only, body):
    """Of a set's own set, too; what is in the scene as well takes part."""
    make.collider(make.ball("Ground", location=(0, 0, -3)))
    near, far = (bpy.data.scenes.new(name) for name in ("Near", "Far"))
    far.collection.objects.link(body())
    shot.background_set, near.background_set = near, far
    assert found() == []
    shot.collection.objects.unlink(body())
    assert [problem.sentence for problem in found() if problem.heavy] == [
        "Body is shown by the Background Set Far only: no bake of this scene sees it"
    ]


def told_of_copies(shot):
    return [problem.sentence for problem in problem_list.check_thoroughly(shot) if "no bake sees" in problem.sentence]


def test_instances_by_a_body_s_nodes(shot, body):
    tree = bpy.data.node_groups.new("Plates", "GeometryNodeTree")
    for way in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=way, socket_type="NodeSocketGeometry")
    given, made, join, instance = (
        tree.nodes.new(name)
        for name in ("NodeGroupInput", "NodeGroupOutput", "GeometryNodeJoinGeometry", "GeometryNodeGeometryToInstance")
    )
    for one, other in ((given, join), (given, instance), (instance, join), (join, made)):
        tree.links.new(one.outputs[0], other.inputs[0])
    body().modifiers.new("Nodes", "NODES").node_group = tree
    bpy.context.view_layer.update()
    assert told_of_copies(shot) == ["Body shows an instance by its nodes or particles, which no bake sees"]
    body().modifiers["Nodes"].show_viewport = False
    bpy.context.view_layer.update()
    assert told_of_copies(shot) == []


def test_instances_at_the_vertices_of_a_parent(shot, make, body):
    parent = make.grid("Rack", count=2, location=(0, 0, -5))
    body().parent, parent.instance_type = parent, "VERTS"
    bpy.context.view_layer.update()
    assert told_of_copies(shot) == ["Body is shown at each vertex or face of Rack, and no bake sees it there"]
