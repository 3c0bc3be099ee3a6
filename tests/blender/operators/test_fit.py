# SPDX-License-Identifier: GPL-3.0-or-later
"""Fabric and mesh are made to fit: of a new garment, by a finer mesh, by stiffer cloth."""

import bpy
import numpy as np
import pytest
from taffeta.operators.checks import problem_list
from taffeta.operators.read import modifier_stack
from taffeta.operators.read.fabrics import mesh_fit, preset_of, shipped
from taffeta.panels.mapped import FABRIC, MAPPED, ROWS, THREADS


def sheet(make, edge, name="Cloth", **settings):
    """A flat garment of 20 x 20 cells of so many metres, active and selected; without `settings` no cloth yet."""
    obj = make.grid(name, count=21, size=20 * edge)
    if settings:
        make.cloth(obj, **settings)
    for other in bpy.context.view_layer.objects:
        other.select_set(other == obj)
    bpy.context.view_layer.objects.active = obj
    return obj


def values(obj):
    cloth = obj.taffeta_cloth
    return {name: getattr(cloth, name).value for name in MAPPED} | {name: getattr(cloth, name) for name in THREADS}


# A new garment


def test_a_new_garment_is_of_cotton_as_thick_as_its_mesh_bears(make):
    obj = sheet(make, 0.012)
    assert bpy.ops.taffeta.cloth_add() == {"FINISHED"}
    cotton = shipped("Cotton")
    found = values(obj)
    wanted = cotton | {"thickness": 0.0012, "strain_limit": 0.0}
    assert {name: found[name] for name in cotton} == pytest.approx(wanted, rel=1e-6)
    assert preset_of(obj.taffeta_cloth)[0] == "Cotton"
    mass = obj.taffeta_cloth.mass
    assert (mass.minimum, mass.maximum) == (pytest.approx(0.15), pytest.approx(0.6)), "a map starts from cotton"


@pytest.mark.parametrize(
    ("edge", "thickness", "bending"),
    [
        (0.001, 0.000318, 1e-5),  # of a doll: the fabric's own
        (0.0005, 0.0005 / 3, 1e-5),  # finer than cotton is thick
        (0.025, 0.002, 6.8e-5),  # coarse: stiffer, and no thicker than before
        (0.1, 0.002, 1e-5),  # too coarse for any cloth: Preflight tells
    ],
)
def test_thickness_and_bending_go_by_the_mesh(make, edge, thickness, bending):
    obj = sheet(make, edge)
    bpy.ops.taffeta.cloth_add()
    assert values(obj)["thickness"] == pytest.approx(thickness, rel=1e-4)
    assert values(obj)["bending_stiffness"] == pytest.approx(bending)


def test_a_character_in_centimetres_gets_the_same(make, scene):
    scene.unit_settings.scale_length, scene.gravity = 0.01, (0.0, 0.0, -981.0)
    obj = sheet(make, 2.5)
    bpy.ops.taffeta.cloth_add()
    assert values(obj)["thickness"] == pytest.approx(0.002)
    assert values(obj)["bending_stiffness"] == pytest.approx(6.8e-5)


def test_a_garment_that_has_numbers_keeps_them(make):
    """Made cloth again, given a number by a script, painted, or from a file of old."""
    for change in (
        lambda cloth: setattr(cloth.friction, "value", 0.5),
        lambda cloth: setattr(cloth.mass, "maximum", 0.5),
        lambda cloth: setattr(cloth.thickness, "source", "GROUP"),
        lambda cloth: setattr(cloth, "poisson", 0.1),
    ):
        obj = sheet(make, 0.025)
        change(obj.taffeta_cloth)
        before = values(obj)
        assert bpy.ops.taffeta.cloth_add() == {"FINISHED"}
        assert values(obj) == before


def test_cloth_that_was_switched_on_by_a_script_or_long_ago_keeps_the_old_defaults(make, tmp_path):
    make.cloth(make.grid())
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "old.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "old.blend"))
    found = values(bpy.data.objects["Cloth"])
    assert found == {**{name: pytest.approx(ROWS[name].default) for name in MAPPED}, **THREADS}


