# SPDX-License-Identifier: GPL-3.0-or-later
"""A stale bake is recognised at once, and told by what was changed."""

import json

import bpy
import pytest
from taffeta.operators.checks import fingerprint, problem_list
from taffeta.operators.read import keyed
from taffeta.operators.read.carriers import node_inputs


def move_vertex(obj):
    obj.data.vertices[3].co.z += 0.01


def turn_quads(obj):
    x = [tuple(vertex.co) for vertex in obj.data.vertices]
    faces = [tuple(face.vertices) for face in obj.data.polygons]
    obj.data.clear_geometry()
    obj.data.from_pydata(x, [], [face[1:] + face[:1] for face in faces])


CHANGES = {
    "the mesh of Cloth": lambda cloth, body: move_vertex(cloth),
    "the mesh of Body": lambda cloth, body: move_vertex(body),
    "Stretch": lambda cloth, body: setattr(cloth.taffeta_cloth.stretch_stiffness, "value", 3.0),
    "Weft Stretch": lambda cloth, body: setattr(cloth.taffeta_cloth, "weft_stretch", 3.0),
    "Strain Limit": lambda cloth, body: setattr(cloth.taffeta_cloth, "strain_limit", 0.1),
    "Self-Collision": lambda cloth, body: setattr(cloth.taffeta_cloth, "self_collision", False),
    "Wind": lambda cloth, body: setattr(bpy.context.scene.taffeta, "wind", (1, 0, 0)),
    "gravity": lambda cloth, body: setattr(bpy.context.scene, "use_gravity", False),
    "Simplify": lambda cloth, body: setattr(bpy.context.scene.render, "use_simplify", True),
    "the frame rate": lambda cloth, body: setattr(bpy.context.scene.render, "fps", 25),
    "the first frame": lambda cloth, body: setattr(bpy.context.scene, "frame_start", 2),
    "the colliders": lambda cloth, body: setattr(body.taffeta_collider, "enabled", False),
    "the settings of Body": lambda cloth, body: setattr(body.taffeta_collider, "aura", 0.1),
    "the animation": lambda cloth, body: body.keyframe_insert("location", frame=5),
}


@pytest.mark.parametrize("word", CHANGES)
def test_stale_cache_says_what_was_changed(shot, tmp_path, word, found, cloth, body, baked):
    finer = body().modifiers.new("Finer", "SUBSURF")
    finer.levels = finer.render_levels = shot.render.simplify_subdivision + 1
    baked()
    CHANGES[word](cloth(), body())
    bpy.context.view_layer.update()
    sentences = [p.sentence for p in found("WARNING") if p.object == "Cloth"]
    assert sentences == [f"Cloth was baked before you changed {word}"]


def test_a_unit_scale_counts_where_units_do(shot, found, baked):
    units = shot.unit_settings
    units.system = "NONE"
    baked()
    units.scale_length = 0.5
    assert [p for p in found() if "baked before" in p.sentence] == []
    units.system = "METRIC"
    assert "Cloth was baked before you changed the unit scale" in [p.sentence for p in found()]


def rigged(body):
    """An armature of one bone that moves the whole body."""
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones.new("B").tail = (0, 0, 1)
    bpy.ops.object.mode_set(mode="OBJECT")
    body.vertex_groups.new(name="B").add(list(range(len(body.data.vertices))), 1.0, "REPLACE")
    body.modifiers.new("Rig", "ARMATURE").object = rig
    return rig


def linked(name, data=None):
    """A new object in the scene."""
    obj = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(obj)
    return obj


def with_input(body, obj):
    """Give a body Geometry Nodes that change nothing, with an object in an input."""
    tree = bpy.data.node_groups.new("Nodes", "GeometryNodeTree")
    for direction in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=direction, socket_type="NodeSocketGeometry")
    tree.interface.new_socket("Number", in_out="INPUT", socket_type="NodeSocketFloat")
    socket = tree.interface.new_socket("Object", in_out="INPUT", socket_type="NodeSocketObject").identifier
    ends = tree.nodes.new("NodeGroupInput"), tree.nodes.new("NodeGroupOutput")
    tree.links.new(ends[0].outputs[0], ends[1].inputs[0])
    modifier = body.modifiers.new("Nodes", "NODES")
    modifier.node_group = tree
    if hasattr(modifier, "properties"):  # Blender 5.2
        getattr(modifier.properties.inputs, socket).value = obj
    else:
        modifier[socket] = obj


