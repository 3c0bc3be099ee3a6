# SPDX-License-Identifier: GPL-3.0-or-later
"""The buttons of the preflight list: the fault is there, after the button it is gone, and Undo brings it back."""

import bpy
import numpy as np
import pytest
from taffeta.operators.checks import hold_up, problem_list
from taffeta.operators.read.measures import weights


@pytest.fixture
def shot(saved, make):
    """A sound scene, saved: a cloth above a body."""
    make.cloth(make.grid(count=9, location=(0, 0, 1)), bending_stiffness=1.0)
    make.collider(make.ball())
    assert found() == []
    return saved


def found():
    bpy.context.view_layer.update()
    problems = problem_list.latest(bpy.context.scene)
    return [problem for problem in problems if "taffeta.stiffen" not in problem.verbs]


def cloth():
    return bpy.data.objects["Cloth"]


def body():
    return bpy.data.objects["Body"]


def animate(obj, axis=0):
    for frame, place in ((1, 0.0), (10, 2.0)):
        obj.location[axis] = place
        obj.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(1)


def mended(verb, words):
    """Press the button of the one problem; that is gone, and there again after Undo."""
    problems = [problem for problem in found() if verb in problem.verbs]
    assert len(problems) == 1 and words in problems[0].sentence, found()
    bpy.ops.ed.undo_push(message="before")
    module, name = verb.split(".")
    assert getattr(getattr(bpy.ops, module), name)(object=problems[0].object) == {"FINISHED"}
    assert not [problem for problem in found() if verb in problem.verbs], found()
    bpy.ops.ed.undo_push(message=verb)
    bpy.ops.ed.undo()
    assert [problem.sentence for problem in found() if verb in problem.verbs] == [problems[0].sentence]
    bpy.ops.ed.redo()
    assert not [problem for problem in found() if verb in problem.verbs]


def test_save(scene, make, tmp_path):
    """The line goes with the file's first save, not a moment later."""
    make.cloth(make.grid())
    make.collider(make.ball())
    session = bpy.context.window_manager.taffeta
    problem_list.show(scene)
    assert [item.verbs for item in session.problems if "not saved" in item.sentence] == ["taffeta.fix_save"]
    with pytest.raises(RuntimeError, match="give a filepath"):
        bpy.ops.taffeta.fix_save()
    assert bpy.ops.taffeta.fix_save(filepath=str(tmp_path / "a.blend")) == {"FINISHED"}
    assert not [item.sentence for item in session.problems if "not saved" in item.sentence]


def test_saving_by_blender_itself_takes_the_line_away(scene, make, tmp_path):
    make.cloth(make.grid())
    problem_list.show(scene)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "b.blend"))
    assert not [p.sentence for p in bpy.context.window_manager.taffeta.problems if "not saved" in p.sentence]


@pytest.mark.parametrize(
    ("scale", "words"), [((2, 2, 2), "a scale of 2"), ((1, 2, 1), "unevenly"), ((-1, 1, 1), "negative")]
)
def test_scale(shot, make, scale, words):
    cloth().scale = scale
    before = make.world(cloth())
    normal = cloth().matrix_world.to_3x3() @ cloth().data.polygons[0].normal
    mended("taffeta.fix_scale", words)
    assert np.allclose(make.world(cloth()), before, atol=1e-6)
    assert tuple(cloth().scale) == (1.0, 1.0, 1.0) and normal.z * cloth().data.polygons[0].normal.z > 0


def test_scale_that_cannot_be_applied(shot):
    cloth().scale = 2.0, 2.0, 2.0
    cloth().keyframe_insert("scale", frame=1)
    with pytest.raises(RuntimeError, match="animated scale"):
        bpy.ops.taffeta.fix_scale(object="Cloth")


@pytest.mark.parametrize(
    ("scale", "words", "remedy"),
    [
        ((0.01, 0.01, 0.01), "a scale of 0.01 by its parent Rig", "Leave it"),
        ((1, 3, 1), "unevenly by its parent Rig", "Select Rig"),
    ],
)
def test_scale_of_a_parent_is_not_the_garments(shot, scale, words, remedy):
    rig = bpy.data.objects.new("Rig", None)
    shot.collection.objects.link(rig)
    cloth().parent, rig.scale = rig, scale
    if scale[0] == 0.01:
        cloth().data.transform(((100, 0, 0, 0), (0, 100, 0, 0), (0, 0, 100, 0), (0, 0, 0, 1)))
    (problem,) = found()
    assert words in problem.sentence and problem.remedy.startswith(remedy) and not problem.verbs


