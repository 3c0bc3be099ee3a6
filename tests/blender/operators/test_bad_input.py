# SPDX-License-Identifier: GPL-3.0-or-later
"""What users really have: each either simply works, or gives one sentence that names the object and a remedy."""

import errno
import json
import os
import resource
import shutil
import struct
import warnings

import bpy
import numpy as np
import pytest
from taffeta.operators.checks import problem_list
from taffeta.operators.playback import bake_files, cache_modifier
from taffeta.operators.read import modifier_stack
from taffeta.solver import step
from taffeta.solver.cache import frames, names


@pytest.fixture
def shot(saved):
    saved.frame_end = 6
    return saved


@pytest.fixture
def sheet(shot, make):
    return make.cloth(make.grid(count=5, location=(0, 0, 2)))


def refused(words, **options):
    """The bake reports an error that holds all of `words`."""
    with pytest.raises(RuntimeError) as error:
        bpy.ops.taffeta.bake(**options)
    assert all(word in str(error.value) for word in words), error.value


def baked(make, obj, frame=6):
    """Bake; the finite world vertices at a frame."""
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    bpy.context.scene.frame_set(frame)
    x = make.world(obj)
    assert np.isfinite(x).all()
    return x


def drop(frame_count=5, gravity=9.81):
    """Free fall without air, semi-implicit Euler of 1/240 s."""
    t = frame_count / 24
    return 0.5 * gravity * t * (t + 1 / 240)


# Meshes


def test_no_faces(shot, make):
    make.cloth(make.mesh("Thread", [(0, 0, 0), (1, 0, 0)], [], edges=[(0, 1)]))
    refused(["Thread", "has no faces"])


def test_no_vertices(shot, make):
    make.cloth(make.mesh("Nothing", np.zeros((0, 3)), []))
    refused(["Nothing", "has no faces"])


def test_loose_vertices_and_edges(shot, make):
    """A loose vertex stays where it is, a thread hangs on the cloth and falls with it."""
    shot.taffeta.air_density = 0.0
    x = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (2, 1, 0), (7, 7, 7)]
    obj = make.cloth(make.mesh("Fringe", x, [(0, 1, 2, 3)], edges=[(2, 4)]))
    end = baked(make, obj)
    assert end[:5, 2] == pytest.approx(-drop(), rel=1e-3) and end[5] == pytest.approx([7, 7, 7], abs=1e-6)


def test_faces_without_area_and_duplicate_faces(shot, make):
    x = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0.5, 0, 0), (0, 0, 0)]
    faces = [(0, 1, 2, 3), (0, 4, 1), (0, 1, 5), (0, 1, 2), (2, 1, 0)]
    obj = make.cloth(make.mesh("Dirty", x, faces))
    assert baked(make, obj)[:, 2].max() < -0.1


def test_nothing_but_faces_without_area(shot, make):
    make.cloth(make.mesh("Line", [(0, 0, 0), (1, 0, 0), (2, 0, 0)], [(0, 1, 2)]))
    refused(["Line", "no area"])


def test_ngons_quads_and_triangles_keep_their_topology(shot, make, tmp_path):
    """Through playback and through an exported OBJ."""
    x = [(0, 0, 1), (1, 0, 1), (2, 0, 1), (2, 1, 1), (1, 1.5, 1), (0, 1, 1), (3, 0, 1), (3, 1, 1)]
    faces = [(0, 1, 2, 3, 4, 5), (2, 6, 3), (6, 7, 3)]
    obj = make.cloth(make.mesh("Mixed", x, faces))
    end = baked(make, obj)
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    assert [tuple(polygon.vertices) for polygon in evaluated.polygons] == faces
    bpy.ops.taffeta.export(filepath=str(tmp_path / "mixed.obj"), everything=True)
    text = (tmp_path / "mixed_0006.obj").read_text().splitlines()
    assert [len(line.split()) - 1 for line in text if line.startswith("f ")] == [6, 3, 3]
    points = np.array([line.split()[1:4] for line in text if line.startswith("v ")], float)
    assert sorted(points[:, 1]) == pytest.approx(sorted(end[:, 2]), abs=1e-5), "Y up in the file"


