# SPDX-License-Identifier: GPL-3.0-or-later
"""Cages: even edges on the garment's surface, borders where they were, what the garment has comes along; the garment follows the
bake of its cage, plays and exports without Taffeta, and is as it was when the cage is removed."""

import subprocess
import sys

import bmesh
import bpy
import numpy as np
import pytest
from layouts import draw
from mathutils.bvhtree import BVHTree
from scipy.spatial import cKDTree
from taffeta.operators.cage import making
from taffeta.operators.checks import problem_list
from taffeta.operators.read import cage as cages
from taffeta.operators.read import keyed, modifier_stack

COLUMNS, ROWS, COUNT = 120, 100, 900
SPREAD = 0.15  # standard deviation of edge lengths over their mean, at most


def skirt(make, columns=COLUMNS, rows=ROWS, name="Skirt"):
    """A flared tube with folds, pinned at the top, with a UV map that runs down it; [m]."""
    turn, down = np.meshgrid(np.arange(columns) * 2 * np.pi / columns, np.linspace(0.0, 1.0, rows))
    radius = 0.15 + 0.2 * down + 0.06 * down * np.sin(7.0 * turn)
    x = np.stack((radius * np.cos(turn), radius * np.sin(turn), 1.0 - 0.6 * down), axis=-1).reshape(-1, 3)
    i, j = (a.ravel() for a in np.meshgrid(np.arange(rows - 1), np.arange(columns), indexing="ij"))
    k = (j + 1) % columns
    faces = np.column_stack((i * columns + j, (i + 1) * columns + j, (i + 1) * columns + k, i * columns + k))
    obj = make.cloth(make.mesh(name, x, faces), stretch_stiffness=900.0, friction=0.7)
    layer = obj.data.uv_layers.new(name="Pattern")
    corner = np.array([loop.vertex_index for loop in obj.data.loops])
    wide = np.column_stack((j, j, j + 1, j + 1)).ravel() / columns
    layer.uv.foreach_set("vector", np.column_stack((wide, x[corner, 2])).astype(np.float32).ravel())
    obj.taffeta_cloth.uv_map = "Pattern"
    group = obj.vertex_groups.new(name="Waist")
    weights = np.clip(1.0 - down.ravel() / 0.2, 0.0, 1.0)
    for vertex in np.flatnonzero(weights).tolist():
        group.add((vertex,), float(weights[vertex]), "REPLACE")
    pin = obj.taffeta_cloth.pin
    pin.source, pin.vertex_group = "GROUP", "Waist"
    return obj, x, weights


def make_cage(obj, **options):
    bpy.context.view_layer.objects.active = obj
    assert bpy.ops.taffeta.cage_make(object=obj.name, **({"vertices": COUNT} | options)) == {"FINISHED"}
    return obj.taffeta_cage.cage


def mesh_of(obj):
    """Vertices (n, 3) and faces of the mesh itself."""
    return np.array([v.co for v in obj.data.vertices]), [tuple(p.vertices) for p in obj.data.polygons]


def lengths(x, faces):
    """Lengths of the edges, and the vertices of those that one face alone has."""
    sides = np.sort([(f[k], f[(k + 1) % len(f)]) for f in faces for k in range(len(f))], axis=1)
    edges, times = np.unique(sides, axis=0, return_counts=True)
    assert times.max() == 2
    return np.linalg.norm(x[edges[:, 0]] - x[edges[:, 1]], axis=1), np.unique(edges[times == 1])


def away(points, x, faces):
    """Distances of points to a surface."""
    tree = BVHTree.FromPolygons(x.tolist(), faces)
    return np.array([tree.find_nearest(point)[3] for point in points.tolist()])


def everything(obj):
    """All that is to be as before, as text and numbers."""
    settings = obj.taffeta_cloth
    plain = {
        p.identifier: str(getattr(settings, p.identifier)) for p in settings.bl_rna.properties if p.type != "POINTER"
    }
    plain.pop("attachments", None)
    pin = {p.identifier: str(getattr(settings.pin, p.identifier)) for p in settings.pin.bl_rna.properties}
    x, faces = mesh_of(obj)
    weights = [[(g.group, g.weight) for g in v.groups] for v in obj.data.vertices]
    modifiers = [(m.name, m.type, m.show_viewport, m.show_render) for m in obj.modifiers]
    return plain, pin, x.tobytes(), faces, weights, modifiers, [a.name for a in obj.data.attributes]


