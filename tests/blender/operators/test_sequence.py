# SPDX-License-Identifier: GPL-3.0-or-later
"""An OBJ sequence as an animated body: Blender's own OBJ importer is the judge."""

import tempfile

import bpy
import numpy as np
import pytest
from taffeta.operators import sequence
from taffeta.operators.work.steps import Run, run_through
from taffeta.solver.cache import pc2

FRAMES = (3, 4, 6)  # 5 is left out


def write_obj(path, x, faces):
    lines = [f"v {a:.6f} {b:.6f} {c:.6f}" for a, b, c in x]
    lines += ["f " + " ".join(str(i + 1) for i in face) for face in faces]
    path.write_text("\n".join(lines) + "\n")


def tent():
    """A pyramid: a quad, four triangles, and an apex that is not in the middle (so that axes cannot hide)."""
    x = np.array([(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0), (0.3, 0.1, 1.5)])
    return x, [(0, 1, 2, 3), (0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4)]


@pytest.fixture
def files(tmp_path):
    """A sequence body_0003.obj, body_0004.obj, body_0006.obj that moves along x and rises."""
    folder = tmp_path / "obj"
    folder.mkdir()
    x, faces = tent()
    for frame in FRAMES:
        write_obj(folder / f"body_{frame:04d}.obj", x + (0.5 * frame, 0, 0.1 * frame**2), faces)
    return folder


def shown(make, frame, subframe=0.0):
    bpy.context.scene.frame_set(frame, subframe=subframe)
    return make.world(bpy.data.objects["body"])


@pytest.mark.parametrize(
    ("forward", "up", "scale"),
    [("NEGATIVE_Z", "Y", 1.0), ("Y", "Z", 1.0), ("X", "Z", 0.01), ("NEGATIVE_Y", "NEGATIVE_Z", 2.0)],
)
def test_every_frame_is_where_blenders_importer_puts_it(make, saved, files, forward, up, scale):
    assert bpy.ops.taffeta.sequence_import(
        filepath=str(files / "body_0003.obj"), forward_axis=forward, up_axis=up, global_scale=scale
    ) == {"FINISHED"}
    obj = bpy.data.objects["body"]
    assert obj.taffeta_collider.enabled and bpy.context.view_layer.objects.active == obj
    expected = {}
    for frame in FRAMES:
        bpy.ops.wm.obj_import(
            filepath=str(files / f"body_{frame:04d}.obj"), forward_axis=forward, up_axis=up, global_scale=scale
        )
        expected[frame] = make.world(bpy.context.view_layer.objects.active)
        assert np.abs(shown(make, frame) - expected[frame]).max() < 1e-6 * max(1.0, scale)
    assert np.abs(shown(make, 5) - 0.5 * (expected[4] + expected[6])).max() < 1e-6 * max(1.0, scale)
    assert np.abs(shown(make, 3, 0.25) - (0.75 * expected[3] + 0.25 * expected[4])).max() < 1e-6 * max(1.0, scale)
    assert sorted(len(face.vertices) for face in obj.data.polygons) == [3, 3, 3, 3, 4]


def test_it_plays_after_the_obj_files_are_gone_and_the_file_is_opened_again(make, saved, files, tmp_path):
    bpy.ops.taffeta.sequence_import(filepath=str(files), forward_axis="Y", up_axis="Z")
    expected = shown(make, 6)
    assert bpy.data.objects["body"].modifiers[sequence.SEQUENCE_NAME].filepath.startswith("//taffeta_cache/")
    for file in files.iterdir():
        file.unlink()
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    assert np.array_equal(shown(make, 6), expected)


def test_two_imports_do_not_share_a_cache(make, saved, files, tmp_path):
    bpy.ops.taffeta.sequence_import(filepath=str(files), forward_axis="Y", up_axis="Z")
    before = shown(make, 4)
    x, faces = tent()
    for frame in FRAMES:
        write_obj(files / f"body_{frame:04d}.obj", x * 3.0, faces)
    bpy.ops.taffeta.sequence_import(filepath=str(files), forward_axis="Y", up_axis="Z")
    assert np.array_equal(shown(make, 4), before)
    bpy.context.scene.frame_set(4)
    assert np.abs(make.world(bpy.data.objects["body.001"]) - 3.0 * x).max() < 1e-6
    assert len(list((tmp_path / "taffeta_cache").iterdir())) == 2


