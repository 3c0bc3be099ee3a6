# SPDX-License-Identifier: GPL-3.0-or-later
"""Preflight tells of cloth too limp for its mesh and offers what helps; the panel tells what a garment is made of."""

import bpy
import pytest
from taffeta.operators.checks import problem_list
from taffeta.operators.checks.fabric_rows import fabric_sentence
from taffeta.operators.read import measures
from taffeta.operators.read.fabrics import ASIDE

COTTON_EDGE = 0.0132  # [m] 0.7 bending lengths of 10 uN m at 0.15 kg/m2


@pytest.fixture
def limp(make, scene):
    """limp(edge, **settings): the only problem of a sheet of 20 cells with edges of so many metres, or None."""

    def look(edge, **settings):
        for obj in list(bpy.data.objects):
            bpy.data.objects.remove(obj)
        make.cloth(make.grid(count=21, size=20 * edge), **settings)
        bpy.context.view_layer.update()
        found = problem_list.check(scene, bpy.context.evaluated_depsgraph_get())
        found = [problem for problem in found if "taffeta.subdivide" in problem.verbs]
        assert len(found) < 2
        return found[0] if found else None

    return look


def test_a_mesh_too_coarse_for_its_fabric(limp):
    assert limp(0.97 * COTTON_EDGE) is None
    problem = limp(1.03 * COTTON_EDGE)
    assert (problem.severity, problem.object) == ("INFO", "Cloth")
    problem = limp(2.05 * COTTON_EDGE)
    assert (problem.severity, problem.object) == ("WARNING", "Cloth")
    problem = limp(0.025)
    assert problem.sentence.startswith("Cloth is too coarse for its fabric: its edges of 2.5 cm")
    assert "up to 1.33 cm" in problem.sentence and "68 µN m" in problem.remedy
    assert problem.verbs == ("taffeta.subdivide", "taffeta.stiffen")


def test_a_mesh_for_which_cloth_would_have_to_be_card_can_only_be_subdivided(limp):
    assert limp(0.3).verbs == ("taffeta.subdivide",)


def test_stiffer_and_lighter_cloth_and_less_gravity_allow_longer_edges(limp, scene):
    assert limp(0.025, bending_stiffness=7e-5) is None
    assert limp(0.025, mass=0.02) is None
    scene.gravity = (0.0, 0.0, -1.0)
    assert limp(0.025) is None
    scene.use_gravity = False
    assert limp(1.0) is None


def test_sizes_are_those_in_the_world(limp, scene):
    """Object scale and unit scale count: a character in centimetres."""
    assert limp(2.5) is not None
    scene.unit_settings.scale_length, scene.gravity = 0.01, (0.0, 0.0, -981.0)
    assert "edges of 2.5 cm" in limp(2.5).sentence
    assert limp(1.0) is None
    bpy.data.objects["Cloth"].scale = (2.0, 2.0, 2.0)
    bpy.context.view_layer.update()
    found = problem_list.check(scene, bpy.context.evaluated_depsgraph_get())
    assert any("edges of 2 cm" in problem.sentence for problem in found)


def test_edges_are_measured_anew_when_they_change_and_not_when_the_garment_turns(limp, scene, monkeypatch):
    limp(0.012)
    obj, calls = bpy.data.objects["Cloth"], []
    measured = measures.edge_quantile
    monkeypatch.setattr(measures, "edge_quantile", lambda *given: calls.append(1) or measured(*given))
    first = fabric_sentence(obj, scene)
    obj.rotation_euler = (0.3, 0.2, 0.1)
    bpy.context.view_layer.update()
    assert fabric_sentence(obj, scene) == first and not calls
    obj.data.transform(((2, 0, 0, 0), (0, 2, 0, 0), (0, 0, 2, 0), (0, 0, 0, 1)))
    obj.data.update()
    bpy.context.view_layer.update()
    assert fabric_sentence(obj, scene).endswith("has 2.4 cm") and calls