def test_the_cage_has_even_edges_on_the_garment_and_its_borders(make):
    obj, x, weights = skirt(make)
    _, faces = mesh_of(obj)
    cage = make_cage(obj)
    y, triangles = mesh_of(cage)
    assert abs(len(y) - COUNT) < 0.1 * COUNT and len(y) < len(x) / 10
    size, border = lengths(y, triangles)
    assert size.std() / size.mean() < SPREAD and size.min() > 0.4 * size.mean() and size.max() < 1.6 * size.mean()
    assert len(y) - len(size) + len(triangles) == 0  # Euler's number of a tube
    assert away(y, x, faces).max() < 2e-4  # every vertex on the garment, however its quads are cut,
    assert away(x, y, triangles).max() < 0.3 * size.mean()  # which is nowhere far from the cage, folds as it has
    for height, ring in ((1.0, x[:COLUMNS]), (0.4, x[-COLUMNS:])):  # waist and hem
        share = np.linspace(0.0, 1.0, 30)[:, None, None]
        line = (ring + share * (np.roll(ring, -1, axis=0) - ring)).reshape(-1, 3)
        own = y[border][np.abs(y[border, 2] - height) < 1e-5]
        assert len(own) > 10 and cKDTree(line).query(own)[0].max() < 0.001
        assert cKDTree(own).query(line)[0].max() < 0.7 * size.max()  # half an edge, and what it cuts off a fold
    assert np.minimum(np.abs(y[border, 2] - 1.0), np.abs(y[border, 2] - 0.4)).max() < 1e-5


def test_a_flat_sheet_has_even_edges_too(make):
    cage = make_cage(make.cloth(make.grid(count=40)), vertices=500)
    y, faces = mesh_of(cage)
    size, border = lengths(y, faces)
    assert size.std() / size.mean() < SPREAD and len(border) > 60
    corners = 0.5 * np.array([(u, v, 0.0) for u in (-1, 1) for v in (-1, 1)])
    assert cKDTree(y).query(corners)[0].max() < 1e-6  # none is cut off


def test_groups_patterns_settings_and_rig_come_along(make, scene):
    obj, x, weights = skirt(make)
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    scene.collection.objects.link(rig)
    armature = obj.modifiers.new("Armature", "ARMATURE")
    armature.object, armature.vertex_group = rig, "Waist"
    obj.taffeta_cloth.pressure = 3.0
    obj.taffeta_cloth.keyframe_insert("pressure", frame=1)
    obj.taffeta_cloth.pressure = 9.0
    obj.taffeta_cloth.keyframe_insert("pressure", frame=11)
    obj.shape_key_add(name="Basis")
    key = obj.shape_key_add(name="Up")
    for point in key.data:
        point.co.z += 0.25
    cage = make_cage(obj)
    y, triangles = mesh_of(cage)
    assert cage.taffeta_cloth.enabled and not obj.taffeta_cloth.enabled
    assert cage.taffeta_cloth.stretch_stiffness.value == 900.0 and cage.taffeta_cloth.pin.vertex_group == "Waist"
    assert [(m.type, m.object.name, m.vertex_group) for m in cage.modifiers] == [("ARMATURE", "Rig", "Waist")]
    down = (1.0 - y[:, 2]) / 0.6
    carried = np.array([sum(g.weight for g in v.groups) for v in cage.data.vertices])
    assert np.abs(carried - np.clip(1.0 - down / 0.2, 0.0, 1.0)).max() < 0.01
    uv = np.array([corner.vector for corner in cage.data.uv_layers["Pattern"].uv]).reshape(-1, 3, 2)
    corners = y[np.array(triangles)]
    assert np.abs(uv[..., 1] - corners[..., 2]).max() < 0.01  # v is the height
    assert np.ptp(uv[..., 0], axis=1).max() < 0.2  # no face mixes both ends of the pattern
    key.value = 1.0
    shown = np.array([v.co for v in cage.evaluated_get(bpy.context.evaluated_depsgraph_get()).data.vertices])
    assert np.abs(shown - y - (0.0, 0.0, 0.25)).max() < 1e-5
    scene.frame_set(6)
    assert (
        cage.taffeta_cloth.pressure == pytest.approx(obj.taffeta_cloth.pressure, abs=1e-4)
        and 3.1 < cage.taffeta_cloth.pressure < 8.9
    )


