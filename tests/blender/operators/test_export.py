# SPDX-License-Identifier: GPL-3.0-or-later
"""Export through Blender's exporters: what comes back has every vertex of every frame, UVs, normals, materials."""

import os
import time

import bpy
import numpy as np
import pytest
from taffeta.operators import export
from taffeta.operators.playback import cache_modifier
from taffeta.operators.work import writers
from taffeta.solver.cache import names, pc2

FIRST, LAST = 3, 8
# Alembic and USD keep float32 in object space; OBJ has six decimals of world coordinates.
PRECISION = {".abc": 1e-6, ".usdc": 1e-6, ".usda": 1e-6, ".usd": 1e-6, ".obj": 2e-6}


def draped(make, tmp_path, name="Cloth", count=6, seed=0, location=(0.5, -1.0, 2.0)):
    """A cloth that plays a made-up bake: a sheet that bends differently in every frame."""
    obj = make.grid(name, count=count, location=location)
    obj.rotation_euler = (0.3, -0.2, 0.7)
    rest = np.array([vertex.co for vertex in obj.data.vertices])
    noise = np.random.default_rng(seed).normal(scale=0.05, size=(LAST - FIRST + 1, *rest.shape))
    pc2.write(tmp_path / f"{name}.pc2", rest + noise, FIRST)
    obj.taffeta_cloth.enabled = True
    cache_modifier.attach(obj, tmp_path / f"{name}.pc2", FIRST)
    for colour in ("Red", "Blue"):
        obj.data.materials.append(bpy.data.materials.new(colour))
    obj.data.polygons.foreach_set("material_index", np.arange(len(obj.data.polygons)) % 2)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = FIRST, LAST
    return obj


def uv_of(mesh):
    """UV by face and vertex; importers put faces in an order of their own."""
    layer = mesh.uv_layers.active.uv
    found = {}
    for face in mesh.polygons:
        for corner in face.loop_indices:
            found[tuple(sorted(face.vertices)), mesh.loops[corner].vertex_index] = tuple(layer[corner].vector)
    keys = sorted(found)
    return np.array([found[key] for key in keys])


def normals_of(obj):
    """World normals by face and vertex at the current frame."""
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    turn = np.array(evaluated.matrix_world)[:3, :3]
    found = {}
    for face in evaluated.data.polygons:
        for corner in face.loop_indices:
            key = tuple(sorted(face.vertices)), evaluated.data.loops[corner].vertex_index
            found[key] = turn @ evaluated.data.corner_normals[corner].vector
    return np.array([found[key] for key in sorted(found)])


def frames_of(make, obj):
    found = []
    for frame in range(FIRST, LAST + 1):
        bpy.context.scene.frame_set(frame)
        found.append(make.world(obj))
    return np.array(found)


def imported(action, **options):
    before = set(bpy.data.objects)
    assert action(**options) == {"FINISHED"}
    return [obj for obj in bpy.data.objects if obj not in before and obj.type == "MESH"]


@pytest.mark.parametrize("ending", [".abc", ".usdc", ".usda", ".usd"])
def test_one_file_brings_back_every_frame(make, tmp_path, ending):
    obj = draped(make, tmp_path)
    expected, uv = frames_of(make, obj), uv_of(obj.data)
    target = tmp_path / "out" / f"cloth{ending}"
    assert bpy.ops.taffeta.export(filepath=str(target), object="Cloth") == {"FINISHED"}
    if ending == ".abc":
        (back,) = imported(bpy.ops.wm.alembic_import, filepath=str(target), set_frame_range=False)
    else:
        (back,) = imported(bpy.ops.wm.usd_import, filepath=str(target), set_frame_range=False)
    found = frames_of(make, back)
    assert np.abs(found - expected).max() < PRECISION[ending]
    assert np.ptp(expected, axis=0).max() > 0.05, "the fixture has to move"
    assert np.allclose(uv_of(back.data), uv, atol=1e-6)
    slots = [slot.material.name.split(".")[0] for slot in back.material_slots if slot.material]
    assert sorted(slots) == ["Blue", "Red"]
    evaluated = back.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    assert len({polygon.material_index for polygon in evaluated.polygons}) == 2


