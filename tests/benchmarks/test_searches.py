# SPDX-License-Identifier: GPL-3.0-or-later
"""What finds triangles of bodies (Bargmann 2003, 3.2 to 3.4): the bake's own image misses none, his do."""

import searches


def test_thin_rods_come_through_where_full_images_are_searched_and_not_by_default():
    """Rods thinner than a pixel rise into a sheet, and nothing guards it."""
    crossings = {name: int(searches.shot("rods", name, False).split("|")[1]) for name in ("FOOTPRINTS", "FULL_IMAGES")}
    assert crossings["FOOTPRINTS"] == 0 < crossings["FULL_IMAGES"]


def test_every_image_is_measured(monkeypatch):
    monkeypatch.setattr(searches, "ASKED", 300)
    monkeypatch.setattr(searches, "ROUNDS", 1)
    rows = [row.strip("| ").split(" | ") for row in searches.images().splitlines()[2:]]
    assert [int(row[0]) for row in rows] == [32] * 4 + [64] * 4 + [128] * 4
    own = [row for row in rows if row[1].startswith("footprints")]
    assert all(row[4] == row[5] == "0.0%" for row in own)
    assert all(float(row[2]) > 0.0 and float(row[3]) > 0.0 for row in rows)
