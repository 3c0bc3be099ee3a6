# SPDX-License-Identifier: GPL-3.0-or-later
"""The overlay: numbers to colours (no Blender needed), the scene to pictures, and pictures to pixels off-screen."""

import bpy
import numpy as np
import pytest
from taffeta.operators import colours, overlay

# Linear-RGB matrices of full protanopia and deuteranopia (Machado, Oliveira, Fernandes 2009, table 1, severity 1.0).
BLINDNESS = {
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
}


def linear(srgb):
    """Light of sRGB colours (IEC 61966-2-1)."""
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


def lightness(srgb):
    """CIE L* of sRGB colours (k, 3)."""
    y = linear(srgb) @ (0.2126, 0.7152, 0.0722)
    return np.where(y > 0.008856, 116 * np.cbrt(y) - 16, 903.3 * y)


def test_values_grow_steadily_brighter():
    steps = colours.ramp(colours.SEQUENTIAL, np.linspace(0, 1, 65))
    assert (np.diff(lightness(steps[:, :3])) > 0.2).all()


@pytest.mark.parametrize("kind", BLINDNESS)
def test_both_ramps_can_be_read_by_the_colour_blind(kind):
    for stations in (colours.SEQUENTIAL, colours.DIVERGING):
        light = linear(colours.ramp(stations, np.linspace(0, 1, 9))[:, :3]) @ np.array(BLINDNESS[kind]).T
        seen = np.clip(light, 0, 1) ** (1 / 2.2)
        apart = np.linalg.norm(seen[:, None] - seen[None], axis=2)
        np.fill_diagonal(apart, 1.0)
        assert apart.min() > 0.05, "two of nine steps look alike"


def test_colours_run_from_low_to_high_and_stop_there():
    found = colours.colours(np.array([-1.0, 2.0, 3.0, 4.0, 9.0]), 2.0, 4.0, colours.SEQUENTIAL)
    assert found[0] == pytest.approx([*colours.SEQUENTIAL[0], 1])
    assert found[1] == pytest.approx(found[0])
    assert found[2] == pytest.approx([*colours.SEQUENTIAL[2], 1])
    assert found[4] == pytest.approx([*colours.SEQUENTIAL[-1], 1])
    assert found.dtype == np.float32


def test_equal_values_have_the_middle_colour():
    found = colours.colours(np.full(3, 7.0), 7.0, 7.0, colours.SEQUENTIAL)
    assert found[1] == pytest.approx([*colours.SEQUENTIAL[2], 1])


def test_stretch_is_the_mean_over_a_vertex_edges():
    random = np.random.default_rng(3)
    x, rest = random.normal(size=(20, 3)), random.normal(size=(20, 3))
    edges = random.integers(0, 19, size=(40, 2))
    edges = edges[edges[:, 0] != edges[:, 1]]
    rest_length = colours.lengths(rest, edges)
    found = colours.vertex_stretch(x, edges, rest_length)
    for i in range(20):
        own = [np.linalg.norm(x[b] - x[a]) / np.linalg.norm(rest[b] - rest[a]) - 1 for a, b in edges if i in (a, b)]
        assert found[i] == pytest.approx(np.mean(own) if own else 0.0)


def test_edges_of_no_length_say_nothing():
    x = np.array([(0, 0, 0), (2.0, 0, 0), (2.0, 0, 0)])
    found = colours.vertex_stretch(x, np.array([(0, 1), (1, 2)]), np.array([1.0, 0.0]))
    assert found == pytest.approx([1.0, 1.0, 0.0])


@pytest.mark.parametrize(
    ("value", "symbol", "text"),
    [
        (0.002, "m", "2 mm"),
        (0.0009999, "m", "1 mm"),
        (0.9999, "m", "1 m"),
        (0.000318, "m", "318 µm"),
        (1e-5, "N m", "10 µN m"),
        (3650.4, "N/m", "3650 N/m"),
        (0.15, "kg/m²", "0.15 kg/m²"),
        (-0.1, "%", "-10 %"),
        (0.35, "", "0.35"),
        (0.0, "m", "0 m"),
    ],
)
def test_quantities_are_short_and_have_their_unit(value, symbol, text):
    assert colours.quantity(value, symbol) == text


