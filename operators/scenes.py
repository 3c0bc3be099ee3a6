# SPDX-License-Identifier: GPL-3.0-or-later
"""Add an example scene: a collection of its own with garment, bodies, ground, light and camera, ready to bake."""

import contextlib
from functools import partial

import bpy
import numpy as np

from ..panels.translations import translated
from .menus import in_menu
from .read.participants import world_box
from .read.screen import InObjectMode, refused
from .setup import begin_compiling

# The examples need scipy and build their meshes with some effort: they are imported when one is asked for.
EXAMPLES = (
    ("poncho", "Poncho", "A walking mannequin with a poncho that falls onto its shoulders"),
    ("skirt", "Skirt", "A walking mannequin with a skirt pinned to its hips"),
    ("twirl", "Twirl", "A mannequin turns and stops, in a circle skirt of 20,000 vertices over a petticoat"),
    ("pleated_skirt", "Pleated Skirt", "A walking mannequin in a skirt that is pressed into thirty pleats"),
    (
        "elastic_skirt",
        "Elastic Skirt",
        "A walking mannequin in a wide skirt that nothing but elastic holds about the waist",
    ),
    ("sewn_shirt", "Sewn Shirt", "Two panels of a T-shirt's pattern are sewn about a mannequin"),
    ("sheet_on_sphere", "Sheet on Sphere", "A square sheet falls on a sphere"),
    ("sheet_on_torus", "Sheet on Torus", "A square sheet falls on a torus"),
    ("two_sheets", "Two Sheets", "Two sheets fall on a sphere, one onto the other"),
    ("flag", "Flag", "A flag on its pole in a breeze"),
    ("tablecloth", "Tablecloth", "A heavy cloth on a round table: Make Cage, Bake, Refine Where It Folds, Bake"),
    ("quilt", "Quilt", "A quilt with front and back on a ball: a cage simulates it as one sheet, and it follows"),
    (
        "hemmed_cloth",
        "Hemmed Cloth",
        "Two cloths of one cotton on balls: as it was cut, and with a hem, which is a Seam Allowance",
    ),
    ("torn_banner", "Torn Banner", "A banner between two poles that part tears from a notch"),
    ("burst_sheet", "Burst Sheet", "A ball breaks through a taut sheet that may tear anywhere, by Free Tearing"),
    ("zipped_curtain", "Zipped Curtain", "A curtain whose zip opens, lets a ball through and closes behind it"),
    (
        "tighten",
        "Tighten",
        "A sheet on a sphere shrinks to a cap by a key, and falls when the sphere lets it through by another",
    ),
    (
        "creases",
        "Creases That Stay",
        "Two sheets over boxes that sink: cotton goes down with its box, paper keeps its folds",
    ),
    ("blossom", "Blossom", "A flower of felt whose petals open by a keyed second shape"),
    ("cape", "Cape", "A walking mannequin with a cape attached to its shoulders, and buckles on it"),
    (
        "hero_cape",
        "Hero Cape",
        "A cape on what flies: it feels a part of the flight, and is pulled to a pose for a while",
    ),
    ("throw", "Throw on a Chair", "A throw over the back of a chair: arrange it by hand with Drape"),
    (
        "after_bake",
        "After the Bake",
        "A sheet on a ball whose spikes take no part in the bake: bake it, then Push Out of Body",
    ),
    ("two_sheets_on_spheres", "Two Sheets on Spheres", "Two sheets fall over five spheres, one onto the other"),
    ("ball_through_sheets", "Ball through Sheets", "A ball drags two sheets through a ring"),
    ("bowl", "Bowl", "T-shirts fall into a bowl that turns to and fro: a heap, kept apart by a velocity field"),
    ("washing_machine", "Washing Machine", "T-shirts tumble in a turning drum, kept apart by a velocity field"),
    ("rigid_heads", "Rigid Heads", "Seven heads that keep their shape fall onto a sheet, and with it into a bowl"),
    ("folding_strip", "Folding Strip", "A strip comes down between two feeders and folds, layer on layer"),
    ("sliding_tablecloth", "Sliding Tablecloth", "A tablecloth slides off a box without friction and crumples"),
    ("bouncing_nodes", "Bouncing Nodes", "Free nodes bounce in an icosahedron for ten seconds"),
    ("cloth_over_rods", "Cloth over Rods", "Silk and denim slide off two rods without friction"),
    ("balls_on_cloth", "Balls on Cloth", "Balls fall on silk and denim held by their corners, and are thrown up again"),
    (
        "shot_sheets",
        "Shot Sheets",
        "Four sheets are shot at each other, 80 m/s between them: none goes through, and momentum is kept",
    ),
    ("flags", "Twenty-Four Flags", "Flags of one mesh in gusts, each of its own fabric by one image per property"),
    ("deformed_torus", "Deformed Torus", "A sheet hangs over the thin ends of a deformed torus"),
    ("plate", "Plate", "A sheet on an open plate that turns over"),
    ("hemisphere", "Hemisphere", "A sheet on an open hemisphere that turns over"),
    ("dryer", "Dryer", "A sheet tumbles in the drum of a dryer"),
    ("twisted_knot", "Twisted Knot", "A sheet on a knot that is lifted and lowered"),
    ("rotation", "Rotation", "A sheet on a leaning torus that turns"),
    ("clock", "Clock", "A sheet on a torus stretched in a direction that goes round"),
    ("wings", "Wings", "A sheet on a deformed torus that beats its ends like wings"),
    ("grow", "Grow", "A sheet on a sphere that grows and shrinks"),
    ("twist", "Twist", "A sheet on a deformed torus that is twisted to and fro"),
    ("drum", "Drum", "A sheet on an open plate that swings like the skin of a drum"),
)
HEAPS = "bowl", "washing_machine"
LEAST_EVERY = 6  # [frames] in which a T-shirt makes room for the next
# Of the sheet on a body of choice, as `presets.scenes.bodies` has them.
SHAPES = (
    ("SPHERE", "Sphere", ""),
    ("TORUS", "Torus", "Lying"),
    ("DEFORMED_TORUS", "Deformed Torus", "Drawn out, with thin ends that rise"),
    ("PLATE", "Plate", "Round, without thickness, open at its rim"),
    ("HEMISPHERE", "Hemisphere", "Without thickness, open below"),
    ("DRYER", "Dryer", "A drum with fins, and the sheet in it: turn it about Y"),
    ("TWISTED_KNOT", "Twisted Knot", "A tube that is thick and thin in turns"),
)
DEFORMATIONS = (
    ("NONE", "None", ""),
    ("CLOCK", "Clock", "Stretched in a direction that goes round"),
    ("WINGS", "Wings", "The middle goes down while what is far out along X goes up, and the other way round"),
    ("GROW", "Grow", "Larger and smaller"),
    ("TWIST", "Twist", "Twisted to and fro along X"),
    ("DRUM", "Drum", "Swings as the skin of a drum does"),
)
# The menu: a submenu each, with its examples.
MENUS = {
    "Start Here": ("poncho", "skirt", "twirl", "flag", "sheet_on_sphere", "two_sheets", "tablecloth", "quilt"),
    "Cut, Sewn and Torn": (
        "sewn_shirt", "pleated_skirt", "elastic_skirt", "hemmed_cloth", "torn_banner", "burst_sheet", "zipped_curtain",
    ),
    "Hold and Direct": ("throw", "cape", "hero_cape", "tighten", "creases", "blossom", "after_bake"),
    "Bodies": (
        "sheet_on_torus", "deformed_torus", "plate", "hemisphere", "dryer", "twisted_knot", "rotation", "clock", "wings", "grow", "twist",
        "drum",
    ),
    "Contact": (
        "folding_strip", "sliding_tablecloth", "bouncing_nodes", "cloth_over_rods", "balls_on_cloth", "shot_sheets",
    ),
    "Crowds": ("flags", "two_sheets_on_spheres", "ball_through_sheets", "bowl", "washing_machine", "rigid_heads"),
}  # fmt: skip
SOLID = frozenset(("MESH", "CURVE", "SURFACE", "META", "FONT"))  # what can be in the way
LARGE = 10.0  # [m] from which on a body is a ground to stand on
VIEW_DISTANCE = 1.3  # from which a 3D view shows an example whole, in diagonals of its box
GAP = 0.5  # [m] between an example and what is in its place