def test_the_garment_follows_the_bake_and_is_exported(make, saved, tmp_path, capfd):
    obj, x, _ = skirt(make, 60, 40)
    obj.location = (0.3, -0.2, 0.5)
    _, faces = mesh_of(obj)
    cage = make_cage(obj, vertices=600)
    make.collider(make.ball(radius=0.2, location=(0.3, -0.2, 1.1)))
    bpy.context.view_layer.update()
    start = make.world(obj)
    assert np.abs(start - x - (0.3, -0.2, 0.5)).max() < 1e-4  # bound where both lie on each other
    saved.frame_end = 5
    bpy.context.view_layer.objects.active = obj  # who selects the garment means its cage
    cage.select_set(False)
    obj.select_set(True)
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    assert modifier_stack.find_cache(cage) is not None and modifier_stack.find_cache(obj) is None
    saved.frame_set(5)
    now, triangles = make.world(obj), [tuple(p.vertices) for p in cage.data.polygons]
    assert np.linalg.norm(now - start, axis=1).max() > 0.02
    far = [
        away(*both, triangles).max() for both in ((start, mesh_of(cage)[0] + (0.3, -0.2, 0.5)), (now, make.world(cage)))
    ]
    assert far[0] < 0.012 and far[1] < 1.5 * far[0]
    assert bpy.ops.taffeta.export(filepath=str(tmp_path / "skirt.obj"), frame_start=5, frame_end=5) == {"FINISHED"}
    assert f"Exported {obj.name} to" in capfd.readouterr().out, "what is in the file, and not its cage"
    written = [
        line.split()[1:] for line in (tmp_path / "skirt_0005.obj").read_text().splitlines() if line.startswith("v ")
    ]
    written = np.array(written, float)[:, [0, 2, 1]] * (1.0, -1.0, 1.0)  # y is up in OBJ files
    assert written.shape == now.shape and np.abs(written - now).max() < 1e-4
    assert np.abs(_without_taffeta(tmp_path, obj.name) - now).max() < 1e-5
    if bpy.app.alembic.supported:
        assert bpy.ops.taffeta.export(filepath=str(tmp_path / "skirt.abc"), frame_start=5, frame_end=5) == {"FINISHED"}
        bpy.ops.wm.alembic_import(filepath=str(tmp_path / "skirt.abc"), as_background_job=False)
        assert np.abs(make.world(bpy.context.object) - now).max() < 1e-4


def test_one_call_makes_the_cage_and_bakes_it(make, saved, capfd):
    """A bake that cannot be is told, and the cage is there for another. Nobody is asked to bake what is baked."""
    obj, _, _ = skirt(make, 40, 30)
    start, saved.frame_end = make.world(obj), 3
    make_cage(obj, vertices=300, bake=True)
    told = capfd.readouterr().out
    assert "vertices instead of" in told and "bake it" not in told
    saved.frame_set(3)
    assert np.linalg.norm(make.world(obj) - start, axis=1).max() > 5e-3
    assert bpy.ops.taffeta.cage_remove(object=obj.name) == {"FINISHED"}
    saved.taffeta.collider_source = "COLLECTION"
    with pytest.raises(RuntimeError, match="none is chosen") as told:
        bpy.ops.taffeta.cage_make(object=obj.name, vertices=300, bake=True)
    assert "Traceback" not in str(told.value) and obj.taffeta_cage.cage is not None


def _without_taffeta(folder, name):
    """Where the garment's vertices are in frame 5 of the saved file, in a Blender that knows nothing of Taffeta."""
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "plays.blend"))
    script = (
        "import sys, bpy, numpy as np; bpy.ops.wm.open_mainfile(filepath=sys.argv[1]); bpy.context.scene.frame_set(5); "
        "obj = bpy.data.objects[sys.argv[2]].evaluated_get(bpy.context.evaluated_depsgraph_get()); "
        "np.save(sys.argv[3], [obj.matrix_world @ v.co for v in obj.data.vertices])"
    )
    out = folder / "shown.npy"
    subprocess.run([sys.executable, "-c", script, str(folder / "plays.blend"), name, str(out)], check=True, timeout=120)
    return np.load(out)