@pytest.mark.parametrize("subframe", [0.0, 0.5])
def test_obj_sequence_brings_back_every_frame(make, scene, tmp_path, subframe):
    """Also where the playhead stands between two frames, which stays there."""
    obj = draped(make, tmp_path)
    expected, uv = frames_of(make, obj), uv_of(obj.data)
    scene.frame_set(FIRST + 1, subframe=subframe)
    assert bpy.ops.taffeta.export(filepath=str(tmp_path / "obj" / "poncho.obj"), object="Cloth") == {"FINISHED"}
    assert scene.frame_current == FIRST + 1 and scene.frame_subframe == subframe
    files = sorted((tmp_path / "obj").glob("*.obj"))
    assert [file.name for file in files] == [f"poncho_{frame:04d}.obj" for frame in range(FIRST, LAST + 1)]
    for file, x in zip(files, expected, strict=True):
        (back,) = imported(bpy.ops.wm.obj_import, filepath=str(file))
        assert np.abs(make.world(back) - x).max() < PRECISION[".obj"]
        assert np.allclose(uv_of(back.data), uv, atol=1e-6)
        assert sorted(slot.material.name.split(".")[0] for slot in back.material_slots) == ["Blue", "Red"]
        assert any(line.startswith("vn ") for line in file.read_text().splitlines())


@pytest.mark.parametrize("ending", [".abc", ".usdc", ".obj"])
def test_normals_come_back(make, scene, tmp_path, ending):
    """Half of the faces flat, half smooth: every corner has the normal that it had, in every frame."""
    obj = draped(make, tmp_path)
    obj.data.polygons.foreach_set("use_smooth", np.arange(len(obj.data.polygons)) % 2 == 0)
    expected = {}
    for frame in (FIRST, LAST):
        scene.frame_set(frame)
        expected[frame] = normals_of(obj)
    assert np.abs(expected[FIRST] - expected[LAST]).max() > 0.1
    assert bpy.ops.taffeta.export(filepath=str(tmp_path / f"n{ending}"), object="Cloth") == {"FINISHED"}
    read = {".abc": bpy.ops.wm.alembic_import, ".usdc": bpy.ops.wm.usd_import}.get(ending)
    if read:
        (back,) = imported(read, filepath=str(tmp_path / f"n{ending}"), set_frame_range=False)
    for frame, normals in expected.items():
        scene.frame_set(frame)
        if not read:
            (back,) = imported(bpy.ops.wm.obj_import, filepath=str(tmp_path / f"n_{frame:04d}.obj"))
        assert normals_of(back) == pytest.approx(normals, abs=1e-4)


def test_several_cloths_go_into_one_file(make, tmp_path):
    one, two = draped(make, tmp_path), draped(make, tmp_path, "Cape", count=4, seed=1)
    two.data.materials.clear()
    expected = {"Cloth": frames_of(make, one), "Cape": frames_of(make, two)}
    assert bpy.ops.taffeta.export(filepath=str(tmp_path / "all.abc"), everything=True) == {"FINISHED"}
    back = imported(bpy.ops.wm.alembic_import, filepath=str(tmp_path / "all.abc"), set_frame_range=False)
    assert len(back) == 2
    for obj in back:
        assert np.abs(frames_of(make, obj) - expected[obj.name.split(".")[0]]).max() < 1e-6


