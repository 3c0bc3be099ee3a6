# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings that are animated, from the key or driver to the baked cloth: each frame has the fabric of that frame."""

import bpy
import ipctk
import numpy as np
import pytest
from taffeta.operators.playback import bake_files
from taffeta.solver.cache import names

MASS, STRETCH, G, ROWS = 0.5, 400.0, 9.81, 9


@pytest.fixture
def strip(saved, make):
    """A square metre that hangs from its upper edge in still air, calm after half a second."""
    saved.taffeta.air_density = 0.0
    obj = make.grid(count=ROWS)
    obj.rotation_euler[0] = np.pi / 2
    make.cloth(obj, mass=MASS, stretch_stiffness=STRETCH, shear_stiffness=2.0, damping=60.0)
    obj.taffeta_cloth.self_collision = False
    obj.vertex_groups.new(name="top").add(range(ROWS * (ROWS - 1), ROWS * ROWS), 1.0, "REPLACE")
    obj.taffeta_cloth.pin.source, obj.taffeta_cloth.pin.vertex_group = "GROUP", "top"
    bpy.context.view_layer.update()
    return obj


def key(owner, path, *points):
    """Keys (frame, value) of a setting, constant between them."""
    group, _, name = path.rpartition(".")
    for frame, value in points:
        setattr(owner.path_resolve(group), name, value)
        assert owner.keyframe_insert(path, frame=frame)
    for curve in (c for layer in owner.animation_data.action.layers for c in layer.strips[0].channelbags[0].fcurves):
        for point in curve.keyframe_points:
            point.interpolation = "CONSTANT"


def bake(last, **about):
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, last
    return bpy.ops.taffeta.bake(**about)


def hangs(obj, make, frame):
    """[m] how far the lower edge is below the upper one, beyond the metre that it is at rest."""
    bpy.context.scene.frame_set(frame)
    x = make.world(obj)
    return float(x[-ROWS:, 2].mean() - x[:ROWS, 2].mean()) - 1.0


def files(obj):
    """Frames and states of a bake."""
    return [part.read_bytes() for part in names.parts(bake_files.cache_file(obj))[:2]]


def test_cloth_hangs_by_the_stiffness_of_each_frame(strip, make):
    """Extension mass g L^2 / 2 K of a hanging sheet, of the K of that time; a driver halves it and a key doubles it."""
    cloth = strip.taffeta_cloth
    key(strip, "taffeta_cloth.stretch_stiffness.value", (1, STRETCH), (25, 0.5 * STRETCH))
    assert bake(60) == {"FINISHED"}
    assert hangs(strip, make, 24) == pytest.approx(MASS * G / (2 * STRETCH), rel=0.06)
    assert hangs(strip, make, 60) == pytest.approx(MASS * G / STRETCH, rel=0.06)
    assert cloth.stretch_stiffness.value == pytest.approx(0.5 * STRETCH)


def test_cloth_that_shrinks_by_a_fifth_has_edges_a_fifth_shorter(strip, make):
    strip.taffeta_cloth.stretch_stiffness.value = 1e5
    key(strip, "taffeta_cloth.shrink.value", (1, 0.0), (3, 0.2))
    assert bake(40) == {"FINISHED"}
    edges = np.array([edge.vertices[:] for edge in strip.data.edges])
    lengths = {}
    for frame in (2, 40):
        bpy.context.scene.frame_set(frame)
        x = make.world(strip)
        lengths[frame] = np.linalg.norm(x[edges[:, 1]] - x[edges[:, 0]], axis=1)
    free = (edges < ROWS * (ROWS - 2)).all(axis=1)  # the row beside the pinned one, which cannot get shorter, is aslant
    assert np.allclose(lengths[40][free] / lengths[2][free], 0.8, atol=0.02)


def test_keys_that_stand_still_change_no_bit(strip, capfd):
    assert bake(4) == {"FINISHED"}
    still = files(strip)
    for name in ("friction", "thickness", "mass", "bending_stiffness", "shear_stiffness", "damping"):
        key(strip, f"taffeta_cloth.{name}.value", (1, getattr(strip.taffeta_cloth, name).value))
    key(strip, "taffeta_cloth.poisson", (1, 0.0))
    assert bake(4, resume=True) == {"FINISHED"}
    assert files(strip) == still
    assert "4 of them as they were" in capfd.readouterr().out


