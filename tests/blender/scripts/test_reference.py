# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/reference.md says what the properties say."""

import bpy
import pytest
import reference
from taffeta.panels.mapped import ROWS


def test_the_page_is_of_the_properties_as_they_are():
    found = reference.PAGE.read_text(encoding="utf-8")
    assert found == reference.page(), "run .venv/bin/python scripts/reference.py"


def test_every_setting_has_its_row_with_unit_range_and_default():
    page = reference.page()
    assert all(f"`{name}`" in page for name in ROWS)
    for name in ("wind", "substeps", "aura", "breaking_force", "hold", "bend_yield", "felt"):
        assert f"`{name}`" in page, name
    assert "| `thickness` | m | 1e-06 to 1000 | 0.0001 to 0.02 | 0.002 |" in page
    assert "`fingerprint`" not in page and "_shown`" not in page


@pytest.mark.parametrize(
    ("low", "high", "words"), [(0, 1, "0 to 1"), (0, 2**31 - 1, "0 and more"), (-3.4e38, 3.4e38, "any")]
)
def test_ranges_in_words(low, high, words):
    assert reference._range(low, high) == words


def test_a_path_leads_to_the_type_of_its_settings():
    assert reference.group_at("object.taffeta_cloth.tear").properties["hold"].default == 1.0
    assert reference.group_at("scene.taffeta").identifier == type(bpy.context.scene.taffeta).__name__
