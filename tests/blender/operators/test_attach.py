# SPDX-License-Identifier: GPL-3.0-or-later
"""Attach and Detach: vertices follow a body's triangles, hard or by springs that break, keyed; tacks hold garments together."""

import bpy
import numpy as np
import pytest
from taffeta.operators.checks import problem_list
from taffeta.operators.read import anchors
from taffeta.operators.read.write_back import select_only

LAST = 6


def bake(scene, last=LAST, **about):
    scene.frame_start, scene.frame_end = 1, last
    assert bpy.ops.taffeta.bake(**about) == {"FINISHED"}
    scene.frame_set(last)


def attach(obj, **about):
    bpy.context.view_layer.objects.active = obj
    return bpy.ops.taffeta.attach(**about)


def group(obj, vertices, weight=1.0, name="Held"):
    obj.vertex_groups.new(name=name).add([int(i) for i in vertices], weight, "REPLACE")
    return name


@pytest.fixture
def shot(saved, make):
    """A sheet over a ball that goes, turns and bends: a shape key, a curved way, a turn."""
    saved.taffeta.air_density = 0.0
    body = make.collider(make.ball(radius=0.3, rings=6, segments=8))
    body.shape_key_add(name="Basis")
    key = body.shape_key_add(name="Wide")
    for point in key.data:
        point.co = 1.3 * point.co.x, point.co.y, 0.9 * point.co.z
    for frame, share in ((1, 0.0), (3, 0.7), (LAST, 1.0)):
        key.value, body.location, body.rotation_euler = share, (0.2 * share, 0.0, 0.1 * share), (0.0, 0.0, share)
        key.keyframe_insert("value", frame=frame)
        body.keyframe_insert("location", frame=frame)
        body.keyframe_insert("rotation_euler", frame=frame)
    cloth = make.cloth(make.grid(count=5, size=0.5, location=(0, 0, 0.31)))
    saved.frame_set(1)
    return saved, cloth, body


def depsgraph():
    return bpy.context.evaluated_depsgraph_get()


def entry(obj, index=0):
    return obj.taffeta_cloth.attachments[index]


def error(scene, make, obj, body, frame, number=1):
    """[m] how far attached vertices are from where the body carries them, at most."""
    scene.frame_set(frame)
    tied = anchors.read(obj.data, number)
    return np.abs(make.world(obj)[tied.vertices] - anchors.points(tied, make.world(body))).max()


def test_attached_vertices_go_where_the_body_goes(shot, make):
    """Those of a group, over the middle of the ball and beside it: offsets are kept, in the frame of each triangle."""
    scene, cloth, body = shot
    name = group(cloth, (6, 12, 24))
    assert attach(cloth, vertices="GROUP", group=name) == {"FINISHED"}
    assert entry(cloth).body == body and (anchors.numbers(cloth.data) > 0).sum() == 3
    assert error(scene, make, cloth, body, 1) < 1e-6
    bake(scene)
    assert max(error(scene, make, cloth, body, frame) for frame in range(1, LAST + 1)) < 1e-5
    x = make.world(cloth)
    assert np.abs(x - make.world(body).mean(axis=0)).max() > 0.3 and x[0, 2] < 0.3  # the others hang


def test_nearby_takes_what_lies_within_the_distance(shot):
    scene, cloth, body = shot
    assert attach(cloth, vertices="NEAR", reach=0.0105) == {"FINISHED"}
    assert np.flatnonzero(anchors.numbers(cloth.data)).tolist() == [12]
    with pytest.raises(RuntimeError, match="No vertex of Cloth lies within 1 mm of Body"):
        attach(cloth, vertices="NEAR", reach=0.001)


def test_pins_and_a_selection(shot):
    """Pins are attached as firmly as they are painted; the selection counts in Edit Mode, too, and a later one takes over."""
    scene, cloth, body = shot
    pin = cloth.taffeta_cloth.pin
    pin.source, pin.vertex_group = "GROUP", group(cloth, (3, 4), 0.25)
    attach(cloth)
    assert anchors.read(cloth.data, 1).share.tolist() == [0.25, 0.25]
    select_only(cloth.data, np.array([4]))
    bpy.ops.object.mode_set(mode="EDIT")
    attach(cloth, vertices="SELECTED", stiffness=40.0, breaking_force=2.0)
    assert cloth.mode == "EDIT"
    bpy.ops.object.mode_set(mode="OBJECT")
    assert anchors.numbers(cloth.data)[[3, 4]].tolist() == [1, 2]
    assert (entry(cloth, 1).stiffness, entry(cloth, 1).breaking_force) == (40.0, 2.0)


