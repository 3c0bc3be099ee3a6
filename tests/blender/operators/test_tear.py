# SPDX-License-Identifier: GPL-3.0-or-later
"""Mark and clear tear lines in Edit Mode; a marked garment baked, played and opened again."""

import json

import bmesh
import bpy
import ipctk
import numpy as np
import pytest
import weft_picture
from edit_mode import corners, select
from taffeta.operators.checks import problem_list
from taffeta.operators.read import arrays, mesh_io, pattern_size, sampling, tear_lines

COUNT, SIDE = 7, 0.24


@pytest.fixture
def strip(saved, make):
    """A square sheet whose two sides are held, and drawn apart by a tenth until frame 8; its middle column is selected."""
    obj = make.cloth(make.grid("Strip", COUNT, SIDE), thickness=1e-3)
    x = np.array([vertex.co for vertex in obj.data.vertices])
    held = np.flatnonzero(np.abs(x[:, 0]) > 0.49 * SIDE)
    obj.vertex_groups.new(name="held").add(held.tolist(), 1.0, "REPLACE")
    obj.taffeta_cloth.pin.source, obj.taffeta_cloth.pin.vertex_group = "GROUP", "held"
    obj.shape_key_add(name="Basis")
    key = obj.shape_key_add(name="Apart")
    for vertex in held:
        key.data[vertex].co.x *= 1.1
    for frame, value in ((1, 0.0), (8, 1.0)):
        key.value = value
        key.keyframe_insert("value", frame=frame)
    bpy.context.scene.taffeta.air_drag = 0.0
    bpy.context.view_layer.objects.active = obj
    select(obj, lambda a, b: abs(a.x) < 1e-6 and abs(b.x) < 1e-6)
    return obj


def test_a_line_is_cut_and_merged_again(strip):
    before = corners(strip)
    assert len(strip.data.vertices) == COUNT**2
    bpy.ops.object.mode_set(mode="EDIT")
    assert bpy.ops.taffeta.tear_mark(strength=150.0) == {"FINISHED"}
    assert corners(strip) == before and len(strip.data.vertices) == COUNT**2 + COUNT
    edges, strength = tear_lines.marked(strip.data)
    assert len(edges) == 2 * (COUNT - 1) and (strength == 150.0).all()
    assert not [p for p in problem_list.latest(bpy.context.scene) if "taffeta.fix_weld" in p.verbs]
    bpy.ops.object.mode_set(mode="EDIT")
    assert bpy.ops.taffeta.tear_clear() == {"FINISHED"}
    assert (
        corners(strip) == before and len(strip.data.vertices) == COUNT**2 and not len(tear_lines.marked(strip.data)[0])
    )


def test_each_edge_is_told_once_though_it_is_two(strip, capfd):
    """Marked, marked again and cleared; the border beside it, which cannot tear, is no part of it."""
    bpy.ops.object.mode_set(mode="EDIT")
    for verb, words in (("tear_mark", "tear from"), ("tear_mark", "tear from"), ("tear_clear", "do not tear")):
        for edge in bmesh.from_edit_mesh(strip.data).edges:
            x = [vertex.co.x for vertex in edge.verts]
            edge.select_set(max(map(abs, x)) < 1e-6 or max(x) < -0.49 * SIDE)
        assert getattr(bpy.ops.taffeta, verb)() == {"FINISHED"}
        assert f"Info: {COUNT - 1} edges of Strip {words}" in capfd.readouterr().out


def test_free_tearing_asks_for_edit_mode_and_no_more(strip):
    bpy.ops.object.mode_set(mode="OBJECT")
    for verb, words in (("tear_free", "Switch to Edit Mode first"), ("tear_mark", "Go to Edit Mode and select edges")):
        with pytest.raises(RuntimeError, match=words):
            getattr(bpy.ops.taffeta, verb)()


def test_what_cannot_open_is_refused_and_the_mesh_kept(strip):
    def one(a, b):
        return abs(a.x) < 1e-6 and abs(b.x) < 1e-6 and abs(a.y + b.y - 0.04) < 0.01

    before = corners(strip)
    select(strip, one)
    with pytest.raises(RuntimeError, match="Strip: what is selected ends within the cloth after one edge"):
        bpy.ops.taffeta.tear_mark()
    bpy.ops.mesh.select_all(action="DESELECT")
    with pytest.raises(RuntimeError, match="Strip: no edge between faces is selected"):
        bpy.ops.taffeta.tear_mark()
    with pytest.raises(RuntimeError, match="Strip: no tear line is selected"):
        bpy.ops.taffeta.tear_clear()
    assert corners(strip) == before and not len(tear_lines.marked(strip.data)[0])
    assert not bpy.ops.taffeta.tear_mark.poll()


