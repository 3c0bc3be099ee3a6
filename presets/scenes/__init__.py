# SPDX-License-Identifier: GPL-3.0-or-later
"""Example scenes, each a function (context, collection) -> stage.Example that adds it to a collection."""

from . import poncho, simple, skirt

SCENES = {
    "poncho": poncho.add,
    "skirt": skirt.add,
    "sheet_on_sphere": simple.sheet_on_sphere,
    "sheet_on_torus": simple.sheet_on_torus,
    "two_sheets": simple.two_sheets,
    "flag": simple.flag,
}