def curve():
    """Two Bezier points."""
    data = bpy.data.curves.new("Input", "CURVE")
    data.splines.new("BEZIER").bezier_points.add(1)
    return data


def shape(name):
    """What is drawn of an object that a modifier looks at."""
    return bpy.data.objects[name].data


def prepared(cloth, body):
    """The shot's objects hang on others: a parent, a rig; the body has a shape key and a key that moves it upwards."""
    cloth.parent = linked("Carrier")
    rig = rigged(body)
    rig.pose.bones["B"].constraints.new("COPY_LOCATION").target = linked("Aim")
    wrap = body.modifiers.new("Wrap", "SHRINKWRAP")
    wrap.target = linked("Wrap", bpy.data.meshes.new("Wrap"))
    body.modifiers.new("Cage", "LATTICE").object = linked("Cage", bpy.data.lattices.new("Cage"))
    with_input(body, linked("Input", curve()))
    keyed = linked("Keyed", curve())
    body.modifiers.new("Hook", "HOOK").object = keyed
    for frame in (1, 9):
        keyed.data.splines[0].bezier_points[1].co.x = frame
        keyed.data.splines[0].bezier_points[1].keyframe_insert("co", frame=frame)
    for name in ("Basis", "Fat"):
        body.shape_key_add(name=name)
    body.shape_key_add(name="Bent").value = 0.3
    for frame in (1, 9):
        body.location.z = 0.01 * frame
        body.keyframe_insert("location", index=2, frame=frame)
    body.rotation_mode = "XYZ"


def pose():
    bpy.data.objects["Rig"].pose.bones["B"].location.x = 0.1


def ease(body):
    """As in the Graph Editor: the keys stay, and the way between them is another."""
    for layer in body.animation_data.action.layers:
        point = layer.strips[0].channelbags[0].fcurves[0].keyframe_points[0]
    point.handle_right_type, point.handle_right = "FREE", (3.0, 0.3)


def to_strip(obj):
    """The action goes into a strip, which plays it at half the speed."""
    data = obj.animation_data
    action, data.action = data.action, None
    data.nla_tracks.new().strips.new("Strip", 1, action).scale = 2.0


def edit_bone():
    bpy.context.view_layer.objects.active = bpy.data.objects["Rig"]
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.data.objects["Rig"].data.edit_bones["B"].head.x = 0.1
    bpy.ops.object.mode_set(mode="OBJECT")


def sculpt(body):
    """A shape key that is applied, as where a corrective shape is worked on after a bake."""
    body.data.shape_keys.key_blocks["Bent"].data[3].co.z += 0.01
    body.data.update_tag()
    bpy.context.view_layer.update()


def node_input(body, value):
    modifier = body.modifiers["Nodes"]
    for name, old in node_inputs(modifier):
        if isinstance(old, float) and hasattr(modifier, "properties"):
            getattr(modifier.properties.inputs, name).value = value
        elif isinstance(old, float):
            modifier[name] = value


def other_parent(obj):
    """Another empty, that stands elsewhere, takes the place of the parent."""
    obj.parent = linked("Other")
    obj.parent.location.x = 0.2


