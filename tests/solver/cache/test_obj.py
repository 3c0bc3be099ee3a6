# SPDX-License-Identifier: GPL-3.0-or-later
"""OBJ files in: what is common, what is odd, what is hostile, and how long a large one takes."""

import time

import numpy as np
import pytest
from taffeta.solver.cache import obj, obj_layout

TRIANGLE = b"v 0 0 0\nv 1 0 0\nv 0 1 0\n"


def read(tmp_path, content):
    (tmp_path / "a.obj").write_bytes(content)
    return obj.read(tmp_path / "a.obj")


def area(x, triangles):
    a, b, c = x[triangles[:, 0]], x[triangles[:, 1]], x[triangles[:, 2]]
    return 0.5 * np.cross(b - a, c - a)


@pytest.mark.parametrize(
    "face",
    [b"f 1 2 3", b"f 1/5 2/6 3/7", b"f 1//5 2//5 3//5", b"f 1/1/1 2/2/2 3/3/3", b"f -3 -2 -1", b"\tf  1\t2  3 # why"],
)
def test_every_way_to_write_a_face(tmp_path, face):
    mesh = read(tmp_path, b"# head\r\nmtllib a.mtl\no a\nvt 0 0\nvn 0 0 1\n" + TRIANGLE + b"usemtl m\ns off\n" + face)
    assert mesh.x.tolist() == [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
    assert mesh.triangles.tolist() == [[0, 1, 2]]
    assert mesh.triangles.dtype == np.int32


def test_negative_indices_count_from_where_they_stand(tmp_path):
    mesh = read(tmp_path, TRIANGLE + b"f -3 -2 -1\nv 5 5 5\nf -1 -3 -2\n")
    assert mesh.triangles.tolist() == [[0, 1, 2], [3, 1, 2]]


def test_line_ends_continued_lines_and_further_coordinates(tmp_path):
    mesh = read(tmp_path, b"v 0 0 0 1.0 0.5 0.2\r\n  v 1 0 0 1\r\nv 0 \\\r\n 1.5e0 0\r\nf 1 \\\n 2 3\r\n")
    assert mesh.x.tolist() == [[0, 0, 0], [1, 0, 0], [0, 1.5, 0]]
    assert mesh.triangles.tolist() == [[0, 1, 2]]
    old_mac = read(tmp_path, TRIANGLE.replace(b"\n", b"\r") + b"f 1 2 3\r")
    assert old_mac.triangles.tolist() == [[0, 1, 2]]


def test_coordinates_keep_every_digit(tmp_path):
    x = np.random.default_rng(2).normal(size=(50, 3)) * 10.0 ** np.random.default_rng(3).integers(-9, 9, (50, 1))
    lines = b"".join(b"v %s %s %s\n" % tuple(repr(float(value)).encode() for value in row) for row in x)
    assert np.array_equal(read(tmp_path, lines + b"f 1 2 3\n").x, x)


def test_a_concave_quad_and_an_arrow_are_cut_inside(tmp_path):
    dart = b"v 0 0 0\nv 2 -1 0\nv 0.5 0 0\nv 2 1 0\nf 2 3 4 1\nf 1 2 3 4\nf 3 4 1 2\n"
    mesh = read(tmp_path, dart)
    assert mesh.face_start.tolist() == [0, 4, 8, 12]
    assert (area(mesh.x, mesh.triangles)[:, 2] > 0).all() or (area(mesh.x, mesh.triangles)[:, 2] < 0).all()
    house = b"v 0 0 0\nv 1 0.9 0\nv 2 0 0\nv 2 2 0\nv 0 2 0\nf 1 2 3 4 5\n"
    mesh = read(tmp_path, house)
    assert (area(mesh.x, mesh.triangles)[:, 2] > 0).all()
    assert area(mesh.x, mesh.triangles)[:, 2].sum() == pytest.approx(4.0 - 0.9)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "0 vertices and 0 faces"),
        (TRIANGLE, "3 vertices and 0 faces"),
        (bytes(range(256)) * 40, "0 vertices and 0 faces"),
        (TRIANGLE + b"f 1 2\n", "face 1 has fewer than three corners"),
        (TRIANGLE + b"f 1 2 4\n", "face 1 points to a vertex that is not there"),
        (TRIANGLE + b"f 1 2 3\nf 1 2 0\n", "face 2 points to a vertex that is not there"),
        (TRIANGLE + b"f 1 2 -4\n", "face 1 points to a vertex that is not there"),
        (TRIANGLE + b"f 1 2 99999999999999999999999\n", "points to a vertex|no number"),
        (TRIANGLE + b"f 1 2 3.5\n", "no number"),
        (TRIANGLE + b"f a b c\n", "no number"),
        (b"v 0 0 0\nv 1 0\nv 0 1 0\nf 1 2 3\n", "vertex 2 has fewer than three coordinates"),
        (b"v 0 0 0\nv 1 zwei 0\nv 0 1 0\nf 1 2 3\n", "no number"),
        (b"v 0 0 0\nv 1 nan 0\nv 0 1 0\nf 1 2 3\n", "vertex 2 is not at a finite position"),
        (b"v 0 0 0\nv 1 1e999 0\nv 0 1 0\nf 1 2 3\n", "vertex 2 is not at a finite position"),
        (TRIANGLE + b"f" + b" 1" * (1 << 20) + b"\n", "line of more than 1 MB"),
    ],
)
def test_a_bad_file_gets_a_sentence_with_its_name(tmp_path, content, sentence):
    with pytest.raises(ValueError, match=sentence) as caught:
        read(tmp_path, content)
    assert "a.obj" in str(caught.value)


