# SPDX-License-Identifier: GPL-3.0-or-later
"""Refine Where It Folds: short edges where the bake was bent, as many vertices as asked for, nothing lost, nothing through anything."""

import bpy
import numpy as np
import pytest
from crossings import count_crossings
from seen import triangles_of
from taffeta.operators import cage_refine
from taffeta.operators.playback.bake_files import bakes_of
from taffeta.operators.playback.owners import cache_file
from taffeta.operators.read import cage as cages
from taffeta.operators.read import modifier_stack, remesh
from taffeta.operators.work import baked
from taffeta.solver.correct.push_out import Obstacle

SIDE, FINE, COUNT, FRAMES = 1.0, 46, 350, 16
STIFF = 2e-3  # [N m]
BAR = 0.06  # [m] radius of the bar that the cloth hangs over


def vertices_of(mesh):
    return np.array([v.co for v in mesh.vertices]).reshape(-1, 3)


def edges_of(triangles):
    return np.unique(np.sort(triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1), axis=0)


def hung(make):
    """A stiff sheet that falls over a bar along y: bent there, nearly flat on both sides."""
    sheet = make.grid(name="Sheet", count=FINE, size=SIDE, location=(0.0, 0.0, 0.09))
    obj = make.cloth(sheet, friction=0.8, bending_stiffness=STIFF)
    bar = make.ball(name="Bar", radius=BAR, rings=16, segments=24)
    bar.scale.y = 20.0
    make.collider(bar)
    bpy.context.view_layer.update()
    bpy.context.scene.frame_end = FRAMES
    return obj


def caged(make, bake=True):
    """The same with an even cage, baked; (garment, cage)."""
    obj = hung(make)
    assert bpy.ops.taffeta.cage_make(object=obj.name, vertices=COUNT) == {"FINISHED"}
    cage = obj.taffeta_cage.cage
    if bake:
        assert bpy.ops.taffeta.bake(object=cage.name) == {"FINISHED"}
    return obj, cage


def refine(obj, **options):
    assert bpy.ops.taffeta.cage_refine(object=obj.name, **options) == {"FINISHED"}
    return obj.taffeta_cage.cage


def edge_lengths(obj):
    """Middles (e, 3) and lengths (e,) of a mesh's edges, as it lies at rest."""
    x, ends = vertices_of(obj.data), edges_of(triangles_of(obj))
    return x[ends].mean(axis=1), np.linalg.norm(x[ends[:, 0]] - x[ends[:, 1]], axis=1)


def meshed(x, triangles, length, count=0):
    parts = remesh.remeshing(x, triangles, np.zeros((0, 2), int), length, count)
    shares = []
    try:
        while True:
            shares.append(next(parts))
    except StopIteration as end:
        assert shares == sorted(shares) and shares[-1] == 1.0
        return end.value


def test_a_mesh_by_a_field_of_lengths_is_graded_and_has_its_count():
    line = np.linspace(-0.5, 0.5, 41)
    u, v = (a.ravel() for a in np.meshgrid(line, line))
    x = np.column_stack((u, v, 0.1 * np.sin(3.0 * u)))
    corner = (np.arange(40)[:, None] * 41 + np.arange(40)).ravel()
    triangles = np.concatenate([corner[:, None] + [0, 1, 42], corner[:, None] + [0, 42, 41]])
    length = np.maximum(0.02, 0.25 * np.abs(u))
    y, faces, _ = meshed(x, triangles, length)
    ends = edges_of(faces)
    size = np.linalg.norm(y[ends[:, 0]] - y[ends[:, 1]], axis=1)
    wanted = np.maximum(0.02, 0.25 * np.abs(y[ends].mean(axis=1)[:, 0]))
    ratio = size / wanted
    assert ratio.std() / ratio.mean() < 0.17 and ((ratio > 0.65) & (ratio < 1.4)).mean() > 0.98
    assert size[wanted < 0.0205].max() < 0.5 * size[wanted > 0.1].min()
    for count in (300, 600):
        found, *_ = meshed(x, triangles, length, count)
        assert len(found) == pytest.approx(count, rel=0.03)


def test_cloth_needs_the_curvature_of_what_it_lies_on(make):
    sheet, radius, gap = make.grid(count=41, size=0.4), 0.2, 0.002
    ball = make.ball(radius=radius, rings=48, segments=64, location=(0.0, 0.0, -radius - 0.5 * gap))
    x, flat = vertices_of(sheet.data), triangles_of(sheet)
    body = Obstacle("Ball", make.world(ball)[None], triangles_of(ball), gap)
    played = baked.Played(range(1, 2), x[None], np.eye(4)[None], edges_of(flat), flat, np.ones(len(x), bool), [body])
    rest, _, need = cage_refine._need(played, x, gap, lambda: True)
    away_from_top = np.linalg.norm(rest, axis=1)
    touched = (away_from_top > 0.01) & (away_from_top < 0.02)
    assert np.median(need[touched]) == pytest.approx(1.0 / radius, rel=0.05)
    assert not need[away_from_top > 0.08].any()
    *_, without = cage_refine._need(played._replace(bodies=[]), x, gap, lambda: True)
    assert not without.any()