def test_a_mesh_without_faces_becomes_cotton_too(make):
    obj = make.mesh("Cloth", [(0, 0, 0), (1, 0, 0)], [], edges=[(0, 1)])
    bpy.context.view_layer.objects.active = obj
    assert bpy.ops.taffeta.cloth_add() == {"FINISHED"}
    assert values(obj)["thickness"] == pytest.approx(shipped("Cotton")["thickness"])


# Stiffen


def test_stiffen_gives_what_fits_and_no_more(make, scene):
    obj = sheet(make, 0.025, mass=0.15)
    assert mesh_fit(obj, scene).is_limp
    assert bpy.ops.taffeta.stiffen(object="Cloth") == {"FINISHED"}
    bending = obj.taffeta_cloth.bending_stiffness
    assert bending.value == pytest.approx(6.8e-5) and bending.minimum == bending.value
    assert not mesh_fit(obj, scene).is_limp
    with pytest.raises(RuntimeError, match="fine enough"):
        bpy.ops.taffeta.stiffen(object="Cloth")
    assert bending.value == pytest.approx(6.8e-5)


def test_stiffen_keeps_the_contrast_of_a_map(make, scene):
    obj = sheet(make, 0.025, mass=0.15)
    bending = obj.taffeta_cloth.bending_stiffness
    bending.source, bending.minimum, bending.maximum = "GROUP", 2e-6, 4e-5
    bending.vertex_group = obj.vertex_groups.new(name="g").name
    obj.vertex_groups["g"].add(range(441), 0.5, "REPLACE")  # 21 uN m
    assert bpy.ops.taffeta.stiffen() == {"FINISHED"}
    assert (bending.minimum, bending.maximum) == (pytest.approx(2e-6 * 68 / 21), pytest.approx(4e-5 * 68 / 21))
    assert not mesh_fit(obj, scene).is_limp
    bending.minimum = bending.maximum = 0.0
    with pytest.raises(RuntimeError, match="Bending of 0"):
        bpy.ops.taffeta.stiffen()


def test_stiffen_makes_no_card_of_cloth(make):
    obj = sheet(make, 0.3, mass=0.15)
    with pytest.raises(RuntimeError, match="as stiff as card.*subdivide it"):
        bpy.ops.taffeta.stiffen(object="Cloth")
    assert obj.taffeta_cloth.bending_stiffness.value == pytest.approx(1e-5)


# Soften


def test_soften_lets_a_dolls_cloth_hang_as_far_as_its_mesh_can_show(make, scene):
    obj = sheet(make, 0.0025, mass=0.5, bending_stiffness=3e-5)
    assert bpy.ops.taffeta.soften(object="Cloth") == {"FINISHED"}
    bending = obj.taffeta_cloth.bending_stiffness
    assert bending.value == pytest.approx(2.3e-7) and not mesh_fit(obj, scene).is_limp
    with pytest.raises(RuntimeError, match="large enough for its fabric"):
        bpy.ops.taffeta.soften(object="Cloth")
    assert bending.value == pytest.approx(2.3e-7)


def test_soften_gives_a_thirtieth_of_the_size_as_bending_length(make, scene):
    obj = make.cloth(make.grid(count=61, size=0.05), mass=0.5, bending_stiffness=3e-5)
    bpy.context.view_layer.objects.active = obj
    assert bpy.ops.taffeta.soften() == {"FINISHED"}
    assert mesh_fit(obj, scene).bending_length == pytest.approx(0.05 / 30, rel=0.02), "two digits of Bending"


def test_soften_asks_for_a_finer_mesh_where_that_shows_no_more(make):
    obj = make.cloth(make.grid(count=5, size=0.05), mass=0.5, bending_stiffness=3e-5)
    bpy.context.view_layer.objects.active = obj
    with pytest.raises(RuntimeError, match="too coarse for a lower Bending; subdivide it first"):
        bpy.ops.taffeta.soften()
    assert obj.taffeta_cloth.bending_stiffness.value == pytest.approx(3e-5)