def test_what_is_attached_survives_saving_undo_and_duplicating(shot, tmp_path):
    scene, cloth, body = shot
    bpy.ops.ed.undo_push(message="before")
    attach(cloth, vertices="GROUP", group=group(cloth, (12,)))
    kept = anchors.read(cloth.data, 1)
    bpy.ops.object.select_all(action="DESELECT")
    cloth.select_set(True)
    bpy.ops.object.duplicate()
    twin = bpy.context.active_object
    assert twin != cloth and entry(twin).body == body
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "kept.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "kept.blend"))
    for obj in (bpy.data.objects["Cloth"], bpy.data.objects["Cloth.001"]):
        assert entry(obj).body.name == "Body"
        for before, after in zip(kept, anchors.read(obj.data, 1), strict=True):
            assert np.array_equal(before, after)


def test_a_spring_gives_way_and_breaks_for_good(shot, make):
    """Springs of 2 N/m at 25 vertices carry 0.37 N: each gives way by 7 mm; such as bear less break. A bake that goes on after
    that has the same frames."""
    scene, cloth, body = shot
    body.animation_data_clear()
    body.data.shape_keys.animation_data_clear()
    body.taffeta_collider.enabled = False
    attach(cloth, body="Body", vertices="GROUP", group=group(cloth, range(25)), stiffness=2.0)
    entry(cloth).damping = 0.05
    bake(scene, 12)
    weight = 0.15 * 0.25 * 9.81 / 25
    assert make.world(cloth)[:, 2].mean() == pytest.approx(0.31 - weight / 2.0, abs=2e-3)
    entry(cloth).breaking_force = 0.9 * weight
    bake(scene, 12)
    fallen = make.world(cloth)
    assert fallen[0, 2] < 0.2
    bake(scene, 12, from_frame=9)
    assert np.array_equal(make.world(cloth), fallen)


def test_keyed_weights_let_go_and_catch(shot, make):
    scene, cloth, body = shot
    attach(cloth, vertices="GROUP", group=group(cloth, range(25)))
    for frame, weight in ((1, 1.0), (3, 1.0), (4, 0.0)):
        entry(cloth).weight = weight
        cloth.keyframe_insert("taffeta_cloth.attachments[0].weight", frame=frame)
    bake(scene)
    assert max(error(scene, make, cloth, body, frame) for frame in (1, 2, 3)) < 1e-5
    assert error(scene, make, cloth, body, LAST) > 0.01


@pytest.mark.parametrize("path", ["stiffness", "breaking_force"])
def test_stiffness_and_breaking_force_may_be_keyed(shot, make, path):
    """A spring that becomes five times as stiff gives way by a fifth; one that bears less from frame 6 on, breaks there."""
    scene, cloth, body = shot
    body.animation_data_clear()
    body.data.shape_keys.animation_data_clear()
    body.taffeta_collider.enabled = False
    attach(cloth, body="Body", vertices="GROUP", group=group(cloth, range(25)), stiffness=2.0)
    entry(cloth).damping = 0.05
    weight = 0.15 * 0.25 * 9.81 / 25
    for frame, value in (
        (5, {"stiffness": 2.0, "breaking_force": 10.0}[path]),
        (6, {"stiffness": 10.0}.get(path, 0.5 * weight)),
    ):
        setattr(entry(cloth), path, value)
        cloth.keyframe_insert(f"taffeta_cloth.attachments[0].{path}", frame=frame)
    bake(scene, 24)
    height = make.world(cloth)[:, 2].mean()
    if path == "stiffness":
        assert height == pytest.approx(0.31 - weight / 10.0, abs=1e-3)
    else:
        assert height < 0.2
    scene.frame_set(5)
    assert make.world(cloth)[:, 2].mean() > 0.28


