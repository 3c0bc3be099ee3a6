# SPDX-License-Identifier: GPL-3.0-or-later
"""Preflight tells of pressure, sewing and force fields that would do nothing."""

import bpy


def test_pressure_in_what_is_open(shot, only, cloth):
    cloth().taffeta_cloth.pressure = 100.0
    only("INFO", "Cloth", "32 of its edges are open")
    cloth().taffeta_cloth.target_volume = 0.1
    only("WARNING", "Cloth", "encloses none")
    cloth().taffeta_cloth.pressure = -20.0  # no gas, whatever volume it aims at
    only("INFO", "Cloth", "pushed along its normals")


def test_pressure_in_what_is_closed(shot, make, found, only):
    ball = make.cloth(make.ball("Balloon", location=(0, 3, 0)), pressure=100.0, target_volume=0.1)
    assert found() == []
    ball.data.polygons[3].flip()
    ball.data.update()
    bpy.context.view_layer.update()
    only("WARNING", "Balloon", "3 of its edges are open or turned round")


def test_sewing_without_seams_and_seams_without_sewing(shot, make, found, only, cloth):
    cloth().taffeta_cloth.sewing = True
    only("WARNING", "Cloth", "no edge without a face")
    cloth().taffeta_cloth.sewing = False
    x = [(0, 3, 0), (1, 3, 0), (0, 4, 0), (0, 3, 1), (1, 3, 1), (0, 4, 1)]
    panels = make.cloth(make.mesh("Panels", x, [(0, 1, 2), (3, 5, 4)], edges=[(0, 3), (1, 4)]))
    only("INFO", "Panels", "2 edges without a face")
    panels.taffeta_cloth.sewing = True
    assert found() == []


def test_an_allowance_without_seams(shot, found, only, cloth):
    cloth().taffeta_cloth.seam_allowance = 0.01
    only("WARNING", "Cloth", "a Seam Allowance, but no seam")
    cloth().data.edges[3].use_seam = True
    assert found() == []


def test_fields_of_particle_systems_are_left_out(shot, make, found, only):
    source = make.grid("Dust", location=(0, 0, 5))
    source.modifiers.new("Particles", "PARTICLE_SYSTEM")
    assert found() == []
    source.particle_systems[0].settings.force_field_1.type = "FORCE"
    only("WARNING", "Dust", "force field", "particles")
