# SPDX-License-Identifier: GPL-3.0-or-later
"""Physics tab, below Taffeta Cloth: what holds for the whole bake. Air and forces, the bake and its cache,
what is wrong before it (preflight), what it was like (report), and the numbers nobody needs (advanced)."""

import json
from functools import lru_cache

import bpy

from .bakes import bakes_on_disk
from .choices import BODY_IMAGES, BROAD_PHASES, CLOTH_CONTACTS, DYNAMICS
from .report import draw_verdict
from .rows import PhysicsPanel, prop, sentences, settings_layout, why
from .shown import draw_shown

PINCHED_SHOWN = 12  # numbers of vertices of a garment; all are in the report of the cache folder
LONGEST_LINE, MOST_LINES = 400, 100  # letters and lines of a report that are shown
ICONS = {"ERROR": "CANCEL", "WARNING": "ERROR", "INFO": "INFO"}


def _choice(layout, context, settings, name, items):
    """A menu, and the sentence of what is chosen in it."""
    layout.prop(settings, name)
    sentences(layout, context, next(item[2] for item in items if item[0] == getattr(settings, name)))


class SubPanel(PhysicsPanel):
    """Below the garment's main panel."""

    bl_parent_id = "TAFFETA_PT_cloth"


class TAFFETA_PT_forces(SubPanel, bpy.types.Panel):
    """What moves the cloth besides bodies"""

    bl_label = "Air and Forces"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context):
        layout = settings_layout(self, context)
        scene, settings = context.scene, context.scene.taffeta
        row = layout.row()
        row.active = scene.use_gravity
        row.prop(scene, "gravity")
        if not scene.use_gravity:
            why(layout, "Gravity is off in the Scene tab")
        for name in ("wind", "air_density", "air_drag", "air_lift"):
            prop(layout, context, settings, name)
        for name in ("constant_force", "random_force_min", "random_force_max"):
            prop(layout, context, settings, name)
        row = layout.row()
        row.active = tuple(settings.random_force_min) != tuple(settings.random_force_max)
        row.prop(settings, "seed")
        if not row.active:
            why(layout, "Random Force Min equals Max: there is no chance in it")
        cloth = context.object.taffeta_cloth
        layout.prop(cloth, "field_weight")
        layout.prop(cloth, "pressure")
        row = layout.row()
        row.active = cloth.pressure != 0.0
        row.prop(cloth, "target_volume")
        if not row.active:
            why(layout, "Without Pressure, no volume is aimed at")