def test_detach_lets_vertices_go_and_forgets_what_has_none(shot):
    """Keys of an attachment that goes go with it, and those of the next are still its own."""
    scene, cloth, body = shot
    attach(cloth, vertices="GROUP", group=group(cloth, (0, 1), name="A"))
    attach(cloth, vertices="GROUP", group=group(cloth, (2, 3), name="B"))
    for index in (0, 1):
        entry(cloth, index).weight = 0.25 + 0.5 * index
        cloth.keyframe_insert(f"taffeta_cloth.attachments[{index}].weight", frame=1)
    select_only(cloth.data, np.array([2]))
    assert bpy.ops.taffeta.detach(only_selected=True) == {"FINISHED"}
    assert np.flatnonzero(anchors.numbers(cloth.data)).tolist() == [0, 1, 3]
    assert bpy.ops.taffeta.detach(index=0) == {"FINISHED"}
    scene.frame_set(2)
    assert len(cloth.taffeta_cloth.attachments) == 1 and entry(cloth).weight == pytest.approx(0.75)
    bpy.ops.taffeta.detach()
    assert not len(cloth.taffeta_cloth.attachments)
    assert not [name for name in cloth.data.attributes.keys() if "taffeta" in name]


def test_a_body_that_became_another_one_is_told(shot):
    scene, cloth, body = shot
    attach(cloth, vertices="GROUP", group=group(cloth, (12,)))
    body.shape_key_clear()
    body.modifiers.new("Finer", "SUBSURF").levels = 1
    with pytest.raises(RuntimeError, match="Cloth is attached to Body, which has .* vertices and had 42 then"):
        bpy.ops.taffeta.bake()
    bpy.data.objects.remove(body)
    with pytest.raises(RuntimeError, match="Cloth is attached to a body that was deleted"):
        bpy.ops.taffeta.bake()


def test_a_body_that_was_deleted_or_left_the_scene_is_told_before_the_bake(shot):
    """Blender's Delete keeps an object that a property points to, in no scene; one in another scene is not evaluated."""
    scene, cloth, body = shot
    attach(cloth, vertices="GROUP", group=group(cloth, (12,)))
    scene.collection.objects.unlink(body)
    found = [problem for problem in problem_list.check(scene, depsgraph()) if problem.severity == "ERROR"]
    assert [problem.sentence for problem in found] == ["Cloth is attached to Body, which was deleted or is in no scene"]
    bpy.data.scenes.new("Other").collection.objects.link(body)
    found = [problem for problem in problem_list.check(scene, depsgraph()) if problem.severity == "ERROR"]
    assert len(found) == 1 and "Body lies only in collections" in found[0].sentence


def test_joined_garments_do_not_mix_what_they_are_attached_to(shot, make):
    """Numbers are the file's: vertices that came with a garment hang on nothing of the other one's, and that is told."""
    scene, cloth, body = shot
    other = make.cloth(make.grid("Other", count=5, size=0.5, location=(2, 0, 0.31)))
    for obj in (cloth, other):
        attach(obj, body="Body", vertices="GROUP", group=group(obj, (12,)))
    bpy.ops.object.select_all(action="DESELECT")
    cloth.select_set(True)
    other.select_set(True)
    bpy.context.view_layer.objects.active = cloth
    bpy.ops.object.join()
    assert np.flatnonzero(anchors.numbers(cloth.data) == entry(cloth).number).tolist() == [12]
    with pytest.raises(RuntimeError, match="Cloth has 1 vertices that were attached as part of another object"):
        bpy.ops.taffeta.bake()


def in_edit_mode(obj, change, **about):
    """All of a mesh, changed in Edit Mode."""
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    change(**about)
    bpy.ops.object.mode_set(mode="OBJECT")


def test_vertices_that_subdividing_adds_are_free_and_copies_are_told(shot):
    """Blender mixes the numbers of what a vertex is tied to where it cuts an edge: nothing comes of that."""
    scene, cloth, body = shot
    attach(cloth, vertices="GROUP", group=group(cloth, (6, 12, 24)))
    before = anchors.read(cloth.data, 1)
    in_edit_mode(cloth, bpy.ops.mesh.subdivide)
    after = anchors.read(cloth.data, 1)
    assert len(cloth.data.vertices) == 81
    assert np.array_equal(after.corners, before.corners) and np.array_equal(after.share, before.share)
    in_edit_mode(cloth, bpy.ops.mesh.duplicate)
    with pytest.raises(RuntimeError, match="Cloth has 3 vertices more attached to Body than there were"):
        bpy.ops.taffeta.bake()