SETTINGS = {
    "mass.value_shown": 900.0, "bending_stiffness.value_shown": 4e3, "shear_stiffness.value": 90.0,
    "damping.value": 1.0, "weft_stretch": 3.0, "weft_bending": 3.0, "poisson": 0.4, "strain_limit": 0.001, "shrink.value": 0.1,
}  # fmt: skip


@pytest.mark.parametrize("path", SETTINGS)
def test_a_bake_resumes_from_what_is_keyed_with_the_same_bits(strip, path):
    """As a bake that runs through; frames before the key are kept, and the panel says what was changed."""
    cloth = strip.taffeta_cloth
    if path.startswith(("poisson", "weft")):
        cloth.model, cloth.uv_map = "MEMBRANE", "UVMap"
    strip.rotation_euler[0] = 1.2  # so that it bends
    assert bake(6) == {"FINISHED"}
    before = files(strip)
    now = cloth.path_resolve(path)
    key(strip, f"taffeta_cloth.{path}", (1, now), (4, SETTINGS[path]))
    bpy.context.scene.frame_set(1)
    assert bake(6, resume=True) == {"FINISHED"}
    assert strip.taffeta_cloth.report_json.count('"frames_kept": 3')
    resumed = files(strip)
    size = len(before[0]) - 6 * 12 * ROWS * ROWS  # of the header
    kept = size + 3 * 12 * ROWS * ROWS
    assert resumed[0][size:kept] == before[0][size:kept] and resumed[0][kept:] != before[0][kept:]
    assert bake(6) == {"FINISHED"}
    assert files(strip) == resumed


@pytest.fixture
def slope(saved, make):
    """A small sheet that lies on a board at 20 degrees; the board's friction is that of the cloth, 0.8."""
    saved.taffeta.air_density = 0.0
    board = make.collider(make.grid("Board", count=2, size=4.0), friction=0.8)
    obj = make.cloth(make.grid(count=4, size=0.3), friction=0.8, bending_stiffness=1e-3)
    for each, height in ((board, 0.0), (obj, 0.007)):
        each.rotation_euler[1] = np.radians(20.0)
        each.location = (height * np.sin(np.radians(20.0)), 0.0, height * np.cos(np.radians(20.0)))
    bpy.context.view_layer.update()
    return obj, board


def slid(obj, make, frame):
    """[m] along the slope."""
    bpy.context.scene.frame_set(frame)
    middle = make.world(obj).mean(axis=0)
    return float(middle[0] * np.cos(np.radians(20.0)) - middle[2] * np.sin(np.radians(20.0)))


@pytest.mark.parametrize("whose", ["cloth", "body"])
def test_cloth_that_lies_on_a_slope_slides_from_the_key_on(slope, make, whose):
    """Half g sin 20 t^2 without friction; with it, it lies still."""
    obj, board = slope
    owner, path = {"cloth": (obj, "taffeta_cloth.friction.value"), "body": (board, "taffeta_collider.friction")}[whose]
    key(owner, path, (1, 0.8), (9, 0.0))
    assert bake(20) == {"FINISHED"}
    assert abs(slid(obj, make, 8)) < 1e-3
    assert slid(obj, make, 20) == pytest.approx(0.5 * G * np.sin(np.radians(20.0)) * (12 / 24) ** 2, rel=0.1)


def test_cloth_falls_through_a_body_that_does_not_collide_any_more(slope, make):
    obj, board = slope
    key(board, "taffeta_collider.collides", (1, True), (9, False))
    assert bake(20) == {"FINISHED"}
    heights = []
    for frame in (8, 20):
        bpy.context.scene.frame_set(frame)
        heights.append(make.world(obj)[:, 2].mean())
    assert heights[0] - heights[1] == pytest.approx(0.5 * G * (12 / 24) ** 2, rel=0.1)


