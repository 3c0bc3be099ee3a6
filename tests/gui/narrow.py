# SPDX-License-Identifier: GPL-3.0-or-later
"""The Physics tab 640 pixels wide, and then 280: how much of each number is drawn in either, and in the narrow one of long names.

Blender tells nobody where it drew a field. The pointer goes over the tab until Blender says which property is under it;
of what is drawn in that field, a picture tells how wide it is.
"""

import runpy
import subprocess
from pathlib import Path

import blf
import bpy
import numpy as np

WIDE, NARROW = 640, 280  # pixels of the tab
STEP_X, STEP_Y, MARGIN = 4, 7, 4  # pixels between two looks; of a field's rim
NAME, LINE, WORDS = 14, 15, 14  # pixels left of a name; from where a field is found to the name above; between words
INK = 60  # levels of grey by which letters differ from what they stand on
TOLD = runpy.run_path(str(Path(__file__).with_name("first_bake.py")))
window, area, rectangle, move, SETTLE = (TOLD[name] for name in ("window", "area", "rectangle", "move", "SETTLE"))


def dress():
    """A garment whose numbers are as long as they come."""
    bpy.ops.object.select_all(action="DESELECT")
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=10, y_subdivisions=10, size=1.0)
    obj = bpy.context.object
    with bpy.context.temp_override(window=window(), screen=window().screen, area=area("VIEW_3D"), object=obj):
        bpy.ops.taffeta.cloth_add()
    obj.vertex_groups.new(name="Hem")
    cloth = obj.taffeta_cloth
    cloth.stretch_stiffness.value, cloth.pin_distance.value = 123456.7, 12.345
    for name, low, high in (("pin", 0.125, 0.875), ("mass", 0.1234, 1.2345), ("thickness", 0.00125, 0.01234),
                            ("bending_stiffness", 1.25e-5, 1.2345e-2)):  # fmt: skip
        mapped = getattr(cloth, name)
        mapped.source, mapped.vertex_group, mapped.minimum, mapped.maximum = "GROUP", "Hem", low, high
    return obj


def field_under_pointer() -> str:
    """Data path of the property under the pointer in the Properties editor, or ""."""
    place = area("PROPERTIES")
    region = next(region for region in place.regions if region.type == "WINDOW")
    with bpy.context.temp_override(window=window(), screen=window().screen, area=place, region=region):
        if not bpy.ops.ui.copy_data_path_button.poll():
            return ""
        bpy.ops.ui.copy_data_path_button(full_path=False)
    return bpy.context.window_manager.clipboard


def is_number(path) -> bool:
    """Whether a property is one of the numbers of a mapped row."""
    return path.rpartition(".")[2].removesuffix("_shown") in ("value", "minimum", "maximum")