def test_non_manifold_edges(shot, make):
    """Three wings on one edge."""
    x = [(0, 0, 0), (0, 1, 0), (1, 0, 0), (-1, 0, 0.5), (-1, 0, -0.5)]
    obj = make.cloth(make.mesh("Wings", x, [(0, 1, 2), (0, 3, 1), (0, 1, 4)]))
    assert baked(make, obj)[:, 2].max() < 0.5


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -3e38])
def test_coordinates_that_are_not_finite(shot, make, value):
    obj, body = make.cloth(make.grid()), make.collider(make.ball(location=(0, 0, -3)))
    for target, vertex in ((obj, 7), (body, 3)):
        x = np.empty(3 * len(target.data.vertices), np.float32)
        target.data.vertices.foreach_get("co", x)
        spoilt = x.copy()
        spoilt[3 * vertex + 2 : 3 * vertex + 7] = value
        target.data.vertices.foreach_set("co", spoilt)
        target.data.update()
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)  # of numpy, to the console: the sentence says it
            problems = problem_list.check_thoroughly(shot)
            refused([target.name])
        told = [each.sentence for each in problems + problem_list.latest(shot) if each.object == target.name]
        assert value == -3e38 or any("no finite position" in sentence for sentence in told)
        target.data.vertices.foreach_set("co", x)
        target.data.update()
    baked(make, obj)


def test_a_bake_that_fails_before_its_first_frame_leaves_the_one_that_is_there(shot, make, tmp_path):
    obj, body = make.cloth(make.grid()), make.collider(make.ball(location=(0, 0, -3)))
    baked(make, obj)
    before = {path.name: path.read_bytes() for path in (tmp_path / "taffeta_cache").iterdir()}
    body.data.vertices[3].co[2] = float("nan")
    body.data.update()
    refused([body.name])
    assert {path.name: path.read_bytes() for path in (tmp_path / "taffeta_cache").iterdir()} == before
    assert modifier_stack.find_cache(obj) is not None and cache_modifier.trouble(obj) == ""


# Maps


def with_group(obj):
    obj.vertex_groups.new(name="Hem").add([1, 2], 1.0, "REPLACE")
    obj.taffeta_cloth.mass.source = "GROUP"
    obj.taffeta_cloth.mass.vertex_group = "Hem"


def with_image(obj):
    image = bpy.data.images.new("Map", 8, 8)
    obj.taffeta_cloth.mass.source = "IMAGE"
    obj.taffeta_cloth.mass.image = image
    obj.taffeta_cloth.mass.uv_map = "UVMap"


def with_attribute(obj):
    obj.data.attributes.new("Weight", "FLOAT", "POINT")
    obj.taffeta_cloth.mass.source = "ATTRIBUTE"
    obj.taffeta_cloth.mass.attribute = "Weight"


def rename_group(obj):
    obj.vertex_groups["Hem"].name = "Seam"


def remove_image(obj):
    bpy.data.images.remove(bpy.data.images["Map"])


def rename_uv(obj):
    obj.data.uv_layers[0].name = "Other"


def remove_attribute(obj):
    obj.data.attributes.remove(obj.data.attributes["Weight"])


@pytest.mark.parametrize(
    "give, take, words",
    [
        (with_group, rename_group, ["Cloth", "Mass", "vertex group 'Hem'", "Uniform"]),
        (with_image, remove_image, ["Cloth", "Mass", "no image is chosen", "Uniform"]),
        (with_image, rename_uv, ["Cloth", "Mass", "UV map 'UVMap'"]),
        (with_attribute, remove_attribute, ["Cloth", "Mass", "attribute 'Weight'"]),
    ],
)
def test_maps_that_went_missing(sheet, give, take, words):
    give(sheet)
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    take(sheet)
    refused(words)


def test_an_image_without_pixels(sheet, tmp_path):
    with_image(sheet)
    image = sheet.taffeta_cloth.mass.image
    image.source = "FILE"
    image.filepath = str(tmp_path / "lost.png")
    refused(["Cloth", "Mass", "image 'Map' has no pixels"])


def test_a_missing_pattern(sheet):
    sheet.taffeta_cloth.uv_map = "Pattern"
    refused(["Cloth", "UV map 'Pattern'"])


def test_minimum_above_maximum_turns_the_map_round(sheet, make):
    with_group(sheet)
    sheet.taffeta_cloth.mass.minimum, sheet.taffeta_cloth.mass.maximum = 0.5, 0.1
    baked(make, sheet)


