# SPDX-License-Identifier: GPL-3.0-or-later
"""Patterns from file to garment: imported, arranged, sewn, baked or draped without a window, and kept as start or rest shape."""

import json

import bpy
import cut
import ipctk
import numpy as np
import pieces
import pytest
import stitched
from quads import read
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from taffeta.operators.read import panels
from taffeta.operators.read.arrays import edges, seams, triangulated
from taffeta.presets.scenes import figure
from taffeta.solver.build import build
from taffeta.solver.model import Settings

CLOSED = 2e-3  # [m] as a bake welds it
STEPS = 110  # of draping, each half a frame: the seams of the DXF shirt are closed after 60 to 100


@pytest.fixture
def garment(saved, make, tmp_path):
    """A function that imports a shirt of a kind of file, and has a body wear it; returns both."""

    def bring(kind):
        path = tmp_path / f"shirt.{kind}"
        path.write_bytes(pieces.written(pieces.shirt) if kind == "dxf" else json.dumps(cut.shirt()).encode())
        assert bpy.ops.taffeta.pattern_import(filepath=str(path), edge_length={"dxf": 0.03, "json": 0.04}[kind]) == {
            "FINISHED"
        }
        obj = bpy.context.view_layer.objects.active
        if kind == "dxf":
            body = make.collider(make.mesh("Person", *figure.mesh(coarse=1.5)), aura=0.004)
            assert bpy.ops.taffeta.panels_arrange() == {"FINISHED"}
            stitched.sew(obj, stitched.shirt_seams())
        else:
            bpy.context.scene.use_gravity = False
            body = make.ball(radius=1.0, location=(0.0, 0.0, 0.08))
            body.scale = (0.18, 0.12, 0.3)
            make.collider(body)
        return obj, body

    return bring


def crosses(make, obj, body):
    """By ipctk: whether anything passes through the garment, whose sewn places are one, or through the body and it."""
    x, other = make.world(obj), make.world(body)
    one = np.arange(len(x))
    for a, b in np.sort(seams(obj.data), axis=1).tolist():
        if np.linalg.norm(x[a] - x[b]) < 1e-5:
            one[one == one[b]] = one[a]
    faces = one[triangulated(obj.data)[0]]
    faces = np.concatenate([faces, triangulated(body.data)[0] + len(x)])
    both = np.concatenate([x, other])
    return ipctk.has_intersections(ipctk.CollisionMesh(both, ipctk.edges(faces), faces), both)


def gaps(make, obj):
    """[m] how far apart the ends of each stitch are."""
    pairs, x = seams(obj.data), make.world(obj)
    return np.linalg.norm(x[pairs[:, 0]] - x[pairs[:, 1]], axis=1)


def is_sewn(make, obj):
    """Whether seams are closed but for three stitches, which a fold that gets between can hold a little open."""
    found = gaps(make, obj)
    return (found > CLOSED).sum() <= 3 and found.max() < 0.02


def in_cloth(obj):
    """(k, 2) edges of faces."""
    return edges(obj.data)[np.isin(np.arange(len(obj.data.edges)), [loop.edge_index for loop in obj.data.loops])]


def cut_lengths(obj):
    """(k,) [m] of the edges of faces, as the file has them."""
    flat = np.zeros((len(obj.data.vertices), 2))
    for panel in panels.read(obj, 1.0):
        flat[panel.vertices] = panel.flat
    ends = in_cloth(obj)
    return np.linalg.norm(flat[ends[:, 0]] - flat[ends[:, 1]], axis=1)


def at_rest(obj):
    """(k,) [m] of the edges of faces, as the solver has them."""
    bpy.context.view_layer.update()
    cloth, _ = build([read(obj)], Settings())[:2]
    known = {tuple(sorted(ends)): length for ends, length in zip(cloth.edges.tolist(), cloth.rest_length, strict=True)}
    return np.array([known[tuple(sorted(ends))] for ends in in_cloth(obj).tolist()])


@pytest.mark.parametrize("kind", ["dxf", "json"])
def test_a_pattern_is_draped_and_kept_as_start_pose_and_as_rest_shape(make, garment, kind):
    obj, body = garment(kind)
    cut_as = cut_lengths(obj)
    assert gaps(make, obj).max() > 0.1
    assert bpy.ops.taffeta.drape(steps=STEPS) == {"FINISHED"}
    assert bpy.ops.taffeta.drape_keep(result="KEY") == {"FINISHED"}
    assert obj.data.shape_keys.key_blocks["Taffeta Pose"].value == 1.0 and obj.taffeta_cloth.pattern_size
    assert is_sewn(make, obj) and not crosses(make, obj, body)
    assert at_rest(obj) == pytest.approx(cut_as, rel=1e-4), "as large as it is cut"
    kept = make.world(obj)
    bpy.context.scene.frame_end = 3
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    bpy.context.scene.frame_set(1)
    assert make.world(obj) == pytest.approx(kept, abs=1e-4), "it starts as it was draped"
    bpy.context.scene.frame_set(3)
    assert is_sewn(make, obj) and not crosses(make, obj, body)
    assert np.abs(make.world(obj) - kept).max() < 0.1

    bpy.context.scene.frame_set(1)
    assert bpy.ops.taffeta.drape(steps=2) == {"FINISHED"}
    assert bpy.ops.taffeta.drape_keep(result="REST") == {"FINISHED"}
    assert not obj.taffeta_cloth.pattern_size, "the mesh tells its size now"
    assert is_sewn(make, obj) and not crosses(make, obj, body)
    now = at_rest(obj)
    assert now.sum() == pytest.approx(cut_as.sum(), rel=0.02) and np.percentile(np.abs(now / cut_as - 1.0), 90) < 0.1


def test_a_pattern_is_baked_and_its_sewing_applied(make, garment):
    """The DXF file's shirt, as one mesh that is its own size."""
    obj, body = garment("dxf")
    cut_as, count = cut_lengths(obj), len(obj.data.vertices)
    bpy.context.scene.frame_end = 24
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    bpy.context.scene.frame_set(24)
    assert is_sewn(make, obj) and not crosses(make, obj, body)
    x, ends = make.world(obj), in_cloth(obj)
    long = np.linalg.norm(x[ends[:, 0]] - x[ends[:, 1]], axis=1)
    assert long.sum() == pytest.approx(cut_as.sum(), rel=0.02) and np.percentile(np.abs(long / cut_as - 1.0), 90) < 0.1
    assert json.loads(obj.taffeta_cloth.report_json)["crossings"] == 0
    pairs = len(seams(obj.data))
    assert bpy.ops.taffeta.sewing_apply() == {"FINISHED"}
    made = bpy.context.view_layer.objects.active
    assert len(seams(made.data)) <= 3 and len(made.data.vertices) < count - 0.9 * pairs
    ends = edges(made.data)
    graph = coo_array((np.ones(len(ends)), tuple(ends.T)), shape=2 * (len(made.data.vertices),))
    assert connected_components(graph, directed=False)[0] == 1 and not made.taffeta_cloth.pattern_size
