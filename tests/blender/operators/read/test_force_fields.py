# SPDX-License-Identifier: GPL-3.0-or-later
"""Force fields against Blender's own: what they do to particles of 1 kg, and to its cloth."""

import json
from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from taffeta.operators.bake.order import read_order
from taffeta.operators.checks import fingerprint, force_rows
from taffeta.operators.checks.problem import Shot
from taffeta.operators.read import force_fields, sampling
from taffeta.operators.read.keyed import curves, keyed
from taffeta.solver.forces import force_fields as kernels
from taffeta.solver.model import Settings

RNG = np.random.default_rng(4)
POINTS = RNG.uniform(-1.5, 1.5, (40, 3))
STEP = 0.04  # [s] of a particle in a frame, at any frame rate


def field_object(kind, location=(0.1, -0.2, 0.3), turned=(0.4, 0.7, 0.2), **settings):
    """An empty with a force field."""
    obj = bpy.data.objects.new("Field", None)
    bpy.context.scene.collection.objects.link(obj)
    obj.location, obj.rotation_euler = location, turned
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.forcefield_toggle()
    obj.field.type = kind
    for name, value in settings.items():
        setattr(obj.field, name, value)
    bpy.context.view_layer.update()
    return obj


def of_blender(make, speed):
    """Acceleration that Blender gives particles of 1 kg at POINTS, flying upwards at `speed`, in its first step."""
    scene = bpy.context.scene
    scene.use_gravity = False
    obj = make.mesh("Emitter", POINTS, [(0, 1, 2)])
    obj.modifiers.new("Particles", "PARTICLE_SYSTEM")
    system = obj.particle_systems[0].settings
    system.count, system.frame_start, system.frame_end, system.lifetime = len(POINTS), 1, 1, 100
    system.emit_from, system.use_emit_random, system.integrator = "VERT", False, "EULER"
    system.normal_factor, system.object_align_factor, system.mass = 0.0, (0, 0, speed), 1.0
    found = []
    for frame in (1, 2):
        scene.frame_set(frame)
        evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
        found.append([(*p.location, *p.velocity) for p in evaluated.particle_systems[0].particles])
    (x, v), (_, after) = (np.split(np.array(at), 2, axis=1) for at in found)
    return x, v, (after - v) / STEP


def of_taffeta(x, v, metres=1.0):
    """q - c v [Pa] of the scene's fields at points x [m] that move with v."""
    depsgraph = bpy.context.evaluated_depsgraph_get()
    read = force_fields.read_fields(bpy.context.scene, depsgraph, (), metres)
    still = SimpleNamespace(mass=np.ones(len(x)), origin=np.zeros(3), garment=np.zeros(len(x), int), meets=[1])
    packed = kernels.pack(force_fields.between(read, read), None, still, force_fields.noise_table())
    kernels.evaluate(packed, still, x, v, 1, 1.0)
    q = packed.push + packed.normal_push
    return q[:, :3] - q[:, 3:] * v


