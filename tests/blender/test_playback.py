# SPDX-License-Identifier: GPL-3.0-or-later
"""Playback by Mesh Cache: its place in the stack, muting, paths, broken caches, freeing, and life without Taffeta."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import bpy
import numpy as np
import pytest
from taffeta.operators import playback, preflight
from taffeta.solver.cache import frames, pc2

FIRST = 3
STEPS = 5


def samples(count, steps=STEPS, seed=0):
    """Arbitrary positions (steps, count, 3) float32: nothing that a rig could make by chance."""
    return np.random.default_rng(seed).normal(size=(steps, count, 3)).astype(np.float32)


def baked(obj, folder, name="Cloth"):
    """A bake of `obj` as Taffeta leaves it on disk, with positions of our own; returns them."""
    x = samples(len(obj.data.vertices))
    with frames.open_cache(Path(folder) / f"{name}.pc2", x.shape[1], FIRST, 24.0) as cache:
        for index, sample in enumerate(x):
            cache.append(FIRST + index, b"%d" % index, sample, sample.astype(float), sample.astype(float))
    obj.taffeta_cloth.enabled = True
    playback.attach(obj, Path(folder) / f"{name}.pc2", FIRST)
    obj.taffeta_cloth.cache_path = playback.find(obj).filepath
    return x


def shown(obj, frame, subframe=0.0):
    """Vertices of the evaluated mesh in object space, (n, 3) float32."""
    bpy.context.scene.frame_set(frame, subframe=subframe)
    mesh = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    x = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", x)
    return x.reshape(-1, 3)


def names(obj):
    return [modifier.name for modifier in obj.modifiers]


@pytest.mark.parametrize(
    ("stack", "place"),
    [
        ([], 0),
        (["ARMATURE"], 1),
        (["SUBSURF"], 0),
        (["ARMATURE", "SUBSURF", "SOLIDIFY"], 1),
        (["ARMATURE", "LATTICE", "SMOOTH", "SUBSURF", "CORRECTIVE_SMOOTH"], 3),
        (["VERTEX_WEIGHT_EDIT", "LATTICE", "WEIGHTED_NORMAL"], 2),
        (["NODES", "ARMATURE", "NODES"], 2),
        (["NODES"], 0),
        (["ARMATURE", "NODES", "SMOOTH"], 1),
        (["MIRROR", "ARMATURE"], 0),
        (["COLLISION"], 0),
    ],
)
def test_cache_stands_between_rig_and_refinement(make, tmp_path, stack, place):
    obj = make.grid()
    for kind in stack:
        obj.modifiers.new(kind, kind)
    before = names(obj)
    playback.attach(obj, tmp_path / "x.pc2", FIRST)
    assert names(obj).index(playback.NAME) == place
    assert [name for name in names(obj) if name != playback.NAME] == before


def test_attach_twice_changes_nothing(make, tmp_path):
    obj = make.grid()
    for kind in ("ARMATURE", "SUBSURF"):
        obj.modifiers.new(kind, kind)
    first = playback.attach(obj, tmp_path / "x.pc2", FIRST)
    first.show_expanded = False
    playback.attach(obj, tmp_path / "x.pc2", FIRST)
    assert names(obj) == ["ARMATURE", playback.NAME, "SUBSURF"]
    assert not obj.modifiers[1].show_expanded


def test_place_that_the_animator_chose_is_kept_if_it_works(make, tmp_path):
    obj = make.grid()
    for kind in ("ARMATURE", "CORRECTIVE_SMOOTH", "SUBSURF"):
        obj.modifiers.new(kind, kind)
    playback.attach(obj, tmp_path / "x.pc2", FIRST)
    assert names(obj).index(playback.NAME) == 2
    obj.modifiers.move(2, 1)
    playback.attach(obj, tmp_path / "x.pc2", FIRST)
    assert names(obj) == ["ARMATURE", playback.NAME, "CORRECTIVE_SMOOTH", "SUBSURF"]


def test_cache_moves_when_its_place_cannot_work(make, tmp_path):
    obj = make.grid()
    playback.attach(obj, tmp_path / "x.pc2", FIRST)
    obj.modifiers.new("ARMATURE", "ARMATURE")
    playback.attach(obj, tmp_path / "x.pc2", FIRST)
    assert names(obj) == ["ARMATURE", playback.NAME]
    obj.modifiers.new("SUBSURF", "SUBSURF")
    obj.modifiers.move(2, 0)  # Subdivision first: the cache would meet too many vertices
    playback.attach(obj, tmp_path / "x.pc2", FIRST)
    assert names(obj).index(playback.NAME) < names(obj).index("SUBSURF")


def test_frames_play_bit_exactly_and_subframes_linearly(make, scene, tmp_path):
    obj = make.grid(location=(1.0, 2.0, 3.0))
    obj.modifiers.new("WAVE", "WAVE")
    x = baked(obj, tmp_path)
    for index in range(STEPS):
        assert np.array_equal(shown(obj, FIRST + index), x[index])
    half = shown(obj, FIRST + 1, 0.5)
    assert np.abs(half - 0.5 * (x[1] + x[2])).max() < 1e-6
    assert np.array_equal(shown(obj, FIRST - 2), x[0])
    assert np.array_equal(shown(obj, FIRST + 99), x[-1])


def test_subdivision_works_on_the_cloth(make, scene, tmp_path):
    obj = make.grid()
    x = baked(obj, tmp_path)
    obj.modifiers.new("SUBSURF", "SUBSURF").levels = 1
    twin = make.grid("Twin")
    twin.data.attributes["position"].data.foreach_set("vector", x[2].ravel())
    twin.modifiers.new("SUBSURF", "SUBSURF").levels = 1
    assert np.array_equal(shown(obj, FIRST + 2), shown(twin, FIRST + 2))


def test_muted_shows_the_rig_and_restores_exactly(make, scene, tmp_path):
    obj, unbaked = make.grid(), make.grid("Unbaked")
    wave = obj.modifiers.new("WAVE", "WAVE")
    wave.start_position_x = 0.3
    baked(obj, tmp_path)
    for kind in ("SUBSURF", "SOLIDIFY"):
        obj.modifiers.new(kind, kind)
    obj.modifiers["SOLIDIFY"].show_viewport = False
    unbaked.modifiers.new("SUBSURF", "SUBSURF")
    before = [(m.name, m.show_viewport, m.show_render) for o in (obj, unbaked) for m in o.modifiers]
    reference = make.grid("Reference")
    other = reference.modifiers.new("WAVE", "WAVE")
    other.start_position_x = 0.3
    with playback.muted([obj, unbaked]):
        assert np.array_equal(shown(obj, 7), shown(reference, 7))
        assert len(shown(unbaked, 7)) == len(unbaked.data.vertices)
    assert [(m.name, m.show_viewport, m.show_render) for o in (obj, unbaked) for m in o.modifiers] == before
    with pytest.raises(RuntimeError, match="sampling failed"), playback.muted([obj, unbaked]):
        raise RuntimeError("sampling failed")
    assert [(m.name, m.show_viewport, m.show_render) for o in (obj, unbaked) for m in o.modifiers] == before


def test_muted_survives_a_deleted_object_and_modifier(make, scene, tmp_path):
    obj, gone = make.grid(), make.grid("Gone")
    for one in (obj, gone):
        baked(one, tmp_path, one.name)
        one.modifiers.new("SUBSURF", "SUBSURF")
    with playback.muted([obj, gone]):
        bpy.data.objects.remove(gone)
        obj.modifiers.remove(obj.modifiers["SUBSURF"])
    assert playback.find(obj).show_viewport


def test_path_is_relative_once_the_file_has_a_place(make, saved, tmp_path):
    obj = make.grid()
    baked(obj, tmp_path / "taffeta_cache")
    assert playback.find(obj).filepath == "//taffeta_cache/Cloth.pc2"
    assert playback.cache_file(obj) == tmp_path / "taffeta_cache" / "Cloth.pc2"


def test_path_is_absolute_before(make, scene, tmp_path):
    obj = make.grid()
    baked(obj, tmp_path)
    assert playback.find(obj).filepath == str(tmp_path / "Cloth.pc2")


PLAIN = """
import sys, json
sys.modules["taffeta"] = None  # importing it fails
import bpy, numpy as np
bpy.ops.wm.open_mainfile(filepath=sys.argv[1])
assert not hasattr(bpy.types.Object, "taffeta_cloth") and not hasattr(bpy.types, "TAFFETA_OT_free")
shown = {}
for time in json.loads(sys.argv[3]):
    bpy.context.scene.frame_set(int(time // 1), subframe=time % 1)
    mesh = bpy.data.objects["Cloth"].evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    x = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", x)
    shown[str(time)] = x
np.savez(sys.argv[2], **shown)
"""


def played_without_taffeta(blend, tmp_path, times):
    """Vertices by time, read by a plain Blender in a process of its own that cannot find Taffeta."""
    script, result = tmp_path / "plain.py", tmp_path / "plain.npz"
    script.write_text(PLAIN)
    result.unlink(missing_ok=True)
    command = [sys.executable, "-P", str(script), str(blend), str(result), json.dumps(times)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    with np.load(result) as arrays:
        return [arrays[str(time)].reshape(-1, 3) for time in times]


def test_plays_without_taffeta_also_when_renamed_and_moved(make, saved, tmp_path):
    project = tmp_path / "project"
    project.mkdir()
    bpy.ops.wm.save_as_mainfile(filepath=str(project / "shot.blend"))
    obj = make.grid(count=12)
    obj.modifiers.new("ARMATURE", "ARMATURE")
    x = baked(obj, project / "taffeta_cache")
    bpy.ops.wm.save_mainfile()
    times = [float(FIRST), FIRST + 1.0, FIRST + 1.25, FIRST + 2.5, FIRST + 4.0]
    expected = [shown(obj, int(t), t % 1) for t in times]
    assert np.array_equal(expected[1], x[1])
    assert not np.array_equal(expected[2], expected[1])

    def plays(blend):
        found = played_without_taffeta(blend, tmp_path, times)
        return all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))

    assert plays(project / "shot.blend")
    os.rename(project / "shot.blend", project / "shot_v002.blend")
    assert plays(project / "shot_v002.blend")
    shutil.move(project, tmp_path / "elsewhere")
    assert plays(tmp_path / "elsewhere" / "shot_v002.blend")


def test_settings_return_when_the_file_is_opened_again(make, saved, tmp_path):
    obj = make.grid()
    x = baked(obj, tmp_path / "taffeta_cache")
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    obj = bpy.data.objects["Cloth"]
    assert playback.trouble(obj) == ""
    assert np.array_equal(shown(obj, FIRST + 2), x[2])


def test_missing_cache_is_told_when_the_file_is_opened(make, saved, tmp_path, capfd):
    obj = make.grid()
    baked(obj, tmp_path / "taffeta_cache")
    bpy.ops.wm.save_mainfile()
    shutil.rmtree(tmp_path / "taffeta_cache")
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    sentence = playback.trouble(bpy.data.objects["Cloth"])
    assert sentence.startswith("Cloth: its cache") and "is missing" in sentence
    assert sentence in capfd.readouterr().out


def test_broken_caches_are_told_apart(make, scene, tmp_path):
    obj = make.grid()
    baked(obj, tmp_path)
    path = tmp_path / "Cloth.pc2"
    whole = path.read_bytes()
    assert playback.trouble(obj) == ""
    path.write_bytes(whole[:-40])
    assert "promises 5 samples but holds 4" in playback.trouble(obj)
    path.write_bytes(whole[:20])
    assert "is not a PC2" in playback.trouble(obj)
    path.write_bytes(b"solid cube\n" + bytes(100))
    assert "is not a PC2" in playback.trouble(obj)
    path.write_bytes(pc2.pack_header(25, FIRST, 0))
    assert "holds no frame" in playback.trouble(obj)
    pc2.write(path, samples(7), FIRST)
    assert "has 7 vertices, its mesh 25" in playback.trouble(obj)
    assert all(sentence.startswith("Cloth: ") for sentence in [playback.trouble(obj)])


def test_a_linked_object_is_refused(make, scene, tmp_path):
    make.grid()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=True) as (_, wanted):
        wanted.objects = ["Cloth"]
    obj = wanted.objects[0]
    bpy.context.scene.collection.objects.link(obj)
    with pytest.raises(ValueError, match="Cloth is linked from .* library override"):
        playback.attach(obj, tmp_path / "x.pc2", FIRST)
    assert names(obj) == []


def test_free_deletes_the_bake_and_shows_the_rig(make, saved, tmp_path):
    obj, other = make.grid(), make.grid("Other")
    folder = tmp_path / "taffeta_cache"
    baked(obj, folder)
    baked(other, folder, "Other")
    older = frames.copy_aside(folder / "Cloth.pc2")
    (folder / "Cloth.report.json").write_text("{}")
    assert bpy.ops.taffeta.free(object="Cloth") == {"FINISHED"}
    assert not (folder / "Cloth.report.json").exists()
    assert playback.find(obj) is None and obj.taffeta_cloth.cache_path == ""
    assert not list(folder.glob("Cloth.pc2")) and not list(folder.glob("Cloth.journal"))
    assert older.exists(), "an older bake is kept unless asked"
    assert (folder / "Other.pc2").exists() and playback.trouble(other) == ""
    assert bpy.ops.taffeta.free(everything=True) == {"FINISHED"}
    assert not (folder / "Other.pc2").exists()


def test_free_takes_older_bakes_when_asked(make, saved, tmp_path):
    obj = make.grid()
    folder = tmp_path / "taffeta_cache"
    baked(obj, folder)
    frames.copy_aside(folder / "Cloth.pc2")
    pc2.write(folder / "Cloth2.bak1.pc2", samples(3), 1)
    assert bpy.ops.taffeta.free(object="Cloth", older=True) == {"FINISHED"}
    assert [path.name for path in folder.iterdir()] == ["Cloth2.bak1.pc2"]


def test_older_bakes_are_told_and_freed_alone(make, saved, tmp_path):
    obj, folder = make.grid(), tmp_path / "taffeta_cache"
    baked(obj, folder)
    older = [frames.copy_aside(folder / "Cloth.pc2") for _ in range(2)]
    with (folder / "Cloth.bak1.state").open("ab") as file:
        file.truncate(3_000_000)
    preflight.show(saved)
    assert "2 older bakes (3.0 MB) of Cloth" in bpy.context.window_manager.taffeta.older["Cloth"].sentence
    assert bpy.ops.taffeta.free_older(object="Cloth") == {"FINISHED"}
    assert not any(path.exists() for path in older)
    assert playback.trouble(obj) == "" and (folder / "Cloth.state").exists()
    preflight.show(saved)
    assert not bpy.context.window_manager.taffeta.older


def test_older_bakes_of_another_file_are_not_ours(make, saved, tmp_path):
    obj, folder = make.cloth(make.grid()), tmp_path / "taffeta_cache"
    (tmp_path / "other.blend").write_bytes(b"")
    frames.open_cache(folder / "Cloth.pc2", len(obj.data.vertices), 1, 24.0, "../other.blend").close()
    frames.copy_aside(folder / "Cloth.pc2")
    preflight.show(saved)
    assert not bpy.context.window_manager.taffeta.older
    bpy.ops.taffeta.free_older(object="Cloth")
    assert (folder / "Cloth.bak1.pc2").exists()
    (tmp_path / "other.blend").unlink()
    preflight.show(saved)
    assert "1 older bake (" in bpy.context.window_manager.taffeta.older["Cloth"].sentence, "nobody else's any more"


def test_free_leaves_what_another_object_plays(make, saved, tmp_path):
    obj = make.grid()
    folder = tmp_path / "taffeta_cache"
    baked(obj, folder)
    copy = obj.copy()
    bpy.context.scene.collection.objects.link(copy)
    older = frames.copy_aside(folder / "Cloth.pc2")
    bpy.ops.taffeta.free_older(object=copy.name)
    assert older.exists(), "it is the original's"
    assert bpy.ops.taffeta.free(object=copy.name) == {"FINISHED"}
    assert playback.find(copy) is None
    assert playback.trouble(obj) == "" and (folder / "Cloth.state").exists()
    assert bpy.ops.taffeta.free(object="Cloth") == {"FINISHED"}
    assert not (folder / "Cloth.pc2").exists()


def test_free_refuses_files_that_are_not_ours(make, saved, tmp_path):
    obj = make.grid()
    obj.taffeta_cloth.enabled = True
    pc2.write(tmp_path / "houdini.pc2", samples(25), 1)
    playback.attach(obj, tmp_path / "houdini.pc2", 1)
    with pytest.raises(RuntimeError, match="was not baked by Taffeta"):
        bpy.ops.taffeta.free(object="Cloth")
    assert (tmp_path / "houdini.pc2").exists()
    assert playback.find(obj) is not None


@pytest.mark.parametrize("name", ["", "Nobody"])
def test_free_without_a_cloth_says_so(make, scene, name):
    with pytest.raises(RuntimeError, match="check the name|No Taffeta Cloth is selected"):
        bpy.ops.taffeta.free(object=name)