def fields(found):
    """Look for numbers down the tab, then along each row that has some; `found` gets the columns and the row of each."""
    left, top, right, bottom = rectangle("PROPERTIES")
    rows, last = [], ""
    for y in range(top + 200, bottom - 4, STEP_Y):
        move(left + 0.6 * (right - left), y)
        yield SETTLE
        path = field_under_pointer()
        if path != last and is_number(path):
            rows.append(y + STEP_Y // 2)
        last = path
    for y in rows:
        move(left, y)
        yield SETTLE
        for x in range(left + 4, right - 4, STEP_X):
            move(x, y)
            yield SETTLE / 2
            path = field_under_pointer()
            if is_number(path):
                found[path] = found.get(path, (x,))[0], x, y


def picture(out, name):
    """Levels of grey of a picture of the screen, (rows, columns)."""
    gray = subprocess.run(
        ["convert", str(out / f"{name}.png"), "-depth", "8", "gray:-"], check=True, capture_output=True
    )
    return np.frombuffer(gray.stdout, np.uint8).reshape(window().height, window().width).astype(int)


def ink(out, name, found) -> dict[str, int]:
    """Columns of pixels from the first to the last that letters cover, of each number."""
    screen, widths = picture(out, name), {}
    for path, (left, right, y) in found.items():
        field = screen[y - 5 : y + 6, left + MARGIN : right - MARGIN]
        columns = np.flatnonzero((abs(field - np.median(field)) > INK).any(axis=0))
        widths[path] = int(columns[-1] - columns[0] + 1) if len(columns) else 0
    return widths


def look(shoot, out, result, name):
    """A picture with the pointer elsewhere, then where its numbers are, and how wide they are drawn."""
    found = {}
    yield from fields(found)
    move(40, 400)
    yield 2.5
    shoot(name)
    result[name] = {"width": area("PROPERTIES").width, "ink": ink(out, name, found), "fields": found}


def names(shoot, out, wanted, name):
    """A picture of the tab, and how wide the name of each property of `wanted` (its owner by its data path) is drawn there, at the left
    end of its field or above one that has words, and how wide that is as a whole."""
    left, top, right, bottom = rectangle("PROPERTIES")
    rows, last = {}, ""
    for y in range(top + 60, bottom - 4, STEP_Y):
        move(left + 0.6 * (right - left), y)
        yield SETTLE
        path = field_under_pointer()
        if path != last and path in wanted:
            rows[path] = y + STEP_Y // 2
        last = path
    move(40, 400)
    yield 2.5
    shoot(name)
    screen, widths = picture(out, name), {}
    blf.size(0, bpy.context.preferences.ui_styles[0].widget.points)
    for path, y in rows.items():
        prop = wanted[path].bl_rna.properties[path.rpartition(".")[2]]
        y -= LINE if prop.type == "STRING" else 0
        band = screen[y - 5 : y + 6, left + NAME : right]
        columns = np.flatnonzero((abs(band - np.median(band)) > INK).any(axis=0))
        end = np.flatnonzero(np.diff(columns) > WORDS)
        last = columns[end[0] if len(end) else -1]
        widths[prop.name] = int(last - columns[0] + 1), round(blf.dimensions(0, prop.name)[0])
    return widths


def open_for_good(*panels):
    """Open panels that are closed at first."""
    for name in panels:
        cls = getattr(bpy.types, f"TAFFETA_PT_{name}")
        bpy.utils.unregister_class(cls)
        cls.bl_options = set()
        bpy.utils.register_class(cls)


def story(shoot, press, drag, result, out):
    """The tab at both widths."""
    area("PROPERTIES").type = "OUTLINER"  # one tab is enough to look for
    view = area("VIEW_3D")
    with bpy.context.temp_override(window=window(), screen=window().screen, area=view, region=view.regions[-1]):
        bpy.ops.screen.area_split(direction="VERTICAL", factor=1.0 - WIDE / view.width)
    yield 1.0
    tab = max((a for a in window().screen.areas if a.type == "VIEW_3D"), key=lambda a: a.x)
    tab.type = "PROPERTIES"
    yield 1.5
    dress()
    tab.spaces.active.context = "PHYSICS"
    yield 2.5
    yield from look(shoot, out, result, "wide")
    with bpy.context.temp_override(window=window(), screen=window().screen, area=tab, region=tab.regions[-1]):
        bpy.ops.screen.area_split(direction="VERTICAL", factor=1.0 - NARROW / tab.width)
    yield 1.0
    min((a for a in window().screen.areas if a.type == "PROPERTIES"), key=lambda a: a.x).type = "VIEW_3D"
    yield 2.0
    yield from look(shoot, out, result, "narrow")
    area("PROPERTIES").type = "OUTLINER"  # which panels are open there, is settled
    TOLD["open_only"]("more", "cloth_holds")
    open_for_good("scene_cache")
    view = area("VIEW_3D")
    with bpy.context.temp_override(window=window(), screen=window().screen, area=view, region=view.regions[-1]):
        bpy.ops.screen.area_split(direction="VERTICAL", factor=1.0 - NARROW / view.width)
    yield 1.0
    tab = min((a for a in window().screen.areas if a.type == "VIEW_3D"), key=lambda a: abs(a.width - NARROW))
    tab.type = "PROPERTIES"
    yield 1.5
    tab.spaces.active.context = "PHYSICS"
    yield 2.5
    cloth = {"taffeta_cloth.blend_stiffness": bpy.context.object.taffeta_cloth}
    result["names"] = yield from names(shoot, out, cloth, "names")
    tab.spaces.active.context = "SCENE"
    yield 2.5
    scene = {f"taffeta.{name}": bpy.context.scene.taffeta for name in ("substeps_preview", "cache_folder")}
    result["names"] |= yield from names(shoot, out, scene, "names_scene")