def test_modifiers(shot):
    cloth().modifiers.new("Fine", "SUBSURF").levels = 2
    cloth().modifiers["Fine"].render_levels = 2
    cloth().modifiers.new("Thick", "SOLIDIFY")
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    shot.collection.objects.link(rig)
    cloth().modifiers.new("Rig", "ARMATURE").object = rig
    problems = [problem for problem in found() if problem.severity == "ERROR"]
    assert len(problems) == 1
    mended("taffeta.fix_modifiers", "Fine changes its vertices before Rig")
    assert [modifier.name for modifier in cloth().modifiers] == ["Rig", "Fine", "Thick"]


def test_makers(shot):
    """All that makes the garment, in its order, and its weights with it; what refines it stays."""
    cloth().modifiers.new("Mirror", "MIRROR").use_axis = True, False, False
    cloth().modifiers["Mirror"].use_mirror_merge = False
    cloth().modifiers.new("Array", "ARRAY").count = 2
    cloth().modifiers.new("Fine", "SUBSURF")
    cloth().vertex_groups.new(name="Top").add([0], 1.0, "REPLACE")
    problems = [problem for problem in found() if "taffeta.fix_makers" in problem.verbs]
    assert ["Mirror" in problems[0].sentence, "Array" in problems[1].sentence] == [True, True] and len(problems) == 2
    assert bpy.ops.taffeta.fix_makers(object="Cloth") == {"FINISHED"}
    assert len(cloth().data.vertices) == 4 * 81 and weights(cloth(), "Top").sum() == 4.0
    assert [modifier.name for modifier in cloth().modifiers] == ["Fine"]
    assert not [problem for problem in found() if "taffeta.fix_makers" in problem.verbs]


def test_a_maker_before_the_rig(shot):
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    shot.collection.objects.link(rig)
    cloth().modifiers.new("Mirror", "MIRROR")
    cloth().modifiers.new("Armature", "ARMATURE").object = rig
    mended("taffeta.fix_makers", "Mirror makes a part of it before Armature")
    assert [modifier.name for modifier in cloth().modifiers] == ["Armature"]


def test_few_vertices(shot, make):
    bpy.ops.mesh.primitive_cube_add(location=(0, 0, 1))
    cube = bpy.context.object
    cube.name = "Cube"
    bpy.data.objects.remove(cloth())
    make.cloth(cube)
    told = [problem for problem in problem_list.latest(shot) if problem.object == "Cube"]
    assert [problem.verbs for problem in told] == [("taffeta.subdivide",)], "one line a fault"
    assert bpy.ops.taffeta.subdivide(object="Cube") == {"FINISHED"}
    assert not [problem for problem in found() if "vertices: too few" in problem.sentence]


def test_a_distance_for_larger_cloth(shot):
    """As long as the edges of the mesh; one that is keyed no button can mend."""
    body().taffeta_collider.aura = 0.5
    mended("taffeta.fix_distance", "Body keeps Cloth off by a Distance of 50 cm")
    assert body().taffeta_collider.aura == pytest.approx(1.0 / 8)
    with pytest.raises(RuntimeError, match="Body has a Distance that fits"):
        bpy.ops.taffeta.fix_distance(object="Body")
    body().taffeta_collider.aura = 0.5
    body().taffeta_collider.keyframe_insert("aura", frame=1)
    assert [problem.verbs for problem in found() if "keeps Cloth off" in problem.sentence] == [()]


def test_own_collider(shot):
    cloth().taffeta_collider.enabled = True
    mended("taffeta.fix_own_collider", "cloth and collider at once")
    assert cloth().taffeta_cloth.enabled


def test_no_collider(shot, make):
    body().taffeta_collider.enabled = False
    make.ball("Far", location=(30, 0, 0))
    mended("taffeta.fix_colliders", "There is no collider")
    assert body().taffeta_collider.enabled and not bpy.data.objects["Far"].taffeta_collider.enabled
    bpy.data.objects.remove(body())
    (problem,) = found()
    assert not problem.verbs, "nothing that could be one is near"


