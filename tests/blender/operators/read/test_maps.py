# SPDX-License-Identifier: GPL-3.0-or-later
"""Maps: value = minimum + (maximum - minimum) * map, from groups, images and attributes."""

import struct
import zlib

import bpy
import numpy as np
import pytest
from taffeta.operators.read import maps
from taffeta.operators.read.maps import bilinear, read_map


@pytest.fixture
def garment(scene, make):
    return make.cloth(make.grid(count=5))


def mapped(obj, **settings):
    """The damping of `obj`, from 2 to 10 unless told otherwise."""
    group = obj.taffeta_cloth.damping
    for name, value in ({"minimum": 2.0, "maximum": 10.0} | settings).items():
        setattr(group, name, value)
    return group


def image_of(name, grey, color_space="Non-Color", float_buffer=False):
    """An image whose stored values are `grey` (rows, columns) in [0, 1]."""
    rows, columns = grey.shape
    image = bpy.data.images.new(name, columns, rows, float_buffer=float_buffer)
    image.colorspace_settings.name = color_space
    pixels = np.repeat(grey[..., None], 4, axis=2).astype(np.float32)
    pixels[..., 3] = 1.0
    image.pixels.foreach_set(pixels.ravel())
    return image


def test_uniform_value_is_the_same_everywhere(garment):
    values = read_map(garment, mapped(garment, value=7.0), garment.data)
    assert values.dtype == np.float64 and values.tolist() == [7.0] * 25


def test_group_gives_its_weights_and_zero_elsewhere(garment):
    group = garment.vertex_groups.new(name="Hem")
    garment.vertex_groups.new(name="Other").add([5], 1.0, "REPLACE")
    group.add([3], 1.0, "REPLACE")
    group.add([4], 0.25, "REPLACE")
    values = read_map(garment, mapped(garment, source="GROUP", vertex_group="Hem"), garment.data)
    expected = np.full(25, 2.0)
    expected[3], expected[4] = 10.0, 4.0
    assert values == pytest.approx(expected)


def test_invert_and_minimum_above_maximum_turn_the_map_round(garment):
    garment.vertex_groups.new(name="Hem").add([3], 0.25, "REPLACE")
    inverted = read_map(garment, mapped(garment, source="GROUP", vertex_group="Hem", invert=True), garment.data)
    assert inverted[[0, 3]] == pytest.approx([10.0, 8.0])
    swapped = mapped(garment, source="GROUP", vertex_group="Hem", invert=False, minimum=10.0, maximum=2.0)
    assert read_map(garment, swapped, garment.data) == pytest.approx(inverted)


def test_image_is_read_at_the_uv_corners(garment):
    """A ramp along u: pixel centres hold it exactly, so vertices in between get the ramp too."""
    ramp = np.tile((np.arange(8) + 0.5) / 8, (4, 1))
    image = image_of("Ramp", ramp, float_buffer=True)
    values = read_map(garment, mapped(garment, source="IMAGE", image=image, uv_map="UVMap"), garment.data)
    u = np.clip(np.tile(np.linspace(0, 1, 5), 5), 0.5 / 8, 7.5 / 8)
    assert values == pytest.approx(2.0 + 8.0 * u, abs=1e-5)


def test_rows_of_an_image_run_along_v(garment):
    grey = np.zeros((2, 2))
    grey[1, 0] = 1.0
    values = read_map(garment, mapped(garment, source="IMAGE", image=image_of("Corner", grey)), garment.data)
    assert values[[0, 4, 20, 24]] == pytest.approx([2.0, 2.0, 10.0, 2.0])
    assert values[12] == pytest.approx(4.0)  # the middle is the mean of the four pixels


@pytest.mark.parametrize("color_space", ["sRGB", "Non-Color", "Linear Rec.709"])
def test_half_grey_in_a_byte_image_is_half_in_every_color_space(garment, color_space):
    image = image_of("Half", np.full((4, 4), 0.5), color_space)
    values = read_map(garment, mapped(garment, source="IMAGE", image=image, minimum=0.0, maximum=255.0), garment.data)
    assert values == pytest.approx(128.0, abs=1e-3)