def test_single_file_is_a_body_that_stands_still(make, saved, tmp_path):
    x, faces = tent()
    write_obj(tmp_path / "rock_7.obj", x, faces)
    assert bpy.ops.taffeta.sequence_import(filepath=str(tmp_path / "rock_7.obj"), forward_axis="Y", up_axis="Z") == {
        "FINISHED"
    }
    bpy.context.scene.frame_set(1)
    assert np.abs(make.world(bpy.data.objects["rock"]) - x).max() < 1e-6


def test_degenerate_and_loose_parts_do_not_shift_the_vertices(make, saved, tmp_path):
    x = np.arange(21.0).reshape(7, 3) ** 1.1
    faces = [(0, 1, 2), (2, 2, 3), (3, 1, 3, 4), (4, 5, 0), (0, 1, 2)]  # vertex 6 is loose
    write_obj(tmp_path / "odd_1.obj", x, faces)
    write_obj(tmp_path / "odd_2.obj", x + 1.0, faces)
    assert bpy.ops.taffeta.sequence_import(filepath=str(tmp_path / "odd_1.obj"), forward_axis="Y", up_axis="Z") == {
        "FINISHED"
    }
    saved.frame_set(2)
    obj = bpy.data.objects["odd"]
    assert np.abs(make.world(obj) - x - 1.0).max() < 1e-5
    assert 2 <= len(obj.data.polygons) <= 3


def test_frames_without_a_file_are_told(make, saved, files, capfd):
    """A render farm may have lost some: the body would go another way there, and nobody knew."""
    assert bpy.ops.taffeta.sequence_import(filepath=str(files)) == {"FINISHED"}
    assert "body: 1 of 4 frames have no file, and go straight between those beside them: 5\n" in capfd.readouterr().out
    write_obj(files / "body_0005.obj", *tent())
    assert bpy.ops.taffeta.sequence_import(filepath=str(files)) == {"FINISHED"}
    assert "no file" not in capfd.readouterr().out


