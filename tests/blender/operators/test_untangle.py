# SPDX-License-Identifier: GPL-3.0-or-later
"""Untangle in Blender: shape key and rest shape, undo, posed garments, what it refuses, and that it runs headless."""

import bpy
import edit_mode
import folds
import numpy as np
import pytest
from crossings import count_crossings
from mathutils.bvhtree import BVHTree
from seen import triangles_of
from taffeta.operators import command
from taffeta.operators.checks import problem_list

KEY = "Untangled"


def count(make, *objects, body=None):
    """Crossings between garments, and with the body, of what Blender shows."""
    x = [make.world(obj) for obj in objects]
    starts = np.cumsum([0] + [len(part) for part in x])
    triangles = np.concatenate([triangles_of(obj) + start for obj, start in zip(objects, starts, strict=False)])
    owner = np.repeat(np.arange(len(objects)), np.diff(starts))
    bodies = [(make.world(body), triangles_of(body))] if body else ()
    found = count_crossings(np.concatenate(x), triangles, owner, bodies)
    return found.cloth_cloth + found.cloth_body


def distances(make, obj, other):
    """Distance of each vertex from the other's surface."""
    x = make.world(other)
    middle = x.mean(axis=0)
    tree = BVHTree.FromPolygons((x - middle).tolist(), triangles_of(other).tolist())
    return np.array([tree.find_nearest(point)[3] for point in (make.world(obj) - middle).tolist()])


def select(*objects):
    bpy.ops.object.select_all(action="DESELECT")
    for obj in objects:
        obj.select_set(True)
    bpy.context.view_layer.objects.active = objects[0]


def lump(obj, size, seed):
    """Push vertices in and out along a wave."""
    x = np.array([vertex.co for vertex in obj.data.vertices])
    wave = 1.0 + size * np.sin(9.0 * x[:, :1] + seed) * np.sin(7.0 * x[:, 1:2] + 2.0 * seed) * np.cos(8.0 * x[:, 2:])
    obj.data.attributes["position"].data.foreach_set("vector", (x * wave).astype(np.float32).ravel())
    obj.data.update()


@pytest.fixture
def dressed(make, scene):
    """A body, a shirt and a coat over it, all through each other; the coat is the outer one."""
    body = make.collider(make.ball(radius=0.3, rings=24, segments=48), aura=0.004)
    shirt = make.cloth(make.ball("Shirt", radius=0.304, rings=30, segments=60), layer=1, thickness=0.003)
    coat = make.cloth(make.ball("Coat", radius=0.305, rings=26, segments=52), layer=2, thickness=0.006)
    lump(shirt, 0.02, 1.0)
    lump(coat, 0.02, 2.0)
    select(coat, shirt)
    assert count(make, shirt, coat, body=body) > 200
    return body, shirt, coat


@pytest.mark.parametrize("result", ["KEY", "REST"])
@pytest.mark.parametrize("mark", ["tear_mark", "zip_mark"])
def test_zips_and_tear_lines_stay_closed(make, scene, mark, result):
    sheet = make.cloth(make.grid("Sheet", 15, 0.6, location=(0.0, 0.0, 0.05)), thickness=2e-3)
    make.collider(make.ball(radius=0.2, location=(0.0, 0.02, -0.05)))
    select(sheet)
    edit_mode.select(sheet, lambda a, b: abs(a.x) < 1e-6 and abs(b.x) < 1e-6)
    getattr(bpy.ops.taffeta, mark)()
    bpy.ops.object.mode_set(mode="OBJECT")
    before = make.world(sheet)
    left, right = np.array([np.flatnonzero((before == before[k]).all(axis=1)) for k in range(225, len(before))]).T
    assert bpy.ops.taffeta.untangle(result=result) == {"FINISHED"}
    x = make.world(sheet)
    assert len(left) == 15 and np.array_equal(x[left], x[right])
    assert np.abs(x - before)[left].max() > 0.01, "drawn off the ball"