def test_linked_duplicates_keep_their_own_bakes(make, tmp_path):
    one, two = draped(make, tmp_path), draped(make, tmp_path, "Cape", seed=1, location=(3, 0, 0))
    two.data = one.data
    expected = {"Cloth": frames_of(make, one), "Cape": frames_of(make, two)}
    assert not np.allclose(expected["Cloth"], expected["Cape"] - (2.5, 1.0, -2.0))
    for ending, read in ((".abc", bpy.ops.wm.alembic_import), (".usdc", bpy.ops.wm.usd_import)):
        target = str(tmp_path / f"twins{ending}")
        assert bpy.ops.taffeta.export(filepath=target, everything=True) == {"FINISHED"}
        back = imported(read, filepath=target, set_frame_range=False)
        assert len(back) == 2
        found = [frames_of(make, obj) for obj in back]  # USD calls both by the name of their mesh
        for x in expected.values():
            assert sum(np.abs(y - x).max() < 1e-6 for y in found) == 1


def test_modifiers_behind_the_cache_are_exported_as_rendered(make, tmp_path):
    obj = draped(make, tmp_path)
    subdivision = obj.modifiers.new("Subdivision", "SUBSURF")
    subdivision.levels = subdivision.render_levels = 1
    count = len(frames_of(make, obj)[0])
    subdivision.levels = 0
    for ending, read in ((".abc", bpy.ops.wm.alembic_import), (".usdc", bpy.ops.wm.usd_import)):
        assert bpy.ops.taffeta.export(filepath=str(tmp_path / f"fine{ending}"), object="Cloth") == {"FINISHED"}
        (back,) = imported(read, filepath=str(tmp_path / f"fine{ending}"), set_frame_range=False)
        assert len(make.world(back)) == count
    assert bpy.ops.taffeta.export(filepath=str(tmp_path / "fine.obj"), object="Cloth", frame_end=FIRST) == {"FINISHED"}
    (back,) = imported(bpy.ops.wm.obj_import, filepath=str(tmp_path / f"fine_{FIRST:04d}.obj"))
    assert len(make.world(back)) == count


def test_a_range_can_be_chosen(make, tmp_path):
    draped(make, tmp_path)
    path = tmp_path / "x.obj"
    assert bpy.ops.taffeta.export(filepath=str(path), object="Cloth", frame_start=-1, frame_end=1) == {"FINISHED"}
    assert sorted(file.name for file in tmp_path.glob("*.obj")) == ["x_-0001.obj", "x_0000.obj", "x_0001.obj"]


@pytest.mark.parametrize("ending", [".abc", ".usdc", ".obj"])
def test_selection_frame_range_mode_and_visibility_come_back(make, scene, tmp_path, ending):
    obj, other = draped(make, tmp_path), make.grid("Other")
    obj.hide_set(True)
    obj.hide_render = True
    other.select_set(True)
    bpy.context.view_layer.objects.active = other
    bpy.ops.object.mode_set(mode="EDIT")
    scene.frame_start, scene.frame_end = 5, 6
    scene.frame_set(4, subframe=0.25)
    assert bpy.ops.taffeta.export(
        filepath=str(tmp_path / f"x{ending}"), object="Cloth", frame_start=FIRST, frame_end=LAST
    ) == {"FINISHED"}
    assert bpy.context.mode == "EDIT_MESH" and bpy.context.view_layer.objects.active == other
    bpy.ops.object.mode_set(mode="OBJECT")
    assert bpy.context.selected_objects == [other]
    assert obj.hide_get() and obj.hide_render and not obj.hide_viewport
    assert (scene.frame_start, scene.frame_end) == (5, 6)
    assert (scene.frame_current, scene.frame_subframe) == (4, 0.25)
    if ending == ".abc":
        (back,) = imported(bpy.ops.wm.alembic_import, filepath=str(tmp_path / "x.abc"), set_frame_range=False)
        assert len(frames_of(make, back)[0]) == len(obj.data.vertices), "a hidden cloth is exported all the same"