PLACED = {
    "the place of Body": lambda cloth, body: setattr(body, "scale", (1.1, 1, 1)),
    "the place of Cloth": lambda cloth, body: setattr(cloth.location, "z", 1.5),
    "the place of Carrier": lambda cloth, body: setattr(cloth.parent.location, "z", 0.1),
    "the place of Other": lambda cloth, body: other_parent(cloth),
    "the place of Aim": lambda cloth, body: setattr(bpy.data.objects["Aim"].location, "x", 0.3),
    "the place of Wrap": lambda cloth, body: setattr(bpy.data.objects["Wrap"].location, "x", 0.3),
    "the place of Input": lambda cloth, body: setattr(bpy.data.objects["Input"].location, "x", 0.3),
    "the shape of Wrap": lambda cloth, body: shape("Wrap").vertices.add(1),
    "the shape of Cage": lambda cloth, body: setattr(shape("Cage").points[0].co_deform, "x", -0.7),
    "the shape of Input": lambda cloth, body: setattr(shape("Input").splines[0].bezier_points[1].co, "x", 0.7),
    "the pose of Rig": lambda cloth, body: pose(),
    "the shape keys of Body": lambda cloth, body: setattr(body.data.shape_keys.key_blocks["Fat"], "value", 0.5),
    "the sculpted shape keys of Body": lambda cloth, body: sculpt(body),
    "the bones of Rig": lambda cloth, body: edit_bone(),
    "the node inputs of Body": lambda cloth, body: node_input(body, 0.5),
    "the curves of the animation": lambda cloth, body: ease(body),
    "the modifiers of Body": lambda cloth, body: setattr(body.modifiers.new("D", "DISPLACE"), "strength", 0.1),
}


@pytest.mark.parametrize("word", PLACED)
def test_what_is_moved_without_keys_is_told(shot, word, found, cloth, body, baked):
    """At no frame, and not after saving and opening, is a bake stale of which nothing was changed."""
    prepared(cloth(), body())
    baked()
    for frame in (1, 5, 9):
        shot.frame_set(frame)
        assert found() == []
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    assert found() == []
    PLACED[word](cloth(), body())
    sentences = [p.sentence for p in found("WARNING") if p.object == "Cloth"]
    assert sentences == [f"Cloth was baked before you changed {word}"]


def test_what_strips_do_is_told(shot, found, cloth, body, baked):
    """An action that plays in a strip instead, and the strip that is drawn out."""
    prepared(cloth(), body())
    to_strip(body())
    baked()
    body().animation_data.nla_tracks[0].strips[0].scale = 3.0
    assert [p.sentence for p in found("WARNING")] == ["Cloth was baked before you changed the curves of the animation"]


def test_drivers_are_told_and_frames_that_they_look_at_are_not(shot, found, cloth, body, baked):
    driver = body().driver_add("location", 0).driver
    driver.expression, variable = "0.01 * frame", driver.variables.new()
    variable.name, target = "frame", variable.targets[0]
    target.id_type, target.data_path = "SCENE", "frame_current"
    target.id = shot
    baked()
    shot.frame_set(5)
    assert found("WARNING") == []
    driver.expression = "0.02 * frame"
    assert [p.sentence for p in found("WARNING")] == ["Cloth was baked before you changed the curves of the animation"]


def test_keys_of_what_a_bone_aims_at_are_told(shot, found, cloth, body, baked):
    prepared(cloth(), body())
    baked()
    bpy.data.objects["Aim"].keyframe_insert("location", frame=5)
    bpy.context.view_layer.update()
    assert [p.sentence for p in found("WARNING")] == ["Cloth was baked before you changed the animation"]


def test_other_names_change_no_bake(shot, found, cloth, body, baked):
    prepared(cloth(), body())
    baked()
    for obj in bpy.context.scene.objects:
        obj.name = f"My {obj.name}"
    assert found("WARNING") == []


def test_another_name_of_what_is_attached_to_and_met_changes_no_bake(shot, found, cloth, body, baked):
    """Both are told by names, which a bake of this release keeps."""
    obj, met = cloth(), bpy.data.collections.new("Met")
    met.objects.link(body())
    shot.collection.children.link(met)
    obj.taffeta_cloth.collision_collection = met
    obj.taffeta_cloth.attachments.add().body = obj.taffeta_cloth.ride.object = body()
    baked()
    body().name = "Skin"
    assert found("WARNING") == []
    obj.taffeta_cloth.attachments[0].weight = 0.5
    assert ["you changed Attachments" in p.sentence for p in found("WARNING")] == [True]


def test_key_that_only_a_frame_change_followed_is_told_by_preflight(shot, cloth, body, baked):
    """A script inserts it; no handler hears of that."""
    body().keyframe_insert("location", frame=1)
    baked()
    body().location.x = 0.5
    body().keyframe_insert("location", frame=8)
    shot.frame_set(2)
    problem_list.check_thoroughly(shot)
    told = [p.sentence for p in problem_list.check(shot, bpy.context.evaluated_depsgraph_get())]
    assert "Cloth was baked before you changed the animation" in told


