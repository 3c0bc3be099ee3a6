# SPDX-License-Identifier: GPL-3.0-or-later
"""A stale bake is recognised at once, and told by what was changed."""

import bpy
import numpy as np
import pytest
from taffeta.operators import fingerprint, playback, preflight
from taffeta.solver.cache import pc2


def found(severity=None):
    """Problems of the scene now, one severity or all."""
    problems = preflight.check(bpy.context.scene, bpy.context.evaluated_depsgraph_get())
    return [problem for problem in problems if severity in (None, problem.severity)]


def only(severity, name, words):
    """There is exactly one problem; it is this one, with a remedy."""
    problems = found()
    assert len(problems) == 1, problems
    problem = problems[0]
    assert (problem.severity, problem.object) == (severity, name)
    assert words in problem.sentence
    assert problem.sentence.startswith(name) and problem.remedy


@pytest.fixture
def shot(make, saved):
    """A sound scene: a cloth above a body, saved, with nothing to complain about."""
    make.cloth(make.grid(count=9, location=(0, 0, 1)))
    make.collider(make.ball())
    assert found() == []
    return saved


def cloth():
    return bpy.data.objects["Cloth"]


def body():
    return bpy.data.objects["Body"]


def baked(tmp_path):
    """The shot's cloth as if it was baked just now."""
    obj = cloth()
    x = np.array([vertex.co for vertex in obj.data.vertices], np.float32)
    pc2.write(tmp_path / "Cloth.pc2", np.stack([x] * 10), 1)
    playback.attach(obj, tmp_path / "Cloth.pc2", 1)
    fingerprint.store(obj, bpy.context.scene, [body()])
    assert found() == []
    return obj


def move_vertex(obj):
    obj.data.vertices[3].co.z += 0.01


def turn_quads(obj):
    x = [tuple(vertex.co) for vertex in obj.data.vertices]
    faces = [tuple(face.vertices) for face in obj.data.polygons]
    obj.data.clear_geometry()
    obj.data.from_pydata(x, [], [face[1:] + face[:1] for face in faces])


CHANGES = {
    "the mesh of Cloth": lambda: move_vertex(cloth()),
    "the mesh of Body": lambda: move_vertex(body()),
    "Stretch": lambda: setattr(cloth().taffeta_cloth.stretch_stiffness, "value", 3.0),
    "Weft Stretch": lambda: setattr(cloth().taffeta_cloth, "weft_stretch", 3.0),
    "Strain Limit": lambda: setattr(cloth().taffeta_cloth, "strain_limit", 0.1),
    "Self-Collision": lambda: setattr(cloth().taffeta_cloth, "self_collision", False),
    "Wind": lambda: setattr(bpy.context.scene.taffeta, "wind", (1, 0, 0)),
    "gravity": lambda: setattr(bpy.context.scene, "use_gravity", False),
    "the frame rate": lambda: setattr(bpy.context.scene.render, "fps", 25),
    "the first frame": lambda: setattr(bpy.context.scene, "frame_start", 2),
    "the colliders": lambda: setattr(body().taffeta_collider, "enabled", False),
    "the settings of Body": lambda: setattr(body().taffeta_collider, "aura", 0.1),
    "the animation": lambda: body().keyframe_insert("location", frame=5),
}


@pytest.mark.parametrize("word", CHANGES)
def test_stale_cache_says_what_was_changed(shot, tmp_path, word):
    baked(tmp_path)
    CHANGES[word]()
    bpy.context.view_layer.update()
    sentences = [p.sentence for p in found("WARNING") if p.object == "Cloth"]
    assert sentences == [f"Cloth was baked before you changed {word}"]


def test_stale_after_the_topology_changed_in_place(shot, tmp_path):
    baked(tmp_path)
    turn_quads(cloth())
    bpy.context.view_layer.update()
    assert any("you changed the mesh of Cloth" in p.sentence for p in found("WARNING"))


def test_stale_after_painting_a_map(shot, tmp_path):
    obj = cloth()
    group = obj.vertex_groups.new(name="hem")
    group.add([1, 2], 0.5, "REPLACE")
    obj.taffeta_cloth.mass.source, obj.taffeta_cloth.mass.vertex_group = "GROUP", "hem"
    image = bpy.data.images.new("Map", 4, 4, float_buffer=True)
    obj.taffeta_cloth.damping.source, obj.taffeta_cloth.damping.image = "IMAGE", image
    attribute = obj.data.attributes.new("a", "FLOAT", "POINT")
    obj.taffeta_cloth.friction.source, obj.taffeta_cloth.friction.attribute = "ATTRIBUTE", "a"
    bpy.context.view_layer.update()
    baked(tmp_path)
    group.add([1], 0.6, "REPLACE")
    obj.data.update()
    bpy.context.view_layer.update()
    only("WARNING", "Cloth", "you changed Mass")
    image.pixels[0] = 0.75
    image.update_tag()
    bpy.context.view_layer.update()
    only("WARNING", "Cloth", "you changed Mass and Damping")
    attribute.data[4].value = 0.3
    only("WARNING", "Cloth", "you changed Mass, Damping and Friction")


def test_renaming_makes_nothing_stale(shot, tmp_path):
    baked(tmp_path)
    cloth().name = "Cape"
    only_names = [p.sentence for p in found()]
    assert only_names == []


def test_fingerprint_of_another_hand_is_ignored(shot, tmp_path):
    obj = baked(tmp_path)
    for text in ("", "{", "[1]", "null"):
        obj.taffeta_cloth.fingerprint = text
        assert found() == []
