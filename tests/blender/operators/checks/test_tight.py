# SPDX-License-Identifier: GPL-3.0-or-later
"""Preflight: cloth that is stretched by the Distance of what it is worn about."""

import bpy
import numpy as np
import pytest
from taffeta.operators.checks import tight
from taffeta.operators.checks.crossings import start_pose

ROUND, RINGS = 24, 20
GAP = 0.0035


def hose(make, name, radius, side):
    """An open tube about z of quads so high."""
    angle = 2.0 * np.pi * np.arange(ROUND) / ROUND
    x = [(radius * np.cos(a), radius * np.sin(a), side * k) for k in range(RINGS) for a in angle]
    corner = np.arange((RINGS - 1) * ROUND)
    beside = corner // ROUND * ROUND + (corner + 1) % ROUND
    return make.mesh(name, x, np.stack([corner, beside, beside + ROUND, corner + ROUND], axis=1).tolist())


@pytest.fixture
def worn(saved, make):
    """worn(radius): a hose that lies 3.5 mm off a limb."""

    def dress(radius):
        side = 2.0 * np.pi * radius / ROUND
        cloth = make.cloth(hose(make, "Cloth", radius + GAP, side))
        limb = make.collider(hose(make, "Limb", radius, side), aura=0.005)
        bpy.context.view_layer.update()
        return cloth, limb

    return dress


def found(scene):
    cloth, limb = bpy.data.objects["Cloth"], bpy.data.objects["Limb"]
    bpy.context.view_layer.update()
    return list(tight.find_tight(*start_pose(scene, [cloth], [limb]), 1.0))


def told():
    bpy.ops.taffeta.preflight()
    items = bpy.context.window_manager.taffeta.problems
    return [(item.sentence, item.remedy) for item in items if "stays stretched" in item.sentence]


def test_a_finger_stretches_its_glove(saved, worn):
    """Its way round is by 1.5 mm of 11.5 too short, which is its edges round it: 480 of 1,392."""
    _, limb = worn(0.008)
    (one,) = found(saved)
    assert (one.garment, one.body, one.distance) == ("Cloth", "Limb", pytest.approx(0.005))
    assert one.gap == pytest.approx(GAP, rel=0.02) and one.part == pytest.approx(0.345, abs=0.001)
    assert told() == [
        (
            f"Cloth starts 3.5 mm off Limb, whose Distance of 5 mm would have {100.0 * one.part:.0f} % of its edges over a tenth "
            "longer: it stays stretched",
            "Lower Distance of Limb to 3.5 mm or less, or make it wider there by 1.5 mm (Alt S in Edit Mode)",
        )
    ]
    limb.taffeta_collider.aura = 0.0034
    assert found(saved) == [] and told() == []


def test_a_shirt_as_near_to_a_chest_is_as_it_should_be(saved, worn):
    worn(0.12)
    assert found(saved) == []


@pytest.mark.parametrize("why", ["pinned", "masked", "rigid", "apart"])
def test_what_a_body_does_not_push_is_not_stretched(saved, worn, why):
    cloth, _ = worn(0.008)
    settings, group = cloth.taffeta_cloth, cloth.vertex_groups.new(name="All")
    group.add(list(range(ROUND * RINGS)), 1.0, "REPLACE")
    assert len(found(saved)) == 1
    if why == "pinned":
        settings.pin.source, settings.pin.vertex_group = "GROUP", "All"
    elif why == "masked":
        settings.body_group = "All"
    elif why == "rigid":
        settings.model = "RIGID"
    else:
        settings.collision_collection = bpy.data.collections.new("None")
    assert found(saved) == []