def test_unsaved_file_says_where_the_cache_is(make, files, capfd, monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert bpy.ops.taffeta.sequence_import(filepath=str(files)) == {"FINISHED"}
    assert "temporary folder" in capfd.readouterr().out
    assert np.isfinite(shown(make, 3)).all()


def other_topology(files):
    x, faces = tent()
    write_obj(files / "body_0004.obj", x[:4], faces[:1])


def other_faces(files):
    x, faces = tent()
    write_obj(files / "body_0006.obj", x, [*faces[:-1], (0, 3, 4)])


HOSTILE = {
    "body_0004.obj": (other_topology, "same topology"),
    "body_0006.obj": (other_faces, "same topology"),
    "nan": (lambda files: (files / "body_0006.obj").write_text("v 0 0 nan\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"), "finite"),
    "index": (lambda files: (files / "body_0003.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n"), "not there"),
    "binary": (lambda files: (files / "body_0003.obj").write_bytes(bytes(range(256)) * 50), "0 vertices"),
    "empty": (lambda files: (files / "body_0004.obj").write_bytes(b""), "0 vertices"),
    "gap": (lambda files: (files / "body_0006.obj").rename(files / "body_999999.obj"), "gap of"),
    "two names": (lambda files: (files / "body_0003.obj").rename(files / "leg_0003.obj"), "2 OBJ sequences"),
    "none": (lambda files: [file.unlink() for file in files.iterdir()], "0 OBJ sequences"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_files_give_a_sentence_and_leave_nothing(saved, files, tmp_path, case):
    spoil, words = HOSTILE[case]
    spoil(files)
    objects, meshes = len(bpy.data.objects), len(bpy.data.meshes)
    with pytest.raises(RuntimeError, match=words):
        bpy.ops.taffeta.sequence_import(filepath=str(files))
    assert (len(bpy.data.objects), len(bpy.data.meshes)) == (objects, meshes)
    folder = tmp_path / "taffeta_cache"
    assert not folder.exists() or not list(folder.iterdir())


def test_bad_requests(saved, files, tmp_path):
    with pytest.raises(RuntimeError, match="choose two different axes"):
        bpy.ops.taffeta.sequence_import(filepath=str(files), forward_axis="NEGATIVE_Y", up_axis="Y")
    with pytest.raises(RuntimeError, match="No such file"):
        bpy.ops.taffeta.sequence_import(filepath=str(tmp_path / "nowhere" / "a_1.obj"))
    (tmp_path / "taffeta_cache").write_text("a file where the folder should be")
    with pytest.raises(RuntimeError, match="taffeta_cache"):
        bpy.ops.taffeta.sequence_import(filepath=str(files))


def test_samples_are_as_exact_as_the_files(files, tmp_path):
    paths = {frame: files / f"body_{frame:04d}.obj" for frame in FRAMES}
    run_through(sequence.write_cache(paths, np.eye(3), tmp_path / "x.pc2"))
    header = pc2.read_header(tmp_path / "x.pc2")
    assert (header.first_frame, header.sample_count) == (3.0, 4)
    x, _ = tent()
    for index, frame in enumerate(range(3, 7)):
        rise = 0.1 * frame**2 if frame != 5 else 0.05 * (16 + 36)
        expected = x + (0.5 * frame, 0, rise)
        assert np.abs(pc2.read(tmp_path / "x.pc2")[index] - expected).max() < 1e-6


def test_cloth_rides_on_a_sequence(make, saved, tmp_path):
    """Down the whole way: a sheet that lies on a plate goes up with it, 2.4 m/s, and none of it sinks in."""
    (tmp_path / "lift").mkdir()
    x, faces = np.array([(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)], float), [(0, 1, 2, 3)]
    for frame in range(1, 7):
        write_obj(tmp_path / "lift" / f"plate_{frame:03d}.obj", x + (0, 0, 0.1 * frame), faces)
    saved.frame_end = 6
    bpy.ops.taffeta.sequence_import(filepath=str(tmp_path / "lift"), forward_axis="Y", up_axis="Z")
    sheet = make.cloth(make.grid(count=8, size=1.0, location=(0, 0, 0.11)))
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    for frame in range(1, 7):
        saved.frame_set(frame)
        height = make.world(sheet)[:, 2] - 0.1 * frame
        assert 0.0 < height.min() and height.max() < 0.2


def test_a_cloth_of_its_name_does_not_take_the_sequences_file(make, saved, tmp_path):
    """body_0001.obj becomes body_sequence.pc2, and so would the bake of a cloth that is called so."""
    (tmp_path / "body_0001.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    bpy.ops.taffeta.sequence_import(filepath=str(tmp_path / "body_0001.obj"))
    (body,) = [obj for obj in bpy.data.objects if obj.taffeta_collider.enabled]
    before = (tmp_path / "taffeta_cache" / "body_sequence.pc2").read_bytes()
    saved.frame_end = 2
    cloth = make.cloth(make.grid("body_sequence", location=(0, 0, 3)))
    for resume in (False, True):
        assert bpy.ops.taffeta.bake(resume=resume) == {"FINISHED"}
        assert (tmp_path / "taffeta_cache" / "body_sequence.pc2").read_bytes() == before
        assert cloth.taffeta_cloth.cache_path == "//taffeta_cache/body_sequence-2.pc2"
    assert body.modifiers[0].filepath == "//taffeta_cache/body_sequence.pc2"


def test_esc_leaves_nothing_at_each_step(saved, files, tmp_path, monkeypatch):
    """Beside the window: a file or more a step; in the end it is the cache of one go."""
    monkeypatch.setattr(sequence, "SLICE", 0.0)
    monkeypatch.setattr(sequence, "cache_folder", lambda scene: tmp_path / "cache")
    texts, before = [], (set(bpy.data.objects), set(bpy.data.meshes))
    for count in range(1, 10):
        run = Run(sequence.import_sequence(bpy.context, files, np.eye(3)))
        for _ in range(count):
            while run._thread is not None and run._thread.is_alive():
                pass
            run.go_on(0.0)
        if run.ended:
            break
        texts.append((run.step.text, round(run.step.share, 2)))
        run.stop()
        while not run.ended:
            run.go_on(0.0)
        assert (set(bpy.data.objects), set(bpy.data.meshes)) == before and not list((tmp_path).glob("cache/*"))
    assert texts == [("Reading body_0003.obj", 0.0), ("Reading body_0004.obj", 0.33), ("Reading body_0006.obj", 0.67)]
    (written,) = (tmp_path / "cache").iterdir()
    assert run.result.name == "body" and run.result.taffeta_collider.enabled
    again = run_through(sequence.import_sequence(bpy.context, files, np.eye(3)))
    second = tmp_path / "cache" / f"{written.stem}_1.pc2"
    assert again != run.result and second.read_bytes() == written.read_bytes()