@pytest.fixture
def garment(make):
    """A cloth of 5 x 5 vertices whose group "half" is 1 at x > 0 and drives its mass from 0.1 to 0.5."""
    obj = make.cloth(make.grid(count=5))
    group = obj.vertex_groups.new(name="half")
    group.add([v.index for v in obj.data.vertices if v.co.x > 0.01], 1.0, "REPLACE")
    mass = obj.taffeta_cloth.mass
    mass.source, mass.vertex_group, mass.minimum, mass.maximum = "GROUP", "half", 0.1, 0.5
    bpy.context.view_layer.objects.active = obj
    yield obj
    bpy.context.window_manager.taffeta.overlay = "NONE"
    overlay.refresh(bpy.context)


def show(what):
    assert bpy.ops.taffeta.overlay(show=what) == {"FINISHED"}
    return overlay.drawn()


def test_the_picture_shows_the_values_of_the_map(garment):
    (picture,), legend = show("mass")
    expected = np.where(picture.x[:, 0] > 0.01, 0.5, 0.1)
    assert picture.values == pytest.approx(expected)
    assert (legend.low, legend.high) == (pytest.approx(0.1), pytest.approx(0.5))
    assert (legend.title, legend.symbol) == ("Mass", "kg/m²")
    assert len(picture.triangles) == 32


def test_pressing_again_hides_it(garment):
    show("mass")
    assert show("mass") == ((), None)
    assert bpy.context.window_manager.taffeta.overlay == "NONE"


def test_another_property_replaces_it(garment):
    show("mass")
    (picture,), legend = show("thickness")
    assert legend.title == "Thickness"
    assert picture.values == pytest.approx(np.full(25, 0.002))
    assert overlay._ticks(legend) == [(0.5, "2 mm everywhere")]


def test_the_picture_follows_painting_and_settings(garment):
    show("mass")
    garment.vertex_groups["half"].add(list(range(25)), 1.0, "REPLACE")
    garment.data.update()
    bpy.context.view_layer.update()
    assert overlay.drawn()[0][0].values == pytest.approx(np.full(25, 0.5))
    garment.taffeta_cloth.mass.maximum = 0.9
    bpy.context.view_layer.update()
    assert overlay.drawn()[0][0].values == pytest.approx(np.full(25, 0.9))


def test_the_picture_follows_the_timeline(garment):
    garment.shape_key_add(name="Basis")
    key = garment.shape_key_add(name="Up")
    for point in key.data:
        point.co.z += 1.0
    for frame, value in ((1, 0.0), (5, 1.0)):
        key.value = value
        key.keyframe_insert("value", frame=frame)
    bpy.context.scene.frame_set(1)
    show("mass")
    bpy.context.scene.frame_set(5)
    (picture,), _ = overlay.drawn()
    assert picture.x[:, 2] == pytest.approx(np.ones(25))
    assert picture.values.max() == pytest.approx(0.5)


def test_the_picture_waits_while_a_bake_moves_the_scene(garment):
    show("mass")
    before = overlay.drawn()
    bpy.context.window_manager.taffeta.baking = True
    bpy.context.scene.frame_set(3)
    bpy.context.window_manager.taffeta.baking = False
    assert overlay.drawn() is before


def test_stretch_is_measured_against_the_rest_mesh_in_world_size(garment):
    garment.shape_key_add(name="Basis")
    wide = garment.shape_key_add(name="Wide")
    for point in wide.data:
        point.co *= 1.04
    wide.value = 1.0
    garment.scale = (2.0, 2.0, 2.0)
    bpy.context.view_layer.update()
    (picture,), legend = show("STRETCH")
    assert picture.values == pytest.approx(np.full(25, 0.04), abs=1e-5)
    assert (legend.low, legend.high) == colours.STRETCH_RANGE
    assert [text for _, text in overlay._ticks(legend)] == ["-10 %", "0 %", "10 %"]


def test_subdivision_behind_the_cloth_does_not_disturb(garment):
    garment.modifiers.new("Displace", "DISPLACE").strength = 1.0
    garment.modifiers.new("Fine", "SUBSURF")
    bpy.context.view_layer.update()
    (picture,), legend = show("mass")
    assert len(picture.x) == 25 and legend.troubles == ()
    assert np.abs(picture.x[:, 2]).max() > 0.1, "moved by what stands before the subdivision"


def test_a_missing_map_is_said_in_the_legend(garment):
    garment.taffeta_cloth.mass.vertex_group = "gone"
    found, legend = show("mass")
    assert found == ()
    assert "gone" in legend.troubles[0] and "Cloth" in legend.troubles[0]


