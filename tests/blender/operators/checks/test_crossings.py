# SPDX-License-Identifier: GPL-3.0-or-later
"""Crossings in the start pose: counted as a plain test of all pairs counts them, and selectable."""

import bpy
import numpy as np
import pytest
from mathutils import Matrix
from taffeta.operators.checks import crossings, problem_list


def crossing_scene(make):
    """A sheet through a ball, and a second one folded through itself."""
    make.cloth(make.grid(count=6))
    make.collider(make.ball(radius=0.3, rings=5, segments=8))
    x = np.array([(u, v, 0.0) for v in range(4) for u in range(4)], float)
    x[12:, 1] = -1.0  # the last row comes back below and up through the first strip
    x[8:12, 2] = -0.5
    x[12:, 2] = 0.5
    faces = [(4 * v + u, 4 * v + u + 1, 4 * v + u + 5, 4 * v + u + 4) for v in range(3) for u in range(3)]
    make.cloth(make.mesh("Folded", x, faces, location=(5, 0, 0)))


def naive_crossing_vertices(obj, other):
    """Vertices of triangles of `obj` that cross one of `other`, by intersecting every pair (segments and planes)."""

    def triangles(o):
        o.data.calc_loop_triangles()
        world = np.array([o.matrix_world @ vertex.co for vertex in o.data.vertices])
        return world, np.array([t.vertices for t in o.data.loop_triangles])

    def pierces(a, b, triangle):
        origin, u, v = triangle[0], triangle[1] - triangle[0], triangle[2] - triangle[0]
        matrix = np.column_stack((u, v, a - b))
        if abs(np.linalg.det(matrix)) < 1e-12:
            return False
        s, t, along = np.linalg.solve(matrix, a - origin)
        return s >= 0 and t >= 0 and s + t <= 1 and 0 <= along <= 1

    x, first = triangles(obj)
    y, second = triangles(other)
    hit = set()
    for one in first:
        for two in second:
            if obj is other and set(one) & set(two):
                continue
            p, q = x[one], y[two]
            if any(pierces(p[i], p[i - 1], q) or pierces(q[i], q[i - 1], p) for i in range(3)):
                hit.update(int(index) for index in one)
    return hit


def test_crossings_are_counted_and_can_be_selected(make, saved, capfd, cloth, body):
    crossing_scene(make)
    bpy.context.scene.frame_set(7)
    assert bpy.ops.taffeta.preflight() == {"FINISHED"}
    assert bpy.context.scene.frame_current == 7
    session = bpy.context.window_manager.taffeta
    sentences = {p.object_name: p.sentence for p in session.problems}
    through_body = naive_crossing_vertices(cloth(), body())
    through_itself = naive_crossing_vertices(bpy.data.objects["Folded"], bpy.data.objects["Folded"])
    assert through_body and through_itself
    assert "Cloth crosses Body at the start: " in sentences["Cloth"]
    assert f", {len(through_body)} of its vertices" in sentences["Cloth"]
    assert "Folded crosses itself" in sentences["Folded"]
    assert f", {len(through_itself)} of its vertices" in sentences["Folded"]
    assert "Cloth crosses Body" in capfd.readouterr().out
    for name, expected in (("Cloth", through_body), ("Folded", through_itself)):
        assert bpy.ops.taffeta.select_problem(object=name) == {"FINISHED"}
        assert bpy.context.mode == "EDIT_MESH" and bpy.context.view_layer.objects.active.name == name
        bpy.ops.object.mode_set(mode="OBJECT")
        selected = {v.index for v in bpy.data.objects[name].data.vertices if v.select}
        assert selected == expected
    assert bpy.ops.taffeta.select_problem(object="Body") == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    assert {v.index for v in body().data.vertices if v.select} == naive_crossing_vertices(body(), cloth())


def test_of_crossing_cloth_it_is_said_what_a_velocity_field_does(make, saved):
    """It goes on from tangled cloth; a body is kept out as ever."""
    crossing_scene(make)
    told = {}
    for contact in ("PAIRS", "VELOCITY_FIELD", "BOTH"):
        saved.taffeta.cloth_contact = contact
        assert bpy.ops.taffeta.preflight() == {"FINISHED"}
        problems = bpy.context.window_manager.taffeta.problems
        told[contact] = {p.object_name: p.remedy for p in problems if "at the start" in p.sentence}
    assert told["PAIRS"] == told["BOTH"] and "eased apart" in told["PAIRS"]["Folded"]
    assert "The velocity field bakes it all the same" in told["VELOCITY_FIELD"]["Folded"]
    assert told["VELOCITY_FIELD"]["Cloth"] == told["PAIRS"]["Cloth"], "it crosses a body"


def test_of_what_pins_hold_across_a_body_it_is_not_said_that_it_is_eased_apart(make, saved, cloth):
    """A cape's collar that is modelled into the neck stays there in each bake: the report said so, after it."""
    crossing_scene(make)
    group = cloth().vertex_groups.new(name="Collar")
    group.add(range(len(cloth().data.vertices)), 1.0, "REPLACE")
    cloth().taffeta_cloth.pin.source, cloth().taffeta_cloth.pin.vertex_group = "GROUP", "Collar"

    def row():
        assert bpy.ops.taffeta.preflight() == {"FINISHED"}
        problems = bpy.context.window_manager.taffeta.problems
        return next(p for p in problems if p.object_name == "Cloth" and "crosses Body" in p.sentence)

    assert "pins hold corners of all of these, and a bake leaves them" in row().remedy and row().verbs
    group.add(range(len(cloth().data.vertices)), 0.5, "REPLACE")
    assert "or bake: they are eased apart" in row().remedy