def test_a_shared_mesh_is_refused(shot):
    """What was attached there by the other object would be lost."""
    scene, cloth, body = shot
    attach(cloth, vertices="GROUP", group=group(cloth, (12,)))
    twin = cloth.copy()
    scene.collection.objects.link(twin)
    with pytest.raises(RuntimeError, match="Cloth.001 shares its mesh with Cloth; make it a mesh of its own"):
        attach(twin, body="Body", vertices="NEAR", reach=1.0)
    with pytest.raises(RuntimeError, match="Cloth.001 shares its mesh with Cloth; make it a mesh of its own"):
        bpy.ops.taffeta.detach()
    assert anchors.numbers(cloth.data)[12] == 1


def test_a_garment_in_edit_mode_may_be_named_while_another_is_active(shot, make):
    scene, cloth, body = shot
    other = make.cloth(make.grid("Other", count=4, location=(2, 0, 0)))
    name = group(cloth, (12,))
    bpy.context.view_layer.objects.active = cloth
    bpy.ops.object.mode_set(mode="EDIT")
    assert attach(other, object="Cloth", body="Body", vertices="GROUP", group=name) == {"FINISHED"}
    assert (cloth.mode, other.mode, bpy.context.view_layer.objects.active) == ("EDIT", "OBJECT", other)


def test_the_button_takes_what_is_there(shot):
    """Nothing is pinned: what lies on the body; then the pins; in Edit Mode the selection."""
    scene, cloth, body = shot
    bpy.context.view_layer.objects.active = cloth
    cloth.location.z = 0.302
    bpy.context.view_layer.update()
    assert bpy.ops.taffeta.attach() == {"FINISHED"}
    near = anchors.numbers(cloth.data)
    assert 0 < (near == 1).sum() < 25 and near[12] == 1
    pin = cloth.taffeta_cloth.pin
    pin.source, pin.vertex_group = "GROUP", group(cloth, (3, 4))
    assert bpy.ops.taffeta.attach() == {"FINISHED"}
    assert np.flatnonzero(anchors.numbers(cloth.data) == 2).tolist() == [3, 4]
    select_only(cloth.data, np.array([7]))
    bpy.ops.object.mode_set(mode="EDIT")
    assert bpy.ops.taffeta.attach() == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    assert np.flatnonzero(anchors.numbers(cloth.data) == 3).tolist() == [7]


def test_bad_targets_are_told(shot):
    scene, cloth, body = shot
    with pytest.raises(RuntimeError, match="There is no Nobody"):
        attach(cloth, vertices="NEAR", body="Nobody")
    with pytest.raises(RuntimeError, match="choose another mesh"):
        attach(cloth, vertices="NEAR", body="Cloth")
    with pytest.raises(RuntimeError, match="no vertex group 'X'"):
        attach(cloth, vertices="GROUP", group="X")
    with pytest.raises(RuntimeError, match="Nothing of Cloth is pinned"):
        attach(cloth, vertices="PINS")
    body.scale = (0.0, 0.0, 0.0)
    with pytest.raises(RuntimeError, match="No face of Body has any area now"):
        attach(cloth, body="Body", vertices="GROUP", group=group(cloth, (12,)))


def test_preflight_attaches_pins_where_the_garment_has_a_parent(shot):
    """One that stands still, beside a body that goes: the fix attaches the pins themselves, and is quiet then."""
    scene, cloth, body = shot
    pin = cloth.taffeta_cloth.pin
    pin.source, pin.vertex_group = "GROUP", group(cloth, (12,))
    cloth.parent = bpy.data.objects.new("Stand", None)
    scene.collection.objects.link(cloth.parent)
    body.data.shape_keys.animation_data_clear()
    assert any("taffeta.fix_pins" in found.verbs for found in problem_list.check(scene, depsgraph()))
    assert bpy.ops.taffeta.fix_pins(object="Cloth") == {"FINISHED"}
    assert entry(cloth).body == body and np.flatnonzero(anchors.numbers(cloth.data)).tolist() == [12]
    assert not any("taffeta.fix_pins" in found.verbs for found in problem_list.check(scene, depsgraph()))