def gaps(make, obj):
    """How far apart the two vertices of each place of the line are in this frame."""
    x = make.world(obj)
    rest = np.array([vertex.co for vertex in obj.data.vertices])
    line = np.flatnonzero(np.abs(rest[:, 0]) < 1e-6)
    order = line[np.argsort(rest[line, 1], kind="stable")].reshape(-1, 2)
    return np.linalg.norm(x[order[:, 0]] - x[order[:, 1]], axis=1)


def test_a_bake_holds_until_it_tears_and_plays_as_one_mesh(strip, make):
    scene = bpy.context.scene
    bpy.ops.taffeta.tear_mark(strength=100.0)  # 5 % of 2000 N/m, of the tenth that it is drawn apart by
    bpy.ops.object.mode_set(mode="OBJECT")
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    assert json.loads(strip.taffeta_cloth.report_json)["torn"] == COUNT
    held = []
    for frame in range(1, 11):
        scene.frame_set(frame)
        held.append(gaps(make, strip).max() < 1e-7)
        assert len(make.world(strip)) == COUNT**2 + COUNT
    assert held == [True] * sum(held) + [False] * (10 - sum(held)) and 3 <= sum(held) <= 6
    assert gaps(make, strip).min() > 0.005, "drawn apart by 24 mm, but for what hangs slack"
    assert "Tear Lines" not in problem_list.stale(strip, scene, [])
    strip.taffeta_cloth.tear.run_on = 0.5
    assert "Tear Lines" in problem_list.stale(strip, scene, [])
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    bpy.context.scene.frame_set(10)
    assert gaps(make, bpy.data.objects["Strip"]).min() > 0.005


@pytest.mark.parametrize(("ending", "read"), [(".abc", "alembic_import"), (".usdc", "usd_import")])
def test_a_tear_comes_back_from_one_file(strip, make, tmp_path, ending, read):
    """The mesh has all its vertices from the start, whatever opens."""
    scene = bpy.context.scene
    bpy.ops.taffeta.tear_mark(strength=100.0)
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.taffeta.bake()
    assert bpy.ops.taffeta.export(filepath=str(tmp_path / f"torn{ending}"), object="Strip") == {"FINISHED"}
    before = set(scene.objects)
    assert getattr(bpy.ops.wm, read)(filepath=str(tmp_path / f"torn{ending}"), set_frame_range=False) == {"FINISHED"}
    (back,) = (obj for obj in set(scene.objects) - before if obj.type == "MESH")
    for frame in (1, 4, 10):
        scene.frame_set(frame)
        assert len(make.world(back)) == COUNT**2 + COUNT and np.abs(make.world(back) - make.world(strip)).max() < 1e-5
    assert gaps(make, strip).min() > 0.005, "it is torn by then"


def test_a_keyed_hold_lets_go(strip, make):
    scene = bpy.context.scene
    bpy.ops.taffeta.tear_mark(strength=1e6)
    bpy.ops.object.mode_set(mode="OBJECT")
    for frame, value in ((5, 1.0), (6, 0.0)):
        strip.taffeta_cloth.tear.hold = value
        strip.taffeta_cloth.tear.keyframe_insert("hold", frame=frame)
    assert not [p for p in problem_list.latest(scene) if "hold" in p.sentence.lower() and "key" in p.sentence.lower()]
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    for frame, is_open in ((5, False), (8, True)):
        scene.frame_set(frame)
        assert (gaps(make, strip) > 1e-4).all() == is_open


def test_hostile_strengths_are_told_or_left_alone(strip):
    bpy.ops.taffeta.tear_mark()
    bpy.ops.object.mode_set(mode="OBJECT")
    strip.data.attributes[tear_lines.STRENGTH].data[0].value = float("nan")
    scene = bpy.context.scene
    order = [strip]
    with sampling.posed(scene, order, []):
        garment = mesh_io.read_garment(strip, bpy.context.evaluated_depsgraph_get(), scene)
    assert np.isnan(garment.tear_strength).any()
    with pytest.raises(RuntimeError, match="'Strip': the strength of a tear line is nan"):
        bpy.ops.taffeta.bake()
    strip.data.attributes.remove(strip.data.attributes[tear_lines.STRENGTH])
    strip.data.attributes.new(tear_lines.STRENGTH, "INT", "POINT")
    assert not tear_lines.read(strip)


def test_free_tearing_marks_threads_or_all_and_leaves_what_is_marked(strip):
    """A grid has threads along both axes; turned by 45 degrees in its pattern none; earlier lines keep their strength."""
    bpy.ops.taffeta.tear_mark(strength=7.0)
    inner = 2 * COUNT * (COUNT - 1) - 4 * (COUNT - 1)
    assert bpy.ops.taffeta.tear_free(strength=300.0) == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    _, strength = tear_lines.marked(strip.data)
    assert (strength == 7.0).sum() == 2 * (COUNT - 1) and (strength == 300.0).sum() == 2 * (inner - (COUNT - 1))
    assert len(strip.data.vertices) == 4 * (COUNT - 1) ** 2, "each quad has corners of its own"
    bpy.ops.object.mode_set(mode="EDIT")
    with pytest.raises(RuntimeError, match="Strip has no edge between faces along the threads that may tear"):
        bpy.ops.taffeta.tear_free()