KINDS = {
    "wind": {"kind": "WIND", "flow": 0.0},
    "wind that flows": {"kind": "WIND", "flow": 0.7},
    "force": {"kind": "FORCE"},
    "force as gravity": {"kind": "FORCE", "use_gravity_falloff": True},
    "force of a line": {"kind": "FORCE", "shape": "LINE"},
    "force of a plane": {"kind": "FORCE", "shape": "PLANE", "falloff_power": 1.5},
    "vortex": {"kind": "VORTEX", "shape": "PLANE"},
    "vortex of a point": {"kind": "VORTEX", "shape": "POINT", "flow": 0.3},
    "vortex that falls off": {"kind": "VORTEX", "shape": "PLANE", "falloff_power": 1.0},
    "magnet": {"kind": "MAGNET", "shape": "POINT"},
    "magnet of a line": {"kind": "MAGNET", "shape": "LINE"},
    "magnet of a plane": {"kind": "MAGNET", "shape": "PLANE"},
    "harmonic": {"kind": "HARMONIC", "harmonic_damping": 0.3},
    "harmonic with a length": {"kind": "HARMONIC", "harmonic_damping": 0.0, "rest_length": 0.8},
    "turbulence": {"kind": "TURBULENCE", "size": 0.7},
    "turbulence without a size": {"kind": "TURBULENCE", "flow": 0.5},
    "turbulence of the world": {"kind": "TURBULENCE", "size": 1.3, "use_global_coords": True},
    "drag": {"kind": "DRAG", "quadratic_drag": 0.4},
    "sphere": {"kind": "WIND", "shape": "POINT", "falloff_power": 2.0, "use_min_distance": True, "distance_min": 0.5},
    "sphere with an end": {"kind": "FORCE", "falloff_power": 1.0, "use_max_distance": True, "distance_max": 1.2},
    "tube": {"kind": "FORCE", "falloff_type": "TUBE", "falloff_power": 1.0, "radial_falloff": 2.0},
    "tube with ends": {"kind": "WIND", "falloff_type": "TUBE", "use_max_distance": True, "distance_max": 0.8,
                       "use_radial_min": True, "radial_min": 0.2, "use_radial_max": True, "radial_max": 0.9,
                       "radial_falloff": 1.5},
    "cone": {"kind": "FORCE", "falloff_type": "CONE", "radial_falloff": 0.3, "use_radial_min": True, "radial_min": 20},
    "cone with an end": {"kind": "WIND", "falloff_type": "CONE", "use_radial_max": True, "radial_max": 60.0},
    "above": {"kind": "FORCE", "z_direction": "POSITIVE"},
    "below": {"kind": "FORCE", "z_direction": "NEGATIVE"},
}  # fmt: skip


@pytest.mark.parametrize("name", KINDS)
def test_a_field_pushes_as_blenders_own(make, name):
    """In every kind and falloff, at 40 places, particles get the acceleration that cloth gets as pressure."""
    field_object(**({"strength": 1.7} | KINDS[name]))
    x, v, expected = of_blender(make, 0.6)
    assert np.allclose(of_taffeta(x, v), expected, atol=2e-4 * max(1.0, np.abs(expected).max()))
    assert np.abs(expected).max() > 0.1


def test_two_fields_add_up(make):
    field_object("WIND", strength=1.0)
    field_object("VORTEX", location=(0.3, 0.4, 0.0), strength=-0.8)
    x, v, expected = of_blender(make, 0.3)
    assert np.allclose(of_taffeta(x, v), expected, atol=1e-4)


def test_blenders_noise_is_read_off():
    table = force_fields.noise_table()
    assert sorted(table) == list(range(256))


@pytest.mark.parametrize("fps", [24, 60])
def test_blenders_cloth_feels_a_fiftieth_of_the_frame_rate(scene, make, fps):
    """A strength of 1 pushes a triangle of Blender's cloth with fps / 50 Pa: what the docstring of the kernels says."""
    scene.render.fps, scene.use_gravity = fps, False
    field_object("WIND", turned=(0, 0, 0), strength=10.0, flow=0.0, wind_factor=0.0)
    obj = make.mesh("Triangle", [(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)])
    settings = obj.modifiers.new("Cloth", "CLOTH").settings
    settings.air_damping, settings.mass = 0.0, 1.0  # kg a vertex
    height = []
    for frame in range(1, 9):
        scene.frame_set(frame)
        height.append(make.world(obj)[:, 2].mean())
    acceleration = np.diff(height, 2)[3:].mean() * fps**2
    assert acceleration * 3.0 / 0.5 == pytest.approx(10.0 * fps / 50.0, rel=1e-3)


def key(owner, path, *values):
    """Linear keyframes of a setting: pairs (frame, value)."""
    for frame, value in values:
        group, _, name = path.rpartition(".")
        setattr(owner.path_resolve(group) if group else owner, name, value)
        owner.keyframe_insert(path, frame=frame)
    for curve in curves(owner):
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"


def sampled(scene, make_cloth):
    """FrameInputs of the scene's frames."""
    order = read_order(scene)
    bodies = [bpy.data.objects[body.name] for body in order.bodies]
    with sampling.posed(scene, [make_cloth], bodies):
        return list(sampling.frame_inputs(scene.name, order.garment_objects, order.bodies, order.frames))