class TAFFETA_PT_bake(SubPanel, bpy.types.Panel):
    """Bake, resume, free, export"""

    bl_label = "Bake and Cache"

    def draw(self, context):
        layout = self.layout
        session = context.window_manager.taffeta
        if session.baking:
            layout.progress(factor=session.progress, text=session.status)
            layout.label(text="Esc stops the bake; frames that are done are kept", icon="INFO")
            return
        self.draw_verbs(layout, context)
        self.draw_cache(settings_layout(self, context), context)

    def draw_verbs(self, layout, context):
        """The buttons."""
        cloth, scene = context.object.taffeta_cloth, context.scene
        baked = bool(cloth.cache_path or bakes_on_disk(context))
        row = layout.row(align=True)
        row.scale_y = 1.4
        row.operator("taffeta.bake", text="Bake", icon="RENDER_ANIMATION")
        resume = row.row(align=True)
        resume.enabled = baked
        resume.operator("taffeta.bake", text="Resume", icon="PLAY").resume = True
        session = context.window_manager.taffeta
        live = session.live
        row = layout.row(align=True)
        row.operator("taffeta.live", text="Stop Live" if live else "Play Live", icon="PAUSE" if live else "PLAY")
        row.operator_menu_enum("taffeta.keep_pose", "result", text="Keep Pose", icon="SHAPEKEY_DATA")
        layout.row().prop(session, "live_end", expand=True)
        ends = "goes on as it lies" if session.live_end == "GO_ON" else "begins anew"
        why(layout, f"Live, settings hold at once; at the timeline's end the cloth {ends}")
        row = layout.row(align=True)
        row.enabled = baked
        again = row.operator("taffeta.bake", text=f"Re-Bake from Frame {scene.frame_current}", icon="FILE_REFRESH")
        again.from_frame = scene.frame_current
        row = layout.row(align=True)
        row.enabled = baked
        row.operator("taffeta.export", text="Export", icon="EXPORT")
        row.operator("taffeta.free", text="Free", icon="TRASH")
        if not baked:
            why(layout, "Nothing baked yet")

    def draw_cache(self, layout, context):
        """Which frames, where to, and whether what lies there still fits."""
        cloth, scene = context.object.taffeta_cloth, context.scene
        if cloth.stale:
            sentences(layout, context, cloth.stale, "ERROR")
        row = layout.row(align=True)
        row.prop(scene, "frame_start", text="Frames")
        row.prop(scene, "frame_end", text="")
        layout.prop(scene.taffeta, "preroll")
        row = layout.row()
        row.enabled = scene.taffeta.preroll > 0
        row.prop(scene.taffeta, "preroll_from")
        layout.prop(scene.taffeta, "cache_folder")
        layout.prop(cloth, "cache_name", placeholder=context.object.name)
        if not bpy.data.filepath and scene.taffeta.cache_folder.startswith("//"):
            sentences(layout, context, "The file is not saved: bakes go to the temporary folder until it is", "INFO")
        if cloth.cache_path:
            draw_shown(layout, context)


class TAFFETA_PT_preflight(SubPanel, bpy.types.Panel):
    """What is wrong or doubtful before a bake; the list is made elsewhere, and kept up to date while you work"""

    bl_label = "Preflight"

    def draw_header_preset(self, context):
        self.layout.operator("taffeta.preflight", text="", icon="FILE_REFRESH", emboss=False)

    def draw(self, context):
        layout = self.layout
        session = context.window_manager.taffeta
        if not session.checked:
            layout.label(text="Not checked yet", icon="QUESTION")
        elif not session.problems:
            layout.label(text="Ready to bake", icon="CHECKMARK")
        for problem in session.problems:
            box = layout.box()
            name = f"{problem.object_name}: " if problem.object_name else ""
            if problem.sentence.startswith(problem.object_name):
                name = ""
            sentences(box, context, name + problem.sentence, ICONS[problem.severity])
            if problem.remedy and not problem.verbs:  # else the button says it
                sentences(box, context, problem.remedy, "FORWARD")
            if problem.selectable:
                button = box.operator("taffeta.select_problem", text="Select These Vertices", icon="VERTEXSEL")
                button.object = problem.object_name
            for verb in problem.verbs.split():
                box.operator(verb).object = problem.object_name


@lru_cache(maxsize=8)
def report_lines(report_json: str) -> tuple[str, ...]:
    """The last bake's figures as lines of text; a figure that was not computed makes no line.

    The report is a file, or text in a .blend, that anybody may have edited.
    """
    try:
        lines = [line for key, line in _report_items(json.loads(report_json)) if key is not None]
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
        return ("The report cannot be read; bake again to get a new one",)
    plain = ("".join(letter if letter.isprintable() else "?" for letter in line[:LONGEST_LINE]) for line in lines)
    return tuple(plain)[:MOST_LINES]


