# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects become arrays in metres, and a frame's animation is sampled, with the user's scene left as it was."""

import math
import struct
import threading
import time
from pathlib import Path

import bpy
import numpy as np
import pytest
from taffeta.operators.playback import cache_modifier
from taffeta.operators.read import keyed, mesh_io, sampling, time_and_gravity


def read(obj, scene):
    """The garment in its pose at the scene's first frame."""
    with sampling.posed(scene, [obj], []):
        scene.frame_set(scene.frame_start)
        return mesh_io.read_garment(obj, sampling.depsgraph_of(scene), scene)


def bodies_of(scene, *objects):
    with sampling.posed(scene, [], objects):
        scene.frame_set(scene.frame_start)
        return [mesh_io.read_collider(obj, sampling.depsgraph_of(scene)) for obj in objects]


def frames(scene, garment_object, *colliders, count=2):
    """FrameInputs of the first `count` frames."""
    garment = read(garment_object, scene)
    garment_objects, bodies = [sampling.garment_object(garment_object, garment)], bodies_of(scene, *colliders)
    with sampling.posed(scene, [garment_object], colliders):
        first = scene.frame_start
        return list(sampling.frame_inputs(scene.name, garment_objects, bodies, range(first, first + count)))


def go_straight(animated):
    """Lead from key to key along straight lines."""
    for curve in animated.animation_data.action.layers[0].strips[0].channelbags[0].fcurves:
        for key in curve.keyframe_points:
            key.interpolation = "LINEAR"


def key_location(obj, keys):
    """Keys {frame: location} with straight interpolation."""
    for frame, location in keys.items():
        obj.location = location
        obj.keyframe_insert("location", frame=frame)
    go_straight(obj)


def test_grid_keeps_its_quads_edges_and_pattern(scene, make):
    obj = make.cloth(make.grid(count=3, size=2.0, location=(1, 2, 3)), uv_map="UVMap", layer=2)
    garment = read(obj, scene)
    assert garment.x.dtype == np.float64 and garment.x == pytest.approx(make.world(obj))
    assert garment.x_start == pytest.approx(garment.x)
    assert garment.quads.tolist() == [[0, 1, 4, 3], [1, 2, 5, 4], [3, 4, 7, 6], [4, 5, 8, 7]]
    assert len(garment.triangles) == 8 and len(garment.edges) == 12 and garment.layer == 2
    expected = (garment.x[garment.triangles][..., :2] - [0, 1]) / 2.0
    assert garment.uv == pytest.approx(expected)
    assert {a.dtype for a in (garment.triangles, garment.quads, garment.edges)} == {np.dtype(np.int32)}
    assert all(a.flags.c_contiguous for a in (garment.triangles, garment.quads, garment.edges))


def test_without_a_pattern_there_is_no_uv(scene, make):
    assert read(make.cloth(make.grid()), scene).uv is None


def test_ngons_triangles_and_loose_parts_are_kept(scene, make):
    x = [(0, 0, 0), (1, 0, 0), (2, 0, 0), (2, 1, 0), (1, 1.5, 0), (0, 1, 0), (3, 0, 0), (3, 1, 0), (4, 4, 4), (5, 5, 5)]
    obj = make.cloth(make.mesh("Mixed", x, [(0, 1, 2, 3, 4, 5), (2, 6, 3), (6, 7, 3)], edges=[(7, 8)]))
    garment = read(obj, scene)
    assert len(garment.x) == 10 and garment.quads.shape == (0, 4)
    assert len(garment.triangles) == 4 + 1 + 1
    assert [7, 8] in np.sort(garment.edges).tolist() and 9 not in garment.edges
    assert 8 not in garment.triangles and 9 not in garment.triangles


def test_values_come_from_the_settings(scene, make):
    obj = make.cloth(make.grid(count=3), mass=0.3, pin_distance=0.0)
    obj.vertex_groups.new(name="Waist").add([0], 1.0, "REPLACE")
    obj.taffeta_cloth.pin.source = "GROUP"
    obj.taffeta_cloth.pin.vertex_group = "Waist"
    garment = read(obj, scene)
    assert garment.mass == pytest.approx(0.3) and garment.pin.tolist() == [1.0] + [0.0] * 8
    assert np.isinf(garment.pin_distance).all(), "0 sets no limit"
    obj.taffeta_cloth.pin_distance.value = 0.25
    assert read(obj, scene).pin_distance == pytest.approx(0.25)