def test_the_result_is_a_shape_key_and_the_garment_stays(make, dressed):
    body, shirt, coat = dressed
    before = [np.array([v.co for v in obj.data.vertices]) for obj in (shirt, coat)]
    assert bpy.ops.taffeta.untangle() == {"FINISHED"}
    assert count(make, shirt, coat, body=body) == 0
    assert np.quantile(distances(make, coat, shirt), 0.05) == pytest.approx(0.0045, rel=0.1)
    for obj, x in zip((shirt, coat), before, strict=True):
        keys = obj.data.shape_keys.key_blocks
        assert [key.name for key in keys] == ["Basis", KEY] and keys[KEY].value == 1.0
        keys[KEY].value = 0.0
        bpy.context.view_layer.update()
        np.testing.assert_allclose(make.world(obj), x, atol=1e-6)


def test_pressing_again_starts_from_the_garment_and_changes_nothing(make, dressed):
    _, shirt, coat = dressed
    bpy.ops.taffeta.untangle()
    first = make.world(coat), make.world(shirt)
    bpy.ops.taffeta.untangle()
    np.testing.assert_allclose(make.world(coat), first[0], atol=1e-6)
    np.testing.assert_allclose(make.world(shirt), first[1], atol=1e-6)
    assert len(coat.data.shape_keys.key_blocks) == 2


def test_rest_shape_moves_the_mesh_and_its_keys(make, dressed):
    body, shirt, coat = dressed
    coat.shape_key_add(name="Basis")
    wide = coat.shape_key_add(name="Wide")
    assert bpy.ops.taffeta.untangle(result="REST") == {"FINISHED"}
    assert count(make, shirt, coat, body=body) == 0
    assert shirt.data.shape_keys is None or KEY not in shirt.data.shape_keys.key_blocks
    names = [key.name for key in coat.data.shape_keys.key_blocks]
    assert names == ["Basis", "Wide"]
    base = np.array([point.co for point in coat.data.shape_keys.key_blocks["Basis"].data])
    np.testing.assert_allclose([point.co for point in wide.data], base, atol=1e-6)


def test_garments_that_are_not_to_meet_stay_in_each_other(make, dressed):
    """By their collision collections; each still comes out of the body, and one layer is no mistake then."""
    body, shirt, coat = dressed
    alone = bpy.data.collections.new("Of the Coat")
    alone.objects.link(body)
    coat.taffeta_cloth.collision_collection, coat.taffeta_cloth.layer = alone, 1
    before = make.world(coat)
    assert bpy.ops.taffeta.untangle() == {"FINISHED"}
    assert count(make, shirt, body=body) == 0 and count(make, coat, body=body) == 0
    assert count(make, shirt, coat) > 100
    assert np.abs(make.world(coat) - before).max() > 1e-3, "it is held at the body's aura"
    alone.objects.unlink(body)
    bpy.ops.taffeta.untangle()
    assert count(make, shirt, body=body) == 0
    np.testing.assert_allclose(make.world(coat), before, atol=1e-6)


def test_undo_takes_it_back(dressed):
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.taffeta.untangle()
    bpy.ops.ed.undo_push(message="Untangle")
    assert bpy.data.objects["Coat"].data.shape_keys is not None
    bpy.ops.ed.undo()
    assert bpy.data.objects["Coat"].data.shape_keys is None
    bpy.ops.ed.redo()
    assert KEY in bpy.data.objects["Coat"].data.shape_keys.key_blocks


def test_scaled_turned_and_in_centimetres(make, dressed, scene):
    """Thickness stays millimetres whatever the unit scale and the object's own."""
    body, shirt, coat = dressed
    scene.unit_settings.scale_length = 0.01
    for obj in dressed:
        obj.scale = (100.0, 100.0, 100.0)
        obj.rotation_euler = (0.3, 0.4, 0.5)
        obj.location = (500.0, 20.0, 3.0)
    bpy.context.view_layer.update()
    assert bpy.ops.taffeta.untangle() == {"FINISHED"}
    assert count(make, shirt, coat, body=body) == 0
    assert np.quantile(distances(make, coat, shirt), 0.05) / 100 == pytest.approx(0.0045, rel=0.1)