@pytest.mark.parametrize("alpha", [65535, 16384, 0])
@pytest.mark.parametrize("color_space", ["sRGB", "Non-Color", "Linear Rec.709", "AgX Base sRGB"])
def test_half_grey_in_a_16_bit_file_is_half_too(garment, tmp_path, color_space, alpha):
    """Blender makes a 16-bit sRGB file linear (0.214) when it loads it, and multiplies it by its alpha."""
    path = tmp_path / "half.png"
    path.write_bytes(grey_alpha_png(4, 4, 32768, alpha))
    image = bpy.data.images.load(str(path))
    image.colorspace_settings.name = color_space
    group = mapped(garment, source="IMAGE", image=image, minimum=0.0, maximum=1.0)
    assert read_map(garment, group, garment.data) == pytest.approx(0.5, abs=1e-4)
    image.pack()
    path.unlink()
    assert read_map(garment, group, garment.data) == pytest.approx(0.5, abs=1e-4)
    assert list(bpy.data.images) == [image] and image.colorspace_settings.name == color_space


def grey_alpha_png(width, height, grey, alpha):
    """The bytes of a PNG of 16 bits (ISO/IEC 15948), one colour everywhere; PIL writes none with alpha."""
    row = b"\0" + struct.pack(">HH", grey, alpha) * width
    chunks = (b"IHDR", struct.pack(">IIBBBBB", width, height, 16, 4, 0, 0, 0)), (b"IDAT", zlib.compress(row * height))
    packed = [
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in (*chunks, (b"IEND", b""))
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(packed)


@pytest.mark.parametrize("mode, expected", [("L", 51 / 255), ("LA", 51 / 255), ("RGB", None), ("RGBA", None)])
def test_files_of_one_to_four_channels_give_luminance(garment, tmp_path, mode, expected):
    from PIL import Image

    color = {"L": 51, "LA": (51, 9), "RGB": (51, 102, 204), "RGBA": (51, 102, 204, 255)}[mode]
    path = tmp_path / f"{mode}.png"
    Image.new(mode, (3, 3), color).save(path)
    image = bpy.data.images.load(str(path))
    image.pack()
    expected = expected or (0.2126 * 51 + 0.7152 * 102 + 0.0722 * 204) / 255
    values = read_map(garment, mapped(garment, source="IMAGE", image=image, minimum=0.0, maximum=1.0), garment.data)
    assert values == pytest.approx(expected, abs=1e-5)


def test_generated_image_is_read(garment):
    image = bpy.data.images.new("Grid", 64, 64)
    image.generated_type = "BLANK"
    image.generated_color = (0.25, 0.25, 0.25, 1.0)
    values = read_map(garment, mapped(garment, source="IMAGE", image=image, minimum=0.0, maximum=1.0), garment.data)
    assert values == pytest.approx(64 / 255)


def test_image_repeats_tile_by_tile():
    grey = np.array([[0.0, 1.0]])
    uv = np.array([[0.25, 0.5], [0.75, 0.5], [1.25, 0.5], [-0.25, 7.5], [1.0, 1.0], [0.0, 0.0], [2.0, 0.5]])
    assert bilinear(grey, uv) == pytest.approx([0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0])


def test_seam_vertices_average_their_uv_corners(make):
    """Two triangles over one edge; the edge's vertices lie on black in one and on white in the other."""
    obj = make.cloth(make.mesh("Seam", [(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)], [(0, 1, 2), (1, 3, 2)]))
    layer = obj.data.uv_layers.new(name="UVMap")
    uv = np.array([[0.25, 0.5]] * 3 + [[0.75, 0.5]] * 3, np.float32)
    layer.uv.foreach_set("vector", uv.ravel())
    image = image_of("Halves", np.array([[0.0, 1.0]]))
    values = read_map(obj, mapped(obj, source="IMAGE", image=image, minimum=0.0, maximum=1.0), obj.data)
    assert values == pytest.approx([0.0, 0.5, 0.5, 1.0])


@pytest.mark.parametrize(
    "data_type, domain, field, element, expected",
    [
        ("FLOAT", "POINT", "value", 0.25, 0.25),
        ("FLOAT", "CORNER", "value", 0.25, 0.25),
        ("FLOAT_COLOR", "POINT", "color", (0.1, 0.2, 0.3, 1.0), 0.2126 * 0.1 + 0.7152 * 0.2 + 0.0722 * 0.3),
        ("FLOAT_COLOR", "CORNER", "color", (0.5, 0.5, 0.5, 0.0), 0.5),
        ("BYTE_COLOR", "CORNER", "color", (0.5, 0.5, 0.5, 1.0), 0.5),
        ("BOOLEAN", "POINT", "value", True, 1.0),
        ("INT", "POINT", "value", 1, 1.0),
    ],
)
def test_attribute_of_any_kind(garment, data_type, domain, field, element, expected):
    attribute = garment.data.attributes.new("Weight", data_type, domain)
    for item in attribute.data:
        setattr(item, field, element)
    group = mapped(garment, source="ATTRIBUTE", attribute="Weight", minimum=0.0, maximum=1.0)
    assert read_map(garment, group, garment.data) == pytest.approx(expected, abs=6e-3)


def test_loose_vertices_get_the_minimum_from_an_image(make):
    obj = make.cloth(make.mesh("Loose", [(0, 0, 0), (1, 0, 0), (0, 1, 0), (5, 5, 5)], [(0, 1, 2)]))
    obj.data.uv_layers.new(name="UVMap")
    white = image_of("White", np.ones((2, 2)))
    assert read_map(obj, mapped(obj, source="IMAGE", image=white), obj.data) == pytest.approx([10, 10, 10, 2])


@pytest.mark.parametrize(
    "settings, words",
    [
        ({"source": "GROUP"}, ["Cloth", "Damping", "no vertex group is chosen", "Uniform"]),
        ({"source": "GROUP", "vertex_group": "Old"}, ["Cloth", "Damping", "vertex group 'Old'", "Hem"]),
        ({"source": "IMAGE"}, ["Cloth", "Damping", "no image is chosen"]),
        ({"source": "ATTRIBUTE"}, ["Cloth", "Damping", "no attribute is chosen"]),
        ({"source": "ATTRIBUTE", "attribute": "Gone"}, ["Cloth", "Damping", "attribute 'Gone'"]),
        ({"source": "ATTRIBUTE", "attribute": "PerFace"}, ["Cloth", "Damping", "'PerFace'", "FACE", "convert"]),
    ],
)
def test_missing_map_is_a_sentence(garment, settings, words):
    garment.vertex_groups.new(name="Hem")
    garment.data.attributes.new("PerFace", "FLOAT", "FACE")
    with pytest.raises(ValueError) as error:
        read_map(garment, mapped(garment, **settings), garment.data)
    assert all(word in str(error.value) for word in words), error.value


def test_missing_uv_map_and_empty_image_are_sentences(garment, tmp_path):
    white = image_of("White", np.ones((2, 2)))
    with pytest.raises(ValueError, match=r"Cloth, Damping: there is no UV map 'Old' \(it has UVMap\)"):
        read_map(garment, mapped(garment, source="IMAGE", image=white, uv_map="Old"), garment.data)
    empty = bpy.data.images.new("Lost", 4, 4)
    empty.source = "FILE"
    empty.filepath = str(tmp_path / "lost.png")
    with pytest.raises(ValueError, match=r"image 'Lost' has no pixels \(file .*lost.png\); find the file"):
        read_map(garment, mapped(garment, source="IMAGE", image=empty, uv_map=""), garment.data)


def test_not_a_number_in_an_attribute_is_a_sentence(garment):
    attribute = garment.data.attributes.new("Weight", "FLOAT", "POINT")
    attribute.data[7].value = float("nan")
    with pytest.raises(ValueError, match="not a number at vertex 7"):
        read_map(garment, mapped(garment, source="ATTRIBUTE", attribute="Weight"), garment.data)


def test_an_image_beyond_reason_is_refused_before_memory_is_taken(garment, monkeypatch):
    monkeypatch.setattr(maps, "MOST_PICTURE_PIXELS", 15)
    monkeypatch.setattr(maps, "pixels", None)
    wide = mapped(garment, source="IMAGE", image=bpy.data.images.new("Wide", 8, 2))
    with pytest.raises(
        ValueError, match=r"Cloth, Damping: image 'Wide' has 8 x 2 pixels, more than 15: .* scale it down"
    ):
        read_map(garment, wide, garment.data)


def test_rows_of_an_image_are_read_some_at_a_time(garment, monkeypatch):
    monkeypatch.setattr(maps, "ROWS_AT_ONCE", 3)
    grey = np.random.default_rng(3).random((16, 16))
    few = maps._grey_at(
        garment, mapped(garment, source="IMAGE", image=image_of("Noise", grey, float_buffer=True)), None
    )
    assert few == pytest.approx(grey, abs=1e-6)
