# SPDX-License-Identifier: GPL-3.0-or-later
"""Playback by Mesh Cache: its place in the stack, broken caches, and life without Taffeta."""

import json
import os
import shutil
import subprocess
import sys

import bpy
import numpy as np
import pytest
from seen import shown
from taffeta.operators.playback import cache_modifier
from taffeta.operators.read import modifier_stack
from taffeta.solver.cache import pc2


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
    cache_modifier.attach(obj, tmp_path / "x.pc2", make.first_frame)
    assert names(obj).index(modifier_stack.CACHE_NAME) == place
    assert [name for name in names(obj) if name != modifier_stack.CACHE_NAME] == before


def test_attach_twice_changes_nothing(make, tmp_path):
    obj = make.grid()
    for kind in ("ARMATURE", "SUBSURF"):
        obj.modifiers.new(kind, kind)
    first = cache_modifier.attach(obj, tmp_path / "x.pc2", make.first_frame)
    first.show_expanded = False
    cache_modifier.attach(obj, tmp_path / "x.pc2", make.first_frame)
    assert names(obj) == ["ARMATURE", modifier_stack.CACHE_NAME, "SUBSURF"]
    assert not obj.modifiers[1].show_expanded


def test_place_that_the_animator_chose_is_kept_if_it_works(make, tmp_path):
    obj = make.grid()
    for kind in ("ARMATURE", "CORRECTIVE_SMOOTH", "SUBSURF"):
        obj.modifiers.new(kind, kind)
    cache_modifier.attach(obj, tmp_path / "x.pc2", make.first_frame)
    assert names(obj).index(modifier_stack.CACHE_NAME) == 2
    obj.modifiers.move(2, 1)
    cache_modifier.attach(obj, tmp_path / "x.pc2", make.first_frame)
    assert names(obj) == ["ARMATURE", modifier_stack.CACHE_NAME, "CORRECTIVE_SMOOTH", "SUBSURF"]


def test_cache_moves_when_its_place_cannot_work(make, tmp_path):
    obj = make.grid()
    cache_modifier.attach(obj, tmp_path / "x.pc2", make.first_frame)
    obj.modifiers.new("ARMATURE", "ARMATURE")
    cache_modifier.attach(obj, tmp_path / "x.pc2", make.first_frame)
    assert names(obj) == ["ARMATURE", modifier_stack.CACHE_NAME]
    obj.modifiers.new("SUBSURF", "SUBSURF")
    obj.modifiers.move(2, 0)  # Subdivision first: the cache would meet too many vertices
    cache_modifier.attach(obj, tmp_path / "x.pc2", make.first_frame)
    assert names(obj).index(modifier_stack.CACHE_NAME) < names(obj).index("SUBSURF")


def test_frames_play_bit_exactly_and_subframes_linearly(make, tmp_path):
    obj = make.grid(location=(1.0, 2.0, 3.0))
    obj.modifiers.new("WAVE", "WAVE")
    x = make.bake(obj, tmp_path)
    for index in range(make.frame_count):
        assert np.array_equal(shown(obj, make.first_frame + index), x[index])
    half = shown(obj, make.first_frame + 1, 0.5)
    assert np.abs(half - 0.5 * (x[1] + x[2])).max() < 1e-6
    assert np.array_equal(shown(obj, make.first_frame - 2), x[0])
    assert np.array_equal(shown(obj, make.first_frame + 99), x[-1])


def test_subdivision_works_on_the_cloth(make, tmp_path):
    obj = make.grid()
    x = make.bake(obj, tmp_path)
    obj.modifiers.new("SUBSURF", "SUBSURF").levels = 1
    twin = make.grid("Twin")
    twin.data.attributes["position"].data.foreach_set("vector", x[2].ravel())
    twin.modifiers.new("SUBSURF", "SUBSURF").levels = 1
    assert np.array_equal(shown(obj, make.first_frame + 2), shown(twin, make.first_frame + 2))


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
    x = make.bake(obj, project / "taffeta_cache")
    bpy.ops.wm.save_mainfile()
    times = [
        float(make.first_frame),
        make.first_frame + 1.0,
        make.first_frame + 1.25,
        make.first_frame + 2.5,
        make.first_frame + 4.0,
    ]
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
    x = make.bake(obj, tmp_path / "taffeta_cache")
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    obj = bpy.data.objects["Cloth"]
    assert cache_modifier.trouble(obj) == ""
    assert np.array_equal(shown(obj, make.first_frame + 2), x[2])


