# SPDX-License-Identifier: GPL-3.0-or-later
"""What of an OBJ file goes along with every frame: names, materials, normals."""

import numpy as np
import pytest
from taffeta.solver.cache import obj, obj_layout

HEAD = b"mtllib cloth.mtl\no Shirt\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 -1\nvt 0 0\nvt 1 1\n"
BODY = b"g Front\nusemtl Red\ns 1\nf 1/1/1 2/2/1 3/1/1 4/1/1\ng Side\nusemtl Blue\nf 1/1/1 5/1/1 2/1/1\n"


def written(folder, text, x=None, out=None):
    (folder / "a.obj").write_bytes(text)
    mesh = obj.read(folder / "a.obj")
    uv = obj.read_uv(folder / "a.obj", mesh) if b"vt" in text else None
    layout = obj_layout.read(folder / "a.obj", mesh, uv, out or folder)
    x = mesh.x if x is None else x
    obj.write(folder / "b.obj", x, obj_layout.after_positions(layout, x, mesh.triangles))
    return mesh, (folder / "b.obj").read_text().splitlines()


def test_names_stand_before_the_faces_that_they_stood_before(tmp_path):
    mesh, lines = written(tmp_path, HEAD + b"vn 0 0 1\n" + BODY, out=tmp_path / "frames" / "a")
    kept = [line for line in lines if line.split()[0] in ("mtllib", "o", "g", "usemtl", "s", "f")]
    assert kept[0] == "mtllib ../../cloth.mtl", "the library is found from where the frames are"
    assert [line if line[0] != "f" else "f" for line in kept[1:]] == [
        "o Shirt", "g Front", "usemtl Red", "s 1", "f", "g Side", "usemtl Blue", "f"
    ]  # fmt: skip
    again = obj.read(tmp_path / "b.obj")
    assert again.corners.tolist() == mesh.corners.tolist() and again.face_start.tolist() == [0, 4, 7]
    assert np.array_equal(
        obj.read_uv(tmp_path / "b.obj", again), obj.read_uv(tmp_path / "a.obj", obj.read(tmp_path / "a.obj"))
    )


def test_normals_are_those_of_the_frame(tmp_path):
    turned = np.array([[0, 0, 0], [0, 0, 1], [0, 1, 1], [0, 1, 0], [1, 0, 0]], float)  # a quarter about y
    _, lines = written(tmp_path, HEAD + b"vn 0 0 1\n" + BODY, turned)
    normals = np.array([line.split()[1:] for line in lines if line.startswith("vn ")], float)
    assert len(normals) == 5 and np.linalg.norm(normals, axis=1) == pytest.approx(1.0, abs=1e-4)
    assert normals[2] == pytest.approx([-1.0, 0.0, 0.0]), "a corner of the quad alone"
    assert [line for line in lines if line.startswith("f ")][0].split()[1].split("/")[::2] == ["1", "1"]
    _, plain = written(tmp_path, HEAD + BODY.replace(b"/1 ", b" ").replace(b"/1\n", b"\n"))
    assert not any(line.startswith("vn") or "//" in line for line in plain), "none where the file has none"
    _, bare = written(tmp_path, b"v 0 0 0\nv 1 0 0\nv 0 1 0\nvn 0 0 1\nf 1//1 2//1 3//1\n")
    assert bare[-1] == "f 1//1 2//2 3//3"


def test_a_name_beyond_reason_is_refused(tmp_path):
    with pytest.raises(ValueError, match="a.obj has a name of more than 1024 letters"):
        written(tmp_path, HEAD + b"usemtl " + b"x" * 2000 + b"\n" + BODY)
