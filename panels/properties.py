# SPDX-License-Identifier: GPL-3.0-or-later
"""Every setting of Taffeta: its name, unit, default, range and tooltip. The one place where they are declared.

`Object.taffeta_cloth` and `Object.taffeta_collider` hold what belongs to a garment or a body,
`Scene.taffeta` what holds for the whole bake; its names equal the fields of `solver.model.Settings`.

A *mapped* property has one value everywhere or varies over the garment:
value = minimum + (maximum - minimum) * map, the map being a vertex group, an image or an attribute in [0, 1].
Values are SI (m, kg, s), whatever the scene's unit scale; see `units` for how they are displayed.
"""

from typing import NamedTuple

import bpy
from bpy.props import (
    BoolProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

from ..solver.model import Settings
from .units import add_shown, in_other_unit

# Lets an animator change settings of a linked character without making it local.
OVERRIDE = {"LIBRARY_OVERRIDABLE"}
# A path may start with "//", the folder of the .blend.
RELATIVE = {"PATH_SUPPORTS_BLEND_RELATIVE"}

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
        "Mass per area in kg/m² (the trade says gsm: 150 gsm is 0.15). Silk 0.08, cotton 0.15, wool 0.24, denim 0.32",
    ),
    Mapped(
        "thickness", "Thickness", "m", 0.002, (0.002, 0.006), (1e-6, 1e3), (1e-4, 0.02), "LENGTH", 5,
        "Distance that layers of cloth keep from each other, in metres. "
        "Fabrics measure 0.2 to 1.5 mm; more keeps coarse meshes apart with less effort",
    ),
    Mapped(
        "stretch_stiffness", "Stretch", "N/m", 2000.0, (2000.0, 20000.0), (0.0, 1e9), (10.0, 20000.0), "NONE", 1,
        "Force per metre of width that would stretch the cloth to twice its length, in N/m, along the threads. "
        "Swimsuit 80, jersey 180, silk 1300, cotton 2000 to 3600, canvas 6700",
    ),
    Mapped(
        "shear_stiffness", "Shear", "N/m", 100.0, (100.0, 1000.0), (0.0, 1e9), (1.0, 5000.0), "NONE", 1,
        "Resistance to being pulled askew, across the threads, in N/m. "
        "Low drapes softly: jersey 20, denim 70, silk 100, cotton 200, canvas 1000, leather 3800",
    ),
    Mapped(
        "bending_stiffness", "Bending", "N m", 1e-5, (1e-5, 1e-3), (0.0, 1e3), (0.0, 1e-3), "NONE", 7,
        "Resistance to folding per width (plate rigidity), in N m. "
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
)
# fmt: on
MAPPED: tuple[str, ...] = tuple(row.name for row in TABLE)
ROWS: dict[str, Mapped] = {row.name: row for row in TABLE}
# What a fabric preset sets: the material, not where it is pinned.
FABRIC: tuple[str, ...] = tuple(name for name in MAPPED if name not in ("pin", "pin_distance"))


