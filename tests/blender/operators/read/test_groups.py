# SPDX-License-Identifier: GPL-3.0-or-later
"""Collision groups in Blender: vertex groups and collections become masks, are baked, looked after and told of."""

import json

import bpy
import numpy as np
import pytest
from taffeta.operators.bake.order import read_order
from taffeta.operators.checks import fingerprint, problem_list
from taffeta.operators.read import groups, mesh_io, sampling


@pytest.fixture
def shot(make, saved):
    """A sheet of 9 x 9 above a ball."""
    sheet = make.cloth(make.grid(count=9, size=0.4, location=(0, 0, 0.32)), self_collision=True)
    make.collider(make.ball(radius=0.3))
    return saved, sheet


def group(obj, name, vertices, weight=1.0):
    obj.vertex_groups.new(name=name).add([int(v) for v in vertices], weight, "REPLACE")
    obj.data.update()
    bpy.context.view_layer.update()


def collection(name, *objects):
    made = bpy.data.collections.new(name)
    for obj in objects:
        made.objects.link(obj)
    return made


def read(scene, obj):
    with sampling.posed(scene, [obj], []):
        return mesh_io.read_garment(obj, sampling.depsgraph_of(scene), scene)


def sentences(scene):
    """What preflight says, but that the meshes are too coarse for cloth."""
    found = problem_list.check(scene, bpy.context.evaluated_depsgraph_get())
    return [(p.severity, p.sentence) for p in found if "taffeta.subdivide" not in p.verbs]


def test_vertex_groups_become_masks(shot):
    scene, sheet = shot
    plain = read(scene, sheet)
    assert plain.meets_itself is None and plain.meets_bodies is None and plain.meets is None
    group(sheet, "loose", [3, 4], 0.01)
    group(sheet, "sleeve", [7])
    sheet.vertex_groups["sleeve"].add([8], 0.0, "REPLACE")
    sheet.taffeta_cloth.self_group, sheet.taffeta_cloth.body_group = "loose", "sleeve"
    garment = read(scene, sheet)
    assert np.flatnonzero(~garment.meets_itself).tolist() == [3, 4], "any weight counts, as in Blender"
    assert np.flatnonzero(~garment.meets_bodies).tolist() == [7]


def test_a_group_that_is_gone_is_told(shot):
    scene, sheet = shot
    for name, label in (("self_group", "Self Vertex Group"), ("body_group", "Object Vertex Group")):
        setattr(sheet.taffeta_cloth, name, "gone")
        assert sentences(scene) == [("ERROR", f"Cloth, {label}: there is no vertex group 'gone'")]
        with pytest.raises(ValueError, match=f"Cloth, {label}: there is no vertex group 'gone'; choose"):
            read(scene, sheet)
        with pytest.raises(RuntimeError, match="no vertex group 'gone'"):
            bpy.ops.taffeta.bake()
        assert bpy.ops.taffeta.preflight() == {"FINISHED"}
        setattr(sheet.taffeta_cloth, name, "")
    assert sentences(scene) == []


def test_a_masked_half_is_baked_through_the_ball(shot, make):
    scene, sheet = shot
    half = np.flatnonzero(make.world(sheet)[:, 0] < -0.01)
    group(sheet, "through", half)
    sheet.taffeta_cloth.body_group = "through"
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    scene.frame_set(10)
    x = make.world(sheet)
    held = np.setdiff1d(np.arange(81), half)
    assert np.linalg.norm(x[held], axis=1).min() > 0.29
    assert np.linalg.norm(x[half], axis=1).min() < 0.27


def test_a_garment_meets_only_what_is_in_its_collection(shot, make):
    """Blender's own rule; of two garments each has to meet the other."""
    scene, sheet = shot
    ball, ground = bpy.data.objects["Body"], make.collider(make.grid(count=2, size=2.0, location=(0, 0, -0.5)))
    ground.name = "Ground"
    cape = make.cloth(make.grid(count=5, size=0.4, location=(0, 0, 0.4)))
    cape.name = "Cape"
    order = read_order(scene)
    assert [g.meets for g in order.garments] == [None, None] and [b.meets for b in order.bodies] == [None, None]
    sheet.taffeta_cloth.collision_collection = collection("Own", ground)
    order = read_order(scene)
    assert {g.name: g.meets for g in order.garments} == {"Cape": None, "Cloth": (False, False)}
    assert {b.name: b.meets for b in order.bodies} == {"Body": (True, False), "Ground": (True, True)}
    assert not groups.meet(sheet, cape) and not groups.meet(cape, sheet) and groups.meet(sheet, ground)
    sheet.taffeta_cloth.collision_collection.children.link(collection("Inner", cape, ball))
    order = read_order(scene)
    assert {g.name: g.meets for g in order.garments} == {"Cape": None, "Cloth": (True, False)}
    assert {b.name: b.meets for b in order.bodies} == {"Body": (True, True), "Ground": (True, True)}