@pytest.mark.parametrize("verb", ["stiffen", "soften", "subdivide"])
def test_what_is_no_cloth_or_being_edited_is_told(make, verb):
    press = getattr(bpy.ops.taffeta, verb)
    with pytest.raises(RuntimeError, match="No Taffeta Cloth is selected"):
        press()
    sheet(make, 0.025, mass=0.15)
    with pytest.raises(RuntimeError, match="not a Taffeta Cloth"):
        press(object="Nobody")
    bpy.ops.object.mode_set(mode="EDIT")
    with pytest.raises(RuntimeError, match="not in Object Mode"):
        press(object="Cloth")
    bpy.ops.object.mode_set(mode="OBJECT")
    twin = make.cloth(make.grid("Twin"))
    twin.select_set(True)
    with pytest.raises(RuntimeError, match="2 cloths are selected"):
        press()


@pytest.mark.parametrize("verb", ["stiffen", "subdivide"])
def test_each_is_undone(make, verb):
    sheet(make, 0.025, mass=0.15)
    before = values(bpy.data.objects["Cloth"]), len(bpy.data.objects["Cloth"].data.vertices)
    bpy.ops.ed.undo_push(message="before")
    getattr(bpy.ops.taffeta, verb)(object="Cloth")
    bpy.ops.ed.undo_push(message=verb)
    obj = bpy.data.objects["Cloth"]
    after = values(obj), len(obj.data.vertices)
    assert after != before
    bpy.ops.ed.undo()
    obj = bpy.data.objects["Cloth"]
    assert (values(obj), len(obj.data.vertices)) == before
    assert "UNDO" in getattr(bpy.types, f"TAFFETA_OT_{verb}").bl_options


# Subdivide


def test_subdivide_halves_the_edges_and_keeps_the_shape_and_all_that_lies_on_it(make, scene):
    obj = sheet(make, 0.02, mass=0.15)
    obj.location.x, obj.scale = 3.0, (2.0, 2.0, 2.0)
    group = obj.vertex_groups.new(name="g")
    group.add(range(21), 0.5, "REPLACE")
    obj.data.attributes.new("a", "FLOAT", "POINT").data.foreach_set(
        "value", np.array([v.co.x for v in obj.data.vertices], np.float32)
    )
    obj.shape_key_add(name="Basis")
    key = obj.shape_key_add(name="Up", from_mix=False)
    for point in key.data:
        point.co.z += 0.3 + point.co.x
    key.value = 0.25
    bpy.context.view_layer.update()
    before = np.array([v.co for v in obj.data.vertices])
    edge = mesh_fit(obj, scene).edge
    assert bpy.ops.taffeta.subdivide(object="Cloth") == {"FINISHED"}
    mesh = obj.data
    assert (len(mesh.vertices), len(mesh.polygons)) == (41 * 41, 1600)
    assert mesh_fit(obj, scene).edge == pytest.approx(0.5 * edge)
    x = np.array([v.co for v in mesh.vertices])
    assert np.array_equal(x[:441], before), "vertices keep their numbers"
    assert np.abs(x[:, 2]).max() == 0.0 and np.abs(x).max() == np.abs(before).max()
    corner = np.array([loop.vertex_index for loop in mesh.loops])
    uv = np.array([d.vector for d in mesh.uv_layers["UVMap"].uv])
    assert np.allclose(uv, x[corner, :2] / 0.4 + 0.5, atol=1e-5)
    moved = np.array([p.co for p in mesh.shape_keys.key_blocks["Up"].data]) - x
    assert np.allclose(moved[:, 2], 0.3 + x[:, 0], atol=1e-5) and mesh.shape_keys.key_blocks["Up"].value == 0.25
    weights = {v.index: g.weight for v in mesh.vertices for g in v.groups if g.group == group.index and g.weight > 0}
    rim = np.flatnonzero(np.isclose(x[:, 1], x[:, 1].min()))
    assert all(weights[i] == pytest.approx(0.5) for i in rim)
    assert np.allclose([d.value for d in mesh.attributes["a"].data], x[:, 0], atol=1e-6)