def _read_back(make, tmp_path, ending):
    """The frames FIRST to LAST of the one mesh of an export `x`, (f, n, 3)."""
    if ending == ".obj":
        read = [
            imported(bpy.ops.wm.obj_import, filepath=str(tmp_path / f"x_{frame:04d}.obj"))[0]
            for frame in range(FIRST, LAST + 1)
        ]
        return np.stack([make.world(obj) for obj in read])
    read = bpy.ops.wm.alembic_import if ending == ".abc" else bpy.ops.wm.usd_import
    (back,) = imported(read, filepath=str(tmp_path / f"x{ending}"), set_frame_range=False)
    return np.stack(frames_of(make, back))


@pytest.mark.parametrize("ending", [".abc", ".usdc", ".obj"])
@pytest.mark.parametrize("switch", ["hide_viewport", "hide_render"])
def test_cloth_in_a_collection_that_is_disabled_is_exported_all_the_same(make, scene, tmp_path, ending, switch):
    obj = draped(make, tmp_path)
    expected = np.stack(frames_of(make, obj))
    outer, inner = bpy.data.collections.new("Outer"), bpy.data.collections.new("Simulated")
    scene.collection.children.link(outer)
    outer.children.link(inner)
    inner.objects.link(obj)
    scene.collection.objects.unlink(obj)
    setattr(outer, switch, True)
    setattr(inner, switch, True)
    bpy.context.view_layer.layer_collection.children["Outer"].hide_viewport = True
    assert bpy.ops.taffeta.export(filepath=str(tmp_path / f"x{ending}"), object="Cloth") == {"FINISHED"}
    assert np.abs(_read_back(make, tmp_path, ending) - expected).max() < 2e-6
    assert getattr(outer, switch) and getattr(inner, switch), "what the animator had switched off is off again"
    assert bpy.context.view_layer.layer_collection.children["Outer"].hide_viewport


@pytest.mark.parametrize("ending", [".abc", ".usdc", ".obj"])
@pytest.mark.parametrize("appears", [True, False], ids=["appears", "goes"])
def test_cloth_that_keys_hide_for_a_while_moves_in_all_frames_of_the_export(
    make, scene, tmp_path, capfd, ending, appears
):
    obj = draped(make, tmp_path)
    expected = np.stack(frames_of(make, obj))
    for name in ("hide_viewport", "hide_render"):
        for frame, is_hidden in ((FIRST, appears), (FIRST + 2, not appears)):
            setattr(obj, name, is_hidden)
            obj.keyframe_insert(name, frame=frame)
    scene.frame_set(FIRST)
    assert bpy.ops.taffeta.export(filepath=str(tmp_path / f"x{ending}"), object="Cloth") == {"FINISHED"}
    assert "Cloth is hidden by keys in some frames; the export shows it in all" in capfd.readouterr().out
    curves = obj.animation_data.action.layers[0].strips[0].channelbags[0].fcurves
    assert not any(curve.mute for curve in curves) and obj.hide_render is appears
    assert np.abs(_read_back(make, tmp_path, ending) - expected).max() < 2e-6


@pytest.mark.parametrize("name", ["x.abc", "x.usdc", "x.obj"])
def test_nothing_is_overwritten_unless_asked(make, tmp_path, name):
    draped(make, tmp_path)
    present = tmp_path / (name if not name.endswith(".obj") else f"x_{FIRST + 2:04d}.obj")
    present.write_text("precious")
    with pytest.raises(RuntimeError, match="exists already"):
        bpy.ops.taffeta.export(filepath=str(tmp_path / name), object="Cloth")
    assert present.read_text() == "precious"
    assert {path.name for path in tmp_path.iterdir()} == {"Cloth.pc2", present.name}
    assert bpy.ops.taffeta.export(filepath=str(tmp_path / name), object="Cloth", overwrite=True) == {"FINISHED"}
    assert present.read_bytes() != b"precious"


