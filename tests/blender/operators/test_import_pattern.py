# SPDX-License-Identifier: GPL-3.0-or-later
"""File > Import > Taffeta Pattern: a garment that a bake sews."""

import json

import bpy
import cut
import ezdxf
import numpy as np
import pytest
from taffeta.operators.checks import fingerprint, problem_list
from taffeta.operators.read import pattern_size, pleats
from taffeta.operators.read.arrays import seams

FRAMES = 60


@pytest.fixture
def imported(tmp_path):
    """A function that writes a pattern, imports it and returns the object."""

    def bring(told, edge=0.04, name="shirt_specification.json"):
        path = tmp_path / name
        path.write_text(told if isinstance(told, str) else json.dumps(told))
        assert bpy.ops.taffeta.pattern_import(filepath=str(path), edge_length=edge) == {"FINISHED"}
        return bpy.context.view_layer.objects.active

    return bring


def side_lengths(obj, x):
    """Of all edges of faces, in a frame x (n, 3), and in the pattern."""
    sides = {key for face in obj.data.polygons for key in face.edge_keys}
    ends = np.array(sorted(sides))
    uv = np.zeros((len(obj.data.vertices), 3))
    for loop, at in zip(obj.data.loops, obj.data.uv_layers["Pattern"].uv, strict=True):
        uv[loop.vertex_index, :2] = at.vector
    return [np.linalg.norm(places[ends[:, 0]] - places[ends[:, 1]], axis=1) for places in (x, uv)]


@pytest.mark.parametrize("name", ["shirt", "skirt"])
def test_a_bake_sews_the_panels(saved, make, imported, name):
    """Seams are closed, and the cloth is as large as its pattern."""
    obj = imported(getattr(cut, name)())
    bpy.context.scene.use_gravity = False
    body = make.ball(radius=1.0, location=(0.0, 0.0, 0.08 if name == "shirt" else 0.85))
    body.scale = (0.18, 0.12, 0.3) if name == "shirt" else (0.09, 0.09, 0.25)
    make.collider(body)
    cloth = obj.taffeta_cloth
    assert (cloth.enabled, cloth.sewing, cloth.uv_map, cloth.model) == (True, True, "Pattern", "MEMBRANE")
    pairs = seams(obj.data)
    before = make.world(obj)
    assert len(pairs) > 20 and np.linalg.norm(before[pairs[:, 0]] - before[pairs[:, 1]], axis=1).min() > 0.2
    start, pattern = side_lengths(obj, before)
    assert start == pytest.approx(pattern, abs=1e-6)
    bpy.context.scene.frame_end = FRAMES
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    bpy.context.scene.frame_set(FRAMES)
    x = make.world(obj)
    assert np.linalg.norm(x[pairs[:, 0]] - x[pairs[:, 1]], axis=1).max() < 1e-3
    length, pattern = side_lengths(obj, x)
    assert length.sum() == pytest.approx(pattern.sum(), rel=0.02)
    report = json.loads(cloth.report_json)
    assert report["crossings"] == 0 and np.isfinite(x).all()


def test_panels_are_vertex_groups_and_units_those_of_the_scene(scene, imported):
    scene.unit_settings.scale_length = 0.01
    obj = imported(cut.shirt(), edge=4.0)
    assert obj.name == "shirt" and [group.name for group in obj.vertex_groups] == ["front", "back"]
    assert max(vertex.co.x for vertex in obj.data.vertices) == pytest.approx(38.0, abs=1e-3)
    assert max(at.vector.x for at in obj.data.uv_layers["Pattern"].uv) < 2.0, "metres"