def test_garments_posed_by_an_armature_come_out_nested_as_posed(make, dressed):
    body, shirt, coat = dressed
    data = bpy.data.armatures.new("Rig")
    rig = bpy.data.objects.new("Rig", data)
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for name, low, high in (("Low", -0.4, 0.0), ("High", 0.0, 0.4)):
        bone = data.edit_bones.new(name)
        bone.head, bone.tail = (0, 0, low), (0, 0, high)
    data.edit_bones["High"].parent = data.edit_bones["Low"]
    bpy.ops.object.mode_set(mode="OBJECT")
    for obj in dressed:
        up = np.clip(0.5 + 2.0 * np.array([v.co.z for v in obj.data.vertices]), 0.0, 1.0)
        for name, weights in (("Low", 1.0 - up), ("High", up)):
            group = obj.vertex_groups.new(name=name)
            for index, weight in enumerate(weights):
                group.add([index], float(weight), "REPLACE")
        obj.modifiers.new("Armature", "ARMATURE").object = rig
    rig.pose.bones["High"].rotation_mode = "XYZ"
    rig.pose.bones["High"].rotation_euler = (0.7, 0.0, 0.4)
    bpy.context.view_layer.update()
    select(coat, shirt)
    assert count(make, shirt, coat, body=body) > 100
    assert bpy.ops.taffeta.untangle() == {"FINISHED"}
    assert count(make, shirt, coat, body=body) == 0


def test_layers_decide_and_rigid_garments_stay(make):
    inner = make.cloth(make.ball("Inner", radius=0.305, rings=24, segments=48), layer=3, rigidity=100.0)
    outer = make.cloth(make.ball("Outer", radius=0.3, rings=24, segments=48), layer=7)
    select(inner, outer)
    bpy.ops.taffeta.untangle()
    assert np.linalg.norm(make.world(inner), axis=1).mean() == pytest.approx(0.305, abs=2e-4)
    assert np.linalg.norm(make.world(outer), axis=1).mean() == pytest.approx(0.307, abs=3e-4)


def test_only_the_selected_cloths_or_all(dressed):
    _, shirt, coat = dressed
    select(shirt)
    bpy.ops.taffeta.untangle()
    assert coat.data.shape_keys is None and shirt.data.shape_keys is not None
    bpy.ops.taffeta.untangle(everything=True)
    assert coat.data.shape_keys is not None


def test_what_does_not_touch_is_told_and_stays(make, capfd):
    inner = make.cloth(make.ball("Inner", radius=0.3), layer=0)
    outer = make.cloth(make.ball("Outer", radius=0.35), layer=1)
    select(inner, outer)
    x = make.world(inner)
    assert bpy.ops.taffeta.untangle() == {"FINISHED"}
    assert "nothing was tangled" in capfd.readouterr().out
    assert (make.world(inner) == x).all()
    assert inner.data.shape_keys is None


# What it refuses, with a sentence, and leaves as it was


def refused(match, **options):
    with pytest.raises(RuntimeError, match=match):
        bpy.ops.taffeta.untangle(**options)
    assert all(obj.data.shape_keys is None for obj in bpy.data.objects if obj.type == "MESH")


def test_one_layer_has_no_order(dressed):
    _, shirt, coat = dressed
    shirt.taffeta_cloth.layer = 2
    refused("Coat and Shirt cross, and both have Layer 2; give the one that is worn outside a higher Layer")


def test_a_garment_alone_needs_company(make):
    select(make.cloth(make.ball("Shirt")))
    refused("Shirt is alone, and does not cross itself; select more cloths, or press Taffeta Collider on the body")


def test_nothing_selected(make):
    select(make.ball("Shirt"))
    refused("No Taffeta Cloth is selected")


def test_a_shared_mesh_is_refused(dressed):
    _, shirt, _ = dressed
    twin = bpy.data.objects.new("Twin", shirt.data)
    bpy.context.scene.collection.objects.link(twin)
    refused("Shirt shares its mesh with other objects")


def test_a_position_that_is_no_number_is_named(dressed):
    dressed[1].data.vertices[7].co.x = float("nan")
    refused("Shirt: vertex 7 has no finite position")