def test_subdivide_takes_stiffening_back(make, scene):
    obj = sheet(make, 0.04)
    bpy.ops.taffeta.cloth_add()
    bending = obj.taffeta_cloth.bending_stiffness
    assert bending.value == pytest.approx(2.8e-4)
    problem_list.show(scene)
    session = bpy.context.window_manager.taffeta
    assert session.fabrics["Cloth"].verbs == "taffeta.subdivide"
    assert bpy.ops.taffeta.subdivide(object="Cloth") == {"FINISHED"}
    assert bending.value == bending.minimum == pytest.approx(3.5e-5) and not mesh_fit(obj, scene).is_limp
    bpy.ops.taffeta.subdivide(object="Cloth")
    assert bending.value == pytest.approx(1e-5), "cotton again"
    problem_list.show(scene)
    assert session.fabrics["Cloth"].verbs == ""
    bending.value = 2e-5
    bpy.ops.taffeta.subdivide(object="Cloth")
    assert bending.value == pytest.approx(2e-5), "chosen by the animator"
    session.problems.clear()
    session.fabrics.clear()


def test_subdivide_sews_the_new_vertices_too(make):
    """Two panels of 2 x 1 quads, three threads between them, and one of them with a dart."""
    x = [(i, j, 0) for j in (0.0, 1.0) for i in range(3)] + [(i, j, 0) for j in (2.0, 3.0) for i in range(3)]
    faces = [(0, 1, 4, 3), (1, 2, 5, 4), (6, 7, 10, 9), (7, 8, 11, 10)]
    obj = make.cloth(make.mesh("Cloth", x, faces, edges=[(3, 6), (4, 7), (5, 8)]))
    bpy.context.view_layer.objects.active = obj
    assert bpy.ops.taffeta.subdivide(object="Cloth") == {"FINISHED"}
    mesh = obj.data
    sides = {tuple(sorted(key)) for face in mesh.polygons for key in face.edge_keys}
    threads = [edge.vertices[:] for edge in mesh.edges if tuple(sorted(edge.vertices)) not in sides]
    ends = sorted(sorted(tuple(mesh.vertices[v].co) for v in thread) for thread in threads)
    assert ends == [[(i, 1.0, 0.0), (i, 2.0, 0.0)] for i in (0.0, 0.5, 1.0, 1.5, 2.0)]


def test_subdivide_sews_a_dart_down_to_its_tip(make):
    x = [(0, 0, 0), (-1, 2, 0), (1, 2, 0), (-3, 1, 0), (3, 1, 0)]  # the tip, the dart's sides, and beside them
    obj = make.cloth(make.mesh("Cloth", x, [(0, 1, 3), (0, 4, 2)], edges=[(1, 2)]))
    bpy.context.view_layer.objects.active = obj
    bpy.ops.taffeta.subdivide(object="Cloth")
    mesh = obj.data
    sides = {tuple(sorted(key)) for face in mesh.polygons for key in face.edge_keys}
    threads = [edge.vertices[:] for edge in mesh.edges if tuple(sorted(edge.vertices)) not in sides]
    ends = sorted(sorted(tuple(mesh.vertices[v].co) for v in thread) for thread in threads)
    assert ends == [[(-1.0, 2.0, 0.0), (1.0, 2.0, 0.0)], [(-0.5, 1.0, 0.0), (0.5, 1.0, 0.0)]]


@pytest.mark.parametrize("corners", [3, 4, 5, 6, 7])
def test_subdivide_cuts_faces_of_any_shape_also_where_a_thread_crosses_them(make, corners):
    angle = np.arange(corners) * 2 * np.pi / corners
    x = np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    obj = make.cloth(make.mesh("Cloth", x, [range(corners)], edges=[(0, 2)] if corners > 3 else []))
    obj.data.uv_layers.new(name="UVMap")
    for loop, uv in zip(obj.data.loops, obj.data.uv_layers[0].uv, strict=True):
        uv.vector = x[loop.vertex_index, :2]
    bpy.context.view_layer.objects.active = obj
    assert bpy.ops.taffeta.subdivide(object="Cloth") == {"FINISHED"}
    mesh = obj.data
    for loop, uv in zip(mesh.loops, mesh.uv_layers[0].uv, strict=True):
        assert np.allclose(uv.vector, mesh.vertices[loop.vertex_index].co[:2], atol=1e-6)
    assert len(mesh.vertices) >= 2 * corners and not mesh.validate()
    area = 0.5 * corners * np.sin(2 * np.pi / corners)
    assert sum(face.area for face in mesh.polygons) == pytest.approx(area, rel=1e-5)
    assert max(len(face.vertices) for face in mesh.polygons) <= 4


