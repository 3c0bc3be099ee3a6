# SPDX-License-Identifier: GPL-3.0-or-later
"""Every mapped property, from every source, reaches the garment that is simulated, and the solver's own arrays."""

import bpy
import numpy as np
import pytest
from taffeta.operators.read import maps, mesh_io, sampling
from taffeta.panels.mapped import MAPPED, ROWS
from taffeta.solver.build import build
from taffeta.solver.model import Settings

COUNT = 25


def grey():
    """A different number in [0, 1] for each vertex, in steps that a byte can hold."""
    return np.arange(COUNT) * 10 / 255


def from_group(obj, mapped):
    group = obj.vertex_groups.new(name="Map")
    for vertex, weight in enumerate(grey()):
        group.add([vertex], weight, "REPLACE")
    mapped.vertex_group = "Map"


def from_image(obj, mapped):
    """One pixel a vertex, through a UV map that is not the active one."""
    layer = obj.data.uv_layers.new(name="Chosen")
    corner = np.empty(len(obj.data.loops), np.int32)
    obj.data.loops.foreach_get("vertex_index", corner)
    u = ((corner + 0.5) / COUNT).astype(np.float32)
    layer.uv.foreach_set("vector", np.column_stack((u, np.full_like(u, 0.5))).ravel())
    obj.data.uv_layers.active = obj.data.uv_layers["UVMap"]
    image = bpy.data.images.new("Map", COUNT, 1)
    image.colorspace_settings.name = "Non-Color"
    image.pixels.foreach_set(np.column_stack((grey(), grey(), grey(), np.ones(COUNT))).astype(np.float32).ravel())
    mapped.image, mapped.uv_map = image, "Chosen"


def from_float(obj, mapped):
    obj.data.attributes.new("Map", "FLOAT", "POINT").data.foreach_set("value", grey().astype(np.float32))
    mapped.attribute = "Map"


def from_colour(obj, mapped):
    """A colour per face corner, grey."""
    corner = np.empty(len(obj.data.loops), np.int32)
    obj.data.loops.foreach_get("vertex_index", corner)
    colour = np.repeat(grey()[corner, None], 4, axis=1).astype(np.float32)
    obj.data.attributes.new("Map", "FLOAT_COLOR", "CORNER").data.foreach_set("color", colour.ravel())
    mapped.attribute = "Map"


SOURCES = {
    "group": ("GROUP", from_group),
    "image": ("IMAGE", from_image),
    "float": ("ATTRIBUTE", from_float),
    "colour": ("ATTRIBUTE", from_colour),
}
# Two values that each property may have; an upper end first turns the map round.
RANGE = {
    "pin": (0.125, 0.875),
    "mass": (0.1, 0.7),
    "thickness": (0.001, 0.009),
    "stretch_stiffness": (500.0, 5000.0),
    "shear_stiffness": (50.0, 500.0),
    "bending_stiffness": (1e-6, 1e-3),
    "damping": (1.0, 40.0),
    "friction": (0.1, 0.9),
    "pin_distance": (0.01, 0.2),
    "shrink": (-0.2, 0.3),
    "elastic": (5.0, 50.0),
    "blend": (0.25, 0.75),
}


def read(scene, obj):
    with sampling.posed(scene, [obj], []):
        return mesh_io.read_garment(obj, sampling.depsgraph_of(scene), scene)


def value(scene, obj, name):
    """What is read of a property, (n,); blending is no part of the garment, but told with each frame, and elastic becomes bands."""
    garment = read(scene, obj)
    if name == "elastic":
        return maps.read_map(obj, obj.taffeta_cloth.elastic, obj.data)
    return getattr(sampling.garment_object(obj, garment) if name == "blend" else garment, name)


def test_every_property_has_a_range_here():
    assert set(RANGE) == set(MAPPED)


@pytest.mark.parametrize("turned", [False, True], ids=["straight", "inverted"])
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("name", MAPPED)
def test_every_property_from_every_source(scene, make, name, source, turned):
    obj = make.cloth(make.grid(count=5))
    mapped = getattr(obj.taffeta_cloth, name)
    mapped.source, give = SOURCES[source]
    give(obj, mapped)
    low, high = RANGE[name]
    mapped.minimum, mapped.maximum, mapped.invert = low, high, turned
    weight = 1.0 - grey() if turned else grey()
    expected = low + (high - low) * weight
    assert value(scene, obj, name) == pytest.approx(expected, rel=1e-5)
    mapped.minimum, mapped.maximum, mapped.invert = high, low, not turned
    assert value(scene, obj, name) == pytest.approx(expected, rel=1e-5), "a minimum above the maximum turns it"


@pytest.mark.parametrize("name", MAPPED)
def test_every_uniform_value(scene, make, name):
    obj = make.cloth(make.grid(count=5), **{name: RANGE[name][1]})
    assert value(scene, obj, name) == pytest.approx(np.full(COUNT, RANGE[name][1]))
    assert ROWS[name].limits[0] <= RANGE[name][0]


@pytest.mark.parametrize("name", [name for name in MAPPED if name != "blend"])
def test_every_property_changes_what_the_solver_gets(scene, make, name):
    """The same garment but for one map: some array of `Cloth` differs, where the map does and not elsewhere."""
    obj = make.cloth(make.grid(count=5))
    mapped = getattr(obj.taffeta_cloth, name)
    mapped.minimum, mapped.maximum = RANGE[name]
    from_float(obj, mapped)
    obj.data.attributes["Map"].data.foreach_set("value", np.zeros(COUNT, np.float32))
    mapped.source = "ATTRIBUTE"
    plain, _ = build([read(scene, obj)], Settings())
    obj.data.attributes["Map"].data[12].value = 1.0
    changed, _ = build([read(scene, obj)], Settings())
    fields = {
        "stretch_stiffness": "edge_stiffness",
        "shear_stiffness": "edge_stiffness",
        "bending_stiffness": "bend_stiffness",
        "shrink": "rest_length",
        "damping": "edge_damping",
        "elastic": "edge_stiffness",
    }
    field = fields.get(name, name)
    before, after = getattr(plain, field), getattr(changed, field)
    assert before.shape == after.shape
    different = ~np.isclose(before, after, rtol=1e-9, atol=0)
    assert different.any() and not different.all()
    if len(before) == COUNT:
        assert np.array_equal(np.flatnonzero(different), [12]) or name == "mass"