def add(context, name, count=0, every=0):
    """Add the example scene `name` to the current scene in a new collection; return its `presets.scenes` Example.

    count : how many garments fall, where there can be more or less of them; 0: as many as the example has.
    every : frames between two of them, where they can fall one after the other; 0: all at once.

    It stands beside what is in its place already. Sets the scene's frame range, 24 frames/s and the metre as unit. Raises ValueError for
    an unknown name, a scene without a number of garments and too short a time between two.
    """
    from ..presets import scenes

    if name not in scenes.SCENES:
        raise ValueError(f'There is no example scene "{name}"; there are {", ".join(scenes.SCENES)}.')
    if (count or every) and name not in HEAPS:
        raise ValueError(f'"{name}" has no number of garments; these have one: {", ".join(HEAPS)}.')
    if 0 < every < LEAST_EVERY:
        raise ValueError(
            f'In {every} frames no garment of "{name}" makes room for the next; set Every to {LEAST_EVERY} or more, or to 0.'
        )
    label = dict((n, label) for n, label, _ in EXAMPLES)[name]
    options = {option: value for option, value in (("count", count), ("every", every)) if value}
    return _put(context, label, partial(scenes.SCENES[name], **options))


def _put(context, label, build):
    """Add what `build(context, collection)` makes in a collection of this name; return its `presets.scenes` Example."""
    scene = context.scene
    there = world_box(obj for obj in context.view_layer.objects if obj.type in SOLID and obj.visible_get())
    collection = bpy.data.collections.new(label)
    scene.collection.children.link(collection)
    scene.render.fps, scene.render.fps_base = 24, 1.0
    scene.unit_settings.scale_length = 1.0
    scene.frame_set(1)
    example = build(context, collection)
    scene.frame_start, scene.frame_end = example.frames
    scene.frame_set(example.frames[0])
    _step_aside(context, collection, example, there)
    return example


