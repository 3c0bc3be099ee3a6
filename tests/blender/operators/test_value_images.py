# SPDX-License-Identifier: GPL-3.0-or-later
"""Values as images: the pixels read back are the values of the evaluated points, in each frame."""

from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from layouts import Layout
from taffeta.operators.playback import cache_modifier
from taffeta.operators.read import value_nodes
from taffeta.operators.value_images import TAFFETA_OT_value_images
from taffeta.operators.work.steps import Run
from taffeta.solver.cache import pc2

COUNT, SIZE = 5, 40
SHORTER = {1: 0.0, 2: 0.1, 3: 0.3}  # by which the sheet is shorter along y in frames


@pytest.fixture
def sheet(scene, make, tmp_path):
    """A sheet with values, whose bake is shorter along y on its right half in frames 2 and 3."""
    obj = make.cloth(make.grid(count=COUNT))
    rest = np.array([vertex.co for vertex in obj.data.vertices])
    baked = []
    for part in SHORTER.values():
        x = rest.copy()
        x[rest[:, 0] > 0.0, 1] *= 1.0 - part
        baked.append(x)
    pc2.write(tmp_path / "Cloth.pc2", np.array(baked, np.float32), 1)
    cache_modifier.attach(obj, tmp_path / "Cloth.pc2", 1)
    obj.select_set(True)
    bpy.context.view_layer.objects.active = obj
    assert bpy.ops.taffeta.values() == {"FINISHED"}
    scene.frame_start, scene.frame_end = 1, 3
    scene.frame_set(1)
    return obj


def write(tmp_path, name="out/Cloth.exr", **options):
    """Press the button."""
    return bpy.ops.taffeta.value_images(filepath=str(tmp_path / name), size=SIZE, **options)


def pixels(path):
    """A picture as the numbers that are stored in it, (rows, columns, channels)."""
    image = bpy.data.images.load(str(path))
    image.colorspace_settings.name = "Non-Color"
    values = np.array(image.pixels).reshape(image.size[1], image.size[0], image.channels)
    bpy.data.images.remove(image)
    return values


def at_points(obj, name, frame):
    """Values of the evaluated points at a frame, as a picture's middle pixels have them: rows of points from the bottom."""
    bpy.context.scene.frame_set(frame)
    mesh = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    return np.array([item.value for item in mesh.attributes[name].data]).reshape(COUNT, COUNT)


def bilinear(values, places):
    """Values (COUNT, COUNT) of a grid between its points where they are the same along v."""
    return np.interp(places, np.linspace(0.0, 1.0, COUNT), values)


def test_an_image_a_frame_holds_the_values_of_that_frame(sheet, scene, tmp_path):
    scene.frame_set(2)
    images = len(bpy.data.images)
    assert write(tmp_path, values={"COMPRESSION", "FOLD"}) == {"FINISHED"}
    assert scene.frame_current == 2 and len(bpy.data.images) == images
    names = [f"Cloth_{value}_{frame:04d}.exr" for value in ("compression", "fold") for frame in (1, 2, 3)]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(names)
    middle = (np.arange(SIZE) + 0.5) / SIZE
    for frame in SHORTER:
        picture = pixels(tmp_path / "out" / f"Cloth_compression_{frame:04d}.exr")
        values = at_points(sheet, value_nodes.COMPRESSION, frame)
        assert picture[:, :, 0] == pytest.approx(picture[:, :, 1], abs=0.0)
        row = SIZE // 2  # where rows of points from the second to the fourth are alike
        assert picture[row, :, 0] == pytest.approx(bilinear(values[2], middle), abs=2e-3)
    assert pixels(tmp_path / "out" / "Cloth_compression_0003.exr").max() == pytest.approx(1.0)  # alpha
    assert pixels(tmp_path / "out" / "Cloth_compression_0003.exr")[:, :, 0].max() > 0.1


def test_a_png_is_white_at_the_value_that_is_asked_for(sheet, tmp_path):
    assert write(
        tmp_path, "Cloth.png", values={"COMPRESSION"}, format="PNG", white=0.2, frame_start=2, frame_end=3
    ) == {"FINISHED"}
    assert not (tmp_path / "Cloth_compression_0001.png").exists()
    header = (tmp_path / "Cloth_compression_0002.png").read_bytes()[:26]
    assert header[24] == 16, "bits a channel"
    assert write(tmp_path, "Cloth.exr", values={"COMPRESSION"}, frame_start=2, frame_end=3) == {"FINISHED"}
    for frame in (2, 3):
        grey = pixels(tmp_path / f"Cloth_compression_{frame:04d}.png")[:, :, 0]
        exact = pixels(tmp_path / f"Cloth_compression_{frame:04d}.exr")[:, :, 0]
        assert grey == pytest.approx(np.clip(exact / 0.2, 0.0, 1.0), abs=2e-5)


def test_the_ending_chooses_the_format(sheet, tmp_path):
    for ending, other, first in ((".png", "OPEN_EXR", b"\x89PNG"), (".EXR", "PNG", b"\x76\x2f\x31\x01")):
        assert write(tmp_path, f"Cloth{ending}", format=other, frame_start=2, frame_end=2) == {"FINISHED"}
        assert (tmp_path / f"Cloth_compression_0002{ending}").read_bytes()[:4] == first


