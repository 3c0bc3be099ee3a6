# SPDX-License-Identifier: GPL-3.0-or-later
"""Example scenes, each a function (context, collection) -> stage.Example that adds it to a collection."""

from . import bodies, crowds, directed, poncho, sewn_shirt, simple, skirt, tablecloth, tearing, twirl, zipped

SCENES = {
    "poncho": poncho.add,
    "skirt": skirt.add,
    "twirl": twirl.add,
    "pleated_skirt": skirt.pleated,
    "elastic_skirt": skirt.elastic,
    "sewn_shirt": sewn_shirt.add,
    "sheet_on_sphere": simple.sheet_on_sphere,
    "sheet_on_torus": simple.sheet_on_torus,
    "two_sheets": simple.two_sheets,
    "flag": simple.flag,
    "tablecloth": tablecloth.add,
    "torn_banner": tearing.torn_banner,
    "zipped_curtain": zipped.zipped_curtain,
    "tighten": simple.tighten,
    "cape": directed.cape,
    "hero_cape": directed.hero_cape,
    "after_bake": directed.after_bake,
    "two_sheets_on_spheres": crowds.two_sheets_on_spheres,
    "ball_through_sheets": crowds.ball_through_sheets,
    "bowl": crowds.bowl,
    "washing_machine": crowds.washing_machine,
    "deformed_torus": bodies.deformed_torus,
    "plate": bodies.plate,
    "hemisphere": bodies.hemisphere,
    "dryer": bodies.dryer,
    "twisted_knot": bodies.twisted_knot,
    "rotation": bodies.rotation,
    "clock": bodies.clock,
    "wings": bodies.wings,
    "grow": bodies.grow,
    "twist": bodies.twist,
    "drum": bodies.drum,
}