def _actors(example) -> list[bpy.types.Object]:
    """What the example is about: its cloths and bodies, but not the ground that these stand on."""
    bodies = (obj for obj in example.colliders if max(obj.dimensions) < LARGE)
    return [*example.cloths, *bodies]


def _step_aside(context, collection, example, there) -> None:
    """Stand right of the box `there` if the example is in it, moved by an empty that all its objects hang on."""
    context.view_layer.update()
    ours = world_box(_actors(example))
    if there is None or np.any(ours[0] >= there[1]) or np.any(there[0] >= ours[1]):
        return
    place = bpy.data.objects.new(f"{collection.name} Place", None)
    for obj in collection.all_objects:
        if obj.parent is None:
            obj.parent = place
    collection.objects.link(place)
    place.location.x = there[1][0] + GAP - ours[0][0]
    context.view_layer.update()


def _look_at(context, example) -> None:
    """Turn the window's largest 3D view to the example, and its properties to the Physics tab."""
    areas = sorted(context.screen.areas if context.screen else (), key=lambda area: area.width * area.height)
    low, high = world_box(_actors(example))
    for area in [area for area in areas if area.type == "VIEW_3D"][-1:]:
        view = area.spaces.active.region_3d
        view.view_perspective = "PERSP" if view.view_perspective == "CAMERA" else view.view_perspective
        view.view_location = (low + high) / 2.0
        view.view_distance = VIEW_DISTANCE * float(np.linalg.norm(high - low))
    for area in areas:
        if area.type == "PROPERTIES":
            with contextlib.suppress(TypeError):  # an editor that is pinned to what has no physics
                area.spaces.active.context = "PHYSICS"


class AddScene(InObjectMode):
    """What operators that add an example have in common."""

    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context):
        try:
            example = self.add(context)
        except (ValueError, RuntimeError) as problem:
            return refused(self, problem)
        for obj in context.view_layer.objects:
            obj.select_set(obj in example.cloths)
        context.view_layer.objects.active = example.cloths[0]
        _look_at(context, example)
        begin_compiling()
        first, last = example.frames
        self.report({"INFO"}, translated(f"{self.title()} added, frames {first} to {last} at 24 frames/s; press Bake"))
        return {"FINISHED"}


class TAFFETA_OT_scene_add(AddScene, bpy.types.Operator):
    """Add a small finished scene to look at, bake and take apart"""

    bl_idname = "taffeta.scene_add"
    bl_label = "Add Example Scene"

    name: bpy.props.EnumProperty(name="Scene", description="Which example to add", items=EXAMPLES, default="poncho")
    count: bpy.props.IntProperty(
        name="Garments", default=0, min=0, max=1000, soft_max=100,
        description="How many T-shirts fall, in Bowl and Washing Machine; 0 takes as many as the example has",
    )  # fmt: skip
    every: bpy.props.IntProperty(
        name="Every", default=0, min=0, max=1000, soft_max=90,
        description="Frames between two T-shirts, in Bowl and Washing Machine: each is held above the bowl or before the drum until it is "
        "let go. 0 lets all fall at once",
    )  # fmt: skip

    def add(self, context):
        """Add what was chosen; return its Example."""
        return add(context, self.name, self.count, self.every)

    def title(self):
        """What was added, for the message."""
        return self.name