def test_remove_brings_back_what_was(make):
    obj, _, _ = skirt(make, 40, 30)
    obj.modifiers.new("Wave", "WAVE").show_render = False
    obj.modifiers.new("Subdivision", "SUBSURF")
    before, objects, meshes = everything(obj), len(bpy.data.objects), len(bpy.data.meshes)
    cage = make_cage(obj, vertices=200)
    assert [m.name for m in obj.modifiers] == ["Wave", cages.MODIFIER_NAME, "Subdivision"]
    assert [m.show_viewport for m in obj.modifiers] == [False, True, True] and [m.name for m in cage.modifiers] == [
        "Wave"
    ]
    cage.taffeta_cloth.friction.value = 0.25  # what was changed meanwhile is kept
    assert bpy.ops.taffeta.cage_remove(object=cage.name) == {"FINISHED"}
    assert everything(obj) == before and obj.taffeta_cloth.friction.value == 0.25
    assert (len(bpy.data.objects), len(bpy.data.meshes)) == (objects, meshes) and obj.taffeta_cage.cage is None
    assert bpy.context.object == obj


def shell(make, thick=0.012, wide=1.0):
    """A waved sheet with a front, a back and a rim, of small quads."""
    count = 41
    line = np.linspace(-wide / 2, wide / 2, count)
    u, v = (a.ravel() for a in np.meshgrid(line, line))
    mid = np.column_stack((u, v, 0.05 * np.sin(6.0 * u)))
    normal = np.column_stack((-0.3 * np.cos(6.0 * u), 0.0 * u, 1.0 + 0.0 * u))
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    x = np.concatenate((mid + 0.5 * thick * normal, mid - 0.5 * thick * normal))
    a = (np.arange(count - 1)[:, None] * count + np.arange(count - 1)).ravel()
    top = np.column_stack((a, a + 1, a + count + 1, a + count))
    sides = np.concatenate([top[:, [k, (k + 1) % 4]] for k in range(4)])
    keys = {tuple(s) for s in sides.tolist()}
    rim = [(s[0], s[0] + len(mid), s[1] + len(mid), s[1]) for s in sides.tolist() if (s[1], s[0]) not in keys]
    return make.cloth(make.mesh("Coat", x, [*top.tolist(), *(top[:, ::-1] + len(mid)).tolist(), *rim])), mid


def test_what_goes_with_the_cage_is_told(make, saved, capfd):
    obj, _, _ = skirt(make, 40, 30)
    saved.frame_end = 3
    cage = make_cage(obj, vertices=300, bake=True)
    bpy.context.view_layer.objects.active = cage
    assert bpy.ops.taffeta.smooth_in_space(radius=0.1) == {"FINISHED"}
    assert bpy.ops.taffeta.drape(steps=1) == {"FINISHED"} == bpy.ops.taffeta.drape_keep(result="REST")
    with pytest.raises(
        RuntimeError, match="Skirt Cage was given a rest shape of its own, which another mesh would not"
    ):
        bpy.ops.taffeta.cage_refine(object=obj.name)
    twin = bpy.data.objects.new("Twin", obj.data)  # which would change with what it takes over
    capfd.readouterr()
    assert bpy.ops.taffeta.cage_remove(object=obj.name) == {"FINISHED"}
    told = "Warning: Skirt Cage is deleted with what only it had: Smooth in Space 1-3, Rest Shape; undo that to keep it"
    assert told in capfd.readouterr().out and not bpy.data.objects.get("Skirt Cage") and twin.data == obj.data


def test_a_cage_that_is_not_followed_at_the_moment_hands_down_its_shapes_all_the_same(make):
    """Somebody had switched the modifier off to look at the mesh: the garment got shapes in which nothing moved."""
    obj = skirt(make, 40, 30)[0]
    cage = make_cage(obj, vertices=300)
    cage.shape_key_add(name="Basis")
    for point in cage.shape_key_add(name="Wrap").data:
        point.co.z -= 0.2
    obj.modifiers[cages.MODIFIER_NAME].show_viewport = False
    assert bpy.ops.taffeta.cage_remove(object=obj.name) == {"FINISHED"}
    keys = obj.data.shape_keys.key_blocks
    fallen = [a.co.z - b.co.z for a, b in zip(keys["Wrap"].data, keys["Basis"].data, strict=True)]
    assert np.allclose(fallen, -0.2, atol=1e-3)


