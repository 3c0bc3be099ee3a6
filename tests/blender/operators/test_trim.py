# SPDX-License-Identifier: GPL-3.0-or-later
"""Trims follow the face of cloth below them by Blender's own means, and the cloth feels what they weigh."""

import bpy
import numpy as np
import pytest
from taffeta.operators.checks import fingerprint
from taffeta.operators.read.mesh_io import read_garment
from taffeta.operators.read.modifier_stack import find_cache
from taffeta.operators.read.sampling import depsgraph_of, posed
from taffeta.solver.build import build
from taffeta.solver.model import Settings


@pytest.fixture
def shirt(saved, make):
    """A sheet that hangs by one row, and a small box on it, turned, moved from where its parent would have it."""
    saved.taffeta.air_density = 0.0
    cloth = make.cloth(make.grid("Shirt", count=5, size=0.4, location=(0, 0, 1)))
    cloth.vertex_groups.new(name="Waist").add(range(5), 1.0, "REPLACE")
    cloth.taffeta_cloth.pin.source, cloth.taffeta_cloth.pin.vertex_group = "GROUP", "Waist"
    box = [(x, y, z) for x in (-0.02, 0.02) for y in (-0.02, 0.02) for z in (0.0, 0.01)]
    button = make.mesh(
        "Button", box, [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6)], location=(0.03, 0.13, 1.002)
    )
    button.rotation_euler = (0.1, 0.2, 0.3)
    bpy.context.view_layer.update()
    return saved, cloth, button


def put_on(cloth, *trims, **about):
    bpy.ops.object.select_all(action="DESELECT")
    for trim in trims:
        trim.select_set(True)
    bpy.context.view_layer.objects.active = cloth
    return bpy.ops.taffeta.trim_add(**about)


def in_frame(make, cloth, trim):
    """The trim's place and turn in the frame of the three vertices that it follows."""
    a, b, c = make.world(cloth)[list(trim.parent_vertices)]
    one = (b - a) / np.linalg.norm(b - a)
    normal = np.cross(b - a, c - a)
    normal /= np.linalg.norm(normal)
    frame = np.stack([one, np.cross(normal, one), normal])
    matrix = np.array(trim.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world)
    return frame @ (matrix[:3, 3] - (a + b + c) / 3.0), frame @ matrix[:3, :3]


def test_a_trim_goes_and_turns_with_its_face(shirt, make):
    """It stays where it is when put on, and keeps its place in the frame of the face, without the add-on: a Mesh Cache and a
    parent are Blender's own."""
    scene, cloth, button = shirt
    before = np.array(button.matrix_world)
    assert put_on(cloth, button) == {"FINISHED"}
    assert np.allclose(button.matrix_world, before, atol=1e-6) and button.parent_type == "VERTEX_3"
    place, turn = in_frame(make, cloth, button)
    scene.frame_start, scene.frame_end = 1, 12
    assert bpy.ops.taffeta.bake() == {"FINISHED"} and find_cache(cloth) is not None
    scene.frame_set(12)
    now, turned = in_frame(make, cloth, button)
    assert np.array(button.matrix_world)[2, 3] < 0.9
    assert np.allclose(now, place, atol=2e-3) and np.allclose(turned, turn, atol=0.05)
    there = np.array(button.matrix_world)
    assert bpy.ops.taffeta.trim_remove() == {"FINISHED"} and button.parent is None
    assert np.allclose(button.matrix_world, there, atol=1e-6)


def test_the_patch_carries_its_mass_and_is_stiffer(shirt):
    scene, cloth, button = shirt

    def read():
        with posed(scene, [cloth], []):
            return read_garment(cloth, depsgraph_of(scene), scene)

    plain, _ = build([read()], Settings())
    put_on(cloth, button, mass=0.05, stiffening=8.0)
    garment = read()
    heavy, _ = build([garment], Settings())
    assert heavy.mass.sum() - plain.mass.sum() == pytest.approx(0.05)
    patch = np.flatnonzero(garment.added_mass)
    assert set(button.parent_vertices) <= set(patch.tolist()) and len(patch) < 10
    stiff = garment.bending_stiffness > 2e-5
    assert np.array_equal(np.flatnonzero(stiff), patch)
    before = fingerprint.take(cloth, scene, [])
    button.taffeta_trim.radius = 10.0
    assert {word for word, value in fingerprint.take(cloth, scene, []).items() if before[word] != value} == {"Trims"}
    assert read().added_mass == pytest.approx(np.full(25, 0.002))


def test_what_cannot_be_put_on_is_told(shirt):
    scene, cloth, button = shirt
    with pytest.raises(RuntimeError, match="nothing to put on Shirt"):
        put_on(cloth)
    cloth.parent = button
    with pytest.raises(RuntimeError, match="Button is cloth, or carries Shirt"):
        put_on(cloth, button)
    cloth.parent = None
    put_on(cloth, button)
    button.parent_vertices = (3, 4, 99)
    with pytest.raises(RuntimeError, match="Button follows vertices that Shirt has no more"):
        bpy.ops.taffeta.bake()