def test_a_rigged_garment_still_follows_its_rig(make):
    obj = sheet(make, 0.02, mass=0.15)
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    bone = rig.data.edit_bones.new("Bone")
    bone.head, bone.tail = (0, 0, 0), (0, 0, 1)
    bpy.ops.object.mode_set(mode="OBJECT")
    obj.vertex_groups.new(name="Bone").add(range(441), 1.0, "REPLACE")
    obj.modifiers.new("Armature", "ARMATURE").object = rig
    rig.pose.bones["Bone"].location = (0.0, 1.0, 0.0)
    assert bpy.ops.taffeta.subdivide(object="Cloth") == {"FINISHED"}
    assert np.allclose(make.world(obj)[:, 2], 1.0, atol=1e-5)


def test_subdivide_leaves_alone_what_it_would_spoil(make):
    obj = sheet(make, 0.025, mass=0.15)
    other = bpy.data.objects.new("Other", obj.data)
    bpy.context.scene.collection.objects.link(other)
    with pytest.raises(RuntimeError, match="shares its mesh"):
        bpy.ops.taffeta.subdivide(object="Cloth")
    bpy.data.objects.remove(other)
    smooth = obj.modifiers.new("Corrective", "CORRECTIVE_SMOOTH")
    smooth.rest_source = "BIND"
    bpy.ops.object.correctivesmooth_bind(modifier="Corrective")
    with pytest.raises(RuntimeError, match="Corrective of Cloth knows each of those that there are"):
        bpy.ops.taffeta.subdivide(object="Cloth")
    obj.modifiers.remove(smooth)
    obj.modifiers.new("Hook", "HOOK")
    with pytest.raises(RuntimeError, match="Hook of Cloth"):
        bpy.ops.taffeta.subdivide(object="Cloth")
    obj.modifiers["Hook"].vertex_group = obj.vertex_groups.new(name="g").name
    button = make.grid("Button", size=0.01)
    stick = button.modifiers.new("Sewn On", "SURFACE_DEFORM")
    stick.target = obj
    with bpy.context.temp_override(object=button):
        bpy.ops.object.surfacedeform_bind(modifier="Sewn On")
    assert stick.is_bound
    with pytest.raises(RuntimeError, match="Sewn On of Button"):
        bpy.ops.taffeta.subdivide(object="Cloth")
    assert len(obj.data.vertices) == 441
    bpy.data.objects.remove(button)
    obj.modifiers.new(modifier_stack.CACHE_NAME, "MESH_CACHE")
    assert bpy.ops.taffeta.subdivide(object="Cloth") == {"FINISHED"}, "a bake is made anew"
    obj.data.clear_geometry()
    with pytest.raises(RuntimeError, match="no faces"):
        bpy.ops.taffeta.subdivide(object="Cloth")


def test_preset_numbers_are_all_there():
    assert set(shipped("Cotton")) == {*FABRIC, *THREADS}


# Sheets of a solid


def test_a_modulus_gives_stretch_shear_and_bending(make):
    obj = sheet(make, 0.01, weft_stretch=2.0)
    cloth = obj.taffeta_cloth
    cloth.bending_stiffness.source, cloth.bending_stiffness.maximum = "GROUP", 3e-5
    assert bpy.ops.taffeta.fabric_modulus(modulus=1.5e6, sheet_thickness=2.0, poisson=0.5) == {"FINISHED"}
    found = values(obj)
    assert found["stretch_stiffness"] == pytest.approx(3000.0) and found["shear_stiffness"] == pytest.approx(1000.0)
    assert found["bending_stiffness"] == pytest.approx(1.5e6 * 8e-9 / 9.0)
    assert (cloth.model, cloth.poisson, cloth.weft_stretch) == ("FABRIC", 0.5, 1.0), "the model stays"
    low, high = cloth.bending_stiffness.minimum, cloth.bending_stiffness.maximum
    assert low == pytest.approx(found["bending_stiffness"]) and high == pytest.approx(3.0 * low), (
        "a map keeps its contrast"
    )
    obj.taffeta_cloth.enabled = False
    with pytest.raises(RuntimeError, match="No Taffeta Cloth is selected; select one in the viewport"):
        bpy.ops.taffeta.fabric_modulus()