def test_a_bad_file_leaves_nothing_behind(imported, tmp_path):
    told = cut.shirt()
    told["pattern"]["stitches"][0][0]["panel"] = "Ärmel"
    with pytest.raises(RuntimeError, match="shirt.json: stitch 0 names a panel that is not there: Ärmel"):
        imported(told, name="shirt.json")
    with pytest.raises(RuntimeError, match="large.json has more than 50 MB"):
        with (tmp_path / "large.json").open("wb") as file:
            file.truncate(51 << 20)
        bpy.ops.taffeta.pattern_import(filepath=str(tmp_path / "large.json"))
    with pytest.raises(RuntimeError, match="No such file"):
        bpy.ops.taffeta.pattern_import(filepath=str(tmp_path / "gone.json"))
    with pytest.raises(RuntimeError, match="is a folder, a pipe or a device"):
        (tmp_path / "folder.json").mkdir()
        bpy.ops.taffeta.pattern_import(filepath=str(tmp_path / "folder.json"))
    assert not bpy.data.objects and not bpy.data.meshes


def scale_uv(obj, group, factor):
    """Scale a panel in the Pattern, as in the UV editor."""
    index = obj.vertex_groups[group].index
    inside = {v.index for v in obj.data.vertices if any(g.group == index for g in v.groups)}
    for loop, at in zip(obj.data.loops, obj.data.uv_layers["Pattern"].uv, strict=True):
        if loop.vertex_index in inside:
            at.vector = at.vector * factor
    return inside


def test_a_panel_scaled_in_the_uv_editor_is_cut_anew(saved, make, imported):
    """Edges of the panel are a tenth shorter after a bake, those of the other one are not; nothing but lengths pulls."""
    told = cut.shirt()
    told["pattern"]["stitches"] = []
    obj = imported(told, edge=0.06)
    bpy.context.scene.use_gravity = False
    inside = scale_uv(obj, "front", 0.9)
    assert all(at.vector.length < 2.0 for at in obj.data.uv_layers["Pattern"].uv)
    ends = np.array(sorted({key for face in obj.data.polygons for key in face.edge_keys}))
    front = np.isin(ends, list(inside)).all(axis=1)
    start = make.world(obj)
    bpy.context.scene.frame_end = 24
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    bpy.context.scene.frame_set(24)
    x = make.world(obj)
    part = np.divide(*(np.linalg.norm(places[ends[:, 0]] - places[ends[:, 1]], axis=1) for places in (x, start)))
    assert np.median(part[front]) == pytest.approx(0.9, abs=0.003) and np.ptp(part[front]) < 0.02
    assert part[~front] == pytest.approx(1.0, abs=0.003)
    assert not obj.taffeta_cloth.stale
    scale_uv(obj, "front", 1.1)
    bpy.context.view_layer.update()
    assert "Size from Pattern" in fingerprint.changes(obj, saved, [])


def test_a_pattern_over_another_one_is_no_neighbour_of_it(imported):
    """Pieces that lie on each other in the UV editor are apart at rest, in one plane."""
    obj = imported(cut.shirt(), edge=0.06)
    for loop, at in zip(obj.data.loops, obj.data.uv_layers["Pattern"].uv, strict=True):
        at.vector = (obj.data.vertices[loop.vertex_index].co.z, obj.data.vertices[loop.vertex_index].co.x)
    x, lack = pattern_size.positions(obj)
    front = np.array([vertex.groups[0].group == 0 for vertex in obj.data.vertices])
    assert not lack and not x[:, 2].any()
    assert x[~front, 0].min() > x[front, 0].max() + 0.5 or x[front, 0].min() > x[~front, 0].max() + 0.5
    rest, start = side_lengths(obj, x)
    assert rest == pytest.approx(start, abs=1e-5)


def spoil_welded(obj):
    mesh = obj.data
    mesh.uv_layers["Pattern"].uv[5].vector.x += 0.1


def spoil_nan(obj):
    obj.data.uv_layers["Pattern"].uv[5].vector.x = float("nan")


def spoil_loose(obj):
    obj.data.vertices.add(1)


def spoil_map(obj):
    obj.taffeta_cloth.uv_map = ""


def spoil_weld(obj):
    obj.taffeta_cloth.weld = 1e-4


