# SPDX-License-Identifier: GPL-3.0-or-later
"""Import a sewing pattern: its panels about the body, as one garment with seams that close when it is baked or draped."""

from pathlib import Path

import bpy
import numpy as np
from bpy.props import EnumProperty, FloatProperty, StringProperty
from bpy_extras.io_utils import ImportHelper

from ..panels.translations import translated
from ..panels.units import length_text
from ..solver.cache.files import in_words, read_whole
from .menus import in_menu
from .read import pattern_mesh
from .read.mesh_io import metres_per_unit
from .read.screen import InObjectMode, refused
from .setup import begin_compiling, make_cloth

MENU_LABEL = "Taffeta Pattern (.json/.dxf)"
ENDING = "_specification"  # of the names that GarmentCode gives its files
SMALLEST, LARGEST = 0.15, 5.0  # [m] that the largest panel of a garment is, along or across
UNITS = (
    ("FILE", "As the File Says", "What a DXF file says in its header or its text; millimetres where it says nothing"),
    ("MILLIMETRES", "Millimetres", "Of a DXF file that says nothing, or something else"),
    ("CENTIMETRES", "Centimetres", "Of a DXF file that says nothing, or something else"),
    ("METRES", "Metres", "Of a DXF file that says nothing, or something else"),
    ("INCHES", "Inches", "Of a DXF file that says nothing, or something else"),
)
INSUNITS = {"FILE": 0, "INCHES": 1, "MILLIMETRES": 4, "CENTIMETRES": 5, "METRES": 6}  # DXF's own numbers of these


def read(path: Path, units: str = "FILE"):
    """The `patterns.panel.Pattern` in a file, by its ending; units : of a DXF file, one of `INSUNITS`.

    Raises
    ------
    ValueError
        It holds none, or one that cannot be sewn: a sentence with the file, and panel and edge.
    """
    from ..patterns import dxf, garment_code

    try:
        reader = {".json": garment_code, ".dxf": dxf}.get(path.suffix.lower())
        if reader is None:
            raise ValueError("choose a pattern of GarmentCode, .json, or of AAMA or ASTM, .dxf")
        data = read_whole(path, reader.MOST_BYTES)
        return dxf.read(data, INSUNITS[units]) if reader is dxf else reader.read(data)
    except OSError as error:
        raise ValueError(in_words(error)) from None
    except ValueError as error:
        raise ValueError(f"{path.name}: {error}") from None


def add(context, path: Path, edge: float, units: str = "FILE") -> tuple[bpy.types.Object, str, str]:
    """Make a garment of the pattern in a file, with edges about `edge` [m] long; returns it, what was made, and a doubt or "".

    units : as of `read`

    Raises
    ------
    ValueError
        As `read`, or the mesh would be too large.
    """
    from ..patterns import panel_mesh

    pattern = read(path, units)
    try:
        made = panel_mesh.mesh(pattern, edge)
    except ValueError as error:
        raise ValueError(f"{path.name}: {error}") from None
    name, names = path.stem.removesuffix(ENDING), [panel.name for panel in pattern.panels]
    obj = pattern_mesh.add(context.collection, name, made, names, metres_per_unit(context.scene))
    cloth = obj.taffeta_cloth
    make_cloth(obj, context.scene)
    cloth.uv_map, cloth.model, cloth.sewing = pattern_mesh.UV_MAP, "MEMBRANE", bool(pattern.stitches)
    cloth.pattern_size = True
    for other in context.selected_objects:
        other.select_set(False)
    obj.select_set(True)
    context.view_layer.objects.active = obj
    counts = f"{len(names)} panels, {len(pattern.stitches)} seams, {len(made.x):,} vertices"
    if len(made.folds):
        counts += f", {len(made.folds):,} edges on internal lines (selected: Mark Pleat in Edit Mode folds them)"
    then = "Bake or Drape sews it" if pattern.stitches else "Arrange Around Body, and Sew Selected Edges in Edit Mode"
    return obj, f"{obj.name}: {counts}; {then}", _doubt(obj.name, pattern)


def _doubt(name: str, pattern) -> str:
    """What to say of a pattern of no garment's size; "" of any other."""
    largest = float(max(np.ptp(np.concatenate(panel.lines), axis=0).max() for panel in pattern.panels))
    if SMALLEST <= largest <= LARGEST:
        return ""
    return f"{name}: its largest panel is {length_text(largest)} long; import it again with other Units if that is not meant"


class TAFFETA_OT_pattern_import(InObjectMode, bpy.types.Operator, ImportHelper):
    """Import a sewing pattern, GarmentCode (.json) or AAMA/ASTM (.dxf), as a garment: its panels flat, placed about the body or
    side by side, in metres as UV map with the warp along u, its stitches as sewing edges that a bake closes"""

    bl_idname = "taffeta.pattern_import"
    bl_label = "Import Pattern"
    bl_description = " ".join(__doc__.split())
    bl_options = {"REGISTER", "UNDO"}

    filter_glob: StringProperty(default="*.json;*.dxf", options={"HIDDEN"})
    edge_length: FloatProperty(
        name="Edge Length", default=0.015, min=0.001, max=1.0, soft_min=0.005, soft_max=0.05, unit="LENGTH", precision=3,
        description="Length of the mesh's edges, in metres: 0.015 for a shirt, 0.008 for fine folds",
    )  # fmt: skip
    units: EnumProperty(
        name="Units", items=UNITS, description="What the numbers of a DXF file are; GarmentCode has its own"
    )

    def execute(self, context):
        edge = self.edge_length * metres_per_unit(context.scene)
        try:
            _, told, doubt = add(context, Path(bpy.path.abspath(self.filepath)), edge, self.units)
        except ValueError as error:
            return refused(self, error)
        begin_compiling()
        self.report({"INFO"}, translated(told))
        if doubt:
            self.report({"WARNING"}, translated(doubt))
        return {"FINISHED"}


def _menu(self, _context):
    self.layout.operator(TAFFETA_OT_pattern_import.bl_idname, text=MENU_LABEL)


register, unregister = in_menu("TOPBAR_MT_file_import", _menu, (TAFFETA_OT_pattern_import,))
