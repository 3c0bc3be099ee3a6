# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes docs/reference.md: every setting, from the code's own properties.

.venv/bin/python scripts/reference.py
"""

import sys
from pathlib import Path

import bpy
import taffeta
from taffeta.panels.mapped import ROWS
from taffeta.panels.properties import ANIMATED, NOTES

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference.md"
UNITS = {
    "LENGTH": "m",
    "VELOCITY": "m/s",
    "ACCELERATION": "N/kg",
    "ROTATION": "rad",
    "TIME_ABSOLUTE": "s",
    "MASS": "kg",
}
LARGE = 1e9  # limits from here on are none that anyone would meet
HEAD = """# Reference: every setting

Written by `scripts/reference.py` from the properties themselves, and checked by a test. *Script* is what Python and
[wedges](wedges.md#paths) call it, in SI units; panels show some in others (mm, g/m², µN m). *Range* is what it may be, *slider* what dragging
offers where that is less. Those with a diamond ◆ may have keys and drivers ([animate](animate.md)).
"""
MAPPED = """## What may be painted

`object.taffeta_cloth.NAME` has `value`, or, with `source` GROUP, IMAGE or ATTRIBUTE, `minimum` and `maximum` where a [map](maps.md)
is 0 and 1. All three have keys.
"""
GROUPS = (
    ("A garment", "object.taffeta_cloth"),
    ("Tearing", "object.taffeta_cloth.tear"),
    ("Rest shape", "object.taffeta_cloth.rest"),
    ("An attachment", "object.taffeta_cloth.attachments[0]"),
    ("What it rides on", "object.taffeta_cloth.ride"),
    ("A collider", "object.taffeta_collider"),
    ("The whole bake", "scene.taffeta"),
)


def page() -> str:
    """The text of docs/reference.md; Taffeta must be registered."""
    parts = [HEAD, MAPPED, table(_mapped_rows())]
    for title, path in GROUPS:
        group = group_at(path)
        parts += [f"## {title}\n\n`{path}`\n", table(rows_of(group))]
    return "\n".join(parts)


def group_at(path: str):
    """The type that a path such as object.taffeta_cloth.tear leads to."""
    owner, *names = path.replace("[0]", "").split(".")
    found = {"object": bpy.types.Object, "scene": bpy.types.Scene}[owner].bl_rna
    for name in names:
        found = found.properties[name].fixed_type
    return found


def table(rows: list[tuple[str, ...]]) -> str:
    """Rows as Markdown."""
    head = "| setting | script | unit | range | slider | default | |\n| --- | --- | --- | --- | --- | --- | --- |\n"
    return head + "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |\n" for row in rows)


def rows_of(group) -> list[tuple[str, ...]]:
    """A row for each setting of a property group."""
    left_out = {"rna_type", "name", "number", "topology", *NOTES}  # the last are notes of ours
    return [
        _row(prop, prop.identifier, prop.name, "", prop.identifier in ANIMATED)
        for prop in group.properties
        if prop.identifier not in left_out and not prop.identifier.endswith("_shown") and _is_plain(prop)
    ]


def _mapped_rows() -> list[tuple[str, ...]]:
    cloth, found = group_at("object.taffeta_cloth"), []
    for name, row in ROWS.items():
        value = cloth.properties[name].fixed_type.properties["value"]
        found.append(_row(value, name, row.label, row.symbol, True))
    return found


def _is_plain(prop) -> bool:
    """A setting by itself: no group of others, and no list of them; objects and collections are settings."""
    if prop.type == "COLLECTION":
        return False
    return prop.type != "POINTER" or prop.fixed_type.identifier in ("Object", "Collection", "Image")


def _row(prop, script: str, label: str, symbol: str, is_animated: bool) -> tuple[str, ...]:
    numeric = prop.type in ("INT", "FLOAT")
    label, _, told = label.partition(" (") if label.endswith(")") else (label, "", "")
    unit = symbol or told.removesuffix(")") or (UNITS.get(prop.unit, "") if numeric else "")
    words = prop.description
    if prop.type == "ENUM":
        items = [item for item in prop.enum_items if item.identifier != prop.default]
        words += ". " + "; ".join(
            f"`{item.identifier}`: {item.description}" for item in (prop.enum_items[prop.default], *items)
        )
    return (
        f"**{label}**{' ◆' if is_animated else ''}", f"`{script}`", unit, *_ranges(prop, numeric), _default(prop), words,
    )  # fmt: skip


def _ranges(prop, numeric: bool) -> tuple[str, str]:
    if not numeric:
        return "", ""
    hard = _range(prop.hard_min, prop.hard_max)
    soft = _range(prop.soft_min, prop.soft_max)
    return hard, "" if soft == hard else soft


def _range(low: float, high: float) -> str:
    if low <= -LARGE and high >= LARGE:
        return "any"
    if high >= LARGE:
        return f"{_number(low)} and more"
    return f"up to {_number(high)}" if low <= -LARGE else f"{_number(low)} to {_number(high)}"


def _default(prop) -> str:
    if prop.type == "POINTER":
        return ""
    if getattr(prop, "is_array", False):
        return ", ".join(_number(value) for value in prop.default_array)
    if prop.type in ("INT", "FLOAT"):
        return _number(prop.default)
    return (
        {True: "on", False: "off"}[prop.default]
        if prop.type == "BOOLEAN"
        else f"`{prop.default}`"
        if prop.default
        else ""
    )


def _number(value: float) -> str:
    return f"{value:.5g}"


if __name__ == "__main__":
    taffeta.register()
    PAGE.write_text(page(), encoding="utf-8")
    print(f"{PAGE.name}: {page().count(chr(10))} lines")
    taffeta.unregister()
    sys.exit(0)