@pytest.mark.parametrize("is_keyed", (False, True), ids=("alone", "beside keys of the garment's own"))
def test_keyframes_and_drivers_of_a_cages_shapes_go_over_with_them(make, is_keyed):
    """The shapes stood still from then on."""
    obj = skirt(make, 40, 30)[0]
    cage = make_cage(obj, vertices=300)
    if is_keyed:
        obj.shape_key_add(name="Basis")
        own = obj.shape_key_add(name="Own")
        own.value = 0.0  # 5.2 begins with 1
        own.keyframe_insert("value", frame=2)
    for name in ("Basis", 'Wrap "it"', "Driven"):
        cage.shape_key_add(name=name)
    wrap = cage.data.shape_keys.key_blocks['Wrap "it"']
    for frame, value in ((1, 0.0), (9, 1.0), (13, 0.25)):
        wrap.value = value
        wrap.keyframe_insert("value", frame=frame)
    curve = next(keyed.curves(cage.data.shape_keys))
    curve.keyframe_points[1].interpolation = "BOUNCE"
    curve.keyframe_points[0].handle_right_type, curve.keyframe_points[0].handle_right = "FREE", (6.0, 0.1)
    curve.modifiers.new("NOISE").strength = 0.125
    driver = cage.data.shape_keys.key_blocks["Driven"].driver_add("value").driver
    driver.type, variable = "AVERAGE", driver.variables.new()
    variable.targets[0].id, variable.targets[0].data_path = cage, "location.x"
    values = [curve.evaluate(frame) for frame in np.arange(0.0, 16.0, 0.5)]
    assert bpy.ops.taffeta.cage_remove(object=obj.name) == {"FINISHED"}
    keys = obj.data.shape_keys
    found = [one for one in keyed.curves(keys) if "Wrap" in one.data_path]
    assert [found[0].evaluate(frame) for frame in np.arange(0.0, 16.0, 0.5)] == pytest.approx(values)
    assert keys.key_blocks["Own"].value == 0.0 and len(list(keyed.curves(keys))) == 2 if is_keyed else len(found) == 1
    obj.location.x = 0.75
    bpy.context.view_layer.update()
    assert keys.key_blocks["Driven"].value == pytest.approx(0.75)


def with_strips(keys, tweaked):
    """Strips that animate shape keys named Wrap, one above the other, one in half the speed, one of a keyed influence."""
    data = keys.animation_data_create()
    for name, blend, values in (("Low", "REPLACE", (0.0, 0.4)), ("High", "ADD", (0.0, 0.5))):
        for block in ("Wrap", "Own"):
            for frame, value in zip((1, 9), values, strict=True):
                keys.key_blocks[block].value = value
                keys.key_blocks[block].keyframe_insert("value", frame=frame)
        action, slot = data.action, data.action_slot
        data.action = None
        strip = data.nla_tracks.new().strips.new(name, 3, action)
        strip.action_slot, strip.blend_type = slot, blend
        strip.scale, strip.extrapolation = 1.5, "HOLD_FORWARD"
    strip.use_animated_influence = True
    for frame, value in ((3, 0.0), (12, 1.0)):
        strip.influence = value
        strip.keyframe_insert("influence", frame=frame)
    data.nla_tracks[0].select = data.nla_tracks[0].strips[0].select = True
    if tweaked:
        data.use_tweak_mode = True


def values_over(scene, block, frames):
    found = []
    for frame in frames:
        scene.frame_set(frame)
        found.append(block.value)
    return found


@pytest.mark.parametrize("tweaked", (False, True), ids=("as they play", "while one is tweaked"))
def test_strips_of_a_cages_shapes_go_over_with_them(make, scene, tweaked):
    """What was animated by the Nonlinear Animation stood still from then on. A key that the garment has, too, stays its own."""
    obj = skirt(make, 40, 30)[0]
    cage = make_cage(obj, vertices=300)
    obj.shape_key_add(name="Basis")
    obj.shape_key_add(name="Own").value = 0.125
    for name in ("Basis", "Wrap", "Own"):
        cage.shape_key_add(name=name)
    with_strips(cage.data.shape_keys, tweaked)
    wanted = values_over(scene, cage.data.shape_keys.key_blocks["Wrap"], range(1, 20, 2))
    assert len(set(wanted)) > 5
    assert bpy.ops.taffeta.cage_remove(object=obj.name) == {"FINISHED"}
    keys = obj.data.shape_keys
    assert [track.strips[0].name for track in keys.animation_data.nla_tracks] == ["Low", "High"]
    assert values_over(scene, keys.key_blocks["Wrap"], range(1, 20, 2)) == pytest.approx(wanted)
    assert keys.key_blocks["Own"].value == pytest.approx(0.125)


