# SPDX-License-Identifier: GPL-3.0-or-later
"""Every setting of Taffeta: its name, unit, default, range and tooltip. They are declared here, and in `mapped` what
varies over a garment.

`Object.taffeta_cloth` and `Object.taffeta_collider` hold what belongs to a garment or a body,
`Scene.taffeta` what holds for the whole bake; its names equal the fields of `solver.model.Settings`.

Values are SI (m, kg, s), whatever the scene's unit scale; see `units` for how they are displayed.
"""

import bpy
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

from ..solver.model import Settings
from .attachment import TaffetaAttachment, TaffetaRide
from .body_settings import RELATIVE, TaffetaColliderSettings
from .bounce import ClothBounce, GarmentBounce
from .choices import BROAD_PHASES, CLOTH_CONTACTS, DYNAMICS
from .field_settings import FieldSettings
from .image_settings import ImageSettings
from .mapped import MAPPED_CLASSES, OVERRIDE, THREADS
from .pattern import PatternSettings
from .rest_settings import TaffetaRest
from .solid_settings import SolidSettings
from .speeds import Speeds
from .tearing import TaffetaTear
from .units import add_shown


# fmt: off
class TaffetaClothSettings(PatternSettings, GarmentBounce, SolidSettings, bpy.types.PropertyGroup):
    """A garment: what it is made of, how it is baked, and where its frames lie."""

    enabled: BoolProperty(name="Taffeta Cloth", description="Simulate this object as cloth", override=OVERRIDE)
    layer: IntProperty(
        name="Layer", default=0, min=0, soft_max=10, override=OVERRIDE,
        description="Order of garments worn over each other: 0 is innermost",
    )
    rigidity: FloatProperty(
        name="Rigidity", default=1.0, min=1e-3, max=1e3, soft_min=0.1, soft_max=10.0, step=10, override=OVERRIDE,
        description="How little this garment gives way when Untangle takes layers out of each other, a pure number over "
        "that of the others: a leather jacket 5, a shirt 1",
    )
    self_collision: BoolProperty(
        name="Self-Collision", default=True, override=OVERRIDE,
        description="Keep the folds of this garment out of each other. Garments keep out of other garments all the same",
    )
    self_group: StringProperty(
        name="Self Vertex Group", override=OVERRIDE,
        description="Vertices of this group, and faces that touch them, are left out of self-collision",
    )
    body_group: StringProperty(
        name="Object Vertex Group", override=OVERRIDE,
        description="Vertices of this group, and faces that touch them, are let through by all colliders",
    )
    collision_collection: PointerProperty(
        name="Collision Collection", type=bpy.types.Collection, override=OVERRIDE,
        description="This garment meets only the colliders and garments of this collection and its children; of two "
        "garments each must meet the other. Empty meets all",
    )
    quality: EnumProperty(
        name="Quality", default="FINAL", override=OVERRIDE,
        items=(
            ("PREVIEW", "Preview", "Fewer steps: quick to look at, softer. Nothing passes through anything here, either"),
            ("FINAL", "Final", "Steps enough for cloth that keeps its length when it is kicked"),
        ),
        description="How carefully the bake is done. One Final garment makes the whole bake Final",
    )
    model: EnumProperty(
        name="Model", default="FABRIC", override=OVERRIDE, description="How the fabric's numbers become forces",
        items=(
            ("FABRIC", "Fabric", "Springs with measured stiffness along warp, weft and aslant: exact where the mesh runs "
             "along the threads", 0),
            ("MEMBRANE", "Membrane", "Warp, weft, shear and Poisson's ratio as measured, on any mesh", 2),
            ("SPRINGS", "Springs", "Plain springs as in older tools: stiffness depends on the mesh, best on even quads", 1),
            ("RIGID", "Rigid", "No cloth at all: keeps its shape, and falls, turns and lies among cloth as a whole. In the "
             "Velocity Field alone", 3),
        ),
    )
    uv_map: StringProperty(
        name="Pattern", override=OVERRIDE,
        description="UV map that holds the sewing pattern: warp threads run along u. Empty takes threads along the mesh's edges",
    )
    weft_stretch: FloatProperty(
        name="Weft Stretch", default=THREADS["weft_stretch"], min=0.05, max=20.0, soft_min=0.2, soft_max=5.0, step=10,
        precision=2, override=OVERRIDE,
        description="Stretch stiffness along the weft (v of the pattern) over that along the warp, a pure number: cotton "
        "1.6, silk 2.3, jersey 3.3, denim 4.7 (Wang 2011). Without a Pattern both get the mean",
    )
    weft_bending: FloatProperty(
        name="Weft Bending", default=THREADS["weft_bending"], min=0.05, max=20.0, soft_min=0.2, soft_max=5.0, step=10,
        precision=2, override=OVERRIDE,
        description="Bending stiffness of the weft over that of the warp, a pure number: jersey 0.5, tablecloth 0.6, "
        "denim 1.9 (Wang 2011). Without a Pattern both get the mean",
    )
    bending_damping: FloatProperty(
        name="Bending Damping (s)", default=THREADS["bending_damping"], min=0.0, max=10.0, soft_max=0.2, step=1, precision=3,
        override=OVERRIDE,
        description="Time in which a bend that is let go loses two thirds of its angle, in s, as threads rub on each other: 0 rings on and "
        "flutters, 0.02 is silk, 0.04 cotton, 0.08 a coat. Swinging as a whole is not slowed",
    )
    poisson: FloatProperty(
        name="Narrowing", default=THREADS["poisson"], min=0.0, max=0.7, soft_max=0.5, step=5, precision=2,
        override=OVERRIDE,
        description="Poisson's ratio: how much narrower a strip gets for being pulled longer, a pure number: 0 not at all, woven cotton "
        "0.24, wool 0.28, polyester 0.38 (Penava 2014), rubber 0.5",
    )
    strain_limit: FloatProperty(
        name="Strain Limit", default=THREADS["strain_limit"], min=0.0, max=10.0, soft_max=0.5, step=1, precision=3,
        override=OVERRIDE,
        description="Strain along warp and weft beyond which the cloth hardly stretches any more, a pure number: 0.06 is 6 "
        "%. Woven cotton 0.06, polyester 0.065, wool 0.085 (Codim-IPC, after Penava 2014). 0 sets no limit",
    )
    stiffening: FloatProperty(
        name="Stiffening", default=THREADS["stiffening"], min=1.0, max=100.0, soft_max=10.0, step=100, precision=1,
        override=OVERRIDE,
        description="How many times as stiff as Stretch the threads are beyond the Strain Limit, a pure number. 1 changes "
        "nothing, 5 is a knit that tightens. Far above that stiff cloth in fast motion shakes; raise the substeps then",
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
    shrink: PointerProperty(type=MAPPED_CLASSES["shrink"], override=OVERRIDE)
    blend: PointerProperty(type=MAPPED_CLASSES["blend"], override=OVERRIDE)
    blend_stiffness: FloatProperty(
        name="Blend Stiffness (1/s²)", default=1000.0, min=0.0, max=1e8, soft_max=1e4, step=10000, precision=0,
        override=OVERRIDE,
        description="How hard Blend to Animation pulls, in N/m for each kg of cloth, which is 1/s², where its weight is 1: cloth hangs "
        "9.81 over this metres below its animation, 1 cm at 1000",
    )
    blend_damping: FloatProperty(
        name="Blend Damping (1/s)", default=20.0, min=0.0, max=1e5, soft_max=200.0, step=100, precision=1, override=OVERRIDE,
        description="How fast the cloth takes over the velocity of its animation, in 1/s, where the weight is 1. Twice the root "
        "of the stiffness (63 at 1000) does not swing beyond it",
    )
    ride: PointerProperty(type=TaffetaRide, override=OVERRIDE)
    rest: PointerProperty(type=TaffetaRest, override=OVERRIDE)
    tear: PointerProperty(type=TaffetaTear, override=OVERRIDE)
    attachments: CollectionProperty(
        name="Attachments", type=TaffetaAttachment, override={*OVERRIDE, "USE_INSERTION"},
        description="What bodies and garments vertices of this one are attached to",
    )
    weld: FloatProperty(
        name="Weld for Simulation", default=0.0, min=0.0, max=1.0, soft_max=1e-3, unit="LENGTH", precision=5, step=0.001, override=OVERRIDE,
        description="Simulate vertices on borders that are no farther apart than this, in metres, as one, so that pieces with doubled "
        "vertices along their seams hold together. The mesh stays as it is. 0 welds nothing, 0.0001 what lies on each other",
    )
    sewing: BoolProperty(name="Sewing", default=False, override=OVERRIDE,
        description="Let edges without a face pull shut, as threads that sew, and weld what has closed. Off, they keep their length",
    )
    sewing_time: FloatProperty(
        name="Closing Time (s)", default=0.5, min=0.01, max=1e3, soft_max=5.0, step=10, precision=2, override=OVERRIDE,
        description="Seconds in which a seam closes to a twentieth of its gap, if nothing holds it open",
    )
    sewing_speed: FloatProperty(name="Closing Speed (m/s)", default=0.5, min=0.01, max=50.0, soft_max=5.0, override=OVERRIDE,
        description="Speed in m/s at which its ends come together at most; cloth has no weight while its seams close. Lower where panels crumple as they meet",
    )
    sewing_force: FloatProperty(
        name="Max Force (N)", default=0.0, min=0.0, max=1e6, soft_max=5.0, step=1, precision=3, override=OVERRIDE,
        description="Force in N that each sewing edge pulls with at most until it is closed; 0 sets no limit, and less than a few leaves seams open",
    )
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
        "blown up with is then Pressure x (Target Volume / its volume - 1). 0, or a Pressure below 0, keeps the Pressure "
        "whatever the volume",
    )
    cache_path: StringProperty(
        name="Cache", subtype="FILE_PATH", options=RELATIVE, override=OVERRIDE,
        description="Point cache (PC2) that is played; written by Bake",
    )
    cache_name: StringProperty(
        name="Cache Name", override=OVERRIDE,
        description="File name of the cache without its ending; empty takes the object's name",
    )
    earlier: StringProperty(name="Earlier Names", override=OVERRIDE, description="Names of its bakes before a rename, a line each")
    stale: StringProperty(name="Stale", override=OVERRIDE, description="Why the cache no longer fits the scene")
    fingerprint: StringProperty(name="Fingerprint", override=OVERRIDE, description="What the bake was made of, as JSON")
    muted: StringProperty(name="Muted", override=OVERRIDE, description="Modifiers, a line each, that Play Live switched off")
    report_json: StringProperty(name="Report", override=OVERRIDE, description="Figures of the last bake, as JSON")