def test_threads_are_those_of_the_pattern(strip):
    bpy.ops.object.mode_set(mode="OBJECT")
    layer = strip.data.uv_layers[0]
    for each in layer.uv:
        u, v = each.vector
        each.vector = (u + v, u - v)
    strip.taffeta_cloth.uv_map = layer.name
    bpy.ops.object.mode_set(mode="EDIT")
    with pytest.raises(RuntimeError, match="along the threads that may tear; take all edges, or choose a Pattern"):
        bpy.ops.taffeta.tear_free()
    assert len(strip.data.vertices) == COUNT**2
    assert bpy.ops.taffeta.tear_free(along="ALL") == {"FINISHED"}


def test_a_freely_torn_sheet_opens_where_it_is_pulled_and_nothing_crosses(strip, make):
    """Drawn apart by a tenth along x: it tears along y. Another program counts, on the frame's triangles."""
    assert bpy.ops.taffeta.tear_free(strength=100.0) == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    assert json.loads(strip.taffeta_cloth.report_json)["torn"] >= COUNT
    faces = np.array([face.vertices for face in strip.data.polygons])
    faces = np.concatenate([faces[:, [0, 1, 2]], faces[:, [0, 2, 3]]])
    for frame in (4, 6, 8, 10):
        bpy.context.scene.frame_set(frame)
        x = make.world(strip)
        rest = np.array([vertex.co for vertex in strip.data.vertices])
        _, place = np.unique(np.round(rest, 6), axis=0, return_inverse=True)
        together = np.linalg.norm(x[:, None] - x[None], axis=2) < 1e-9
        one = np.where(together & (place[:, None] == place[None]), np.arange(len(x)), len(x)).min(axis=1)
        mesh = ipctk.CollisionMesh(x, ipctk.edges(one[faces]), one[faces])
        assert not ipctk.has_intersections(mesh, x), f"frame {frame}"


def test_a_line_along_the_warp_has_the_strength_of_the_weft(strip):
    """Warp along x: an edge along x parts weft threads, 3 times as strong; one along y parts the warp; a diagonal has the mean."""
    bpy.ops.object.mode_set(mode="OBJECT")
    strip.taffeta_cloth.uv_map = strip.data.uv_layers[0].name
    pattern = strip.data.uv_layers[0]
    for loop in strip.data.loops:
        pattern.uv[loop.index].vector = strip.data.vertices[loop.vertex_index].co.xy
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.quads_convert_to_tris()
    assert bpy.ops.taffeta.tear_free(strength=100.0, weft=3.0, along="ALL") == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    ends, strength = tear_lines.marked(strip.data)
    x = np.array([vertex.co for vertex in strip.data.vertices])
    way = np.abs(x[ends[:, 1]] - x[ends[:, 0]])
    slope = np.degrees(np.arctan2(way[:, 1], way[:, 0])).round()
    assert set(slope) == {0.0, 45.0, 90.0}
    for angle, wanted in ((0.0, 300.0), (45.0, 200.0), (90.0, 100.0)):
        assert strength[slope == angle] == pytest.approx(wanted, rel=1e-4), angle


def paint(strip, weight):
    """A group whose weights are a function of y."""
    bpy.ops.object.mode_set(mode="OBJECT")
    group = strip.vertex_groups.new(name="Worn")
    for vertex in strip.data.vertices:
        group.add([vertex.index], weight(vertex.co.y), "REPLACE")
    bpy.ops.object.mode_set(mode="EDIT")


@pytest.mark.parametrize("operator", ["tear_mark", "tear_free"])
def test_a_painted_strength_is_that_of_the_mean_of_an_edge_s_ends(strip, operator):
    """Weights grow from 0 to 1 along the line: 1/12, 3/12 and so on of the strength."""
    paint(strip, lambda y: y / SIDE + 0.5)
    assert getattr(bpy.ops.taffeta, operator)(strength=120.0, painted="Worn") == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    ends, strength = tear_lines.marked(strip.data)
    x = np.array([vertex.co for vertex in strip.data.vertices])
    middle = x[ends].mean(axis=1)[:, 1]
    assert len(ends) and strength == pytest.approx(np.maximum(120.0 * (middle / SIDE + 0.5), 0.12), rel=1e-4)