def test_material_file_of_others_is_not_overwritten_either(make, tmp_path):
    draped(make, tmp_path)
    material = tmp_path / f"x_{FIRST:04d}.mtl"
    material.write_text("precious")
    with pytest.raises(RuntimeError, match="exists already"):
        bpy.ops.taffeta.export(filepath=str(tmp_path / "x.obj"), object="Cloth")
    assert material.read_text() == "precious" and not list(tmp_path.glob("*.obj"))


def test_bad_requests_say_what_to_do(make, scene, tmp_path):
    obj = draped(make, tmp_path)
    make.cloth(make.grid("Raw"))
    (tmp_path / "file").write_text("")
    for words, options in (
        ("has to end in", {"filepath": str(tmp_path / "x.fbx"), "object": "Cloth"}),
        ("No file is chosen; give a name that ends in .abc", {"filepath": "", "object": "Cloth"}),
        (
            f"{tmp_path} is a folder; give a file in it a name that ends in .abc",
            {"filepath": f"{tmp_path}/", "object": "Cloth"},
        ),
        ("not baked yet", {"filepath": str(tmp_path / "x.abc"), "object": "Raw"}),
        ("check the name", {"filepath": str(tmp_path / "x.abc"), "object": "Nobody"}),
        (
            "before it starts",
            {"filepath": str(tmp_path / "x.abc"), "object": "Cloth", "frame_start": 9, "frame_end": 8},
        ),
        ("choose another folder", {"filepath": str(tmp_path / "file" / "x.abc"), "object": "Cloth"}),
    ):
        with pytest.raises(RuntimeError, match=words):
            bpy.ops.taffeta.export(**options)
    hidden = bpy.data.collections.new("Hidden")
    scene.collection.children.link(hidden)
    hidden.objects.link(obj)
    scene.collection.objects.unlink(obj)
    bpy.context.view_layer.layer_collection.children["Hidden"].exclude = True
    with pytest.raises(RuntimeError, match="tick its collection"):
        bpy.ops.taffeta.export(filepath=str(tmp_path / "x.abc"), object="Cloth")
    (tmp_path / "Cloth.pc2").unlink()
    with pytest.raises(RuntimeError, match="is missing"):
        bpy.ops.taffeta.export(filepath=str(tmp_path / "x.abc"), object="Cloth")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file"]


def test_a_cache_that_shows_something_else_is_told(make, tmp_path, capfd):
    obj = draped(make, tmp_path)
    assert bpy.ops.taffeta.export(filepath=str(tmp_path / "right.abc"), object="Cloth") == {"FINISHED"}
    assert "Warning" not in capfd.readouterr().out
    obj.modifiers["Taffeta Cache"].show_render = False
    assert bpy.ops.taffeta.export(filepath=str(tmp_path / "wrong.abc"), object="Cloth") == {"FINISHED"}
    assert "Warning: Cloth: the camera icon of Taffeta Cache is off" in capfd.readouterr().out


def test_frames_outside_the_bake_are_told(make, tmp_path, capfd):
    draped(make, tmp_path)
    assert bpy.ops.taffeta.export(filepath=str(tmp_path / "x.abc"), object="Cloth", frame_end=20) == {"FINISHED"}
    assert "Cloth is baked from 3 to 8" in capfd.readouterr().out