def _report_items(report):
    """Pairs (value or None, line)."""

    def share(name):
        return f"{100 * report[name]:.2f} %" if name in report else ""

    get = report.get
    kept = f", {get('frames_kept')} of them kept from before" if get("frames_kept") else ""
    yield get("frames"), f"Frames {get('frame_start')} to {get('frame_end')}{kept}"
    steps = f"{get('steps_per_frame')} steps a frame" if "steps_per_frame" in report else f"{get('substeps')} substeps"
    yield get("quality"), f"Quality: {str(get('quality')).title()}, {steps}"
    yield None if get("complete", True) else "", "Stopped before the end: press Resume to go on"
    yield get("seconds"), f"Took {get('seconds')} s, of it {get('preparation_seconds', 0)} s to prepare"
    yield get("milliseconds_per_frame"), f"Solver: {get('milliseconds_per_frame')} ms a frame"
    for task, value in (get("milliseconds") or {}).items():
        yield value, f"    {task}: {value} ms"
    yield from _image_items(get("body_images") or {})
    where = f" in frame {get('worst_stretch_frame')}" if "worst_stretch_frame" in report else ""
    yield get("worst_stretch"), f"Stretch: at worst {share('worst_stretch')}{where}, on average {share('mean_stretch')}"
    folded = f", {share('folded_share')} of them folded by over 60°"
    yield get("roughness_degrees"), f"Roughness: {get('roughness_degrees')}° between neighbouring faces{folded}"
    yield get("crossings"), f"Crossings in the last frame: {get('crossings')} pairs of triangles"
    yield get("seam_gap"), f"Seams: the widest is {1000.0 * get('seam_gap', 0.0):.1f} mm open in the last frame"
    yield get("pinched"), f"Pinched between bodies: {get('pinched')} vertices in frame {get('pinched_frame')}"
    for name, vertices in (get("pinched_vertices") or {}).items():
        first = ", ".join(map(str, vertices[:PINCHED_SHOWN])) + (" ..." if len(vertices) > PINCHED_SHOWN else "")
        yield vertices, f"    {name}: vertices {first}"


def _image_items(drawn):
    """Who drew the bodies' images, why, and what each side takes for those of a frame."""
    get = drawn.get
    why = {"images_late": "before the window had drawn", "images_missed": "where the cloth went elsewhere"}
    which = "".join(f", {get(name)} {reason}" for name, reason in why.items() if get(name))
    yield get("by"), f"Body images: {get('by')}"
    yield get("by"), f"    {get('images_by_card')} by the card, {get('images_by_processor')} by the processor{which}"
    frame = f" of {get('frame_milliseconds')} ms a frame"
    yield get("card_milliseconds"), f"    the card takes {get('card_milliseconds')}{frame}"
    yield get("processor_milliseconds"), f"    the processor takes {get('processor_milliseconds')}{frame}"


class TAFFETA_PT_report(SubPanel, bpy.types.Panel):
    """Figures of the last bake"""

    bl_label = "Report"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context):
        report_json = context.object.taffeta_cloth.report_json
        if not report_json:
            why(self.layout, "Nothing baked yet")
            return
        for line in report_lines(report_json):
            sentences(self.layout, context, line)
            draw_verdict(self.layout, context, line)


class TAFFETA_PT_advanced(SubPanel, bpy.types.Panel):
    """Numbers with defaults that hold for most shots"""

    bl_label = "Advanced"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context):
        layout = settings_layout(self, context)
        settings = context.scene.taffeta
        _choice(layout, context, settings, "dynamics", DYNAMICS)
        if settings.dynamics == "IMPLICIT_THETA":
            layout.prop(settings, "theta")
        _choice(layout, context, settings, "cloth_contact", CLOTH_CONTACTS)
        if settings.cloth_contact in ("VELOCITY_FIELD", "BOTH"):
            layout.prop(settings, "field_cell")
        _choice(layout, context, settings, "broad_phase", BROAD_PHASES)
        names = "small_steps", "substeps", "substeps_preview", "iterations", "tolerance", "neighbour_reach", "max_speed"
        for name in names:
            prop(layout, context, settings, name)
        prop(layout, context, settings, "ldi_resolution")
        _choice(layout, context, settings, "body_images", BODY_IMAGES)


register, unregister = bpy.utils.register_classes_factory(
    (TAFFETA_PT_bake, TAFFETA_PT_preflight, TAFFETA_PT_forces, TAFFETA_PT_report, TAFFETA_PT_advanced)
)