def test_what_is_painted_weak_tears_and_the_rest_holds(strip):
    paint(strip, lambda y: 1.0 if y > 0.0 else 0.002)
    bpy.ops.taffeta.tear_mark(strength=1e5, painted="Worn")
    bpy.ops.object.mode_set(mode="OBJECT")
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    torn = json.loads(strip.taffeta_cloth.report_json)["torn"]
    assert 0 < torn < COUNT, "the upper half holds"
    bpy.ops.object.mode_set(mode="EDIT")
    with pytest.raises(RuntimeError, match="Strip has no vertex group Gone; choose one that is painted"):
        bpy.ops.taffeta.tear_free(painted="Gone")


def test_weft_without_a_pattern_is_refused(strip):
    with pytest.raises(RuntimeError, match="Strip has no Pattern that tells warp and weft"):
        bpy.ops.taffeta.tear_mark(strength=100.0, weft=2.0)
    bpy.ops.object.mode_set(mode="OBJECT")
    assert tear_lines.STRENGTH not in strip.data.attributes


@pytest.mark.parametrize("free", [False, True])
def test_a_garment_that_has_its_size_from_the_pattern_holds(strip, free):
    """Cut from border to border, or everywhere: what was one piece is one in the pattern, and stays one until it is pulled."""
    bpy.ops.object.mode_set(mode="OBJECT")
    pattern = strip.data.uv_layers[0]
    for loop in strip.data.loops:
        pattern.uv[loop.index].vector = strip.data.vertices[loop.vertex_index].co.xy
    strip.taffeta_cloth.uv_map, strip.taffeta_cloth.pattern_size = pattern.name, True
    whole, told = pattern_size.positions(strip)
    bpy.ops.object.mode_set(mode="EDIT")
    if free:
        assert bpy.ops.taffeta.tear_free(strength=1e5) == {"FINISHED"}
    else:
        assert bpy.ops.taffeta.tear_mark(strength=1e5) == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    x, _ = pattern_size.positions(strip)
    assert not told and np.ptp(x, axis=0) == pytest.approx(np.ptp(whole, axis=0), abs=1e-6)
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    ends = tear_lines.marked(strip.data)[0]
    rest = np.array([vertex.co for vertex in strip.data.vertices]).round(6)
    bpy.context.scene.frame_set(10)
    mesh = strip.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    for place in np.unique(rest[np.unique(ends)], axis=0):
        at = np.flatnonzero((rest == place).all(axis=1))
        assert len({tuple(mesh.vertices[k].co) for k in at}) == 1, "it is held"


@pytest.mark.once
@pytest.mark.parametrize("weft", [3.0, 1.0 / 3.0])
def test_on_the_bias_a_tear_runs_along_the_stronger_threads(registered, tmp_path, weft):
    """Pulled at 45 degrees to both: what the table of docs/tearing.md has."""
    obj = weft_picture.strip(tmp_path, weft)
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    _, (along_warp, along_weft) = weft_picture.look(obj)
    stronger, weaker = (along_weft, along_warp) if weft > 1.0 else (along_warp, along_weft)
    assert stronger > 150.0 and weaker < 0.25 * stronger


@pytest.mark.parametrize("operator", ["tear_mark", "tear_free"])
def test_what_is_sewn_stays_sewn_where_a_tear_line_meets_the_seam(strip, operator):
    """A sewing edge from the end of the line in the middle, and one from a corner, to a second panel: no vertex is left without a face."""
    bpy.ops.object.mode_set(mode="OBJECT")
    x = np.array([vertex.co for vertex in strip.data.vertices])
    strip.shape_key_clear()
    ends = [int(np.argmin(np.linalg.norm(x - (side, 0.5 * SIDE, 0.0), axis=1))) for side in (0.0, 0.5 * SIDE)]
    mesh, count, faces = strip.data, len(x), [tuple(face.vertices) for face in strip.data.polygons]
    both = [*x.tolist(), *(x + (0.0, 2.0 * SIDE, 0.0)).tolist()]
    mesh.clear_geometry()
    mesh.from_pydata(
        both, [(k, k + count) for k in ends], [*faces, *(tuple(k + count for k in face) for face in faces)]
    )
    before = arrays.seams(mesh)
    assert len(before) == 2
    select(strip, lambda a, b: abs(a.x) < 1e-6 and abs(b.x) < 1e-6)
    assert getattr(bpy.ops.taffeta, operator)(strength=500.0) == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    now = np.array([vertex.co for vertex in mesh.vertices])
    found = arrays.seams(mesh)
    assert len(np.unique(arrays.corner_vertex(mesh))) == len(now), "each has a face"
    places = [
        sorted(ends.astype(float).round(6).reshape(2, -1).tolist()) for ends in (now[found], np.array(both)[before])
    ]
    assert places[0] == places[1]
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    assert bpy.ops.taffeta.tear_clear() == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    assert len(mesh.vertices) == 2 * count and len(arrays.seams(mesh)) == 2