def test_an_export_tells_that_stretched_time_shows_other_frames_of_the_bake(make, scene, tmp_path, capfd):
    obj = draped(make, tmp_path)
    baked = frames_of(make, obj)
    scene.render.frame_map_new = 50
    assert bpy.ops.taffeta.export(filepath=str(tmp_path / "x.obj"), object="Cloth", frame_end=4) == {"FINISHED"}
    told = capfd.readouterr().out
    assert (
        "Warning: Time Stretching is on: the export has in frames 3 to 4 what is shown there, frames 6 to 8 of" in told
    )
    assert "is baked from" not in told, "frames 6 and 8 are baked"
    for file, frame in (("x_0003.obj", 6), ("x_0004.obj", 8)):
        other = imported(bpy.ops.wm.obj_import, filepath=str(tmp_path / file))[0]
        np.testing.assert_allclose(make.world(other), baked[frame - FIRST], atol=2e-6)
    assert bpy.ops.taffeta.export(filepath=str(tmp_path / "y.obj"), object="Cloth") == {"FINISHED"}
    assert "Cloth is baked from 3 to 8" in capfd.readouterr().out, "the timeline shows 6 to 16"
    scene.render.frame_map_new = 120
    assert bpy.ops.taffeta.export(filepath=str(tmp_path / "z.obj"), object="Cloth") == {"FINISHED"}
    told = capfd.readouterr().out
    assert "frames 2.5 to 6.667 of the bake" in told and "is baked from" not in told, (
        "no frame begins before the bake does"
    )


def test_an_exporter_that_writes_nothing_is_found_out(make, tmp_path, monkeypatch):
    draped(make, tmp_path)
    monkeypatch.setitem(writers.EXPORTERS, ".abc", lambda path, first, last: None)
    with pytest.raises(RuntimeError, match="did not write x.abc"):
        bpy.ops.taffeta.export(filepath=str(tmp_path / "x.abc"), object="Cloth")
    assert [path.name for path in tmp_path.iterdir()] == ["Cloth.pc2"], "no scratch folder is left"


def overwrite(path, index, count, numbers):
    """Put numbers in the place of the first of a sample."""
    with path.open("r+b") as file:
        file.seek(pc2.sample_offset(count, index))
        file.write(numbers)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_that_are_not_finite_are_not_exported(make, tmp_path, bad):
    draped(make, tmp_path)
    overwrite(tmp_path / "Cloth.pc2", 2, 36, np.float32(bad).tobytes())
    for options in ({}, {"frame_start": 5, "frame_end": 5}):
        with pytest.raises(RuntimeError, match=r"Cloth: frame 5 of its cache .*Cloth.pc2 is damaged; press Resume"):
            bpy.ops.taffeta.export(filepath=str(tmp_path / "x.obj"), object="Cloth", **options)
    assert not list(tmp_path.glob("x*"))
    ranges = {"frame_start": 6, "frame_end": 20}
    assert bpy.ops.taffeta.export(filepath=str(tmp_path / "x.obj"), object="Cloth", **ranges) == {"FINISHED"}


def test_a_damaged_frame_of_a_bake_is_not_exported(make, saved, tmp_path):
    """Bytes the wrong way round are finite mostly; the journal knows that they are not those that were written."""
    saved.frame_end = 4
    obj = make.cloth(make.grid())
    bpy.ops.taffeta.bake()
    path = tmp_path / "taffeta_cache" / "Cloth.pc2"
    overwrite(path, 1, 25, pc2.read(path)[1].astype(">f4").tobytes())
    with pytest.raises(RuntimeError, match="Cloth: frame 2 of its cache .* is damaged"):
        bpy.ops.taffeta.export(filepath=str(tmp_path / "x.abc"), object="Cloth")
    assert bpy.ops.taffeta.bake(resume=True) == {"FINISHED"}
    path.with_suffix(".journal").unlink()
    assert bpy.ops.taffeta.export(filepath=str(tmp_path / "x.abc"), object=obj.name) == {"FINISHED"}, (
        "it was moved alone"
    )


