# SPDX-License-Identifier: GPL-3.0-or-later
"""Physics tab, below Taffeta Cloth > More: the bake and its cache, what is wrong before it (preflight), what it was
like (report)."""

import json
from functools import lru_cache

import bpy

from .bakes import bakes_on_disk
from .report import draw_verdict, in_words, taken_again, warnings
from .rows import SubPanel, named, scene_settings, sentences, settings_layout, why
from .shown import draw_shown
from .translations import CONTEXT, translated
from .units import length_text

PINCHED_SHOWN = 12  # numbers of vertices of a garment; all are in the report of the cache folder
LONGEST_LINE, MOST_LINES = 400, 100  # letters and lines of a report that are shown
POPOVER_UNITS, UNIT = 16, 20  # width of the popover of Preflight, in Blender's units; pixels of such a unit
ICONS = {"ERROR": "CANCEL", "WARNING": "ERROR", "INFO": "INFO"}


class TAFFETA_PT_bake(SubPanel, bpy.types.Panel):
    """What to do with the bake"""

    bl_label = "Bake and Export"

    def draw(self, context):
        layout = settings_layout(self, context)
        cloth, session = context.object.taffeta_cloth, context.window_manager.taffeta
        baked = bool(cloth.cache_path or bakes_on_disk(context))
        row = layout.row(align=True)
        row.enabled = baked
        row.operator("taffeta.export", text="Export", icon="EXPORT")
        row.operator("taffeta.free", text="Free", text_ctxt=CONTEXT, icon="TRASH")
        if not baked:
            why(layout, "Nothing baked yet")
        layout.operator_menu_enum("taffeta.keep_pose", "result", text="Keep Pose", icon="SHAPEKEY_DATA")
        layout.operator("taffeta.values", icon="NODETREE").object = context.object.name
        layout.operator("taffeta.value_images", icon="IMAGE_DATA").object = context.object.name
        layout.row().prop(session, "live_end", expand=True)
        told = layout.column()
        told.active = False
        ends = "goes on as it lies" if session.live_end == "GO_ON" else "begins anew"
        sentences(told, context, f"Live, settings hold at once; at the timeline's end the cloth {ends}", "INFO")
        if cloth.stale:
            sentences(layout, context, cloth.stale, "ERROR")
        named(layout, context, cloth, "cache_name", placeholder=context.object.name)
        if cloth.cache_path:
            draw_shown(layout, context)
        scene_settings(layout, "Frames and cache folder")


class TAFFETA_PT_preflight(SubPanel, bpy.types.Panel):
    """What is wrong or doubtful before a bake, kept up to date while you work"""

    bl_label = "Preflight"
    bl_ui_units_x = POPOVER_UNITS

    def draw_header_preset(self, context):
        self.layout.operator("taffeta.preflight", text="", icon="FILE_REFRESH", emboss=False)

    def draw(self, context):
        layout = self.layout
        session = context.window_manager.taffeta
        width = POPOVER_UNITS * UNIT if self.is_popover else None
        if not session.checked:
            layout.label(text="Not checked yet", icon="QUESTION")
        elif not session.problems:
            layout.label(text="Ready to bake", icon="CHECKMARK")
        for problem in session.problems:
            draw_problem(layout, context, problem, width)