def test_missing_cache_is_told_when_the_file_is_opened(make, saved, tmp_path, capfd):
    obj = make.grid()
    make.bake(obj, tmp_path / "taffeta_cache")
    bpy.ops.wm.save_mainfile()
    shutil.rmtree(tmp_path / "taffeta_cache")
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    sentence = cache_modifier.trouble(bpy.data.objects["Cloth"])
    assert sentence.startswith("Cloth: its cache") and "is missing" in sentence
    assert sentence in capfd.readouterr().out


def test_broken_caches_are_told_apart(make, tmp_path):
    obj = make.grid()
    make.bake(obj, tmp_path)
    path = tmp_path / "Cloth.pc2"
    whole = path.read_bytes()
    assert cache_modifier.trouble(obj) == ""
    path.write_bytes(whole[:-40])
    assert "promises 5 samples but holds 4" in cache_modifier.trouble(obj)
    path.write_bytes(whole[:20])
    assert "is not a PC2" in cache_modifier.trouble(obj)
    path.write_bytes(b"solid cube\n" + bytes(100))
    assert "is not a PC2" in cache_modifier.trouble(obj)
    path.write_bytes(pc2.pack_header(25, make.first_frame, 0))
    assert "holds no frame" in cache_modifier.trouble(obj)
    pc2.write(path, make.samples(7), make.first_frame)
    assert "has 7 vertices, its mesh 25" in cache_modifier.trouble(obj)
    assert cache_modifier.trouble(obj).startswith("Cloth: ")


def test_a_linked_object_is_refused(make, tmp_path):
    make.grid()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=True) as (_, wanted):
        wanted.objects = ["Cloth"]
    obj = wanted.objects[0]
    bpy.context.scene.collection.objects.link(obj)
    with pytest.raises(ValueError, match="Cloth is linked from .* library override"):
        cache_modifier.attach(obj, tmp_path / "x.pc2", make.first_frame)
    assert names(obj) == []


def test_a_shots_cache_stays_behind_the_rig_where_the_librarys_is_gone(make, scene, tmp_path, capfd):
    """Blender puts the shot's own cache first then, and the baked cloth would be skinned again."""
    library, shot, cached = tmp_path / "library.blend", tmp_path / "shot.blend", tmp_path / "own.pc2"
    obj = make.cloth(make.grid())
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    scene.collection.objects.link(rig)
    obj.modifiers.new("Arm", "ARMATURE").object = rig
    pc2.write(cached, make.samples(25), make.first_frame)
    cache_modifier.attach(obj, cached, make.first_frame)
    bpy.ops.wm.save_as_mainfile(filepath=str(library))
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(str(library), link=True) as (there, here):
        here.objects = there.objects
    for linked in here.objects:
        bpy.context.scene.collection.objects.link(linked)
        linked.override_create(remap_local_usages=True)
    own = next(one for one in bpy.data.objects if one.library is None and one.type == "MESH")
    cache_modifier.attach(own, cached, make.first_frame)
    assert names(own) == ["Arm", "Taffeta Cache", "Taffeta Cache.001"]
    bpy.ops.wm.save_as_mainfile(filepath=str(shot))
    bpy.ops.wm.open_mainfile(filepath=str(library))
    cache_modifier.detach(bpy.data.objects["Cloth"])
    bpy.ops.wm.save_mainfile()
    capfd.readouterr()
    bpy.ops.wm.open_mainfile(filepath=str(shot))
    own = next(one for one in bpy.data.objects if one.library is None and one.type == "MESH")
    assert names(own) == ["Arm", "Taffeta Cache.001"]
    assert "Cloth: its library changed; the Taffeta Cache is behind the rig again" in capfd.readouterr().out