def test_no_aura(shot):
    body().taffeta_collider.aura = 0.0
    mended("taffeta.fix_aura", "Body has a Distance of 0")
    assert body().taffeta_collider.aura == pytest.approx(0.005)


def pin(height=0.52):
    """Pin one edge of the sheet to the top of the ball."""
    obj = cloth()
    group = obj.vertex_groups.new(name="pins")
    group.add([39, 40, 41], 1.0, "REPLACE")
    obj.location.z = height
    obj.data.update()
    obj.data.transform(((0.4, 0, 0, 0), (0, 0.4, 0, 0), (0, 0, 0.4, 0), (0, 0, 0, 1)))
    obj.data.update()
    obj.taffeta_cloth.pin.source, obj.taffeta_cloth.pin.vertex_group = "GROUP", "pins"
    obj.taffeta_cloth.pin.minimum, obj.taffeta_cloth.pin.maximum = 0.0, 1.0
    assert weights(obj, "pins").sum() == 3


def test_pins_beside_a_body_that_moves(shot, make):
    pin()
    animate(body())
    before = make.world(cloth())
    mended("taffeta.fix_pins", "pinned beside Body, which moves")
    assert np.allclose(make.world(cloth()), before, atol=1e-5)
    bpy.context.scene.frame_set(10)
    assert np.allclose(make.world(cloth()), before + (2.0, 0.0, 0.0), atol=1e-5)


def test_pins_on_a_body_that_bends(shot, make):
    pin()
    body().shape_key_add(name="Basis")
    key = body().shape_key_add(name="Up")
    for point in key.data:
        point.co.z += 1.0
    for frame, value in ((1, 0.0), (10, 1.0)):
        key.value = value
        key.keyframe_insert("value", frame=frame)
    shot.frame_set(1)
    before = make.world(cloth())
    mended("taffeta.fix_pins", "pinned beside Body, which moves")
    bpy.context.scene.frame_set(10)
    assert np.allclose(make.world(cloth()), before + (0.0, 0.0, 1.0), atol=1e-3)


@pytest.mark.parametrize("what", ["hidden", "far away", "no pins", "animated itself", "still"])
def test_pins_that_need_no_body(shot, what):
    if what != "no pins":
        pin(5.0 if what == "far away" else 0.52)
    if what != "still":
        animate(body())
    if what == "hidden":  # Blender evaluates no object that is disabled in viewports
        body().hide_viewport = True
    if what == "animated itself":
        animate(cloth())
    assert not [problem for problem in found() if "taffeta.fix_pins" in problem.verbs]


def test_nothing_moves(shot):
    shot.use_gravity = False
    mended("taffeta.fix_gravity", "Nothing will move")
    shot = bpy.context.scene
    shot.use_gravity = False
    shot.taffeta.wind = 1.0, 0.0, 0.0
    assert found() == []


def test_gravity_by_the_unit_scale(shot):
    """Of the world that is shown: -9.81 m/s2 in the Scene tab, and in the direction that it has."""
    shot.unit_settings.scale_length = 0.01
    mended("taffeta.fix_gravity_scale", "Gravity is 0.0981 m/s²")
    assert tuple(bpy.context.scene.gravity) == pytest.approx((0.0, 0.0, -981.0))


def test_gravity_that_is_turned_on_is_that_of_the_earth(shot):
    shot.unit_settings.scale_length, shot.gravity = 0.01, (0.0, 0.0, 0.0)
    cloth().scale = body().scale = (100.0,) * 3
    mended("taffeta.fix_gravity", "Nothing will move")
    assert tuple(bpy.context.scene.gravity) == pytest.approx((0.0, 0.0, -981.0))


def test_only_hanging(shot):
    pin()
    bpy.data.objects.remove(body())
    assert [p.sentence for p in found() if p.severity == "INFO"] == [
        "Cloth only hangs from its pins: nothing is animated, and there is no wind"
    ]


def test_what_falls_onto_what_hangs(shot, make):
    """It moves, though nothing is animated."""
    pin()
    bpy.data.objects.remove(body())
    make.cloth(make.grid("Other", count=9, location=(0, 0, 2)), bending_stiffness=1.0)
    assert not [p.sentence for p in found() if "only hangs" in p.sentence]