@pytest.mark.parametrize(("spoil", "words"), [
    (spoil_welded, "has several places in the Pattern"), (spoil_nan, "has several places in the Pattern"),
    (spoil_loose, "is in no face"), (spoil_map, "has no Pattern"), (spoil_weld, "cannot be welded"),
])  # fmt: skip
def test_a_pattern_without_a_size_is_told_before_the_bake(saved, imported, spoil, words):
    obj = imported(cut.shirt(), edge=0.06)
    spoil(obj)
    told = problem_list.check(saved, bpy.context.evaluated_depsgraph_get())
    assert any(words in problem.sentence and problem.severity == "ERROR" for problem in told)
    with pytest.raises(RuntimeError, match=words):
        bpy.ops.taffeta.bake()
    obj.taffeta_cloth.pattern_size = False
    assert not pattern_size.positions(obj)[1]


def test_internal_lines_are_selected_pleats_that_mark_pleat_folds(saved, make, tmp_path):
    """A strip of 20 cm with a line across its middle, as DXF: flat at first; folded by 90 degrees it bakes to about that."""
    document = ezdxf.new("R12")
    block = document.blocks.new("STRIP")
    block.add_polyline2d([(0, 0), (60, 0), (60, 200), (0, 200)], close=True, dxfattribs={"layer": "1"})
    block.add_line((0, 100), (60, 100), dxfattribs={"layer": "8"})
    document.modelspace().add_blockref("STRIP", (0, 0))
    path = tmp_path / "strip.dxf"
    document.saveas(path)
    assert bpy.ops.taffeta.pattern_import(filepath=str(path), edge_length=0.012) == {"FINISHED"}
    obj = bpy.context.view_layer.objects.active
    angle, stiffness = ([value.value for value in obj.data.attributes[name].data] for name in pleats.NAMES)
    marked = np.flatnonzero(stiffness)
    assert not np.any(angle) and set(np.array(stiffness)[marked]) == {1.0}
    z = np.array([[obj.data.vertices[k].co.z for k in obj.data.edges[int(e)].vertices] for e in marked])
    assert len(marked) == 5 and np.abs(z - 0.1).max() < 1e-6
    for mode in ("EDIT", "OBJECT"):  # the selection outlives Edit Mode
        bpy.ops.object.mode_set(mode=mode)
    assert bpy.ops.taffeta.pleat_mark(angle=np.radians(90.0), stiffness=20.0) == {"FINISHED"}
    bpy.context.scene.use_gravity = False
    bpy.context.scene.frame_end = 30
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    bpy.context.scene.frame_set(30)
    x = make.world(obj)
    ends = [x[np.argmin(x[:, 2])], x[np.argmax(x[:, 2])]]
    flat = np.hypot(0.2, 0.06)
    assert np.linalg.norm(ends[0] - ends[1]) < 0.85 * flat, "folded by a right angle, it is 0.71 of its length"


@pytest.mark.parametrize(
    ("units", "metres", "told"),
    [("FILE", 0.001, "4 cm"), ("CENTIMETRES", 0.01, ""), ("INCHES", 0.0254, ""), ("METRES", 1.0, "40 m")],
)
def test_units_of_a_file_that_says_none_are_chosen(saved, tmp_path, capfd, units, metres, told):
    """A strip of 40 units: what is too small or too large for a garment is told."""
    document = ezdxf.new("R12")
    block = document.blocks.new("STRIP")
    block.add_polyline2d([(0, 0), (2, 0), (2, 40), (0, 40)], close=True, dxfattribs={"layer": "1"})
    document.modelspace().add_blockref("STRIP", (0, 0))
    path = tmp_path / "strip.dxf"
    document.saveas(path)
    about = {"filepath": str(path), "edge_length": max(0.005, 0.5 * metres), "units": units}
    assert bpy.ops.taffeta.pattern_import(**about) == {"FINISHED"}
    obj, said = bpy.context.view_layer.objects.active, capfd.readouterr().out
    assert np.ptp([vertex.co.z for vertex in obj.data.vertices]) == pytest.approx(40 * metres, rel=1e-5)
    sentence = f"its largest panel is {told} long; import it again with other Units" if told else "largest panel"
    assert (sentence in said) == bool(told)