@pytest.mark.parametrize("result", ["REST", "KEY", "FURTHER"])
def test_what_a_cage_was_draped_into_goes_over_to_the_garment(make, saved, capfd, result):
    """The garment has the shape in which it followed the cage; its own shape keys still are what they were beside it."""
    obj, x, _ = skirt(make, 40, 30)
    obj.shape_key_add(name="Basis")
    cage = make_cage(obj, vertices=300)
    bpy.context.view_layer.objects.active = cage
    assert bpy.ops.taffeta.drape(steps=4) == {"FINISHED"} == bpy.ops.taffeta.drape_keep(result=result)
    if result == "FURTHER":
        cage.data.shape_keys.key_blocks["Drape 1"].value = 0.5
    followed = make.world(obj)
    assert np.abs(followed - x).max() > 0.005
    capfd.readouterr()
    assert bpy.ops.taffeta.cage_remove(object=obj.name) == {"FINISHED"}
    name = {"REST": "Rest Shape", "KEY": "Taffeta Pose", "FURTHER": "Drape 1"}[result]
    told = capfd.readouterr().out
    assert f"Skirt is simulated itself again; it has taken over what its cage was draped into: {name}" in told
    assert "Warning" not in told and np.abs(make.world(obj) - followed).max() < (1e-4 if result == "REST" else 2e-3)
    assert (np.abs(mesh_of(obj)[0] - x).max() > 0.005) == (result == "REST")
    assert obj.data.shape_keys.key_blocks.keys() == ["Basis"] + ([name] if result != "REST" else [])


@pytest.mark.parametrize("flipped", [False, True])
def test_a_closed_shell_is_one_sheet(make, flipped):
    obj, mid = shell(make)
    if flipped:
        obj.data.flip_normals()
    cage = make_cage(obj, vertices=500)
    y, triangles = mesh_of(cage)
    _, border = lengths(y, triangles)
    assert len(border) > 40 and abs(len(y) - 500) < 75
    faces = [(i, i + 1, i + 42, i + 41) for i in range(40 * 41) if i % 41 < 40]
    assert away(y, mid, faces).max() < 0.001
    assert cage.taffeta_cloth.thickness.value == pytest.approx(0.012, rel=0.05)
    assert np.abs(make.world(obj) - mesh_of(obj)[0]).max() < 1e-4  # both sides are bound
    bpy.ops.taffeta.cage_remove(object=obj.name)
    assert obj.taffeta_cloth.thickness.value != cage_thickness()


def test_what_a_cage_of_a_shell_does_not_keep_is_told(make, capfd):
    """A body that the lining would be in, and edges too short for all of the shell's thickness."""
    make.collider(make.ball(location=(0, 0, -3)), aura=0.005)
    make.collider(make.ball("Far", location=(0, 0, -9)), aura=0.02)
    obj, _ = shell(make)
    make_cage(obj, vertices=500)
    said = capfd.readouterr().out
    assert "lining is 6 mm nearer to Body than the cage: give a Distance of more than that" in said
    assert "from itself" not in said
    thick, _ = shell(make, thick=0.04)
    make_cage(thick, vertices=1600)
    said = capfd.readouterr().out
    assert "where it folds, the shell of 4 cm may cross itself" in said and "lining is 2 cm nearer to Body" in said


def cage_thickness():
    return pytest.approx(0.012, rel=0.05)


def test_a_balloon_is_no_shell(make):
    obj = make.cloth(make.ball(rings=24, segments=40))
    cage = make_cage(obj, vertices=200)
    size, border = lengths(*mesh_of(cage))
    assert not len(border) and np.ptp(mesh_of(cage)[0][:, 2]) > 0.99


def test_preflight_offers_it_for_heavy_garments(make, scene, monkeypatch):
    obj, _, _ = skirt(make, 40, 30)
    found = [
        p for p in problem_list.check(scene, bpy.context.evaluated_depsgraph_get()) if "taffeta.cage_make" in p.verbs
    ]
    assert not found
    monkeypatch.setattr("taffeta.operators.checks.cage_rows.MANY_VERTICES", 1000)
    found = [
        p for p in problem_list.check(scene, bpy.context.evaluated_depsgraph_get()) if "taffeta.cage_make" in p.verbs
    ]
    assert [p.object for p in found] == [obj.name] and "1,200 vertices" in found[0].sentence


