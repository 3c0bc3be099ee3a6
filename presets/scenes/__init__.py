# SPDX-License-Identifier: GPL-3.0-or-later
"""Example scenes, each a function (context, collection) -> stage.Example that adds it to a collection."""

from . import bodies, crowds, poncho, simple, skirt

SCENES = {
    "poncho": poncho.add,
    "skirt": skirt.add,
    "sheet_on_sphere": simple.sheet_on_sphere,
    "sheet_on_torus": simple.sheet_on_torus,
    "two_sheets": simple.two_sheets,
    "flag": simple.flag,
    "two_sheets_on_spheres": crowds.two_sheets_on_spheres,
    "ball_through_sheets": crowds.ball_through_sheets,
    "bowl": crowds.bowl,
    "washing_machine": crowds.washing_machine,
    "deformed_torus": bodies.deformed_torus,
    "plate": bodies.plate,
    "dryer": bodies.dryer,
    "twisted_knot": bodies.twisted_knot,
    "rotation": bodies.rotation,
    "clock": bodies.clock,
    "wings": bodies.wings,
    "grow": bodies.grow,
    "twist": bodies.twist,
    "drum": bodies.drum,
}