def follow_value(cloth: bpy.types.PropertyGroup, name: str):
    """Let Min be the value and Max keep its ratio to Min, so that a map keeps its contrast on another fabric.

    Pins are left alone: their range is 0 to 1, or free to a distance.
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
            step=max(row.default, row.soft[1] * 0.01) * 10, override=OVERRIDE,
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
            description="Image whose brightness is the map. Non-Color images are read as they are stored",
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


MAPPED_CLASSES: dict[str, type] = {row.name: _mapped_class(row) for row in TABLE}


class TaffetaClothSettings(bpy.types.PropertyGroup):
    """A garment: what it is made of, how it is baked, and where its frames lie."""

    enabled: BoolProperty(name="Taffeta Cloth", description="Simulate this object as cloth", override=OVERRIDE)
    layer: IntProperty(
        name="Layer", default=0, min=0, soft_max=10, override=OVERRIDE,
        description="Order of garments worn over each other: 0 is innermost",
    )
    self_collision: BoolProperty(
        name="Self-Collision", default=True, override=OVERRIDE,
        description="Keep the folds of this garment out of each other. Garments always keep out of other garments",
    )
    quality: EnumProperty(
        name="Quality", default="FINAL", override=OVERRIDE,
        items=(
            ("PREVIEW", "Preview", "Fewer steps: quick to look at, softer, contacts may slip"),
            ("FINAL", "Final", "Steps enough that nothing goes through"),
        ),
        description="How carefully the bake is done. One Final garment makes the whole bake Final",
    )
    uv_map: StringProperty(
        name="Pattern", override=OVERRIDE,
        description="UV map that holds the sewing pattern: warp threads run along u. "
        "Empty takes threads along the mesh's edges",
    )
    pin: PointerProperty(type=MAPPED_CLASSES["pin"], override=OVERRIDE)
    mass: PointerProperty(type=MAPPED_CLASSES["mass"], override=OVERRIDE)
    thickness: PointerProperty(type=MAPPED_CLASSES["thickness"], override=OVERRIDE)
    stretch_stiffness: PointerProperty(type=MAPPED_CLASSES["stretch_stiffness"], override=OVERRIDE)
    shear_stiffness: PointerProperty(type=MAPPED_CLASSES["shear_stiffness"], override=OVERRIDE)
    bending_stiffness: PointerProperty(type=MAPPED_CLASSES["bending_stiffness"], override=OVERRIDE)
    damping: PointerProperty(type=MAPPED_CLASSES["damping"], override=OVERRIDE)
    friction: PointerProperty(type=MAPPED_CLASSES["friction"], override=OVERRIDE)
    pin_distance: PointerProperty(type=MAPPED_CLASSES["pin_distance"], override=OVERRIDE)
    field_weight: FloatProperty(
        name="Fields", default=1.0, min=0.0, max=1e3, soft_max=1.0, step=5, override=OVERRIDE,
        description="Part of the scene's force fields that this garment feels, a pure number: 0 none, 1 all. A field of "
        "strength 1 pushes with 1 N per m² of cloth, and a Flow of 1 resists with as much at 1 m/s",
    )
    pressure: FloatProperty(
        name="Pressure (Pa)", default=0.0, soft_min=0.0, soft_max=1000.0, step=1000, precision=1, override=OVERRIDE,
        description="What a closed garment is blown up with, in Pa (N/m²), more than the air outside. A cushion has 50, "
        "an air bed 2000. Below 0 it is sucked in. On an open garment it pushes along the normals",
    )
    target_volume: FloatProperty(
        name="Target Volume (m³)", default=0.0, min=0.0, max=1e9, soft_max=1.0, step=1, precision=5, override=OVERRIDE,
        description="Volume in m³ that a closed garment's gas would fill without pressure; a litre is 0.001. What it is "
        "blown up with is then Pressure x (Target Volume / its volume - 1). 0 keeps the Pressure whatever the volume",
    )
    cache_path: StringProperty(
        name="Cache", subtype="FILE_PATH", options=RELATIVE, override=OVERRIDE,
        description="Point cache (PC2) that is played; written by Bake",
    )
    cache_name: StringProperty(
        name="Cache Name", override=OVERRIDE,
        description="File name of the cache without its ending; empty takes the object's name",
    )
    fingerprint: StringProperty(
        name="Fingerprint", override=OVERRIDE, description="Digest of what the bake was made of",
    )
    stale: StringProperty(name="Stale", override=OVERRIDE, description="Why the cache no longer fits the scene")
    fingerprint: StringProperty(
        name="Fingerprint", override=OVERRIDE, description="What the bake was made of, as JSON; written by Bake"
    )
    report_json: StringProperty(name="Report", override=OVERRIDE, description="Figures of the last bake, as JSON")


class TaffetaColliderSettings(bpy.types.PropertyGroup):
    """A body that cloth is kept out of."""

    enabled: BoolProperty(name="Taffeta Collider", description="Keep cloth out of this object", override=OVERRIDE)
    aura: FloatProperty(
        name="Aura", default=0.005, min=0.0, max=1e3, soft_min=0.001, soft_max=0.05, unit="LENGTH", precision=4,
        step=0.1, override=OVERRIDE,
        description="Shell around the body that cloth is kept out of, in metres. "
        "5 mm hides the facets of a character; raise it if skin shines through",
    )
    friction: FloatProperty(
        name="Friction", default=0.3, min=0.0, max=100.0, soft_max=1.0, step=5, override=OVERRIDE,
        description="Coulomb coefficient of the surface, a pure number; combined with the cloth's. "
        "Polished wood 0.2, skin 0.3 to 0.9",
    )
    restitution: FloatProperty(
        name="Restitution", default=0.0, min=0.0, max=1.0, step=5, subtype="FACTOR", override=OVERRIDE,
        description="Share of the impact speed that is given back: 0 for cloth on anything real, 1 bounces for ever",
    )
    single_frame_samples: IntProperty(
        name="Subframes", default=0, min=0, max=64, soft_max=16, override=OVERRIDE,
        description="How many times within a frame the body is looked at. 0 chooses by its speed",
    )
    sequence: StringProperty(
        name="OBJ Sequence", subtype="FILE_PATH", options=RELATIVE, override=OVERRIDE,
        description="First file of the OBJ sequence that this body was imported from; it plays from a cache of its own",
    )


class TaffetaSceneSettings(bpy.types.PropertyGroup):
    """What holds for the whole bake. Names and defaults are those of `solver.model.Settings`."""

    substeps: IntProperty(
        name="Substeps", default=Settings().substeps, min=1, max=1000, soft_min=5, soft_max=60, override=OVERRIDE,
        description="Solver steps per 1/24 s in Final quality. More for fast cloth, for thin layers that press on each "
        "other, and for livelier motion; the cost grows in proportion",
    )
    substeps_preview: IntProperty(
        name="Preview Substeps", default=6, min=1, max=1000, soft_min=3, soft_max=40, override=OVERRIDE,
        description="Solver steps per 1/24 s in Preview quality",
    )
    iterations: IntProperty(
        name="Iterations", default=Settings().iterations, min=1, max=1000, soft_max=50, override=OVERRIDE,
        description="Iterations that the springs of a substep are solved in, at most. More for cloth that stretches where "
        "much of it hangs on few vertices",
    )
    tolerance: FloatProperty(
        name="Tolerance", default=Settings().tolerance, min=1e-6, max=0.9, soft_min=1e-3, precision=3, override=OVERRIDE,
        description="Part of the error at which the solver stops before that. Smaller is calmer and slower",
    )
    air_density: FloatProperty(
        name="Air Density (kg/m³)", default=Settings().air_density, min=0.0, max=2000.0, soft_max=5.0, step=10, precision=3,
        override=OVERRIDE, description="In kg/m³. Air at sea level 1.225, water 1000, 0 is a vacuum",
    )
    air_drag: FloatProperty(
        name="Drag", default=Settings().air_drag, min=0.0, max=100.0, soft_max=3.0, step=10, override=OVERRIDE,
        description="Drag coefficient of the cloth broadside on, a pure number. A flat sheet has 1.2",
    )
    air_lift: FloatProperty(
        name="Lift", default=Settings().air_lift, min=0.0, max=100.0, soft_max=3.0, step=10, override=OVERRIDE,
        description="Lift coefficient, a pure number: how much slanting air pushes the cloth sideways",
    )
    wind: FloatVectorProperty(
        name="Wind", default=(0.0, 0.0, 0.0), size=3, subtype="VELOCITY", soft_min=-30.0, soft_max=30.0,
        step=10, override=OVERRIDE,
        description="Velocity of the air in m/s. A breeze is 3, a strong wind 12, a storm 25",
    )
    constant_force: FloatVectorProperty(
        name="Constant Force", default=(0.0, 0.0, 0.0), size=3, subtype="ACCELERATION", step=10,
        override=OVERRIDE,
        description="Force per mass on all cloth, in N/kg (= m/s²), besides gravity",
    )
    random_force_min: FloatVectorProperty(
        name="Random Force Min", default=(0.0, 0.0, 0.0), size=3, subtype="ACCELERATION", step=10,
        override=OVERRIDE,
        description="Lower limit per axis of a force that differs for every particle and step, in N/kg",
    )
    random_force_max: FloatVectorProperty(
        name="Random Force Max", default=(0.0, 0.0, 0.0), size=3, subtype="ACCELERATION", step=10,
        override=OVERRIDE,
        description="Upper limit per axis of the random force, in N/kg",
    )
    seed: IntProperty(
        name="Seed", default=Settings().seed, min=0, override=OVERRIDE,
        description="Another number gives another course of the random force",
    )
    pin_rate: FloatProperty(
        name="Pin Rate", default=Settings().pin_rate, min=0.0, max=1e5, soft_max=500.0, step=100, override=OVERRIDE,
        description="How fast a half-weight pin pulls the cloth back to its animation, in 1/s",
    )
    neighbour_reach: FloatProperty(
        name="Neighbour Reach", default=Settings().neighbour_reach, min=1.0, max=10.0, step=10, override=OVERRIDE,
        description="How far cloth looks for other cloth, in units of contact distance plus motion",
    )
    ldi_resolution: IntProperty(
        name="LDI Resolution", default=Settings().ldi_resolution, min=8, max=1024, soft_max=256, override=OVERRIDE,
        description="Pixels along the longest side of a body's layered depth image",
    )
    max_speed: FloatProperty(
        name="Speed Limit", default=Settings().max_speed, min=0.1, max=1e5, soft_max=200.0, unit="VELOCITY", step=100,
        override=OVERRIDE,
        description="Cloth faster than this is slowed down, in m/s; raise it for bullets",
    )
    cloth_restitution: FloatProperty(
        name="Cloth Restitution", default=Settings().cloth_restitution, min=0.0, max=1.0, subtype="FACTOR",
        override=OVERRIDE,
        description="Share of the impact speed given back where cloth meets cloth; 0 for real fabric",
    )
    collider_source: EnumProperty(
        name="Collide with", override=OVERRIDE,
        items=(
            ("ALL", "All Colliders", "Every object of the scene whose Taffeta Collider is on"),
            ("COLLECTION", "Collection", "Only the colliders of one collection and its children"),
        ),
        description="Which colliders take part in the bake",
    )
    collider_collection: PointerProperty(
        name="Collection", type=bpy.types.Collection, override=OVERRIDE,
        description="Collection whose colliders take part",
    )
    preroll: IntProperty(
        name="Pre-Roll", default=0, min=0, max=10000, soft_max=100, override=OVERRIDE,
        description="Frames simulated before the first one, so that the cloth has settled when the shot begins. "
        "The animation before the scene's start is used",
    )
    cache_folder: StringProperty(
        name="Cache Folder", default="//taffeta_cache", subtype="DIR_PATH", options=RELATIVE, override=OVERRIDE,
        description="Where bakes are written. // means beside the .blend; "
        "an unsaved file bakes to the temporary folder",
    )
# fmt: on


CLASSES = (
    *MAPPED_CLASSES.values(),
    TaffetaClothSettings,
    TaffetaColliderSettings,
    TaffetaSceneSettings,
)
# Notes that operators leave with a garment; writing them changes nothing that anyone would have to look at again.
NOTES = frozenset(("cache_path", "fingerprint", "stale", "report_json"))


# What is looked at in every frame. All else is read once, before the first, and cannot be keyframed.
ANIMATED = frozenset((
    "field_weight", "pressure", "target_volume", "wind", "air_density", "air_drag", "air_lift", "constant_force",
    "random_force_min", "random_force_max", "seed", "pin_rate", "max_speed", "cloth_restitution",
))  # fmt: skip


def _tag(group, context):
    """Have Blender call the handlers of changed objects and scenes: for its own settings it does so by itself."""
    group.id_data.update_tag()


def _add_tags(cls):
    """Let every setting tell that it changed, so that preflight and overlay look again."""
    for name, prop in cls.__annotations__.items():
        if name not in NOTES:
            prop.keywords["update"] = _tag


def _fix(cls):
    """Let Blender refuse keyframes that a bake would not see."""
    for name, prop in cls.__annotations__.items():
        if name.removesuffix("_shown") not in ANIMATED and prop.function is not PointerProperty:
            prop.keywords["options"] = prop.keywords.get("options", set()) - {"ANIMATABLE"}


for _cls in CLASSES:
    add_shown(_cls)
    _add_tags(_cls)
    _fix(_cls)


def register():
    """Register the settings and hang them on objects and scenes."""
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    bpy.types.Object.taffeta_cloth = PointerProperty(type=TaffetaClothSettings, override=OVERRIDE)
    bpy.types.Object.taffeta_collider = PointerProperty(type=TaffetaColliderSettings, override=OVERRIDE)
    bpy.types.Scene.taffeta = PointerProperty(type=TaffetaSceneSettings, override=OVERRIDE)


def unregister():
    """Take the settings off objects and scenes; what a .blend stored in them stays in the file."""
    del bpy.types.Scene.taffeta
    del bpy.types.Object.taffeta_collider
    del bpy.types.Object.taffeta_cloth
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