class TaffetaSceneSettings(ClothBounce, FieldSettings, ImageSettings, Speeds, bpy.types.PropertyGroup):
    """What holds for the whole bake. Names and defaults are those of `solver.model.Settings`."""

    dynamics: EnumProperty(
        name="Dynamics", items=DYNAMICS, default=Settings().dynamics, override=OVERRIDE,
        description="What moves the cloth between its contacts. Explicit ones choose their own inner steps; stiff cloth "
        "on a fine mesh needs hundreds of them",
    )
    theta: FloatProperty(
        name="Theta", default=Settings().theta, min=0.5, max=1.0, step=5, override=OVERRIDE,
        description="Where in the substep Implicit Theta takes the forces, a pure number: 0.5 damps nothing and needs "
        "cloth that touches nothing, 1 is implicit Euler. Raise it where cloth rings",
    )
    cloth_contact: EnumProperty(
        name="Cloth on Cloth", items=CLOTH_CONTACTS, default=Settings().cloth_contact, override=OVERRIDE,
        description="How cloth is kept from passing through cloth",
    )
    broad_phase: EnumProperty(
        name="Broad Phase", items=BROAD_PHASES, default=Settings().broad_phase, options=set(), override=OVERRIDE,
        description="How parts of the cloth that may meet are found. The bake is the same with each, to the last bit; "
        "only the time differs",
    )
    small_steps: FloatProperty(
        name="Step Quality", default=Settings().small_steps, min=0.0, max=20.0, soft_max=4.0, step=10, override=OVERRIDE,
        description="Parts substeps more, the faster cloth turns, so that what is kicked folds like cloth and not like paper. "
        "Times as much as is right for most, a pure number; 2 for motion wilder than a run, 0: never. Preview parts half as much",
    )
    substeps: IntProperty(
        name="Substeps", default=Settings().substeps, min=1, max=1000, soft_min=5, soft_max=60, override=OVERRIDE,
        description="How often cloth is kept off cloth in 1/24 s in Final quality. More for thin layers under pressure",
    )
    substeps_preview: IntProperty(
        name="Preview Substeps", default=4, min=1, max=1000, soft_min=3, soft_max=40, override=OVERRIDE,
        description="The same in Preview quality",
    )
    iterations: IntProperty(
        name="Iterations", default=Settings().iterations, min=1, max=1000, soft_max=50, override=OVERRIDE,
        description="Iterations that the springs of a substep are solved in, at most. More for large cloth that is to "
        "come to rest as it hangs, and for exact friction; in fast motion 5 stretch no edge farther, and are cheaper",
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
        name="Wind", default=(0.0, 0.0, 0.0), size=3, subtype="VELOCITY", soft_min=-30.0, soft_max=30.0, step=10, override=OVERRIDE,
        description="Velocity of the air in m/s. A breeze is 3, a strong wind 12, a storm 25",
    )
    constant_force: FloatVectorProperty(
        name="Constant Force", default=(0.0, 0.0, 0.0), size=3, subtype="ACCELERATION", step=10, override=OVERRIDE,
        description="Force per mass on all cloth, in N/kg (= m/s²), besides gravity",
    )
    random_force_min: FloatVectorProperty(
        name="Random Force Min", default=(0.0, 0.0, 0.0), size=3, subtype="ACCELERATION", step=10, override=OVERRIDE,
        description="Lower limit per axis of a force that differs for every particle and step, in N/kg",
    )
    random_force_max: FloatVectorProperty(
        name="Random Force Max", default=(0.0, 0.0, 0.0), size=3, subtype="ACCELERATION", step=10, override=OVERRIDE,
        description="Upper limit per axis of the random force, in N/kg",
    )
    seed: IntProperty(
        name="Seed", default=Settings().seed, min=0, override=OVERRIDE,
        description="Another number gives another course of the random force",
    )
    pin_rate: FloatProperty(
        name="Soft Pin Rate (1/s)", default=Settings().pin_rate, min=0.0, max=1e5, soft_max=500.0, step=100, override=OVERRIDE,
        description="How fast a half-weight pin pulls the cloth back to its animation, in 1/s",
    )
    neighbour_reach: FloatProperty(
        name="Neighbour Reach", default=Settings().neighbour_reach, min=1.0, max=10.0, step=10, override=OVERRIDE,
        description="How far cloth looks for other cloth, in units of contact distance plus motion",
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
        "They are not written to disk",
    )
    preroll_from: EnumProperty(
        name="From", default="ANIMATION", override=OVERRIDE, description="Where the pre-roll starts",
        items=(
            ("ANIMATION", "Animation", "Play the animation before the scene's start; without any, the body stands still", 0),
            ("REST", "Rest Pose", "Go from the rest pose of the armatures to the pose of the first frame", 1),
        ),
    )
    cache_folder: StringProperty(
        name="Cache Folder", default="//taffeta_cache", subtype="DIR_PATH", options=RELATIVE, override=OVERRIDE,
        description="Where bakes are written. // means beside the .blend, ~ your home; "
        "an unsaved file bakes to the temporary folder",
    )