def test_who_stops_the_mesh_midway_leaves_nothing_behind(make):
    obj = make.grid(count=20)
    before = len(bpy.data.meshes)
    x = vertices_of(obj.data)
    parts = remesh.remeshing(x, triangles_of(obj), np.zeros((0, 2), int), np.full(len(x), 0.1))
    next(parts)
    assert len(bpy.data.meshes) == before + 1
    parts.close()
    assert len(bpy.data.meshes) == before


def test_edges_are_short_where_the_bake_was_bent_and_the_budget_is_kept(make, saved):
    obj, cage = caged(make)
    _, even = edge_lengths(cage)
    before = len(cage.data.vertices)
    refine(obj)
    assert len(cage.data.vertices) == pytest.approx(before, rel=0.03)
    middle, length = edge_lengths(cage)
    over, beside = np.abs(middle[:, 0]) < BAR, np.abs(middle[:, 0]) > 0.3
    assert np.median(length[over]) < 0.7 * np.median(even) and np.median(length[beside]) > 1.1 * np.median(even)
    assert bpy.ops.taffeta.bake_play(object=cage.name) == {"FINISHED"}
    refine(obj, vertices=2 * COUNT)
    assert len(cage.data.vertices) == pytest.approx(2 * COUNT, rel=0.03)


def test_the_bake_before_stays_and_plays_again_with_its_mesh(make, saved):
    obj, cage = caged(make)
    saved.frame_set(FRAMES)
    before, mesh, count = make.world(obj), cage.data, len(cage.data.vertices)
    refine(obj)
    assert cage.data != mesh and modifier_stack.find_cache(cage) is None and obj.taffeta_cage.cage == cage
    saved.frame_set(FRAMES)
    flat = make.world(obj)
    assert np.ptp(flat[:, 2]) < 1e-4  # follows the new mesh, which has no bake yet
    assert bpy.ops.taffeta.bake(object=cage.name) == {"FINISHED"}
    refined = len(cage.data.vertices)
    (bakes,) = bakes_of(saved, [cage])
    assert [bake.vertex_count for bake in bakes] == [refined, count]
    new, old = (str(bake.path) for bake in bakes)
    saved.frame_set(FRAMES)
    after = make.world(obj)
    assert np.ptp(after[:, 2]) > 0.2
    assert bpy.ops.taffeta.bake_play(object=cage.name, path=old) == {"FINISHED"}
    assert cage.data == mesh and str(cache_file(cage)) == old
    saved.frame_set(1)
    saved.frame_set(FRAMES)
    assert np.abs(make.world(obj) - before).max() < 1e-6
    assert bpy.ops.taffeta.bake_play(object=cage.name, path=new) == {"FINISHED"}
    saved.frame_set(1)
    saved.frame_set(FRAMES)
    assert np.abs(make.world(obj) - after).max() < 1e-6
    bpy.ops.taffeta.cage_remove(object=obj.name)
    assert not [m for m in bpy.data.meshes if "Cage" in m.name]


def test_nothing_passes_through_anything_and_resume_gives_the_same(make, saved):
    obj, cage = caged(make)
    refine(obj)
    assert bpy.ops.taffeta.bake(object=cage.name) == {"FINISHED"}
    bar, triangles = bpy.data.objects["Bar"], triangles_of(cage)
    for frame in range(1, FRAMES + 1):
        saved.frame_set(frame)
        x = make.world(cage)
        found = count_crossings(x, triangles, np.zeros(len(x), int), [(make.world(bar), triangles_of(bar))])
        assert found == (0, 0, 0), f"frame {frame}"
    whole = cache_file(cage).read_bytes()
    saved.frame_end = FRAMES // 2
    assert bpy.ops.taffeta.bake(object=cage.name) == {"FINISHED"}
    saved.frame_end = FRAMES
    assert bpy.ops.taffeta.bake(object=cage.name, resume=True) == {"FINISHED"}
    assert cache_file(cage).read_bytes() == whole


def test_a_garment_that_was_baked_itself_gets_a_cage(make, saved):
    obj = hung(make)
    assert bpy.ops.taffeta.bake(object=obj.name) == {"FINISHED"}
    path = cache_file(obj)
    cage = refine(obj, vertices=COUNT)
    assert cage.taffeta_cloth.enabled and not obj.taffeta_cloth.enabled
    middle, length = edge_lengths(cage)
    over, beside = np.abs(middle[:, 0]) < BAR, np.abs(middle[:, 0]) > 0.3
    assert np.median(length[over]) < 0.6 * np.median(length[beside])
    bpy.ops.taffeta.cage_remove(object=obj.name)
    assert path.exists() and cache_file(obj) == path and modifier_stack.find_cache(obj).show_viewport