@pytest.mark.parametrize("name", ["mass", "thickness", "stretch_stiffness", "shear_stiffness", "bending_stiffness"])
@pytest.mark.parametrize("value", [-1.0, 0.0])
def test_zero_and_negative_values_are_limited_or_told(sheet, make, name, value):
    """The properties stop at what physics allows, but old files and scripts may hold anything."""
    mapped = getattr(sheet.taffeta_cloth, name)
    mapped.value = value
    assert mapped.value >= 0.0
    if name == "stretch_stiffness":
        refused(["Cloth", "a Stretch of 0"])
    else:
        baked(make, sheet)


# Places and sizes


@pytest.mark.parametrize("scale", [(-1, 1, 1), (-2, -2, -2), (1, 3, 0.5)])
def test_scaled_negatively_or_unevenly(shot, sheet, make, scale):
    """It falls in the size and shape that it has."""
    shot.taffeta.air_density = 0.0
    sheet.scale = scale
    sheet.rotation_euler = (0.4, 0.3, 0.2)
    bpy.context.view_layer.update()
    start = make.world(sheet)
    assert baked(make, sheet) == pytest.approx(start - [0, 0, drop()], abs=2e-5)


def test_scale_of_zero(sheet):
    sheet.scale.z = 0.0
    refused(["Cloth", "scale"])


def test_parented_to_a_scaled_and_turned_parent(shot, sheet, make):
    shot.taffeta.air_density = 0.0
    parent = bpy.data.objects.new("Parent", None)
    shot.collection.objects.link(parent)
    parent.scale = (2, 2, 2)
    parent.rotation_euler.x = 0.7
    sheet.parent = parent
    bpy.context.view_layer.update()
    start = make.world(sheet)
    assert baked(make, sheet) == pytest.approx(start - [0, 0, drop()], abs=2e-5)


def test_ten_kilometres_away(shot, sheet):
    """The shape is the same as at the origin, to a micrometre in object space."""
    sheet.taffeta_cloth.pin.source = "GROUP"
    sheet.vertex_groups.new(name="Waist").add(range(5), 1.0, "REPLACE")
    sheet.taffeta_cloth.pin.vertex_group = "Waist"
    sheet.location = (0, 0, 0)
    bpy.ops.taffeta.bake()
    near = samples(sheet)
    sheet.location = (10000.0, -10000.0, 0.0)
    bpy.ops.taffeta.bake()
    assert samples(sheet) == pytest.approx(near, abs=1e-6)


def samples(obj):
    """Object-space positions of a bake, (frames, n, 3)."""
    data = bake_files.cache_file(obj).read_bytes()
    return np.frombuffer(data[32:], "<f4").reshape(-1, len(obj.data.vertices), 3)


@pytest.mark.parametrize("size", [0.02, 200.0])
def test_tiny_and_huge(shot, make, size):
    shot.taffeta.air_density = 0.0
    obj = make.cloth(make.grid(count=5, size=size, location=(0, 0, 0)))
    obj.taffeta_cloth.thickness.value = min(0.002, size / 100)
    assert baked(make, obj)[:, 2] == pytest.approx(-drop(), rel=1e-3)


# Modifiers and bodies


def test_a_modifier_that_makes_vertices_before_the_rig(sheet):
    sheet.modifiers.new("Thick", "SOLIDIFY")
    lattice = bpy.data.objects.new("Cage", bpy.data.lattices.new("Cage"))
    bpy.context.scene.collection.objects.link(lattice)
    sheet.modifiers.new("Lattice", "LATTICE").object = lattice
    refused(["Cloth", "Thick", "Lattice"])
    sheet.modifiers.move(0, 1)
    assert bpy.ops.taffeta.bake() == {"FINISHED"}


def test_geometry_nodes_that_make_vertices_before_the_rig(sheet):
    nodes = bpy.data.node_groups.new("Denser", "GeometryNodeTree")
    nodes.interface.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
    nodes.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    source, target = nodes.nodes.new("NodeGroupInput"), nodes.nodes.new("NodeGroupOutput")
    denser = nodes.nodes.new("GeometryNodeSubdivideMesh")
    nodes.links.new(source.outputs[0], denser.inputs[0])
    nodes.links.new(denser.outputs[0], target.inputs[0])
    sheet.modifiers.new("Denser", "NODES").node_group = nodes
    lattice = bpy.data.objects.new("Cage", bpy.data.lattices.new("Cage"))
    bpy.context.scene.collection.objects.link(lattice)
    sheet.modifiers.new("Lattice", "LATTICE").object = lattice
    refused(["Cloth has 25 vertices", "Denser", "81"])