def test_time_stretching(shot):
    shot.render.frame_map_new = 200
    mended("taffeta.fix_remapping", "Time Stretching is on")


def test_dynamics(shot):
    shot.taffeta.dynamics = "VERLET"
    cloth().taffeta_cloth.stretch_stiffness.value = 1e8
    bpy.ops.taffeta.preflight()
    assert [p.verbs for p in found()] == [("taffeta.fix_dynamics",)]
    assert bpy.ops.taffeta.fix_dynamics(object="Cloth") == {"FINISHED"}
    assert found() == [] and shot.taffeta.dynamics == "XPBD"


def test_tangled_layers(shot, make):
    cloth().taffeta_cloth.layer = 0
    over = make.cloth(make.grid("Over", count=9, location=(0, 0, 1)), bending_stiffness=1.0)
    over.taffeta_cloth.layer = 1
    over.rotation_euler.y = 0.05
    bpy.ops.taffeta.preflight()
    assert [p.verbs for p in found() if "crosses" in p.sentence] == [("taffeta.fix_tangles",)]
    assert bpy.ops.taffeta.fix_tangles() == {"FINISHED"}
    assert not [p.sentence for p in found() if "crosses" in p.sentence]


def test_a_fault_has_one_line(shot):
    """A flat scale, faces without area: what follows from it is not told as well."""
    cloth().scale = 0.0, 0.0, 0.0
    bpy.ops.taffeta.preflight()
    assert [(p.severity, p.sentence) for p in found()] == [("ERROR", "Cloth has a scale of zero: it is flat")]
    cloth().scale = 1.0, 1.0, 1.0
    cloth().data.transform(((1, 0, 0, 0), (0, 0, 0, 0), (0, 0, 0, 0), (0, 0, 0, 1)))
    bpy.ops.taffeta.preflight()
    assert len([p for p in problem_list.latest(shot) if p.object == "Cloth"]) == 1


def test_what_holds_a_bake_up(shot):
    assert problem_list.hold_ups(shot) == []
    body().taffeta_collider.aura = 0.0
    assert problem_list.hold_ups(shot) == [], "doubtful, and no reason to ask"
    cloth().vertex_groups.new(name="g")
    cloth().taffeta_cloth.pin.source, cloth().taffeta_cloth.pin.vertex_group = "GROUP", "g"
    assert [p.severity for p in problem_list.hold_ups(shot)] == ["WARNING"]
    cloth().taffeta_cloth.mass.source = "IMAGE"
    assert [p.severity for p in problem_list.hold_ups(shot)] == ["ERROR", "WARNING"]


class Menu:
    """Takes down what is drawn."""

    def __init__(self):
        self.lines = []

    def label(self, text, icon="NONE"):
        assert icon in bpy.types.UILayout.bl_rna.functions["label"].parameters["icon"].enum_items.keys()
        self.lines.append(text)

    def separator(self):
        self.lines.append("")

    def operator(self, verb, text="", icon="NONE"):
        module, name = verb.split(".")
        known = getattr(getattr(bpy.ops, module), name).get_rna_type().properties
        button = type(
            "Button", (), {"__setattr__": lambda self, key, value: known[key] and self.__dict__.update({key: value})}
        )()
        self.lines.append((verb, text, button))
        return button


def test_the_menu_lets_through(shot):
    """A line a fault, its buttons, and a bake with the options that were asked for; a script's bake is not held up."""
    body().taffeta_collider.enabled = False
    cloth().vertex_groups.new(name="g")
    cloth().taffeta_cloth.pin.source, cloth().taffeta_cloth.pin.vertex_group = "GROUP", "g"
    menu = Menu()
    hold_up.draw(menu, problem_list.hold_ups(shot), {"resume": True, "from_frame": 3, "object": ""})
    verb, text, button = menu.lines[-1]
    assert "hold nothing" in menu.lines[0] and (verb, text) == ("taffeta.bake", "Bake Anyway")
    assert button.__dict__ == {"anyway": True, "resume": True, "from_frame": 3, "object": ""}
    shot.frame_end = 2
    assert bpy.ops.taffeta.bake("INVOKE_DEFAULT") == {"FINISHED"}


def test_a_button_for_an_object_asks_which(shot):
    with pytest.raises(RuntimeError, match="Say which object is to be mended: object='Name'"):
        bpy.ops.taffeta.fix_scale()