@pytest.mark.parametrize("stem", ["cloth.v001", "a#b", "take##", "1.2.3", "x.obj"])
def test_an_obj_sequence_keeps_its_name(make, scene, tmp_path, stem):
    """Blender would put the number in the place of the #, or of what follows the point."""
    obj = draped(make, tmp_path)
    (tmp_path / "out").mkdir()
    assert bpy.ops.taffeta.export(filepath=str(tmp_path / "out" / f"{stem}.obj"), object="Cloth") == {"FINISHED"}
    written = {f"{stem}_{frame:04d}{ending}" for frame in range(FIRST, LAST + 1) for ending in (".obj", ".mtl")}
    assert {path.name for path in (tmp_path / "out").iterdir()} == written
    scene.frame_set(LAST)
    expected = make.world(obj)
    path = tmp_path / "out" / f"{stem}_{LAST:04d}.obj"
    (back,) = imported(bpy.ops.wm.obj_import, filepath=str(path))
    assert make.world(back) == pytest.approx(expected, abs=2e-6)
    assert {slot.material.name.partition(".")[0] for slot in back.material_slots} == {"Red", "Blue"}
    assert f"mtllib {path.stem}.mtl" in path.read_text() and path.read_text().count("mtllib") == 1


def test_what_killed_exports_left_is_swept(make, tmp_path):
    """That of an export that runs, in this process or another, stays, and so does what only looks alike."""
    draped(make, tmp_path)
    left, young, running = (tmp_path / f"{export.SCRATCH_PREFIX}{name}" for name in ("killed", "young", "running"))
    for folder in (left, young, running):
        folder.mkdir()
        (folder / "x.abc").write_bytes(b"half")
    for folder in (left, running):
        os.utime(folder, (time.time() - 60.0,) * 2)
    link = tmp_path / f"{export.SCRATCH_PREFIX}link"
    link.symlink_to(young)
    alone = tmp_path / f"{export.SCRATCH_PREFIX}gone.lock"  # killed between the folder and its lock
    alone.write_bytes(b"")
    os.utime(alone, (time.time() - 60.0,) * 2)
    lock = names.take_lock(running)
    try:
        assert bpy.ops.taffeta.export(filepath=str(tmp_path / "x.abc"), object="Cloth") == {"FINISHED"}
    finally:
        names.release_lock(lock)
    kept = {"Cloth.pc2", "x.abc", young.name, running.name, link.name}
    assert {path.name for path in tmp_path.iterdir()} == kept and (young / "x.abc").exists()


def test_an_error_of_the_system_is_words_and_no_number(make, tmp_path):
    draped(make, tmp_path)
    (tmp_path / "x.abc").mkdir()
    with pytest.raises(RuntimeError, match=r"x.abc") as caught:
        bpy.ops.taffeta.export(filepath=str(tmp_path / "x.abc"), object="Cloth", overwrite=True)
    assert "Errno" not in str(caught.value) and "directory" in str(caught.value)


def test_a_real_bake_comes_back_from_every_format(make, saved, tmp_path):
    """Bake, export, import: the same vertices as in the viewport, in every frame."""
    saved.frame_start, saved.frame_end = FIRST, LAST
    obj = make.cloth(make.grid(count=8, location=(0.1, 0.2, 0.6)))
    obj.rotation_euler.z = 0.4
    make.collider(make.ball())
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    expected = frames_of(make, obj)
    assert expected[-1, :, 2].min() < expected[0, :, 2].min() - 0.05, "it has to fall"
    for ending, read in ((".abc", bpy.ops.wm.alembic_import), (".usdc", bpy.ops.wm.usd_import)):
        target = tmp_path / f"real{ending}"
        assert bpy.ops.taffeta.export(filepath=str(target), object="Cloth") == {"FINISHED"}
        (back,) = imported(read, filepath=str(target), set_frame_range=False)
        assert np.abs(frames_of(make, back) - expected).max() < PRECISION[ending]
    assert bpy.ops.taffeta.export(filepath="//obj/real.obj", object="Cloth") == {"FINISHED"}
    for frame, x in zip(range(FIRST, LAST + 1), expected, strict=True):
        (back,) = imported(bpy.ops.wm.obj_import, filepath=str(tmp_path / "obj" / f"real_{frame:04d}.obj"))
        assert np.abs(make.world(back) - x).max() < PRECISION[".obj"]