def test_geometry_nodes_without_a_group(sheet, make):
    for obj in (sheet, make.collider(make.ball(location=(0, 0, -3), rings=6, segments=8))):
        obj.modifiers.new("Nodes", "NODES")
    baked(make, sheet)
    assert bpy.ops.taffeta.preflight() == {"FINISHED"} and not sheet.taffeta_cloth.stale


def test_a_body_of_other_faces_and_as_many_vertices_says_so(sheet, make):
    body = make.collider(make.ball(rings=6, segments=8))
    key = body.shape_key_add(name="Basis"), body.shape_key_add(name="Askew")
    for index, point in enumerate(key[1].data):
        point.co.x += 0.2 * (index % 3)
    for frame in (1, 3):
        key[1].value = float(frame == 3)
        key[1].keyframe_insert("value", frame=frame)
    body.modifiers.new("Triangles", "TRIANGULATE")
    refused(["Body", "other faces at frame", "modifier"])


def test_a_body_whose_topology_changes_keeps_the_frames_before(sheet, make):
    body = make.collider(make.ball(location=(0, 0, -5)))
    modifier = body.modifiers.new("Subdivision", "SUBSURF")
    for frame, levels in ((3, 0), (4, 1)):
        modifier.levels = levels
        modifier.keyframe_insert("levels", frame=frame)
    refused(["Body changes its mesh at frame 4", "Frames 1 to 3 are kept"])
    assert struct.unpack("<i", bake_files.cache_file(sheet).read_bytes()[28:32])[0] == 3


def test_a_body_inside_the_garment_at_the_start(shot, make):
    bag = make.cloth(make.ball("Bag", radius=0.5, location=(0, 0, 1)))
    make.collider(make.ball("Body", radius=0.49, rings=8, segments=12, location=(0, 0, 1)))
    make.collider(make.ball("Crossing", radius=0.3, rings=8, segments=12, location=(0.45, 0, 1)))
    x = baked(make, bag)
    assert np.abs(x - [0, 0, 1]).max() < 0.55, "eased apart by centimetres, not blown up"


def test_a_body_without_faces(sheet, make):
    make.collider(make.mesh("Points", [(0, 0, 0)], []))
    refused(["Points has no faces", "switch its Taffeta Collider off"])


def test_an_open_dirty_body_of_many_islands(sheet, make):
    """A ground of one quad, a fan without area, a loose vertex, three faces on one edge."""
    x = [(-9, -9, 0), (9, -9, 0), (9, 9, 0), (-9, 9, 0), (20, 0, 0), (21, 0, 0), (22, 0, 0), (20, 1, 0), (20, 0, 1)]
    faces = [(0, 1, 2, 3), (4, 5, 6), (4, 5, 7), (4, 8, 5), (4, 5, 8)]
    make.collider(make.mesh("Ground", np.vstack((x, [(5, 5, 5)])), faces))
    sheet.location.z = 0.1
    assert baked(make, sheet)[:, 2].min() > -0.01, "the ground holds"


def test_a_body_in_an_excluded_collection(shot, sheet, make):
    body = make.collider(make.ball())
    away = bpy.data.collections.new("Away")
    shot.collection.children.link(away)
    away.objects.link(body)
    shot.collection.objects.unlink(body)
    bpy.context.view_layer.layer_collection.children["Away"].exclude = True
    refused(["Body", "collection"])


def test_no_collection_chosen(shot, sheet):
    shot.taffeta.collider_source = "COLLECTION"
    refused(["Collection", "none is chosen"])


def test_edit_mode(shot, sheet):
    bpy.context.view_layer.objects.active = sheet
    bpy.ops.object.mode_set(mode="EDIT")
    refused(["Cloth", "Edit Mode"])
    bpy.ops.object.mode_set(mode="OBJECT")


def test_no_cloth_at_all(shot, make):
    make.ball()
    refused(["Scene has no Taffeta Cloth"])


# Ranges


def test_one_frame(shot, sheet, make):
    start = make.world(sheet)
    shot.frame_start = shot.frame_end = 1
    assert baked(make, sheet, 1) == pytest.approx(start, abs=1e-7)
    assert json.loads(sheet.taffeta_cloth.report_json)["frames"] == 1


