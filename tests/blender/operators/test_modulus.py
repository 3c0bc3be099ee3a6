# SPDX-License-Identifier: GPL-3.0-or-later
"""*Set Fabric from Elastic Modulus*, in the model that a garment has: what a bake makes of modulus and thickness."""

import bpy
import numpy as np
import pytest
from taffeta.operators.checks import problem_list

G, FRAMES = 9.81, 60
DENSITY, MODULUS, LENGTH = (
    1200.0,
    4e5,
    1.0,
)  # [kg/m3], [Pa], [m] of a rubber, softer than there is, so that it can be seen


def strip(make, name, thickness, at):
    """A strip of 10 cm x 1 m, of square cells, that hangs from its upper end, of that density; Fabric, as all garments at first."""
    x, faces = rectangle()
    obj = make.cloth(make.mesh(name, x, faces, location=(at, 0.0, 0.0)), thickness=thickness, mass=DENSITY * thickness)
    obj.taffeta_cloth.damping.value, obj.taffeta_cloth.self_collision = 60.0, False
    obj.vertex_groups.new(name="top").add(range(60, 63), 1.0, "REPLACE")
    obj.taffeta_cloth.pin.source, obj.taffeta_cloth.pin.vertex_group = "GROUP", "top"
    return obj


def rectangle(columns=3, rows=21, width=0.1):
    """Vertices of a strip in the xz plane, row by row from below, and its quads."""
    u, v = np.meshgrid(np.linspace(0.0, width, columns), np.linspace(-LENGTH, 0.0, rows))
    corner = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).ravel()
    x = np.column_stack((u.ravel(), np.zeros(u.size), v.ravel()))
    return x, np.column_stack((corner, corner + 1, corner + columns + 1, corner + columns))


def test_strips_of_one_solid_hang_as_on_paper_in_the_default_model(make, saved):
    """Longer by rho g L^2 / 2 E, whatever their thickness, for weight and stiffness both go by that: with the shear of a solid
    that narrows by 0.3, of which Fabric knows what it needs.
    """
    saved.taffeta.air_density = saved.taffeta.sleep_speed = 0.0  # it would be put to rest 0.3 mm short
    saved.frame_end = FRAMES
    strips = [strip(make, f"{at}", thickness, at) for at, thickness in enumerate((3e-4, 8e-4))]
    for obj in strips:
        obj.select_set(True)
    assert bpy.ops.taffeta.fabric_modulus(modulus=MODULUS, sheet_thickness=0.0) == {"FINISHED"}
    assert {obj.taffeta_cloth.model for obj in strips} == {"FABRIC"}
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    saved.frame_set(FRAMES)
    longer = [-make.world(obj)[:3, 2].mean() - LENGTH for obj in strips]
    print("longer by [mm]", 1e3 * np.array(longer), "on paper", 1e3 * DENSITY * G * LENGTH**2 / (2 * MODULUS))
    assert longer == pytest.approx(2 * [DENSITY * G * LENGTH**2 / (2 * MODULUS)], rel=0.02)


def test_bending_goes_by_the_third_power_of_the_garments_own_thickness(make):
    strips = [strip(make, f"{at}", thickness, at) for at, thickness in enumerate((3e-4, 6e-4))]
    for obj in strips:
        assert bpy.ops.taffeta.fabric_modulus(object=obj.name, modulus=1e7, sheet_thickness=0.0, poisson=0.4) == {
            "FINISHED"
        }
    thin, thick = (obj.taffeta_cloth.bending_stiffness.value for obj in strips)
    assert thin == pytest.approx(1e7 * 2.7e-11 / 12 / 0.84) and thick == pytest.approx(8 * thin)


def told(obj):
    return [p for p in problem_list.latest(bpy.context.scene) if p.object == obj.name and "sheet" in p.sentence]


def test_a_thickness_that_is_changed_afterwards_is_told_and_one_press_mends_it(make):
    obj = strip(make, "Foil", 3e-4, 0)
    cloth = obj.taffeta_cloth
    bpy.ops.taffeta.fabric_modulus(object="Foil", modulus=2e8, sheet_thickness=0.0, poisson=0.4)
    assert not told(obj)
    cloth.thickness.value = 5e-4
    (problem,) = told(obj)
    assert problem.sentence == (
        "Foil has the Stretch and Bending of a sheet that is 0.3 mm thick, and a Thickness of 0.5 mm"
    )
    assert problem.verbs == ("taffeta.fabric_modulus",)
    bpy.ops.taffeta.fabric_modulus(object="Foil")
    assert cloth.stretch_stiffness.value == pytest.approx(1e5) and cloth.poisson == pytest.approx(0.4)
    assert not told(obj)


def test_what_was_changed_by_hand_or_has_a_thickness_of_its_own_is_not_told(make):
    obj = strip(make, "Foil", 3e-4, 0)
    cloth = obj.taffeta_cloth
    bpy.ops.taffeta.fabric_modulus(object="Foil", modulus=2e8, sheet_thickness=0.3)
    cloth.thickness.value = 5e-4
    assert not told(obj), "the sheet has a thickness of its own, and contact another"
    bpy.ops.taffeta.fabric_modulus(object="Foil", modulus=2e8, sheet_thickness=0.0)
    cloth.stretch_stiffness.value, cloth.thickness.value = 700.0, 2e-4
    assert not told(obj), "it is no sheet of that solid any more"


def test_a_thickness_by_a_map_is_refused(make):
    obj = strip(make, "Foil", 3e-4, 0)
    obj.taffeta_cloth.thickness.source, obj.taffeta_cloth.thickness.vertex_group = "GROUP", "top"
    before = obj.taffeta_cloth.stretch_stiffness.value
    with pytest.raises(RuntimeError, match="Foil has a map for its Thickness; give a Sheet Thickness"):
        bpy.ops.taffeta.fabric_modulus(object="Foil", sheet_thickness=0.0)
    assert obj.taffeta_cloth.stretch_stiffness.value == before