def told_of(obj, scene):
    """The preflight lines about an object that has to do with a cage: (severity, sentence, verbs)."""
    bpy.context.view_layer.update()
    found = problem_list.check(scene, bpy.context.evaluated_depsgraph_get())
    return [(p.severity, p.sentence, p.verbs) for p in found if p.object == obj.name and "cage" in p.sentence]


@pytest.mark.parametrize("is_garment", [True, False])
def test_a_mesh_that_is_edited_is_bound_again(make, saved, is_garment):
    """Where the garment has other vertices, Blender's Surface Deform gives up, and it stands still: only the modifier says so."""
    obj, _, _ = skirt(make, 60, 40)
    cage, saved.frame_end = make_cage(obj, vertices=300), 4
    assert told_of(obj, saved) == []
    edited = obj if is_garment else cage
    work = bmesh.new()
    work.from_mesh(edited.data)
    bmesh.ops.subdivide_edges(work, edges=work.edges[:], cuts=1, use_grid_fill=True)
    work.to_mesh(edited.data)
    work.free()
    ((severity, sentence, verbs),) = told_of(obj, saved)
    assert severity == "WARNING" and verbs == ("taffeta.fix_cage",)
    assert sentence.startswith(f"{obj.name} was bound to its cage {cage.name} before one of their meshes was edited")
    bpy.context.view_layer.objects.active = obj
    problem_list.show(saved)
    shown = draw("TAFFETA_PT_caged")
    assert sentence in " ".join(shown.texts()) and shown.buttons("taffeta.fix_cage"), "in the tab of the garment, too"
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    saved.frame_set(4)
    start = mesh_of(obj)[0]
    assert not is_garment or np.abs(make.world(obj) - start).max() < 1e-6
    assert bpy.ops.taffeta.fix_cage(object=obj.name) == {"FINISHED"}
    assert np.linalg.norm(make.world(obj) - start, axis=1).max() > 0.02 and told_of(obj, saved) == []
    saved.frame_set(1)
    assert np.abs(make.world(obj) - start).max() < 1e-3
    with pytest.raises(RuntimeError, match="follows no cage"):
        bpy.ops.taffeta.fix_cage(object=cage.name)


def test_a_duplicate_that_follows_the_same_cage_is_told_and_exported(make, saved, tmp_path):
    obj, x, _ = skirt(make, 40, 30)
    cage, saved.frame_end = make_cage(obj, vertices=200), 2
    twin = obj.copy()
    twin.data, twin.location.x = obj.data.copy(), 2.0
    saved.collection.objects.link(twin)
    assert told_of(obj, saved) == []
    ((severity, sentence, verbs),) = told_of(twin, saved)
    assert severity == "INFO" and sentence.startswith(f"{twin.name} follows the cage of {obj.name}, {cage.name}")
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    bpy.context.view_layer.objects.active = twin
    cage.select_set(False)
    twin.select_set(True)
    assert bpy.ops.taffeta.export(filepath=str(tmp_path / "skirt.obj"), frame_start=2, frame_end=2) == {"FINISHED"}
    written = (tmp_path / "skirt_0002.obj").read_text().splitlines()
    assert {line[2:] for line in written if line.startswith("o ")} == {obj.name, twin.name}
    assert bpy.ops.taffeta.cage_remove(object=twin.name) == {"FINISHED"}
    assert told_of(twin, saved) == [] and obj.taffeta_cage.cage == cage


def test_a_garment_that_a_strange_file_calls_its_own_cage_is_not_deleted(make, saved):
    obj, _, _ = skirt(make, 40, 30)
    obj.modifiers.new(cages.MODIFIER_NAME, "SURFACE_DEFORM")
    obj.taffeta_cage.cage = obj
    assert bpy.ops.taffeta.cage_remove(object=obj.name) == {"FINISHED"}
    assert obj.name in saved.objects and obj.taffeta_cage.cage is None and not obj.modifiers


def refused(obj, **options):
    """What Make Cage says; nothing may have changed."""
    before, objects, meshes = everything(obj), len(bpy.data.objects), len(bpy.data.meshes)
    with pytest.raises(RuntimeError) as told:
        bpy.ops.taffeta.cage_make(object=obj.name, **options)
    assert everything(obj) == before and (len(bpy.data.objects), len(bpy.data.meshes)) == (objects, meshes)
    return str(told.value)