def test_a_range_from_zero_with_preroll_before_it(shot, sheet, make):
    shot.taffeta.air_density = 0.0
    start = make.world(sheet)
    shot.frame_start, shot.frame_end, shot.taffeta.preroll = 0, 2, 3
    assert baked(make, sheet, 2)[:, 2] == pytest.approx(start[:, 2] - drop(5), rel=1e-4)


def test_a_reversed_range_cannot_be_set(shot):
    """Blender moves the other end along; the command line has a test of its own."""
    shot.frame_start = 50
    assert shot.frame_end >= shot.frame_start


# Files


def test_a_cache_folder_that_cannot_be_written(shot, sheet, tmp_path):
    (tmp_path / "file").write_text("not a folder")
    shot.taffeta.cache_folder = "//file/cache"
    refused(["cache", "folder", str(tmp_path / "file")])
    assert (tmp_path / "file").read_text() == "not a folder"


def test_a_disk_that_fills_up_keeps_the_frames_before(shot, sheet):
    """A limit on the size of files stands for the full disk; afterwards there is room and the bake goes on."""
    shot.frame_end = 100
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (25 * 48 * 60, hard))  # 60 frames of the state file
    try:
        refused(
            [
                "Cloth.pc2 cannot be written",
                "60 frames are kept",
                "make room there, then resume: it goes on in that folder",
            ]
        )
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert struct.unpack("<i", bake_files.cache_file(sheet).read_bytes()[28:32])[0] == 60
    shot.taffeta.cache_folder = "//elsewhere"
    where = bake_files.cache_file(sheet).parent
    (row,) = [problem for problem in problem_list.latest(shot) if "stands still from there" in problem.sentence]
    assert row.remedy.startswith(
        f"Press Resume, which bakes the rest into {where}, where the bake lies, or Bake, which"
    )
    assert row.remedy.endswith("elsewhere")
    assert bpy.ops.taffeta.bake(resume=True) == {"FINISHED"}
    assert json.loads(sheet.taffeta_cloth.report_json)["frames_kept"] == 60


def test_a_disk_too_full_for_the_report_costs_nothing_but_that(sheet, tmp_path, monkeypatch):
    """The frames are there and play, the panel has the report, no half of it lies on the disk, the next bake works."""

    def full(part, path):
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    with monkeypatch.context() as disk:
        disk.setattr(os, "replace", full)
        assert bpy.ops.taffeta.bake() == {"FINISHED"}
    assert cache_modifier.trouble(sheet) == "" and json.loads(sheet.taffeta_cloth.report_json)["complete"]
    assert not list((tmp_path / "taffeta_cache").glob("*.json*"))
    assert bpy.ops.taffeta.bake(resume=True) == {"FINISHED"}
    assert json.loads((tmp_path / "taffeta_cache" / "Cloth.report.json").read_text())["frames_kept"] == 6


@pytest.mark.parametrize("interval", [0.0, 1e9], ids=["while it bakes", "at its end"])
@pytest.mark.parametrize("suffix", [".pc2", ".state", ".journal", "the folder"])
def test_a_file_that_is_deleted_while_it_is_written_is_written_anew(
    sheet, make, tmp_path, monkeypatch, capfd, interval, suffix
):
    """The frames of both garments were lost with it, and an earlier bake told that was not there. No system but Windows keeps anybody
    from it."""
    make.cloth(make.grid("Other", count=5, location=(3, 0, 2)))
    folder = tmp_path / "taffeta_cache"
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    wanted = {
        part.name: part.read_bytes() for each in ("Cloth", "Other") for part in names.parts(folder / f"{each}.pc2")
    }
    shutil.rmtree(folder)

    def clean_up(cloth, state, frame_input, frame, settings, *images):
        if frame == 4:
            shutil.rmtree(folder) if suffix == "the folder" else (folder / f"Cloth{suffix}").unlink()
        return advance(cloth, state, frame_input, frame, settings, *images)

    advance = step.advance
    monkeypatch.setattr(frames, "SYNC_INTERVAL", interval)
    with monkeypatch.context() as patch:
        patch.setattr(step, "advance", clean_up)
        assert bpy.ops.taffeta.bake() == {"FINISHED"}
    told = capfd.readouterr().out
    for name in wanted if suffix == "the folder" else [f"Cloth{suffix}"]:
        assert f"{name} was deleted or moved during the bake: it was written anew, and no frame is lost" in told
    assert all((folder / name).read_bytes() == bits for name, bits in wanted.items())
    assert not list(folder.glob("*.lock"))


