# SPDX-License-Identifier: GPL-3.0-or-later
"""Warp, weft and Poisson's ratio from the panel to the baked cloth."""

import bpy
import numpy as np
import pytest
from taffeta.operators.read import mesh_io
from taffeta.solver.model import Garment

MASS, STRETCH, G = 0.5, 300.0, 9.81


def hung(scene, make, **settings):
    """How far a square metre hangs below its shape at rest at its lower edge, the weft down, and how much it narrows."""
    scene.taffeta.air_density = 0.0
    scene.frame_end = 60
    obj = make.grid(count=9)
    obj.rotation_euler[0] = np.pi / 2
    make.cloth(obj, uv_map="UVMap", mass=MASS, stretch_stiffness=STRETCH, shear_stiffness=2.0, damping=50.0, **settings)
    obj.taffeta_cloth.self_collision = False
    obj.vertex_groups.new(name="top").add([k for k in range(81) if k >= 72], 1.0, "REPLACE")
    obj.taffeta_cloth.pin.source, obj.taffeta_cloth.pin.vertex_group = "GROUP", "top"
    bpy.context.view_layer.update()
    start = make.world(obj)
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    scene.frame_set(60)
    end = make.world(obj)
    middle = slice(36, 45)
    return (start - end)[:9, 2].mean(), np.ptp(start[middle, 0]) - np.ptp(end[middle, 0])


def test_the_solver_has_the_same_defaults(scene, make):
    obj = make.cloth(make.grid(count=3))
    depsgraph = bpy.context.evaluated_depsgraph_get()
    garment = mesh_io.read_garment(obj, depsgraph, scene)
    for name in ("weft_stretch", "weft_bending", "poisson", "strain_limit", "stiffening"):
        assert getattr(garment, name) == Garment._field_defaults[name]


@pytest.mark.parametrize("model", ["FABRIC", "MEMBRANE"])
@pytest.mark.parametrize("weft", [1.0, 0.5, 4.0])
def test_cloth_hangs_by_the_stiffness_of_its_weft(saved, make, weft, model):
    """Extension sigma g L^2 / 2 K of a hanging sheet whose weft runs down."""
    lower, narrower = hung(saved, make, weft_stretch=weft, model=model)
    assert lower == pytest.approx(MASS * G / (2 * weft * STRETCH), rel=0.05)
    assert abs(narrower) < 2e-4


@pytest.mark.parametrize("model", ["FABRIC", "MEMBRANE", "SPRINGS"])
def test_cloth_hangs_by_its_strain_limit(saved, make, model):
    """Above the limit e0, a tenth as stretchy: e0 up to the height h where s g h = K e0, and a tenth of the rest above."""
    lower, _ = hung(saved, make, strain_limit=0.005, stiffening=10.0, model=model)
    t = np.linspace(0, MASS * G / STRETCH, 1001)
    expected = np.where(t < 0.005, t, 0.005 + (t - 0.005) / 10.0).mean()
    assert lower == pytest.approx(expected, rel=0.2 if model == "SPRINGS" else 0.06)


def test_cloth_that_is_pulled_longer_gets_narrower(saved, make):
    """Half way down the strain is sigma g L / 2 K, and it narrows by nu of it."""
    _, narrower = hung(saved, make, poisson=0.3, model="MEMBRANE")
    assert narrower == pytest.approx(0.3 * MASS * G * 0.5 / STRETCH, rel=0.2)
