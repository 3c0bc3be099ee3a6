# SPDX-License-Identifier: GPL-3.0-or-later
"""Weld for Simulation: a garment whose vertices are doubled along a seam, from Preflight to the exported file."""

import bpy
import numpy as np
import pytest
from taffeta.operators.checks import problem_list
from taffeta.operators.playback import bake_files
from taffeta.operators.read import mesh_io, sampling

COUNT = 6


@pytest.fixture
def halves(saved, make):
    """Two square sheets in one mesh, side by side, held at the far end of one: the other hangs by their seam."""
    line = np.linspace(0.0, 0.5, COUNT)
    u, v = (a.ravel() for a in np.meshgrid(line, line))
    corner = (np.arange(COUNT - 1)[:, None] * COUNT + np.arange(COUNT - 1)).ravel()
    faces = np.column_stack((corner, corner + 1, corner + COUNT + 1, corner + COUNT))
    x = np.column_stack((u, v, np.full(len(u), 2.0)))
    obj = make.cloth(make.mesh("Halves", np.vstack((x, x + (0.5, 0.0, 0.0))), np.vstack((faces, faces + len(x)))))
    group = obj.vertex_groups.new(name="held")
    group.add([i for i in range(len(x)) if x[i, 0] == 0.0], 1.0, "REPLACE")
    obj.taffeta_cloth.pin.source, obj.taffeta_cloth.pin.vertex_group = "GROUP", "held"
    return obj


def seam(obj):
    """Vertices of the seam on either side."""
    x = np.array([vertex.co for vertex in obj.data.vertices])
    at = np.flatnonzero(np.abs(x[:, 0] - 0.5) < 1e-6)
    return at[: len(at) // 2], at[len(at) // 2 :]


def gap(make, obj):
    """Distance of the seam's sides where the scene is."""
    x, (one, other) = make.world(obj), seam(obj)
    return np.linalg.norm(x[one] - x[other], axis=1)


def told(scene):
    return [p for p in problem_list.latest(scene) if "taffeta.fix_weld" in p.verbs]


def test_preflight_counts_doubled_vertices_and_its_button_welds_them(halves, make):
    scene = bpy.context.scene
    (problem,) = told(scene)
    assert (
        problem.object == "Halves" and f"{COUNT} doubled vertices" in problem.sentence and problem.severity == "WARNING"
    )
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    scene.frame_set(10)
    assert gap(make, halves).min() > 0.1, "it falls apart"
    before = np.array([vertex.co for vertex in halves.data.vertices])
    assert bpy.ops.taffeta.fix_weld(object="Halves") == {"FINISHED"}
    assert not told(scene) and halves.taffeta_cloth.weld == pytest.approx(1e-4)
    assert "Weld for Simulation" in problem_list.stale(halves, scene, [])
    scene.frame_set(1)
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    scene.frame_set(10)
    assert gap(make, halves).max() == 0.0
    assert make.world(halves)[:, 2].min() < 1.9, "it has moved"
    assert np.array_equal(before, [vertex.co for vertex in halves.data.vertices])


def test_what_is_played_and_exported_has_all_vertices(halves, tmp_path):
    halves.taffeta_cloth.weld = 1e-4
    scene = bpy.context.scene
    scene.frame_end = 4
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    halves.select_set(True)
    assert bpy.ops.taffeta.export(filepath=str(tmp_path / "out.obj")) == {"FINISHED"}
    (last,) = tmp_path.glob("**/*0004.obj")
    x = np.array(
        [[float(n) for n in row.split()[1:4]] for row in last.read_text().splitlines() if row.startswith("v ")]
    )
    assert len(x) == len(halves.data.vertices) == 2 * COUNT * COUNT
    one, other = seam(halves)
    assert (x[one] == x[other]).all()
    assert bake_files.bakes_of(scene, [halves])[0][0].vertex_count == 2 * COUNT * COUNT


def test_a_resumed_bake_has_the_same_bits(halves):
    halves.taffeta_cloth.weld = 1e-4
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    path = bake_files.cache_file(halves)
    whole = path.read_bytes()
    assert bpy.ops.taffeta.bake(resume=True, from_frame=6) == {"FINISHED"}
    assert path.read_bytes() == whole


def test_another_distance_is_another_bake(halves):
    """The second sheet's seam is moved off by 1 mm: 0.1 mm does not reach it, 2 mm do."""
    mesh = halves.data
    for index in range(COUNT * COUNT, len(mesh.vertices)):
        mesh.vertices[index].co.x += 1e-3
    mesh.update()
    scene = bpy.context.scene
    assert not told(scene)

    def twins(reach):
        halves.taffeta_cloth.weld = reach
        with sampling.posed(scene, [halves], []):
            return mesh_io.read_garment(halves, sampling.depsgraph_of(scene), scene).twins

    assert twins(1e-4) is None and len(twins(2e-3)) == COUNT
    assert len(twins(1.0)) == COUNT, "never farther than its edges are long"


@pytest.mark.parametrize("what", ["no faces", "nan", "closed"])
def test_meshes_without_anything_to_weld(halves, what):
    mesh = halves.data
    if what == "no faces":
        mesh.clear_geometry()
    elif what == "nan":
        mesh.vertices[3].co.x = float("nan")
    else:
        bpy.context.view_layer.objects.active = halves
        bpy.ops.object.mode_set(mode="EDIT")
        bpy.ops.mesh.select_all(action="SELECT")
        bpy.ops.mesh.remove_doubles()
        bpy.ops.object.mode_set(mode="OBJECT")
    assert not told(bpy.context.scene)