def test_scale_counts_and_a_mirrored_object_keeps_its_outside(scene, make):
    obj = make.cloth(make.grid(count=3), uv_map="UVMap")
    plain = read(obj, scene)
    obj.scale = (-2.0, 3.0, 1.0)
    obj.rotation_euler = (0.3, 0.2, 0.1)
    mirrored = read(obj, scene)
    assert np.ptp(mirrored.x, axis=0) @ np.ptp(mirrored.x, axis=0) > 4.0
    a, b, c = (mirrored.x[mirrored.triangles[:, k]] for k in range(3))
    outside = np.cross(b - a, c - a)
    up = np.array(obj.matrix_world)[:3, :3] @ [0, 0, 1]
    assert (outside @ up > 0).all() and np.linalg.norm(outside, axis=1) == pytest.approx(0.25 * 6.0)
    q = mirrored.x[mirrored.quads]
    assert (np.cross(q[:, 1] - q[:, 0], q[:, 2] - q[:, 1]) @ up > 0).all()
    by_vertex = dict(zip(plain.triangles.ravel(), plain.uv.reshape(-1, 2).tolist(), strict=True))
    assert [by_vertex[v] for v in mirrored.triangles.ravel()] == mirrored.uv.reshape(-1, 2).tolist()


def test_unit_scale_turns_units_into_metres(scene, make):
    obj = make.cloth(make.grid(size=170.0))
    scene.unit_settings.scale_length = 0.01
    assert np.ptp(read(obj, scene).x[:, 0]) == pytest.approx(1.7)
    assert time_and_gravity.gravity(scene)[2] == pytest.approx(-0.0981), "what the Scene tab shows"
    scene.unit_settings.system = "NONE"
    assert np.ptp(read(obj, scene).x[:, 0]) == pytest.approx(170.0)
    scene.use_gravity = False
    assert time_and_gravity.gravity(scene).tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    "fps, base, seconds", [(24, 1.001, 1.001 / 24), (30, 1.001, 1.001 / 30), (25, 1.0, 0.04), (60, 1.0, 1 / 60)]
)
def test_frame_times_are_exact(scene, fps, base, seconds):
    scene.render.fps, scene.render.fps_base = fps, base
    assert time_and_gravity.frame_seconds(scene) == seconds


def test_shape_keys_give_the_pose_and_the_basis_the_rest(scene, make):
    obj = make.cloth(make.grid(count=3))
    obj.shape_key_add(name="Basis")
    key = obj.shape_key_add(name="Up")
    for point in key.data:
        point.co.z += 2.0
    key.value = 0.5
    obj.active_shape_key_index = 1
    garment = read(obj, scene)
    assert garment.x[:, 2] == pytest.approx(0.0) and garment.x_start[:, 2] == pytest.approx(1.0)
    obj.data.shape_keys.reference_key.data[4].co.z = 0.25
    assert read(obj, scene).x[4, 2] == pytest.approx(0.25), "the reference key is the truth, not the mesh below it"


def test_armature_gives_the_pose_even_when_a_cache_plays(scene, make, tmp_path):
    """The rig is read although an old bake and a Subdivision stand behind it, and both are shown again after."""
    obj = make.cloth(make.grid(count=3))
    bone = add_bone(obj, scene)
    bone.location = (0.0, 1.5, 0.0)
    obj.modifiers.new("Smooth", "SUBSURF")
    path = tmp_path / "old.pc2"
    path.write_bytes(struct.pack("<12siiffi", b"POINTCACHE2\0", 1, 9, 1, 1, 1) + np.full(27, 9, np.float32).tobytes())
    cache_modifier.attach(obj, path, 1)
    assert make.world(obj).min() > 8.0, "the old bake plays"
    garment = read(obj, scene)
    assert np.abs(garment.x_start - garment.x).max() == pytest.approx(1.5)
    assert all(modifier.show_viewport for modifier in obj.modifiers)
    assert make.world(obj).min() > 8.0, "and plays again"