def test_keyframed_and_moving_fields_are_sampled_between_frames(scene, make):
    obj = field_object("FORCE", location=(0, 0, 0), strength=1.0)
    key(obj, "field.strength", (1, 0.0), (5, 8.0))
    key(obj, "location", (1, (0, 0, 0)), (5, (4, 0, 0)))
    inputs = sampled(scene, make.cloth(make.grid(count=3), field_weight=0.25))
    assert [given.fields[0].end.strength for given in inputs] == pytest.approx([0, 2, 4, 6, 8, 8, 8, 8, 8, 8])
    assert inputs[2].fields[0].start.strength == pytest.approx(2.0)
    assert inputs[2].fields[0].start.x == pytest.approx((1, 0, 0)) and inputs[2].fields[0].end.x[0] == pytest.approx(2)
    assert all(given.field_weight == (0.25,) and given.noise_table is None for given in inputs)


def test_fields_that_are_off_are_not_sampled(scene, make):
    hidden, excluded, idle = (field_object("WIND") for _ in range(3))
    hidden.hide_viewport, idle.field.apply_to_location = True, False
    folder = bpy.data.collections.new("Folder")
    scene.collection.children.link(folder)
    scene.collection.objects.unlink(excluded)
    folder.objects.link(excluded)
    bpy.context.view_layer.layer_collection.children["Folder"].exclude = True
    (first, *_) = sampled(scene, make.cloth(make.grid(count=3)))
    assert first.fields == () and first.field_weight is None


def test_units_of_the_scene(scene):
    """In a scene of centimetres a field's distances are centimetres, and its place is told in metres."""
    scene.unit_settings.scale_length = 0.01
    field_object("FORCE", location=(0, 0, 0), strength=3.0, falloff_power=1.0)
    x = np.array([[0.02, 0.0, 0.0]])
    assert np.allclose(of_taffeta(x, np.zeros((1, 3)), 0.01), [[1.0, 0.0, 0.0]])


def test_cloth_drifts_with_a_wind_field(scene, make):
    """A wind of strength 3 and flow 1 carries cloth at 3 m/s in the end, by bake and cache."""
    scene.use_gravity, scene.frame_end = False, 40
    scene.taffeta.air_drag = 0.0
    field_object("WIND", turned=(0, 0, 0), strength=3.0, flow=1.0)
    obj = make.cloth(make.grid(count=3))
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    heights = []
    for frame in (1, 39, 40):
        scene.frame_set(frame)
        heights.append(make.world(obj)[:, 2])
    assert np.allclose(heights[0], 0.0) and (heights[2] - heights[1]).mean() == pytest.approx(3.0 / 24, rel=2e-3)


def test_preflight_tells_of_fields_that_are_left_out(scene, make):
    make.cloth(make.grid(count=9, location=(0, 0, 1)))
    field_object("LENNARDJ").name = "Atoms"
    bpy.context.view_layer.objects.active = points = make.mesh("Points", POINTS, [(0, 1, 2)])
    bpy.ops.object.forcefield_toggle()
    points.field.shape = "POINTS"
    field_object("WIND", use_absorption=True).name = "Fan"
    found = {p.object: p for p in force_rows._force_fields(Shot(scene, bpy.context.evaluated_depsgraph_get(), [], []))}
    assert "Lennard-Jones" in found["Atoms"].sentence and "Every Point" in found["Points"].sentence
    assert found["Fan"].severity == "INFO" and found["Atoms"].severity == "WARNING"


def test_a_changed_field_makes_the_bake_stale(scene, make):
    obj, fan = make.cloth(make.grid()), field_object("WIND", strength=1.0)
    obj.taffeta_cloth.fingerprint = json.dumps(fingerprint.take(obj, scene, []))
    assert fingerprint.changes(obj, scene, []) == []
    fan.field.strength = 2.0
    assert fingerprint.changes(obj, scene, []) == ["the force fields"]
    fan.field.strength = 1.0
    fan.location.x += 1.0
    bpy.context.view_layer.update()
    assert fingerprint.changes(obj, scene, []) == ["the force fields"]


def test_what_is_keyframed_is_not_stale_at_another_frame(scene, make):
    obj, fan = make.cloth(make.grid()), field_object("WIND")
    key(fan, "field.strength", (1, 0.0), (5, 8.0))
    key(fan, "location", (1, (0, 0, 0)), (5, (4, 0, 0)))
    key(scene, "taffeta.wind", (1, (0, 0, 0)), (5, (4, 0, 0)))
    key(scene, "gravity", (1, (0, 0, -9)), (5, (0, 0, 0)))
    obj.taffeta_cloth.fingerprint = json.dumps(fingerprint.take(obj, scene, []))
    scene.frame_set(4)
    assert fingerprint.changes(obj, scene, []) == []
    key(fan, "field.strength", (5, 7.0))
    bpy.context.view_layer.update()
    assert fingerprint.changes(obj, scene, []) == ["the animation"]


