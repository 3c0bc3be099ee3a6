# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings in SI, shown in the scene's units: each length, speed and acceleration has a twin `<name>_shown`.

Blender shows a stored 0.002 in a scene of unit scale 0.01 as 0.02 mm. Fabrics do not change with the scene, so we
store SI, and the panels draw the twin there: what the field says and what is typed into it stays true.
"""

import bpy


def shown_factor() -> float:
    """SI to what Blender's unit fields hold: they multiply by the unit scale when they display."""
    scene = bpy.context.scene
    if scene is None or scene.unit_settings.system == "NONE":
        return 1.0
    return 1.0 / scene.unit_settings.scale_length


def _shown(name: str, prop):
    """A twin of property `name` that reads and writes it in the scene's units."""
    is_vector = "size" in prop.keywords

    def read(group):
        value, factor = getattr(group, name), shown_factor()
        return tuple(v * factor for v in value) if is_vector else value * factor

    def write(group, value):
        factor = shown_factor()
        setattr(group, name, tuple(v / factor for v in value) if is_vector else value / factor)

    return prop.function(**(prop.keywords | {"get": read, "set": write}))


def add_shown(cls):
    """Give each length, speed and acceleration that `cls` declares its twin."""
    for name, prop in tuple(cls.__annotations__.items()):
        if prop.keywords.get("unit", "NONE") != "NONE":
            cls.__annotations__[name + "_shown"] = _shown(name, prop)