def add_bone(obj, scene):
    """Skin `obj` to an armature of one bone and return the pose bone."""
    armature = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    scene.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    bone = armature.data.edit_bones.new("Bone")
    bone.tail = (0, 0, 1)
    bpy.ops.object.mode_set(mode="OBJECT")
    obj.vertex_groups.new(name="Bone").add(range(len(obj.data.vertices)), 1.0, "REPLACE")
    obj.modifiers.new("Armature", "ARMATURE").object = armature
    return armature.pose.bones["Bone"]


def test_parent_carries_the_garment(scene, make):
    obj = make.cloth(make.grid(count=3))
    parent = bpy.data.objects.new("Parent", None)
    scene.collection.objects.link(parent)
    obj.parent = parent
    key_location(parent, {1: (0, 0, 0), 3: (2, 0, 0)})
    still, moving = frames(scene, obj)
    assert still.targets.shape == (2, 9, 3) and (still.targets[0] == still.targets[1]).all()
    assert moving.targets[0] == pytest.approx(still.targets[1])
    assert moving.targets[-1] - moving.targets[0] == pytest.approx(np.tile([1.0, 0, 0], (9, 1)))
    world = np.append(moving.targets[-1], np.ones((9, 1)), axis=1)
    local = (world @ moving.to_object[0].T)[:, :3]
    assert local == pytest.approx(np.array([v.co for v in obj.data.vertices]), abs=1e-6)


def test_the_way_to_object_space_is_the_inverse_of_the_world_matrix(make):
    """Turned, mirrored, uneven and far away; flat or not finite is a sentence."""
    obj = make.grid(count=2)
    obj.scale, obj.rotation_euler, obj.location = (-2.0, 0.001, 30.0), (0.3, 1.2, -2.0), (1e4, -5.0, 3.0)
    bpy.context.view_layer.update()
    found = mesh_io.world_to_object("Cloth", obj, 0.01, 1)
    assert found == pytest.approx(np.linalg.inv(mesh_io.world_matrix(obj, 0.01)), rel=1e-9, abs=1e-9)
    for scale in ((1, 1, 0), (0, 0, 0), (1, float("nan"), 1)):
        obj.scale = scale
        bpy.context.view_layer.update()
        with pytest.raises(ValueError, match="Cloth has a scale of 0 at frame 1"):
            mesh_io.world_to_object("Cloth", obj, 1.0, 1)


def test_body_is_sampled_at_both_ends(scene, make):
    obj, body = make.cloth(make.grid(count=3)), make.collider(make.ball(), friction=0.7, aura=0.01)
    key_location(body, {1: (0, 0, 0), 3: (0, 0, 4)})
    still, moving = frames(scene, obj, body)
    (collider,) = moving.colliders
    assert collider.name == "Body" and collider.friction == pytest.approx(0.7) and collider.aura == pytest.approx(0.01)
    assert collider.x.shape == (2, 266, 3), "a straight way needs no samples between"
    assert collider.x[1] - collider.x[0] == pytest.approx(np.tile([0, 0, 2.0], (266, 1)), abs=1e-6)
    assert (still.colliders[0].x[0] == still.colliders[0].x[1]).all()
    assert moving.duration == 1 / 24 and moving.gravity.tolist() == pytest.approx([0, 0, -9.81])


def test_fast_turning_body_is_sampled_between_frames(scene, make):
    """90 degrees in a frame: the samples' chords stay within a quarter of the aura of the circle."""
    obj, body = make.cloth(make.grid(count=3)), make.collider(make.ball(radius=0.2), aura=0.02)
    body.rotation_mode = "XYZ"
    for frame in (1, 3):
        body.rotation_euler.z = (frame - 1) * math.pi / 2
        body.keyframe_insert("rotation_euler", frame=frame)
    go_straight(body)
    scene.frame_set(7)
    _, moving = frames(scene, obj, body)
    x = moving.colliders[0].x
    count = len(x) - 1
    sagitta = 0.2 * (1 - math.cos(math.pi / 4 / count))
    assert count > 1 and sagitta <= 0.005 < 0.2 * (1 - math.cos(math.pi / 4 / (count / 2)))
    assert np.linalg.norm(x, axis=2) == pytest.approx(0.2, abs=1e-6), "true poses, not straight lines between frames"
    assert scene.frame_current == 7
    body.taffeta_collider.single_frame_samples = 3
    assert len(frames(scene, obj, body)[1].colliders[0].x) == 4


