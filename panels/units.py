# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings in SI, shown in the scene's units: each length, speed and acceleration has a twin `<name>_shown`, and so has
a number that is too small for Blender's fields.

Blender shows a stored 0.002 in a scene of unit scale 0.01 as 0.02 mm. Fabrics do not change with the scene, so we
store SI, and the panels draw the twin there: what the field says and what is typed into it stays true.
"""

import bpy

NOTHING = 1e-6  # [m] below which a length is told as none


def shown_factor() -> float:
    """SI to what Blender's unit fields hold: they multiply by the unit scale when they display."""
    scene = bpy.context.scene
    if scene is None or scene.unit_settings.system == "NONE":
        return 1.0
    return 1.0 / scene.unit_settings.scale_length


def length_text(metres: float) -> str:
    """A length as an animator reads it: 3.1 mm, 12 cm, 1.4 m; in a scene of imperial units as Blender's fields show it there. Thickness
    is told in mm in each scene, as its field is.
    """
    scene = bpy.context.scene
    if scene is not None and scene.unit_settings.system == "IMPERIAL":
        return bpy.utils.units.to_string("IMPERIAL", "LENGTH", float(metres), precision=3)
    if metres < 0.01:
        return f"{1000.0 * metres if metres >= NOTHING else 0.0:.2g} mm"
    return f"{100.0 * metres:.3g} cm" if metres < 1.0 else f"{metres:.3g} m"


def _twin(name: str, prop, factor, changed=()):
    """A property that reads and writes property `name` times factor(); `changed` holds keywords of its own."""
    is_vector = "size" in prop.keywords

    def read(group):
        value, f = getattr(group, name), factor()
        return tuple(v * f for v in value) if is_vector else value * f

    def write(group, value):
        f = factor()
        setattr(group, name, tuple(v / f for v in value) if is_vector else value / f)

    return prop.function(**(prop.keywords | dict(changed) | {"get": read, "set": write}))


def in_other_unit(name: str, prop, factor: float, symbol: str):
    """A twin of the number `name` in a smaller unit, the same in scenes of any scale: Blender shows six decimals at most,
    and a fabric is told in g/m² and mm."""
    scaled = {k: prop.keywords[k] * factor for k in ("default", "min", "max", "soft_min", "soft_max", "step")}
    label = f"{prop.keywords['name']} ({symbol})"
    return _twin(name, prop, lambda: factor, scaled | {"precision": 2, "name": label, "unit": "NONE"})


def add_shown(cls):
    """Let `cls` declare what its bases do, as a garment those of its pattern, and give each length, speed and acceleration its twin."""
    for base in cls.__bases__:
        cls.__annotations__ |= vars(base).get("__annotations__", {})
    for name, prop in tuple(cls.__annotations__.items()):
        has_unit = prop.keywords.get("unit", "NONE") != "NONE"
        if name + "_shown" in cls.__annotations__:  # in a unit that does not change with the scene, as millimetres
            continue
        if has_unit or prop.keywords.get("subtype") in ("VELOCITY", "ACCELERATION"):
            cls.__annotations__[name + "_shown"] = _twin(name, prop, shown_factor)