# fmt: on


CLASSES = (
    *MAPPED_CLASSES.values(),
    TaffetaAttachment,
    TaffetaRide,
    TaffetaRest,
    TaffetaTear,
    TaffetaClothSettings,
    TaffetaColliderSettings,
    TaffetaSceneSettings,
)
# Notes that operators leave with a garment; writing them changes nothing that anyone would have to look at again.
NOTES = frozenset(("cache_path", "earlier", "fingerprint", "muted", "stale", "report_json", "modulus"))


# What is looked at in every frame. All else is read once, before the first, and cannot be keyframed.
ANIMATED = frozenset((
    "bend_rate", "bend_yield", "stretch_rate", "stretch_yield", "field_weight", "pressure", "target_volume", "wind", "air_density",
    "air_drag", "air_lift", "constant_force", "random_force_min", "random_force_max", "seed", "pin_rate", "max_speed",
    "cloth_restitution", "blend_stiffness", "blend_damping", "weight", "stiffness", "damping", "breaking_force", "felt", "hold",
    "zip_open", "self_collision", "sewing_time", "sewing_speed", "sewing_force", "seam_bending", "band_pull", *THREADS, "collides",
    "aura", "friction", "viscosity", "restitution",
))  # fmt: skip

MAP_NUMBERS = frozenset(("value", "minimum", "maximum"))  # of mapped properties, which are looked at, too


def _tag(group, context):
    """Have Blender call the handlers of changed objects and scenes: for its own settings it does so by itself."""
    group.id_data.update_tag()


def settings_of(cls):
    """Names and definitions of a class's settings, and of those that it has from others."""
    return [item for base in cls.__mro__ for item in base.__dict__.get("__annotations__", {}).items()]


def _add_tags(cls):
    """Let every setting tell that it changed, so that preflight and overlay look again."""
    for name, prop in settings_of(cls):
        if name not in NOTES and prop.function is not CollectionProperty:
            prop.keywords["update"] = _tag


def _fix(cls):
    """Let Blender refuse keyframes that a bake would not see."""
    animated = MAP_NUMBERS if cls in MAPPED_CLASSES.values() else ANIMATED
    for name, prop in settings_of(cls):
        if name.removesuffix("_shown") not in animated and prop.function not in (PointerProperty, CollectionProperty):
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