def test_bad_input_gets_a_sentence(make):
    flat = make.cloth(make.mesh("Lines", [(0, 0, 0), (1, 0, 0), (2, 0, 0)], [(0, 1, 2)]))
    assert "Lines has no faces with an area" in refused(flat)
    fin = make.cloth(
        make.mesh("Fin", [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1)], [(0, 1, 2), (1, 0, 3), (0, 1, 4)])
    )
    assert "Fin has 1 edges of more than two faces" in refused(fin)
    sheet = make.cloth(make.grid(name="Sheet", count=20))
    assert "edges of 0.1 mm; make Edge Length longer" in refused(sheet, edge_length=1e-4)
    assert "make them shorter" in refused(sheet, edge_length=50.0)
    sheet.taffeta_cloth.pin.source, sheet.taffeta_cloth.pin.attribute = "ATTRIBUTE", "gone"
    assert "there is no attribute 'gone'" in refused(sheet)
    sheet.taffeta_cloth.pin.source = "UNIFORM"
    file = sheet.modifiers.new("File", "MESH_CACHE")
    assert "File knows single vertices" in refused(sheet)
    sheet.modifiers.remove(file)
    sheet.scale.x = 0.0
    bpy.context.view_layer.update()
    assert "Sheet has a scale of 0" in refused(sheet)
    sheet.scale.x = 1.0
    bpy.context.view_layer.update()
    sheet.data.vertices[3].co.x = np.nan
    assert "vertex 3 has no finite position" in refused(sheet)


def test_a_coarse_garment_gets_no_cage_that_is_finer(make):
    coarse = make.cloth(make.grid(name="Coarse", count=9))
    assert "Coarse is coarse enough already: it has 81 vertices" in refused(coarse, edge_length=0.02)
    assert len(make_cage(coarse, vertices=10_000).data.vertices) <= 81


def test_a_cage_that_is_hardly_coarser_is_told_with_the_count_to_ask_for(make, capfd):
    flat = make.cloth(make.grid(name="Flat", count=31))
    assert len(make_cage(flat, vertices=10_000).data.vertices) > 0.9 * 961
    assert "Flat Cage is hardly coarser than Flat" in (told := capfd.readouterr().out) and "choose 480 Vertices" in told
    make_cage(make.cloth(make.grid(name="Asked", count=31)), vertices=480)
    assert "hardly coarser" not in capfd.readouterr().out


@pytest.mark.parametrize(
    ("count", "said"),
    [
        (19, "its cage, which has 362 vertices and is hardly coarser than its own 400; choose 200 Vertices or fewer"),
        (9, "its cage; choose fewer Vertices, or clean up the mesh where it folds"),
    ],
)
def test_what_cannot_be_bound_folds_or_asks_for_fewer_vertices(make, count, said):
    """Blender binds nothing to an edge of three faces; flat grids whose cage is hardly coarser it refuses by chance."""
    obj, cage = make.grid(name="Flat", count=20), make.grid(name="Cage", count=count)
    bm = bmesh.new()
    bm.from_mesh(cage.data)
    edge = next(edge for edge in bm.edges if len(edge.link_faces) == 2)
    bm.faces.new((*edge.verts, bm.verts.new((0.0, 0.0, 1.0))))
    bm.to_mesh(cage.data)
    bm.free()
    with pytest.raises(ValueError, match=f"Flat cannot be bound to {said}"):
        cages.bind(obj, cage)
    assert not obj.modifiers


def test_it_is_made_in_steps_and_leaves_nothing_when_stopped(make, scene):
    obj, _, _ = skirt(make, 60, 50)
    before, objects, meshes = everything(obj), len(bpy.data.objects), len(bpy.data.meshes)
    steps = making(scene, obj, 300, 0.0)
    shares = [next(steps).share for _ in range(8)]
    steps.close()
    assert shares == sorted(shares) and shares[-1] > shares[0]
    assert everything(obj) == before and (len(bpy.data.objects), len(bpy.data.meshes)) == (objects, meshes)
    left = [step.share for step in making(scene, obj, 300, 0.0)]
    assert left == sorted(left) and len(left) > 8 and obj.taffeta_cage.cage is not None