def test_cloth_falls_past_what_is_not_in_its_collection(shot, make):
    scene, sheet = shot
    twin = make.cloth(make.grid(count=9, size=0.4, location=(0, 0, 0.33)))
    sheet.taffeta_cloth.collision_collection = collection("Nothing", sheet)
    assert [s for s in sentences(scene) if s[0] == "WARNING"] == [
        ("WARNING", "Cloth meets no collider: its Collision Collection, Nothing, has none")
    ]
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    scene.frame_set(10)
    assert make.world(sheet)[:, 2].max() < 0.0, "through the ball"
    assert np.linalg.norm(make.world(twin), axis=1).min() > 0.29


def test_of_two_garments_both_have_to_be_willing(shot, make):
    scene, sheet = shot
    cape = make.cloth(make.grid(count=5, size=0.4, location=(0, 0, 0.4)))
    cape.name, ball = "Cape", bpy.data.objects["Body"]
    sheet.taffeta_cloth.collision_collection = collection("Skirt", cape, ball)
    cape.taffeta_cloth.collision_collection = collection("Coat", ball)
    assert sentences(scene) == [
        (
            "INFO",
            "Cloth is to meet Cape, but is not in the Collision Collection of Cape: they pass through each other",
        )
    ]
    cape.taffeta_cloth.collision_collection.objects.link(sheet)
    assert sentences(scene) == [] and groups.meet(sheet, cape)


CHANGES = {
    "Self Vertex Group": lambda sheet: setattr(sheet.taffeta_cloth, "self_group", "g"),
    "Object Vertex Group": lambda sheet: setattr(sheet.taffeta_cloth, "body_group", "g"),
    "Collision Collection": lambda sheet: setattr(
        sheet.taffeta_cloth, "collision_collection", collection("Own", bpy.data.objects["Body"])
    ),
}


@pytest.mark.parametrize("word", CHANGES)
def test_a_changed_group_makes_the_bake_stale(shot, word):
    scene, sheet = shot
    group(sheet, "g", [1])
    body = bpy.data.objects["Body"]
    sheet.taffeta_cloth.fingerprint = json.dumps(fingerprint.take(sheet, scene, [body]))
    assert fingerprint.changes(sheet, scene, [body]) == []
    CHANGES[word](sheet)
    assert fingerprint.changes(sheet, scene, [body]) == [word]
    sheet.taffeta_cloth.fingerprint = json.dumps(fingerprint.take(sheet, scene, [body]))
    if word == "Collision Collection":
        sheet.taffeta_cloth.collision_collection.objects.unlink(body)
    else:
        sheet.vertex_groups["g"].add([2], 0.5, "REPLACE")
        sheet.data.update()
        bpy.context.view_layer.update()
    assert fingerprint.changes(sheet, scene, [body]) == [word], "what is in it counts, too"


def test_renaming_a_garment_in_its_own_collection_makes_nothing_stale(shot):
    scene, sheet = shot
    body = bpy.data.objects["Body"]
    sheet.taffeta_cloth.collision_collection = collection("Own", sheet, body)
    sheet.taffeta_cloth.fingerprint = json.dumps(fingerprint.take(sheet, scene, [body]))
    sheet.name = "Cape"
    assert fingerprint.changes(sheet, scene, [body]) == []


def test_a_changed_group_bakes_anew(shot, make):
    """The digests of the frames differ, whatever the panel says."""
    scene, sheet = shot
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    scene.frame_set(10)
    before = make.world(sheet)
    assert bpy.ops.taffeta.bake(resume=True) == {"FINISHED"}
    scene.frame_set(10)
    assert np.array_equal(make.world(sheet), before)
    sheet.taffeta_cloth.collision_collection = collection("Nothing")
    assert bpy.ops.taffeta.bake(resume=True) == {"FINISHED"}
    scene.frame_set(10)
    assert make.world(sheet)[:, 2].max() < before[:, 2].max() - 0.1


def test_what_need_not_keep_apart_is_no_crossing(shot):
    """A sheet through the ball, and inside of it."""
    scene, sheet = shot
    sheet.location.z = 0.0
    bpy.context.view_layer.update()

    def told():
        return [p.sentence for p in problem_list.check_thoroughly(scene)]

    assert any("Cloth crosses Body" in s or "inside Body" in s for s in told())
    group(sheet, "inside", range(81))
    sheet.taffeta_cloth.body_group = "inside"
    assert told() == []
    sheet.taffeta_cloth.body_group = ""
    sheet.taffeta_cloth.collision_collection = collection("Nothing")
    assert told() == []


@pytest.mark.parametrize("name", ["self_group", "body_group", "collision_collection"])
def test_groups_can_be_overridden_and_not_keyframed(make, name):
    prop = make.grid().taffeta_cloth.bl_rna.properties[name]
    assert prop.is_overridable and not prop.is_animatable
