# SPDX-License-Identifier: GPL-3.0-or-later
"""Resume with garments that do not have the same good frames: one is new, freed, baked alone, or behind after a kill.

Garments are simulated together, so the frames that all of them have are kept, the rest is baked anew, and what was there
is set aside.
"""

import json

import bpy
import pytest
from taffeta.operators import command
from taffeta.operators.playback import bake_files
from taffeta.solver.cache import frames, names, trash


@pytest.fixture
def two(saved, make):
    """A saved scene with two sheets above each other, frames 1 to 6."""
    saved.frame_end = 6
    return [make.cloth(make.grid(name, count=4, location=(0, 0, z))) for name, z in (("Shirt", 2.0), ("Coat", 2.2))]


def files(obj, name=""):
    path = bake_files.cache_file(obj)
    path = path.with_name(f"{name}.pc2") if name else path
    return [part.read_bytes() for part in names.parts(path)]


def whole(objects):
    """All files of a bake of all garments that ran through."""
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    return [files(obj) for obj in objects]


def set_aside(obj):
    return [path.name for path in names.older_bakes(bake_files.cache_file(obj))]


def test_a_rebake_tells_why_no_frame_can_be_kept(two, saved):
    """Where the range starts elsewhere, frames last otherwise, or the mesh has other vertices; the bake stays and plays."""
    coat, expected = two[1], whole(two)

    def refused(words):
        with pytest.raises(RuntimeError, match=words):
            bpy.ops.taffeta.bake(from_frame=4)
        assert [files(obj) for obj in two] == expected and not set_aside(coat)

    saved.frame_start = 3
    refused("Coat is baked from frame 1 on, and the range starts at 3 now; press Bake, which keeps that one")
    saved.frame_start, saved.render.fps = 1, 48
    refused("Coat is baked at 24 frames a second, and the scene has 48 now")
    saved.render.fps = 24
    coat.data.vertices.add(1)
    refused("Coat is baked with 16 vertices, and its mesh has 17 now")


def test_a_cloth_that_is_added_after_the_bake(saved, make, capfd):
    saved.frame_end = 6
    shirt = make.cloth(make.grid("Shirt", count=4, location=(0, 0, 2)))
    alone = whole([shirt])[0]
    coat = make.cloth(make.grid("Coat", count=4, location=(0, 0, 2.2)))
    assert bpy.ops.taffeta.bake(resume=True) == {"FINISHED"}
    assert files(shirt, "Shirt.bak1") == alone
    told = capfd.readouterr().out
    assert "Coat had no frame, and garments are simulated together: the bake began anew" in told
    assert "An earlier bake was kept as Shirt.bak1.pc2" in told
    resumed = [files(obj) for obj in (shirt, coat)]
    assert resumed == whole([shirt, coat])
    assert json.loads(shirt.taffeta_cloth.report_json)["frames_kept"] == 0


def test_a_cloth_that_was_freed(two):
    expected = whole(two)
    bpy.ops.taffeta.free(object="Coat")
    assert bpy.ops.taffeta.bake(resume=True) == {"FINISHED"}
    assert [files(obj) for obj in two] == expected
    assert files(two[0], "Shirt.bak1") == expected[0]


def test_frames_that_all_have_are_kept(two):
    expected = whole(two)
    for obj, last in zip(two, (5, 3), strict=True):
        with frames.open_cache(bake_files.cache_file(obj), 16, 1, 24.0) as cache:
            cache.truncate_to(last)
    aside = [set_aside(obj) for obj in two]
    assert bpy.ops.taffeta.bake(resume=True) == {"FINISHED"}
    assert [files(obj) for obj in two] == expected
    assert json.loads(two[0].taffeta_cloth.report_json)["frames_kept"] == 3
    assert len(set_aside(two[0])) == len(aside[0]) + 1 and set_aside(two[1]) == aside[1]


def killed(path):
    """A bake of 16 vertices whose process was killed before its first frame."""
    with frames.open_cache(path, 16, 1, 24.0):
        left = {part: part.read_bytes() for part in names.parts(path)}
    for part, content in left.items():
        part.write_bytes(content)


@pytest.mark.parametrize("begun", [False, True])
def test_a_kill_between_the_first_frames_of_two_garments(two, begun, capfd):
    """The first has one frame; the second has no file, or one that was opened and no more."""
    expected = whole(two)
    with frames.open_cache(bake_files.cache_file(two[0]), 16, 1, 24.0) as cache:
        cache.truncate_to(2)
        cache.truncate_to(1)
    for bak in names.older_bakes(bake_files.cache_file(two[0])):
        trash.put(bak)
    path = bake_files.cache_file(two[1])
    trash.put(path)
    if begun:
        killed(path)
    assert bpy.ops.taffeta.bake(resume=True) == {"FINISHED"}
    assert [part for obj in two for part in files(obj)[:2]] == [part for garment in expected for part in garment[:2]]
    assert not set_aside(two[0]) and not set_aside(two[1]), "one frame is no more than a torn rest"


def test_every_frame_anew_where_one_garment_has_none(two):
    expected = whole(two)
    bpy.ops.taffeta.free(object="Shirt")
    assert bpy.ops.taffeta.bake(from_frame=1) == {"FINISHED"}
    assert [files(obj)[:2] for obj in two] == [garment[:2] for garment in expected]


def test_a_farm_bakes_one_object_and_then_the_rest(two, saved, tmp_path):
    """`--object Shirt`, then all of them with --resume, in parts: a part goes on with the bake that began at frame 1."""
    expected = whole(two)
    bpy.ops.taffeta.free(everything=True)
    bpy.ops.wm.save_mainfile()
    blend, folder = str(tmp_path / "shot.blend"), tmp_path / "taffeta_cache"
    assert command.run(["bake", blend, "--object", "Shirt", "--frames", "1-4"]) == 0
    assert command.run(["bake", blend, "--resume", "--frames", "5-6"]) == 0
    assert (folder / "Shirt.bak1.pc2").is_file()
    baked = [[part.read_bytes() for part in names.parts(folder / f"{name}.pc2")[:2]] for name in ("Shirt", "Coat")]
    assert baked == [garment[:2] for garment in expected]


def test_another_cache_folder_where_the_old_one_cannot_be_written(two, saved, monkeypatch):
    """As the sentence of a Resume into a read-only folder says: what was there stays, and its frames are gone on with."""
    expected = whole(two)
    saved.frame_end, before = 3, bake_files.cache_file(two[0]).parent
    kept = whole(two)
    saved.frame_end, saved.taffeta.cache_folder = 6, "//other"
    access = bake_files.os.access
    monkeypatch.setattr(bake_files.os, "access", lambda path, mode: path != before and access(path, mode))
    assert bpy.ops.taffeta.bake(resume=True) == {"FINISHED"}
    assert bake_files.cache_file(two[0]).parent == before.with_name("other")
    assert json.loads(two[0].taffeta_cloth.report_json)["frames_kept"] == 3
    for obj, old, new in zip(two, kept, expected, strict=True):
        assert [part.read_bytes() for part in names.parts(before / f"{obj.name}.pc2")] == old
        assert files(obj)[:2] == new[:2], "the journal names the .blend as seen from there"