def test_what_stands_behind_changes_nothing_and_stays(sheet, tmp_path):
    assert write(tmp_path, "a/Cloth.exr", frame_start=3, frame_end=3) == {"FINISHED"}
    sheet.modifiers.new("Fine", "SUBSURF")
    assert write(tmp_path, "b/Cloth.exr", frame_start=3, frame_end=3) == {"FINISHED"}
    one, other = ((tmp_path / folder / "Cloth_compression_0003.exr") for folder in "ab")
    assert np.array_equal(pixels(one), pixels(other)) and sheet.modifiers["Fine"].show_viewport


def test_stopped_in_the_middle_it_leaves_no_file_and_the_frame(sheet, scene, tmp_path):
    class Pressed:
        """The settings of the operator, for a run that is not Blender's."""

        filepath, object, values, format, size = (
            str(tmp_path / "out" / "Cloth.exr"),
            "Cloth",
            {"STRETCH"},
            "OPEN_EXR",
            SIZE,
        )
        padding, white, uv_map, overwrite, frame_start, frame_end = 2, 0.0, "", False, 1, 3
        report = print
        _cloth, _chosen = TAFFETA_OT_value_images._cloth, TAFFETA_OT_value_images._chosen
        _texels, _write = TAFFETA_OT_value_images._texels, TAFFETA_OT_value_images._write

        class properties:
            is_property_set = staticmethod(lambda name: True)

    run = Run(TAFFETA_OT_value_images.steps(Pressed(), bpy.context))
    while "frame 3" not in run.step.text:
        run.go_on(0.0)
    assert scene.frame_current == 2
    run.stop()
    assert run.go_on(1.0) and list((tmp_path / "out").iterdir()) == [] and scene.frame_current == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"values": set()}, "No value is chosen"),
        ({"frame_start": 3, "frame_end": 1}, "ends \\(1\\) before it starts \\(3\\)"),
        ({"uv_map": "Gone"}, "Cloth has no UV map 'Gone'"),
        ({"name": "out/Cloth.jpg"}, "Cloth.jpg: the name has to end in .exr, .png"),
        ({"object": "Nobody"}, "Nobody is not a Taffeta Cloth"),
    ],
)
def test_what_cannot_be_written_is_told(sheet, tmp_path, options, words):
    with pytest.raises(RuntimeError, match=words):
        write(tmp_path, **options)
    assert not (tmp_path / "out").exists()


def move_uv(obj, by):
    """Move a garment's UV map."""
    layer = obj.data.uv_layers.active
    for corner in layer.uv:
        corner.vector[0] += by


def test_what_lies_beside_the_images_is_told(sheet, tmp_path, capfd):
    assert write(tmp_path, "a/Cloth.exr", frame_end=1) == {"FINISHED"}
    assert "beyond 0 to 1" not in capfd.readouterr().out
    move_uv(sheet, 0.3)
    assert write(tmp_path, "b/Cloth.exr", frame_end=1) == {"FINISHED"}
    assert "Cloth: 50 % of its UV map UVMap lie beyond 0 to 1" in capfd.readouterr().out
    move_uv(sheet, 1.0)
    with pytest.raises(RuntimeError, match="covers nothing between 0 and 1; choose another one, or add one"):
        write(tmp_path, "c/Cloth.exr", frame_end=1)
    other = sheet.data.uv_layers.new(name="Flat")
    for corner, place in zip(other.uv, sheet.data.uv_layers["UVMap"].uv, strict=True):
        corner.vector = place.vector[0] - 1.3, place.vector[1]
    assert write(tmp_path, "c/Cloth.exr", frame_end=1, uv_map="Flat") == {"FINISHED"}


def test_the_dialog_asks_for_all_that_can_be_chosen(sheet):
    known = bpy.ops.taffeta.value_images.get_rna_type()
    dialog = SimpleNamespace(layout=Layout(), format="PNG", object="Cloth", bl_rna=known)
    TAFFETA_OT_value_images.draw(dialog, bpy.context)
    chosen = {p.identifier for p in known.properties if not p.is_hidden} - {"rna_type", "filepath"}
    assert {name for name, _ in dialog.layout.properties()} == chosen


def test_nothing_is_written_over_unless_asked_for(sheet, tmp_path):
    assert write(tmp_path) == {"FINISHED"}
    with pytest.raises(RuntimeError, match="exists already"):
        write(tmp_path)
    assert write(tmp_path, overwrite=True) == {"FINISHED"}


def test_a_garment_without_values_or_bake_is_told_what_to_press(sheet, make, tmp_path):
    sheet.modifiers.remove(value_nodes.values_of(sheet))
    with pytest.raises(RuntimeError, match="Cloth has no values yet; press Add Values for Nodes"):
        write(tmp_path)
    make.cloth(make.grid("Bare"))
    with pytest.raises(RuntimeError, match="Bare plays no bake"):
        write(tmp_path, object="Bare")
