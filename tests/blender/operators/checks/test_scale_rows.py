# SPDX-License-Identifier: GPL-3.0-or-later
"""Preflight tells of sizes that change, and of bodies that are meant for cloth of another size."""

import bpy
import pytest


def keyed_scale(obj, *sizes):
    for frame, size in enumerate(sizes):
        obj.scale = (size, size, size)
        obj.keyframe_insert("scale", frame=1 + 9 * frame)
    bpy.context.scene.frame_set(1)


def test_cloth_that_is_to_grow_with_its_parent(shot, found, only, cloth):
    """Keys of a scale that stays are none of it: whole transforms are keyed so."""
    rig = bpy.data.objects.new("Rig", None)
    bpy.context.scene.collection.objects.link(rig)
    cloth().parent = rig
    keyed_scale(rig, 1.0, 1.0)
    assert found() == []
    keyed_scale(rig, 1.0, 2.0)
    only("WARNING", "Cloth", "keeps the size that it has in the first frame", "Scale of Rig")
    cloth().parent = None
    assert found() == []
    keyed_scale(cloth(), 1.0, 0.6)
    only("WARNING", "Cloth", "Scale of Cloth")


def test_a_distance_for_cloth_of_another_size(shot, found, only, body):
    """Four times the cloth's edges is farther off than a mesh can tell; a body that does not meet it counts for nothing."""
    edge = 1.0 / 8
    body().taffeta_collider.aura = 1.5 * edge
    assert [problem for problem in found() if "keeps Cloth off" in problem.sentence] == []
    body().taffeta_collider.aura = 4.0 * edge
    assert [problem.object for problem in found() if "keeps Cloth off" in problem.sentence] == ["Body"]


def test_a_distance_beside_which_a_whole_garment_is_small(shot, make, found):
    """Its edges are long, for it has few: a napkin of 12 mm in a doll's house, 5 mm off the table."""
    make.cloth(make.grid("Napkin", count=4, size=0.012, location=(3, 0, 1)))
    bpy.data.objects["Cloth"].taffeta_cloth.enabled = False
    rows = [problem for problem in found() if "keeps Napkin off" in problem.sentence]
    assert [row.sentence for row in rows] == ["Body keeps Napkin off by a Distance of 5 mm, over 20 % of its size"]
    assert rows[0].remedy.startswith("Set the Distance to 0.24 mm or less")
    bpy.data.objects["Body"].taffeta_collider.aura = 0.002
    assert not [problem for problem in found() if "keeps Napkin off" in problem.sentence]


def test_a_distance_beside_which_a_button_is_small(shot, make, found):
    """It is tacked to a coat, and lies on that; what has no faces lies on nothing."""
    make.mesh("Wire", [(3, 0, 0), (3.001, 0, 0)], [], edges=[(0, 1)]).taffeta_cloth.enabled = True
    button = make.cloth(make.grid("Button", count=4, size=0.018, location=(0, 0, 1.5)))
    rows = lambda: [problem.sentence for problem in found() if " off by a Distance" in problem.sentence]  # noqa: E731
    assert [row.split(",")[0] for row in rows()] == ["Body keeps Button off by a Distance of 5 mm"]
    bpy.context.view_layer.objects.active = button
    assert bpy.ops.taffeta.attach(object="Button", body="Cloth", vertices="NEAR", reach=5.0) == {"FINISHED"}
    assert rows() == []


@pytest.mark.parametrize("scale", ((1.0, 0.0, 1.0), (0.0, 0.0, 0.0), (1e-9, 1.0, 1.0)))
def test_a_body_with_a_scale_of_zero(shot, only, body, scale):
    body().scale = scale
    only("WARNING", "Body", "Body has a scale of zero", "it is flat")


def test_a_body_whose_parent_has_a_scale_of_zero(shot, found, body):
    rig = bpy.data.objects.new("Rig", None)
    bpy.context.scene.collection.objects.link(rig)
    body().parent, rig.scale = rig, (1.0, 1.0, 0.0)
    (problem,) = found()
    assert "of zero by its parent Rig" in problem.sentence and problem.remedy.startswith("Give Rig a scale above 0")


def test_a_body_that_is_flat_or_small_in_its_mesh(shot, make, found, body):
    """A flat plane is a ground; one that is a single point is none."""
    body().data = make.grid("Ground", count=3, size=4.0).data
    bpy.data.objects["Ground"].location = (0, 0, -3)
    assert found() == []
    for vertex in body().data.vertices:
        vertex.co = (0.0, 0.0, 0.0)
    assert [problem.object for problem in found()] == ["Body"]


def test_a_mirrored_or_uneven_body_needs_no_word(shot, found, body):
    for scale in ((-1.0, 1.0, 1.0), (0.5, 1.0, 0.01)):
        body().scale = scale
        assert found() == []