def test_keys_that_a_script_edits_before_it_shows_a_frame_are_told_at_the_next_look(shot, found, cloth, baked):
    mass = cloth().taffeta_cloth.mass
    for frame in (1, 8):
        mass.keyframe_insert("value", frame=frame)
    baked()
    assert found("WARNING") == []
    (curve,) = keyed.curves(cloth())
    curve.keyframe_points[1].co[1] += 0.1
    shot.frame_set(2)
    assert [p.sentence for p in found("WARNING")] == ["Cloth was baked before you changed the animation"]


def test_bake_that_knows_no_places_is_not_stale(shot, found, body, baked):
    obj = baked()
    known = json.loads(obj.taffeta_cloth.fingerprint)
    old = {word: value for word, value in known.items() if not word.startswith(fingerprint.OF_PLACES)}
    assert len(old) < len(known)
    obj.taffeta_cloth.fingerprint = json.dumps(old)
    body().location.x = 0.1
    assert found() == []


def test_bake_from_before_frames_could_be_untangled_is_not_stale(shot, found, baked):
    obj = baked()
    known = json.loads(obj.taffeta_cloth.fingerprint)
    del known["Untangle Each Frame"], known["Simplify"], known["the curves of the animation"]
    obj.taffeta_cloth.fingerprint = json.dumps(known)
    assert found() == []
    shot.taffeta.untangle_each = True
    assert ["Untangle Each Frame" in p.sentence for p in found()] == [True]


def test_stale_after_the_topology_changed_in_place(shot, tmp_path, found, cloth, baked):
    baked()
    turn_quads(cloth())
    bpy.context.view_layer.update()
    assert any("you changed the mesh of Cloth" in p.sentence for p in found("WARNING"))


def test_stale_after_painting_a_map(shot, tmp_path, only, cloth, baked):
    obj = cloth()
    group = obj.vertex_groups.new(name="hem")
    group.add([1, 2], 0.5, "REPLACE")
    obj.taffeta_cloth.mass.source, obj.taffeta_cloth.mass.vertex_group = "GROUP", "hem"
    image = bpy.data.images.new("Map", 4, 4, float_buffer=True)
    obj.taffeta_cloth.damping.source, obj.taffeta_cloth.damping.image = "IMAGE", image
    attribute = obj.data.attributes.new("a", "FLOAT", "POINT")
    obj.taffeta_cloth.friction.source, obj.taffeta_cloth.friction.attribute = "ATTRIBUTE", "a"
    bpy.context.view_layer.update()
    baked()
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


@pytest.mark.parametrize("use", ["map", "pattern"])
def test_stale_after_another_uv_map(use, shot, only, cloth, baked):
    """An image lies elsewhere on the cloth then, and warp runs along another way."""
    obj = cloth()
    if use == "map":
        obj.taffeta_cloth.mass.source, obj.taffeta_cloth.mass.image = "IMAGE", bpy.data.images.new("Map", 4, 4)
    else:
        obj.taffeta_cloth.uv_map = "UVMap"
    baked()
    obj.data.uv_layers["UVMap"].uv[7].vector.x += 0.25
    only("WARNING", "Cloth", "you changed the UV map of Cloth")


def test_uv_map_that_nothing_lies_on_counts_no_more_than_in_a_bake_of_before_it_was_looked_at(
    shot, found, cloth, baked
):
    obj = baked()
    obj.data.uv_layers["UVMap"].uv[7].vector.x += 0.25
    assert found("WARNING") == []
    known = json.loads(obj.taffeta_cloth.fingerprint)
    del known["the UV map of Cloth"]
    obj.taffeta_cloth.fingerprint = json.dumps(known)
    assert found("WARNING") == []


def test_renaming_makes_nothing_stale(shot, tmp_path, found, cloth, baked):
    baked()
    cloth().name = "Cape"
    only_names = [p.sentence for p in found()]
    assert only_names == []


def test_fingerprint_of_another_hand_is_ignored(shot, tmp_path, found, baked):
    obj = baked()
    for text in ("", "{", "[1]", "null", "[" * 5000):
        obj.taffeta_cloth.fingerprint = text
        assert found() == []