def test_what_was_painted_on_the_cage_keyed_and_added_is_kept(make, saved):
    obj = hung(make)
    obj.shape_key_add(name="Basis")
    for point in obj.shape_key_add(name="Up").data:
        point.co.z += 0.25
    assert bpy.ops.taffeta.cage_make(object=obj.name, vertices=COUNT) == {"FINISHED"}
    cage = obj.taffeta_cage.cage
    group = cage.vertex_groups.new(name="Mine")
    for vertex in cage.data.vertices:
        group.add((vertex.index,), max(0.0, min(1.0, 0.5 + vertex.co.y)), "REPLACE")
    cage.taffeta_cloth.damping.value = 3.5
    cage.modifiers.new("Wave", "WAVE").show_viewport = False
    assert bpy.ops.taffeta.bake(object=cage.name) == {"FINISHED"}
    refine(obj)
    y = vertices_of(cage.data)
    found = np.array([sum(g.weight for g in v.groups) for v in cage.data.vertices])
    assert np.abs(found - np.clip(0.5 + y[:, 1], 0.0, 1.0)).max() < 0.01
    assert cage.taffeta_cloth.damping.value == 3.5 and "Wave" in cage.modifiers
    obj.data.shape_keys.key_blocks["Up"].value = 1.0
    bpy.context.view_layer.update()
    assert make.world(cage)[:, 2] == pytest.approx(0.09 + 0.25, abs=1e-5)
    assert make.world(obj)[:, 2] == pytest.approx(0.09 + 0.25, abs=1e-5)


def state(obj):
    cage = obj.taffeta_cage.cage
    return (
        len(bpy.data.objects), len(bpy.data.meshes), obj.taffeta_cloth.enabled, cage and cage.data.name,
        cage and [m.name for m in cage.modifiers], [m.name for m in obj.modifiers],
    )  # fmt: skip


def refused(obj, name=None, **options):
    """What the operator says; nothing may have changed."""
    before = state(obj)
    with pytest.raises(RuntimeError) as told:
        bpy.ops.taffeta.cage_refine(object=obj.name if name is None else name, **options)
    assert state(obj) == before
    return str(told.value)


def test_bad_input_gets_a_sentence(make, saved):
    saved.frame_end = 3
    obj, cage = caged(make, bake=False)
    saved.frame_end = 3
    assert "Sheet Cage plays no bake; bake it, then refine it" in refused(obj)
    assert "Bar is no Taffeta Cloth; select a garment" in refused(obj, "Bar")
    assert "Nobody is no Taffeta Cloth" in refused(obj, "Nobody")
    assert bpy.ops.taffeta.bake(object=cage.name) == {"FINISHED"}
    assert "its borders, seams and marked edges need more" in refused(obj, vertices=5)
    assert "Sheet Cage is baked from 1 to 3; choose frames of these" in refused(obj, frame_start=50, frame_end=60)
    assert "ends (1) before it starts (3)" in refused(obj, frame_start=3, frame_end=1)
    cage.hide_set(True)
    assert "is hidden" in refused(obj)
    cage.hide_set(False)
    modifier_stack.find_cache(cage).show_viewport = False
    assert "the viewport shows the mesh" in refused(obj)
    modifier_stack.find_cache(cage).show_viewport = True
    path = cache_file(cage)
    aside = path.with_suffix(".aside")
    path.rename(aside)
    assert "is missing" in refused(obj)
    aside.rename(path)
    pleat = cage.data.attributes.new("pleat_angle", "FLOAT", "EDGE")
    pleat.data[0].value = 0.5
    assert "Sheet Cage has marked pleats on 1 edges where Sheet has none or another" in refused(obj)
    cage.data.attributes.remove(cage.data.attributes["pleat_angle"])
    copy = obj.copy()
    saved.collection.objects.link(copy)
    assert "Sheet and Sheet.001 follow Sheet Cage; press Remove Cage on all but one" in refused(obj)
    bpy.data.objects.remove(copy)
    cage.data.vertices.add(1)
    assert "the mesh was edited after the bake" in refused(obj)


def test_a_garment_in_edit_mode_gets_a_sentence(make, saved):
    saved.frame_end = 3
    obj, cage = caged(make)
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode="EDIT")
    try:
        with pytest.raises(RuntimeError, match="Object Mode"):
            bpy.ops.taffeta.cage_refine(object=obj.name)
    finally:
        bpy.ops.object.mode_set(mode="OBJECT")


def test_a_blender_that_cannot_bind_leaves_all_as_it_was(make, saved, monkeypatch):
    obj, cage = caged(make)
    saved.frame_set(FRAMES)
    before, mesh = make.world(obj), cage.data
    real, calls = cages._bind, []

    def fails_first(*arguments):
        calls.append(arguments)
        if len(calls) == 1:
            raise ValueError(f"{obj.name} cannot be bound to its cage")
        real(*arguments)

    monkeypatch.setattr(cages, "_bind", fails_first)
    assert "cannot be bound" in refused(obj)
    assert cage.data == mesh and len(calls) == 2
    saved.frame_set(1)
    saved.frame_set(FRAMES)
    assert np.abs(make.world(obj) - before).max() < 1e-6