def test_a_map_counts_by_most_of_the_cloth(limp):
    limp(0.025)
    obj = bpy.data.objects["Cloth"]
    bending, group = obj.taffeta_cloth.bending_stiffness, obj.vertex_groups.new(name="stiff")
    bending.source, bending.vertex_group, bending.minimum, bending.maximum = "GROUP", "stiff", 1e-5, 7e-5

    def is_limp():
        obj.data.update()
        bpy.context.view_layer.update()
        found = problem_list.check(bpy.context.scene, bpy.context.evaluated_depsgraph_get())
        return any("taffeta.subdivide" in problem.verbs for problem in found)

    group.add(range(200), 1.0, "REPLACE")  # of 441
    assert is_limp()
    bending.invert = True
    assert not is_limp()
    bending.source = "IMAGE"  # nobody looks at that while you work: its stiffest end counts
    assert not is_limp()
    bending.maximum = 6e-5
    assert is_limp()


def boards(scene):
    bpy.context.view_layer.update()
    found = problem_list.check(scene, bpy.context.evaluated_depsgraph_get())
    return [problem for problem in found if "stand like a board" in problem.sentence]


def test_a_stiff_fabric_on_a_garment_of_a_dolls_size(make, scene):
    """Leather drops by 41.5 degrees where 3.7 cm of it hang over: a skirt of 5 cm on a doll stood off like a plate, and nothing told."""
    obj = make.cloth(make.grid("Skirt", count=21, size=0.05))
    bpy.context.view_layer.objects.active = obj
    bpy.ops.script.execute_preset(
        filepath=bpy.utils.preset_find("Leather", "taffeta_fabric"), menu_idname="TAFFETA_PT_fabric_presets"
    )
    (problem,) = boards(scene)
    assert (problem.severity, problem.object) == ("WARNING", "Skirt")
    assert problem.sentence.startswith("Skirt is too small for Leather: its 5 cm stand like a board, from 7.32 cm on")
    assert problem.remedy.startswith("Give it a Bending of 0.23 µN m") and problem.verbs == ("taffeta.soften",)
    bending = obj.taffeta_cloth.bending_stiffness
    bending.keyframe_insert("value", frame=1)
    assert boards(scene)[0].verbs == ()
    obj.animation_data_clear()
    obj.scale = (1.5, 1.5, 1.5)
    assert boards(scene) == []


def test_what_is_meant_to_stand_is_not_told(make, scene):
    """Card, rigid things, and buttons that are tacked to a coat; nor anything where there is no gravity."""
    obj = make.cloth(make.grid("Button", count=6, size=0.018))
    assert len(boards(scene)) == 1
    coat = make.cloth(make.grid("Coat", count=30, size=0.3, location=(0.0, 0.0, -0.003)))
    bpy.context.view_layer.objects.active = obj
    assert bpy.ops.taffeta.attach(object="Button", body=coat.name, vertices="NEAR", reach=5.0) == {"FINISHED"}
    assert boards(scene) == []
    assert bpy.ops.taffeta.detach(object="Button", index=0) == {"FINISHED"} and len(boards(scene)) == 1
    scene.use_gravity = False
    assert boards(scene) == []
    scene.use_gravity, obj.taffeta_cloth.bending_stiffness.value = True, 2e-3
    assert boards(scene) == []
    obj.taffeta_cloth.bending_stiffness.value, obj.taffeta_cloth.model = 1e-5, "RIGID"
    assert boards(scene) == []


def test_the_list_and_the_fabric_panel_show_it(limp):
    limp(0.025)
    problem_list.show(bpy.context.scene)
    session = bpy.context.window_manager.taffeta
    shown = [item for item in session.problems if "taffeta.subdivide" in item.verbs]
    assert [item.verbs for item in shown] == ["taffeta.subdivide taffeta.stiffen"]
    assert session.fabrics["Cloth"].sentence == fabric_sentence(bpy.data.objects["Cloth"], bpy.context.scene)
    session.problems.clear()
    session.fabrics.clear()