def test_pressure_is_sampled_every_frame_and_inflates(scene, make):
    scene.use_gravity, scene.frame_end = False, 12
    scene.taffeta.air_drag = 0.0
    obj = make.cloth(make.ball("Balloon", radius=0.3), damping=20.0)
    key(obj, "taffeta_cloth.pressure", (1, 0.0), (5, 400.0))
    inputs = sampled(scene, obj)
    assert [given.pressure and given.pressure[0] for given in inputs[:5]] == pytest.approx([None, 100, 200, 300, 400])
    assert inputs[4].volume is None
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    scene.frame_set(12)
    radius = np.linalg.norm(make.world(obj), axis=1)
    assert 1.01 < radius.mean() / 0.3 < 1.2


def test_keyframed_settings_are_followed(scene, make):
    """Wind, air and forces that change; what stands still is a setting of the bake, and not told again."""
    obj = make.cloth(make.grid(count=3))
    key(scene, "taffeta.air_drag", (1, 0.0), (9, 4.0))
    key(scene, "taffeta.constant_force", (1, (0, 0, 0)), (5, (0, 0, 8)))
    key(scene, "taffeta.wind", (1, (0, 0, 0)), (5, (4, 0, 0)))
    scene.frame_set(7)
    settings = read_order(scene).settings
    assert settings.air_drag == Settings().air_drag and settings.constant_force == (0, 0, 0)
    inputs = sampled(scene, obj)
    assert dict(inputs[2].changed) == {"air_drag": 1.0, "constant_force": (0, 0, 4)}
    assert [given.wind[0] for given in inputs[:4]] == pytest.approx([0, 1, 2, 3])


def test_a_keyframed_force_lifts_the_cloth(scene, make):
    """A constant force that is switched on at frame 5 beats gravity from there on, though the bake begins without."""
    obj = make.cloth(make.grid(count=3))
    scene.taffeta.air_drag = 0.0
    key(scene, "taffeta.constant_force", (4, (0, 0, 0)), (5, (0, 0, 3 * 9.81)))
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    heights = []
    for frame in (1, 4, 10):
        scene.frame_set(frame)
        heights.append(make.world(obj)[:, 2].mean())
    assert heights[1] == pytest.approx(-0.5 * 9.81 * (3 / 24) ** 2, rel=0.1)
    assert heights[2] == pytest.approx(heights[1] - 9.81 * 3 / 24 * 6 / 24 + 9.81 * (6 / 24) ** 2, rel=0.1)


def test_what_a_bake_reads_once_takes_no_keyframes(scene, make):
    obj = make.cloth(make.grid())
    for owner, path in (
        (scene, "taffeta.substeps"), (obj, "taffeta_cloth.stretch_stiffness.invert"), (obj, "taffeta_cloth.layer"),
        (obj, "taffeta_cloth.model"), (obj, "taffeta_collider.enabled"), (scene, "taffeta.cache_folder"),
    ):  # fmt: skip
        with pytest.raises(TypeError, match="not animatable"):
            owner.keyframe_insert(path)
    for owner, path in ((scene, "taffeta.wind"), (scene, "taffeta.wind_shown"), (obj, "taffeta_cloth.pressure")):
        assert owner.keyframe_insert(path)
    assert keyed(scene) == {"taffeta.wind"}


def test_keyframed_pins_let_go(scene, make):
    """Held by its whole mesh up to frame 5, by nothing from 6 on."""
    obj = make.cloth(make.grid(count=5))
    scene.taffeta.air_drag = 0.0
    key(obj, "taffeta_cloth.pin.value", (5, 1.0), (6, 0.0))
    inputs = sampled(scene, obj)
    assert [given.pin.max() for given in inputs] == [1.0] * 5 + [0.0] * 5
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    heights = []
    for frame in (5, 10):
        scene.frame_set(frame)
        heights.append(make.world(obj)[:, 2].mean())
    assert heights[0] == 0.0 and heights[1] == pytest.approx(-0.5 * 9.81 * (5 / 24) ** 2, rel=0.05)