def shown(scene, call):
    """What `call` returns, and the times [frames] that the scene has shown for it, in order."""
    times = []

    def note(scene, *_):
        times.append(scene.frame_current_final)

    bpy.app.handlers.frame_change_post.append(note)
    try:
        return call(), times
    finally:
        bpy.app.handlers.frame_change_post.remove(note)


def test_a_body_that_turns_all_the_time_is_evaluated_once_at_each_time(scene, make):
    """From the second frame on in their order: where it had to be looked at in the frame before, it is looked at first."""
    obj, body = make.cloth(make.grid(count=3)), make.collider(make.ball(radius=0.2), aura=0.02)
    body.rotation_mode = "XYZ"
    for frame in (1, 6):
        body.rotation_euler.z = (frame - 1) * math.pi / 2
        body.keyframe_insert("rotation_euler", frame=frame)
    go_straight(body)
    inputs, times = shown(scene, lambda: frames(scene, obj, body, count=5))
    count = len(inputs[-1].colliders[0].x) - 1
    late = [time for time in times if time > 2.0]
    assert count > 1 and late == [2.0 + k / count for k in range(1, 3 * count + 1)]
    assert np.linalg.norm(inputs[-1].colliders[0].x, axis=2) == pytest.approx(0.2, abs=1e-6)


def test_wind_is_that_of_the_frames_end_where_a_body_goes_fast_and_straight(scene, make):
    """The middle of the frame is looked at, and needs no sample."""
    obj, body = make.cloth(make.grid(count=3)), make.collider(make.ball(), aura=0.001)
    key_location(body, {1: (0, 0, 0), 4: (3.0, 0, 0)})
    for frame in (1, 4):
        scene.taffeta.wind = (0.0, frame - 1.0, 0.0)
        scene.keyframe_insert("taffeta.wind", frame=frame)
    go_straight(scene)
    inputs = frames(scene, obj, body, count=4)
    assert [len(given.colliders[0].x) for given in inputs] == [2] * 4
    assert [given.wind[1] for given in inputs] == pytest.approx([0.0, 1.0, 2.0, 3.0])


def test_disabled_body_is_evaluated_and_disabled_again(scene, make):
    obj, body = make.cloth(make.grid(count=3)), make.collider(make.ball())
    body.modifiers.new("Subdivision", "SUBSURF").levels = 1
    body.hide_viewport = True
    assert len(frames(scene, obj, body)[0].colliders[0].x[0]) > 1000
    assert body.hide_viewport


def disable_by_keys(body):
    for frame, hide in ((1, False), (3, True)):
        body.hide_viewport = hide
        body.keyframe_insert("hide_viewport", frame=frame)


def disable_by_a_strip(body):
    disable_by_keys(body)
    data = body.animation_data
    data.nla_tracks.new().strips.new("Strip", 1, data.action)
    data.action = None


def disable_by_a_driver(body):
    driver = body.driver_add("hide_viewport").driver
    driver.type, driver.expression = "SCRIPTED", "frame >= 3"


def writers_of(body):
    """(muted, key points) of the curves and drivers of a body."""
    curves = [curve for curve in (*keyed.curves(body), *body.animation_data.drivers)]
    return [(curve.data_path, curve.mute, [point.co[:] for point in curve.keyframe_points]) for curve in curves]


@pytest.mark.parametrize("disable", [disable_by_keys, disable_by_a_strip, disable_by_a_driver])
def test_body_that_keys_disable_in_mid_shot_goes_on_as_any(scene, make, disable):
    """The animator's scene is as it was afterwards, also where sampling raises."""
    obj, body = make.cloth(make.grid(count=3)), make.collider(make.ball())
    carrier = bpy.data.objects.new("Carrier", None)
    scene.collection.objects.link(carrier)
    key_location(carrier, {1: (0, 0, 0), 5: (4, 0, 0)})
    body.parent = carrier
    scene.frame_set(4)
    expected = [given.colliders[0].x for given in frames(scene, obj, body, count=5)]
    disable(body)
    scene.frame_set(4)
    assert body.hide_viewport
    before = writers_of(body)
    found = [given.colliders[0].x for given in frames(scene, obj, body, count=5)]
    assert all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))
    with pytest.raises(RuntimeError, match="stop"), sampling.posed(scene, [obj], [body]):
        raise RuntimeError("stop")
    assert writers_of(body) == before and body.hide_viewport and scene.frame_current == 4
    scene.frame_set(2)
    assert not body.hide_viewport