def test_a_file_beyond_reason_is_refused_before_it_is_read(tmp_path):
    with (tmp_path / "a.obj").open("wb") as file:
        file.truncate(3 << 30)  # a hole: takes no room
    with pytest.raises(ValueError, match="more than 1024"):
        obj.read(tmp_path / "a.obj")


def test_a_hundred_thousand_vertices(tmp_path, record_property):
    side = 317
    x = np.random.default_rng(0).normal(size=(side * side, 3))
    index = np.arange(1, side * side + 1).reshape(side, side)
    quads = np.stack([index[:-1, :-1], index[1:, :-1], index[1:, 1:], index[:-1, 1:]], -1).reshape(-1, 4)
    with (tmp_path / "a.obj").open("w") as file:
        file.writelines("v {:.6f} {:.6f} {:.6f}\n".format(*row) for row in x.tolist())
        file.writelines("f {0}/{0}/{0} {1}/{1}/{1} {2}/{2}/{2} {3}/{3}/{3}\n".format(*row) for row in quads.tolist())
    took = []
    for _ in range(3):
        began = time.thread_time()
        mesh = obj.read(tmp_path / "a.obj")
        took.append(time.thread_time() - began)
    assert np.abs(mesh.x - x).max() <= 5e-7
    assert len(mesh.triangles) == 2 * len(quads)
    record_property("seconds", min(took))


def write_sequence(folder, numbers, name="body_{:04d}.obj"):
    for number in numbers:
        (folder / name.format(number)).write_bytes(b"v 0 0 %d\n" % number + TRIANGLE + b"f 1 2 3 4\n")


def test_a_sequence_is_ordered_by_number_not_by_name(tmp_path):
    write_sequence(tmp_path, (8, 9, 10, 11), "body{}.obj")
    (tmp_path / "body.obj").write_bytes(b"")
    (tmp_path / "body10.mtl").write_bytes(b"")
    files = obj.sequence(tmp_path / "body9.obj")
    assert list(files) == [8, 9, 10, 11]
    assert files == obj.sequence(tmp_path)
    first = obj.read(files[8])
    assert obj.read_like(files[11], first)[0, 2] == 11.0


def test_sequences_side_by_side_are_kept_apart(tmp_path):
    write_sequence(tmp_path, (1, 2))
    write_sequence(tmp_path, (5, 6, 7), "arm_{:03d}.obj")
    assert list(obj.sequence(tmp_path / "arm_006.obj")) == [5, 6, 7]
    with pytest.raises(ValueError, match="holds 2 OBJ sequences"):
        obj.sequence(tmp_path)