def test_crossings_ten_kilometres_away(make, saved):
    """float32 has steps of a millimetre there; a millimetre between two sheets is no crossing, one into it is."""
    place = (10000, 0, 10000)
    make.cloth(make.grid(count=9, location=place))
    ball = make.collider(make.ball(radius=0.1, rings=5, segments=8, location=place))
    ball.data.transform(Matrix.Translation((0, 0, 0.1002)))
    assert problem_list.check_thoroughly(saved) == []
    ball.data.transform(Matrix.Translation((0, 0, -0.0004)))
    assert len(problem_list.check_thoroughly(saved)) == 1


def test_neighbouring_triangles_do_not_count_as_crossing(make, saved):
    """Triangles that share a vertex always touch; a rough but whole sheet crosses nothing."""
    sheet = make.cloth(make.grid(count=12))
    x = np.array([vertex.co for vertex in sheet.data.vertices])
    x[:, 2] = np.random.default_rng(0).uniform(-0.2, 0.2, len(x))
    sheet.data.attributes["position"].data.foreach_set("vector", x.astype(np.float32).ravel())
    sheet.data.update()
    assert problem_list.check_thoroughly(saved) == []


def test_crossings_between_garments_look_at_the_start_pose(make, saved):
    make.cloth(make.grid(count=5))
    make.collider(make.ball(location=(0, 0, -3)))
    other = make.grid("Scarf", count=5, location=(0.1, 0, 0))
    other.rotation_euler.x = 1.2
    make.cloth(other)
    other.location.z = 0.03
    other.keyframe_insert("location", frame=1)
    other.location.z = 5.0
    other.keyframe_insert("location", frame=5)
    saved.frame_set(5)
    problems = problem_list.check_thoroughly(saved)
    assert ["Cloth crosses Scarf" in p.sentence for p in problems] == [True]
    assert saved.frame_current == 5
    saved.frame_start = 5
    assert problem_list.check_thoroughly(saved) == []


def test_select_without_a_known_crossing_says_so(make, saved):
    make.cloth(make.grid())
    with pytest.raises(RuntimeError, match="press Check Before Baking"):
        bpy.ops.taffeta.select_problem(object="Cloth")


def test_a_garment_wholly_inside_a_body_is_told(make, saved, capfd, cloth):
    """Its surface crosses nothing: only the body's inside knows."""
    make.cloth(make.grid(count=9, size=0.3, location=(3, 1, 2)))
    make.collider(make.ball(radius=0.5, rings=24, segments=48, location=(3, 1, 2.1)))
    problems = problem_list.check_thoroughly(saved)
    assert [(p.severity, p.object) for p in problems] == [("WARNING", "Cloth")]
    assert problems[0].sentence.startswith("Cloth is wholly inside Body at the start: all 81 vertices, up to 3")
    assert "flip the faces of Body" in problems[0].remedy
    depth = float(problems[0].sentence.split("up to ")[1].split(" cm")[0])
    assert 39.0 < depth <= 40.0  # its middle is 10 cm below the ball's, whose facets lie up to 5 mm inside
    assert bpy.ops.taffeta.preflight() == {"FINISHED"}
    assert "wholly inside" in capfd.readouterr().out
    assert bpy.ops.taffeta.select_problem(object="Cloth") == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    assert all(vertex.select for vertex in cloth().data.vertices)
    saved.unit_settings.scale_length = 0.01
    assert "up to 4 mm deep" in problem_list.check_thoroughly(saved)[0].sentence


def test_a_room_and_an_open_body_have_no_inside(make, saved):
    make.cloth(make.grid(count=9, size=0.3))
    ball = make.collider(make.ball(radius=0.5))
    assert len(problem_list.check_thoroughly(saved)) == 1
    ball.data.flip_normals()
    ball.data.update()
    assert problem_list.check_thoroughly(saved) == []


def test_what_is_partly_inside_is_counted(make, saved, cloth):
    make.cloth(make.grid(count=9, size=2.0))
    make.collider(make.ball(radius=0.6, rings=24, segments=48))
    x = np.array([vertex.co for vertex in cloth().data.vertices])
    inside = int((np.linalg.norm(x, axis=1) < 0.59).sum())
    assert 0 < inside < len(x)
    sentence = problem_list.check_thoroughly(saved)[0].sentence
    assert sentence.startswith("Cloth crosses Body") and f"; {inside} are inside, up to 59.7 cm deep" in sentence
    assert len(problem_list.check_thoroughly(saved)) == 1


def test_a_narrow_band_does_not_cross_itself(make, saved):
    """Triangles that lie cornerwise in a skirt's waistband have sides in one line, which Blender's tree takes for a crossing."""
    left = [
        (-0.01321416627615690, 0.03685379028320312, z) for z in (0.98299986124038, 0.97499990463256, 0.96699988842010)
    ]
    right = [(-0.01125838980078697, 0.03689445182681084, z) for _, _, z in left]
    left[0], left[2] = (left[0][0], 0.03685378655791283, left[0][2]), (left[2][0], 0.03685379400849342, left[2][2])
    right[1] = right[1][0], 0.03689445555210113, right[1][2]
    band = make.cloth(make.mesh("Band", left + right, [(3, 1, 0), (3, 4, 1), (4, 2, 1), (4, 5, 2)]))
    (surface,), _ = crossings.start_pose(saved, [band], [])
    assert (0, 2) in surface.tree.overlap(surface.tree), "else there is nothing to be corrected"
    assert not len(crossings.crossing_pairs(surface, surface))