def test_the_sentence_names_the_preset_by_its_numbers(limp, scene):
    limp(0.012)
    obj = bpy.data.objects["Cloth"]
    bpy.context.view_layer.objects.active = obj
    assert fabric_sentence(obj, scene) == "A fabric of its own: for edges up to 1.33 cm. This mesh has 1.2 cm"
    for name in ("Silk", "Wool_Coat"):
        path = bpy.utils.preset_find(name, "taffeta_fabric")
        bpy.ops.script.execute_preset(filepath=path, menu_idname="TAFFETA_PT_fabric_presets")
        assert fabric_sentence(obj, scene).startswith(f"{name.replace('_', ' ')}: for edges up to ")
    obj.taffeta_cloth.thickness.value = 0.003
    assert fabric_sentence(obj, scene).startswith("Wool Coat: ")
    obj.taffeta_cloth.bending_stiffness.value = 1e-4
    assert fabric_sentence(obj, scene).startswith("Wool Coat with a Bending of 100 µN m instead of 65 µN m: ")
    obj.taffeta_cloth.mass.value = 0.3
    assert fabric_sentence(obj, scene).startswith("Wool Coat, changed: ")
    obj.taffeta_fabric.chosen = ""
    assert fabric_sentence(obj, scene).startswith("A fabric of its own: ")


def test_an_own_preset_is_named_too(limp, scene, tmp_path):
    folder = tmp_path / "presets" / "taffeta_fabric"
    folder.mkdir(parents=True)
    (folder / "My_Tulle.py").write_text(
        "import bpy\ncloth = bpy.context.object.taffeta_cloth\n\n"
        + "".join(f"cloth.{name}.value = {value}\n" for name, value in TULLE.items())
    )
    limp(0.01, **TULLE)
    bpy.utils.register_preset_path(str(tmp_path))
    try:
        assert fabric_sentence(bpy.data.objects["Cloth"], scene).startswith("My Tulle: ")
    finally:
        bpy.utils.unregister_preset_path(str(tmp_path))


@pytest.mark.parametrize(
    "text",
    ["cloth.mass.value = 0.02\n", "", "cloth.mass.value = 0.0.2\n", "\xff\xfe", None],
    ids=["half", "empty", "no number", "no text", "no file"],
)
def test_a_preset_that_says_little_or_nothing_names_nothing(limp, scene, tmp_path, text):
    """Half of one: what an older Taffeta or an animator's hand wrote; it must not stop the list."""
    folder = tmp_path / "presets" / "taffeta_fabric"
    folder.mkdir(parents=True)
    others = "".join(f"cloth.{name}.value = {value}\n" for name, value in TULLE.items() if name not in ("mass", *ASIDE))
    if text is None:
        (folder / "Odd.py").symlink_to(folder / "gone.py")
    else:
        (folder / "Odd.py").write_bytes((others if text else "").encode() + text.encode("latin-1"))
    limp(0.01, **TULLE)
    bpy.utils.register_preset_path(str(tmp_path))
    try:
        assert fabric_sentence(bpy.data.objects["Cloth"], scene).startswith("A fabric of its own: ")
        assert problem_list.show(scene)
    finally:
        bpy.utils.unregister_preset_path(str(tmp_path))
        for items in (bpy.context.window_manager.taffeta.problems, bpy.context.window_manager.taffeta.fabrics):
            items.clear()


TULLE = {"mass": 0.02, "thickness": 2e-4, "stretch_stiffness": 150.0, "shear_stiffness": 12.0,
         "bending_stiffness": 1e-6, "damping": 1.0, "friction": 0.31}  # fmt: skip


def test_a_garment_without_faces_or_in_edit_mode_is_not_looked_at(limp, scene):
    limp(0.025)
    obj = bpy.data.objects["Cloth"]
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode="EDIT")
    assert fabric_sentence(obj, scene) == "A fabric of its own"
    bpy.ops.object.mode_set(mode="OBJECT")
    obj.data.clear_geometry()
    assert fabric_sentence(obj, scene) == "A fabric of its own"