def crossed(make, obj):
    """Edges of a garment that go through itself."""
    x, triangles = make.world(obj), triangles_of(obj)
    return count_crossings(x, triangles, np.zeros(len(x), int)).cloth_self


def lengths(obj):
    x, edges = np.array([v.co for v in obj.data.vertices]), np.array([e.vertices for e in obj.data.edges])
    keys = obj.data.shape_keys
    after = np.array([point.co for point in keys.key_blocks[KEY].data]) if keys else x
    return [np.linalg.norm(y[edges[:, 0]] - y[edges[:, 1]], axis=1) for y in (x, after)]


def hem(make):
    """A skirt alone whose hem, turned in, comes out through it in waves."""
    garment = folds.doubled_hem()
    obj = make.cloth(make.mesh("Skirt", garment.x, garment.triangles), thickness=folds.THICKNESS)
    select(obj)
    assert crossed(make, obj) > 200
    return obj


def test_a_garment_alone_is_taken_out_of_itself(make):
    skirt = hem(make)
    assert bpy.ops.taffeta.untangle() == {"FINISHED"}
    assert crossed(make, skirt) == 0
    before, after = lengths(skirt)
    assert np.abs(after / before - 1.0).max() < 0.1


def test_without_self_collision_it_is_left_as_it_is(make):
    hem(make).taffeta_cloth.self_collision = False
    refused("Skirt is alone, and does not cross itself")


def test_what_cannot_be_done_is_told_with_names_and_is_not_worse(make, dressed, capfd):
    """The coat's top goes out through its bottom, and 10 % are too little for that."""
    body, shirt, coat = dressed
    x = np.array([v.co for v in coat.data.vertices])
    x[x[:, 2] > 0.25, 2] -= 0.8
    coat.data.attributes["position"].data.foreach_set("vector", x.astype(np.float32).ravel())
    coat.data.update()
    bpy.context.view_layer.update()
    before = crossed(make, coat), count(make, shirt, coat, body=body)
    assert bpy.ops.taffeta.untangle() == {"FINISHED"}
    out = capfd.readouterr().out
    assert "Could not be taken apart without edges changing by more than 10 %; allow more Stretch: " in out
    assert "Coat and itself (" in out
    assert crossed(make, coat) <= before[0] and count(make, shirt, coat, body=body) < before[1]
    for obj in (shirt, coat):
        rest, after = lengths(obj)
        assert np.abs(after / rest - 1.0).max() < 0.101


@pytest.mark.once
def test_stretch_says_how_far_edges_may_go(make, dressed):
    """Edges keep to 1 % where that is asked, and nothing gets worse by it."""
    body, shirt, coat = dressed
    before = count(make, shirt, coat, body=body)
    assert bpy.ops.taffeta.untangle(stretch=0.01) == {"FINISHED"}
    assert count(make, shirt, coat, body=body) < before
    for obj in (shirt, coat):
        rest, after = lengths(obj)
        assert np.abs(after / rest - 1.0).max() < 0.0101


# Untangle, then bake


def test_preflight_names_untangle(dressed, scene):
    sentences = {p.sentence.split(" at the start")[0]: p.remedy for p in problem_list.check_thoroughly(scene)}
    assert "Untangle" in sentences["Coat crosses Shirt"] and "Untangle" in sentences["Shirt crosses Body"]


def test_bake_command_untangles_first(make, dressed, saved):
    """The .blend stays; the baked start has no crossing, where it had hundreds."""
    body, shirt, coat = dressed
    bpy.ops.wm.save_mainfile()
    path = bpy.data.filepath
    assert command.run(["bake", path, "--frames", "1-2", "--untangle", "--save"]) == 0
    bpy.ops.wm.open_mainfile(filepath=path)
    body, shirt, coat = (bpy.data.objects[name] for name in ("Body", "Shirt", "Coat"))
    bpy.context.scene.frame_set(1)
    assert count(make, shirt, coat, body=body) == 0
    first = make.world(coat)
    coat.modifiers["Taffeta Cache"].show_viewport = False
    bpy.context.view_layer.update()
    np.testing.assert_allclose(make.world(coat), first, atol=2e-3)