def test_a_cache_folder_whose_name_is_too_long(shot, sheet):
    shot.taffeta.cache_folder = "//" + "n" * 300
    refused(["n" * 300, "cannot be written", "choose another cache folder"])
    shot.taffeta.cache_folder = "//caches"
    assert bpy.ops.taffeta.bake() == {"FINISHED"}


def test_a_cache_folder_whose_path_blender_would_cut(shot, sheet, tmp_path):
    """No part of it is too long, and systems take 4,096 bytes; Blender keeps 1,023 of them and then plays nothing."""
    shot.taffeta.cache_folder = "//" + "/".join(["n" * 100] * 12)
    refused(["The path of Cloth.pc2 has 1", "Blender plays files of 1023 at most", "choose a shorter cache folder"])
    assert not list(tmp_path.glob("n*"))


def test_a_truncated_cache_is_completed(sheet):
    bpy.ops.taffeta.bake()
    path = bake_files.cache_file(sheet)
    whole = path.read_bytes()
    path.write_bytes(whole[:-100])
    assert bpy.ops.taffeta.bake(resume=True) == {"FINISHED"}
    assert path.read_bytes() == whole


def test_a_hand_edited_cache_is_set_aside_and_baked_anew(sheet):
    bpy.ops.taffeta.bake()
    path = bake_files.cache_file(sheet)
    whole = path.read_bytes()
    edited = bytearray(whole)
    edited[32 + 25 * 12 * 2 + 5] ^= 255  # a byte of frame 3
    path.write_bytes(edited)
    assert bpy.ops.taffeta.bake(resume=True) == {"FINISHED"}
    assert path.read_bytes() == whole
    assert json.loads(sheet.taffeta_cloth.report_json)["frames_kept"] == 2
    assert path.with_name("Cloth.bak1.pc2").read_bytes() == edited


def test_a_foreign_file_in_the_place_of_the_cache_is_set_aside(sheet, tmp_path):
    folder = tmp_path / "taffeta_cache"
    folder.mkdir()
    (folder / "Cloth.pc2").write_bytes(b"holiday pictures")
    assert bpy.ops.taffeta.bake(resume=True) == {"FINISHED"}
    assert (folder / "Cloth.bak1.pc2").read_bytes() == b"holiday pictures"
    assert struct.unpack("<i", (folder / "Cloth.pc2").read_bytes()[28:32])[0] == 6


def test_the_blend_is_renamed_between_bake_and_playback(sheet, make, tmp_path):
    end = baked(make, sheet)
    bpy.ops.wm.save_mainfile()
    (tmp_path / "shot.blend").rename(tmp_path / "final_v2.blend")
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "final_v2.blend"))
    bpy.context.scene.frame_set(6)
    assert make.world(bpy.data.objects["Cloth"]) == pytest.approx(end, abs=0)


def test_two_blenders_bake_into_the_same_cache(sheet):
    bpy.ops.taffeta.bake()
    path = bake_files.cache_file(sheet)
    before = path.read_bytes()
    lock = names.take_lock(path)
    try:
        refused(["Cloth.pc2 is being baked by another"])
        refused(["Cloth.pc2 is being baked by another"], resume=True)
    finally:
        names.release_lock(lock)
    assert path.read_bytes() == before and not list(path.parent.glob("*.bak*"))


def test_object_names_that_are_no_file_names(shot, make):
    odd = [make.cloth(make.grid(name, count=3)) for name in ("../../up", "a/b", "A/B", "con", "日本")]
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    files = {bake_files.cache_file(obj).resolve() for obj in odd}
    assert len(files) == 5 and {file.parent.name for file in files} == {"taffeta_cache"}


def test_a_frame_of_hours_is_refused(saved, make):
    """Base goes up to a million: its substeps would fill the memory, and no Esc would be heard."""
    make.cloth(make.grid())
    saved.render.fps_base = 1e6
    with pytest.raises(RuntimeError, match="lasts 41,667 s"):
        bpy.ops.taffeta.bake()
    found = problem_list.check(saved, bpy.context.evaluated_depsgraph_get())
    assert [p.severity for p in found if "lasts 41,667 s" in p.sentence] == ["ERROR"]