def test_edit_mode_is_said_in_the_legend(garment):
    show("mass")
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.context.view_layer.update()
    overlay.refresh(bpy.context)
    assert "Edit mode" in overlay.drawn()[1].troubles[0]
    bpy.ops.object.mode_set(mode="OBJECT")
    overlay.refresh(bpy.context)
    assert len(overlay.drawn()[0]) == 1


def test_hidden_and_deleted_garments_disappear(garment, make):
    second = make.cloth(make.grid("Second", count=3))
    assert len(show("friction")[0]) == 2
    second.hide_set(True)
    overlay.refresh(bpy.context)
    assert [p.name for p in overlay.drawn()[0]] == ["Cloth"]
    bpy.data.objects.remove(second)
    bpy.context.view_layer.update()
    overlay.refresh(bpy.context)
    assert [p.name for p in overlay.drawn()[0]] == ["Cloth"]


def test_an_empty_mesh_and_a_changed_one_are_shown(garment, make):
    """Nothing where there is nothing; and no triangles of yesterday's mesh."""
    make.cloth(make.mesh("Nothing", np.empty((0, 3)), []))
    found, legend = show("thickness")
    assert [p.name for p in found] == ["Cloth"] and legend.troubles == ()
    garment.data.clear_geometry()
    garment.data.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])
    garment.data.update()
    bpy.context.view_layer.update()
    (first,), _ = overlay.drawn()
    assert first.triangles.tolist() == [[0, 1, 2]] and len(first.x) == len(first.values) == 3


def test_garments_share_one_scale(garment, make):
    make.cloth(make.grid("Heavy", count=3), mass=2.0)
    _, legend = show("mass")
    assert (legend.low, legend.high) == (pytest.approx(0.1), pytest.approx(2.0))


def test_undo_leaves_a_picture_of_the_present(garment):
    show("mass")
    bpy.ops.ed.undo_push(message="before")
    garment.taffeta_cloth.mass.maximum = 0.8
    bpy.ops.ed.undo_push(message="after")
    bpy.ops.ed.undo()
    (picture,), _ = overlay.drawn()
    assert picture.values.max() == pytest.approx(0.5)


def test_another_file_starts_without_pictures(garment):
    show("mass")
    bpy.ops.wm.read_homefile(use_empty=True)
    assert overlay.drawn()[0] == ()


def gpu_ready():
    """A GPU context without a window; Blender 5.2 has a call for it, older ones make one when they render."""
    import gpu

    if hasattr(gpu, "init"):
        gpu.init()
    else:
        scene = bpy.context.scene
        camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
        scene.collection.objects.link(camera)
        scene.camera = camera
        scene.render.engine = "BLENDER_WORKBENCH"
        scene.render.resolution_x = scene.render.resolution_y = 4
        bpy.ops.render.render()
    gpu.platform.renderer_get()


def test_the_pixels_have_the_colours_of_the_values(garment):
    """Seen from above: the left half has the colour of the least mass, the right half that of the greatest.

    The garment is moved by a quarter of the view to the left, so that its matrix counts.
    """
    import gpu
    from mathutils import Matrix

    try:
        gpu_ready()
    except SystemError as error:
        pytest.skip(f"no GPU context here: {error}")
    garment.location = (-0.5, 0.0, -0.5)
    bpy.context.view_layer.update()
    found, legend = show("mass")
    size = 32
    canvas = gpu.types.GPUOffScreen(size, size, format="RGBA32F")
    with canvas.bind():
        screen = gpu.state.active_framebuffer_get()
        screen.clear(color=(0.0, 0.0, 0.0, 0.0), depth=1.0)
        with gpu.matrix.push_pop():
            gpu.matrix.load_matrix(Matrix.Identity(4))
            gpu.matrix.load_projection_matrix(Matrix.Identity(4))
            overlay.draw_pictures(found, legend)
        buffer = screen.read_color(0, 0, size, size, 4, 0, "FLOAT")
    buffer.dimensions = size * size * 4
    pixels = np.frombuffer(buffer, np.float32).reshape(size, size, 4)
    canvas.free()
    low, high = colours.ramp(colours.SEQUENTIAL, np.array([0.0, 1.0]))
    # The garment covers -1 to 0 of the view from -1 to 1: pixels 0 to 16 across, 8 to 24 up.
    assert pixels[16, 2] == pytest.approx(low, abs=0.02)
    assert pixels[16, 14] == pytest.approx(high, abs=0.02)
    assert pixels[16, 20] == pytest.approx([0, 0, 0, 0])
    assert pixels[28, 8] == pytest.approx([0, 0, 0, 0])
