# SPDX-License-Identifier: GPL-3.0-or-later
"""Mapped properties: the table of all values that may vary over a garment, and the settings that each of them has.

value = minimum + (maximum - minimum) * map, the map being a vertex group, an image or an attribute in [0, 1].
"""

from typing import NamedTuple

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, PointerProperty, StringProperty

from .units import in_other_unit

# Lets an animator change settings of a linked character without making it local.
OVERRIDE = {"LIBRARY_OVERRIDABLE"}

SOURCES = (
    ("UNIFORM", "Uniform", "The same value everywhere", "DOT", 0),
    ("GROUP", "Vertex Group", "Vary between Min and Max by the weights of a vertex group", "GROUP_VERTEX", 1),
    ("IMAGE", "Image", "Vary between Min and Max by the brightness of an image, laid on by a UV map", "IMAGE_DATA", 2),
    ("ATTRIBUTE", "Attribute", "Vary between Min and Max by a float or colour attribute", "SPREADSHEET", 3),
)


class Mapped(NamedTuple):
    """One mapped property: a row of the table below."""

    name: str
    label: str
    symbol: str  # unit as shown, "" for a pure number
    default: float
    map_range: tuple[float, float]  # minimum and maximum at first, so that unpainted parts keep the default
    limits: tuple[float, float]  # hard range; below it physics ends
    soft: tuple[float, float]  # range of the slider
    unit: str  # Blender's unit, "NONE" where it has none
    precision: int
    tooltip: str
    shown_symbol: str = ""  # where Blender's six decimals are too few: the unit that panels show instead,
    shown_factor: float = 1.0  # and how many of it make one SI unit


# fmt: off
TABLE = (
    Mapped(
        "pin", "Pin", "", 0.0, (0.0, 1.0), (0.0, 1.0), (0.0, 1.0), "NONE", 3,
        "How firmly the cloth follows the object's own animation (armature, shape keys, parent). "
        "0 is free, 1 follows exactly (a waistband), 0.5 is pulled towards it",
    ),
    Mapped(
        "mass", "Mass", "kg/m²", 0.15, (0.15, 0.6), (1e-4, 1e4), (0.01, 1.0), "NONE", 3,
        "Mass per area in g/m² (the trade says gsm; scripts take kg/m²). Silk 80, cotton 150, wool 240, denim 320",
        shown_symbol="g/m²", shown_factor=1e3,
    ),
    Mapped(
        "thickness", "Thickness", "m", 0.002, (0.002, 0.006), (1e-6, 1e3), (1e-4, 0.02), "LENGTH", 5,
        "Distance that layers of cloth keep from each other, in mm (scripts take metres). "
        "Fabrics measure 0.2 to 1.5 mm; more keeps coarse meshes apart with less effort",
        shown_symbol="mm", shown_factor=1e3,
    ),
    Mapped(
        "stretch_stiffness", "Stretch", "N/m", 2000.0, (2000.0, 20000.0), (0.0, 1e9), (10.0, 20000.0), "NONE", 1,
        "Force per metre of width that would stretch a strip to twice its length, in N/m, along the warp (u of the pattern). "
        "Swimsuit 50, jersey 84, silk 770, cotton 2000 to 2800, wool coat 2900",
    ),
    Mapped(
        "shear_stiffness", "Shear", "N/m", 100.0, (100.0, 1000.0), (0.0, 1e9), (1.0, 5000.0), "NONE", 1,
        "Resistance to being pulled askew, across the threads, in N/m. "
        "Low drapes softly: jersey 20, denim 70, silk 100, cotton 200, canvas 1000, leather 3800",
    ),
    Mapped(
        "bending_stiffness", "Bending", "N m", 1e-5, (1e-5, 1e-3), (0.0, 1e3), (0.0, 1e-3), "NONE", 7,
        "Resistance to folding per width (plate rigidity), in N m, of the warp. "
        "Silk 0.8 µN m, cotton 10 µN m, denim 18 µN m, leather 30 µN m, a thick coat 65 µN m",
        shown_symbol="µN m", shown_factor=1e6,
    ),
    Mapped(
        "damping", "Damping", "1/s", 2.0, (2.0, 30.0), (0.0, 1e5), (0.0, 50.0), "NONE", 2,
        "How fast neighbouring parts lose their motion against each other, in 1/s. "
        "0 rings on, 2 is lively cloth, 20 is heavy and calm. Falling and swinging as a whole is not slowed",
    ),
    Mapped(
        "friction", "Friction", "", 0.3, (0.3, 1.0), (0.0, 100.0), (0.0, 1.0), "NONE", 3,
        "Coulomb coefficient, a pure number: the cloth rests on slopes up to atan(friction). "
        "Silk 0.25, cotton 0.35, denim 0.5, rubber 0.9",
    ),
    Mapped(
        "pin_distance", "Max Distance", "m", 0.0, (0.0, 0.05), (0.0, 1e6), (0.0, 1.0), "LENGTH", 4,
        "Farthest that the cloth may move from the object's own animation, in metres. 0 sets no limit",
    ),
    Mapped(
        "shrink", "Shrink", "", 0.0, (0.0, 0.2), (-10.0, 0.99), (-0.5, 0.5), "NONE", 3,
        "Part by which the cloth is smaller than its mesh, a pure number: 0.1 is a tenth smaller, as at a gathered "
        "waist; below 0 it is larger",
    ),
    Mapped(
        "elastic", "Elastic", "N/m", 0.0, (0.0, 100.0), (0.0, 1e6), (0.0, 200.0), "NONE", 1,
        "Pull of elastic sewn into the cloth, drawn out to its full length, per metre of its width, in N/m: 0 is none, a cuff of "
        "jersey 30, a waistband 100 to 200. Elastic Length tells how much it gathers. Read at the first frame of a bake",
    ),
    Mapped(
        "blend", "Blend to Animation", "", 0.0, (0.0, 1.0), (0.0, 1.0), (0.0, 1.0), "NONE", 3,
        "How much of Blend Stiffness and Blend Damping pulls the cloth to the object's own animation, a pure number: 0 is free "
        "cloth, 1 all of it. Keyed, it brings cloth to a pose and lets it go",
    ),
)
# fmt: on
MAPPED: tuple[str, ...] = tuple(row.name for row in TABLE)
ROWS: dict[str, Mapped] = {row.name: row for row in TABLE}
# What a fabric preset sets: the material, not where it is pinned or gathered.
FABRIC: tuple[str, ...] = tuple(
    name for name in MAPPED if name not in ("pin", "pin_distance", "shrink", "elastic", "blend")
)
# What else it sets, the same everywhere; defaults are those of `solver.model.Garment`: no difference, as presets of old.
THREADS: dict[str, float] = {
    "weft_stretch": 1.0, "weft_bending": 1.0, "bending_damping": 0.0, "poisson": 0.0, "strain_limit": 0.0, "stiffening": 5.0
}  # fmt: skip