def test_a_file_without_number_and_a_frame_twice_get_a_sentence(tmp_path):
    (tmp_path / "body.obj").write_bytes(b"")
    with pytest.raises(ValueError, match="named like body_0001.obj"):
        obj.sequence(tmp_path / "body.obj")
    write_sequence(tmp_path, (3,), "arm_{:04d}.obj")
    write_sequence(tmp_path, (3,), "arm_{:02d}.obj")
    with pytest.raises(ValueError, match="same frame 3"):
        obj.sequence(tmp_path / "arm_03.obj")


def test_other_faces_in_a_later_frame_get_a_sentence(tmp_path):
    write_sequence(tmp_path, (1,))
    (tmp_path / "body_0002.obj").write_bytes(b"v 0 0 2\n" + TRIANGLE + b"f 1 2 4 3\n")
    files = obj.sequence(tmp_path)
    with pytest.raises(ValueError, match="same topology"):
        obj.read_like(files[2], obj.read(files[1]))


UV = b"vt 0 0\nvt 0.5 0 0\nvt 0 1\n"


@pytest.mark.parametrize("face", [b"f 1/1 2/2 3/3", b"f 1/1/9 2/2/9 3/3/9", b"f 1/-3 2/-2 3/-1", b"f 1/1// 2/2/ 3/3 "])
def test_pattern_coordinates_at_the_corners(tmp_path, face):
    mesh = read(tmp_path, UV + TRIANGLE + face + b"\n")
    assert obj.read_uv(tmp_path / "a.obj", mesh).tolist() == [[0, 0], [0.5, 0], [0, 1]]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (TRIANGLE + b"f 1 2 3", "no UV coordinates"),
        (UV + TRIANGLE + b"f 1 2 3", "not every corner"),
        (UV + TRIANGLE + b"f 1//1 2//2 3//3", "not every corner"),
        (UV + TRIANGLE + b"f 1/1 2/2 3", "not every corner"),
        (UV + TRIANGLE + b"f 1/1 2/2 3/4", "not there"),
        (UV + TRIANGLE + b"f 1/1 2/2 3/0", "not there"),
        (b"vt 0\n" + TRIANGLE + b"f 1/1 2/1 3/1", "fewer than two"),
    ],
)
def test_pattern_coordinates_that_are_missing(tmp_path, content, words):
    mesh = read(tmp_path, content)
    with pytest.raises(ValueError, match=words):
        obj.read_uv(tmp_path / "a.obj", mesh)


def test_what_is_written_is_read_again(tmp_path):
    content = b"v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 2 0.5 0\n" + UV + b"f 1/1 2/2 3/3 4/1\nf 2/2 5/3 3/1\n"
    mesh = read(tmp_path, content)
    uv = obj.read_uv(tmp_path / "a.obj", mesh)
    x = np.random.default_rng(4).normal(size=(5, 3)) * 1e4
    for own in (None, uv):
        layout = obj_layout.read(tmp_path / "a.obj", mesh, own, tmp_path)
        obj.write(tmp_path / "b.obj", x, obj_layout.after_positions(layout, x, mesh.triangles))
        again = obj.read(tmp_path / "b.obj")
        assert again.x == pytest.approx(x, rel=1e-8)
        assert again.corners.tolist() == mesh.corners.tolist() and again.face_start.tolist() == [0, 4, 7]
    assert np.array_equal(obj.read_uv(tmp_path / "b.obj", again), uv)


def test_a_file_of_somebody_else_is_left_alone(tmp_path):
    mesh = read(tmp_path, TRIANGLE + b"f 1 2 3")
    with pytest.raises(ValueError, match="not written by Taffeta"):
        obj.write(tmp_path / "a.obj", mesh.x, b"f 1 2 3\n")
    assert (tmp_path / "a.obj").read_bytes() == TRIANGLE + b"f 1 2 3"