def test_layers_keep_the_thickness_of_each_frame(saved, make):
    """Two sheets that lie on each other on a floor."""
    make.collider(make.grid("Floor", count=2, size=4.0))
    low, high = (
        make.cloth(make.grid(f"Sheet {k}", count=4, size=0.3, location=(0, 0, 0.006 + 0.004 * k)), thickness=0.004)
        for k in range(2)
    )
    for obj in (low, high):
        key(obj, "taffeta_cloth.thickness.value_shown", (1, 4.0), (9, 12.0))
    assert bake(24) == {"FINISHED"}
    gaps = []
    for frame in (8, 24):
        bpy.context.scene.frame_set(frame)
        gaps.append(make.world(high)[:, 2].mean() - make.world(low)[:, 2].mean())
    assert gaps == pytest.approx([0.004, 0.012], rel=0.15)


def inside(obj, make, frame, radius):
    """How many vertices of a garment are in a ball about the origin."""
    bpy.context.scene.frame_set(frame)
    return int((np.linalg.norm(make.world(obj), axis=1) < radius).sum())


def crosses(obj, body, make, frame):
    """Whether any edge goes through any triangle, by ipctk."""
    bpy.context.scene.frame_set(frame)
    x, faces = [], []
    for each in (obj, body):
        each.data.calc_loop_triangles()
        faces += [np.array([t.vertices[:] for t in each.data.loop_triangles]) + sum(map(len, x))]
        x.append(make.world(each))
    x, faces = np.vstack(x), np.vstack(faces)
    return ipctk.has_intersections(ipctk.CollisionMesh(x, ipctk.edges(faces), faces), x)


def test_cloth_comes_out_of_a_body_that_begins_to_collide(saved, make, capfd):
    """It is in the ball's middle by then: that is told, and over in half a second."""
    ball = make.collider(make.ball(radius=0.3, rings=8, segments=16))
    obj = make.cloth(make.grid(count=9, size=0.4, location=(0.05, 0.03, 0.4)), bending_stiffness=1e-4)
    key(ball, "taffeta_collider.collides", (1, False), (9, True))
    assert bake(24) == {"FINISHED"}
    assert inside(obj, make, 8, 0.28) > 40 and crosses(obj, ball, make, 9)
    assert inside(obj, make, 24, 0.299) == 0 and not crosses(obj, ball, make, 24)
    told = "Body began to collide in frame 9 with Cloth inside: it comes out over the next frames; key Collide at a frame in"
    assert told in capfd.readouterr().out


def test_cloth_comes_out_of_itself_when_self_collision_begins(saved, make, capfd):
    """A leaf falls into a sheet that is held, of the same garment."""
    saved.taffeta.air_density, saved.gravity.z = 0.0, -1.0
    sheet = make.grid("Sheet", count=9, size=0.6)
    sheet.vertex_groups.new(name="held").add(range(81), 1.0, "REPLACE")
    leaf = make.grid("Leaf", count=5, size=0.2, location=(0.02, 0.03, 0.1))
    leaf.rotation_euler[1] = 0.5
    bpy.context.view_layer.update()
    with bpy.context.temp_override(active_object=sheet, selected_editable_objects=[sheet, leaf]):
        bpy.ops.object.join()
    make.cloth(sheet, bending_stiffness=1e-4)
    sheet.taffeta_cloth.pin.source, sheet.taffeta_cloth.pin.vertex_group = "GROUP", "held"
    key(sheet, "taffeta_cloth.self_collision", (1, False), (12, True))
    assert bake(24) == {"FINISHED"}

    def is_crossed(frame):
        bpy.context.scene.frame_set(frame)
        sheet.data.calc_loop_triangles()
        x, faces = make.world(sheet), np.array([t.vertices[:] for t in sheet.data.loop_triangles])
        return ipctk.has_intersections(ipctk.CollisionMesh(x, ipctk.edges(faces), faces), x)

    assert is_crossed(11) and not is_crossed(24)
    assert "Sheet began to collide with itself in frame 12 where it crosses itself" in capfd.readouterr().out


def test_a_key_out_of_range_is_told_with_its_frame_and_the_frames_before_are_kept(strip):
    key(strip, "taffeta_cloth.stretch_stiffness.value", (1, STRETCH), (4, 0.0))
    with pytest.raises(
        RuntimeError, match="In frame 4, 'Cloth': the stretch stiffness is 0 N/m .* Frames 1 to 3 are kept"
    ):
        bake(6)
    key(strip, "taffeta_cloth.stretch_stiffness.value", (4, 10.0))
    assert bake(6, resume=True) == {"FINISHED"}