def follow_value(cloth: bpy.types.PropertyGroup, name: str):
    """Let Min be the value and Max keep its ratio to Min, so that a map keeps its contrast on another fabric.

    What is no fabric's (pins, shrinking, elastic, blending) is left alone.
    """
    group, row = getattr(cloth, name), ROWS[name]
    if name not in FABRIC:
        return
    ratio = group.maximum / group.minimum if group.minimum > 0.0 else row.map_range[1] / row.map_range[0]
    group.minimum = group.value
    group.maximum = group.value * ratio


# fmt: off
def _mapped_class(row: Mapped) -> type:
    """The PropertyGroup of one mapped property; a class each because unit, range and tooltip differ."""

    def number(label: str, default: float, lead: str):
        low, high = row.limits
        return FloatProperty(
            name=label, description=lead + row.tooltip, default=default, min=low, max=high,
            soft_min=row.soft[0], soft_max=row.soft[1], unit=row.unit, precision=row.precision,
            step=max(row.default, row.soft[1] * 0.01) * 10,  # of which Blender adds a hundredth for a click
            override=OVERRIDE,
        )

    annotations = {
        "source": EnumProperty(
            name=f"{row.label} from", items=SOURCES, override=OVERRIDE, description="Where the values come from"
        ),
        "value": number(row.label, row.default, ""),
        "minimum": number("Min", row.map_range[0], "Where the map is 0. "),
        "maximum": number("Max", row.map_range[1], "Where the map is 1. "),
        "vertex_group": StringProperty(
            name="Vertex Group", override=OVERRIDE, description="Vertex group whose weights are the map"
        ),
        "image": PointerProperty(
            name="Image", type=bpy.types.Image, override=OVERRIDE,
            description="Image whose brightness is the map, as it is stored, whatever its colour space",
        ),
        "uv_map": StringProperty(
            name="UV Map", override=OVERRIDE, description="UV map that lays the image on; empty takes the active one"
        ),
        "attribute": StringProperty(
            name="Attribute", override=OVERRIDE, description="Float or colour attribute of the mesh that is the map"
        ),
        "invert": BoolProperty(name="Invert", override=OVERRIDE, description="Use 1 - map: swaps Min and Max"),
    }
    if row.shown_factor != 1.0:
        for name in ("value", "minimum", "maximum"):
            annotations[name + "_shown"] = in_other_unit(name, annotations[name], row.shown_factor, row.shown_symbol)
    return type(
        "TaffetaMapped" + row.name.title().replace("_", ""),
        (bpy.types.PropertyGroup,),
        {"__annotations__": annotations, "__doc__": f"{row.label}: {row.tooltip}", "__module__": __name__},
    )


# fmt: on
MAPPED_CLASSES: dict[str, type] = {row.name: _mapped_class(row) for row in TABLE}