class TAFFETA_OT_body_scene_add(AddScene, bpy.types.Operator):
    """Add a sheet on a body that moves and deforms in any mixture of the ways of choice"""

    bl_idname = "taffeta.body_scene_add"
    bl_label = "Any Moving Body"

    shape: bpy.props.EnumProperty(name="Body", description="What the sheet falls on", items=SHAPES, default="TORUS")
    lift: bpy.props.BoolProperty(name="Lift", description="The body rises and sinks")
    axes: bpy.props.EnumProperty(
        name="Turn", description="Axes about which the body turns, in a second from rest",
        items=[(axis, axis, f"About the {axis} axis") for axis in "XYZ"], options={"ENUM_FLAG"},
    )  # fmt: skip
    deformation: bpy.props.EnumProperty(
        name="Deformation", description="How the body changes its shape", items=DEFORMATIONS, default="NONE"
    )
    strength: bpy.props.FloatProperty(
        name="Strength",
        description="How far lift and deformation go; 1 as in the examples",
        default=1.0,
        min=0.1,
        max=2.0,
    )
    pace: bpy.props.FloatProperty(
        name="Pace", description="How fast all of it goes; 1 as in the examples", default=1.0, min=0.1, max=3.0
    )
    count: bpy.props.IntProperty(
        name="Vertices", description="Vertices along a side of the sheet", default=47, min=9, max=400, soft_max=120
    )

    def add(self, context):
        """Add what was chosen; return its Example."""
        from ..presets.scenes import bodies

        choice = {name: getattr(self, name) for name in bodies.Choice._fields}
        return _put(context, self.bl_label, partial(bodies.mixture, choice=bodies.Choice(**choice)))

    def title(self):
        """What was added, for the message."""
        return self.bl_label


class ExamplesMenu:
    """A submenu of examples."""

    def draw(self, context):
        for name in MENUS[self.bl_label]:
            label = next(item[1] for item in EXAMPLES if item[0] == name)
            self.layout.operator(TAFFETA_OT_scene_add.bl_idname, text=label).name = name


class TAFFETA_MT_examples_start(ExamplesMenu, bpy.types.Menu):
    """Small scenes to begin with"""

    bl_label = "Start Here"


class TAFFETA_MT_examples_cut(ExamplesMenu, bpy.types.Menu):
    """Cloth that is made of panels, pleated, or torn"""

    bl_label = "Cut, Sewn and Torn"


class TAFFETA_MT_examples_directed(ExamplesMenu, bpy.types.Menu):
    """Cloth that is attached, directed and corrected"""

    bl_label = "Hold and Direct"


class TAFFETA_MT_examples_bodies(ExamplesMenu, bpy.types.Menu):
    """Sheets on bodies that turn and deform"""

    bl_label = "Bodies"

    def draw(self, context):
        super().draw(context)
        self.layout.separator()
        self.layout.operator(TAFFETA_OT_body_scene_add.bl_idname)


class TAFFETA_MT_examples_contact(ExamplesMenu, bpy.types.Menu):
    """Cloth that folds, slides and bounces, as papers have shown it"""

    bl_label = "Contact"


class TAFFETA_MT_examples_crowds(ExamplesMenu, bpy.types.Menu):
    """Many sheets and garments at once"""

    bl_label = "Crowds"


SUBMENUS = (
    TAFFETA_MT_examples_start, TAFFETA_MT_examples_cut, TAFFETA_MT_examples_directed, TAFFETA_MT_examples_bodies,
    TAFFETA_MT_examples_contact, TAFFETA_MT_examples_crowds,
)  # fmt: skip


class TAFFETA_MT_examples(bpy.types.Menu):
    """Small finished scenes to look at, bake and take apart"""

    bl_label = "Taffeta Example"

    def draw(self, context):
        for menu in SUBMENUS:
            self.layout.menu(menu.__name__)


def _menu(self, context):
    self.layout.menu(TAFFETA_MT_examples.__name__, icon="MOD_CLOTH")


CLASSES = (TAFFETA_OT_scene_add, TAFFETA_OT_body_scene_add, *SUBMENUS, TAFFETA_MT_examples)
register, unregister = in_menu("VIEW3D_MT_add", _menu, CLASSES)