def test_preflight_tells_of_a_body_with_another_mesh(shot):
    scene, cloth, body = shot
    attach(cloth, vertices="GROUP", group=group(cloth, (12,)))
    body.shape_key_clear()
    body.modifiers.new("Finer", "SUBSURF").levels = 1
    found = [problem for problem in problem_list.check(scene, depsgraph()) if problem.severity == "ERROR"]
    assert [problem.object for problem in found] == ["Cloth"] and "attached to Body" in found[0].sentence


@pytest.fixture
def layers(saved, make):
    """A sheet that is pinned everywhere, and a smaller one a few millimetres below it."""
    saved.taffeta.air_density = 0.0
    upper = make.cloth(make.grid("Coat", count=5, size=0.4), pin=1.0)
    lower = make.cloth(make.grid("Belt", count=4, size=0.3, location=(0, 0, -0.004)))
    return saved, upper, lower


def test_a_garment_tacked_to_another_hangs_on_it(layers, make):
    """Threads are as long as they are found, at least what keeps cloth off cloth, and give way by little."""
    scene, upper, lower = layers
    assert attach(lower, body="Coat", vertices="NEAR", reach=0.0041) == {"FINISHED"}
    assert (anchors.numbers(lower.data) > 0).all() and entry(lower).body == upper
    bake(scene, 12)
    weight = 0.15 * 0.09 * 9.81 / 16
    fallen = -make.world(lower)[:, 2]
    assert (fallen > 0.0039).all() and fallen.max() < 0.004 + 4.0 * weight / 1000.0
    entry(lower).breaking_force = 0.05 * weight
    bake(scene, 12)
    assert -make.world(lower)[:, 2].max() > 0.3


def test_a_tack_to_a_garment_that_leaves_the_bake_follows_its_mesh(layers, make):
    """Baked alone, a garment takes the other one for a body, as it is shown."""
    scene, upper, lower = layers
    attach(lower, body="Coat", vertices="NEAR", reach=0.0041)
    with pytest.raises(RuntimeError, match="Coat is tacked to Belt already|Belt is tacked to Coat already"):
        attach(upper, body="Belt", vertices="NEAR", reach=0.0041)
    bake(scene, 4, object="Belt")
    assert np.abs(make.world(lower)[:, 2] + 0.004).max() < 1e-3


def pressed(verb, obj, **about):
    """Press a verb in Edit Mode, as a person does, so that Undo knows of it; all of the garment is selected."""
    bpy.context.view_layer.objects.active = obj
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.object.mode_set("EXEC_DEFAULT", True, mode="EDIT")
    bpy.ops.mesh.select_all("EXEC_DEFAULT", True, action="SELECT")
    assert verb("EXEC_DEFAULT", True, **about) == {"FINISHED"}


def test_undo_in_edit_mode_brings_back_what_was_attached(shot):
    """Undo there knows of the mesh alone: the list's line stays until something is attached or detached in Object Mode."""
    scene, cloth, body = shot
    attach(cloth, vertices="GROUP", group=group(cloth, (12,)))
    pressed(bpy.ops.taffeta.detach, cloth, only_selected=True)
    bpy.ops.ed.undo()
    cloth = bpy.data.objects["Cloth"]
    bpy.ops.object.mode_set(mode="OBJECT")
    assert np.flatnonzero(anchors.numbers(cloth.data)).tolist() == [12]
    assert [each.number for each in anchors.holding(cloth)] == [1]
    assert not [problem for problem in problem_list.check(scene, depsgraph()) if "attached as part" in problem.sentence]


def test_a_line_without_a_vertex_holds_nothing_and_goes_in_object_mode(shot):
    scene, cloth, body = shot
    attach(cloth, vertices="GROUP", group=group(cloth, (12,)))
    pressed(bpy.ops.taffeta.detach, cloth)
    bpy.ops.object.mode_set(mode="OBJECT")
    assert len(cloth.taffeta_cloth.attachments) == 1 and not anchors.holding(cloth)
    bpy.ops.taffeta.detach()
    assert not len(cloth.taffeta_cloth.attachments)