def test_garment_that_keys_disable_follows_its_carrier(scene, make):
    obj = make.cloth(make.grid(count=3))
    key_location(obj, {1: (0, 0, 0), 5: (4, 0, 0)})
    for frame, hide in ((1, True), (4, False)):
        obj.hide_viewport = hide
        obj.keyframe_insert("hide_viewport", frame=frame)
    scene.frame_set(5)
    first = [given.targets[-1][:, 0].mean() for given in frames(scene, obj, count=5)]
    assert first == pytest.approx([0, 1, 2, 3, 4], abs=1e-6)
    scene.frame_set(2)
    assert obj.hide_viewport


def test_linked_duplicates_are_two_bodies(scene, make):
    obj, body = make.cloth(make.grid(count=3)), make.collider(make.ball())
    twin = body.copy()
    twin.location.x = 5.0
    scene.collection.objects.link(twin)
    a, b = frames(scene, obj, body, twin)[0].colliders
    assert b.x[0] - a.x[0] == pytest.approx(np.tile([5.0, 0, 0], (266, 1)), abs=1e-5)


def test_far_from_the_origin_digits_are_kept(scene, make):
    """10 km away, float32 has steps of 1 mm: the mesh's own coordinates keep theirs."""
    obj = make.cloth(make.grid(count=11, size=0.02))
    near = read(obj, scene).x
    obj.location = (10000.0, 10000.0, 0.0)
    bpy.context.view_layer.update()
    assert read(obj, scene).x - [10000.0, 10000.0, 0.0] == pytest.approx(near, abs=1e-9)


def test_evaluating_beside_a_thread_that_writes_does_not_crash(scene, make, tmp_path):
    """Blender evaluates without the GIL; what it looks up meanwhile must not need it, because a writer takes and
    gives back the GIL all the time. Under `temp_override` this ended Blender 4.5 about every other time, so the
    source is looked at as well."""
    assert "temp_override(" not in Path(sampling.__file__).read_text(encoding="utf-8")
    body = make.collider(make.grid(count=2))
    other = bpy.data.scenes.new("Other")
    other.collection.objects.link(body)
    stop = threading.Event()

    def write():
        with open(tmp_path / "file", "wb", buffering=0) as file:
            while not stop.is_set():
                file.seek(0)
                file.write(b"x" * 20_000)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for number in range(20_000):  # nothing else in the loop: both threads have to meet
            body.location.x = number
            sampling.depsgraph_of(scene)
        for each in (scene, other, scene):
            body.location.x += 1
            graph = sampling.depsgraph_of(each)
            assert graph.scene.name == each.name
            assert body.evaluated_get(graph).matrix_world.translation.x == body.location.x
    finally:
        stop.set()
        writer.join()


def test_sampling_a_character(scene, make, record_property):
    """15,000 vertices in every frame: about 2 ms each when the machine is free; the record holds the best."""
    obj, body = make.cloth(make.grid(count=3)), make.collider(make.ball(rings=124, segments=122))
    key_location(body, {1: (0, 0, 0), 200: (0, 0, 4)})
    garment_objects, bodies = [sampling.garment_object(obj, read(obj, scene))], bodies_of(scene, body)
    times = []
    with sampling.posed(scene, [obj], [body]):
        for frame_input in sampling.frame_inputs(scene.name, garment_objects, bodies, range(1, 51)):
            times.append(time.perf_counter())
            assert len(frame_input.colliders[0].x[0]) == 15008
    record_property("seconds", np.diff(times).min())


def test_sewing_and_shrinking_are_read(scene, make):
    obj = make.cloth(make.grid(), sewing=True, sewing_time=0.25, sewing_force=2.0, shrink=0.125)
    garment = mesh_io.read_garment(obj, bpy.context.evaluated_depsgraph_get(), scene)
    assert garment.sewing and garment.sewing_time == 0.25 and garment.sewing_force == 2.0
    assert (garment.shrink == 0.125).all()
    obj.taffeta_cloth.sewing_force = 0.0
    assert mesh_io.read_garment(obj, bpy.context.evaluated_depsgraph_get(), scene).sewing_force == np.inf