def draw_problem(layout, context, problem, width=None):
    """A line of the preflight list, with what mends it."""
    box = layout.box()
    name = f"{problem.object_name}: " if problem.object_name else ""
    if problem.sentence.startswith(problem.object_name):
        name = ""
    sentences(box, context, name + translated(problem.sentence), ICONS[problem.severity], width)
    if problem.remedy and not problem.verbs:  # else the button says it
        sentences(box, context, problem.remedy, "FORWARD", width)
    if problem.selects:
        button = box.operator("taffeta.select_problem", text="Select These Vertices", icon="VERTEXSEL")
        button.object, button.which = problem.object_name, problem.selects
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
    which = f"Frames {get('frame_start')} to {get('frame_end')}"
    kept = get("frames_kept")
    yield get("frames"), f"{which}, {kept} of them kept from before" if kept else which
    steps = f"{get('steps_per_frame')} steps a frame" if "steps_per_frame" in report else f"{get('substeps')} substeps"
    yield get("quality"), f"Quality: {str(get('quality')).title()}, {steps}"
    yield None if get("complete", True) else "", "Stopped before the end: press Resume to go on"
    yield get("seconds"), f"Took {get('seconds')} s, of it {get('preparation_seconds', 0)} s to prepare"
    yield get("milliseconds_per_frame"), f"Solver: {get('milliseconds_per_frame')} ms a frame"
    for task, value in (get("milliseconds") or {}).items():
        yield value, f"    {task}: {value} ms"
    yield from _image_items(get("body_images") or {})
    worst, mean, where = share("worst_stretch"), share("mean_stretch"), get("worst_stretch_frame")
    placed = f"Stretch: at worst {worst} in frame {where}, on average {mean}"
    yield get("worst_stretch"), placed if where is not None else f"Stretch: at worst {worst}, on average {mean}"
    rough, folded = get("roughness_degrees"), share("folded_share")
    yield rough, f"Roughness: {rough}° between neighbouring faces, {folded} of them folded by over 60°"
    yield get("crossings"), f"Crossings in the last frame: {get('crossings')} pairs of triangles"
    for what, count in (get("crossing_parts") or {}).items():
        yield count, f"    {what}: {count}"
    most, when = get("most_crossings"), get("most_crossings_frame")
    yield most, f"Meanwhile: at most {most} pairs of triangles crossed, in frame {when}"
    for frames, cause in taken_again(report):
        yield frames, f"{in_words(frames)}: taken again with contact in each small step, because {cause}"
    yield get("seam_gap"), _seams(get("seam_gap", 0.0), get("seam_garment"))
    yield get("torn"), f"Torn: {get('torn')} vertices of tear lines in the last frame"
    yield get("pinched"), f"Pinched between bodies: {get('pinched')} vertices in frame {get('pinched_frame')}"
    for name, vertices in (get("pinched_vertices") or {}).items():
        first = ", ".join(map(str, vertices[:PINCHED_SHOWN])) + (" ..." if len(vertices) > PINCHED_SHOWN else "")
        yield vertices, f"    {name}: vertices {first}"
    for _, text in warnings(report):
        yield text, f"Warning: {text}"


def _seams(gap, garment):
    """How far [m] the widest seam is open, and whose it is."""
    if not gap:
        return "Seams: all are closed"
    if garment:
        return f"Seams: the widest, of {garment}, is {length_text(gap)} open in the last frame"
    return f"Seams: the widest is {length_text(gap)} open in the last frame"


def _image_items(drawn):
    """Who drew the bodies' images, why, and what each side takes for those of a frame."""
    get = drawn.get
    why = {"images_late": "before the window had drawn", "images_missed": "where the cloth went elsewhere"}
    which = "".join(f", {get(name)} {reason}" for name, reason in why.items() if get(name))
    yield get("by"), f"Body images: {get('by')}"
    yield get("by"), f"    {get('images_by_card')} by the card, {get('images_by_processor')} by the processor{which}"
    card, processor, frame = get("card_milliseconds"), get("processor_milliseconds"), get("frame_milliseconds")
    yield card, f"    the card takes {card} of {frame} ms a frame"
    yield processor, f"    the processor takes {processor} of {frame} ms a frame"


class TAFFETA_PT_report(SubPanel, bpy.types.Panel):
    """Figures of the last bake"""

    bl_label = "Report"

    def draw(self, context):
        report_json = context.object.taffeta_cloth.report_json
        if not report_json:
            why(self.layout, "Nothing baked yet")
            return
        for line in report_lines(report_json):
            sentences(self.layout, context, line)
            draw_verdict(self.layout, context, line)


register, unregister = bpy.utils.register_classes_factory((TAFFETA_PT_preflight, TAFFETA_PT_bake, TAFFETA_PT_report))
